// A picture of an automaton in a box: live states lit, zoom, drag, a click and a hover on a node.
import { fill, h } from "./dom";
import { layouts } from "./layouts";
import { Picture } from "./picture";

const KEPT = 32;
/** A picture is shown as a whole from this scale on: smaller, its texts cannot be read. */
const READABLE = 0.6;

/** What a person does with a node of the picture. */
export interface Handlers {
  picked?(id: string): void;
  /** The node under the pointer, or null when it leaves. */
  peeked?(id: string | null): void;
}

/** A picture that could be shown: its text, the nodes to light, the chosen one. */
export interface Choice {
  dot: string;
  lit: string[];
  chosen: string | null;
}

export class Canvas {
  readonly element = h("div", { class: "wb-canvas", role: "img" });
  picture: Picture | null = null;
  private pictures = new Map<string, Picture>();
  private shown = "";
  private wanted = "";
  private lit: string[] = [];
  private chosen: string | null = null;
  private peek: string | null = null;
  private scale = 1;
  private offset = { x: 0, y: 0 };
  private room = { width: 0, height: 0 };
  private fitted = true;
  private overview = false;
  private choices: Choice[] = [];
  private taken: (choice: number) => void = () => undefined;
  private resize = new ResizeObserver(([entry]) => {
    if (!entry) return;
    this.room = { width: Math.floor(entry.contentRect.width), height: Math.floor(entry.contentRect.height) };
    if (this.choices.length > 1) void this.showFitting(this.choices, this.taken);
    else this.settle();
  });

  constructor(private handlers: Handlers = {}) {
    this.resize.observe(this.element);
    this.dragging();
    this.hovering();
  }

  stop(): void {
    this.resize.disconnect();
  }

  clear(text: string): void {
    this.shown = this.wanted = "";
    this.picture = null;
    fill(this.element, h("p", { class: "wb-empty" }, text));
  }

  /** Show a picture with some nodes lit and one chosen; until it is laid out the old one shows what it has of them. */
  async show(dot: string, lit: string[], chosen: string | null = null): Promise<void> {
    const moved = lit.join() !== this.lit.join() || chosen !== this.chosen || dot !== this.shown;
    this.lit = lit;
    this.chosen = chosen;
    this.wanted = dot;
    if (this.shown === dot) {
      if (moved) this.light();
      return;
    }
    const known = this.pictures.get(dot);
    if (known) return this.put(dot, known);
    if (moved) this.light();
    try {
      const picture = await this.laidOut(dot, () => this.wanted === dot);
      if (picture && this.wanted === dot) this.put(dot, picture);
    } catch (error) {
      this.clear(`The graph could not be laid out: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  /** Mark a node as the one that is looked at in passing. */
  peekAt(id: string | null): void {
    if (this.peek === id) return;
    this.peek = id;
    this.picture?.mark(this.lit, this.chosen, id);
  }

  /** Move as little as is needed to have a node in view. */
  reveal(id: string): void {
    const box = this.picture?.boxes([id])[0];
    if (!box) return;
    const { scale, offset, room } = this;
    const shift = (low: number, high: number, size: number) => (low < 8 ? 8 - low : high > size - 8 ? size - 8 - high : 0);
    this.offset = {
      x: offset.x + shift(box.left * scale + offset.x, box.right * scale + offset.x, room.width),
      y: offset.y + shift(box.top * scale + offset.y, box.bottom * scale + offset.y, room.height),
    };
    this.place();
  }

  /** Of pictures from the largest to the smallest show the first that fits; the last one where none does. */
  async showFitting(choices: Choice[], taken: (choice: number) => void = () => undefined): Promise<void> {
    this.choices = choices;
    this.taken = taken;
    const isWanted = () => this.choices === choices;
    try {
      for (const [i, { dot, lit, chosen }] of choices.entries()) {
        const last = i === choices.length - 1;
        const picture = this.pictures.get(dot) ?? (last ? null : await this.laidOut(dot, isWanted));
        if (!isWanted()) return;
        if (!last && this.room.width && picture && this.wholeScale(picture) < READABLE) continue;
        taken(i);
        return this.show(dot, lit, chosen);
      }
    } catch (error) {
      this.clear(`The graph could not be laid out: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  private async laidOut(dot: string, isWanted: () => boolean): Promise<Picture | null> {
    const text = await layouts.ask(dot, isWanted);
    if (text === null) return null;
    const picture = new Picture(text);
    this.pictures.set(dot, picture);
    if (this.pictures.size > KEPT) this.pictures.delete(this.pictures.keys().next().value!);
    return picture;
  }

  private wholeScale(picture: Picture): number {
    return Math.min(this.room.width / picture.width, this.room.height / picture.height, 1.4);
  }

  private put(dot: string, picture: Picture): void {
    this.shown = dot;
    this.picture = picture;
    this.light();
    fill(this.element, picture.element);
  }

  private light(): void {
    this.picture?.mark(this.lit, this.chosen, this.peek);
    this.settle();
  }

  private settle(): void {
    const { picture, room } = this;
    if (!this.fitted || !picture || !room.width || !room.height) return this.center();
    // What a person asked to see all of, and cannot be read at that size, is shown around the live states.
    if (this.choices.length > 1 || this.overview || this.wholeScale(picture) >= READABLE) return this.showWhole();
    this.scale = 0.85;
    this.center();
  }

  /** Show all of the picture, however small. */
  fit(): void {
    this.fitted = this.overview = true;
    this.settle();
  }

  private showWhole(): void {
    const { picture, room } = this;
    if (!picture) return;
    const whole = this.wholeScale(picture);
    this.scale = whole;
    this.offset = { x: (room.width - picture.width * whole) / 2, y: (room.height - picture.height * whole) / 2 };
    this.place();
  }

  /** Move to the chosen node, or to the live ones. */
  center(): void {
    const { picture, room, scale } = this;
    if (!picture || !room.width) return;
    const chosen = this.chosen === null ? [] : picture.boxes([this.chosen]);
    const boxes = chosen.length ? chosen : picture.boxes(this.lit);
    if (boxes.length) {
      const [left, right] = [Math.min(...boxes.map((box) => box.left)), Math.max(...boxes.map((box) => box.right))];
      const [top, bottom] = [Math.min(...boxes.map((box) => box.top)), Math.max(...boxes.map((box) => box.bottom))];
      // The middle of several nodes may show none of them: then the first one is what is looked at.
      const all = (right - left) * scale <= room.width && (bottom - top) * scale <= room.height;
      const one = boxes[0]!;
      const x = all ? (left + right) / 2 : (one.left + one.right) / 2;
      const y = all ? (top + bottom) / 2 : (one.top + one.bottom) / 2;
      this.offset = { x: keepInside(room.width, picture.width * scale, x * scale), y: keepInside(room.height, picture.height * scale, y * scale) };
    }
    this.place();
  }

  zoom(factor: number): void {
    const { width, height } = this.room;
    const next = Math.min(4, Math.max(0.1, this.scale * factor));
    const ratio = next / this.scale;
    this.offset = { x: width / 2 - (width / 2 - this.offset.x) * ratio, y: height / 2 - (height / 2 - this.offset.y) * ratio };
    this.scale = next;
    this.fitted = this.overview = false;
    this.place();
  }

  private place(): void {
    this.picture?.place(this.scale, this.offset.x, this.offset.y);
  }

  private dragging(): void {
    let from: { x: number; y: number; moved: boolean; node: string | null } | null = null;
    this.element.addEventListener("pointerdown", (event) => {
      from = { x: event.clientX - this.offset.x, y: event.clientY - this.offset.y, moved: false, node: nodeAt(event) };
      this.element.setPointerCapture(event.pointerId);
    });
    this.element.addEventListener("pointermove", (event) => {
      if (!from) return;
      const next = { x: event.clientX - from.x, y: event.clientY - from.y };
      if (Math.abs(next.x - this.offset.x) + Math.abs(next.y - this.offset.y) > 3) from.moved = true;
      if (!from.moved) return;
      this.offset = next;
      this.place();
    });
    this.element.addEventListener("pointerup", () => {
      if (from && !from.moved && from.node) this.handlers.picked?.(from.node);
      from = null;
    });
    this.element.addEventListener("pointercancel", () => (from = null));
  }

  private hovering(): void {
    let over: string | null = null;
    const look = (id: string | null) => {
      if (id === over) return;
      over = id;
      this.peekAt(id);
      this.handlers.peeked?.(id);
    };
    this.element.addEventListener("pointerover", (event) => look(nodeAt(event)));
    this.element.addEventListener("pointerleave", () => look(null));
  }
}

function nodeAt(event: Event): string | null {
  return (event.target as Element).closest("g.node")?.getAttribute("id") ?? null;
}

/** Centre a point without leaving empty room at an edge of the picture. */
function keepInside(room: number, size: number, at: number): number {
  if (size <= room) return (room - size) / 2;
  return Math.min(0, Math.max(room - size, room / 2 - at));
}

export function smallButton(text: string, name: string, run: () => void): HTMLButtonElement {
  return h("button", { type: "button", class: "wb-small", "aria-label": name, title: name, onclick: run }, text);
}

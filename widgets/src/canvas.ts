// A picture of an automaton: DOT laid out in the page by Graphviz (WebAssembly), live states lit, zoom and drag.
import { Graphviz } from "@hpcc-js/wasm-graphviz";
import { beforePaint, fill, h, svg } from "./dom";

let layout: Promise<Graphviz> | undefined;
const cache = new Map<string, string>();

/** After the next painted frame: a layout takes longer than a step may. */
const painted = (): Promise<void> =>
  new Promise((resolve) => {
    const timer = window.setTimeout(resolve, 250); // a hidden page paints nothing
    requestAnimationFrame(() =>
      window.setTimeout(() => {
        window.clearTimeout(timer);
        resolve();
      }, 0),
    );
  });

/** Lay out DOT text; the same text is laid out once a page. Null when it is no longer wanted. */
async function draw(dot: string, wanted: () => boolean): Promise<string | null> {
  const known = cache.get(dot);
  if (known !== undefined) return known;
  layout ??= Graphviz.load();
  const graphviz = await layout;
  await painted();
  if (!wanted()) return null;
  const drawn = cache.get(dot) ?? graphviz.dot(dot);
  cache.set(dot, drawn);
  if (cache.size > 60) cache.delete(cache.keys().next().value!);
  return drawn;
}

export class Canvas {
  readonly element = h("div", { class: "wb-canvas", role: "img" });
  private shown = "";
  private lit: string[] = [];
  private chosen: string | null = null;
  private scale = 1;
  private offset = { x: 0, y: 0 };
  private size = { width: 1, height: 1 };
  private fitted = true;
  private resize = new ResizeObserver(() => this.settle());

  /** `picked` is called with the id of a node that was clicked. */
  constructor(private picked?: (id: string) => void) {
    this.resize.observe(this.element);
    this.dragging();
  }

  stop(): void {
    this.resize.disconnect();
  }

  clear(text: string): void {
    this.shown = "";
    fill(this.element, h("p", { class: "wb-empty" }, text));
  }

  /** Show a picture with some nodes lit and one chosen. */
  async show(dot: string, lit: string[], chosen: string | null = null): Promise<void> {
    const moved = lit.join() !== this.lit.join() || chosen !== this.chosen;
    this.lit = lit;
    this.chosen = chosen;
    if (this.shown === dot) {
      if (moved) this.light();
      return;
    }
    this.shown = dot;
    try {
      const text = await draw(dot, () => this.shown === dot);
      if (text === null || this.shown !== dot) return;
      const picture = new DOMParser().parseFromString(text.slice(text.indexOf("<svg")), "image/svg+xml").documentElement;
      this.size = { width: parseFloat(picture.getAttribute("width") ?? "1"), height: parseFloat(picture.getAttribute("height") ?? "1") };
      for (const title of picture.querySelectorAll("title")) title.remove();
      picture.removeAttribute("width");
      picture.removeAttribute("height");
      fill(this.element, document.importNode(picture, true));
      this.light();
    } catch (error) {
      this.clear(`The graph could not be laid out: ${String(error)}`);
    }
  }

  /** Mark the live states: a second ring and a triangle; the chosen one is outlined. */
  private light(): void {
    for (const ring of this.element.querySelectorAll(".wb-ring")) ring.remove();
    for (const node of this.element.querySelectorAll<SVGElement>("g.node")) {
      const id = node.getAttribute("id") ?? "";
      const on = this.lit.includes(id);
      node.classList.toggle("wb-live", on);
      node.classList.toggle("wb-chosen-node", id === this.chosen);
      const text = node.querySelector("text");
      if (text) text.textContent = (on ? "▶ " : "") + text.textContent!.replace("▶ ", "");
      const ellipse = node.querySelector("ellipse");
      if (!on || !ellipse) continue;
      const [cx, cy, rx, ry] = ["cx", "cy", "rx", "ry"].map((name) => Number(ellipse.getAttribute(name)));
      node.append(svg("ellipse", { class: "wb-ring", cx, cy, rx: rx! + 4, ry: ry! + 4, fill: "none" }));
    }
    beforePaint(() => this.settle());
  }

  private settle(): void {
    if (this.fitted) this.fit();
    else this.center();
  }

  fit(): void {
    const { clientWidth: width, clientHeight: height } = this.element;
    if (!width || !height) return;
    const whole = Math.min(width / this.size.width, height / this.size.height, 1.4);
    this.fitted = true;
    if (whole >= 0.65) {
      this.scale = whole;
      this.offset = { x: (width - this.size.width * whole) / 2, y: (height - this.size.height * whole) / 2 };
      this.place();
    } else {
      // A picture that would be unreadable as a whole is shown at a readable size around the live states.
      this.scale = 0.85;
      this.center();
      this.fitted = true;
    }
  }

  /** Move to the chosen node, or to the live ones. */
  center(): void {
    const marked = [...this.element.querySelectorAll<SVGGraphicsElement>(this.chosen ? "g.wb-chosen-node" : "g.wb-live")];
    const root = this.element.querySelector<SVGSVGElement>("svg");
    if (!root || !marked.length) return this.place();
    const view = root.viewBox.baseVal;
    const shift = root.querySelector<SVGGElement>("g.graph")?.transform.baseVal.consolidate()?.matrix;
    const unit = (this.size.width / (view.width || this.size.width)) * this.scale;
    const boxes = marked.map((node) => node.getBBox());
    const span = (from: "x" | "y", size: "width" | "height"): [number, number] => [Math.min(...boxes.map((box) => box[from])), Math.max(...boxes.map((box) => box[from] + box[size]))];
    const [left, right] = span("x", "width");
    const [top, bottom] = span("y", "height");
    const { clientWidth: width, clientHeight: height } = this.element;
    // The middle of several nodes may show none of them: then the first one is what is looked at.
    const all = (right - left) * unit <= width && (bottom - top) * unit <= height;
    const x = all ? (left + right) / 2 : boxes[0]!.x + boxes[0]!.width / 2;
    const y = all ? (top + bottom) / 2 : boxes[0]!.y + boxes[0]!.height / 2;
    this.offset = {
      x: keepInside(width, this.size.width * this.scale, (x + (shift?.e ?? 0)) * unit),
      y: keepInside(height, this.size.height * this.scale, (y + (shift?.f ?? 0)) * unit),
    };
    this.place();
  }

  zoom(factor: number): void {
    const { clientWidth: width, clientHeight: height } = this.element;
    const next = Math.min(4, Math.max(0.1, this.scale * factor));
    const ratio = next / this.scale;
    this.offset = { x: width / 2 - (width / 2 - this.offset.x) * ratio, y: height / 2 - (height / 2 - this.offset.y) * ratio };
    this.scale = next;
    this.fitted = false;
    this.place();
  }

  private place(): void {
    const root = this.element.querySelector<SVGSVGElement>("svg");
    if (!root) return;
    root.style.width = `${this.size.width * this.scale}px`;
    root.style.height = `${this.size.height * this.scale}px`;
    root.style.transform = `translate(${this.offset.x}px,${this.offset.y}px)`;
  }

  private dragging(): void {
    let from: { x: number; y: number; moved: boolean; node: string | null } | null = null;
    this.element.addEventListener("pointerdown", (event) => {
      const node = (event.target as Element).closest("g.node")?.getAttribute("id") ?? null;
      from = { x: event.clientX - this.offset.x, y: event.clientY - this.offset.y, moved: false, node };
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
      if (from && !from.moved && from.node) this.picked?.(from.node);
      from = null;
    });
    this.element.addEventListener("pointercancel", () => (from = null));
  }
}

/** Centre a point without leaving empty room at an edge of the picture. */
function keepInside(room: number, size: number, at: number): number {
  if (size <= room) return (room - size) / 2;
  return Math.min(0, Math.max(room - size, room / 2 - at));
}

export function smallButton(text: string, name: string, run: () => void): HTMLButtonElement {
  return h("button", { type: "button", class: "wb-small", "aria-label": name, title: name, onclick: run }, text);
}

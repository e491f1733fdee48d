// The text so far as token chips. The chip at the cursor is the token taken from there; later ones are faded.
import { beforePaint, fill, h } from "./dom";
import { bits, count, duration, label, percent, pieces, plural } from "./format";
import { isSame, type Span } from "./spans";
import type { Encoding, Store } from "./store";
import type { Doc, Position, Token } from "./types";

const PROMPT_SHOWN = 6;
/** Tokens that are drawn of a long run: those around the cursor, moved on in strides. */
const WINDOW = 400;
const STRIDE = 150;
const KINDS: Record<string, { glyph: string; word: string }> = {
  sampled: { glyph: "", word: "sampled" },
  forced: { glyph: "»", word: "forced" },
  chosen: { glyph: "✎", word: "chosen by you" },
  eos: { glyph: "■", word: "end of text" },
};

/** A token's text with visible blanks and boxed bytes. */
export function tokenText(token: Token | undefined): HTMLElement {
  const element = h("span", { class: "wb-token" });
  for (const piece of pieces(token)) element.append(h("span", { class: `wb-piece-${piece.kind}` }, piece.text));
  return element;
}

/** A token's text with the bytes that were read set off from the rest. */
function splitText(token: Token, read: number): HTMLElement {
  const part = (from: number, to?: number) => tokenText([token[0].slice(from, to), null]);
  const rest = token[0].length > read && part(read);
  if (rest) rest.classList.add("wb-unread");
  return h("span", { class: "wb-token" }, h("span", { class: "wb-read" }, part(0, read)), rest);
}

/** How strongly a chip shows an encoding, 0 to 1; null for none. */
function strength(encoding: Encoding, before: Position, after: Position, slowest: number): number | null {
  if (encoding === "probability") return after.edge!.after;
  if (encoding === "mass") return before.massRemoved;
  if (encoding === "time") return before.times ? (before.times.forward + before.times.exposed) / slowest : 0;
  return null;
}

function describe(before: Position, after: Position, text: string): string {
  const edge = after.edge!;
  const times = before.times;
  return [
    `${text} (id ${edge.token})`,
    KINDS[edge.kind]!.word,
    `probability ${percent(edge.before)} before, ${percent(edge.after)} after the mask`,
    `allowed ${count(before.allowed)}, mass removed ${percent(before.massRemoved)}`,
    times ? `forward ${duration(times.forward)}, mask ${duration(times.mask)}` : "",
  ]
    .filter(Boolean)
    .join("\n");
}

export class Chips {
  readonly element = h("div", { class: "wb-chips" });
  private showPrompt = false;
  private chips: HTMLElement[] = [];
  /** The spans around each chip as they are drawn, and the groups that the last one stands in. */
  private drawn: Span[][] = [];
  private groups: { span: Span; element: HTMLElement }[] = [];
  private list = h("span");
  private path: Position[] | null = null;
  private doc: Doc | null = null;
  private key = "";
  private shown = -1;
  private split: { chip: HTMLElement; whole: ChildNode[] } | null = null;
  private from = 0;

  constructor(
    private store: Store,
    private go: (cursor: number) => void,
  ) {}

  update(): void {
    const { store } = this;
    // Moving the cursor touches a few chips; only a new token or another encoding draws all of them.
    const stride = Math.floor(store.depth / STRIDE);
    this.from = store.path.length <= WINDOW ? 0 : Math.max(0, Math.min(stride * STRIDE - (WINDOW - STRIDE) / 2, store.path.length - WINDOW));
    const key = JSON.stringify([store.options.background, store.options.underline, store.options.spans, this.showPrompt, this.from]);
    if (this.path !== store.path || this.key !== key) {
      if (this.key !== key || this.doc !== store.doc || !this.extend()) this.drawAll();
      this.doc = store.doc;
      this.path = store.path;
      this.key = key;
      this.shown = -1;
    }
    this.mark(store.depth);
    this.markBytes();
    const current = this.chips[store.depth - this.from];
    if (current) beforePaint(() => scrollInto(this.element, current));
  }

  private drawAll(): void {
    const { store } = this;
    const { doc } = store;
    const hiddenPrompt = this.showPrompt ? 0 : Math.max(0, doc.prompt.length - PROMPT_SHOWN);
    const toggle =
      doc.prompt.length > PROMPT_SHOWN &&
      h(
        "button",
        {
          type: "button",
          class: "wb-fold",
          "aria-expanded": String(this.showPrompt),
          onclick: () => {
            this.showPrompt = !this.showPrompt;
            this.update();
          },
        },
        this.showPrompt ? "◂ fold the prompt" : `prompt +${hiddenPrompt} ▸`,
      );
    const input = doc.prompt.slice(hiddenPrompt).map((id) =>
      h("span", { class: "wb-chip wb-input", title: `${label(this.store.token(id))} (id ${id})\ninput` }, tokenText(this.store.token(id))),
    );
    this.element.style.setProperty("--wb-lanes", String(store.spans.covers.some((around) => around.length) ? store.options.spans : 0));
    fill(this.element, toggle, ...input, input.length > 0 && h("span", { class: "wb-cut", title: "the output starts here" }, "┃"), this.output());
  }

  /** Mark the chip at the cursor, and fade those after it. */
  private mark(depth: number): void {
    if (this.shown === depth) return;
    const [low, high] = this.shown < 0 ? [this.from, this.from + this.chips.length - 1] : [Math.min(depth, this.shown), Math.max(depth, this.shown)];
    for (let i = low; i <= high; i++) {
      const chip = this.chips[i - this.from];
      chip?.classList.toggle("wb-current", i === depth);
      chip?.classList.toggle("wb-later", i >= depth && !chip.classList.contains("wb-caret"));
      chip?.setAttribute("aria-selected", String(i === depth));
    }
    this.shown = depth;
  }

  /** In the chip at the cursor, set off the bytes that were read: the text moves with the byte cursor. */
  private markBytes(): void {
    const { store } = this;
    const chip = this.chips[store.depth - this.from];
    if (this.split && (this.split.chip !== chip || !store.byte)) {
      this.split.chip.replaceChildren(...this.split.whole);
      this.split = null;
    }
    if (!chip || !store.byte || store.inside === null) return;
    this.split ??= { chip, whole: [...chip.childNodes] };
    const token = store.token(store.inside);
    if (!token) return;
    const taken = this.split.whole.filter((node) => node instanceof Element && !node.classList.contains("wb-token"));
    if (chip.classList.contains("wb-caret")) chip.replaceChildren(splitText([store.read, null], store.byte), "█");
    else chip.replaceChildren(splitText(token, store.byte), ...taken);
  }

  private output(): HTMLElement {
    const { store } = this;
    const path = store.path;
    const slowest = Math.max(1e-9, ...path.map((p) => (p.times ? p.times.forward + p.times.exposed : 0)));
    const list = h("span", { class: "wb-output", role: "listbox", "aria-label": "Tokens of the output", "aria-orientation": "horizontal" });
    const to = Math.min(path.length - 1, this.from + WINDOW);
    this.list = list;
    this.chips = [];
    this.drawn = [];
    this.groups = [];
    const jump = (step: number, text: string) => h("button", { type: "button", class: "wb-fold", title: `Go to step ${step}`, onclick: () => this.go(path[step]!.id) }, text);
    if (this.from > 0) list.append(jump(this.from - 1, `◂ ${count(this.from)} earlier tokens`));
    for (let step = this.from; step < to; step++) this.put(step, this.chip(step, slowest));
    if (to < path.length - 1) list.append(jump(to, `${count(path.length - 1 - to)} later tokens ▸`));
    else this.putCaret();
    return list;
  }

  /** Spans around a token, as many as are drawn. */
  private around(step: number): Span[] {
    return this.store.spans.covers[step]?.slice(0, this.store.options.spans) ?? [];
  }

  /** Put in the chip of a step, in the groups of the spans around it. */
  private put(step: number, chip: HTMLElement): void {
    const around = this.around(step);
    this.enter(around);
    (this.groups.at(-1)?.element ?? this.list).append(chip);
    this.chips.push(chip);
    this.drawn.push(around);
  }

  private putCaret(): void {
    const step = this.store.path.length - 1;
    const caret = this.caret();
    this.enter(this.store.spans.open[step]!.slice(0, this.store.options.spans));
    (this.groups.at(-1)?.element ?? this.list).append(caret);
    this.chips.push(caret);
  }

  /** Leave the groups of spans that have ended, open those of new ones. */
  private enter(around: Span[]): void {
    let shared = 0;
    while (shared < this.groups.length && around[shared] && isSame(around[shared]!, this.groups[shared]!.span)) shared++;
    for (const { element } of this.groups.splice(shared).reverse()) if (!element.querySelector(".wb-chip")) element.remove();
    for (const span of around.slice(shared)) {
      const element = h("span", { class: "wb-span", role: "group", "aria-label": span.label, title: span.path });
      element.style.setProperty("--wb-hue", `var(--wb-hue-${span.hue})`);
      // the line of a span lies below those of the spans in it, as far as these are drawn
      element.style.setProperty("--wb-lane", String(Math.min(span.height, this.store.options.spans - 1 - span.depth)));
      // the name of a member is read in the text
      if (span.kind !== "member") element.append(h("span", { class: "wb-label", "aria-hidden": "true" }, span.from < this.from ? `… ${span.label}` : span.label));
      (this.groups.at(-1)?.element ?? this.list).append(element);
      this.groups.push({ span, element });
    }
  }

  /** The chip of the token that was taken at a step. */
  private chip(step: number, slowest: number): HTMLElement {
    const { store } = this;
    const before = store.path[step]!;
    const after = store.path[step + 1]!;
    const edge = after.edge!;
    const token = store.token(edge.token);
    const kind = KINDS[edge.kind]!;
    const chip = h(
      "span",
      {
        class: `wb-chip wb-${edge.kind}`,
        role: "option",
        "aria-selected": "false",
        "aria-label": `step ${step + 1}: ${label(token)}, ${kind.word}`,
        title: describe(before, after, label(token)),
        "data-step": step,
        onclick: () => this.go(before.id),
      },
      tokenText(token),
      kind.glyph && h("span", { class: "wb-glyph", "aria-hidden": "true" }, kind.glyph),
    );
    this.encode(chip, "background", strength(store.options.background, before, after, slowest));
    this.encode(chip, "underline", strength(store.options.underline, before, after, slowest));
    return chip;
  }

  /** The chip at the end of the output: what comes next, or why nothing does. */
  private caret(): HTMLElement {
    const last = this.store.path[this.store.path.length - 1]!;
    return h(
      "span",
      {
        class: "wb-chip wb-caret",
        role: "option",
        "aria-selected": "false",
        "aria-label": last.open ? "the next token" : `the end: ${last.end ?? "stopped"}`,
        title: last.open ? "the next token" : `the run ended: ${last.end ?? "stopped"}`,
        onclick: () => this.go(last.id),
      },
      last.open ? "█" : last.end === "dead_end" ? "⊘" : "■",
    );
  }

  /** Put in the chips of new tokens at the end, where nothing else has changed. */
  private extend(): boolean {
    const { store } = this;
    const path = store.path;
    const old = this.path;
    const caret = this.chips.at(-1);
    const timed = store.options.background === "time" || store.options.underline === "time";
    if (!old || timed || !caret?.classList.contains("wb-caret") || path.length > WINDOW || path.length < old.length) return false;
    if (old.some((position, i) => path[i]!.id !== position.id)) return false;
    // By what was read since, earlier tokens may be in other spans than it had seemed.
    const isDrawn = (around: Span[], i: number) => {
      const now = this.around(this.from + i);
      return now.length === around.length && now.every((span, k) => isSame(span, around[k]!));
    };
    if (!this.drawn.every(isDrawn)) return false;
    this.chips.pop()!.remove();
    for (let step = old.length - 1; step < path.length - 1; step++) this.put(step, this.chip(step, 1));
    this.putCaret();
    return true;
  }

  private encode(chip: HTMLElement, where: "background" | "underline", value: number | null): void {
    chip.classList.toggle(`wb-${where}-kind`, this.store.options[where] === "kind");
    if (value === null) return;
    chip.classList.add(`wb-${where}-level`);
    chip.style.setProperty(`--wb-${where}`, String(Math.min(1, Math.max(0, value))));
  }
}

/** Scroll a box, and nothing else on the page, until an element in it shows. */
export function scrollInto(box: HTMLElement, element: HTMLElement): void {
  const outer = box.getBoundingClientRect();
  const inner = element.getBoundingClientRect();
  if (inner.top < outer.top) box.scrollTop -= outer.top - inner.top + 4;
  else if (inner.bottom > outer.bottom) box.scrollTop += inner.bottom - outer.bottom + 4;
}

export function headline(store: Store): string[] {
  const here = store.here;
  if (!here.open) {
    const words: Record<string, string> = {
      eos: "the model ended the text, and the grammar allows it",
      length: "the token limit was reached",
      stop: "stopped",
      dead_end: "dead end: no token may come next",
      interrupted: "interrupted",
    };
    return [words[here.end ?? ""] ?? "the record ends here"];
  }
  const parts = [
    `allowed ${count(here.allowed)} of ${count(store.doc.vocabularySize)}`,
    `mass removed ${percent(here.massRemoved)}`,
    `entropy ${bits(here.entropyBefore)} → ${bits(here.entropyAfter)} bits`,
  ];
  const edge = store.next?.edge;
  if (edge) parts.push(`rank of ${label(store.token(edge.token))} ${count(edge.rank + 1)}`);
  const run = forcedRun(store);
  if (run > 1) parts.push(`${plural(run, "forced token")} from here`);
  if (here.accepting) parts.push("may end here");
  return parts;
}

function forcedRun(store: Store): number {
  const path = store.path;
  let run = 0;
  while (path[store.depth + 1 + run]?.edge?.kind === "forced") run++;
  return run;
}

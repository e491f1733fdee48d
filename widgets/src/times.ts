// Mask time against forward time, on one clock. What the forward pass does not hide is outlined.
import { fill, h, patch, svg } from "./dom";
import { count, duration, percent } from "./format";
import type { Store } from "./store";
import type { Position, Times } from "./types";

const HEIGHT = 56;
const LAST = 60;
const STRIDE = 30;

export function median(values: number[]): number {
  if (!values.length) return 0;
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

let serial = 0;

export class TimesPanel {
  private body = h("div", { class: "wb-times" });
  private now = h("div");
  readonly element = h(
    "section",
    { class: "wb-box wb-clock", "aria-label": "Mask time against forward time" },
    h("div", { class: "wb-tools" }, h("strong", {}, "time"), h("span", { class: "wb-legend" }, "▨ mask · ■ forward · ░ sample")),
    this.body,
  );
  private drawn: { path: Position[]; from: number; length: number; picture: SVGElement; note: HTMLElement } | null = null;
  private id = `wb-hatch-${++serial}-${Math.random().toString(36).slice(2, 8)}`;

  constructor(
    private store: Store,
    private go: (cursor: number) => void,
  ) {}

  update(): void {
    const timed = this.store.path.filter((p): p is Position & { times: Times } => p.times !== null);
    const here = this.store.here;
    if (!timed.length) {
      fill(this.body, h("p", { class: "wb-empty" }, "no step was timed yet"));
      return;
    }
    const depth = this.store.depth;
    // The picture of many steps stays while the cursor moves inside it; only its mark moves.
    const from = Math.max(0, Math.min(Math.floor(depth / STRIDE) * STRIDE - (LAST - STRIDE) / 2, timed.length - LAST));
    const part = timed.slice(from, from + LAST);
    const old = this.drawn;
    if (!old || old.path !== this.store.path || old.from !== from || old.length !== timed.length) {
      const picture = this.all(part);
      this.drawn = { path: this.store.path, from, length: timed.length, picture, note: summary(timed, part.length) };
    }
    const { picture, note } = this.drawn!;
    picture.querySelector(".wb-column-here")?.classList.remove("wb-column-here");
    picture.querySelector(`[data-id="${here.id}"]`)?.classList.add("wb-column-here");
    patch(this.now, here.times ? this.one(here.times) : here.open && h("p", { class: "wb-note" }, "this position was not timed"));
    if (picture.parentNode !== this.body) fill(this.body, this.now, picture, note);
  }

  /** The step at the cursor: one bar each, same scale. */
  private one(times: Times): HTMLElement {
    const scale = Math.max(times.forward, times.mask, times.sample, 1e-6);
    const line = (name: string, role: string, value: number) =>
      h(
        "div",
        { class: "wb-time" },
        h("span", {}, name),
        h("span", { class: "wb-track" }, value > 0 && h("span", { class: `wb-fill wb-fill-${role}`, style: `width:max(2px,${((100 * value) / scale).toFixed(2)}%)` })),
        h("span", { class: "wb-number" }, duration(value)),
      );
    return h(
      "div",
      {},
      line("forward", "forward", times.forward),
      line("mask", "mask", times.mask),
      line("exposed", "exposed", times.exposed),
      line("sample", "sample", times.sample),
      h("div", { class: "wb-note" }, "exposed: mask time that the forward pass does not hide"),
    );
  }

  private all(timed: (Position & { times: Times })[]): SVGElement {
    const step = 9;
    const width = Math.max(timed.length * step + 2, 60);
    const top = Math.max(...timed.map((p) => Math.max(p.times.forward, p.times.mask)), 1e-6);
    const size = (value: number) => Math.max(1, (HEIGHT * value) / top);
    const pattern = svg(
      "pattern",
      { id: this.id, width: 3, height: 3, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
      svg("rect", { width: 1.6, height: 3, class: "wb-ink-mask" }),
    );
    const picture = svg(
      "svg",
      { class: "wb-chart", viewBox: `0 0 ${width} ${HEIGHT + 6}`, width, height: HEIGHT + 6, role: "img", "aria-label": `Times of ${timed.length} steps, tallest ${duration(top)}` },
      svg("defs", {}, pattern),
    );
    timed.forEach((position, i) => {
      const { forward, mask, exposed } = position.times;
      const column = svg(
        "g",
        { class: "wb-column", "data-id": position.id, transform: `translate(${i * step + 1} 0)`, onclick: () => this.go(position.id) },
        svg("title", {}, `forward ${duration(forward)}, mask ${duration(mask)}, exposed ${duration(exposed)}`),
        svg("rect", { width: step, height: HEIGHT + 6, class: "wb-ink-hit" }),
        svg("rect", { x: 0, y: HEIGHT - size(forward), width: 4, height: size(forward), class: "wb-ink-forward" }),
        svg("rect", { x: 4, y: HEIGHT - size(mask), width: 3, height: size(mask), fill: `url(#${this.id})`, class: exposed > 0 ? "wb-ink-exposed" : "" }),
        svg("path", { d: `M1 ${HEIGHT + 6} l2.5 -5 l2.5 5 z`, class: "wb-ink-here wb-ink-mark-here" }),
      );
      picture.append(column);
    });
    return picture;
  }
}

function summary(timed: { times: Times }[], drawn: number): HTMLElement {
  const mask = median(timed.map((p) => p.times.mask));
  const forward = median(timed.map((p) => p.times.forward));
  const exposed = median(timed.map((p) => p.times.exposed));
  const share = forward > 0 ? ` (${percent(mask / forward)} of forward)` : "";
  return h(
    "div",
    { class: "wb-note" },
    `median of ${timed.length}: forward ${duration(forward)}, mask ${duration(mask)}${share}, exposed ${duration(exposed)}${timed.length > drawn ? `; drawn: ${drawn} steps near this one, ${count(timed.length - drawn)} more are not` : ""}`,
  );
}

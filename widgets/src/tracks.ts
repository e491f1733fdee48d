// Two tracks on one clock: forward pass above, mask below; what the forward pass does not hide is outlined.
import { h, svg } from "./dom";
import { duration } from "./format";
import { warmUp, type Timed } from "./stats";

/** The most columns that are drawn; beyond that, neighbours are drawn as one. */
const COLUMNS = 300;
const TRACK = 46;
const GAP = 6;
let serial = 0;

export interface Window {
  from: number;
  to: number;
}

/** Where the steps of a window stand on the clock, in milliseconds from its beginning; neighbours are joined where there are many. */
export function columns(steps: Timed[], window: Window): { first: number; last: number; start: number; forward: number; mask: number; exposed: number; length: number }[] {
  const size = Math.max(1, Math.ceil((window.to - window.from) / COLUMNS));
  const found = [];
  let clock = 0;
  for (let i = window.from; i < window.to; i += size) {
    const part = steps.slice(i, Math.min(i + size, window.to));
    const sum = (pick: (step: Timed) => number) => part.reduce((total, step) => total + pick(step), 0);
    const forward = sum((s) => s.times.forward);
    const exposed = sum((s) => s.times.exposed);
    const length = sum((s) => s.times.forward + s.times.exposed + s.times.sample);
    found.push({ first: i, last: i + part.length - 1, start: clock, forward, mask: sum((s) => s.times.mask), exposed, length });
    clock += length;
  }
  return found;
}

export function drawTracks(steps: Timed[], window: Window, width: number, selection: Window | null, marks: Set<number>): SVGElement {
  const shown = columns(steps, window);
  const cold = warmUp(steps);
  const total = shown.reduce((sum, column) => sum + column.length, 0) || 1;
  const x = (ms: number) => (ms / total) * width;
  const id = `wb-hatch-t${++serial}`;
  const height = 2 * TRACK + 3 * GAP + 14;
  const picture = svg("svg", { class: "wb-tracks", viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": `Times of steps ${window.from + 1} to ${window.to}: forward pass above, mask below, ${duration(total)} in all` });
  picture.append(
    svg("defs", {}, svg("pattern", { id, width: 4, height: 4, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" }, svg("rect", { width: 2, height: 4, class: "wb-ink-mask" }))),
    svg("line", { x1: 0, x2: width, y1: TRACK + GAP, y2: TRACK + GAP, class: "wb-ink-line" }),
    svg("line", { x1: 0, x2: width, y1: 2 * (TRACK + GAP), y2: 2 * (TRACK + GAP), class: "wb-ink-line" }),
  );
  if (selection) {
    const picked = shown.filter((column) => column.last >= selection.from && column.first < selection.to);
    const [first, last] = [picked[0], picked[picked.length - 1]];
    if (first && last) picture.append(svg("rect", { x: x(first.start), y: 0, width: Math.max(2, x(last.start + last.length) - x(first.start)), height, class: "wb-ink-range" }));
  }
  const bottom = 2 * (TRACK + GAP);
  for (const column of shown) {
    const left = x(column.start);
    const forward = Math.max(0.6, x(column.forward) - 0.8);
    // The mask begins with the forward pass; what is exposed comes after it.
    const mask = Math.max(0.6, x(Math.min(column.mask, column.length)));
    const warm = column.first < cold;
    const words = column.first === column.last ? `step ${column.first + 1}` : `steps ${column.first + 1} to ${column.last + 1}`;
    const group = svg(
      "g",
      { class: warm ? "wb-warm" : "", "data-step": column.first, "data-last": column.last, "data-left": left },
      svg("title", {}, `${words}${warm ? " (warm-up)" : ""}: forward ${duration(column.forward)}, mask ${duration(column.mask)}, exposed ${duration(column.exposed)}`),
      svg("rect", { x: left, y: 0, width: Math.max(1, x(column.length)), height: bottom, class: "wb-ink-hit" }),
      svg("rect", { x: left, y: GAP, width: forward, height: TRACK - GAP, class: "wb-ink-forward" }),
      svg("rect", { x: left, y: TRACK + 2 * GAP, width: mask, height: TRACK - GAP, fill: `url(#${id})`, class: "wb-ink-maskbox" }),
      column.exposed > 0 && svg("rect", { x: left + x(column.forward), y: TRACK + 2 * GAP, width: Math.max(1, x(column.exposed)), height: TRACK - GAP, class: "wb-ink-exposedbox" }),
    );
    for (let i = column.first; i <= column.last; i++) if (marks.has(i)) group.append(svg("text", { x: left, y: height - 1, class: "wb-ink-mark" }, "◆"));
    picture.append(group);
  }
  return picture;
}

/** Move the mark of the cursor to a step; nothing else is drawn again. */
export function markHere(box: HTMLElement, here: number): void {
  const picture = box.querySelector(".wb-tracks");
  if (!picture) return;
  picture.querySelector(".wb-ink-here")?.remove();
  const column = [...picture.querySelectorAll<SVGElement>("g[data-step]")].find((group) => Number(group.dataset["step"]) <= here && here <= Number(group.dataset["last"]));
  if (column) picture.append(svg("path", { d: `M${column.dataset["left"]} ${2 * TRACK + 3 * GAP + 14} l4 -9 l4 9 z`, class: "wb-ink-here" }));
}

/** The whole run, small; the window that the tracks show is framed. */
export function drawMap(steps: Timed[], window: Window, width: number): SVGElement {
  const height = 26;
  const top = Math.max(...steps.map((step) => step.times.mask), 1e-6);
  const picture = svg("svg", { class: "wb-map", viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": `Mask time of all ${steps.length} steps, highest ${duration(top)}; the tracks show ${window.from + 1} to ${window.to}` });
  const size = Math.max(1, steps.length / width);
  let path = "";
  for (let at = 0; at < steps.length; at += size) {
    const most = Math.max(...steps.slice(Math.floor(at), Math.max(Math.floor(at) + 1, Math.floor(at + size))).map((step) => step.times.mask));
    const x = (at / steps.length) * width;
    const tall = Math.max(1, (height - 4) * (Math.log1p((99 * most) / top) / Math.log(100)));
    path += `M${x.toFixed(1)} ${height} v${(-tall).toFixed(1)}`;
  }
  picture.append(
    svg("path", { d: path, class: "wb-ink-map", "stroke-width": Math.max(1, (width / Math.max(1, steps.length)) * 0.6) }),
    svg("rect", { x: (window.from / steps.length) * width, y: 1, width: Math.max(4, ((window.to - window.from) / steps.length) * width), height: height - 2, class: "wb-ink-window" }),
  );
  return picture;
}

export function legend(): HTMLElement {
  return h("span", { class: "wb-legend" }, "■ forward · ▨ mask · ▢ exposed: not hidden by the forward pass · faded: warm-up, not counted");
}

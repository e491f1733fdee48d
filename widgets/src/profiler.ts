// Where the time goes: tracks on one clock, heaviest first, a histogram; statistics of a range.
import type { Context } from "./actions";
import { breakable, fill, h, refill, svg } from "./dom";
import { count, duration, more, percent, plural } from "./format";
import type { Panel } from "./panel";
import { heaviest, logBins, summarise, warmUp, type Heavy, type Summary, type Timed } from "./stats";
import { drawMap, drawTracks, legend, markHere, type Window } from "./tracks";

type View = "time" | "heavy" | "hist";
const VIEWS: [View, string][] = [
  ["time", "1 time order"],
  ["heavy", "2 heaviest first"],
  ["hist", "3 histogram"],
];
/** A mask is to cost less than this share of a forward pass; the histogram draws the line. */
const TARGET = 0.1;

/** Groups that the table lists. */
const GROUPS = 200;

export class Profiler implements Panel {
  readonly id = "profile";
  readonly title = "Profile";
  readonly actions = [
    { name: "Time order", keys: ["1"], run: () => this.setView("time") },
    { name: "Heaviest first", keys: ["2"], run: () => this.setView("heavy") },
    { name: "Histogram", keys: ["3"], run: () => this.setView("hist") },
    { name: "Closer", keys: ["+"], run: () => this.zoom(0.5) },
    { name: "Farther", keys: ["-"], run: () => this.zoom(2) },
    { name: "Show all steps", keys: ["0"], run: () => this.setWindow(0, this.steps.length) },
    { name: "Earlier", keys: ["A"], run: () => this.pan(-1) },
    { name: "Later", keys: ["D"], run: () => this.pan(1) },
    { name: "Mark the step at the cursor, or clear the mark", keys: ["M"], run: () => this.mark_() },
    { name: "Save the profile as a file", keys: ["X"], run: () => this.save() },
  ];
  private views: HTMLButtonElement[];
  private head = h("div", { class: "wb-headline" });
  private map = h("div", { class: "wb-mapbox" });
  private body = h("div", { class: "wb-profile" });
  private range = h("div", { class: "wb-range", "aria-live": "polite" });
  private expert = h("input", { type: "checkbox" });
  private by = h("select", { "aria-label": "Group by" }, h("option", { value: "rule" }, "rule"), h("option", { value: "state" }, "state"));
  readonly element: HTMLElement;
  private view: View = "time";
  private window: Window | null = null;
  private selection: Window | null = null;
  private marks = new Set<number>();
  private width = 760;
  private doc: object | null = null;

  constructor(
    private context: Context,
    private go: (cursor: number) => void,
  ) {
    this.views = VIEWS.map(([view, text]) => h("button", { type: "button", class: "wb-small", "aria-pressed": "false", onclick: () => this.setView(view) }, text));
    this.by.addEventListener("change", () => this.update());
    this.expert.addEventListener("change", () => this.update());
    const tool = (text: string, name: string, run: () => void) => h("button", { type: "button", class: "wb-small", "aria-label": name, title: name, onclick: run }, text);
    this.element = h(
      "section",
      { class: "wb-box", "aria-label": "Profile" },
      this.head,
      h("div", { class: "wb-tools" }, h("span", { role: "group", "aria-label": "View", class: "wb-tools" }, ...this.views), h("span", { class: "wb-space" }), tool("◀", "Earlier (A)", () => this.pan(-1)), tool("▶", "Later (D)", () => this.pan(1)), tool("−", "Farther (-)", () => this.zoom(2)), tool("+", "Closer (+)", () => this.zoom(0.5)), tool("all", "Show all steps (0)", () => this.setWindow(0, this.steps.length)), tool("save", "Save the profile as a file (X)", () => this.save())),
      this.map,
      this.body,
      this.range,
    );
    this.dragging();
    new ResizeObserver(() => {
      const width = this.body.clientWidth;
      if (width > 60 && Math.abs(width - this.width) > 4) {
        this.width = width;
        this.update();
      }
    }).observe(this.body);
  }

  private get steps(): Timed[] {
    const path = this.context.store.path;
    // The last position has times of its own only where a step was tried: it counts when a token was taken.
    return path.slice(0, -1).filter((position): position is Timed => position.times !== null);
  }

  update(): void {
    if (this.doc !== this.context.store.doc) {
      this.doc = this.context.store.doc;
      this.window = this.selection = null;
      this.marks.clear();
    }
    const steps = this.steps;
    this.views.forEach((button, i) => button.setAttribute("aria-pressed", String(VIEWS[i]![0] === this.view)));
    if (!steps.length) {
      fill(this.head, "no step was timed yet: let the model take some");
      refill(this.map, null, () => []);
      refill(this.body, null, () => []);
      refill(this.range, null, () => []);
      return;
    }
    const counted = steps.slice(warmUp(steps));
    const masks = summarise(counted.map((step) => step.times.mask));
    const forwards = summarise(counted.map((step) => step.times.forward));
    const exposed = summarise(counted.map((step) => step.times.exposed));
    const total = counted.reduce((sum, step) => sum + step.times.forward + step.times.exposed + step.times.sample, 0);
    fill(
      this.head,
      h("span", {}, `mask ${duration(masks.median)} median`),
      h("span", {}, `forward ${duration(forwards.median)} median`),
      h("span", {}, `exposed mask ${duration(exposed.sum / counted.length)} a step (${percent(exposed.sum / (total || 1))} of the time)`),
      h("span", {}, `hidden ${percent(masks.sum > 0 ? 1 - exposed.sum / masks.sum : 0)} of the mask time`),
    );
    const window = this.clamped(steps.length);
    refill(this.map, [steps.length, steps[0]?.id, window, this.width], () => [drawMap(steps, window, this.width)]);
    if (this.view === "time") this.drawTime(steps, window);
    else if (this.view === "heavy") this.drawHeavy(counted);
    else this.drawHistogram(counted);
    this.drawRange(steps);
  }

  private clamped(n: number): Window {
    const window = this.window ?? { from: Math.max(0, n - 80), to: n };
    return { from: Math.min(Math.max(0, window.from), Math.max(0, n - 1)), to: Math.min(n, Math.max(window.to, window.from + 1)) };
  }

  private drawTime(steps: Timed[], window: Window): void {
    const here = steps.findIndex((step) => step.id === this.context.store.cursor);
    refill(this.body, ["time", steps.length, steps[0]?.id, window, this.width, this.selection, [...this.marks]], () => [drawTracks(steps, window, this.width, this.selection, this.marks), h("div", { class: "wb-tools" }, legend())]);
    markHere(this.body, here);
  }

  private drawHeavy(steps: Timed[]): void {
    const by = this.by.value as "rule" | "state";
    const groups = heaviest(steps, by);
    const expert = this.expert.checked;
    const columns: [string, string, (g: Heavy) => string][] = [
      [by, by === "rule" ? "the author's rule on top of the stack" : "the live states of the automaton", (g) => g.name],
      ["steps", "steps with this on top; warm-up steps are not counted", (g) => count(g.steps)],
      ["mask", "time to compute the mask and send it to the device, summed (CPU clock)", (g) => duration(g.mask)],
      ["share", "of the mask time of all steps", (g) => percent(g.share)],
    ];
    if (expert)
      columns.push(
        ["median", "of the mask time of a step", (g) => duration(g.median)],
        ["longest", "mask time of a step", (g) => duration(g.max)],
        ["exposed", "mask time that the forward pass does not hide, summed", (g) => duration(g.exposed)],
        ["forward", "time of the model's forward passes, summed", (g) => duration(g.forward)],
        ["depth", "of the deepest stack", (g) => count(g.depth)],
      );
    refill(this.body, ["heavy", by, expert, groups], () => this.heavyParts(steps, groups, columns, by));
  }

  private heavyParts(steps: Timed[], groups: Heavy[], columns: [string, string, (g: Heavy) => string][], by: "rule" | "state"): HTMLElement[] {
    const rows = groups.slice(0, GROUPS).map((group) => {
      const cells = columns.map(([name, , text], i) => (i === 0 ? h("th", { scope: "row" }, h("button", { type: "button", class: "wb-link", title: "Go to its slowest step", onclick: () => this.goSlowest(steps, group.name, by) }, ...breakable(text(group)))) : h("td", { class: name === "share" ? "wb-share" : "", style: name === "share" ? `--wb-share:${(100 * group.share).toFixed(1)}%` : "" }, text(group))));
      return h("tr", {}, ...cells);
    });
    return [
      h("div", { class: "wb-tools" }, h("label", {}, "group by ", this.by), h("label", { class: "wb-check" }, this.expert, " more columns")),
      h("div", { class: "wb-scroll" }, h("table", { class: "wb-table wb-heavy" }, h("caption", {}, `${plural(steps.length, "step")}, heaviest first`), h("thead", {}, h("tr", {}, ...columns.map(([name, title]) => h("th", { scope: "col", title }, name)))), h("tbody", {}, ...rows))),
      ...(groups.length > GROUPS ? [h("p", { class: "wb-note" }, `… ${more(groups.length, GROUPS, by)}`)] : []),
    ];
  }

  private goSlowest(steps: Timed[], name: string, by: "rule" | "state"): void {
    const mine = steps.filter((step) => heaviest([step], by)[0]!.name === name);
    const slowest = mine.reduce((best, step) => (step.times.mask > best.times.mask ? step : best));
    this.go(slowest.id);
  }

  private drawHistogram(steps: Timed[]): void {
    const values = steps.map((step) => step.times.mask);
    const bins = logBins(values);
    const s = summarise(values);
    const height = 130;
    const base = height - 22;
    const top = Math.max(...bins.map((bin) => bin.count), 1);
    const low = Math.log10(bins[0]?.from ?? 1);
    const high = Math.log10(bins[bins.length - 1]?.to ?? 10);
    const x = (ms: number) => ((Math.log10(Math.max(ms, 1e-9)) - low) / (high - low)) * (this.width - 20) + 10;
    const picture = svg("svg", { class: "wb-histogram", viewBox: `0 0 ${this.width} ${height}`, width: this.width, height, role: "img", "aria-label": `Histogram of mask times of ${plural(values.length, "step")}, logarithmic: median ${duration(s.median)}, 99th percentile ${duration(s.p99)}` });
    bins.forEach((bin) => {
      const tall = (base - 18) * (bin.count / top);
      if (bin.count) picture.append(svg("rect", { x: x(bin.from), y: base - tall, width: Math.max(1, x(bin.to) - x(bin.from) - 1), height: tall, class: "wb-ink-bin" }, svg("title", {}, `${duration(bin.from)} to ${duration(bin.to)}: ${plural(bin.count, "step")}`)));
    });
    picture.append(svg("line", { x1: 0, x2: this.width, y1: base, y2: base, class: "wb-ink-line" }));
    const target = summarise(steps.map((step) => step.times.forward)).median * TARGET;
    const lines: [string, number, string][] = [
      ["median", s.median, ""],
      ["p99", s.p99, "5 3"],
    ];
    if (x(target) > 10 && x(target) < this.width - 10) lines.push([`target, ${percent(TARGET)} of forward`, target, "2 2"]);
    lines.forEach(([name, value, dash], i) => {
      const at = x(value);
      const right = at > this.width * 0.7;
      picture.append(svg("line", { x1: at, x2: at, y1: 4, y2: base, class: "wb-ink-rule", "stroke-dasharray": dash }), svg("text", { x: at + (right ? -4 : 4), y: 14 + 13 * i, class: "wb-ink-text", "text-anchor": right ? "end" : "start" }, `${name} ${duration(value)}`));
    });
    const ticks = high - low > 2.5 ? [1] : [1, 2, 5];
    const marks = Array.from({ length: Math.ceil(high) - Math.floor(low) + 1 }, (_, i) => Math.floor(low) + i).flatMap((power) => ticks.map((tick) => tick * 10 ** power));
    for (const mark of marks) if (Math.log10(mark) >= low && Math.log10(mark) <= high) picture.append(svg("text", { x: x(mark), y: height - 6, class: "wb-ink-text", "text-anchor": "middle" }, duration(mark)));
    refill(this.body, ["hist", this.width, steps.length, steps[0]?.id], () => [picture, h("p", { class: "wb-note" }, `mask time per step, logarithmic; ${plural(values.length, "step")}, ${plural(this.steps.length - steps.length, "warm-up step")} left out`)]);
  }

  private drawRange(steps: Timed[]): void {
    refill(this.range, [steps.length, steps[0]?.id, this.selection], () => this.rangeParts(steps));
  }

  private rangeParts(steps: Timed[]): HTMLElement[] {
    const picked = this.selection;
    const from = picked?.from ?? 0;
    const part = steps.slice(from, picked?.to ?? steps.length);
    const warm = Math.min(part.length, Math.max(0, warmUp(steps) - from));
    const counted = part.slice(warm).length ? part.slice(warm) : part;
    const line = (name: string, s: Summary) => h("tr", {}, h("th", { scope: "row" }, name), ...[count(s.n), duration(s.sum), duration(s.median), duration(s.p90), duration(s.p99), duration(s.max)].map((text) => h("td", {}, text)));
    const title = picked ? `steps ${picked.from + 1} to ${picked.to}` : `all ${steps.length} steps`;
    const note = `${title}${warm && counted !== part ? `, ${warm} warm-up not counted` : ""}; drag over the tracks for a range, Esc for all`;
    return [
      h(
        "table",
        { class: "wb-table" },
        h("caption", {}, note),
        h("thead", {}, h("tr", {}, ...["", "n", "sum", "median", "p90", "p99", "longest"].map((name) => h("th", { scope: "col" }, name)))),
        h("tbody", {}, line("mask", summarise(counted.map((s) => s.times.mask))), line("exposed", summarise(counted.map((s) => s.times.exposed))), line("forward", summarise(counted.map((s) => s.times.forward))), line("sample", summarise(counted.map((s) => s.times.sample)))),
      ),
      h("p", { class: "wb-note" }, `device ${this.context.store.doc.meta["device"] ?? "not recorded"} · clock: perf_counter of the CPU; work on a GPU is waited for where the record says so`),
    ];
  }

  private dragging(): void {
    let from: number | null = null;
    const stepAt = (event: PointerEvent): number | null => {
      const target = document.elementFromPoint(event.clientX, event.clientY)?.closest<SVGElement>("g[data-step]");
      return target && this.body.contains(target) ? Number(target.dataset["step"]) : null;
    };
    this.body.addEventListener("pointerdown", (event) => {
      from = this.view === "time" ? stepAt(event) : null;
      if (from !== null) event.preventDefault();
    });
    this.body.addEventListener("pointermove", (event) => {
      const at = from === null ? null : stepAt(event);
      if (from === null || at === null || (at === from && !this.selection)) return;
      this.selection = { from: Math.min(from, at), to: Math.max(from, at) + 1 };
      this.update();
    });
    window.addEventListener("pointerup", (event) => {
      if (from === null) return;
      const at = stepAt(event);
      const step = this.steps[from];
      if (at === from && step) {
        this.selection = null;
        this.go(step.id);
      }
      from = null;
    });
    this.body.addEventListener("dblclick", () => {
      this.selection = null;
      this.setWindow(0, this.steps.length);
    });
    this.map.addEventListener("click", (event) => {
      const box = this.map.getBoundingClientRect();
      const n = this.steps.length;
      const window = this.clamped(n);
      const half = (window.to - window.from) / 2;
      const at = ((event.clientX - box.left) / box.width) * n;
      this.setWindow(Math.round(at - half), Math.round(at + half));
    });
    this.element.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !this.selection) return;
      this.selection = null;
      event.preventDefault();
      this.update();
    });
  }

  private setView(view: View): void {
    this.view = view;
    this.update();
  }

  private setWindow(from: number, to: number): void {
    const n = this.steps.length;
    if (!n) return;
    const size = Math.max(1, Math.min(to - from, n));
    const begin = Math.max(0, Math.min(from, n - size));
    this.window = { from: begin, to: begin + size };
    this.update();
  }

  private zoom(factor: number): void {
    const window = this.clamped(this.steps.length);
    const middle = (window.from + window.to) / 2;
    const half = Math.max(2, ((window.to - window.from) * factor) / 2);
    this.setWindow(Math.round(middle - half), Math.round(middle + half));
  }

  private pan(by: number): void {
    const window = this.clamped(this.steps.length);
    const step = Math.max(1, Math.round((window.to - window.from) / 4)) * by;
    this.setWindow(window.from + step, window.to + step);
  }

  private mark_(): void {
    const at = this.steps.findIndex((step) => step.id === this.context.store.cursor);
    if (at < 0) return;
    if (!this.marks.delete(at)) this.marks.add(at);
    this.update();
  }

  private save(): void {
    const { store } = this.context;
    const cold = warmUp(this.steps);
    const rows = this.steps.map((step, i) => ({ step: i + 1, warm_up: i < cold, rule: step.stacks[0]?.[0]?.rules ?? [], ...step.times }));
    const text = JSON.stringify({ title: store.doc.title, meta: store.doc.meta, unit: "milliseconds", steps: rows }, null, 1);
    const link = h("a", { href: URL.createObjectURL(new Blob([text], { type: "application/json" })), download: "profile.json" });
    link.click();
    window.setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }
}

// The automaton: DOT laid out here in the page by Graphviz (WebAssembly), live states lit.
import { Graphviz } from "@hpcc-js/wasm-graphviz";
import { fill, h, svg } from "./dom";
import { plural } from "./format";
import type { Store } from "./store";
import type { Graph, Position } from "./types";

let layout: Promise<Graphviz> | undefined;
const cache = new Map<string, Promise<string>>();

/** Lay out DOT text; the same text is laid out once a page. */
function draw(dot: string): Promise<string> {
  let drawing = cache.get(dot);
  if (!drawing) {
    layout ??= Graphviz.load();
    drawing = layout.then((graphviz) => graphviz.dot(dot));
    cache.set(dot, drawing);
    if (cache.size > 60) cache.delete(cache.keys().next().value!);
  }
  return drawing;
}

export class GraphPanel {
  private canvas = h("div", { class: "wb-canvas", role: "img" });
  private caption = h("div", { class: "wb-note" });
  private transitions = h("tbody");
  private summary = h("summary", {}, "transitions");
  readonly element = h(
    "section",
    { class: "wb-box wb-automaton", "aria-label": "Automaton" },
    h(
      "div",
      { class: "wb-tools" },
      h("strong", {}, "automaton"),
      h("span", { class: "wb-legend" }, "▶ live · ✓ may end"),
      h("span", { class: "wb-space" }),
      this.button("fit", "Fit the graph", () => this.fit()),
      this.button("here", "Go to the live states", () => this.center()),
      this.button("−", "Smaller", () => this.zoom(1 / 1.3)),
      this.button("+", "Larger", () => this.zoom(1.3)),
    ),
    this.canvas,
    this.caption,
    h(
      "details",
      { class: "wb-transitions" },
      this.summary,
      h(
        "table",
        {},
        h("caption", {}, "Transitions from the live states"),
        h("thead", {}, h("tr", {}, ...["from", "on", "to"].map((name) => h("th", { scope: "col" }, name)))),
        this.transitions,
      ),
    ),
  );
  private shown = "";
  private scale = 1;
  private offset = { x: 0, y: 0 };
  private size = { width: 1, height: 1 };
  private fitted = true;
  private resize = new ResizeObserver(() => this.settle());

  constructor(private store: Store) {
    this.resize.observe(this.canvas);
    this.dragging();
  }

  stop(): void {
    this.resize.disconnect();
  }

  update(): void {
    const here = this.store.here;
    const graph = this.store.doc.graphs[here.graph];
    if (!graph) {
      this.shown = "";
      fill(this.canvas, h("p", { class: "wb-empty" }, "This record holds no automaton."));
      this.canvas.setAttribute("aria-label", "No automaton was recorded");
      this.caption.textContent = this.summary.textContent = "";
      return;
    }
    const live = here.live;
    this.canvas.setAttribute("aria-label", describe(graph, live));
    this.caption.textContent = captionOf(graph, live);
    const from = [...graph.edges.filter(([source]) => live.includes(source)), ...ends(graph, here)];
    this.summary.textContent = `transitions (${from.length})`;
    fill(this.transitions, ...from.map(([source, on, target]) => h("tr", {}, h("td", {}, source), h("td", {}, h("code", {}, on)), h("td", {}, target))));
    if (this.shown === here.graph) this.light(live);
    else void this.show(here.graph, graph);
  }

  private async show(key: string, graph: Graph): Promise<void> {
    this.shown = key;
    try {
      const text = await draw(graph.dot);
      if (this.shown !== key) return;
      const picture = new DOMParser().parseFromString(text.slice(text.indexOf("<svg")), "image/svg+xml").documentElement;
      this.size = { width: parseFloat(picture.getAttribute("width") ?? "1"), height: parseFloat(picture.getAttribute("height") ?? "1") };
      for (const title of picture.querySelectorAll("title")) title.remove();
      picture.removeAttribute("width");
      picture.removeAttribute("height");
      fill(this.canvas, document.importNode(picture, true));
      this.light(this.store.here.live);
    } catch (error) {
      fill(this.canvas, h("p", { class: "wb-empty" }, `The graph could not be laid out: ${String(error)}`));
    }
  }

  /** Mark the live states: a second ring and a triangle. */
  private light(live: number[]): void {
    for (const ring of this.canvas.querySelectorAll(".wb-ring")) ring.remove();
    for (const node of this.canvas.querySelectorAll<SVGElement>("g.node")) {
      const state = Number(/^s(\d+)$/.exec(node.getAttribute("id") ?? "")?.[1] ?? NaN);
      const on = live.includes(state);
      node.classList.toggle("wb-live", on);
      const ellipse = node.querySelector("ellipse");
      const text = node.querySelector("text");
      if (text) text.textContent = (on ? "▶ " : "") + text.textContent!.replace("▶ ", "");
      if (!on || !ellipse) continue;
      const [cx, cy, rx, ry] = ["cx", "cy", "rx", "ry"].map((name) => Number(ellipse.getAttribute(name)));
      node.append(svg("ellipse", { class: "wb-ring", cx, cy, rx: rx! + 4, ry: ry! + 4, fill: "none" }));
    }
    this.settle();
  }

  private settle(): void {
    if (this.fitted) this.fit();
    else this.center();
  }

  private fit(): void {
    const { clientWidth: width, clientHeight: height } = this.canvas;
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

  private center(): void {
    const marked = [...this.canvas.querySelectorAll<SVGGraphicsElement>("g.wb-live ellipse:not(.wb-ring)")];
    const root = this.canvas.querySelector<SVGSVGElement>("svg");
    if (!root || !marked.length) return this.place();
    const view = root.viewBox.baseVal;
    const shift = root.querySelector<SVGGElement>("g.graph")?.transform.baseVal.consolidate()?.matrix;
    let x = 0;
    let y = 0;
    for (const ellipse of marked) {
      x += Number(ellipse.getAttribute("cx")) + (shift?.e ?? 0);
      y += Number(ellipse.getAttribute("cy")) + (shift?.f ?? 0);
    }
    const unit = this.size.width / (view.width || this.size.width);
    this.offset = {
      x: this.keepInside(this.canvas.clientWidth, this.size.width, (x / marked.length) * unit),
      y: this.keepInside(this.canvas.clientHeight, this.size.height, (y / marked.length) * unit),
    };
    this.place();
  }

  /** Centre a point without leaving empty room at an edge of the picture. */
  private keepInside(room: number, size: number, at: number): number {
    const scaled = size * this.scale;
    if (scaled <= room) return (room - scaled) / 2;
    return Math.min(0, Math.max(room - scaled, room / 2 - at * this.scale));
  }

  private zoom(factor: number): void {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const next = Math.min(4, Math.max(0.1, this.scale * factor));
    const ratio = next / this.scale;
    this.offset = { x: width / 2 - (width / 2 - this.offset.x) * ratio, y: height / 2 - (height / 2 - this.offset.y) * ratio };
    this.scale = next;
    this.fitted = false;
    this.place();
  }

  private place(): void {
    const root = this.canvas.querySelector<SVGSVGElement>("svg");
    if (!root) return;
    root.style.width = `${this.size.width * this.scale}px`;
    root.style.height = `${this.size.height * this.scale}px`;
    root.style.transform = `translate(${this.offset.x}px,${this.offset.y}px)`;
  }

  private dragging(): void {
    let from: { x: number; y: number } | null = null;
    this.canvas.addEventListener("pointerdown", (event) => {
      from = { x: event.clientX - this.offset.x, y: event.clientY - this.offset.y };
      this.canvas.setPointerCapture(event.pointerId);
    });
    this.canvas.addEventListener("pointermove", (event) => {
      if (!from) return;
      this.offset = { x: event.clientX - from.x, y: event.clientY - from.y };
      this.place();
    });
    const end = () => (from = null);
    this.canvas.addEventListener("pointerup", end);
    this.canvas.addEventListener("pointercancel", end);
  }

  private button(text: string, name: string, run: () => void): HTMLButtonElement {
    return h("button", { type: "button", class: "wb-small", "aria-label": name, title: name, onclick: run }, text);
  }
}

/** Where the live stacks go on when the rule on top ends. */
function ends(graph: Graph, here: Position): [number, string, number | string][] {
  const rows = here.stacks
    .filter(([top]) => top && graph.final.includes(top.state))
    .map(([top, below]): [number, string, number | string] => [top!.state, "end of the rule", below ? below.state : "end of the text"]);
  return [...new Map(rows.map((row) => [row.join(), row])).values()];
}

function describe(graph: Graph, live: number[]): string {
  const where = live.length ? `live in ${plural(live.length, "state")}: ${live.slice(0, 8).join(", ")}` : "no live state";
  return `Automaton of ${plural(graph.states, "state")}, ${where}`;
}

function captionOf(graph: Graph, live: number[]): string {
  const shown = graph.states - graph.hidden;
  const size = graph.hidden ? `${shown} of ${plural(graph.states, "state")}, those around the live ones` : plural(graph.states, "state");
  return `${size}; live: ${live.length ? live.slice(0, 12).join(", ") : "none"}${live.length > 12 ? " …" : ""}`;
}

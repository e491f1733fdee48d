// The small picture of the automaton beside the candidates, with the transitions from the live states.
import { Canvas, smallButton } from "./canvas";
import { h, refill } from "./dom";
import { layouts } from "./layouts";
import { dotOf, near } from "./dot";
import { joined, plural } from "./format";
import type { Store } from "./store";
import type { Graph, Standing } from "./types";

/** States that the picture shows: as many of these as fit. */
const SIZES = [14, 11, 9, 7, 5, 3];
const NEAR = SIZES[0]!;

export class GraphPanel {
  private canvas = new Canvas({ picked: (id) => this.pick(id), peeked: (id) => this.tell(id) });
  private caption = h("div", { class: "wb-note" });
  private resting = "";
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
      smallButton("fit", "Fit the graph", () => this.canvas.fit()),
      smallButton("here", "Go to the live states", () => this.canvas.center()),
      smallButton("−", "Smaller", () => this.canvas.zoom(1 / 1.3)),
      smallButton("+", "Larger", () => this.canvas.zoom(1.3)),
    ),
    this.canvas.element,
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

  constructor(private store: Store) {}

  stop(): void {
    this.canvas.stop();
  }

  update(): void {
    const { store } = this;
    const here = store.standing;
    const graph = here && store.doc.graphs[here.graph];
    if (!here || !graph) {
      if (!here) return; // inside a token that is being asked about: the picture stays until the answer is there
      this.canvas.clear("This record holds no automaton.");
      this.canvas.element.setAttribute("aria-label", "No automaton was recorded");
      this.caption.textContent = this.summary.textContent = "";
      return;
    }
    const { live } = here;
    this.canvas.element.setAttribute("aria-label", describe(graph, live));
    const from = transitionsFrom(graph, live, here);
    this.summary.textContent = `transitions (${from.length})`;
    refill(this.transitions, from, () => from.map(([source, on, target]) => h("tr", {}, h("td", {}, source), h("td", {}, h("code", {}, on)), h("td", {}, target))));
    const parts = partsOf(graph, seedsOf(graph, here, store.state), SIZES);
    const lit = live.map((state) => `s${state}`);
    const chosen = store.state === null ? null : `s${store.state}`;
    void this.canvas.showFitting(
      parts.map((part) => ({ dot: this.dot(part, here), lit, chosen })),
      (i) => (this.caption.textContent = this.resting = captionOf(parts[i]!, live)),
    );
    this.expect();
  }

  private dot(part: Graph, here: Standing): string {
    return dotOf(part, this.store.doc.rules, new Set(), returnsOf(part, here));
  }

  /** Lay out what a step forward or back will show. */
  private expect(): void {
    const { store } = this;
    const neighbours = [store.next, store.doc.positions[store.here.parent]];
    const dots = neighbours.flatMap((position) => {
      const graph = position && store.doc.graphs[position.graph];
      return graph && graph.shown.length > NEAR ? [this.dot(near(graph, seedsOf(graph, position, null), NEAR), position)] : [];
    });
    if (dots.length) layouts.expect(dots);
  }

  private tell(id: string | null): void {
    const { store } = this;
    const state = Number(id?.slice(1));
    const here = store.standing ?? store.here;
    const graph = store.doc.graphs[here.graph];
    if (id === null || !graph) this.caption.textContent = this.resting;
    else this.caption.textContent = `state ${state}${store.doc.rules[state] ? ` of ${store.doc.rules[state]}` : ""}: ${plural(transitionsFrom(graph, [state], here).length, "transition")} out of it`;
  }

  private pick(id: string): void {
    const state = Number(/^s(\d+)$/.exec(id)?.[1] ?? NaN);
    if (!Number.isFinite(state)) return;
    this.store.state = this.store.state === state ? null : state;
    this.store.notify();
  }
}

/** The states that a part of a picture is made around: the live ones, the chosen one, where the stacks lead next. */
export function seedsOf(graph: Graph, here: Standing, chosen: number | null): number[] {
  return [...new Set([...(chosen === null ? [] : [chosen]), ...here.live, ...returnsOf(graph, here).map(([, to]) => to)])];
}

/** Parts of a graph around some states, from the largest to the smallest. */
export function partsOf(graph: Graph, states: number[], sizes: number[]): Graph[] {
  const found: Graph[] = [];
  for (const size of sizes) {
    const part = near(graph, states, size);
    if (!found.length || part.shown.length < found[found.length - 1]!.shown.length) found.push(part);
  }
  return found;
}

/** Where states lead, and where the live stacks go on when the rule on top ends. */
export function transitionsFrom(graph: Graph, states: number[], here: Standing): [number, string, number | string][] {
  const byByte = graph.edges.filter(([source]) => states.includes(source)).map(([source, on, target]): [number, string, number] => [source, on, target]);
  const ends = here.stacks
    .filter(([top]) => top && states.includes(top.state) && graph.final.includes(top.state))
    .flatMap(([top, below]): [number, string, number | string][] => [
      ...(below?.again ?? []).map((entry): [number, string, number] => [top!.state, "the next round", entry]),
      [top!.state, "end of the rule", below ? below.state : "end of the text"],
    ]);
  return [...byByte, ...new Map(ends.map((row) => [row.join(), row])).values()];
}

/** In a picture of a part, the edges from the end of the rule on top to where the stack leads; the whole stays the same for all steps. */
export function returnsOf(graph: Graph, here: Standing): [number, number][] {
  if (!graph.hidden) return [];
  return here.stacks.flatMap(([top, below]): [number, number][] => (top && below && graph.final.includes(top.state) ? [below.state, ...(below.again ?? [])].map((to): [number, number] => [top.state, to]) : []));
}

export function describe(graph: Graph, live: number[]): string {
  const where = live.length ? `live in ${plural(live.length, "state")}: ${joined(live, 8)}` : "no live state";
  return `Automaton of ${plural(graph.states, "state")}, ${where}`;
}

export function captionOf(graph: Graph, live: number[]): string {
  const shown = graph.states - graph.hidden;
  const size = graph.hidden ? `${shown} of ${plural(graph.states, "state")}, those around the live ones` : plural(graph.states, "state");
  return `${size}; live: ${joined(live, 12) || "none"}`;
}

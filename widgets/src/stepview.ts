// The first screen: candidates, a small picture of the automaton, the stack, the times, a watched token.
import type { Context } from "./actions";
import { h } from "./dom";
import { GraphPanel } from "./graph";
import type { Panel } from "./panel";
import { StackPanel } from "./stack";
import { Table } from "./table";
import { TimesPanel } from "./times";
import { WatchPanel } from "./watch";

export class StepView implements Panel {
  readonly id = "step";
  readonly title = "Step";
  readonly actions = [];
  readonly table: Table;
  private graph: GraphPanel;
  private parts: { update(): void }[];
  readonly element: HTMLElement;

  constructor(context: Context, prefix: string, go: (cursor: number) => void) {
    const { store } = context;
    this.table = new Table(context, prefix);
    this.graph = new GraphPanel(store);
    const stack = new StackPanel(store);
    const times = new TimesPanel(store, go);
    const watch = new WatchPanel(context, go);
    this.parts = [this.table, this.graph, stack, times, watch];
    this.element = h(
      "div",
      {},
      h("div", { class: "wb-columns" }, this.table.element, h("div", { class: "wb-side" }, this.graph.element, h("div", { class: "wb-pair" }, stack.element, times.element))),
      watch.element,
    );
  }

  update(): void {
    for (const part of this.parts) part.update();
  }

  stop(): void {
    this.graph.stop();
  }
}

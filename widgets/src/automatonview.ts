// The automaton at full size: rules fold, stacks are cards, a list of transitions is the route for the keyboard.
import type { Context } from "./actions";
import { Canvas, smallButton } from "./canvas";
import { StackCards } from "./cards";
import { scrollInto } from "./chips";
import { beforePaint, breakable, h, name, refill } from "./dom";
import { dotOf, foldedNodes, near, nodeOf, rulesOf } from "./dot";
import { count, more, plural } from "./format";
import { captionOf, describe, partsOf, returnsOf, seedsOf, transitionsFrom } from "./graph";
import type { Panel } from "./panel";
import { linksOf, toward } from "./walk";
import type { Graph, Standing } from "./types";

/** Up to this many states the whole picture is shown at first, beyond it the part near the live states. */
const WHOLE_TO = 40;
const NEAR = 24;
/** Smaller parts, for where that one does not fit. */
const SMALLER = [14, 11, 9, 7, 5];
/** From this many shown states on, rules that are not on the stack are folded unless they were opened. */
const FOLD_FROM = 60;
/** Transitions that are listed. */
const WAYS = 300;
/** Tokens of a state are counted when the pointer has rested on it. */
const COUNT_MS = 300;

/** A part of the automaton as it is drawn: nodes of folded rules, and which nodes an edge joins. */
interface Drawn {
  graph: Graph;
  boxes: Map<string, string>;
  links: Map<string, Set<string>>;
  dot: string;
}

export class AutomatonView implements Panel {
  readonly id = "automaton";
  readonly title = "Automaton";
  readonly actions = [
    { name: "Fold or unfold the rule of the chosen state", keys: ["F"], run: () => this.foldOne() },
    { name: "Fold or unfold all rules", keys: ["A"], run: () => this.foldAll() },
    { name: "All states, or those near the live ones", keys: ["V"], run: () => this.setWhole() },
    { name: "Fit the graph", keys: ["0"], run: () => this.canvas.fit() },
    { name: "Go to the live states", keys: ["G"], run: () => this.goLive() },
    { name: "Freeze the stacks of this step", keys: ["Z"], run: () => this.cards.freeze() },
    { name: "Trace the first stack back over the steps", keys: ["K"], run: () => this.cards.trace(0) },
    { name: "Walk in the picture: arrows go along edges, Enter chooses or unfolds", keys: ["P"], run: () => this.canvas.element.focus() },
  ];
  private canvas = new Canvas({ picked: (id) => this.pick(id), peeked: (id) => this.tell(id) });
  private cards: StackCards;
  private crumbs = h("nav", { class: "wb-crumbs", "aria-label": "Stack, outermost rule first" });
  private caption = h("div", { class: "wb-note" });
  private told = h("div", { class: "wb-note wb-told", hidden: true });
  private fold = smallButton("fold all", "Fold or unfold all rules (A)", () => this.foldAll());
  private extent = smallButton("all states", "All states, or those near the live ones (V)", () => this.setWhole());
  private rules = h("div", { class: "wb-rules", role: "group", "aria-label": "Rules: fold or unfold" });
  private list = h("div", { class: "wb-ways", role: "listbox", tabindex: "0", "aria-label": "Transitions" });
  private listTitle = h("strong", {}, "transitions");
  readonly element: HTMLElement;
  /** What the person decided about rules; others fold by themselves in large pictures. */
  private wanted = new Map<string, boolean>();
  /** States around which another picture is shown; null follows the live ones. */
  private around: number[] | null = null;
  private asked = new Map<string, Graph>();
  /** What the person decided; null goes by size. */
  private whole: boolean | null = null;
  private way = 0;
  private trail: number[] = [];
  /** What the picture shows. */
  private drawn: Drawn | null = null;
  /** The node that the arrow keys stand at. */
  private at: string | null = null;
  private toggled: string | null = null;
  private counts = new Map<number, string>();
  private timer = 0;
  private problem = "";

  constructor(
    private context: Context,
    private show: (tab: string) => void,
    go: (cursor: number) => void,
  ) {
    const peek = (state: number | null) => this.peek(state === null ? null : this.nodeOf(state));
    this.cards = new StackCards(context.store, (state) => this.choose(state), go, peek);
    this.canvas.element.tabIndex = 0;
    this.canvas.element.addEventListener("keydown", (event) => this.walked(event));
    this.canvas.element.addEventListener("blur", () => this.peek(null));
    const target = (event: Event) => (event.target as Element).closest<HTMLElement>("[data-way]")?.dataset["way"];
    this.list.addEventListener("pointerover", (event) => {
      const state = target(event) === undefined ? undefined : this.ways[Number(target(event))]?.[2];
      peek(typeof state === "number" ? state : null);
    });
    this.list.addEventListener("pointerleave", () => this.peek(null));
    this.list.addEventListener("keydown", (event) => this.pressed(event));
    this.list.addEventListener("click", (event) => {
      const row = (event.target as Element).closest<HTMLElement>("[data-way]");
      if (row) this.follow(Number(row.dataset["way"]));
    });
    this.element = h(
      "div",
      { class: "wb-columns wb-wide" },
      h(
        "section",
        { class: "wb-box wb-automaton wb-large", "aria-label": "Automaton" },
        h(
          "div",
          { class: "wb-tools" },
          h("strong", {}, "automaton"),
          h("span", { class: "wb-legend" }, "▶ live · ✓ may end · ▭ a rule"),
          h("span", { class: "wb-space" }),
          this.extent,
          this.fold,
          smallButton("fit", "Fit the graph (0)", () => this.canvas.fit()),
          smallButton("go to live", "Go to the live states (G)", () => this.goLive()),
          smallButton("−", "Smaller", () => this.canvas.zoom(1 / 1.3)),
          smallButton("+", "Larger", () => this.canvas.zoom(1.3)),
        ),
        this.crumbs,
        h("div", { class: "wb-canvas-box" }, this.canvas.element, this.told),
        this.caption,
        this.rules,
      ),
      h("div", { class: "wb-side" }, this.cards.element, h("section", { class: "wb-box", "aria-label": "Transitions" }, h("div", { class: "wb-tools" }, this.listTitle, h("span", { class: "wb-legend" }, "↑ ↓ choose · → follow · ← back")), this.list)),
    );
  }

  stop(): void {
    this.canvas.stop();
  }

  /** Where the text stands; the beginning of a token while its bytes are being asked about. */
  private get standing(): Standing {
    const { store } = this.context;
    return store.standing ?? store.here;
  }

  private get recorded(): Graph | undefined {
    const { store } = this.context;
    return (this.around && this.asked.get(this.around.join())) || store.doc.graphs[this.standing.graph];
  }

  private get showsWhole(): boolean {
    return this.whole ?? (this.recorded?.shown.length ?? 0) <= WHOLE_TO;
  }

  private get graph(): Graph | undefined {
    const graph = this.recorded;
    if (!graph || this.showsWhole) return graph;
    return near(graph, this.seeds, NEAR);
  }

  /** The states around which a part is shown. */
  private get seeds(): number[] {
    const graph = this.recorded;
    return graph ? seedsOf(graph, this.standing, this.context.store.state) : [];
  }

  private setWhole(): void {
    this.whole = !this.showsWhole;
    this.update();
  }

  update(): void {
    const { store } = this.context;
    this.cards.update();
    const graph = this.graph;
    if (!graph) {
      this.canvas.clear("This record holds no automaton.");
      this.canvas.element.setAttribute("aria-label", "No automaton was recorded");
      for (const part of [this.rules, this.crumbs, this.list]) refill(part, null, () => []);
      return;
    }
    this.extent.hidden = (this.recorded?.shown.length ?? 0) <= NEAR;
    this.extent.textContent = this.showsWhole ? "near live" : "all states";
    name(this.extent, "All states, or those near the live ones (V)");
    const live = this.standing.live;
    const folded = this.folded(graph);
    this.canvas.element.setAttribute("aria-label", describe(graph, live));
    // What a person asked for is shown, however small; by itself the view shows what fits.
    const smaller = this.whole === true ? [] : partsOf(graph, this.seeds, this.showsWhole ? [NEAR, ...SMALLER] : SMALLER);
    const parts = [graph, ...smaller.filter((part) => part.shown.length < graph.shown.length)].map((part) => this.part(part, folded));
    void this.canvas.showFitting(
      parts.map(({ dot, boxes }) => ({
        dot,
        lit: live.map((state) => nodeOf(state, store.doc.rules, boxes)),
        chosen: store.state === null ? null : nodeOf(store.state, store.doc.rules, boxes),
      })),
      (i) => this.took(parts[i]!),
    ).then(() => {
      // What a person folded or unfolded is brought into view.
      const rule = this.toggled;
      if (rule === null) return;
      this.toggled = null;
      const node = this.drawn?.boxes.get(rule) ?? this.drawn?.graph.shown.filter((state) => store.doc.rules[state] === rule).map((state) => `s${state}`)[0];
      if (node) this.canvas.reveal(node);
    });
    this.drawCrumbs();
    this.drawRules(graph, folded);
    this.drawWays(graph);
  }

  private part(graph: Graph, folded: Set<string>): Drawn {
    const { rules } = this.context.store.doc;
    const boxes = foldedNodes(graph, rules, folded);
    const returns = returnsOf(graph, this.standing);
    const pairs = [...graph.edges.map(([from, , to]) => [from, to] as [number, number]), ...returns];
    const links = linksOf(pairs.map(([from, to]) => [nodeOf(from, rules, boxes), nodeOf(to, rules, boxes)]));
    return { graph, boxes, links, dot: dotOf(graph, rules, folded, returns) };
  }

  private took(drawn: Drawn): void {
    const live = this.standing.live;
    this.drawn = drawn;
    const size = captionOf(drawn.graph, live);
    const around = this.around ? `around state ${this.around.join(", ")}: ${size.replace(", those around the live ones", "")}` : "";
    this.caption.textContent = this.problem || around || `${size} · hover a state, or walk to it with P and the arrow keys`;
  }

  private folded(graph: Graph): Set<string> {
    const { store } = this.context;
    const open = new Set(this.standing.stacks.flatMap((frames) => frames.flatMap((frame) => frame.rules)));
    const found = new Set<string>();
    for (const [rule, states] of rulesOf(graph, store.doc.rules)) {
      if (!rule || states.length < 2) continue;
      if (this.wanted.get(rule) ?? (graph.shown.length > FOLD_FROM && !open.has(rule))) found.add(rule);
    }
    return found;
  }

  private drawCrumbs(): void {
    const frames = [...(this.standing.stacks[0] ?? [])].reverse();
    const shown = frames.length > 8 ? [...frames.slice(0, 2), null, ...frames.slice(-5)] : frames;
    refill(this.crumbs, shown, () =>
      shown.flatMap((frame, i) => {
        const last = i === shown.length - 1;
        const sign = i > 0 ? h("span", { class: "wb-note", "aria-hidden": "true" }, "›") : "";
        if (!frame) return [sign, h("span", { class: "wb-note" }, `… ${plural(frames.length - 7, "more frame")} …`)];
        const rule = frame.rules.join(" · ") || `state ${frame.state}`;
        const does = last ? `${rule}: where the text stands` : `${rule}: show state ${frame.state}, where it goes on`;
        return [sign, h("button", { type: "button", class: "wb-small", "aria-label": does, title: does, onclick: () => (last ? this.goLive() : this.choose(frame.state)) }, ...breakable(last ? `▶ ${rule}` : rule))];
      }),
    );
  }

  private drawRules(graph: Graph, folded: Set<string>): void {
    const { store } = this.context;
    const rules = [...rulesOf(graph, store.doc.rules)].filter(([rule, states]) => rule && states.length > 1);
    this.rules.hidden = this.fold.hidden = rules.length === 0;
    this.fold.textContent = folded.size === rules.length && rules.length ? "unfold all" : "fold all";
    name(this.fold, "Fold or unfold all rules (A)");
    const key = [rules.map(([rule, states]) => [rule, states.length]), [...folded]];
    refill(this.rules, key, () => [
      h("span", { class: "wb-note" }, "rules:"),
      ...rules.slice(0, 40).map(([rule, states]) => {
        const closed = folded.has(rule);
        const does = `${closed ? "Unfold" : "Fold"} ${rule} (${plural(states.length, "state")})`;
        return h("button", { type: "button", class: "wb-small", "aria-expanded": String(!closed), "aria-label": does, title: does, "data-rule": rule, onclick: () => this.toggle(rule, closed) }, ...breakable(`${closed ? "▸" : "▾"} ${rule}`));
      }),
      rules.length > 40 && h("span", { class: "wb-note" }, `… ${more(rules.length, 40, "rule")}`),
    ]);
  }

  /** The states whose ways out are listed: the chosen one, else the live ones. */
  private get listed(): number[] {
    const { store } = this.context;
    return store.state === null ? this.standing.live : [store.state];
  }

  private get ways(): [number, string, number | string][] {
    const graph = this.graph;
    return graph ? transitionsFrom(graph, this.listed, this.standing) : [];
  }

  private drawWays(graph: Graph): void {
    const { store } = this.context;
    const ways = transitionsFrom(graph, this.listed, this.standing);
    this.way = Math.min(this.way, Math.max(0, Math.min(ways.length, WAYS) - 1));
    const from = store.state === null ? "the live states" : `state ${store.state}`;
    this.listTitle.textContent = `transitions from ${from} (${ways.length})`;
    const called = (state: number | string) => (typeof state === "number" && store.doc.rules[state] ? `${state} ${store.doc.rules[state]}` : String(state));
    const prefix = `wb-way-${graph.states}-${store.cursor}`;
    refill(this.list, [prefix, ways, this.way], () => [
      ...ways.slice(0, WAYS).map(([source, on, target], i) =>
        h(
          "div",
          { class: `wb-way${i === this.way ? " wb-selected" : ""}`, role: "option", id: `${prefix}-${i}`, "aria-selected": String(i === this.way), "data-way": i, "aria-label": `from state ${source} on ${on} to ${typeof target === "number" ? `state ${called(target)}` : target}` },
          h("span", {}, source),
          h("code", {}, on),
          h("span", {}, ...breakable(`→ ${called(target)}`)),
        ),
      ),
      ways.length > WAYS && h("p", { class: "wb-note" }, `… ${more(ways.length, WAYS, "transition")}`),
      !ways.length && h("p", { class: "wb-empty" }, "no way out of here is in this picture"),
    ]);
    if (ways.length) this.list.setAttribute("aria-activedescendant", `${prefix}-${this.way}`);
    else this.list.removeAttribute("aria-activedescendant");
    const row = this.list.querySelector<HTMLElement>(".wb-selected");
    if (row) beforePaint(() => scrollInto(this.list, row));
  }

  private pressed(event: KeyboardEvent): void {
    const move = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.shiftKey || event.ctrlKey || event.metaKey) return;
    if (move) {
      this.way = Math.min(Math.max(0, this.way + move), Math.max(0, this.ways.length - 1));
      event.preventDefault();
      this.update();
    } else if (event.key === "ArrowRight" || event.key === "Enter") {
      event.preventDefault();
      this.follow(this.way);
    } else if (event.key === "ArrowLeft") {
      event.preventDefault();
      const back = this.trail.pop();
      if (back === undefined) this.goLive();
      else this.choose(back, false);
    }
  }

  private follow(way: number): void {
    const target = this.ways[way]?.[2];
    if (typeof target !== "number") return;
    const { store } = this.context;
    if (store.state !== null) this.trail.push(store.state);
    this.way = 0;
    this.choose(target, false);
  }

  /** Choose a state; where the picture does not show it, ask for one that does. */
  choose(state: number, fresh = true): void {
    const { store } = this.context;
    if (fresh) this.trail = [];
    store.state = state;
    this.problem = "";
    const graph = this.recorded;
    if (graph && graph.hidden && !graph.shown.includes(state)) void this.ask(state);
    store.notify();
  }

  private async ask(state: number): Promise<void> {
    const { store, host } = this.context;
    this.around = [state];
    if (!this.asked.has(String(state))) {
      try {
        const { answer } = await host.ask<{ graph: Graph; rules: Record<string, string> }>("picture", { states: [state] });
        if (answer.error) throw new Error(answer.error);
        Object.assign(store.doc.rules, answer.rules);
        this.asked.set(String(state), answer.graph);
      } catch (error) {
        this.around = null;
        this.problem = `State ${state} is not in the recorded picture: ${error instanceof Error ? error.message : String(error)}`;
      }
    }
    store.notify();
  }

  private nodeOf(state: number): string {
    return nodeOf(state, this.context.store.doc.rules, this.drawn?.boxes ?? new Map());
  }

  /** Outline a node in passing, and say what it is. */
  private peek(id: string | null): void {
    this.at = null;
    this.canvas.peekAt(id);
    this.tell(id);
  }

  /** An arrow key in the picture goes along an edge, Enter chooses the node. */
  private walked(event: KeyboardEvent): void {
    if (event.shiftKey || event.ctrlKey || event.metaKey) return;
    const { picture, element } = this.canvas;
    const { store } = this.context;
    if (!picture || !this.drawn || event.target !== element) return;
    const start = store.state ?? this.standing.live[0];
    const from = this.at ?? (start === undefined ? null : this.nodeOf(start));
    if (from === null) return;
    if (event.key === "Enter") {
      event.preventDefault();
      if (this.at !== null) this.pick(this.at);
      return;
    }
    if (!event.key.startsWith("Arrow")) return;
    event.preventDefault();
    const boxes = new Map([...picture.nodes].map(([id, node]) => [id, node.box]));
    const to = toward(boxes, from, this.drawn.links.get(from) ?? [], event.key);
    this.at = to ?? from;
    this.canvas.peekAt(this.at);
    this.canvas.reveal(this.at);
    this.tell(this.at, to === null ? "no edge goes that way; " : "");
  }

  /** Say what a node is, and how many tokens may come there: counted where a kernel is. */
  private tell(id: string | null, before = ""): void {
    window.clearTimeout(this.timer);
    if (id === null || !this.drawn) {
      this.told.hidden = true;
      this.told.textContent = "";
      return;
    }
    const { store } = this.context;
    const { graph, boxes } = this.drawn;
    const rule = [...boxes].find(([, node]) => node === id)?.[0];
    if (rule !== undefined) {
      this.say(`${before}rule ${rule}, folded: ${plural(rulesOf(graph, store.doc.rules).get(rule)?.length ?? 0, "state")}; Enter or a click unfolds it`);
      return;
    }
    const state = Number(id.slice(1));
    const ways = transitionsFrom(graph, [state], this.standing).length;
    const marks = [this.standing.live.includes(state) ? "live" : "", graph.final.includes(state) ? "may end" : ""].filter(Boolean);
    const line = `${before}state ${state}${store.doc.rules[state] ? ` of ${store.doc.rules[state]}` : ""}${marks.length ? `, ${marks.join(", ")}` : ""}: ${ways === 1 ? "1 way" : `${ways} ways`} out`;
    const known = this.counts.get(state);
    this.say(known ? `${line}; ${known}` : line);
    if (known || store.connected !== true) return;
    this.timer = window.setTimeout(() => void this.count(state, line), COUNT_MS);
  }

  private say(text: string): void {
    this.told.hidden = false;
    this.told.textContent = text;
    this.context.view.say(text);
  }

  private async count(state: number, line: string): Promise<void> {
    const shown = this.told.textContent;
    try {
      const { answer } = await this.context.host.ask<{ inside: number; above: number }>("state", { state });
      if (answer.overtaken || answer.error) return;
      const inside = `${plural(answer.inside, "token")} may come there whatever the stack is`;
      const text = answer.above ? `${inside}, ${count(answer.above)} more above some stacks` : inside;
      this.counts.set(state, text);
      if (this.told.textContent === shown) this.say(`${line}; ${text}`);
    } catch {
      // Without a kernel nothing is counted.
    }
  }

  private pick(id: string): void {
    const state = /^s(\d+)$/.exec(id)?.[1];
    if (state !== undefined) this.choose(Number(state));
    else {
      const rule = [...(this.drawn?.boxes ?? [])].find(([, node]) => node === id)?.[0];
      if (rule) this.toggle(rule, true);
    }
  }

  private toggle(rule: string, closed: boolean): void {
    this.wanted.set(rule, !closed);
    this.at = null;
    this.toggled = rule;
    this.update();
  }

  private foldOne(): void {
    const { store } = this.context;
    const graph = this.graph;
    const rule = store.doc.rules[store.state ?? this.standing.live[0] ?? -1];
    if (graph && rule) this.toggle(rule, this.folded(graph).has(rule));
  }

  private foldAll(): void {
    const graph = this.graph;
    if (!graph) return;
    const rules = [...rulesOf(graph, this.context.store.doc.rules).keys()].filter(Boolean);
    const close = this.folded(graph).size === 0;
    for (const rule of rules) this.wanted.set(rule, close);
    this.update();
  }

  private goLive(): void {
    this.around = null;
    this.trail = [];
    this.problem = "";
    this.way = 0;
    this.context.store.state = null;
    this.show(this.id);
    this.context.store.notify();
    this.canvas.center();
  }
}

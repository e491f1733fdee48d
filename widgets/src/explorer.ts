// All tokens at the cursor: grouped, searched, filtered; a virtual list, and the reason of the chosen token.
import { take, type Context } from "./actions";
import { tokenText } from "./chips";
import { fromView } from "./decode";
import { breakable, fill, h, refill } from "./dom";
import { count, percent, plural } from "./format";
import type { Panel } from "./panel";
import { RecordedSearch } from "./search";
import { setState } from "./toolbar";
import type { Position } from "./types";
import { VirtualList } from "./virtual";
import { byLikelihood, likeliest, groupTokens, hasBit, labelOf, query, Vocabulary, type Filter, type Group, type Grouping, type MaskAnswer, type TokenSet, type VocabularyAnswer } from "./vocabulary";
import { whyParts } from "./whyview";

const GROUPINGS: [Grouping, string][] = [
  ["rule", "rule of the first byte"],
  ["class", "kind of the first byte"],
  ["length", "length"],
  ["end", "whether the text may end"],
  ["none", "nothing"],
];
const FILTERS: [Filter, string, string][] = [
  ["allowed", "allowed", "Tokens that may come next"],
  ["rejected", "rejected", "Tokens that may not come next"],
  ["stack", "by the stack", "Tokens about which the open rules below decide: above another stack the verdict would be another one (D)"],
  ["all", "all", "All tokens"],
];
type Row = { group: Group; open: boolean } | { id: number };

/** Tokens that stand for a closed group; the group says how many it has. */
const SAMPLES = 8;

export class Explorer implements Panel {
  readonly id = "tokens";
  readonly title = "Tokens";
  readonly actions = [
    { name: "Next row", keys: ["ArrowDown"], run: () => this.list.move(1) },
    { name: "Previous row", keys: ["ArrowUp"], run: () => this.list.move(-1) },
    { name: "Take the chosen token, open or close a group", keys: ["Enter"], run: () => this.enter() },
    { name: "Why: explain the chosen token", keys: ["W"], run: () => this.explain() },
    { name: "Only tokens about which the stack decides, or the allowed ones", keys: ["D"], run: () => this.setFilter(this.filter === "stack" ? "allowed" : "stack") },
    { name: "Copy the search", keys: ["Y"], run: () => void navigator.clipboard?.writeText(this.search.value).catch(() => undefined) },
  ];
  private search = h("input", { type: "search", class: "wb-search", placeholder: "text, re:^[0-9], hex:e2 9c or id:17", "aria-label": "Search all tokens", spellcheck: "false", autocomplete: "off" });
  private grouping = h("select", { "aria-label": "Group by" }, ...GROUPINGS.map(([value, text]) => h("option", { value }, text)));
  private filters: HTMLButtonElement[];
  private head = h("div", { class: "wb-headline" });
  private note = h("div", { class: "wb-note" });
  private list: VirtualList<Row>;
  private why = h("div", { class: "wb-why-body" });
  private takeButton = h("button", { type: "button", onclick: () => this.takeChosen() }, "take it");
  private graphButton = h("button", { type: "button", onclick: () => this.showInGraph() }, "show in graph");
  readonly element: HTMLElement;
  private vocabulary: Promise<Vocabulary> | null = null;
  private known: Vocabulary | null = null;
  private sets = new Map<number, TokenSet>();
  private listed: TokenSet | null = null;
  private open = new Set<string>();
  private filter: Filter = "allowed";
  private drawn = "";
  private groups: Group[] = [];
  private waiting = "";
  private asking: number | null = null;

  constructor(
    private context: Context,
    private show: (tab: string) => void,
  ) {
    this.list = new VirtualList<Row>("Tokens", (row, i) => this.draw(row, i), (row) => this.chose(row), () => `${this.context.store.cursor} ${this.context.store.selected}`);
    this.list.element.classList.add("wb-explorer-list");
    this.list.element.addEventListener("keydown", (event) => this.pressed(event));
    this.filters = FILTERS.map(([filter, text, title]) => h("button", { type: "button", class: "wb-small", "aria-pressed": "false", title, onclick: () => this.setFilter(filter) }, text));
    let timer = 0;
    this.search.addEventListener("input", () => {
      window.clearTimeout(timer);
      timer = window.setTimeout(() => this.update(), 150);
    });
    this.search.addEventListener("keydown", (event) => {
      if (event.key !== "ArrowDown" && event.key !== "Enter") return;
      event.preventDefault();
      this.list.focus();
      this.list.move(1);
    });
    this.grouping.addEventListener("change", () => this.update());
    this.element = h(
      "div",
      { class: "wb-columns wb-wide" },
      h(
        "section",
        { class: "wb-box", "aria-label": "Allowed tokens" },
        this.head,
        h("div", { class: "wb-tools" }, this.search, h("label", {}, "group by ", this.grouping), h("span", { role: "group", "aria-label": "Show", class: "wb-tools" }, ...this.filters)),
        this.list.element,
        this.note,
      ),
      h("section", { class: "wb-box", "aria-label": "Why" }, h("div", { class: "wb-tools" }, h("strong", {}, "why"), h("span", { class: "wb-space" }), this.takeButton, this.graphButton), this.why),
    );
  }

  update(): void {
    const { store } = this.context;
    const here = store.here;
    this.filters.forEach((button, i) => button.setAttribute("aria-pressed", String(FILTERS[i]![0] === this.filter)));
    this.drawWhy();
    if (!here.open) {
      this.drawn = "";
      fill(this.head, "the run ended here: no token comes next");
      this.list.set([]);
      this.note.textContent = "";
      return;
    }
    const set = this.sets.get(here.id);
    if (!this.known || !set) {
      fill(this.head, "reading the allowed tokens …");
      void this.load(here);
      return;
    }
    const by = this.grouping.value as Grouping;
    if (by === "end" && !set.ends) {
      this.note.textContent = "asking after which tokens the text may end …";
      void this.askEnds(here, set);
      return;
    }
    if (this.filter === "stack" && !set.needs) {
      this.note.textContent = "asking which tokens the stack decides about …";
      void this.askNeeds(here, set);
      return;
    }
    const key = JSON.stringify([here.id, by, this.filter, this.search.value, set.ends !== null]);
    if (key === this.drawn) {
      this.list.refresh();
      return;
    }
    const test = query(this.known, this.search.value);
    if (typeof test === "string") {
      this.note.textContent = test;
      return;
    }
    this.drawn = key;
    this.groups = groupTokens(this.known, set, by, this.filter, test);
    if (this.groups.length === 1 || by === "none") this.open.add(this.groups[0]?.name ?? "");
    this.fillList();
  }

  private fillList(): void {
    const { store } = this.context;
    const here = store.here;
    const set = this.sets.get(here.id);
    if (!set) return;
    this.listed = set;
    const total = this.groups.reduce((sum, group) => sum + group.ids.length, 0);
    const rows: Row[] = [];
    for (const group of this.groups) {
      const open = this.open.has(group.name);
      rows.push({ group, open });
      if (open) for (const id of byLikelihood(group.ids, set)) rows.push({ id });
    }
    fill(this.head, h("span", {}, `allowed ${count(here.allowed)} of ${count(store.doc.vocabularySize)}`), h("span", {}, `they hold ${percent(1 - here.massRemoved)} of the probability`), h("span", {}, `${plural(total, "token")} in ${plural(this.groups.length, "group")} here`));
    this.note.textContent = total ? `group shares: ${this.filter === "allowed" ? "after the mask" : "before the mask"}${Number.isNaN(set.before[0] ?? 0) ? "; only recorded probabilities are known" : ""}` : "no token passes the search and the filter";
    this.list.set(rows);
  }

  private async load(here: Position): Promise<void> {
    const { store, host } = this.context;
    const key = `${here.id}`;
    if (this.waiting === key) return;
    this.waiting = key;
    try {
      if (store.connected === false) throw new Error("recorded");
      this.vocabulary ??= host.ask<VocabularyAnswer>("vocabulary").then(({ answer, buffers }) => {
        if (answer.error) throw new Error(answer.error);
        return Vocabulary.fromAnswer(answer, fromView(buffers[0]!), new Int32Array(fromView(buffers[1]!).buffer));
      });
      this.known = await this.vocabulary;
      const { answer, buffers } = await host.ask<MaskAnswer>("mask", { node: here.id });
      if (answer.error) throw new Error(answer.error);
      const before = new Float32Array(this.known.size);
      before.set(new Float32Array(fromView(buffers[1]!).buffer).subarray(0, this.known.size));
      this.keep(here.id, { allowed: fromView(buffers[0]!), before, kept: answer.kept, rules: answer.rules, byByte: answer.byByte, ends: null, needs: null });
    } catch {
      this.fromRecord(here);
    }
    this.waiting = "";
    this.update();
  }

  /** What the record knows: the whole vocabulary in a report, else the recorded candidates. */
  private fromRecord(here: Position): void {
    const { doc } = this.context.store;
    this.known = Vocabulary.fromDoc(doc);
    const size = this.known.size;
    const allowed = new Uint8Array((size >> 3) + 1);
    const before = new Float32Array(size).fill(NaN);
    const ids = new RecordedSearch(doc).allowed(here) ?? here.rows.filter((row) => row[3]).map((row) => row[0]);
    for (const id of ids) allowed[id >> 3]! |= 1 << (id & 7);
    for (const row of here.rows) before[row[0]] = row[1] ?? NaN;
    this.keep(here.id, { allowed, before, kept: 1 - here.massRemoved, rules: [], byByte: new Array<number>(256).fill(-1), ends: null, needs: null });
    if (this.grouping.value === "rule") this.grouping.value = "class";
  }

  private keep(node: number, set: TokenSet): void {
    this.sets.set(node, set);
    if (this.sets.size > 24) this.sets.delete(this.sets.keys().next().value!);
  }

  private async askEnds(here: Position, set: TokenSet): Promise<void> {
    try {
      const { answer, buffers } = await this.context.host.ask<{ tried: number }>("endings", { node: here.id });
      if (answer.error) throw new Error(answer.error);
      set.ends = fromView(buffers[0]!);
    } catch (error) {
      this.grouping.value = "class";
      this.update();
      this.note.textContent = `not known here: ${error instanceof Error ? error.message : String(error)}`;
      return;
    }
    this.update();
  }

  private async askNeeds(here: Position, set: TokenSet): Promise<void> {
    if (this.asking === here.id) return;
    this.asking = here.id;
    try {
      const { answer, buffers } = await this.context.host.ask<{ count: number }>("needs", { node: here.id });
      if (answer.overtaken) return;
      if (answer.error) throw new Error(answer.error);
      set.needs = fromView(buffers[0]!);
    } catch (error) {
      this.filter = "allowed";
      this.update();
      this.note.textContent = `not known here: ${error instanceof Error ? error.message : String(error)}`;
      return;
    } finally {
      this.asking = null;
    }
    this.update();
  }

  private draw(row: Row, index: number): HTMLElement {
    const { store } = this.context;
    // Of the position that the rows were made for; the cursor may have moved on.
    const set = this.listed!;
    const vocabulary = this.known!;
    if ("group" in row) {
      const { group, open } = row;
      const samples = open ? [] : likeliest(group.ids, set, SAMPLES);
      return h(
        "div",
        { class: "wb-group", role: "option", "aria-expanded": String(open), "aria-label": `${group.name}, ${plural(group.ids.length, "token")}, ${percent(group.mass)}` },
        h("span", { class: "wb-group-name" }, ...breakable(`${open ? "▾" : "▸"} ${group.name}`)),
        h("span", { class: "wb-number" }, count(group.ids.length)),
        h("span", { class: "wb-number" }, percent(group.mass)),
        h("span", { class: "wb-samples" }, ...samples.flatMap((id) => [tokenText(vocabulary.token(id)), " "])),
      );
    }
    const { id } = row;
    const on = hasBit(set.allowed, id);
    const p = set.before[id]!;
    const known = !Number.isNaN(p);
    const token = vocabulary.token(id);
    return h(
      "div",
      { class: `wb-item${store.selected === id ? " wb-item-here" : ""}`, role: "option", "data-token": id, "data-index": index, "aria-label": `${labelOf(vocabulary, id)}, id ${id}, ${on ? "allowed" : "rejected"}` },
      h("span", { class: "wb-cell-token" }, tokenText(token), h("span", { class: "wb-id" }, id)),
      h("span", { class: "wb-number" }, known ? percent(p) : "–"),
      h("span", { class: "wb-number" }, on && known ? percent(p / (set.kept || 1)) : "–"),
      h("span", { class: on ? "wb-good" : "wb-bad" }, `${on ? "● allowed" : "✕ rejected"}${set.needs && hasBit(set.needs, id) ? ", by the stack" : ""}`),
    );
  }

  private chose(row: Row): void {
    const { store } = this.context;
    if ("group" in row) {
      this.toggle(row.group.name);
      return;
    }
    if (!store.doc.tokens[row.id]) store.doc.tokens[row.id] = this.known!.token(row.id)!;
    store.selected = row.id;
    this.ask(row.id);
    store.notify();
  }

  private toggle(name: string): void {
    if (this.open.has(name)) this.open.delete(name);
    else this.open.add(name);
    this.fillList();
  }

  private pressed(event: KeyboardEvent): void {
    const row = this.list.current;
    if (!row || event.shiftKey || event.ctrlKey || event.metaKey) return;
    if (event.key !== "ArrowRight" && event.key !== "ArrowLeft") return;
    if ("group" in row) {
      if (row.open !== (event.key === "ArrowRight")) this.toggle(row.group.name);
    } else if (event.key === "ArrowLeft") {
      const at = this.list.rows.slice(0, this.list.index).findLastIndex((other) => "group" in other);
      this.list.choose(at);
    } else return;
    event.preventDefault();
  }

  private enter(): void {
    const row = this.list.current;
    if (!row) return;
    if ("group" in row) this.toggle(row.group.name);
    else if (this.context.store.selected === row.id) this.takeChosen();
    else this.chose(row);
  }

  private explain(): void {
    const row = this.list.current;
    if (row && "id" in row) this.chose(row);
  }

  private ask(id: number): void {
    const { store, host } = this.context;
    if (store.here.whys[id]?.cells || store.connected === false || store.busy) return;
    host.command({ type: "why", node: store.cursor, token: id });
  }

  private drawWhy(): void {
    const { store } = this.context;
    const id = store.selected;
    const set = this.sets.get(store.here.id);
    const allowed = id !== null && (set ? hasBit(set.allowed, id) : store.here.rows.some((row) => row[0] === id && row[3] === 1));
    setState(this.takeButton, id === null ? "choose a token first" : allowed ? null : "this token is rejected", "Take this token");
    const states = id === null ? undefined : store.here.whys[id]?.cells?.findLast((cell) => cell[1].length)?.[1];
    setState(this.graphButton, states ? null : "choose a token whose states are known", "Show the state in the automaton");
    if (id === null || !store.here.open) {
      refill(this.why, null, () => [h("p", { class: "wb-empty" }, "Choose a token: here it says why it is allowed or rejected, byte by byte.")]);
      return;
    }
    const title = () => h("p", { class: "wb-why-title" }, tokenText(store.token(id)), h("span", { class: "wb-id" }, `id ${id}`), h("span", { class: allowed ? "wb-good" : "wb-bad" }, allowed ? "● allowed" : "✕ rejected"));
    const why = store.here.whys[id];
    const choose = (near: number) => {
      store.selected = near;
      this.ask(near);
      store.notify();
    };
    const waiting = store.connected === false ? "The reason was not recorded; it needs a kernel." : "Asking the kernel for the reason …";
    refill(this.why, [store.cursor, id, why, allowed, waiting], () => [title(), ...(why ? whyParts(store, id, why, allowed, choose) : [h("p", { class: "wb-note" }, waiting)])]);
  }

  private takeChosen(): void {
    const { store } = this.context;
    const set = this.sets.get(store.here.id);
    if (store.selected !== null && (!set || hasBit(set.allowed, store.selected))) take(this.context, store.selected);
  }

  private showInGraph(): void {
    const { store } = this.context;
    const states = store.selected === null ? undefined : store.here.whys[store.selected]?.cells?.findLast((cell) => cell[1].length)?.[1];
    if (!states) return;
    store.state = states[0]!;
    this.show("automaton");
    store.notify();
  }

  private setFilter(filter: Filter): void {
    this.filter = filter;
    this.update();
  }
}

// The grammar as text with live errors, and examples that it should match, should not, or should begin with.
import type { Context } from "./actions";
import { CodeField } from "./code";
import { breakable, fill, h, refill } from "./dom";
import { count, plural } from "./format";
import type { Panel } from "./panel";
import { setState } from "./toolbar";
import type { Checked, Example, Hint, Mistake, Outcome, Verdict, Way } from "./types";

const WAIT_MS = 300;
/** A message about an error waits until the typing has stopped for a while; the underline does not. */
const MESSAGE_MS = 1000;
const KINDS: [string, string][] = [
  ["gbnf", "GBNF"],
  ["json_schema", "JSON Schema"],
  ["regex", "regular expression"],
];
const WANTS: [Example["want"], string][] = [
  ["match", "match"],
  ["not", "not match"],
  ["prefix", "begin a match"],
];

export class Editor implements Panel {
  readonly id = "grammar";
  readonly title = "Grammar";
  readonly actions = [
    { name: "Next error", keys: ["F8"], run: () => this.nextError(1) },
    { name: "Previous error", keys: ["Shift+F8"], run: () => this.nextError(-1) },
    { name: "Between the text and the examples", keys: ["F6"], run: () => this.otherHalf() },
    { name: "Close the search, leave the text", keys: ["F2"], run: () => this.leave() },
  ];
  private code = new CodeField("Grammar text", () => this.edited());
  private kind = h("select", { "aria-label": "Kind of grammar" }, ...KINDS.map(([value, text]) => h("option", { value }, text)));
  private state = h("span", { class: "wb-check-state", role: "status" });
  private mistakes = h("div", { class: "wb-mistakes" });
  private warnings = h("div", { class: "wb-note" });
  private rows = h("tbody");
  private examplesTitle = h("strong", {}, "examples");
  private note = h("div", { class: "wb-note" });
  private apply = h("button", { type: "button", onclick: () => void this.use() }, "use this grammar");
  private make = h("button", { type: "button", class: "wb-small", onclick: () => void this.makeExamples() }, "make examples");
  readonly element: HTMLElement;
  private examples: Example[] = [];
  private checked: Checked | null = null;
  private loaded = "";
  private timer = 0;
  private later = 0;
  private quiet = true;
  private serial = 0;
  private fixed = -1;
  private seed = 0;
  private touched = false;
  private loading = false;
  private doc: object | null = null;
  /** The run that the text in the editor is about to begin. */
  private own = "";

  constructor(
    private context: Context,
    private show: (tab: string) => void,
  ) {
    this.kind.addEventListener("change", () => this.edited());
    const add = h("button", { type: "button", class: "wb-small", "aria-label": "Add an example", title: "Add an example", onclick: () => this.addExample() }, "+ add");
    this.element = h(
      "div",
      { class: "wb-columns wb-wide" },
      h("section", { class: "wb-box", "aria-label": "Grammar text" }, h("div", { class: "wb-tools" }, h("label", {}, "kind ", this.kind), this.state, h("span", { class: "wb-space" }), this.apply), this.code.element, this.mistakes, this.warnings),
      h(
        "section",
        { class: "wb-box", "aria-label": "Examples" },
        h("div", { class: "wb-tools" }, this.examplesTitle, h("span", { class: "wb-space" }), add, this.make),
        h("div", { class: "wb-scroll" }, h("table", { class: "wb-table wb-examples" }, h("thead", {}, h("tr", {}, ...["text", "should", "verdict", ""].map((name) => h("th", { scope: "col" }, name || h("span", { class: "wb-hidden" }, "remove"))))), this.rows)),
        this.note,
      ),
    );
  }

  mark(): string {
    const checked = this.checked ?? this.context.store.doc.panels.grammar;
    if (!checked) return "";
    const failed = checked.examples.filter((example) => !example.ok && !example.stale && !example.verdict.startsWith("not judged")).length;
    return checked.ok ? (failed ? `✕ ${failed}` : "") : "✕";
  }

  /** Text and examples as they are now, to go with a question; nothing before the editor was shown. */
  get given(): { examples?: Example[]; editor?: { text: string; kind: string } } {
    const ready = this.loaded !== "" && !this.loading;
    return { ...(ready ? { examples: this.examples } : {}), ...(ready || this.touched ? { editor: { text: this.code.text, kind: this.kind.value } } : {}) };
  }

  /** Put a text into the editor, as if it was typed. */
  put(text: string, kind: string): void {
    this.code.text = text;
    this.kind.value = kind;
    this.edited();
  }

  update(): void {
    const { store } = this.context;
    const shown = `${store.doc.title} ${store.doc.runs?.at ?? 0}`;
    // a grammar that was put to use from Python has no text here yet; what was typed stays
    const other = this.doc !== store.doc && store.doc.panels.grammar === undefined && !this.touched;
    this.doc = store.doc;
    if (this.loaded !== shown || other) {
      // The text that began a run is there already; what was typed and not put to use stays.
      const keep = shown === this.own || (this.loaded.startsWith(store.doc.title) && this.touched);
      this.loaded = shown;
      this.own = "";
      if (!keep) void this.load();
    }
    this.draw();
  }

  private async load(): Promise<void> {
    const { store, host } = this.context;
    const kept = store.doc.panels.grammar;
    this.touched = false;
    this.loading = true;
    try {
      const { answer } = await host.ask<{ text: string; kind: string; examples: Example[] }>("grammar");
      if (answer.error) throw new Error(answer.error);
      // What was typed or put in meanwhile stays.
      if (!this.touched) {
        this.code.text = answer.text;
        this.kind.value = answer.kind;
      }
      this.examples = answer.examples.length ? answer.examples : (kept?.examples ?? []).map(({ text, want }) => ({ text, want }));
      this.drawRows();
      void this.check();
    } catch {
      this.checked = kept ?? null;
      this.code.text = kept?.text ?? store.doc.meta["grammar text"] ?? "";
      if (kept) this.kind.value = kept.kind;
      this.examples = (kept?.examples ?? []).map(({ text, want }) => ({ text, want }));
      this.code.readonly = true;
      this.drawRows();
      this.draw();
    }
    this.loading = false;
  }

  private get stale(): boolean {
    return this.checked !== null && (this.checked.text !== this.code.text || this.checked.kind !== this.kind.value);
  }

  private edited(): void {
    this.touched = true;
    window.clearTimeout(this.timer);
    window.clearTimeout(this.later);
    this.quiet = true;
    this.timer = window.setTimeout(() => void this.check(), WAIT_MS);
    this.later = window.setTimeout(() => {
      this.quiet = false;
      this.draw();
    }, MESSAGE_MS);
    this.draw();
  }

  private async check(): Promise<void> {
    const { host } = this.context;
    const number = ++this.serial;
    try {
      const { answer } = await host.ask<Checked>("check", { text: this.code.text, kind: this.kind.value, examples: this.examples });
      if (number !== this.serial || answer.overtaken) return;
      if (answer.error) this.note.textContent = answer.error;
      else {
        this.checked = answer;
        this.context.store.doc.panels.grammar = answer;
      }
    } catch (error) {
      this.note.textContent = error instanceof Error ? error.message : String(error);
    }
    this.draw();
    this.context.store.notify();
  }

  private draw(): void {
    const { store } = this.context;
    const checked = this.checked;
    const offline = store.connected === false;
    const stale = this.stale;
    const mistakes = checked && !stale ? checked.mistakes : [];
    this.code.underline(mistakes.flatMap((m) => (m.start === null ? [] : [[m.start, m.end ?? m.start + 1] as [number, number]])));
    if (!checked) this.state.textContent = offline ? "needs a running kernel to check the text" : "checking …";
    else if (stale) this.state.textContent = "◌ stale: checking …";
    else if (checked.ok) this.state.textContent = `● compiled in ${checked.ms} ms${checked.states === null ? "" : `: ${plural(checked.states, "state")}`}`;
    else this.state.textContent = `✕ ${plural(checked.mistakes.length, "error")}`;
    this.state.className = `wb-check-state ${checked && !stale ? (checked.ok ? "wb-good" : "wb-bad") : "wb-note"}`;
    const told = this.quiet && this.code.element.contains(document.activeElement) ? [] : mistakes;
    refill(this.mistakes, told, () => told.map((mistake) => this.mistake(mistake)));
    const hints = checked && !stale ? checked.hints : [];
    const outcomes = checked && !stale ? checked.outcomes : [];
    const notes = checked?.notes ?? [];
    refill(this.warnings, [hints, outcomes, notes, offline], () => [...hints.map((hint) => this.hint(hint, offline)), ...outcomes.map(outcomeLine), ...notes.map((note) => h("div", {}, `… ${note}`))]);
    const current = checked && !stale && checked.ok;
    setState(this.apply, offline ? "needs a running kernel" : current ? null : "the text is no grammar yet", "Use this grammar: begin a new run with it; the old one stays, see branch");
    setState(this.make, offline ? "needs a running kernel" : current ? null : "the text is no grammar yet", "Make examples of the grammar");
    this.verdicts(checked, stale);
  }

  private mistake(mistake: Mistake): HTMLElement {
    const where = mistake.line === null ? mistake.pointer : `line ${mistake.line}, column ${mistake.column}${mistake.pointer ? ` (${mistake.pointer})` : ""}`;
    const near = /did you mean '([^']+)'/.exec(mistake.hint)?.[1];
    return h(
      "div",
      { class: "wb-mistake", role: "alert" },
      h("strong", { class: "wb-bad" }, `✕ ${mistake.kind}`),
      where && h("button", { type: "button", class: "wb-link", title: "Go there", onclick: () => this.go(mistake) }, where),
      h("span", {}, mistake.message),
      mistake.hint && h("span", { class: "wb-note" }, mistake.hint),
      near !== undefined && mistake.start !== null && h("button", { type: "button", class: "wb-small", onclick: () => this.repair(mistake, near) }, `change to ${near}`),
    );
  }

  /** A warning with its place, and with a button where an edit is certain. */
  private hint(hint: Hint, offline: boolean): HTMLElement {
    const line = this.code.text.slice(0, hint.start).split("\n").length;
    const repair = () => {
      const text = this.code.text;
      this.code.text = text.slice(0, hint.start) + hint.fix + text.slice(hint.end);
      this.edited();
    };
    return h("div", { class: "wb-hint" }, hint.warning ? "⚠ " : "⊘ ", this.link(`line ${line}`, `Go to line ${line}`, hint.start, hint.end), ` ${hint.message} `, hint.fix !== null && !offline && h("button", { type: "button", class: "wb-small", onclick: repair }, hint.does));
  }

  /** A link to a stretch of the text: hover and focus outline it, a click goes there. */
  private link(text: string, name: string, start: number, end: number): HTMLElement {
    const look = () => this.code.peek([start, end]);
    const leave = () => this.code.peek(null);
    const go = () => {
      leave();
      this.code.select(start, end);
    };
    return h("button", { type: "button", class: "wb-link", title: name, "aria-label": name, onclick: go, onpointerenter: look, onpointerleave: leave, onfocus: look, onblur: leave }, ...breakable(text));
  }

  /** Bytes that may come, as a link into the rule that reads them. */
  private way(way: Way): HTMLElement {
    const bytes = h("code", {}, way.label);
    if (way.start === null || way.end === null) return h("span", {}, bytes, ` ${way.rule}`);
    return h("span", {}, bytes, " ", this.link(way.rule, `Go to ${way.rule}`, way.start, way.end));
  }

  private go(mistake: Mistake): void {
    if (mistake.start !== null) this.code.select(mistake.start, mistake.end ?? mistake.start + 1);
  }

  private repair(mistake: Mistake, name: string): void {
    const text = this.code.text;
    this.code.text = text.slice(0, mistake.start!) + name + text.slice(mistake.end ?? mistake.start! + 1);
    this.edited();
  }

  private nextError(by: number): void {
    const mistakes = this.checked?.mistakes.filter((m) => m.start !== null) ?? [];
    if (!mistakes.length) return;
    this.fixed = (this.fixed + by + mistakes.length) % mistakes.length;
    this.quiet = false;
    this.draw();
    this.go(mistakes[this.fixed]!);
  }

  private otherHalf(): void {
    if (this.code.element.contains(document.activeElement)) {
      if (!this.examples.length) this.addExample();
      this.rows.querySelector<HTMLInputElement>("input")?.focus();
    } else this.code.focus();
  }

  private leave(): void {
    this.element.closest<HTMLElement>(".wb-panel")?.focus({ preventScroll: true });
  }

  /** Begin a new run of the same model and prompt under the text's grammar. */
  private async use(): Promise<void> {
    if (this.apply.getAttribute("aria-disabled") === "true") return;
    this.note.textContent = "beginning a new run …";
    const { doc } = this.context.store;
    const next = `${doc.title} ${doc.runs?.names.length ?? 1}`;
    this.own = next;
    try {
      const { answer } = await this.context.host.ask<{ done: boolean }>("apply", { text: this.code.text, kind: this.kind.value });
      if (answer.error) throw new Error(answer.error);
      this.note.textContent = "";
      this.touched = false;
      this.loaded = next;
      this.own = "";
      this.show("step");
    } catch (error) {
      this.own = "";
      this.note.textContent = error instanceof Error ? error.message : String(error);
    }
  }

  // Examples.

  private addExample(): void {
    this.examples.push({ text: "", want: "match" });
    this.drawRows();
    this.edited();
    this.rows.querySelector<HTMLInputElement>("tr:last-child input")?.focus();
  }

  private async makeExamples(): Promise<void> {
    if (this.make.getAttribute("aria-disabled") === "true") return;
    try {
      const { answer } = await this.context.host.ask<{ examples: Example[] }>("make", { text: this.code.text, kind: this.kind.value, seed: this.seed++ });
      if (answer.error) throw new Error(answer.error);
      const known = new Set(this.examples.map((example) => example.text));
      this.examples.push(...answer.examples.filter((example) => !known.has(example.text)));
      this.drawRows();
      await this.check();
    } catch (error) {
      this.note.textContent = error instanceof Error ? error.message : String(error);
    }
  }

  /** The rows of the table; verdicts are put in by `verdicts`. */
  private drawRows(): void {
    const disabled = this.context.store.connected === false;
    fill(
      this.rows,
      ...this.examples.map((example, i) => {
        const text = h("input", { type: "text", class: "wb-example", "aria-label": `Text of example ${i + 1}`, spellcheck: "false", disabled });
        text.value = text.title = example.text;
        text.addEventListener("input", () => {
          example.text = text.title = text.value;
          this.edited();
        });
        const want = h("select", { "aria-label": `What example ${i + 1} should do`, disabled }, ...WANTS.map(([value, name]) => h("option", { value, selected: value === example.want }, name)));
        want.addEventListener("change", () => {
          example.want = want.value as Example["want"];
          this.edited();
        });
        const remove = h("button", { type: "button", class: "wb-small", "aria-label": `Remove example ${i + 1}`, title: "Remove", onclick: () => this.removeExample(i) }, "✕");
        return h("tr", {}, h("td", {}, text), h("td", {}, want), h("td", { class: "wb-example-verdict" }), h("td", {}, remove));
      }),
    );
  }

  private removeExample(index: number): void {
    this.examples.splice(index, 1);
    this.drawRows();
    this.edited();
  }

  private verdicts(checked: Checked | null, stale: boolean): void {
    const cells = [...this.rows.querySelectorAll<HTMLElement>(".wb-example-verdict")];
    let failed = 0;
    let judged = 0;
    this.examples.forEach((example, i) => {
      const found = checked?.examples.find((verdict) => verdict.text === example.text && verdict.want === example.want);
      const cell = cells[i];
      if (!cell) return;
      if (!found) {
        refill(cell, 0, () => [h("span", { class: "wb-note" }, "◌ not judged yet")]);
        return;
      }
      if (found.verdict.startsWith("not judged")) {
        refill(cell, found, () => [h("span", { class: "wb-note" }, `◌ ${found.verdict}`)]);
        return;
      }
      if (stale || found.stale) {
        // What it was before the text changed, until there is a verdict on the new one.
        refill(cell, [found, "stale"], () => [h("div", { class: "wb-stale" }, h("span", { class: "wb-note" }, "◌ stale: "), ...verdictParts(found, (way) => this.way(way)))]);
        return;
      }
      judged++;
      if (!found.ok) failed++;
      refill(cell, found, () => verdictParts(found, (way) => this.way(way)));
    });
    this.examplesTitle.textContent = judged ? `examples: ${judged - failed} ● as wanted${failed ? `, ${failed} ✕ not` : ""}` : "examples";
    if (!this.examples.length) this.note.textContent = "Add texts that the grammar should match, should not, or should begin with.";
    else if (/^Add texts/.test(this.note.textContent ?? "")) this.note.textContent = "";
  }
}

/** One kind of restriction in a line; of several places the pointers unfold. */
function outcomeLine({ status, keyword, detail, places, pointers }: Outcome): HTMLElement {
  const sign = status === "unsupported" ? "✕" : "⚠";
  const why = status === "warning" ? "" : detail && `: ${detail}`;
  const said = (where: string) => (status === "warning" ? [detail, where] : [h("code", {}, keyword), ` is ${status}${where}${why}`]);
  const pointer = (text: string) => h("code", {}, ...breakable(text));
  if (places === 1) return h("div", {}, `${sign} `, pointer(pointers[0]!), ": ", ...said(""));
  const listed = pointers.map((text) => h("li", {}, pointer(text)));
  const more = places > pointers.length && h("li", {}, `and ${count(places - pointers.length)} more`);
  return h("details", { class: "wb-outcome" }, h("summary", {}, `${sign} `, ...said(` in ${plural(places, "place")}`)), h("ul", {}, ...listed, more));
}

function verdictParts(found: Verdict, draw: (way: Way) => HTMLElement): (HTMLElement | string)[] {
  const words: Record<string, string> = { match: "matches", prefix: "begins a match", "no match": "does not match" };
  const word = words[found.verdict] ?? found.verdict;
  const parts: (HTMLElement | string)[] = [h("span", { class: found.ok ? "wb-good" : "wb-bad" }, `${found.ok ? "●" : "✕"} ${word}`)];
  if (found.failing !== null) parts.push(h("div", { class: "wb-note" }, `byte ${found.failing + 1} `, h("code", {}, found.byte), ", expected ", ...waysOf(found, draw)));
  else if (found.verdict === "prefix") parts.push(h("div", { class: "wb-note" }, "goes on with ", ...waysOf(found, draw)));
  return parts;
}

function waysOf(found: Verdict, draw: (way: Way) => HTMLElement): (HTMLElement | string)[] {
  const ways = found.ways ?? [];
  if (!ways.length) return [h("code", {}, found.expected)];
  return ways.flatMap((way, i) => (i ? [" or ", draw(way)] : [draw(way)]));
}

// Where a text gets stuck: each finding with its cause, the last way out, and an edit that mends it.
import type { Context } from "./actions";
import { breakable, fill, h, refill } from "./dom";
import { duration } from "./format";
import type { Panel } from "./panel";
import { setState } from "./toolbar";
import type { DeadReport, FindingView } from "./types";

export class DeadEnds implements Panel {
  readonly id = "dead";
  readonly title = "Dead ends";
  readonly actions = [
    { name: "Next finding", keys: ["N", "ArrowDown"], run: () => this.move(1) },
    { name: "Previous finding", keys: ["P", "ArrowUp"], run: () => this.move(-1) },
    { name: "Go to the step of the last way out", keys: ["G"], run: () => this.goTo() },
    { name: "Show or hide the suggested edit", keys: ["D"], run: () => this.toggleDiff() },
    { name: "Put the suggested edit into the editor", keys: ["E"], run: () => this.edit() },
    { name: "Ignore the finding, or not", keys: ["I"], run: () => this.ignore() },
  ];
  private head = h("div", { class: "wb-headline" });
  private search = h("button", { type: "button", onclick: () => void this.look() }, "search again");
  private limit = h("input", { type: "number", class: "wb-percent", min: "1", placeholder: "none", "aria-label": "Token limit: most tokens that a run may have" });
  private list = h("div", { class: "wb-findings", role: "listbox", tabindex: "0", "aria-label": "Findings" });
  private note = h("div", { class: "wb-note" });
  readonly element: HTMLElement;
  private at = 0;
  private asked: object | null = null;
  private working = false;
  private problem = "";
  private open = new Set<number>();

  constructor(
    private context: Context,
    private edited: (text: string, kind: string) => void,
    private go: (cursor: number) => void,
    private given: () => object,
  ) {
    this.element = h(
      "section",
      { class: "wb-box", "aria-label": "Dead ends" },
      h("div", { class: "wb-tools" }, this.head, h("span", { class: "wb-space" }), h("label", {}, "token limit ", this.limit), this.search),
      this.list,
      this.note,
    );
  }

  private get report(): DeadReport | undefined {
    return this.context.store.doc.panels.dead;
  }

  private get findings(): FindingView[] {
    return this.report?.findings ?? [];
  }

  mark(): string {
    const errors = this.findings.filter((finding) => !finding.warning && !this.context.store.ignored.has(key(finding))).length;
    return errors ? `⊘ ${errors}` : "";
  }

  update(): void {
    const { store } = this.context;
    if (!this.report && this.asked !== store.doc && store.connected) {
      this.asked = store.doc;
      void this.look();
    }
    setState(this.search, store.connected === false ? "needs a running kernel" : this.working ? "wait: searching" : null, "Search grammar and run for dead ends");
    const report = this.report;
    if (this.working) fill(this.head, "searching …");
    else if (this.problem) fill(this.head, this.problem);
    else if (!report) fill(this.head, store.connected === false ? "not searched while this was live" : "searching …");
    else fill(this.head, ...(report.summaries ?? []).map(([subject, text, errors]) => h("span", {}, `${errors ? "⊘" : text === "none found" ? "●" : "⚠"} in the ${subject}: ${text}`)), h("span", {}, `searched in ${duration(report.ms)}`));
    this.note.textContent = report ? `checked: ${report.note}` : "";
    this.at = Math.min(this.at, Math.max(0, this.findings.length - 1));
    refill(this.list, [this.findings, this.at, [...this.open], [...this.context.store.ignored], store.connected, this.findings.map((finding) => this.stepOf(finding))], () => this.findings.map((finding, i) => this.draw(finding, i)));
    this.list.hidden = this.findings.length === 0;
    if (this.findings.length) this.list.setAttribute("aria-activedescendant", `wb-finding-${this.at}`);
  }

  private draw(finding: FindingView, i: number): HTMLElement {
    const ignored = this.context.store.ignored.has(key(finding));
    const { store } = this.context;
    const showing = this.open.has(i);
    const button = (text: string, reason: string | null, name: string, run: () => void) => {
      const element = h("button", { type: "button", class: "wb-small", onclick: (event: Event) => { event.stopPropagation(); this.at = i; if (reason === null) run(); } }, text);
      setState(element, reason, name);
      return element;
    };
    const step = this.stepOf(finding);
    const tools = h(
      "div",
      { class: "wb-tools" },
      step !== null && button("go there", null, `Go to step ${step}`, () => this.goTo()),
      finding.diff !== "" && button(showing ? "hide the edit" : "show the edit", null, "Show or hide the suggested edit", () => this.toggleDiff()),
      finding.edited != null && button("put it into the editor", store.connected === false ? "needs a running kernel" : null, "Put the suggested edit into the editor", () => this.edit()),
      button(ignored ? "do not ignore" : "ignore", null, "Ignore this finding, or not", () => this.ignore()),
    );
    return h(
      "div",
      { class: `wb-finding${i === this.at ? " wb-selected" : ""}${ignored ? " wb-ignored" : ""}${finding.warning ? "" : " wb-deadly"}`, role: "option", id: `wb-finding-${i}`, "aria-selected": String(i === this.at), onclick: () => this.choose(i) },
      h("div", { class: "wb-finding-title" }, h("strong", {}, `${finding.title}${ignored ? " (ignored)" : ""}`), " ", ...breakable(finding.sentence)),
      h("dl", { class: "wb-facts" }, ...finding.facts.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, h("code", {}, ...breakable(value)))])),
      finding.suggestion !== "" && h("div", {}, h("strong", {}, "suggestion: "), finding.suggestion),
      finding.effect !== "" && h("div", { class: "wb-note" }, `effect: ${finding.effect}`),
      showing && diff(finding.diff),
      ignored && this.noteField(finding),
      tools,
    );
  }

  private async look(): Promise<void> {
    const { store, host } = this.context;
    if (this.working) return;
    const doc = store.doc;
    this.working = true;
    this.problem = "";
    store.notify();
    try {
      const limit = Number(this.limit.value);
      const { answer } = await host.ask<DeadReport>("dead", { ...(limit > 0 ? { max_tokens: limit } : {}), ...this.given() });
      if (answer.error) throw new Error(answer.error);
      if (store.doc === doc) doc.panels.dead = answer;
      else this.asked = null; // another grammar was put to use meanwhile: search that one
      this.open.clear();
    } catch (error) {
      this.problem = `✕ the search failed: ${error instanceof Error ? error.message : String(error)}`;
    }
    this.working = false;
    store.notify();
  }

  private choose(i: number): void {
    this.at = i;
    this.update();
  }

  private move(by: number): void {
    this.at = Math.min(Math.max(0, this.at + by), Math.max(0, this.findings.length - 1));
    this.update();
    this.list.querySelector(".wb-selected")?.scrollIntoView({ block: "nearest" });
  }

  /** A step of the branch that is shown, if the finding has one on it. */
  private stepOf(finding: FindingView): number | null {
    return finding.step !== null && this.context.store.path[finding.step] ? finding.step : null;
  }

  private goTo(): void {
    const finding = this.findings[this.at];
    const step = finding ? this.stepOf(finding) : null;
    if (step !== null) this.go(this.context.store.path[step]!.id);
  }

  private toggleDiff(): void {
    if (!this.findings[this.at]?.diff) return;
    if (!this.open.delete(this.at)) this.open.add(this.at);
    this.update();
  }

  private edit(): void {
    const finding = this.findings[this.at];
    if (finding?.edited != null && this.context.store.connected !== false) this.edited(finding.edited, this.report?.kind ?? "gbnf");
  }

  private ignore(): void {
    const finding = this.findings[this.at];
    if (!finding) return;
    const { store } = this.context;
    if (!store.ignored.delete(key(finding))) store.ignored.set(key(finding), "");
    store.notify();
    this.list.querySelector<HTMLInputElement>(".wb-selected .wb-ignored-note")?.focus();
  }

  /** Why an ignored finding does not matter: goes with the export. */
  private noteField(finding: FindingView): HTMLElement {
    const { store } = this.context;
    const field = h("input", { type: "text", class: "wb-example wb-ignored-note", placeholder: "why it does not matter", "aria-label": "Note: why this finding does not matter", spellcheck: "false", value: store.ignored.get(key(finding)) ?? "", onclick: (event: Event) => event.stopPropagation() });
    field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== "Escape") return;
      event.preventDefault();
      event.stopPropagation();
      this.list.focus();
    });
    field.addEventListener("change", () => {
      store.ignored.set(key(finding), field.value.trim());
      store.notify();
    });
    return h("label", { class: "wb-tools" }, "note ", field);
  }
}

const key = (finding: FindingView): string => `${finding.kind} ${finding.sentence}`;

/** Lines of a difference: removed ones with −, added ones with +. */
function diff(text: string): HTMLElement {
  const lines = text.split("\n").map((line) => {
    const kind = line.startsWith("-") ? "wb-removed" : line.startsWith("+") ? "wb-added" : "wb-same";
    return h("div", { class: kind }, line.replace(/^-/, "− ").replace(/^\+/, "+ ").replace(/^ /, "  "));
  });
  return h("pre", { class: "wb-diff", "aria-label": "Suggested edit" }, ...lines);
}

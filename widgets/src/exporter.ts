// Exporting the tested grammar: what stands in the way first, a dry run, then one file that was proved again.
import type { Context } from "./actions";
import { h, refill } from "./dom";
import { count } from "./format";
import type { Panel } from "./panel";
import { setState } from "./toolbar";
import type { ExportReport } from "./types";

type Gate = [ok: boolean | null, text: string];

export class Exporter implements Panel {
  readonly id = "export";
  readonly title = "Export";
  readonly actions = [
    { name: "Dry run: everything but the file", keys: ["D"], run: () => void this.send(true) },
    { name: "Export", keys: ["X"], run: () => void this.send(false) },
  ];
  private gates = h("ul", { class: "wb-gates", "aria-label": "What stands in the way" });
  private path = h("input", { type: "text", class: "wb-example wb-path", "aria-label": "File to write", spellcheck: "false" });
  private reason = h("input", { type: "text", class: "wb-example wb-path", "aria-label": "Note: why dead ends do not matter", placeholder: "why dead ends do not matter, if they do not", spellcheck: "false" });
  private dry = h("button", { type: "button", onclick: () => void this.send(true) }, "dry run");
  private write = h("button", { type: "button", onclick: () => void this.send(false) }, "export");
  private result = h("div", { class: "wb-export-result", role: "status" });
  readonly element: HTMLElement;
  private working = false;
  private problem = "";
  /** The path that was found to exist: a second press writes over it. */
  private pressed = "";

  constructor(
    private context: Context,
    private given: () => object,
  ) {
    this.path.addEventListener("input", () => (this.pressed = ""));
    this.element = h(
      "section",
      { class: "wb-box", "aria-label": "Export" },
      h("div", { class: "wb-tools" }, h("strong", {}, "export the tested grammar")),
      this.gates,
      h("div", { class: "wb-form" }, h("label", {}, "to ", this.path), h("label", {}, "note ", this.reason)),
      h("div", { class: "wb-tools" }, this.dry, this.write, h("span", { class: "wb-note" }, "source, GBNF, examples with verdicts, outcomes, dead ends, a pytest file, a report; one zip file, written whole or not at all")),
      this.result,
    );
  }

  private get report(): ExportReport | undefined {
    return this.context.store.doc.panels.export;
  }

  /** Why dead ends do not matter: what is written here, else the notes of the findings that are ignored. */
  private get note(): string {
    return this.reason.value.trim() || [...new Set(this.context.store.ignored.values())].filter(Boolean).join("; ");
  }

  update(): void {
    const noted = [...new Set(this.context.store.ignored.values())].filter(Boolean).join("; ");
    this.reason.placeholder = noted || "why dead ends do not matter, if they do not";

    const { store } = this.context;
    if (!this.path.value) this.path.value = this.report?.path ?? `${store.doc.title.replace(/\.\w+$/, "").replace(/[^\w.-]+/g, "-") || "grammar"}.zip`;
    const gates = this.gatesNow();
    refill(this.gates, gates, () => gates.map(([ok, text]) => h("li", { class: ok === null ? "wb-note" : ok ? "wb-good" : "wb-bad" }, `${ok === null ? "◌" : ok ? "●" : "✕"} ${text}`)));
    const blocked = store.connected === false ? "needs a running kernel" : this.working ? "wait: exporting" : null;
    setState(this.dry, blocked, "Dry run: everything but the file (D)");
    setState(this.write, blocked, "Write the file (X)");
    refill(this.result, [this.report, this.problem, this.working, this.pressed], () => this.drawn());
  }

  private gatesNow(): Gate[] {
    const { grammar, dead } = this.context.store.doc.panels;
    const examples = grammar?.examples ?? [];
    const failed = examples.filter((example) => !example.ok).length;
    const gates: Gate[] = [];
    if (!grammar) gates.push([null, "examples: not judged yet; open the grammar screen"]);
    else if (!examples.length) gates.push([false, "there are no examples: a tested grammar has at least one"]);
    else gates.push([failed === 0, `examples: ${examples.length - failed} of ${examples.length} as wanted`]);
    if (!dead) gates.push([null, "dead ends: not searched yet; the export searches"]);
    else {
      // what was found in the run is no fault of the grammar's
      const [, text, errors] = dead.summaries?.find(([subject]) => subject === "grammar") ?? ["", "none found", 0];
      const note = errors && this.note ? ", with a note" : "";
      gates.push([errors === 0 || note !== "", `dead ends: ${text}${note}`]);
    }
    if (grammar?.in_use === false) gates.push([false, "the text in the editor is not the grammar in use: use it on the grammar screen, or undo the edit"]);
    return gates;
  }

  private drawn(): (HTMLElement | string | false)[] {
    const report = this.report;
    if (this.working) return ["exporting …"];
    if (this.problem) return [h("p", { class: "wb-bad" }, `✕ ${this.problem}`)];
    if (!report) return [];
    const files = report.files.map(([name, size, hash]) => h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, count(size)), h("td", {}, h("code", { title: hash }, hash ? `${hash.slice(0, 16)}…` : "—"))));
    return [
      h("p", { class: report.ok ? "wb-good" : "wb-bad" }, `${report.ok ? "●" : "✕"} ${report.dry ? "dry run" : report.path}: ${report.note}`),
      ...report.reasons.map((reason) => h("p", { class: "wb-bad" }, `✕ ${reason}`)),
      ...(report.notes ?? []).map((line) => h("div", { class: "wb-note" }, line)),
      files.length > 0 && h("table", { class: "wb-table" }, h("caption", {}, `Files of ${report.path}`), h("thead", {}, h("tr", {}, ...["file", "bytes", "sha256"].map((name) => h("th", { scope: "col" }, name)))), h("tbody", {}, ...files)),
    ];
  }

  private async send(dry: boolean): Promise<void> {
    const { store, host } = this.context;
    if (this.working || store.connected === false) return;
    const path = this.path.value.trim();
    this.working = true;
    this.problem = "";
    store.notify();
    try {
      const { answer } = await host.ask<ExportReport>("export", { path, dry, note: this.note, overwrite: this.pressed === path, ...this.given() });
      if (answer.error) throw new Error(answer.error);
      this.pressed = !dry && answer.exists ? path : "";
      store.doc.panels.export = answer;
    } catch (error) {
      this.problem = error instanceof Error ? error.message : String(error);
    }
    this.working = false;
    store.notify();
  }
}

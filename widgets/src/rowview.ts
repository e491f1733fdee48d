// One row of the candidate table. Rows are kept and given other tokens: a step writes a few texts and nothing else.
import { tokenText } from "./chips";
import { h, patch } from "./dom";
import { label, percent } from "./format";
import type { Token } from "./types";

export interface RowLook {
  id: number;
  token: Token | undefined;
  before: number | null;
  after: number | null;
  allowed: boolean;
  /** Share with which it is drawn; undefined where that column is not shown, null where it is not known. */
  drawn: number | null | undefined;
  verdict: string;
  /** Whether it was taken, is next, or leads to another branch; empty for none of these. */
  chosen: string;
  taken: boolean;
  selected: boolean;
}

class Bar {
  private fillElement = h("span", {});
  /** Texts are written into nodes that stay: putting in new ones costs several times as much. */
  private number = new Text();
  readonly element: HTMLElement;
  private shown: number | null | undefined;

  constructor(role: string) {
    this.element = h("span", { class: `wb-p wb-p-${role}` }, h("span", { class: "wb-bar", "aria-hidden": "true" }, this.fillElement), h("span", { class: "wb-number" }, this.number));
  }

  show(p: number | null, known: boolean): void {
    const value = known ? p : undefined;
    if (Object.is(this.shown, value) && this.number.data) return;
    this.shown = value;
    const width = value && value >= 0.0001 ? Math.max(value, 0.008) : 0;
    this.fillElement.style.transform = `scaleX(${width.toFixed(4)})`;
    this.number.data = known ? percent(p) : "–";
  }
}

export class RowView {
  private token = h("span", { class: "wb-cell-token" });
  private before = new Bar("before");
  private after = new Bar("after");
  private drawn = new Bar("drawn");
  private word = new Text();
  private verdict = h("span", {}, this.word);
  private chosen = new Text();
  private why = h("span", { class: "wb-why" }, "why?");
  readonly element: HTMLElement;
  private shown: Partial<RowLook> & { text?: string } = {};

  constructor(id: string) {
    this.element = h("div", { id, class: "wb-row", role: "option" }, this.token, this.before.element, this.after.element, this.drawn.element, h("span", { class: "wb-verdict" }, this.verdict, h("span", { class: "wb-here" }, this.chosen), this.why));
  }

  show(look: RowLook): void {
    const old = this.shown;
    const text = label(look.token);
    if (old.id !== look.id || old.text !== text) {
      patch(this.token, tokenText(look.token), h("span", { class: "wb-id" }, look.id));
      this.element.dataset["token"] = String(look.id);
    }
    this.before.show(look.before, true);
    this.after.show(look.after, look.allowed);
    this.drawn.element.hidden = look.drawn === undefined;
    if (look.drawn !== undefined) this.drawn.show(look.drawn, look.drawn !== null);
    if (old.verdict !== look.verdict) this.word.data = look.verdict;
    if (old.chosen !== look.chosen) this.chosen.data = look.chosen && ` ${look.chosen}`;
    if (old.allowed !== look.allowed) {
      this.verdict.className = look.allowed ? "wb-good" : "wb-bad";
      this.why.hidden = look.allowed;
    }
    if (old.selected !== look.selected) this.element.setAttribute("aria-selected", String(look.selected));
    const name = `wb-row ${look.allowed ? "wb-allowed" : "wb-rejected"}${look.taken ? " wb-taken" : ""}${look.selected ? " wb-selected" : ""}`;
    if (this.element.className !== name) this.element.className = name;
    this.element.ariaLabel = `${text}, id ${look.id}, ${percent(look.before)} before, ${percent(look.after)} after the mask, ${look.verdict} ${look.chosen}`;
    if (old.id !== look.id || old.allowed !== look.allowed) this.element.title = look.allowed ? `Click to take it (id ${look.id})` : `Click to see why it is rejected (id ${look.id})`;
    this.shown = { ...look, text };
  }
}

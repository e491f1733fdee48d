// Candidates before and after the mask: searchable, each allowed token one click from being taken.
import { take, why, type Context } from "./actions";
import { scrollInto } from "./chips";
import { beforePaint, h, patch } from "./dom";
import { byteQuoted, count, plural } from "./format";
import { RowView, type RowLook } from "./rowview";
import { drawnFrom, drawnText, isPlain } from "./sampling";
import { ordered } from "./store";
import type { Found, Position, Row, Why } from "./types";
import { whyCells } from "./whyview";

const SHOWN = 200;
/** Height of a row in pixels, and rows drawn beyond those in view. */
const ROW = 26;
const SPARE = 3;

export class Table {
  readonly search = h("input", {
    type: "search",
    class: "wb-search",
    placeholder: "search tokens: text, id:17 or hex:e2 9c",
    "aria-label": "Search the tokens",
    spellcheck: "false",
    autocomplete: "off",
  });
  private allowedOnly = h("input", { type: "checkbox" });
  private note = h("div", { class: "wb-note" });
  private list = h("div", { class: "wb-rows", role: "listbox", tabindex: "0", "aria-label": "Candidates for the next token" });
  private drawnHead = h("span", { hidden: true }, "drawn");
  private settings = h("div", { class: "wb-note wb-settings" });
  readonly element = h(
    "section",
    { class: "wb-box wb-candidates", "aria-label": "Candidates" },
    h("div", { class: "wb-tools" }, this.search, h("label", { class: "wb-check" }, this.allowedOnly, " allowed only")),
    h(
      "div",
      { class: "wb-row wb-head", "aria-hidden": "true" },
      h("span", {}, "token"),
      h("span", {}, "before the mask"),
      h("span", {}, "after the mask"),
      this.drawnHead,
      h("span", {}, "verdict"),
    ),
    this.list,
    this.note,
    this.settings,
  );
  private rows: Row[] = [];
  private views: RowView[] = [];
  /** Shares with which tokens are drawn: null where they are not known, undefined where they are not shown. */
  private shares: Map<number, number> | null | undefined;
  private room = 12;
  private drawn = 0;
  private scrolled = false;
  private place = -1;
  private answer: { key: string; found: Found } | null = null;
  private asked = "";
  private timer = 0;

  constructor(
    private context: Context,
    private prefix: string,
  ) {
    this.search.addEventListener("input", () => {
      context.store.options.query = this.search.value;
      window.clearTimeout(this.timer);
      this.timer = window.setTimeout(() => this.update(), 120);
    });
    this.allowedOnly.addEventListener("change", () => {
      context.store.options.allowedOnly = this.allowedOnly.checked;
      this.update();
    });
    new ResizeObserver(([entry]) => {
      const room = Math.ceil((entry?.contentRect.height ?? 0) / ROW);
      if (!room || room === this.room) return;
      this.room = room;
      this.update();
    }).observe(this.list);
    this.list.addEventListener("scroll", () => {
      this.scrolled = true;
      if (this.drawn >= this.rows.length || this.list.scrollTop < 40) return;
      this.drawn = this.rows.length;
      this.update();
    });
    this.list.addEventListener("click", (event) => this.clicked(event));
    this.list.addEventListener("focus", () => {
      // By the keyboard only: drawing anew between press and release would lose a click.
      if (context.store.selected === null && this.list.matches(":focus-visible")) this.move(1);
    });
  }

  update(): void {
    const { store } = this.context;
    const here = store.here;
    const { allowedOnly } = store.options;
    const query = store.options.query.trim();
    let found: Found = { rows: [], total: 0 };
    if (query && here.open) {
      const key = JSON.stringify([here.id, query, allowedOnly]);
      if (this.answer?.key === key) found = this.answer.found;
      else {
        this.ask(key, here, query, allowedOnly);
        this.rows = [];
        patch(this.list);
        this.note.textContent = "Searching …";
        return;
      }
    } else if (here.open) {
      const rows = allowedOnly ? here.rows.filter((row) => row[3]) : here.rows;
      found = { rows: ordered(rows), total: rows.length };
    }
    this.rows = found.rows.slice(0, SHOWN);
    if (this.place !== here.id) {
      this.place = here.id;
      this.drawn = 0;
      if (this.scrolled) this.list.scrollTop = 0;
      this.scrolled = false;
    }
    // The rows in view and a few more; the others are drawn when the list is scrolled or walked through.
    const wanted = [store.selected, store.opened, store.next?.edge?.token ?? here.next];
    const last = this.rows.reduce((at, row, i) => (wanted.includes(row[0]) ? i : at), 0);
    this.drawn = Math.max(this.drawn, last + 4, this.room + SPARE);
    this.draw(here);
    const active = store.selected === null ? null : this.list.querySelector<HTMLElement>(".wb-selected");
    if (active) this.list.setAttribute("aria-activedescendant", active.id);
    else this.list.removeAttribute("aria-activedescendant");
    const reason = store.opened === null ? null : this.list.querySelector<HTMLElement>(".wb-reason");
    if (active)
      beforePaint(() => {
        scrollInto(this.list, active);
        if (reason && store.opened === store.selected) scrollInto(this.list, reason);
      });
    this.note.textContent = this.summary(found, here, query);
  }

  move(by: number): void {
    const { store } = this.context;
    if (!this.rows.length) return;
    const at = this.rows.findIndex((row) => row[0] === store.selected);
    const next = at < 0 ? (by > 0 ? 0 : this.rows.length - 1) : Math.min(this.rows.length - 1, Math.max(0, at + by));
    store.selected = this.rows[next]![0];
    this.list.focus({ preventScroll: true });
    store.notify();
  }

  private summary(found: Found, here: Position, query: string): string {
    if (!here.open) return "There are no candidates: the run ended here.";
    const parts = [];
    if (query) parts.push(`${plural(found.total, "token")} found`);
    else parts.push(`the ${this.rows.length} likeliest are listed${this.left(here)}; search finds the others`);
    if (query && found.total > this.rows.length) parts.push(`the first ${this.rows.length} are listed, ${count(found.total - this.rows.length)} more are not`);
    if (found.note) parts.push(found.note);
    return `${parts.join("; ")}.`;
  }

  /** How many allowed tokens the list lacks. */
  private left(here: Position): string {
    const listed = this.rows.filter((row) => row[3]).length;
    return here.allowed > listed ? `, ${count(here.allowed - listed)} more are allowed` : "";
  }

  private ask(key: string, here: Position, query: string, allowedOnly: boolean): void {
    if (this.asked === key) return;
    this.asked = key;
    void this.context.host.search(here, query, allowedOnly).then((found) => {
      if (this.asked !== key) return;
      Object.assign(this.context.store.doc.tokens, found.tokens ?? {});
      this.answer = { key, found };
      this.asked = "";
      this.update();
    });
  }

  /** The rows, kept ones with other texts, and the reason that was opened below its row. */
  private draw(here: Position): void {
    const shown: HTMLElement[] = [];
    const sampling = this.context.store.doc.sampling ?? {};
    const drawn = drawnFrom(here, sampling);
    const own = sampling.temperature !== undefined && sampling.temperature > 0 && !isPlain(sampling);
    this.shares = own ? (drawn?.shares ?? null) : undefined;
    this.drawnHead.hidden = !own;
    this.settings.textContent = drawnText(here, sampling, drawn);
    this.rows.slice(0, this.drawn).forEach((row, i) => {
      const view = (this.views[i] ??= new RowView(`${this.prefix}-row-${i}`));
      view.show(this.look(row, here));
      shown.push(view.element);
      if (this.context.store.opened === row[0]) shown.push(h("div", { class: "wb-reason" }, ...this.reason(row[0], row[3] === 1, here.whys[row[0]])));
    });
    patch(this.list, ...shown);
  }

  private share(id: number): number | null | undefined {
    if (this.shares === undefined) return undefined;
    return this.shares && (this.shares.get(id) ?? 0);
  }

  private look(row: Row, here: Position): RowLook {
    const { store } = this.context;
    const [id, before, after, allowed] = row;
    const token = store.token(id);
    const taken = store.next?.edge?.token === id;
    const reason = here.whys[id];
    const verdict = allowed ? "● allowed" : `✕ ${reason ? shortReason(reason, token?.[0] ?? "") : "rejected"}`;
    const chosen = taken ? "▶ taken" : store.childBy(id) ? "⑂ other branch" : !store.next && here.next === id ? "▷ next" : "";
    return { id, token, before, after, allowed: allowed === 1, drawn: this.share(id), verdict, chosen, taken, selected: store.selected === id };
  }

  private reason(id: number, allowed: boolean, reason: Why | undefined): (HTMLElement | string)[] {
    const { store } = this.context;
    if (!reason) {
      const waiting = store.connected !== false ? "Asking the kernel for the reason …" : "The reason was not recorded; it needs a kernel.";
      return [allowed ? "The grammar can go on after all bytes of this token." : waiting];
    }
    return [
      whyCells(store.token(id), reason, allowed),
      h("div", {}, reason.reason),
      reason.expected ? h("div", {}, "would be accepted there: ", h("code", {}, reason.expected)) : "",
    ].filter((part) => part !== "");
  }

  private clicked(event: Event): void {
    const element = (event.target as Element).closest<HTMLElement>("[data-token]");
    if (!element) return;
    const { store } = this.context;
    const id = Number(element.dataset["token"]);
    store.selected = id;
    const row = this.rows.find((row) => row[0] === id);
    if (row?.[3] && !(event.target as Element).closest(".wb-why")) take(this.context, id);
    else why(this.context, id);
    store.notify();
  }
}

function shortReason(reason: Why, bytes: string): string {
  const fatal = bytes[reason.consumed];
  if (fatal === undefined) return "rejected";
  return `dies at byte ${reason.consumed + 1} (${byteQuoted(fatal)})`;
}


// One token followed over the steps: its probability before and after the mask, and its rank.
import type { Context } from "./actions";
import { fill, h, patch, svg } from "./dom";
import { count, label, percent } from "./format";
import { rankOf } from "./stops";
import type { Position } from "./types";

const HEIGHT = 44;
const STEP = 9;
const LAST = 120;

export class WatchPanel {
  private field = h("input", { type: "search", class: "wb-watch-field", placeholder: "text or id:17", "aria-label": "Token to watch", spellcheck: "false", autocomplete: "off" });
  private use = h("button", { type: "button", class: "wb-small" }, "watch selected");
  private body = h("div", { class: "wb-watch-body" });
  readonly element = h(
    "section",
    { class: "wb-box wb-watch", "aria-label": "Watched token" },
    h("div", { class: "wb-tools" }, h("strong", {}, "watch a token"), this.field, this.use, h("span", { class: "wb-legend" }, "□ before the mask · ■ after it")),
    this.body,
  );

  constructor(
    private context: Context,
    private go: (cursor: number) => void,
  ) {
    this.field.addEventListener("change", () => {
      context.store.watched = this.find(this.field.value);
      context.store.notify();
    });
    this.use.addEventListener("click", () => {
      const { store } = context;
      if (store.selected === null) return;
      store.watched = store.selected;
      this.field.value = `id:${store.selected}`;
      store.notify();
    });
  }

  update(): void {
    const { store } = this.context;
    const name = store.selected === null ? "select a candidate first" : `Watch ${label(store.token(store.selected))}`;
    this.use.setAttribute("aria-disabled", String(store.selected === null));
    this.use.title = name;
    if (store.watched === null) {
      const missing = this.field.value.trim() !== "";
      patch(this.body, h("p", { class: "wb-note" }, missing ? "No token with exactly this text is among those seen so far; write id: and its number." : "Follow one token's rank and probability over all steps."));
      return;
    }
    const token = store.watched;
    const path = store.path.filter((position) => position.open);
    const earlier = path.length > LAST && h("p", { class: "wb-note" }, `the last ${LAST} steps; ${count(path.length - LAST)} more before them`);
    fill(this.body, h("p", { class: "wb-watch-here" }, ...this.here(token)), this.chart(path.slice(-LAST), token), earlier);
  }

  private here(token: number): (Node | string)[] {
    const { store } = this.context;
    const name = h("code", { class: "wb-token" }, label(store.token(token)));
    const row = store.here.rows.find((row) => row[0] === token);
    if (!store.here.open) return [name, " — the run ended here"];
    if (!row) return [name, ` at step ${store.depth}: not among the ${store.here.rows.length} recorded candidates`];
    const rank = rankOf(store.here, token);
    const parts = [rank === null ? "rank not recorded" : `rank ${count(rank)}`, `${percent(row[1])} before`, row[3] ? `${percent(row[2])} after the mask` : "✕ rejected"];
    return [name, ` at step ${store.depth}: ${parts.join(", ")}`];
  }

  private chart(path: Position[], token: number): SVGElement {
    const { store } = this.context;
    const width = Math.max(60, path.length * STEP + 2);
    const seen = path.filter((position) => position.rows.some((row) => row[0] === token)).length;
    const picture = svg("svg", { class: "wb-chart wb-watch-chart", viewBox: `0 0 ${width} ${HEIGHT}`, width, height: HEIGHT, role: "img", "aria-label": `Probability of ${label(store.token(token))} over ${path.length} steps; it is among the candidates of ${seen}` });
    picture.append(svg("line", { x1: 0, y1: HEIGHT - 6, x2: width, y2: HEIGHT - 6, class: "wb-ink-line" }));
    path.forEach((position, i) => {
      const row = position.rows.find((row) => row[0] === token);
      const size = (p: number | null | undefined) => (p ? Math.max(1, (HEIGHT - 8) * p) : 0);
      const base = HEIGHT - 6;
      const title = row ? `step ${position.id}: ${percent(row[1])} before, ${row[3] ? percent(row[2]) : "rejected"}` : `step ${position.id}: not recorded`;
      const column = svg("g", { class: "wb-column", transform: `translate(${i * STEP + 1} 0)`, onclick: () => this.go(position.id) }, svg("title", {}, title), svg("rect", { width: STEP, height: HEIGHT, class: "wb-ink-hit" }));
      if (row?.[2]) column.append(svg("rect", { x: 1, y: base - size(row[2]), width: 5, height: size(row[2]), class: "wb-ink-after" }));
      if (row?.[1]) column.append(svg("rect", { x: 0.5, y: base - size(row[1]), width: 6, height: size(row[1]), class: "wb-ink-before" }));
      if (row && !row[3]) column.append(svg("path", { d: `M1 ${base + 1} l4 4 m0 -4 l-4 4`, class: "wb-ink-cross" }));
      if (position.id === store.cursor) column.append(svg("path", { d: `M1 ${HEIGHT} l2.5 -5 l2.5 5 z`, class: "wb-ink-here" }));
      picture.append(column);
    });
    return picture;
  }

  private find(text: string): number | null {
    const { store } = this.context;
    const wanted = text.trim();
    if (!wanted) return null;
    const number = /^id:\s*(\d+)$/.exec(wanted);
    if (number) return Number(number[1]);
    for (const [id, token] of Object.entries(store.doc.tokens)) {
      if (label(token) === text || label(token) === wanted || token[0] === wanted) return Number(id);
    }
    return null;
  }
}

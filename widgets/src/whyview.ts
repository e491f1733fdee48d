// Why a token is allowed or not, byte by byte.
import { breakable, fill, h } from "./dom";
import { byteName, joined, label } from "./format";
import { told, toldWithPlace } from "./stack";
import type { Store } from "./store";
import type { Token, Why } from "./types";

/** The bytes of a token with what became of each; with states and open parts where they were asked for. */
export function whyCells(token: Token | undefined, why: Why, allowed: boolean): HTMLElement {
  const cells = h("span", { class: "wb-cells" });
  [...(token && token[1] === null ? token[0] : "")].forEach((byte, i) => {
    const state = i < why.consumed ? "●" : i === why.consumed && !allowed ? "✕" : "·";
    const word = state === "●" ? "consumed" : state === "✕" ? "fatal" : "not reached";
    cells.append(h("span", { class: `wb-cell wb-cell-${word.replace(" ", "-")}`, title: `byte ${i + 1}: ${word}` }, `${byteName(byte)} ${state}`));
  });
  return cells;
}

/** A table of the bytes: what became of each, states before it, the innermost open part. */
function byteTable(token: Token | undefined, why: Why): HTMLElement | null {
  const cells = why.cells;
  if (!token || !cells?.length) return null;
  const rows = cells.map(([status, states, stack], i) => {
    const glyph = status === "consumed" ? "●" : status === "fatal" ? "✕" : "·";
    const tone = status === "consumed" ? "wb-good" : status === "fatal" ? "wb-bad" : "wb-note";
    return h(
      "tr",
      {},
      h("td", {}, h("code", {}, byteName(token[0][i] ?? ""))),
      h("td", { class: tone }, `${glyph} ${status}`),
      h("td", {}, joined(states, 4)),
      h("td", {}, ...breakable(stack[0] ? toldWithPlace(stack[0]) : "")),
    );
  });
  return h("table", { class: "wb-table" }, h("caption", {}, "Byte by byte; the state and the innermost open part are those before the byte"), h("thead", {}, h("tr", {}, ...["byte", "verdict", "states", "in"].map((name) => h("th", { scope: "col" }, name)))), h("tbody", {}, ...rows));
}

/** The whole answer, for the explorer. */
export function whyParts(store: Store, id: number, why: Why, allowed: boolean, choose?: (id: number) => void): (HTMLElement | string)[] {
  const token = store.token(id);
  const parts: (HTMLElement | string)[] = [h("p", { class: "wb-sentence" }, ...breakable(why.reason))];
  const table = byteTable(token, why);
  parts.push(table ?? whyCells(token, why, allowed));
  const stack = why.cells?.[Math.min(why.consumed, why.cells.length - 1)]?.[2] ?? [];
  if (stack.length > 1) parts.push(h("div", {}, h("span", { class: "wb-note" }, "open parts, innermost first: "), ...breakable(stack.map((frame, i) => (i ? told(frame) : toldWithPlace(frame))).join(" < "))));
  if (why.expected) parts.push(h("div", {}, h("span", { class: "wb-note" }, allowed ? "may come after it: " : "would be accepted there: "), h("code", {}, why.expected)));
  if (why.nearest?.length) {
    const buttons = why.nearest.map((near) => h("button", { type: "button", class: "wb-small", title: `id ${near}`, onclick: () => choose?.(near) }, label(store.token(near))));
    const line = h("div", { class: "wb-tools" });
    fill(line, h("span", { class: "wb-note" }, "nearest allowed:"), ...buttons);
    parts.push(line);
  }
  if (why.note) parts.push(h("div", { class: "wb-note" }, why.note));
  return parts;
}

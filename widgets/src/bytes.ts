// Inside a token: its bytes as cells, and where the automaton stands between two of them.
import { h, patch } from "./dom";
import { byteName, joined, plural } from "./format";
import type { Store } from "./store";

export class ByteStrip {
  readonly element = h("div", { class: "wb-bytes", hidden: true });

  constructor(private store: Store) {}

  update(): void {
    const { store } = this;
    const token = store.inside;
    this.element.hidden = store.byte === 0 || token === null;
    if (token === null || store.byte === 0) return;
    const spelled = store.token(token)?.[0] ?? "";
    const cells = store.here.whys[token]?.cells;
    const shown = [...spelled].map((byte, i) => {
      const status = i < store.byte ? "consumed" : cells?.[i]?.[0] === "fatal" ? "fatal" : "not-reached";
      const glyph = status === "consumed" ? "●" : status === "fatal" ? "✕" : "·";
      const here = i === store.byte ? " wb-cell-here" : "";
      return h("span", { class: `wb-cell wb-cell-${status}${here}`, title: `byte ${i + 1}: ${status.replace("-", " ")}` }, `${byteName(byte)} ${glyph}`);
    });
    const at = Math.min(store.byte, spelled.length);
    const live = store.live;
    const stack = cells?.[store.byte]?.[2] ?? [];
    const unknown = store.here.whys[token] && !store.here.whys[token].inside ? "no states are known inside this token" : "asking for the states inside the token …";
    const where = live === null ? unknown : live.length ? `▶ ${plural(live.length, "live state")}: ${joined(live, 8)}` : "no live state";
    patch(
      this.element,
      h("span", { class: "wb-byte-place" }, `byte ${at} of ${spelled.length}`),
      h("span", { class: "wb-cells" }, ...shown),
      h("span", { class: "wb-here" }, where),
      stack.length > 0 && h("span", { class: "wb-note" }, `in ${joined(stack, 3, " < ")}`),
    );
  }
}

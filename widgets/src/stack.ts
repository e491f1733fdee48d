// The live stacks, top first: where the parser is, and where each call will return to.
import { breakable, h, patch } from "./dom";
import { plural } from "./format";
import type { Store } from "./store";
import type { Frame } from "./types";

const SHOWN = 3;
const DEPTH = 40;

export class StackPanel {
  private title = h("strong", {}, "stack");
  private body = h("div", { class: "wb-stacks" });
  readonly element = h("section", { class: "wb-box wb-stack", "aria-label": "Live stack" }, h("div", { class: "wb-tools" }, this.title), this.body);

  constructor(private store: Store) {}

  update(): void {
    const here = this.store.standing;
    if (!here) return; // inside a token that is being asked about
    const { stacks } = here;
    const depth = stacks[0]?.length ?? 0;
    this.title.textContent = stacks.length > 1 ? `${plural(stacks.length, "live stack")}` : `stack, depth ${depth}`;
    const before = this.store.stoodBefore;
    patch(
      this.body,
      ...stacks.slice(0, SHOWN).map((frames, i) => card(frames, before ? sharedBelow(frames, before.stacks[i] ?? []) : frames.length)),
      stacks.length > SHOWN && h("p", { class: "wb-note" }, `and ${plural(stacks.length - SHOWN, "more stack")}`),
      !stacks.length && h("p", { class: "wb-empty" }, "no live stack"),
    );
  }
}

/** How many frames, counted from the bottom, two stacks have in common; a changed state on top is no new frame. */
export function sharedBelow(frames: Frame[], old: Frame[]): number {
  let shared = 0;
  while (shared < Math.min(frames.length, old.length)) {
    const a = frames[frames.length - 1 - shared]!;
    const b = old[old.length - 1 - shared]!;
    const tops = shared === frames.length - 1 || shared === old.length - 1;
    if (a.state !== b.state && !tops) break;
    shared++;
  }
  return shared;
}

/** One stack; frames above the `before` lowest ones are marked as pushed. */
export function card(frames: Frame[], before: number): HTMLElement {
  const grown = Math.max(0, frames.length - before);
  const list = h("ol", { class: "wb-frames", "aria-label": `Stack, top first, ${plural(frames.length, "frame")}` });
  frames.slice(0, DEPTH).forEach((frame, i) => {
    list.append(
      h(
        "li",
        { class: `wb-frame${i === 0 ? " wb-top" : ""}${i < grown ? " wb-pushed" : ""}`, "data-state": frame.state >= 0 && frame.state },
        h("span", { class: "wb-glyph", "aria-hidden": "true" }, i === 0 ? "▶" : " "),
        h("span", { class: "wb-rule" }, ...breakable(frame.rules.length ? frame.rules.join(" · ") : "(no rule)")),
        h("span", { class: "wb-id" }, i === 0 ? `in state ${frame.state}` : frame.state < 0 ? "" : `returns to ${frame.state}`),
        frame.count !== null && h("span", { class: "wb-count" }, `× ${frame.count}`),
        i < grown && h("span", { class: "wb-id" }, "pushed"),
      ),
    );
  });
  if (frames.length > DEPTH) list.append(h("li", { class: "wb-note" }, `… ${plural(frames.length - DEPTH, "frame")} below`));
  return list;
}

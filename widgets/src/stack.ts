// The live stacks, top first: where the parser is, and where each call will return to.
import { breakable, h, patch } from "./dom";
import { count, more, plural } from "./format";
import type { Store } from "./store";
import type { Frame, Standing } from "./types";

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
    this.title.textContent = stackTitle(here);
    const before = this.store.stoodBefore;
    patch(
      this.body,
      ...stacks.slice(0, SHOWN).map((frames, i) => card(frames, before ? sharedBelow(frames, before.stacks[i] ?? []) : frames.length)),
      moreStacks(here, SHOWN),
      !stacks.length && h("p", { class: "wb-empty" }, "no live stack"),
    );
  }
}

/** Stacks are counted so far (workbench/decoding/trace.py). */
const COUNTED = 1000;

const total = (here: Standing) => Math.max(here.stackCount ?? 0, here.stacks.length);

/** Frames of a stack; of a very deep one the last frame stands for those left out. */
export function depth(frames: Frame[] | undefined): number {
  const rest = frames?.[frames.length - 1];
  return rest ? frames.length + (rest.state < 0 && rest.count ? rest.count - 1 : 0) : 0;
}

/** A frame in words: the author's, where they are known. */
export function told(frame: Frame): string {
  const times = frame.count !== null && frame.state >= 0 ? ` (${plural(frame.count, "time")})` : "";
  return frame.told ?? `${frame.rules.join(" or ") || "this place"}${times}`;
}

/** A frame in words, and how far its part was read. */
export function toldWithPlace(frame: Frame): string {
  return frame.place ? `${told(frame)}: ${frame.place}` : told(frame);
}

/** How many stacks are live, or how deep the only one is. */
export function stackTitle(here: Standing): string {
  const all = total(here);
  return all > 1 ? `${count(all)}${all >= COUNTED ? " or more" : ""} live stacks` : `stack, depth ${count(depth(here.stacks[0]))}`;
}

/** What says how many stacks are not shown, where there are such. */
export function moreStacks(here: Standing, shown: number): HTMLElement | false {
  const all = total(here);
  const listed = Math.min(shown, here.stacks.length);
  if (all <= listed) return false;
  const recorded = all > here.stacks.length ? `; ${here.stacks.length} are recorded` : "";
  return h("p", { class: "wb-note" }, `… ${more(all, listed, "stack")}${all >= COUNTED ? " or even more" : ""}${recorded}`);
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
  const list = h("ol", { class: "wb-frames", "aria-label": `Stack, top first, ${plural(depth(frames), "frame")}` });
  frames.slice(0, DEPTH).forEach((frame, i) => {
    list.append(
      h(
        "li",
        { class: `wb-frame${i === 0 ? " wb-top" : ""}${i < grown ? " wb-pushed" : ""}`, "data-state": frame.state >= 0 && frame.state },
        h("span", { class: "wb-glyph", "aria-hidden": "true" }, i === 0 ? "▶" : " "),
        h("span", { class: "wb-rule" }, ...breakable(frame.rules.length ? frame.rules.join(" · ") : "(no rule)")),
        h("span", { class: "wb-id" }, i === 0 ? `in state ${frame.state}` : frame.state < 0 ? "" : `returns to ${frame.state}`),
        frame.count !== null && frame.state >= 0 && h("span", { class: "wb-count" }, `× ${frame.count}`),
        i < grown && h("span", { class: "wb-id" }, "pushed"),
      ),
    );
  });
  if (frames.length > DEPTH) list.append(h("li", { class: "wb-note" }, `… ${plural(depth(frames) - DEPTH, "more frame")} below`));
  return list;
}

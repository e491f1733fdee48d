// Live configurations as cards: each can be hidden, and those of a step can be frozen to compare with later ones.
import { breakable, h, refill } from "./dom";
import { joined, label } from "./format";
import { lineage } from "./lineage";
import { card, depth, moreStacks, sharedBelow, stackTitle } from "./stack";
import type { Store } from "./store";
import type { Frame } from "./types";

const SHOWN = 8;
/** Steps of a trace that are listed. */
const TRACED = 40;

export class StackCards {
  private title = h("strong", {}, "stacks");
  private body = h("div", { class: "wb-cards" });
  private freezer = h("button", { type: "button", class: "wb-small", title: "Keep these stacks in view (Z)", "aria-label": "Freeze the stacks of this step (Z)", onclick: () => this.freeze() }, "freeze");
  private shower = h("button", { type: "button", class: "wb-small", onclick: () => this.showAll() }, "show hidden");
  readonly element = h("section", { class: "wb-box wb-stack", "aria-label": "Live stacks" }, h("div", { class: "wb-tools" }, this.title, h("span", { class: "wb-space" }), this.shower, this.freezer), this.body);
  private hidden = new Set<number>();
  private traced = new Set<number>();
  private frozen: { name: string; frames: Frame[] }[] = [];

  constructor(
    private store: Store,
    private choose: (state: number) => void,
    private go: (cursor: number) => void,
    peek: (state: number | null) => void,
  ) {
    this.body.addEventListener("click", (event) => {
      const frame = (event.target as Element).closest<HTMLElement>("[data-state]");
      if (frame) this.choose(Number(frame.dataset["state"]));
    });
    const state = (event: Event) => (event.target as Element).closest<HTMLElement>("[data-state]")?.dataset["state"];
    this.body.addEventListener("pointerover", (event) => peek(state(event) === undefined ? null : Number(state(event))));
    this.body.addEventListener("pointerleave", () => peek(null));
  }

  /** Keep the stacks of this step in view, or one of them. */
  freeze(only?: number): void {
    const { store } = this;
    const { stacks } = this;
    for (const [i, frames] of stacks.slice(0, SHOWN).entries()) {
      if (this.hidden.has(i) || (only !== undefined && i !== only)) continue;
      const name = `step ${store.depth}${store.byte ? `, byte ${store.byte}` : ""}${stacks.length > 1 ? `, stack ${i + 1}` : ""}`;
      if (!this.frozen.some((kept) => kept.name === name)) this.frozen.push({ name, frames });
    }
    this.update();
  }

  /** Show or hide where a stack came from, step by step. */
  trace(index: number): void {
    if (index >= Math.min(SHOWN, this.store.here.stacks.length)) return;
    if (!this.traced.delete(index)) this.traced.add(index);
    this.update();
  }

  private get stacks(): Frame[][] {
    return (this.store.standing ?? this.store.here).stacks;
  }

  private showAll(): void {
    this.hidden.clear();
    this.update();
  }

  update(): void {
    if (!this.store.standing) return; // inside a token that is being asked about
    const { stacks } = this;
    const before = this.store.stoodBefore;
    this.shower.hidden = ![...this.hidden].some((i) => i < stacks.length);
    this.title.textContent = stackTitle(this.store.standing);
    const key = [stacks.slice(0, SHOWN), before?.stacks ?? null, [...this.hidden], [...this.traced], this.traced.size ? this.store.cursor : 0, this.frozen];
    refill(this.body, key, () => this.draw());
  }

  /** The steps of one configuration, the newest first. */
  private drawTrace(index: number): HTMLElement {
    const { store } = this;
    const steps = lineage(store.path, store.depth, index).reverse();
    const rows = steps.slice(0, TRACED).map(({ step, id, token, frames }) => {
      const top = frames[0];
      const where = top ? `${top.rules.join(" · ") || "(no rule)"} (${top.state})` : "empty";
      return h(
        "tr",
        {},
        h("th", { scope: "row" }, h("button", { type: "button", class: "wb-link", title: `Go to step ${step}`, onclick: () => this.go(id) }, `step ${step}`)),
        h("td", {}, h("code", {}, token === null ? "start" : label(store.token(token)))),
        h("td", {}, ...breakable(where)),
        h("td", {}, depth(frames)),
      );
    });
    const caption = `Trace of stack ${index + 1}, newest first${steps.length > TRACED ? `; the last ${TRACED} of ${steps.length} steps` : ""}`;
    return h("div", { class: "wb-trace" }, h("table", { class: "wb-table" }, h("caption", {}, caption), h("thead", {}, h("tr", {}, ...["", "after", "on top", "depth"].map((name) => h("th", { scope: "col" }, name || h("span", { class: "wb-hidden" }, "step"))))), h("tbody", {}, ...rows)));
  }

  private draw(): (HTMLElement | false)[] {
    const { stacks } = this;
    const before = this.store.stoodBefore;
    const cards = stacks.slice(0, SHOWN).flatMap((frames, i) => {
      if (this.hidden.has(i)) return [];
      const old = before?.stacks[i] ?? [];
      const hide = () => {
        this.hidden.add(i);
        this.update();
      };
      const button = (text: string, name: string, run: () => void, pressed?: boolean) => h("button", { type: "button", class: "wb-small", "aria-label": name, title: name, "aria-pressed": pressed === undefined ? null : String(pressed), onclick: run }, text);
      const traced = this.traced.has(i);
      const tools = h(
        "div",
        { class: "wb-tools" },
        h("span", { class: "wb-note" }, `stack ${i + 1}`),
        h("span", { class: "wb-space" }),
        button("trace", `Trace stack ${i + 1}: where it came from`, () => this.trace(i), traced),
        button("❄", `Freeze stack ${i + 1}`, () => this.freeze(i)),
        stacks.length > 1 && button("✕", `Hide stack ${i + 1}`, hide),
      );
      return [h("div", { class: "wb-card" }, tools, card(frames, before ? sharedBelow(frames, old) : frames.length), popped(frames, old), traced && this.drawTrace(i))];
    });
    const kept = this.frozen.map((frozen, i) => {
      const drop = () => {
        this.frozen.splice(i, 1);
        this.update();
      };
      return h(
        "div",
        { class: "wb-card wb-card-frozen" },
        h("div", { class: "wb-tools" }, h("span", { class: "wb-note" }, `❄ frozen at ${frozen.name}`), h("span", { class: "wb-space" }), h("button", { type: "button", class: "wb-small", "aria-label": `Let go of the stack frozen at ${frozen.name}`, title: "Let go", onclick: drop }, "✕")),
        card(frozen.frames, frozen.frames.length),
      );
    });
    return [...cards, moreStacks(this.store.here, SHOWN), !stacks.length && h("p", { class: "wb-empty" }, "no live stack"), ...kept];
  }
}

/** The frames that the last token popped, struck through for this step. */
function popped(frames: Frame[], old: Frame[]): HTMLElement | false {
  const gone = old.slice(0, Math.max(0, old.length - sharedBelow(frames, old)));
  const names = gone.slice(1).map((frame) => frame.rules.join(" · ") || `state ${frame.state}`);
  return names.length > 0 && h("p", { class: "wb-note" }, "popped: ", h("s", {}, joined(names, 6)));
}

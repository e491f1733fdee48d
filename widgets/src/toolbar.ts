// The toolbar over all screens: one tab stop, arrows move inside it.
import { ACTIONS, goAlong, perform, showKey, type Action, type Context } from "./actions";
import { h, nameFor, refill } from "./dom";
import { waysOf } from "./runs";
import type { StopAt } from "./stops";
import type { Until } from "./types";

const UNTIL: [Until, string][] = [
  ["branching", "next choice"],
  ["mass", "mass removed above"],
  ["depth", "stack change"],
  ["rule", "end of the rule"],
  ["end", "the end"],
];

export class Toolbar {
  private buttons = new Map<string, HTMLButtonElement>();
  private place = h("span", { class: "wb-place" });
  private slider = h("input", { type: "range", min: "0", class: "wb-slider", "aria-label": "Position" });
  private picker = h("select", { "aria-label": "Branch" });
  private branch = h("label", {}, "branch ", this.picker);
  private until = h("select", { "aria-label": "Run to" }, ...UNTIL.map(([value, text]) => h("option", { value }, text)));
  private mass = h("input", { type: "number", class: "wb-percent", min: "0", max: "100", step: "1", value: "50", "aria-label": "Mass removed, in percent" });
  private massLabel = h("label", { hidden: true }, this.mass, " %");
  private breaks = h("span", { class: "wb-breaks" });
  readonly element: HTMLElement;

  constructor(
    private context: Context,
    go: (cursor: number) => void,
  ) {
    const { store } = context;
    this.slider.addEventListener("input", () => go(store.path[Number(this.slider.value)]!.id));
    this.picker.addEventListener("change", () => goAlong(context, waysOf(store)[this.picker.selectedIndex]!));
    this.until.addEventListener("change", () => store.notify());
    this.mass.addEventListener("input", () => store.notify());
    this.element = h(
      "div",
      { class: "wb-toolbar", role: "toolbar", "aria-label": "Steps" },
      this.button("first"),
      this.button("back"),
      this.place,
      this.button("forward"),
      this.button("last"),
      this.slider,
      h("label", {}, "run to ", this.until),
      this.massLabel,
      this.button("run"),
      this.button("stop"),
      this.button("break"),
      this.breaks,
      this.branch,
      this.button("take"),
      this.button("undo"),
      this.button("copy"),
      this.button("text"),
      this.button("sheet"),
    );
    rove(this.element, [...this.buttons.values()]);
  }

  get stopAt(): StopAt {
    const mass = Number(this.mass.value) / 100;
    return { until: this.until.value as Until, mass: Number.isFinite(mass) ? mass : 0.5 };
  }

  update(): void {
    const { store } = this.context;
    const length = store.path.length - 1;
    this.place.textContent = `step ${store.depth}/${length}`;
    this.slider.max = String(Math.max(length, 1));
    this.slider.value = String(store.depth);
    this.slider.disabled = length === 0;
    this.massLabel.hidden = this.until.value !== "mass";
    const ways = waysOf(store);
    this.branch.hidden = ways.length < 2;
    refill(this.picker, [ways, store.leaf], () => ways.map((way) => h("option", { value: way.leaf ?? `run ${way.run}`, selected: way.leaf === store.leaf }, way.name)));
    for (const action of ACTIONS) {
      const element = this.buttons.get(action.id);
      if (element) this.refresh(element, action);
    }
    refill(this.breaks, [...store.breaks], () =>
      [...store.breaks].map((rule) =>
        h("button", { type: "button", class: "wb-break", title: `Clear the breakpoint at ${rule}`, "aria-label": `Clear the breakpoint at ${rule}`, onclick: () => this.clear(rule) }, `◉ ${rule} ✕`),
      ),
    );
  }

  private clear(rule: string): void {
    this.context.store.breaks.delete(rule);
    this.context.store.notify();
  }

  private button(id: string): HTMLButtonElement {
    const action = ACTIONS.find((action) => action.id === id)!;
    const element = h("button", { type: "button", tabindex: "-1", "data-action": id, onclick: () => perform(this.context, action) }, action.button ?? action.name);
    this.buttons.set(id, element);
    return element;
  }

  private refresh(element: HTMLButtonElement, action: Action): void {
    const reason = action.blocked(this.context);
    const name = `${action.name} (${action.keys.map(showKey).join(", ")})`;
    setState(element, reason, name);
  }
}

/** Say on a button what it does, or why it cannot. `aria-disabled` keeps the focus where it is; `disabled` would throw it out. */
export function setState(element: HTMLElement, reason: string | null, name: string): void {
  const text = nameFor(element.textContent ?? "", reason ? `${name}: ${reason}` : name);
  if (element.title === text && element.getAttribute("aria-disabled") === String(reason !== null)) return;
  element.setAttribute("aria-disabled", String(reason !== null));
  element.setAttribute("aria-label", text);
  element.title = text;
}

/** Roving tabindex: one button of the toolbar is in the tab order, arrows move between them. */
function rove(toolbar: HTMLElement, items: HTMLButtonElement[]): void {
  const choose = (item: HTMLButtonElement) => {
    for (const other of items) other.tabIndex = other === item ? 0 : -1;
  };
  choose(items[2] ?? items[0]!);
  toolbar.addEventListener("focusin", (event) => {
    const item = items.find((item) => item === event.target);
    if (item) choose(item);
  });
  toolbar.addEventListener("keydown", (event) => {
    const at = items.findIndex((item) => item === event.target);
    if (at < 0 || event.shiftKey) return;
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: items.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    items[(to + items.length) % items.length]!.focus();
  });
}

// What a screen of the workbench is, and the tabs that show one of them at a time.
import { fill, h } from "./dom";

/** Something that a person can do in one screen; the keys work while the screen is shown. */
export interface PanelAction {
  name: string;
  keys: string[];
  /** Null when it can be done now, else the reason why it cannot. */
  blocked?(): string | null;
  run(): void;
}

export interface Panel {
  readonly id: string;
  readonly title: string;
  readonly element: HTMLElement;
  readonly actions: PanelAction[];
  /** Draw again; only called while the screen is shown. */
  update(): void;
  /** A short mark behind the title of the tab: a number of findings, say. */
  mark?(): string;
  stop?(): void;
}

export class Tabs {
  readonly element: HTMLElement;
  private buttons: HTMLButtonElement[];
  private sheets: HTMLElement[];
  private at = 0;

  constructor(
    readonly panels: Panel[],
    prefix: string,
    private changed: (id: string) => void,
  ) {
    this.buttons = panels.map((panel, i) =>
      h("button", { type: "button", role: "tab", id: `${prefix}-tab-${panel.id}`, "aria-controls": `${prefix}-sheet-${panel.id}`, "data-tab": panel.id, onclick: () => this.choose(i) }, panel.title),
    );
    this.sheets = panels.map((panel) =>
      h("div", { class: "wb-tabpanel", role: "tabpanel", id: `${prefix}-sheet-${panel.id}`, "aria-labelledby": `${prefix}-tab-${panel.id}`, hidden: true }, panel.element),
    );
    const list = h("div", { class: "wb-tabs", role: "tablist", "aria-label": "Screens" }, ...this.buttons);
    list.addEventListener("keydown", (event) => this.pressed(event));
    this.element = h("div", {}, list, ...this.sheets);
    this.mark();
  }

  get current(): Panel {
    return this.panels[this.at]!;
  }

  show(id: string): void {
    const at = this.panels.findIndex((panel) => panel.id === id);
    if (at >= 0 && at !== this.at) this.choose(at);
  }

  update(): void {
    this.current.update();
    this.panels.forEach((panel, i) => {
      const mark = panel.mark?.() ?? "";
      const wanted = mark ? `${panel.title} ${mark}` : panel.title;
      if (this.buttons[i]!.textContent !== wanted) fill(this.buttons[i]!, wanted);
    });
  }

  private choose(at: number): void {
    this.at = at;
    this.mark();
    this.changed(this.current.id);
  }

  private mark(): void {
    this.buttons.forEach((button, i) => {
      button.setAttribute("aria-selected", String(i === this.at));
      button.tabIndex = i === this.at ? 0 : -1;
      this.sheets[i]!.hidden = i !== this.at;
    });
  }

  private pressed(event: KeyboardEvent): void {
    const to = { ArrowRight: this.at + 1, ArrowLeft: this.at - 1, Home: 0, End: this.panels.length - 1 }[event.key];
    if (to === undefined || event.shiftKey) return;
    event.preventDefault();
    this.choose((to + this.panels.length) % this.panels.length);
    this.buttons[this.at]!.focus();
  }
}

/** Keys in a toolbar or a list of tabs move inside it. */
export function movesInside(target: Element, name: string): boolean {
  return target.closest("[role=toolbar], [role=tablist]") !== null && (name === "Home" || name === "End" || name.startsWith("Arrow"));
}

// The stepper: puts the panels together and keeps them in step with the store.
import { ACTIONS, actionFor, keyName, perform, showKey, type Action, type Context } from "./actions";
import { Chips, headline } from "./chips";
import { fill, h } from "./dom";
import { joinText, label, percent } from "./format";
import { GraphPanel } from "./graph";
import { StackPanel } from "./stack";
import type { Encoding, Store } from "./store";
import { Table } from "./table";
import { followTheme } from "./theme";
import { TimesPanel } from "./times";
import type { Host } from "./types";

const ENCODINGS: [Encoding, string][] = [
  ["none", "nothing"],
  ["kind", "kind"],
  ["probability", "probability"],
  ["mass", "mass removed"],
  ["time", "time"],
];
let serial = 0;

export interface Mounted {
  store: Store;
  theme(choice: string): void;
  stop(): void;
}

export function mount(root: HTMLElement, store: Store, host: Host, theme: string): Mounted {
  const prefix = `wb-${++serial}-${Math.random().toString(36).slice(2, 8)}`;
  const title = store.doc.title;
  root.classList.add("wb-panel");
  root.setAttribute("role", "region");
  root.setAttribute("aria-label", `Token stepper, ${title}`);
  root.setAttribute("data-lm-suppress-shortcuts", "true");
  root.tabIndex = -1;

  const go = (cursor: number) => {
    store.move(cursor);
    host.moved(cursor);
    store.notify();
  };
  const until = h("select", { "aria-label": "Run to" }, h("option", { value: "branching" }, "next choice"), h("option", { value: "end" }, "the end"));
  const sheet = h("div", { class: "wb-sheet", hidden: true });
  const context: Context = {
    store,
    host,
    view: {
      focusSearch: () => table.search.focus(),
      toggleSheet: () => (sheet.hidden = !sheet.hidden),
      moveRow: (by) => table.move(by),
      runUntil: () => (until.value === "end" ? "end" : "branching"),
      copy: () => void copyText(),
      leave: () => {
        sheet.hidden = true;
        store.selected = store.opened = null;
        root.focus({ preventScroll: true });
        store.notify();
      },
    },
  };
  const chips = new Chips(store, go);
  const table = new Table(context, prefix);
  const graph = new GraphPanel(store);
  const stack = new StackPanel(store);
  const times = new TimesPanel(store, go);
  until.addEventListener("change", () => store.notify());

  async function copyText(): Promise<void> {
    const text = joinText(store.path.slice(1, store.depth + 1).map((position) => store.token(position.edge!.token)));
    try {
      await navigator.clipboard.writeText(text);
      say("copied the text");
    } catch {
      say("the page may not write to the clipboard");
    }
  }

  // Toolbar: one tab stop, arrows move inside it.
  const buttons = new Map<string, HTMLButtonElement>();
  const place = h("span", { class: "wb-place" });
  const slider = h("input", { type: "range", min: "0", class: "wb-slider", "aria-label": "Position" });
  slider.addEventListener("input", () => go(store.path[Number(slider.value)]!.id));
  const picker = h("select", { "aria-label": "Branch" });
  picker.addEventListener("change", () => {
    store.show(Number(picker.value));
    host.moved(store.cursor);
    store.notify();
  });
  const button = (id: string): HTMLButtonElement => {
    const action = ACTIONS.find((action) => action.id === id)!;
    const element = h("button", { type: "button", tabindex: "-1", "data-action": id, onclick: () => perform(context, action) }, action.button ?? action.name);
    buttons.set(id, element);
    return element;
  };
  const branchLabel = h("label", {}, "branch ", picker);
  const toolbar = h(
    "div",
    { class: "wb-toolbar", role: "toolbar", "aria-label": "Steps" },
    button("first"),
    button("back"),
    place,
    button("forward"),
    button("last"),
    slider,
    h("label", {}, "run to ", until),
    button("run"),
    button("stop"),
    branchLabel,
    button("take"),
    button("undo"),
    button("copy"),
    button("sheet"),
  );
  rove(toolbar, [...buttons.values()]);

  const encoding = (where: "background" | "underline") => {
    const select = h("select", { "aria-label": `Token ${where}` }, ...ENCODINGS.map(([value, text]) => h("option", { value, selected: store.options[where] === value }, text)));
    select.addEventListener("change", () => {
      store.options[where] = select.value as Encoding;
      store.notify();
    });
    return h("label", {}, `${where} `, select);
  };
  const legend = h("span", { class: "wb-legend" }, "┃ output starts · » forced · ✎ chosen by you · ■ end");
  const banner = h("div", { class: "wb-banner", role: "alert", hidden: true });
  const head = h("div", { class: "wb-headline" });
  const status = h("div", { class: "wb-status" });
  const region = h("div", { class: "wb-hidden", "aria-live": "polite" });
  fill(
    root,
    toolbar,
    sheet,
    banner,
    chips.element,
    h("div", { class: "wb-tools wb-encodings" }, encoding("background"), encoding("underline"), legend),
    head,
    h("div", { class: "wb-columns" }, table.element, h("div", { class: "wb-side" }, graph.element, h("div", { class: "wb-pair" }, stack.element, times.element))),
    status,
    region,
  );
  fill(sheet, h("strong", {}, "Keys, while the focus is in this panel"), h("dl", {}, ...ACTIONS.flatMap((action) => [h("dt", {}, ...action.keys.map((key) => h("kbd", {}, showKey(key)))), h("dd", {}, action.name)])));

  function update(): void {
    const depth = store.depth;
    const length = store.path.length - 1;
    place.textContent = `step ${depth}/${length}`;
    slider.max = String(Math.max(length, 1));
    slider.value = String(depth);
    slider.disabled = length === 0;
    const branches = store.branches();
    branchLabel.hidden = branches.length < 2;
    fill(picker, ...branches.map((branch) => h("option", { value: branch.leaf, selected: branch.leaf === store.leaf }, branch.name)));
    for (const action of ACTIONS) {
      const element = buttons.get(action.id);
      if (element) refresh(element, action);
    }
    fill(head, ...headline(store).map((part) => h("span", {}, part)));
    const problem = store.doc.problem;
    banner.hidden = !problem;
    if (problem) fill(banner, h("strong", {}, `⊘ ${problem.kind}: `), problem.message);
    status.textContent = statusLine();
    for (const panel of [chips, table, graph, stack, times]) panel.update();
    announce();
  }

  function refresh(element: HTMLButtonElement, action: Action): void {
    const reason = action.blocked(context);
    // aria-disabled keeps the focus where it is; `disabled` would throw it out of the toolbar.
    element.setAttribute("aria-disabled", String(reason !== null));
    const name = `${action.name} (${action.keys.map(showKey).join(", ")})`;
    element.setAttribute("aria-label", reason ? `${name}: ${reason}` : name);
    element.title = reason ? `${name}: ${reason}` : name;
  }

  function statusLine(): string {
    const meta = store.doc.meta;
    const kernel = store.busy ? "working …" : store.live === false ? "recorded run: stepping and searching work, new tokens need a kernel" : "";
    return [meta["model"], meta["grammar"], meta["device"], kernel].filter(Boolean).join(" · ");
  }

  // Announcements: at most two a second, the last one wins.
  let spoken = "";
  let timer = 0;
  function say(text: string): void {
    if (text === spoken) return;
    spoken = text;
    window.clearTimeout(timer);
    timer = window.setTimeout(() => (region.textContent = text), 500);
  }
  function announce(): void {
    const edge = store.next?.edge;
    const token = edge ? `token ${label(store.token(edge.token))}, ${percent(edge.before)} before, ${percent(edge.after)} after the mask` : "next token open";
    say(store.doc.problem ? store.doc.problem.message : `Step ${store.depth} of ${store.path.length - 1}, ${token}, ${headline(store)[0]}`);
  }

  const onKey = (event: KeyboardEvent): void => {
    const name = keyName(event);
    if (name === null) return;
    event.stopPropagation();
    const target = event.target as HTMLElement;
    const field = target.closest("input, select, textarea") as HTMLInputElement | null;
    if (field && name !== "Escape") {
      if (field === table.search && (name === "ArrowDown" || name === "Enter")) {
        event.preventDefault();
        table.move(1);
      }
      return;
    }
    if (target.closest("button, summary") && (name === "Enter" || name === " ")) return;
    if (target.closest("[role=toolbar]") && (name === "Home" || name === "End" || name.startsWith("Arrow"))) return;
    const action = actionFor(name);
    if (!action) return;
    event.preventDefault();
    perform(context, action);
  };
  root.addEventListener("keydown", onKey);
  const unsubscribe = store.subscribe(update);
  const following = followTheme(root, theme);
  update();
  return {
    store,
    theme: following.choose,
    stop() {
      unsubscribe();
      following.stop();
      graph.stop();
      window.clearTimeout(timer);
      root.removeEventListener("keydown", onKey);
      root.replaceChildren();
    },
  };
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

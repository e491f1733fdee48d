// The frame of all screens: toolbar, tokens, headline, then one screen or the tabs of all; one store, one cursor.
import { ACTIONS, actionFor, GONE, keyName, perform, showKey, type Context } from "./actions";
import { ByteStrip } from "./bytes";
import { Chips, headline } from "./chips";
import { fill, h, patch } from "./dom";
import { joinText, label, percent } from "./format";
import { movesInside, Tabs, type Panel } from "./panel";
import { makePanels } from "./panels";
import { StepView } from "./stepview";
import type { Encoding, Store } from "./store";
import { describePosition } from "./textview";
import { followTheme } from "./theme";
import { Toolbar } from "./toolbar";
import type { Host } from "./types";

const ENCODINGS: [Encoding, string][] = [
  ["none", "nothing"],
  ["kind", "kind"],
  ["probability", "probability"],
  ["mass", "mass removed"],
  ["time", "time"],
];
/** How deep spans are drawn. */
const SPANS: [number, string][] = [
  [0, "none"],
  [1, "the outermost"],
  [2, "two deep"],
  [4, "four deep"],
  [8, "eight deep"],
];
let serial = 0;

export interface Mounted {
  store: Store;
  theme(choice: string): void;
  show(tab: string): void;
  stop(): void;
}

export interface Choices {
  theme: string;
  screens: "stepper" | "workbench";
  tab?: string;
}

export function mount(root: HTMLElement, store: Store, host: Host, choices: Choices): Mounted {
  const prefix = `wb-${++serial}-${Math.random().toString(36).slice(2, 8)}`;
  const whole = choices.screens === "workbench";
  root.classList.add("wb-panel");
  root.setAttribute("role", "region");
  root.setAttribute("aria-label", `${whole ? "Workbench" : "Token stepper"}, ${store.doc.title}`);
  root.setAttribute("data-lm-suppress-shortcuts", "true");
  root.tabIndex = -1;

  const go = (cursor: number) => {
    store.move(cursor);
    host.moved(cursor);
    store.notify();
  };
  const sheet = h("div", { class: "wb-sheet", hidden: true });
  const text = h("pre", { class: "wb-text", tabindex: "0", "aria-label": "The position as text", hidden: true });
  const context: Context = {
    store,
    host,
    view: {
      focusSearch: () => {
        const field = root.querySelector<HTMLInputElement>(".wb-tabpanel:not([hidden]) .wb-search");
        if (!field) tabs?.show("step");
        (field ?? step.table.search).focus();
      },
      toggleSheet: () => {
        sheet.hidden = !sheet.hidden;
        if (!sheet.hidden) drawSheet();
      },
      toggleText: () => {
        text.hidden = !text.hidden;
        update();
        if (!text.hidden) text.focus({ preventScroll: true });
      },
      moveRow: (by) => step.table.move(by),
      stopAt: () => toolbar.stopAt,
      copy: () => void copyText(),
      say: (text) => say(text),
      leave: () => {
        sheet.hidden = text.hidden = true;
        store.selected = store.opened = store.state = null;
        store.byte = 0;
        root.focus({ preventScroll: true });
        store.notify();
      },
    },
  };
  const step = new StepView(context, prefix, go);
  const show = (id: string) => tabs?.show(id);
  const panels: Panel[] = whole ? makePanels(context, step, go, show) : [step];
  const tabs = whole
    ? new Tabs(panels, prefix, (id) => {
        host.shown?.(id);
        update();
      })
    : null;
  const toolbar = new Toolbar(context, go);
  const chips = new Chips(store, go);
  const bytes = new ByteStrip(store);

  async function copyText(): Promise<void> {
    const found = text.hidden ? joinText(store.path.slice(1, store.depth + 1).map((position) => store.token(position.edge!.token))) : (text.textContent ?? "");
    try {
      await navigator.clipboard.writeText(found);
      say("copied the text");
    } catch {
      say("the page may not write to the clipboard");
    }
  }

  const encoding = (where: "background" | "underline") => {
    const select = h("select", { "aria-label": `Token ${where}` }, ...ENCODINGS.map(([value, text]) => h("option", { value, selected: store.options[where] === value }, text)));
    select.addEventListener("change", () => {
      store.options[where] = select.value as Encoding;
      store.notify();
    });
    return h("label", {}, `${where} `, select);
  };
  const nesting = h("select", { "aria-label": "Spans over the text" }, ...SPANS.map(([value, text]) => h("option", { value, selected: store.options.spans === value }, text)));
  nesting.addEventListener("change", () => {
    store.options.spans = Number(nesting.value);
    store.notify();
  });
  const place = h("div", { class: "wb-where", "aria-label": "Open spans" });
  const banner = h("div", { class: "wb-banner", role: "alert", hidden: true });
  const head = h("div", { class: "wb-headline" });
  const status = h("div", { class: "wb-status" });
  const region = h("div", { class: "wb-hidden", "aria-live": "polite" });
  fill(
    root,
    toolbar.element,
    sheet,
    banner,
    chips.element,
    h("div", { class: "wb-tools wb-encodings" }, encoding("background"), encoding("underline"), h("label", {}, "spans ", nesting), h("span", { class: "wb-legend" }, "┃ output starts · » forced · ✎ chosen by you · ■ end")),
    head,
    place,
    bytes.element,
    text,
    tabs ? tabs.element : step.element,
    status,
    region,
  );

  function drawSheet(): void {
    const own = tabs && tabs.current.actions.length ? tabs.current : null;
    const entry = (keys: string[], name: string) => [h("dt", {}, ...keys.map((key) => h("kbd", {}, showKey(key)))), h("dd", {}, name)];
    fill(
      sheet,
      h("strong", {}, "Keys, while the focus is in this panel"),
      h("dl", {}, ...ACTIONS.flatMap((action) => entry(action.keys, action.name))),
      own && h("strong", {}, `In ${own.title}`),
      own && h("dl", {}, ...own.actions.flatMap((action) => entry(action.keys, action.name))),
    );
  }

  function update(): void {
    toolbar.update();
    patch(head, ...headline(store).map((part) => h("span", {}, part)));
    drawPlace();
    const problem = store.doc.problem;
    banner.hidden = !problem;
    if (problem) fill(banner, h("strong", {}, `${problem.kind === "stopped" ? "■" : "⊘"} ${problem.kind}: `), problem.message);
    const line = statusLine();
    if (status.textContent !== line) status.textContent = line;
    if (!text.hidden) text.textContent = describePosition(store);
    if (!sheet.hidden) drawSheet();
    chips.update();
    bytes.update();
    if (tabs) tabs.update();
    else step.update();
    announce();
  }

  /** The spans that are open at the cursor. */
  function drawPlace(): void {
    const open = store.spans.open[store.depth] ?? [];
    place.hidden = store.spans.covers.every((around) => !around.length);
    const names = open.map((span) => h("span", { class: "wb-name", title: span.path, style: `--wb-hue: var(--wb-hue-${span.hue})` }, span.label));
    patch(place, h("span", {}, open.length ? "in" : "in no part"), ...names.flatMap((name, i) => [i > 0 && h("span", { "aria-hidden": "true" }, "▸"), name]));
  }

  function statusLine(): string {
    const meta = store.doc.meta;
    const kernel = store.busy ? "working …" : store.gone ? GONE : store.connected === false ? "recorded run: stepping and searching work, new tokens need a kernel" : "";
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
    if (store.doc.problem) return say(store.doc.problem.message);
    if (store.byte) return say(bytes.element.textContent ?? "");
    const edge = store.next?.edge;
    const token = edge ? `token ${label(store.token(edge.token))}, ${percent(edge.before)} before, ${percent(edge.after)} after the mask` : "next token open";
    say(`Step ${store.depth} of ${store.path.length - 1}, ${token}, ${headline(store)[0]}`);
  }

  const onKey = (event: KeyboardEvent): void => {
    const name = keyName(event);
    if (name === null) return;
    event.stopPropagation();
    if (event.defaultPrevented) return;
    const target = event.target as HTMLElement;
    const field = target.closest("input, select, textarea") as HTMLInputElement | null;
    const own = tabs?.current.actions.find((action) => action.keys.includes(name));
    // Function keys of a screen work in its fields, too.
    if (field && name !== "Escape" && !(own && /^(Shift\+)?F\d+$/.test(name))) {
      if (field === step.table.search && (name === "ArrowDown" || name === "Enter")) {
        event.preventDefault();
        step.table.move(1);
      }
      return;
    }
    if (target.closest("button, summary") && (name === "Enter" || name === " ")) return;
    if (movesInside(target, name)) return;
    if (own) {
      event.preventDefault();
      if ((own.blocked?.() ?? null) === null) own.run();
      return;
    }
    const action = actionFor(name);
    if (!action) return;
    event.preventDefault();
    perform(context, action);
  };
  root.addEventListener("keydown", onKey);
  const unsubscribe = store.subscribe(update);
  const following = followTheme(root, choices.theme);
  show(choices.tab ?? "step");
  update();
  return {
    store,
    theme: following.choose,
    show,
    stop() {
      unsubscribe();
      following.stop();
      for (const panel of panels) panel.stop?.();
      window.clearTimeout(timer);
      root.removeEventListener("keydown", onKey);
      root.replaceChildren();
    },
  };
}

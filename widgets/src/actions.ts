// One table of everything that a person can do: toolbar, keys and the key sheet are made from it.
import type { Host } from "./types";
import { waysOf, type Way } from "./runs";
import type { Store } from "./store";
import { depthOf, reachedLater, topRules, type StopAt } from "./stops";

export interface Context {
  store: Store;
  host: Host;
  /** Things that only the view can do. */
  view: { focusSearch(): void; toggleSheet(): void; toggleText(): void; leave(): void; copy(): void; moveRow(by: number): void; stopAt(): StopAt; say(text: string): void };
}

export interface Action {
  id: string;
  name: string;
  keys: string[];
  /** Shown on the toolbar with this text. */
  button?: string;
  /** Null when it can be done now, else the reason why it cannot. */
  blocked(context: Context): string | null;
  run(context: Context): void;
}

export const GONE = "the kernel is gone: run the cell again";
export const NO_KERNEL = "needs a running kernel: run the cell again";
const free = () => null;

function needsKernel({ store }: Context): string | null {
  if (store.connected === false) return NO_KERNEL;
  return store.busy ? "wait: the kernel is working" : null;
}

function go(context: Context, cursor: number): void {
  context.store.move(cursor);
  context.host.moved(cursor);
  context.store.notify();
}

function send(context: Context, command: Parameters<Host["command"]>[0]): void {
  context.store.busy = true;
  context.host.command(command);
  context.store.notify();
}

/** Let the kernel take new steps from the end of the branch. */
function runOn(context: Context, stopAt: StopAt): void {
  const { store } = context;
  send(context, { type: "run", node: store.leaf, until: stopAt.until, mass: stopAt.mass, depth: depthOf(store.here), breaks: [...store.breaks] });
}

/** Ask for the bytes of the token after the cursor, unless they are known. */
function lookInside(context: Context): void {
  const { store, host } = context;
  const token = store.inside;
  if (token === null || store.here.whys[token]?.inside) return;
  if (store.connected !== false && !store.busy) host.command({ type: "why", node: store.cursor, token });
}

function byteLength({ store }: Context): number {
  const token = store.inside === null ? undefined : store.token(store.inside);
  return token && token[1] === null ? token[0].length : 0;
}

/** Take a token from the cursor: follow it where it was taken before, else ask the kernel. */
export function take(context: Context, token: number): void {
  const { store } = context;
  const known = store.childBy(token);
  if (known) go(context, known.id);
  else if (!needsKernel(context)) send(context, { type: "take", node: store.cursor, token });
}

/** Open the reason of a token's verdict, or close it. */
export function why(context: Context, token: number): void {
  const { store, host } = context;
  store.opened = store.opened === token ? null : token;
  if (store.opened !== null && !store.here.whys[token] && store.connected !== false && !store.busy) {
    host.command({ type: "why", node: store.cursor, token });
  }
  store.notify();
}

function endOfRun({ store }: Context): string | null {
  return store.here.open ? null : "the run ended here";
}

export const ACTIONS: Action[] = [
  {
    id: "first",
    name: "First position",
    keys: ["Home"],
    button: "|◀",
    blocked: ({ store }) => (store.depth > 0 ? null : "this is the first position"),
    run: (context) => go(context, context.store.path[0]!.id),
  },
  {
    id: "back",
    name: "Step back",
    keys: ["ArrowLeft"],
    button: "◀",
    blocked: ({ store }) => (store.depth > 0 ? null : "this is the first position"),
    run: (context) => go(context, context.store.here.parent),
  },
  {
    id: "forward",
    name: "Step forward",
    keys: ["ArrowRight"],
    button: "▶",
    blocked: (context) => (context.store.next ? null : (endOfRun(context) ?? needsKernel(context))),
    run: (context) => {
      const next = context.store.next;
      if (next) go(context, next.id);
      else send(context, { type: "step", node: context.store.cursor });
    },
  },
  {
    id: "last",
    name: "Last position",
    keys: ["End"],
    button: "▶|",
    blocked: ({ store }) => (store.next ? null : "this is the last position"),
    run: (context) => go(context, context.store.leaf),
  },
  {
    id: "branching-back",
    name: "Previous step with a choice",
    keys: ["Shift+ArrowLeft"],
    blocked: ({ store }) => (store.branching(-1) ? null : "no earlier step has a choice"),
    run: (context) => go(context, context.store.branching(-1)!.id),
  },
  {
    id: "branching-forward",
    name: "Next step with a choice",
    keys: ["Shift+ArrowRight"],
    blocked: (context) => {
      const { store } = context;
      if (store.branching(1)) return null;
      if (!store.doc.positions[store.leaf]!.open) return "no later step has a choice";
      return needsKernel(context);
    },
    run: (context) => {
      const found = context.store.branching(1);
      if (found) go(context, found.id);
      else runOn(context, { until: "branching", mass: 0.5 });
    },
  },
  {
    id: "run",
    name: "Run",
    keys: ["R"],
    button: "run",
    blocked: (context) => {
      const { store } = context;
      if (reachedLater(store, context.view.stopAt())) return null;
      if (store.doc.positions[store.leaf]!.open) return needsKernel(context);
      return store.next ? null : "the run ended here";
    },
    run: (context) => {
      const { store } = context;
      const stopAt = context.view.stopAt();
      const found = reachedLater(store, stopAt);
      if (found) go(context, found.id);
      else if (store.doc.positions[store.leaf]!.open) runOn(context, stopAt);
      else go(context, store.leaf);
    },
  },
  {
    id: "stop",
    name: "Stop the run",
    keys: ["S"],
    button: "stop",
    blocked: ({ store }) => (store.busy ? null : "nothing is running"),
    run: ({ host }) => host.command({ type: "stop" }),
  },
  {
    id: "take",
    name: "Take the selected token",
    keys: ["Enter"],
    button: "take selected",
    blocked: (context) => {
      const { store } = context;
      if (store.selected === null) return "select a token in the table first";
      const row = store.here.rows.find((row) => row[0] === store.selected);
      if (row && !row[3]) return "this token is rejected";
      return store.childBy(store.selected) ? null : (endOfRun(context) ?? needsKernel(context));
    },
    run: (context) => take(context, context.store.selected!),
  },
  {
    id: "undo",
    name: "Undo the last token taken",
    keys: ["U"],
    button: "undo",
    blocked: (context) => (context.store.doc.positions.length > 1 ? needsKernel(context) : "nothing to undo"),
    run: (context) => send(context, { type: "undo" }),
  },
  {
    id: "why",
    name: "Why: explain the selected token",
    keys: ["W"],
    blocked: ({ store }) => (store.selected === null ? "select a token in the table first" : null),
    run: (context) => why(context, context.store.selected!),
  },
  { id: "row-down", name: "Next token in the table", keys: ["ArrowDown"], blocked: free, run: ({ view }) => view.moveRow(1) },
  { id: "row-up", name: "Previous token in the table", keys: ["ArrowUp"], blocked: free, run: ({ view }) => view.moveRow(-1) },
  {
    id: "branch-next",
    name: "Next branch",
    keys: ["]"],
    blocked: ({ store }) => (waysOf(store).length > 1 ? null : "there is one branch"),
    run: (context) => turn(context, 1),
  },
  {
    id: "branch-previous",
    name: "Previous branch",
    keys: ["["],
    blocked: ({ store }) => (waysOf(store).length > 1 ? null : "there is one branch"),
    run: (context) => turn(context, -1),
  },
  {
    id: "byte-forward",
    name: "Next byte inside the token",
    keys: ["."],
    blocked: (context) => {
      const { store } = context;
      if (store.inside === null) return "no token comes next";
      if (!byteLength(context)) return store.next ? null : "this token spells no bytes";
      if (store.byte >= byteLength(context) && !store.next) return "this is the last byte: take the token to go on";
      if (!store.here.whys[store.inside]?.inside) return needsKernel(context);
      return null;
    },
    run: (context) => {
      const { store } = context;
      lookInside(context);
      const length = byteLength(context);
      if (store.byte + 1 < length || (store.byte < length && !store.next)) {
        store.byte++;
        store.notify();
      } else if (store.next) go(context, store.next.id);
    },
  },
  {
    id: "byte-back",
    name: "Previous byte",
    keys: [","],
    blocked: ({ store }) => (store.byte > 0 || store.depth > 0 ? null : "this is the first byte"),
    run: (context) => {
      const { store } = context;
      if (store.byte > 0) store.byte--;
      else {
        store.move(store.here.parent);
        context.host.moved(store.cursor);
        store.byte = Math.max(0, byteLength(context) - 1);
        if (store.byte && !store.here.whys[store.inside ?? -1]?.inside && store.connected === false) store.byte = 0;
        if (store.byte) lookInside(context);
      }
      store.notify();
    },
  },
  {
    id: "break",
    name: "Set or clear a breakpoint at the rule on top of the stack",
    keys: ["B"],
    button: "break here",
    blocked: ({ store }) => (topRules(store.here).size ? null : "no rule is on top of the stack"),
    run: ({ store }) => {
      const rules = [...topRules(store.here)];
      const all = rules.every((rule) => store.breaks.has(rule));
      for (const rule of rules) {
        if (all) store.breaks.delete(rule);
        else store.breaks.add(rule);
      }
      store.notify();
    },
  },
  { id: "text", name: "Show the position as plain text", keys: ["T"], button: "text", blocked: free, run: ({ view }) => view.toggleText() },
  { id: "search", name: "Search the tokens", keys: ["/"], blocked: free, run: ({ view }) => view.focusSearch() },
  { id: "copy", name: "Copy the text so far", keys: ["C"], button: "copy", blocked: free, run: ({ view }) => view.copy() },
  { id: "sheet", name: "Show the keys", keys: ["?"], button: "?", blocked: free, run: ({ view }) => view.toggleSheet() },
  { id: "leave", name: "Close, unpin, leave the search", keys: ["Escape"], blocked: free, run: ({ view }) => view.leave() },
];

function turn(context: Context, by: number): void {
  const ways = waysOf(context.store);
  const at = ways.findIndex((way) => way.leaf === context.store.leaf);
  goAlong(context, ways[(at + by + ways.length) % ways.length]!);
}

/** Show a branch, or another run. */
export function goAlong({ store, host }: Context, way: Way): void {
  if (way.run !== undefined) return host.turn?.(way.run);
  store.show(way.leaf!);
  host.moved(store.cursor);
  store.notify();
}

/** The name of a key press as the table writes it; null for presses that are left to the page. */
export function keyName(event: Pick<KeyboardEvent, "key" | "shiftKey" | "ctrlKey" | "metaKey" | "altKey">): string | null {
  if (event.ctrlKey || event.metaKey || event.altKey || event.key === "Tab") return null;
  if (event.shiftKey && event.key === "Enter") return null;
  const key = event.key.length === 1 ? event.key.toUpperCase() : event.key;
  return event.shiftKey && (key.startsWith("Arrow") || /^F\d+$/.test(key)) ? `Shift+${key}` : key;
}

export function actionFor(key: string): Action | undefined {
  return ACTIONS.find((action) => action.keys.includes(key));
}

export function perform(context: Context, action: Action): boolean {
  if (action.blocked(context) !== null) return false;
  action.run(context);
  return true;
}

const SHOWN: Record<string, string> = {
  ArrowLeft: "←",
  ArrowRight: "→",
  ArrowUp: "↑",
  ArrowDown: "↓",
  Escape: "Esc",
};

export function showKey(key: string): string {
  return key
    .split("+")
    .map((part) => SHOWN[part] ?? part)
    .join(" + ");
}

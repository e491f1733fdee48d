// One table of everything that a person can do: toolbar, keys and the key sheet are made from it.
import type { Host } from "./types";
import type { Store } from "./store";

export interface Context {
  store: Store;
  host: Host;
  /** Things that only the view can do. */
  view: { focusSearch(): void; toggleSheet(): void; leave(): void; copy(): void; moveRow(by: number): void; runUntil(): "branching" | "end" };
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

export const NO_KERNEL = "needs a running kernel: run the cell again";
const free = () => null;

function needsKernel({ store }: Context): string | null {
  if (store.live === false) return NO_KERNEL;
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
  if (store.opened !== null && !store.here.whys[token] && store.live !== false && !store.busy) {
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
      else send(context, { type: "run", node: context.store.leaf, until: "branching" });
    },
  },
  {
    id: "run",
    name: "Run",
    keys: ["R"],
    button: "run",
    blocked: (context) => {
      const { store } = context;
      if (!store.doc.positions[store.leaf]!.open) {
        if (!store.next) return "the run ended here";
        return context.view.runUntil() === "end" || store.branching(1) ? null : "no later step has a choice";
      }
      return context.view.runUntil() === "branching" && store.branching(1) ? null : needsKernel(context);
    },
    run: (context) => {
      const { store } = context;
      const until = context.view.runUntil();
      const found = until === "branching" ? store.branching(1) : undefined;
      if (found) go(context, found.id);
      else if (store.doc.positions[store.leaf]!.open) send(context, { type: "run", node: store.leaf, until });
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
    blocked: ({ store }) => (store.branches().length > 1 ? null : "there is one branch"),
    run: (context) => turn(context, 1),
  },
  {
    id: "branch-previous",
    name: "Previous branch",
    keys: ["["],
    blocked: ({ store }) => (store.branches().length > 1 ? null : "there is one branch"),
    run: (context) => turn(context, -1),
  },
  { id: "search", name: "Search the tokens", keys: ["/"], blocked: free, run: ({ view }) => view.focusSearch() },
  { id: "copy", name: "Copy the text so far", keys: ["C"], button: "copy", blocked: free, run: ({ view }) => view.copy() },
  { id: "sheet", name: "Show the keys", keys: ["?"], button: "?", blocked: free, run: ({ view }) => view.toggleSheet() },
  { id: "leave", name: "Close, unpin, leave the search", keys: ["Escape"], blocked: free, run: ({ view }) => view.leave() },
];

function turn(context: Context, by: number): void {
  const { store } = context;
  const branches = store.branches();
  const at = branches.findIndex((branch) => branch.leaf === store.leaf);
  store.show(branches[(at + by + branches.length) % branches.length]!.leaf);
  context.host.moved(store.cursor);
  store.notify();
}

/** The name of a key press as the table writes it; null for presses that are left to the page. */
export function keyName(event: Pick<KeyboardEvent, "key" | "shiftKey" | "ctrlKey" | "metaKey" | "altKey">): string | null {
  if (event.ctrlKey || event.metaKey || event.altKey || event.key === "Tab") return null;
  if (event.shiftKey && event.key === "Enter") return null;
  const key = event.key.length === 1 ? event.key.toUpperCase() : event.key;
  return event.shiftKey && key.startsWith("Arrow") ? `Shift+${key}` : key;
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

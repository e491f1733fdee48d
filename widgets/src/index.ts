// Entry of the bundle: an anywidget module, which also starts a self-contained report page.
import { decodeDocument, fromBase64, fromView, inflate, readDocument } from "./decode";
import { GONE, NO_KERNEL } from "./actions";
import { turnTo } from "./runs";
import { RecordedSearch } from "./search";
import { mount, type Mounted } from "./frame";
import { Store } from "./store";
import type { Answer, Change, Command, Doc, Found, Host, Position } from "./types";

/** What anywidget hands to `render`. */
interface Model {
  get(name: string): unknown;
  set(name: string, value: unknown): void;
  save_changes(): void;
  on(name: string, callback: (...args: never[]) => void): void;
  off(name: string, callback: (...args: never[]) => void): void;
  send(content: unknown): void;
  widget_manager?: { kernel?: Kernel | null };
}

type Message =
  | { type: "hello" }
  | ({ type: "change"; packed?: false } & Change)
  | { type: "change"; packed: true }
  | { type: "done" }
  | { type: "reset" }
  | { type: "answer"; request: number; answer: Record<string, unknown> }
  | ({ type: "found"; request: number } & Found);

const PATIENCE_MS = 5000;
/** The kernel hears of a moved cursor once the moving has stopped: each message makes the host redraw its toolbar. */
const MOVED_MS = 200;

/** Close the static view that stands beside a live one, now and whenever it is drawn again. */
function closeStatic(id: string, live: HTMLElement): () => void {
  const area = live.closest(".jp-OutputArea") ?? document.body;
  const close = () => {
    for (const element of document.getElementsByClassName(`wb-static-${id}`)) {
      if (element instanceof HTMLDetailsElement && !element.dataset["wbSeen"]) {
        element.dataset["wbSeen"] = "1";
        element.open = false;
      }
    }
  };
  const observer = new MutationObserver(() => watch());
  // What changes inside the live view is none of its business.
  const watch = () => {
    close();
    observer.disconnect();
    observer.observe(area, { childList: true });
    for (const part of area.children) if (!part.contains(live)) observer.observe(part, { childList: true, subtree: true });
  };
  watch();
  return () => observer.disconnect();
}

interface Signal {
  connect(listener: (...details: unknown[]) => void): void;
  disconnect(listener: (...details: unknown[]) => void): void;
}

/** What JupyterLab's manager of widgets says of a kernel; other hosts may have none of it. */
interface Kernel {
  statusChanged?: Signal;
  disposed?: Signal;
}

const ENDED = ["restarting", "autorestarting", "terminating", "dead"];

/** Call `gone` once when the kernel that made a model ends, however it ends. */
function watchKernel(model: Model, gone: () => void): () => void {
  const kernel = model.widget_manager?.kernel;
  const onStatus = (_: unknown, status: unknown) => {
    if (ENDED.includes(String(status))) end();
  };
  const end = () => {
    stop();
    gone();
  };
  const stop = () => {
    model.off("comm_live_update", end);
    kernel?.statusChanged?.disconnect(onStatus);
    kernel?.disposed?.disconnect(end);
  };
  model.on("comm_live_update", end);
  kernel?.statusChanged?.connect(onStatus);
  kernel?.disposed?.connect(end);
  return stop;
}

class KernelHost implements Host {
  private requests = new Map<number, (found: Found) => void>();
  private questions = new Map<number, (answer: Answer<never>) => void>();
  private serial = 0;
  /** Where the cursor is, as far as the kernel and the page have told each other. */
  private told: number;
  private move: number | null = null;
  private timer = 0;

  constructor(
    private model: Model,
    private store: Store,
  ) {
    this.told = store.cursor;
  }

  command(command: Command): void {
    this.tellMove();
    this.model.send(command);
  }

  moved(cursor: number): void {
    this.move = cursor;
    window.clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.tellMove(), MOVED_MS);
  }

  /** Tell the kernel now where the cursor is. */
  tellMove(): void {
    window.clearTimeout(this.timer);
    if (this.move === null || this.store.gone) return;
    this.told = this.move;
    this.model.set("cursor", this.move);
    this.model.save_changes();
    this.move = null;
  }

  /** The cursor that holds after a message: the kernel's where the kernel moved it, else the page's. */
  heard(cursor: number, anew = false): number {
    if (cursor === this.told && !anew) return this.store.cursor;
    window.clearTimeout(this.timer);
    this.move = null;
    this.told = cursor;
    return cursor;
  }

  search(position: Position, query: string, allowedOnly: boolean): Promise<Found> {
    if (this.store.connected !== true) return Promise.resolve(new RecordedSearch(this.store.doc).find(position, query, allowedOnly));
    const request = ++this.serial;
    this.model.send({ type: "search", request, node: position.id, query, allowed_only: allowedOnly });
    return new Promise((resolve) => this.requests.set(request, resolve));
  }

  ask<T>(about: string, details: Record<string, unknown> = {}): Promise<Answer<T>> {
    if (this.store.connected === false) return Promise.reject(new Error(NO_KERNEL));
    const request = ++this.serial;
    this.model.send({ type: "ask", request, about, ...details });
    return new Promise((resolve) => this.questions.set(request, resolve as (answer: Answer<never>) => void));
  }

  answered(request: number, answer: Record<string, unknown>, buffers: DataView[]): void {
    this.questions.get(request)?.({ answer, buffers } as unknown as Answer<never>);
    this.questions.delete(request);
  }

  turn(run: number): void {
    this.tellMove();
    if (this.store.connected === false) void turnTo(this.store, run);
    else void this.ask("run", { number: run });
  }

  shown(tab: string): void {
    if (this.store.gone) return;
    this.model.set("tab", tab);
    this.model.save_changes();
  }

  /** Nobody will answer any more. */
  gone(): void {
    for (const found of this.requests.values()) found({ rows: [], total: 0, note: GONE });
    for (const answer of this.questions.values()) answer({ answer: { error: GONE }, buffers: [] } as unknown as Answer<never>);
    this.requests.clear();
    this.questions.clear();
  }

  found(request: number, found: Found): void {
    this.requests.get(request)?.(found);
    this.requests.delete(request);
  }
}

async function render({ model, el }: { model: Model; el: HTMLElement }): Promise<() => void> {
  const read = () => readDocument((name) => model.get(name));
  // Messages are taken one after the other, also those that come while the document is read.
  let turn: Promise<unknown> = Promise.resolve();
  const inTurn = (work: () => void | Promise<void>) => void (turn = turn.then(work).catch((error: unknown) => console.error(error)));
  const hear = (message: Message, buffers: DataView[] = []) => inTurn(() => onMessage(message, buffers));
  let started = () => {};
  turn = new Promise<void>((resolve) => (started = resolve));
  model.on("msg:custom", hear);
  const store = new Store(await read(), model.get("cursor") as number);
  const host = new KernelHost(model, store);
  const root = document.createElement("div");
  el.append(root);
  const mounted = mount(root, store, host, {
    theme: model.get("theme") as string,
    screens: model.get("screens") === "workbench" ? "workbench" : "stepper",
    tab: model.get("tab") as string,
  });
  const stopClosing = closeStatic(model.get("view_id") as string, el);
  const patience = window.setTimeout(() => {
    if (store.connected !== null) return;
    store.connected = false;
    store.notify();
  }, PATIENCE_MS);
  const onMessage = async (message: Message, buffers: DataView[]) => {
    if (message.type === "found") host.found(message.request, message);
    else if (message.type === "answer") host.answered(message.request, message.answer, buffers);
    else if (message.type === "reset") await reset();
    else {
      store.connected = true;
      if (message.type === "change") {
        const change = message.packed ? (JSON.parse(await inflate(fromView(buffers[0]!))) as Change) : message;
        store.merge({ ...change, cursor: host.heard(change.cursor) });
      }
      if (message.type === "done") store.busy = false;
      store.notify();
    }
  };
  // Another run took the place of this one: a grammar was edited and put to use.
  const reset = async () => {
    store.replace(await read());
    store.begin(host.heard(model.get("cursor") as number, true));
    store.busy = false;
    store.notify();
  };
  const onPayload = () => {
    if (store.connected) return; // messages brought everything already
    inTurn(async () => {
      const doc = await read();
      if (store.connected || doc.positions.length < store.doc.positions.length) return;
      store.replace(doc);
      store.notify();
    });
  };
  // In turn: the positions that it may move to are read first.
  const onCursor = () =>
    inTurn(() => {
      if (store.cursor === model.get("cursor")) return; // it was this page that moved
      store.move(host.heard(model.get("cursor") as number));
      store.notify();
    });
  const onTab = () => mounted.show(model.get("tab") as string);
  const onTheme = () => mounted.theme(model.get("theme") as string);
  model.on("change:payload", onPayload);
  model.on("change:pieces", onPayload);
  model.on("change:cursor", onCursor);
  model.on("change:theme", onTheme);
  model.on("change:tab", onTab);
  const stopWatching = watchKernel(model, () =>
    inTurn(() => {
      store.connected = store.busy = false;
      store.gone = true;
      store.doc.problem = { kind: "no kernel", message: `${GONE}. What was recorded can still be looked at.` };
      host.gone();
      store.notify();
    }),
  );
  started();
  model.send({ type: "hello" });
  return () => {
    window.clearTimeout(patience);
    host.tellMove();
    model.off("msg:custom", hear);
    model.off("change:payload", onPayload);
    model.off("change:pieces", onPayload);
    model.off("change:cursor", onCursor);
    model.off("change:theme", onTheme);
    model.off("change:tab", onTab);
    stopClosing();
    stopWatching();
    mounted.stop();
  };
}

/** Show a recorded run: no kernel, everything that was recorded can be looked at. */
export function replay(root: HTMLElement, doc: Doc, theme = "auto"): Mounted {
  const store = new Store(doc);
  store.connected = false;
  const search = new RecordedSearch(doc);
  return mount(
    root,
    store,
    {
      command: () => undefined,
      moved: () => undefined,
      search: (position, query, allowedOnly) => Promise.resolve(search.find(position, query, allowedOnly)),
      ask: () => Promise.reject(new Error(NO_KERNEL)),
      turn: (run) => void turnTo(store, run),
    },
    { theme, screens: "workbench" },
  );
}

/** A report page carries its document in the page, as base64 of deflated JSON. */
async function startReport(): Promise<void> {
  const data = document.getElementById("workbench-report-data");
  const root = document.getElementById("workbench-report");
  if (!data || !root || document.documentElement.dataset["workbench"] !== "report") return;
  try {
    replay(root, await decodeDocument(fromBase64(data.textContent ?? "")));
    document.getElementById("workbench-report-static")?.removeAttribute("open");
  } catch (error) {
    root.textContent = `The interactive view could not start: ${String(error)}`;
  }
}

if (typeof document !== "undefined") void startReport();

export default { render };

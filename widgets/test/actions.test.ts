import assert from "node:assert/strict";
import { test } from "node:test";
import { ACTIONS, actionFor, keyName, perform, showKey, take, why, type Context } from "../src/actions";
import { Store } from "../src/store";
import type { Command, Until } from "../src/types";
import { doc } from "./sample";

function context(cursor: number, live: boolean | null, until: Until = "end"): Context & { sent: Command[] } {
  const store = new Store(doc(), cursor);
  store.connected = live;
  const sent: Command[] = [];
  const nothing = () => undefined;
  return {
    store,
    sent,
    host: { command: (command) => sent.push(command), moved: nothing, search: () => Promise.resolve({ rows: [], total: 0 }), ask: () => Promise.reject(new Error("no")) },
    view: { focusSearch: nothing, toggleSheet: nothing, leave: nothing, copy: nothing, say: nothing, moveRow: nothing, toggleText: nothing, stopAt: () => ({ until, mass: 0.5 }) },
  };
}
const action = (id: string) => ACTIONS.find((action) => action.id === id)!;
const press = (key: string, more = {}) => keyName({ key, shiftKey: false, ctrlKey: false, metaKey: false, altKey: false, ...more });

test("every action has its own keys and a name", () => {
  const keys = ACTIONS.flatMap((action) => action.keys);
  assert.equal(new Set(keys).size, keys.length);
  assert.equal(new Set(ACTIONS.map((action) => action.name)).size, ACTIONS.length);
});

test("presses that belong to the page are left to it", () => {
  assert.equal(press("Tab"), null);
  assert.equal(press("a", { ctrlKey: true }), null);
  assert.equal(press("a", { metaKey: true }), null);
  assert.equal(press("Enter", { shiftKey: true }), null);
  assert.equal(press("u"), "U");
  assert.equal(press("ArrowLeft", { shiftKey: true }), "Shift+ArrowLeft");
  assert.equal(press("?", { shiftKey: true }), "?");
  assert.equal(actionFor("?")?.id, "sheet");
  assert.equal(showKey("Shift+ArrowLeft"), "Shift + ←");
});

test("forward follows the record before it asks the kernel", () => {
  const c = context(0, true);
  perform(c, action("forward"));
  assert.deepEqual([c.store.cursor, c.sent], [1, []]);
  perform(c, action("forward"));
  perform(c, action("forward"));
  assert.deepEqual([c.store.cursor, c.sent], [4, [{ type: "step", node: 4 }]]);
  assert.equal(c.store.busy, true);
  assert.equal(perform(c, action("forward")), false);
});

test("without a kernel new work is refused with the reason", () => {
  const c = context(4, false);
  for (const id of ["forward", "run", "undo"]) {
    assert.match(action(id).blocked(c)!, /kernel/, id);
    assert.equal(perform(c, action(id)), false);
  }
  assert.deepEqual(c.sent, []);
});

test("nothing comes after the end of a run", () => {
  const c = context(3, true);
  assert.match(action("forward").blocked(c)!, /ended/);
  assert.match(action("run").blocked(c)!, /ended/);
  assert.equal(perform(c, action("back")), true);
  assert.equal(c.store.cursor, 2);
});

test("taking a token that was taken before only moves", () => {
  const c = context(3, true);
  c.store.move(1);
  take(c, 5);
  assert.deepEqual([c.store.cursor, c.sent], [4, []]);
  c.store.move(1);
  take(c, 4);
  assert.deepEqual(c.sent, [{ type: "take", node: 1, token: 4 }]);
});

test("running stops at the next recorded choice, or asks the kernel", () => {
  const c = context(0, true, "branching");
  perform(c, action("run"));
  assert.deepEqual([c.store.cursor, c.sent], [4, []]);
  perform(c, action("run"));
  assert.deepEqual(c.sent, [{ type: "run", node: 4, until: "branching", mass: 0.5, depth: 0, breaks: [] }]);
  const recorded = context(3, false, "end");
  recorded.store.move(0);
  perform(recorded, action("run"));
  assert.equal(recorded.store.cursor, 3);
});

test("a reason is asked for once, and closes again", () => {
  const c = context(4, true);
  why(c, 2);
  assert.deepEqual([c.store.opened, c.sent], [2, [{ type: "why", node: 4, token: 2 }]]);
  why(c, 2);
  assert.deepEqual([c.store.opened, c.sent.length], [null, 1]);
});

test("branches turn around", () => {
  const c = context(3, true);
  perform(c, action("branch-next"));
  assert.equal(c.store.leaf, 4);
  perform(c, action("branch-next"));
  assert.equal(c.store.leaf, 3);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { turnTo, waysOf } from "../src/runs";
import { Store } from "../src/store";
import { doc, position } from "./sample";

test("branches of the run that is shown stand among the other runs", () => {
  const store = new Store(doc(), 3);
  assert.deepEqual(waysOf(store), store.branches());
  store.replace(doc({ runs: { at: 1, names: ["run 1, gbnf, 2 steps", "run 2, gbnf, 3 steps"], others: {} } }));
  assert.deepEqual(waysOf(store), [
    { name: "run 1, gbnf, 2 steps", run: 0 },
    { leaf: 3, name: "run 2: main" },
    { leaf: 4, name: "run 2: branch 1, from step 1" },
  ]);
});

test("without a kernel a page turns to another run and back; nothing is erased", async () => {
  const old = doc({ title: "old", positions: [position(0, -1, null), position(1, 0, 2)] });
  const names = ["run 1", "run 2"];
  const store = new Store(doc({ runs: { at: 1, names, others: { 0: { doc: old, cursor: 1 } } } }), 2);
  await turnTo(store, 0);
  assert.deepEqual([store.doc.title, store.cursor, store.doc.runs!.at, Object.keys(store.doc.runs!.others)], ["old", 1, 0, ["1"]]);
  await turnTo(store, 5);
  assert.equal(store.doc.title, "old");
  await turnTo(store, 1);
  assert.deepEqual([store.doc.title, store.cursor, store.doc.positions.length], ["t", 2, 5]);
});

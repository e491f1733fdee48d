import assert from "node:assert/strict";
import { test } from "node:test";
import { ordered, Store } from "../src/store";
import type { Inside, Row } from "../src/types";
import { doc, position } from "./sample";

const ids = (store: Store) => store.path.map((p) => p.id);

test("starts at the cursor, on its newest branch", () => {
  assert.deepEqual(ids(new Store(doc())), [0, 1, 4]);
  const store = new Store(doc(), 3);
  assert.deepEqual([ids(store), store.depth, store.next], [[0, 1, 2, 3], 3, undefined]);
  assert.equal(new Store(doc(), 99).cursor, 0);
});

test("moving keeps the branch when it can", () => {
  const store = new Store(doc(), 3);
  store.move(1);
  assert.deepEqual(ids(store), [0, 1, 2, 3]);
  assert.equal(store.next?.id, 2);
  store.move(4);
  assert.deepEqual(ids(store), [0, 1, 4]);
  store.move(77);
  assert.equal(store.cursor, 4);
});

test("branches are named and can be shown", () => {
  const store = new Store(doc(), 3);
  assert.deepEqual(store.branches(), [
    { leaf: 3, name: "main" },
    { leaf: 4, name: "branch 1, from step 1" },
  ]);
  store.show(4);
  assert.deepEqual([ids(store), store.cursor], [[0, 1, 4], 1]);
});

test("a token taken in the past adds a branch and erases nothing", () => {
  const store = new Store(doc(), 3);
  store.move(0);
  assert.equal(store.childBy(1)?.id, 1);
  assert.equal(store.childBy(5), undefined);
  store.merge({ positions: [position(5, 0, 5)], tokens: {}, graphs: {}, rules: {}, cursor: 5, problem: null });
  assert.deepEqual(ids(store), [0, 5]);
  assert.equal(store.branches().length, 3);
  assert.equal(store.doc.positions[3]!.end, "eos");
});

test("a change of a known position replaces it", () => {
  const store = new Store(doc(), 2);
  store.merge({ positions: [position(2, 1, 2, { allowed: 9 })], tokens: { 7: ["z", null] }, graphs: {}, rules: {}, cursor: 2, problem: { kind: "DeadEnd", message: "m" } });
  assert.equal(store.here.allowed, 9);
  assert.deepEqual(store.token(7), ["z", null]);
  assert.equal(store.doc.problem?.kind, "DeadEnd");
});

test("steps with a choice are found in both directions", () => {
  const store = new Store(doc(), 3);
  store.move(0);
  assert.equal(store.branching(1)?.id, 2); // position 1 allows one token
  assert.equal(store.branching(-1), undefined);
  store.move(3);
  assert.equal(store.branching(-1)?.id, 2);
  assert.equal(store.branching(1), undefined);
});

test("moving away forgets the selection", () => {
  const store = new Store(doc(), 3);
  store.selected = store.opened = 2;
  store.move(3);
  assert.equal(store.selected, 2);
  store.move(2);
  assert.deepEqual([store.selected, store.opened], [null, null]);
});

test("a shorter document takes the cursor home", () => {
  const store = new Store(doc(), 3);
  store.replace(doc({ positions: [position(0, -1, null)] }));
  assert.deepEqual([store.cursor, store.leaf], [0, 0]);
});

test("rows are ordered by the larger of the two probabilities", () => {
  const rows: Row[] = [[1, 0.1, 0.2, 1], [2, 0.5, null, 0], [3, 0.01, 0.6, 1], [4, null, null, 0], [5, null, null, 1]];
  assert.deepEqual(ordered(rows).map((row) => row[0]), [3, 2, 1, 5, 4]);
});

test("inside a token everything stands where its bytes lead", () => {
  const frame = (state: number) => [{ state, rules: ["r"], count: null }];
  const why = { consumed: 1, reason: "", expected: "", inside: [[[7], [frame(7)], "g"], [[8], [frame(8), frame(9)], "h"]] as Inside[] };
  const store = new Store(doc(), 4); // after the last token "ab" is looked into; its second byte may not come
  store.doc.positions[4] = position(4, 1, 5, { live: [7], stacks: [frame(7)], graph: "g", whys: { 2: why } });
  store.replace(store.doc);
  store.selected = 2;
  assert.deepEqual([store.standing?.live, store.standing?.graph, store.read], [[7], "g", ""]);
  assert.equal(store.stoodBefore?.live.length, 0);
  store.byte = 1;
  assert.deepEqual([store.standing?.live, store.standing?.stacks.length, store.standing?.graph, store.live, store.read], [[8], 2, "h", [8], "a"]);
  assert.deepEqual(store.stoodBefore?.live, [7]);
  store.byte = 2;
  assert.deepEqual([store.standing?.live, store.standing?.stacks], [[], []]);
  store.selected = 3; // not asked about
  store.byte = 1;
  assert.equal(store.standing, null);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { Store } from "../src/store";
import { breaksAt, isReached, rankOf, reachedLater } from "../src/stops";
import type { Frame, Row } from "../src/types";
import { doc, position } from "./sample";

const stack = (...rules: string[]): Frame[][] => [rules.map((rule, i) => ({ state: i, rules: [rule], count: null }))];
const run = () =>
  doc({
    positions: [
      position(0, -1, null, { allowed: 1, massRemoved: 0.2, stacks: stack("root") }),
      position(1, 0, 1, { allowed: 1, massRemoved: 0.7, stacks: stack("string", "root") }),
      position(2, 1, 2, { allowed: 5, massRemoved: 0.1, stacks: stack("string", "root") }),
      position(3, 2, 3, { allowed: 1, massRemoved: 0.1, stacks: stack("root") }),
    ],
  });

test("a run stops where it is told to", () => {
  const store = new Store(run(), 0);
  const at = (until: "branching" | "mass" | "depth" | "rule" | "end", mass = 0.5) => reachedLater(store, { until, mass })?.id;
  assert.deepEqual([at("branching"), at("mass"), at("mass", 0.9), at("depth"), at("rule"), at("end")], [2, 1, undefined, 1, undefined, undefined]);
  store.move(1);
  assert.deepEqual([at("depth"), at("rule"), at("mass")], [3, 3, undefined]);
  assert.equal(isReached(position(9, -1, null, { open: false, allowed: 9 }), { until: "branching", mass: 0 }, 0), false);
});

test("a breakpoint stops when its rule comes on top, not while it stays there", () => {
  const store = new Store(run(), 0);
  store.breaks.add("string");
  assert.equal(reachedLater(store, { until: "end", mass: 0 })?.id, 1);
  store.move(1);
  assert.equal(reachedLater(store, { until: "end", mass: 0 }), undefined);
  assert.equal(breaksAt(store.path[0]!, store.path[1]!, new Set(["other"])), false);
});

test("the rank counts what the model liked better", () => {
  const rows: Row[] = [[1, 0.5, null, 0], [2, 0.3, 0.9, 1], [3, null, 0.1, 1]];
  const here = position(0, -1, null, { rows });
  assert.deepEqual([rankOf(here, 1), rankOf(here, 2), rankOf(here, 3), rankOf(here, 9)], [1, 2, null, null]);
});

test("the states inside a token are those before the byte at the cursor", () => {
  const d = run();
  d.positions[0]!.live = [7];
  d.positions[1]!.live = [9];
  d.tokens[1] = ["ab", null];
  const store = new Store(d, 0);
  assert.deepEqual(store.live, [7]);
  store.byte = 1;
  assert.equal(store.live, null);
  d.positions[0]!.whys[1] = { consumed: 2, reason: "", expected: "", inside: [[[7], [], "g"], [[8], [], "g"]] };
  assert.deepEqual(store.live, [8]);
  store.byte = 2;
  assert.deepEqual(store.live, [9]);
  store.move(1);
  assert.equal(store.byte, 0);
});

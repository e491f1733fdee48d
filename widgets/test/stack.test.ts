import assert from "node:assert/strict";
import { test } from "node:test";
import { depth, told, toldWithPlace } from "../src/stack";
import type { Frame } from "../src/types";

const frame = (more: Partial<Frame>): Frame => ({ state: -1, rules: ["r"], count: null, ...more });

test("a frame is told in the author's words where they are known", () => {
  assert.equal(told(frame({ told: "object #/a (entered at the start)" })), "object #/a (entered at the start)");
  assert.equal(told(frame({ state: 4, rules: ["a", "b"] })), "a or b");
  assert.equal(told(frame({ state: 4, rules: [] })), "this place");
  assert.equal(told(frame({ state: 4, count: 1 })), "r (1 time)");
  assert.equal(toldWithPlace(frame({ told: "r", place: "r → a•b" })), "r: r → a•b");
});

test("the deep end of a stack is one frame that says how many it stands for", () => {
  const frames = [frame({ state: 1 }), frame({ rules: ["… 14 more"], count: 14 })];
  assert.equal(depth(frames), 15);
  assert.equal(told(frames[1]!), "… 14 more");
});

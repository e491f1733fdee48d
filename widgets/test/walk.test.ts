import assert from "node:assert/strict";
import { test } from "node:test";
import { lineage } from "../src/lineage";
import type { Box } from "../src/picture";
import type { Frame, Position } from "../src/types";
import { linksOf, toward } from "../src/walk";

const at = (x: number, y: number): Box => ({ left: x - 5, right: x + 5, top: y - 5, bottom: y + 5 });
const boxes = new Map([
  ["a", at(0, 0)],
  ["b", at(100, 0)],
  ["c", at(100, 60)],
  ["d", at(-80, -40)],
  ["e", at(300, 0)],
]);

test("an arrow leads to the joined node that lies in its direction", () => {
  const all = ["b", "c", "d", "e"];
  assert.equal(toward(boxes, "a", all, "ArrowRight"), "b");
  assert.equal(toward(boxes, "a", ["c", "e"], "ArrowRight"), "c");
  assert.equal(toward(boxes, "a", all, "ArrowLeft"), "d");
  assert.equal(toward(boxes, "a", all, "ArrowDown"), "c");
  assert.equal(toward(boxes, "a", ["b"], "ArrowLeft"), null);
  assert.equal(toward(boxes, "a", ["unknown", "a"], "ArrowRight"), null);
  assert.equal(toward(boxes, "a", all, "Enter"), null);
});

test("edges join both ways, loops join nothing", () => {
  const links = linksOf([["a", "b"], ["b", "b"], ["c", "a"]]);
  assert.deepEqual([...links.get("a")!], ["b", "c"]);
  assert.deepEqual([...links.get("b")!], ["a"]);
});

const frame = (state: number): Frame => ({ state, rules: [`r${state}`], count: null });
const position = (id: number, stacks: number[][]): Position => ({ id, edge: id ? { token: 10 + id } : null, stacks: stacks.map((states) => states.map(frame)) }) as Position;

test("a stack is followed back to those that it came from", () => {
  // top first: [2, 7] grew out of [7], which is one of two
  const path = [position(0, [[1]]), position(1, [[5], [7]]), position(2, [[9], [2, 7]]), position(3, [[3, 7]])];
  const states = (index: number, depth: number) => lineage(path, depth, index).map(({ frames }) => frames.map(({ state }) => state));
  assert.deepEqual(states(0, 3), [[1], [7], [2, 7], [3, 7]]);
  assert.deepEqual(states(0, 2), [[1], [5], [9]]);
  assert.deepEqual(lineage(path, 3, 0).map(({ step, token }) => [step, token]), [[0, null], [1, 11], [2, 12], [3, 13]]);
  assert.deepEqual(lineage(path, 3, 4), []);
});

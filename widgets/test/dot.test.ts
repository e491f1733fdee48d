import assert from "node:assert/strict";
import { test } from "node:test";
import { dotOf, foldedNodes, near, nodeOf, rulesOf } from "../src/dot";
import type { Graph } from "../src/types";

const graph: Graph = {
  dot: "digraph { start -> s0 }",
  shown: [0, 1, 2, 3],
  edges: [
    [0, "a", 1, 0],
    [1, "▭ string", 0, 1],
    [2, '"', 3, 0],
    [2, "\\", 3, 0],
    [3, "x", 9, 0],
  ],
  final: [3],
  hidden: 6,
  states: 10,
};
const rules = { 0: "root", 1: "root", 2: "string", 3: "string" };

test("with nothing folded every state is a node in the box of its rule", () => {
  const dot = dotOf(graph, rules, new Set());
  assert.equal(dotOf(graph, rules, new Set(["unknown"])), dot);
  for (const state of graph.shown) assert.match(dot, new RegExp(`s${state} \\[id=s${state} `));
  assert.match(dot, /subgraph cluster_2 { label="string"/);
  assert.match(dot, /begin -> s0/);
  assert.match(dot, /s3 -> more_s3/);
  assert.doesNotMatch(dot, /return/);
  assert.match(dotOf(graph, rules, new Set(), [[3, 1], [3, 9]]), /s3 -> s1 \[label=" return " style=dashed\]/);
});

test("a folded rule is one box that calls lead to, and its own edges are gone", () => {
  const dot = dotOf(graph, rules, new Set(["string"]));
  assert.match(dot, /r2 \[id=r2 shape=box style=rounded margin="0.35,0.05" label="▭ string \(2\)"\]/);
  assert.match(dot, /s1 -> r2 \[label=" reads " style=dashed\]/);
  assert.match(dot, /s0 -> s1 \[label=" a "\]/);
  assert.doesNotMatch(dot, /\bs[239]\b/);
});

test("labels are escaped, parallel edges joined", () => {
  const dot = dotOf(graph, rules, new Set(["root"]));
  assert.match(dot, /s2 -> s3 \[label=" \\", \\\\ "\]/);
  assert.match(dot, /s3 \[id=s3 label="3 ✓"\]/);
});

test("states know the node that stands for them", () => {
  const boxes = foldedNodes(graph, rules, new Set(["root"]));
  assert.deepEqual([nodeOf(1, rules, boxes), nodeOf(2, rules, boxes), nodeOf(77, rules, boxes)], ["r0", "s2", "s77"]);
  assert.deepEqual([...rulesOf(graph, rules)], [["root", [0, 1]], ["string", [2, 3]]]);
});

test("near some states only a few are left, and the rest is counted as hidden", () => {
  const chain: Graph = { dot: "", shown: [0, 1, 2, 3, 4, 5], edges: [0, 1, 2, 3, 4].map((i) => [i, "a", i + 1, 0]), final: [5], hidden: 0, states: 6 };
  const part = near(chain, [2], 4);
  assert.deepEqual([part.shown, part.hidden, part.final], [[1, 2, 3, 4], 2, []]);
  assert.equal(near(chain, [2], 14), chain);
  assert.equal(near(chain, [], 2), chain);
  assert.equal(near(chain, [77], 2), chain);
});

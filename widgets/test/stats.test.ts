import assert from "node:assert/strict";
import { test } from "node:test";
import { heaviest, logBins, quantile, summarise, warmUp, type Timed } from "../src/stats";
import { columns } from "../src/tracks";
import { position } from "./sample";

const step = (mask: number, rule: string, exposed = 0): Timed => ({
  ...position(0, -1, null, { stacks: [[{ state: 1, rules: [rule], count: null }]], live: [4] }),
  times: { mask, hidden: mask - exposed, exposed, forward: 10, sample: 1 },
});

test("quantiles are interpolated", () => {
  assert.deepEqual([quantile([], 0.5), quantile([3], 0.9), quantile([1, 2, 3, 4], 0.5), quantile([0, 10], 0.9)], [0, 3, 2.5, 9]);
  assert.deepEqual(summarise([2, 4]), { n: 2, sum: 6, median: 3, p90: 3.8, p99: 3.98, max: 4 });
  assert.equal(summarise([]).max, 0);
});

test("heaviest first, by rule or by state", () => {
  const steps = [step(1, "a"), step(2, "b"), step(1.5, "b", 0.5)];
  const groups = heaviest(steps, "rule");
  assert.deepEqual(groups.map((g) => [g.name, g.steps, g.mask, g.max, g.exposed]), [["b", 2, 3.5, 2, 0.5], ["a", 1, 1, 1, 0]]);
  assert.ok(Math.abs(groups[0]!.share - 3.5 / 4.5) < 1e-12);
  assert.deepEqual(heaviest(steps, "state").map((g) => [g.name, g.steps]), [["state 4", 3]]);
});

test("a logarithmic histogram holds every value", () => {
  const bins = logBins([0.01, 0.1, 0.1, 10, 0], 6);
  assert.equal(bins.reduce((sum, bin) => sum + bin.count, 0), 5);
  assert.equal(bins[5]!.count, 1);
  assert.equal(bins[0]!.count, 2); // 0.01 and 0
  assert.deepEqual(logBins([0, 0]), []);
  assert.equal(logBins([5, 5]).reduce((sum, bin) => sum + bin.count, 0), 2);
});

test("columns stand on one clock; many neighbours become one", () => {
  const steps = [step(1, "a", 0.5), step(2, "a")];
  const found = columns(steps, { from: 0, to: 2 });
  assert.deepEqual(found.map((c) => [c.first, c.start, c.length]), [[0, 0, 11.5], [1, 11.5, 11]]);
  const many = columns(Array.from({ length: 2000 }, () => step(1, "a")), { from: 0, to: 2000 });
  assert.ok(many.length <= 300);
  assert.equal(many.reduce((sum, c) => sum + c.last - c.first + 1, 0), 2000);
});

test("the first step warms up, and those after it that stand out", () => {
  const of = (...masks: number[]) => warmUp(masks.map((mask) => step(mask, "a")));
  assert.deepEqual([of(), of(1), of(1, 1), of(1, 1, 1, 1), of(9, 9, 1, 1, 1), of(9, 1, 9, 1, 1), of(9, 9, 9, 9, 9, 9, 1, 1, 1, 1, 1, 1, 1)], [0, 0, 1, 1, 2, 1, 5]);
});

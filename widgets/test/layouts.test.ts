import assert from "node:assert/strict";
import { test } from "node:test";
import { Layouts } from "../src/layouts";

/** A drawer whose answers are let go one by one. */
function held() {
  const drawn: string[] = [];
  const open: (() => void)[] = [];
  const draw = (dot: string) =>
    new Promise<string>((resolve, reject) => {
      drawn.push(dot);
      open.push(() => (dot === "bad" ? reject(new Error("no graph")) : resolve(`<${dot}>`)));
    });
  const next = async () => {
    open.shift()?.();
    await new Promise((resolve) => setTimeout(resolve, 0));
  };
  return { drawn, next, layouts: new Layouts(() => draw) };
}

test("one graph at a time is laid out: the newest wish first, then what is expected", async () => {
  const { drawn, next, layouts } = held();
  const first = layouts.ask("a", () => true);
  layouts.expect(["later"]);
  const second = layouts.ask("b", () => true);
  const third = layouts.ask("c", () => true);
  assert.deepEqual(drawn, ["a"]);
  await next();
  await next();
  await next();
  assert.deepEqual(drawn, ["a", "c", "b", "later"]);
  assert.deepEqual(await Promise.all([first, second, third]), ["<a>", "<b>", "<c>"]);
});

test("what is no longer wanted is not laid out, and what is known is not laid out again", async () => {
  const { drawn, next, layouts } = held();
  const first = layouts.ask("a", () => true);
  const gone = layouts.ask("b", () => false);
  await next();
  assert.equal(await first, "<a>");
  assert.equal(await gone, null);
  assert.equal(await layouts.ask("a", () => true), "<a>");
  layouts.expect(["a"]);
  assert.deepEqual(drawn, ["a"]);
});

test("a graph that cannot be laid out fails alone", async () => {
  const { next, layouts } = held();
  const bad = layouts.ask("bad", () => true);
  const good = layouts.ask("good", () => true);
  const failed = assert.rejects(bad, /no graph/);
  await next();
  await next();
  await failed;
  assert.equal(await good, "<good>");
});

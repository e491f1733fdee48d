import assert from "node:assert/strict";
import { test } from "node:test";
import { byteOrder, matcher, RecordedSearch } from "../src/search";
import type { Row } from "../src/types";
import { doc, position } from "./sample";

const rows: Row[] = [[1, 0.5, 0.9, 1], [5, 0.2, null, 0]];

test("queries: text, id, hex, and those that cannot be read", () => {
  const find = (query: string) =>
    Object.entries(doc().tokens)
      .filter(([id, token]) => matcher(query)!(Number(id), token))
      .map(([id]) => Number(id));
  assert.deepEqual(find("b"), [2, 5]);
  assert.deepEqual(find("É".toLowerCase()), [3]);
  assert.deepEqual(find("EOS"), [0]);
  assert.deepEqual(find("id:4"), [4]);
  assert.deepEqual(find("hex:e2 9C"), [4]);
  for (const query of ["id:", "id:x", "hex:", "hex:e", "hex:zz"]) assert.equal(matcher(query), null);
});

test("ids are ordered by bytes, then id", () => {
  assert.deepEqual(byteOrder(doc()), [0, 5, 1, 2, 3, 4]);
  const padded = doc();
  padded.tokens[9] = ["", "⟨padding⟩"];
  assert.deepEqual(byteOrder(padded), [0, 5, 1, 2, 3, 4]);
});

test("without the whole vocabulary the recorded rows are searched, and it says so", () => {
  const found = new RecordedSearch(doc()).find(position(0, -1, null, { rows }), "b", false);
  assert.deepEqual(found.rows, [[5, 0.2, null, 0]]);
  assert.match(found.note!, /2 recorded tokens/);
});

test("with all masks every token is found, with its verdict", () => {
  const whole = doc({ complete: true, masks: { k: [2, 3] } }); // runs over 0 5 1 2 3 4: ids 1 2 3
  const search = new RecordedSearch(whole);
  const at = position(0, -1, null, { rows, mask: "k" });
  assert.deepEqual([...search.allowed(at)!].sort(), [1, 2, 3]);
  assert.deepEqual(search.find(at, "", false).rows, [[1, 0.5, 0.9, 1], [5, 0.2, null, 0], [2, null, null, 1], [3, null, null, 1], [0, null, null, 0], [4, null, null, 0]]);
  assert.deepEqual(search.find(at, "b", true), { rows: [[2, null, null, 1]], total: 1, note: "a dash: the probability was too small to be recorded" });
});

test("a query that cannot be read finds nothing and says how to write it", () => {
  const found = new RecordedSearch(doc()).find(position(0, -1, null, { rows }), "hex:q", false);
  assert.equal(found.total, 0);
  assert.match(found.note!, /hex:/);
});

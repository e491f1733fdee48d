import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateSync } from "node:zlib";
import { decodeDocument, fromBase64, fromView, readDocument } from "../src/decode";
import { median } from "../src/times";
import { doc, position } from "./sample";

const packed = (value: unknown) => new Uint8Array(deflateSync(Buffer.from(JSON.stringify(value), "utf8")));

test("a payload is deflated JSON, also as a view and as base64", async () => {
  const data = packed(doc({ title: "Grüße </script>" }));
  assert.equal((await decodeDocument(data)).title, "Grüße </script>");
  const padded = new Uint8Array(data.length + 7);
  padded.set(data, 3);
  assert.deepEqual(fromView(new DataView(padded.buffer, 3, data.length)), data);
  assert.deepEqual(fromBase64(Buffer.from(data).toString("base64") + "\n"), data);
});

test("another version is refused", async () => {
  await assert.rejects(decodeDocument(packed({ version: 1 })), /version 2/);
});

test("changes follow the payload in pieces, and screens bring what they keep", async () => {
  const view = (data: Uint8Array) => new DataView(data.buffer as ArrayBuffer, data.byteOffset, data.byteLength);
  const lines = (...changes: unknown[]) => view(new Uint8Array(deflateSync(changes.map((change) => `${JSON.stringify(change)}\n`).join(""))));
  const change = (id: number, title: string) => ({ type: "change", positions: [{ ...position(id, id - 1, null), end: title }], tokens: { [id + 70]: [title, null] }, graphs: {}, rules: {}, cursor: id, problem: null });
  const state: Record<string, unknown> = {
    payload: view(packed(doc({ panels: { grammar: { text: "old" }, dead: { note: "kept" } } as never }))),
    pieces: 2,
    piece_0: lines(change(5, "a"), change(6, "b")),
    piece_1: lines(change(5, "c\u2028")),
    piece_2: lines(change(7, "not counted")),
    kept_grammar: view(packed({ text: "new" })),
    kept_dead: view(new Uint8Array(0)),
  };
  const found = await readDocument((name) => state[name]);
  assert.deepEqual(found.positions.slice(5).map((here) => here.end), ["c\u2028", "b"]);
  assert.deepEqual([found.tokens[75], found.tokens[76]], [["c\u2028", null], ["b", null]]);
  assert.deepEqual(found.panels, { grammar: { text: "new" } });
});

test("the median", () => {
  assert.deepEqual([median([]), median([3]), median([3, 1]), median([9, 1, 2])], [0, 3, 2, 2]);
});

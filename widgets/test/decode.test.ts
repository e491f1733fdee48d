import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateSync } from "node:zlib";
import { decodeDocument, fromBase64, fromView } from "../src/decode";
import { median } from "../src/times";
import { doc } from "./sample";

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
  await assert.rejects(decodeDocument(packed({ version: 2 })), /version 1/);
});

test("the median", () => {
  assert.deepEqual([median([]), median([3]), median([3, 1]), median([9, 1, 2])], [0, 3, 2, 2]);
});

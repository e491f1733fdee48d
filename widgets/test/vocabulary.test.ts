import assert from "node:assert/strict";
import { test } from "node:test";
import { byLikelihood, groupTokens, hasBit, labelOf, query, Vocabulary, type TokenSet } from "../src/vocabulary";
import { doc } from "./sample";

const texts = ["", "a", "ab", "1", "12", " {", "é", "✗"].map((text) => new TextEncoder().encode(text));
function table(): Vocabulary {
  const offsets = new Int32Array(texts.length + 1);
  texts.forEach((text, i) => (offsets[i + 1] = offsets[i]! + text.length));
  const blob = new Uint8Array(texts.flatMap((text) => [...text]));
  return Vocabulary.fromAnswer({ size: texts.length, special: { "0": "<eos>" } }, blob, offsets);
}
const set = (ids: number[]): TokenSet => {
  const allowed = new Uint8Array(1);
  for (const id of ids) allowed[0]! |= 1 << id;
  const byByte = new Array<number>(256).fill(-1);
  byByte[0x31] = 0;
  return { allowed, before: Float32Array.from([0.1, 0.2, 0.05, 0.25, 0.15, 0.1, 0.1, 0.05]), kept: 0.5, rules: ["number"], byByte, ends: Uint8Array.of(0b1000), needs: null };
};
const any = () => true;

test("bytes arrive whole, also those that windows-1252 reads otherwise", () => {
  const v = table();
  assert.equal(v.bytes[7], "\xe2\x9c\x97");
  assert.equal(v.text(6), "é");
  assert.deepEqual([labelOf(v, 0), labelOf(v, 5), v.token(99)], ["<eos>", "·{", undefined]);
  assert.deepEqual(Vocabulary.fromDoc(doc()).token(0), ["", "<eos>"]);
});

test("queries read text, patterns, bytes and ids, and say what is wrong with others", () => {
  const v = table();
  const find = (text: string) => {
    const test = query(v, text);
    return typeof test === "string" ? test : texts.map((_, i) => i).filter(test);
  };
  assert.deepEqual(find("A"), [1, 2]);
  assert.deepEqual(find("É"), [6]);
  assert.deepEqual(find("EOS"), [0]);
  assert.deepEqual(find("re:^[0-9]+$"), [3, 4]);
  assert.deepEqual(find("hex:e2 9C"), [7]);
  assert.deepEqual(find("id:4"), [4]);
  assert.match(find("re:[") as string, /regular expression/);
  assert.match(find("hex:q") as string, /hex:/);
  assert.match(find("id:x") as string, /id:/);
});

test("groups hold counts and shares, the likeliest first", () => {
  const groups = groupTokens(table(), set([3, 4, 5]), "rule", "allowed", any);
  assert.deepEqual(groups.map((g) => [g.name, g.ids, Number(g.mass.toFixed(6))]), [["number", [3, 4], 0.8], ["(rule not known)", [5], 0.2]]);
  const rejected = groupTokens(table(), set([3]), "rule", "rejected", any);
  assert.deepEqual(rejected.map((g) => g.name), ["dies at its first byte", "begins as number, dies later", "end of the text, or special"]);
  assert.deepEqual(groupTokens(table(), set([3, 4]), "end", "allowed", any).map((g) => [g.name, g.ids]), [["the text may end after it", [3]], ["the text must go on after it", [4]]]);
  assert.deepEqual(groupTokens(table(), set([]), "length", "all", any).map((g) => g.name).sort(), ["1 byte", "2 bytes", "3 bytes", "special, or no bytes"]);
  assert.deepEqual(groupTokens(table(), set([]), "class", "allowed", any), []);
});

test("tokens that the stack decides about are a filter of their own", () => {
  const s = set([3]);
  assert.deepEqual(groupTokens(table(), s, "none", "stack", any), []);
  s.needs = Uint8Array.of(0b10_1000);
  assert.deepEqual(groupTokens(table(), s, "none", "stack", any).map((g) => g.ids), [[3, 5]]);
});

test("ids are sorted by likelihood, unknown ones last", () => {
  const s = set([]);
  s.before[4] = NaN;
  assert.deepEqual(byLikelihood([1, 4, 3, 2], s), [3, 1, 2, 4]);
  assert.equal(hasBit(Uint8Array.of(0, 1), 8), true);
  assert.equal(hasBit(Uint8Array.of(0), 80), false);
});

test("a large vocabulary is grouped in a moment", () => {
  const size = 128_256;
  const v = new Vocabulary(Array.from({ length: size }, (_, i) => `t${i}`), new Map());
  const s: TokenSet = { allowed: new Uint8Array(size / 8).fill(255), before: new Float32Array(size).fill(1 / size), kept: 1, rules: [], byByte: [], ends: null, needs: null };
  const started = performance.now();
  const groups = groupTokens(v, s, "class", "allowed", any);
  const ms = performance.now() - started;
  assert.equal(groups[0]!.ids.length, size);
  assert.ok(ms < 1000, `took ${ms} ms`);
});

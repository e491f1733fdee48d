import assert from "node:assert/strict";
import { test } from "node:test";
import { drawnFrom, drawnText, isPlain, settingsText } from "../src/sampling";
import type { Position, Row } from "../src/types";

const position = (after: number[], allowed = after.length): Position => ({ open: true, allowed, rows: after.map((p, i): Row => [i, p / 2, p, 1]) }) as Position;
const shares = (here: Position, settings: object) => [...(drawnFrom(here, settings)?.shares ?? [])].map(([id, share]) => [id, Number(share.toFixed(4))]);

test("temperature 0 takes the likeliest token, the first of equal ones", () => {
  assert.deepEqual(shares(position([0.3, 0.4, 0.3]), { temperature: 0 }), [[1, 1]]);
  assert.match(settingsText({ temperature: 0 }), /likeliest token is taken/);
});

test("a temperature raises probabilities to its inverse", () => {
  // 0.8² : 0.2² = 16 : 1
  assert.deepEqual(shares(position([0.8, 0.2]), { temperature: 0.5 }), [[0, 0.9412], [1, 0.0588]]);
  // √0.64 : √0.36 = 4 : 3
  assert.deepEqual(shares(position([0.64, 0.36]), { temperature: 2 }), [[0, 0.5714], [1, 0.4286]]);
});

test("top-k, then top-p, then min-p cut tokens off", () => {
  const here = position([0.4, 0.3, 0.2, 0.1]);
  assert.deepEqual(shares(here, { temperature: 1, top_k: 2 }), [[0, 0.5714], [1, 0.4286]]);
  assert.deepEqual(shares(here, { temperature: 1, top_p: 0.5 }), [[0, 0.5714], [1, 0.4286]]);
  // of the two that top-k leaves, the first alone has more than half
  assert.deepEqual(shares(here, { temperature: 1, top_k: 2, top_p: 0.5 }), [[0, 1]]);
  assert.deepEqual(shares(here, { temperature: 1, min_p: 0.6 }), [[0, 0.5714], [1, 0.4286]]);
  assert.equal(drawnFrom(here, { temperature: 1, min_p: 0.6 })?.kept, 2);
});

test("what was not recorded is not made up", () => {
  const cut = position([0.5, 0.3], 1000);
  assert.equal(drawnFrom(cut, { temperature: 1, top_p: 0.9 }), null);
  assert.equal(drawnFrom(cut, { temperature: 0.8 }), null);
  assert.match(drawnText(cut, { temperature: 0.8 }, null), /too few tokens were recorded/);
  assert.deepEqual(shares(cut, { temperature: 1, top_k: 2 }), [[0, 0.625], [1, 0.375]]);
  // what is left is too little to matter: 10^-6 in all
  const nearly = position([0.6, 0.399999], 1000);
  assert.deepEqual(shares(nearly, { temperature: 0.5 }), [[0, 0.6923], [1, 0.3077]]);
  assert.equal(drawnFrom(nearly, { temperature: 0.5 })?.kept, null);
});

test("what is drawn is said in one line", () => {
  const here = position([0.4, 0.3, 0.2, 0.1]);
  const say = (settings: object) => drawnText(here, settings, drawnFrom(here, settings));
  assert.equal(say({ temperature: 1, top_k: 2 }), "after the mask: temperature 1 → top-k 2: 2 tokens may be drawn, the likeliest with 57.1%");
  assert.equal(say({ temperature: 1, top_p: 0.3 }), "after the mask: temperature 1 → top-p 0.3: only the likeliest token is left");
  assert.equal(say({ temperature: 1 }), "after the mask: temperature 1: each allowed token is drawn with its probability after the mask");
  assert.equal(say({}), "");
});

test("settings that change nothing are known", () => {
  assert.ok(isPlain({ temperature: 1, top_k: null, top_p: 1, min_p: 0 }));
  assert.ok(!isPlain({ temperature: 1, top_k: 5 }));
  assert.equal(settingsText({ temperature: 0.7, top_k: 40, top_p: 0.9 }), "after the mask: temperature 0.7 → top-k 40 → top-p 0.9");
});

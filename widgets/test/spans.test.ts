import assert from "node:assert/strict";
import { test } from "node:test";
import { isSame, Spans } from "../src/spans";
import type { Token, Turn } from "../src/types";
import { position } from "./sample";
import cases from "../../tests/notebook/spans.json";

const along = (tokens: string[], turns: (Turn | null)[]) => {
  const path = [position(0, -1, null), ...tokens.map((_, i) => position(i + 1, i, i, { spans: turns[i] }))];
  const named = (text: string): Token => (text.startsWith("<") ? ["", text] : [text, null]);
  return new Spans(path, (id) => named(tokens[id]!));
};

for (const { name, tokens, turns, covers } of cases) {
  test(`spans over tokens: ${name}`, () => {
    const spans = along(tokens, turns as unknown as Turn[]);
    assert.deepEqual(
      spans.covers.map((around) => around.map((span) => span.label)),
      covers,
    );
  });
}

test("a span that is longer in a longer text is the same one", () => {
  const { tokens, turns } = cases[0]!;
  const whole = along(tokens, turns as unknown as Turn[]);
  const short = along(tokens.slice(0, 2), turns.slice(0, 2) as unknown as Turn[]);
  assert.ok(isSame(whole.covers[1]![0]!, short.covers[1]![0]!));
  assert.deepEqual(along(["a", "b"], [null, null]).covers, [[], []]);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import table from "../../tests/notation.json";
import percentages from "../../tests/notebook/percentages.json";
import { bits, byteName, byteQuoted, count, duration, joined, joinText, label, more, percent, pieces, plural } from "../src/format";

test("a probability is never printed as zero unless it is zero", () => {
  const cases: [number | null, string][] = [
    [null, "–"],
    [NaN, "–"],
    [0, "0%"],
    [1e-9, "<0.01%"],
    [0.00009999, "<0.01%"],
    [0.0001, "0.01%"],
    [0.0234, "2.3%"],
    [0.5, "50.0%"],
    [0.9987, "99.9%"],
    [0.9996, "99.96%"],
    [0.99995, ">99.99%"],
    [1, "100.0%"],
  ];
  for (const [p, text] of cases) assert.equal(percent(p), text);
});

test("percentages are those of Python's views", () => {
  for (const [p, text] of percentages as [number | null, string][]) assert.equal(percent(p), text);
});

test("what is left out of a list is said", () => {
  assert.deepEqual([more(43, 40, "frame"), more(1041, 1040, "frame"), more(2, 40, "frame")], ["3 more frames", "1 more frame", ""]);
  assert.deepEqual([joined([1, 2, 3, 4], 2), joined([1, 2], 2, " < "), joined([], 3)], ["1, 2 … 2 more", "1 < 2", ""]);
});

test("times carry a unit that fits", () => {
  assert.deepEqual([0, 0.0042, 0.041, 3.14, 57.4, 1234].map(duration), ["0", "4.2 µs", "41 µs", "3.1 ms", "57 ms", "1.23 s"]);
});

test("numbers and bits", () => {
  assert.equal(count(128256), "128,256");
  assert.deepEqual([-0, 1.25, 12.34, NaN].map(bits), ["0.00", "1.25", "12.3", "–"]);
  assert.deepEqual([plural(1, "state"), plural(1200, "state")], ["1 state", "1,200 states"]);
});

test("blanks are visible, bytes that are no text are boxed, characters are whole", () => {
  assert.equal(label([" a\n\tb\r", null]), "·a↵⇥b⟨0D⟩");
  assert.equal(label(["\xe2\x9c", null]), "⟨E2 9C⟩");
  assert.equal(label(["x\xff\xc3\xa9\x80", null]), "x⟨FF⟩é⟨80⟩");
  assert.equal(label(["\x00\x7f", null]), "⟨00 7F⟩");
  assert.equal(label(["\xf0\x9f\x98\x80", null]), "😀");
  assert.equal(label(["", "<|im_end|>"]), "<|im_end|>");
  assert.equal(label(undefined), "?");
});

test("invisible characters are shown as bytes", () => {
  assert.equal(label(["\xe2\x80\x8b", null]), "⟨E2 80 8B⟩"); // zero width space
  assert.equal(label(["\xe2\x80\xae", null]), "⟨E2 80 AE⟩"); // right-to-left override
  assert.equal(label(["\xc2\xa0", null]), "⟨C2 A0⟩"); // no-break space
  assert.equal(label(["\xef\xbb\xbf", null]), "⟨EF BB BF⟩"); // byte order mark
});

test("markup stays text", () => {
  assert.deepEqual(pieces(["</script><!--", null]), [{ kind: "text", text: "</script><!--" }]);
});

test("characters cut between tokens are joined again", () => {
  assert.equal(joinText([["\xc3", null], ["\xa9", null], ["", "<eos>"]]), "é");
});

test("bytes are written as everywhere else in the workbench", () => {
  for (const [hex, text] of table.texts) {
    const latin1 = (hex!.match(/../g) ?? []).map((pair) => String.fromCharCode(parseInt(pair, 16))).join("");
    if (latin1) assert.equal(label([latin1, null]), text);
  }
  for (const [byte, name, quoted] of table.bytes as [number, string, string][]) {
    assert.equal(byteName(String.fromCharCode(byte)), name);
    assert.equal(byteQuoted(String.fromCharCode(byte)), quoted);
  }
});

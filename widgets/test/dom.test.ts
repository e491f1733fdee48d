import assert from "node:assert/strict";
import { test } from "node:test";
import { nameFor } from "../src/dom";

test("the name of a control holds what is seen", () => {
  const cases: [seen: string, wanted: string, name: string][] = [
    ["fit", "Fit the graph (0)", "Fit the graph (0)"],
    ["run", "Run to a choice", "Run to a choice"],
    ["go to live", "Go to the live states", "go to live: Go to the live states"],
    ["+ add", "Add an example", "Add an example"],
    ["|◀", "First position", "First position"],
    ["✕", "Remove", "Remove"],
    ["◉ list ✕", "Clear the breakpoint at list", "Clear the breakpoint at list"],
    ["fold", "Unfold all", "fold: Unfold all"],
    ["größe", "Go to größe", "Go to größe"],
  ];
  for (const [seen, wanted, name] of cases) assert.equal(nameFor(seen, wanted), name);
});

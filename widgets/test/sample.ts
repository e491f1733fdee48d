import type { Doc, Edge, Position } from "../src/types";

export function position(id: number, parent: number, token: number | null, more: Partial<Position> = {}): Position {
  const edge: Edge | null = token === null ? null : { token, kind: "sampled", before: 0.25, after: 0.5, rank: 0 };
  return {
    id,
    parent,
    edge,
    open: true,
    allowed: 2,
    massRemoved: 0.5,
    entropyBefore: 2,
    entropyAfter: 1,
    rows: [],
    accepting: false,
    live: [],
    stacks: [],
    graph: "",
    mask: "",
    times: null,
    next: null,
    end: null,
    whys: {},
    ...more,
  };
}

/** main: 0 -1- 1 -2- 2 -3- 3; a branch at 1: 1 -5- 4. */
export function doc(more: Partial<Doc> = {}): Doc {
  return {
    version: 2,
    title: "t",
    meta: {},
    vocabularySize: 6,
    prompt: [],
    promptText: "",
    tokens: { 0: ["", "<eos>"], 1: ["a", null], 2: ["ab", null], 3: ["\xc3\xa9", null], 4: ["\xe2\x9c", null], 5: ["B", null] },
    positions: [position(0, -1, null), position(1, 0, 1, { allowed: 1 }), position(2, 1, 2), position(3, 2, 3, { open: false, end: "eos" }), position(4, 1, 5)],
    graphs: {},
    masks: {},
    complete: false,
    problem: null,
    rules: {},
    panels: {},
    ...more,
  };
}

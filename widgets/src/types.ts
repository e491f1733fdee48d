// The document that Python writes (workbench/notebook/views.py) and this front end only reads.

/** A row of the candidate table: token id, probability before and after the mask, 1 if allowed. */
export type Row = [id: number, before: number | null, after: number | null, allowed: 0 | 1];

export interface Frame {
  state: number;
  rules: string[];
  count: number | null;
}

/** How a position was reached from its parent. */
export interface Edge {
  token: number;
  kind: "sampled" | "forced" | "chosen" | "eos";
  before: number;
  after: number;
  rank: number;
}

export interface Times {
  mask: number;
  hidden: number;
  exposed: number;
  forward: number;
  sample: number;
}

/** Why a token is allowed or not: how many of its bytes live, and one sentence. */
export interface Why {
  consumed: number;
  reason: string;
  expected: string;
}

/** One position of the run: what is known before the next token is taken. */
export interface Position {
  id: number;
  parent: number;
  edge: Edge | null;
  /** False where the run ended: there are no candidates then. */
  open: boolean;
  allowed: number;
  massRemoved: number;
  entropyBefore: number;
  entropyAfter: number;
  rows: Row[];
  accepting: boolean;
  live: number[];
  stacks: Frame[][];
  graph: string;
  mask: string;
  times: Times | null;
  /** The token that the sampler would take, where that is known. */
  next: number | null;
  end: string | null;
  whys: Record<string, Why>;
}

export interface Graph {
  dot: string;
  /** Transitions as [source, label, target]. */
  edges: [number, string, number][];
  /** States in which a rule may end. */
  final: number[];
  /** How many states are left out of the picture. */
  hidden: number;
  states: number;
}

/** Token bytes as a string of code points 0..255, or a special token's name. */
export type Token = [bytes: string, special: string | null];

export interface Problem {
  kind: string;
  message: string;
}

export interface Doc {
  version: number;
  title: string;
  meta: Record<string, string>;
  vocabularySize: number;
  prompt: number[];
  promptText: string;
  tokens: Record<string, Token>;
  positions: Position[];
  graphs: Record<string, Graph>;
  /** Allowed tokens as runs [start, length, ...] over the ids ordered by (bytes, id). */
  masks: Record<string, number[]>;
  /** True when `tokens` holds the whole vocabulary and `masks` every mask. */
  complete: boolean;
  problem: Problem | null;
}

/** What changed: positions replace those with the same id. */
export interface Change {
  positions: Position[];
  tokens: Record<string, Token>;
  graphs: Record<string, Graph>;
  cursor: number;
  problem: Problem | null;
}

export interface Found {
  rows: Row[];
  /** How many tokens match in all; more than `rows.length` when the list was cut. */
  total: number;
  /** Tokens that the answer gives names to. */
  tokens?: Record<string, Token>;
  note?: string;
}

export type Command =
  | { type: "step"; node: number }
  | { type: "take"; node: number; token: number }
  | { type: "run"; node: number; until: "branching" | "end" }
  | { type: "stop" }
  | { type: "undo" }
  | { type: "why"; node: number; token: number };

/** What the front end runs on: a kernel behind a widget, or a recorded run. */
export interface Host {
  command(command: Command): void;
  search(position: Position, query: string, allowedOnly: boolean): Promise<Found>;
  moved(cursor: number): void;
}

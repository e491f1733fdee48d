// The document that Python writes (workbench/notebook/views.py) and this front end only reads.

/** A row of the candidate table: token id, probability before and after the mask, 1 if allowed. */
export type Row = [id: number, before: number | null, after: number | null, allowed: 0 | 1];

/** An open part of the grammar, as a stack holds it (workbench/automaton/frames.py). */
export interface Frame {
  /** On top of a stack the state that the text stands in, below it the one that the call returns to; negative where there is none. */
  state: number;
  rules: string[];
  /** How often a counted part was read; of a frame that stands for the deep end of a stack, how many it stands for. */
  count: number | null;
  /** The states that the next round of a counted part begins in. */
  again?: number[];
  /** The part in the author's words, where the text was read with the author's grammar, and how far it was read. */
  told?: string;
  place?: string;
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

/** One byte of a token: what became of it, the live states before it, the open parts, innermost first. */
export type WhyCell = [status: "consumed" | "fatal" | "not reached", states: number[], stack: Frame[]];

/** Where the text stands between two bytes of a token: live states, stacks, key of the picture. */
export type Inside = [live: number[], stacks: Frame[][], graph: string];

/** A span of the text: what it is called, where it is written, its bytes (the end is null while it is open), how many are around it. */
export type SpanParts = [label: string, kind: string, path: string, start: number, end: number | null, depth: number];

/** What a token did to the open spans: the outermost ones that still are, those opened inside them, those that had ended before it, those that ended in it. */
export type Turn = [kept: number, opened: SpanParts[], left: SpanParts[], closed: SpanParts[]];

/** Why a token is allowed or not: how many of its bytes live, and one sentence; byte by byte where it was asked for. */
export interface Why {
  consumed: number;
  reason: string;
  expected: string;
  cells?: WhyCell[];
  /** Allowed tokens that begin alike. */
  nearest?: number[];
  note?: string;
  /** Before each byte that was reached, and after the last where all may come. */
  inside?: Inside[];
}

/** Where the text stands at the cursor, between two tokens or two bytes; what the picture and the stacks show. */
export interface Standing {
  live: number[];
  stacks: Frame[][];
  /** How many stacks are live, where that is known and more than are listed. */
  stackCount?: number;
  graph: string;
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
  /** Live stacks in all, of which `stacks` are the first; 1,000 where there are so many or more. */
  stackCount?: number;
  graph: string;
  mask: string;
  times: Times | null;
  /** The token that the sampler would take, where that is known. */
  next: number | null;
  end: string | null;
  /** Null where the grammar is not known. */
  spans?: Turn | null;
  whys: Record<string, Why>;
}

export interface Graph {
  dot: string;
  /** The states that the picture shows. */
  shown: number[];
  /** Transitions as [source, label, target, 1 if a rule is read on the way]. */
  edges: [number, string, number, 0 | 1][];
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
  /** The author's rule of each state that a graph shows. */
  rules: Record<string, string>;
  /** How tokens are drawn after the mask; empty where it was not recorded. */
  sampling?: Sampling;
  /** What the screens beside the stepper show. */
  panels: Panels;
  /** The runs of this panel, where there are several. */
  runs?: Runs | null;
}

/** All runs by name, which of them is shown, and the others as they were left. */
export interface Runs {
  at: number;
  names: string[];
  others: Record<string, { payload?: string; doc?: Doc; cursor: number }>;
}

export interface Sampling {
  /** 0 takes the likeliest token. */
  temperature?: number;
  top_k?: number | null;
  top_p?: number | null;
  min_p?: number | null;
}

/** What changed: positions replace those with the same id. */
export interface Change {
  positions: Position[];
  tokens: Record<string, Token>;
  graphs: Record<string, Graph>;
  rules: Record<string, string>;
  cursor: number;
  problem: Problem | null;
}

/** Answers of the kernel that a notebook keeps, by screen. */
export interface Panels {
  grammar?: Checked;
  dead?: DeadReport;
  export?: ExportReport;
  tokens?: { node: number; allowed: number; groups: { name: string; count: number; mass: number; samples: number[] }[] };
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
  | { type: "run"; node: number; until: Until; mass: number; depth: number; breaks: string[] }
  | { type: "stop" }
  | { type: "undo" }
  | { type: "why"; node: number; token: number };

/** What a run goes on to. */
export type Until = "branching" | "mass" | "depth" | "rule" | "end";

/** An answer to a question, with binary data. */
export interface Answer<T> {
  answer: T & { error?: string; overtaken?: boolean };
  buffers: DataView[];
}

/** What the front end runs on: a kernel behind a widget, or a recorded run. */
export interface Host {
  command(command: Command): void;
  search(position: Position, query: string, allowedOnly: boolean): Promise<Found>;
  moved(cursor: number): void;
  /** Ask the kernel; rejects where there is none. */
  ask<T>(about: string, details?: Record<string, unknown>): Promise<Answer<T>>;
  /** Turn to another run of the panel. */
  turn?(run: number): void;
  /** Tell the kernel which screen is shown. */
  shown?(tab: string): void;
}

/** An error in a grammar text, as offsets in characters. */
export interface Mistake {
  message: string;
  kind: string;
  line: number | null;
  column: number | null;
  start: number | null;
  end: number | null;
  hint: string;
  pointer: string;
}

export interface Example {
  text: string;
  /** What it should be. */
  want: "match" | "not" | "prefix";
}

/** What became of an example: `ok` when it is what it should be; the first byte that may not come, if any. */
export interface Verdict extends Example {
  ok: boolean;
  /** The verdict is that of an earlier text: this one has an error. */
  stale?: boolean;
  verdict: string;
  failing: number | null;
  byte: string;
  expected: string;
  /** What may come where it stops, by the rule that reads it. */
  ways?: Way[];
}

/** Bytes that a rule reads, and where the rule stands in the grammar's text. */
export interface Way {
  label: string;
  rule: string;
  start: number | null;
  end: number | null;
}

/** A warning about a stretch of the text; `fix` is a text to put there, `does` says what that edit is. */
export interface Hint {
  message: string;
  start: number;
  end: number;
  fix: string | null;
  does: string;
  /** False where no text can be written at all. */
  warning: boolean;
}

/** One kind of restriction: in how many places, and the first of them. */
export interface Outcome {
  status: string;
  keyword: string;
  detail: string;
  places: number;
  pointers: string[];
}

/** The answer to a grammar text. */
export interface Checked {
  text: string;
  kind: string;
  ok: boolean;
  ms: number;
  states: number | null;
  rules: number | null;
  /** Whether the text is the grammar of the run that is shown. */
  in_use?: boolean;
  mistakes: Mistake[];
  hints: Hint[];
  /** What of a schema is not enforced as written, by kind. */
  outcomes: Outcome[];
  /** What was left out of the check. */
  notes?: string[];
  examples: Verdict[];
}

export interface FindingView {
  kind: string;
  title: string;
  sentence: string;
  facts: [name: string, value: string][];
  warning: boolean;
  /** What it was found in: the grammar or the trace. */
  subject: string;
  /** The whole text of the grammar with the suggested edit made. */
  edited?: string | null;
  /** Step of the run where an escape still existed, where the finding belongs to the run. */
  step: number | null;
  suggestion: string;
  diff: string;
  effect: string;
}

export interface DeadReport {
  note: string;
  ms: number;
  /** Kind of the grammar that was searched. */
  kind?: string;
  /** What each report is about, how many findings it has in words, and how many of them are errors. */
  summaries?: [subject: string, text: string, errors: number][];
  findings: FindingView[];
}

export interface ExportReport {
  path: string;
  dry: boolean;
  ok: boolean;
  /** Whether a file of that name was there before. */
  exists?: boolean;
  notes?: string[];
  reasons: string[];
  files: [name: string, size: number, hash: string][];
  note: string;
}

// Spans of the text: which part of the grammar each stretch of it belongs to, in the author's words.
//
// Each position says what the token before it did to the open spans (workbench/diagnostics/author/spans.py); along a path
// they become a tree over the tokens. A token that ends one span and begins the next one belongs to the first.
import type { Position, SpanParts, Token } from "./types";

export interface Span {
  label: string;
  kind: string;
  path: string;
  /** The offset of its first byte. */
  start: number;
  depth: number;
  /** The span that it lies in. */
  inside: Span | null;
  /** Its first and its last token, counted from 0; of one that is open no last one is known. */
  from: number;
  to: number;
  /** Which of the colours it has. */
  hue: number;
  /** How many spans lie in each other in it. */
  height: number;
}

export const HUES = 6;

/** Whether two spans are the same one, of a text that was read before and again when it was longer. */
export function isSame(a: Span, b: Span): boolean {
  return a === b || (a.start === b.start && a.path === b.path && a.label === b.label && a.depth === b.depth && a.from === b.from);
}

export class Spans {
  /** For each position the spans that are open there, outermost first. */
  readonly open: Span[][] = [];
  /** For each token the spans around it, outermost first. */
  readonly covers: Span[][];
  private hues = new Map<string, number>();

  constructor(path: Position[], token: (id: number) => Token | undefined) {
    const all = new Set<Span>();
    const offsets: number[] = [];
    let end = 0;
    path.forEach(({ edge, spans }, at) => {
      const k = at - 1;
      if (edge) {
        offsets.push(end);
        const found = token(edge.token);
        if (found && found[1] === null) end += found[0].length;
      }
      if (!spans || !edge) return void this.open.push([]);
      const [kept, opened, left, closed] = spans;
      const before = this.open[k]!;
      const now = before.slice(0, kept);
      const going = new Set(before.slice(kept));
      const here: Span[] = [...now];
      const find = (parts: SpanParts): Span => {
        const [label, kind, name, start, , depth] = parts;
        for (const span of going) {
          if (span.start !== start || span.path !== name) continue;
          going.delete(span);
          span.depth = depth;
          return span;
        }
        const inside = here.findLast((span) => span.depth === depth - 1) ?? null;
        const span = { label, kind, path: name, start, depth, inside, from: tokenAt(offsets, start, k), to: Infinity, hue: this.hue(label), height: 0 };
        all.add(span);
        return span;
      };
      for (const parts of left) find(parts).to = tokenAt(offsets, parts[4]! - 1, k - 1);
      for (const parts of [...closed].sort((a, b) => a[5] - b[5] || a[3] - b[3])) {
        const span = find(parts);
        span.to = k;
        here.push(span);
      }
      for (const parts of opened) {
        const span = find(parts);
        now.push(span);
        here.push(span);
      }
      // What is left over never was there, by the way in which the text is read now.
      for (const span of going) all.delete(span);
      this.open.push(now);
    });
    this.covers = covers([...all], path.length - 1);
  }

  private hue(label: string): number {
    const known = this.hues.get(label) ?? this.hues.size % HUES;
    this.hues.set(label, known);
    return known;
  }
}

/** The token that a byte lies in, of those up to the token `last`; special tokens have no bytes. */
function tokenAt(offsets: number[], byte: number, last: number): number {
  let at = last;
  while (at > 0 && offsets[at]! > byte) at--;
  return at;
}

function covers(all: Span[], tokens: number): Span[][] {
  const found: Span[][] = Array.from({ length: Math.max(0, tokens) }, () => []);
  all.sort((a, b) => a.depth - b.depth || a.start - b.start);
  for (const span of all) {
    for (let at = span.inside, height = 1; at && at.height < height; at = at.inside, height++) at.height = height;
    const to = Math.min(span.to, tokens - 1);
    for (let k = span.from; k <= to; k++) {
      const chain = found[k]!;
      if (chain.length === span.depth && (chain.at(-1) ?? null) === span.inside) chain.push(span);
    }
  }
  return found;
}

// Search in a recorded run: over the whole vocabulary when the document holds it, else over its rows.
import { plainText } from "./format";
import { ordered } from "./store";
import type { Doc, Found, Position, Row, Token } from "./types";

const LIMIT = 200;

/** A test for "text", "id:17" or "hex:e2 9c"; null when the query cannot be read. */
export function matcher(query: string): ((id: number, token: Token) => boolean) | null {
  if (query.startsWith("id:")) {
    const wanted = query.slice(3).trim();
    return /^\d+$/.test(wanted) ? (id) => id === Number(wanted) : null;
  }
  if (query.startsWith("hex:")) {
    const digits = query.slice(4).replace(/\s+/g, "");
    if (!digits || digits.length % 2 || /[^0-9a-f]/i.test(digits)) return null;
    const wanted = digits.match(/../g)!.map((pair) => String.fromCharCode(parseInt(pair, 16))).join("");
    return (_, token) => token[1] === null && token[0].includes(wanted);
  }
  const wanted = query.toLowerCase();
  const latin1 = [...new TextEncoder().encode(wanted)].map((byte) => String.fromCharCode(byte)).join("");
  return (_, token) => (token[1] ?? token[0]).toLowerCase().includes(latin1) || plainText(token).toLowerCase().includes(wanted);
}

/** Ids ordered by (bytes, id); special tokens have no bytes and come first, padding is left out. */
export function byteOrder(doc: Doc): number[] {
  const key = (id: number) => (doc.tokens[id]?.[1] === null ? doc.tokens[id]![0] : "");
  return Object.keys(doc.tokens)
    .map(Number)
    .filter((id) => id < doc.vocabularySize)
    .sort((a, b) => {
      const x = key(a);
      const y = key(b);
      return x < y ? -1 : x > y ? 1 : a - b;
    });
}

export class RecordedSearch {
  private order: number[] | null = null;
  constructor(private doc: Doc) {}

  /** The ids that a position allows; null when its mask was not recorded. */
  allowed(position: Position): Set<number> | null {
    const runs = this.doc.masks[position.mask];
    if (!this.doc.complete || !runs) return null;
    this.order ??= byteOrder(this.doc);
    const ids = new Set<number>();
    for (let i = 0; i + 1 < runs.length; i += 2) {
      for (let k = runs[i]!; k < runs[i]! + runs[i + 1]!; k++) ids.add(this.order[k]!);
    }
    return ids;
  }

  find(position: Position, query: string, allowedOnly: boolean): Found {
    const match = matcher(query);
    if (!match) return { rows: [], total: 0, note: "write id: and a number, or hex: and pairs of digits" };
    const known = new Map(position.rows.map((row) => [row[0], row]));
    const allowed = this.allowed(position);
    const ids = allowed ? Object.keys(this.doc.tokens).map(Number) : [...known.keys()];
    const rows: Row[] = [];
    for (const id of ids) {
      const token = this.doc.tokens[id];
      if (!token || !match(id, token)) continue;
      const row = known.get(id) ?? ([id, null, null, allowed?.has(id) ? 1 : 0] as Row);
      if (!allowedOnly || row[3]) rows.push(row);
    }
    const found: Found = { rows: ordered(rows).slice(0, LIMIT), total: rows.length };
    if (!allowed) found.note = `searched the ${ids.length} recorded tokens; the whole vocabulary needs a kernel`;
    else if (rows.some((row) => row[1] === null)) found.note = "a dash: the probability was too small to be recorded";
    return found;
  }
}

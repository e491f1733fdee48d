// The whole vocabulary in the page, and the set of allowed tokens at a position: grouping, searching, sorting.
import { label, toBytes } from "./format";
import type { Doc, Token } from "./types";

export interface VocabularyAnswer {
  size: number;
  special: Record<string, string>;
}

export interface MaskAnswer {
  allowed: number;
  /** The probability that the mask leaves. */
  kept: number;
  rules: string[];
  /** For each first byte the index of its rule, or -1. */
  byByte: number[];
  ended?: boolean;
}

export class Vocabulary {
  private texts: (string | null)[] = [];

  constructor(
    /** The bytes of each token as code points 0..255. */
    readonly bytes: string[],
    readonly special: Map<number, string>,
  ) {}

  static fromAnswer(answer: VocabularyAnswer, blob: Uint8Array, offsets: Int32Array): Vocabulary {
    const decoder = new TextDecoder("latin1");
    const bytes = new Array<string>(answer.size);
    // windows-1252, which "latin1" means here, differs from latin1 between 0x80 and 0x9F: those go one by one.
    for (let i = 0; i < answer.size; i++) {
      const part = blob.subarray(offsets[i]!, offsets[i + 1]!);
      let plain = true;
      for (const byte of part) if (byte >= 0x80 && byte < 0xa0) plain = false;
      bytes[i] = plain ? decoder.decode(part) : String.fromCharCode(...part);
    }
    return new Vocabulary(bytes, new Map(Object.entries(answer.special).map(([id, name]) => [Number(id), name])));
  }

  /** From a record that holds the whole vocabulary, or only some of its tokens. */
  static fromDoc(doc: Doc): Vocabulary {
    const bytes: string[] = [];
    const special = new Map<number, string>();
    for (const [key, [text, name]] of Object.entries(doc.tokens)) {
      const id = Number(key);
      bytes[id] = text;
      if (name !== null) special.set(id, name);
    }
    return new Vocabulary(bytes, special);
  }

  get size(): number {
    return this.bytes.length;
  }

  token(id: number): Token | undefined {
    const bytes = this.bytes[id];
    const special = this.special.get(id);
    return bytes === undefined ? undefined : [special === undefined ? bytes : "", special ?? null];
  }

  text(id: number): string {
    return (this.texts[id] ??= this.special.get(id) ?? new TextDecoder().decode(toBytes(this.bytes[id] ?? "")));
  }
}

/** A test for "text", "re:^a", "id:17" or "hex:e2 9c"; a text says why it cannot be read. */
export function query(vocabulary: Vocabulary, text: string): ((id: number) => boolean) | string {
  const wanted = text.trim();
  if (wanted.startsWith("id:")) {
    const id = wanted.slice(3).trim();
    return /^\d+$/.test(id) ? (at) => at === Number(id) : "write id: and a number";
  }
  if (wanted.startsWith("hex:")) {
    const digits = wanted.slice(4).replace(/\s+/g, "");
    if (!digits || digits.length % 2 || /[^0-9a-f]/i.test(digits)) return "write hex: and pairs of digits";
    const bytes = digits.match(/../g)!.map((pair) => String.fromCharCode(parseInt(pair, 16))).join("");
    return (id) => !vocabulary.special.has(id) && vocabulary.bytes[id]!.includes(bytes);
  }
  if (wanted.startsWith("re:")) {
    try {
      const pattern = new RegExp(wanted.slice(3), "u");
      return (id) => pattern.test(vocabulary.text(id));
    } catch (error) {
      return `this is no regular expression: ${error instanceof Error ? error.message : String(error)}`;
    }
  }
  const lower = wanted.toLowerCase();
  const latin1 = [...new TextEncoder().encode(lower)].map((byte) => String.fromCharCode(byte)).join("");
  const ascii = latin1 === lower;
  return (id) => {
    const special = vocabulary.special.get(id);
    if (special !== undefined) return special.toLowerCase().includes(lower);
    return ascii ? vocabulary.bytes[id]!.toLowerCase().includes(latin1) : vocabulary.text(id).toLowerCase().includes(lower);
  };
}

export type Grouping = "rule" | "class" | "length" | "end" | "none";
export type Filter = "allowed" | "rejected" | "stack" | "all";

/** What is known of all tokens at one position. */
export interface TokenSet {
  allowed: Uint8Array;
  /** Probability before the mask, by id; NaN where it was not recorded. */
  before: Float32Array;
  kept: number;
  rules: string[];
  byByte: number[];
  /** Packed bits by id: the text may end after the token; null while unknown. */
  ends: Uint8Array | null;
  /** Packed bits by id: the stack decides about the token; null while unknown. */
  needs: Uint8Array | null;
}

export const hasBit = (bits: Uint8Array, id: number): boolean => ((bits[id >> 3] ?? 0) >> (id & 7)) % 2 === 1;

export interface Group {
  name: string;
  ids: number[];
  /** Share of the probability: after the mask for allowed tokens, before it for others. */
  mass: number;
}

function byteClass(byte: number | undefined): string {
  if (byte === undefined) return "special, or no bytes";
  if (byte >= 0x80) return "not ASCII";
  const character = String.fromCharCode(byte);
  if (/[a-z]/.test(character)) return "small letter";
  if (/[A-Z]/.test(character)) return "capital letter";
  if (/[0-9]/.test(character)) return "digit";
  if (/[ \t\r\n]/.test(character)) return "blank";
  if (byte < 0x20 || byte === 0x7f) return "control character";
  return "punctuation";
}

function lengthClass(length: number): string {
  if (length === 0) return "special, or no bytes";
  if (length <= 4) return length === 1 ? "1 byte" : `${length} bytes`;
  return length <= 8 ? "5 to 8 bytes" : "9 bytes and more";
}

/** The name of a token's group. */
export function groupName(vocabulary: Vocabulary, set: TokenSet, by: Grouping, id: number): string {
  const bytes = vocabulary.special.has(id) ? "" : vocabulary.bytes[id]!;
  switch (by) {
    case "rule": {
      if (!bytes) return "end of the text, or special";
      const rule = set.rules[set.byByte[bytes.charCodeAt(0)] ?? -1];
      if (rule !== undefined) return hasBit(set.allowed, id) ? rule : `begins as ${rule}, dies later`;
      return hasBit(set.allowed, id) ? "(rule not known)" : "dies at its first byte";
    }
    case "class":
      return byteClass(bytes ? bytes.charCodeAt(0) : undefined);
    case "length":
      return lengthClass(bytes.length);
    case "end":
      if (!hasBit(set.allowed, id)) return "rejected";
      return set.ends && hasBit(set.ends, id) ? "the text may end after it" : "the text must go on after it";
    case "none":
      return "tokens";
  }
}

/** Tokens that pass the filter and the query, in groups, the likeliest group first. */
export function groupTokens(vocabulary: Vocabulary, set: TokenSet, by: Grouping, filter: Filter, test: (id: number) => boolean): Group[] {
  const groups = new Map<string, Group>();
  for (let id = 0; id < vocabulary.size; id++) {
    if (vocabulary.bytes[id] === undefined) continue;
    const on = hasBit(set.allowed, id);
    if ((filter === "allowed" && !on) || (filter === "rejected" && on) || !test(id)) continue;
    if (filter === "stack" && !(set.needs && hasBit(set.needs, id))) continue;
    const name = groupName(vocabulary, set, by, id);
    let group = groups.get(name);
    if (!group) groups.set(name, (group = { name, ids: [], mass: 0 }));
    group.ids.push(id);
    const p = set.before[id]!;
    if (p > 0) group.mass += on && filter === "allowed" ? p / (set.kept || 1) : p;
  }
  return [...groups.values()].sort((a, b) => b.mass - a.mass || b.ids.length - a.ids.length);
}

/** Sort ids by probability, the likeliest first; in place. */
export function byLikelihood(ids: number[], set: TokenSet): number[] {
  const weight = (id: number) => (Number.isNaN(set.before[id]!) ? -1 : (set.before[id] ?? -1));
  return ids.sort((a, b) => weight(b) - weight(a) || a - b);
}

/** The first few of the ids by likelihood, without ordering all of them. */
export function likeliest(ids: number[], set: TokenSet, most: number): number[] {
  let best: number[] = [];
  for (const id of ids) {
    best.push(id);
    if (best.length > 64 + most) best = byLikelihood(best, set).slice(0, most);
  }
  return byLikelihood(best, set).slice(0, most);
}

/** A token as one printable text. */
export function labelOf(vocabulary: Vocabulary, id: number): string {
  return label(vocabulary.token(id));
}

// Numbers and token texts as people read them.
import type { Token } from "./types";

/** A share as a percentage: a tiny one is never printed as nothing, nor an almost whole one as the whole. */
export function percent(p: number | null): string {
  if (p === null || Number.isNaN(p)) return "–";
  if (p <= 0) return "0%";
  if (p < 0.0001) return "<0.01%";
  if (p > 0.9999 && p < 1) return ">99.99%";
  // Near the whole it is the rest that counts: 99.97% is not 100%.
  return `${(p * 100).toFixed(p < 0.01 || (p > 0.999 && p < 1) ? 2 : 1)}%`;
}

/** A time given in milliseconds. */
export function duration(ms: number): string {
  if (ms >= 1000) return `${(ms / 1000).toFixed(2)} s`;
  if (ms >= 10) return `${ms.toFixed(0)} ms`;
  if (ms >= 1) return `${ms.toFixed(1)} ms`;
  const us = ms * 1000;
  if (us >= 10) return `${us.toFixed(0)} µs`;
  return us > 0 ? `${us.toFixed(1)} µs` : "0";
}

export function count(n: number): string {
  return n.toLocaleString("en-US");
}

export function bits(n: number): string {
  return Number.isFinite(n) ? Math.abs(n).toFixed(n < 10 ? 2 : 1) : "–";
}

export function plural(n: number, word: string): string {
  return `${count(n)} ${word}${n === 1 ? "" : "s"}`;
}

/** What is left out of a list; empty where nothing is. */
export function more(total: number, shown: number, word: string): string {
  return total > shown ? plural(total - shown, `more ${word}`) : "";
}

/** The first items as one text, with the number of those left out. */
export function joined(items: readonly unknown[], most: number, separator = ", "): string {
  const rest = items.length > most ? ` … ${count(items.length - most)} more` : "";
  return items.slice(0, most).join(separator) + rest;
}

/** A text of at most so many characters. */
export function shorten(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

/** A piece of a token: text as it is, a mark for a character that has no shape, or bytes in hexadecimal. */
export interface Piece {
  text: string;
  kind: "text" | "mark" | "hex" | "special";
}

/** The same signs as in workbench/wording.py; tests/notation.json holds examples for both. */
const MARKS: Record<string, string> = { " ": "·", "\n": "↵", "\t": "⇥" };
/** What is shown by its bytes: what does not print, joins its neighbour, or is a sign of this notation. */
const HIDDEN = /[\p{C}\p{Z}\p{M}·↵⇥⟨⟩]/u;
const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Length of the UTF-8 character that starts at `start`, or 0 when the bytes there are not one. */
function characterLength(bytes: Uint8Array, start: number): number {
  for (let size = 1; size <= 4 && start + size <= bytes.length; size++) {
    try {
      strict.decode(bytes.subarray(start, start + size));
      return size;
    } catch {
      continue;
    }
  }
  return 0;
}

export function toBytes(latin1: string): Uint8Array {
  return Uint8Array.from(latin1, (c) => c.charCodeAt(0));
}

const split = new WeakMap<Token, Piece[]>();

/** Split a token into pieces; blanks become marks, what is no UTF-8 or not printable becomes hexadecimal. */
export function pieces(token: Token | undefined): Piece[] {
  if (!token) return [{ text: "?", kind: "special" }];
  let found = split.get(token);
  if (!found) split.set(token, (found = cut(token)));
  return found;
}

function cut([latin1, special]: Token): Piece[] {
  if (special !== null) return [{ text: special, kind: "special" }];
  if (/^[!-~]+$/.test(latin1)) return [{ text: latin1, kind: "text" }];
  const bytes = toBytes(latin1);
  const found: Piece[] = [];
  const add = (kind: Piece["kind"], text: string, joiner = "") => {
    const last = found[found.length - 1];
    if (last && last.kind === kind) last.text += joiner + text;
    else found.push({ kind, text });
  };
  for (let i = 0; i < bytes.length; ) {
    const size = characterLength(bytes, i);
    const character = size ? strict.decode(bytes.subarray(i, i + size)) : "";
    if (!size || (!MARKS[character] && HIDDEN.test(character))) {
      for (const byte of bytes.subarray(i, i + Math.max(size, 1))) {
        add("hex", byte.toString(16).toUpperCase().padStart(2, "0"), " ");
      }
    } else if (MARKS[character]) add("mark", MARKS[character]!);
    else add("text", character);
    i += Math.max(size, 1);
  }
  return found.length ? found : [{ text: "(empty)", kind: "special" }];
}

/** A token as one printable text; bytes that are no text are boxed. */
export function label(token: Token | undefined): string {
  return pieces(token)
    .map((piece) => (piece.kind === "hex" ? `⟨${piece.text}⟩` : piece.text))
    .join("");
}

/** One byte as a sign: a printable character, a sign for a blank, else hexadecimal. */
export function byteName(byte: string): string {
  return label([byte, null]);
}

/** One byte in a sentence: its sign in quotes, hexadecimal without. */
export function byteQuoted(byte: string): string {
  const name = byteName(byte);
  if (name.startsWith("⟨")) return name;
  return name === "'" ? `"${name}"` : `'${name}'`;
}

/** The text that a search looks at. */
export function plainText(token: Token | undefined): string {
  if (!token) return "";
  return token[1] ?? new TextDecoder().decode(toBytes(token[0]));
}

/** The bytes of all tokens as text, for copying. */
export function joinText(tokens: (Token | undefined)[]): string {
  const latin1 = tokens.map((token) => (token && token[1] === null ? token[0] : "")).join("");
  return new TextDecoder().decode(toBytes(latin1));
}

// From the wire to a document: the payload is JSON, deflated in zlib's form; changes follow it in pieces.
import type { Change, Doc, Panels } from "./types";

export async function inflate(data: Uint8Array<ArrayBuffer>): Promise<string> {
  const stream = new Blob([data]).stream().pipeThrough(new DecompressionStream("deflate"));
  return await new Response(stream).text();
}

export async function decodeDocument(data: Uint8Array<ArrayBuffer>): Promise<Doc> {
  const doc = JSON.parse(await inflate(data)) as Doc;
  if (doc.version !== 2) throw new Error(`this page reads documents of version 2, not ${doc.version}`);
  return doc;
}

/** Put a change into a document. */
export function apply(doc: Doc, change: Change): void {
  Object.assign(doc.tokens, change.tokens);
  Object.assign(doc.graphs, change.graphs);
  Object.assign(doc.rules, change.rules);
  for (const position of change.positions) doc.positions[position.id] = position;
  doc.problem = change.problem;
}

const SCREENS: (keyof Panels)[] = ["grammar", "tokens", "dead", "export"];

/** The document that a widget's state holds: the payload, the changes since, and what other screens keep. */
export async function readDocument(get: (name: string) => unknown): Promise<Doc> {
  const bytes = (name: string) => fromView(get(name) as DataView);
  const names = Array.from({ length: get("pieces") as number }, (_, i) => `piece_${i}`);
  const [doc, ...pieces] = await Promise.all([decodeDocument(bytes("payload")), ...names.map((name) => inflate(bytes(name)))]);
  for (const piece of pieces) {
    for (const line of piece.split("\n")) if (line) apply(doc, JSON.parse(line) as Change);
  }
  for (const screen of SCREENS) {
    const kept = get(`kept_${screen}`) as DataView | undefined;
    if (kept === undefined) continue;
    if (kept.byteLength) doc.panels[screen] = JSON.parse(await inflate(fromView(kept)));
    else delete doc.panels[screen];
  }
  return doc;
}

export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text.trim());
  const data = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) data[i] = binary.charCodeAt(i);
  return data;
}

/** The bytes of a trait, which arrives as a DataView onto a larger buffer. */
export function fromView(view: DataView): Uint8Array<ArrayBuffer> {
  return new Uint8Array(new Uint8Array(view.buffer as ArrayBuffer, view.byteOffset, view.byteLength));
}

// From the wire to a document: the payload is JSON, deflated in zlib's form.
import type { Doc } from "./types";

export async function inflate(data: Uint8Array<ArrayBuffer>): Promise<string> {
  const stream = new Blob([data]).stream().pipeThrough(new DecompressionStream("deflate"));
  return await new Response(stream).text();
}

export async function decodeDocument(data: Uint8Array<ArrayBuffer>): Promise<Doc> {
  const doc = JSON.parse(await inflate(data)) as Doc;
  if (doc.version !== 1) throw new Error(`this page reads documents of version 1, not ${doc.version}`);
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

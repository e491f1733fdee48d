// The state of one view: a document, a cursor in its tree of positions, and what is selected.
//
// Positions form a tree: taking another token in the past adds a branch and erases nothing. `leaf`
// says which branch is shown; `cursor` is a position on the path from the root to it.
import { apply } from "./decode";
import { Spans } from "./spans";
import type { Change, Doc, Position, Row, Standing, Token } from "./types";

export type Encoding = "none" | "kind" | "probability" | "mass" | "time";

export interface Options {
  background: Encoding;
  underline: Encoding;
  /** How many spans are drawn in each other; 0 for none. */
  spans: number;
  allowedOnly: boolean;
  query: string;
}

export interface Branch {
  leaf: number;
  name: string;
}

export class Store {
  cursor = 0;
  leaf = 0;
  selected: number | null = null;
  opened: number | null = null;
  /** Bytes read of the token after the cursor: 0 between two tokens. */
  byte = 0;
  /** A state of the automaton that was chosen, on any screen. */
  state: number | null = null;
  /** Rules at which a run stops. */
  breaks = new Set<string>();
  /** Findings of the search for dead ends that do not matter, each with a note why. */
  ignored = new Map<string, string>();
  /** A token that is followed over the steps. */
  watched: number | null = null;
  busy = false;
  /** null until it is known whether a kernel answers. */
  connected: boolean | null = null;
  /** The kernel that answered has ended. */
  gone = false;
  options: Options = { background: "kind", underline: "none", spans: 4, allowedOnly: false, query: "" };
  private children = new Map<number, number[]>();
  private paths: { leaf: number; path: Position[]; places: Map<number, number> } | null = null;
  private known: Branch[] | null = null;
  private parts: { path: Position[]; spans: Spans } | null = null;
  private listeners = new Set<() => void>();

  constructor(
    public doc: Doc,
    cursor = 0,
  ) {
    this.index();
    this.cursor = this.doc.positions[cursor] ? cursor : 0;
    this.leaf = this.lastLeaf(this.cursor);
  }

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  notify(): void {
    for (const listener of this.listeners) listener();
  }

  get here(): Position {
    return this.doc.positions[this.cursor]!;
  }

  /** Positions from the root to the leaf of the branch that is shown. */
  get path(): Position[] {
    return this.way.path;
  }

  /** The spans of the text along the path. */
  get spans(): Spans {
    if (this.parts?.path !== this.path) this.parts = { path: this.path, spans: new Spans(this.path, (id) => this.token(id)) };
    return this.parts.spans;
  }

  /** How many tokens were taken before the cursor. */
  get depth(): number {
    return this.way.places.get(this.cursor)!;
  }

  private get way(): { path: Position[]; places: Map<number, number> } {
    if (this.paths?.leaf === this.leaf) return this.paths;
    const path: Position[] = [];
    for (let id = this.leaf; id >= 0; id = this.doc.positions[id]!.parent) path.push(this.doc.positions[id]!);
    path.reverse();
    this.paths = { leaf: this.leaf, path, places: new Map(path.map((position, depth) => [position.id, depth])) };
    return this.paths;
  }

  /** The position after the cursor on the branch that is shown, if there is one. */
  get next(): Position | undefined {
    return this.path[this.depth + 1];
  }

  /** The position that a token leads to from the cursor, on any branch. */
  childBy(token: number): Position | undefined {
    return this.childrenOf(this.cursor)
      .map((id) => this.doc.positions[id]!)
      .find((child) => child.edge?.token === token);
  }

  token(id: number): Token | undefined {
    return this.doc.tokens[id];
  }

  /** Move the cursor; the branch changes only when the position is not on it. */
  move(cursor: number): void {
    if (!this.doc.positions[cursor]) return;
    if (cursor !== this.cursor) {
      this.selected = null;
      this.opened = null;
      this.byte = 0;
    }
    this.cursor = cursor;
    if (!this.onPath(cursor, this.leaf)) this.leaf = this.lastLeaf(cursor);
  }

  /** Show another branch, with the cursor where the two part. */
  show(leaf: number): void {
    const old = new Set(this.path.map((position) => position.id));
    this.leaf = leaf;
    if (!this.onPath(this.cursor, leaf)) {
      const shared = this.path.filter((position) => old.has(position.id));
      this.cursor = shared[shared.length - 1]!.id;
      this.selected = this.opened = null;
      this.byte = 0;
    }
  }

  /** The token that is looked into byte by byte: the one taken from here, the one selected, the likely next one. */
  get inside(): number | null {
    return this.next?.edge?.token ?? this.selected ?? this.here.next;
  }

  /** Where the text stands, between two tokens or two bytes; null inside a token whose bytes were not looked at. */
  get standing(): Standing | null {
    return this.standingAt(this.byte);
  }

  /** Where the text stood one byte or, at the beginning of a token, one token before; undefined at the start. */
  get stoodBefore(): Standing | undefined {
    return this.byte > 0 ? (this.standingAt(this.byte - 1) ?? undefined) : this.doc.positions[this.here.parent];
  }

  private standingAt(byte: number): Standing | null {
    if (byte === 0) return this.here;
    const token = this.inside;
    if (token === null) return null;
    const spelled = this.token(token)?.[0].length ?? 0;
    if (byte >= spelled && this.next) return this.next;
    const inside = this.here.whys[token]?.inside;
    if (!inside) return null;
    const place = inside[byte];
    return place ? { live: place[0], stacks: place[1], graph: place[2] } : { live: [], stacks: [], graph: this.here.graph };
  }

  /** The live states where the byte cursor stands; null where they were not recorded. */
  get live(): number[] | null {
    return this.standing?.live ?? null;
  }

  /** The bytes of the token that were read, before the byte cursor. */
  get read(): string {
    const token = this.inside === null ? undefined : this.token(this.inside);
    return token && token[1] === null ? token[0].slice(0, this.byte) : "";
  }

  /** The next position in a direction where more than one token is allowed. */
  branching(direction: 1 | -1): Position | undefined {
    const path = this.path;
    for (let i = this.depth + direction; i >= 0 && i < path.length; i += direction) {
      if (path[i]!.open && path[i]!.allowed > 1) return path[i];
    }
    return undefined;
  }

  branches(): Branch[] {
    this.known ??= this.doc.positions
      .filter((position) => this.childrenOf(position.id).length === 0)
      .map((position, i) => ({ leaf: position.id, name: i === 0 ? "main" : `branch ${i}, from step ${this.forkDepth(position.id)}` }));
    return this.known;
  }

  merge(change: Change): void {
    apply(this.doc, change);
    this.index();
    this.leaf = this.lastLeaf(this.leaf);
    this.move(change.cursor);
  }

  /** Look at another run from a position. */
  begin(cursor: number): void {
    this.cursor = this.doc.positions[cursor] ? cursor : 0;
    this.leaf = this.lastLeaf(this.cursor);
    this.selected = this.opened = this.state = null;
    this.byte = 0;
  }

  replace(doc: Doc): void {
    this.doc = doc;
    this.index();
    if (!doc.positions[this.cursor]) this.cursor = 0;
    this.leaf = this.lastLeaf(doc.positions[this.leaf] ? this.leaf : this.cursor);
    if (!this.onPath(this.cursor, this.leaf)) this.leaf = this.lastLeaf(this.cursor);
  }

  private childrenOf(id: number): number[] {
    return this.children.get(id) ?? [];
  }

  private index(): void {
    this.children.clear();
    this.paths = this.known = null;
    for (const { id, parent } of this.doc.positions) {
      if (parent < 0) continue;
      const list = this.children.get(parent);
      if (list) list.push(id);
      else this.children.set(parent, [id]);
    }
  }

  private onPath(id: number, leaf: number): boolean {
    if (this.paths?.leaf === leaf) return this.paths.places.has(id);
    for (let at = leaf; at >= 0; at = this.doc.positions[at]!.parent) if (at === id) return true;
    return false;
  }

  private lastLeaf(id: number): number {
    for (let list = this.childrenOf(id); list.length; list = this.childrenOf(id)) id = list[list.length - 1]!;
    return id;
  }

  /** Depth of the last position that the branch of `leaf` shares with an older one. */
  private forkDepth(leaf: number): number {
    let id = leaf;
    for (;;) {
      const parent = this.doc.positions[id]!.parent;
      if (parent < 0 || this.childrenOf(parent)[0] !== id) {
        let depth = 0;
        for (let at = parent; at > 0; at = this.doc.positions[at]!.parent) depth++;
        return depth;
      }
      id = parent;
    }
  }
}

/** Rows in the order of the table: by the larger of the two probabilities, so that what the model
 * wanted and what the mask leaves both come early. */
export function ordered(rows: Row[]): Row[] {
  const weight = (row: Row) => Math.max(row[1] ?? -1, row[2] ?? -1);
  return [...rows].sort((a, b) => weight(b) - weight(a) || b[3] - a[3] || a[0] - b[0]);
}

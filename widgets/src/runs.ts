// The runs of one panel: a grammar that is put to use begins another one, and those before it stay.
import { decodeDocument, fromBase64 } from "./decode";
import type { Store } from "./store";
import type { Runs } from "./types";

/** Something that the branch picker leads to: the end of a branch of this run, or another run. */
export interface Way {
  name: string;
  leaf?: number;
  run?: number;
}

/** Branches of the run that is shown and, in the order of their beginning, the other runs. */
export function waysOf(store: Store): Way[] {
  const runs = store.doc.runs;
  const branches = store.branches();
  if (!runs) return branches;
  return runs.names.flatMap((name, run): Way[] => (run === runs.at ? branches.map((branch) => ({ ...branch, name: `run ${run + 1}: ${branch.name}` })) : [{ name, run }]));
}

/** Turn to another run in a page without a kernel: what is left is kept as it is. */
export async function turnTo(store: Store, run: number): Promise<void> {
  const runs = store.doc.runs;
  const other = runs?.others[run];
  if (!runs || !other) return;
  const doc = other.doc ?? (await decodeDocument(fromBase64(other.payload!)));
  if (store.doc.runs !== runs) return; // turned elsewhere meanwhile
  const others: Runs["others"] = { ...runs.others, [runs.at]: { doc: store.doc, cursor: store.cursor } };
  delete others[run];
  doc.runs = { at: run, names: runs.names, others };
  store.replace(doc);
  store.begin(other.cursor);
  store.notify();
}

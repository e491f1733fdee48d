// Where a run is to stop. The kernel decides the same for new steps (workbench/notebook/stops.py).
import { depth } from "./stack";
import type { Store } from "./store";
import type { Position, Until } from "./types";

export interface StopAt {
  until: Until;
  /** More than this share is removed. */
  mass: number;
}

export const depthOf = (position: Position): number => depth(position.stacks[0]);

export function topRules(position: Position): Set<string> {
  return new Set(position.stacks.flatMap((frames) => frames[0]?.rules ?? []));
}

/** Whether a rule with a breakpoint has just come on top. */
export function breaksAt(before: Position, reached: Position, breaks: Set<string>): boolean {
  if (!breaks.size) return false;
  const old = topRules(before);
  return [...topRules(reached)].some((rule) => breaks.has(rule) && !old.has(rule));
}

export function isReached(position: Position, stopAt: StopAt, depth: number): boolean {
  if (!position.open) return false;
  switch (stopAt.until) {
    case "branching":
      return position.allowed > 1;
    case "mass":
      return position.massRemoved > stopAt.mass;
    case "depth":
      return depthOf(position) !== depth;
    case "rule":
      return depthOf(position) < depth;
    case "end":
      return false;
  }
}

/** The first recorded position after the cursor where a run stops, if the record has one. */
export function reachedLater(store: Store, stopAt: StopAt): Position | undefined {
  const path = store.path;
  const start = depthOf(store.here);
  for (let i = store.depth + 1; i < path.length; i++) {
    if (isReached(path[i]!, stopAt, start) || breaksAt(path[i - 1]!, path[i]!, store.breaks)) return path[i];
  }
  return undefined;
}

/** The rank of a token before the mask, from 1; null beyond the recorded candidates. */
export function rankOf(position: Position, token: number): number | null {
  const p = position.rows.find((row) => row[0] === token)?.[1] ?? null;
  if (p === null) return position.rows.length === 1 && position.rows[0]![0] === token ? 1 : null;
  return 1 + position.rows.filter((row) => (row[1] ?? -1) > p).length;
}

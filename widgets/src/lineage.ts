// One configuration followed back over the steps: from which stack each of its stacks came.
import { sharedBelow } from "./stack";
import type { Frame, Position } from "./types";

export interface Ancestor {
  step: number;
  id: number;
  /** The token that led here; null at the start. */
  token: number | null;
  frames: Frame[];
}

/** The stacks that one stack of a step came from, oldest first: at each step back the one that has most in common with it. */
export function lineage(path: Position[], depth: number, index: number): Ancestor[] {
  const found: Ancestor[] = [];
  let frames: Frame[] | undefined = path[depth]?.stacks[index];
  for (let step = depth; step >= 0 && frames; step--) {
    const position = path[step]!;
    found.push({ step, id: position.id, token: position.edge?.token ?? null, frames });
    frames = nearest(frames, step > 0 ? path[step - 1]!.stacks : []);
  }
  return found.reverse();
}

function nearest(frames: Frame[], before: Frame[][]): Frame[] | undefined {
  const rank = (old: Frame[]) => sharedBelow(frames, old) + same(frames, old) / 100 - Math.abs(old.length - frames.length) / 10_000;
  let best: Frame[] | undefined;
  for (const old of before) if (!best || rank(old) > rank(best)) best = old;
  return best;
}

/** How many frames, counted from the bottom, are the same ones. */
function same(frames: Frame[], old: Frame[]): number {
  let count = 0;
  while (count < Math.min(frames.length, old.length) && frames[frames.length - 1 - count]!.state === old[old.length - 1 - count]!.state) count++;
  return count;
}

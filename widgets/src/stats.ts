// Statistics of times: plain functions over lists of numbers.
import { depthOf } from "./stops";
import type { Position, Times } from "./types";


export type Timed = Position & { times: Times };

export interface Summary {
  n: number;
  sum: number;
  median: number;
  p90: number;
  p99: number;
  max: number;
}

/** A quantile by linear interpolation; 0 for no values. */
export function quantile(values: number[], q: number): number {
  if (!values.length) return 0;
  const sorted = [...values].sort((a, b) => a - b);
  const at = (sorted.length - 1) * q;
  const low = sorted[Math.floor(at)]!;
  return low + (sorted[Math.ceil(at)]! - low) * (at - Math.floor(at));
}

export function summarise(values: number[]): Summary {
  return {
    n: values.length,
    sum: values.reduce((sum, value) => sum + value, 0),
    median: quantile(values, 0.5),
    p90: quantile(values, 0.9),
    p99: quantile(values, 0.99),
    max: Math.max(0, ...values),
  };
}

/** How many leading steps pay for what later ones have ready, as `workbench.profile` counts them: the first, which reads the prompt, and next to it, up to five in all, those with more than five times the median of the others. */
export function warmUp(steps: Timed[]): number {
  if (steps.length < 3) return Math.min(1, Math.max(0, steps.length - 1));
  const rest = steps.slice(1);
  const mask = quantile(rest.map((step) => step.times.mask), 0.5);
  const forward = quantile(rest.map((step) => step.times.forward).filter((time) => time > 0), 0.5);
  let count = 1;
  for (const { times } of steps.slice(1, Math.min(5, steps.length - 1))) {
    if (!(mask > 0 && times.mask > 5 * mask) && !(forward > 0 && times.forward > 5 * forward)) break;
    count++;
  }
  return count;
}

export interface Heavy {
  name: string;
  steps: number;
  mask: number;
  share: number;
  median: number;
  max: number;
  exposed: number;
  forward: number;
  depth: number;
}

/** Steps grouped by the rule on top of the stack, or by live state; the group with most mask time first. */
export function heaviest(steps: Timed[], by: "rule" | "state"): Heavy[] {
  const groups = new Map<string, Timed[]>();
  for (const step of steps) {
    const name = by === "rule" ? step.stacks[0]?.[0]?.rules.join(" · ") || "(no rule)" : step.live.length ? `state ${step.live.join(", ")}` : "(no state)";
    const list = groups.get(name);
    if (list) list.push(step);
    else groups.set(name, [step]);
  }
  const total = steps.reduce((sum, step) => sum + step.times.mask, 0) || 1;
  return [...groups]
    .map(([name, list]) => {
      const masks = list.map((step) => step.times.mask);
      const mask = masks.reduce((sum, value) => sum + value, 0);
      return {
        name,
        steps: list.length,
        mask,
        share: mask / total,
        median: quantile(masks, 0.5),
        max: Math.max(...masks),
        exposed: list.reduce((sum, step) => sum + step.times.exposed, 0),
        forward: list.reduce((sum, step) => sum + step.times.forward, 0),
        depth: Math.max(...list.map(depthOf)),
      };
    })
    .sort((a, b) => b.mask - a.mask || (a.name < b.name ? -1 : 1));
}

export interface Bin {
  from: number;
  to: number;
  count: number;
}

/** A histogram with bins of equal width on a logarithmic axis; values of 0 go into the first bin. */
export function logBins(values: number[], bins = 24): Bin[] {
  const positive = values.filter((value) => value > 0);
  if (!positive.length) return [];
  const low = Math.log10(Math.min(...positive));
  const high = Math.max(Math.log10(Math.max(...positive)), low + 0.1);
  const width = (high - low) / bins;
  const found = Array.from({ length: bins }, (_, i): Bin => ({ from: 10 ** (low + i * width), to: 10 ** (low + (i + 1) * width), count: 0 }));
  for (const value of values) {
    const at = value > 0 ? Math.min(bins - 1, Math.floor((Math.log10(value) - low) / width)) : 0;
    found[at]!.count++;
  }
  return found;
}

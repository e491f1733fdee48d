// What is drawn from after the mask: temperature, top-k, top-p and min-p in turn, as workbench.decoding.Sampling does it.
import { percent, plural } from "./format";
import type { Position, Sampling } from "./types";

/** What may be drawn at a position. */
export interface Drawn {
  /** Probability of being drawn, by token; tokens that are cut off are missing. */
  shares: Map<number, number>;
  /** How many tokens may be drawn; null when more than are recorded. */
  kept: number | null;
}

/** A share may be off by this much, for the tokens that were not recorded. */
const PRECISION = 0.005;

/** Whether the settings change nothing: each allowed token is drawn with its probability after the mask. */
export function isPlain(sampling: Sampling): boolean {
  return sampling.temperature === 1 && sampling.top_k == null && (sampling.top_p ?? 1) >= 1 && !sampling.min_p;
}

/** The settings in words, in the order in which they work. */
export function settingsText(sampling: Sampling): string {
  if (sampling.temperature === undefined) return "";
  if (sampling.temperature === 0) return "after the mask the likeliest token is taken (temperature 0)";
  const parts = [`temperature ${sampling.temperature}`];
  if (sampling.top_k != null) parts.push(`top-k ${sampling.top_k}`);
  if (sampling.top_p != null) parts.push(`top-p ${sampling.top_p}`);
  if (sampling.min_p != null) parts.push(`min-p ${sampling.min_p}`);
  return `after the mask: ${parts.join(" → ")}`;
}

/**
 * The shares that tokens are drawn with. Only the likeliest tokens are recorded: where the others could change a share
 * by more than half a percent of it, the answer is null.
 */
export function drawnFrom(here: Position, sampling: Sampling): Drawn | null {
  const { temperature } = sampling;
  if (temperature === undefined || !here.open) return null;
  const rows = here.rows.flatMap(([id, , after, allowed]) => (allowed && after ? [{ id, after }] : []));
  rows.sort((a, b) => b.after - a.after || a.id - b.id);
  if (!rows.length) return null;
  if (temperature === 0) return { shares: new Map([[rows[0]!.id, 1]]), kept: 1 };
  const best = rows[0]!.after;
  let kept = rows.map(({ id, after }) => ({ id, weight: (after / best) ** (1 / temperature) }));
  const unknown = Math.max(0, here.allowed - rows.length);
  const limit = sampling.top_k ?? Infinity;
  // Each unrecorded token weighs at most what the last recorded one does, and together they have what is left.
  const left = Math.max(0, 1 - rows.reduce((sum, row) => sum + row.after, 0));
  const last = rows[rows.length - 1]!.after;
  let rest = limit <= rows.length || !unknown ? 0 : weightOf(left, unknown, last, best, temperature);
  if (limit < kept.length) kept = kept.slice(0, limit);
  let whole = rest === 0;
  const sum = () => kept.reduce((total, { weight }) => total + weight, 0);
  if (sampling.top_p != null && sampling.top_p < 1) {
    if (rest > PRECISION * sum()) return null;
    const needed = sampling.top_p * (sum() + rest);
    let before = 0;
    const chosen = kept.filter(({ weight }) => {
      const taken = before < needed;
      before += weight;
      return taken;
    });
    if (chosen.length < kept.length) {
      rest = 0;
      whole = true;
    }
    kept = chosen;
  }
  if (sampling.min_p) {
    const least = sampling.min_p * kept[0]!.weight;
    if ((last / best) ** (1 / temperature) < least) {
      rest = 0;
      whole = true;
    }
    kept = kept.filter(({ weight }) => weight >= least);
  }
  const total = sum();
  if (rest > PRECISION * total) return null;
  return { shares: new Map(kept.map(({ id, weight }) => [id, weight / total])), kept: whole ? kept.length : null };
}

/** The most that some tokens can weigh together, which share a probability and are each no likelier than `last`. */
function weightOf(left: number, count: number, last: number, best: number, temperature: number): number {
  const power = 1 / temperature;
  // Below temperature 1 the weight is greatest when few tokens have it all, above it when all have the same.
  if (power < 1) return count * (left / count / best) ** power;
  const full = Math.floor(left / last);
  return full * (last / best) ** power + ((left - full * last) / best) ** power;
}

/** One line about what is drawn from. */
export function drawnText(here: Position, sampling: Sampling, drawn: Drawn | null): string {
  const settings = settingsText(sampling);
  if (!settings || !here.open || sampling.temperature === 0) return here.open ? settings : "";
  if (isPlain(sampling)) return `${settings}: each allowed token is drawn with its probability after the mask`;
  if (!drawn) return `${settings}: too few tokens were recorded to tell the shares`;
  if (drawn.kept === 1) return `${settings}: only the likeliest token is left`;
  const left = drawn.kept === null ? "all allowed tokens may be drawn" : `${plural(drawn.kept, "token")} may be drawn`;
  return `${settings}: ${left}, the likeliest with ${percent(Math.max(...drawn.shares.values()))}`;
}

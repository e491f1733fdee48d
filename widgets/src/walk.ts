// Walking through a picture by arrow keys: from a node along its edges to the one that lies in the arrow's direction.
import type { Box } from "./picture";

const DIRECTIONS: Record<string, [x: number, y: number]> = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };
/** The cosine of the widest angle between an arrow and the way to a node. */
const WIDEST = 0.25;

const middle = (box: Box): [number, number] => [(box.left + box.right) / 2, (box.top + box.bottom) / 2];

/** The neighbour that an arrow key leads to; null when none lies there. */
export function toward(boxes: Map<string, Box>, from: string, neighbours: Iterable<string>, key: string): string | null {
  const direction = DIRECTIONS[key];
  const start = boxes.get(from);
  if (!direction || !start) return null;
  const [x, y] = middle(start);
  let best: string | null = null;
  let least = Infinity;
  for (const id of neighbours) {
    const box = boxes.get(id);
    if (!box || id === from) continue;
    const [dx, dy] = [middle(box)[0] - x, middle(box)[1] - y];
    const distance = Math.hypot(dx, dy) || 1;
    const cosine = (dx * direction[0] + dy * direction[1]) / distance;
    // Far off the arrow's line counts like far away.
    const cost = distance / Math.max(cosine, 0.01) ** 2;
    if (cosine >= WIDEST && (cost < least || (cost === least && id < (best ?? "")))) [best, least] = [id, cost];
  }
  return best;
}

/** Which nodes an edge joins, in both directions. */
export function linksOf(pairs: Iterable<[string, string]>): Map<string, Set<string>> {
  const links = new Map<string, Set<string>>();
  const add = (a: string, b: string) => links.set(a, (links.get(a) ?? new Set()).add(b));
  for (const [a, b] of pairs) {
    if (a === b) continue;
    add(a, b);
    add(b, a);
  }
  return links;
}

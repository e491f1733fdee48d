// DOT text of a graph with some rules folded: each folded rule is one box.
import { shorten } from "./format";
import type { Graph } from "./types";

const quote = (text: string): string => `"${text.replace(/\\/g, "\\\\").replace(/"/g, '\\"').replace(/\n/g, " ")}"`;

/** Rules that the shown states belong to, with their states, in the order of the first state. */
export function rulesOf(graph: Graph, rules: Record<string, string>): Map<string, number[]> {
  const found = new Map<string, number[]>();
  for (const state of graph.shown) {
    const rule = rules[state] ?? "";
    const list = found.get(rule);
    if (list) list.push(state);
    else found.set(rule, [state]);
  }
  return found;
}

/** The id of the node that stands for a state. */
export function nodeOf(state: number, rules: Record<string, string>, folded: Map<string, string>): string {
  return folded.get(rules[state] ?? "") ?? `s${state}`;
}

/** Ids of the nodes of folded rules. */
export function foldedNodes(graph: Graph, rules: Record<string, string>, folded: Set<string>): Map<string, string> {
  const found = new Map<string, string>();
  for (const [rule, states] of rulesOf(graph, rules)) if (rule && folded.has(rule)) found.set(rule, `r${states[0]}`);
  return found;
}

/** The part of a graph near some states: what comes next in two steps, what came just before, a few states in all. */
export function near(graph: Graph, states: number[], most: number): Graph {
  if (graph.shown.length <= most || !states.length) return graph;
  const known = new Set(graph.shown);
  const shown = new Set(states.filter((state) => known.has(state)).slice(0, most));
  if (!shown.size) return graph;
  let frontier = [...shown];
  for (let hop = 0; hop < 2; hop++) {
    const at = new Set(frontier);
    const after = graph.edges.filter(([from]) => at.has(from)).map(([, , to]) => to);
    const before = hop ? [] : graph.edges.filter(([, , to]) => at.has(to)).map(([from]) => from).slice(0, 3);
    frontier = [...new Set([...after, ...before])].filter((state) => known.has(state) && !shown.has(state)).slice(0, Math.max(0, most - shown.size));
    for (const state of frontier) shown.add(state);
  }
  const kept = graph.shown.filter((state) => shown.has(state));
  return { ...graph, shown: kept, edges: graph.edges.filter(([from]) => shown.has(from)), final: graph.final.filter((state) => shown.has(state)), hidden: graph.states - kept.length };
}

/** A graph as DOT; `returns` are pairs of states to join: where a stack leads from the end of a rule. */
export function dotOf(graph: Graph, rules: Record<string, string>, folded: Set<string>, returns: [number, number][] = []): string {
  const boxes = foldedNodes(graph, rules, folded);
  const shown = new Set(graph.shown);
  const final = new Set(graph.final);
  const lines = [
    "digraph {",
    'graph [rankdir=LR ranksep=0.45 nodesep=0.2 fontsize=10 fontname=Courier]',
    'node [shape=ellipse margin="0.1,0.02" width=0.3 height=0.3 fontname=Courier fontsize=11]',
    "edge [arrowsize=0.6 fontname=Courier fontsize=11]",
  ];
  const edges = new Map<string, { labels: string[]; call: boolean }>();
  const add = (from: string, to: string, label: string, call: boolean) => {
    if (from === to && from.startsWith("r")) return;
    const key = `${from} -> ${to}`;
    const known = edges.get(key) ?? { labels: [], call };
    if (!known.labels.includes(label)) known.labels.push(label);
    edges.set(key, known);
  };
  for (const [rule, states] of rulesOf(graph, rules)) {
    const box = boxes.get(rule);
    if (box) {
      lines.push(`${box} [id=${box} shape=box style=rounded margin="0.35,0.05" label=${quote(`▭ ${rule} (${states.length})`)}]`);
      continue;
    }
    if (rule) lines.push(`subgraph cluster_${states[0]} { label=${quote(shorten(rule, 40))} color=gray70 style=rounded`);
    for (const state of states) lines.push(`s${state} [id=s${state} label=${quote(final.has(state) ? `${state} ✓` : String(state))}]`);
    if (rule) lines.push("}");
  }
  for (const [from, label, to, call] of graph.edges) {
    if (!shown.has(to)) continue;
    add(nodeOf(from, rules, boxes), nodeOf(to, rules, boxes), label, call === 1);
    // The folded box of a rule that is read on the way hangs on the edge's source.
    const read = call ? boxes.get(label.replace(/^▭ /, "").replace(/ ×.*$/, "")) : undefined;
    if (read && read !== nodeOf(from, rules, boxes)) add(nodeOf(from, rules, boxes), read, "reads", true);
  }
  for (const [from, to] of returns) if (shown.has(from) && shown.has(to)) add(nodeOf(from, rules, boxes), nodeOf(to, rules, boxes), "return", true);
  const left = new Map<string, Set<number>>();
  for (const [from, , to] of graph.edges) {
    if (shown.has(to)) continue;
    const node = nodeOf(from, rules, boxes);
    left.set(node, (left.get(node) ?? new Set()).add(to));
  }
  for (const [node, targets] of left) lines.push(`more_${node} [label="… ${targets.size} more" shape=plaintext]`, `${node} -> more_${node} [style=dotted]`);
  const begins = /start -> s(\d+)/.exec(graph.dot);
  if (begins && shown.has(Number(begins[1]))) lines.push('begin [label="" shape=point width=0.08]', `begin -> ${nodeOf(Number(begins[1]), rules, boxes)}`);
  for (const [key, { labels, call }] of edges) {
    const text = labels.length > 3 ? `${labels.slice(0, 2).join(", ")} … ${labels.length - 2} more` : labels.join(", ");
    lines.push(`${key} [label=${quote(` ${text} `)}${call ? " style=dashed" : ""}]`);
  }
  lines.push("}");
  return lines.join("\n");
}

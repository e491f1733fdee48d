// The position at the cursor as plain text: for copying, for screen readers, for a terminal's eye.
import { headline } from "./chips";
import { joined, joinText, label, more, percent, plural } from "./format";
import { ordered, type Store } from "./store";

const ROWS = 15;

export function describePosition(store: Store): string {
  const here = store.here;
  const lines = [store.doc.title, `step ${store.depth} of ${store.path.length - 1}`];
  const taken = store.path.slice(1, store.depth + 1).map((position) => store.token(position.edge!.token));
  lines.push(`text: ${JSON.stringify(joinText([...taken, [store.read, null]]))}`);
  if (store.byte) lines.push(`inside a token, after ${plural(store.byte, "byte")} of ${label(store.token(store.inside!))}`);
  lines.push(headline(store).join(" · "));
  const open = store.spans.open[store.depth] ?? [];
  if (open.length) lines.push(`in: ${open.map((span) => span.label).join(" ▸ ")}`);
  const edge = store.next?.edge;
  if (edge) lines.push(`taken: ${label(store.token(edge.token))} (id ${edge.token}), ${edge.kind}, ${percent(edge.before)} before, ${percent(edge.after)} after the mask`);
  const standing = store.standing ?? here;
  standing.stacks.slice(0, 4).forEach((frames, i) => {
    const names = frames.map((frame) => `${frame.rules.join(" · ") || "(no rule)"} (${frame.state})${frame.count === null ? "" : ` × ${frame.count}`}`);
    lines.push(`stack ${i + 1}, top first: ${joined(names, 20, " / ")}`);
  });
  const stacks = Math.max(standing.stackCount ?? 0, standing.stacks.length);
  if (stacks > 4) lines.push(`… ${more(stacks, 4, "stack")}`);
  if (standing.live.length) lines.push(`live states: ${standing.live.join(", ")}`);
  if (here.open && here.rows.length) {
    const rows = ordered(here.rows).slice(0, ROWS);
    const names = rows.map((row) => label(store.token(row[0])));
    const width = Math.max(5, ...names.map((name) => name.length));
    lines.push("", `${"token".padEnd(width)}  ${"before".padStart(8)}  ${"after".padStart(8)}  verdict`);
    rows.forEach((row, i) => {
      const reason = here.whys[row[0]]?.reason;
      const verdict = row[3] ? "● allowed" : `✕ rejected${reason ? `: ${reason}` : ""}`;
      lines.push(`${names[i]!.padEnd(width)}  ${percent(row[1]).padStart(8)}  ${(row[3] ? percent(row[2]) : "–").padStart(8)}  ${verdict}`);
    });
  }
  if (here.open && here.rows.length > ROWS) lines.push(`… ${more(here.rows.length, ROWS, "recorded candidate")}`);
  return lines.join("\n");
}

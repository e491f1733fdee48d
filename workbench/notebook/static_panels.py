"""The screens beside the stepper as HTML that needs no script: grammar, tokens, dead ends, profile, export.

The same rules hold as in ``static_html.py``: structure by elements, glyph and word beside every colour, no
fact of the live screen lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Sized
from html import escape
from typing import Any

from workbench.grammar.outcomes import OutcomeGroup
from workbench.notebook.static_parts import (
    meter,
    milliseconds,
    outcome_html,
    table,
    warm_up,
)
from workbench.notebook.views import Document, Position, Times
from workbench.notebook.wire import accepted_there, capitalised
from workbench.vocabulary.labels import label_bytes
from workbench.wording import cut, joined, more, number_of, percent

__all__ = ["static_panels"]

#: Characters of a grammar, lines of it, and rows of a table that are shown.
TEXT_SHOWN = 8_000
ROWS_SHOWN = 60
#: What stands for the verdict on a byte.
_SIGNS = {"consumed": "●", "fatal": "✕", "not reached": "·"}
_WANTS = {"match": "should match", "not": "should not match", "prefix": "should begin a match"}


def static_panels(document: Document, path: Sequence[Position]) -> str:
    """All screens that the document has something for, each in ``details``."""
    panels = document.panels
    parts = [
        _grammar(panels["grammar"]) if "grammar" in panels else "",
        _tokens(document, panels["tokens"]) if "tokens" in panels else "",
        _dead_ends(panels["dead"]) if "dead" in panels else "",
        _profile(path),
        _whys(document, path),
        _export(panels["export"]) if "export" in panels else "",
    ]
    return "".join(parts)


def _section(title: str, body: Iterable[str]) -> str:
    return f"<details><summary>{escape(title)}</summary>{''.join(body)}</details>"


def rest_row(items: Sized, noun: str, columns: int) -> list[list[str]]:
    """A row that says how many rows are left out, where some are."""
    left_out = more(len(items), ROWS_SHOWN, noun)
    return [[f"… {left_out}", *[""] * (columns - 1)]] if left_out else []


def _grammar(found: dict[str, Any]) -> str:
    state = (
        f"● compiled in {found['ms']} ms: {number_of(found['states'], 'state')}"
        if found["ok"]
        else f"✕ {number_of(len(found['mistakes']), 'error')}"
    )
    lines = cut(found["text"], TEXT_SHOWN).split("\n")
    width = len(str(len(lines)))
    numbered = "\n".join(f"{i:>{width}}  {line}" for i, line in enumerate(lines, 1))
    parts = [f"<p>{escape(state)}; kind {escape(found['kind'])}</p>"]
    for mistake in found["mistakes"]:
        where = mistake["pointer"]
        if mistake["line"] is not None:
            where = f"line {mistake['line']}, column {mistake['column']} {where}".strip()
        text = f"✕ {mistake['kind']} at {where or 'the text'}: {mistake['message']}"
        parts.append(f"<p>{escape(text)} {escape(mistake['hint'])}</p>")
    parts += [
        f"<p>{'⚠' if hint['warning'] else '⊘'} {escape(hint['message'])}</p>"
        for hint in found["hints"]
    ]
    parts += [_outcome(outcome) for outcome in found["outcomes"]]
    parts += [f"<p>… {escape(note)}</p>" for note in found["notes"]]
    parts.append(f"<pre>{escape(numbered)}</pre>")
    rows = []
    for example in found["examples"][:ROWS_SHOWN]:
        old = example.get("stale", False)
        judged = not old and not example["verdict"].startswith("not judged")
        sign = ("●" if example["ok"] else "✕") if judged else "◌"
        failing = ""
        if example["failing"] is not None:
            failing = (
                f"byte {example['failing'] + 1} {example['byte']}, expected {example['expected']}"
            )
        cells = [
            f"<code>{escape(cut(example['text'], 300))}</code>",
            _WANTS[example["want"]],
            escape(f"{sign} {'stale: ' if old else ''}{example['verdict']}"),
            escape(failing),
        ]
        rows.append(cells)
    if rows:
        rows += rest_row(found["examples"], "example", 4)
        parts.append(table("Examples", ["text", "wanted", "verdict", "first failing byte"], rows))
    total = len(found["examples"])
    passed = sum(e["ok"] for e in found["examples"])
    before = " before the error" if any(e.get("stale") for e in found["examples"]) else ""
    title = f"Grammar and examples: {state}, {passed} of {number_of(total, 'example')} as wanted{before}"
    return _section(title, parts)


def _outcome(outcome: dict[str, Any]) -> str:
    """One kind of restriction, with its places to unfold."""
    group = OutcomeGroup(
        outcome["status"], outcome["keyword"], outcome["detail"], tuple(outcome["pointers"])
    )
    return outcome_html(group, outcome["places"])


def _tokens(document: Document, found: dict[str, Any]) -> str:
    rows = []
    for group in found["groups"][:ROWS_SHOWN]:
        samples = [_label(document, token) for token in group["samples"]]
        rows.append(
            [
                escape(group["name"]),
                f"{group['count']:,}",
                meter(group["mass"]),
                " ".join(f"<code>{escape(sample)}</code>" for sample in samples),
            ]
        )
    rows += rest_row(found["groups"], "group", 4)
    title = f"Tokens allowed at position {found['node']}: {found['allowed']:,} of {document.vocabulary_size:,}"
    columns = ["rule of the first byte", "tokens", "share after the mask", "likeliest"]
    return _section(title, [table(title, columns, rows)])


def _label(document: Document, token_id: int) -> str:
    data, name = document.tokens[token_id]
    return label_bytes(data) if name is None else name


def _dead_ends(found: dict[str, Any]) -> str:
    findings = found["findings"]
    parts = [f"<p>checked in {milliseconds(found['ms'])}: {escape(found['note'])}</p>"]
    for finding in findings[:ROWS_SHOWN]:
        parts.append(f"<p><b>{escape(finding['title'])}</b> {escape(finding['sentence'])}</p>")
        rows = [[escape(name), f"<code>{escape(value)}</code>"] for name, value in finding["facts"]]
        if finding["suggestion"]:
            rows.append(["suggestion", escape(finding["suggestion"])])
        if finding["effect"]:
            rows.append(["effect", escape(finding["effect"])])
        parts.append(table("Facts", ["what", "value"], rows))
        if finding["diff"]:
            parts.append(f"<pre>{escape(finding['diff'])}</pre>")
    if left_out := more(len(findings), ROWS_SHOWN, "finding"):
        parts.append(f"<p>… {left_out}</p>")
    told = "; ".join(f"in the {subject}: {text}" for subject, text, _ in found.get("summaries", ()))
    return _section(f"Dead ends {told}", parts)


def _quantile(values: Sequence[float], q: float) -> float:
    ordered = sorted(values)
    at = (len(ordered) - 1) * q
    low = int(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (at - low)


def _profile(path: Sequence[Position]) -> str:
    timed = [(p, p.times) for p in path[:-1] if p.times is not None]
    if not timed:
        return ""
    leading = warm_up([times.mask for _, times in timed], [times.forward for _, times in timed])
    counted = timed[leading:]
    rows = []
    for name in ("mask", "exposed", "forward", "sample"):
        values = [getattr(times, name) for _, times in counted]
        numbers = [sum(values), *(_quantile(values, q) for q in (0.5, 0.9, 0.99)), max(values)]
        rows.append([name, str(len(values)), *(milliseconds(value) for value in numbers)])
    note = f"{number_of(len(timed), 'step')}, {len(timed) - len(counted)} of them warm-up and not counted"
    columns = ["time", "n", "sum", "median", "p90", "p99", "longest"]
    parts = [table(f"Times: {note}", columns, rows), _heaviest(counted)]
    return _section(f"Profile: {note}", parts)


def _heaviest(timed: Sequence[tuple[Position, Times]]) -> str:
    groups: dict[str, list[Times]] = {}
    for position, times in timed:
        rules = position.stacks[0][0].rules if position.stacks and position.stacks[0] else ()
        groups.setdefault(" · ".join(rules) or "(no rule)", []).append(times)
    total = sum(times.mask for _, times in timed) or 1.0
    sums = {name: sum(times.mask for times in found) for name, found in groups.items()}
    rows = [
        [
            escape(name),
            str(len(groups[name])),
            milliseconds(sums[name]),
            percent(sums[name] / total),
        ]
        for name in sorted(groups, key=lambda name: -sums[name])[:ROWS_SHOWN]
    ]
    rows += rest_row(groups, "rule", 4)
    return table("Mask time by rule, heaviest first", ["rule", "steps", "mask", "share"], rows)


def _whys(document: Document, path: Sequence[Position]) -> str:
    """Every reason that was asked for, byte by byte."""
    rows = []
    for step, position in enumerate(path):
        for token, why in position.whys.items():
            if not why.cells:
                continue
            cells = [
                f"{_SIGNS[cell.status]} {cell.status}"
                + (f", states {joined(cell.states, 4)}" if cell.states else "")
                + (f", in {cell.stack[0].told}" if cell.stack else "")
                for cell in why.cells
            ]
            rows.append(
                [
                    str(step),
                    f"<code>{escape(_label(document, token))}</code> {token}",
                    escape(capitalised(why.sentence)),
                    "".join(f"<p>{escape(cell)}</p>" for cell in cells),
                    f"<code>{escape(accepted_there(why))}</code>",
                ]
            )
    if not rows:
        return ""
    columns = ["step", "token", "reason", "byte by byte", "accepted there"]
    title = f"Why: {number_of(len(rows), 'answer')}"
    left_out = rest_row(rows, "answer", len(columns))
    return _section(title, [table(title, columns, [*rows[:ROWS_SHOWN], *left_out])])


def _export(found: dict[str, Any]) -> str:
    parts = [f"<p>{'●' if found['ok'] else '✕'} {escape(found['note'])}</p>"]
    parts += [f"<p>✕ {escape(reason)}</p>" for reason in found["reasons"]]
    parts += [f"<p>{escape(line)}</p>" for line in found.get("notes", ())]
    rows = [
        [escape(name), f"{size:,}", f"<code>{escape(digest)}</code>"]
        for name, size, digest in found["files"]
    ]
    if rows:
        parts.append(table(f"Files of {found['path']}", ["file", "bytes", "sha256"], rows))
    return _section(f"Export: {found['path']}", parts)

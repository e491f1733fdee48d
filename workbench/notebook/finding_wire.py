"""Findings of the search for dead ends, as the screen and the static view show them."""

from __future__ import annotations

import difflib
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from workbench.automaton.dot import byte_label
from workbench.wording import cut, joined, number_of

if TYPE_CHECKING:
    from workbench.diagnostics.dead_ends.findings import DeadEndReport, Finding
    from workbench.notebook.views import TokenTable

__all__ = ["finding_wire", "report_wire"]

#: Tokens that are listed of the way to a finding.
MOST_TOKENS = 40


def report_wire(
    reports: list[DeadEndReport], source: Any, ms: float, vocabulary: TokenTable | None = None
) -> dict[str, Any]:
    """Reports as JSON values.

    ``source`` is the grammar's, which suggested edits change; the ``vocabulary`` of the run names tokens.
    ``summaries`` are what each report is about, how many findings it has in words, and how many are errors.
    """
    findings = [
        {**finding_wire(finding, source, vocabulary), "subject": report.subject}
        for report in reports
        for finding in report
    ]
    summaries = [[report.subject, report.summary, len(report.errors)] for report in reports]
    checked = [what for report in reports for what in report.checked]
    stopped = [f"not complete: {what}" for report in reports for what in report.stopped]
    return {
        "note": "; ".join([*checked, *stopped]),
        "ms": round(ms, 1),
        "summaries": summaries,
        "findings": findings,
    }


def finding_wire(
    finding: Finding, source: Any, vocabulary: TokenTable | None = None
) -> dict[str, Any]:
    """One finding: a title, a sentence, facts by name, where to go, what to change."""
    facts: list[tuple[str, str]] = []
    if finding.path is not None:
        path = finding.path.decode("utf-8", errors="replace")
        facts.append(("shortest path", path or "(at the start)"))
    if finding.token_ids:
        facts.append(("tokens", _tokens(finding.token_ids, vocabulary)))
    if finding.place:
        facts.append(("caused by", finding.place))
    if finding.source:
        facts.append(("which says", cut(finding.source, 300)))
    if finding.stack:
        facts.append(("open there", joined(finding.stack, 6, " < ")))
    if finding.possible:
        facts.append(("the grammar goes on with", byte_label(finding.possible, limit=80)))
    if finding.steps is not None:
        first, last = (index + 1 for index in finding.steps)
        facts.append(("steps", f"{first}" if first == last else f"{first} to {last}"))
    escape = finding.escape
    if escape is not None:
        facts.append(("last escape", str(escape).removeprefix("last escape: ")))
    suggestion = finding.suggestion
    step = None
    if finding.steps is not None:
        step = finding.steps[0] if escape is None else escape.step
    diff, edited, effect = "", None, ""
    if suggestion is not None and suggestion.edits:
        diff = "\n".join(map(str, suggestion.edits))
        edited = _edited(suggestion, source)
        if edited is not None:
            diff = _difference(_text(source), edited) or diff
        changes = [
            f"{change.example!r} {'becomes accepted' if change.after else 'is no longer accepted'}"
            for change in suggestion.effect
        ]
        effect = "; ".join(changes) or "no example changes its verdict"
    return {
        "kind": finding.kind,
        "warning": finding.warning,
        "title": f"{'⚠' if finding.warning else '⊘'} {finding.kind}",
        "sentence": finding.message,
        "facts": [list(fact) for fact in facts],
        "step": step,
        "suggestion": suggestion.text if suggestion is not None else "",
        "diff": diff,
        "edited": edited,
        "effect": effect,
    }


def _tokens(ids: Sequence[int], vocabulary: TokenTable | None) -> str:
    """Tokens by their texts, the last ones: those that lead to the place."""
    shown = ids[-MOST_TOKENS:]
    names = [f"id {i}" if vocabulary is None else vocabulary.label(i) for i in shown]
    left = len(ids) - len(shown)
    before = f"{number_of(left, 'token')} before, then " if left else ""
    return before + " ".join(names)


def _text(source: Any) -> str:
    if isinstance(source, str):
        return source
    return json.dumps(source, indent=2, ensure_ascii=False)


def _edited(suggestion: Any, source: Any) -> str | None:
    """The grammar's text with the edits made; None when it cannot be written as a text."""
    if source is None:
        return None
    try:
        return _text(suggestion.apply(source))
    except (ValueError, KeyError, IndexError, TypeError):
        return None


def _difference(old: str, new: str) -> str:
    lines = difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=1)
    return "\n".join(line for line in lines if not line.startswith(("---", "+++", "@@")))

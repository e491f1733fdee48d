"""What ``lint`` finds in a grammar text, as the editor shows it: warnings with their places, and notes."""

from __future__ import annotations

from typing import Any

from workbench.diagnostics.lint.lint import lint
from workbench.diagnostics.lint.report import LintFinding
from workbench.grammar.ir import Grammar
from workbench.notebook.pointers import locate

__all__ = ["hints", "told"]

#: How long is looked, while someone types.
_WORK = 100


def hints(grammar: Grammar, text: str) -> list[dict[str, Any]]:
    """Warnings about a grammar that was read from ``text``, in the order of the text: the first part of ``told``."""
    return told(grammar, text)[0]


def told(grammar: Grammar, text: str) -> tuple[list[dict[str, Any]], list[str]]:
    """Warnings, in the order of the text, and notes, of a grammar that was read from ``text``.

    A warning has a ``message`` and the characters ``start`` to ``end`` that it is about; ``fix`` is a text to put there
    instead, where an edit is certain to change nothing else, and ``does`` says what that edit is. ``warning`` is
    false where no text can be written at all, as in a finding of ``dead_ends``. A note is a sentence.
    """
    report = lint(grammar, work=_WORK)
    found = [
        _hint(one, text, *span)
        for one in (*report.errors, *report.warnings)
        if (span := _span(one, text)) is not None
    ]
    notes = [
        f"{f'line {_line(span[0], text)}: ' if (span := _span(one, text)) else ''}{one.message}"
        for one in report.infos
    ]
    return sorted(found, key=lambda hint: int(hint["start"])), [*notes, *report.stopped]


def _hint(one: LintFinding, text: str, start: int, end: int) -> dict[str, Any]:
    found = {"message": one.message, "start": start, "end": end, "fix": None, "does": ""}
    if one.kind == "unreachable":
        start, end = _lines(text, start, end)
        found |= {"start": start, "end": end, "fix": "", "does": "remove it"}
    return found | {"warning": one.severity != "error"}


def _span(one: LintFinding, text: str) -> tuple[int, int] | None:
    """The characters of the text that a finding is about."""
    if one.pointer is not None:
        return locate(text, one.pointer) if one.pointer.startswith("#") else None
    return None if one.start is None or one.end is None else (one.start, one.end)


def _line(start: int, text: str) -> int:
    return text.count("\n", 0, start) + 1


def _lines(text: str, start: int, end: int) -> tuple[int, int]:
    """A stretch of text with the rest of its last line, where only blanks are left on it."""
    stop = text.find("\n", end)
    stop = len(text) if stop < 0 else stop + 1
    return (start, end) if text[end:stop].strip() else (start, stop)

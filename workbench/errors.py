"""Errors that the workbench raises.

Every error carries its data as fields and renders one message: what is wrong, where, and what to do.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from workbench.wording import cut, number_of

__all__ = [
    "ArtifactError",
    "BrokenTool",
    "BrokenTools",
    "BudgetTooSmall",
    "BundleError",
    "DeadEnd",
    "ExportRefused",
    "GrammarSyntaxError",
    "GrammarTooComplex",
    "ModelNotFound",
    "UnsatisfiableGrammar",
    "UnsupportedConstraint",
    "VocabularyError",
    "WorkbenchError",
    "WrongType",
    "underline",
]


#: characters of a rule's name, or of a pattern in its place, that a message shows; a JSON pointer is shown whole
_LONGEST_RULE = 100


class WorkbenchError(Exception):
    """Base class of every error that this package raises on purpose."""


class WrongType(WorkbenchError, TypeError):
    """An argument is of another type than the function takes; the message says what to pass instead."""


def underline(text: str, start: int, end: int | None = None) -> tuple[int, int, str]:
    """Locate an offset of a source text and draw the line with the offending part underlined.

    ``start`` and ``end`` count characters. Returns ``(line, column, picture)``, both 1-based; the
    picture has two lines and is at most about 100 characters wide.
    """
    start = max(0, min(start, len(text)))
    line_start = text.rfind("\n", 0, start) + 1
    line_end = text.find("\n", start)
    line_end = len(text) if line_end < 0 else line_end
    line = text.count("\n", 0, start) + 1
    column = start - line_start + 1
    stop = min(max(start + 1, start + 1 if end is None else end), max(line_end, start + 1))
    shown_from = max(line_start, start - 60)
    shown_to = min(line_end, max(stop, start + 30), shown_from + 100)
    left = "…" if shown_from > line_start else ""
    right = "…" if shown_to < line_end else ""
    shown = text[shown_from:shown_to].replace("\t", " ").replace("\r", " ")
    marks = " " * (len(left) + start - shown_from) + "~" * max(1, min(stop, shown_to) - start)
    return line, column, f"{left}{shown}{right}\n{marks}"


class GrammarSyntaxError(WorkbenchError):
    """A grammar text, regular expression or schema is not well formed.

    ``line`` and ``column`` are 1-based positions in ``text``; for a schema ``pointer`` holds the
    JSON pointer instead.
    """

    def __init__(
        self,
        message: str,
        *,
        text: str | None = None,
        start: int | None = None,
        end: int | None = None,
        pointer: str | None = None,
        hint: str | None = None,
    ) -> None:
        self.message = message
        self.pointer = pointer
        self.hint = hint
        self.start = start
        self.line: int | None = None
        self.column: int | None = None
        parts = [message]
        if pointer is not None:
            parts[0] = f"{message} (at {pointer or '#'})"
        if text is not None and start is not None:
            self.line, self.column, picture = underline(text, start, end)
            parts[0] = f"line {self.line}, column {self.column}: {parts[0]}"
            parts.append(picture)
        if hint:
            parts.append(hint)
        super().__init__("\n".join(parts))


class UnsupportedConstraint(WorkbenchError):
    """A constraint of a schema cannot be enforced; it is never dropped silently."""

    def __init__(self, pointer: str, reason: str) -> None:
        self.pointer = pointer
        self.reason = reason
        super().__init__(
            f"{pointer or '#'}: {reason}. Remove it, or pass on_unsupported='report' to compile "
            "without it and find it listed in grammar.outcomes."
        )


class UnsatisfiableGrammar(WorkbenchError):
    """The language is empty: no text can ever complete. ``part`` names the smallest empty part."""

    def __init__(self, part: str, reason: str) -> None:
        self.part = part
        self.reason = reason
        super().__init__(f"{part} can never be completed: {reason}")


class GrammarTooComplex(WorkbenchError):
    """A budget of work units was used up while reading a grammar, compiling or stepping.

    ``field`` names it in ``workbench.Budgets``; None for a limit that is fixed.
    """

    def __init__(
        self,
        budget: str,
        limit: int,
        rule: str | None = None,
        *,
        raised_by: str | None = None,
        field: str | None = None,
    ) -> None:
        self.budget = budget
        self.limit = limit
        self.rule = rule
        self.raised_by = raised_by
        self.field = field
        shown = rule
        if rule and len(rule) > _LONGEST_RULE and not rule.startswith("#"):
            shown = rule[:_LONGEST_RULE] + "…"
        where = f" in rule {shown!r}" if shown else ""
        way = f" or raise the limit, as in {raised_by}" if raised_by else ""
        super().__init__(
            f"the grammar needs more than {limit:,} {budget}{where}; simplify it there{way}"
        )

    def at(self, rule: str) -> GrammarTooComplex:
        """The same error with the rule, or the place in a schema, that it is about."""
        return GrammarTooComplex(
            self.budget, self.limit, rule, raised_by=self.raised_by, field=self.field
        )


class ArtifactError(WorkbenchError):
    """A file of a compiled grammar cannot be read: not one, cut off, altered, or of another format."""

    def __init__(self, path: str | os.PathLike[str], reason: str) -> None:
        self.path = os.fspath(path)
        self.reason = reason
        super().__init__(f"{self.path}: {reason}. Compile the grammar and save it again.")


class ExportRefused(WorkbenchError):
    """A grammar is not exported: an example fails, or something else stands against it (``reasons``)."""

    def __init__(self, reasons: Sequence[str]) -> None:
        self.reasons = tuple(reasons)
        listed = "".join(f"\n- {reason}" for reason in self.reasons)
        super().__init__(f"the grammar is not exported, nothing was written:{listed}")


class BundleError(WorkbenchError):
    """A file is no bundle of a tested grammar, or one that is not safe to read."""

    def __init__(self, path: str | os.PathLike[str], reason: str) -> None:
        self.path = os.fspath(path)
        self.reason = reason
        super().__init__(f"{self.path}: {reason}")


class DeadEnd(WorkbenchError):
    """No token may come next although the text is not complete. ``trace`` holds the run so far."""

    def __init__(self, message: str, trace: Any = None) -> None:
        self.trace = trace
        super().__init__(message)


class BudgetTooSmall(WorkbenchError):
    """A token budget is below the least that the grammar needs (``minimum``)."""

    def __init__(self, given: int, minimum: int) -> None:
        self.given = given
        self.minimum = minimum
        super().__init__(
            f"{number_of(given, 'token')} cannot complete this grammar; it needs at least {minimum}"
        )


@dataclass(frozen=True, slots=True)
class BrokenTool:
    """A tool that cannot be called: its place in the list, its name, a JSON pointer into the list, and why."""

    index: int
    name: str
    pointer: str
    reason: str

    def __str__(self) -> str:
        named = f", {cut(self.name, _LONGEST_RULE)!r}," if self.name else ""
        return f"tool {self.index}{named} at {self.pointer}: {self.reason}"


class BrokenTools(WorkbenchError):
    """Some tools cannot be called: ``tools`` lists them all, ``n_given`` is how many there were."""

    def __init__(self, tools: Sequence[BrokenTool], n_given: int) -> None:
        self.tools = tuple(tools)
        self.n_given = n_given
        verb = "is" if len(self.tools) == 1 else "are"
        listed = "".join(f"\n- {one}" for one in self.tools)
        super().__init__(
            f"{len(self.tools):,} of {number_of(n_given, 'tool')} {verb} broken:{listed}\n"
            "on_broken='drop' leaves such tools out."
        )


class VocabularyError(WorkbenchError):
    """A tokenizer cannot be turned into a vocabulary of byte strings, or a token id is out of range."""


class ModelNotFound(WorkbenchError):
    """A model is neither cached nor reachable."""

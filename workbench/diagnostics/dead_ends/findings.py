"""What is wrong with a grammar, as plain values: findings, edits that would mend them, and a report."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from workbench.automaton.frames import Stack
from workbench.grammar.ir import Origin
from workbench.grammar.places import within
from workbench.readable import readable
from workbench.vocabulary.labels import quoted
from workbench.wording import joined, number_of

__all__ = [
    "ABSENT",
    "Change",
    "DeadEndReport",
    "Edit",
    "Escape",
    "Finding",
    "Kind",
    "Suggestion",
    "counted",
    "distinct",
    "part_of",
]

Kind = Literal[
    "unsatisfiable",
    "never written",
    "empty mask",
    "endless loop",
    "over budget",
    "out of tokens",
    "no end token",
    "near dead end",
]


def counted(errors: int, warnings: int, complete: bool = True) -> str:
    """How many findings there are, in the words of every screen, page, file and command.

    >>> counted(1, 2), counted(0, 0), counted(0, 0, complete=False)
    ('1 error, 2 warnings', 'none found', 'not all was looked at, nothing found in the rest')
    """
    if not errors and not warnings:
        return "none found" if complete else "not all was looked at, nothing found in the rest"
    found = f"{number_of(errors, 'error')}, {number_of(warnings, 'warning')}"
    return found if complete else f"{found}; not all was looked at"


def distinct(reports: Iterable[Mapping[str, Any]]) -> tuple[int, int, bool]:
    """Errors and warnings of reports as JSON values, each once, and whether all were complete."""
    found: dict[tuple[str, str, str], bool] = {}
    complete = True
    for report in reports:
        complete = complete and not report.get("stopped")
        for one in report.get("findings", ()):
            found[one["kind"], one["message"], one["place"]] = bool(one["warning"])
    warnings = sum(found.values())
    return len(found) - warnings, warnings, complete


class _Absent:
    """Stands for a key that is not there."""

    def __repr__(self) -> str:
        return "absent"

    def __deepcopy__(self, memo: object) -> _Absent:
        return self


#: In an edit of a schema: the key was not there, or is to be removed.
ABSENT: Any = _Absent()


@dataclass(frozen=True, slots=True)
class Edit:
    """One change of a grammar's source: the value at a JSON pointer, or a span of a text.

    ``old`` and ``new`` are JSON values (or ``ABSENT``) for a pointer, texts for a span (of a pattern of bytes,
    each byte as the character of its number).
    """

    old: Any
    new: Any
    pointer: str | None = None
    start: int | None = None
    end: int | None = None

    def apply(self, source: Any) -> Any:
        """The source with the change made; the source itself stays as it is.

        Raises ``ValueError`` when the source does not have there what the edit expects.
        """
        if self.pointer is None:
            if isinstance(source, bytes):
                return self.apply(source.decode("latin-1")).encode("latin-1")
            if source[self.start : self.end] != self.old:
                raise ValueError(f"the source has no {self.old!r} at {self.start}")
            return source[: self.start] + self.new + source[self.end :]
        changed = copy.deepcopy(source)
        *way, last = _keys(self.pointer)
        at = changed
        for key in way:
            at = at[int(key)] if isinstance(at, list) else at[key]
        found = at[int(last)] if isinstance(at, list) else at.get(last, ABSENT)
        if found != self.old:
            raise ValueError(f"the schema has no {self.old!r} at {self.pointer}")
        if self.new is ABSENT:
            del at[int(last) if isinstance(at, list) else last]
        else:
            at[int(last) if isinstance(at, list) else last] = self.new
        return changed

    def __str__(self) -> str:
        place = self.pointer if self.pointer is not None else f"characters {self.start}-{self.end}"
        if self.new is ABSENT or (self.pointer is None and self.new == ""):
            return f"{place}: remove {_shown(self.old)}"
        if self.old is ABSENT:
            return f"{place}: add {_shown(self.new)}"
        return f"{place}: {_shown(self.old)} → {_shown(self.new)}"

    def to_json(self) -> dict[str, Any]:
        """The edit as JSON values; an absent side is left out."""
        found: dict[str, Any] = {"pointer": self.pointer, "start": self.start, "end": self.end}
        if self.old is not ABSENT:
            found["old"] = self.old
        if self.new is not ABSENT:
            found["new"] = self.new
        return {**found, "text": str(self)}


def _keys(pointer: str) -> list[str]:
    parts = pointer.removeprefix("#").split("/")[1:]
    return [part.replace("~1", "/").replace("~0", "~") for part in parts]


def _shown(value: Any) -> str:
    text = (
        json.dumps(value, ensure_ascii=False, default=str) if not isinstance(value, str) else value
    )
    text = " ".join(text.split())
    return text if len(text) <= 60 else text[:59] + "…"


@dataclass(frozen=True, slots=True)
class Change:
    """An example whose verdict an edit changes."""

    example: str
    before: bool
    after: bool

    def to_json(self) -> dict[str, Any]:
        """The change as JSON values."""
        return {key: getattr(self, key) for key in self.__slots__}


@dataclass(frozen=True, slots=True)
class Suggestion:
    """How a finding could be mended: in words and, where there is one that was tried, as edits.

    ``effect`` lists the examples whose verdict the edits change.
    """

    text: str
    edits: tuple[Edit, ...] = ()
    effect: tuple[Change, ...] = ()

    def apply(self, source: Any) -> Any:
        """The source with all edits made, the last span first."""
        for edit in sorted(self.edits, key=lambda edit: -(edit.start or 0)):
            source = edit.apply(source)
        return source

    def __str__(self) -> str:
        lines = [self.text, *(f"  {edit}" for edit in self.edits)]
        if self.effect:
            gained = sum(change.after for change in self.effect)
            lost = len(self.effect) - gained
            lines.append(f"  effect: {number_of(gained, 'more example')} accepted, {lost} fewer")
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """The suggestion as JSON values."""
        return {
            "text": self.text,
            "edits": [edit.to_json() for edit in self.edits],
            "effect": [change.to_json() for change in self.effect],
        }


@dataclass(frozen=True, slots=True)
class Escape:
    """The last place from which the text could still be completed: after ``text``, by ``instead``.

    ``instead`` is empty for an end of the text, None for a token that is not known.
    ``step`` is its index in a trace, the number of tokens before it; texts for people count steps from 1.
    """

    text: bytes
    instead: bytes | None
    step: int

    def to_json(self) -> dict[str, Any]:
        """The escape as JSON values, bytes as text (U+FFFD for what is no UTF-8)."""
        return {
            "text": self.text.decode("utf-8", "replace"),
            "instead": None if self.instead is None else self.instead.decode("utf-8", "replace"),
            "step": self.step,
        }

    def __str__(self) -> str:
        where = f"after {quoted(self.text)}" if self.text else "at the start"
        if self.instead is None:
            other = "another token"
        else:
            other = quoted(self.instead) if self.instead else "the end of the text"
        return f"last escape: {where} (step {self.step + 1}) with {other} instead"


@readable
@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One way in which a text gets stuck.

    ``path`` is a shortest text that leads there (None when no text does, or it is not known) and
    ``token_ids`` what spells it. ``stack`` are the open parts there, innermost first; ``rule``,
    ``pointer``, ``start:end`` and ``source`` tell the part that causes it. ``escape`` is the last place with
    a way out, None when there was none or it was not found. ``steps`` are the indices (from 0; messages count
    from 1) of the first and last step of a trace, the number of all its steps for one that could not be taken.
    ``possible`` are the bytes that the grammar would go on with. A finding that is no error is a warning.
    """

    kind: Kind
    message: str
    warning: bool = False
    path: bytes | None = None
    token_ids: tuple[int, ...] = ()
    possible: frozenset[int] = frozenset()
    rule: str = ""
    pointer: str | None = None
    start: int | None = None
    end: int | None = None
    source: str = ""
    stack: Stack = ()
    escape: Escape | None = None
    suggestion: Suggestion | None = None
    steps: tuple[int, int] | None = None

    @property
    def place(self) -> str:
        """The rule, schema pointer or span that causes it, in words."""
        if self.pointer is not None:
            return self.pointer
        if self.start is not None:
            return f"{self.rule or 'grammar'} (characters {self.start}-{self.end})"
        return self.rule

    def __str__(self) -> str:
        sign = "⚠" if self.warning else "⊘"
        lines = [f"{sign} {self.kind}: {self.message}"]
        if self.place:
            source = f"  {self.source}" if self.source else ""
            lines.append(f"  from {self.place}{source}")
        if self.path is not None:
            where = quoted(self.path) if self.path else "at the start"
            tokens = f" (tokens {' '.join(map(str, self.token_ids))})" if self.token_ids else ""
            lines.append(f"  shortest path: {where}{tokens}")
        if self.stack:
            lines.append(f"  in {joined(self.stack, 4, ' < ')}")
        if self.escape:
            lines.append(f"  {self.escape}")
        if self.suggestion:
            lines += [f"  suggest: {line}" for line in str(self.suggestion).split("\n")[:1]]
            lines += [f"    {line}" for line in str(self.suggestion).split("\n")[1:]]
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """The finding as JSON values; the path as text and in hexadecimal."""
        return {
            "kind": self.kind,
            "message": self.message,
            "warning": self.warning,
            "path": None if self.path is None else self.path.decode("utf-8", "replace"),
            "path_bytes": None if self.path is None else self.path.hex(),
            "token_ids": list(self.token_ids),
            "possible": sorted(self.possible),
            "place": self.place,
            "rule": self.rule,
            "pointer": self.pointer,
            "start": self.start,
            "end": self.end,
            "source": self.source,
            "stack": [frame.to_json() for frame in self.stack],
            "escape": self.escape and self.escape.to_json(),
            "suggestion": self.suggestion and self.suggestion.to_json(),
            "steps": None if self.steps is None else list(self.steps),
        }


def part_of(name: str, start: str, finding: Finding) -> Finding:
    """A finding about a grammar that stands under a name in another one.

    Paths to it and its edits are those of the part alone: of these only the words are kept.
    """
    suggestion = finding.suggestion
    place = within(name, Origin(finding.pointer, rule=finding.rule or None), start)
    return replace(
        finding,
        path=None,
        token_ids=(),
        stack=(),
        rule=place.rule or name,
        pointer=None if finding.pointer is None else place.pointer,
        suggestion=None if suggestion is None else replace(suggestion, edits=(), effect=()),
    )


@readable
@dataclass(frozen=True, slots=True)
class DeadEndReport:
    """Findings, errors first, and what was looked at.

    ``checked`` says in words what was searched; ``stopped`` what was left out because a budget was used up
    (empty: nothing).
    """

    findings: tuple[Finding, ...]
    checked: tuple[str, ...] = ()
    stopped: tuple[str, ...] = ()
    subject: str = field(default="grammar", compare=False)

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that are no warnings."""
        return tuple(finding for finding in self.findings if not finding.warning)

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """The findings that are no errors."""
        return tuple(finding for finding in self.findings if finding.warning)

    @property
    def complete(self) -> bool:
        """Whether nothing was left out."""
        return not self.stopped

    @property
    def summary(self) -> str:
        """How many there are, in words; whether the search was complete is part of it."""
        return counted(len(self.errors), len(self.warnings), self.complete)

    def __len__(self) -> int:
        return len(self.findings)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __getitem__(self, index: int) -> Finding:
        return self.findings[index]

    def __str__(self) -> str:
        lines = [f"dead ends in the {self.subject}: {self.summary}"]
        lines += [f"{i}. {finding}" for i, finding in enumerate(self.findings, 1)]
        lines += [f"checked: {what}" for what in self.checked]
        lines += [f"not complete: {what}" for what in self.stopped]
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """The report as JSON values."""
        return {
            "findings": [finding.to_json() for finding in self.findings],
            "checked": list(self.checked),
            "stopped": list(self.stopped),
            "complete": self.complete,
            "summary": self.summary,
        }


def ordered(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Errors first, then by the length of their paths."""
    return tuple(sorted(findings, key=lambda f: (f.warning, len(f.path or b""), f.message)))

"""What a grammar's author may want to change: findings and a report of them, as plain values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, overload

from workbench.errors import underline
from workbench.grammar.ir import Grammar, Origin
from workbench.grammar.places import home
from workbench.readable import readable
from workbench.vocabulary.labels import quoted
from workbench.wording import number_of

__all__ = ["LintFinding", "LintReport", "finding", "ordered", "shown"]

Severity = Literal["error", "warning", "info"]
Kind = Literal[
    "unreachable",
    "unproductive",
    "empty loop",
    "empty text",
    "unbounded run",
    "duplicate",
    "shadowed",
    "ambiguous",
    "never closed",
]
_ORDER = ("error", "warning", "info")


@readable
@dataclass(frozen=True, slots=True)
class LintFinding:
    """One thing that an author may want to change.

    ``severity`` is ``"error"`` where no text can be written at all, ``"warning"`` for what is hardly meant, ``"info"``
    for what may well be. ``rule`` is the rule that it is in; ``start`` to ``end`` are characters of the source, with
    ``line`` and ``column`` from 1 on and a ``picture`` of the line; ``pointer`` is the place of a schema, or of a part
    that stands under a name. ``advice`` says what to do. ``witness`` is a text that shows it.
    """

    kind: Kind
    severity: Severity
    message: str
    advice: str = ""
    rule: str | None = None
    pointer: str | None = None
    start: int | None = None
    end: int | None = None
    line: int | None = None
    column: int | None = None
    picture: str = ""
    witness: str | None = None

    @property
    def place(self) -> str:
        """Where it is, in words."""
        parts = []
        if self.pointer:
            parts.append(self.pointer)
        if self.line is not None:
            parts.append(f"line {self.line}, column {self.column}")
        elif self.rule and not self.pointer and repr(self.rule) not in self.message:
            parts.append(f"rule {self.rule!r}")
        return ", ".join(parts)

    def __str__(self) -> str:
        where = f"{self.place}: " if self.place else ""
        lines = [f"{self.severity}: {where}{self.message}"]
        lines += ["  " + line for line in self.picture.split("\n") if self.picture]
        if self.advice:
            lines.append(f"  {self.advice}")
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """The finding as JSON values."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


def finding(
    grammar: Grammar,
    kind: Kind,
    severity: Severity,
    message: str,
    advice: str = "",
    *,
    rule: str | None = None,
    place: Origin | tuple[int, int] | None = None,
    witness: str | None = None,
) -> LintFinding:
    """A finding at a place of a grammar, or at characters of its own text."""
    start, end, pointer = None, None, None
    source: Any = grammar.source
    if isinstance(place, tuple):
        start, end = place
    elif place is not None:
        at, inner = home(grammar, place)
        source, start, end = at.source, inner.start, inner.end
        pointer = place.pointer if at is not grammar or inner.pointer else None
    line, column, picture = None, None, ""
    if isinstance(source, bytes):
        source = source.decode("latin-1")
    if isinstance(source, str) and start is not None:
        line, column, picture = underline(source, start, end)
    else:
        start = end = None
    return LintFinding(
        *(kind, severity, message, advice, rule, pointer),
        *(start, end, line, column, picture, witness),
    )


@readable
class LintReport(Sequence[LintFinding]):
    """The findings, what matters most first; ``stopped`` says what was not looked at to its end."""

    def __init__(
        self, subject: str, findings: Sequence[LintFinding], stopped: Sequence[str] = ()
    ) -> None:
        self.subject = subject
        self.findings = tuple(findings)
        self.stopped = tuple(stopped)

    def _of(self, severity: Severity) -> tuple[LintFinding, ...]:
        return tuple(one for one in self.findings if one.severity == severity)

    @property
    def errors(self) -> tuple[LintFinding, ...]:
        """Where no text can be written."""
        return self._of("error")

    @property
    def warnings(self) -> tuple[LintFinding, ...]:
        """What is hardly meant."""
        return self._of("warning")

    @property
    def infos(self) -> tuple[LintFinding, ...]:
        """What may well be meant."""
        return self._of("info")

    @property
    def complete(self) -> bool:
        """Whether nothing was left out."""
        return not self.stopped

    @property
    def summary(self) -> str:
        """How many there are, in words."""
        counts = (
            (len(self.errors), "error"),
            (len(self.warnings), "warning"),
            (len(self.infos), "note"),
        )
        told = ", ".join(number_of(count, what) for count, what in counts if count)
        told = told or "nothing found"
        return told if self.complete else f"{told}; not all was looked at"

    @overload
    def __getitem__(self, index: int) -> LintFinding: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[LintFinding, ...]: ...
    def __getitem__(self, index: Any) -> Any:
        return self.findings[index]

    def __len__(self) -> int:
        return len(self.findings)

    def __iter__(self) -> Iterator[LintFinding]:
        return iter(self.findings)

    def __repr__(self) -> str:
        return f"<LintReport {self.subject}: {self.summary}>"

    def __str__(self) -> str:
        lines = [f"lint of the {self.subject}: {self.summary}"]
        lines += [f"{number}. {one}" for number, one in enumerate(self.findings, 1)]
        lines += [f"not looked at to the end: {what}" for what in self.stopped]
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """The report as JSON values."""
        return {
            "findings": [one.to_json() for one in self.findings],
            "stopped": list(self.stopped),
            "complete": self.complete,
            "summary": self.summary,
        }


def ordered(findings: Sequence[LintFinding]) -> list[LintFinding]:
    """Errors first, then warnings, each in the order of the text."""
    return sorted(findings, key=lambda one: (_ORDER.index(one.severity), one.start or 0))


def shown(text: str) -> str:
    """A text between quotation marks, as it may stand in a sentence."""
    return quoted(text.encode("utf-8", "surrogatepass"))

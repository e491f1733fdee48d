"""The answer to "why is this token allowed, or not": plain values, a text form and a JSON form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from workbench.diagnostics.readable import readable
from workbench.vocabulary.labels import label_bytes
from workbench.wording import byte_quoted, joined, number_of

__all__ = ["Nearest", "Why", "WhyByte", "WhyEnd", "WhyFrame", "bytes_text", "quoted"]

Status = Literal["consumed", "fatal", "not reached"]
#: Ways to read a part that a line tells.
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class WhyFrame:
    """An open part of the grammar, in the author's terms.

    ``rule`` names its rule; ``pointer`` is a place of a schema, ``start:end`` a span of characters of the
    grammar's text and ``source`` what stands there. ``entered`` is the offset of its first byte in the
    text (None when only the automaton is known), ``opened`` that byte where it is a bracket. ``count`` of
    ``least`` to ``most`` times is how often a counted part was read. ``state`` is the automaton's state
    where the author's terms are not known. ``items`` say how far a part of a grammar's text was read, a dot
    standing where the text stands (``expr → term "+" • term``), in each way in which it can be read.
    """

    rule: str
    pointer: str | None = None
    start: int | None = None
    end: int | None = None
    source: str = ""
    entered: int | None = None
    opened: str = ""
    count: int | None = None
    least: int = 0
    most: int | None = None
    state: int | None = None
    items: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What to call it: its place in a schema, its rule, or (counted) what is repeated."""
        if self.pointer is not None:
            kind = {"{": "object ", "[": "array "}.get(self.opened, "")
            return f"{kind}{self.pointer}"
        if self.count is not None and self.source:
            return self.source
        return self.rule

    @property
    def counted(self) -> str:
        """How often a counted part was read and may be, in words; nothing for other parts."""
        if self.count is None:
            return ""
        if self.most is None:
            return f"{self.count} of at least {self.least}"
        if self.least == self.most:
            return f"{self.count} of {self.most}"
        if self.count < self.least:
            return f"{self.count} of at least {self.least}"
        return f"{self.count} of at most {self.most}"

    @property
    def times(self) -> str:
        """How often a counted part was read, where it was entered left to the end."""
        return f"{self.counted} ({self.since})" if self.since else self.counted

    @property
    def place(self) -> str:
        """How far it was read, in one line; nothing where that is not known."""
        more = len(self.items) - _SHOWN
        return " or ".join((*self.items[:_SHOWN], *([f"{more} more"] if more > 0 else [])))

    @property
    def since(self) -> str:
        """Where it was entered, in words."""
        if self.entered is None:
            return ""
        return f"entered after byte {self.entered}" if self.entered else "entered at the start"

    def __str__(self) -> str:
        details = ", ".join(part for part in (self.counted, self.since) if part)
        return f"{self.name} ({details})" if details else self.name

    def to_json(self) -> dict[str, Any]:
        """The frame as JSON values, with ``name``, ``counted`` and ``since`` in words."""
        found = {key: getattr(self, key) for key in self.__slots__} | {"items": list(self.items)}
        return {**found, "name": self.name, "counted": self.counted, "since": self.since}


@dataclass(frozen=True, slots=True)
class WhyByte:
    """One byte of a token: what became of it, and where the text stood before it.

    ``states`` are the live states of the automaton, ``stack`` the open parts, innermost first; both are
    empty for a byte that was not reached.
    """

    byte: int
    status: Status
    states: tuple[int, ...] = ()
    stack: tuple[WhyFrame, ...] = ()

    @property
    def label(self) -> str:
        """The byte in quotes, or in hexadecimal."""
        return byte_quoted(self.byte)

    def to_json(self) -> dict[str, Any]:
        """The byte as JSON values."""
        return {
            "byte": self.byte,
            "label": self.label,
            "status": self.status,
            "states": list(self.states),
            "stack": [frame.to_json() for frame in self.stack],
        }


@dataclass(frozen=True, slots=True)
class WhyEnd:
    """Whether an end of the text may come, and why."""

    token_id: int
    label: str
    allowed: bool
    reason: str

    def to_json(self) -> dict[str, Any]:
        """The end as JSON values."""
        return {key: getattr(self, key) for key in self.__slots__}


@dataclass(frozen=True, slots=True)
class Nearest:
    """An allowed token that begins as the one asked about does, for ``shared`` bytes."""

    token_id: int
    token_bytes: bytes
    shared: int

    def to_json(self) -> dict[str, Any]:
        """The token as JSON values, its bytes in hexadecimal."""
        return {
            "token_id": self.token_id,
            "bytes": self.token_bytes.hex(),
            "label": label_bytes(self.token_bytes),
            "shared": self.shared,
        }


@readable
@dataclass(frozen=True, slots=True, kw_only=True)
class Why:
    """Why a token may or may not come next.

    ``token_id`` is None for bytes that are no token of the vocabulary. ``cells`` are its bytes one by one,
    ``fatal`` the index of the one that may not come (None when all may, or when no byte decides).
    ``sentence`` says it in one sentence. ``expected`` are the bytes that may stand there: in place of the
    fatal byte, or after the token. ``nearest`` are allowed tokens with the longest beginning in common.
    ``ends`` has the reason of every end of the text. ``after`` is the number of bytes before the token.
    ``terms`` says whose parts the stacks name; ``note`` why they are not the author's, or what else to know.
    """

    token_id: int | None
    token_bytes: bytes
    label: str
    allowed: bool
    sentence: str
    cells: tuple[WhyByte, ...] = ()
    fatal: int | None = None
    expected: frozenset[int] = frozenset()
    nearest: tuple[Nearest, ...] = ()
    ends: tuple[WhyEnd, ...] = ()
    after: int = 0
    terms: Literal["author", "automaton"] = "author"
    note: str = ""

    @property
    def consumed(self) -> int:
        """How many of its bytes may come."""
        return sum(cell.status == "consumed" for cell in self.cells)

    @property
    def expected_text(self) -> str:
        """The bytes that may stand there, as a short list of ranges."""
        return bytes_text(self.expected)

    @property
    def stack(self) -> tuple[WhyFrame, ...]:
        """The open parts where it was decided: before the fatal byte, else before the token."""
        if not self.cells:
            return ()
        return self.cells[self.fatal or 0].stack

    def to_json(self) -> dict[str, Any]:
        """Everything as JSON values; token bytes in hexadecimal."""
        return {
            "token_id": self.token_id,
            "bytes": self.token_bytes.hex(),
            "label": self.label,
            "allowed": self.allowed,
            "sentence": self.sentence,
            "cells": [cell.to_json() for cell in self.cells],
            "consumed": self.consumed,
            "fatal": self.fatal,
            "expected": sorted(self.expected),
            "expected_text": self.expected_text,
            "nearest": [token.to_json() for token in self.nearest],
            "ends": [end.to_json() for end in self.ends],
            "after": self.after,
            "terms": self.terms,
            "note": self.note,
        }

    def __str__(self) -> str:
        number = "no token" if self.token_id is None else f"id {self.token_id}"
        verdict = "allowed" if self.allowed else "not allowed"
        lines = [f"{self.label}  {number}  {verdict}: {self.sentence}"]
        marks = {"consumed": "●", "fatal": "✕", "not reached": "·"}
        for cell in self.cells:
            where = joined(cell.stack, 4, " < ")
            states = f"  state {joined(cell.states, 6, ' ')}" if cell.states else ""
            line = f"  {marks[cell.status]} {cell.label:<6} {cell.status:<11}"
            lines.append(f"{line}{states}{'  in ' + where if where else ''}".rstrip())
        places = [frame.place for frame in self.stack[:4] if frame.place]
        if places:
            lines.append(f"  place: {' < '.join(places)}")
        place = "would be accepted here" if self.fatal is not None else "may come next"
        if self.cells and self.allowed:
            place = "may come after it"
        lines.append(f"  {place}: {self.expected_text}")
        if self.nearest:
            tokens = "  ".join(f"{label_bytes(t.token_bytes)} ({t.token_id})" for t in self.nearest)
            lines.append(f"  nearest allowed: {tokens}")
        lines += [f"  end {end.label}: {end.reason}" for end in self.ends]
        if self.note:
            lines.append(f"  note: {self.note}")
        return "\n".join(lines)


def bytes_text(values: frozenset[int] | set[int], limit: int = 8) -> str:
    """A set of bytes as a list of ranges, at most ``limit`` of them: ``'0'-'9', ',', ']'``."""
    if not values:
        return "nothing"
    if len(values) == 256:
        return "any byte"
    ranges: list[list[int]] = []
    for value in sorted(values):
        if ranges and ranges[-1][1] == value - 1:
            ranges[-1][1] = value
        else:
            ranges.append([value, value])
    shown = []
    for low, high in ranges[:limit]:
        sign = "-" if high - low > 1 else ", "
        shown.append(
            byte_quoted(low) if low == high else f"{byte_quoted(low)}{sign}{byte_quoted(high)}"
        )
    more = f" and {number_of(len(ranges) - limit, 'more range')}" if len(ranges) > limit else ""
    return ", ".join(shown) + more


def quoted(data: bytes, limit: int = 60) -> str:
    """Bytes as a label in quotes, the beginning of long ones left out."""
    shown = label_bytes(data if len(data) <= limit else data[-limit:])
    return f"“{shown}”" if len(data) <= limit else f"“…{shown}”"

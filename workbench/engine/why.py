"""Why a token may or may not come next: one form of the answer, from the engine to the page.

``Matcher.explain`` fills in what the engine knows. :func:`workbench.explain` adds what a reading with the author's
grammar tells: the open parts before each byte, the ends of the text and the nearest tokens.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from workbench.automaton.frames import Stack
from workbench.readable import readable
from workbench.vocabulary.labels import bytes_text, label_bytes
from workbench.wording import byte_quoted, joined

__all__ = ["Explanation", "Nearest", "Why", "WhyByte", "WhyEnd"]

Status = Literal["consumed", "fatal", "not reached"]
#: What stands for each in a line.
_SIGNS: dict[Status, str] = {"consumed": "●", "fatal": "✕", "not reached": "·"}


@dataclass(frozen=True, slots=True)
class WhyByte:
    """One byte of a token: what became of it, and where the text stood before it.

    ``states`` are the live states of the automaton, ``stack`` the open parts, innermost first; both are
    empty for a byte that was not reached.
    """

    byte: int
    status: Status
    states: tuple[int, ...] = ()
    stack: Stack = ()

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

    ``token_id`` is None for bytes that are no token of the vocabulary. ``sentence`` says it in one sentence, as
    ``reason`` does. ``consumed`` of its bytes may come, ``fatal`` is the index of the one that may not (None when all
    may, or when no byte decides). ``expected`` are the bytes that may stand there: in place of the fatal byte, or
    after the token. ``terms`` says whose parts are named, the author's or the automaton's.

    :func:`workbench.explain` tells more: ``cells`` are the bytes one by one, ``nearest`` allowed tokens with the
    longest beginning in common, ``ends`` the reason of every end of the text; ``after`` is the number of bytes before
    the token, ``note`` says why the parts are not the author's, or what else to know.
    """

    token_id: int | None
    token_bytes: bytes
    label: str
    allowed: bool
    sentence: str
    consumed: int = 0
    fatal: int | None = None
    expected: frozenset[int] = frozenset()
    cells: tuple[WhyByte, ...] = ()
    nearest: tuple[Nearest, ...] = ()
    ends: tuple[WhyEnd, ...] = ()
    after: int = 0
    terms: Literal["author", "automaton"] = "author"
    note: str = ""

    @property
    def reason(self) -> str:
        """The sentence."""
        return self.sentence

    @property
    def expected_text(self) -> str:
        """The bytes that may stand there, as a short list of ranges."""
        return bytes_text(self.expected)

    @property
    def stack(self) -> Stack:
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
        for cell in self.cells:
            where = joined(cell.stack, 4, " < ")
            states = f"  state {joined(cell.states, 6, ' ')}" if cell.states else ""
            line = f"  {_SIGNS[cell.status]} {cell.label:<6} {cell.status:<11}"
            lines.append(f"{line}{states}{'  in ' + where if where else ''}".rstrip())
        places = [frame.place for frame in self.stack[:4] if frame.place]
        if places:
            lines.append(f"  place: {' < '.join(places)}")
        place = "would be accepted here" if self.fatal is not None else "may come next"
        if self.consumed and self.allowed:
            place = "may come after it"
        lines.append(f"  {place}: {self.expected_text}")
        if self.nearest:
            tokens = "  ".join(f"{label_bytes(t.token_bytes)} ({t.token_id})" for t in self.nearest)
            lines.append(f"  nearest allowed: {tokens}")
        lines += [f"  end {end.label}: {end.reason}" for end in self.ends]
        if self.note:
            lines.append(f"  note: {self.note}")
        return "\n".join(lines)


#: What ``Matcher.explain`` returns, by the name that it had before both answers became one.
Explanation = Why

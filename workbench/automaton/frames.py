"""A frame of a stack: one form of it, from the engine to the page.

A stack is a tuple of frames, top first. The engine knows the states and the rules of each, a reading with the author's
grammar (``diagnostics/author``) also where the part is written and since where it is open; traces keep frames and
screens draw them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from workbench.wording import joined, number_of

__all__ = ["NO_STATE", "Frame", "Stack", "deep_end", "depth", "shortened"]

#: In the place of a state where there is none.
NO_STATE = -1
#: Ways to read a part that a line tells, and rules of a state.
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Frame:
    """An open part of a grammar, as the stack holds it.

    ``state`` is a state of the automaton: on top of a stack the one that the text stands in, below it the one that a
    call returns to; ``NO_STATE`` where only the author's grammar was asked. ``rules`` are the author's rules there.
    ``count`` is how often a counted part was read, of ``least`` to ``most`` times (0 and None where the bounds are not
    known); ``again`` are the states that its next round begins in. ``left_out`` is how many frames of the deep end of
    a stack this one stands for, 0 for a frame of its own.

    The rest is known where the text was read with the author's grammar: ``pointer`` is a place of a schema,
    ``start:end`` a span of characters of the grammar's text and ``source`` what stands there; ``entered`` is the
    offset of the part's first byte in the text, ``opened`` that byte where it is a bracket; ``items`` say how far the
    part was read, a dot standing where the text stands (``expr → term "+" • term``), in each way in which it can be
    read.
    """

    state: int = NO_STATE
    rules: tuple[str, ...] = ()
    count: int | None = None
    least: int = 0
    most: int | None = None
    again: tuple[int, ...] = ()
    left_out: int = 0
    pointer: str | None = None
    start: int | None = None
    end: int | None = None
    source: str = ""
    entered: int | None = None
    opened: str = ""
    items: tuple[str, ...] = ()

    @property
    def rule(self) -> str:
        """The rules in words; empty where none is known."""
        return joined(self.rules, _SHOWN, " or ")

    @property
    def name(self) -> str:
        """What to call it: its place in a schema, its rule, or (counted) what is repeated."""
        if self.pointer is not None:
            kind = {"{": "object ", "[": "array "}.get(self.opened, "")
            return f"{kind}{self.pointer}"
        if self.count is not None and self.source:
            return self.source
        return self.rule or "this place"

    @property
    def counted(self) -> str:
        """How often a counted part was read and may be, in words; nothing for other parts."""
        if self.count is None:
            return ""
        if self.most is None and not self.least:
            return number_of(self.count, "time")
        if self.least == self.most:
            return f"{self.count} of {self.most}"
        if self.most is None or self.count < self.least:
            return f"{self.count} of at least {self.least}"
        return f"{self.count} of at most {self.most}"

    @property
    def times(self) -> str:
        """How often a counted part was read, and where it was entered."""
        return f"{self.counted} ({self.since})" if self.since else self.counted

    @property
    def place(self) -> str:
        """How far it was read, in one line; nothing where that is not known."""
        more = len(self.items) - _SHOWN
        return " or ".join((*self.items[:_SHOWN], *([f"{more} more"] if more > 0 else [])))

    @property
    def told(self) -> str:
        """The frame in words, and how far it was read."""
        return f"{self}: {self.place}" if self.place else str(self)

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
        """The frame as JSON values, with ``rule``, ``name``, ``counted`` and ``since`` in words."""
        found = {key: getattr(self, key) for key in self.__slots__}
        found |= {"state": None if self.state == NO_STATE else self.state}
        found |= {"rules": list(self.rules), "again": list(self.again), "items": list(self.items)}
        words = ("rule", "name", "counted", "since")
        return found | {key: getattr(self, key) for key in words}


#: Frames, top first.
Stack = tuple[Frame, ...]


def depth(stack: Sequence[Frame]) -> int:
    """How many frames a stack has, those that its last one stands for included."""
    return len(stack) + (max(0, stack[-1].left_out - 1) if stack else 0)


def shortened(stack: Sequence[Frame], most: int) -> Stack:
    """The ``most`` frames on top; one more stands for those below, where there are some."""
    if len(stack) <= most or (len(stack) == most + 1 and stack[-1].left_out):
        return tuple(stack)
    return (*stack[:most], *deep_end(depth(stack) - most))


def deep_end(count: int) -> Stack:
    """The one frame that stands for so many frames at the deep end of a stack; none for none."""
    return (Frame(rules=(f"… {count:,} more",), left_out=count),) if count > 0 else ()

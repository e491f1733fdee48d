"""The positions of one sequence: a stack that forks in O(1) and shares what it has in common.

A history owns one segment that it appends to. A fork freezes it: both go on in segments of their own
above it. 8 bytes a token: its id, and every other position; the one between two follows from the one before
it and the token, and is worked out again when it is gone back to.

An interrupt may come between any two steps. So what is new is written where nobody looks yet, behind the last entry,
and one assignment makes it the last one; what stands behind it is void, and cut off when the next one is written.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable
from weakref import WeakSet

from workbench.changes import assigned, at_once, written
from workbench.engine.positions import Sequence
from workbench.errors import GrammarTooComplex

__all__ = ["History"]

#: the position after a token
Replay = Callable[[int, int], int]


class _Segment:
    """Entries above the first ``height`` entries of ``below``; it always has one, after ``first`` tokens."""

    __slots__ = ("__weakref__", "below", "first", "height", "positions", "tokens")

    def __init__(
        self, below: _Segment | None, height: int, position: int, token_id: int, first: int
    ) -> None:
        #: of the last entry, if that is an odd one; of the entries 0, 2, 4, ...
        self.positions: array[int] = array("q", [position, position])
        #: the token that led to each entry, -1 for none
        self.tokens: array[int] = array("i", [token_id])
        self.below = below
        self.height = height
        self.first = first

    def position(self, entry: int, replay: Replay) -> int:
        """The position of an entry that is not the last one, or an even one."""
        if entry & 1:
            return replay(self.positions[1 + (entry >> 1)], self.tokens[entry])
        return self.positions[1 + (entry >> 1)]

    def cut(self, entry: int) -> None:
        """Cut an entry off, and all behind it. What says that it is done comes last."""
        del self.positions[1 + ((entry + 1) >> 1) :]
        del self.tokens[entry:]


class History:
    """Positions, last on top; never empty. Registers its segments with an engine.

    ``replay`` gives the position after a position and a token that once led from there.
    """

    __slots__ = ("_entry", "_floor", "_oldest", "_own", "_registry", "_replay", "keep")

    def __init__(
        self, registry: WeakSet[Sequence], start: int, keep: int | None, replay: Replay
    ) -> None:
        self._registry = registry
        self._replay = replay
        self.keep = keep
        #: so many of all tokens can no longer be taken back; those of the oldest entry that is stored
        self._floor = self._oldest = 0
        self._own = self._segment(None, 0, start, -1, 0)
        #: the last entry of the own segment
        self._entry = 0

    def _segment(
        self, below: _Segment | None, height: int, position: int, token_id: int, first: int
    ) -> _Segment:
        segment = _Segment(below, height, position, token_id, first)
        self._registry.add(segment)
        return segment

    @property
    def top(self) -> int:
        """The current position."""
        entry = self._entry
        return self._own.positions[0 if entry & 1 else 1 + (entry >> 1)]

    @property
    def accepted(self) -> int:
        """How many tokens led here."""
        return self._own.first + self._entry

    @property
    def length(self) -> int:
        """Tokens that can be taken back."""
        length = self.accepted - self._floor
        return length if self.keep is None else min(length, self.keep)

    def write(self, position: int, token_id: int) -> int:
        """Write a new position behind the last one; :meth:`went_on` with what this returns makes it the last."""
        own = self._own
        entry = self._entry + 1
        if len(own.tokens) != entry:
            own.cut(entry)
        own.tokens.append(token_id)
        if entry & 1:
            own.positions[0] = position
        else:
            own.positions.append(position)
        return entry

    def push(self, position: int, token_id: int = -1) -> None:
        """Go on to a new position by a token; drops what is older than ``keep`` tokens."""
        # write(), without a call
        own = self._own
        entry = self._entry + 1
        if len(own.tokens) != entry:
            own.cut(entry)
        own.tokens.append(token_id)
        if entry & 1:
            own.positions[0] = position
        else:
            own.positions.append(position)
        self._entry = entry
        if self.keep is not None:
            self.forget()

    def forget(self) -> None:
        """Drop what is older than ``keep`` tokens, now and then."""
        if self.keep is not None and self.accepted - self._oldest > 2 * self.keep + 16:
            self._forget(self.keep + 1)

    def _forget(self, n: int) -> None:
        """Drop all but the last ``n`` entries, or one more."""
        own, top = self._own, self._entry
        first = (top + 1 - n) & ~1
        if first >= 0:
            at = own.positions[1 + (first >> 1)]
            kept = self._segment(None, 0, at, own.tokens[first], own.first + first)
            kept.positions.extend(own.positions[2 + (first >> 1) : 2 + (top >> 1)])
            kept.positions[0] = own.positions[0]
            kept.tokens.extend(own.tokens[first + 1 : top + 1])
        else:
            try:
                kept = self._flat(n)
            except GrammarTooComplex:  # the next time, then
                return
        entry = own.first + top - kept.first
        at_once(assigned(self, _own=kept, _entry=entry, _oldest=kept.first))

    def _flat(self, n: int) -> _Segment:
        """The last ``n`` entries in one segment."""
        parts: list[tuple[_Segment, int]] = []
        segment, height = self._own, self._entry + 1
        while True:
            parts += [(segment, entry) for entry in range(height - 1, -1, -1)][: n - len(parts)]
            if len(parts) == n or segment.below is None:
                break
            segment, height = segment.below, segment.height
        parts.reverse()
        top = parts[-1]
        first, *others = (part.tokens[entry] for part, entry in parts)
        places = [
            self.top if one is top else one[0].position(one[1], self._replay) for one in parts[::2]
        ]
        kept = self._segment(None, 0, places[0], first, self.accepted + 1 - len(parts))
        kept.positions.extend(places[1:])
        kept.positions[0] = self.top
        kept.tokens.extend(others)
        return kept

    def last_tokens(self, n: int) -> list[int]:
        """The tokens that led to the last ``n`` positions, oldest first."""
        out: list[int] = []
        segment: _Segment | None = self._own
        height = self._entry + 1
        while segment is not None and len(out) < n:
            take = min(n - len(out), height)
            out.extend(reversed(segment.tokens[height - take : height]))
            height = segment.height
            segment = segment.below
        return out[::-1]

    def pop(self, n: int, *more: Iterable[object]) -> None:
        """Take back ``n <= length`` positions, with ``more`` changes. What ``replay`` raises leaves all as it was."""
        if not n:
            return
        segment, height, left = self._own, self._entry + 1, n
        while left >= height:
            left -= height
            assert segment.below is not None
            segment, height = segment.below, segment.height
        entry = height - 1 - left
        position = segment.position(entry, self._replay)
        floor = self.accepted - self.length
        if segment is self._own:
            last = written(segment.positions, array("q", [position]), slice(0, 1))
            at_once(last, assigned(self, _entry=entry, _floor=floor), *more)
            segment.cut(entry + 1)
        else:
            above = self._above(segment, entry, position)
            at_once(assigned(self, _own=above, _entry=0, _floor=floor), *more)

    def _above(self, segment: _Segment, entry: int, position: int) -> _Segment:
        """A segment that begins with an entry of another one, above those before it."""
        token_id, first = segment.tokens[entry], segment.first + entry
        if entry:
            return self._segment(segment, entry, position, token_id, first)
        return self._segment(segment.below, segment.height, position, token_id, first)

    def fork(self) -> History:
        """An independent history with the same positions."""
        other = object.__new__(History)
        other._registry, other._replay = self._registry, self._replay
        other.keep = self.keep
        other._floor, other._oldest = self._floor, self._oldest
        frozen, last, top = self._own, self._entry, self.top
        other._own = self._above(frozen, last, top)
        other._entry = 0
        if last:
            at_once(assigned(self, _own=self._above(frozen, last, top), _entry=0))
        return other

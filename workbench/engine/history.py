"""The positions of one sequence: a stack that forks in O(1) and shares what it has in common.

A history owns one segment that it appends to. A fork freezes it: both go on in segments of their own
above it. 8 bytes a token: its id, and every other position; the one between two follows from the one before
it and the token, and is worked out again when it is gone back to.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from weakref import WeakSet

from workbench.engine.positions import Sequence
from workbench.errors import GrammarTooComplex

__all__ = ["History"]

#: the position after a token
Replay = Callable[[int, int], int]


class _Segment:
    """Entries above the first ``height`` entries of ``below``; it always has one."""

    __slots__ = ("__weakref__", "below", "height", "positions", "tokens")

    def __init__(self, below: _Segment | None, height: int, position: int, token_id: int) -> None:
        #: of the entries 0, 2, 4, ..., and of the last one
        self.positions: array[int] = array("q", [position])
        #: the token that led to each entry, -1 for none
        self.tokens: array[int] = array("i", [token_id])
        self.below = below
        self.height = height

    def position(self, entry: int, replay: Replay) -> int:
        """The position of an entry."""
        if entry & 1 and entry < len(self.tokens) - 1:
            return replay(self.positions[entry >> 1], self.tokens[entry])
        return self.positions[(entry + 1) >> 1]

    def cut(self, entry: int, position: int) -> None:
        """Make an entry, which has this position, the last one."""
        del self.tokens[entry + 1 :]
        del self.positions[(entry >> 1) + 1 :]
        if entry & 1:
            self.positions.append(position)


class History:
    """Positions, last on top; never empty. Registers its segments with an engine.

    ``replay`` gives the position after a position and a token that once led from there.
    """

    __slots__ = ("_own", "_registry", "_replay", "_stored", "keep", "length")

    def __init__(
        self, registry: WeakSet[Sequence], start: int, keep: int | None, replay: Replay
    ) -> None:
        self._registry = registry
        self._replay = replay
        self.keep = keep
        #: tokens that can be taken back
        self.length = 0
        self._stored = 0
        self._own = self._segment(None, 0, start, -1)

    def _segment(
        self, below: _Segment | None, height: int, position: int, token_id: int
    ) -> _Segment:
        segment = _Segment(below, height, position, token_id)
        self._registry.add(segment)
        return segment

    @property
    def top(self) -> int:
        """The current position."""
        return self._own.positions[-1]

    def push(self, position: int, token_id: int = -1) -> None:
        """Go on to a new position by a token; drops what is older than ``keep`` tokens."""
        own = self._own
        if len(own.tokens) & 1:
            own.positions.append(position)
        else:
            own.positions[-1] = position
        own.tokens.append(token_id)
        if self.keep is None or self.length < self.keep:
            self.length += 1
        self._stored += 1
        if self.keep is not None and self._stored > 2 * self.keep + 16:
            self._forget(self.keep + 1)

    def _forget(self, n: int) -> None:
        """Drop all but the last ``n`` entries, or one more."""
        own = self._own
        first = (len(own.tokens) - n) & ~1
        if first >= 0:
            kept = self._segment(None, 0, own.positions[first >> 1], own.tokens[first])
            kept.positions.extend(own.positions[(first >> 1) + 1 :])
            kept.tokens.extend(own.tokens[first + 1 :])
        else:
            try:
                kept = self._flat(n)
            except GrammarTooComplex:  # the next time, then
                return
        self._own = kept
        self._stored = len(kept.tokens) - 1

    def _flat(self, n: int) -> _Segment:
        """The last ``n`` entries in one segment."""
        parts: list[tuple[_Segment, int]] = []
        segment, height = self._own, len(self._own.tokens)
        while True:
            parts += [(segment, entry) for entry in range(height - 1, -1, -1)][: n - len(parts)]
            if len(parts) == n or segment.below is None:
                break
            segment, height = segment.below, segment.height
        parts.reverse()
        first, *others = (part.tokens[entry] for part, entry in parts)
        places = [part.position(entry, self._replay) for part, entry in parts[::2]]
        kept = self._segment(None, 0, places[0], first)
        kept.positions.extend(places[1:])
        kept.tokens.extend(others)
        if len(parts) % 2 == 0:
            kept.positions.append(self.top)
        return kept

    def last_tokens(self, n: int) -> list[int]:
        """The tokens that led to the last ``n`` positions, oldest first."""
        out: list[int] = []
        segment: _Segment | None = self._own
        height = len(self._own.tokens)
        while segment is not None and len(out) < n:
            take = min(n - len(out), height)
            out.extend(reversed(segment.tokens[height - take : height]))
            height = segment.height
            segment = segment.below
        return out[::-1]

    def pop(self, n: int) -> None:
        """Take back ``n <= length`` positions. What ``replay`` raises leaves all as it was."""
        if not n:
            return
        segment, height, left = self._own, len(self._own.tokens), n
        while left >= height:
            left -= height
            assert segment.below is not None
            segment, height = segment.below, segment.height
        entry = height - 1 - left
        position = segment.position(entry, self._replay)
        if segment is self._own:
            segment.cut(entry, position)
        else:
            self._own = self._above(segment, entry, position)
        self.length -= n
        self._stored -= n

    def _above(self, segment: _Segment, entry: int, position: int) -> _Segment:
        """A segment that begins with an entry of another one, above those before it."""
        token_id = segment.tokens[entry]
        if entry:
            return self._segment(segment, entry, position, token_id)
        return self._segment(segment.below, segment.height, position, token_id)

    def fork(self) -> History:
        """An independent history with the same positions."""
        other = object.__new__(History)
        other._registry, other._replay = self._registry, self._replay
        other.keep = self.keep
        other.length = self.length
        other._stored = self._stored
        frozen, top = self._own, self.top
        last = len(frozen.tokens) - 1
        other._own = self._above(frozen, last, top)
        if last:
            self._own = self._above(frozen, last, top)
        return other

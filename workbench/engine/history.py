"""The positions of one sequence: a stack that forks in O(1) and shares what it has in common.

A history owns one segment that it appends to. A fork freezes it: both go on in segments of their own
above it. 12 bytes a token: its id lies beside the position that it led to.
"""

from __future__ import annotations

from array import array
from weakref import WeakSet

from workbench.engine.engine import Sequence

__all__ = ["History"]


class _Segment:
    """Positions above the first ``height`` positions of ``below``."""

    __slots__ = ("__weakref__", "below", "height", "positions", "tokens")

    def __init__(self, below: _Segment | None, height: int) -> None:
        self.positions: array[int] = array("q")
        #: the token that led to each position, -1 for none
        self.tokens: array[int] = array("i")
        self.below = below
        self.height = height


class History:
    """Positions, last on top; never empty. Registers its segments with an engine."""

    __slots__ = ("_own", "_registry", "_stored", "keep", "length")

    def __init__(self, registry: WeakSet[Sequence], start: int, keep: int | None) -> None:
        self._registry = registry
        self.keep = keep
        #: tokens that can be taken back
        self.length = 0
        self._stored = 0
        self._own = self._segment(None, 0)
        self._own.positions.append(start)
        self._own.tokens.append(-1)

    def _segment(self, below: _Segment | None, height: int) -> _Segment:
        segment = _Segment(below, height)
        self._registry.add(segment)
        return segment

    @property
    def top(self) -> int:
        """The current position."""
        own = self._own
        if own.positions:
            return own.positions[-1]
        assert own.below is not None
        return own.below.positions[own.height - 1]

    def push(self, position: int, token_id: int = -1) -> None:
        """Go on to a new position by a token; drops what is older than ``keep`` tokens."""
        own = self._own
        own.positions.append(position)
        own.tokens.append(token_id)
        if self.keep is None or self.length < self.keep:
            self.length += 1
        self._stored += 1
        if self.keep is not None and self._stored > 2 * self.keep + 16:
            kept, tokens = self.last(self.keep + 1), self.last_tokens(self.keep + 1)
            self._own = self._segment(None, 0)
            self._own.positions.extend(kept)
            self._own.tokens.extend(tokens)
            self._stored = len(kept) - 1

    def last(self, n: int) -> list[int]:
        """The last ``n`` positions, oldest first."""
        return self._last("positions", n)

    def last_tokens(self, n: int) -> list[int]:
        """The tokens that led to the last ``n`` positions, oldest first."""
        return self._last("tokens", n)

    def _last(self, column: str, n: int) -> list[int]:
        out: list[int] = []
        segment: _Segment | None = self._own
        height = len(self._own.positions)
        while segment is not None and len(out) < n:
            take = min(n - len(out), height)
            out.extend(reversed(getattr(segment, column)[height - take : height]))
            height = segment.height
            segment = segment.below
        return out[::-1]

    def pop(self, n: int) -> None:
        """Take back ``n <= length`` positions."""
        self.length -= n
        self._stored -= n
        while n > len(self._own.positions) - (self._own.below is None):
            own = self._own
            n -= len(own.positions)
            assert own.below is not None
            if own.height - n > 0:
                self._own = self._segment(own.below, own.height - n)
                return
            n -= own.height
            self._own = self._segment(own.below.below, own.below.height)
        if n:
            del self._own.positions[-n:]
            del self._own.tokens[-n:]

    def fork(self) -> History:
        """An independent history with the same positions."""
        other = object.__new__(History)
        other._registry = self._registry
        other.keep = self.keep
        other.length = self.length
        other._stored = self._stored
        frozen = self._own
        if not frozen.positions:
            other._own = other._segment(frozen.below, frozen.height)
            return other
        other._own = other._segment(frozen, len(frozen.positions))
        self._own = self._segment(frozen, len(frozen.positions))
        return other

"""Any text until a marker: the texts that hold the marker once, at their very end.

The automaton is that of Knuth, Morris and Pratt for one marker and of Aho and Corasick for several: a
state is the longest end of the text so far that begins a marker.
"""

from __future__ import annotations

from collections.abc import Sequence

from workbench.grammar.ir import ByteSet, CharSet, Expr, Graph, Origin

__all__ = ["until"]

_LAST = 0x10FFFF


def until(
    marker: str | bytes | Sequence[str | bytes],
    *,
    include: bool = True,
    origin: Origin | None = None,
) -> Graph:
    """Give the texts that end where a marker ends for the first time.

    With ``include=False`` the texts that may stand before that first marker, so that such a text followed
    by the marker is one of the texts above. (For a marker like ``aa`` that is less than all texts without
    it: after ``ba`` the marker would end one character early.)

    A marker that is a ``str`` ends texts of any characters, one that is ``bytes`` ends strings of any
    bytes; among several, one of ``bytes`` decides. Raises ``ValueError`` for no marker, an empty one, and
    one with half a surrogate pair.
    """
    markers = [marker] if isinstance(marker, str | bytes) else list(marker)
    if not markers:
        raise ValueError("there is no marker to stop at")
    for one in markers:
        if not one:
            raise ValueError("a marker is not empty")
        if isinstance(one, str) and any(0xD800 <= ord(char) <= 0xDFFF for char in one):
            raise ValueError(f"the marker {one!r} holds half of a surrogate pair")
    as_bytes = any(isinstance(one, bytes) for one in markers)
    codes: list[tuple[int, ...]] = []
    for one in markers:
        if isinstance(one, str):
            codes.append(tuple(one.encode() if as_bytes else map(ord, one)))
        else:
            codes.append(tuple(one))
    search = _Search(codes)
    n_states, finals, edges = search.texts() if include else search.texts_before()

    def label(chars: Sequence[int], negated: bool) -> Expr:
        if not as_bytes:
            return CharSet(_ranges(chars, negated), origin=origin)
        mask = sum(1 << byte for byte in chars)
        return ByteSet((1 << 256) - 1 - mask if negated else mask, origin=origin)

    return Graph(
        n_states,
        0,
        tuple(finals),
        tuple((a, label(chars, negated), b) for a, chars, negated, b in edges),
        origin=origin,
    )


#: From, characters, whether all others are meant, to.
_Edge = tuple[int, Sequence[int], bool, int]


class _Search:
    """The automaton that finds the first end of a marker; state 0 starts, and nothing follows a match."""

    def __init__(self, markers: Sequence[tuple[int, ...]]) -> None:
        self.markers = markers
        trie: list[dict[int, int]] = [{}]
        self.matched: set[int] = set()
        for marker in markers:
            state = 0
            for char in marker:
                if char not in trie[state]:
                    trie[state][char] = len(trie)
                    trie.append({})
                state = trie[state][char]
            self.matched.add(state)
        #: where each character leads that does not lead back to state 0
        self.going: list[dict[int, int]] = [{} for _ in trie]
        self.order = [0]
        falls = [0] * len(trie)
        for state in self.order:
            fallen = falls[state]
            if fallen in self.matched:
                self.matched.add(state)
            if state in self.matched:
                continue
            if state:
                self.going[state].update(self.going[fallen])
            for char, target in trie[state].items():
                if state:
                    falls[target] = self.step(fallen, char)
                self.going[state][char] = target
                self.order.append(target)

    def step(self, state: int, char: int) -> int:
        return self.going[state].get(char, 0)

    def texts(self) -> tuple[int, list[int], list[_Edge]]:
        """States, ends and edges for the texts, their marker included; one end for all markers."""
        return self._written([s for s in self.order if s not in self.matched], None)

    def texts_before(self) -> tuple[int, list[int], list[_Edge]]:
        """The same for what may stand before the first marker."""
        open_states = [state for state in self.order if state not in self.matched]
        return self._written(open_states, {s for s in open_states if self._may_end(s)})

    def _may_end(self, state: int) -> bool:
        """Whether some marker, read from a state, is found when it ends and not earlier."""
        for marker in self.markers:
            at = state
            for number, char in enumerate(marker):
                at = self.step(at, char)
                if at in self.matched:
                    if number == len(marker) - 1:
                        return True
                    break
        return False

    def _written(
        self, states: list[int], ends: set[int] | None
    ) -> tuple[int, list[int], list[_Edge]]:
        number_of = {state: number for number, state in enumerate(states)}
        match = len(states)
        edges: list[_Edge] = []
        for state in states:
            chars_to: dict[int, list[int]] = {}
            for char, target in sorted(self.going[state].items()):
                if target not in self.matched:
                    chars_to.setdefault(number_of[target], []).append(char)
                elif ends is None:
                    chars_to.setdefault(match, []).append(char)
            edges += [(number_of[state], chars, False, to) for to, chars in chars_to.items()]
            edges.append((number_of[state], sorted(self.going[state]), True, 0))
        if ends is None:
            return match + 1, [match], edges
        return match, [number_of[state] for state in states if state in ends], edges


def _ranges(chars: Sequence[int], negated: bool) -> tuple[tuple[int, int], ...]:
    """Sorted characters, or all others, as ranges."""
    ranges: list[tuple[int, int]] = []
    if negated:
        low = 0
        for char in chars:
            if low < char:
                ranges.append((low, char - 1))
            low = char + 1
        return (*ranges, (low, _LAST)) if low <= _LAST else tuple(ranges)
    for char in chars:
        if ranges and ranges[-1][1] == char - 1:
            ranges[-1] = (ranges[-1][0], char)
        else:
            ranges.append((char, char))
    return tuple(ranges)

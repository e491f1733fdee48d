"""Any text until a marker: the texts that hold the marker once, at their very end.

The automaton is that of Knuth, Morris and Pratt for one marker and of Aho and Corasick for several: a
state is the longest end of the text so far that begins a marker.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from workbench.grammar.ir import ByteSet, CharSet, Expr, Graph, Origin

__all__ = ["before_each", "until", "without"]

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
    codes, as_bytes = _codes(markers)
    search = _Search(codes)
    if include:
        return _graph(search.texts(), as_bytes, origin)
    return _graph(search.open_texts(search.before_any()), as_bytes, origin)


def without(markers: Sequence[str | bytes], *, origin: Origin | None = None) -> Graph:
    """Give the texts that hold no marker; they may end in the beginning of one. Raises as :func:`until` does."""
    codes, as_bytes = _codes(markers)
    search = _Search(codes)
    return _graph(search.open_texts(search.open_states), as_bytes, origin)


def before_each(
    markers: Sequence[str | bytes], excludes: Sequence[str | bytes] = ()
) -> list[tuple[Graph, tuple[int, ...]]]:
    """Give the texts that may stand before each of several markers, where it is the first that ends.

    No marker and no excluded text is in such a text, nor ends in it with the marker behind it before the marker does;
    of several that end together an excluded one counts, then the longest. Markers with the same texts before them are
    told together, by their numbers; one that no text can lead to (it holds another one before its end, or an excluded
    text) is not told. Raises as :func:`until` does.
    """
    codes, as_bytes = _codes([*markers, *excludes])
    search = _Search(codes)
    groups: dict[frozenset[int], list[int]] = {}
    for number, ends in enumerate(search.ends(len(markers))):
        groups.setdefault(ends, []).append(number)
    return [
        (_graph(search.open_texts(ends), as_bytes, None), tuple(numbers))
        for ends, numbers in groups.items()
        if ends
    ]


def _codes(markers: Sequence[str | bytes]) -> tuple[list[tuple[int, ...]], bool]:
    """The markers as numbers, and whether these are bytes, not characters."""
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
    return codes, as_bytes


#: From, characters, whether all others are meant, to.
_Edge = tuple[int, Sequence[int], bool, int]
#: States, ends and edges.
_Written = tuple[int, list[int], list[_Edge]]


def _graph(written: _Written, as_bytes: bool, origin: Origin | None) -> Graph:
    def label(chars: Sequence[int], negated: bool) -> Expr:
        if not as_bytes:
            return CharSet(_ranges(chars, negated), origin=origin)
        mask = sum(1 << byte for byte in chars)
        return ByteSet((1 << 256) - 1 - mask if negated else mask, origin=origin)

    n_states, finals, edges = written
    return Graph(
        n_states,
        0,
        tuple(finals),
        tuple((a, label(chars, negated), b) for a, chars, negated, b in edges),
        origin=origin,
    )


class _Search:
    """The automaton that finds the first end of a marker; state 0 starts, and nothing follows a match."""

    def __init__(self, markers: Sequence[tuple[int, ...]]) -> None:
        self.markers = markers
        trie: list[dict[int, int]] = [{}]
        self.matched: set[int] = set()
        #: the markers that end in each of these
        self.ending: dict[int, list[int]] = {}
        for number, marker in enumerate(markers):
            state = 0
            for char in marker:
                if char not in trie[state]:
                    trie[state][char] = len(trie)
                    trie.append({})
                state = trie[state][char]
            self.matched.add(state)
            self.ending.setdefault(state, []).append(number)
        #: where each character leads that does not lead back to state 0
        self.going: list[dict[int, int]] = [{} for _ in trie]
        self.order = [0]
        falls = [0] * len(trie)
        for state in self.order:
            fallen = falls[state]
            if fallen in self.matched:
                self.matched.add(state)
                self.ending[state] = [*self.ending.get(state, ()), *self.ending[fallen]]
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

    @property
    def open_states(self) -> frozenset[int]:
        """The states before any marker has been found."""
        return frozenset(self.order) - self.matched

    def texts(self) -> _Written:
        """What is written of the texts, their marker included; one end for all markers."""
        return self._written(None)

    def open_texts(self, ends: frozenset[int]) -> _Written:
        """The same of the texts without a marker that lead to some states."""
        return self._written(ends)

    def before_any(self) -> frozenset[int]:
        """The states from which some marker is found when it ends and none earlier."""
        return frozenset().union(*self._ends(len(self.markers), self.ending))

    def ends(self, n: int) -> list[frozenset[int]]:
        """For each of the first ``n`` markers the states from which it is found when it ends and none earlier.

        Where several end together, one of the others counts, then the longest.
        """
        return self._ends(
            n, {state: self._first(ending, n) for state, ending in self.ending.items()}
        )

    def _first(self, ending: list[int], n: int) -> list[int]:
        """Which of the markers that end together count."""
        if max(ending) >= n:
            return []
        longest = max(len(self.markers[number]) for number in ending)
        return [number for number in ending if len(self.markers[number]) == longest]

    def _ends(self, n: int, counts: Mapping[int, Sequence[int]]) -> list[frozenset[int]]:
        every = self.open_states
        by_first: dict[int, list[int]] = {}
        for number, marker in enumerate(self.markers[:n]):
            by_first.setdefault(marker[0], []).append(number)
        # from most states a marker is read as from the first one
        others: list[set[int]] = [set() for _ in range(n)]
        for state in every:
            for char, target in self.going[state].items():
                if target != self.step(0, char):
                    for number in by_first.get(char, ()):
                        if not self._may_end(state, number, counts):
                            others[number].add(state)
        return [
            every.difference(others[number]) if self._may_end(0, number, counts) else frozenset()
            for number in range(n)
        ]

    def _may_end(self, state: int, number: int, counts: Mapping[int, Sequence[int]]) -> bool:
        """Whether a marker, read from a state, is found when it ends and none earlier."""
        *before, last = self.markers[number]
        for char in before:
            state = self.step(state, char)
            if state in self.matched:
                return False
        return number in counts.get(self.step(state, last), ())

    def _written(self, ends: frozenset[int] | None) -> _Written:
        states = [state for state in self.order if state not in self.matched]
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

r"""A deterministic automaton over characters as one over the bytes of their JSON spellings.

Each state gets its own first bytes; what is left of a character after them (UTF-8 continuation bytes,
hexadecimal digits, the second half of a pair) is a state shared by all that continue alike. So the
result is deterministic again, and a class that most states share costs its states only once.

Next file to read: ``strings.py``.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

from workbench.frontends.json_schema.spelling import RAW, SHORT
from workbench.grammar.ir import ByteSet, CharSet, Expr, Graph

__all__ = ["coded"]

#: First and last character of a run of characters, and the state that they lead to.
_Step = tuple[int, int, int]
_Steps = tuple[_Step, ...]

#: First and last code point, bits after the lead byte, and the byte that a lead byte of zero would be.
_UTF8 = ((0x80, 0x7FF, 6, 0xC0), (0x800, 0xFFFF, 12, 0xE0), (0x10000, 0x10FFFF, 18, 0xF0))

#: Most runs of characters that one state may tell apart, and most states, for this form to pay:
#: automata that count characters have few remainders in common.
_MAX_STEPS = 40
_MAX_STATES = 200


def coded(graph: Graph, *, always: bool = False) -> Graph | None:
    """Spell a deterministic graph over ``CharSet`` labels in bytes.

    Returns ``None`` where sharing whole character classes is smaller, unless it is to be done ``always``.
    """
    steps: list[list[_Step]] = [[] for _ in range(graph.n_states)]
    for source, label, target in graph.edges:
        if not isinstance(label, CharSet):
            return None
        steps[source].extend((low, high, target) for low, high in label.ranges)
    large = graph.n_states > _MAX_STATES or max(map(len, steps), default=0) > _MAX_STEPS
    if large and not always:
        return None
    coder = _Coder(graph.n_states)
    for state, found in enumerate(steps):
        coder.character(state, _joined(_without_surrogates(sorted(found))))
    return Graph(coder.n_states, graph.start, graph.finals, tuple(coder.edges), origin=graph.origin)


class _Coder:
    """States and edges made so far; equal remainders are one state."""

    def __init__(self, n_states: int) -> None:
        self.n_states = n_states
        self.edges: list[tuple[int, Expr, int]] = []
        self._known: dict[Hashable, int] = {}

    def _state(self, key: Hashable) -> tuple[int, bool]:
        known = self._known.get(key)
        if known is not None:
            return known, False
        self._known[key] = self.n_states
        self.n_states += 1
        return self.n_states - 1, True

    def _connect(self, source: int, masks: dict[int, int]) -> None:
        self.edges.extend((source, ByteSet(mask), target) for target, mask in masks.items())

    def character(self, source: int, steps: _Steps) -> None:
        """Edges for one character, in all of its spellings."""
        masks: dict[int, int] = {}
        raw = _joined(
            (max(low, first), min(high, last), target)
            for low, high, target in steps
            for first, last in RAW
            if low <= last and high >= first
        )
        for low, high, target in raw:
            for code in range(low, min(high, 0x7F) + 1):
                masks[target] = masks.get(target, 0) | 1 << code
        for first, last, bits, lead in _UTF8:
            for low, high, rest in _cut(_within(raw, first, last), 1 << bits):
                target = self._continuation(bits, rest)
                for digit in range(low, high + 1):
                    masks[target] = masks.get(target, 0) | 1 << (lead + digit)
        if steps:
            masks[self._escape(steps)] = 1 << ord("\\")
        self._connect(source, masks)

    def _continuation(self, bits: int, steps: _Steps) -> int:
        state, new = self._state(("utf-8", bits, steps))
        if new:
            masks: dict[int, int] = {}
            for low, high, rest in _cut(steps, 1 << (bits - 6)):
                target = rest[0][2] if bits == 6 else self._continuation(bits - 6, rest)
                for digit in range(low, high + 1):
                    masks[target] = masks.get(target, 0) | 1 << (0x80 + digit)
            self._connect(state, masks)
        return state

    def _escape(self, steps: _Steps) -> int:
        """The state after a backslash."""
        state, new = self._state(("escape", steps))
        if new:
            masks: dict[int, int] = {}
            for code, letter in SHORT.items():
                for low, high, target in steps:
                    if low <= code <= high:
                        masks[target] = masks.get(target, 0) | 1 << ord(letter)
            units = list(_within(steps, 0, 0xFFFF))
            beyond = [
                (low - 0x10000, high - 0x10000, target)
                for low, high, target in _within(steps, 0x10000, 0x10FFFF)
            ]
            for low, high, rest in _cut(beyond, 0x400):
                units.append((0xD800 + low, 0xD800 + high, self._second_half(rest)))
            target = self._hexadecimal(4, _joined(sorted(units)))
            masks[target] = masks.get(target, 0) | 1 << ord("u")
            self._connect(state, masks)
        return state

    def _second_half(self, steps: _Steps) -> int:
        """The state after the first escape of a pair: a backslash, "u" and a low surrogate follow."""
        state, new = self._state(("second half", steps))
        if new:
            units = tuple((0xDC00 + low, 0xDC00 + high, target) for low, high, target in steps)
            middle, _ = self._state(("second u", steps))
            self._connect(state, {middle: 1 << ord("\\")})
            self._connect(middle, {self._hexadecimal(4, units): 1 << ord("u")})
        return state

    def _hexadecimal(self, places: int, steps: _Steps) -> int:
        state, new = self._state(("hexadecimal", places, steps))
        if new:
            masks: dict[int, int] = {}
            for low, high, rest in _cut(steps, 16 ** (places - 1)):
                target = rest[0][2] if places == 1 else self._hexadecimal(places - 1, rest)
                for digit in range(low, high + 1):
                    bits = 1 << ord(f"{digit:x}") | 1 << ord(f"{digit:X}")
                    masks[target] = masks.get(target, 0) | bits
            self._connect(state, masks)
        return state


def _within(steps: Sequence[_Step], first: int, last: int) -> _Steps:
    return tuple(
        (max(low, first), min(high, last), target)
        for low, high, target in steps
        if low <= last and high >= first
    )


def _without_surrogates(steps: Sequence[_Step]) -> list[_Step]:
    return [*_within(steps, 0, 0xD7FF), *_within(steps, 0xE000, 0x10FFFF)]


def _joined(steps: Iterable[_Step]) -> _Steps:
    """Join neighbouring runs that lead to the same state."""
    out: list[_Step] = []
    for low, high, target in steps:
        if out and out[-1][1] + 1 == low and out[-1][2] == target:
            out[-1] = (out[-1][0], high, target)
        else:
            out.append((low, high, target))
    return tuple(out)


def _cut(steps: Sequence[_Step], unit: int) -> list[tuple[int, int, _Steps]]:
    """Cut numbers into a first digit (in units) and the rest: runs of digits with the same rest."""
    whole: list[tuple[int, int, _Steps]] = []
    partial: dict[int, list[_Step]] = {}
    for low, high, target in steps:
        first, last = low // unit, high // unit
        if first == last:
            partial.setdefault(first, []).append((low % unit, high % unit, target))
            continue
        if low % unit:
            partial.setdefault(first, []).append((low % unit, unit - 1, target))
            first += 1
        if high % unit != unit - 1:
            partial.setdefault(last, []).append((0, high % unit, target))
            last -= 1
        if first <= last:
            whole.append((first, last, ((0, unit - 1, target),)))
    return whole + [(digit, digit, tuple(rest)) for digit, rest in partial.items()]

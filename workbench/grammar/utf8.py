"""Code point ranges -> byte ranges: the UTF-8 spelling of a character class as a small automaton.

The automaton is minimal: the values of the continuation bytes are cut into base-64 digits and equal
remainders are shared. Surrogates have no UTF-8 spelling and are left out.
"""

from __future__ import annotations

from functools import lru_cache

__all__ = ["Utf8Graph", "byte_ranges", "utf8_graph"]

#: ``(n_states, edges)`` with edges ``(source, low byte, high byte, target)``; state 0 starts, 1 ends.
Utf8Graph = tuple[int, tuple[tuple[int, int, int, int], ...]]

#: (first code point, last code point, bytes, first lead byte)
_LENGTHS = (
    (0x00, 0x7F, 1, 0x00),
    (0x80, 0x7FF, 2, 0xC0),
    (0x800, 0xD7FF, 3, 0xE0),
    (0xE000, 0xFFFF, 3, 0xE0),
    (0x10000, 0x10FFFF, 4, 0xF0),
)

_Ranges = tuple[tuple[int, int], ...]


def _digits(ranges: _Ranges, unit: int) -> list[tuple[int, int, _Ranges]]:
    """Cut ranges of numbers at multiples of ``unit``: (low digit, high digit, remainders below unit)."""
    pieces: list[tuple[int, int, tuple[int, int]]] = []
    for low, high in ranges:
        first, last = low // unit, high // unit
        if first == last:
            pieces.append((first, first, (low % unit, high % unit)))
            continue
        if low % unit:
            pieces.append((first, first, (low % unit, unit - 1)))
            first += 1
        whole_to = last if high % unit == unit - 1 else last - 1
        if first <= whole_to:
            pieces.append((first, whole_to, (0, unit - 1)))
        if whole_to < last:
            pieces.append((last, last, (0, high % unit)))
    merged: list[tuple[int, int, list[tuple[int, int]]]] = []
    for low, high, rest in pieces:
        if merged and merged[-1][0] == low == high == merged[-1][1]:
            merged[-1][2].append(rest)
        else:
            merged.append((low, high, [rest]))
    out: list[tuple[int, int, _Ranges]] = []
    for low, high, parts in merged:
        rests = tuple(parts)
        if out and out[-1][2] == rests and out[-1][1] + 1 == low:
            out[-1] = (out[-1][0], high, rests)
        else:
            out.append((low, high, rests))
    return out


@lru_cache(maxsize=4096)
def utf8_graph(ranges: _Ranges) -> Utf8Graph:
    """Spell a class of code points (sorted, disjoint, inclusive ranges) in UTF-8 bytes."""
    edges: list[tuple[int, int, int, int]] = []
    states: dict[tuple[int, _Ranges], int] = {}
    todo: list[tuple[int, int, _Ranges]] = []

    def state(length: int, rest: _Ranges) -> int:
        if length == 0:
            return 1
        key = (length, rest)
        if key not in states:
            states[key] = len(states) + 2
            todo.append((states[key], length, rest))
        return states[key]

    for first, last, length, lead in _LENGTHS:
        part = tuple(
            (max(low, first), min(high, last))
            for low, high in ranges
            if low <= last and high >= first
        )
        if not part:
            continue
        unit = 64 ** (length - 1)
        for low, high, rest in _digits(part, unit):
            edges.append((0, lead + low, lead + high, state(length - 1, rest)))
    while todo:
        source, length, rest = todo.pop()
        for low, high, more in _digits(rest, 64 ** (length - 1)):
            edges.append((source, 0x80 + low, 0x80 + high, state(length - 1, more)))
    return len(states) + 2, tuple(edges)


@lru_cache(maxsize=4096)
def byte_ranges(mask: int) -> tuple[tuple[int, int], ...]:
    """Inclusive ranges of a set of bytes given as bits."""
    ranges: list[tuple[int, int]] = []
    for value in range(256):
        if mask >> value & 1:
            if ranges and ranges[-1][1] == value - 1:
                ranges[-1] = (ranges[-1][0], value)
            else:
                ranges.append((value, value))
    return tuple(ranges)

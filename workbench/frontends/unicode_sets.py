"""Sets of code points as sorted, disjoint, inclusive ranges.

What front ends need to turn classes, escapes and properties into ``CharSet`` leaves. Surrogates are
ordinary members here: they are left out when bytes are made.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise

__all__ = [
    "ANY",
    "DIGIT",
    "LAST",
    "LINE_TERMINATORS",
    "SPACE",
    "WORD",
    "Ranges",
    "complement",
    "fold_case",
    "is_surrogate",
    "normalise",
    "property_ranges",
]

Ranges = tuple[tuple[int, int], ...]

LAST = 0x10FFFF
ANY: Ranges = ((0, LAST),)
#: ``\d``, ``\w`` and ``\s`` as ECMA-262 has them.
DIGIT: Ranges = ((0x30, 0x39),)
WORD: Ranges = ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A))
SPACE: Ranges = (
    (0x09, 0x0D),
    (0x20, 0x20),
    (0xA0, 0xA0),
    (0x1680, 0x1680),
    (0x2000, 0x200A),
    (0x2028, 0x2029),
    (0x202F, 0x202F),
    (0x205F, 0x205F),
    (0x3000, 0x3000),
    (0xFEFF, 0xFEFF),
)
#: What ``.`` leaves out.
LINE_TERMINATORS: Ranges = ((0x0A, 0x0A), (0x0D, 0x0D), (0x2028, 0x2029))


def is_surrogate(code: int) -> bool:
    """Tell whether a code point is half of a UTF-16 pair, which never stands in a text."""
    return 0xD800 <= code <= 0xDFFF


def normalise(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """Sort ranges and join those that touch or overlap."""
    joined: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if joined and low <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(high, joined[-1][1]))
        else:
            joined.append((low, high))
    return tuple(joined)


def complement(ranges: Ranges) -> Ranges:
    """Every code point that is not in the set."""
    bounds = [(-1, -1), *ranges, (LAST + 1, LAST + 1)]
    return tuple(
        (before[1] + 1, after[0] - 1)
        for before, after in pairwise(bounds)
        if before[1] + 1 <= after[0] - 1
    )


def fold_case(ranges: Ranges) -> Ranges:
    """Add every character that differs from a member by Unicode simple case folding alone."""
    partners, cased = _case_partners()
    added: list[tuple[int, int]] = []
    for low, high in ranges:
        position = bisect_left(cased, low)
        while position < len(cased) and cased[position] <= high:
            added.extend((code, code) for code in partners[cased[position]])
            position += 1
    return normalise((*ranges, *added)) if added else ranges


@lru_cache(maxsize=1)
def _case_partners() -> tuple[dict[int, tuple[int, ...]], list[int]]:
    """Map every cased code point to all that fold to the same; and list them in order."""
    classes: dict[int, set[int]] = {}
    for code in range(0x20000):
        folded = _fold(chr(code))
        if folded != code:
            classes.setdefault(folded, {folded}).add(code)
    partners = {code: tuple(sorted(group)) for group in classes.values() for code in group}
    return partners, sorted(partners)


def _fold(char: str) -> int:
    """Simple case folding: the full folding where that is one character, else the lower case."""
    for folded in (char.casefold(), char.lower()):
        if len(folded) == 1:
            return ord(folded)
    return ord(char)


@lru_cache(maxsize=256)
def property_ranges(name: str) -> Ranges:
    """Find the members of a Unicode property: what may stand between the braces of ``\\p{…}``.

    General categories, scripts (``Greek``, ``Script=Greek``, ``scx=Greek``), blocks and binary
    properties, as the ``regex`` package knows them. Raises ``KeyError`` for an unknown name.
    """
    import regex

    if not name or not all(c.isascii() and (c.isalnum() or c in "_-=: &") for c in name):
        raise KeyError(name)
    try:
        pattern = regex.compile(rf"\p{{{name}}}+", regex.V0)
    except regex.error:
        raise KeyError(name) from None
    return tuple((m.start(), m.end() - 1) for m in pattern.finditer(_every_character()))


@lru_cache(maxsize=1)
def _every_character() -> str:
    return "".join(map(chr, range(LAST + 1)))

r"""How a character is spelled inside a JSON string: as itself, as ``\n``, as ``\u00e9``, as a pair.

Patterns, lengths and excluded names are worked out over scalar values; this module then turns each
character class into its spellings. Every spelling of one character counts as one character, and a
lone surrogate has no spelling at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from workbench.frontends import unicode_sets
from workbench.grammar.ir import EMPTY, NEVER, Alt, ByteSet, CharSet, Expr, Literal, Seq
from workbench.grammar.json_strings import RAW, SHORT
from workbench.wording import number_of

__all__ = [
    "ANY",
    "UNNUMBERED",
    "Ranges",
    "class_name",
    "complement",
    "hexadecimal",
    "intersect",
    "quoted",
    "spell",
    "spell_class",
]

#: Sorted disjoint inclusive ranges of code points.
Ranges = tuple[tuple[int, int], ...]

#: All scalar values.
ANY: Ranges = ((0, 0xD7FF), (0xE000, 0x10FFFF))
#: Those that can be written without a numbered escape: no control characters but the ones with a short escape.
UNNUMBERED: Ranges = ((0x8, 0xA), (0xC, 0xD), (0x20, 0xD7FF), (0xE000, 0x10FFFF))

_SPELLED = {code: "\\" + letter for code, letter in SHORT.items() if code != 0x2F}


def intersect(left: Ranges, right: Ranges) -> Ranges:
    """The code points in both."""
    out: list[tuple[int, int]] = []
    i = j = 0
    while i < len(left) and j < len(right):
        low, high = max(left[i][0], right[j][0]), min(left[i][1], right[j][1])
        if low <= high:
            out.append((low, high))
        if left[i][1] < right[j][1]:
            i += 1
        else:
            j += 1
    return tuple(out)


def complement(ranges: Ranges) -> Ranges:
    """The scalar values outside."""
    return intersect(unicode_sets.complement(ranges), ANY)


def _digit_set(digits: Sequence[int]) -> ByteSet:
    """One hexadecimal digit, in either case."""
    mask = 0
    for digit in digits:
        for letter in {f"{digit:x}", f"{digit:X}"}:
            mask |= 1 << ord(letter)
    return ByteSet(mask)


def hexadecimal(ranges: Ranges, places: int) -> Expr:
    """The numbers in the ranges, written with exactly this many hexadecimal digits."""
    if places == 0:
        return EMPTY if ranges else NEVER
    block = 16 ** (places - 1)
    parts: dict[Ranges, list[int]] = {}
    for digit in range(16):
        base = digit * block
        inside = intersect(ranges, ((base, base + block - 1),))
        if inside:
            rest = tuple((low - base, high - base) for low, high in inside)
            parts.setdefault(rest, []).append(digit)
    branches: list[Expr] = []
    for rest, digits in parts.items():
        tail = hexadecimal(rest, places - 1)
        tail_items = tail.items if isinstance(tail, Seq) else (tail,)
        branches.append(Seq((_digit_set(digits), *tail_items)))
    return _alternatives(branches)


def _pairs(ranges: Ranges) -> list[Expr]:
    """Code points above U+FFFF as two escapes: a high surrogate, then a low one."""
    high_of: dict[Ranges, list[tuple[int, int]]] = {}
    partial: dict[int, list[tuple[int, int]]] = {}
    for low, high in ranges:
        first, last = low - 0x10000, high - 0x10000
        lead, end = first >> 10, last >> 10
        if lead == end:
            partial.setdefault(lead, []).append((first & 0x3FF, last & 0x3FF))
            continue
        if first & 0x3FF:
            partial.setdefault(lead, []).append((first & 0x3FF, 0x3FF))
            lead += 1
        if last & 0x3FF != 0x3FF:
            partial.setdefault(end, []).append((0, last & 0x3FF))
            end -= 1
        if lead <= end:
            high_of.setdefault(((0, 0x3FF),), []).append((lead, end))
    for lead, tails in partial.items():
        high_of.setdefault(tuple(tails), []).append((lead, lead))
    branches: list[Expr] = []
    for tails_of, leads in high_of.items():
        lead_digits = tuple((0xD800 + low, 0xD800 + high) for low, high in sorted(leads))
        tail_digits = tuple((0xDC00 + low, 0xDC00 + high) for low, high in tails_of)
        branches.append(
            Seq((hexadecimal(lead_digits, 4), Literal(b"\\u"), hexadecimal(tail_digits, 4)))
        )
    return branches


def _alternatives(branches: Sequence[Expr]) -> Expr:
    return branches[0] if len(branches) == 1 else Alt(tuple(branches))


@lru_cache(maxsize=4096)
def spell_class(ranges: Ranges, style: str = "any") -> Expr:
    """Spell one character out of a class in every way that JSON has.

    The style "ascii" leaves out what is not ASCII, "plain" the numbered escapes. The ranges may span
    surrogates; those are left out. An empty class gives ``NEVER``.
    """
    ranges = intersect(ranges, ANY)
    branches: list[Expr] = []
    raw = intersect(ranges, ((0x20, 0x7E),) if style == "ascii" else RAW)
    raw = intersect(raw, RAW)
    if raw:
        branches.append(CharSet(raw))
    escapes: list[Expr] = []
    short = 0
    for code, letter in SHORT.items():
        if any(low <= code <= high for low, high in ranges):
            short |= 1 << ord(letter)
    if short:
        escapes.append(ByteSet(short))
    numbers: list[Expr] = []
    if basic := intersect(ranges, ((0, 0xFFFF),)):
        numbers.append(hexadecimal(basic, 4))
    numbers.extend(_pairs(intersect(ranges, ((0x10000, 0x10FFFF),))))
    if numbers and style != "plain":
        escapes.append(Seq((Literal(b"u"), _alternatives(numbers))))
    if escapes:
        branches.append(Seq((Literal(b"\\"), _alternatives(escapes))))
    return _alternatives(branches) if branches else NEVER


@lru_cache(maxsize=4096)
def class_name(ranges: Ranges) -> str:
    """A short readable name for a character class: ``char``, ``char[a-z]``, ``char[^"]``."""
    ranges = intersect(ranges, ANY)
    if ranges == ANY:
        return "char"
    inverse = complement(ranges)
    sign, shown = ("^", inverse) if len(inverse) < len(ranges) else ("", ranges)
    parts = []
    for low, high in shown[:6]:
        parts.append(_visible(low) if low == high else f"{_visible(low)}-{_visible(high)}")
    more = f"…{number_of(len(shown), 'range')}" if len(shown) > 6 else ""
    return f"char[{sign}{''.join(parts)}{more}]"


def _visible(code: int) -> str:
    text = chr(code)
    if text in "-^[]\\" or not text.isprintable() or text.isspace():
        return f"\\u{{{code:x}}}"
    return text


def spell(text: str, style: str = "any") -> Expr:
    r"""Spell a text the usual way: as itself, short escapes, and ``\u001f`` where there is no other.

    Characters outside ASCII (and DEL) may also be written as ``\u`` escapes with lower-case digits, as
    many writers do. A text with a lone surrogate has no spelling: ``NEVER``.
    """
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return Literal(text.encode())
    items: list[Expr] = []
    pending: list[str] = []
    for char in text:
        code = ord(char)
        if 0xD800 <= code <= 0xDFFF:
            return NEVER
        if code < 0x20 or char in '"\\':
            if style == "plain" and code not in _SPELLED:
                return NEVER
            pending.append(_SPELLED.get(code) or f"\\u{code:04x}")
        elif code < 0x7F:
            pending.append(char)
        else:
            if pending:
                items.append(Literal("".join(pending).encode()))
                pending = []
            ways = [Literal(char.encode())] if style != "ascii" else []
            if style != "plain":
                ways.append(Literal(_escape(code).encode()))
            items.append(ways[0] if len(ways) == 1 else Alt(tuple(ways)))
    if pending:
        items.append(Literal("".join(pending).encode()))
    return items[0] if len(items) == 1 else Seq(tuple(items))


def _escape(code: int) -> str:
    if code <= 0xFFFF:
        return f"\\u{code:04x}"
    offset = code - 0x10000
    return f"\\u{0xD800 + (offset >> 10):04x}\\u{0xDC00 + (offset & 0x3FF):04x}"


def quoted(text: str, style: str = "any") -> Expr:
    """Spell a JSON string with exactly this content, quotes included."""
    inner = spell(text, style)
    if inner == NEVER:
        return NEVER
    if isinstance(inner, Literal):
        return Literal(b'"' + inner.data + b'"')
    items = inner.items if isinstance(inner, Seq) else (inner,)
    return Seq((Literal(b'"'), *items, Literal(b'"')))

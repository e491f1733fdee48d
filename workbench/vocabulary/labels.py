"""Printable labels of tokens and sets of bytes: every label is one line, and different bytes get different labels.

A space shows as ``·``, a line feed as ``↵``, a tab as ``⇥``; what is no UTF-8 text, does not print, or is one of the
signs used here shows as its bytes in hexadecimal, ``⟨E2 9C⟩``.
"""

from __future__ import annotations

import unicodedata

from workbench.wording import SIGNS, byte_quoted, number_of

__all__ = ["bytes_text", "label_bytes", "quoted"]

_RESERVED = frozenset([*SIGNS.values(), "⟨", "⟩"])
#: Combining marks would join the neighbouring label; separators and controls do not print.
_HIDDEN = ("C", "Z", "M")


def label_bytes(text: bytes) -> str:
    """Return the printable label of a byte string; empty for no bytes."""
    parts: list[str] = []
    hidden = bytearray()
    for character in text.decode("utf-8", errors="surrogateescape"):
        shown = _shown(character)
        if not shown:
            hidden += character.encode("utf-8", errors="surrogateescape")
            continue
        if hidden:
            parts.append(f"⟨{hidden.hex(' ').upper()}⟩")
            hidden.clear()
        parts.append(shown)
    if hidden:
        parts.append(f"⟨{hidden.hex(' ').upper()}⟩")
    return "".join(parts)


def _shown(character: str) -> str:
    """How a character shows; empty for one that is shown by its bytes."""
    if character in SIGNS:
        return SIGNS[character]
    if "!" <= character <= "~":
        return character
    hidden = character in _RESERVED or unicodedata.category(character)[0] in _HIDDEN
    return "" if hidden else character


def bytes_text(values: frozenset[int] | set[int], limit: int = 8) -> str:
    """A set of bytes as a list of ranges, at most ``limit`` of them: ``'0'-'9', ',', ']'``."""
    if not values:
        return "nothing"
    if len(values) == 256:
        return "any byte"
    ranges: list[list[int]] = []
    for value in sorted(values):
        if ranges and ranges[-1][1] == value - 1:
            ranges[-1][1] = value
        else:
            ranges.append([value, value])
    shown = []
    for low, high in ranges[:limit]:
        sign = "-" if high - low > 1 else ", "
        shown.append(
            byte_quoted(low) if low == high else f"{byte_quoted(low)}{sign}{byte_quoted(high)}"
        )
    more = f" and {number_of(len(ranges) - limit, 'more range')}" if len(ranges) > limit else ""
    return ", ".join(shown) + more


def quoted(data: bytes, limit: int = 60) -> str:
    """Bytes as a label in quotes, the beginning of long ones left out."""
    shown = label_bytes(data if len(data) <= limit else data[-limit:])
    return f"“{shown}”" if len(data) <= limit else f"“…{shown}”"

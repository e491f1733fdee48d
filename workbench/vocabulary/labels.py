"""Printable labels of tokens: every label is one line, and different bytes get different labels.

A space shows as ``·``, a line feed as ``↵``, a tab as ``⇥``; what is no UTF-8 text, does not print, or is one of the
signs used here shows as its bytes in hexadecimal, ``⟨E2 9C⟩``.
"""

from __future__ import annotations

import unicodedata

from workbench.wording import SIGNS

__all__ = ["label_bytes"]

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

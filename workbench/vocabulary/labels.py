"""Printable labels of tokens: every label is one line, and different bytes get different labels.

A space shows as ``·``, a line feed as ``↵``, a tab as ``→``; bytes that are no UTF-8 text show in hex
as ``⟨E2 9C⟩``; characters that do not print, and the signs used here, show as ``⟨U+200D⟩``.
"""

from __future__ import annotations

import unicodedata

__all__ = ["label_bytes"]

_SIGNS = {" ": "·", "\n": "↵", "\t": "→"}
_RESERVED = frozenset("·↵→⟨⟩")
#: Combining marks would join the neighbouring label; separators and controls do not print.
_HIDDEN = ("C", "Z", "M")


def label_bytes(text: bytes) -> str:
    """Return the printable label of a byte string; empty for no bytes."""
    parts: list[str] = []
    while text:
        try:
            parts.append(_label_text(text.decode()))
            break
        except UnicodeDecodeError as error:
            parts.append(_label_text(text[: error.start].decode()))
            stop = error.end
            while stop < len(text) and 0x80 <= text[stop] < 0xC0:
                stop += 1
            parts.append(f"⟨{text[error.start : stop].hex(' ').upper()}⟩")
            text = text[stop:]
    return "".join(parts)


def _label_text(text: str) -> str:
    if text.isascii() and text.isprintable():
        return text.replace(" ", "·")
    return "".join(map(_label_character, text))


def _label_character(character: str) -> str:
    if character in _SIGNS:
        return _SIGNS[character]
    if character in _RESERVED or unicodedata.category(character)[0] in _HIDDEN:
        return f"⟨U+{ord(character):04X}⟩"
    return character

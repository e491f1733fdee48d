"""How counts and bytes are said: the same words and signs in pictures, tables, sentences and on every screen.

A space shows as ``·``, a line feed as ``↵``, a tab as ``⇥``; a byte that does not print shows in hexadecimal as
``⟨0D⟩``. Labels of whole texts (``workbench/vocabulary/labels.py``) and the front end (``widgets/src/format.ts``) use
the same signs; ``tests/notation.json`` holds examples that all are tested with.
"""

from __future__ import annotations

__all__ = ["SIGNS", "byte_name", "byte_quoted", "number_of"]

#: What stands for a character that has no shape of its own.
SIGNS = {" ": "·", "\n": "↵", "\t": "⇥"}


def number_of(count: int, noun: str, plural: str = "") -> str:
    """A number, with commas, and its noun; ``plural`` is the other form where an s does not make it.

    >>> number_of(1, "token"), number_of(1200, "byte edge"), number_of(2, "entry", "entries")
    ('1 token', '1,200 byte edges', '2 entries')
    """
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def byte_name(byte: int) -> str:
    """One byte as a sign: the character of a printable one, a sign for a blank, else hexadecimal.

    >>> byte_name(0x61), byte_name(0x20), byte_name(0x0D)
    ('a', '·', '⟨0D⟩')
    """
    character = chr(byte)
    if character in SIGNS:
        return SIGNS[character]
    return character if 0x20 < byte < 0x7F else f"⟨{byte:02X}⟩"


def byte_quoted(byte: int) -> str:
    """One byte in a sentence: its sign in quotes, hexadecimal without.

    >>> byte_quoted(0x61), byte_quoted(0x20), byte_quoted(0x27), byte_quoted(0x0D)
    ("'a'", "'·'", '"\'"', '⟨0D⟩')
    """
    name = byte_name(byte)
    if name.startswith("⟨"):
        return name
    return f'"{name}"' if name == "'" else f"'{name}'"

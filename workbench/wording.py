"""How counts, shares, cuts and bytes are said: the same words and signs in pictures, tables, sentences and on every
screen. Whatever is left out is told where it is left out.

A space shows as ``·``, a line feed as ``↵``, a tab as ``⇥``; a byte that does not print shows in hexadecimal as
``⟨0D⟩``. Labels of whole texts (``workbench/vocabulary/labels.py``) and the front end (``widgets/src/format.ts``) use
the same signs; ``tests/notation.json`` holds examples that all are tested with.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["SIGNS", "byte_name", "byte_quoted", "cut", "joined", "more", "number_of", "percent"]

#: What stands for a character that has no shape of its own.
SIGNS = {" ": "·", "\n": "↵", "\t": "⇥"}


def number_of(count: int, noun: str, plural: str = "") -> str:
    """A number, with commas, and its noun; ``plural`` is the other form where an s does not make it.

    >>> number_of(1, "token"), number_of(1200, "byte edge"), number_of(2, "entry", "entries")
    ('1 token', '1,200 byte edges', '2 entries')
    """
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def more(total: int, shown: int, noun: str, plural: str = "") -> str:
    """What is left out of a list; empty where nothing is.

    >>> more(43, 40, "frame"), more(41, 40, "entry", "entries"), more(2, 40, "frame")
    ('3 more frames', '1 more entry', '')
    """
    left = total - shown
    return number_of(left, f"more {noun}", plural and f"more {plural}") if left > 0 else ""


def joined(items: Sequence[object], most: int, separator: str = ", ") -> str:
    """The first items as one text, with the number of those left out.

    >>> joined([1, 2, 3, 4], 2), joined([1, 2], 2)
    ('1, 2 … 2 more', '1, 2')
    """
    text = separator.join(map(str, items[:most]))
    return text + (f" … {len(items) - most:,} more" if len(items) > most else "")


def cut(text: str, most: int) -> str:
    """A text of at most so many characters, with the number of those left out behind it.

    >>> cut("abcdef", 4), cut("abcd", 4)
    ('abcd … 2 more characters', 'abcd')
    """
    rest = more(len(text), most, "character")
    return f"{text[:most]} … {rest}" if rest else text


def percent(p: float | None) -> str:
    """A share as a percentage: a tiny one is never printed as nothing, nor an almost whole one as the whole.

    >>> [percent(p) for p in (0.5, 0.0042, 0.00001, 0.9995, 0.99999, 1, None)]
    ['50.0%', '0.42%', '<0.01%', '99.95%', '>99.99%', '100.0%', '–']
    """
    if p is None or p != p:
        return "–"
    if p <= 0:
        return "0%"
    if p < 0.0001:
        return "<0.01%"
    if 0.9999 < p < 1:
        return ">99.99%"
    # Near the whole it is the rest that counts: 99.97% is not 100%.
    return f"{p:.2%}" if p < 0.01 or 0.999 < p < 1 else f"{p:.1%}"


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

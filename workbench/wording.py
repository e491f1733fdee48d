"""How counts are said: with their noun, in the singular where there is one."""

from __future__ import annotations

__all__ = ["number_of"]


def number_of(count: int, noun: str, plural: str = "") -> str:
    """A number, with commas, and its noun; ``plural`` is the other form where an s does not make it.

    >>> number_of(1, "token"), number_of(1200, "byte edge"), number_of(2, "entry", "entries")
    ('1 token', '1,200 byte edges', '2 entries')
    """
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"

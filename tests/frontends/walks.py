"""A small vocabulary for texts walked out of a grammar."""

from __future__ import annotations

from workbench.vocabulary import Vocabulary

LONGER = ['":', '","', "}}", '{"', "1,", "\\u00", "ab", "]}", '"}', "é", ".0", '": "', "true", "00"]


def small_vocabulary() -> Vocabulary:
    """Every byte, some longer tokens across the borders of JSON's, and an end."""
    tokens = [bytes([byte]) for byte in range(256)] + [text.encode() for text in LONGER] + [b""]
    return Vocabulary.from_bytes(tokens, eos_ids=(len(tokens) - 1,), special_ids=(len(tokens) - 1,))

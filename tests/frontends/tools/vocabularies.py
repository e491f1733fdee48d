"""Three vocabularies of one family: bytes alone, its markers as special tokens, its markers as ordinary tokens."""

from __future__ import annotations

import re
from collections.abc import Iterator

import workbench as wb

_BYTES = [bytes([byte]) for byte in range(256)]
_WORDS = [
    "the",
    " and",
    '{"',
    '":',
    '": "',
    '"}',
    "</",
    ">\n",
    "\n\n",
    "name",
    "get_",
    "é",
    "1",
    "10",
]
EOS = 256


def of_bytes(markers: tuple[str, ...]) -> wb.Vocabulary:
    """Bytes, some words and an end."""
    return wb.Vocabulary.from_bytes([*_BYTES, b"", *(word.encode() for word in _WORDS)], EOS)


def with_special(markers: tuple[str, ...]) -> wb.Vocabulary:
    """The same, with markers that are special tokens."""
    tokens = [*_BYTES, b"", *(word.encode() for word in _WORDS)]
    first = len(tokens)
    names = {first + number: marker for number, marker in enumerate(markers)}
    return wb.Vocabulary.from_bytes([*tokens, *[b""] * len(markers)], EOS, special_names=names)


def with_ordinary(markers: tuple[str, ...]) -> wb.Vocabulary:
    """The same, with markers that are tokens of their bytes."""
    tokens = [*_BYTES, b"", *(word.encode() for word in _WORDS)]
    return wb.Vocabulary.from_bytes([*tokens, *(marker.encode() for marker in markers)], EOS)


KINDS = {"bytes": of_bytes, "special": with_special, "ordinary": with_ordinary}


def spelled(text: str, vocabulary: wb.Vocabulary) -> list[int]:
    """The ids of a text as a tokenizer has them: special tokens first, then bytes."""
    names = sorted(map(vocabulary.special_name, vocabulary.special_ids), key=len, reverse=True)
    cut = re.compile(f"({'|'.join(map(re.escape, names))})")

    def ids() -> Iterator[int]:
        for number, piece in enumerate(cut.split(text)):
            if number % 2:
                yield vocabulary.special_id(piece)
            else:
                yield from piece.encode()

    return list(ids())

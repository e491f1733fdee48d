"""The tokens that a tokenizer itself would cut a text into, and where that cut falls.

A text in the middle of another one is cut as part of it: its first bytes may belong to a token that began before.
What the tokenizer says is believed only as far as the tokens spell the text, from its end backwards; what is left
of it, and the texts of a vocabulary without a tokenizer, are cut into the longest tokens there are.
"""

from __future__ import annotations

import codecs
import weakref
from bisect import bisect_left
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.vocabulary import Vocabulary

__all__ = ["Canonical"]

#: Tokens before a text that are cut again with it, and how many of them may be replaced.
CONTEXT = 8
REPLACED = 3


class Canonical:
    """Cuts texts for one model."""

    def __init__(self, tokenizer: Any, vocabulary: Vocabulary) -> None:
        self._tokenizer = tokenizer
        self._vocabulary = vocabulary
        self._table = _table(vocabulary)

    def tokens(self, before: Sequence[int], text: bytes) -> list[int]:
        """The tokens of a text that follows some tokens, which stay. Empty where it cannot be cut.

        The end of a text that breaks off inside a character is left out.
        """
        context, places = self._cut(before, text)
        first = next((i for i, (start, _) in enumerate(places) if start >= len(context)), None)
        end = len(context) + len(_whole(text)) if first is None else places[first][0]
        head = self._longest(text[: end - len(context)])
        if head is None:
            return []
        return head if first is None else head + [token for _, token in places[first:]]

    def across(self, before: Sequence[int], text: bytes) -> tuple[int, list[int]]:
        """As :meth:`tokens`, but the last tokens before may be replaced: (how many, the tokens from there on).

        Where the tokenizer would not begin a token at the text, nor at one of the last few tokens before, nothing is
        replaced.
        """
        context, places = self._cut(before, text)
        starts = {start: i for i, (start, _) in enumerate(places)}
        at = len(context)
        for count, token in enumerate([*reversed(before[-REPLACED:]), -1]):
            if at in starts:
                return count, [token for _, token in places[starts[at] :]]
            data = b"" if token < 0 else self._vocabulary.token_bytes(token)
            if not data or len(data) > at:
                break
            at -= len(data)
        return 0, self.tokens(before, text)

    def longer(self, data: bytes) -> NDArray[np.int64]:
        """The ids of the tokens that begin with some bytes and go on."""
        ids, texts, _ = self._table
        above = data.rstrip(b"\xff")  # the least bytes that are above all that begin with these
        end = bisect_left(texts, above[:-1] + bytes([above[-1] + 1])) if above else len(texts)
        found: NDArray[np.int64] = ids[bisect_left(texts, data + b"\x00") : end]
        return found

    def _cut(self, before: Sequence[int], text: bytes) -> tuple[bytes, list[tuple[int, int]]]:
        """The bytes of the last tokens before a text; tokens at the end of both together, with where they begin."""
        context = self._vocabulary.decode(before[-CONTEXT:])
        data = _whole(context + text)
        if self._tokenizer is None or not text:
            return context, []
        begun = _begun(data)
        try:
            written = data[begun:].decode()
        except UnicodeDecodeError:
            return context, []
        ids = self._tokenizer(written, add_special_tokens=False)["input_ids"]
        places: list[tuple[int, int]] = []
        end = len(data)
        for token in reversed(ids):
            spelled = self._vocabulary.token_bytes(token)
            if not spelled or not data.endswith(spelled, begun, end):
                break
            end -= len(spelled)
            places.append((end, int(token)))
        return context, places[::-1]

    def _longest(self, data: bytes) -> list[int] | None:
        """The longest tokens that spell some bytes one after the other; None where none goes on."""
        _, _, known = self._table
        found: list[int] = []
        while data:
            for length in range(min(len(data), self._vocabulary.max_token_bytes), 0, -1):
                token = known.get(data[:length])
                if token is not None:
                    break
            else:
                return None
            found.append(token)
            data = data[length:]
        return found


def _whole(data: bytes) -> bytes:
    """Some bytes without a character at their end that breaks off; all of them where they are no UTF-8."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        decoder.decode(data[_begun(data) :])
    except UnicodeDecodeError:
        return data
    left: bytes = decoder.getstate()[0]
    return data[: len(data) - len(left)]


def _begun(data: bytes) -> int:
    """Where the first character begins whole: some bytes may begin inside one."""
    return next((i for i in range(min(4, len(data))) if data[i] & 0xC0 != 0x80), 0)


#: ids by their bytes, the bytes of each, and the lowest id by bytes
_Table = tuple[NDArray[np.int64], list[bytes], dict[bytes, int]]
_tables: weakref.WeakKeyDictionary[Vocabulary, _Table] = weakref.WeakKeyDictionary()


def _table(vocabulary: Vocabulary) -> _Table:
    """The tokens of a vocabulary that spell something, computed once."""
    table = _tables.get(vocabulary)
    if table is None:
        spelled = [(vocabulary.token_bytes(i), i) for i in range(vocabulary.size)]
        pairs = sorted(pair for pair in spelled if pair[0])
        known: dict[bytes, int] = {}
        for data, token in pairs:
            known.setdefault(data, token)
        ids = np.array([token for _, token in pairs], dtype=np.int64)
        table = _tables[vocabulary] = ids, [data for data, _ in pairs], known
    return table

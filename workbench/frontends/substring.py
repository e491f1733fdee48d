"""Any piece of a document, word for word: its suffix automaton.

>>> substring("to be or not to be", unit="word")
<Grammar substring: 1 rule, start 'root'>
"""

from __future__ import annotations

import re
from typing import Literal as TypingLiteral

import numpy as np
from numpy.typing import NDArray

from workbench.automaton.suffixes import reachable, suffix_automaton
from workbench.collector import CollectorWaits
from workbench.grammar.byte_graph import ByteGraph
from workbench.grammar.ir import Grammar
from workbench.inputs import wrong_text, wrong_type

__all__ = ["substring"]

_Column = NDArray[np.int32]

#: letters beside bytes: a word begins, a word has ended
_BEGIN, _END = 256, 257
_WORD = re.compile(r"\S+")
#: bytes of a document: what the automaton may need has 32 bits
_LONGEST = 1 << 28


def substring(
    document: str | bytes, unit: TypingLiteral["character", "word"] = "character"
) -> Grammar:
    """Make a grammar of all pieces of a document, the empty one included: what stands in it without a gap.

    With the unit "word" a piece begins and ends with whole words, which white space divides, and has between them what
    the document has. Else it is of whole characters; of ``bytes``, of any bytes. A document of a megabyte takes about
    a second; a larger one may need more ``positions`` and ``states`` than :class:`~workbench.Budgets` has by default.

    Raises ``WrongType`` for what is no text, ``ValueError`` for another unit, words of ``bytes``, a text with half of a
    surrogate pair, and a document of more than 256 MB.

    >>> from workbench.engine.matching import match
    >>> [match(substring("to be or", "word"), text) is not None for text in ("be or", "o be", "to or", "")]
    [True, False, False, True]
    """
    if not isinstance(document, str | bytes | bytearray):
        raise wrong_text("substring", "a document as text or bytes", document)
    if unit not in ("character", "word"):
        raise ValueError(f"the unit of substring is 'character' or 'word', not {unit!r:.40}")
    if unit == "word" and not isinstance(document, str):
        raise wrong_type("substring by words", "a document as text", document)
    try:
        data = document.encode() if isinstance(document, str) else bytes(document)
    except UnicodeEncodeError:
        raise ValueError(
            "substring: the document holds half of a surrogate pair, which no text has"
        ) from None
    if len(data) > _LONGEST:
        raise ValueError(f"substring takes documents of up to {_LONGEST:,} bytes")
    with CollectorWaits():
        if unit == "word":
            graph = _of_words(str(document))
        else:
            graph = _of_characters(data, isinstance(document, str))
    return Grammar({"root": graph}, "root", "substring")


def _of_characters(data: bytes, as_text: bool) -> ByteGraph:
    letters = np.frombuffer(data, dtype=np.uint8).astype(np.int32)
    n, edges = suffix_automaton(letters)
    rows = np.stack([edges[0], edges[1], edges[1], edges[2]])
    ends = np.ones(n, dtype=np.bool_)
    if as_text:
        # a piece begins with a character: then a byte within one comes behind the others of it alone
        inside = (rows[1] & 0xC0) == 0x80
        ends[rows[0, inside]] = False
        ends[0] = True
        rows = rows[:, ~(inside & (rows[0] == 0))]
    return _reached(rows, ends, 0)


def _of_words(document: str) -> ByteGraph:
    pieces: list[_Column] = []
    done = 0
    for found in _WORD.finditer(document):
        pieces += [_letters(document[done : found.start()]), _mark(_BEGIN)]
        pieces += [_letters(found[0]), _mark(_END)]
        done = found.end()
    if not pieces:
        return ByteGraph(np.empty((4, 0), dtype=np.int32), np.ones(1, dtype=np.bool_))
    n, edges = suffix_automaton(np.concatenate(pieces))
    source, letter, target = edges
    ends = np.zeros(n, dtype=np.bool_)
    ends[source[letter == _END]] = True
    start = int(target[(source == 0) & (letter == _BEGIN)][0])
    rows = np.stack([source, letter, letter, target])
    plain = rows[:, letter < _BEGIN]
    plain = plain[:, plain[0].argsort(kind="stable")]
    marks = rows[:, letter >= _BEGIN]
    # what follows a mark follows what is before it
    rows = np.concatenate([plain, _following(plain, marks[0], marks[3])], axis=1)
    # nothing at all is a piece, too, and no edge leads back to the start
    ends[start] = True
    return _reached(rows, ends, start)


def _following(plain: _Column, sources: _Column, targets: _Column) -> _Column:
    """The edges of each target, as those of its source; ``plain`` is sorted."""
    begin, end = plain[0].searchsorted([targets, targets + 1])
    counts = end - begin
    at = np.arange(int(counts.sum())) - (counts.cumsum() - counts - begin).repeat(counts)
    copied = plain[:, at]
    copied[0] = sources.repeat(counts)
    return copied


def _letters(text: str) -> _Column:
    return np.frombuffer(text.encode(), dtype=np.uint8).astype(np.int32)


def _mark(letter: int) -> _Column:
    return np.array([letter], dtype=np.int32)


def _reached(rows: _Column, ends: NDArray[np.bool_], start: int) -> ByteGraph:
    """A graph of the states that the start leads to."""
    rows = rows[:, (rows[0] * np.int64(256) + rows[1]).argsort(kind="stable")]
    kept = reachable(len(ends), rows[0], rows[3], start)
    numbers = (kept.cumsum() - 1).astype(np.int32)
    rows = rows[:, kept[rows[0]]]
    rows[0], rows[3] = numbers[rows[0]], numbers[rows[3]]
    return ByteGraph(rows, ends[kept], int(numbers[start]))

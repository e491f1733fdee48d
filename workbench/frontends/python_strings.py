r"""Strings and bytes as literals of Python: in either quotes, with escapes, in one line.

A language over characters becomes that of its spellings, of which each stands for one character: itself, ``\n``,
``\x0a``, ``\u000a``, ``\U0000000a``. No prefix, no triple quotes, no octal and no named escape.

>>> quoted("it's").items
(Literal(data=b'"it\'s"'), Literal(data=b"'it\\'s'"))
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache, partial

from workbench.automaton.finite import Dfa, to_graph, with_length
from workbench.frontends.json_schema.containers.compared_texts import is_endless
from workbench.frontends.json_schema.logic.strings import spelled
from workbench.frontends.json_schema.scalars.counted import Counted
from workbench.frontends.json_schema.text.json_spelling import (
    ANY,
    Ranges,
    complement,
    hexadecimal,
    intersect,
)
from workbench.grammar.ir import (
    NEVER,
    Alt,
    ByteSet,
    CharSet,
    Expr,
    Literal,
    OtherText,
    Repeat,
    Seq,
)
from workbench.grammar.rewriting import rewrite

__all__ = ["any_string", "byte_string", "fresh", "one_by_one", "quoted", "string"]

_QUOTES = ('"', "'")
#: What may stand after a backslash, and the character that it is.
_SHORT = {"\\": "\\", '"': '"', "'": "'", "n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}
_MORE_SHORT = {"a": "\a", "v": "\v"}
#: Characters that may stand for themselves, but for the quote.
_RAW: Ranges = intersect(((0x20, 0x10FFFF),), complement(((0x5C, 0x5C),)))


def string(content: Expr) -> Expr:
    """The literals of texts, which are given over characters as ``strings_of`` gives them."""
    characters = rewrite(content, one_by_one)
    return Alt(
        tuple(
            Seq(
                (
                    _mark(quote),
                    spelled(characters, partial(_character, quote), "plain"),
                    _mark(quote),
                )
            )
            for quote in _QUOTES
        )
    )


def any_string() -> Expr:
    """The literals of all texts."""
    return string(Repeat(CharSet(ANY), 0, None))


def quoted(text: str) -> Expr:
    """The usual literals of one text; ``NEVER`` where it holds half of a surrogate pair."""
    if any(0xD800 <= ord(char) <= 0xDFFF for char in text):
        return NEVER
    ways = {q + "".join(map(partial(_usual, q), text)) + q for q in _QUOTES}
    return Alt(tuple(Literal(way.encode()) for way in sorted(ways)))


def fresh(texts: Dfa) -> Expr:
    """The literals of texts that are not empty, each of which comes once in its scope, in whatever quotes.

    What keeps them apart reads the escapes of JSON, so these are the escapes that there are.
    """
    graph = to_graph(texts, CharSet)
    within = None if is_endless(texts) else graph
    ways: list[Expr] = []
    for quote in _QUOTES:
        body = spelled(graph, partial(_shared, quote), "plain")
        ways.append(Seq((_mark(quote), OtherText((), body, True, 0, within), _mark(quote))))
    return Alt(tuple(ways))


def byte_string(least: int, most: int | None) -> Expr:
    """The literals of bytes, so many of them."""
    escapes = "".join(_SHORT) + "".join(_MORE_SHORT)
    number = Seq((Literal(b"x"), *[hexadecimal(((0, 15),), 1)] * 2))
    ways: list[Expr] = []
    for quote in _QUOTES:
        raw = _bits(chr(code) for code in range(0x20, 0x7F) if chr(code) not in ("\\", quote))
        escape = Seq((Literal(b"\\"), Alt((_bits(escapes), number))))
        item = Repeat(Alt((raw, escape)), least, most)
        ways.append(Seq((Literal(b"b" + quote.encode()), item, _mark(quote))))
    return Alt(tuple(ways))


def _mark(quote: str) -> Literal:
    return Literal(quote.encode())


def _bits(chars: Iterable[str]) -> ByteSet:
    mask = 0
    for char in chars:
        mask |= 1 << ord(char)
    return ByteSet(mask)


def one_by_one(part: Expr) -> Expr | None:
    """Texts as the characters that they are made of."""
    if isinstance(part, Literal):
        return Seq(tuple(CharSet(((ord(char), ord(char)),)) for char in part.data.decode()))
    if isinstance(part, Counted):
        return to_graph(with_length(part.dfa, part.low, part.high), CharSet)
    return None


@lru_cache(maxsize=1024)
def _character(quote: str, ranges: Ranges) -> Expr:
    """One character out of some ranges, in every spelling."""
    ranges = intersect(ranges, ANY)
    escapes = _short(ranges, _SHORT | _MORE_SHORT)
    for letter, places, last in (("x", 2, 0xFF), ("u", 4, 0xFFFF), ("U", 8, 0x10FFFF)):
        if found := intersect(ranges, ((0, last),)):
            escapes.append(Seq((Literal(letter.encode()), hexadecimal(found, places))))
    return _with_escapes(quote, ranges, escapes)


@lru_cache(maxsize=1024)
def _shared(quote: str, ranges: Ranges) -> Expr:
    """One character out of some ranges, with no escapes but those that JSON has for it as well."""
    ranges = intersect(ranges, ANY)
    needed = intersect(ranges, complement(_raw(quote)))
    escapes = _short(needed, _SHORT)
    return _with_escapes(quote, ranges, escapes)


def _short(ranges: Ranges, known: dict[str, str]) -> list[Expr]:
    letters = [
        letter
        for letter, char in known.items()
        if any(low <= ord(char) <= high for low, high in ranges)
    ]
    return [_bits(letters)] if letters else []


def _raw(quote: str) -> Ranges:
    return intersect(_RAW, complement(((ord(quote), ord(quote)),)))


def _with_escapes(quote: str, ranges: Ranges, escapes: list[Expr]) -> Expr:
    ways: list[Expr] = []
    if raw := intersect(ranges, _raw(quote)):
        ways.append(CharSet(raw))
    if escapes:
        ways.append(Seq((Literal(b"\\"), Alt(tuple(escapes)))))
    return Alt(tuple(ways))


def _usual(quote: str, char: str) -> str:
    for letter, known in _SHORT.items():
        if char == known and (char not in _QUOTES or char == quote):
            return "\\" + letter
    return char if any(low <= ord(char) <= high for low, high in _RAW) else f"\\x{ord(char):02x}"

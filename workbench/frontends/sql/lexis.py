"""How the words of a statement are written: key words, gaps, literals, parameters."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256

from workbench.frontends.sql.dialects import Dialect
from workbench.grammar.expressions import (
    Alt,
    ByteSet,
    CharSet,
    Expr,
    Graph,
    Literal,
    Ref,
    Repeat,
    Seq,
    walk,
)

__all__ = ["Lexis", "optional"]

#: Digits of a whole number: any of them is one of 64 bits.
_MOST_DIGITS = 18
#: An expression of so many parts is written where it is used.
_SMALL = 10


def optional(expr: Expr) -> Expr:
    """An expression, or nothing."""
    return Repeat(expr, 0, 1)


def _bytes(chars: str) -> ByteSet:
    return ByteSet(sum(1 << ord(char) for char in set(chars)))


_DIGIT = _bytes("0123456789")
_NON_ZERO = _bytes("123456789")


def _whole() -> Expr:
    return Alt((Literal(b"0"), Seq((_NON_ZERO, Repeat(_DIGIT, 0, _MOST_DIGITS - 1)))))


def _two(texts: Iterable[int]) -> Expr:
    return Alt(tuple(Literal(b"%02d" % n) for n in texts))


def _day() -> Expr:
    """A day of the calendar, without the 29th of February."""
    dash = Literal(b"-")
    year = Seq((Alt((Literal(b"19"), Literal(b"20"))), _DIGIT, _DIGIT))
    days = Alt(
        (
            Seq((_two(range(1, 13)), dash, _two(range(1, 29)))),
            Seq((_two(n for n in range(1, 13) if n != 2), dash, _two((29, 30)))),
            Seq((_two((1, 3, 5, 7, 8, 10, 12)), dash, Literal(b"31"))),
        )
    )
    return Seq((year, dash, days))


def _clock() -> Expr:
    colon = Literal(b":")
    return Seq((_two(range(24)), colon, _two(range(60)), colon, _two(range(60))))


class Lexis:
    """The words of one grammar. ``whitespace`` and ``keywords`` are options of ``sql``."""

    def __init__(self, dialect: Dialect, whitespace: str, keywords: str) -> None:
        self.dialect = dialect
        self._keywords = keywords
        self._written: dict[str, Expr] = {}
        #: rules that others share, by name
        self.rules: dict[str, Expr] = {}
        self.gap, self.may_gap = _gaps(whitespace)
        # without line breaks and other control characters; in PostgreSQL a backslash means itself or not by a setting
        left_out = [0x27, 0x5C] if dialect.folds else [0x27]
        self._inside = Repeat(Alt((_characters_but(left_out), Literal(b"''"))), 0, None)
        quote = Literal(b"'")
        self.string = self.shared(Seq((quote, self._inside, quote)))
        self.count = self.shared(_whole())
        fraction = Seq((Literal(b"."), Repeat(_DIGIT, 1, _MOST_DIGITS)))
        self.number = self.shared(Seq((_whole(), optional(fraction))))
        day, blank = _day(), Literal(b" ")
        self.moment = self.shared(Seq((quote, day, optional(Seq((blank, _clock()))), quote)))
        self.day = self.shared(Seq((quote, day, quote)))
        units = ("year", "quarter", "month", "week", "day", "hour", "minute")
        self.unit = self.shared(Alt(tuple(Literal(f"'{unit}'".encode()) for unit in units)))
        plurals = Alt(tuple(map(_plural, units[:1] + units[2:])))
        self.span = self.shared(Seq((quote, _whole_up_to(4), blank, plurals, quote)))

    def shared(self, expr: Expr) -> Expr:
        """An expression, by a rule of its own where it is large: all uses are one then."""
        if sum(1 for _ in walk(expr)) <= _SMALL:
            return expr
        name = f"words #{sha256(repr(expr).encode()).hexdigest()[:20]}"
        self.rules.setdefault(name, expr)
        return Ref(name)

    def text(self, spec: str) -> Expr:
        """Words with what is between them: ``_`` is a gap, ``~`` a gap that may be missing; others are as they are.

        Words of letters are key words.
        """
        known = self._written.get(spec)
        if known is None:
            items = tuple(map(self._word, spec.split()))
            known = self._written[spec] = items[0] if len(items) == 1 else Seq(items)
        return known

    def _word(self, word: str) -> Expr:
        if word == "_":
            return self.gap
        if word == "~":
            return self.may_gap
        if not word.replace("_", "").isalpha():
            return Literal(word.encode())
        upper, lower = Literal(word.upper().encode()), Literal(word.lower().encode())
        chosen = {"upper": (upper,), "lower": (lower,)}.get(self._keywords, (upper, lower))
        return chosen[0] if len(chosen) == 1 else Alt(chosen)

    def words(self, words: str) -> Expr:
        """Several key words with gaps between them."""
        return self.text(" _ ".join(words.split()))

    def free_name(self, taken: Iterable[str]) -> Expr:
        """A name of letters, digits and underscores that is no reserved word and none of some others."""
        return self.shared(_name_but(frozenset(taken) | self.dialect.reserved))


def _plural(unit: str) -> Expr:
    return Seq((Literal(unit.encode()), optional(Literal(b"s"))))


def _whole_up_to(digits: int) -> Expr:
    return Seq((_NON_ZERO, Repeat(_DIGIT, 0, digits - 1)))


def _gaps(whitespace: str) -> tuple[Expr, Expr]:
    """What stands between two words, and what may stand beside a sign."""
    if whitespace == "single":
        one: Expr = Literal(b" ")
        return one, optional(one)
    blank = _bytes(" \t\r\n")
    return Repeat(blank, 1, None), Repeat(blank, 0, None)


def _characters_but(codes: list[int]) -> Expr:
    """A character that is printed, none of some others."""
    ranges: list[tuple[int, int]] = []
    first = 0x20
    for code in sorted([*codes, *range(0x7F, 0xA0)]):
        if code > first:
            ranges.append((first, code - 1))
        first = code + 1
    return CharSet((*ranges, (first, 0x10FFFF)))


def _name_but(words: frozenset[str]) -> Expr:
    """Names that are none of some words, in whatever letters: an automaton that reads along the words.

    State 0 is the start; 1 is a name that is no beginning of a word; the others are beginnings.
    """
    letters, digits = "abcdefghijklmnopqrstuvwxyz_", "0123456789"
    numbers = {"": 0}
    for word in sorted(words):
        for end in range(1, len(word) + 1):
            if set(word[:end]) <= set(letters + digits):
                numbers.setdefault(word[:end], len(numbers) + 1)
    edges: list[tuple[int, Expr, int]] = []
    for begun, number in numbers.items():
        others = set(letters if not begun else letters + digits)
        for char in sorted(others):
            target = numbers.get(begun + char)
            if target is not None:
                edges.append((number, _bytes(char + char.upper()), target))
                others.discard(char)
        rest = "".join(sorted(others))
        edges.append((number, _bytes(rest + rest.upper()), 1))
    edges.append((1, _bytes(letters + letters.upper() + digits), 1))
    finals = (1, *(number for begun, number in numbers.items() if begun and begun not in words))
    return Graph(len(numbers) + 1, 0, finals, tuple(edges))

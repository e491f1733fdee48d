"""Expressions: languages of byte strings (and of tokens that are named), as immutable values.

Equality ignores where they came from (``origin``). What the docstrings here ask of an author is checked by
``contracts``. Nothing here knows automata or tokens.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal as TypingLiteral

__all__ = [
    "EMPTY",
    "NEVER",
    "Alt",
    "ByteSet",
    "CharSet",
    "Expr",
    "Gather",
    "Graph",
    "Guard",
    "JsonStyle",
    "Literal",
    "Marker",
    "Origin",
    "OtherText",
    "Ref",
    "Repeat",
    "Scope",
    "Seq",
    "Token",
    "children",
    "literal",
    "walk",
]


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a piece of a grammar comes from, in the author's terms.

    A span ``start:end`` counts characters of ``Grammar.source``; ``pointer`` is a JSON pointer into a
    schema, written with a leading ``#``. ``negated`` marks a part that stands for "not of this".
    """

    pointer: str | None = None
    start: int | None = None
    end: int | None = None
    rule: str | None = None
    negated: bool = False


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Expr:
    """Base class of the expressions: a language of byte strings (and of tokens that are named)."""

    origin: Origin | None = field(default=None, compare=False, kw_only=True, repr=False)


@dataclass(frozen=True, slots=True)
class Literal(Expr):
    """Exactly these bytes. ``Literal(b"")`` is the empty string."""

    data: bytes


@dataclass(frozen=True, slots=True)
class ByteSet(Expr):
    """One byte out of a set; bit ``b`` of ``mask`` is set when byte ``b`` belongs. 0 is the empty language."""

    mask: int


@dataclass(frozen=True, slots=True)
class CharSet(Expr):
    """One Unicode scalar value, spelled in UTF-8, out of sorted disjoint inclusive ranges.

    Surrogates (U+D800..U+DFFF) are never part of a text; ranges may span them, they are left out
    when bytes are made. ``CharSet(())`` is the empty language.
    """

    ranges: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Seq(Expr):
    """One after the other. ``Seq(())`` is the empty string."""

    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Alt(Expr):
    """Any one of them (unordered, may overlap). ``Alt(())`` is the empty language."""

    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Repeat(Expr):
    """Between ``min`` and ``max`` times; ``max=None`` means without end. Counts up to 10**6 and more are fine."""

    item: Expr
    min: int
    max: int | None


@dataclass(frozen=True, slots=True)
class Ref(Expr):
    """A use of a rule by name."""

    name: str


@dataclass(frozen=True, slots=True)
class Graph(Expr):
    """A finite automaton whose edges are labelled with expressions.

    States are ``0..n_states-1``; an edge ``(source, label, target)`` consumes the label. It is how a
    front end hands over a product or complement of regular languages without turning it back into a
    regular expression. Labels may be any expression.
    """

    n_states: int
    start: int
    finals: tuple[int, ...]
    edges: tuple[tuple[int, Expr, int], ...]

    def labels(self) -> tuple[Expr, ...]:
        """The expressions on its edges."""
        return tuple(label for _, label, _ in self.edges)


@dataclass(frozen=True, slots=True)
class Token(Expr):
    """One token of the vocabulary as a symbol of its own, whatever bytes it has.

    ``ids`` are token ids; ``names`` are texts of tokens, angle brackets and all (``"<think>"``,
    ``"<|im_start|>"``), that a vocabulary has to have: which ids they stand for is found out when the
    grammar is compiled for one. The symbol is one token out of both; ``negated`` makes it any token of the
    vocabulary but these and the ends of the text. Ids and names are kept sorted and without repetition,
    no ids as ``None``; a negated token without either is any token at all. An end of the text that is named is a
    symbol like any other (see ``Matcher.accept`` for where it ends the text, too).

    Raises ``ValueError`` for a negative id, an empty name, and a plain token with neither.
    """

    ids: tuple[int, ...] | None = None
    names: tuple[str, ...] = ()
    negated: bool = False

    def __post_init__(self) -> None:
        ids, names = tuple(sorted(set(self.ids or ()))), tuple(sorted(set(self.names)))
        if ids and ids[0] < 0:
            raise ValueError(f"{ids[0]} is not the id of a token")
        if names and not names[0]:
            raise ValueError("the name of a token is not empty")
        if not (ids or names or self.negated):
            raise ValueError("a token needs an id or a name")
        object.__setattr__(self, "ids", ids or None)
        object.__setattr__(self, "names", names)


@dataclass(frozen=True, slots=True)
class Marker(Expr):
    """A text in which special tokens stand where the vocabulary has tokens of that name: ``<think>`` and the like.

    When the grammar is compiled, the text is cut at the names of the vocabulary's special tokens, as a tokenizer cuts
    it: from left to right, the longest name first. Each name is then that token alone; what is between them, and
    all of it where there are no such tokens, is spelled in bytes. Raises ``ValueError`` for an empty text and one
    with half of a surrogate pair.
    """

    text: str

    def __post_init__(self) -> None:
        if not self.text:
            raise ValueError("a marker is not empty")
        if any(0xD800 <= ord(char) <= 0xDFFF for char in self.text):
            raise ValueError(f"the marker {self.text!r} holds half of a surrogate pair")


#: The spellings of a character in a JSON string: all of them, those in ASCII, those without ``\\u``.
JsonStyle = TypingLiteral["any", "ascii", "plain"]


@dataclass(frozen=True, slots=True)
class OtherText(Expr):
    """The inside of a JSON string, between the quotes: a text in any of its spellings, but none of some ``texts``.

    The engine reads ``body``, all that may stand there, and watches what it spells. ``body`` is regular, has no
    references and no counted repeats, and every beginning of it can go on in endlessly many ways. Where there are
    ``texts``, ``body`` is all texts there are, in the spellings of ``style``: so the same language can be written
    without watching (:func:`~workbench.grammar.json_strings.spelled_out`), as a large expression.

    A ``fresh`` text is also none of the fresh ones with the same ``cell`` that came before in the same
    :class:`Scope`, whatever their spelling. With a ``role`` it is the name of a member, or a string or number that
    is a value, of what the scope gathers (:class:`Gather`). Where a beginning of it may have few ways to
    go on, ``within`` is the language that ``body`` spells, as a deterministic graph over ``CharSet`` labels,
    ``body`` spells each character as itself, and there are no ``texts``. The bytes of ``opening`` stand before
    the text; where no text is left that may come, they may not come either.
    """

    texts: tuple[str, ...]
    body: Expr = field(repr=False)
    fresh: bool = False
    cell: int = 0
    within: Graph | None = field(default=None, repr=False)
    role: TypingLiteral["", "name", "string", "number"] = ""
    opening: bytes = b""
    style: JsonStyle = "any"

    def opened(self, expr: Expr) -> Expr:
        """An expression behind the bytes that stand before the text."""
        return Seq((Literal(self.opening), expr)) if self.opening else expr


@dataclass(frozen=True, slots=True)
class Gather:
    """Makes a :class:`Scope` keep the value that is read in it, and says which values there may be.

    ``names`` are those of the members of an ``"object"``, ``counts`` how many values each can have; an ``"array"``
    has one count, of its items. 2**30 stands for endlessly many. ``ordered``: members come in their order.
    ``ample``: until it is closed, there are always endlessly many ways to go on. ``distinct``: no two items are
    equal, whatever their spelling and order of names; the values that came are in the record of the ``outermost``
    such array around them, for the arrays inside it as well.

    Where a scope gathers: each string or number that is a value is an :class:`OtherText` with a role and with
    ``within`` for what is not endless; other values are scopes that gather or constants behind a
    ``Guard("value")``; ``Guard("end")`` stands before the closing bracket. In an object, a ``Guard("take")`` or
    ``Guard("name")`` tells the name of a numbered member; in one that is not ``ample``, ``"take"`` stands before
    the first byte of the name and ``"may"`` before a comma. In an array, ``Guard("other")`` or ``"take"`` stands
    before each item.
    """

    kind: TypingLiteral["object", "array"]
    counts: tuple[int, ...]
    names: tuple[str, ...] = ()
    ordered: bool = False
    ample: bool = False
    distinct: bool = False
    outermost: bool = False
    #: tells apart scopes that may become different values, though all else is equal
    number: int = 0


@dataclass(frozen=True, slots=True)
class Scope(Expr):
    """``item``, with a record of the members that come while it is read: which, how many, which texts.

    Members have the numbers below ``members``; ``required`` are those that have to come, as bits. In all,
    members without number included, ``least`` to ``most`` come. The record is read and written by the
    :class:`Guard` and the fresh :class:`OtherText` in the item; they belong to the innermost scope around
    them and stand in its own rule, in no counted repeat. The author sees to it that whatever the guards
    let begin can be finished. ``names`` promises that no fresh text is empty and that a quotation mark
    follows each; where there are far more of them than ever come, masks then depend less on which came.
    """

    item: Expr
    members: int
    required: int = 0
    least: int = 0
    most: int | None = None
    names: bool = False
    gather: Gather | None = None


@dataclass(frozen=True, slots=True)
class Guard(Expr):
    """The empty text, where the record of the scope allows it.

    ``"may"``: one of the members ``among`` (bits) that has not come may still come, or, with ``others``, one
    without number. ``"take"``: the one member in ``among`` has not come, may come, and has come after it.
    ``"other"``: a member without number may come, and has come. ``"end"``: all required ones have come and
    there are enough. ``"between"`` lets everything pass: at most one member comes between two of them, and
    the distance to the end is computed from that.

    Where the scope gathers (:class:`Gather`): ``"value"``: null (``among`` is 1), true (2), false (4) or the empty
    string (8) comes.
    ``"name"``: the value of the member in ``among`` comes next.
    """

    kind: TypingLiteral["may", "take", "other", "end", "between", "value", "name"]
    among: int = 0
    others: bool = False


EMPTY = Seq(())
NEVER = Alt(())


def literal(text: str | bytes, origin: Origin | None = None) -> Literal:
    """Make a literal of a text (as UTF-8) or of bytes."""
    return Literal(text.encode("utf-8") if isinstance(text, str) else text, origin=origin)


def children(expr: Expr) -> tuple[Expr, ...]:
    """Direct sub-expressions, in order."""
    if isinstance(expr, Seq | Alt):
        return expr.items
    if isinstance(expr, Repeat | Scope):
        return (expr.item,)
    if isinstance(expr, Graph):
        return expr.labels()
    return ()


def walk(expr: Expr) -> Iterator[Expr]:
    """Every sub-expression, the expression itself first; iterative, so that depth is no limit."""
    stack = [expr]
    while stack:
        top = stack.pop()
        yield top
        stack.extend(reversed(children(top)))

"""The intermediate representation: named rules over byte expressions.

Every front end produces a :class:`Grammar`, every exporter reads one. The kinds of expressions are in
``expressions`` and can be had from here, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal as TypingLiteral

from workbench.grammar.contracts import check_rule
from workbench.grammar.expressions import (
    EMPTY,
    NEVER,
    Alt,
    ByteSet,
    CharSet,
    Expr,
    Gather,
    Graph,
    Guard,
    JsonStyle,
    Literal,
    Marker,
    Origin,
    OtherText,
    Ref,
    Repeat,
    Scope,
    Seq,
    Token,
    children,
    literal,
    walk,
)
from workbench.wording import number_of

__all__ = [
    "Alt",
    "ByteSet",
    "CharSet",
    "EMPTY",
    "Expr",
    "Gather",
    "Grammar",
    "Graph",
    "Guard",
    "JsonStyle",
    "Literal",
    "Marker",
    "NEVER",
    "Origin",
    "OtherText",
    "Outcome",
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
class Outcome:
    """What became of one constraint of a schema.

    Where it is "restricted", ``kinds`` tells what the grammar leaves out of what the schema accepts, in the order
    of the alphabet: values in other spellings of strings ("escapes"), with longer runs of digits ("length"), in
    other notations of numbers ("notation"), with names in another order ("order"), with other whitespace
    ("whitespace"), or values that it has in no spelling ("values"). ``detail`` says which.
    ``warning`` says what is surely a mistake of the author and what to do, such as a misspelled keyword.
    """

    pointer: str
    keyword: str
    status: TypingLiteral["enforced", "restricted", "annotation", "unsupported"]
    detail: str = ""
    kinds: tuple[str, ...] = ()
    warning: str = ""


@dataclass(frozen=True, slots=True)
class Grammar:
    """Named rules with a start rule.

    ``kind`` names the front end ("regex", "gbnf", "json_schema", "ir"), ``source`` is the text or object
    that it read, ``outcomes`` lists what became of each constraint.

    Raises ``ValueError`` when the start rule or a referenced rule is missing, and where an expression is not as
    its kind asks for (``contracts``); front ends report what an author can mend in the author's terms first.
    """

    rules: Mapping[str, Expr]
    start: str
    kind: str = "ir"
    source: Any = field(default=None, compare=False, repr=False)
    outcomes: tuple[Outcome, ...] = field(default=(), compare=False, repr=False)
    #: makes the source where it is not there yet
    _read_source: Callable[[], Any] | None = field(
        default=None, init=False, compare=False, repr=False
    )

    def __getattr__(self, name: str) -> Any:
        # a slot that has no value: the source of a grammar with one of its own, made when somebody asks for it
        if name != "source" or self._read_source is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        object.__setattr__(self, "source", self._read_source())
        return self.source

    def __post_init__(self) -> None:
        if self.start not in self.rules:
            raise ValueError(f"start rule {self.start!r} is not defined")
        if hasattr(type(self.rules), "all"):  # LazyRules: written when they are used
            return
        for name, expr in self.rules.items():
            check_rule(name, expr, self.rules)

    def __add__(self, other: object) -> Grammar:
        """This, then that; a text stands for itself."""
        return _composing().added(self, other) if _may_stand(other) else NotImplemented

    def __radd__(self, other: object) -> Grammar:
        return _composing().added(other, self) if _may_stand(other) else NotImplemented

    def __or__(self, other: object) -> Grammar:
        """This or that; a text stands for itself."""
        return _composing().either(self, other) if _may_stand(other) else NotImplemented

    def __ror__(self, other: object) -> Grammar:
        return _composing().either(other, self) if _may_stand(other) else NotImplemented

    def __repr__(self) -> str:
        known = getattr(self.rules, "emitted", self.rules)
        return f"<Grammar {self.kind}: {number_of(len(known), 'rule')}, start {self.start!r}>"


def _may_stand(value: object) -> bool:
    """Whether a value may be a part of a grammar by an operator."""
    return isinstance(value, Grammar | str | bytes)


def _composing() -> Any:
    # it makes grammars itself
    from workbench.grammar import composing

    return composing

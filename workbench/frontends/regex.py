"""Regular expressions as grammars: ECMA-262 over code points, as JSON Schema uses them.

Supported are classes, escapes, Unicode properties, greedy and lazy quantifiers, groups, alternation,
``.``, a leading ``(?i)``, and anchors wherever they mean an end of the whole text (``$`` is the very
end, also where a line break comes before it). Back-references are refused with their position.
Matching is by language: groups capture nothing and laziness makes no difference. Look-around and
word boundaries are turned into an automaton (see ``lookaround``); ``parse_regex`` alone refuses them.

``regex`` reads more than ECMA-262, and so than the patterns of schemas: the flags i, m, s and x at the very
start, ``(?s)``, or for a part, ``(?i:…)`` and ``(?-i:…)`` (with m, ``^`` and ``$`` hold at line terminators as
well, those that ``.`` does not match), comments ``(?#…)``, and POSIX classes of ASCII, ``[[:alpha:]]``.

A pattern that is ``bytes`` is one over bytes, which need not spell any text: ``\\xHH`` is a byte, ``.``
and negated classes are any byte and any other byte, line breaks too, and case is that of ASCII.

>>> regex(r"[a-f]{2,3}").rules["root"].min
2
>>> regex(rb"\\x89PNG.{4}").rules["root"].items[0].mask == 1 << 0x89
True
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from workbench.automaton.budgets import Budgets, chosen, using
from workbench.automaton.finite import to_graph
from workbench.collector import CollectorWaits
from workbench.errors import GrammarSyntaxError
from workbench.frontends.kept import kept, limits_of
from workbench.frontends.lookaround import look_automaton, looks_around, parse_looking
from workbench.frontends.regex_parser import parse
from workbench.frontends.unicode_sets import ANY
from workbench.grammar.ir import Alt, ByteSet, CharSet, Expr, Grammar, Repeat, Seq
from workbench.inputs import wrong_text

__all__ = ["Branch", "full_match", "parse_regex", "regex", "search"]

_ANYTHING = Repeat(CharSet(ANY), 0, None)
_ANY_BYTES = Repeat(ByteSet((1 << 256) - 1), 0, None)


@dataclass(frozen=True, slots=True)
class Branch:
    """One alternative of a pattern: a language of texts, and the ends of the text it is bound to.

    The leaves of ``expr`` are ``CharSet`` alone (``ByteSet`` alone for a pattern of bytes), below ``Seq``,
    ``Alt`` and ``Repeat``.
    """

    expr: Expr
    anchored_start: bool
    anchored_end: bool


def parse_regex(
    pattern: str | bytes,
    *,
    ignore_case: bool = False,
    pointer: str | None = None,
    extended: bool = False,
) -> tuple[Branch, ...]:
    """Parse a pattern into its alternatives; those bound to the same ends are joined, so at most four.

    ``pointer`` goes into the origins and errors; ``extended`` reads what ``regex`` reads beyond ECMA-262.
    Raises ``GrammarSyntaxError`` for what is malformed
    and for what is not supported, with the position in ``pattern``.
    """
    parts = parse(pattern, ignore_case=ignore_case, pointer=pointer, extended=extended)
    return tuple(Branch(part.expr, *flags) for flags, part in parts.items())


def full_match(branches: Sequence[Branch]) -> Expr:
    """Give the texts that the pattern matches from end to end."""
    return _either([branch.expr for branch in branches])


def search(branches: Sequence[Branch], *, of_bytes: bool = False) -> Expr:
    """Give the texts that hold a match somewhere: any text may stand at the ends that are not bound.

    With ``of_bytes`` any bytes may stand there.
    """
    anything = _ANY_BYTES if of_bytes else _ANYTHING
    exprs: list[Expr] = []
    for branch in branches:
        before = () if branch.anchored_start else (anything,)
        after = () if branch.anchored_end else (anything,)
        padded = Seq((*before, branch.expr, *after), origin=branch.expr.origin)
        exprs.append(padded if before or after else branch.expr)
    return _either(exprs)


def regex(
    pattern: str | bytes, *, ignore_case: bool = False, budgets: Budgets | None = None
) -> Grammar:
    """Make a grammar of the texts that a pattern matches from end to end; of byte strings for ``bytes``.

    Flags, comments and POSIX classes are read as described in this module. A byte order mark at the start of a
    text is no part of it. Raises ``GrammarSyntaxError``, ``GrammarTooComplex`` where look-around needs too many
    states for ``budgets``, and ``WrongType`` for what is no pattern.
    """
    checked, limits = _checked(pattern), chosen(budgets, "regex")

    def make() -> Grammar:
        with CollectorWaits():
            return _grammar(checked, ignore_case, limits)

    return kept("regex", checked, [ignore_case, *limits_of(limits)], make)


def _grammar(pattern: str | bytes, ignore_case: bool, limits: Budgets) -> Grammar:
    expr: Expr
    try:
        expr = full_match(parse_regex(pattern, ignore_case=ignore_case, extended=True))
    except GrammarSyntaxError:
        if isinstance(pattern, bytes) or not looks_around(pattern):
            raise
        parse_looking(pattern, ignore_case=ignore_case, extended=True)
        with using(limits):
            dfa = look_automaton(pattern, whole=True, ignore_case=ignore_case, extended=True)
        expr = to_graph(dfa, CharSet)
    return Grammar({"root": expr}, "root", kind="regex", source=pattern)


def _checked(pattern: Any) -> str | bytes:
    if isinstance(pattern, str):
        return pattern.removeprefix("\ufeff")
    if isinstance(pattern, bytes | bytearray):
        return bytes(pattern)
    raise wrong_text("regex", "a pattern as text or bytes", pattern)


def _either(exprs: list[Expr]) -> Expr:
    return exprs[0] if len(exprs) == 1 else Alt(tuple(exprs))

"""Members between commas, each at most once and in any order: of a dictionary, of a set, of the arguments of a call.

They are members of one scope. Names that are listed have numbers in it, others are texts that come once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from workbench.automaton.finite import (
    Dfa,
    complement,
    determinise,
    intersect,
    minimise,
    without_empty,
)
from workbench.frontends.json_schema.containers.compared_texts import count_texts, written
from workbench.frontends.json_schema.containers.distinct import guarded_choice
from workbench.frontends.json_schema.scalar_values import strings_of
from workbench.frontends.json_schema.text.whitespace import in_row
from workbench.frontends.python_strings import one_by_one
from workbench.grammar.ir import (
    EMPTY,
    NEVER,
    Alt,
    Expr,
    Graph,
    Guard,
    Literal,
    Repeat,
    Scope,
    Seq,
    literal,
)
from workbench.grammar.rewriting import rewrite

__all__ = [
    "COMMA",
    "SPACE",
    "Member",
    "chosen_once",
    "once_each",
    "texts_among",
    "texts_apart",
]

#: One space, or none.
SPACE = Repeat(Literal(b" "), 0, 1)
COMMA = Seq((Literal(b","), SPACE))


class Member(NamedTuple):
    """A name as it is written, over characters, its value, and whether it has to come."""

    name: Expr
    value: Expr
    required: bool = False


def chosen_once(
    members: Sequence[Member],
    after_name: Expr,
    others: tuple[Expr, Expr] | None,
    least: int = 0,
    most: int | None = None,
) -> Expr:
    """Names with values in any order, each at most once, between commas; nothing, where none has to come.

    ``others`` are a fresh text and its value; ``least`` to ``most`` come in all.
    """
    kept = [one for one in members if one.value != NEVER]
    required = sum(1 << n for n, one in enumerate(kept) if one.required)
    if others is None:
        most = len(kept) if most is None else min(most, len(kept))
    if any(one.required for one in members if one.value == NEVER):
        return NEVER
    if most is not None and most < max(least, required.bit_count()):
        return NEVER
    if most == 0:
        return EMPTY
    counted = least > 0 or (most is not None and (others is not None or most < len(kept)))
    start, after, end, key, read, free = range(6)
    more = _may_come(kept, others is not None, counted)
    edges = [
        (start, more, key),
        (after, in_row(more, COMMA), key),
        (read, Guard("between"), after),
        (after, Guard("end"), end),
        *once_each(list(enumerate(kept)), after_name, others, counted, (key, read, free)),
    ]
    graph = Graph(1 + max(target for _, _, target in edges), start, (end,), tuple(edges))
    scope = Scope(graph, len(kept), required, least, most if counted else None)
    return scope if required or least else Alt((EMPTY, scope))  # a scope reads something


def _may_come(members: Sequence[object], others: bool, counted: bool) -> Expr:
    """What is asked before a name begins: whether there is one that may come."""
    if others and not counted:
        return EMPTY
    return Guard("may", (1 << len(members)) - 1, others)


def once_each(
    members: Sequence[tuple[int, Member]],
    after_name: Expr,
    others: tuple[Expr, Expr] | None,
    counted: bool,
    states: tuple[int, int, int],
) -> list[tuple[int, Expr, int]]:
    """One member, each by its number in the scope, or another one.

    ``states``: from which, to which, and the first of those that are free.
    """
    source, target, free = states
    edges: list[tuple[int, Expr, int]] = []
    if members:
        among = sum(1 << number for number, _ in members)
        choice = guarded_choice([one.name for _, one in members])
        assert isinstance(choice, Graph)
        asked: Expr = Guard("may", among) if others is not None or counted else EMPTY
        edges.append((source, asked, free + choice.start))
        for begin, label, end in choice.edges:
            edges.append((free + begin, *_numbered(label, members, after_name, target, free + end)))
    if others is not None:
        asked = Guard("other") if counted else EMPTY
        edges.append((source, in_row(asked, others[0], after_name, others[1]), target))
    return edges


def _numbered(
    label: Expr, members: Sequence[tuple[int, Member]], after_name: Expr, target: int, end: int
) -> tuple[Expr, int]:
    """An edge of a choice of names, with the numbers that these have; behind a name comes its value."""
    last = label.items[0] if isinstance(label, Seq) else label
    if not isinstance(last, Guard):
        return label, end
    among = sum(1 << number for n, (number, _) in enumerate(members) if last.among >> n & 1)
    guard = Guard(last.kind, among)
    if last.kind == "may":
        assert isinstance(label, Seq)
        return Seq((guard, *label.items[1:])), end
    member = members[last.among.bit_length() - 1][1]
    return in_row(guard, after_name, member.value), target


def texts_among(texts: Sequence[str]) -> Dfa:
    """The automaton of some texts."""
    return determinise(Alt(tuple(map(literal, texts))))


def texts_apart(
    schema: Mapping[str, Any], excluded: Sequence[str] = ()
) -> tuple[Dfa, int | None, bool]:
    """The texts of a schema that can be told apart, without the empty one; how many, with it; whether it is one."""
    texts = minimise(determinise(rewrite(strings_of(schema), one_by_one)))
    if excluded:
        texts = minimise(intersect(texts, complement(texts_among(excluded))))
    has_empty = texts.accepts("")
    some = written(without_empty(texts), "plain")
    count = count_texts(some)
    return some, None if count is None else count + has_empty, has_empty

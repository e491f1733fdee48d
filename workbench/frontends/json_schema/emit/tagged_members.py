"""Members between tags in any order, each that is listed once: the record of a scope knows which came."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from workbench.frontends.json_schema.text.whitespace import in_row
from workbench.grammar.ir import Expr, Graph, Guard, Origin, Scope, literal

__all__ = ["TaggedMember", "in_any_order"]

#: States: before the first member, behind one, before a name, where a member has just ended, the end.
_FIRST, _AFTER, _NAME, _ENDED, _END, _FREE = range(6)
_Edge = tuple[int, Expr, int]


class TaggedMember(NamedTuple):
    """A member that is listed: its name as it is written, what follows the name, whether it has to come."""

    name: str
    rest: Expr
    required: bool


def in_any_order(
    members: Sequence[TaggedMember],
    others: Sequence[tuple[Expr, Expr]],
    begins: tuple[Expr, Expr, Expr],
    end: Expr,
    counts: tuple[int, int | None],
    origin: Origin,
) -> Expr:
    """Members by their names, and ``others``, names that are not listed with what follows them.

    ``begins`` stand before the name of the first member, of any other one, and before ``end`` where none comes; ``end``
    stands behind all of them; ``counts`` are how many have to come at least, and may come at most.
    """
    first, again, empty = begins
    least, most = counts
    if not others:
        most = min(len(members), len(members) if most is None else most)
    every = (1 << len(members)) - 1
    free = bool(others) and most is None
    may = [] if free else [Guard("may", every, bool(others))]
    required = sum(1 << i for i, member in enumerate(members) if member.required)
    # before the first member all may come: where a scope begins, no guard can ask yet
    edges: list[_Edge] = [
        (_FIRST, first, _NAME),
        (_AFTER, in_row(*may, again), _NAME),
        (_ENDED, Guard("between"), _AFTER),
        (_AFTER, in_row(Guard("end"), end), _END),
    ]
    if not (required or least):
        edges.append((_FIRST, in_row(empty, end), _END))
    # a member takes its place where its name is read, not before: till then others may have the same letters
    taken = [] if free and not least else [Guard("other")]
    edges += [(_NAME, in_row(names, *taken, rest), _ENDED) for names, rest in others]
    n_states = _listed(members, edges)
    graph = Graph(n_states, _FIRST, (_END,), tuple(edges), origin=origin)
    return Scope(graph, len(members), required, least, most, origin=origin)


def _listed(members: Sequence[TaggedMember], edges: list[_Edge]) -> int:
    """Lead from before a name to the end of its member, letter by letter; the number of states."""
    n_states = _FREE
    todo = [(_NAME, 0, list(range(len(members))))]
    while todo:
        state, depth, among = todo.pop()
        following: dict[str, list[int]] = {}
        for number in among:
            name = members[number].name
            if len(name) == depth:
                edges.append(
                    (state, in_row(Guard("take", 1 << number), members[number].rest), _ENDED)
                )
            else:
                following.setdefault(name[depth], []).append(number)
        for char, those in following.items():
            left = sum(1 << number for number in those)
            edges.append((state, in_row(Guard("may", left), literal(char)), n_states))
            todo.append((n_states, depth + 1, those))
            n_states += 1
    return n_states

"""Obligations of the states of an object in any order: names of which some must still be free to come.

A state is alive while some path to an end takes only names that have not come. Each path needs a set of names.
"All names of one of the minimal sets are free" is a monotone formula in disjunctive normal form; it is turned
into clauses (monotone dualization, by Berge's multiplication of hypergraphs): of each clause some name must be
free. A guard asks for that, so states need not tell apart which names came.

>>> needs([[(1, 1), (2, 0), (4, 1)], []], [1])  # the names 1 and 4 lead to the end, 2 does not
[(5,), ()]
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from workbench.automaton.budgets import in_force, too_complex

__all__ = ["Clauses", "either_of", "needs", "without"]

#: Sets of names as bits, of each of which some name must be left.
Clauses = tuple[int, ...]


def needs(
    edges: Sequence[Sequence[tuple[int, int]]], finals: Iterable[int]
) -> list[Clauses | None]:
    """The clauses of each state; ``None`` where no names lead to an end.

    ``edges`` are the names taken (bits, 0: one of any number) and the states after them. Raises
    ``GrammarTooComplex`` past the budgets.
    """
    ways: list[set[int]] = [set() for _ in edges]
    # a name that leads back to its own state is no part of a minimal way
    sources: list[dict[int, list[int]]] = [{} for _ in edges]
    for source, out in enumerate(edges):
        for bit, target in out:
            if source != target:
                sources[target].setdefault(source, []).append(bit)
    todo = list(dict.fromkeys(finals))
    for state in todo:
        ways[state] = {0}
    steps = 0
    while todo:
        state = todo.pop()
        for source, bits in sources[state].items():
            steps += len(bits) * (1 + len(ways[state]))
            if steps > in_force().free_steps:
                raise too_complex("free_steps")
            found = {way | bit for bit in bits for way in ways[state] if not way & bit}
            if found <= ways[source]:
                continue
            least = _least(ways[source] | found)
            if least != ways[source]:
                ways[source] = least
                todo.append(source)
    known: dict[frozenset[int], Clauses | None] = {}
    out_clauses: list[Clauses | None] = []
    for some in ways:
        key = frozenset(some)
        if key not in known:
            known[key] = _clauses(key) if key else None
        out_clauses.append(known[key])
    return out_clauses


def _least(sets: set[int]) -> set[int]:
    """The minimal sets: those that are no superset of another one."""
    if 0 in sets:
        return {0}
    singles = 0
    larger = []
    for one in sets:
        if one.bit_count() == 1:
            singles |= one
        else:
            larger.append(one)
    out: list[int] = []
    for one in sorted(larger, key=int.bit_count):
        if not one & singles and not any(other & one == other for other in out):
            out.append(one)
            if len(out) > in_force().free_ways:
                raise too_complex("free_ways")
    return {*out, *_bits(singles)}


def _clauses(ways: frozenset[int]) -> Clauses:
    """The dual: "all of one of these" as "one of each of these"."""
    if 0 in ways:
        return ()
    found = {0}
    for way in sorted(ways):
        found = _least({clause | bit for clause in found for bit in _bits(way)})
    return tuple(sorted(found))


def _bits(names: int) -> list[int]:
    out = []
    while names:
        out.append(names & -names)
        names &= names - 1
    return out


def without(clauses: Clauses, bit: int, known: Clauses) -> Clauses | None:
    """Clauses after a name has come, without those that follow from known ones; ``None``: they never hold."""
    out = []
    for clause in clauses:
        left = clause & ~bit
        if not left:
            return None
        if not any(one & left == one for one in known):
            out.append(left)
    return tuple(out)


def either_of(choices: Sequence[Clauses]) -> Clauses:
    """Clauses that hold when those of one of the choices do."""
    if () in choices:
        return ()
    found = set(choices[0])
    for clauses in choices[1:]:
        found = _least({one | other for one in found for other in clauses})
    return tuple(sorted(found))

"""Left recursion: a group of rules that call one another at their left ends, as one nondeterministic automaton.

To read rule A, begin as any rule of the group may begin without the group; whenever a rule X is completed, go on
behind each left call of X in any rule of the group; A may end where A itself is completed. (The left-corner transform,
Rosenkrantz and Lewis 1970, done on automata instead of productions.) Calls of the group at other places have frames.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from workbench.automaton.rows import closure, skips_of

__all__ = ["Call", "Corners", "corners", "needed"]


class Call(NamedTuple):
    """Where a call stands, what it calls, its loop (or -1), watch (or -2 - scope, or -1), and where it returns."""

    source: int
    entry: int
    loop: int
    watch: int
    after: int


class Corners(NamedTuple):
    """What a start has of the beginnings of a group's rules: edges (first symbol, last symbol, target) and calls.

    ``links`` lead from the end of a rule to behind its left calls.
    """

    edges: list[tuple[int, int, int]]
    calls: list[Call]
    links: list[tuple[int, int]]


def corners(
    start: int,
    between: Mapping[str, tuple[int, int]],
    edges: Iterable[Sequence[int]],
    calls: Iterable[Call],
    members: Sequence[str],
) -> Corners:
    """What rules begin with, for a new start position, and how they go on behind one another.

    ``between`` are the positions where each rule of the group begins and ends, ``edges`` the rows (source, first
    symbol or -1, last symbol or guard, target); a call of the group has the entry ``~i`` for the rule ``members[i]``.
    """
    edges = list(edges)
    skips = skips_of(edges)
    leaving: dict[int, list[tuple[int, int, int]]] = {}
    for at, low, high, to in edges:
        if low >= 0:
            leaving.setdefault(at, []).append((low, high, to))
    called: dict[int, list[Call]] = {}
    for call in calls:
        called.setdefault(call.source, []).append(call)
    found = Corners([], [], [])
    for begin, _ in between.values():
        for at in closure(begin, skips):
            found.edges.extend(leaving.get(at, ()))
            for call in called.get(at, ()):
                if call.entry < 0:
                    found.links.append((between[members[~call.entry]][1], call.after))
                else:
                    found.calls.append(call._replace(source=start))
    return found


def needed(start: int, edges: Iterable[Sequence[int]], calls: Sequence[Call]) -> list[Call]:
    """The calls that the start leads to; a call at the left end of a rule alone is of no use any more."""
    following: dict[int, list[int]] = {}
    for at, _, _, to in edges:
        following.setdefault(at, []).append(to)
    for call in calls:
        following.setdefault(call.source, []).append(call.after)
    reached = set(closure(start, following))
    return [call for call in calls if call.source in reached]

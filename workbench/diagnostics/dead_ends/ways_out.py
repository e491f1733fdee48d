"""A proof that a scope can always be finished, without a look at each set of members that may have come.

Two things are worked out for each state of the scope. ``covers``: the members that it can go on with, each by a path
whose guards let it pass as long as that member may still come. ``known``: sets of members of each of which it is
certain, there, that one may still come. A state is fine in one of three cases: a set that is known is covered; no
guard stands before the next place between members; or all members that still have to come are covered and the scope
can be closed after them, which every place between members has to satisfy. A scope whose states are all fine has no
dead ends. Where the proof fails, nothing is known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from workbench.grammar.ir import Guard, Scope

__all__ = ["always_ends"]

#: What is asked before the next state is reached, or nothing.
_Moves = dict[int, list[tuple[Guard | None, int]]]


def always_ends(
    scope: Scope,
    start: int,
    moves: Callable[[int], Iterable[tuple[Guard | None, int]]],
    is_final: Callable[[int], bool],
) -> bool:
    """Whether it is proved that each state of a scope has a way to its end, whatever members came.

    ``moves`` of a state are what is asked, and the state after; what is read is not asked for.
    """
    if scope.most is not None and scope.most < max(scope.least, scope.required.bit_count()):
        return False
    led: _Moves = {start: list(moves(start))}
    todo = [start]
    while todo:
        for _, target in led[todo.pop()]:
            if target not in led:
                led[target] = list(moves(target))
                todo.append(target)
    other = 1 << scope.members
    between = {s for s, out in led.items() if any(g and g.kind == "between" for g, _ in out)}
    between.add(start)
    free = {"between", "value", "name"}
    ending = _backward(led, {s for s in led if is_final(s)}, free)
    closing = _backward(led, {s for s in led if is_final(s)}, free | {"end"})
    # a member has been read: a place between members is next, or the end
    read = _backward(led, between | ending, {"value", "name"})
    covers = _covers(led, read, scope.required, other)
    owed = scope.least - scope.required.bit_count()

    def finishes(state: int) -> bool:
        """Whether what has to come can come, one after the other, and then the end."""
        covered = covers[state]
        several = (covered & ~other).bit_count() >= scope.least
        enough = owed <= 0 or several or bool(covered & other)
        return state in closing and not scope.required & ~covered and enough

    if not all(map(finishes, between)):
        return False
    known = _known(led, start, {other} if scope.most is None else set(), other)
    return all(
        state in read or finishes(state) or any(one & ~covers[state] == 0 for one in known[state])
        for state in led
    )


def _backward(led: _Moves, goals: Iterable[int], passing: set[str]) -> set[int]:
    """The states with a way to some goals on which only guards of some kinds stand."""
    into: dict[int, list[int]] = {}
    for source, out in led.items():
        for guard, target in out:
            if guard is None or guard.kind in passing:
                into.setdefault(target, []).append(source)
    found = set(goals)
    todo = list(found)
    while todo:
        for source in into.get(todo.pop(), ()):
            if source not in found:
                found.add(source)
                todo.append(source)
    return found


def _covers(led: _Moves, read: set[int], required: int, other: int) -> dict[int, int]:
    """The members (as bits, ``other`` for those without number) that each state can go on with."""
    covers = dict.fromkeys(led, 0)
    changed = True
    while changed:
        changed = False
        for state, out in led.items():
            found = covers[state]
            for guard, target in out:
                kind = guard.kind if guard else ""
                if guard is None or kind in ("between", "value", "name"):
                    found |= covers[target]
                elif kind == "may":
                    # what is not required may come only while there is room for others, too
                    passing = guard.among | ((2 * other - 1) & ~required if guard.others else 0)
                    found |= covers[target] & passing
                elif kind == "take" and target in read:
                    found |= guard.among
                elif kind == "other" and target in read:
                    found |= other
            if found != covers[state]:
                covers[state] = found
                changed = True
    return covers


def _known(led: _Moves, start: int, always: set[int], other: int) -> dict[int, set[int]]:
    """Sets of members of each of which one may come, wherever a state is reached."""
    known: dict[int, set[int]] = {start: set(always)}
    todo = [start]
    while todo:
        state = todo.pop()
        for guard, target in led[state]:
            told = set(known[state])
            if guard and guard.kind == "may":
                told.add(guard.among | (other if guard.others else 0))
            elif guard and guard.kind in ("take", "other"):
                told = set(always)
            before = known.get(target)
            after = told if before is None else before & told
            if before is None or after != before:
                known[target] = after
                todo.append(target)
    return known

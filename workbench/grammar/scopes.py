"""The record of a scope: what of an expression uses it, what a guard makes of it, and scopes written out without one.

An automaton of what is written out has no frames with records. It serves vocabularies that rules on demand make no
promise for, and as a second opinion on the engine.
"""

from __future__ import annotations

from collections.abc import Iterator

from workbench.errors import GrammarTooComplex
from workbench.grammar.ir import (
    EMPTY,
    Expr,
    Graph,
    Guard,
    Origin,
    OtherText,
    Repeat,
    Scope,
    children,
)
from workbench.grammar.thompson import Construction, Task

__all__ = ["MAX_STATES", "passed", "record_parts", "uses_record", "written_out"]

#: Most states of one scope that is written out.
MAX_STATES = 20_000

_Record = tuple[int, int]


def written_out(scope: Scope) -> Graph:
    """A scope as a graph over (place in its item, members that came, number of members).

    Raises ``GrammarTooComplex`` when that takes more than ``MAX_STATES`` states, or when texts are kept.
    """
    places = _Places(scope.item)
    leaving: list[list[tuple[Expr, int]]] = [[] for _ in range(places.n)]
    for source, label, target in places.edges:
        leaving[source].append((label, target))
    number: dict[tuple[int, _Record], int] = {(0, (0, 0)): 0}
    order = list(number)
    out: list[tuple[int, Expr, int]] = []
    for here in order:
        place, record = here
        for label, target in leaving[place]:
            after: _Record | None = record
            if isinstance(label, Guard):
                after = passed(scope, *record, label)
                label = EMPTY
            if after is None:
                continue
            there = (target, after)
            if there not in number:
                if len(number) >= MAX_STATES:
                    raise _too_many()
                number[there] = len(number)
                order.append(there)
            out.append((number[here], label, number[there]))
    finals = tuple(number[key] for key in order if key[0] == 1)
    return Graph(len(order), 0, finals, tuple(out), origin=scope.origin)


def passed(scope: Scope, came: int, count: int, guard: Guard) -> tuple[int, int] | None:
    """The record (members that came, as bits, and their number) after a guard; None where the guard stops it."""
    owed = (scope.required & ~came).bit_count()
    free = scope.most is None or count + owed < scope.most
    left = guard.among & ~came
    match guard.kind:
        case "between" | "value" | "name":
            return came, count
        case "end":
            return (came, count) if not owed and count >= scope.least else None
        case "may":
            passes = bool(left & scope.required) or (free and (bool(left) or guard.others))
            return (came, count) if passes else None
        case "other":
            passes = free
        case _:
            passes = bool(left) and (free or bool(left & scope.required))
    if not passes:
        return None
    # beyond the bounds the number does not matter
    counted = scope.most is not None or count < scope.least
    return came | (guard.among if guard.kind == "take" else 0), count + counted


def record_parts(expr: Expr) -> Iterator[Guard | OtherText]:
    """The guards and the fresh texts in an expression that read and write the record of the scope around it."""
    stack = [expr]
    while stack:
        part = stack.pop()
        if isinstance(part, Guard) or (isinstance(part, OtherText) and part.fresh):
            yield part
        elif not isinstance(part, Scope):
            stack.extend(children(part))


def uses_record(expr: Expr) -> bool:
    """Whether an expression reads or writes the record of the scope around it."""
    return any(True for _ in record_parts(expr))


class _Places(Construction):
    """The item of a scope as edges between places, from 0 to 1: taken apart down to what uses no record."""

    def __init__(self, item: Expr) -> None:
        self.n = 2
        self.edges: list[tuple[int, Expr, int]] = []
        self.connect(item, 0, 1)

    def position(self, origin: Origin | None, n: int = 1) -> int:
        """The first of ``n`` new places."""
        first = self.n
        self.n += n
        if self.n > MAX_STATES:
            raise _too_many()
        return first

    def skip(self, a: int, b: int) -> None:
        """An empty edge."""
        self.edges.append((a, EMPTY, b))

    def part(self, expr: Expr, a: int, b: int, origin: Origin | None, stack: list[Task]) -> None:
        """One expression; the parts of it go on ``stack`` where some of them use the record."""
        if isinstance(expr, Guard) or not uses_record(expr):
            self.edges.append((a, expr, b))
        else:
            super().part(expr, a, b, origin, stack)

    def leaf(self, expr: Expr, a: int, b: int, origin: Origin | None, stack: list[Task]) -> None:
        """A text that may come once."""
        raise GrammarTooComplex("texts that may come once, written out", 0)

    def counts(self, expr: Repeat, copies: int) -> bool:
        """Whether a repeat is counted: none is. So many copies may be too many."""
        if copies > MAX_STATES:
            raise _too_many()
        return False


def _too_many() -> GrammarTooComplex:
    return GrammarTooComplex("states of members in any order", MAX_STATES)

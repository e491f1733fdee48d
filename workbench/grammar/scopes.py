"""Scopes written out: the same language without records, where a record has few values.

What is built from such an expression knows no frames with records; it serves vocabularies that lazy
rules make no promise for, and as a second opinion on the engine.
"""

from __future__ import annotations

from workbench.errors import GrammarTooComplex
from workbench.grammar.ir import (
    EMPTY,
    Alt,
    Expr,
    Graph,
    Guard,
    OtherText,
    Repeat,
    Scope,
    Seq,
    children,
)

__all__ = ["MAX_STATES", "written_out"]

#: Most states of one scope that is written out.
MAX_STATES = 20_000

_Record = tuple[int, int]


def written_out(scope: Scope) -> Graph:
    """A scope as a graph over (place in its item, members that came, number of members).

    Raises ``GrammarTooComplex`` when that takes more than ``MAX_STATES`` states, or when texts are kept.
    """
    edges, n_places = _places(scope.item)
    leaving: list[list[tuple[Expr, int]]] = [[] for _ in range(n_places)]
    for source, label, target in edges:
        leaving[source].append((label, target))
    number: dict[tuple[int, _Record], int] = {(0, (0, 0)): 0}
    order = list(number)
    out: list[tuple[int, Expr, int]] = []
    for here in order:
        place, record = here
        for label, target in leaving[place]:
            after: _Record | None = record
            if isinstance(label, Guard):
                after = _passed(scope, record, label)
                label = EMPTY
            if after is None:
                continue
            there = (target, after)
            if there not in number:
                if len(number) >= MAX_STATES:
                    raise GrammarTooComplex("states of members in any order", MAX_STATES)
                number[there] = len(number)
                order.append(there)
            out.append((number[here], label, number[there]))
    finals = tuple(number[key] for key in order if key[0] == 1)
    return Graph(len(order), 0, finals, tuple(out), origin=scope.origin)


def _passed(scope: Scope, record: _Record, guard: Guard) -> _Record | None:
    came, count = record
    missing = (scope.required & ~came).bit_count()
    free = scope.most is None or count + missing < scope.most
    left = guard.among & ~came
    match guard.kind:
        case "between" | "value" | "name":
            return record
        case "end":
            return record if not missing and count >= scope.least else None
        case "may":
            open_ = bool(left & scope.required) or (free and bool(left or guard.others))
            return record if open_ else None
        case "other":
            passes = free
        case _:
            passes = bool(left) and (free or bool(left & scope.required))
    if not passes:
        return None
    bounded = scope.most is not None or count < scope.least
    return came | (guard.among if guard.kind == "take" else 0), count + bounded


def _places(item: Expr) -> tuple[list[tuple[int, Expr, int]], int]:
    """The item as edges between places, from 0 to 1; what holds guards is taken apart."""
    edges: list[tuple[int, Expr, int]] = []
    count = 2
    todo: list[tuple[Expr, int, int]] = [(item, 0, 1)]
    while todo:
        expr, a, b = todo.pop()
        if isinstance(expr, Guard) or not _holds_guards(expr):
            edges.append((a, expr, b))
        elif isinstance(expr, OtherText):
            raise GrammarTooComplex("texts that may come once, written out", 0)
        elif isinstance(expr, Seq):
            stops = [a, *range(count, count + len(expr.items) - 1), b]
            count += len(expr.items) - 1
            todo += [(part, stops[i], stops[i + 1]) for i, part in enumerate(expr.items)]
        elif isinstance(expr, Alt):
            todo += [(part, a, b) for part in expr.items]
        elif isinstance(expr, Graph):
            first = count
            count += expr.n_states
            edges.append((a, EMPTY, first + expr.start))
            edges += [(first + final, EMPTY, b) for final in expr.finals]
            todo += [(label, first + s, first + t) for s, label, t in expr.edges]
        elif isinstance(expr, Repeat):
            most = expr.min if expr.max is None else expr.max
            here = a
            for i in range(most):
                if i >= expr.min:
                    edges.append((here, EMPTY, b))
                todo.append((expr.item, here, count))
                here = count
                count += 1
            if expr.max is None:
                loop = count
                count += 1
                edges.append((here, EMPTY, loop))
                todo.append((expr.item, loop, loop))
                here = loop
            edges.append((here, EMPTY, b))
        else:
            raise TypeError(f"not an expression with guards: {expr!r}")
        if count > MAX_STATES:
            raise GrammarTooComplex("states of members in any order", MAX_STATES)
    return edges, count


def _holds_guards(expr: Expr) -> bool:
    """Whether guards of the scope at hand stand in an expression."""
    stack = [expr]
    while stack:
        part = stack.pop()
        if isinstance(part, Guard) or (isinstance(part, OtherText) and part.fresh):
            return True
        if not isinstance(part, Scope):
            stack.extend(children(part))
    return False

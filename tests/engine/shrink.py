"""Makes a failing case small: takes away what the failure does not need."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace

from tests.engine.grammars import Case
from workbench.grammar import ir
from workbench.grammar.ir import EMPTY, Alt, Expr, Grammar, Literal, Ref, Repeat, Seq, walk


def shrunk(case: Case, fails: Callable[[Case], bool], seconds: float = 60) -> Case:
    """A case that still fails and has no smaller neighbour that does, or the best one in that time."""
    until = time.monotonic() + seconds
    while True:
        for smaller in neighbours(case):
            if time.monotonic() > until:
                return case
            if fails(smaller):
                case = smaller
                break
        else:
            return case


def neighbours(case: Case) -> Iterator[Case]:
    """Cases with one thing less."""
    for grammar in smaller_grammars(case.grammar):
        yield replace(case, grammar=grammar)
    for i in range(len(case.tokens)):
        if i not in case.eos_ids and len(case.tokens[i]) != 1:
            yield without_token(case, i)
    for i in range(len(case.budgets)):
        yield replace(case, budgets=case.budgets[:i] + case.budgets[i + 1 :])
    if case.width is not None:
        yield replace(case, width=None)


def without_token(case: Case, gone: int) -> Case:
    def moved(ids: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(i - (i > gone) for i in ids if i != gone)

    tokens = case.tokens[:gone] + case.tokens[gone + 1 :]
    return replace(
        case, tokens=tokens, eos_ids=moved(case.eos_ids), special_ids=moved(case.special_ids)
    )


def smaller_grammars(grammar: Grammar) -> Iterator[Grammar]:
    rules = dict(grammar.rules)
    for name, expr in rules.items():
        for smaller in smaller_exprs(expr):
            changed = {**rules, name: smaller}
            used, todo = {grammar.start}, [grammar.start]
            while todo:
                names = {p.name for p in walk(changed[todo.pop()]) if isinstance(p, Ref)}
                todo += names - used
                used |= names
            yield Grammar({n: e for n, e in changed.items() if n in used}, grammar.start)


def smaller_exprs(expr: Expr) -> Iterator[Expr]:
    """The expression with one part less or simpler, the boldest first."""
    if expr != EMPTY:
        yield EMPTY
    yield from ir.children(expr)
    match expr:
        case Literal(data=data) if len(data) > 1:
            yield Literal(data[:1])
        case Seq(items=items) | Alt(items=items):
            make = type(expr)
            for i, item in enumerate(items):
                yield make(items[:i] + items[i + 1 :])
                for smaller in smaller_exprs(item):
                    yield make((*items[:i], smaller, *items[i + 1 :]))
        case Repeat(item=item, min=least, max=most):
            options = ((0, 1), (0, None), (least, None), (0, most), (least - 1, most))
            if most is not None:
                options += ((least, most - 1),)
            for low, high in options:
                if low >= 0 and weight(low, high) < weight(least, most):
                    yield Repeat(item, low, high)
            for smaller in smaller_exprs(item):
                yield Repeat(smaller, least, most)
        case ir.Graph(n_states=n, start=start, finals=finals, edges=edges):
            for i, (source, label, target) in enumerate(edges):
                yield ir.Graph(n, start, finals, edges[:i] + edges[i + 1 :])
                for smaller in smaller_exprs(label):
                    changed = (*edges[:i], (source, smaller, target), *edges[i + 1 :])
                    yield ir.Graph(n, start, finals, changed)


def weight(least: int, most: int | None) -> float:
    """How simple bounds are; without end is simpler than two times."""
    return least + (1.5 if most is None else most)

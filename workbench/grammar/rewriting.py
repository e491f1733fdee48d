"""Expressions with some of their parts replaced."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace as replace_

from workbench.grammar.expressions import Alt, Expr, Graph, Repeat, Scope, Seq, children

__all__ = ["rewrite"]


def rewrite(
    expr: Expr, replace: Callable[[Expr], Expr | None], done: dict[int, Expr] | None = None
) -> Expr:
    """Replace sub-expressions, innermost first; ``replace`` gives ``None`` for what stays.

    What an object occurs in twice is rewritten once. ``done`` keeps results for further calls, as long
    as the objects live.
    """
    done = {} if done is None else done
    todo = [(expr, False)]
    while todo:
        part, opened = todo.pop()
        if id(part) in done:
            continue
        below = children(part)
        if below and not opened:
            todo.append((part, True))
            todo.extend((child, False) for child in below)
            continue
        rebuilt = _with_children(part, [done[id(child)] for child in below])
        replaced = replace(rebuilt)
        done[id(part)] = rebuilt if replaced is None else replaced
    return done[id(expr)]


def _with_children(part: Expr, below: list[Expr]) -> Expr:
    if all(new is old for new, old in zip(below, children(part), strict=True)):
        return part
    if isinstance(part, Seq):
        return Seq(tuple(below), origin=part.origin)
    if isinstance(part, Alt):
        return Alt(tuple(below), origin=part.origin)
    if isinstance(part, Repeat):
        return Repeat(below[0], part.min, part.max, origin=part.origin)
    if isinstance(part, Scope):
        return replace_(part, item=below[0])
    assert isinstance(part, Graph)
    edges = tuple((a, new, b) for (a, _, b), new in zip(part.edges, below, strict=True))
    return Graph(part.n_states, part.start, part.finals, edges, origin=part.origin)

"""Repeats rewritten, so that more of them are counted and fewer written out: the language stays the same."""

from __future__ import annotations

from itertools import groupby

from workbench.grammar.ir import Expr, Ref, Repeat

__all__ = ["LONG_RUN", "collapsed", "runs_joined"]

#: a run of so many equal parts of a sequence becomes a repeat
LONG_RUN = 16


def collapsed(expr: Repeat) -> Repeat:
    """Write a repeat of a repeat as one, where no count between the least and the greatest is left out.

    ``(x{m,n}){p,q}`` allows the counts from k*m to k*n for each k in p..q; they join up when each
    range begins no later than right after the one before it, for which the first two decide.
    """
    while isinstance(expr.item, Repeat):
        inner = expr.item
        m, n, p, q = inner.min, inner.max, expr.min, expr.max
        if (n is not None and n < m) or (q is not None and q < p):
            break
        top = None if n is None or q is None else n * q
        if n == 0 or q == 0:
            top = 0
        joined = p == q or (m <= 1 if p == 0 else n is None or n * p + 1 >= m * (p + 1))
        if not joined:
            break
        expr = Repeat(inner.item, m * p, top, origin=expr.origin or inner.origin)
    return expr


def _identity(item: Expr) -> object:
    return item.name if isinstance(item, Ref) else id(item)


def runs_joined(items: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """Write long runs of one and the same part as a repeat."""
    out: list[Expr] = []
    for _, group in groupby(items, _identity):
        run = list(group)
        if len(run) < LONG_RUN:
            out += run
        else:
            out.append(Repeat(run[0], len(run), len(run), origin=run[0].origin))
    return tuple(out)

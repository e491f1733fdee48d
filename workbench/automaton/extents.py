"""How short an expression's texts may be, and which bytes may come in them."""

from __future__ import annotations

from workbench.automaton.memo import Memo
from workbench.grammar.analysis import passes_through
from workbench.grammar.byte_graph import ByteGraph
from workbench.grammar.ir import (
    Alt,
    ByteSet,
    CharSet,
    Expr,
    Graph,
    Guard,
    Literal,
    Repeat,
    Scope,
    Seq,
    children,
)
from workbench.grammar.utf8 import utf8_graph

__all__ = ["extent_of"]

_ANY_BYTE = (1 << 256) - 1

#: least bytes and alphabet
_Extent = tuple[int, int]
_extents: Memo[_Extent] = Memo(20_000)


def extent_of(expr: Expr) -> tuple[int, int]:
    """Least bytes of an expression (a bound, 0: it may be empty) and the bytes that it may contain, as bits."""
    known = _extents.get(expr)
    if known is None:
        known = _extent(expr)
        _extents.put(expr, known)
    return known


def _extent(expr: Expr) -> _Extent:
    done: dict[int, _Extent] = {}
    stack = [expr]
    while stack:  # parts first, without recursion: expressions may be nested deeply
        part = stack[-1]
        if id(part) in done:
            stack.pop()
            continue
        shared = isinstance(part, Alt | Repeat | Graph)
        known = _extents.get(part) if shared else None
        if known is None:
            missing = [one for one in children(part) if id(one) not in done]
            if missing:
                stack += missing
                continue
            known = _extent_of_one(part, done)
            if shared:
                _extents.put(part, known)
        done[id(part)] = known
    return done[id(expr)]


def _extent_of_one(expr: Expr, done: dict[int, _Extent]) -> _Extent:
    """:func:`extent_of` when it is known of all parts."""
    alphabet = 0
    if isinstance(expr, Literal):
        for value in expr.data:
            alphabet |= 1 << value
        return len(expr.data), alphabet
    if isinstance(expr, ByteSet):
        return 1, expr.mask
    if isinstance(expr, CharSet):
        for _, low, high, _ in utf8_graph(expr.ranges)[1]:
            alphabet |= (1 << (high + 1)) - (1 << low)
        return 1, alphabet
    if isinstance(expr, Guard):
        return 0, 0
    if isinstance(expr, ByteGraph):
        return int(not expr.is_nullable), _ANY_BYTE
    if not isinstance(expr, Seq | Alt | Repeat | Scope | Graph):
        return 1, _ANY_BYTE
    parts = [done[id(part)] for part in children(expr)]
    for _, more in parts:
        alphabet |= more
    if isinstance(expr, Seq):
        return sum(least for least, _ in parts), alphabet
    if isinstance(expr, Alt):
        return min((least for least, _ in parts), default=1), alphabet
    if isinstance(expr, Graph):
        empty = passes_through(expr, lambda label: done[id(label)][0] == 0)
        return int(not empty), alphabet
    return parts[0][0] * (expr.min if isinstance(expr, Repeat) else 1), alphabet

"""String languages over characters: patterns and lengths together, and names other than some names.

Everything here is about scalar values; ``spelled`` applies the JSON spelling of each character last.

Next file to read: ``emit.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from workbench.automaton.finite import (
    determinise,
    intersect,
    length_range,
    minimise,
    to_graph,
    with_length,
)
from workbench.frontends.json_schema.coding import coded
from workbench.frontends.json_schema.location import Pattern
from workbench.frontends.json_schema.spelling import ANY, Ranges
from workbench.frontends.regex import parse_regex, search
from workbench.grammar.ir import NEVER, Alt, CharSet, Expr, Graph, Repeat, Seq

__all__ = ["spelled", "string_content"]

_ANYTHING = CharSet(ANY)


def string_content(
    patterns: Sequence[Pattern], low: int, high: int | None, rule: str | None = None
) -> Expr:
    """The texts that hold a match of every pattern and have ``low`` to ``high`` characters.

    Leaves are ``CharSet``. Raises ``GrammarTooComplex``, naming ``rule``, when the combination of
    patterns and lengths needs too large an automaton.
    """
    if high is not None and low > high:
        return NEVER
    if not patterns:
        return Repeat(_ANYTHING, low, high)
    return _content(tuple(sorted({pattern.text for pattern in patterns})), low, high, rule)


@lru_cache(maxsize=1024)
def _content(patterns: tuple[str, ...], low: int, high: int | None, rule: str | None) -> Expr:
    exprs = [search(parse_regex(pattern)) for pattern in patterns]
    if len(exprs) == 1:
        branches = exprs[0].items if isinstance(exprs[0], Alt) else (exprs[0],)
        limited = [_limited(branch, low, high, rule) for branch in branches]
        kept = [branch for branch in limited if branch != NEVER]
        if not kept:
            return NEVER
        return kept[0] if len(kept) == 1 else Alt(tuple(kept))
    dfa = determinise(exprs[0], rule=rule)
    for expr in exprs[1:]:
        dfa = minimise(intersect(dfa, determinise(expr, rule=rule), rule=rule))
    if low or high is not None:
        dfa = with_length(dfa, low, high, rule=rule)
    return NEVER if dfa.is_empty else to_graph(dfa, CharSet)


def _limited(expr: Expr, low: int, high: int | None, rule: str | None) -> Expr:
    """The texts of an expression with ``low`` to ``high`` characters, by counts where those suffice."""
    lengths = length_range(expr)
    if lengths is None:
        return NEVER
    least, most = lengths
    if (high is not None and least > high) or (most is not None and most < low):
        return NEVER
    if least >= low and (high is None or (most is not None and most <= high)):
        return expr
    counted = _counted(expr, low, high)
    if counted is not None:
        return counted
    dfa = with_length(minimise(determinise(expr, rule=rule)), low, high, rule=rule)
    return NEVER if dfa.is_empty else to_graph(dfa, CharSet)


def _counted(expr: Expr, low: int, high: int | None) -> Expr | None:
    """Move the limits into the one repetition that decides the length, if there is just one."""
    parts = _flat(expr)
    fixed = 0
    varying: list[int] = []
    for number, part in enumerate(parts):
        lengths = length_range(part)
        if lengths is None:
            return NEVER
        if lengths[0] == lengths[1]:
            fixed += lengths[0]
        else:
            varying.append(number)
    if len(varying) != 1:
        return None
    repeat = parts[varying[0]]
    if not isinstance(repeat, Repeat):
        return None
    inner = length_range(repeat.item)
    if inner is None or inner[0] != inner[1] or not inner[0]:
        return None
    unit = inner[0]
    least = max(repeat.min, -((fixed - low) // unit)) if low > fixed else repeat.min
    most = repeat.max
    if high is not None:
        room = (high - fixed) // unit
        most = room if most is None else min(most, room)
        if most < least:
            return NEVER
    parts[varying[0]] = Repeat(repeat.item, least, most, origin=repeat.origin)
    return parts[0] if len(parts) == 1 else Seq(tuple(parts), origin=expr.origin)


def _flat(expr: Expr) -> list[Expr]:
    """The factors of nested sequences, in order."""
    out: list[Expr] = []
    stack = [expr]
    while stack:
        top = stack.pop()
        if isinstance(top, Seq):
            stack.extend(reversed(top.items))
        else:
            out.append(top)
    return out


def spelled(expr: Expr, spell: Callable[[Ranges], Expr]) -> Expr:
    """Replace every character class by its spelling; iterative, shared parts stay shared.

    Graphs that tell few classes apart are spelled byte by byte instead.
    """
    done: dict[int, Expr] = {}
    stack: list[tuple[Expr, bool]] = [(expr, False)]
    while stack:
        item, opened = stack.pop()
        if id(item) in done:
            continue
        if isinstance(item, CharSet):
            done[id(item)] = spell(item.ranges)
        elif isinstance(item, Graph) and (in_bytes := coded(item)) is not None:
            done[id(item)] = in_bytes
        elif not opened:
            stack.append((item, True))
            stack.extend((part, False) for part in _parts(item))
        elif isinstance(item, Seq):
            done[id(item)] = Seq(tuple([done[id(part)] for part in item.items]), origin=item.origin)
        elif isinstance(item, Alt):
            done[id(item)] = Alt(tuple([done[id(part)] for part in item.items]), origin=item.origin)
        elif isinstance(item, Repeat):
            done[id(item)] = Repeat(done[id(item.item)], item.min, item.max, origin=item.origin)
        elif isinstance(item, Graph):
            edges = tuple([(a, done[id(label)], b) for a, label, b in item.edges])
            done[id(item)] = Graph(
                item.n_states, item.start, item.finals, edges, origin=item.origin
            )
        else:
            raise TypeError(f"{type(item).__name__} is not an expression over characters")
    return done[id(expr)]


def _parts(item: Expr) -> Iterable[Expr]:
    if isinstance(item, Seq | Alt):
        return item.items
    if isinstance(item, Repeat):
        return (item.item,)
    if isinstance(item, Graph):
        return [label for _, label, _ in item.edges]
    return ()

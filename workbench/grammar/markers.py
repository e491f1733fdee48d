"""Markers of a grammar replaced by what stands for them: tokens, or their text."""

from __future__ import annotations

from collections.abc import Callable

from workbench.grammar.expressions import Expr, Marker, walk
from workbench.grammar.ir import Grammar
from workbench.grammar.lazy import viewed, written_ahead
from workbench.grammar.rewriting import rewrite

__all__ = ["has_markers", "with_markers"]


def has_markers(grammar: Grammar) -> bool:
    """Whether a grammar has markers. What is written on demand promises to have none."""
    rules = written_ahead(grammar.rules)
    return any(isinstance(part, Marker) for expr in rules.values() for part in walk(expr))


def with_markers(grammar: Grammar, spell: Callable[[Marker], Expr]) -> Grammar:
    """The grammar with another expression for each marker; the same object where it has none."""
    if not has_markers(grammar):
        return grammar
    done: dict[int, Expr] = {}
    ahead = {
        name: rewrite(expr, lambda part: spell(part) if isinstance(part, Marker) else None, done)
        for name, expr in written_ahead(grammar.rules).items()
    }
    rules = viewed(grammar.rules, grammar.start, ahead)
    return Grammar(rules, grammar.start, grammar.kind, grammar.source, grammar.outcomes)

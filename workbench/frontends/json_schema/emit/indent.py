"""Pretty-printed texts: every rule once for each level that it is used at.

The layout leaves marks where a line breaks and around what stands a level deeper; here they become line
breaks with the indentation of their level. Rules are made as they are reached, so recursion does no harm.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import replace

from workbench.frontends.json_schema.text.whitespace import MAX_LEVEL, Break, Nested
from workbench.grammar.ir import Alt, Expr, Graph, Literal, Ref, Repeat, Scope, Seq
from workbench.grammar.lazy import LazyRules

__all__ = ["indented"]


def indented(rules: LazyRules, start: str, flat: AbstractSet[str], indent: str) -> LazyRules:
    """The rules with line breaks in place of their marks; ``flat`` ones hold none."""
    return LazyRules(_Levels(rules, flat, indent).emit, start)


class _Levels:
    """Rules by name and level. The name of a rule at level 0 is its own."""

    def __init__(self, rules: LazyRules, flat: AbstractSet[str], indent: str) -> None:
        self._rules = rules
        self._flat = flat
        self._indent = indent
        self._places: dict[str, tuple[str, int]] = {}
        #: what an expression has become at a level; the expression is kept lest its identity is given away
        self._done: dict[tuple[int, int], tuple[Expr, Expr]] = {}

    def emit(self, name: str) -> Expr:
        own, level = self._places.get(name, (name, 0))
        return self._at(self._rules[own], level)

    def _use(self, use: Ref, level: int) -> Ref:
        if use.name in self._flat or level == 0:
            return use
        name = f"{use.name}@{level}"
        self._places[name] = (use.name, level)
        return Ref(name, origin=use.origin)

    def _at(self, expr: Expr, level: int) -> Expr:
        known = self._done.get((id(expr), level))
        if known is None:
            known = self._done[id(expr), level] = (expr, self._written(expr, level))
        return known[1]

    def _written(self, expr: Expr, level: int) -> Expr:
        match expr:
            case Break(before=before, outside=outside):
                depth = level - 1 if outside else level
                return Literal(before + b"\n" + self._indent.encode() * depth)
            case Nested(item=item):
                return self._at(item, min(level + 1, MAX_LEVEL))
            case Ref():
                return self._use(expr, level)
            case Seq(items=items):
                new = tuple([self._at(item, level) for item in items])
                return expr if _same(items, new) else Seq(new, origin=expr.origin)
            case Alt(items=items):
                new = tuple([self._at(item, level) for item in items])
                return expr if _same(items, new) else Alt(new, origin=expr.origin)
            case Repeat(item=item, min=least, max=most):
                inner = self._at(item, level)
                return expr if inner is item else Repeat(inner, least, most, origin=expr.origin)
            case Graph(n_states=n_states, start=start, finals=finals, edges=edges):
                labels = tuple([label for _, label, _ in edges])
                new = tuple([self._at(label, level) for label in labels])
                if _same(labels, new):
                    return expr
                moved = tuple([(a, one, b) for (a, _, b), one in zip(edges, new, strict=True)])
                return Graph(n_states, start, finals, moved, origin=expr.origin)
            case Scope(item=item):
                return replace(expr, item=self._at(item, level))
        return expr


def _same(old: tuple[Expr, ...], new: tuple[Expr, ...]) -> bool:
    return all(one is other for one, other in zip(old, new, strict=True))

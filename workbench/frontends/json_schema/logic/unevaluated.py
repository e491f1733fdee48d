"""``unevaluatedProperties`` and ``unevaluatedItems``: what is left depends on which schemas held.

The specification says it by annotations: which members (or items) the schemas that hold have evaluated. For
every combination of the schemas that may hold there is one set of evaluated members (or items); the keyword's
schema must hold for the others. A combination only says that its schemas hold,
not that others do not: if more of them do, less is left, so the union over combinations is exact.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from workbench.automaton.budgets import in_force, too_complex
from workbench.frontends.json_schema.logic import facts as f
from workbench.frontends.json_schema.logic.formula import FALSE, Formula
from workbench.frontends.json_schema.read.location import CellRule, Location, MemberRule
from workbench.frontends.json_schema.scalars.patterns import Pattern
from workbench.frontends.json_schema.text.json_values import ARRAY, OBJECT

if TYPE_CHECKING:
    from workbench.frontends.json_schema.logic.nodes import Nodes

__all__ = ["Evaluation", "is_trivial"]


@dataclass(frozen=True, slots=True)
class _Seen:
    """The members or items that some schemas evaluate."""

    names: frozenset[str] = frozenset()
    patterns: frozenset[Pattern] = frozenset()
    everything: bool = False
    items: int = 0
    matching: frozenset[Location] = frozenset()

    def __or__(self, other: _Seen) -> _Seen:
        return _Seen(
            self.names | other.names,
            self.patterns | other.patterns,
            self.everything or other.everything,
            max(self.items, other.items),
            self.matching | other.matching,
        )


_NOTHING = _Seen()
_ALL = _Seen(everything=True)
_Ways = list[tuple[Formula, _Seen]]


class Evaluation:
    """Makes the formulas of schemas with these keywords."""

    def __init__(self, nodes: Nodes) -> None:
        self._nodes = nodes
        self._formulas = nodes.formulas
        self._rules: dict[tuple[Location, _Seen], f.Members | f.Cells] = {}
        self._speaks: dict[tuple[int, int], bool] = {}

    def said(self, location: Location, kind: int) -> Formula:
        """What a schema with the keyword says about objects or arrays."""
        return self._formulas.any_of([formula for formula, _ in self._closed(location, kind)])

    def _closed(self, location: Location, kind: int) -> _Ways:
        """The ways in which a schema holds, its own keyword included."""
        schema = location.unevaluated_members if kind == OBJECT else location.unevaluated_cells
        ways = self._open(location, kind)
        if schema is None:
            return ways
        out = []
        for formula, seen in ways:
            if not seen.everything and not is_trivial(schema):
                formula = self._formulas.all_of([formula, self._left(schema, seen, kind)])
            out.append((formula, _ALL))
        return out

    def _left(self, schema: Location, seen: _Seen, kind: int) -> Formula:
        """That the keyword's schema holds for what has not been evaluated."""
        key = (schema, seen)
        fact = self._rules.get(key)
        if fact is None:
            if kind == OBJECT:
                patterns = sorted(seen.patterns, key=lambda pattern: pattern.text)
                names = dict.fromkeys(sorted(seen.names))
                rule = MemberRule(names, tuple((pattern, None) for pattern in patterns), schema)
                fact = f.Members(rule)
            else:
                unless = tuple(sorted(seen.matching, key=lambda part: part.index))
                fact = f.Cells(CellRule((None,) * seen.items, schema, unless))
            self._rules[key] = fact
        return self._formulas.fact(fact)

    def _open(self, location: Location, kind: int) -> _Ways:
        """The ways in which a schema holds, its own keyword left aside."""
        nodes, formulas = self._nodes, self._formulas
        ways: _Ways = [(nodes.own(location, kind), self._own(location, kind))]
        for part in location.same_instance:
            if part is not None:
                ways = self._product(ways, self._of(part, kind), location)
        if not self._below(location, kind):
            return self._product(
                ways, [(formulas.all_of(nodes.applied(location, kind)), _NOTHING)], location
            )
        for group in location.choices:
            ways = self._product(ways, self._some(group, kind, location), location)
        for group in location.exclusive:
            found: _Ways = []
            for choice, only in nodes.just_one(location, group, kind):
                found += self._product(self._of(choice, kind), [(only, _NOTHING)], location)
            ways = self._product(ways, found, location)
        for other in location.excluded:
            said = formulas.opposite(nodes.said(other, kind))
            ways = self._product(ways, [(said, _NOTHING)], location)
        if (condition := location.condition) is not None:
            yes = self._of(condition.test, kind)
            no: _Ways = [(formulas.opposite(nodes.said(condition.test, kind)), _NOTHING)]
            if condition.then is not None:
                yes = self._product(yes, self._of(condition.then, kind), location)
            if condition.other is not None:
                no = self._product(no, self._of(condition.other, kind), location)
            ways = self._product(ways, [*yes, *no], location)
        if kind == OBJECT:
            for name, schema in location.dependent_schemas.items():
                has: _Ways = [(formulas.fact(f.Has(name)), _NOTHING)]
                found = self._product(has, self._of(schema, kind), location)
                found.append((formulas.fact(f.Lacks(name)), _NOTHING))
                ways = self._product(ways, found, location)
        return ways

    def _of(self, location: Location, kind: int) -> _Ways:
        if not self._speaks_of(location, kind):
            return [(self._nodes.said(location, kind), _NOTHING)]
        return self._closed(location, kind)

    def _some(self, group: tuple[Location, ...], kind: int, place: Location) -> _Ways:
        """Every choice of one or more schemas that hold."""
        each = [self._of(choice, kind) for choice in group]
        each = [ways for ways in each if any(formula is not FALSE for formula, _ in ways)]
        if 2 ** len(each) > 8 * in_force().unevaluated_ways:
            raise too_complex("unevaluated_ways", place.pointer)
        out: _Ways = []
        for size in range(1, len(each) + 1):
            for chosen in combinations(each, size):
                ways = chosen[0]
                for more in chosen[1:]:
                    ways = self._product(ways, more, place)
                out += ways
        return _fewest(out)

    def _product(self, left: _Ways, right: _Ways, place: Location) -> _Ways:
        out: _Ways = []
        for formula, seen in left:
            for other, more in right:
                both = self._formulas.all_of([formula, other])
                if both is not FALSE:
                    out.append((both, seen | more))
        out = _fewest(out)
        if len(out) > in_force().unevaluated_ways:
            raise too_complex("unevaluated_ways", place.pointer)
        return out

    def _own(self, location: Location, kind: int) -> _Seen:
        """What the keywords of a schema evaluate themselves."""
        seen = _NOTHING
        if kind == OBJECT and (rule := location.members) is not None:
            patterns = frozenset(pattern for pattern, _ in rule.patterns)
            seen = _Seen(frozenset(rule.names), patterns, rule.rest is not None)
        elif kind == ARRAY:
            if (cells := location.cells) is not None:
                seen = _Seen(items=len(cells.prefix), everything=cells.rest is not None)
            if location.contains is not None and location.resource.draft >= 2020:
                seen |= _Seen(matching=frozenset((location.contains,)))
        return seen

    def _below(self, location: Location, kind: int) -> bool:
        parts: Iterable[Location] = location.applied()
        return any(self._speaks_of(part, kind) for part in parts)

    def _speaks_of(self, location: Location, kind: int) -> bool:
        """Whether a schema, or one that it applies, may evaluate any members (items)."""
        key = (location.index, kind)
        known = self._speaks.get(key)
        if known is None:
            own = self._own(location, kind) != _NOTHING
            schema = location.unevaluated_members if kind == OBJECT else location.unevaluated_cells
            known = own or schema is not None or self._below(location, kind)
            self._speaks[key] = known
        return known


def is_trivial(schema: Location) -> bool:
    """Whether a schema plainly accepts everything."""
    return schema.schema is True or schema.schema == {}


def _fewest(ways: _Ways) -> _Ways:
    """The sets without repetitions and without what is impossible."""
    found = {(id(formula), seen): (formula, seen) for formula, seen in ways if formula is not FALSE}
    return list(found.values())

"""Formulas that are better written apart: one rule for each of a few alternatives.

Two ways to split: the disjunctions of a formula multiplied out in part (towards its disjunctive normal form),
and case distinction on what the value of one name satisfies (Shannon's expansion), with unit propagation in
each case.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from functools import reduce
from operator import mul

from workbench.frontends.json_schema.containers.derivatives import is_cheap
from workbench.frontends.json_schema.containers.propagate import Propagator, alone, plain_parts
from workbench.frontends.json_schema.logic import facts as f
from workbench.frontends.json_schema.logic.formula import (
    FALSE,
    TRUE,
    And,
    Fact,
    Formula,
    Or,
    facts_in,
)
from workbench.frontends.json_schema.logic.nodes import Nodes
from workbench.frontends.json_schema.read.location import Location, MemberRule

__all__ = ["MAX_ALTERNATIVES", "Cases", "alternatives"]

#: Most alternatives that the disjunctions of one formula are multiplied out to, or that one name gives.
MAX_ALTERNATIVES = 64
#: How many lists of values of one name give a case each at once.
_MANY_LISTS, _MOST_LISTS = 12, 250


def alternatives(nodes: Nodes, formula: Formula, joint: bool = False) -> list[Formula] | None:
    """Formulas of which one holds, for a formula that is better written apart; else ``None``.

    Disjunctions over whole objects are split: each part keeps its own rule and its own order of names.
    Those over single facts stay together, and with ``joint`` those that say that just one of many holds.
    """
    parts = plain_parts(formula)
    heavy = [part for part in parts if isinstance(part, Or) and _is_heavy(nodes, part)]
    if joint:
        heavy = [part for part in heavy if nodes.formulas.order_of(part) is None]
    if not heavy:
        return None
    total = reduce(mul, [_leaves(nodes, part) for part in heavy])
    listed = [part for part in heavy if _lists_values(part)]
    if len(heavy) > 1 and total > MAX_ALTERNATIVES:
        if not listed:
            return None
        heavy = listed
    chosen = (listed or heavy)[0]
    others = [part for part in parts if part is not chosen]
    found = [nodes.formulas.all_of([*others, one]) for one in _grouped(nodes, chosen)]
    return [one for one in dict.fromkeys(found) if one is not FALSE]


def _leaves(nodes: Nodes, formula: Formula) -> int:
    """How many alternatives there are when all disjunctions over whole objects are split."""
    found = nodes.leaves.get(id(formula))
    if found is None:
        if isinstance(formula, And):
            found = min(10**6, reduce(mul, [_leaves(nodes, part) for part in formula.parts]))
        elif isinstance(formula, Or) and _is_heavy(nodes, formula):
            heavy = [part for part in formula.parts if _is_heavy(nodes, part)]
            light = len(heavy) < len(formula.parts)
            found = sum(_leaves(nodes, part) for part in heavy) + light
        else:
            found = 1
        nodes.leaves[id(formula)] = found
    return found


def _grouped(nodes: Nodes, part: Or) -> list[Formula]:
    """The parts of a disjunction, those about single facts together."""
    heavy = [one for one in part.parts if _is_heavy(nodes, one)]
    light = [one for one in part.parts if not _is_heavy(nodes, one)]
    return [*heavy, nodes.formulas.any_of(light)] if light else heavy


def _is_heavy(nodes: Nodes, formula: Formula) -> bool:
    """Whether some fact of a formula speaks of whole objects."""
    if not isinstance(formula, And | Or):
        return isinstance(formula, Fact) and _binds(formula)
    found = nodes.heavy.get(id(formula))
    if found is None:
        found = nodes.heavy[id(formula)] = any(_is_heavy(nodes, part) for part in formula.parts)
    return found


def _binds(fact: Fact) -> bool:
    if isinstance(fact, f.Distinct):
        return True
    return isinstance(fact, f.Members | f.Cells | f.Among) and fact.positive


def _lists_values(part: Or) -> bool:
    return any(isinstance(fact, f.Among) and fact.positive for fact in facts_in(part))


#: Facts by the values that they list.
_Lists = dict[frozenset[Hashable], list[f.Members]]

#: Keywords of a schema that lists its values.
_SAID_OF_LISTS = frozenset(("const", "enum", "title", "description", "$comment", "default"))


class Cases:
    """Splits formulas about objects by what the value of one name satisfies."""

    def __init__(self, nodes: Nodes, propagator: Propagator) -> None:
        self._nodes = nodes
        self._propagator = propagator
        self._single: dict[tuple[str, int], Formula] = {}
        self._known: dict[int, tuple[Formula, list[Formula] | None]] = {}

    def of(self, formula: Formula) -> list[Formula] | None:
        """Formulas of which one holds, for one of which many parts speak of one name; else ``None``.

        ``if: kind is A, then: ...`` for a dozen kinds is undecided in thousands of ways until ``kind`` comes;
        with the kind guessed at the start it is a dozen plain objects.
        """
        known = self._known.get(id(formula))
        if known is None:
            known = self._known[id(formula)] = (formula, self._cut(formula))
        return known[1]

    def _cut(self, formula: Formula) -> list[Formula] | None:
        name = _pivot(formula)
        if name is None:
            return None
        lists = _lists_of(formula, name)
        if lists is not None and len(lists) >= _MANY_LISTS:
            return self._by_values(formula, name, lists) if len(lists) <= _MOST_LISTS else None
        formulas = self._nodes.formulas
        has, lacks = formulas.fact(f.Has(name)), formulas.fact(f.Lacks(name))
        found: list[Formula] = []
        todo = [formula]
        if has not in plain_parts(formula):
            todo = [self._propagated(formula, one) for one in (has, lacks)]
        while todo:
            one = todo.pop()
            fact = None if one is FALSE else self._deciding(one, name)
            if fact is not None:
                todo += [self._propagated(one, side) for side in (fact, formulas.opposite(fact))]
            elif one is not FALSE:
                found.append(one)
            if len(todo) + len(found) > MAX_ALTERNATIVES:
                return None
        return None if formula in found else found

    def _by_values(self, formula: Formula, name: str, lists: _Lists) -> list[Formula]:
        """One case for each of many lists of values of a name that have none in common, one for others, one without.

        What each list says of the facts is known without a look at single values.
        """
        formulas = self._nodes.formulas
        every = [fact for some in lists.values() for fact in some]
        has, lacks = formulas.fact(f.Has(name)), formulas.fact(f.Lacks(name))
        denied = {id(fact): FALSE if fact.positive else TRUE for fact in every}
        firsts = [
            some[0] if some[0].positive else formulas.opposite(some[0]) for some in lists.values()
        ]
        cases = []
        for first, some in zip(firsts, lists.values(), strict=True):
            table = denied | {id(fact): TRUE if fact.positive else FALSE for fact in some}
            cases.append(formulas.all_of([formulas.replaced(formula, table), has, first]))
        others = [formulas.opposite(first) for first in firsts]
        cases.append(formulas.all_of([formulas.replaced(formula, denied), has, *others]))
        absent = {id(fact): TRUE if fact.positive else FALSE for fact in every}
        cases.append(formulas.all_of([formulas.replaced(formula, absent), lacks]))
        found = [self._propagator.propagated(one) for one in cases]
        return [one for one in dict.fromkeys(found) if one is not FALSE]

    def _propagated(self, formula: Formula, more: Formula) -> Formula:
        return self._propagator.propagated(self._nodes.formulas.all_of([formula, more]))

    def _deciding(self, formula: Formula, name: str) -> Formula | None:
        """What the value of one name satisfies or not, by some fact that stands beside others."""
        for part in plain_parts(formula):
            for fact in facts_in(part) if _is_open(part) else ():
                schema = _said_of(fact, name)
                if schema is not None:
                    key = (name, schema.index)
                    if key not in self._single:
                        rule = MemberRule({name: schema})
                        self._single[key] = self._nodes.formulas.fact(f.Members(rule))
                    single = self._single[key]
                    if single not in plain_parts(formula):
                        return single
        return None


def _lists_of(formula: Formula, name: str) -> _Lists | None:
    """The facts that say or deny that the value of a name is one of a list, if no two lists have a value in common."""
    found: _Lists = {}
    for part in plain_parts(formula):
        for fact in facts_in(part) if not isinstance(part, Fact) else ():
            if isinstance(fact, f.Members) and alone(fact) == name:
                schema = fact.rule.names[name]
                if schema is not None and schema.value_keys is not None and _only_lists(schema):
                    same = found.setdefault(schema.value_keys, [])
                    if fact not in same:
                        same.append(fact)
    return found if sum(map(len, found)) == len(frozenset().union(*found)) else None


def _only_lists(schema: Location) -> bool:
    """Whether a schema says which values there are, and nothing else."""
    return isinstance(schema.schema, dict) and _SAID_OF_LISTS.issuperset(schema.schema)


def _is_open(part: Formula) -> bool:
    """Whether a part of a formula says something about several names."""
    plain = isinstance(part, Fact) and not (isinstance(part, f.Members) and not part.positive)
    return not plain and alone(part) is None


def _said_of(fact: Fact, name: str) -> Location | None:
    """What a fact says about the value of one name, if that is simple, or all that it says."""
    if not isinstance(fact, f.Members) or fact.rule.patterns or fact.rule.rest is not None:
        return None
    schema = fact.rule.names.get(name)
    return schema if schema is not None and (is_cheap(schema) or alone(fact)) else None


def _pivot(formula: Formula) -> str | None:
    """The name that most parts about several names say something simple of."""
    counts: Counter[str] = Counter()
    for part in filter(_is_open, plain_parts(formula)):
        names: dict[str, None] = {}
        for fact in facts_in(part):
            if isinstance(fact, f.Has | f.Lacks):
                names[fact.name] = None
            elif isinstance(fact, f.Members):
                names.update((n, None) for n in fact.rule.names if _said_of(fact, n) is not None)
        counts.update(names.keys())
    return max(counts, key=counts.__getitem__) if counts else None

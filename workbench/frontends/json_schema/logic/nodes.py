"""Schemas and their opposites that must hold together, and what they say about each type of value.

A *node* is a set of schemas, each with a sign: it holds, or it does not. Equal sets are the same node,
so recursive schemas combine into finitely many, as in the subset construction for alternating automata. For each
type of value a node has a formula over facts; the schemas inside the facts lead to further nodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from workbench.automaton.budgets import in_force, too_complex
from workbench.frontends.json_schema.logic import facts as f
from workbench.frontends.json_schema.logic.exclusive import Exclusion
from workbench.frontends.json_schema.logic.formula import (
    FALSE,
    TRUE,
    Fact,
    Formula,
    Formulas,
    holds,
)
from workbench.frontends.json_schema.logic.unevaluated import Evaluation, is_trivial
from workbench.frontends.json_schema.read.location import Location
from workbench.frontends.json_schema.scalars.formats import format_automaton, without_format
from workbench.frontends.json_schema.scalars.patterns import Pattern, divided
from workbench.frontends.json_schema.text.json_values import (
    ALL_TYPES,
    ARRAY,
    BOOLEAN,
    INTEGER,
    NULL,
    NUMBER,
    OBJECT,
    STRING,
    canonical,
    decimal,
    type_bit,
)
from workbench.grammar.ir import JsonStyle

__all__ = ["KINDS", "Atom", "Node", "Nodes"]

#: The types of value that are told apart: an integer is a number.
KINDS = (OBJECT, ARRAY, STRING, NUMBER, BOOLEAN, NULL)

#: With how many others that may hold beside them, in the mean, schemas of a ``oneOf`` are not written with the
#: opposites of these.
_CROWD = 6

#: A schema and whether it holds.
Atom = tuple[Location, bool]


@dataclass(eq=False, slots=True)
class Node:
    """Schemas that hold, and schemas that do not."""

    index: int
    atoms: tuple[Atom, ...]
    pointer: str
    #: the types that all of the schemas allow
    types: int
    #: of several schemas, what they say about values of each type
    formulas: dict[int, Formula] | None = None

    @property
    def anything(self) -> bool:
        """Whether it says nothing."""
        return not self.atoms

    def __repr__(self) -> str:
        return " & ".join(("" if sign else "not ") + at.pointer for at, sign in self.atoms) or "any"


class Nodes:
    """All nodes and formulas of one document, made when first asked for.

    ``style`` is how strings are spelled; ``once``: names that are not listed come once in an object.
    """

    def __init__(self, synthetic: Any, style: JsonStyle = "any", once: bool = True) -> None:
        self.formulas = Formulas()
        self.style: JsonStyle = style
        self.once = once
        #: the place in the schema that a formula comes from
        self.pointers: dict[int, str] = {}
        #: whether a formula speaks of whole objects, and into how many alternatives it splits
        self.heavy: dict[int, bool] = {}
        self.leaves: dict[int, int] = {}
        self._synthetic = synthetic
        self._nodes: dict[frozenset[tuple[int, bool]], Node] = {}
        self._single: dict[tuple[int, bool], Node] = {}
        self._said: dict[tuple[int, int], Formula] = {}
        self._exclusion = Exclusion()
        self._evaluation = Evaluation(self)
        self._plain: dict[int, tuple[Location, ...]] = {}

    def of(self, locations: Iterable[Location]) -> Node:
        """The node in which all of these schemas hold."""
        return self.node([(location, True) for location in locations])

    def node(self, atoms: Sequence[Atom]) -> Node:
        """The node of some signed schemas."""
        if len(atoms) == 1:
            location, sign = atoms[0]
            known = self._single.get((location.index, sign))
            if known is None:
                known = self._single[location.index, sign] = self._node(atoms)
            return known
        return self._node(atoms)

    def _node(self, atoms: Sequence[Atom]) -> Node:
        plain: dict[tuple[int, bool], Atom] = {}
        for location, sign in atoms:
            if sign:
                for one in self._targets(location):
                    plain[one.index, True] = (one, True)
            else:
                targets = self._targets(location)
                one = targets[0] if len(targets) == 1 else location
                plain[one.index, False] = (one, False)
        key = frozenset(plain)
        node = self._nodes.get(key)
        if node is None:
            if len(self._nodes) >= in_force().combinations:
                raise too_complex("combinations")
            found = tuple(plain.values())
            pointer = found[0][0].pointer if found else "#"
            types = ALL_TYPES
            for location, sign in found:
                if sign:
                    types &= location.types
            node = self._nodes[key] = Node(len(self._nodes), found, pointer, types)
        return node

    def _targets(self, location: Location) -> tuple[Location, ...]:
        """Leave out what says nothing, and put the targets in place of bare references."""
        known = self._plain.get(location.index)
        if known is None:
            if location.constrains or location.applies_others:
                known = (location,)
            else:
                found: dict[int, Location] = {}
                for part in location.same_instance:
                    if part is not None:
                        found.update((one.index, one) for one in self._targets(part))
                known = tuple(found.values())
            self._plain[location.index] = known
        return known

    def formula(self, node: Node, kind: int) -> Formula:
        """What a node says about values of one type."""
        if not node.types & kind:
            return FALSE
        if len(node.atoms) == 1 and node.atoms[0][1]:
            return self.said(node.atoms[0][0], kind)
        if node.formulas is None:
            node.formulas = {}
        known = node.formulas.get(kind)
        if known is None:
            parts = []
            for location, sign in node.atoms:
                said = self.said(location, kind)
                parts.append(said if sign else self.formulas.opposite(said))
                if parts[-1] is FALSE:
                    break
            known = node.formulas[kind] = self.formulas.all_of(parts)
            self.pointers.setdefault(id(known), node.pointer)
        return known

    def said(self, location: Location, kind: int) -> Formula:
        """The formula of one schema for values of one type, with all that it applies."""
        if location.never or not location.types & kind:
            return FALSE
        key = (location.index, kind)
        known = self._said.get(key)
        if known is None:
            schema = None
            if kind == OBJECT:
                schema = location.unevaluated_members
            elif kind == ARRAY:
                schema = location.unevaluated_cells
            if schema is not None and not is_trivial(schema):
                made = self._evaluation.said(location, kind)
            elif not location.same_instance and not location.applies_others:
                made = self.own(location, kind)
            else:
                made = self.formulas.all_of(self._parts(location, kind))
            known = self._said[key] = made
            self.pointers.setdefault(id(known), location.pointer)
        return known

    def _parts(self, location: Location, kind: int) -> list[Formula]:
        """The clauses of a schema, in the order of its text as far as properties go."""
        parts: list[Formula] = []
        if not location.same_instance:
            parts.append(self.own(location, kind))
        for part in location.same_instance:
            parts.append(self.own(location, kind) if part is None else self.said(part, kind))
            if parts[-1] is FALSE:
                return [FALSE]
        parts.extend(self.applied(location, kind))
        return parts

    def applied(self, location: Location, kind: int) -> list[Formula]:
        """The clauses of the keywords that apply schemas under a condition."""
        formulas = self.formulas
        parts = [
            formulas.any_of([self.said(choice, kind) for choice in group])
            for group in location.choices
        ]
        parts.extend(self.one_of(location, group, kind) for group in location.exclusive)
        parts.extend(formulas.opposite(self.said(other, kind)) for other in location.excluded)
        if (condition := location.condition) is not None:
            test = self.said(condition.test, kind)
            for schema, unless in (
                (condition.then, formulas.opposite(test)),
                (condition.other, test),
            ):
                if schema is not None:
                    parts.append(formulas.any_of([unless, self.said(schema, kind)]))
        if kind == OBJECT:
            for name, schema in location.dependent_schemas.items():
                lacks = formulas.fact(f.Lacks(name))
                parts.append(formulas.any_of([lacks, self.said(schema, kind)]))
        return parts

    def one_of(self, location: Location, group: tuple[Location, ...], kind: int) -> Formula:
        """Just one of several schemas; those that cannot hold together need no negation."""
        said = [self.said(choice, kind) for choice in group]
        partners = self._partners(location, group, said, kind)
        many = _crowds(partners) if kind in (OBJECT, ARRAY) else []
        crowds = {crowd[0]: crowd for crowd in many}
        crowded = {number for crowd in crowds.values() for number in crowd}
        parts: list[Formula] = []
        for number in partners:
            if number in crowds:
                parts += self._one_of_many(location, group, kind, crowds[number])
            elif number not in crowded:
                parts.append(self._only(said, number, partners[number]))
        return self.formulas.any_of(parts)

    def _one_of_many(
        self, location: Location, group: tuple[Location, ...], kind: int, crowd: list[int]
    ) -> list[Formula]:
        """That just one holds of the schemas of a crowd, as formulas of which one holds.

        Where a name tells them apart that may be missing, an object that has it needs no opposites.
        """
        formulas = self.formulas
        said = {number: self.said(group[number], kind) for number in crowd}
        if kind != OBJECT:
            return [formulas.just_one(list(said.values()))]
        name = self._exclusion.tag(location, group, crowd)
        if name is None:
            return self._alone(location, group, said, TRUE)
        has, lacks = formulas.fact(f.Has(name)), formulas.fact(f.Lacks(name))
        parts = [formulas.all_of([one, has]) for one in said.values()]
        free = {
            number: one
            for number, one in said.items()
            if has not in (one, *getattr(one, "parts", ()))
        }
        return [*parts, *(self._alone(location, group, free, lacks, name) if free else ())]

    def _alone(
        self,
        location: Location,
        group: tuple[Location, ...],
        said: dict[int, Formula],
        beside: Formula,
        lacks: str | None = None,
    ) -> list[Formula]:
        """That just one of some schemas holds beside a formula, which says that one name does not come.

        An object that satisfies a closed one has none of the names of the others, unless they share names: so
        any member decides.
        """
        formulas = self.formulas
        lists = self._exclusion.closed_lists(location, group, list(said))
        if lists is None:
            return [formulas.all_of([beside, formulas.just_one(list(said.values()))])]
        having: dict[str, list[int]] = {}
        for number, names in lists.items():
            for one in names - {lacks}:
                having.setdefault(one, []).append(number)
        empty = [number for number, one in said.items() if self.satisfies({}, one)]
        some = formulas.fact(f.AtLeast(1))
        out = []
        for number, names in lists.items():
            near = {other for one in names - {lacks} for other in having[one]} - {number}
            parts = [said[number], beside, *(formulas.opposite(said[one]) for one in sorted(near))]
            if any(one != number and one not in near for one in empty[: len(near) + 2]):
                parts.append(some)
            out.append(formulas.all_of(parts))
        return out

    def just_one(
        self, location: Location, group: tuple[Location, ...], kind: int
    ) -> list[tuple[Location, Formula]]:
        """For each of several schemas the formula that it holds and no other one does."""
        said = [self.said(choice, kind) for choice in group]
        partners = self._partners(location, group, said, kind)
        return [(group[one], self._only(said, one, others)) for one, others in partners.items()]

    def _partners(
        self, location: Location, group: tuple[Location, ...], said: list[Formula], kind: int
    ) -> dict[int, list[int]]:
        """The numbers of schemas that some value may satisfy, and of those that may hold beside each."""
        live = [number for number, formula in enumerate(said) if formula is not FALSE]
        return self._exclusion.partners(location, group, live, kind)

    def _only(self, said: list[Formula], number: int, others: list[int]) -> Formula:
        opposites = [self.formulas.opposite(said[other]) for other in others]
        return self.formulas.all_of([said[number], *opposites])

    def own(self, location: Location, kind: int) -> Formula:  # noqa: C901 - one branch a keyword
        """What the keywords of a schema say themselves."""
        if location.never or not location.types & kind:
            return FALSE
        parts: list[Formula] = []
        if location.values is not None:
            parts.append(self.among(location, kind))
        if kind == NUMBER:
            if location.types & NUMBER == INTEGER:
                parts.append(f.Multiple(decimal(1), plain=location.resource.draft == 4))
            if location.low is not None:
                parts.append(f.Low(location.low))
            if location.high is not None:
                parts.append(f.High(location.high))
            if location.multiple_of is not None:
                parts.append(f.Multiple(location.multiple_of))
        elif kind == STRING:
            parts.extend(_counts(location.min_length, location.max_length))
            if location.pattern is not None:
                parts.extend(_matches(location.pattern))
            if location.format is not None:
                parts.append(f.Format(location.format))
        elif kind == ARRAY:
            parts.extend(_counts(location.min_items, location.max_items))
            if location.cells is not None:
                parts.append(f.Cells(location.cells))
            if location.contains is not None:
                if location.min_contains:
                    parts.append(f.MostMatch(location.contains, location.min_contains))
                if location.max_contains is not None:
                    parts.append(f.FewMatch(location.contains, location.max_contains))
            if location.unique:
                parts.append(f.Unique(location.domain) if location.domain else f.Distinct())
        elif kind == OBJECT:
            if location.members is not None:
                parts.append(f.Members(location.members))
            parts.extend(f.Has(name) for name in location.required)
            parts.extend(_counts(location.min_properties, location.max_properties))
            if location.names is not None:
                parts.append(f.Names(location.names))
            for name, others in location.dependent_names.items():
                wanted = self.formulas.all_of([self.formulas.fact(f.Has(one)) for one in others])
                parts.append(self.formulas.any_of([self.formulas.fact(f.Lacks(name)), wanted]))
        if not parts:
            return TRUE
        return self.formulas.all_of([self.formulas.fact(part) for part in parts])

    def among(self, location: Location, kind: int) -> Formula:
        """The values of ``enum`` or ``const`` that are of one type."""
        values = [value for value in location.values or () if type_bit(value) & kind]
        if not values:
            return FALSE
        if kind == NULL or (kind == BOOLEAN and len(values) == 2):
            return TRUE
        return f.Among(frozenset(map(canonical, values)), True, tuple(values))

    def spelled_out(self, fact: f.Among, kind: int) -> Formula:
        """Arrays or objects that are listed, said by other facts."""
        parts = [self.said(self._synthetic(value), kind) for value in fact.values]
        either = self.formulas.any_of(parts)
        return either if fact.positive else self.formulas.opposite(either)

    # Whether a value satisfies something

    def valid(self, value: Any, location: Location) -> bool:
        """Whether a value satisfies a schema."""
        kind = type_bit(value)
        kind = NUMBER if kind & NUMBER else kind
        return self.satisfies(value, self.said(location, kind))

    def satisfies(self, value: Any, formula: Formula) -> bool:
        """Whether a value satisfies a formula about its type."""
        return holds(formula, lambda fact: self._is_so(fact, value))

    def _is_so(self, fact: Fact, value: Any) -> bool:
        match fact:
            case f.Among(keys=keys, positive=positive):
                return (canonical(value) in keys) == positive
            case f.Low(bound=bound):
                exact = decimal(value)
                return exact > bound.value or (exact == bound.value and bound.inclusive)
            case f.High(bound=bound):
                exact = decimal(value)
                return exact < bound.value or (exact == bound.value and bound.inclusive)
            case f.Multiple(of=of, positive=positive, plain=plain):
                if plain and not isinstance(value, int) and "." in str(value):
                    return not positive
                return is_multiple(decimal(value), of) == positive
            case f.AtLeast(count=count):
                return len(value) >= count
            case f.AtMost(count=count):
                return len(value) <= count
            case f.Matches(pattern=pattern, positive=positive):
                return pattern.found_in(value) == positive
            case f.Format(name=name, positive=positive):
                if positive:
                    return format_automaton(name).accepts(value)
                return without_format(name).accepts(value)
            case f.Cells(rule=rule, positive=positive):
                fits = all(self._fits(item, rule.choices(at)) for at, item in enumerate(value))
                return fits == positive
            case f.MostMatch(schema=schema, count=count):
                return sum(self.valid(item, schema) for item in value) >= count
            case f.FewMatch(schema=schema, count=count):
                return sum(self.valid(item, schema) for item in value) <= count
            case f.Unique(positive=positive):
                return (len(set(map(canonical, value))) == len(value)) == positive
            case f.Distinct(positive=positive):
                return positive == (len(set(map(canonical, value))) == len(value))
            case f.Members(rule=members, positive=positive):
                fits = all(
                    all(self.valid(item, schema) for schema in members.schemas_of(name))
                    for name, item in value.items()
                )
                return fits == positive
            case f.Names(schema=schema, positive=positive):
                return all(self.valid(name, schema) for name in value) == positive
            case f.Has(name=name):
                return name in value
            case f.Lacks(name=name):
                return name not in value
        raise TypeError(f"unknown fact {fact!r}")

    def _fits(self, item: Any, choices: list[Location] | None) -> bool:
        return choices is None or any(self.valid(item, choice) for choice in choices)


def _crowds(partners: dict[int, list[int]]) -> list[list[int]]:
    """The schemas of a ``oneOf`` that many others may hold beside, with all that these lead to."""
    found: list[list[int]] = []
    met: set[int] = set()
    for number, others in partners.items():
        if number in met or len(others) < _CROWD:
            continue
        met.add(number)
        crowd = [number]
        for one in crowd:
            more = [other for other in partners[one] if other not in met]
            met.update(more)
            crowd += more
        if sum(len(partners[one]) for one in crowd) >= _CROWD * len(crowd):
            found.append(sorted(crowd))
    return found


def _matches(pattern: Pattern) -> list[Formula]:
    """That a pattern is found: look-aheads at its start are patterns of their own, or lengths."""
    parts = divided(pattern.text)
    if parts is None:
        return [f.Matches(pattern)]
    found = [f.Matches(Pattern(text, pattern.pointer), sign) for text, sign in parts.matches]
    return [*found, *_counts(parts.least, parts.most)]


def _counts(least: int, most: int | None) -> list[Formula]:
    parts: list[Formula] = [f.AtLeast(least)] if least else []
    return parts if most is None else [*parts, f.AtMost(most)]


@lru_cache(maxsize=4096)
def is_multiple(value: Any, of: Any) -> bool:
    """Whether a decimal is a multiple of another, exactly."""
    if value == 0:
        return True
    top, bottom = value.as_integer_ratio() if abs(value.adjusted()) < 5000 else (None, None)
    if top is None:
        return bool(value.adjusted() > 0 and of == 1)
    over, under = of.as_integer_ratio()
    return bool((top * under) % (bottom * over) == 0)

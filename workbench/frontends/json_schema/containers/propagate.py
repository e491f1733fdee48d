"""Unit propagation: what the plain part of an object's formula decides about the rest of it.

As in the algorithm of Davis, Putnam, Logemann and Loveland (Commun. ACM 5, 1962): a fact that stands by itself in
a conjunction holds, so it is used in the disjunctions beside it, until nothing changes.
``required: [kind]`` with one value for ``kind`` decides that the object is none of those with another: most
of ``oneOf`` and ``if`` goes away before any machine is made. What is left speaks only of the names that can
matter, and a statement about one name alone says which values it may have, without a machine.

Whether a value is possible is judged only by what formulas say plainly (listed values, contradictions, required
members): "impossible" is certain, "possible" is not.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

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
from workbench.frontends.json_schema.logic.nodes import KINDS, Atom, Node, Nodes
from workbench.frontends.json_schema.read.location import Location, MemberRule
from workbench.frontends.json_schema.scalars.patterns import few_texts
from workbench.frontends.json_schema.text.json_values import BOOLEAN, NULL, OBJECT

__all__ = ["Propagator", "alone", "plain_parts", "ways_of"]

#: Most values that are judged in one document, and how deep.
MAX_JUDGED = 50_000
_DEPTH = 3
#: Most ways in which the value of one name is described.
MAX_WAYS = 64
_ROUNDS = 8


def plain_parts(formula: Formula) -> tuple[Formula, ...]:
    """What a formula is the conjunction of."""
    if isinstance(formula, And):
        return formula.parts
    return () if formula is TRUE else (formula,)


@dataclass(slots=True)
class _Plain:
    """The facts that hold for sure: rules, names that come, names that do not."""

    rules: list[MemberRule] = field(default_factory=list)
    required: dict[str, None] = field(default_factory=dict)
    forbidden: set[str] = field(default_factory=set)
    least: int = 0
    most: int | None = None
    #: what single values do not satisfy
    breaks: dict[str, list[Location]] = field(default_factory=dict)
    open: list[Formula] = field(default_factory=list)
    sure: list[Formula] = field(default_factory=list)

    @property
    def closed(self) -> bool:
        """Whether no name comes that no rule lists."""
        return any(not rule.patterns and _never(rule.rest) for rule in self.rules)


def _never(schema: Location | None) -> bool:
    return schema is not None and schema.never


def _plain(formula: Formula) -> _Plain:
    out = _Plain()
    for part in plain_parts(formula):
        match part:
            case f.Members(rule=rule, positive=True):
                out.rules.append(rule)
            case f.Has(name=name):
                out.required[name] = None
            case f.Lacks(name=name):
                out.forbidden.add(name)
            case f.AtLeast(count=count):
                out.least = max(out.least, count)
            case f.AtMost(count=count):
                out.most = count if out.most is None else min(out.most, count)
            case f.Members(rule=rule, positive=False) if (only := alone(part)) is not None:
                schema = rule.names[only]
                assert schema is not None
                out.breaks.setdefault(only, []).append(schema)
                out.required[only] = None
            case _:
                out.open.append(part)
                continue
        out.sure.append(part)
    return out


class Propagator:
    """Propagates in the formulas of one document."""

    def __init__(self, nodes: Nodes) -> None:
        self._nodes = nodes
        self._impossible: dict[int, bool] = {}
        self._rules: dict[tuple[int, tuple[str, ...], bool], tuple[MemberRule, MemberRule]] = {}
        self._texts: dict[int, tuple[int, str]] = {}
        self._judged = 0

    def propagated(self, formula: Formula) -> Formula:
        """An equivalent formula about objects, in which the plain part has been used."""
        for _ in range(_ROUNDS):
            plain = _plain(formula)
            if not plain.open:
                break
            left = self._open(plain)
            after = self._nodes.formulas.all_of([*plain.sure, left])
            if after is formula:
                break
            formula = after
        return formula

    def _open(self, plain: _Plain) -> Formula:
        formulas = self._nodes.formulas
        whole = formulas.all_of(plain.open)
        names = {name: None for rule in plain.rules for name in rule.names}
        for fact in facts_in(whole):
            if isinstance(fact, f.Members):
                names.update(dict.fromkeys(fact.rule.names))
        names.update(plain.required)
        world = {name: None for name in names if name not in plain.forbidden}
        table = {}
        for fact in facts_in(whole):
            decided = self._fact(fact, plain, world)
            if decided is not fact:
                table[id(fact)] = decided
        return formulas.replaced(whole, table) if table else whole

    def _fact(self, fact: Fact, plain: _Plain, world: Collection[str]) -> Formula:
        match fact:
            case f.Members():
                return self._members(fact, plain, world)
            case f.Has(name=name) | f.Lacks(name=name):
                has = isinstance(fact, f.Has)
                if name in plain.required:
                    return TRUE if has else FALSE
                if name in plain.forbidden or self.impossible(_atoms(plain, name)):
                    return FALSE if has else TRUE
            case f.AtLeast(count=count):
                if count <= max(plain.least, len(plain.required)):
                    return TRUE
                if plain.most is not None and count > plain.most:
                    return FALSE
            case f.AtMost(count=count):
                if count < max(plain.least, len(plain.required)):
                    return FALSE
                if plain.most is not None and count >= plain.most:
                    return TRUE
        return fact

    def _members(self, fact: f.Members, plain: _Plain, world: Collection[str]) -> Formula:
        rule, positive = fact.rule, fact.positive
        if not rule.patterns and rule.rest is None:
            world = [name for name in rule.names if name in world]
        failing: list[str] = []
        for name in world:
            schemas = rule.schemas_of(name)
            if not schemas:
                continue
            base = _atoms(plain, name)
            if name in plain.required and self.impossible(
                [*base, *((one, True) for one in schemas)]
            ):
                return FALSE if positive else TRUE
            if any(not self.impossible([*base, (one, False)]) for one in schemas):
                failing.append(name)
        others = self._others_fail(rule, plain)
        if not failing and not others:
            return TRUE if positive else FALSE
        if rule.patterns:
            return fact
        pruned = self._pruned(rule, tuple(failing), world, others)
        return fact if pruned is rule else self._nodes.formulas.fact(f.Members(pruned, positive))

    def _others_fail(self, rule: MemberRule, plain: _Plain) -> bool:
        """Whether a member that no rule lists may break this one."""
        if plain.closed or (rule.rest is None and not rule.patterns):
            return False
        if rule.patterns or any(one.patterns for one in plain.rules) or rule.rest is None:
            return True
        base = [(one.rest, True) for one in plain.rules if one.rest is not None]
        return not self.impossible([*base, (rule.rest, False)])

    def _pruned(
        self, rule: MemberRule, failing: tuple[str, ...], world: Collection[str], others: bool
    ) -> MemberRule:
        """The rule with schemas for these names only, and for others where they can matter."""
        key = (id(rule), tuple(sorted(failing)), others)
        known = self._rules.get(key)
        if known is not None:
            return known[1]
        kept = set(failing)
        names: dict[str, Location | None] = {}
        for name in dict.fromkeys((*rule.names, *world)):
            if name in rule.names:
                names[name] = rule.names[name] if name in kept else None
            elif rule.rest is not None and not (others and name in kept):
                # where the rest stays, it speaks of this name, too
                names[name] = rule.rest if name in kept else None
        rest = rule.rest if others else None
        if rest is None:
            names = {name: schema for name, schema in names.items() if schema is not None}
        made = rule
        if names != rule.names or rest is not rule.rest:
            made = MemberRule(names, (), rest)
        self._rules[key] = rule, made
        return made

    def impossible(self, atoms: Sequence[Atom], depth: int = _DEPTH) -> bool:
        """Whether it is plain that no value satisfies these schemas."""
        node = self._nodes.node(atoms)
        known = self._impossible.get(node.index)
        if known is not None:
            return known
        if node.anything or depth == 0 or self._judged >= MAX_JUDGED:
            return False
        self._judged += 1
        # a value that holds itself is not judged by itself
        self._impossible[node.index] = False
        found = self._same_text(node) or all(
            self._kind_impossible(node, kind, depth) for kind in KINDS if node.types & kind
        )
        if depth == _DEPTH or found:
            self._impossible[node.index] = found
        else:
            del self._impossible[node.index]
        return found

    def _same_text(self, node: Node) -> bool:
        """Whether one schema is asserted, and another with the same text is denied."""
        held = [self._text(location) for location, sign in node.atoms if sign]
        return any(not sign and self._text(at) in held for at, sign in node.atoms)

    def _text(self, location: Location) -> tuple[int, str]:
        """A key that schemas share only if they mean the same: the resource, and the text."""
        known = self._texts.get(location.index)
        if known is None:
            text = json.dumps(_bare(location.schema), sort_keys=True, default=repr)
            mark = location.index if '"$' in text.replace('"$ref"', "") or location.scope else -1
            known = self._texts[location.index] = (id(location.resource), f"{mark} {text}")
        return known

    def _kind_impossible(self, node: Node, kind: int, depth: int) -> bool:
        nodes = self._nodes
        formula = nodes.formula(node, kind)
        if formula is FALSE:
            return True
        if kind == BOOLEAN:
            return not any(nodes.satisfies(value, formula) for value in (True, False))
        if kind == NULL:
            return not nodes.satisfies(None, formula)
        for part in plain_parts(formula):
            if isinstance(part, f.Among) and part.positive:
                return not any(nodes.satisfies(value, formula) for value in part.values)
            if isinstance(part, f.Matches) and part.positive:
                few = few_texts(part.pattern.text)
                if few is not None:
                    return not any(nodes.satisfies(text, formula) for text in few)
        if kind == OBJECT:
            plain = _plain(formula)
            return any(
                name in plain.forbidden or self.impossible(_atoms(plain, name), depth - 1)
                for name in plain.required
            )
        return False


def _bare(schema: object) -> object:
    """A schema without its annotations."""
    if not isinstance(schema, dict):
        return schema
    return {key: value for key, value in schema.items() if key not in ("title", "description")}


def _atoms(plain: _Plain, name: str) -> list[Atom]:
    """What the value under a name has to satisfy in any case."""
    found = [(schema, True) for rule in plain.rules for schema in rule.schemas_of(name)]
    return [*found, *((schema, False) for schema in plain.breaks.get(name, ()))]


def alone(formula: Formula) -> str | None:
    """The one name that a formula speaks of, if there is just one."""
    found: set[str] = set()
    for fact in facts_in(formula):
        match fact:
            case f.Has(name=name) | f.Lacks(name=name):
                found.add(name)
            case f.Members(rule=rule) if not rule.patterns and rule.rest is None:
                found |= {name for name, schema in rule.names.items() if schema is not None}
            case _:
                return None
        if len(found) > 1:
            return None
    return found.pop() if found else None


def ways_of(formula: Formula, name: str) -> list[tuple[Atom, ...]] | None:
    """What the value under the one name of a formula satisfies, where it comes: one of these sets of schemas.

    ``None`` for too many of them.
    """
    if isinstance(formula, Or):
        found: list[tuple[Atom, ...]] = []
        for part in formula.parts:
            some = ways_of(part, name)
            if some is None or len(found) + len(some) > MAX_WAYS:
                return None
            found += some
        return [()] if () in found else list(dict.fromkeys(found))
    if isinstance(formula, And):
        found = [()]
        for part in formula.parts:
            some = ways_of(part, name)
            if some is None or len(found) * len(some) > MAX_WAYS:
                return None
            found = [(*one, *other) for one in found for other in some]
        return found
    match formula:
        case f.Members(rule=rule, positive=positive):
            schema = rule.names[name]
            assert schema is not None
            return [((schema, positive),)]
        case f.Has():
            return [()]
        case f.Lacks():
            return []
    return [()] if formula is TRUE else []

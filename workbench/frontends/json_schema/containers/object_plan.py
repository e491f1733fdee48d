"""The plan of an object: the plain part of its formula, and the machine that reads the open part by members."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial

from workbench.automaton.budgets import in_force, too_complex
from workbench.automaton.finite import (
    Dfa,
    complement,
    determinise,
    intersect,
    length_range,
    minimise,
    to_graph,
    told_apart,
)
from workbench.automaton.listing import texts
from workbench.frontends.json_schema.containers.alternatives import MAX_ALTERNATIVES
from workbench.frontends.json_schema.containers.compared_texts import written
from workbench.frontends.json_schema.containers.derivatives import (
    Derivatives,
    Fits,
    Move,
    Option,
    State,
    all_hold,
    counted,
    ends,
)
from workbench.frontends.json_schema.containers.propagate import alone, plain_parts, ways_of
from workbench.frontends.json_schema.logic import facts as f
from workbench.frontends.json_schema.logic.formula import FALSE, TRUE, Fact, Formula, facts_in
from workbench.frontends.json_schema.logic.nodes import Atom, Node, Nodes
from workbench.frontends.json_schema.logic.strings import automaton
from workbench.frontends.json_schema.read.location import Location, MemberRule
from workbench.frontends.json_schema.scalars.patterns import (
    Pattern,
    pattern_automaton,
    pattern_expression,
)
from workbench.frontends.json_schema.text.json_values import STRING
from workbench.grammar.ir import Alt, CharSet, Expr, Graph, Origin, literal

__all__ = ["NameCell", "ObjectPlan"]

#: Most names of a cell that are listed where a formula is decided in any order.
MAX_FEW = 200
#: Facts of a formula from which on only those are looked at that a member may touch.
_MANY_FACTS = 64
#: Parts of a conjunction from which on they stand in pairs.
_MANY_PARTS = 24


@dataclass(frozen=True, slots=True)
class NameCell:
    """Names that all patterns treat alike: how they are written, and the patterns that they match."""

    content: Expr | None
    matched: frozenset[str]
    allowed: frozenset[int] = frozenset()


@dataclass(slots=True)
class ObjectPlan:
    """An object whose formula is a conjunction.

    ``rules`` hold for every member; ``named`` are the listed names in order; ``open`` is the part that
    is decided as members are read. ``forbidden`` names have no place; ``ways`` are the schemas of which the
    value under a name satisfies one more row, where something is said about that name alone.
    """

    nodes: Nodes
    formula: Formula
    rules: list[MemberRule] = field(default_factory=list)
    required: dict[str, None] = field(default_factory=dict)
    forbidden: set[str] = field(default_factory=set)
    names: list[Location] = field(default_factory=list)
    least: int = 0
    most: int | None = None
    open: Formula = TRUE
    named: list[str] = field(default_factory=list)
    last_required: int = -1
    ways: dict[str, list[tuple[Atom, ...]]] = field(default_factory=dict)
    _matched: dict[str, frozenset[str]] = field(default_factory=dict)
    _all_patterns: list[Pattern] | None = None
    _last: dict[int, float] = field(default_factory=dict)
    _cells: list[NameCell] | None = None
    _cell_names: dict[int, Dfa] = field(default_factory=dict)
    _place: dict[str, int] = field(default_factory=dict)
    _asked: list[Location] | None = None
    _ends: dict[int, bool] = field(default_factory=dict)
    _touching: tuple[dict[str, list[Fact]], frozenset[int]] | None = None
    _ending: dict[int, list[Fact]] | None = None

    def __post_init__(self) -> None:
        left: list[Formula] = []
        names: dict[str, None] = {}
        for part in plain_parts(self.formula):
            match part:
                case f.Members(rule=rule, positive=True):
                    self.rules.append(rule)
                    names.update(dict.fromkeys(rule.names))
                case f.Has(name=name):
                    self.required[name] = None
                case f.Lacks(name=name):
                    self.forbidden.add(name)
                case f.Names(schema=schema, positive=True):
                    self.names.append(schema)
                case f.AtLeast(count=count):
                    self.least = max(self.least, count)
                case f.AtMost(count=count):
                    self.most = count if self.most is None else min(self.most, count)
                case _:
                    left.append(part)
        left = [part for part in left if not self._about_one(part, names)]
        self.open = self.nodes.formulas.all_of(left)
        parts = plain_parts(self.open)
        if len(parts) > _MANY_PARTS and not self.is_joint:
            self.open = self.nodes.formulas.balanced(parts)
        names.update(self.required)
        for fact in self._in_order():
            if isinstance(fact, f.Members):
                names.update(dict.fromkeys(fact.rule.names))
            elif isinstance(fact, f.Has | f.Lacks):
                names[fact.name] = None
        names.update(dict.fromkeys(sorted(self.forbidden)))
        self.named = list(names)
        self._place = {name: number for number, name in enumerate(self.named)}
        self.last_required = max((self._place[name] for name in self.required), default=-1)

    def _in_order(self) -> list[Fact]:
        """The facts of the open part in the order in which their names are listed."""
        facts = facts_in(self.open)
        orders = [self.nodes.formulas.order_of(part) for part in plain_parts(self.open)]
        first = [fact for order in orders if order is not None for fact in order]
        inside = set(map(id, facts))
        return list(dict.fromkeys([fact for fact in first if id(fact) in inside] + facts))

    def _about_one(self, part: Formula, names: dict[str, None]) -> bool:
        """Keep what is said about one name alone as the ways of its value."""
        name = alone(part)
        if name is None:
            return False
        ways = ways_of(part, name)
        before = self.ways.get(name, [()])
        if ways is None or len(before) * len(ways) > MAX_ALTERNATIVES:
            return False
        self.ways[name] = [(*one, *other) for one in before for other in ways]
        names.setdefault(name)
        if not ends(part):
            self.required[name] = None
        return True

    @property
    def counts(self) -> bool:
        """Whether the number of members matters beyond what is required."""
        return self.least > len(self.required) or self.most is not None

    @property
    def is_joint(self) -> bool:
        """Whether it is one plan for many alternatives of which just one holds."""
        order_of = self.nodes.formulas.order_of
        return any(order_of(part) is not None for part in plain_parts(self.open))

    def with_counts(self) -> Formula:
        """The open part with the counts in it."""
        counts: list[Formula] = []
        if self.least > len(self.required):
            counts.append(self.nodes.formulas.fact(f.AtLeast(self.least)))
        if self.most is not None:
            counts.append(self.nodes.formulas.fact(f.AtMost(self.most)))
        return self.nodes.formulas.all_of([self.open, *counts])

    def matched(self, name: str) -> frozenset[str]:
        """The patterns that a listed name matches."""
        known = self._matched.get(name)
        if known is None:
            if self._all_patterns is None:
                self._all_patterns = self._patterns()
            found = [p.text for p in self._all_patterns if p.found_in(name)]
            known = self._matched[name] = frozenset(found)
        return known

    def allows_name(self, name: str) -> bool:
        """Whether a member may have this name, its value aside."""
        if name in self.forbidden:
            return False
        if not name.isascii() and any(0xD800 <= ord(char) <= 0xDFFF for char in name):
            return False
        return all(self.nodes.valid(name, schema) for schema in self.names)

    def origin_of(self, name: str, otherwise: Origin) -> Origin:
        """Where a listed name has its schema."""
        for rule in self.rules:
            if (schema := rule.names.get(name)) is not None:
                return Origin(pointer=schema.pointer)
        return otherwise

    def value_atoms(self, name: str | None, matched: frozenset[str]) -> tuple[Atom, ...]:
        """What a value has to satisfy under a name in any case."""
        return tuple(
            (schema, True) for rule in self.rules for schema in rule.schemas(name, matched)
        )

    def bases(self, name: str) -> list[tuple[Atom, ...]]:
        """What the value of a listed name has to satisfy in any case: one of these."""
        atoms = self.value_atoms(name, self.matched(name))
        return [(*atoms, *way) for way in self.ways.get(name, [()])]

    def values(self, name: str) -> list[Node]:
        """The nodes of the values of a listed name."""
        if name not in self.ways:
            return [self.nodes.node(self.value_atoms(name, self.matched(name)))]
        return list(
            {(node := self.nodes.node(one)).index: node for one in self.bases(name)}.values()
        )

    def _every_rule(self) -> Iterator[MemberRule]:
        yield from self.rules
        for fact in facts_in(self.open):
            if isinstance(fact, f.Members):
                yield fact.rule

    def _patterns(self) -> list[Pattern]:
        found = {p.text: p for rule in self._every_rule() for p, _ in rule.patterns}
        return list(found.values())

    def _open_names(self) -> list[Location]:
        if self._asked is None:
            found = [fact.schema for fact in facts_in(self.open) if isinstance(fact, f.Names)]
            self._asked = list({schema.index: schema for schema in found}.values())
        return self._asked

    def cells(self) -> list[NameCell]:
        """The names that are not listed, cut where patterns and name schemas tell them apart.

        Cells that are plainly forbidden are left out. ``content`` is ``None`` for all names but the
        listed ones.
        """
        if self._cells is None:
            self._cells = list(self._cut())
        return self._cells

    def list_few(self) -> None:
        """Take the names of cells that have few for listed ones: a state may forbid each by itself."""
        more: dict[str, None] = {}
        for cell in self.cells():
            few = None if cell.content is None else texts(determinise(cell.content), MAX_FEW)
            if few is not None:
                more.update(dict.fromkeys(few))
        if more:
            self.named += more
            self._place = {name: number for number, name in enumerate(self.named)}
            self._cells = None
            self._cell_names.clear()

    def cell_names(self, number: int) -> Dfa | None:
        """The names of a cell that are written, as an automaton; ``None`` for all names but the listed ones."""
        known = self._cell_names.get(number)
        content = self.cells()[number].content
        if known is None and content is not None:
            known = determinise(content)
            if self.nodes.once:
                known = written(known, self.nodes.style)
            self._cell_names[number] = known
        return known

    def has_empty_name(self, number: int) -> bool:
        """Whether the empty name is in a cell."""
        names = self.cell_names(number)
        return "" not in self.named if names is None else 0 in names.finals

    def cell_value(self, cell: NameCell) -> Node:
        """The node of the values under the names of a cell."""
        return self.nodes.node(self.value_atoms(None, cell.matched))

    def _forbids(self, matched: frozenset[str]) -> bool:
        return any(location.never for location, _ in self.value_atoms(None, matched))

    def _cut(self) -> Iterator[NameCell]:
        patterns, asked = self._patterns(), self._open_names()
        if not patterns and not self.names and not asked:
            if not self._forbids(frozenset()):
                yield NameCell(None, frozenset())
            return
        if len(patterns) == 1 and not self.names and not asked:
            yield from self._two_cells(patterns[0].text)
            return
        # names that are possible at all, those that each pattern matches, those that each schema allows
        limits = [self.nodes.formula(self.nodes.of([schema]), STRING) for schema in self.names]
        sets = [automaton(self.nodes.formulas.all_of(limits))] if limits else []
        sets += [pattern_automaton(pattern.text) for pattern in patterns]
        sets += [automaton(self.nodes.formula(self.nodes.of([one]), STRING)) for one in asked]
        found = told_apart(sets, 2 * in_force().name_cells)
        first = len(sets) - len(patterns) - len(asked)
        kept = [one for one in found or () if not first or 0 in one[1]]
        if found is None or len(kept) > in_force().name_cells:
            raise too_complex("name_cells")
        for cell, inside in kept:
            matched = frozenset(p.text for n, p in enumerate(patterns, first) if n in inside)
            last = first + len(patterns)
            allowed = frozenset(one.index for n, one in enumerate(asked, last) if n in inside)
            if not self._forbids(matched):
                content = self._unlisted(cell)
                if content is not None:
                    yield NameCell(content, matched, allowed)

    def _two_cells(self, pattern: str) -> Iterator[NameCell]:
        """The common case: names that match one pattern, and the others."""
        matched = frozenset((pattern,))
        if not self._forbids(matched):
            if any(pattern in self.matched(name) for name in self.named):
                content = self._unlisted(pattern_automaton(pattern))
            else:
                content = pattern_expression(pattern)
                if isinstance(content, Graph):
                    content = None if pattern_automaton(pattern).is_empty else content
                elif length_range(content) is None:
                    content = None
            if content is not None:
                yield NameCell(content, matched)
        if not self._forbids(frozenset()):
            content = self._unlisted(pattern_automaton(pattern, False))
            if content is not None:
                yield NameCell(content, frozenset())

    def _unlisted(self, dfa: Dfa) -> Expr | None:
        """The names of an automaton without those that are listed."""
        inside = [name for name in self.named if dfa.accepts(name)]
        if inside:
            listed = determinise(Alt(tuple(map(literal, inside))))
            dfa = minimise(intersect(dfa, complement(listed)))
        return None if dfa.is_empty else to_graph(dfa, CharSet)

    # The machine

    def options_of(self, name: str) -> Callable[[Fact], list[Option] | None]:
        """What a member with a listed name makes of facts."""
        allowed = frozenset(
            schema.index for schema in self._open_names() if self.nodes.valid(name, schema)
        )
        return partial(_member_options, name=name, matched=self.matched(name), allowed=allowed)

    def options_in(self, cell: NameCell) -> Callable[[Fact], list[Option] | None]:
        """What a member with a name of a cell makes of facts."""
        return partial(_member_options, name=None, matched=cell.matched, allowed=cell.allowed)

    def moves(self, derivatives: Derivatives, state: State, fits: Fits) -> Iterator[Move]:
        """The members that may come next; the label is the number of a name, or of a cell."""
        place, residual = state
        if place < len(self.named):
            name = self.named[place]
            if not self.allows_name(name):
                return
            for base in self.bases(name):
                about = self.about(residual, name)
                for node, left in derivatives.of(
                    residual, self.options_of(name), base, fits, about
                ):
                    left = self.decided(derivatives, left, place)
                    if left is not FALSE:
                        yield Move(place, node, (place + 1, left))
            return
        for number, cell in enumerate(self.cells()):
            base = self.value_atoms(None, cell.matched)
            about = self.about(residual, None)
            for node, left in derivatives.of(residual, self.options_in(cell), base, fits, about):
                yield Move(number, node, (place, left))

    def skip(self, derivatives: Derivatives, state: State) -> State | None:
        """Go past a listed name that is not required."""
        place, residual = state
        if place >= len(self.named) or self.named[place] in self.required:
            return None
        left = self.decided(derivatives, residual, place)
        return None if left is FALSE else (place + 1, left)

    def may_end(self, state: State) -> bool:
        """Whether the object may be closed, all later names missing."""
        return state[0] > self.last_required and ends(state[1], self._ends)

    def about(self, residual: Formula, name: str | None) -> list[Fact] | None:
        """The facts that a member may touch, where there are so many that others are not worth a look."""
        formulas = self.nodes.formulas
        inside = formulas.inside(residual)
        if len(inside) < _MANY_FACTS:
            return None
        if self._touching is None:
            self._touching = self._listed_facts()
        touching, listed = self._touching
        found = [fact for fact in touching.get(name, ()) if id(fact) in inside] if name else []
        if not inside <= listed:
            found += [fact for fact in facts_in(residual) if id(fact) not in listed]
        return found

    def _listed_facts(self) -> tuple[dict[str, list[Fact]], frozenset[int]]:
        """The facts about listed names alone, by these names, and the identities of all of them."""
        found: dict[str, list[Fact]] = {}
        listed: set[int] = set()
        for fact in facts_in(self.open):
            names: Iterable[str] = ()
            if isinstance(fact, f.Has | f.Lacks):
                names = (fact.name,)
            elif isinstance(fact, f.Members) and not fact.rule.patterns and fact.rule.rest is None:
                names = fact.rule.names
            else:
                continue
            listed.add(id(fact))
            for name in names:
                found.setdefault(name, []).append(fact)
        return found, frozenset(listed)

    def decided(self, derivatives: Derivatives, residual: Formula, place: int) -> Formula:
        """A formula when the listed names up to a place have come, or will not."""

        def truth(fact: Fact) -> Formula | None:
            if self._last_place(fact) > place:
                return None
            return FALSE if isinstance(fact, f.Has) else _truth_untouched(fact)

        if len(self.nodes.formulas.inside(residual)) < _MANY_FACTS:
            return derivatives.decided(residual, truth)
        if self._ending is None:
            self._ending = {}
            for fact in facts_in(self.open):
                if (last := self._last_place(fact)) < len(self.named):
                    self._ending.setdefault(max(0, int(last)), []).append(fact)
        return derivatives.decided(residual, truth, self._ending.get(place, []))

    def _last_place(self, fact: Fact) -> float:
        """The last place where a fact can be touched."""
        known = self._last.get(id(fact))
        if known is None:
            known = float("inf")
            if isinstance(fact, f.Has | f.Lacks):
                known = self._place[fact.name]
            elif isinstance(fact, f.Members) and not fact.rule.patterns and fact.rule.rest is None:
                places = [
                    self._place[name]
                    for name, schema in fact.rule.names.items()
                    if schema is not None
                ]
                known = max(places, default=-1)
            self._last[id(fact)] = known
        return known


def _truth_untouched(fact: Fact) -> Formula:
    if isinstance(fact, f.Lacks):
        return TRUE
    assert isinstance(fact, f.Members)
    return TRUE if fact.positive else FALSE


def _member_options(
    fact: Fact, name: str | None, matched: frozenset[str], allowed: frozenset[int]
) -> list[Option] | None:
    match fact:
        case f.Members(rule=rule, positive=positive):
            return all_hold(rule.schemas(name, matched), fact, positive)
        case f.Names(schema=schema, positive=positive):
            if schema.index in allowed:
                return None
            return [((), FALSE if positive else TRUE)]
        case f.Has(name=wanted):
            return [((), TRUE)] if name == wanted else None
        case f.Lacks(name=wanted):
            return [((), FALSE)] if name == wanted else None
    return counted(fact)

"""Derivatives of a formula about objects or arrays: what must still hold after a member has been read.

These are Brzozowski's derivatives of regular expressions (J. ACM 11, 1964), taken by members in place of
characters: the formula that is left is the state of a machine, and it is finite because formulas are
interned. One member has several derivatives, whose union is meant, as in Antimirov's partial derivatives
(Theor. Comput. Sci. 155, 1996): each is a condition on the member's value, and what is left if the value
satisfies it.

The plain part of a conjunction (rules for members, required names, counts) is kept apart; the rest, the
*open* part, shrinks as members are read. At each member every fact that it touches is decided: the
value has to satisfy the fact's schema, or its opposite, or neither, and the fact becomes true or false or
stays. To take a fact for false is always sound, since formulas are monotone (they have no "not"); so the
union over the choices is exact, and different choices may overlap.

Members come in a fixed order here: listed names first, then others. Where they come in any order
(``any_order``), the engine's frames keep which names came, and the same steps serve without positions.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from workbench.automaton.budgets import in_force, too_complex
from workbench.frontends.json_schema.logic import facts as f
from workbench.frontends.json_schema.logic.formula import (
    FALSE,
    TRUE,
    Fact,
    Formula,
    facts_in,
    holds,
)
from workbench.frontends.json_schema.logic.nodes import Atom, Node, Nodes
from workbench.frontends.json_schema.read.location import Location
from workbench.frontends.json_schema.text.json_values import canonical

__all__ = [
    "Explored",
    "Fits",
    "Move",
    "Option",
    "State",
    "Derivatives",
    "all_hold",
    "counted",
    "ends",
    "explore",
    "is_cheap",
    "one_holds",
    "unless",
]

#: Whether some value satisfies a node.
Fits = Callable[[Node], bool]

#: A position and what is left of the formula.
State = tuple[int, Formula]

#: What is asked of a value, and what a fact becomes.
Option = tuple[tuple[Atom, ...], Formula]


@dataclass(frozen=True, slots=True)
class Move:
    """One member is read: the name (or the cell of names) it has, the node of its value, the next state."""

    label: int
    node: Node
    target: State


@dataclass(frozen=True, slots=True)
class _Next(Fact):
    """A fact about the members after this one."""

    fact: Formula

    def opposite(self) -> Formula:
        assert isinstance(self.fact, Fact)
        return _Next(self.fact.opposite())


class Derivatives:
    """Takes the derivatives of the formulas of one document."""

    def __init__(self, nodes: Nodes) -> None:
        self.nodes = nodes
        self.formulas = nodes.formulas
        #: facts that have been looked at in all
        self.total = 0
        self._spent = 0
        self._listed: dict[int, frozenset[Hashable]] = {}
        self._most = in_force().facts

    @contextmanager
    def budget(self, most: int | None = None) -> Iterator[None]:
        """Give one object or array a budget of its own; what it spends counts in the budget around it, too."""
        before, self._spent = self._spent, 0
        limit, self._most = self._most, in_force().facts if most is None else most
        try:
            yield
        finally:
            self._spent += before
            self._most = limit

    def _spend(self, count: int) -> None:
        """Count the facts that are looked at. Raises ``GrammarTooComplex`` past the budget."""
        self._spent += count
        self.total += count
        if self._spent > self._most:
            raise too_complex("facts", limit=self._most)

    def of(
        self,
        residual: Formula,
        options: Callable[[Fact], list[Option] | None],
        base: tuple[Atom, ...],
        fits: Fits,
        about: list[Fact] | None = None,
    ) -> list[tuple[Node, Formula]]:
        """The derivatives by one member: each is a node that its value may be of, and the formula then left.

        ``options`` says what the member makes of a fact, ``base`` what its value has to satisfy in any case;
        ``about`` are the facts that it may touch, if not all.
        Values that fit no node (``fits``) are left out. Raises ``GrammarTooComplex`` past a budget.
        """
        first = self.nodes.node(base)
        if not fits(first):
            return []
        touched = self._touched(residual, options, facts_in(residual) if about is None else about)
        if not touched:
            return [(first, residual)]
        found: dict[int, tuple[Formula, list[frozenset[int]], list[tuple[Atom, ...]]]] = {}
        spent = 0
        sure = {id(fact): choices[0][1] for fact, choices in touched if _is_sure(choices)}
        touched = [one for one in touched if not _is_sure(one[1])]
        begin = self._settled(self.formulas.replaced(residual, sure), base, touched)
        if begin is FALSE:
            return []
        stack: list[tuple[Formula, tuple[Atom, ...], int]] = [(begin, base, 0)]
        later: dict[int, Formula] = {}
        while stack:
            formula, atoms, number = stack.pop()
            spent += 1
            if spent > in_force().choices:
                raise too_complex("choices")
            inside = self.formulas.inside(formula)
            self._spend(self._cost(formula, inside))
            while number < len(touched) and id(touched[number][0]) not in inside:
                number += 1
            if number == len(touched):
                now = {key: one for key, one in later.items() if key in inside}
                self._keep(found, self.formulas.replaced(formula, now), atoms)
                continue
            fact, choices = touched[number]
            for asked, result in reversed(choices):
                if isinstance(result, Fact):
                    after = self.formulas.fact(result)
                    result = self.formulas.fact(_Next(after))
                    later[id(result)] = after
                left = self.formulas.replaced(formula, {id(fact): result})
                if left is FALSE:
                    continue
                more = atoms
                if asked:
                    both = self._with(atoms, asked)
                    if both is None or not fits(self.nodes.node(both)):
                        continue
                    more = both
                    left = self._settled(left, asked, touched[number + 1 :])
                    if left is FALSE:
                        continue
                stack.append((left, more, number + 1))
        return [
            (self.nodes.node(atoms), formula)
            for formula, _, ways in found.values()
            for atoms in ways
        ]

    def _values(self, schema: Location) -> frozenset[Hashable] | None:
        """The values that a schema lists, if it does: no others satisfy it."""
        if schema.values is None:
            return None
        known = self._listed.get(schema.index)
        if known is None:
            known = self._listed[schema.index] = frozenset(map(canonical, schema.values))
        return known

    def _apart(self, values: frozenset[Hashable], schema: Location) -> bool:
        """Whether none of some values is listed by a schema."""
        others = self._values(schema)
        return others is not None and values.isdisjoint(others)

    def _with(self, atoms: tuple[Atom, ...], asked: tuple[Atom, ...]) -> tuple[Atom, ...] | None:
        """What a value has to satisfy with more, without the opposites of lists that have none of its values.

        ``None`` where two lists have no value in common.
        """
        both = (*atoms, *asked)
        for schema, sign in asked:
            values = self._values(schema) if sign else None
            if values is not None:
                if any(positive and self._apart(values, other) for other, positive in atoms):
                    return None
                both = tuple(
                    (other, positive)
                    for other, positive in both
                    if positive or not self._apart(values, other)
                )
        return both

    def _settled(
        self, formula: Formula, asked: tuple[Atom, ...], touched: list[tuple[Fact, list[Option]]]
    ) -> Formula:
        """The formula once a value is one of a list: facts about lists with other values are decided at once."""
        lists = [self._values(schema) for schema, sign in asked if sign]
        found = [values for values in lists if values is not None]
        if not found or not touched:
            return formula
        values = frozenset.intersection(*found)
        table: dict[int, Formula] = {}
        for fact, choices in touched:
            left = [
                (atoms, result)
                for atoms, result in choices
                if not any(sign and self._apart(values, schema) for schema, sign in atoms)
            ]
            if len(left) == 1 and not isinstance(left[0][1], Fact):
                atoms, result = left[0]
                if all(not sign and self._apart(values, schema) for schema, sign in atoms):
                    table[id(fact)] = result
        self._spend(1 + len(table))
        return self.formulas.replaced(formula, table) if table else formula

    def _cost(self, formula: Formula, inside: frozenset[int]) -> int:
        """What a change of a formula costs: of one in pairs the way to the change, and sets of facts."""
        if self.formulas.is_paired(formula):
            return 8 + (len(inside) >> 8)
        return 1 + len(inside)

    def _touched(
        self,
        residual: Formula,
        options: Callable[[Fact], list[Option] | None],
        about: list[Fact],
    ) -> list[tuple[Fact, list[Option]]]:
        """The facts that a member decides, and how."""
        inside = self.formulas.inside(residual)
        self._spend(self._cost(residual, inside) + len(about))
        found = []
        for fact in about:
            choices = options(fact)
            if choices is not None:
                choices = list(_possible(choices))
                if choices and id(self.formulas.opposite(fact)) in inside:
                    choices = _told_apart(choices)
                found.append((fact, choices))
        return found

    def _keep(
        self,
        found: dict[int, tuple[Formula, list[frozenset[int]], list[tuple[Atom, ...]]]],
        formula: Formula,
        atoms: tuple[Atom, ...],
    ) -> None:
        """Keep a derivative unless another one leaves the same and asks less of the value (subsumption)."""
        if formula is FALSE:
            return
        key = frozenset(location.index * 2 + sign for location, sign in atoms)
        entry = found.setdefault(id(formula), (formula, [], []))
        if any(other <= key for other in entry[1]):
            return
        kept = [number for number, other in enumerate(entry[1]) if not key <= other]
        entry[1][:] = [*[entry[1][number] for number in kept], key]
        entry[2][:] = [*[entry[2][number] for number in kept], atoms]

    def decided(
        self,
        residual: Formula,
        by: Callable[[Fact], Formula | None],
        about: list[Fact] | None = None,
    ) -> Formula:
        """The formula with the facts that no later member touches replaced by their truth.

        ``about`` are the facts for which that may be so, if not all.
        """
        if residual is TRUE or residual is FALSE:
            return residual
        some = facts_in(residual) if about is None else about
        self._spend(self._cost(residual, self.formulas.inside(residual)) + len(some))
        table = {id(one): value for one in some if (value := by(one)) is not None}
        return self.formulas.replaced(residual, table) if table else residual


def _possible(choices: list[Option]) -> Iterator[Option]:
    """The options without what no value satisfies, and without what every value does."""
    for atoms, result in choices:
        if not any(schema.never if sign else is_plain(schema) for schema, sign in atoms):
            some = [(at, sign) for at, sign in atoms if not (is_plain(at) if sign else at.never)]
            yield atoms if len(some) == len(atoms) else tuple(some), result


def is_plain(schema: Location) -> bool:
    """Whether a schema says nothing."""
    return not (schema.never or schema.constrains or schema.same_instance or schema.applies_others)


def _is_sure(choices: list[Option]) -> bool:
    """Whether a fact becomes true or false whatever the value is."""
    return len(choices) == 1 and not choices[0][0] and not isinstance(choices[0][1], Fact)


def _told_apart(choices: list[Option]) -> list[Option]:
    """Disjoint options, for a fact whose opposite occurs in the formula, too."""
    asked = [atoms for atoms, _ in choices if atoms]
    if len(choices) != 2 or len(asked) != 1 or len(asked[0]) != 1:
        return choices
    ((schema, sign),) = asked[0]
    return [(atoms or ((schema, not sign),), result) for atoms, result in choices]


def all_hold(schemas: list[Location], fact: Fact, positive: bool) -> list[Option] | None:
    """Options of a fact that says of all members (or denies) that they satisfy some schemas."""
    if not schemas:
        return None
    both = tuple((schema, True) for schema in schemas)
    if positive:
        drop = ((schemas[0], False),) if len(schemas) == 1 and is_cheap(schemas[0]) else ()
        return [(both, fact), (drop, FALSE)]
    keep = both if all(map(is_cheap, schemas)) else ()
    return [*[(((schema, False),), TRUE) for schema in schemas], (keep, fact)]


def one_holds(schemas: list[Location], fact: Fact, positive: bool) -> list[Option]:
    """Options of a fact that says of all items (or denies) that they satisfy one of some schemas."""
    none = tuple((schema, False) for schema in schemas)
    if positive:
        drop = none if all(map(is_cheap, schemas)) else ()
        return [*[(((schema, True),), fact) for schema in schemas], (drop, FALSE)]
    keep = ((schemas[0], True),) if len(schemas) == 1 and is_cheap(schemas[0]) else ()
    return [(none, TRUE), (keep, fact)]


def counted(fact: Fact) -> list[Option] | None:
    """Options of a count at one more member."""
    if isinstance(fact, f.AtLeast):
        return [((), f.AtLeast(fact.count - 1) if fact.count > 1 else TRUE)]
    if isinstance(fact, f.AtMost):
        return [((), f.AtMost(fact.count - 1) if fact.count > 0 else FALSE)]
    return None


def unless(schema: Location) -> tuple[Atom, ...]:
    """What a value has to satisfy if a schema is taken not to hold: its opposite where that is small, else nothing."""
    return ((schema, False),) if is_cheap(schema) else ()


def is_cheap(schema: Location) -> bool:
    """Whether the opposite of a schema is small: it speaks of scalars only."""
    return not (
        schema.same_instance
        or schema.applies_others
        or schema.members
        or schema.cells
        or schema.required
        or schema.contains
        or schema.names
    )


def at_end(fact: Fact) -> bool:
    """Whether a fact is true when no member follows."""
    match fact:
        case f.Members(positive=positive) | f.Cells(positive=positive):
            return positive
        case f.Names(positive=positive) | f.Unique(positive=positive):
            return positive
        case f.AtMost(count=count) | f.FewMatch(count=count):
            return count >= 0
        case f.AtLeast(count=count) | f.MostMatch(count=count):
            return count <= 0
        case f.Distinct(positive=positive):
            return positive
        case f.Lacks():
            return True
        case f.Has():
            return False
    raise TypeError(f"{fact!r} is not decided by members")


@dataclass(slots=True)
class Explored:
    """The states that can be reached, with their moves and skips."""

    states: list[State] = field(default_factory=list)
    moves: list[list[Move]] = field(default_factory=list)
    skips: list[State | None] = field(default_factory=list)
    number_of: dict[tuple[int, int], int] = field(default_factory=dict)

    def of(self, state: State) -> int:
        """The number of a state."""
        return self.number_of[state[0], id(state[1])]


def explore(
    start: State,
    moves: Callable[[State], Iterator[Move]],
    skip: Callable[[State], State | None],
) -> Explored:
    """Follow moves and skips from a state. Raises ``GrammarTooComplex`` past the budget."""
    out = Explored()

    def enter(state: State) -> None:
        key = (state[0], id(state[1]))
        if key not in out.number_of:
            if len(out.states) >= in_force().object_states:
                raise too_complex("object_states")
            out.number_of[key] = len(out.states)
            out.states.append(state)

    enter(start)
    for state in out.states:
        found = list(moves(state))
        skipped = skip(state)
        out.moves.append(found)
        out.skips.append(skipped)
        for move in found:
            enter(move.target)
        if skipped is not None:
            enter(skipped)
    return out


def ends(residual: Formula, known: dict[int, bool] | None = None) -> bool:
    """Whether the object or array may end with this left of its formula; ``known`` keeps answers."""
    return holds(residual, at_end, known)

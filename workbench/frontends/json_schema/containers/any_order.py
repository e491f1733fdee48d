"""Objects whose members come in any order: states are derivatives of the formula, names are bits.

Listed names are members of a :class:`~workbench.grammar.ir.Scope`, which keeps each from coming twice and
counts them; so one state serves all orders in which the names came. What a state still needs (say, that some
member does not satisfy a schema) needs some of the names that have not come: ``obligations`` works out which,
and guards ask for them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from workbench.automaton.budgets import in_force, too_complex
from workbench.frontends.json_schema.containers.derivatives import Derivatives, Fits, ends
from workbench.frontends.json_schema.containers.object_plan import ObjectPlan
from workbench.frontends.json_schema.containers.obligations import (
    Clauses,
    either_of,
    needs,
    without,
)
from workbench.frontends.json_schema.containers.propagate import alone
from workbench.frontends.json_schema.logic import facts as f
from workbench.frontends.json_schema.logic.formula import FALSE, TRUE, Fact, Formula, facts_in
from workbench.frontends.json_schema.logic.nodes import Node
from workbench.frontends.json_schema.text.whitespace import Layout, in_row
from workbench.grammar.ir import EMPTY, NEVER, Expr, Gather, Graph, Guard, Literal, Origin, Scope

__all__ = [
    "FEW",
    "FEWER",
    "MANY",
    "AnyOrderMachine",
    "AnyOrderMove",
    "Listed",
    "Other",
    "any_order_machine",
    "any_order_object",
    "touched",
    "distinct_items",
]

#: Most members and most facts that are looked at before something else is tried, or an object is refused: many
#: alternatives by one machine, cases that are told apart instead of one, alternatives each by itself.
MANY = 12_000, 100_000
FEW = 1_500, 15_000
FEWER = 500, 4_000

_OTHER = Guard("other")

#: Whether a name is listed, its number or that of its cell, the value's node, what is left.
_Step = tuple[bool, int, Node, Formula]


@dataclass(frozen=True, slots=True)
class AnyOrderMove:
    """One member is read: the number of its name, or of its cell of names; the node of its value; the next state.

    ``before`` and ``asks`` are obligations, sets of names (bits) of each of which some name must not have come
    yet: ``before`` when the name begins, ``asks`` for this value to follow.
    """

    listed: bool
    label: int
    node: Node
    target: int
    before: Clauses = ()
    asks: Clauses = ()


@dataclass(slots=True)
class AnyOrderMachine:
    """States from which a proper object can still be finished, with their moves; state 0 starts."""

    moves: list[list[AnyOrderMove]] = field(default_factory=list)
    finals: list[int] = field(default_factory=list)
    #: names that have to come, as bits; how many members in all
    required: int = 0
    least: int = 0
    most: int | None = None


def any_order_machine(
    plan: ObjectPlan, derivatives: Derivatives, fits: Fits, most: tuple[int, int] | None = None
) -> AnyOrderMachine:
    """The machine of a plan. ``most``: the budgets of members and of facts. Raises ``GrammarTooComplex`` past them."""
    if most is None:
        most = in_force().free_members, in_force().facts
    with derivatives.budget(most[1]):
        return _alive(_explored(plan, derivatives, fits, most[0]))


def _explored(plan: ObjectPlan, derivatives: Derivatives, fits: Fits, most: int) -> AnyOrderMachine:
    out = AnyOrderMachine()
    number_of_name = {name: number for number, name in enumerate(plan.named)}
    formulas = plan.nodes.formulas
    formula = plan.open
    facts = list(facts_in(formula))
    if formula is TRUE:
        out.required = sum(1 << number_of_name[name] for name in plan.required)
        out.least, out.most = plan.least, plan.most
    else:
        counted = plan.counts
        within = [name for name in plan.required if counted or touched(plan, facts, name)]
        formula = plan.with_counts() if counted else formula
        wanted = [formulas.fact(f.Has(name)) for name in within]
        formula = formulas.all_of([formula, *wanted])
        kept = set(plan.required) - set(within)
        out.required = sum(1 << number_of_name[name] for name in kept)
    states = [formula]
    number_of = {id(formula): 0}
    spent = 0
    steps = _Steps(plan, derivatives, fits, formula)
    for residual in states:
        moves: list[AnyOrderMove] = []
        for listed, label, node, left in steps.of(residual):
            known = number_of.get(id(left))
            if known is None:
                known = number_of[id(left)] = len(states)
                states.append(left)
            moves.append(AnyOrderMove(listed, label, node, known))
        out.moves.append(moves)
        spent += len(moves)
        if spent > most:
            raise too_complex("free_members", limit=most)
    out.finals = [number for number, residual in enumerate(states) if ends(residual)]
    return out


class _Steps:
    """The members that may come while a formula is left, and what is left then.

    A name does not come again. So where a member leaves what would be left of another formula if its name never
    came, it leaves that formula: states do not tell apart which of such members have come. Tried are the formula
    as it was, and that none of many alternatives holds besides the one that does.
    """

    def __init__(
        self, plan: ObjectPlan, derivatives: Derivatives, fits: Fits, formula: Formula
    ) -> None:
        self._plan = plan
        self._derivatives = derivatives
        self._fits = fits
        self._none = plan.nodes.formulas.none_left(formula)
        self._without: dict[str, Formula] = {}

    def of(self, residual: Formula) -> Iterator[_Step]:
        """The members that may come while this is left."""
        plan, derivatives, fits = self._plan, self._derivatives, self._fits
        for number, name in enumerate(plan.named):
            if not plan.allows_name(name):
                continue
            about, options = plan.about(residual, name), plan.options_of(name)
            never = derivatives.decided(residual, partial(_never, name), about)
            for base in plan.bases(name):
                for node, left in derivatives.of(residual, options, base, fits, about):
                    left = derivatives.decided(left, partial(_over, name), about)
                    if left is never:
                        left = residual
                    elif self._none is not None and left is self._none_but(name, self._none):
                        left = self._none
                    if left is not FALSE:
                        yield True, number, node, left
        for number, cell in enumerate(plan.cells()):
            base = plan.value_atoms(None, cell.matched)
            about, options = plan.about(residual, None), plan.options_in(cell)
            for node, left in derivatives.of(residual, options, base, fits, about):
                if left is not FALSE:
                    yield False, number, node, left

    def _none_but(self, name: str, none: Formula) -> Formula:
        """That no alternative holds, once it is known that a name never comes."""
        known = self._without.get(name)
        if known is None:
            about = self._plan.about(none, name)
            known = self._derivatives.decided(none, partial(_never, name), about)
            self._without[name] = known
        return known


def _over(name: str, fact: Fact) -> Formula | None:
    """The truth of a fact about one name alone, once that name has come; ``None`` for other facts."""
    if not isinstance(fact, f.Members) or alone(fact) != name:
        return None
    return TRUE if fact.positive else FALSE


def _never(name: str, fact: Fact) -> Formula | None:
    """The truth of a fact about one name alone if that name never comes; ``None`` for other facts."""
    if isinstance(fact, f.Has | f.Lacks) and fact.name == name:
        return FALSE if isinstance(fact, f.Has) else TRUE
    return _over(name, fact)


def touched(plan: ObjectPlan, facts: Sequence[Fact], name: str) -> bool:
    """Whether a member of this name decides some fact."""
    options = plan.options_of(name)
    return any(options(fact) is not None for fact in facts)


def _alive(machine: AnyOrderMachine) -> AnyOrderMachine:
    """The machine with the obligations of its moves, without moves after which no end can be reached."""
    edges = [[(_bit(move), move.target) for move in moves] for moves in machine.moves]
    clauses = needs(edges, machine.finals)
    for number, moves in enumerate(machine.moves):
        known = clauses[number]
        asked: dict[tuple[bool, int], list[tuple[AnyOrderMove, Clauses]]] = {}
        for move in moves if known is not None else ():
            after = clauses[move.target]
            asks = None if after is None else without(after, _bit(move), known or ())
            if asks is not None:
                asked.setdefault((move.listed, move.label), []).append((move, asks))
        machine.moves[number] = [
            replace(move, before=before, asks=without(asks, 0, before) or ())
            for same in asked.values()
            for before in (either_of([asks for _, asks in same]),)
            for move, asks in same
        ]
    return machine


def _bit(move: AnyOrderMove) -> int:
    return 1 << move.label if move.listed else 0


@dataclass(frozen=True, slots=True)
class Listed:
    """A member with one name: its number, its value, the state after it, what is asked (see ``AnyOrderMove``)."""

    name: str
    number: int
    value: Expr
    target: int
    origin: Origin | None = None
    before: Clauses = ()
    asks: Clauses = ()


@dataclass(frozen=True, slots=True)
class Other:
    """Members with other names: how these are written (quotes included), their values, the state after."""

    key: Expr
    value: Expr
    target: int
    before: Clauses = ()
    asks: Clauses = ()


def _asked(clauses: Clauses) -> list[Expr]:
    """Guards that ask of each set whether some name of it is left."""
    return [Guard("may", clause) for clause in clauses]


def any_order_object(
    layout: Layout,
    spell: Callable[[str], Expr],
    states: Sequence[tuple[Sequence[Listed], Sequence[Other]]],
    finals: Sequence[int],
    scope: tuple[int, int, int, int | None, bool, Gather | None],
    origin: Origin | None,
) -> Expr:
    """An object by states, each with the members that may come in it.

    ``scope`` says how many names are numbered, which are required (bits), how many members come,
    whether there are endlessly many other names, and how its members are collected for a comparison.
    ``spell`` writes a part of a name.
    """
    members, required, least, most, names, gather = scope
    end, first, start = 0, 1, 2
    edges: list[tuple[int, Expr, int]] = [(start, in_row(Literal(b"{"), layout.space), first)]
    ends = 3 + 2 * len(states)
    builder = _Names(edges, spell, layout, ends, base=ends + len(states))
    free = most is None
    closes = [Guard("end")] if required or least or gather is not None else []
    for number, (every_listed, every_other) in enumerate(states):
        # no guard may count on a member that cannot be written
        listed = [one for one in every_listed if one.value != NEVER]
        others = [one for one in every_other if NEVER not in (one.key, one.value)]
        key, after = 3 + 2 * number, 4 + 2 * number
        edges.append((ends + number, Guard("between"), after))
        groups = _by_clauses(listed, others)
        for before, (some, rest) in groups.items():
            every = 0
            for one in some:
                every |= 1 << one.number
            begins = _asked(before)
            if every and not (rest and free):
                begins.append(Guard("may", every, bool(rest)))
            elif rest and not free:
                begins.append(Guard("may", 0, True))
            edges.append((after, in_row(*begins, layout.comma), key))
            if number == 0:
                edges.append((first, in_row(*begins, layout.first), key))
            if some:
                opening = _asked(before)
                if rest or len(groups) > 1:
                    opening.append(Guard("may", every))
                builder.add(key, some, opening)
            opening = [*_asked(before), *([] if free and not least else [_OTHER])]
            for same in _by_key(rest):
                named = key
                name = in_row(*opening, same[0].key, layout.colon)
                if len(same) > 1:
                    # a name that comes once is read once, whatever its value leads to
                    named = builder.place()
                    edges.append((key, name, named))
                    name = EMPTY
                for other in same:
                    label = in_row(name, *_asked(other.asks), other.value, layout.space)
                    edges.append((named, label, ends + other.target))
        if number in finals:
            edges.append((after, in_row(*closes, layout.last, Literal(b"}")), end))
            if number == 0:
                edges.append((first, in_row(*closes, Literal(b"}")), end))
    if not any(target == end for _, _, target in edges):
        return NEVER
    graph = layout.nested(Graph(builder.n_states, start, (end,), tuple(edges), origin=origin))
    return Scope(graph, members, required, least, most, names, gather, origin=origin)


def _by_clauses(
    listed: Sequence[Listed], others: Sequence[Other]
) -> dict[Clauses, tuple[list[Listed], list[Other]]]:
    """Members by what has to be asked before they may begin."""
    found: dict[Clauses, tuple[list[Listed], list[Other]]] = {}
    for one in listed:
        found.setdefault(one.before, ([], []))[0].append(one)
    for other in others:
        found.setdefault(other.before, ([], []))[1].append(other)
    return found


def _by_key(others: Sequence[Other]) -> list[list[Other]]:
    """Groups of members that have the same names."""
    found: dict[int, list[Other]] = {}
    for other in others:
        found.setdefault(id(other.key), []).append(other)
    return list(found.values())


def distinct_items(
    layout: Layout,
    listed: Expr,
    others: Sequence[Expr],
    scope: tuple[int, int, int | None, bool],
    origin: Origin | None,
) -> Expr:
    """An array whose items differ: ``listed`` ones are numbered members, ``others`` are fresh texts.

    ``scope``: how many are numbered, how many items there are at least and at most, and whether the others
    are texts in quotation marks.
    """
    members, least, most, names = scope
    before, first, key, after, end, read = range(6)
    free = most is None
    every = (1 << members) - 1
    more = [] if others and free else [Guard("may", every, bool(others))]
    closes = [Guard("end")] if least else []
    edges: list[tuple[int, Expr, int]] = [
        (before, in_row(Literal(b"["), layout.space), first),
        (first, in_row(*more, layout.first), key),
        (first, in_row(*closes, Literal(b"]")), end),
        (read, Guard("between"), after),
        (after, in_row(*more, layout.comma), key),
        (after, in_row(*closes, layout.last, Literal(b"]")), end),
    ]
    if members:
        left = [Guard("may", every)] if others else []
        edges.append((key, in_row(*left, listed, layout.space), read))
    counted = [_OTHER] if least or not free else []
    edges += [(key, in_row(*counted, other, layout.space), read) for other in others]
    graph = layout.nested(Graph(6, before, (end,), tuple(edges)))
    return Scope(graph, members, 0, least, most, names, origin=origin)


class _Names:
    """Writes the names of a state as a trie; at each branch a guard asks whether a name below may still come."""

    def __init__(
        self,
        edges: list[tuple[int, Expr, int]],
        spell: Callable[[str], Expr],
        layout: Layout,
        ends: int,
        base: int,
    ) -> None:
        self.edges = edges
        #: the first of the places where members end
        self._ends = ends
        self.n_states = base
        self._spell = spell
        self._layout = layout

    def place(self) -> int:
        """One more place."""
        self.n_states += 1
        return self.n_states - 1

    def add(self, key: int, listed: Sequence[Listed], opening: Sequence[Expr]) -> None:
        """Names after the place ``key``, and what is asked before them."""
        ordered = sorted(listed, key=lambda one: one.name)
        todo = [(key, (*opening, Literal(b'"')), ordered, 0)]
        while todo:
            source, before, names, depth = todo.pop()
            whole = [one for one in names if len(one.name) == depth]
            groups: dict[str, list[Listed]] = {}
            for one in names[len(whole) :]:
                groups.setdefault(one.name[depth], []).append(one)
            alone = len({one.number for one in whole}) + len(groups) == 1
            place = source
            if not (alone and len(whole) <= 1) or not whole:
                place = self.n_states
                self.n_states += 1
                self.edges.append((source, in_row(*before), place))
                before = ()
            for one in whole:
                label = in_row(
                    *before,
                    Guard("take", 1 << one.number),
                    Literal(b'"'),
                    self._layout.colon,
                    *_asked(one.asks),
                    one.value,
                    self._layout.space,
                    origin=one.origin,
                )
                self.edges.append((place, label, self._ends + one.target))
            for group in groups.values():
                deeper = _common(group, depth)
                below = 0
                for one in group:
                    below |= 1 << one.number
                asks: tuple[Expr, ...] = () if alone else (Guard("may", below),)
                step = self._spell(group[0].name[depth:deeper])
                todo.append((place, (*asks, step), group, deeper))


def _common(group: Sequence[Listed], depth: int) -> int:
    """The length of the longest common prefix of sorted names; it is ``depth`` or more."""
    low, high = group[0].name, group[-1].name
    length = min(len(low), len(high))
    while depth < length and low[depth] == high[depth]:
        depth += 1
    return depth

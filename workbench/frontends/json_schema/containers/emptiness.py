"""Which nodes no value satisfies: a least fixed point, looked at only as far as it is asked for.

It is the emptiness test of tree automata (the productive symbols of a grammar): a node has a value if its
parts have, beginning with those that need no other node.

An object needs the values of its required properties, a list those of its least number of items; what
is optional is not looked at until a rule that has it is written. So the question costs little, and a
recursion that never ends (a property that requires its own schema) is found empty.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from workbench.automaton.budgets import in_force, too_complex
from workbench.errors import GrammarTooComplex, UnsupportedConstraint
from workbench.frontends.json_schema.containers.array_plan import ArrayPlan
from workbench.frontends.json_schema.containers.compared_texts import count_texts
from workbench.frontends.json_schema.containers.derivatives import Derivatives, Fits, State
from workbench.frontends.json_schema.containers.object_plan import ObjectPlan
from workbench.frontends.json_schema.containers.propagate import plain_parts
from workbench.frontends.json_schema.containers.shapes import Shapes
from workbench.frontends.json_schema.logic.facts import Among
from workbench.frontends.json_schema.logic.formula import FALSE, TRUE, Formula
from workbench.frontends.json_schema.logic.intervals import numbers_in
from workbench.frontends.json_schema.logic.nodes import KINDS, Node, Nodes
from workbench.frontends.json_schema.logic.strings import string_content, surely_possible
from workbench.frontends.json_schema.text.json_values import (
    ARRAY,
    BOOLEAN,
    NULL,
    NUMBER,
    OBJECT,
    STRING,
)
from workbench.grammar.ir import NEVER

__all__ = ["Emptiness", "placed"]


def placed(error: GrammarTooComplex, pointer: str) -> GrammarTooComplex:
    """The error with a place in the schema, if it has none; a pattern alone does not say where it stands."""
    return error if (error.rule or "").startswith("#") else error.at(pointer)


#: States that are looked at while names are counted.
_MOST_COUNTED = 2_000
#: How many members have a name of a cell, by its number.
_Used = dict[int, int]


class _Names:
    """Which states were met on the way to an end, and by how many members with names of which cells."""

    def __init__(self, plan: ObjectPlan | ArrayPlan, once: bool) -> None:
        self._plan = plan if isinstance(plan, ObjectPlan) and once else None
        self._limits: dict[int, int | None] = {}

    def begin(self, start: State, *, counted: bool) -> None:
        """Forget the states that were met; ``counted``: by the same state with other names, too."""
        self._counted = counted
        self._met: dict[tuple[int, int], list[_Used]] = {(start[0], id(start[1])): [{}]}
        self.met = 1

    def after(self, used: _Used, state: State, label: int) -> _Used | None:
        """The names that are used after one more member; None where there is no name left for it."""
        if self._plan is None or state[0] < len(self._plan.named):
            return used
        now = used.get(label, 0) + 1
        if self._counted and (limit := self._limit(label)) is not None and now > limit:
            return None
        return {**used, label: now}

    def are_enough(self, used: _Used) -> bool:
        """Whether there are names for all members."""
        limits = ((self._limit(cell), count) for cell, count in used.items())
        return all(limit is None or count <= limit for limit, count in limits)

    def is_new(self, state: State, used: _Used) -> bool:
        """Whether a state has not been met yet, with as few names or fewer where these count."""
        known = self._met.setdefault((state[0], id(state[1])), [])
        if not self._counted:
            if known:
                return False
        else:
            # what there is no end of is not told apart
            used = {cell: count for cell, count in used.items() if self._limit(cell) is not None}
            if any(all(used.get(c, 0) >= n for c, n in one.items()) for one in known):
                return False
        known.append(used)
        self.met += 1
        return True

    def _limit(self, cell: int) -> int | None:
        """How many names a cell has; None for no end of them."""
        if cell not in self._limits:
            assert self._plan is not None
            names = self._plan.cell_names(cell)
            self._limits[cell] = None if names is None else count_texts(names)
        return self._limits[cell]


def _is_lone(value: object) -> bool:
    """Whether a text has half of a surrogate pair: it may not be spelled."""
    return isinstance(value, str) and any(0xD800 <= ord(character) < 0xE000 for character in value)


def _plainly_possible(node: Node) -> bool:
    """Whether a schema by itself has a value of the simplest kind: ``null``, ``[]``, ``{}``, any text, any number."""
    if len(node.atoms) != 1 or not node.atoms[0][1]:
        return False
    said = node.atoms[0][0]
    if said.never or said.values is not None or said.same_instance or said.applies_others:
        return False
    types = said.types
    if types & (NULL | BOOLEAN):
        return True
    if types & OBJECT and not (said.required or said.min_properties):
        return said.max_properties is None
    if types & ARRAY and not (said.min_items or said.contains):
        return said.max_items is None
    if types & STRING and not (said.pattern or said.format or said.min_length):
        return said.max_length is None
    return bool(types & NUMBER) and not (said.low or said.high or said.multiple_of)


_CHEAP_FIRST = (NULL, BOOLEAN, STRING, NUMBER, ARRAY, OBJECT)


class Emptiness:
    """Answers for the nodes of one document; answers are kept."""

    def __init__(self, nodes: Nodes, shapes: Shapes) -> None:
        self._nodes = nodes
        self._shapes = shapes
        self._empty: dict[int, bool] = {}
        #: how many values a node has, once somebody counts them
        self.count: Callable[[Node], int] | None = None

    def fits(self, node: Node) -> bool:
        """Whether some value satisfies a node."""
        return not self.is_empty(node)

    def is_empty(self, node: Node) -> bool:
        """Whether no value satisfies a node."""
        known = self._empty.get(node.index)
        if known is not None:
            return known
        if _plainly_possible(node):
            self._empty[node.index] = False
            return False
        self._solve(node)
        return self._empty[node.index]

    def _solve(self, node: Node) -> None:
        """Decide a node and those that it is asked about: each again only when one that it asked for has a value.

        The last one met is looked at first. A node that fails has others that it needs looked at before it is
        judged again, all of them at once.
        """
        met = {node.index}
        #: who asked for a node and had no value without it
        waiting: dict[int, list[Node]] = {}
        todo = [(node, False)]
        while todo:
            one, again = todo.pop()
            if one.index in self._empty:
                continue
            asked: dict[int, Node] = {}
            if self.possible(one, partial(self._made, asked, False)):
                self._empty[one.index] = False
                if one is node:
                    return
                todo += [(other, True) for other in waiting.pop(one.index, ())]
                continue
            if not asked:
                self._empty[one.index] = True
                continue
            if not again:
                self.possible(one, partial(self._made, asked, True))
                todo.append((one, True))
            for index, other in asked.items():
                if again:
                    waiting.setdefault(index, []).append(one)
                if index not in met:
                    met.add(index)
                    todo.append((other, False))
        for index in met:
            self._empty.setdefault(index, True)

    def _made(self, asked: dict[int, Node], unknown: bool, node: Node) -> bool:
        """Whether a node is known to have a value; those of which it is ``unknown`` are noted."""
        if node.anything:
            return True
        answer = self._empty.get(node.index)
        if answer is None and _plainly_possible(node):
            answer = self._empty[node.index] = False
        if answer is None:
            asked[node.index] = node
            return unknown
        return not answer

    def possible(self, node: Node, made: Fits) -> bool:
        """Whether a node has a value, given which other nodes have one."""
        if node.anything:
            return True
        for kind in _CHEAP_FIRST:
            if node.types & kind:
                formula = self._nodes.formula(node, kind)
                if self.possible_kind(kind, formula, made, node.pointer):
                    return True
        return False

    def possible_kind(self, kind: int, formula: Formula, made: Fits, place: str) -> bool:
        """Whether a formula about one type of value has a value; an error about a budget gets the place."""
        try:
            return self._possible_kind(kind, formula, made, place)
        except GrammarTooComplex as error:
            raise placed(error, place) from None

    def _possible_kind(self, kind: int, formula: Formula, made: Fits, place: str) -> bool:
        if formula is TRUE or formula is FALSE:
            return formula is TRUE
        if kind in (STRING, NUMBER) and self._lists_some(formula):
            return True
        if kind == STRING:
            return surely_possible(formula) or string_content(formula, place) != NEVER
        if kind == NUMBER:
            return numbers_in(formula) != NEVER
        if kind == BOOLEAN:
            return any(self._nodes.satisfies(value, formula) for value in (True, False))
        if kind == NULL:
            return self._nodes.satisfies(None, formula)
        shape = self._shapes.of(kind, formula)
        if shape.values is not None:
            return bool(shape.values)
        if shape.either is not None:
            return any(self._possible_kind(kind, one, made, place) for one in shape.either)
        if isinstance(shape.plan, ObjectPlan):
            return self._object(shape.plan, made)
        assert isinstance(shape.plan, ArrayPlan)
        return self._array(shape.plan, made)

    def _lists_some(self, formula: Formula) -> bool:
        """Whether one of some listed texts or numbers satisfies a formula, which is plain without an automaton."""
        for part in plain_parts(formula):
            if isinstance(part, Among) and part.positive:
                texts = (value for value in part.values if not _is_lone(value))
                return any(self._nodes.satisfies(value, formula) for value in texts)
        return False

    def _object(self, plan: ObjectPlan, made: Fits) -> bool:
        if plan.most is not None and plan.most < max(plan.least, len(plan.required)):
            return False
        for name in plan.required:
            if not plan.allows_name(name) or not any(map(made, plan.values(name))):
                return False
        if plan.open is TRUE:
            count = len(plan.required)
            if count >= plan.least:
                return True
            for name in plan.named:
                if name in plan.required or not plan.allows_name(name):
                    continue
                if any(map(made, plan.values(name))):
                    count += 1
                    if count >= plan.least:
                        return True
            for number, cell in enumerate(plan.cells()):
                if made(plan.cell_value(cell)):
                    names = plan.cell_names(number)
                    found = None if names is None else count_texts(names)
                    if found is None:
                        return True
                    count += found
            return count >= plan.least
        return self._reaches_end(plan, made)

    def _array(self, plan: ArrayPlan, made: Fits) -> bool:
        if plan.most is not None and plan.most < plan.least:
            return False
        if plan.distinct and self._too_few(plan.item(plan.longest), plan.least):
            return False
        if plan.open is TRUE:
            needed = min(plan.least, plan.longest + 1)
            return all(made(plan.item(position)) for position in range(needed))
        return self._reaches_end(plan, made)

    def _too_few(self, node: Node, least: int) -> bool:
        """Whether a node is known to have fewer values than there have to be different ones."""
        try:
            return least > 0 and self.count is not None and self.count(node) < least
        except UnsupportedConstraint:  # uniqueItems is taken back, or refused
            return False

    def _reaches_end(self, plan: ObjectPlan | ArrayPlan, made: Fits) -> bool:
        """Whether the plan's machine can end; what is nearest to the end is looked at first."""
        derivatives = self._shapes.derivatives
        try:
            with derivatives.budget():
                return self._ends_somewhere(plan, derivatives, made)
        except GrammarTooComplex:
            found = self._shapes.cases.of(plan.formula) if isinstance(plan, ObjectPlan) else None
            if found is None:
                raise
        return any(self.possible_kind(OBJECT, one, made, "#") for one in found)

    def _ends_somewhere(
        self, plan: ObjectPlan | ArrayPlan, derivatives: Derivatives, made: Fits
    ) -> bool:
        """Whether the machine can end; of a few names no more members than there are names.

        First names are not counted: that there is no end is sure then, and mostly so is that there is one. Where names
        are counted in vain for long, there is said to be one.
        """
        counting = _Names(plan, self._nodes.once)
        for counted in (False, True):
            most = _MOST_COUNTED if counted else in_force().object_states
            start: State = (0, plan.with_counts())
            counting.begin(start, counted=counted)
            fresh: list[tuple[State, _Used]] = [(start, {})]
            waiting: list[tuple[State, _Used]] = []
            while fresh or waiting:
                if not fresh:
                    state, used = waiting.pop()
                    for move in plan.moves(derivatives, state, made):
                        then = counting.after(used, state, move.label)
                        if then is not None and counting.is_new(move.target, then):
                            fresh.append((move.target, then))
                    continue
                state, used = fresh.pop()
                if plan.may_end(state):
                    if counting.are_enough(used):
                        return True
                    break
                waiting.append((state, used))
                skipped = plan.skip(derivatives, state)
                if skipped is not None and counting.is_new(skipped, used):
                    fresh.append((skipped, used))
                if counting.met > most:
                    if counted:
                        return True
                    raise too_complex("object_states")
            else:
                return False
        return True

    def blame(self, node: Node) -> tuple[str, str]:
        """The smallest part of an empty node that is empty itself, and why."""
        seen: set[int] = set()
        while node.index not in seen:
            seen.add(node.index)
            kinds = [k for k in KINDS if self._nodes.formula(node, k) is not FALSE]
            if len(kinds) != 1 or kinds[0] not in (OBJECT, ARRAY):
                break
            shape = self._shapes.of(kinds[0], self._nodes.formula(node, kinds[0]))
            needs: list[Node] = []
            if isinstance(shape.plan, ObjectPlan):
                values = map(shape.plan.values, shape.plan.required)
                needs = [found[0] for found in values if len(found) == 1]
            elif isinstance(shape.plan, ArrayPlan):
                count = min(shape.plan.least, shape.plan.longest + 1)
                needs = [shape.plan.item(position) for position in range(count)]
            below = [need for need in needs if self.is_empty(need)]
            if not below:
                break
            node = below[0]
        else:
            return node.pointer, "its values would have to hold themselves without end"
        return _reason(node)


def _reason(node: Node) -> tuple[str, str]:
    """Why an empty node is empty: a reference that leads nowhere, where one is near."""
    general = "no value satisfies what is said there"
    todo = [location for location, sign in node.atoms if sign]
    for location in todo:
        if location.reason and len(node.atoms) == 1:
            return location.pointer, location.reason
        if location.reason:
            return node.pointer, f"{general}; {location.pointer}: {location.reason}"
        todo += [one for one in location.applied() if one not in todo]
    return node.pointer, general

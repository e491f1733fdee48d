"""How many values nodes have (model counting), where arrays need to know that their items can still differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from workbench.automaton.finite import without_empty
from workbench.automaton.network import MANY
from workbench.errors import UnsupportedConstraint
from workbench.frontends.json_schema.containers.alternatives import MAX_ALTERNATIVES
from workbench.frontends.json_schema.containers.any_order import (
    AnyOrderMachine,
    any_order_machine,
    touched,
)
from workbench.frontends.json_schema.containers.array_plan import ArrayPlan
from workbench.frontends.json_schema.containers.compared_texts import count_texts, is_endless
from workbench.frontends.json_schema.containers.derivatives import ends
from workbench.frontends.json_schema.containers.distinct import (
    is_written,
    listed_texts,
    number_texts,
    string_texts,
)
from workbench.frontends.json_schema.containers.emptiness import Emptiness
from workbench.frontends.json_schema.containers.object_plan import ObjectPlan
from workbench.frontends.json_schema.containers.propagate import plain_parts
from workbench.frontends.json_schema.containers.shapes import Shapes
from workbench.frontends.json_schema.logic import facts as f
from workbench.frontends.json_schema.logic.formula import FALSE, TRUE, Formula, facts_in
from workbench.frontends.json_schema.logic.nodes import KINDS, Node, Nodes
from workbench.frontends.json_schema.text.json_values import BOOLEAN, NULL, NUMBER, STRING

__all__ = ["ValueCounter", "Named", "is_distinct"]


class Named(NamedTuple):
    """A member of an object: its name, the nodes of which one is its value's, whether it has to come."""

    name: str
    nodes: tuple[Node, ...]
    required: bool


class _Case(NamedTuple):
    """Members of a closed object, and whether another case may have the same objects."""

    members: tuple[Named, ...]
    overlaps: bool


class ValueCounter:
    """How many values nodes have, in any order of names or in that of the schema."""

    def __init__(self, nodes: Nodes, any_order: bool) -> None:
        self.nodes = nodes
        self.shapes = Shapes(nodes)
        self.emptiness = Emptiness(nodes, self.shapes)
        self.any_order = any_order
        #: whether a number was counted, and a string that has few ways to go on
        self.has_numbers = self.has_few_texts = False
        self.emptiness.count = self.node
        self._known: dict[int, int] = {}
        self._formulas: dict[tuple[int, int], int] = {}
        self._machines: dict[int, tuple[ObjectPlan, AnyOrderMachine]] = {}
        self._alternatives: dict[int, tuple[ObjectPlan, list[_Case]]] = {}

    def node(self, node: Node) -> int:
        """Number of values of a node, :data:`MANY` for more than can be counted.

        Raises ``UnsupportedConstraint`` where it is not known, and ``GrammarTooComplex`` past a budget.
        """
        known = self._known.get(node.index)
        if known is None:
            # a value that holds values of its own node is one of endlessly many
            self._known[node.index] = MANY
            total = 0
            if not self.emptiness.is_empty(node):
                for kind in KINDS:
                    total += self.kind(kind, self.nodes.formula(node, kind), node.pointer)
            known = self._known[node.index] = min(MANY, total)
        return known

    def prefixed(self, first: Sequence[Node], rest: Node) -> None:
        """Check that distinct items are left for all positions of an array, whatever has come.

        It is so where those with few values have the same ones, at least one for each, and all texts can go on
        without end. Raises ``UnsupportedConstraint`` otherwise.
        """
        places = [*first, rest] if self.emptiness.fits(rest) else list(first)
        few = [node for node in places if self.node(node) < MANY]
        reason = "uniqueItems is not enforced where the first items have few values of their own"
        if few and (
            len(set(map(self._said, few))) > 1
            or rest in few
            or self.node(few[0]) < len(few)
            or any(not self._goes_on(node) for node in places if node not in few)
        ):
            raise UnsupportedConstraint(places[0].pointer, reason)
        if len(set(map(self._said, places))) > 1 and not all(map(self._goes_on, places)):
            raise UnsupportedConstraint(places[0].pointer, reason)

    def _said(self, node: Node) -> tuple[int, ...]:
        """The identities of what a node says about each type."""
        return tuple(id(self.nodes.formula(node, kind)) for kind in KINDS)

    def _goes_on(self, node: Node) -> bool:
        """Whether each prefix of a text or number of a node has endlessly many completions."""
        for kind, texts in ((STRING, string_texts), (NUMBER, number_texts)):
            formula = self.nodes.formula(node, kind)
            if formula is not FALSE:
                some = without_empty(texts(self.nodes, formula))
                if not some.is_empty and not is_endless(some):
                    return False
        return True

    def any_of(self, nodes: Sequence[Node]) -> int:
        """:meth:`node` for the values of any of some nodes."""
        found = [self.node(node) for node in nodes]
        if MANY in found:
            return MANY
        if self._overlap([node for node, n in zip(nodes, found, strict=True) if n]):
            reason = "uniqueItems is not enforced where few values are described in several ways"
            raise UnsupportedConstraint(nodes[0].pointer, reason)
        return min(MANY, sum(found))

    def _overlap(self, nodes: Sequence[Node]) -> bool:
        """Whether two of some nodes have a value in common."""
        return any(
            self.emptiness.fits(self.nodes.node([*one.atoms, *two.atoms]))
            for one, two in combinations(nodes, 2)
        )

    def kind(self, kind: int, formula: Formula, pointer: str) -> int:
        """:meth:`node` for the values of one type."""
        if formula is FALSE:
            return 0
        self.has_numbers = self.has_numbers or kind == NUMBER
        if kind == STRING and (listed := listed_texts(self.nodes, formula)) is not None:
            self.has_few_texts = True
            return len(listed)
        if kind in (STRING, NUMBER):
            texts = (string_texts if kind == STRING else number_texts)(self.nodes, formula)
            self.has_few_texts = self.has_few_texts or (kind == STRING and not is_endless(texts))
            found = count_texts(texts)
            return MANY if found is None else found
        if kind in (BOOLEAN, NULL):
            values = (True, False) if kind == BOOLEAN else (None,)
            return sum(self.nodes.satisfies(value, formula) for value in values)
        if formula is TRUE:
            self.has_numbers = True
            return MANY
        key = kind, id(formula)
        known = self._formulas.get(key)
        if known is None:
            known = self._formulas[key] = self._structures(kind, formula, pointer)
        return known

    def _structures(self, kind: int, formula: Formula, pointer: str) -> int:
        if not self.emptiness.possible_kind(kind, formula, self.emptiness.fits, pointer):
            return 0
        shape = self.shapes.of(kind, formula)
        if shape.values is not None:
            self.has_numbers = True
            return sum(map(is_written, shape.values))
        if shape.either is not None:
            found = [self.kind(kind, one, pointer) for one in shape.either]
            if MANY in found:
                return MANY
            pairs = combinations([one for one, n in zip(shape.either, found, strict=True) if n], 2)
            both = (self.nodes.formulas.all_of(pair) for pair in pairs)
            fits = self.emptiness.fits
            if not any(self.emptiness.possible_kind(kind, one, fits, pointer) for one in both):
                return sum(found)
            reason = "uniqueItems is not enforced where few objects are described in several ways"
            raise UnsupportedConstraint(pointer, reason)
        if isinstance(shape.plan, ObjectPlan):
            return self._objects(shape.plan, pointer)
        assert isinstance(shape.plan, ArrayPlan)
        return self._arrays(shape.plan, pointer)

    def _objects(self, plan: ObjectPlan, pointer: str) -> int:
        if self.has_endless_names(plan):
            if plan.open is TRUE and not plan.counts:
                for name in plan.named:
                    if plan.allows_name(name):
                        self.any_of(plan.values(name))
            elif not self._always_goes_on(plan):
                reason = "uniqueItems is not enforced around objects to which at last nothing can be added"
                raise UnsupportedConstraint(pointer, reason)
            return MANY
        cases = self._cases(plan)
        found = [self._closed(case.members, plan) for case in cases]
        if MANY not in found and any(case.overlaps for case in cases):
            reason = "uniqueItems is not enforced where few objects are described in several ways"
            raise UnsupportedConstraint(pointer, reason)
        return min(MANY, sum(found))

    def _closed(self, members: Sequence[Named], plan: ObjectPlan) -> int:
        """Number of the objects with some members."""
        ways = [1]
        for member in members:
            with_it = [self.any_of(member.nodes) * n for n in ways]
            ways = [*(0 if member.required else n for n in ways), 0]
            for number, n in enumerate(with_it):
                ways[number + 1] = min(MANY, ways[number + 1] + n)
        most = len(ways) - 1 if plan.most is None else plan.most
        return min(MANY, sum(ways[plan.least : most + 1]))

    def alternatives(self, plan: ObjectPlan) -> list[tuple[Named, ...]]:
        """The members of a closed object; in each alternative every member comes or not independently of the others.

        Raises ``UnsupportedConstraint`` when there are too many alternatives.
        """
        return [case.members for case in self._cases(plan)]

    def _cases(self, plan: ObjectPlan) -> list[_Case]:
        known = self._alternatives.get(id(plan))
        if known is None:
            split = self._split(plan) if plan.open is not TRUE else [({}, False)]
            made = []
            for fixed, overlaps in split:
                members = []
                for name in plan.named:
                    found = [fixed[name]] if name in fixed else plan.values(name)
                    nodes = [node for node in found if node and self.emptiness.fits(node)]
                    if nodes and plan.allows_name(name):
                        required = name in plan.required or name in fixed
                        members.append(Named(name, tuple(nodes), required))
                names = {one.name for one in members}
                wanted = {*plan.required, *(name for name, node in fixed.items() if node)}
                if names >= wanted:
                    made.append(_Case(tuple(members), overlaps))
            known = self._alternatives[id(plan)] = plan, made
        return known[1]

    def _split(self, plan: ObjectPlan) -> Iterator[tuple[dict[str, Node | None], bool]]:
        """Each way to satisfy a formula: the members that it asks for or forbids (``None``).

        With each way, whether another one may have the same objects.
        """
        facts = facts_in(plan.open)
        places = [
            (place, name) for place, name in enumerate(plan.named) if touched(plan, facts, name)
        ]
        derivatives, fits = self.shapes.derivatives, self.emptiness.fits
        found = 0
        todo: list[tuple[int, Formula, dict[str, Node | None], bool]] = [(0, plan.open, {}, False)]
        with derivatives.budget():
            while todo:
                number, residual, chosen, overlaps = todo.pop()
                if residual is TRUE or number == len(places):
                    if residual is not TRUE and not ends(residual):
                        continue
                    found += 1
                    if found > MAX_ALTERNATIVES:
                        reason = (
                            "uniqueItems is not enforced around objects with so many conditions"
                        )
                        raise UnsupportedConstraint(plan_pointer(plan), reason)
                    yield chosen, overlaps
                    continue
                place, name = places[number]
                if name not in plan.required:
                    left = plan.decided(derivatives, residual, place)
                    if left is not FALSE:
                        todo.append((number + 1, left, {**chosen, name: None}, overlaps))
                if not plan.allows_name(name):
                    continue
                ways = [
                    way
                    for base in plan.bases(name)
                    for way in derivatives.of(residual, plan.options_of(name), base, fits)
                ]
                overlaps = overlaps or self._overlap([node for node, _ in ways])
                for node, left in ways:
                    left = plan.decided(derivatives, left, place)
                    if left is not FALSE:
                        todo.append((number + 1, left, {**chosen, name: node}, overlaps))

    def has_endless_names(self, plan: ObjectPlan) -> bool:
        """Whether an object may have any number of members that are not listed."""
        values = [plan.cell_value(cell) for cell in plan.cells()]
        possible = {number for number, node in enumerate(values) if self.emptiness.fits(node)}
        for number in possible:
            self.node(values[number])
        if not possible:
            return False
        if possible & _endless_cells(plan):
            return True
        reason = "uniqueItems is not enforced where objects have a few names that are not listed"
        raise UnsupportedConstraint(plan_pointer(plan), reason)

    def machine(self, plan: ObjectPlan) -> AnyOrderMachine:
        """The machine of an object in any order."""
        found = self._machines.get(id(plan))
        if found is None:
            if plan.open is not TRUE:
                plan.list_few()
            machine = any_order_machine(plan, self.shapes.derivatives, self.emptiness.fits)
            found = self._machines[id(plan)] = plan, machine
        return found[1]

    def _always_goes_on(self, plan: ObjectPlan) -> bool:
        """Whether in each state any number of members with other names may come."""
        endless = _endless_cells(plan)
        if not self.any_order:
            explored = self.shapes.explored(plan, self.emptiness.fits)
            ways: list[list[tuple[bool, int]]] = []
            for number, state in enumerate(explored.states):
                others = state[0] >= len(plan.named)
                ways.append(
                    [
                        (others and move.label in endless, explored.of(move.target))
                        for move in explored.moves[number]
                    ]
                )
                for move in explored.moves[number]:
                    self.node(move.node)
                if (skip := explored.skips[number]) is not None:
                    ways[-1].append((False, explored.of(skip)))
            return _all_reach(ways)
        machine = self.machine(plan)
        for node in {id(one.node): one.node for some in machine.moves for one in some}.values():
            self.node(node)
        return machine.most is None and all(
            not moves or any(not move.listed and move.label in endless for move in moves)
            for moves in machine.moves
        )

    def _arrays(self, plan: ArrayPlan, pointer: str) -> int:
        items = [self.node(plan.item(position)) for position in range(plan.longest + 1)]
        if plan.open is not TRUE and not is_distinct(plan):
            reason = "uniqueItems is not enforced around arrays with conditions on single items"
            raise UnsupportedConstraint(pointer, reason)
        tail, distinct = items[-1], is_distinct(plan)
        if plan.longest and (distinct or tail < MANY or plan.most is not None):
            reason = "uniqueItems is not enforced around arrays whose first items have schemas of their own"
            raise UnsupportedConstraint(pointer, reason)
        most = plan.most
        if distinct and tail < MANY:
            most = tail if most is None else min(tail, most)
        if most is None:
            return MANY if tail else 1
        total, product = 0, 1
        for n in range(most + 1):
            total += product if n >= plan.least else 0
            product *= tail - n if distinct else tail
            if total >= MANY or product >= MANY:
                return MANY
            if not product:
                break
        return total


def _endless_cells(plan: ObjectPlan) -> set[int]:
    """Numbers of the cells with any number of names."""
    return {
        number
        for number in range(len(plan.cells()))
        if (names := plan.cell_names(number)) is None or count_texts(names) is None
    }


def _all_reach(ways: Sequence[Sequence[tuple[bool, int]]]) -> bool:
    """Whether from each state a way that is marked can be reached."""
    good = {number for number, some in enumerate(ways) if any(marked for marked, _ in some)}
    changed = True
    while changed:
        changed = False
        for number, some in enumerate(ways):
            if number not in good and any(target in good for _, target in some):
                good.add(number)
                changed = True
    return len(good) == len(ways)


def is_distinct(plan: ArrayPlan) -> bool:
    """Whether the items of an array must differ, and nothing else is said of single ones."""
    found = [part for part in plain_parts(plan.open) if isinstance(part, f.Unique)]
    others = len(plain_parts(plan.open)) - len(found)
    return not others and (plan.distinct or any(one.positive and not one.seen for one in found))


def plan_pointer(plan: ObjectPlan) -> str:
    """Where an object is described."""
    return plan.nodes.pointers.get(id(plan.formula), "#")

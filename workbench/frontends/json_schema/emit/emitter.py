"""Nodes -> rules: one rule for each object and array, scalars in place.

A rule is written when it is first used; its size is linear in the schemas that it speaks of, times the
states that its open part needs. Scalars are expression objects that their uses share.

Names that are not listed come at most once, and in any order (an option) so do all: both are kept in the
records of scopes, as the items of ``uniqueItems`` are.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from functools import partial
from typing import Any

from workbench.automaton.budgets import in_force, too_complex
from workbench.automaton.finite import without_empty
from workbench.errors import GrammarTooComplex, UnsupportedConstraint
from workbench.frontends.json_schema.containers.any_order import (
    FEW,
    FEWER,
    MANY,
    AnyOrderMachine,
    Listed,
    Other,
    any_order_machine,
    any_order_object,
    distinct_items,
)
from workbench.frontends.json_schema.containers.array_plan import ArrayPlan
from workbench.frontends.json_schema.containers.compared_texts import goes_on
from workbench.frontends.json_schema.containers.distinct import (
    ample_names,
    choices_of,
    count_names,
    guarded_choice,
    has_structures,
    one_number,
)
from workbench.frontends.json_schema.containers.emptiness import placed
from workbench.frontends.json_schema.containers.object_plan import ObjectPlan
from workbench.frontends.json_schema.containers.propagate import plain_parts
from workbench.frontends.json_schema.containers.value_counts import ValueCounter
from workbench.frontends.json_schema.emit.unique_emitter import UniqueEmitter
from workbench.frontends.json_schema.emit.writer import QUOTE, Writer
from workbench.frontends.json_schema.logic import facts as f
from workbench.frontends.json_schema.logic.formula import FALSE, TRUE, Formula, facts_in
from workbench.frontends.json_schema.logic.intervals import numbers_in
from workbench.frontends.json_schema.logic.nodes import KINDS, Node
from workbench.frontends.json_schema.logic.strings import string_content, surely_possible
from workbench.frontends.json_schema.scalars.counted import Counted, beginning, block
from workbench.frontends.json_schema.scalars.numbers import ANY_NOTATION, Notation, exactly
from workbench.frontends.json_schema.text.json_spelling import Ranges, class_name
from workbench.frontends.json_schema.text.json_values import (
    ARRAY,
    BOOLEAN,
    NULL,
    NUMBER,
    OBJECT,
    STRING,
    decimal,
    type_bit,
)
from workbench.frontends.json_schema.text.whitespace import Member, either, in_row
from workbench.grammar.ir import EMPTY, NEVER, Alt, Expr, Guard, Literal, Origin, Ref, Scope, Seq
from workbench.grammar.lazy import LazyRules

__all__ = ["Emitter"]

#: Most cases that one object in any order is cut into.
MAX_CASES = 256

_NULL = Literal(b"null")
#: The empty name, as the first member of its scope; within quotes, so that the guard asks when it ends.
_NO_NAME = Seq((QUOTE, Guard("take", 1), QUOTE))
#: The expression for ``true`` or ``false``.
BOOLEAN_VALUE = Alt((Literal(b"true"), Literal(b"false")))


class Emitter:
    """Writes the values of nodes by a :class:`Writer`."""

    #: in which way it writes values: rules of several emitters are told apart by it
    manner = ""

    def __init__(
        self, counter: ValueCounter, writer: Writer, notation: Notation = ANY_NOTATION
    ) -> None:
        self._any_order = counter.any_order
        self._nodes = counter.nodes
        self._shapes = counter.shapes
        self._emptiness = counter.emptiness
        self._fits = counter.emptiness.fits
        self._writer = writer
        self._once = writer.once
        self._layout = writer.layout
        self._notation = notation
        self._any_number = numbers_in(TRUE, notation)
        self._uses: dict[int, Expr] = {}
        self._known: dict[Hashable, Expr] = {}
        #: into how many cases a formula may be cut, and the facts looked at for it and its like
        self._shares: dict[int, tuple[int, list[int]]] = {}
        self._unique = UniqueEmitter(counter, writer, notation)

    def rules(self, root: Node) -> tuple[LazyRules, str]:
        """The rules for a node that is not empty, and the name of the start rule."""
        expr = self.use(root)
        space = self._layout.space
        if self._layout.around:
            return self._writer.started(in_row(space, expr, space), "text")
        if isinstance(expr, Ref):
            return self._writer.starting(expr.name), expr.name
        return self._writer.started(expr, "root")

    # Values of a node

    def use(self, node: Node) -> Expr:
        """The expression for a value of this node; ``NEVER`` when there is none."""
        known = self._uses.get(node.index)
        if known is not None:
            return known
        if self._emptiness.is_empty(node):
            expr: Expr = NEVER
        else:
            formulas = [self._nodes.formula(node, kind) for kind in KINDS]
            if all(formula is TRUE for formula in formulas):
                expr = self._value()
            else:
                origin = Origin(pointer=node.pointer)
                some = [pair for pair in zip(KINDS, formulas, strict=True) if pair[1] is not FALSE]
                expr = either(*[self._kind(origin, *pair) for pair in some], origin=origin)
        self._uses[node.index] = expr
        return expr

    def _kind(self, origin: Origin, kind: int, formula: Formula) -> Expr:
        """The values of one type that a formula allows."""
        if formula is FALSE:
            return NEVER
        if kind == OBJECT:
            return self._any_object() if formula is TRUE else self._structure(kind, formula)
        if kind == ARRAY:
            return self._any_array() if formula is TRUE else self._structure(kind, formula)
        if kind == STRING:
            return self._string(formula, origin)
        if kind == NUMBER:
            return self._number(formula)
        if kind == BOOLEAN:
            fitting = [v for v in (True, False) if self._nodes.satisfies(v, formula)]
            return BOOLEAN_VALUE if len(fitting) == 2 else either(*map(self._literal, fitting))
        return _NULL if self._nodes.satisfies(None, formula) else NEVER

    def _structure(self, kind: int, formula: Formula) -> Expr:
        """Objects or arrays: a use of the rule for their formula."""
        key = (self.manner, kind, id(formula))
        known = self._known.get(key)
        if known is None:
            pointer = self._nodes.pointers.get(id(formula), "#")
            if not self._emptiness.possible_kind(kind, formula, self._fits, pointer):
                known = self._known[key] = NEVER
            else:
                origin = Origin(pointer=pointer)
                make = partial(self._placed, kind, formula, origin)
                known = self._writer.rule(key, _readable(pointer), make, origin)
        return known

    def _placed(self, kind: int, formula: Formula, origin: Origin) -> Expr:
        """As ``_written``; an error about a budget gets the place in the schema."""
        try:
            return self._written(kind, formula, origin)
        except GrammarTooComplex as error:
            raise placed(error, str(origin.pointer)) from None

    def _written(self, kind: int, formula: Formula, origin: Origin) -> Expr:
        shape = self._shapes.of(kind, formula)
        if shape.values is not None:
            return either(*map(self._literal, shape.values), origin=origin)
        if shape.either is not None:
            if kind == OBJECT and (joint := self._joint(formula, shape.either)) is not None:
                return self._by_machine(*joint, origin)
            pointers = self._nodes.pointers
            for one in shape.either:
                pointers.setdefault(id(one), str(origin.pointer))
            found = {id(part): part for part in (self._kind(origin, kind, p) for p in shape.either)}
            return either(*found.values(), origin=origin)
        if isinstance(shape.plan, ObjectPlan):
            return self._object(shape.plan, origin)
        assert isinstance(shape.plan, ArrayPlan)
        return self._array(shape.plan, origin)

    def _joint(
        self, formula: Formula, either: list[Formula]
    ) -> tuple[ObjectPlan, AnyOrderMachine] | None:
        """One machine for alternatives that all have other names, if it is small.

        So one scope keeps these names from coming twice, not one for each alternative.
        """
        if not (self._any_order and self._once) or len(either) < 2:
            return None
        if any(isinstance(fact, f.Among | f.Distinct) for fact in facts_in(formula)):
            return None
        plans = [self._shapes.of(OBJECT, one).plan for one in either]
        if sum(1 for one in plans if isinstance(one, ObjectPlan) and one.cells()) < 2:
            return None
        plan = ObjectPlan(self._nodes, formula)
        plan.list_few()
        try:
            return plan, any_order_machine(plan, self._shapes.derivatives, self._fits, FEWER)
        except GrammarTooComplex:
            return None

    def _object(self, plan: ObjectPlan, origin: Origin) -> Expr:
        if (self._any_order and plan.named) or (plan.counts and not plan.named):
            return self._in_any_order(plan, origin)
        # where there is an end of the other names, a comma must not be written when all have come
        cells = [n for n, c in enumerate(plan.cells()) if self.use(plan.cell_value(c)) != NEVER]
        count = count_names(plan, cells) if self._once and cells else None
        if count is None:
            return self._scoped(self._in_order(plan, origin), bool(plan.cells()), plan)
        if plan.open is not TRUE or plan.counts:
            return self._in_any_order(plan, origin)
        count += any(plan.has_empty_name(number) for number in cells)
        expr = self._in_order(plan, origin, Guard("other"), Guard("may", 0, True))
        return expr if expr == NEVER else Scope(expr, 1, 0, 0, count, origin=origin)

    def _scoped(self, expr: Expr, others: bool, plan: ObjectPlan | None = None) -> Expr:
        """An object, with a record of the names that are not listed where there are such."""
        if not (others and self._once) or expr == NEVER:
            return expr
        names = plan is None or ample_names(plan)
        return Scope(expr, 1, names=names, origin=expr.origin)

    def _in_any_order(self, plan: ObjectPlan, origin: Origin) -> Expr:
        if plan.open is not TRUE:
            plan.list_few()
            apart = self._apart(plan, origin)
            if isinstance(apart, Expr):
                return apart
            machine = apart
        else:
            machine = any_order_machine(plan, self._shapes.derivatives, self._fits)
        return self._by_machine(plan, machine, origin)

    def _by_machine(self, plan: ObjectPlan, machine: AnyOrderMachine, origin: Origin) -> Expr:
        states: list[tuple[list[Listed], list[Other]]] = []
        for moves in machine.moves:
            listed: list[Listed] = []
            others: list[Other] = []
            for move in moves:
                value = self.use(move.node)
                if not move.listed:
                    key = self._writer.cell_name(plan, move.label)
                    asks = move.before, move.asks
                    others.append(Other(key, value, move.target, *asks))
                    if self._once and plan.has_empty_name(move.label):
                        number = len(plan.named)
                        listed.append(Listed("", number, value, move.target, None, *asks))
                    continue
                name = plan.named[move.label]
                if self._writer.quoted(name) != NEVER:
                    place = plan.origin_of(name, origin)
                    asks = move.before, move.asks
                    listed.append(Listed(name, move.label, value, move.target, place, *asks))
            states.append((listed, others))
        most = machine.most
        written = {move.label for moves in machine.moves for move in moves if not move.listed}
        count = count_names(plan, written) if self._once else None
        if count is not None:
            count += len({one.number for listed, _ in states for one in listed})
            most = count if most is None else min(most, count)
        names = not self._once or ample_names(plan)
        scope = len(plan.named) + 1, machine.required, machine.least, most, names, None
        return any_order_object(
            self._layout, self._writer.spell, states, machine.finals, scope, origin
        )

    def _apart(self, plan: ObjectPlan, origin: Origin) -> Expr | AnyOrderMachine:
        """The machine of an object with an open part, or alternatives where that would be large."""
        derivatives = self._shapes.derivatives
        share, spent = self._shares.get(id(plan.formula), (MAX_CASES, [0]))
        found = None
        before = derivatives.total
        most = MANY if plan.is_joint else FEW
        try:
            return any_order_machine(plan, derivatives, self._fits, most)
        except GrammarTooComplex:
            if plan.is_joint:
                found = self._shapes.apart(plan.formula)
                if found is None:
                    raise
            else:
                found = self._shapes.cases.of(plan.formula)
            if found is None or len(found) > share:
                return any_order_machine(plan, derivatives, self._fits)
        finally:
            spent[0] += derivatives.total - before
            if spent[0] > 2 * in_force().facts:
                raise too_complex("facts", limit=2 * in_force().facts)
        for one in found:
            self._nodes.pointers.setdefault(id(one), str(origin.pointer))
            self._shares.setdefault(id(one), (share // max(1, len(found)), spent))
        return either(*[self._kind(origin, OBJECT, one) for one in found], origin=origin)

    def _in_order(
        self, plan: ObjectPlan, origin: Origin, before: Expr = EMPTY, again: Expr = EMPTY
    ) -> Expr:
        """Names in the order of the schema; guards ``before`` each other name, and once more before a comma."""
        if plan.open is not TRUE or plan.counts:
            return self._machine(plan, origin)
        members: list[Member] = []
        for name in plan.named:
            if not plan.allows_name(name):
                continue
            value = either(*map(self.use, plan.values(name)))
            if value != NEVER:
                place = plan.origin_of(name, origin)
                members.append(
                    self._layout.member(
                        self._writer.quoted(name), value, name in plan.required, place
                    )
                )
        others = []
        for number, cell in enumerate(plan.cells()):
            value = self.use(plan.cell_value(cell))
            if value != NEVER:
                others.append(self._other_member(plan, number, value, before))
        other = either(*others) if others else None
        return self._layout.object(members, other, origin, in_row(again, self._layout.comma))

    def _other_member(
        self, plan: ObjectPlan, number: int, value: Expr, before: Expr = EMPTY
    ) -> Expr:
        """A member with a name of a cell. The empty name is written apart: it has a number in the scope."""
        key = in_row(before, self._writer.cell_name(plan, number))
        member = self._layout.member(key, value, False, None).expr
        if not self._once or not plan.has_empty_name(number):
            return member
        return Alt((member, self._layout.member(_NO_NAME, value, False, None).expr))

    def _machine(self, plan: ObjectPlan | ArrayPlan, origin: Origin) -> Expr:
        """An object or array whose formula is decided as it is read."""
        explored = self._shapes.explored(plan, self._fits)
        edges: list[tuple[int, Expr, int]] = []
        skips: list[tuple[int, int]] = []
        for number, state in enumerate(explored.states):
            for move in explored.moves[number]:
                label = self._labelled(plan, state[0], move.label, move.node, origin)
                edges.append((number, label, explored.of(move.target)))
            if (skip := explored.skips[number]) is not None:
                skips.append((number, explored.of(skip)))
        final = [number for number, state in enumerate(explored.states) if plan.may_end(state)]
        brackets = (b"{", b"}") if isinstance(plan, ObjectPlan) else (b"[", b"]")
        return self._layout.by_states(brackets, len(explored.states), edges, skips, final, origin)

    def _labelled(
        self, plan: ObjectPlan | ArrayPlan, place: int, label: int, node: Node, origin: Origin
    ) -> Expr:
        value = self.use(node)
        if isinstance(plan, ArrayPlan):
            return in_row(value, self._layout.space)
        if place < len(plan.named):
            name = plan.named[place]
            place_of = plan.origin_of(name, origin)
            return self._layout.member(self._writer.quoted(name), value, False, place_of).expr
        return self._other_member(plan, label, value)

    def _distinct_items(self, plan: ArrayPlan, origin: Origin) -> Expr:
        """An array whose items differ."""
        if plan.open is not TRUE:
            reason = "uniqueItems beside other keywords about single items is not enforced"
            raise UnsupportedConstraint(str(origin.pointer), reason)
        if plan.longest or has_structures(self._nodes, plan.item(0)):
            return self._unique.distinct_items(plan, origin, True)
        choices = choices_of(self._nodes, plan.item(0))
        others: list[Expr] = []
        values = list(choices.listed)
        if choices.texts is not None:
            # as among names, the empty text has a number
            some = without_empty(choices.texts)
            values += [""] if 0 in choices.texts.finals else []
            if not some.is_empty:
                others.append(Seq((replace(self._writer.fresh(some, 0), opening=b'"'), QUOTE)))
        if choices.numbers is not None:
            others.append(one_number(choices.numbers, self._notation))
        count = choices.count
        most = plan.most if count is None else min(count, count if plan.most is None else plan.most)
        listed = guarded_choice([self._literal(value, ordered=True) for value in values])
        ample = choices.texts is None or goes_on(without_empty(choices.texts))
        scope = len(values), plan.least, most, choices.numbers is None and ample
        return distinct_items(self._layout, listed, others, scope, origin)

    def _array(self, plan: ArrayPlan, origin: Origin) -> Expr:
        if plan.distinct and (plan.most is None or plan.most > 1):
            return self._distinct_items(plan, origin)
        if plan.open is not TRUE:
            return self._machine(plan, origin)
        prefix: list[Expr] = []
        most = plan.most
        for position in range(plan.longest):
            cell = self.use(plan.item(position))
            if cell == NEVER:
                most = len(prefix) if most is None else min(most, len(prefix))
                break
            prefix.append(cell)
        item = self.use(plan.item(plan.longest))
        tail = None if item == NEVER else item
        return self._layout.array(prefix, tail, plan.least, most, origin)

    def _string(self, formula: Formula, origin: Origin) -> Expr:
        if formula is TRUE:
            return self._writer.any_string
        key = ("string", id(formula))
        known = self._known.get(key)
        if known is None:
            # what is excluded may leave no text
            if surely_possible(formula) and not self._writer.excluded:
                make = partial(self._make_string, formula, origin)
                known = self._writer.flat_rule(key, _readable(str(origin.pointer)), make, origin)
            else:
                known = self._known[key] = self._make_string(formula, origin)
        return known

    def _make_string(self, formula: Formula, origin: Origin) -> Expr:
        for part in plain_parts(formula):
            if isinstance(part, f.Among) and part.positive:
                fit = [value for value in part.values if self._nodes.satisfies(value, formula)]
                return either(*map(self._writer.quoted, fit), origin=origin)
        content = string_content(formula, str(origin.pointer), self._writer.within)
        name = _readable(str(origin.pointer))
        written = self._writer.spelled(content, partial(self._counted, name))
        return in_row(QUOTE, written, QUOTE, origin=origin)

    def _counted(self, name: str, item: Counted) -> Expr:
        """Texts of which a few characters are written at a time, each by a rule."""

        def rule(state: int, length: int) -> Expr:
            make = partial(block, item, state, length, self._character, rule)
            return self._writer.flat_rule(("block", item, state, length), f"{name}/{length}", make)

        return beginning(item, rule)

    def _character(self, ranges: Ranges) -> Expr:
        """A use of the rule for one character out of some ranges."""
        return self._writer.flat_rule(
            ("char", ranges), class_name(ranges), partial(self._writer.character, ranges)
        )

    def _number(self, formula: Formula) -> Expr:
        if formula is TRUE:
            return self._any_number
        for part in plain_parts(formula):
            if isinstance(part, f.Among) and part.positive:
                fit = [value for value in part.values if self._nodes.satisfies(value, formula)]
                if any(isinstance(fact, f.Multiple) and fact.plain for fact in facts_in(formula)):
                    return either(*(Literal(b"%d" % int(decimal(value))) for value in fit))
                return either(*map(self._literal, fit))
        return numbers_in(formula, self._notation)

    # Shared rules

    def _any_object(self) -> Expr:
        def make() -> Expr:
            key = self._writer.other_name(("",)) if self._once else self._writer.any_string
            other = self._layout.member(key, self._value(), False, None).expr
            if self._once:
                none = self._layout.member(_NO_NAME, self._value(), False, None).expr
                other = Alt((other, none))
            return self._scoped(self._layout.object([], other, None), True)

        return self._writer.rule((self.manner, "object"), "object", make)

    def _any_array(self) -> Expr:
        return self._writer.rule(
            (self.manner, "array"),
            "array",
            lambda: self._layout.array([], self._value(), 0, None),
        )

    def _value(self) -> Expr:
        def make() -> Expr:
            scalars = (self._writer.string_itself, self._any_number, BOOLEAN_VALUE, _NULL)
            return Alt((self._any_object(), self._any_array(), *scalars))

        return self._writer.rule((self.manner, "value"), "value", make)

    def _literal(self, value: Any, ordered: bool = False) -> Expr:
        """One given value; numbers in any plain notation of the same value.

        ``ordered``: names in the order given, whatever the option says.
        """
        kind = type_bit(value)
        if kind == NULL:
            return _NULL
        if kind == BOOLEAN:
            return Literal(b"true" if value else b"false")
        if kind & NUMBER:
            return exactly(decimal(value), self._notation)
        if kind == STRING:
            return self._writer.quoted(value)
        if kind == ARRAY:
            cells = [self._literal(item, ordered) for item in value]
            return self._layout.array(cells, None, len(cells), len(cells))
        if self._any_order and not ordered and len(value) > 1:
            listed = [
                Listed(name, number, self._literal(item), 0)
                for number, (name, item) in enumerate(value.items())
            ]
            scope = len(listed), (1 << len(listed)) - 1, 0, None, True, None
            return any_order_object(
                self._layout, self._writer.spell, [(listed, [])], [0], scope, None
            )
        members = [
            self._layout.member(self._writer.quoted(name), self._literal(item, ordered), True, None)
            for name, item in value.items()
        ]
        return self._layout.object(members, None, None)


def _readable(pointer: str) -> str:
    return pointer[2:] if len(pointer) > 2 else "root"

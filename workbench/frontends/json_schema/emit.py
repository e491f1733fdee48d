"""Nodes -> rules: one rule for each object and array, scalars in place.

A rule is written when it is first used; its size is linear in the schemas that it speaks of, times the
states that its open part needs. Scalars are expression objects that their uses share.

Names that are not listed come at most once, and in any order (an option) so do all: both are kept in the
records of scopes, as the items of ``uniqueItems`` are.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace
from functools import partial
from typing import Any

from workbench.automaton.budgets import in_force, too_complex, using
from workbench.automaton.finite import Dfa, to_graph, without_empty
from workbench.errors import GrammarTooComplex, UnsupportedConstraint
from workbench.frontends.json_schema import facts as f
from workbench.frontends.json_schema.anyorder import (
    FEW,
    FEWER,
    FreeMachine,
    Listed,
    Other,
    free_machine,
    free_object,
    unlike_items,
)
from workbench.frontends.json_schema.counted import Counted, beginning, block
from workbench.frontends.json_schema.distinct import (
    choices_of,
    count_names,
    goes_on,
    guarded_choice,
    has_structures,
    is_endless,
    one_number,
)
from workbench.frontends.json_schema.emptiness import placed
from workbench.frontends.json_schema.formula import FALSE, TRUE, Formula, facts_in
from workbench.frontends.json_schema.gathered import Gathered, Writing
from workbench.frontends.json_schema.intervals import numbers_in
from workbench.frontends.json_schema.layout import Layout, Member, either, in_row
from workbench.frontends.json_schema.nodes import KINDS, Node
from workbench.frontends.json_schema.numbers import ANY_NOTATION, Notation, exactly
from workbench.frontends.json_schema.settle import plain_parts
from workbench.frontends.json_schema.shapes import (
    ArrayPlan,
    ObjectPlan,
)
from workbench.frontends.json_schema.spelling import (
    ANY,
    Ranges,
    class_name,
    quoted,
    spell as spell_text,
    spell_class,
)
from workbench.frontends.json_schema.strings import spelled, string_content, surely_possible
from workbench.frontends.json_schema.value_counts import Counter
from workbench.frontends.json_schema.values import (
    ARRAY,
    BOOLEAN,
    NULL,
    NUMBER,
    OBJECT,
    STRING,
    decimal,
    type_bit,
)
from workbench.grammar.ir import (
    EMPTY,
    NEVER,
    Alt,
    CharSet,
    Expr,
    Graph,
    Guard,
    JsonStyle,
    Literal,
    Origin,
    OtherText,
    Ref,
    Repeat,
    Scope,
    Seq,
)
from workbench.grammar.lazy import LazyRules

__all__ = ["ANY_CHARACTER", "ANY_STRING", "Emitter"]

#: Most cases that one object in any order is cut into.
MAX_CASES = 256

_QUOTE = Literal(b'"')
_NULL = Literal(b"null")
#: The empty name, as the first member of its scope; within quotes, so that the guard asks when it ends.
_NO_NAME = Seq((_QUOTE, Guard("take", 1), _QUOTE))
#: The expressions for ``true`` or ``false``, one character of a string, and any string.
BOOLEAN_VALUE = Alt((Literal(b"true"), Literal(b"false")))
ANY_CHARACTER = spell_class(ANY)
_ANY_CONTENT = Repeat(ANY_CHARACTER, 0, None)
ANY_STRING = Seq((_QUOTE, _ANY_CONTENT, _QUOTE))


class Emitter:
    """Names the rules of one grammar and writes each when it is asked for."""

    def __init__(
        self,
        counter: Counter,
        layout: Layout,
        style: JsonStyle = "any",
        notation: Notation = ANY_NOTATION,
        once: bool = True,
    ) -> None:
        self._any_order = counter.any_order
        self._once = once
        self._nodes = counter.nodes
        self._shapes = counter.shapes
        self._emptiness = counter.emptiness
        self._fits = counter.emptiness.fits
        self._layout = layout
        self._style = style
        #: whether characters were left out that there is no way to write
        self.lost = False
        self._spell = self._spelled if style != "any" else spell_class
        self._notation = notation
        self._any_number = numbers_in(TRUE, notation)
        self._any_content: Expr = _ANY_CONTENT
        self._any_string: Expr = ANY_STRING
        if style != "any":
            self._any_content = Repeat(self._spell(ANY), 0, None)
            self._any_string = Seq((_QUOTE, self._any_content, _QUOTE))
        self._string_itself, self._number_itself = self._any_string, self._any_number
        self._uses: dict[int, Expr] = {}
        self._shared: dict[Hashable, Expr] = {}
        self._pending: dict[str, Callable[[], Expr]] = {}
        #: rules are written later, when these may no longer be in force
        self._budgets = in_force()
        #: into how many cases a formula may be cut, and the facts looked at for it and its like
        self._shares: dict[int, tuple[int, list[int]]] = {}
        self._taken: dict[str, int] = {}
        #: rules that hold no whitespace between values
        self.flat: set[str] = set()
        self._gathered = Gathered(
            Writing(
                counter,
                layout,
                self._quoted,
                partial(spell_text, style=style),
                self._rule,
                self._plainly,
                self._fresh,
                self._cell_text,
                self._holds_empty,
                self._member_origin,
                self._ample,
                notation,
            )
        )
        # One rule for all uses: what it allows inside is worked out once.
        self._any_string = self._flat_rule("string", "string", lambda: self._string_itself)

    def _spelled(self, ranges: Ranges) -> Expr:
        """A character in a style of its own."""
        made = spell_class(ranges, style=self._style)
        self.lost = self.lost or made == NEVER
        return made

    def _quoted(self, text: str) -> Expr:
        """A text between its quotes; ``NEVER`` where it cannot be written."""
        made = quoted(text, style=self._style)
        self.lost = self.lost or (made == NEVER and _is_text(text))
        return made

    def rules(self, root: Node) -> tuple[LazyRules, str]:
        """The rules for a node that is not empty, and the name of the start rule."""
        expr = self.use(root)
        space = self._layout.space
        if self._layout.around:
            return self._start(in_row(space, expr, space), "text")
        if isinstance(expr, Ref):
            return LazyRules(self._write, expr.name), expr.name
        return self._start(expr, "root")

    def _start(self, expr: Expr, wanted: str) -> tuple[LazyRules, str]:
        name = self._name(wanted)
        self._pending[name] = lambda: expr
        return LazyRules(self._write, name), name

    def _write(self, name: str) -> Expr:
        with using(self._budgets):
            return self._pending[name]()

    def _name(self, wanted: str) -> str:
        """A rule name that is not taken yet."""
        number = self._taken.get(wanted, 0)
        self._taken[wanted] = number + 1
        if not number:
            return wanted
        return self._name(f"{wanted}~{number + 1}")

    def _rule(
        self, key: Hashable, name: str, make: Callable[[], Expr], origin: Origin | None = None
    ) -> Expr:
        """A rule shared by everything with the same key."""
        known = self._shared.get(key)
        if known is None:
            made = Ref(self._name(name), origin=origin)
            known = self._shared[key] = made
            self._pending[made.name] = make
        return known

    def _flat_rule(
        self, key: Hashable, name: str, make: Callable[[], Expr], origin: Origin | None = None
    ) -> Expr:
        """A shared rule for (part of) a scalar."""
        made = self._rule(key, name, make, origin)
        assert isinstance(made, Ref)
        self.flat.add(made.name)
        return made

    # Values of a node

    def use(self, node: Node) -> Expr:
        """The expression for a value of this node; ``NEVER`` when there is none."""
        known = self._uses.get(node.index)
        if known is not None:
            return known
        if self._emptiness.holds(node):
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
        key = (kind, id(formula))
        known = self._shared.get(key)
        if known is None:
            pointer = self._nodes.pointers.get(id(formula), "#")
            if not self._emptiness.possible_kind(kind, formula, self._fits, pointer):
                known = self._shared[key] = NEVER
            else:
                origin = Origin(pointer=pointer)
                make = partial(self._placed, kind, formula, origin)
                known = self._rule(key, _readable(pointer), make, origin)
        return known

    def _placed(self, kind: int, formula: Formula, origin: Origin) -> Expr:
        """As ``_written``; a budget that is used up there is named with the place in the schema."""
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
                return self._free(*joint, origin)
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
    ) -> tuple[ObjectPlan, FreeMachine] | None:
        """One small machine for alternatives with other names: these come once in one scope, not in each."""
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
            return plan, free_machine(plan, self._shapes.weaver, self._fits, FEWER)
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
        count += any(self._holds_empty(plan, number) for number in cells)
        expr = self._in_order(plan, origin, Guard("other"), Guard("may", 0, True))
        return expr if expr == NEVER else Scope(expr, 1, 0, 0, count, origin=origin)

    def _scoped(self, expr: Expr, others: bool, plan: ObjectPlan | None = None) -> Expr:
        """An object, with a record of the names that are not listed where there are such."""
        if not (others and self._once) or expr == NEVER:
            return expr
        names = plan is None or self._ample(plan)
        return Scope(expr, 1, names=names, origin=expr.origin)

    def _ample(self, plan: ObjectPlan) -> bool:
        """Whether each beginning of a name that is not listed goes on in any number of ways."""
        found = [plan.cell_names(number) for number in range(len(plan.cells()))]
        return all(names is None or goes_on(without_empty(names)) for names in found)

    def _in_any_order(self, plan: ObjectPlan, origin: Origin) -> Expr:
        if plan.open is not TRUE:
            plan.list_few()
            apart = self._apart(plan, origin)
            if isinstance(apart, Expr):
                return apart
            machine = apart
        else:
            machine = free_machine(plan, self._shapes.weaver, self._fits)
        return self._free(plan, machine, origin)

    def _free(self, plan: ObjectPlan, machine: FreeMachine, origin: Origin) -> Expr:
        states: list[tuple[list[Listed], list[Other]]] = []
        for moves in machine.moves:
            listed: list[Listed] = []
            others: list[Other] = []
            for move in moves:
                value = self.use(move.node)
                if not move.listed:
                    key = self._cell_name(plan, move.label)
                    asks = move.before, move.asks
                    others.append(Other(key, value, move.target, *asks))
                    if self._once and self._holds_empty(plan, move.label):
                        number = len(plan.named)
                        listed.append(Listed("", number, value, move.target, None, *asks))
                    continue
                name = plan.named[move.label]
                if self._quoted(name) != NEVER:
                    place = self._member_origin(plan, name, origin)
                    asks = move.before, move.asks
                    listed.append(Listed(name, move.label, value, move.target, place, *asks))
            states.append((listed, others))
        most = machine.most
        written = {move.label for moves in machine.moves for move in moves if not move.listed}
        count = count_names(plan, written) if self._once else None
        if count is not None:
            count += len({one.number for listed, _ in states for one in listed})
            most = count if most is None else min(most, count)
        names = not self._once or self._ample(plan)
        scope = len(plan.named) + 1, machine.required, machine.least, most, names, None
        spell = partial(spell_text, style=self._style)
        return free_object(self._layout, spell, states, machine.finals, scope, origin)

    def _apart(self, plan: ObjectPlan, origin: Origin) -> Expr | FreeMachine:
        """The machine of an object with an open part, or its cases where that would be large."""
        weaver = self._shapes.weaver
        share, spent = self._shares.get(id(plan.formula), (MAX_CASES, [0]))
        found = None
        before = weaver.total
        try:
            return free_machine(plan, weaver, self._fits, FEW)
        except GrammarTooComplex:
            found = self._shapes.cases.of(plan.formula)
            if found is None or len(found) > share:
                return free_machine(plan, weaver, self._fits)
        finally:
            spent[0] += weaver.total - before
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
                place = self._member_origin(plan, name, origin)
                members.append(
                    self._layout.member(self._quoted(name), value, name in plan.required, place)
                )
        others = []
        for number, cell in enumerate(plan.cells()):
            value = self.use(plan.cell_value(cell))
            if value != NEVER:
                others.append(self._other_member(plan, number, value, before))
        other = either(*others) if others else None
        return self._layout.object(members, other, origin, in_row(again, self._layout.comma))

    def _member_origin(self, plan: ObjectPlan, name: str, origin: Origin) -> Origin:
        for rule in plan.rules:
            if (schema := rule.names.get(name)) is not None:
                return Origin(pointer=schema.pointer)
        return origin

    def _other_member(
        self, plan: ObjectPlan, number: int, value: Expr, before: Expr = EMPTY
    ) -> Expr:
        """A member with a name of a cell. The empty name is written apart: it has a number in the scope."""
        key = in_row(before, self._cell_name(plan, number))
        member = self._layout.member(key, value, False, None).expr
        if not self._once or not self._holds_empty(plan, number):
            return member
        return Alt((member, self._layout.member(_NO_NAME, value, False, None).expr))

    def _holds_empty(self, plan: ObjectPlan, number: int) -> bool:
        """Whether the empty name is in a cell."""
        names = plan.cell_names(number)
        return "" not in plan.named if names is None else 0 in names.finals

    def _cell_name(self, plan: ObjectPlan, number: int) -> Expr:
        """How a name of a cell is written, quotes included; without the empty one where names come once.

        ``NEVER`` when there is no other.
        """
        cell = plan.cells()[number]
        if cell.content is None:
            if not self._once:
                return (
                    self._other_name(tuple(sorted(plan.named))) if plan.named else self._any_string
                )
            return self._other_name(tuple(sorted({"", *plan.named})))
        known = self._shared.get(("cell", id(cell)))
        if known is None:
            content: Expr = spelled(cell.content, self._spell, self._style)
            if self._once:
                content = self._cell_text(plan, number) or NEVER
            known = self._shared["cell", id(cell)] = in_row(_QUOTE, content, _QUOTE)
        return known

    def _cell_text(self, plan: ObjectPlan, number: int) -> OtherText | None:
        """A name of a cell that comes once and is not empty, without its quotes."""
        names = plan.cell_names(number)
        if names is None:
            texts = tuple(sorted({"", *plan.named}))
            return OtherText(texts, self._any_content, True, style=self._style)
        some = without_empty(names)
        return None if some.is_empty else self._fresh(some, number + 1)

    def _other_name(self, names: tuple[str, ...]) -> Expr:
        """A name that is none of these."""
        known = self._shared.get(("name", names))
        if known is None:
            content = OtherText(names, self._any_content, self._once, style=self._style)
            known = self._shared["name", names] = Seq((_QUOTE, content, _QUOTE))
        return known

    def _fresh(self, dfa: Dfa, cell: int) -> OtherText:
        """What stands between the quotes of a text that has not come before in its scope."""
        graph = to_graph(dfa, CharSet)
        if is_endless(dfa):
            body = spelled(graph, self._spell, self._style)
            return OtherText((), body, True, cell)
        return OtherText((), self._plainly(graph), True, cell, graph)

    def _plainly(self, graph: Graph) -> Expr:
        """A graph over characters as they stand in a string, escapes only where they have to be."""
        style = "ascii" if self._style == "ascii" else "plain"
        return spelled(graph, partial(spell_class, style=style), style)

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
        return self._layout.woven(brackets, len(explored.states), edges, skips, final, origin)

    def _labelled(
        self, plan: ObjectPlan | ArrayPlan, place: int, label: int, node: Node, origin: Origin
    ) -> Expr:
        value = self.use(node)
        if isinstance(plan, ArrayPlan):
            return in_row(value, self._layout.space)
        if place < len(plan.named):
            name = plan.named[place]
            place_of = self._member_origin(plan, name, origin)
            return self._layout.member(self._quoted(name), value, False, place_of).expr
        return self._other_member(plan, label, value)

    def _unlike(self, plan: ArrayPlan, origin: Origin) -> Expr:
        """An array whose items differ."""
        if plan.open is not TRUE:
            reason = "uniqueItems beside other keywords about single items is not enforced"
            raise UnsupportedConstraint(str(origin.pointer), reason)
        if plan.longest or has_structures(self._nodes, plan.item(0)):
            return self._gathered.unlike(plan, origin, True)
        choices = choices_of(self._nodes, plan.item(0))
        others: list[Expr] = []
        values = list(choices.listed)
        if choices.texts is not None:
            # as among names, the empty text has a number
            some = without_empty(choices.texts)
            values += [""] if 0 in choices.texts.finals else []
            if not some.is_empty:
                others.append(Seq((replace(self._fresh(some, 0), opening=b'"'), _QUOTE)))
        if choices.numbers is not None:
            others.append(one_number(choices.numbers, self._notation))
        count = choices.count
        most = plan.most if count is None else min(count, count if plan.most is None else plan.most)
        listed = guarded_choice([self._literal(value, ordered=True) for value in values])
        ample = choices.texts is None or goes_on(without_empty(choices.texts))
        scope = len(values), plan.least, most, choices.numbers is None and ample
        return unlike_items(self._layout, listed, others, scope, origin)

    def _array(self, plan: ArrayPlan, origin: Origin) -> Expr:
        if plan.distinct and (plan.most is None or plan.most > 1):
            return self._unlike(plan, origin)
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
            return self._any_string
        key = ("string", id(formula))
        known = self._shared.get(key)
        if known is None:
            if surely_possible(formula):
                make = partial(self._make_string, formula, origin)
                known = self._flat_rule(key, _readable(str(origin.pointer)), make, origin)
            else:
                known = self._shared[key] = self._make_string(formula, origin)
        return known

    def _make_string(self, formula: Formula, origin: Origin) -> Expr:
        for part in plain_parts(formula):
            if isinstance(part, f.Among) and part.positive:
                fit = [value for value in part.values if self._nodes.satisfies(value, formula)]
                return either(*map(self._quoted, fit), origin=origin)
        content = string_content(formula, str(origin.pointer))
        name = _readable(str(origin.pointer))
        written = spelled(content, self._spell, self._style, partial(self._counted, name))
        return in_row(_QUOTE, written, _QUOTE, origin=origin)

    def _counted(self, name: str, item: Counted) -> Expr:
        """Texts of which a few characters are written at a time, each by a rule."""

        def rule(state: int, length: int) -> Expr:
            make = partial(block, item, state, length, self._character, rule)
            return self._flat_rule(("block", item, state, length), f"{name}/{length}", make)

        return beginning(item, rule)

    def _character(self, ranges: Ranges) -> Expr:
        """A use of the rule for one character out of some ranges."""
        return self._flat_rule(("char", ranges), class_name(ranges), partial(self._spell, ranges))

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
            key = self._other_name(("",)) if self._once else self._any_string
            other = self._layout.member(key, self._value(), False, None).expr
            if self._once:
                none = self._layout.member(_NO_NAME, self._value(), False, None).expr
                other = Alt((other, none))
            return self._scoped(self._layout.object([], other, None), True)

        return self._rule("object", "object", make)

    def _any_array(self) -> Expr:
        return self._rule("array", "array", lambda: self._layout.array([], self._value(), 0, None))

    def _value(self) -> Expr:
        def make() -> Expr:
            scalars = (self._string_itself, self._number_itself, BOOLEAN_VALUE, _NULL)
            return Alt((self._any_object(), self._any_array(), *scalars))

        return self._rule("value", "value", make)

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
            return self._quoted(value)
        if kind == ARRAY:
            cells = [self._literal(item, ordered) for item in value]
            return self._layout.array(cells, None, len(cells), len(cells))
        if self._any_order and not ordered and len(value) > 1:
            listed = [
                Listed(name, number, self._literal(item), 0)
                for number, (name, item) in enumerate(value.items())
            ]
            scope = len(listed), (1 << len(listed)) - 1, 0, None, True, None
            spell = partial(spell_text, style=self._style)
            return free_object(self._layout, spell, [(listed, [])], [0], scope, None)
        members = [
            self._layout.member(self._quoted(name), self._literal(item, ordered), True, None)
            for name, item in value.items()
        ]
        return self._layout.object(members, None, None)


def _is_text(name: str) -> bool:
    return not any(0xD800 <= ord(char) <= 0xDFFF for char in name)


def _readable(pointer: str) -> str:
    return pointer[2:] if len(pointer) > 2 else "root"

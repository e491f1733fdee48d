"""The emitter for arrays whose items must be distinct, and for the values inside of them.

Such an array has to remember the values that came in it. Where these can be objects or arrays, the rules inside
are written once more, as scopes that collect their value (:class:`~workbench.grammar.ir.Gather`): each says
what its value is made of, and in how many ways it can still be completed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal as OneOf

from workbench.automaton.finite import Dfa, determinise, without_empty
from workbench.automaton.network import MANY
from workbench.frontends.json_schema.containers.any_order import Listed, Other, any_order_object
from workbench.frontends.json_schema.containers.array_plan import ArrayPlan
from workbench.frontends.json_schema.containers.distinct import (
    ample_names,
    is_written,
    listed_texts,
    number_texts,
    one_number,
    some_texts,
    string_texts,
    tree_of,
)
from workbench.frontends.json_schema.containers.object_plan import ObjectPlan
from workbench.frontends.json_schema.containers.value_counts import Named, ValueCounter, is_distinct
from workbench.frontends.json_schema.emit.any_value import QUOTE
from workbench.frontends.json_schema.emit.writer import Writer
from workbench.frontends.json_schema.logic.formula import FALSE, TRUE, Formula
from workbench.frontends.json_schema.logic.nodes import KINDS, Node
from workbench.frontends.json_schema.scalars.numbers import Notation
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
from workbench.frontends.json_schema.text.whitespace import either, in_row
from workbench.grammar.ir import (
    NEVER,
    Expr,
    Gather,
    Graph,
    Guard,
    Literal,
    Origin,
    OtherText,
    Scope,
    Seq,
)

__all__ = ["UniqueEmitter"]

_OTHER, _END, _BETWEEN = Guard("other"), Guard("end"), Guard("between")
#: what scalars are as constants
_CONSTANTS = [Guard("value", 1 << i) for i in range(4)]
_NULL, _TRUE, _FALSE, _NO_TEXT = _CONSTANTS
_WORDS = ((None, _NULL, b"null"), (True, _TRUE, b"true"), (False, _FALSE, b"false"))
#: more strings than these are written as a tree
_FEW_TEXTS = 200


def _taken(guard: Guard, outermost: bool) -> Expr:
    """A constant that may come once is read; outside of the outermost array its value is not collected."""
    take = Guard("take", 1 << _CONSTANTS.index(guard))
    return take if outermost else Seq((take, guard))


class UniqueEmitter:
    """Writes values as scopes that collect them, and the arrays with distinct items around them."""

    def __init__(self, counter: ValueCounter, writer: Writer, notation: Notation) -> None:
        self._writer = writer
        self._layout = writer.layout
        self._notation = notation
        self._uses: dict[int, Expr] = {}
        self._n_scopes = 0
        self._counter = counter
        self._nodes = counter.nodes
        self._shapes = counter.shapes
        self._emptiness = counter.emptiness
        self._any_order = counter.any_order

    def _gather(
        self,
        kind: OneOf["object", "array"],
        counts: tuple[int, ...],
        names: tuple[str, ...] = (),
        ordered: bool = False,
        **how: bool,
    ) -> Gather:
        """How one more scope collects its value."""
        self._n_scopes += 1
        return Gather(kind, counts, names, ordered, number=self._n_scopes, **how)

    # Values

    def value(self, node: Node) -> Expr:
        """A value of a node, collected; ``NEVER`` when there is none."""
        known = self._uses.get(node.index)
        if known is None:
            known = NEVER
            if not self._emptiness.is_empty(node):
                formulas = [self._nodes.formula(node, kind) for kind in KINDS]
                origin = Origin(pointer=node.pointer)
                known = either(*map(self._kind, KINDS, formulas), origin=origin)
            self._uses[node.index] = known
        return known

    def _kind(self, kind: int, formula: Formula) -> Expr:
        if formula is FALSE:
            return NEVER
        if kind == STRING:
            return self.text(formula)
        if kind == NUMBER:
            return self.numbers(number_texts(self._nodes, formula))
        if kind in (BOOLEAN, NULL):
            return either(
                *(
                    Seq((guard, Literal(text)))
                    for value, guard, text in _WORDS
                    if type_bit(value) == kind and self._nodes.satisfies(value, formula)
                )
            )
        return self.structure(kind, formula)

    def text(self, formula: Formula, fresh: bool = False, gathers: bool = True) -> Expr:
        """The strings of a formula; among ``fresh`` ones the caller writes the empty one."""
        listed = listed_texts(self._nodes, formula)
        if listed is None or len(listed) <= _FEW_TEXTS:
            return self.strings(string_texts(self._nodes, formula), fresh, gathers)
        graph = tree_of(sorted(text for text in listed if text))
        body = self._writer.spell_graph(graph)
        text = OtherText((), body, True, 0, graph)
        return self._quoted(text, "" in listed, fresh, gathers)

    def strings(self, texts: Dfa, fresh: bool = False, gathers: bool = True) -> Expr:
        """Strings; ``fresh`` ones do not come twice in the scope around them, which collects (``gathers``) or not."""
        some = without_empty(texts)
        text = None if some.is_empty else self._writer.fresh(some, 0)
        return self._quoted(text, 0 in texts.finals, fresh, gathers)

    def _quoted(self, text: OtherText | None, empty: bool, fresh: bool, gathers: bool) -> Expr:
        """Strings of a text that is not empty, and the ``empty`` one where the caller does not write it."""
        out: list[Expr] = []
        if text is not None:
            role: OneOf["", "string"] = "string" if gathers else ""
            text = replace(text, fresh=fresh, role=role, opening=b'"')
            out.append(Seq((text, QUOTE)))
        if empty and not fresh:
            out.append(Seq((_NO_TEXT, Literal(b'""'))))
        return either(*out)

    def numbers(self, texts: Dfa, fresh: bool = False, gathers: bool = True) -> Expr:
        """Numbers, in the one notation that each has."""
        if texts.is_empty:
            return NEVER
        return replace(
            one_number(texts, self._notation), fresh=fresh, role="number" if gathers else ""
        )

    def structure(self, kind: int, formula: Formula) -> Expr:
        """Objects or arrays: a use of the rule for their formula."""
        pointer = self._nodes.pointers.get(id(formula), "#")
        if formula is not TRUE and not self._emptiness.possible_kind(
            kind, formula, self._emptiness.fits, pointer
        ):
            return NEVER
        origin = Origin(pointer=pointer)
        name = pointer[2:] or "root"
        if formula is TRUE:
            name = "object" if kind == OBJECT else "array"
        return self._writer.rule(
            ("collected", kind, id(formula)),
            f"{name}, one of several",
            lambda: self._written(kind, formula, origin),
            origin,
        )

    def _written(self, kind: int, formula: Formula, origin: Origin) -> Expr:
        nodes = self._nodes
        if formula is TRUE:
            plan = ObjectPlan(nodes, TRUE) if kind == OBJECT else ArrayPlan(nodes, TRUE)
            return self._planned(plan, origin)
        shape = self._shapes.of(kind, formula)
        if shape.values is not None:
            values = [value for value in shape.values if is_written(value)]
            return either(*map(self.literal, values), origin=origin)
        if shape.either is not None:
            for one in shape.either:
                nodes.pointers.setdefault(id(one), str(origin.pointer))
            found = {id(part): part for part in (self._kind(kind, p) for p in shape.either)}
            return either(*found.values(), origin=origin)
        assert shape.plan is not None
        return self._planned(shape.plan, origin)

    def _planned(self, plan: ObjectPlan | ArrayPlan, origin: Origin) -> Expr:
        if isinstance(plan, ArrayPlan):
            distinct = is_distinct(plan)
            return (
                self.distinct_items(plan, origin, False) if distinct else self._array(plan, origin)
            )
        if not self._counter.has_endless_names(plan):
            found = self._counter.alternatives(plan)
            return either(*(self._closed(plan, one, origin) for one in found), origin=origin)
        if self._any_order or (plan.open is TRUE and not plan.counts):
            return self._open(plan, origin)
        return self._by_states(plan, origin)

    # Objects

    def _closed(self, plan: ObjectPlan, found: Sequence[Named], origin: Origin) -> Expr:
        """An object with no other names than those listed."""
        members = [
            (
                one.name,
                either(*map(self.value, one.nodes)),
                self._counter.any_of(one.nodes),
                one.required,
                plan.origin_of(one.name, origin),
            )
            for one in found
            if self._writer.quoted(one.name) != NEVER
        ]
        if plan.least > len(members) or (plan.most is not None and plan.most < plan.least):
            return NEVER
        ordered = not self._any_order
        return self._members(members, ordered, origin, plan.least, plan.most)

    def _members(
        self,
        members: Sequence[tuple[str, Expr, int, bool, Origin | None]],
        ordered: bool,
        origin: Origin | None,
        least: int = 0,
        most: int | None = None,
    ) -> Expr:
        """An object with these members: name, value, number of values, whether it has to come, origin."""
        layout = self._layout
        begin, first, key, read, after, end = range(6)
        close = Literal(b"}")
        edges: list[tuple[int, Expr, int]] = [
            (begin, in_row(Literal(b"{"), layout.space), first),
            (first, Seq((_END, close)), end),
        ]
        if members:
            may = Guard("may", (1 << len(members)) - 1)
            edges += [
                (first, in_row(may, layout.first), key),
                (read, _BETWEEN, after),
                (after, in_row(may, layout.comma), key),
                (after, in_row(_END, layout.last, close), end),
            ]
        for number, (name, value, _, _, place) in enumerate(members):
            quoted = in_row(Guard("take", 1 << number), self._writer.quoted(name))
            edges.append((key, layout.member(quoted, value, False, place).expr, read))
        graph = layout.nested(Graph(6, begin, (end,), tuple(edges), origin=origin))
        required = sum(1 << i for i, member in enumerate(members) if member[3])
        counts = tuple(member[2] for member in members)
        gather = self._gather("object", counts, tuple(member[0] for member in members), ordered)
        return Scope(graph, len(members), required, least, most, True, gather, origin=origin)

    def _open(self, plan: ObjectPlan, origin: Origin) -> Expr:
        """An object that any number of other names can be added to, or any order of members."""
        machine = self._counter.machine(plan)
        states: list[tuple[list[Listed], list[Other]]] = []
        for moves in machine.moves:
            listed: list[Listed] = []
            others: list[Other] = []
            for move in moves:
                value, target, asks = self.value(move.node), move.target, (move.before, move.asks)
                if move.listed:
                    name = plan.named[move.label]
                    if self._writer.quoted(name) != NEVER:
                        place = plan.origin_of(name, origin)
                        listed.append(Listed(name, move.label, value, target, place, *asks))
                    continue
                keys = self._names(plan, move.label)
                others += [Other(key, value, target, *asks) for key in keys]
                if plan.has_empty_name(move.label):
                    listed.append(Listed("", len(plan.named), value, target, None, *asks))
            states.append((listed, others))
        names = (*plan.named, "")
        gather = self._gather("object", (MANY,) * len(names), names, ample=True)
        bounds = machine.required, machine.least, machine.most
        if not self._any_order:
            return self._ordered(plan, states[0], gather, machine.required, origin)
        scope = len(names), *bounds, ample_names(plan), gather
        return any_order_object(
            self._layout, self._writer.spell, states, machine.finals, scope, origin
        )

    def _names(self, plan: ObjectPlan, cell: int) -> list[Expr]:
        """The names of a cell of an object, the empty one apart."""
        text = self._writer.cell_text(plan, cell)
        return [] if text is None else [Seq((QUOTE, replace(text, role="name"), QUOTE))]

    def _ordered(
        self,
        plan: ObjectPlan,
        state: tuple[list[Listed], list[Other]],
        gather: Gather,
        required: int,
        origin: Origin,
    ) -> Expr:
        """Listed names in their order, then any others."""
        layout = self._layout
        values: dict[int, list[Listed]] = {}
        for one in state[0]:
            values.setdefault(one.number, []).append(one)
        empty = values.pop(len(plan.named), [])
        listed = [
            replace(same[0], value=either(*(one.value for one in same)))
            for _, same in sorted(values.items())
        ]
        members = [
            layout.member(
                in_row(Guard("name", 1 << one.number), self._writer.quoted(one.name)),
                one.value,
                bool(required >> one.number & 1),
                one.origin,
            )
            for one in listed
        ]
        others = [layout.member(one.key, one.value, False, None).expr for one in state[1]]
        # the empty name is no text that is watched: it has a number, and comes once by it
        take = Guard("take", 1 << len(plan.named))
        none = Seq((QUOTE, take, QUOTE))
        others += [layout.member(none, one.value, False, None).expr for one in empty]
        graph = layout.object(members, either(*others) if others else None, origin, closing=_END)
        ample = ample_names(plan)
        return Scope(graph, len(plan.named) + 1, 0, 0, None, ample, gather, origin=origin)

    def _by_states(self, plan: ObjectPlan, origin: Origin) -> Expr:
        """An object in order whose formula is decided as it is read."""
        layout = self._layout
        explored = self._shapes.explored(plan, self._emptiness.fits)
        edges: list[tuple[int, Expr, int]] = []
        skips: list[tuple[int, int]] = []
        names = (*plan.named, "")
        for number, state in enumerate(explored.states):
            for move in explored.moves[number]:
                value, target = self.value(move.node), explored.of(move.target)
                if state[0] < len(plan.named):
                    name = plan.named[state[0]]
                    place = plan.origin_of(name, origin)
                    key = in_row(Guard("name", 1 << state[0]), self._writer.quoted(name))
                    edges.append((number, layout.member(key, value, False, place).expr, target))
                    continue
                keys = self._names(plan, move.label)
                if plan.has_empty_name(move.label):
                    keys.append(Seq((QUOTE, Guard("take", 1 << len(plan.named)), QUOTE)))
                edges += [
                    (number, layout.member(key, value, False, None).expr, target) for key in keys
                ]
            if (skip := explored.skips[number]) is not None:
                skips.append((number, explored.of(skip)))
        final = [number for number, state in enumerate(explored.states) if plan.may_end(state)]
        graph = layout.by_states(
            (b"{", b"}"), len(explored.states), edges, skips, final, origin, closing=_END
        )
        gather = self._gather("object", (MANY,) * len(names), names, ample=True)
        ample = ample_names(plan)
        return Scope(graph, len(names), 0, 0, None, ample, gather, origin=origin)

    # Arrays

    def _array(self, plan: ArrayPlan, origin: Origin) -> Expr:
        items = [self.value(plan.item(position)) for position in range(plan.longest + 1)]
        count = self._counter.node(plan.item(plan.longest))
        ample = plan.longest > 0
        gather = self._gather("array", (count,), ample=ample)
        return self._list(items, plan.least, plan.most, gather, origin)

    def _list(
        self,
        items: Sequence[Expr],
        least: int,
        most: int | None,
        gather: Gather,
        origin: Origin | None,
        tail: bool = True,
    ) -> Expr:
        """An array: the items in order, the last of them any number of times (unless ``tail`` is false)."""
        layout = self._layout
        n = len(items)
        begin, end = 2 * n + 1, 2 * n + 2
        close = Literal(b"]")
        edges: list[tuple[int, Expr, int]] = [
            (begin, in_row(Literal(b"["), layout.space), 0),
            (0, Seq((_END, close)), end),
        ]
        for number, item in enumerate(items):
            here, read = 2 * number, 2 * number + 1
            before = layout.comma if number else layout.first
            if item != NEVER:
                edges.append((here, in_row(_OTHER, before, item, layout.space), read))
                edges.append((read, _BETWEEN, here + 2))
                edges.append((here + 2, in_row(_END, layout.last, close), end))
        if tail and items[-1] != NEVER:
            again = in_row(_OTHER, layout.comma, items[-1], layout.space)
            edges.append((2 * n, again, 2 * n - 1))
        graph = layout.nested(Graph(2 * n + 3, begin, (end,), tuple(edges), origin=origin))
        return Scope(graph, 0, 0, least, most, True, gather, origin=origin)

    def distinct_items(self, plan: ArrayPlan, origin: Origin, outermost: bool) -> Expr:
        """An array whose items are distinct, inside of another one or (``outermost``) not.

        Constants are members with a number, the same at all positions; other values are compared by content.
        """
        layout = self._layout
        if plan.longest:
            first = [plan.item(n) for n in range(plan.longest)]
            self._counter.prefixed(first, plan.item(plan.longest))
        found = [self._different(plan.item(n), outermost) for n in range(plan.longest + 1)]
        most, total = plan.most, self._counter.node(plan.item(plan.longest))
        for number, (constants, others) in enumerate(found):
            if not constants and not others:
                most = number if most is None else min(number, most)
                found = found[:number]
                break
        if not plan.longest and total < MANY:
            most = total if most is None else min(total, most)
        if most is not None and plan.least > most:
            return NEVER
        n = len(found)
        begin, end = 3 * n, 3 * n + 1
        close = Literal(b"]")
        edges: list[tuple[int, Expr, int]] = [
            (begin, in_row(Literal(b"["), layout.space), 2),
            (2, Seq((_END, close)), end),
        ]
        mays: list[Expr] = []
        for number, (constants, others) in enumerate(found):
            # what has been read before this item, what waits for it, what has read it
            key, read, before = 3 * number, 3 * number + 1, 3 * number + 2
            every = sum(1 << _CONSTANTS.index(guard) for guard, _ in constants)
            mays.append(Guard("may", every, bool(others)))
            edges.append((before, in_row(mays[-1], layout.comma if number else layout.first), key))
            edges += [
                (key, in_row(_taken(guard, outermost), text, layout.space), read)
                for guard, text in constants
            ]
            edges += [(key, in_row(_OTHER, one, layout.space), read) for one in others]
            after = before + 3 if number < n - 1 else 3 * n + 2
            edges.append((read, _BETWEEN, after))
            edges.append((after, in_row(_END, layout.last, close), end))
        if n > plan.longest:
            edges.append((3 * n + 2, in_row(mays[-1], layout.comma), 3 * n - 3))
        graph = layout.nested(Graph(3 * n + 3, begin, (end,), tuple(edges), origin=origin))
        gather = self._gather("array", (total,), distinct=True, outermost=outermost)
        return Scope(graph, len(_CONSTANTS), 0, plan.least, most, False, gather, origin=origin)

    def _different(
        self, node: Node, outermost: bool
    ) -> tuple[list[tuple[Guard, Expr]], list[Expr]]:
        """Distinct items of a node: the constants with their guards, and the others."""
        constants: list[tuple[Guard, Expr]] = []
        others: list[Expr] = []
        if self._emptiness.is_empty(node):
            return constants, others
        for kind in KINDS:
            formula = self._nodes.formula(node, kind)
            if formula is FALSE:
                continue
            if kind == STRING:
                if self._nodes.satisfies("", formula):
                    constants.append((_NO_TEXT, Literal(b'""')))
                others.append(self.text(formula, True, not outermost))
            elif kind == NUMBER:
                numbers = number_texts(self._nodes, formula)
                others.append(self.numbers(numbers, True, not outermost))
            elif kind in (BOOLEAN, NULL):
                constants += [
                    (guard, Literal(text))
                    for value, guard, text in _WORDS
                    if type_bit(value) == kind and self._nodes.satisfies(value, formula)
                ]
            else:
                others.append(self.structure(kind, formula))
        return constants, [one for one in others if one != NEVER]

    def literal(self, value: Any) -> Expr:
        """One given value."""
        kind = type_bit(value)
        if kind == NULL:
            return Seq((_NULL, Literal(b"null")))
        if kind == BOOLEAN:
            return Seq((_TRUE, Literal(b"true")) if value else (_FALSE, Literal(b"false")))
        if kind & NUMBER:
            return self.numbers(some_texts([decimal(value)]))
        if kind == STRING:
            return self.strings(determinise(Literal(value.encode())))
        if kind == ARRAY:
            cells = [self.literal(item) for item in value]
            n = len(cells)
            gather = self._gather("array", (1,))
            if not cells:
                return self._list([NEVER], 0, 0, gather, None)
            return self._list(cells, n, n, gather, None, tail=False)
        members = [(name, self.literal(item), 1, True, None) for name, item in value.items()]
        return self._members(members, not self._any_order, None)

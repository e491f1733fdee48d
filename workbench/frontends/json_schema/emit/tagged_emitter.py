"""Values of nodes between tags, by a :class:`TagStyle`: the arguments of a call as a family of models writes them.

Members come in the order of the schema, or in any. What JSON has in quotes is written as it is, without the text that
ends it.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

from workbench.automaton.finite import Dfa, complement, determinise, intersect, minimise, to_graph
from workbench.errors import UnsupportedConstraint
from workbench.frontends.json_schema.containers.array_plan import ArrayPlan
from workbench.frontends.json_schema.containers.object_plan import NameCell, ObjectPlan
from workbench.frontends.json_schema.containers.value_counts import ValueCounter
from workbench.frontends.json_schema.emit.emitter import Emitter
from workbench.frontends.json_schema.emit.tag_styles import TAG_STYLES
from workbench.frontends.json_schema.emit.tagged_members import TaggedMember, in_any_order
from workbench.frontends.json_schema.emit.writer import Writer
from workbench.frontends.json_schema.logic.formula import FALSE, TRUE, Formula
from workbench.frontends.json_schema.logic.nodes import KINDS, Node
from workbench.frontends.json_schema.logic.strings import string_content
from workbench.frontends.json_schema.scalars.counted import Counted, beginning, block
from workbench.frontends.json_schema.scalars.numbers import Notation
from workbench.frontends.json_schema.text.json_spelling import Ranges, class_name
from workbench.frontends.json_schema.text.json_values import (
    ARRAY,
    NUMBER,
    OBJECT,
    STRING,
    type_bit,
)
from workbench.frontends.json_schema.text.whitespace import Member, either, in_row
from workbench.grammar.ir import (
    EMPTY,
    NEVER,
    CharSet,
    Expr,
    Graph,
    Literal,
    Marker,
    Origin,
    Repeat,
    Seq,
    literal,
)
from workbench.grammar.lazy import LazyRules
from workbench.grammar.rewriting import rewrite
from workbench.grammar.until import without

__all__ = ["TaggedEmitter"]

_LETTERS = ((0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A))
#: A name that is not listed: letters, digits and underscores.
_NAME = Seq((CharSet(_LETTERS), Repeat(CharSet(((0x30, 0x39), *_LETTERS)), 0, None)))
#: What no bare name holds.
_BARE = frozenset(' \t\r\n:,{}[]<>"|')
#: The values of each kind, in the order in which a text is read.
_Contents = dict[int, list[Expr]]


class TaggedEmitter(Emitter):
    """Writes objects with their members between tags, all else as the style says."""

    def __init__(
        self, counter: ValueCounter, writer: Writer, notation: Notation, style: str
    ) -> None:
        super().__init__(counter, writer, notation)
        self.manner = style
        self._style = TAG_STYLES[style]
        #: what texts may hold: neither what ends them nor what is excluded
        self._within = minimise(determinise(without(writer.excluded)))
        self._names = minimise(intersect(determinise(_NAME), self._within))
        self._once = False
        #: writes the values of members where these are JSON
        self._inner = Emitter(counter, writer, notation) if self._style.inner == "json" else self
        self._bare = self._style.inner == "bare"

    def rules(self, root: Node) -> tuple[LazyRules, str]:
        """The rules for the objects of a node, and the name of the start rule. Raises ``UnsupportedConstraint``."""
        formula = self._nodes.formula(root, OBJECT)
        if formula is FALSE:
            raise UnsupportedConstraint(
                root.pointer, f"only objects can be written in the style {self.manner!r}"
            )
        expr = self._kind(Origin(pointer=root.pointer), OBJECT, formula)
        return self._writer.started(expr, "root")

    # -- members -----------------------------------------------------------------------------------

    def _contents(self, nodes: Iterable[Node]) -> _Contents:
        """The values of some nodes, by kind."""
        found: _Contents = {}
        for node in nodes:
            if self._emptiness.is_empty(node):
                continue
            for kind in KINDS:
                formula = self._nodes.formula(node, kind)
                if formula is FALSE:
                    continue
                expr = self._content(Origin(pointer=node.pointer), kind, formula)
                if expr != NEVER:
                    found.setdefault(kind, []).append(expr)
        return found

    def _content(self, origin: Origin, kind: int, formula: Formula) -> Expr:
        """The values of one kind as they stand between tags."""
        space = self._layout.space
        if kind == STRING:
            made = self._kind(origin, STRING, formula)
            spaced = self._style.spaced_texts and formula is not TRUE
        else:
            made = self._inner._kind(origin, kind, formula)
            spaced = self._style.spaced
        return in_row(space, made, space) if spaced and made != NEVER else made

    def _behind(self, named: bool, told: str, contents: _Contents) -> Expr:
        """What stands behind the name of a member, or in place of it in an array."""
        style = self._style
        if self._bare:
            value = either(*(one for exprs in contents.values() for one in exprs))
            return in_row(self._layout.colon, value, self._layout.space)
        closing = Marker(style.closing.replace("{}", told) if named else style.item_closing)
        ways: dict[tuple[str, ...], list[Expr]] = {}
        for kind, exprs in contents.items():
            ways.setdefault(style.between[kind], []).extend(exprs)
        alternatives = []
        for between, exprs in ways.items():
            if not named:
                between = (style.item + between[0].removeprefix('"'), *between[1:])
            parts: list[Expr] = []
            for text in between:
                parts += [self._layout.space, Marker(text)] if parts else [Marker(text)]
            alternatives.append(in_row(*parts, either(*exprs), closing))
        return either(*alternatives) if alternatives else NEVER

    def _listed(self, plan: ObjectPlan, name: str, nodes: Iterable[Node], origin: Origin) -> Expr:
        """The member of a name that the schema lists."""
        place = plan.origin_of(name, origin)
        contents = self._contents(nodes)
        if not contents:
            return NEVER
        written = self._name(name, place)
        behind = self._behind(True, written, contents)
        return in_row(self._before(literal(written), behind), origin=place)

    def _name(self, name: str, place: Origin) -> str:
        """A name as it is written."""
        written = "".join(self._style.escapes.get(char, char) for char in name)
        self._check_name(written, place)
        return written

    def _check_name(self, written: str, place: Origin) -> None:
        """A name must end where the tag goes on."""
        ends = next(iter(self._style.between.values()))[:1] or (":",)
        if not written or ends[0][0] in written or (self._bare and set(written) & _BARE):
            raise UnsupportedConstraint(
                str(place.pointer),
                f"the name {written!r:.60} cannot be written in the style {self.manner!r}",
            )

    def _unlisted(self, plan: ObjectPlan, cell: NameCell, node: Node) -> tuple[Expr, Expr] | None:
        """The names of a cell, and what follows them."""
        contents = self._contents([node]) if self._style.open else {}
        if not contents:
            return None
        names = self._names
        if plan.named:
            listed = either(*map(literal, plan.named))
            names = intersect(names, complement(determinise(listed)))
        if cell.content is not None:
            names = intersect(names, determinise(cell.content))
        graph = _graph(minimise(names))
        return None if graph == NEVER else (graph, self._behind(True, "", contents))

    def _before(self, *member: Expr) -> Expr:
        """A member that may have any of some names."""
        return in_row(*([] if self._bare else [Marker(self._style.before)]), *member)

    # -- objects and arrays ------------------------------------------------------------------------

    def _object(self, plan: ObjectPlan, origin: Origin) -> Expr:
        if plan.open is not TRUE or (plan.counts and not self._any_order):
            return self._decided(plan, origin)
        members: list[tuple[str, Expr, bool]] = []
        for name in plan.named:
            if plan.allows_name(name):
                contents = self._contents(plan.values(name))
                place = plan.origin_of(name, origin)
                if contents:
                    written = self._name(name, place)
                    rest = in_row(self._behind(True, written, contents), origin=place)
                    members.append((written, rest, name in plan.required))
                elif name in plan.required:
                    return NEVER
        cells = (self._unlisted(plan, cell, plan.cell_value(cell)) for cell in plan.cells())
        others = [one for one in cells if one is not None]
        if self._any_order:
            return self._in_any_order_of(plan, members, others, origin)
        whole = [(self._before(literal(name), rest), needed) for name, rest, needed in members]
        other = either(*(self._before(*one) for one in others)) if others else None
        if self._bare:
            return self._layout.object([Member(*one) for one in whole], other, origin)
        space = self._layout.space
        parts: list[Expr] = []
        for member, required in whole:
            one = in_row(space, member)
            parts.append(one if required else Repeat(one, 0, 1))
        if other is not None:
            parts.append(Repeat(in_row(space, other), 0, None))
        return in_row(*parts, space, origin=origin)

    def _in_any_order_of(
        self,
        plan: ObjectPlan,
        members: list[tuple[str, Expr, bool]],
        others: list[tuple[Expr, Expr]],
        origin: Origin,
    ) -> Expr:
        """Members in any order, each that is listed once."""
        space = self._layout.space
        if not members and not others:
            ends = (Literal(b"{"), space, Literal(b"}")) if self._bare else (space,)
            return in_row(*ends, origin=origin)
        before = self._before()
        opened = in_row(Literal(b"{"), space)
        begins = opened, self._layout.comma, opened
        if not self._bare:
            begins = in_row(space, before), in_row(space, before), EMPTY
        end = Literal(b"}") if self._bare else space
        listed = [TaggedMember(*member) for member in members]
        counts = plan.least, plan.most
        return in_any_order(listed, others, begins, end, counts, origin)

    def _decided(self, plan: ObjectPlan, origin: Origin) -> Expr:
        """An object whose members decide together whether it is one, in the order of the schema."""
        explored = self._shapes.explored(plan, self._fits)
        edges: list[tuple[int, Expr, int]] = []
        skips: list[tuple[int, int]] = []
        for number, state in enumerate(explored.states):
            for move in explored.moves[number]:
                if state[0] < len(plan.named):
                    label = self._listed(plan, plan.named[state[0]], [move.node], origin)
                else:
                    others = self._unlisted(plan, plan.cells()[move.label], move.node)
                    label = NEVER if others is None else self._before(*others)
                if label != NEVER:
                    edges.append((number, label, explored.of(move.target)))
            if (skip := explored.skips[number]) is not None:
                skips.append((number, explored.of(skip)))
        final = [number for number, state in enumerate(explored.states) if plan.may_end(state)]
        count = len(explored.states)
        if self._bare:
            return self._layout.by_states((b"{", b"}"), count, edges, skips, final, origin)
        space = self._layout.space
        moves = [(a, in_row(space, label), b) for a, label, b in edges]
        moves += [(a, EMPTY, b) for a, b in skips]
        return in_row(Graph(count, 0, tuple(final), tuple(moves)), space, origin=origin)

    def _array(self, plan: ArrayPlan, origin: Origin) -> Expr:
        if plan.distinct and (plan.most is None or plan.most > 1):
            reason = f"uniqueItems is not enforced in the style {self.manner!r}"
            raise UnsupportedConstraint(str(origin.pointer), reason)
        if self._bare:
            return super()._array(plan, origin)
        if plan.open is not TRUE:
            reason = f"what is said about some items is not enforced in the style {self.manner!r}"
            raise UnsupportedConstraint(str(origin.pointer), reason)
        items = [self._item([plan.item(i)]) for i in range(plan.longest + 1)]
        *prefix, item = items
        least, most = plan.least, plan.most
        most = len(prefix) if item == NEVER and (most is None or most > len(prefix)) else most
        parts = []
        for number, one in enumerate(prefix[:most]):
            if one == NEVER:
                most = number
                break
            parts.append(one if number < least else Repeat(one, 0, 1))
        if most is not None and most < least:
            return NEVER
        if item != NEVER and (most is None or most > len(prefix)):
            rest = None if most is None else most - len(prefix)
            parts.append(Repeat(item, max(0, least - len(prefix)), rest))
        return in_row(*parts, origin=origin)

    def _item(self, nodes: Iterable[Node]) -> Expr:
        """An item of an array between tags."""
        item = self._behind(False, "", self._contents(nodes))
        space = self._layout.space  # it stands around an array, or else around its items
        return item if self._style.spaced or item == NEVER else in_row(space, item, space)

    # -- any value ---------------------------------------------------------------------------------

    def _any_object(self) -> Expr:
        def make() -> Expr:
            names = _graph(self._names)
            if self._bare:
                other = self._layout.member(names, self._value(), False, None).expr
                return self._layout.object([], other, None)
            space = self._layout.space
            if not self._style.open:
                return space
            other = self._before(names, self._behind(True, "", self._any_contents()))
            return in_row(Repeat(in_row(space, other), 0, None), space)

        return self._writer.rule((self.manner, "object"), "object", make)

    def _any_array(self) -> Expr:
        if self._bare:
            return super()._any_array()
        return self._writer.rule(
            (self.manner, "array"),
            "array",
            lambda: Repeat(self._behind(False, "", self._any_contents()), 0, None),
        )

    def _any_contents(self) -> _Contents:
        origin = Origin()
        return {kind: [self._content(origin, kind, TRUE)] for kind in KINDS}

    def _value(self) -> Expr:
        def make() -> Expr:
            return either(*(self._kind(Origin(), kind, TRUE) for kind in KINDS))

        return self._writer.rule((self.manner, "value"), "value", make)

    # -- strings and given values ------------------------------------------------------------------

    def _string(self, formula: Formula, origin: Origin) -> Expr:
        key = (self.manner, "string", id(formula))
        known = self._known.get(key)
        if known is None:
            content = string_content(formula, str(origin.pointer), self._within)
            name = str(origin.pointer)[2:] or "text"
            content = rewrite(content, partial(self._raw, name))
            known = self._known[key] = self._quoted(content, origin)
        return known

    def _quoted(self, content: Expr, origin: Origin | None = None) -> Expr:
        if not self._bare or content == NEVER:
            return content
        quote = Marker(self._style.stop)
        return in_row(quote, content, quote, origin=origin)

    def _raw(self, name: str, part: Expr) -> Expr | None:
        """Counted texts of which a few characters are written at a time, each by a rule."""
        if not isinstance(part, Counted):
            return None

        def rule(state: int, length: int) -> Expr:
            make = partial(block, part, state, length, self._raw_character, rule)
            key = (self.manner, "block", part, state, length)
            return self._writer.flat_rule(key, f"{name}/{length}", make)

        return beginning(part, rule)

    def _raw_character(self, ranges: Ranges) -> Expr:
        key = (self.manner, "char", ranges)
        return self._writer.flat_rule(key, class_name(ranges), lambda: CharSet(ranges))

    def _literal(self, value: Any, ordered: bool = False) -> Expr:
        kind = type_bit(value)
        if kind == STRING:
            return self._quoted(literal(value) if self._within.accepts(value) else NEVER)
        if kind == OBJECT:
            members = [self._given(name, item) for name, item in value.items()]
            if self._bare:
                listed = [Member(member, True) for member in members]
                return self._layout.object(listed, None, None)
            space = self._layout.space
            return in_row(*(in_row(space, member) for member in members), space)
        if kind == ARRAY and not self._bare:
            return in_row(*(self._given(None, item) for item in value))
        return super()._literal(value, ordered)

    def _given(self, name: str | None, value: Any) -> Expr:
        kind = type_bit(value)
        kind = NUMBER if kind & NUMBER else kind
        made = self._literal(value) if kind == STRING else self._inner._literal(value)
        spaced = self._style.spaced_texts if kind == STRING else self._style.spaced
        if spaced:
            made = in_row(self._layout.space, made, self._layout.space)
        if name is None:
            return self._behind(False, "", {kind: [made]})
        written = self._name(name, Origin())
        return self._before(literal(written), self._behind(True, written, {kind: [made]}))


def _graph(names: Dfa) -> Expr:
    return NEVER if names.is_empty else to_graph(names, CharSet)

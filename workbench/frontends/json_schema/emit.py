"""Nodes -> rules: one rule for each object, list, choice and referenced schema, scalars in place.

A rule is written when it is first used; its size is linear in the schemas that it speaks of. Scalars
are expression objects that their uses share.

Next file to read: ``workbench/automaton/build.py`` (Grammar -> Automaton).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import partial
from typing import Any

from workbench.frontends.json_schema.coding import other_names
from workbench.frontends.json_schema.combine import Conjunction, Node, Nodes
from workbench.frontends.json_schema.emptiness import Emptiness
from workbench.frontends.json_schema.layout import Layout, Member, either, in_row
from workbench.frontends.json_schema.numbers import exactly, number, number_between
from workbench.frontends.json_schema.spelling import ANY, quoted, spell_class
from workbench.frontends.json_schema.strings import spelled, string_content
from workbench.frontends.json_schema.values import (
    ALL_TYPES,
    ARRAY,
    BOOLEAN,
    FRACTIONAL,
    NULL,
    NUMBER,
    OBJECT,
    STRING,
    decimal,
    type_bit,
)
from workbench.grammar.ir import NEVER, Alt, Expr, Literal, Origin, OtherText, Ref, Repeat, Seq
from workbench.grammar.lazy import LazyRules

__all__ = ["Emitter"]

_QUOTE = Literal(b'"')
_NULL = Literal(b"null")
#: The expressions for ``true`` or ``false``, one character of a string, and any string.
BOOLEAN_VALUE = Alt((Literal(b"true"), Literal(b"false")))
ANY_CHARACTER = spell_class(ANY)
_ANY_CONTENT = Repeat(ANY_CHARACTER, 0, None)
ANY_STRING = Seq((_QUOTE, _ANY_CONTENT, _QUOTE))

#: A list of values that is at most this long is written where it is used.
_SHORT_LIST = 8


class Emitter:
    """Names the rules of one grammar and writes each when it is asked for."""

    def __init__(self, nodes: Nodes, emptiness: Emptiness, layout: Layout) -> None:
        self._nodes = nodes
        self._empty = emptiness.holds
        self._layout = layout
        self._uses: dict[int, Expr] = {}
        self._shared: dict[Hashable, Expr] = {}
        self._pending: dict[str, Callable[[], Expr]] = {}
        self._taken: dict[str, int] = {}

    def rules(self, root: Node) -> tuple[LazyRules, str]:
        """The rules for a node that is not empty, and the name of the start rule."""
        start = self._name("root")
        self._uses[root.index] = Ref(start, origin=Origin(pointer=root.pointer))
        self._pending[start] = partial(self._body, root)
        if self._layout.around:
            text = self._name("text")
            whole = in_row(self._layout.space, Ref(start), self._layout.space)
            self._pending[text] = lambda: whole
            start = text
        return LazyRules(self._write, start), start

    def _write(self, name: str) -> Expr:
        return self._pending[name]()

    def _name(self, wanted: str) -> str:
        """A rule name that is not taken yet."""
        number = self._taken.get(wanted, 0)
        self._taken[wanted] = number + 1
        if not number:
            return wanted
        return self._name(f"{wanted}~{number + 1}")

    def _rule(self, key: Hashable, name: str, make: Callable[[], Expr]) -> Expr:
        """A rule shared by everything with the same key."""
        known = self._shared.get(key)
        if known is None:
            made = Ref(self._name(name))
            known = self._shared[key] = made
            self._pending[made.name] = make
        return known

    # Values of a node

    def use(self, node: Node) -> Expr:
        """The expression for a value of this node: a reference, or the values themselves."""
        known = self._uses.get(node.index)
        if known is not None:
            return known
        if node.anything:
            expr: Expr = self._value()
        else:
            self._nodes.open(node)
            if self._empty(node):
                expr = NEVER
            elif self._needs_rule(node):
                name = self._name(_readable(node.pointer))
                self._pending[name] = partial(self._body, node)
                expr = Ref(name, origin=Origin(pointer=node.pointer))
            else:
                expr = self._body(node)
        self._uses[node.index] = expr
        return expr

    def _needs_rule(self, node: Node) -> bool:
        if node.is_target or node.alternatives is not None:
            return True
        if node.values is not None:
            return len(node.values) > _SHORT_LIST
        conjunction = node.conjunction
        if conjunction is None:
            return False
        return bool(
            (conjunction.types & OBJECT and _shapes_objects(conjunction))
            or (conjunction.types & ARRAY and _shapes_arrays(conjunction))
        )

    def _body(self, node: Node) -> Expr:
        self._nodes.open(node)
        origin = Origin(pointer=node.pointer)
        if node.anything:
            return self._value()
        if node.never:
            return NEVER
        if node.values is not None:
            return either(*[self._literal(value) for value in node.values], origin=origin)
        if node.alternatives is not None:
            uses = {id(use): use for use in map(self.use, node.alternatives)}
            return either(*uses.values(), origin=origin)
        assert node.conjunction is not None
        return self._typed(node.conjunction, origin)

    def _typed(self, facts: Conjunction, origin: Origin) -> Expr:
        types = facts.types
        free_object, free_array = not _shapes_objects(facts), not _shapes_arrays(facts)
        free = (facts.low, facts.high, facts.max_length) == (None, None, None)
        free = free and not facts.min_length and not facts.patterns
        if types == ALL_TYPES and free and free_object and free_array:
            return self._value()
        branches: list[Expr] = []
        if types & OBJECT:
            branches.append(self._any_object() if free_object else self._object(facts, origin))
        if types & ARRAY:
            branches.append(self._any_array() if free_array else self._array(facts, origin))
        if types & STRING:
            branches.append(self._string(facts, origin))
        if types & NUMBER:
            branches.append(self._number(facts))
        if types & BOOLEAN:
            branches.append(BOOLEAN_VALUE)
        if types & NULL:
            branches.append(_NULL)
        return either(*branches, origin=origin)

    def _object(self, facts: Conjunction, origin: Origin) -> Expr:
        members: list[Member] = []
        rest = facts.additional
        named = list(facts.properties)
        named += [name for name in facts.required if name not in facts.properties]
        for name in named:
            required = name in facts.required
            node = facts.properties.get(name, rest)
            pointer = facts.origins.get(name, f"{origin.pointer}/required")
            value = self._value() if node is None else self.use(node)
            spelled_name = quoted(name)
            if value == NEVER or spelled_name == NEVER:
                continue
            members.append(
                self._layout.member(spelled_name, value, required, Origin(pointer=pointer))
            )
        other = self._other(named, rest, origin)
        return self._layout.object(members, other, origin)

    def _other(self, named: list[str], rest: Node | None, origin: Origin) -> Expr | None:
        """A member with any other name."""
        value = self._value() if rest is None else self.use(rest)
        if value == NEVER:
            return None
        name: Expr = ANY_STRING
        if named:
            key = tuple(sorted(named))
            name = Seq((_QUOTE, OtherText(key, _ANY_CONTENT, other_names), _QUOTE))
        pointer = origin if rest is None else Origin(pointer=rest.pointer)
        return self._layout.member(name, value, False, pointer).expr

    def _array(self, facts: Conjunction, origin: Origin) -> Expr:
        prefix: list[Expr] = []
        most = facts.max_items
        for node in facts.prefix:
            cell = self.use(node)
            if cell == NEVER:
                most = len(prefix) if most is None else min(most, len(prefix))
                break
            prefix.append(cell)
        item = self._value() if facts.items is None else self.use(facts.items)
        tail = None if item == NEVER else item
        return self._layout.array(prefix, tail, facts.min_items, most, origin)

    def _string(self, facts: Conjunction, origin: Origin) -> Expr:
        low, high, patterns = facts.min_length, facts.max_length, facts.patterns
        if not low and high is None and not patterns:
            return ANY_STRING
        texts = tuple(sorted(pattern.text for pattern in patterns))
        key = ("string", texts, low, high)
        known = self._shared.get(key)
        if known is None:
            if not patterns:
                content: Expr = Repeat(ANY_CHARACTER, low, high)
            else:
                content = string_content(patterns, low, high, rule=patterns[0].pointer)
                content = spelled(content, spell_class)
            known = self._shared[key] = in_row(_QUOTE, content, _QUOTE, origin=origin)
        return known

    def _number(self, facts: Conjunction) -> Expr:
        return number_between(facts.low, facts.high, not facts.types & FRACTIONAL)

    # Shared rules

    def _any_object(self) -> Expr:
        def make() -> Expr:
            member = self._layout.member(ANY_STRING, self._value(), False, None)
            return self._layout.object([], member.expr, None)

        return self._rule("object", "object", make)

    def _any_array(self) -> Expr:
        return self._rule("array", "array", lambda: self._layout.array([], self._value(), 0, None))

    def _value(self) -> Expr:
        def make() -> Expr:
            return Alt(
                (
                    self._any_object(),
                    self._any_array(),
                    ANY_STRING,
                    number(),
                    BOOLEAN_VALUE,
                    _NULL,
                )
            )

        return self._rule("value", "value", make)

    def _literal(self, value: Any) -> Expr:
        """One given value; numbers in any plain notation of the same value."""
        kind = type_bit(value)
        if kind == NULL:
            return _NULL
        if kind == BOOLEAN:
            return Literal(b"true" if value else b"false")
        if kind & NUMBER:
            return exactly(decimal(value))
        if kind == STRING:
            return quoted(value)
        if kind == ARRAY:
            cells = [self._literal(item) for item in value]
            return self._layout.array(cells, None, len(cells), len(cells))
        members = [
            self._layout.member(quoted(name), self._literal(item), True, None)
            for name, item in value.items()
        ]
        return self._layout.object(members, None, None)


def _shapes_objects(facts: Conjunction) -> bool:
    return bool(facts.properties or facts.required) or (
        facts.additional is not None and not facts.additional.anything
    )


def _shapes_arrays(facts: Conjunction) -> bool:
    return (
        bool(facts.prefix or facts.min_items)
        or facts.max_items is not None
        or (facts.items is not None and not facts.items.anything)
    )


def _readable(pointer: str) -> str:
    return pointer[2:] if len(pointer) > 2 else "root"

"""Schemas that must hold together: their conjunction as one set of plain constraints.

A *node* is a set of parts, each a whole schema, only its own keywords, or one of its ``anyOf`` groups.
Opening a node follows ``$ref`` and ``allOf`` until only own keywords and groups are left; equal sets are
the same node, so recursive schemas combine into finitely many.

Next file to read: ``emit.py``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from workbench.errors import GrammarTooComplex
from workbench.frontends.json_schema.evaluate import Evaluator
from workbench.frontends.json_schema.location import (
    Location,
    Pattern,
    tighter_high,
    tighter_low,
)
from workbench.frontends.json_schema.numbers import Bound
from workbench.frontends.json_schema.values import ALL_TYPES

__all__ = ["MAX_NODES", "Conjunction", "Key", "Node", "Nodes", "Part"]

#: Most distinct conjunctions of schemas in one grammar.
MAX_NODES = 200_000

WHOLE, OWN = -1, -2

#: A location and what of it is meant: ``WHOLE``, ``OWN``, or the number of an ``anyOf`` group.
Part = tuple[int, int]
Key = frozenset[Part]


@dataclass(slots=True)
class Conjunction:
    """What a value must satisfy, type by type."""

    types: int = ALL_TYPES
    low: Bound | None = None
    high: Bound | None = None
    min_length: int = 0
    max_length: int | None = None
    patterns: list[Pattern] = field(default_factory=list)
    prefix: list[Node] = field(default_factory=list)
    items: Node | None = None
    min_items: int = 0
    max_items: int | None = None
    properties: dict[str, Node] = field(default_factory=dict)
    additional: Node | None = None
    required: dict[str, None] = field(default_factory=dict)
    origins: dict[str, str] = field(default_factory=dict)


@dataclass(eq=False, slots=True)
class Node:
    """A conjunction of parts. After opening exactly one of the last fields tells what it is.

    ``never``: nothing satisfies it; ``values``: one of these; ``alternatives``: any of these nodes;
    ``conjunction``: all of these constraints.
    """

    index: int
    parts: tuple[Part, ...]
    pointer: str
    is_target: bool = False
    opened: bool = False
    never: bool = False
    values: list[Any] | None = None
    alternatives: list[Node] | None = None
    conjunction: Conjunction | None = None

    @property
    def anything(self) -> bool:
        """Whether every value satisfies it."""
        return not self.parts


class Nodes:
    """All nodes of one document, made when first asked for."""

    def __init__(self, locations: Sequence[Location]) -> None:
        self._locations = locations
        self._nodes: dict[Key, Node] = {}
        self._evaluator = Evaluator()

    def of(self, locations: Iterable[Location]) -> Node:
        """The node in which all of these schemas hold."""
        found = list(locations)
        pointer = found[0].pointer if len(found) == 1 else None
        return self._node(tuple((location.index, WHOLE) for location in found), pointer)

    def _node(self, parts: tuple[Part, ...], pointer: str | None = None) -> Node:
        parts = self._plain(parts)
        key = frozenset(parts)
        node = self._nodes.get(key)
        if node is None:
            if len(self._nodes) >= MAX_NODES:
                raise GrammarTooComplex("combinations of schemas", MAX_NODES)
            first = self._locations[parts[0][0]] if parts else None
            if first is not None and (pointer is None or len(parts) == 1):
                pointer = first.pointer
            node = Node(len(self._nodes), parts, pointer or "#")
            node.is_target = len(parts) == 1 and first is not None and first.is_target
            self._nodes[key] = node
        return node

    def _plain(self, parts: Iterable[Part]) -> tuple[Part, ...]:
        """Leave out what says nothing, and put targets in place of bare references."""
        out: dict[Part, None] = {}
        stack = list(reversed(list(parts)))
        while stack:
            part = stack.pop()
            location = self._locations[part[0]]
            if part[1] != WHOLE or location.constrains or location.choices:
                out[part] = None
            else:
                others = [item for item in location.same_instance if item is not None]
                stack.extend((item.index, WHOLE) for item in reversed(others))
        return tuple(out)

    def open(self, node: Node) -> Node:
        """Fill in what the node is; children are named, not opened."""
        if node.opened:
            return node
        node.opened = True
        own, groups = self._close(node)
        if any(location.never for location in own):
            node.never = True
            return node
        lists = [location.values for location in own if location.values is not None]
        if lists:
            candidates = min(lists, key=len)
            node.values = [value for value in candidates if self._fits(value, node.parts)]
            node.never = not node.values
            return node
        if groups:
            (index, number), rest = groups[0], groups[1:]
            base = [*((location.index, OWN) for location in own), *rest]
            choices = self._locations[index].choices[number]
            types = _types(own)
            alternatives = [
                self._node((*base, (choice.index, WHOLE)), choice.pointer) for choice in choices
            ]
            node.alternatives = [
                alternative
                for alternative in dict.fromkeys(alternatives)
                if types & self._types_of(alternative)
            ]
            node.never = not node.alternatives
            return node
        node.conjunction = self._merge(own)
        node.never = node.conjunction.types == 0
        return node

    def _close(self, node: Node) -> tuple[list[Location], list[Part]]:
        """Follow references and ``allOf``: the locations whose own keywords hold, and open groups."""
        own: dict[int, Location] = {}
        groups: dict[Part, None] = {}
        seen: set[Part] = set()
        stack = list(reversed(node.parts))
        while stack:
            part = stack.pop()
            if part in seen:
                continue
            seen.add(part)
            location, what = self._locations[part[0]], part[1]
            if what >= 0:
                groups[part] = None
                continue
            if what == OWN:
                if location.constrains:
                    own[location.index] = location
                continue
            for number in range(len(location.choices)):
                groups[location.index, number] = None
            pending = [
                (location.index, OWN) if item is None else (item.index, WHOLE)
                for item in location.same_instance or [None]
            ]
            stack.extend(reversed(pending))
        return list(own.values()), list(groups)

    def _fits(self, value: Any, parts: Iterable[Part]) -> bool:
        for index, what in parts:
            location = self._locations[index]
            if what == WHOLE:
                fits = self._evaluator.valid(value, location)
            elif what == OWN:
                fits = self._evaluator.own(value, location)
            else:
                fits = self._evaluator.choice(value, location.choices[what])
            if not fits:
                return False
        return True

    def _types_of(self, node: Node) -> int:
        """The types that a node may allow, going by its own keywords alone."""
        own, _ = self._close(node)
        return 0 if any(location.never for location in own) else _types(own)

    def _merge(self, own: list[Location]) -> Conjunction:
        merged = Conjunction(_types(own))
        for location in own:
            merged.low = tighter_low(merged.low, location.low)
            merged.high = tighter_high(merged.high, location.high)
            merged.min_length = max(merged.min_length, location.min_length)
            merged.max_length = _least(merged.max_length, location.max_length)
            if location.pattern is not None and location.pattern not in merged.patterns:
                merged.patterns.append(location.pattern)
            merged.min_items = max(merged.min_items, location.min_items)
            merged.max_items = _least(merged.max_items, location.max_items)
            merged.required.update(dict.fromkeys(location.required))
        self._merge_items(merged, own)
        self._merge_properties(merged, own)
        return merged

    def _merge_items(self, merged: Conjunction, own: list[Location]) -> None:
        longest = max((len(location.prefix) for location in own), default=0)
        for position in range(longest):
            parts = []
            for location in own:
                if position < len(location.prefix):
                    parts.append(location.prefix[position])
                elif location.items is not None:
                    parts.append(location.items)
            merged.prefix.append(self.of(parts))
        rest = [location.items for location in own if location.items is not None]
        if rest:
            merged.items = self.of(rest)

    def _merge_properties(self, merged: Conjunction, own: list[Location]) -> None:
        rest = [location.additional for location in own if location.additional is not None]
        if rest:
            merged.additional = self.of(rest)
        if len(own) == 1:
            for name, location in own[0].properties.items():
                merged.properties[name] = self.of((location,))
                merged.origins[name] = location.pointer
            return
        for location in own:
            for name, schema in location.properties.items():
                if name in merged.properties:
                    continue
                parts = []
                for other in own:
                    if name in other.properties:
                        parts.append(other.properties[name])
                    elif other.additional is not None:
                        parts.append(other.additional)
                merged.properties[name] = self.of(parts)
                merged.origins[name] = schema.pointer


def _types(own: Iterable[Location]) -> int:
    types = ALL_TYPES
    for location in own:
        types &= location.types
    return types


def _least(left: int | None, right: int | None) -> int | None:
    if left is None or right is None:
        return right if left is None else left
    return min(left, right)

"""Which nodes no value satisfies: a least fixed point, looked at only as far as it is asked for.

An object needs the values of its required properties, a list those of its least number of items; what
is optional is not looked at until a rule that has it is written. So the question costs little, and a
recursion that never ends (a property that requires its own schema) is found empty.

Next file to read: ``emit.py``.
"""

from __future__ import annotations

from collections.abc import Iterator

from workbench.frontends.json_schema.combine import Conjunction, Node, Nodes
from workbench.frontends.json_schema.numbers import number_between
from workbench.frontends.json_schema.spelling import spell
from workbench.frontends.json_schema.strings import string_content
from workbench.frontends.json_schema.values import (
    ARRAY,
    BOOLEAN,
    FRACTIONAL,
    NULL,
    NUMBER,
    OBJECT,
    STRING,
)
from workbench.grammar.ir import NEVER

__all__ = ["Emptiness"]

#: Ways to make a value of a node: for each the nodes whose values it needs.
_Ways = list[list[Node]]


class Emptiness:
    """Answers for the nodes of one document; answers are kept."""

    def __init__(self, nodes: Nodes) -> None:
        self._nodes = nodes
        self._empty: dict[int, bool] = {}

    def holds(self, node: Node) -> bool:
        """Whether no value satisfies the node."""
        known = self._empty.get(node.index)
        if known is not None:
            return known
        if node.anything:
            return False
        order = [node]
        ways: dict[int, _Ways] = {}
        users: dict[int, list[Node]] = {}
        for one in order:
            if one.index in ways:
                continue
            found = ways[one.index] = self._ways(one)
            if [] in found:
                self._empty[one.index] = False
                continue
            for need in (need for way in found for need in way):
                users.setdefault(need.index, []).append(one)
                if need.index not in self._empty and need.index not in ways:
                    order.append(need)
        todo = [
            user
            for one in order
            if self._empty.get(one.index) is False
            for user in users.get(one.index, ())
        ]
        todo += [one for one in order if one.index not in self._empty]
        while todo:
            one = todo.pop()
            if self._empty.get(one.index) is not None:
                continue
            if any(all(self._made(need) for need in way) for way in ways[one.index]):
                self._empty[one.index] = False
                todo.extend(users.get(one.index, ()))
        for one in order:
            self._empty.setdefault(one.index, True)
        return self._empty[node.index]

    def _made(self, node: Node) -> bool:
        return node.anything or self._empty.get(node.index) is False

    def _ways(self, node: Node) -> _Ways:
        self._nodes.open(node)
        if node.anything:
            return [[]]
        if node.never:
            return []
        if node.values is not None:
            return [[]] if node.values else []
        if node.alternatives is not None:
            return [[one] for one in node.alternatives]
        assert node.conjunction is not None
        return list(_conjunction_ways(node.conjunction))

    def blame(self, node: Node) -> tuple[str, str]:
        """The smallest part of an empty node that is empty itself, and why."""
        seen: set[int] = set()
        place = node.pointer
        while node.index not in seen:
            seen.add(node.index)
            self._nodes.open(node)
            facts = node.conjunction
            if facts is None or facts.types not in (OBJECT, ARRAY):
                break
            below = [need for way in _conjunction_ways(facts) for need in way if self.holds(need)]
            if not below:
                break
            node, place = below[0], below[0].pointer
        else:
            return place, "its values would have to hold themselves without end"
        return place, "no value satisfies what is said there"


def _conjunction_ways(facts: Conjunction) -> Iterator[list[Node]]:
    types = facts.types
    if types & (NULL | BOOLEAN) or (types & STRING and not _no_string(facts)):
        yield []
        return
    if types & NUMBER and number_between(facts.low, facts.high, not types & FRACTIONAL) != NEVER:
        yield []
        return
    if types & ARRAY and (facts.max_items is None or facts.min_items <= facts.max_items):
        needed = facts.prefix[: facts.min_items]
        if facts.min_items > len(needed) and facts.items is not None:
            needed = [*needed, facts.items]
        yield [need for need in needed if not need.anything]
    if types & OBJECT and all(spell(name) != NEVER for name in facts.required):
        needs = [facts.properties.get(name, facts.additional) for name in facts.required]
        yield [need for need in needs if need is not None and not need.anything]


def _no_string(facts: Conjunction) -> bool:
    low, high = facts.min_length, facts.max_length
    if not facts.patterns:
        return high is not None and low > high
    return string_content(facts.patterns, low, high, rule=facts.patterns[0].pointer) == NEVER

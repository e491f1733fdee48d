"""Proofs that two schemas are disjoint (hold for no value in common): then ``oneOf`` needs no negation of the other.

A proof looks at types, listed values, bounds, lengths, and at properties that both require. Finding none
says nothing; the negation is then written out.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

from workbench.frontends.json_schema.logic.evaluate import Evaluator
from workbench.frontends.json_schema.read.location import Location, tighter_high, tighter_low
from workbench.frontends.json_schema.text.json_values import (
    ALL_TYPES,
    ARRAY,
    NUMBER,
    OBJECT,
    STRING,
)

__all__ = ["Exclusion"]

#: Most pairs that are looked at for one document.
_MAX_STEPS = 20_000

_Group = tuple[Location, ...]


@dataclass(frozen=True, slots=True)
class _Facts:
    """Schemas that hold together: their own keywords, and the groups of which one must hold."""

    own: tuple[Location, ...]
    groups: tuple[_Group, ...]

    @property
    def types(self) -> int:
        types = ALL_TYPES
        for location in self.own:
            types &= 0 if location.never else location.types
        return types

    def with_choice(self, choice: Location) -> _Facts:
        """The same with one schema chosen from the first group."""
        return _with(_Facts(self.own, self.groups[1:]), choice)

    def required(self) -> set[str]:
        return {name for location in self.own for name in location.required}

    def closed_names(self) -> frozenset[str] | None:
        """The names that may come, where those are listed and no others."""
        rules = [one.members for one in self.own if one.members is not None]
        if not any(
            rule.rest is not None and rule.rest.never and not rule.patterns for rule in rules
        ):
            return None
        return frozenset(name for rule in rules for name in rule.names)

    def member(self, name: str) -> list[Location]:
        """What must hold for the value of a property."""
        found: list[Location] = []
        for location in self.own:
            if location.members is not None:
                found.extend(location.members.schemas_of(name))
        return found


class Exclusion:
    """Looks for proofs, within one budget for the whole document."""

    def __init__(self) -> None:
        self._evaluator = Evaluator()
        self._known: dict[tuple[int, int, int, int, int], bool] = {}
        self._steps = 0

    def partners(
        self, location: Location, group: _Group, numbers: Sequence[int], kind: int
    ) -> dict[int, list[int]]:
        """For each of some schemas of a ``oneOf`` the others that are not proved to exclude it, for one type of value.

        Values that satisfy what stands beside the ``oneOf`` are looked at alone.
        """
        sides = _sides(location, group, numbers)
        apart = _told_apart(sides, kind)
        found: dict[int, list[int]] = {number: [] for number in numbers}
        for place, left in enumerate(numbers):
            for right in numbers[place + 1 :]:
                if apart[left] >> right & 1 or apart[right] >> left & 1:
                    continue
                key = (location.index, group[0].index, left, right, kind)
                known = self._known.get(key)
                if known is None:
                    known = self._known[key] = self._apart(sides[left], sides[right], 8, kind)
                if not known:
                    found[left].append(right)
                    found[right].append(left)
        return found

    def tag(self, location: Location, group: _Group, numbers: Sequence[int]) -> str | None:
        """A name for which schemas of a ``oneOf`` list values, none of them the same as for another schema."""
        sides = _sides(location, group, numbers)
        some: dict[str, None] = {}
        for one in sides[numbers[0]].own:
            if one.members is not None:
                some.update(dict.fromkeys(one.members.names))
        for name in some:
            met: set[Hashable] = set()
            for side in sides.values():
                values = _listed(_facts(side.member(name)).own)
                if values is None or not met.isdisjoint(values):
                    break
                met |= values
            else:
                return name
        return None

    def closed_lists(
        self, location: Location, group: _Group, numbers: Sequence[int]
    ) -> dict[int, frozenset[str]] | None:
        """The names that each of some schemas of a ``oneOf`` lists, if an object may have no others."""
        found = {}
        for number, side in _sides(location, group, numbers).items():
            names = side.closed_names()
            if names is None:
                return None
            found[number] = names
        return found

    def _apart(self, left: _Facts, right: _Facts, depth: int, kinds: int = ALL_TYPES) -> bool:
        self._steps += 1
        if self._steps > _MAX_STEPS or depth == 0:
            return False
        common = left.types & right.types & kinds
        if not common or self._values_differ(left, right):
            return True
        for one, other in ((left, right), (right, left)):
            if one.groups:
                choices = one.groups[0]
                if all(
                    self._apart(one.with_choice(part), other, depth - 1, kinds) for part in choices
                ):
                    return True
        proofs = {NUMBER: _numbers, STRING: _strings, ARRAY: _arrays}
        for kind, proof in proofs.items():
            if common & kind:
                if not proof((*left.own, *right.own)):
                    return False
                common &= ~kind
        if common & OBJECT and self._objects(left, right, depth):
            common &= ~OBJECT
        return not common

    def _values_differ(self, left: _Facts, right: _Facts) -> bool:
        """Whether one side lists its values and none of them satisfies both."""
        for location in (*left.own, *right.own):
            if location.values is not None:
                return not any(self._holds(value, left, right) for value in location.values)
        return False

    def _holds(self, value: object, *sides: _Facts) -> bool:
        return all(
            all(self._evaluator.own(value, location) for location in side.own)
            and all(self._evaluator.choice(value, group) for group in side.groups)
            for side in sides
        )

    def _objects(self, left: _Facts, right: _Facts, depth: int) -> bool:
        """Whether a property that is required on one side cannot satisfy both."""
        in_left, in_right = left.required(), right.required()
        for name in sorted(in_left | in_right):
            one, other = _facts(left.member(name)), _facts(right.member(name))
            if name in in_left and name in in_right:
                if self._apart(one, other, depth - 1):
                    return True
            elif not (other if name in in_left else one).types:
                return True
        return False


def _sides(location: Location, group: _Group, numbers: Sequence[int]) -> dict[int, _Facts]:
    """What holds with each of some schemas of a ``oneOf``: the schema and what stands beside the ``oneOf``."""
    rest = _facts(part for part in location.same_instance if part is not None)
    base = _Facts((location, *rest.own), rest.groups)
    return {number: _with(base, group[number]) for number in numbers}


def _told_apart(sides: dict[int, _Facts], kinds: int) -> dict[int, int]:
    """For each side the others (as bits) from which types, listed values and closed objects tell it apart.

    Values of some types are looked at alone. One look at each side serves for all pairs; that some pair is not
    found here says nothing.
    """
    apart = dict.fromkeys(sides, 0)
    types = {number: side.types & kinds for number, side in sides.items()}
    of_types: dict[int, int] = {}
    for number, kind in types.items():
        of_types[kind] = of_types.get(kind, 0) | 1 << number
    for number, kind in types.items():
        for other, those in of_types.items():
            if not kind & other:
                apart[number] |= those
    _by_values({number: _listed(side.own) for number, side in sides.items()}, apart)
    objects = {number: side for number, side in sides.items() if types[number] == OBJECT}
    required = {number: side.required() for number, side in objects.items()}
    requiring: dict[str, list[int]] = {}
    for number, names in required.items():
        for name in names:
            requiring.setdefault(name, []).append(number)
    for name, some in requiring.items():
        if len(some) > 1:
            _by_values({one: _listed(_facts(objects[one].member(name)).own) for one in some}, apart)
    closed, lists = 0, dict.fromkeys(requiring, 0)
    for number, side in objects.items():
        allowed = side.closed_names()
        if allowed is not None:
            closed |= 1 << number
            for name in allowed & lists.keys():
                lists[name] |= 1 << number
    for number, names in required.items():
        for name in names:
            apart[number] |= closed & ~lists[name]
    return apart


def _by_values(listed: dict[int, frozenset[Hashable] | None], apart: dict[int, int]) -> None:
    """Note which schemas that list their values have none in common."""
    having: dict[Hashable, int] = {}
    every = 0
    for number, values in listed.items():
        if values is not None:
            every |= 1 << number
            for value in values:
                having[value] = having.get(value, 0) | 1 << number
    for number, values in listed.items():
        if values is not None:
            some = 0
            for value in values:
                some |= having[value]
            apart[number] |= every & ~some


def _listed(own: Sequence[Location]) -> frozenset[Hashable] | None:
    """The values of which one has to come, if schemas list them."""
    found = [location.value_keys for location in own if location.value_keys is not None]
    return frozenset.intersection(*found) if found else None


def _with(facts: _Facts, choice: Location) -> _Facts:
    more = _facts([choice])
    return _Facts((*facts.own, *more.own), (*facts.groups, *more.groups))


def _facts(locations: Iterable[Location]) -> _Facts:
    own: dict[int, Location] = {}
    groups: list[_Group] = []
    stack = list(locations)
    while stack:
        location = stack.pop()
        if location.index in own:
            continue
        own[location.index] = location
        groups.extend((*location.choices, *location.exclusive))
        stack.extend(part for part in location.same_instance if part is not None)
    return _Facts(tuple(own.values()), tuple(groups))


def _numbers(own: Sequence[Location]) -> bool:
    """Whether no number lies between the bounds."""
    low = high = None
    for location in own:
        low, high = tighter_low(low, location.low), tighter_high(high, location.high)
    if low is None or high is None:
        return False
    return low.value > high.value or (
        low.value == high.value and not (low.inclusive and high.inclusive)
    )


def _strings(own: Sequence[Location]) -> bool:
    least = max(location.min_length for location in own)
    return any(location.max_length is not None and location.max_length < least for location in own)


def _arrays(own: Sequence[Location]) -> bool:
    least = max(location.min_items for location in own)
    return any(location.max_items is not None and location.max_items < least for location in own)

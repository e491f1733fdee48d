"""One schema at its place in the document, read into plain facts."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from types import MappingProxyType
from typing import Any

from workbench.frontends.json_schema.scalars.numbers import Bound
from workbench.frontends.json_schema.scalars.patterns import Pattern
from workbench.frontends.json_schema.text.json_values import ALL_TYPES

__all__ = [
    "CellRule",
    "Condition",
    "Location",
    "MemberRule",
    "Resource",
    "tighter_high",
    "tighter_low",
]


@dataclass(eq=False, slots=True)
class Resource:
    """A schema with its own base URI; pointers in ``$ref`` start at its root.

    ``place`` is how pointers into it are written: the pointer itself in the root document, the URI and
    a pointer elsewhere. ``draft`` is the draft that its ``$schema`` names.
    """

    uri: str
    schema: Any
    pointer: str
    draft: int
    #: URI of the document that it lies in, "" for the root document
    document: str = ""


@dataclass(eq=False, slots=True)
class MemberRule:
    """Which schemas a member of an object has to satisfy, going by its name.

    A listed name has its schema (``None``: none), so has every pattern that the name matches; a name
    with neither has ``rest``.
    """

    names: dict[str, Location | None]
    patterns: tuple[tuple[Pattern, Location | None], ...] = ()
    rest: Location | None = None

    def schemas(self, name: str | None, matched: Iterable[str]) -> list[Location]:
        """The schemas for a name that matches these patterns; ``None`` is a name that is not listed."""
        found = []
        met = False
        if name is not None and name in self.names:
            met = True
            if (listed := self.names[name]) is not None:
                found.append(listed)
        for pattern, schema in self.patterns:
            if pattern.text in matched:
                met = True
                if schema is not None:
                    found.append(schema)
        if not met and self.rest is not None:
            found.append(self.rest)
        return found

    def schemas_of(self, name: str) -> list[Location]:
        """The schemas for a given name."""
        return self.schemas(name, {p.text for p, _ in self.patterns if p.found_in(name)})


@dataclass(eq=False, slots=True)
class CellRule:
    """Which schemas an item has to satisfy, going by its position.

    Positions in ``prefix`` have their own schema (``None``: none), the others ``rest``, unless the item
    satisfies one of ``unless``.
    """

    prefix: tuple[Location | None, ...]
    rest: Location | None = None
    unless: tuple[Location, ...] = ()

    def choices(self, position: int) -> list[Location] | None:
        """Schemas of which an item satisfies one; ``None`` when anything will do."""
        if position < len(self.prefix):
            schema = self.prefix[position]
            return None if schema is None else [schema]
        return None if self.rest is None else [self.rest, *self.unless]


_NOTHING: Mapping[str, Any] = MappingProxyType({})


def _nothing() -> Mapping[str, Any]:
    """No names at all; the same object for all schemas."""
    return _NOTHING


@dataclass(eq=False, slots=True)
class Condition:
    """``if`` with ``then`` and ``else``."""

    test: Location
    then: Location | None
    other: Location | None


@dataclass(eq=False, slots=True)
class Location:
    """A schema, what its own keywords say, and the schemas that it applies.

    The facts hold for instances of the type that they speak of; other instances pass them.
    ``same_instance`` lists the schemas that must hold as well (``$ref``, ``allOf``) in the order of the
    text, with ``None`` where the schema's own keywords come; ``choices`` holds one tuple for each
    ``anyOf``, ``exclusive`` one for each ``oneOf``. ``scope`` are the dynamic anchors in force.
    """

    index: int
    pointer: str
    schema: Any
    resource: Resource
    parent: Location | None
    level: int
    scope: tuple[tuple[str, Resource], ...] = ()
    never: bool = False
    #: why, where a schema does not say so itself
    reason: str = ""
    constrains: bool = False
    types: int = ALL_TYPES
    values: list[Any] | None = None
    value_keys: frozenset[Hashable] | None = None
    low: Bound | None = None
    high: Bound | None = None
    multiple_of: Decimal | None = None
    min_length: int = 0
    max_length: int | None = None
    pattern: Pattern | None = None
    format: str | None = None
    cells: CellRule | None = None
    min_items: int = 0
    max_items: int | None = None
    unique: bool = False
    #: the values that items can have, where there are few, as schemas
    domain: tuple[Location, ...] = ()
    contains: Location | None = None
    min_contains: int = 1
    max_contains: int | None = None
    members: MemberRule | None = None
    names: Location | None = None
    required: tuple[str, ...] = ()
    min_properties: int = 0
    max_properties: int | None = None
    dependent_names: Mapping[str, tuple[str, ...]] = field(default_factory=_nothing)
    dependent_schemas: Mapping[str, Location] = field(default_factory=_nothing)
    same_instance: tuple[Location | None, ...] = ()
    choices: tuple[tuple[Location, ...], ...] = ()
    exclusive: tuple[tuple[Location, ...], ...] = ()
    excluded: tuple[Location, ...] = ()
    condition: Condition | None = None
    unevaluated_members: Location | None = None
    unevaluated_cells: Location | None = None

    def __repr__(self) -> str:
        return f"<Location {self.pointer}>"

    @property
    def applies_others(self) -> bool:
        """Whether other schemas are applied to the same value, ``$ref`` and ``allOf`` left aside."""
        return bool(
            self.choices
            or self.exclusive
            or self.excluded
            or self.condition
            or self.dependent_schemas
        )

    def applied(self) -> list[Location]:
        """The schemas that are applied to the same value."""
        found = [part for part in self.same_instance if part is not None]
        for group in (*self.choices, *self.exclusive):
            found.extend(group)
        found.extend(self.excluded)
        found.extend(self.dependent_schemas.values())
        if self.condition is not None:
            parts = (self.condition.test, self.condition.then, self.condition.other)
            found.extend(part for part in parts if part is not None)
        return found


def tighter_low(left: Bound | None, right: Bound | None) -> Bound | None:
    """The stronger of two lower bounds."""
    if left is None or right is None:
        return left or right
    return max(left, right, key=_low_strength)


def tighter_high(left: Bound | None, right: Bound | None) -> Bound | None:
    """The stronger of two upper bounds."""
    if left is None or right is None:
        return left or right
    return min(left, right, key=_high_strength)


def _low_strength(bound: Bound) -> tuple[Decimal, bool]:
    return bound.value, not bound.inclusive


def _high_strength(bound: Bound) -> tuple[Decimal, bool]:
    return bound.value, bound.inclusive

"""One schema at its place in the document, read into plain facts.

Next file to read: ``document.py``.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from workbench.frontends.json_schema.numbers import Bound
from workbench.frontends.json_schema.values import ALL_TYPES
from workbench.frontends.regex import Branch

__all__ = ["Location", "Pattern", "Resource", "tighter_high", "tighter_low"]


@dataclass(eq=False, slots=True)
class Resource:
    """A schema with its own base URI; pointers in ``$ref`` start at its root."""

    uri: str
    schema: Any
    pointer: str


@dataclass(frozen=True, slots=True)
class Pattern:
    """A regular expression and the keyword that it stands under."""

    text: str
    branches: tuple[Branch, ...] = field(compare=False, repr=False)
    pointer: str = field(compare=False)


@dataclass(eq=False, slots=True)
class Location:
    """A schema, what its own keywords say, and the schemas that it applies.

    The facts hold for instances of the type that they speak of; other instances pass them.
    ``same_instance`` lists the schemas that must hold as well (``$ref``, ``allOf``) in the order of the
    text, with ``None`` where the schema's own keywords come; ``choices`` holds one tuple for each
    ``anyOf``.
    """

    index: int
    pointer: str
    schema: Any
    resource: Resource
    parent: Location | None
    level: int
    never: bool = False
    constrains: bool = False
    is_target: bool = False
    types: int = ALL_TYPES
    values: list[Any] | None = None
    value_keys: frozenset[Hashable] | None = None
    low: Bound | None = None
    high: Bound | None = None
    min_length: int = 0
    max_length: int | None = None
    pattern: Pattern | None = None
    prefix: tuple[Location, ...] = ()
    items: Location | None = None
    min_items: int = 0
    max_items: int | None = None
    properties: dict[str, Location] = field(default_factory=dict)
    additional: Location | None = None
    required: tuple[str, ...] = ()
    same_instance: list[Location | None] = field(default_factory=list)
    choices: list[tuple[Location, ...]] = field(default_factory=list)

    def __repr__(self) -> str:
        return f"<Location {self.pointer}>"


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

"""Whether one value can satisfy a schema, going by its plainest keywords alone.

For proofs that schemas exclude one another: "no" is certain, "yes" is not. ``nodes.py`` has the exact
answer; it cannot be used while the formulas that it needs are being made.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from workbench.frontends.json_schema.read.location import Location
from workbench.frontends.json_schema.text.json_values import (
    ARRAY,
    NUMBER,
    OBJECT,
    STRING,
    canonical,
    decimal,
    type_bit,
)

__all__ = ["Evaluator"]


class Evaluator:
    """Checks values against locations."""

    def valid(self, value: Any, location: Location) -> bool:
        """Whether a value may satisfy a schema, everything that it refers to included."""
        return (
            self.own(value, location)
            and all(self.valid(value, part) for part in location.same_instance if part is not None)
            and all(self.choice(value, group) for group in (*location.choices, *location.exclusive))
        )

    def choice(self, value: Any, group: Iterable[Location]) -> bool:
        """Whether a value may satisfy at least one of several schemas."""
        return any(self.valid(value, location) for location in group)

    def own(self, value: Any, location: Location) -> bool:
        """Whether a value may satisfy what the keywords of a schema say themselves."""
        if location.never:
            return False
        kind = type_bit(value)
        if not kind & location.types:
            return False
        if location.value_keys is not None and canonical(value) not in location.value_keys:
            return False
        if kind & NUMBER:
            return _in_bounds(value, location)
        if kind == STRING:
            return self._string(value, location)
        if kind == ARRAY:
            return self._array(value, location)
        if kind == OBJECT:
            return self._object(value, location)
        return True

    def _string(self, value: str, location: Location) -> bool:
        if len(value) < location.min_length:
            return False
        if location.max_length is not None and len(value) > location.max_length:
            return False
        return location.pattern is None or location.pattern.found_in(value)

    def _array(self, value: list[Any], location: Location) -> bool:
        if len(value) < location.min_items:
            return False
        if location.max_items is not None and len(value) > location.max_items:
            return False
        rule = location.cells
        return rule is None or all(
            self.choice(item, choices)
            for position, item in enumerate(value)
            if (choices := rule.choices(position)) is not None
        )

    def _object(self, value: dict[str, Any], location: Location) -> bool:
        if any(name not in value for name in location.required):
            return False
        rule = location.members
        return rule is None or all(
            self.valid(item, schema)
            for name, item in value.items()
            for schema in rule.schemas_of(name)
        )


def _in_bounds(value: Any, location: Location) -> bool:
    exact = decimal(value)
    low, high = location.low, location.high
    if low is not None and (exact < low.value or (exact == low.value and not low.inclusive)):
        return False
    return high is None or exact < high.value or (exact == high.value and high.inclusive)

"""Whether one value satisfies a schema: used to filter the values of ``enum`` and ``const``.

Next file to read: ``combine.py``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from workbench.automaton.finite import Recogniser
from workbench.frontends.json_schema.location import Location, Pattern
from workbench.frontends.json_schema.values import (
    ARRAY,
    NUMBER,
    OBJECT,
    STRING,
    canonical,
    decimal,
    type_bit,
)
from workbench.frontends.regex import search

__all__ = ["Evaluator"]


class Evaluator:
    """Checks values against locations; patterns are prepared once."""

    def __init__(self) -> None:
        self._recognisers: dict[str, Recogniser] = {}

    def valid(self, value: Any, location: Location) -> bool:
        """Whether a value satisfies a schema, everything that it refers to included."""
        return (
            self.own(value, location)
            and all(self.valid(value, part) for part in location.same_instance if part is not None)
            and all(self.choice(value, group) for group in location.choices)
        )

    def choice(self, value: Any, group: Iterable[Location]) -> bool:
        """Whether a value satisfies at least one of several schemas."""
        return any(self.valid(value, location) for location in group)

    def own(self, value: Any, location: Location) -> bool:
        """Whether a value satisfies what the keywords of a schema say themselves."""
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
        return location.pattern is None or self._matches(location.pattern, value)

    def _matches(self, pattern: Pattern, value: str) -> bool:
        recogniser = self._recognisers.get(pattern.text)
        if recogniser is None:
            recogniser = Recogniser(search(pattern.branches))
            self._recognisers[pattern.text] = recogniser
        return recogniser.accepts(value)

    def _array(self, value: list[Any], location: Location) -> bool:
        if len(value) < location.min_items:
            return False
        if location.max_items is not None and len(value) > location.max_items:
            return False
        for position, item in enumerate(value):
            schema = (
                location.prefix[position] if position < len(location.prefix) else location.items
            )
            if schema is not None and not self.valid(item, schema):
                return False
        return True

    def _object(self, value: dict[str, Any], location: Location) -> bool:
        if any(name not in value for name in location.required):
            return False
        for name, item in value.items():
            schema = location.properties.get(name, location.additional)
            if schema is not None and not self.valid(item, schema):
                return False
        return True


def _in_bounds(value: Any, location: Location) -> bool:
    exact = decimal(value)
    low, high = location.low, location.high
    if low is not None and (exact < low.value or (exact == low.value and not low.inclusive)):
        return False
    return high is None or exact < high.value or (exact == high.value and high.inclusive)

"""Equal schemas with equal options have one key, so that they are compiled once."""

from __future__ import annotations

import json

import pytest

import workbench as wb
from workbench.grammar.lazy import LazyRules

SCHEMA = {"type": "object", "properties": {"a": {"type": "number", "minimum": 0.5}}}


def key(schema: object, **options: object) -> str:
    rules = wb.json_schema(schema, **options).rules  # type: ignore[arg-type]
    assert isinstance(rules, LazyRules)
    assert rules.key
    return rules.key


def test_equal_schemas_have_equal_keys() -> None:
    assert key(SCHEMA) == key(json.loads(json.dumps(SCHEMA)))


@pytest.mark.parametrize(
    "options",
    [
        {"whitespace": "compact"},
        {"max_whitespace": 3},
        {"separators": (", ", ": ")},
        {"on_unsupported": "report"},
        {"draft": 4},
        {"formats": "annotate"},
        {"additional_properties": False},
        {"strict": True},
        {"ascii_only": True},
    ],
)
def test_options_and_order_are_part_of_the_key(options: dict[str, object]) -> None:
    assert key(SCHEMA, **options) != key(SCHEMA)


def test_the_order_of_properties_is_part_of_the_key() -> None:
    one = {"properties": {"a": {}, "b": {}}}
    other = {"properties": {"b": {}, "a": {}}}
    assert one == other
    assert key(one) != key(other)


def test_a_registry_has_no_key() -> None:
    grammar = wb.json_schema({"$ref": "http://x/y"}, registry={"http://x/y": {"type": "null"}})
    assert isinstance(grammar.rules, LazyRules)
    assert grammar.rules.key is None

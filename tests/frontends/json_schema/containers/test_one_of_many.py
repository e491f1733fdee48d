"""Objects of which just one of many schemas holds, byte by byte, against every text that ``jsonschema`` calls valid.

The names and the values are few, so that all texts can be listed. What is said of many alternatives is asked of few:
the number from which on they are not multiplied out is made small.
"""

from __future__ import annotations

import itertools
import json
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, event, given, settings, strategies as st

import workbench as wb
from tests.frontends.json_schema.containers.test_closed import differs, vocabulary
from workbench.errors import UnsatisfiableGrammar
from workbench.frontends.json_schema.logic import nodes

NAMES = ["t", "a", "b", "c"]
VALUES = [True, False, None]
SCHEMA = st.sampled_from(
    [True, False, {"type": "boolean"}, {"type": "null"}, *({"const": v} for v in VALUES)]
)


@st.composite
def alternative(draw: st.DrawFn, tag: int | None) -> dict[str, Any]:
    """An object of the names; with a ``tag`` (a place among the values) it says that of ``t``."""
    some = draw(st.lists(st.sampled_from(NAMES[1:]), unique=True, min_size=1, max_size=2))
    said: dict[str, Any] = {name: draw(SCHEMA) for name in some}
    if tag is not None:
        said = {"t": {"const": VALUES[tag]}, **said}
    out: dict[str, Any] = {"properties": said}
    if draw(st.booleans()):
        out["required"] = draw(st.lists(st.sampled_from(list(said)), unique=True, max_size=2))
    if draw(st.integers(0, 2)) == 0:
        out["additionalProperties"] = False
    if draw(st.booleans()):
        out["type"] = "object"
    return out


@st.composite
def schemas(draw: st.DrawFn) -> dict[str, Any]:
    tagged = draw(st.booleans())
    count = draw(st.integers(2, 3 if tagged else 4))
    choices = [draw(alternative(number if tagged else None)) for number in range(count)]
    out = {
        "type": "object",
        "propertyNames": {"enum": NAMES[: draw(st.integers(2, 4))]},
        "additionalProperties": {"enum": VALUES},
        "oneOf": choices,
    }
    if draw(st.integers(0, 3)) == 0:
        out["required"] = [draw(st.sampled_from(NAMES[:2]))]
    if draw(st.integers(0, 3)) == 0:
        out[draw(st.sampled_from(["minProperties", "maxProperties"]))] = draw(st.integers(1, 2))
    return out


def objects(schema: Any) -> list[dict[str, Any]]:
    """The valid objects, whatever the order of their members."""
    judge = jsonschema.Draft202012Validator(schema)
    names = schema["propertyNames"]["enum"]
    found = []
    for count in range(len(names) + 1):
        for chosen in itertools.combinations(names, count):
            for values in itertools.product(VALUES, repeat=count):
                value = dict(zip(chosen, values, strict=True))
                if judge.is_valid(value):
                    found.append(value)
    return found


def written(value: dict[str, Any]) -> list[str]:
    """An object with its members in every order."""
    orders = itertools.permutations(value.items())
    return [json.dumps(dict(pairs), separators=(",", ":")) for pairs in orders]


@pytest.fixture(scope="module", autouse=True)
def few_are_many() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nodes, "_CROWD", 1)
        yield


@given(schemas())
@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
def test_in_any_order_masks_follow_the_valid_texts(schema: dict[str, Any]) -> None:
    valid = [text for value in objects(schema) for text in written(value)]
    try:
        grammar = wb.json_schema(schema, property_order="any", whitespace="compact")
    except UnsatisfiableGrammar:
        assert not valid
        return
    assert not differs(grammar, valid), schema
    event(f"{len(valid)} texts" if len(valid) < 3 else "many texts")


@given(schemas())
@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
def test_in_the_order_of_the_schema_each_valid_object_has_a_text(schema: dict[str, Any]) -> None:
    valid = objects(schema)
    try:
        grammar = wb.json_schema(schema, whitespace="compact")
    except UnsatisfiableGrammar:
        assert not valid
        return
    start = wb.compile(grammar, vocabulary()).matcher()
    every = {text for value in valid for text in written(value)}
    found = {text for text in every if reads(start, text)}
    assert all(found.intersection(written(value)) for value in valid), schema
    # nothing else is allowed, and nothing that leads nowhere
    assert not differs(grammar, sorted(found)), schema


def reads(start: wb.Matcher, text: str) -> bool:
    matcher = start.fork()
    return all(map(matcher.accept, text.encode())) and matcher.is_accepting


def test_closed_objects_say_nothing_of_arrays() -> None:
    """Two schemas of objects both hold for an array: then not just one does."""
    choices = [{"properties": {name: True}, "additionalProperties": False} for name in "abcdefgh"]
    schema: dict[str, Any] = {"oneOf": [*choices, {"type": "array", "maxItems": 2}]}
    compiled = wb.compile(wb.json_schema(schema), vocabulary())
    judge = jsonschema.Draft202012Validator(schema)
    values: list[Any] = [[], [1], [1, 2, 3], {}, {"a": 1}, {"a": 1, "b": 1}, 1, None]
    for value in values:
        assert reads(compiled.matcher(), json.dumps(value)) == judge.is_valid(value), value
    one = {"oneOf": [*choices[:1], {"type": "object"}]}
    compiled = wb.compile(wb.json_schema(one), vocabulary())
    for value in values:
        judge = jsonschema.Draft202012Validator(one)
        assert reads(compiled.matcher(), json.dumps(value)) == judge.is_valid(value), value

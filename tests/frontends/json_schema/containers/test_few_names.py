"""Objects of few names that have to have more members than there are names: found empty when they are read.

Whether there is a value is asked of ``jsonschema``, for every set of the names and every choice of values.
"""

from __future__ import annotations

import itertools
from functools import cache
from typing import Any

import jsonschema
import pytest
from hypothesis import event, given, settings, strategies as st

import workbench as wb
from workbench.errors import GrammarTooComplex, UnsatisfiableGrammar

NAMES = ["", "a", "ab", "c", "x"]
VALUES = [True, 1]


@cache
def objects() -> list[dict[str, Any]]:
    return [
        dict(zip(names, values, strict=True))
        for count in range(len(NAMES) + 1)
        for names in itertools.combinations(NAMES, count)
        for values in itertools.product(VALUES, repeat=count)
    ]


def has_value(schema: Any) -> bool:
    validator = jsonschema.Draft202012Validator(schema)
    return any(map(validator.is_valid, objects()))


VALUE = st.sampled_from([True, {"type": "boolean"}, {"type": "integer"}])
NAME = st.sampled_from(NAMES)
#: of few names each
PATTERN = st.sampled_from(["^(ab?)?$", "^a$", "^$", "^[acx]$"])
SAID: dict[str, st.SearchStrategy[Any]] = {
    "required": st.lists(NAME, min_size=1, max_size=2, unique=True),
    "minProperties": st.integers(1, 5),
    "maxProperties": st.integers(0, 3),
    "properties": st.dictionaries(NAME, VALUE, min_size=1, max_size=2),
    "patternProperties": st.dictionaries(PATTERN, VALUE, min_size=1, max_size=1),
}
PART = st.fixed_dictionaries({}, optional=SAID)
CLOSED = st.one_of(
    st.fixed_dictionaries(
        {"propertyNames": st.fixed_dictionaries({"enum": st.lists(NAME, min_size=1, unique=True)})},
        optional={"additionalProperties": VALUE},
    ),
    st.fixed_dictionaries(
        {
            "patternProperties": st.dictionaries(PATTERN, VALUE, min_size=1, max_size=2),
            "additionalProperties": st.just(False),
        }
    ),
)
WHOLE = st.fixed_dictionaries(
    {"type": st.just("object")},
    optional={
        **SAID,
        "oneOf": st.lists(PART, min_size=2, max_size=3),
        "anyOf": st.lists(PART, min_size=2, max_size=2),
        "not": PART,
    },
)


@given(WHOLE, CLOSED, st.sampled_from(["schema", "any"]))
@settings(max_examples=300, deadline=None)
def test_too_few_names_are_seen(whole: dict[str, Any], closed: dict[str, Any], order: Any) -> None:
    schema = whole | closed
    wanted = has_value(schema)
    event(f"has a value: {wanted}")
    try:
        wb.json_schema(schema, property_order=order)
    except UnsatisfiableGrammar:
        assert not wanted
    except GrammarTooComplex:
        return
    else:
        assert wanted


#: Each needs all names of some kind, and forbids some of them together.
EMPTY: list[dict[str, Any]] = [
    {
        "propertyNames": {"enum": ["a", "ab", "c", "x"]},
        "additionalProperties": {"type": "boolean"},
        "oneOf": [{}, {"required": ["a", "ab"]}, {"properties": {"a": True}, "maxProperties": 3}],
    },
    {
        "patternProperties": {"^$": True, "^(ab?)?$": True},
        "additionalProperties": False,
        "minProperties": 3,
        "not": {"required": ["", "a"]},
    },
    {
        "minProperties": 3,
        "not": {"properties": {"x": {"type": "integer"}, "": {"type": "boolean"}}},
        "propertyNames": {"enum": ["", "ab"]},
    },
]


@pytest.mark.parametrize("order", ["schema", "any"])
@pytest.mark.parametrize("schema", EMPTY)
def test_more_members_than_names(schema: dict[str, Any], order: Any) -> None:
    schema = {"type": "object", **schema}
    assert not has_value(schema)
    with pytest.raises(UnsatisfiableGrammar):
        wb.json_schema(schema, property_order=order)


def test_many_names_are_not_counted_for_ever() -> None:
    names = [f"n{i}" for i in range(60)]
    schema = {
        "type": "object",
        "propertyNames": {"enum": names},
        "minProperties": 50,
        "not": {"required": names[:2]},
    }
    assert wb.json_schema(schema).kind == "json_schema"
    with pytest.raises(UnsatisfiableGrammar):
        wb.json_schema({**schema, "minProperties": 61})

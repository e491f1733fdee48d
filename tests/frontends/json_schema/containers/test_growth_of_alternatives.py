"""Alternatives and conditions by the value of one name: exact, and in work that grows with their number."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import jsonschema
import pytest

import workbench as wb
from workbench.frontends.json_schema.containers.derivatives import Derivatives

VOCABULARY = wb.Vocabulary.from_bytes([bytes([byte]) for byte in range(256)], [])
Schema = dict[str, Any]


def kinds(count: int) -> Schema:
    """A condition for each kind, which is not required."""
    conditions = [
        {"if": {"properties": {"kind": {"const": f"k{n}"}}}, "then": {"required": [f"r{n}"]}}
        for n in range(count)
    ]
    return {"type": "object", "properties": {"kind": {"type": "string"}}, "allOf": conditions}


def told_apart(count: int) -> Schema:
    """One of several objects, told apart by a property that is not required."""
    return {
        "oneOf": [
            {
                "type": "object",
                "properties": {"kind": {"enum": [f"k{n}", n]}, f"r{n}": {"const": 1}},
            }
            for n in range(count)
        ]
    }


def allows(compiled: wb.CompiledGrammar, value: Any) -> bool:
    matcher = compiled.matcher()
    return all(map(matcher.accept, json.dumps(value).encode())) and matcher.is_accepting


@pytest.mark.parametrize("schema", [kinds(3), told_apart(3)])
def test_every_small_object_is_judged_as_by_the_validator(schema: Schema) -> None:
    compiled = wb.compile(wb.json_schema(schema, property_order="any"), VOCABULARY)
    validator = jsonschema.Draft202012Validator(schema)
    absent = object()
    for kind, *rest in product([absent, "k0", "k1", "k7", 2, 2.0], *[[absent, 1, 2]] * 3):
        members = {"kind": kind, **{f"r{n}": value for n, value in enumerate(rest)}}
        value = {name: said for name, said in members.items() if said is not absent}
        assert allows(compiled, value) == validator.is_valid(value), value


def test_facts_about_lists_with_other_values_are_decided_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Conditions on one name: the square of their number, not the cube."""
    spent = 0
    spend = Derivatives._spend

    def counted(self: Derivatives, count: int) -> None:
        nonlocal spent
        spent += count
        spend(self, count)

    monkeypatch.setattr(Derivatives, "_spend", counted)
    found = []
    for count in (20, 40, 80):
        spent = 0
        dict(wb.json_schema(kinds(count)).rules)
        found.append(spent)
    assert found[2] / found[1] < 5
    assert found[1] / found[0] < 5


@pytest.mark.parametrize("order", ["schema", "any"])
def test_open_objects_that_deny_all_others_are_refused_before_they_are_written(order: str) -> None:
    choices = [
        {"type": "object", "properties": {f"a{n}": {"type": "string"}}, "required": [f"a{n}"]}
        for n in range(200)
    ]
    with pytest.raises(wb.GrammarTooComplex, match="facts decided"):
        wb.json_schema({"oneOf": choices}, property_order=order)
    wb.json_schema({"anyOf": choices}, property_order=order)

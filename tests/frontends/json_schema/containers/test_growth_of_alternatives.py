"""Alternatives and conditions by the value of one name: exact, and in work that grows with their number."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import jsonschema
import pytest

import workbench as wb
from workbench.frontends.json_schema.containers import alternatives as cases
from workbench.frontends.json_schema.containers.derivatives import Derivatives
from workbench.frontends.json_schema.emit import emitter

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


@pytest.mark.parametrize("required", [False, True])
@pytest.mark.parametrize("form", ["if", "anyOf", "enum"])
def test_cases_by_the_lists_of_one_name(
    form: str, required: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the value of a name says of many conditions at once, each way in which it may be said."""
    monkeypatch.setattr(cases, "_MANY_LISTS", 2)
    monkeypatch.setattr(emitter, "FEW", (1, 1))
    values: list[list[Any]] = [["k0", 0], ["k1", 1], ["k2", None]]
    conditions: list[Schema] = []
    for n, some in enumerate(values):
        test = {"properties": {"kind": {"enum": some}}}
        needs = {"required": [f"r{n}"], "properties": {f"r{n}": {"const": n}}}
        if form == "anyOf":
            conditions.append({"anyOf": [{"not": test}, needs]})
        else:
            conditions.append({"if": test, "then": needs, "else": {"maxProperties": 3}})
    schema: Schema = {"type": "object", "allOf": conditions}
    if required:
        schema["required"] = ["kind"]
    if form == "enum":
        schema["properties"] = {"kind": {"enum": ["k0", 1, None, "none"]}}
    compiled = wb.compile(wb.json_schema(schema, property_order="any"), VOCABULARY)
    judge = jsonschema.Draft202012Validator(schema)
    absent = object()
    for kind, *rest in product([absent, "k0", 1, 1.0, None, True, "x"], *[[absent, 0, 1, 2]] * 3):
        members = {"kind": kind, **{f"r{n}": value for n, value in enumerate(rest)}}
        value = {name: said for name, said in members.items() if said is not absent}
        assert allows(compiled, value) == judge.is_valid(value), value


@pytest.mark.parametrize("order", ["schema", "any"])
def test_conditions_on_many_kinds(order: str) -> None:
    schema = kinds(120)
    compiled = wb.compile(wb.json_schema(schema, property_order=order), VOCABULARY)
    judge = jsonschema.Draft202012Validator(schema)
    for value in (
        {"kind": "k7", "r7": 1},
        {"kind": "k119", "r119": 1, "other": 2},
        {"kind": "k7", "r8": 1},
        {"kind": "none"},
        {"kind": 7},
        {f"r{n}": n for n in range(120)},
        {f"r{n}": n for n in range(119)},
    ):
        assert allows(compiled, value) == judge.is_valid(value), value


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
def test_one_of_many_open_objects_with_a_name_each_is_one_machine(order: str) -> None:
    choices = [
        {"type": "object", "properties": {f"a{n}": {"type": "string"}}, "required": [f"a{n}"]}
        for n in range(60)
    ]
    schema = {"oneOf": choices}
    grammar = wb.json_schema(schema, property_order=order)
    assert len(dict(grammar.rules)) < 60
    compiled, judge = wb.compile(grammar, VOCABULARY), jsonschema.Draft202012Validator(schema)
    for value in (
        {"a0": "x"},
        {"a3": "x", "a40": 1},
        {"a3": 1, "a40": "x"},
        {"a3": "x", "a40": "x"},
        {"a3": 1},
        {},
        {"other": 1},
        {"a59": "x", "other": 1},
        {f"a{n}": "x" if n == 7 else n for n in range(60)},
        {f"a{n}": "x" if n in (7, 9) else n for n in range(60)},
    ):
        assert allows(compiled, value) == judge.is_valid(value), value


def test_one_of_many_open_objects_told_apart_by_a_name_that_may_be_missing() -> None:
    schema = told_apart(60)
    compiled = wb.compile(wb.json_schema(schema), VOCABULARY)
    judge = jsonschema.Draft202012Validator(schema)
    others = {f"r{n}": 2 for n in range(60)}
    for value in (
        {"kind": "k3", "r3": 1},
        {"kind": "k3", "r3": 2},
        {"kind": "k3", "r4": 2},
        {"kind": "none"},
        {"kind": 3.0},
        {},
        others,
        {**others, "r7": 1},
        {**others, "r7": 1, "r59": 1},
        {name: value for name, value in others.items() if name != "r5"},
    ):
        assert allows(compiled, value) == judge.is_valid(value), value


def test_what_one_machine_would_need_too_many_states_for_is_refused_at_its_place() -> None:
    choices = [
        {"properties": {f"a{n}": {"type": "string"}, f"b{n}": {"type": "string"}}}
        for n in range(40)
    ]
    schema = {"properties": {"p": {"type": "object", "oneOf": choices}}, "required": ["p"]}
    with pytest.raises(wb.GrammarTooComplex, match="#/properties/p"):
        dict(wb.json_schema(schema, property_order="any").rules)

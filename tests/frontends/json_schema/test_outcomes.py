"""Outcomes, errors and limits of the JSON Schema front end."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from tests.frontends.ir_match import matches
from workbench.errors import (
    GrammarSyntaxError,
    GrammarTooComplex,
    UnsupportedConstraint,
    WorkbenchError,
)
from workbench.frontends.json_schema import json_schema
from workbench.frontends.json_schema.emit.any_value import ANY_STRING
from workbench.grammar.ir import Graph, Ref, Scope, walk
from workbench.grammar.lazy import LazyRules

OBJECT = {
    "title": "t",
    "type": "object",
    "properties": {"a/b": {"type": "integer", "minimum": 1, "format": "int32"}},
    "additionalProperties": False,
}


def outcomes(schema: Any, **options: Any) -> dict[str, tuple[str, str]]:
    grammar = json_schema(schema, **options)
    return {outcome.pointer: (outcome.keyword, outcome.status) for outcome in grammar.outcomes}


def test_every_keyword_has_one_outcome() -> None:
    assert outcomes(OBJECT, whitespace="any", max_digits=None) == {
        "#/title": ("title", "annotation"),
        "#/type": ("type", "enforced"),
        "#/properties": ("properties", "restricted"),
        "#/additionalProperties": ("additionalProperties", "enforced"),
        "#/properties/a~1b/type": ("type", "restricted"),
        "#/properties/a~1b/minimum": ("minimum", "restricted"),
        "#/properties/a~1b/format": ("format", "annotation"),
    }
    told = [(o.pointer, o.keyword, o.status, o.kinds) for o in json_schema(True).outcomes]
    assert told == [
        ("#", "whitespace", "restricted", ("whitespace",)),
        ("#", "numbers", "restricted", ("length",)),
    ]


def test_the_order_of_names_is_a_restriction_where_it_is_one() -> None:
    for order, restricted in (("schema", True), ("any", False)):
        schemas = ({"properties": {"a": {}}}, {"required": ["a"]}, {"dependencies": {"a": ["b"]}})
        for schema in schemas:
            (said,) = [
                o for o in json_schema(schema, property_order=order).outcomes if o.pointer != "#"
            ]
            assert ("order" in said.detail) == ("order" in said.kinds) == restricted, schema
            assert "escapes" in said.kinds
    assert outcomes({"properties": {}})["#/properties"] == ("properties", "enforced")


ASSERTIONS: list[tuple[dict[str, Any], str]] = [
    ({"pattern": r"^(a+)\1$"}, "#/pattern"),
    ({"patternProperties": {r"(a)\1": {}}}, "#/patternProperties"),
    ({"$ref": "http://other.test/schema"}, "#/$ref"),
    (
        {"properties": {"a/b": {"items": {"pattern": r"(a)\1"}}}},
        "#/properties/a~1b/items/pattern",
    ),
]


@pytest.mark.parametrize(
    ("schema", "pointer"), ASSERTIONS, ids=[pointer for _, pointer in ASSERTIONS]
)
def test_what_is_not_enforced_is_refused_or_reported(schema: dict[str, Any], pointer: str) -> None:
    with pytest.raises(UnsupportedConstraint) as caught:
        json_schema(schema)
    assert caught.value.pointer == pointer
    assert pointer in str(caught.value)
    assert "report" in str(caught.value)
    reported = json_schema(schema, on_unsupported="report")
    found = [o for o in reported.outcomes if o.status == "unsupported"]
    assert [outcome.pointer for outcome in found] == [pointer]
    assert found[0].detail == caught.value.reason
    assert matches(reported, "null" if "type" not in schema else "[]")


@pytest.mark.parametrize(
    "schema",
    [
        {"uniqueItems": False},
        {"type": "array", "uniqueItems": True, "maxItems": 1},
        {"type": "string", "multipleOf": 3},
        {"type": "integer", "format": "date"},
        {"minProperties": 0},
        {"required": ["a"], "minProperties": 1},
        {"properties": {"a": {}}, "additionalProperties": False, "maxProperties": 1},
        {"patternProperties": {}},
        {"propertyNames": True},
        {"unevaluatedItems": True},
        {"oneOf": [{"type": "string"}]},
        {"if": {"type": "string"}},
        {"then": False},
        {"minContains": 3},
        {"$schema": "http://json-schema.org/draft-04/schema#", "if": True, "then": False},
        {"$schema": "https://json-schema.org/draft/2020-12/schema", "additionalItems": False},
        {"$schema": "http://json-schema.org/draft-06/schema#", "unevaluatedItems": False},
    ],
)
def test_what_says_nothing_is_not_refused(schema: dict[str, Any]) -> None:
    assert {o.status for o in json_schema(schema).outcomes} <= {
        "enforced",
        "annotation",
        "restricted",
    }


ERRORS: list[tuple[Any, str, str]] = [
    ({"type": "strin"}, "#/type", "is not a type"),
    ({"type": []}, "#/type", "empty"),
    ({"type": 3}, "#/type", "not a type"),
    ({"properties": []}, "#/properties", "must be an object"),
    ({"properties": {"a": 3}}, "#/properties/a", "must be an object or a boolean, not a number"),
    ({"properties": {"a/~": None}}, "#/properties/a~1~0", "not null"),
    ({"required": "a"}, "#/required", "array of strings"),
    ({"properties": {"a": {"required": True}}}, "#/properties/a/required", "array of strings"),
    ({"enum": "a"}, "#/enum", "array"),
    ({"enum": [{1: 2}]}, "#/enum", "not a string"),
    ({"const": {1, 2}}, "#/const", "not a JSON value"),
    ({"const": float("nan")}, "#/const", "not a JSON value"),
    ({"minimum": "1"}, "#/minimum", "number"),
    ({"minimum": float("inf")}, "#/minimum", "number"),
    ({"maximum": True}, "#/maximum", "number"),
    ({"minLength": -1}, "#/minLength", "whole number"),
    ({"maxItems": 1.5}, "#/maxItems", "whole number"),
    ({"multipleOf": 0}, "#/multipleOf", "above zero"),
    ({"pattern": 1}, "#/pattern", "string"),
    ({"pattern": "a("}, "#/pattern", "column"),
    ({"pattern": "[b-a]"}, "#/pattern", "column"),
    ({"anyOf": []}, "#/anyOf", "not empty"),
    ({"anyOf": {}}, "#/anyOf", "array of schemas"),
    ({"oneOf": []}, "#/oneOf", "not empty"),
    ({"allOf": [1]}, "#/allOf/0", "not a number"),
    ({"items": "a"}, "#/items", "not a string"),
    ({"additionalProperties": "no"}, "#/additionalProperties", "not a string"),
    ({"uniqueItems": 1}, "#/uniqueItems", "boolean"),
    ({"not": 1}, "#/not", "schema"),
    ({"$ref": 1}, "#/$ref", "string"),
    ({"$ref": "#/$defs/a"}, "#/$ref", "leads nowhere"),
    ({"$ref": "#/enum/0", "enum": [1]}, "#/$ref", "does not lead to a schema"),
    ({"$ref": "#nobody"}, "#/$ref", "no schema is named"),
    ({"$ref": "#"}, "#", "without end"),
    ({"allOf": [{"$ref": "#"}]}, "#/allOf/0", "without end"),
    ({"anyOf": [{"type": "string"}, {"$ref": "#"}]}, "#/anyOf/1", "without end"),
    (
        {
            "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"allOf": [{"$ref": "#/$defs/a"}]}},
            "items": {"$ref": "#/$defs/a"},
        },
        "",
        "without end",
    ),
    ({3: 4}, "#", "not a string"),
    (3, "#", "object or a boolean"),
    ([], "#", "object or a boolean"),
    (None, "#", "object or a boolean"),
    (
        {"$schema": "https://json-schema.org/draft/2020-12/schema", "items": [{}]},
        "#/items",
        "prefixItems",
    ),
    (
        {"$schema": "http://json-schema.org/draft-07/schema#", "exclusiveMinimum": True},
        "#/exclusiveMinimum",
        "number",
    ),
]


@pytest.mark.parametrize(
    ("schema", "pointer", "message"), ERRORS, ids=[str(e[0])[:40] for e in ERRORS]
)
def test_malformed_schemas(schema: Any, pointer: str, message: str) -> None:
    with pytest.raises(GrammarSyntaxError, match=message) as caught:
        json_schema(schema)
    assert (caught.value.pointer or "#").startswith(pointer)


def test_errors_come_before_refusals() -> None:
    with pytest.raises(GrammarSyntaxError):
        json_schema({"uniqueItems": True, "properties": {"a": {"type": "strin"}}})


@pytest.mark.parametrize(
    "text", ["", "{", '{"type": }', "nul", "\x00\xff\x7fELF", "{} {}", '{"minimum": NaN}']
)
def test_texts_that_are_not_json(text: str) -> None:
    with pytest.raises(GrammarSyntaxError):
        json_schema(text)


def test_numbers_in_texts_are_exact() -> None:
    digits = "9" * 40
    grammar = json_schema('{"type":"number","minimum":0.1000000000000000000000000001}')
    assert not matches(grammar, "0.1")
    assert matches(grammar, "0.1000000000000000000000000001")
    assert matches(json_schema(f'{{"type":"integer","maximum":{digits}}}'), digits)
    assert not matches(json_schema(f'{{"type":"integer","maximum":{digits}}}'), "1" + "0" * 40)
    assert matches(json_schema('{"type":"integer","maximum":1e40}'), digits)


# Limits


def nested(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "integer"}
    for _ in range(levels):
        schema = {"properties": {"a": schema}, "required": ["a"], "type": "object"}
    return schema


def test_nesting_up_to_the_limit_works() -> None:
    grammar = json_schema(nested(400), whitespace="compact")
    assert len(grammar.rules) > 400
    assert matches(json_schema(nested(60), whitespace="compact"), '{"a":' * 60 + "1" + "}" * 60)


@pytest.mark.parametrize(
    "make",
    [
        lambda: nested(10_000),
        lambda: json.dumps(nested(300)).replace("integer", "string") * 1,
        lambda: '{"items":' * 10_000,
        lambda: "[" * 10_000,
        lambda: '{"items":' * 10_000 + "true" + "}" * 10_000,
        lambda: {"const": deep_list(10_000)},
        lambda: {"enum": [deep_list(700)]},
        lambda: {"anyOf": [deep_all(5_000)]},
        lambda: itself(),
        lambda: {"minimum": 10**10_000},
        lambda: '{"minimum": 1e1000000}',
        lambda: '{"minimum": 1' + "0" * 100_000 + "}",
        lambda: {"type": "string", "pattern": "a.{1,200}b", "maxLength": 10_000},
        lambda: {"type": "string", "maxLength": 10**30},
        lambda: {"type": "array", "maxItems": 10**9, "items": {"type": "integer"}},
    ],
)
def test_extremes_end_soon_with_an_answer_or_a_clear_error(make: Any) -> None:
    schema = make()
    began = time.process_time()
    message = "an answer"
    try:
        json_schema(schema)
    except WorkbenchError as error:
        message = str(error)
    assert len(message) < 1_000
    assert time.process_time() - began < 20


def deep_list(levels: int) -> list[Any]:
    out: list[Any] = []
    for _ in range(levels):
        out = [out]
    return out


def deep_all(levels: int) -> dict[str, Any]:
    out: dict[str, Any] = {"type": "string"}
    for _ in range(levels):
        out = {"allOf": [out]}
    return out


def itself() -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object"}
    schema["properties"] = {"a": schema, "b": schema}
    return schema


@pytest.mark.parametrize("make", [lambda: nested(10_000), lambda: "[" * 10_000, itself])
def test_depth_has_a_named_budget(make: Any) -> None:
    with pytest.raises((GrammarTooComplex, GrammarSyntaxError), match=r"nesting levels|not JSON"):
        json_schema(make())


def test_a_schema_of_five_megabytes() -> None:
    properties = {f"property number {n}": {"type": "string", "maxLength": n} for n in range(70_000)}
    text = json.dumps({"type": "object", "properties": properties, "additionalProperties": False})
    assert len(text) > 4_500_000
    began = time.process_time()
    grammar = json_schema(text)
    assert time.process_time() - began < 60
    parts = {id(part) for expr in grammar.rules.values() for part in walk(expr)}
    assert len(parts) < 30 * len(properties)


def test_objects_are_linear_in_their_properties() -> None:
    def size(count: int) -> int:
        names = {f"n{n}": {"type": "integer"} for n in range(count)}
        root = json_schema({"type": "object", "properties": names}).rules["root"]
        assert isinstance(root, Scope) and isinstance(root.item, Graph)
        return sum(1 for _ in walk(root))

    assert size(2_000) < 2.1 * size(1_000)


def test_counts_are_not_written_out() -> None:
    schema = {
        "type": "array",
        "items": {"type": "string", "maxLength": 100_000},
        "maxItems": 100_000,
    }
    grammar = json_schema(schema)
    assert sum(1 for expr in grammar.rules.values() for _ in walk(expr)) < 150


def test_combinations_are_shared() -> None:
    schema = {
        "$defs": {
            name: {"properties": {"x": {"$ref": f"#/$defs/{other}"}, name: {}}, "type": "object"}
            for name, other in (("a", "b"), ("b", "c"), ("c", "a"))
        },
        "allOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/b"}],
    }
    rules = json_schema(schema).rules
    assert {name for name in rules if "defs" in name and "*" not in name} <= {
        "$defs/a",
        "$defs/b",
        "$defs/c",
    }


# What people read


def test_rules_have_readable_names() -> None:
    schema = {
        "$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}},
        "type": "object",
        "properties": {
            "head": {"$ref": "#/$defs/node"},
            "name": {"type": "string", "maxLength": 5},
            "age": {"type": "integer", "minimum": 0, "exclusiveMaximum": 150},
            "tags": {"type": "array", "items": {"enum": ["x"]}},
            "code": {"type": "string", "pattern": "^[A-Z]+$"},
        },
        "additionalProperties": False,
    }
    names = set(json_schema(schema).rules)
    assert {"root", "$defs/node", "properties/tags", "value", "object", "array"} <= names


def test_origins_point_into_the_schema() -> None:
    rules = json_schema(OBJECT).rules
    pointers = {part.origin.pointer for part in walk(rules["root"]) if part.origin is not None}
    assert {"#", "#/properties/a~1b"} <= pointers


def test_generic_values_are_shared() -> None:
    schema = {"properties": {name: {"type": "string"} for name in "abcdef"}, "type": "object"}
    rules = json_schema(schema).rules
    strings = [part for part in walk(rules["root"]) if part == Ref("string")]
    assert len(strings) == 6
    assert rules["string"] is ANY_STRING
    free = json_schema({"properties": dict.fromkeys("abcdef", True), "type": "object"}).rules
    assert [name for name in free if name.startswith("value")] == ["value"]


def test_rules_are_written_when_they_are_used() -> None:
    schema = {"properties": {n: {"type": "array", "items": {"enum": [n]}} for n in "ab"}}
    rules = json_schema({"type": "object", "required": ["a"], **schema}).rules
    assert isinstance(rules, LazyRules)
    assert set(rules.emitted) == {"root"}
    assert "properties/a" in rules and "properties/c" not in rules


def test_the_grammar_knows_its_source() -> None:
    grammar = json_schema('{"type": "integer"}')
    assert grammar.kind == "json_schema"
    assert grammar.start == "root"
    assert grammar.source == {"type": "integer"}


def test_properties_keep_the_order_of_the_text() -> None:
    schema = {"allOf": [{"properties": {"b": {}}}], "properties": {"a": {}}, "type": "object"}
    assert matches(json_schema(schema, whitespace="compact"), '{"b":1,"a":1}')
    schema = {"type": "object", "properties": {"a": {}}, "allOf": [{"properties": {"b": {}}}]}
    assert matches(json_schema(schema, whitespace="compact"), '{"a":1,"b":1}')
    assert not matches(json_schema(schema, whitespace="compact"), '{"b":1,"a":1}')

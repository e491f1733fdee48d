"""Options of the JSON Schema front end: drafts, formats, other documents, closed objects, spellings."""

from __future__ import annotations

from typing import Any

import pytest
import referencing
from referencing.jsonschema import DRAFT202012

import workbench as wb
from tests.frontends.ir_match import matches
from workbench.errors import UnsupportedConstraint
from workbench.frontends.json_schema import json_schema

BYTES = wb.Vocabulary.from_bytes([*(bytes([byte]) for byte in range(256)), b"</s>"], eos_ids=[256])
PERSON: dict[str, Any] = {
    "type": "object",
    "properties": {"a": {"type": "string"}, "é": {"type": "integer"}},
}

PLAIN_BAD = ["1.0", "1e2", "0,1e2", "0,0,3.0", "0,0,0,1e1", "0,0,0,0,1e30", "0,0,0,0,1.0"]
PLAIN_BAD += ["0,0,0,0,1,4.0", "0,0,0,0,1,0,1E1"]

CASES: list[tuple[str, dict[str, Any], Any, list[str], list[str]]] = [
    # name, options, schema, texts that belong, texts that do not
    (
        "ascii only",
        {"ascii_only": True},
        PERSON,
        [r'{"a":"x\u00e9"}', r'{"\u00e9":1}', '{"b":1}', r'{"a":"\ud83d\ude00","zz":"\n"}'],
        ['{"a":"é"}', '{"é":1}', '{"b":"é"}', r'{"\u0061":1}', '{"a":"😀"}', '{"ö":1}'],
    ),
    (
        "ascii only in patterns",
        {"ascii_only": True},
        {"type": "string", "pattern": "^[é-ü]+$"},
        [r'"\u00e9"', r'"\u00FC\u00e9"'],
        ['"é"', '"e"'],
    ),
    (
        "no numbered escapes",
        {"unicode_escapes": False},
        PERSON,
        ['{"a":"xé"}', '{"é":1}', '{"b":1}', r'{"a":"\n\""}'],
        [r'{"a":"\u00e9"}', r'{"\u00e9":1}', r'{"\u0061":1}'],
    ),
    (
        "plain numbers",
        {"numbers": "plain"},
        {
            "prefixItems": [
                {"type": "integer"},
                {"type": "number"},
                {"type": "integer", "minimum": -3},
                {"type": "number", "minimum": 0},
                {"enum": [1, 2.5, 1e30]},
                {"multipleOf": 4},
                {},
            ]
        },
        ["[12,1.50,-3,0.0,2.5,-8,1.0]", f"[-0,-7,0,3,1{'0' * 30},0,-1]", "[1,1.0,1,1,1]"],
        [f"[{text}]" for text in PLAIN_BAD],
    ),
    ("closed", {"additional_properties": False}, PERSON, ['{"a":"x"}', "{}"], ['{"b":1}']),
    (
        "closed where nothing is said",
        {"additional_properties": False},
        {"properties": {"o": {"type": "object", "properties": {"a": {}}, "patternProperties": {}}}},
        ['{"o":{"b":1}}'],
        ['{"p":1}'],
    ),
    (
        "strict",
        {"strict": True},
        {"type": "object", "properties": {"a": PERSON, "b": {"type": "array", "items": PERSON}}},
        ['{"a":{"a":"x","é":1},"b":[]}'],
        ['{"a":{"a":"x"},"b":[]}', '{"a":{"a":"x","é":1}}', '{"a":{"a":"x","é":1},"b":[],"c":1}'],
    ),
    (
        "formats asserted",
        {},
        {"type": "string", "format": "date"},
        ['"2024-02-29"'],
        ['"2023-02-29"'],
    ),
    (
        "formats annotated",
        {"formats": "annotate"},
        {"type": "string", "format": "date"},
        ['"2023-02-30"', '"x"'],
        ["1"],
    ),
    (
        "draft 4 flags",
        {"draft": 4},
        {"type": "integer", "minimum": 3, "exclusiveMinimum": True},
        ["4"],
        ["3"],
    ),
    (
        "draft 4 has no integers with a fraction",
        {"draft": 4},
        {"properties": {"a": {"type": "integer"}, "b": {"type": "integer", "minimum": 3}}},
        ['{"a":12,"b":30}', '{"a":-1}'],
        ['{"a":12.0}', '{"b":4.0}', '{"b":2}', '{"a":1e1}'],
    ),
    (
        "nor multiples or values",
        {"draft": 4},
        {"items": [{"type": "integer", "multipleOf": 3}, {"type": "integer", "enum": [1, 2]}]},
        ["[9,2]", "[-12,1]"],
        ["[9.0]", "[9,2.0]", "[8]", "[9,3]"],
    ),
    ("draft 6 has them", {"draft": 6}, {"type": "integer"}, ["12.0"], ["12.5"]),
    ("draft 4 has no const", {"draft": 4}, {"const": 1}, ["2"], []),
    ("draft 6 has const", {"draft": 6}, {"const": 1}, ["1"], ["2"]),
    (
        "draft 7 ignores what is beside a reference",
        {"draft": 7},
        {
            "definitions": {"a": {}},
            "properties": {"x": {"$ref": "#/definitions/a", "type": "null"}},
        },
        ['{"x":1}'],
        [],
    ),
    (
        "draft 2019 does not",
        {"draft": 2019},
        {"$defs": {"a": {}}, "properties": {"x": {"$ref": "#/$defs/a", "type": "null"}}},
        ['{"x":null}'],
        ['{"x":1}'],
    ),
]


@pytest.mark.parametrize(
    ("options", "schema", "good", "bad"), [case[1:] for case in CASES], ids=[c[0] for c in CASES]
)
def test_option(options: dict[str, Any], schema: Any, good: list[str], bad: list[str]) -> None:
    grammar = json_schema(schema, whitespace="compact", **options)
    for text in good:
        assert matches(grammar, text), text
    for text in bad:
        assert not matches(grammar, text), text


LEAF = {"$id": "http://test/leaf", "type": "object", "properties": {"next": {"$ref": "leaf"}}}


@pytest.mark.parametrize("plain", [True, False])
def test_other_documents(plain: bool) -> None:
    registry: Any = {"http://test/leaf": LEAF}
    if not plain:
        resource = referencing.Resource(LEAF, DRAFT202012)
        registry = referencing.Registry().with_resource("http://test/leaf", resource)
    schema = {"$id": "http://test/root", "items": {"$ref": "leaf"}, "type": "array"}
    grammar = json_schema(schema, registry=registry, whitespace="compact")
    assert matches(grammar, '[{"next":{"next":{}}}]')
    assert not matches(grammar, '[{"next":1}]')
    with pytest.raises(UnsupportedConstraint, match="registry"):
        json_schema(schema)


@pytest.mark.parametrize("uri", ["draft-04/schema#", "draft-07/schema", "draft/2020-12/schema"])
def test_meta_schemas_are_known(uri: str) -> None:
    pytest.importorskip("jsonschema_specifications")
    scheme = "https" if "2020" in uri else "http"
    schema = {"$ref": f"{scheme}://json-schema.org/{uri}"}
    grammar = json_schema(schema, whitespace="compact", on_unsupported="report")
    assert matches(grammar, '{"properties":{"a":{"maximum":3}},"type":"object"}')
    assert not matches(grammar, '{"properties":{"a":{"maximum":"3"}},"type":"object"}')
    with pytest.raises(UnsupportedConstraint, match="registry"):
        json_schema({"$ref": "http://json-schema.org/draft-99/schema"})


def test_dynamic_references() -> None:
    tree = {
        "$id": "http://test/tree",
        "$dynamicAnchor": "node",
        "type": "object",
        "properties": {"kids": {"type": "array", "items": {"$dynamicRef": "#node"}}},
    }
    closed = {
        "$id": "http://test/closed",
        "$dynamicAnchor": "node",
        "$ref": "tree",
        "unevaluatedProperties": False,
    }
    registry = {"http://test/tree": tree}
    grammar = json_schema(closed, registry=registry, whitespace="compact")
    assert matches(grammar, '{"kids":[{"kids":[]}]}')
    assert not matches(grammar, '{"kids":[{"kid":[]}]}')
    assert matches(json_schema(tree, whitespace="compact"), '{"kids":[{"kid":[]}]}')


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"formats": "some"}, "formats"),
        ({"draft": 3}, "draft"),
        ({"ascii_only": True, "unicode_escapes": False}, "ascii_only"),
    ],
)
def test_bad_options(options: dict[str, Any], word: str) -> None:
    with pytest.raises(ValueError, match=word):
        json_schema(True, **options)


def test_options_are_listed_as_restrictions() -> None:
    outcomes = json_schema(PERSON, strict=True, ascii_only=True).outcomes
    found = {
        (outcome.pointer, outcome.keyword) for outcome in outcomes if outcome.status == "restricted"
    }
    assert {("#", "escapes"), ("#/additionalProperties", "additionalProperties")} <= found


def engine_takes(grammar: wb.Grammar, text: str) -> bool:
    data = text.encode("utf-8", "surrogatepass")
    matcher = wb.compile(grammar, BYTES).matcher()
    return matcher.accept_tokens(data) == len(data) and matcher.is_accepting


@pytest.mark.parametrize(
    ("options", "schema", "good", "bad"), [case[1:] for case in CASES], ids=[c[0] for c in CASES]
)
def test_option_in_the_engine(
    options: dict[str, Any], schema: Any, good: list[str], bad: list[str]
) -> None:
    grammar = json_schema(schema, whitespace="compact", **options)
    assert all(engine_takes(grammar, text) for text in good)
    assert not any(engine_takes(grammar, text) for text in bad)
    free = json_schema(schema, whitespace="compact", **{"property_order": "any", **options})
    assert all(engine_takes(free, text) for text in good)


@pytest.mark.parametrize("order", ["schema", "any"])
def test_without_numbered_escapes_names_come_once_all_the_same(order: str) -> None:
    grammar = json_schema({"type": "object"}, unicode_escapes=False, property_order=order)
    assert engine_takes(grammar, '{"b": 1, "c": 2}')
    assert not engine_takes(grammar, '{"b": 1, "b": 2}')
    assert not engine_takes(grammar, '{"b": "\\u0062"}')

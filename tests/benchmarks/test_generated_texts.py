"""Texts walked at random out of a schema's masks end, and ``jsonschema`` accepts them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.frontends.walks import small_vocabulary
from workbench.benchmarks.generated_texts import generate_and_judge, keywords_in, stratified
from workbench.benchmarks.maskbench import read_archive
from workbench.benchmarks.validator import (
    as_python,
    exact_schema,
    found_in,
    validator_of,
)
from workbench.vocabulary import Vocabulary

DATA = Path(__file__).parents[3] / "shared" / "data"
ARCHIVE, TOKENIZER = DATA / "maskbench-dev.tar.xz", DATA / "llama-3.1-tokenizer.json.xz"

ORDERS = ("schema", "any")

SCHEMAS: dict[str, Any] = {
    "scalars": {
        "type": "array",
        "minItems": 6,
        "items": {
            "anyOf": [
                {"type": "integer", "minimum": -3, "exclusiveMaximum": 400},
                {"type": "number", "multipleOf": 0.25, "maximum": 10},
                {"type": "number", "exclusiveMinimum": 0},
                {"type": ["boolean", "null"]},
                {"enum": [1.5, "é\n", [1, {"a": None}], {"b": 2}]},
                {"const": -0.0},
            ]
        },
    },
    "strings": {
        "type": "object",
        "properties": {
            "a": {"type": "string", "minLength": 2, "maxLength": 4},
            "b": {"type": "string", "pattern": "^[a-c]+(?=.)[^a]*$", "maxLength": 6},
            "c": {"type": "string", "pattern": "b$", "not": {"pattern": "^a"}},
            "d": {"type": "string", "not": {"enum": ["x", ""]}, "maxLength": 1},
        },
        "required": ["a", "b", "c", "d"],
    },
    "formats": {
        "type": "object",
        "properties": {
            name: {"type": "string", "format": name}
            for name in ("date", "date-time", "time", "email", "ipv4", "ipv6", "uri", "uuid")
        },
        "required": ["date", "date-time", "time", "email", "ipv4", "ipv6", "uri", "uuid"],
    },
    "keys": {
        "type": "object",
        "properties": {"ab": {"type": "integer"}, "b": {"maximum": 3}},
        "patternProperties": {"^a": {"type": "number", "minimum": 5}, "z$": {"type": "null"}},
        "additionalProperties": {"type": "boolean"},
        "propertyNames": {"maxLength": 3},
        "minProperties": 2,
        "required": ["ab", "q"],
    },
    "counts": {"type": "object", "minProperties": 2, "maxProperties": 4, "properties": {"a": {}}},
    "contains": {
        "type": "array",
        "prefixItems": [{"type": "string"}],
        "items": {"type": "integer"},
        "contains": {"minimum": 7, "type": "integer"},
        "minContains": 2,
        "maxContains": 3,
        "maxItems": 6,
    },
    "unique": {"type": "array", "uniqueItems": True, "items": {"enum": [1, 2, "3"]}, "minItems": 2},
    "choices": {
        "oneOf": [
            {"type": "object", "properties": {"k": {"const": 1}, "v": {"type": "null"}}},
            {"type": "object", "required": ["v"], "properties": {"v": {"type": "string"}}},
        ],
        "not": {"required": ["n"]},
    },
    "conditions": {
        "type": "object",
        "properties": {"kind": {"enum": ["a", "b"]}, "x": {"type": "integer"}, "y": {}},
        "if": {"properties": {"kind": {"const": "a"}}, "required": ["kind"]},
        "then": {"required": ["x"]},
        "else": {"required": ["y"]},
        "dependentRequired": {"x": ["kind"]},
        "dependentSchemas": {"y": {"properties": {"x": {"maximum": 0}}}},
    },
    "tree": {
        "$ref": "#/$defs/node",
        "$defs": {
            "node": {
                "type": "object",
                "properties": {
                    "v": {"type": "integer"},
                    "kids": {"items": {"$ref": "#/$defs/node"}},
                },
                "required": ["v"],
            }
        },
        "unevaluatedProperties": False,
    },
    "draft 4": {
        "$schema": "http://json-schema.org/draft-04/schema#",
        "type": "object",
        "properties": {"a": {"type": "integer", "minimum": 0, "exclusiveMinimum": True}},
        "required": ["a"],
        "dependencies": {"b": ["c"], "c": {"properties": {"a": {"maximum": 9}}}},
    },
}


@pytest.fixture(scope="module")
def small() -> Vocabulary:
    return small_vocabulary()


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", SCHEMAS)
def test_walks_end_in_valid_documents(small: Vocabulary, name: str, order: str) -> None:
    record = generate_and_judge(json.dumps(SCHEMAS[name]), small, order, 20, 64, "0")
    assert record["refused"] is None and record["wrong"] == [] and record["documents"] == 21


@pytest.mark.skipif(
    not (ARCHIVE.exists() and TOKENIZER.exists()), reason="the real schemas are not there"
)
def test_walks_of_real_schemas() -> None:
    vocabulary = Vocabulary.load(str(TOKENIZER))
    files = dict(read_archive(ARCHIVE))
    schemas = {name: json.loads(raw)["schema"] for name, raw in files.items()}
    wrong: list[Any] = []
    documents = 0
    for name in stratified(schemas, 14, seed=1):
        for order in ORDERS:
            schema = exact_schema(files[name])
            record = generate_and_judge(schema, vocabulary, order, 1, 40, name)
            wrong += [(name, order, one) for one in record["wrong"]]
            documents += record["documents"]
    assert not wrong
    assert documents > 20 * len(ORDERS)


def test_schemas_are_drawn_by_keyword() -> None:
    schemas = {f"s{number}": {"type": "object"} for number in range(100)}
    schemas["rare"] = {"items": {"contains": {"format": "uuid"}}}
    assert keywords_in(schemas["rare"]) == {"items", "contains", "format", "format:uuid"}
    chosen = stratified(schemas, 5, seed=3)
    assert len(chosen) == len(set(chosen)) == 5 and "rare" in chosen
    assert chosen == stratified(schemas, 5, seed=3) != stratified(schemas, 5, seed=4)


def test_the_draw_is_the_same_in_every_process() -> None:
    program = (
        "from workbench.benchmarks.generated_texts import stratified as draw\n"
        "words = ['type', 'enum', 'not', 'items', 'format', 'minimum', 'required']\n"
        "some = {str(n): {w: 1 for i, w in enumerate(words) if n >> i & 1} for n in range(128)}\n"
        "print(draw(some, 40, 0))"
    )
    drawn = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in (1, 2, 3)
    }
    assert len(drawn) == 1 and "'" in drawn.pop()


def test_numbers_of_a_schema_are_kept_as_written() -> None:
    raw = b'{"tests": [], "schema": {"maximum": 1e400, "x": [0.10, 12345678901234567890, "1"]}}'
    assert exact_schema(raw) == '{"maximum": 1e400, "x": [0.10, 12345678901234567890, "1"]}'


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        (r"^\w+$", "é", False),
        (r"^\W+$", "é", True),
        (r"^[\w-]+$", "a-é", False),
        (r"^\d$", "٣", False),
        (r"^[^\d]$", "٣", True),
        (r"^\s$", "\ufeff", True),
        (r"^\S$", "\x1c", True),
        ("^a$", "a\n", False),
        (r"^a\$", "a$", True),
        (r"^[$]$", "$", True),
        (r"^\\d$", "\\d", True),
        (r"^[\]\d]$", "]", True),
    ],
)
def test_patterns_mean_what_ecma_says(pattern: str, text: str, found: bool) -> None:
    assert found_in(as_python(pattern), text) == found
    for keyword, value in (("pattern", text), ("patternProperties", {text: 0})):
        schema = {keyword: pattern if keyword == "pattern" else {pattern: False}}
        complains = validator_of(json.dumps(schema))(json.dumps(value)) is not None
        assert complains == (found if keyword == "patternProperties" else not found)


WRONG: list[tuple[Any, str]] = [
    ({"maximum": 3}, "4"),
    ({"multipleOf": 0.01}, "0.015"),
    ({"type": "integer"}, "1.5"),
    ({"$schema": "http://json-schema.org/draft-04/schema#", "type": "integer"}, "1.0"),
    ({"pattern": r"^\p{L}+$"}, '"a1"'),
    ({"format": "date"}, '"2023-02-30"'),
    ({"items": [{"type": "null"}]}, "[1]"),
    ({"definitions": {"a": {"type": "null"}}, "items": [{"$ref": "#/definitions/a"}]}, "[1]"),
    ({}, '{"a":1,"a":2}'),
    ({}, "{"),
]


@pytest.mark.parametrize(("schema", "text"), WRONG, ids=str)
def test_the_judge_finds_what_is_wrong(schema: Any, text: str) -> None:
    assert validator_of(json.dumps(schema))(text) is not None


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ({"multipleOf": 0.1}, "0.3"),
        ({"type": "integer"}, "1.0"),
        ({"minimum": 0}, "1e99999999999999"),
        ({"pattern": r"^\p{L}+$"}, '"é"'),
    ],
    ids=str,
)
def test_the_judge_is_exact(schema: Any, text: str) -> None:
    assert validator_of(json.dumps(schema))(text) is None

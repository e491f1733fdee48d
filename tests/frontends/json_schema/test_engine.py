"""JSON Schema through the engine: the same verdicts, masks that agree, on bytes and on a real tokenizer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

from tests.frontends.json_schema.test_front import CASES
from workbench.engine import compile, empty_mask
from workbench.errors import UnsatisfiableGrammar
from workbench.frontends.json_schema import json_schema
from workbench.vocabulary import Vocabulary

TOKENIZER = Path(__file__).parents[4] / "shared" / "data" / "llama-3.1-tokenizer.json.xz"

ORDER = {
    "$defs": {
        "money": {
            "type": "object",
            "properties": {
                "amount": {"type": "number", "minimum": 0},
                "currency": {"enum": ["EUR", "CHF"]},
            },
            "required": ["amount", "currency"],
            "additionalProperties": False,
        }
    },
    "type": "object",
    "properties": {
        "id": {"type": "string", "pattern": "^[A-Z]{2}-[0-9]{4}$"},
        "note": {"type": "string", "maxLength": 40},
        "lines": {
            "type": "array",
            "minItems": 1,
            "maxItems": 3,
            "items": {
                "type": "object",
                "properties": {
                    "sku": {"type": "string", "minLength": 1},
                    "count": {"type": "integer", "minimum": 1, "maximum": 99},
                    "price": {"$ref": "#/$defs/money"},
                },
                "required": ["sku", "count"],
            },
        },
        "gift": {"anyOf": [{"type": "boolean"}, {"type": "null"}]},
    },
    "required": ["id", "lines"],
}
VALID = {
    "id": "AB-2041",
    "note": 'Déjà vu "soon" 😀\n',
    "lines": [
        {"sku": "x1", "count": 7, "price": {"amount": 12.5, "currency": "CHF"}, "tint": "red"},
        {"sku": "x2", "count": 99},
    ],
    "gift": None,
    "extra": {"a": [1, 2.5e-3]},
}


@pytest.fixture(scope="module")
def small() -> Vocabulary:
    """Every byte, and some tokens that cross the borders of JSON's tokens."""
    longer = [
        b'":',
        b'","',
        b"}}",
        b'{"a":',
        b"1,",
        b"\\u00",
        b"ab",
        b"]}",
        b'"}',
        "é".encode(),
        b".0",
    ]
    tokens = [bytes([byte]) for byte in range(256)] + longer + [b""]
    return Vocabulary.from_bytes(tokens, eos_ids=(len(tokens) - 1,), special_ids=(len(tokens) - 1,))


@pytest.fixture(scope="module")
def llama() -> Vocabulary:
    if not TOKENIZER.exists():
        pytest.skip("the Llama tokenizer is not there")
    return Vocabulary.load(str(TOKENIZER))


def allowed(mask: Any, token: int) -> bool:
    return bool(int(mask[token // 32]) >> (token % 32) & 1)


@pytest.mark.parametrize(
    ("schema", "good", "bad"), [case[1:] for case in CASES], ids=[c[0] for c in CASES]
)
def test_verdicts_of_the_engine(
    small: Vocabulary, schema: Any, good: list[str], bad: list[str]
) -> None:
    if not good:
        with pytest.raises(UnsatisfiableGrammar):
            json_schema(schema)
        return
    compiled = compile(json_schema(schema, whitespace="compact"), small)
    for text, belongs in [*((text, True) for text in good), *((text, False) for text in bad)]:
        matcher = compiled.matcher()
        data = text.encode()
        taken = matcher.accept_tokens(list(data))
        assert (taken == len(data) and matcher.is_accepting) == belongs, text


A = "#/properties/a"
IMPOSSIBLE: list[tuple[dict[str, Any], str]] = [
    ({"properties": {"a": {"type": "string", "enum": [1]}}, "required": ["a"]}, A),
    ({"properties": {"a": False}, "required": ["a"]}, A),
    ({"properties": {"a": {"const": 5, "maximum": 4}}, "required": ["a"]}, A),
    ({"properties": {"a": {"type": "integer", "minimum": 5, "maximum": 4}}, "required": ["a"]}, A),
    (
        {
            "properties": {"a": {"type": "string", "maxLength": 1, "pattern": "ab"}},
            "required": ["a"],
        },
        A,
    ),
    ({"properties": {"a": {"type": "array", "minItems": 1, "maxItems": 0}}, "required": ["a"]}, A),
    ({"required": ["a"], "additionalProperties": False}, "#/additionalProperties"),
    ({"properties": {"next": {"$ref": "#"}}, "required": ["next"]}, "#"),
    ({"allOf": [{"type": "null"}, {"required": ["a"]}]}, "#"),
]


@pytest.mark.parametrize(("schema", "pointer"), IMPOSSIBLE)
def test_what_can_never_complete_is_named(schema: Any, pointer: str) -> None:
    with pytest.raises(UnsatisfiableGrammar) as caught:
        json_schema({"type": "object", **schema})
    assert caught.value.part == pointer


def walk_along(compiled: Any, ids: list[int]) -> int:
    """Check that the mask allows just what is accepted, token by token; returns how many were."""
    vocabulary = compiled.vocabulary
    matcher = compiled.matcher()
    mask = empty_mask(vocabulary)
    for position, token in enumerate(ids):
        matcher.fill_mask(mask)
        assert np.any(mask)
        assert allowed(mask, vocabulary.eos_ids[0]) == matcher.is_accepting
        fits = allowed(mask, token)
        assert matcher.accept(token) == fits
        if not fits:
            return position
    return len(ids) if matcher.is_accepting else -1


def encode(vocabulary: Vocabulary, text: str) -> list[int]:
    tokenizer: Any = vocabulary.tokenizer
    found = tokenizer.encode(text, add_special_tokens=False)
    return list(getattr(found, "ids", found))


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("ascii_only", [False, True])
def test_a_valid_order_on_the_real_vocabulary(
    llama: Vocabulary, indent: int | None, ascii_only: bool
) -> None:
    jsonschema.validate(VALID, ORDER)
    compiled = compile(json_schema(ORDER), llama)
    ids = encode(llama, json.dumps(VALID, indent=indent, ensure_ascii=ascii_only))
    assert walk_along(compiled, ids) == len(ids)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"AB-2041"', '"AB-204"'),
        ('"count": 99', '"count": 100'),
        ('"currency": "CHF"', '"currency": "USD"'),
        ('"amount": 12.5', '"amount": -12.5'),
        (', "gift": null', ', "gift": 0'),
        ('"note": "', '"note": "01234567890123456789012345'),
        ('"lines": [{', '"lines": [{"sku": "a", "count": 1}, {"sku": "b", "count": 1}, {'),
        ('"id": "AB-2041", ', ""),
        ('"sku": "x2", ', ""),
    ],
)
def test_invalid_orders_stop_on_the_real_vocabulary(llama: Vocabulary, old: str, new: str) -> None:
    text = json.dumps(VALID, ensure_ascii=False)
    assert old in text
    changed = text.replace(old, new)
    assert not jsonschema.Draft202012Validator(ORDER).is_valid(json.loads(changed))
    compiled = compile(json_schema(ORDER), llama)
    assert walk_along(compiled, encode(llama, changed)) < len(encode(llama, changed))

"""Pretty-printed texts: just what ``json.dumps(indent=…)`` writes."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from tests.frontends.walks import small_vocabulary
from workbench.benchmarks.generated_texts import walked_text
from workbench.engine import compile
from workbench.frontends.json_schema import json_schema
from workbench.vocabulary import Vocabulary

ORDERS = ("schema", "any")

TREE: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "pattern": "^[a-z]+$"},
        "kids": {"type": "array", "items": {"$ref": "#"}},
    },
    "required": ["kids"],
    "additionalProperties": False,
}
CASES: list[tuple[Any, list[Any]]] = [
    (True, [{}, [], 1, "a\nb", {"a": {}, "b": [[], [1, {"c": []}]]}, [[[[]]]]]),
    (TREE, [{"name": "a", "kids": [{"kids": []}, {"name": "b", "kids": [{"kids": []}]}]}]),
    ({"enum": [[], [1], {"a": [True, {}]}]}, [[], [1], {"a": [True, {}]}]),
    (
        {"properties": {"a": {}, "b": {"type": "null"}}, "minProperties": 1},
        [{"a": 1}, {"b": None}, {"a": [2], "b": None, "c": {"d": "e"}}],
    ),
    (
        {"type": "object", "properties": {"a": {}}, "dependentRequired": {"a": ["b"]}},
        [{}, {"a": 1, "b": [2]}],
    ),
    (
        {"prefixItems": [{}, {"type": "object"}], "contains": {"const": 3}, "minItems": 2},
        [[1, {"x": [3]}, 3], [3, {}]],
    ),
    ({"type": "array", "items": {"enum": [1, [2], "x"]}, "uniqueItems": True}, [[], [1, [2]]]),
]


@pytest.fixture(scope="module")
def small() -> Vocabulary:
    return small_vocabulary()


def accepts(compiled: Any, text: str) -> bool:
    matcher = compiled.matcher()
    data = text.encode()
    return matcher.accept_tokens(list(data)) == len(data) and matcher.is_accepting


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("indent", [2, 0, "\t"])
@pytest.mark.parametrize(("schema", "values"), CASES, ids=range(len(CASES)))
def test_what_dumps_writes_and_nothing_else(
    small: Vocabulary, schema: Any, values: list[Any], indent: Any, order: str
) -> None:
    compiled = compile(json_schema(schema, indent=indent, property_order=order), small)
    for value in values:
        assert accepts(compiled, json.dumps(value, indent=indent)), value
        nested = isinstance(value, list | dict) and value
        for other in (json.dumps(value), json.dumps(value, indent=5), json.dumps(value) + " "):
            assert accepts(compiled, other) == (not nested and not other.endswith(" "))
    for seed in range(6):
        text = walked_text(compiled.matcher(), random.Random(seed), 40)
        value = json.loads(text, parse_float=_Number, parse_int=_Number)
        written = json.dumps(value, indent=indent, default=str)
        assert text.count("\n") == written.count("\n")
        assert [line[: _margin(line)] for line in text.split("\n")] == [
            line[: _margin(line)] for line in written.split("\n")
        ]


class _Number(str):
    """A number in the notation in which it was written; any token without a line break would do."""


def _margin(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


def test_separators_go_with_it(small: Vocabulary) -> None:
    compiled = compile(json_schema(True, indent=1, separators=(", ", " :")), small)
    assert accepts(compiled, json.dumps({"a": [1, 2]}, indent=1, separators=(", ", " :")))
    assert not accepts(compiled, json.dumps({"a": [1, 2]}, indent=1))


def test_deep_texts_end(small: Vocabulary) -> None:
    compiled = compile(json_schema(True, indent=1), small)
    value: Any = []
    for _ in range(62):
        value = [value]
    assert accepts(compiled, json.dumps(value, indent=1))
    matcher = compiled.matcher()
    line = "[\n" + " " * 64
    for level in range(1, 200):
        text = f"[\n{' ' * min(level, 64)}"
        assert matcher.accept_tokens(list(text.encode())) == len(text), line
    assert matcher.finish_distance() is not None


def test_only_what_is_reached_is_written() -> None:
    rules = json_schema(TREE, indent=2).rules
    assert set(rules.emitted) == {"root"}  # type: ignore[attr-defined]
    assert "properties/kids" in rules and "root@1" in rules and "root@2" not in rules


@pytest.mark.parametrize("indent", [-1, "x", "--"])
def test_bad_indents(indent: Any) -> None:
    with pytest.raises(ValueError, match="indent"):
        json_schema(True, indent=indent)

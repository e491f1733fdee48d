"""JSON Schema keyword by keyword: texts that belong and texts that do not, by the specification."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.frontends.ir_match import matches
from tests.frontends.json_schema.scalar_cases import SCALARS
from tests.frontends.json_schema.shape_cases import LEAF, SHAPES
from workbench.errors import UnsatisfiableGrammar
from workbench.frontends.json_schema import json_schema

CASES = [*SCALARS, *SHAPES]


@pytest.mark.parametrize(
    ("schema", "good", "bad"), [case[1:] for case in CASES], ids=[c[0] for c in CASES]
)
def test_keyword(schema: Any, good: list[str], bad: list[str]) -> None:
    """Without whitespace, read from Python objects and from text: the same language."""
    for given in (schema, json.dumps(schema)):
        if not good:
            with pytest.raises(UnsatisfiableGrammar):
                json_schema(given)
            continue
        grammar = json_schema(given, whitespace="compact")
        for text in good:
            assert matches(grammar, text), text
        for text in bad:
            assert not matches(grammar, text), text


SPACED = {"type": "object", "properties": {"a": {"items": LEAF, "type": "array"}, "b": {}}}
PRETTY = json.dumps({"a": [1, 2], "b": {"c": []}, "d": "x"}, indent=4)


@pytest.mark.parametrize("text", [PRETTY, "{ }", '{"a" :[ ] , "b":\t{\r\n} }', '{"a":[1 ,2]}'])
def test_whitespace_between_values(text: str) -> None:
    for whitespace in ("bounded", "any"):
        assert matches(json_schema(SPACED, whitespace=whitespace), text)
    assert not matches(json_schema(SPACED, whitespace="compact"), text)


def test_whitespace_runs_are_bounded() -> None:
    grammar = json_schema(SPACED, max_whitespace=3)
    assert matches(grammar, '{   "a"   :   [   1   ]   }')
    assert not matches(grammar, "{    }")
    assert not matches(grammar, " {}")
    assert not matches(grammar, "{} ")
    assert matches(json_schema(SPACED, whitespace="any"), "  {" + " " * 100 + "} ")
    assert matches(json_schema({"type": "integer"}, max_whitespace=0), "1")


def test_fixed_separators() -> None:
    grammar = json_schema(SPACED, separators=(", ", ": "))
    assert matches(grammar, '{"a": [1, 2], "b": {"c": [], "d": 1}}')
    assert not matches(grammar, '{"a":[1, 2]}')
    assert not matches(grammar, '{"a": [1,2]}')
    assert not matches(grammar, '{ "a": []}')


def test_whitespace_is_not_allowed_inside_tokens() -> None:
    grammar = json_schema(True, whitespace="any")
    for text in ("1 2", "tr ue", '"a" "b"', "- 1", "{a :1}"):
        assert not matches(grammar, text)


@pytest.mark.parametrize(
    "options",
    [
        {"whitespace": "some"},
        {"max_whitespace": -1},
        {"property_order": "none"},
        {"on_unsupported": "ignore"},
        {"separators": (";", ":")},
        {"separators": (",", "=")},
    ],
)
def test_bad_options(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(options))):
        json_schema(True, **options)

"""Look-ahead, word boundaries and anchors inside patterns, against Python's ``re`` on all short texts."""

from __future__ import annotations

import itertools
import re

import pytest

from tests.frontends.ir_match import matches
from workbench.errors import UnsupportedConstraint
from workbench.frontends.json_schema import json_schema
from workbench.frontends.json_schema.lookaround import look_automaton

PATTERNS = [
    r"^(?!mode)(?!Mode).*$",
    r"^((?!ab)(?!ba).)*$",
    r"a\b",
    r"\ba",
    r"\Bab\b",
    r"^(?=.*a)(?=.*b)[ab-]+$",
    r"(?=a)|b$",
    r"a(?!b)",
    r"(?!a)b",
    r"(a|(?=b))c?$",
    r"^(?:(?!a|b).)+$",
    r"x^|a$b|^$",
    r"^a(?!b(?!c))",
    r"(?:a\b|b)*-$",
    r"^(?![ab]*$)",
    r"((?:[^b]*b)*)(?=a(b|-))",
    r"^(?:a(?=b)|b(?!b)){1,3}$",
    r"(?<name>a)(?!\b)",
]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_all_short_texts(pattern: str) -> None:
    dfa = look_automaton(pattern)
    wanted = re.compile(pattern.replace("$", r"\Z").replace("(?<", "(?P<"))
    for length in range(6):
        for letters in itertools.product("abc-", repeat=length):
            text = "".join(letters)
            assert dfa.accepts(text) == bool(wanted.search(text)), text


def test_patterns_of_schemas() -> None:
    grammar = json_schema({"type": "string", "pattern": "^(?!pattern$).*$", "maxLength": 9})
    assert matches(grammar, '"patterns"')
    assert not matches(grammar, '"pattern"')
    names = json_schema(
        {
            "type": "object",
            "patternProperties": {r"^(?!@@)\w+$": True},
            "additionalProperties": False,
        },
        whitespace="compact",
    )
    assert matches(names, '{"a":1}')
    assert not matches(names, '{"@@a":1}')


@pytest.mark.parametrize("pattern", [r"(?<=a)b", r"(?<!a)b", r"(a)\1"])
def test_what_is_not_supported(pattern: str) -> None:
    with pytest.raises(UnsupportedConstraint, match="not supported"):
        json_schema({"type": "string", "pattern": pattern})

"""Patterns that begin with look-aheads, against Python's ``re`` on all short texts and some longer ones."""

from __future__ import annotations

import itertools
import json
import random
import re

import pytest
from hypothesis import given, settings, strategies as st

import workbench as wb
from workbench.frontends.json_schema.scalars.look_aheads import parts_of
from workbench.frontends.json_schema.scalars.patterns import Pattern, pattern_automaton

VOCABULARY = wb.Vocabulary.from_bytes([bytes([byte]) for byte in range(256)], [])
SHORT = ["".join(chars) for n in range(5) for chars in itertools.product("aB1-", repeat=n)]

LOOKS = [
    "(?=.*[a-z])",
    "(?=.*B)",
    r"(?=.*\d)",
    r"(?=.*[^\w])",
    "(?!-)",
    "(?!(a|B1|1)$)",
    "(?!.*--)",
    "(?!a|^1)",
    "(?=.{2,3}$)",
    "(?=[a-zB1-]{3}$)",
    "(?=[^)|(]{1,}$)",
    "(?=a)",
    "(?=(?!B)[aB])",
    r"(?=\(|a|[|]|B)",
]
BODIES = [
    "",
    "$",
    ".*$",
    ".{2,4}$",
    "[a-z]",
    r"[aB1-]{1,2}(-[aB1]{1,2})*$",
    r"a*(?!B)[B1]*$",
    "(a|B|1)+",
    r"\w{0,3}$",
]


def texts(seed: int) -> list[str]:
    source = random.Random(seed)
    return [*SHORT, *("".join(source.choices("aB1-(|", k=source.randint(5, 9))) for _ in range(60))]


@given(
    st.lists(st.sampled_from(LOOKS), min_size=1, max_size=4), st.sampled_from(BODIES), st.integers()
)
@settings(max_examples=60, deadline=None)
def test_the_texts_are_those_of_the_pattern(looks: list[str], body: str, seed: int) -> None:
    pattern = "^" + "".join(looks) + body
    assert parts_of(pattern) is not None
    judge, found = re.compile(pattern), Pattern(pattern, "#")
    yes, no = pattern_automaton(pattern), pattern_automaton(pattern, False)
    for text in texts(seed):
        matches = judge.search(text) is not None
        assert yes.accepts(text) == found.found_in(text) == matches, (pattern, text)
        assert no.accepts(text) != matches


@pytest.mark.parametrize(
    "pattern",
    [
        "^(?=a)b|c",
        "^(?=a)*b",
        "^(?=a)?",
        "(?=a)b",
        "^a(?=b)",
        "^(?:(?=a)b)",
        "^(?=[]a])b",
        "^(?=a",
    ],
)
def test_what_does_not_begin_so_is_not_divided(pattern: str) -> None:
    assert parts_of(pattern) is None


@pytest.mark.parametrize(
    ("pattern", "valid", "invalid"),
    [
        (
            r"^(?=.{1,253}$)(?!-)[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63})*$",
            ["a", "a.b-", "a" * 63 + "." + "b" * 63, ".".join(["a" * 62] * 4)],
            ["", "-a", "a" * 64, "a.", ".".join(["a" * 63] * 4)],
        ),
        (
            r"^(?=.*[a-z])(?=.*[A-Z])(?=.*\d)(?=.*[^\w]).{8,400}$",
            ["aA1-5678", "-" * 397 + "aA1"],
            ["aA1-567", "aA1x5678", "-" * 398 + "aA1"],
        ),
        (
            "^(?!(" + "|".join(f"word{n}" for n in range(500)) + ")$)",
            ["", "word", "word500", "word12x"],
            ["word0", "word499"],
        ),
    ],
)
@pytest.mark.parametrize("keyword", ["pattern", "not", "maxLength"])
def test_counts_and_lists_beside_look_aheads(
    pattern: str, valid: list[str], invalid: list[str], keyword: str
) -> None:
    schema: dict[str, object] = {"type": "string", "pattern": pattern}
    if keyword == "not":
        schema = {"type": "string", "not": {"pattern": pattern}}
        valid, invalid = invalid, valid
    elif keyword == "maxLength":
        schema = {"type": "string", "allOf": [{"pattern": pattern}, {"maxLength": 250}]}
        valid = [text for text in valid if len(text) <= 250]
    compiled = wb.compile(wb.json_schema(schema), VOCABULARY)

    def allows(text: str) -> bool:
        matcher = compiled.matcher()
        return all(map(matcher.accept, json.dumps(text).encode())) and matcher.is_accepting

    assert [text for text in valid if not allows(text)] == []
    assert [text for text in invalid if allows(text)] == []

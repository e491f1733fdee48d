"""Word boundaries that are said with the parts around them, against ``re`` and against the automaton."""

from __future__ import annotations

import itertools
import re

import pytest

from workbench.automaton.finite import Recogniser
from workbench.frontends.json_schema import json_schema
from workbench.frontends.json_schema.scalars.boundaries import with_boundaries
from workbench.frontends.lookaround import look_automaton
from workbench.grammar.ir import Expr

TEXTS = ["".join(chars) for n in range(6) for chars in itertools.product("a. ", repeat=n)]

CUT = [
    r"\ba",
    r"a\b",
    r"\ba\b",
    r"^a*\b[. ]*$",
    r"^[a.]{1,3}\b[. a]*$",
    r"[a.]{2}\b(\.|a{1,2})?",
    r"\b",
    r"^\b",
    r"^(a|\.)*\b$",
    r"^a?\.?\b a?$",
    r"(a|b\.)\b[^a]\ba",
    r"^(?:a?){2,3}\b",
    r"^\\b|a\b$",
    r"a\b(?:x|\. ?)*$",
]


def recogniser(expr: Expr | None) -> Recogniser:
    assert expr is not None
    return Recogniser(expr)


@pytest.mark.parametrize("pattern", CUT)
def test_cut_patterns_mean_the_same(pattern: str) -> None:
    cut = with_boundaries(pattern)
    if cut is None:
        # Alternatives that hold a boundary are left to the automaton.
        assert pattern == r"^\\b|a\b$"
        return
    found = Recogniser(cut)
    slow = look_automaton(pattern)
    for text in TEXTS:
        assert found.accepts(text) == (re.search(pattern, text) is not None), text
        assert found.accepts(text) == slow.accepts(text), text


@pytest.mark.parametrize(
    "pattern", [r"(a\b)+", r"(?=a\b)a", r"a\b|b", r"[\b]", "a", r"\\b", r"a\B"]
)
def test_what_is_left_to_the_automaton(pattern: str) -> None:
    assert with_boundaries(pattern) is None


URL = (
    r"^https?:\/\/(www\.)?[-a-zA-Z0-9@:%._\+~#=]{1,256}\.[a-zA-Z0-9()]{1,6}\b"
    r"([-a-zA-Z0-9()@:%_\+.~#?&//=]*)$"
)


def test_the_pattern_of_urls_that_everybody_copies() -> None:
    found = recogniser(with_boundaries(URL))
    for text in ("http://a.b", "https://www.x.org/a?b=c#d", "http://a.b()x", "https://a.co(/", "x"):
        assert found.accepts(text) == (re.search(URL, text) is not None), text
    json_schema({"type": "string", "pattern": URL, "maxLength": 2000})

"""Look-around, word boundaries and anchors inside patterns, on all short texts.

Python's ``re`` is the judge where it can be: its look-behind has one width. Beside it stands a matcher that
follows ECMA-262's definition, by sets of places, without any automaton.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given, settings, strategies as st

from tests.frontends.ir_match import matches
from workbench.errors import GrammarSyntaxError, GrammarTooComplex, UnsupportedConstraint
from workbench.frontends.json_schema import json_schema
from workbench.frontends.lookaround import look_automaton, looks_around
from workbench.frontends.regex import regex

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
    r"(?<=a)b",
    r"(?<!a)b",
    r"(?<!^)a",
    r"(?<=^a)b|c$",
    r"^(?:a|(?<=a)b|(?<!-)c)*$",
    r"(?<=(?<!a)b)c",
    r"(?<=\ba)(?=b)",
    r"(?<!\B.)c",
    r"(?=.(?<=a))..(?<!b)$",
    r"(?<=a(?=b))(?!bc).*(?<!-)$",
    r"(?<=a(?!b(?<=ab)c)).$",
    r"^(?=(?:.*(?<=a)b){2})",
    r"(?<=)a(?<!)",
]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_all_short_texts(pattern: str) -> None:
    dfa = look_automaton(pattern)
    wanted = re.compile(pattern.replace("$", r"\Z").replace("(?<n", "(?P<n"))
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


def _places(text: str, at: int, node: tuple, backwards: bool) -> Iterator[int]:  # type: ignore[type-arg]
    """Where a match of a part from a place on can end; a look-behind matches from right to left."""
    kind, *rest = node
    step = -1 if backwards else 1
    if kind == "set":
        read = at - 1 if backwards else at
        if 0 <= read < len(text) and text[read] in rest[0]:
            yield at + step
    elif kind == "row":
        here = {at}
        for part in rest[::-1] if backwards else rest:
            here = {end for one in here for end in _places(text, one, part, backwards)}
        yield from here
    elif kind == "or":
        for part in rest:
            yield from _places(text, at, part, backwards)
    elif kind == "many":
        part, least, most = rest
        here, turn = {at}, 0
        found = set(here) if not least else set()
        while here and turn < (len(text) + least + 1 if most is None else most):
            here = {end for one in here for end in _places(text, one, part, backwards)}
            turn += 1
            found |= here if turn >= least else set()
        yield from found
    elif kind == "look":
        part, behind, positive = rest
        if any(True for _ in _places(text, at, part, behind)) == positive:
            yield at
    else:
        sides = [0 <= i < len(text) and text[i] != "-" for i in (at - 1, at)]
        tests = {
            "^": at == 0,
            "$": at == len(text),
            r"\b": sides[0] != sides[1],
            r"\B": sides[0] == sides[1],
        }
        if tests[kind]:
            yield at


def _spelled(node: tuple) -> str:  # type: ignore[type-arg]
    kind, *rest = node
    if kind == "set":
        return rest[0] if len(rest[0]) == 1 else f"[{rest[0]}]"
    if kind == "row":
        return "".join(map(_spelled, rest))
    if kind == "or":
        return "(?:" + "|".join(map(_spelled, rest)) + ")"
    if kind == "many":
        part, least, most = rest
        return f"(?:{_spelled(part)}){{{least},{'' if most is None else most}}}"
    if kind == "look":
        part, behind, positive = rest
        return f"(?{'<' if behind else ''}{'=' if positive else '!'}{_spelled(part)})"
    return str(kind)


NODES = st.recursive(
    st.sampled_from([("set", "a"), ("set", "b"), ("set", "ab"), ("set", "-a")])
    | st.sampled_from([("^",), ("$",), (r"\b",), (r"\B",)]),
    lambda below: st.one_of(
        st.lists(below, min_size=1, max_size=3).map(lambda parts: ("row", *parts)),
        st.lists(below, min_size=2, max_size=2).map(lambda parts: ("or", *parts)),
        st.tuples(st.just("many"), below, st.integers(0, 2), st.sampled_from([None, 2])),
        st.tuples(st.just("look"), below, st.booleans(), st.booleans()),
        st.tuples(st.just("look"), below, st.just(True), st.booleans()),
    ),
    max_leaves=6,
)
TEXTS = ["".join(some) for n in range(5) for some in itertools.product("ab-", repeat=n)]


def _check(node: tuple, accepts: Callable[[str], bool], whole: bool) -> None:  # type: ignore[type-arg]
    for text in TEXTS:
        if whole:
            wanted = len(text) in _places(text, 0, node, False)
        else:
            starts = range(len(text) + 1)
            wanted = any(True for at in starts for _ in _places(text, at, node, False))
        assert accepts(text) == wanted, (_spelled(node), text)


@given(NODES, st.booleans())
@settings(max_examples=300, deadline=None)
def test_random_patterns(node: tuple, whole: bool) -> None:  # type: ignore[type-arg]
    try:
        dfa = look_automaton(_spelled(node), whole=whole)
    except GrammarTooComplex:
        return
    _check(node, dfa.accepts, whole)


A, B, DASH = ("set", "a"), ("set", "b"), ("set", "-")


def _many(node: tuple, least: int = 0) -> tuple:  # type: ignore[type-arg]
    return ("many", node, least, None)


#: Look-behind of any width, both ways at once, and inside out.
WIDE = [
    ("row", ("look", ("row", A, _many(B)), True, True), DASH),
    ("row", ("look", _many(("row", A, B), 1), True, False), DASH),
    _many(("or", A, ("row", ("look", ("row", ("^",), _many(A)), True, True), B))),
    (
        "row",
        (
            "look",
            ("row", ("look", ("row", _many(("set", "ab")), DASH), False, True), A),
            True,
            True,
        ),
        B,
    ),
    ("look", ("look", ("row", A, ("look", B, False, False)), True, True), True, False),
]


@pytest.mark.parametrize("node", WIDE, ids=_spelled)
@pytest.mark.parametrize("whole", [False, True])
def test_look_behind_of_any_width(node: tuple, whole: bool) -> None:  # type: ignore[type-arg]
    _check(node, look_automaton(_spelled(node), whole=whole).accepts, whole)


def test_look_around_in_whole_patterns() -> None:
    grammar = regex(r"(?i)[a-z]+(?<!end)\.(?=[ct])\w{3}")
    assert matches(grammar, "start.CSV") and matches(grammar, "END2.txt"[:3] + "x.txt")
    assert not matches(grammar, "theEnd.csv") and not matches(grammar, "start.doc")
    words = regex(r"(?:\w+\b ?)+")
    assert matches(words, "two words") and not matches(words, "two  words")


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        (r"(?<=a)*b", "a look-behind cannot be repeated"),
        (r"(?<=(a))\1", r"a back-reference \\1 is not supported"),
        ("(?=a", "never closed"),
    ],
)
def test_malformed_look_around(pattern: str, reason: str) -> None:
    with pytest.raises(GrammarSyntaxError, match=reason):
        regex(pattern)


@pytest.mark.parametrize(
    ("pattern", "looks"),
    [(r"\(?=", False), (r"[(?=]", False), (r"\\b", False), (r"\\\b", True), (r"a(?<!b)", True)],
)
def test_what_looks_around(pattern: str, looks: bool) -> None:
    assert looks_around(pattern) == looks


def test_too_many_gaps_are_refused() -> None:
    pattern = "".join(f"(?<!a.{{{n}}}b)(?!c.{{{n}}}d)." for n in range(9, 14))
    with pytest.raises(GrammarTooComplex, match="states of a pattern"):
        look_automaton(pattern)


def test_look_behind_in_schemas() -> None:
    grammar = json_schema({"type": "string", "pattern": r"^[a-z.]+(?<!\.)$"})
    assert matches(grammar, '"a.b"')
    assert not matches(grammar, '"a."')
    assert [one.status for one in grammar.outcomes if one.keyword == "pattern"] == ["enforced"]


@pytest.mark.parametrize("pattern", [r"(a)\1", r"(?<x>a)(?<=b)\k<x>"])
def test_what_is_not_supported(pattern: str) -> None:
    with pytest.raises(UnsupportedConstraint, match=r"back-reference .* is not supported"):
        json_schema({"type": "string", "pattern": pattern})

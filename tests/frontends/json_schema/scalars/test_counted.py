"""Patterns with lengths that are written a few characters at a time, and multiples that are listed."""

from __future__ import annotations

import json
import random
import re
from fractions import Fraction
from typing import Any

import pytest

from tests.frontends.ir_match import matches
from tests.frontends.walks import small_vocabulary
from workbench.automaton.budgets import Budgets
from workbench.benchmarks.generated_texts import generate_and_judge
from workbench.engine import compile
from workbench.errors import GrammarTooComplex, UnsatisfiableGrammar
from workbench.frontends.json_schema import json_schema
from workbench.frontends.json_schema.logic import intervals, strings

WORDS = r"^(?:\S+\s+){0,49}\S+$"

CASES: list[tuple[str, int, int]] = [
    (WORDS, 1, 500),
    (r"^(a|bb)*$", 0, 40),
    (r"^(a|bb)*$", 33, 35),
    (r"b[^c]{3}$", 2, 50),
    (r"^\d+(,\d{3})*$", 5, 17),
    (r"é|^$", 0, 18),
    (r"^[^a]*a?$", 16, 16),
]


@pytest.mark.parametrize(("pattern", "low", "high"), CASES)
def test_each_text_is_judged_by_pattern_and_length(
    pattern: str, low: int, high: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(strings, "MAX_COUNTED", 0)
    strings._content.cache_clear()
    schema = {"type": "string", "pattern": pattern, "minLength": low, "maxLength": high}
    compiled = compile(json_schema(schema), small_vocabulary())
    strings._content.cache_clear()
    source = random.Random(pattern)
    verdicts = []
    for _ in range(400):
        letters = source.choice(["a", "1", "ab", "a b\n", "1,", "aéc", "abc😀 "])
        size = source.choice([low, high, high + 1, source.randint(0, high + 2)])
        text = "".join(source.choices(letters, k=size))
        belongs = low <= len(text) <= high and re.search(pattern, text) is not None
        data = json.dumps(text, ensure_ascii=source.random() < 0.5).encode()
        matcher = compiled.matcher()
        taken = matcher.accept_tokens(list(data)) == len(data) and matcher.is_accepting
        if "$" not in pattern or not text.endswith("\n"):  # Python's $ is another one
            assert taken == belongs, text
            verdicts.append(taken)
    assert any(verdicts) and not all(verdicts)


def test_only_what_a_text_meets_is_written() -> None:
    grammar = json_schema({"type": "string", "pattern": WORDS, "maxLength": 500})
    compiled = compile(grammar, small_vocabulary())
    text = json.dumps("ab cde " * 12 + "f").encode()
    matcher = compiled.matcher()
    assert matcher.accept_tokens(list(text)) == len(text)
    assert matcher.is_accepting
    assert len(grammar.rules.emitted) < 100  # type: ignore[attr-defined]


def test_walks_end_and_are_valid() -> None:
    schema = json.dumps({"type": "string", "pattern": WORDS, "minLength": 20, "maxLength": 150})
    record = generate_and_judge(schema, small_vocabulary(), "schema", 4, 40, "0")
    assert record["refused"] is None and record["wrong"] == []


def test_nothing_left_and_too_much() -> None:
    with pytest.raises(UnsatisfiableGrammar):
        json_schema({"type": "string", "pattern": "^(aaaa)*$", "minLength": 997, "maxLength": 999})
    with pytest.raises(GrammarTooComplex, match=f"{Budgets().length_states:,} states of a pattern"):
        json_schema(
            {"type": "string", "pattern": "^(ab|c)*$", "minLength": 10**8, "maxLength": 10**8}
        )


BOXES: list[dict[str, Any]] = [
    {"multipleOf": 33, "minimum": -300, "exclusiveMaximum": 99, "not": {"multipleOf": 606}},
    {"multipleOf": 0.75, "minimum": -3, "maximum": 3, "not": {"multipleOf": 1.25}},
    {
        "exclusiveMinimum": -1212,
        "maximum": 12120,
        "allOf": [{"multipleOf": 404}, {"multipleOf": 3}, {"not": {"multipleOf": 1111}}],
    },
]


@pytest.mark.parametrize("box", BOXES, ids=str)
def test_few_multiples_are_listed(box: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    def grammar() -> Any:
        intervals._written.cache_clear()
        return json_schema({"type": "number", **box}, whitespace="compact")

    slow = grammar()
    monkeypatch.setattr(intervals, "number_of", lambda *_: pytest.fail("not listed"))
    # Told by their digits all the same where that is cheap: here everything is dear.
    monkeypatch.setattr(intervals, "_DEAR", 0)
    listed = grammar()
    intervals._written.cache_clear()
    for quarter in range(-1300 * 4, 13000 * 4, 1 if len(box) == 4 else 3):
        text = json.dumps(float(Fraction(quarter, 4)))
        assert matches(listed, text) == matches(slow, text), text


FEW: list[tuple[dict[str, Any], list[str], list[str]]] = [
    (
        {"pattern": "^(a|bc?|d[xy])$", "not": {"pattern": "x"}, "maxLength": 2},
        ['"a"', '"b"', '"bc"', '"dy"', r'"\u0064y"', r'"\u0062"'],
        ['"dx"', '"d"', '""', '"abc"'],
    ),
    ({"allOf": [{"pattern": "^Max$"}, {"pattern": "^Ma"}, {"format": "hostname"}]}, ['"Max"'], []),
    (
        {"pattern": "^a?$", "anyOf": [{"minLength": 1}, {"pattern": "^$"}], "not": {"const": "a"}},
        ['""'],
        ['"a"'],
    ),
    ({"pattern": "^[0-9]?$", "not": {"pattern": "^[0-8]"}}, ['""', '"9"', r'"\u0039"'], ['"0"']),
]


@pytest.mark.parametrize(("schema", "good", "bad"), FEW, ids=range(len(FEW)))
def test_patterns_of_a_few_texts(schema: dict[str, Any], good: list[str], bad: list[str]) -> None:
    grammar = json_schema({"type": "string", **schema}, whitespace="compact")
    assert all(matches(grammar, text) for text in good)
    assert not any(matches(grammar, text) for text in bad)


def test_patterns_of_one_text_tell_alternatives_apart() -> None:
    parts = []
    for n in range(12):
        each = {"type": {"type": "string", "pattern": f"^Part{n}$"}, "v": {"enum": [n]}}
        parts.append({"type": "object", "properties": each, "required": ["type"]})
    compiled = compile(json_schema({"oneOf": parts}), small_vocabulary())
    for text, belongs in (
        ('{"type": "Part7", "v": 7}', True),
        ('{"type": "Part7", "v": 8}', False),
        ('{"type": "Part12"}', False),
    ):
        matcher = compiled.matcher()
        taken = matcher.accept_tokens(list(text.encode()))
        assert (taken == len(text) and matcher.is_accepting) == belongs, text

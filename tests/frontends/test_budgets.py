"""Budgets: each message names a way to raise the limit, and going that way helps."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

import workbench as wb
from workbench.automaton.budgets import using
from workbench.frontends.json_schema.containers.obligations import needs

BYTES = wb.Vocabulary.from_bytes([*(bytes([b]) for b in range(256)), b""], eos_ids=256)
#: The field and its value in the advice of a message, and whom it is for.
ADVICE = re.compile(
    r"raise the limit, as in budgets=workbench\.Budgets\((\w+)=([\d_]+)\) for (.+)$"
)

ANY_ORDER: dict[str, Any] = {
    "type": "object",
    "properties": {name: {"type": "integer"} for name in "abcdef"},
    "anyOf": [{"required": [a, b]} for a, b in ("ab", "cd", "ef", "ad", "be")],
    "minProperties": 3,
}


LARGE: dict[str, Any] = {
    "type": "object",
    "properties": {name: {"type": "integer"} for name in "abcdefgh"},
    "anyOf": [
        {"required": [a, b], "properties": {c: {"minimum": ord(a)}}}
        for a, b, c in zip("abcdefgh", "bcdefgha", "cdefghab", strict=True)
    ],
}


def _ways(budgets: wb.Budgets) -> None:
    """A state from which two pairs of names lead to the end of the object, each by itself."""
    with using(budgets):
        needs([[(1, 1), (4, 2)], [(2, 3)], [(8, 3)], []], [3])


def schema(value: Any, **options: Any) -> Callable[[wb.Budgets], object]:
    """A schema, with all of its rules written."""
    return lambda budgets: dict(wb.json_schema(value, budgets=budgets, **options).rules)


#: The field that runs out, and what needs more of it than 1.
FRONT_ENDS: dict[str, Callable[[wb.Budgets], object]] = {
    "finite_states": lambda b: wb.gbnf('root ::= [a-d]{7} & ~"abcdabc"', budgets=b),
    "finite_work": lambda b: wb.complement(wb.regex("abcdabd"), budgets=b),
    "pattern_positions": lambda b: wb.regex("(?=abcdabe)[a-e]+", budgets=b),
    "pattern_states": lambda b: wb.regex("(?=abcdabf)[a-f]+", budgets=b),
    "pattern_pairs": lambda b: wb.regex("[a-g]+(?<=abcdabg)", budgets=b),
    "length_states": schema({"type": "string", "pattern": "^(a|bcd)+x?$", "maxLength": 5000}),
    "schemas": schema({"properties": {"a": {"type": "string"}, "b": {"type": "null"}}}),
    "values": schema({"$ref": "#/$defs/a", "$defs": {"a": {"$anchor": "x"}, "b": {"$ref": "#x"}}}),
    "combinations": schema({"allOf": [{"properties": {"a": {"minimum": 2}}}, {"required": ["a"]}]}),
    "unevaluated_ways": schema(
        {
            "anyOf": [{"properties": {name: {"type": "string"}}} for name in "abcdef"],
            "unevaluatedProperties": False,
        }
    ),
    "name_cells": schema(
        {"patternProperties": {f"^.{{{n}}}q": {"minimum": n} for n in range(4)}, "type": "object"}
    ),
    "choices": schema(ANY_ORDER),
    "facts": schema(ANY_ORDER),
    "object_states": schema(ANY_ORDER),
    "free_members": schema(LARGE, property_order="any"),
    "free_ways": _ways,
    "free_steps": _ways,
    "intervals": schema({"type": "number", "not": {"enum": [1, 5, 9]}}),
    "remainders": schema({"type": "integer", "multipleOf": 37}),
    "digits": schema({"type": "integer", "minimum": Decimal("123456789012")}),
}


def advised(error: wb.GrammarTooComplex, field: str, budgets: wb.Budgets, place: str) -> wb.Budgets:
    """The budgets that a message asks for."""
    found = ADVICE.search(str(error))
    assert found, error
    assert found[1] == error.field == field
    assert found[3] == place
    assert int(found[2]) > getattr(budgets, found[1])
    return replace(budgets, **{found[1]: int(found[2])})


def forget() -> None:
    """What was worked out under other budgets, by any test of this process, is not kept."""
    for name, module in list(sys.modules.items()):
        if name.startswith("workbench."):
            for value in vars(module).values():
                if callable(clear := getattr(value, "cache_clear", None)):
                    clear()


@pytest.mark.parametrize("field", FRONT_ENDS)
def test_raising_what_a_front_end_names_helps(field: str) -> None:
    forget()
    budgets = replace(wb.Budgets(), **{field: 1})
    refused = 0
    for _ in range(40):
        try:
            FRONT_ENDS[field](budgets)
        except wb.GrammarTooComplex as error:
            refused += 1
            budgets = advised(error, field, budgets, "the front end")
        else:
            break
    else:
        pytest.fail("it never helped")
    assert refused, "the budget was not asked"


COMPILED: dict[str, Callable[[wb.Budgets], object]] = {
    "positions": lambda b: wb.compile(wb.regex("[a-z]{9}q"), BYTES, b),
    "states": lambda b: wb.compile(wb.regex("[a-z]{9}r"), BYTES, b),
    "step_work": lambda b: _walk(wb.compile(wb.gbnf('root ::= "(" root ")" |'), BYTES, b)),
}


def _walk(compiled: wb.CompiledGrammar) -> None:
    matcher = compiled.matcher()
    for byte in b"((())":
        matcher.fill_mask(wb.empty_mask(BYTES))
        matcher.accept(byte)


@pytest.mark.parametrize("field", COMPILED)
def test_raising_what_compile_names_helps(field: str) -> None:
    budgets = replace(wb.Budgets(), **{field: 1})
    refused = 0
    for _ in range(40):
        try:
            COMPILED[field](budgets)
        except wb.GrammarTooComplex as error:
            refused += 1
            budgets = advised(error, field, budgets, "compile")
        else:
            break
    else:
        pytest.fail("it never helped")
    assert refused, "the budget was not asked"


def test_a_limit_that_is_fixed_promises_nothing() -> None:
    deep: Any = {"type": "string"}
    for _ in range(600):
        deep = {"not": deep}
    with pytest.raises(wb.GrammarTooComplex) as caught:
        wb.json_schema(deep)
    assert caught.value.field is None
    assert str(caught.value).endswith("simplify it there")
    with pytest.raises(wb.GrammarTooComplex) as caught:
        dict(wb.json_schema({"type": "integer", "multipleOf": 10**40 + 1}).rules)
    assert caught.value.field is None


def test_types_take_budgets_too() -> None:
    with pytest.raises(wb.GrammarTooComplex) as caught:
        wb.from_type(dict[str, int], budgets=wb.Budgets(schemas=1))
    assert caught.value.field == "schemas"
    assert wb.from_type(dict[str, int], budgets=wb.Budgets(schemas=10))


def test_rules_that_are_written_later_keep_their_budgets() -> None:
    wide = {"type": "object", "additionalProperties": {"type": "integer", "multipleOf": 7919}}
    value = {"anyOf": [{"type": "array", "items": {"type": "array", "items": wide}}, {"const": 1}]}
    tight = wb.json_schema(value, budgets=wb.Budgets(remainders=100))
    raised = wb.json_schema(value, budgets=wb.Budgets(remainders=1_000_000))
    with pytest.raises(wb.GrammarTooComplex, match=r"remainders of multipleOf.*remainders=200\)"):
        dict(tight.rules)
    assert dict(raised.rules)
    # another budget is another grammar: what is compiled of one is not taken for the other
    assert wb.compile(raised, BYTES) is not wb.compile(tight, BYTES)


def test_a_pattern_past_a_limit_is_read_with_more() -> None:
    pattern = "(?=" + "[ab]" * 310 + "c)[abc]+"
    with pytest.raises(wb.GrammarTooComplex, match="300 positions of a pattern"):
        wb.regex(pattern, budgets=wb.Budgets(pattern_positions=300))
    assert wb.regex(pattern)


def test_a_long_pattern_does_not_fill_the_message() -> None:
    pattern = "(?=" + "a" * 310 + "c)[abc]+"
    with pytest.raises(wb.GrammarTooComplex, match=r"in rule '\(\?=a+…'") as caught:
        wb.regex(pattern, budgets=wb.Budgets(finite_work=100))
    assert caught.value.rule == pattern
    assert len(str(caught.value)) < 300


def test_more_states_than_the_default_for_an_operation() -> None:
    pattern = wb.regex("(a|b)*a(a|b){14}")
    with pytest.raises(wb.GrammarTooComplex) as caught:
        wb.complement(pattern)
    assert caught.value.field == "finite_states"
    assert wb.complement(pattern, budgets=wb.Budgets(finite_states=40_000, finite_work=10_000_000))
    assert wb.complement(pattern, max_states=40_000, budgets=wb.Budgets(finite_work=10_000_000))


@pytest.mark.parametrize(
    "front",
    [
        lambda: wb.regex("a", budgets=3),  # type: ignore[arg-type]
        lambda: wb.gbnf('root ::= "a"', budgets={}),  # type: ignore[arg-type]
        lambda: wb.json_schema({}, budgets="large"),  # type: ignore[arg-type]
        lambda: wb.complement(wb.regex("a"), budgets=3),  # type: ignore[arg-type]
        lambda: wb.compile(wb.regex("a"), BYTES, 3),  # type: ignore[arg-type]
    ],
)
def test_what_is_no_budgets(front: Callable[[], object]) -> None:
    with pytest.raises(wb.WrongType, match=r"takes Budgets, not a.*budgets=workbench.Budgets\("):
        front()


@pytest.mark.parametrize("value", [0, -1, 1.5, "12", None, True, float("inf")])
@pytest.mark.parametrize("name", ["states", "arena_words", "digits"])
def test_a_budget_is_a_positive_integer(name: str, value: Any) -> None:
    error = ValueError if type(value) is int else wb.WrongType
    with pytest.raises(error, match=f"Budgets.{name} takes a positive integer"):
        wb.Budgets(**{name: value})


def test_a_budget_may_be_a_number_of_numpy() -> None:
    made = wb.Budgets(states=np.int64(7))
    assert type(made.states) is int
    assert made == wb.Budgets(states=7)

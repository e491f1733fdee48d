"""Numbers have an end: how many digits may come in a row, wherever a number stands."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pydantic
import pytest

import workbench as wb

BYTES = wb.Vocabulary.from_bytes([*(bytes([byte]) for byte in range(256)), b"</s>"], eos_ids=[256])
DIGITS = frozenset(b"0123456789")


def accepts(grammar: wb.Grammar, text: str) -> bool:
    data = text.encode()
    matcher = wb.compile(grammar, BYTES).matcher()
    return matcher.accept_tokens(data) == len(data) and matcher.is_accepting


#: a schema, what stands before a run, the digit that makes it, and how many of them may come
RUNS: list[tuple[Any, str, str, int]] = [
    ({"type": "integer", "minimum": 0, "maximum": 150}, "15.", "0", 100),
    ({"type": "integer", "minimum": 0, "maximum": 150}, "150.", "0", 100),
    ({"type": "integer"}, "", "7", 100),
    ({"type": "integer"}, "-", "7", 100),
    ({"type": "integer"}, "7.", "0", 100),
    ({"type": "integer"}, "7e", "0", 100),
    ({"type": "integer", "minimum": 5}, "", "7", 100),
    ({"type": "number"}, "0.", "0", 100),
    ({"type": "number"}, "1E-", "9", 100),
    ({"type": "number", "minimum": -90, "maximum": 90}, "-12.", "5", 100),
    ({"type": "number", "minimum": -90, "maximum": 90}, "90.", "0", 100),
    ({"type": "number", "exclusiveMinimum": 0.5}, "0.6", "0", 99),
    ({"type": "number", "maximum": 2.25}, "2.25", "0", 98),
    ({"type": "number", "minimum": 0}, "", "4", 100),
    ({"type": "number", "exclusiveMaximum": 0}, "-3.", "4", 100),
    ({"type": "number", "multipleOf": 0.01}, "", "3", 100),
    ({"type": "number", "multipleOf": 0.01}, "3.25", "0", 99),
    ({"not": {"const": 5}, "type": "number"}, "6.", "1", 100),
    ({"not": {"multipleOf": 0.5}, "type": "number"}, "0.1", "1", 99),
    ({"const": 5}, "5.", "0", 100),
    ({"enum": [1.5, "a"]}, "1.5", "0", 99),
    (True, "", "8", 100),
    (True, "8.", "8", 100),
    (True, "8e", "8", 100),
    ({"type": "array"}, "[8.", "8", 100),
    ({"type": "object"}, '{"a":-', "8", 100),
    ({"uniqueItems": True, "type": "array", "items": {"type": "integer"}}, "[", "1", 30),
    ({"uniqueItems": True, "type": "array", "items": {"type": "number"}}, "[0.", "1", 30),
    ({"uniqueItems": True, "type": "array"}, "[[", "1", 30),
]


@pytest.mark.parametrize(
    ("schema", "before", "digit", "most"), RUNS, ids=[str(r[:2]) for r in RUNS]
)
@pytest.mark.parametrize("order", ["schema", "any"])
def test_a_run_of_digits_ends(schema: Any, before: str, digit: str, most: int, order: str) -> None:
    grammar = wb.json_schema(schema, property_order=order)
    matcher = wb.compile(grammar, BYTES).matcher()
    assert matcher.accept_tokens(before.encode()) == len(before)
    assert matcher.accept_tokens((digit * 6_000).encode()) == most
    assert not matcher.allowed_bytes() & DIGITS
    assert matcher.allowed_bytes() or matcher.is_accepting
    told = [o.detail for o in grammar.outcomes if "length" in o.kinds and o.status == "restricted"]
    assert any(f"at most {100 if most > 30 else 30} digits" in detail for detail in told)
    endless = wb.compile(wb.json_schema(schema, max_digits=None), BYTES).matcher()
    text = before + digit * 300
    assert endless.accept_tokens(text.encode()) == len(text)


@pytest.mark.parametrize("multiple", [2, 3, 5, 7, 9, 10, 24, 60, 360, 0.3])
def test_multiples_end_soon_where_each_digit_counts(multiple: float) -> None:
    grammar = wb.json_schema({"multipleOf": multiple, "type": "number"})
    value = Decimal(str(multiple)) * 10**28
    assert accepts(grammar, f"{value:f}") and accepts(grammar, f"-{value:f}")
    matcher = wb.compile(grammar, BYTES).matcher()
    read = matcher.accept_tokens((f"{value:f}" + "0" * 6_000).encode())
    assert 30 <= read <= 40
    assert matcher.is_accepting
    (said,) = [o for o in grammar.outcomes if o.keyword == "multipleOf"]
    assert "at most 30 digits" in said.detail and said.kinds == ("length", "notation")


@pytest.mark.parametrize(
    ("schema", "texts"),
    [
        ({"minimum": 10**150, "type": "integer"}, ["1" + "0" * 150, "2" + "1" * 150, "1" * 152]),
        ({"const": 10**150}, ["1" + "0" * 150, "1" + "0" * 150 + ".0"]),
        ({"maximum": -(10**150)}, ["-1" + "0" * 150]),
        ({"exclusiveMinimum": Decimal("1e-150"), "maximum": Decimal("1.1e-150")}, ["0." + "0" * 149 + "105"]),
        ({"minimum": Decimal("1e-150"), "maximum": Decimal("1e-150")}, ["0." + "0" * 149 + "1"]),
        ({"uniqueItems": True, "items": {"type": "integer", "minimum": 10**40}}, [f"[{10**40},{10**41}]"]),
    ],
    ids=str,
)  # fmt: skip
def test_what_a_schema_needs_is_longer(schema: Any, texts: list[str]) -> None:
    for options in ({}, {"max_digits": 1}):
        grammar = wb.json_schema(schema, **options)
        for text in texts:
            if options and text == "1" * 152:
                continue
            assert accepts(grammar, text), (options, text)
        assert not accepts(grammar, texts[0].strip("[]") + "0" * 6_000)


def test_many_remainders_have_no_limit_and_say_so() -> None:
    grammar = wb.json_schema({"minimum": 0, "multipleOf": 1009, "type": "integer"})
    assert accepts(grammar, "1009" + "0" * 6_000)
    (said,) = [o for o in grammar.outcomes if o.keyword == "multipleOf"]
    assert "no limit where there are many remainders" in said.detail


@pytest.mark.parametrize("most", [1, 2, 7])
def test_the_number_of_digits_is_an_option(most: int) -> None:
    grammar = wb.json_schema({"items": {"type": "number"}, "type": "array"}, max_digits=most)
    whole, more = "9" * most, "9" * (most + 1)
    assert accepts(grammar, f"[{whole}.{whole}e{whole},-{whole}]")
    for text in (more, f"1.{more}", f"1e{more}", f"{more}.1"):
        assert not accepts(grammar, f"[{text}]")
    for schema in (
        True,
        {"type": "integer", "minimum": 3},
        {"exclusiveMinimum": 0},
        {"multipleOf": 3},
    ):
        assert wb.compile(wb.json_schema(schema, max_digits=most), BYTES).matcher().allowed_bytes()


@pytest.mark.parametrize("most", [0, -1])
def test_a_number_has_a_digit(most: int) -> None:
    for make in (
        lambda: wb.json_schema(True, max_digits=most),
        lambda: wb.json_text(max_digits=most),
    ):
        with pytest.raises(ValueError, match="max_digits must be at least 1"):
            make()


@pytest.mark.parametrize(
    "type_",
    [int, float, Decimal, list[int], set[int], frozenset[float], dict[str, int], dict[int, float]],
    ids=str,
)
def test_the_longest_numbers_of_a_type_are_read(type_: Any) -> None:
    """Nines as long as they may come: pydantic and Python's reader take them, and floats are finite."""
    matcher = wb.compile(wb.from_type(type_), BYTES).matcher()
    text = b""
    while not matcher.is_accepting or matcher.allowed_bytes() & DIGITS:
        allowed = matcher.allowed_bytes()
        wanted = [
            byte for byte in b'9.{[]}"a:' if byte in allowed and (byte != 0x2E or b"." not in text)
        ]
        matcher.accept(wanted[0])
        text += bytes([wanted[0]])
        assert len(text) < 500
    json.loads(text)
    value = pydantic.TypeAdapter(type_).validate_json(text)
    assert float("inf") not in (value if isinstance(value, list | frozenset) else [value])


def test_json_text_has_no_limits_but_those_asked_for() -> None:
    assert accepts(wb.json_text(), " " * 6_000 + "1" * 6_000 + "." + "0" * 6_000)
    assert not wb.json_text().outcomes
    limited = wb.json_text(max_digits=3, max_whitespace=2)
    assert {(o.keyword, o.kinds) for o in limited.outcomes} == {
        ("numbers", ("length",)),
        ("whitespace", ("whitespace",)),
    }
    assert accepts(limited, "  [\n 123.456e789 ,-1]")
    for text in ("1234", "1.1234", "1e1234", "   1", "[1   ]"):
        assert not accepts(limited, text)

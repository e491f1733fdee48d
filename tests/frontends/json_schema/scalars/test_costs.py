"""Numbers in a schema whose notation is short and whose digits are many: read, or refused before they are written."""

from __future__ import annotations

import pytest

import workbench as wb


@pytest.mark.parametrize("exponent", ["-9999", "-999999999", "9999", "999999999"])
def test_a_multiple_of_very_many_digits_is_refused_by_name(exponent: str) -> None:
    with pytest.raises(wb.GrammarTooComplex, match="remainders"):
        wb.json_schema(f'{{"type": "number", "multipleOf": 1e{exponent}}}')


def test_a_multiple_of_many_decimals_is_still_read() -> None:
    schema = '{"type": "number", "multipleOf": 1e-400}'
    vocabulary = wb.Vocabulary.from_bytes([bytes([byte]) for byte in range(256)], [])
    compiled = wb.compile(wb.json_schema(schema, max_digits=None), vocabulary)
    for text, fits in ((b"0." + b"0" * 399 + b"1", True), (b"0." + b"0" * 400 + b"1", False)):
        matcher = compiled.matcher()
        assert all(map(matcher.accept, text)) is fits


@pytest.mark.parametrize("indent", [101, 10**9, "\t" * 101])
def test_an_indentation_of_very_many_characters_is_refused(indent: int | str) -> None:
    with pytest.raises(ValueError, match="at most 100 characters a level"):
        wb.json_schema({"type": "array"}, indent=indent)

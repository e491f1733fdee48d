"""Keywords about numbers and strings."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from workbench.automaton.budgets import too_complex
from workbench.frontends.json_schema.read.location import tighter_high, tighter_low
from workbench.frontends.json_schema.read.reader import Reader
from workbench.frontends.json_schema.scalars.formats import (
    BOUNDED,
    FORMATS,
    LEFT_OUT,
    MOST,
    UNCLEAR,
)
from workbench.frontends.json_schema.scalars.numbers import Bound
from workbench.frontends.json_schema.scalars.patterns import Pattern, check_pattern
from workbench.frontends.json_schema.text.json_values import decimal, is_number
from workbench.wording import number_of

__all__ = ["SCALARS", "checked_pattern"]

#: Most places before or after the point of a number that others are divided by.
MAX_POWER = 10_000
_PLAIN = "numbers in plain notation, without exponents"


def _bound(reader: Reader, keyword: str, value: Any) -> None:
    if keyword.startswith("exclusive") and isinstance(value, bool):
        # Draft 4 form: a flag beside minimum or maximum, which reads it.
        if reader.document.declared and reader.location.resource.draft > 4:
            raise reader.wrong(keyword, "must be a number")
        reader.note(keyword, "enforced")
        return
    if not is_number(value):
        raise reader.wrong(keyword, "must be a number")
    lower = keyword.lower().endswith("minimum")
    flag = reader.schema.get("exclusiveMinimum" if lower else "exclusiveMaximum") is True
    bound = Bound(decimal(value), not keyword.startswith("exclusive") and not flag)
    location = reader.location
    if lower:
        location.low = tighter_low(location.low, bound)
    else:
        location.high = tighter_high(location.high, bound)
    location.constrains = True
    if bound.value == 0:
        reader.enforced(keyword)
    else:
        reader.restricted(keyword, _PLAIN, "notation")


def _length(reader: Reader, keyword: str, value: Any) -> None:
    if keyword == "minLength":
        reader.location.min_length = reader.count(keyword, value)
    else:
        most = reader.location.max_length = reader.count(keyword, value)
        form = reader.schema.get("format")
        if isinstance(form, str) and form in BOUNDED and most < MOST.get(form, most + 1):
            reader.location.constrains = True
            detail = "parts of the format share the length in fixed shares"
            reader.restricted(keyword, detail, "values")
            return
    reader.constrained(keyword)


def _pattern(reader: Reader, keyword: str, value: Any) -> None:
    if not isinstance(value, str):
        raise reader.wrong(keyword, "must be a string")
    pattern = checked_pattern(reader, keyword, value, reader.pointer(keyword))
    if pattern is not None:
        reader.location.pattern = pattern
        reader.constrained(keyword)


def checked_pattern(reader: Reader, keyword: str, text: str, pointer: str) -> Pattern | None:
    """A pattern that can be enforced; ``None`` when the keyword has been listed as unsupported."""
    reason = check_pattern(text, pointer)
    if reason is not None:
        reader.unsupported(keyword, f"the pattern {text!r:.60} is not supported: {reason}")
        return None
    return Pattern(text, pointer)


def _format(reader: Reader, keyword: str, value: Any) -> None:
    if not isinstance(value, str):
        raise reader.wrong(keyword, "must be a string")
    if not reader.document.assert_formats:
        reader.note(keyword, "annotation", "formats are not asserted")
    elif value in FORMATS:
        name = value
        if name == "hostname" and (
            not reader.document.declared or reader.location.resource.draft <= 6
        ):
            # up to draft 6 labels in Punycode are not looked into
            name = "host-name"
        reader.location.format = name
        reader.location.constrains = True
        if name in LEFT_OUT:
            reader.restricted(keyword, f"left out: {LEFT_OUT[name]}", "values")
        else:
            reader.note(keyword, "enforced")
    elif value in UNCLEAR:
        reader.note(keyword, "annotation", "draft 3 does not say what belongs to it")
    else:
        reader.note(keyword, "annotation", "not a format that any draft defines")


def _multiple_of(reader: Reader, keyword: str, value: Any) -> None:
    if not is_number(value) or value <= 0:
        raise reader.wrong(keyword, "must be a number above zero")
    reader.location.multiple_of = _without_zeros(decimal(value))
    if abs(reader.location.multiple_of.adjusted()) > MAX_POWER:
        raise too_complex("remainders", reader.location.pointer)
    reader.location.constrains = True
    few = reader.document.notation.few
    if decimal(value) == 1:
        reader.restricted(keyword, "integers as 12, 12.0 or 12e3", "notation")
    elif few is None:
        reader.restricted(keyword, _PLAIN, "notation")
    else:
        limit = (
            f"at most {number_of(few, 'digit')} in all, or no limit where there are many remainders"
        )
        detail = f"{_PLAIN}; where each digit may change the remainder, {limit}"
        reader.restricted(keyword, detail, "length", "notation")


def _without_zeros(value: Decimal) -> Decimal:
    """The same number without zeros at its end, exactly: ``normalize`` would round it."""
    sign, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int), "numbers are finite"
    kept = len(digits)
    while kept > 1 and digits[kept - 1] == 0:
        kept -= 1
    return Decimal((sign, digits[:kept], exponent + len(digits) - kept))


#: What reads each keyword.
SCALARS: dict[str, Callable[[Reader, str, Any], None]] = {
    "minimum": _bound,
    "maximum": _bound,
    "exclusiveMinimum": _bound,
    "exclusiveMaximum": _bound,
    "multipleOf": _multiple_of,
    "minLength": _length,
    "maxLength": _length,
    "pattern": _pattern,
    "format": _format,
}

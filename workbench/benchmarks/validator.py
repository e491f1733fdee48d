"""The ``jsonschema`` library as a judge of texts, told to be as exact as the specification.

Numbers are decimals, an integer may have a fraction of zeros, patterns mean what ECMA-262 says, and those that Python's
``re`` cannot read go to the ``regex`` library.
"""

from __future__ import annotations

import decimal
import json
import re
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from importlib.util import find_spec
from typing import Any

from workbench.errors import WorkbenchError

__all__ = ["as_python", "exact_schema", "found_in", "validator_of"]


def exact_schema(raw: bytes) -> str:
    """The schema of a file of the benchmark, with its numbers as they are written."""
    written: dict[str, str] = {}

    def kept(text: str) -> str:
        mark = f"\ue000{len(written)}\ue001"
        written[mark] = text
        return mark

    schema = json.loads(raw, parse_float=kept, parse_int=kept)["schema"]
    text = json.dumps(schema, ensure_ascii=False)
    return re.sub('"(\ue000[0-9]+\ue001)"', lambda found: written[found[1]], text)


def validator_of(schema: str) -> Callable[[str], str | None]:
    """A function that says what ``jsonschema`` finds wrong with a text, ``None`` for nothing."""
    if find_spec("jsonschema") is None:
        raise WorkbenchError("this needs the jsonschema library")
    import jsonschema

    parsed = json.loads(schema, parse_float=decimal.Decimal)
    cls = _validator_class(parsed)
    # Those of the other drafts miss formats, or have drafts' older meanings of them.
    checker = jsonschema.Draft202012Validator.FORMAT_CHECKER
    validator = cls(_for_python(parsed), format_checker=checker)

    def complain(text: str) -> str | None:
        with decimal.localcontext(prec=2_000):
            try:
                value = json.loads(
                    text, parse_float=_number, parse_int=_whole, object_pairs_hook=_once
                )
            except ValueError as error:
                return f"not JSON: {error}"
            for found in validator.iter_errors(value):
                path = "/".join(map(str, found.absolute_schema_path))
                return f"{path}: {found.message}"
        return None

    return complain


def _number(text: str) -> decimal.Decimal:
    """A number, with an exponent that is beyond all measure brought within it."""
    digits, letter, exponent = text.lower().partition("e")
    if letter and len(exponent) > 6:
        exponent = ("-" if exponent[0] == "-" else "") + "99999"
    return decimal.Decimal(f"{digits}e{exponent}" if letter else digits)


def _whole(text: str) -> int | decimal.Decimal:
    return int(text) if len(text) < 4_000 else decimal.Decimal(text)


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key comes twice")
    return found


def _validator_class(schema: Any) -> Any:
    """The validator of the draft that the schema names, or else of the latest that can read it."""
    import jsonschema

    declared = schema.get("$schema") if isinstance(schema, dict) else None
    found = jsonschema.validators.validator_for({"$schema": declared}, default=None)
    if found is not None:
        return _exact(found)
    plain = json.loads(json.dumps(schema, default=float))
    for cls in (jsonschema.Draft202012Validator, jsonschema.Draft7Validator):
        try:
            cls.check_schema(plain, format_checker=jsonschema.FormatChecker(formats=()))
        except jsonschema.SchemaError:
            continue
        return _exact(cls)
    return _exact(jsonschema.Draft202012Validator)


def _exact(cls: Any) -> Any:
    """A validator class with exact numbers and patterns."""
    import jsonschema

    draft_4 = cls is jsonschema.Draft4Validator

    def integer(_: Any, value: Any) -> bool:
        if isinstance(value, decimal.Decimal):
            return not draft_4 and value == value.to_integral_value()
        return isinstance(value, int) and not isinstance(value, bool)

    def number(_: Any, value: Any) -> bool:
        return isinstance(value, int | decimal.Decimal) and not isinstance(value, bool)

    def pattern(_: Any, text: str, value: Any, __: Any) -> Iterator[Any]:
        if isinstance(value, str) and not found_in(text, value):
            yield jsonschema.ValidationError(f"{value!r} does not match {text!r}")

    def multiple(_: Any, of: Any, value: Any, __: Any) -> Iterator[Any]:
        if number(None, value) and Fraction(value) % Fraction(of):
            yield jsonschema.ValidationError(f"{value} is not a multiple of {of}")

    types = cls.TYPE_CHECKER.redefine_many({"integer": integer, "number": number})
    return jsonschema.validators.extend(
        cls, {"pattern": pattern, "multipleOf": multiple}, type_checker=types
    )


#: What ECMA-262 takes for letters, digits and white space.
_SETS = {
    "d": "0-9",
    "w": "0-9A-Za-z_",
    "s": r"\t-\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff",
}
_TOKEN = re.compile(r"\\(.)|\[\^?\]?|\]|\$", re.DOTALL)


def as_python(pattern: str) -> str:
    """A pattern of ECMA-262 for Python's libraries, whose ``\\w`` and ``\\d`` know all of Unicode."""
    out: list[str] = []
    inside, at = False, 0
    for found in _TOKEN.finditer(pattern):
        text, letter = found[0], found[1]
        out.append(pattern[at : found.start()])
        at = found.end()
        if letter in _SETS:
            text = _SETS[letter] if inside else f"[{_SETS[letter]}]"
        elif letter in ("D", "W", "S") and not inside:
            text = f"[^{_SETS[letter.lower()]}]"
        elif text[0] == "[" and not inside:
            inside = text[-1] != "]"
        elif text == "]":
            inside = False
        elif text == "$" and not inside:
            text = r"\Z"
        out.append(text)
    out.append(pattern[at:])
    return "".join(out)


def _for_python(schema: Any) -> Any:
    """A schema with its patterns in Python's dialect."""
    if isinstance(schema, list):
        return [_for_python(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    out: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "pattern" and isinstance(value, str):
            out[key] = as_python(value)
        elif key == "patternProperties" and isinstance(value, dict):
            out[key] = {as_python(name): _for_python(item) for name, item in value.items()}
        else:
            out[key] = value if key in ("enum", "const") else _for_python(value)
    return out


def found_in(pattern: str, text: str) -> bool:
    """Whether a pattern of ECMA-262 is found in a text, by Python's libraries."""
    try:
        return re.search(pattern, text) is not None
    except re.error:
        import regex

        return regex.search(pattern, text) is not None

"""JSON values: reading them exactly, and when two of them are the same value."""

from __future__ import annotations

import json
from collections.abc import Hashable
from decimal import Decimal, InvalidOperation
from typing import Any

from workbench.errors import GrammarSyntaxError, GrammarTooComplex

__all__ = [
    "ALL_TYPES",
    "ARRAY",
    "BOOLEAN",
    "FRACTIONAL",
    "INTEGER",
    "MAX_LEVELS",
    "NULL",
    "NUMBER",
    "OBJECT",
    "STRING",
    "TYPE_BITS",
    "canonical",
    "decimal",
    "is_number",
    "read_json",
    "type_bit",
]

#: Most schemas and values that may lie inside one another.
MAX_LEVELS = 500

NULL, BOOLEAN, INTEGER, FRACTIONAL, STRING, ARRAY, OBJECT = (1 << bit for bit in range(7))
NUMBER = INTEGER | FRACTIONAL
ALL_TYPES = (1 << 7) - 1
TYPE_BITS = {
    "null": NULL,
    "boolean": BOOLEAN,
    "integer": INTEGER,
    "number": NUMBER,
    "string": STRING,
    "array": ARRAY,
    "object": OBJECT,
}


def read_json(text: str, what: str = "the schema") -> Any:
    """Read a JSON text with exact numbers; ``what`` names it in errors.

    Raises ``GrammarSyntaxError`` with the position, ``GrammarTooComplex`` when it is nested too deeply.
    """

    def refuse(name: str) -> Any:
        raise GrammarSyntaxError(f"{name} is not a JSON number", pointer="#")

    try:
        return json.loads(text, parse_float=Decimal, parse_int=_integer, parse_constant=refuse)
    except json.JSONDecodeError as error:
        raise GrammarSyntaxError(
            f"{what} is not JSON: {error.msg}", text=text, start=error.pos
        ) from None
    except (InvalidOperation, ValueError) as error:
        raise GrammarSyntaxError(f"{what} is not JSON: {error}", pointer="#") from None
    except RecursionError:
        raise GrammarTooComplex("schema nesting levels", MAX_LEVELS) from None


def _integer(text: str) -> int | Decimal:
    return int(text) if len(text) < 4_000 else Decimal(text)


def is_number(value: Any) -> bool:
    """Tell whether a value is a finite JSON number."""
    if isinstance(value, bool):
        return False
    if isinstance(value, float):
        return value - value == 0
    if isinstance(value, Decimal):
        return value.is_finite()
    return isinstance(value, int)


def decimal(value: Any) -> Decimal:
    """Turn a JSON number into an exact decimal; a float means what its shortest spelling says."""
    return Decimal(repr(value)) if isinstance(value, float) else Decimal(value)


def type_bit(value: Any) -> int:
    """The type of a JSON value as one of the type bits; 0 when it is not a JSON value."""
    if value is None:
        return NULL
    if isinstance(value, bool):
        return BOOLEAN
    if isinstance(value, str):
        return STRING
    if is_number(value):
        exact = decimal(value)
        return INTEGER if exact == exact.to_integral_value() else FRACTIONAL
    if isinstance(value, list | tuple):
        return ARRAY
    if isinstance(value, dict):
        return OBJECT
    return 0


def canonical(value: Any, pointer: str = "#") -> Hashable:
    """Map equal JSON values (1 and 1.0, key order ignored) to equal hashable values.

    Raises ``GrammarSyntaxError`` for what is not a JSON value, ``GrammarTooComplex`` for deep nesting.
    """
    return _canonical(value, pointer, 0)


def _canonical(value: Any, pointer: str, level: int) -> Hashable:
    if level > MAX_LEVELS:
        raise GrammarTooComplex("schema nesting levels", MAX_LEVELS, pointer)
    kind = type_bit(value)
    if kind & NUMBER:
        return ("number", decimal(value))
    if kind == ARRAY:
        return ("array", tuple([_canonical(item, pointer, level + 1) for item in value]))
    if kind == OBJECT:
        for key in value:
            if not isinstance(key, str):
                raise GrammarSyntaxError(f"the key {key!r} is not a string", pointer=pointer)
        return (
            "object",
            frozenset([(key, _canonical(item, pointer, level + 1)) for key, item in value.items()]),
        )
    if kind == 0:
        raise GrammarSyntaxError(f"{value!r:.80} is not a JSON value", pointer=pointer)
    return (kind, value)

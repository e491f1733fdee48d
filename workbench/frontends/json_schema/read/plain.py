"""Schemas as they are passed in, turned into plain JSON values: texts, bytes, NumPy scalars, other mappings.

Everything after this sees ``dict``, ``list``, ``str``, ``int``, ``float``, ``Decimal``, ``bool`` and ``None``
alone. A schema that is plain already is not copied.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from math import inf
from numbers import Integral, Real
from typing import Any

from workbench.automaton.budgets import in_force, too_complex
from workbench.errors import GrammarSyntaxError
from workbench.frontends.json_schema.text.json_values import read_json
from workbench.inputs import first_words, looks_like_file, read_text, wrong_schema

__all__ = ["plain", "read_schema"]

_PLAIN = frozenset([str, int, float, bool, type(None), Decimal])


def read_schema(schema: Any) -> dict[str, Any] | bool:
    """Read a schema in any of the forms that it may be passed in.

    Raises ``GrammarSyntaxError`` for a text that is no schema, ``WrongType`` for what is neither a schema
    nor a text, and ``GrammarTooComplex`` for deep nesting.
    """
    if isinstance(schema, bytes | bytearray):
        schema = read_text(bytes(schema), "the schema")
    if isinstance(schema, str):
        text = schema.removeprefix("\ufeff")
        if looks_like_file(text):
            raise GrammarSyntaxError(
                f"the schema is not JSON: {first_words(text)} is the name of a file; pass what it holds"
            )
        if "::=" in text and not text.lstrip().startswith("{"):
            raise GrammarSyntaxError(
                "the schema is not JSON: it holds '::=', as GBNF does; workbench.gbnf reads that"
            )
        found = plain(read_json(text))
    else:
        found = plain(schema)
        if type(found) not in (dict, list, str, int, float, bool, type(None), Decimal):
            raise wrong_schema(schema)
    if not isinstance(found, dict | bool):
        named = "null" if found is None else f"{found!r:.40}"
        raise GrammarSyntaxError(
            f"a schema must be an object or a boolean, not {named}", pointer="#"
        )
    return found


def plain(value: Any) -> Any:
    """A value with what stands for JSON values in Python turned into those; anything else is left as it is.

    NumPy scalars and arrays, other mappings and sequences, enum members and fractions with a finite decimal
    are turned. A float of another width means what its shortest spelling says. Raises ``GrammarTooComplex`` for
    more values than a document may have.
    """
    if _is_plain(value):
        return value
    turned = _turned(value)
    _is_plain(turned)
    return turned


def _is_plain(value: Any) -> bool:
    """Whether a value is of JSON's types alone. Raises ``GrammarTooComplex`` for too many values."""
    count, most = 1, in_force().values
    seen: set[int] = set()
    todo = [value]
    while todo:
        one = todo.pop()
        kind = type(one)
        if kind in _PLAIN:
            continue
        if id(one) in seen:
            continue
        seen.add(id(one))
        if kind is dict or kind is list:
            count += len(one)
            if count > most:
                raise too_complex("values", "#")
        if kind is dict:
            if any(type(key) is not str for key in one):
                return False
            todo.extend(one.values())
        elif kind is list:
            todo.extend(one)
        else:
            return False
    return True


def _turned(value: Any) -> Any:
    """As ``plain``; what is nested too deeply ends in ``RecursionError``."""
    kind = type(value)
    if kind in _PLAIN:
        return value
    if isinstance(value, Enum):
        return _turned(value.value)
    if isinstance(value, Mapping):
        return {
            str.__str__(key) if isinstance(key, str) else key: _turned(item)
            for key, item in value.items()
        }
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, Decimal):
        return value
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Fraction):
        return _decimal_of(value)
    if isinstance(value, float):
        return float(value)
    if isinstance(value, Real):
        return _shortest(value)
    if hasattr(value, "dtype") and hasattr(value, "tolist"):
        if getattr(value, "ndim", 1):
            return [_turned(item) for item in value]
        inner = value.tolist()
        return inner if type(inner) is kind else _turned(inner)
    if isinstance(value, Sequence) and not isinstance(
        value, bytes | bytearray | memoryview | range
    ):
        return [_turned(item) for item in value]
    return value


def _shortest(value: Any) -> float | Decimal:
    """A real number of another width: the number that it is written as."""
    text = str(value)
    exact = float(text)
    return exact if repr(exact) == text or exact - exact != 0 else Decimal(text)


def _decimal_of(value: Fraction) -> Any:
    """A fraction as a decimal. Raises ``GrammarSyntaxError`` when it has none that ends."""
    rest = value.denominator
    places = 0
    while rest % 10 == 0:
        rest, places = rest // 10, places + 1
    for factor in (2, 5):
        while rest % factor == 0:
            rest, places = rest // factor, places + 1
    if rest != 1:
        raise GrammarSyntaxError(f"{value} has no decimal that ends, so JSON cannot write it")
    if not places:
        return value.numerator
    digits = tuple(map(int, str(abs(value * 10**places).numerator)))
    exact = Decimal((int(value < 0), digits, -places))
    near = float(value) if abs(value) < 10**300 else inf
    return near if Decimal(repr(near)) == exact else exact

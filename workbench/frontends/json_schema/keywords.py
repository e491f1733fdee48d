"""What each keyword means: checking its form, reading it into a location, saying what became of it.

Keywords that are not in the tables are annotations, as the specification says.

Next file to read: ``combine.py``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from workbench.errors import GrammarSyntaxError
from workbench.frontends.json_schema.document import Document, escape
from workbench.frontends.json_schema.keyword_tables import FORMATS, SINCE, SPEAKS_OF
from workbench.frontends.json_schema.location import Location, Pattern, tighter_high, tighter_low
from workbench.frontends.json_schema.numbers import Bound
from workbench.frontends.json_schema.values import (
    ALL_TYPES,
    FRACTIONAL,
    NUMBER,
    TYPE_BITS,
    canonical,
    decimal,
    is_number,
)
from workbench.frontends.regex import parse_regex
from workbench.grammar.ir import Outcome

__all__ = ["read_keywords"]


class _Reader:
    """One location being read."""

    def __init__(self, document: Document, location: Location) -> None:
        self.document = document
        self.location = location
        self.schema: dict[str, Any] = location.schema

    def pointer(self, keyword: str) -> str:
        return f"{self.location.pointer}/{escape(keyword)}"

    def wrong(self, keyword: str, message: str, *, hint: str | None = None) -> GrammarSyntaxError:
        return GrammarSyntaxError(f"{keyword} {message}", pointer=self.pointer(keyword), hint=hint)

    def note(self, keyword: str, status: Any, detail: str = "") -> None:
        self.document.outcomes.append(Outcome(self.pointer(keyword), keyword, status, detail))

    def enforced(self, keyword: str) -> None:
        self.note(keyword, "enforced")

    def constrained(self, keyword: str) -> None:
        self.location.constrains = True
        self.note(keyword, "enforced")

    def unsupported(self, keyword: str, reason: str) -> None:
        if not self.location.types & SPEAKS_OF.get(keyword, ALL_TYPES):
            self.note(keyword, "enforced", "says nothing about the types that are allowed here")
        else:
            self.note(keyword, "unsupported", reason)

    def count(self, keyword: str, value: Any) -> int:
        if (
            not is_number(value)
            or decimal(value) != decimal(value).to_integral_value()
            or value < 0
        ):
            raise self.wrong(keyword, "must be a whole number that is not negative")
        exact = decimal(value)
        return int(exact) if exact < 10**9 else 10**9

    def schemas(self, keyword: str, value: Any) -> tuple[Location, ...]:
        if not isinstance(value, list | tuple) or not value:
            raise self.wrong(keyword, "must be an array of schemas, not empty")
        return tuple(
            self.document.child(self.location, keyword, item, str(position))
            for position, item in enumerate(value)
        )


def read_keywords(document: Document, location: Location) -> None:
    """Read one schema into its location and queue the schemas below it.

    Raises ``GrammarSyntaxError`` when a keyword does not have the form that the specification wants.
    """
    schema = location.schema
    if isinstance(schema, bool):
        location.never = location.constrains = not schema
        return
    reader = _Reader(document, location)
    if "$ref" in schema and document.draft <= 7:
        _reference(reader, "$ref", schema["$ref"])
        for keyword in schema:
            if keyword != "$ref":
                reader.note(keyword, "annotation", "draft 7 and older ignore what is beside $ref")
        return
    if "type" in schema:
        _type(reader, "type", schema["type"])
    placed = False
    for keyword, value in schema.items():
        if not isinstance(keyword, str):
            raise GrammarSyntaxError(
                f"the key {keyword!r} is not a string", pointer=location.pointer
            )
        if not placed and keyword in ("properties", "required"):
            location.same_instance.append(None)
            placed = True
        handler = _HANDLERS.get(keyword)
        if handler is None:
            reader.note(keyword, "annotation")
        elif document.declared and SINCE.get(keyword, 0) > document.draft:
            reader.note(keyword, "annotation", f"not a keyword of draft {document.draft}")
        else:
            handler(reader, keyword, value)
    if not placed:
        location.same_instance.append(None)
    if location.same_instance == [None]:
        location.same_instance = []


def _type(reader: _Reader, keyword: str, value: Any) -> None:
    names = value if isinstance(value, list | tuple) else [value]
    if not names:
        raise reader.wrong(keyword, "must not be an empty array")
    types = 0
    for name in names:
        if not isinstance(name, str) or name not in TYPE_BITS:
            raise reader.wrong(
                keyword, f"{name!r:.60} is not a type", hint=f"types are {', '.join(TYPE_BITS)}"
            )
        types |= TYPE_BITS[name]
    reader.location.types = types
    whole_only = types & NUMBER == TYPE_BITS["integer"]
    if whole_only:
        reader.location.constrains = True
        detail = "integers as 12, 12.0 or 12e3; 1.5e1 and 10e-1 are left out"
        reader.note(keyword, "restricted", detail)
    else:
        reader.constrained(keyword)


def _already_read(reader: _Reader, keyword: str, value: Any) -> None:
    """``type`` is read before the others."""


def _enum(reader: _Reader, keyword: str, value: Any) -> None:
    if not isinstance(value, list | tuple):
        raise reader.wrong(keyword, "must be an array")
    _values(reader, keyword, list(value))


def _const(reader: _Reader, keyword: str, value: Any) -> None:
    _values(reader, keyword, [value])


def _values(reader: _Reader, keyword: str, values: list[Any]) -> None:
    unique = {canonical(value, reader.pointer(keyword)): value for value in reversed(values)}
    found = dict(reversed(unique.items()))
    location = reader.location
    if location.value_keys is not None:
        found = {key: value for key, value in found.items() if key in location.value_keys}
    location.values = list(found.values())
    location.value_keys = frozenset(found)
    location.constrains = True
    reader.note(keyword, "restricted", "strings in their usual spelling, keys in the order given")


def _reference(reader: _Reader, keyword: str, value: Any) -> None:
    if not isinstance(value, str):
        raise reader.wrong(keyword, "must be a string")
    target = reader.document.resolve(reader.location, value)
    if target is None:
        reader.unsupported(keyword, f"{value!r} lies in another document")
        return
    reader.location.same_instance.append(target)
    reader.enforced(keyword)


def _all_of(reader: _Reader, keyword: str, value: Any) -> None:
    reader.location.same_instance.extend(reader.schemas(keyword, value))
    reader.enforced(keyword)


def _any_of(reader: _Reader, keyword: str, value: Any) -> None:
    reader.location.choices.append(reader.schemas(keyword, value))
    reader.enforced(keyword)


def _one_of(reader: _Reader, keyword: str, value: Any) -> None:
    if isinstance(value, list | tuple) and len(value) == 1:
        _all_of(reader, keyword, value)
        return
    group = reader.schemas(keyword, value)
    reader.location.choices.append(group)
    mark = len(reader.document.outcomes)
    reader.document.exclusive.append((mark, reader.location, group))
    reader.enforced(keyword)


def _bound(reader: _Reader, keyword: str, value: Any) -> None:
    if keyword.startswith("exclusive") and isinstance(value, bool):
        # Draft 4 form: a flag beside minimum or maximum, which reads it.
        if reader.document.declared and reader.document.draft > 4:
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
        reader.note(keyword, "enforced")
    else:
        reader.note(keyword, "restricted", "numbers in plain notation, without exponents")


def _length(reader: _Reader, keyword: str, value: Any) -> None:
    if keyword == "minLength":
        reader.location.min_length = reader.count(keyword, value)
    else:
        reader.location.max_length = reader.count(keyword, value)
    reader.constrained(keyword)


def _pattern(reader: _Reader, keyword: str, value: Any) -> None:
    if not isinstance(value, str):
        raise reader.wrong(keyword, "must be a string")
    pointer = reader.pointer(keyword)
    try:
        branches = parse_regex(value, pointer=pointer)
    except GrammarSyntaxError as error:
        if not _well_formed(value):
            raise
        reader.unsupported(keyword, f"the pattern is not supported: {error.message}")
        return
    reader.location.pattern = Pattern(value, branches, pointer)
    reader.constrained(keyword)


def _well_formed(pattern: str) -> bool:
    """Tell whether a refused pattern is a regular expression of a kind that is not supported."""
    try:
        re.compile(
            re.sub(r"\\[cpP]", r"\\w", pattern).replace("(?<", "(?P<").replace("(?P<=", "(?<=")
        )
    except (re.error, RecursionError, OverflowError):
        return False
    return True


def _format(reader: _Reader, keyword: str, value: Any) -> None:
    if not isinstance(value, str):
        raise reader.wrong(keyword, "must be a string")
    if value in FORMATS:
        reader.unsupported(keyword, f"the format {value!r} is not enforced")
    else:
        reader.note(keyword, "annotation", "not a format that any draft defines")


def _items(reader: _Reader, keyword: str, value: Any) -> None:
    document, location = reader.document, reader.location
    if isinstance(value, list | tuple):
        if document.declared and document.draft >= 2020:
            raise reader.wrong(
                keyword, "must be a schema", hint="an array of schemas is prefixItems"
            )
        location.prefix = tuple(
            document.child(location, keyword, item, str(position))
            for position, item in enumerate(value)
        )
        if "additionalItems" in reader.schema:
            rest = reader.schema["additionalItems"]
            location.items = document.child(location, "additionalItems", rest)
    else:
        location.items = document.child(location, keyword, value)
    reader.constrained(keyword)


def _prefix_items(reader: _Reader, keyword: str, value: Any) -> None:
    reader.location.prefix = reader.schemas(keyword, value)
    reader.constrained(keyword)


def _additional_items(reader: _Reader, keyword: str, value: Any) -> None:
    if isinstance(reader.schema.get("items"), list | tuple):
        reader.enforced(keyword)
    else:
        reader.note(keyword, "annotation", "without an array of items it has no effect")


def _item_count(reader: _Reader, keyword: str, value: Any) -> None:
    if keyword == "minItems":
        reader.location.min_items = reader.count(keyword, value)
    else:
        reader.location.max_items = reader.count(keyword, value)
    reader.constrained(keyword)


def _properties(reader: _Reader, keyword: str, value: Any) -> None:
    if not isinstance(value, dict):
        raise reader.wrong(keyword, "must be an object")
    for name, schema in value.items():
        if not isinstance(name, str):
            raise reader.wrong(keyword, f"has a key that is not a string: {name!r:.60}")
        reader.location.properties[name] = reader.document.child(
            reader.location, keyword, schema, escape(name)
        )
    reader.location.constrains = True
    detail = "keys in the order of the schema, others after them; names in their usual spelling"
    if reader.schema.get("additionalProperties") is not False:
        detail += "; a name that is not listed may occur twice"
    reader.note(keyword, "restricted", detail)


def _additional_properties(reader: _Reader, keyword: str, value: Any) -> None:
    reader.location.additional = reader.document.child(reader.location, keyword, value)
    reader.constrained(keyword)


def _required(reader: _Reader, keyword: str, value: Any) -> None:
    if not isinstance(value, list | tuple) or not all(isinstance(name, str) for name in value):
        raise reader.wrong(keyword, "must be an array of strings")
    reader.location.required = tuple(dict.fromkeys(value))
    reader.constrained(keyword)


def _property_count(reader: _Reader, keyword: str, value: Any) -> None:
    count = reader.count(keyword, value)
    schema = reader.schema
    required, properties = schema.get("required"), schema.get("properties")
    if keyword == "minProperties":
        met = count == 0 or (isinstance(required, list) and len(set(map(str, required))) >= count)
    else:
        closed = schema.get("additionalProperties") is False and not schema.get("patternProperties")
        named = properties if isinstance(properties, dict) else {}
        met = closed and count >= len(named)
    if met:
        reader.enforced(keyword)
    else:
        reader.unsupported(keyword, f"{keyword} is not enforced")


def _flag(reader: _Reader, keyword: str, value: Any) -> None:
    if not isinstance(value, bool):
        raise reader.wrong(keyword, "must be a boolean")
    few = reader.location.max_items
    few = few if few is not None else reader.schema.get("maxItems")
    if not value or (is_number(few) and few is not None and few <= 1):
        reader.enforced(keyword)
    else:
        reader.unsupported(keyword, f"{keyword} is not enforced")


def _multiple_of(reader: _Reader, keyword: str, value: Any) -> None:
    if not is_number(value) or value <= 0:
        raise reader.wrong(keyword, "must be a number above zero")
    if decimal(value) == 1:
        # A multiple of one is an integer; other types are not spoken of.
        reader.location.types &= ~FRACTIONAL
        reader.constrained(keyword)
    else:
        reader.unsupported(keyword, f"{keyword} is not enforced")


def _schema_map(reader: _Reader, keyword: str, value: Any) -> None:
    """Keywords that hold something for each of several names; without names they say nothing."""
    if not isinstance(value, dict):
        raise reader.wrong(keyword, "must be an object")
    if value:
        reader.unsupported(keyword, f"{keyword} is not enforced")
    else:
        reader.enforced(keyword)


def _one_schema(reader: _Reader, keyword: str, value: Any) -> None:
    """Keywords with one schema that are not enforced; ``true`` and ``{}`` say nothing for most."""
    if not isinstance(value, dict | bool):
        raise reader.wrong(keyword, "must be a schema")
    trivial = value is True or value == {}
    if trivial and keyword not in ("not", "contains"):
        reader.enforced(keyword)
    else:
        reader.unsupported(keyword, f"{keyword} is not enforced")


def _if(reader: _Reader, keyword: str, value: Any) -> None:
    if not isinstance(value, dict | bool):
        raise reader.wrong(keyword, "must be a schema")
    if "then" not in reader.schema and "else" not in reader.schema:
        reader.note(keyword, "annotation", "without then or else it has no effect")
    else:
        reader.unsupported(keyword, "if, then and else are not enforced")


def _dynamic_reference(reader: _Reader, keyword: str, value: Any) -> None:
    if not isinstance(value, str):
        raise reader.wrong(keyword, "must be a string")
    if keyword == "$recursiveRef" and reader.document.draft != 2019:
        reader.note(keyword, "annotation", "not a keyword of this draft")
    else:
        reader.unsupported(keyword, f"{keyword} is not followed")


_HANDLERS: dict[str, Callable[[_Reader, str, Any], None]] = {
    "type": _already_read,
    "enum": _enum,
    "const": _const,
    "$ref": _reference,
    "allOf": _all_of,
    "anyOf": _any_of,
    "oneOf": _one_of,
    "minimum": _bound,
    "maximum": _bound,
    "exclusiveMinimum": _bound,
    "exclusiveMaximum": _bound,
    "multipleOf": _multiple_of,
    "minLength": _length,
    "maxLength": _length,
    "pattern": _pattern,
    "format": _format,
    "items": _items,
    "prefixItems": _prefix_items,
    "additionalItems": _additional_items,
    "minItems": _item_count,
    "maxItems": _item_count,
    "uniqueItems": _flag,
    "contains": _one_schema,
    "unevaluatedItems": _one_schema,
    "properties": _properties,
    "additionalProperties": _additional_properties,
    "required": _required,
    "minProperties": _property_count,
    "maxProperties": _property_count,
    "patternProperties": _schema_map,
    "propertyNames": _one_schema,
    "dependencies": _schema_map,
    "dependentRequired": _schema_map,
    "dependentSchemas": _schema_map,
    "unevaluatedProperties": _one_schema,
    "not": _one_schema,
    "if": _if,
    "$dynamicRef": _dynamic_reference,
    "$recursiveRef": _dynamic_reference,
}

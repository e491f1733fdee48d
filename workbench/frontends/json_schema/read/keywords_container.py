"""Keywords about arrays and objects."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from workbench.frontends.json_schema.read.document import escape
from workbench.frontends.json_schema.read.keywords_scalar import checked_pattern
from workbench.frontends.json_schema.read.location import CellRule, Location, MemberRule
from workbench.frontends.json_schema.read.reader import Reader
from workbench.frontends.json_schema.text.json_values import is_number

__all__ = ["CONTAINERS", "close_object"]

#: Keywords that say what becomes of properties that are not listed.
_ABOUT_OTHERS = ("additionalProperties", "patternProperties", "unevaluatedProperties")
_SPELLED = "names in their usual spelling"
_IN_ORDER = "keys in the order of the schema, those that it does not list after all others"
_FEW_NAMES = "names of which there may be few are written without escapes that are not needed"
#: A pattern that ends with as many characters as come.
_OPEN_END = re.compile(r"^[^$]*(?<!\\)[*+]\)*\$$")
#: What leaves endlessly many names in a schema of names.
_OPEN_NAMES = {"type", "pattern", "minLength", "title", "description", "$comment"}


def _items(reader: Reader, keyword: str, value: Any) -> None:
    document, location = reader.document, reader.location
    prefix: tuple[Location, ...] = ()
    if location.cells is not None:
        prefix = tuple(part for part in location.cells.prefix if part is not None)
    if isinstance(value, list | tuple):
        if document.declared and location.resource.draft >= 2020:
            raise reader.wrong(
                keyword, "must be a schema", hint="an array of schemas is prefixItems"
            )
        prefix = tuple(
            document.child(location, keyword, item, str(position))
            for position, item in enumerate(value)
        )
        rest = None
        if "additionalItems" in reader.schema:
            schema = reader.schema["additionalItems"]
            rest = document.child(location, "additionalItems", schema)
    else:
        rest = document.child(location, keyword, value)
    location.cells = CellRule(prefix, rest)
    reader.constrained(keyword)


def _prefix_items(reader: Reader, keyword: str, value: Any) -> None:
    location = reader.location
    rest = None if location.cells is None else location.cells.rest
    location.cells = CellRule(reader.schemas(keyword, value), rest)
    reader.constrained(keyword)


def _additional_items(reader: Reader, keyword: str, value: Any) -> None:
    if isinstance(reader.schema.get("items"), list | tuple):
        reader.enforced(keyword)
    else:
        reader.note(keyword, "annotation", "without an array of items it has no effect")


def _item_count(reader: Reader, keyword: str, value: Any) -> None:
    if keyword == "minItems":
        reader.location.min_items = reader.count(keyword, value)
    else:
        reader.location.max_items = reader.count(keyword, value)
    reader.constrained(keyword)


def _properties(reader: Reader, keyword: str, value: Any) -> None:
    if not isinstance(value, dict):
        raise reader.wrong(keyword, "must be an object")
    names = _members(reader).names
    for name, schema in value.items():
        if not isinstance(name, str):
            raise reader.wrong(keyword, f"has a key that is not a string: {name!r:.60}")
        names[name] = reader.document.child(reader.location, keyword, schema, escape(name))
    if value:
        _say_names(reader, keyword)
    else:
        reader.enforced(keyword)


def _say_names(reader: Reader, keyword: str) -> None:
    """Say how names that a keyword lists are written, and in which order they come."""
    if reader.document.any_order:
        reader.restricted(keyword, _SPELLED, "escapes")
    else:
        reader.restricted(keyword, f"{_IN_ORDER}; {_SPELLED}", "escapes", "order")


def _members(reader: Reader) -> MemberRule:
    """The rule for the members of an object, which several keywords make together."""
    location = reader.location
    if location.members is None:
        location.members = MemberRule({})
    location.constrains = True
    return location.members


def _pattern_properties(reader: Reader, keyword: str, value: Any) -> None:
    if not isinstance(value, dict):
        raise reader.wrong(keyword, "must be an object")
    rule = _members(reader)
    for text, schema in value.items():
        if not isinstance(text, str):
            raise reader.wrong(keyword, f"has a key that is not a string: {text!r:.60}")
        pattern = checked_pattern(
            reader, keyword, text, f"{reader.pointer(keyword)}/{escape(text)}"
        )
        if pattern is None:
            return
        part = reader.document.child(reader.location, keyword, schema, escape(text))
        rule.patterns = (*rule.patterns, (pattern, part))
    if all(map(_is_open, value)):
        reader.constrained(keyword)
    else:
        reader.location.constrains = True
        reader.restricted(keyword, _FEW_NAMES, "escapes", "values")


def _is_open(pattern: str) -> bool:
    """Whether it is plain that each beginning of a text of a pattern has endlessly many ways to go on."""
    if any(mark in pattern for mark in ("|", "(?", "\\b", "\\B")):
        return False
    return "$" not in pattern or _OPEN_END.search(pattern.replace("\\$", "")) is not None


def _additional_properties(reader: Reader, keyword: str, value: Any) -> None:
    _members(reader).rest = reader.document.child(reader.location, keyword, value)
    reader.constrained(keyword)


def _property_names(reader: Reader, keyword: str, value: Any) -> None:
    reader.location.names = reader.document.child(reader.location, keyword, value)
    said = value if isinstance(value, dict) else {}
    if said.keys() <= _OPEN_NAMES and _is_open(str(said.get("pattern", ""))):
        reader.constrained(keyword)
    else:
        reader.location.constrains = True
        reader.restricted(keyword, _FEW_NAMES, "escapes", "values")


def _required(reader: Reader, keyword: str, value: Any) -> None:
    if not isinstance(value, list | tuple) or not all(isinstance(name, str) for name in value):
        raise reader.wrong(keyword, "must be an array of strings")
    reader.location.required = tuple(dict.fromkeys(value))
    reader.location.constrains = True
    listed = reader.schema.get("properties")
    if isinstance(listed, dict) and listed.keys() >= set(value):
        reader.enforced(keyword)
    else:
        _say_names(reader, keyword)


def _property_count(reader: Reader, keyword: str, value: Any) -> None:
    if keyword == "minProperties":
        reader.location.min_properties = reader.count(keyword, value)
    else:
        reader.location.max_properties = reader.count(keyword, value)
    reader.constrained(keyword)


def _unique(reader: Reader, keyword: str, value: Any) -> None:
    if not isinstance(value, bool):
        raise reader.wrong(keyword, "must be a boolean")
    few = reader.location.max_items
    few = few if few is not None else reader.schema.get("maxItems")
    if value and not (is_number(few) and few is not None and few <= 1):
        reader.location.unique = True
        reader.document.unique.append((reader.location, len(reader.document.outcomes)))
        reader.location.constrains = True
    reader.enforced(keyword)


def _contains(reader: Reader, keyword: str, value: Any) -> None:
    location, schema = reader.location, reader.schema
    location.contains = reader.document.child(location, keyword, value)
    if not reader.document.declared or location.resource.draft >= 2019:
        if "minContains" in schema:
            location.min_contains = reader.count("minContains", schema["minContains"])
        if "maxContains" in schema:
            location.max_contains = reader.count("maxContains", schema["maxContains"])
    reader.constrained(keyword)


def _contains_count(reader: Reader, keyword: str, value: Any) -> None:
    reader.count(keyword, value)
    if "contains" in reader.schema:
        reader.enforced(keyword)
    else:
        reader.note(keyword, "annotation", "without contains it has no effect")


def _unevaluated(reader: Reader, keyword: str, value: Any) -> None:
    part = reader.document.child(reader.location, keyword, value)
    if keyword == "unevaluatedItems":
        reader.location.unevaluated_cells = part
    else:
        reader.location.unevaluated_members = part
    reader.constrained(keyword)


def _dependencies(reader: Reader, keyword: str, value: Any) -> None:
    """``dependencies`` and both keywords that it was split into."""
    if not isinstance(value, dict):
        raise reader.wrong(keyword, "must be an object")
    location = reader.location
    for name, part in value.items():
        if not isinstance(name, str):
            raise reader.wrong(keyword, f"has a key that is not a string: {name!r:.60}")
        names = [part] if isinstance(part, str) and keyword == "dependencies" else part
        if isinstance(names, list | tuple) and keyword != "dependentSchemas":
            if not all(isinstance(one, str) for one in names):
                raise reader.wrong(keyword, f"must have arrays of strings, also for {name!r:.60}")
            known = location.dependent_names.get(name, ())
            both = tuple(dict.fromkeys((*known, *names)))
            location.dependent_names = {**location.dependent_names, name: both}
        elif keyword == "dependentRequired":
            raise reader.wrong(keyword, f"must have arrays of strings, also for {name!r:.60}")
        else:
            schema = reader.document.child(location, keyword, part, escape(name))
            if name in location.dependent_schemas:
                raise reader.wrong(keyword, f"says something about {name!r:.60} a second time")
            location.dependent_schemas = {**location.dependent_schemas, name: schema}
    location.constrains = True
    if value:
        _say_names(reader, keyword)
    else:
        reader.enforced(keyword)


def close_object(reader: Reader) -> None:
    """Close an object that lists properties, if only none, and says nothing of others; an option asks for it."""
    listed = reader.schema.get("properties")
    if not isinstance(listed, dict) or any(keyword in reader.schema for keyword in _ABOUT_OTHERS):
        return
    _members(reader).rest = reader.document.child(reader.location, "additionalProperties", False)
    reader.restricted("additionalProperties", "closed, as an option asks", "values")
    if reader.document.strict:
        reader.location.required = tuple(dict.fromkeys((*reader.location.required, *listed)))


#: What reads each keyword.
CONTAINERS: dict[str, Callable[[Reader, str, Any], None]] = {
    "items": _items,
    "prefixItems": _prefix_items,
    "additionalItems": _additional_items,
    "minItems": _item_count,
    "maxItems": _item_count,
    "uniqueItems": _unique,
    "contains": _contains,
    "minContains": _contains_count,
    "maxContains": _contains_count,
    "unevaluatedItems": _unevaluated,
    "properties": _properties,
    "additionalProperties": _additional_properties,
    "required": _required,
    "minProperties": _property_count,
    "maxProperties": _property_count,
    "patternProperties": _pattern_properties,
    "propertyNames": _property_names,
    "dependencies": _dependencies,
    "dependentRequired": _dependencies,
    "dependentSchemas": _dependencies,
    "unevaluatedProperties": _unevaluated,
}

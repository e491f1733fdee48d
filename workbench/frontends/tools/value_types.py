"""What a schema says about the types of values, where a format writes values without saying their types.

Plain keywords alone count; what is not known may be anything.

>>> schema = {"properties": {"a": {"$ref": "#/$defs/n"}}, "$defs": {"n": {"type": ["integer", "null"]}}}
>>> sorted(types_of(member(schema, schema, "a"), schema))
['null', 'number']
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

__all__ = ["EVERY", "item", "member", "type_of", "types_of"]

#: All types; integers are numbers here.
EVERY = frozenset({"null", "boolean", "number", "string", "array", "object"})
#: How many references and combinations lead on, at most.
_DEEPEST = 64


def type_of(value: Any) -> str:
    """The type of a JSON value."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "string"
    if isinstance(value, list):
        return "array"
    return "object" if isinstance(value, Mapping) else "number"


def types_of(schema: Any, root: Any, depth: int = 0) -> frozenset[str]:
    """The types that the values of a schema may have; ``root`` is what references lead into."""
    if schema is False:
        return frozenset()
    if not isinstance(schema, Mapping) or depth > _DEEPEST:
        return EVERY
    found = EVERY
    said = schema.get("type")
    if isinstance(said, str | list):
        names = [said] if isinstance(said, str) else said
        found &= {"number" if name == "integer" else name for name in names}
    if "const" in schema:
        found &= {type_of(schema["const"])}
    if isinstance(schema.get("enum"), list):
        found &= set(map(type_of, schema["enum"]))
    for part in _together(schema, root):
        found &= types_of(part, root, depth + 1)
    for choices in _choices(schema):
        found &= frozenset().union(*(types_of(one, root, depth + 1) for one in choices))
    return found


def member(schema: Any, root: Any, key: str, depth: int = 0) -> Any:
    """What a schema says about the member of a name."""
    if not isinstance(schema, Mapping) or depth > _DEEPEST:
        return True
    parts = [member(part, root, key, depth + 1) for part in _together(schema, root)]
    parts += [
        {"anyOf": [member(one, root, key, depth + 1) for one in choices]}
        for choices in _choices(schema)
    ]
    own = _own_member(schema, key)
    return own if not parts else {"allOf": [own, *parts]}


def item(schema: Any, root: Any, index: int, depth: int = 0) -> Any:
    """What a schema says about an item of an array."""
    if not isinstance(schema, Mapping) or depth > _DEEPEST:
        return True
    parts = [item(part, root, index, depth + 1) for part in _together(schema, root)]
    parts += [
        {"anyOf": [item(one, root, index, depth + 1) for one in choices]}
        for choices in _choices(schema)
    ]
    first, rest = schema.get("prefixItems"), schema.get("items", True)
    if isinstance(rest, list):
        first, rest = rest, schema.get("additionalItems", True)
    own = first[index] if isinstance(first, list) and index < len(first) else rest
    return own if not parts else {"allOf": [own, *parts]}


def _own_member(schema: Mapping[str, Any], key: str) -> Any:
    listed = schema.get("properties")
    found = [listed[key]] if isinstance(listed, Mapping) and key in listed else []
    patterns = schema.get("patternProperties")
    for pattern, part in patterns.items() if isinstance(patterns, Mapping) else ():
        try:
            if re.search(pattern, key):
                found.append(part)
        except re.error:
            return True
    if not found:
        return schema.get("additionalProperties", True)
    return found[0] if len(found) == 1 else {"allOf": found}


def _together(schema: Mapping[str, Any], root: Any) -> list[Any]:
    """What holds beside a schema: where its reference leads, and ``allOf``."""
    every = schema.get("allOf")
    parts = list(every) if isinstance(every, list) else []
    if isinstance(schema.get("$ref"), str):
        parts.append(_target(schema["$ref"], root))
    return parts


def _choices(schema: Mapping[str, Any]) -> list[list[Any]]:
    return [
        choices
        for key in ("anyOf", "oneOf")
        if isinstance(choices := schema.get(key), list) and choices
    ]


def _target(reference: str, root: Any) -> Any:
    """Where a reference into the same document leads; True, which says nothing, for any other."""
    if reference == "#":
        return root
    if not reference.startswith("#/"):
        return True
    at = root
    for step in reference[2:].split("/"):
        step = step.replace("~1", "/").replace("~0", "~")
        if isinstance(at, Mapping) and step in at:
            at = at[step]
        elif isinstance(at, list) and step.isdigit() and int(step) < len(at):
            at = at[int(step)]
        else:
            return True
    return at

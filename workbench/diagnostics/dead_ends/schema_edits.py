"""Edits of a JSON Schema that could mend a part without values: each one is tried before it is suggested."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

from workbench.diagnostics.author.standing import at_pointer
from workbench.diagnostics.dead_ends.findings import ABSENT, Edit, Suggestion
from workbench.errors import GrammarSyntaxError
from workbench.frontends.json_schema.read.resources import escape

__all__ = ["mend"]

#: Bounds from above and from below, each with its partner.
_UPPER = {
    "maxLength": "minLength",
    "maxItems": "minItems",
    "maxProperties": "minProperties",
    "maximum": "minimum",
    "exclusiveMaximum": "exclusiveMinimum",
}
_LOWER = {low: high for high, low in _UPPER.items()}
_COUNTS = ("Length", "Items", "Properties")
#: What is left out, when nothing else helps: least missed first.
_LEAST_MISSED = (
    "format",
    "pattern",
    "not",
    "multipleOf",
    "uniqueItems",
    "contains",
    "dependentRequired",
    "dependentSchemas",
    "dependencies",
    "propertyNames",
    "additionalProperties",
    "unevaluatedProperties",
    "enum",
    "const",
    "type",
)
_LARGEST = 1_000_000


def mend(schema: Any, pointer: str, works: Callable[[Any], bool]) -> Suggestion | None:
    """The first edit of the part at a pointer, out of a list of likely ones, after which ``works`` holds."""
    if not isinstance(schema, dict):
        return None
    for text, edits in _candidates(schema, pointer, works):
        changed = schema
        try:
            for edit in edits:
                changed = edit.apply(changed)
            if works(changed):
                return Suggestion(text, tuple(edits))
        except (GrammarSyntaxError, KeyError, ValueError):
            continue
    return None


def _candidates(
    schema: Any, pointer: str, works: Callable[[Any], bool]
) -> Iterator[tuple[str, list[Edit]]]:
    closed = ("/additionalProperties", "/unevaluatedProperties")
    if pointer.endswith(closed):
        # what is missing is a name in the object around it
        for here, part in _places(schema, pointer.rpartition("/")[0]):
            yield from _listed(here, part)
    places = list(_places(schema, pointer))
    if at_pointer(schema, pointer) is False and pointer != "#":
        yield "allow it", [Edit(False, True, pointer)]
    for here, part in places:
        yield from _swapped(here, part)
    for here, part in places:
        for keyword in (*_UPPER, *_LOWER):
            old = part.get(keyword)
            if isinstance(old, int | float) and not isinstance(old, bool):
                yield from _moved(schema, f"{here}/{keyword}", keyword, old, works)
    for here, part in places:
        yield from _retyped(here, part)
        yield from _listed(here, part)
        yield from _optional(here, part)
    for keyword in _LEAST_MISSED:
        for here, part in places:
            if keyword in part:
                yield f"leave {keyword} out", [Edit(part[keyword], ABSENT, f"{here}/{keyword}")]
    for here, part in places:
        for keyword in part:
            yield (
                f"leave {keyword} out",
                [Edit(part[keyword], ABSENT, f"{here}/{escape(keyword)}")],
            )


def _places(schema: Any, pointer: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The schemas that hold for the value at a pointer: there, behind a reference, and in allOf."""
    seen: set[str] = set()
    todo = [pointer]
    for here in todo:
        part = at_pointer(schema, here)
        if not isinstance(part, dict) or here in seen:
            continue
        seen.add(here)
        yield here, part
        reference = part.get("$ref")
        if isinstance(reference, str) and reference.startswith("#"):
            todo.append(reference)
        if isinstance(part.get("allOf"), list):
            todo += [f"{here}/allOf/{i}" for i in range(len(part["allOf"]))]


def _swapped(here: str, part: dict[str, Any]) -> Iterator[tuple[str, list[Edit]]]:
    for high, low in _UPPER.items():
        least, most = part.get(low), part.get(high)
        if isinstance(least, int | float) and isinstance(most, int | float) and least > most:
            yield (
                f"{low} is above {high}: swap them",
                [Edit(least, most, f"{here}/{low}"), Edit(most, least, f"{here}/{high}")],
            )


def _moved(
    schema: Any, pointer: str, keyword: str, old: float, works: Callable[[Any], bool]
) -> Iterator[tuple[str, list[Edit]]]:
    """A bound moved just as far as is needed, found by halving."""

    def at(value: int) -> bool:
        return works(Edit(old, value, pointer).apply(schema))

    up = keyword in _UPPER
    counted = keyword.endswith(_COUNTS)
    sign = 1 if up else -1
    start = math.floor(old) if up else math.ceil(old)
    near, step = start, 1
    while True:
        far = start + sign * step
        if not up and counted:
            far = max(far, 0)
        if abs(far - start) > _LARGEST or far == near:
            return
        if at(far):
            break
        near, step = far, 2 * step
    # near does not do, far does
    while abs(far - near) > 1:
        middle = (near + far) // 2
        if at(middle):
            far = middle
        else:
            near = middle
    yield f"{'raise' if up else 'lower'} {keyword} to {far}", [Edit(old, far, pointer)]


def _retyped(here: str, part: dict[str, Any]) -> Iterator[tuple[str, list[Edit]]]:
    """A type that fits the listed values."""
    values = part.get("enum", [part["const"]] if "const" in part else [])
    if "type" in part and isinstance(values, list) and values:
        kinds = list(dict.fromkeys(map(_type, values)))
        new = kinds[0] if len(kinds) == 1 else kinds
        yield "name the type of the listed values", [Edit(part["type"], new, f"{here}/type")]


def _listed(here: str, part: dict[str, Any]) -> Iterator[tuple[str, list[Edit]]]:
    """Required members that a closed object does not list."""
    required, properties = part.get("required"), part.get("properties")
    if isinstance(required, list) and isinstance(properties, dict):
        missing = [name for name in required if isinstance(name, str) and name not in properties]
        if missing:
            edits = [Edit(ABSENT, {}, f"{here}/properties/{escape(name)}") for name in missing]
            yield f"list the required {', '.join(map(repr, missing))} among the properties", edits


def _optional(here: str, part: dict[str, Any]) -> Iterator[tuple[str, list[Edit]]]:
    """One required member fewer."""
    required = part.get("required")
    if not isinstance(required, list):
        return
    for name in required:
        fewer = [other for other in required if other != name]
        yield f"do not require {name!r}", [Edit(required, fewer, f"{here}/required")]


def _type(value: Any) -> str:
    for name, kind in (
        ("null", type(None)),
        ("boolean", bool),
        ("integer", int),
        ("number", float),
        ("string", str),
        ("array", list),
    ):
        if isinstance(value, kind):
            return name
    return "object"


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")

"""Families of growing schemas for ``workbench bench growth``: parts that might multiply, at doubling sizes.

Each family makes, for a size, a schema, a value that it accepts and one that it does not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["FAMILIES", "Family"]

#: A schema of a size, a valid value, an invalid one.
Family = Callable[[int], tuple[Any, Any, Any]]

_TEXT = {"type": "string"}
_KINDS: tuple[Any, ...] = (_TEXT, {"type": "integer"}, {"type": "boolean"}, {"enum": ["a", "b"]})


def _objects(count: int, members: int = 3, **more: Any) -> list[Any]:
    """Objects that a ``kind`` tells apart, each with members of its own."""
    return [
        {
            "type": "object",
            "properties": {
                "kind": {"const": f"k{n}"},
                **{f"m{n}_{k}": _KINDS[k % len(_KINDS)] for k in range(members)},
            },
            **more,
        }
        for n in range(count)
    ]


def _alternatives_and_members(count: int) -> tuple[Any, Any, Any]:
    schema = {"anyOf": _objects(count, count, required=["kind"])}
    last = f"k{count - 1}"
    return schema, {"kind": last, f"m{count - 1}_0": "x"}, {"kind": "none"}


def _one_of_open(count: int) -> tuple[Any, Any, Any]:
    value = {"kind": f"k{count - 1}", f"m{count - 1}_0": "x", "other": 1}
    return {"oneOf": _objects(count)}, value, {"kind": "k0", "m0_0": 1}


def _one_of_closed(count: int) -> tuple[Any, Any, Any]:
    schema = {"oneOf": _objects(count, additionalProperties=False)}
    return schema, {f"m{count - 1}_0": "x"}, {"kind": "k0", "m1_0": "x"}


def _one_of_own_names(count: int) -> tuple[Any, Any, Any]:
    choices = [
        {"type": "object", "properties": {f"a{n}": _TEXT}, "required": [f"a{n}"]}
        for n in range(count)
    ]
    return {"oneOf": choices}, {f"a{count - 1}": "x", "other": 1}, {"a0": "x", "a1": "x"}


def _any_of_open(count: int) -> tuple[Any, Any, Any]:
    return {"anyOf": _objects(count)}, {"kind": f"k{count - 1}", "m0_0": "x"}, {"kind": 1}


def _conditions(count: int) -> tuple[Any, Any, Any]:
    conditions = [
        {
            "if": {"properties": {"kind": {"const": f"k{n}"}}, "required": ["kind"]},
            "then": {"properties": {f"r{n}": _TEXT}, "required": [f"r{n}"]},
        }
        for n in range(count)
    ]
    schema = {"type": "object", "properties": {"kind": _TEXT}, "allOf": conditions}
    return schema, {"kind": "k1", "r1": "x"}, {"kind": "k0"}


def _flags(count: int) -> tuple[Any, Any, Any]:
    conditions = [
        {
            "if": {"properties": {f"f{n}": {"const": True}}, "required": [f"f{n}"]},
            "then": {"required": [f"r{n}"]},
        }
        for n in range(count)
    ]
    flags = {f"f{n}": {"type": "boolean"} for n in range(count)}
    schema = {"type": "object", "properties": flags, "allOf": conditions}
    return schema, {"f0": True, "f1": False, "r0": 1}, {"f0": True}


def _chain(count: int) -> tuple[Any, Any, Any]:
    schema: Any = False
    for n in reversed(range(count)):
        kind = {"properties": {"kind": {"const": f"k{n}"}}, "required": ["kind"]}
        schema = {"if": kind, "then": {"required": [f"r{n}"]}, "else": schema}
    return {"type": "object", **schema}, {"kind": "k1", "r1": "x"}, {"kind": "k0"}


def _nested(count: int) -> tuple[Any, Any, Any]:
    schema: Any = {"type": "integer", "minimum": 3}
    value: Any = 4
    wrong: Any = 2
    for _ in range(count):
        schema = {"type": "object", "properties": {"a": schema}, "required": ["a"]}
        value, wrong = {"a": value}, {"a": wrong}
    return schema, value, wrong


def _enum(count: int) -> tuple[Any, Any, Any]:
    values = [f"value {n:06}" for n in range(16 * count)]
    return {"enum": values}, values[-1], "value"


def _properties(count: int) -> tuple[Any, Any, Any]:
    said = {f"p{n}": _KINDS[n % len(_KINDS)] for n in range(4 * count)}
    return {"type": "object", "properties": said}, {"p0": "x", "p1": 3, "other": []}, {"p0": 1}


def _required(count: int) -> tuple[Any, Any, Any]:
    names = [f"p{n}" for n in range(count)]
    said = dict.fromkeys(names, _TEXT)
    schema = {"type": "object", "properties": said, "required": names}
    return schema, dict.fromkeys(names, "x"), dict.fromkeys(names[1:], "x")


def _required_sets(count: int) -> tuple[Any, Any, Any]:
    names = [f"p{n}" for n in range(count)]
    sets = [{"required": [names[n], names[n - 1]]} for n in range(count)]
    schema = {"type": "object", "properties": dict.fromkeys(names, _TEXT), "anyOf": sets}
    return schema, {names[0]: "x", names[1]: "x"}, {names[0]: "x"}


def _counts_and_lengths(count: int) -> tuple[Any, Any, Any]:
    text = {"type": "string", "minLength": count // 2, "maxLength": 8 * count}
    schema = {"type": "array", "items": text, "minItems": count // 4, "maxItems": count}
    return schema, ["x" * count] * (count // 2), ["x" * count] * (count + 1)


def _pattern_and_length(count: int) -> tuple[Any, Any, Any]:
    schema = {"type": "string", "pattern": r'^[^"\n]*x[^"\n]*y$', "maxLength": 4 * count}
    return schema, "ax" + "b" * count + "y", "a" * count + "y"


def _counted_labels(count: int) -> tuple[Any, Any, Any]:
    pattern = rf"^(?=.{{1,{4 * count}}}$)(?!-)[a-z0-9-]{{1,{count}}}(\.[a-z0-9-]{{1,{count}}})*$"
    return {"type": "string", "pattern": pattern}, "a" * count + ".b", "-a"


def _look_aheads(count: int) -> tuple[Any, Any, Any]:
    pattern = rf"^(?=.*[a-z])(?=.*[A-Z])(?=.*\d)(?=.*[^\w]).{{8,{count + 8}}}$"
    return {"type": "string", "pattern": pattern}, "aA1-5678", "aaaaaaaa"


def _excluded_words(count: int) -> tuple[Any, Any, Any]:
    words = "|".join(f"word{n}" for n in range(count))
    return {"type": "string", "pattern": f"^(?!({words})$)"}, "words", "word1"


def _fan_out(count: int) -> tuple[Any, Any, Any]:
    parts = {
        f"d{n}": {
            "type": "object",
            "properties": {
                f"p{k}": {"$ref": f"#/$defs/d{(n * 4 + k) % count}"} for k in range(1, 5)
            },
        }
        for n in range(count)
    }
    return {"$ref": "#/$defs/d0", "$defs": parts}, {"p1": {"p2": {}}}, {"p1": {"p2": 1}}


def _patterns_and_names(count: int) -> tuple[Any, Any, Any]:
    schema = {
        "type": "object",
        "properties": {f"p{n}_x": _TEXT for n in range(count)},
        "patternProperties": {f"^p{n}_": {"minLength": 1} for n in range(count)},
    }
    return schema, {"p0_x": "a", "p1_y": "b"}, {"p0_y": ""}


def _unique(count: int) -> tuple[Any, Any, Any]:
    values = [f"v{n}" for n in range(count)]
    schema = {"type": "array", "items": {"enum": values}, "uniqueItems": True}
    return schema, values[: count // 2], [values[0], values[0]]


def _dependent(count: int) -> tuple[Any, Any, Any]:
    needs = {f"p{n}": [f"p{n + 1}"] for n in range(count)}
    said = {f"p{n}": _TEXT for n in range(count + 1)}
    schema = {"type": "object", "properties": said, "dependentRequired": needs}
    return schema, {f"p{count - 1}": "x", f"p{count}": "x"}, {f"p{count - 1}": "x"}


def _all_of_patterns(count: int) -> tuple[Any, Any, Any]:
    letters = [chr(ord("a") + n % 26) for n in range(count)]
    parts = [{"pattern": f"^[^{one}]*{one}?[^{one}]*$"} for one in dict.fromkeys(letters)]
    parts += [{"pattern": f"^.{{0,{4 * n}}}$"} for n in range(26, count)]
    return {"type": "string", "allOf": parts}, "abc", "aab"


def _all_of_objects(count: int) -> tuple[Any, Any, Any]:
    parts = [
        {"type": "object", "properties": {f"a{n}": _TEXT, "all": {"minimum": n}}}
        for n in range(count)
    ]
    return {"allOf": parts}, {"a0": "x", "all": count}, {"all": count - 2}


def _excluded_names(count: int) -> tuple[Any, Any, Any]:
    schema = {
        "type": "object",
        "properties": {f"a{n}": _TEXT for n in range(count)},
        "not": {"anyOf": [{"required": [f"a{n}", f"a{n + 1}"]} for n in range(count - 1)]},
    }
    return schema, {"a0": "x", "a2": "x"}, {"a0": "x", "a1": "x"}


def _contains(count: int) -> tuple[Any, Any, Any]:
    schema = {"type": "array", "contains": {"const": 7}, "minContains": count}
    return schema, [1] + [7] * count, [1] + [7] * (count - 1)


#: By name, in the order in which they are run and shown.
FAMILIES: dict[str, Family] = {
    "alternatives x members": _alternatives_and_members,
    "oneOf, a tag that may be missing": _one_of_open,
    "oneOf, closed": _one_of_closed,
    "oneOf, a name each": _one_of_own_names,
    "anyOf": _any_of_open,
    "if/then of one name": _conditions,
    "if/then of a name each": _flags,
    "if/else chain": _chain,
    "nesting": _nested,
    "enum": _enum,
    "properties": _properties,
    "required": _required,
    "required sets": _required_sets,
    "counts x lengths": _counts_and_lengths,
    "pattern x maxLength": _pattern_and_length,
    "look-ahead x length": _counted_labels,
    "look-aheads": _look_aheads,
    "excluded words": _excluded_words,
    "$ref fan-out": _fan_out,
    "patternProperties x properties": _patterns_and_names,
    "uniqueItems x enum": _unique,
    "dependentRequired": _dependent,
    "allOf of patterns": _all_of_patterns,
    "allOf of objects": _all_of_objects,
    "excluded pairs of names": _excluded_names,
    "minContains": _contains,
}

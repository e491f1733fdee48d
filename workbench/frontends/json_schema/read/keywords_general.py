"""Keywords that speak of values of any type: types, listed values, references, applicators of the same value."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

from workbench.errors import GrammarSyntaxError
from workbench.frontends.json_schema.read.document import DanglingReference
from workbench.frontends.json_schema.read.location import Condition
from workbench.frontends.json_schema.read.reader import Reader
from workbench.frontends.json_schema.text.json_values import NUMBER, TYPE_BITS, canonical, is_number

__all__ = ["GENERAL", "is_denied", "read_reference", "read_type"]


def read_type(reader: Reader, keyword: str, value: Any) -> None:
    """Read ``type``; the readers of other keywords look at it, so it comes before them."""
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
        if reader.location.resource.draft == 4:
            detail = "integers as 12; draft 4 has no integers with a fraction, 12e3 is left out"
        reader.restricted(keyword, detail, "notation")
    else:
        reader.constrained(keyword)


def _already_read(reader: Reader, keyword: str, value: Any) -> None:
    """``type`` is read before the others."""


def _enum(reader: Reader, keyword: str, value: Any) -> None:
    if not isinstance(value, list | tuple):
        raise reader.wrong(keyword, "must be an array")
    _values(reader, keyword, list(value))


def _const(reader: Reader, keyword: str, value: Any) -> None:
    _values(reader, keyword, [value])


def _values(reader: Reader, keyword: str, values: list[Any]) -> None:
    unique = {canonical(value, reader.pointer(keyword)): value for value in reversed(values)}
    found = dict(reversed(unique.items()))
    location = reader.location
    if location.value_keys is not None:
        found = {key: value for key, value in found.items() if key in location.value_keys}
    location.values = list(found.values())
    location.value_keys = frozenset(found)
    location.constrains = True
    _say_values(reader, keyword, location.values)


def _say_values(reader: Reader, keyword: str, values: list[Any]) -> None:
    """Say how given values are written, as far as there is more than one way."""
    strings = numbers = names = False
    todo = list(values)
    while todo:
        value = todo.pop()
        if isinstance(value, str):
            strings = True
        elif isinstance(value, dict):
            names = names or len(value) > 1
            todo += [*value, *value.values()]
        elif isinstance(value, list | tuple):
            todo += value
        else:
            numbers = numbers or is_number(value)
    said = []
    if strings:
        said.append(("strings in their usual spelling", "escapes"))
    if numbers:
        said.append(("numbers as 1200, 1200.0 or as Python and JavaScript write them", "notation"))
    if names and not reader.document.any_order:
        said.append(("keys in the order given", "order"))
    if said:
        reader.restricted(keyword, ", ".join(text for text, _ in said), *(kind for _, kind in said))
    else:
        reader.enforced(keyword)


def read_reference(reader: Reader, keyword: str, value: Any) -> None:
    """Read a reference of any kind: the schema that it names must hold as well."""
    if not isinstance(value, str):
        raise reader.wrong(keyword, "must be a string")
    document, location = reader.document, reader.location
    forbids = document.forbids_dangling and not is_denied(location.pointer)
    unknown = f"{value!r} lies in a document that is not in the registry"
    try:
        target = document.resolve(location, keyword, value)
        wrong = unknown if target is None else None
    except DanglingReference as error:
        target, wrong = None, str(error)
        if not forbids:
            hint = 'on_dangling="forbid" (--on-dangling forbid) forbids the part that has it and keeps the rest'
            raise GrammarSyntaxError(wrong, pointer=reader.pointer(keyword), hint=hint) from None
    if target is not None:
        location.same_instance += (target,)
        reader.enforced(keyword)
    elif forbids:
        assert wrong is not None
        target = document.child(location, keyword, False)
        target.reason = wrong
        location.same_instance += (target,)
        reader.note(keyword, "restricted", f"forbidden, as an option asks: {wrong}")
    else:
        reader.unsupported(keyword, unknown)


def is_denied(pointer: str) -> bool:
    """Whether a schema stands under ``not`` or ``if``, where to forbid it is to allow more."""
    tokens = pointer.split("/")
    names = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
    return any(token in ("not", "if") and before not in names for before, token in pairwise(tokens))


def _all_of(reader: Reader, keyword: str, value: Any) -> None:
    reader.location.same_instance += reader.schemas(keyword, value)
    reader.enforced(keyword)


def _any_of(reader: Reader, keyword: str, value: Any) -> None:
    reader.location.choices += (reader.schemas(keyword, value),)
    reader.enforced(keyword)


def _one_of(reader: Reader, keyword: str, value: Any) -> None:
    if isinstance(value, list | tuple) and len(value) == 1:
        _all_of(reader, keyword, value)
        return
    reader.location.exclusive += (reader.schemas(keyword, value),)
    reader.enforced(keyword)


def _not(reader: Reader, keyword: str, value: Any) -> None:
    reader.location.excluded += (reader.document.child(reader.location, keyword, value),)
    reader.enforced(keyword)


def _if(reader: Reader, keyword: str, value: Any) -> None:
    schema, document, location = reader.schema, reader.document, reader.location
    test = document.child(location, keyword, value)
    parts = [
        document.child(location, key, schema[key]) if key in schema else None
        for key in ("then", "else")
    ]
    location.condition = Condition(test, *parts)
    if parts == [None, None]:
        reader.note(keyword, "annotation", "without then or else it has no effect")
    else:
        reader.enforced(keyword)


def _branch(reader: Reader, keyword: str, value: Any) -> None:
    """``then`` and ``else`` are read with ``if``."""
    if "if" in reader.schema:
        reader.enforced(keyword)
    else:
        reader.note(keyword, "annotation", "without if it has no effect")


def _dynamic_reference(reader: Reader, keyword: str, value: Any) -> None:
    if keyword == "$recursiveRef" and reader.location.resource.draft != 2019:
        reader.note(keyword, "annotation", "not a keyword of this draft")
    else:
        read_reference(reader, keyword, value)


#: What reads each keyword.
GENERAL: dict[str, Callable[[Reader, str, Any], None]] = {
    "type": _already_read,
    "enum": _enum,
    "const": _const,
    "$ref": read_reference,
    "allOf": _all_of,
    "anyOf": _any_of,
    "oneOf": _one_of,
    "not": _not,
    "if": _if,
    "then": _branch,
    "else": _branch,
    "$dynamicRef": _dynamic_reference,
    "$recursiveRef": _dynamic_reference,
}

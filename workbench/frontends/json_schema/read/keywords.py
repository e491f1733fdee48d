"""What each keyword means: checking its form, reading it into a location, saying what became of it.

Keywords that are not in the tables are annotations, as the specification says.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from workbench.errors import GrammarSyntaxError
from workbench.frontends.json_schema.read.document import DanglingReference, Document, escape
from workbench.frontends.json_schema.read.keyword_hints import wrapped
from workbench.frontends.json_schema.read.keyword_tables import SINCE, VALIDATION
from workbench.frontends.json_schema.read.location import (
    CellRule,
    Condition,
    Location,
    MemberRule,
    tighter_high,
    tighter_low,
)
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
from workbench.frontends.json_schema.text.json_values import (
    NUMBER,
    TYPE_BITS,
    canonical,
    decimal,
    is_number,
)
from workbench.grammar.ir import Outcome
from workbench.wording import number_of

__all__ = ["read_keywords"]

_PLAIN = "numbers in plain notation, without exponents"
_SPELLED = "names in their usual spelling"
_IN_ORDER = "keys in the order of the schema, those that it does not list after all others"
_FEW_NAMES = "names of which there may be few are written without escapes that are not needed"
#: A pattern that ends with as many characters as come.
_OPEN_END = re.compile(r"^[^$]*(?<!\\)[*+]\)*\$$")
#: What leaves endlessly many names in a schema of names.
_OPEN_NAMES = {"type", "pattern", "minLength", "title", "description", "$comment"}


def read_keywords(document: Document, location: Location) -> None:
    """Read one schema into its location and queue the schemas below it.

    Raises ``GrammarSyntaxError`` when a keyword does not have the form that the specification wants.
    """
    schema = location.schema
    if isinstance(schema, bool):
        location.never = location.constrains = not schema
        return
    reader = Reader(document, location)
    draft = location.resource.draft
    if "$ref" in schema and draft <= 7:
        _reference(reader, "$ref", schema["$ref"])
        said = _HANDLERS.keys() - {"type"}  # beside a reference it mostly says the same again
        for keyword in schema:
            if keyword != "$ref":
                detail = "draft 7 and older ignore what is beside $ref"
                warning = detail if keyword in said else ""
                reader.note(keyword, "annotation", detail, warning=warning)
        return
    if location is document.root:
        _look_for_wrapping(reader)
    if "type" in schema and document.validates:
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
            reader.unknown(keyword)
        elif document.declared and SINCE.get(keyword, 0) > draft:
            since, named = (_DRAFTS.get(one, one) for one in (SINCE[keyword], draft))
            warning = (
                f"{keyword!r} came with draft {since} and says nothing in one of draft {named}"
            )
            detail = f"not a keyword of draft {draft}"
            reader.note(keyword, "annotation", detail, warning=warning)
        elif not document.validates and keyword in VALIDATION:
            reader.note(keyword, "annotation", "the dialect leaves validation out")
        else:
            handler(reader, keyword, value)
    if document.closed and not document.silent:
        _close(reader)
    if not placed:
        location.same_instance.append(None)
    if location.same_instance == [None]:
        location.same_instance = []


_DRAFTS = {2019: "2019-09", 2020: "2020-12"}


def _look_for_wrapping(reader: Reader) -> None:
    """Warn when what was passed only wraps the schema: read as it is, it has no keywords, and any JSON fits."""
    path = wrapped(reader.schema)
    if path is None:
        if reader.schema.get("type") == "json_object":
            raise reader.wrong(
                "type", "'json_object' is not a type", hint='any object is {"type": "object"}'
            )
        return
    inside = "".join(f"[{word!r}]" for word in path)
    pointer = "/".join(("#", *path))
    message = f"the schema is inside, at {pointer}, and what is around it says nothing"
    hint = f"pass schema{inside}"
    if reader.document.strict or "type" in reader.schema:
        raise GrammarSyntaxError(message, pointer="#", hint=hint)
    reader.document.outcomes.append(
        Outcome(pointer, path[-1], "annotation", warning=f"{message}: any JSON fits; {hint}")
    )


#: Keywords that say what becomes of properties that are not listed.
_ABOUT_OTHERS = ("additionalProperties", "patternProperties", "unevaluatedProperties")


def _close(reader: Reader) -> None:
    """Close an object that lists properties and says nothing about others; an option asks for it."""
    listed = reader.schema.get("properties")
    if not listed or any(keyword in reader.schema for keyword in _ABOUT_OTHERS):
        return
    _members(reader).rest = reader.document.child(reader.location, "additionalProperties", False)
    reader.restricted("additionalProperties", "closed, as an option asks", "values")
    if reader.document.strict:
        reader.location.required = tuple(dict.fromkeys((*reader.location.required, *listed)))


def _type(reader: Reader, keyword: str, value: Any) -> None:
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


def _reference(reader: Reader, keyword: str, value: Any) -> None:
    if not isinstance(value, str):
        raise reader.wrong(keyword, "must be a string")
    document, location = reader.document, reader.location
    forbids = document.forbids_dangling and not _is_denied(location.pointer)
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
        location.same_instance.append(target)
        reader.enforced(keyword)
    elif forbids:
        assert wrong is not None
        target = document.child(location, keyword, False)
        target.reason = wrong
        location.same_instance.append(target)
        reader.note(keyword, "restricted", f"forbidden, as an option asks: {wrong}")
    else:
        reader.unsupported(keyword, unknown)


def _is_denied(pointer: str) -> bool:
    """Whether a schema stands under ``not`` or ``if``, where to forbid it is to allow more."""
    tokens = pointer.split("/")
    names = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
    return any(token in ("not", "if") and before not in names for before, token in pairwise(tokens))


def _all_of(reader: Reader, keyword: str, value: Any) -> None:
    reader.location.same_instance.extend(reader.schemas(keyword, value))
    reader.enforced(keyword)


def _any_of(reader: Reader, keyword: str, value: Any) -> None:
    reader.location.choices.append(reader.schemas(keyword, value))
    reader.enforced(keyword)


def _one_of(reader: Reader, keyword: str, value: Any) -> None:
    if isinstance(value, list | tuple) and len(value) == 1:
        _all_of(reader, keyword, value)
        return
    reader.location.exclusive.append(reader.schemas(keyword, value))
    reader.enforced(keyword)


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
    pattern = _checked(reader, keyword, value, reader.pointer(keyword))
    if pattern is not None:
        reader.location.pattern = pattern
        reader.constrained(keyword)


def _checked(reader: Reader, keyword: str, text: str, pointer: str) -> Pattern | None:
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
        pattern = _checked(reader, keyword, text, f"{reader.pointer(keyword)}/{escape(text)}")
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


def _multiple_of(reader: Reader, keyword: str, value: Any) -> None:
    if not is_number(value) or value <= 0:
        raise reader.wrong(keyword, "must be a number above zero")
    reader.location.multiple_of = decimal(value).normalize()
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
            location.dependent_names[name] = tuple(dict.fromkeys((*known, *names)))
        elif keyword == "dependentRequired":
            raise reader.wrong(keyword, f"must have arrays of strings, also for {name!r:.60}")
        else:
            schema = reader.document.child(location, keyword, part, escape(name))
            if name in location.dependent_schemas:
                raise reader.wrong(keyword, f"says something about {name!r:.60} a second time")
            location.dependent_schemas[name] = schema
    location.constrains = True
    if value:
        _say_names(reader, keyword)
    else:
        reader.enforced(keyword)


def _not(reader: Reader, keyword: str, value: Any) -> None:
    reader.location.excluded.append(reader.document.child(reader.location, keyword, value))
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
        _reference(reader, keyword, value)


_HANDLERS: dict[str, Callable[[Reader, str, Any], None]] = {
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
    "not": _not,
    "if": _if,
    "then": _branch,
    "else": _branch,
    "$dynamicRef": _dynamic_reference,
    "$recursiveRef": _dynamic_reference,
}

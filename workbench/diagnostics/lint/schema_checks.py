"""What an author of a JSON Schema may want to change: what is there twice, and what has no longest length."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from workbench.diagnostics.lint.report import LintFinding, finding
from workbench.errors import WorkbenchError
from workbench.frontends.json_schema.asking import Asking
from workbench.grammar.ir import Grammar, Origin
from workbench.wording import number_of

__all__ = ["schema_findings"]

#: Keywords with one schema, with several by name, with several in a list.
_ONE = {
    "additionalProperties",
    "items",
    "additionalItems",
    "contains",
    "propertyNames",
    "if",
    "then",
    "else",
}
_ONE |= {"unevaluatedItems", "unevaluatedProperties"}
_NAMED = {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}
_LISTED = {"anyOf", "oneOf", "allOf", "prefixItems", "items"}
#: Keywords that say nothing about values.
_SILENT = {"title", "description", "default", "examples", "$comment", "deprecated"}
#: Keywords after which a text is of a length that is known, or of no interest.
_LIMITS = {"maxLength", "enum", "const", "format", "pattern", "contentEncoding"}
_LIMITS_OF_LISTS = {"maxItems", "enum", "const", "uniqueItems"}
_MOST_POINTERS = 3
#: Alternatives of one choice that are compared, choices, and schemas that are looked at.
_MOST_WAYS, _MOST_CHOICES, _MOST_SCHEMAS = 12, 40, 50_000


def schema_findings(grammar: Grammar, prefix: str = "") -> Iterator[LintFinding | str]:
    """The findings, and what was not looked at. ``prefix`` stands before pointers."""
    schema = grammar.source
    if not isinstance(schema, Mapping):
        return
    texts: list[str] = []
    lists: list[str] = []
    choices: list[tuple[str, list[Any]]] = []
    for seen, (pointer, part) in enumerate(_parts(schema)):
        if seen >= _MOST_SCHEMAS:
            yield f"only the first {_MOST_SCHEMAS:,} schemas were looked at"
            break
        kinds = part.get("type")
        kinds = kinds if isinstance(kinds, list) else [kinds]
        if "string" in kinds and not _LIMITS & part.keys():
            texts.append(pointer)
        if (
            "array" in kinds
            and not _LIMITS_OF_LISTS & part.keys()
            and part.get("items") is not False
        ):
            lists.append(pointer)
        yield from _twice(grammar, prefix, pointer, part)
        if isinstance(part.get("anyOf"), list) and 2 <= len(part["anyOf"]) <= _MOST_WAYS:
            choices.append((pointer, part["anyOf"]))
    yield from _shadowed(grammar, prefix, choices)
    for found, keyword, what in ((texts, "maxLength", "string"), (lists, "maxItems", "array")):
        if found:
            yield _without_end(grammar, prefix, found, keyword, what)


def _parts(schema: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The schemas in a schema, by pointer, in its order."""
    todo: list[tuple[str, Any]] = [("#", schema)]
    while todo:
        pointer, part = todo.pop()
        if not isinstance(part, Mapping):
            continue
        yield pointer, part
        below: list[tuple[str, Any]] = []
        for key, value in part.items():
            inside = f"{pointer}/{_escaped(str(key))}"
            if key in _NAMED and isinstance(value, Mapping):
                below += [(f"{inside}/{_escaped(str(name))}", one) for name, one in value.items()]
            elif key in _LISTED and isinstance(value, list | tuple):
                below += [(f"{inside}/{number}", one) for number, one in enumerate(value)]
            elif key in _ONE:
                below.append((inside, value))
        todo += reversed(below)


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


def _twice(
    grammar: Grammar, prefix: str, pointer: str, part: Mapping[str, Any]
) -> Iterator[LintFinding]:
    """Members of ``enum``, ``anyOf``, ``oneOf`` that are there already."""
    for keyword in ("enum", "anyOf", "oneOf"):
        listed = part.get(keyword)
        if not isinstance(listed, list | tuple):
            continue
        known: dict[str, int] = {}
        for number, one in enumerate(listed):
            first = known.setdefault(_content(one, keyword != "enum"), number)
            if first == number:
                continue
            message = f"{keyword} has the same member twice: {number} is {first} again"
            if keyword == "oneOf":
                message += ", so no value is of one of them alone"
            place = f"{pointer}/{keyword}/{number}"
            yield _at(grammar, prefix, place, "duplicate", "warning", message, "remove one of them")


def _content(value: Any, is_schema: bool) -> str:
    if is_schema and isinstance(value, Mapping):
        value = {key: one for key, one in value.items() if key not in _SILENT}
    try:
        return json.dumps(value, sort_keys=True)
    except (TypeError, ValueError):
        return repr(value)


def _shadowed(
    grammar: Grammar, prefix: str, choices: list[tuple[str, list[Any]]]
) -> Iterator[LintFinding | str]:
    """Alternatives of ``anyOf`` all of whose values another one takes."""
    if not choices:
        return
    try:
        asking = Asking(grammar.source)
    except WorkbenchError:
        return
    for number, (pointer, listed) in enumerate(choices):
        if number >= _MOST_CHOICES:
            yield f"alternatives of the first {_MOST_CHOICES} anyOf were compared"
            return
        yield from _inside(grammar, prefix, asking, pointer, listed)


def _inside(
    grammar: Grammar, prefix: str, asking: Asking, pointer: str, listed: list[Any]
) -> Iterator[LintFinding]:
    contents = [_content(one, True) for one in listed]
    for one in range(len(listed)):
        for other in range(len(listed)):
            if one == other or contents[one] == contents[other]:
                continue
            inner, outer = f"{pointer}/anyOf/{one}", f"{pointer}/anyOf/{other}"
            wanted = {"$ref": inner, "not": {"$ref": outer}}
            try:
                if asking.blame({"$ref": inner}, ()) is not None:
                    break  # it has no value: told as a dead end
                if asking.blame(wanted, ()) is None:
                    continue
            except WorkbenchError:
                continue
            message = f"alternative {one} adds nothing: alternative {other} takes all of its values"
            yield _at(
                *(grammar, prefix, inner, "shadowed", "info", message),
                "remove it, unless it is there for a reader",
            )
            break


def _without_end(
    grammar: Grammar, prefix: str, pointers: list[str], keyword: str, what: str
) -> LintFinding:
    shown = ", ".join(prefix + one for one in pointers[:_MOST_POINTERS])
    if len(pointers) > _MOST_POINTERS:
        shown += f" and {len(pointers) - _MOST_POINTERS} more"
    has = "has" if len(pointers) == 1 else "have"
    message = f"{number_of(len(pointers), what)} {has} no {keyword}: {shown}"
    advice = (
        f"a model may write on without end; give {keyword} where there is a limit that makes sense"
    )
    return _at(grammar, prefix, pointers[0], "unbounded run", "info", message, advice)


def _at(
    grammar: Grammar,
    prefix: str,
    pointer: str,
    kind: Any,
    severity: Any,
    message: str,
    advice: str,
) -> LintFinding:
    place = Origin(pointer=prefix + pointer)
    return finding(grammar, kind, severity, message, advice, place=place)

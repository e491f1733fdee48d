"""Hints about likely mistakes: misspelled keywords, and schemas inside a wrapping (a tool, a response format).

An unknown keyword is an annotation, as the specification says. One that is nearly a known keyword (by edit
distance) and has a value such as that keyword takes gets a warning.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from functools import lru_cache
from typing import Any

from workbench.frontends.json_schema.text.json_values import TYPE_BITS, is_number

__all__ = ["misspelled", "wrapped"]

#: The keywords of all drafts, by what their values are.
_KEYWORDS = {
    "schema": [
        "additionalItems", "additionalProperties", "contains", "contentSchema", "else", "if", "items", "not",
        "propertyNames", "then", "unevaluatedItems", "unevaluatedProperties",
    ],
    "schemas": ["allOf", "anyOf", "oneOf", "prefixItems"],
    "map": [
        "$defs", "definitions", "dependencies", "dependentRequired", "dependentSchemas", "patternProperties",
        "properties",
    ],
    "number": [
        "exclusiveMaximum", "exclusiveMinimum", "maxContains", "maxItems", "maxLength", "maxProperties",
        "maximum", "minContains", "minItems", "minLength", "minProperties", "minimum", "multipleOf",
    ],
    "string": ["$anchor", "$dynamicAnchor", "$dynamicRef", "$id", "$ref", "$schema", "format", "pattern"],
    "list": ["enum", "required"],
    "types": ["type"],
    "any": ["const"],
    "boolean": ["uniqueItems"],
}  # fmt: skip
_KINDS = {word: kind for kind, words in _KEYWORDS.items() for word in words}
#: Keywords that are annotations.
_ANNOTATIONS = frozenset(
    [
        "$comment", "$recursiveAnchor", "$recursiveRef", "$vocabulary", "contentEncoding", "contentMediaType",
        "default", "deprecated", "description", "examples", "id", "readOnly", "title", "writeOnly",
    ]
)  # fmt: skip
#: Words of dialects and tools that are near a keyword and mean something else, or nothing.
_OTHERS = frozenset(
    [
        # OpenAPI, AsyncAPI, RAML, MongoDB, BigQuery, Avro, protobuf
        "bsonType", "content", "discriminator", "example", "externalDocs", "facets", "media", "nullable",
        "optional", "schema", "schemas", "summary", "xml",
        # drafts 1 to 3
        "contentType", "disallow", "divisibleBy", "extends", "maxDecimal", "requires",
        # forms, editors and generators of code
        "allowEmptyValue", "axPattern", "component", "constraint", "constraints",
        "defaultSnippets", "defaults", "deprecationMessage", "doNotSuggest",
        "elseRequired", "enumDescriptions", "enumNames", "enumTitles", "errorMessage", "faker", "formatMaximum",
        "formatMinimum", "formatExclusiveMaximum", "formatExclusiveMinimum", "goType", "inject", "input", "instanceof",
        "javaType", "label", "markdownDescription", "markdownEnumDescriptions", "name", "notes", "options",
        "order", "patternErrorMessage", "propertyOrder", "propertyOrdering", "requiredIf", "requiredWhen",
        "scope", "select", "selectCases", "sort",
        "suggestSortText", "switch", "tags", "template", "transform", "tsEnumNames", "tsType", "typeof",
        "units", "unit", "value", "values", "version", "widget",
    ]
)  # fmt: skip
#: Keywords that only name something: a word near to one leaves nothing out that was meant to hold.
_NAMING = ("$anchor", "$defs", "$dynamicAnchor", "$id", "$schema", "definitions")
_LOWER = {word.lower().lstrip("$"): word for word in _KINDS if word not in _NAMING} | {
    "inclusivemaximum": "maximum",
    "inclusiveminimum": "minimum",
    "property": "properties",
}

_QUIET = [word.lower().lstrip("$") for word in (*_ANNOTATIONS, *_NAMING)]


def misspelled(word: str, value: Any) -> str | None:
    """The keyword that a word was probably meant to be, where its value is one for it; ``None`` else."""
    found = _near(word)
    return found if found is not None and _suits(_KINDS[found], value) else None


@lru_cache(maxsize=4096)
def _near(word: str) -> str | None:
    known = word in _KINDS or word in _ANNOTATIONS or word in _OTHERS
    if known or not 2 < len(word) < 30 or not word.lstrip("$")[:1].isalpha():
        return None
    if (word[0] in "xX" and word[1] in "-_") or word == "$type":
        return None
    plain = word.lower().replace("_", "").replace("-", "").lstrip("$").strip(" :")
    if plain in _LOWER:
        return _LOWER[plain]
    if not word.isascii() or not word.lstrip("$").isalpha():
        return None
    near = get_close_matches(plain, [*_LOWER, *_QUIET], 1, 0.8)
    if not near:
        near = [one for one in _LOWER if len(one) < 8 and sorted(one) == sorted(plain)]
    return _LOWER.get(near[0]) if near else None


def _suits(kind: str, value: Any) -> bool:
    """Whether a keyword of a kind may have a value."""
    match kind:
        case "schema":
            return isinstance(value, dict | bool)
        case "map":
            return isinstance(value, dict) and all(
                isinstance(one, dict | bool | list) for one in value.values()
            )
        case "schemas":
            return isinstance(value, list) and all(isinstance(one, dict | bool) for one in value)
        case "list":
            return isinstance(value, list)
        case "number":
            return is_number(value)
        case "string":
            return isinstance(value, str)
        case "boolean":
            return isinstance(value, bool)
        case "types":
            names = value if isinstance(value, list) else [value]
            return bool(names) and all(isinstance(one, str) and one in TYPE_BITS for one in names)
    return True


#: The members that tools and services wrap a schema in.
_WRAPPERS = (
    "schema", "parameters", "inputSchema", "input_schema", "json_schema", "jsonSchema", "function",
    "response_format", "responseSchema", "response_schema", "responseJsonSchema", "parametersJsonSchema", "format",
    "text", "toolSpec", "json", "outputSchema", "output_schema",
)  # fmt: skip
_SAYS = frozenset([*_KINDS, "$recursiveRef"]) - {
    "$schema",
    "$id",
    "$anchor",
    "$defs",
    "definitions",
    "format",
}


def wrapped(schema: Mapping[str, Any]) -> list[str] | None:
    """The members that lead to the schema inside a wrapping that is no schema itself."""
    found: list[str] = []
    at: Any = schema
    while len(found) < 5:
        if not isinstance(at, Mapping) or _says(at):
            return found if found and isinstance(at, Mapping) else None
        step = next((word for word in _WRAPPERS if isinstance(at.get(word), Mapping)), None)
        if step is None:
            return None
        found.append(step)
        at = at[step]
    return None


def _says(schema: Mapping[str, Any]) -> bool:
    said = [word for word in schema if word in _SAYS]
    return any(word != "type" or _suits("types", schema["type"]) for word in said)

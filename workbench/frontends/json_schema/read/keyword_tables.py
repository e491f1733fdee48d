"""Tables about keywords: when a keyword came, and which types it speaks of."""

from __future__ import annotations

from workbench.frontends.json_schema.text.json_values import ARRAY, NUMBER, OBJECT, STRING

__all__ = ["SINCE", "SPEAKS_OF", "VALIDATION"]

#: Keywords that came with a later draft; before it they are annotations.
SINCE = {
    "const": 6,
    "contains": 6,
    "propertyNames": 6,
    "if": 7,
    "then": 7,
    "else": 7,
    "minContains": 2019,
    "maxContains": 2019,
    "unevaluatedItems": 2019,
    "unevaluatedProperties": 2019,
    "dependentRequired": 2019,
    "dependentSchemas": 2019,
    "$recursiveRef": 2019,
    "prefixItems": 2020,
    "$dynamicRef": 2020,
}

#: The types of value that a keyword speaks of.
SPEAKS_OF = {
    "minimum": NUMBER,
    "maximum": NUMBER,
    "exclusiveMinimum": NUMBER,
    "exclusiveMaximum": NUMBER,
    "multipleOf": NUMBER,
    "minLength": STRING,
    "maxLength": STRING,
    "pattern": STRING,
    "format": STRING,
    "items": ARRAY,
    "prefixItems": ARRAY,
    "additionalItems": ARRAY,
    "minItems": ARRAY,
    "maxItems": ARRAY,
    "uniqueItems": ARRAY,
    "contains": ARRAY,
    "unevaluatedItems": ARRAY,
    "properties": OBJECT,
    "required": OBJECT,
    "additionalProperties": OBJECT,
    "patternProperties": OBJECT,
    "propertyNames": OBJECT,
    "minProperties": OBJECT,
    "maxProperties": OBJECT,
    "dependencies": OBJECT,
    "dependentRequired": OBJECT,
    "dependentSchemas": OBJECT,
    "unevaluatedProperties": OBJECT,
}

#: The keywords of the vocabulary for validation, which a dialect may do without.
VALIDATION = frozenset(
    [
        "type",
        "enum",
        "const",
        "multipleOf",
        "maximum",
        "exclusiveMaximum",
        "minimum",
        "exclusiveMinimum",
        "maxLength",
        "minLength",
        "pattern",
        "maxItems",
        "minItems",
        "uniqueItems",
        "maxContains",
        "minContains",
        "maxProperties",
        "minProperties",
        "required",
        "dependentRequired",
    ]
)

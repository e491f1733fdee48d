"""Texts that schemas of lists, objects, combinations and references accept, and texts that they do not."""

from __future__ import annotations

from typing import Any

__all__ = ["LEAF", "SHAPES"]

LEAF = {"type": "integer"}
TREE = {
    "type": "object",
    "properties": {"v": {"type": "integer"}, "kids": {"items": {"$ref": "#"}, "type": "array"}},
    "required": ["v"],
    "additionalProperties": False,
}


SHAPES: list[tuple[str, Any, list[str], list[str]]] = [
    # name, schema, texts that belong, texts that do not
    # arrays
    (
        "items",
        {"type": "array", "items": LEAF},
        ["[]", "[1]", "[1,2,3]"],
        ['["a"]', "[1,]", "[1 2]"],
    ),
    ("items without type", {"items": LEAF}, ["[1]", "{}", '"a"'], ['["a"]']),
    ("items false", {"type": "array", "items": False}, ["[]"], ["[1]"]),
    (
        "item counts",
        {"type": "array", "items": LEAF, "minItems": 1, "maxItems": 2},
        ["[1]", "[1,2]"],
        ["[]", "[1,2,3]"],
    ),
    (
        "minItems of anything",
        {"type": "array", "minItems": 2},
        ["[1,null]", "[1,2,3]"],
        ["[1]", "[]"],
    ),
    ("maxItems 0", {"type": "array", "maxItems": 0}, ["[]"], ["[1]"]),
    ("impossible count", {"type": "array", "minItems": 2, "maxItems": 1}, [], ["[1]", "[1,2]"]),
    ("too few possible", {"type": "array", "items": False, "minItems": 1}, [], ["[]", "[1]"]),
    (
        "prefixItems",
        {"type": "array", "prefixItems": [LEAF, {"type": "string"}]},
        ["[]", "[1]", '[1,"a"]', '[1,"a",null]'],
        ['["a"]', "[1,2]"],
    ),
    (
        "prefixItems and items",
        {"type": "array", "prefixItems": [LEAF], "items": {"type": "null"}},
        ["[]", "[1]", "[1,null]", "[1,null,null]"],
        ["[null]", "[1,2]"],
    ),
    (
        "prefixItems and counts",
        {"type": "array", "prefixItems": [LEAF, LEAF, LEAF], "minItems": 2, "maxItems": 4},
        ["[1,2]", "[1,2,3]", "[1,2,3,null]"],
        ["[]", "[1]", "[1,2,3,4,5]", "[1,null]"],
    ),
    (
        "closed prefix",
        {"type": "array", "prefixItems": [LEAF, LEAF], "items": False, "minItems": 1},
        ["[1]", "[1,2]"],
        ["[]", "[1,2,3]"],
    ),
    (
        "prefix too short",
        {"type": "array", "prefixItems": [LEAF], "items": False, "minItems": 2},
        [],
        ["[1]"],
    ),
    (
        "false in the prefix",
        {"type": "array", "prefixItems": [LEAF, False]},
        ["[]", "[1]"],
        ["[1,2]"],
    ),
    (
        "minItems past the prefix",
        {"type": "array", "prefixItems": [LEAF], "minItems": 3},
        ["[1,2,3]"],
        ["[1,2]"],
    ),
    (
        "older form of prefixItems",
        {"type": "array", "items": [LEAF], "additionalItems": {"type": "null"}},
        ["[1]", "[1,null]"],
        ["[null]", "[1,1]"],
    ),
    # objects
    (
        "properties",
        {"type": "object", "properties": {"a": LEAF, "b": {"type": "string"}}},
        ["{}", '{"a":1}', '{"b":"x"}', '{"a":1,"b":"x"}', '{"a":1,"c":null}', '{"c":1,"d":2}'],
        ['{"a":"x"}', '{"a":1,"a":2}', '{"c":1,"a":"x"}', '{"a":1,}', '{,"a":1}', '{"a" 1}'],
    ),
    (
        "closed",
        {
            "type": "object",
            "properties": {"a": LEAF, "b": LEAF, "c": LEAF},
            "additionalProperties": False,
        },
        ["{}", '{"a":1,"c":1}', '{"b":1}', '{"a":1,"b":1,"c":1}'],
        ['{"d":1}', '{"a":1,"d":1}', '{"c":1,"c":1}', '{"a":1,,"c":1}'],
    ),
    (
        "required",
        {
            "type": "object",
            "properties": {"a": LEAF, "b": LEAF, "c": LEAF},
            "required": ["b"],
            "additionalProperties": False,
        },
        ['{"b":1}', '{"a":1,"b":1}', '{"b":1,"c":1}', '{"a":1,"b":1,"c":1}'],
        ["{}", '{"a":1}', '{"c":1}', '{"a":1,"c":1}'],
    ),
    (
        "all required",
        {
            "type": "object",
            "properties": {"a": LEAF, "b": LEAF},
            "required": ["b", "a"],
            "additionalProperties": False,
        },
        ['{"a":1,"b":1}'],
        ["{}", '{"a":1}', '{"b":1}'],
    ),
    (
        "required but not listed",
        {"type": "object", "properties": {"a": LEAF}, "required": ["z"]},
        ['{"z":null}', '{"a":1,"z":"x"}', '{"z":1,"y":1}'],
        ["{}", '{"a":1}', '{"y":1}'],
    ),
    (
        "required alone",
        {"required": ["z"]},
        ['{"z":1}', '{"z":1,"y":2}', "[]", "1"],
        ["{}", '{"y":1}'],
    ),
    (
        "required under a schema for others",
        {"type": "object", "required": ["z"], "additionalProperties": LEAF},
        ['{"z":1}', '{"z":1,"y":2}'],
        ['{"z":"a"}', "{}", '{"z":1,"y":"b"}'],
    ),
    (
        "required but forbidden",
        {"type": "object", "required": ["z"], "additionalProperties": False},
        [],
        ["{}", '{"z":1}'],
    ),
    (
        "additionalProperties schema",
        {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": LEAF},
        ["{}", '{"a":"x","b":1}', '{"b":1,"c":2}'],
        ['{"a":1}', '{"b":"x"}'],
    ),
    (
        "other names differ in any spelling",
        {"type": "object", "properties": {"ab": LEAF}, "additionalProperties": {"type": "null"}},
        ['{"a":null}', '{"abc":null}', '{"":null}', r'{"\u0061c":null}', '{"ab":1}', '{"b":null}'],
        ['{"ab":null}', r'{"\u0061b":null}', r'{"a\u0062":null}', r'{"\u0061\u0062":1}'],
    ),
    (
        "names that need escapes",
        {"type": "object", "properties": {'a"b': LEAF, "": LEAF}, "additionalProperties": False},
        [r'{"a\"b":1}', '{"":1}', r'{"a\"b":1,"":2}'],
        ['{"a":1}', r'{"a\\b":1}'],
    ),
    (
        "false property",
        {"properties": {"a": False}, "type": "object"},
        ["{}", '{"b":1}'],
        ['{"a":1}'],
    ),
    ("properties without type", {"properties": {"a": LEAF}}, ["1", "[]", '{"a":1}'], ['{"a":"x"}']),
    ("additional only", {"additionalProperties": LEAF}, ["1", "{}", '{"x":1}'], ['{"x":"y"}']),
    # combination
    ("anyOf", {"anyOf": [LEAF, {"type": "string"}]}, ["1", '"a"'], ["null", "1.5"]),
    (
        "anyOf with siblings",
        {
            "type": "object",
            "properties": {"a": LEAF},
            "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
        },
        ['{"a":1}', '{"b":null}', '{"a":1,"b":0}'],
        ["{}", '{"a":"x"}', '{"c":1}', '{"a":"x","b":1}', "1"],
    ),
    ("anyOf without a fit", {"type": "string", "anyOf": [LEAF]}, [], ["1", '"a"']),
    (
        "two groups",
        {
            "allOf": [
                {"anyOf": [{"minimum": 5}, {"maximum": 1}]},
                {"anyOf": [{"maximum": 0}, {"minimum": 9}]},
            ],
            "type": "integer",
        },
        ["9", "0", "-3"],
        ["1", "5", "8"],
    ),
    (
        "allOf bounds",
        {"allOf": [{"minimum": 2}, {"maximum": 4}], "type": "integer"},
        ["2", "4"],
        ["1", "5"],
    ),
    (
        "allOf lengths",
        {"type": "string", "allOf": [{"maxLength": 2}, {"minLength": 2}]},
        ['"ab"'],
        ['"a"', '"abc"'],
    ),
    (
        "allOf patterns",
        {"type": "string", "allOf": [{"pattern": "a"}, {"pattern": "b"}]},
        ['"ab"', '"xbxax"'],
        ['"a"', '"b"'],
    ),
    (
        "allOf types",
        {"allOf": [{"type": ["integer", "string"]}, {"type": ["number", "null"]}]},
        ["1"],
        ["1.5", '"a"', "null"],
    ),
    ("allOf disjoint", {"allOf": [LEAF, {"type": "string"}]}, [], ["1", '"a"']),
    ("allOf enum", {"allOf": [{"enum": [1, 2, 3]}, {"enum": [2.0, 3, 4]}]}, ["2", "3"], ["1", "4"]),
    ("allOf false", {"allOf": [True, False]}, [], ["1"]),
    (
        "allOf objects",
        {
            "allOf": [
                {"properties": {"a": LEAF}, "required": ["a"]},
                {"properties": {"a": {"minimum": 3}, "b": LEAF}},
            ],
            "type": "object",
        },
        ['{"a":3}', '{"a":3,"b":1}', '{"a":3,"b":1,"c":0}'],
        ["{}", '{"a":1}', '{"a":3,"b":"x"}'],
    ),
    (
        "allOf closed objects",
        {
            "allOf": [
                {"properties": {"a": LEAF}, "additionalProperties": False},
                {"properties": {"a": {}, "b": {}}},
            ],
            "type": "object",
        },
        ["{}", '{"a":1}'],
        ['{"b":1}', '{"a":1,"b":1}'],
    ),
    (
        "allOf arrays",
        {
            "type": "array",
            "allOf": [{"prefixItems": [LEAF]}, {"items": {"minimum": 2}}, {"maxItems": 2}],
        },
        ["[]", "[2]", '[2,"a"]', "[3,2.5]"],
        ["[1]", '["a"]', "[2,1]", "[2,2,2]"],
    ),
    (
        "oneOf by type",
        {"oneOf": [LEAF, {"type": ["string", "null"]}]},
        ["1", '"a"', "null"],
        ["1.5"],
    ),
    (
        "oneOf by a tag",
        {
            "$defs": {
                "circle": {
                    "properties": {"is": {"const": "c"}, "r": LEAF},
                    "required": ["is", "r"],
                },
                "square": {
                    "properties": {"is": {"const": "s"}, "a": LEAF},
                    "required": ["is", "a"],
                },
            },
            "type": "object",
            "oneOf": [{"$ref": "#/$defs/circle"}, {"$ref": "#/$defs/square"}],
        },
        ['{"is":"c","r":1}', '{"is":"s","a":1}', '{"is":"s","a":1,"r":"x"}'],
        ["{}", '{"is":"c"}', '{"is":"c","a":1}', '{"is":"x","r":1}'],
    ),
    (
        "oneOf by a forbidden property",
        {
            "type": "object",
            "oneOf": [
                {"properties": {"a": {}}, "additionalProperties": False},
                {"properties": {"b": {}}, "required": ["b"]},
            ],
        },
        ["{}", '{"a":1}', '{"b":1}', '{"b":1,"a":2}'],
        ['{"c":1}'],
    ),
    (
        "oneOf by bounds",
        {"type": "integer", "oneOf": [{"maximum": 1}, {"exclusiveMinimum": 1}]},
        ["1", "2"],
        ['"a"'],
    ),
    (
        "oneOf by length",
        {"type": "string", "oneOf": [{"maxLength": 1}, {"minLength": 3}]},
        ['"a"', '"abc"'],
        ['"ab"'],
    ),
    (
        "oneOf by values",
        {"oneOf": [{"enum": [1, "a"]}, {"const": 2}, {"type": "null"}]},
        ["1", "2", "null"],
        ["3"],
    ),
    # references
    ("$ref", {"$defs": {"n": LEAF}, "$ref": "#/$defs/n"}, ["1"], ['"a"']),
    (
        "definitions",
        {"definitions": {"n": LEAF}, "items": {"$ref": "#/definitions/n"}},
        ["[1]"],
        ['["a"]'],
    ),
    (
        "$ref with siblings",
        {"$defs": {"n": LEAF}, "$ref": "#/$defs/n", "minimum": 3},
        ["3"],
        ["2", "3.5"],
    ),
    ("$ref escaped", {"$defs": {"a/b~c d": LEAF}, "$ref": "#/$defs/a~1b~0c%20d"}, ["1"], ["null"]),
    (
        "$ref chain",
        {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": LEAF}, "$ref": "#/$defs/a"},
        ["1"],
        ["null"],
    ),
    ("$ref into a list", {"anyOf": [LEAF, {"$ref": "#/anyOf/0"}]}, ["1"], ['"a"']),
    ("$anchor", {"$defs": {"a": {"$anchor": "here", **LEAF}}, "$ref": "#here"}, ["1"], ["null"]),
    (
        "$id",
        {"$id": "http://x.test/a", "$defs": {"b": {"$id": "b", **LEAF}}, "$ref": "b"},
        ["1"],
        ["null"],
    ),
    (
        "recursion",
        TREE,
        ['{"v":1}', '{"v":1,"kids":[]}', '{"v":1,"kids":[{"v":2,"kids":[{"v":3}]},{"v":4}]}'],
        ["{}", '{"v":1,"kids":[{}]}', '{"v":1,"kids":[{"v":2,"x":1}]}'],
    ),
    (
        "two recursive schemas at once",
        {
            "$defs": {
                "odd": {
                    "type": "object",
                    "properties": {"n": {"$ref": "#/$defs/odd"}},
                    "required": ["a"],
                },
                "low": {"properties": {"n": {"$ref": "#/$defs/low"}, "a": {"maximum": 5}}},
            },
            "allOf": [{"$ref": "#/$defs/odd"}, {"$ref": "#/$defs/low"}],
        },
        ['{"n":{"a":1},"a":5}', '{"a":5}', '{"n":{"n":{"a":0},"a":1},"a":5}'],
        ["{}", '{"a":6}', '{"n":{"a":6},"a":5}', '{"n":{},"a":5}'],
    ),
    (
        "draft 7 ignores siblings",
        {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "definitions": {"n": LEAF},
            "properties": {"a": {"$ref": "#/definitions/n", "minimum": 3}},
        },
        ['{"a":1}'],
        ['{"a":"x"}'],
    ),
    (
        "prefixItems before it was",
        {"$schema": "http://json-schema.org/draft-07/schema#", "prefixItems": [LEAF]},
        ['["a"]'],
        ["["],
    ),
]

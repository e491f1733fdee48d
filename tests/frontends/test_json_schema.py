"""JSON Schema keyword by keyword: texts that belong and texts that do not, by the specification."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.frontends.ir_match import matches
from workbench.frontends.json_schema import json_schema

ANY_VALUES = ["null", "true", "0", "-1.5e3", '""', "[]", "{}", '{"a":[1,{}]}']
LEAF = {"type": "integer"}
#: What the tables leave out of an instance of a list-shaped recursive schema.
TREE = {
    "type": "object",
    "properties": {"v": {"type": "integer"}, "kids": {"items": {"$ref": "#"}, "type": "array"}},
    "required": ["v"],
    "additionalProperties": False,
}

CASES: list[tuple[str, Any, list[str], list[str]]] = [
    # name, schema, texts that belong, texts that do not
    ("true", True, ANY_VALUES, ["", "nul", "{", "01", "1.", ".5", "+1", '"\n"', "[1,]", "{,}"]),
    ("false", False, [], [*ANY_VALUES, ""]),
    ("empty", {}, ANY_VALUES, ["", "'a'", '{"a"}', '{"a":}', "[,1]", "nan"]),
    ("type string", {"type": "string"}, ['""', '"a"'], ["1", "null", "a"]),
    ("type null", {"type": "null"}, ["null"], ["0", '"null"', "false"]),
    ("type boolean", {"type": "boolean"}, ["true", "false"], ["0", '"true"', "null"]),
    ("type array", {"type": "array"}, ["[]", "[1,[2]]"], ["{}", "1"]),
    ("type object", {"type": "object"}, ["{}", '{"a":{}}'], ["[]", "1"]),
    (
        "type integer",
        {"type": "integer"},
        ["0", "-0", "12", "-7", "1.0", "1.00", "1e3", "1E+3", "12.0e0"],
        ["1.5", "01", "1e", "1.", '"1"', "-", "1e-1"],
    ),
    (
        "type number",
        {"type": "number"},
        ["0", "-0.0", "12.5", "1e-7", "1E+400", "0.1e1"],
        ["00", "1.", ".5", "0x1", '"1"', "Infinity", "--1"],
    ),
    ("type list", {"type": ["string", "null"]}, ['"a"', "null"], ["1", "[]"]),
    ("integer or number", {"type": ["integer", "number"]}, ["1", "1.5"], ['"1"']),
    # strings
    (
        "string escapes",
        {"type": "string"},
        [r'"\""', r'"\\"', r'"\/"', r'"\b\f\n\r\t"', r'"\u0041"', r'"\uD83D\uDE00"', '"😀é"'],
        [r'"\a"', r'"\u00g0"', r'"\uD83D"', r'"\uDE00"', r'"\uD83D\u0041"', '"\t"', '"a', '"\\"'],
    ),
    (
        "maxLength counts characters",
        {"type": "string", "maxLength": 1},
        ['""', '"a"', '"😀"', r'"\n"', r'"\u0041"', r'"\ud83d\ude00"'],
        ['"ab"', r'"\ud83d\ude00a"', r'"\n\n"', r'"\\\\"'],
    ),
    (
        "minLength counts characters",
        {"type": "string", "minLength": 2},
        ['"ab"', '"😀😀"', r'"\u0041b"', r'"\ud83d\ude00a"'],
        ['""', '"a"', '"😀"', r'"\u0041"', r'"\ud83d\ude00"'],
    ),
    ("length 3", {"type": "string", "minLength": 3, "maxLength": 3}, ['"abc"'], ['"ab"', '"abcd"']),
    ("lengths of 1.0", {"type": "string", "maxLength": 1.0}, ['"a"'], ['"ab"']),
    (
        "impossible length",
        {"type": "string", "minLength": 3, "maxLength": 2},
        [],
        ['"abc"', '"ab"'],
    ),
    ("length without type", {"maxLength": 1}, ['"a"', "12", "[1,2]", "null"], ['"ab"']),
    ("pattern searches", {"type": "string", "pattern": "b+"}, ['"b"', '"abba"'], ['""', '"aca"']),
    (
        "pattern anchored",
        {"type": "string", "pattern": "^a|b$"},
        ['"ax"', '"xb"', '"a"', '"b"'],
        ['"xa"', '"bx"', '""'],
    ),
    (
        "pattern over escapes",
        {"type": "string", "pattern": '^[a-c"\\\\\n]+$'},
        [r'"\u0061"', r'"\""', r'"\\"', r'"\n\u000A\u000a"', '"abc"', r'"\u0022"'],
        [r'"\u0064"', r'"\t"', '"d"', r'"\/"'],
    ),
    ("pattern slash", {"pattern": "^/$"}, ['"/"', r'"\/"', r'"\u002f"'], ['"//"', r'"\\/"']),
    (
        "pattern beyond the BMP",
        {"type": "string", "pattern": "^[\U0001f600-\U0001f64f]$"},
        ['"😀"', r'"\ud83d\ude00"', r'"\uD83D\uDE4F"'],
        ['"a"', r'"\ud83d\ude50"', r'"\ud83d"', '"😀😀"'],
    ),
    (
        "pattern and length, one run",
        {"type": "string", "pattern": "^x[a-z]*$", "minLength": 2, "maxLength": 3},
        ['"xa"', '"xab"', r'"x\u0061"'],
        ['"x"', '"xabc"', '"ab"'],
    ),
    (
        "pattern and length, product",
        {"type": "string", "pattern": "a.*b", "maxLength": 3},
        ['"ab"', '"axb"', '"xab"', '"abx"'],
        ['"axxb"', '"ba"', '"a"', '"xabx"'],
    ),
    (
        "pattern alternatives and length",
        {"type": "string", "pattern": "^(a{1,9}|(bc)*)$", "minLength": 3, "maxLength": 4},
        ['"aaa"', '"aaaa"', '"bcbc"'],
        ['"aa"', '"bc"', '"aaaaa"', '"bcbcbc"', '"bcb"'],
    ),
    ("pattern without type", {"pattern": "^a$"}, ['"a"', "1", "{}"], ['"b"', '"aa"']),
    # numbers
    (
        "integer bounds",
        {"type": "integer", "minimum": -12, "maximum": 105},
        ["-12", "-9", "-1", "-0", "0", "7", "99", "100", "105", "105.0", "-12.00"],
        ["-13", "106", "1.5", "110", "999", "-20", "007", "105.1"],
    ),
    (
        "exclusive integer bounds",
        {"type": "integer", "exclusiveMinimum": 1, "exclusiveMaximum": 4},
        ["2", "3", "2.0"],
        ["1", "4", "0", "-2", "1.0"],
    ),
    (
        "integer in fractions",
        {"type": "integer", "minimum": 1.5, "maximum": 2.5},
        ["2"],
        ["1", "3"],
    ),
    (
        "no integer between",
        {"type": "integer", "minimum": 1.2, "maximum": 1.8},
        [],
        ["1", "2", "1.5"],
    ),
    (
        "beyond 64 bits",
        {"type": "integer", "minimum": 2**63},
        [str(2**63), "1" + "0" * 30],
        ["1", str(2**63 - 1), str(-(2**64))],
    ),
    (
        "number bounds",
        {"type": "number", "minimum": -0.5, "maximum": 2.25},
        ["-0.5", "-0.50", "0", "-0.0", "2.25", "2.2499999999999999999999", "2", "0.000001"],
        ["-0.51", "2.26", "2.2500000000000000000001", "3", "-1", "-0.500000000000000000000001"],
    ),
    (
        "exclusive number bounds",
        {"type": "number", "exclusiveMinimum": 0.1, "exclusiveMaximum": 10},
        ["0.11", "0.1000001", "9.999", "5"],
        ["0.1", "0.10", "10", "10.0", "0", "-5", "100"],
    ),
    (
        "at least zero, any notation",
        {"type": "number", "minimum": 0},
        ["0", "-0", "-0.0e5", "1e-7", "12.5E+3", "0.001"],
        ["-1", "-0.1", "-1e-7"],
    ),
    (
        "above zero, any notation",
        {"type": "number", "exclusiveMinimum": 0},
        ["1", "0.01", "1e-7", "0.10e-5"],
        ["0", "0.0", "0e5", "-0", "-1"],
    ),
    ("below zero", {"exclusiveMaximum": 0, "type": "integer"}, ["-1", "-10e2"], ["0", "-0", "5"]),
    ("at most zero", {"maximum": 0, "type": "number"}, ["-1.5e3", "0", "-0", "0.0"], ["1", "0.1"]),
    ("draft 4 exclusive", {"maximum": 3, "exclusiveMaximum": True}, ["2", '"a"'], ["3", "3.0"]),
    ("draft 4 inclusive", {"maximum": 3, "exclusiveMaximum": False}, ["3", "2.5"], ["3.5"]),
    ("bounds without type", {"minimum": 5}, ["5", "6.5", '"a"', "null", "[1]"], ["4", "4.9"]),
    ("stronger of two", {"minimum": 5, "exclusiveMinimum": 5}, ["5.1"], ["5"]),
    ("multiple of one", {"type": "number", "multipleOf": 1}, ["5", "5.0"], ["5.5"]),
    # values
    ("const text", {"const": 'a"b'}, [r'"a\"b"'], ['"a"', '"ab"']),
    ("const é", {"const": "é"}, ['"é"', r'"\u00e9"'], ['"e"']),
    ("const number", {"const": 1}, ["1", "1.0", "1.000"], ["10", "true", "1.01", "2"]),
    ("const fraction", {"const": 1.5}, ["1.5", "1.50"], ["1.51", "1", "15"]),
    ("const large", {"const": 1e300}, ["1e+300", "1" + "0" * 300], ["1e+301", "1"]),
    ("const zero", {"const": 0}, ["0", "-0", "0.0"], ["1", "false", '""']),
    ("const list", {"const": [1, {"a": None}]}, ['[1,{"a":null}]'], ["[1]", '[1,{"a":0}]']),
    ("const null", {"const": None}, ["null"], ["0", "{}"]),
    (
        "enum",
        {"enum": ["a", 1, None, True, [], {}]},
        ['"a"', "1", "null", "true", "[]", "{}"],
        ["0"],
    ),
    ("enum and type", {"type": "string", "enum": ["a", 1, None]}, ['"a"'], ["1", "null", '"b"']),
    ("enum and pattern", {"pattern": "^a", "enum": ["ab", "b", 1]}, ['"ab"', "1"], ['"b"']),
    ("enum and bounds", {"enum": [1, 5, "x"], "minimum": 2}, ["5", '"x"'], ["1"]),
    ("enum and length", {"enum": ["a", "😀", "bb"], "maxLength": 1}, ['"a"', '"😀"'], ['"bb"']),
    ("enum and const", {"enum": [1, 2], "const": 1.0}, ["1"], ["2"]),
    ("enum without a fit", {"enum": ["a"], "type": "integer"}, [], ['"a"', "1"]),
    ("enum true is not 1", {"enum": [True]}, ["true"], ["1", "1.0"]),
    (
        "enum with shape",
        {"enum": [{"a": 1}, {"b": 1}, [1], ["x"]], "required": ["a"], "items": {"type": "integer"}},
        ['{"a":1}', "[1]"],
        ['{"b":1}', '["x"]'],
    ),
    ("empty enum", {"enum": []}, [], ["null"]),
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


@pytest.mark.parametrize(
    ("schema", "good", "bad"), [case[1:] for case in CASES], ids=[c[0] for c in CASES]
)
def test_keyword(schema: Any, good: list[str], bad: list[str]) -> None:
    """Without whitespace, read from Python objects and from text: the same language."""
    for given in (schema, json.dumps(schema)):
        grammar = json_schema(given, whitespace="compact")
        for text in good:
            assert matches(grammar, text), text
        for text in bad:
            assert not matches(grammar, text), text


SPACED = {"type": "object", "properties": {"a": {"items": LEAF, "type": "array"}, "b": {}}}
PRETTY = json.dumps({"a": [1, 2], "b": {"c": []}, "d": "x"}, indent=4)


@pytest.mark.parametrize("text", [PRETTY, "{ }", '{"a" :[ ] , "b":\t{\r\n} }', '{"a":[1 ,2]}'])
def test_whitespace_between_values(text: str) -> None:
    for whitespace in ("bounded", "any"):
        assert matches(json_schema(SPACED, whitespace=whitespace), text)
    assert not matches(json_schema(SPACED, whitespace="compact"), text)


def test_whitespace_runs_are_bounded() -> None:
    grammar = json_schema(SPACED, max_whitespace=3)
    assert matches(grammar, '{   "a"   :   [   1   ]   }')
    assert not matches(grammar, "{    }")
    assert not matches(grammar, " {}")
    assert not matches(grammar, "{} ")
    assert matches(json_schema(SPACED, whitespace="any"), "  {" + " " * 100 + "} ")
    assert matches(json_schema({"type": "integer"}, max_whitespace=0), "1")


def test_fixed_separators() -> None:
    grammar = json_schema(SPACED, separators=(", ", ": "))
    assert matches(grammar, '{"a": [1, 2], "b": {"c": [], "d": 1}}')
    assert not matches(grammar, '{"a":[1, 2]}')
    assert not matches(grammar, '{"a": [1,2]}')
    assert not matches(grammar, '{ "a": []}')


def test_whitespace_is_not_allowed_inside_tokens() -> None:
    grammar = json_schema(True, whitespace="any")
    for text in ("1 2", "tr ue", '"a" "b"', "- 1", "{a :1}"):
        assert not matches(grammar, text)


@pytest.mark.parametrize(
    "options",
    [
        {"whitespace": "some"},
        {"max_whitespace": -1},
        {"property_order": "any"},
        {"on_unsupported": "ignore"},
        {"separators": (";", ":")},
        {"separators": (",", "=")},
    ],
)
def test_bad_options(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(options))):
        json_schema(True, **options)

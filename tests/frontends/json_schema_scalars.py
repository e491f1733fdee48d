"""Texts that schemas of strings, numbers and given values accept, and texts that they do not."""

from __future__ import annotations

from typing import Any

__all__ = ["SCALARS"]

ANY_VALUES = ["null", "true", "0", "-1.5e3", '""', "[]", "{}", '{"a":[1,{}]}']

SCALARS: list[tuple[str, Any, list[str], list[str]]] = [
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
]

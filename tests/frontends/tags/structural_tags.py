"""Structural tags of every kind, each with texts at its edges."""

from __future__ import annotations

from typing import Any

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
X = {"type": "const_string", "value": "x"}
Y = {"type": "const_string", "value": "yy"}
ANY = {"type": "any_text"}


def schema(of: Any, **more: Any) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": of, **more}


def tag(begin: Any, end: Any, content: Any = None) -> dict[str, Any]:
    return {"type": "tag", "begin": begin, "content": content or X, "end": end}


def triggered(triggers: list[str], tags: list[Any], **more: Any) -> dict[str, Any]:
    return {"type": "triggered_tags", "triggers": triggers, "tags": tags, **more}


def separated(separator: str, *tags: Any, **more: bool) -> dict[str, Any]:
    return {"type": "tags_with_separator", "tags": list(tags), "separator": separator, **more}


def dispatch(rules: list[Any], **more: Any) -> dict[str, Any]:
    return {"type": "dispatch", "rules": rules, **more}


CALLS = [
    tag("<function=a>", "</function>", schema(CITY)),
    tag("<function=b>", "</function>", schema({"type": "integer"})),
]

# fmt: off
#: By kind, the formats and some texts for each.
KINDS: dict[str, list[tuple[Any, list[str]]]] = {
    "const_string": [
        ({"type": "const_string", "value": "a<b>é"}, ["a<b>é", "a<b>", "a<b>éé", ""]),
        ({"type": "const_string", "value": ""}, ["", " "]),
    ],
    "json_schema": [
        (
            schema(CITY),
            ['{"city": "x"}', '{"city":"x","b":1}', "{}", '{ "city" : "é\\n" }', '{"city": "a\\x"}'],
        ),
        (schema({"type": "object"}), ["{}", '{"a": [1, {"b": null}]}', "[]"]),
        (schema(True), ["1", "[true, false]", '"a"', "nul"]),
        (
            schema(
                {
                    "type": "object",
                    "properties": {
                        "n": {"type": "integer", "minimum": 3, "maximum": 12},
                        "e": {"enum": ["a", 2, None]},
                        "l": {"type": "array", "items": {"type": "boolean"}, "minItems": 1},
                    },
                    "required": ["n", "l"],
                }
            ),
            ['{"n": 3, "l": [true]}', '{"n": 13, "l": [true]}', '{"n": 12, "e": 2, "l": [false, true]}',
             '{"n": 3, "l": []}', '{"l": [true], "n": 3}'],
        ),
        (
            schema(CITY, excludes=["<y", "\\n"]),
            ['{"city": "x<"}', '{"city": "x<y"}', '{"city": "x\\ny"}', '{"city": "\\u003cy"}', '{"city": "<<y"}'],
        ),
        (schema({"type": "object"}, excludes=["<y"]), ['{"a<y": 1}', '{"a<": ["<", "<y"]}', '{"a": "<"}']),
        (schema(CITY, max_whitespace_cnt=1), ['{"city": "x"}', '{"city":  "x"}', '{"city":"x"}']),
    ],
    "any_text": [
        (ANY, ["", "any\n text é"]),
        ({"type": "any_text", "excludes": ["<f", "ab"]}, ["<", "a<b", "<f", "xab", "a", ""]),
        ({"type": "any_text", "max_chars": 3}, ["", "éée", "éééé", "abcd"]),
        ({"type": "any_text", "excludes": ["b"], "max_chars": 3}, ["aaa", "aab", "aaaa"]),
    ],
    "grammar": [
        ({"type": "grammar", "grammar": 'root ::= "a" b+\nb ::= [0-9] | "x"'}, ["a1", "ax9", "a", "b"]),
        ({"type": "grammar", "grammar": 'root ::= "(" root ")" | ""'}, ["", "(())", "(()", "()()"]),
    ],
    "regex": [
        ({"type": "regex", "pattern": "[A-Z]{3}-[0-9]{4}"}, ["ABC-1234", "ABC-123", "xABC-1234"]),
        ({"type": "regex", "pattern": "(yes|no)+"}, ["yes", "yesno", "", "maybe"]),
    ],
    "sequence": [
        ({"type": "sequence", "elements": [X, {"type": "regex", "pattern": "[ab]*"}, Y]}, ["xyy", "xabyy", "xaby"]),
        ({"type": "sequence", "elements": [ANY, Y]}, ["yy", "ayyyy", "y", "yya"]),
    ],
    "or": [
        ({"type": "or", "elements": [X, Y, schema({"type": "integer"})]}, ["x", "yy", "12", "xyy", ""]),
        ({"type": "or", "elements": [tag("<", ">"), ANY]}, ["<x>", "<y>"]),
    ],
    "tag": [
        (tag("<a>", "</a>", schema(CITY)), ['<a>{"city": "</a>"}</a>', "<a></a>", '<a>{"city": "x"}']),
        (tag("<a>", "</a>", ANY), ["<a></a>", "<a>x</b></a>", "<a>x</a>y</a>", "<a>x</a"]),
        (tag("<a>", ["</a>", "</b>"], ANY), ["<a>x</b>", "<a>x</a>", "<a></b></a>"]),
        (tag("<", ["", ">"], ANY), ["<x", "<x>", "<x>y"]),
        (tag("[", "]", triggered(["<"], [tag("<1", ">")])), ["[a<1x>]", "[a]", "[a]b]", "[<1]>]"]),
        (tag("", "]"), ["x]", "x"]),
        (tag("[", "]", {"type": "sequence", "elements": [tag("<", ">", ANY), ANY]}), ["[<]>a]", "[<a>]]", "[<a>b]"]),
    ],
    "triggered_tags": [
        (
            triggered(["<function="], CALLS),
            ["", "text <func", '<function=a>{"city": "x"}</function>',
             "<function=b>12</function>,<function=b>3</function>",
             "<function=", "<function=c>", "a<function=b>x</function>", "<<function=b>1</function><"],
        ),
        (triggered(["<function=a", "<function=b"], CALLS), ["<function=b>1</function>", "<function=c", "<function=b"]),
        (triggered(["<"], [tag("<1", ">")], at_least_one=True), ["<1x>", "a<1x>", "<1x>b<1x>", "b", ""]),
        (triggered(["<"], [tag("<1", ">")], stop_after_first=True), ["<1x>", "a<1x>", "<1x>b", "b", ""]),
        (triggered(["<"], [tag("<1", ">")], at_least_one=True, stop_after_first=True), ["<1x>", "a<1x>", "<1x>b", ""]),
        (triggered(["<f>"], [tag("<f>", "</f>", ANY)], excludes=["!", "<g>"]), ["a", "a!", "<f>!</f>", "<g", "<g>"]),
        (triggered(["aa"], [tag("aa>", "")]), ["baa>x", "baaa>x", "aaa", "a", "ba"]),
        (triggered(["ab", "bc"], [tag("ab1", ""), tag("bc2", "")]), ["ab1x", "abc2x", "bc2x", "aab1xbc2x"]),
    ],
    "tags_with_separator": [
        (separated(",", tag("<1", ">"), tag("<2", ">", Y)), ["", "<1x>", "<1x>,<2yy>", "<1x>,", "<1x><1x>"]),
        (separated(",", tag("<1", ">"), at_least_one=True), ["", "<1x>", "<1x>,<1x>"]),
        (separated(",", tag("<1", ">"), stop_after_first=True), ["", "<1x>", "<1x>,<1x>"]),
        (separated("", tag("<1", ">"), at_least_one=True, stop_after_first=True), ["", "<1x>", "<1x><1x>"]),
        (separated("\n", tag("<", ">", ANY)), ["<a>\n<b>", "<a\n<>"]),
    ],
    "optional": [
        ({"type": "optional", "content": Y}, ["", "yy", "yyyy"]),
        ({"type": "optional", "content": tag("<", ">", ANY)}, ["", "<>", "<a>", "<a>b", "<<>"]),
        ({"type": "optional", "content": schema({"enum": ["a", "b"]})}, ["", '"a"', '"c"', "a"]),
    ],
    "plus": [
        ({"type": "plus", "content": {"type": "or", "elements": [X, Y]}}, ["", "x", "xyyx", "y"]),
        ({"type": "plus", "content": {"type": "regex", "pattern": "[ab]c"}}, ["ac", "acbc", "", "c"]),
        ({"type": "plus", "content": {"type": "optional", "content": X}}, ["", "x", "xx", "y"]),
    ],
    "star": [
        ({"type": "star", "content": tag("<", ">")}, ["", "<x>", "<x><x>", "<x"]),
        ({"type": "star", "content": {"type": "sequence", "elements": [X, Y]}}, ["", "xyy", "xyyxyy", "x"]),
        (tag("[", "]", {"type": "star", "content": tag("<", ">", ANY)}), ["[]", "[<a>]", "[<]>]", "[a]"]),
    ],
    "repeat": [
        ({"type": "repeat", "min": 1, "max": 3, "content": X}, ["", "x", "xxx", "xxxx"]),
        ({"type": "repeat", "min": 2, "max": -1, "content": X}, ["x", "xx", "xxxxx"]),
        ({"type": "repeat", "min": 0, "max": 0, "content": X}, ["", "x"]),
    ],
    "dispatch": [
        (dispatch([["<a>", X], ["<b>", Y]]), ["", "<a>x", "t<b>yyt<a>x", "<a>", "<b>x", "<c>"]),
        (dispatch([["<a>", X]], loop=False), ["", "t", "<a>x", "<a>xt"]),
        (dispatch([["<a>", schema(CITY)]], excludes=["!"]), ["a", "a!", '<a>{"city": "!"}b']),
        (tag("[", "]", dispatch([["<a>", X]], excludes=["]"])), ["[]", "[a<a>x]", "[a]b]"]),
        (dispatch([["b", X], ["ab", Y]]), ["bx", "abx", "abyy", "cbx"]),
    ],
}
# fmt: on

#: The same for kinds that name tokens: those of two bytes, and ``CALL`` and ``END``.
CALL, END = 257, 258
CALLED = tag(
    {"token": "<call>"}, {"type": "token", "token": END}, {"type": "regex", "pattern": "[ab]"}
)
TOKENS: dict[str, list[Any]] = {
    "token": [{"type": "token", "token": CALL}, {"type": "token", "token": "</call>"}],
    "exclude_token": [
        {"type": "exclude_token", "exclude_tokens": [CALL, "a"]},
        tag({"token": CALL}, {"token": END}, {"type": "exclude_token"}),
    ],
    "any_tokens": [
        {"type": "any_tokens", "exclude_tokens": ["<call>"]},
        tag({"token": CALL}, {"token": END}, {"type": "any_tokens", "exclude_tokens": [97]}),
    ],
    "token_triggered_tags": [
        {"type": "token_triggered_tags", "trigger_tokens": [CALL], "tags": [CALLED], **flags}
        for flags in (
            {},
            {"at_least_one": True},
            {"stop_after_first": True},
            {"at_least_one": True, "stop_after_first": True},
            {"exclude_tokens": ["b"]},
        )
    ],
    "token_dispatch": [
        {
            "type": "token_dispatch",
            "rules": [[CALL, X], ["</call>", {"type": "const_string", "value": "a"}]],
            **more,
        }
        for more in ({}, {"loop": False}, {"exclude_tokens": [98]})
    ],
}

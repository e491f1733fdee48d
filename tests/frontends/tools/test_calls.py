"""Calls read back: their places, their types, and texts that hold none or half of one."""

from __future__ import annotations

import random
from typing import Any

import jsonschema
import pytest

import workbench as wb
from tests.frontends.tools.samples import CALLS, TOOLS, Judge
from tests.frontends.tools.written import ONE_CALL, THOUGHTS, TURNS
from workbench.frontends.tools.value_types import EVERY, item, member, type_of, types_of

FAMILIES = sorted(TURNS)
QWEN = TURNS["qwen3"]


def test_places_count_bytes() -> None:
    text = "Zürich! " + QWEN("", [CALLS[0]]) + " 東京 " + QWEN("", [CALLS[5]])
    first, second = wb.read_calls("qwen3", text)
    data = text.encode()
    assert data[first.start : first.end].decode() == QWEN("", [CALLS[0]])
    assert data[second.start : second.end].decode() == QWEN("", [CALLS[5]])
    assert wb.read_calls("qwen3", data) == [first, second]


@pytest.mark.parametrize("family", FAMILIES)
def test_a_text_without_calls(family: str) -> None:
    for text in ("", "Hello.", "1 < 2", "{}", "<think>a</think>b"):
        assert wb.read_calls(family, text) == []


@pytest.mark.parametrize("family", FAMILIES)
def test_a_call_that_is_cut_off_is_told_or_passed_over(family: str) -> None:
    form = wb.tool_formats()[family]
    whole = TURNS[family]("", [CALLS[5]])
    second = (
        ""
        if family in ONE_CALL or form.begin or form.shape != "text"
        else TURNS[family]("", [CALLS[1]])
    )
    text = whole + second if second else TURNS[family]("", [CALLS[1]])
    start = text.index(form.trigger, len(whole) if second else 0) + len(form.trigger)
    for end in (start + 1, (start + len(text)) // 2):
        kept = wb.read_calls(family, text[:end], on_broken="drop")
        assert [one.name for one in kept] == (["ping"] if second else []), text[:end]
        with pytest.raises(wb.GrammarSyntaxError, match=r"line [0-9]+, column") as raised:
            wb.read_calls(family, text[:end])
        assert family in str(raised.value)


@pytest.mark.parametrize("family", FAMILIES)
def test_no_text_breaks_the_reader(family: str) -> None:
    """Mutants of turns are read, or refused with a place."""
    rng = random.Random(family)
    turn = TURNS[family]("", [CALLS[3]])
    for _ in range(150):
        a, b = sorted(rng.sample(range(len(turn) + 1), 2))
        text = turn[:a] + rng.choice(["", turn[a:b] * 2, "é", "<", '"', "\n"]) + turn[b:]
        for on_broken in ("raise", "drop"):
            try:
                found = wb.read_calls(family, text, tools=TOOLS, on_broken=on_broken)
            except wb.GrammarSyntaxError:
                assert on_broken == "raise"
            else:
                assert all(isinstance(one.arguments, dict) for one in found)


@pytest.mark.parametrize("family", sorted(set(THOUGHTS) - {"harmony"}))
def test_calls_that_the_model_only_thinks_of_are_none(family: str) -> None:
    thought = THOUGHTS[family]("I could write " + TURNS[family]("", [CALLS[5]]) + ".")
    answer = TURNS[family]("", [CALLS[1]])
    for text in (thought + answer, thought.partition(">")[2] + answer):
        assert [one.name for one in wb.read_calls(family, text)] == ["get_weather"], text
    assert wb.read_calls(family, thought.rpartition("I could")[0] + "I could") == []


def test_white_space_may_differ() -> None:
    text = '<tool_call>{"name": "ping",  "arguments": {"a" : 1} }\n\n</tool_call>'
    assert wb.read_calls("qwen3", text)[0].arguments == {"a": 1}
    text = '[TOOL_CALLS][{"name": "ping", "arguments": {}} , {"name": "ping", "arguments": {}}]'
    assert len(wb.read_calls("mistral_v3", text)) == 2


def test_a_name_that_no_tool_has() -> None:
    text = QWEN("", [("pong", {})])
    assert wb.read_calls("qwen3", text)[0].name == "pong"
    with pytest.raises(wb.GrammarSyntaxError, match="'pong' is none of the tools"):
        wb.read_calls("qwen3", text, tools=TOOLS)
    with pytest.raises(wb.GrammarSyntaxError, match="'pong'"):
        wb.read_calls(wb.tools(TOOLS), text)


@pytest.mark.parametrize(
    "arguments", ["[]", "1", "{", '{"a": NaN}', '{"a": 1' + "0" * 5000 + "}", '{"a":' * 5000]
)
def test_arguments_that_are_none(arguments: str) -> None:
    text = f'<tool_call>\n{{"name": "ping", "arguments": {arguments}}}\n</tool_call>'
    with pytest.raises(wb.GrammarSyntaxError):
        wb.read_calls("qwen3", text)
    assert wb.read_calls("qwen3", text, on_broken="drop") == []


TYPES: dict[str, Any] = {
    "text": {"type": "string"},
    "number": {"type": "number"},
    "either": {"type": ["string", "integer"]},
    "maybe": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    "list": {"type": "array", "items": {"type": "string"}},
    "referred": {"$ref": "#/$defs/text"},
    "constant": {"const": "12"},
}
TYPED = {
    "name": "f",
    "parameters": {"type": "object", "properties": TYPES, "$defs": {"text": {"type": "string"}}},
}


@pytest.mark.parametrize(
    ("key", "written", "expected"),
    [
        ("text", "12", "12"),
        ("text", "true", "true"),
        ("text", " a\nb ", " a\nb "),
        ("number", "12", 12),
        ("number", "1.5", 1.5),
        ("either", "12", 12),
        ("either", "twelve", "twelve"),
        ("maybe", "null", None),
        ("maybe", "12", "12"),
        ("list", '["a"]', ["a"]),
        ("referred", "[]", "[]"),
        ("constant", "12", "12"),
        ("other", "12", 12),
        ("other", "True", True),
        ("other", "twelve", "twelve"),
    ],
)
def test_the_schema_tells_what_a_plain_value_is(key: str, written: str, expected: Any) -> None:
    text = f"<tool_call>\n<function=f>\n<parameter={key}>\n{written}\n</parameter>\n</function>\n</tool_call>"
    assert wb.read_calls("qwen3_coder", text, tools=[TYPED])[0].arguments == {key: expected}
    text = f"<tool_call>f<arg_key>{key}</arg_key><arg_value>{written}</arg_value></tool_call>"
    assert wb.read_calls("glm_4_7", text, tools=[TYPED])[0].arguments == {key: expected}


VALUES: list[Any] = [None, True, 0, 1.5, "", "x", [], [1, "a"], {}, {"a": 1}, {"b": "x", "a": [1]}]
SCHEMAS: list[Any] = [
    True,
    False,
    {},
    {"type": "integer"},
    {"type": ["string", "null"]},
    {"enum": [1, "x", None]},
    {"const": []},
    {"anyOf": [{"type": "string"}, {"type": "array"}]},
    {"allOf": [{"type": ["string", "array"]}, {"type": ["array", "object"]}]},
    {"$ref": "#/$defs/a", "$defs": {"a": {"oneOf": [{"type": "object"}, {"const": 0}]}}},
    {"$ref": "#"},
    {"properties": {"a": {"type": "integer"}}, "additionalProperties": {"type": "string"}},
    {"patternProperties": {"^a": {"type": ["integer", "array"]}, "^b": {"type": "string"}}},
    {"prefixItems": [{"type": "integer"}], "items": {"type": "string"}},
    {
        "items": [{"type": "integer"}],
        "additionalItems": {"type": "string"},
        "$schema": "http://json-schema.org/draft-07/schema#",
    },
]


@pytest.mark.parametrize("schema", SCHEMAS, ids=str)
def test_types_hold_for_all_values_that_a_schema_accepts(schema: Any) -> None:
    try:
        validator = jsonschema.validators.validator_for(schema, jsonschema.Draft202012Validator)(
            schema
        )
        accepted = [value for value in VALUES if validator.is_valid(value)]
    except RecursionError:
        accepted = []
    for value in accepted:
        assert type_of(value) in types_of(schema, schema)
        for key in value if isinstance(value, dict) else ():
            assert type_of(value[key]) in types_of(member(schema, schema, key), schema)
        for number, one in enumerate(value if isinstance(value, list) else ()):
            assert type_of(one) in types_of(item(schema, schema, number), schema)


def test_types_are_told_where_keywords_tell_them() -> None:
    for schema, expected in zip(
        SCHEMAS, [EVERY, set(), EVERY, {"number"}, {"string", "null"}], strict=False
    ):
        assert types_of(schema, schema) == expected
    assert types_of(SCHEMAS[8], SCHEMAS[8]) == {"array"}
    assert types_of(SCHEMAS[9], SCHEMAS[9]) == {"object", "number"}


def test_a_format_of_ones_own() -> None:
    form = wb.ToolFormat(
        "own",
        (),
        "here",
        call=("<run «name»>«arguments»</run>",),
        trigger="<run ",
        reasoning=wb.tool_formats()["qwen3"].reasoning,
    )
    grammar = wb.tools(TOOLS, format=form)
    text = 'So. <run search>{"query": "x"}</run> and <run ping>{}</run>'
    assert wb.match(grammar, text)
    expected = [("search", {"query": "x"}), ("ping", {})]
    for source in (grammar, form):
        assert [(one.name, one.arguments) for one in wb.read_calls(source, text)] == expected


@pytest.mark.parametrize(
    ("call", "trigger", "told"),
    [
        ("<run «name»></run>", "<run ", "«name» and «arguments»"),
        ("<run «name» «name»>«arguments»", "<run ", "each field once"),
        ("<run «name» «nmae»>«arguments»", "<run ", "each field once"),
        ("«name»(«arguments»)", "<run ", "begins with a text"),
        ("<run «arguments» «name»>", "<run ", "its name comes first"),
        ("<run «name»>«arguments»", "", "no trigger"),
        ("<run «name»>«arguments»", "<call ", "begins no call"),
        ("<run «name»>«arguments»", "<run ", "'xml' is no style"),
    ],
)
def test_a_format_that_cannot_be_read_back(call: str, trigger: str, told: str) -> None:
    style = "xml" if "style" in told else "json"
    with pytest.raises(ValueError, match=told):
        wb.ToolFormat("own", (), "here", call=(call,), trigger=trigger, style=style)


def test_thoughts_of_a_format_of_ones_own() -> None:
    form = wb.ToolFormat(
        "own",
        (),
        "here",
        call=("<run «name»>«arguments»</run>",),
        trigger="<run ",
        reasoning=wb.Reasoning("<hm>", "</hm>"),
    )
    call = "<run ping>{}</run>"
    accepts = Judge(wb.tools(TOOLS, format=form))
    assert accepts("<hm>Well.</hm>So. " + call) and accepts("So. " + call)
    for bad in ("<hm>" + call + "</hm>", "So. <hm>", "<hm>a<hm>b</hm>", "So.</hm>" + call):
        assert not accepts(bad), bad
    bounded = wb.tools(TOOLS, format=form, reasoning=True, reasoning_tokens=2)
    names = {257: "<hm>", 258: "</hm>"}
    vocabulary = wb.Vocabulary.from_bytes(
        [*(bytes([b]) for b in range(256)), b"", b"", b""], 256, special_names=names
    )
    matcher = wb.compile(bounded, vocabulary).matcher()
    assert matcher.accept_tokens([257, 97, 97, 97]) == 3 and list(matcher.allowed_ids()) == [258]

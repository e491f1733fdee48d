"""Tools in all the ways in which people write them, and choices among them."""

from __future__ import annotations

import dataclasses
import json
from typing import Annotated, Any, Literal

import jsonschema
import pydantic
import pytest

import workbench as wb
from tests.frontends.tools.samples import SEARCH, TOOLS, WEATHER, Judge


class Ticket(pydantic.BaseModel):
    """Open a ticket."""

    title: Annotated[str, pydantic.Field(max_length=20)]
    priority: Literal["low", "high"] = "low"


@dataclasses.dataclass
class Move:
    x: int
    y: int = 0


def set_light(
    room: str, level: Annotated[int, pydantic.Field(ge=0, le=100)], *, warm: bool = True
) -> None:
    """Set a light."""


class Client(pydantic.BaseModel):
    """As the client of a service holds a tool."""

    name: str
    inputSchema: dict[str, Any]


FORMS: dict[str, Any] = {
    "OpenAI, chat": {
        "type": "function",
        "function": {"name": "f", "parameters": WEATHER, "description": "x"},
    },
    "OpenAI, responses": {"type": "function", "name": "f", "parameters": WEATHER},
    "OpenAI, functions": {"name": "f", "parameters": WEATHER},
    "Anthropic": {"name": "f", "input_schema": WEATHER, "description": "x"},
    "Anthropic, custom": {"type": "custom", "name": "f", "input_schema": WEATHER},
    "MCP": {"name": "f", "inputSchema": WEATHER, "annotations": {"readOnlyHint": True}},
    "a client's class": Client(name="f", inputSchema=WEATHER),
}


def call(name: str, arguments: Any) -> str:
    return f'<tool_call>\n{{"name": "{name}", "arguments": {json.dumps(arguments)}}}\n</tool_call>'


@pytest.mark.parametrize("form", FORMS)
def test_a_tool_is_the_same_in_every_form(form: str) -> None:
    accepts = Judge(wb.tools([FORMS[form]], "required"))
    assert accepts(call("f", {"location": "x", "days": 2}))
    assert not accepts(call("f", {"location": "x", "days": 0}))
    assert not accepts(call("f", {})) and not accepts(call("g", {"location": "x"}))


def test_lists_may_be_mixed_and_come_from_a_server() -> None:
    mixed = [*TOOLS, Ticket, Move, set_light]
    accepts = Judge(wb.tools(mixed))
    for name, good, bad in (
        ("search", {"query": "x"}, {"query": 1}),
        ("Ticket", {"title": "a", "priority": "high"}, {"title": "a" * 21}),
        ("Move", {"x": 1, "y": 2}, {"x": 1.5}),
        ("set_light", {"room": "a", "level": 100, "warm": False}, {"room": "a", "level": 101}),
        ("set_light", {"room": "a", "level": 0}, {"room": "a"}),
        ("Ticket", {"title": "a"}, {"title": "a", "more": 1}),
    ):
        assert accepts(call(name, good)), name
        assert not accepts(call(name, bad)), name
    assert Judge(wb.tools({"tools": TOOLS}))(call("ping", {}))


def test_a_tool_without_parameters_has_none() -> None:
    for tool in (
        {"name": "f"},
        {"name": "f", "parameters": None},
        {
            "name": "f",
            "parameters": {"type": "object", "properties": {}, "additionalProperties": False},
        },
    ):
        accepts = Judge(wb.tools([tool]))
        assert accepts(call("f", {})) and not accepts(call("f", {"a": 1}))


@pytest.mark.parametrize(
    "schema",
    [
        {},
        True,
        {"properties": {"a": {"type": "integer"}}},
        {"type": ["object", "null"], "properties": {"a": {"type": "integer"}}},
        {
            "anyOf": [
                {"type": "string"},
                {"type": "object", "properties": {"a": {"type": "integer"}}},
            ]
        },
        {"$ref": "#/$defs/A", "$defs": {"A": {"properties": {"a": {"type": "integer"}}}}},
        {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "$ref": "#/definitions/A",
            "definitions": {"A": {"properties": {"a": {"type": "integer"}}}},
        },
    ],
    ids=str,
)
def test_arguments_are_objects(schema: Any) -> None:
    accepts = Judge(wb.tools([{"name": "f", "parameters": schema}]))
    valid = jsonschema.Draft202012Validator(schema).is_valid
    for value in ({}, {"a": 1}, {"a": "x"}, None, "x", 1, []):
        assert accepts(call("f", value)) == (isinstance(value, dict) and valid(value)), value


def test_strict_tools_are_read_as_hosted_services_read_them() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}}
    loose, strict = ({"name": "f", "parameters": schema, "strict": one} for one in (False, True))
    assert Judge(wb.tools([loose]))(call("f", {"a": 1}))
    accepts = Judge(wb.tools([strict]))
    assert accepts(call("f", {"a": 1, "b": 2})) and not accepts(call("f", {"a": 1}))


def test_no_arguments_are_made_up() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    tool = {"name": "f", "parameters": schema}
    assert not Judge(wb.tools([tool]))(call("f", {"a": 1, "c": 2}))
    assert Judge(wb.tools([tool], additional_properties=True))(call("f", {"a": 1, "c": 2}))
    # unless it says so itself, and where objects that hold together would exclude each other
    said = {"name": "f", "parameters": {**schema, "additionalProperties": {"type": "integer"}}}
    assert Judge(wb.tools([said]))(call("f", {"a": 1, "c": 2}))
    parts = [{"properties": {key: {"type": "integer"}}, "required": [key]} for key in "ab"]
    both = {"name": "f", "parameters": {"type": "object", "allOf": parts}}
    assert Judge(wb.tools([both]))(call("f", {"a": 1, "b": 2}))
    with pytest.raises(wb.BrokenTools):
        wb.tools([both], additional_properties=False)


def test_integers_are_written_as_integers() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    tools = [{"name": "f", "parameters": schema}]
    written = call("f", {"a": 0}).replace("0", "1e2")
    assert not Judge(wb.tools(tools))(written) and Judge(wb.tools(tools, numbers="any"))(written)


def test_options_of_schemas_reach_the_arguments() -> None:
    any_order = Judge(wb.tools(TOOLS, property_order="any"))
    assert any_order(call("get_weather", {"days": 1, "location": "x"}))
    assert not Judge(wb.tools(TOOLS))(call("get_weather", {"days": 1, "location": "x"}))
    compact = Judge(wb.tools(TOOLS, whitespace="compact"))
    assert not compact(call("get_weather", {"location": "x"}))
    assert compact(call("get_weather", {"location": "x"}).replace('n": "x', 'n":"x'))


TEXT, ONE, TWO = (
    "Hello.",
    call("ping", {}),
    call("ping", {}) + "\n" + call("search", {"query": "x"}),
)


@pytest.mark.parametrize(
    ("choice", "parallel", "expected"),
    [
        ("auto", True, {TEXT, ONE, TWO}),
        (None, True, {TEXT, ONE, TWO}),
        ("auto", False, {TEXT, ONE}),
        ("none", True, {TEXT}),
        ("required", True, {ONE, TWO}),
        ("any", True, {ONE, TWO}),
        ("required", False, {ONE}),
        ({"name": "ping"}, True, {ONE}),
        ({"type": "function", "function": {"name": "ping"}}, True, {ONE}),
        ({"type": "function", "name": "ping"}, True, {ONE}),
        ({"type": "tool", "name": "ping"}, True, {ONE}),
        ({"type": "tool", "name": "search"}, True, set()),
        ({"type": "auto"}, True, {TEXT, ONE, TWO}),
        ({"type": "auto", "disable_parallel_tool_use": True}, True, {TEXT, ONE}),
        ({"type": "any"}, True, {ONE, TWO}),
        ({"type": "any", "disable_parallel_tool_use": True}, True, {ONE}),
        ({"type": "none"}, True, {TEXT}),
        (
            {
                "type": "allowed_tools",
                "mode": "auto",
                "tools": [{"type": "function", "name": "ping"}],
            },
            True,
            {TEXT, ONE},
        ),
        (
            {
                "type": "allowed_tools",
                "allowed_tools": {
                    "mode": "required",
                    "tools": [{"type": "function", "function": {"name": "search"}}],
                },
            },
            True,
            set(),
        ),
    ],
    ids=lambda value: None if isinstance(value, set) else str(value),
)
def test_choices(choice: Any, parallel: bool, expected: set[str]) -> None:
    accepts = Judge(wb.tools(TOOLS, choice, parallel=parallel, reasoning=False))
    assert {text for text in (TEXT, ONE, TWO) if accepts(text)} == expected


def test_text_may_stand_around_calls_but_not_before_one_that_is_asked_for() -> None:
    auto = Judge(wb.tools(TOOLS))
    assert auto(f"First. {ONE} Then. {ONE} Done.")
    once = Judge(wb.tools(TOOLS, parallel=False))
    assert once(f"First. {ONE}") and not once(f"First. {ONE} Then.")
    required = Judge(wb.tools(TOOLS, "required"))
    assert required(f"{ONE} Then. {ONE} Done.") and not required(f"First. {ONE}")


def test_formats_by_the_names_of_models() -> None:
    for name, expected in (
        ("qwen3", "qwen3"),
        ("Qwen/Qwen3-8B", "qwen3"),
        ("Qwen/Qwen3-Coder-480B-A35B-Instruct", "qwen3_coder"),
        ("Qwen3.5-35B-A3B", "qwen3_5"),
        ("meta-llama/Llama-3.1-8B-Instruct", "llama3"),
        ("deepseek-ai/DeepSeek-V3-0324", "deepseek_v3"),
        ("deepseek-ai/DeepSeek-V3.2-Exp", "deepseek_v3_1"),
        ("deepseek-ai/DeepSeek-V3.2", "deepseek_v3_2"),
        ("openai/gpt-oss-120b", "harmony"),
        ("moonshotai/Kimi-K2-Instruct", "kimi_k2"),
        ("zai-org/GLM-4.7-Flash", "glm_4_7"),
        ("exaone", "exaone4"),
    ):
        text = wb.tools(TOOLS, format=name).source["tool_format"]
        assert text == expected, name


def test_schemas_of_types_are_settled_before() -> None:
    """What pydantic's validators refuse is not in the grammar."""

    def visit(when: pydantic.FutureDate, tags: set[int]) -> None: ...

    grammar = wb.tools([visit])
    assert any("validator" in outcome.keyword for outcome in grammar.outcomes)
    accepts = Judge(grammar)
    assert accepts(call("visit", {"when": "2999-01-01", "tags": [1, 2]}))
    assert not accepts(call("visit", {"when": "2999-02-30", "tags": []}))


def test_the_search_tool_of_the_samples_is_what_jsonschema_says() -> None:
    accepts, valid = Judge(wb.tools(TOOLS)), jsonschema.Draft202012Validator(SEARCH).is_valid
    for value in ({"query": "x", "limit": None}, {"query": "x", "limit": "1"}, {"limit": 1}):
        assert accepts(call("search", value)) == valid(value)

"""Tools and choices that are wrong: all of them are named, with their places."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from typing import Any

import pytest

import workbench as wb
from tests.frontends.tools.samples import TOOLS, Judge

any_: Any = wb


def broken(schema: Any) -> dict[str, Any]:
    return {"name": "f", "parameters": schema}


BROKEN: dict[str, tuple[Any, str, str]] = {
    "a number": (7, "#/0", "it is an int"),
    "None": (None, "#/0", "it is None"),
    "a text": ("search", "#/0", "it is a str"),
    "no name": ({"parameters": {}}, "#/0", 'no "name"'),
    "a schema": ({"type": "object", "properties": {}}, "#/0", "it is a JSON Schema"),
    "a misspelled name": ({"nane": "f", "parameters": {}}, "#/0", "did you mean 'nane'"),
    "a name that is a number": ({"name": 5}, "#/0/name", "a text, not an int"),
    "an empty name": ({"name": ""}, "#/0/name", "empty"),
    "a name with a quotation mark": ({"name": 'a"b'}, "#/0/name", "holds '\"'"),
    "a name with a line feed": (
        {"type": "function", "function": {"name": "a\n"}},
        "#/0/function/name",
        r"'\\n'",
    ),
    "a name that ends a tag": ({"name": "f></tool_call>"}, "#/0/name", "holds '>'"),
    "a long name": ({"name": "f" * 129}, "#/0/name", "more than 128"),
    "a lambda": (lambda a: a, "#/0", "holds '<'"),
    "a schema that is a list": (broken([]), "#/0/parameters", "a JSON Schema, not a list"),
    "false": (broken(False), "#/0/parameters", "false"),
    "an unknown type": (broken({"type": "objet"}), "#/0/parameters", "objet"),
    "a wrong keyword": (
        {"name": "f", "input_schema": {"type": "object", "properties": {"a": {"minimum": "1"}}}},
        "#/0/input_schema/properties/a",
        "minimum",
    ),
    "a reference to nothing": (
        broken({"properties": {"a": {"$ref": "#/nowhere"}}, "type": "object"}),
        "#/0/parameters/properties/a",
        "nowhere",
    ),
    "no arguments fit": (
        broken({"type": "object", "properties": {"a": False}, "required": ["a"]}),
        "#/0/parameters",
        "ever be complete",
    ),
    "never an object": (broken({"type": "array"}), "#/0/parameters", "never be an object"),
    "a bad pattern": (
        broken({"type": "object", "properties": {"a": {"type": "string", "pattern": "("}}}),
        "#/0/parameters/properties/a/pattern",
        "never closed",
    ),
    "a type of its own": ({"type": 3, "name": "f"}, "#/0/type", "a text, not an int"),
    "a hosted tool": ({"type": "web_search_preview"}, "#/0/type", "runs tools of type"),
    "a built-in tool": (
        {"type": "browser", "name": "open", "parameters": {"type": "object"}},
        "#/0",
        "no calls of built-in tools",
    ),
    "a builtin": (max, "#/0", "no signature"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_tool_is_named(name: str) -> None:
    given, pointer, reason = BROKEN[name]
    with pytest.raises(wb.BrokenTools) as raised:
        wb.tools([given])
    (told,) = raised.value.tools
    assert told.index == 0 and told.pointer.startswith(pointer), told
    assert re.search(reason, told.reason), told.reason
    assert told.pointer in str(raised.value)


def test_all_broken_tools_are_listed() -> None:
    given = [TOOLS[0], broken({"type": 3}), TOOLS[0], 5]
    with pytest.raises(wb.BrokenTools) as raised:
        wb.tools(given)
    error = raised.value
    assert [(one.index, one.name) for one in error.tools] == [(1, "f"), (2, "get_weather"), (3, "")]
    assert "3 of 4 tools are broken" in str(error)
    assert "tool 0 has the same name" in str(error)
    assert "on_broken='drop'" in str(error)


def test_broken_tools_can_be_left_out() -> None:
    grammar = wb.tools([broken({"type": 3}), *TOOLS], on_broken="drop")
    (told,) = [one for one in grammar.outcomes if one.keyword == "tool"]
    assert (
        told.pointer.startswith("#/0")
        and told.status == "unsupported"
        and "no tool" in told.warning
    )
    accepts = Judge(grammar)
    assert accepts('<tool_call>\n{"name": "ping", "arguments": {}}\n</tool_call>')
    assert not accepts('<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>')


def test_where_all_tools_are_broken_nothing_is_left_to_call() -> None:
    with pytest.raises(wb.BrokenTools):
        wb.tools([5], on_broken="drop")


WRONG: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "no tools": (lambda: wb.tools([]), ValueError, "the list is empty.*tool_choice='none'"),
    "one tool": (lambda: wb.tools(TOOLS[0]), wb.WrongType, "put it in a list"),
    "one class": (lambda: any_.tools(dict), wb.WrongType, "put it in a list"),
    "JSON": (lambda: any_.tools("[]"), wb.WrongType, "json.loads"),
    "None": (lambda: any_.tools(None), wb.WrongType, "a list of tools, not None"),
    "required without tools": (lambda: wb.tools([], "required"), ValueError, "empty"),
    "an unknown tool": (
        lambda: wb.tools(TOOLS, {"name": "serch"}),
        ValueError,
        "'serch'.*mean 'search'",
    ),
    "another unknown tool": (
        lambda: wb.tools(TOOLS, {"name": "qqq"}),
        ValueError,
        "there are 'get_weather', 'search', 'ping'",
    ),
    "an unknown choice": (lambda: wb.tools(TOOLS, "search"), ValueError, '{"name": .search.}'),
    "a type that several tools have": (
        lambda: wb.tools(
            [{"type": "t", "name": name, "parameters": {}} for name in "ab"],
            {"type": "t"},
            format="harmony",
        ),
        ValueError,
        "2 have this type",
    ),
    "a choice without a name": (
        lambda: wb.tools(TOOLS, {"type": "function"}),
        ValueError,
        "names no tool",
    ),
    "a choice that is a list": (lambda: any_.tools(TOOLS, ["search"]), wb.WrongType, "tool_choice"),
    "a mode of allowed tools": (
        lambda: wb.tools(TOOLS, {"type": "allowed_tools", "mode": "none", "tools": []}),
        ValueError,
        "the mode of",
    ),
    "allowed tools that are none": (
        lambda: wb.tools(TOOLS, {"type": "allowed_tools", "mode": "required", "tools": []}),
        ValueError,
        "there are no tools",
    ),
    "allowed tools without names": (
        lambda: wb.tools(TOOLS, {"type": "allowed_tools", "tools": [5]}),
        ValueError,
        "by name",
    ),
    "allowed tools without tools": (
        lambda: wb.tools(TOOLS, {"type": "allowed_tools"}),
        ValueError,
        "lists them",
    ),
    "disable_parallel_tool_use": (
        lambda: wb.tools(TOOLS, {"type": "auto", "disable_parallel_tool_use": 1}),
        wb.WrongType,
        "true or false",
    ),
    "parallel": (lambda: any_.tools(TOOLS, parallel="no"), wb.WrongType, "parallel"),
    "on_broken": (lambda: wb.tools(TOOLS, on_broken="skip"), ValueError, "'raise' or 'drop'"),
    "an unknown format": (
        lambda: wb.tools(TOOLS, format="qwenn3"),
        ValueError,
        "'qwenn3'.*'qwen3'",
    ),
    "an empty format": (lambda: wb.tools(TOOLS, format=""), ValueError, "no format"),
    "a format that is a number": (
        lambda: any_.tools(TOOLS, format=3),
        wb.WrongType,
        "the name of a format",
    ),
    "reasoning": (
        lambda: wb.tools(TOOLS, reasoning="on"),
        wb.WrongType,
        "True, False, None or 'off'",
    ),
    "reasoning_opened": (
        lambda: any_.tools(TOOLS, reasoning_opened=1),
        wb.WrongType,
        "reasoning_opened",
    ),
    "a family without reasoning": (
        lambda: wb.tools(TOOLS, format="llama3", reasoning=True),
        ValueError,
        "write no reasoning",
    ),
    "a family without an empty block": (
        lambda: wb.tools(TOOLS, format="deepseek_r1", reasoning="off"),
        ValueError,
        "no empty block",
    ),
    "begun and left out": (
        lambda: wb.tools(TOOLS, reasoning=False, reasoning_opened=True),
        ValueError,
        "has begun",
    ),
    "a bound without reasoning": (
        lambda: wb.tools(TOOLS, reasoning_tokens=5),
        ValueError,
        "pass reasoning=True",
    ),
    "two bounds": (
        lambda: wb.tools(TOOLS, reasoning=True, reasoning_tokens=5, reasoning_chars=5),
        ValueError,
        "not both",
    ),
    "a bound below 0": (
        lambda: wb.tools(TOOLS, reasoning=True, reasoning_tokens=-1),
        ValueError,
        "reasoning_tokens",
    ),
    "an option of schemas": (lambda: wb.tools(TOOLS, whitespace="lots"), ValueError, "whitespace"),
    "an unknown option": (lambda: any_.tools(TOOLS, white_space="any"), TypeError, "white_space"),
    "reading with a grammar of another kind": (
        lambda: wb.read_calls(wb.regex("a"), ""),
        wb.WrongType,
        "read_calls",
    ),
    "reading with an unknown format": (lambda: wb.read_calls("qwenn3", ""), ValueError, "qwen3"),
    "reading a number": (lambda: any_.read_calls("qwen3", 5), wb.WrongType, "what a model wrote"),
    "reading with broken tools": (
        lambda: wb.read_calls("qwen3", "", tools=[5, {"name": "a b"}]),
        wb.BrokenTools,
        "2 of 2 tools are broken",
    ),
    "reading on_broken": (
        lambda: wb.read_calls("qwen3", "", on_broken="skip"),
        ValueError,
        "'raise' or 'drop'",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_arguments(name: str) -> None:
    act, kind, told = WRONG[name]
    with pytest.raises(kind) as raised:
        act()
    assert re.search(told, str(raised.value), re.DOTALL), str(raised.value)


def mutant(rng: random.Random, value: Any, depth: int = 0) -> Any:
    """A value with some parts replaced, left out, or of other types."""
    others = [None, True, 0, -1.5, "", "object", "é", "#/nowhere", [], {}, [{}], {"type": 3}]
    if depth and rng.random() < 0.08:
        return rng.choice(others)
    if isinstance(value, dict):
        return {k: mutant(rng, v, depth + 1) for k, v in value.items() if rng.random() > 0.03}
    if isinstance(value, list):
        return [mutant(rng, one, depth + 1) for one in value]
    return value


def test_no_list_of_tools_breaks_the_reader() -> None:
    rng = random.Random(5)
    families = sorted(wb.tool_formats())
    made = 0
    for _ in range(200):
        given = mutant(rng, TOOLS)
        try:
            wb.tools(given, format=rng.choice(families), on_broken=rng.choice(["raise", "drop"]))
            made += 1
        except (wb.BrokenTools, wb.WrongType) as error:
            assert len(str(error)) < 3_000  # noqa: PT017 - some are whole
    assert 25 < made < 175

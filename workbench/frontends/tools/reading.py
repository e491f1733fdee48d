"""Tools as people write them: for OpenAI, for Anthropic, of an MCP server, as classes and functions of Python.

>>> read_tool({"name": "search", "inputSchema": {"type": "object", "properties": {"q": {"type": "string"}}}})
... # doctest: +ELLIPSIS
Tool(name='search', schema={'type': 'object', ...}, description='', kind='function', place='/inputSchema')
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from workbench.frontends.nearest import nearest
from workbench.frontends.tools.python_tools import read_python
from workbench.grammar.ir import Outcome
from workbench.inputs import described, first_words, wrong_type

__all__ = ["BadTool", "Tool", "listed", "read_tool"]

#: Where the schema of the arguments stands, by who reads it.
_SCHEMA_KEYS = ("parameters", "input_schema", "inputSchema")
_NO_ARGUMENTS: dict[str, Any] = {
    "type": "object",
    "properties": {},
    "additionalProperties": False,
}
#: What stands between letters and digits in a name, in the format of some family or service.
_IN_NAMES = "_-.:/"
_LONGEST_NAME = 128


class BadTool(Exception):
    """Why a tool cannot be read, and where in it that is said."""

    def __init__(self, reason: str, place: str = "") -> None:
        self.reason = reason
        self.place = place
        super().__init__(reason)


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that a model may call, by its name, with arguments that a JSON Schema describes.

    ``kind`` is ``"function"``, or the type of a tool that a service has built in. ``place`` is the JSON pointer to the
    schema in what was given, ``options`` are those with which the schema is read.
    """

    name: str
    schema: Mapping[str, Any] | bool
    description: str = ""
    kind: str = "function"
    place: str = ""
    options: Mapping[str, Any] = field(default_factory=dict, repr=False)
    outcomes: tuple[Outcome, ...] = field(default=(), repr=False, compare=False)


def listed(tools: Any) -> list[Any]:
    """The tools that were given, one by one: a list, or what an MCP server answers, ``{"tools": […]}``.

    Raises ``WrongType`` for anything else.
    """
    if isinstance(tools, Mapping) and isinstance(tools.get("tools"), list):
        return list(tools["tools"])
    alone = isinstance(tools, Mapping | type) or callable(tools) or hasattr(tools, "model_dump")
    if alone or isinstance(tools, str | bytes) or not isinstance(tools, Iterable):
        instead = "put it in a list" if alone else ""
        if isinstance(tools, str | bytes):
            instead = "read its JSON first, json.loads(text)"
        raise wrong_type("tools", "a list of tools", tools, instead)
    return list(tools)


def read_tool(given: Any) -> Tool:
    """Read one tool. Raises ``BadTool`` for what is none, and what reading a Python type raises."""
    if isinstance(given, Tool):
        return given
    if isinstance(given, Mapping):
        return _of_mapping(given)
    if not isinstance(given, type) and hasattr(given, "model_dump"):
        # the classes in which clients of these services hold a tool
        return _of_mapping(given.model_dump(by_alias=True, exclude_none=True))
    if not callable(given):
        raise BadTool(
            f"it is {described(given)}: a tool is a mapping as for OpenAI, Anthropic or MCP, a class or a function"
        )
    read = read_python(given)
    return Tool(_name(read.name), read.schema, read.description, outcomes=read.outcomes)


def _of_mapping(given: Mapping[Any, Any]) -> Tool:
    """A tool as hosted services and MCP servers write it."""
    inner, place = given, ""
    if isinstance(given.get("function"), Mapping):
        inner, place = given["function"], "/function"
    if "name" not in inner and ("properties" in given or "$ref" in given):
        raise BadTool('it is a JSON Schema: put it into {"name": …, "parameters": …}')
    kind = given.get("type", "function")
    if not isinstance(kind, str):
        raise BadTool(f"its type is a text, not {described(kind)}", "/type")
    kind = "function" if kind in ("function", "custom") else kind
    key = next((key for key in _SCHEMA_KEYS if key in inner), None)
    name = inner.get("name")
    if name is None and kind != "function":
        if key is None:
            raise BadTool(
                f"the service runs tools of type {first_words(kind)} itself: give it "
                '"parameters", a JSON Schema of its arguments',
                "/type",
            )
        name = kind
    if name is None:
        keys = [key for key in given if isinstance(key, str)]
        raise BadTool('it has no "name"' + (f": {nearest('name', keys)}" if keys else ""))
    schema = _NO_ARGUMENTS if key is None or inner[key] is None else inner[key]
    if not isinstance(schema, Mapping | bool):
        raise BadTool(f"{key} is a JSON Schema, not {described(schema)}", f"{place}/{key}")
    description = inner.get("description")
    return Tool(
        _name(name, f"{place}/name"),
        schema,
        description if isinstance(description, str) else "",
        kind,
        place if key is None else f"{place}/{key}",
        {"strict": True} if inner.get("strict", given.get("strict")) is True else {},
    )


def _name(name: Any, place: str = "") -> str:
    """The name of a tool, which stands in the text of every format as it is."""
    if not isinstance(name, str):
        raise BadTool(f"its name is a text, not {described(name)}", place)
    if not name:
        raise BadTool("its name is empty", place)
    if len(name) > _LONGEST_NAME:
        raise BadTool(f"its name has more than {_LONGEST_NAME} characters", place)
    for char in name:
        if not (char.isalnum() or char in _IN_NAMES):
            raise BadTool(
                f"its name holds {char!r}: names are of letters, digits and {' '.join(_IN_NAMES)}",
                place,
            )
    return name

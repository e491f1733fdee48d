"""Each tool by itself: whether it can be read, and whether its arguments are those of an object."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from workbench.errors import (
    BrokenTool,
    BrokenTools,
    GrammarSyntaxError,
    UnsatisfiableGrammar,
    UnsupportedConstraint,
    WorkbenchError,
)
from workbench.frontends.json_schema.asking import Asking
from workbench.frontends.json_schema.read.plain import read_schema
from workbench.frontends.tags.build import grammar_of
from workbench.frontends.tags.formats import JSONSchema
from workbench.frontends.tools.families import ToolFormat
from workbench.frontends.tools.python_tools import OPTIONS
from workbench.frontends.tools.reading import BadTool, Tool, read_tool
from workbench.frontends.tools.value_types import EVERY
from workbench.grammar.ir import Outcome

__all__ = ["Checked", "check_all"]

#: Drafts in which nothing beside a reference counts.
_OLD = ("draft-03", "draft-04", "draft-06", "draft-07")


@dataclass(frozen=True, slots=True)
class Checked:
    """Tools that are whole, each with the format of its arguments, and those that are not."""

    tools: tuple[tuple[Tool, JSONSchema], ...]
    broken: tuple[BrokenTool, ...]
    n_given: int

    def outcomes(self) -> tuple[Outcome, ...]:
        """What became of the tools that are left out, and what schemas do not say."""
        left_out = tuple(
            Outcome(
                one.pointer,
                "tool",
                "unsupported",
                f"the tool {one.name!r} is left out" if one.name else "the tool is left out",
                warning=f"is no tool that can be called: {one.reason}",
            )
            for one in self.broken
        )
        return (*left_out, *(told for tool, _ in self.tools for told in tool.outcomes))

    def need_whole(self) -> None:
        """Raise ``BrokenTools`` where a tool is broken."""
        if self.broken:
            raise BrokenTools(self.broken, self.n_given)


def check_all(given: list[Any], form: ToolFormat, options: Mapping[str, Any]) -> Checked:
    """Read and check every tool; what is wrong with one keeps none of the others from being looked at."""
    whole: list[tuple[Tool, JSONSchema]] = []
    broken: list[BrokenTool] = []
    first: dict[str, int] = {}
    for index, one in enumerate(given):
        name = _told_name(one)
        place = f"#/{index}"
        try:
            tool = read_tool(one)
            place += tool.place
            if tool.name in first:
                raise BadTool(f"tool {first[tool.name]} has the same name")
            if tool.kind != "function" and not form.builtin:
                raise BadTool(f"the format {form.name} has no calls of built-in tools")
            whole.append((tool, _arguments(tool, form, options)))
            first[tool.name] = index
        except BadTool as error:
            broken.append(BrokenTool(index, name, f"#/{index}{error.place}", error.reason))
        except WorkbenchError as error:
            inside, reason = _told(error)
            broken.append(BrokenTool(index, name, place + inside, reason))
    return Checked(tuple(whole), tuple(broken), len(given))


def _told_name(given: Any) -> str:
    """The name of what was given as a tool, as far as it can be told."""
    for one in (given, given.get("function") if isinstance(given, Mapping) else None):
        if isinstance(one, Mapping):
            name = one.get("name")
        else:
            name = getattr(one, "__name__", None) or getattr(one, "name", None)
        if isinstance(name, str):
            return name
    return ""


def _told(error: WorkbenchError) -> tuple[str, str]:
    """Where in a schema something is wrong, as the end of a pointer, and what."""
    if isinstance(error, GrammarSyntaxError):
        where, reason = error.pointer, error.message + (f". {error.hint}" if error.hint else "")
    elif isinstance(error, UnsupportedConstraint):
        where, reason = error.pointer, error.reason
    elif isinstance(error, UnsatisfiableGrammar):
        where, reason = error.part, f"no arguments can ever be complete: {error.reason}"
    else:
        where, reason = None, str(error)
    place = where[1:] if where is not None and where.startswith("#") else ""
    return place, reason


def _arguments(tool: Tool, form: ToolFormat, options: Mapping[str, Any]) -> JSONSchema:
    """The format of the arguments of a tool. Raises what its schema has to say, ``BadTool`` where it has no objects."""
    schema = _of_objects(read_schema(tool.schema), tool.place)
    told = {**OPTIONS, **options, **tool.options}
    order = told.pop("property_order", "any" if form.any_order else "schema")
    if order not in ("schema", "any"):
        raise ValueError(f"property_order must be 'schema' or 'any', not {order!r:.40}")
    closed = not told["additional_properties"]
    if told["numbers"] == "any":  # as schemas are read anyway
        del told["numbers"]
    arguments = JSONSchema(schema, form.style, order == "any", options=told)
    try:
        grammar_of(arguments)
    except UnsatisfiableGrammar:
        if not closed or "additional_properties" in options:
            raise
        # of two objects that hold together, each may list what the other does not
        arguments = replace(arguments, options=told | {"additional_properties": True})
        grammar_of(arguments)
    return arguments


def _of_objects(schema: dict[str, Any] | bool, place: str) -> dict[str, Any]:
    """A schema without the values that are no objects."""
    if isinstance(schema, bool):
        if schema is False:
            raise BadTool("its schema is false: no arguments fit it", place)
        return {"type": "object"}
    if schema.get("type") == "object":
        return schema
    asking = Asking(schema)
    if asking.blame() is None and asking.blame({"type": "object"}) is not None:
        raise BadTool("its arguments can never be an object, as those of a tool are", place)
    if asking.blame({"type": sorted(EVERY - {"object"})}) is not None:
        return schema  # it has no other values
    if "$ref" in schema and any(one in str(schema.get("$schema")) for one in _OLD):
        told = {"allOf": [{"$ref": schema["$ref"]}], "type": "object"}
        return told | {
            key: schema[key] for key in ("$schema", "$id", "definitions") if key in schema
        }
    return {**schema, "type": "object"}

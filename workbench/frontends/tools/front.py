"""``tools``: the tools that a model may call, in the format of its family -> the grammar of its answer.

Reading order: ``reading`` and ``python_tools`` (what is given as a tool), ``checks`` (each by itself), ``choice``
(which may be called), ``families`` and ``lookup`` (how they are called), ``turns`` and ``thoughts`` (the whole turn);
``calls``, ``styles`` and ``value_types`` read calls back.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from workbench.frontends.tags.build import grammar_of
from workbench.frontends.tools.checks import Checked, check_all
from workbench.frontends.tools.choice import Choice, read_choice, select
from workbench.frontends.tools.families import ToolFormat
from workbench.frontends.tools.lookup import find_format, told_format
from workbench.frontends.tools.reading import listed
from workbench.frontends.tools.thoughts import read_thinking
from workbench.frontends.tools.turns import CallableTool, turn
from workbench.grammar.ir import Grammar
from workbench.inputs import wrong_type

__all__ = ["tools"]


def tools(  # noqa: PLR0913 - options, by keyword
    tools: Any,
    tool_choice: Any = "auto",
    *,
    parallel: bool = True,
    format: str | ToolFormat = "qwen3",
    reasoning: Any = None,
    reasoning_opened: bool | None = None,
    reasoning_tokens: int | None = None,
    reasoning_chars: int | None = None,
    on_broken: str = "raise",
    **options: Any,
) -> Grammar:
    """Make the grammar of what a model answers that may call some tools, in the format of its family.

    ``tools`` are those of OpenAI, Anthropic or an MCP server, classes of pydantic and the like, functions of Python, in
    one list. ``tool_choice`` is ``"auto"`` (free text with calls in it), ``"none"`` (free text), ``"required"`` (at
    least one call, with no text before it) or ``{"name": …}`` (one call of that tool), or a choice in the words of
    OpenAI or Anthropic; without ``parallel`` there is at most one call. ``format`` is a name that
    :func:`~workbench.tool_formats` lists, or that of a model.

    ``reasoning=True`` lets thoughts come first, False keeps them out, None allows both, and ``"off"`` is the empty
    block that templates write. ``reasoning_opened`` says whether the prompt ends with the opening marker already
    (by default as templates of the family do). ``reasoning_tokens`` bounds thoughts in tokens, for vocabularies that
    have the closing marker as a token; ``reasoning_chars`` bounds them in characters, for any.

    ``on_broken="drop"`` leaves broken tools out, with an outcome that warns. The remaining ``options`` are those of
    :func:`~workbench.json_schema` for the arguments, with two other defaults: objects that list properties have no
    others (``additional_properties=False``), and numbers are ``"plain"``, so that an integer is read as one. A call is
    captured as ``"call"``, in it ``"name"`` and ``"arguments"``, what comes before as ``"thoughts"``;
    :func:`~workbench.read_calls` reads calls back.

    Raises ``BrokenTools`` for tools that cannot be read or called, all of them listed; ``ValueError`` for a format or
    a choice that there is not; ``WrongType``.
    """
    if not isinstance(parallel, bool):
        raise wrong_type("tools(parallel=…)", "True or False", parallel)
    if on_broken not in ("raise", "drop"):
        raise ValueError(f"on_broken is 'raise' or 'drop', not {on_broken!r:.40}")
    form = find_format(format)
    choice = read_choice(tool_choice)
    thinking = read_thinking(form, reasoning, reasoning_opened, reasoning_tokens, reasoning_chars)
    given = listed(tools)
    if not given and choice.mode != "none":
        raise ValueError(
            "tools: the list is empty. Where there are no tools, tool_choice='none' makes free text"
        )
    found = check_all(given, form, options)
    if on_broken == "raise" or (found.broken and not found.tools):
        found.need_whole()
    several = parallel and choice.parallel is not False
    grammar = grammar_of(turn(form, _chosen(found, choice), choice.mode, several, thinking))
    source = {
        "tool_format": told_format(form),
        "tools": {tool.name: arguments.schema for tool, arguments in found.tools},
    }
    told = found.outcomes()
    outcomes = (*grammar.outcomes, *told) if told else grammar.outcomes
    return replace(grammar, kind="tools", source=source, outcomes=outcomes)


def _chosen(found: Checked, choice: Choice) -> list[CallableTool]:
    """The tools that may be called. Raises ``ValueError`` as :func:`select` does."""
    names = set(select(choice, {tool.name: tool.kind for tool, _ in found.tools}))
    return [
        CallableTool(tool.name, arguments, tool.kind != "function")
        for tool, arguments in found.tools
        if tool.name in names
    ]

"""Which of the tools a model may or must call: what the interfaces of hosted services say, in one form.

>>> read_choice({"type": "function", "function": {"name": "search"}})
Choice(mode='forced', names=('search',), parallel=None)
>>> read_choice({"type": "any", "disable_parallel_tool_use": True})
Choice(mode='required', names=None, parallel=False)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from workbench.frontends.nearest import nearest
from workbench.inputs import first_words, wrong_type

__all__ = ["Choice", "Mode", "read_choice", "select"]

#: Calls where the model likes; none; at least one; one of the one tool that is named.
Mode = Literal["auto", "none", "required", "forced"]

_MODES: dict[str, Mode] = {
    "auto": "auto",
    "none": "none",
    "required": "required",
    "any": "required",
}
_FORMS = (
    '"auto", "none", "required", {"name": …}, or a choice as OpenAI and Anthropic write it, such as '
    '{"type": "function", "function": {"name": …}} or {"type": "any"}'
)


@dataclass(frozen=True, slots=True)
class Choice:
    """A choice of tools: ``names`` are those that may be called, None for all of them.

    ``parallel`` is what the choice says about several calls, None where it says nothing.
    """

    mode: Mode
    names: tuple[str, ...] | None = None
    parallel: bool | None = None


def read_choice(given: Any) -> Choice:
    """What a ``tool_choice`` says. Raises ``WrongType`` and ``ValueError`` for what is none."""
    if given is None:
        return Choice("auto")
    if isinstance(given, str):
        if given not in _MODES:
            raise ValueError(
                f'tool_choice is "auto", "none" or "required", not {first_words(given)}: '
                f'{{"name": {first_words(given)}}} asks for one tool'
            )
        return Choice(_MODES[given])
    if not isinstance(given, Mapping):
        raise wrong_type("tool_choice", _FORMS, given)
    kind = given.get("type")
    parallel = _parallel(given)
    if kind == "allowed_tools":
        return _allowed(given)
    if isinstance(kind, str) and kind in _MODES and "name" not in given:
        return Choice(_MODES[kind], parallel=parallel)
    name = _named(given)
    if name is None:
        raise ValueError(
            f"tool_choice names no tool: {first_words(repr(dict(given)))}. It is {_FORMS}"
        )
    return Choice("forced", (name,), parallel)


def select(choice: Choice, kinds: Mapping[str, str]) -> list[str]:
    """The names of the tools that may be called, in their order; ``kinds`` has the type of each by its name.

    A tool that a service has built in may be chosen by its type. Raises ``ValueError`` for a choice that names a tool
    which is not there, and for one that asks for a call where there is no tool.
    """
    wanted = set(kinds) if choice.names is None else set()
    for name in choice.names or ():
        typed = [] if name == "function" else [one for one in kinds if kinds[one] == name]
        if name not in kinds and len(typed) != 1:
            told = f" alone: {len(typed)} have this type" if typed else f": {nearest(name, kinds)}"
            raise ValueError(
                f"tool_choice names {first_words(name)}, which is none of the tools{told}"
            )
        wanted.add(name if name in kinds else typed[0])
    if choice.mode == "required" and not wanted:
        raise ValueError(
            "tool_choice asks for a call, but there are no tools: pass some, or tool_choice='auto'"
        )
    return [] if choice.mode == "none" else [name for name in kinds if name in wanted]


def _named(given: Mapping[Any, Any]) -> str | None:
    """The name in a choice of one tool; built-in tools are chosen by their type."""
    function = given.get("function")
    name = function.get("name") if isinstance(function, Mapping) else given.get("name")
    if name is None and function is None:
        name = given.get("type")
        if name in ("function", "tool", "custom"):
            return None
    return name if isinstance(name, str) else None


def _parallel(given: Mapping[Any, Any]) -> bool | None:
    disabled = given.get("disable_parallel_tool_use")
    if disabled is None:
        return None
    if not isinstance(disabled, bool):
        raise wrong_type("disable_parallel_tool_use of tool_choice", "true or false", disabled)
    return not disabled


def _allowed(given: Mapping[Any, Any]) -> Choice:
    """A choice among some of the tools, flat or one level down."""
    inner = given.get("allowed_tools", given)
    if not isinstance(inner, Mapping) or not isinstance(inner.get("tools"), list):
        raise ValueError(
            'tool_choice of type "allowed_tools" lists them: '
            '{"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": …}]}'
        )
    mode = inner.get("mode", "auto")
    if mode not in ("auto", "required"):
        raise ValueError(f'the mode of "allowed_tools" is "auto" or "required", not {mode!r:.40}')
    names = []
    for one in inner["tools"]:
        name = _named(one) if isinstance(one, Mapping) else None
        if name is None:
            raise ValueError(f'"allowed_tools" lists tools by name, not {one!r:.60}')
        names.append(name)
    return Choice(_MODES[mode], tuple(names))

"""Classes and functions of Python as tools: their names, what they are for, the schemas of their arguments.

>>> def weather(city: str, days: int = 1) -> str:
...     "Tell the weather."
>>> read = read_python(weather)
>>> read.name, read.description, read.schema["required"]
('weather', 'Tell the weather.', ['city'])
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

from workbench.frontends.python_types import grammar_of, needing_pydantic
from workbench.frontends.signatures import read_signature
from workbench.grammar.ir import Outcome

__all__ = ["OPTIONS", "PythonTool", "read_python"]

#: How schemas of arguments are read, unless it is said otherwise: as ``workbench.from_type`` reads types.
OPTIONS: dict[str, Any] = {"additional_properties": False, "numbers": "plain"}


class PythonTool(NamedTuple):
    """What is read of a class or a function; ``outcomes`` are those of what no schema says."""

    name: str
    description: str
    schema: dict[str, Any]
    outcomes: tuple[Outcome, ...]


def read_python(given: type | Callable[..., Any]) -> PythonTool:
    """Read a class whose fields are arguments, or a function.

    Raises as :func:`~workbench.frontends.signatures.read_signature` does, and what reading the schema raises.
    """
    if isinstance(given, type):
        with needing_pydantic("tools"):
            from workbench.frontends.pydantic_schema import schema_of

        name, description, narrowed = given.__name__, _about(given), schema_of(given)
    else:
        read = read_signature(given, who="tools")
        name, description, narrowed = read.name, read.description, read.narrowed
    # where items of a set cannot be kept apart, it takes that out of the schema
    grammar = grammar_of(narrowed, "raise", dict(OPTIONS))
    told = tuple(one for one in grammar.outcomes if one.keyword == "validator")
    return PythonTool(name, description, narrowed[0], told)


def _about(given: type) -> str:
    """The docstring of a class itself, but for what ``dataclass`` writes."""
    own = vars(given).get("__doc__") or ""
    return "" if own.startswith(f"{given.__name__}(") else inspect.cleandoc(own)

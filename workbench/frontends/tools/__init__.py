"""Tools that a model may call, in the formats of families of models. ``front.py`` says in which order to read."""

from __future__ import annotations

from workbench.frontends.tools.calls import ToolCall, read_calls
from workbench.frontends.tools.families import Reasoning, ToolFormat
from workbench.frontends.tools.front import tools
from workbench.frontends.tools.lookup import tool_formats

__all__ = [
    "Reasoning",
    "ToolCall",
    "ToolFormat",
    "read_calls",
    "tool_formats",
    "tools",
]

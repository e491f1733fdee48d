"""Tools and calls that many tests share."""

from __future__ import annotations

from typing import Any

import workbench as wb
from tests.frontends.tools.written import Call
from workbench.vocabulary import byte_vocabulary

WEATHER = {
    "type": "object",
    "properties": {
        "location": {"type": "string"},
        "days": {"type": "integer", "minimum": 1},
        "units": {"enum": ["celsius", "fahrenheit"]},
    },
    "required": ["location"],
    "additionalProperties": False,
}
SEARCH = {
    "type": "object",
    "properties": {
        "query": {"type": "string"},
        "filters": {
            "type": "object",
            "properties": {
                "exact": {"type": "boolean"},
                "least": {"type": "number"},
                "tags": {"type": "array", "items": {"type": "string"}},
            },
            "additionalProperties": False,
        },
        "limit": {"type": ["integer", "null"]},
    },
    "required": ["query"],
    "additionalProperties": False,
}
PING: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}

TOOLS: list[dict[str, Any]] = [
    {"type": "function", "function": {"name": "get_weather", "parameters": WEATHER}},
    {"name": "search", "input_schema": SEARCH},
    {"name": "ping", "inputSchema": PING},
]

CALLS: list[Call] = [
    ("get_weather", {"location": "Zürich, 東京"}),
    ("get_weather", {"location": "Paris", "days": 3, "units": "celsius"}),
    (
        "search",
        {"query": 'a "b" \\ <c> &', "filters": {"exact": True, "least": 1.5, "tags": ["x", "ü"]}},
    ),
    ("search", {"query": "line\nline", "limit": 12}),
    ("search", {"query": "", "filters": {}, "limit": None}),
    ("ping", {}),
]


class Judge:
    """Whether texts are of a grammar, by its masks."""

    def __init__(self, grammar: wb.Grammar) -> None:
        self.matcher = wb.compile(grammar, byte_vocabulary()).matcher()

    def __call__(self, text: str) -> bool:
        self.matcher.reset()
        data = list(text.encode())
        return self.matcher.accept_tokens(data) == len(data) and self.matcher.is_accepting

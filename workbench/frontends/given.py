"""The grammar that a person means who hands over a schema or a text.

Next file to read: ``workbench/frontends/json_schema/front.py``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.errors import GrammarSyntaxError

__all__ = ["grammar_of", "schema_of"]


def schema_of(given: Any) -> Any:
    """The JSON Schema that was given, as a value or as JSON text; None for anything else.

    Raises ``GrammarSyntaxError`` for a text that begins like JSON and is none.
    """
    if isinstance(given, Mapping):
        return dict(given)
    if isinstance(given, bool):
        return given
    if isinstance(given, str) and given.lstrip()[:1] == "{":
        from workbench.frontends.json_schema.values import read_json

        return read_json(given)
    return None


def grammar_of(given: Any) -> Any:
    """The grammar of a schema, its JSON text, or a text in GBNF; anything but these is handed back as it is.

    Raises what ``json_schema`` and ``gbnf`` raise, ``GrammarSyntaxError`` for any other text.
    """
    schema = schema_of(given)
    if schema is not None:
        from workbench.frontends.json_schema import json_schema

        return json_schema(schema)
    if not isinstance(given, str):
        return given
    if "::=" in given:
        from workbench.frontends.gbnf import gbnf

        return gbnf(given)
    raise GrammarSyntaxError(
        "this text is neither a JSON Schema nor a grammar in GBNF",
        text=given,
        start=0,
        hint="for a pattern write wb.regex(…)",
    )

"""The grammar that a person means who hands over a schema or a text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.errors import GrammarSyntaxError
from workbench.inputs import looks_like_file, read_text

__all__ = ["grammar_of", "schema_of"]


def schema_of(given: Any) -> Any:
    """The JSON Schema that was given, as a value or as JSON text, in plain values; None for anything else.

    Raises ``GrammarSyntaxError`` for a text that begins like JSON and is none.
    """
    text = read_text(bytes(given), "the text") if isinstance(given, bytes | bytearray) else given
    if isinstance(text, str):
        is_schema = text.lstrip("\ufeff \t\r\n")[:1] == "{"
    else:
        is_schema = isinstance(text, Mapping | bool)
    if not is_schema:
        return None
    from workbench.frontends.json_schema.read.plain import read_schema

    return read_schema(text)


def grammar_of(given: Any) -> Any:
    """The grammar of a schema, its JSON text, or a text in GBNF; anything but these is handed back as it is.

    Raises what ``json_schema`` and ``gbnf`` raise, ``GrammarSyntaxError`` for any other text.
    """
    schema = schema_of(given)
    if schema is not None:
        from workbench.frontends.json_schema import json_schema

        return json_schema(schema)
    text = read_text(bytes(given), "the text") if isinstance(given, bytes | bytearray) else given
    if not isinstance(text, str):
        return given
    if "::=" in text:
        from workbench.frontends.gbnf import gbnf

        return gbnf(text)
    if looks_like_file(text):
        hint = "it is the name of a file: pass what the file holds"
    else:
        hint = "for a pattern write wb.regex(…)"
    raise GrammarSyntaxError(
        "this text is neither a JSON Schema nor a grammar in GBNF", text=text, start=0, hint=hint
    )

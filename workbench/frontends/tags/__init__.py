"""Formats of outputs: free text, tags in it, and what stands in them. ``formats.py`` has the kinds.

``build.py`` makes grammars of them.
"""

from __future__ import annotations

from workbench.frontends.tags.build import grammar_of
from workbench.frontends.tags.formats import (
    AnyText,
    AnyTokens,
    Capture,
    ConstString,
    Dispatch,
    ExcludeToken,
    Format,
    GrammarText,
    JSONSchema,
    Marker,
    Optional,
    Or,
    Part,
    Plus,
    RegexPattern,
    Repeat,
    Sequence,
    Star,
    Tag,
    TagsWithSeparator,
    TokenDispatch,
    TokenOf,
    TokenTriggeredTags,
    TriggeredTags,
)

__all__ = [
    "AnyText",
    "AnyTokens",
    "Capture",
    "ConstString",
    "Dispatch",
    "ExcludeToken",
    "Format",
    "GrammarText",
    "JSONSchema",
    "Marker",
    "Optional",
    "Or",
    "Part",
    "Plus",
    "RegexPattern",
    "Repeat",
    "Sequence",
    "Star",
    "Tag",
    "TagsWithSeparator",
    "TokenDispatch",
    "TokenOf",
    "TokenTriggeredTags",
    "TriggeredTags",
    "grammar_of",
]

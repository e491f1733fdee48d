"""JSON Schema -> Grammar. Start reading at ``front.py``; ``asking.py`` answers questions about schemas.

A module imports from its own subpackage and those before it:

- ``text``: JSON as a text: values, the spelling of characters, whitespace
- ``scalars``: languages of strings and numbers: patterns, formats, bounds, multiples
- ``read``: the document: resources, references, keywords
- ``logic``: formulas of facts for each type, and the texts and numbers that they allow
- ``containers``: plans of objects and arrays, what remains after a member, how many values there are
- ``emit``: rules of a grammar

``scalars`` stand before ``read``, since reading checks patterns and formats; what a formula about strings or
numbers allows needs both, and is in ``logic``.
"""

from __future__ import annotations

from workbench.frontends.json_schema.front import json_schema

__all__ = ["json_schema"]

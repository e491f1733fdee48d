"""The strings and numbers that a schema allows, for those who write them otherwise than JSON does.

>>> strings_of({"type": "string", "minLength": 2, "maxLength": 3}).min
2
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.frontends.json_schema.containers.unique_items import plan_unique_items
from workbench.frontends.json_schema.logic.formula import FALSE, Formula
from workbench.frontends.json_schema.logic.intervals import numbers_in
from workbench.frontends.json_schema.logic.strings import string_content
from workbench.frontends.json_schema.read.document import Document
from workbench.frontends.json_schema.scalars.numbers import Notation
from workbench.frontends.json_schema.text.json_values import NUMBER, STRING
from workbench.grammar.ir import NEVER, Expr

__all__ = ["numbers_of", "strings_of"]


def strings_of(schema: Mapping[str, Any]) -> Expr:
    """The strings that a schema allows, without quotes, over characters; ``NEVER`` where there are none.

    Leaves are ``CharSet``, ``Literal`` and, where lengths are counted, ``Counted``. Raises as
    :func:`workbench.json_schema` does.
    """
    formula = _formula(schema, STRING)
    return NEVER if formula is FALSE else string_content(formula, "#")


def numbers_of(schema: Mapping[str, Any], notation: Notation) -> Expr:
    """The numbers that a schema allows, as they are written; ``NEVER`` where there are none.

    Raises as :func:`workbench.json_schema` does.
    """
    formula = _formula(schema, NUMBER)
    return NEVER if formula is FALSE else numbers_in(formula, notation)


def _formula(schema: Mapping[str, Any], kind: int) -> Formula:
    document = Document(dict(schema))
    document.read()
    nodes = plan_unique_items(document).nodes
    return nodes.formula(nodes.of((document.root,)), kind)

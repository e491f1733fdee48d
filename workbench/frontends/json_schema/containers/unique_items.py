"""The plan for ``uniqueItems``: whether the items of each array can be compared, and what is left out for it."""

from __future__ import annotations

from typing import Any

from workbench.errors import GrammarTooComplex, UnsupportedConstraint
from workbench.frontends.json_schema.containers.compared_texts import is_endless
from workbench.frontends.json_schema.containers.distinct import (
    Choices,
    choices_of,
    has_structures,
)
from workbench.frontends.json_schema.containers.value_counts import ValueCounter
from workbench.frontends.json_schema.logic.nodes import Nodes
from workbench.frontends.json_schema.read.document import Document
from workbench.frontends.json_schema.text.json_values import ARRAY
from workbench.grammar.ir import JsonStyle, Outcome
from workbench.wording import number_of

__all__ = ["plan_unique_items"]


def plan_unique_items(
    document: Document, style: JsonStyle = "any", once: bool = True
) -> ValueCounter:
    """Decide for each ``uniqueItems`` of a document whether it is enforced, and note it in the outcomes.

    ``style`` and ``once`` are those of :class:`Nodes`. Returns the counter of the values of the document, which
    knows what was taken back.

    Raises ``UnsupportedConstraint`` for items that cannot be compared, unless it is to be reported.
    """
    counter = ValueCounter(Nodes(document.of_value, style, once), document.any_order)
    if document.unique and _plan_items(document, counter):
        counter = ValueCounter(Nodes(document.of_value, style, once), document.any_order)
    return counter


def _plan_items(document: Document, counter: ValueCounter) -> bool:
    """Note what becomes of each ``uniqueItems``; take it back where items cannot be compared.

    Returns whether some were taken back. Raises ``UnsupportedConstraint`` unless it is to be reported.
    """
    taken_back, nodes = False, counter.nodes
    for location, number in document.unique:
        if not location.types & ARRAY:
            continue
        outcome = document.outcomes[number]
        cells = location.cells
        status, reason = outcome.status, outcome.detail
        said: list[tuple[str, str]] = []
        try:
            if location.contains is not None:
                raise UnsupportedConstraint(
                    outcome.pointer, "uniqueItems is not enforced beside contains"
                )
            rest = None if cells is None else cells.rest
            item = nodes.of(() if rest is None else (rest,))
            prefix = () if cells is None else cells.prefix
            if prefix:
                first = [nodes.of(() if one is None else (one,)) for one in prefix]
                counter.prefixed(first, item)
                said += _said_of_structures(document, counter)
            elif has_structures(nodes, item):
                counter.node(item)
                said += _said_of_structures(document, counter)
            else:
                said += _said_of_choices(document, choices_of(nodes, item))
            if any(f"/{word}/" in outcome.pointer for word in ("not", "if", "oneOf")):
                left_out = "where this is denied, arrays in which items are equal are left out"
                said.append((left_out, "values"))
            if said:
                status, reason = "restricted", "; ".join(detail for detail, _ in said)
        except UnsupportedConstraint as error:
            status, reason = "unsupported", error.reason
        except GrammarTooComplex as error:
            status, reason = "unsupported", str(error)
        kinds = {kind for _, of_detail in said for kind in of_detail.split()}
        if status != "restricted":
            kinds.clear()
        document.outcomes[number] = Outcome(
            outcome.pointer,
            outcome.keyword,
            status,
            reason,
            tuple(sorted(kinds)),
            outcome.warning,
        )
        if status == "unsupported":
            location.unique = False
            taken_back = True
    document.refuse()
    return taken_back


def _said_of_structures(document: Document, counter: ValueCounter) -> list[tuple[str, str]]:
    """What is left out among items that hold others, and of which kinds it is.

    What was counted before is not counted again, so what was met there is said here, too.
    """
    return _said(document, counter.has_numbers, counter.has_few_texts)


def _said_of_choices(document: Document, choices: Choices) -> list[tuple[str, str]]:
    """What is left out among items that hold no others but those listed."""
    few_texts = choices.texts is not None and not is_endless(choices.texts)
    said = _said(document, choices.numbers is not None, few_texts)
    if document.any_order and any(map(_has_order, choices.listed)):
        said.append(("names in listed objects in the order given", "order"))
    return said


def _said(document: Document, numbers: bool, few_texts: bool) -> list[tuple[str, str]]:
    said = []
    if numbers:
        said.append(("numbers without exponents, trailing zeros or a sign before zero", "notation"))
        if (few := document.notation.few) is not None:
            said.append((f"numbers with at most {number_of(few, 'digit')} in a row", "length"))
    if few_texts:
        detail = "strings with few ways to go on have no escapes that are not needed"
        said.append((detail, "escapes values"))
    return said


def _has_order(value: Any) -> bool:
    """Whether a value holds an object with more than one member."""
    if isinstance(value, dict):
        return len(value) > 1 or any(map(_has_order, value.values()))
    return isinstance(value, list | tuple) and any(map(_has_order, value))

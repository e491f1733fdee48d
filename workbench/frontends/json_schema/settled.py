"""What becomes of ``uniqueItems``: whether the items of an array can be compared.

Next file to read: ``value_counts.py``.
"""

from __future__ import annotations

from workbench.errors import GrammarTooComplex, UnsupportedConstraint
from workbench.frontends.json_schema.distinct import choices_of, has_structures
from workbench.frontends.json_schema.document import Document
from workbench.frontends.json_schema.nodes import Nodes
from workbench.frontends.json_schema.value_counts import Counter
from workbench.frontends.json_schema.values import ARRAY
from workbench.grammar.ir import Outcome

__all__ = ["settle_items", "settled"]


def settled(document: Document) -> Counter:
    """What counts and decides the values of a document, once it is known which items can be compared.

    Raises as ``settle_items``.
    """
    counter = Counter(Nodes(document.of_value), document.any_order)
    if document.unique and settle_items(document, counter):
        counter = Counter(Nodes(document.of_value), document.any_order)
    return counter


def settle_items(document: Document, counter: Counter) -> bool:
    """Say of each ``uniqueItems`` that items can be compared, or take it back as unsupported.

    Returns whether some were taken back. Raises ``UnsupportedConstraint`` unless it is to be reported.
    """
    taken_back, nodes = False, counter.nodes
    for location, number in document.unique:
        if not location.types & ARRAY:
            continue
        outcome = document.outcomes[number]
        cells = location.cells
        status, reason = outcome.status, outcome.detail
        try:
            if location.contains is not None:
                raise UnsupportedConstraint(
                    outcome.pointer, "uniqueItems is not enforced beside contains"
                )
            rest = None if cells is None else cells.rest
            item = nodes.of(() if rest is None else (rest,))
            prefix = () if cells is None else cells.prefix
            before, counter.has_numbers = counter.has_numbers, False
            if prefix:
                first = [nodes.of(() if one is None else (one,)) for one in prefix]
                counter.prefixed(first, item)
                numbers = counter.has_numbers
            elif has_structures(nodes, item):
                counter.node(item)
                numbers = counter.has_numbers
            else:
                numbers = choices_of(nodes, item).numbers is not None
            counter.has_numbers = before
            if numbers:
                status = "restricted"
                reason = "numbers without exponents, trailing zeros or a sign before zero"
            if any(f"/{word}/" in outcome.pointer for word in ("not", "if", "oneOf")):
                status = "restricted"
                left_out = "where this is denied, arrays in which items are equal are left out"
                reason = f"{reason}; {left_out}" if numbers else left_out
        except UnsupportedConstraint as error:
            status, reason = "unsupported", error.reason
        except GrammarTooComplex as error:
            status, reason = "unsupported", str(error)
        document.outcomes[number] = Outcome(outcome.pointer, outcome.keyword, status, reason)
        if status == "unsupported":
            location.unique = False
            taken_back = True
    document.refuse()
    return taken_back

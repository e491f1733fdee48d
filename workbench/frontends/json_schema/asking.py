"""Questions about the values of a schema: whether one of its parts, or a combination of them, has any.

A schema is read once; then each question costs what it looks at.

>>> asking = Asking({"type": "object", "properties": {"a": {"type": "string"}}})
>>> asking.blame({"required": ["a"]}), asking.blame({"properties": {"a": {"type": "null"}}, "required": ["a"]})
(None, '#/properties/a')

Next file to read: ``workbench/diagnostics/schema_routes.py``, which asks them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from workbench.errors import GrammarTooComplex
from workbench.frontends.json_schema.document import Document
from workbench.frontends.json_schema.location import Location
from workbench.frontends.json_schema.nodes import Node
from workbench.frontends.json_schema.settled import settled
from workbench.frontends.json_schema.values import MAX_LEVELS

__all__ = ["Asking", "together"]


class Asking:
    """A schema, read with the default options but for constraints that cannot be enforced: they are left out.

    Raises ``GrammarSyntaxError`` for a malformed schema, ``GrammarTooComplex`` past a budget.
    """

    def __init__(self, schema: Any) -> None:
        try:
            self._document = Document(schema, report=True)
            self._document.read()
            self._counter = settled(self._document)
        except RecursionError:
            raise GrammarTooComplex("schema nesting levels", MAX_LEVELS) from None

    @property
    def root(self) -> Location:
        """The whole schema."""
        return self._document.root

    def node(self, parts: Iterable[Location]) -> Node:
        """What some parts of the schema say together; equal sets are the same node."""
        return self._counter.nodes.of(parts)

    def blame(self, wanted: Any = True, parts: Iterable[Location] | None = None) -> str | None:
        """Where no value is left when some parts hold, and a schema beside them; None when there is one.

        Without ``parts`` that is the whole schema. ``wanted`` is a schema of draft 2020-12 whose references lead
        into the whole one. The answer is a pointer, or another name for what is not part of the schema. Raises
        ``GrammarTooComplex`` where it cannot be decided, ``GrammarSyntaxError`` for a bad reference.
        """
        held = (self.root,) if parts is None else tuple(parts)
        try:
            if wanted is not True:
                held = (*held, self._document.beside(wanted))
            node = self.node(held)
            emptiness = self._counter.emptiness
            return emptiness.blame(node)[0] if emptiness.holds(node) else None
        except RecursionError:
            raise GrammarTooComplex("schema nesting levels", MAX_LEVELS) from None

    def culprit(self, part: Location) -> Location:
        """The smallest part to blame that one without any value has in it, as far as there is just one."""
        seen = {part.index}
        while True:
            empty = (one for one in _needed(part) if self.blame(parts=(one,)) is not None)
            found = next(empty, None)
            if found is None or found.index in seen:
                return part
            seen.add(found.index)
            part = found


def _needed(part: Location) -> Iterator[Location]:
    """The parts without which another one has no values."""
    yield from (one for one in part.same_instance if one is not None)
    for group in (*part.choices, *part.exclusive):
        if len(group) == 1:
            yield group[0]
    if part.members is not None:
        for name in part.required:
            yield from part.members.schemas_of(name)
    if part.cells is not None:
        for position in range(min(part.min_items, len(part.cells.prefix) + 1)):
            yield from part.cells.choices(position) or ()
    if part.contains is not None and part.min_contains:
        yield part.contains


def together(parts: Iterable[Location]) -> list[Location]:
    """Parts with all that they refer to, or say with ``allOf``."""
    found: dict[int, Location] = {}
    todo = list(parts)
    while todo:
        part = todo.pop()
        if part.index not in found:
            found[part.index] = part
            todo += [one for one in part.same_instance if one is not None]
    return list(found.values())

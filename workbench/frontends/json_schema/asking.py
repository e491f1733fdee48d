"""Questions about the values of a schema: whether one of its parts, or a combination of them, has any.

A schema is read once; then each question costs what it looks at.

>>> asking = Asking({"type": "object", "properties": {"a": {"type": "string"}}})
>>> asking.blame({"required": ["a"]}), asking.blame({"properties": {"a": {"type": "null"}}, "required": ["a"]})
(None, '#/properties/a')
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from workbench.errors import GrammarTooComplex
from workbench.frontends.json_schema.containers.unique_items import plan_unique_items
from workbench.frontends.json_schema.logic.nodes import Node
from workbench.frontends.json_schema.read.document import Document
from workbench.frontends.json_schema.read.location import Location
from workbench.frontends.json_schema.text.json_values import MAX_LEVELS

__all__ = ["Asking", "together"]


class Asking:
    """A schema, read with the default options but for constraints that cannot be enforced, which are left out, and
    references that lead nowhere, which no value satisfies.

    Raises ``GrammarSyntaxError`` for a malformed schema, ``GrammarTooComplex`` past a budget.
    """

    def __init__(self, schema: Any) -> None:
        try:
            self._document = Document(schema, report=True, forbid_dangling=True)
            self._document.read()
            self._counter = plan_unique_items(self._document)
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
            return emptiness.blame(node)[0] if emptiness.is_empty(node) else None
        except RecursionError:
            raise GrammarTooComplex("schema nesting levels", MAX_LEVELS) from None

    def culprit(self, part: Location) -> Location | None:
        """The innermost part without any value among those that a part cannot do without.

        None where there is none, and where such parts need each other without end.
        """
        found, seen = None, {part.index}
        while True:
            empty = (one for one in _needed(part) if self.blame(parts=(one,)) is not None)
            below = next(empty, None)
            if below is None:
                return found
            if below.index in seen:
                return None
            seen.add(below.index)
            found = part = below

    def empty_parts(self, most: int) -> Iterator[str]:
        """The pointers of parts without any value that are so for a reason of their own, deeper ones first.

        What is plainly ``false`` is no reason. Only the first ``most`` parts that are read are looked at.
        """
        found = [part for part in self._document.locations[:most] if part.pointer.startswith("#/")]
        for part in sorted(found, key=lambda part: -part.level):
            if not part.never and self.blame(parts=(part,)) is not None:
                reason = self.culprit(part)
                if reason is None or reason.never:
                    yield part.pointer

    def blame_all(self) -> str | None:
        """What to blame, as closely as can be told, for the schema having no value; None when it has one."""
        blamed = self.blame()
        if blamed is None:
            return None
        culprit = self.culprit(self.root)
        if culprit is None or blamed.startswith(f"{culprit.pointer}/"):
            return blamed
        return culprit.pointer


def _needed(part: Location) -> Iterator[Location]:
    """The parts without which another one has no values."""
    parts = together([part])
    yield from (one for one in parts if one is not part)
    for said in parts:
        for group in (*said.choices, *said.exclusive):
            if len(group) == 1:
                yield group[0]
        if said.contains is not None and said.min_contains:
            yield said.contains
    names = dict.fromkeys(name for said in parts for name in said.required)
    count = max(said.min_items for said in parts)
    for said in parts:
        if said.members is not None:
            for name in names:
                yield from said.members.schemas_of(name)
        if said.cells is not None:
            for position in range(min(count, len(said.cells.prefix) + 1)):
                yield from said.cells.choices(position) or ()


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

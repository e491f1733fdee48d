"""The steps of statements by name: what may come next, and what the query then is."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.frontends.sql.changes import Changes
from workbench.frontends.sql.moves import Move
from workbench.frontends.sql.nodes import Node, Step
from workbench.frontends.sql.state import State

__all__ = ["Steps"]

#: Steps that always are a text.
_NEVER_SILENT = frozenset(
    [
        "column",
        "item",
        "from",
        "table",
        "group key",
        "order key",
        "query",
        "with",
        "behind",
        "known",
        "subquery",
        "certain",
        "joined on",
        "named",
        "star behind",
        "target",
        "blank",
        "set",
        "into",
    ]
)


class Steps(Changes):
    """What each step may be in a state: the step "group key" is what ``_group_key`` says."""

    def moves(self, step: Step, state: State) -> Iterator[Move]:
        """The ways on, those without a text first."""
        name = step.name.replace(" ", "_")
        moves: Iterator[Move] = getattr(self, f"_{name}")(state, *step.arguments)
        return moves

    def may_be_silent(self, step: Step) -> bool:
        """Whether a step may come to nothing."""
        return step.name not in _NEVER_SILENT

    def needs_more(self, node: Node, state: State) -> bool:
        """Whether a table is missing, and so a text has to come: known without a look at which one it may be."""
        is_tables = isinstance(node, Step) and node.name == "tables"
        return is_tables and not self.tables.is_complete(state)

    def said(self, state: State) -> str:
        """A state in words, for the name of a rule."""
        named = [q for q, _ in state.chosen] or [q for q, _ in state.quals]
        return f"query of {', '.join(named)}" if named else "query"

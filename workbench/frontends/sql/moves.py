"""The ways on from a step, and what all steps know."""

from __future__ import annotations

from typing import NamedTuple

from workbench.frontends.sql.catalog import FEW_TABLES, Catalog
from workbench.frontends.sql.nodes import Node, Templates
from workbench.frontends.sql.scopes import Columns
from workbench.frontends.sql.state import Plain, Scope, State
from workbench.frontends.sql.tables import Tables
from workbench.grammar.expressions import Expr

__all__ = ["Given", "Move"]


class Move(NamedTuple):
    """A way on: a text (None for nothing), what comes before all that is left, and the query then."""

    expr: Expr | None
    rest: tuple[Node, ...]
    state: State


class Given:
    """A catalog with its templates. ``labels`` are names that a query may give."""

    def __init__(
        self, templates: Templates, catalog: Catalog, most_tables: int, labels: tuple[str, ...]
    ) -> None:
        self.templates = templates
        self.text = templates.lexis.text
        self.catalog = catalog
        self.strict = catalog.dialect.strict
        #: columns are grouped by their numbers alone, so that it need not be remembered which ones came
        self.by_number = self.strict and len(catalog.tables) > FEW_TABLES
        self.tables = Tables(catalog, most_tables)
        self.columns = Columns(catalog, self.tables)
        #: names of columns, and names of queries
        self.labels = tuple(one for one in labels if one not in catalog.owners)
        self.query_names = tuple(one for one in labels if one not in catalog.named)
        # a name of a column may be given where it is clear which one is meant then
        taken = {*map(str.lower, catalog.owners if self.strict else ()), *self.labels}
        self.free_name = templates.lexis.free_name(taken)
        self._needs: dict[object, bool] = {}

    def scope(self, state: State, *, on: bool = False) -> Scope:
        """What may be named where the FROM clause is known; ``on``: as far as it goes, in a condition of its own."""
        items = tuple((q, (table,)) for q, table in state.chosen)
        bare = ("all",)
        if on:
            bare = ("none",) if state.aliased else ("sure",)
        allowed = None
        if self.strict and (state.grouped is not None or state.aggregates) and not on:
            allowed = self._allowed(state)
        return Scope(items, bare, allowed, state.outer, state.derived)

    def _allowed(self, state: State) -> tuple[Plain, ...]:
        """The columns by which rows are grouped."""
        found = {pair for pair in state.grouped or () if not pair[1].startswith("#")}
        for number, one in enumerate(state.out or ()):
            if "c" in one.made_of and ("", f"#{number}") in (state.grouped or ()):
                found.update(one.plain)
        return tuple(sorted(found))

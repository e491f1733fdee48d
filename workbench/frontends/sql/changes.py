"""Steps of statements that change rows."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.frontends.sql.clauses import Clauses
from workbench.frontends.sql.moves import Move
from workbench.frontends.sql.state import State

__all__ = ["Changes"]


class Changes(Clauses):
    """Steps of INSERT, UPDATE and DELETE."""

    def _target(self, state: State) -> Iterator[Move]:
        """The table whose rows are changed, under its own name."""
        for table in range(len(self.catalog.tables)):
            chosen = self.tables.chosen(state, self.catalog.own(table), table)
            yield Move(self.catalog.spelled_table(table), (), chosen)

    def _left(self, state: State) -> list[str]:
        """The columns that did not come yet."""
        ((_, table),) = state.chosen
        return [name for name in self.catalog.columns(table) if name not in state.targets]

    def _kind(self, state: State, name: str) -> str:
        ((_, table),) = state.chosen
        return self.catalog.columns(table)[name]

    def _set(self, state: State) -> Iterator[Move]:
        """A column that gets a value made of its row."""
        part, step = self.templates.part, self.templates.step
        for name in self._left(state):
            value = step("known", f"given {self._kind(state, name)}")
            # it does not matter which came first
            after = state.but(targets=tuple(sorted((*state.targets, name))))
            following = (part("~ = ~"), value, step("set end"))
            yield Move(self.catalog.spelled(name), following, after)

    def _set_end(self, state: State) -> Iterator[Move]:
        yield Move(None, (), state)
        if self._left(state):
            yield Move(self.text("~ , ~"), (self.templates.step("set"),), state)

    def _into(self, state: State) -> Iterator[Move]:
        """A column that values are for, in the order of these."""
        following = (self.templates.step("into end"),)
        for name in self._left(state):
            after = state.but(targets=(*state.targets, name))
            yield Move(self.catalog.spelled(name), following, after)

    def _into_end(self, state: State) -> Iterator[Move]:
        step = self.templates.step
        if self._left(state):
            yield Move(self.text("~ , ~"), (step("into"),), state)
        yield Move(self.text("~ ) ~ VALUES ~ ( ~"), (step("row", 0),), state)
        kinds = tuple(self._kind(state, name) for name in state.targets)
        if set(kinds) <= set(self.catalog.kinds):
            select = self.templates.body("select")
            yield Move(self.text("~ ) _"), (select,), State(want=kinds))

    def _row(self, state: State, number: int) -> Iterator[Move]:
        """A value for a column, which knows of no table."""
        step = self.templates.step
        kind = self._kind(state, state.targets[number])
        yield Move(None, (step("blank", f"given {kind}"), step("row end", number)), state)

    def _row_end(self, state: State, number: int) -> Iterator[Move]:
        step = self.templates.step
        if number + 1 < len(state.targets):
            yield Move(self.text("~ , ~"), (step("row", number + 1),), state)
        else:
            yield Move(self.text("~ )"), (step("rows end"),), state)

    def _rows_end(self, state: State) -> Iterator[Move]:
        yield Move(None, (), state)
        yield Move(self.text("~ , ~ ( ~"), (self.templates.step("row", 0),), state)

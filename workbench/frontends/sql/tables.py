"""Which tables a query may still be about: what its text has named decides what may stand in its FROM clause."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.frontends.sql.catalog import OUTSIDE, Catalog
from workbench.frontends.sql.state import State

__all__ = ["Tables"]

#: Names that are tried until it is said that there is no way: what then is left out could be written, but is rare.
_MOST_TRIES = 400

_Choice = tuple[str, int]


class Tables:
    """The FROM clauses of queries over a catalog, of at most so many tables each."""

    def __init__(self, catalog: Catalog, most: int) -> None:
        self.catalog = catalog
        self.most = most
        self._known: dict[object, bool] = {}
        #: the aliases of each table, and those that any may have
        self._aliases: list[list[str]] = [[] for _ in catalog.tables]
        self._any_alias: list[str] = []
        for alias, tables in catalog.aliases.items():
            for table in tables:
                self._aliases[table].append(alias)
            if len(tables) > 1:
                self._any_alias.append(alias)

    def all(self, state: State) -> Iterator[int]:
        """Every table, those that the query defines first."""
        yield from (OUTSIDE - 1 - i for i in range(len(state.derived)))
        yield from range(len(self.catalog.tables))

    def owners(self, state: State, name: str) -> tuple[int, ...]:
        """The tables that have a column of a name."""
        derived = tuple(
            OUTSIDE - 1 - i
            for i in range(len(state.derived))
            if name in self.catalog.columns(OUTSIDE - 1 - i, state.derived)
        )
        return derived + self.catalog.owners.get(name, ())

    def called(self, state: State, name: str) -> tuple[int, ...]:
        """The tables that a name before a column may stand for; the one of the query around, too."""
        known = dict(state.quals).get(name)
        if known is not None:
            return known
        found = tuple(
            OUTSIDE - 1 - i for i, derived in enumerate(state.derived) if derived.name == name
        )
        found += self.catalog.named.get(name, ()) + self.catalog.aliases.get(name, ())
        outside = (OUTSIDE,) if any(q == name for q, _, _ in state.outer) else ()
        return (*outside, *found)

    def kind(self, state: State, table: int, name: str, qual: str = "") -> str | None:
        """The kind of a column, None where a table has none of that name; ``qual`` is what an outer one is called."""
        if table != OUTSIDE:
            return self.catalog.columns(table, state.derived).get(name)
        for q, tables, names in state.outer:
            if q == qual:
                if names is not None and name not in names:
                    return None
                kinds = {self.catalog.columns(t, state.derived).get(name) for t in tables}
                return kinds.pop() if len(kinds) == 1 else None
        return None

    # -- choosing ----------------------------------------------------------------------------------

    def choices(self, state: State, table: int) -> Iterator[str]:
        """The names that a table may get as the next one of the FROM clause: its own first."""
        # where tables have their own names, columns alone in an ON clause stay clear
        if not state.aliased and any(t == table for _, t in state.chosen):
            return
        own = self.catalog.own(table, state.derived)
        taken = [q for q, _ in state.chosen]
        quals = dict(state.quals)
        for name in (own, *(self._any_alias if table < 0 else self._aliases[table])):
            cands = quals.get(name)
            if name not in taken and (cands is None or table in cands):
                yield name

    def chosen(self, state: State, name: str, table: int) -> State:
        """The query with one table more in its FROM clause."""
        aliased = state.aliased
        if not state.chosen:
            aliased = name != self.catalog.own(table, state.derived)
        return state.but(chosen=(*state.chosen, (name, table)), aliased=aliased)

    def is_complete(self, state: State) -> bool:
        """Whether every column that was named has its table."""
        return not self._is_lost(state) and not self._unmet(state)

    def is_viable(self, state: State) -> bool:
        """Whether some FROM clause fits what was named."""
        key = (
            *(state.outer, state.derived, state.quals, state.owners, state.bare),
            *(state.chosen, state.aliased),
        )
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._search(state, [_MOST_TRIES])
        return known

    def next_tables(self, state: State) -> Iterator[int]:
        """The tables that may come next."""
        if len(state.chosen) >= self.most:
            return
        for table in self.all(state):
            if any(self.names(state, table)):
                yield table

    def names(self, state: State, table: int) -> Iterator[str]:
        """The names under which a table may come next."""
        for name in self.choices(state, table):
            if self.is_viable(self.chosen(state, name, table)):
                yield name

    def _search(self, state: State, left: list[int]) -> bool:
        if self._is_lost(state):
            return False
        wanted = self._unmet(state)
        if not wanted:
            return bool(state.chosen) or self._search_first(state)
        if len(state.chosen) >= self.most:
            return False
        for name, table in self._options(state, wanted):
            left[0] -= 1
            if left[0] < 0:
                return False
            if self._search(self.chosen(state, name, table), left):
                return True
        return False

    def _search_first(self, state: State) -> bool:
        """Whether a table may come that nothing asks for."""
        for table in self.all(state):
            for name in self.choices(state, table):
                if not self._is_lost(self.chosen(state, name, table)):
                    return True
        return False

    def _is_lost(self, state: State) -> bool:
        """Whether a column that was named alone is in two tables of the FROM clause."""
        chosen = [table for _, table in state.chosen]
        if any(chosen.count(table) > 1 for table in state.owners):
            return True
        for name, kind in state.bare:
            kinds = [found for t in chosen if (found := self.kind(state, t, name)) is not None]
            if len(kinds) > 1 or (kinds and kinds[0] != kind):
                return True
        return False

    def _unmet(self, state: State) -> tuple[str, object] | None:
        """The first thing that was named and has no table yet."""
        taken = {q for q, _ in state.chosen}
        for name, tables in state.quals:
            if name not in taken and OUTSIDE not in tables:
                return "name", (name, tables)
        chosen = {table for _, table in state.chosen}
        for table in state.owners:
            if table not in chosen:
                return "tables", (table,)
        for name, kind in state.bare:
            owners = self.owners(state, name)
            if not chosen.intersection(owners):
                fitting = tuple(t for t in owners if self.kind(state, t, name) == kind)
                return "tables", fitting
        return None

    def _options(self, state: State, wanted: tuple[str, object]) -> Iterator[_Choice]:
        what, which = wanted
        if what == "name":
            name, tables = which  # type: ignore[misc]
            for table in tables:  # type: ignore[has-type]
                if name in self.choices(state, table):  # type: ignore[has-type]
                    yield name, table  # type: ignore[has-type]
            return
        for table in which:  # type: ignore[attr-defined]
            # a name that may be one of the query around is best left to that
            yield from ((name, table) for name in self.choices(state, table))

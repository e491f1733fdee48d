"""The columns that may be named: where the tables are known, and where the text decides on them."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.frontends.sql.catalog import FEW_TABLES, OUTSIDE, Catalog, Derived
from workbench.frontends.sql.state import Scope, State
from workbench.frontends.sql.tables import Tables
from workbench.grammar.expressions import Alt, Expr, Literal, Seq

__all__ = ["Columns", "Groups"]

_DOT = Literal(b".")
#: where columns need not be grouped
_SINGLE = ("row", "argument")
#: Names of columns after which a query is the same, with that query.
Groups = list[tuple[list[str], State]]


class Columns:
    """Expressions of names of columns."""

    def __init__(self, catalog: Catalog, tables: Tables) -> None:
        self.catalog = catalog
        self.tables = tables
        self._known: dict[object, Expr | None] = {}
        self._groups: dict[object, Groups] = {}
        self._quals: dict[object, list[str]] = {}
        self._kinds = [frozenset(table.columns.values()) for table in catalog.tables]
        #: of each table, the columns that no other one has
        self.sure: list[tuple[str, ...]] = [
            tuple(name for name in table.columns if len(catalog.owners[name]) == 1)
            for table in catalog.tables
        ]

    # -- where the tables are known ----------------------------------------------------------------

    def of(self, scope: Scope, kind: str, mode: str) -> Expr | None:
        """The columns of a kind; None where there are none."""
        if mode in _SINGLE:
            outer = scope.outer if mode == "row" else ()
            scope = Scope(scope.items, scope.bare, None, outer, scope.derived)
        key = scope, kind
        if key not in self._known:
            bare = self._bare(scope, kind)
            found = [self.catalog.any_of(bare)] if bare else []
            self._known[key] = _either([*found, *self._qualified(scope, kind)])
        return self._known[key]

    def bare_names(self, scope: Scope) -> dict[str, tuple[str, str]]:
        """The columns that need nothing before them: the item that each is of, and its kind."""
        how = scope.bare[0]
        found: dict[str, tuple[str, str]] = {}
        if how == "none":
            return found
        if how == "named":
            _, tables, names = scope.bare
            for table in tables:
                kinds = self.catalog.columns(table, scope.derived)
                found |= {name: ("", kinds[name]) for name in self.sure_of(table, scope.derived)}
            return found | {name: ("", kind) for name, kind in names}
        for q, tables in scope.items:
            for name, kind in self.shared(tables, scope.derived):
                found[name] = ("", "") if name in found else (q, kind)
        if how == "sure":
            for name in found:
                if len(self._owners(name, scope.derived)) > 1:
                    found[name] = ("", "")
        return {name: place for name, place in found.items() if place[1]}

    def _owners(self, name: str, derived: tuple[Derived, ...]) -> tuple[int, ...]:
        return self.tables.owners(State(derived=derived), name)

    def sure_of(self, table: int, derived: tuple[Derived, ...]) -> tuple[str, ...]:
        """The columns of a table that no other one has."""
        names = self.sure[table] if table >= 0 else tuple(self.catalog.columns(table, derived))
        if not derived:
            return names
        return tuple(name for name in names if len(self._owners(name, derived)) == 1)

    def shared(
        self, tables: tuple[int, ...], derived: tuple[Derived, ...]
    ) -> list[tuple[str, str]]:
        """The columns that all of some tables have, with their kinds."""
        first, *rest = (self.catalog.columns(table, derived) for table in tables)
        return [
            (name, kind)
            for name, kind in first.items()
            if all(other.get(name) == kind for other in rest)
        ]

    def _bare(self, scope: Scope, kind: str) -> list[str]:
        allowed = scope.allowed
        return [
            name
            for name, (q, found) in self.bare_names(scope).items()
            if found == kind and (allowed is None or (q, name) in allowed)
        ]

    def _qualified(self, scope: Scope, kind: str) -> Iterator[Expr]:
        allowed = scope.allowed
        for q, tables in scope.items:
            names = [
                name
                for name, found in self.shared(tables, scope.derived)
                if found == kind and (allowed is None or (q, name) in allowed)
            ]
            yield from self._behind(q, names)
        taken = {q for q, _ in scope.items}
        for q, tables, only in scope.outer:
            if q not in taken:
                names = [
                    name
                    for name, found in self.shared(tables, scope.derived)
                    if found == kind and (only is None or name in only)
                ]
                yield from self._behind(q, names)

    def _behind(self, q: str, names: list[str]) -> Iterator[Expr]:
        if names:
            yield Seq((self.catalog.spelled(q), _DOT, self.catalog.any_of(names)))

    # -- where the text decides --------------------------------------------------------------------

    def is_settled(self, state: State) -> bool:
        """Whether only a name before a column asks for another table: there are many, and one is known."""
        known = bool(state.owners or state.bare or state.quals)
        return known and len(self.catalog.tables) > FEW_TABLES

    def grouped(self, state: State, kind: str) -> Groups:
        """The columns of a kind that may be named alone, by what they ask of the tables."""
        key = self._asked(state), kind
        if key not in self._groups:
            self._groups[key] = _grouped(self._named(state, kind))
        return self._groups[key]

    def grouped_behind(self, state: State, q: str, kind: str, mode: str) -> Groups:
        """The columns of a kind that may be named behind a name, by what they ask of the tables."""
        key = self._asked(state), q, kind, mode == "argument"
        if key not in self._groups:
            self._groups[key] = _grouped(self._named_behind(state, q, kind, mode))
        return self._groups[key]

    def _asked(self, state: State) -> object:
        """What decides on the columns that may come."""
        return state.outer, state.derived, state.quals, state.owners, state.bare

    def _named(self, state: State, kind: str) -> Iterator[tuple[str, State]]:
        settled = self.is_settled(state)
        for table in self.tables.all(state):
            owned = state
            if table not in state.owners:
                if settled and not self._is_at_hand(state, table):
                    continue
                owned = state.but(owners=tuple(sorted({*state.owners, table})))
            if not self.tables.is_viable(owned):
                continue
            kinds = self.catalog.columns(table, state.derived)
            for name in self.sure_of(table, state.derived):
                if kinds[name] == kind:
                    yield name, owned
        for name in self._several(state):
            pair = name, kind
            owned = state
            if pair not in state.bare:
                owned = state.but(bare=tuple(sorted({*state.bare, pair})))
            fits = any(
                self.tables.kind(state, table, name) == kind
                for table in self.tables.owners(state, name)
            )
            if fits and self.tables.is_viable(owned):
                yield name, owned

    def _is_at_hand(self, state: State, table: int) -> bool:
        """Whether a name before a column may mean a table, or all columns so far may be of this one alone."""
        if state.quals or state.owners:
            return any(table in tables for _, tables in state.quals)
        return all(table in self.tables.owners(state, name) for name, _ in state.bare)

    def _several(self, state: State) -> list[str]:
        """The names of columns that several tables have."""
        names = [name for name, owners in self.catalog.owners.items() if len(owners) > 1]
        if state.derived:
            extra = {n for one in state.derived for n, _ in one.columns if n}
            known = set(names)
            names += sorted(
                n for n in extra if n not in known and len(self.tables.owners(state, n)) > 1
            )
        return names

    def quals(self, state: State, kind: str, mode: str) -> list[str]:
        """The names that may stand before a column of a kind; without a kind, before any."""
        key = self._asked(state), kind, mode == "argument"
        if key not in self._quals:
            self._quals[key] = list(self._qualifiers(state, kind, mode))
        return self._quals[key]

    def _qualifiers(self, state: State, kind: str, mode: str) -> Iterator[str]:
        names = {
            **dict.fromkeys(one.name for one in state.derived),
            **self.catalog.named,
            **self.catalog.aliases,
            **dict.fromkeys(q for q, _, _ in state.outer),
        }
        for q in names:
            fitting = tuple(
                table
                for table in self.called(state, q, mode)
                if not kind or self._has(state, q, table, kind)
            )
            if fitting and self.tables.is_viable(self.behind(state, q, fitting)):
                yield q

    def called(self, state: State, q: str, mode: str) -> tuple[int, ...]:
        """The tables that a name before a column may stand for in a place."""
        found = self.tables.called(state, q)
        return tuple(t for t in found if t != OUTSIDE) if mode == "argument" else found

    def behind(self, state: State, q: str, tables: tuple[int, ...]) -> State:
        """A query in which a name stands for one of some tables."""
        quals = dict(state.quals) | {q: tables}
        return state.but(quals=tuple(sorted(quals.items())))

    def _has(self, state: State, q: str, table: int, kind: str) -> bool:
        if table < 0:
            return any(found == kind for _, found in self._columns_of(state, q, table))
        return kind in self._kinds[table]

    def _named_behind(
        self, state: State, q: str, kind: str, mode: str
    ) -> Iterator[tuple[str, State]]:
        by_name: dict[str, list[int]] = {}
        for table in self.called(state, q, mode):
            for name, found in self._columns_of(state, q, table):
                if found == kind:
                    by_name.setdefault(name, []).append(table)
        viable: dict[tuple[int, ...], State | None] = {}
        for name, tables in by_name.items():
            cands = tuple(tables)
            if cands not in viable:
                made = self.behind(state, q, cands)
                viable[cands] = made if self.tables.is_viable(made) else None
            after = viable[cands]
            if after is not None:
                yield name, after

    def _columns_of(self, state: State, q: str, table: int) -> Iterator[tuple[str, str]]:
        if table != OUTSIDE:
            yield from self.catalog.columns(table, state.derived).items()
            return
        for name, tables, only in state.outer:
            if name == q:
                for column, kind in self.shared(tables, state.derived):
                    if only is None or column in only:
                        yield column, kind

    def fixed(self, state: State, mode: str) -> Scope:
        """What is known for certain of a query whose tables are not all known."""
        items = tuple((q, tables) for q, tables in state.quals if OUTSIDE not in tables)
        allowed = None
        if self.catalog.dialect.strict and mode not in _SINGLE:
            allowed = state.plain
        bare = "named", state.owners, state.bare
        return Scope(items, bare, allowed, (), state.derived)


def _grouped(found: Iterator[tuple[str, State]]) -> Groups:
    groups: dict[State, list[str]] = {}
    for name, state in found:
        groups.setdefault(state, []).append(name)
    return [(names, state) for state, names in groups.items()]


def _either(items: list[Expr]) -> Expr | None:
    if not items:
        return None
    return items[0] if len(items) == 1 else Alt(tuple(items))

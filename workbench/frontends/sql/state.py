"""What is known of a query at a place of its text: which tables it needs, what it gives, what may be named."""

from __future__ import annotations

from typing import Any, NamedTuple

from workbench.frontends.sql.catalog import Derived

__all__ = ["Outer", "Output", "Plain", "Scope", "State"]

#: A name of the query around: with the tables that it may be, and the columns that may be used (None is all).
Outer = tuple[str, tuple[int, ...], tuple[str, ...] | None]
#: A column that a query names outside of aggregates: what stands before it, and its name.
Plain = tuple[str, str]


class Output(NamedTuple):
    """A column that a query gives: its name, where it has one to be used, and the kind of its values.

    ``made_of``: "c" it is a column, "p" it has columns outside of aggregates in it, "a" aggregates, "w" windows.
    ``plain`` are these columns, where they have to be grouped.
    """

    name: str = ""
    kind: str = ""
    made_of: str = ""
    plain: tuple[Plain, ...] = ()


class Scope(NamedTuple):
    """The columns that may be named at a place.

    ``items`` are names with the tables that each may be: it has the columns that all of these have. ``bare`` says which
    columns need nothing before them: ``("all",)`` that only one item has, ``("sure",)`` that only one table of all has,
    ``("none",)``, or ``("named", tables, columns)``, those of tables that only they have, and columns that came.
    ``allowed`` are the columns that may stand outside of aggregates; None is all.
    """

    items: tuple[tuple[str, tuple[int, ...]], ...] = ()
    bare: tuple[Any, ...] = ("all",)
    allowed: tuple[Plain, ...] | None = None
    outer: tuple[Outer, ...] = ()
    derived: tuple[Derived, ...] = ()

    def visible(self) -> tuple[Outer, ...]:
        """What a query inside may name of this one."""
        found: list[Outer] = []
        for name, tables in self.items:
            names = None
            if self.allowed is not None:
                names = tuple(sorted({column for q, column in self.allowed if q == name}))
            found.append((name, tables, names))
        return tuple(found)


class State(NamedTuple):
    """A query so far. Values that are equal mean that the text goes on in the same ways.

    Before the tables are known, ``quals`` are names that stood before columns, with the tables that have these;
    ``owners`` tables of which a column was named that no other one has; ``bare`` the other columns that were named
    alone, with their kinds. ``plain`` are the columns outside of aggregates, where these have to be grouped; None are
    too many to be. ``chosen`` are names and tables in the FROM clause.
    """

    outer: tuple[Outer, ...] = ()
    derived: tuple[Derived, ...] = ()
    #: the kinds of the columns that it has to give; None for any
    want: tuple[str, ...] | None = None
    #: names of columns, with their kinds, that it has to give
    owed: tuple[tuple[str, str], ...] = ()
    quals: tuple[tuple[str, tuple[int, ...]], ...] = ()
    owners: tuple[int, ...] = ()
    bare: tuple[tuple[str, str], ...] = ()
    plain: tuple[Plain, ...] | None = ()
    aggregates: bool = False
    distinct: bool = False
    #: the column that is being written
    here: Output = Output()
    #: the columns that are written; None where it is not known which there are
    out: tuple[Output, ...] | None = ()
    #: those of the first query of several that are united
    first: tuple[Output, ...] = ()
    #: the columns, with their kinds, of the query in brackets that stands alone in the FROM clause; None: there is none
    inner: tuple[tuple[str, str], ...] | None = None
    chosen: tuple[tuple[str, int], ...] = ()
    #: how tables are joined: "" not yet, "comma", "join"
    joined: str = ""
    aliased: bool = False
    #: the columns by which rows are grouped; None where they are not
    grouped: tuple[Plain, ...] | None = None
    #: the columns of a statement that changes rows, which came and which need values
    targets: tuple[str, ...] = ()
    #: the queries around, where they are not finished
    around: tuple[State, ...] = ()

    def but(self, **changes: Any) -> State:
        """The same with some changes."""
        return self._replace(**changes)

    def made_of(self, letter: str) -> State:
        """The same, with the column at hand made of columns, aggregates or windows, too."""
        of = self.here.made_of
        if letter in of:
            return self
        return self._replace(here=self.here._replace(made_of="".join(sorted(of + letter))))

    @property
    def told(self) -> str:
        """What tells it apart in the name of a rule: the fields that are not as they are at first."""
        return repr([(i, v) for i, v in enumerate(self) if v != _FIRST[i]])


_FIRST = State()

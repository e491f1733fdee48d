"""Steps in front of the FROM clause: columns, which decide on the tables, and what a query gives."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.frontends.sql.catalog import FEW_TABLES
from workbench.frontends.sql.dialects import ANY
from workbench.frontends.sql.moves import Given, Move
from workbench.frontends.sql.scopes import Groups
from workbench.frontends.sql.state import Output, Plain, State
from workbench.grammar.expressions import Literal, Seq

__all__ = ["OTHERS", "Items"]

#: Queries in the brackets of a FROM clause or behind WITH, one in the other.
_MOST_AROUND = 2

#: Columns outside of aggregates that are remembered in order to be grouped.
_MOST_PLAIN = 6
#: Columns that are counted where their names are all that may be used of them.
_MOST_COUNTED = 3
#: Stands for columns that are not counted.
OTHERS = Output("…")
#: Stands for columns that are not told apart.
_SOME: tuple[Plain, ...] = (("", ""),)
_DOT = Literal(b".")
#: where a column counts as one outside of aggregates
_OUTSIDE = ("item", "group", "deep")


class Items(Given):
    """Steps of the SELECT list."""

    # -- columns -----------------------------------------------------------------------------------

    def _column(self, state: State, kind: str, mode: str, name: bool = False) -> Iterator[Move]:
        if state.inner is not None:
            yield from self._inner_column(state, kind, mode, name)
            return
        yield from self._chosen(state, self.columns.grouped(state, kind), "", kind, mode, name)
        for q in self.columns.quals(state, kind, mode):
            may_lack = self.strict and state.aggregates
            if may_lack and not any(True for _ in self._behind(state, q, kind, mode, name)):
                continue
            before = Seq((self.catalog.spelled_alone(q), _DOT))
            yield Move(before, (self.templates.step("behind", q, kind, mode, name),), state)

    def _behind(self, state: State, q: str, kind: str, mode: str, name: bool) -> Iterator[Move]:
        groups = self.columns.grouped_behind(state, q, kind, mode)
        yield from self._chosen(state, groups, q, kind, mode, name)

    def _chosen(
        self, state: State, groups: Groups, q: str, kind: str, mode: str, name: bool
    ) -> Iterator[Move]:
        """Columns in groups that ask for the same tables, each with the query then."""
        found: list[tuple[str, State | None]] = []
        for names, asked in groups:
            after = state.but(quals=asked.quals, owners=asked.owners, bare=asked.bare)
            if self._is_tracked(state, mode, name):
                found += ((n, self._marked(after, kind, mode, (q, n), name)) for n in names)
            else:
                marked = self._marked(after, kind, mode, (q, names[0]), name)
                found += ((n, marked) for n in names)
        yield from self._joined(found)

    def _joined(self, found: list[tuple[str, State | None]]) -> Iterator[Move]:
        """Names after which the query is the same are one way on."""
        by_state: dict[State, list[str]] = {}
        for name, state in found:
            if state is not None:
                by_state.setdefault(state, []).append(name)
        for state, names in by_state.items():
            yield Move(self.catalog.any_of(names), (), state)

    def _is_tracked(self, state: State, mode: str, name: bool) -> bool:
        """Whether it has to be remembered which column comes."""
        if self.strict and not self.by_number:
            return mode in _OUTSIDE
        return name and bool(state.around)

    def _marked(self, state: State, kind: str, mode: str, which: Plain, name: bool) -> State | None:
        """The query with a column more; None where it may not come."""
        if mode not in _OUTSIDE:
            return state
        state = state.made_of("p")
        if name:
            here = state.made_of("c").here._replace(name=which[1])
            if not self._is_tracked(state, mode, name):
                here = here._replace(name="")
            state = state.but(here=here)
        if not self.strict:
            return state
        if self.by_number:
            return self._numbered(state, kind)
        here = state.here
        if which not in here.plain:
            state = state.but(here=here._replace(plain=tuple(sorted({*here.plain, which}))))
        if state.plain is None or which in state.plain:
            return None if state.plain is None and state.aggregates else state
        if len(state.plain) >= _MOST_PLAIN or kind == "opaque":
            return None if state.aggregates else state.but(plain=None)
        return state.but(plain=tuple(sorted({*state.plain, which})))

    def _numbered(self, state: State, kind: str) -> State | None:
        """A query with a column outside of aggregates, which is grouped by its number, or not at all."""
        if kind != "opaque" and not set("aw") & set(state.here.made_of):
            if state.plain is None:
                return None if state.aggregates else state
            return state.but(here=state.here._replace(plain=_SOME), plain=_SOME)
        return None if state.aggregates else state.but(plain=None)

    def _inner_column(self, state: State, kind: str, mode: str, name: bool) -> Iterator[Move]:
        """A column of the query that will stand in the FROM clause."""
        assert state.inner is not None
        known = dict(state.inner)
        found: list[tuple[str, State | None]] = []
        for label in (*self.labels, *(n for n in known if n not in self.labels)):
            if known.get(label, kind) == kind:
                after = state.but(inner=tuple(sorted({*state.inner, (label, kind)})))
                found.append((label, self._marked(after, kind, mode, ("", label), name)))
        yield from self._joined(found)

    def _need(self, state: State, kind: str, mode: str) -> Iterator[Move]:
        key = state, kind, mode
        known = self._needs.get(key)
        if known is None:
            known = self._needs[key] = any(True for _ in self._column(state, kind, mode))
        if known:
            yield Move(None, (), state)

    def _aggregate(self, state: State) -> Iterator[Move]:
        # what is made of columns and aggregates has no number to be grouped by
        if self.by_number and "p" in state.here.made_of:
            return
        if not self.strict or state.plain is not None:
            yield Move(None, (), state.but(aggregates=True).made_of("a"))

    def _window(self, state: State) -> Iterator[Move]:
        yield Move(None, (), state.made_of("w"))

    def _may_window(self, state: State) -> Iterator[Move]:
        """In front of a window: where columns are grouped by numbers, none that it is made of is."""
        if not self.by_number:
            yield Move(None, (), state)
        elif "p" not in state.here.made_of:
            yield Move(None, (), state.made_of("w"))
        elif not state.aggregates:
            yield Move(None, (), state.but(plain=None).made_of("w"))

    # -- what a query gives ------------------------------------------------------------------------

    def _begin(self, state: State) -> Iterator[Move]:
        yield Move(None, (), state)
        if len(state.around) < _MOST_AROUND and not state.outer and not state.first:
            yield Move(None, (), state.but(inner=()))

    def _distinct(self, state: State) -> Iterator[Move]:
        yield Move(None, (), state.but(distinct=True))

    def _item(self, state: State) -> Iterator[Move]:
        assert state.out is not None
        kinds = self.catalog.kinds
        if state.want is not None:
            wanted = state.want[len(state.out)]
            kinds = kinds if wanted == ANY else (wanted,)
        sort = "item" if state.inner is None else "simple item"
        for kind in kinds:
            if kind in self.catalog.kinds:
                yield Move(None, (self.templates.body(f"{sort} {kind}"),), state)
        apart = tuple(k for k in ("boolean", "named", "opaque") if self.catalog.typed)
        for kind in apart if state.want is None else kinds:
            if kind in apart and not (kind == "opaque" and self.strict and state.distinct):
                step = self.templates.step
                steps = (
                    step("need", kind, "item"),
                    step("item column", kind),
                    step("end item", kind),
                )
                yield Move(None, steps, state)
        if state.want is None and not state.owed:
            yield from self._stars(state)

    def _stars(self, state: State) -> Iterator[Move]:
        """All columns, of all tables or of one."""
        if (self.strict and (state.aggregates or state.distinct)) or state.inner is not None:
            return
        assert state.out is not None
        after = state.but(plain=None) if self.strict else state
        yield Move(Literal(b"*"), (), after.but(out=(*state.out, Output("*"))))
        if state.around:
            return
        for q in self.columns.quals(state, "", "argument"):
            if len(self.catalog.tables) > FEW_TABLES and q in self.catalog.named:
                continue
            before = Seq((self.catalog.spelled_alone(q), _DOT))
            yield Move(before, (self.templates.step("star behind", q),), after)

    def _star_behind(self, state: State, q: str) -> Iterator[Move]:
        """All columns of a table."""
        assert state.out is not None
        after = self.columns.behind(state, q, self.columns.called(state, q, "argument"))
        yield Move(Literal(b"*"), (), after.but(out=(*state.out, Output(f"{q}.*"))))

    def _item_column(self, state: State, kind: str) -> Iterator[Move]:
        return self._column(state, kind, "item", True)

    def _end_item(self, state: State, kind: str, column: bool = True) -> Iterator[Move]:
        assert state.out is not None
        here = state.here._replace(kind=self._told(state, kind))
        if not column:
            here = here._replace(name="", made_of=here.made_of.replace("c", ""))
        if not self.strict:
            here = here._replace(made_of="a" if set("aw") & set(here.made_of) else "")
        if here.name in {one.name for one in state.out}:
            here = here._replace(name="")
        out: tuple[Output, ...] | None = (*state.out, here)
        yield Move(None, (self.templates.step("label"),), state.but(out=out, here=Output()))

    def _told(self, state: State, kind: str) -> str:
        """The kind of a column, as far as it matters what it is: SQLite unites any."""
        assert state.out is not None
        if self.strict or state.around or kind == "opaque":
            return kind
        return ANY if state.want is None else state.want[len(state.out)]

    def _label(self, state: State) -> Iterator[Move]:
        yield Move(None, (), state)
        if state.want is None:
            yield Move(self.text("_ AS _"), (self.templates.step("named"),), state)

    def _named(self, state: State) -> Iterator[Move]:
        assert state.out is not None
        *others, last = state.out
        taken = {one.name for one in others}
        owed = [name for name, kind in state.owed if kind == last.kind]
        for name in dict.fromkeys((*self.labels, *owed)):
            if name not in taken:
                out = (*others, last._replace(name=name))
                yield Move(self.catalog.spelled(name), (), state.but(out=out))
        yield Move(self.free_name, (), state.but(out=(*others, last._replace(name=""))))

    def _item_end(self, state: State) -> Iterator[Move]:
        assert state.out is not None
        count = len(state.out)
        given = {(one.name, one.kind) for one in state.out}
        if (state.want is None or count == len(state.want)) and given.issuperset(state.owed):
            yield Move(None, (), state)
        if state.want is None or count < len(state.want):
            step = self.templates.step
            yield Move(self.text("~ , ~"), (step("item"), step("item end")), self._cut(state))

    def _cut(self, state: State) -> State:
        """A query of many columns: those without names that could be used are counted no more."""
        out = state.out or ()
        if self.strict or state.around or state.want is not None or len(out) < _MOST_COUNTED:
            return state
        named = (one for one in out if one.name and one != OTHERS)
        return state.but(out=(OTHERS, *named))

"""Steps of the clauses from FROM on, and of queries in queries."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.frontends.sql.catalog import OUTSIDE, Derived
from workbench.frontends.sql.items import OTHERS, Items
from workbench.frontends.sql.moves import Move
from workbench.frontends.sql.state import Output, Plain, State
from workbench.grammar.expressions import Alt, Expr, Literal, Seq

__all__ = ["Clauses"]

#: Columns of queries that may be united.
_MOST_UNITED = 8
#: Queries behind one WITH.
_MOST_WITH = 3
_DOT = Literal(b".")


class Clauses(Items):
    """Steps of joins, of grouping and sorting, of united queries and those in brackets."""

    # -- the FROM clause ---------------------------------------------------------------------------

    def _from(self, state: State) -> Iterator[Move]:
        step = self.templates.step
        if state.inner is None:
            yield Move(None, (step("table", ""),), state)
            return
        part, body = self.templates.part, self.templates.body("select")
        within = (step("open"), body, part("~ )"), step("close from"))
        yield Move(None, (part("( ~"), *within), state)

    def _table(self, state: State, how: str) -> Iterator[Move]:
        for table in self.tables.next_tables(state):
            alias = self.templates.step("alias", table, how)
            if table >= 0:
                name = self.catalog.spelled_table(table)
            else:
                name = self.catalog.spelled(self.catalog.own(table, state.derived))
            yield Move(name, (alias,), state)

    def _alias(self, state: State, table: int, how: str) -> Iterator[Move]:
        body, step = self.templates.body, self.templates.step
        following = (body("on"), step("tables")) if how else (step("tables"),)
        own = self.catalog.own(table, state.derived)
        before = Alt((self.text("_"), self.text("_ AS _")))
        for name in self.tables.names(state, table):
            expr = None if name == own else Seq((before, self.catalog.spelled(name)))
            yield Move(expr, following, self.tables.chosen(state, name, table))

    def _may_use(self, state: State) -> Iterator[Move]:
        if self._shared_names(state):
            yield Move(None, (), state)

    def _using(self, state: State) -> Iterator[Move]:
        known = state.out is not None and not any("*" in one.name for one in state.out)
        after = state if known else state.but(out=None)
        for name in self._shared_names(state):
            yield Move(self.catalog.spelled(name), (), after)

    def _shared_names(self, state: State) -> list[str]:
        """The columns that the last table has and one table before it."""
        *before, (_, last) = state.chosen
        found: list[str] = []
        for name, kind in self.catalog.columns(last, state.derived).items():
            kinds = [k for _, t in before if (k := self.tables.kind(state, t, name)) is not None]
            if kinds == [kind] and kind not in ("opaque", "named"):
                found.append(name)
        return found

    def _tables(self, state: State) -> Iterator[Move]:
        step = self.templates.step
        if self.tables.is_complete(state):
            yield Move(None, (step("from end"),), state)
        if next(self.tables.next_tables(state), None) is None:
            return
        if state.joined != "join":
            yield Move(self.text("~ , ~"), (step("table", ""),), state.but(joined="comma"))
        if state.joined != "comma":
            after = state.but(joined="join")
            sides = ["", "INNER _ ", "LEFT _ ", "LEFT _ OUTER _ "]
            if self.strict:
                sides += ["RIGHT _ ", "RIGHT _ OUTER _ "]
            kinds = Alt(tuple(self.text(f"_ {side}JOIN _") for side in sides))
            yield Move(kinds, (step("table", "on"),), after)
            yield Move(self.text("_ CROSS _ JOIN _"), (step("table", ""),), after)

    def _from_end(self, state: State) -> Iterator[Move]:
        """Forget what was needed to choose the tables."""
        plain = None if state.plain is None else self._resolved(state, state.plain)
        out: list[Output] | None = None
        if state.out is not None:
            out = []
            for one in state.out:
                if one.name == "*" or one.name.endswith(".*"):
                    out += self._all_columns(state, one.name)
                else:
                    out.append(one._replace(plain=self._resolved(state, one.plain)))
        made = None if out is None else tuple(out)
        yield Move(None, (), state.but(quals=(), owners=(), bare=(), plain=plain, out=made))

    def _resolved(self, state: State, plain: tuple[Plain, ...]) -> tuple[Plain, ...]:
        """Columns with the names of the tables that they are of."""
        if self.by_number:
            return plain
        names = {q for q, _ in state.chosen}
        found = set()
        for q, name in plain:
            if not q:
                owners = [q for q, t in state.chosen if self.tables.kind(state, t, name)]
                q = owners[0]
            if q in names:
                found.add((q, name))
        return tuple(sorted(found))

    def _all_columns(self, state: State, star: str) -> Iterator[Output]:
        for q, table in state.chosen:
            if star in ("*", f"{q}.*"):
                for name, kind in self.catalog.columns(table, state.derived).items():
                    yield Output(name, kind, "cp", ((q, name),))

    # -- grouping and sorting ----------------------------------------------------------------------

    def _group(self, state: State) -> Iterator[Move]:
        if not (self.strict and state.aggregates and state.plain):
            yield Move(None, (), state)
        if self.strict and (state.plain is None or state.out is None):
            return
        step, body = self.templates.step, self.templates.body("having")
        steps = (step("group key"), step("group end"), body)
        if any(True for _ in self._group_key(state.but(grouped=()))):
            yield Move(self.text("_ GROUP _ BY _"), steps, state.but(grouped=()))

    def _group_key(self, state: State) -> Iterator[Move]:
        assert state.grouped is not None
        if not self.strict:
            yield Move(None, (self.templates.step("known", "key row"),), state)
        else:
            yield from self._grouped_columns(state)
        names = self.columns.bare_names(self.scope(state.but(grouped=None, aggregates=False)))
        for number, one in enumerate(state.out or ()):
            key = "", f"#{number}"
            made_of = set("aw") & set(one.made_of)
            if made_of or one.kind == "opaque" or key in state.grouped or one == OTHERS:
                continue
            after = state
            if self.strict:
                after = state.but(grouped=tuple(sorted({*state.grouped, key})))
            if OTHERS not in (state.out or ()):
                yield Move(Literal(b"%d" % (number + 1)), (), after)
            if one.name and one.name not in names and self._is_single(state, one):
                yield Move(self.catalog.spelled(one.name), (), after)

    def _is_single(self, state: State, wanted: Output) -> bool:
        """Whether no other column that is given has the name, and none of the tables."""
        return [one.name for one in state.out or ()].count(wanted.name) == 1 and (
            "c" not in wanted.made_of or wanted.name in self.labels
        )

    def _grouped_columns(self, state: State) -> Iterator[Move]:
        """Columns of the tables that rows are not grouped by yet."""
        assert state.grouped is not None
        if self.by_number and state.plain:
            return
        scope = self.scope(state.but(grouped=None, aggregates=False))
        names = self.columns.bare_names(scope)
        for q, table in state.chosen:
            for name, kind in self.catalog.columns(table, state.derived).items():
                if (q, name) in state.grouped or kind == "opaque":
                    continue
                spelled: list[Expr] = [
                    Seq((self.catalog.spelled(q), _DOT, self.catalog.spelled(name)))
                ]
                if names.get(name, ("", ""))[0] == q:
                    spelled.append(self.catalog.spelled(name))
                after = state.but(grouped=tuple(sorted({*state.grouped, (q, name)})))
                yield Move(Alt(tuple(spelled)), (), after)

    def _group_end(self, state: State) -> Iterator[Move]:
        assert state.grouped is not None
        done = not self.strict or all(
            ("", f"#{number}") in state.grouped or set(one.plain) <= set(state.grouped)
            for number, one in enumerate(state.out or ())
        )
        if done:
            yield Move(None, (), state)
        if any(True for _ in self._group_key(state)):
            step = self.templates.step
            yield Move(self.text("~ , ~"), (step("group key"), step("group end")), state)

    def _unite(self, state: State) -> Iterator[Move]:
        out = state.out
        yield Move(None, (), state)
        if not out or len(out) > _MOST_UNITED or OTHERS in out:
            return
        if {one.kind for one in out} & {"opaque", "named"}:
            return
        after = State(
            outer=state.outer,
            derived=state.derived,
            want=tuple(one.kind for one in out),
            owed=(),
            first=state.first or tuple(Output(one.name, one.kind) for one in out),
            around=state.around,
        )
        signs = ("UNION", "UNION _ ALL", "INTERSECT", "EXCEPT")
        expr = Alt(tuple(self.text(f"_ {sign} _") for sign in signs))
        core, again = self.templates.body("core"), self.templates.step("unite")
        yield Move(expr, (core, again), after)

    def _given(self, state: State) -> tuple[Output, ...]:
        """The columns that the whole query gives."""
        return state.first or state.out or ()

    def _is_sorted_by_columns(self, state: State) -> bool:
        return not state.first and not (self.strict and state.distinct)

    def _may_order(self, state: State) -> Iterator[Move]:
        if any(True for _ in self._order_key(state)):
            yield Move(None, (), state)

    def _order_key(self, state: State) -> Iterator[Move]:
        given = self._given(state)
        names = [one.name for one in given]
        by_columns = self._is_sorted_by_columns(state)
        if by_columns:
            grouped = state.aggregates or state.grouped is not None
            key = "key group" if grouped else "key row"
            yield Move(None, (self.templates.step("known", key),), state)
        for number, one in enumerate(given):
            if one.kind == "opaque" or one == OTHERS:
                continue
            if OTHERS not in given:
                yield Move(Literal(b"%d" % (number + 1)), (), state)
            free = one.name in self.labels or not by_columns
            if one.name and names.count(one.name) == 1 and free:
                yield Move(self.catalog.spelled(one.name), (), state)

    # -- queries in queries ------------------------------------------------------------------------

    def _query(self, state: State) -> Iterator[Move]:
        """A query, or first some that it uses by names."""
        step, select = self.templates.step, self.templates.body("select")
        yield Move(None, (select,), state)
        yield Move(self.text("WITH _"), (step("with"),), state)

    def _with(self, state: State) -> Iterator[Move]:
        part, step, select = self.templates.part, self.templates.step, self.templates.body("select")
        taken = {one.name for one in state.derived}
        for name in self.query_names:
            if name not in taken:
                within = (part("_ AS ~ ( ~"), step("open"), select, part("~ )"))
                yield Move(self.catalog.spelled(name), (*within, step("close with", name)), state)

    def _open(self, state: State) -> Iterator[Move]:
        inner = State(derived=state.derived, owed=state.inner or (), around=(*state.around, state))
        yield Move(None, (), inner)

    def _closed(self, state: State, name: str) -> State:
        """The query around, with what the one inside gives."""
        columns = tuple((one.name, one.kind) for one in self._given(state) if "*" not in one.name)
        around = state.around[-1]
        return around.but(derived=(*around.derived, Derived(name, columns)))

    def _close_with(self, state: State, name: str) -> Iterator[Move]:
        after = self._closed(state, name)
        step, select = self.templates.step, self.templates.body("select")
        yield Move(self.text("_"), (select,), after)
        if len(after.derived) < _MOST_WITH:
            yield Move(self.text("~ , ~"), (step("with"),), after)

    def _close_from(self, state: State) -> Iterator[Move]:
        before = Alt((self.text("_"), self.text("_ AS _")))
        taken = {one.name for one in state.derived}
        for name in self.query_names:
            if name not in taken:
                after = self._closed(state, name)
                number = OUTSIDE - len(after.derived)
                plain = None if after.plain is None else tuple((name, n) for _, n in after.plain)
                out = tuple(
                    one._replace(plain=tuple((name, n) for _, n in one.plain))
                    for one in after.out or ()
                )
                after = after.but(inner=None, chosen=((name, number),), plain=plain, out=out)
                yield Move(Seq((before, self.catalog.spelled(name))), (), after)

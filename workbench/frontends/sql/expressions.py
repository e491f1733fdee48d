"""Templates of values and conditions.

There is a template for each kind of value and each place: in a "row" stand columns alone, in an "argument" of an
aggregate those of the query itself; in a "group" aggregates too; in an "item" of the SELECT list windows as well.
"deep" is inside such an item. What operators bind first changes no statement that is written, so that a value is a
chain of operands; which kinds an operator takes, and that comparisons are not chained, is what the grammar has to say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from workbench.frontends.sql.catalog import Catalog
from workbench.frontends.sql.dialects import ANY, Function
from workbench.frontends.sql.nodes import Node, Templates
from workbench.grammar.expressions import Expr

__all__ = ["Expressions", "define_expressions"]

MODES = ("row", "argument", "deep", "group", "item")
#: where no aggregates stand
_SINGLE = MODES[:3]
#: Kinds of columns that are no operands of anything: those that are compared to texts, and all others.
_APART = ("boolean", "named", "opaque")
_WINDOWS = ("row_number", "rank", "dense_rank")
_SHIFTS = ("lag", "lead")


def define_expressions(
    templates: Templates, catalog: Catalog, parameter: Expr | None, functions: Iterable[str]
) -> Expressions:
    """Define ``value``, ``key`` and ``condition`` for every kind and mode, ``right`` for what is compared to."""
    own = tuple(Function(name, (f"{ANY}...",), "K") for name in functions)
    made = Expressions(templates, catalog, parameter, own)
    for mode in MODES:
        for kind in catalog.kinds:
            made.values(kind, mode)
        templates.define(f"condition {mode}", made.condition(mode))
        templates.define(f"key {mode}", made.key(mode))
        templates.define(f"open key {mode}", made.open_key(mode))
    return made


class Expressions:
    """Makes the templates of one grammar."""

    def __init__(
        self,
        templates: Templates,
        catalog: Catalog,
        parameter: Expr | None,
        own: tuple[Function, ...],
    ) -> None:
        self.t = templates
        self.lexis = templates.lexis
        self.kinds = catalog.kinds
        self.dialect = catalog.dialect
        self.postgres = catalog.dialect.folds
        self.own = own
        self.apart = tuple(k for k in _APART if catalog.typed and (k == "opaque" or self.postgres))
        self.parameter = None if parameter is None else templates.fixed(parameter)
        self.string = templates.fixed(self.lexis.string)
        self.count = templates.fixed(self.lexis.count)
        self.unit = templates.fixed(self.lexis.unit)

    # -- values ------------------------------------------------------------------------------------

    def values(self, kind: str, mode: str) -> None:
        """Define the value of a kind, its operands, and the value that begins with no column."""
        t = self.t
        operand, other = f"operand {kind} {mode}", f"other {kind} {mode}"
        t.define(f"closed {kind} {mode}", t.any_of(self.closed(kind, mode)))
        t.define(other, t.any_of(self.others(kind, mode)))
        casts = self.type_names(kind) if self.postgres else ()
        cast = [t.opt("::", t.any_of(map(self.lexis.words, casts)))] if casts else []
        signed = [t.opt("- ~")] if kind in ("number", ANY) else []
        column, plain = t.step("column", kind, mode), t.call(other)
        t.define(operand, t.seq(t.alt(column, plain), *cast))
        later = t.seq(t.any_of(self.later(kind)), *cast) if mode == "item" else t.call(operand)
        more = self.more(kind, later)
        t.define(f"more {kind} {mode}", more)
        after = [t.call(f"more {kind} {mode}")]
        # what begins with a sign begins with no column that could be meant alone
        first = t.seq(plain, *cast)
        begun = t.alt(first, t.seq("- ~", later)) if signed else first
        t.define(f"built {kind} {mode}", t.seq(begun, t.star(*after)))
        t.define(f"value {kind} {mode}", t.seq(*signed, t.call(operand), t.star(*after)))
        if casts:
            t.define(f"cast {kind}", t.seq("::", t.any_of(map(self.lexis.words, casts))))
        t.define(f"right {kind} {mode}", t.any_of(self.right(kind, mode)))
        t.define(f"open value {kind} {mode}", t.any_of(self.open_value(kind, mode)))
        rights = [t.step("column", kind, mode), t.step("certain", f"built right {kind}", mode)]
        t.define(f"open right {kind} {mode}", t.alt(*rights))
        built = [t.call(f"built {kind} {mode}"), *list(self.right(kind, mode))[1:]]
        t.define(f"built right {kind} {mode}", t.any_of(built))

    def later(self, kind: str) -> Iterator[Node]:
        """The operands behind an operator in the SELECT list; brackets and cases are about tables that are known."""
        yield self.t.step("column", kind, "item")
        yield self.t.step("certain", f"closed {kind}", "item")
        yield from self.functions(kind, "item")
        yield from self.aggregates(kind)
        yield from self.windows(kind)

    def open_value(self, kind: str, mode: str) -> Iterator[Node]:
        """A value in brackets where a column may still decide on the tables: it begins with one, or all are known."""
        t = self.t
        column, known = t.step("column", kind, mode), t.step("certain", f"other {kind}", mode)
        yield t.seq(column, t.star(self.more(kind, t.alt(column, known))))
        yield t.step("certain", f"built {kind}", mode)
        if mode in ("argument", "item"):
            yield next(self.cases(kind, mode))
        if mode == "item":
            aggregates = t.any_of(self.aggregates(kind))
            yield t.seq(aggregates, t.star(self.more(kind, t.alt(column, known))))

    def more(self, kind: str, operand: Node) -> Node:
        """An operator with what stands behind it."""
        t, parts = self.t, []
        if kind in ("number", ANY):
            signs = ["+", "-", "*", "/"] if self.postgres else ["+", "-", "*", "/", "%"]
            # a sign behind an operator stands apart: "--" begins a comment
            parts.append(
                t.seq("~", t.alt(*signs), t.alt(t.seq("~", operand), t.seq("_ - ~", operand)))
            )
        if kind in ("text", ANY):
            parts.append(t.seq("~ || ~", operand))
        if self.postgres and kind in ("time", ANY):
            parts.append(t.seq("~", t.alt("+", "-"), "~ INTERVAL _", t.fixed(self.lexis.span)))
        return t.any_of(parts)

    def others(self, kind: str, mode: str) -> Iterator[Node]:
        """The operands that are no columns."""
        yield from self.closed(kind, mode)
        yield from self.functions(kind, mode)
        if mode not in _SINGLE:
            yield from self.aggregates(kind)
        if mode == "item":
            yield from self.windows(kind)

    def closed(self, kind: str, mode: str) -> Iterator[Node]:
        """Those that are no functions."""
        t = self.t
        yield self.literal(kind)
        if self.parameter is not None and not self.postgres:
            yield self.parameter
        within = t.alt(t.call(f"value {kind} {mode}", inside=True), t.step("subquery", kind))
        yield t.seq("( ~", within, "~ )")
        yield from self.cases(kind, mode)
        yield from self.casts(kind, mode)

    def type_names(self, kind: str) -> tuple[str, ...]:
        """The types of values of a kind."""
        every = tuple(name for names in self.dialect.casts.values() for name in names)
        return every if kind == ANY else self.dialect.casts[kind]

    def literal(self, kind: str) -> Node:
        """The constants of a kind."""
        t, found = self.t, []
        if kind in ("number", ANY):
            found.append(t.fixed(self.lexis.number))
            if not self.postgres:
                found += [t.part("TRUE"), t.part("FALSE")]
        if kind in ("text", ANY):
            found.append(self.string)
        if self.postgres and kind in ("time", ANY):
            found += [t.seq("DATE _", t.fixed(self.lexis.day))]
            found += [t.seq("TIMESTAMP _", t.fixed(self.lexis.moment))]
        for whose, words in self.dialect.current.items():
            if kind in (whose, ANY):
                found += map(t.part, words)
        return t.any_of(found)

    def right(self, kind: str, mode: str) -> Iterator[Node]:
        """What a value is compared to."""
        yield self.t.call(f"value {kind} {mode}")
        if kind == "time":
            yield self.t.fixed(self.lexis.moment)
        if self.postgres and self.parameter is not None:
            yield self.parameter

    def cases(self, kind: str, mode: str) -> Iterator[Node]:
        t = self.t
        result = t.call(f"value {kind} {mode}", inside=True)
        ending = t.seq(t.opt("_ ELSE _", t.alt(result, "NULL")), "_ END")
        within = mode if mode in _SINGLE else "group"
        condition = t.call(f"condition {within}", inside=True)
        yield t.seq("CASE", t.plus("_ WHEN _", condition, "_ THEN _", result), ending)
        for other in self.kinds:
            column = t.step("column", other, within)
            arm = t.plus("_ WHEN _", self.literal(other), "_ THEN _", result)
            yield t.seq(t.step("need", other, within), "CASE _", column, arm, ending)

    def casts(self, kind: str, mode: str) -> Iterator[Node]:
        t = self.t
        for result, names in self.dialect.casts.items():
            if kind not in (result, ANY):
                continue
            behind = t.seq("_ AS _", t.any_of(map(self.lexis.words, names)), "~ )")
            for source in self.kinds:
                given = t.call(f"value {source} {mode}", inside=True)
                if not self.postgres or source in (result, ANY) or result == "text":
                    yield t.seq("CAST ( ~", given, behind)
                elif source == "text":
                    need = t.step("need", source, mode)
                    yield t.seq(need, "CAST ( ~", t.step("column", source, mode), behind)

    # -- functions ---------------------------------------------------------------------------------

    def functions(self, kind: str, mode: str) -> Iterator[Node]:
        t = self.t
        yield from self.applications((*self.dialect.functions, *self.own), kind, mode)
        if self.postgres and kind in ("number", ANY):
            given = t.call(f"value {self.kind('number')} {mode}", inside=True)
            cast = t.seq("CAST ( ~", given, "_ AS _ NUMERIC ~ )")
            yield t.seq("ROUND ( ~", cast, "~ , ~", self.count, "~ )")
            units = t.alt("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "DOW")
            when = t.call(f"value {self.kind('time')} {mode}", inside=True)
            yield t.seq("EXTRACT ( ~", units, "_ FROM _", when, "~ )")

    def applications(
        self, functions: Iterable[Function], kind: str, mode: str, *, distinct: bool = False
    ) -> Iterator[Node]:
        """Those functions that have a value of a kind, with their arguments.

        What takes the same arguments is one alternative: so behind any of them the text goes on by the same rule.
        """
        t = self.t
        by_arguments: dict[tuple[str, ...], list[str]] = {}
        for one in functions:
            if one.value in ("K", kind) or kind == ANY:
                wanted = [self.wanted(argument, kind) for argument in one.arguments]
                by_arguments.setdefault(tuple(wanted), []).append(one.name)
        for arguments, names in by_arguments.items():
            if not arguments:
                yield t.any_of(f"{name} ( ~ )" for name in names)
                continue
            parts: list[Node | str] = []
            for argument in arguments:
                node = self.argument(argument.removesuffix("..."), mode)
                parts += ["~ , ~", t.listed(node) if argument.endswith("...") else node]
            begun = t.any_of(f"{name} ( ~" for name in names)
            first = [t.opt("DISTINCT _")] if distinct and len(arguments) == 1 else []
            yield t.seq(begun, *first, *parts[1:], "~ )")

    def wanted(self, argument: str, kind: str) -> str:
        """The kind of an argument where the value is of a kind."""
        plain = argument.removesuffix("...")
        dots = argument[len(plain) :]
        if plain in ("int", "string", "unit", "condition", ANY):
            return argument
        return (kind if plain == "K" else self.kind(plain)) + dots

    def kind(self, kind: str) -> str:
        """A kind, or that of all values where columns have no types."""
        return kind if kind in self.kinds else self.kinds[0]

    def argument(self, argument: str, mode: str) -> Node:
        t = self.t
        fixed = {"int": self.count, "string": self.string, "unit": self.unit}.get(argument)
        if fixed is not None:
            return fixed
        if argument == "condition":
            within = mode if mode in _SINGLE else "group"
            return t.call(f"condition {within}", inside=True)
        if argument == ANY:
            return t.any_of(t.call(f"value {k} {mode}", inside=True) for k in self.kinds)
        return t.call(f"value {argument} {mode}", inside=True)

    def aggregates(self, kind: str) -> Iterator[Node]:
        """Functions of many rows, over values of a row."""
        t = self.t
        begun = t.step("aggregate")
        some = t.opt("_ FILTER ~ ( ~ WHERE _", t.call("condition argument", inside=True), "~ )")
        every = self.dialect.aggregates
        if kind == ANY:
            every = (Function("count", (ANY,), "number"), *every)
        if kind in ("number", ANY):
            yield t.seq(begun, "COUNT ( ~ * ~ )", some)
        if kind == "number":
            yield t.seq(begun, "COUNT ( ~", self.counted(), "~ )", some)
        for applied in self.applications(every, kind, "argument", distinct=True):
            yield t.seq(begun, applied, some)

    def simple_aggregates(self, kind: str) -> Iterator[Node]:
        """Those of one column, or of all rows."""
        t = self.t
        begun = t.step("aggregate")
        if kind in ("number", ANY):
            yield t.seq(begun, "COUNT ( ~ * ~ )")
        names = [
            one.name
            for one in self.dialect.aggregates
            if len(one.arguments) == 1 and (one.value in ("K", kind) or kind == ANY)
        ]
        column = t.step("column", kind, "argument")
        yield t.seq(begun, t.any_of(f"{name} ( ~" for name in names), column, "~ )")

    def counted(self) -> Node:
        """What may be counted, where kinds are told apart."""
        t, found = self.t, []
        for kind in (*self.kinds, *self.apart):
            node = t.call(f"value {kind} argument", inside=True)
            needed: list[Node] = []
            if kind in self.apart:
                node = t.step("column", kind, "argument")
                # in front of all words: where there is no such column they lead nowhere
                needed = [t.step("need", kind, "argument")]
            found.append(t.seq(*needed, node))
            if kind != "opaque":
                found.append(t.seq(*needed, "DISTINCT _", node))
        return t.any_of(found)

    def windows(self, kind: str) -> Iterator[Node]:
        """Functions of the rows around one."""
        t = self.t
        keys = t.listed(t.call("key group", inside=True))
        order = t.seq(
            "ORDER _ BY _", t.listed(t.seq(t.call("key group", inside=True), self.order()))
        )
        divided = t.seq("PARTITION _ BY _", keys)
        within = t.alt(t.seq(divided, t.opt("_", order)), order)
        over = t.seq(t.step("window"), "_ OVER ~ ( ~", t.alt(t.seq(within, "~ )"), ")"))
        begun = t.step("may window")
        if kind in ("number", ANY):
            yield t.seq(begun, t.any_of(f"{name} ( ~ )" for name in _WINDOWS), over)
            yield t.seq(begun, "COUNT ( ~ * ~ )", over)
        given = t.call(f"value {kind} group", inside=True)
        shifted = t.any_of(f"{name} ( ~" for name in _SHIFTS)
        yield t.seq(begun, shifted, given, t.opt("~ , ~", self.count), "~ )", over)
        sums = ["min", "max", "first_value", "last_value"]
        sums += ["sum", "avg", "count"] if kind in ("number", ANY) else []
        yield t.seq(begun, t.any_of(f"{name} ( ~" for name in sums), given, "~ )", over)

    def order(self) -> Node:
        """The direction of a key."""
        t = self.t
        return t.seq(t.opt("_", t.alt("ASC", "DESC")), t.opt("_ NULLS _", t.alt("FIRST", "LAST")))

    def key(self, mode: str) -> Node:
        """What rows are sorted or divided by: no constant, which would be the number of a column."""
        t = self.t
        found: list[Node] = []
        built: list[Node] = []
        for kind in self.kinds:
            more = t.star(t.call(f"more {kind} {mode}"))
            found.append(t.seq(t.step("column", kind, mode), more))
            parts = [*self.functions(kind, mode), *self.cases(kind, mode)]
            if mode not in _SINGLE:
                parts += self.aggregates(kind)
            built.append(t.seq(t.any_of(parts), more))
        found += [t.step("column", kind, mode) for kind in self.apart if kind != "opaque"]
        t.define(f"built key {mode}", t.any_of(built))
        return t.any_of((*found, t.call(f"built key {mode}")))

    def open_key(self, mode: str) -> Node:
        """The same where a column may still decide on the tables."""
        t = self.t
        columns = (t.step("column", kind, mode) for kind in (*self.kinds, *self.apart[:2]))
        return t.any_of((*columns, t.step("certain", "built key", mode)))

    # -- conditions --------------------------------------------------------------------------------

    def condition(self, mode: str) -> Node:
        t = self.t
        t.define(f"predicate {mode}", t.any_of(self.predicates(mode)))
        self.open_condition(mode)
        inner = t.seq("( ~", t.call(f"condition {mode}", inside=True), "~ )")
        predicate = t.call(f"predicate {mode}")
        one = t.alt(predicate, t.seq("NOT _", predicate), inner, t.seq("NOT ~", inner))
        return t.seq(one, t.star("_", t.alt("AND", "OR"), "_", one))

    def open_condition(self, mode: str) -> None:
        """Define a condition in which a column may still decide on the tables."""
        t = self.t
        parts: list[Node] = list(self.apart_predicates(mode))
        for kind in self.kinds:
            column = t.step("column", kind, mode)
            parts.append(t.seq(column, self.comparison(kind, mode)))
            parts += self.alone(kind, mode)
        built = [t.seq(t.call(f"built {k} {mode}"), self.comparison(k, mode)) for k in self.kinds]
        built.append(t.seq("EXISTS ~ ( ~", t.step("subquery", ""), "~ )"))
        inner = t.seq("( ~", t.call(f"condition {mode}", inside=True), "~ )")
        built += [inner, t.seq("NOT ~", inner), t.seq("NOT _", t.call(f"predicate {mode}"))]
        t.define(f"built condition {mode}", t.any_of(built))
        one = t.alt(*parts, t.step("certain", "built condition", mode))
        t.define(f"open condition {mode}", t.seq(one, t.star("_", t.alt("AND", "OR"), "_", one)))

    def alone(self, kind: str, mode: str) -> list[Node]:
        """Columns that are conditions by themselves."""
        if kind == ANY or (kind == "number" and not self.postgres):
            return [self.t.step("column", kind, mode)]
        return []

    def predicates(self, mode: str) -> Iterator[Node]:
        t = self.t
        for kind in self.kinds:
            yield t.seq(t.call(f"value {kind} {mode}"), self.comparison(kind, mode))
            yield from self.alone(kind, mode)
        yield t.seq("EXISTS ~ ( ~", t.step("subquery", ""), "~ )")
        yield from self.apart_predicates(mode)
        if "boolean" in self.apart:
            yield t.alt("TRUE", "FALSE")

    def apart_predicates(self, mode: str) -> Iterator[Node]:
        """What is said of columns whose values are no operands."""
        t = self.t
        for kind in self.apart:
            need, column = t.step("need", kind, mode), t.step("column", kind, mode)
            tails: list[Node] = [self.is_null()]
            if kind == "boolean":
                truth = t.alt("TRUE", "FALSE")
                tails += [t.seq("~ = ~", truth), t.seq("_ IS _", t.opt("NOT _"), truth)]
                yield t.seq(need, column)
            elif kind == "named":
                given = (
                    self.string if self.parameter is None else t.alt(self.string, self.parameter)
                )
                tails.append(t.seq("~", t.alt("=", "<>"), "~", given))
                tails.append(t.seq(self.maybe_not("IN"), "~ ( ~", t.listed(given), "~ )"))
            yield t.seq(need, column, t.any_of(tails))

    def maybe_not(self, *words: str) -> Node:
        t = self.t
        return t.seq("_", t.opt("NOT _"), t.alt(*words))

    def is_null(self) -> Node:
        t = self.t
        return t.seq("_ IS _", t.opt("NOT _"), "NULL")

    def comparison(self, kind: str, mode: str) -> Node:
        """What is said of a value."""
        t = self.t
        right = t.call(f"right {kind} {mode}", inside=True)
        # with a sign behind it "!=" would be another operator of PostgreSQL
        unequal = "!= _" if self.postgres else "!= ~"
        signs = t.seq("~", t.alt("= ~", "< ~", "<= ~", "> ~", ">= ~", "<> ~", unequal))
        several = t.alt(t.listed(right), t.step("subquery", kind))
        parts = [
            t.seq(signs, right),
            self.is_null(),
            t.seq(self.maybe_not("BETWEEN"), "_", right, "_ AND _", right),
            t.seq(self.maybe_not("IN"), "~ ( ~", several, "~ )"),
        ]
        if kind in ("text", ANY):
            like = self.maybe_not("LIKE", "ILIKE" if self.postgres else "GLOB")
            parts.append(t.seq(like, "_", right))
        return t.any_of(parts)

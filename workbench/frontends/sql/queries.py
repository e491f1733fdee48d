"""Templates of statements: their clauses in order."""

from __future__ import annotations

from workbench.frontends.sql.catalog import Catalog
from workbench.frontends.sql.expressions import Expressions
from workbench.frontends.sql.nodes import Node, Templates
from workbench.grammar.expressions import Expr

__all__ = ["define_queries"]


def define_queries(
    templates: Templates, catalog: Catalog, parameter: Expr | None, expressions: Expressions
) -> None:
    """Define ``query``, what it is made of, and the queries in expressions."""
    t = templates
    for kind in catalog.kinds:
        column = t.step("item column", kind)
        more = t.call(f"more {kind} item")
        ended = t.step("end item", kind, False)
        casts = [t.opt(t.call(f"cast {kind}"))] if catalog.dialect.folds else []
        after = [t.seq(t.plus(more), ended)]
        if casts:
            after.append(t.seq(t.call(f"cast {kind}"), t.star(more), ended))
        simple = t.seq(column, t.alt(t.step("end item", kind), *after))
        t.define(f"item {kind}", t.alt(simple, t.seq(t.call(f"built {kind} item"), ended)))
        simple = t.seq(column, t.step("end item", kind))
        aggregates = t.alt(*expressions.simple_aggregates(kind))
        t.define(f"simple item {kind}", t.alt(simple, t.seq(aggregates, ended)))
    t.define(
        "on",
        t.alt(
            t.seq("_ ON _", t.step("joined on")),
            t.seq(t.step("may use"), "_ USING ~ ( ~", t.step("using"), "~ )"),
        ),
    )
    where = t.opt("_ WHERE _", t.step("known", "condition row"))
    t.define("having", t.opt("_ HAVING _", t.step("known", "condition group")))
    t.define(
        "core",
        t.seq(
            t.step("begin"),
            "SELECT _",
            t.opt("DISTINCT _", t.step("distinct")),
            t.step("item"),
            t.step("item end"),
            "_ FROM _",
            t.step("from"),
            where,
            t.step("group"),
        ),
    )
    direction = t.seq(t.opt("_", t.alt("ASC", "DESC")), t.opt("_ NULLS _", t.alt("FIRST", "LAST")))
    key = t.seq(t.step("order key"), direction)
    order = t.opt(t.step("may order"), "_ ORDER _ BY _", t.listed(key))
    number = t.fixed(t.lexis.count)
    if parameter is not None:
        number = t.alt(number, t.fixed(parameter))
    limit = t.opt("_ LIMIT _", number, t.opt("_ OFFSET _", number))
    t.define("select", t.seq(t.body("core"), t.step("unite"), order, limit))
    t.define("subquery", t.body("select"))
    t.define(
        "existing",
        t.seq("SELECT _", t.alt("1", "*"), "_ FROM _", t.step("from"), where),
    )
    t.define("query", t.step("query"))
    _define_changes(templates, catalog, parameter, where)


def _define_changes(
    templates: Templates, catalog: Catalog, parameter: Expr | None, where: Node
) -> None:
    t = templates
    no_value: list[Node | str] = ["NULL"]
    if parameter is not None:
        no_value.append(t.fixed(parameter))
    for kind in catalog.kinds:
        t.define(f"given {kind}", t.alt(t.call(f"right {kind} row"), "NULL"))
    t.define("given boolean", t.alt("TRUE", "FALSE", *no_value))
    t.define("given named", t.alt(t.fixed(t.lexis.string), *no_value))
    t.define("given opaque", t.alt(*no_value))
    target = t.step("target")
    t.define("insert", t.seq("INSERT _ INTO _", target, "~ ( ~", t.step("into")))
    t.define("update", t.seq("UPDATE _", target, "_ SET _", t.step("set"), where))
    t.define("delete", t.seq("DELETE _ FROM _", target, where))

"""What a grammar of SQL leaves out of what its dialect has, in words: the outcomes of a grammar."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from workbench.frontends.sql.catalog import FEW_TABLES, Catalog
from workbench.grammar.ir import Outcome
from workbench.wording import number_of

__all__ = ["outcomes"]


def outcomes(catalog: Catalog, most_tables: int, statements: Sequence[str]) -> tuple[Outcome, ...]:
    """What is enforced, and what is left out."""
    return tuple(_outcomes(catalog, most_tables, statements))


def _outcomes(catalog: Catalog, most_tables: int, statements: Sequence[str]) -> Iterator[Outcome]:
    yield Outcome(
        "tables", "columns", "enforced", "every column is one of a table in the FROM clause"
    )
    if catalog.typed:
        yield Outcome("tables", "types", "enforced", "values are compared to those of their kind")
    elif catalog.some_typed:
        warning = "types say nothing as long as some columns have none: give each one"
        yield Outcome("tables", "types", "annotation", "some columns have no type", warning=warning)
    else:
        yield Outcome("tables", "types", "annotation", "columns have no types: any may be compared")
    for keyword, detail in _left_out(catalog, most_tables):
        yield Outcome("statements", keyword, "restricted", detail, ("values",))
    if catalog.dialect.strict:
        detail = (
            "columns beside aggregates are grouped, by their names or by the numbers of columns"
        )
        yield Outcome("statements", "GROUP BY", "enforced", detail)
    others = [one for one in ("select", "insert", "update", "delete") if one not in statements]
    if others:
        detail = f"no {', '.join(one.upper() for one in others)}"
        yield Outcome("statements", "statements", "enforced", detail)


def _left_out(catalog: Catalog, most_tables: int) -> Iterator[tuple[str, str]]:
    yield (
        "FROM",
        f"at most {number_of(most_tables, 'table')}; joined by commas or by JOIN, not by both; "
        "no NATURAL and no FULL JOIN",
    )
    yield (
        "alias",
        "aliases of tables are t1, t2 and so on, or the letters that the words of a name begin with",
    )
    yield (
        "subquery",
        "a subquery names tables of the query around it, not of those further out",
    )
    yield "WITH", "not recursive, and at most 3 queries; brackets in FROM stand there alone"
    yield (
        "column",
        "in brackets in front of FROM, a column of a further table comes first, or first in an aggregate; "
        "behind an operator brackets and CASE have none",
    )
    if len(catalog.tables) > FEW_TABLES:
        yield "column", "once a table is known, columns of another one have a name before them"
    if catalog.dialect.strict and len(catalog.tables) > FEW_TABLES:
        yield "GROUP BY", "columns beside aggregates are grouped by the numbers of columns"
        yield "ORDER BY", "with DISTINCT by the numbers of columns"
    elif catalog.dialect.strict:
        yield "GROUP BY", "no expressions, and at most 6 columns beside aggregates"

"""The front end for SQL: tables and options in, a grammar with its outcomes out.

>>> grammar = sql({"orders": ["id", "total"], "customers": ["id", "name"]})
>>> from workbench.engine.matching import match
>>> match(grammar, "SELECT name FROM customers WHERE id = 7") is not None
True
>>> match(grammar, "SELECT name FROM orders") is not None
False
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Literal as TypingLiteral

from workbench.collector import CollectorWaits
from workbench.frontends.sql.catalog import Catalog
from workbench.frontends.sql.dialects import DIALECTS, Dialect
from workbench.frontends.sql.expressions import define_expressions
from workbench.frontends.sql.lexis import Lexis
from workbench.frontends.sql.limits import outcomes
from workbench.frontends.sql.nodes import Templates
from workbench.frontends.sql.queries import define_queries
from workbench.frontends.sql.state import State
from workbench.frontends.sql.steps import Steps
from workbench.frontends.sql.writer import Writer
from workbench.grammar.expressions import Alt, Expr, Literal
from workbench.grammar.fingerprint import content_key
from workbench.grammar.ir import Grammar
from workbench.inputs import need_at_least, wrong_type

__all__ = ["sql"]

#: Names that any query may give.
_LABELS = ("n", "total", "average", "lowest", "highest", "result")
_STATEMENTS = ("select", "insert", "update", "delete")
_WHITESPACE = ("any", "single")
_KEYWORDS = ("both", "upper", "lower")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_MOST_TABLES = 8


def sql(  # noqa: PLR0913 - options, by keyword
    tables: Mapping[str, Iterable[str] | Mapping[str, str | None]],
    *,
    dialect: TypingLiteral["sqlite", "postgres"] = "sqlite",
    statements: Iterable[str] = ("select",),
    max_tables: int = 4,
    names: Iterable[str] = (),
    functions: Iterable[str] = (),
    parameters: int | Iterable[str] = 0,
    semicolon: bool = False,
    whitespace: TypingLiteral["any", "single"] = "any",
    keywords: TypingLiteral["both", "upper", "lower"] = "both",
) -> Grammar:
    """Make a grammar of the SQL statements over some tables: one statement, no comment, no other table or column.

    ``tables`` are columns by table: names, or types by name. Where every column has a type, values are compared to
    those of their kind, and functions get what they take. ``shop.orders`` is a table in a schema. Names are data:
    they are quoted where the dialect asks for it.

    ``statements`` are of "select" (with WITH and set operations), "insert", "update", "delete". A FROM clause joins
    up to ``max_tables`` tables. Queries may name their columns (AS) and what stands in brackets or behind WITH by
    ``names``, and use these names; any other name of a column may be given and not be used. ``functions`` are
    names beside the usual ones of the dialect, for any number of values. ``parameters`` are how many the statement
    has (``?1``, ``$1``), or names (``:name``, SQLite alone). ``semicolon`` lets one end the statement. What the
    grammar leaves out is among its outcomes.

    Raises ``WrongType``, and ``ValueError`` for no tables, a table without columns, a name that is empty, has NUL in
    it or is there twice, and an option that there is not.
    """
    chosen = _dialect(dialect)
    kinds = _several(statements, "statements", _STATEMENTS)
    most = need_at_least(1, max_tables, "sql(max_tables=…)")
    if most > _MOST_TABLES:
        raise ValueError(f"sql(max_tables=…) takes at most {_MOST_TABLES}, not {most}")
    own = _names(functions, "functions")
    labels = _labels(names, chosen)
    space = _one_of(whitespace, "whitespace", _WHITESPACE)
    letters = _one_of(keywords, "keywords", _KEYWORDS)
    parameter, told = _parameter(parameters, chosen)
    with CollectorWaits():
        catalog = Catalog(tables, chosen, [f"t{number}" for number in range(1, most + 1)])
        templates = Templates(Lexis(chosen, space, letters))
        made = define_expressions(templates, catalog, parameter, own)
        define_queries(templates, catalog, parameter, made)
        starts = ["query" if kind == "select" else kind for kind in kinds]
        ending = [templates.opt("~ ;")] if semicolon else []
        statement = templates.alt(*(templates.body(start) for start in starts))
        templates.define("statement", templates.seq(statement, *ending))
        taken = {*catalog.dialect.reserved, *catalog.aliases}
        usable = tuple(one for one in dict.fromkeys((*_LABELS, *labels)) if one not in taken)
        steps = Steps(templates, catalog, most, usable)
        given = [
            catalog.content,
            dialect,
            kinds,
            most,
            labels,
            own,
            told,
            semicolon,
            space,
            letters,
        ]
        key = content_key("sql", given)
        rules, start = Writer(steps).rules("statement", State(), key)
    return Grammar(rules, start, "sql", None, outcomes(catalog, most, kinds))


def _dialect(value: object) -> Dialect:
    return DIALECTS[_one_of(value, "dialect", tuple(DIALECTS))]


def _one_of(value: object, option: str, known: Sequence[str]) -> str:
    """An option by its name; raises with the nearest one there is."""
    if not isinstance(value, str):
        raise wrong_type(f"sql({option}=…)", " or ".join(map(repr, known)), value)
    if value not in known:
        near = get_close_matches(value.lower(), known, 1, 0.5)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        listed = ", ".join(map(repr, known))
        raise ValueError(f"sql({option}=…) takes {listed}, not {value!r:.40}{hint}")
    return value


def _several(values: object, option: str, known: Sequence[str]) -> list[str]:
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        alone = "put it in a list" if isinstance(values, str) else ""
        raise wrong_type(f"sql({option}=…)", f"some of {', '.join(known)}", values, alone)
    found = dict.fromkeys(_one_of(value, option, known) for value in values)
    if not found:
        raise ValueError(f"sql({option}=…) takes at least one of {', '.join(known)}")
    return [one for one in known if one in found]


def _names(values: object, option: str) -> tuple[str, ...]:
    """Names of letters, digits and underscores."""
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        alone = "put it in a list" if isinstance(values, str) else ""
        raise wrong_type(f"sql({option}=…)", "a list of names", values, alone)
    found: dict[str, None] = {}
    for value in values:
        if not isinstance(value, str):
            raise wrong_type(f"sql({option}=…)", "names as text", value)
        if not _NAME.fullmatch(value):
            raise ValueError(
                f"sql({option}=…): {value!r:.60} is not a name of letters, digits and underscores"
            )
        found[value] = None
    return tuple(found)


def _labels(names: object, dialect: Dialect) -> tuple[str, ...]:
    """Names that queries may give; capital letters do not count."""
    found = tuple(dict.fromkeys(map(str.lower, _names(names, "names"))))
    for name in found:
        if name in dialect.reserved:
            raise ValueError(f"sql(names=…): {name!r} is a word of SQL; take another name")
    return found


def _parameter(given: Any, dialect: Dialect) -> tuple[Expr | None, list[str]]:
    """The parameters as an expression, None where there are none, and their texts."""
    if isinstance(given, bool):
        raise wrong_type("sql(parameters=…)", "how many there are, or their names", given)
    if isinstance(given, int):
        count = need_at_least(0, given, "sql(parameters=…)")
        texts = [f"{'$' if dialect.folds else '?'}{number}" for number in range(1, count + 1)]
    else:
        names = _names(given, "parameters")
        if names and dialect.folds:
            raise ValueError(
                "sql(parameters=…): PostgreSQL has no names for them; pass their number"
            )
        texts = [f":{name}" for name in names]
    if not texts:
        return None, texts
    return Alt(tuple(Literal(text.encode()) for text in texts)), texts

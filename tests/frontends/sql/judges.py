"""Who says that a statement is one: SQLite itself, sqlglot, and PostgreSQL's parser where pglast is installed."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import pytest

sqlglot = pytest.importorskip("sqlglot")
pglast: Any = import_module("pglast") if find_spec("pglast") else None

Tables = Mapping[str, Any]
#: What a query that only reads asks SQLite for.
READS = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION}


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def database(tables: Tables) -> sqlite3.Connection:
    """An empty database with some tables."""
    base = sqlite3.connect(":memory:")
    for table, columns in tables.items():
        types = columns if isinstance(columns, Mapping) else dict.fromkeys(columns, "")
        listed = ", ".join(f"{quoted(name)} {kind}" for name, kind in types.items())
        base.execute(f"CREATE TABLE {quoted(table)} ({listed})")
    return base


class Judge:
    """Judges statements of one dialect over some tables; a read is refused any other table or action."""

    def __init__(self, dialect: str, tables: Tables) -> None:
        self.dialect = dialect
        self.tables = {
            name.lower(): {one.lower() for one in columns} for name, columns in tables.items()
        }
        self.base = database(tables)
        self.refused: list[Any] = []
        self.base.set_authorizer(self._authorize)

    def _authorize(self, action: int, one: Any, two: Any, *_: Any) -> int:
        # a query in brackets or behind WITH is read as a table without a database
        known = action != sqlite3.SQLITE_READ or not _[0] or str(one).lower() in self.tables
        if action not in READS or not known:
            self.refused.append((action, one, two))
            return sqlite3.SQLITE_DENY
        return sqlite3.SQLITE_OK

    def check(self, text: str) -> None:
        """Raises where the text is no single query over the tables."""
        (parsed,) = sqlglot.parse(text, dialect=self.dialect)
        derived = {one.alias_or_name.lower() for one in parsed.find_all(sqlglot.exp.CTE)}
        for table in parsed.find_all(sqlglot.exp.Table):
            assert table.name.lower() in {*self.tables, *derived}, (table.name, text)
        if self.dialect == "sqlite":
            self.refused.clear()
            self.base.execute(f"EXPLAIN {text}")
            assert not self.refused, text
        elif pglast is not None:
            assert len(pglast.parse_sql(text)) == 1

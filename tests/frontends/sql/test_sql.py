"""Statements over the caller's tables: what is written is valid, what people write is there, nothing leads out."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path
from random import Random
from typing import Any

import pytest

import workbench as wb
from tests.frontends.sql.judges import Judge, database, quoted
from tests.frontends.sql.queries import QUERIES, SHOP, queries_of
from tests.frontends.sql.walks import vocabulary_of, walked
from workbench.frontends.sql.writer import QueryRules
from workbench.grammar.fingerprint import fingerprint

any_: Any = wb
BYTES = wb.Vocabulary.from_bytes([*(bytes([i]) for i in range(256)), b""], [256])
DIALECTS = ["sqlite", "postgres"]
SMALL = {
    "customers": {"id": "integer", "name": "text", "born": "date", "active": "boolean"},
    "orders": {"id": "integer", "customer_id": "integer", "total": "numeric", "note": "text"},
    "order": {"id": "bigint", "Name": "text", "group": "double precision", "data": "json"},
}


def accepts(compiled: wb.CompiledGrammar, text: str) -> bool:
    matcher = compiled.matcher()
    data = list(text.encode())
    return matcher.accept_tokens(data) == len(data) and matcher.is_accepting


def accepted(grammar: wb.Grammar, text: str) -> bool:
    return accepts(wb.compile(grammar, BYTES), text)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_what_people_write_is_there(dialect: str) -> None:
    assert len(QUERIES) > 100
    compiled = wb.compile(any_.sql(SHOP, dialect=dialect), BYTES)
    judge = Judge(dialect, SHOP)
    for query in queries_of(dialect):
        judge.check(query)
        assert accepts(compiled, query), query


@pytest.mark.slow
@pytest.mark.parametrize("typed", [True, False], ids=["typed", "untyped"])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_random_statements_are_valid(dialect: str, typed: bool) -> None:
    tables: dict[str, Any] = SMALL if typed else {name: list(one) for name, one in SMALL.items()}
    compiled = wb.compile(any_.sql(tables, dialect=dialect), vocabulary_of(tables), cache=False)
    judge, source, texts = Judge(dialect, SMALL), Random(7), 0
    for _ in range(100):
        text = walked(compiled, source, source.randint(2, 15))
        if text is not None:
            judge.check(text)
            texts += 1
    assert texts > 25


BASES = [
    "SELECT name FROM customers",
    "SELECT * FROM orders WHERE total > 1",
    "SELECT name FROM customers WHERE name = 'x'",
    "SELECT count(*) FROM orders GROUP BY note",
    "SELECT name FROM customers ORDER BY name",
    "SELECT name FROM customers LIMIT 1",
    "SELECT c.name FROM customers c JOIN orders o ON o.customer_id = c.id",
    "WITH n AS (SELECT id FROM orders) SELECT count(*) FROM n",
]
OUTSIDE = [
    ";",
    "; DROP TABLE orders",
    "; SELECT name FROM customers",
    ";;",
    " -- all of them",
    "--",
    " /* note */",
    "/**/",
    " # note",
    " UNION SELECT name FROM sqlite_master",
    " UNION SELECT sql FROM sqlite_schema",
    " UNION SELECT usename FROM pg_user",
    " UNION ALL SELECT password FROM users",
    " UNION SELECT name, id FROM customers, users",
    " AND 1 = 1; DELETE FROM orders",
    "; ATTACH DATABASE 'x' AS y",
    "; PRAGMA writable_schema = 1",
    " INTO OUTFILE '/tmp/x'",
    " RETURNING *",
    " FOR UPDATE",
    "'",
    "' OR '1' = '1",
    "’ OR ’1’ = ’1",
    "\x00",
    "\\g /tmp/x",
    " UNION SELECT load_extension('x') FROM customers",
    " UNION SELECT pg_read_file('/etc/passwd') FROM customers",
]


def test_nothing_leads_out_of_a_statement() -> None:
    attacks = [base + attack for base in BASES for attack in OUTSIDE]
    assert len(attacks) > 200
    for dialect in DIALECTS:
        compiled = wb.compile(any_.sql(SMALL, dialect=dialect), BYTES)
        for base in BASES:
            assert accepts(compiled, base), base
        for attack in attacks:
            assert not accepts(compiled, attack), attack


@pytest.mark.parametrize(
    "text", ["'; DROP TABLE orders --", "x' OR '1' = '1", "/* */", "’", '"', "–", "$$", "日本"]
)
def test_texts_in_quotes_are_texts(text: str) -> None:
    query = f"SELECT name FROM customers WHERE name = '{text.replace(chr(39), chr(39) * 2)}'"
    for dialect in DIALECTS:
        judge = Judge(dialect, SMALL)
        judge.check(query)
        assert accepted(any_.sql(SMALL, dialect=dialect), query)


HOSTILE = [
    'x" | [^;]* "',
    "a; DROP TABLE b --",
    "%json {}",
    "select",
    "näme",
    '"',
    "a b",
    "$x",
    "x.y.z",
    "é'",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_names_are_data(name: str) -> None:
    tables = {name: [name, "plain"]}
    query = f"SELECT {quoted(name)} FROM {quoted(name)} WHERE {quoted(name)}.plain = 1"
    database(tables).execute(f"EXPLAIN {query}")
    for dialect in DIALECTS:
        grammar = any_.sql(tables, dialect=dialect)
        assert accepted(grammar, query)
        assert not accepted(grammar, f"SELECT {name} FROM {name}")
        assert not accepted(grammar, "SELECT y FROM z")


def test_columns_are_those_of_the_tables() -> None:
    grammar = any_.sql(SMALL)
    for query in (
        "SELECT note FROM customers",
        "SELECT name FROM orders",
        "SELECT customers.total FROM customers JOIN orders ON customers.id = orders.id",
        "SELECT orders.id FROM customers",
        "SELECT id FROM customers JOIN orders ON customers.id = orders.customer_id",
        "SELECT t1.note FROM customers AS t1",
        "SELECT t2.id FROM customers AS t1",
        "SELECT born FROM customers WHERE total > 1",
        "SELECT born FROM customers WHERE id IN (SELECT code FROM orders)",
        "SELECT born, id FROM customers UNION SELECT id FROM orders",
        "SELECT born FROM customers WHERE count(*) > 1",
    ):
        with pytest.raises(sqlite3.OperationalError):
            database(SMALL).execute(f"EXPLAIN {query}")
        assert not accepted(grammar, query), query


def test_postgres_groups_what_stands_beside_aggregates() -> None:
    grammar = any_.sql(SMALL, dialect="postgres")
    for query, is_valid in {
        "SELECT name, count(*) FROM customers": False,
        "SELECT name, count(*) FROM customers GROUP BY name": True,
        "SELECT name, count(*) FROM customers GROUP BY id": False,
        "SELECT name, born, count(*) FROM customers GROUP BY 1, born": True,
        "SELECT name, count(*) FROM customers GROUP BY name HAVING born > DATE '2000-01-01'": False,
        "SELECT DISTINCT name FROM customers ORDER BY born": False,
        'SELECT data, count(*) FROM "order" GROUP BY data': False,
    }.items():
        assert accepted(grammar, query) == is_valid, query


def test_kinds_of_values_are_told_apart_by_types() -> None:
    query = "SELECT name FROM customers WHERE name > 5"
    assert not accepted(any_.sql(SMALL), query)
    assert accepted(any_.sql({name: list(one) for name, one in SMALL.items()}), query)
    some = any_.sql({"t": {"a": "integer", "b": None}})
    assert [one.warning for one in some.outcomes if one.warning]


def test_rows_are_changed_where_that_is_asked_for() -> None:
    texts = {
        "insert": "INSERT INTO orders (id, note) VALUES (1, 'x'), (2, NULL)",
        "update": "UPDATE orders SET total = total * 2, note = NULL WHERE id = 3",
        "delete": "DELETE FROM orders WHERE note IS NULL",
    }
    wrong = [
        "INSERT INTO orders (id, note) VALUES (1)",
        "INSERT INTO orders (id, id) VALUES (1, 2)",
        "INSERT INTO orders (id) SELECT id, total FROM orders",
        "UPDATE orders SET born = 1",
        "UPDATE orders SET id = 1, id = 2",
    ]
    for dialect in DIALECTS:
        for kind, text in texts.items():
            assert not accepted(any_.sql(SMALL, dialect=dialect), text)
            assert accepted(any_.sql(SMALL, dialect=dialect, statements=[kind]), text)
            database(SMALL).execute(f"EXPLAIN {text}")
        changing = any_.sql(SMALL, dialect=dialect, statements=["insert", "update"])
        assert accepted(changing, "INSERT INTO orders (id) SELECT id FROM customers")
        for text in wrong:
            assert not accepted(changing, text), text


def test_parameters_names_and_functions() -> None:
    query = "SELECT name FROM customers WHERE id = {}"
    assert accepted(any_.sql(SMALL, parameters=["key"]), query.format(":key"))
    assert accepted(any_.sql(SMALL, parameters=2), query.format("?2"))
    assert not accepted(any_.sql(SMALL, parameters=2), query.format("?3"))
    assert accepted(any_.sql(SMALL, dialect="postgres", parameters=1), query.format("$1"))
    assert not accepted(any_.sql(SMALL), query.format("?1"))
    own = "SELECT soundex(name) FROM customers"
    assert not accepted(any_.sql(SMALL), own)
    assert accepted(any_.sql(SMALL, functions=["soundex"]), own)
    named = "SELECT name, id + 1 AS successor FROM customers ORDER BY successor"
    assert not accepted(any_.sql(SMALL), named)
    assert accepted(any_.sql(SMALL, names=["successor"]), named)
    assert accepted(any_.sql(SMALL, semicolon=True), "SELECT name FROM customers;")


def test_spelling() -> None:
    for name, spelled in {"Name": '"Name"', "name": "NAME"}.items():
        text = f"SELECT {spelled} FROM t"
        assert accepted(any_.sql({"t": [name]}, dialect="postgres"), text)
    assert not accepted(any_.sql({"t": ["Name"]}, dialect="postgres"), "SELECT Name FROM t")
    assert accepted(any_.sql({"t": ["Name"]}), "SELECT name FROM T")
    assert accepted(any_.sql({"shop.t": ["a"]}), "SELECT t.a FROM shop.t")
    assert not accepted(any_.sql({"t": ["a"]}, keywords="upper"), "select a FROM t")
    assert not accepted(any_.sql({"t": ["a"]}, whitespace="single"), "SELECT  a FROM t")


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: any_.sql(["a"]), wb.WrongType, "columns by table.*a list"),
        (lambda: any_.sql({}), ValueError, "at least one table"),
        (lambda: any_.sql({"t": "a"}), wb.WrongType, "put it in a list"),
        (lambda: any_.sql({"t": []}), ValueError, "'t' has no columns"),
        (lambda: any_.sql({"t": [1]}), wb.WrongType, "a column of 't' as text"),
        (lambda: any_.sql({"t": {"a": 1}}), wb.WrongType, "types of columns as text"),
        (lambda: any_.sql({"t": ["a", "A"]}), ValueError, "column 'A' twice.*same to SQLite"),
        (lambda: any_.sql({"t": ["a"], "T": ["a"]}), ValueError, "'t' is there twice"),
        (lambda: any_.sql({"t": ["a\0"]}), ValueError, "NUL"),
        (lambda: any_.sql({"": ["a"]}), ValueError, "is empty"),
        (lambda: any_.sql({"t": ["\ud800"]}), ValueError, "surrogate"),
        (
            lambda: any_.sql({"t": ["a"]}, dialect="postgresql"),
            ValueError,
            "did you mean 'postgres'",
        ),
        (lambda: any_.sql({"t": ["a"]}, statements="select"), wb.WrongType, "put it in a list"),
        (lambda: any_.sql({"t": ["a"]}, statements=["updte"]), ValueError, "mean 'update'"),
        (lambda: any_.sql({"t": ["a"]}, statements=[]), ValueError, "at least one of"),
        (lambda: any_.sql({"t": ["a"]}, max_tables=0), ValueError, "positive"),
        (lambda: any_.sql({"t": ["a"]}, max_tables=9), ValueError, "at most 8"),
        (lambda: any_.sql({"t": ["a"]}, functions=["f("]), ValueError, "letters, digits"),
        (
            lambda: any_.sql({"t": ["a"]}, dialect="postgres", parameters=["a"]),
            ValueError,
            "number",
        ),
        (lambda: any_.sql({"t": ["a"]}, names=["Order"]), ValueError, "'order' is a word of SQL"),
        (lambda: any_.sql({"t": ["x" * 64]}, dialect="postgres"), ValueError, "cut it off"),
    ],
)
def test_messages(call: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        call()


def test_equal_tables_are_one_grammar() -> None:
    one, same, other = any_.sql(SMALL), any_.sql(SMALL), any_.sql(SMALL, max_tables=2)
    assert fingerprint(one) == fingerprint(same) != fingerprint(other)
    assert one.rules[one.start] == same.rules[same.start]


def test_there_is_no_end_of_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.frontends.sql.writer._MOST_RULES", 100)
    rules = any_.sql(SMALL).rules
    assert isinstance(rules, QueryRules)
    with pytest.raises(wb.GrammarTooComplex, match="rules of SQL"):
        list(rules)


def test_the_examples_of_the_page_work() -> None:
    text = (Path(__file__).parents[3] / "docs" / "sql.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(blocks) > 3
    names: dict[str, Any] = {}
    for block in blocks:
        exec(block, names)


def test_rules_are_built_when_a_text_gets_to_them() -> None:
    grammar = any_.sql(SMALL)
    for whole in (grammar, wb.seq("> ", grammar)):
        compiled = wb.compile(whole, BYTES, cache=False)
        assert compiled.automaton.waiting
        assert compiled.automaton.n_states < 100


def test_postgres_groups_by_numbers_where_there_are_many_tables() -> None:
    tables = {**SMALL, **{f"other{number}": {"code": "integer"} for number in range(12)}}
    compiled = wb.compile(any_.sql(tables, dialect="postgres"), BYTES)
    for query, is_valid in {
        "SELECT name, count(*) FROM customers": False,
        "SELECT name, count(*) FROM customers GROUP BY 1": True,
        "SELECT count(*), name FROM customers GROUP BY 2": True,
        "SELECT name, born, count(*) FROM customers GROUP BY 1": False,
        "SELECT name, born, count(*) FROM customers GROUP BY 1, 2": True,
        "SELECT count(*) FROM customers GROUP BY name": True,
        "SELECT upper(name), count(*) FROM customers GROUP BY 1": True,
        "SELECT id + count(*) FROM customers GROUP BY 1": False,
        "SELECT count(*) + id FROM customers GROUP BY 1": False,
        "SELECT count(*), rank() OVER (ORDER BY name) FROM customers GROUP BY name": False,
        "SELECT name, rank() OVER (ORDER BY name) FROM customers": True,
        "SELECT id / sum(id) OVER (PARTITION BY name) FROM customers": True,
        "SELECT DISTINCT name FROM customers ORDER BY 1": True,
        "SELECT DISTINCT name FROM customers ORDER BY born": False,
    }.items():
        assert accepts(compiled, query) == is_valid, query
    source, vocabulary = Random(3), vocabulary_of(tables)
    walks = wb.compile(any_.sql(tables, dialect="postgres"), vocabulary, cache=False)
    judge, texts = Judge("postgres", tables), 0
    for _ in range(40):
        text = walked(walks, source, source.randint(2, 12))
        if text is not None:
            judge.check(text)
            texts += 1
    assert texts > 4

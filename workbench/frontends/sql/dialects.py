"""What differs between dialects: types of columns, functions, words that are no names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["ANY", "DIALECTS", "Dialect", "Function", "functions_of"]

#: The kind of all values where columns have no types.
ANY = "any"


@dataclass(frozen=True, slots=True)
class Function:
    """A function: the kinds of its arguments, and that of its value.

    An argument is a kind, ``K`` (any kind, the same each time), ``int`` (a count, written as digits), ``string``
    (a text, written in quotes), ``unit`` (a part of a date, in quotes); ``K...`` is one or more of them.
    """

    name: str
    arguments: tuple[str, ...]
    value: str


@dataclass(frozen=True, slots=True)
class Dialect:
    """One dialect of SQL. ``types`` are patterns of the names of types, with the kinds of their values."""

    name: str
    types: tuple[tuple[str, str], ...]
    functions: tuple[Function, ...]
    aggregates: tuple[Function, ...]
    casts: Mapping[str, tuple[str, ...]]
    #: words that name nothing unless they are quoted
    reserved: frozenset[str]
    #: whether letters of names in quotes count, and those without are small ones
    folds: bool
    #: whether columns beside aggregates have to be grouped, and types have to fit
    strict: bool
    current: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def kind(self, type_name: str) -> str:
        """The kind of a column's values."""
        plain = " ".join(type_name.lower().split())
        for pattern, kind in self.types:
            if re.search(pattern, plain):
                return kind
        return "number" if self.name == "sqlite" else "named"


def functions_of(table: str) -> tuple[Function, ...]:
    """Read functions, one a line: ``name(kinds) kind``."""
    found = re.findall(r"(\w+)\(([^)]*)\) (\w+)", table)
    return tuple(
        Function(name, tuple(filter(None, re.split(r",\s*", arguments))), value)
        for name, arguments, value in found
    )


_WORDS = """
all alter analyze and any array as asc asymmetric attach autoincrement before begin between both by cascade
case cast check collate collation column commit concurrently conflict constraint create cross current_catalog
current_date current_role current_schema current_time current_timestamp current_user database default
deferrable deferred delete desc detach distinct do drop each else end escape except exclude exclusive exists
explain fail false fetch filter following for foreign freeze from full generated glob grant group groups
having if ignore ilike immediate in index indexed initially inner insert instead intersect interval into is
isnull join key lateral leading left like limit localtime localtimestamp match materialized natural no not
nothing notnull null nulls of offset on only or order others outer over overlaps partition placing plan pragma
preceding primary query raise range recursive references regexp reindex release rename replace restrict
returning right rollback row rows savepoint select session_user set similar some symmetric system_user table
tablesample temp temporary then ties to trailing transaction trigger true unbounded union unique update user
using vacuum values variadic verbose view virtual when where window with within without authorization binary
system percent pivot qualify unpivot top straight_join extract position substring overlay trim coalesce nullif
greatest least treat xmlelement xmlparse normalize
"""
_RESERVED = frozenset(_WORDS.split())

_SQLITE = Dialect(
    name="sqlite",
    # by the rules of affinity; days and times are texts here
    types=(
        (r"int", "number"),
        (r"char|clob|text|date|time|json|uuid", "text"),
        (r"blob|^$", "opaque"),
    ),
    functions=functions_of(
        """
        abs(number) number
        round(number) number
        round(number, int) number
        length(text) number
        instr(text, text) number
        lower(text) text
        upper(text) text
        trim(text) text
        ltrim(text) text
        rtrim(text) text
        substr(text, number) text
        substr(text, number, number) text
        replace(text, text, text) text
        coalesce(K, K...) K
        ifnull(K, K) K
        nullif(K, K) K
        iif(condition, K, K) K
        date(text) text
        date(text, string...) text
        datetime(text) text
        datetime(text, string...) text
        time(text) text
        strftime(string, text) text
        strftime(string, text, string...) text
        julianday(text) number
        """
    ),
    aggregates=functions_of(
        """
        sum(number) number
        avg(number) number
        total(number) number
        min(K) K
        max(K) K
        group_concat(text) text
        group_concat(text, string) text
        """
    ),
    casts={"number": ("INTEGER", "REAL", "NUMERIC"), "text": ("TEXT",)},
    reserved=_RESERVED,
    folds=False,
    strict=False,
    current={"text": ("CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP")},
)

_POSTGRES = Dialect(
    name="postgres",
    types=(
        (r"\[|json|xml|bytea|interval|point|line|lseg|box|path|polygon|circle|tsvector", "opaque"),
        (r"^(small|big)?int|^int[248]\b|serial|numeric|decimal|^real|^double|^float", "number"),
        (r"^(character|char|varchar|text|bpchar|name|citext)\b", "text"),
        (r"^(date|timestamp|timestamptz)\b", "time"),
        (r"^bool", "boolean"),
    ),
    functions=functions_of(
        """
        abs(number) number
        ceil(number) number
        floor(number) number
        round(number) number
        length(text) number
        char_length(text) number
        strpos(text, text) number
        date_part(unit, time) number
        lower(text) text
        upper(text) text
        initcap(text) text
        trim(text) text
        ltrim(text) text
        rtrim(text) text
        left(text, int) text
        right(text, int) text
        substring(text, int) text
        substring(text, int, int) text
        replace(text, text, text) text
        split_part(text, string, int) text
        concat(text, text...) text
        to_char(time, string) text
        coalesce(K, K...) K
        nullif(K, K) K
        greatest(K, K...) K
        least(K, K...) K
        date_trunc(unit, time) time
        now() time
        """
    ),
    aggregates=functions_of(
        """
        sum(number) number
        avg(number) number
        stddev(number) number
        variance(number) number
        min(K) K
        max(K) K
        string_agg(text, string) text
        """
    ),
    casts={
        "number": ("integer", "bigint", "numeric", "double precision"),
        "text": ("text", "varchar"),
        "time": ("date", "timestamp"),
    },
    reserved=_RESERVED,
    folds=True,
    strict=True,
    current={"time": ("CURRENT_DATE", "CURRENT_TIMESTAMP")},
)

DIALECTS = {one.name: one for one in (_SQLITE, _POSTGRES)}

"""The caller's tables: their names, columns and kinds, and how each name may be spelled."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256

from workbench.frontends.sql.dialects import ANY, Dialect
from workbench.grammar.expressions import Alt, Expr, Literal, Ref, Seq
from workbench.inputs import wrong_type

__all__ = ["FEW_TABLES", "OUTSIDE", "Catalog", "Derived", "Table"]

#: Stands for a table of the query around, among those that a name may mean.
OUTSIDE = -1
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_POSTGRES_LONGEST = 63
#: Of so many tables any may be asked for by a column alone behind that of another one.
FEW_TABLES = 12
#: So many names are written where they are used.
_FEW = 3
_WHO = "sql(tables=…)"


@dataclass(frozen=True, slots=True)
class Derived:
    """What a query in a FROM clause or behind WITH gives: a name, and its columns with their kinds."""

    name: str
    columns: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table of the caller: the parts of its name, and its columns with their kinds, by what makes names equal."""

    parts: tuple[str, ...]
    columns: Mapping[str, str]


class Catalog:
    """Tables by number; ``columns`` are kinds by name, names are as they are compared.

    ``typed``: every column has a type, so that values have kinds.
    """

    def __init__(self, tables: object, dialect: Dialect, aliases: Iterable[str]) -> None:
        self.dialect = dialect
        #: how names were given, by how they are compared
        self._given: dict[str, dict[str, None]] = {}
        read = _read(tables)
        types = [kind for columns in read.values() for kind in columns.values()]
        self.typed = None not in types
        #: what was given, as JSON
        self.content = [[name, list(columns.items())] for name, columns in read.items()]
        self.some_typed = any(types)
        self.kinds = tuple(
            kind
            for kind in ("number", "text", "time")
            if self.typed and (kind != "time" or dialect.folds)
        ) or (ANY,)
        self.tables = tuple(self._table(name, columns) for name, columns in read.items())
        self._check_tables()
        self.owners: dict[str, tuple[int, ...]] = {}
        for number, table in enumerate(self.tables):
            for name in table.columns:
                self.owners[name] = (*self.owners.get(name, ()), number)
        #: tables by each name that may stand before a column
        self.named: dict[str, tuple[int, ...]] = {}
        for number, table in enumerate(self.tables):
            own = table.parts[-1]
            self.named[own] = (*self.named.get(own, ()), number)
        self.aliases = self._aliases(aliases)
        self._spelled: dict[str, Expr] = {}
        #: rules that other rules share, by name
        self.shared: dict[str, Expr] = {}
        self._lists: dict[tuple[str, ...], Expr] = {}

    # -- reading -----------------------------------------------------------------------------------

    def _table(self, name: str, columns: Mapping[str, str | None]) -> Table:
        parts = tuple(self._known(part) for part in _parts(name))
        made: dict[str, str] = {}
        for column, type_name in columns.items():
            known = self._known(column)
            if known in made:
                raise ValueError(
                    f"sql: the table {name!r:.60} has the column {column!r:.60} twice; "
                    f"{self._compared()}"
                )
            made[known] = self.dialect.kind(type_name or "") if self.typed else ANY
        return Table(parts, made)

    def _check_tables(self) -> None:
        seen: set[tuple[str, ...]] = set()
        for table in self.tables:
            if table.parts in seen:
                told = ".".join(table.parts)
                raise ValueError(f"sql: the table {told!r:.60} is there twice; {self._compared()}")
            seen.add(table.parts)

    def _compared(self) -> str:
        if self.dialect.folds:
            return "name each once"
        return "capital and small letters of names are the same to SQLite"

    def _known(self, name: str) -> str:
        """A name as it is compared; how it was given is kept."""
        if self.dialect.folds and len(name.encode()) > _POSTGRES_LONGEST:
            raise ValueError(
                f"sql: the name {name!r:.60} has more than {_POSTGRES_LONGEST} bytes: "
                "PostgreSQL would cut it off"
            )
        known = self.compared(name)
        self._given.setdefault(known, {})[name] = None
        return known

    def compared(self, name: str) -> str:
        """What names have in common that are the same to the dialect."""
        return name if self.dialect.folds else re.sub("[A-Z]+", lambda m: m[0].lower(), name)

    def _aliases(self, extra: Iterable[str]) -> dict[str, tuple[int, ...]]:
        """The tables that each alias may stand for: letters that the words of a name begin with, and others."""
        found: dict[str, set[int]] = {}
        every = set(range(len(self.tables)))
        for alias in extra:
            found[alias] = every
        for number, table in enumerate(self.tables):
            words = re.findall(r"[a-z]+", table.parts[-1].lower())
            if words:
                for alias in {words[0][0], "".join(word[0] for word in words)}:
                    found.setdefault(alias, set()).add(number)
        return {
            alias: tuple(sorted(numbers))
            for alias, numbers in sorted(found.items())
            if alias not in self.named and alias not in self.dialect.reserved
        }

    # -- asking ------------------------------------------------------------------------------------

    def columns(self, table: int, derived: tuple[Derived, ...] = ()) -> Mapping[str, str]:
        """The columns of a table by number, or of what is derived: below ``OUTSIDE``."""
        if table >= 0:
            return self.tables[table].columns
        return _by_name(derived[OUTSIDE - 1 - table])

    def own(self, table: int, derived: tuple[Derived, ...] = ()) -> str:
        """The name that a table has without an alias."""
        return self.tables[table].parts[-1] if table >= 0 else derived[OUTSIDE - 1 - table].name

    def spelled(self, name: str) -> Expr:
        """The spellings of a name: as it was given, in small and in capital letters, in quotes."""
        known = self._spelled.get(name)
        if known is None:
            texts: dict[str, None] = {}
            for given in self._given.get(name, {name: None}):
                if self._may_stand_bare(given):
                    texts |= dict.fromkeys((given, given.lower(), given.upper()))
                texts['"' + given.replace('"', '""') + '"'] = None
            items = tuple(Literal(text.encode()) for text in texts)
            known = self._spelled[name] = items[0] if len(items) == 1 else Alt(items)
        return known

    def spelled_alone(self, name: str) -> Expr:
        """The spellings of the name of a table; where there are many, by a rule that all uses share."""
        spelled = self.spelled(name)
        if len(self.tables) <= FEW_TABLES or name not in self.named:
            return spelled
        return self.share("name", repr(name), spelled)

    def _may_stand_bare(self, name: str) -> bool:
        if not _PLAIN.fullmatch(name) or name.lower() in self.dialect.reserved:
            return False
        return not self.dialect.folds or name == name.lower()

    def any_of(self, names: Iterable[str]) -> Expr:
        """Any of some names; where there are many, by a rule that all uses share."""
        listed = tuple(names)
        known = self._lists.get(listed)
        if known is None:
            items = tuple(map(self.spelled, listed))
            known = items[0] if len(items) == 1 else Alt(items)
            if len(items) > _FEW:
                known = self.share("names", repr(listed), known)
            self._lists[listed] = known
        return known

    def share(self, said: str, told: str, expr: Expr) -> Ref:
        """A rule of an expression, whose name is made of what it is and what tells it apart."""
        name = f"{said} #{sha256(told.encode('utf-8', 'surrogatepass')).hexdigest()[:20]}"
        self.shared.setdefault(name, expr)
        return Ref(name)

    def spelled_table(self, table: int) -> Expr:
        """The spellings of a table's name in a FROM clause."""
        parts = self.tables[table].parts
        items: list[Expr] = []
        for part in parts:
            items += [Literal(b"."), self.spelled_alone(part)]
        return Seq(tuple(items[1:])) if len(items) > 2 else items[1]


@lru_cache(maxsize=1024)
def _by_name(derived: Derived) -> Mapping[str, str]:
    """Columns whose name is there once."""
    names = [name for name, _ in derived.columns]
    return {name: kind for name, kind in derived.columns if name and names.count(name) == 1}


def _read(tables: object) -> dict[str, dict[str, str | None]]:
    if not isinstance(tables, Mapping):
        raise wrong_type(_WHO, 'columns by table, as in {"orders": ["id", "total"]}', tables)
    if not tables:
        raise ValueError("sql takes at least one table: nothing can be asked of none")
    read: dict[str, dict[str, str | None]] = {}
    for name, columns in tables.items():
        _check_name(name, "the name of a table")
        read[name] = _read_columns(name, columns)
    return read


def _read_columns(table: str, columns: object) -> dict[str, str | None]:
    where = f"sql(tables={{{table!r:.60}: …}})"
    wanted = "a list of names of columns, or types by name"
    found: dict[str, str | None] = {}
    if isinstance(columns, Mapping):
        for name, type_name in columns.items():
            if type_name is not None and not isinstance(type_name, str):
                raise wrong_type(where, "types of columns as text, or None", type_name)
            found[_check_name(name, f"a column of {table!r:.60}")] = type_name
    elif isinstance(columns, str | bytes) or not isinstance(columns, Iterable):
        alone = "put it in a list" if isinstance(columns, str) else ""
        raise wrong_type(where, wanted, columns, alone)
    else:
        for name in columns:
            if _check_name(name, f"a column of {table!r:.60}") in found:
                raise ValueError(f"sql: the table {table!r:.60} has the column {name!r:.60} twice")
            found[name] = None
    if not found:
        raise ValueError(f"sql: the table {table!r:.60} has no columns; list them, or leave it out")
    return found


def _check_name(name: object, what: str) -> str:
    if not isinstance(name, str):
        raise wrong_type(_WHO, f"{what} as text", name)
    if not name:
        raise ValueError(f"sql: {what} is empty")
    if "\0" in name:
        raise ValueError(f"sql: {what}, {name!r:.60}, holds the character NUL, which no name has")
    try:
        name.encode()
    except UnicodeEncodeError:
        raise ValueError(
            f"sql: {what}, {name!r:.60}, holds half of a surrogate pair, which no name has"
        ) from None
    return name


def _parts(name: str) -> tuple[str, ...]:
    """The parts of a name: ``shop.orders`` is in a schema, any other dots are its own."""
    parts = name.split(".")
    if len(parts) == 2 and all(_PLAIN.fullmatch(part) for part in parts):
        return tuple(parts)
    return (name,)

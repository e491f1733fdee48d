"""Random statements out of a grammar: drawn from the masks, over a vocabulary of words and bytes."""

from __future__ import annotations

from random import Random

import workbench as wb

#: Words that statements of the grammar are made of, so that walks get far.
WORDS = [
    "SELECT",
    "DISTINCT",
    "FROM",
    "WHERE",
    "GROUP",
    "BY",
    "HAVING",
    "ORDER",
    "LIMIT",
    "OFFSET",
    "JOIN",
    "LEFT",
    "CROSS",
    "INNER",
    "ON",
    "USING",
    "AND",
    "OR",
    "NOT",
    "IN",
    "IS",
    "NULL",
    "BETWEEN",
    "LIKE",
    "EXISTS",
    "CASE",
    "WHEN",
    "THEN",
    "ELSE",
    "END",
    "CAST",
    "AS",
    "UNION",
    "ALL",
    "INTERSECT",
    "EXCEPT",
    "WITH",
    "COUNT(",
    "SUM(",
    "AVG(",
    "MIN(",
    "MAX(",
    "COALESCE(",
    "LOWER(",
    "LENGTH(",
    "ROUND(",
    "STRFTIME(",
    "EXTRACT(",
    "DATE_TRUNC(",
    "OVER",
    "PARTITION",
    "ROW_NUMBER(",
    "RANK(",
    "LAG(",
    "FILTER",
    "DESC",
    "ASC",
    "NULLS",
    "FIRST",
    "LAST",
    "INSERT",
    "INTO",
    "VALUES",
    "UPDATE",
    "SET",
    "DELETE",
    "TRUE",
    "FALSE",
    "CURRENT_DATE",
    "INTERVAL",
]


def vocabulary_of(tables: dict[str, object]) -> wb.Vocabulary:
    """Every byte, key words, the names of tables and columns, and an end."""
    names = [*tables, *(name for columns in tables.values() for name in columns)]  # type: ignore[attr-defined]
    words = dict.fromkeys(
        [*WORDS, *names, "t1.", "t2.", "total", "n", "result", "12", "'x'", " ", ", ", " = ", ") "]
    )
    texts = [*words, *(f" {word}" for word in [*WORDS, *names])]
    tokens = [bytes([i]) for i in range(256)]
    tokens += [data for text in texts if len(data := text.encode()) > 1]
    return wb.Vocabulary.from_bytes([*tokens, b""], eos_ids=len(tokens))


#: How much rather than other words those are drawn that lead to the end of a statement.
ENDINGS = {
    ")": 999,
    " FROM": 999,
    " THEN": 99,
    " END": 99,
    " AS": 9,
    "id": 9,
    "name": 9,
    "0": 9,
    "'x'": 5,
    " ": 5,
    ",": 3,
}
ENDINGS |= dict.fromkeys(("n", "total", "average", "lowest", "highest", "result"), 9)


def walked(compiled: wb.CompiledGrammar, source: Random, steps: int) -> str | None:
    """One random statement: words rather than bytes, and towards its end after some steps; None where that is far."""
    matcher, vocabulary = compiled.matcher(), compiled.vocabulary
    endings = {text.encode(): weight for text, weight in ENDINGS.items()}
    text = b""
    for step in range(steps + 60):
        ids = {vocabulary.token_bytes(int(one)): int(one) for one in matcher.allowed_ids()}
        end = ids.pop(b"", None)
        if end is not None and (step >= steps or source.random() < 0.15):
            assert matcher.accept(end)
            return text.decode()
        if step >= steps:
            quoted = text.count(b"'") % 2 == 1
            # neither a second quote in a string that could end nor another gap leads on
            stale = b"'" if text.endswith(b"'") else b" " if text[-1:].isspace() else None
            usable = [one for one in ids if one[:1] != stale] or list(ids)
            weights = [endings.get(one, 5 / len(usable)) for one in usable]
            chosen = b"'" if quoted and b"'" in ids else source.choices(usable, weights)[0]
        else:
            words = [one for one in ids if len(one) > 1]
            chosen = source.choice(words if words and source.random() < 0.9 else list(ids))
        assert matcher.accept(ids[chosen])
        text += chosen
    return None

"""Grammars that people write, in the representation itself, shared by several tests."""

from __future__ import annotations

from workbench.grammar.ir import (
    EMPTY,
    Alt,
    ByteSet,
    CharSet,
    Expr,
    Grammar,
    Literal,
    Ref,
    Repeat,
    Seq,
)


def lit(text: str) -> Literal:
    return Literal(text.encode())


def one_of(letters: str) -> ByteSet:
    """One ASCII character out of a text."""
    return ByteSet(sum(1 << b for b in set(letters.encode())))


def star(item: Expr) -> Repeat:
    return Repeat(item, 0, None)


def plus(item: Expr) -> Repeat:
    return Repeat(item, 1, None)


def option(item: Expr) -> Repeat:
    return Repeat(item, 0, 1)


def joined(item: Expr, comma: Expr) -> Seq:
    return Seq((item, star(Seq((comma, item)))))


DIGITS = "0123456789"
LOWER = "abcdefghijklmnopqrstuvwxyz"


def generic_json() -> Grammar:
    """RFC 8259 with runs of at most two spaces or line feeds."""
    space = Ref("space")
    unescaped = CharSet(((0x20, 0x21), (0x23, 0x5B), (0x5D, 0x10FFFF)))
    escape = Alt(
        (one_of('"\\/bfnrt'), Seq((lit("u"), Repeat(one_of(DIGITS + "abcdefABCDEF"), 4, 4))))
    )
    comma = Seq((lit(","), space))
    integer = Alt((lit("0"), Seq((one_of("123456789"), star(one_of(DIGITS))))))
    return Grammar(
        {
            "root": Ref("value"),
            "value": Seq(
                (
                    Alt(
                        (
                            *(Ref(name) for name in ("object", "array", "string", "number")),
                            *(lit(word) for word in ("true", "false", "null")),
                        )
                    ),
                    space,
                )
            ),
            "space": Repeat(one_of(" \n"), 0, 2),
            "object": Seq((lit("{"), space, option(joined(Ref("member"), comma)), lit("}"))),
            "member": Seq((Ref("string"), space, lit(":"), space, Ref("value"))),
            "array": Seq((lit("["), space, option(joined(Ref("value"), comma)), lit("]"))),
            "string": Seq((lit('"'), star(Alt((unescaped, Seq((lit("\\"), escape))))), lit('"'))),
            "number": Seq(
                (
                    option(lit("-")),
                    integer,
                    option(Seq((lit("."), plus(one_of(DIGITS))))),
                    option(Seq((one_of("eE"), option(one_of("+-")), plus(one_of(DIGITS))))),
                )
            ),
        },
        "root",
    )


def person_schema() -> Grammar:
    """What a schema becomes: keys in order, optional ones, bounded strings, lists and enums."""
    char = CharSet(((0x20, 0x21), (0x23, 0x5B), (0x5D, 0x10FFFF)))

    def text(least: int, most: int) -> Expr:
        return Seq((lit('"'), Repeat(char, least, most), lit('"')))

    tags = joined(text(1, 12), lit(", "))
    return Grammar(
        {
            "root": Ref("person"),
            "person": Seq(
                (
                    lit('{"name": '),
                    text(1, 40),
                    lit(', "age": '),
                    Repeat(one_of(DIGITS), 1, 3),
                    option(Seq((lit(', "tags": ['), option(tags), lit("]")))),
                    option(Seq((lit(', "role": '), Alt((lit('"admin"'), lit('"author"')))))),
                    option(Seq((lit(', "friend": '), Ref("person")))),
                    lit("}"),
                )
            ),
        },
        "root",
    )


def arithmetic() -> Grammar:
    """Ambiguous on purpose: operators, brackets, numbers, names and calls."""
    e = Ref("e")
    number = Seq((plus(one_of(DIGITS)), option(Seq((lit("."), plus(one_of(DIGITS)))))))
    name = Seq((one_of(LOWER), Repeat(one_of(LOWER + DIGITS + "_"), 0, 20)))
    return Grammar(
        {
            "e": Alt(
                (
                    Seq((e, Alt((lit(" + "), lit(" - "), lit("*"), lit("/"), lit("**"))), e)),
                    Seq((lit("-"), e)),
                    Seq((lit("("), e, lit(")"))),
                    Seq((name, lit("("), option(joined(e, lit(", "))), lit(")"))),
                    number,
                    name,
                )
            )
        },
        "e",
    )


def sql() -> Grammar:
    """SELECT statements with joins, conditions, sub-queries and left-recursive expressions."""
    e, space = Ref("expr"), lit(" ")
    return Grammar(
        {
            "root": Seq((Ref("select"), option(lit(";")))),
            "select": Seq(
                (
                    lit("SELECT "),
                    option(lit("DISTINCT ")),
                    Alt((lit("*"), joined(Ref("column"), lit(", ")))),
                    lit(" FROM "),
                    Ref("table"),
                    star(Seq((lit(" JOIN "), Ref("table"), lit(" ON "), e))),
                    option(Seq((lit(" WHERE "), e))),
                    option(Seq((lit(" ORDER BY "), e, option(Alt((lit(" ASC"), lit(" DESC"))))))),
                    option(Seq((lit(" LIMIT "), Repeat(one_of(DIGITS), 1, 9)))),
                )
            ),
            "column": Seq((e, option(Seq((lit(" AS "), Ref("name")))))),
            "table": Alt((Seq((lit("("), Ref("select"), lit(")"))), Ref("name"))),
            "name": Seq((one_of(LOWER + "_"), star(one_of(LOWER + DIGITS + "_")))),
            "expr": Alt(
                (
                    Seq((e, space, Ref("operator"), space, e)),
                    Seq((e, lit(" IN ("), Alt((Ref("select"), joined(e, lit(", ")))), lit(")"))),
                    Seq((lit("("), e, lit(")"))),
                    Seq((Ref("name"), option(Seq((lit("."), Ref("name")))))),
                    Seq((Ref("name"), lit("("), Alt((lit("*"), joined(e, lit(", ")))), lit(")"))),
                    plus(one_of(DIGITS)),
                    Seq((lit("'"), star(CharSet(((0x20, 0x26), (0x28, 0x10FFFF)))), lit("'"))),
                )
            ),
            "operator": Alt(tuple(lit(o) for o in ("=", "<", "<=", "AND", "OR", "+", "-", "LIKE"))),
        },
        "root",
    )


def operators() -> Grammar:
    """E -> E "+" E | "(" E ")" | n."""
    e = Ref("E")
    return Grammar({"E": Alt((Seq((e, lit("+"), e)), Seq((lit("("), e, lit(")"))), lit("n")))}, "E")


def doubling() -> Grammar:
    """S -> S S | a."""
    return Grammar({"S": Alt((Seq((Ref("S"), Ref("S"))), lit("a")))}, "S")


def brackets() -> Grammar:
    """B -> "(" B ")" | x."""
    return Grammar({"B": Alt((Seq((lit("("), Ref("B"), lit(")"))), lit("x")))}, "B")


def quoted(least: int, most: int | None, item: Expr | None = None) -> Grammar:
    """A counted text between quotes."""
    item = item or one_of(LOWER)
    return Grammar({"root": Seq((lit('"'), Repeat(item, least, most), lit('"')))}, "root")


__all__ = [
    "DIGITS",
    "EMPTY",
    "LOWER",
    "arithmetic",
    "brackets",
    "doubling",
    "generic_json",
    "joined",
    "lit",
    "one_of",
    "operators",
    "option",
    "person_schema",
    "plus",
    "quoted",
    "sql",
    "star",
]

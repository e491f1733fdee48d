"""What ``workbench bench growth`` makes longer: texts of four languages, and schemas.

Texts are drawn with a fixed seed, a piece at a time, so that a shorter one is the start of a longer
one. Schemas are made to a size in bytes, or to a count.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from workbench.benchmarks.cases import JSON_GBNF, JSON_LARK, Case

__all__ = ["GROWING", "Growing", "by_count", "by_size"]


@dataclass(frozen=True, slots=True)
class Growing:
    """A language (as a case without texts) and the pieces of an endless text of it."""

    case: Case
    pieces: Callable[[random.Random], Iterator[str]]

    def text(self, length: int) -> str:
        """At least ``length`` characters; may stop anywhere in the middle."""
        out: list[str] = []
        have = 0
        for piece in self.pieces(random.Random(7)):
            out.append(piece)
            have += len(piece)
            if have >= length:
                break
        return "".join(out)


_WORDS = ("time", "year", "people", "way", "day", "life", "child", "world", "école", "größe")


def _words(source: random.Random) -> str:
    return " ".join(source.choice(_WORDS) for _ in range(source.randint(1, 6)))


def _json(source: random.Random) -> Iterator[str]:
    yield "["
    number = 0
    while True:
        number += 1
        record = {
            "id": number,
            "name": _words(source),
            "score": round(source.uniform(-100, 100), 3),
            "tags": [source.choice(_WORDS) for _ in range(source.randint(0, 3))],
            "in": {"deep": [[number % 7], {"x": source.choice([True, False, None])}]},
        }
        yield json.dumps(record, ensure_ascii=False) + ", "


_SUM_GBNF = 'root ::= root "+" root | [0-9]+\n'
_SUM_LARK = 'start: start "+" start | NUMBER\nNUMBER: /[0-9]+/\n'


def _sum(source: random.Random) -> Iterator[str]:
    while True:
        yield f"{source.randint(0, 99_999)}+"


_TAGS_GBNF = r"""
root    ::= element
element ::= "<a>" content "</a>" | "<b>" content "</b>" | "<item>" content "</item>"
content ::= text? (element text?)*
text    ::= [a-z .]+
"""

_TAGS_LARK = r"""
start: element
element: "<a>" content "</a>" | "<b>" content "</b>" | "<item>" content "</item>"
content: TEXT? (element TEXT?)*
TEXT: /[a-z .]+/
"""


def _tags(source: random.Random) -> Iterator[str]:
    """A text that gets deeper: three elements are opened for two that are closed."""
    yield "<item>"
    opened = ["item"]
    while True:
        if len(opened) < 2 or source.random() < 0.6:
            opened.append(source.choice(["a", "b", "item"]))
            yield f"<{opened[-1]}>some text."
        else:
            yield f"</{opened.pop()}>"


_PYTHON_GBNF = r"""
root       ::= (statement "\n")*
statement  ::= simple | "if " expression ": " simple | "for " name " in " expression ": " simple
simple     ::= "pass" | "return " expression | primary (" = " | " += ") expression | expression
expression ::= conjunct (" or " conjunct)*
conjunct   ::= comparison (" and " comparison)*
comparison ::= sum ((" == " | " < " | " >= " | " in ") sum)?
sum        ::= product ((" + " | " - ") product)*
product    ::= unary ((" * " | " / ") unary)*
unary      ::= "-" unary | "not " unary | primary
primary    ::= atom trailer*
trailer    ::= "(" list? ")" | "[" expression "]" | "." name
atom       ::= name | number | string | "(" expression ")" | "[" list? "]"
list       ::= expression (", " expression)*
name       ::= [a-z_] [a-z0-9_]*
number     ::= [0-9]+ ("." [0-9]+)?
string     ::= "'" [^'\\\n]* "'"
"""

_PYTHON_LARK = r"""
start: (statement "\n")*
statement: simple | "if " expression ": " simple | "for " NAME " in " expression ": " simple
simple: "pass" | "return " expression | primary (" = " | " += ") expression | expression
expression: conjunct (" or " conjunct)*
conjunct: comparison (" and " comparison)*
comparison: sum ((" == " | " < " | " >= " | " in ") sum)?
sum: product ((" + " | " - ") product)*
product: unary ((" * " | " / ") unary)*
unary: "-" unary | "not " unary | primary
primary: atom trailer*
trailer: "(" list? ")" | "[" expression "]" | "." NAME
atom: NAME | NUMBER | STRING | "(" expression ")" | "[" list? "]"
list: expression (", " expression)*
NAME: /[a-z_][a-z0-9_]*/
NUMBER: /[0-9]+(\.[0-9]+)?/
STRING: /'[^'\\\n]*'/
"""

_NAMES = ("total", "items", "row", "self_name", "price", "index", "find_all", "keys", "x", "y")


def _python(source: random.Random) -> Iterator[str]:
    while True:
        yield _statement(source) + "\n"


def _statement(source: random.Random) -> str:
    name = source.choice(_NAMES)
    simple = source.choice(
        [
            "pass",
            f"return {_expression(source, 3)}",
            f"{name} = {_expression(source, 3)}",
            f"{name}[{_expression(source, 1)}] += {_expression(source, 2)}",
            f"{name}({_expression(source, 2)}, {_expression(source, 2)})",
        ]
    )
    return source.choice(
        [
            simple,
            f"if {_expression(source, 2)}: {simple}",
            f"for {name} in {_expression(source, 1)}: {simple}",
        ]
    )


def _expression(source: random.Random, depth: int) -> str:
    name = source.choice(_NAMES)
    if not depth:
        return source.choice([name, str(source.randint(0, 999)), f"'{_words(source)}'"])
    inner, other = _expression(source, depth - 1), _expression(source, depth - 1)
    return source.choice(
        [
            f"{inner} {source.choice('+-*/')} {other}",
            f"({inner} and {other})",
            f"{name}.{source.choice(_NAMES)}({inner}, {other})",
            f"[{inner}, {other}]",
            f"({inner} == {other})",
            f"-{name}[{inner}]",
        ]
    )


def _case(name: str, gbnf: str, lark: str, *, builtin: bool = False) -> Case:
    return Case(
        name,
        "",
        "",
        ("gbnf", gbnf),
        ("builtin_json", None) if builtin else ("gbnf", gbnf),
        ("lark", lark),
    )


#: The languages, in the order in which they are run and shown.
GROWING: tuple[Growing, ...] = (
    Growing(_case("JSON", JSON_GBNF, JSON_LARK, builtin=True), _json),
    Growing(_case('E → E "+" E | n', _SUM_GBNF, _SUM_LARK), _sum),
    Growing(_case("nested tags", _TAGS_GBNF, _TAGS_LARK), _tags),
    Growing(_case("Python-like", _PYTHON_GBNF, _PYTHON_LARK), _python),
)

_KINDS: tuple[tuple[Any, Any], ...] = (
    ({"type": "string"}, "text"),
    ({"type": "integer", "minimum": 0}, 12),
    ({"type": "number"}, 1.5),
    ({"type": "boolean"}, True),
    ({"enum": ["small", "medium", "large"]}, "medium"),
    ({"type": "array", "items": {"type": "string", "maxLength": 40}}, ["a", "b"]),
)


def by_size(shape: str, size: int) -> tuple[Any, Any]:
    """A schema of about so many bytes of JSON, and a value that it accepts.

    ``"wide"`` is one object with many properties, ``"definitions"`` many objects that use each other
    (and themselves), ``"enum"`` one list of strings.
    """
    if shape == "enum":
        values = [f"value number {n:06}" for n in range(max(2, size // 23))]
        return {"enum": values}, values[len(values) // 2]
    per_part = 60 if shape == "wide" else 520
    parts = max(1, size // per_part)
    if shape == "wide":
        chosen = [_KINDS[n % len(_KINDS)] for n in range(parts)]
        properties = {f"property_{n}": schema for n, (schema, _) in enumerate(chosen)}
        # Every hundredth is there, so that the value does not grow with the schema too fast.
        some = {f"property_{n}": value for n, (_, value) in enumerate(chosen) if n % 100 == 0}
        closed = {"type": "object", "properties": properties, "additionalProperties": False}
        return closed | {"required": list(some)}, some
    definitions: dict[str, Any] = {}
    for n in range(parts):
        properties = {f"field_{k}": schema for k, (schema, _) in enumerate(_KINDS)}
        properties["next"] = {"$ref": f"#/$defs/part_{min(n + 1, parts - 1)}"}
        properties["own"] = {"type": "array", "items": {"$ref": f"#/$defs/part_{n}"}}
        definitions[f"part_{n}"] = {
            "type": "object",
            "properties": properties,
            "required": ["field_0"],
            "additionalProperties": False,
        }
    value: dict[str, Any] = {f"field_{k}": value for k, (_, value) in enumerate(_KINDS)}
    value |= {"next": {"field_0": "text"}, "own": [{"field_0": "more"}]}
    return {"$ref": "#/$defs/part_0", "$defs": definitions}, value


def by_count(shape: str, count: int) -> tuple[Any, Any]:
    """A schema with a bound, and a value well within it: ``"maxLength"``, ``"maxItems"`` or ``"minItems"``."""
    some = min(count, 60)
    if shape == "maxLength":
        return {"type": "string", "maxLength": count}, ("a few words " * 5)[:some]
    items = {"type": "array", "items": {"type": "integer"}}
    if shape == "maxItems":
        return items | {"maxItems": count}, list(range(some))
    return items | {"minItems": count, "maxItems": 2 * count}, list(range(count))

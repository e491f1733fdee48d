"""The grammars and texts of ``workbench bench masks``: one language a case, in each engine's best form.

A case fixes a language and a text of it. The three forms describe the same set of texts as far as the
engines' dialects allow; where a mask differs all the same, the benchmark says so.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Literal

__all__ = ["CASES", "JSON_GBNF", "JSON_LARK", "Case"]

Form = tuple[Literal["json_schema", "gbnf", "builtin_json", "lark"], Any]


@dataclass(frozen=True, slots=True)
class Case:
    """A language, two texts of it, and how each engine is told of the language."""

    name: str
    text: str
    #: measured after the first one, when that one is known and this one is not
    unseen: str
    workbench: Form
    xgrammar: Form
    llguidance: Form


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _object(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


_FLAT_SCHEMA = _object(
    id={"type": "integer"},
    name={"type": "string"},
    email={"type": "string"},
    age={"type": "integer"},
    active={"type": "boolean"},
    role={"enum": ["admin", "editor", "viewer"]},
    score={"type": "number"},
    city={"type": "string"},
    biography={"type": "string"},
    manager={"type": ["string", "null"]},
)

_FLAT_VALUE = {
    "id": 4711,
    "name": "Ada Lovelace",
    "email": "ada.lovelace@example.org",
    "age": 36,
    "active": True,
    "role": "editor",
    "score": 97.25,
    "city": 'São Paulo, near the "old" harbour',
    "biography": (
        "Wrote the first program for a machine that was never built.\nShe saw, before anyone else, "
        "that numbers can stand for things other than quantities: notes, letters, moves in a game. "
        "Kollegen nannten sie „Zauberin der Zahlen“. 数学者として知られる。"
    ),
    "manager": None,
}

_FLAT_UNSEEN = {
    "id": -90210,
    "name": "Grace Brewster Murray Hopper",
    "email": "hopper+navy@cobol.example.com",
    "age": 85,
    "active": False,
    "role": "viewer",
    "score": -0.5e-7,
    "city": "Łódź / 東京",
    "biography": (
        "A moth in relay 70 of the Mark II became the best known bug there is; it was taped into the "
        "logbook at 15:45.\tNanoseconds, she said, are pieces of wire: 29.97 cm each. "
        "Она любила говорить: «Проще попросить прощения, чем разрешения»."
    ),
    "manager": "Howard H. Aiken",
}

_TREE_SCHEMA = {
    "$ref": "#/$defs/node",
    "$defs": {
        "node": _object(
            label={"type": "string"},
            size={"type": "integer"},
            children={"type": "array", "items": {"$ref": "#/$defs/node"}},
        )
    },
}


def _tree(depth: int, name: str) -> dict[str, Any]:
    below = [_tree(depth - 1, f"{name}.{i}") for i in range(1, 3)] if depth else []
    return {"label": f"part {name}", "size": 10**depth + len(name), "children": below}


_JSON_VALUE = {
    "glossary": {
        "title": "example glossary",
        "divisions": [
            {
                "letter": "S",
                "entries": [
                    {"id": "SGML", "term": "Standard Generalized Markup Language", "year": 1986},
                    {"id": "XML", "see also": ["GML", "HTML", "π ≈ 3.14159"], "weight": -1.5e-3},
                ],
                "empty": [{}, [], "", None, True, False],
            },
            [[[[[1, 2], [3, [4, [5, [6]]]]]]]],
        ],
        "quote": 'a "quoted" path C:\\temp\tand a tab',
    }
}

_JSON_UNSEEN = [
    {"type": "FeatureCollection", "crs": None, "bbox": [-10.5, 47e0, 0, 0.001]},
    {
        "features": [
            {
                "geometry": {"coordinates": [[[8.54, 47.37], [-0.1276, 51.5072]]]},
                "properties": {"Zürich": True, "pop.": 434008, "": [[], {}, [{}]]},
            },
            "a string in between",
            False,
        ],
        "note": "tabs\tand \u0007 bells, slashes / and \\u0041",
        "deep": {"a": {"b": {"c": {"d": [{"e": [None, 123456789012345678]}]}}}},
    },
]

JSON_GBNF = r"""
root   ::= object | array
value  ::= object | array | string | number | "true" | "false" | "null"
object ::= "{" ws (member ("," ws member)*)? "}"
member ::= string ws ":" ws value ws
array  ::= "[" ws (value ws ("," ws value ws)*)? "]"
string ::= "\"" ([^"\\\x00-\x1f] | "\\" (["\\/bfnrt] | "u" [0-9a-fA-F]{4}))* "\""
number ::= "-"? ("0" | [1-9] [0-9]*) ("." [0-9]+)? ([eE] [-+]? [0-9]+)?
ws     ::= [ \t\n\r]*
"""

JSON_LARK = r"""
start: object | array
value: object | array | STRING | NUMBER | "true" | "false" | "null"
object: "{" WS? (member ("," WS? member)*)? "}"
member: STRING WS? ":" WS? value WS?
array: "[" WS? (value WS? ("," WS? value WS?)*)? "]"
STRING: /"([^"\\\x00-\x1f]|\\(["\\\/bfnrt]|u[0-9a-fA-F]{4}))*"/
NUMBER: /-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?/
WS: /[ \t\n\r]+/
"""

_ARITHMETIC_GBNF = r"""
root   ::= term (" "? [-+] " "? term)*
term   ::= factor (" "? [*/] " "? factor)*
factor ::= number | "-" factor | "(" root ")"
number ::= [0-9]+ ("." [0-9]+)?
"""

_ARITHMETIC_LARK = r"""
start: atom (OP atom)*
atom: NEG? (NUMBER | "(" start ")")
NEG: /-+/
OP: / ?[-+*\/] ?/
NUMBER: /[0-9]+(\.[0-9]+)?/
"""

_ARITHMETIC_TEXT = (
    "12 + 3*(4.5 - 6/(7 + 8)) - -9*((10 - 11)*(12 + (13 - (14*(15 + (16/(17 - 18.25))))))) "
    "+ (1 + (2 + (3 + (4 + (5 + (6 + (7 + (8 + (9 + (10)))))))))) * 2718.28 - 3141 / 59 "
    "+ (100*(200*(300*(400 - 500) + 600) - 700) / 800) - 0.125*((((1))))+2*3-4/5+6*7-8/9"
)

_ARITHMETIC_UNSEEN = (
    "-(7.25*8-((9+1)/-3.5))*-(-(6))/2 + 1000000 - (((2+3)*(4+5))-(6/7)) * 0.001+--5 "
    "- ((((((99 / 98) * 97) - 96) + 95) / 94) * 93) + 31415.9265*2"
)

_SQL_GBNF = r"""
root       ::= select ";"
select     ::= "SELECT " columns " FROM " source join* (" WHERE " condition)? group? order? limit?
columns    ::= "*" | column (", " column)*
column     ::= expression (" AS " name)?
source     ::= name | "(" select ") AS " name
join       ::= (" LEFT" | " INNER") " JOIN " source " ON " condition
group      ::= " GROUP BY " path (", " path)*
order      ::= " ORDER BY " expression (" ASC" | " DESC") (", " expression (" ASC" | " DESC"))*
limit      ::= " LIMIT " integer
condition  ::= conjunct (" OR " conjunct)*
conjunct   ::= comparison (" AND " comparison)*
comparison ::= "(" condition ")" | expression (operator expression | " IN (" list ")")
operator   ::= " = " | " <> " | " < " | " <= " | " > " | " >= "
list       ::= expression (", " expression)* | select
expression ::= operand ((" + " | " - " | " * ") operand)*
operand    ::= path | call | text | number | "[" expression "]"
call       ::= "#" name "(" expression (", " expression)* ")"
path       ::= name ("." name)?
name       ::= [a-z] [a-z0-9_]*
text       ::= "'" ([^'\x00-\x1f] | "''")* "'"
number     ::= integer ("." [0-9]+)?
integer    ::= [0-9]+
"""

# The same texts: this form takes XGrammar a tenth of the time that the loop with two branches does.
_SQL_GBNF_RIGHT_RECURSIVE = _SQL_GBNF.replace(
    r"""text       ::= "'" ([^'\x00-\x1f] | "''")* "'" """.rstrip(),
    r"""text       ::= "'" rest
rest       ::= "'" | "''" rest | [^'\x00-\x1f] rest""",
)

_SQL_LARK = r"""
start: select ";"
select: "SELECT " columns " FROM " source join* (" WHERE " condition)? group? order? limit?
columns: "*" | column (", " column)*
column: expression (" AS " NAME)?
source: NAME | "(" select ") AS " NAME
join: (" LEFT" | " INNER") " JOIN " source " ON " condition
group: " GROUP BY " path (", " path)*
order: " ORDER BY " expression (" ASC" | " DESC") (", " expression (" ASC" | " DESC"))*
limit: " LIMIT " INTEGER
condition: conjunct (" OR " conjunct)*
conjunct: comparison (" AND " comparison)*
comparison: "(" condition ")" | expression (operator expression | " IN (" list ")")
operator: " = " | " <> " | " < " | " <= " | " > " | " >= "
list: expression (", " expression)* | select
expression: operand ((" + " | " - " | " * ") operand)*
operand: path | call | TEXT | number | "[" expression "]"
call: "#" NAME "(" expression (", " expression)* ")"
path: NAME ("." NAME)?
number: INTEGER ("." INTEGER)?
NAME: /[a-z][a-z0-9_]*/
TEXT: /'([^'\x00-\x1f]|'')*'/
INTEGER: /[0-9]+/
"""

_SQL_TEXT = (
    "SELECT customer.name AS customer_name, #sum(item.price * item.quantity) AS total, #count(item.id) "
    "FROM customer INNER JOIN orders ON orders.customer_id = customer.id "
    "LEFT JOIN (SELECT id, order_id, price, quantity FROM line_item WHERE deleted = 0) AS item "
    "ON item.order_id = orders.id AND item.price > 0.5 "
    "WHERE (customer.country IN ('Deutschland', 'Österreich', 'Côte d''Ivoire') OR "
    "customer.vip = 'yes, since 2019') AND orders.placed >= '2024-01-01' AND "
    "orders.state <> 'cancelled by the customer' AND "
    "customer.id IN (SELECT customer_id FROM newsletter WHERE [opened - bounced] * 100 > 25) "
    "GROUP BY customer.name ORDER BY #sum(item.price) DESC, customer.name ASC LIMIT 50;"
)

_SQL_UNSEEN = (
    "SELECT * FROM (SELECT room_no, #max(price) AS top FROM bookings GROUP BY room_no) AS best "
    "INNER JOIN rooms ON rooms.no = best.room_no AND (rooms.floor >= 3 OR rooms.view = 'sea ''n'' sky') "
    "LEFT JOIN guests ON guests.id = rooms.last_guest "
    "WHERE best.top * 1.19 < 250 + 12.50 AND guests.name <> 'Müller-Lüdenscheidt' OR "
    "rooms.no IN (101, 102, 103, #next(200 - 1)) "
    "ORDER BY best.top ASC, #length(guests.name) + 1 DESC LIMIT 7;"
)

#: The five cases, in the order in which they are run and shown.
CASES: tuple[Case, ...] = (
    Case(
        "flat schema",
        _compact(_FLAT_VALUE),
        _compact(_FLAT_UNSEEN),
        ("json_schema", _FLAT_SCHEMA),
        ("json_schema", _FLAT_SCHEMA),
        ("json_schema", _FLAT_SCHEMA),
    ),
    Case(
        "recursive schema",
        _compact(_tree(3, "1")),
        _compact(_tree(2, "branch/7")),
        ("json_schema", _TREE_SCHEMA),
        ("json_schema", _TREE_SCHEMA),
        ("json_schema", _TREE_SCHEMA),
    ),
    Case(
        "generic JSON",
        json.dumps(_JSON_VALUE, ensure_ascii=False, indent=2),
        json.dumps(_JSON_UNSEEN, ensure_ascii=False, indent=4),
        ("gbnf", JSON_GBNF),
        ("builtin_json", None),
        ("lark", JSON_LARK),
    ),
    Case(
        "arithmetic",
        _ARITHMETIC_TEXT,
        _ARITHMETIC_UNSEEN,
        ("gbnf", _ARITHMETIC_GBNF),
        ("gbnf", _ARITHMETIC_GBNF),
        ("lark", _ARITHMETIC_LARK),
    ),
    Case(
        "SQL-like",
        _SQL_TEXT,
        _SQL_UNSEEN,
        ("gbnf", _SQL_GBNF),
        ("gbnf", _SQL_GBNF_RIGHT_RECURSIVE),
        ("lark", _SQL_LARK),
    ),
)

"""Each text that a schema accepts and its grammar does not belongs to a restriction that the outcomes state.

Values are drawn and judged by the ``jsonschema`` library. Each is written in the most usual way first, with its
names in whatever order the grammar takes, and then differently in one place: another order of names, another
notation of a number, other escapes, more whitespace, more digits. A refusal has to be explained by an outcome of that
kind, at a schema that speaks of the place or of one around it.
"""

from __future__ import annotations

import itertools
import json
import random
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import jsonschema
import pytest

import workbench as wb
from workbench.errors import UnsatisfiableGrammar, UnsupportedConstraint
from workbench.grammar.ir import Grammar

Path = tuple[str | int, ...]

BYTES = wb.Vocabulary.from_bytes([*(bytes([byte]) for byte in range(256)), b"</s>"], eos_ids=[256])
NAMES = ["a", "b", "c", "é", "xa", "a/b"]
STRINGS = ["", "a", "b", "ab", "é", 'q"\\/', "2024-02-29", "1.2.3.4", "aaaa", "x\n", "\x01", "😀"]
NUMBERS: list[Any] = [0, 1, 2, 3, 7, 10, 12, 15, -5, 100, 1200, 1.5, -0.5, 0.25, 2.5, 1e21, 10.01]
SCALARS: list[Any] = [None, True, False, *STRINGS, *NUMBERS]

#: parts of schemas without others inside
LEAVES: list[dict[str, Any]] = [
    {},
    {"type": "integer"},
    {"type": "number"},
    {"type": ["integer", "string"]},
    {"type": "string"},
    {"type": "integer", "minimum": 0, "maximum": 150},
    {"minimum": 0},
    {"minimum": 0, "maximum": 0},
    {"exclusiveMinimum": 0.5},
    {"type": "number", "exclusiveMaximum": 12},
    {"multipleOf": 1},
    {"multipleOf": 5},
    {"multipleOf": 7},
    {"multipleOf": 0.25},
    {"type": "integer", "multipleOf": 3, "minimum": 0},
    {"const": 10},
    {"const": "é"},
    {"const": None},
    {"const": {"b": 1, "a": [1.5, "x\n"]}},
    {"enum": [1, "a", None, {"a": 1, "c": "é"}]},
    {"enum": [1200, 2.5, 1e21, "ab"]},
    {"type": "string", "minLength": 1, "maxLength": 3},
    {"type": "string", "pattern": "^[ab]+$"},
    {"type": "string", "pattern": "^(a|é)$"},
    {"type": "string", "format": "date"},
    {"type": "string", "format": "ipv4"},
    {"type": "boolean"},
    {"not": {"type": "integer"}},
    {"not": {"const": 10}},
    {"not": {"enum": ["a", 1]}},
    {"not": {"minimum": 5}},
    {"not": {"multipleOf": 5}},
]


NAMINGS: list[dict[str, Any]] = [
    {"maxLength": 2},
    {"pattern": "^[ab]"},
    {"minLength": 1},
    {"enum": ["a", "é"]},
    {"const": "a/b"},
    {"not": {"const": "a"}},
    {"pattern": "^.{0,2}$"},
]


def schema_of(rng: random.Random, depth: int = 2) -> dict[str, Any]:
    """A random schema, most often one with something in it."""
    if depth == 0 or rng.random() < 0.25:
        return dict(rng.choice(LEAVES))
    kind = rng.randrange(9)

    def below() -> dict[str, Any]:
        return schema_of(rng, depth - 1)

    if kind <= 3:
        names = rng.sample(NAMES, rng.randint(0, 3))
        out: dict[str, Any] = {"type": "object", "properties": {name: below() for name in names}}
        if rng.random() < 0.3:
            del out["properties"]
        if rng.random() < 0.6:
            out["required"] = rng.sample(NAMES, rng.randint(0, 2))
        if rng.random() < 0.3:
            out["patternProperties"] = {rng.choice(["^x", "^(a|é)$", "b"]): below()}
        if rng.random() < 0.3:
            out["additionalProperties"] = rng.choice([False, below()])
        if rng.random() < 0.15:
            out["propertyNames"] = dict(rng.choice(NAMINGS))
        if rng.random() < 0.15:
            out["dependentRequired"] = {rng.choice(NAMES): [rng.choice(NAMES)]}
        if rng.random() < 0.15:
            out["dependentSchemas"] = {rng.choice(NAMES): below()}
        if rng.random() < 0.1:
            out["unevaluatedProperties"] = rng.choice([False, below()])
        if rng.random() < 0.2:
            out[rng.choice(["minProperties", "maxProperties"])] = rng.randint(1, 2)
        return out
    if kind == 4:
        out = {"type": "array", "items": below()}
        if rng.random() < 0.5:
            out["uniqueItems"] = True
        if rng.random() < 0.3:
            out["prefixItems"] = [below()]
        elif rng.random() < 0.3:
            out["contains"] = dict(rng.choice(LEAVES))
        return out
    if kind == 5:
        return {rng.choice(["allOf", "anyOf", "oneOf"]): [below(), below()]}
    if kind == 6:
        return {"not": below()}
    if kind == 7:
        return {"if": below(), rng.choice(["then", "else"]): below()}
    return {**below(), **below()}


def value_of(rng: random.Random, schema: Any, depth: int = 3) -> Any:
    """A value that a schema may accept: what it mentions, or anything."""
    if isinstance(schema, dict) and rng.random() < 0.9:
        for word in ("allOf", "anyOf", "oneOf"):
            if word in schema:
                return value_of(rng, rng.choice(schema[word]), depth)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return rng.choice(schema["enum"])
        if schema.get("type") == "object" or schema.keys() & {"properties", "required"}:
            names = [*schema.get("properties", {}), *schema.get("required", [])]
            names = [name for name in names if rng.random() < 0.8]
            names += rng.sample(NAMES, rng.choice([0, 0, 1, 2]))
            out = {}
            for name in dict.fromkeys(names):
                part = schema.get("properties", {}).get(
                    name, schema.get("additionalProperties", {})
                )
                out[name] = value_of(rng, part, depth - 1)
            return out
        if schema.get("type") == "array" or schema.keys() & {"items", "uniqueItems"}:
            return [
                value_of(rng, schema.get("items", {}), depth - 1) for _ in range(rng.randint(0, 3))
            ]
        if "if" in schema and rng.random() < 0.5:
            return value_of(rng, schema.get("then", schema["if"]), depth)
        kinds = schema.get("type", [])
        if isinstance(kinds, str) and kinds in ("integer", "number"):
            return rng.choice(NUMBERS)
        if kinds == "string":
            return rng.choice(STRINGS)
    if depth <= 0 or rng.random() < 0.7:
        return rng.choice(SCALARS)
    if rng.random() < 0.5:
        return [value_of(rng, None, depth - 1) for _ in range(rng.randint(0, 2))]
    names = rng.sample(NAMES, rng.randint(0, 3))
    return {name: value_of(rng, None, depth - 1) for name in names}


class Written:
    """How a value is written: as ``json.dumps`` with some options, but for what is said of some of its places."""

    def __init__(
        self, value: Any, options: dict[str, Any], orders: dict[Path, tuple[str, ...]]
    ) -> None:
        self.value, self.options, self.orders = value, options, orders
        self.others: dict[tuple[Path, str], str] = {}
        self.space = ""

    def but(self, at: Path, what: str, text: str) -> str:
        """The text with one name or value written otherwise."""
        other = Written(self.value, self.options, self.orders)
        other.others[at, what] = text
        return other.text()

    def _plain(self, value: Any) -> str:
        return json.dumps(value, ensure_ascii=self.options.get("ascii_only", False))

    def text(self) -> str:
        return self._text(self.value, ())

    def _text(self, value: Any, at: Path) -> str:
        other = self.others.get((at, "value"))
        if other is not None:
            return other
        comma, colon = self.options.get("separators", (",", ":"))
        comma, colon = comma + self.space, colon + self.space
        if isinstance(value, dict):
            names = self.orders.get(at, tuple(value))
            members = []
            for name in names:
                key = self.others.get(((*at, name), "name"), self._plain(name))
                members.append(f"{key}{colon}{self._text(value[name], (*at, name))}")
            return "{" + comma.join(members) + "}"
        if isinstance(value, list):
            return "[" + comma.join(self._text(v, (*at, i)) for i, v in enumerate(value)) + "]"
        return self._plain(value)


def places(value: Any, at: Path = ()) -> Iterator[tuple[Path, Any]]:
    yield at, value
    if isinstance(value, dict | list):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for key, part in pairs:
            yield from places(part, (*at, key))


def orders_of(value: Any) -> Iterator[dict[Path, tuple[str, ...]]]:
    """Ways to order the names of all objects of a value."""
    objects = [(at, part) for at, part in places(value) if isinstance(part, dict) and len(part) > 1]
    ways = [[(at, order) for order in itertools.permutations(part)] for at, part in objects]
    for chosen in itertools.islice(itertools.product(*ways), 200):
        yield dict(chosen)


def escaped(text: str, rng: random.Random) -> str:
    """A string in another spelling than the usual one: one character as a numbered escape."""
    at = rng.randrange(len(text))
    units = text[at].encode("utf-16-be").hex()
    codes = [units[i : i + 4] for i in range(0, len(units), 4)]
    escape = "".join(f"\\u{code.upper() if rng.random() < 0.5 else code}" for code in codes)
    before, after = (
        json.dumps(part, ensure_ascii=False)[1:-1] for part in (text[:at], text[at + 1 :])
    )
    return f'"{before}{escape}{after}"'


def notations(value: int | float) -> list[tuple[str, str]]:
    """Other notations of a number, and the kind of what is unusual about them."""
    exact = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    plain = f"{exact:f}"
    point = "" if "." in plain else "."
    found = [
        (plain, "notation"),
        (f"{plain}{point}0", "notation"),
        (f"{plain}{point}00", "notation"),
    ]
    found += [(f"{plain}e0", "notation"), (f"{exact.scaleb(1):f}e-1", "notation")]
    found += [(f"{exact.scaleb(-1):f}E+01", "notation"), (f"{plain}{point}{'0' * 120}", "length")]
    if not exact:
        found.append(("-0", "notation"))
    assert all(Decimal(text) == exact for text, _ in found)
    return found


def changed(written: Written, rng: random.Random) -> Iterator[tuple[str, Path, str]]:
    """Texts of the same value that are unusual in one place: the kind, the place, the text."""
    for at, part in places(written.value):
        if isinstance(part, str) and part:
            yield "escapes", at, written.but(at, "value", escaped(part, rng))
        if isinstance(part, int | float) and not isinstance(part, bool):
            for text, kind in notations(part):
                yield kind, at, written.but(at, "value", text)
        if isinstance(part, dict):
            for name in part:
                if name:
                    text = written.but((*at, name), "name", escaped(name, rng))
                    yield "escapes", at, text
            if len(part) > 1:
                order = tuple(rng.sample(sorted(part), len(part)))
                orders = {**written.orders, at: order}
                other = Written(written.value, written.options, orders)
                yield "order", at, other.text()
    other = Written(written.value, written.options, written.orders)
    for space in (" ", "\n\t", " " * 30):
        other.space = space
        yield "whitespace", (), other.text()
    yield "whitespace", (), f" {written.text()}\n"


def speaking(schema: Any, pointer: str, path: Path) -> Iterator[str]:
    """Pointers of the schemas that may speak of a place of a value, or of one around it."""
    yield pointer
    if not isinstance(schema, dict):
        return
    for word in ("allOf", "anyOf", "oneOf"):
        for number, part in enumerate(schema.get(word, ())):
            yield from speaking(part, f"{pointer}/{word}/{number}", path)
    for word in ("not", "if", "then", "else"):
        if word in schema:
            yield from speaking(schema[word], f"{pointer}/{word}", path)
    for name, part in schema.get("dependentSchemas", {}).items():
        step = name.replace("~", "~0").replace("/", "~1")
        yield from speaking(part, f"{pointer}/dependentSchemas/{step}", path)
    if "propertyNames" in schema:
        yield from speaking(schema["propertyNames"], f"{pointer}/propertyNames", path)
    if path:
        first, rest = path[0], path[1:]
        for word in ("properties", "patternProperties"):
            for name, part in schema.get(word, {}).items():
                if word == "patternProperties" or name == first:
                    step = name.replace("~", "~0").replace("/", "~1")
                    yield from speaking(part, f"{pointer}/{word}/{step}", rest)
        for word in ("additionalProperties", "unevaluatedProperties", "items", "contains"):
            if word in schema:
                yield from speaking(schema[word], f"{pointer}/{word}", rest)
        for number, part in enumerate(schema.get("prefixItems", ())):
            yield from speaking(part, f"{pointer}/prefixItems/{number}", rest)


def is_explained(grammar: Grammar, kind: str, at: Path) -> bool:
    """Whether an outcome says that texts of this kind are left out at a place of a value."""
    for schema in speaking(grammar.source, "#", at):
        for outcome in grammar.outcomes:
            where = outcome.pointer, outcome.pointer.rpartition("/")[0]
            if kind in outcome.kinds and schema in where:
                assert outcome.status == "restricted" and outcome.detail, outcome
                return True
    return False


def is_long(text: str, options: dict[str, Any]) -> bool:
    """Whether an option leaves out a text for its digits."""
    most = options.get("max_digits", 100)
    return most is not None and max(map(len, re.findall("[0-9]+", text))) > most


OPTIONS: list[dict[str, Any]] = [
    {},
    {"property_order": "any"},
    {"numbers": "plain", "whitespace": "any"},
    {"ascii_only": True, "whitespace": "compact"},
    {"unicode_escapes": False, "separators": (", ", ": ")},
    {"additional_properties": False},
    {"max_digits": 2, "max_whitespace": 1},
    {"max_digits": None, "property_order": "any", "whitespace": "any"},
    {"unique_keys": False},
]


@pytest.mark.parametrize("seed", range(40))
def test_what_is_left_out_is_said(seed: int) -> None:
    rng = random.Random(seed)
    judged = 0
    while judged < 8:
        schema = schema_of(rng)
        validator = jsonschema.Draft202012Validator(
            schema, format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER
        )
        options = dict(rng.choice(OPTIONS))
        try:
            grammar = wb.json_schema(schema, draft=2020, **options)
        except (UnsatisfiableGrammar, UnsupportedConstraint):
            continue
        judged += 1
        start = wb.compile(grammar, BYTES, cache=False).matcher()

        def accepts(text: str, start: wb.Matcher = start) -> bool:
            matcher = start.fork()
            data = text.encode()
            return matcher.accept_tokens(data) == len(data) and matcher.is_accepting

        values = [value_of(rng, schema) for _ in range(25)]
        for value in [value for value in values if validator.is_valid(value)][:6]:
            judge(grammar, accepts, value, options, rng)


def judge(
    grammar: Grammar, accepts: Any, value: Any, options: dict[str, Any], rng: random.Random
) -> None:
    """Hold all refusals of a valid value against the outcomes."""
    first = Written(value, options, {})
    usual = [first, *(Written(value, options, orders) for orders in orders_of(value))]
    written = next((way for way in usual if accepts(way.text())), None)
    anywhere = [at for at, _ in places(value)]
    if written is None:
        kinds = ("values", "escapes", "length", "notation")
        told = any(is_explained(grammar, kind, at) for kind in kinds for at in anywhere)
        assert told, (grammar.source, options, value, "is refused in every order")
        return
    for kind, at, text in [*changed(written, rng), ("order", (), first.text())]:
        assert json.loads(text, parse_float=Decimal) == json.loads(
            json.dumps(value), parse_float=Decimal
        )
        if not accepts(text):
            everywhere = anywhere if kind == "order" else [at]
            kinds = {kind}
            if kind == "length":
                kinds.add("notation")
            elif kind == "notation" and is_long(text, options):
                kinds.add("length")
            told = any(is_explained(grammar, one, place) for one in kinds for place in everywhere)
            assert told, (grammar.source, options, kind, at, text, grammar.outcomes)

"""Random schemas against the ``jsonschema`` package, and numbers against exact arithmetic."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import jsonschema
from hypothesis import assume, event, given, settings, strategies as st

from tests.frontends.ir_match import matches
from workbench.automaton.finite import determinise, to_graph
from workbench.errors import GrammarSyntaxError, GrammarTooComplex, UnsatisfiableGrammar
from workbench.frontends.json_schema import json_schema
from workbench.frontends.json_schema.scalars.numbers import Bound, exactly, number_between
from workbench.frontends.json_schema.text.json_spelling import complement, spell_class
from workbench.frontends.regex import parse_regex, search
from workbench.grammar.ir import NEVER, CharSet
from workbench.grammar.json_strings import coded, other_texts

NAMES = ["a", "b", "c", "é"]
TEXTS = st.one_of(
    st.text("ab", max_size=3), st.sampled_from(["é", "😀", '"', "a\\b", "a\nb", "\x7f", "/"])
)
NUMBERS = st.one_of(st.integers(-4, 4), st.sampled_from([-1.5, -0.5, 0.25, 0.5, 1.0, 2.5, 1000000]))
SCALARS = st.one_of(st.none(), st.booleans(), NUMBERS, TEXTS)
VALUES: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(NAMES), inner, max_size=3),
    ),
    max_leaves=5,
)
TYPES = ["null", "boolean", "integer", "number", "string", "array", "object"]
COUNTS = st.integers(0, 3)
FEW_VALUES = st.one_of(
    st.just({"type": "boolean"}),
    st.lists(SCALARS, min_size=1, max_size=3).map(lambda values: {"enum": values}),
)


def keywords(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Schemas with some of the keywords that are enforced."""
    some = st.lists(inner, min_size=1, max_size=2)
    named = st.dictionaries(st.sampled_from(NAMES), inner, max_size=3)
    optional = {
        "type": st.one_of(
            st.sampled_from(TYPES),
            st.lists(st.sampled_from(TYPES), min_size=1, max_size=3, unique=True),
        ),
        "enum": st.lists(VALUES, min_size=1, max_size=4),
        "const": VALUES,
        "minLength": COUNTS,
        "maxLength": COUNTS,
        "pattern": st.sampled_from(
            ["a", "^a", "^[ab]*$", "a|^b", "^(ab|é)+$", "[^a]", "\\\\", "^.$"]
        ),
        "minimum": NUMBERS,
        "maximum": NUMBERS,
        "exclusiveMinimum": NUMBERS,
        "exclusiveMaximum": NUMBERS,
        "minItems": COUNTS,
        "maxItems": COUNTS,
        "items": inner,
        "prefixItems": some,
        "properties": named,
        "required": st.lists(st.sampled_from(NAMES), max_size=2, unique=True),
        "additionalProperties": inner,
        "anyOf": some,
        "allOf": some,
        "oneOf": st.lists(inner, min_size=1, max_size=3),
        "$ref": st.sampled_from(["#/$defs/x", "#/$defs/y"]),
        "not": inner,
        "if": inner,
        "then": inner,
        "else": inner,
        "multipleOf": st.sampled_from([1, 2, 3, 0.5, 2.5, 0.1]),
        "patternProperties": st.dictionaries(
            st.sampled_from(["^a", "b", "^[ab]$", "é"]), inner, max_size=2
        ),
        "propertyNames": inner,
        "minProperties": COUNTS,
        "maxProperties": COUNTS,
        "dependentRequired": st.dictionaries(
            st.sampled_from(NAMES), st.lists(st.sampled_from(NAMES), max_size=2, unique=True)
        ),
        "dependentSchemas": named,
        "contains": inner,
        "minContains": COUNTS,
        "maxContains": COUNTS,
        "unevaluatedProperties": inner,
        "unevaluatedItems": inner,
        "format": st.sampled_from(["ipv4", "date"]),
        "uniqueItems": st.booleans(),
    }

    def build(draw: st.DrawFn) -> dict[str, Any]:
        chosen = draw(
            st.lists(st.sampled_from(sorted(optional)), min_size=1, max_size=5, unique=True)
        )
        if "if" in chosen:
            chosen += [keyword for keyword in ("then", "else") if keyword not in chosen]
        if "uniqueItems" in chosen:
            return {"uniqueItems": draw(optional["uniqueItems"]), "items": draw(FEW_VALUES)}
        return {keyword: draw(optional[keyword]) for keyword in chosen}

    return st.composite(build)()


SCHEMAS = st.recursive(st.one_of(st.booleans(), st.just({})), keywords, max_leaves=6)


@st.composite
def fitting(draw: st.DrawFn, schema: Any) -> Any:
    """A value made with the schema in mind; it often satisfies it and never has to."""
    if not isinstance(schema, dict) or draw(st.integers(0, 5)) == 0:
        return draw(VALUES)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return draw(st.sampled_from(schema["enum"]))
    for keyword in ("anyOf", "allOf", "oneOf"):
        if keyword in schema and draw(st.booleans()):
            return draw(fitting(draw(st.sampled_from(schema[keyword]))))
    if "properties" in schema or "required" in schema:
        listed = schema.get("properties", {})
        names = draw(st.lists(st.sampled_from(NAMES), max_size=2, unique=True))
        names += [name for name in schema.get("required", []) if name not in names]
        rest = schema.get("additionalProperties", {})
        return {name: draw(fitting(listed.get(name, rest))) for name in names[:4]}
    if "items" in schema or "prefixItems" in schema or "contains" in schema:
        prefix = schema.get("prefixItems", [])
        size = draw(st.integers(0, len(prefix) + 1))
        rest = schema.get("items", schema.get("contains", {}))
        cells = [*prefix, *[rest] * 2]
        return [draw(fitting(cell)) for cell in cells[:size]]
    return draw(VALUES)


def orders(value: Any) -> Iterator[Any]:
    if isinstance(value, list):
        for items in itertools.product(*[list(orders(item)) for item in value]):
            yield list(items)
    elif isinstance(value, dict):
        for keys in itertools.permutations(value):
            for items in itertools.product(*[list(orders(value[key])) for key in keys]):
                yield dict(zip(keys, items, strict=True))
    else:
        yield value


@given(st.data())
@settings(max_examples=150)
def test_random_schemas_agree_with_jsonschema(data: st.DataObject) -> None:
    schema = data.draw(keywords(SCHEMAS), label="schema")
    schema["$defs"] = {
        "x": data.draw(keywords(SCHEMAS), label="x"),
        "y": data.draw(SCHEMAS, label="y"),
    }
    grammar = None
    try:
        grammar = json_schema(schema, whitespace="compact")
    except UnsatisfiableGrammar:
        event("empty")
    except GrammarSyntaxError as error:
        assume("without end" not in str(error))
        raise
    except GrammarTooComplex:
        assume(False)
    checker = jsonschema.FormatChecker(formats=["ipv4", "date"])
    validator = jsonschema.Draft202012Validator(schema, format_checker=checker)
    ascii_only = data.draw(st.booleans(), label="ascii")
    for _ in range(4):
        value = data.draw(fitting(schema), label="value")
        valid = validator.is_valid(value)
        event("valid" if valid else "invalid")
        # A valid value needs one order that fits the schema; an invalid one is tried in some.
        texts = (
            json.dumps(order, separators=(",", ":"), ensure_ascii=ascii_only)
            for order in itertools.islice(orders(value), 5_000 if valid else 100)
        )
        accepted = grammar is not None and any(matches(grammar, text) for text in texts)
        assert accepted == valid, (schema, value)


DECIMALS = st.one_of(
    st.integers(-1200, 1200).map(lambda n: Decimal(n) / 8),
    st.integers(-30, 30).map(Decimal),
    st.decimals(-1000, 1000, places=3),
)
BOUNDS = st.one_of(st.none(), st.builds(Bound, DECIMALS, st.booleans()))


@given(BOUNDS, BOUNDS, st.booleans(), st.lists(DECIMALS, max_size=6), st.integers(0, 2))
@settings(max_examples=150)
def test_intervals_are_exact(
    low: Bound | None, high: Bound | None, whole: bool, values: list[Decimal], zeros: int
) -> None:
    language = number_between(low, high, whole)
    step = Decimal("0.001")
    near = [bound.value + shift for bound in (low, high) if bound for shift in (-step, 0, step)]
    integers = [value.to_integral_value() for value in near]
    for value in [*values, *near, *integers, Decimal(0)]:
        text = f"{value:f}"
        text += ("" if "." in text else ".") + "0" * zeros if zeros else ""
        inside = low is None or value > low.value or (value == low.value and low.inclusive)
        inside &= high is None or value < high.value or (value == high.value and high.inclusive)
        inside &= not whole or value == value.to_integral_value()
        if text.endswith(".") or not whole or value == value.to_integral_value():
            text = text.rstrip(".")
        assert matches(language, text) == inside, (text, low, high, whole)


@given(DECIMALS, DECIMALS)
@settings(max_examples=60)
def test_exact_values(value: Decimal, other: Decimal) -> None:
    assert matches(exactly(value), f"{value:f}")
    assert matches(exactly(value), f"{other:f}") == (value == other)


@given(st.lists(st.tuples(st.integers(0, 0x10FFFF), st.integers(0, 600)), max_size=3), st.data())
@settings(max_examples=80)
def test_every_spelling_of_a_class(pairs: list[tuple[int, int]], data: st.DataObject) -> None:
    codes = sorted(
        {code for low, size in pairs for code in range(low, min(low + size, 0x10FFFF) + 1)}
    )
    ranges: list[tuple[int, int]] = []
    for code in codes:
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1] = (ranges[-1][0], code)
        else:
            ranges.append((code, code))
    language = spell_class(tuple(ranges))
    probes = st.one_of(st.integers(0, 0x10FFFF), st.sampled_from(codes or [0]))
    edges = [edge + shift for pair in ranges for edge in pair for shift in (-1, 0, 1)]
    for code in [data.draw(probes), *edges, 0x22, 0x5C, 0x1F, 0xD7FF, 0xE000]:
        if not 0 <= code <= 0x10FFFF:
            continue
        belongs = code in set(codes) and not 0xD800 <= code <= 0xDFFF
        units = chr(code).encode("utf-16-be", "surrogatepass")
        escapes = "".join(f"\\u{units[i]:02x}{units[i + 1]:02X}" for i in range(0, len(units), 2))
        assert matches(language, escapes) == belongs, hex(code)
        if not 0xD800 <= code <= 0xDFFF:
            raw = code >= 0x20 and chr(code) not in '"\\'
            assert matches(language, chr(code)) == (belongs and raw), hex(code)
    assert (language == NEVER) == (not [code for code in codes if not 0xD800 <= code <= 0xDFFF])


def spellings(char: str) -> st.SearchStrategy[str]:
    """The ways to write a character in a JSON string."""
    units = char.encode("utf-16-be")
    codes = [units[i] << 8 | units[i + 1] for i in range(0, len(units), 2)]
    found = [
        "".join(f"\\u{code:04x}" for code in codes),
        "".join(f"\\u{code:04X}" for code in codes),
    ]
    if char >= " " and char not in '"\\':
        found.append(char)
    if char in _LETTERS:
        found.append("\\" + _LETTERS[char])
    return st.sampled_from(found)


_LETTERS = {'"': '"', "\\": "\\", "/": "/", "\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t"}
ODD_TEXTS = st.text(
    st.sampled_from('ab"\\/\nA\x1f\x7fé\u07ff\u0800漢\ud7ff\ue000\uffff😀\U0010ffff'), max_size=3
)


@given(st.lists(ODD_TEXTS, max_size=4, unique=True), ODD_TEXTS, st.data())
@settings(max_examples=150)
def test_names_differ_in_any_spelling(names: list[str], text: str, data: st.DataObject) -> None:
    language = other_texts(names)
    for candidate in [text, *names]:
        written = "".join(data.draw(spellings(char)) for char in candidate)
        assert matches(language, written) == (candidate not in names)
        for rest in ("\\", "\\ud800", "\\udc00", "\\ud800\\u0041", '"', "\n"):
            assert not matches(language, written + rest)


PATTERNS = ["a.*é|^[^a]b", "[a-\U0001f600]b{0,2}", r"^(\\|\n|/)+$", "^[^😀]*$"]


@given(st.sampled_from(PATTERNS), ODD_TEXTS, st.data())
@settings(max_examples=100)
def test_automata_in_bytes_and_in_classes(pattern: str, text: str, data: st.DataObject) -> None:
    dfa = determinise(search(parse_regex(pattern)))
    in_bytes = coded(to_graph(dfa, CharSet))
    assert in_bytes is not None
    written = "".join(data.draw(spellings(char)) for char in text)
    assert matches(in_bytes, written) == dfa.accepts(text)
    assert matches(to_graph(dfa, spell_class), written) == dfa.accepts(text)


def test_complements_leave_surrogates_out() -> None:
    assert complement(((0x61, 0x61),)) == ((0, 0x60), (0x62, 0xD7FF), (0xE000, 0x10FFFF))
    assert complement(((0, 0x10FFFF),)) == ()
    assert matches(CharSet(complement(())), "😀")

"""Objects in any order, byte by byte, against every text that is valid.

The objects have names out of four and values ``true`` and ``false`` only, so all texts can be listed and
judged by ``jsonschema``. The mask has to allow just the bytes that go on with some valid text: none that
needs a member that cannot come any more, and no way left out.
"""

from __future__ import annotations

import itertools
import json
from functools import cache
from typing import Any

import jsonschema
import pytest
from hypothesis import event, given, settings, strategies as st

import workbench as wb
from workbench.errors import GrammarTooComplex, UnsatisfiableGrammar
from workbench.frontends.json_schema.containers.obligations import either_of, needs, without
from workbench.frontends.json_schema.logic.facts import AtLeast, AtMost, Distinct
from workbench.frontends.json_schema.logic.formula import FALSE, TRUE, Formulas
from workbench.grammar.ir import Graph, Scope, walk
from workbench.vocabulary import Vocabulary

NAMES = ["a", "ab", "c", "x"]
WORLD = {
    "type": "object",
    "propertyNames": {"enum": NAMES},
    "additionalProperties": {"type": "boolean"},
}
VALUE = st.sampled_from([True, {"const": True}, {"const": False}, {"type": "boolean"}, False])
LISTED = st.sampled_from(NAMES[:3])


def _conditions(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    pair = st.lists(inner, min_size=2, max_size=3)
    return st.one_of(
        *[st.fixed_dictionaries({keyword: pair}) for keyword in ("oneOf", "anyOf", "allOf")],
        st.fixed_dictionaries({"not": inner}),
        st.fixed_dictionaries({"if": inner, "then": inner, "else": inner}),
    )


PLAIN = st.fixed_dictionaries(
    {},
    optional={
        "properties": st.dictionaries(LISTED, VALUE, min_size=1),
        "required": st.lists(LISTED, unique=True, max_size=2),
        "additionalProperties": VALUE,
        "patternProperties": st.dictionaries(st.sampled_from(["^a", "b", "^x"]), VALUE, max_size=1),
        "dependentRequired": st.dictionaries(LISTED, st.lists(LISTED, unique=True), max_size=2),
        "minProperties": st.integers(0, 3),
        "maxProperties": st.integers(1, 4),
    },
)
SCHEMAS = st.recursive(PLAIN, _conditions, max_leaves=5)


@cache
def vocabulary() -> Vocabulary:
    tokens = [bytes([byte]) for byte in range(256)] + [b""]
    return Vocabulary.from_bytes(tokens, eos_ids=(256,), special_ids=(256,))


@cache
def every_text() -> tuple[str, ...]:
    out = []
    for count in range(len(NAMES) + 1):
        for names in itertools.permutations(NAMES, count):
            for values in itertools.product([True, False], repeat=count):
                value = dict(zip(names, values, strict=True))
                out.append(json.dumps(value, separators=(",", ":")))
    return tuple(out)


def check(schema: Any) -> int:
    """Hold the masks to the valid texts at each of their beginnings; returns how many texts there are."""
    whole = {**WORLD, "allOf": [schema]}
    validator = jsonschema.Draft202012Validator(whole)
    valid = [text for text in every_text() if validator.is_valid(json.loads(text))]
    following: dict[bytes, set[int]] = {}
    for text in valid:
        data = text.encode()
        for at, byte in enumerate(data):
            following.setdefault(data[:at], set()).add(byte)
        following.setdefault(data, set()).add(256)
    try:
        grammar = wb.json_schema(whole, property_order="any", whitespace="compact")
    except UnsatisfiableGrammar:
        assert not valid
        return 0
    assert valid
    root = wb.compile(grammar, vocabulary()).matcher()
    stack = [(b"", root)]
    while stack:
        before, matcher = stack.pop()
        # letters of names can be escaped as well: that is not followed
        allowed = {int(token) for token in matcher.allowed_ids()} - {ord("\\")}
        assert allowed == following[before], (schema, before)
        for token in allowed - {256}:
            fork = matcher.fork()
            assert fork.accept(token)
            stack.append((before + bytes([token]), fork))
    return len(valid)


@given(SCHEMAS)
@settings(max_examples=60, deadline=None)
def test_masks_follow_the_valid_texts(schema: Any) -> None:
    count = check(schema)
    event("none" if not count else "all" if count == len(every_text()) else "some")


HOPE = {"not": {"properties": {name: {"const": True} for name in NAMES[:3]}}}
KNOWN: dict[str, Any] = {
    "one of some fails": HOPE,
    "two obligations that share a name": {
        "allOf": [
            {"not": {"properties": {"a": {"const": True}, "ab": {"const": True}}}},
            {"not": {"properties": {"ab": {"const": False}, "c": {"const": False}}}},
        ]
    },
    "an obligation or a name that is missing": {
        "anyOf": [HOPE, {"not": {"required": ["x"]}}, {"maxProperties": 1}]
    },
    "at least two, or a name that is not listed": {
        "oneOf": [{"properties": {"a": True}, "additionalProperties": False}, {"minProperties": 2}]
    },
    "a kind that decides the others": {
        "properties": {"a": {"const": True}},
        "required": ["a"],
        "oneOf": [
            {"properties": {"a": {"const": True}, "c": {"const": True}}},
            {"properties": {"a": {"const": False}, "ab": {"const": True}}},
        ],
    },
    "kinds": {
        "allOf": [
            {
                "if": {"properties": {"a": {"const": value}}, "required": ["a"]},
                "then": {"properties": {"ab": {"const": value}}, "required": ["c"]},
            }
            for value in (True, False)
        ]
    },
    "said about one name alone": {
        "anyOf": [{"properties": {"c": {"const": True}}}, {"not": {"required": ["c"]}}],
        "oneOf": [{"properties": {"a": {"const": True}}, "required": ["a"]}, False],
    },
}


@pytest.mark.parametrize("name", KNOWN)
def test_known_kinds(name: str) -> None:
    assert 0 < check(KNOWN[name]) < len(every_text())


def test_many_names_that_one_hope_speaks_of() -> None:
    """What is told apart does not grow with the sets of names."""
    names = [f"n{i}" for i in range(60)]
    schema = {"not": {"properties": {name: {"type": "integer"} for name in names}}}
    rules = dict(wb.json_schema(schema, property_order="any").rules)
    sizes = [len(p.edges) for rule in rules.values() for p in walk(rule) if isinstance(p, Graph)]
    assert 60 < max(sizes) < 600


def test_many_kinds_told_apart_by_one_name() -> None:
    kinds = [f"kind{i}" for i in range(30)]
    schema = {
        "oneOf": [
            {"properties": {"kind": {"const": kind}, "more": {"type": "string"}}} for kind in kinds
        ],
        "properties": {"kind": {"const": "kind7"}},
        "required": ["kind"],
    }
    rules = dict(wb.json_schema(schema, property_order="any").rules)
    assert len(rules) < 10


@pytest.mark.parametrize(
    ("edges", "finals", "clauses"),
    [
        # a chain needs all of its names, in whatever order they lie
        ([[(1, 1)], [(2, 2)], []], [2], [(1, 2), (2,), ()]),
        # a name cannot come twice
        ([[(1, 1)], [(1, 2)], []], [2], [None, (1,), ()]),
        # a member of any other name needs nothing
        ([[(0, 1), (4, 1)], []], [1], [(), ()]),
        # (a and b) or c = (a or c) and (b or c)
        ([[(1, 1), (4, 2)], [(2, 2)], []], [2], [(5, 6), (2,), ()]),
        ([[(1, 0)], []], [], [None, None]),
    ],
)
def test_clauses(edges: Any, finals: list[int], clauses: Any) -> None:
    assert needs(edges, finals) == clauses


def test_clauses_that_follow_are_not_asked_again() -> None:
    assert without((7,), 1, (6,)) == ()
    assert without((7,), 1, (5,)) == (6,)
    assert without((1,), 1, ()) is None
    assert either_of([(1,), (2, 4)]) == (3, 5)
    assert either_of([(1,), ()]) == ()


@pytest.mark.parametrize("order", ["schema", "any"])
def test_more_members_than_there_are_names_are_none(order: str) -> None:
    schema = {"type": "object", "propertyNames": {"enum": NAMES}, "minProperties": len(NAMES) + 1}
    with pytest.raises(UnsatisfiableGrammar):
        wb.json_schema(schema, property_order=order)
    wb.json_schema({**schema, "minProperties": len(NAMES)}, property_order=order)


def test_the_opposite_of_a_constant_is_the_other_one() -> None:
    """Also after facts whose opposites are constants."""
    formulas = Formulas()
    assert formulas.opposite(formulas.fact(AtLeast(0))) is FALSE
    assert formulas.opposite(formulas.fact(AtMost(-1))) is TRUE
    different = formulas.fact(Distinct())
    assert formulas.opposite(formulas.opposite(different)) is different
    assert formulas.opposite(FALSE) is TRUE and formulas.opposite(TRUE) is FALSE


def test_other_names_of_alternatives_come_once_in_one_scope() -> None:
    """Two texts that are watched at once make each mask of a name a search of its own."""
    sides = [
        {"properties": {name: {"type": "string"}, "kind": {"type": kind}}, "required": [name]}
        for name, kind in (("name", "string"), ("title", "integer"))
    ]
    grammar = wb.json_schema({"type": "object", "anyOf": sides}, property_order="any")
    scopes = [p for rule in dict(grammar.rules).values() for p in walk(rule) if type(p) is Scope]
    # that of any value, and one for both sides
    assert len(scopes) == 2
    matcher = wb.compile(grammar, vocabulary()).matcher()
    text = b'{"x":1,"kind":2,"name":4,"title":"b"'
    assert matcher.accept_tokens(list(text)) == len(text)
    assert ord("}") in matcher.allowed_ids()
    assert matcher.fork().accept_tokens(list(b',"x"')) == 3


def test_what_is_too_much_is_named_with_its_place() -> None:
    """Conditions on many keys at once, each key in two of them."""
    names = [f"n{i}" for i in range(24)]
    either = [
        {"anyOf": [{"not": {"required": [one]}}, {"properties": {other: {"minItems": 1}}}]}
        for one, other in zip(names, names[1:] + names[:1], strict=True)
    ]
    schema = {"properties": {"deep": {"type": "object", "allOf": either}}}
    grammar = wb.json_schema(schema, property_order="any")
    with pytest.raises(GrammarTooComplex, match="'#/properties/deep'") as caught:
        dict(grammar.rules)
    assert caught.value.rule == "#/properties/deep"

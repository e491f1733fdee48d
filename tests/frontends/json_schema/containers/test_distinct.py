"""Arrays whose items must differ, where these are arrays and objects: masks against all that there is."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jsonschema
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import workbench as wb

#: tokens that cross the borders of values
LONGER = (
    *(
        b'"},{"',
        b"},{",
        b'"}',
        b'{"a',
        b'":"',
        b'":',
        b"},",
        b'{"',
        b'["',
        b"],[",
        b"true",
        b',"',
        b"}]",
    ),
    *(b"e}", b"{}", b"[]", b'"x"}', b'":"x"},', b'{"a":true}', b"null", b"[true", b"],", b'"a":'),
)


def vocabulary(*longer: bytes) -> wb.Vocabulary:
    tokens = [bytes([byte]) for byte in range(128)] + list(longer)
    return wb.Vocabulary.from_bytes([*tokens, b"</s>"], eos_ids=[len(tokens)])


VOCABULARY = vocabulary(*LONGER)


def spellings(value: Any, order: str) -> list[str]:
    """The ways to write a value without whitespace."""
    if isinstance(value, dict):
        ways = itertools.permutations(value.items()) if order == "any" else [tuple(value.items())]
        return [
            "{"
            + ",".join(f"{json.dumps(k)}:{text}" for (k, _), text in zip(way, texts, strict=True))
            + "}"
            for way in ways
            for texts in itertools.product(*(spellings(item, order) for _, item in way))
        ]
    if isinstance(value, list):
        parts = itertools.product(*(spellings(item, order) for item in value))
        return ["[" + ",".join(texts) + "]" for texts in parts]
    return [json.dumps(value)]


def arrays(items: Sequence[Any], least: int, most: int, order: str) -> set[str]:
    """The texts of all arrays of different ones of some items."""
    spelled = [spellings(item, order) for item in items]
    return {
        "[" + ",".join(texts) + "]"
        for n in range(least, most + 1)
        for chosen in itertools.permutations(range(len(items)), n)
        for texts in itertools.product(*(spelled[number] for number in chosen))
    }


def check(schema: Any, texts: set[str], order: str, looks: int, seed: int = 0) -> None:
    """Hold masks and accept() behind beginnings of texts against all texts that there are."""
    grammar = wb.json_schema(schema, whitespace="compact", property_order=order)
    compiled = wb.compile(grammar, VOCABULARY)
    beginnings = {text[:i] for text in texts for i in range(len(text) + 1)}
    chosen = sorted(beginnings)
    if len(chosen) > looks:
        chosen = random.Random(seed).sample(chosen, looks)
    mask = wb.empty_mask(VOCABULARY)
    for beginning in chosen:
        matcher = compiled.matcher()
        assert matcher.accept_tokens(beginning.encode()) == len(beginning), beginning
        matcher.fill_mask(mask)
        allowed = np.unpackbits(mask.view(np.uint8), bitorder="little")
        for token in range(VOCABULARY.size):
            if token in VOCABULARY.eos_ids:
                assert bool(allowed[token]) == (beginning in texts), beginning
                continue
            data = VOCABULARY.token_bytes(token)
            wanted = beginning + data.decode("latin-1") in beginnings
            assert bool(allowed[token]) == wanted, (beginning, data)
            assert matcher.fork().accept(token) == wanted, (beginning, data)


def closed(properties: dict[str, Any], required: Sequence[str] = (), **more: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
        **more,
    }


def objects(
    values: dict[str, Sequence[Any]], fits: Callable[[dict[str, Any]], bool] = lambda _: True
) -> list[dict[str, Any]]:
    """All objects with some of these members, in this order, that fit."""
    members = [[(), *(((name, value),) for value in some)] for name, some in values.items()]
    found = (dict(itertools.chain(*chosen)) for chosen in itertools.product(*members))
    return [one for one in found if fits(one)]


BOOLEAN = {"type": "boolean"}
NULL = {"type": "null"}
BOTH = (True, False)

CASES: dict[str, tuple[Any, list[Any], int]] = {
    "one name": (closed({"a": {"enum": ["x", "y"]}}, ["a"]), [{"a": "x"}, {"a": "y"}], 2),
    "a text that another begins with": (
        closed({"a": {"enum": ["x", "xy"]}, "b": BOOLEAN}, ["a"]),
        objects({"a": ["x", "xy"], "b": BOTH}, lambda one: "a" in one),
        2,
    ),
    "all names optional": (
        closed({"a": BOOLEAN, "b": NULL}),
        objects({"a": BOTH, "b": [None]}),
        3,
    ),
    "other types": (
        {"anyOf": [closed({"a": BOOLEAN}), BOOLEAN, {"enum": ["", "x"]}]},
        [{}, {"a": True}, {"a": False}, True, False, "", "x"],
        2,
    ),
    "arrays": (
        {"type": "array", "items": BOOLEAN, "maxItems": 2},
        [list(one) for n in range(3) for one in itertools.product(BOTH, repeat=n)],
        2,
    ),
    "arrays of different items": (
        {"type": "array", "items": {"enum": ["x", "y"]}, "maxItems": 2, "uniqueItems": True},
        [[], ["x"], ["y"], ["x", "y"], ["y", "x"]],
        3,
    ),
    "members to a number": (
        closed({"a": BOOLEAN, "b": NULL, "c": {"enum": ["x"]}}, minProperties=2),
        objects({"a": BOTH, "b": [None], "c": ["x"]}, lambda one: len(one) >= 2),
        2,
    ),
    "members up to a number": (
        closed({"a": BOOLEAN, "b": NULL, "c": {"enum": ["x"]}}, maxProperties=1),
        objects({"a": BOTH, "b": [None], "c": ["x"]}, lambda one: len(one) <= 1),
        2,
    ),
    "one of two required": (
        closed({"a": BOOLEAN, "b": NULL}, anyOf=[{"required": ["a"]}, {"required": ["b"]}]),
        objects({"a": BOTH, "b": [None]}, bool),
        2,
    ),
    "just one of two required": (
        closed({"a": BOOLEAN, "b": NULL}, oneOf=[{"required": ["a"]}, {"required": ["b"]}]),
        objects({"a": BOTH, "b": [None]}, lambda one: len(one) == 1),
        3,
    ),
    "a value that asks for a member": (
        closed(
            {"a": BOOLEAN, "b": {"enum": ["x", "y"]}},
            **{
                "if": {"properties": {"a": {"const": True}}, "required": ["a"]},
                "then": {"required": ["b"]},
            },
        ),
        objects({"a": BOTH, "b": ["x", "y"]}, lambda one: one.get("a") is not True or "b" in one),
        2,
    ),
    "objects in objects": (
        closed({"o": closed({"a": BOOLEAN}), "p": BOOLEAN}),
        objects({"o": objects({"a": BOTH}), "p": BOTH}),
        2,
    ),
    "objects in arrays": (
        {"type": "array", "items": closed({"a": BOOLEAN}), "maxItems": 1},
        [[], [{}], [{"a": True}], [{"a": False}]],
        3,
    ),
    "listed values": (
        {"enum": [{"a": "1", "b": None}, [True, "x"], "s", {"b": False}]},
        [{"a": "1", "b": None}, [True, "x"], "s", {"b": False}],
        3,
    ),
    "a listed value beside others": (
        {"anyOf": [{"const": {"a": "q"}}, closed({"b": NULL})]},
        [{"a": "q"}, {}, {"b": None}],
        3,
    ),
    "kinds told apart by a member": (
        {
            "anyOf": [
                closed({"i": BOOLEAN, "t": {"const": "p"}}, ["i", "t"]),
                closed({"i": BOOLEAN, "t": {"const": "q"}}, ["i", "t"]),
            ]
        },
        [{"i": i, "t": t} for i in BOTH for t in "pq"],
        2,
    ),
    "a text that does not differ any more": (
        {"anyOf": [{"enum": ["a"]}, closed({"a": NULL})]},
        ["a", {}, {"a": None}],
        3,
    ),
}


@pytest.mark.parametrize("order", ["schema", "any"])
@pytest.mark.parametrize("case", CASES)
def test_masks_hold_what_can_still_differ(case: str, order: str) -> None:
    schema, items, most = CASES[case]
    for least in (0, most):
        whole = {"type": "array", "uniqueItems": True, "minItems": least, "maxItems": most}
        check({**whole, "items": schema}, arrays(items, least, most, order), order, 60)


@pytest.mark.parametrize("order", ["schema", "any"])
def test_first_items_differ_too(order: str) -> None:
    items = {"prefixItems": [BOOLEAN, BOOLEAN], "items": False}
    texts = {"[]", "[true]", "[false]", "[true,false]", "[false,true]"}
    check({"type": "array", "uniqueItems": True, **items}, texts, order, 60)
    items = {"prefixItems": [BOOLEAN, {"type": "string"}], "maxItems": 3}
    schema = {"type": "array", "uniqueItems": True, **items}
    assert fits(schema, '[true, "true", {"a": true}]')
    assert fits(schema, '[true, "x", false]')
    assert not fits(schema, '[true, "x", true]')
    assert not fits(schema, '[true, "x", "\\u0078"]')
    assert not fits(schema, '[true, "x", {}, {}]')
    with pytest.raises(wb.UnsupportedConstraint):
        wb.json_schema(
            {"uniqueItems": True, "prefixItems": [{"enum": ["a"]}, {"enum": ["a", "b"]}]}
        )


@st.composite
def finite(draw: st.DrawFn, depth: int = 2) -> tuple[Any, list[Any]]:
    """A schema of a few values, and these."""
    kind = draw(st.integers(0, 2 if not depth else 4))
    if kind == 0:
        return BOOLEAN, [True, False]
    if kind == 1:
        return NULL, [None]
    if kind == 2:
        texts = draw(
            st.lists(st.sampled_from(["", "x", "xy", "z"]), min_size=1, max_size=2, unique=True)
        )
        return {"enum": texts}, texts
    inner = [draw(finite(depth - 1)) for _ in range(draw(st.integers(0, 2)))]
    if kind == 3:
        names = ["a", "ab"][: len(inner)]
        required = [name for name in names if draw(st.booleans())]
        values = {name: some for name, (_, some) in zip(names, inner, strict=True)}
        schema = closed({name: one for name, (one, _) in zip(names, inner, strict=True)}, required)
        return schema, objects(values, lambda one: all(name in one for name in required))
    schema, some = inner[0] if inner else (NULL, [None])
    unique = draw(st.booleans())
    ways = itertools.permutations(some, 1) if unique else itertools.product(some, repeat=1)
    found: list[Any] = [[], *map(list, ways)]
    return {"type": "array", "items": schema, "maxItems": 1, "uniqueItems": unique}, found


@settings(max_examples=25, deadline=None)
@given(finite(), st.sampled_from(["schema", "any"]), st.integers(0, 2), st.integers(0, 99))
def test_masks_of_random_schemas_hold_what_can_still_differ(
    described: tuple[Any, list[Any]], order: str, least: int, seed: int
) -> None:
    schema, items = described
    most = min(2, len(items))
    least = min(least, most)
    if len(items) > 12:
        return
    whole = {"type": "array", "uniqueItems": True, "minItems": least, "maxItems": most}
    check({**whole, "items": schema}, arrays(items, least, most, order), order, 15, seed)


def fits(schema: Any, text: str, **options: Any) -> bool:
    compiled = wb.compile(wb.json_schema(schema, property_order="any", **options), BYTES)
    matcher = compiled.matcher()
    data = text.encode()
    return matcher.accept_tokens(data) == len(data) and matcher.is_accepting


BYTES = wb.Vocabulary.from_bytes([*(bytes([byte]) for byte in range(256)), b"</s>"], eos_ids=[256])


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ('[{"a":1,"b":2},{"b":2,"a":1}]', False),
        ('[{"a":1,"b":2},{"b":1,"a":2}]', True),
        ('[{"a":"x"},{"a":"\\u0078"}]', False),
        ('[{"a":"x"},{"\\u0061":"x"}]', False),
        ('[{"a":[1, {"b": null}]}, {"a":[1,{"b":null}]}]', False),
        ('[{"a":[1, {"b": null}]}, {"a":[1,{"b":false}]}]', True),
        ("[[1,2],[2,1]]", True),
        ("[[1,2],[1,2]]", False),
        ('[[], {}, "", null, false, true, 0, "0"]', True),
        ("[[], {}, []]", False),
        ("[{}, 1, {}]", False),
        ("[1, true]", True),
        ("[[1], [true]]", True),
        ("[[[1]], [[1]]]", False),
        ('[{"":1},{"":1}]', False),
        ('[{"":1},{"":2}]', True),
        ('["a", {"a":"a"}, ["a"], "a"]', False),
        ('[{"\\ud83d\\ude00":1},{"😀":1}]', False),
    ],
)
def test_any_values_differ_by_what_they_are(text: str, right: bool) -> None:
    values = json.loads(text)
    plain = [json.dumps(value, sort_keys=True) for value in values]
    assert right == (len(set(plain)) == len(plain))
    assert fits({"uniqueItems": True}, text) == right


def test_a_quotation_mark_begins_no_text_that_is_not_left() -> None:
    schema = {
        "type": "array",
        "uniqueItems": True,
        "items": {"anyOf": [{"enum": ["a"]}, {"type": "number"}]},
    }
    matcher = wb.compile(wb.json_schema(schema, whitespace="compact"), BYTES).matcher()
    assert matcher.accept_tokens(b'["a",') == 5
    mask = wb.empty_mask(BYTES)
    matcher.fill_mask(mask)
    allowed = np.flatnonzero(np.unpackbits(mask.view(np.uint8), bitorder="little"))
    assert bytes(allowed.tolist()) == b"-0123456789"


def test_numbers_that_come_once_have_no_escapes() -> None:
    schema = {"type": "array", "uniqueItems": True, "items": {"type": "number"}}
    assert not fits(schema, "[\\u0031]")
    assert fits(schema, "[1, 2, -0.5]")
    assert not fits(schema, "[1, 2, 1]")


ENDLESS: dict[str, Any] = {
    "open objects": {"type": "object", "properties": {"path": {"type": "string"}}},
    "closed objects": closed({"name": {"type": "string"}, "on": BOOLEAN}, ["name"]),
    "any values": True,
    "texts or objects": {"anyOf": [{"type": "string"}, closed({"n": {"type": "integer"}}, ["n"])]},
    "objects that hold their like": {"$ref": "#/$defs/tree"},
    "one of two names": closed(
        {"a": {"type": "string", "maxLength": 2}, "b": BOOLEAN},
        anyOf=[{"required": ["a"]}, {"required": ["b"]}],
    ),
}
TREE = {"tree": {"type": "object", "additionalProperties": {"$ref": "#/$defs/tree"}}}


def walks(compiled: wb.CompiledGrammar, n: int, steps: int, seed: int) -> Iterator[bytes]:
    """Texts by tokens drawn evenly from the masks, then the shortest way to the end."""
    mask = wb.empty_mask(VOCABULARY)
    rng = np.random.default_rng(seed)
    for _ in range(n):
        matcher, out, step = compiled.matcher(), b"", 0
        while True:
            matcher.fill_mask(mask)
            allowed = np.flatnonzero(np.unpackbits(mask.view(np.uint8), bitorder="little"))
            assert len(allowed), out
            if matcher.is_accepting:
                break
            tokens = [int(token) for token in allowed if token not in VOCABULARY.eos_ids]
            if step <= steps:
                token = int(rng.choice(tokens))
            else:
                after = []
                for one in tokens:
                    fork = matcher.fork()
                    assert fork.accept(one)
                    after.append((fork.finish_distance(), one))
                token = min(after)[1]
            assert matcher.accept(token)
            out += VOCABULARY.token_bytes(token)
            step += 1
            assert step < 600, out
        yield out


@pytest.mark.parametrize("order", ["schema", "any"])
@pytest.mark.parametrize("case", ENDLESS)
def test_random_texts_have_different_items(case: str, order: str) -> None:
    schema = {
        "type": "array",
        "uniqueItems": True,
        "minItems": 2,
        "items": ENDLESS[case],
        "$defs": TREE,
    }
    grammar = wb.json_schema(schema, whitespace="compact", property_order=order)
    validator = jsonschema.Draft202012Validator(schema)
    for text in walks(wb.compile(grammar, VOCABULARY), 6, 40, 1):
        assert validator.is_valid(json.loads(text)), text


def test_what_came_survives_when_memory_is_made_again() -> None:
    items = closed({"name": {"type": "string"}, "on": BOOLEAN}, ["name"])
    schema = {"type": "array", "uniqueItems": True, "items": items}
    grammar = wb.json_schema(schema, whitespace="compact", property_order="any")
    matcher = wb.compile(grammar, VOCABULARY, cache=False).matcher()
    text = b'[{"name":"x","on":true},{"name":"x"},{"on":false,"name":"'
    assert matcher.accept_tokens(text) == len(text)
    before = wb.empty_mask(VOCABULARY)
    matcher.fill_mask(before)
    matcher._engine.compact()
    after = wb.empty_mask(VOCABULARY)
    matcher.fill_mask(after)
    assert (before == after).all()
    assert matcher.accept_tokens(b'x"},{"on":true,"name":"') == 23
    matcher._engine.compact()
    # the value would be the first one, and closed nothing makes it another
    assert matcher.accept_tokens(b'x"') == 1


def test_large_enumerations_beside_each_other_differ() -> None:
    names = [f"variable_{i * i}" for i in range(1500)]
    items = closed({"name": {"enum": names}, "value": {"type": "integer"}}, ["name"])
    schema = {"type": "array", "uniqueItems": True, "items": items}
    assert fits(schema, '[{"name":"variable_4"},{"name":"variable_9"}]')
    assert not fits(schema, '[{"name":"variable_4"},{"name":"variable_4"}]')
    assert not fits(schema, '[{"name":"variable_5"}]')


def test_a_saved_grammar_still_tells_values_apart(tmp_path: Any) -> None:
    items = closed({"a": {"type": "string"}, "b": BOOLEAN})
    schema = {"type": "array", "uniqueItems": True, "items": items}
    compiled = wb.compile(wb.json_schema(schema), BYTES)
    compiled.save(tmp_path / "distinct")
    matcher = wb.load_compiled(tmp_path / "distinct", BYTES).matcher()
    text = b'[{"a": "x"}, {"b": true}, {"a": "x"'
    assert matcher.accept_tokens(text) == len(text)
    assert not matcher.fork().accept(ord("}"))
    assert matcher.accept(ord(","))


def test_explanations_read_values_that_must_differ() -> None:
    schema = {
        "type": "array",
        "uniqueItems": True,
        "items": closed({"a": {"enum": ["x", "y"]}}, ["a"]),
    }
    matcher = wb.compile(wb.json_schema(schema, whitespace="compact"), BYTES).matcher()
    assert matcher.accept_tokens(b'[{"a":"') == 7
    assert str(wb.explain(matcher, ord("z")))


def test_a_walk_knows_whether_a_text_is_left() -> None:
    schema = {
        "type": "array",
        "uniqueItems": True,
        "items": {"anyOf": [{"type": "integer"}, {"enum": ["a"]}]},
    }
    words = vocabulary(b',"')
    matcher = wb.compile(wb.json_schema(schema, whitespace="compact"), words).matcher()
    assert matcher.accept_tokens(b'["a",1') == 6
    mask = wb.empty_mask(words)
    matcher.fill_mask(mask)
    allowed = np.unpackbits(mask.view(np.uint8), bitorder="little")
    for token in range(words.size):
        if token not in words.eos_ids:
            assert bool(allowed[token]) == matcher.fork().accept(token), token
    assert not allowed[128]


@pytest.mark.parametrize(
    ("schema", "text", "right"),
    [
        ({"if": {"not": {"uniqueItems": True}}, "then": {"maxItems": 2}}, "[{},{},{}]", False),
        ({"if": {"not": {"uniqueItems": True}}, "then": False}, '["x","x"]', False),
        ({"if": {"not": {"uniqueItems": True}}, "then": False}, '["x","y"]', True),
        ({"if": {"uniqueItems": True}, "then": {"maxItems": 1}}, '["x","y"]', False),
        (
            {"not": {"oneOf": [{"uniqueItems": True}, {"minItems": 2, "maxItems": 2}]}},
            '["z","z"]',
            False,
        ),
    ],
)
def test_what_is_denied_twice_is_said(schema: dict[str, Any], text: str, right: bool) -> None:
    """Arrays with equal items cannot be asked for: they are left out, and the outcomes say so."""
    whole = {"type": "array", **schema}
    assert jsonschema.Draft202012Validator(whole).is_valid(json.loads(text)) == right
    grammar = wb.json_schema(whole, property_order="any")
    assert fits(whole, text) == right
    (said,) = [one for one in grammar.outcomes if one.keyword == "uniqueItems"]
    assert said.status == "restricted" and "left out" in said.detail


def test_listed_values_that_have_no_text_are_left_out() -> None:
    items = {"anyOf": [{"enum": [["\ud800"], {"\ud800": 1}, ["y"]]}, closed({"a": BOOLEAN}, ["a"])]}
    schema = {"type": "array", "uniqueItems": True, "items": items}
    assert fits(schema, '[["y"],{"a":true},{"a":false}]')
    matcher = wb.compile(wb.json_schema(schema, whitespace="compact"), BYTES).matcher()
    assert matcher.accept_tokens(b'[["y"],{"a":true},{"a":false}') == 29
    assert not matcher.fork().accept(ord(","))


def test_long_enumerations_keep_to_ascii() -> None:
    items = closed({"a": {"enum": [f"\u00e9{number}" for number in range(300)]}}, ["a"])
    schema = {"type": "array", "uniqueItems": True, "items": items}
    assert fits(schema, '[{"a":"\\u00e97"},{"a":"\\u00e98"}]', ascii_only=True)
    assert not fits(schema, '[{"a":"\u00e97"}]', ascii_only=True)


def test_first_items_are_looked_at_wherever_it_is_said_that_items_differ() -> None:
    schema = {
        "type": "array",
        "prefixItems": [{"enum": ["a", "b"]}, {"enum": ["a"]}],
        "minItems": 2,
        "allOf": [{"uniqueItems": True}],
    }
    with pytest.raises(wb.UnsupportedConstraint):
        wb.compile(wb.json_schema(schema), BYTES)


def test_many_objects_take_no_cubic_time() -> None:
    schema = {
        "type": "array",
        "uniqueItems": True,
        "items": closed({"id": {"type": "integer"}}, ["id"]),
    }
    matcher = wb.compile(wb.json_schema(schema, whitespace="compact"), BYTES).matcher()
    work = []
    for start in (0, 100, 200, 300):
        text = ",".join(f'{{"id":{number}}}' for number in range(start, start + 100))
        data = (("[" if not start else ",") + text).encode()
        assert matcher.accept_tokens(data) == len(data)
        work.append(matcher.stats()["stack_nodes"])
    steps = np.diff(work)
    assert steps.max() < 3 * steps.min()


PATTERN = {"type": "string", "pattern": "^[\x01\n]$"}


@pytest.mark.parametrize(
    ("items", "one"),
    [
        (PATTERN, '"\\n"'),
        (closed({"a": PATTERN}, ["a"]), '{"a":"\\n"}'),
        (closed({"a": {"enum": ["\x01", "x"]}}, ["a"]), '{"a":"x"}'),
    ],
)
def test_control_characters_that_are_not_written_do_not_count(items: Any, one: str) -> None:
    schema = {"type": "array", "uniqueItems": True, "items": items}
    matcher = wb.compile(wb.json_schema(schema, whitespace="compact"), BYTES).matcher()
    text = f"[{one}".encode()
    assert matcher.accept_tokens(text) == len(text)
    assert not matcher.fork().accept(ord(","))
    assert matcher.accept(ord("]"))
    with pytest.raises(wb.UnsatisfiableGrammar):
        wb.json_schema({**schema, "minItems": 2})

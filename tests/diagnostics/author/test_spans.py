"""Spans of a text: held against positions in JSON that another reader finds, and against captures."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

import workbench as wb
from workbench.diagnostics.author import spans as spans_module
from workbench.diagnostics.author.spans import Span, SpanReader
from workbench.engine.tokens import resolve_tokens

THING = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "flag": {"type": "boolean"},
        "list": {"type": "array", "items": {"type": "integer"}},
        "many": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"id": {"type": "integer"}},
                "required": ["id"],
            },
        },
        "inner": {"$ref": "#"},
    },
    "additionalProperties": {"type": "array", "items": {"type": "string"}},
}

texts = st.text(alphabet='ab,[]{}:"\\é', max_size=5)
things = st.recursive(
    st.fixed_dictionaries(
        {},
        optional={
            "name": texts,
            "flag": st.booleans(),
            "list": st.lists(st.integers(-999, 999), max_size=4),
            "many": st.lists(st.fixed_dictionaries({"id": st.integers(-99, 999)}), max_size=3),
            "x,y": st.lists(texts, max_size=3),
            'q"[': st.lists(texts, max_size=3),
        },
    ),
    lambda inner: st.builds(lambda a, b: a | {"inner": b}, inner, inner),
    max_leaves=4,
)


def all_spans(
    grammar: wb.Grammar, pieces: list[bytes], reader: SpanReader | None = None
) -> list[Span]:
    """The spans that ended in a text of some tokens."""
    reader = reader or SpanReader(grammar)
    tokens = [(1000 + i, piece) for i, piece in enumerate(pieces)]
    found: list[Span] = []
    for n in range(1, len(tokens) + 1):
        turn = reader.go_to(tokens[:n])
        found += [*turn.left, *turn.closed]
    assert not reader.problem
    return found


def cut(data: bytes, sizes: list[int]) -> list[bytes]:
    pieces, at = [], 0
    for size in [*sizes, len(data)]:
        if data[at : at + size]:
            pieces.append(data[at : at + size])
        at += size
    return pieces


def places(text: str, at: int = 0, depth: int = 0) -> tuple[int, list[tuple[str, int, int, int]]]:
    """Members, and items in brackets, of the JSON value at an offset: name, start, end, depth.

    A member whose name the schema does not list begins with its value. Strings and numbers are read by ``json``.
    """
    decode = json.JSONDecoder().raw_decode
    opening = text[at]
    if opening not in "[{":
        return decode(text, at)[1], []
    found: list[tuple[str, int, int, int]] = []
    at, number = at + 1, 0
    while text[at] not in "]}":
        at += text[at] in ", "
        at += text[at] == " "
        start, name = at, f"[{number}]"
        if opening == "{":
            name, at = decode(text, at)
            at += 2
            if name not in (*THING["properties"], "id"):
                start = at
        end, inner = places(text, at, depth + 1)
        if opening == "{" or text[start] == "{":
            found.append((name, start, end, depth))
        found += inner
        at, number = end, number + 1
    return at + 1, found


def in_order(value: Any) -> Any:
    """A value with the members in the order of the schema."""
    if not isinstance(value, dict):
        return value
    order = [*THING["properties"], *sorted(value)]
    return {key: in_order(value[key]) for key in sorted(value, key=order.index)}


@given(things, st.lists(st.integers(1, 7), max_size=40))
def test_members_and_items_are_where_json_has_them(value: dict[str, Any], sizes: list[int]) -> None:
    text = json.dumps(in_order(value))
    grammar = wb.json_schema(THING)
    assert wb.match(grammar, text) is not None
    data = text.encode()
    found = all_spans(grammar, cut(data, sizes))
    wanted = [place for place in places(text)[1] if place[2] - place[1] > 1]
    told = [(s.label, s.start, s.end, s.depth) for s in found if (s.end or 0) - s.start > 1]
    assert sorted(told) == sorted(wanted)


@given(things, st.lists(st.integers(1, 7), max_size=40), st.lists(st.integers(0, 60), max_size=6))
def test_going_back_is_as_if_nothing_had_been_read(
    value: dict[str, Any], sizes: list[int], stops: list[int]
) -> None:
    grammar = wb.json_schema(THING)
    pieces = cut(json.dumps(in_order(value)).encode(), sizes)
    tokens = [(1000 + i, piece) for i, piece in enumerate(pieces)]
    reader = SpanReader(grammar)
    for stop in stops:
        reader.go_to(tokens[:stop])
    assert all_spans(grammar, pieces, reader) == all_spans(grammar, pieces)


WORD = wb.regex("[a-z]+")
NUMBER = wb.regex("[0-9]+")
ENTRY = wb.seq(wb.capture("key", WORD), "=", wb.capture("value", NUMBER | ("(" + WORD + ")")))
ENTRIES = wb.capture("all", wb.repeat(wb.capture("entry", ENTRY), 1, separator=";")) + "."


@given(
    st.lists(
        st.tuples(
            st.text("ab", min_size=2, max_size=4),
            st.text("12", min_size=2, max_size=3) | st.just("(ab)"),
        ),
        min_size=1,
        max_size=5,
    ),
    st.lists(st.integers(1, 5), max_size=20),
)
def test_captures_are_those_of_a_match(entries: list[tuple[str, str]], sizes: list[int]) -> None:
    data = (";".join(f"{key}={value}" for key, value in entries) + ".").encode()
    found = all_spans(ENTRIES, cut(data, sizes))
    match = wb.match(ENTRIES, data)
    assert match is not None
    wanted = sorted((one.name, one.start, one.end) for one in match.captures)
    assert sorted((s.label, s.start, s.end) for s in found if s.kind == "capture") == wanted


def test_a_span_ends_where_its_text_does_though_that_shows_later() -> None:
    grammar = wb.seq("<a>", wb.capture("free", wb.text_until("</a>")), "</a>", "!")
    reader = SpanReader(grammar)
    turns = [
        reader.go_to(list(enumerate([b"<a>x y", b"</", b"a", b">!"][:n]))) for n in range(1, 5)
    ]
    assert [[s.label for s in turn.opened] for turn in turns] == [["free"], [], [], []]
    assert [turn.kept for turn in turns] == [0, 1, 1, 0]
    assert [(s.label, s.start, s.end) for s in turns[3].left] == [("free", 3, 6)]
    assert turns[3].closed == ()


def test_rules_of_a_grammar_text_and_of_parts() -> None:
    inner = wb.gbnf('root ::= item ("," item)*\nitem ::= [a-z] [a-z]')
    grammar = wb.seq("<", wb.capture("list", inner), ">")
    found = all_spans(grammar, [b"<ab,", b"cd>"])
    assert sorted((s.label, s.kind, s.start, s.end, s.depth) for s in found) == [
        ("item", "rule", 1, 3, 1),
        ("item", "rule", 4, 6, 1),
        ("list", "capture", 1, 6, 0),
    ]
    alone = all_spans(inner, [b"ab,cd"])
    assert [(s.label, s.start, s.end) for s in alone] == [("item", 0, 2), ("item", 3, 5)]


def test_alternatives_have_their_title_or_number() -> None:
    schema = {
        "type": "object",
        "properties": {
            "pet": {
                "anyOf": [
                    {"title": "Cat", "type": "object", "properties": {"lives": {"const": 9}}},
                    {
                        "type": "array",
                        "items": {"type": "object", "properties": {"a": True}},
                    },
                ]
            }
        },
        "additionalProperties": False,
    }
    grammar = wb.json_schema(schema)
    told = {(s.label, s.start, s.end) for s in all_spans(grammar, [b'{"pet": {"lives": 9}}'])}
    assert {("pet", 1, 20), ("Cat", 8, 20), ("lives", 9, 19)} <= told
    told = {(s.label, s.start, s.end) for s in all_spans(grammar, [b'{"pet": [{}, {}]}'])}
    assert {("pet", 1, 16), ("anyOf[1]", 8, 16), ("[0]", 9, 11), ("[1]", 13, 15)} <= told


def test_special_tokens_belong_to_what_they_begin_and_end() -> None:
    vocabulary = wb.Vocabulary.from_bytes(
        [b"ab", b"c", b"", b"", b""],
        eos_ids=4,
        special_names={2: "<call>", 3: "</call>", 4: "<eos>"},
    )
    call = wb.capture("call", wb.token("<call>") + wb.capture("name", WORD) + wb.token("</call>"))
    grammar = "c" + call + "c"
    reader = SpanReader(grammar, resolve_tokens(grammar, vocabulary))
    tokens = [(i, vocabulary.token_bytes(i)) for i in (1, 2, 0, 0, 3, 1)]
    turns = [reader.go_to(tokens[:n]) for n in range(1, 7)]
    assert [[s.label for s in turn.opened] for turn in turns] == [
        [],
        ["call"],
        ["name"],
        [],
        [],
        [],
    ]
    assert [[s.label for s in turn.left] for turn in turns] == [[], [], [], [], ["name"], []]
    assert [[s.label for s in turn.closed] for turn in turns] == [[], [], [], [], ["call"], []]


def test_the_end_of_the_text_ends_what_is_open() -> None:
    vocabulary = wb.Vocabulary.from_bytes([b"1", b""], eos_ids=1)
    grammar = "1" + wb.capture("number", NUMBER)
    reader = SpanReader(grammar)
    turn = reader.go_to([(0, b"1"), (0, b"1"), (0, b"1"), (1, vocabulary.token_bytes(1))])
    assert [(s.label, s.start, s.end) for s in turn.left] == [("number", 1, 3)]
    assert reader.open == ()


def test_too_much_work_is_said_and_going_back_undoes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spans_module, "MAX_ITEMS", 300)
    reader = SpanReader(wb.json_schema({"type": "object", "properties": {"a": {"type": "string"}}}))
    tokens = [(0, b'{"a": "'), *[(1, b"abcdefgh")] * 100]
    assert [s.label for s in reader.go_to(tokens[:1]).opened] == ["a"]
    reader.go_to(tokens)
    assert "300" in reader.problem and reader.open == ()
    reader.go_to(tokens[:4])
    assert not reader.problem and [s.label for s in reader.open] == ["a"]

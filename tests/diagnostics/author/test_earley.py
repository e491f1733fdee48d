"""The parser on the author's grammar against slower and faster judges, on random grammars."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings, strategies as st

import workbench as wb
from tests.engine.grammars import grammars
from tests.frontends.ir_match import matches
from tests.oracle import Oracle
from workbench.diagnostics.author.parse import AuthorParse
from workbench.diagnostics.author.shortest import NEVER, Shortest
from workbench.engine.tokens import resolve_tokens
from workbench.grammar.author.earley import TooMuch
from workbench.grammar.author.states import AuthorStates
from workbench.grammar.ir import (
    Alt,
    CharSet,
    Expr,
    Grammar,
    Guard,
    Origin,
    OtherText,
    Ref,
    Repeat,
    Scope,
    Seq,
    literal,
    walk,
)
from workbench.vocabulary import byte_vocabulary

EVERY_BYTE = [bytes([byte]) for byte in range(256)]
BYTES = byte_vocabulary()


@given(grammars(), st.data())
@settings(max_examples=120, deadline=None)
def test_prefixes_and_complete_texts(grammar: Grammar, data: st.DataObject) -> None:
    oracle = Oracle(grammar, EVERY_BYTE)
    parse = AuthorParse(grammar, items=50_000)
    text = b""
    for _ in range(8):
        alive = sorted(oracle.bytes_after(text))
        assert parse.next_bytes() >= set(alive)
        assert parse.is_complete == oracle.complete(text)
        if not alive:
            break
        for stack in parse.stacks():
            # outer parts began earlier, and the outermost is the start rule
            begins = [frame.entered for frame in stack]
            assert begins == sorted(begins, reverse=True) and begins[-1] == 0
            assert stack[-1].rule == grammar.start
        byte = data.draw(st.sampled_from(alive))
        assert parse.feed(bytes([byte])) == 1
        text += bytes([byte])
    # there and back again is the same as never having gone
    before = parse.n_items, parse.next_bytes(), parse.stacks()
    read = parse.feed(b"ab()")
    parse.take_back(read)
    assert (parse.n_items, parse.next_bytes(), parse.stacks()) == before
    dead = [byte for byte in b"abc()z" if byte not in parse.next_bytes()]
    assert all(parse.feed(bytes([byte])) == 0 for byte in dead)


@given(grammars())
@settings(max_examples=80, deadline=None)
def test_derivations(grammar: Grammar) -> None:
    """Each node of a derivation has read a text of its rule, inside the text of the whole."""
    shortest = Shortest(AuthorStates(grammar))
    if shortest.inside[shortest.states.root] >= NEVER:
        return
    text = shortest.text(shortest.states.root)
    parse = AuthorParse(grammar, items=50_000)
    assert parse.feed(text) == len(text)
    steps = list(parse.derivation())
    first = steps[0]
    assert first.node is not None
    assert (first.node.rule, first.start, first.end) == (grammar.start, 0, len(text))
    # each byte was read once
    leaves = [step for step in steps if step.node is None and step.end == step.start + 1]
    assert len(leaves) >= len(text)
    for step in steps:
        node, start, end = step.node, step.start, step.end
        assert 0 <= start <= end <= len(text)
        if node is None:
            continue
        if node.kind == "rule":
            assert matches(Ref(node.rule), text[start:end], grammar.rules)
        elif node.kind in ("part", "body"):
            assert matches(node.expr, text[start:end], grammar.rules)


@given(grammars())
@settings(max_examples=80, deadline=None)
def test_the_least_text(grammar: Grammar) -> None:
    """As long as the engine says, and a text of the grammar; also the least one of each rule."""
    shortest = Shortest(AuthorStates(grammar))
    root = shortest.states.root
    try:
        least = wb.compile(grammar, BYTES).matcher().finish_distance()
    except wb.UnsatisfiableGrammar:
        assert shortest.inside[root] >= NEVER
        return
    assert shortest.inside[root] == least == shortest.through(root)
    oracle = Oracle(grammar, EVERY_BYTE)
    text = shortest.text(root)
    assert len(text) == least and oracle.complete(text)
    for node in shortest.states.nodes:
        if shortest.through(node.number) >= NEVER or node.kind == "body":
            continue
        # what leads there, and the part itself, begin a text
        assert oracle.alive(shortest.to(node.number) + shortest.text(node.number))


def test_names_that_are_not_listed() -> None:
    grammar = wb.json_schema(
        {"properties": {"ab": {}, "": {}}, "additionalProperties": {"type": "integer"}}
    )
    parse = AuthorParse(grammar)
    # an escape spells a listed name as well
    for text, fits in ((b'{"a":', True), (b'{"ab":"', True), (b'{"a\\u0062":1', False)):
        assert (parse.feed(text) == len(text)) == fits, text
        parse.take_back(len(parse))
    states = AuthorStates(grammar)
    least = Shortest(states)
    others = [node for node in states.nodes if "ab" in node.texts]
    assert others
    for node in others:
        assert isinstance(node.expr, OtherText) and least.text(node.number) == b"a"
        assert least.inside[node.number] == 1


def test_members_of_a_scope() -> None:
    """Any order, each once, as the engine reads it: all texts of up to five letters."""
    letters = [
        Seq((Guard("take", 1), literal("a"))),
        Seq((Guard("take", 2), literal("b"))),
        Seq((Guard("other"), literal("c"))),
    ]
    item = Seq((literal("("), Repeat(Alt(tuple(letters)), 0, None), Guard("end"), literal(")")))
    grammar = Grammar({"root": Scope(item, members=2, required=1, least=2, most=3)}, "root")
    matcher = wb.compile(grammar, BYTES).matcher()
    parse = AuthorParse(grammar)
    accepted = 0
    for size in range(6):
        for text in map(bytes, product(b"abc", repeat=size)):
            whole = b"(" + text + b")"
            complete = parse.feed(whole) == len(whole) and parse.is_complete
            assert complete == (
                matcher.accept_tokens(whole) == len(whole) and matcher.is_accepting
            ), whole
            accepted += complete
            parse.take_back(len(parse))
            matcher.reset()
    # ab, ba, ac, ca, and three letters with one a, at most one b: abc in 6 orders, acc in 3
    assert accepted == 4 + 6 + 3


def test_tokens_as_symbols() -> None:
    tokens = [b"a", b"b", b"ab", b"", b""]
    vocabulary = wb.Vocabulary.from_bytes(tokens, eos_ids=3, special_names={4: "<x>"})
    grammar = wb.gbnf('root ::= <x> "a" <[2]> | <x> "aab"')
    named = resolve_tokens(grammar, vocabulary)
    parse = AuthorParse(grammar, named)
    assert not parse.feed_token(0, b"a")
    assert parse.feed_token(4, b"")
    assert parse.feed_token(0, b"a")
    # the token ab is the one that is named, and its bytes are as good
    assert parse.feed_token(2, b"ab")
    assert parse.is_complete and len(parse) == 4 and bytes(parse.data) == b"aab"
    parse.take_back(2)
    assert parse.feed_token(0, b"a") and parse.feed_token(1, b"b") and parse.is_complete
    parse.take_back(2)
    assert not parse.feed_token(1, b"b") and len(parse) == 2


def test_work_is_bounded() -> None:
    grammar = wb.gbnf('root ::= root root | "a"')
    parse = AuthorParse(grammar, items=400)
    with pytest.raises(TooMuch):
        parse.feed(b"a" * 100)
    # what was read stays, and can be gone on from after going back
    assert 3 < len(parse) == len(parse.data) < 100 and parse.n_items <= 400
    parse.take_back(2)
    assert parse.feed(b"b") == 0 and parse.feed(b"a") == 1


def test_a_deep_document() -> None:
    grammar = wb.json_schema(True)
    parse = AuthorParse(grammar)
    assert parse.feed(b"[" * 3000) == 3000
    (stack,) = parse.stacks(limit=1)
    assert len(stack) > 3000 and stack[0].entered == 2999


def test_counts_of_many_are_no_work() -> None:
    parse = AuthorParse(wb.regex("a{100000}b"))
    assert parse.feed(b"a" * 500) == 500
    assert parse.stacks()[0][0].count == 500
    assert parse.n_items < 500 * 8


def test_every_kind_of_expression_is_known() -> None:
    """The front ends' grammars use expressions that the parser has to take."""
    kinds = set()
    for grammar in (
        wb.json_schema({"properties": {"a": {"pattern": "^a+b$"}}, "minProperties": 1}),
        wb.gbnf('root ::= ([a-z]{2} & ~"if") b"\\xff" b[a-c] <[1]>?'),
    ):
        names = list(grammar.rules)
        kinds |= {type(part) for name in names for part in walk(grammar.rules[name])}
        Shortest(AuthorStates(grammar))
    assert len(kinds) >= 9


@pytest.mark.parametrize("place", [None, "#/other"])
@pytest.mark.parametrize("alone", [True, False])
def test_what_is_a_node_of_its_own_wherever_it_belongs(place: str | None, alone: bool) -> None:
    """Repetitions, watched texts and scopes keep what they ask for, in another place of a schema too."""
    origin = Origin(place) if place else None
    member = Alt((Seq((Guard("take", 1), literal("x"))), literal("")))
    letters = Repeat(CharSet(((0x61, 0x7A),)), 0, None)
    cases: list[tuple[Expr, list[str]]] = [
        (Repeat(literal("x"), 2, 3, origin=origin), ["xx", "xxx"]),
        (Repeat(literal("x"), 1, 1, origin=origin), ["x"]),
        (OtherText(("x", "xxx"), letters, origin=origin), ["", "xx", "xxxx", "y"]),
        (Scope(Seq((member, Guard("end"))), 1, 1, 1, 1, origin=origin), ["x"]),
    ]
    for part, fitting in cases:
        top = part if alone else Seq((part, Seq(())))
        root = Seq((literal("<"), Ref("part"), literal(">")), origin=Origin("#"))
        grammar = Grammar({"root": root, "part": top}, "root")
        for text in ("", "x", "xx", "xxx", "xxxx", "y"):
            parse = AuthorParse(grammar)
            whole = f"<{text}>".encode()
            complete = parse.feed(whole) == len(whole) and parse.is_complete
            assert complete == (text in fitting), (part, text)


def test_ways_to_read_a_text_are_told_in_the_order_of_the_grammar() -> None:
    source = 'root ::= "a" x | "a" y | "a" "3"\nx ::= "b" "1"\ny ::= "b" "2"'
    parse = AuthorParse(wb.gbnf(source))
    assert parse.feed(b"a") == 1
    (stack,) = parse.stacks()
    starts = [dot.after.start or 0 for dot in stack[0].dots if dot.after]
    assert len(starts) == 3 and starts == sorted(starts)
    assert parse.feed(b"b") == 1
    assert [stack[0].rule for stack in parse.stacks()] == ["x", "y"]

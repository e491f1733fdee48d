"""Which tokens the stack decides about, against what the engine allows in one place under different stacks."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import workbench as wb
from workbench.diagnostics.explain.stack_needs import decided_by_stack, tokens_from
from workbench.engine import Matcher

TOKENS = [
    *(b"", b"a", b"(", b")", b"[", b"]", b"a)", b"a]", b"))", b"]]", b")]", b"(a", b"(a)", b"[a"),
    *(b"aa", b")a", b",", b",a", b"a))", b"a)]"),
]
NESTED = 'root ::= e\ne ::= "a" | "(" e ")" | "[" e "]"\n'
LISTS = 'root ::= e\ne ::= "a" | "(" e ("," e)* ")" | "[" e "]"\n'
COUNTED = 'root ::= e\ne ::= "a" | "(" e ("," e){0,2} ")" | "[" e{2,3} "]"\n'
MIXED = 'root ::= "[" e "]" | e\ne ::= t | e "," t\nt ::= "a" | "(" e ")" | "[" "a"* "]"\n'


def vocabulary(tokens: list[bytes] = TOKENS) -> wb.Vocabulary:
    return wb.Vocabulary.from_bytes(tokens, eos_ids=[0], special_names={0: "<end>"})


def matcher_after(grammar: str, text: bytes, table: wb.Vocabulary) -> Matcher:
    matcher = wb.compile(wb.gbnf(grammar), table).matcher()
    single = {table.token_bytes(i): i for i in range(table.size) if len(table.token_bytes(i)) == 1}
    assert matcher.accept_tokens([single[bytes([byte])] for byte in text]) == len(text)
    return matcher


def decided(grammar: str, text: bytes) -> set[bytes]:
    table = vocabulary()
    found = decided_by_stack(matcher_after(grammar, text, table))
    assert found.shape == (table.width,)
    assert found.dtype == np.bool_
    return {table.token_bytes(int(i)) or b"<end>" for i in np.flatnonzero(found)}


def test_inside_a_frame_only_what_leaves_it_is_decided_by_the_stack() -> None:
    # The frame itself knows its bracket: "a)" closes it and "a]" never may; only what closes another one asks below.
    assert decided(NESTED, b"(") == {b"a))", b"a)]"}
    # The inner e has ended: the brackets that are open say what may come, and whether the text may end.
    assert decided(NESTED, b"(a") == {b")", b"]", b"))", b"]]", b")]", b"<end>"}


def test_what_no_stack_allows_is_not_decided_by_it() -> None:
    after = decided(NESTED, b"[a")
    assert not after & {b"a", b"aa", b")a", b"(", b"[", b",", b",a"}
    assert {b",", b",a"} <= decided(LISTS, b"[a")


def test_without_a_call_there_is_no_stack_to_decide() -> None:
    assert decided('root ::= "(" "a"* ")"', b"(") == set()


def contexts(grammar: str, length: int) -> dict[tuple[int, ...], list[Matcher]]:
    """All prefixes up to a length, by their live states."""
    table = vocabulary()
    found: dict[tuple[int, ...], list[Matcher]] = defaultdict(list)
    todo = [wb.compile(wb.gbnf(grammar), table).matcher()]
    for _ in range(length):
        following = []
        for matcher in todo:
            found[matcher.live_states()].append(matcher)
            for token in range(1, 6):
                further = matcher.fork()
                if further.accept(token):
                    following.append(further)
        todo = following
    return found


@pytest.mark.parametrize("grammar", [NESTED, LISTS, COUNTED, MIXED])
def test_what_differs_between_two_stacks_is_decided_by_the_stack(grammar: str) -> None:
    differing = 0
    for matchers in contexts(grammar, 6).values():
        masks = np.zeros((len(matchers), vocabulary().width), dtype=np.bool_)
        for row, matcher in zip(masks, matchers, strict=True):
            row[matcher.allowed_ids()] = True
        differ = masks.any(axis=0) & ~masks.all(axis=0)
        differing += int(differ.sum())
        for matcher in matchers[:12]:
            assert not (differ & ~decided_by_stack(matcher)).any()
    assert differing > 4


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_what_the_stack_decides_differs_between_two_stacks(data: st.DataObject) -> None:
    """The other way round, in a language where each place is met under each stack of two kinds of brackets."""
    table = vocabulary()
    text = data.draw(st.text(alphabet="([", min_size=1, max_size=4)).encode() + b"a"
    found = decided_by_stack(matcher_after(NESTED, text, table))
    allowed = np.zeros((3, table.width), dtype=np.bool_)
    # one stack of "((", one of "[[", one of "([": between them they allow all that some stack allows
    for row, other in zip(allowed, (b"((a", b"[[a", b"([a"), strict=True):
        row[matcher_after(NESTED, other, table).allowed_ids()] = True
    expected = allowed.any(axis=0)
    expected[0] = True  # the end, which an empty stack allows
    expected[table_id(table, b")]")] = True  # a stack of "[(" allows it
    assert (found == expected).all()


def table_id(table: wb.Vocabulary, text: bytes) -> int:
    return next(i for i in range(table.size) if table.token_bytes(i) == text)


def test_a_finished_text_has_nothing_left_to_decide() -> None:
    matcher = matcher_after('root ::= "a"', b"a", vocabulary())
    assert matcher.accept(0)
    assert not decided_by_stack(matcher).any()


def test_json_keys_of_the_object_around_are_decided_by_the_stack() -> None:
    tokens = [b"", *(bytes([b]) for b in range(256)), b'},"b"', b'},"c"', b"1}", b"12"]
    table = vocabulary(tokens)
    schema = {
        "properties": {
            "a": {"$ref": "#/$defs/tree"},
            "b": {"type": "integer"},
        },
        "additionalProperties": False,
        "type": "object",
        "$defs": {
            "tree": {
                "type": "object",
                "properties": {"c": {"$ref": "#/$defs/tree"}, "d": {"type": "integer"}},
                "additionalProperties": False,
            }
        },
    }
    matcher = wb.compile(wb.json_schema(schema, whitespace="compact"), table).matcher()
    text = b'{"a":{"d":1'
    assert matcher.accept_tokens([1 + byte for byte in text]) == len(text)
    found = decided_by_stack(matcher)
    assert found[table_id(table, b'},"b"')]
    assert not found[table_id(table, b"12")]
    assert found[table_id(table, b'},"b"')] and bool(np.isin(257, matcher.allowed_ids()))


def test_tokens_are_counted_from_a_state() -> None:
    table = vocabulary()
    matcher = matcher_after(NESTED, b"(", table)
    automaton = matcher.compiled.automaton
    # whatever lies below: "a", "(", "[", "a)", "(a", "(a)", "[a"; closing another bracket needs one: "a))", "a)]"
    assert tokens_from(automaton, table, matcher.live_states()) == (7, 2)
    ended = matcher_after(NESTED, b"(a", table)
    assert tokens_from(automaton, table, ended.live_states()) == (0, 5)

"""Budgets of tokens: the least that completes a text, and masks of what leaves room for it, against brute force."""

from __future__ import annotations

import json
from random import Random

import numpy as np
import pytest

import workbench as wb
from tests.engine.grammars import Case, seeded_case, small_case
from tests.engine.hostile import TOKENIZER, llama
from workbench.engine.budgeted import Budgeted
from workbench.grammar.ir import Grammar, Literal, Seq, Token
from workbench.vocabulary.tails import ROOT, tails_of

#: positions in one step of the brute force, and its steps
WIDTH, DEPTH = 60, 4

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "age": {"type": "integer"},
        "tags": {"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 5},
        "more": {
            "type": "object",
            "properties": {"a": {"type": "boolean"}},
            "required": ["a"],
            "additionalProperties": False,
        },
    },
    "required": ["name", "age", "tags"],
    "additionalProperties": False,
}
RECURSIVE = {
    "$defs": {
        "tree": {
            "type": "object",
            "properties": {
                "left": {"$ref": "#/$defs/tree"},
                "value": {"type": "integer"},
                "right": {"$ref": "#/$defs/tree"},
            },
            "required": ["value"],
            "additionalProperties": False,
        }
    },
    "$ref": "#/$defs/tree",
}


def brute_force(matcher: wb.Matcher, most: int = DEPTH) -> int | None:
    """Least tokens to a complete text, breadth first over forks; more than ``most`` where there is none so short.

    None where there are too many positions to look at.
    """
    front = [matcher.fork()]
    for depth in range(most + 1):
        if any(one.is_accepting for one in front):
            return depth
        following: dict[int, wb.Matcher] = {}
        for one in front:
            for token in one.allowed_ids().tolist():
                if not one.ends(token):
                    after = one.fork()
                    assert after.accept(token)
                    following.setdefault(after.position, after)
            if len(following) > WIDTH:
                return None
        front = list(following.values())
    return most + 1


def compiled(case: Case) -> wb.CompiledGrammar:
    limits = {
        name: limit for name, limit in case.budgets if name not in ("arena_words", "row_bytes")
    }
    return wb.compile(case.grammar, case.vocabulary(), budgets=wb.Budgets(**limits))


def check_position(matcher: wb.Matcher) -> bool:
    """Compare the least tokens, and the masks of all budgets up to it and a little more; whether there was any."""
    least = brute_force(matcher)
    if least is None:
        return False
    found = matcher.least_tokens()
    if least > DEPTH:
        assert found is None or found > DEPTH + 1
        return True
    assert found == least + 1
    needs = {}
    for token in matcher.allowed_ids().tolist():
        after = matcher.fork()
        after.accept(token)
        rest = 0 if after.is_terminated else brute_force(after, DEPTH - 1)
        if rest is None:
            return False
        needs[token] = 1 if after.is_terminated else rest + 2
    mask = wb.empty_mask(matcher.vocabulary)
    for budget in range(DEPTH + 1):
        left_out = matcher.fill_mask_within(mask, budget)
        ids = np.flatnonzero(np.unpackbits(mask.view(np.uint8), bitorder="little")).tolist()
        assert ids == [token for token, need in needs.items() if need <= budget]
        assert left_out == len(needs) - len(ids)
    return True


@pytest.mark.parametrize("make", [seeded_case, small_case])
@pytest.mark.parametrize("first", range(0, 60, 20))
def test_least_and_masks_are_those_of_brute_force(make: object, first: int) -> None:
    checked = 0
    for seed in range(first, first + 20):
        case = make(seed)  # type: ignore[operator]
        try:
            matcher = compiled(case).matcher()
        except wb.UnsatisfiableGrammar:
            continue
        pick = Random(seed)
        for _ in range(3):
            checked += check_position(matcher)
            ids = [token for token in matcher.allowed_ids().tolist() if not matcher.ends(token)]
            if not ids:
                break
            matcher.accept(pick.choice(ids))
    assert checked > 15


def finish(grammar: wb.CompiledGrammar, tokens: int, seed: int) -> bytes:
    """A text of random tokens within a budget, as sampling of random logits gives."""
    matcher = Budgeted(grammar.matcher(), tokens)
    random, out = np.random.default_rng(seed), []
    while not matcher.is_terminated:
        ids = matcher.allowed_ids()
        assert len(ids) > 0
        token = int(random.choice(ids))
        assert matcher.accept(token)
        out.append(token)
    assert len(out) <= tokens
    return grammar.vocabulary.decode(out)


@pytest.mark.parametrize("first", range(0, 40, 10))
def test_random_grammars_are_completed(first: int) -> None:
    for seed in range(first, first + 10):
        try:
            grammar = compiled(seeded_case(seed))
        except wb.UnsatisfiableGrammar:
            continue
        least = grammar.matcher().least_tokens()
        if least is None:
            continue
        for more in (0, 1, 2, 5, 20):
            finish(grammar, least + more, seed)


HOSTILE = [
    *(
        b'{"',
        b'":',
        b'"',
        b',"',
        b'"}',
        b"}",
        b"[",
        b"]",
        b'["',
        b'"]',
        b"1",
        b"23",
        b",",
        b"true",
        b'e":',
    ),
    *(
        b"name",
        b"ag",
        b"tags",
        b"me",
        b"na",
        b'a":',
        b'"x"',
        b'xy"',
        b'left":',
        b"value",
        b'":1',
        b'":1}',
    ),
    *(
        b'":{"',
        b"more",
        b"a",
        b'":"',
        b'","',
        b'":["',
        b'"],"',
        b"12}",
        b"}}",
        b"]}",
        b"righ",
        b't":',
    ),
]


def hostile() -> wb.Vocabulary:
    """Few tokens, odd cuts, and of most bytes none by itself."""
    return wb.Vocabulary.from_bytes([*HOSTILE, b""], eos_ids=(len(HOSTILE),))


@pytest.mark.parametrize("vocabulary", [hostile, llama], ids=["hostile", "llama"])
@pytest.mark.parametrize("schema", [SCHEMA, RECURSIVE], ids=["flat", "recursive"])
def test_schemas_are_completed(vocabulary: object, schema: dict[str, object]) -> None:
    if vocabulary is llama and not TOKENIZER.exists():
        pytest.skip("no shared data")
    jsonschema = pytest.importorskip("jsonschema")
    grammar = wb.compile(wb.json_schema(schema), vocabulary())  # type: ignore[operator]
    least = grammar.matcher().least_tokens()
    assert least is not None
    for more in (0, 1, 2, 3, 7, 20):
        value = json.loads(finish(grammar, least + more, more))
        jsonschema.validate(value, schema)
    with pytest.raises(wb.BudgetTooSmall) as error:
        Budgeted(grammar.matcher(), least - 1)
    assert (error.value.given, error.value.minimum) == (least - 1, least)


def letters(*tokens: bytes) -> wb.Vocabulary:
    return wb.Vocabulary.from_bytes([*tokens, b""], eos_ids=(len(tokens),))


@pytest.mark.parametrize(
    ("pattern", "tokens", "least"),
    [
        # the shortest text is not the one of fewest tokens
        ("ab|cccccc", [b"a", b"b", b"cccccc"], 1),
        # a token goes over the end of a repetition and begins what follows
        ("(ab){3}cd", [b"a", b"b", b"aba", b"babc", b"c", b"d"], 3),
        ("a{40}", [b"a", b"aaa"], 14),
        ("a{0,40}b", [b"aaaaaaaaab", b"a"], 1),
        ("a{40}b{2,30}", [b"a" * 7, b"aaaaabb", b"a"], 6),
    ],
)
def test_least_tokens_of_patterns(pattern: str, tokens: list[bytes], least: int) -> None:
    matcher = wb.compile(wb.regex(pattern), letters(*tokens)).matcher()
    assert matcher.least_tokens() == least + 1


def test_a_named_token_counts_as_one() -> None:
    vocabulary = letters(b"a", b"b", b"ab")
    grammar = Grammar({"root": Seq((Literal(b"a"), Token(ids=(1,)), Literal(b"ab")))}, "root")
    assert wb.compile(grammar, vocabulary).matcher().least_tokens() == 4


def test_members_in_any_order() -> None:
    schema = {
        "type": "object",
        "properties": {name: {"const": 1} for name in "abc"},
        "required": ["a", "b", "c"],
        "additionalProperties": False,
    }
    tokens = [b"{", b"}", b'"a":1', b'"b":1', b'"c":1', b",", b',"c":1,"a":1']
    grammar = wb.compile(
        wb.json_schema(schema, property_order="any", whitespace="compact"), letters(*tokens)
    )
    # {"b":1 ,"c":1,"a":1 } and the end
    assert grammar.matcher().least_tokens() == 5
    matcher = grammar.matcher()
    assert matcher.accept(0)
    assert matcher.least_tokens() == 4
    mask = wb.empty_mask(grammar.vocabulary)
    matcher.fill_mask_within(mask, 4)
    assert int(mask[0]) == 1 << 3
    assert {len(json.loads(finish(grammar, 9, seed))) for seed in range(5)} == {3}


def test_items_that_must_differ() -> None:
    schema = {"type": "array", "items": {"enum": [1, 2]}, "uniqueItems": True, "minItems": 2}
    tokens = [b"[1", b",1", b",2", b"]", b"[", b"2", b"1"]
    grammar = wb.compile(wb.json_schema(schema, whitespace="compact"), letters(*tokens))
    assert grammar.matcher().least_tokens() == 4
    assert finish(grammar, 4, 0) == b"[1,2]"


def test_what_no_tokens_complete() -> None:
    no_end = wb.Vocabulary.from_bytes([b"a", b"b"], eos_ids=())
    assert wb.compile(wb.regex("ab"), no_end).matcher().least_tokens() is None
    with pytest.raises(wb.UnsatisfiableGrammar, match="no end token"):
        Budgeted(wb.compile(wb.regex("ab"), no_end).matcher(), 9)
    matcher = wb.compile(wb.regex("ab|ac"), letters(b"a", b"b")).matcher()
    assert matcher.least_tokens() == 3
    for token in (0, 1, 2):
        assert matcher.accept(token)
    assert matcher.least_tokens() is None


def test_a_budgeted_matcher_refuses_and_says_why() -> None:
    matcher = Budgeted(wb.compile(wb.regex("(ab)*"), letters(b"a", b"b")).matcher(), 2)
    assert not matcher.accept(0)
    assert "fits into the 2 tokens" in matcher.explain(0).sentence
    assert matcher.explain(2).allowed
    other = matcher.fork()
    assert other.accept(2) and other.is_terminated and not matcher.is_terminated
    assert matcher.tokens_left == 2 and other.tokens_left == 1


def test_tails_spell_the_tokens() -> None:
    words = [b"ab", b"cb", b"abc", b"b", b"ab", b"xyz"]
    tails = tails_of(letters(*words))
    found, todo = set(), [(b"", ROOT)]
    while todo:
        text, node = todo.pop()
        if tails.ends[node]:
            found.add(text)
        for i in range(tails.start[node], tails.start[node + 1]):
            todo.append((text + bytes([tails.byte[i]]), int(tails.node[i])))
    assert found == set(words)

"""The oracle against enumeration, Python's ``re`` and the ``regex`` package's partial matches."""

from __future__ import annotations

import itertools
import re

import pytest
import regex
from hypothesis import HealthCheck, given, settings

from tests.engine.grammars import grammars, language, regular_expressions, used_bytes
from tests.oracle import Oracle, utf8_sequences
from workbench.grammar import ir
from workbench.grammar.ir import (
    EMPTY,
    Alt,
    ByteSet,
    CharSet,
    Expr,
    Grammar,
    Literal,
    Ref,
    Repeat,
    Seq,
)

QUICK = settings(
    max_examples=150,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)

Texts = frozenset[bytes]


def join(left: Texts, right: Texts, length: int) -> Texts:
    return frozenset(a + b for a in left for b in right if len(a) + len(b) <= length)


def meaning(expr: Expr, rules: dict[str, Texts], length: int) -> Texts:
    """The texts of an expression up to a length, straight from the definition of each node."""
    match expr:
        case Literal(data=data):
            return frozenset({data} if len(data) <= length else ())
        case ByteSet(mask=mask):
            return frozenset(bytes([b]) for b in range(256) if mask >> b & 1)
        case CharSet(ranges=ranges):
            codes = (c for low, high in ranges for c in range(low, high + 1))
            texts = (chr(c).encode() for c in codes if not 0xD800 <= c <= 0xDFFF)
            return frozenset(t for t in texts if len(t) <= length)
        case Seq(items=items):
            texts = frozenset({b""})
            for item in items:
                texts = join(texts, meaning(item, rules, length), length)
            return texts
        case Alt(items=items):
            return frozenset().union(*(meaning(item, rules, length) for item in items))
        case Ref(name=name):
            return rules[name]
        case Repeat(item=item, min=least, max=most):
            body, power, texts, seen = meaning(item, rules, length), frozenset({b""}), set(), set()
            for count in itertools.count():
                if count >= least:
                    texts |= power
                    if count == most or power in seen:  # from here on the powers repeat
                        return frozenset(texts)
                    seen.add(power)
                power = join(power, body, length)
        case ir.Graph():
            reached: list[Texts] = [frozenset()] * expr.n_states
            reached[expr.start] = frozenset({b""})
            labels = [meaning(label, rules, length) for _, label, _ in expr.edges]
            while True:
                before = list(reached)
                for (source, _, target), texts in zip(expr.edges, labels, strict=True):
                    reached[target] |= join(reached[source], texts, length)
                if reached == before:
                    return frozenset().union(*(reached[s] for s in expr.finals))
    raise TypeError(expr)


def texts_up_to(grammar: Grammar, length: int) -> Texts:
    """The language up to a length, as the least fixed point of the rules."""
    rules: dict[str, Texts] = dict.fromkeys(grammar.rules, frozenset())
    while True:
        found = {name: meaning(expr, rules, length) for name, expr in grammar.rules.items()}
        if found == rules:
            return rules[grammar.start]
        rules = found


def single_bytes(grammar: Grammar) -> list[bytes]:
    return [bytes([b]) for b in sorted(used_bytes(grammar))]


@QUICK
@given(grammars())
def test_texts_are_those_of_the_definition(grammar: Grammar) -> None:
    tokens = single_bytes(grammar)[:8]
    alphabet = [t[0] for t in tokens]
    length = 4
    spelled = frozenset(t for t in texts_up_to(grammar, length) if set(t) <= set(alphabet))
    oracle = Oracle(grammar, tokens)
    assert frozenset(language(oracle, length, 10**6)) == spelled


@QUICK
@given(grammars())
def test_alive_prefixes_can_be_completed_and_dead_ones_cannot(grammar: Grammar) -> None:
    tokens = single_bytes(grammar)[:5]
    alphabet = [t[0] for t in tokens]
    oracle = Oracle(grammar, tokens)
    known = texts_up_to(grammar, 5)
    known = frozenset(t for t in known if set(t) <= set(alphabet))
    beginnings = {t[:n] for t in known for n in range(len(t) + 1)}
    for length in range(3):
        for prefix in itertools.product(alphabet, repeat=length):
            if not oracle.alive(bytes(prefix)):
                assert bytes(prefix) not in beginnings
            elif bytes(prefix) not in beginnings:
                shortest = shortest_completion(oracle, bytes(prefix))
                assert shortest is None or len(shortest) > 5
                if shortest and len(shortest) < 8:
                    assert shortest in texts_up_to(grammar, len(shortest))
    assert oracle.empty_language == (not oracle.alive(b""))


def shortest_completion(oracle: Oracle, prefix: bytes) -> bytes | None:
    """A shortest text with this prefix; None when too many prefixes are as short."""
    level = [prefix]
    while not any(map(oracle.complete, level)):
        level = [p + bytes([b]) for p in level for b in oracle.bytes_after(p)]
        if len(level) > 500:
            return None
    return next(filter(oracle.complete, level))


def pattern(expr: Expr) -> bytes:
    """A bytes pattern of Python's ``re`` for an expression without rules."""
    match expr:
        case Literal(data=data):
            return re.escape(data)
        case ByteSet(mask=mask):
            return b"[" + b"".join(b"\\x%02x" % b for b in range(256) if mask >> b & 1) + b"]"
        case CharSet(ranges=ranges):
            spellings = [s for low, high in ranges for s in utf8_sequences(low, high)]
            choices = [
                b"".join(pattern(ByteSet(sum(1 << b for b in x))) for x in s) for s in spellings
            ]
            return b"(?:" + b"|".join(choices) + b")"
        case Seq(items=items):
            return b"".join(b"(?:" + pattern(item) + b")" for item in items)
        case Alt(items=items):
            return b"(?:" + b"|".join(map(pattern, items)) + b")"
        case Repeat(item=item, min=least, max=most):
            return b"(?:%b){%d,%s}" % (pattern(item), least, b"" if most is None else b"%d" % most)
    raise TypeError(expr)


@QUICK
@given(regular_expressions())
def test_agrees_with_regular_expressions(expr: Expr) -> None:
    grammar = Grammar({"root": expr}, "root")
    tokens = single_bytes(grammar)[:5] or [b"a"]
    oracle = Oracle(grammar, tokens)
    compiled, partial = re.compile(pattern(expr), re.S), regex.compile(pattern(expr), regex.S)
    for length in range(5):
        for letters in itertools.product(b"".join(tokens), repeat=length):
            text = bytes(letters)
            assert oracle.complete(text) == bool(compiled.fullmatch(text)), text
            if len(tokens) == len(single_bytes(grammar)):
                assert oracle.alive(text) == bool(partial.fullmatch(text, partial=True)), text


def test_characters_are_spelled_in_utf8() -> None:
    borders = [0, 0x41, 0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x10FFFF]
    for low, high in itertools.combinations_with_replacement(borders, 2):
        codes = [c for c in range(low, high + 1) if not 0xD800 <= c <= 0xDFFF]
        if len(codes) < 70_000:
            spelled = [bytes(t) for s in utf8_sequences(low, high) for t in itertools.product(*s)]
            assert sorted(spelled) == sorted(chr(c).encode() for c in codes)


@pytest.mark.parametrize(
    ("rules", "prefix", "allowed"),
    [
        # tokens: 0 "a", 1 "b", 2 "aa", 3 "ab", 4 "", 5 "b" as special, 6 end, 7 "a" again
        pytest.param({"S": Alt((Seq((Ref("S"), Ref("S"))), Literal(b"a")))}, b"", {0, 2, 7}),
        pytest.param({"S": Alt((Seq((Ref("S"), Ref("S"))), Literal(b"a")))}, b"a", {0, 2, 6, 7}),
        pytest.param({"S": Repeat(Repeat(Literal(b"a"), 0, 1), 2, 2)}, b"a", {0, 6, 7}),
        pytest.param({"S": Repeat(Literal(b"a"), 3, 3)}, b"a", {0, 2, 7}),
        pytest.param({"S": EMPTY}, b"", {6}),
        pytest.param(
            {"S": Alt((Seq((Literal(b"a"), Ref("S"))), Literal(b"ab")))}, b"", {0, 2, 3, 7}
        ),
        # "c" is in no token, so that "ac" is no text and "a" leads nowhere
        pytest.param({"S": Alt((Literal(b"ac"), Literal(b"b")))}, b"", {1}),
    ],
)
def test_allowed_tokens_by_hand(rules: dict[str, Expr], prefix: bytes, allowed: set[int]) -> None:
    tokens = [b"a", b"b", b"aa", b"ab", b"", b"b", b"</s>", b"a"]
    oracle = Oracle(Grammar(rules, "S"), tokens, eos_ids=[6], special_ids=[5])
    assert oracle.allowed(prefix) == allowed

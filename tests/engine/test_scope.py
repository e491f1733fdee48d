"""Members in any order, each at most once, and texts that do not come twice; the oracle parses the text.

A prefix is right when some completion is; completions are found by search over the bytes that may come.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import workbench as wb
from tests.engine.walks import ids_of, mask_of
from workbench.automaton.budgets import Budgets
from workbench.automaton.finite import determinise, minimise, to_graph
from workbench.frontends.json_schema.emit.any_value import ANY_CHARACTER
from workbench.grammar.ir import (
    Alt,
    ByteSet,
    CharSet,
    Expr,
    Grammar,
    Graph,
    Guard,
    Literal,
    OtherText,
    Ref,
    Repeat,
    Scope,
    Seq,
    literal,
)
from workbench.grammar.lazy import LazyRules
from workbench.grammar.scopes import written_out

BODY = Repeat(ANY_CHARACTER, 0, None)
TOKENS = [bytes([b]) for b in range(256)]
TOKENS += [
    b'":1',
    b',"',
    b'{"',
    b'1,"',
    b'a":',
    b'ab":1,"',
    b'":1}',
    b'":{"',
    b'"a":1,"b":1',
    b'""',
    b'":1,"a"',
]
TOKENS += [
    b"\\u0061",
    b"\\u00",
    b"61",
    b'{"x":1,"x',
    b'{"x":1,"y',
    b'x":1,"',
    b'1,"x":1,"x',
    b"}}",
    b'","',
    b'","a',
    b'a","',
    b'","b","',
    b'"]',
    b'","a"]',
    b"",
]
EOS = len(TOKENS) - 1
VOCABULARY = wb.Vocabulary.from_bytes(TOKENS, EOS)


@dataclass(frozen=True)
class Object:
    """An object whose names come in any order; ``extra`` ones are any others, each at most once."""

    names: tuple[str, ...]
    required: tuple[str, ...] = ()
    extra: bool = False
    least: int = 0
    most: int | None = None
    #: the empty name is a member of its own, so that no other text is empty
    apart: bool = False

    def bits(self, names: Sequence[str]) -> int:
        return sum(1 << self.names.index(name) for name in names)

    def expr(self, value: Expr) -> Expr:
        """States: 0 before the brace, 1 after it, 2 before a member, 3 and 5 after one, 4 at the end."""
        every = self.bits(self.names)
        end, more = Guard("end"), Guard("may", every, self.extra)
        edges: list[tuple[int, Expr, int]] = [
            (0, Literal(b"{"), 1),
            (1, Seq((end, Literal(b"}"))), 4),
            (1, more, 2),
            (3, Guard("between"), 5),
            (5, Seq((more, Literal(b","))), 2),
            (5, Seq((end, Literal(b"}"))), 4),
        ]
        count = 6
        nodes = {"": count}
        count += 1
        edges.append((2, Literal(b'"'), nodes[""]))
        for name in self.names:
            for i in range(len(name)):
                if name[: i + 1] not in nodes:
                    nodes[name[: i + 1]] = count
                    below = self.bits([n for n in self.names if n.startswith(name[: i + 1])])
                    step = Seq((Guard("may", below), Literal(name[i].encode())))
                    edges.append((nodes[name[:i]], step, count))
                    count += 1
            rest = Seq((Guard("take", self.bits([name])), Literal(b'":'), value))
            edges.append((nodes[name], rest, 3))
        if self.extra:
            known = {"", *self.names} if self.apart else set(self.names)
            other = OtherText(tuple(sorted(known)), BODY, fresh=True)
            if self.apart and "" not in self.names:
                empty = Guard("take", 1 << len(self.names))
                edges.append((2, Seq((Literal(b'"'), empty, Literal(b'":'), value)), 3))
            edges.append((2, Seq((Guard("other"), Literal(b'"'), other, Literal(b'":'), value)), 3))
        graph = Graph(count, 0, (4,), tuple(edges))
        members, required = len(self.names) + 1, self.bits(self.required)
        return Scope(graph, members, required, self.least, self.most, self.apart)

    def allows(self, pairs: list[tuple[str, object]], depth: int) -> bool:
        keys = [key for key, _ in pairs]
        if len(set(keys)) < len(keys) or not set(self.required) <= set(keys):
            return False
        if len(keys) < self.least or (self.most is not None and len(keys) > self.most):
            return False
        if not self.extra and not set(keys) <= set(self.names):
            return False
        return all(self.value(value, depth) for _, value in pairs)

    def value(self, value: object, depth: int) -> bool:
        if isinstance(value, list):
            return self.allows(value, depth + 1)
        return value == 1

    def fits(self, text: str) -> bool:
        try:
            return self.value(json.loads(text, object_pairs_hook=lambda pairs: list(pairs)), 0)
        except ValueError:
            return False


def compiled(shape: Object, **budgets: int) -> wb.CompiledGrammar:
    value = Ref("value")
    rules: dict[str, Expr] = {"root": shape.expr(value)}
    rules["value"] = Graph(2, 0, (1,), ((0, Literal(b"1"), 1), (0, rules["root"], 1)))
    grammar = Grammar(LazyRules(rules.__getitem__, "root"), "root")
    return wb.compile(grammar, VOCABULARY, Budgets(**budgets))


SHAPES = (
    Object(("a",)),
    Object(("a", "ab", "b"), ("ab",)),
    Object(("a", "ab", "abc", "b"), ("b",), most=2),
    Object(("a", "b", "c", "d"), ("c",), least=2, most=3),
    Object(("a", "b"), ("a",), extra=True),
    Object((), extra=True, least=2),
    Object(("x",), extra=True, most=2),
    Object(("x", "y"), ("y",), extra=True, least=1, most=3),
    Object(tuple(f"n{i}" for i in range(70)), ("n3", "n69")),
    Object(("a", "b"), ("a",), extra=True, apart=True),
    Object((), extra=True, least=2, apart=True),
    Object(("x", ""), ("",), extra=True, most=3, apart=True),
)


def completed(matcher: wb.Matcher, shape: Object, rng: Random) -> bytes:
    """Bytes that complete a text: pieces that bring it to an end where they fit, else any byte."""
    out = bytearray()
    probe = matcher.fork()
    names = [*shape.required, *shape.names, "q", "qq"]
    pieces = [
        b'":1',
        b"}",
        b"1",
        *(f'{comma}"{name}":1'.encode() for comma in ("", ",") for name in names),
    ]
    while not probe.is_accepting:
        for piece in pieces:
            if probe.validate(piece) == len(piece):
                break
        else:
            choices = sorted(probe.allowed_bytes())
            assert choices, "a dead end"
            piece = bytes([rng.choice(choices)])
        assert probe.accept_tokens(piece) == len(piece)
        out += piece
        assert len(out) < 4000
    return bytes(out)


@pytest.mark.parametrize("shape", SHAPES)
def test_walks_stay_within_and_miss_nothing(shape: Object) -> None:
    one = compiled(shape)
    small = compiled(shape, arena_words=60_000)
    for seed in range(12):
        rng = Random(seed)
        matcher, other = one.matcher(), small.matcher()
        text = b""
        for step in range(30):
            mask = mask_of(matcher)
            assert np.array_equal(mask, mask_of(other)), (seed, step, text)
            allowed = ids_of(mask)
            live = matcher.allowed_bytes()
            assert live == {i for i in allowed if i < 256}, (seed, text)
            for token in range(256, EOS):
                probe = matcher.fork()
                taken = probe.accept_tokens(TOKENS[token])
                assert (taken == len(TOKENS[token])) == (token in allowed), (text, TOKENS[token])
            if matcher.is_accepting:
                assert shape.fits(text.decode()), text
                break
            whole = text + completed(matcher, shape, rng)
            assert shape.fits(whole.decode()), whole
            choices = [i for i in allowed if i >= 256] or allowed
            plain = [i for i in allowed if TOKENS[i].isascii()] or allowed
            token = rng.choice(choices if rng.random() < 0.4 else plain)
            assert matcher.accept(token) and other.accept(token)
            text += TOKENS[token]


@pytest.mark.parametrize("shape", SHAPES)
def test_right_texts_pass_and_wrong_ones_do_not(shape: Object) -> None:
    one = compiled(shape)
    rng = Random(7)
    pool = [*shape.names[:6], "a", "x", "q", ""]
    verdicts = set()
    for _ in range(400):

        def make(depth: int) -> str:
            keys = rng.choices(pool, k=rng.randint(0, 4))
            if rng.random() < 0.7:
                keys = [*shape.required, *keys] if rng.random() < 0.7 else list(dict.fromkeys(keys))
                rng.shuffle(keys)
                if rng.random() < 0.8:
                    keys = list(dict.fromkeys(keys))
            return "{" + ",".join(f"{spelled(key)}:{inner(depth)}" for key in keys) + "}"

        def spelled(key: str) -> str:
            if key in shape.names or rng.random() < 0.5:
                return json.dumps(key)
            return '"' + "".join(rf"\u{ord(char):04x}" for char in key) + '"'

        def inner(depth: int) -> str:
            return make(depth + 1) if depth < 2 and rng.random() < 0.3 else "1"

        text = make(0)
        matcher = one.matcher()
        passes = matcher.accept_tokens(text.encode()) == len(text) and matcher.is_accepting
        assert passes == shape.fits(text), text
        verdicts.add(passes)
    assert verdicts == {True, False}


@st.composite
def shapes(draw: st.DrawFn) -> Object:
    names = draw(st.lists(st.text("ab", max_size=3), min_size=1, max_size=5, unique=True))
    required = [name for name in names if draw(st.booleans())]
    least = draw(st.integers(0, len(names)))
    most = draw(st.none() | st.integers(max(least, len(required)), 6))
    return Object(tuple(names), tuple(required), False, least, most)


@settings(max_examples=40, deadline=None)
@given(shapes(), st.integers(0, 2**32))
def test_equal_to_the_scope_written_out(shape: Object, seed: int) -> None:
    """The same language without records has the same masks, in an engine that knows no scopes."""
    value = Ref("value")
    object_ = shape.expr(value)
    assert isinstance(object_, Scope)
    written = written_out(object_)
    graphs = [
        Graph(2, 0, (1,), ((0, Literal(b"1"), 1), (0, root, 1))) for root in (object_, written)
    ]
    rules: dict[str, Expr] = {"root": object_, "value": graphs[0]}
    lazily = Grammar(LazyRules(rules.__getitem__, "root"), "root")
    plain = Grammar({"root": written, "value": graphs[1]}, "root")
    one, other = (wb.compile(grammar, VOCABULARY).matcher() for grammar in (lazily, plain))
    rng = Random(seed)
    for _ in range(25):
        mask = mask_of(one)
        assert np.array_equal(mask, mask_of(other))
        assert one.is_accepting == other.is_accepting
        assert one.finish_distance() == other.finish_distance()
        if one.is_accepting:
            break
        token = rng.choice(ids_of(mask))
        assert one.accept(token) and other.accept(token)


LANGUAGES = (
    ("a", "b", "c"),
    ("a", "ab", "abc", "b"),
    ("", "x", "xx"),
    ("é", "è", "e", "ê"),
    ("😀", "😁", "😁a", "\U0010ffff"),
    ("aa", "ab", "ba", "bb", "bbé"),
)


def unlike(texts: Sequence[str], least: int, most: int | None) -> Grammar:
    """Arrays of different texts out of a few."""
    words = minimise(determinise(Alt(tuple(literal(text) for text in texts))))
    graph = to_graph(words, CharSet)
    item = OtherText((), graph, fresh=True, within=graph)
    count = len(texts) if most is None else min(most, len(texts))
    more, end = Guard("may", 0, True), Guard("end")
    quote = Literal(b'"')
    edges = (
        (0, Literal(b"["), 1),
        (1, more, 2),
        (1, Seq((end, Literal(b"]"))), 4),
        (2, Seq((Guard("other"), quote, item, quote)), 3),
        (3, Seq((more, Literal(b","))), 2),
        (3, Seq((end, Literal(b"]"))), 4),
    )
    rules: dict[str, Expr] = {"root": Scope(Graph(5, 0, (4,), edges), 0, 0, least, count)}
    return Grammar(LazyRules(rules.__getitem__, "root"), "root")


@pytest.mark.parametrize("texts", LANGUAGES)
@pytest.mark.parametrize(("least", "most"), [(0, None), (1, 3), (3, None)])
def test_few_texts_each_at_most_once(texts: tuple[str, ...], least: int, most: int | None) -> None:
    """All arrays are listed: after each of their beginnings just the bytes that go on with one may come."""
    spellings = [f'"{text}"'.encode() for text in texts]
    top = len(texts) if most is None else min(most, len(texts))
    words = [
        b"[" + b",".join(some) + b"]"
        for size in range(least, top + 1)
        for some in permutations(spellings, size)
    ]
    following: dict[bytes, set[int]] = {}
    for word in words:
        for i in range(len(word)):
            following.setdefault(word[:i], set()).add(word[i])
    one = wb.compile(unlike(texts, least, most), VOCABULARY)
    for number, (prefix, expected) in enumerate(following.items()):
        if number % 3 and number > 300:
            continue
        matcher = one.matcher()
        assert matcher.accept_tokens(prefix) == len(prefix)
        assert matcher.allowed_bytes() == expected, prefix
        allowed = set(ids_of(mask_of(matcher)))
        for token in range(256, EOS):
            fits = prefix + TOKENS[token] in following or prefix + TOKENS[token] in words
            assert (token in allowed) == fits, (prefix, TOKENS[token])
    for word in words[:200]:
        matcher = one.matcher()
        assert matcher.accept_tokens(word) == len(word) and matcher.is_accepting


def test_texts_with_an_end_behind_others_without() -> None:
    """``x*ab?``: endless, but for the texts that have come to an ``a``."""
    pattern = Seq((Repeat(literal("x"), 0, None), literal("a"), Repeat(literal("b"), 0, 1)))
    graph = to_graph(minimise(determinise(pattern)), CharSet)
    item = OtherText((), graph, fresh=True, within=graph)
    quoted = Seq((Literal(b'"'), item, Literal(b'"')))
    list_ = Seq(
        (Literal(b"["), quoted, Repeat(Seq((Literal(b","), quoted)), 0, None), Literal(b"]"))
    )
    rules: dict[str, Expr] = {"root": Scope(list_, 0)}
    one = wb.compile(Grammar(LazyRules(rules.__getitem__, "root"), "root"), VOCABULARY)
    matcher = one.matcher()
    assert matcher.accept_tokens(b'["xa","xab","') == 13
    assert matcher.allowed_bytes() == set(b"xa")
    assert matcher.accept_tokens(b"x") == 1
    assert matcher.allowed_bytes() == set(b"x")  # xa and xab have come
    assert matcher.accept_tokens(b'xa","a') == 6
    assert matcher.allowed_bytes() == set(b'b"')
    assert matcher.accept_tokens(b'","') == 3
    assert matcher.accept_tokens(b"a") == 1
    assert matcher.allowed_bytes() == set(b"b")


@pytest.mark.parametrize("names", [False, True])
def test_endless_texts_that_begin_and_end_within_tokens(names: bool) -> None:
    """``[ab]+`` in arrays: what masks allow is what byte after byte may come."""
    letters = Repeat(ByteSet(1 << 97 | 1 << 98), 1, None)
    item = Seq((Literal(b'"'), OtherText((), letters, fresh=True), Literal(b'"')))
    list_ = Seq((Literal(b"["), item, Repeat(Seq((Literal(b","), item)), 0, None), Literal(b"]")))
    rules: dict[str, Expr] = {"root": Scope(list_, 0, names=names)}
    one = wb.compile(Grammar(LazyRules(rules.__getitem__, "root"), "root"), VOCABULARY)
    for seed in range(25):
        rng = Random(seed)
        matcher = one.matcher()
        for _ in range(20):
            allowed = set(ids_of(mask_of(matcher)))
            for token in range(EOS):
                fits = len(TOKENS[token]) and matcher.validate(TOKENS[token]) == len(TOKENS[token])
                assert (token in allowed) == bool(fits), TOKENS[token]
            if matcher.is_accepting:
                break
            assert matcher.accept(rng.choice(sorted(allowed)))


def test_wide_objects() -> None:
    """600 names in any order."""
    names = tuple(f"name{i}" for i in range(600))
    shape = Object(names, names[::7])
    one = compiled(shape)
    order = list(names)
    Random(1).shuffle(order)
    text = "{" + ",".join(f'"{name}":1' for name in order) + "}"
    matcher = one.matcher()
    assert matcher.accept_tokens(text.encode()) == len(text)
    assert matcher.is_accepting
    missing = [name for name in order if name != names[14]]
    text = "{" + ",".join(f'"{name}":1' for name in missing) + "}"
    matcher = one.matcher()
    assert matcher.accept_tokens(text.encode()) == len(text) - 1
    assert matcher.allowed_bytes() == frozenset(b",")


def test_rollback_and_fork() -> None:
    one = compiled(SHAPES[4])
    matcher = one.matcher()
    assert matcher.accept_tokens(b'{"k":1,"k') == 9
    assert not matcher.accept(ord('"'))
    fork = matcher.fork()
    matcher.rollback(8)
    assert matcher.accept_tokens(b'"j":1,"k":1,"a":1}') == 18
    assert fork.accept_tokens(b'2":1,"') == 6
    assert fork.accept_tokens(b"k2") == 2 and not fork.accept(ord('"'))

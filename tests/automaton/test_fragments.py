"""Fragments: what is put somewhere else is what would be written there."""

from __future__ import annotations

import gc
from concurrent.futures import ThreadPoolExecutor
from random import Random

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

import workbench as wb
from workbench.automaton import fragments
from workbench.automaton.extents import extent_of
from workbench.automaton.fragments import Fragment, Pieces
from workbench.automaton.languages import is_ample
from workbench.automaton.memo import Memo
from workbench.automaton.network import MANY, Language, Runs
from workbench.automaton.rows import closure, skips_of
from workbench.changes import at_once
from workbench.grammar.analysis import analyse
from workbench.grammar.ir import (
    EMPTY,
    NEVER,
    Alt,
    ByteSet,
    CharSet,
    Expr,
    Grammar,
    Graph,
    Literal,
    Origin,
    Ref,
    Repeat,
    Seq,
)
from workbench.grammar.lazy import LazyRules
from workbench.grammar.thompson import Task


class Plain(Pieces):
    """Writes everything where it stands."""

    def _known(self, expr: Expr) -> Fragment | None:
        return None


@st.composite
def graphs(draw: st.DrawFn, labels: st.SearchStrategy[Expr]) -> Graph:
    n = draw(st.integers(1, 4))
    state = st.integers(0, n - 1)
    finals = tuple(sorted(draw(st.sets(state, min_size=1))))
    edges = draw(st.lists(st.tuples(state, labels, state), max_size=5))
    return Graph(n, draw(state), finals, tuple(edges))


LEAVES: st.SearchStrategy[Expr] = st.one_of(
    st.binary(max_size=4).map(Literal),
    st.integers(0, 2**256 - 1).map(ByteSet),
    st.sampled_from([CharSet(((97, 99),)), CharSet(((0x20, 0x10FFFF),)), CharSet(())]),
    st.sampled_from([EMPTY, NEVER]),
)


def larger(part: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    several = st.lists(part, max_size=7).map(tuple)
    bounds = st.tuples(st.integers(0, 9), st.none() | st.integers(0, 9))
    return st.one_of(
        several.map(Seq),
        several.map(Alt),
        st.tuples(part, bounds).map(lambda one: Repeat(one[0], *one[1])),
        graphs(part),
    )


EXPRESSIONS = st.recursive(LEAVES, larger, max_leaves=12)


def written(
    pieces: Pieces, expr: Expr, places: list[tuple[int, int, Origin | None]]
) -> tuple[list[list[int]], list[Origin | None], list[tuple[int, int, int, int | None]], bool]:
    """Edges, origins by position, counted repeats and doubts of an expression at some places."""
    pieces.position(None, 10)
    for start, end, origin in places:
        # an expression that is not shared itself, so that its parts stand at the place
        pieces.connect(Seq((expr,), origin=origin), start, end)
    origins: list[Origin | None] = []
    for (begin, origin), (end, _) in zip(
        pieces.origins, [*pieces.origins[1:], (pieces.n, None)], strict=True
    ):
        origins += [origin] * (end - begin)
    counted = sorted((a, b, one.min, one.max) for a, b, one in pieces.repeats)
    return sorted(pieces.edges().T.tolist()), origins, counted, pieces.doubtful


@settings(max_examples=300, deadline=None)
@given(EXPRESSIONS, st.integers(0, 2**32))
def test_what_is_placed_equals_what_is_written(expr: Expr, seed: int) -> None:
    rng = Random(seed)
    marks = [None, Origin(pointer="#/a"), Origin(pointer="#/b")]
    places = [(rng.randrange(10), rng.randrange(10), rng.choice(marks)) for _ in range(4)]
    whole = Pieces()
    found = written(whole, expr, places)
    assert found == written(Plain(), expr, places)
    # all again: by now each part that stands alone is a fragment
    again = Pieces()
    assert written(again, expr, places) == found
    if isinstance(expr, Seq | Alt | Repeat | Graph):
        assert isinstance(fragments._fragments.get(expr), Fragment)
        assert not again.rows


def test_what_names_rules_is_no_fragment() -> None:
    inner = Alt((Literal(b"x"), Seq((Literal(b"y"), Literal(b"zz")))))
    outer = Seq((inner, Ref("other"), Repeat(inner, 0, None)))
    rules = LazyRules({"root": outer, "other": Seq((Literal(b"o"), inner))}.__getitem__, "root")
    vocabulary = wb.Vocabulary.from_bytes([bytes([i]) for i in range(256)], [])
    for _ in range(3):
        matcher = wb.compile(Grammar(rules, "root"), vocabulary, cache=False).matcher()
        assert matcher.accept_tokens(b"yzzoxxyzz") == 9
        assert matcher.is_accepting
    assert not isinstance(fragments._fragments.get(outer), Fragment)
    assert isinstance(fragments._fragments.get(inner), Fragment)


def test_a_part_with_an_origin_of_its_own_keeps_it() -> None:
    mark = Origin(pointer="#/inner")
    inner = Seq((Literal(b"ab"), Literal(b"cd")), origin=mark)
    outer = Seq((Literal(b"xy"), inner))
    for _ in range(3):
        pieces = Pieces()
        pieces.position(None, 2)
        pieces.connect(outer, 0, 1)
        assert mark in [origin for _, origin in pieces.origins]
    assert not isinstance(fragments._fragments.get(outer), Fragment)


def test_deep_expressions_take_linear_work(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = 0
    get = Memo.get

    def counting(self: Memo[object], expr: Expr) -> object:
        nonlocal asked
        asked += 1
        return get(self, expr)

    monkeypatch.setattr(Memo, "get", counting)
    named: Expr = Ref("root")
    alone: Expr = Literal(b"a")
    for _ in range(4000):
        named, alone = Seq((Literal(b"a"), named)), Seq((Literal(b"a"), alone))

    class Named(Pieces):
        def leaf(
            self, expr: Expr, a: int, b: int, origin: Origin | None, stack: list[Task]
        ) -> None:
            """Leave it out."""

    for _ in range(5):
        pieces = Named()
        pieces.position(None, 2)
        pieces.connect(named, 0, 1)
        pieces.connect(alone, 0, 1)
    assert asked < 100_000


def test_the_same_from_many_threads() -> None:
    shared = [wb.regex(f"(ab?|c{{1,{n}}}|[d-z]+x)*q").rules["root"] for n in range(2, 30)]

    def build(_: int) -> list[list[list[int]]]:
        out = []
        for expr in shared:
            pieces = Pieces()
            pieces.position(None, 2)
            pieces.connect(expr, 0, 1)
            out.append(sorted(pieces.edges().T.tolist()))
        return out

    with ThreadPoolExecutor(8) as pool:
        first, *others = pool.map(build, range(24))
    assert all(other == first for other in others)


def test_a_memo_keeps_no_expression_and_forgets_what_is_too_much() -> None:
    memo: Memo[int] = Memo(100)
    one = Literal(b"one")
    memo.put(one, 1)
    assert memo.get(one) == 1
    assert memo.get(Literal(b"one")) is None
    del one
    gc.collect()
    # whatever is made now may have the id of what is gone
    fresh = [Literal(bytes([i])) for i in range(256)]
    assert all(memo.get(other) is None for other in fresh)
    kept = fresh[0]
    memo.put(kept, 7, 60)
    assert memo.get(kept) == 7
    memo.put(fresh[1], 8, 60)
    assert memo.get(kept) is None
    assert memo.get(fresh[1]) == 8
    assert len(memo) == 1


def test_extents() -> None:
    """Least bytes, and the bytes that may come, worked out by hand."""
    body = Alt((Literal(b"abc"), Seq((Literal(b"x"), Repeat(Literal(b"yz"), 2, None)))))
    letters = sum(1 << b for b in b"abcxyz")
    assert extent_of(body) == (3, letters)
    assert extent_of(Repeat(body, 0, 5)) == (0, letters)
    assert extent_of(Repeat(body, 4, 5)) == (12, letters)
    skip = Graph(3, 0, (2,), ((0, EMPTY, 1), (1, Repeat(body, 0, 1), 2)))
    assert extent_of(skip) == (0, letters)
    assert extent_of(Graph(3, 0, (2,), ((0, EMPTY, 1), (1, body, 2))))[0] == 1


@given(EXPRESSIONS)
def test_what_is_nullable_has_a_way_without_bytes(expr: Expr) -> None:
    nullable = analyse({}, "").is_nullable
    pieces = Plain(expansion=10**9)
    pieces.position(None, 2)
    pieces.connect(expr, 0, 1)
    assert nullable(expr) is (1 in closure(0, skips_of(pieces.edges().T.tolist())))
    assert not nullable(expr) or extent_of(expr)[0] == 0
    deep = expr
    for _ in range(3000):
        deep = Alt((Seq((deep,)),))
    assert nullable(deep) is nullable(expr)


@given(
    st.lists(st.integers(0, 2**25), min_size=1, max_size=6),
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=12),
    st.integers(0, 8),
)
def test_ample_languages(counts: list[int], moves: list[tuple[int, int]], length: int) -> None:
    """A language is ample to a length where every state that so few characters reach has many texts."""
    counts[0] = MANY
    n = len(counts)
    steps = sorted({(a % n, 97 + i, 97 + i, b % n) for i, (a, b) in enumerate(moves)})
    reached = {0}
    for _ in range(length):
        reached |= {target for source, _, _, target in steps if source in reached}
    expected = all(counts[state] >= 1 << 24 for state in reached)
    assert is_ample(Language(tuple(counts), tuple(steps)), length) is expected


@given(st.lists(st.tuples(st.text(max_size=2), st.integers(0, 4)), max_size=8))
def test_runs_are_the_sequence_that_they_stand_for(parts: list[tuple[str, int]]) -> None:
    runs: Runs[str] = Runs()
    whole: list[str] = []
    for value, n in parts:
        at_once(runs.more(len(whole), n, [(0, value)]))
        whole += [value] * n
    assert list(runs) == whole == [runs[i] for i in range(len(whole))]
    assert runs == tuple(whole)
    assert runs[-2:] == tuple(whole[-2:])
    assert len(runs) == len(whole)
    with pytest.raises(IndexError):
        runs[len(whole)]

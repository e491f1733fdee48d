"""Finite automata over code points: every construction against the definition on all short texts."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from tests.frontends.ir_match import matches
from workbench.automaton.finite import (
    Dfa,
    Recogniser,
    complement,
    determinise,
    intersect,
    length_range,
    minimise,
    to_graph,
    with_length,
    without_empty,
)
from workbench.automaton.subsets import Subsets
from workbench.errors import GrammarTooComplex
from workbench.frontends.regex import full_match, parse_regex
from workbench.grammar.ir import (
    EMPTY,
    NEVER,
    Alt,
    ByteSet,
    CharSet,
    Expr,
    Graph,
    Literal,
    Ref,
    Repeat,
    Seq,
)

LETTERS = "abé"
TEXTS = ["".join(chars) for n in range(6) for chars in itertools.product(LETTERS, repeat=n)]


def steps(expr: Expr) -> tuple[list[list[int]], list[bool], int]:
    """The states of an expression, one step at a time: where each leads, whether it accepts, and the work."""
    subsets = Subsets(expr, None)
    states = [subsets.start]
    table = []
    for here in states:
        targets = subsets.step(here)
        states += dict.fromkeys(t for t in targets if t is not None and t not in states)
        table.append([-1 if target is None else states.index(target) for target in targets])
    return table, [1 in state for state in states], subsets.meter.work


def char(*letters: str) -> CharSet:
    return CharSet(tuple((ord(letter), ord(letter)) for letter in sorted(letters)))


def pattern(text: str) -> Expr:
    return full_match(parse_regex(text))


def language(dfa: Dfa) -> set[str]:
    return {text for text in TEXTS if dfa.accepts(text)}


EXPRESSIONS: st.SearchStrategy[Expr] = st.recursive(
    st.one_of(
        st.sets(st.sampled_from(LETTERS), max_size=3).map(lambda letters: char(*letters)),
        st.sampled_from([EMPTY, NEVER, Literal("é".encode()), Literal(b"ab")]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: Seq(tuple(items))),
        st.lists(inner, max_size=3).map(lambda items: Alt(tuple(items))),
        st.builds(
            lambda item, low, extra: Repeat(item, low, None if extra is None else low + extra),
            inner,
            st.integers(0, 2),
            st.one_of(st.none(), st.integers(0, 2)),
        ),
        st.builds(
            lambda one, two: Graph(3, 0, (1, 2), ((0, one, 1), (1, two, 2), (2, one, 1))),
            inner,
            inner,
        ),
    ),
    max_leaves=5,
)


@given(EXPRESSIONS)
@settings(max_examples=60)
def test_determinising_keeps_the_language(expr: Expr) -> None:
    dfa = determinise(expr)
    recogniser = Recogniser(expr)
    short = [text for text in TEXTS if len(text) <= 4]
    for text in short:
        belongs = matches(expr, text)
        assert dfa.accepts(text) == belongs, text
        assert recogniser.accepts(text) == belongs, text
    if language(dfa):
        assert not dfa.is_empty


@given(EXPRESSIONS, EXPRESSIONS, st.integers(0, 3), st.one_of(st.none(), st.integers(0, 4)))
@settings(max_examples=50)
def test_the_algebra_is_set_algebra(one: Expr, two: Expr, low: int, high: int | None) -> None:
    left, right = determinise(one), determinise(two)
    in_left, in_right = language(left), language(right)
    assert language(complement(left)) == set(TEXTS) - in_left
    assert language(intersect(left, right)) == in_left & in_right
    assert language(minimise(left)) == in_left
    assert language(without_empty(left)) == in_left - {""}
    within = {t for t in in_left if low <= len(t) and (high is None or len(t) <= high)}
    assert language(with_length(left, low, high)) == within


@given(EXPRESSIONS)
@settings(max_examples=30)
def test_a_graph_is_the_same_language(expr: Expr) -> None:
    dfa = minimise(determinise(expr))
    graph = to_graph(dfa, CharSet)
    for text in TEXTS[:120]:
        assert matches(graph, text) == dfa.accepts(text), text


@given(EXPRESSIONS)
@settings(max_examples=50)
def test_lengths_bound_the_language(expr: Expr) -> None:
    lengths = {len(text) for text in language(determinise(expr))}
    bounds = length_range(expr)
    if bounds is None:
        assert not lengths
        return
    low, high = bounds
    if lengths:
        assert low == min(lengths)
        assert high is None or high >= max(lengths)
    if high is not None and high < 6:
        assert lengths, expr
        assert high == max(lengths)


def test_emptiness() -> None:
    assert determinise(NEVER).is_empty
    assert determinise(Seq((char("a"), NEVER))).is_empty
    assert not determinise(EMPTY).is_empty
    assert intersect(determinise(char("a")), determinise(char("b"))).is_empty


def test_minimal_automata_have_the_known_size() -> None:
    # "an a at the third place from the end" needs exactly 2**3 states (Meyer and Fischer).
    dfa = minimise(determinise(pattern("[ab]*a[ab][ab]")))
    assert len(dfa.table) == 8
    # Divisible by seven in binary: seven states.
    states = 7
    edges = []
    for state in range(states):
        for bit in (0, 1):
            edges.append((state, char(str(bit)), (2 * state + bit) % states))
    dfa = minimise(determinise(Graph(states, 0, (0,), tuple(edges))))
    assert len(dfa.table) == 7
    for number in range(1, 200):
        assert dfa.accepts(f"{number:b}") == (number % 7 == 0)


def test_classes_do_not_grow_with_ranges() -> None:
    dfa = minimise(determinise(pattern(r"\p{L}+[0-9]?")))
    assert dfa.n_classes == 3  # letters, digits, the rest
    assert dfa.accepts("ñ漢a7")
    assert not dfa.accepts("7")


def test_surrogates_are_no_characters() -> None:
    anything = determinise(Repeat(CharSet(((0, 0x10FFFF),)), 0, None))
    assert anything.accepts("a\U0001f600")
    assert not anything.accepts("\ud83d")
    assert not complement(anything).accepts("\ud83d")
    assert complement(anything).is_empty


@pytest.mark.parametrize("text", ["", "ab", "abab", "aab", "b", "ababab"])
def test_agrees_with_re(text: str) -> None:
    expression = "(ab|a?b){1,2}"
    expected = re.fullmatch(expression, text) is not None
    assert determinise(pattern(expression)).accepts(text) == expected


def test_budgets_name_the_rule() -> None:
    with pytest.raises(GrammarTooComplex, match="'#/pattern'"):
        determinise(pattern("[ab]*a[ab]{20}"), rule="#/pattern")
    with pytest.raises(GrammarTooComplex, match="determinisation steps"):
        determinise(pattern("(a{1,3000}){1,3000}"))
    with pytest.raises(GrammarTooComplex, match="states of a finite automaton"):
        with_length(determinise(pattern("(ab)*")), 0, 10**9)


def test_depth_is_no_limit() -> None:
    deep: Expr = char("a")
    for _ in range(10_000):
        deep = Alt((Seq((deep,)), EMPTY))
    assert determinise(deep).accepts("a")
    assert length_range(deep) == (0, 1)


@pytest.mark.parametrize("expr", [Ref("x"), ByteSet(1)])
def test_bytes_and_references_are_refused(expr: Expr) -> None:
    with pytest.raises(TypeError):
        determinise(expr)
    with pytest.raises(TypeError):
        length_range(expr)


def test_an_automaton_checks_itself() -> None:
    with pytest.raises(ValueError, match="start state"):
        Dfa((0,), (0,), np.zeros((0, 1), dtype=np.int32), np.zeros(0, dtype=np.bool_))


@given(EXPRESSIONS)
def test_all_states_at_once_are_those_of_single_steps(expr: Expr) -> None:
    subsets = Subsets(expr, None)
    table, accepting = subsets.whole()
    assert (table.tolist(), accepting.tolist(), subsets.meter.work) == steps(expr)


def test_many_states_and_classes_at_once() -> None:
    """More states, members and targets than there is room for at first."""
    words = [f"{chr(0x3B1 + i % 23)}{i:03}{chr(0x430 + i % 19)}" for i in range(0, 900, 7)]
    expr = Seq((Repeat(char(*LETTERS), 0, 9), Alt(tuple(Literal(w.encode()) for w in words))))
    subsets = Subsets(expr, None)
    table, accepting = subsets.whole()
    assert (table.tolist(), accepting.tolist(), subsets.meter.work) == steps(expr)

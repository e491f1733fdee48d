"""Grammars with lazy rules: states made while masks are computed, compared with the oracle."""

from __future__ import annotations

import os
from dataclasses import replace
from random import Random

import pytest

import workbench as wb
from tests.engine.census import CENSUS
from tests.engine.grammars import Case, seeded_case
from tests.engine.walks import Walk
from workbench.automaton import build, builder
from workbench.automaton.network import NOT_BUILT
from workbench.errors import UnsatisfiableGrammar
from workbench.grammar.ir import Expr, Grammar, Literal, Seq
from workbench.grammar.lazy import LazyRules

CASES = int(os.environ.get("WORKBENCH_FUZZ", "200")) // 2


def promising(case: Case, rng: Random) -> Case | None:
    """The case with rules that keep the promise of lazy ones: each begins with a letter of its own choice.

    None when one of them has no text that the vocabulary spells.
    """
    rules: dict[str, Expr] = {
        name: Seq((Literal(bytes([rng.choice(b"ab(")])), body))
        for name, body in case.grammar.rules.items()
    }
    for name in rules:
        try:
            wb.compile(Grammar(rules, name), case.vocabulary(), case.limits())
        except UnsatisfiableGrammar:
            return None
    return replace(case, grammar=Grammar(rules, case.grammar.start))


def lazy(grammar: Grammar) -> Grammar:
    return replace(grammar, rules=LazyRules(dict(grammar.rules).__getitem__, grammar.start))


@pytest.fixture
def bit_by_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Build one entry at a time, and lazily for every vocabulary."""
    monkeypatch.setattr(builder, "_AHEAD", 1)
    monkeypatch.setattr(builder, "_PARTS", 1)
    monkeypatch.setattr(builder._Builder.grow, "__defaults__", (1,))
    monkeypatch.setattr(build, "_PRINTABLE", frozenset())


@pytest.mark.usefixtures("bit_by_bit")
def test_masks_of_grammars_that_are_built_bit_by_bit_are_those_of_the_oracle() -> None:
    """Nullable and left-recursive rules, counted parts, all there is: entries made while masks are computed."""
    grown = 0
    for seed in range(CASES, 2 * CASES):
        case = seeded_case(seed)
        oracle = case.oracle()
        if oracle.empty_language:
            continue
        # of some, part is left nondeterministic
        limits = replace(case.limits(), deterministic_work=(3, 10**6, 10**6)[seed % 3])
        compiled = wb.compile(case.grammar, case.vocabulary(), limits, cache=False)
        waiting = int((compiled.automaton.entry_state == NOT_BUILT).sum())
        matcher = compiled.matcher()
        try:
            for mode in ("any", "deep", "long"):
                walk = Walk(case, oracle, Random(seed))
                walk.forward(matcher, 8, 24, mode)
                walk.back(matcher, len(walk.tokens))
        except wb.GrammarTooComplex:
            CENSUS.given_up += 1
        grown += int((compiled.automaton.entry_state == NOT_BUILT).sum()) < waiting
    assert grown > CASES // 5


@pytest.mark.usefixtures("bit_by_bit")
def test_masks_of_lazy_grammars_are_those_of_the_oracle() -> None:
    seen = grown = 0
    for seed in range(CASES):
        rng = Random(seed)
        case = promising(seeded_case(seed), rng)
        if case is None:
            continue
        oracle = case.oracle()
        compiled = wb.compile(lazy(case.grammar), case.vocabulary(), case.limits())
        waiting = int((compiled.automaton.entry_state == NOT_BUILT).sum())
        matcher = compiled.matcher()
        try:
            for mode in ("any", "deep", "long"):
                walk = Walk(case, oracle, rng)
                walk.forward(matcher, 10, 30, mode)
                walk.back(matcher, len(walk.tokens))
        except wb.GrammarTooComplex:
            CENSUS.given_up += 1
        seen += 1
        grown += int((compiled.automaton.entry_state == NOT_BUILT).sum()) < waiting
        eager = wb.compile(case.grammar, case.vocabulary(), case.limits())
        assert compiled.matcher().finish_distance() == eager.matcher().finish_distance()
    assert seen > CASES // 3
    assert grown > seen // 4


def test_a_repeat_of_what_may_be_empty_is_counted_exactly() -> None:
    """``(a?){3,50}``: every count up to the bound, none beyond."""
    vocabulary = wb.Vocabulary.from_bytes([bytes([b]) for b in range(256)], [])
    maybe = wb.regex("(a?){3,50}x").rules["root"]
    grammar = lazy(Grammar({"root": maybe}, "root"))
    matcher = wb.compile(grammar, vocabulary).matcher()
    for count in range(51):
        text = b"a" * count + b"x"
        probe = matcher.fork()
        assert probe.accept_tokens(text) == len(text), count
        assert probe.is_accepting
    assert matcher.accept_tokens(b"a" * 60) == 50

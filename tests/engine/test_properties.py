"""Random grammars, vocabularies and walks: the engine against the oracle, bit for bit.

``WORKBENCH_FUZZ=2000`` looks at more cases than the 200 of a normal run.
"""

from __future__ import annotations

import os
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings

import workbench as wb
from tests.engine.census import CENSUS
from tests.engine.grammars import Case, cases
from tests.engine.walks import Walk
from tests.oracle import Oracle

STEPS = 14
MOST_BYTES = 30


@settings(
    max_examples=int(os.environ.get("WORKBENCH_FUZZ", "200")),
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
@given(cases())
def test_masks_are_those_of_the_oracle(case: Case) -> None:
    oracle = case.oracle()
    if oracle.empty_language:
        with pytest.raises(wb.UnsatisfiableGrammar):
            wb.compile(case.grammar, case.vocabulary(), case.limits())
        CENSUS.add(case, oracle)
        return
    try:
        compare(case, oracle)
    except wb.GrammarTooComplex:
        CENSUS.given_up += 1
    CENSUS.add(case, oracle)


def compare(case: Case, oracle: Oracle) -> None:
    """Three walks with a fork, a way back and three replays each."""
    compiled = wb.compile(case.grammar, case.vocabulary(), case.limits())
    rng = Random(case.seed)
    matcher = compiled.matcher()
    for mode in ("any", "deep", "long"):
        walk = Walk(case, oracle, rng)
        walk.forward(matcher, STEPS, MOST_BYTES, mode)
        walk.drafts(matcher)

        walk.back(matcher, rng.randint(0, min(5, len(walk.tokens))))
        branch = matcher.fork()
        other = Walk(case, oracle, rng)
        other.tokens, other.masks = list(walk.tokens), list(walk.masks)
        walk.forward(matcher, STEPS, MOST_BYTES, "any")
        other.forward(branch, STEPS, MOST_BYTES, "deep")
        while walk.tokens:
            walk.back(matcher, rng.randint(1, min(4, len(walk.tokens))))
        assert matcher.num_accepted == 0

        other.replay(compiled.matcher(), skip=0.3)
        branch.reset()
        other.replay(branch, skip=0.0)
        other.replay(fresh(case).matcher(), skip=0.6)


def test_hardly_a_walk_was_given_up() -> None:
    """The budgets are for grammars that explode, not for these."""
    assert CENSUS.given_up <= CENSUS.cases // 50


def fresh(case: Case) -> wb.CompiledGrammar:
    """Compile without meeting what an earlier compilation left behind."""
    return wb.compile(case.grammar, case.vocabulary(), case.limits())

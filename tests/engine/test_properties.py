"""Random grammars, vocabularies and walks: the engine against the oracle, bit for bit.

``WORKBENCH_FUZZ=2000`` looks at more cases than the 200 of a normal run; ``make fuzz`` takes other ones.
"""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, given, settings

import workbench as wb
from tests.engine.census import CENSUS
from tests.engine.grammars import Case, cases
from tests.engine.walks import compare


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


def test_hardly_a_walk_was_given_up() -> None:
    """The budgets are for grammars that explode, not for these."""
    assert CENSUS.given_up <= CENSUS.cases // 50

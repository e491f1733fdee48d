"""The benchmark of masks along fixed texts: what it says of engines whose behaviour is known."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from workbench.benchmarks.cases import CASES, Case
from workbench.benchmarks.engines import ENGINES, Engine, Mask, Session, Setup, installed
from workbench.benchmarks.mask_times import Row, bench_masks

#: The engines do not look at the grammars: one text after the other is what they know.
CASE = Case("letters", "abcabcabc", "abcabx", ("gbnf", ""), ("gbnf", ""), ("lark", ""))


def remembers(setup: Setup) -> Callable[[Case], Callable[[Mask], Session]]:
    """Allows everything; a mask is stored under the last token."""

    def compiler(case: Case) -> Callable[[Mask], Session]:
        known: set[int] = set()
        counts = [0, 0]

        def start(mask: Mask) -> Session:
            last = -1

            def fill() -> None:
                mask.fill(-1)
                counts[last not in known] += 1
                known.add(last)

            def accept(token: int) -> bool:
                nonlocal last
                last = token
                return True

            return Session(fill, accept, lambda: (counts[0], counts[1]))

        return start

    return compiler


def refuses(setup: Setup) -> Callable[[Case], Callable[[Mask], Session]]:
    """Allows nothing."""

    def compiler(case: Case) -> Callable[[Mask], Session]:
        return lambda mask: Session(lambda: mask.fill(0), lambda token: False)

    return compiler


def cannot(setup: Setup) -> Callable[[Case], Callable[[Mask], Session]]:
    def compiler(case: Case) -> Callable[[Mask], Session]:
        raise ValueError("no such grammar")

    return compiler


def test_rows_tell_what_engines_do(tokenizer: Path) -> None:
    engines = [
        Engine("first", "none", "workbench", remembers),
        Engine("second", "none", "workbench", remembers),
        Engine("refuses", "none", "workbench", refuses),
        Engine("cannot", "none", "workbench", cannot),
        Engine("missing", "none", "no_such_module", remembers),
    ]
    report = bench_masks(
        tokenizer, repeat=2, compilations=2, cases=[CASE], engines=engines, progress=False
    )
    rows = {row.engine: row for row in report.rows}
    assert rows["first"].differing_steps == rows["second"].differing_steps == 0
    steps = rows["first"].steps
    assert steps > 3 and rows["first"].unseen_steps > 3
    # Of the unseen text only the mask after "x" is new, and it is asked for once.
    assert rows["first"].unseen_hits == pytest.approx(1 - 1 / rows["first"].unseen_steps)
    assert "refuses token" in (rows["refuses"].problem or "")
    assert rows["cannot"].problem == "ValueError: no such grammar"
    assert rows["missing"].problem == "not installed"
    text = report.table()
    for line in ("faster peer ÷ first", "missing: not installed", "means by the wall"):
        assert line in text
    assert "| second |" in report.markdown()
    assert json.loads(json.dumps(report.to_json()))["rows"][0]["engine"] == "first"


@pytest.mark.parametrize("engine", ENGINES, ids=[engine.name for engine in ENGINES])
def test_every_engine_accepts_both_texts_of_every_case(tokenizer: Path, engine: Engine) -> None:
    if not installed(engine):
        pytest.skip(f"{engine.name} is not installed")
    report = bench_masks(tokenizer, repeat=1, compilations=1, engines=[engine], progress=False)
    assert len(report.rows) == len(CASES)
    assert [row.problem for row in report.rows] == [None] * len(CASES)
    assert all(isinstance(row, Row) and row.unseen is not None for row in report.rows)

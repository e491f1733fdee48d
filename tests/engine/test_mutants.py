"""The tests see faults that are planted, and see none where there is none; JIT on is JIT off."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.engine.mutants import MUTANTS
from tests.engine.replay import digests

ROOT = Path(__file__).parents[2]
CASES = 40


def without_jit(*command: str) -> dict[str, str | int | None]:
    """The JSON object that a module prints when the kernels run as plain Python."""
    done = subprocess.run(
        [sys.executable, "-W", "error::RuntimeWarning", "-m", *command],
        cwd=ROOT,
        env={**os.environ, "WORKBENCH_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def seen() -> dict[str, str | int | None]:
    return without_jit("tests.engine.mutants", str(CASES))


@pytest.mark.parametrize("mutant", [name for name in MUTANTS if name != "nothing"])
def test_planted_faults_are_seen(seen: dict[str, str | int | None], mutant: str) -> None:
    assert seen[mutant] is not None, f"{CASES} cases did not give it away"


def test_the_engine_as_it_is_passes(seen: dict[str, str | int | None]) -> None:
    assert seen["nothing"] is None


def test_the_same_answers_without_compilation() -> None:
    assert without_jit("tests.engine.replay", "0", "30") == digests(0, 30)

"""Grammars and texts made to hurt, each in a process that is held to its time and memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.engine.hostile import CASES, MAY_BE_REFUSED, REAL, SECONDS, TOKENIZER

ROOT = Path(__file__).parents[2]
MOST_MB = 1024


@pytest.mark.parametrize("name", list(CASES))
def test_ends_in_time_and_memory_with_right_answers(name: str) -> None:
    if name in REAL and not TOKENIZER.exists():
        pytest.skip(f"no tokenizer at {TOKENIZER}")
    done = subprocess.run(
        [sys.executable, "-m", "tests.engine.hostile", name],
        cwd=ROOT,
        env={**os.environ, "TQDM_DISABLE": "1"},
        capture_output=True,
        text=True,
        timeout=6 * SECONDS,  # the process watches its own time, whatever else the machine does
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout)
    assert found["seconds"] < SECONDS
    assert found["grown_mb"] < MOST_MB
    if name not in MAY_BE_REFUSED:
        assert found["outcome"] == "answered"

"""First masks beside other packages, and repeated calls: what is measured and what is told."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.benchmarks.conftest import FOUR, Files, schema_file
from workbench.benchmarks import process
from workbench.benchmarks.process import WAYS, bench_process
from workbench.benchmarks.start_up import FIRST, LATER, PARTS
from workbench.cli import main
from workbench.frontends.kept import KEPT


@pytest.fixture(autouse=True)
def _cache(monkeypatch: pytest.MonkeyPatch) -> None:
    """As users have it."""
    monkeypatch.setattr(KEPT, "max_entries", 128)


REFUSED: Files = {"refused.json": schema_file({"pattern": r"(a)\1"}, [], [])}


def test_every_way_measures_every_schema_that_is_taken(
    archive: Callable[[Files], Path], tokenizer: Path
) -> None:
    many = {f"{i}.json": schema_file({"enum": [i, f"{i}"]}, [], []) for i in range(12)}
    report = bench_process(
        archive({**many, **REFUSED}),
        tokenizer,
        sample=3,
        rounds=1,
        beside=("json", "no_such_thing"),
    )
    assert report.beside == ["json"]
    assert report.schemas == 3
    assert list(report.first_masks) == list(WAYS)
    assert len({len(times) for times in report.first_masks.values()}) == 1
    assert all(2 <= len(times) <= 3 for times in report.first_masks.values())
    assert all(0 < time < 10_000 for times in report.first_masks.values() for time in times)
    # what is found again is found in a small part of the time that a first mask takes
    assert len(report.calls) >= 8
    assert all(0 < value < 1_000 for value in report.calls.values()), report.calls
    assert list(report.start_up) == [FIRST, LATER]
    for parts in report.start_up.values():
        assert list(parts) == list(PARTS)
        assert all(0 <= seconds < 100 for seconds in parts.values())
    text = report.text()
    for way in (*WAYS, *PARTS, "together"):
        assert f"\n  {way}" in text


def test_the_command(
    archive: Callable[[Files], Path],
    tokenizer: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    figures = {way: dict.fromkeys(PARTS, 0.25) for way in (FIRST, LATER)}
    monkeypatch.setattr(process, "start_up", lambda tokenizer: figures)
    monkeypatch.setattr(
        bench_process, "__kwdefaults__", {**bench_process.__kwdefaults__, "beside": ()}
    )
    out = tmp_path / "figures.json"
    arguments = ["--data", str(archive(FOUR)), "--tokenizer", str(tokenizer), "--rounds", "1"]
    assert main(["bench", "process", *arguments, "--json", str(out)]) == 0
    said = capsys.readouterr().out
    assert "schema to first mask, ms" in said
    assert re.search(r"together +1\.500 +1\.500\n", said)
    assert "accept_all, one sequence" in said
    assert set(json.loads(out.read_text())["first_masks"]) == set(WAYS)

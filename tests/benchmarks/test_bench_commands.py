"""The benchmarks as commands: what they print and write, and what they say of a mistake."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.benchmarks.conftest import Files, schema_file
from workbench.cli import main

PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer", "minimum": 0}},
    "required": ["name"],
    "additionalProperties": False,
}

REAL: Files = {
    "person.json": schema_file(PERSON, [{"name": "Ann", "age": 31}], [{"age": 3}, {"name": 1}]),
    "numbers.json": schema_file(
        {"type": "array", "items": {"type": "number"}}, [[], [1, -2.5]], [["a"]]
    ),
    "unsupported.json": schema_file({"not": {"const": 1}, "$dynamicRef": "#x"}, [2], [1]),
}


@pytest.fixture
def maskbench(
    archive: Callable[[Files], Path], tokenizer: Path, tmp_path: Path
) -> Callable[..., int]:
    data = archive(REAL)

    def run(*more: str | Path) -> int:
        fixed = ["--data", data, "--tokenizer", tokenizer, "--results", tmp_path / "results.jsonl"]
        return main(["bench", "maskbench", *map(str, [*fixed, "--jobs", 1, *more])])

    return run


def test_maskbench(
    maskbench: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    figures, page = tmp_path / "figures.json", tmp_path / "page.md"
    outputs = ["--json", figures, "--markdown", page]
    assert maskbench("--engines", "ours", "--slowest", "2", *outputs) == 0
    said = capsys.readouterr().out
    assert "3 of 3 schemas" in said
    assert "fully right" in said and "slowest masks of workbench" in said
    found = json.loads(figures.read_text())
    assert found["verdicts"]["workbench"]["schemas"] == 3
    assert found["verdicts"]["workbench"]["right"] >= 2
    assert found["verdicts"]["workbench"]["crashed"] == 0
    assert len(found["slowest_masks"]) == len(found["slowest_compilations"]) == 2
    assert found["machine"]["cores"] >= 1 and found["versions"]["workbench"]
    assert "| fully right |" in page.read_text()
    # Once more, without running anything.
    assert maskbench("--engines", "ours", "--resume") == 0
    assert maskbench("--engines", "ours") == 2
    assert "--resume" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "function"),
    [
        ("maskbench", "maskbench.bench_maskbench"),
        ("json-schema-suite", "schema_suite.bench_suite"),
        ("generation", "generated_texts.bench_generation"),
    ],
)
def test_a_run_that_is_stopped_says_where_its_results_are(
    command: str,
    function: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    given: dict[str, object] = {}

    def stopped(*_: object, **options: object) -> None:
        given.update(options)
        raise KeyboardInterrupt

    monkeypatch.setattr(f"workbench.benchmarks.{function}", stopped)
    monkeypatch.chdir(tmp_path)
    data = ["--data", "schemas.zip"]
    if command != "json-schema-suite":
        data += ["--tokenizer", "tokenizer.json"]
    assert main(["bench", command, *data]) == 130
    assert (given["results"], given["resume"]) == (Path(f"{command}.jsonl"), False)
    assert f"so far are in {command}.jsonl; go on with --resume" in capsys.readouterr().out
    assert main(["bench", command, *data, "--results", "other.jsonl", "--resume"]) == 130
    assert (given["results"], given["resume"]) == (Path("other.jsonl"), True)


@pytest.mark.parametrize("peer", ["xgrammar", "llguidance"])
def test_maskbench_beside_a_peer(
    maskbench: Callable[..., int], peer: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip(peer)
    figures = tmp_path / "figures.json"
    assert maskbench("--engines", f"ours,{peer}", "--json", figures) == 0
    verdict = json.loads(figures.read_text())["verdicts"][peer]
    assert verdict["schemas"] == 3 and verdict["right"] >= 2 and verdict["crashed"] == 0
    assert f"{peer} ÷ workbench" in capsys.readouterr().out


def test_an_engine_that_there_is_not(
    maskbench: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    assert maskbench("--engines", "ours,outlines") == 2
    assert "no engine 'outlines'" in capsys.readouterr().err


def test_growth(tokenizer: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    figures = tmp_path / "figures.json"
    arguments = ["bench", "growth", "--quick", "--tokenizer", tokenizer, "--json", figures]
    assert main([*map(str, arguments)]) == 0
    said = capsys.readouterr().out
    for line in ("nested tags: workbench", "schemas: wide, by size", "schemas: maxItems, by count"):
        assert line in said
    assert json.loads(figures.read_text())["lengths"]


def test_tables_go_between_the_marks_of_a_page(
    maskbench: Callable[..., int], tmp_path: Path
) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# Before\n<!-- bench maskbench -->\nold\n<!-- end bench maskbench -->\nafter\n"
    )
    for more in ([], ["--resume"]):
        assert maskbench("--engines", "ours", "--markdown", page, *more) == 0
        text = page.read_text()
        assert text.startswith("# Before\n") and text.endswith("-->\nafter\n")
        assert "old" not in text and text.count("| fully right |") == 1


def test_a_page_that_cannot_be_written(
    maskbench: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert maskbench("--engines", "ours", "--markdown", tmp_path / "no" / "page.md") == 2
    assert "cannot write" in capsys.readouterr().err

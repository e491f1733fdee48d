"""The benchmark of drafts on a small model: what it counts, and that it ends when it is stopped."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="torch is not installed")

from tests.benchmarks.conftest import Files, schema_file
from tests.decoding.scripted import noise, scripted
from workbench.benchmarks.bench_commands import add_bench
from workbench.benchmarks.draft_runs import PROMPT, WAYS, bench_drafts
from workbench.vocabulary import Vocabulary

FILES: Files = {
    "certain.json": schema_file({"const": "abcabc"}, [], []),
    "free.json": schema_file({"type": "integer", "minimum": 10, "maximum": 9999}, [], []),
    "broken.json": schema_file({"type": "colour"}, [], []),
    "long.json": schema_file({"enum": ["x" * 600]}, [], []),
}


@pytest.fixture
def bytes_model() -> Any:
    """A model that reads and writes bytes."""

    class Tokenizer:
        chat_template = None

        def __call__(self, text: str, **_: object) -> dict[str, list[int]]:
            return {"input_ids": list(text.encode())}

    vocabulary = Vocabulary.from_bytes([*(bytes([b]) for b in range(256)), b""], eos_ids=256)
    model = scripted(noise(1, 257), vocabulary, Tokenizer())
    model.model.config.max_position_embeddings = 2000
    return model


def test_what_is_counted(archive: Callable[[Files], Path], bytes_model: Any) -> None:
    report = bench_drafts(archive(FILES), schemas=9, tokens=20, model=bytes_model, progress=False)
    assert sorted(report.schemas) == ["certain.json", "free.json"]
    at = report.schemas.index("certain.json")
    # eight bytes that must come, and an end
    assert (report.tokens[at], report.certain[at]) == (9, 8)
    assert report.passes["plain"][at] == 9 and report.passes["verify"][at] == 1
    assert report.passes["plain"][1 - at] == report.tokens[1 - at]
    assert all(report.same["verify"]) and set(report.same) == set(WAYS)
    said = report.text()
    assert "all: 2 schemas" in said and "half of the tokens certain, or more: 1 schema" in said
    assert "| verify | " in report.markdown()
    assert report.to_json()["seed"] == 0


def test_a_run_that_is_stopped_tells_what_there_is(
    archive: Callable[[Files], Path], bytes_model: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    forward, prompts = bytes_model.model.script, list[tuple[int, ...]]()

    def stopped(tokens: tuple[int, ...]) -> list[float]:
        if tokens[: len(PROMPT) + 10] not in prompts:
            prompts.append(tokens[: len(PROMPT) + 10])
        if len(prompts) > allowed:
            raise KeyboardInterrupt
        return list(forward(tokens))

    monkeypatch.setattr(bytes_model.model, "script", stopped)
    allowed = 1
    report = bench_drafts(archive(FILES), tokens=4, model=bytes_model, progress=False)
    assert len(report.schemas) == len(report.certain) == 1
    assert {len(values) for values in report.passes.values()} == {1}
    prompts.clear()
    allowed = 0
    with pytest.raises(KeyboardInterrupt):
        bench_drafts(archive(FILES), tokens=4, model=bytes_model, progress=False)


def test_the_command(
    archive: Callable[[Files], Path],
    bytes_model: Any,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    import argparse

    import workbench.models

    monkeypatch.setattr(workbench.models, "load_model", lambda **_: bytes_model)
    parser = argparse.ArgumentParser()
    add_bench(parser.add_subparsers())
    page = tmp_path / "page.md"
    given = ["bench", "drafts", "--data", str(archive(FILES)), "--tokens", "4"]
    arguments = parser.parse_args([*given, "--markdown", str(page)])
    assert arguments.run(arguments) == 0
    assert "all: 2 schemas" in capsys.readouterr().out and "| plain |" in page.read_text()

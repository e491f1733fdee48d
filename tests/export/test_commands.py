"""``export`` and ``verify`` on the command line: what they print and exit with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from workbench.cli import main

SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}


@pytest.fixture
def schema(tmp_path: Path) -> str:
    path = tmp_path / "s.json"
    path.write_text(json.dumps(SCHEMA))
    return str(path)


def given_tests(tmp_path: Path, content: object) -> str:
    path = tmp_path / "tests.json"
    path.write_text(json.dumps(content))
    return str(path)


def test_there_and_back(schema: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "g.zip"
    tests = given_tests(tmp_path, {"accept": [{"a": 1}], "reject": ["{}"], "prefix": ["{"]})
    assert main(["export", schema, str(out), "--tests", tests, "--title", "one"]) == 0
    said = capsys.readouterr().out
    assert "examples: 1 accept, 1 reject, 1 prefix" in said and "round trip 3 of 3" in said
    assert main(["verify", str(out)]) == 0
    assert "holds" in capsys.readouterr().out
    data = bytearray(out.read_bytes())
    # a byte of a member's content; a schema's text is stored compressed
    data[len(data) // 3] ^= 1
    out.write_bytes(data)
    assert main(["verify", str(out)]) in (1, 2)


def test_single_targets(schema: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    tests = given_tests(tmp_path, {"accept": [{"a": 1}], "reject": ["{}"]})
    given = ["export", schema, str(out), "--tests", tests, "--target", "gbnf", "--target", "python"]
    assert main([*given, "--dry-run"]) == 0
    said = capsys.readouterr().out
    assert "nothing written yet" in said and "● gbnf" in said and not out.exists()
    assert main(given) == 0
    assert {path.name for path in out.iterdir()} == {"grammar.gbnf", "grammar.py"}
    capsys.readouterr()
    assert main(given) == 1 and "is there already" in capsys.readouterr().out
    assert main([*given, "--overwrite"]) == 0
    assert main([*given, "--overwrite", "--target", "regex"]) == 1
    assert "regex cannot be written" in capsys.readouterr().out
    assert main([*given, "--target", "svg"]) == 2
    assert "not 'svg'" in capsys.readouterr().err
    assert main([*given, "--target", "trace"]) == 2
    assert main([*given, "--target", "trace", "--trace", str(tmp_path / "none")]) == 2
    assert "cannot read" in capsys.readouterr().err


def test_refusals_exit_with_1(
    schema: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "g.zip"
    tests = given_tests(tmp_path, {"accept": [{"b": 1}]})
    assert main(["export", schema, str(out), "--tests", tests]) == 1
    said = capsys.readouterr().out
    assert "nothing was written" in said and "accept example" in said and not out.exists()


def test_a_tokenizer(
    schema: str, tmp_path: Path, tokenizer: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "g.zip")
    tests = given_tests(tmp_path, {"accept": [{"a": 1}]})
    given = ["--tokenizer", str(tokenizer)]
    assert main(["export", schema, out, "--tests", tests, *given]) == 0
    assert main(["verify", out, *given]) == 0
    assert "searched for again" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("content", "message"),
    [([1], "an object of lists"), ({"accepts": []}, "accept, reject, prefix"), (3, "a list")],
)
def test_mistakes_exit_with_2(
    content: object, message: str, schema: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tests = given_tests(tmp_path, content)
    assert main(["export", schema, str(tmp_path / "g.zip"), "--tests", tests]) == 2
    assert message in capsys.readouterr().err
    assert main(["verify", tests]) == 2
    assert "no zip file" in capsys.readouterr().err

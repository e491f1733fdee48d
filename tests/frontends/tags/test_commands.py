"""Requests and structural tags in files, for the command line: read as what they are, told with their places."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import workbench as wb
from tests.frontends.tags.structural_tags import CALLS, CITY, tag, triggered
from workbench.cli import main

TAG = {"type": "structural_tag", "format": triggered(["<function="], CALLS)}
REQUESTS: list[Any] = [
    TAG,
    {"structures": [{"begin": "<f>", "schema": CITY, "end": "</f>"}], "triggers": ["<f>"]},
    {"type": "json_schema", "json_schema": {"name": "city", "schema": CITY}},
    {"response_format": {"type": "json_object"}},
    {"structured_outputs": {"choice": ["yes", "no"]}},
    {"guided_regex": "[ab]+"},
]


def written(folder: Path, value: Any) -> str:
    path = folder / "asked.json"
    path.write_text(json.dumps(value))
    return str(path)


@pytest.mark.parametrize("request_", REQUESTS, ids=range(len(REQUESTS)))
def test_a_file_is_seen_for_what_it_is(
    request_: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", written(tmp_path, request_)]) == 0
    assert "asked.json: a " in capsys.readouterr().out


def test_fields_that_schemas_may_have_need_the_kind(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, {"regex": "a"})
    assert main(["check", "--kind", "request", path]) == 0
    assert "a regex grammar" in capsys.readouterr().out


def test_a_schema_stays_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for schema in (CITY, {"format": "date"}, {"const": 1, "grammar": "x"}):
        assert main(["check", written(tmp_path, schema)]) == 0
        assert "a json_schema grammar" in capsys.readouterr().out


def test_what_is_wrong_is_one_message(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = {"type": "structural_tag", "format": {"type": "tags"}}
    assert main(["check", written(tmp_path, wrong)]) == 2
    assert "there is no format 'tags' (at #/format/type)" in capsys.readouterr().err
    assert main(["check", "--on-dangling", "forbid", written(tmp_path, TAG)]) == 2
    assert "on_dangling is an option of schemas alone" in capsys.readouterr().err


def test_questions_about_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, TAG)
    assert main(["why", path, "3", "--after", 'so <function=a>{"city": ']) in (0, 1)
    assert "<function=a> › #/properties/city" in capsys.readouterr().out
    assert main(["dead-ends", path]) == 0
    assert "none found" in capsys.readouterr().out
    examples = tmp_path / "examples.json"
    examples.write_text(json.dumps(["<function=b>1</function>"]))
    assert main(["coverage", path, str(examples)]) in (0, 1)
    assert "<function=a>" in capsys.readouterr().out


def test_there_and_back(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tests = tmp_path / "tests.json"
    accept = ["so", '<function=a>{"city": "x"}</function>']
    tests.write_text(json.dumps({"accept": accept, "reject": ["<function=a>"]}))
    out = tmp_path / "g.zip"
    assert main(["export", written(tmp_path, TAG), str(out), "--tests", str(tests)]) == 0
    assert main(["verify", str(out)]) == 0
    assert "holds" in capsys.readouterr().out


def test_one_file_for_every_vocabulary() -> None:
    """What is written down keeps its markers."""
    grammar = wb.structural_tag({"format": tag("<call>", "</call>")})
    vocabulary = wb.Vocabulary.from_bytes(
        [*(bytes([byte]) for byte in range(256)), b"", b""], 256, special_names={257: "<call>"}
    )
    for made in (grammar, wb.from_rules(wb.to_rules(grammar))):
        matcher = wb.compile(made, vocabulary).matcher()
        assert list(matcher.allowed_ids()) == [257]

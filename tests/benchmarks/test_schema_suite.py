"""The benchmark on the official suite: what its verdicts mean, and how it goes on."""

from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from workbench.benchmarks import schema_suite as module
from workbench.benchmarks.schema_suite import bench_suite
from workbench.cli import main
from workbench.errors import WorkbenchError


def case(data: Any, valid: bool) -> dict[str, Any]:
    return {"description": json.dumps(data), "data": data, "valid": valid}


FILES: dict[str, Any] = {
    "tests/draft2020-12/type.json": [
        {
            "description": "objects in any order",
            "schema": {"properties": {"a": {"type": "null"}, "b": {}}, "required": ["b"]},
            "tests": [case({"b": 1, "a": None}, True), case({"a": None}, False)],
        },
        {
            "description": "labels that are wrong themselves",
            "schema": {"minimum": 3},
            "tests": [case(2, True), case(4, False), case(5, True)],
        },
        {
            "description": "a back-reference",
            "schema": {"pattern": r"^(a+)b\1$"},
            "tests": [case("aba", True)],
        },
        {
            "description": "another document",
            "schema": {"$ref": "http://localhost:1234/x/y.json"},
            "tests": [case("x", False), case(1, True)],
        },
        {"description": "nothing", "schema": False, "tests": [case(1, False)]},
    ],
    "tests/draft2020-12/format.json": [
        {"description": "f", "schema": {"format": "date"}, "tests": [case("x", True)]}
    ],
    "tests/draft2020-12/optional/format/date.json": [
        {"description": "f", "schema": {"format": "date"}, "tests": [case("x", False)]}
    ],
    "tests/draft2020-12/optional/format/hostname.json": [
        {"description": "h", "schema": {"format": "hostname"}, "tests": [case("xn--ls8h", True)]}
    ],
    "tests/draft7/optional/content.json": [
        {
            "description": "c",
            "schema": {"contentEncoding": "base64"},
            "tests": [case("%", False), case("e30=", True)],
        }
    ],
    "tests/draft3/type.json": [{"description": "old", "schema": {}, "tests": [case(1, False)]}],
    "remotes/x/y.json": {"type": "integer"},
}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "suite.tar.xz"
    with tarfile.open(path, "w:xz") as out:
        for name, content in FILES.items():
            raw = json.dumps(content).encode()
            member = tarfile.TarInfo(name)
            member.size = len(raw)
            out.addfile(member, io.BytesIO(raw))
    return path


COUNTS = {
    "draft2020-12": {
        "required": {"passes": 7, "wrongly rejected": 1, "wrongly accepted": 1, "unsupported": 1},
        "format": {"passes": 1, "restricted": 1},
    },
    "draft7": {"optional": {"annotation": 1, "passes": 1}},
}


def test_verdicts(data: Path, tmp_path: Path) -> None:
    report = bench_suite(data, results=tmp_path / "r.jsonl", progress=False)
    assert report.counts == COUNTS
    assert [line.rpartition(": ")[2] for line in report.wrong] == ["2", "4"]
    assert report.wrong[0].startswith("wrongly rejected: draft2020-12/type.json#1 ")
    assert not report.is_clean
    assert sum(report.reasons.values()) == 1
    assert "| draft2020-12 | 10 | 7 (70.00%) | 1 | 0 | 0 | 1 | 1 | 0 |" in report.markdown()
    assert "wrongly accepted: draft2020-12/type.json#1" in report.text()
    assert json.loads(json.dumps(report.to_json()))["counts"] == COUNTS


def test_it_goes_on_where_it_stopped(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = tmp_path / "r.jsonl"
    judged: list[str] = []
    judge = module.judge_group

    def counted(group: Any, *rest: Any) -> dict[str, Any]:
        if len(judged) == 3:
            raise KeyboardInterrupt
        judged.append(group.name)
        return judge(group, *rest)

    with monkeypatch.context() as patch:
        patch.setattr(module, "judge_group", counted)
        with pytest.raises(KeyboardInterrupt):
            bench_suite(data, results=results, progress=False)
    with pytest.raises(WorkbenchError, match="resume"):
        bench_suite(data, results=results, progress=False)
    first = list(judged)
    monkeypatch.setattr(
        module, "judge_group", lambda group, *rest: judged.append(group.name) or judge(group, *rest)
    )
    assert bench_suite(data, results=results, resume=True, progress=False).counts == COUNTS
    assert len(judged) == len(set(judged)) > len(first) == 3


def test_the_command(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.md"
    page.write_text("<!-- bench json-schema-suite -->\nold\n<!-- end bench json-schema-suite -->\n")
    arguments = ["bench", "json-schema-suite", "--data", str(data)]
    more = ["--results", str(tmp_path / "r.jsonl"), "--markdown", str(page)]
    assert main([*arguments, *more, "--drafts", "draft7"]) == 0
    assert "other optional tests" in page.read_text() and "old" not in page.read_text()
    assert main([*arguments, *more, "--drafts", "draft2020-12", "--resume"]) == 1
    assert "wrongly accepted" in capsys.readouterr().out
    assert main([*arguments, *more, "--drafts", "draft99"]) != 0


def test_what_is_no_suite(tmp_path: Path) -> None:
    path = tmp_path / "none.tar.xz"
    path.write_bytes(b"nothing")
    with pytest.raises(WorkbenchError, match="cannot read"):
        bench_suite(path, results=tmp_path / "r.jsonl", progress=False)

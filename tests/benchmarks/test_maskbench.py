"""The benchmark on real schemas: verdicts, limits, resumption. Nothing here depends on speed."""

from __future__ import annotations

import json
import multiprocessing
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.benchmarks.conftest import FOUR, Files, schema_file
from tests.benchmarks.planted import planted
from workbench.benchmarks.judge import Message, assemble, instance_text, times_of
from workbench.benchmarks.maskbench import MaskBenchReport, bench_maskbench
from workbench.benchmarks.schema_engines import SchemaEngine
from workbench.benchmarks.store import Store
from workbench.benchmarks.tally import time_sets, time_table, verdicts
from workbench.errors import WorkbenchError

Archive = Callable[[Files], Path]


def bench(data: Path, tokenizer: Path, *engines: SchemaEngine, **options: Any) -> MaskBenchReport:
    options = {"results": data.parent / "results.jsonl", "jobs": 1, "limit_s": 5.0} | options
    return bench_maskbench(data, tokenizer, engines=engines, progress=False, **options)


def read(path: Path) -> list[dict[str, Any]]:
    """The records of a results file, every line of which is whole."""
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return [line for line in lines if "schema" in line]


def counts(report: MaskBenchReport, engine: str) -> dict[str, int]:
    """The verdicts that are not zero."""
    names = ("right", "unsupported", "rejects_valid", "accepts_invalid", "crashed", "timed_out")
    found = {name: getattr(report.verdicts[engine], name) for name in names}
    return {name: count for name, count in found.items() if count}


def test_engines_are_judged_by_what_they_accept(archive: Archive, tokenizer: Path) -> None:
    engines = [planted(name) for name in ("right", "accepts_all", "rejects_all", "refuses_all")]
    report = bench(archive(FOUR), tokenizer, *engines)
    assert counts(report, "right") == {"right": 4}
    assert counts(report, "accepts_all") == {"right": 2, "accepts_invalid": 2}
    assert counts(report, "rejects_all") == {"right": 1, "rejects_valid": 3}
    assert counts(report, "refuses_all") == {"unsupported": 4}
    every = report.verdicts["accepts_all"]
    assert (every.valid_instances, every.valid_rejected) == (6, 0)
    assert (every.invalid_instances, every.invalid_accepted) == (4, 4)
    none = report.verdicts["rejects_all"]
    assert (none.valid_rejected, none.invalid_accepted, none.without_instances) == (6, 0, 1)
    # Reasons that differ in names and numbers only count together.
    reasons = report.verdicts["refuses_all"].unsupported_reasons
    assert reasons == [("Refused: the keyword … of N values", 4)]
    text = report.text()
    for line in ("fully right", "4 of 4 schemas", "refuses_all declares unsupported"):
        assert line in text
    assert "| fully right | 4 (100.0%) |" in report.markdown()
    assert json.loads(json.dumps(report.to_json()))["verdicts"]["right"]["right"] == 4


def test_every_mask_is_timed_once(archive: Archive, tokenizer: Path) -> None:
    data = archive({"colours.json": FOUR["colours.json"]})
    bench(data, tokenizer, planted("accepts_all"), planted("rejects_all"))
    from workbench.benchmarks.engines import read_tokenizer

    _, encode = read_tokenizer(tokenizer)
    texts = [instance_text(value) for value in ("red", "green", "blue", "re")]
    by_engine = {record["engine"]: record for record in read(data.parent / "results.jsonl")}
    masks = [instance[2] for instance in by_engine["accepts_all"]["instances"]]
    assert masks == [len(encode(text)) + 1 for text in texts]
    cpu, wall, accepts = times_of(by_engine["accepts_all"])
    assert len(cpu) == len(wall) == sum(masks)
    assert len(accepts) == sum(masks) - len(texts)
    assert [instance[2] for instance in by_engine["rejects_all"]["instances"]] == [1, 1, 1, 1]


def test_an_unruly_engine_is_stopped_and_the_others_go_on(
    archive: Archive, tokenizer: Path
) -> None:
    titles = {
        "spins while it compiles": ("timeout", "compile"),
        "sleeps while it compiles": ("timeout", "compile"),
        "spins in a mask": ("timeout", "step"),
        "takes long for every mask": ("timeout", "step"),
        "dies": ("crashed", "compile"),
        "aborts": ("crashed", "compile"),
        "raises": ("crashed", "compile"),
        "raises in a mask": ("crashed", "step"),
        "disagrees": ("crashed", "step"),
        "refuses in a mask": ("refused", "step"),
        "behaves": ("ran", None),
    }
    data = archive(
        {
            f"{title}.json": schema_file({"title": title, "enum": ["green"]}, ["green"], [])
            for title in titles
        }
    )
    report = bench(data, tokenizer, planted("unruly"), planted("right"), limit_s=1.0, jobs=2)
    assert counts(report, "right") == {"right": len(titles)}
    assert counts(report, "unruly") == {"right": 1, "unsupported": 1, "crashed": 5, "timed_out": 4}
    records = {
        record["schema"].removesuffix(".json"): record
        for record in read(data.parent / "results.jsonl")
        if record["engine"] == "unruly"
    }
    assert {
        title: (record["outcome"], record["stage"]) for title, record in records.items()
    } == titles
    assert "SIGKILL" in records["dies"]["reason"]
    assert "panicked at the disco" in records["aborts"]["reason"]
    assert "a mistake of its own" in records["raises"]["reason"]
    for title, record in records.items():
        cpu, _, _ = times_of(record)
        if title.endswith("while it compiles"):
            assert record["ttfm_us"] == [1e6, 1e6] and not cpu.size
        if title == "spins in a mask":
            # The schema was compiled; the mask that did not come counts at the limit.
            assert record["ttfm_us"][0] < 1e6 and cpu[-1] == 1e6
    assert not multiprocessing.active_children()


def test_an_interrupted_run_goes_on_to_the_same_totals(
    archive: Archive, tokenizer: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, engines = archive(FOUR), (planted("right"), planted("accepts_all"))
    whole = bench(data, tokenizer, *engines, results=tmp_path / "whole.jsonl")
    cut = tmp_path / "cut.jsonl"
    append = Store.append

    def interrupted(self: Any, record: dict[str, Any]) -> None:
        if len(read(cut)) == 3:
            raise KeyboardInterrupt
        append(self, record)

    with monkeypatch.context() as patch:
        patch.setattr(Store, "append", interrupted)
        with pytest.raises(KeyboardInterrupt):
            bench(data, tokenizer, *engines, results=cut)
    assert not multiprocessing.active_children()
    kept = read(cut)
    assert len(kept) == 3
    with cut.open("a") as file:
        file.write('{"schema": "colours.json", "torn')
    resumed = bench(data, tokenizer, *engines, results=cut, resume=True)
    assert resumed.verdicts == whole.verdicts
    assert read(cut)[:3] == kept
    assert len(read(cut)) == 8
    assert any(len(sessions) >= 1 for sessions in resumed.sessions.values())
    # All is there: nothing is run, and nothing is written.
    before = cut.read_bytes()
    assert bench(data, tokenizer, *engines, results=cut, resume=True).verdicts == whole.verdicts
    assert cut.read_bytes() == before


def test_only_what_has_changed_is_run_again(archive: Archive, tokenizer: Path) -> None:
    data = archive(FOUR)
    results = data.parent / "results.jsonl"
    bench(data, tokenizer, planted("right"), planted("accepts_all"))
    engines = (planted("right", option=1), planted("accepts_all"))
    report = bench(data, tokenizer, *engines, resume=True)
    added = read(results)[8:]
    assert {record["engine"] for record in added} == {"right"} and len(added) == 4
    assert report.verdicts["right"].schemas == report.verdicts["accepts_all"].schemas == 4
    other = bench(data, tokenizer, *engines, resume=True, limit_s=6.0)
    assert len(read(results)) == 12 + 8
    assert other.verdicts["right"].schemas == 4


def test_results_are_not_overwritten(archive: Archive, tokenizer: Path) -> None:
    data = archive(FOUR)
    bench(data, tokenizer, planted("right"))
    with pytest.raises(WorkbenchError, match="--resume"):
        bench(data, tokenizer, planted("right"))


def test_a_sample_is_drawn_by_its_seed(archive: Archive, tokenizer: Path) -> None:
    data = archive(FOUR)
    report = bench(data, tokenizer, planted("right"), sample=2, seed=1)
    assert (report.schemas, report.schemas_in_data) == (2, 4)
    assert "2 of 4 schemas (drawn with seed 1)" in report.text()
    first = {record["schema"] for record in read(data.parent / "results.jsonl")}
    bench(data, tokenizer, planted("right"), sample=3, seed=1, resume=True)
    assert first < {record["schema"] for record in read(data.parent / "results.jsonl")}


def test_a_missing_peer_is_said_to_be_missing(archive: Archive, tokenizer: Path) -> None:
    missing = planted("accepts_all", module="no_such_module")
    report = bench(archive(FOUR), tokenizer, planted("right"), missing)
    assert report.not_installed == ["accepts_all"]
    assert "accepts_all: not installed" in report.text()
    assert counts(report, "right") == {"right": 4}


def test_an_engine_that_cannot_start(archive: Archive, tokenizer: Path) -> None:
    broken = SchemaEngine("broken", "none", "workbench", "tests.benchmarks.planted:nothing")
    with pytest.raises(WorkbenchError, match="nothing"):
        bench(archive(FOUR), tokenizer, broken)
    assert not multiprocessing.active_children()


@pytest.mark.parametrize("content", [b"", b"no archive"])
def test_data_that_is_none(tmp_path: Path, tokenizer: Path, content: bytes) -> None:
    path = tmp_path / "data.tar.xz"
    path.write_bytes(content)
    with pytest.raises(WorkbenchError, match=r"data\.tar\.xz"):
        bench(path, tokenizer, planted("right"))


def test_instances_are_written_as_maskbench_does() -> None:
    assert instance_text({"a": [1, "ü"], "b": None}) == '{"a": [1, "ü"], "b": null}'
    assert instance_text("\ud800") == '"\\ud800"'


def ran(compile_us: float, *masks: float, valid: bool = True, accepted: bool = True) -> Any:
    """A record of a schema with one instance."""
    tenths = [round(us * 10) for us in masks]
    messages: list[Message] = [
        (
            "compiled",
            {"stages": {}, "cpu": compile_us, "wall": 2 * compile_us, "mask": [tenths[0]] * 2},
        ),
        (
            "instance",
            {"valid": valid, "accepted": accepted, "times": [tenths[1:], tenths[1:], [10]]},
        ),
    ]
    return assemble(messages, 10.0)


def refused() -> Any:
    values = {"outcome": "refused", "stage": "compile", "reason": "Refused: no"}
    return assemble([("failed", values)], 10.0)


def test_times_are_over_the_same_schemas() -> None:
    records = {
        "workbench": {"a": ran(1000, 1, 2), "b": ran(3000, 3, 4), "c": refused()},
        "llguidance": {"a": ran(500, 2, 4), "b": refused(), "c": ran(700, 10, 10)},
    }
    everyone, theirs = time_sets(records, 10.0)
    assert (everyone.schemas, theirs.schemas) == (1, 2)
    ours = everyone.times["cpu"]["workbench"]
    assert (ours["masks"], ours["mask avg"], ours["mask max"]) == (2, 1.5, 2)
    assert ours["ttfm avg"] == 1 and everyone.times["wall"]["workbench"]["ttfm avg"] == 2
    assert (ours["accept avg"], ours["mask+accept avg"]) == (1, 2)
    # What we refuse counts at the limit: the first mask, and one mask.
    ours = theirs.times["cpu"]["workbench"]
    assert ours["ttfm avg"] == pytest.approx((1 + 10_000) / 2)
    assert ours["ttfm max"] == 10_000
    assert ours["mask avg"] == pytest.approx((1 + 2 + 10e6) / 3)
    assert theirs.times["cpu"]["llguidance"]["mask avg"] == 6.5


def test_it_is_said_where_we_are_ahead_and_where_behind() -> None:
    records = {
        "workbench": {"a": ran(4000, 1, 2)},
        "xgrammar": {"a": ran(8000, 9, 9)},
        "llguidance": {"a": ran(1000, 3, 3)},
    }
    ahead, behind = time_table(time_sets(records, 10.0)[0], "cpu").notes
    assert ahead.startswith("ahead of the best peer: mask avg 2.00× (llguidance), ")
    assert behind.startswith("behind the best peer: ttfm avg 0.25× (llguidance), ")


def test_times_are_over_schemas_that_all_were_asked() -> None:
    records = {"workbench": {"a": ran(1000, 1), "b": ran(1000, 1)}, "xgrammar": {"a": ran(1, 1)}}
    (everyone,) = time_sets(records, 10.0)
    assert everyone.schemas == 1


def test_a_schema_can_be_wrong_in_both_directions() -> None:
    record = ran(1, 1, valid=True, accepted=False)
    record["instances"].append([False, True, 1])
    found = verdicts([record])
    assert (found.rejects_valid, found.accepts_invalid, found.right) == (1, 1, 0)


def test_times_survive_their_packing() -> None:
    cpu, wall, accepts = times_of(ran(1, 0, 0.1, 12345.6))
    np.testing.assert_allclose(cpu, [0, 0.1, 12345.6])
    np.testing.assert_allclose(wall, cpu)
    np.testing.assert_allclose(accepts, [1])

"""Profiles of traces with times that were chosen, so that every statistic can be worked out."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

import workbench as wb
from workbench.automaton.frames import Frame

#: (rule, mask, hidden, forward); the first step reads the prompt, the second compiles something
TIMES = [
    ("root", 50.0, 0.0, 400.0),
    ("root", 90.0, 10.0, 12.0),
    ("a", 1.0, 1.0, 10.0),
    ("b", 4.0, 2.0, 10.0),
    ("a", 3.0, 3.0, 10.0),
    ("b", 2.0, 2.0, None),
    ("a", 2.0, 1.0, 10.0),
]


def trace_of(times: list[tuple[str, float, float, float | None]]) -> wb.Trace:
    trace = wb.Trace(device="cpu")
    for rule, mask, hidden, forward in times:
        trace.append(
            wb.TraceStep(
                index=0,
                kind="forced" if forward is None else "sampled",
                token_id=1,
                token_bytes=b"x",
                mask_ms=mask,
                mask_hidden_ms=hidden,
                mask_exposed_ms=mask - hidden,
                forward_ms=forward or 0.0,
                sample_ms=0.5,
                live_states=(7,) if rule == "a" else (8, 9),
                stacks=(trace.add_stack([Frame(7, (rule,)), Frame(1, ("root",))]),),
            )
        )
    return trace


def test_statistics_leave_the_warm_up_out() -> None:
    found = wb.profile(trace_of(TIMES))
    # step 1 has a mask 30 times the median of 3; step 2 has not
    assert found.warm_up == (0, 1)
    mask = found.times("mask")
    # 1 2 2 3 4: the 90th percentile lies 0.6 of the way from 3 to 4
    assert (mask.n, mask.total, mask.median, mask.most) == (5, 12.0, 2.0, 4.0)
    assert mask.p90 == pytest.approx(3.6) and mask.p99 == pytest.approx(3.96)
    assert found.times("exposed").total == 3.0
    assert found.times("forward").n == 4 and found.times("forward").total == 40.0
    assert found.exposed_share == pytest.approx(3 / 40)
    assert found.hidden_share == pytest.approx(9 / 12)


def test_the_number_of_warm_up_steps_can_be_said() -> None:
    trace = trace_of(TIMES)
    assert wb.profile(trace, warm_up=0).times("mask").n == 7
    assert wb.profile(trace, warm_up=3).warm_up == (0, 1, 2)
    with pytest.raises(ValueError):
        wb.profile(trace, warm_up=-1)


def test_heaviest_first() -> None:
    found = wb.profile(trace_of(TIMES))
    assert [(g.name, g.steps, g.mask.total) for g in found.by_rule()] == [
        ("a", (2, 4, 6), 6.0),
        ("b", (3, 5), 6.0),
    ]
    assert [g.share for g in found.by_rule()] == [0.5, 0.5]
    assert [g.name for g in found.by_state()] == ["state 7", "state 8 9"]
    some = found.between(2, 3)
    assert [(g.name, g.mask.total) for g in some.by_rule()] == [("b", 4.0), ("a", 1.0)]


def test_few_steps_and_none() -> None:
    assert wb.profile(trace_of(TIMES[:1])).warm_up == ()
    assert wb.profile(trace_of(TIMES[:2])).warm_up == (0,)
    nothing = wb.profile(wb.Trace())
    assert nothing.times("mask").n == 0 and nothing.exposed_share == 0.0
    assert "0 steps" in str(nothing)
    with pytest.raises(ValueError):
        nothing.times("gpu")


def test_the_text_and_json_forms() -> None:
    found = wb.profile(trace_of(TIMES))
    said = str(found)
    assert "7 steps, 2 of them warm-up and not counted" in said
    assert "7.5% of the forward passes" in said and "75.0% of mask time is hidden" in said
    assert "clock: time.perf_counter, device: cpu" in said
    wire = json.loads(json.dumps(found.to_json()))
    assert wire["warm_up"] == [0, 1] and wire["times"]["mask"]["total"] == 12.0
    assert wire["steps"][5]["forward"] is None


def test_what_was_certain_and_what_drafts_saved() -> None:
    trace = wb.Trace()
    #: token, bytes that had to come, draft, forward
    for data, forced, draft, forward in (
        (b"ab", 2, "accepted", 10.0),
        (b"cd", 1, "accepted", 0.0),
        (b"e", 5, "injected", 0.0),
        (b"f", 0, "refused", 0.0),
        (b"", 3, "", 10.0),
    ):
        step = wb.TraceStep(
            index=0, kind="sampled", token_id=1, token_bytes=data, forced_bytes=forced,
            draft=draft, draft_source="forced" if draft else "", forward_ms=forward,
        )  # fmt: skip
        trace.append(step)
    found = wb.profile(trace)
    # "cd" goes beyond what had to come; an end spells nothing
    assert found.certain == 2 and found.forward_passes == 2
    assert found.drafts == {"forced": {"accepted": 2, "injected": 1, "refused": 1}}
    trace.drafts = {"forward_passes": 3}
    found = wb.profile(trace)
    assert found.forward_passes == 3
    said = str(found)
    assert "certain: 2 of 5 steps (40.0%) lie in text that had to come" in said
    assert "3 forward passes, 2 saved by drafts: forced 2 accepted, 1 injected, 1 refused" in said
    wire = found.to_json()
    assert (wire["certain"], wire["forward_passes"]) == (2, 3)
    assert "saved" not in str(wb.profile(trace_of(TIMES)))


class TestFigures:
    @pytest.fixture
    def data(self) -> dict[str, dict[str, Any]]:
        pytest.importorskip("plotly")
        found = wb.profile(trace_of(TIMES))
        views = ("time", "heaviest", "state", "histogram")
        return {view: json.loads(found.figure(view).to_json()) for view in views}

    def test_both_tracks_stand_on_one_axis_of_steps(self, data: dict[str, dict[str, Any]]) -> None:
        bars = {bar["name"]: bar for bar in data["time"]["data"]}
        assert list(bars["forward"]["y"])[2:] == [10.0, 10.0, 10.0, None, 10.0]
        assert bars["mask, exposed"]["marker"]["line"]["width"] > 0
        # no outline where nothing was exposed
        assert all(height is None or height > 0 for height in bars["mask, exposed"]["y"])
        assert all(list(bar["x"]) == [1, 2, 3, 4, 5, 6, 7] for bar in bars.values())
        # the two warm-up steps
        shaded = [(shape["x0"], shape["x1"]) for shape in data["time"]["layout"]["shapes"]]
        assert shaded == [(0.5, 1.5), (1.5, 2.5)]

    def test_groups_and_histogram(self, data: dict[str, dict[str, Any]]) -> None:
        assert data["heaviest"]["data"][0]["y"] == ["b", "a"]  # drawn from below
        assert data["state"]["data"][0]["y"] == ["state 8 9", "state 7"]
        histogram = data["histogram"]
        assert histogram["layout"]["xaxis"]["type"] == "log"
        notes = [note["text"] for note in histogram["layout"]["annotations"]]
        assert notes == ["median 2 ms", "p99 3.96 ms"]

    def test_a_page_needs_no_network(self, tmp_path: Path) -> None:
        pytest.importorskip("plotly")
        page = tmp_path / "profile.html"
        wb.profile(trace_of(TIMES)).figure().write_html(page, include_plotlyjs=True)
        text = page.read_text()
        assert 'src="http' not in text
        with pytest.raises(ValueError):
            wb.profile(trace_of(TIMES)).figure("pie")

    def test_one_value_has_a_histogram(self) -> None:
        pytest.importorskip("plotly")
        found = wb.profile(trace_of([("a", 2.0, 0.0, 1.0)] * 3), warm_up=0)
        widths = found.figure("histogram").data[0]["width"]
        assert all(math.isfinite(width) and width > 0 for width in widths)

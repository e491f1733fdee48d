"""Documents: what a trace becomes, and its JSON form."""

from __future__ import annotations

import json
import math
import zlib
from dataclasses import replace

import numpy as np
import pytest

from tests.notebook import samples
from workbench.decoding.trace import Trace
from workbench.notebook.recorded import from_trace
from workbench.notebook.views import Document


@pytest.fixture
def document() -> Document:
    return from_trace(samples.trace(), samples.vocabulary(), samples.automaton(), complete=True)


def test_one_position_per_step_and_the_end(document: Document) -> None:
    assert [p.parent for p in document.positions] == list(range(-1, len(samples.RUN)))
    taken = [p.edge.token_id for p in document.positions if p.edge]
    assert taken == [run[0] for run in samples.RUN]
    last = document.positions[-1]
    assert (last.open, last.end, last.accepting, last.live) == (False, "eos", True, (6,))
    assert document.text() == '{"name":"Ada</script><!--"}'.replace('{"name":', '{"name":', 1)


def test_rows_join_both_lists(document: Document) -> None:
    for i, (_, _, allowed, _, _) in enumerate(samples.RUN):
        before = samples.probabilities(i)
        kept = before[list(allowed)].sum()
        rows = {row.token_id: row for row in document.positions[i].rows}
        assert set(rows) == set(range(16))
        for token, row in rows.items():
            assert row.before == pytest.approx(before[token])
            assert row.allowed == (token in allowed)
            expected = before[token] / kept if token in allowed else None
            assert row.after == (pytest.approx(expected) if expected else None)


def test_a_token_missing_before_is_computed_back() -> None:
    trace = samples.trace()
    step = trace.steps[4]
    trace.steps[4] = replace(step, top_before=step.top_before[:2])
    rows = from_trace(trace, samples.vocabulary()).positions[4].rows
    before = samples.probabilities(4)
    for row in rows:
        assert row.before == pytest.approx(before[row.token_id])


def test_stacks_times_and_pictures(document: Document) -> None:
    here = document.positions[4]
    assert [(f.state, f.rules, f.count) for f in here.stacks[0]] == [
        (8, ("string",), 3),
        (5, ("object",), None),
    ]
    assert here.times is not None
    assert (here.times.forward, here.times.hidden) == (61, 0.05)
    assert len(document.pictures) == 1  # a small automaton has one picture for all positions
    assert here.graph in document.pictures


def test_masks_as_runs_over_the_byte_order(document: Document) -> None:
    vocabulary = samples.vocabulary()
    order = sorted(range(16), key=lambda i: (vocabulary.token_bytes(i), i))
    for i, (_, _, allowed, _, _) in enumerate(samples.RUN):
        runs = document.masks[document.positions[i].mask]
        ids = [order[k] for start, n in np.reshape(runs, (-1, 2)) for k in range(start, start + n)]
        assert sorted(ids) == sorted(allowed)
    assert set(document.tokens) == set(range(16))


def test_json_form_is_strict_json(document: Document) -> None:
    text = zlib.decompress(document.payload()).decode("utf-8")
    wire = json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    assert wire == json.loads(json.dumps(document.wire()))
    assert wire["version"] == 2
    assert wire["tokens"]["12"] == ["\xe2\x9c", None]
    assert wire["tokens"]["0"] == ["", "<|im_end|>"]
    assert len(wire["positions"]) == len(samples.RUN) + 1


def test_numbers_that_are_not_finite_become_null() -> None:
    trace = samples.trace()
    trace.steps[0] = replace(trace.steps[0], entropy_before=math.nan, mass_removed=math.inf)
    wire = from_trace(trace, samples.vocabulary()).wire()
    assert wire["positions"][0]["entropyBefore"] is None
    assert wire["positions"][0]["massRemoved"] is None


def test_survives_the_open_json_form() -> None:
    trace = samples.trace()
    back = Trace.from_json(trace.to_json())
    vocabulary = samples.vocabulary()
    assert from_trace(back, vocabulary).wire() == from_trace(trace, vocabulary).wire()


def test_an_empty_trace_has_one_closed_position() -> None:
    document = from_trace(Trace(), samples.vocabulary())
    assert [p.open for p in document.positions] == [False]
    assert document.text() == ""
    assert document.title == "constrained run"


def test_a_dead_end_is_a_problem() -> None:
    trace = samples.trace()
    del trace.steps[5:]
    trace.finish_reason, trace.error = "dead_end", "no token may come next"
    document = from_trace(trace, samples.vocabulary())
    assert document.problem == ("dead end", "no token may come next")
    assert document.positions[-1].end == "dead_end"

"""The trace and its JSON form."""

from __future__ import annotations

import base64
import gzip
import json
import pickle
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from workbench.automaton.frames import Frame
from workbench.decoding.trace import StackNode, Trace, TraceStep, byte_order
from workbench.errors import WorkbenchError


class Table:
    """A vocabulary as far as masks need it."""

    def __init__(self, tokens: list[bytes], width: int) -> None:
        self.tokens, self.size, self.width = tokens, len(tokens), width

    def token_bytes(self, token_id: int) -> bytes:
        return self.tokens[token_id]


def sample_trace() -> Trace:
    trace = Trace(
        created="2026-01-02T03:04:05Z",
        grammar_kind="regex",
        grammar_text="[ab]+",
        model_name="m",
        vocabulary_fingerprint="ff",
        vocabulary_size=3,
        vocabulary_width=40,
        prompt_text="π",
        prompt_ids=[1, 2],
        settings={"temperature": 0.5, "seed": None},
        finish_reason="length",
        device="cpu",
        versions={"torch": "2"},
        timings={"total_ms": 1.5},
    )
    row = np.array([5, 0], dtype=np.int32)
    stack = trace.add_stack([Frame(7, ("a", "b"), 3), Frame(4, ("root",))])
    for token, data in ((0, b"\xcf"), (2, b"\x80")):
        trace.append(
            TraceStep(
                index=0,
                kind="sampled",
                token_id=token,
                token_bytes=data,
                allowed_count=2,
                probability_before=0.125,
                probability_after=0.5,
                mass_removed=0.75,
                rank_before=4,
                entropy_before=1.0,
                entropy_after=float("nan"),
                logsumexp_before=10.25,
                logsumexp_after=float("-inf"),
                top_before=((1, 0.5), (0, 0.25)),
                top_after=((0, 1.0),),
                mask=trace.add_mask(row),
                live_states=(7,),
                stacks=(stack,),
                is_accepting=True,
                mask_ms=0.5,
                mask_hidden_ms=0.25,
                mask_exposed_ms=0.25,
                forward_ms=50.0,
                sample_ms=0.1,
            )
        )
    return trace


def same(one: Trace, two: Trace) -> bool:
    """Equality that lets nan equal nan."""
    return one.to_dict() == two.to_dict()


def test_round_trip_through_json() -> None:
    trace = sample_trace()
    again = Trace.from_json(trace.to_json())
    assert same(trace, again)
    assert np.isnan(again.steps[0].entropy_after)
    assert again.steps[0].logsumexp_after == float("-inf")
    assert again.steps[1].token_bytes == b"\x80"
    assert again.steps[1].top_before == ((1, 0.5), (0, 0.25))
    assert same(Trace.from_json(trace.to_json(indent=2)), trace)


def test_json_is_open_and_strict() -> None:
    value = json.loads(sample_trace().to_json(), parse_constant=pytest.fail)
    assert value["version"] == 1
    assert value["text"] == "π"
    step = value["steps"][0]
    assert step["token_bytes"] == "cf"
    assert step["entropy_after"] == "nan"
    assert "previous" not in step
    assert value["stack_nodes"] == [[4, ["root"], None, -1], [7, ["a", "b"], 3, 0]]
    row = zlib.decompress(base64.b64decode(value["masks"][step["mask"]]))
    assert row == bytes([5, 0, 0, 0, 0, 0, 0, 0])


def test_text_of_a_character_cut_in_two() -> None:
    trace = sample_trace()
    assert trace.steps[0].text_before == ""
    assert trace.steps[1].text_before == "�"
    assert trace.steps[1].bytes_before == b"\xcf"
    assert trace.text == "π"
    assert Trace.from_json(trace.to_json()).steps[1].bytes_before == b"\xcf"


def test_masks_are_stored_once_and_read_back() -> None:
    trace = sample_trace()
    assert len(trace.masks) == 1
    allowed = trace.allowed(trace.steps[0].mask)
    assert allowed.shape == (40,)
    assert allowed.nonzero()[0].tolist() == [0, 2]
    with pytest.raises(KeyError):
        trace.allowed("nothing")


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_masks_in_byte_order(data: st.DataObject) -> None:
    tokens = data.draw(st.lists(st.binary(max_size=3), min_size=1, max_size=70))
    table = Table(tokens, len(tokens) + data.draw(st.integers(0, 9)))
    bits = np.array(data.draw(st.lists(st.booleans(), min_size=table.width, max_size=table.width)))
    padded = np.zeros((table.width + 31) // 32 * 32, dtype=np.uint8)
    padded[: table.width] = bits
    row = np.packbits(padded, bitorder="little").view(np.int32)
    order = byte_order(table)
    assert sorted(order.tolist()) == list(range(table.width))
    for mask_order, argument in (("id", None), ("bytes", order)):
        trace = Trace(vocabulary_width=table.width, mask_order=mask_order)  # type: ignore[arg-type]
        key = trace.add_mask(row, argument)
        assert (trace.allowed(key, table) == bits).all()
        assert (Trace.from_json(trace.to_json()).allowed(key, table) == bits).all()


def test_byte_order_needs_its_vocabulary() -> None:
    trace = Trace(vocabulary_width=3, mask_order="bytes")
    row = np.array([1], dtype=np.int32)
    with pytest.raises(ValueError, match="mask_order"):
        trace.add_mask(row)
    key = trace.add_mask(row, byte_order(Table([b"b", b"a"], 3)))
    with pytest.raises(ValueError, match="vocabulary"):
        trace.allowed(key)


def test_damaged_masks_are_refused() -> None:
    trace = Trace(vocabulary_width=64)
    for data in (b"junk", zlib.compress(b"ab")):
        trace.masks["k"] = base64.b64encode(data).decode()
        with pytest.raises(WorkbenchError, match="damaged"):
            trace.allowed("k")


def test_stacks_share_their_lower_frames() -> None:
    trace = Trace()
    first = trace.add_stack([Frame(1, ("a",)), Frame(2, ("b",)), Frame(3, ("c",), 5)])
    second = trace.add_stack([Frame(9, ("a",)), Frame(2, ("b",)), Frame(3, ("c",), 5)])
    assert len(trace.stack_nodes) == 4
    assert [node.state for node in trace.stack(first)] == [1, 2, 3]
    assert [node.state for node in trace.stack(second)] == [9, 2, 3]
    assert trace.stack(-1) == ()
    again = Trace.from_json(trace.to_json())
    assert again.add_stack([Frame(2, ("b",)), Frame(3, ("c",), 5)]) == 1
    assert trace.stack_nodes[0] == StackNode(Frame(3, ("c",), 5), -1)


def test_copy_is_independent() -> None:
    trace = sample_trace()
    other = trace.copy()
    assert same(trace, other)
    other.append(other.steps[0])
    other.add_stack([Frame(1, ())])
    other.settings["seed"] = 1
    assert len(trace.steps) == 2
    assert len(trace.stack_nodes) == 2
    assert trace.settings["seed"] is None
    assert other.steps[2].index == 2
    assert other.steps[2].bytes_before == "π".encode()


@pytest.mark.parametrize("name", ["run.json", "run.json.gz", "deeper/run.json"])
def test_files(tmp_path: Path, name: str) -> None:
    trace = sample_trace()
    path = trace.save(tmp_path / name)
    assert same(Trace.load(path), trace)
    assert (path.read_bytes()[:2] == b"\x1f\x8b") == name.endswith(".gz")
    trace.settings["second"] = True
    trace.save(path)
    assert same(Trace.load(path), trace)
    assert [item.name for item in path.parent.iterdir()] == [path.name]


def test_a_failed_save_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trace = sample_trace()
    path = trace.save(tmp_path / "run.json")
    monkeypatch.setattr(
        "pathlib.Path.replace", lambda *_: (_ for _ in ()).throw(OSError("disk full"))
    )
    with pytest.raises(OSError, match="disk full"):
        Trace().save(path)
    monkeypatch.undo()
    assert same(Trace.load(path), trace)
    assert [item.name for item in tmp_path.iterdir()] == ["run.json"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not a trace"),
        ("[]", "no version"),
        ("{}", "no version"),
        ('{"version": 2}', "version 2; this workbench reads 1"),
        ('{"version": 1, "steps": 5}', "field 'steps'"),
        ('{"version": 1, "steps": [{}]}', "step 1 of this trace has no kind"),
        ('{"version": 1, "steps": [{"kind": "x", "token_id": 1, "token_bytes": ""}]}', "sampled"),
        ('{"version": 1, "steps": [{"kind": "eos", "token_id": 1, "token_bytes": "zz"}]}', "bytes"),
        ('{"version": 1, "stack_nodes": [[1, [], null, 0]]}', "come before"),
        ('{"version": 1, "prompt_ids": ["a"]}', "whole number"),
        ('{"version": 1, "finish_reason": "tired"}', "finish_reason"),
        ("[" * 100_000, "not a trace"),
    ],
)
def test_what_is_not_a_trace(text: str, message: str) -> None:
    with pytest.raises(WorkbenchError, match=message):
        Trace.from_json(text)


def test_files_that_are_not_traces(tmp_path: Path) -> None:
    path = tmp_path / "x"
    for data in (bytes(range(256)), b"\x1f\x8bjunk", gzip.compress(b"{}" * 99)[:-9]):
        path.write_bytes(data)
        with pytest.raises(WorkbenchError, match="not a trace"):
            Trace.load(path)


def test_fields_of_a_later_minor_form_are_ignored() -> None:
    value = sample_trace().to_dict()
    value["new"] = 1
    value["steps"][0]["new"] = 2
    assert same(Trace.from_dict(value), sample_trace())


def test_long_traces_pickle_and_count() -> None:
    trace = Trace()
    step = TraceStep(index=0, kind="forced", token_id=1, token_bytes=b"x")
    for _ in range(20_000):
        trace.append(step)
    again = pickle.loads(pickle.dumps(trace))
    assert again.steps[-1].bytes_before == b"x" * 19_999
    assert again == trace
    assert repr(trace).startswith("<Trace of 20,000 steps")


def test_importing_the_trace_does_not_import_torch() -> None:
    code = "import sys, workbench.decoding.trace; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"

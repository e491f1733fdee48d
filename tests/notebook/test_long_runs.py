"""Long runs: a step sends what is new, and what a notebook keeps of them is whole."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("anywidget", reason="anywidget is not installed")
pytest.importorskip("transformers", reason="transformers is not installed")

from tests.notebook.kept import kept
from tests.notebook.step_costs import click, workbench_at
from workbench.notebook.journal import PIECE, Journal

torch = pytest.importorskip("torch", reason="torch is not installed")

#: Bytes that one step may send.
MOST = 40_000


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def lines(piece: bytes) -> list[Any]:
    return [json.loads(line) for line in zlib.decompress(piece).splitlines()]


@pytest.mark.slow
def test_a_step_sends_what_is_new_however_long_the_run_is() -> None:
    bench, wire = workbench_at(2_400, 1_000)
    sizes = {}
    for length in (10, 2_300):
        while len(bench.session.decoder.token_ids) < length:
            bench.session.step()
        bench.protocol.announce()
        bench._settle()
        # Enough steps to fill a piece of the journal and to begin the next.
        costs = [click(bench, wire) for _ in range(40)]
        assert [cost.length for cost in costs] == list(range(length + 1, length + 41))
        assert all(cost.sent["change"] and cost.sent["static view"] for cost in costs)
        sizes[length] = max(cost.size for cost in costs)
    assert max(sizes.values()) <= MOST, sizes
    # What pages and saved notebooks read is the whole run.
    document = json.loads(json.dumps(bench.document.wire()))
    assert kept(bench.get_state()) == document
    assert len(document["positions"]) == 2_341
    # At rest the static view is whole again.
    wire.sent.clear()
    bench._draw_static()
    assert wire.sent["static view"] > MOST


def test_a_position_is_described_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from workbench.decoding import position as module

    bench, _ = workbench_at(40, 1_000)
    described: list[int] = []
    plain = module.describe
    monkeypatch.setattr(module, "describe", lambda logits: described.append(1) or plain(logits))
    for _ in range(10):
        bench.step()
    # before and after the mask, of each new position
    assert len(described) == 20


def test_a_run_sends_each_piece_of_the_journal_once_it_is_full() -> None:
    bench, wire = workbench_at(200, 1_000)
    wire.sent.clear()
    for _ in bench.session.running():
        bench.protocol.announce()
        if len(bench.session.decoder.token_ids) == 150:
            break
    assert bench.pieces >= 3
    told = len(kept(bench.get_state())["positions"])
    assert 0 < 151 - told < 40  # an open piece is kept when the run ends
    bench._settle()
    assert len(kept(bench.get_state())["positions"]) == 151


class TestJournal:
    def test_pieces_hold_every_change_in_order(self) -> None:
        journal = Journal()
        changes = [{"id": i, "text": "x" * (i % 700)} for i in range(900)]
        full = [journal.add(json.dumps(change).encode()) for change in changes]
        assert sum(full) == len(journal) - 1 >= 1
        pieces = [journal.piece(i) for i in range(len(journal))]
        assert [change for piece in pieces for change in lines(piece)] == changes
        assert journal.piece(len(journal)) == b""

    def test_only_what_changed_is_to_be_saved(self) -> None:
        journal = Journal()
        assert list(journal.unsaved()) == []
        journal.add(b"1")
        assert list(journal.unsaved()) == [0]
        assert list(journal.unsaved()) == []
        journal.add(b"2")
        assert list(journal.unsaved()) == [0]
        assert journal.add(b" " * PIECE)
        journal.add(b"3")
        assert list(journal.unsaved()) == [0, 1]
        journal.add(b"4")
        assert list(journal.unsaved()) == [1]
        assert lines(journal.piece(1)) == [3, 4]

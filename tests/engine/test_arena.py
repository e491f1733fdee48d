"""Arrays of engines that are gone serve the next ones."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import workbench as wb
from tests.engine.walks import ids_of, mask_of
from workbench.engine import arena
from workbench.engine.engine import Engine

VOCABULARY = wb.Vocabulary.from_bytes([bytes([byte]) for byte in range(256)] + [b""], 256)


@pytest.fixture(autouse=True)
def _none_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_arenas", "_unique_tables", "_transitions", "_masks"):
        monkeypatch.setattr(arena, name, [])


def engine_of(pattern: str) -> Engine:
    compiled = wb.compile(wb.regex(pattern), VOCABULARY, cache=False)
    matcher = compiled.matcher()
    for byte in b"abc":
        assert byte in ids_of(mask_of(matcher))
        assert matcher.accept(byte)
    return compiled.engine


def test_the_next_engine_gets_the_arrays_cleared() -> None:
    gc.collect()
    engine = engine_of("[a-c]{2,9}x")
    before = [
        engine.ctx.arena,
        engine.ctx.unique_table,
        engine.ctx.transitions,
        engine.ctx.masks.base,
    ]
    assert before[0].any()
    del engine
    gc.collect()
    assert not before[0].any()
    assert not before[1].any()
    engine = engine_of("a(b|c)+[c-z]*")
    assert engine.ctx.arena is before[0]
    assert engine.ctx.unique_table is before[1]
    assert engine.ctx.transitions is before[2]
    assert engine.ctx.masks.base is before[3]
    other = engine_of("abc")
    assert other.ctx.arena is not engine.ctx.arena
    assert other.ctx.transitions is not engine.ctx.transitions


def test_few_are_kept() -> None:
    engines = [engine_of("[a-c]*") for _ in range(5)]
    del engines
    gc.collect()
    assert [len(kept) for kept in (arena._arenas, arena._unique_tables, arena._transitions)] == [
        2,
        2,
        2,
    ]


def test_large_ones_are_not_kept() -> None:
    nodes = np.zeros(2 * arena.ARENA_WORDS, dtype=np.int32)
    unique_table = np.zeros(1 << 20, dtype=np.int32)
    transitions = arena.take_transitions()
    masks = np.zeros(1 << 21, dtype=np.uint32)
    arena.give_back(nodes, unique_table, transitions, masks, (10, 1 << 24))
    assert not (arena._arenas or arena._unique_tables or arena._transitions or arena._masks)
    assert arena.take_masks(1 << 20).size == 1 << 20

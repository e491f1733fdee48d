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
    for name in ("_pools", "_tables", "_transitions", "_rows"):
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
    before = [engine.ctx.pool, engine.ctx.table, engine.ctx.trans, engine.ctx.rows.base]
    assert before[0].any()
    del engine
    gc.collect()
    assert not before[0].any()
    assert not before[1].any()
    engine = engine_of("a(b|c)+[c-z]*")
    assert engine.ctx.pool is before[0]
    assert engine.ctx.table is before[1]
    assert engine.ctx.trans is before[2]
    assert engine.ctx.rows.base is before[3]
    other = engine_of("abc")
    assert other.ctx.pool is not engine.ctx.pool
    assert other.ctx.trans is not engine.ctx.trans


def test_few_are_kept() -> None:
    engines = [engine_of("[a-c]*") for _ in range(5)]
    del engines
    gc.collect()
    assert [len(kept) for kept in (arena._pools, arena._tables, arena._transitions)] == [2, 2, 2]


def test_large_ones_are_not_kept() -> None:
    pool = np.zeros(2 * arena.ARENA_WORDS, dtype=np.int32)
    table = np.zeros(1 << 20, dtype=np.int32)
    transitions = arena.take_transitions()
    rows = np.zeros(1 << 21, dtype=np.uint32)
    arena.give_back(pool, table, transitions, rows, (10, 1 << 24))
    assert not (arena._pools or arena._tables or arena._transitions or arena._rows)
    assert arena.take_rows(1 << 20).size == 1 << 20

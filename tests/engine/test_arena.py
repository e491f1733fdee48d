"""Arrays of engines: small at first, copied while that is cheap, given up with a clear error."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import workbench as wb
from tests.engine.walks import ids_of, mask_of
from workbench.engine import arena

VOCABULARY = wb.Vocabulary.from_bytes([bytes([byte]) for byte in range(256)] + [b""], 256)
UNLIMITED = 1 << 27


@pytest.fixture
def unlimited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arena, "_limit", lambda: None)


def test_an_array_is_doubled_and_then_copied_once(unlimited: None) -> None:
    array = arena.room_for(arena.ARENA_WORDS, np.int32)
    assert not array.any()
    array[:] = np.arange(array.size)
    sizes = []
    while array.size < UNLIMITED:
        before = array
        array = arena.longer(array, UNLIMITED)
        assert (array[: before.size : 1000] == before[::1000]).all()
        assert not array[before.size : before.size + 5000].any()
        sizes.append(4 * array.size)
    doubled = [size for size in sizes if size <= arena._COPIED]
    assert sizes == [*doubled, 4 * UNLIMITED]
    assert doubled == [8 * arena.ARENA_WORDS << i for i in range(len(doubled))]
    assert 2 * doubled[-1] > arena._COPIED


def test_a_limit_on_address_space_is_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    limit = 1 << 31
    monkeypatch.setattr(arena, "_limit", lambda: limit)
    words = arena._COPIED // 4
    array = arena.longer(arena.room_for(words, np.uint32), UNLIMITED)
    assert array.nbytes == limit // arena._SHARE
    # no less than twice as much as there was
    array = arena.longer(array, UNLIMITED)
    assert array.nbytes == 2 * limit // arena._SHARE
    assert arena.longer(array, array.size + 5).size == array.size + 5


def test_less_is_asked_for_where_all_is_refused(
    unlimited: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []
    real = arena._mapped

    def mapped(words: int, dtype: type[np.int32]) -> object:
        asked.append(words)
        if words > 5 * arena._COPIED // 4:
            raise MemoryError
        return real(words, dtype)

    words = arena._COPIED // 4
    array = arena.room_for(words, np.int32)
    monkeypatch.setattr(arena, "_mapped", mapped)
    assert arena.longer(array, 16 * words).size == 4 * words
    assert asked == [16 * words, 8 * words, 4 * words]


def test_what_is_held_without_need_is_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    tries: list[str] = []

    def make() -> int:
        tries.append("make")
        if tries.count("make") < 2:
            raise MemoryError
        return 5

    monkeypatch.setattr(arena, "_relief", [lambda: tries.append("given back")])
    assert arena.with_relief(make) == 5
    assert tries == ["make", "given back", "make"]

    def never() -> int:
        raise MemoryError

    with pytest.raises(wb.GrammarTooComplex, match="bytes of memory for the process"):
        arena.with_relief(never)


def test_the_pages_of_engines_that_are_gone_serve_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(arena, "_kept", {})
    grammar = wb.gbnf('root ::= "(" root ")" | [a-c]{2,9} "x"')
    engines = [wb.compile(grammar, VOCABULARY, cache=False).engine for _ in range(4)]
    for engine in engines:
        engine.live_bytes(engine.start)
    names = ("arena", "transitions")
    before = [[getattr(engine.ctx, name) for name in names] for engine in engines]
    assert all(array.any() for arrays in before for array in arrays)
    del engine, engines
    gc.collect()
    # no more than a few, and cleared
    assert {len(kept) for kept in arena._kept.values()} == {arena._MOST_KEPT}
    assert not any(array.any() for kept in arena._kept.values() for array in kept)
    engine = wb.compile(grammar, VOCABULARY, cache=False).engine
    for i, name in enumerate(names):
        assert any(getattr(engine.ctx, name) is arrays[i] for arrays in before)
    # what has grown, or was used a lot, is not kept
    monkeypatch.setattr(arena, "_kept", {})
    arena.give_back(np.zeros(arena._COPIED, dtype=np.int32), 5)
    arena.give_back(np.zeros(arena.ARENA_WORDS, dtype=np.int32), arena._MOST_USED + 1)
    assert not arena._kept


def test_an_arena_that_grows_in_every_way_gives_the_same_masks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    grammar = wb.gbnf('root ::= "(" root ")" | [a-c]{2,9} "x" | "[" root "," root "]"')
    text = b"[((abcx)),[[abx,(ccccx)],aax]]"

    def masks() -> list[list[int]]:
        matcher = wb.compile(grammar, VOCABULARY, cache=False).matcher()
        found = []
        for byte in text:
            found.append(sorted(ids_of(mask_of(matcher))))
            assert matcher.accept(byte)
        return found

    usual = masks()
    for name, value in (("ARENA_WORDS", 64), ("TRANSITION_WORDS", 520), ("UNIQUE_SLOTS", 8)):
        monkeypatch.setattr(f"workbench.engine.engine.{name}", value)
    assert masks() == usual
    monkeypatch.setattr(arena, "_COPIED", 1 << 10)
    monkeypatch.setattr(arena, "_limit", lambda: 1 << 20)
    assert masks() == usual


LIMITED = """
import resource, sys
import workbench as wb
from workbench.engine.engine import Engine
vocabulary = wb.Vocabulary.from_bytes([bytes([b]) for b in range(256)] + [b""], 256)
wb.compile(wb.regex("a"), vocabulary).matcher().fill_mask(wb.empty_mask(vocabulary))
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (200 << 20),) * 2)
held = []
try:
    for i in range(500):
        compiled = wb.compile(wb.gbnf(f'root ::= "k{i}" root?'), vocabulary)
        matcher = compiled.matcher()
        matcher.fill_mask(wb.empty_mask(vocabulary))
        assert matcher.accept(ord("k"))
        if sys.argv[1] == "held":
            held.append(compiled)
except wb.GrammarTooComplex as error:
    print(len(held) > 15, error)
else:
    print(i)
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="no /proc here")
@pytest.mark.parametrize("held", ["held", "not held"])
def test_a_process_that_gets_no_more_memory(held: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, held],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    if held == "held":
        assert done.stdout.startswith("True the grammar needs more than")
        assert "bytes of memory for the process" in done.stdout
    else:
        assert done.stdout == "499\n"

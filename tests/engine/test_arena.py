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
from workbench.changes import at_once
from workbench.engine import arena

VOCABULARY = wb.Vocabulary.from_bytes([bytes([byte]) for byte in range(256)] + [b""], 256)


@pytest.mark.parametrize("moving", [True, False])
def test_an_array_gets_twice_the_room(moving: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where pages can be moved, and where they have to be copied."""
    if not moving:
        monkeypatch.setattr(arena, "_can_move", lambda: False)
    array = arena.room_for(arena.ARENA_WORDS, np.int32)
    assert not array.any()
    array[:] = np.arange(array.size)
    most = 9 * arena.ARENA_WORDS
    sizes = []
    while array.size < most:
        before = array
        array, change = arena.longer(array, most)
        if moving:
            assert before[-1] == before.size - 1 or sizes
        at_once(change)
        assert (array[: arena.ARENA_WORDS] == np.arange(arena.ARENA_WORDS)).all()
        assert not array[before.size :].any()
        array[before.size] = 7
        array[before.size] = 0
        sizes.append(array.size)
    assert sizes == [2 * arena.ARENA_WORDS, 4 * arena.ARENA_WORDS, 8 * arena.ARENA_WORDS, most]


@pytest.mark.skipif(not arena._can_move(), reason="pages cannot be moved here")
def test_pages_that_cannot_be_moved_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    """The system refuses, and nothing else of the change is made."""
    array = arena.room_for(arena.ARENA_WORDS, np.int32)
    array[:] = 3
    fresh, change = arena.longer(array, 1 << 30)
    monkeypatch.setattr(arena, "_mremap", lambda: lambda *_: (1 << 64) - 1)
    made: list[int] = []
    with pytest.raises(KeyError):
        at_once(arena._pages_moved(array, fresh), map(made.append, (1,)))
    assert not made and array.all() and not fresh.any()
    at_once(change)
    assert fresh[: array.size].all() and not array.any()


def test_what_is_held_without_need_is_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    tries: list[str] = []

    def make() -> int:
        tries.append("make")
        if tries.count("make") < 2:
            raise MemoryError
        return 5

    monkeypatch.setattr(arena, "_relief", [lambda: tries.append("given back")])
    arena.give_back(np.zeros(arena.ARENA_WORDS, dtype=np.int32), arena.ARENA_WORDS, 5)
    assert arena._kept
    assert arena.with_relief(make) == 5
    assert tries == ["make", "given back", "make"]
    assert not arena._kept

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
    size = arena.ARENA_WORDS
    arena.give_back(np.zeros(2 * size, dtype=np.int32), size, 5)
    arena.give_back(np.zeros(size, dtype=np.int32), size, arena._MOST_USED + 1)
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
    monkeypatch.setattr(arena, "_can_move", lambda: False)
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

"""Eight threads on one compiled grammar see the masks that one thread sees, bit for bit.

Budgets so small that memory grows, is compacted and forgets rows while the threads run.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from random import Random
from threading import Barrier, Thread

import numpy as np
import pytest

import workbench as wb
from tests.engine import samples
from tests.engine.walks import Mask, ids_of, mask_of
from workbench.grammar.ir import Alt, Grammar, Ref, Repeat, Seq

THREADS = 8
STEPS = 150

tightness = pytest.mark.parametrize("tight", [False, True], ids=["roomy", "tight"])


@pytest.fixture(autouse=True)
def _hurried() -> Iterator[None]:
    """Threads take turns often."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def ambiguous() -> Grammar:
    """E -> E E | E + E | (E){1,3} in brackets | letters: stacks of many shapes."""
    e = Ref("E")
    return Grammar(
        {
            "E": Alt(
                (
                    Seq((e, e)),
                    Seq((e, samples.lit("+"), e)),
                    Seq((samples.lit("("), Repeat(e, 1, 3), samples.lit(")"))),
                    Repeat(samples.one_of("abc"), 1, 60),
                )
            )
        },
        "E",
    )


GRAMMARS: dict[str, Callable[[], Grammar]] = {
    "json": samples.generic_json,
    "ambiguous": ambiguous,
    "schema": samples.person_schema,
}


def vocabulary() -> wb.Vocabulary:
    rng = Random(7)
    tokens = [bytes([b]) for b in range(256)]
    letters = '{}[]":, 1a+()\n\\"bc'
    tokens += ["".join(rng.choices(letters, k=rng.randint(2, 5))).encode() for _ in range(400)]
    tokens += [b'{"name": "', b'", "age": ', b', "tags": ["', b', "friend": ']
    return wb.Vocabulary.from_bytes([*tokens, b"</s>"], [len(tokens)])


def compiled(name: str, tight: bool) -> wb.CompiledGrammar:
    """A grammar; with all its memory, or with so little that it is compacted every few steps."""
    limits = wb.Budgets(arena_words=1 << 11, row_bytes=1 << 14) if tight else None
    found = wb.compile(GRAMMARS[name](), vocabulary(), limits, cache=False)
    if tight:
        found.engine._tidy_at = 0  # the first time at once
    return found


@dataclass
class Path:
    """A random text and the mask at every position, the first one included."""

    tokens: list[int] = field(default_factory=list)
    masks: list[Mask] = field(default_factory=list)


def path(grammar: wb.CompiledGrammar, seed: int, matcher: wb.Matcher | None = None) -> Path:
    """Walk at random; ends are not taken."""
    rng, found = Random(seed), Path()
    matcher = matcher or grammar.matcher()
    for _ in range(STEPS):
        found.masks.append(mask_of(matcher))
        options = [i for i in ids_of(found.masks[-1]) if i not in grammar.vocabulary.eos_ids]
        if not options:
            return found
        longer = [i for i in options if i > 255]
        found.tokens.append(rng.choice(longer if longer and rng.random() < 0.7 else options))
        assert matcher.accept(found.tokens[-1])
    found.masks.append(mask_of(matcher))
    return found


def walk(matcher: wb.Matcher, known: Path, at: int, rng: Random) -> None:
    """Go along a known path from a place on it, back now and then, on forks now and then.

    With one array for most masks, as loops have: known masks are looked up in it without the lock.
    """
    own = wb.empty_mask(matcher.vocabulary)
    while True:
        mask = own
        if rng.random() < 0.1:
            mask = mask_of(matcher)
        else:
            matcher.fill_mask(own)
        assert np.array_equal(mask, known.masks[at]), f"after {at} tokens"
        if at == len(known.tokens):
            return
        if rng.random() < 0.05 and at:
            back = rng.randint(1, min(at, matcher.max_rollback, 30))
            matcher.rollback(back)
            at -= back
            continue
        if rng.random() < 0.05:
            matcher = matcher.fork()
        if rng.random() < 0.1:
            taken = matcher.validate(known.tokens[at : at + 4])
            assert taken == len(known.tokens[at : at + 4])
        assert matcher.accept(known.tokens[at]), f"after {at} tokens"
        at += 1
        assert matcher.num_accepted == at


def in_threads(work: Callable[[int], None]) -> None:
    """Run in all threads, begun together; the first failure is raised."""
    together = Barrier(THREADS)

    def begin(number: int) -> None:
        together.wait()
        work(number)

    with ThreadPoolExecutor(THREADS) as pool:
        for done in [pool.submit(begin, number) for number in range(THREADS)]:
            done.result()


@tightness
@pytest.mark.parametrize("name", GRAMMARS)
def test_own_matchers(name: str, tight: bool) -> None:
    alone = compiled(name, tight=False)
    paths = [path(alone, seed) for seed in range(2 * THREADS)]
    shared = compiled(name, tight)

    def work(number: int) -> None:
        rng = Random(number)
        for _ in range(4):
            walk(shared.matcher(), rng.choice(paths), 0, rng)

    in_threads(work)
    if tight:
        assert shared.engine.epoch > 3


@pytest.mark.parametrize("name", GRAMMARS)
def test_compaction_at_any_moment(name: str) -> None:
    """One of the threads does nothing but move everything."""
    alone = compiled(name, tight=False)
    paths = [path(alone, seed) for seed in range(THREADS)]
    shared = compiled(name, tight=False)
    walking = set(range(1, THREADS))

    def work(number: int) -> None:
        rng = Random(number)
        if number == 0:
            while walking:
                shared.engine.compact()
            return
        try:
            for _ in range(2):
                walk(shared.matcher(), rng.choice(paths), 0, rng)
        finally:
            walking.remove(number)

    in_threads(work)


@tightness
@pytest.mark.parametrize("name", GRAMMARS)
def test_forks_of_one_matcher(name: str, tight: bool) -> None:
    """A sequence is prepared in one thread; forks of it go on in all of them."""
    alone = compiled(name, tight=False)
    begun = path(alone, 1)
    half = len(begun.tokens) // 2
    start = alone.matcher()
    assert start.accept_tokens(begun.tokens[:half]) == half
    paths = []
    for seed in range(THREADS):
        rest = path(alone, seed, start.fork())
        paths.append(Path(begun.tokens[:half] + rest.tokens, begun.masks[:half] + rest.masks))
    shared = compiled(name, tight)
    trunk = shared.matcher()
    assert trunk.accept_tokens(begun.tokens[:half]) == half
    forks = [trunk.fork() for _ in range(THREADS)]

    def work(number: int) -> None:
        walk(forks[number], paths[number], half, Random(number))
        for _ in range(3):
            walk(trunk.fork(), paths[number], half, Random(number))

    in_threads(work)
    assert np.array_equal(mask_of(trunk), begun.masks[half])
    trunk.rollback(half)
    assert np.array_equal(mask_of(trunk), begun.masks[0])


@pytest.mark.parametrize("name", GRAMMARS)
def test_first_masks_by_all_at_once(name: str) -> None:
    """Nothing is known yet, and all threads ask for the same."""
    known = path(compiled(name, tight=False), 3)
    shared = compiled(name, tight=False)

    def work(number: int) -> None:
        matcher = shared.matcher()
        for token_id, mask in zip(known.tokens, known.masks, strict=False):
            assert np.array_equal(mask_of(matcher), mask)
            assert matcher.accept(token_id)

    in_threads(work)


def test_known_masks_need_no_lock_unless_somebody_is_at_work() -> None:
    """While another thread holds the lock, as for accepting a token; but not while it swaps arrays."""
    matcher = compiled("json", tight=False).matcher()
    mask, engine = wb.empty_mask(matcher.vocabulary), matcher.compiled.engine
    matcher.fill_mask(mask)
    expected = mask.copy()
    filled = []

    def fill() -> None:
        mask[:] = 0
        matcher.fill_mask(mask)
        filled.append(mask.copy())

    # the first time from the start goes the long way, and remembers where the matcher stands
    fill()
    with engine.lock:
        reader = Thread(target=fill, daemon=True)
        reader.start()
        reader.join(20)
        assert not reader.is_alive()
        with engine.busy:
            waiting = Thread(target=fill, daemon=True)
            waiting.start()
            waiting.join(0.2)
            assert waiting.is_alive()
    waiting.join(20)
    assert not waiting.is_alive()
    assert len(filled) == 3
    assert all(np.array_equal(one, expected) for one in filled)

"""Masks that were stored, forgotten or moved are those of an engine that never forgot anything."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

import workbench as wb
from tests.engine.replay import GRAMMARS, pieces
from tests.engine.walks import Mask, ids_of, mask_of
from workbench.engine.engine import Engine
from workbench.engine.kernels import constants, context
from workbench.grammar.ir import ByteSet, Grammar, Literal, Seq
from workbench.jit import Array

TIGHT = wb.Budgets(arena_words=1 << 17, row_bytes=1 << 13)


def choose(rng: Random, mask: Mask, vocabulary: wb.Vocabulary) -> int | None:
    """A random token, rather a long one; never the end."""
    options = [i for i in ids_of(mask) if i not in vocabulary.eos_ids]
    longer = [i for i in options if i > 255]
    if not options:
        return None
    return rng.choice(longer if longer and rng.random() < 0.8 else options)


@pytest.mark.parametrize("name", GRAMMARS)
def test_stored_and_forgotten_masks_are_the_fresh_ones(name: str) -> None:
    """One engine forgets all the time, one never does, one is made anew for a look on each walk."""
    vocabulary, rng = pieces(), Random(1)
    forgetful = wb.compile(GRAMMARS[name](), vocabulary, TIGHT, cache=False)
    mindful = wb.compile(GRAMMARS[name](), vocabulary, cache=False)
    kept: list[tuple[wb.Matcher, Mask]] = []
    for walk in range(12):
        one, other = forgetful.matcher(), mindful.matcher()
        tokens: list[int] = []
        for at in range(60):
            mask = mask_of(other)
            assert np.array_equal(mask_of(one), mask)
            if at == 5 * walk:
                fresh = wb.compile(GRAMMARS[name](), vocabulary, cache=False).matcher()
                assert fresh.accept_tokens(tokens) == at
                assert np.array_equal(mask_of(fresh), mask)
                kept.append((one.fork(), mask))
            if rng.random() < 0.05:
                forgetful.engine.compact()
            token_id = choose(rng, mask, vocabulary)
            if token_id is None:
                break
            assert one.accept(token_id)
            assert other.accept(token_id)
            tokens.append(token_id)
        back = rng.randint(0, len(tokens))
        one.rollback(back)
        other.rollback(back)
        assert np.array_equal(mask_of(one), mask_of(other))
    for matcher, mask in kept:
        assert np.array_equal(mask_of(matcher), mask)
    assert forgetful.engine.epoch > 3


def test_masks_that_are_forgotten_come_again() -> None:
    """Room for a few masks only: every mask of a long text is stored, forgotten and computed once more."""
    vocabulary, rng = pieces(), Random(2)
    sets = tuple(ByteSet(rng.getrandbits(256) | 1 << ord("a")) for _ in range(1500))
    grammar = Grammar({"root": Seq(sets)}, "root")
    matcher = wb.compile(grammar, vocabulary, wb.Budgets(row_bytes=1 << 13), cache=False).matcher()
    tokens = [ord("a")] * len(sets)
    masks = []
    for token_id in tokens:
        masks.append(mask_of(matcher))
        assert matcher.accept(token_id)
    before = matcher.stats()["mask_misses"]
    for _ in range(2):
        for at in range(len(tokens) - 1, -1, -1):
            matcher.rollback(1)
            assert np.array_equal(mask_of(matcher), masks[at])
        assert matcher.accept_tokens(tokens) == len(tokens)
    assert matcher.stats()["mask_misses"] > before, "nothing had been forgotten"
    assert matcher.stats()["evictions"] == 0


def test_a_thousand_different_masks_are_all_kept() -> None:
    """More masks than the store has room for at first: it grows, and gives back what was put in."""
    tokens = [n.to_bytes(2, "big") for n in range(1200)] + [b""]
    vocabulary = wb.Vocabulary.from_bytes(tokens, len(tokens) - 1)
    text = Literal(b"".join(tokens))
    matcher = wb.compile(Grammar({"root": text}, "root"), vocabulary).matcher()
    for _ in range(2):
        for n in range(1200):
            assert matcher.allowed_ids().tolist() == [n]
            assert matcher.accept(n)
        matcher.rollback(1200)
    assert matcher.stats()["masks"] >= 1200


def test_going_back_finds_room_where_others_took_it() -> None:
    """A position that is worked out again, in an arena that a refused token of another sequence has filled."""
    tokens = [bytes([byte]) for byte in range(256)] + [b"ab" * 9000 + b"c" * 9000, b"a" * 300, b""]
    vocabulary = wb.Vocabulary.from_bytes(tokens, 258)
    grammar = wb.gbnf('root ::= "q"* [a-z]{1000000}')
    compiled = wb.compile(grammar, vocabulary, wb.Budgets(arena_words=3000), cache=False)
    one, other = compiled.matcher(), compiled.matcher()
    for byte in b"abcdef":
        assert one.accept(byte)
    while compiled.engine.epoch == 0:
        assert other.accept(257)
    with pytest.raises(wb.GrammarTooComplex):
        other.accept(256)
    one.rollback(1)
    assert one.token_ids == list(b"abcde")
    assert ord("f") in one.allowed_ids()


def check_table(ctx: context.Context) -> None:
    """What kernels read is where the arrays are that Python sees."""
    for name, kind in context.context_type.fields.items():
        i = context.context_type.places[name]
        here, value = ctx._words[2 * i : 2 * i + 2].tolist(), getattr(ctx, name)
        if not isinstance(kind, Array):
            assert here == [value, 0], name
        else:
            assert here[1] == value.size, name
            assert here[0] == value.ctypes.data or not value.size, name
            assert value.dtype.name == kind.element, name
            assert value.flags.c_contiguous, name


def test_a_budget_that_is_used_up_leaves_the_kernels_with_the_arrays_there_are() -> None:
    vocabulary = wb.Vocabulary.from_bytes([*(bytes([byte]) for byte in range(256)), b""], 256)
    limits = wb.Budgets(arena_words=100_000)
    compiled = wb.compile(wb.gbnf('root ::= "a" [a-z]* "b"'), vocabulary, limits, cache=False)
    engine = compiled.engine
    used, dfa_states = int(engine.count[constants.USED]), int(engine.count[constants.DFA_STATES])
    sizes = [engine.ctx.arena.size]

    def grow_while_there_is_room() -> None:
        for _ in range(10):
            engine.count[constants.USED] = int(0.8 * engine.ctx.arena.size)
            full = int(0.8 * engine.ctx.transitions.size / engine.stride)
            engine.count[constants.DFA_STATES] = full
            engine._grow()
            sizes.append(engine.ctx.arena.size)

    with pytest.raises(wb.GrammarTooComplex, match="arena words"):
        grow_while_there_is_room()
    assert sizes == [1 << 16, 1 << 17, 1 << 18, 400_000]
    engine.count[constants.USED], engine.count[constants.DFA_STATES] = used, dfa_states
    check_table(engine.ctx)
    assert compiled.matcher().accept(ord("a"))


@pytest.mark.parametrize("late", [False, True], ids=["before masks go", "after they went"])
def test_an_interrupted_compaction_changes_nothing(
    late: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    vocabulary = wb.Vocabulary.from_bytes([*(bytes([byte]) for byte in range(256)), b""], 256)
    compiled = wb.compile(wb.gbnf('root ::= "(" root ")" | [a-z]+'), vocabulary, cache=False)
    matcher = compiled.matcher()
    for byte in b"(((ab":
        assert matcher.accept(byte)
    expected = matcher.allowed_ids().tolist()

    drop = Engine._drop_masks

    def interrupted(engine: Engine, ctx: context.Context) -> None:
        if late:
            drop(engine, ctx)
        raise KeyboardInterrupt

    engine, stored = compiled.engine, compiled.engine.ctx.masks
    with monkeypatch.context() as patched:
        patched.setattr(Engine, "_drop_masks", interrupted)
        with pytest.raises(KeyboardInterrupt):
            engine.compact()
    assert engine.ctx.masks is stored
    check_table(engine.ctx)
    assert (engine.epoch, engine.count[constants.EPOCH], engine.count[constants.BUSY]) == (0, 0, 0)
    assert matcher.allowed_ids().tolist() == expected
    compiled.engine.compact()
    assert matcher.allowed_ids().tolist() == expected
    for byte in b")))":
        assert matcher.accept(byte)
    assert matcher.is_accepting
    matcher.rollback(4)
    assert matcher.accept(ord("z"))

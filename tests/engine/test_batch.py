"""Batches: the same masks, fates and ways back as one matcher at a time."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

import workbench as wb
from tests.engine.walks import ids_of, mask_of
from workbench.automaton.budgets import Budgets

TOKENS = [bytes([b]) for b in b'{}[]",:0123456789abc ()+n'] + [
    b'{"',
    b'":',
    b"ab",
    b"12",
    b"((",
    b"",
]
EOS = len(TOKENS) - 1
VOCABULARY = wb.Vocabulary.from_bytes(TOKENS, EOS, width=len(TOKENS) + 40)
NESTED = 'root ::= "(" root ")" | root "+" root | "n"'
ITEMS = 'root ::= "[" (item ("," item)*)? "]"\nitem ::= [0-9]+ | root'


def compiled(*texts: str, budgets: Budgets | None = None) -> list[wb.CompiledGrammar]:
    return [wb.compile(wb.gbnf(text), VOCABULARY, budgets) for text in texts]


def run(grammars: list[wb.CompiledGrammar], n: int, steps: int, seed: int) -> None:
    """Random walks of a batch beside lone matchers."""
    rng = Random(seed)
    batch = [grammars[i % len(grammars)].matcher() for i in range(n)]
    alone = [matcher.fork() for matcher in batch]
    mask = wb.empty_mask(VOCABULARY, n + 2)
    mask[n:] = 7
    for _ in range(steps):
        wb.fill_masks(batch, mask)
        tokens = []
        for i, one in enumerate(alone):
            assert np.array_equal(mask[i], mask_of(one)), i
            allowed = ids_of(mask[i])
            tokens.append(
                rng.choice(allowed) if allowed and rng.random() < 0.9 else rng.randrange(32)
            )
        assert (mask[n:] == 7).all()
        took = wb.accept_all(batch, tokens)
        assert took.tolist() == [
            one.accept(token) for one, token in zip(alone, tokens, strict=True)
        ]
        if rng.random() < 0.3:
            counts = [rng.randint(0, min(3, one.max_rollback)) for one in alone]
            wb.rollback_all(batch, counts)
            for one, count in zip(alone, counts, strict=True):
                one.rollback(count)
        if rng.random() < 0.2:
            batch = wb.fork_all(batch)
        for one, other in zip(batch, alone, strict=True):
            assert one.token_ids == other.token_ids
            assert (one.num_accepted, one.is_terminated) == (
                other.num_accepted,
                other.is_terminated,
            )


@pytest.mark.parametrize("n", [1, 7, 256])
def test_one_grammar(n: int) -> None:
    run(compiled(NESTED), n, 25 if n < 100 else 6, n)


def test_several_grammars() -> None:
    run(compiled(NESTED, ITEMS, 'root ::= "a"+ "b"'), 9, 25, 5)


def test_an_arena_that_is_compacted_on_the_way() -> None:
    grammars = compiled(NESTED, budgets=Budgets(arena_words=3_000))
    run(grammars, 16, 60, 3)
    assert grammars[0].engine.epoch > 0


def test_torch_tensors_and_wider_rows() -> None:
    torch = pytest.importorskip("torch")
    batch = [compiled(ITEMS)[0].matcher() for _ in range(3)]
    width = len(wb.empty_mask(VOCABULARY))
    mask = torch.full((3, width + 2), -1, dtype=torch.int32)
    wb.fill_masks(batch, mask)
    for i in range(3):
        assert np.array_equal(mask[i, :width].numpy(), mask_of(batch[i]))
        assert not mask[i, width:].any()


def test_what_does_not_fit_is_refused() -> None:
    batch = [compiled(ITEMS)[0].matcher() for _ in range(3)]
    for bad in (
        wb.empty_mask(VOCABULARY, 2),
        wb.empty_mask(VOCABULARY),
        np.zeros((3, 1), np.int32),
        wb.empty_mask(VOCABULARY, 6)[::2],
    ):
        with pytest.raises(ValueError, match="mask"):
            wb.fill_masks(batch, bad)
    with pytest.raises(ValueError, match="3 matchers and 2 tokens"):
        wb.accept_all(batch, [1, 2])
    with pytest.raises(wb.WrongType, match="not a float"):
        wb.accept_all(batch, [2, 2, 0.9])
    with pytest.raises(wb.VocabularyError, match="is not in"):
        wb.accept_all(batch, [2, 2, 1 << 70])
    with pytest.raises(ValueError, match="3 matchers and 2 numbers"):
        wb.rollback_all(batch, [0, 0])
    assert [one.num_accepted for one in batch] == [0, 0, 0]
    assert wb.accept_all(batch, np.array([2, 2, 0], np.uint8)).tolist() == [True, True, False]
    with pytest.raises(ValueError, match="cannot take back 1"):
        wb.rollback_all(batch)
    assert [one.num_accepted for one in batch] == [1, 1, 0]
    wb.fill_masks([], wb.empty_mask(VOCABULARY, 0))

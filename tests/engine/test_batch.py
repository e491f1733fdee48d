"""Batches: the same masks, fates and ways back as one matcher at a time."""

from __future__ import annotations

from random import Random
from typing import Any

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


def letters(text: str, **more: Any) -> wb.CompiledGrammar:
    vocabulary = wb.Vocabulary.from_bytes([*(bytes([b]) for b in range(256)), b"a" * 300, b""], 257)
    return wb.compile(wb.gbnf(text), vocabulary, cache=False, **more)


def test_matchers_of_different_vocabularies_share_no_mask() -> None:
    """Also of one width: the ids of a row mean nothing then."""
    tokens = [bytes([b]) for b in range(256)]
    one = wb.Vocabulary.from_bytes([*tokens, b""], 256)
    other = wb.Vocabulary.from_bytes([*tokens[::-1], b""], 256)
    grammar = wb.gbnf('root ::= "a"')
    matchers = [wb.compile(grammar, v, cache=False).matcher() for v in (one, other)]
    rows = wb.empty_mask(one, 2)
    rows[:] = 7
    with pytest.raises(ValueError, match=r"one vocabulary: matcher 0 .* matcher 1 another"):
        wb.fill_masks(matchers, rows)
    assert (rows == 7).all()
    same = wb.compile(wb.gbnf('root ::= "b"'), wb.Vocabulary.from_bytes([*tokens, b""], 256))
    wb.fill_masks([matchers[0], same.matcher()], rows)
    assert np.flatnonzero(np.unpackbits(rows.view(np.uint8), axis=1, bitorder="little")[1]) == [98]


@pytest.mark.parametrize("engines", [1, 2])
def test_accept_all_moves_all_or_none(engines: int) -> None:
    """The second matcher's token is more work than its budget allows, the third's id is none."""
    text = 'root ::= [a-z]* | ([a-z] [a-z])* "x"'
    grammars = [letters(text, budgets=wb.Budgets(step_work=80)) for _ in range(engines)]
    matchers = [grammars[i % engines].matcher() for i in range(4)]
    assert wb.accept_all(matchers, list(b"abcd")).tolist() == [True] * 4
    for tokens, error in (
        ([97, 97, 99_999, 97], wb.VocabularyError),
        ([97, 97, "a", 97], wb.WrongType),
        ([97, 97, 1 << 80, 97], wb.VocabularyError),
    ):
        with pytest.raises(error):
            wb.accept_all(matchers, tokens)
        assert [one.token_ids for one in matchers] == [[97], [98], [99], [100]]
    assert wb.accept_all(matchers, [97, 0, 257, 97]).tolist() == [True, False, True, True]
    assert [one.num_accepted for one in matchers] == [2, 1, 2, 2]
    assert [one.is_terminated for one in matchers] == [False, False, True, False]
    assert not np.any([one.allowed_ids().size for one in matchers[2:3]])
    wb.rollback_all(matchers, [1, 0, 1, 1])
    assert [one.token_ids for one in matchers] == [[97], [98], [99], [100]]


def test_a_matcher_cannot_go_on_twice_at_once() -> None:
    matcher = letters('root ::= "abc"').matcher()
    with pytest.raises(ValueError, match="comes twice"):
        wb.accept_all([matcher, matcher], [97, 98])
    assert matcher.token_ids == []


def test_accept_all_ends_where_a_budget_ends() -> None:
    """The first matcher has gone on already, in the same call of the kernel, when the second one cannot."""
    tokens = [bytes([byte]) for byte in range(256)] + [b"ab" * 9000 + b"c" * 9000, b""]
    compiled = wb.compile(
        wb.gbnf('root ::= "q"* [a-z]{1000000}'),
        wb.Vocabulary.from_bytes(tokens, 257),
        wb.Budgets(arena_words=3000),
        cache=False,
    )
    matchers = [compiled.matcher() for _ in range(3)]
    assert wb.accept_all(matchers, [97] * 3).all()
    with pytest.raises(wb.GrammarTooComplex):
        wb.accept_all(matchers, [97, 256, 98])
    assert [one.token_ids for one in matchers] == [[97]] * 3
    assert wb.accept_all(matchers, [97, 98, 98]).all()
    assert all(97 in one.allowed_ids() for one in matchers)

"""Masks written to the same place again and again: arrays, tensors, rows of batches, rows that are wider."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import workbench as wb

TOKENS = [bytes([b]) for b in range(128)] + [b"ab", b"</s>"]
VOCABULARY = wb.Vocabulary.from_bytes(TOKENS, [129])
#: which tokens may come after how much of the text, by hand
GRAMMAR = 'root ::= "a" [bc] "d"*'
TEXT = b"acddd"
ALLOWED = [{ord("a"), 128}, {ord("b"), ord("c")}, *[{ord("d"), 129}] * 4]


def tensor(array: Any) -> Any:
    return pytest.importorskip("torch").from_numpy(array)


def bits(row: Any) -> set[int]:
    words = np.asarray(row).view(np.uint8)
    return set(np.flatnonzero(np.unpackbits(words, bitorder="little")).tolist())


def matcher() -> wb.Matcher:
    return wb.compile(wb.gbnf(GRAMMAR), VOCABULARY, cache=False).matcher()


@pytest.mark.parametrize("wrap", [np.asarray, tensor], ids=["array", "tensor"])
@pytest.mark.parametrize("more", [0, 3])
@pytest.mark.parametrize("row", [None, 0, 1, 2, -1])
def test_the_same_place_all_along_a_text(
    wrap: Callable[[Any], Any], more: int, row: int | None
) -> None:
    words = wb.empty_mask(VOCABULARY).size + more
    array = np.full((words,) if row is None else (3, words), -1, dtype=np.int32)
    mask = wrap(array)
    here = array if row is None else array[row]
    one = matcher()
    for turn in range(3):  # the later ones find every mask
        for token, allowed in zip([*TEXT, None], ALLOWED, strict=True):
            for _ in range(2):
                array[...] = -1
                one.fill_mask(mask, row or 0)
                assert bits(here) == allowed
                if row is not None:
                    others = np.delete(array, row, axis=0)
                    assert (others == -1).all()
            if token is not None:
                assert one.accept(token)
        if turn == 0:
            one.rollback(len(TEXT))
        else:
            assert one.accept(129)
            one.fill_mask(mask, row or 0)
            assert bits(here) == set()
            one.reset()


@pytest.mark.parametrize("wrap", [np.asarray, tensor], ids=["array", "tensor"])
def test_places_in_turn(wrap: Callable[[Any], Any]) -> None:
    arrays = [np.full_like(wb.empty_mask(VOCABULARY, 2), -1) for _ in range(2)]
    masks = [wrap(array) for array in arrays]
    one = matcher()
    for token, allowed in zip([*TEXT, None], ALLOWED, strict=True):
        for array, mask in zip(arrays, masks, strict=True):
            for row in (0, 1, 1, 0):
                array[...] = 0
                one.fill_mask(mask, row)
                assert bits(array[row]) == allowed
                assert bits(array[1 - row]) == set()
        if token is not None:
            one.accept(token)


@pytest.mark.parametrize("wrap", [np.asarray, tensor], ids=["array", "tensor"])
def test_forks_and_renumbered_positions(wrap: Callable[[Any], Any]) -> None:
    array = wb.empty_mask(VOCABULARY)
    mask = wrap(array)
    one = matcher()
    one.fill_mask(mask)
    one.accept(ord("a"))
    other = one.fork()
    one.accept(ord("b"))
    one.compiled.engine.compact()
    for each, allowed in ((other, ALLOWED[1]), (one, ALLOWED[2]), (other, ALLOWED[1])):
        each.fill_mask(mask)
        each.fill_mask(mask)
        assert bits(array) == allowed
        one.compiled.engine.compact()


def change_data(torch: Any, mask: Any) -> None:
    mask.data = torch.zeros_like(mask)


def change_storage(torch: Any, mask: Any) -> None:
    mask.set_(torch.zeros_like(mask))


@pytest.mark.parametrize("change", [change_data, change_storage])
@pytest.mark.parametrize("row", [0, 1])
def test_a_tensor_that_was_given_other_memory(change: Callable[[Any, Any], None], row: int) -> None:
    torch = pytest.importorskip("torch")
    before = np.zeros_like(wb.empty_mask(VOCABULARY, 2))
    mask = torch.from_numpy(before)
    one = matcher()
    for _ in range(2):
        one.fill_mask(mask, row)
    before[...] = 0
    change(torch, mask)
    for _ in range(2):
        one.fill_mask(mask, row)
        assert bits(mask[row].numpy()) == ALLOWED[0]
        assert bits(before) == set()


def test_a_tensor_that_became_too_small_or_of_another_type() -> None:
    torch = pytest.importorskip("torch")
    mask = torch.zeros(wb.empty_mask(VOCABULARY).size, dtype=torch.int32)
    one = matcher()
    one.fill_mask(mask)
    mask.resize_(1)
    with pytest.raises(ValueError, match="the mask needs 5 contiguous words a row"):
        one.fill_mask(mask)
    mask = torch.zeros(wb.empty_mask(VOCABULARY).size, dtype=torch.int32)
    one.fill_mask(mask)
    mask.data = torch.zeros(wb.empty_mask(VOCABULARY).size, dtype=torch.int64)
    with pytest.raises(ValueError, match="a mask has int32 words"):
        one.fill_mask(mask)


def test_the_memory_of_the_last_mask_lives() -> None:
    """A tensor whose memory was exchanged leaves nothing behind that could be written to."""
    torch = pytest.importorskip("torch")
    one = matcher()
    mask = torch.zeros(wb.empty_mask(VOCABULARY).size, dtype=torch.int32)
    one.fill_mask(mask)
    mask.data = torch.zeros(0, dtype=torch.int32)
    for _ in range(3):
        with pytest.raises(ValueError, match="the mask needs"):
            one.fill_mask(mask)


@pytest.mark.parametrize("wrap", [list, tuple, np.array], ids=["list", "tuple", "array"])
def test_accept_all_of_one_sequence(wrap: Callable[[Any], Any]) -> None:
    one = matcher()
    for token, expected in ((ord("b"), False), (ord("a"), True), (129, False), (ord("c"), True)):
        before = one.token_ids
        answer = wb.accept_all([one], wrap([token]))
        assert answer.dtype == np.bool_
        assert answer.tolist() == [expected]
        answer[0] = not expected  # the caller's own
        assert one.token_ids == before + [token] * expected
    assert wb.accept_all((one,), wrap([129])).tolist() == [True]
    assert one.is_terminated
    assert wb.accept_all([one], wrap([ord("d")])).tolist() == [False]


def test_accept_all_of_one_sequence_refuses_what_is_no_token() -> None:
    one = matcher()
    with pytest.raises(wb.WrongType, match="accept_all takes a token id for each matcher"):
        wb.accept_all([one], ["a"])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="1 matcher and 2 tokens"):
        wb.accept_all([one], [97, 97])
    with pytest.raises(wb.VocabularyError):
        wb.accept_all([one], [1 << 70])
    with pytest.raises(wb.WrongType):
        wb.accept_all([3], [97])  # type: ignore[list-item]
    assert one.token_ids == []

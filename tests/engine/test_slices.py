"""Slices: which one a run of characters gets, and how long runs are."""

from __future__ import annotations

from itertools import groupby
from random import Random

from hypothesis import given, strategies as st

import workbench as wb
from tests.engine.walks import ids_of, mask_of
from workbench.engine.slices import Slices, slices_of

LETTERS = sum(1 << byte for byte in b"abcdefghijklmnopqrstuvwxyz")
OWN = LETTERS | 1 << ord("-") | 1 << ord("_")


def tokens_of(seed: int, count: int, alphabet: str) -> list[bytes]:
    rng = Random(seed)
    made = {"".join(rng.choices(alphabet, k=rng.randint(1, 7))) for _ in range(count)}
    return [*sorted(token.encode() for token in made), b""]


@given(
    st.lists(st.binary(min_size=1, max_size=9), min_size=1, max_size=40),
    st.integers(0, 2**256 - 1),
)
def test_longest_runs(tokens: list[bytes], alphabet: int) -> None:
    slices = Slices(wb.Vocabulary.from_bytes([*tokens, b""], len(tokens)))
    runs = (
        len(list(run))
        for token in tokens
        for inside, run in groupby(token, lambda byte: alphabet >> byte & 1)
        if inside
    )
    assert slices.longest_run(alphabet) == max(runs, default=0)


def test_longest_runs_of_many_tokens() -> None:
    """More tokens than are looked at in one go, the longest ones without the byte that counts."""
    tokens = [b"y" * 20 + b"%d" % i for i in range(1500)] + [b"xx", b"axxxb", b"xxyx"]
    slices = Slices(wb.Vocabulary.from_bytes([*tokens, b""], len(tokens)))
    assert slices.longest_run(1 << ord("x")) == 3
    assert slices.longest_run(1 << ord("y")) == 20
    assert slices.longest_run(1 << ord("z")) == 0


def test_a_set_gets_its_own_slice_when_walks_have_cost_as_much() -> None:
    tokens = tokens_of(1, 3000, "abcde-_ 9")
    slices = Slices(wb.Vocabulary.from_bytes(tokens, len(tokens) - 1))
    smaller = slices.best(OWN, False)
    assert smaller is slices.best(LETTERS, False)
    assert smaller is not None
    slices.walked(OWN, False, len(slices.trie))
    assert slices.best(OWN, False) is smaller
    slices.walked(OWN, False, 1)
    own = slices.best(OWN, False)
    assert own is not None
    assert own.n_inside == sum(all(OWN >> byte & 1 for byte in token) for token in tokens if token)
    assert own.n_inside > smaller.n_inside
    assert slices.best(OWN, False) is own
    assert slices.best(1 << ord("a"), False) is None


def test_masks_are_the_same_with_any_slice() -> None:
    """A new engine each time, so that each mask is computed: with a smaller slice, then with their own."""
    tokens = tokens_of(2, 4000, 'abcexyz-_"9 é')
    vocabulary = wb.Vocabulary.from_bytes(tokens, len(tokens) - 1)
    slices = slices_of(vocabulary)
    common = len(slices._made)
    expected = []
    for token_id, token in enumerate(tokens[:-1]):
        head, quote, tail = token.partition(b'"')
        if all(OWN >> byte & 1 for byte in head) and (not quote or tail in (b"", b"9")):
            expected.append(token_id)
    n_made = []
    for _ in range(30):
        matcher = wb.compile(wb.regex('"[a-z_-]*"9?'), vocabulary, cache=False).matcher()
        assert matcher.accept(tokens.index(b'"'))
        assert ids_of(mask_of(matcher)) == expected
        n_made.append(len(slices._made) - common)
    assert n_made[0] == 0
    assert n_made[-1] == 1

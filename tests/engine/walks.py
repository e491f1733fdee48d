"""Walks of a matcher along random texts with everything compared at every step.

:func:`compare` takes a case through all that a matcher can do, against the oracle, bit for bit.
"""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

import numpy as np
from numpy.typing import NDArray

import workbench as wb
from tests.engine.census import CENSUS
from tests.engine.grammars import Case
from tests.oracle import Oracle

Mask = NDArray[np.int32]

STEPS = 14
MOST_BYTES = 30


class WrongMask(AssertionError):
    """A mask that is not the oracle's: ids that are missing, and ids that should not be there."""

    def __init__(self, prefix: bytes, missing: list[int], extra: list[int]) -> None:
        super().__init__(f"after {prefix!r}: missing ids {missing}, extra ids {extra}")
        self.prefix = prefix
        self.missing = missing
        self.extra = extra


def packed(ids: Iterable[int], width: int) -> Mask:
    """The mask row with exactly these bits."""
    row = np.zeros((width + 31) // 32 * 32, np.uint8)
    row[list(ids)] = 1
    return np.packbits(row, bitorder="little").view("<i4").astype(np.int32)


def mask_of(matcher: wb.Matcher) -> Mask:
    """The matcher's mask, filled into a row full of rubbish."""
    row = np.full((matcher.vocabulary.width + 31) // 32, 0x5A5A5A5A, np.int32)
    try:
        matcher.fill_mask(row)
    except wb.GrammarTooComplex:
        assert (row == 0x5A5A5A5A).all(), "a refused mask was written to"
        raise
    return row


def ids_of(mask: Mask) -> list[int]:
    """The ids whose bits are set."""
    return np.flatnonzero(np.unpackbits(mask.view(np.uint8), bitorder="little")).tolist()


def check_position(matcher: wb.Matcher, oracle: Oracle, prefix: bytes) -> list[int]:
    """Compare mask, acceptance and the fate of every single id; returns the allowed ids."""
    width = matcher.vocabulary.width
    allowed = oracle.allowed(prefix)
    expected = packed(allowed, width)
    found = mask_of(matcher)
    ids = set(ids_of(found))
    if ids != allowed:
        raise WrongMask(prefix, sorted(allowed - ids), sorted(ids - allowed))
    assert np.array_equal(found, expected)
    CENSUS.masks += 1
    assert matcher.is_accepting == oracle.complete(prefix)
    assert not matcher.is_terminated
    for token_id in range(width):
        check_accept(matcher, oracle, prefix, token_id, token_id in allowed, expected)
    assert np.array_equal(mask_of(matcher), expected)
    return sorted(allowed)


def check_accept(
    matcher: wb.Matcher, oracle: Oracle, prefix: bytes, token_id: int, allowed: bool, mask: Mask
) -> None:
    """One id on a fork: accepted iff allowed; refused without a trace; nothing after an end."""
    fork = matcher.fork()
    assert fork.accept(token_id) == allowed, f"id {token_id} after {prefix!r}"
    if not allowed:
        assert fork.num_accepted == matcher.num_accepted
        assert fork.is_accepting == matcher.is_accepting
        assert np.array_equal(mask_of(fork), mask)
    elif token_id in oracle.eos_ids:
        assert fork.is_terminated
        assert not mask_of(fork).any()
        assert not any(fork.accept(i) for i in range(fork.vocabulary.width))
        fork.rollback(1)
        assert not fork.is_terminated
        assert np.array_equal(mask_of(fork), mask)
    else:
        assert not fork.is_terminated
        assert fork.num_accepted == matcher.num_accepted + 1


def choose(rng: Random, oracle: Oracle, allowed: list[int], mode: str) -> int | None:
    """The next token of a walk: any, or rather brackets, or rather long ones; never an end."""
    options = [i for i in allowed if i not in oracle.eos_ids]
    if not options:
        return None
    if mode == "deep" and rng.random() < 0.7:
        options = [i for i in options if b"(" in oracle.tokens[i]] or options
    if mode == "long" and rng.random() < 0.7:
        options = sorted(options, key=lambda i: -len(oracle.tokens[i]))[:2]
    return rng.choice(options)


def depth_of(matcher: wb.Matcher) -> int:
    return max((len(stack) - 1 for stack in matcher.stacks()), default=0)


class Walk:
    """One walk: the tokens taken and the mask at every position, the first one included."""

    def __init__(self, case: Case, oracle: Oracle, rng: Random) -> None:
        self.case = case
        self.oracle = oracle
        self.rng = rng
        self.tokens: list[int] = []
        self.masks: list[Mask] = []

    def text(self) -> bytes:
        return b"".join(self.oracle.tokens[i] for i in self.tokens)

    def forward(self, matcher: wb.Matcher, steps: int, most_bytes: int, mode: str) -> None:
        """Take up to so many steps, everything checked at each."""
        for _ in range(steps + 1):
            prefix = self.text()
            allowed = check_position(matcher, self.oracle, prefix)
            assert allowed, f"dead end after {prefix!r}"
            if len(self.masks) == len(self.tokens):
                self.masks.append(mask_of(matcher))
            token = choose(self.rng, self.oracle, allowed, mode)
            if token is None or len(prefix) > most_bytes or len(self.tokens) >= steps:
                return
            assert matcher.accept(token)
            self.tokens.append(token)
            if self.rng.random() < 0.05:
                matcher.compiled.engine.compact()
            CENSUS.step(depth_of(matcher))

    def back(self, matcher: wb.Matcher, steps: int) -> None:
        """Roll back and compare with the mask that was there."""
        matcher.rollback(steps)
        if steps:
            del self.tokens[-steps:], self.masks[-steps:]
        assert matcher.num_accepted == len(self.tokens)
        assert np.array_equal(mask_of(matcher), self.masks[-1])
        assert matcher.is_accepting == self.oracle.complete(self.text())

    def drafts(self, matcher: wb.Matcher) -> None:
        """``validate`` and ``accept_tokens`` count what the oracle allows, in a random draft."""
        draft = [self.rng.randrange(matcher.vocabulary.width) for _ in range(2)]
        live = [i for i in ids_of(mask_of(matcher)) if i not in self.oracle.eos_ids]
        if live:
            draft.insert(0, self.rng.choice(live))
        expected, prefix = 0, self.text()
        for token_id in draft:
            if token_id not in self.oracle.allowed(prefix):
                break
            expected += 1
            if token_id in self.oracle.eos_ids:
                break
            prefix += self.oracle.tokens[token_id]
        assert matcher.validate(draft) == expected
        assert matcher.num_accepted == len(self.tokens)
        fork = matcher.fork()
        assert fork.accept_tokens(draft) == expected
        assert fork.num_accepted == len(self.tokens) + expected

    def replay(self, matcher: wb.Matcher, skip: float) -> None:
        """The same tokens on another matcher give the same masks, whichever of them are asked for."""
        for i, mask in enumerate(self.masks):
            if self.rng.random() >= skip:
                assert np.array_equal(mask_of(matcher), mask)
            if i < len(self.tokens):
                assert matcher.accept(self.tokens[i])


def compare(case: Case, oracle: Oracle) -> None:
    """Three walks with a fork, a way back and three replays each."""
    compiled = wb.compile(case.grammar, case.vocabulary(), case.limits(), cache=False)
    rng = Random(case.seed)
    matcher = compiled.matcher()
    for mode in ("any", "deep", "long"):
        walk = Walk(case, oracle, rng)
        walk.forward(matcher, STEPS, MOST_BYTES, mode)
        walk.drafts(matcher)

        walk.back(matcher, rng.randint(0, min(5, len(walk.tokens))))
        branch = matcher.fork()
        other = Walk(case, oracle, rng)
        other.tokens, other.masks = list(walk.tokens), list(walk.masks)
        walk.forward(matcher, STEPS, MOST_BYTES, "any")
        other.forward(branch, STEPS, MOST_BYTES, "deep")
        while walk.tokens:
            walk.back(matcher, rng.randint(1, min(4, len(walk.tokens))))
        assert matcher.num_accepted == 0

        other.replay(compiled.matcher(), skip=0.3)
        branch.reset()
        other.replay(branch, skip=0.0)
        again = wb.compile(case.grammar, case.vocabulary(), case.limits(), cache=False)
        other.replay(again.matcher(), skip=0.6)

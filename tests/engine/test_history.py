"""Histories against plain lists: push, pop, fork and forget in any order."""

from __future__ import annotations

from itertools import pairwise
from random import Random
from weakref import WeakSet

import pytest

import workbench as wb
from workbench.engine.history import History


def replay(position: int, token_id: int) -> int:
    """Tokens lead from a position to the sum of both."""
    return position + token_id


@pytest.mark.parametrize("keep", [None, 0, 1, 5])
@pytest.mark.parametrize("seed", range(12))
def test_histories_are_lists(seed: int, keep: int | None) -> None:
    rng = Random(seed)
    registry: WeakSet = WeakSet()
    pairs = [(History(registry, 0, keep, replay), [0])]
    for number in range(1, 200):
        history, model = rng.choice(pairs)
        action = rng.random()
        if action < 0.55:
            history.push(model[-1] + 2 * number, 2 * number)
            model.append(model[-1] + 2 * number)
        elif action < 0.8:
            n = rng.randint(0, min(history.length, 6))
            history.pop(n)
            del model[len(model) - n :]
        elif action < 0.85:
            n = rng.randint(0, history.length)
            history.pop(n)
            del model[len(model) - n :]
        elif len(pairs) < 12:
            pairs.append((history.fork(), list(model)))
        for other, expected in pairs:
            assert other.top == expected[-1]
            assert other.length >= (
                len(expected) - 1 if keep is None else min(keep, len(expected) - 1, 0)
            )
            tokens = other.last_tokens(other.length)
            differences = [after - before for before, after in pairwise(expected)]
            assert tokens == differences[len(differences) - len(tokens) :]
            probe = other.fork()
            for back in range(min(other.length, 9) + 1):
                assert probe.top == expected[-1 - back]
                if back < other.length:
                    probe.pop(1)
    if keep is None:
        assert all(other.length == len(expected) - 1 for other, expected in pairs)


def test_what_may_be_taken_back_is_kept() -> None:
    history = History(WeakSet(), 0, 4, replay)
    for number in range(1, 200):
        history.push(number, 1)
        assert history.length >= min(number, 4)
        assert history.length < 40
    history.pop(4)
    assert history.top == 195


def test_eight_bytes_a_token() -> None:
    registry: WeakSet = WeakSet()
    history = History(registry, 0, None, replay)
    for number in range(1, 100_001):
        history.push(number, 1)
    (segment,) = registry
    stored = [len(one) * one.itemsize for one in (segment.positions, segment.tokens)]
    assert sum(stored) <= 8 * 100_000 + 24
    history.pop(33_333)
    assert history.top == 66_667
    assert history.length == 66_667


def test_what_cannot_be_worked_out_again_changes_nothing() -> None:
    def refuse(position: int, token_id: int) -> int:
        raise wb.GrammarTooComplex("stack entries in one call", 1)

    history = History(WeakSet(), 0, None, refuse)
    for number in range(1, 8):
        history.push(number, 1)
    history.pop(1)
    assert history.top == 6
    with pytest.raises(wb.GrammarTooComplex):
        history.pop(1)
    assert (history.top, history.length) == (6, 6)
    history.pop(2)
    assert (history.top, history.length) == (4, 4)

"""Histories against plain lists: push, pop, fork and forget in any order."""

from __future__ import annotations

from random import Random
from weakref import WeakSet

import pytest

from workbench.engine.history import History


@pytest.mark.parametrize("keep", [None, 0, 1, 5])
@pytest.mark.parametrize("seed", range(12))
def test_histories_are_lists(seed: int, keep: int | None) -> None:
    rng = Random(seed)
    registry: WeakSet = WeakSet()
    pairs = [(History(registry, 0, keep), [0])]
    for number in range(1, 200):
        history, model = rng.choice(pairs)
        action = rng.random()
        if action < 0.55:
            history.push(number, 2 * number)
            model.append(number)
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
            kept = other.last(other.length + 1)
            assert kept == expected[-len(kept) :]
            tokens = other.last_tokens(other.length)
            assert tokens == [2 * position for position in kept[1:]]
    if keep is None:
        assert all(other.length == len(expected) - 1 for other, expected in pairs)


def test_what_may_be_taken_back_is_kept() -> None:
    history = History(WeakSet(), 0, 4)
    for number in range(1, 200):
        history.push(number)
        assert history.length >= min(number, 4)
        assert history.length < 40
    history.pop(4)
    assert history.top == 195

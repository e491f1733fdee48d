"""A matcher for a finite language, in which faults can be planted."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.vocabulary import Vocabulary


@dataclass
class FakeCompiled:
    """Allows what some text of ``texts`` begins with; ``hide`` are tokens that it never allows."""

    vocabulary: Vocabulary
    texts: tuple[bytes, ...]
    hide: frozenset[int] = frozenset()
    fill_seconds: float = 0.0
    fill_error: Exception | None = None

    def matcher(self) -> FakeMatcher:
        return FakeMatcher(self)


class FakeMatcher:
    """Walks the texts from the start at every question."""

    def __init__(self, compiled: FakeCompiled) -> None:
        self.compiled = compiled
        self.taken: list[int] = []

    def _data(self, tokens: list[int]) -> bytes:
        return b"".join(self.compiled.vocabulary.token_bytes(t) for t in tokens)

    @property
    def is_terminated(self) -> bool:
        return bool(self.taken) and self.taken[-1] in self.compiled.vocabulary.eos_ids

    @property
    def is_accepting(self) -> bool:
        return not self.is_terminated and self._data(self.taken) in self.compiled.texts

    def _allows(self, token: int) -> bool:
        vocabulary = self.compiled.vocabulary
        if self.is_terminated or token in self.compiled.hide:
            return False
        if token in vocabulary.eos_ids:
            return self.is_accepting
        data = vocabulary.token_bytes(token)
        whole = self._data(self.taken) + data
        return bool(data) and any(text.startswith(whole) for text in self.compiled.texts)

    def fill_mask(self, bitmask: Any, row: int = 0) -> None:
        time.sleep(self.compiled.fill_seconds)
        if self.compiled.fill_error is not None:
            raise self.compiled.fill_error
        place = bitmask if bitmask.ndim == 1 else bitmask[row]
        place[:] = 0
        for token in range(self.compiled.vocabulary.size):
            if self._allows(token):
                place.view(np.uint32)[token // 32] |= np.uint32(1 << token % 32)

    def accept(self, token_id: int) -> bool:
        if not self._allows(token_id):
            return False
        self.taken.append(token_id)
        return True

    def rollback(self, n: int) -> None:
        assert 0 <= n <= len(self.taken)
        del self.taken[len(self.taken) - n :]

    def fork(self) -> FakeMatcher:
        other = FakeMatcher(self.compiled)
        other.taken = list(self.taken)
        return other

    def reset(self) -> None:
        self.taken.clear()

    def live_states(self) -> tuple[int, ...]:
        return (len(self._data(self.taken)),)

    def stacks(self, limit: int = 8) -> tuple[Any, ...]:
        return ()

    def allowed_bytes(self) -> frozenset[int]:
        have = self._data(self.taken)
        rest = [text[len(have) :] for text in self.compiled.texts if text.startswith(have)]
        return frozenset(text[0] for text in rest if text)

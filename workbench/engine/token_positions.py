"""Where every token leads from a position. To be called inside the engine's lock."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from workbench.engine.kernels import entries
from workbench.engine.kernels.constants import REFUSED

if TYPE_CHECKING:
    from workbench.engine.engine import Engine

__all__ = ["after_named", "after_tokens"]


def after_tokens(engine: Engine, position: int) -> NDArray[np.int64]:
    """By token id the position after its bytes, -1 where they may not come."""
    vocabulary = engine.vocabulary
    positions = np.full(vocabulary.size, -1, dtype=np.int64)
    inside = np.zeros(vocabulary.max_token_bytes + 2, dtype=np.int64)
    engine.go_on(entries.accept_all_at, position, positions, inside)
    same = vocabulary.trie.duplicates
    positions[same[:, 1]] = positions[same[:, 0]]
    return positions


def after_named(
    engine: Engine, position: int
) -> Iterator[tuple[tuple[int, ...], NDArray[np.int64]]]:
    """For tokens that the grammar names and that may come as themselves: their ids, and the position after them."""
    for number, ids in enumerate(engine.automaton.symbols):
        shape, bases = engine.run_exactly(
            entries.advance_symbol, 256 + number, position >> 32, position & 0xFFFFFFFF
        )
        if shape != REFUSED:
            yield ids, np.array([int(shape) << 32 | int(bases)], dtype=np.int64)

"""The suffix automaton of a sequence of letters: all that stands in it in one piece."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from workbench.automaton.suffix_kernels import mark_reached, read_document

__all__ = ["reachable", "suffix_automaton"]

_Column = NDArray[np.int32]


def suffix_automaton(letters: _Column) -> tuple[int, _Column]:
    """Number of states and edges (columns source, letter, target); state 0 starts, all are final."""
    n = len(letters)
    states = np.empty((3, 2 * n + 2), dtype=np.int32)
    edges = np.empty((4, 3 * n + 4), dtype=np.int32)
    counts = read_document(np.ascontiguousarray(letters, dtype=np.int32), states, edges)
    return counts >> 32, edges[:3, : counts & 0xFFFFFFFF]


def reachable(n: int, sources: _Column, targets: _Column, start: int) -> NDArray[np.bool_]:
    """The states that edges, sorted by source, lead to from one of ``n``."""
    starts = np.zeros(n + 1, dtype=np.int32)
    starts[1:] = np.bincount(sources, minlength=n).cumsum()
    seen = np.zeros(n, dtype=np.uint8)
    mark_reached(
        starts, np.ascontiguousarray(targets), seen, np.empty(n + 1, dtype=np.int32), start
    )
    return seen.astype(np.bool_)

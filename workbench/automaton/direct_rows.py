"""Rows of edges by state, as they are appended to an automaton that grows.

Next file to read: ``model.py``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from workbench.automaton.model import JUMP

__all__ = ["extended", "useful_rows"]


def extended(
    starts: NDArray[np.int32], rows: NDArray[np.int32], first: int, n: int
) -> NDArray[np.int32]:
    """CSR offsets with those of ``n`` more states whose rows are sorted by state (column 0)."""
    counts = np.bincount(rows[:, 0] - first, minlength=n)
    return np.concatenate([starts, starts[-1] + np.cumsum(counts)]).astype(np.int32)


def useful_rows(
    first: int,
    n: int,
    final: NDArray[np.bool_],
    edges: NDArray[np.int32],
    empties: NDArray[np.int32],
    calls: NDArray[np.int32],
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """Drop the edges into positions from which the end of the entry cannot be reached."""
    sources: list[list[int]] = [[] for _ in range(n)]
    for rows, column in ((edges, 3), (empties, 1), (calls, 4)):
        for source, target in zip(rows[:, 0].tolist(), rows[:, column].tolist(), strict=True):
            if target != JUMP:
                sources[target - first].append(source - first)
    useful = final.copy()
    useful[calls[calls[:, 4] == JUMP, 0] - first] = True
    todo = np.flatnonzero(useful).tolist()
    while todo:
        for source in sources[todo.pop()]:
            if not useful[source]:
                useful[source] = True
                todo.append(source)
    kept = calls[(calls[:, 4] == JUMP) | useful[np.maximum(calls[:, 4], first) - first]]
    return edges[useful[edges[:, 3] - first]], empties[useful[empties[:, 1] - first]], kept

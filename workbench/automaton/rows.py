"""Rows of edges by state, as they are appended to an automaton that grows.

Arrays of rows are transposed: ``rows[0]`` is the column of sources.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["Skips", "by_source", "closure", "offsets", "skips_of", "useful_rows"]

_Rows = NDArray[np.int32]


class Skips:
    """Where empty edges without a guard lead, by source; of rows as columns: quick for many."""

    def __init__(self, rows: _Rows) -> None:
        plain = rows[:, (rows[1] < 0) & (rows[2] < 0)]
        plain = plain[:, plain[0].argsort(kind="stable")]
        self._sources, self._targets = plain[0], plain[3]

    def get(self, source: int, _default: Sequence[int] = ()) -> Sequence[int]:
        """The targets from one source, in their order."""
        begin, end = self._sources.searchsorted([source, source + 1])
        found: list[int] = self._targets[begin:end].tolist()
        return found


def skips_of(rows: Iterable[Sequence[int]]) -> dict[int, list[int]]:
    """Where empty edges without a guard lead, by source; of rows (source, first byte, last byte, target)."""
    skips: dict[int, list[int]] = {}
    for source, low, guard, target in rows:
        if low < 0 and guard < 0:
            skips.setdefault(source, []).append(target)
    return skips


def closure(start: int, skips: Skips | dict[int, list[int]]) -> list[int]:
    """The positions that empty edges lead to from one, itself first."""
    seen = {start}
    order = [start]
    for reached in order:
        for target in skips.get(reached, ()):
            if target not in seen:
                seen.add(target)
                order.append(target)
    return order


def by_source(rows: _Rows) -> _Rows:
    """Rows of edges by their sources and first symbols."""
    return rows[:, (rows[0] * np.int64(1 << 24) + rows[1]).argsort(kind="stable")]


def offsets(sources: _Rows, n: int) -> _Rows:
    """CSR offsets of ``n`` states whose rows have these sources."""
    found = np.zeros(n + 1, dtype=np.int32)
    found[1:] = np.bincount(sources, minlength=n).cumsum()
    return found


def useful_rows(final: NDArray[np.bool_], rows: _Rows, calls: _Rows) -> tuple[_Rows, _Rows]:
    """Drop the edges into positions from which the end of the entry cannot be reached."""
    sources: list[list[int]] = [[] for _ in final]
    for some, column in ((rows, 3), (calls, 4)):
        for source, target in zip(some[0].tolist(), some[column].tolist(), strict=True):
            sources[target].append(source)
    useful = final.copy()
    todo = np.flatnonzero(useful).tolist()
    while todo:
        for source in sources[todo.pop()]:
            if not useful[source]:
                useful[source] = True
                todo.append(source)
    return rows[:, useful[rows[3]]], calls[:, useful[calls[4]]]

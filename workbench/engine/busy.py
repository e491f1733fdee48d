"""Saying that an engine's arrays are at work or being swapped."""

from __future__ import annotations

from workbench.engine.kernels.constants import BUSY

__all__ = ["Busy"]


class Busy:
    """Says, inside an engine's lock, that kernels run without the GIL or arrays are swapped.

    Meanwhile nobody looks masks up without the lock (``lookup_to``).
    """

    __slots__ = ("_counts",)

    def __init__(self, counts: memoryview[int]) -> None:
        self._counts = counts

    def __enter__(self) -> None:
        self._counts[BUSY] += 1

    def __exit__(self, *error: object) -> None:
        self._counts[BUSY] -= 1

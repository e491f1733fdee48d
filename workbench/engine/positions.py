"""What holds positions of an engine, so that they can be renumbered when it tidies up."""

from __future__ import annotations

from array import array
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["Positioned", "Sequence", "renumber"]


class Positioned(Protocol):
    """What stands at a position, also after positions were renumbered."""

    @property
    def top(self) -> int:
        """The position."""


class Sequence(Protocol):
    """What holds positions and lets them be renumbered."""

    positions: array[int]


def renumber(sequences: list[Sequence], positions: list[NDArray[np.int64]]) -> None:
    """Write other numbers for the positions that some sequences hold."""
    for one, numbers in zip(sequences, positions, strict=True):
        one.positions[:] = array("q", numbers.tolist())

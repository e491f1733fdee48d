"""What holds positions of an engine, so that they can be renumbered when it tidies up."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from itertools import chain
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from workbench.changes import written

__all__ = ["Positioned", "Sequence", "renumber"]


class Positioned(Protocol):
    """What stands at a position, also after positions were renumbered."""

    @property
    def top(self) -> int:
        """The position."""


class Sequence(Protocol):
    """What holds positions and lets them be renumbered."""

    positions: array[int]


def renumber(sequences: list[Sequence], positions: list[NDArray[np.int64]]) -> Iterator[object]:
    """The change (see :mod:`workbench.changes`) to other numbers for the positions that some sequences hold."""
    return chain.from_iterable(
        [
            written(one.positions, array("q", numbers.tolist()))
            for one, numbers in zip(sequences, positions, strict=True)
        ]
    )

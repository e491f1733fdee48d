"""Columns of integers that grow at their ends, laid out in one array, which kernels read as it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.changes import assigned

__all__ = ["Columns"]

#: room for rows that columns get beside an eighth of what they have, where they may grow
_ROOM = 16


@cache
def _numbered(names: tuple[str, ...]) -> dict[str, int]:
    return {name: number for number, name in enumerate(names)}


class Columns:
    """int32 columns by name: each a part of one array, with room to grow where ``grows`` is true.

    What a column has got does not change any more. Where the room does not do, another array takes its place; who
    reads the one before goes on as before.
    """

    __slots__ = ("_number", "array", "begins", "filled", "grows", "names")

    def __init__(self, names: tuple[str, ...], grows: bool) -> None:
        self.names = names
        self._number = _numbered(names)
        self.grows = grows
        self.array = np.zeros(0, dtype=np.int32)
        #: where each column begins, and the end of the last one's room
        self.begins = [0] * (len(names) + 1)
        #: how many rows each has
        self.filled = dict.fromkeys(names, 0)

    def __getitem__(self, name: str) -> NDArray[np.int32]:
        """The rows of a column."""
        begin = self.begins[self._number[name]]
        return self.array[begin : begin + self.filled[name]]

    def continued(self) -> Columns:
        """Columns that begin as these, and grow on their own."""
        one = Columns(self.names, self.grows)
        one.array, one.begins, one.filled = self.array.copy(), self.begins, self.filled
        return one

    def extended(self, more: Mapping[str, NDArray[Any]]) -> tuple[Columns, Iterator[object]]:
        """The columns with more rows at their ends, and the change (see :mod:`workbench.changes`) into them.

        Until it is made, these have the rows that they have.
        """
        fresh = {name: rows for name, rows in more.items() if len(rows)}
        longer = Columns(self.names, self.grows)
        filled = longer.filled = dict(self.filled)
        for name, rows in fresh.items():
            filled[name] += len(rows)
        longer.array, longer.begins = self.array, self.begins
        if not all(filled[name] <= self._room(name) for name in fresh):
            rooms = [n + n // 8 + _ROOM for n in filled.values()] if self.grows else filled.values()
            longer.begins = list(accumulate(rooms, initial=0))
            longer.array = np.zeros(longer.begins[-1], dtype=np.int32)
            for name, n in self.filled.items():
                if n:
                    begin = longer.begins[self._number[name]]
                    longer.array[begin : begin + n] = self[name]
        for name, rows in fresh.items():
            begin = longer.begins[self._number[name]]
            longer.array[begin + self.filled[name] : begin + filled[name]] = rows
        return longer, assigned(self, array=longer.array, begins=longer.begins, filled=filled)

    def _room(self, name: str) -> int:
        """How many rows there is room for in a column."""
        number = self._number[name]
        return self.begins[number + 1] - self.begins[number]

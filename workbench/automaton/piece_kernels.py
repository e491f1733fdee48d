"""The kernel that writes the edges of what was collected; what that is is told in ``fragments.py``."""

from __future__ import annotations

from array import array
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from workbench.jit import Array, Kernels, Kind, Record, entry

__all__ = ["END", "START", "Collected", "gather"]

#: the start and the end of a fragment in its edges
START, END = 0, 1
#: of edges, what begins with a literal or a fragment, and the bytes of literals: where they begin and end
ROWS, LITERALS, TEXTS, PLACED = range(4)


class Collected(NamedTuple):
    """Edges one after the other, literals with their bytes, and where fragments stand with their edges."""

    rows: array[int]
    literals: array[int]
    texts: bytearray
    placed: array[int]
    moved: NDArray[np.int32]


_KINDS: dict[str, Kind] = {
    "collected": Record(
        "what was collected",
        {
            **dict.fromkeys(("rows", "literals"), Array("int32")),
            "texts": Array("uint8"),
            "placed": Array("int32"),
            "moved": Array("int32", 2),
        },
    ),
    "bounds": Array("int64", 2),
    "out": Array("int32", 2),
}
_KERNELS = Kernels(__name__, [Path(__file__)], _KINDS, ("gather_edges",))
jit = _KERNELS.jit


@jit
def put(out, at, source, low, high, target):
    """Write an edge at its place."""
    out[0, at] = source
    out[1, at] = low
    out[2, at] = high
    out[3, at] = target


@jit
def place_of(position, source, target, first):
    """The position that one of a fragment is, which stands between two others."""
    if position == START:
        return source
    if position == END:
        return target
    return position + first


@jit
def gather_edges(collected, bounds, out):
    """Write the edges of what was collected between two moments (the rows of ``bounds``)."""
    rows, literals, placed = collected.rows, collected.literals, collected.placed
    n = 0
    for i in range(bounds[0, ROWS], bounds[1, ROWS], 4):
        put(out, n, int(rows[i]), int(rows[i + 1]), int(rows[i + 2]), int(rows[i + 3]))
        n += 1
    at = int(bounds[0, TEXTS])
    for i in range(bounds[0, LITERALS], bounds[1, LITERALS], 4):
        source = int(literals[i])
        following = int(literals[i + 1])
        last = at + int(literals[i + 3]) - 1
        while at < last:
            put(out, n, source, int(collected.texts[at]), int(collected.texts[at]), following)
            n += 1
            at += 1
            source = following
            following += 1
        byte = int(collected.texts[at])
        put(out, n, source, byte, byte, int(literals[i + 2]))
        n += 1
        at += 1
    e = 0
    moved = collected.moved
    for i in range(bounds[0, PLACED], bounds[1, PLACED], 4):
        source, target, first = int(placed[i]), int(placed[i + 1]), int(placed[i + 2])
        for _ in range(placed[i + 3]):
            begin = place_of(int(moved[0, e]), source, target, first)
            end = place_of(int(moved[3, e]), source, target, first)
            put(out, n, begin, int(moved[1, e]), int(moved[2, e]), end)
            n += 1
            e += 1


_KERNELS.finished()
gather = entry(gather_edges)

"""A mask that is written again and again: where its words are, and how to see that its array is as it was.

An array can be made read-only, get another type or shape, or other memory, without becoming another object. To
ask NumPy each time would cost as much as writing the mask does, so the kernel ``lookup_to`` compares what NumPy
itself has at hand: the fields of its ``PyArrayObject``, which every release from 1.7 on has in this order.
"""

from __future__ import annotations

from ctypes import c_int64
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["record_of"]

_HEAD = object.__basicsize__
_FIELDS, _NUMBERS = c_int64 * 7, c_int64 * 2
_LOW = 0xFFFFFFFF


def record_of(array: NDArray[Any], words: NDArray[np.uint32]) -> NDArray[np.int64] | None:
    """The record of an array of which some row is ``words``; None where it cannot be had.

    The address of its fields; its memory's, how many dimensions it has, its type's address, its flags; the first
    two of the numbers that NumPy keeps together, its dimensions and then their strides; the address of the row.
    """
    address = id(array) + _HEAD
    data, dimensions, shape, _, _, descr, flags = _FIELDS.from_address(address)
    seen = (data, dimensions & _LOW, descr, flags & _LOW)
    known = (array.ctypes.data, array.ndim, id(array.dtype), array.flags.num)
    if seen != known:
        return None  # not laid out as elsewhere
    numbers = (*array.shape, *array.strides)[:2]
    if numbers != tuple(_NUMBERS.from_address(shape)):
        return None
    return np.array((address, *known, *numbers, words.ctypes.data), dtype=np.int64)

"""What two sequences begin with alike."""

from __future__ import annotations

from typing import TypeVar

__all__ = ["common_prefix"]

_Items = TypeVar("_Items", bytes, list[int])


def common_prefix(one: _Items, other: _Items) -> int:
    """How many bytes, or numbers, two of them begin with alike.

    >>> common_prefix(b"apple", b"apply"), common_prefix([1, 2], [1, 2, 3])
    (4, 2)
    """
    length = min(len(one), len(other))
    if one[:length] == other[:length]:
        return length
    return next(i for i in range(length) if one[i] != other[i])

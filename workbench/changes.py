"""Changes that are made all at once: no interrupt comes between them, and no other thread of this process.

Python looks for signals, and lets other threads run, between its own instructions only. What is done within one
call of C code is done as a whole: :func:`at_once` goes through iterators over C functions in such a call. So new
state is built beside the old one first, and takes its place here.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain, repeat
from operator import setitem
from typing import Any

__all__ = ["appended", "assigned", "at_once", "each_assigned", "written"]

#: run through an iterator, in C
_exhaust: Any = partial(deque, maxlen=0)
_ALL = slice(None)


def at_once(*changes: Iterable[object]) -> None:
    """Make some changes, one after the other, with nothing between them."""
    _exhaust(chain(*changes))


def assigned(owner: object, **values: Any) -> Iterator[object]:
    """Attributes of an object get values; the object's class does without ``__setattr__`` and properties."""
    return map(setattr, repeat(owner), list(values), values.values())


def each_assigned(owners: Iterable[object], name: str, values: Iterable[Any]) -> Iterator[object]:
    """One attribute of several objects gets values."""
    return map(setattr, owners, repeat(name), values)


def written(target: Any, values: Any, where: slice = _ALL) -> Iterator[object]:
    """The items of an array, a list or a memoryview become others, as many as there are."""
    return map(setitem, (target,), (where,), (values,))


def appended(target: list[Any], values: Iterable[Any]) -> Iterator[object]:
    """A list gets more items."""
    return map(target.extend, (list(values),))

"""Room for the large arrays of engines: address space, of which a page costs when it is first touched.

So the pages of engines that are gone serve the next ones.
"""

from __future__ import annotations

import ctypes
import gc
import mmap
import os
import sys
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from workbench.changes import at_once
from workbench.errors import GrammarTooComplex
from workbench.wording import number_of

__all__ = [
    "ARENA_WORDS",
    "TRANSITION_WORDS",
    "UNIQUE_SLOTS",
    "give_back",
    "longer",
    "on_refusal",
    "room_for",
    "with_relief",
]

#: words of a new arena and of new transitions, and slots of a new unique table, a power of two
ARENA_WORDS = 1 << 16
TRANSITION_WORDS = 1 << 20
UNIQUE_SLOTS = 1 << 10
#: arrays below this many bytes come from the heap
_SMALL = 1 << 16

#: flags of mremap: move, to the place that is named, and keep the former place, empty
_MOVE = 1 | 2 | 4
#: arrays of a size and type that are kept for the next engines, and how many words of one may have been used
_MOST_KEPT = 2
_MOST_USED = 1 << 20

_T = TypeVar("_T")
_Word = TypeVar("_Word", np.int32, np.uint32)

#: arrays of engines that are gone, all 0, by their sizes and types
_kept: dict[tuple[int, Any], list[NDArray[Any]]] = {}
_relief: list[Callable[[], object]] = []


def on_refusal(relieve: Callable[[], object]) -> None:
    """Let something be called that gives memory back when the process gets no more of it."""
    _relief.append(relieve)


def with_relief(make: Callable[[], _T]) -> _T:
    """What ``make`` returns; where it raises ``MemoryError``, others give back what they hold without need first.

    Raises ``GrammarTooComplex`` if that does not help.
    """
    try:
        return make()
    except MemoryError:
        for relieve in _relief:
            relieve()
        gc.collect()
        # last: those of the engines that have just gone, too
        _kept.clear()
    try:
        return make()
    except MemoryError:
        raise GrammarTooComplex(
            "bytes of memory for the process", _limit(), raised_by="`ulimit -v`"
        ) from None


def room_for(words: int, dtype: type[_Word]) -> NDArray[_Word]:
    """So many words, all 0. Raises ``GrammarTooComplex`` where the process gets no more memory."""
    try:
        # taking from a list and adding to it are each done at once: no lock is needed
        return _kept[words, dtype].pop()
    except LookupError:
        pass
    return with_relief(partial(_mapped, words, dtype))


def give_back(array: NDArray[_Word], size: int, used: int) -> None:
    """Keep an array for the next engine that asks for one of its size, unless it has outgrown ``size``.

    Nobody else has it; its words from ``used`` on are 0. May be called by the collector, within any function.
    """
    if array.size != size or array.nbytes < _SMALL or used > _MOST_USED:
        return
    known = _kept.setdefault((size, array.dtype.type), [])
    if len(known) < _MOST_KEPT:
        array[:used] = 0
        known.append(array)


def longer(array: NDArray[_Word], most: int) -> tuple[NDArray[_Word], Iterator[object]]:
    """Twice the room, or ``most`` words if that is less, and the change that fills it with the same words.

    The change (see :mod:`workbench.changes`) moves the pages to their new place where the system can do so, which
    takes microseconds; then the former array is empty. Elsewhere they have been copied. The rest is 0. Raises
    ``GrammarTooComplex`` where the process gets no more memory.
    """
    fresh = with_relief(partial(_mapped, min(2 * array.size, most), array.dtype.type))
    if _can_move() and array.nbytes >= _SMALL and fresh.nbytes >= _SMALL:
        return fresh, _pages_moved(array, fresh)
    fresh[: array.size] = array
    return fresh, iter(())


def _pages_moved(array: NDArray[Any], fresh: NDArray[Any]) -> Iterator[object]:
    """The change that moves the pages of an array to the beginning of another; it raises ``KeyError`` if it fails."""
    source, target = array.ctypes.data, fresh.ctypes.data
    size = -(-array.nbytes // mmap.PAGESIZE) * mmap.PAGESIZE
    moved = map(_mremap(), (source,), (size,), (size,), (_MOVE,), (target,))
    return map({target: None}.__getitem__, moved)


@cache
def _mremap() -> Any:
    """Linux's mremap, called with the GIL: nothing else happens meanwhile."""
    function = ctypes.PyDLL(None).mremap
    function.restype = ctypes.c_size_t
    function.argtypes = [*[ctypes.c_size_t] * 3, ctypes.c_int, ctypes.c_size_t]
    return function


@cache
def _can_move() -> bool:
    """Whether pages can be moved and leave empty ones behind (Linux from 5.7 on)."""
    if sys.platform != "linux":
        return False
    one, other = _mapped(_SMALL, np.int32), _mapped(_SMALL, np.int32)
    one[:2] = 5
    try:
        at_once(_pages_moved(one, other))
    except (AttributeError, KeyError):
        return False
    return bool(other[1] == 5 and one[1] == 0)


def _mapped(words: int, dtype: type[_Word]) -> NDArray[_Word]:
    """So many words, all 0, in small pages. Raises ``MemoryError``.

    NumPy asks for huge pages, and the first touch of each then takes a millisecond or two, within one mask.
    """
    size = words * np.dtype(dtype).itemsize
    if size < _SMALL or not hasattr(mmap, "MAP_PRIVATE"):
        return np.zeros(words, dtype=dtype)
    # Linux counts what is not touched, too, unless it is told not to
    unreserved = getattr(mmap, "MAP_NORESERVE", 0x4000 if sys.platform == "linux" else 0)
    try:
        pages = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | unreserved)
    except OSError as error:
        raise MemoryError(f"no room for {number_of(size, 'byte')}") from error
    return np.frombuffer(pages, dtype=dtype)


def _limit() -> int:
    """Bytes of memory that the process may take: by its limit, or all that there are; 0 if that is not known."""
    try:
        import resource

        soft, _ = resource.getrlimit(resource.RLIMIT_AS)
        if soft != resource.RLIM_INFINITY:
            return soft
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ImportError, OSError, ValueError):  # not on every system
        return 0

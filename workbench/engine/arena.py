"""The large arrays of engines that are gone, for the next ones: a page costs when it is first touched."""

from __future__ import annotations

import mmap
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "ARENA_WORDS",
    "UNIQUE_SLOTS",
    "doubled",
    "give_back",
    "take_arena",
    "take_masks",
    "take_transitions",
    "take_unique_table",
]

#: words of a new arena, which are cleared, and slots of its table; words of new transitions and of stored
#: masks, most of which are address space alone, which costs nothing before it is used
ARENA_WORDS = 1 << 18
UNIQUE_SLOTS = 1 << 13
_TRANSITIONS = 1 << 25
_MASK_WORDS = 1 << 19
#: a table that has grown spares its next engine the growing; clearing larger ones would cost more
_MOST_SLOTS = 1 << 16
#: arrays of each kind that are kept, and how many words of one may have been touched
_MOST_KEPT = 2
_MOST_TOUCHED = 1 << 22

_Word = TypeVar("_Word", np.int32, np.uint32)

_arenas: list[NDArray[np.int32]] = []
_unique_tables: list[NDArray[np.int32]] = []
_transitions: list[NDArray[np.int32]] = []
_masks: list[NDArray[np.uint32]] = []


# No locks: engines go whenever the collector finds them, within any of these functions too. Taking from a list
# and adding to it are each done at once.


def take_arena() -> NDArray[np.int32]:
    """``ARENA_WORDS`` words, all 0."""
    kept = _taken(_arenas)
    return np.zeros(ARENA_WORDS, dtype=np.int32) if kept is None else kept


def take_unique_table() -> NDArray[np.int32]:
    """``TABLE_SLOTS`` slots or more, a power of two, all 0."""
    kept = _taken(_unique_tables)
    return np.zeros(UNIQUE_SLOTS, dtype=np.int32) if kept is None else kept


def take_transitions() -> NDArray[np.int32]:
    """Room for transitions, with anything in it."""
    kept = _taken(_transitions)
    return _address_space() if kept is None else kept


def _address_space() -> NDArray[np.int32]:
    """Room for transitions in small pages.

    NumPy asks for huge ones, and the first touch of each then takes a millisecond or two, within one mask.
    """
    if not hasattr(mmap, "MAP_PRIVATE"):
        return np.empty(_TRANSITIONS, dtype=np.int32)
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    return np.frombuffer(mmap.mmap(-1, 4 * _TRANSITIONS, flags=flags), dtype=np.int32)


def take_masks(words: int) -> NDArray[np.uint32]:
    """Room for stored masks of so many words, with anything in it."""
    if words > _MASK_WORDS:
        return np.empty(words, dtype=np.uint32)
    kept = _taken(_masks)
    return (np.empty(_MASK_WORDS, dtype=np.uint32) if kept is None else kept)[:words]


def doubled(array: NDArray[_Word]) -> NDArray[_Word]:
    """Twice the room, zero; what is not used yet is not touched, so that it takes no memory."""
    longer = np.zeros(2 * array.size, dtype=array.dtype)
    longer[: array.size] = array
    return longer


def give_back(
    arena: NDArray[np.int32],
    unique_table: NDArray[np.int32],
    transitions: NDArray[np.int32],
    masks: NDArray[np.uint32],
    used: tuple[int, int],
) -> None:
    """Keep the arrays of an engine that is gone, unless they have grown.

    ``used``: how many words of the arena and of the transitions have been touched.
    """
    if arena.size == ARENA_WORDS:
        arena[: used[0]] = 0
        _keep(_arenas, arena)
    if unique_table.size <= _MOST_SLOTS:
        unique_table[:] = 0
        _keep(_unique_tables, unique_table)
    if transitions.size == _TRANSITIONS and used[1] <= _MOST_TOUCHED:
        _keep(_transitions, transitions)
    if isinstance(masks.base, np.ndarray) and masks.base.size == _MASK_WORDS:
        _keep(_masks, masks.base)


def _taken(kept: list[NDArray[_Word]]) -> NDArray[_Word] | None:
    try:
        return kept.pop()
    except IndexError:
        return None


def _keep(kept: list[NDArray[_Word]], array: NDArray[_Word]) -> None:
    if len(kept) < _MOST_KEPT:
        kept.append(array)

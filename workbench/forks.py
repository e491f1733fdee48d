"""Locks that a forked process can go on with.

A fork copies the thread that forks alone. A lock that another thread holds at that moment stays locked in the child
for ever, with what it guards half changed. So whoever forks takes all of them first, waiting for who is at work.
"""

from __future__ import annotations

import os
from enum import IntEnum
from threading import RLock
from typing import Any
from weakref import WeakSet

__all__ = ["Level", "fork_lock"]


class Level(IntEnum):
    """Which locks a thread takes first, of those that it holds at the same time."""

    READING = 0
    READER = 1
    ENGINE = 2
    RULES = 3
    VOCABULARY = 4
    SLICES = 5


_locks: dict[Level, WeakSet[Any]] = {level: WeakSet() for level in Level}
#: one fork at a time, and what it has taken
_forking = RLock()
_taken: list[Any] = []


def fork_lock(level: Level) -> Any:
    """An ``RLock`` that nobody else holds in a process that is forked."""
    lock = RLock()
    _locks[level].add(lock)
    return lock


def _before() -> None:
    _forking.acquire()
    for level in Level:
        # within a level others hold one lock at a time: its locks need no order
        for lock in list(_locks[level]):
            lock.acquire()
            _taken.append(lock)


def _after() -> None:
    while _taken:
        _taken.pop().release()
    _forking.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_after, after_in_child=_after)

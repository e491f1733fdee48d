"""Compiled things by their content: a bounded cache that makes each only once, also among threads."""

from __future__ import annotations

import os
import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from dataclasses import dataclass, field
from threading import Lock
from typing import Generic, TypeVar

__all__ = ["CacheInfo", "ContentCache"]

T = TypeVar("T")
#: values whose sizes are taken again when one comes in
_MEASURED = 8


@dataclass(frozen=True, slots=True)
class CacheInfo:
    """Counters of a cache since it was last cleared, and its size now.

    ``grammars`` are those of the grammars that front ends keep, where they belong to this one.
    """

    hits: int
    misses: int
    entries: int
    bytes: int
    evictions: int
    grammars: CacheInfo | None = field(default=None, compare=False)


class ContentCache(Generic[T]):
    """Values by key, least recently used first to go; safe to use from many threads.

    Kept are at most ``max_entries`` values and, by what ``size`` says of them, ``max_bytes`` bytes. Values may
    grow: the size of one is taken again when it is asked for, those of some others in turn when one comes in. The
    value asked for last stays, however large. A forked process starts with an empty cache: another
    thread may have been at work in a value.
    """

    def __init__(self, max_entries: int, max_bytes: int, size: Callable[[T], int]) -> None:
        self.max_entries = max_entries
        self.max_bytes = max_bytes
        self._size = size
        self._forget()
        if hasattr(os, "register_at_fork"):
            forget = weakref.WeakMethod(self._forget)
            os.register_at_fork(after_in_child=lambda: (forget() or (lambda: None))())

    def _forget(self) -> None:
        self._lock = Lock()
        self._under_way: dict[Hashable, Future[T]] = {}
        self._start()

    def _start(self) -> None:
        self._values: OrderedDict[Hashable, tuple[T, int]] = OrderedDict()
        #: their keys, and keys of some that were dropped, in the order in which sizes are taken again
        self._in_turn: OrderedDict[Hashable, None] = OrderedDict()
        self._bytes = self._hits = self._misses = self._evictions = 0

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """The value of a key; made when there is none.

        Whoever asks for a value that another thread is making waits for it, and gets its exception when
        that fails; nothing is kept then. Does a thread stop without an error of its own (Ctrl-C), one of
        those that wait makes the value.
        """
        with self._lock:
            found = self._hit(key)
        return self._made_or_awaited(key, make) if found is None else found

    def _made_or_awaited(self, key: Hashable, make: Callable[[], T]) -> T:
        mine: Future[T] = Future()
        failed: Exception = _Interrupted()
        try:
            found = self._known(key, mine)
            if found is not None:
                return found
            value = make()
            with self._lock:
                # not when the cache was cleared meanwhile
                if self._under_way.get(key) is mine:
                    self._keep(key, value)
                    self._measure(_MEASURED)
            mine.set_result(value)
        except Exception as error:
            failed = error
            raise
        finally:
            # twice: an interrupt may come in the middle of the first
            try:
                self._let_go(key, mine, failed)
            finally:
                self._let_go(key, mine, failed)
        return value

    def _known(self, key: Hashable, mine: Future[T]) -> T | None:
        """A value that is there, or that another thread is making; None when it is ours to make."""
        while True:
            with self._lock:
                found = self._hit(key)
                if found is not None:
                    return found
                waiting = self._under_way.get(key)
                if waiting is None:
                    self._under_way[key] = mine
                    self._misses += 1
                    return None
            try:
                value = waiting.result()
            except _Interrupted:
                continue
            with self._lock:
                self._hits += 1
            return value

    def _hit(self, key: Hashable) -> T | None:
        """A value that is there. To be called with the lock."""
        found = self._values.get(key)
        if found is None:
            return None
        self._hits += 1
        self._values.move_to_end(key)
        self._keep(key, found[0])
        return found[0]

    def _let_go(self, key: Hashable, mine: Future[T], failed: Exception) -> None:
        """Nobody waits for what is not being made any more."""
        with self._lock:
            if self._under_way.get(key) is mine:
                del self._under_way[key]
        if not mine.done():
            mine.set_exception(failed)

    def _keep(self, key: Hashable, value: T) -> None:
        """Put in a value, or its size now; drop what is too much."""
        _, before = self._values.get(key, (value, 0))
        self._in_turn.setdefault(key)
        now = self._size(value)
        self._values[key] = value, now
        self._bytes += now - before
        self._evict()

    def _evict(self) -> None:
        while len(self._values) > max(self.max_entries, 0) or (
            len(self._values) > 1 and self._bytes > self.max_bytes
        ):
            self._drop()

    def _drop(self) -> None:
        """Drop the value that was asked for longest ago."""
        _, (_, size) = self._values.popitem(last=False)
        self._bytes -= size
        self._evictions += 1

    def _measure(self, most: int) -> None:
        """Take the sizes of some values again, those first whose sizes were taken longest ago."""
        for _ in range(min(most, len(self._in_turn))):
            key, _ = self._in_turn.popitem(last=False)
            if key in self._values:
                value, before = self._values[key]
                now = self._size(value)
                self._values[key] = value, now
                self._bytes += now - before
                self._in_turn[key] = None
        self._evict()

    def keep_none(self) -> None:
        """Drop all values that are kept; counters and what is being made stay."""
        with self._lock:
            while self._values:
                self._drop()

    def clear(self) -> None:
        """Forget all values and counters; what is being made is not kept when it is done."""
        with self._lock:
            self._under_way = {}
            self._start()

    def info(self) -> CacheInfo:
        """Counters, and sizes as they are now."""
        with self._lock:
            self._measure(len(self._in_turn))
            return CacheInfo(
                self._hits, self._misses, len(self._values), self._bytes, self._evictions
            )


class _Interrupted(Exception):
    """Whoever made a value was stopped."""

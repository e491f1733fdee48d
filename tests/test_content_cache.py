"""The cache of compiled grammars: what is the same grammar, what stays, what threads see."""

from __future__ import annotations

import multiprocessing
import threading
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor

import pytest

from workbench.content_cache import CacheInfo, ContentCache


def cache_of(
    max_entries: int = 3, max_bytes: int = 100, size: Callable[[list[int]], int] = len
) -> ContentCache[list[int]]:
    return ContentCache(max_entries, max_bytes, size)


def refuse() -> list[int]:
    raise AssertionError("made again")


def kept(cache: ContentCache[list[int]], keys: str) -> str:
    """The keys that a cache has, in the order of asking; nothing stays behind for the others."""
    return "".join(key for key in keys if key in cache._values)


def test_a_value_is_made_once_and_stays_the_same_object() -> None:
    cache = cache_of()
    first = cache.get("a", lambda: [1])
    assert cache.get("a", refuse) is first
    assert cache.info() == CacheInfo(hits=1, misses=1, entries=1, bytes=1, evictions=0)


def test_the_least_recently_used_value_goes() -> None:
    cache = cache_of(max_entries=3)
    for key in "abcabd":
        cache.get(key, lambda: [1])
    assert kept(cache, "abcd") == "abd"
    assert cache.info() == CacheInfo(hits=2, misses=4, entries=3, bytes=3, evictions=1)


def test_the_bound_on_bytes_holds_and_the_last_value_stays_however_large() -> None:
    cache = cache_of(max_entries=9, max_bytes=10)
    for key, length in (("a", 4), ("b", 5), ("c", 3)):
        cache.get(key, lambda length=length: [0] * length)
    assert kept(cache, "abc") == "bc"
    cache.get("d", lambda: [0] * 50)
    assert kept(cache, "abcd") == "d"
    cache.get("e", lambda: [0])
    assert kept(cache, "de") == "e"


def test_values_that_grow_are_measured_again() -> None:
    cache = cache_of(max_entries=9, max_bytes=10)
    values = {key: cache.get(key, lambda: [0]) for key in "abc"}
    values["c"] += [0] * 8
    # asked for: its size is taken, and the oldest goes
    cache.get("c", refuse)
    assert kept(cache, "abc") == "bc"
    values["b"] += [0]
    assert cache.info() == CacheInfo(hits=1, misses=3, entries=1, bytes=9, evictions=2)
    assert kept(cache, "abc") == "c"


def test_a_cache_of_no_entries_keeps_nothing() -> None:
    cache = cache_of(max_entries=0)
    assert cache.get("a", lambda: [1]) == [1]
    assert cache.get("a", lambda: [2]) == [2]
    assert cache.info() == CacheInfo(hits=0, misses=2, entries=0, bytes=0, evictions=2)


def test_a_cleared_cache_is_as_new() -> None:
    cache = cache_of()
    cache.get("a", lambda: [1])
    cache.clear()
    assert cache.info() == CacheInfo(0, 0, 0, 0, 0)
    assert cache.get("a", lambda: [2]) == [2]


def test_what_fails_is_not_kept() -> None:
    cache = cache_of()
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            cache.get("a", lambda: [1 // 0])
    assert cache.get("a", lambda: [1]) == [1]


def test_what_is_interrupted_is_not_kept() -> None:
    cache = cache_of()

    def interrupted() -> list[int]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cache.get("a", interrupted)
    assert cache.get("a", lambda: [1]) == [1]


class Making:
    """A value that is under way in one thread while others ask for it."""

    def __init__(self, cache: ContentCache[list[int]], key: Hashable, waiting: int) -> None:
        self.cache, self.key = cache, key
        self.calls = 0
        self.goes_on = threading.Event()
        self.started = threading.Event()
        self.pool = ThreadPoolExecutor(waiting + 1)
        self.first = self.pool.submit(self.cache.get, key, self.make)
        assert self.started.wait(10)
        self.others = [self.pool.submit(self.cache.get, key, self.again) for _ in range(waiting)]
        self.outcome: BaseException | None = None

    def make(self) -> list[int]:
        self.calls += 1
        self.started.set()
        assert self.goes_on.wait(10)
        if self.outcome is not None:
            raise self.outcome
        return [1]

    def again(self) -> list[int]:
        self.calls += 1
        return [2]

    def end(self, outcome: BaseException | None = None) -> None:
        self.outcome = outcome
        self.goes_on.set()
        self.pool.shutdown(wait=True)


def test_threads_that_want_the_same_value_wait_for_one_of_them() -> None:
    cache = cache_of()
    making = Making(cache, "a", waiting=3)
    # another key is not held up
    assert cache.get("b", lambda: [3]) == [3]
    making.end()
    assert all(other.result() is making.first.result() for other in making.others)
    assert making.calls == 1
    assert cache.info() == CacheInfo(hits=3, misses=2, entries=2, bytes=2, evictions=0)


def test_threads_that_wait_get_the_error() -> None:
    cache = cache_of()
    making = Making(cache, "a", waiting=0)
    seen: list[BaseException] = []

    def wait() -> None:
        try:
            cache.get("a", refuse)
        except ZeroDivisionError as error:
            seen.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    while not cache._under_way["a"]._condition._waiters:  # type: ignore[attr-defined]
        pass
    making.end(ZeroDivisionError("no"))
    thread.join(10)
    assert seen == [making.first.exception()]
    assert cache.get("a", lambda: [5]) == [5]


def test_a_thread_that_waits_takes_over_from_one_that_is_interrupted() -> None:
    cache = cache_of()
    making = Making(cache, "a", waiting=2)
    making.end(KeyboardInterrupt())
    assert isinstance(making.first.exception(), KeyboardInterrupt)
    assert [other.result() for other in making.others] == [[2], [2]]
    assert making.calls == 2


def test_what_was_under_way_when_the_cache_was_cleared_is_not_kept() -> None:
    cache = cache_of()
    making = Making(cache, "a", waiting=0)
    cache.clear()
    making.end()
    assert making.first.result() == [1]
    assert cache.get("a", lambda: [4]) == [4]


def _ask(cache: ContentCache[list[int]], answers: multiprocessing.SimpleQueue[list[int]]) -> None:
    answers.put(cache.get("a", lambda: [7]))


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_does_not_wait_for_threads_that_it_does_not_have() -> None:
    cache = cache_of()
    making = Making(cache, "a", waiting=0)
    context = multiprocessing.get_context("fork")
    answers: multiprocessing.SimpleQueue[list[int]] = context.SimpleQueue()
    child = context.Process(target=_ask, args=(cache, answers))
    child.start()
    child.join(20)
    alive = child.is_alive()
    child.kill()
    making.end()
    assert not alive and answers.get() == [7]

"""Processes that are forked while other threads are at work in the same engines."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from threading import Event, Thread

import numpy as np
import pytest

import workbench as wb
from tests.engine.test_threads import ambiguous, vocabulary
from tests.engine.walks import mask_of

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")


def child_says(work: Callable[[], bool], seconds: float = 30) -> bool:
    """Whether a forked process finds ``work`` true, in time."""
    number = os.fork()
    if number == 0:
        code = 1
        try:
            code = 0 if work() else 2
        finally:
            os._exit(code)
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        ended, status = os.waitpid(number, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status) == 0
        time.sleep(0.005)
    os.kill(number, 9)
    os.waitpid(number, 0)
    return False


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_process_goes_on_with_engines_that_were_at_work() -> None:
    compiled = wb.compile(ambiguous(), vocabulary(), wb.Budgets(arena_words=1 << 11), cache=False)
    other = wb.compile(wb.json_schema({"type": "array"}), compiled.vocabulary, cache=False)
    matcher = compiled.matcher()
    assert matcher.accept_tokens(b"(a+b)") == 5
    expected = mask_of(matcher)
    stop = Event()

    def at_work() -> None:
        while not stop.is_set():
            one = compiled.matcher()
            compiled.engine.compact()
            for byte in b"(a+(b+c))+a":
                mask_of(one)
                one.accept(byte)

    def same() -> bool:
        rows = wb.empty_mask(compiled.vocabulary, 2)
        # of different grammars: by threads, which a child has to start anew
        wb.fill_masks([matcher, other.matcher()], rows)
        return np.array_equal(mask_of(matcher), expected) and np.array_equal(rows[0], expected)

    assert same()
    thread = Thread(target=at_work)
    thread.start()
    try:
        assert [child_says(same) for _ in range(12)] == [True] * 12
    finally:
        stop.set()
        thread.join()
    assert same()

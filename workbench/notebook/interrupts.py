"""The notebook's interrupt button stops a run between two tokens, wherever the run takes its steps.

A kernel that is idle ignores the signal of the button, and a run on a thread leaves it idle; so a run listens
for as long as it goes on.

Next file to read: ``workbench/notebook/stepper.py``.
"""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["Interrupted", "interrupted_here", "listen"]

#: Seconds between two looks at who listens.
LOOK_S = 0.1


class Interrupted:
    """Whether a run in this thread was interrupted; a second interrupt does not wait for the token."""

    def __init__(self) -> None:
        self.seen = False

    def __call__(self, _: int, __: FrameType | None) -> None:
        if self.seen:
            raise KeyboardInterrupt
        self.seen = True

    def __bool__(self) -> bool:
        return self.seen


@contextmanager
def interrupted_here() -> Iterator[Interrupted]:
    """Note an interrupt instead of raising it; on threads that hear of none, nothing is changed."""
    seen = Interrupted()
    if threading.current_thread() is not threading.main_thread():
        yield seen
        return
    before = signal.signal(signal.SIGINT, seen)
    try:
        yield seen
    finally:
        signal.signal(signal.SIGINT, before)


def listen(stop: Callable[[], object], is_running: Callable[[], bool]) -> None:
    """Call ``stop`` at an interrupt while ``is_running``, where this kernel would ignore it.

    The kernel sets and restores handlers around each message, so it is looked again and again whether the
    interrupt is ignored just now. Outside a main thread with an event loop nothing is done.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        return

    def interrupted(_: int, __: FrameType | None) -> None:
        stop()

    def look() -> None:
        now = signal.getsignal(signal.SIGINT)
        if is_running() and now is signal.SIG_IGN:
            signal.signal(signal.SIGINT, interrupted)
        elif not is_running() and now is interrupted:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        elif not is_running() and now is signal.SIG_IGN:
            return
        loop.call_later(LOOK_S, look)

    look()

"""The notebook's interrupt button stops a run between two tokens, wherever the run takes its steps.

A kernel that is idle ignores the signal of the button, and a run on a thread leaves it idle; so a run listens
for as long as it goes on.
"""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["Interrupted", "Listener", "interrupted_here"]

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
    """Note an interrupt instead of raising it, on the thread that interrupts are raised on; elsewhere do nothing."""
    seen = Interrupted()
    if threading.current_thread() is not threading.main_thread():
        yield seen
        return
    before = signal.signal(signal.SIGINT, seen)
    try:
        yield seen
    finally:
        signal.signal(signal.SIGINT, before)


class Listener:
    """Hears interrupts for runs on other threads, by the event loop of the main thread.

    A page's messages may come on threads of their own (JupyterLab's subshells), where no handler can be set: so
    the loop is looked for when the listener is made, in a cell. Where there is none, nothing is heard.
    """

    def __init__(self) -> None:
        self._loop = _main_loop()

    def listen(self, stop: Callable[[], object], is_running: Callable[[], bool]) -> None:
        """Call ``stop`` at an interrupt while ``is_running``, where the kernel would ignore it.

        The kernel sets and restores handlers around each message, so it is looked again and again whether the
        interrupt is ignored just now.
        """
        self._loop = loop = self._loop or _main_loop()
        if loop is None or loop.is_closed():
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

        loop.call_soon_threadsafe(look)


def _main_loop() -> asyncio.AbstractEventLoop | None:
    if threading.current_thread() is not threading.main_thread():
        return None
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None

"""What a page asks of a session, and what it is answered. Knows nothing of widgets.

From the page: ``hello``, ``step``, ``take``, ``run``, ``stop``, ``undo``, ``why``, ``search``. To the page: ``change``
(new positions, the cursor, an error), ``found``, ``done``. An error becomes a banner in the page; it never
leaves this module.

Next file to read: ``workbench/notebook/stepper.py``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

from workbench.notebook.session import Session

__all__ = ["Conversation"]


class Conversation:
    """Answers the messages of a page about one session.

    ``send`` takes a message for the page; ``settle`` is called after each command, to save what a
    notebook keeps.
    """

    def __init__(
        self,
        session: Session,
        send: Callable[[dict[str, Any]], object],
        settle: Callable[[], object],
    ) -> None:
        self._session = session
        self._send = send
        self._settle = settle
        self._running: asyncio.Task[None] | None = None

    @property
    def is_running(self) -> bool:
        """Whether a run takes steps just now."""
        return self._running is not None

    def announce(self) -> None:
        """Tell the page what is new."""
        self._send({"type": "change", **self._session.changes()})

    def receive(self, message: dict[str, Any]) -> None:
        """Answer one message. While a run goes on, only questions and ``stop`` are heard."""
        kind = message.get("type")
        if kind == "hello":
            self._send({"type": "done"})
        elif kind == "search":
            self._search(message)
        elif kind == "stop":
            if self._running is not None:
                self._running.cancel()
        elif kind == "run" and self._running is None:
            self._start(message)
        elif self._running is None:
            self._guarded(lambda: self._command(message))
            self._finish()

    def _command(self, message: dict[str, Any]) -> None:
        session = self._session
        kind = message.get("type")
        if kind == "step":
            session.step(int(message["node"]))
        elif kind == "take":
            session.take(int(message["token"]), int(message["node"]))
        elif kind == "undo":
            session.undo()
        elif kind == "why":
            session.why(int(message["token"]), int(message["node"]))

    def _guarded(self, action: Callable[[], object]) -> bool:
        """Do something; an error becomes the document's problem. Returns whether it went well."""
        try:
            action()
        except (Exception, KeyboardInterrupt) as error:
            message = str(error) or "the work was interrupted; nothing is lost"
            self._session.document.problem = type(error).__name__, message
            return False
        return True

    def _finish(self) -> None:
        self.announce()
        self._send({"type": "done"})
        self._guarded(self._settle)

    def _search(self, message: dict[str, Any]) -> None:
        try:
            found = self._session.search(
                str(message["query"]),
                int(message["node"]),
                allowed_only=bool(message["allowed_only"]),
            )
        except Exception as error:
            found = {"rows": [], "total": 0, "note": f"the search failed: {error}"}
        self._send({"type": "found", "request": message.get("request"), **found})

    def _start(self, message: dict[str, Any]) -> None:
        until: Any = "branching" if message.get("until") == "branching" else "end"
        node = message.get("node")
        steps = self._session.running(until, node if isinstance(node, int) else -1)
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:  # no event loop: run to the end here
            while self._one(steps):
                pass
            self._finish()
        else:
            self._running = loop.create_task(self._run(steps))

    async def _run(self, steps: Iterator[object]) -> None:
        """Take the steps of a run; between two of them the kernel hears other messages."""
        try:
            while self._one(steps):
                self.announce()
                await asyncio.sleep(0.001)
        finally:
            self._running = None
            self._finish()

    def _one(self, steps: Iterator[object]) -> bool:
        done = object()
        reached: list[object] = []
        return self._guarded(lambda: reached.append(next(steps, done))) and reached != [done]

"""What a page asks of a session, and what it is answered. Knows nothing of widgets.

From the page: ``hello``, ``step``, ``take``, ``run``, ``stop``, ``undo``, ``why``, ``search``, ``ask``. To the page:
``change`` (new positions, the cursor, an error), ``found``, ``answer``, ``done``. An error becomes a banner in the
page; it never leaves this module.

A run takes its steps on a thread of its own, so that the notebook goes on meanwhile; ``lock`` is held
for one step at a time.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

from workbench.notebook.interrupts import Listener
from workbench.notebook.session import Session, stopped
from workbench.notebook.stops import StopAt

__all__ = ["Handlers", "PageProtocol", "Send"]

#: Sends a message to the page, with binary buffers.
Send = Callable[[dict[str, Any], Sequence[bytes]], object]


class Handlers(Protocol):
    """Answers the questions of screens beyond the stepper."""

    def ask(
        self, about: str, message: dict[str, Any], reply: Callable[..., object]
    ) -> dict[str, Any] | tuple[dict[str, Any], Sequence[bytes]] | None:
        """An answer, an answer with buffers, or None when ``reply`` will be called later."""


class PageProtocol:
    """Answers the messages of a page about one session.

    ``send`` takes a message for the page; ``settle`` is called after each command, to save what a
    notebook keeps; ``handlers`` answer what is asked by ``ask``.
    """

    def __init__(
        self,
        session: Session,
        send: Send,
        settle: Callable[[], object],
        handlers: Handlers | None = None,
    ) -> None:
        self.session = session
        self.lock = threading.RLock()
        self._send = send
        self._settle = settle
        self._handlers = handlers
        self._running: threading.Thread | None = None
        self._stop = threading.Event()
        self._why = ""
        self._listener = Listener()

    @property
    def is_running(self) -> bool:
        """Whether a run takes steps just now."""
        return self._running is not None

    def announce(self) -> None:
        """Tell the page what is new."""
        with self.lock:
            change = self.session.changes()
        self._send({"type": "change", **change}, ())

    def receive(self, message: dict[str, Any]) -> None:
        """Answer one message. While a run goes on, only questions and ``stop`` are heard."""
        kind = message.get("type")
        if kind == "hello":
            self._send({"type": "done"}, ())
        elif kind == "search":
            self._search(message)
        elif kind == "ask":
            self._ask(message)
        elif kind == "stop":
            self.stop()
        elif kind == "run" and self._running is None:
            self._begin(message)
        elif self._running is None:
            with self.lock:
                self._guarded(lambda: self._command(message))
            self._finish()

    def _command(self, message: dict[str, Any]) -> None:
        session = self.session
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
            self.session.document.problem = type(error).__name__, message
            return False
        return True

    def _finish(self) -> None:
        self.announce()
        self._send({"type": "done"}, ())
        self._guarded(self._settle)

    # Questions.

    def _search(self, message: dict[str, Any]) -> None:
        try:
            with self.lock:
                found = self.session.search(
                    str(message["query"]),
                    int(message["node"]),
                    allowed_only=bool(message["allowed_only"]),
                )
        except Exception as error:
            found = {"rows": [], "total": 0, "note": f"the search failed: {error}"}
        self._send({"type": "found", "request": message.get("request"), **found}, ())

    def _ask(self, message: dict[str, Any]) -> None:
        request = message.get("request")

        def reply(answer: dict[str, Any], buffers: Sequence[bytes] = ()) -> None:
            self._send({"type": "answer", "request": request, "answer": answer}, buffers)

        if self._handlers is None:
            reply({"error": "this view answers no such question"})
            return
        try:
            with self.lock:
                found = self._handlers.ask(str(message.get("about")), message, reply)
        except Exception as error:
            found = {"error": f"{type(error).__name__}: {error}"}
        if isinstance(found, tuple):
            reply(*found)
        elif found is not None:
            reply(found)

    # Runs, on a thread.

    def _begin(self, message: dict[str, Any]) -> None:
        node, depth, rules = message.get("node"), message.get("depth"), message.get("breaks")
        stop_at = StopAt(
            mass=float(message.get("mass") or 0.5),
            depth=depth if isinstance(depth, int) else 0,
            rules=frozenset(map(str, rules if isinstance(rules, list) else ())),
        )
        at = node if isinstance(node, int) else -1
        if not self._guarded(lambda: self.start(str(message.get("until", "end")), at, stop_at)):
            self._finish()

    def start(
        self, until: str = "end", node: int | None = None, stop_at: StopAt | None = None
    ) -> None:
        """Take steps on a thread until something is reached; see :meth:`Session.running`."""
        if self._running is not None:
            return
        steps = self.session.running(until, node, stop_at)
        self._stop.clear()
        self._why = ""
        self._running = threading.Thread(
            target=self._run, args=(steps,), name="workbench-run", daemon=True
        )
        self._running.start()
        self._listener.listen(lambda: self.stop("interrupted"), lambda: self.is_running)

    def stop(self, why: str = "") -> None:
        """Let the run end after the step that it is taking."""
        self._why = why
        self._stop.set()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for the end of a run; returns whether it has ended."""
        running = self._running
        if running is not None:
            running.join(timeout)
        return self._running is None

    def _run(self, steps: Iterator[object]) -> None:
        """Take the steps of a run; between two of them other messages are heard."""
        taken = 0
        try:
            while not self._stop.is_set() and self._one(steps):
                taken += 1
                self.announce()
                time.sleep(0.002)  # a lock is not fair: let the others have it
            if self._stop.is_set() and self.session.document.problem is None:
                self.session.document.problem = stopped(taken, self._why)
        finally:
            self._running = None
            self._finish()

    def _one(self, steps: Iterator[object]) -> bool:
        done = object()
        reached: list[object] = []
        with self.lock:
            went_well = self._guarded(lambda: reached.append(next(steps, done)))
        return went_well and reached != [done]

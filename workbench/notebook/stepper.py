"""The stepper in a notebook: a widget that shows a session. It holds no algorithm.

Displaying it makes two outputs: a static view, which stays readable in a notebook that is opened without
a kernel or not trusted, and the live one. ``WORKBENCH_STATIC=1`` leaves only the first.

Messages from the page: ``hello``, ``step``, ``take``, ``run``, ``stop``, ``undo``, ``why``, ``search``. To the
page: ``change`` (new positions), ``found``, ``done``.
"""

from __future__ import annotations

import asyncio
import os
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anywidget
import traitlets

from workbench.notebook.report import write_page
from workbench.notebook.session import Session
from workbench.notebook.static_html import static_html, static_text

if TYPE_CHECKING:
    from workbench.notebook.views import Document

__all__ = ["Stepper"]

_STATIC = Path(__file__).parent / "static"


class Stepper(anywidget.AnyWidget):
    """Steps a model through a grammar, token by token; see :func:`workbench.step`."""

    _esm = _STATIC / "stepper.js"
    _css = _STATIC / "stepper.css"

    payload = traitlets.Bytes().tag(sync=True)
    cursor = traitlets.Int(0).tag(sync=True)
    theme = traitlets.Enum(["auto", "light", "dark"], default_value="auto").tag(sync=True)
    view_id = traitlets.Unicode().tag(sync=True)

    def __init__(self, session: Session, *, theme: str = "auto") -> None:
        self.session = session
        self._running: asyncio.Task[None] | None = None
        self._static: Any = None
        session.changes()
        super().__init__(
            payload=session.document.payload(), theme=theme, view_id=uuid.uuid4().hex[:12]
        )
        self.on_msg(self._on_message)
        self.observe(self._on_cursor, names="cursor")

    def __repr__(self) -> str:
        return f"<Stepper of {len(self.document.positions)} positions: {self.text[-40:]!r}>"

    def __str__(self) -> str:
        return static_text(self.document, self.session.leaf)

    @property
    def document(self) -> Document:
        """Everything seen so far."""
        return self.session.document

    @property
    def text(self) -> str:
        """The text up to the cursor."""
        return self.session.text

    # What the page can do, a cell can do too.

    def step(self) -> None:
        """Let the sampler choose the next token."""
        self._do(self.session.step)

    def take(self, token_id: int) -> None:
        """Choose the next token; ``WorkbenchError`` when the grammar does not allow it."""
        self._do(lambda: self.session.take(token_id))

    def back(self, n: int = 1) -> None:
        """Look at the position ``n`` tokens before."""
        self._do(lambda: self.session.back(n))

    def run(self, until: str = "end") -> None:
        """Step to the next position with a choice ("branching") or to the end."""
        self._do(lambda: self.session.run("branching" if until == "branching" else "end"))

    def undo(self) -> None:
        """Return to where the cursor was before the last token was taken."""
        self._do(self.session.undo)

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write everything seen so far as a page that opens with no kernel and no internet."""
        return write_page(self.document, path)

    # Showing.

    def _ipython_display_(self) -> None:
        from IPython.display import HTML, display

        self._static = display(HTML(self._static_html()), display_id=f"wb-static-{self.view_id}")
        if os.environ.get("WORKBENCH_STATIC") == "1":
            return
        bundle, metadata = self._repr_mimebundle_()
        display(bundle, metadata=metadata, raw=True)

    def _static_html(self) -> str:
        return static_html(self.document, self.view_id, self.session.leaf)

    def _do(self, action: Callable[[], object]) -> None:
        try:
            action()
        finally:
            self._announce()
            self._settle()

    def _announce(self) -> None:
        """Tell the pages what is new."""
        self.send({"type": "change", **self.session.changes()})

    def _settle(self) -> None:
        """Bring the saved state up to date: what a notebook keeps, and the static view."""
        self.payload = self.document.payload()
        self.cursor = self.session.cursor
        if self._static is not None:
            from IPython.display import HTML

            self._static.update(HTML(self._static_html()))

    def _on_cursor(self, change: dict[str, Any]) -> None:
        if 0 <= change["new"] < len(self.document.positions):
            self.session.goto(change["new"])

    # Messages.

    def _on_message(self, _: object, message: dict[str, Any], __: object) -> None:
        kind = message.get("type")
        if kind == "hello":
            self.send({"type": "done"})
        elif kind == "search":
            self._search(message)
        elif kind == "stop":
            self._stop()
        elif kind == "run" and self._running is None:
            self._start(message)
        elif self._running is None:
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
        """Do something for a page: an error becomes a banner there and does no other harm."""
        try:
            action()
        except (Exception, KeyboardInterrupt) as error:
            name = type(error).__name__
            message = str(error) or "the work was interrupted; nothing is lost"
            self.document.problem = name, message
            return False
        return True

    def _finish(self) -> None:
        self._announce()
        self.send({"type": "done"})
        self._guarded(self._settle)

    def _search(self, message: dict[str, Any]) -> None:
        try:
            found = self.session.search(
                str(message["query"]),
                int(message["node"]),
                allowed_only=bool(message["allowed_only"]),
            )
        except Exception as error:
            found = {"rows": [], "total": 0, "note": f"the search failed: {error}"}
        self.send({"type": "found", "request": message.get("request"), **found})

    def _start(self, message: dict[str, Any]) -> None:
        until: Any = "branching" if message.get("until") == "branching" else "end"
        steps = self.session.running(until, int(message["node"]))
        try:
            self._running = asyncio.get_running_loop().create_task(self._run(steps))
        except RuntimeError:  # no event loop: run to the end here
            while self._one(steps):
                pass
            self._finish()

    async def _run(self, steps: Iterator[object]) -> None:
        """Take the steps of a run; between two of them the kernel hears other messages."""
        try:
            while self._one(steps):
                self._announce()
                await asyncio.sleep(0.001)
        finally:
            self._running = None
            self._finish()

    def _one(self, steps: Iterator[object]) -> bool:
        done = object()
        reached: list[object] = []
        return self._guarded(lambda: reached.append(next(steps, done))) and reached != [done]

    def _stop(self) -> None:
        if self._running is not None:
            self._running.cancel()

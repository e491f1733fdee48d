"""The stepper in a notebook: a widget that shows a session. It holds no algorithm.

Displaying it makes two outputs: a static view, which stays readable in a notebook that is opened without
a kernel or not trusted, and the live one. ``WORKBENCH_STATIC=1`` leaves only the first.
"""

from __future__ import annotations

import os
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anywidget
import traitlets

from workbench.errors import WorkbenchError
from workbench.notebook.conversation import Conversation, Desk
from workbench.notebook.report import write_page
from workbench.notebook.session import Session
from workbench.notebook.static_html import static_html, static_text
from workbench.wording import number_of

if TYPE_CHECKING:
    from workbench.decoding.trace import Trace
    from workbench.notebook.views import Document

__all__ = ["Stepper"]

_STATIC = Path(__file__).parent / "static"


#: Saving what a notebook keeps is put off while it takes longer than this.
QUICK_S = 0.02
PUT_OFF_S = 0.6


class Stepper(anywidget.AnyWidget):
    """Steps a model through a grammar, token by token; see :func:`workbench.step`."""

    _esm = _STATIC / "stepper.js"
    _css = _STATIC / "stepper.css"

    payload = traitlets.Bytes().tag(sync=True)
    cursor = traitlets.Int(0).tag(sync=True)
    theme = traitlets.Enum(["auto", "light", "dark"], default_value="auto").tag(sync=True)
    view_id = traitlets.Unicode().tag(sync=True)
    #: which screens the page shows: "stepper" or "workbench"
    screens = traitlets.Unicode("stepper").tag(sync=True)
    tab = traitlets.Unicode("step").tag(sync=True)

    def __init__(self, session: Session, *, theme: str = "auto", tab: str = "step") -> None:
        self.session = session
        self._static: Any = None
        self._settling: threading.Timer | None = None
        self._saving_s = 0.0
        session.changes()
        super().__init__(
            payload=session.document.payload(),
            theme=theme,
            view_id=uuid.uuid4().hex[:12],
            tab=tab,
        )
        self.conversation = Conversation(session, self._post, self._settle_soon, self._desk())
        self.on_msg(lambda _, message, __: self.conversation.receive(message))
        self.observe(self._on_cursor, names="cursor")

    def __repr__(self) -> str:
        name = type(self).__name__
        return f"<{name} of {number_of(len(self.document.positions), 'position')}: {self.text[-40:]!r}>"

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

    @property
    def trace(self) -> Trace:
        """The record of the run up to the last token that was taken; without steps before the first.

        After going back, that is still the branch on which the last token was taken. A new run, under another
        grammar, has a trace of its own.
        """
        return self.session.decoder.trace

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

    def run(self, until: str = "end", *, wait: bool = True) -> None:
        """Step until something is reached; see :meth:`Session.running` for the words.

        With ``wait`` False the steps are taken on a thread; ``stop`` ends them.
        """
        if wait:
            self._do(lambda: self.session.run(until))
        else:
            self.conversation.start(until)

    def stop(self) -> None:
        """End a run that goes on behind the notebook, after the step that it is taking."""
        self.conversation.stop()
        self.conversation.wait()

    def undo(self) -> None:
        """Return to where the cursor was before the last token was taken."""
        self._do(self.session.undo)

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write everything seen so far as a page that opens with no kernel and no internet."""
        return write_page(self.document, path)

    # Showing.

    def _desk(self) -> Desk | None:
        return None

    def _post(self, message: dict[str, Any], buffers: Sequence[bytes]) -> None:
        if buffers:
            self.send(message, buffers)
        else:
            self.send(message)

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
        if self.conversation.is_running:
            raise WorkbenchError("a run goes on: stop it first, or wait for its end")
        try:
            with self.conversation.lock:
                action()
        finally:
            self.conversation.announce()
            self._settle()

    def _settle(self) -> None:
        """Bring the saved state up to date: what a notebook keeps, and the static view."""
        self._save()
        self._show_static()

    def _save(self) -> None:
        started = time.perf_counter()
        with self.conversation.lock:
            self.payload = self.document.payload()
            self.cursor = self.session.cursor
        self._saving_s = time.perf_counter() - started

    def _show_static(self) -> None:
        if self._static is None:
            return
        from IPython.display import HTML

        with self.conversation.lock:
            shown = self._static_html()
        self._static.update(HTML(shown))

    def _settle_soon(self) -> None:
        """Settle a little after the last of several commands; save at once if that is quick.

        JupyterLab stumbles over an output that changes while it is being drawn.
        """
        if self._settling is not None:
            self._settling.cancel()
        quick = self._saving_s < QUICK_S
        if quick:
            self._save()
        else:
            with self.conversation.lock:
                self.cursor = self.session.cursor
        if quick and self._static is None:
            return
        work = self._show_static if quick else self._settle
        self._settling = threading.Timer(PUT_OFF_S, work)
        self._settling.daemon = True
        self._settling.start()

    def _on_cursor(self, change: dict[str, Any]) -> None:
        if 0 <= change["new"] < len(self.document.positions):
            self.session.goto(change["new"])

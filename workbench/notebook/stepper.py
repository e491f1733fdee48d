"""The stepper in a notebook: a widget that shows a session. It holds no algorithm.

Displaying it makes two outputs: a static view, which stays readable in a notebook that is opened without
a kernel or not trusted, and the live one. ``WORKBENCH_STATIC=1`` leaves only the first.
"""

from __future__ import annotations

import os
import threading
import uuid
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anywidget
import traitlets

from workbench.errors import WorkbenchError
from workbench.notebook.interrupts import Interrupted, interrupted_here
from workbench.notebook.journal import Journal
from workbench.notebook.protocol import Handlers, PageProtocol
from workbench.notebook.report import write_page
from workbench.notebook.session import Session, stopped
from workbench.notebook.static_html import static_html, static_text
from workbench.notebook.wire import packed, spelled
from workbench.wording import number_of

if TYPE_CHECKING:
    from workbench.decoding.trace import Trace
    from workbench.notebook.views import Document

__all__ = ["Stepper"]

_STATIC = Path(__file__).parent / "static"


#: The static view is drawn so long after the last of several commands: shortly at first, whole after a rest.
PUT_OFF_S = 0.6
REST_S = 5.0
#: A change of more bytes is sent deflated.
SENT_PLAIN = 6_000
#: Begins the names of the pieces of the journal in the widget's state.
PIECE = "piece_"
#: In a notebook that is opened again the live view is an output without a model: only the static one is shown.
_ALONE = (
    ".jp-OutputArea-child:has(.wb-static-{view})"
    " + .jp-OutputArea-child:has(.jupyter-widgets):not(:has(.wb-panel)) {{ display: none; }}"
)
PANELS = ("grammar", "tokens", "dead", "export")


class Stepper(anywidget.AnyWidget):
    """Steps a model through a grammar, token by token; see :func:`workbench.step`."""

    _esm = _STATIC / "stepper.js"
    _css = _STATIC / "stepper.css"

    #: the document that pages begin with, and how many pieces of changes follow it ("piece_0", ...)
    payload = traitlets.Bytes().tag(sync=True)
    pieces = traitlets.Int(0).tag(sync=True)
    #: what the screens beside the stepper show, deflated JSON each
    kept_grammar = traitlets.Bytes().tag(sync=True)
    kept_tokens = traitlets.Bytes().tag(sync=True)
    kept_dead = traitlets.Bytes().tag(sync=True)
    kept_export = traitlets.Bytes().tag(sync=True)
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
        self._journal = Journal()
        #: positions that the static view was drawn with
        self._drawn = 0
        self._kept: dict[str, Any] = {}
        session.changes()
        super().__init__(
            payload=session.document.payload(),
            theme=theme,
            view_id=uuid.uuid4().hex[:12],
            tab=tab,
        )
        self.protocol = PageProtocol(session, self._post, self._settle_soon, self._answering())
        self.on_msg(lambda _, message, __: self.protocol.receive(message))
        self.observe(self._on_cursor, names="cursor")
        self._save()

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

        With ``wait`` False the steps are taken on a thread; ``stop`` ends them. An interrupt of the kernel ends a
        run between two tokens; what it took stays. Raises ``KeyboardInterrupt`` then, where the cell waits.
        """
        if wait:
            with interrupted_here() as interrupted:
                self._do(lambda: self._run_here(until, interrupted))
            if interrupted:
                raise KeyboardInterrupt
        else:
            self.protocol.start(until)

    def _run_here(self, until: str, interrupted: Interrupted) -> None:
        for taken, _ in enumerate(self.session.running(until), 1):
            if interrupted:
                self.document.problem = stopped(taken, "interrupted")
                return

    def stop(self) -> None:
        """End a run that goes on behind the notebook, after the step that it is taking."""
        self.protocol.stop()
        self.protocol.wait()

    def undo(self) -> None:
        """Return to where the cursor was before the last token was taken."""
        self._do(self.session.undo)

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write everything seen so far as a page that opens with no kernel and no internet."""
        return write_page(self.document, path)

    # Showing.

    def _answering(self) -> Handlers | None:
        return None

    def _post(self, message: dict[str, Any], buffers: Sequence[bytes]) -> None:
        if message["type"] == "change":
            data = spelled(message)
            with self.protocol.lock:
                if self._journal.add(data):
                    self._save_pieces()
            if len(data) > SENT_PLAIN:
                message, buffers = {"type": "change", "packed": True}, [packed(data)]
        if buffers:
            self.send(message, buffers)
        else:
            self.send(message)

    def get_state(
        self, key: str | Iterable[str] | None = None, drop_defaults: bool = False
    ) -> dict[str, Any]:
        """The state that pages and saved notebooks read; the pieces of the journal belong to it."""
        if key is None:
            names, wanted = [f"{PIECE}{i}" for i in range(self.pieces)], None
        else:
            asked = [key] if isinstance(key, str) else list(key)
            names = [name for name in asked if name.startswith(PIECE)]
            wanted = [name for name in asked if not name.startswith(PIECE)]
        state: dict[str, Any] = super().get_state(wanted, drop_defaults)
        for name in names:
            state[name] = self._journal.piece(int(name.removeprefix(PIECE)))
        return state

    def _ipython_display_(self) -> None:
        from IPython.display import HTML, display

        self._drawn = len(self.document.positions)
        self._static = display(HTML(self._shown()), display_id=f"wb-static-{self.view_id}")
        if os.environ.get("WORKBENCH_STATIC") == "1":
            return
        bundle, metadata = self._repr_mimebundle_()
        bundle.pop("text/plain", None)  # the static view has it
        display(bundle, metadata=metadata, raw=True)

    def _shown(self, *, brief: bool = False) -> str:
        """The static view, with a rule that hides the place of the live one where no kernel has it."""
        html = self._static_html(brief=brief)
        return f"<style>{_ALONE.format(view=self.view_id)}</style>{html}"

    def _static_html(self, *, brief: bool = False) -> str:
        return static_html(self.document, self.view_id, self.session.leaf, brief=brief)

    def _do(self, action: Callable[[], object]) -> None:
        if self.protocol.is_running:
            raise WorkbenchError("a run goes on: stop it first, or wait for its end")
        try:
            with self.protocol.lock:
                action()
        finally:
            self.protocol.announce()
            self._settle()

    def _settle(self) -> None:
        """Bring the saved state up to date: what a notebook keeps, and the static view."""
        self._save()
        self._show_static()

    def _save(self) -> None:
        with self.protocol.lock:
            self._save_pieces()
            for name in PANELS:
                found = self.document.panels.get(name)
                if found is not self._kept.get(name):
                    self._kept[name] = found
                    setattr(self, f"kept_{name}", b"" if found is None else packed(spelled(found)))
            self.cursor = self.session.cursor

    def _save_pieces(self) -> None:
        """Send the pieces of the journal that changed."""
        changed = [f"{PIECE}{i}" for i in self._journal.unsaved()]
        if changed:
            self.send_state(changed)
            self.pieces = len(self._journal)

    def _begin_again(self) -> None:
        """Keep the document as it is now as the one that pages begin with."""
        with self.protocol.lock:
            self.session.changes()
            old, self.pieces, self._journal = self.pieces, 0, Journal()
            if old:
                self.send_state([f"{PIECE}{i}" for i in range(old)])
            self.payload = self.document.payload()

    def _settle_soon(self) -> None:
        """Save, and draw the static view a little after the last of several commands.

        JupyterLab stumbles over an output that changes while it is being drawn.
        """
        self._save()
        self._put_off(PUT_OFF_S, self._show_static)

    def _put_off(self, seconds: float, work: Callable[[], object]) -> None:
        if self._settling is not None:
            self._settling.cancel()
        if self._static is None:
            return
        self._settling = threading.Timer(seconds, work)
        self._settling.daemon = True
        self._settling.start()

    def _show_static(self) -> None:
        """Draw the static view: the whole one after a run, the short one after a step, the whole at rest."""
        if abs(len(self.document.positions) - self._drawn) > 1:
            self._draw_static()
        else:
            self._draw_static(brief=True)
            self._put_off(REST_S, self._draw_static)

    def _draw_static(self, *, brief: bool = False) -> None:
        if self._static is None:
            return
        from IPython.display import HTML

        with self.protocol.lock:
            self._drawn = len(self.document.positions)
            shown = self._shown(brief=brief)
        self._static.update(HTML(shown))

    def _on_cursor(self, change: dict[str, Any]) -> None:
        if 0 <= change["new"] < len(self.document.positions):
            self.session.goto(change["new"])

"""The runs of one panel: a grammar that is put to use begins another one, and those before it stay.

Each run is a session with its own tree of positions. The document of the run that is shown carries the others, as
they were left, so that a page can turn to them with and without a kernel.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from workbench.wording import number_of

if TYPE_CHECKING:
    from workbench.notebook.session import Session

__all__ = ["OtherRuns", "Runs"]


@dataclass(frozen=True, slots=True)
class OtherRuns:
    """All runs by name, which of them is shown, and the others: payload (see ``Document.payload``) and cursor."""

    at: int
    names: tuple[str, ...]
    texts: tuple[str, ...]
    left: dict[int, tuple[str, int]] = field(default_factory=dict)

    def wire(self) -> dict[str, Any]:
        """The JSON form that the front end reads; payloads in base64."""
        others = {str(i): {"payload": data, "cursor": at} for i, (data, at) in self.left.items()}
        return {"at": self.at, "names": list(self.names), "others": others}


class Runs:
    """The sessions of a panel, oldest first, and the one that is shown."""

    def __init__(self, session: Session) -> None:
        self.sessions = [session]
        self.at = 0
        self._left: dict[int, tuple[str, int]] = {}

    @property
    def here(self) -> Session:
        """The session that is shown."""
        return self.sessions[self.at]

    def add(self, session: Session) -> None:
        """Begin another run and show it."""
        self.sessions.append(session)
        self.show(len(self.sessions) - 1)

    def show(self, number: int) -> None:
        """Show a run, from 0. Raises ``IndexError`` for one that does not exist."""
        if not 0 <= number < len(self.sessions):
            raise IndexError(f"there is no run {number}")
        old = self.here
        old.document.runs = None
        data = base64.b64encode(old.document.payload()).decode("ascii")
        self._left[self.at] = data, old.cursor
        self.at = number
        self._left.pop(number, None)
        if len(self.sessions) > 1:
            names, texts = self.names, tuple(session.text for session in self.sessions)
            self.here.document.runs = OtherRuns(self.at, names, texts, dict(self._left))

    @property
    def names(self) -> tuple[str, ...]:
        """What to call each run: its number, the kind of its grammar, its length."""
        found = []
        for number, session in enumerate(self.sessions, 1):
            kind = session.document.meta.get("grammar", "") or "no grammar"
            steps = number_of(len(session.document.path(session.leaf)) - 1, "step")
            found.append(f"run {number}, {kind}, {steps}")
        return tuple(found)

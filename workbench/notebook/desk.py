"""Answers what the screens beside the stepper ask: each question is one small method.

Quick questions are answered at once; long work (a search for dead ends, a compilation) goes to a thread,
and the answer follows. What a notebook keeps is put into ``document.panels``.

Next file to read: ``workbench/notebook/bench.py``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.automaton.dot import picture
from workbench.notebook.explorer import endings, groups_of, mask_at, vocabulary_table
from workbench.notebook.places import place
from workbench.notebook.session import Session
from workbench.notebook.views import picture_wire

if TYPE_CHECKING:
    from workbench.automaton.model import Automaton

__all__ = ["Desk"]

Answer = dict[str, Any] | tuple[dict[str, Any], Sequence[bytes]] | None
Reply = Callable[..., object]


class Desk:
    """Answers questions about a session and its grammar."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._pool = ThreadPoolExecutor(1, "workbench-desk")
        self._latest: dict[str, int] = {}
        self._guard = threading.Lock()
        self._questions: dict[str, Callable[[dict[str, Any], Reply], Answer]] = {
            "vocabulary": lambda *_: vocabulary_table(self.session.decoder.vocabulary),
            "mask": self._mask,
            "endings": self._endings,
            "picture": self._picture,
        }

    @property
    def automaton(self) -> Automaton | None:
        """The automaton of the session's grammar."""
        found: Automaton | None = getattr(self.session.decoder.compiled, "automaton", None)
        return found

    def ask(self, about: str, message: dict[str, Any], reply: Reply) -> Answer:
        """Answer, or return None and call ``reply`` later."""
        question = self._questions.get(about)
        return (
            {"error": f"nobody knows about {about!r}"}
            if question is None
            else question(message, reply)
        )

    def later(self, subject: str, work: Callable[[], dict[str, Any]], reply: Reply) -> None:
        """Do something on the desk's thread; of several about one subject only the newest is done."""
        with self._guard:
            number = self._latest[subject] = self._latest.get(subject, 0) + 1

        def run() -> None:
            if self._latest[subject] != number:
                reply({"overtaken": True})
                return
            try:
                answer = work()
            except Exception as error:
                answer = {"error": f"{type(error).__name__}: {error}"}
            reply(answer)

        self._pool.submit(run)

    # The token explorer.

    def _mask(self, message: dict[str, Any], _: Reply) -> Answer:
        node = int(message["node"])
        position = self.session.document.positions[node]
        if not position.open:
            return {"ended": True}
        return mask_at(self.session.look(node), self.automaton, position.stacks)

    def _endings(self, message: dict[str, Any], _: Reply) -> Answer:
        decoder = self.session.look(int(message["node"]))
        if self.automaton is None:
            return {"error": "there is no grammar: the text may end after every token"}
        bits, tried = endings(decoder.matcher, np.flatnonzero(decoder.mask))
        return {"tried": tried}, [bits]

    def keep_groups(self, node: int) -> None:
        """Keep the groups of the tokens allowed at a position, for the static view."""
        position = self.session.document.positions[node]
        if not position.open:
            return
        groups = groups_of(self.session.look(node), self.automaton, position.stacks)
        document = self.session.document
        for group in groups:
            document.add_tokens(group.samples, self.session.decoder.vocabulary)
        document.panels["tokens"] = {
            "node": node,
            "allowed": position.allowed,
            "groups": [asdict(group) for group in groups[:200]],
        }

    # The automaton.

    def _picture(self, message: dict[str, Any], _: Reply) -> Answer:
        automaton = self.automaton
        if automaton is None:
            return {"error": "there is no grammar"}
        states = [int(state) for state in message["states"]][:8]
        drawn = picture(automaton, states, whole=0)
        shown = [*drawn.states, *(t.target for t in drawn.transitions)]
        rules = {str(state): name for state in shown if (name := place(automaton, state))}
        return {"graph": picture_wire(drawn), "rules": rules}

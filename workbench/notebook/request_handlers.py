"""Answers what the screens beside the stepper ask: each question is one small method.

Quick questions are answered at once; long work (a search for dead ends, a compilation) goes to a thread,
and the answer follows. What a notebook keeps is put into ``document.panels``.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.automaton.dot import picture
from workbench.automaton.naming import place
from workbench.frontends.given import grammar_of
from workbench.notebook.editor import check, is_source, make_examples, read, source_text, stale
from workbench.notebook.empty import EmptyGrammar
from workbench.notebook.explorer import endings, groups_of, mask_at, vocabulary_table
from workbench.notebook.exporting import export_answer, not_in_use
from workbench.notebook.finding_wire import report_wire
from workbench.notebook.panel_runs import Runs
from workbench.notebook.session import Session
from workbench.notebook.wire import picture_wire

if TYPE_CHECKING:
    from workbench.automaton.network import Automaton

__all__ = ["RequestHandlers"]

Answer = dict[str, Any] | tuple[dict[str, Any], Sequence[bytes]] | None
Reply = Callable[..., object]


class RequestHandlers:
    """Answers questions about a session and its grammar."""

    def __init__(
        self,
        session: Session,
        replaced: Callable[[Session], object] | None = None,
        leaving: Callable[[], object] | None = None,
    ) -> None:
        self.runs = Runs(session)
        #: called with the session of another run that is shown from now on; ``leaving`` before that
        self.replaced = replaced
        self.leaving = leaving
        #: what the examples of the editor are, for the search for dead ends and the export
        self.examples: list[dict[str, Any]] = []
        self._pool = ThreadPoolExecutor(1, "workbench-requests")
        self._latest: dict[str, int] = {}
        #: counts of tokens by automaton and state
        self._counted: dict[tuple[int, int], tuple[int, int]] = {}
        self._guard = threading.Lock()
        self._questions: dict[str, Callable[[dict[str, Any], Reply], Answer]] = {
            "vocabulary": lambda *_: vocabulary_table(self.session.decoder.vocabulary),
            "mask": self._mask,
            "endings": self._endings,
            "needs": self._needs,
            "picture": self._picture,
            "state": self._state,
            "grammar": self._grammar,
            "check": self._check,
            "make": self._make,
            "apply": self._apply,
            "run": self._run,
            "dead": self._dead,
            "export": self._export,
        }

    @property
    def session(self) -> Session:
        """The run that is shown."""
        return self.runs.here

    @property
    def automaton(self) -> Automaton | None:
        """The automaton of the session's grammar."""
        found: Automaton | None = getattr(self.session.decoder.compiled, "automaton", None)
        return found

    def ask(self, about: str, message: dict[str, Any], reply: Reply) -> Answer:
        """Answer, or return None and call ``reply`` later."""
        question = self._questions.get(about)
        return (
            {"error": f"the kernel answers no question called {about!r}"}
            if question is None
            else question(message, reply)
        )

    def later(self, subject: str, work: Callable[[], Answer], reply: Reply) -> None:
        """Do something on the thread of long work; of several about one subject only the newest is done."""
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
            if isinstance(answer, tuple):
                reply(*answer)
            else:
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

    def _needs(self, message: dict[str, Any], reply: Reply) -> Answer:
        """Which tokens the stack decides about, as bits by id."""
        from workbench.diagnostics.explain.stack_needs import decided_by_stack

        decoder = self.session.look(int(message["node"]))
        if self.automaton is None:
            return {"error": "there is no grammar, and so no stack"}
        matcher = decoder.matcher.fork()

        def work() -> tuple[dict[str, Any], Sequence[bytes]]:
            found = decided_by_stack(matcher)
            return {"count": int(found.sum())}, [np.packbits(found, bitorder="little").tobytes()]

        self.later("needs", work, reply)
        return None

    def keep_groups(self) -> None:
        """Keep the groups of the tokens allowed at the cursor for the static view, if the run stands there."""
        session = self.session
        session.document.panels.pop("tokens", None)
        position = session.here
        if not position.open or not session.is_here:
            return
        groups = groups_of(session.decoder, self.automaton, position.stacks)
        for group in groups:
            session.document.add_tokens(group.samples, session.decoder.vocabulary)
        session.document.panels["tokens"] = {
            "node": position.id,
            "allowed": position.allowed,
            "groups": [asdict(group) for group in groups],
        }

    # The automaton.

    def _picture(self, message: dict[str, Any], _: Reply) -> Answer:
        automaton = self.automaton
        if automaton is None:
            return {"error": "there is no grammar"}
        states = [int(state) for state in message["states"]]
        drawn = picture(automaton, states, whole=0)
        shown = [*drawn.states, *(t.target for t in drawn.transitions)]
        rules = {str(state): name for state in shown if (name := place(automaton, state))}
        return {"graph": picture_wire(drawn), "rules": rules}

    def _state(self, message: dict[str, Any], reply: Reply) -> Answer:
        """How many tokens may come in a state, by themselves and above some stacks."""
        from workbench.diagnostics.explain.stack_needs import tokens_from

        automaton, state = self.automaton, int(message["state"])
        if automaton is None or not 0 <= state < automaton.n_states:
            return {"error": f"there is no state {state}"}
        vocabulary = self.session.decoder.vocabulary

        def work() -> dict[str, Any]:
            key = id(automaton), state
            if key not in self._counted:
                self._counted[key] = tokens_from(automaton, vocabulary, [state])
            inside, above = self._counted[key]
            return {"state": state, "inside": inside, "above": above}

        self.later("state", work, reply)
        return None

    # The grammar editor.

    @property
    def grammar(self) -> Any:
        """The grammar of the session, or None."""
        return getattr(self.session.decoder.compiled, "grammar", None)

    def _grammar(self, _: dict[str, Any], __: Reply) -> Answer:
        text, kind = source_text(self.grammar)
        return {"text": text, "kind": kind, "examples": self.examples}

    def _check(self, message: dict[str, Any], reply: Reply) -> Answer:
        text, kind = str(message["text"]), str(message["kind"])
        self._take_examples(message)

        def work() -> dict[str, Any]:
            found = check(text, kind, self.examples, self.session.decoder.vocabulary)
            found["in_use"] = is_source(text, kind, self.grammar)
            panels = self.session.document.panels
            if not found["ok"] and "grammar" in panels:
                found["examples"] = stale(found["examples"], panels["grammar"]["examples"])
            panels["grammar"] = found
            return found

        self.later("check", work, reply)
        return None

    def _take_examples(self, message: dict[str, Any]) -> None:
        if "examples" in message:
            self.examples = [dict(item) for item in message["examples"]]

    def _make(self, message: dict[str, Any], reply: Reply) -> Answer:
        text, kind = str(message["text"]), str(message["kind"])
        seed = int(message.get("seed", 0))
        self.later("make", lambda: {"examples": make_examples(text, kind, seed=seed)}, reply)
        return None

    def _apply(self, message: dict[str, Any], reply: Reply) -> Answer:
        text, kind = str(message["text"]), str(message["kind"])

        def work() -> dict[str, Any]:
            self.use(read(text, kind))
            return {"done": True}

        self.later("apply", work, reply)
        return None

    def use(self, grammar: Any) -> Session:
        """Begin a new run of the same model, prompt and settings under another grammar; the old one stays."""
        from workbench.decoding import Decoder

        old = self.session
        decoder = Decoder(
            old.decoder.model,
            list(old.decoder.trace.prompt_ids),
            grammar_of(grammar),
            sampling=old.decoder.sampling,
        )
        decoder.trace.prompt_text = old.decoder.trace.prompt_text
        session = Session(decoder, old.document.title)
        session.document.prompt_text = old.document.prompt_text
        kept = old.document.panels.get("grammar")
        if self.leaving is not None:
            self.leaving()
        self.runs.add(session)
        if kept is not None and is_source(kept["text"], kept["kind"], self.grammar):
            session.document.panels["grammar"] = {**kept, "in_use": True}
        if self.replaced is not None:
            self.replaced(session)
        return session

    def _run(self, message: dict[str, Any], reply: Reply) -> Answer:
        number = int(message["number"])

        def work() -> dict[str, Any]:
            self.show_run(number)
            return {"done": True}

        self.later("run", work, reply)
        return None

    def show_run(self, number: int) -> None:
        """Turn to another run, from 0. Raises ``IndexError`` for one that does not exist."""
        if self.leaving is not None:
            self.leaving()
        self.runs.show(number)
        if self.replaced is not None:
            self.replaced(self.session)

    # Dead ends.

    def _dead(self, message: dict[str, Any], reply: Reply) -> Answer:
        length = message.get("max_tokens")
        limit = int(length) if isinstance(length, int) and length > 0 else None
        self._take_examples(message)

        def work() -> dict[str, Any]:
            return self.find_dead_ends(limit)

        self.later("dead", work, reply)
        return None

    def find_dead_ends(self, max_tokens: int | None = None) -> dict[str, Any]:
        """Search grammar and run for dead ends, and keep what was found with the document."""
        from workbench.diagnostics.dead_ends.dead_ends import dead_ends
        from workbench.diagnostics.dead_ends.live import live_dead_ends

        session = self.session
        started = time.perf_counter()
        reports = []
        compiled = session.decoder.compiled
        if compiled is not None and hasattr(compiled, "automaton"):
            texts = [str(item.get("text", "")) for item in self.examples]
            reports.append(dead_ends(compiled, max_tokens=max_tokens, examples=texts))
        vocabulary = session.decoder.vocabulary
        if isinstance(compiled, EmptyGrammar):
            texts = [str(item.get("text", "")) for item in self.examples]
            reports.append(dead_ends(compiled.subject, vocabulary, examples=texts))
        else:
            reports.append(live_dead_ends(session.decoder.trace, vocabulary))
        source = getattr(self.grammar, "source", None)
        took = (time.perf_counter() - started) * 1000
        found = report_wire(reports, source, took, session.decoder.vocabulary)
        found["kind"] = getattr(self.grammar, "kind", "")
        session.document.panels["dead"] = found
        return found

    # Export.

    def _export(self, message: dict[str, Any], reply: Reply) -> Answer:
        path = str(message.get("path", ""))
        dry, overwrite = bool(message.get("dry", True)), bool(message.get("overwrite", False))
        note = str(message.get("note", ""))
        self._take_examples(message)
        shown = message.get("editor")

        def work() -> dict[str, Any]:
            if self.grammar is None:
                return {"error": "there is no grammar to export"}
            if isinstance(self.session.decoder.compiled, EmptyGrammar):
                return {"error": "no text satisfies the grammar: there is nothing to export"}
            if isinstance(shown, dict) and not is_source(
                str(shown.get("text", "")), str(shown.get("kind", "")), self.grammar
            ):
                return not_in_use(path, dry=dry)
            session = self.session
            found = export_answer(
                self.grammar,
                path,
                self.examples,
                session.decoder.vocabulary,
                title=session.document.title,
                note=note,
                dry=dry,
                overwrite=overwrite,
            )
            session.document.panels["export"] = found
            return found

        self.later("export", work, reply)
        return None

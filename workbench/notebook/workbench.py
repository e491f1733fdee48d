"""The workbench in a notebook: all screens on one page, over one run and one cursor. It holds no algorithm."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import traitlets

from workbench.errors import UnsatisfiableGrammar
from workbench.frontends.given import grammar_of
from workbench.notebook.empty import EmptyGrammar
from workbench.notebook.protocol import Handlers
from workbench.notebook.request_handlers import RequestHandlers
from workbench.notebook.session import Session
from workbench.notebook.stepper import Stepper

if TYPE_CHECKING:
    from workbench.decoding.prompt import Prompt
    from workbench.models import LoadedModel

__all__ = ["Workbench"]


class Workbench(Stepper):
    """Grammar editor, stepper, automaton, tokens, dead ends, profiler and export of one model and grammar.

    ``prompt`` is a text, a list of chat messages or a list of token ids; ``grammar`` a Grammar, a compiled one, a
    JSON Schema, the text of one or of a grammar in GBNF, or None; ``settings`` are those of
    :class:`workbench.decoding.Sampling`. ``tab`` names the screen that is shown first: "step", "automaton",
    "tokens", "dead", "profile", "grammar" or "export". A grammar that no text satisfies opens on "dead", with
    what is to blame; no token may come until another one is put to use. Raises else what :func:`workbench.step`
    raises.
    """

    screens = traitlets.Unicode("workbench").tag(sync=True)

    def __init__(
        self,
        model: LoadedModel,
        grammar: Any = None,
        prompt: Prompt = "",
        *,
        chat: bool | None = None,
        title: str | None = None,
        theme: str = "auto",
        tab: str = "step",
        **settings: Any,
    ) -> None:
        from workbench.decoding import Decoder, Sampling

        begin = prompt or _first_token(model)
        sampling, problem = Sampling(**settings), None
        made = grammar
        try:
            made = grammar_of(grammar)
            decoder = Decoder(model, begin, made, sampling=sampling, chat=chat)
        except UnsatisfiableGrammar as error:
            problem = type(error).__name__, str(error)
            empty = EmptyGrammar(made, model.vocabulary)
            decoder = Decoder(model, begin, empty, sampling=sampling, chat=chat)
        session = Session(decoder, title)
        self.handlers = RequestHandlers(session, self._replaced, self.stop)
        if problem is not None:
            session.document.problem, tab = problem, "dead"
            self.handlers.find_dead_ends()
        super().__init__(session, theme=theme, tab=tab)

    def use(self, grammar: Any) -> None:
        """Begin a new run of the same model and prompt under another grammar, or a schema or text of one.

        The runs before it stay.
        """
        self.handlers.use(grammar)

    @property
    def runs(self) -> tuple[str, ...]:
        """The runs of this panel by name, oldest first."""
        return self.handlers.runs.names

    def show_run(self, number: int) -> None:
        """Turn to another run, counted from 0. Raises ``IndexError`` for one that does not exist."""
        self.handlers.show_run(number)

    def _replaced(self, session: Session) -> None:
        with self.protocol.lock:
            self.session = self.protocol.session = session
            self._begin_again()
            self._save()
        self._settle_soon()
        self._post({"type": "reset"}, ())

    def _save(self) -> None:
        with self.protocol.lock:
            self.handlers.keep_groups()
        super()._save()

    def _answering(self) -> Handlers:
        return self.handlers


def _first_token(model: LoadedModel) -> Prompt:
    """A prompt for a run without one: the token that begins a text, as models were trained."""
    tokenizer = model.tokenizer
    begin = getattr(tokenizer, "bos_token_id", None)
    return [begin if isinstance(begin, int) else 0]

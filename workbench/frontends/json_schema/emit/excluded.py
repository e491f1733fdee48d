"""Texts that no string may hold between its quotes, as it is written: what would end the tag around it."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.automaton.budgets import too_complex
from workbench.automaton.finite import Dfa, determinise, minimise
from workbench.automaton.regular import intersect
from workbench.grammar.ir import NEVER, Expr, Ref, walk
from workbench.grammar.until import without

__all__ = ["Excluded"]

#: What an escape is written with: a text that begins with one of these may begin in the middle of one.
_IN_ESCAPES = '\\"/bfnrtu0123456789abcdefABCDEF'


class Excluded:
    """The ``texts`` that are excluded, false where there are none.

    ``within`` are the texts whose spellings, whatever they are, hold none of them; None where that is not known.
    """

    def __init__(self, texts: Sequence[str] = ()) -> None:
        self.texts = tuple(texts)
        self.within: Dfa | None = None
        self._others = without(texts) if texts else None
        if self._others is not None and not any(text[0] in _IN_ESCAPES for text in texts):
            self.within = minimise(determinise(self._others))

    def __bool__(self) -> bool:
        return bool(self.texts)

    def kept(self, content: Expr) -> Expr:
        """What of the content of strings is not excluded. Raises ``GrammarTooComplex`` for one that is counted."""
        if self._others is None or content == NEVER:
            return content
        if any(isinstance(part, Ref) for part in walk(content)):
            raise too_complex("finite_states")
        graph = intersect(content, self._others)
        return graph if graph.finals else NEVER

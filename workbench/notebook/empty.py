"""A grammar that no text satisfies, in place of one to run: the screens open on why, and no token may come."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbench.decoding.situation import Unconstrained
from workbench.frontends.given import schema_of
from workbench.grammar.ir import Grammar

if TYPE_CHECKING:
    from workbench.vocabulary import Vocabulary

__all__ = ["EmptyGrammar", "EmptySource"]


@dataclass(frozen=True, slots=True)
class EmptySource:
    """What was written: the kind of grammar and its source."""

    kind: str
    source: Any


class EmptyGrammar:
    """Stands where a compiled grammar stands; ``subject`` is what to search for dead ends."""

    def __init__(self, given: Any, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        if isinstance(given, Grammar):
            self.subject: Any = given
            self.grammar = EmptySource(given.kind, given.source)
        else:
            self.subject = schema_of(given)
            self.grammar = EmptySource("json_schema", self.subject)

    def matcher(self) -> Unconstrained:
        """One that allows nothing."""
        return _Nothing(self.vocabulary)


class _Nothing(Unconstrained):
    """A matcher of no text."""

    @property
    def is_accepting(self) -> bool:
        return False

    def fill_mask(self, bitmask: Any, row: int = 0) -> None:
        place = bitmask if bitmask.ndim == 1 else bitmask[row]
        place[:] = 0

    def accept(self, token_id: int) -> bool:
        return False

    def fork(self) -> Unconstrained:
        return _Nothing(self._vocabulary, self._tokens)

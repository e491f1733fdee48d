"""A matcher whose text has to be complete, and to end, within so many tokens."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.errors import BudgetTooSmall, UnsatisfiableGrammar
from workbench.wording import number_of

if TYPE_CHECKING:
    from workbench.engine.why import Why

__all__ = ["Budgeted"]


class Budgeted:
    """A matcher that allows only tokens after which a complete text, with its end token, fits into what is left.

    Everything else is the matcher's. Raises ``BudgetTooSmall`` when ``tokens`` are too few from where it stands,
    ``UnsatisfiableGrammar`` when no number of tokens would do, ``GrammarTooComplex`` when that cannot be told.
    """

    def __init__(self, matcher: Any, tokens: int) -> None:
        self._matcher = matcher
        self._most = matcher.num_accepted + tokens
        #: how many tokens the mask that was filled last has lost to the budget
        self.removed = 0
        least = matcher.least_tokens()
        if least is None:
            raise UnsatisfiableGrammar("the text", _why_never(matcher))
        if least > tokens:
            raise BudgetTooSmall(tokens, least)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._matcher, name)

    @property
    def tokens_left(self) -> int:
        """Tokens that may still come, an end included."""
        return int(self._most - self._matcher.num_accepted)

    def fill_mask(self, bitmask: Any, row: int = 0) -> None:
        """Write the mask of the tokens that may come next and leave room for the rest."""
        self.removed = self._matcher.fill_mask_within(bitmask, self.tokens_left, row)

    def accept(self, token_id: int) -> bool:
        """Go on with a token. False, and nothing changes, when it may not come next or leaves no room."""
        if not self._matcher.accept(token_id):
            return False
        if self._matcher.is_terminated:
            fits = self.tokens_left >= 0
        else:
            least = self._matcher.least_tokens()
            fits = least is not None and least <= self.tokens_left
        if not fits:
            self._matcher.rollback(1)
        return fits

    def fork(self) -> Budgeted:
        """An independent matcher at the same position, with the same budget."""
        other = object.__new__(Budgeted)
        other._matcher, other._most = self._matcher.fork(), self._most
        other.removed = self.removed
        return other

    __copy__ = fork

    def explain(self, token_id: int) -> Why:
        """Say why a token may or may not come next, the budget included."""
        why: Why = self._matcher.explain(token_id)
        if why.allowed and not self.fork().accept(token_id):
            left = number_of(self.tokens_left, "token")
            sentence = f"no complete text fits into the {left} that are left"
            return replace(why, allowed=False, sentence=sentence)
        return why

    def allowed_ids(self) -> Any:
        """The ids that may come next, ascending."""
        mask = np.zeros((self._matcher.vocabulary.width + 31) // 32, dtype=np.int32)
        self.fill_mask(mask)
        return np.flatnonzero(np.unpackbits(mask.view(np.uint8), bitorder="little"))


def _why_never(matcher: Any) -> str:
    if not matcher.vocabulary.eos_ids:
        return "the vocabulary has no end token"
    return "no tokens of this vocabulary spell a complete one"

"""Masks of the tokens after which a complete text still fits into so many tokens."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from workbench.engine.least_tokens import LeastTokens
from workbench.engine.token_costs import NEVER
from workbench.engine.token_positions import after_named, after_tokens

if TYPE_CHECKING:
    from workbench.engine.engine import Engine

__all__ = ["TokenBudgets", "budgets_of"]

#: in place of what a token needs that may not come at all
_REFUSED = NEVER + 1
#: positions whose masks are kept
_KEPT = 64


def budgets_of(engine: Engine) -> TokenBudgets:
    """What knows the budgets of an engine, made when it is first asked for. To be called inside the engine's lock."""
    if engine.token_budgets is None:
        engine.token_budgets = TokenBudgets(engine)
    return engine.token_budgets


class TokenBudgets:
    """Answers for one engine. To be called inside the engine's lock.

    A budget counts tokens, that which ends the text included.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._least = LeastTokens(engine)
        self._epoch = engine.epoch
        #: per position: the tokens that each token needs with all that follows, as far as the budgets asked about
        self._needs: OrderedDict[int, tuple[int, NDArray[np.int64]]] = OrderedDict()
        self._rows: OrderedDict[tuple[int, int], tuple[NDArray[np.uint32], int]] = OrderedDict()

    def least(self, position: int) -> int | None:
        """Least tokens that complete the text and end it; None where none do. Raises ``GrammarTooComplex``."""
        if not self._engine.vocabulary.eos_ids:
            return None
        tokens = self._least.tokens(position, NEVER - 1)
        return None if tokens >= NEVER else tokens + 1

    def fill(self, position: int, budget: int, words: NDArray[np.uint32]) -> int:
        """Write the mask of the tokens with which a complete text fits into a budget.

        Returns how many more may come. Raises ``GrammarTooComplex`` and leaves the words as they were.
        """
        if self._epoch != self._engine.epoch:
            self._needs.clear()
            self._rows.clear()
            self._epoch = self._engine.epoch
        known = self._rows.get((position, budget))
        if known is None:
            needs = self._need(position, budget)
            fits = np.zeros(32 * self._engine.n_words, dtype=np.uint8)
            fits[: len(needs)] = needs <= budget
            removed = np.count_nonzero(needs < _REFUSED) - np.count_nonzero(fits)
            known = np.packbits(fits, bitorder="little").view(np.uint32), int(removed)
            _keep(self._rows, (position, budget), known)
        words[:] = known[0]
        return known[1]

    def _need(self, position: int, budget: int) -> NDArray[np.int64]:
        """By token id the tokens that it needs with all that follows; anything above the budget where it is more."""
        known = self._needs.get(position)
        if known is not None and known[0] >= budget:
            return known[1]
        engine = self._engine
        needs = self._least_after(after_tokens(engine, position), budget)
        for ids, after in after_named(engine, position):
            least = self._least_after(after, budget)[0]
            named = np.array(ids, dtype=np.int64)
            needs[named] = np.minimum(needs[named], least)
        for end in engine.vocabulary.eos_ids:
            if engine.ends(position, end):
                needs[end] = 1
        _keep(self._needs, position, (budget, needs))
        return needs

    def _least_after(self, positions: NDArray[np.int64], budget: int) -> NDArray[np.int64]:
        """What tokens need that lead to these positions: themselves, what completes the text, its end."""
        different = np.unique(positions[positions >= 0])
        least = [
            min(NEVER, 2 + self._least.tokens(after, budget - 2)) for after in different.tolist()
        ]
        # what is refused comes before all others
        where = np.searchsorted(different, positions, side="right")
        return np.array([_REFUSED, *least], dtype=np.int64)[where]


def _keep(kept: OrderedDict, key: object, value: object) -> None:  # type: ignore[type-arg]
    """Keep a value, and no more than so many."""
    kept[key] = value
    kept.move_to_end(key)
    while len(kept) > _KEPT:
        kept.popitem(last=False)

"""Least tokens that complete a text from a position, over all its stacks.

The stacks are walked down with the costs of ``token_costs.py``, shared parts once. Where those are in doubt (what a
guard lets pass, a name that came before), the positions themselves are searched, with the costs as lower bounds (A*,
Hart, Nilsson, Raphael 1968).
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from workbench.engine.kernels import constants
from workbench.engine.token_costs import NEVER, TOKEN, TokenCosts
from workbench.engine.token_network import BOTTOM
from workbench.engine.token_positions import after_named, after_tokens
from workbench.errors import GrammarTooComplex
from workbench.vocabulary.tails import tails_of

if TYPE_CHECKING:
    from workbench.engine.engine import Engine

__all__ = ["LeastTokens"]

#: positions that the search comes to, for one question
_MOST_POSITIONS = 20_000
_DOUBTS = TOKEN - 1
#: positions, and stacks of the network, beyond which what is known is forgotten
_MOST_KEPT, _MOST_STACKS = 200_000, 500_000


class LeastTokens:
    """Answers for one engine. To be asked inside the engine's lock; positions are void after a compaction."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._begin()

    def _begin(self) -> None:
        self._costs = TokenCosts(self._engine.automaton, tails_of(self._engine.vocabulary))
        self._forget()

    def _forget(self) -> None:
        self._epoch = self._engine.epoch
        #: the engine's nodes as stacks of the network
        self._stacks: dict[int, int] = {}
        #: per position, a lower bound of its tokens; whether that is what it takes
        self._bounds: dict[int, tuple[int, bool]] = {}
        self._after: dict[int, NDArray[np.int64]] = {}

    def tokens(self, position: int, most: int) -> int:
        """Least tokens to a complete text, its end not counted; anything above ``most`` where it takes more.

        :data:`~workbench.engine.token_costs.NEVER` where no tokens complete it. Raises ``GrammarTooComplex``.
        """
        if self._epoch != self._engine.epoch or len(self._bounds) > _MOST_KEPT:
            self._forget()
        low, exact = self._bound(position)
        if low <= most and not exact:
            low = self._search(position, most)
        return low

    def _bound(self, position: int) -> tuple[int, bool]:
        found = self._bounds.get(position)
        if found is None:
            cost = self._cost(position)
            exact = cost >= NEVER or not cost & _DOUBTS
            found = self._bounds[position] = (NEVER if cost >= NEVER else cost // TOKEN), exact
        return found

    # -- stacks --------------------------------------------------------------------------------

    def _cost(self, position: int) -> int:
        if (
            not (self._costs.is_whole or self._costs.is_spent)
            or self._costs.network.n_stacks > _MOST_STACKS
        ):
            self._begin()
        items = self._engine.contents(position >> 32)
        bases = self._engine.contents(position & 0xFFFFFFFF)
        return min(
            self._costs.cost(self._stack(bases[variable]), state)
            for state, variable in zip(items[::2], items[1::2], strict=True)
        )

    def _stack(self, node: int) -> int:
        """A SET of the engine as a stack of the network; iterative, shared parts once."""
        known, engine = self._stacks, self._engine
        todo = [node]
        while todo:
            here = todo[-1]
            if here in known:
                todo.pop()
                continue
            elements = engine.contents(here)
            below = [
                engine.contents(element)
                for element in elements
                if int(engine.ctx.arena[element]) & 31 != constants.BOTTOM
            ]
            missing = [parents for _, _, parents in below if parents not in known]
            if missing:
                todo += missing
                continue
            stacks = [
                self._frame(target, value, known[parents]) for target, value, parents in below
            ]
            if len(below) < len(elements):
                stacks.append(BOTTOM)
            network = self._costs.network
            known[here] = stacks[0] if len(stacks) == 1 else network.either(stacks)
            todo.pop()
        return known[node]

    def _frame(self, target: int, value: int, below: int) -> int:
        engine, network = self._engine, self._costs.network
        if target < constants.SITE_BASE:
            return network.doubted(below, target) if value else network.stack(below, target)
        back = engine.site_return(target)
        loop = int(engine.ctx.site_loop[target - constants.SITE_BASE])
        if loop <= constants.SCOPE_SITE:
            frame_state = engine.contents(value)
            words = frame_state[constants.BITS - 3 :]
            came = sum(word << constants.WORD * i for i, word in enumerate(words))
            scope = constants.SCOPE_SITE - loop
            return network.scope(below, back, scope, came, max(0, frame_state[0]))
        if loop < 0:
            return network.doubted(below, back)
        return network.stack(below, back, network.round_of(loop, value))

    # -- positions -----------------------------------------------------------------------------

    def _following(self, position: int) -> NDArray[np.int64]:
        """The positions after one token, each once."""
        found = self._after.get(position)
        if found is None:
            everything = [after_tokens(self._engine, position)]
            everything += [after for _, after in after_named(self._engine, position)]
            found = np.unique(np.concatenate(everything))
            found = self._after[position] = found[found >= 0]
        return found

    def _search(self, start: int, most: int) -> int:
        """The search for a way that is there, among ways of ``most`` tokens."""
        best = {start: 0}
        came: dict[int, int] = {}
        done: set[int] = set()
        heap = [(self._bound(start)[0], 0, start)]
        while heap:
            total, minus, position = heapq.heappop(heap)
            so_far = -minus
            if position in done or so_far > best[position]:
                continue
            if total > most:
                self._learn(done, best, total)
                return total
            low, exact = self._bound(position)
            if not exact and low == 0 and self._engine.accepts(position):
                self._bounds[position] = 0, True
                exact = True
            if exact:
                self._learn(done, best, total)
                self._settle(position, came, low)
                return total
            done.add(position)
            if len(best) > _MOST_POSITIONS:
                raise GrammarTooComplex(
                    "positions in the search for the least tokens", _MOST_POSITIONS
                )
            for after in self._following(position).tolist():
                if so_far + 1 < best.get(after, NEVER):
                    done.discard(after)
                    best[after] = so_far + 1
                    came[after] = position
                    rest = self._bound(after)[0]
                    if rest < NEVER:
                        heapq.heappush(heap, (max(total, so_far + 1 + rest), -so_far - 1, after))
        self._learn(done, best, NEVER)
        return NEVER

    def _learn(self, done: set[int], best: dict[int, int], total: int) -> None:
        """No position that was left behind takes less than the total leaves it."""
        for position in done:
            low, exact = self._bounds[position]
            if not exact:
                more = NEVER if total >= NEVER else total - best[position]
                self._bounds[position] = max(low, more), more >= NEVER

    def _settle(self, position: int, came: dict[int, int], tokens: int) -> None:
        """The positions on the way that was found take what it takes."""
        while True:
            self._bounds[position] = tokens, True
            before = came.get(position)
            if before is None:
                return
            position, tokens = before, tokens + 1

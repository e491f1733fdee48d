"""Least tokens from a place to the end of a text: a shortest way over states, stacks and what a token has left.

A place is a state over a stack, inside of a token or not (a node of :class:`~workbench.vocabulary.tails.Tails`). Bytes
cost nothing, the end of a token one. Calls push on the stack, so that a token may go through any number of frames; but
a rule that leads back to itself would push without end. What such a rule takes is found once for each node in which it
begins, for all stacks: the least cost by the node in which its frame ends. That is a summary of a weighted pushdown
system (Reps, Schwoon, Jha, Melski 2005), and the whole is Knuth's generalisation of Dijkstra's algorithm (1977), for
those places only that are asked about.

A cost counts tokens in units of :data:`TOKEN`, and below them doubts: how often the way went on where only an engine's
stack says whether it may (guards, many more rounds of a repetition than need be). A cost without doubts is exact;
another one is a lower bound.
"""

from __future__ import annotations

import heapq

from workbench.automaton.network import Automaton
from workbench.engine.kernels.token_walks import (
    DOUBT,
    NODES,
    node_of,
    place_of,
    stack_of,
    state_of,
)
from workbench.engine.token_network import BASE, BOTTOM, TokenNetwork
from workbench.errors import GrammarTooComplex
from workbench.vocabulary.tails import ROOT, Tails

__all__ = ["NEVER", "TOKEN", "TokenCosts"]

TOKEN = 1 << 20
NEVER = 1 << 60
#: work for one grammar: ends of frames inside of tokens, and places
_MOST_ENDS, _MOST_PLACES = 1_000_000, 40_000_000


class TokenCosts:
    """Answers for one automaton and one vocabulary; what was found is kept."""

    def __init__(self, automaton: Automaton, tails: Tails) -> None:
        self.network = TokenNetwork(automaton, tails)
        #: the number of each place; then by number, the least cost for each node in which its base ends
        self._number: dict[int, int] = {}
        self._ends: list[dict[int, int]] = []
        #: who goes on as a place does, at which cost more; who waits for its end, to go on in which stack and state
        self._users: list[dict[int, int]] = []
        self._callers: list[set[tuple[int, int, int]]] = []
        self._seen: set[tuple[int, int]] = set()
        self._todo: list[tuple[int, int]] = []
        self._heap: list[tuple[int, int, int]] = []
        self._n_places = self._n_ends = 0
        #: false where something came in between: then nothing here is to be believed
        self.is_whole = True
        #: the budget that was used up
        self._spent: GrammarTooComplex | None = None

    def cost(self, stack: int, state: int) -> int:
        """Least cost from a state over a stack to the end of the text. Raises ``GrammarTooComplex``."""
        if self._spent is not None:
            raise GrammarTooComplex(self._spent.budget, self._spent.limit)
        number = self._place(place_of(stack, state, ROOT))
        self.is_whole = False
        try:
            self._settle()
        except GrammarTooComplex as error:
            self._spent = error
            raise
        self.is_whole = True
        return self._ends[number].get(ROOT, NEVER)

    @property
    def is_spent(self) -> bool:
        """Whether a budget is used up, so that nothing more is found."""
        return self._spent is not None

    def _place(self, place: int) -> int:
        number = self._number.get(place)
        if number is None:
            number = self._number[place] = len(self._ends)
            self._ends.append({})
            self._users.append({})
            self._callers.append(set())
            self._enter(number, place)
        return number

    def _enter(self, number: int, place: int) -> None:
        """Let a place go on from another one at no cost."""
        key = number, place
        if key not in self._seen:
            self._seen.add(key)
            self._todo.append(key)

    def _settle(self) -> None:
        """Find all ends of all places, the cheapest first."""
        while self._todo or self._heap:
            if self._todo:
                self._walk(*self._todo.pop())
                continue
            cost, number, node = heapq.heappop(self._heap)
            if self._ends[number].get(node, NEVER) <= cost:
                continue
            self._ends[number][node] = cost
            self._n_ends += 1
            if self._n_ends > _MOST_ENDS:
                raise GrammarTooComplex("ends of frames inside of tokens", _MOST_ENDS)
            for user, more in self._users[number].items():
                self._end(user, node, cost + more)
            for caller in list(self._callers[number]):
                self._returned(caller, node, cost)

    def _end(self, number: int, node: int, cost: int) -> None:
        if cost < self._ends[number].get(node, NEVER):
            heapq.heappush(self._heap, (cost, number, node))

    def _returned(self, caller: tuple[int, int, int], node: int, cost: int) -> None:
        number, stack, state = caller
        self._go_on(number, place_of(stack, state, node), cost)

    def _go_on(self, number: int, place: int, cost: int) -> None:
        """Let a place go on from another one, at a cost."""
        if not cost:
            self._enter(number, place)
            return
        other = self._place(place)
        users = self._users[other]
        if users.get(number, NEVER) > cost:
            users[number] = cost
            for end, more in self._ends[other].items():
                self._end(number, end, cost + more)

    def _call(self, number: int, begin: int, stack: int, back: int) -> None:
        """Let a place go on above a stack in a state, behind a frame that begins at another place."""
        callee = self._place(begin)
        caller = number, stack, back
        if caller not in self._callers[callee]:
            self._callers[callee].add(caller)
            for end, cost in list(self._ends[callee].items()):
                self._returned(caller, end, cost)

    def _walk(self, number: int, place: int) -> None:
        network = self.network
        found, looked_at = network.explore(place)
        self._n_places += looked_at
        if self._n_places > _MOST_PLACES:
            raise GrammarTooComplex("places inside of tokens", _MOST_PLACES)
        for at in found:
            doubt, at = at >> 62, at & ~DOUBT
            stack, state, node = stack_of(at), state_of(at), node_of(at)
            if node == NODES:
                self._go_on(number, place_of(stack, state, ROOT), TOKEN + doubt)
            elif doubt:
                # as a place by itself, so that what is found from it counts the doubt
                self._doubted(number, at, state, node)
            elif state != network.over:
                self._stop(number, stack, state, node)
            elif stack == BASE:
                self._end(number, node, 0)
            elif stack == BOTTOM:
                if node == ROOT:
                    self._end(number, ROOT, 0)
            else:
                self._round(number, stack, node)

    def _doubted(self, number: int, place: int, state: int, node: int) -> None:
        """What is found in doubt: the end of all, or a place from which all is said once more."""
        stack = stack_of(place)
        if state == self.network.over and stack in (BASE, BOTTOM):
            if stack == BASE or node == ROOT:
                self._end(number, node, 1)
        elif state == self.network.over:
            self._go_on(number, place_of(stack, self.network.final, node), 1)
        else:
            self._go_on(number, place, 1)

    def _stop(self, number: int, stack: int, state: int, node: int) -> None:
        """A state with calls by summaries, with guards, or with tokens that are named."""
        for start, base, above, back in self.network.calls(state, stack):
            self._call(number, place_of(base, start, node), above, back)
        for target, after, doubt in self.network.behind_guards(state, stack):
            self._go_on(number, place_of(after, target, node), doubt)
        if node == ROOT:
            for target in self.network.named(state):
                self._go_on(number, place_of(stack, target, ROOT), TOKEN)

    def _round(self, number: int, stack: int, node: int) -> None:
        """The end of a round in a frame that counts, whose rounds are summaries."""
        network = self.network
        left, again = network.left(stack), network.again(stack)
        if left is not None:
            below, back = left
            self._go_on(number, place_of(below, back, node), 0)
        if again is not None:
            start, above, doubt = again
            if doubt:
                self._go_on(number, place_of(above, start, node), doubt)
            else:
                self._call(number, place_of(BASE, start, node), above, network.final)

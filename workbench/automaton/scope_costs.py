"""Least bytes to the end of a scope, given which of its members have come.

Between two places that are marked as lying between members (``Guard("between")``) at most one member is
read. So a scope is a small graph of marked places whose edges are members with their least bytes. Where
there is one marked place, the cheapest way is the sum over the members that still have to come; else it
is searched for (Dijkstra over place and missing members), within a budget beyond which the sum of the
cheapest ways of each is taken, a lower bound.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from workbench.automaton.network import Automaton, ScopeSpec

__all__ = ["ScopeCosts"]

#: Most (place, members that have to come) that are looked at for one question.
_MOST_NODES = 4_000
_END = -1
_NONE, _OTHER = -1, -2
_FAR = 2**30

#: A member's number, _OTHER or _NONE; the marked place after it or _END; least bytes.
_Move = tuple[int, int, int]


class ScopeCosts:
    """Answers for one automaton, given what one pass through each entry costs."""

    def __init__(self, automaton: Automaton) -> None:
        a = self._a = automaton
        guards = a.guards
        self._edges: list[list[tuple[int, int, int]]] = [[] for _ in range(a.n_states)]
        sources = np.repeat(np.arange(a.n_states), np.diff(a.edge_start)).tolist()
        for source, target in set(zip(sources, a.edge_target.tolist(), strict=True)):
            self._edges[source].append((target, 1, _NONE))
        sources = np.repeat(np.arange(a.n_states), np.diff(a.empty_start)).tolist()
        for source, target, guard in zip(
            sources, a.empty_target.tolist(), a.empty_guard.tolist(), strict=True
        ):
            label = _NONE
            if guard >= 0 and guards[guard].kind == "take":
                label = guards[guard].among.bit_length() - 1
            elif guard >= 0 and guards[guard].kind == "other":
                label = _OTHER
            self._edges[source].append((target, 0, label))
        sources = np.repeat(np.arange(a.n_states), np.diff(a.call_start)).tolist()
        least = a.loop_min.tolist()
        self._calls: list[list[tuple[int, int, int]]] = [[] for _ in range(a.n_states)]
        for source, callee, after, loop in zip(
            sources,
            a.call_entry.tolist(),
            a.call_return.tolist(),
            a.call_loop.tolist(),
            strict=True,
        ):
            self._calls[source].append((after, callee, 1 if loop < 0 else least[loop]))
        self.begin([])

    def begin(self, entry_cost: list[int]) -> None:
        """Take other costs of the entries; what followed from those before is forgotten."""
        self._entry_cost = entry_cost
        self._moves: dict[int, list[_Move]] = {}
        self._known: dict[tuple[int, ScopeSpec, int, int], int] = {}

    def cost(self, state: int, scope: ScopeSpec, came: int, count: int) -> int:
        """Least bytes from a state of a scope's frame to its end; ``came`` are members, as bits."""
        key = (state, scope, came, min(count, scope.least))
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._search(state, scope, came, count)
        return known

    def _search(self, state: int, scope: ScopeSpec, came: int, count: int) -> int:
        missing = scope.required & ~came
        places = {state} | {place for _, place, _ in self._from(state)}
        places |= {
            after for place in list(places) if place != _END for _, after, _ in self._from(place)
        }
        places -= {_END, state}
        if len(places) > 1:
            found = self._dijkstra(state, scope, came, count)
            if found is not None:
                return found
        best = _FAR
        for label, place, cost in self._from(state):
            if label >= 0 and came >> label & 1:
                continue
            left = missing & ~(1 << label) if label >= 0 else missing
            now = came | (1 << label) if label >= 0 else came
            had = count + (label != _NONE)
            if place == _END:
                if not left and had >= scope.least:
                    best = min(best, cost)
            else:
                best = min(best, cost + self._sum(place, scope, now, had))
        return best

    def _sum(self, place: int, scope: ScopeSpec, came: int, count: int) -> int:
        """From a marked place that all members come back to."""
        cheapest: dict[int, int] = defaultdict(lambda: _FAR)
        for label, _, cost in self._from(place):
            cheapest[label] = min(cheapest[label], cost)
        end = min((cost for _, after, cost in self._from(place) if after == _END), default=_FAR)
        missing = [m for m in range(scope.members) if scope.required & ~came & 1 << m]
        total = end + sum(cheapest[m] for m in missing)
        owed = scope.least - count - len(missing)
        if owed > 0:
            optional = [
                cost
                for label, cost in cheapest.items()
                if label >= 0 and not (came | scope.required) >> label & 1
            ]
            if _OTHER in cheapest:
                optional += [cheapest[_OTHER]] * owed
            total += sum(sorted(optional)[:owed]) if len(optional) >= owed else _FAR
        return min(total, _FAR)

    def _dijkstra(self, state: int, scope: ScopeSpec, came: int, count: int) -> int | None:
        """The search over places and members that came; ``None`` past the budget."""
        heap = [(0, state, came, min(count, scope.least))]
        done: set[tuple[int, int, int]] = set()
        while heap:
            cost, place, had, number = heapq.heappop(heap)
            if place == _END:
                return cost
            if (place, had, number) in done:
                continue
            done.add((place, had, number))
            if len(done) > _MOST_NODES:
                return None
            for label, after, more in self._from(place):
                if label >= 0 and had >> label & 1:
                    continue
                # members that may come or not need no place in the key
                now = had | (1 << label if label >= 0 else 0)
                then = min(number + (label != _NONE), scope.least)
                if after == _END and (scope.required & ~now or then < scope.least):
                    continue
                heapq.heappush(heap, (cost + more, after, now, then))
        return _FAR

    def _from(self, state: int) -> list[_Move]:
        """The ways from a state to the next marked places, and to the end."""
        found = self._moves.get(state)
        if found is None:
            found = self._moves[state] = self._explore(state)
        return found

    def _explore(self, start: int) -> list[_Move]:
        a = self._a
        out: dict[tuple[int, int], int] = {}
        done: set[tuple[int, int]] = set()
        heap = [(0, start, _NONE)]
        while heap:
            cost, state, label = heapq.heappop(heap)
            if (state, label) in done:
                continue
            done.add((state, label))
            if a.final[state]:
                out.setdefault((label, _END), cost)
            if a.between[state] and (state != start or label != _NONE):
                out.setdefault((label, state), cost)
                continue
            for target, more, mark in self._edges[state]:
                heapq.heappush(heap, (cost + more, target, label if mark == _NONE else mark))
            for after, callee, times in self._calls[state]:
                more = min(_FAR, self._entry_cost[callee] * times)
                if more >= _FAR:
                    continue
                if after < 0:
                    out.setdefault((label, _END), cost + more)
                else:
                    heapq.heappush(heap, (cost + more, after, label))
        return [(label, place, cost) for (label, place), cost in out.items()]

"""Least bytes to the end: Knuth's generalisation of Dijkstra's algorithm to grammars (1977)."""

from __future__ import annotations

import heapq

import numpy as np
from numpy.typing import NDArray

from workbench.automaton.network import JUMP, NO_DISTANCE, Automaton
from workbench.automaton.scope_costs import ScopeCosts

__all__ = ["least_bytes"]


#: Most passes; scopes within scopes take one for each level.
_MOST_PASSES = 100

_Distances = tuple[NDArray[np.int32], NDArray[np.int32]]


def least_bytes(automaton: Automaton) -> tuple[_Distances, ScopeCosts | None]:
    """Least bytes from each state to the end of its frame, and of one pass through each entry.

    Every entry must be built. The states of scopes are measured as if all guards let pass; what their
    members cost is in the second part of the result (``None`` without such scopes), and in the entries.
    """
    a = automaton
    scopes = {
        (int(callee), -2 - int(watch))
        for callee, watch in zip(a.call_entry, a.call_watch, strict=True)
        if watch <= -2
    }
    scopes = {(e, s) for e, s in scopes if a.scopes[s].members or a.scopes[s].least}
    floor: dict[int, int] = {}
    distance, entry = _pass(a, floor)
    if not scopes:
        return (distance, entry), None
    costs = ScopeCosts(a)
    for _ in range(_MOST_PASSES):
        costs.begin(entry.tolist())
        before = dict(floor)
        for number, scope in scopes:
            floor[number] = costs.cost(int(a.entry_state[number]), a.scopes[scope], 0, 0)
        if floor == before:
            break
        distance, entry = _pass(a, floor)
    return (distance, entry), costs


def _pass(a: Automaton, floor: dict[int, int]) -> _Distances:
    """Least bytes, with entries that cost no less than ``floor`` says."""
    n = a.n_states
    limit = int(NO_DISTANCE)
    distance = [limit] * n
    entry = [limit] * len(a.entry_state)
    entries_at: dict[int, list[int]] = {}
    for number, state in enumerate(a.entry_state.tolist()):
        entries_at.setdefault(state, []).append(number)
    #: per state: (source, cost) of the edges into it
    sources: list[list[tuple[int, int]]] = [[] for _ in range(n)]
    call_sources: list[list[tuple[int, int, int]]] = [[] for _ in range(n)]
    callers: list[list[tuple[int, int, int]]] = [[] for _ in entry]
    by_source = np.repeat(np.arange(n), np.diff(a.edge_start)).tolist()
    for source, target in zip(by_source, a.edge_target.tolist(), strict=True):
        sources[target].append((source, 1))
    by_source = np.repeat(np.arange(n), np.diff(a.empty_start)).tolist()
    for source, target in zip(by_source, a.empty_target.tolist(), strict=True):
        sources[target].append((source, 0))
    by_source = np.repeat(np.arange(n), np.diff(a.call_start)).tolist()
    least = a.loop_min.tolist()
    for source, callee, after, loop in zip(
        by_source,
        a.call_entry.tolist(),
        a.call_return.tolist(),
        a.call_loop.tolist(),
        strict=True,
    ):
        if after == JUMP:
            sources[int(a.entry_state[callee])].append((source, 0))
            continue
        times = 1 if loop < 0 else least[loop]
        call_sources[after].append((source, callee, times))
        callers[callee].append((source, after, times))
    heap = [(0, state) for state in np.flatnonzero(a.final).tolist()]
    while heap:
        cost, state = heapq.heappop(heap)
        if cost >= distance[state]:
            continue
        distance[state] = cost
        for source, more in sources[state]:
            if cost + more < distance[source]:
                heapq.heappush(heap, (min(cost + more, limit - 1), source))
        for source, callee, times in call_sources[state]:
            if entry[callee] < limit:
                heapq.heappush(heap, (min(cost + entry[callee] * times, limit - 1), source))
        for number in entries_at.get(state, ()):
            once = entry[number] = max(cost, floor.get(number, 0))
            for source, after, times in callers[number]:
                if distance[after] < limit:
                    heapq.heappush(heap, (min(once * times + distance[after], limit - 1), source))
    return np.array(distance, dtype=np.int32), np.array(entry, dtype=np.int32)

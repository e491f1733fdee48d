"""The kernels of the subset construction and of uniting states; what they do is told in ``determinise.py``."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from workbench.automaton import mixing
from workbench.automaton.mixing import SEED, mix
from workbench.jit import Array, Kernels, Kind, Record, entry

__all__ = ["COUNTS", "DFA", "LEFT", "NFA", "Dfa", "Nfa", "Scratch", "subsets", "unite"]

_Column = NDArray[np.int32]

#: numbers of what has been made so far: states, edges, empty edges, calls, members of states
STATES, EDGES, EMPTIES, CALLS, MEMBERS = range(5)
#: positions that may still be looked at; the mark that closures leave
LEFT, MARK = 5, 6
#: how much of the table an entry uses
TABLE, COUNTS = 7, 8
#: what an entry comes to: it is deterministic; it is left as it is; else there is no room for what has this number
DONE, TOO_LARGE = -1, -2
#: states and members of states that an entry may have for each of its positions, and beside that
MOST_STATES, MOST_MEMBERS, FEW = 4, 24, 32
#: how often the states of an entry are gone through to unite them
PASSES = 6


class Nfa(NamedTuple):
    """Positions with edges, empty edges and calls in CSR form, sorted by source.

    Columns of ``edges`` are source, first symbol, last symbol, target; of ``empties`` source, target, guard or -1; of
    ``calls`` source, entry, loop, watch, return (-1: jump). There may be room behind the last ones.
    """

    edge_at: _Column
    empty_at: _Column
    call_at: _Column
    final: NDArray[np.uint8]
    edges: _Column
    empties: _Column
    calls: _Column


class Dfa(NamedTuple):
    """What is made, with room to grow: states with edges in CSR form, as of an :class:`Nfa`, and where entries begin.

    State ``s`` is the set ``members[at[s]:at[s + 1]]`` of positions.
    """

    final: NDArray[np.uint8]
    at: _Column
    edge_at: _Column
    empty_at: _Column
    call_at: _Column
    edges: _Column
    empties: _Column
    calls: _Column
    members: _Column
    starts: _Column
    firsts: _Column
    counts: NDArray[np.int64]


class Scratch(NamedTuple):
    """Space to work in: marks of positions, a closure, a hash table of states, the edges and calls of one state."""

    stamp: NDArray[np.int64]
    order: _Column
    table: _Column
    low: _Column
    high: _Column
    to: _Column
    active: _Column
    listed: _Column


_INT32, _INT64, _UINT8, _TABLE = Array("int32"), Array("int64"), Array("uint8"), Array("int32", 2)
NFA = Record(
    "an NFA",
    {
        **dict.fromkeys(("edge_at", "empty_at", "call_at"), _INT32),
        "final": _UINT8,
        **dict.fromkeys(("edges", "empties", "calls"), _TABLE),
    },
)
DFA = Record(
    "a DFA",
    {
        "final": _UINT8,
        **dict.fromkeys(("at", "edge_at", "empty_at", "call_at"), _INT32),
        **dict.fromkeys(("edges", "empties", "calls"), _TABLE),
        **dict.fromkeys(("members", "starts", "firsts"), _INT32),
        "counts": _INT64,
    },
)
_KINDS: dict[str, Kind] = {
    "nfa": NFA,
    "dfa": DFA,
    "work": Record("scratch space", dict.fromkeys(Scratch._fields, _INT32) | {"stamp": _INT64}),
    **dict.fromkeys(("firsts", "starts", "same", "found", "offsets", "table", "leader"), _INT32),
    "rows": _TABLE,
    "chosen": _UINT8,
}
_KERNELS = Kernels(
    __name__,
    [Path(__file__), Path(mixing.__file__)],
    _KINDS,
    ("subsets_of_entries", "unite_states"),
)
jit = _KERNELS.jit
jit(mix)


@jit
def close(nfa, work, mark, p, size):
    """Add to ``order`` what a position leads to over empty edges, as far as it matters: with edges, calls or an end.

    What is still to be looked at grows down from the end of ``order``: both together are no more than all positions.
    """
    stamp, order = work.stamp, work.order
    if stamp[p] == mark:
        return size
    stamp[p] = mark
    top = order.size - 1
    order[top] = p
    while top < order.size:
        p = int(order[top])
        top += 1
        if (
            nfa.final[p] != 0
            or nfa.edge_at[p] < nfa.edge_at[p + 1]
            or nfa.call_at[p] < nfa.call_at[p + 1]
        ):
            order[size] = p
            size += 1
        for e in range(nfa.empty_at[p], nfa.empty_at[p + 1]):
            q = nfa.empties[1, e]
            if stamp[q] != mark:
                stamp[q] = mark
                top -= 1
                order[top] = q
    return size


@jit
def state_of(nfa, dfa, work, base, mark, size):
    """The state of a closure, made when it is new; negative, ``-2 - what``, where there is no room for it."""
    order, table, members, counts = work.order, work.table, dfa.members, dfa.counts
    # in any order: what has the mark, and matters, is in the closure
    total = 0
    for i in range(size):
        total += mix(SEED, int(order[i]))
    room = int(counts[TABLE])
    slot = mix(SEED, total) & (room - 1)
    while table[slot] >= 0:
        state = int(table[slot])
        begin = int(dfa.at[state])
        if dfa.at[state + 1] - begin == size:
            same = True
            for i in range(begin, begin + size):
                if work.stamp[members[i]] != mark:
                    same = False
                    break
            if same:
                return state
        slot = (slot + 1) & (room - 1)
    state = int(counts[STATES])
    if state >= dfa.final.size:
        return -2 - STATES
    if counts[MEMBERS] + size > members.size:
        return -2 - MEMBERS
    if state - base >= room - 1:
        return -1
    table[slot] = state
    ends = 0
    at = int(counts[MEMBERS])
    for i in range(size):
        members[at + i] = order[i]
        ends |= int(nfa.final[order[i]])
    dfa.final[state] = ends
    counts[MEMBERS] = at + size
    dfa.at[state + 1] = at + size
    counts[STATES] = state + 1
    return state


@jit
def sort_by_first(work, n):
    """Sort the edges of a state by their first symbols (Shell's sort)."""
    low, high, to = work.low, work.high, work.to
    gap = n // 2
    while gap > 0:
        for i in range(gap, n):
            a, b, c = low[i], high[i], to[i]
            k = i
            while k >= gap and low[k - gap] > a:
                low[k], high[k], to[k] = low[k - gap], high[k - gap], to[k - gap]
                k -= gap
            low[k], high[k], to[k] = a, b, c
        gap //= 2


@jit
def edges_of(nfa, dfa, work, here):
    """List the edges of a state's positions, sorted by their first symbols; returns how many."""
    low, high, to = work.low, work.high, work.to
    n = 0
    sorted_ = True
    for i in range(dfa.at[here], dfa.at[here + 1]):
        p = dfa.members[i]
        for e in range(nfa.edge_at[p], nfa.edge_at[p + 1]):
            if n > 0 and nfa.edges[1, e] < low[n - 1]:
                sorted_ = False
            low[n] = nfa.edges[1, e]
            high[n] = nfa.edges[2, e]
            to[n] = nfa.edges[3, e]
            n += 1
    if not sorted_:
        sort_by_first(work, n)
    return n


@jit
def steps(nfa, dfa, work, base, here):
    """The edges of a state, by a sweep over the symbols: between two bounds the same edges are active.

    Returns DONE, TOO_LARGE, or what there is no room for.
    """
    low, high, to, active = work.low, work.high, work.to, work.active
    counts, edges = dfa.counts, dfa.edges
    n = edges_of(nfa, dfa, work, here)
    following = 0
    n_active = 0
    begin = 0
    while following < n or n_active > 0:
        if n_active == 0:
            begin = int(low[following])
        while following < n and low[following] == begin:
            active[n_active] = following
            n_active += 1
            following += 1
        end = int(high[active[0]])
        for i in range(1, n_active):
            end = min(end, int(high[active[i]]))
        if following < n:
            end = min(end, int(low[following]) - 1)
        counts[MARK] += 1
        mark = int(counts[MARK])
        size = 0
        for i in range(n_active):
            size = close(nfa, work, mark, int(to[active[i]]), size)
        target = int(state_of(nfa, dfa, work, base, mark, size))
        if target < 0:
            return TOO_LARGE if target == -1 else -2 - target
        at = int(counts[EDGES])
        last = at - 1
        if (
            at > 0
            and edges[0, last] == here
            and edges[3, last] == target
            and edges[2, last] + 1 == begin
        ):
            edges[2, last] = end
        else:
            if at >= edges.shape[1]:
                return EDGES
            edges[0, at] = here
            edges[1, at] = begin
            edges[2, at] = end
            edges[3, at] = target
            counts[EDGES] = at + 1
        kept = 0
        for i in range(n_active):
            if high[active[i]] > end:
                active[kept] = active[i]
                kept += 1
        n_active = kept
        begin = end + 1
    return DONE


@jit
def comes_before(nfa, one, other):
    """Whether a call comes before another, by entry, loop, watch, and whether it is a jump."""
    calls = nfa.calls
    for column in range(1, 4):
        if calls[column, one] != calls[column, other]:
            return calls[column, one] < calls[column, other]
    return (calls[4, one] < 0) and (calls[4, other] >= 0)


@jit
def returns(nfa, dfa, work, base, here):
    """The calls of a state: those of one callee return to one state. Returns as :func:`steps`."""
    listed, calls, counts = work.listed, nfa.calls, dfa.counts
    n = 0
    for i in range(dfa.at[here], dfa.at[here + 1]):
        p = dfa.members[i]
        for c in range(nfa.call_at[p], nfa.call_at[p + 1]):
            # in the order of what is called, so that equals are neighbours
            k = n
            while k > 0 and comes_before(nfa, c, int(listed[k - 1])):
                listed[k] = listed[k - 1]
                k -= 1
            listed[k] = c
            n += 1
    i = 0
    while i < n:
        c = int(listed[i])
        counts[MARK] += 1
        mark = int(counts[MARK])
        size = 0
        while i < n and not comes_before(nfa, c, int(listed[i])):
            if calls[4, listed[i]] >= 0:
                size = close(nfa, work, mark, int(calls[4, listed[i]]), size)
            i += 1
        target = -1
        if calls[4, c] >= 0:
            target = int(state_of(nfa, dfa, work, base, mark, size))
            if target < 0:
                return TOO_LARGE if target == -1 else -2 - target
        at = int(counts[CALLS])
        if at >= dfa.calls.shape[1]:
            return CALLS
        dfa.calls[0, at] = here
        dfa.calls[1, at] = calls[1, c]
        dfa.calls[2, at] = calls[2, c]
        dfa.calls[3, at] = calls[3, c]
        dfa.calls[4, at] = target
        counts[CALLS] = at + 1
    return DONE


@jit
def deterministic(nfa, dfa, work, start, n):
    """The states of one entry of ``n`` positions. Returns as :func:`steps`."""
    counts = dfa.counts
    base, base_members = int(counts[STATES]), int(counts[MEMBERS])
    room = 64
    while room < 2 * (MOST_STATES * n + FEW):
        room *= 2
    counts[TABLE] = room
    for i in range(room):
        work.table[i] = -1
    counts[MARK] += 1
    mark = int(counts[MARK])
    size = close(nfa, work, mark, start, 0)
    state = int(state_of(nfa, dfa, work, base, mark, size))
    if state < 0:
        return TOO_LARGE if state == -1 else -2 - state
    here = base
    while here < counts[STATES]:
        if (
            counts[STATES] - base > MOST_STATES * n + FEW
            or counts[MEMBERS] - base_members > MOST_MEMBERS * n + FEW
        ):
            return TOO_LARGE
        counts[LEFT] -= int(dfa.at[here + 1]) - int(dfa.at[here])
        done = int(steps(nfa, dfa, work, base, here))
        if done == DONE:
            done = int(returns(nfa, dfa, work, base, here))
        if done != DONE:
            return done
        here += 1
    return DONE


@jit
def as_it_is(nfa, dfa, first, last):
    """The positions of one entry, each a state of its own. Returns as :func:`steps`."""
    counts = dfa.counts
    base = int(counts[STATES]) - first
    if counts[STATES] + last - first > dfa.final.size:
        return STATES
    if counts[MEMBERS] + last - first > dfa.members.size:
        return MEMBERS
    if counts[EDGES] + nfa.edge_at[last] - nfa.edge_at[first] > dfa.edges.shape[1]:
        return EDGES
    if counts[CALLS] + nfa.call_at[last] - nfa.call_at[first] > dfa.calls.shape[1]:
        return CALLS
    for p in range(first, last):
        state = p + base
        dfa.final[state] = nfa.final[p]
        dfa.members[counts[MEMBERS]] = p
        counts[MEMBERS] += 1
        dfa.at[state + 1] = counts[MEMBERS]
    counts[STATES] += last - first
    for e in range(nfa.edge_at[first], nfa.edge_at[last]):
        at = int(counts[EDGES])
        dfa.edges[0, at] = nfa.edges[0, e] + base
        dfa.edges[1, at] = nfa.edges[1, e]
        dfa.edges[2, at] = nfa.edges[2, e]
        dfa.edges[3, at] = nfa.edges[3, e] + base
        counts[EDGES] = at + 1
    for e in range(nfa.empty_at[first], nfa.empty_at[last]):
        at = int(counts[EMPTIES])
        dfa.empties[0, at] = nfa.empties[0, e] + base
        dfa.empties[1, at] = nfa.empties[1, e] + base
        dfa.empties[2, at] = nfa.empties[2, e]
        counts[EMPTIES] = at + 1
    for c in range(nfa.call_at[first], nfa.call_at[last]):
        at = int(counts[CALLS])
        dfa.calls[0, at] = nfa.calls[0, c] + base
        for column in range(1, 4):
            dfa.calls[column, at] = nfa.calls[column, c]
        dfa.calls[4, at] = nfa.calls[4, c] + base if nfa.calls[4, c] >= 0 else -1
        counts[CALLS] = at + 1
    return DONE


@jit
def offsets_of(rows, size, offsets, n):
    """Where the rows of each of ``n`` states begin, and the end of the last one's; they are sorted by source."""
    at = 0
    for state in range(n):
        offsets[state] = at
        while at < size and rows[0, at] == state:
            at += 1
    offsets[n] = at


@jit
def subsets_of_entries(nfa, dfa, work, firsts, starts, chosen):
    """All entries; DONE, or what there is no room for."""
    counts = dfa.counts
    dfa.at[0] = 0
    for i in range(starts.size):
        first, last, start = int(firsts[i]), int(firsts[i + 1]), int(starts[i])
        states, edges, calls = int(counts[STATES]), int(counts[EDGES]), int(counts[CALLS])
        members = int(counts[MEMBERS])
        dfa.firsts[i] = states
        if chosen[i] != 0 and counts[LEFT] > 0:
            done = int(deterministic(nfa, dfa, work, start, last - first))
            if done == DONE:
                dfa.starts[i] = states
                continue
            if done != TOO_LARGE:
                return done
            counts[STATES] = states
            counts[EDGES] = edges
            counts[CALLS] = calls
            counts[MEMBERS] = members
        dfa.starts[i] = start - first + states
        done = int(as_it_is(nfa, dfa, first, last))
        if done != DONE:
            return done
    n = int(counts[STATES])
    offsets_of(dfa.edges, int(counts[EDGES]), dfa.edge_at, n)
    offsets_of(dfa.empties, int(counts[EMPTIES]), dfa.empty_at, n)
    offsets_of(dfa.calls, int(counts[CALLS]), dfa.call_at, n)
    return DONE


@jit
def alike(nfa, same, one, other):
    """Whether two states end and go on alike, as far as states are united; a loop at each is the same."""
    edges, calls = nfa.edges, nfa.calls
    n_edges = int(nfa.edge_at[one + 1] - nfa.edge_at[one])
    n_calls = int(nfa.call_at[one + 1] - nfa.call_at[one])
    if (
        nfa.final[one] != nfa.final[other]
        or n_edges != nfa.edge_at[other + 1] - nfa.edge_at[other]
        or n_calls != nfa.call_at[other + 1] - nfa.call_at[other]
    ):
        return False
    for i in range(n_edges):
        e, f = nfa.edge_at[one] + i, nfa.edge_at[other] + i
        if edges[1, e] != edges[1, f] or edges[2, e] != edges[2, f]:
            return False
        here, there = same[edges[3, e]], same[edges[3, f]]
        if here != there and not (here == one and there == other):
            return False
    for i in range(n_calls):
        c, d = nfa.call_at[one] + i, nfa.call_at[other] + i
        for column in range(1, 4):
            if calls[column, c] != calls[column, d]:
                return False
        if (calls[4, c] < 0) != (calls[4, d] < 0):
            return False
        if calls[4, c] >= 0 and same[calls[4, c]] != same[calls[4, d]]:
            return False
    return True


@jit
def signature(nfa, same, state):
    """A hash of how a state ends and goes on, as far as states are united."""
    edges, calls = nfa.edges, nfa.calls
    mixed = mix(SEED, int(nfa.final[state]))
    for e in range(nfa.edge_at[state], nfa.edge_at[state + 1]):
        target = int(same[edges[3, e]])
        if target == state:
            target = -1
        mixed = mix(mix(mixed, int(edges[1, e]) << 16 ^ int(edges[2, e])), target)
    for c in range(nfa.call_at[state], nfa.call_at[state + 1]):
        target = -1 if calls[4, c] < 0 else int(same[calls[4, c]])
        mixed = mix(mix(mixed, int(calls[1, c])), int(calls[2, c]))
        mixed = mix(mix(mixed, int(calls[3, c])), target)
    return mixed


@jit
def united(nfa, table, same, first, last):
    """One pass over the states of an entry, from the last: what follows is united before. Whether any were."""
    size = 64
    while size < 2 * (last - first):
        size *= 2
    for i in range(size):
        table[i] = -1
    changed = False
    for state in range(last - 1, first - 1, -1):
        if same[state] != state:
            continue
        slot = signature(nfa, same, state) & (size - 1)
        while table[slot] >= 0:
            if alike(nfa, same, state, int(table[slot])):
                same[state] = table[slot]
                changed = True
                break
            slot = (slot + 1) & (size - 1)
        if table[slot] < 0:
            table[slot] = state
    return changed


@jit
def unite_states(dfa, nfa, table, leader, same, found):
    """Point states in ``found`` to one that ends and goes on alike, entry by entry.

    ``nfa`` has the same states; ``table``, ``leader`` and ``same`` are for the work. Only entries without empty edges
    are looked at: the states of others do not show all that they offer in their edges and calls.
    """
    n = int(dfa.counts[STATES])
    for state in range(n):
        same[state] = state
        found[state] = state
    for i in range(dfa.firsts.size):
        first = int(dfa.firsts[i])
        last = int(dfa.firsts[i + 1]) if i + 1 < dfa.firsts.size else n
        if last - first < 2 or nfa.empty_at[first] < nfa.empty_at[last]:
            continue
        passes = 0
        while passes < PASSES and united(nfa, table, same, first, last):
            passes += 1
        if passes == 0:
            continue
        # the first of each kind stands for all
        for state in range(first, last):
            leader[state - first] = -1
        for state in range(first, last):
            top = state
            while same[top] != top:
                top = int(same[top])
            if leader[top - first] < 0:
                leader[top - first] = state
            found[state] = leader[top - first]


_KERNELS.finished()
subsets = entry(subsets_of_entries)
unite = entry(unite_states)

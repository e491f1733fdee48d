"""The subset construction (Rabin and Scott, 1959) within each entry of an automaton, and within a budget.

An entry's positions become deterministic states over bytes and calls: calls of one entry from one state return to
one state. What cannot be settled here stays as it is and is determinised by the engine when a text meets it: entries
whose empty edges have guards, and those that would get too many states.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from workbench.automaton.row_kernels import compress, find_jumps, lay_out, own_calls
from workbench.automaton.rows import by_source, offsets
from workbench.automaton.subset_kernels import (
    CALLS,
    COUNTS,
    EDGES,
    LEFT,
    Dfa,
    Nfa,
    Scratch,
    subsets,
    unite,
)

__all__ = ["Determinised", "determinise", "laid_out"]

_Column = NDArray[np.int32]


class Determinised(NamedTuple):
    """Entries whose states are sets of positions.

    ``starts`` is the state where each entry begins, ``firsts`` its first state (their states lie one entry after the
    other); state ``s`` is the set ``members[at[s]:at[s + 1]]``; ``work`` is how many positions were looked at.
    """

    nfa: Nfa
    starts: _Column
    firsts: _Column
    at: _Column
    members: _Column
    work: int

    @property
    def n(self) -> int:
        """How many states there are."""
        return len(self.nfa.final)


def laid_out(rows: _Column, calls: _Column, final: NDArray[np.bool_], n_symbols: int) -> Nfa:
    """Positions in CSR form, with calls that need no frame as jumps.

    Columns of ``rows`` are source, first symbol, last symbol, target; of empty edges -1, and as the last symbol their
    guard or -1. Those of ``calls`` are as in an :class:`Nfa`.
    """
    rows, calls = np.ascontiguousarray(rows), np.ascontiguousarray(calls)
    n, n_rows = len(final), rows.shape[1]
    plain = int(np.count_nonzero(rows[1] >= 0))
    nfa = Nfa(
        np.empty(n + 1, dtype=np.int32),
        np.empty(n + 1, dtype=np.int32),
        np.empty(n + 1, dtype=np.int32),
        final.view(np.uint8),
        np.empty((4, plain), dtype=np.int32),
        np.empty((3, n_rows - plain), dtype=np.int32),
        np.empty(calls.shape, dtype=np.int32),
    )
    order = np.empty(max(n_rows, n), dtype=np.int32)
    lay_out(nfa, rows, calls, order, np.empty(max(n, n_symbols) + 3, dtype=np.int32))
    find_jumps(nfa, order, np.zeros(n, dtype=np.int32))
    return nfa


def determinise(
    nfa: Nfa,
    firsts: _Column,
    starts: _Column,
    entries: Sequence[int],
    chosen: NDArray[np.bool_],
    most: int,
) -> Determinised:
    """Determinise some entries.

    ``firsts`` is the first position of each entry and, at last, their number; ``starts`` the position where each
    begins, ``entries`` its number; ``chosen`` are those to determinise, until ``most`` positions have been looked at.
    States of an entry that end and go on alike are one then (not always the fewest there may be).
    """
    longest = int(np.diff(firsts).max(initial=0))
    work = _scratch(nfa, 1 << (8 * longest + 64).bit_length())
    room = 64 + 2 * len(nfa.final)
    n_edges, n_calls = nfa.edges.shape[1], nfa.calls.shape[1]
    # states, edges, empty edges, calls, members
    sizes = [room, 2 * room + 2 * n_edges, nfa.empties.shape[1], room + n_calls, 4 * room]
    while True:
        made = _room_for(sizes, len(starts))
        made.counts[LEFT] = most
        work.stamp[:] = 0
        full = subsets(nfa, made, work, firsts, starts, chosen.view(np.uint8))
        if full < 0:
            break
        sizes[full] *= 2
    if own_calls(made, np.array(entries, dtype=np.int32)):
        made = _without_own_frames(made, np.array(entries, dtype=np.int32))
    return _united(made, most)


def _room_for(sizes: Sequence[int], entries: int) -> Dfa:
    """A DFA with room for so many states, edges, empty edges, calls and members."""
    states, edges, empties, calls, members = sizes
    at, edge_at, empty_at, call_at = (np.empty(states + 1, dtype=np.int32) for _ in range(4))
    return Dfa(
        np.empty(states, dtype=np.uint8),
        at,
        edge_at,
        empty_at,
        call_at,
        np.empty((4, edges), dtype=np.int32),
        np.empty((3, empties), dtype=np.int32),
        np.empty((5, calls), dtype=np.int32),
        np.empty(members, dtype=np.int32),
        np.empty(entries, dtype=np.int32),
        np.empty(entries, dtype=np.int32),
        np.zeros(COUNTS, dtype=np.int64),
    )


def _scratch(nfa: Nfa, table: int) -> Scratch:
    n = len(nfa.final)
    edges, calls = nfa.edges.shape[1] + 1, max(nfa.calls.shape[1], n) + 1
    sizes = n + 1, table, edges, edges, edges, edges, calls
    return Scratch(np.zeros(n, dtype=np.int64), *(np.empty(size, dtype=np.int32) for size in sizes))


def _united(made: Dfa, most: int) -> Determinised:
    """The states of a DFA, those that end and go on alike as one."""
    n, n_edges, n_empties, n_calls, n_members, left, *_ = made.counts.tolist()
    nfa = Nfa(
        made.edge_at,
        made.empty_at,
        made.call_at,
        made.final,
        made.edges,
        made.empties,
        made.calls,
    )
    found, number, leader = np.empty((3, n), dtype=np.int32)
    table = np.empty(1 << (2 * n + 64).bit_length(), dtype=np.int32)
    unite(made, nfa, table, leader, number, found)
    out = _room_for((n, n_edges, n_empties, n_calls, n_members), len(made.starts))
    compress(made, found, number, out)
    n, n_edges, _, n_calls, *_ = out.counts.tolist()
    return Determinised(
        Nfa(
            out.edge_at[: n + 1],
            out.empty_at[: n + 1],
            out.call_at[: n + 1],
            out.final[:n],
            out.edges[:, :n_edges],
            out.empties,
            out.calls[:, :n_calls],
        ),
        out.starts,
        out.firsts,
        out.at[: n + 1],
        out.members,
        most - left,
    )


def _without_own_frames(made: Dfa, entries: _Column) -> Dfa:
    """A DFA without the calls that entries make of themselves where they need no frame.

    A call of E whose return point offers only what every end of E offers adds no text: L(E) L(r) = L(E) then, as in
    ``E -> E "+" E | n``. In its place the state gets what the start of E offers.
    """
    n, n_edges, n_empties, n_calls, *_ = made.counts.tolist()
    edges, calls = made.edges[:, :n_edges], made.calls[:, :n_calls]
    final = made.final[:n].astype(np.bool_)
    of = made.firsts.searchsorted(calls[0], side="right") - 1
    own = (calls[1] == entries[of]) & ((calls[2] & calls[3]) == -1)
    own &= final[calls[4]] & (calls[4] >= 0)
    # only where states show all that they offer in their edges and calls
    shown = np.ones(len(entries), dtype=np.bool_)
    shown[made.firsts.searchsorted(made.empties[0, :n_empties], side="right") - 1] = False
    own &= shown[of]
    owner = made.firsts.searchsorted(np.arange(n), side="right") - 1
    dropped = np.zeros(n_calls, dtype=np.bool_)
    for i in np.unique(of[own]).tolist():
        # what other entries end with ends this one, too
        here = of == i
        if ((calls[4] < 0) & here & (calls[1] != entries[i])).any():
            continue
        offers = _offers(n, edges, calls, np.flatnonzero(final & (owner == i)).tolist())
        common = _offered_by_all(offers)
        for c in np.flatnonzero(own & here).tolist():
            dropped[c] = offers[int(calls[4, c])] <= common
    if not dropped.any():
        return made
    sources = calls[0, dropped].tolist()
    starts = made.starts[of[dropped]].tolist()
    listed = calls[:, ~dropped].T.tolist()
    rows = {tuple(call) for call in listed}
    more = [edges]
    for source, start in zip(sources, starts, strict=True):
        offered = edges[:, edges[0] == start].copy()
        offered[0] = source
        more.append(offered)
        rows |= {(source, *rest) for at, *rest in listed if at == start}
    edges = by_source(np.concatenate(more, axis=1))
    calls = np.ascontiguousarray(np.array(sorted(rows), dtype=np.int32).reshape(-1, 5).T)
    made.counts[[EDGES, CALLS]] = edges.shape[1], calls.shape[1]
    return made._replace(
        edge_at=offsets(edges[0], n),
        call_at=offsets(calls[0], n),
        edges=np.ascontiguousarray(edges),
        calls=calls,
    )


def _offers(
    n: int, edges: _Column, calls: _Column, states: list[int]
) -> dict[int, frozenset[tuple[int, ...]]]:
    """What may be read in some of ``n`` states: edges, and calls with where they return."""
    wanted = np.zeros(n, dtype=np.bool_)
    wanted[states] = True
    found: dict[int, set[tuple[int, ...]]] = {state: set() for state in states}
    for some in (edges, calls):
        for source, *rest in some[:, wanted[some[0]]].T.tolist():
            found[source].add(tuple(rest))
    return {state: frozenset(offered) for state, offered in found.items()}


def _offered_by_all(offers: Mapping[int, frozenset[tuple[int, ...]]]) -> frozenset[tuple[int, ...]]:
    return frozenset.intersection(*offers.values())

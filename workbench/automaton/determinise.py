"""The subset construction (Rabin and Scott, 1959) within each entry of an automaton, and within a budget.

An entry's positions become deterministic states over bytes and calls: calls of one entry from one state return to
one state. What cannot be settled here stays as it is and is determinised by the engine when a text meets it: entries
whose empty edges have guards, and those that would get too many states.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from workbench.automaton.rows import by_source, offsets
from workbench.automaton.subset_kernels import COUNTS, LEFT, Dfa, Nfa, Scratch, subsets, unite

__all__ = ["Determinised", "Parts", "determinise", "merged", "without_own_frames"]

_Column = NDArray[np.int32]


class Parts(NamedTuple):
    """Some entries of an automaton: states from 0 on, edges in CSR form, calls with their columns.

    ``calls`` has the columns source, entry, loop, watch, return (-1: jump); ``edges`` source, first symbol, last
    symbol, target; ``empties`` source, target, guard; all are sorted by source.
    """

    n: int
    final: NDArray[np.bool_]
    edges: _Column
    empties: _Column
    calls: _Column


class Determinised(NamedTuple):
    """Parts whose states are sets of positions.

    ``starts`` is the state where each entry begins, ``firsts`` its first state (their states lie one entry after the
    other); state ``s`` is the set ``members[at[s]:at[s + 1]]``; ``work`` is how many positions were looked at.
    """

    parts: Parts
    starts: _Column
    firsts: _Column
    at: _Column
    members: _Column
    work: int


def _offsets(sources: _Column, n: int) -> _Column:
    """CSR offsets of ``n`` states by the sources of their rows."""
    return np.concatenate([np.zeros(1, dtype=np.int32), offsets(0, sources, 0, n)])


def determinise(
    parts: Parts, firsts: _Column, starts: _Column, chosen: NDArray[np.bool_], most: int
) -> Determinised:
    """Determinise some entries, position by position of ``parts``.

    ``firsts`` is the first position of each entry and, at last, their number; ``starts`` the position where each
    begins; ``chosen`` are those to determinise, until ``most`` positions have been looked at.
    """
    nfa = _read(parts)
    longest = int(np.diff(firsts).max(initial=0))
    work = _scratch(parts, 1 << (8 * longest + 64).bit_length())
    room = 64 + 2 * parts.n
    n_edges, n_calls = parts.edges.shape[1], parts.calls.shape[1]
    # states, edges, empty edges, calls, members
    sizes = [room, 2 * room + 2 * n_edges, parts.empties.shape[1], room + n_calls, 4 * room]
    while True:
        made = Dfa(
            np.empty(sizes[0], dtype=np.int32),
            np.empty(sizes[0] + 1, dtype=np.int32),
            np.empty((4, sizes[1]), dtype=np.int32),
            np.empty((3, sizes[2]), dtype=np.int32),
            np.empty((5, sizes[3]), dtype=np.int32),
            np.empty(sizes[4], dtype=np.int32),
            np.empty(len(starts), dtype=np.int32),
            np.empty(len(starts), dtype=np.int32),
            np.zeros(COUNTS, dtype=np.int64),
        )
        made.counts[LEFT] = most
        work.stamp[:] = 0
        full = subsets(nfa, made, work, firsts, starts, chosen.view(np.uint8))
        if full < 0:
            break
        sizes[full] *= 2
    n, n_edges, n_empties, n_calls, n_members, left, *_ = made.counts.tolist()
    return Determinised(
        Parts(
            n,
            made.final[:n].astype(np.bool_),
            made.edges[:, :n_edges],
            made.empties[:, :n_empties],
            made.calls[:, :n_calls],
        ),
        made.starts,
        made.firsts,
        made.at[: n + 1],
        made.members[:n_members],
        most - left,
    )


def _read(parts: Parts) -> Nfa:
    return Nfa(
        _offsets(parts.edges[0], parts.n),
        _offsets(parts.empties[0], parts.n),
        _offsets(parts.calls[0], parts.n),
        parts.final.view(np.uint8),
        np.ascontiguousarray(parts.edges),
        np.ascontiguousarray(parts.empties),
        np.ascontiguousarray(parts.calls),
    )


def _scratch(parts: Parts, table: int) -> Scratch:
    edges, calls = parts.edges.shape[1] + 1, max(parts.calls.shape[1], parts.n) + 1
    sizes = parts.n + 1, table, edges, edges, edges, edges, calls
    return Scratch(
        np.zeros(parts.n, dtype=np.int64), *(np.empty(size, dtype=np.int32) for size in sizes)
    )


def _without_empty_edges(made: Determinised) -> NDArray[np.bool_]:
    """The entries whose states show all that they offer in their edges and calls."""
    found = np.ones(len(made.starts), dtype=np.bool_)
    found[made.firsts.searchsorted(made.parts.empties[0], side="right") - 1] = False
    return found


def without_own_frames(made: Determinised, entries: _Column) -> Determinised:
    """Parts without the calls that entries make of themselves where they need no frame.

    A call of E whose return point offers only what every end of E offers adds no text: L(E) L(r) = L(E) then, as in
    ``E -> E "+" E | n``. In its place the state gets what the start of E offers.
    """
    parts = made.parts
    of = made.firsts.searchsorted(parts.calls[0], side="right") - 1
    own = parts.calls[1] == entries[of]
    if not own.any():
        return made
    own &= _without_empty_edges(made)[of]
    own &= (parts.calls[2] & parts.calls[3]) == -1
    own &= parts.final[parts.calls[4]] & (parts.calls[4] >= 0)
    owner = made.firsts.searchsorted(np.arange(parts.n), side="right") - 1
    dropped = np.zeros(parts.calls.shape[1], dtype=np.bool_)
    for i in np.unique(of[own]).tolist():
        # what other entries end with ends this one, too
        here = of == i
        if ((parts.calls[4] < 0) & here & (parts.calls[1] != entries[i])).any():
            continue
        offers = _offers(parts, np.flatnonzero(parts.final & (owner == i)).tolist())
        common = _offered_by_all(offers)
        for c in np.flatnonzero(own & here).tolist():
            dropped[c] = offers[int(parts.calls[4, c])] <= common
    if not dropped.any():
        return made
    sources = parts.calls[0, dropped].tolist()
    starts = made.starts[of[dropped]].tolist()
    edges, calls = parts.edges, parts.calls[:, ~dropped]
    listed = calls.T.tolist()
    rows = {tuple(call) for call in listed}
    more = [edges]
    for source, start in zip(sources, starts, strict=True):
        offered = edges[:, edges[0] == start].copy()
        offered[0] = source
        more.append(offered)
        rows |= {(source, *rest) for at, *rest in listed if at == start}
    edges = by_source(np.concatenate(more, axis=1))
    calls = np.array(sorted(rows), dtype=np.int32).reshape(-1, 5).T
    return made._replace(parts=parts._replace(edges=edges, calls=calls))


def _offers(parts: Parts, states: list[int]) -> dict[int, frozenset[tuple[int, ...]]]:
    """What may be read in some states: edges, and calls with where they return."""
    wanted = np.zeros(parts.n, dtype=np.bool_)
    wanted[states] = True
    found: dict[int, set[tuple[int, ...]]] = {state: set() for state in states}
    for some in (parts.edges, parts.calls):
        for source, *rest in some[:, wanted[some[0]]].T.tolist():
            found[source].add(tuple(rest))
    return {state: frozenset(offered) for state, offered in found.items()}


def _offered_by_all(offers: Mapping[int, frozenset[tuple[int, ...]]]) -> frozenset[tuple[int, ...]]:
    return frozenset.intersection(*offers.values())


def merged(made: Determinised) -> Determinised:
    """Parts in which states of an entry that end and go on alike are one (not always the fewest there may be)."""
    parts, chosen = made.parts, _without_empty_edges(made)
    same, found = np.arange(parts.n, dtype=np.int32), np.arange(parts.n, dtype=np.int32)
    bounds = np.append(made.firsts, np.int32(parts.n))
    work = _scratch(parts, 1 << (2 * parts.n + 64).bit_length())
    if not unite(_read(parts), work, bounds, chosen.view(np.uint8), same, found):
        return made
    kept = found == np.arange(parts.n)
    number = (np.cumsum(kept) - 1).astype(np.int32)[found]
    edges = parts.edges[:, kept[parts.edges[0]]]
    edges[[0, 3]] = number[edges[[0, 3]]]
    calls = parts.calls[:, kept[parts.calls[0]]]
    calls[0] = number[calls[0]]
    calls[4] = np.where(calls[4] < 0, calls[4], number[calls[4]])
    empties = parts.empties.copy()
    empties[:2] = number[empties[:2]]
    # a state stands for what all of its kind stood for
    owner = number.repeat(np.diff(made.at))
    order = owner.argsort(kind="stable")
    n = int(kept.sum())
    return Determinised(
        Parts(n, parts.final[kept], edges, empties, calls),
        number[made.starts],
        number[made.firsts],
        _offsets(owner, n),
        made.members[order],
        made.work,
    )

"""The subset construction (Rabin and Scott, 1959) within each entry of an automaton, and within a budget.

An entry's positions become deterministic states over bytes and calls: calls of one entry from one state return to
one state. What cannot be settled here stays as it is and is determinised by the engine when a text meets it: entries
whose empty edges have guards, and those that would get too many states.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["Determinised", "Parts", "determinise", "merged", "without_own_frames"]

_Column = NDArray[np.int32]

#: states and members of states that an entry may have for each of its positions, and beside that
_STATES, _MEMBERS, _FEW = 4, 24, 32
#: how often states of an entry are gone through to unite them
_PASSES = 6
_SEED = np.uint64(14695981039346656037)


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
    counts = np.bincount(sources, minlength=n) if len(sources) else np.zeros(n, dtype=np.int64)
    return np.concatenate([np.zeros(1, dtype=np.int64), counts.cumsum()]).astype(np.int32)


def determinise(
    parts: Parts, firsts: _Column, starts: _Column, chosen: NDArray[np.bool_], most: int
) -> Determinised:
    """Determinise some entries, position by position of ``parts``.

    ``firsts`` is the first position of each entry and, at last, their number; ``starts`` the position where each
    begins; ``chosen`` are those to determinise, until ``most`` positions have been looked at.
    """
    n = parts.n
    at = _offsets(parts.edges[0], n), _offsets(parts.empties[0], n), _offsets(parts.calls[0], n)
    room = 64 + 2 * n
    sizes = [room, 2 * room + 2 * parts.edges.shape[1], room + parts.calls.shape[1], 4 * room]
    while True:
        made = [np.empty(size, dtype=np.int32) for size in (sizes[0], sizes[0] + 1)]
        edges = np.empty((4, sizes[1]), dtype=np.int32)
        empties = np.empty((3, parts.empties.shape[1]), dtype=np.int32)
        calls = np.empty((5, sizes[2]), dtype=np.int32)
        members = np.empty(sizes[3], dtype=np.int32)
        begins, bounds = np.empty((2, len(starts)), dtype=np.int32)
        counts = np.zeros(6, dtype=np.int64)
        counts[5] = most
        over = _run(
            *at,
            parts.final.view(np.uint8),
            parts.edges,
            parts.empties,
            parts.calls,
            firsts,
            starts,
            chosen.view(np.uint8),
            *made,
            edges,
            empties,
            calls,
            members,
            begins,
            bounds,
            counts,
        )
        if over == 0:
            break
        sizes[over - 1] *= 2
    n_states, n_edges, n_empties, n_calls, n_members, looked = counts.tolist()
    final, at_members = made
    out = Parts(
        n_states,
        final[:n_states].astype(np.bool_),
        edges[:, :n_edges],
        empties[:, :n_empties],
        calls[:, :n_calls],
    )
    return Determinised(
        out, begins, bounds, at_members[: n_states + 1], members[:n_members], most - looked
    )


def without_own_frames(made: Determinised, entries: _Column, chosen: NDArray[np.bool_]) -> Determinised:
    """Parts without the calls that entries make of themselves where they need no frame.

    A call of E whose return point offers only what every end of E offers adds no text: L(E) L(r) = L(E) then, as in
    ``E -> E "+" E | n``. In its place the state gets what the start of E offers.
    """
    parts = made.parts
    of = made.firsts.searchsorted(parts.calls[0], side="right") - 1
    own = (parts.calls[1] == entries[of]) & chosen[of]
    if not own.any():
        return made
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
        common = frozenset.intersection(*offers.values())
        for c in np.flatnonzero(own & here).tolist():
            dropped[c] = offers[int(parts.calls[4, c])] <= common
    if not dropped.any():
        return made
    sources = parts.calls[0, dropped].tolist()
    starts = made.starts[of[dropped]].tolist()
    edges, calls = parts.edges, parts.calls[:, ~dropped]
    rows = {tuple(call) for call in calls.T.tolist()}
    more = [edges]
    for source, start in zip(sources, starts, strict=True):
        offered = edges[:, edges[0] == start].copy()
        offered[0] = source
        more.append(offered)
        rows |= {(source, *rest) for at, *rest in calls.T.tolist() if at == start}
    edges = np.concatenate(more, axis=1)
    edges = edges[:, (edges[0] * np.int64(1 << 24) + edges[1]).argsort(kind="stable")]
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


def merged(made: Determinised, chosen: NDArray[np.bool_]) -> Determinised:
    """Parts in which states of an entry that end and go on alike are one (not always the fewest there may be)."""
    parts = made.parts
    same, found = np.arange(parts.n, dtype=np.int32), np.arange(parts.n, dtype=np.int32)
    bounds = np.append(made.firsts, np.int32(parts.n))
    edge_at, call_at = _offsets(parts.edges[0], parts.n), _offsets(parts.calls[0], parts.n)
    if not _unite(
        bounds, chosen.view(np.uint8), edge_at, call_at, parts.final.view(np.uint8), parts.edges, parts.calls, same, found
    ):  # fmt: skip
        return made
    kept = found == np.arange(parts.n)
    number = (np.cumsum(kept) - 1).astype(np.int32)
    number = number[found]
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


@njit(cache=True)
def _mixed(mixed: Any, value: int) -> Any:
    """A hash with one more number (Fowler, Noll and Vo)."""
    return (mixed ^ np.uint64(np.int64(value))) * np.uint64(1099511628211)


@njit(cache=True)
def _unite(
    bounds: Any, chosen: Any, edge_at: Any, call_at: Any, final: Any, edges: Any, calls: Any, same: Any, found: Any
) -> bool:
    """Point states in ``found`` to one that ends and goes on alike, entry by entry; whether there are any.

    ``same`` is for the work: at first, and in ``found`` where nothing is united, each state points to itself.
    """
    table = np.full(64, -1, dtype=np.int32)
    any_ = False
    for entry in range(len(chosen)):
        first, last = bounds[entry], bounds[entry + 1]
        if not chosen[entry] or last - first < 2:
            continue
        while len(table) < 2 * (last - first):
            table = np.full(2 * len(table), -1, dtype=np.int32)
        size = 64
        while size < 2 * (last - first):
            size *= 2
        for _ in range(_PASSES):
            changed = False
            table[:size] = -1
            # what was found last lies nearer to the end: what follows is united before
            for state in range(last - 1, first - 1, -1):
                if same[state] != state:
                    continue
                mixed = _mixed(_SEED, final[state])
                for e in range(edge_at[state], edge_at[state + 1]):
                    target = same[edges[3, e]]
                    if target == state:
                        target = -1
                    mixed = _mixed(_mixed(mixed, edges[1, e] << 22 | edges[2, e]), target)
                for c in range(call_at[state], call_at[state + 1]):
                    target = -1 if calls[4, c] < 0 else same[calls[4, c]]
                    mixed = _mixed(_mixed(mixed, calls[1, c]), calls[2, c])
                    mixed = _mixed(_mixed(mixed, calls[3, c]), target)
                slot = np.int64(mixed >> np.uint64(20)) & (size - 1)
                while table[slot] >= 0:
                    if _alike(state, table[slot], edge_at, call_at, final, edges, calls, same):
                        same[state] = table[slot]
                        changed = any_ = True
                        break
                    slot = (slot + 1) & (size - 1)
                if table[slot] < 0:
                    table[slot] = state
            if not changed:
                break
        # the first of each kind stands for all
        leader = np.full(last - first, -1, dtype=np.int32)
        for state in range(first, last):
            top = state
            while same[top] != top:
                top = same[top]
            if leader[top - first] < 0:
                leader[top - first] = state
            found[state] = leader[top - first]
    return any_


@njit(cache=True)
def _alike(
    one: int, other: int, edge_at: Any, call_at: Any, final: Any, edges: Any, calls: Any, same: Any
) -> bool:
    """Whether two states end and go on alike, as far as states are united."""
    n_edges = edge_at[one + 1] - edge_at[one]
    n_calls = call_at[one + 1] - call_at[one]
    if (
        final[one] != final[other]
        or n_edges != edge_at[other + 1] - edge_at[other]
        or n_calls != call_at[other + 1] - call_at[other]
    ):
        return False
    for i in range(n_edges):
        e, f = edge_at[one] + i, edge_at[other] + i
        if edges[1, e] != edges[1, f] or edges[2, e] != edges[2, f]:
            return False
        here, there = same[edges[3, e]], same[edges[3, f]]
        if here != there and not (here == one and there == other):
            return False
    for i in range(n_calls):
        c, d = call_at[one] + i, call_at[other] + i
        for column in range(1, 4):
            if calls[column, c] != calls[column, d]:
                return False
        if (calls[4, c] < 0) != (calls[4, d] < 0):
            return False
        if calls[4, c] >= 0 and same[calls[4, c]] != same[calls[4, d]]:
            return False
    return True


@njit(cache=True)
def _run(  # noqa: PLR0913 - the columns of what is read and of what is made
    edge_at: Any,
    empty_at: Any,
    call_at: Any,
    final: Any,
    edges: Any,
    empties: Any,
    calls: Any,
    firsts: Any,
    starts: Any,
    chosen: Any,
    out_final: Any,
    out_at: Any,
    out_edges: Any,
    out_empties: Any,
    out_calls: Any,
    members: Any,
    begins: Any,
    bounds: Any,
    counts: Any,
) -> int:
    """All entries; 0, or which of the arrays that are made is too small (1 states, 2 edges, 3 calls, 4 members)."""
    n = len(final)
    stamp = np.zeros(n, dtype=np.int64)
    order = np.empty(n + 1, dtype=np.int32)
    table = np.full(64, -1, dtype=np.int32)
    marks = np.zeros(1, dtype=np.int64)
    out_at[0] = 0
    for entry in range(len(starts)):
        first, last = firsts[entry], firsts[entry + 1]
        before = counts.copy()
        bounds[entry] = counts[0]
        done = 1
        if chosen[entry] and counts[5] > 0:
            most_states = _STATES * (last - first) + _FEW
            most_members = _MEMBERS * (last - first) + _FEW
            while len(table) < 2 * most_states:
                table = np.full(2 * len(table), -1, dtype=np.int32)
            table[:] = -1
            done = _subsets(
                edge_at, empty_at, call_at, final, edges, empties, calls, starts[entry],
                out_final, out_at, out_edges, out_calls, members, counts,
                stamp, order, table, marks, most_states, most_members,
            )  # fmt: skip
            if done > 1:
                return done - 1
            if done == 0:
                begins[entry] = before[0]
                continue
            left = counts[5]
            counts[:] = before
            counts[5] = left
        # as it is
        base = counts[0] - first
        begins[entry] = starts[entry] + base
        if counts[0] + last - first > len(out_final):
            return 1
        if counts[4] + last - first > len(members):
            return 4
        if counts[1] + edge_at[last] - edge_at[first] > out_edges.shape[1]:
            return 2
        if counts[3] + call_at[last] - call_at[first] > out_calls.shape[1]:
            return 3
        for p in range(first, last):
            s = counts[0]
            out_final[s] = final[p]
            members[counts[4]] = p
            counts[4] += 1
            out_at[s + 1] = counts[4]
            counts[0] += 1
        for e in range(edge_at[first], edge_at[last]):
            i = counts[1]
            out_edges[0, i] = edges[0, e] + base
            out_edges[1, i] = edges[1, e]
            out_edges[2, i] = edges[2, e]
            out_edges[3, i] = edges[3, e] + base
            counts[1] += 1
        for e in range(empty_at[first], empty_at[last]):
            i = counts[2]
            out_empties[0, i] = empties[0, e] + base
            out_empties[1, i] = empties[1, e] + base
            out_empties[2, i] = empties[2, e]
            counts[2] += 1
        for c in range(call_at[first], call_at[last]):
            i = counts[3]
            out_calls[0, i] = calls[0, c] + base
            out_calls[1, i] = calls[1, c]
            out_calls[2, i] = calls[2, c]
            out_calls[3, i] = calls[3, c]
            out_calls[4, i] = calls[4, c] + base if calls[4, c] >= 0 else -1
            counts[3] += 1
    return 0


@njit(cache=True)
def _subsets(  # noqa: PLR0913 - as _run
    edge_at: Any,
    empty_at: Any,
    call_at: Any,
    final: Any,
    edges: Any,
    empties: Any,
    calls: Any,
    start: int,
    out_final: Any,
    out_at: Any,
    out_edges: Any,
    out_calls: Any,
    members: Any,
    counts: Any,
    stamp: Any,
    order: Any,
    table: Any,
    marks: Any,
    most_states: int,
    most_members: int,
) -> int:
    """One entry; 0, 1 when it is too large to be worth it, or one more than what :func:`_run` returns."""
    base, base_members = counts[0], counts[4]
    # the start
    marks[0] += 1
    size = _close(start, 0, stamp, marks[0], order, edge_at, empty_at, call_at, final, empties)
    state = _state_of(order, size, out_final, out_at, members, counts, table, base, final)
    if state < 0:
        return -state
    found_low = np.empty(64, dtype=np.int32)
    found_high = np.empty(64, dtype=np.int32)
    found_to = np.empty(64, dtype=np.int32)
    active = np.empty(64, dtype=np.int32)
    here = base
    while here < counts[0]:
        if counts[0] - base > most_states or counts[4] - base_members > most_members:
            return 1
        begin, end = out_at[here], out_at[here + 1]
        counts[5] -= end - begin
        n_found = 0
        for i in range(begin, end):
            n_found += edge_at[members[i] + 1] - edge_at[members[i]]
        if n_found > len(found_low):
            found_low = np.empty(2 * n_found, dtype=np.int32)
            found_high = np.empty(2 * n_found, dtype=np.int32)
            found_to = np.empty(2 * n_found, dtype=np.int32)
            active = np.empty(2 * n_found, dtype=np.int32)
        n_found = 0
        overlap = False
        for i in range(begin, end):
            p = members[i]
            for e in range(edge_at[p], edge_at[p + 1]):
                if n_found and edges[1, e] <= found_high[n_found - 1]:
                    overlap = True
                found_low[n_found] = edges[1, e]
                found_high[n_found] = edges[2, e]
                found_to[n_found] = edges[3, e]
                n_found += 1
        if overlap:
            by = np.argsort(found_low[:n_found])
            found_low[:n_found] = found_low[:n_found][by]
            found_high[:n_found] = found_high[:n_found][by]
            found_to[:n_found] = found_to[:n_found][by]
        # a sweep over the symbols: between two bounds the same edges are active
        following = 0
        n_active = 0
        low = 0
        while following < n_found or n_active > 0:
            if n_active == 0:
                low = found_low[following]
            while following < n_found and found_low[following] == low:
                active[n_active] = following
                n_active += 1
                following += 1
            high = found_high[active[0]]
            for i in range(1, n_active):
                high = min(high, found_high[active[i]])
            if following < n_found:
                high = min(high, found_low[following] - 1)
            marks[0] += 1
            size = 0
            for i in range(n_active):
                size = _close(
                    found_to[active[i]], size, stamp, marks[0], order, edge_at, empty_at, call_at, final, empties
                )  # fmt: skip
            target = _state_of(order, size, out_final, out_at, members, counts, table, base, final)
            if target < 0:
                return -target
            at = counts[1]
            if (
                at > 0
                and out_edges[0, at - 1] == here
                and out_edges[3, at - 1] == target
                and out_edges[2, at - 1] + 1 == low
            ):
                out_edges[2, at - 1] = high
            else:
                if at >= out_edges.shape[1]:
                    return 3
                out_edges[0, at] = here
                out_edges[1, at] = low
                out_edges[2, at] = high
                out_edges[3, at] = target
                counts[1] += 1
            kept = 0
            for i in range(n_active):
                if found_high[active[i]] > high:
                    active[kept] = active[i]
                    kept += 1
            n_active = kept
            low = high + 1
        done = _returns(
            here, edge_at, empty_at, call_at, final, empties, calls,
            out_final, out_at, out_calls, members, counts, stamp, order, table, marks, base,
        )  # fmt: skip
        if done:
            return done
        here += 1
    return 0


@njit(cache=True)
def _returns(  # noqa: PLR0913 - as _run
    here: int,
    edge_at: Any,
    empty_at: Any,
    call_at: Any,
    final: Any,
    empties: Any,
    calls: Any,
    out_final: Any,
    out_at: Any,
    out_calls: Any,
    members: Any,
    counts: Any,
    stamp: Any,
    order: Any,
    table: Any,
    marks: Any,
    base: int,
) -> int:
    """The calls of a state: those of one callee return to one state; 0, or as :func:`_subsets`."""
    begin, end = out_at[here], out_at[here + 1]
    n = 0
    for i in range(begin, end):
        n += call_at[members[i] + 1] - call_at[members[i]]
    if n == 0:
        return 0
    listed = np.empty(n, dtype=np.int32)
    n = 0
    for i in range(begin, end):
        for c in range(call_at[members[i]], call_at[members[i] + 1]):
            # in the order of what is called, so that equals are neighbours
            k = n
            while k > 0 and _before(calls, c, listed[k - 1]):
                listed[k] = listed[k - 1]
                k -= 1
            listed[k] = c
            n += 1
    i = 0
    while i < n:
        c = listed[i]
        j = i
        marks[0] += 1
        size = 0
        while j < n and not _before(calls, c, listed[j]):
            if calls[4, listed[j]] >= 0:
                size = _close(
                    calls[4, listed[j]], size, stamp, marks[0], order, edge_at, empty_at, call_at, final, empties
                )  # fmt: skip
            j += 1
        target = -1
        if calls[4, c] >= 0:
            target = _state_of(order, size, out_final, out_at, members, counts, table, base, final)
            if target < 0:
                return -target
        at = counts[3]
        if at >= out_calls.shape[1]:
            return 4
        out_calls[0, at] = here
        out_calls[1, at] = calls[1, c]
        out_calls[2, at] = calls[2, c]
        out_calls[3, at] = calls[3, c]
        out_calls[4, at] = target
        counts[3] += 1
        i = j
    return 0


@njit(cache=True)
def _before(calls: Any, one: int, other: int) -> bool:
    """Whether a call comes before another, by entry, loop, watch, and whether it is a jump."""
    for column in range(1, 4):
        if calls[column, one] != calls[column, other]:
            return bool(calls[column, one] < calls[column, other])
    return bool((calls[4, one] < 0) and (calls[4, other] >= 0))


@njit(cache=True)
def _close(
    p: int,
    size: int,
    stamp: Any,
    mark: int,
    order: Any,
    edge_at: Any,
    empty_at: Any,
    call_at: Any,
    final: Any,
    empties: Any,
) -> int:
    """Add to ``order`` what a position leads to over empty edges, as far as it matters: with edges, calls or an end."""
    if stamp[p] == mark:
        return size
    stamp[p] = mark
    # what is to be looked at grows down from the end: both together are no more than all positions
    top = len(order) - 1
    order[top] = p
    while top < len(order):
        p = order[top]
        top += 1
        if final[p] or edge_at[p] < edge_at[p + 1] or call_at[p] < call_at[p + 1]:
            order[size] = p
            size += 1
        for e in range(empty_at[p], empty_at[p + 1]):
            q = empties[1, e]
            if stamp[q] != mark:
                stamp[q] = mark
                top -= 1
                order[top] = q
    return size


@njit(cache=True)
def _state_of(
    order: Any,
    size: int,
    out_final: Any,
    out_at: Any,
    members: Any,
    counts: Any,
    table: Any,
    base: int,
    final: Any,
) -> int:
    """The state of a set of positions, made when it is new; negative where there is no room (see :func:`_subsets`)."""
    if size < 40:
        for i in range(1, size):
            p = order[i]
            k = i
            while k > 0 and order[k - 1] > p:
                order[k] = order[k - 1]
                k -= 1
            order[k] = p
    else:
        order[:size] = np.sort(order[:size])
    mixed = _SEED
    for i in range(size):
        mixed = _mixed(mixed, order[i])
    slot = np.int64(mixed >> np.uint64(20)) & (len(table) - 1)
    while table[slot] >= 0:
        state = table[slot]
        begin = out_at[state]
        if out_at[state + 1] - begin == size:
            same = True
            for i in range(size):
                if members[begin + i] != order[i]:
                    same = False
                    break
            if same:
                return int(state)
        slot = (slot + 1) & (len(table) - 1)
    state = counts[0]
    if state >= len(out_final):
        return -2
    if counts[4] + size > len(members):
        return -5
    if state - base >= len(table) - 1:
        return -1
    table[slot] = state
    ends = 0
    for i in range(size):
        members[counts[4] + i] = order[i]
        ends |= final[order[i]]
    out_final[state] = ends
    counts[4] += size
    out_at[state + 1] = counts[4]
    counts[0] += 1
    return int(state)

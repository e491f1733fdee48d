"""The kernels that put edges and calls into the order of states; what they do is told in ``determinise.py``."""

from __future__ import annotations

from pathlib import Path

from workbench.automaton import subset_kernels
from workbench.automaton.subset_kernels import (
    CALLS,
    DFA,
    EDGES,
    EMPTIES,
    MEMBERS,
    NFA,
    STATES,
)
from workbench.jit import Array, Kernels, Kind, entry

__all__ = ["compress", "find_jumps", "lay_out", "own_calls"]

_INT32, _TABLE = Array("int32"), Array("int32", 2)
_KINDS: dict[str, Kind] = {
    "nfa": NFA,
    **dict.fromkeys(("dfa", "out"), DFA),
    **dict.fromkeys(("rows", "listed"), _TABLE),
    **dict.fromkeys(("order", "count", "offsets", "tail", "entries", "found", "number"), _INT32),
}
_KERNELS = Kernels(
    __name__,
    [Path(__file__), Path(subset_kernels.__file__)],
    _KINDS,
    ("sort_rows", "mark_jumps", "count_own_calls", "renumber"),
)
jit = _KERNELS.jit


@jit
def offsets_from_counts(offsets):
    """Numbers of rows, each behind its place, become the offsets at which they begin."""
    for i in range(1, offsets.size):
        offsets[i] += offsets[i - 1]


@jit
def sort_rows(nfa, rows, listed, order, count):
    """Edges of all kinds and calls into CSR form, by source and first symbol; what is equal stays in its order.

    ``count`` has room for all symbols and for all positions.
    """
    n = nfa.edge_at.size - 1
    for i in range(count.size):
        count[i] = 0
    for e in range(rows.shape[1]):
        count[rows[1, e] + 2] += 1
    offsets_from_counts(count)
    for e in range(rows.shape[1]):
        symbol = rows[1, e] + 1
        order[count[symbol]] = e
        count[symbol] += 1
    for i in range(n + 1):
        nfa.edge_at[i] = 0
        nfa.empty_at[i] = 0
        nfa.call_at[i] = 0
    for e in range(rows.shape[1]):
        if rows[1, e] < 0:
            nfa.empty_at[rows[0, e] + 1] += 1
        else:
            nfa.edge_at[rows[0, e] + 1] += 1
    for c in range(listed.shape[1]):
        nfa.call_at[listed[0, c] + 1] += 1
    offsets_from_counts(nfa.edge_at)
    offsets_from_counts(nfa.empty_at)
    offsets_from_counts(nfa.call_at)
    for i in range(n):
        count[i] = nfa.edge_at[i]
    for i in range(rows.shape[1]):
        e = int(order[i])
        if rows[1, e] >= 0:
            at = int(count[rows[0, e]])
            count[rows[0, e]] += 1
            for column in range(4):
                nfa.edges[column, at] = rows[column, e]
    for i in range(n):
        count[i] = nfa.empty_at[i]
    for e in range(rows.shape[1]):
        if rows[1, e] < 0:
            at = int(count[rows[0, e]])
            count[rows[0, e]] += 1
            nfa.empties[0, at] = rows[0, e]
            nfa.empties[1, at] = rows[3, e]
            nfa.empties[2, at] = rows[2, e]
    for i in range(n):
        count[i] = nfa.call_at[i]
    for c in range(listed.shape[1]):
        at = int(count[listed[0, c]])
        count[listed[0, c]] += 1
        for column in range(5):
            nfa.calls[column, at] = listed[column, c]


@jit
def is_tail(nfa, order, tail, first):
    """Whether empty edges lead from a position to an end, and to nothing but ends and other such edges.

    Positions that were looked at are marked in ``tail`` meanwhile.
    """
    size = 1
    order[0] = first
    tail[first] |= 4
    ends = False
    plain = True
    i = 0
    while i < size and plain:
        p = int(order[i])
        i += 1
        if nfa.final[p] != 0:
            ends = True
        if nfa.edge_at[p] < nfa.edge_at[p + 1] or nfa.call_at[p] < nfa.call_at[p + 1]:
            plain = False
        for e in range(nfa.empty_at[p], nfa.empty_at[p + 1]):
            q = int(nfa.empties[1, e])
            if nfa.empties[2, e] >= 0:
                plain = False
            elif tail[q] & 4 == 0:
                tail[q] |= 4
                order[size] = q
                size += 1
    for i in range(size):
        tail[order[i]] &= 3
    return plain and ends


@jit
def mark_jumps(nfa, order, tail):
    """Calls whose return point offers nothing but the end become jumps.

    ``tail``, all zero at first, has of positions that were asked for whether they are such: 1 no, 2 yes.
    """
    for c in range(nfa.calls.shape[1]):
        after = int(nfa.calls[4, c])
        # those with frames of their own have something to do at the end
        if nfa.calls[2, c] != -1 or nfa.calls[3, c] != -1 or after < 0:
            continue
        if tail[after] == 0:
            tail[after] = 2 if is_tail(nfa, order, tail, after) else 1
        if tail[after] == 2:
            nfa.calls[4, c] = -1


@jit
def count_own_calls(dfa, entries):
    """How many calls lead from an entry to itself; ``entries`` are the numbers of the entries."""
    n = 0
    for i in range(entries.size):
        last = int(dfa.firsts[i + 1]) if i + 1 < entries.size else int(dfa.counts[STATES])
        for c in range(dfa.call_at[dfa.firsts[i]], dfa.call_at[last]):
            if dfa.calls[1, c] == entries[i]:
                n += 1
    return n


@jit
def renumber_members(dfa, number, out):
    """A state stands for what all of its kind stood for, in the order of these."""
    kept = int(out.counts[STATES])
    for i in range(kept + 1):
        out.at[i] = 0
    for state in range(dfa.counts[STATES]):
        out.at[number[state] + 1] += dfa.at[state + 1] - dfa.at[state]
    for i in range(1, kept + 1):
        out.at[i] += out.at[i - 1]
    for state in range(dfa.counts[STATES]):
        to = int(number[state])
        at = int(out.at[to])
        for i in range(dfa.at[state], dfa.at[state + 1]):
            out.members[at] = dfa.members[i]
            at += 1
        out.at[to] = at
    for i in range(kept, 0, -1):
        out.at[i] = out.at[i - 1]
    out.at[0] = 0
    out.counts[MEMBERS] = dfa.counts[MEMBERS]


@jit
def renumber(dfa, found, number, out):
    """States without those for which another one stands (``found``), numbered anew; with what they stood for.

    A state stands for itself or for some that come after it. ``number`` has room for a number of each.
    """
    counts = out.counts
    kept = 0
    n = int(dfa.counts[STATES])
    for state in range(n):
        if found[state] == state:
            number[state] = kept
            out.final[kept] = dfa.final[state]
            kept += 1
        else:
            number[state] = number[found[state]]
    for i in range(out.starts.size):
        out.starts[i] = number[dfa.starts[i]]
        out.firsts[i] = number[dfa.firsts[i]]
    counts[STATES] = kept
    renumber_members(dfa, number, out)
    n_edges, n_empties, n_calls = 0, 0, 0
    here = 0
    for state in range(n):
        if found[state] != state:
            continue
        out.edge_at[here] = n_edges
        out.empty_at[here] = n_empties
        out.call_at[here] = n_calls
        for e in range(dfa.edge_at[state], dfa.edge_at[state + 1]):
            out.edges[0, n_edges] = here
            out.edges[1, n_edges] = dfa.edges[1, e]
            out.edges[2, n_edges] = dfa.edges[2, e]
            out.edges[3, n_edges] = number[dfa.edges[3, e]]
            n_edges += 1
        for e in range(dfa.empty_at[state], dfa.empty_at[state + 1]):
            out.empties[0, n_empties] = here
            out.empties[1, n_empties] = number[dfa.empties[1, e]]
            out.empties[2, n_empties] = dfa.empties[2, e]
            n_empties += 1
        for c in range(dfa.call_at[state], dfa.call_at[state + 1]):
            out.calls[0, n_calls] = here
            for column in range(1, 4):
                out.calls[column, n_calls] = dfa.calls[column, c]
            after = int(dfa.calls[4, c])
            out.calls[4, n_calls] = number[after] if after >= 0 else -1
            n_calls += 1
        here += 1
    out.edge_at[here] = n_edges
    out.empty_at[here] = n_empties
    out.call_at[here] = n_calls
    counts[EDGES] = n_edges
    counts[EMPTIES] = n_empties
    counts[CALLS] = n_calls


_KERNELS.finished()
lay_out = entry(sort_rows)
find_jumps = entry(mark_jumps)
own_calls = entry(count_own_calls)
compress = entry(renumber)

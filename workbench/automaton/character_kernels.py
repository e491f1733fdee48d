"""The kernels of automata over characters: the subset construction (``subsets.py``), and minimising (``finite.py``)."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from workbench.automaton import mixing
from workbench.automaton.mixing import SEED, mix
from workbench.jit import Array, Kernels, Kind, Record, entry

__all__ = ["COUNTS", "OVER", "STATES", "WORK", "Made", "Positions", "Space", "construct", "refine"]

_Column = NDArray[np.int32]

#: numbers of what has been made: states, their members; the mark that closures leave, the work that was done
STATES, MEMBERS, MARK, WORK, COUNTS = range(5)
#: what the construction comes to: it is whole, it went over a budget; else there is no room for what has this number
DONE, OVER = -1, -2


class Positions(NamedTuple):
    """Positions with empty edges and edges over sets of characters in CSR form, and the classes of each set."""

    empty_at: _Column
    empty_to: _Column
    move_at: _Column
    move_set: _Column
    move_to: _Column
    class_at: _Column
    class_of: _Column


class Made(NamedTuple):
    """States, with room to grow: where each leads by the classes, and the positions that it stands for."""

    table: _Column
    at: _Column
    members: _Column
    counts: NDArray[np.int64]


class Space(NamedTuple):
    """Space to work in.

    Marks of positions, how many of a position's closure matter, a closure, a hash table of states; of the classes of
    one state, where the targets of each begin, and the sets of targets that are known, with the states they lead to.
    """

    stamp: NDArray[np.int64]
    closed: _Column
    order: _Column
    slots: _Column
    begins: _Column
    targets: _Column
    first: _Column
    size: _Column
    hashes: NDArray[np.int64]
    leads: _Column


_INT32, _INT64 = Array("int32"), Array("int64")
_KINDS: dict[str, Kind] = {
    "table": Array("int32", 2),
    **dict.fromkeys(("block", "finer", "slots"), _INT32),
    "nfa": Record("positions", dict.fromkeys(Positions._fields, _INT32)),
    "made": Record(
        "states",
        {
            "table": Array("int32", 2),
            **dict.fromkeys(("at", "members"), _INT32),
            "counts": _INT64,
        },
    ),
    "space": Record(
        "space to work in",
        dict.fromkeys(Space._fields, _INT32) | dict.fromkeys(("stamp", "hashes"), _INT64),
    ),
}
_KERNELS = Kernels(
    __name__,
    [Path(__file__), Path(mixing.__file__)],
    _KINDS,
    ("subsets_of_positions", "stable_partition"),
)
jit = _KERNELS.jit
jit(mix)


@jit
def close(nfa, space, mark, first, size):
    """Add to ``order`` what a position leads to over empty edges, as far as it matters: with moves, or acceptance.

    What is still to be looked at grows down from the end of ``order``. Returns how many are in it, and how many were
    looked at.
    """
    stamp, order = space.stamp, space.order
    looked = 0
    if stamp[first] == mark:
        return size, looked
    stamp[first] = mark
    top = order.size - 1
    order[top] = first
    while top < order.size:
        p = int(order[top])
        top += 1
        looked += 1
        if p == 1 or nfa.move_at[p] < nfa.move_at[p + 1]:
            order[size] = p
            size += 1
        for e in range(nfa.empty_at[p], nfa.empty_at[p + 1]):
            q = nfa.empty_to[e]
            if stamp[q] != mark:
                stamp[q] = mark
                top -= 1
                order[top] = q
    return size, looked


@jit
def next_mark(made):
    """A mark that no position has."""
    made.counts[MARK] += 1
    return int(made.counts[MARK])


@jit
def state_of(made, space, mark, size):
    """The state of the closure in ``order``, made when it is new; -2 - what there is no room for."""
    order, slots, members, counts = space.order, space.slots, made.members, made.counts
    total = size
    for i in range(size):
        total += mix(SEED, int(order[i]))
    slot = mix(SEED, total) & (slots.size - 1)
    while slots[slot] >= 0:
        state = int(slots[slot])
        begin = int(made.at[state])
        if made.at[state + 1] - begin == size:
            same = True
            for i in range(begin, begin + size):
                if space.stamp[members[i]] != mark:
                    same = False
                    break
            if same:
                return state
        slot = (slot + 1) & (slots.size - 1)
    state = int(counts[STATES])
    if state >= made.table.shape[0]:
        return -2 - STATES
    at = int(counts[MEMBERS])
    if at + size > members.size:
        return -2 - MEMBERS
    slots[slot] = state
    for i in range(size):
        members[at + i] = order[i]
    made.at[state + 1] = at + size
    counts[MEMBERS] = at + size
    counts[STATES] = state + 1
    return state


@jit
def closure_of(nfa, made, space, begin, end):
    """The state of what some targets lead to over empty edges. Returns as :func:`state_of`."""
    for i in range(begin, end):
        p = int(space.targets[i])
        if space.closed[p] < 0:
            space.closed[p], looked = close(nfa, space, next_mark(made), p, 0)
            made.counts[WORK] += looked
        made.counts[WORK] += space.closed[p]
    mark = next_mark(made)
    size = 0
    for i in range(begin, end):
        size, _ = close(nfa, space, mark, int(space.targets[i]), size)
    return state_of(made, space, mark, size)


@jit
def sort_targets(nfa, made, space, here, most_work):
    """List where the characters of each class lead from a state; false where that is too much work."""
    begins = space.begins
    for kind in range(begins.size):
        begins[kind] = 0
    for i in range(made.at[here], made.at[here + 1]):
        p = made.members[i]
        for e in range(nfa.move_at[p], nfa.move_at[p + 1]):
            chosen = nfa.move_set[e]
            made.counts[WORK] += nfa.class_at[chosen + 1] - nfa.class_at[chosen]
            for c in range(nfa.class_at[chosen], nfa.class_at[chosen + 1]):
                begins[nfa.class_of[c] + 2] += 1
        if made.counts[WORK] > most_work:
            return False
    for kind in range(2, begins.size):
        begins[kind] += begins[kind - 1]
    # as its targets are put in, the begin of a class, one place further, becomes its end
    for i in range(made.at[here], made.at[here + 1]):
        p = made.members[i]
        for e in range(nfa.move_at[p], nfa.move_at[p + 1]):
            chosen = nfa.move_set[e]
            for c in range(nfa.class_at[chosen], nfa.class_at[chosen + 1]):
                at = int(begins[nfa.class_of[c] + 1])
                space.targets[at] = nfa.move_to[e]
                begins[nfa.class_of[c] + 1] = at + 1
    return True


@jit
def known_set(space, n, mark, size, total):
    """Which of ``n`` sets of targets is the one that has the mark; -1 for none."""
    for k in range(n):
        if space.size[k] == size and space.hashes[k] == total:
            same = True
            for i in range(space.first[k], space.first[k] + size):
                if space.stamp[space.targets[i]] != mark:
                    same = False
                    break
            if same:
                return k
    return -1


@jit
def step(nfa, made, space, here, most_work):
    """Where a state leads. Returns DONE, OVER, or what there is no room for."""
    if not sort_targets(nfa, made, space, here, most_work):
        return OVER
    n = 0
    for kind in range(made.table.shape[1]):
        begin, end = int(space.begins[kind]), int(space.begins[kind + 1])
        if begin == end:
            made.table[here, kind] = -1
            continue
        mark = next_mark(made)
        size, total = 0, 0
        for i in range(begin, end):
            p = int(space.targets[i])
            if space.stamp[p] != mark:
                space.stamp[p] = mark
                space.targets[begin + size] = p
                size += 1
                total += mix(SEED, p)
        k = known_set(space, n, mark, size, total)
        if k < 0:
            k = n
            n += 1
            state = int(closure_of(nfa, made, space, begin, begin + size))
            if state < 0:
                return -2 - state
            space.first[k], space.size[k], space.hashes[k] = begin, size, total
            space.leads[k] = state
        made.table[here, kind] = space.leads[k]
    return DONE


@jit
def subsets_of_positions(nfa, made, space, most_work, most_states):
    """All states that the start leads to. Returns DONE, OVER, or what there is no room for."""
    for i in range(space.slots.size):
        space.slots[i] = -1
    for p in range(space.closed.size):
        space.closed[p] = -1
    made.at[0] = 0
    space.targets[0] = 0
    if closure_of(nfa, made, space, 0, 1) < 0:
        return MEMBERS
    here = 0
    while here < made.counts[STATES]:
        done = int(step(nfa, made, space, here, most_work))
        if done != DONE:
            return done
        if made.counts[WORK] > most_work or made.counts[STATES] > most_states:
            return OVER
        here += 1
    return DONE


@jit
def alike(table, block, one, other):
    """Whether two states of one block lead to the same blocks."""
    if block[one] != block[other]:
        return False
    for kind in range(table.shape[1]):
        if block[table[one, kind]] != block[table[other, kind]]:
            return False
    return True


@jit
def refined(table, block, finer, slots):
    """Cut each block into those whose states lead to the same blocks; returns how many there are then.

    ``slots`` is for the work, a power of two, more than all states.
    """
    for i in range(slots.size):
        slots[i] = -1
    n = 0
    for state in range(table.shape[0]):
        mixed = mix(SEED, int(block[state]))
        for kind in range(table.shape[1]):
            mixed = mix(mixed, int(block[table[state, kind]]))
        slot = mixed & (slots.size - 1)
        while slots[slot] >= 0 and not alike(table, block, state, int(slots[slot])):
            slot = (slot + 1) & (slots.size - 1)
        if slots[slot] < 0:
            slots[slot] = state
            finer[state] = n
            n += 1
        else:
            finer[state] = finer[slots[slot]]
    return n


@jit
def stable_partition(table, block, finer, slots, n):
    """Refine ``n`` blocks of the states of a complete automaton until equal ones lead to equal ones (Moore, 1956)."""
    before = n
    now = int(refined(table, block, finer, slots))
    while now > before:
        for state in range(table.shape[0]):
            block[state] = finer[state]
        before = now
        now = int(refined(table, block, finer, slots))


_KERNELS.finished()
construct = entry(subsets_of_positions)
refine = entry(stable_partition)

"""The kernel of ``token_costs.py``: where one token can lead, by its bytes, in a network with stacks.

A place is packed in one number: whether it is in doubt (1 bit), the stack (20 bits), the state (22 bits), the node
inside of a token (20 bits). Stacks are hash-consed: each has the state to return to, the stack below, a round of a
repetition (-1: none; -2: the frame's end is in doubt; below: what has come in a scope), and perhaps another stack
that it may be instead.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from numpy.typing import NDArray

from workbench.jit import Array, Kernels, Kind, Record, entry

__all__ = [
    "DOUBT",
    "INLINE",
    "JUMPS",
    "NODES",
    "SUMMARY",
    "Network",
    "Stacks",
    "Trie",
    "Walk",
    "explore",
    "node_of",
    "place_of",
    "stack_above",
    "stack_of",
    "state_of",
]

#: in place of a node: a token ends here
NODES = (1 << 20) - 1
_STATES, _STACKS = (1 << 22) - 1, (1 << 20) - 1
#: of a place: only the engine's stacks say whether it is reached
DOUBT = 1 << 62
#: how a call goes on: as the callee, above another stack, by its summary
JUMPS, INLINE, SUMMARY = 0, 1, 2


class Network(NamedTuple):
    """The columns of states, calls and rounds."""

    edge_start: NDArray
    edge_lo: NDArray
    edge_hi: NDArray
    edge_target: NDArray
    empty_start: NDArray
    empty_target: NDArray
    empty_guarded: NDArray
    call_start: NDArray
    call_begin: NDArray
    call_return: NDArray
    call_round: NDArray
    call_how: NDArray
    final: NDArray
    stops: NDArray
    round_next: NDArray
    round_body: NDArray
    round_open: NDArray
    round_leaves: NDArray
    round_doubts: NDArray


class Trie(NamedTuple):
    """The nodes inside of tokens: the children of each by their bytes, and whether a token ends there."""

    child_start: NDArray
    child_byte: NDArray
    child_node: NDArray
    ends: NDArray


class Stacks(NamedTuple):
    """The columns of stacks, their unique table, and how many there are."""

    returns: NDArray
    belows: NDArray
    rounds: NDArray
    others: NDArray
    unique: NDArray
    filled: NDArray


class Walk(NamedTuple):
    """Places that were come to (as a table, empty at first, and in order), and those that are found."""

    table: NDArray
    todo: NDArray
    found: NDArray


_INT32, _INT64, _UINT8 = Array("int32"), Array("int64"), Array("uint8")
_FLAGS = (
    *("empty_guarded", "call_how", "final", "stops"),
    *("round_open", "round_leaves", "round_doubts"),
)
_KINDS: dict[str, Kind] = {
    "network": Record(
        "a network", {name: _UINT8 if name in _FLAGS else _INT32 for name in Network._fields}
    ),
    "trie": Record(
        "a trie",
        dict.fromkeys(Trie._fields, _INT32) | dict.fromkeys(("child_byte", "ends"), _UINT8),
    ),
    "stacks": Record("stacks", dict.fromkeys(Stacks._fields, _INT32) | {"filled": _INT64}),
    "walk": Record("a walk", dict.fromkeys(Walk._fields, _INT64)),
    "table": _INT64,
}
_KERNELS = Kernels(__name__, [Path(__file__)], _KINDS, ("explore_from", "stack_on"))
jit = _KERNELS.jit


@jit
def place_of(stack, state, node):
    """A place in one number."""
    return (stack << 42) | (state << 20) | node


@jit
def stack_of(place):
    """The stack of a place."""
    return (place >> 42) & _STACKS


@jit
def state_of(place):
    """The state of a place."""
    return (place >> 20) & _STATES


@jit
def node_of(place):
    """The node of a place."""
    return place & NODES


@jit
def stack_on(stacks, below, back, more):
    """The stack with a frame above another one; -1 where there is no room for it."""
    unique, returns, belows, rounds = stacks.unique, stacks.returns, stacks.belows, stacks.rounds
    mask = unique.size - 1
    i = ((below * 0x9E3779B1) ^ (back * 0x85EBCA6B) ^ (more * 0xC2B2AE35)) & mask
    while unique[i] != 0:
        known = int(unique[i]) - 1
        if belows[known] == below and returns[known] == back and rounds[known] == more:
            return known
        i = (i + 1) & mask
    number = int(stacks.filled[0])
    if number >= returns.size:
        return -1
    stacks.filled[0] = number + 1
    unique[i] = number + 1
    returns[number] = back
    belows[number] = below
    rounds[number] = more
    stacks.others[number] = -1
    return number


@jit
def noted(table, key):
    """Whether a place is in the table."""
    mask = table.size - 1
    i = ((key * 0x9E3779B1) ^ (key >> 23)) & mask
    while table[i] != 0:
        if table[i] == key + 1:
            return True
        i = (i + 1) & mask
    return False


@jit
def put(walk, size, doubt, stack, state, node):
    """Note a place, once and without doubt if there is none; returns how many are noted."""
    table = walk.table
    key = place_of(stack, state, node)
    if doubt != 0:
        if noted(table, key):
            return size
        key |= DOUBT
    mask = table.size - 1
    i = ((key * 0x9E3779B1) ^ (key >> 23)) & mask
    while table[i] != 0:
        if table[i] == key + 1:
            return size
        i = (i + 1) & mask
    table[i] = key + 1
    walk.todo[size] = key
    return size + 1


@jit
def first_child(trie, node, low):
    """The first child of a node whose byte is not below one."""
    first = int(trie.child_start[node])
    last = int(trie.child_start[node + 1])
    while first < last:
        middle = (first + last) >> 1
        if trie.child_byte[middle] < low:
            first = middle + 1
        else:
            last = middle
    return first


@jit
def ended(network, stacks, walk, size, doubt, one, over, node):
    """Go on where the frame of a stack ends; how many places are noted then, -1 where there is no room for a stack."""
    more = int(stacks.rounds[one])
    below = int(stacks.belows[one])
    back = int(stacks.returns[one])
    if one < 2 or (more >= 0 and network.round_open[more] == 0):
        return int(put(walk, size, doubt, one, over, node))
    if more < 0:
        unsure = 1 if more == -2 else doubt
        return int(put(walk, size, unsure, below, back, node))
    if network.round_leaves[more] != 0:
        size = int(put(walk, size, doubt, below, back, node))
    following = int(network.round_next[more])
    if following == more and network.round_doubts[more] != 0:
        return int(put(walk, size, 1, one, int(network.round_body[more]), node))
    if following >= 0:
        above = int(stack_on(stacks, below, back, following))
        if above < 0:
            return -1
        return int(put(walk, size, doubt, above, int(network.round_body[more]), node))
    return size


@jit
def explore_from(network, trie, stacks, walk, place):  # noqa: C901 - one loop over the columns of a network
    """What is reached from a place within its token at no cost.

    ``walk.found`` gets places in which a token ends (with :data:`NODES` as node), places in whose state more must be
    said (``stops``), and those where a frame ends of which more must be said (with the last state of all as state).
    Returns how many, -1 when the table is half full, -2 when there is no room for stacks.
    """
    table, todo, found = walk.table, walk.todo, walk.found
    final, stops = network.final, network.stops
    over = final.size - 1
    most = (table.size >> 1) - 600
    n, at = 0, 0
    size = int(put(walk, 0, 0, stack_of(place), state_of(place), node_of(place)))
    while at < size:
        key = int(todo[at])
        at += 1
        doubt = key >> 62
        if doubt != 0 and noted(table, key & (DOUBT - 1)):
            continue
        stack = int(stack_of(key))
        state = int(state_of(key))
        node = int(node_of(key))
        if node == NODES or state == over:
            found[n] = key
            n += 1
            continue
        if stops[state] != 0:
            found[n] = key
            n += 1
        if final[state] != 0:
            one = stack
            while one >= 0:
                if size > most:
                    return -1
                size = int(ended(network, stacks, walk, size, doubt, one, over, node))
                if size < 0:
                    return -2
                one = int(stacks.others[one])
        for e in range(network.empty_start[state], network.empty_start[state + 1]):
            if size > most:
                return -1
            if network.empty_guarded[e] == 0:
                size = int(put(walk, size, doubt, stack, int(network.empty_target[e]), node))
        for c in range(network.call_start[state], network.call_start[state + 1]):
            if size > most:
                return -1
            begin = int(network.call_begin[c])
            if network.call_how[c] == JUMPS:
                size = int(put(walk, size, doubt, stack, begin, node))
            elif network.call_how[c] == INLINE:
                back = int(network.call_return[c])
                above = int(stack_on(stacks, stack, back, int(network.call_round[c])))
                if above < 0:
                    return -2
                size = int(put(walk, size, doubt, above, begin, node))
        stop = int(trie.child_start[node + 1])
        for e in range(network.edge_start[state], network.edge_start[state + 1]):
            if size > most:
                return -1
            high = int(network.edge_hi[e])
            target = int(network.edge_target[e])
            c = int(first_child(trie, node, int(network.edge_lo[e])))
            while c < stop and trie.child_byte[c] <= high:
                below = int(trie.child_node[c])
                c += 1
                if trie.ends[below] != 0:
                    size = int(put(walk, size, doubt, stack, target, NODES))
                if trie.child_start[below] < trie.child_start[below + 1]:
                    size = int(put(walk, size, doubt, stack, target, below))
    return n


_KERNELS.finished()
explore, stack_above = entry(explore_from), entry(stack_on)

"""The kernel of ``token_costs.py``: where one token can lead, by its bytes, in a network with stacks.

A place is packed in one number: whether it is in doubt (1 bit), the stack (20 bits), the state (22 bits), the node
inside of a token (20 bits). Stacks are hash-consed: each has the state to return to, the stack below, a round of a
repetition (-1: none; -2: the frame's end is in doubt; below: what has come in a scope), and perhaps another stack
that it may be instead.
"""

from __future__ import annotations

from pathlib import Path

from workbench.jit import Array, Kernels, Kind, entry

__all__ = ["DOUBT", "INLINE", "JUMPS", "NODES", "SUMMARY", "explore", "stack_above"]

#: in place of a node: a token ends here
NODES = (1 << 20) - 1
#: of a place: only the engine's stacks say whether it is reached
DOUBT = 1 << 62
#: how a call goes on: as the callee, above another stack, by its summary
JUMPS, INLINE, SUMMARY = 0, 1, 2

_INT32, _INT64, _UINT8 = Array("int32"), Array("int64"), Array("uint8")
_KINDS: dict[str, Kind] = {
    **dict.fromkeys(("edge_start", "edge_lo", "edge_hi", "edge_target"), _INT32),
    **dict.fromkeys(("empty_start", "empty_target", "call_start", "call_begin"), _INT32),
    **dict.fromkeys(("call_return", "call_round", "child_start", "child_node"), _INT32),
    **dict.fromkeys(("round_next", "round_body"), _INT32),
    **dict.fromkeys(("returns", "belows", "rounds", "others", "unique"), _INT32),
    **dict.fromkeys(("empty_guarded", "stops", "final", "call_how", "child_byte", "ends"), _UINT8),
    **dict.fromkeys(("round_open", "round_leaves", "round_doubts"), _UINT8),
    **dict.fromkeys(("table", "todo", "found", "filled"), _INT64),
}
_KERNELS = Kernels(__name__, [Path(__file__)], _KINDS, ("explore_from", "stack_on"))
jit = _KERNELS.jit


@jit
def stack_on(  # noqa: PLR0913 - the columns of stacks
    returns, belows, rounds, others, unique, filled, below, back, more
):
    """The stack with a frame above another one; -1 where there is no room for it."""
    mask = unique.size - 1
    i = ((below * 0x9E3779B1) ^ (back * 0x85EBCA6B) ^ (more * 0xC2B2AE35)) & mask
    while unique[i] != 0:
        known = int(unique[i]) - 1
        if belows[known] == below and returns[known] == back and rounds[known] == more:
            return known
        i = (i + 1) & mask
    number = int(filled[0])
    if number >= returns.size:
        return -1
    filled[0] = number + 1
    unique[i] = number + 1
    returns[number] = back
    belows[number] = below
    rounds[number] = more
    others[number] = -1
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
def put(table, todo, size, doubt, stack, state, node):
    """Note a place, once and without doubt if there is none; returns how many are noted."""
    key = (stack << 42) | (state << 20) | node
    if doubt != 0:
        if noted(table, key):
            return size
        key |= 1 << 62
    mask = table.size - 1
    i = ((key * 0x9E3779B1) ^ (key >> 23)) & mask
    while table[i] != 0:
        if table[i] == key + 1:
            return size
        i = (i + 1) & mask
    table[i] = key + 1
    todo[size] = key
    return size + 1


@jit
def first_child(child_start, child_byte, node, low):
    """The first child of a node whose byte is not below one."""
    first = int(child_start[node])
    last = int(child_start[node + 1])
    while first < last:
        middle = (first + last) >> 1
        if child_byte[middle] < low:
            first = middle + 1
        else:
            last = middle
    return first


@jit
def explore_from(  # noqa: C901, PLR0913 - one loop over the columns of a network
    edge_start,
    edge_lo,
    edge_hi,
    edge_target,
    empty_start,
    empty_target,
    empty_guarded,
    call_start,
    call_begin,
    call_return,
    call_round,
    call_how,
    final,
    stops,
    round_next,
    round_body,
    round_open,
    round_leaves,
    round_doubts,
    child_start,
    child_byte,
    child_node,
    ends,
    returns,
    belows,
    rounds,
    others,
    unique,
    filled,
    table,
    todo,
    found,
    place,
):
    """What is reached from a place within its token at no cost.

    ``found`` gets places in which a token ends (with :data:`NODES` as node), places in whose state more must be said
    (``stops``), and those where a frame ends of which more must be said (with the last state of all as state).
    Returns how many, -1 when the table is half full (it is to be empty), -2 when there is no room for stacks.
    """
    over = final.size - 1
    most = (table.size >> 1) - 600
    n, at = 0, 0
    size = int(put(table, todo, 0, 0, place >> 42, (place >> 20) & 0x3FFFFF, place & 0xFFFFF))
    while at < size:
        key = int(todo[at])
        at += 1
        doubt = key >> 62
        if doubt != 0 and noted(table, key & ((1 << 62) - 1)):
            continue
        stack = (key >> 42) & 0xFFFFF
        state = (key >> 20) & 0x3FFFFF
        node = key & 0xFFFFF
        if node == 0xFFFFF or state == over:
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
                more = int(rounds[one])
                below = int(belows[one])
                back = int(returns[one])
                if one < 2 or (more >= 0 and round_open[more] == 0):
                    size = int(put(table, todo, size, doubt, one, over, node))
                elif more < 0:
                    unsure = 1 if more == -2 else doubt
                    size = int(put(table, todo, size, unsure, below, back, node))
                else:
                    if round_leaves[more] != 0:
                        size = int(put(table, todo, size, doubt, below, back, node))
                    following = int(round_next[more])
                    if following == more and round_doubts[more] != 0:
                        size = int(put(table, todo, size, 1, one, int(round_body[more]), node))
                    elif following >= 0:
                        above = int(
                            stack_on(
                                returns,
                                belows,
                                rounds,
                                others,
                                unique,
                                filled,
                                below,
                                back,
                                following,
                            )
                        )
                        if above < 0:
                            return -2
                        size = int(
                            put(table, todo, size, doubt, above, int(round_body[more]), node)
                        )
                one = int(others[one])
        for e in range(empty_start[state], empty_start[state + 1]):
            if size > most:
                return -1
            if empty_guarded[e] == 0:
                size = int(put(table, todo, size, doubt, stack, int(empty_target[e]), node))
        for c in range(call_start[state], call_start[state + 1]):
            if size > most:
                return -1
            if call_how[c] == 0:
                size = int(put(table, todo, size, doubt, stack, int(call_begin[c]), node))
            elif call_how[c] == 1:
                above = int(
                    stack_on(
                        returns,
                        belows,
                        rounds,
                        others,
                        unique,
                        filled,
                        stack,
                        int(call_return[c]),
                        int(call_round[c]),
                    )
                )
                if above < 0:
                    return -2
                size = int(put(table, todo, size, doubt, above, int(call_begin[c]), node))
        stop = int(child_start[node + 1])
        for e in range(edge_start[state], edge_start[state + 1]):
            if size > most:
                return -1
            high = int(edge_hi[e])
            target = int(edge_target[e])
            c = int(first_child(child_start, child_byte, node, int(edge_lo[e])))
            while c < stop and child_byte[c] <= high:
                below = int(child_node[c])
                c += 1
                if ends[below] != 0:
                    size = int(put(table, todo, size, doubt, stack, target, 0xFFFFF))
                if child_start[below] < child_start[below + 1]:
                    size = int(put(table, todo, size, doubt, stack, target, below))
    return n


_KERNELS.finished()
explore, stack_above = entry(explore_from), entry(stack_on)

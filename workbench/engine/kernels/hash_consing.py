"""Hash consing: nodes are tuples of int32 that are kept once, so that equal ids mean equal contents (Ershov).

The unique table is open addressing. When it grows, its nodes come into the larger one a few at a time, with each node
that is new: until all have, what is not found there is looked for in the former one.
"""

from __future__ import annotations

from workbench.engine.kernels.constants import (
    FRAME,
    MOVED,
    N_FRAMES,
    N_SETS,
    N_SHAPES,
    NODES,
    SET,
    SHAPE,
    TO_MOVE,
    USED,
    WORK,
    Complex,
    Full,
)
from workbench.engine.kernels.signatures import jit


@jit
def mix(h, value):
    """Take one more value into a hash of a node."""
    h = ((h ^ (value & 0xFFFFFFFF)) * 0x2545F491) & 0x7FFFFFFFFFFFFFFF
    return (h ^ (h >> 29)) & 0xFFFFFFFF


#: nodes that come into a table that has grown with each new one
_MOVED = 8


@jit
def slot_of(arena, table, h, kind, buffer, at, n):
    """The slot of a table where the node with these contents is, or else the free one where it belongs."""
    mask = table.size - 1
    slot = (h ^ (h >> 15)) & mask
    head = kind + 32 * n
    while True:
        node = int(table[slot])
        if node == 0:
            return slot
        if arena[node] == head:
            same = True
            for i in range(n):
                if arena[node + 3 + i] != buffer[at + i]:
                    same = False
                    break
            if same:
                return slot
        slot = (slot + 1) & mask


@jit
def move_nodes(arena, unique_table, count, n):
    """Put the next ``n`` nodes that are in the former table alone into the unique table."""
    node = int(count[MOVED])
    end = int(count[TO_MOVE])
    while n > 0 and node < end:
        head = int(arena[node])
        kind = head & 31
        length = head >> 5
        h = kind * 0x1F123BB5
        for i in range(node + 3, node + 3 + length):
            h = mix(h, int(arena[i]))
        mask = unique_table.size - 1
        slot = (h ^ (h >> 15)) & mask
        while unique_table[slot] != 0:
            slot = (slot + 1) & mask
        unique_table[slot] = node
        node += length + 3
        n -= 1
    count[MOVED] = node


@jit
def intern(ctx, kind, buffer, at, n):
    """Id of the node with these contents."""
    arena = ctx.arena
    unique_table = ctx.unique_table
    count = ctx.count
    h = int(kind) * 0x1F123BB5
    for i in range(at, at + n):
        h = mix(h, int(buffer[i]))
    slot = int(slot_of(arena, unique_table, h, kind, buffer, at, n))
    if unique_table[slot] != 0:
        return int(unique_table[slot])
    if count[MOVED] < count[TO_MOVE]:
        former = ctx.former_table
        node = int(former[slot_of(arena, former, h, kind, buffer, at, n)])
        if node != 0:
            return node
        move_nodes(arena, unique_table, count, _MOVED)
        slot = int(slot_of(arena, unique_table, h, kind, buffer, at, n))
    used = int(count[USED])
    if used + n + 3 > arena.size or 2 * (count[NODES] + 1) > unique_table.size:
        raise Full
    arena[used] = kind + 32 * n
    arena[used + 1] = -1
    arena[used + 2] = -1
    for i in range(n):
        arena[used + 3 + i] = buffer[at + i]
    unique_table[slot] = used
    count[USED] = used + n + 3
    count[NODES] += 1
    if kind == SHAPE:
        count[N_SHAPES] += 1
    elif kind == SET:
        count[N_SETS] += 1
    elif kind == FRAME:
        count[N_FRAMES] += 1
    return used


@jit
def node2_in(arena, table, kind, a, b):
    """Id of the node with two contents, as :func:`slot_of`; 0 for none."""
    h = mix(mix(kind * 0x1F123BB5, int(a)), int(b))
    mask = table.size - 1
    slot = (h ^ (h >> 15)) & mask
    head = kind + 64
    while True:
        node = int(table[slot])
        if node == 0 or (arena[node] == head and arena[node + 3] == a and arena[node + 4] == b):
            return node
        slot = (slot + 1) & mask


@jit
def find_node2(ctx, kind, a, b):
    """Id of an existing node with two contents, or -1; changes nothing."""
    node = int(node2_in(ctx.arena, ctx.unique_table, kind, a, b))
    if node == 0 and ctx.count[MOVED] < ctx.count[TO_MOVE]:
        node = int(node2_in(ctx.arena, ctx.former_table, kind, a, b))
    return node if node != 0 else -1


@jit
def node1(ctx, kind, a):
    """Intern a node with one content."""
    buffer = ctx.buffer
    buffer[0] = a
    return intern(ctx, kind, buffer, 0, 1)


@jit
def node2(ctx, kind, a, b):
    """Intern a node with two contents."""
    buffer = ctx.buffer
    buffer[0] = a
    buffer[1] = b
    return intern(ctx, kind, buffer, 0, 2)


@jit
def node3(ctx, kind, a, b, c):
    """Intern a node with three contents."""
    buffer = ctx.buffer
    buffer[0] = a
    buffer[1] = b
    buffer[2] = c
    return intern(ctx, kind, buffer, 0, 3)


@jit
def node6(ctx, kind, a, b, c, d, e, f):
    """Intern a node with six contents."""
    buffer = ctx.buffer
    buffer[0] = a
    buffer[1] = b
    buffer[2] = c
    buffer[3] = d
    buffer[4] = e
    buffer[5] = f
    return intern(ctx, kind, buffer, 0, 6)


@jit
def union(ctx, a, b):
    """The SET with the elements of both."""
    arena = ctx.arena
    count = ctx.count
    if a == b:
        return a
    na = int(arena[a]) >> 5
    nb = int(arena[b]) >> 5
    if na + nb > ctx.buffer.size:
        raise Complex
    count[WORK] += na + nb
    buffer = ctx.buffer
    i = j = n = 0
    while i < na or j < nb:
        if j >= nb or (i < na and arena[a + 3 + i] <= arena[b + 3 + j]):
            value = arena[a + 3 + i]
            if j < nb and arena[b + 3 + j] == value:
                j += 1
            i += 1
        else:
            value = arena[b + 3 + j]
            j += 1
        buffer[n] = value
        n += 1
    if n == na:
        return a
    if n == nb:
        return b
    return intern(ctx, SET, buffer, 0, n)

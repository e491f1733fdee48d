"""Hash consing: nodes are tuples of int32 that are kept once, so that equal ids mean equal contents (Ershov)."""

from __future__ import annotations

from workbench.engine.kernels.constants import (
    FRAME,
    N_FRAMES,
    N_SETS,
    N_SHAPES,
    NODES,
    SET,
    SHAPE,
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


@jit
def intern(ctx, kind, buffer, at, n):
    """Id of the node with these contents."""
    arena = ctx.arena
    unique_table = ctx.unique_table
    count = ctx.count
    h = int(kind) * 0x1F123BB5
    for i in range(at, at + n):
        h = mix(h, int(buffer[i]))
    mask = unique_table.size - 1
    slot = (h ^ (h >> 15)) & mask
    head = kind + 32 * n
    while True:
        node = int(unique_table[slot])
        if node == 0:
            break
        if arena[node] == head:
            same = True
            for i in range(n):
                if arena[node + 3 + i] != buffer[at + i]:
                    same = False
                    break
            if same:
                return node
        slot = (slot + 1) & mask
    used = int(count[USED])
    if used + n + 3 > arena.size or 2 * (count[NODES] + 1) > unique_table.size:
        raise Full
    arena[used] = head
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
def find_node2(ctx, kind, a, b):
    """Id of an existing node with two contents, or -1; changes nothing."""
    arena = ctx.arena
    unique_table = ctx.unique_table
    h = mix(mix(kind * 0x1F123BB5, int(a)), int(b))
    mask = unique_table.size - 1
    slot = (h ^ (h >> 15)) & mask
    head = kind + 64
    while True:
        node = int(unique_table[slot])
        if node == 0:
            return -1
        if arena[node] == head and arena[node + 3] == a and arena[node + 4] == b:
            return node
        slot = (slot + 1) & mask


@jit
def rehash(arena, unique_table, count):
    """Fill an empty unique table with all nodes of the arena."""
    mask = unique_table.size - 1
    node = 3
    used = int(count[USED])
    while node < used:
        head = int(arena[node])
        kind = head & 31
        n = head >> 5
        h = kind * 0x1F123BB5
        for i in range(node + 3, node + 3 + n):
            h = mix(h, int(arena[i]))
        slot = (h ^ (h >> 15)) & mask
        while unique_table[slot] != 0:
            slot = (slot + 1) & mask
        unique_table[slot] = node
        node += n + 3


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

"""Terms: tuples of int32 that are kept once, so that equal ids mean equal contents (see ``sequences.py``)."""

from __future__ import annotations

from workbench.engine.kernels.constants import (
    FRAME,
    N_FRAMES,
    N_SETS,
    N_SHAPES,
    SET,
    SHAPE,
    TERMS,
    USED,
    WORK,
    Complex,
    Full,
)
from workbench.engine.kernels.signatures import jit


@jit
def mix(h, value):
    """Take one more value into a hash of a term."""
    h = ((h ^ (value & 0xFFFFFFFF)) * 0x2545F491) & 0x7FFFFFFFFFFFFFFF
    return (h ^ (h >> 29)) & 0xFFFFFFFF


@jit
def intern(ctx, kind, buffer, at, n):
    """Id of the term with these contents."""
    pool = ctx.pool
    table = ctx.table
    count = ctx.count
    h = int(kind) * 0x1F123BB5
    for i in range(at, at + n):
        h = mix(h, int(buffer[i]))
    mask = table.size - 1
    slot = (h ^ (h >> 15)) & mask
    head = kind + 32 * n
    while True:
        term = int(table[slot])
        if term == 0:
            break
        if pool[term] == head:
            same = True
            for i in range(n):
                if pool[term + 3 + i] != buffer[at + i]:
                    same = False
                    break
            if same:
                return term
        slot = (slot + 1) & mask
    used = int(count[USED])
    if used + n + 3 > pool.size or 2 * (count[TERMS] + 1) > table.size:
        raise Full
    pool[used] = head
    pool[used + 1] = -1
    pool[used + 2] = -1
    for i in range(n):
        pool[used + 3 + i] = buffer[at + i]
    table[slot] = used
    count[USED] = used + n + 3
    count[TERMS] += 1
    if kind == SHAPE:
        count[N_SHAPES] += 1
    elif kind == SET:
        count[N_SETS] += 1
    elif kind == FRAME:
        count[N_FRAMES] += 1
    return used


@jit
def find2(ctx, kind, a, b):
    """Id of an existing term with two contents, or -1; changes nothing."""
    pool = ctx.pool
    table = ctx.table
    h = mix(mix(kind * 0x1F123BB5, int(a)), int(b))
    mask = table.size - 1
    slot = (h ^ (h >> 15)) & mask
    head = kind + 64
    while True:
        term = int(table[slot])
        if term == 0:
            return -1
        if pool[term] == head and pool[term + 3] == a and pool[term + 4] == b:
            return term
        slot = (slot + 1) & mask


@jit
def rehash(pool, table, count):
    """Fill an empty table with all terms of the pool."""
    mask = table.size - 1
    term = 3
    used = int(count[USED])
    while term < used:
        head = int(pool[term])
        kind = head & 31
        n = head >> 5
        h = kind * 0x1F123BB5
        for i in range(term + 3, term + 3 + n):
            h = mix(h, int(pool[i]))
        slot = (h ^ (h >> 15)) & mask
        while table[slot] != 0:
            slot = (slot + 1) & mask
        table[slot] = term
        term += n + 3


@jit
def term1(ctx, kind, a):
    """Intern a term with one content."""
    buffer = ctx.buffer
    buffer[0] = a
    return intern(ctx, kind, buffer, 0, 1)


@jit
def term2(ctx, kind, a, b):
    """Intern a term with two contents."""
    buffer = ctx.buffer
    buffer[0] = a
    buffer[1] = b
    return intern(ctx, kind, buffer, 0, 2)


@jit
def term3(ctx, kind, a, b, c):
    """Intern a term with three contents."""
    buffer = ctx.buffer
    buffer[0] = a
    buffer[1] = b
    buffer[2] = c
    return intern(ctx, kind, buffer, 0, 3)


@jit
def term6(ctx, kind, a, b, c, d, e, f):
    """Intern a term with six contents."""
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
    pool = ctx.pool
    count = ctx.count
    if a == b:
        return a
    na = int(pool[a]) >> 5
    nb = int(pool[b]) >> 5
    if na + nb > ctx.buffer.size:
        raise Complex
    count[WORK] += na + nb
    buffer = ctx.buffer
    i = j = n = 0
    while i < na or j < nb:
        if j >= nb or (i < na and pool[a + 3 + i] <= pool[b + 3 + j]):
            value = pool[a + 3 + i]
            if j < nb and pool[b + 3 + j] == value:
                j += 1
            i += 1
        else:
            value = pool[b + 3 + j]
            j += 1
        buffer[n] = value
        n += 1
    if n == na:
        return a
    if n == nb:
        return b
    return intern(ctx, SET, buffer, 0, n)

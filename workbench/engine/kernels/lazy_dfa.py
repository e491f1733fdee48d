"""Rows: configurations over holes, and their transitions, filled in all at once."""

from __future__ import annotations

from workbench.engine.kernels.closures import (
    add_result,
    begin_closure,
    close,
    end_closure,
    push_all,
    shape_and_bases,
    step,
)
from workbench.engine.kernels.constants import (
    ASK,
    BASES,
    CONFIG,
    DEAD,
    EXPANDED,
    EXPANDING,
    HOLE,
    LEFT_OPEN,
    MAX_ASKED,
    ROWS,
    SET,
    SHAPE,
    UNKNOWN,
    Complex,
    Full,
)
from workbench.engine.kernels.hash_consing import intern, term1, term2, term3
from workbench.engine.kernels.objects.interface import cut_watched, keeps_text, undecided, watched
from workbench.engine.kernels.signatures import jit


@jit
def fill(trans, start, stop, value):
    """Set a part of an array to one value."""
    # a slice: indices that may be negative would keep the loop from vectorising
    part = trans[start:stop]
    for i in range(part.size):
        part[i] = value


@jit
def row_of(ctx, shape, bases):
    """Row of a configuration over holes, made when it is new."""
    pool = ctx.pool
    count = ctx.count
    trans = ctx.trans
    config = term2(ctx, CONFIG, shape, bases)
    row = int(pool[config + 1])
    if row >= 0:
        return row
    row = int(count[ROWS])
    stride = int(ctx.stride)
    if (row + 1) * stride > trans.size:
        raise Full
    count[ROWS] = row + 1
    pool[config + 1] = row
    trans[row * stride] = config
    fill(trans, row * stride + 1, (row + 1) * stride, UNKNOWN)
    return row


@jit
def plain_row(ctx, shape):
    """Row of a shape over holes 0, 1, ..."""
    pool = ctx.pool
    row = int(pool[shape + 1])
    if row >= 0:
        return row
    top = 0
    for i in range(1, int(pool[shape]) >> 5, 2):
        top = max(top, int(pool[shape + 3 + i]))
    # the sets go behind the buffer that the terms use
    path = ctx.path
    if top + 1 > 3 * MAX_ASKED:
        raise Complex
    for h in range(top + 1):
        hole = term3(ctx, HOLE, -1, h, 0)
        path[h] = term1(ctx, SET, hole)
    bases = intern(ctx, BASES, path, 0, top + 1)
    row = row_of(ctx, shape, bases)
    pool[shape + 1] = row
    return row


@jit
def link_edges(ctx, n):
    """Sort the byte edges of a closure into the segments of the alphabet on which they agree.

    Segment ``i`` begins at symbol ``begin``[i]; its edges are a linked list from ``head``[i]. Returns the
    number of segments, 0 when the links do not fit.
    """
    symbols = int(ctx.n_symbols)
    head = ctx.head
    link = ctx.link
    begin = ctx.begin
    cut = ctx.cut
    cuts = cut[: symbols + 1]
    for i in range(cuts.size):
        cuts[i] = 0
    for k in range(n):
        state = int(ctx.thread_state[k])
        for e in range(ctx.edge_start[state], ctx.edge_start[state + 1]):
            cuts[ctx.edge_lo[e]] = 1
            cuts[ctx.edge_hi[e] + 1] = 1
        if ctx.has_watch != 0 and ctx.watched[state] != 0:
            cut_watched(ctx, int(ctx.thread_stacks[k]))
    segment = 0
    head[0] = -1
    begin[0] = 0
    for i in range(cuts.size):
        if cuts[i] != 0 and i > 0:
            segment += 1
            head[segment] = -1
            begin[segment] = i
        cuts[i] = segment
    links = 0
    room = ctx.link.size // 3
    for k in range(n):
        state = int(ctx.thread_state[k])
        stacks = int(ctx.thread_stacks[k])
        looks = ctx.has_watch != 0 and ctx.watched[state] != 0
        if looks and undecided(ctx, stacks):
            continue
        for e in range(ctx.edge_start[state], ctx.edge_start[state + 1]):
            first = int(cuts[ctx.edge_lo[e]])
            last = int(cuts[ctx.edge_hi[e]])
            target = int(ctx.edge_target[e])
            if links + last - first >= room:
                return 0
            for i in range(first, last + 1):
                at = 3 * links
                below = stacks
                if looks:
                    byte = int(begin[i])
                    below = int(watched(ctx, stacks, byte, False))
                    if below < 0:
                        continue
                link[at] = head[i]
                link[at + 1] = target
                link[at + 2] = below
                head[i] = links
                links += 1
    begin[segment + 1] = symbols
    return segment + 1


@jit
def lone_shape(ctx, state):
    """The SHAPE of one thread in a state."""
    known = int(ctx.lone_shape[state])
    if known != 0:
        return known
    buffer = ctx.buffer
    buffer[0] = state
    buffer[1] = 0
    shape = intern(ctx, SHAPE, buffer, 0, 2)
    ctx.lone_shape[state] = shape
    return shape


@jit
def alone(ctx, target, bases):
    """Row of one thread."""
    shape = lone_shape(ctx, target)
    return row_of(ctx, shape, bases)


@jit
def expand_one(ctx, at, state, stacks):
    """Transitions of a lone thread whose edges do not overlap; False when they do."""
    first = int(ctx.edge_start[state])
    last = int(ctx.edge_start[state + 1])
    for e in range(first + 1, last):
        if ctx.edge_lo[e] <= ctx.edge_hi[e - 1]:
            return False
    row = last_target = -1
    bases = term1(ctx, BASES, stacks)
    for e in range(first, last):
        target = int(ctx.edge_target[e])
        if target != last_target:
            row = int(alone(ctx, target, bases))
            last_target = target
        low = at + int(ctx.edge_lo[e])
        high = at + int(ctx.edge_hi[e])
        for i in range(low, high + 1):
            ctx.trans[i] = row
    return True


@jit
def expand_all(ctx, row):  # noqa: C901 - one pass over scratch space that its steps share
    """:func:`expand`, as far as texts that are left open do not matter; returns the size of the closure."""
    pool = ctx.pool
    count = ctx.count
    trans = ctx.trans
    count[EXPANDED] += 1
    stride = int(ctx.stride)
    symbols = int(ctx.n_symbols)
    config = int(trans[row * stride])
    at = row * stride + 1
    n = begin_closure(ctx, int(pool[config + 3]), int(pool[config + 4]))
    n, ask, _ = close(ctx, n, -1, False)
    if ask == 0:
        n = push_all(ctx, n, -1, False)
    end_closure(ctx, n)
    if ask != 0:
        fill(trans, at, at + symbols, ask)
        return n
    lone = -1
    for k in range(n):
        state = ctx.thread_state[k]
        if ctx.edge_start[state] < ctx.edge_start[state + 1]:
            if lone >= 0:
                lone = -2
                break
            lone = k
    if lone > -2:
        fill(trans, at, at + symbols, DEAD)
        if lone < 0:
            return n
        state = int(ctx.thread_state[lone])
        stacks = int(ctx.thread_stacks[lone])
        if ctx.has_watch != 0 and ctx.watched[state] != 0:
            for i in range(int(pool[stacks]) >> 5):
                if pool[pool[stacks + 3 + i] + 4] >= 0:
                    lone = -2
        if lone >= 0 and expand_one(ctx, at, state, stacks):
            return n
        fill(trans, at, at + symbols, UNKNOWN)
    if ctx.has_watch != 0:
        for k in range(n):
            if ctx.watched[ctx.thread_state[k]] != 0:
                if keeps_text(ctx, int(ctx.thread_stacks[k])):
                    return n
    segments = link_edges(ctx, n)
    head = ctx.head
    link = ctx.link
    begin = ctx.begin
    last_target = last_stacks = last_row = last_bases = -1
    for segment in range(segments):
        first = int(head[segment])
        result = DEAD
        if first >= 0 and link[3 * first] < 0:
            # one edge: neighbours often lead to the same place
            target = int(link[3 * first + 1])
            stacks = int(link[3 * first + 2])
            if stacks != last_stacks:
                last_bases = int(term1(ctx, BASES, stacks))
                last_target = -1
            if target != last_target:
                last_row = int(alone(ctx, target, last_bases))
                last_target = target
                last_stacks = stacks
            result = last_row
        elif first >= 0:
            m = 0
            while first >= 0:
                target = int(link[3 * first + 1])
                stacks = int(link[3 * first + 2])
                m = add_result(ctx, m, target, stacks)
                first = int(link[3 * first])
            for k in range(m):
                ctx.result_of[ctx.result_state[k]] = 0
            shape, bases = shape_and_bases(ctx, m)
            result = row_of(ctx, shape, bases)
        fill(trans, at + int(begin[segment]), at + int(begin[segment + 1]), result)
    return n


@jit
def expand(ctx, row):
    """Fill in all transitions of a row at once; some stay UNKNOWN when there is too much to do at once."""
    count = ctx.count
    trans = ctx.trans
    count[LEFT_OPEN] = 0
    # if this is stopped, none of the row is known (see Engine.recover)
    count[EXPANDING] = row + 1
    symbols = int(ctx.n_symbols)
    open_at = ctx.open_symbols
    if open_at[symbols] != 0:
        fill(open_at, 0, symbols + 1, 0)
    n = expand_all(ctx, row)
    if open_at[symbols] != 0:
        here = row * int(ctx.stride) + 1
        for symbol in range(symbols + 1):
            if open_at[symbol] != 0:
                open_at[symbol] = 0
                if symbol < symbols and trans[here + symbol] > ASK:
                    trans[here + symbol] = UNKNOWN
    if ctx.has_watch != 0:
        at = row * int(ctx.stride) + 1
        for k in range(n):
            state = int(ctx.thread_state[k])
            if ctx.watched[state] == 0:
                continue
            if undecided(ctx, int(ctx.thread_stacks[k])):
                for e in range(ctx.edge_start[state], ctx.edge_start[state + 1]):
                    low = at + int(ctx.edge_lo[e])
                    fill(trans, low, at + int(ctx.edge_hi[e]) + 1, UNKNOWN)
    if count[LEFT_OPEN] != 0 and trans[row * ctx.stride + 1 + 0x22] > ASK:
        trans[row * ctx.stride + 1 + 0x22] = UNKNOWN
    count[EXPANDING] = 0


@jit
def next_row(ctx, row, cls):
    """Transition of a row: a row, DEAD or ASK - hole; computed when unknown."""
    pool = ctx.pool
    trans = ctx.trans
    stride = int(ctx.stride)
    known = int(trans[row * stride + 1 + cls])
    if known != UNKNOWN:
        return known
    expand(ctx, row)
    known = int(trans[row * stride + 1 + cls])
    if known != UNKNOWN:
        return known
    config = int(trans[row * stride])
    m = step(ctx, int(pool[config + 3]), int(pool[config + 4]), cls, False)
    result = m
    if m == 0:
        result = DEAD
    elif m > 0:
        shape, bases = shape_and_bases(ctx, m)
        result = row_of(ctx, shape, bases)
    trans[row * stride + 1 + cls] = result
    return result

"""Rows: configurations over holes, and their transitions, filled in all at once.

Next file to read: ``questions.py``.
"""

from __future__ import annotations

from workbench.engine.closures import (
    add_result,
    begin_closure,
    close,
    end_closure,
    push_all,
    shape_and_bases,
    step,
)
from workbench.engine.jit import jit
from workbench.engine.layout import (
    ASK,
    BASES,
    CONFIG,
    DEAD,
    EDGE_HI,
    EDGE_LO,
    EDGE_START,
    EDGE_TARGET,
    EXPANDED,
    HAS_WATCH,
    HOLE,
    LEFT_OPEN,
    MAX_ASKED,
    N_SYMBOLS,
    OVERFLOW,
    R_MARK,
    R_STATE,
    ROWS,
    SET,
    SHAPE,
    STRIDE,
    TOO_COMPLEX,
    UNKNOWN,
    W_BEGIN,
    W_BUFFER,
    W_CUT,
    W_HEAD,
    W_LINK,
    W_LINKS,
    W_LONE,
    W_OPEN,
    W_PATH,
    W_SET,
    W_STATE,
    WATCHED,
)
from workbench.engine.terms import intern, term1, term2, term3
from workbench.engine.texts import cut_watched, keeps_text, undecided, watched


@jit
def fill(trans, start, stop, value):
    """Set a part of an array to one value."""
    # a slice: indices that may be negative would keep the loop from vectorising
    part = trans[start:stop]
    for i in range(part.size):
        part[i] = value


@jit
def row_of(auto, pool, table, count, trans, work, shape, bases):
    """Row of a configuration over holes, made when it is new."""
    config = term2(pool, table, count, work, CONFIG, shape, bases)
    if count[OVERFLOW] != 0:
        return 0
    row = int(pool[config + 1])
    if row >= 0:
        return row
    row = int(count[ROWS])
    stride = int(auto[STRIDE])
    if (row + 1) * stride > trans.size:
        count[OVERFLOW] = 1
        return 0
    count[ROWS] = row + 1
    pool[config + 1] = row
    trans[row * stride] = config
    fill(trans, row * stride + 1, (row + 1) * stride, UNKNOWN)
    return row


@jit
def plain_row(auto, pool, table, count, trans, work, shape):
    """Row of a shape over holes 0, 1, ..."""
    row = int(pool[shape + 1])
    if row >= 0:
        return row
    top = 0
    for i in range(1, int(pool[shape]) >> 5, 2):
        top = max(top, int(pool[shape + 3 + i]))
    # the sets go behind the buffer that the terms use
    path = work[W_PATH]
    if top + 1 > 3 * MAX_ASKED:
        count[TOO_COMPLEX] = 1
        return 0
    for h in range(top + 1):
        hole = term3(pool, table, count, work, HOLE, -1, h, 0)
        work[path + h] = term1(pool, table, count, work, SET, hole)
    bases = intern(pool, table, count, BASES, work, path, top + 1)
    row = row_of(auto, pool, table, count, trans, work, shape, bases)
    if count[OVERFLOW] == 0:
        pool[shape + 1] = row
    return row


@jit
def link_edges(auto, pool, table, count, work, n):
    """Sort the byte edges of a closure into the segments of the alphabet on which they agree.

    Segment ``i`` begins at symbol W_BEGIN[i]; its edges are a linked list from W_HEAD[i]. Returns the
    number of segments, 0 when the links do not fit.
    """
    symbols = int(auto[N_SYMBOLS])
    head = int(work[W_HEAD])
    link = int(work[W_LINK])
    begin = int(work[W_BEGIN])
    cut = int(work[W_CUT])
    cuts = work[cut : cut + symbols + 1]
    for i in range(cuts.size):
        cuts[i] = 0
    for k in range(n):
        state = int(work[work[W_STATE] + k])
        for e in range(auto[auto[EDGE_START] + state], auto[auto[EDGE_START] + state + 1]):
            cuts[auto[auto[EDGE_LO] + e]] = 1
            cuts[auto[auto[EDGE_HI] + e] + 1] = 1
        if auto[HAS_WATCH] != 0 and auto[auto[WATCHED] + state] != 0:
            cut_watched(auto, pool, work, int(work[work[W_SET] + k]))
    segment = 0
    work[head] = -1
    work[begin] = 0
    for i in range(cuts.size):
        if cuts[i] != 0 and i > 0:
            segment += 1
            work[head + segment] = -1
            work[begin + segment] = i
        cuts[i] = segment
    links = 0
    room = int(work[W_LINKS])
    for k in range(n):
        state = int(work[work[W_STATE] + k])
        stacks = int(work[work[W_SET] + k])
        looks = auto[HAS_WATCH] != 0 and auto[auto[WATCHED] + state] != 0
        if looks and undecided(auto, pool, stacks):
            continue
        for e in range(auto[auto[EDGE_START] + state], auto[auto[EDGE_START] + state + 1]):
            first = int(cuts[auto[auto[EDGE_LO] + e]])
            last = int(cuts[auto[auto[EDGE_HI] + e]])
            target = int(auto[auto[EDGE_TARGET] + e])
            if links + last - first >= room:
                return 0
            for i in range(first, last + 1):
                at = link + 3 * links
                below = stacks
                if looks:
                    byte = int(work[begin + i])
                    below = int(watched(auto, pool, table, count, work, stacks, byte, False))
                    if below < 0:
                        continue
                work[at] = work[head + i]
                work[at + 1] = target
                work[at + 2] = below
                work[head + i] = links
                links += 1
    work[begin + segment + 1] = symbols
    return segment + 1


@jit
def lone_shape(pool, table, count, work, state):
    """The SHAPE of one thread in a state."""
    known = int(work[work[W_LONE] + state])
    if known != 0:
        return known
    buffer = work[W_BUFFER]
    work[buffer] = state
    work[buffer + 1] = 0
    shape = intern(pool, table, count, SHAPE, work, buffer, 2)
    if count[OVERFLOW] == 0:
        work[work[W_LONE] + state] = shape
    return shape


@jit
def alone(auto, pool, table, count, trans, work, target, bases):
    """Row of one thread. Check OVERFLOW after it."""
    shape = lone_shape(pool, table, count, work, target)
    if count[OVERFLOW] != 0:
        return DEAD
    return row_of(auto, pool, table, count, trans, work, shape, bases)


@jit
def expand_one(auto, pool, table, count, trans, work, at, state, stacks):
    """Transitions of a lone thread whose edges do not overlap; False when they do."""
    first = int(auto[auto[EDGE_START] + state])
    last = int(auto[auto[EDGE_START] + state + 1])
    for e in range(first + 1, last):
        if auto[auto[EDGE_LO] + e] <= auto[auto[EDGE_HI] + e - 1]:
            return False
    row = last_target = -1
    bases = term1(pool, table, count, work, BASES, stacks)
    if count[OVERFLOW] != 0:
        return True
    for e in range(first, last):
        target = int(auto[auto[EDGE_TARGET] + e])
        if target != last_target:
            row = int(alone(auto, pool, table, count, trans, work, target, bases))
            if count[OVERFLOW] != 0:
                return True
            last_target = target
        low = at + int(auto[auto[EDGE_LO] + e])
        high = at + int(auto[auto[EDGE_HI] + e])
        for i in range(low, high + 1):
            trans[i] = row
    return True


@jit
def expand_all(auto, pool, table, count, trans, work, row):
    """:func:`expand`, as far as texts that are left open do not matter; returns the size of the closure."""
    count[EXPANDED] += 1
    stride = int(auto[STRIDE])
    symbols = int(auto[N_SYMBOLS])
    config = int(trans[row * stride])
    at = row * stride + 1
    n = begin_closure(pool, table, count, work, int(pool[config + 3]), int(pool[config + 4]))
    n, ask, _ = close(auto, pool, table, count, work, n, -1, False)
    if ask == 0 and count[OVERFLOW] == 0 and count[TOO_COMPLEX] == 0:
        n = push_all(auto, pool, table, count, work, n, -1, False)
    end_closure(work, n)
    if count[OVERFLOW] != 0 or count[TOO_COMPLEX] != 0:
        return n
    if ask != 0:
        fill(trans, at, at + symbols, ask)
        return n
    lone = -1
    for k in range(n):
        state = work[work[W_STATE] + k]
        if auto[auto[EDGE_START] + state] < auto[auto[EDGE_START] + state + 1]:
            if lone >= 0:
                lone = -2
                break
            lone = k
    if lone > -2:
        fill(trans, at, at + symbols, DEAD)
        if lone < 0:
            return n
        state = int(work[work[W_STATE] + lone])
        stacks = int(work[work[W_SET] + lone])
        if auto[HAS_WATCH] != 0 and auto[auto[WATCHED] + state] != 0:
            for i in range(int(pool[stacks]) >> 5):
                if pool[pool[stacks + 3 + i] + 4] >= 0:
                    lone = -2
        if lone >= 0 and expand_one(auto, pool, table, count, trans, work, at, state, stacks):
            if count[OVERFLOW] != 0:
                fill(trans, at, at + symbols, UNKNOWN)
            return n
        fill(trans, at, at + symbols, UNKNOWN)
    if auto[HAS_WATCH] != 0:
        for k in range(n):
            if auto[auto[WATCHED] + work[work[W_STATE] + k]] != 0:
                if keeps_text(pool, count, int(work[work[W_SET] + k])):
                    return n
    segments = link_edges(auto, pool, table, count, work, n)
    if count[OVERFLOW] != 0 or count[TOO_COMPLEX] != 0:
        return n
    head = int(work[W_HEAD])
    link = int(work[W_LINK])
    begin = int(work[W_BEGIN])
    last_target = last_stacks = last_row = last_bases = -1
    for segment in range(segments):
        first = int(work[head + segment])
        result = DEAD
        if first >= 0 and work[link + 3 * first] < 0:
            # one edge: neighbours often lead to the same place
            target = int(work[link + 3 * first + 1])
            stacks = int(work[link + 3 * first + 2])
            if stacks != last_stacks:
                last_bases = int(term1(pool, table, count, work, BASES, stacks))
                last_target = -1
            if target != last_target:
                last_row = int(alone(auto, pool, table, count, trans, work, target, last_bases))
                if count[OVERFLOW] != 0:
                    return n
                last_target = target
                last_stacks = stacks
            result = last_row
        elif first >= 0:
            m = 0
            while first >= 0:
                target = int(work[link + 3 * first + 1])
                stacks = int(work[link + 3 * first + 2])
                m = add_result(pool, table, count, work, m, target, stacks)
                first = int(work[link + 3 * first])
            for k in range(m):
                work[work[R_MARK] + work[work[R_STATE] + k]] = 0
            if count[OVERFLOW] != 0 or count[TOO_COMPLEX] != 0:
                return n
            shape, bases = shape_and_bases(pool, table, count, work, m)
            if count[OVERFLOW] != 0:
                return n
            result = row_of(auto, pool, table, count, trans, work, shape, bases)
            if count[OVERFLOW] != 0:
                return n
        fill(trans, at + int(work[begin + segment]), at + int(work[begin + segment + 1]), result)
    return n


@jit
def expand(auto, pool, table, count, trans, work, row):
    """Fill in all transitions of a row at once; some stay UNKNOWN when there is too much to do at once."""
    count[LEFT_OPEN] = 0
    symbols = int(auto[N_SYMBOLS])
    open_at = int(work[W_OPEN])
    if work[open_at + symbols] != 0:
        fill(work, open_at, open_at + symbols + 1, 0)
    n = expand_all(auto, pool, table, count, trans, work, row)
    if work[open_at + symbols] != 0:
        here = row * int(auto[STRIDE]) + 1
        for symbol in range(symbols + 1):
            if work[open_at + symbol] != 0:
                work[open_at + symbol] = 0
                if symbol < symbols and trans[here + symbol] > ASK:
                    trans[here + symbol] = UNKNOWN
    if count[OVERFLOW] != 0 or count[TOO_COMPLEX] != 0:
        return
    if auto[HAS_WATCH] != 0:
        at = row * int(auto[STRIDE]) + 1
        for k in range(n):
            state = int(work[work[W_STATE] + k])
            if auto[auto[WATCHED] + state] == 0:
                continue
            if undecided(auto, pool, int(work[work[W_SET] + k])):
                for e in range(auto[auto[EDGE_START] + state], auto[auto[EDGE_START] + state + 1]):
                    low = at + int(auto[auto[EDGE_LO] + e])
                    fill(trans, low, at + int(auto[auto[EDGE_HI] + e]) + 1, UNKNOWN)
    if count[LEFT_OPEN] != 0 and trans[row * auto[STRIDE] + 1 + 0x22] > ASK:
        trans[row * auto[STRIDE] + 1 + 0x22] = UNKNOWN


@jit
def next_row(auto, pool, table, count, trans, work, row, cls):
    """Transition of a row: a row, DEAD or ASK - hole; computed when unknown. Check OVERFLOW after it."""
    stride = int(auto[STRIDE])
    known = int(trans[row * stride + 1 + cls])
    if known != UNKNOWN:
        return known
    expand(auto, pool, table, count, trans, work, row)
    if count[OVERFLOW] != 0 or count[TOO_COMPLEX] != 0:
        return DEAD
    known = int(trans[row * stride + 1 + cls])
    if known != UNKNOWN:
        return known
    config = int(trans[row * stride])
    m = step(
        auto, pool, table, count, work, int(pool[config + 3]), int(pool[config + 4]), cls, False
    )
    if count[OVERFLOW] != 0 or count[TOO_COMPLEX] != 0:
        return DEAD
    result = m
    if m == 0:
        result = DEAD
    elif m > 0:
        shape, bases = shape_and_bases(pool, table, count, work, m)
        if count[OVERFLOW] != 0:
            return DEAD
        result = row_of(auto, pool, table, count, trans, work, shape, bases)
        if count[OVERFLOW] != 0:
            return DEAD
    trans[row * stride + 1 + cls] = result
    return result

"""Closures of configurations, as of an Earley set: which threads live, and where a symbol leads them.

Completion pops frames of the graph-structured stack, prediction pushes them.
"""

from __future__ import annotations

from workbench.engine.kernels.constants import (
    ASK,
    BASES,
    FRAME,
    JUMP,
    MOST_STEPS,
    NEED,
    SET,
    SHAPE,
    SITE_BASE,
    STEPS,
    UNCLEAR,
    VARIABLE,
    WORK,
    WORK_LIMIT,
    Complex,
    Full,
    Tangled,
)
from workbench.engine.kernels.counters import iterated, zone_of
from workbench.engine.kernels.hash_consing import intern, node3, union
from workbench.engine.kernels.objects.interface import (
    begin_frame,
    end_frame,
    guarded,
    tracked,
    undecided,
    value_delivered,
)
from workbench.engine.kernels.signatures import jit
from workbench.engine.kernels.stack_frames import with_frame


@jit
def add_thread(ctx, n, state, stacks):
    """Add a thread to the closure under way, uniting stacks of equal states; returns the new size."""
    k = int(ctx.thread_of[state]) - 1
    if k < 0:
        k = n
        n += 1
        ctx.thread_of[state] = k + 1
        ctx.thread_state[k] = state
        ctx.thread_stacks[k] = stacks
    else:
        old = int(ctx.thread_stacks[k])
        both = union(ctx, old, stacks)
        if both == old:
            return n
        ctx.thread_stacks[k] = both
    if ctx.queued[k] == 0:
        ctx.queued[k] = 1
        ctx.agenda[0] += 1
        ctx.agenda[ctx.agenda[0]] = k
    return n


@jit
def add_result(ctx, n, state, stacks):
    """Add a thread to the result under way; returns the new size."""
    k = int(ctx.result_of[state]) - 1
    if k < 0:
        ctx.result_of[state] = n + 1
        ctx.result_state[n] = state
        ctx.result_stacks[n] = stacks
        return n + 1
    ctx.result_stacks[k] = union(ctx, int(ctx.result_stacks[k]), stacks)
    return n


@jit
def next_thread(ctx):
    """Number of a thread whose closure is due, or -1."""
    top = int(ctx.agenda[0])
    if top == 0:
        return -1
    k = int(ctx.agenda[top])
    ctx.agenda[0] = top - 1
    ctx.queued[k] = 0
    return k


@jit
def flush_rounds(ctx, n, state, rounds):
    """Add the thread that begins another iteration, on all the frames collected in ``tree``."""
    if rounds == 0:
        return n
    tree = ctx.tree
    kept = 0
    for i in range(rounds):
        frame = tree[i]
        k = kept
        while k > 0 and tree[k - 1] > frame:
            k -= 1
        if k > 0 and tree[k - 1] == frame:
            continue
        for j in range(kept, k, -1):
            tree[j] = tree[j - 1]
        tree[k] = frame
        kept += 1
    stacks = intern(ctx, SET, tree, 0, kept)
    return add_thread(ctx, n, state, stacks)


@jit
def pop_all(ctx, n, stacks, cls, exact):
    """Add the threads that go on behind a completed frame, for each frame on top of ``stacks``.

    Texts that wait for an answer are completed only when their quotation mark comes next (``cls``).
    Returns ``(new size of the closure, ASK - variable or 0, whether the empty stack is a member)``.
    """
    arena = ctx.arena
    count = ctx.count
    tree = ctx.tree
    rounds = 0
    rounds_state = -1
    bottom = 0
    for i in range(int(arena[stacks]) >> 5):
        frame = int(arena[stacks + 3 + i])
        kind = arena[frame] & 31
        count[WORK] += 1
        if kind == VARIABLE:
            return n, ASK - frame, bottom
        if kind != FRAME:
            bottom = 1
            continue
        target = int(arena[frame + 3])
        value = int(arena[frame + 4])
        parents = int(arena[frame + 5])
        back = target
        loop = -1
        if target >= SITE_BASE:
            site = target - SITE_BASE
            loop = int(ctx.site_loop[site])
            back = int(ctx.site_return[site])
            if loop < 0:
                parents = int(end_frame(ctx, frame, loop, cls, exact))
        elif value != 0:
            parents = int(value_delivered(ctx, parents, value, exact))
        if parents <= ASK:
            return n, parents, bottom
        if parents < 0:
            continue
        if loop < 0:
            n = add_thread(ctx, n, back, parents)
            continue
        value, can_loop, can_leave = iterated(ctx, loop, value)
        if not exact:
            value = int(zone_of(ctx, site, value))
        if can_loop:
            state = int(ctx.entry_state[ctx.loop_entry[loop]])
            if state != rounds_state or rounds >= ctx.tree.size:
                n = flush_rounds(ctx, n, rounds_state, rounds)
                rounds_state = state
                rounds = 0
            tree[rounds] = node3(ctx, FRAME, target, value, parents)
            rounds += 1
        if can_leave:
            n = add_thread(ctx, n, back, parents)
    n = flush_rounds(ctx, n, rounds_state, rounds)
    return n, 0, bottom


@jit
def reads(ctx, state, cls):
    """Whether a symbol may come next in a state, whatever guards say; also true where it takes long to tell."""
    stack = ctx.left
    stack[0] = state
    n = 1
    steps = 0
    while n > 0:
        n -= 1
        state = int(stack[n])
        steps += 1
        if steps > MOST_STEPS or ctx.final[state] != 0:
            return True
        for e in range(ctx.edge_start[state], ctx.edge_start[state + 1]):
            if ctx.edge_lo[e] <= cls <= ctx.edge_hi[e]:
                return True
        for e in range(ctx.empty_start[state], ctx.empty_start[state + 1]):
            stack[n] = ctx.empty_target[e]
            n += 1
        for c in range(ctx.call_start[state], ctx.call_start[state + 1]):
            start = int(ctx.entry_state[ctx.call_entry[c]])
            if start < 0:
                return True
            stack[n] = start
            n += 1
        if n > MOST_STEPS:
            return True
    return False


@jit
def decided(ctx, state, cls):
    """See that a thread that may or may not be in a state does not matter for a symbol: raise Tangled if it does.

    For all symbols (-1), those for which it does are marked in ``open_symbols``.
    """
    ctx.count[UNCLEAR] = 0
    if cls >= 0:
        if reads(ctx, state, cls):
            raise Tangled
        return
    open_at = ctx.open_symbols
    for symbol in range(ctx.n_symbols):
        if open_at[symbol] == 0 and reads(ctx, state, symbol):
            open_at[symbol] = 1
    open_at[int(ctx.n_symbols)] = 1


@jit
def push_calls(ctx, n, k, cls, exact):
    """Add the threads inside the calls of thread ``k`` that may begin with a symbol (-1: with any)."""
    count = ctx.count
    state = int(ctx.thread_state[k])
    stacks = int(ctx.thread_stacks[k])
    for c in range(ctx.call_start[state], ctx.call_start[state + 1]):
        entry = int(ctx.call_entry[c])
        if cls >= 0:
            first = ctx.entry_first[entry * ctx.first_words + (cls >> 5)]
            if (first >> (cls & 31)) & 1 == 0:
                continue
        start = int(ctx.entry_state[entry])
        if start < 0:
            count[NEED] = entry + 1
            raise Full
        back = int(ctx.call_return[c])
        pushed = stacks
        if back != JUMP:
            loop = 0
            if back >= SITE_BASE:
                loop = int(ctx.site_loop[back - SITE_BASE])
            if loop < 0:
                pushed = int(begin_frame(ctx, back, loop, stacks, exact))
            else:
                pushed = int(with_frame(ctx, -1, back, 0, stacks))
            if count[UNCLEAR] != 0:
                decided(ctx, start, cls)
                continue
            if pushed < 0:
                continue
        count[WORK] += 1
        n = add_thread(ctx, n, start, pushed)
    return n


@jit
def push_all(ctx, n, cls, exact):
    """Add the threads inside the calls that may begin with a symbol (-1: any); returns the new size.

    Callers come before what they call (CALL_ORDER, when RANKED), so that a frame is made once, on all the
    stacks below it, and not again for each that is found later.
    """
    count = ctx.count
    queued = ctx.queued
    states = ctx.thread_state
    stack = ctx.agenda
    stack[0] = 0
    for k in range(n):
        state = states[k]
        if ctx.call_start[state] < ctx.call_start[state + 1]:
            queued[k] = 1
            stack[0] += 1
            stack[stack[0]] = k
    if stack[0] == 0:
        return n
    if ctx.ranked == 0:
        while True:
            k = next_thread(ctx)
            if k < 0:
                break
            state = int(states[k])
            for e in range(ctx.empty_start[state], ctx.empty_start[state + 1]):
                target = int(ctx.empty_target[e])
                stacks = int(ctx.thread_stacks[k])
                if ctx.empty_guard[e] >= 0:
                    guard = int(ctx.empty_guard[e])
                    stacks = int(guarded(ctx, stacks, guard, exact))
                    if count[UNCLEAR] != 0:
                        decided(ctx, target, cls)
                    elif stacks <= ASK:
                        # only the stacks can answer what is asked here
                        raise Tangled
                    if stacks < 0:
                        continue
                n = add_thread(ctx, n, target, stacks)
            n = push_calls(ctx, n, k, cls, exact)
        return n
    while True:
        best = -1
        order = 0
        for k in range(n):
            if queued[k] != 0:
                rank = ctx.call_order[states[k]]
                if best < 0 or rank < order:
                    best = k
                    order = rank
        if best < 0:
            break
        queued[best] = 0
        n = push_calls(ctx, n, best, cls, exact)
        stack[0] = 0
    return n


@jit
def begin_closure(ctx, shape, bases):
    """Start a closure with the threads of a configuration; returns its size."""
    arena = ctx.arena
    ctx.agenda[0] = 0
    n = 0
    items = int(arena[shape]) >> 5
    for i in range(0, items, 2):
        state = int(arena[shape + 3 + i])
        stacks = int(arena[bases + 3 + arena[shape + 4 + i]])
        n = add_thread(ctx, n, state, stacks)
    return n


@jit
def end_closure(ctx, n):
    """Clear the marks of a closure."""
    for k in range(n):
        ctx.thread_of[ctx.thread_state[k]] = 0
        ctx.queued[k] = 0


@jit
def close(ctx, n, cls, exact):
    """Add the threads behind empty edges and behind completed frames to a closure.

    Returns ``(new size, ASK - variable or 0, whether the empty stack may be completed)``.
    """
    arena = ctx.arena
    count = ctx.count
    ask = 0
    yes = 0
    while ask == 0:
        k = next_thread(ctx)
        if k < 0:
            break
        state = int(ctx.thread_state[k])
        stacks = int(ctx.thread_stacks[k])
        count[WORK] += 1
        if count[WORK] > count[WORK_LIMIT]:
            raise Complex
        for e in range(ctx.empty_start[state], ctx.empty_start[state + 1]):
            target = int(ctx.empty_target[e])
            below = stacks
            if ctx.empty_guard[e] >= 0:
                guard = int(ctx.empty_guard[e])
                below = int(guarded(ctx, stacks, guard, exact))
                if count[UNCLEAR] != 0:
                    decided(ctx, target, cls)
                    continue
                if below <= ASK:
                    ask = below
                    break
                if below < 0:
                    continue
            n = add_thread(ctx, n, target, below)
        if ask == 0 and ctx.final[state] != 0:
            n, ask, bottom = pop_all(ctx, n, stacks, cls, exact)
            yes |= bottom
    if ctx.has_watch != 0 and ask == 0:
        # frames with trackers must be seen before a byte is taken
        for k in range(n):
            if ctx.watched[ctx.thread_state[k]] == 0:
                continue
            stacks = int(ctx.thread_stacks[k])
            for i in range(int(arena[stacks]) >> 5):
                element = int(arena[stacks + 3 + i])
                if arena[element] & 31 == VARIABLE:
                    ask = ASK - element
    return n, ask, yes


@jit
def step(ctx, shape, bases, cls, exact):
    """One symbol: the threads that live after it, in ``result_state``.

    Returns their number (0: dead) or ASK - variable. Nothing is remembered here.
    """
    count = ctx.count
    count[STEPS] += 1
    n = begin_closure(ctx, shape, bases)
    n, ask, _ = close(ctx, n, cls, exact)
    if ask == 0:
        n = push_all(ctx, n, cls, exact)
    m = 0
    if ask == 0:
        for k in range(n):
            state = int(ctx.thread_state[k])
            for e in range(ctx.edge_start[state], ctx.edge_start[state + 1]):
                if ctx.edge_lo[e] > cls:
                    break
                if cls <= ctx.edge_hi[e]:
                    stacks = int(ctx.thread_stacks[k])
                    if ctx.has_watch != 0 and ctx.watched[state] != 0:
                        if undecided(ctx, stacks):
                            raise Tangled
                        stacks = int(tracked(ctx, stacks, cls, exact))
                        if stacks < 0:
                            continue
                    target = int(ctx.edge_target[e])
                    m = add_result(ctx, m, target, stacks)
        for k in range(m):
            ctx.result_of[ctx.result_state[k]] = 0
    end_closure(ctx, n)
    if ask != 0:
        return ask
    return m


@jit
def shape_and_bases(ctx, m):
    """Intern the threads that step() left: SHAPE and BASES, stack variables numbered by first use."""
    states = ctx.result_state
    sets = ctx.result_stacks
    for i in range(1, m):
        state = states[i]
        stacks = sets[i]
        k = i
        while k > 0 and states[k - 1] > state:
            states[k] = states[k - 1]
            sets[k] = sets[k - 1]
            k -= 1
        states[k] = state
        sets[k] = stacks
    buffer = ctx.buffer
    variables = ctx.result_of  # all zero outside step(); used as scratch and cleared below
    h = 0
    for i in range(m):
        stacks = sets[i]
        k = 0
        while k < h and variables[k] != stacks:
            k += 1
        if k == h:
            variables[h] = stacks
            h += 1
        buffer[2 * i] = states[i]
        buffer[2 * i + 1] = k
    shape = intern(ctx, SHAPE, buffer, 0, 2 * m)
    for k in range(h):
        buffer[k] = variables[k]
        variables[k] = 0
    bases = intern(ctx, BASES, buffer, 0, h)
    return shape, bases

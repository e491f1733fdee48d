"""The lazy DFA: its states are configurations over stack variables, their transitions filled in when first needed."""

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
    DFA_STATES,
    EXPANDED,
    EXPANDING,
    LEFT_OPEN,
    MOST_RETURNS,
    SET,
    SHAPE,
    UNKNOWN,
    VARIABLE,
    Complex,
    Full,
)
from workbench.engine.kernels.hash_consing import intern, node1, node2, node3
from workbench.engine.kernels.objects.interface import cut_tracked, keeps_text, tracked, undecided
from workbench.engine.kernels.signatures import jit


@jit
def fill(transitions, start, stop, value):
    """Set a part of an array to one value."""
    # a slice: indices that may be negative would keep the loop from vectorising
    part = transitions[start:stop]
    for i in range(part.size):
        part[i] = value


@jit
def dfa_state_of(ctx, shape, bases):
    """The DFA state of a configuration over stack variables, made when it is new."""
    arena = ctx.arena
    count = ctx.count
    transitions = ctx.transitions
    config = node2(ctx, CONFIG, shape, bases)
    dfa_state = int(arena[config + 1])
    if dfa_state >= 0:
        return dfa_state
    dfa_state = int(count[DFA_STATES])
    stride = int(ctx.stride)
    if (dfa_state + 1) * stride > transitions.size:
        raise Full
    count[DFA_STATES] = dfa_state + 1
    arena[config + 1] = dfa_state
    transitions[dfa_state * stride] = config
    fill(transitions, dfa_state * stride + 1, (dfa_state + 1) * stride, UNKNOWN)
    return dfa_state


@jit
def plain_dfa_state(ctx, shape):
    """The DFA state of a shape over the variables 0, 1, ..."""
    arena = ctx.arena
    dfa_state = int(arena[shape + 1])
    if dfa_state >= 0:
        return dfa_state
    top = 0
    for i in range(1, int(arena[shape]) >> 5, 2):
        top = max(top, int(arena[shape + 3 + i]))
    # the sets go behind the buffer that the nodes use
    listed = ctx.listed
    if top + 1 > 3 * MOST_RETURNS:
        raise Complex
    for h in range(top + 1):
        variable = node3(ctx, VARIABLE, -1, h, 0)
        listed[h] = node1(ctx, SET, variable)
    bases = intern(ctx, BASES, listed, 0, top + 1)
    dfa_state = dfa_state_of(ctx, shape, bases)
    arena[shape + 1] = dfa_state
    return dfa_state


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
            cut_tracked(ctx, int(ctx.thread_stacks[k]))
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
                    below = int(tracked(ctx, stacks, byte, False))
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
def lone_dfa_state(ctx, target, bases):
    """The DFA state of one thread."""
    shape = lone_shape(ctx, target)
    return dfa_state_of(ctx, shape, bases)


@jit
def expand_one(ctx, at, state, stacks):
    """Transitions of a lone thread whose edges do not overlap; False when they do."""
    first = int(ctx.edge_start[state])
    last = int(ctx.edge_start[state + 1])
    for e in range(first + 1, last):
        if ctx.edge_lo[e] <= ctx.edge_hi[e - 1]:
            return False
    dfa_state = last_target = -1
    bases = node1(ctx, BASES, stacks)
    for e in range(first, last):
        target = int(ctx.edge_target[e])
        if target != last_target:
            dfa_state = int(lone_dfa_state(ctx, target, bases))
            last_target = target
        low = at + int(ctx.edge_lo[e])
        high = at + int(ctx.edge_hi[e])
        for i in range(low, high + 1):
            ctx.transitions[i] = dfa_state
    return True


@jit
def expand_lone(ctx, at, n):
    """Transitions of a closure in which one thread at most has edges, that do not overlap; False for others."""
    arena = ctx.arena
    transitions = ctx.transitions
    symbols = int(ctx.n_symbols)
    lone = -1
    for k in range(n):
        state = ctx.thread_state[k]
        if ctx.edge_start[state] < ctx.edge_start[state + 1]:
            if lone >= 0:
                return False
            lone = k
    fill(transitions, at, at + symbols, DEAD)
    if lone < 0:
        return True
    state = int(ctx.thread_state[lone])
    stacks = int(ctx.thread_stacks[lone])
    moves = False
    if ctx.has_watch != 0 and ctx.watched[state] != 0:
        for i in range(int(arena[stacks]) >> 5):
            if arena[arena[stacks + 3 + i] + 4] >= 0:
                moves = True
    if not moves and expand_one(ctx, at, state, stacks):
        return True
    fill(transitions, at, at + symbols, UNKNOWN)
    return False


@jit
def expand_all(ctx, dfa_state):
    """:func:`expand`, as far as texts that are left open do not matter; returns the size of the closure."""
    arena = ctx.arena
    count = ctx.count
    transitions = ctx.transitions
    count[EXPANDED] += 1
    stride = int(ctx.stride)
    symbols = int(ctx.n_symbols)
    config = int(transitions[dfa_state * stride])
    at = dfa_state * stride + 1
    n = begin_closure(ctx, int(arena[config + 3]), int(arena[config + 4]))
    n, ask, _ = close(ctx, n, -1, False)
    if ask == 0:
        n = push_all(ctx, n, -1, False)
    end_closure(ctx, n)
    if ask != 0:
        fill(transitions, at, at + symbols, ask)
        return n
    if expand_lone(ctx, at, n):
        return n
    if ctx.has_watch != 0:
        for k in range(n):
            if ctx.watched[ctx.thread_state[k]] != 0:
                if keeps_text(ctx, int(ctx.thread_stacks[k])):
                    return n
    segments = link_edges(ctx, n)
    head = ctx.head
    link = ctx.link
    begin = ctx.begin
    last_target = last_stacks = last_dfa_state = last_bases = -1
    for segment in range(segments):
        first = int(head[segment])
        result = DEAD
        if first >= 0 and link[3 * first] < 0:
            # one edge: neighbours often lead to the same place
            target = int(link[3 * first + 1])
            stacks = int(link[3 * first + 2])
            if stacks != last_stacks:
                last_bases = int(node1(ctx, BASES, stacks))
                last_target = -1
            if target != last_target:
                last_dfa_state = int(lone_dfa_state(ctx, target, last_bases))
                last_target = target
                last_stacks = stacks
            result = last_dfa_state
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
            result = dfa_state_of(ctx, shape, bases)
        fill(transitions, at + int(begin[segment]), at + int(begin[segment + 1]), result)
    return n


@jit
def expand(ctx, dfa_state):
    """Fill in all transitions of a DFA state at once; some stay UNKNOWN when there is too much to do at once."""
    count = ctx.count
    transitions = ctx.transitions
    count[LEFT_OPEN] = 0
    # if this is stopped, no transition of the DFA state is known (see Engine.recover)
    count[EXPANDING] = dfa_state + 1
    symbols = int(ctx.n_symbols)
    open_at = ctx.open_symbols
    if open_at[symbols] != 0:
        fill(open_at, 0, symbols + 1, 0)
    n = expand_all(ctx, dfa_state)
    if open_at[symbols] != 0:
        here = dfa_state * int(ctx.stride) + 1
        for symbol in range(symbols + 1):
            if open_at[symbol] != 0:
                open_at[symbol] = 0
                if symbol < symbols and transitions[here + symbol] > ASK:
                    transitions[here + symbol] = UNKNOWN
    if ctx.has_watch != 0:
        at = dfa_state * int(ctx.stride) + 1
        for k in range(n):
            state = int(ctx.thread_state[k])
            if ctx.watched[state] == 0:
                continue
            if undecided(ctx, int(ctx.thread_stacks[k])):
                for e in range(ctx.edge_start[state], ctx.edge_start[state + 1]):
                    low = at + int(ctx.edge_lo[e])
                    fill(transitions, low, at + int(ctx.edge_hi[e]) + 1, UNKNOWN)
    if count[LEFT_OPEN] != 0 and transitions[dfa_state * ctx.stride + 1 + 0x22] > ASK:
        transitions[dfa_state * ctx.stride + 1 + 0x22] = UNKNOWN
    count[EXPANDING] = 0


@jit
def transition(ctx, dfa_state, cls):
    """Transition of a DFA state: a DFA state, DEAD or ASK - variable; computed when unknown."""
    arena = ctx.arena
    transitions = ctx.transitions
    stride = int(ctx.stride)
    known = int(transitions[dfa_state * stride + 1 + cls])
    if known != UNKNOWN:
        return known
    expand(ctx, dfa_state)
    known = int(transitions[dfa_state * stride + 1 + cls])
    if known != UNKNOWN:
        return known
    config = int(transitions[dfa_state * stride])
    m = step(ctx, int(arena[config + 3]), int(arena[config + 4]), cls, False)
    result = m
    if m == 0:
        result = DEAD
    elif m > 0:
        shape, bases = shape_and_bases(ctx, m)
        result = dfa_state_of(ctx, shape, bases)
    transitions[dfa_state * stride + 1 + cls] = result
    return result

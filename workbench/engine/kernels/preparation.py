"""The beginning of a mask: the stack queries before its first byte, and the self-loop that it may use."""

from __future__ import annotations

from workbench.engine.kernels.closures import add_thread, begin_closure, end_closure, next_thread
from workbench.engine.kernels.constants import ASK, LOOK, VARIABLE, WHOLE
from workbench.engine.kernels.hash_consing import node1
from workbench.engine.kernels.lazy_dfa import dfa_state_of, plain_dfa_state, transition
from workbench.engine.kernels.mask_trees import known_queries
from workbench.engine.kernels.self_loops import self_loop_of
from workbench.engine.kernels.signatures import jit
from workbench.engine.kernels.stack_queries import answer, dfa_state_accepts, refine, substitute


@jit
def name_begins(ctx, dfa_state):
    """The variable at which a DFA state is about to read a fresh text of a scope, or -1."""
    arena = ctx.arena
    config = int(ctx.transitions[dfa_state * ctx.stride])
    n = begin_closure(ctx, int(arena[config + 3]), int(arena[config + 4]))
    found = -1
    while found < 0:
        k = next_thread(ctx)
        if k < 0:
            break
        state = int(ctx.thread_state[k])
        stacks = int(ctx.thread_stacks[k])
        for e in range(ctx.empty_start[state], ctx.empty_start[state + 1]):
            guard = int(ctx.empty_guard[e])
            if guard < 0:
                target = int(ctx.empty_target[e])
                n = add_thread(ctx, n, target, stacks)
            elif ctx.guard_op[guard] == LOOK:
                for i in range(int(arena[stacks]) >> 5):
                    if arena[arena[stacks + 3 + i]] & 31 == VARIABLE:
                        found = int(arena[stacks + 3 + i])
    end_closure(ctx, n)
    return found


@jit
def begin_walk(ctx, shape, bases):
    """Prepare a mask walk: the DFA state to start from, with all that its first bytes ask answered.

    Returns ``(dfa_state, 1 where the text may end, else 0)``.
    """
    dfa_state = 0
    if known_queries(ctx, shape, bases):
        dfa_state = dfa_state_of(ctx, shape, bases)
    else:
        dfa_state = plain_dfa_state(ctx, shape)
    if ctx.has_watch != 0:
        # where names begin, all earlier keys are seen at once; elsewhere they are asked for one by one
        variable = int(name_begins(ctx, dfa_state))
        while variable >= 0:
            query = int(node1(ctx, WHOLE, variable))
            return_set = answer(ctx, query, bases)
            dfa_state = substitute(ctx, dfa_state, query, return_set)
            variable = int(name_begins(ctx, dfa_state))
    dfa_state = refine(ctx, dfa_state, bases)
    ending = dfa_state
    while True:
        yes = dfa_state_accepts(ctx, ending)
        if yes > ASK:
            break
        return_set = answer(ctx, ASK - yes, bases)
        ending = substitute(ctx, ending, ASK - yes, return_set)
    return dfa_state, yes


@jit
def live_symbols(ctx, shape, bases, live):
    """Mark the symbols that may come next in ``live`` (uint8, zeroed)."""
    dfa_state, _ = begin_walk(ctx, shape, bases)
    for symbol in range(ctx.n_symbols):
        if transition(ctx, dfa_state, symbol) >= 0:
            live[symbol] = 1


@jit
def prepare(ctx, shape, bases):
    """Begin a mask: the DFA state, its stack queries and its self-loop, left in ``found`` and the sets of bytes.

    ``alive`` gets the bytes below 128 that may come first, as four words.

    Returns what :func:`self_loop_of` does. ``found``: loop head, loop state, most characters, DFA state, whether the
    text may end here.
    """
    found = ctx.found
    dfa_state, ends = begin_walk(ctx, shape, bases)
    found[3] = dfa_state
    found[4] = ends
    loop = self_loop_of(ctx, dfa_state, bases)
    at = dfa_state * int(ctx.stride) + 1
    for i in range(4):
        word = 0
        for bit in range(32):
            if ctx.transitions[at + 32 * i + bit] >= 0:
                word |= 1 << bit
        ctx.alive[i] = word
    return loop

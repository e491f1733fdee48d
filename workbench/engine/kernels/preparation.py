"""The beginning of a mask: what is asked before its first byte, and the self-loop that it may use."""

from __future__ import annotations

from workbench.engine.kernels.closures import add_thread, begin_closure, end_closure, next_thread
from workbench.engine.kernels.constants import ASK, HOLE, LOOK, WHOLE
from workbench.engine.kernels.hash_consing import term1
from workbench.engine.kernels.lazy_dfa import next_row, plain_row, row_of
from workbench.engine.kernels.mask_trees import known_questions
from workbench.engine.kernels.self_loops import run_of
from workbench.engine.kernels.signatures import jit
from workbench.engine.kernels.stack_queries import answer, refine, row_accepts, substitute


@jit
def name_begins(ctx, row):
    """The hole at which a row is about to read a fresh text of a scope, or -1."""
    pool = ctx.pool
    config = int(ctx.trans[row * ctx.stride])
    n = begin_closure(ctx, int(pool[config + 3]), int(pool[config + 4]))
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
                for i in range(int(pool[stacks]) >> 5):
                    if pool[pool[stacks + 3 + i]] & 31 == HOLE:
                        found = int(pool[stacks + 3 + i])
    end_closure(ctx, n)
    return found


@jit
def begin_walk(ctx, shape, bases):
    """Prepare a mask walk: the row to start from, with all that its first bytes ask answered.

    Returns ``(row, 1 where the text may end, else 0)``.
    """
    row = 0
    if known_questions(ctx, shape, bases):
        row = row_of(ctx, shape, bases)
    else:
        row = plain_row(ctx, shape)
    if ctx.has_watch != 0:
        # where names begin, all that came are seen at once; elsewhere they are asked for one by one
        hole = int(name_begins(ctx, row))
        while hole >= 0:
            question = int(term1(ctx, WHOLE, hole))
            labels = answer(ctx, question, bases)
            row = substitute(ctx, row, question, labels)
            hole = int(name_begins(ctx, row))
    row = refine(ctx, row, bases)
    ending = row
    while True:
        yes = row_accepts(ctx, ending)
        if yes > ASK:
            break
        labels = answer(ctx, ASK - yes, bases)
        ending = substitute(ctx, ending, ASK - yes, labels)
    return row, yes


@jit
def live_symbols(ctx, shape, bases, live):
    """Mark the symbols that may come next in ``live`` (uint8, zeroed)."""
    row, _ = begin_walk(ctx, shape, bases)
    for symbol in range(ctx.n_symbols):
        if next_row(ctx, row, symbol) >= 0:
            live[symbol] = 1


@jit
def prepare(ctx, shape, bases):
    """Begin a mask: the row, what it asks and its run, left in ``found`` and the sets of bytes.

    ``alive`` gets the bytes below 128 that may come first, as four words.

    Returns what :func:`run_of` does. ``found``: home, around, most, row,
    whether the text may end here.
    """
    found = ctx.found
    row, ends = begin_walk(ctx, shape, bases)
    found[3] = row
    found[4] = ends
    run = run_of(ctx, row, bases)
    at = row * int(ctx.stride) + 1
    for i in range(4):
        word = 0
        for bit in range(32):
            if ctx.trans[at + 32 * i + bit] >= 0:
                word |= 1 << bit
        ctx.alive[i] = word
    return run

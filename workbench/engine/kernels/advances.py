"""Going on with bytes and symbols, from one position to the next."""

from __future__ import annotations

from workbench.engine.kernels.closures import add_result, shape_and_bases, step
from workbench.engine.kernels.constants import ASK, DEAD, REFUSED
from workbench.engine.kernels.lazy_dfa import plain_dfa_state, transition
from workbench.engine.kernels.signatures import jit


@jit
def advance(ctx, data, start, stop, shape, bases, by_dfa):
    """Feed bytes to a sequence: ``(shape, bases)`` after them, or ``(REFUSED, position)``.

    ``by_dfa`` is false where DFA states do not say enough (Tangled): then the stacks are asked at every byte.
    """
    arena = ctx.arena
    transitions = ctx.transitions
    stride = int(ctx.stride)
    for i in range(start, stop):
        cls = int(data[i])
        dfa_state = int(arena[shape + 1])
        if dfa_state < 0:
            dfa_state = plain_dfa_state(ctx, shape)
        following = ASK
        if by_dfa:
            following = transition(ctx, dfa_state, cls)
        if following == DEAD:
            return REFUSED, i
        if following >= 0:
            after = int(transitions[following * stride])
            before = int(transitions[dfa_state * stride])
            if arena[after + 4] == arena[before + 4]:
                shape = int(arena[after + 3])
                continue
        m = step(ctx, shape, bases, cls, True)
        if m == 0:
            return REFUSED, i
        shape, bases = shape_and_bases(ctx, m)
    return shape, bases


@jit
def advance_symbol(ctx, symbol, shape, bases):
    """Feed one symbol to a sequence; returns what :func:`advance` does."""
    m = step(ctx, shape, bases, symbol, True)
    if m == 0:
        return REFUSED, 0
    shape, bases = shape_and_bases(ctx, m)
    return shape, bases


@jit
def both(ctx, shape, bases, shape2, bases2):
    """A sequence in either of two configurations; returns what :func:`advance` does."""
    arena = ctx.arena
    m = 0
    for i in range(0, int(arena[shape]) >> 5, 2):
        stacks = int(arena[bases + 3 + arena[shape + 4 + i]])
        m = add_result(ctx, m, int(arena[shape + 3 + i]), stacks)
    for i in range(0, int(arena[shape2]) >> 5, 2):
        stacks = int(arena[bases2 + 3 + arena[shape2 + 4 + i]])
        m = add_result(ctx, m, int(arena[shape2 + 3 + i]), stacks)
    for k in range(m):
        ctx.result_of[ctx.result_state[k]] = 0
    shape, bases = shape_and_bases(ctx, m)
    return shape, bases

"""Going on with bytes and symbols, from one position to the next."""

from __future__ import annotations

from workbench.engine.kernels.closures import add_result, shape_and_bases, step
from workbench.engine.kernels.constants import ASK, DEAD, REFUSED
from workbench.engine.kernels.lazy_dfa import next_row, plain_row
from workbench.engine.kernels.signatures import jit


@jit
def advance(ctx, data, start, stop, shape, bases, by_rows):
    """Feed bytes to a sequence: ``(shape, bases)`` after them, or ``(REFUSED, position)``.

    ``by_rows`` is false where rows do not say enough (Tangled): then the stacks are asked at every byte.
    """
    pool = ctx.pool
    trans = ctx.trans
    stride = int(ctx.stride)
    for i in range(start, stop):
        cls = int(data[i])
        row = int(pool[shape + 1])
        if row < 0:
            row = plain_row(ctx, shape)
        following = ASK
        if by_rows:
            following = next_row(ctx, row, cls)
        if following == DEAD:
            return REFUSED, i
        if following >= 0:
            after = int(trans[following * stride])
            before = int(trans[row * stride])
            if pool[after + 4] == pool[before + 4]:
                shape = int(pool[after + 3])
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
    pool = ctx.pool
    m = 0
    for i in range(0, int(pool[shape]) >> 5, 2):
        stacks = int(pool[bases + 3 + pool[shape + 4 + i]])
        m = add_result(ctx, m, int(pool[shape + 3 + i]), stacks)
    for i in range(0, int(pool[shape2]) >> 5, 2):
        stacks = int(pool[bases2 + 3 + pool[shape2 + 4 + i]])
        m = add_result(ctx, m, int(pool[shape2 + 3 + i]), stacks)
    for k in range(m):
        ctx.result_of[ctx.result_state[k]] = 0
    shape, bases = shape_and_bases(ctx, m)
    return shape, bases

"""Masks and tokens of sequences: what the engine calls, by a position ``shape << 32 | bases``.

A kernel that stops leaves marks in scratch space. Python clears them (``Engine.recover``), but an interrupt may come
before it does: so what might trip over them begins by :func:`begin`.
"""

from __future__ import annotations

from workbench.engine.kernels.advances import advance, advance_symbol, both
from workbench.engine.kernels.compaction import compact
from workbench.engine.kernels.constants import (
    AT_WORK,
    BUSY,
    CHANGED,
    DONE,
    EPOCH,
    HITS,
    MISS,
    N_QUERIES,
    NEED,
    REFUSED,
    WORK,
    Unclean,
)
from workbench.engine.kernels.context import numbers_at, words_at
from workbench.engine.kernels.invariance import invariant_under
from workbench.engine.kernels.mask_trees import keep, lookup, tangled_node
from workbench.engine.kernels.preparation import live_symbols, prepare
from workbench.engine.kernels.signatures import jit
from workbench.engine.kernels.slice_walks import finish
from workbench.engine.kernels.stack_queries import accepts

__all__ = [
    "accept_all_at",
    "accept_at",
    "accept_many_at",
    "accepts_at",
    "advance_at",
    "advance_symbol_at",
    "both_at",
    "compact",
    "finish_at",
    "invariant_at",
    "live_symbols_at",
    "lookup_at",
    "lookup_many_at",
    "lookup_to",
    "prepare_at",
    "tangled_node_at",
]


@jit
def begin(ctx):
    """A kernel begins; what it needs (NEED) is not known yet."""
    count = ctx.count
    if count[AT_WORK] != 0:
        raise Unclean
    count[AT_WORK] = 1
    count[NEED] = 0


@jit
def end(ctx):
    """A kernel has come to its end."""
    ctx.count[AT_WORK] = 0


@jit
def accepts_at(ctx, shape, bases, exact):
    """:func:`accepts`."""
    begin(ctx)
    yes = accepts(ctx, shape, bases, exact)
    end(ctx)
    return yes


@jit
def advance_at(ctx, data, start, stop, shape, bases, by_dfa):
    """:func:`advance`."""
    begin(ctx)
    first, second = advance(ctx, data, start, stop, shape, bases, by_dfa)
    end(ctx)
    return first, second


@jit
def advance_symbol_at(ctx, symbol, shape, bases):
    """:func:`advance_symbol`."""
    begin(ctx)
    first, second = advance_symbol(ctx, symbol, shape, bases)
    end(ctx)
    return first, second


@jit
def both_at(ctx, shape, bases, shape2, bases2):
    """:func:`both`."""
    begin(ctx)
    first, second = both(ctx, shape, bases, shape2, bases2)
    end(ctx)
    return first, second


@jit
def live_symbols_at(ctx, shape, bases, live):
    """:func:`live_symbols`."""
    begin(ctx)
    live_symbols(ctx, shape, bases, live)
    end(ctx)


@jit
def tangled_node_at(ctx, shape):
    """:func:`tangled_node`."""
    begin(ctx)
    node = tangled_node(ctx, shape)
    end(ctx)
    return node


@jit
def prepare_at(ctx, position):
    """:func:`prepare` for a position."""
    begin(ctx)
    ctx.count[WORK] = 0
    ctx.count[N_QUERIES] = 0
    loop = prepare(ctx, position >> 32, position & 0xFFFFFFFF)
    end(ctx)
    return loop


@jit
def invariant_at(ctx, part, non_ascii, most, position):
    """:func:`invariant_under` for the DFA state that :func:`prepare_at` has found."""
    begin(ctx)
    reached = invariant_under(ctx, part, ctx.found[3], position & 0xFFFFFFFF, non_ascii, most)
    end(ctx)
    return reached


@jit
def finish_at(ctx, part, non_ascii, reached, position):
    """:func:`finish` and :func:`keep` for a position."""
    begin(ctx)
    finish(ctx, part, non_ascii, reached, position & 0xFFFFFFFF, ctx.words)
    keep(ctx, position >> 32, position & 0xFFFFFFFF)
    end(ctx)


@jit
def lookup_at(ctx, position, out):
    """:func:`lookup` of a position; masks that ask nothing are copied without a further call."""
    arena = ctx.arena
    node = int(arena[(position >> 32) + 2])
    if node >= 0:
        number = int(arena[node + 2])
        if number >= 0:
            masks_at = ctx.masks_at
            start = masks_at[number]
            if masks_at[number + 1] - start == out.size:
                # a slice: indices that may be negative would keep the loop from vectorising
                stored = ctx.masks[start : start + out.size]
                for i in range(out.size):
                    out[i] = stored[i]
                ctx.count[HITS] += 1
                return 0
    begin(ctx)
    found = lookup(ctx, position >> 32, position & 0xFFFFFFFF, out)
    end(ctx)
    return found


@jit
def lookup_to(ctx, epoch, position, mask):
    """:func:`lookup_at` into the memory of a mask, whose record is at an address (see ``known_mask.py``).

    Handing over an array costs Python more. CHANGED where the array is not as it was recorded. Needs no lock but
    the GIL: MISS while another thread is at work on the arrays, and for a position of another epoch.
    """
    known = numbers_at(mask, 8)
    array = numbers_at(known[0], 7)
    shape = numbers_at(array[2], 2)
    changed = (array[0] ^ known[1]) | ((array[1] ^ known[2]) & 0xFFFFFFFF)
    changed |= (array[5] ^ known[3]) | ((array[6] ^ known[4]) & 0xFFFFFFFF)
    if changed | (shape[0] ^ known[5]) | (shape[1] ^ known[6]) != 0:
        return CHANGED
    count = ctx.count
    if count[BUSY] != 0 or count[EPOCH] != epoch:
        return MISS
    return lookup_at(ctx, position, words_at(known[7], ctx.words.size))


@jit
def lookup_many_at(ctx, positions, out, missed):
    """:func:`lookup_at` of many positions, one row of ``out`` each; negative ones get an empty mask.

    Returns how many have no stored mask; their numbers are in ``missed``.
    """
    n_words = ctx.words.size
    width = out.size // max(positions.size, 1)
    misses = 0
    for i in range(positions.size):
        begin = i * width
        stop = begin + width
        if positions[i] < 0:
            for j in range(begin, stop):
                out[j] = 0
            continue
        if lookup_at(ctx, positions[i], out[begin : begin + n_words]) != 0:
            missed[misses] = i
            misses += 1
        for j in range(begin + n_words, stop):
            out[j] = 0
    return misses


@jit
def accept_one(ctx, position, token, by_dfa):
    """The position after a token's bytes, or REFUSED."""
    ctx.count[WORK] = 0
    start = ctx.offsets[token]
    stop = ctx.offsets[token + 1]
    if start == stop:
        return REFUSED
    shape, bases = advance(
        ctx, ctx.blob, start, stop, position >> 32, position & 0xFFFFFFFF, by_dfa
    )
    if shape < 0:
        return int(shape)
    return int(shape) << 32 | int(bases)


@jit
def accept_at(ctx, position, token, by_dfa):
    """:func:`accept_one`; ``by_dfa`` as for :func:`advance`."""
    begin(ctx)
    following = accept_one(ctx, position, token, by_dfa)
    end(ctx)
    return following


@jit
def accept_many_at(ctx, positions, token_ids):
    """:func:`accept_at` of many positions, in place; how many are done is in ``count[DONE]`` when it stops, too."""
    count = ctx.count
    count[DONE] = 0
    begin(ctx)
    for i in range(positions.size):
        if positions[i] >= 0:
            positions[i] = accept_one(ctx, positions[i], token_ids[i], True)
        count[DONE] = i + 1
    end(ctx)


@jit
def accept_all_at(ctx, position, positions, states, by_dfa):
    """:func:`accept_at` of every token, into ``positions`` where it may come; ``states`` has room for each byte.

    A forward scan over the trie of tokens, with the position before each byte of the token at hand.
    """
    begin(ctx)
    bytes_ = ctx.bytes_
    states[0] = position
    i = 0
    while i < bytes_.size:
        ctx.count[WORK] = 0
        depth = int(ctx.depths[i])
        here = int(states[depth])
        shape, bases = advance(ctx, bytes_, i, i + 1, here >> 32, here & 0xFFFFFFFF, by_dfa)
        if shape < 0:
            i = int(ctx.skips[i])
            continue
        following = int(shape) << 32 | int(bases)
        states[depth + 1] = following
        token = int(ctx.tokens[i])
        if token >= 0:
            positions[token] = following
        i += 1
    end(ctx)

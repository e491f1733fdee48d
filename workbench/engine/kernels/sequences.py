"""Masks and tokens of sequences: what the engine calls, by a position ``shape << 32 | bases``."""

from __future__ import annotations

from workbench.engine.kernels.advances import advance, advance_symbol, both
from workbench.engine.kernels.compaction import compact
from workbench.engine.kernels.constants import (
    BUSY,
    DONE,
    EPOCH,
    HITS,
    MISS,
    N_QUERIES,
    REFUSED,
    WORK,
)
from workbench.engine.kernels.context import words_at
from workbench.engine.kernels.invariance import invariant_under
from workbench.engine.kernels.mask_trees import keep, lookup, tangled_node
from workbench.engine.kernels.preparation import live_symbols, prepare
from workbench.engine.kernels.signatures import jit
from workbench.engine.kernels.slice_walks import finish
from workbench.engine.kernels.stack_queries import accepts

__all__ = [
    "accept_at",
    "accept_many_at",
    "accepts",
    "advance",
    "advance_symbol",
    "both",
    "compact",
    "finish_at",
    "invariant_at",
    "live_symbols",
    "lookup_at",
    "lookup_many_at",
    "lookup_to",
    "prepare_at",
    "tangled_node",
]


@jit
def prepare_at(ctx, position):
    """:func:`prepare` for a position."""
    ctx.count[WORK] = 0
    ctx.count[N_QUERIES] = 0
    return prepare(ctx, position >> 32, position & 0xFFFFFFFF)


@jit
def invariant_at(ctx, part, non_ascii, most, position):
    """:func:`invariant_under` for the DFA state that :func:`prepare_at` has found."""
    return invariant_under(ctx, part, ctx.found[3], position & 0xFFFFFFFF, non_ascii, most)


@jit
def finish_at(ctx, part, non_ascii, reached, position):
    """:func:`finish` and :func:`keep` for a position."""
    finish(ctx, part, non_ascii, reached, position & 0xFFFFFFFF, ctx.words)
    keep(ctx, position >> 32, position & 0xFFFFFFFF)


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
    return lookup(ctx, position >> 32, position & 0xFFFFFFFF, out)


@jit
def lookup_to(ctx, epoch, position, address):
    """:func:`lookup_at` into memory at an address: an array costs Python more to hand over.

    Needs no lock but the GIL: MISS while another thread is at work on the arrays, and for a position of
    another epoch.
    """
    count = ctx.count
    if count[BUSY] != 0 or count[EPOCH] != epoch:
        return MISS
    return lookup_at(ctx, position, words_at(address, ctx.words.size))


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
def accept_at(ctx, position, token, by_dfa):
    """The position after a token's bytes, or REFUSED; ``by_dfa`` as for :func:`advance`."""
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
def accept_many_at(ctx, positions, token_ids):
    """:func:`accept_at` of many positions, in place; how many are done is in ``count[DONE]`` when it stops, too."""
    count = ctx.count
    count[DONE] = 0
    for i in range(positions.size):
        if positions[i] >= 0:
            positions[i] = accept_at(ctx, positions[i], token_ids[i], True)
        count[DONE] = i + 1

"""Walks over a trie of tokens."""

from __future__ import annotations

from workbench.engine.kernels.constants import DEAD, UNKNOWN, WALKED
from workbench.engine.kernels.signatures import jit
from workbench.engine.kernels.stack_queries import settle


@jit
def walk(ctx, start, stop, bases, out):
    """Set the bits of the tokens that a sequence may take next, among the nodes start..stop of a trie.

    The row before the first node is the caller's to put into ``row_at``. ``out`` is not
    cleared.
    """
    count = ctx.count
    trans = ctx.trans
    stride = int(ctx.stride)
    rows = ctx.row_at
    i = start
    visited = 0
    while i < stop:
        visited += 1
        depth = int(ctx.depths[i])
        current = int(rows[depth])
        cls = int(ctx.bytes_[i])
        following = int(trans[current * stride + 1 + cls])
        if following <= UNKNOWN:
            current = settle(ctx, current, cls, bases)
            rows[depth] = current
            following = int(trans[current * stride + 1 + cls])
        if following < 0:
            i = int(ctx.skips[i])
            continue
        token = int(ctx.tokens[i])
        if token >= 0:
            out[token >> 5] |= 1 << (token & 31)
        rows[depth + 1] = following
        i += 1
    count[WALKED] += visited


@jit
def in_run(byte, loops, beyond):
    """Whether a byte begins a character of a run."""
    if byte < 128:
        return (int(loops[byte >> 5]) >> (byte & 31)) & 1 != 0
    return beyond != 0 and 0xC2 <= byte <= 0xF4


@jit
def walk_exits(ctx, exits, first, stop, loops, beyond, bases, out):
    """:func:`walk` what lies below some exits of a slice, all with the same byte.

    ``follow`` holds the row (or DEAD) behind that byte after 0, 1, 2, ... characters.
    """
    count = ctx.count
    trans = ctx.trans
    depths = ctx.depths
    skips = ctx.skips
    tokens = ctx.tokens
    stride = int(ctx.stride)
    rows = ctx.row_at
    follow = ctx.follow
    visited = 0
    for e in range(first, stop):
        following = int(follow[exits[3 * e + 1]])
        if following < 0:
            continue
        if not in_run(int(exits[3 * e + 2]), loops, beyond):
            continue
        i = int(exits[3 * e])
        token = int(tokens[i])
        if token >= 0:
            out[token >> 5] |= 1 << (token & 31)
        end = int(skips[i])
        rows[int(depths[i]) + 1] = following
        i += 1
        # as in walk(): a call for each of thousands of exits would cost more than the walk
        while i < end:
            visited += 1
            depth = int(depths[i])
            current = int(rows[depth])
            cls = int(ctx.bytes_[i])
            following = int(trans[current * stride + 1 + cls])
            if following <= UNKNOWN:
                current = settle(ctx, current, cls, bases)
                rows[depth] = current
                following = int(trans[current * stride + 1 + cls])
            if following < 0:
                i = int(skips[i])
                continue
            token = int(tokens[i])
            if token >= 0:
                out[token >> 5] |= 1 << (token & 31)
            rows[depth + 1] = following
            i += 1
    count[WALKED] += visited + stop - first
    return 0


@jit
def walk_difference(ctx, row, other, home, bases, out):
    """Turn the mask of the row ``other`` into that of ``row``, looking only where they lead apart.

    ``home`` and ``other`` count as one row: the second is the first with what it asks answered.
    """
    count = ctx.count
    trans = ctx.trans
    bytes_ = ctx.bytes_
    tokens = ctx.tokens
    stride = int(ctx.stride)
    rows = ctx.row_at
    others = ctx.other_row_at
    rows[0] = row
    others[0] = other
    i = 0
    visited = 0
    while i < bytes_.size:
        visited += 1
        depth = int(ctx.depths[i])
        byte = int(bytes_[i])
        here = int(rows[depth])
        there = int(others[depth])
        following = int(trans[here * stride + 1 + byte])
        if following <= UNKNOWN:
            here = settle(ctx, here, byte, bases)
            rows[depth] = here
            following = int(trans[here * stride + 1 + byte])
        known = int(trans[there * stride + 1 + byte])
        if known <= UNKNOWN:
            there = settle(ctx, there, byte, bases)
            others[depth] = there
            known = int(trans[there * stride + 1 + byte])
        if following == home:
            following = other
        if known == home:
            known = other
        stop = int(ctx.skips[i])
        if following == known:
            i = stop
            continue
        if following < 0 and depth == 0:
            # the caller has left out what begins so
            i = stop
            continue
        if following < 0:
            for j in range(i, stop):
                token = int(tokens[j])
                if token >= 0:
                    out[token >> 5] = int(out[token >> 5]) & ~(1 << (token & 31)) & 0xFFFFFFFF
            i = stop
            continue
        token = int(tokens[i])
        if token >= 0:
            out[token >> 5] |= 1 << (token & 31)
        rows[depth + 1] = following
        if known < 0:
            walk(ctx, i + 1, stop, bases, out)
            i = stop
            continue
        others[depth + 1] = known
        i += 1
    count[WALKED] += visited


@jit
def read_on(ctx, start, stop, row, bases):
    """The row after some bytes, or DEAD."""
    trans = ctx.trans
    stride = int(ctx.stride)
    for i in range(start, stop):
        byte = int(ctx.blob[i])
        following = int(trans[row * stride + 1 + byte])
        if following <= UNKNOWN:
            row = settle(ctx, row, byte, bases)
            following = int(trans[row * stride + 1 + byte])
        if following < 0:
            return DEAD
        row = following
    return row


@jit
def walk_below(ctx, row, node, token, bases, out):
    """:func:`walk` a node and what lies below it, reading the bytes before it, as ``token`` has them, first."""
    start = int(ctx.offsets[token])
    depth = int(ctx.depths[node])
    following = read_on(ctx, start, start + depth, row, bases)
    if following < 0:
        return
    ctx.row_at[depth] = following
    walk(ctx, node, int(ctx.skips[node]), bases, out)


@jit
def walk_others(ctx, part, row, first, loops, beyond, bases, out):
    """Walk the tokens whose first character is none of a run's; unset those of them that are inside the slice.

    What a row ``first`` cannot begin with is left out.
    """
    trans = ctx.trans
    bytes_ = ctx.bytes_
    rows = ctx.row_at
    at = row * int(ctx.stride) + 1
    first_at = first * int(ctx.stride) + 1
    node = 0
    while node < bytes_.size:
        byte = int(bytes_[node])
        stop = int(ctx.skips[node])
        if not in_run(byte, loops, beyond):
            if in_run(byte, part.loops, beyond):
                for i in range(node, stop):
                    if part.lengths[i] >= 0:
                        token = int(ctx.tokens[i])
                        out[token >> 5] = int(out[token >> 5]) & ~(1 << (token & 31)) & 0xFFFFFFFF
            if trans[at + byte] != DEAD and trans[first_at + byte] != DEAD:
                rows[0] = row
                walk(ctx, node, stop, bases, out)
        node = stop


@jit
def walk_odd(ctx, part, row, loops, beyond, bases, out):
    """Walk what lies below a slice's exits within a character, or after more characters than are counted.

    Their bytes are read first. Tokens whose first character is none of the run's are left out.
    """
    odd = part.odd
    for e in range(odd.size // 2):
        token = int(odd[2 * e + 1])
        if in_run(int(ctx.blob[ctx.offsets[token]]), loops, beyond):
            walk_below(ctx, row, int(odd[2 * e]), token, bases, out)

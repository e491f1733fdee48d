"""Walks of what a slice leaves over, and the mask that they make."""

from __future__ import annotations

from workbench.engine.kernels.constants import DEAD, ENDLESS, MOST_CHARACTERS, UNKNOWN
from workbench.engine.kernels.lazy_dfa import fill
from workbench.engine.kernels.signatures import jit
from workbench.engine.kernels.stack_queries import settle
from workbench.engine.kernels.trie_walks import (
    in_run,
    walk,
    walk_below,
    walk_difference,
    walk_exits,
    walk_odd,
    walk_others,
)


@jit
def walk_run(ctx, part, row, first, beyond, bases, out):
    """Set the bits of the allowed tokens for a row with a run, given the slice of its characters.

    ``out`` holds the tokens inside the slice with as many characters as the run may have. What remains:
    tokens whose first character is none of the run's are walked (and unset before, when they are inside
    the slice); all others leave the characters at one of the slice's exits, so it is enough to walk
    what lies below the exits whose byte may come there. When all of the slice's characters belong to
    the run and have no bound, the tokens that end with an exit's byte (``leaves``) need no look, and only
    the other exits (``inner``) are walked. What a row ``first`` cannot begin with is left out.
    """
    trans = ctx.trans
    exits_at = part.exits_at
    inner_at = part.inner_at
    leaves_at = part.leaves_at
    deepest = part.deepest
    found = ctx.found
    loops = ctx.loops
    stride = int(ctx.stride)
    around = int(found[1])
    most = int(found[2])
    whole = most == ENDLESS
    for i in range(8):
        if loops[i] != part.loops[i]:
            whole = False
    walk_others(ctx, part, row, first, loops, beyond, bases, out)
    # rows after 1, 2, ... characters of the run, as far as they are told apart
    chain = ctx.chain
    follow = ctx.follow
    known = 0
    steady = False
    if most != ENDLESS:
        # as far as the run goes before an exit whose byte may come
        deep = 0
        for byte in range(256):
            if deepest[byte] > deep:
                then = settle(ctx, around, byte, bases)
                if trans[then * stride + 1 + byte] >= 0:
                    deep = int(deepest[byte])
        last = min(most, deep)
        probe = 0
        while probe < 128 and not in_run(probe, loops, 0):
            probe += 1
        if probe == 128:
            # characters beyond ASCII alone, if any: the first of them, U+0080
            last = last if beyond != 0 else 0
            probe = 0xC2
        row_then = row
        before = -1  # the row one character ago
        while known < last and row_then >= 0 and row_then != before:
            before = row_then
            row_then = settle(ctx, row_then, probe, bases)
            chain[known] = row_then
            row_then = int(trans[row_then * stride + 1 + probe])
            known += 1
            if probe == 0xC2 and row_then >= 0:
                row_then = settle(ctx, row_then, 0x80, bases)
                row_then = int(trans[row_then * stride + 1 + 0x80])
        steady = row_then == before
        if row_then >= 0 and not steady:
            chain[known] = row_then
            known += 1
    for byte in range(256):
        begin = int(exits_at[byte])
        stop = int(exits_at[byte + 1])
        if begin == stop:
            continue
        then = settle(ctx, around, byte, bases)
        endless = int(trans[then * stride + 1 + byte])
        if endless < 0:
            continue
        if whole:
            for i in range(leaves_at[byte], leaves_at[byte + 1]):
                token = int(part.leaves[i])
                out[token >> 5] |= 1 << (token & 31)
            begin = int(inner_at[byte])
            stop = int(inner_at[byte + 1])
            fill(follow, 0, MOST_CHARACTERS + 1, endless)
        elif most == ENDLESS:
            fill(follow, 0, MOST_CHARACTERS + 1, endless)
        else:
            fill(follow, 0, MOST_CHARACTERS + 1, DEAD)
            for k in range(1, known):
                then = settle(ctx, int(chain[k]), byte, bases)
                follow[k] = trans[then * stride + 1 + byte]
            if steady:
                # from there on each character leads back to the same row
                same = int(follow[known - 1])
                fill(follow, known, MOST_CHARACTERS + 1, same)
        walk_exits(ctx, part.inner if whole else part.exits, begin, stop, loops, beyond, bases, out)
    walk_odd(ctx, part, row, loops, beyond, bases, out)


@jit
def following_all(ctx, n, byte, bases):
    """The row to which a byte leads from all ``n`` rows of ``closed_row``, DEAD, or UNKNOWN when they differ."""
    trans = ctx.trans
    stride = int(ctx.stride)
    asked = ctx.closed_asked
    states = ctx.closed_state
    result = UNKNOWN
    for k in range(n):
        if states[k] != 0:
            continue
        here = int(asked[k])
        target = int(trans[here * stride + 1 + byte])
        if target <= UNKNOWN:
            here = settle(ctx, here, byte, bases)
            asked[k] = here
            target = int(trans[here * stride + 1 + byte])
        if k > 0 and target != result:
            return UNKNOWN
        result = target
    return result


@jit
def walk_closed(ctx, part, row, beyond, n, bases, out):
    """Set the bits of the allowed tokens for a row that lives after any run of a slice's characters.

    ``out`` holds the tokens inside the slice. The others leave it at their first character, or at one of its
    exits. Where the exit's byte leads to one row from all ``n`` that the run may come to (``closed_row``), only what
    is below the exits is walked; else the bytes before each are read as well.
    """
    tokens = ctx.tokens
    exits_at = part.exits_at
    inner_at = part.inner_at
    leaves_at = part.leaves_at
    slice_loops = part.loops
    follow = ctx.follow
    walk_others(ctx, part, row, row, slice_loops, beyond, bases, out)
    for byte in range(256):
        if exits_at[byte] == exits_at[byte + 1]:
            continue
        following = following_all(ctx, n, byte, bases)
        if following >= 0:
            for i in range(leaves_at[byte], leaves_at[byte + 1]):
                token = int(part.leaves[i])
                out[token >> 5] |= 1 << (token & 31)
            fill(follow, 0, MOST_CHARACTERS + 1, following)
            walk_exits(
                ctx,
                part.inner,
                int(inner_at[byte]),
                int(inner_at[byte + 1]),
                slice_loops,
                beyond,
                bases,
                out,
            )
        if following != UNKNOWN:
            continue
        for e in range(exits_at[byte], exits_at[byte + 1]):
            node = int(part.exits[3 * e])
            leaf = node
            while tokens[leaf] < 0:
                leaf += 1
            walk_below(ctx, row, node, int(tokens[leaf]), bases, out)
    walk_odd(ctx, part, row, slice_loops, beyond, bases, out)


@jit
def finish(ctx, part, beyond, closed, bases, out):  # noqa: C901 - one branch a way to make a mask
    """The mask that :func:`prepare` began, in ``out``.

    ``beyond`` is -1 to do without a slice; with ``closed``, the row lives after any run of its characters, and
    so many rows are in ``closed_row``.
    """
    trans = ctx.trans
    found = ctx.found
    loops = ctx.loops
    duplicates = ctx.duplicates
    eos = ctx.eos
    symbol_at = ctx.symbol_at
    slice_rows = part.rows
    row = int(found[3])
    if closed > 0:
        inside = slice_rows[slice_rows.size - out.size :]
        for i in range(out.size):
            out[i] = inside[i]
        walk_closed(ctx, part, row, beyond, closed, bases, out)
    elif beyond < 0:
        for i in range(out.size):
            out[i] = 0
        ctx.row_at[0] = row
        walk(ctx, 0, ctx.bytes_.size, bases, out)
    else:
        home = int(found[0])
        first = row
        apart = found[2] == ENDLESS and row != found[1] and row != home
        if apart and beyond != 0:
            for lead in range(0xC2, 0xF5):
                if trans[row * ctx.stride + 1 + lead] == DEAD:
                    apart = False
        if apart:
            # first the mask of what the run comes to, then what differs at its beginning
            row = int(found[1])
            for i in range(8):
                loops[i] = ctx.around_loops[i]
            for byte in range(128):
                if trans[first * ctx.stride + 1 + byte] == DEAD:
                    loops[byte >> 5] = int(loops[byte >> 5]) & ~(1 << (byte & 31)) & 0xFFFFFFFF
        longest = min(int(found[2]), slice_rows.size // out.size - 1)
        inside = slice_rows[longest * out.size : (longest + 1) * out.size]
        for i in range(out.size):
            out[i] = inside[i]
        # the run's first characters, as far as they belong to the slice
        for i in range(8):
            loops[i] = int(loops[i]) & int(part.loops[i])
        walk_run(ctx, part, row, first, beyond, bases, out)
        if apart:
            row = int(found[3])
            walk_difference(ctx, row, int(found[1]), home, bases, out)
    for i in range(0, duplicates.size, 2):
        same = int(duplicates[i])
        if (int(out[same >> 5]) >> (same & 31)) & 1:
            other = int(duplicates[i + 1])
            out[other >> 5] |= 1 << (other & 31)
    # tokens that the grammar names
    for symbol in range(256, ctx.n_symbols):
        row = settle(ctx, row, symbol, bases)
        if trans[row * ctx.stride + 1 + symbol] < 0:
            continue
        for i in range(symbol_at[symbol - 256], symbol_at[symbol - 255]):
            token = int(ctx.symbol_ids[i])
            out[token >> 5] |= 1 << (token & 31)
    if found[4] != 0:
        for i in range(eos.size):
            token = int(eos[i])
            out[token >> 5] |= 1 << (token & 31)

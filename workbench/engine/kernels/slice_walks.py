"""Walks of what a slice leaves over, and the mask that they make."""

from __future__ import annotations

from workbench.engine.kernels.constants import DEAD, ENDLESS, MOST_CHARACTERS, UNKNOWN
from workbench.engine.kernels.lazy_dfa import fill
from workbench.engine.kernels.signatures import jit
from workbench.engine.kernels.stack_queries import resolve
from workbench.engine.kernels.trie_walks import (
    in_class,
    walk,
    walk_below,
    walk_difference,
    walk_exits,
    walk_odd,
    walk_others,
)


@jit
def chain_of(ctx, part, dfa_state, non_ascii, bases):
    """DFA states after 1, 2, ... characters of a bounded self-loop, as far as they are told apart, into ``chain``.

    Returns how many there are, and whether all further ones are as the last of them.
    """
    transitions = ctx.transitions
    deepest = part.deepest
    chain = ctx.chain
    byte_class = ctx.byte_class
    stride = int(ctx.stride)
    loop_state = int(ctx.found[1])
    # as far as the loop goes before an exit whose byte may come
    deep = 0
    for byte in range(256):
        if deepest[byte] > deep:
            then = resolve(ctx, loop_state, byte, bases)
            if transitions[then * stride + 1 + byte] >= 0:
                deep = int(deepest[byte])
    last = min(int(ctx.found[2]), deep)
    probe = 0
    while probe < 128 and not in_class(probe, byte_class, 0):
        probe += 1
    if probe == 128:
        # characters beyond ASCII alone, if any: the first of them, U+0080
        last = last if non_ascii != 0 else 0
        probe = 0xC2
    known = 0
    then = dfa_state
    before = -1  # the DFA state one character ago
    while known < last and then >= 0 and then != before:
        before = then
        then = resolve(ctx, then, probe, bases)
        chain[known] = then
        then = int(transitions[then * stride + 1 + probe])
        known += 1
        if probe == 0xC2 and then >= 0:
            then = resolve(ctx, then, 0x80, bases)
            then = int(transitions[then * stride + 1 + 0x80])
    steady = then == before
    if then >= 0 and not steady:
        chain[known] = then
        known += 1
    return known, steady


@jit
def walk_self_loop(ctx, part, dfa_state, first, non_ascii, bases, out):
    """Set the bits of the allowed tokens for a DFA state with a self-loop, given the slice of its byte class.

    ``out`` holds the tokens inside the slice with as many characters as the loop may take. What remains:
    tokens whose first character is none of the loop's are walked (and unset before, when they are inside
    the slice); all others leave the characters at one of the slice's exits, so it is enough to walk
    what lies below the exits whose byte may come there. When all of the slice's characters belong to
    the loop and have no bound, the tokens that end with an exit's byte (``leaves``) need no look, and only
    the other exits (``inner``) are walked. What a DFA state ``first`` cannot begin with is left out.
    """
    transitions = ctx.transitions
    exits_at = part.exits_at
    inner_at = part.inner_at
    leaves_at = part.leaves_at
    found = ctx.found
    byte_class = ctx.byte_class
    stride = int(ctx.stride)
    loop_state = int(found[1])
    most = int(found[2])
    whole = most == ENDLESS
    for i in range(8):
        if byte_class[i] != part.byte_class[i]:
            whole = False
    walk_others(ctx, part, dfa_state, first, byte_class, non_ascii, bases, out)
    chain = ctx.chain
    follow = ctx.follow
    known = 0
    steady = False
    if most != ENDLESS:
        known, steady = chain_of(ctx, part, dfa_state, non_ascii, bases)
    for byte in range(256):
        begin = int(exits_at[byte])
        stop = int(exits_at[byte + 1])
        if begin == stop:
            continue
        then = resolve(ctx, loop_state, byte, bases)
        endless = int(transitions[then * stride + 1 + byte])
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
                then = resolve(ctx, int(chain[k]), byte, bases)
                follow[k] = transitions[then * stride + 1 + byte]
            if steady:
                # from there on each character leads back to the same DFA state
                same = int(follow[known - 1])
                fill(follow, known, MOST_CHARACTERS + 1, same)
        walk_exits(
            ctx, part.inner if whole else part.exits, begin, stop, byte_class, non_ascii, bases, out
        )
    walk_odd(ctx, part, dfa_state, byte_class, non_ascii, bases, out)


@jit
def following_all(ctx, n, byte, bases):
    """Where a byte leads from all ``n`` DFA states of ``reached_state``, DEAD, or UNKNOWN when that differs."""
    transitions = ctx.transitions
    stride = int(ctx.stride)
    resolved = ctx.reached_resolved
    rests = ctx.reached_rest
    result = UNKNOWN
    for k in range(n):
        if rests[k] != 0:
            continue
        here = int(resolved[k])
        target = int(transitions[here * stride + 1 + byte])
        if target <= UNKNOWN:
            here = resolve(ctx, here, byte, bases)
            resolved[k] = here
            target = int(transitions[here * stride + 1 + byte])
        if k > 0 and target != result:
            return UNKNOWN
        result = target
    return result


@jit
def walk_invariant(ctx, part, dfa_state, non_ascii, n, bases, out):
    """Set the bits of the allowed tokens for a DFA state that lives after any characters of a slice.

    ``out`` holds the tokens inside the slice. The others leave it at their first character, or at one of its
    exits. Where the exit's byte leads to one DFA state from all ``n`` in ``reached_state``, only what
    is below the exits is walked; else the bytes before each are read as well.
    """
    tokens = ctx.tokens
    exits_at = part.exits_at
    inner_at = part.inner_at
    leaves_at = part.leaves_at
    slice_class = part.byte_class
    follow = ctx.follow
    walk_others(ctx, part, dfa_state, dfa_state, slice_class, non_ascii, bases, out)
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
                slice_class,
                non_ascii,
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
            walk_below(ctx, dfa_state, node, int(tokens[leaf]), bases, out)
    walk_odd(ctx, part, dfa_state, slice_class, non_ascii, bases, out)


@jit
def finish_self_loop(ctx, part, non_ascii, bases, out):
    """The mask of a DFA state with a self-loop, by the slice of its byte class."""
    transitions = ctx.transitions
    found = ctx.found
    byte_class = ctx.byte_class
    slice_masks = part.masks
    first = dfa_state = int(found[3])
    loop_head = int(found[0])
    apart = found[2] == ENDLESS and dfa_state != found[1] and dfa_state != loop_head
    if apart and non_ascii != 0:
        for lead in range(0xC2, 0xF5):
            if transitions[dfa_state * ctx.stride + 1 + lead] == DEAD:
                apart = False
    if apart:
        # first the mask of what the loop comes to, then what differs at its beginning
        dfa_state = int(found[1])
        for i in range(8):
            byte_class[i] = ctx.loop_class[i]
        for byte in range(128):
            if transitions[first * ctx.stride + 1 + byte] == DEAD:
                bit = 1 << (byte & 31)
                byte_class[byte >> 5] = int(byte_class[byte >> 5]) & ~bit & 0xFFFFFFFF
    longest = min(int(found[2]), slice_masks.size // out.size - 1)
    inside = slice_masks[longest * out.size : (longest + 1) * out.size]
    for i in range(out.size):
        out[i] = inside[i]
    # the loop's first characters, as far as they belong to the slice
    for i in range(8):
        byte_class[i] = int(byte_class[i]) & int(part.byte_class[i])
    walk_self_loop(ctx, part, dfa_state, first, non_ascii, bases, out)
    if apart:
        walk_difference(ctx, first, int(found[1]), loop_head, bases, out)


@jit
def add_others(ctx, dfa_state, bases, out):
    """Set the bits that no walk sets: of duplicates, tokens that the grammar names, ends."""
    duplicates = ctx.duplicates
    eos = ctx.eos
    symbol_at = ctx.symbol_at
    for i in range(0, duplicates.size, 2):
        same = int(duplicates[i])
        if (int(out[same >> 5]) >> (same & 31)) & 1:
            other = int(duplicates[i + 1])
            out[other >> 5] |= 1 << (other & 31)
    for symbol in range(256, ctx.n_symbols):
        dfa_state = resolve(ctx, dfa_state, symbol, bases)
        if ctx.transitions[dfa_state * ctx.stride + 1 + symbol] < 0:
            continue
        for i in range(symbol_at[symbol - 256], symbol_at[symbol - 255]):
            token = int(ctx.symbol_ids[i])
            out[token >> 5] |= 1 << (token & 31)
    if ctx.found[4] != 0:
        for i in range(eos.size):
            token = int(eos[i])
            out[token >> 5] |= 1 << (token & 31)


@jit
def finish(ctx, part, non_ascii, reached, bases, out):
    """The mask that :func:`prepare` began, in ``out``.

    ``non_ascii`` is -1 to do without a slice; with ``reached`` > 0 the DFA state has passed the invariance check for
    the slice, and so many DFA states are in ``reached_state``.
    """
    slice_masks = part.masks
    dfa_state = int(ctx.found[3])
    if reached > 0:
        inside = slice_masks[slice_masks.size - out.size :]
        for i in range(out.size):
            out[i] = inside[i]
        walk_invariant(ctx, part, dfa_state, non_ascii, reached, bases, out)
    elif non_ascii < 0:
        for i in range(out.size):
            out[i] = 0
        ctx.dfa_state_at[0] = dfa_state
        walk(ctx, 0, ctx.bytes_.size, bases, out)
    else:
        finish_self_loop(ctx, part, non_ascii, bases, out)
    add_others(ctx, dfa_state, bases, out)

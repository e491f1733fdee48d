"""Walks over a trie of tokens."""

from __future__ import annotations

from workbench.engine.kernels.constants import DEAD, UNKNOWN, WALKED
from workbench.engine.kernels.signatures import jit
from workbench.engine.kernels.stack_queries import resolve


@jit
def walk(ctx, start, stop, bases, out):
    """Set the bits of the tokens that a sequence may take next, among the nodes start..stop of a trie.

    The DFA state before the first node is the caller's to put into ``dfa_state_at``. ``out`` is not
    cleared.
    """
    count = ctx.count
    transitions = ctx.transitions
    stride = int(ctx.stride)
    dfa_states = ctx.dfa_state_at
    i = start
    visited = 0
    while i < stop:
        visited += 1
        depth = int(ctx.depths[i])
        current = int(dfa_states[depth])
        cls = int(ctx.bytes_[i])
        following = int(transitions[current * stride + 1 + cls])
        if following <= UNKNOWN:
            current = resolve(ctx, current, cls, bases)
            dfa_states[depth] = current
            following = int(transitions[current * stride + 1 + cls])
        if following < 0:
            i = int(ctx.skips[i])
            continue
        token = int(ctx.tokens[i])
        if token >= 0:
            out[token >> 5] |= 1 << (token & 31)
        dfa_states[depth + 1] = following
        i += 1
    count[WALKED] += visited


@jit
def in_class(byte, byte_class, non_ascii):
    """Whether a byte begins a character of a class: single bytes, and with ``non_ascii`` all beyond ASCII."""
    if byte < 128:
        return (int(byte_class[byte >> 5]) >> (byte & 31)) & 1 != 0
    return non_ascii != 0 and 0xC2 <= byte <= 0xF4


@jit
def walk_exits(ctx, exits, first, stop, byte_class, non_ascii, bases, out):
    """:func:`walk` what lies below some exits of a slice, all with the same byte.

    ``follow`` holds the DFA state (or DEAD) behind that byte after 0, 1, 2, ... characters.
    """
    count = ctx.count
    transitions = ctx.transitions
    depths = ctx.depths
    skips = ctx.skips
    tokens = ctx.tokens
    stride = int(ctx.stride)
    dfa_states = ctx.dfa_state_at
    follow = ctx.follow
    visited = 0
    for e in range(first, stop):
        following = int(follow[exits[3 * e + 1]])
        if following < 0:
            continue
        if not in_class(int(exits[3 * e + 2]), byte_class, non_ascii):
            continue
        i = int(exits[3 * e])
        token = int(tokens[i])
        if token >= 0:
            out[token >> 5] |= 1 << (token & 31)
        end = int(skips[i])
        dfa_states[int(depths[i]) + 1] = following
        i += 1
        # as in walk(): a call for each of thousands of exits would cost more than the walk
        while i < end:
            visited += 1
            depth = int(depths[i])
            current = int(dfa_states[depth])
            cls = int(ctx.bytes_[i])
            following = int(transitions[current * stride + 1 + cls])
            if following <= UNKNOWN:
                current = resolve(ctx, current, cls, bases)
                dfa_states[depth] = current
                following = int(transitions[current * stride + 1 + cls])
            if following < 0:
                i = int(skips[i])
                continue
            token = int(tokens[i])
            if token >= 0:
                out[token >> 5] |= 1 << (token & 31)
            dfa_states[depth + 1] = following
            i += 1
    count[WALKED] += visited + stop - first
    return 0


@jit
def walk_difference(ctx, dfa_state, other, loop_head, bases, out):
    """Turn the mask of the DFA state ``other`` into that of ``dfa_state``, looking only where they lead apart.

    ``loop_head`` and ``other`` count as one: the second is the first with its stack queries answered.
    """
    count = ctx.count
    transitions = ctx.transitions
    bytes_ = ctx.bytes_
    tokens = ctx.tokens
    stride = int(ctx.stride)
    dfa_states = ctx.dfa_state_at
    others = ctx.other_dfa_state_at
    dfa_states[0] = dfa_state
    others[0] = other
    i = 0
    visited = 0
    while i < bytes_.size:
        visited += 1
        depth = int(ctx.depths[i])
        byte = int(bytes_[i])
        here = int(dfa_states[depth])
        there = int(others[depth])
        following = int(transitions[here * stride + 1 + byte])
        if following <= UNKNOWN:
            here = resolve(ctx, here, byte, bases)
            dfa_states[depth] = here
            following = int(transitions[here * stride + 1 + byte])
        known = int(transitions[there * stride + 1 + byte])
        if known <= UNKNOWN:
            there = resolve(ctx, there, byte, bases)
            others[depth] = there
            known = int(transitions[there * stride + 1 + byte])
        if following == loop_head:
            following = other
        if known == loop_head:
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
        dfa_states[depth + 1] = following
        if known < 0:
            walk(ctx, i + 1, stop, bases, out)
            i = stop
            continue
        others[depth + 1] = known
        i += 1
    count[WALKED] += visited


@jit
def read_on(ctx, start, stop, dfa_state, bases):
    """The DFA state after some bytes, or DEAD."""
    transitions = ctx.transitions
    stride = int(ctx.stride)
    for i in range(start, stop):
        byte = int(ctx.blob[i])
        following = int(transitions[dfa_state * stride + 1 + byte])
        if following <= UNKNOWN:
            dfa_state = resolve(ctx, dfa_state, byte, bases)
            following = int(transitions[dfa_state * stride + 1 + byte])
        if following < 0:
            return DEAD
        dfa_state = following
    return dfa_state


@jit
def walk_below(ctx, dfa_state, node, token, bases, out):
    """:func:`walk` a node and what lies below it, reading the bytes before it, as ``token`` has them, first."""
    start = int(ctx.offsets[token])
    depth = int(ctx.depths[node])
    following = read_on(ctx, start, start + depth, dfa_state, bases)
    if following < 0:
        return
    ctx.dfa_state_at[depth] = following
    walk(ctx, node, int(ctx.skips[node]), bases, out)


@jit
def walk_others(ctx, part, dfa_state, first, byte_class, non_ascii, bases, out):
    """Walk the tokens whose first character is none of a class; unset those of them that are inside the slice.

    What a DFA state ``first`` cannot begin with is left out.
    """
    transitions = ctx.transitions
    bytes_ = ctx.bytes_
    dfa_states = ctx.dfa_state_at
    at = dfa_state * int(ctx.stride) + 1
    first_at = first * int(ctx.stride) + 1
    node = 0
    while node < bytes_.size:
        byte = int(bytes_[node])
        stop = int(ctx.skips[node])
        if not in_class(byte, byte_class, non_ascii):
            if in_class(byte, part.byte_class, non_ascii):
                for i in range(node, stop):
                    if part.lengths[i] >= 0:
                        token = int(ctx.tokens[i])
                        out[token >> 5] = int(out[token >> 5]) & ~(1 << (token & 31)) & 0xFFFFFFFF
            if transitions[at + byte] != DEAD and transitions[first_at + byte] != DEAD:
                dfa_states[0] = dfa_state
                walk(ctx, node, stop, bases, out)
        node = stop


@jit
def walk_odd(ctx, part, dfa_state, byte_class, non_ascii, bases, out):
    """Walk what lies below a slice's exits within a character, or after more characters than are counted.

    Their bytes are read first. Tokens whose first character is none of the class are left out.
    """
    odd = part.odd
    for e in range(odd.size // 2):
        token = int(odd[2 * e + 1])
        if in_class(int(ctx.blob[ctx.offsets[token]]), byte_class, non_ascii):
            walk_below(ctx, dfa_state, int(odd[2 * e]), token, bases, out)

"""Self-loops: the byte class that leads from a DFA state back to itself, and how many of it may come."""

from __future__ import annotations

from workbench.engine.kernels.constants import (
    BASES,
    DEAD,
    ENDLESS,
    FAR_INSIDE,
    FRAME,
    SET,
    SITE_BASE,
    UNKNOWN,
)
from workbench.engine.kernels.hash_consing import node1, node3
from workbench.engine.kernels.lazy_dfa import dfa_state_of, transition
from workbench.engine.kernels.signatures import jit
from workbench.engine.kernels.stack_queries import refine


@jit
def all_continuations(ctx, dfa_state, loop_head, back, left, low, high):
    """Whether all ``left`` continuation bytes, the first in low..high, lead to the loop head (or ``back``).

    Neighbouring bytes that lead to one DFA state need one look.
    """
    transitions = ctx.transitions
    stride = int(ctx.stride)
    known = -9
    for byte in range(low, high + 1):
        target = int(transitions[dfa_state * stride + 1 + byte])
        if target == UNKNOWN:
            target = transition(ctx, dfa_state, byte)
        if target == known:
            continue
        known = target
        if left == 1:
            if target != loop_head and target != back:
                return False
            continue
        if target < 0:
            return False
        known2 = -9
        for byte2 in range(0x80, 0xC0):
            target2 = int(transitions[target * stride + 1 + byte2])
            if target2 == UNKNOWN:
                target2 = transition(ctx, target, byte2)
            if target2 == known2:
                continue
            known2 = target2
            if left == 2:
                if target2 != loop_head and target2 != back:
                    return False
                continue
            if target2 < 0:
                return False
            for byte3 in range(0x80, 0xC0):
                target3 = int(transitions[target2 * stride + 1 + byte3])
                if target3 == UNKNOWN:
                    target3 = transition(ctx, target2, byte3)
                if target3 != loop_head and target3 != back:
                    return False
    return True


@jit
def all_non_ascii(ctx, dfa_state, loop_head, back):
    """Whether every character beyond ASCII, spelled in UTF-8, leads from a DFA state to the loop head (or ``back``)."""
    stride = int(ctx.stride)
    known = -9
    for lead in range(0xC2, 0xF5):
        left = 1 if lead < 0xE0 else 2 if lead < 0xF0 else 3
        low = 0x80
        high = 0xBF
        if lead == 0xE0:
            low = 0xA0
        elif lead == 0xED:
            high = 0x9F
        elif lead == 0xF0:
            low = 0x90
        elif lead == 0xF4:
            high = 0x8F
        first = int(ctx.transitions[dfa_state * stride + 1 + lead])
        if first == UNKNOWN:
            first = transition(ctx, dfa_state, lead)
        if first < 0:
            return False
        # neighbours that lead to one DFA state need one look; those with bounds of their own have theirs
        plain = low == 0x80 and high == 0xBF
        if plain and first == known:
            continue
        known = first if plain and lead not in (0xDF, 0xEF) else -9
        if not all_continuations(ctx, first, loop_head, back, left, low, high):
            return False
    return True


@jit
def far_dfa_states(ctx, dfa_state):
    """For a lone thread on top of a count near its bounds: the same far from both, and at the last.

    Returns ``(dfa_state far from the bounds, dfa_state in the last iteration, iterations that may still begin)``;
    without an upper bound the second is -1, and the third more than any token has. ``(-1, -1, 0)`` for other
    configurations.
    """
    arena = ctx.arena
    config = int(ctx.transitions[dfa_state * ctx.stride])
    shape = int(arena[config + 3])
    bases = int(arena[config + 4])
    if int(arena[shape]) >> 5 != 2:
        return -1, -1, 0
    stacks = int(arena[bases + 3])
    if int(arena[stacks]) >> 5 != 1:
        return -1, -1, 0
    frame = int(arena[stacks + 3])
    if arena[frame] & 31 != FRAME or arena[frame + 3] < SITE_BASE or arena[frame + 4] < 0:
        return -1, -1, 0
    loop = ctx.site_loop[arena[frame + 3] - SITE_BASE]
    if loop < 0:
        return -1, -1, 0
    most = int(ctx.loop_max[loop])
    value = int(arena[frame + 4])
    target = int(arena[frame + 3])
    parents = int(arena[frame + 5])
    far = node3(ctx, FRAME, target, FAR_INSIDE, parents)
    far = node1(ctx, SET, far)
    far = node1(ctx, BASES, far)
    if most < 0:
        return dfa_state_of(ctx, shape, far), -1, ENDLESS >> 1
    last = node3(ctx, FRAME, target, most - 1, parents)
    last = node1(ctx, SET, last)
    last = node1(ctx, BASES, last)
    return (
        dfa_state_of(ctx, shape, far),
        dfa_state_of(ctx, shape, last),
        most - value - 1,
    )


@jit
def loop_head_of(ctx, dfa_state):
    """The DFA state to which most of ASCII leads, judged by some bytes of which most loops have one; -1 for none."""
    transitions = ctx.transitions
    at = dfa_state * int(ctx.stride) + 1
    loop_head = -1
    size = 0
    for probe in (0x65, 0x30, 0x41, 0x20):
        target = int(transitions[at + probe])
        if target < 0 or target == loop_head:
            continue
        n = 0
        for byte in range(128):
            if transitions[at + byte] == target:
                n += 1
        if n > size:
            loop_head = target
            size = n
    return loop_head


@jit
def self_loop_of(ctx, dfa_state, bases):
    """The characters that a DFA state can take one after the other, and how many of them.

    All of them lead to one DFA state, the loop head, and from the loop state back to it. The loop state is the head
    with all that it asks answered or, when the head stands on top of a count near its bounds, the same far from them.
    In the last iteration of such a count none of the characters may come (they could by leaving it and beginning it
    anew). ``found`` gets head, loop state and the most characters (ENDLESS: no bound within a token); ``loop_class``
    the single bytes that lead from the loop state back, ``byte_class`` those of them that also lead from the DFA
    state to the head, as eight words each. Returns 0 when there is no self-loop, 1 when there is, 2 when its class
    has all characters beyond ASCII. The DFA state must be refined.
    """
    transitions = ctx.transitions
    found = ctx.found
    byte_class = ctx.byte_class
    loop_class = ctx.loop_class
    stride = int(ctx.stride)
    loop_head = int(loop_head_of(ctx, dfa_state))
    for i in range(8):
        byte_class[i] = 0
        loop_class[i] = 0
    if loop_head < 0:
        return 0
    most = ENDLESS
    loop_state = loop_head
    last = -1
    if loop_head != dfa_state:
        inner, final, left = far_dfa_states(ctx, loop_head)
        if inner >= 0:
            loop_state = inner
            most = 1 + left
            if final >= 0:
                last = refine(ctx, final, bases)
        loop_state = refine(ctx, loop_state, bases)
    found[0] = loop_head
    found[1] = loop_state
    found[2] = most
    # an unrefined loop head and its refinement are the same configuration: both count as coming back
    back = loop_head if most == ENDLESS else loop_state
    for byte in range(128):
        cls = int(byte)
        target = int(transitions[loop_state * stride + 1 + cls])
        if target != loop_state and target != back:
            continue
        loop_class[byte >> 5] |= 1 << (byte & 31)
        if last >= 0 and transitions[last * stride + 1 + cls] != DEAD:
            return 0
        if transitions[dfa_state * stride + 1 + cls] == loop_head:
            byte_class[byte >> 5] |= 1 << (byte & 31)
    if not all_non_ascii(ctx, loop_state, loop_state, back):
        return 1
    if last >= 0:
        for lead in range(0xC2, 0xF5):
            if transitions[last * stride + 1 + lead] != DEAD:
                return 0
    return 2 if all_non_ascii(ctx, dfa_state, loop_head, loop_state) else 1

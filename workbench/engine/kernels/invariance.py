"""The invariance check: whether a DFA state lives after any characters of a class, however many."""

from __future__ import annotations

from workbench.engine.kernels.characters import character_begun, character_on
from workbench.engine.kernels.constants import MOST_REACHED, UNKNOWN
from workbench.engine.kernels.hash_consing import mix
from workbench.engine.kernels.lazy_dfa import fill
from workbench.engine.kernels.signatures import jit
from workbench.engine.kernels.stack_queries import resolve


@jit
def reach(ctx, n, dfa_state, rest, length):
    """Add a DFA state, and what is to come of a character, to the ``n`` reached ones; their number, -1 if too many."""
    reached = ctx.reached_state
    rests = ctx.reached_rest
    slots = ctx.reached_slot
    slot = int(mix(dfa_state, rest)) & 2 * MOST_REACHED - 1
    j = int(slots[slot]) - 1
    while j >= 0 and (reached[j] != dfa_state or rests[j] != rest):
        slot = (slot + 1) & 2 * MOST_REACHED - 1
        j = int(slots[slot]) - 1
    if j >= 0:
        return n
    if n == MOST_REACHED:
        return -1
    slots[slot] = n + 1
    reached[n] = dfa_state
    ctx.reached_resolved[n] = dfa_state
    rests[n] = rest
    ctx.reached_length[n] = length
    return n + 1


@jit
def invariant_under(ctx, part, dfa_state, bases, non_ascii, most):
    """How many DFA states any characters of a slice, up to ``most`` bytes, lead to, if all of them live; else 0.

    The DFA states are left in ``reached_state``, ``reached_resolved`` has the same with their stack queries answered,
    ``reached_rest`` what is to come of a character (see :func:`character_on`).
    """
    transitions = ctx.transitions
    stride = int(ctx.stride)
    resolved = ctx.reached_resolved
    rests = ctx.reached_rest
    lengths = ctx.reached_length
    # which of them is where, by hash; 0 for none
    fill(ctx.reached_slot, 0, 2 * MOST_REACHED, 0)
    n = int(reach(ctx, 0, dfa_state, 0, 0))
    k = 0
    while k < n and lengths[k] < most:
        here = int(resolved[k])
        rest = int(rests[k])
        low = 0
        high = 0x7F if non_ascii == 0 else 0xF4
        if rest != 0:
            low = 0x80
            high = 0xBF
        known = known_after = -1
        for byte in range(low, high + 1):
            after = 0
            if rest != 0:
                after = int(character_on(rest, byte))
                if after < 0:
                    continue
            elif byte < 0x80:
                if (int(part.byte_class[byte >> 5]) >> (byte & 31)) & 1 == 0:
                    continue
            elif byte < 0xC2:
                continue
            else:
                after = int(character_begun(byte, non_ascii))
            following = int(transitions[here * stride + 1 + byte])
            if following <= UNKNOWN:
                here = resolve(ctx, here, byte, bases)
                resolved[k] = here
                following = int(transitions[here * stride + 1 + byte])
            if following < 0:
                return 0
            if following == known and after == known_after:
                continue
            known = following
            known_after = after
            n = int(reach(ctx, n, following, after, int(lengths[k]) + 1))
            if n < 0:
                return 0
        k += 1
    return n

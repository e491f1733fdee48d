"""Whether a state of the lazy DFA lives after any run of some characters."""

from __future__ import annotations

from workbench.engine.kernels.characters import character_begun, character_on
from workbench.engine.kernels.constants import MOST_CLOSED, UNKNOWN
from workbench.engine.kernels.hash_consing import mix
from workbench.engine.kernels.lazy_dfa import fill
from workbench.engine.kernels.signatures import jit
from workbench.engine.kernels.stack_queries import settle


@jit
def closed_under(ctx, part, row, bases, beyond, most):
    """Whether a row lives after any run of a slice's characters, up to ``most`` bytes: how many rows it comes to.

    0 when it may die. The rows are left in ``closed_row``, then the same with what they ask answered, then what is to
    come of a character (see :func:`character_on`).
    """
    trans = ctx.trans
    stride = int(ctx.stride)
    rows = ctx.closed_row
    asked = ctx.closed_asked
    states = ctx.closed_state
    levels = ctx.closed_level
    # which of them is where, by hash; 0 for none
    places = ctx.closed_place
    fill(places, 0, 2 * MOST_CLOSED, 0)
    rows[0] = row
    asked[0] = row
    states[0] = 0
    levels[0] = 0
    places[(mix(row, 0) & 2 * MOST_CLOSED - 1)] = 1
    n = 1
    k = 0
    while k < n and levels[k] < most:
        here = int(asked[k])
        state = int(states[k])
        low = 0
        high = 0x7F if beyond == 0 else 0xF4
        if state != 0:
            low = 0x80
            high = 0xBF
        known = known_after = -1
        for byte in range(low, high + 1):
            after = 0
            if state != 0:
                after = int(character_on(state, byte))
                if after < 0:
                    continue
            elif byte < 0x80:
                if (int(part.loops[byte >> 5]) >> (byte & 31)) & 1 == 0:
                    continue
            elif byte < 0xC2:
                continue
            else:
                after = int(character_begun(byte, beyond))
            following = int(trans[here * stride + 1 + byte])
            if following <= UNKNOWN:
                here = settle(ctx, here, byte, bases)
                asked[k] = here
                following = int(trans[here * stride + 1 + byte])
            if following < 0:
                return 0
            if following == known and after == known_after:
                continue
            known = following
            known_after = after
            place = int(mix(following, after)) & 2 * MOST_CLOSED - 1
            j = int(places[place]) - 1
            while j >= 0 and (rows[j] != following or states[j] != after):
                place = (place + 1) & 2 * MOST_CLOSED - 1
                j = int(places[place]) - 1
            if j < 0:
                if n == MOST_CLOSED:
                    return 0
                places[place] = n + 1
                rows[n] = following
                asked[n] = following
                states[n] = after
                levels[n] = levels[k] + 1
                n += 1
        k += 1
    return n

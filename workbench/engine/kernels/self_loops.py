"""Self-loops: the characters that lead from a row back to itself, and how many of them may come."""

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
from workbench.engine.kernels.hash_consing import term1, term3
from workbench.engine.kernels.lazy_dfa import next_row, row_of
from workbench.engine.kernels.signatures import jit
from workbench.engine.kernels.stack_queries import refine


@jit
def cross(ctx, row, home, back, left, low, high):
    """Whether from a row all ``left`` continuation bytes, the first in low..high, lead home.

    Neighbouring bytes that lead to one row need one look.
    """
    trans = ctx.trans
    stride = int(ctx.stride)
    known = -9
    for byte in range(low, high + 1):
        target = int(trans[row * stride + 1 + byte])
        if target == UNKNOWN:
            target = next_row(ctx, row, byte)
        if target == known:
            continue
        known = target
        if left == 1:
            if target != home and target != back:
                return False
            continue
        if target < 0:
            return False
        known2 = -9
        for byte2 in range(0x80, 0xC0):
            target2 = int(trans[target * stride + 1 + byte2])
            if target2 == UNKNOWN:
                target2 = next_row(ctx, target, byte2)
            if target2 == known2:
                continue
            known2 = target2
            if left == 2:
                if target2 != home and target2 != back:
                    return False
                continue
            if target2 < 0:
                return False
            for byte3 in range(0x80, 0xC0):
                target3 = int(trans[target2 * stride + 1 + byte3])
                if target3 == UNKNOWN:
                    target3 = next_row(ctx, target2, byte3)
                if target3 != home and target3 != back:
                    return False
    return True


@jit
def wide(ctx, row, home, back):
    """Whether every character beyond ASCII, spelled in UTF-8, leads from a row home (or ``back``)."""
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
        first = int(ctx.trans[row * stride + 1 + lead])
        if first == UNKNOWN:
            first = next_row(ctx, row, lead)
        if first < 0:
            return False
        # neighbours that lead to one row need one look; those with bounds of their own have theirs
        plain = low == 0x80 and high == 0xBF
        if plain and first == known:
            continue
        known = first if plain and lead not in (0xDF, 0xEF) else -9
        if not cross(ctx, first, home, back, left, low, high):
            return False
    return True


@jit
def far_row(ctx, row):
    """For a lone thread on top of a count near its bounds: the same far from both, and at the last.

    Returns ``(row far from the bounds, row in the last iteration, iterations that may still begin)``; without
    an upper bound the second is -1, and the third more than any token has. ``(-1, -1, 0)`` for other
    configurations.
    """
    pool = ctx.pool
    config = int(ctx.trans[row * ctx.stride])
    shape = int(pool[config + 3])
    bases = int(pool[config + 4])
    if int(pool[shape]) >> 5 != 2:
        return -1, -1, 0
    stacks = int(pool[bases + 3])
    if int(pool[stacks]) >> 5 != 1:
        return -1, -1, 0
    frame = int(pool[stacks + 3])
    if pool[frame] & 31 != FRAME or pool[frame + 3] < SITE_BASE or pool[frame + 4] < 0:
        return -1, -1, 0
    loop = ctx.site_loop[pool[frame + 3] - SITE_BASE]
    if loop < 0:
        return -1, -1, 0
    most = int(ctx.loop_max[loop])
    value = int(pool[frame + 4])
    target = int(pool[frame + 3])
    parents = int(pool[frame + 5])
    far = term3(ctx, FRAME, target, FAR_INSIDE, parents)
    far = term1(ctx, SET, far)
    far = term1(ctx, BASES, far)
    if most < 0:
        return row_of(ctx, shape, far), -1, ENDLESS >> 1
    last = term3(ctx, FRAME, target, most - 1, parents)
    last = term1(ctx, SET, last)
    last = term1(ctx, BASES, last)
    return (
        row_of(ctx, shape, far),
        row_of(ctx, shape, last),
        most - value - 1,
    )


@jit
def run_of(ctx, row, bases):
    """The characters that a row can take one after the other, and how many of them.

    All of them lead from the row to one row, ``home``, and from ``around`` back to it, where ``around`` is
    home with all that it asks answered or, when home stands on top of a count near its bounds, the
    same far from them. In the last iteration of such a count none of them may come (they could by leaving
    it and beginning it anew). ``found`` gets home, around and the most characters (ENDLESS: no bound
    within a token); ``around_loops`` the single bytes of ``around``, ``loops`` those that also lead from the
    row to home, as eight words each. Returns 0 when there is no such run, 1 when there is, 2 when every
    character beyond ASCII belongs to it too. The row must be refined.
    """
    trans = ctx.trans
    found = ctx.found
    loops = ctx.loops
    around_loops = ctx.around_loops
    stride = int(ctx.stride)
    home = -1
    size = 0
    for probe in (0x65, 0x30, 0x41, 0x20):
        target = int(trans[row * stride + 1 + probe])
        if target < 0 or target == home:
            continue
        n = 0
        for byte in range(128):
            if trans[row * stride + 1 + byte] == target:
                n += 1
        if n > size:
            home = target
            size = n
    for i in range(8):
        loops[i] = 0
        around_loops[i] = 0
    if home < 0:
        return 0
    most = ENDLESS
    around = home
    last = -1
    if home != row:
        inner, final, left = far_row(ctx, home)
        if inner >= 0:
            around = inner
            most = 1 + left
            if final >= 0:
                last = refine(ctx, final, bases)
        around = refine(ctx, around, bases)
    found[0] = home
    found[1] = around
    found[2] = most
    # an unrefined home and its refinement are the same configuration: both count as coming back
    back = home if most == ENDLESS else around
    for byte in range(128):
        cls = int(byte)
        target = int(trans[around * stride + 1 + cls])
        if target != around and target != back:
            continue
        around_loops[byte >> 5] |= 1 << (byte & 31)
        if last >= 0 and trans[last * stride + 1 + cls] != DEAD:
            return 0
        if trans[row * stride + 1 + cls] == home:
            loops[byte >> 5] |= 1 << (byte & 31)
    if not wide(ctx, around, around, back):
        return 1
    if last >= 0:
        for lead in range(0xC2, 0xF5):
            if trans[last * stride + 1 + lead] != DEAD:
                return 0
    return 2 if wide(ctx, row, home, around) else 1

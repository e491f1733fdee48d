"""Counts of repetitions: a counting automaton, with counts far from their bounds abstracted to zones."""

from __future__ import annotations

from workbench.engine.kernels.constants import FAR_BELOW, FAR_INSIDE
from workbench.engine.kernels.signatures import jit


@jit
def zone_of(ctx, site, value):
    """Zone of a count: exact within one token's reach of a bound, else far below or far inside."""
    if value < 0:
        return value
    loop = ctx.site_loop[site]
    if loop < 0:
        return value
    least = ctx.loop_min[loop]
    most = ctx.loop_max[loop]
    reach = ctx.loop_zone[loop]
    if value < least:
        if least - value > reach:
            return FAR_BELOW
        return value
    if most < 0 or most - value > reach:
        return FAR_INSIDE
    return value


@jit
def iterated(ctx, loop, value):
    """A count after one more iteration of its loop: ``(count, whether another may begin, whether it may be left)``.

    Beyond the least of a loop without a bound all counts are one.
    """
    if value == FAR_BELOW:
        return value, True, False
    if value < 0:
        return value, True, True
    least = int(ctx.loop_min[loop])
    most = int(ctx.loop_max[loop])
    value += 1
    can_loop = most < 0 or value < most
    can_leave = value >= least
    if most < 0 and value > least:
        value = least
    return value, can_loop, can_leave

"""Looking at the graph-structured stack: what lies on top of a set of frames, what a variable stands for."""

from __future__ import annotations

from workbench.engine.kernels.constants import (
    BOTTOM,
    MOST_RETURNS,
    PEEK,
    RETURN_SET,
    SITE_BASE,
    WHOLE,
    Complex,
    Tangled,
)
from workbench.engine.kernels.counters import zone_of
from workbench.engine.kernels.hash_consing import intern, node1, union
from workbench.engine.kernels.objects.interface import object_zone
from workbench.engine.kernels.signatures import jit
from workbench.engine.kernels.stack_frames import scope_at


@jit
def frame_zone(ctx, frame, full):
    """The zone under which a stack query sees a frame; without the earlier keys, unless ``full``."""
    arena = ctx.arena
    target = int(arena[frame + 3])
    value = int(arena[frame + 4])
    if target < SITE_BASE:
        if value != 0:
            raise Tangled
        return 0
    loop = int(ctx.site_loop[target - SITE_BASE])
    if loop >= 0:
        return int(zone_of(ctx, target - SITE_BASE, value))
    return int(object_zone(ctx, frame, loop, full))


@jit
def peeked(ctx, stacks, full):
    """PEEK of a SET without variables: its returns and, for each, the united parents."""
    arena = ctx.arena
    n = int(arena[stacks]) >> 5
    # the returns found so far lie behind the part of the buffer that union() uses
    base = ctx.listed
    bottom = 0
    found = 0
    for i in range(n):
        element = int(arena[stacks + 3 + i])
        if arena[element] & 31 == BOTTOM:
            bottom = 1
            continue
        target = int(arena[element + 3])
        zone = int(frame_zone(ctx, element, full))
        parents = int(arena[element + 5])
        k = 0
        while k < found and not (base[3 * k] == target and base[3 * k + 1] == zone):
            k += 1
        if k < found:
            base[3 * k + 2] = union(ctx, int(base[3 * k + 2]), parents)
        elif found >= MOST_RETURNS:
            raise Complex
        else:
            k = found
            found += 1
            while k > 0 and (
                base[3 * k - 3] > target or (base[3 * k - 3] == target and base[3 * k - 2] > zone)
            ):
                base[3 * k] = base[3 * k - 3]
                base[3 * k + 1] = base[3 * k - 2]
                base[3 * k + 2] = base[3 * k - 1]
                k -= 1
            base[3 * k] = target
            base[3 * k + 1] = zone
            base[3 * k + 2] = parents
    buffer = ctx.buffer
    buffer[0] = bottom
    for k in range(found):
        buffer[1 + 2 * k] = base[3 * k]
        buffer[2 + 2 * k] = base[3 * k + 1]
    return_set = intern(ctx, RETURN_SET, buffer, 0, 2 * found + 1)
    buffer[0] = return_set
    for k in range(found):
        buffer[1 + k] = base[3 * k + 2]
    return intern(ctx, PEEK, buffer, 0, found + 1)


@jit
def peek(ctx, stacks):
    """:func:`peeked`, remembered; without the earlier keys."""
    arena = ctx.arena
    known = int(arena[stacks + 1])
    if known >= 0:
        return known
    result = peeked(ctx, stacks, False)
    arena[stacks + 1] = result
    return result


@jit
def peek_all(ctx, stacks):
    """:func:`peeked`, remembered; with the earlier keys."""
    arena = ctx.arena
    memo = int(node1(ctx, WHOLE, stacks))
    known = int(arena[memo + 1])
    if known >= 0:
        return known
    result = peeked(ctx, stacks, True)
    arena[memo + 1] = result
    return result


@jit
def stacks_at(ctx, variable, bases):
    """The concrete SET that a stack variable stands for above the given BASES."""
    arena = ctx.arena
    way = ctx.variable_path
    n = 0
    while arena[variable + 3] >= 0:
        way[n] = variable
        n += 1
        variable = int(arena[variable + 3])
    stacks = int(arena[bases + 3 + arena[variable + 4]])
    while n > 0:
        n -= 1
        below = int(way[n])
        zone = int(arena[below + 5])
        if scope_at(ctx, int(arena[below + 4])) >= 0 and arena[zone + 4] >= 0:
            found = peek_all(ctx, stacks)
        else:
            found = peek(ctx, stacks)
        return_set = int(arena[found + 3])
        k = 0
        while not (
            arena[return_set + 4 + 2 * k] == arena[below + 4]
            and arena[return_set + 5 + 2 * k] == zone
        ):
            k += 1
        stacks = int(arena[found + 4 + k])
    return stacks

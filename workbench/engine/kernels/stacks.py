"""Looking at the stacks: what lies on top of a set of frames, and what a variable stands for."""

from __future__ import annotations

from workbench.engine.kernels.constants import (
    BOTTOM,
    LABELS,
    MAX_ASKED,
    REVEAL,
    SITE_BASE,
    WHOLE,
    Complex,
    Tangled,
)
from workbench.engine.kernels.counters import zone_of
from workbench.engine.kernels.frames import scope_at
from workbench.engine.kernels.hash_consing import intern, term1, union
from workbench.engine.kernels.objects.interface import label_of
from workbench.engine.kernels.signatures import jit


@jit
def frame_label(ctx, frame, full):
    """The zone under which a question sees a frame; without the texts that came, unless ``full``."""
    pool = ctx.pool
    target = int(pool[frame + 3])
    value = int(pool[frame + 4])
    if target < SITE_BASE:
        if value != 0:
            raise Tangled
        return 0
    loop = int(ctx.site_loop[target - SITE_BASE])
    if loop >= 0:
        return int(zone_of(ctx, target - SITE_BASE, value))
    return int(label_of(ctx, frame, loop, full))


@jit
def revealed(ctx, stacks, full):
    """REVEAL of a SET without holes: its labels and, per label, the united parents."""
    pool = ctx.pool
    n = int(pool[stacks]) >> 5
    # the labels found so far lie behind the part of the buffer that union() uses
    base = ctx.path
    bottom = 0
    found = 0
    for i in range(n):
        element = int(pool[stacks + 3 + i])
        if pool[element] & 31 == BOTTOM:
            bottom = 1
            continue
        target = int(pool[element + 3])
        zone = int(frame_label(ctx, element, full))
        parents = int(pool[element + 5])
        k = 0
        while k < found and not (base[3 * k] == target and base[3 * k + 1] == zone):
            k += 1
        if k < found:
            base[3 * k + 2] = union(ctx, int(base[3 * k + 2]), parents)
        elif found >= MAX_ASKED:
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
    labels = intern(ctx, LABELS, buffer, 0, 2 * found + 1)
    buffer[0] = labels
    for k in range(found):
        buffer[1 + k] = base[3 * k + 2]
    return intern(ctx, REVEAL, buffer, 0, found + 1)


@jit
def reveal(ctx, stacks):
    """:func:`revealed`, remembered; without the texts that came."""
    pool = ctx.pool
    known = int(pool[stacks + 1])
    if known >= 0:
        return known
    result = revealed(ctx, stacks, False)
    pool[stacks + 1] = result
    return result


@jit
def reveal_all(ctx, stacks):
    """:func:`revealed`, remembered; with the texts that came."""
    pool = ctx.pool
    memo = int(term1(ctx, WHOLE, stacks))
    known = int(pool[memo + 1])
    if known >= 0:
        return known
    result = revealed(ctx, stacks, True)
    pool[memo + 1] = result
    return result


@jit
def stacks_at(ctx, hole, bases):
    """The concrete SET that a hole stands for above the given BASES."""
    pool = ctx.pool
    path = ctx.hole_path
    n = 0
    while pool[hole + 3] >= 0:
        path[n] = hole
        n += 1
        hole = int(pool[hole + 3])
    stacks = int(pool[bases + 3 + pool[hole + 4]])
    while n > 0:
        n -= 1
        below = int(path[n])
        zone = int(pool[below + 5])
        if scope_at(ctx, int(pool[below + 4])) >= 0 and pool[zone + 4] >= 0:
            seen = reveal_all(ctx, stacks)
        else:
            seen = reveal(ctx, stacks)
        labels = int(pool[seen + 3])
        k = 0
        while not (
            pool[labels + 4 + 2 * k] == pool[below + 4] and pool[labels + 5 + 2 * k] == zone
        ):
            k += 1
        stacks = int(pool[seen + 4 + k])
    return stacks

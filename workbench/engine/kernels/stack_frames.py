"""Frames and sets of them, the nodes of the graph-structured stack."""

from __future__ import annotations

from workbench.engine.kernels.constants import FRAME, SCOPE_SITE, SET, SITE_BASE
from workbench.engine.kernels.hash_consing import node1, node3, union
from workbench.engine.kernels.signatures import jit


@jit
def scope_at(ctx, target):
    """Number of the scope to whose end frames with this return belong, or -1."""
    if target < SITE_BASE:
        return -1
    loop = int(ctx.site_loop[target - SITE_BASE])
    return SCOPE_SITE - loop if loop <= SCOPE_SITE else -1


@jit
def scope_of(ctx, frame):
    """Number of the scope whose frame it is, or -1."""
    arena = ctx.arena
    return scope_at(ctx, int(arena[frame + 3])) if arena[frame] & 31 == FRAME else -1


@jit
def added(ctx, elements, element):
    """A SET (-1: none yet) with one more element."""
    one = int(node1(ctx, SET, element))
    return one if elements < 0 else int(union(ctx, elements, one))


@jit
def with_frame(ctx, frames, target, value, parents):
    """A SET (-1: none yet) with one more frame."""
    frame = int(node3(ctx, FRAME, target, value, parents))
    return int(added(ctx, frames, frame))

"""Copying what live positions need into a fresh arena."""

from __future__ import annotations

from workbench.engine.kernels.constants import (
    BASES,
    CONSTANT_TAG,
    CONTENT,
    FRAME,
    FRAME_STATE,
    KEY_TRIE,
    KNOWN,
    LIST,
    NO_BYTES,
    PENDING,
    SET,
    SITE_BASE,
    TEXT,
    TRACKER,
    VALUE,
)
from workbench.engine.kernels.hash_consing import intern
from workbench.engine.kernels.signatures import jit


@jit
def refers(ctx, arena, node, i):
    """Whether content ``i`` of a node that sequences are made of is itself a node."""
    kind = arena[node] & 31
    value = int(arena[node + 3 + i])
    if kind == FRAME:
        if i == 2:
            return True
        target = int(arena[node + 3])
        if i == 0 or value < 0:
            return False
        if target < SITE_BASE:
            return value > 0
        return ctx.site_loop[target - SITE_BASE] < 0
    if kind == SET or kind == BASES:
        return True
    if kind == TRACKER:
        return (i == 3 and value >= 0) or (i == 4 and value > 0) or (i == 5 and value >= 0)
    if kind == FRAME_STATE:
        return (
            (i == 1 and value >= 0)
            or (i == CONTENT - 3 and value > 0)
            or (i == PENDING - 3 and value > NO_BYTES)
        )
    if kind == KEY_TRIE:
        return (i > 3 and i % 2 == 0) or (i == 0 and value > 1)
    if kind == LIST:
        return (i == 0 and value > 0) or i == 1
    if kind == KNOWN:
        return i == 0
    if kind == VALUE:
        return i == 1 and value > 0 and arena[node + 3] != CONSTANT_TAG
    return kind == TEXT and i == 0 and value > 0


@jit
def compact(ctx, arena, used, roots, moved):
    """Copy what sequences are made of (the nodes under ``roots``) from an old arena to a new one, renumbered.

    ``roots`` is rewritten in place; ``moved`` is scratch as long as the old arena, filled with -1.
    DFA states, masks and their trees stay behind: they are rebuilt when they are needed.
    """
    for i in range(roots.size):
        moved[roots[i]] = 0
    # contents have lower ids than what holds them: one pass down marks, one pass up copies
    ends = 0
    node = 3
    while node < used:
        moved[node + 1] = ends
        ends = node
        node += (int(arena[node]) >> 5) + 3
    node = ends
    while node > 0:
        if moved[node] == 0:
            for i in range(int(arena[node]) >> 5):
                if refers(ctx, arena, node, i):
                    moved[arena[node + 3 + i]] = 0
        node = int(moved[node + 1])
    # what is known of values goes with them
    node = ends
    while node > 0:
        if arena[node] & 31 == KNOWN and moved[arena[node + 3]] == 0:
            moved[node] = 0
        node = int(moved[node + 1])
    node = 3
    while node < used:
        n = int(arena[node]) >> 5
        if moved[node] == 0:
            kind = arena[node] & 31
            for i in range(n):
                if refers(ctx, arena, node, i):
                    arena[node + 3 + i] = moved[arena[node + 3 + i]]
            moved[node] = intern(ctx, kind, arena, node + 3, n)
        node += n + 3
    for i in range(roots.size):
        roots[i] = moved[roots[i]]

"""Copying what live positions need into a fresh arena."""

from __future__ import annotations

from workbench.engine.kernels.constants import (
    BASES,
    CONSTANT_TAG,
    CONTENT,
    FRAME,
    KNOWN,
    LIST,
    NO_BYTES,
    PENDING,
    RECORD,
    SEEN,
    SET,
    SITE_BASE,
    TEXT,
    VALUE,
    WATCH,
)
from workbench.engine.kernels.hash_consing import intern
from workbench.engine.kernels.signatures import jit


@jit
def refers(ctx, pool, term, i):
    """Whether content ``i`` of a term that sequences are made of is itself a term."""
    kind = pool[term] & 31
    value = int(pool[term + 3 + i])
    if kind == FRAME:
        if i == 2:
            return True
        target = int(pool[term + 3])
        if i == 0 or value < 0:
            return False
        if target < SITE_BASE:
            return value > 0
        return ctx.site_loop[target - SITE_BASE] < 0
    if kind == SET or kind == BASES:
        return True
    if kind == WATCH:
        return (i == 3 and value >= 0) or (i == 4 and value > 0) or (i == 5 and value >= 0)
    if kind == RECORD:
        return (
            (i == 1 and value >= 0)
            or (i == CONTENT - 3 and value > 0)
            or (i == PENDING - 3 and value > NO_BYTES)
        )
    if kind == SEEN:
        return (i > 3 and i % 2 == 0) or (i == 0 and value > 1)
    if kind == LIST:
        return (i == 0 and value > 0) or i == 1
    if kind == KNOWN:
        return i == 0
    if kind == VALUE:
        return i == 1 and value > 0 and pool[term + 3] != CONSTANT_TAG
    return kind == TEXT and i == 0 and value > 0


@jit
def compact(ctx, pool, used, roots, moved):
    """Copy what sequences are made of (the terms under ``roots``) from an old pool to a new arena, renumbered.

    ``roots`` is rewritten in place; ``moved`` is scratch as long as the pool, filled with -1.
    Rows, masks and their trees stay behind: they are rebuilt when they are needed.
    """
    for i in range(roots.size):
        moved[roots[i]] = 0
    # contents have lower ids than what holds them: one pass down marks, one pass up copies
    ends = 0
    term = 3
    while term < used:
        moved[term + 1] = ends
        ends = term
        term += (int(pool[term]) >> 5) + 3
    term = ends
    while term > 0:
        if moved[term] == 0:
            for i in range(int(pool[term]) >> 5):
                if refers(ctx, pool, term, i):
                    moved[pool[term + 3 + i]] = 0
        term = int(moved[term + 1])
    # what is known of values goes with them
    term = ends
    while term > 0:
        if pool[term] & 31 == KNOWN and moved[pool[term + 3]] == 0:
            moved[term] = 0
        term = int(moved[term + 1])
    term = 3
    while term < used:
        n = int(pool[term]) >> 5
        if moved[term] == 0:
            kind = pool[term] & 31
            for i in range(n):
                if refers(ctx, pool, term, i):
                    pool[term + 3 + i] = moved[pool[term + 3 + i]]
            moved[term] = intern(ctx, kind, pool, term + 3, n)
        term += n + 3
    for i in range(roots.size):
        roots[i] = moved[roots[i]]

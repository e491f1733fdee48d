"""The tree of stored masks: found by what their walks have asked."""

from __future__ import annotations

from workbench.engine.kernels.constants import (
    BY_STACKS,
    CONFIG,
    FEW_QUESTIONS,
    HITS,
    MISS,
    N_ASKED,
    N_MASKS,
    NODE,
    Room,
)
from workbench.engine.kernels.hash_consing import find2, term2
from workbench.engine.kernels.mask_store import hash_words, is_row, pack_row, unpack_row
from workbench.engine.kernels.signatures import jit
from workbench.engine.kernels.stack_queries import answer, labels_of


@jit
def stored_row(ctx, shape, bases):
    """The stored mask of a sequence's situation; MISS when there is none yet."""
    pool = ctx.pool
    node = int(pool[shape + 2])
    while node >= 0:
        row = int(pool[node + 2])
        if row >= 0:
            return row
        hole = int(pool[node + 1])
        if hole == BY_STACKS:
            node = find2(ctx, CONFIG, shape, bases)
            if node >= 0:
                node = find2(ctx, NODE, node, BY_STACKS)
            if node < 0 or pool[node + 2] < 0:
                return MISS
            continue
        if hole < 0:
            return MISS
        labels = int(labels_of(ctx, hole, bases))
        node = find2(ctx, NODE, node, labels)
    return MISS


@jit
def lookup(ctx, shape, bases, out):
    """Copy the stored mask of a sequence's situation to ``out``; MISS when there is none yet.

    What many questions tell apart is found in ``recent``, (position, stored mask) by the position's hash.
    """
    recent = ctx.recent
    position = shape << 32 | bases
    slot = 2 * (((position ^ shape * 0x2545F491) >> 2) & (recent.size >> 1) - 1)
    if recent[slot] == position:
        row = recent[slot + 1]
    else:
        row = int(stored_row(ctx, shape, bases))
        if row < 0:
            return MISS
        recent[slot] = position
        recent[slot + 1] = row
    unpack_row(ctx.rows_at, ctx.rows, row, out)
    ctx.count[HITS] += 1
    return 0


@jit
def root_node(ctx, shape):
    """Root of a shape's mask tree, made when it is missing."""
    pool = ctx.pool
    node = int(pool[shape + 2])
    if node < 0:
        node = term2(ctx, NODE, shape, -1)
        pool[shape + 2] = node
    return node


@jit
def store(ctx, shape, bases, row):
    """Put a mask row into the tree of a shape, under the questions asked or under its stacks."""
    pool = ctx.pool
    count = ctx.count
    node = root_node(ctx, shape)
    asked = ctx.asked
    for k in range(count[N_ASKED] + 1):
        if pool[node + 1] == BY_STACKS:
            config = term2(ctx, CONFIG, shape, bases)
            node = term2(ctx, NODE, config, BY_STACKS)
            break
        if k == count[N_ASKED]:
            break
        pool[node + 1] = asked[2 * k]
        node = term2(ctx, NODE, node, int(asked[2 * k + 1]))
    pool[node + 2] = row


@jit
def tangled_node(ctx, shape):
    """The node of a shape's mask tree from which on masks are to be stored by their stacks, made when missing.

    It is the root, but behind the first answers where values gather: most of them are apart from others.
    """
    pool = ctx.pool
    count = ctx.count
    node = root_node(ctx, shape)
    asked = ctx.asked
    n = min(int(count[N_ASKED]), FEW_QUESTIONS) if ctx.has_gather != 0 else 0
    for k in range(n):
        if pool[node + 1] == BY_STACKS:
            break
        pool[node + 1] = asked[2 * k]
        node = term2(ctx, NODE, node, int(asked[2 * k + 1]))
    return node


@jit
def known_questions(ctx, shape, bases):
    """Ask again what stored masks of the shape asked, so that the tree keeps one order of questions.

    Returns whether they are stored by their stacks after these answers.
    """
    pool = ctx.pool
    count = ctx.count
    count[N_ASKED] = 0
    node = int(pool[shape + 2])
    while node >= 0:
        hole = int(pool[node + 1])
        if hole < 0:
            return hole == BY_STACKS
        labels = answer(ctx, hole, bases)
        node = find2(ctx, NODE, node, labels)
    return False


@jit
def keep(ctx, shape, bases):
    """Store a mask under its situation; equal masks are stored once.

    Raises Room when the row store must grow first.
    """
    count = ctx.count
    rows_at = ctx.rows_at
    rows = ctx.rows
    row_hash = ctx.row_hash
    row_table = ctx.row_table
    words = ctx.words
    content = hash_words(words)
    mask = row_table.size - 1
    slot = (content ^ (content >> 17)) & mask
    row = -1
    while row_table[slot] >= 0:
        known = int(row_table[slot])
        if row_hash[known] == content and is_row(rows_at, rows, known, words):
            row = known
            break
        slot = (slot + 1) & mask
    if row < 0:
        row = int(count[N_MASKS])
        if 2 * (row + 2) > row_table.size or row + 2 > row_hash.size:
            raise Room
        end = pack_row(words, rows, int(rows_at[row]), rows.size)
        if end < 0:
            raise Room
        rows_at[row + 1] = end
        row_hash[row] = content
        row_table[slot] = row
        count[N_MASKS] = row + 1
    store(ctx, shape, bases, row)

"""Decision trees of stored masks: found by the answers to what their walks have asked of the stacks."""

from __future__ import annotations

from workbench.engine.kernels.constants import (
    BY_STACKS,
    CONFIG,
    FEW_QUERIES,
    HITS,
    MASK_NODE,
    MISS,
    N_MASKS,
    N_QUERIES,
    Room,
)
from workbench.engine.kernels.hash_consing import find_node2, node2
from workbench.engine.kernels.mask_store import hash_words, is_mask, pack_mask, unpack_mask
from workbench.engine.kernels.signatures import jit
from workbench.engine.kernels.stack_queries import answer, return_set_of


@jit
def stored_mask(ctx, shape, bases):
    """The stored mask of a sequence's situation; MISS when there is none yet."""
    arena = ctx.arena
    node = int(arena[shape + 2])
    while node >= 0:
        number = int(arena[node + 2])
        if number >= 0:
            return number
        variable = int(arena[node + 1])
        if variable == BY_STACKS:
            node = find_node2(ctx, CONFIG, shape, bases)
            if node >= 0:
                node = find_node2(ctx, MASK_NODE, node, BY_STACKS)
            if node < 0 or arena[node + 2] < 0:
                return MISS
            continue
        if variable < 0:
            return MISS
        return_set = int(return_set_of(ctx, variable, bases))
        node = find_node2(ctx, MASK_NODE, node, return_set)
    return MISS


@jit
def lookup(ctx, shape, bases, out):
    """Copy the stored mask of a sequence's situation to ``out``; MISS when there is none yet.

    What many stack queries tell apart is found in ``recent``, (position, stored mask) by the position's hash.
    """
    recent = ctx.recent
    position = shape << 32 | bases
    slot = 2 * (((position ^ shape * 0x2545F491) >> 2) & (recent.size >> 1) - 1)
    if recent[slot] == position:
        number = recent[slot + 1]
    else:
        number = int(stored_mask(ctx, shape, bases))
        if number < 0:
            return MISS
        recent[slot] = position
        recent[slot + 1] = number
    unpack_mask(ctx.masks_at, ctx.masks, number, out)
    ctx.count[HITS] += 1
    return 0


@jit
def root_node(ctx, shape):
    """Root of a shape's mask tree, made when it is missing."""
    arena = ctx.arena
    node = int(arena[shape + 2])
    if node < 0:
        node = node2(ctx, MASK_NODE, shape, -1)
        arena[shape + 2] = node
    return node


@jit
def store(ctx, shape, bases, number):
    """Put a stored mask into the tree of a shape, under the queries asked or under its stacks."""
    arena = ctx.arena
    count = ctx.count
    node = root_node(ctx, shape)
    queries = ctx.queries
    for k in range(count[N_QUERIES] + 1):
        if arena[node + 1] == BY_STACKS:
            config = node2(ctx, CONFIG, shape, bases)
            node = node2(ctx, MASK_NODE, config, BY_STACKS)
            break
        if k == count[N_QUERIES]:
            break
        arena[node + 1] = queries[2 * k]
        node = node2(ctx, MASK_NODE, node, int(queries[2 * k + 1]))
    arena[node + 2] = number


@jit
def tangled_node(ctx, shape):
    """The node of a shape's mask tree from which on masks are to be stored by their stacks, made when missing.

    It is the root, but behind the first answers where values gather: most of them are apart from others.
    """
    arena = ctx.arena
    count = ctx.count
    node = root_node(ctx, shape)
    queries = ctx.queries
    n = min(int(count[N_QUERIES]), FEW_QUERIES) if ctx.has_gather != 0 else 0
    for k in range(n):
        if arena[node + 1] == BY_STACKS:
            break
        arena[node + 1] = queries[2 * k]
        node = node2(ctx, MASK_NODE, node, int(queries[2 * k + 1]))
    return node


@jit
def known_queries(ctx, shape, bases):
    """Ask again what stored masks of the shape asked, so that the tree keeps one order of queries.

    Returns whether they are stored by their stacks after these answers.
    """
    arena = ctx.arena
    count = ctx.count
    count[N_QUERIES] = 0
    node = int(arena[shape + 2])
    while node >= 0:
        variable = int(arena[node + 1])
        if variable < 0:
            return variable == BY_STACKS
        return_set = answer(ctx, variable, bases)
        node = find_node2(ctx, MASK_NODE, node, return_set)
    return False


@jit
def keep(ctx, shape, bases):
    """Store a mask under its situation; equal masks are stored once.

    Raises Room when the store must grow first.
    """
    count = ctx.count
    masks_at = ctx.masks_at
    masks = ctx.masks
    mask_hash = ctx.mask_hash
    mask_table = ctx.mask_table
    words = ctx.words
    content = hash_words(words)
    wrap = mask_table.size - 1
    slot = (content ^ (content >> 17)) & wrap
    number = -1
    while mask_table[slot] >= 0:
        known = int(mask_table[slot])
        if mask_hash[known] == content and is_mask(masks_at, masks, known, words):
            number = known
            break
        slot = (slot + 1) & wrap
    if number < 0:
        number = int(count[N_MASKS])
        if 2 * (number + 2) > mask_table.size or number + 2 > mask_hash.size:
            raise Room
        end = pack_mask(words, masks, int(masks_at[number]), masks.size)
        if end < 0:
            raise Room
        masks_at[number + 1] = end
        mask_hash[number] = content
        mask_table[slot] = number
        count[N_MASKS] = number + 1
    store(ctx, shape, bases, number)

"""Compiled kernels: what the engine calls; what they work on is told here.

Everything that has an identity is a *term*: a tuple of int32 with a kind, hash-consed in one arena, so
equal ids mean equal contents. A term's id is its offset in ``pool``:

    pool[t] = kind + 32 * n    pool[t + 1], pool[t + 2] = notes (-1 when unset)    pool[t + 3 : t + 3 + n]

kind      contents                        notes
BOTTOM    -                               the empty stack
FRAME     return, count, parents (SET)    return >= SITE_BASE: a counted call site
HOLE      above (HOLE or -1), return or hole number, zone      an unknown stack below a shape
SET       elements: FRAME, HOLE, BOTTOM   first note: its REVEAL
LABELS    has bottom, (return, zone)...   what a question about a stack answers
REVEAL    LABELS, parents (SET) a label
SHAPE     (state, hole number)...         notes: its plain row; its root NODE
BASES     SET...                          the stacks of a shape's holes
CONFIG    SHAPE, BASES                    notes: its row; whether it accepts
SUBST     row, HOLE, LABELS               first note: the row with the hole's frames written in
WATCH     node, phase, number so far, SEEN, TEXT, SEEN   a text that is read: where it stands in the trees
RECORD    count, SEEN, content, pending, apart, bits...   a scope's side state (content: see ``item_values``)
SEEN      whether a text ends here (in objects: its VALUE), texts below, whether those are all, (byte, SEEN)...
LIST      LIST or 0, VALUE, length        the items of an array so far
VALUE     tag, TEXT or tree or LIST       a value
KNOWN     VALUE, scope or -1 - watch      that it is one of what this scope or text can become
TEXT      TEXT or 0, byte                 the bytes of a text so far
WHOLE     HOLE                            a question, also about texts that came; or SET: note: its REVEAL
MEMBER    FRAME                           a question: whether the text that the frame watches is one that came
NODE      above (NODE or SHAPE), LABELS   mask tree; notes: HOLE asked about; row of the mask

A sequence is ``(SHAPE, BASES)`` with concrete stacks. A *row* is a configuration over holes, with its
memoised transitions ``trans[row * stride + 1 + class]``: a row, DEAD, UNKNOWN, or ASK - hole when the
step must see what lies at a hole. A mask walk runs on rows alone; whatever it had to ask of the actual
stacks is recorded, and its mask is stored in a tree under the answers.

Where stacks are so tangled that a walk would ask too much (ambiguous grammars), it runs on the stacks
themselves, and the mask is stored under them (BY_STACKS).

Counts are abstracted to zones in rows (``zone_of``), exact in sequences. All kernels run as plain Python
with NUMBA_DISABLE_JIT=1. They never allocate: when the arena is full they raise ``Full``, the
caller grows it and calls again. What numbers mean is in ``constants.py``, terms are made in
``hash_consing.py``, what frames hold beside a return is in ``objects``.
"""

from __future__ import annotations

from workbench.engine.kernels.advances import advance, advance_symbol, both
from workbench.engine.kernels.compaction import compact
from workbench.engine.kernels.constants import BUSY, DONE, EPOCH, HITS, MISS, N_ASKED, REFUSED, WORK
from workbench.engine.kernels.context import words_at
from workbench.engine.kernels.invariance import closed_under
from workbench.engine.kernels.mask_trees import keep, lookup, tangled_node
from workbench.engine.kernels.preparation import live_symbols, prepare
from workbench.engine.kernels.signatures import jit
from workbench.engine.kernels.slice_walks import finish
from workbench.engine.kernels.stack_queries import accepts

__all__ = [
    "accept_at",
    "accept_many_at",
    "accepts",
    "advance",
    "advance_symbol",
    "both",
    "closed_at",
    "compact",
    "finish_at",
    "live_symbols",
    "lookup_at",
    "lookup_many_at",
    "lookup_to",
    "prepare_at",
    "tangled_node",
]


@jit
def prepare_at(ctx, position):
    """:func:`prepare` for a position."""
    ctx.count[WORK] = 0
    ctx.count[N_ASKED] = 0
    return prepare(ctx, position >> 32, position & 0xFFFFFFFF)


@jit
def closed_at(ctx, part, beyond, most, position):
    """:func:`closed_under` for the row that :func:`prepare_at` has found."""
    return closed_under(ctx, part, ctx.found[3], position & 0xFFFFFFFF, beyond, most)


@jit
def finish_at(ctx, part, beyond, closed, position):
    """:func:`finish` and :func:`keep` for a position."""
    finish(ctx, part, beyond, closed, position & 0xFFFFFFFF, ctx.words)
    keep(ctx, position >> 32, position & 0xFFFFFFFF)


@jit
def lookup_at(ctx, position, out):
    """:func:`lookup` of a position; masks that ask nothing are copied without a further call."""
    pool = ctx.pool
    node = int(pool[(position >> 32) + 2])
    if node >= 0:
        row = int(pool[node + 2])
        if row >= 0:
            rows_at = ctx.rows_at
            start = rows_at[row]
            if rows_at[row + 1] - start == out.size:
                # a slice: indices that may be negative would keep the loop from vectorising
                stored = ctx.rows[start : start + out.size]
                for i in range(out.size):
                    out[i] = stored[i]
                ctx.count[HITS] += 1
                return 0
    return lookup(ctx, position >> 32, position & 0xFFFFFFFF, out)


@jit
def lookup_to(ctx, epoch, position, address):
    """:func:`lookup_at` into memory at an address: an array costs Python more to hand over.

    Needs no lock but the GIL: MISS while another thread is at work on the arrays, and for a position of
    another epoch.
    """
    count = ctx.count
    if count[BUSY] != 0 or count[EPOCH] != epoch:
        return MISS
    return lookup_at(ctx, position, words_at(address, ctx.words.size))


@jit
def lookup_many_at(ctx, positions, out, missed):
    """:func:`lookup_at` of many positions, one row of ``out`` each; negative ones get an empty mask.

    Returns how many have no stored mask; their numbers are in ``missed``.
    """
    n_words = ctx.words.size
    width = out.size // max(positions.size, 1)
    misses = 0
    for i in range(positions.size):
        begin = i * width
        stop = begin + width
        if positions[i] < 0:
            for j in range(begin, stop):
                out[j] = 0
            continue
        if lookup_at(ctx, positions[i], out[begin : begin + n_words]) != 0:
            missed[misses] = i
            misses += 1
        for j in range(begin + n_words, stop):
            out[j] = 0
    return misses


@jit
def accept_at(ctx, position, token, by_rows):
    """The position after a token's bytes, or REFUSED; ``by_rows`` as for :func:`advance`."""
    ctx.count[WORK] = 0
    start = ctx.offsets[token]
    stop = ctx.offsets[token + 1]
    if start == stop:
        return REFUSED
    shape, bases = advance(
        ctx, ctx.blob, start, stop, position >> 32, position & 0xFFFFFFFF, by_rows
    )
    if shape < 0:
        return int(shape)
    return int(shape) << 32 | int(bases)


@jit
def accept_many_at(ctx, positions, token_ids):
    """:func:`accept_at` of many positions, in place; how many are done is in ``count[DONE]`` when it stops, too."""
    count = ctx.count
    count[DONE] = 0
    for i in range(positions.size):
        if positions[i] >= 0:
            positions[i] = accept_at(ctx, positions[i], token_ids[i], True)
        count[DONE] = i + 1

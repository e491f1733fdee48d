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
RECORD    count, SEEN, content, pending, apart, bits...   a scope's side state (content: see ``values``)
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
with NUMBA_DISABLE_JIT=1. They never allocate: when the arena is full they set ``count[OVERFLOW]``, the
caller grows it and calls again. What numbers mean is in ``layout.py``, terms are made in ``terms.py``,
what frames hold beside a return is in ``records.py``.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import int32, int64, types, uint8, uint16, uint32
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array

from workbench.engine.advances import advance, advance_symbol, both
from workbench.engine.compaction import compact
from workbench.engine.jit import COMPILED, finished, jit
from workbench.engine.layout import (
    BUSY,
    EPOCH,
    HITS,
    MISS,
    N_ASKED,
    OVERFLOW,
    REFUSED,
    TOO_COMPLEX,
    WORK,
)
from workbench.engine.masks import keep, lookup, tangled_node
from workbench.engine.questions import accepts
from workbench.engine.runs import closed_under, live_symbols, prepare
from workbench.engine.slice_walks import finish

__all__ = [
    "CONTEXT_ARRAYS",
    "SLICE_ARRAYS",
    "accept_at",
    "accept_many_at",
    "accepts",
    "advance",
    "advance_symbol",
    "both",
    "closed_at",
    "closed_under",
    "compact",
    "finish",
    "finish_at",
    "keep",
    "live_symbols",
    "lookup",
    "lookup_at",
    "lookup_many_at",
    "lookup_to",
    "prepare",
    "prepare_at",
    "tangled_node",
]

# -- one call from Python --------------------------------------------------------------------------
# Passing ten arrays costs more than the work itself, so the hot calls take one address: an int64
# array of (address, length) pairs, kept current by the engine.

CONTEXT_ARRAYS = (
    "auto",
    "pool",
    "table",
    "count",
    "trans",
    "work",
    "rows_at",
    "rows",
    "blob",
    "offsets",
    "bytes_",
    "depths",
    "skips",
    "tokens",
    "found",
    "loops",
    "around_loops",
    "words",
    "duplicates",
    "eos",
    "row_hash",
    "row_table",
    "symbol_ids",
    "symbol_at",
    "alive",
    "recent",
)
#: the same for a slice
SLICE_ARRAYS = (
    "rows",
    "exits",
    "exits_at",
    "inner",
    "inner_at",
    "leaves",
    "leaves_at",
    "odd",
    "lengths",
    "loops",
    "deepest",
)

if COMPILED:

    def _array_at(dtype: Any) -> Any:
        """An intrinsic: array ``i`` of a context, as one of ``dtype``."""
        kind = types.Array(dtype, 1, "C")

        @intrinsic
        def array_at(typing_context: Any, context: Any, i: Any) -> Any:
            """Array ``i`` of a context: its address and length are read from there."""

            def generate(target: Any, builder: Any, signature: Any, args: Any) -> Any:
                word = ir.IntType(64)
                pairs = builder.inttoptr(args[0], word.as_pointer())
                at = builder.mul(args[1], ir.Constant(word, 2))
                address = builder.load(builder.gep(pairs, [at]))
                length = builder.load(builder.gep(pairs, [builder.add(at, ir.Constant(word, 1))]))
                array = target.make_array(kind)(target, builder)
                size = ir.Constant(word, dtype.bitwidth // 8)
                populate_array(
                    array,
                    data=builder.inttoptr(address, array.data.type),
                    shape=[length],
                    strides=[size],
                    itemsize=size,
                    meminfo=None,
                )
                return array._getvalue()

            return kind(int64, int64), generate

        return array_at

    @intrinsic
    def words_at(typing_context: Any, address: Any, length: Any) -> Any:
        """The uint32 words at an address."""
        kind = types.Array(uint32, 1, "C")

        def generate(target: Any, builder: Any, signature: Any, args: Any) -> Any:
            array = target.make_array(kind)(target, builder)
            size = ir.Constant(ir.IntType(64), 4)
            populate_array(
                array,
                data=builder.inttoptr(args[0], array.data.type),
                shape=[args[1]],
                strides=[size],
                itemsize=size,
                meminfo=None,
            )
            return array._getvalue()

        return kind(int64, int64), generate

    array32, array64 = _array_at(int32), _array_at(int64)
    array_u8, array_u16, array_u32 = _array_at(uint8), _array_at(uint16), _array_at(uint32)

    @jit
    def prepare_at(context, position):
        """:func:`prepare` for a position."""
        count = array64(context, 3)
        count[WORK] = 0
        count[N_ASKED] = 0
        return prepare(
            array32(context, 0),
            array32(context, 1),
            array32(context, 2),
            count,
            array32(context, 4),
            array32(context, 5),
            array64(context, 14),
            array_u32(context, 15),
            array_u32(context, 16),
            array_u32(context, 24),
            position >> 32,
            position & 0xFFFFFFFF,
        )

    @jit
    def closed_at(context, slice_context, beyond, most, position):
        """:func:`closed_under` for the row that :func:`prepare_at` has found."""
        return closed_under(
            array32(context, 0),
            array32(context, 1),
            array32(context, 2),
            array64(context, 3),
            array32(context, 4),
            array32(context, 5),
            array64(context, 14)[3],
            position & 0xFFFFFFFF,
            array_u32(slice_context, 9),
            beyond,
            most,
        )

    @jit
    def keep_at(context, position):
        """:func:`keep` of the finished mask of a position."""
        return keep(
            array32(context, 1),
            array32(context, 2),
            array64(context, 3),
            array32(context, 5),
            array64(context, 6),
            array_u32(context, 7),
            array64(context, 20),
            array32(context, 21),
            position >> 32,
            position & 0xFFFFFFFF,
            array_u32(context, 17),
        )

    @jit
    def finish_at(context, slice_context, beyond, closed, position):
        """:func:`finish` and :func:`keep` for a position."""
        code = finish(
            array32(context, 0),
            array32(context, 1),
            array32(context, 2),
            array64(context, 3),
            array32(context, 4),
            array32(context, 5),
            array_u8(context, 10),
            array_u16(context, 11),
            array32(context, 12),
            array32(context, 13),
            array_u8(context, 8),
            array64(context, 9),
            array64(context, 14),
            array_u32(context, 15),
            array_u32(context, 16),
            array32(context, 18),
            array64(context, 19),
            array32(context, 22),
            array32(context, 23),
            array_u32(slice_context, 0),
            array32(slice_context, 1),
            array32(slice_context, 2),
            array32(slice_context, 3),
            array32(slice_context, 4),
            array32(slice_context, 5),
            array32(slice_context, 6),
            array32(slice_context, 7),
            array32(slice_context, 8),
            array_u32(slice_context, 9),
            array32(slice_context, 10),
            beyond,
            closed,
            position & 0xFFFFFFFF,
            array_u32(context, 17),
        )
        if code < 0:
            return code
        return keep_at(context, position)

    @jit
    def lookup_at(context, position, out):
        """:func:`lookup` of a position; masks that ask nothing are copied without a further call."""
        pool = array32(context, 1)
        node = int64(pool[(position >> 32) + 2])
        if node >= 0:
            row = int64(pool[node + 2])
            if row >= 0:
                rows_at = array64(context, 6)
                start = rows_at[row]
                if rows_at[row + 1] - start == out.size:
                    # a slice: indices that may be negative would keep the loop from vectorising
                    part = array32(context, 7)[start : start + out.size]
                    for i in range(out.size):
                        out[i] = part[i]
                    array64(context, 3)[HITS] += 1
                    return 0
        return lookup(
            array32(context, 0),
            pool,
            array32(context, 2),
            array64(context, 3),
            array32(context, 5),
            array64(context, 6),
            array_u32(context, 7),
            array64(context, 25),
            position >> 32,
            position & 0xFFFFFFFF,
            out,
        )

    @jit
    def lookup_to(context, epoch, position, address):
        """:func:`lookup_at` into memory at an address: an array costs Python more to hand over.

        Needs no lock but the GIL: MISS while another thread is at work on the arrays, and for a position of
        another epoch.
        """
        count = array64(context, 3)
        if count[BUSY] != 0 or count[EPOCH] != epoch:
            return MISS
        if count[OVERFLOW] != 0 or count[TOO_COMPLEX] != 0:
            return MISS
        found = lookup_at(context, position, words_at(address, array_u32(context, 17).size))
        if found != 0:
            # to be said again to who has the lock, not to others
            count[OVERFLOW] = 0
            count[TOO_COMPLEX] = 0
        return found

    @jit
    def lookup_many_at(context, positions, out, missed):
        """:func:`lookup_at` of many positions, one row of ``out`` each; negative ones get an empty mask.

        Returns how many have no stored mask; their numbers are in ``missed``.
        """
        n_words = array_u32(context, 17).size
        width = out.size // max(positions.size, 1)
        misses = 0
        for i in range(positions.size):
            begin = i * width
            stop = begin + width
            if positions[i] < 0:
                for j in range(begin, stop):
                    out[j] = 0
                continue
            if lookup_at(context, positions[i], out[begin : begin + n_words]) != 0:
                missed[misses] = i
                misses += 1
                # it is looked up again, and said then
                array64(context, 3)[OVERFLOW] = 0
                array64(context, 3)[TOO_COMPLEX] = 0
            for j in range(begin + n_words, stop):
                out[j] = 0
        return misses

    @jit
    def accept_at(context, position, token):
        """The position after a token; REFUSED, FULL or COMPLEX."""
        count = array64(context, 3)
        count[WORK] = 0
        offsets = array64(context, 9)
        start = offsets[token]
        stop = offsets[token + 1]
        if start == stop:
            return REFUSED
        blob = array_u8(context, 8)
        shape, bases = advance(
            array32(context, 0),
            array32(context, 1),
            array32(context, 2),
            count,
            array32(context, 4),
            array32(context, 5),
            blob,
            start,
            stop,
            position >> 32,
            position & 0xFFFFFFFF,
        )
        if shape < 0:
            return shape
        return shape << 32 | bases

    @jit
    def accept_many_at(context, positions, token_ids):
        """:func:`accept_at` of many positions, in place; returns how many were done before FULL or COMPLEX."""
        for i in range(positions.size):
            if positions[i] >= 0:
                following = accept_at(context, positions[i], token_ids[i])
                if following < REFUSED:
                    return i
                positions[i] = following
        return positions.size


finished()

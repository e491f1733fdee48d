"""Frames that hold more than where to return: all that the other kernels know of them.

A scope (an object, or an array whose items differ) has a *record* in its frame, a text that is read as one of its
keys or items is *watched* in its own. The other kernels import nothing of this folder but these functions, and call
none of them for a grammar without such frames.
"""

from __future__ import annotations

from workbench.engine.kernels.constants import (
    ASK,
    CONTENT,
    FAR_INSIDE,
    FRAME,
    IS_APART,
    IS_FRESH,
    IS_KNOWN,
    ITEM,
    LEFT_OPEN,
    LOST,
    MEMBER,
    OFF,
    OUTERMOST,
    PENDING,
    SCOPE_SITE,
    SITE_BASE,
    UNKEPT,
    UNSAID,
    WATCH,
    Tangled,
)
from workbench.engine.kernels.hash_consing import term1, term3, term6
from workbench.engine.kernels.objects.frame_states import (
    changed,
    delivered,
    entering,
    guarded,
    record_zone,
    recorded,
    spoken,
    watching,
)
from workbench.engine.kernels.objects.item_values import filled, gathered
from workbench.engine.kernels.objects.key_trackers import (
    cut_watched,
    excluded,
    keeps_text,
    undecided,
    watched,
)
from workbench.engine.kernels.objects.key_tries import came
from workbench.engine.kernels.signatures import jit

__all__ = [
    "begin_frame",
    "cut_watched",
    "delivered",
    "end_frame",
    "excluded",
    "guarded",
    "keeps_text",
    "key_came",
    "label_of",
    "to_be_asked",
    "undecided",
    "watched",
    "with_answer",
]


@jit
def label_of(ctx, frame, loop, full):
    """What a question sees of a frame with a record or a watched text; of keys that came only with ``full``."""
    pool = ctx.pool
    value = int(pool[frame + 4])
    if loop <= SCOPE_SITE:
        scope = SCOPE_SITE - loop
        zone = int(record_zone(ctx, value, scope))
        seen = int(pool[value + 4])
        if not full and ctx.scope_names[scope] != 0 and pool[seen + 4] > 0:
            seen = UNSAID
        if ctx.scope_gather[scope] != 0:
            # what came in it is asked of the stacks themselves; an array that is empty is told apart
            content = 0 if pool[value + CONTENT] == 0 else UNSAID
            pending = LOST if pool[value + PENDING] > ITEM else int(pool[value + PENDING])
            apart = int(pool[value + IS_APART])
            value = int(filled(ctx, value, content, pending, apart))
        return int(changed(ctx, value, zone, seen, -1))
    if value < 0 or pool[value + 7] == UNKEPT:
        return value
    # a watched text
    node = int(pool[value + 3])
    seen = int(pool[value + 6])
    along = int(pool[value + 8])
    if node < 0 and seen < 0 and along == OFF:
        return FAR_INSIDE
    return int(
        term6(ctx, WATCH, node, int(pool[value + 4]), int(pool[value + 5]), seen, UNKEPT, along)
    )


@jit
def begin_frame(ctx, back, loop, stacks, exact):
    """The frames of a scope or a watched text that begins on a SET; -1 where none may begin."""
    if loop <= SCOPE_SITE:
        return int(entering(ctx, back, SCOPE_SITE - loop, stacks))
    return int(watching(ctx, back, -1 - loop, stacks, exact))


@jit
def end_frame(ctx, frame, loop, cls, exact):
    """What lies below a scope or a watched text that ends, after what came in it.

    -1 when it may not end, ASK - hole when something is not known. Texts that wait for an answer end only when
    their quotation mark comes next (``cls``).
    """
    pool = ctx.pool
    count = ctx.count
    value = int(pool[frame + 4])
    parents = int(pool[frame + 5])
    if loop <= SCOPE_SITE:
        scope = SCOPE_SITE - loop
        if ctx.scope_gather[scope] != 0 and ctx.scope_flags[scope] & OUTERMOST == 0:
            one = int(gathered(ctx, frame))
            parents = int(delivered(ctx, parents, one, exact))
        return parents
    number = -1 - loop
    if excluded(ctx, value):
        return -1
    if value >= 0 and pool[value + 6] == LOST:
        if cls == 0x22 and pool[value + 4] == 0:
            raise Tangled
        count[LEFT_OPEN] = 1
        return -1
    if value >= 0 and pool[value + 6] <= ASK and pool[value + 4] != IS_FRESH:
        if cls == 0x22 and pool[value + 4] == 0:
            return ASK - int(term1(ctx, MEMBER, frame))
        count[LEFT_OPEN] = 1
        return -1
    if ctx.watch_cell[number] >= 0:
        parents = int(recorded(ctx, parents, value, number))
    if parents >= 0 and ctx.watch_role[number] != 0:
        parents = int(spoken(ctx, parents, value, number, exact))
    return parents


@jit
def key_came(ctx, scope_frame, frame):
    """Whether the text that a frame watches is one that came in a scope: 1 or 0, -1 when that cannot be told."""
    pool = ctx.pool
    site = int(pool[frame + 3]) - SITE_BASE
    cell = int(ctx.watch_cell[-1 - ctx.site_loop[site]])
    seen = int(pool[pool[scope_frame + 4] + 4])
    return int(came(ctx, seen, int(pool[pool[frame + 4] + 7]), cell))


@jit
def with_answer(ctx, frame, yes):
    """A watching frame that knows whether its text is one that came."""
    pool = ctx.pool
    value = int(pool[frame + 4])
    phase = IS_FRESH if yes == 0 else IS_KNOWN
    node = int(pool[value + 3])
    seen = int(pool[value + 6])
    text = int(pool[value + 7])
    along = int(pool[value + 8])
    value = int(term6(ctx, WATCH, node, phase, 0, seen, text, along))
    return int(term3(ctx, FRAME, int(pool[frame + 3]), value, int(pool[frame + 5])))


@jit
def to_be_asked(ctx, record, hole):
    """A record in which what came is not said: it is to be asked of the frame above ``hole``."""
    if ctx.pool[record + 4] != UNSAID:
        return record
    return int(changed(ctx, record, int(ctx.pool[record + 3]), ASK - hole, -1))

"""Frames that hold more than where to return: all that the other kernels know of them.

The frame of a scope (an object, or an array whose items differ) has a *frame state*, that of a text which is read as
one of its keys or items a *key tracker*. The other kernels import nothing of this folder but these functions, and
call none of them for a grammar without such frames.
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
    TRACKER,
    UNKEPT,
    UNSAID,
    Tangled,
)
from workbench.engine.kernels.hash_consing import node1, node3, node6
from workbench.engine.kernels.objects.frame_states import (
    begin_scope,
    begin_tracking,
    guarded,
    key_recorded,
    members_zone,
    text_delivered,
    updated,
    value_delivered,
)
from workbench.engine.kernels.objects.item_values import gathered_value, with_content
from workbench.engine.kernels.objects.key_trackers import (
    cut_tracked,
    excluded,
    keeps_text,
    tracked,
    undecided,
)
from workbench.engine.kernels.objects.key_tries import trie_has
from workbench.engine.kernels.signatures import jit

__all__ = [
    "begin_frame",
    "cut_tracked",
    "end_frame",
    "excluded",
    "guarded",
    "keeps_text",
    "key_came",
    "object_zone",
    "to_be_asked",
    "tracked",
    "undecided",
    "value_delivered",
    "with_answer",
]


@jit
def object_zone(ctx, frame, loop, full):
    """What a stack query sees of a frame with a frame state or a tracker; of earlier keys only with ``full``."""
    arena = ctx.arena
    value = int(arena[frame + 4])
    if loop <= SCOPE_SITE:
        scope = SCOPE_SITE - loop
        zone = int(members_zone(ctx, value, scope))
        trie = int(arena[value + 4])
        if not full and ctx.scope_names[scope] != 0 and arena[trie + 4] > 0:
            trie = UNSAID
        if ctx.scope_gather[scope] != 0:
            # what it holds is asked of the stacks themselves; an array that is empty is told apart
            content = 0 if arena[value + CONTENT] == 0 else UNSAID
            pending = LOST if arena[value + PENDING] > ITEM else int(arena[value + PENDING])
            apart = int(arena[value + IS_APART])
            value = int(with_content(ctx, value, content, pending, apart))
        return int(updated(ctx, value, zone, trie, -1))
    if value < 0 or arena[value + 7] == UNKEPT:
        return value
    # a tracked text
    node = int(arena[value + 3])
    trie = int(arena[value + 6])
    compared = int(arena[value + 8])
    if node < 0 and trie < 0 and compared == OFF:
        return FAR_INSIDE
    return int(
        node6(
            ctx, TRACKER, node, int(arena[value + 4]), int(arena[value + 5]), trie, UNKEPT, compared
        )
    )


@jit
def begin_frame(ctx, back, loop, stacks, exact):
    """The frames of a scope or a tracked text that begins on a SET; -1 where none may begin."""
    if loop <= SCOPE_SITE:
        return int(begin_scope(ctx, back, SCOPE_SITE - loop, stacks))
    return int(begin_tracking(ctx, back, -1 - loop, stacks, exact))


@jit
def end_frame(ctx, frame, loop, cls, exact):
    """What lies below a scope or a tracked text that ends, after what came in it.

    -1 when it may not end, ASK - variable when something is not known. Texts that wait for an answer end only when
    their quotation mark comes next (``cls``).
    """
    arena = ctx.arena
    count = ctx.count
    value = int(arena[frame + 4])
    parents = int(arena[frame + 5])
    if loop <= SCOPE_SITE:
        scope = SCOPE_SITE - loop
        if ctx.scope_gather[scope] != 0 and ctx.scope_flags[scope] & OUTERMOST == 0:
            one = int(gathered_value(ctx, frame))
            parents = int(value_delivered(ctx, parents, one, exact))
        return parents
    number = -1 - loop
    if excluded(ctx, value):
        return -1
    if value >= 0 and arena[value + 6] == LOST:
        if cls == 0x22 and arena[value + 4] == 0:
            raise Tangled
        count[LEFT_OPEN] = 1
        return -1
    if value >= 0 and arena[value + 6] <= ASK and arena[value + 4] != IS_FRESH:
        if cls == 0x22 and arena[value + 4] == 0:
            return ASK - int(node1(ctx, MEMBER, frame))
        count[LEFT_OPEN] = 1
        return -1
    if ctx.watch_cell[number] >= 0:
        parents = int(key_recorded(ctx, parents, value, number))
    if parents >= 0 and ctx.watch_role[number] != 0:
        parents = int(text_delivered(ctx, parents, value, number, exact))
    return parents


@jit
def key_came(ctx, scope_frame, frame):
    """Whether the text that a frame tracks is an earlier key in a scope: 1 or 0, -1 when that cannot be told."""
    arena = ctx.arena
    site = int(arena[frame + 3]) - SITE_BASE
    cell = int(ctx.watch_cell[-1 - ctx.site_loop[site]])
    trie = int(arena[arena[scope_frame + 4] + 4])
    return int(trie_has(ctx, trie, int(arena[arena[frame + 4] + 7]), cell))


@jit
def with_answer(ctx, frame, yes):
    """A frame with a tracker that knows whether its text is an earlier key."""
    arena = ctx.arena
    value = int(arena[frame + 4])
    phase = IS_FRESH if yes == 0 else IS_KNOWN
    node = int(arena[value + 3])
    trie = int(arena[value + 6])
    text = int(arena[value + 7])
    compared = int(arena[value + 8])
    value = int(node6(ctx, TRACKER, node, phase, 0, trie, text, compared))
    return int(node3(ctx, FRAME, int(arena[frame + 3]), value, int(arena[frame + 5])))


@jit
def to_be_asked(ctx, frame_state, variable):
    """A frame state in which the earlier keys are not said: they are to be asked of the frame above a variable."""
    if ctx.arena[frame_state + 4] != UNSAID:
        return frame_state
    return int(updated(ctx, frame_state, int(ctx.arena[frame_state + 3]), ASK - variable, -1))

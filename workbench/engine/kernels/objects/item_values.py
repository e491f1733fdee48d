"""Values that are read in scopes: what they are made of.

Where the items of an array must differ, the scopes inside of it gather what they hold: an object the trie
of its names with the VALUE of each, an array the LIST of its items'. Equal values are one node, in
whatever order and spelling they came.
"""

from __future__ import annotations

from workbench.engine.kernels.constants import (
    ARRAY_OF,
    ARRAY_TAG,
    ASK,
    CONSTANT_TAG,
    CONTENT,
    DIFFERENT,
    FRAME,
    FRAME_STATE,
    IS_APART,
    ITEM,
    KNOWN,
    LIST,
    LOST,
    MANY,
    MOST_PATHS,
    NO_BYTES,
    NOTHING,
    OBJECT_OF,
    OBJECT_TAG,
    PENDING,
    SITE_BASE,
    TEXT,
    UNSAID,
    VALUE,
    VARIABLE,
    WORK,
    Complex,
)
from workbench.engine.kernels.hash_consing import intern, node2, node3
from workbench.engine.kernels.objects.key_tries import (
    bytes_of,
    empty_trie,
    trie_below,
    trie_child,
    trie_with,
)
from workbench.engine.kernels.signatures import jit
from workbench.engine.kernels.stack_frames import scope_of


@jit
def gathers(ctx, frame):
    """What the scope of a frame gathers; 0 for other frames."""
    scope = int(scope_of(ctx, frame))
    return 0 if scope < 0 else int(ctx.scope_gather[scope])


@jit
def flags_of(ctx, frame):
    """How the scope of a frame gathers."""
    return int(ctx.scope_flags[scope_of(ctx, frame)])


@jit
def scope_below(ctx, stacks, path):
    """The scope below plain calls in a SET: ``(its frame, path, whether there are several)``.

    The frame is ASK - variable where it is not known, 0 for none. ``path`` says which of several: its remainders
    choose one after the other, what is left of it is returned.
    """
    arena = ctx.arena
    several = False
    while True:
        n = int(arena[stacks]) >> 5
        frame = int(arena[stacks + 3 + path % n])
        several = several or n > 1
        path //= n
        kind = arena[frame] & 31
        if kind == VARIABLE:
            return ASK - frame, path, several
        if kind != FRAME:
            return 0, path, several
        if arena[frame + 3] >= SITE_BASE:
            return (frame if scope_of(ctx, frame) >= 0 else 0), path, several
        stacks = int(arena[frame + 5])


@jit
def variable_below(ctx, stacks):
    """A stack variable below plain calls in a SET, as ASK - variable; 0 when there is none."""
    path = 0
    while path < MOST_PATHS:
        frame, left, several = scope_below(ctx, stacks, path)
        if left == 0 and frame <= ASK:
            return frame
        if not several:
            break
        path += 1
    return 0


@jit
def with_content(ctx, frame_state, content, pending, apart):
    """A frame state with other contents of what it gathers."""
    arena = ctx.arena
    n = int(arena[frame_state]) >> 5
    buffer = ctx.buffer
    for i in range(n):
        buffer[i] = arena[frame_state + 3 + i]
    buffer[CONTENT - 3] = content
    buffer[PENDING - 3] = pending
    buffer[IS_APART - 3] = apart
    return int(intern(ctx, FRAME_STATE, buffer, 0, n))


@jit
def member_of(ctx, tree, text):
    """The VALUE of a name in the trie of an object, or 0."""
    n = int(bytes_of(ctx, text))
    if n < 0:
        raise Complex
    tree = int(trie_below(ctx, tree, n))
    return 0 if tree < 0 else int(ctx.arena[tree + 3])


@jit
def with_pair(ctx, tree, text, value):
    """The trie of an object with one more name (a TEXT) and its VALUE; ``tree`` may be OFF."""
    n = int(bytes_of(ctx, text))
    if n < 0:
        raise Complex
    left = ctx.left
    for i in range(n + 1):
        left[i] = MANY
    return int(trie_with(ctx, tree, n, value))


@jit
def includes(ctx, more, less):
    """Whether the trie of an object has all names of another, with the same values."""
    arena = ctx.arena
    count = ctx.count
    stack = ctx.left
    size = int(ctx.text.size)
    stack[0] = more
    stack[1] = less
    n = 2
    while n > 0:
        n -= 2
        more = int(stack[n])
        less = int(stack[n + 1])
        if more == less:
            continue
        count[WORK] += 1
        if arena[less + 3] != 0 and arena[less + 3] != arena[more + 3]:
            return False
        for i in range(less + 6, less + 3 + (int(arena[less]) >> 5), 2):
            below = int(trie_child(ctx, more, int(arena[i])))
            if below < 0:
                return False
            if n + 2 > size:
                raise Complex
            stack[n] = below
            stack[n + 1] = arena[i + 1]
            n += 2
    return True


@jit
def length_of(ctx, values):
    """Number of items in a LIST."""
    return 0 if values <= 0 else int(ctx.arena[values + 5])


@jit
def first_of(ctx, values, n):
    """The first ``n`` items of a LIST as a LIST, or -1 when there are not so many."""
    left = int(length_of(ctx, values)) - n
    if left < 0:
        return -1
    ctx.count[WORK] += left
    while left > 0:
        values = int(ctx.arena[values + 3])
        left -= 1
    return values


@jit
def with_value(ctx, frame, frame_state, value):
    """A frame state of the scope of a frame after a VALUE has come at the place that waits for it."""
    arena = ctx.arena
    content = int(arena[frame_state + CONTENT])
    pending = int(arena[frame_state + PENDING])
    apart = int(arena[frame_state + IS_APART])
    if value == DIFFERENT:
        apart = 1
    if value <= 0 or content < 0:
        content = UNSAID
    elif gathers(ctx, frame) == ARRAY_OF:
        n = int(length_of(ctx, content)) + 1
        content = int(node3(ctx, LIST, content, value, n))
    elif pending > ITEM:
        text = 0 if pending == NO_BYTES else pending
        content = int(with_pair(ctx, content, text, value))
    else:
        content = UNSAID
    return int(with_content(ctx, frame_state, content, NOTHING, apart))


@jit
def gathered_value(ctx, frame):
    """The VALUE of a scope that has come to its end: DIFFERENT or LOST where it is not known."""
    arena = ctx.arena
    frame_state = int(arena[frame + 4])
    content = int(arena[frame_state + CONTENT])
    if content < 0:
        return DIFFERENT if arena[frame_state + IS_APART] != 0 else LOST
    tag = OBJECT_TAG if gathers(ctx, frame) == OBJECT_OF else ARRAY_TAG
    value = int(node2(ctx, VALUE, tag, content))
    # that the scope can become this value: other scopes may have been read at the same place
    node2(ctx, KNOWN, value, int(scope_of(ctx, frame)))
    return value


@jit
def name_at(ctx, scope, member):
    """What is pending in an object after the name of one of its members."""
    at = int(ctx.sets[ctx.scope_keys[scope] + member])
    text = 0
    for i in range(int(ctx.sets[at])):
        text = int(node2(ctx, TEXT, text, int(ctx.sets[at + 1 + i])))
    return NO_BYTES if text == 0 else text


@jit
def fresh_content(ctx, scope):
    """What a scope has gathered at its beginning."""
    if ctx.scope_gather[scope] != OBJECT_OF:
        return 0
    return int(empty_trie(ctx))


@jit
def constant(ctx, number):
    """The VALUE of null, true or false."""
    return int(node2(ctx, VALUE, CONSTANT_TAG, number))

"""The state of a scope in its frame: members, keys and earlier values, and guards on them."""

from __future__ import annotations

from workbench.engine.kernels.constants import (
    ARRAY_OF,
    ASK,
    BITS,
    CONSTANT,
    CONTENT,
    DIFFERENT,
    DISTINCT,
    EMPTY_TEXT,
    END,
    FAR_BELOW,
    FAR_INSIDE,
    FRAME,
    FRAME_STATE,
    IS_APART,
    ITEM,
    KEEP,
    KNOWN,
    LOOK,
    LOOK_ABOVE,
    LOST,
    MAY,
    NAME_ROLE,
    NAMED,
    NO_BYTES,
    OBJECT_OF,
    OFF,
    OTHER,
    OUTERMOST,
    ROOM_FOR,
    SET,
    SITE_BASE,
    TAKE,
    TRACKER,
    UNCLEAR,
    UNKEPT,
    VALUE,
    VARIABLE,
    WORD,
    Tangled,
)
from workbench.engine.kernels.hash_consing import intern, node1, node2, node6, union
from workbench.engine.kernels.objects.item_values import (
    constant,
    flags_of,
    fresh_content,
    gathers,
    name_at,
    variable_below,
    with_content,
    with_value,
)
from workbench.engine.kernels.objects.key_tries import empty_trie, trie_child, trie_with_key
from workbench.engine.kernels.objects.residuals import (
    begins_apart,
    choices,
    compared_texts,
    in_turn,
    mark_apart,
    may_differ,
)
from workbench.engine.kernels.signatures import jit
from workbench.engine.kernels.stack_frames import added, scope_of, with_frame


@jit
def members_missing(ctx, frame_state, scope):
    """Required members that have not come."""
    required = int(ctx.scope_required[scope])
    missing = 0
    for w in range(ctx.scope_words[scope]):
        bits = int(ctx.sets[required + w]) & ~int(ctx.arena[frame_state + BITS + w])
        while bits:
            bits &= bits - 1
            missing += 1
    return missing


@jit
def members_zone(ctx, frame_state, scope):
    """Zone of the number of members: exact within one token's reach of a bound."""
    value = int(ctx.arena[frame_state + 3])
    if value < 0:
        return value
    least = int(ctx.scope_least[scope])
    most = int(ctx.scope_most[scope])
    reach = int(ctx.scope_reach)
    if most >= 0 and most - value - members_missing(ctx, frame_state, scope) <= reach:
        return value
    if least - value > reach:
        return FAR_BELOW
    if most >= 0 and value >= least:
        return FAR_INSIDE
    return value


@jit
def updated(ctx, frame_state, value, trie, item):
    """A frame state with another count, other keys and one member more (-1: none)."""
    arena = ctx.arena
    n = int(arena[frame_state]) >> 5
    buffer = ctx.buffer
    buffer[0] = value
    buffer[1] = trie
    for i in range(2, n):
        buffer[i] = arena[frame_state + 3 + i]
    if item >= 0:
        buffer[BITS - 3 + item // WORD] |= 1 << (item % WORD)
    return intern(ctx, FRAME_STATE, buffer, 0, n)


@jit
def behind_guard(ctx, scope, frame_state, guard):
    """A frame state behind a guard, or -1 where it does not let pass."""
    arena = ctx.arena
    op = int(ctx.guard_op[guard])
    if op == LOOK:
        return frame_state
    item = int(ctx.guard_item[guard])
    value = int(arena[frame_state + 3])
    trie = int(arena[frame_state + 4])
    if op == EMPTY_TEXT:
        if trie < 0:
            raise Tangled
        below = int(trie_child(ctx, trie, int(ctx.watch_cell[item])))
        if below >= 0 and arena[below + 3] != 0:
            return -1
        cell = int(ctx.watch_cell[item])
        trie = int(trie_with_key(ctx, trie, 0, item, cell))
        return int(updated(ctx, frame_state, value, trie, -1))
    least = int(ctx.scope_least[scope])
    most = int(ctx.scope_most[scope])
    words = int(ctx.scope_words[scope])
    required = int(ctx.scope_required[scope])
    missing = int(members_missing(ctx, frame_state, scope))
    # whether a member may come that is not required
    free = most < 0 or value < 0 or value + missing < most
    if op == END:
        return frame_state if missing == 0 and (value >= least or value == FAR_INSIDE) else -1
    if op == MAY:
        if item != 0 and free:
            return frame_state
        some = int(ctx.guard_set[guard])
        for w in range(words):
            left = int(ctx.sets[some + w]) & ~int(arena[frame_state + BITS + w])
            if left & int(ctx.sets[required + w]) or (free and left):
                return frame_state
        return -1
    if value >= 0 and (most >= 0 or value < least):
        value += 1
    if op == OTHER:
        if not free:
            return -1
        item = -1
    else:
        bit = 1 << (item % WORD)
        if int(arena[frame_state + BITS + item // WORD]) & bit:
            return -1
        if not free and int(ctx.sets[required + item // WORD]) & bit == 0:
            return -1
    return int(updated(ctx, frame_state, value, trie, item))


@jit
def item_behind_guard(ctx, frame, frame_state, op):
    """:func:`behind_gathering_guard` for an array of which an item may come, or comes."""
    arena = ctx.arena
    apart = int(arena[frame_state + IS_APART])
    after = int(with_content(ctx, frame_state, int(arena[frame_state + CONTENT]), ITEM, apart))
    if op == TAKE:
        return after
    # items that had come before this one
    had = int(arena[frame_state + 3])
    tried = after
    if op == MAY and had >= 0:
        trie = int(arena[frame_state + 4])
        tried = int(updated(ctx, after, had + 1, trie, -1))
    elif had > 0:
        had -= 1
    some = int(choices(ctx, int(scope_of(ctx, frame)), had))
    if not may_differ(ctx, frame, tried, some, False):
        return -1
    return frame_state if op == MAY else after


@jit
def behind_gathering_guard(ctx, frame, frame_state, guard):
    """:func:`behind_guard` for a scope that gathers; -1 where only earlier values can come then."""
    arena = ctx.arena
    scope = int(scope_of(ctx, frame))
    if flags_of(ctx, frame) & OUTERMOST:
        return frame_state
    op = int(ctx.guard_op[guard])
    item = int(ctx.guard_item[guard])
    content = int(arena[frame_state + CONTENT])
    apart = int(arena[frame_state + IS_APART])
    if op == END:
        passes = may_differ(ctx, frame, frame_state, 1, True)
        return frame_state if passes else -1
    if gathers(ctx, frame) == ARRAY_OF:
        return item_behind_guard(ctx, frame, frame_state, op)
    counts = int(ctx.scope_counts[scope]) + 1
    if op == MAY:
        if item != 0:
            return frame_state
        some = int(ctx.guard_set[guard])
        for member in range(int(ctx.sets[counts - 1])):
            if (int(ctx.sets[some + member // WORD]) >> (member % WORD)) & 1 == 0:
                continue
            if (int(arena[frame_state + BITS + member // WORD]) >> (member % WORD)) & 1:
                continue
            if not in_turn(ctx, frame_state, scope, member):
                continue
            name = int(name_at(ctx, scope, member))
            after = int(with_content(ctx, frame_state, content, name, apart))
            after = int(
                updated(
                    ctx, after, int(arena[frame_state + 3]), int(arena[frame_state + 4]), member
                )
            )
            if may_differ(ctx, frame, after, int(ctx.sets[counts + member]), False):
                return frame_state
        return -1
    if op == OTHER:
        return frame_state
    name = int(name_at(ctx, scope, item))
    after = int(with_content(ctx, frame_state, content, name, apart))
    if op == TAKE:
        if not in_turn(ctx, frame_state, scope, item):
            return -1
        if not may_differ(ctx, frame, after, int(ctx.sets[counts + item]), False):
            return -1
    return after


@jit
def value_delivered(ctx, stacks, value, exact):
    """The frames of a SET after a VALUE (DIFFERENT, LOST) has come above them; ASK - variable when they are not known.

    Frames of plain calls hold it until they are left. -1 when the value has come before in all of them.
    """
    arena = ctx.arena
    result = -1
    for i in range(int(arena[stacks]) >> 5):
        frame = int(arena[stacks + 3 + i])
        if arena[frame] & 31 == VARIABLE:
            return ASK - frame
        target, holds, parents = int(arena[frame + 3]), 0, 0
        if arena[frame] & 31 == FRAME:
            holds, parents = int(arena[frame + 4]), int(arena[frame + 5])
        if arena[frame] & 31 == FRAME and target < SITE_BASE:
            holds = value
        elif gathers(ctx, frame) != 0:
            if flags_of(ctx, frame) & DISTINCT and value > 0:
                before = int(arena[holds + CONTENT])
                while before > 0 and arena[before + 4] != value:
                    before = int(arena[before + 3])
                if before > 0:
                    continue
            holds = int(with_value(ctx, frame, holds, value))
            holds = int(mark_apart(ctx, frame, holds, exact))
        else:
            result = int(added(ctx, result, frame))
            continue
        result = int(with_frame(ctx, result, target, holds, parents))
    return result


@jit
def came_constant(ctx, stacks, guard, exact):
    """A SET after a constant has come, where it or what follows can differ; -1, or ASK - variable."""
    arena = ctx.arena
    value = int(constant(ctx, int(ctx.guard_item[guard])))
    result = -1
    for i in range(int(arena[stacks]) >> 5):
        frame = int(arena[stacks + 3 + i])
        if arena[frame] & 31 == VARIABLE:
            return ASK - frame
        if gathers(ctx, frame) != 0:
            frame_state = int(arena[frame + 4])
            after = int(with_value(ctx, frame, frame_state, value))
            if not may_differ(ctx, frame, after, 1, False):
                continue
        one = int(node1(ctx, SET, frame))
        one = int(value_delivered(ctx, one, value, exact))
        if one >= 0:
            result = one if result < 0 else int(union(ctx, result, one))
    return result


@jit
def begin_tracking(ctx, back, number, stacks, exact):
    """The frames of a tracked text that begins, on the scopes of a SET; -1 when none may begin."""
    arena = ctx.arena
    count = ctx.count
    root = int(ctx.watch_root[number])
    cell = int(ctx.watch_cell[number])
    role = int(ctx.watch_role[number])
    fresh = cell >= 0
    if not fresh and role == 0:
        value = int(node6(ctx, TRACKER, root, 0, 0, OFF, UNKEPT, OFF))
        return int(with_frame(ctx, -1, back, value, stacks))
    # a text that may come again must only not make the values around it equal to others
    none = 0 if fresh else int(empty_trie(ctx))
    cell = max(0, cell)
    result = -1
    for i in range(int(arena[stacks]) >> 5):
        frame = int(arena[stacks + 3 + i])
        if scope_of(ctx, frame) < 0:
            continue
        trie = int(arena[arena[frame + 4] + 4]) if fresh else none
        text = UNKEPT
        compared = OFF
        if role != 0:
            compared, trie = compared_texts(ctx, frame, number, role, trie, cell)
            if count[UNCLEAR] != 0:
                return stacks
        if trie >= 0:
            trie = int(trie_child(ctx, trie, cell))
            if trie >= 0 and arena[trie + 5] != 0:
                continue
            if exact or count[KEEP] != 0 or compared >= 0:
                text = 0
        elif trie <= ASK and ctx.watch_loose[number] == 2:
            # the text is kept; whether it is an earlier key is asked when it ends
            text = 0
        elif trie != LOST:
            # each of its bytes matters: on the stacks themselves all is known
            raise Tangled
        # what is LOST matters only if this text, too, ends within the walk
        value = int(node6(ctx, TRACKER, root, 0, 0, trie, text, compared))
        below = int(node1(ctx, SET, frame))
        result = int(with_frame(ctx, result, back, value, below))
    return result


@jit
def guarded(ctx, stacks, guard, exact):
    """The frames of a SET that a guard lets pass, their frame states as they are behind it.

    -1 when there are none, ASK - variable when they are not known.
    """
    arena = ctx.arena
    op = int(ctx.guard_op[guard])
    if op == LOOK_ABOVE or op == ROOM_FOR:
        below = int(variable_below(ctx, stacks))
        if below <= ASK or op == LOOK_ABOVE:
            return below if below <= ASK else stacks
        number = int(ctx.guard_item[guard])
        if ctx.watch_cell[number] >= 0 and ctx.watch_loose[number] == 0:
            for i in range(int(arena[stacks]) >> 5):
                frame = int(arena[stacks + 3 + i])
                if scope_of(ctx, frame) >= 0 and arena[arena[frame + 4] + 4] == LOST:
                    # whether one is left is known on the stacks themselves
                    raise Tangled
        room = int(begin_tracking(ctx, 0, number, stacks, exact))
        return stacks if room >= 0 else -1
    if op == CONSTANT:
        return came_constant(ctx, stacks, guard, exact)
    result = -1
    for i in range(int(arena[stacks]) >> 5):
        frame = int(arena[stacks + 3 + i])
        if arena[frame] & 31 == VARIABLE:
            return ASK - frame
        scope = int(scope_of(ctx, frame))
        if scope < 0:
            continue
        target = int(arena[frame + 3])
        frame_state = int(arena[frame + 4])
        after = frame_state
        if op != NAMED:
            after = int(behind_guard(ctx, scope, frame_state, guard))
            if after < 0:
                continue
        if ctx.scope_gather[scope] != 0 and op != LOOK:
            after = int(behind_gathering_guard(ctx, frame, after, guard))
            if after < 0:
                continue
            if op != END and op != MAY:
                after = int(mark_apart(ctx, frame, after, exact))
        parents = int(arena[frame + 5])
        result = int(with_frame(ctx, result, target, after, parents))
    return result


@jit
def text_delivered(ctx, stacks, value, number, exact):
    """The frames of a SET after a tracked text that is a name or a value of what they gather.

    ASK - variable when they are not known.
    """
    arena = ctx.arena
    role = int(ctx.watch_role[number])
    text, compared = UNKEPT, OFF
    if value >= 0:
        text, compared = int(arena[value + 7]), int(arena[value + 8])
    apart = compared == OFF or (compared >= 0 and arena[compared + 3] == 0)
    drops = apart and not exact and ctx.count[KEEP] == 0
    if role != NAME_ROLE:
        one = DIFFERENT if apart else LOST
        if text >= 0 and not drops:
            one = int(node2(ctx, VALUE, role, text))
            node2(ctx, KNOWN, one, -1 - number)
        return value_delivered(ctx, stacks, one, exact)
    name = NO_BYTES if text == 0 else text
    if text < 0 or drops:
        name = LOST
    result = -1
    for i in range(int(arena[stacks]) >> 5):
        frame = int(arena[stacks + 3 + i])
        if arena[frame] & 31 == VARIABLE:
            return ASK - frame
        if gathers(ctx, frame) != OBJECT_OF:
            continue
        frame_state = int(arena[frame + 4])
        far = 1 if apart or arena[frame_state + IS_APART] != 0 else 0
        frame_state = int(
            with_content(ctx, frame_state, int(arena[frame_state + CONTENT]), name, far)
        )
        frame_state = int(mark_apart(ctx, frame, frame_state, exact))
        target, parents = int(arena[frame + 3]), int(arena[frame + 5])
        result = int(with_frame(ctx, result, target, frame_state, parents))
    return result


@jit
def key_recorded(ctx, stacks, value, number):
    """The scopes of a SET after a tracked text has come; ASK - variable when they are not known."""
    arena = ctx.arena
    result = -1
    for i in range(int(arena[stacks]) >> 5):
        frame = int(arena[stacks + 3 + i])
        if arena[frame] & 31 == VARIABLE:
            return ASK - frame
        if scope_of(ctx, frame) < 0:
            continue
        frame_state = int(arena[frame + 4])
        # the earlier keys are not known, or not which text this is: whoever asks later looks at the stacks
        trie = LOST
        if value >= 0 and arena[value + 7] >= 0 and arena[frame_state + 4] >= 0:
            trie = int(
                trie_with_key(
                    ctx,
                    int(arena[frame_state + 4]),
                    int(arena[value + 7]),
                    number,
                    int(ctx.watch_cell[number]),
                )
            )
        frame_state = int(updated(ctx, frame_state, int(arena[frame_state + 3]), trie, -1))
        target, parents = int(arena[frame + 3]), int(arena[frame + 5])
        result = int(with_frame(ctx, result, target, frame_state, parents))
    return result


@jit
def new_frame_state(ctx, scope, stacks):
    """The frame state of a scope in which nothing has come yet, on the frames of a SET."""
    buffer = ctx.buffer
    trie = int(empty_trie(ctx))
    content = int(fresh_content(ctx, scope))
    words = int(ctx.scope_words[scope])
    for i in range(words + BITS - 3):
        buffer[i] = 0
    buffer[1] = trie
    buffer[CONTENT - 3] = content
    if ctx.scope_gather[scope] != 0:
        buffer[IS_APART - 3] = begins_apart(ctx, stacks)
    return intern(ctx, FRAME_STATE, buffer, 0, words + BITS - 3)


@jit
def begin_scope(ctx, back, scope, stacks):
    """The frame of a scope that begins on a SET, as a SET; -1 where all its values have come there."""
    frame_state = int(new_frame_state(ctx, scope, stacks))
    pushed = int(with_frame(ctx, -1, back, frame_state, stacks))
    if ctx.scope_gather[scope] != 0:
        frame = int(ctx.arena[pushed + 3])
        if not may_differ(ctx, frame, frame_state, 1, False):
            return -1
    return pushed

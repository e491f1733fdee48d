"""What frames hold beside a return: counts, the texts, members and values that came."""

from __future__ import annotations

from workbench.engine.kernels.constants import (
    ARRAY_OF,
    ASK,
    BITS,
    CONSTANT,
    CONTENT,
    DISTINCT,
    EMPTY_TEXT,
    END,
    FAR_BELOW,
    FAR_INSIDE,
    FRAME,
    HOLE,
    IS_APART,
    ITEM,
    KEEP,
    KNOWN,
    LOOK,
    LOST,
    MAY,
    NAME_ROLE,
    NAMED,
    NO_BYTES,
    OBJECT_OF,
    OFF,
    OTHER,
    OUTERMOST,
    PEEK,
    RECORD,
    ROOM_FOR,
    SET,
    SITE_BASE,
    STRANGE,
    TAKE,
    UNCLEAR,
    UNKEPT,
    VALUE,
    WATCH,
    WORD,
    Tangled,
)
from workbench.engine.kernels.frames import added, scope_of, with_frame
from workbench.engine.kernels.hash_consing import intern, term1, term2, term6, union
from workbench.engine.kernels.objects.item_values import (
    constant,
    filled,
    flags_of,
    fresh_content,
    gathers,
    hidden,
    joined,
    name_at,
)
from workbench.engine.kernels.objects.key_tries import no_texts, planted, seen_child
from workbench.engine.kernels.objects.residuals import (
    begins_apart,
    beside,
    choices,
    in_turn,
    may_differ,
    told,
)
from workbench.engine.kernels.signatures import jit


@jit
def members_missing(ctx, record, scope):
    """Required members that have not come."""
    required = int(ctx.scope_required[scope])
    missing = 0
    for w in range(ctx.scope_words[scope]):
        bits = int(ctx.sets[required + w]) & ~int(ctx.pool[record + BITS + w])
        while bits:
            bits &= bits - 1
            missing += 1
    return missing


@jit
def record_zone(ctx, record, scope):
    """Zone of the number of members: exact within one token's reach of a bound."""
    value = int(ctx.pool[record + 3])
    if value < 0:
        return value
    least = int(ctx.scope_least[scope])
    most = int(ctx.scope_most[scope])
    reach = int(ctx.scope_reach)
    if most >= 0 and most - value - members_missing(ctx, record, scope) <= reach:
        return value
    if least - value > reach:
        return FAR_BELOW
    if most >= 0 and value >= least:
        return FAR_INSIDE
    return value


@jit
def changed(ctx, record, value, seen, item):
    """A record with another count, other texts and one member more (-1: none)."""
    pool = ctx.pool
    n = int(pool[record]) >> 5
    buffer = ctx.buffer
    buffer[0] = value
    buffer[1] = seen
    for i in range(2, n):
        buffer[i] = pool[record + 3 + i]
    if item >= 0:
        buffer[BITS - 3 + item // WORD] |= 1 << (item % WORD)
    return intern(ctx, RECORD, buffer, 0, n)


@jit
def passed(ctx, scope, record, guard):
    """A record behind a guard, or -1 where it does not let pass."""
    pool = ctx.pool
    op = int(ctx.guard_op[guard])
    if op == LOOK:
        return record
    item = int(ctx.guard_item[guard])
    value = int(pool[record + 3])
    seen = int(pool[record + 4])
    if op == EMPTY_TEXT:
        if seen < 0:
            raise Tangled
        below = int(seen_child(ctx, seen, int(ctx.watch_cell[item])))
        if below >= 0 and pool[below + 3] != 0:
            return -1
        cell = int(ctx.watch_cell[item])
        seen = int(planted(ctx, seen, 0, item, cell))
        return int(changed(ctx, record, value, seen, -1))
    least = int(ctx.scope_least[scope])
    most = int(ctx.scope_most[scope])
    words = int(ctx.scope_words[scope])
    required = int(ctx.scope_required[scope])
    missing = int(members_missing(ctx, record, scope))
    # whether a member may come that is not required
    free = most < 0 or value < 0 or value + missing < most
    if op == END:
        return record if missing == 0 and (value >= least or value == FAR_INSIDE) else -1
    if op == MAY:
        if item != 0 and free:
            return record
        some = int(ctx.guard_set[guard])
        for w in range(words):
            left = int(ctx.sets[some + w]) & ~int(pool[record + BITS + w])
            if left & int(ctx.sets[required + w]) or (free and left):
                return record
        return -1
    if value >= 0 and (most >= 0 or value < least):
        value += 1
    if op == OTHER:
        if not free:
            return -1
        item = -1
    else:
        bit = 1 << (item % WORD)
        if int(pool[record + BITS + item // WORD]) & bit:
            return -1
        if not free and int(ctx.sets[required + item // WORD]) & bit == 0:
            return -1
    return int(changed(ctx, record, value, seen, item))


@jit
def comes(ctx, frame, record, guard):
    """:func:`passed` for a scope that gathers: ``record`` is what it left; -1 where all values have come then."""
    pool = ctx.pool
    scope = int(scope_of(ctx, frame))
    if flags_of(ctx, frame) & OUTERMOST:
        return record
    op = int(ctx.guard_op[guard])
    item = int(ctx.guard_item[guard])
    content = int(pool[record + CONTENT])
    apart = int(pool[record + IS_APART])
    if op == END:
        passes = may_differ(ctx, frame, record, 1, True)
        return record if passes else -1
    if gathers(ctx, frame) == ARRAY_OF:
        after = int(filled(ctx, record, content, ITEM, apart))
        if op == TAKE:
            return after
        # items that had come before this one
        had = int(pool[record + 3])
        asked = after
        if op == MAY and had >= 0:
            seen = int(pool[record + 4])
            asked = int(changed(ctx, after, had + 1, seen, -1))
        elif had > 0:
            had -= 1
        some = int(choices(ctx, scope, had))
        if not may_differ(ctx, frame, asked, some, False):
            return -1
        return record if op == MAY else after
    counts = int(ctx.scope_counts[scope]) + 1
    if op == MAY:
        if item != 0:
            return record
        some = int(ctx.guard_set[guard])
        for member in range(int(ctx.sets[counts - 1])):
            if (int(ctx.sets[some + member // WORD]) >> (member % WORD)) & 1 == 0:
                continue
            if (int(pool[record + BITS + member // WORD]) >> (member % WORD)) & 1:
                continue
            if not in_turn(ctx, record, scope, member):
                continue
            name = int(name_at(ctx, scope, member))
            after = int(filled(ctx, record, content, name, apart))
            after = int(changed(ctx, after, int(pool[record + 3]), int(pool[record + 4]), member))
            if may_differ(ctx, frame, after, int(ctx.sets[counts + member]), False):
                return record
        return -1
    if op == OTHER:
        return record
    name = int(name_at(ctx, scope, item))
    after = int(filled(ctx, record, content, name, apart))
    if op == TAKE:
        if not in_turn(ctx, record, scope, item):
            return -1
        if not may_differ(ctx, frame, after, int(ctx.sets[counts + item]), False):
            return -1
    return after


@jit
def delivered(ctx, stacks, value, exact):
    """The frames of a SET after a VALUE (STRANGE, LOST) has come above them; ASK - hole when they are not known.

    Frames of plain calls hold it until they are left. -1 when the value has come before in all of them.
    """
    pool = ctx.pool
    result = -1
    for i in range(int(pool[stacks]) >> 5):
        frame = int(pool[stacks + 3 + i])
        if pool[frame] & 31 == HOLE:
            return ASK - frame
        target, holds, parents = int(pool[frame + 3]), 0, 0
        if pool[frame] & 31 == FRAME:
            holds, parents = int(pool[frame + 4]), int(pool[frame + 5])
        if pool[frame] & 31 == FRAME and target < SITE_BASE:
            holds = value
        elif gathers(ctx, frame) != 0:
            if flags_of(ctx, frame) & DISTINCT and value > 0:
                before = int(pool[holds + CONTENT])
                while before > 0 and pool[before + 4] != value:
                    before = int(pool[before + 3])
                if before > 0:
                    continue
            holds = int(joined(ctx, frame, holds, value))
            holds = int(told(ctx, frame, holds, exact))
        else:
            result = int(added(ctx, result, frame))
            continue
        result = int(with_frame(ctx, result, target, holds, parents))
    return result


@jit
def came_constant(ctx, stacks, guard, exact):
    """A SET after a constant has come, where it or what follows can differ; -1, or ASK - hole."""
    pool = ctx.pool
    value = int(constant(ctx, int(ctx.guard_item[guard])))
    result = -1
    for i in range(int(pool[stacks]) >> 5):
        frame = int(pool[stacks + 3 + i])
        if pool[frame] & 31 == HOLE:
            return ASK - frame
        if gathers(ctx, frame) != 0:
            record = int(pool[frame + 4])
            after = int(joined(ctx, frame, record, value))
            if not may_differ(ctx, frame, after, 1, False):
                continue
        one = int(term1(ctx, SET, frame))
        one = int(delivered(ctx, one, value, exact))
        if one >= 0:
            result = one if result < 0 else int(union(ctx, result, one))
    return result


@jit
def watching(ctx, back, number, stacks, exact):
    """The frames of a watched text that begins, on the scopes of a SET; -1 when none may begin."""
    pool = ctx.pool
    count = ctx.count
    root = int(ctx.watch_root[number])
    cell = int(ctx.watch_cell[number])
    role = int(ctx.watch_role[number])
    fresh = cell >= 0
    if not fresh and role == 0:
        value = int(term6(ctx, WATCH, root, 0, 0, OFF, UNKEPT, OFF))
        return int(with_frame(ctx, -1, back, value, stacks))
    # what may come again is kept from what makes the values around equal alone
    none = 0 if fresh else int(no_texts(ctx))
    cell = max(0, cell)
    result = -1
    for i in range(int(pool[stacks]) >> 5):
        frame = int(pool[stacks + 3 + i])
        if scope_of(ctx, frame) < 0:
            continue
        seen = int(pool[pool[frame + 4] + 4]) if fresh else none
        text = UNKEPT
        along = OFF
        if role != 0:
            along, seen = beside(ctx, frame, number, role, seen, cell)
            if count[UNCLEAR] != 0:
                return stacks
        if seen >= 0:
            seen = int(seen_child(ctx, seen, cell))
            if seen >= 0 and pool[seen + 5] != 0:
                continue
            if exact or count[KEEP] != 0 or along >= 0:
                text = 0
        elif seen <= ASK and ctx.watch_loose[number] == 2:
            # the text is kept; whether it came is asked when it ends
            text = 0
        elif seen != LOST:
            # each of its bytes matters: on the stacks themselves all is known
            raise Tangled
        # what is LOST matters only if this text, too, ends within the walk
        value = int(term6(ctx, WATCH, root, 0, 0, seen, text, along))
        below = int(term1(ctx, SET, frame))
        result = int(with_frame(ctx, result, back, value, below))
    return result


@jit
def guarded(ctx, stacks, guard, exact):
    """The frames of a SET that a guard lets pass, their records as they are behind it.

    -1 when there are none, ASK - hole when they are not known.
    """
    pool = ctx.pool
    op = int(ctx.guard_op[guard])
    if op == PEEK or op == ROOM_FOR:
        below = int(hidden(ctx, stacks))
        if below <= ASK or op == PEEK:
            return below if below <= ASK else stacks
        number = int(ctx.guard_item[guard])
        if ctx.watch_cell[number] >= 0 and ctx.watch_loose[number] == 0:
            for i in range(int(pool[stacks]) >> 5):
                frame = int(pool[stacks + 3 + i])
                if scope_of(ctx, frame) >= 0 and pool[pool[frame + 4] + 4] == LOST:
                    # whether one is left is known on the stacks themselves
                    raise Tangled
        room = int(watching(ctx, 0, number, stacks, exact))
        return stacks if room >= 0 else -1
    if op == CONSTANT:
        return came_constant(ctx, stacks, guard, exact)
    result = -1
    for i in range(int(pool[stacks]) >> 5):
        frame = int(pool[stacks + 3 + i])
        if pool[frame] & 31 == HOLE:
            return ASK - frame
        scope = int(scope_of(ctx, frame))
        if scope < 0:
            continue
        target = int(pool[frame + 3])
        record = int(pool[frame + 4])
        after = record
        if op != NAMED:
            after = int(passed(ctx, scope, record, guard))
            if after < 0:
                continue
        if ctx.scope_gather[scope] != 0 and op != LOOK:
            after = int(comes(ctx, frame, after, guard))
            if after < 0:
                continue
            if op != END and op != MAY:
                after = int(told(ctx, frame, after, exact))
        parents = int(pool[frame + 5])
        result = int(with_frame(ctx, result, target, after, parents))
    return result


@jit
def spoken(ctx, stacks, value, number, exact):
    """The frames of a SET after a watched text that is a name or a value of what they gather.

    ASK - hole when they are not known.
    """
    pool = ctx.pool
    role = int(ctx.watch_role[number])
    text, along = UNKEPT, OFF
    if value >= 0:
        text, along = int(pool[value + 7]), int(pool[value + 8])
    apart = along == OFF or (along >= 0 and pool[along + 3] == 0)
    drops = apart and not exact and ctx.count[KEEP] == 0
    if role != NAME_ROLE:
        one = STRANGE if apart else LOST
        if text >= 0 and not drops:
            one = int(term2(ctx, VALUE, role, text))
            term2(ctx, KNOWN, one, -1 - number)
        return delivered(ctx, stacks, one, exact)
    name = NO_BYTES if text == 0 else text
    if text < 0 or drops:
        name = LOST
    result = -1
    for i in range(int(pool[stacks]) >> 5):
        frame = int(pool[stacks + 3 + i])
        if pool[frame] & 31 == HOLE:
            return ASK - frame
        if gathers(ctx, frame) != OBJECT_OF:
            continue
        record = int(pool[frame + 4])
        far = 1 if apart or pool[record + IS_APART] != 0 else 0
        record = int(filled(ctx, record, int(pool[record + CONTENT]), name, far))
        record = int(told(ctx, frame, record, exact))
        target, parents = int(pool[frame + 3]), int(pool[frame + 5])
        result = int(with_frame(ctx, result, target, record, parents))
    return result


@jit
def recorded(ctx, stacks, value, number):
    """The scopes of a SET after a watched text has come; ASK - hole when they are not known."""
    pool = ctx.pool
    result = -1
    for i in range(int(pool[stacks]) >> 5):
        frame = int(pool[stacks + 3 + i])
        if pool[frame] & 31 == HOLE:
            return ASK - frame
        if scope_of(ctx, frame) < 0:
            continue
        record = int(pool[frame + 4])
        # what came is not known, or not which text comes: whoever asks later looks at the stacks
        seen = LOST
        if value >= 0 and pool[value + 7] >= 0 and pool[record + 4] >= 0:
            seen = int(
                planted(
                    ctx,
                    int(pool[record + 4]),
                    int(pool[value + 7]),
                    number,
                    int(ctx.watch_cell[number]),
                )
            )
        record = int(changed(ctx, record, int(pool[record + 3]), seen, -1))
        target, parents = int(pool[frame + 3]), int(pool[frame + 5])
        result = int(with_frame(ctx, result, target, record, parents))
    return result


@jit
def new_record(ctx, scope, stacks):
    """The record of a scope in which nothing has come yet, on the frames of a SET."""
    buffer = ctx.buffer
    seen = int(no_texts(ctx))
    content = int(fresh_content(ctx, scope))
    words = int(ctx.scope_words[scope])
    for i in range(words + BITS - 3):
        buffer[i] = 0
    buffer[1] = seen
    buffer[CONTENT - 3] = content
    if ctx.scope_gather[scope] != 0:
        buffer[IS_APART - 3] = begins_apart(ctx, stacks)
    return intern(ctx, RECORD, buffer, 0, words + BITS - 3)


@jit
def entering(ctx, back, scope, stacks):
    """The frame of a scope that begins on a SET, as a SET; -1 where all its values have come there."""
    record = int(new_record(ctx, scope, stacks))
    pushed = int(with_frame(ctx, -1, back, record, stacks))
    if ctx.scope_gather[scope] != 0:
        frame = int(ctx.pool[pushed + 3])
        if not may_differ(ctx, frame, record, 1, False):
            return -1
    return pushed

"""What frames hold beside a return: counts, the texts, members and values that came.

Next file to read: ``rows.py``.
"""

from __future__ import annotations

from workbench.engine.jit import jit
from workbench.engine.layout import (
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
    GUARD_ITEM,
    GUARD_OP,
    GUARD_SET,
    HOLE,
    IS_APART,
    ITEM,
    KEEP,
    KNOWN,
    LOOK,
    LOOP_MAX,
    LOOP_MIN,
    LOOP_ZONE,
    LOST,
    MAY,
    NAME_ROLE,
    NAMED,
    NO_BYTES,
    OBJECT_OF,
    OFF,
    OTHER,
    OUTERMOST,
    OVERFLOW,
    PEEK,
    RECORD,
    ROOM_FOR,
    SCOPE_COUNTS,
    SCOPE_GATHER,
    SCOPE_LEAST,
    SCOPE_MOST,
    SCOPE_REACH,
    SCOPE_REQUIRED,
    SCOPE_WORDS,
    SET,
    SETS,
    SITE_BASE,
    SITE_LOOP,
    STRANGE,
    TAKE,
    TOO_COMPLEX,
    UNKEPT,
    VALUE,
    W_BUFFER,
    WATCH,
    WATCH_CELL,
    WATCH_LOOSE,
    WATCH_ROLE,
    WATCH_ROOT,
    WORD,
)
from workbench.engine.places import (
    begins_apart,
    beside,
    choices,
    in_turn,
    may_differ,
    told,
)
from workbench.engine.seen import (
    no_texts,
    planted,
    seen_child,
)
from workbench.engine.terms import (
    intern,
    term1,
    term2,
    term6,
    union,
)
from workbench.engine.texts import (
    added,
    with_frame,
)
from workbench.engine.values import (
    constant,
    filled,
    flags_of,
    fresh_content,
    gathers,
    hidden,
    joined,
    name_at,
    scope_of,
)


@jit
def zone_of(auto, site, value):
    """Zone of a count: exact within one token's reach of a bound, else far below or far inside."""
    if value < 0:
        return value
    loop = auto[auto[SITE_LOOP] + site]
    if loop < 0:
        return value
    least = auto[auto[LOOP_MIN] + loop]
    most = auto[auto[LOOP_MAX] + loop]
    reach = auto[auto[LOOP_ZONE] + loop]
    if value < least:
        if least - value > reach:
            return FAR_BELOW
        return value
    if most < 0 or most - value > reach:
        return FAR_INSIDE
    return value


@jit
def members_missing(auto, pool, record, scope):
    """Required members that have not come."""
    required = int(auto[SETS]) + int(auto[auto[SCOPE_REQUIRED] + scope])
    missing = 0
    for w in range(auto[auto[SCOPE_WORDS] + scope]):
        bits = int(auto[required + w]) & ~int(pool[record + BITS + w])
        while bits:
            bits &= bits - 1
            missing += 1
    return missing


@jit
def record_zone(auto, pool, record, scope):
    """Zone of the number of members: exact within one token's reach of a bound."""
    value = int(pool[record + 3])
    if value < 0:
        return value
    least = int(auto[auto[SCOPE_LEAST] + scope])
    most = int(auto[auto[SCOPE_MOST] + scope])
    reach = int(auto[SCOPE_REACH])
    if most >= 0 and most - value - members_missing(auto, pool, record, scope) <= reach:
        return value
    if least - value > reach:
        return FAR_BELOW
    if most >= 0 and value >= least:
        return FAR_INSIDE
    return value


@jit
def changed(pool, table, count, work, record, value, seen, item):
    """A record with another count, other texts and one member more (-1: none)."""
    n = int(pool[record]) >> 5
    buffer = work[W_BUFFER]
    work[buffer] = value
    work[buffer + 1] = seen
    for i in range(2, n):
        work[buffer + i] = pool[record + 3 + i]
    if item >= 0:
        work[buffer + BITS - 3 + item // WORD] |= 1 << (item % WORD)
    return intern(pool, table, count, RECORD, work, buffer, n)


@jit
def passed(auto, pool, table, count, work, scope, record, guard):
    """A record behind a guard, or -1 where it does not let pass."""
    op = int(auto[auto[GUARD_OP] + guard])
    if op == LOOK:
        return record
    item = int(auto[auto[GUARD_ITEM] + guard])
    value = int(pool[record + 3])
    seen = int(pool[record + 4])
    if op == EMPTY_TEXT:
        if seen < 0:
            count[TOO_COMPLEX] = 2
            return -1
        below = int(seen_child(pool, seen, int(auto[auto[WATCH_CELL] + item])))
        if below >= 0 and pool[below + 3] != 0:
            return -1
        cell = int(auto[auto[WATCH_CELL] + item])
        seen = int(planted(auto, pool, table, count, work, seen, 0, item, cell))
        return int(changed(pool, table, count, work, record, value, seen, -1))
    least = int(auto[auto[SCOPE_LEAST] + scope])
    most = int(auto[auto[SCOPE_MOST] + scope])
    words = int(auto[auto[SCOPE_WORDS] + scope])
    required = int(auto[SETS]) + int(auto[auto[SCOPE_REQUIRED] + scope])
    missing = int(members_missing(auto, pool, record, scope))
    # whether a member may come that is not required
    free = most < 0 or value < 0 or value + missing < most
    if op == END:
        return record if missing == 0 and (value >= least or value == FAR_INSIDE) else -1
    if op == MAY:
        if item != 0 and free:
            return record
        some = int(auto[SETS]) + int(auto[auto[GUARD_SET] + guard])
        for w in range(words):
            left = int(auto[some + w]) & ~int(pool[record + BITS + w])
            if left & int(auto[required + w]) or (free and left):
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
        if not free and int(auto[required + item // WORD]) & bit == 0:
            return -1
    return int(changed(pool, table, count, work, record, value, seen, item))


@jit
def comes(auto, pool, table, count, work, frame, record, guard):
    """:func:`passed` for a scope that gathers: ``record`` is what it left; -1 where all values have come then."""
    scope = int(scope_of(auto, pool, frame))
    if flags_of(auto, pool, frame) & OUTERMOST:
        return record
    op = int(auto[auto[GUARD_OP] + guard])
    item = int(auto[auto[GUARD_ITEM] + guard])
    content = int(pool[record + CONTENT])
    apart = int(pool[record + IS_APART])
    if op == END:
        passes = may_differ(auto, pool, table, count, work, frame, record, 1, True)
        return record if passes else -1
    if gathers(auto, pool, frame) == ARRAY_OF:
        after = int(filled(pool, table, count, work, record, content, ITEM, apart))
        if op == TAKE:
            return after
        # items that had come before this one
        had = int(pool[record + 3])
        asked = after
        if op == MAY and had >= 0:
            seen = int(pool[record + 4])
            asked = int(changed(pool, table, count, work, after, had + 1, seen, -1))
        elif had > 0:
            had -= 1
        some = int(choices(auto, scope, had))
        if not may_differ(auto, pool, table, count, work, frame, asked, some, False):
            return -1
        return record if op == MAY else after
    counts = int(auto[SETS]) + int(auto[auto[SCOPE_COUNTS] + scope]) + 1
    if op == MAY:
        if item != 0:
            return record
        some = int(auto[SETS]) + int(auto[auto[GUARD_SET] + guard])
        for member in range(int(auto[counts - 1])):
            if (int(auto[some + member // WORD]) >> (member % WORD)) & 1 == 0:
                continue
            if (int(pool[record + BITS + member // WORD]) >> (member % WORD)) & 1:
                continue
            if not in_turn(auto, pool, record, scope, member):
                continue
            name = int(name_at(auto, pool, table, count, work, scope, member))
            after = int(filled(pool, table, count, work, record, content, name, apart))
            after = int(
                changed(
                    pool,
                    table,
                    count,
                    work,
                    after,
                    int(pool[record + 3]),
                    int(pool[record + 4]),
                    member,
                )
            )
            if may_differ(
                auto, pool, table, count, work, frame, after, int(auto[counts + member]), False
            ):
                return record
        return -1
    if op == OTHER:
        return record
    name = int(name_at(auto, pool, table, count, work, scope, item))
    after = int(filled(pool, table, count, work, record, content, name, apart))
    if op == TAKE:
        if not in_turn(auto, pool, record, scope, item):
            return -1
        if not may_differ(
            auto, pool, table, count, work, frame, after, int(auto[counts + item]), False
        ):
            return -1
    return after


@jit
def delivered(auto, pool, table, count, work, stacks, value, exact):
    """The frames of a SET after a VALUE (STRANGE, LOST) has come above them; ASK - hole when they are not known.

    Frames of plain calls hold it until they are left. -1 when the value has come before in all of them.
    """
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
        elif gathers(auto, pool, frame) != 0:
            if flags_of(auto, pool, frame) & DISTINCT and value > 0:
                before = int(pool[holds + CONTENT])
                while before > 0 and pool[before + 4] != value:
                    before = int(pool[before + 3])
                if before > 0:
                    continue
            holds = int(joined(auto, pool, table, count, work, frame, holds, value))
            holds = int(told(auto, pool, table, count, work, frame, holds, exact))
        else:
            result = int(added(pool, table, count, work, result, frame))
            continue
        result = int(with_frame(pool, table, count, work, result, target, holds, parents))
    return result


@jit
def came_constant(auto, pool, table, count, work, stacks, guard, exact):
    """A SET after a constant has come, where it or what follows can differ; -1, or ASK - hole."""
    value = int(constant(pool, table, count, work, int(auto[auto[GUARD_ITEM] + guard])))
    result = -1
    for i in range(int(pool[stacks]) >> 5):
        frame = int(pool[stacks + 3 + i])
        if pool[frame] & 31 == HOLE:
            return ASK - frame
        if gathers(auto, pool, frame) != 0:
            record = int(pool[frame + 4])
            after = int(joined(auto, pool, table, count, work, frame, record, value))
            if not may_differ(auto, pool, table, count, work, frame, after, 1, False):
                continue
        one = int(term1(pool, table, count, work, SET, frame))
        one = int(delivered(auto, pool, table, count, work, one, value, exact))
        if one >= 0:
            result = one if result < 0 else int(union(pool, table, count, work, result, one))
    return result


@jit
def watching(auto, pool, table, count, work, back, number, stacks, exact):
    """The frames of a watched text that begins, on the scopes of a SET; -1 when none may begin."""
    root = int(auto[auto[WATCH_ROOT] + number])
    cell = int(auto[auto[WATCH_CELL] + number])
    role = int(auto[auto[WATCH_ROLE] + number])
    fresh = cell >= 0
    if not fresh and role == 0:
        value = int(term6(pool, table, count, work, WATCH, root, 0, 0, OFF, UNKEPT, OFF))
        return int(with_frame(pool, table, count, work, -1, back, value, stacks))
    # what may come again is kept from what makes the values around equal alone
    none = 0 if fresh else int(no_texts(pool, table, count, work))
    cell = max(0, cell)
    result = -1
    for i in range(int(pool[stacks]) >> 5):
        frame = int(pool[stacks + 3 + i])
        if scope_of(auto, pool, frame) < 0:
            continue
        seen = int(pool[pool[frame + 4] + 4]) if fresh else none
        text = UNKEPT
        along = OFF
        if role != 0:
            along, seen = beside(auto, pool, table, count, work, frame, number, role, seen, cell)
            if count[TOO_COMPLEX] != 0 or count[OVERFLOW] != 0:
                return stacks
        if seen >= 0:
            seen = int(seen_child(pool, seen, cell))
            if seen >= 0 and pool[seen + 5] != 0:
                continue
            if exact or count[KEEP] != 0 or along >= 0:
                text = 0
        elif seen <= ASK and auto[auto[WATCH_LOOSE] + number] == 2:
            # the text is kept; whether it came is asked when it ends
            text = 0
        elif seen != LOST:
            # each of its bytes matters: on the stacks themselves all is known
            count[TOO_COMPLEX] = 2
            return stacks
        # what is LOST matters only if this text, too, ends within the walk
        value = int(term6(pool, table, count, work, WATCH, root, 0, 0, seen, text, along))
        below = int(term1(pool, table, count, work, SET, frame))
        result = int(with_frame(pool, table, count, work, result, back, value, below))
    return result


@jit
def guarded(auto, pool, table, count, work, stacks, guard, exact):
    """The frames of a SET that a guard lets pass, their records as they are behind it.

    -1 when there are none, ASK - hole when they are not known.
    """
    op = int(auto[auto[GUARD_OP] + guard])
    if op == PEEK or op == ROOM_FOR:
        below = int(hidden(auto, pool, stacks))
        if below <= ASK or op == PEEK:
            return below if below <= ASK else stacks
        number = int(auto[auto[GUARD_ITEM] + guard])
        if auto[auto[WATCH_CELL] + number] >= 0 and auto[auto[WATCH_LOOSE] + number] == 0:
            for i in range(int(pool[stacks]) >> 5):
                frame = int(pool[stacks + 3 + i])
                if scope_of(auto, pool, frame) >= 0 and pool[pool[frame + 4] + 4] == LOST:
                    # whether one is left is known on the stacks themselves
                    count[TOO_COMPLEX] = 2
                    return stacks
        room = int(watching(auto, pool, table, count, work, 0, number, stacks, exact))
        return stacks if room >= 0 else -1
    if op == CONSTANT:
        return came_constant(auto, pool, table, count, work, stacks, guard, exact)
    result = -1
    for i in range(int(pool[stacks]) >> 5):
        frame = int(pool[stacks + 3 + i])
        if pool[frame] & 31 == HOLE:
            return ASK - frame
        scope = int(scope_of(auto, pool, frame))
        if scope < 0:
            continue
        target = int(pool[frame + 3])
        record = int(pool[frame + 4])
        after = record
        if op != NAMED:
            after = int(passed(auto, pool, table, count, work, scope, record, guard))
            if after < 0:
                continue
        if auto[auto[SCOPE_GATHER] + scope] != 0 and op != LOOK:
            after = int(comes(auto, pool, table, count, work, frame, after, guard))
            if after < 0:
                continue
            if op != END and op != MAY:
                after = int(told(auto, pool, table, count, work, frame, after, exact))
        parents = int(pool[frame + 5])
        result = int(with_frame(pool, table, count, work, result, target, after, parents))
    return result


@jit
def spoken(auto, pool, table, count, work, stacks, value, number, exact):
    """The frames of a SET after a watched text that is a name or a value of what they gather.

    ASK - hole when they are not known.
    """
    role = int(auto[auto[WATCH_ROLE] + number])
    text, along = UNKEPT, OFF
    if value >= 0:
        text, along = int(pool[value + 7]), int(pool[value + 8])
    apart = along == OFF or (along >= 0 and pool[along + 3] == 0)
    drops = apart and not exact and count[KEEP] == 0
    if role != NAME_ROLE:
        one = STRANGE if apart else LOST
        if text >= 0 and not drops:
            one = int(term2(pool, table, count, work, VALUE, role, text))
            term2(pool, table, count, work, KNOWN, one, -1 - number)
        return delivered(auto, pool, table, count, work, stacks, one, exact)
    name = NO_BYTES if text == 0 else text
    if text < 0 or drops:
        name = LOST
    result = -1
    for i in range(int(pool[stacks]) >> 5):
        frame = int(pool[stacks + 3 + i])
        if pool[frame] & 31 == HOLE:
            return ASK - frame
        if gathers(auto, pool, frame) != OBJECT_OF:
            continue
        record = int(pool[frame + 4])
        far = 1 if apart or pool[record + IS_APART] != 0 else 0
        record = int(
            filled(pool, table, count, work, record, int(pool[record + CONTENT]), name, far)
        )
        record = int(told(auto, pool, table, count, work, frame, record, exact))
        target, parents = int(pool[frame + 3]), int(pool[frame + 5])
        result = int(with_frame(pool, table, count, work, result, target, record, parents))
    return result


@jit
def recorded(auto, pool, table, count, work, stacks, value, number):
    """The scopes of a SET after a watched text has come; ASK - hole when they are not known."""
    result = -1
    for i in range(int(pool[stacks]) >> 5):
        frame = int(pool[stacks + 3 + i])
        if pool[frame] & 31 == HOLE:
            return ASK - frame
        if scope_of(auto, pool, frame) < 0:
            continue
        record = int(pool[frame + 4])
        # what came is not known, or not which text comes: whoever asks later looks at the stacks
        seen = LOST
        if value >= 0 and pool[value + 7] >= 0 and pool[record + 4] >= 0:
            seen = int(
                planted(
                    auto,
                    pool,
                    table,
                    count,
                    work,
                    int(pool[record + 4]),
                    int(pool[value + 7]),
                    number,
                    int(auto[auto[WATCH_CELL] + number]),
                )
            )
        record = int(changed(pool, table, count, work, record, int(pool[record + 3]), seen, -1))
        target, parents = int(pool[frame + 3]), int(pool[frame + 5])
        result = int(with_frame(pool, table, count, work, result, target, record, parents))
    return result


@jit
def new_record(auto, pool, table, count, work, scope, stacks):
    """The record of a scope in which nothing has come yet, on the frames of a SET."""
    buffer = work[W_BUFFER]
    seen = int(no_texts(pool, table, count, work))
    content = int(fresh_content(auto, pool, table, count, work, scope))
    words = int(auto[auto[SCOPE_WORDS] + scope])
    for i in range(words + BITS - 3):
        work[buffer + i] = 0
    work[buffer + 1] = seen
    work[buffer + CONTENT - 3] = content
    if auto[auto[SCOPE_GATHER] + scope] != 0:
        work[buffer + IS_APART - 3] = begins_apart(auto, pool, stacks)
    return intern(pool, table, count, RECORD, work, buffer, words + BITS - 3)


@jit
def entering(auto, pool, table, count, work, back, scope, stacks):
    """The frame of a scope that begins on a SET, as a SET; -1 where all its values have come there."""
    record = int(new_record(auto, pool, table, count, work, scope, stacks))
    pushed = int(with_frame(pool, table, count, work, -1, back, record, stacks))
    if auto[auto[SCOPE_GATHER] + scope] != 0 and count[OVERFLOW] == 0:
        frame = int(pool[pushed + 3])
        if not may_differ(auto, pool, table, count, work, frame, record, 1, False):
            return -1
    return pushed

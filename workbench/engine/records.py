"""What frames hold beside a return: counts, the texts and members that came, a text that is being read.

Next file to read: ``kernels.py``.
"""

from __future__ import annotations

from workbench.engine.jit import jit
from workbench.engine.layout import (
    ASK,
    EMPTY_TEXT,
    END,
    FAR_BELOW,
    FAR_INSIDE,
    FRAME,
    GONE,
    GUARD_ITEM,
    GUARD_OP,
    GUARD_SET,
    HOLE,
    IS_FRESH,
    IS_KNOWN,
    KEEP,
    LOOK,
    LOOP_MAX,
    LOOP_MIN,
    LOOP_ZONE,
    LOST,
    MAY,
    OFF,
    OTHER,
    RECORD,
    SCOPE_LEAST,
    SCOPE_MOST,
    SCOPE_REACH,
    SCOPE_REQUIRED,
    SCOPE_SITE,
    SCOPE_WORDS,
    SEEN,
    SET,
    SETS,
    SITE_BASE,
    SITE_LOOP,
    TEXT,
    TOO_COMPLEX,
    TREE_BYTE,
    TREE_END,
    TREE_NODE,
    TREE_START,
    UNKEPT,
    W_BUFFER,
    W_CUT,
    WATCH,
    WATCH_CELL,
    WATCH_LOOSE,
    WATCH_ROOT,
    WORD,
)
from workbench.engine.seen import (
    planted,
    seen_child,
    utf8_byte,
)
from workbench.engine.terms import (
    intern,
    term1,
    term2,
    term3,
    term5,
    union,
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
        bits = int(auto[required + w]) & ~int(pool[record + 5 + w])
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
        work[buffer + 2 + item // WORD] |= 1 << (item % WORD)
    return intern(pool, table, count, RECORD, work, buffer, n)


@jit
def excluded(auto, pool, value):
    """Whether a watched text, ended here, would be one that may not come."""
    if value < 0 or pool[value + 4] == IS_KNOWN:
        return value >= 0
    if pool[value + 4] != 0 and pool[value + 4] != IS_FRESH:
        return False
    if pool[value + 3] >= 0 and auto[auto[TREE_END] + pool[value + 3]] != 0:
        return True
    return pool[value + 6] >= 0 and pool[pool[value + 6] + 3] != 0


@jit
def tree_child(auto, node, byte):
    """Child of a node of a tree of texts, or -1."""
    for i in range(auto[auto[TREE_START] + node], auto[auto[TREE_START] + node + 1]):
        if auto[auto[TREE_BYTE] + i] == byte:
            return int(auto[auto[TREE_NODE] + i])
    return -1


@jit
def may_spell(auto, node, number, missing):
    """Whether a child of a node may be what hexadecimal digits spell, ``missing`` bits before their end."""
    for i in range(auto[auto[TREE_START] + node], auto[auto[TREE_START] + node + 1]):
        byte = int(auto[auto[TREE_BYTE] + i])
        if byte >= 0x80 or byte >> missing == number:
            return True
    return False


@jit
def watch_byte(auto, pool, table, count, work, node, seen, text, byte):
    """Where a watched text stands after one more byte of it: node, SEEN (or GONE), TEXT."""
    if node >= 0:
        node = int(tree_child(auto, node, byte))
    if seen >= 0:
        seen = int(seen_child(pool, seen, byte))
        if seen >= 0 and pool[seen + 5] != 0:
            seen = GONE
    if text >= 0:
        text = int(term2(pool, table, count, work, TEXT, text, byte))
    return node, seen, text


@jit
def watch(auto, pool, table, count, work, value, byte, exact):
    """Where a watched text stands after one more byte of its JSON spelling.

    FAR_INSIDE: off the trees; GONE: all texts that begin so have come.

    Phases: 0 between characters (or within one, in UTF-8), 1 after a backslash, 2 to 5 before the digits
    of ``\\u``, 6 after a high surrogate, 7 after its backslash, 8 to 11 before the digits of the low one.
    The automaton sees to it that the spelling is well-formed.
    """
    node = int(pool[value + 3])
    phase = int(pool[value + 4])
    number = int(pool[value + 5])
    seen = int(pool[value + 6])
    text = int(pool[value + 7])
    if text >= 0 and seen > ASK and not exact and count[KEEP] == 0:
        # in a walk, what comes after the text seldom depends on it
        text = UNKEPT
    after = 0
    code = -1
    if phase >= IS_FRESH:
        phase = 0
    if phase == 0:
        if byte == 0x5C:
            after = 1
        else:
            node, seen, text = watch_byte(auto, pool, table, count, work, node, seen, text, byte)
    elif phase == 1:
        code = byte
        if byte == 0x75:
            code = -1
            after = 2
        elif byte == 0x62:
            code = 8
        elif byte == 0x66:
            code = 12
        elif byte == 0x6E:
            code = 10
        elif byte == 0x72:
            code = 13
        elif byte == 0x74:
            code = 9
    elif phase == 6:
        after = 7
    elif phase == 7:
        after = 8
        number = number << 16
    else:
        digit = byte - 0x30 if byte < 0x40 else (byte & 31) + 9
        if phase < 8:
            number = number * 16 + digit
        else:
            number = (number >> 16 << 16) | (((number & 0xFFFF) * 16 + digit) & 0xFFFF)
        if node >= 0 and phase < 5 and not may_spell(auto, node, number, 4 * (5 - phase)):
            node = -1
        after = phase + 1
        if phase == 11:
            code = 0x10000 + (number >> 16 << 10) + ((number & 0xFFFF) - 0xDC00)
        elif phase == 5 and 0xD800 <= number < 0xDC00:
            number -= 0xD800
        elif phase == 5:
            code = number
    if code >= 0:
        after = 0
        i = 0
        part = int(utf8_byte(code, 0))
        while part >= 0:
            node, seen, text = watch_byte(auto, pool, table, count, work, node, seen, text, part)
            if seen == GONE:
                break
            i += 1
            part = int(utf8_byte(code, i))
    if seen == GONE:
        return GONE
    if after == 0 or after == 1 or after == 2:
        number = 0
    if node < 0 and seen < 0 and text < 0 and seen != LOST:
        return FAR_INSIDE
    return int(term5(pool, table, count, work, WATCH, node, after, number, seen, text))


@jit
def with_frame(pool, table, count, work, frames, target, value, parents):
    """A SET (-1: none yet) with one more frame."""
    frame = int(term3(pool, table, count, work, FRAME, target, value, parents))
    one = int(term1(pool, table, count, work, SET, frame))
    return one if frames < 0 else int(union(pool, table, count, work, frames, one))


@jit
def watched(auto, pool, table, count, work, stacks, byte, exact):
    """A SET of watching frames after one more byte; -1 when none of them may go on."""
    n = int(pool[stacks]) >> 5
    moves = False
    for i in range(n):
        if pool[pool[stacks + 3 + i] + 4] >= 0:
            moves = True
    if not moves:
        return stacks
    result = -1
    for i in range(n):
        frame = int(pool[stacks + 3 + i])
        value = int(pool[frame + 4])
        if value >= 0:
            value = int(watch(auto, pool, table, count, work, value, byte, exact))
        if value == GONE:
            continue
        target, parents = int(pool[frame + 3]), int(pool[frame + 5])
        result = int(with_frame(pool, table, count, work, result, target, value, parents))
    return result


@jit
def cut_watched(auto, pool, work, stacks):
    """Mark the symbols that a watched SET tells apart from their neighbours (W_CUT)."""
    cut = int(work[W_CUT])
    for i in range(int(pool[stacks]) >> 5):
        value = int(pool[pool[stacks + 3 + i] + 4])
        if value < 0:
            continue
        phase = int(pool[value + 4])
        if phase == 1:
            for byte in (0x22, 0x2F, 0x5C, 0x62, 0x66, 0x6E, 0x72, 0x74, 0x75):
                work[cut + byte] = 1
                work[cut + byte + 1] = 1
        elif phase != 0 and phase != 6 and phase != 7:
            for digit in range(11):
                work[cut + 0x30 + digit] = 1
            for digit in range(7):
                work[cut + 0x41 + digit] = 1
                work[cut + 0x61 + digit] = 1
        if phase != 0:
            continue
        work[cut + 0x5C] = 1
        work[cut + 0x5D] = 1
        node = int(pool[value + 3])
        if node >= 0:
            for c in range(auto[auto[TREE_START] + node], auto[auto[TREE_START] + node + 1]):
                byte = int(auto[auto[TREE_BYTE] + c])
                work[cut + byte] = 1
                work[cut + byte + 1] = 1
        seen = int(pool[value + 6])
        if seen >= 0:
            for c in range(seen + 6, seen + 3 + (int(pool[seen]) >> 5), 2):
                work[cut + pool[c]] = 1
                work[cut + pool[c] + 1] = 1


@jit
def undecided(auto, pool, stacks):
    """Whether a frame in a SET watches a text of which each byte matters, and what came is not known."""
    for i in range(int(pool[stacks]) >> 5):
        frame = int(pool[stacks + 3 + i])
        if pool[frame] & 31 != FRAME or pool[frame + 3] < SITE_BASE or pool[frame + 4] < 0:
            continue
        loop = int(auto[auto[SITE_LOOP] + pool[frame + 3] - SITE_BASE])
        if loop >= 0 or loop <= SCOPE_SITE or pool[pool[frame + 4] + 6] != LOST:
            continue
        if auto[auto[WATCH_LOOSE] - 1 - loop] == 0:
            return True
    return False


@jit
def keeps_text(pool, count, stacks):
    """Whether a watching frame in a SET keeps the text that is read: then all bytes differ."""
    for i in range(int(pool[stacks]) >> 5):
        frame = int(pool[stacks + 3 + i])
        if pool[frame] & 31 != FRAME or pool[frame + 4] < 0:
            continue
        value = int(pool[frame + 4])
        if pool[value + 7] >= 0 and (count[KEEP] != 0 or pool[value + 6] <= ASK):
            return True
    return False


@jit
def scope_at(auto, target):
    """Whether frames with this return are scopes."""
    return target >= SITE_BASE and auto[auto[SITE_LOOP] + target - SITE_BASE] <= SCOPE_SITE


@jit
def scopes(auto, pool, frame):
    """Whether a stack element is the frame of a scope."""
    return pool[frame] & 31 == FRAME and scope_at(auto, int(pool[frame + 3]))


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
        seen = int(planted(auto, pool, table, count, work, seen, 0, item))
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
            left = int(auto[some + w]) & ~int(pool[record + 5 + w])
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
        if int(pool[record + 5 + item // WORD]) & bit:
            return -1
        if not free and int(auto[required + item // WORD]) & bit == 0:
            return -1
    return int(changed(pool, table, count, work, record, value, seen, item))


@jit
def guarded(auto, pool, table, count, work, stacks, guard):
    """The frames of a SET that a guard lets pass, their records as they are behind it.

    -1 when there are none, ASK - hole when they are not known.
    """
    result = -1
    for i in range(int(pool[stacks]) >> 5):
        frame = int(pool[stacks + 3 + i])
        if pool[frame] & 31 == HOLE:
            return ASK - frame
        if not scopes(auto, pool, frame):
            continue
        target = int(pool[frame + 3])
        record = int(pool[frame + 4])
        scope = SCOPE_SITE - int(auto[auto[SITE_LOOP] + target - SITE_BASE])
        after = int(passed(auto, pool, table, count, work, scope, record, guard))
        if after < 0:
            continue
        parents = int(pool[frame + 5])
        result = int(with_frame(pool, table, count, work, result, target, after, parents))
    return result


@jit
def recorded(auto, pool, table, count, work, stacks, value, number):
    """The scopes of a SET after a watched text has come; ASK - hole when they are not known."""
    result = -1
    for i in range(int(pool[stacks]) >> 5):
        frame = int(pool[stacks + 3 + i])
        if pool[frame] & 31 == HOLE:
            return ASK - frame
        if not scopes(auto, pool, frame):
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
                )
            )
        record = int(changed(pool, table, count, work, record, int(pool[record + 3]), seen, -1))
        target, parents = int(pool[frame + 3]), int(pool[frame + 5])
        result = int(with_frame(pool, table, count, work, result, target, record, parents))
    return result


@jit
def new_record(auto, pool, table, count, work, scope):
    """The record of a scope in which nothing has come yet."""
    buffer = work[W_BUFFER]
    for i in range(3):
        work[buffer + i] = 0
    seen = int(intern(pool, table, count, SEEN, work, buffer, 3))
    words = int(auto[auto[SCOPE_WORDS] + scope])
    work[buffer + 1] = seen
    for w in range(words):
        work[buffer + 2 + w] = 0
    return intern(pool, table, count, RECORD, work, buffer, words + 2)


@jit
def watching(auto, pool, table, count, work, back, number, stacks, exact):
    """The frames of a watched text that begins, on the scopes of a SET; -1 when none may begin."""
    root = int(auto[auto[WATCH_ROOT] + number])
    cell = int(auto[auto[WATCH_CELL] + number])
    if cell < 0:
        value = int(term5(pool, table, count, work, WATCH, root, 0, 0, OFF, UNKEPT))
        return int(with_frame(pool, table, count, work, -1, back, value, stacks))
    result = -1
    for i in range(int(pool[stacks]) >> 5):
        frame = int(pool[stacks + 3 + i])
        if not scopes(auto, pool, frame):
            continue
        seen = int(pool[pool[frame + 4] + 4])
        text = UNKEPT
        if seen >= 0:
            seen = int(seen_child(pool, seen, cell))
            if seen >= 0 and pool[seen + 5] != 0:
                continue
            if exact or count[KEEP] != 0:
                text = 0
        elif seen <= ASK and auto[auto[WATCH_LOOSE] + number] == 2:
            # the text is kept; whether it came is asked when it ends
            text = 0
        elif seen != LOST:
            # each of its bytes matters: on the stacks themselves all is known
            count[TOO_COMPLEX] = 2
            return stacks
        # what is LOST matters only if this text, too, ends within the walk
        value = int(term5(pool, table, count, work, WATCH, root, 0, 0, seen, text))
        below = int(term1(pool, table, count, work, SET, frame))
        result = int(with_frame(pool, table, count, work, result, back, value, below))
    return result

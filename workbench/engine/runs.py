"""The beginning of a mask: what is asked first, and which runs of characters a row takes.

Next file to read: ``walks.py``.
"""

from __future__ import annotations

from workbench.engine.closures import add_thread, begin_closure, end_closure, next_thread
from workbench.engine.expansion import fill, next_row, plain_row, row_of
from workbench.engine.jit import jit
from workbench.engine.layout import (
    ASK,
    BASES,
    DEAD,
    EMPTY_GUARD,
    EMPTY_START,
    EMPTY_TARGET,
    ENDLESS,
    FAR_INSIDE,
    FRAME,
    GUARD_OP,
    HAS_WATCH,
    HOLE,
    LOOK,
    LOOP_MAX,
    MOST_CLOSED,
    N_SYMBOLS,
    OVERFLOW,
    SET,
    SITE_BASE,
    SITE_LOOP,
    STRIDE,
    TOO_COMPLEX,
    UNKNOWN,
    W_CLOSED,
    W_SET,
    W_STATE,
    WHOLE,
)
from workbench.engine.masks import known_questions
from workbench.engine.questions import answer, refine, row_accepts, settle, substitute
from workbench.engine.rows import character_begun, character_on
from workbench.engine.terms import failure, mix, term1, term3


@jit
def name_begins(auto, pool, table, count, work, row, trans):
    """The hole at which a row is about to read a fresh text of a scope, or -1."""
    config = int(trans[row * auto[STRIDE]])
    n = begin_closure(pool, table, count, work, int(pool[config + 3]), int(pool[config + 4]))
    found = -1
    while found < 0:
        k = next_thread(work)
        if k < 0:
            break
        state = int(work[work[W_STATE] + k])
        stacks = int(work[work[W_SET] + k])
        for e in range(auto[auto[EMPTY_START] + state], auto[auto[EMPTY_START] + state + 1]):
            guard = int(auto[auto[EMPTY_GUARD] + e])
            if guard < 0:
                target = int(auto[auto[EMPTY_TARGET] + e])
                n = add_thread(pool, table, count, work, n, target, stacks)
            elif auto[auto[GUARD_OP] + guard] == LOOK:
                for i in range(int(pool[stacks]) >> 5):
                    if pool[pool[stacks + 3 + i]] & 31 == HOLE:
                        found = int(pool[stacks + 3 + i])
    end_closure(work, n)
    return found


@jit
def begin_walk(auto, pool, table, count, trans, work, shape, bases):
    """Prepare a mask walk: the row to start from, with all that its first bytes ask answered.

    Returns ``2 * row + accepting``, FULL, COMPLEX or TANGLED.
    """
    row = 0
    if known_questions(auto, pool, table, count, work, shape, bases):
        row = row_of(auto, pool, table, count, trans, work, shape, bases)
    else:
        row = plain_row(auto, pool, table, count, trans, work, shape)
    if count[OVERFLOW] != 0 or count[TOO_COMPLEX] != 0:
        return failure(count)
    if auto[HAS_WATCH] != 0:
        # where names begin, all that came are seen at once; elsewhere they are asked for one by one
        hole = int(name_begins(auto, pool, table, count, work, row, trans))
        while hole >= 0 and count[OVERFLOW] == 0 and count[TOO_COMPLEX] == 0:
            question = int(term1(pool, table, count, work, WHOLE, hole))
            labels = answer(auto, pool, table, count, work, question, bases)
            if count[OVERFLOW] == 0 and count[TOO_COMPLEX] == 0:
                row = substitute(auto, pool, table, count, trans, work, row, question, labels)
                hole = int(name_begins(auto, pool, table, count, work, row, trans))
        if count[OVERFLOW] != 0 or count[TOO_COMPLEX] != 0:
            return failure(count)
    row = refine(auto, pool, table, count, trans, work, row, bases)
    if count[OVERFLOW] != 0 or count[TOO_COMPLEX] != 0:
        return failure(count)
    ending = row
    while True:
        yes = row_accepts(auto, pool, table, count, trans, work, ending)
        if count[OVERFLOW] != 0 or count[TOO_COMPLEX] != 0:
            return failure(count)
        if yes > ASK:
            break
        labels = answer(auto, pool, table, count, work, ASK - yes, bases)
        if count[OVERFLOW] == 0 and count[TOO_COMPLEX] == 0:
            ending = substitute(auto, pool, table, count, trans, work, ending, ASK - yes, labels)
    return 2 * row + yes


@jit
def cross(auto, pool, table, count, trans, work, row, home, back, left, low, high):
    """Whether from a row all ``left`` continuation bytes, the first in low..high, lead home.

    Neighbouring bytes that lead to one row need one look.
    """
    stride = int(auto[STRIDE])
    known = -9
    for byte in range(low, high + 1):
        target = int(trans[row * stride + 1 + byte])
        if target == UNKNOWN:
            target = next_row(auto, pool, table, count, trans, work, row, byte)
        if target == known:
            continue
        known = target
        if left == 1:
            if target != home and target != back:
                return False
            continue
        if target < 0:
            return False
        known2 = -9
        for byte2 in range(0x80, 0xC0):
            target2 = int(trans[target * stride + 1 + byte2])
            if target2 == UNKNOWN:
                target2 = next_row(auto, pool, table, count, trans, work, target, byte2)
            if target2 == known2:
                continue
            known2 = target2
            if left == 2:
                if target2 != home and target2 != back:
                    return False
                continue
            if target2 < 0:
                return False
            for byte3 in range(0x80, 0xC0):
                target3 = int(trans[target2 * stride + 1 + byte3])
                if target3 == UNKNOWN:
                    target3 = next_row(auto, pool, table, count, trans, work, target2, byte3)
                if target3 != home and target3 != back:
                    return False
    return True


@jit
def wide(auto, pool, table, count, trans, work, row, home, back):
    """Whether every character beyond ASCII, spelled in UTF-8, leads from a row home (or ``back``)."""
    stride = int(auto[STRIDE])
    known = -9
    for lead in range(0xC2, 0xF5):
        left = 1 if lead < 0xE0 else 2 if lead < 0xF0 else 3
        low = 0x80
        high = 0xBF
        if lead == 0xE0:
            low = 0xA0
        elif lead == 0xED:
            high = 0x9F
        elif lead == 0xF0:
            low = 0x90
        elif lead == 0xF4:
            high = 0x8F
        first = int(trans[row * stride + 1 + lead])
        if first == UNKNOWN:
            first = next_row(auto, pool, table, count, trans, work, row, lead)
        if first < 0:
            return False
        # neighbours that lead to one row need one look; those with bounds of their own have theirs
        plain = low == 0x80 and high == 0xBF
        if plain and first == known:
            continue
        known = first if plain and lead not in (0xDF, 0xEF) else -9
        if not cross(auto, pool, table, count, trans, work, first, home, back, left, low, high):
            return False
    return True


@jit
def far_row(auto, pool, table, count, trans, work, row):
    """For a lone thread on top of a count near its bounds: the same far from both, and at the last.

    Returns ``(row far from the bounds, row in the last iteration, iterations that may still begin)``; without
    an upper bound the second is -1, and the third more than any token has. ``(-1, -1, 0)`` for other
    configurations.
    """
    config = int(trans[row * auto[STRIDE]])
    shape = int(pool[config + 3])
    bases = int(pool[config + 4])
    if int(pool[shape]) >> 5 != 2:
        return -1, -1, 0
    stacks = int(pool[bases + 3])
    if int(pool[stacks]) >> 5 != 1:
        return -1, -1, 0
    frame = int(pool[stacks + 3])
    if pool[frame] & 31 != FRAME or pool[frame + 3] < SITE_BASE or pool[frame + 4] < 0:
        return -1, -1, 0
    loop = auto[auto[SITE_LOOP] + pool[frame + 3] - SITE_BASE]
    if loop < 0:
        return -1, -1, 0
    most = int(auto[auto[LOOP_MAX] + loop])
    value = int(pool[frame + 4])
    target = int(pool[frame + 3])
    parents = int(pool[frame + 5])
    far = term3(pool, table, count, work, FRAME, target, FAR_INSIDE, parents)
    far = term1(pool, table, count, work, SET, far)
    far = term1(pool, table, count, work, BASES, far)
    if most < 0:
        return row_of(auto, pool, table, count, trans, work, shape, far), -1, ENDLESS >> 1
    last = term3(pool, table, count, work, FRAME, target, most - 1, parents)
    last = term1(pool, table, count, work, SET, last)
    last = term1(pool, table, count, work, BASES, last)
    return (
        row_of(auto, pool, table, count, trans, work, shape, far),
        row_of(auto, pool, table, count, trans, work, shape, last),
        most - value - 1,
    )


@jit
def run_of(auto, pool, table, count, trans, work, row, bases, found, loops, around_loops):
    """The characters that a row can take one after the other, and how many of them.

    All of them lead from the row to one row, ``home``, and from ``around`` back to it, where ``around`` is
    home with all that it asks answered or, when home stands on top of a count near its bounds, the
    same far from them. In the last iteration of such a count none of them may come (they could by leaving
    it and beginning it anew). ``found`` gets home, around and the most characters (ENDLESS: no bound
    within a token); ``around_loops`` the single bytes of ``around``, ``loops`` those that also lead from the
    row to home, as eight words each. Returns 0 when there is no such run, 1 when there is, 2 when every
    character beyond ASCII belongs to it too. The row must be refined.
    """
    stride = int(auto[STRIDE])
    home = -1
    size = 0
    for probe in (0x65, 0x30, 0x41, 0x20):
        target = int(trans[row * stride + 1 + probe])
        if target < 0 or target == home:
            continue
        n = 0
        for byte in range(128):
            if trans[row * stride + 1 + byte] == target:
                n += 1
        if n > size:
            home = target
            size = n
    for i in range(8):
        loops[i] = 0
        around_loops[i] = 0
    if home < 0:
        return 0
    most = ENDLESS
    around = home
    last = -1
    if home != row:
        inner, final, left = far_row(auto, pool, table, count, trans, work, home)
        if count[OVERFLOW] != 0:
            return 0
        if inner >= 0:
            around = inner
            most = 1 + left
            if final >= 0:
                last = refine(auto, pool, table, count, trans, work, final, bases)
            if count[OVERFLOW] != 0 or count[TOO_COMPLEX] != 0:
                return 0
        around = refine(auto, pool, table, count, trans, work, around, bases)
        if count[OVERFLOW] != 0 or count[TOO_COMPLEX] != 0:
            return 0
    found[0] = home
    found[1] = around
    found[2] = most
    # an unrefined home and its refinement are the same configuration: both count as coming back
    back = home if most == ENDLESS else around
    for byte in range(128):
        cls = int(byte)
        target = int(trans[around * stride + 1 + cls])
        if target != around and target != back:
            continue
        around_loops[byte >> 5] |= 1 << (byte & 31)
        if last >= 0 and trans[last * stride + 1 + cls] != DEAD:
            return 0
        if trans[row * stride + 1 + cls] == home:
            loops[byte >> 5] |= 1 << (byte & 31)
    if not wide(auto, pool, table, count, trans, work, around, around, back):
        return 1
    if last >= 0:
        for lead in range(0xC2, 0xF5):
            if trans[last * stride + 1 + lead] != DEAD:
                return 0
    return 2 if wide(auto, pool, table, count, trans, work, row, home, around) else 1


@jit
def live_symbols(auto, pool, table, count, trans, work, shape, bases, live):
    """Mark the symbols that may come next in ``live`` (uint8, zeroed). Returns 0, FULL, COMPLEX or TANGLED."""
    code = begin_walk(auto, pool, table, count, trans, work, shape, bases)
    if code < 0:
        return code
    row = code >> 1
    for symbol in range(auto[N_SYMBOLS]):
        if next_row(auto, pool, table, count, trans, work, row, symbol) >= 0:
            live[symbol] = 1
        if count[OVERFLOW] != 0 or count[TOO_COMPLEX] != 0:
            return failure(count)
    return 0


@jit
def closed_under(auto, pool, table, count, trans, work, row, bases, slice_loops, beyond, most):
    """Whether a row lives after any run of a slice's characters, up to ``most`` bytes: how many rows it comes to.

    0 when it may die. The rows are left in W_CLOSED, then the same with what they ask answered, then what is to
    come of a character (see :func:`character_on`). FULL, COMPLEX or TANGLED where that cannot be told.
    """
    stride = int(auto[STRIDE])
    rows = int(work[W_CLOSED])
    asked = rows + MOST_CLOSED
    states = asked + MOST_CLOSED
    levels = states + MOST_CLOSED
    # which of them is where, by hash; 0 for none
    places = levels + MOST_CLOSED
    fill(work, places, places + 2 * MOST_CLOSED, 0)
    work[rows] = row
    work[asked] = row
    work[states] = 0
    work[levels] = 0
    work[places + (mix(row, 0) & 2 * MOST_CLOSED - 1)] = 1
    n = 1
    k = 0
    while k < n and work[levels + k] < most:
        here = int(work[asked + k])
        state = int(work[states + k])
        low = 0
        high = 0x7F if beyond == 0 else 0xF4
        if state != 0:
            low = 0x80
            high = 0xBF
        known = known_after = -1
        for byte in range(low, high + 1):
            after = 0
            if state != 0:
                after = int(character_on(state, byte))
                if after < 0:
                    continue
            elif byte < 0x80:
                if (int(slice_loops[byte >> 5]) >> (byte & 31)) & 1 == 0:
                    continue
            elif byte < 0xC2:
                continue
            else:
                after = int(character_begun(byte, beyond))
            following = int(trans[here * stride + 1 + byte])
            if following <= UNKNOWN:
                here = settle(auto, pool, table, count, trans, work, here, byte, bases)
                if count[OVERFLOW] != 0 or count[TOO_COMPLEX] != 0:
                    return failure(count)
                work[asked + k] = here
                following = int(trans[here * stride + 1 + byte])
            if following < 0:
                return 0
            if following == known and after == known_after:
                continue
            known = following
            known_after = after
            place = int(mix(following, after)) & 2 * MOST_CLOSED - 1
            j = int(work[places + place]) - 1
            while j >= 0 and (work[rows + j] != following or work[states + j] != after):
                place = (place + 1) & 2 * MOST_CLOSED - 1
                j = int(work[places + place]) - 1
            if j < 0:
                if n == MOST_CLOSED:
                    return 0
                work[places + place] = n + 1
                work[rows + n] = following
                work[asked + n] = following
                work[states + n] = after
                work[levels + n] = work[levels + k] + 1
                n += 1
        k += 1
    return n


@jit
def prepare(auto, pool, table, count, trans, work, found, loops, around_loops, alive, shape, bases):
    """Begin a mask: the row, what it asks and its run, left in ``found`` and the sets of bytes.

    ``alive`` gets the bytes below 128 that may come first, as four words.

    Returns what :func:`run_of` does, or FULL, COMPLEX or TANGLED. ``found``: home, around, most, row,
    whether the text may end here.
    """
    code = begin_walk(auto, pool, table, count, trans, work, shape, bases)
    if code < 0:
        return code
    row = code >> 1
    found[3] = row
    found[4] = code & 1
    run = run_of(auto, pool, table, count, trans, work, row, bases, found, loops, around_loops)
    code = failure(count)
    if code < 0:
        return code
    at = row * int(auto[STRIDE]) + 1
    for i in range(4):
        word = 0
        for bit in range(32):
            if trans[at + 32 * i + bit] >= 0:
                word |= 1 << bit
        alive[i] = word
    return run

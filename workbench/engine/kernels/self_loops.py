"""The beginning of a mask: what is asked first, and which runs of characters a row takes."""

from __future__ import annotations

from workbench.engine.kernels.closures import add_thread, begin_closure, end_closure, next_thread
from workbench.engine.kernels.constants import (
    ASK,
    BASES,
    DEAD,
    ENDLESS,
    FAR_INSIDE,
    FRAME,
    HOLE,
    LOOK,
    MOST_CLOSED,
    SET,
    SITE_BASE,
    UNKNOWN,
    WHOLE,
)
from workbench.engine.kernels.hash_consing import mix, term1, term3
from workbench.engine.kernels.lazy_dfa import fill, next_row, plain_row, row_of
from workbench.engine.kernels.mask_store import character_begun, character_on
from workbench.engine.kernels.mask_trees import known_questions
from workbench.engine.kernels.signatures import jit
from workbench.engine.kernels.stack_queries import answer, refine, row_accepts, settle, substitute


@jit
def name_begins(ctx, row):
    """The hole at which a row is about to read a fresh text of a scope, or -1."""
    pool = ctx.pool
    config = int(ctx.trans[row * ctx.stride])
    n = begin_closure(ctx, int(pool[config + 3]), int(pool[config + 4]))
    found = -1
    while found < 0:
        k = next_thread(ctx)
        if k < 0:
            break
        state = int(ctx.thread_state[k])
        stacks = int(ctx.thread_stacks[k])
        for e in range(ctx.empty_start[state], ctx.empty_start[state + 1]):
            guard = int(ctx.empty_guard[e])
            if guard < 0:
                target = int(ctx.empty_target[e])
                n = add_thread(ctx, n, target, stacks)
            elif ctx.guard_op[guard] == LOOK:
                for i in range(int(pool[stacks]) >> 5):
                    if pool[pool[stacks + 3 + i]] & 31 == HOLE:
                        found = int(pool[stacks + 3 + i])
    end_closure(ctx, n)
    return found


@jit
def begin_walk(ctx, shape, bases):
    """Prepare a mask walk: the row to start from, with all that its first bytes ask answered.

    Returns ``(row, 1 where the text may end, else 0)``.
    """
    row = 0
    if known_questions(ctx, shape, bases):
        row = row_of(ctx, shape, bases)
    else:
        row = plain_row(ctx, shape)
    if ctx.has_watch != 0:
        # where names begin, all that came are seen at once; elsewhere they are asked for one by one
        hole = int(name_begins(ctx, row))
        while hole >= 0:
            question = int(term1(ctx, WHOLE, hole))
            labels = answer(ctx, question, bases)
            row = substitute(ctx, row, question, labels)
            hole = int(name_begins(ctx, row))
    row = refine(ctx, row, bases)
    ending = row
    while True:
        yes = row_accepts(ctx, ending)
        if yes > ASK:
            break
        labels = answer(ctx, ASK - yes, bases)
        ending = substitute(ctx, ending, ASK - yes, labels)
    return row, yes


@jit
def cross(ctx, row, home, back, left, low, high):
    """Whether from a row all ``left`` continuation bytes, the first in low..high, lead home.

    Neighbouring bytes that lead to one row need one look.
    """
    trans = ctx.trans
    stride = int(ctx.stride)
    known = -9
    for byte in range(low, high + 1):
        target = int(trans[row * stride + 1 + byte])
        if target == UNKNOWN:
            target = next_row(ctx, row, byte)
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
                target2 = next_row(ctx, target, byte2)
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
                    target3 = next_row(ctx, target2, byte3)
                if target3 != home and target3 != back:
                    return False
    return True


@jit
def wide(ctx, row, home, back):
    """Whether every character beyond ASCII, spelled in UTF-8, leads from a row home (or ``back``)."""
    stride = int(ctx.stride)
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
        first = int(ctx.trans[row * stride + 1 + lead])
        if first == UNKNOWN:
            first = next_row(ctx, row, lead)
        if first < 0:
            return False
        # neighbours that lead to one row need one look; those with bounds of their own have theirs
        plain = low == 0x80 and high == 0xBF
        if plain and first == known:
            continue
        known = first if plain and lead not in (0xDF, 0xEF) else -9
        if not cross(ctx, first, home, back, left, low, high):
            return False
    return True


@jit
def far_row(ctx, row):
    """For a lone thread on top of a count near its bounds: the same far from both, and at the last.

    Returns ``(row far from the bounds, row in the last iteration, iterations that may still begin)``; without
    an upper bound the second is -1, and the third more than any token has. ``(-1, -1, 0)`` for other
    configurations.
    """
    pool = ctx.pool
    config = int(ctx.trans[row * ctx.stride])
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
    loop = ctx.site_loop[pool[frame + 3] - SITE_BASE]
    if loop < 0:
        return -1, -1, 0
    most = int(ctx.loop_max[loop])
    value = int(pool[frame + 4])
    target = int(pool[frame + 3])
    parents = int(pool[frame + 5])
    far = term3(ctx, FRAME, target, FAR_INSIDE, parents)
    far = term1(ctx, SET, far)
    far = term1(ctx, BASES, far)
    if most < 0:
        return row_of(ctx, shape, far), -1, ENDLESS >> 1
    last = term3(ctx, FRAME, target, most - 1, parents)
    last = term1(ctx, SET, last)
    last = term1(ctx, BASES, last)
    return (
        row_of(ctx, shape, far),
        row_of(ctx, shape, last),
        most - value - 1,
    )


@jit
def run_of(ctx, row, bases):
    """The characters that a row can take one after the other, and how many of them.

    All of them lead from the row to one row, ``home``, and from ``around`` back to it, where ``around`` is
    home with all that it asks answered or, when home stands on top of a count near its bounds, the
    same far from them. In the last iteration of such a count none of them may come (they could by leaving
    it and beginning it anew). ``found`` gets home, around and the most characters (ENDLESS: no bound
    within a token); ``around_loops`` the single bytes of ``around``, ``loops`` those that also lead from the
    row to home, as eight words each. Returns 0 when there is no such run, 1 when there is, 2 when every
    character beyond ASCII belongs to it too. The row must be refined.
    """
    trans = ctx.trans
    found = ctx.found
    loops = ctx.loops
    around_loops = ctx.around_loops
    stride = int(ctx.stride)
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
        inner, final, left = far_row(ctx, home)
        if inner >= 0:
            around = inner
            most = 1 + left
            if final >= 0:
                last = refine(ctx, final, bases)
        around = refine(ctx, around, bases)
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
    if not wide(ctx, around, around, back):
        return 1
    if last >= 0:
        for lead in range(0xC2, 0xF5):
            if trans[last * stride + 1 + lead] != DEAD:
                return 0
    return 2 if wide(ctx, row, home, around) else 1


@jit
def live_symbols(ctx, shape, bases, live):
    """Mark the symbols that may come next in ``live`` (uint8, zeroed)."""
    row, _ = begin_walk(ctx, shape, bases)
    for symbol in range(ctx.n_symbols):
        if next_row(ctx, row, symbol) >= 0:
            live[symbol] = 1


@jit
def closed_under(ctx, part, row, bases, beyond, most):
    """Whether a row lives after any run of a slice's characters, up to ``most`` bytes: how many rows it comes to.

    0 when it may die. The rows are left in ``closed_row``, then the same with what they ask answered, then what is to
    come of a character (see :func:`character_on`).
    """
    trans = ctx.trans
    stride = int(ctx.stride)
    rows = ctx.closed_row
    asked = ctx.closed_asked
    states = ctx.closed_state
    levels = ctx.closed_level
    # which of them is where, by hash; 0 for none
    places = ctx.closed_place
    fill(places, 0, 2 * MOST_CLOSED, 0)
    rows[0] = row
    asked[0] = row
    states[0] = 0
    levels[0] = 0
    places[(mix(row, 0) & 2 * MOST_CLOSED - 1)] = 1
    n = 1
    k = 0
    while k < n and levels[k] < most:
        here = int(asked[k])
        state = int(states[k])
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
                if (int(part.loops[byte >> 5]) >> (byte & 31)) & 1 == 0:
                    continue
            elif byte < 0xC2:
                continue
            else:
                after = int(character_begun(byte, beyond))
            following = int(trans[here * stride + 1 + byte])
            if following <= UNKNOWN:
                here = settle(ctx, here, byte, bases)
                asked[k] = here
                following = int(trans[here * stride + 1 + byte])
            if following < 0:
                return 0
            if following == known and after == known_after:
                continue
            known = following
            known_after = after
            place = int(mix(following, after)) & 2 * MOST_CLOSED - 1
            j = int(places[place]) - 1
            while j >= 0 and (rows[j] != following or states[j] != after):
                place = (place + 1) & 2 * MOST_CLOSED - 1
                j = int(places[place]) - 1
            if j < 0:
                if n == MOST_CLOSED:
                    return 0
                places[place] = n + 1
                rows[n] = following
                asked[n] = following
                states[n] = after
                levels[n] = levels[k] + 1
                n += 1
        k += 1
    return n


@jit
def prepare(ctx, shape, bases):
    """Begin a mask: the row, what it asks and its run, left in ``found`` and the sets of bytes.

    ``alive`` gets the bytes below 128 that may come first, as four words.

    Returns what :func:`run_of` does. ``found``: home, around, most, row,
    whether the text may end here.
    """
    found = ctx.found
    row, ends = begin_walk(ctx, shape, bases)
    found[3] = row
    found[4] = ends
    run = run_of(ctx, row, bases)
    at = row * int(ctx.stride) + 1
    for i in range(4):
        word = 0
        for bit in range(32):
            if ctx.trans[at + 32 * i + bit] >= 0:
                word |= 1 << bit
        ctx.alive[i] = word
    return run

"""Compiled kernels: configurations, transitions, mask walk, mask tree.

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

from workbench.engine.jit import COMPILED, finished, jit
from workbench.engine.layout import (
    ASK,
    BASES,
    BOTTOM,
    BY_STACKS,
    CALL_ENTRY,
    CALL_ORDER,
    CALL_RETURN,
    CALL_START,
    CONFIG,
    CONSTANT_TAG,
    CONTENT,
    DEAD,
    EDGE_HI,
    EDGE_LO,
    EDGE_START,
    EDGE_TARGET,
    EMPTY_GUARD,
    EMPTY_START,
    EMPTY_TARGET,
    ENDLESS,
    ENTRY_FIRST,
    ENTRY_STATE,
    EXPANDED,
    FAR_BELOW,
    FAR_INSIDE,
    FEW_QUESTIONS,
    FINAL,
    FIRST_WORDS,
    FRAME,
    FULL,
    GUARD_OP,
    HAS_GATHER,
    HAS_WATCH,
    HITS,
    HOLE,
    IS_APART,
    IS_FRESH,
    IS_KNOWN,
    ITEM,
    JUMP,
    KNOWN,
    LABELS,
    LEFT_OPEN,
    LIST,
    LOOK,
    LOOP_ENTRY,
    LOOP_MAX,
    LOOP_MIN,
    LOST,
    MAX_ASKED,
    MEMBER,
    MISS,
    MOST_CHARACTERS,
    MOST_CLOSED,
    MOST_QUESTIONS,
    MOST_STEPS,
    N_ASKED,
    N_MASKS,
    N_SYMBOLS,
    NEED,
    NO_BYTES,
    NODE,
    NOT_KNOWN,
    OFF,
    OUTERMOST,
    OVERFLOW,
    PENDING,
    R_MARK,
    R_SET,
    R_STATE,
    RANKED,
    RECORD,
    REFUSED,
    REVEAL,
    ROOM,
    ROWS,
    SCOPE_FLAGS,
    SCOPE_GATHER,
    SCOPE_NAMES,
    SCOPE_SITE,
    SEEN,
    SET,
    SHAPE,
    SITE_BASE,
    SITE_LOOP,
    SITE_RETURN,
    STEPS,
    STRIDE,
    SUBST,
    TEXT,
    TOO_COMPLEX,
    UNKEPT,
    UNKNOWN,
    UNSAID,
    USED,
    VALUE,
    W_ASKED,
    W_BEGIN,
    W_BUFFER,
    W_CHAIN,
    W_CLOSED,
    W_CUT,
    W_DEPTH,
    W_FOLLOW,
    W_HEAD,
    W_LEFT,
    W_LINK,
    W_LINKS,
    W_LONE,
    W_MARK,
    W_OPEN,
    W_OTHER,
    W_PATH,
    W_QUEUED,
    W_SET,
    W_STACK,
    W_STATE,
    W_TREE,
    W_TREE_SIZE,
    WALKED,
    WATCH,
    WATCH_CELL,
    WATCH_ROLE,
    WATCHED,
    WHOLE,
    WORK,
    WORK_LIMIT,
)
from workbench.engine.records import (
    changed,
    delivered,
    entering,
    guarded,
    record_zone,
    recorded,
    spoken,
    watching,
    zone_of,
)
from workbench.engine.rows import (
    character_begun,
    character_on,
    hash_words,
    is_row,
    pack_row,
    unpack_row,
)
from workbench.engine.seen import (
    came,
)
from workbench.engine.terms import (
    failure,
    find2,
    intern,
    mix,
    term1,
    term2,
    term3,
    term6,
    union,
)
from workbench.engine.texts import (
    cut_watched,
    excluded,
    keeps_text,
    undecided,
    watched,
    with_frame,
)
from workbench.engine.values import (
    filled,
    gathered,
    scope_at,
)


@jit
def frame_label(auto, pool, table, count, work, frame, full):
    """The zone under which a question sees a frame; without the texts that came, unless ``full``."""
    target = int(pool[frame + 3])
    value = int(pool[frame + 4])
    if target < SITE_BASE:
        if value != 0:
            count[TOO_COMPLEX] = 2
        return 0
    loop = int(auto[auto[SITE_LOOP] + target - SITE_BASE])
    if loop >= 0:
        return int(zone_of(auto, target - SITE_BASE, value))
    if loop <= SCOPE_SITE:
        scope = SCOPE_SITE - loop
        zone = int(record_zone(auto, pool, value, scope))
        seen = int(pool[value + 4])
        if not full and auto[auto[SCOPE_NAMES] + scope] != 0 and pool[seen + 4] > 0:
            seen = UNSAID
        if auto[auto[SCOPE_GATHER] + scope] != 0:
            # what came in it is asked of the stacks themselves; an array that is empty is told apart
            content = 0 if pool[value + CONTENT] == 0 else UNSAID
            pending = LOST if pool[value + PENDING] > ITEM else int(pool[value + PENDING])
            apart = int(pool[value + IS_APART])
            value = int(filled(pool, table, count, work, value, content, pending, apart))
        return int(changed(pool, table, count, work, value, zone, seen, -1))
    if value < 0 or pool[value + 7] == UNKEPT:
        return value
    node = int(pool[value + 3])
    seen = int(pool[value + 6])
    along = int(pool[value + 8])
    if node < 0 and seen < 0 and along == OFF:
        return FAR_INSIDE
    return int(
        term6(
            pool,
            table,
            count,
            work,
            WATCH,
            node,
            int(pool[value + 4]),
            int(pool[value + 5]),
            seen,
            UNKEPT,
            along,
        )
    )


@jit
def revealed(auto, pool, table, count, work, stacks, full):
    """REVEAL of a SET without holes: its labels and, per label, the united parents."""
    n = int(pool[stacks]) >> 5
    # the labels found so far lie behind the part of the buffer that union() uses
    base = int(work[W_PATH])
    bottom = 0
    found = 0
    for i in range(n):
        element = int(pool[stacks + 3 + i])
        if pool[element] & 31 == BOTTOM:
            bottom = 1
            continue
        target = int(pool[element + 3])
        zone = int(frame_label(auto, pool, table, count, work, element, full))
        parents = int(pool[element + 5])
        k = 0
        while k < found and not (work[base + 3 * k] == target and work[base + 3 * k + 1] == zone):
            k += 1
        if k < found:
            work[base + 3 * k + 2] = union(
                pool, table, count, work, int(work[base + 3 * k + 2]), parents
            )
        elif found >= MAX_ASKED:
            count[TOO_COMPLEX] = 1
            return 0
        else:
            k = found
            found += 1
            while k > 0 and (
                work[base + 3 * k - 3] > target
                or (work[base + 3 * k - 3] == target and work[base + 3 * k - 2] > zone)
            ):
                work[base + 3 * k] = work[base + 3 * k - 3]
                work[base + 3 * k + 1] = work[base + 3 * k - 2]
                work[base + 3 * k + 2] = work[base + 3 * k - 1]
                k -= 1
            work[base + 3 * k] = target
            work[base + 3 * k + 1] = zone
            work[base + 3 * k + 2] = parents
    buffer = work[W_BUFFER]
    work[buffer] = bottom
    for k in range(found):
        work[buffer + 1 + 2 * k] = work[base + 3 * k]
        work[buffer + 2 + 2 * k] = work[base + 3 * k + 1]
    labels = intern(pool, table, count, LABELS, work, buffer, 2 * found + 1)
    work[buffer] = labels
    for k in range(found):
        work[buffer + 1 + k] = work[base + 3 * k + 2]
    return intern(pool, table, count, REVEAL, work, buffer, found + 1)


@jit
def reveal(auto, pool, table, count, work, stacks):
    """:func:`revealed`, remembered; without the texts that came."""
    known = int(pool[stacks + 1])
    if known >= 0:
        return known
    result = revealed(auto, pool, table, count, work, stacks, False)
    if count[OVERFLOW] == 0 and count[TOO_COMPLEX] == 0:
        pool[stacks + 1] = result
    return result


@jit
def reveal_all(auto, pool, table, count, work, stacks):
    """:func:`revealed`, remembered; with the texts that came."""
    memo = int(term1(pool, table, count, work, WHOLE, stacks))
    if count[OVERFLOW] != 0:
        return 0
    known = int(pool[memo + 1])
    if known >= 0:
        return known
    result = revealed(auto, pool, table, count, work, stacks, True)
    if count[OVERFLOW] == 0 and count[TOO_COMPLEX] == 0:
        pool[memo + 1] = result
    return result


@jit
def add_thread(pool, table, count, work, n, state, stacks):
    """Add a thread to the closure under way, uniting stacks of equal states; returns the new size."""
    mark = work[W_MARK] + state
    k = int(work[mark]) - 1
    if k < 0:
        k = n
        n += 1
        work[mark] = k + 1
        work[work[W_STATE] + k] = state
        work[work[W_SET] + k] = stacks
    else:
        old = int(work[work[W_SET] + k])
        both = union(pool, table, count, work, old, stacks)
        if both == old:
            return n
        work[work[W_SET] + k] = both
    if work[work[W_QUEUED] + k] == 0:
        work[work[W_QUEUED] + k] = 1
        work[work[W_STACK]] += 1
        work[work[W_STACK] + work[work[W_STACK]]] = k
    return n


@jit
def add_result(pool, table, count, work, n, state, stacks):
    """Add a thread to the result under way; returns the new size."""
    mark = work[R_MARK] + state
    k = int(work[mark]) - 1
    if k < 0:
        work[mark] = n + 1
        work[work[R_STATE] + n] = state
        work[work[R_SET] + n] = stacks
        return n + 1
    work[work[R_SET] + k] = union(pool, table, count, work, int(work[work[R_SET] + k]), stacks)
    return n


@jit
def next_thread(work):
    """Number of a thread whose closure is due, or -1."""
    top = int(work[work[W_STACK]])
    if top == 0:
        return -1
    k = int(work[work[W_STACK] + top])
    work[work[W_STACK]] = top - 1
    work[work[W_QUEUED] + k] = 0
    return k


@jit
def flush_rounds(pool, table, count, work, n, state, rounds):
    """Add the thread that begins another iteration, on all the frames collected in W_TREE."""
    if rounds == 0:
        return n
    tree = int(work[W_TREE])
    kept = 0
    for i in range(rounds):
        frame = work[tree + i]
        k = kept
        while k > 0 and work[tree + k - 1] > frame:
            k -= 1
        if k > 0 and work[tree + k - 1] == frame:
            continue
        for j in range(kept, k, -1):
            work[tree + j] = work[tree + j - 1]
        work[tree + k] = frame
        kept += 1
    stacks = intern(pool, table, count, SET, work, tree, kept)
    return add_thread(pool, table, count, work, n, state, stacks)


@jit
def pop_all(auto, pool, table, count, work, n, stacks, cls, exact):
    """Add the threads that go on behind a completed frame, for each frame on top of ``stacks``.

    Texts that wait for an answer are completed only when their quotation mark comes next (``cls``).
    Returns ``(new size of the closure, ASK - hole or 0, whether the empty stack is a member)``.
    """
    tree = int(work[W_TREE])
    rounds = 0
    rounds_state = -1
    bottom = 0
    for i in range(int(pool[stacks]) >> 5):
        frame = int(pool[stacks + 3 + i])
        kind = pool[frame] & 31
        count[WORK] += 1
        if kind == HOLE:
            return n, ASK - frame, bottom
        if kind != FRAME:
            bottom = 1
            continue
        target = int(pool[frame + 3])
        value = int(pool[frame + 4])
        parents = int(pool[frame + 5])
        back = target
        loop = -1
        if target >= SITE_BASE:
            site = target - SITE_BASE
            loop = int(auto[auto[SITE_LOOP] + site])
            back = int(auto[auto[SITE_RETURN] + site])
        if target < SITE_BASE:
            if value != 0:
                parents = int(delivered(auto, pool, table, count, work, parents, value, exact))
        elif loop <= SCOPE_SITE:
            scope = SCOPE_SITE - loop
            gathers_it = auto[auto[SCOPE_GATHER] + scope] != 0
            if gathers_it and auto[auto[SCOPE_FLAGS] + scope] & OUTERMOST == 0:
                one = int(gathered(auto, pool, table, count, work, frame))
                parents = int(delivered(auto, pool, table, count, work, parents, one, exact))
        elif loop < 0:
            number = -1 - loop
            if excluded(auto, pool, value):
                continue
            if value >= 0 and pool[value + 6] == LOST:
                if cls == 0x22 and pool[value + 4] == 0:
                    count[TOO_COMPLEX] = 2
                count[LEFT_OPEN] = 1
                continue
            if value >= 0 and pool[value + 6] <= ASK and pool[value + 4] != IS_FRESH:
                if cls == 0x22 and pool[value + 4] == 0:
                    return n, ASK - int(term1(pool, table, count, work, MEMBER, frame)), bottom
                count[LEFT_OPEN] = 1
                continue
            if auto[auto[WATCH_CELL] + number] >= 0:
                parents = int(recorded(auto, pool, table, count, work, parents, value, number))
            if parents >= 0 and auto[auto[WATCH_ROLE] + number] != 0:
                parents = int(spoken(auto, pool, table, count, work, parents, value, number, exact))
        if parents <= ASK:
            return n, parents, bottom
        if count[OVERFLOW] != 0 or count[TOO_COMPLEX] != 0:
            return n, 0, bottom
        if parents < 0:
            continue
        if loop < 0:
            n = add_thread(pool, table, count, work, n, back, parents)
            continue
        least = int(auto[auto[LOOP_MIN] + loop])
        most = int(auto[auto[LOOP_MAX] + loop])
        can_loop = can_leave = True
        if value == FAR_BELOW:
            can_leave = False
        elif value >= 0:
            value += 1
            can_loop = most < 0 or value < most
            can_leave = value >= least
            if most < 0 and value > least:
                value = least
            if not exact:
                value = int(zone_of(auto, site, value))
        if can_loop:
            state = int(auto[auto[ENTRY_STATE] + auto[auto[LOOP_ENTRY] + loop]])
            if state != rounds_state or rounds >= work[W_TREE_SIZE]:
                n = flush_rounds(pool, table, count, work, n, rounds_state, rounds)
                rounds_state = state
                rounds = 0
            work[tree + rounds] = term3(pool, table, count, work, FRAME, target, value, parents)
            rounds += 1
        if can_leave:
            n = add_thread(pool, table, count, work, n, back, parents)
    n = flush_rounds(pool, table, count, work, n, rounds_state, rounds)
    return n, 0, bottom


@jit
def reads(auto, work, state, cls):
    """Whether a symbol may come next in a state, whatever guards say; also true where it takes long to tell."""
    stack = int(work[W_LEFT])
    work[stack] = state
    n = 1
    steps = 0
    while n > 0:
        n -= 1
        state = int(work[stack + n])
        steps += 1
        if steps > MOST_STEPS or auto[auto[FINAL] + state] != 0:
            return True
        for e in range(auto[auto[EDGE_START] + state], auto[auto[EDGE_START] + state + 1]):
            if auto[auto[EDGE_LO] + e] <= cls <= auto[auto[EDGE_HI] + e]:
                return True
        for e in range(auto[auto[EMPTY_START] + state], auto[auto[EMPTY_START] + state + 1]):
            work[stack + n] = auto[auto[EMPTY_TARGET] + e]
            n += 1
        for c in range(auto[auto[CALL_START] + state], auto[auto[CALL_START] + state + 1]):
            start = int(auto[auto[ENTRY_STATE] + auto[auto[CALL_ENTRY] + c]])
            if start < 0:
                return True
            work[stack + n] = start
            n += 1
        if n > MOST_STEPS:
            return True
    return False


@jit
def decided(auto, count, work, state, cls):
    """Whether a thread that may or may not be in a state matters for a symbol: TOO_COMPLEX is 2 if so.

    For all symbols (-1), those for which it does are marked in W_OPEN.
    """
    count[TOO_COMPLEX] = 0
    if cls >= 0:
        if reads(auto, work, state, cls):
            count[TOO_COMPLEX] = 2
        return
    open_at = int(work[W_OPEN])
    for symbol in range(auto[N_SYMBOLS]):
        if work[open_at + symbol] == 0 and reads(auto, work, state, symbol):
            work[open_at + symbol] = 1
    work[open_at + int(auto[N_SYMBOLS])] = 1


@jit
def push_calls(auto, pool, table, count, work, n, k, cls, exact):
    """Add the threads inside the calls of thread ``k`` that may begin with a symbol (-1: with any)."""
    state = int(work[work[W_STATE] + k])
    stacks = int(work[work[W_SET] + k])
    for c in range(auto[auto[CALL_START] + state], auto[auto[CALL_START] + state + 1]):
        entry = int(auto[auto[CALL_ENTRY] + c])
        if cls >= 0:
            first = auto[auto[ENTRY_FIRST] + entry * auto[FIRST_WORDS] + (cls >> 5)]
            if (first >> (cls & 31)) & 1 == 0:
                continue
        start = int(auto[auto[ENTRY_STATE] + entry])
        if start < 0:
            count[NEED] = entry + 1
            count[OVERFLOW] = 1
            return n
        back = int(auto[auto[CALL_RETURN] + c])
        pushed = stacks
        if back != JUMP:
            loop = 0
            if back >= SITE_BASE:
                loop = int(auto[auto[SITE_LOOP] + back - SITE_BASE])
            if loop <= SCOPE_SITE:
                scope = SCOPE_SITE - loop
                pushed = int(entering(auto, pool, table, count, work, back, scope, stacks))
            elif loop < 0:
                number = -1 - loop
                pushed = int(watching(auto, pool, table, count, work, back, number, stacks, exact))
            else:
                pushed = int(with_frame(pool, table, count, work, -1, back, 0, stacks))
            if count[TOO_COMPLEX] == NOT_KNOWN:
                decided(auto, count, work, start, cls)
                if count[TOO_COMPLEX] == 0:
                    continue
            if count[OVERFLOW] != 0 or count[TOO_COMPLEX] != 0:
                return n
            if pushed < 0:
                continue
        count[WORK] += 1
        n = add_thread(pool, table, count, work, n, start, pushed)
    return n


@jit
def push_all(auto, pool, table, count, work, n, cls, exact):
    """Add the threads inside the calls that may begin with a symbol (-1: any); returns the new size.

    Callers come before what they call (CALL_ORDER, when RANKED), so that a frame is made once, on all the
    stacks below it, and not again for each that is found later.
    """
    queued = work[W_QUEUED]
    states = work[W_STATE]
    stack = int(work[W_STACK])
    work[stack] = 0
    for k in range(n):
        state = work[states + k]
        if auto[auto[CALL_START] + state] < auto[auto[CALL_START] + state + 1]:
            work[queued + k] = 1
            work[stack] += 1
            work[stack + work[stack]] = k
    if work[stack] == 0:
        return n
    if auto[RANKED] == 0:
        while count[OVERFLOW] == 0 and count[TOO_COMPLEX] == 0:
            k = next_thread(work)
            if k < 0:
                break
            state = int(work[states + k])
            for e in range(auto[auto[EMPTY_START] + state], auto[auto[EMPTY_START] + state + 1]):
                target = int(auto[auto[EMPTY_TARGET] + e])
                stacks = int(work[work[W_SET] + k])
                if auto[auto[EMPTY_GUARD] + e] >= 0:
                    guard = int(auto[auto[EMPTY_GUARD] + e])
                    stacks = int(guarded(auto, pool, table, count, work, stacks, guard, exact))
                    if count[TOO_COMPLEX] == NOT_KNOWN:
                        decided(auto, count, work, target, cls)
                    elif stacks <= ASK:
                        # what is asked here can only be told by the stacks
                        count[TOO_COMPLEX] = 2
                    if stacks < 0 or count[TOO_COMPLEX] != 0:
                        continue
                n = add_thread(pool, table, count, work, n, target, stacks)
            n = push_calls(auto, pool, table, count, work, n, k, cls, exact)
        return n
    while count[OVERFLOW] == 0 and count[TOO_COMPLEX] == 0:
        best = -1
        order = 0
        for k in range(n):
            if work[queued + k] != 0:
                rank = auto[auto[CALL_ORDER] + work[states + k]]
                if best < 0 or rank < order:
                    best = k
                    order = rank
        if best < 0:
            break
        work[queued + best] = 0
        n = push_calls(auto, pool, table, count, work, n, best, cls, exact)
        work[stack] = 0
    return n


@jit
def begin_closure(pool, table, count, work, shape, bases):
    """Start a closure with the threads of a configuration; returns its size."""
    work[work[W_STACK]] = 0
    n = 0
    items = int(pool[shape]) >> 5
    for i in range(0, items, 2):
        state = int(pool[shape + 3 + i])
        stacks = int(pool[bases + 3 + pool[shape + 4 + i]])
        n = add_thread(pool, table, count, work, n, state, stacks)
    return n


@jit
def end_closure(work, n):
    """Clear the marks of a closure."""
    for k in range(n):
        work[work[W_MARK] + work[work[W_STATE] + k]] = 0
        work[work[W_QUEUED] + k] = 0


@jit
def close(auto, pool, table, count, work, n, cls, exact):
    """Add the threads behind empty edges and behind completed frames to a closure.

    Returns ``(new size, ASK - hole or 0, whether the empty stack may be completed)``.
    """
    ask = 0
    yes = 0
    while ask == 0:
        k = next_thread(work)
        if k < 0:
            break
        state = int(work[work[W_STATE] + k])
        stacks = int(work[work[W_SET] + k])
        count[WORK] += 1
        if count[WORK] > count[WORK_LIMIT]:
            count[TOO_COMPLEX] = 1
        if count[OVERFLOW] != 0 or count[TOO_COMPLEX] != 0:
            break
        for e in range(auto[auto[EMPTY_START] + state], auto[auto[EMPTY_START] + state + 1]):
            target = int(auto[auto[EMPTY_TARGET] + e])
            below = stacks
            if auto[auto[EMPTY_GUARD] + e] >= 0:
                guard = int(auto[auto[EMPTY_GUARD] + e])
                below = int(guarded(auto, pool, table, count, work, stacks, guard, exact))
                if count[TOO_COMPLEX] == NOT_KNOWN:
                    decided(auto, count, work, target, cls)
                    if count[TOO_COMPLEX] == 0:
                        continue
                if below <= ASK:
                    ask = below
                    break
                if below < 0:
                    continue
            n = add_thread(pool, table, count, work, n, target, below)
        if ask == 0 and auto[auto[FINAL] + state] != 0:
            n, ask, bottom = pop_all(auto, pool, table, count, work, n, stacks, cls, exact)
            yes |= bottom
    if auto[HAS_WATCH] != 0 and ask == 0:
        # the frames that watch must be seen before a byte is taken
        for k in range(n):
            if auto[auto[WATCHED] + work[work[W_STATE] + k]] == 0:
                continue
            stacks = int(work[work[W_SET] + k])
            for i in range(int(pool[stacks]) >> 5):
                element = int(pool[stacks + 3 + i])
                if pool[element] & 31 == HOLE:
                    ask = ASK - element
    return n, ask, yes


@jit
def step(auto, pool, table, count, work, shape, bases, cls, exact):
    """One symbol: the threads that live after it, in ``work``.

    Returns their number (0: dead) or ASK - hole. Nothing is remembered here.
    """
    count[STEPS] += 1
    n = begin_closure(pool, table, count, work, shape, bases)
    n, ask, _ = close(auto, pool, table, count, work, n, cls, exact)
    if ask == 0 and count[OVERFLOW] == 0 and count[TOO_COMPLEX] == 0:
        n = push_all(auto, pool, table, count, work, n, cls, exact)
    m = 0
    if ask == 0 and count[OVERFLOW] == 0 and count[TOO_COMPLEX] == 0:
        for k in range(n):
            state = int(work[work[W_STATE] + k])
            for e in range(auto[auto[EDGE_START] + state], auto[auto[EDGE_START] + state + 1]):
                if auto[auto[EDGE_LO] + e] > cls:
                    break
                if cls <= auto[auto[EDGE_HI] + e]:
                    stacks = int(work[work[W_SET] + k])
                    if auto[HAS_WATCH] != 0 and auto[auto[WATCHED] + state] != 0:
                        if undecided(auto, pool, stacks):
                            count[TOO_COMPLEX] = 2
                            break
                        stacks = int(watched(auto, pool, table, count, work, stacks, cls, exact))
                        if stacks < 0:
                            continue
                    target = int(auto[auto[EDGE_TARGET] + e])
                    m = add_result(pool, table, count, work, m, target, stacks)
        for k in range(m):
            work[work[R_MARK] + work[work[R_STATE] + k]] = 0
    end_closure(work, n)
    if ask != 0:
        return ask
    return m


@jit
def shape_and_bases(pool, table, count, work, m):
    """Intern the threads that step() left: SHAPE and BASES, holes numbered by first use."""
    states = work[R_STATE]
    sets = work[R_SET]
    for i in range(1, m):
        state = work[states + i]
        stacks = work[sets + i]
        k = i
        while k > 0 and work[states + k - 1] > state:
            work[states + k] = work[states + k - 1]
            work[sets + k] = work[sets + k - 1]
            k -= 1
        work[states + k] = state
        work[sets + k] = stacks
    buffer = work[W_BUFFER]
    holes = work[R_MARK]  # all zero outside step(); used as scratch and cleared below
    h = 0
    for i in range(m):
        stacks = work[sets + i]
        k = 0
        while k < h and work[holes + k] != stacks:
            k += 1
        if k == h:
            work[holes + h] = stacks
            h += 1
        work[buffer + 2 * i] = work[states + i]
        work[buffer + 2 * i + 1] = k
    shape = intern(pool, table, count, SHAPE, work, buffer, 2 * m)
    for k in range(h):
        work[buffer + k] = work[holes + k]
        work[holes + k] = 0
    bases = intern(pool, table, count, BASES, work, buffer, h)
    return shape, bases


@jit
def fill(trans, start, stop, value):
    """Set a part of an array to one value."""
    # a slice: indices that may be negative would keep the loop from vectorising
    part = trans[start:stop]
    for i in range(part.size):
        part[i] = value


@jit
def row_of(auto, pool, table, count, trans, work, shape, bases):
    """Row of a configuration over holes, made when it is new."""
    config = term2(pool, table, count, work, CONFIG, shape, bases)
    if count[OVERFLOW] != 0:
        return 0
    row = int(pool[config + 1])
    if row >= 0:
        return row
    row = int(count[ROWS])
    stride = int(auto[STRIDE])
    if (row + 1) * stride > trans.size:
        count[OVERFLOW] = 1
        return 0
    count[ROWS] = row + 1
    pool[config + 1] = row
    trans[row * stride] = config
    fill(trans, row * stride + 1, (row + 1) * stride, UNKNOWN)
    return row


@jit
def plain_row(auto, pool, table, count, trans, work, shape):
    """Row of a shape over holes 0, 1, ..."""
    row = int(pool[shape + 1])
    if row >= 0:
        return row
    top = 0
    for i in range(1, int(pool[shape]) >> 5, 2):
        top = max(top, int(pool[shape + 3 + i]))
    # the sets go behind the buffer that the terms use
    path = work[W_PATH]
    if top + 1 > 3 * MAX_ASKED:
        count[TOO_COMPLEX] = 1
        return 0
    for h in range(top + 1):
        hole = term3(pool, table, count, work, HOLE, -1, h, 0)
        work[path + h] = term1(pool, table, count, work, SET, hole)
    bases = intern(pool, table, count, BASES, work, path, top + 1)
    row = row_of(auto, pool, table, count, trans, work, shape, bases)
    if count[OVERFLOW] == 0:
        pool[shape + 1] = row
    return row


@jit
def link_edges(auto, pool, table, count, work, n):
    """Sort the byte edges of a closure into the segments of the alphabet on which they agree.

    Segment ``i`` begins at symbol W_BEGIN[i]; its edges are a linked list from W_HEAD[i]. Returns the
    number of segments, 0 when the links do not fit.
    """
    symbols = int(auto[N_SYMBOLS])
    head = int(work[W_HEAD])
    link = int(work[W_LINK])
    begin = int(work[W_BEGIN])
    cut = int(work[W_CUT])
    cuts = work[cut : cut + symbols + 1]
    for i in range(cuts.size):
        cuts[i] = 0
    for k in range(n):
        state = int(work[work[W_STATE] + k])
        for e in range(auto[auto[EDGE_START] + state], auto[auto[EDGE_START] + state + 1]):
            cuts[auto[auto[EDGE_LO] + e]] = 1
            cuts[auto[auto[EDGE_HI] + e] + 1] = 1
        if auto[HAS_WATCH] != 0 and auto[auto[WATCHED] + state] != 0:
            cut_watched(auto, pool, work, int(work[work[W_SET] + k]))
    segment = 0
    work[head] = -1
    work[begin] = 0
    for i in range(cuts.size):
        if cuts[i] != 0 and i > 0:
            segment += 1
            work[head + segment] = -1
            work[begin + segment] = i
        cuts[i] = segment
    links = 0
    room = int(work[W_LINKS])
    for k in range(n):
        state = int(work[work[W_STATE] + k])
        stacks = int(work[work[W_SET] + k])
        looks = auto[HAS_WATCH] != 0 and auto[auto[WATCHED] + state] != 0
        if looks and undecided(auto, pool, stacks):
            continue
        for e in range(auto[auto[EDGE_START] + state], auto[auto[EDGE_START] + state + 1]):
            first = int(cuts[auto[auto[EDGE_LO] + e]])
            last = int(cuts[auto[auto[EDGE_HI] + e]])
            target = int(auto[auto[EDGE_TARGET] + e])
            if links + last - first >= room:
                return 0
            for i in range(first, last + 1):
                at = link + 3 * links
                below = stacks
                if looks:
                    byte = int(work[begin + i])
                    below = int(watched(auto, pool, table, count, work, stacks, byte, False))
                    if below < 0:
                        continue
                work[at] = work[head + i]
                work[at + 1] = target
                work[at + 2] = below
                work[head + i] = links
                links += 1
    work[begin + segment + 1] = symbols
    return segment + 1


@jit
def lone_shape(pool, table, count, work, state):
    """The SHAPE of one thread in a state."""
    known = int(work[work[W_LONE] + state])
    if known != 0:
        return known
    buffer = work[W_BUFFER]
    work[buffer] = state
    work[buffer + 1] = 0
    shape = intern(pool, table, count, SHAPE, work, buffer, 2)
    if count[OVERFLOW] == 0:
        work[work[W_LONE] + state] = shape
    return shape


@jit
def alone(auto, pool, table, count, trans, work, target, bases):
    """Row of one thread. Check OVERFLOW after it."""
    shape = lone_shape(pool, table, count, work, target)
    if count[OVERFLOW] != 0:
        return DEAD
    return row_of(auto, pool, table, count, trans, work, shape, bases)


@jit
def expand_one(auto, pool, table, count, trans, work, at, state, stacks):
    """Transitions of a lone thread whose edges do not overlap; False when they do."""
    first = int(auto[auto[EDGE_START] + state])
    last = int(auto[auto[EDGE_START] + state + 1])
    for e in range(first + 1, last):
        if auto[auto[EDGE_LO] + e] <= auto[auto[EDGE_HI] + e - 1]:
            return False
    row = last_target = -1
    bases = term1(pool, table, count, work, BASES, stacks)
    if count[OVERFLOW] != 0:
        return True
    for e in range(first, last):
        target = int(auto[auto[EDGE_TARGET] + e])
        if target != last_target:
            row = int(alone(auto, pool, table, count, trans, work, target, bases))
            if count[OVERFLOW] != 0:
                return True
            last_target = target
        low = at + int(auto[auto[EDGE_LO] + e])
        high = at + int(auto[auto[EDGE_HI] + e])
        for i in range(low, high + 1):
            trans[i] = row
    return True


@jit
def expand_all(auto, pool, table, count, trans, work, row):
    """:func:`expand`, as far as texts that are left open do not matter; returns the size of the closure."""
    count[EXPANDED] += 1
    stride = int(auto[STRIDE])
    symbols = int(auto[N_SYMBOLS])
    config = int(trans[row * stride])
    at = row * stride + 1
    n = begin_closure(pool, table, count, work, int(pool[config + 3]), int(pool[config + 4]))
    n, ask, _ = close(auto, pool, table, count, work, n, -1, False)
    if ask == 0 and count[OVERFLOW] == 0 and count[TOO_COMPLEX] == 0:
        n = push_all(auto, pool, table, count, work, n, -1, False)
    end_closure(work, n)
    if count[OVERFLOW] != 0 or count[TOO_COMPLEX] != 0:
        return n
    if ask != 0:
        fill(trans, at, at + symbols, ask)
        return n
    lone = -1
    for k in range(n):
        state = work[work[W_STATE] + k]
        if auto[auto[EDGE_START] + state] < auto[auto[EDGE_START] + state + 1]:
            if lone >= 0:
                lone = -2
                break
            lone = k
    if lone > -2:
        fill(trans, at, at + symbols, DEAD)
        if lone < 0:
            return n
        state = int(work[work[W_STATE] + lone])
        stacks = int(work[work[W_SET] + lone])
        if auto[HAS_WATCH] != 0 and auto[auto[WATCHED] + state] != 0:
            for i in range(int(pool[stacks]) >> 5):
                if pool[pool[stacks + 3 + i] + 4] >= 0:
                    lone = -2
        if lone >= 0 and expand_one(auto, pool, table, count, trans, work, at, state, stacks):
            if count[OVERFLOW] != 0:
                fill(trans, at, at + symbols, UNKNOWN)
            return n
        fill(trans, at, at + symbols, UNKNOWN)
    if auto[HAS_WATCH] != 0:
        for k in range(n):
            if auto[auto[WATCHED] + work[work[W_STATE] + k]] != 0:
                if keeps_text(pool, count, int(work[work[W_SET] + k])):
                    return n
    segments = link_edges(auto, pool, table, count, work, n)
    if count[OVERFLOW] != 0 or count[TOO_COMPLEX] != 0:
        return n
    head = int(work[W_HEAD])
    link = int(work[W_LINK])
    begin = int(work[W_BEGIN])
    last_target = last_stacks = last_row = last_bases = -1
    for segment in range(segments):
        first = int(work[head + segment])
        result = DEAD
        if first >= 0 and work[link + 3 * first] < 0:
            # one edge: neighbours often lead to the same place
            target = int(work[link + 3 * first + 1])
            stacks = int(work[link + 3 * first + 2])
            if stacks != last_stacks:
                last_bases = int(term1(pool, table, count, work, BASES, stacks))
                last_target = -1
            if target != last_target:
                last_row = int(alone(auto, pool, table, count, trans, work, target, last_bases))
                if count[OVERFLOW] != 0:
                    return n
                last_target = target
                last_stacks = stacks
            result = last_row
        elif first >= 0:
            m = 0
            while first >= 0:
                target = int(work[link + 3 * first + 1])
                stacks = int(work[link + 3 * first + 2])
                m = add_result(pool, table, count, work, m, target, stacks)
                first = int(work[link + 3 * first])
            for k in range(m):
                work[work[R_MARK] + work[work[R_STATE] + k]] = 0
            if count[OVERFLOW] != 0 or count[TOO_COMPLEX] != 0:
                return n
            shape, bases = shape_and_bases(pool, table, count, work, m)
            if count[OVERFLOW] != 0:
                return n
            result = row_of(auto, pool, table, count, trans, work, shape, bases)
            if count[OVERFLOW] != 0:
                return n
        fill(trans, at + int(work[begin + segment]), at + int(work[begin + segment + 1]), result)
    return n


@jit
def expand(auto, pool, table, count, trans, work, row):
    """Fill in all transitions of a row at once; some stay UNKNOWN when there is too much to do at once."""
    count[LEFT_OPEN] = 0
    symbols = int(auto[N_SYMBOLS])
    open_at = int(work[W_OPEN])
    if work[open_at + symbols] != 0:
        fill(work, open_at, open_at + symbols + 1, 0)
    n = expand_all(auto, pool, table, count, trans, work, row)
    if work[open_at + symbols] != 0:
        here = row * int(auto[STRIDE]) + 1
        for symbol in range(symbols + 1):
            if work[open_at + symbol] != 0:
                work[open_at + symbol] = 0
                if symbol < symbols and trans[here + symbol] > ASK:
                    trans[here + symbol] = UNKNOWN
    if count[OVERFLOW] != 0 or count[TOO_COMPLEX] != 0:
        return
    if auto[HAS_WATCH] != 0:
        at = row * int(auto[STRIDE]) + 1
        for k in range(n):
            state = int(work[work[W_STATE] + k])
            if auto[auto[WATCHED] + state] == 0:
                continue
            if undecided(auto, pool, int(work[work[W_SET] + k])):
                for e in range(auto[auto[EDGE_START] + state], auto[auto[EDGE_START] + state + 1]):
                    low = at + int(auto[auto[EDGE_LO] + e])
                    fill(trans, low, at + int(auto[auto[EDGE_HI] + e]) + 1, UNKNOWN)
    if count[LEFT_OPEN] != 0 and trans[row * auto[STRIDE] + 1 + 0x22] > ASK:
        trans[row * auto[STRIDE] + 1 + 0x22] = UNKNOWN


@jit
def next_row(auto, pool, table, count, trans, work, row, cls):
    """Transition of a row: a row, DEAD or ASK - hole; computed when unknown. Check OVERFLOW after it."""
    stride = int(auto[STRIDE])
    known = int(trans[row * stride + 1 + cls])
    if known != UNKNOWN:
        return known
    expand(auto, pool, table, count, trans, work, row)
    if count[OVERFLOW] != 0 or count[TOO_COMPLEX] != 0:
        return DEAD
    known = int(trans[row * stride + 1 + cls])
    if known != UNKNOWN:
        return known
    config = int(trans[row * stride])
    m = step(
        auto, pool, table, count, work, int(pool[config + 3]), int(pool[config + 4]), cls, False
    )
    if count[OVERFLOW] != 0 or count[TOO_COMPLEX] != 0:
        return DEAD
    result = m
    if m == 0:
        result = DEAD
    elif m > 0:
        shape, bases = shape_and_bases(pool, table, count, work, m)
        if count[OVERFLOW] != 0:
            return DEAD
        result = row_of(auto, pool, table, count, trans, work, shape, bases)
        if count[OVERFLOW] != 0:
            return DEAD
    trans[row * stride + 1 + cls] = result
    return result


@jit
def stacks_at(auto, pool, table, count, work, hole, bases):
    """The concrete SET that a hole stands for above the given BASES."""
    path = int(work[W_DEPTH])
    n = 0
    while pool[hole + 3] >= 0:
        work[path + n] = hole
        n += 1
        hole = int(pool[hole + 3])
    stacks = int(pool[bases + 3 + pool[hole + 4]])
    while n > 0:
        n -= 1
        below = int(work[path + n])
        zone = int(pool[below + 5])
        if scope_at(auto, int(pool[below + 4])) >= 0 and pool[zone + 4] >= 0:
            seen = reveal_all(auto, pool, table, count, work, stacks)
        else:
            seen = reveal(auto, pool, table, count, work, stacks)
        if count[OVERFLOW] != 0 or count[TOO_COMPLEX] != 0:
            return stacks
        labels = int(pool[seen + 3])
        k = 0
        while not (
            pool[labels + 4 + 2 * k] == pool[below + 4] and pool[labels + 5 + 2 * k] == zone
        ):
            k += 1
        stacks = int(pool[seen + 4 + k])
    return stacks


@jit
def has_come(auto, pool, table, count, work, frame, bases):
    """LABELS of whether the text of a watching frame of a row is one that came, in the actual stacks."""
    value = int(pool[frame + 4])
    below = ASK - int(pool[value + 6])
    target = int(pool[below + 4])
    zone = int(pool[below + 5])
    stacks = stacks_at(auto, pool, table, count, work, int(pool[below + 3]), bases)
    if count[OVERFLOW] != 0 or count[TOO_COMPLEX] != 0:
        return 0
    site = int(pool[frame + 3]) - SITE_BASE
    cell = int(auto[auto[WATCH_CELL] - 1 - auto[auto[SITE_LOOP] + site]])
    found = -1
    for i in range(int(pool[stacks]) >> 5):
        one = int(pool[stacks + 3 + i])
        if pool[one] & 31 != FRAME or pool[one + 3] != target:
            continue
        if frame_label(auto, pool, table, count, work, one, False) != zone:
            continue
        seen = int(pool[pool[one + 4] + 4])
        yes = int(came(auto, pool, work, seen, int(pool[value + 7]), cell))
        if yes < 0 or (found >= 0 and yes != found):
            count[TOO_COMPLEX] = 2
            return 0
        found = yes
    return int(term1(pool, table, count, work, LABELS, max(0, found)))


@jit
def labels_of(auto, pool, table, count, work, question, bases):
    """What a question is answered with: a hole, WHOLE of one, or MEMBER. Check the flags after it."""
    kind = pool[question] & 31
    if kind == MEMBER:
        return has_come(auto, pool, table, count, work, int(pool[question + 3]), bases)
    if kind == WHOLE:
        stacks = stacks_at(auto, pool, table, count, work, int(pool[question + 3]), bases)
        if count[OVERFLOW] != 0 or count[TOO_COMPLEX] != 0:
            return 0
        return int(pool[reveal_all(auto, pool, table, count, work, stacks) + 3])
    stacks = stacks_at(auto, pool, table, count, work, question, bases)
    if count[OVERFLOW] != 0 or count[TOO_COMPLEX] != 0:
        return 0
    return int(pool[reveal(auto, pool, table, count, work, stacks) + 3])


@jit
def answer(auto, pool, table, count, work, hole, bases):
    """LABELS that answer a question, recorded among the questions of this walk."""
    asked = work[W_ASKED]
    for k in range(count[N_ASKED]):
        if work[asked + 2 * k] == hole:
            return int(work[asked + 2 * k + 1])
    labels = int(labels_of(auto, pool, table, count, work, hole, bases))
    if count[OVERFLOW] != 0 or count[TOO_COMPLEX] != 0:
        return 0
    if count[N_ASKED] >= MOST_QUESTIONS:
        count[TOO_COMPLEX] = 2
        return 0
    k = int(count[N_ASKED])
    work[asked + 2 * k] = hole
    work[asked + 2 * k + 1] = labels
    count[N_ASKED] = k + 1
    return labels


@jit
def rewrite(pool, table, count, work, top, hole, frames, visited):
    """Replace a hole by a SET throughout a SET and the frames below it.

    Leaves the result in the second note of every SET and FRAME met; these are listed, for clearing the
    notes, in W_TREE from ``visited`` on. Returns the new length of the list.
    """
    tree = int(work[W_TREE])
    size = int(work[W_TREE_SIZE])
    # the list grows from the front of the scratch space, the stack of terms to do from its end
    depth = 1
    work[tree + size - 1] = top
    while depth > 0:
        term = int(work[tree + size - depth])
        if pool[term + 2] >= 0:
            depth -= 1
            continue
        if visited + depth + (int(pool[term]) >> 5) + 2 > size:
            count[TOO_COMPLEX] = 1
            return visited
        ready = True
        if pool[term] & 31 == FRAME:
            parents = int(pool[term + 5])
            if pool[parents + 2] < 0:
                depth += 1
                work[tree + size - depth] = parents
                continue
            result = term
            if pool[parents + 2] != parents:
                target = int(pool[term + 3])
                value = int(pool[term + 4])
                result = term3(
                    pool, table, count, work, FRAME, target, value, int(pool[parents + 2])
                )
        else:
            n = int(pool[term]) >> 5
            changed = False
            for i in range(n):
                element = int(pool[term + 3 + i])
                if element == hole:
                    changed = True
                elif pool[element] & 31 == FRAME:
                    if pool[element + 2] < 0:
                        depth += 1
                        work[tree + size - depth] = element
                        ready = False
                    elif pool[element + 2] != element:
                        changed = True
            if not ready:
                continue
            result = term
            if changed:
                result = -1
                for i in range(n):
                    element = int(pool[term + 3 + i])
                    one = frames
                    if element != hole:
                        if pool[element] & 31 == FRAME:
                            element = int(pool[element + 2])
                        one = term1(pool, table, count, work, SET, element)
                    result = one if result < 0 else union(pool, table, count, work, result, one)
        if count[OVERFLOW] != 0 or count[TOO_COMPLEX] != 0:
            return visited
        pool[term + 2] = result
        work[tree + visited] = term
        visited += 1
        depth -= 1
    return visited


@jit
def substitute(auto, pool, table, count, trans, work, row, hole, labels):
    """The row in which a hole is replaced by the frames that the labels name.

    For other questions: WHOLE asks about a hole, and what MEMBER asks is noted in the frame that asked.
    """
    memo = term3(pool, table, count, work, SUBST, row, hole, labels)
    if count[OVERFLOW] != 0:
        return 0
    if pool[memo + 1] >= 0:
        return int(pool[memo + 1])
    buffer = work[W_BUFFER]
    frames = 0
    first = True
    member = pool[hole] & 31 == MEMBER
    if pool[hole] & 31 != HOLE:
        hole = int(pool[hole + 3])
    if member:
        value = int(pool[hole + 4])
        phase = IS_FRESH if pool[labels + 3] == 0 else IS_KNOWN
        value = int(
            term6(
                pool,
                table,
                count,
                work,
                WATCH,
                int(pool[value + 3]),
                phase,
                0,
                int(pool[value + 6]),
                int(pool[value + 7]),
                int(pool[value + 8]),
            )
        )
        frame = term3(
            pool, table, count, work, FRAME, int(pool[hole + 3]), value, int(pool[hole + 5])
        )
        frames = term1(pool, table, count, work, SET, frame)
    elif pool[labels + 3] != 0:
        bottom = intern(pool, table, count, BOTTOM, work, buffer, 0)
        frames = term1(pool, table, count, work, SET, bottom)
        first = False
    for k in range(1, int(pool[labels]) >> 5, 2):
        target = int(pool[labels + 3 + k])
        zone = int(pool[labels + 4 + k])
        below = term3(pool, table, count, work, HOLE, hole, target, zone)
        parents = term1(pool, table, count, work, SET, below)
        if scope_at(auto, target) >= 0 and pool[zone + 4] == UNSAID:
            number = int(pool[zone + 3])
            zone = int(changed(pool, table, count, work, zone, number, ASK - below, -1))
        frame = term3(pool, table, count, work, FRAME, target, zone, parents)
        one = term1(pool, table, count, work, SET, frame)
        frames = one if first else union(pool, table, count, work, frames, one)
        first = False
    config = int(trans[row * auto[STRIDE]])
    shape = int(pool[config + 3])
    bases = int(pool[config + 4])
    m = 0
    visited = 0
    for i in range(0, int(pool[shape]) >> 5, 2):
        stacks = int(pool[bases + 3 + pool[shape + 4 + i]])
        visited = rewrite(pool, table, count, work, stacks, hole, frames, visited)
        work[work[R_STATE] + m] = pool[shape + 3 + i]
        work[work[R_SET] + m] = pool[stacks + 2] if pool[stacks + 2] >= 0 else stacks
        m += 1
    tree = int(work[W_TREE])
    for i in range(visited):
        pool[work[tree + i] + 2] = -1
    if count[OVERFLOW] != 0:
        return 0
    new_shape, new_bases = shape_and_bases(pool, table, count, work, m)
    if count[OVERFLOW] != 0:
        return 0
    result = row_of(auto, pool, table, count, trans, work, new_shape, new_bases)
    if count[OVERFLOW] == 0:
        pool[memo + 1] = result
    return result


@jit
def accepts(auto, pool, table, count, work, shape, bases, exact):
    """Whether a configuration may end here: 1, 0 or ASK - hole."""
    n = begin_closure(pool, table, count, work, shape, bases)
    n, ask, yes = close(auto, pool, table, count, work, n, -1, exact)
    end_closure(work, n)
    if yes:
        return 1
    return ask


@jit
def row_accepts(auto, pool, table, count, trans, work, row):
    """:func:`accepts` of a row, remembered with its configuration."""
    config = int(trans[row * auto[STRIDE]])
    known = int(pool[config + 2])
    if known != -1:
        return known
    known = accepts(
        auto, pool, table, count, work, int(pool[config + 3]), int(pool[config + 4]), False
    )
    if count[OVERFLOW] == 0 and count[TOO_COMPLEX] == 0:
        pool[config + 2] = known
    return known


@jit
def stored_row(auto, pool, table, count, work, shape, bases):
    """The stored mask of a sequence's situation; MISS when there is none yet."""
    node = int(pool[shape + 2])
    while node >= 0:
        row = int(pool[node + 2])
        if row >= 0:
            return row
        hole = int(pool[node + 1])
        if hole == BY_STACKS:
            node = find2(pool, table, CONFIG, shape, bases)
            if node >= 0:
                node = find2(pool, table, NODE, node, BY_STACKS)
            if node < 0 or pool[node + 2] < 0:
                return MISS
            continue
        if hole < 0:
            return MISS
        labels = int(labels_of(auto, pool, table, count, work, hole, bases))
        if count[OVERFLOW] != 0 or count[TOO_COMPLEX] != 0:
            return MISS
        node = find2(pool, table, NODE, node, labels)
    return MISS


@jit
def lookup(auto, pool, table, count, work, rows_at, rows, recent, shape, bases, out):
    """Copy the stored mask of a sequence's situation to ``out``; MISS when there is none yet.

    What many questions tell apart is found in ``recent``, (position, stored mask) by the position's hash.
    """
    position = shape << 32 | bases
    slot = 2 * (((position ^ shape * 0x2545F491) >> 2) & (recent.size >> 1) - 1)
    if recent[slot] == position:
        row = recent[slot + 1]
    else:
        row = int(stored_row(auto, pool, table, count, work, shape, bases))
        if row < 0:
            return MISS
        recent[slot] = position
        recent[slot + 1] = row
    unpack_row(rows_at, rows, row, out)
    count[HITS] += 1
    return 0


@jit
def root_node(pool, table, count, work, shape):
    """Root of a shape's mask tree, made when it is missing."""
    node = int(pool[shape + 2])
    if node < 0:
        node = term2(pool, table, count, work, NODE, shape, -1)
        if count[OVERFLOW] == 0:
            pool[shape + 2] = node
    return node


@jit
def store(pool, table, count, work, shape, bases, row):
    """Put a mask row into the tree of a shape, under the questions asked or under its stacks."""
    node = root_node(pool, table, count, work, shape)
    if count[OVERFLOW] != 0:
        return
    asked = work[W_ASKED]
    for k in range(count[N_ASKED] + 1):
        if pool[node + 1] == BY_STACKS:
            config = term2(pool, table, count, work, CONFIG, shape, bases)
            node = term2(pool, table, count, work, NODE, config, BY_STACKS)
            break
        if k == count[N_ASKED]:
            break
        pool[node + 1] = work[asked + 2 * k]
        node = term2(pool, table, count, work, NODE, node, int(work[asked + 2 * k + 1]))
        if count[OVERFLOW] != 0:
            return
    if count[OVERFLOW] == 0:
        pool[node + 2] = row


@jit
def tangled_node(auto, pool, table, count, work, shape):
    """The node of a shape's mask tree from which on masks are to be stored by their stacks, made when missing.

    It is the root, but behind the first answers where values gather: most of them are apart from others.
    """
    node = root_node(pool, table, count, work, shape)
    asked = work[W_ASKED]
    n = min(int(count[N_ASKED]), FEW_QUESTIONS) if auto[HAS_GATHER] != 0 else 0
    for k in range(n):
        if count[OVERFLOW] != 0 or pool[node + 1] == BY_STACKS:
            break
        pool[node + 1] = work[asked + 2 * k]
        node = term2(pool, table, count, work, NODE, node, int(work[asked + 2 * k + 1]))
    return node


@jit
def known_questions(auto, pool, table, count, work, shape, bases):
    """Ask again what stored masks of the shape asked, so that the tree keeps one order of questions.

    Returns whether they are stored by their stacks after these answers.
    """
    count[N_ASKED] = 0
    node = int(pool[shape + 2])
    while node >= 0:
        hole = int(pool[node + 1])
        if hole < 0:
            return hole == BY_STACKS
        labels = answer(auto, pool, table, count, work, hole, bases)
        if count[OVERFLOW] != 0 or count[TOO_COMPLEX] != 0:
            return False
        node = find2(pool, table, NODE, node, labels)
    return False


@jit
def settle(auto, pool, table, count, trans, work, row, cls, bases):
    """Answer what a transition asks until it does not: the refined row. Check the flags after it."""
    while True:
        following = next_row(auto, pool, table, count, trans, work, row, cls)
        if count[OVERFLOW] != 0 or count[TOO_COMPLEX] != 0 or following > ASK:
            return row
        hole = ASK - following
        labels = answer(auto, pool, table, count, work, hole, bases)
        if count[OVERFLOW] != 0 or count[TOO_COMPLEX] != 0:
            return row
        row = substitute(auto, pool, table, count, trans, work, row, hole, labels)
        if count[OVERFLOW] != 0 or count[TOO_COMPLEX] != 0:
            return row


@jit
def refine(auto, pool, table, count, trans, work, row, bases):
    """Answer all that a row asks before its first byte: the refined row. Check the flags after it."""
    return settle(auto, pool, table, count, trans, work, row, 0, bases)


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
def walk(
    auto, pool, table, count, trans, work, bytes_, depths, skips, tokens, start, stop, bases, out
):
    """Set the bits of the tokens that a sequence may take next, among the nodes start..stop of a trie.

    The row before the first node is the caller's to put into its depth's slot (W_DEPTH). ``out`` is not
    cleared. Returns 0, FULL, COMPLEX or TANGLED; on FULL grow the arena and begin again.
    """
    stride = int(auto[STRIDE])
    rows = int(work[W_DEPTH]) + MAX_ASKED
    i = start
    visited = 0
    while i < stop:
        visited += 1
        depth = rows + int(depths[i])
        current = int(work[depth])
        cls = int(bytes_[i])
        following = int(trans[current * stride + 1 + cls])
        if following <= UNKNOWN:
            current = settle(auto, pool, table, count, trans, work, current, cls, bases)
            if count[OVERFLOW] != 0 or count[TOO_COMPLEX] != 0:
                return failure(count)
            work[depth] = current
            following = int(trans[current * stride + 1 + cls])
        if following < 0:
            i = int(skips[i])
            continue
        token = int(tokens[i])
        if token >= 0:
            out[token >> 5] |= 1 << (token & 31)
        work[depth + 1] = following
        i += 1
    count[WALKED] += visited
    return 0


@jit
def walk_exits(
    auto,
    pool,
    table,
    count,
    trans,
    work,
    bytes_,
    depths,
    skips,
    tokens,
    exits,
    first,
    stop,
    loops,
    beyond,
    bases,
    out,
):
    """:func:`walk` what lies below some exits of a slice, all with the same byte.

    W_FOLLOW holds the row (or DEAD) behind that byte after 0, 1, 2, ... characters.
    """
    stride = int(auto[STRIDE])
    rows = int(work[W_DEPTH]) + MAX_ASKED
    follow = int(work[W_FOLLOW])
    visited = 0
    for e in range(first, stop):
        following = int(work[follow + exits[3 * e + 1]])
        if following < 0:
            continue
        byte = int(exits[3 * e + 2])
        if byte < 128:
            if (loops[byte >> 5] >> (byte & 31)) & 1 == 0:
                continue
        elif beyond == 0 or byte < 0xC2 or byte > 0xF4:
            continue
        i = int(exits[3 * e])
        token = int(tokens[i])
        if token >= 0:
            out[token >> 5] |= 1 << (token & 31)
        end = int(skips[i])
        work[rows + int(depths[i]) + 1] = following
        i += 1
        # as in walk(): a call for each of thousands of exits would cost more than the walk
        while i < end:
            visited += 1
            depth = rows + int(depths[i])
            current = int(work[depth])
            cls = int(bytes_[i])
            following = int(trans[current * stride + 1 + cls])
            if following <= UNKNOWN:
                current = settle(auto, pool, table, count, trans, work, current, cls, bases)
                if count[OVERFLOW] != 0 or count[TOO_COMPLEX] != 0:
                    return failure(count)
                work[depth] = current
                following = int(trans[current * stride + 1 + cls])
            if following < 0:
                i = int(skips[i])
                continue
            token = int(tokens[i])
            if token >= 0:
                out[token >> 5] |= 1 << (token & 31)
            work[depth + 1] = following
            i += 1
    count[WALKED] += visited + stop - first
    return 0


@jit
def walk_difference(
    auto,
    pool,
    table,
    count,
    trans,
    work,
    bytes_,
    depths,
    skips,
    tokens,
    row,
    other,
    home,
    bases,
    out,
):
    """Turn the mask of the row ``other`` into that of ``row``, looking only where they lead apart.

    ``home`` and ``other`` count as one row: the second is the first with what it asks answered.
    """
    stride = int(auto[STRIDE])
    rows = int(work[W_DEPTH]) + MAX_ASKED
    others = int(work[W_OTHER])
    work[rows] = row
    work[others] = other
    i = 0
    visited = 0
    while i < bytes_.size:
        visited += 1
        depth = int(depths[i])
        byte = int(bytes_[i])
        here = int(work[rows + depth])
        there = int(work[others + depth])
        following = int(trans[here * stride + 1 + byte])
        if following <= UNKNOWN:
            here = settle(auto, pool, table, count, trans, work, here, byte, bases)
            if count[OVERFLOW] != 0 or count[TOO_COMPLEX] != 0:
                return failure(count)
            work[rows + depth] = here
            following = int(trans[here * stride + 1 + byte])
        known = int(trans[there * stride + 1 + byte])
        if known <= UNKNOWN:
            there = settle(auto, pool, table, count, trans, work, there, byte, bases)
            if count[OVERFLOW] != 0 or count[TOO_COMPLEX] != 0:
                return failure(count)
            work[others + depth] = there
            known = int(trans[there * stride + 1 + byte])
        if following == home:
            following = other
        if known == home:
            known = other
        stop = int(skips[i])
        if following == known:
            i = stop
            continue
        if following < 0 and depth == 0:
            # the caller has left out what begins so
            i = stop
            continue
        if following < 0:
            for j in range(i, stop):
                token = int(tokens[j])
                if token >= 0:
                    out[token >> 5] = int(out[token >> 5]) & ~(1 << (token & 31)) & 0xFFFFFFFF
            i = stop
            continue
        token = int(tokens[i])
        if token >= 0:
            out[token >> 5] |= 1 << (token & 31)
        work[rows + depth + 1] = following
        if known < 0:
            code = walk(
                auto,
                pool,
                table,
                count,
                trans,
                work,
                bytes_,
                depths,
                skips,
                tokens,
                i + 1,
                stop,
                bases,
                out,
            )
            if code < 0:
                return code
            i = stop
            continue
        work[others + depth + 1] = known
        i += 1
    count[WALKED] += visited
    return 0


@jit
def in_run(byte, loops, beyond):
    """Whether a byte begins a character of a run."""
    if byte < 128:
        return (int(loops[byte >> 5]) >> (byte & 31)) & 1 != 0
    return beyond != 0 and 0xC2 <= byte <= 0xF4


@jit
def read_on(auto, pool, table, count, trans, work, blob, start, stop, row, bases):
    """The row after some bytes, or DEAD. Check the flags after it."""
    stride = int(auto[STRIDE])
    for i in range(start, stop):
        byte = int(blob[i])
        following = int(trans[row * stride + 1 + byte])
        if following <= UNKNOWN:
            row = settle(auto, pool, table, count, trans, work, row, byte, bases)
            if count[OVERFLOW] != 0 or count[TOO_COMPLEX] != 0:
                return DEAD
            following = int(trans[row * stride + 1 + byte])
        if following < 0:
            return DEAD
        row = following
    return row


@jit
def walk_below(
    auto,
    pool,
    table,
    count,
    trans,
    work,
    bytes_,
    depths,
    skips,
    tokens,
    blob,
    offsets,
    row,
    node,
    token,
    bases,
    out,
):
    """:func:`walk` a node and what lies below it, reading the bytes before it, as ``token`` has them, first."""
    start = int(offsets[token])
    depth = int(depths[node])
    following = read_on(
        auto, pool, table, count, trans, work, blob, start, start + depth, row, bases
    )
    if count[OVERFLOW] != 0 or count[TOO_COMPLEX] != 0:
        return failure(count)
    if following < 0:
        return 0
    work[work[W_DEPTH] + MAX_ASKED + depth] = following
    stop = int(skips[node])
    return walk(
        auto,
        pool,
        table,
        count,
        trans,
        work,
        bytes_,
        depths,
        skips,
        tokens,
        node,
        stop,
        bases,
        out,
    )


@jit
def walk_run(
    auto,
    pool,
    table,
    count,
    trans,
    work,
    bytes_,
    depths,
    skips,
    tokens,
    exits,
    exits_at,
    inner,
    inner_at,
    leaves,
    leaves_at,
    odd,
    lengths,
    blob,
    offsets,
    row,
    first,
    found,
    loops,
    slice_loops,
    beyond,
    bases,
    out,
):
    """Set the bits of the allowed tokens for a row with a run, given the slice of its characters.

    ``out`` holds the tokens inside the slice with as many characters as the run may have. What remains:
    tokens whose first character is none of the run's are walked (and unset before, when they are inside
    the slice); all others leave the characters at one of the slice's exits, so it is enough to walk
    what lies below the exits whose byte may come there. When all of the slice's characters belong to
    the run and have no bound, the tokens that end with an exit's byte (``leaves``) need no look, and only
    the other exits (``inner``) are walked. What a row ``first`` cannot begin with is left out.
    """
    stride = int(auto[STRIDE])
    rows = int(work[W_DEPTH]) + MAX_ASKED
    around = int(found[1])
    most = int(found[2])
    whole = most == ENDLESS
    for i in range(8):
        if loops[i] != slice_loops[i]:
            whole = False
    node = 0
    while node < bytes_.size:
        byte = int(bytes_[node])
        stop = int(skips[node])
        if not in_run(byte, loops, beyond):
            if in_run(byte, slice_loops, beyond):
                for i in range(node, stop):
                    if lengths[i] >= 0:
                        token = int(tokens[i])
                        out[token >> 5] = int(out[token >> 5]) & ~(1 << (token & 31)) & 0xFFFFFFFF
            if trans[row * stride + 1 + byte] != DEAD and trans[first * stride + 1 + byte] != DEAD:
                work[rows] = row
                code = walk(
                    auto,
                    pool,
                    table,
                    count,
                    trans,
                    work,
                    bytes_,
                    depths,
                    skips,
                    tokens,
                    node,
                    stop,
                    bases,
                    out,
                )
                if code < 0:
                    return code
        node = stop
    # rows after 1, 2, ... characters of the run, as far as they are told apart
    chain = int(work[W_CHAIN])
    follow = int(work[W_FOLLOW])
    known = 0
    steady = False
    if most != ENDLESS:
        probe = 0
        while not in_run(probe, loops, 0) and probe < 127:
            probe += 1
        row_then = row
        before = -1  # the row one character ago
        while known < most and known < MOST_CHARACTERS and row_then >= 0 and row_then != before:
            before = row_then
            row_then = settle(auto, pool, table, count, trans, work, row_then, probe, bases)
            if count[OVERFLOW] != 0 or count[TOO_COMPLEX] != 0:
                return failure(count)
            work[chain + known] = row_then
            row_then = int(trans[row_then * stride + 1 + probe])
            known += 1
        steady = row_then == before
        if row_then >= 0 and not steady:
            work[chain + known] = row_then
            known += 1
    for byte in range(256):
        begin = int(exits_at[byte])
        stop = int(exits_at[byte + 1])
        if begin == stop:
            continue
        endless = int(trans[around * stride + 1 + byte])
        if endless == UNKNOWN:
            endless = int(next_row(auto, pool, table, count, trans, work, around, byte))
            if count[OVERFLOW] != 0 or count[TOO_COMPLEX] != 0:
                return failure(count)
        if endless < 0:
            continue
        if whole:
            for i in range(leaves_at[byte], leaves_at[byte + 1]):
                token = int(leaves[i])
                out[token >> 5] |= 1 << (token & 31)
            begin = int(inner_at[byte])
            stop = int(inner_at[byte + 1])
            fill(work, follow, follow + MOST_CHARACTERS + 1, endless)
        elif most == ENDLESS:
            fill(work, follow, follow + MOST_CHARACTERS + 1, endless)
        else:
            fill(work, follow, follow + MOST_CHARACTERS + 1, DEAD)
            for k in range(1, known):
                then = settle(
                    auto, pool, table, count, trans, work, int(work[chain + k]), byte, bases
                )
                if count[OVERFLOW] != 0 or count[TOO_COMPLEX] != 0:
                    return failure(count)
                work[follow + k] = trans[then * stride + 1 + byte]
            if steady:
                # from there on each character leads back to the same row
                last = int(work[follow + known - 1])
                fill(work, follow + known, follow + MOST_CHARACTERS + 1, last)
        code = walk_exits(
            auto,
            pool,
            table,
            count,
            trans,
            work,
            bytes_,
            depths,
            skips,
            tokens,
            inner if whole else exits,
            begin,
            stop,
            loops,
            beyond,
            bases,
            out,
        )
        if code < 0:
            return code
    # exits within a character, or after more characters than are counted: follow their bytes
    for e in range(odd.size // 2):
        token = int(odd[2 * e + 1])
        if not in_run(int(blob[offsets[token]]), loops, beyond):
            continue
        code = walk_below(
            auto,
            pool,
            table,
            count,
            trans,
            work,
            bytes_,
            depths,
            skips,
            tokens,
            blob,
            offsets,
            row,
            int(odd[2 * e]),
            token,
            bases,
            out,
        )
        if code < 0:
            return code
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
def following_all(auto, pool, table, count, trans, work, n, byte, bases):
    """The row to which a byte leads from all ``n`` rows of W_CLOSED, DEAD, or UNKNOWN when they differ."""
    stride = int(auto[STRIDE])
    asked = int(work[W_CLOSED]) + MOST_CLOSED
    states = asked + MOST_CLOSED
    result = UNKNOWN
    for k in range(n):
        if work[states + k] != 0:
            continue
        here = int(work[asked + k])
        target = int(trans[here * stride + 1 + byte])
        if target <= UNKNOWN:
            here = settle(auto, pool, table, count, trans, work, here, byte, bases)
            if count[OVERFLOW] != 0 or count[TOO_COMPLEX] != 0:
                return UNKNOWN
            work[asked + k] = here
            target = int(trans[here * stride + 1 + byte])
        if k > 0 and target != result:
            return UNKNOWN
        result = target
    return result


@jit
def walk_closed(
    auto,
    pool,
    table,
    count,
    trans,
    work,
    bytes_,
    depths,
    skips,
    tokens,
    exits,
    exits_at,
    inner,
    inner_at,
    leaves,
    leaves_at,
    odd,
    blob,
    offsets,
    row,
    slice_loops,
    beyond,
    n,
    bases,
    out,
):
    """Set the bits of the allowed tokens for a row that lives after any run of a slice's characters.

    ``out`` holds the tokens inside the slice. The others leave it at their first character, or at one of its
    exits. Where the exit's byte leads to one row from all ``n`` that the run may come to (W_CLOSED), only what
    is below the exits is walked; else the bytes before each are read as well.
    """
    rows = int(work[W_DEPTH]) + MAX_ASKED
    stride = int(auto[STRIDE])
    follow = int(work[W_FOLLOW])
    node = 0
    while node < bytes_.size:
        byte = int(bytes_[node])
        stop = int(skips[node])
        if not in_run(byte, slice_loops, beyond) and trans[row * stride + 1 + byte] != DEAD:
            work[rows] = row
            code = walk(
                auto,
                pool,
                table,
                count,
                trans,
                work,
                bytes_,
                depths,
                skips,
                tokens,
                node,
                stop,
                bases,
                out,
            )
            if code < 0:
                return code
        node = stop
    for byte in range(256):
        if exits_at[byte] == exits_at[byte + 1]:
            continue
        following = following_all(auto, pool, table, count, trans, work, n, byte, bases)
        if count[OVERFLOW] != 0 or count[TOO_COMPLEX] != 0:
            return failure(count)
        if following >= 0:
            for i in range(leaves_at[byte], leaves_at[byte + 1]):
                token = int(leaves[i])
                out[token >> 5] |= 1 << (token & 31)
            fill(work, follow, follow + MOST_CHARACTERS + 1, following)
            code = walk_exits(
                auto,
                pool,
                table,
                count,
                trans,
                work,
                bytes_,
                depths,
                skips,
                tokens,
                inner,
                int(inner_at[byte]),
                int(inner_at[byte + 1]),
                slice_loops,
                beyond,
                bases,
                out,
            )
            if code < 0:
                return code
        if following != UNKNOWN:
            continue
        for e in range(exits_at[byte], exits_at[byte + 1]):
            node = int(exits[3 * e])
            leaf = node
            while tokens[leaf] < 0:
                leaf += 1
            code = walk_below(
                auto,
                pool,
                table,
                count,
                trans,
                work,
                bytes_,
                depths,
                skips,
                tokens,
                blob,
                offsets,
                row,
                node,
                int(tokens[leaf]),
                bases,
                out,
            )
            if code < 0:
                return code
    for e in range(odd.size // 2):
        code = walk_below(
            auto,
            pool,
            table,
            count,
            trans,
            work,
            bytes_,
            depths,
            skips,
            tokens,
            blob,
            offsets,
            row,
            int(odd[2 * e]),
            int(odd[2 * e + 1]),
            bases,
            out,
        )
        if code < 0:
            return code
    return 0


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


@jit
def finish(
    auto,
    pool,
    table,
    count,
    trans,
    work,
    bytes_,
    depths,
    skips,
    tokens,
    blob,
    offsets,
    found,
    loops,
    around_loops,
    duplicates,
    eos,
    symbol_ids,
    symbol_at,
    slice_rows,
    exits,
    exits_at,
    inner,
    inner_at,
    leaves,
    leaves_at,
    odd,
    lengths,
    slice_loops,
    beyond,
    closed,
    bases,
    out,
):
    """The mask that :func:`prepare` began, in ``out``.

    ``beyond`` is -1 to do without a slice; with ``closed``, the row lives after any run of its characters, and
    so many rows are in W_CLOSED.
    """
    row = int(found[3])
    if closed > 0:
        part = slice_rows[slice_rows.size - out.size :]
        for i in range(out.size):
            out[i] = part[i]
        code = walk_closed(
            auto,
            pool,
            table,
            count,
            trans,
            work,
            bytes_,
            depths,
            skips,
            tokens,
            exits,
            exits_at,
            inner,
            inner_at,
            leaves,
            leaves_at,
            odd,
            blob,
            offsets,
            row,
            slice_loops,
            beyond,
            closed,
            bases,
            out,
        )
    elif beyond < 0:
        for i in range(out.size):
            out[i] = 0
        work[work[W_DEPTH] + MAX_ASKED] = row
        code = walk(
            auto,
            pool,
            table,
            count,
            trans,
            work,
            bytes_,
            depths,
            skips,
            tokens,
            0,
            bytes_.size,
            bases,
            out,
        )
    else:
        home = int(found[0])
        first = row
        apart = found[2] == ENDLESS and row != found[1] and row != home
        if apart and beyond != 0:
            for lead in range(0xC2, 0xF5):
                if trans[row * auto[STRIDE] + 1 + lead] == DEAD:
                    apart = False
        if apart:
            # first the mask of what the run comes to, then what differs at its beginning
            row = int(found[1])
            for i in range(8):
                loops[i] = around_loops[i]
            for byte in range(128):
                if trans[first * auto[STRIDE] + 1 + byte] == DEAD:
                    loops[byte >> 5] = int(loops[byte >> 5]) & ~(1 << (byte & 31)) & 0xFFFFFFFF
        longest = min(int(found[2]), slice_rows.size // out.size - 1)
        part = slice_rows[longest * out.size : (longest + 1) * out.size]
        for i in range(out.size):
            out[i] = part[i]
        # the run's first characters, as far as they belong to the slice
        for i in range(8):
            loops[i] = int(loops[i]) & int(slice_loops[i])
        code = walk_run(
            auto,
            pool,
            table,
            count,
            trans,
            work,
            bytes_,
            depths,
            skips,
            tokens,
            exits,
            exits_at,
            inner,
            inner_at,
            leaves,
            leaves_at,
            odd,
            lengths,
            blob,
            offsets,
            row,
            first,
            found,
            loops,
            slice_loops,
            beyond,
            bases,
            out,
        )
        if apart and code == 0:
            row = int(found[3])
            code = walk_difference(
                auto,
                pool,
                table,
                count,
                trans,
                work,
                bytes_,
                depths,
                skips,
                tokens,
                row,
                int(found[1]),
                home,
                bases,
                out,
            )
    if code < 0:
        return code
    for i in range(0, duplicates.size, 2):
        same = int(duplicates[i])
        if (int(out[same >> 5]) >> (same & 31)) & 1:
            other = int(duplicates[i + 1])
            out[other >> 5] |= 1 << (other & 31)
    # tokens that the grammar names
    for symbol in range(256, auto[N_SYMBOLS]):
        row = settle(auto, pool, table, count, trans, work, row, symbol, bases)
        if count[OVERFLOW] != 0 or count[TOO_COMPLEX] != 0:
            return failure(count)
        if trans[row * auto[STRIDE] + 1 + symbol] < 0:
            continue
        for i in range(symbol_at[symbol - 256], symbol_at[symbol - 255]):
            token = int(symbol_ids[i])
            out[token >> 5] |= 1 << (token & 31)
    if found[4] != 0:
        for i in range(eos.size):
            token = int(eos[i])
            out[token >> 5] |= 1 << (token & 31)
    return 0


@jit
def advance(auto, pool, table, count, trans, work, data, start, stop, shape, bases):
    """Feed bytes to a sequence: ``(shape, bases)`` after them, or ``(REFUSED | FULL | COMPLEX, position)``."""
    stride = int(auto[STRIDE])
    for i in range(start, stop):
        cls = int(data[i])
        row = int(pool[shape + 1])
        if row < 0:
            row = plain_row(auto, pool, table, count, trans, work, shape)
            if count[OVERFLOW] != 0 or count[TOO_COMPLEX] != 0:
                return failure(count), i
        following = next_row(auto, pool, table, count, trans, work, row, cls)
        if count[OVERFLOW] == 0 and count[TOO_COMPLEX] >= 2:
            # the row does not say enough; the stacks do
            count[TOO_COMPLEX] = 0
            following = ASK
        if count[OVERFLOW] != 0 or count[TOO_COMPLEX] != 0:
            return failure(count), i
        if following == DEAD:
            return REFUSED, i
        if following >= 0:
            after = int(trans[following * stride])
            before = int(trans[row * stride])
            if pool[after + 4] == pool[before + 4]:
                shape = int(pool[after + 3])
                continue
        m = step(auto, pool, table, count, work, shape, bases, cls, True)
        if count[OVERFLOW] != 0 or count[TOO_COMPLEX] != 0:
            return failure(count), i
        if m == 0:
            return REFUSED, i
        shape, bases = shape_and_bases(pool, table, count, work, m)
        if count[OVERFLOW] != 0:
            return FULL, i
    return shape, bases


@jit
def advance_symbol(auto, pool, table, count, work, symbol, shape, bases):
    """Feed one symbol to a sequence; returns what :func:`advance` does."""
    m = step(auto, pool, table, count, work, shape, bases, symbol, True)
    if count[OVERFLOW] != 0 or count[TOO_COMPLEX] != 0:
        return failure(count), 0
    if m == 0:
        return REFUSED, 0
    shape, bases = shape_and_bases(pool, table, count, work, m)
    if count[OVERFLOW] != 0:
        return FULL, 0
    return shape, bases


@jit
def both(pool, table, count, work, shape, bases, shape2, bases2):
    """A sequence in either of two configurations; returns what :func:`advance` does."""
    m = 0
    for i in range(0, int(pool[shape]) >> 5, 2):
        stacks = int(pool[bases + 3 + pool[shape + 4 + i]])
        m = add_result(pool, table, count, work, m, int(pool[shape + 3 + i]), stacks)
    for i in range(0, int(pool[shape2]) >> 5, 2):
        stacks = int(pool[bases2 + 3 + pool[shape2 + 4 + i]])
        m = add_result(pool, table, count, work, m, int(pool[shape2 + 3 + i]), stacks)
    for k in range(m):
        work[work[R_MARK] + work[work[R_STATE] + k]] = 0
    if count[OVERFLOW] != 0 or count[TOO_COMPLEX] != 0:
        return failure(count), 0
    shape, bases = shape_and_bases(pool, table, count, work, m)
    if count[OVERFLOW] != 0:
        return FULL, 0
    return shape, bases


@jit
def keep(pool, table, count, work, rows_at, rows, row_hash, row_table, shape, bases, words):
    """Store a mask under its situation; equal masks are stored once.

    Returns 0, ROOM when the row store must grow first, or FULL.
    """
    content = hash_words(words)
    mask = row_table.size - 1
    slot = (content ^ (content >> 17)) & mask
    row = -1
    while row_table[slot] >= 0:
        known = int(row_table[slot])
        if row_hash[known] == content and is_row(rows_at, rows, known, words):
            row = known
            break
        slot = (slot + 1) & mask
    if row < 0:
        row = int(count[N_MASKS])
        if 2 * (row + 2) > row_table.size or row + 2 > row_hash.size:
            return ROOM
        end = pack_row(words, rows, int(rows_at[row]), rows.size)
        if end < 0:
            return ROOM
        rows_at[row + 1] = end
        row_hash[row] = content
        row_table[slot] = row
        count[N_MASKS] = row + 1
    store(pool, table, count, work, shape, bases, row)
    return failure(count)


@jit
def refers(auto, pool, term, i):
    """Whether content ``i`` of a term that sequences are made of is itself a term."""
    kind = pool[term] & 31
    value = int(pool[term + 3 + i])
    if kind == FRAME:
        if i == 2:
            return True
        target = int(pool[term + 3])
        if i == 0 or value < 0:
            return False
        if target < SITE_BASE:
            return value > 0
        return auto[auto[SITE_LOOP] + target - SITE_BASE] < 0
    if kind == SET or kind == BASES:
        return True
    if kind == WATCH:
        return (i == 3 and value >= 0) or (i == 4 and value > 0) or (i == 5 and value >= 0)
    if kind == RECORD:
        return (
            (i == 1 and value >= 0)
            or (i == CONTENT - 3 and value > 0)
            or (i == PENDING - 3 and value > NO_BYTES)
        )
    if kind == SEEN:
        return (i > 3 and i % 2 == 0) or (i == 0 and value > 1)
    if kind == LIST:
        return (i == 0 and value > 0) or i == 1
    if kind == KNOWN:
        return i == 0
    if kind == VALUE:
        return i == 1 and value > 0 and pool[term + 3] != CONSTANT_TAG
    return kind == TEXT and i == 0 and value > 0


@jit
def compact(auto, pool, count, new_pool, new_table, new_count, roots, moved):
    """Copy what sequences are made of (the terms under ``roots``) to a new arena, renumbered.

    ``roots`` is rewritten in place; ``moved`` is scratch as long as the pool, filled with -1.
    Rows, masks and their trees stay behind: they are rebuilt when they are needed.
    """
    used = int(count[USED])
    for i in range(roots.size):
        moved[roots[i]] = 0
    # contents have lower ids than what holds them: one pass down marks, one pass up copies
    ends = 0
    term = 3
    while term < used:
        moved[term + 1] = ends
        ends = term
        term += (int(pool[term]) >> 5) + 3
    term = ends
    while term > 0:
        if moved[term] == 0:
            for i in range(int(pool[term]) >> 5):
                if refers(auto, pool, term, i):
                    moved[pool[term + 3 + i]] = 0
        term = int(moved[term + 1])
    # what is known of values goes with them
    term = ends
    while term > 0:
        if pool[term] & 31 == KNOWN and moved[pool[term + 3]] == 0:
            moved[term] = 0
        term = int(moved[term + 1])
    term = 3
    while term < used:
        n = int(pool[term]) >> 5
        if moved[term] == 0:
            kind = pool[term] & 31
            for i in range(n):
                if refers(auto, pool, term, i):
                    pool[term + 3 + i] = moved[pool[term + 3 + i]]
            moved[term] = intern(new_pool, new_table, new_count, kind, pool, term + 3, n)
        term += n + 3
    for i in range(roots.size):
        roots[i] = moved[roots[i]]


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
    def lookup_to(context, position, address):
        """:func:`lookup_at` into memory at an address: an array costs Python more to hand over."""
        return lookup_at(context, position, words_at(address, array_u32(context, 17).size))

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

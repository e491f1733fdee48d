"""What rows ask of the stacks below them, and the rows that know the answers."""

from __future__ import annotations

from workbench.engine.kernels.closures import begin_closure, close, end_closure, shape_and_bases
from workbench.engine.kernels.constants import (
    ASK,
    BOTTOM,
    FRAME,
    HOLE,
    LABELS,
    MEMBER,
    MOST_QUESTIONS,
    N_ASKED,
    NOTED,
    SET,
    SUBST,
    WHOLE,
    Complex,
    Tangled,
)
from workbench.engine.kernels.frames import scope_at
from workbench.engine.kernels.hash_consing import intern, term1, term3, union
from workbench.engine.kernels.lazy_dfa import next_row, row_of
from workbench.engine.kernels.objects.interface import key_came, to_be_asked, with_answer
from workbench.engine.kernels.signatures import jit
from workbench.engine.kernels.stacks import frame_label, reveal, reveal_all, stacks_at


@jit
def has_come(ctx, frame, bases):
    """LABELS of whether the text of a watching frame of a row is one that came, in the actual stacks."""
    pool = ctx.pool
    value = int(pool[frame + 4])
    below = ASK - int(pool[value + 6])
    target = int(pool[below + 4])
    zone = int(pool[below + 5])
    stacks = stacks_at(ctx, int(pool[below + 3]), bases)
    found = -1
    for i in range(int(pool[stacks]) >> 5):
        one = int(pool[stacks + 3 + i])
        if pool[one] & 31 != FRAME or pool[one + 3] != target:
            continue
        if frame_label(ctx, one, False) != zone:
            continue
        yes = int(key_came(ctx, one, frame))
        if yes < 0 or (found >= 0 and yes != found):
            raise Tangled
        found = yes
    return int(term1(ctx, LABELS, max(0, found)))


@jit
def labels_of(ctx, question, bases):
    """What a question is answered with: a hole, WHOLE of one, or MEMBER."""
    pool = ctx.pool
    kind = pool[question] & 31
    if kind == MEMBER:
        return has_come(ctx, int(pool[question + 3]), bases)
    if kind == WHOLE:
        stacks = stacks_at(ctx, int(pool[question + 3]), bases)
        return int(pool[reveal_all(ctx, stacks) + 3])
    stacks = stacks_at(ctx, question, bases)
    return int(pool[reveal(ctx, stacks) + 3])


@jit
def answer(ctx, hole, bases):
    """LABELS that answer a question, recorded among the questions of this walk."""
    count = ctx.count
    asked = ctx.asked
    for k in range(count[N_ASKED]):
        if asked[2 * k] == hole:
            return int(asked[2 * k + 1])
    labels = int(labels_of(ctx, hole, bases))
    if count[N_ASKED] >= MOST_QUESTIONS:
        raise Tangled
    k = int(count[N_ASKED])
    asked[2 * k] = hole
    asked[2 * k + 1] = labels
    count[N_ASKED] = k + 1
    return labels


@jit
def rewrite(ctx, top, hole, frames, visited):
    """Replace a hole by a SET throughout a SET and the frames below it.

    Leaves the result in the second note of every SET and FRAME met; these are listed, for clearing the
    notes, in ``tree`` from ``visited`` on. Returns the new length of the list.
    """
    pool = ctx.pool
    count = ctx.count
    tree = ctx.tree
    size = int(ctx.tree.size)
    # the list grows from the front of the scratch space, the stack of terms to do from its end
    depth = 1
    tree[size - 1] = top
    while depth > 0:
        term = int(tree[size - depth])
        if pool[term + 2] >= 0:
            depth -= 1
            continue
        if visited + depth + (int(pool[term]) >> 5) + 2 > size:
            raise Complex
        ready = True
        if pool[term] & 31 == FRAME:
            parents = int(pool[term + 5])
            if pool[parents + 2] < 0:
                depth += 1
                tree[size - depth] = parents
                continue
            result = term
            if pool[parents + 2] != parents:
                target = int(pool[term + 3])
                value = int(pool[term + 4])
                result = term3(ctx, FRAME, target, value, int(pool[parents + 2]))
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
                        tree[size - depth] = element
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
                        one = term1(ctx, SET, element)
                    result = one if result < 0 else union(ctx, result, one)
        pool[term + 2] = result
        tree[visited] = term
        visited += 1
        count[NOTED] = visited
        depth -= 1
    return visited


@jit
def substitute(ctx, row, hole, labels):
    """The row in which a hole is replaced by the frames that the labels name.

    For other questions: WHOLE asks about a hole, and what MEMBER asks is noted in the frame that asked.
    """
    pool = ctx.pool
    count = ctx.count
    memo = term3(ctx, SUBST, row, hole, labels)
    if pool[memo + 1] >= 0:
        return int(pool[memo + 1])
    buffer = ctx.buffer
    frames = 0
    first = True
    member = pool[hole] & 31 == MEMBER
    if pool[hole] & 31 != HOLE:
        hole = int(pool[hole + 3])
    if member:
        frame = int(with_answer(ctx, hole, int(pool[labels + 3])))
        frames = term1(ctx, SET, frame)
    elif pool[labels + 3] != 0:
        bottom = intern(ctx, BOTTOM, buffer, 0, 0)
        frames = term1(ctx, SET, bottom)
        first = False
    for k in range(1, int(pool[labels]) >> 5, 2):
        target = int(pool[labels + 3 + k])
        zone = int(pool[labels + 4 + k])
        below = term3(ctx, HOLE, hole, target, zone)
        parents = term1(ctx, SET, below)
        if scope_at(ctx, target) >= 0:
            zone = int(to_be_asked(ctx, zone, below))
        frame = term3(ctx, FRAME, target, zone, parents)
        one = term1(ctx, SET, frame)
        frames = one if first else union(ctx, frames, one)
        first = False
    config = int(ctx.trans[row * ctx.stride])
    shape = int(pool[config + 3])
    bases = int(pool[config + 4])
    m = 0
    visited = 0
    for i in range(0, int(pool[shape]) >> 5, 2):
        stacks = int(pool[bases + 3 + pool[shape + 4 + i]])
        visited = rewrite(ctx, stacks, hole, frames, visited)
        ctx.result_state[m] = pool[shape + 3 + i]
        ctx.result_stacks[m] = pool[stacks + 2] if pool[stacks + 2] >= 0 else stacks
        m += 1
    tree = ctx.tree
    for i in range(visited):
        pool[tree[i] + 2] = -1
    count[NOTED] = 0
    new_shape, new_bases = shape_and_bases(ctx, m)
    result = row_of(ctx, new_shape, new_bases)
    pool[memo + 1] = result
    return result


@jit
def accepts(ctx, shape, bases, exact):
    """Whether a configuration may end here: 1, 0 or ASK - hole."""
    n = begin_closure(ctx, shape, bases)
    n, ask, yes = close(ctx, n, -1, exact)
    end_closure(ctx, n)
    if yes:
        return 1
    return ask


@jit
def row_accepts(ctx, row):
    """:func:`accepts` of a row, remembered with its configuration."""
    pool = ctx.pool
    config = int(ctx.trans[row * ctx.stride])
    known = int(pool[config + 2])
    if known != -1:
        return known
    known = accepts(ctx, int(pool[config + 3]), int(pool[config + 4]), False)
    pool[config + 2] = known
    return known


@jit
def settle(ctx, row, cls, bases):
    """Answer what a transition asks until it does not: the refined row."""
    while True:
        following = next_row(ctx, row, cls)
        if following > ASK:
            return row
        hole = ASK - following
        labels = answer(ctx, hole, bases)
        row = substitute(ctx, row, hole, labels)


@jit
def refine(ctx, row, bases):
    """Answer all that a row asks before its first byte: the refined row."""
    return settle(ctx, row, 0, bases)

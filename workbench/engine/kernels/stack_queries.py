"""Stack queries: what DFA states ask of the stacks below them, and the DFA states that know the answers."""

from __future__ import annotations

from workbench.engine.kernels.closures import begin_closure, close, end_closure, shape_and_bases
from workbench.engine.kernels.constants import (
    ASK,
    BOTTOM,
    FRAME,
    MEMBER,
    MOST_QUERIES,
    N_QUERIES,
    NOTED,
    RETURN_SET,
    SET,
    SUBST,
    VARIABLE,
    WHOLE,
    Complex,
    Tangled,
)
from workbench.engine.kernels.hash_consing import intern, node1, node3, union
from workbench.engine.kernels.lazy_dfa import dfa_state_of, transition
from workbench.engine.kernels.objects.interface import key_came, to_be_asked, with_answer
from workbench.engine.kernels.signatures import jit
from workbench.engine.kernels.stack_frames import scope_at
from workbench.engine.kernels.stacks import frame_zone, peek, peek_all, stacks_at


@jit
def has_come(ctx, frame, bases):
    """RETURN_SET of whether the text that a frame of a DFA state tracks is an earlier key, in the actual stacks."""
    arena = ctx.arena
    value = int(arena[frame + 4])
    below = ASK - int(arena[value + 6])
    target = int(arena[below + 4])
    zone = int(arena[below + 5])
    stacks = stacks_at(ctx, int(arena[below + 3]), bases)
    found = -1
    for i in range(int(arena[stacks]) >> 5):
        one = int(arena[stacks + 3 + i])
        if arena[one] & 31 != FRAME or arena[one + 3] != target:
            continue
        if frame_zone(ctx, one, False) != zone:
            continue
        yes = int(key_came(ctx, one, frame))
        if yes < 0 or (found >= 0 and yes != found):
            raise Tangled
        found = yes
    return int(node1(ctx, RETURN_SET, max(0, found)))


@jit
def return_set_of(ctx, query, bases):
    """What a stack query is answered with: one about a VARIABLE, WHOLE of one, or MEMBER."""
    arena = ctx.arena
    kind = arena[query] & 31
    if kind == MEMBER:
        return has_come(ctx, int(arena[query + 3]), bases)
    if kind == WHOLE:
        stacks = stacks_at(ctx, int(arena[query + 3]), bases)
        return int(arena[peek_all(ctx, stacks) + 3])
    stacks = stacks_at(ctx, query, bases)
    return int(arena[peek(ctx, stacks) + 3])


@jit
def answer(ctx, variable, bases):
    """The RETURN_SET that answers a stack query, noted among the queries of this walk."""
    count = ctx.count
    queries = ctx.queries
    for k in range(count[N_QUERIES]):
        if queries[2 * k] == variable:
            return int(queries[2 * k + 1])
    return_set = int(return_set_of(ctx, variable, bases))
    if count[N_QUERIES] >= MOST_QUERIES:
        raise Tangled
    k = int(count[N_QUERIES])
    queries[2 * k] = variable
    queries[2 * k + 1] = return_set
    count[N_QUERIES] = k + 1
    return return_set


@jit
def rewrite(ctx, top, variable, frames, visited):
    """Replace a stack variable by a SET throughout a SET and the frames below it.

    Leaves the result in the second note of every SET and FRAME met; these are listed, for clearing the
    notes, in ``tree`` from ``visited`` on. Returns the new length of the list.
    """
    arena = ctx.arena
    count = ctx.count
    tree = ctx.tree
    size = int(ctx.tree.size)
    # the list grows from the front of the scratch space, the stack of nodes to do from its end
    depth = 1
    tree[size - 1] = top
    while depth > 0:
        node = int(tree[size - depth])
        if arena[node + 2] >= 0:
            depth -= 1
            continue
        if visited + depth + (int(arena[node]) >> 5) + 2 > size:
            raise Complex
        ready = True
        if arena[node] & 31 == FRAME:
            parents = int(arena[node + 5])
            if arena[parents + 2] < 0:
                depth += 1
                tree[size - depth] = parents
                continue
            result = node
            if arena[parents + 2] != parents:
                target = int(arena[node + 3])
                value = int(arena[node + 4])
                result = node3(ctx, FRAME, target, value, int(arena[parents + 2]))
        else:
            n = int(arena[node]) >> 5
            changes = False
            for i in range(n):
                element = int(arena[node + 3 + i])
                if element == variable:
                    changes = True
                elif arena[element] & 31 == FRAME:
                    if arena[element + 2] < 0:
                        depth += 1
                        tree[size - depth] = element
                        ready = False
                    elif arena[element + 2] != element:
                        changes = True
            if not ready:
                continue
            result = node
            if changes:
                result = -1
                for i in range(n):
                    element = int(arena[node + 3 + i])
                    one = frames
                    if element != variable:
                        if arena[element] & 31 == FRAME:
                            element = int(arena[element + 2])
                        one = node1(ctx, SET, element)
                    result = one if result < 0 else union(ctx, result, one)
        arena[node + 2] = result
        tree[visited] = node
        visited += 1
        count[NOTED] = visited
        depth -= 1
    return visited


@jit
def substitute(ctx, dfa_state, variable, return_set):
    """The DFA state in which a variable is replaced by the frames that a return set names.

    For other queries: WHOLE asks about a variable, and what MEMBER asks is noted in the frame that asked.
    """
    arena = ctx.arena
    count = ctx.count
    memo = node3(ctx, SUBST, dfa_state, variable, return_set)
    if arena[memo + 1] >= 0:
        return int(arena[memo + 1])
    buffer = ctx.buffer
    frames = 0
    first = True
    member = arena[variable] & 31 == MEMBER
    if arena[variable] & 31 != VARIABLE:
        variable = int(arena[variable + 3])
    if member:
        frame = int(with_answer(ctx, variable, int(arena[return_set + 3])))
        frames = node1(ctx, SET, frame)
    elif arena[return_set + 3] != 0:
        bottom = intern(ctx, BOTTOM, buffer, 0, 0)
        frames = node1(ctx, SET, bottom)
        first = False
    for k in range(1, int(arena[return_set]) >> 5, 2):
        target = int(arena[return_set + 3 + k])
        zone = int(arena[return_set + 4 + k])
        below = node3(ctx, VARIABLE, variable, target, zone)
        parents = node1(ctx, SET, below)
        if scope_at(ctx, target) >= 0:
            zone = int(to_be_asked(ctx, zone, below))
        frame = node3(ctx, FRAME, target, zone, parents)
        one = node1(ctx, SET, frame)
        frames = one if first else union(ctx, frames, one)
        first = False
    config = int(ctx.transitions[dfa_state * ctx.stride])
    shape = int(arena[config + 3])
    bases = int(arena[config + 4])
    m = 0
    visited = 0
    for i in range(0, int(arena[shape]) >> 5, 2):
        stacks = int(arena[bases + 3 + arena[shape + 4 + i]])
        visited = rewrite(ctx, stacks, variable, frames, visited)
        ctx.result_state[m] = arena[shape + 3 + i]
        ctx.result_stacks[m] = arena[stacks + 2] if arena[stacks + 2] >= 0 else stacks
        m += 1
    tree = ctx.tree
    for i in range(visited):
        arena[tree[i] + 2] = -1
    count[NOTED] = 0
    new_shape, new_bases = shape_and_bases(ctx, m)
    result = dfa_state_of(ctx, new_shape, new_bases)
    arena[memo + 1] = result
    return result


@jit
def accepts(ctx, shape, bases, exact):
    """Whether a configuration may end here: 1, 0 or ASK - variable."""
    n = begin_closure(ctx, shape, bases)
    n, ask, yes = close(ctx, n, -1, exact)
    end_closure(ctx, n)
    if yes:
        return 1
    return ask


@jit
def dfa_state_accepts(ctx, dfa_state):
    """:func:`accepts` of a DFA state, remembered with its configuration."""
    arena = ctx.arena
    config = int(ctx.transitions[dfa_state * ctx.stride])
    known = int(arena[config + 2])
    if known != -1:
        return known
    known = accepts(ctx, int(arena[config + 3]), int(arena[config + 4]), False)
    arena[config + 2] = known
    return known


@jit
def resolve(ctx, dfa_state, cls, bases):
    """Answer the stack queries of a transition until it has none: the refined DFA state."""
    while True:
        following = transition(ctx, dfa_state, cls)
        if following > ASK:
            return dfa_state
        variable = ASK - following
        return_set = answer(ctx, variable, bases)
        dfa_state = substitute(ctx, dfa_state, variable, return_set)


@jit
def refine(ctx, dfa_state, bases):
    """Answer all stack queries that a DFA state has before its first byte: the refined DFA state."""
    return resolve(ctx, dfa_state, 0, bases)

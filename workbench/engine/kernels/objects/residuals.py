"""The liveness of items that must differ: whether one can still become a value that has not come.

The item is nested in scopes, innermost first. The residual count of each is the number of ways in which its rest can
come (:func:`residual_count`, as for a Brzozowski derivative); their product is how many values the item can still
become. Some of the earlier values begin as it does and are among these. The item lives while the product is the
larger number. Where plain calls lie on several stacks, each path through them is looked at.
"""

from __future__ import annotations

from workbench.engine.kernels.constants import (
    AMPLE,
    ARRAY_TAG,
    BITS,
    CONTENT,
    DISTINCT,
    IS_APART,
    ITEM,
    KEEP,
    KNOWN,
    LOST,
    MANY,
    MOST_NESTED,
    MOST_PATHS,
    NAME_ROLE,
    NO_BYTES,
    NOTHING,
    OBJECT_OF,
    OBJECT_TAG,
    OFF,
    ORDERED,
    OUTERMOST,
    PENDING,
    UNCLEAR,
    UNSAID,
    WORD,
    WORK,
    Complex,
)
from workbench.engine.kernels.hash_consing import find_node2
from workbench.engine.kernels.objects.item_values import (
    first_of,
    flags_of,
    gathers,
    includes,
    length_of,
    member_of,
    scope_below,
    with_content,
    with_pair,
    with_value,
)
from workbench.engine.kernels.objects.key_tries import trie_child, trie_with_key
from workbench.engine.kernels.signatures import jit
from workbench.engine.kernels.stack_frames import scope_of


@jit
def last_member(ctx, frame_state, scope):
    """Number of the last member that has come, or -1."""
    n = int(ctx.sets[ctx.scope_counts[scope]])
    for i in range(n - 1, -1, -1):
        if (int(ctx.arena[frame_state + BITS + i // WORD]) >> (i % WORD)) & 1:
            return i
    return -1


@jit
def is_required(ctx, scope, member):
    """Whether a member of a scope has to come."""
    word = int(ctx.sets[ctx.scope_required[scope] + member // WORD])
    return (word >> (member % WORD)) & 1 != 0


@jit
def in_turn(ctx, frame_state, scope, member):
    """Whether a member comes in its order, if there is one: none behind it has, none that has to is passed over."""
    if ctx.scope_flags[scope] & ORDERED == 0:
        return True
    for i in range(int(ctx.sets[ctx.scope_counts[scope]])):
        come = (int(ctx.arena[frame_state + BITS + i // WORD]) >> (i % WORD)) & 1
        if (i > member and come) or (i < member and not come and is_required(ctx, scope, i)):
            return False
    return True


@jit
def bounded_residual_count(ctx, frame_state, scope):
    """:func:`residual_count` of an object of which so many members have to come, or may come."""
    counts = int(ctx.scope_counts[scope])
    least = int(ctx.scope_least[scope])
    most = int(ctx.scope_most[scope])
    members = int(ctx.sets[counts])
    first = 0
    if ctx.scope_flags[scope] & ORDERED:
        first = int(last_member(ctx, frame_state, scope)) + 1
    # in how many ways so many more of the members looked at can come
    some = ctx.left
    some[0] = 1
    n = 0
    had = 0
    for i in range(members):
        if (int(ctx.arena[frame_state + BITS + i // WORD]) >> (i % WORD)) & 1:
            had += 1
        elif i >= first:
            skips = not is_required(ctx, scope, i)
            some[n + 1] = 0
            for j in range(n + 1, -1, -1):
                with_it = 0 if j == 0 else int(some[j - 1]) * int(ctx.sets[counts + 1 + i])
                without = int(some[j]) if skips else 0
                some[j] = min(MANY, with_it + without)
            n += 1
    total = 0
    for j in range(n + 1):
        if had + j >= least and (most < 0 or had + j <= most):
            total += int(some[j])
    return min(MANY, total)


@jit
def residual_count(ctx, frame_state, scope):
    """In how many ways the rest of a scope can come, after what comes in it now; MANY at most."""
    arena = ctx.arena
    flags = int(ctx.scope_flags[scope])
    if flags & AMPLE:
        return MANY
    counts = int(ctx.scope_counts[scope])
    total = 1
    if ctx.scope_gather[scope] == OBJECT_OF:
        if ctx.scope_least[scope] > 0 or ctx.scope_most[scope] >= 0:
            return bounded_residual_count(ctx, frame_state, scope)
        first = 0
        if flags & ORDERED:
            first = int(last_member(ctx, frame_state, scope)) + 1
        for i in range(first, int(ctx.sets[counts])):
            if (int(arena[frame_state + BITS + i // WORD]) >> (i % WORD)) & 1:
                continue
            some = int(ctx.sets[counts + 1 + i])
            if not is_required(ctx, scope, i):
                some += 1
            total = min(MANY, total * some)
        return total
    least = int(ctx.scope_least[scope])
    most = int(ctx.scope_most[scope])
    items = int(ctx.sets[counts + 1])
    had = int(arena[frame_state + 3])
    if most < 0:
        return MANY if items > 0 else 1
    if had < 0:
        return MANY
    if items >= MANY:
        return MANY if had < most else 1
    product = 1
    total = 0
    for j in range(most - had + 1):
        if had + j >= least:
            total += product
        product *= items - had - j if flags & DISTINCT else items
        if total >= MANY or product >= MANY:
            return MANY
        if product <= 0:
            break
    return total


@jit
def choices(ctx, scope, had):
    """How many items may come next in an array in which so many have come."""
    items = int(ctx.sets[ctx.scope_counts[scope] + 1])
    if ctx.scope_flags[scope] & DISTINCT and items < MANY and had > 0:
        return max(0, items - had)
    return items


@jit
def passes_over(ctx, frame_state, scope, tree):
    """Whether an earlier object has no name that, members coming in order, has been passed over."""
    arena = ctx.arena
    last = int(last_member(ctx, frame_state, scope))
    sets = ctx.sets
    keys = int(ctx.scope_keys[scope])
    for i in range(last):
        if (int(arena[frame_state + BITS + i // WORD]) >> (i % WORD)) & 1:
            continue
        at = int(sets[keys + i])
        node = tree
        for j in range(int(sets[at])):
            node = int(trie_child(ctx, node, int(sets[at + 1 + j])))
            if node < 0:
                break
        if node >= 0 and arena[node + 3] != 0:
            return False
    return True


@jit
def continues(ctx, value, nested, closed):
    """Whether an earlier value begins as the nested scopes do: 0, or what it has at the place that comes next.

    ``closed``: whether it is the same as the innermost scope, to which nothing is added.
    """
    arena = ctx.arena
    records = ctx.nested
    scopes = ctx.nested_scopes
    for i in range(nested - 1, -1, -1):
        frame_state = int(records[i])
        content = int(arena[frame_state + CONTENT])
        pending = int(arena[frame_state + PENDING])
        holds = int(arena[value + 4])
        scope = int(scopes[i])
        if not (i == 0 and closed) and find_node2(ctx, KNOWN, value, scope) < 0:
            return 0
        if ctx.scope_gather[scope] == OBJECT_OF:
            if arena[value + 3] != OBJECT_TAG:
                return 0
            if i == 0 and closed:
                return value if holds == content else 0
            if not includes(ctx, holds, content):
                return 0
            if ctx.scope_flags[scope] & ORDERED:
                if not passes_over(ctx, frame_state, scope, holds):
                    return 0
            if pending != NOTHING:
                text = 0 if pending == NO_BYTES else pending
                value = int(member_of(ctx, holds, text))
        else:
            if arena[value + 3] != ARRAY_TAG:
                return 0
            if i == 0 and closed:
                return value if holds == content else 0
            n = int(length_of(ctx, content))
            if pending == NOTHING:
                if first_of(ctx, holds, n) != content:
                    return 0
            else:
                holds = int(first_of(ctx, holds, n + 1))
                if holds < 0 or arena[holds + 3] != content:
                    return 0
                value = int(arena[holds + 4])
        if value == 0:
            return 0
    return value


@jit
def count_matching(ctx, frame, nested, closed):
    """How many earlier values in a scope begin as the scopes nested in it do."""
    arena = ctx.arena
    count = ctx.count
    values = int(arena[arena[frame + 4] + CONTENT])
    total = 0
    while values > 0 and count[UNCLEAR] == 0:
        count[WORK] += 1
        if continues(ctx, int(arena[values + 4]), nested, closed) != 0:
            total += 1
        values = int(arena[values + 3])
    return total


@jit
def nest(ctx, nested, frame, frame_state):
    """Add the frame state of a scope to the nested ones; their number, or -1 where it is not known what has come."""
    arena = ctx.arena
    if arena[frame_state + CONTENT] < 0 or arena[frame_state + PENDING] < 0:
        return -1
    if nested >= MOST_NESTED:
        raise Complex
    ctx.nested[nested] = frame_state
    ctx.nested_scopes[nested] = scope_of(ctx, frame)
    return nested + 1


@jit
def differs(ctx, frame, frame_state, total, closed, path):
    """:func:`may_differ` on one path through the scopes around, and whether there are several."""
    arena = ctx.arena
    count = ctx.count
    nested = 0
    several = False
    while total < MANY:
        nested = int(nest(ctx, nested, frame, frame_state))
        if nested < 0:
            count[UNCLEAR] = 1
            return True, several
        frame, path, more = scope_below(ctx, int(arena[frame + 5]), path)
        several = several or more
        if frame < 0:
            count[UNCLEAR] = 1
            return True, several
        if frame == 0 or gathers(ctx, frame) == 0:
            return True, several
        frame_state = int(arena[frame + 4])
        flags = int(flags_of(ctx, frame))
        if flags & DISTINCT:
            if arena[frame_state + CONTENT] < 0:
                count[UNCLEAR] = 1
                return True, several
            total -= int(count_matching(ctx, frame, nested, closed))
            if total <= 0:
                return False, several
            if flags & OUTERMOST:
                return path == 0, several
        if arena[frame_state + IS_APART] != 0:
            return path == 0, several
        total = min(MANY, total * int(residual_count(ctx, frame_state, int(scope_of(ctx, frame)))))
    return path == 0, several


@jit
def may_differ(ctx, frame, frame_state, total, closed):
    """Whether what the scope of a frame becomes, its state as given, can still differ from all earlier values.

    ``total``: in how many ways what comes next in it can; ``closed``: nothing does. Where that depends on
    what is not known, ``count[UNCLEAR]`` is set.
    """
    count = ctx.count
    if flags_of(ctx, frame) & OUTERMOST:
        return True
    if not closed:
        rest = int(residual_count(ctx, frame_state, int(scope_of(ctx, frame))))
        total = min(MANY, total * rest)
    if total <= 0:
        return False
    if total >= MANY or ctx.arena[frame_state + IS_APART] != 0:
        return True
    path = 0
    while path < MOST_PATHS and count[UNCLEAR] == 0:
        alive, several = differs(ctx, frame, frame_state, total, closed, path)
        if alive:
            return True
        if not several:
            return False
        path += 1
    return count[UNCLEAR] != 0


@jit
def matching_values(ctx, frame, frame_state, keeps):
    """How many earlier values begin as what the scope of a frame becomes, its state as given; -1: not known.

    With ``keeps`` what they have at the place that is next goes into ``tree`` (where a name is next in an object,
    these are the objects), else the first one is enough.
    """
    arena = ctx.arena
    count = ctx.count
    first = frame
    found = 0
    tree = ctx.tree
    path = 0
    while path < MOST_PATHS:
        frame = first
        now = frame_state
        nested = 0
        left = path
        several = False
        while True:
            nested = int(nest(ctx, nested, frame, now))
            if nested < 0:
                return -1
            frame, left, more = scope_below(ctx, int(arena[frame + 5]), left)
            several = several or more
            if frame <= 0 or gathers(ctx, frame) == 0:
                return -1
            now = int(arena[frame + 4])
            flags = int(flags_of(ctx, frame))
            if flags & DISTINCT:
                values = int(arena[now + CONTENT])
                if values < 0:
                    return -1
                while values > 0 and left == 0:
                    count[WORK] += 1
                    value = int(arena[values + 4])
                    one = int(continues(ctx, value, nested, False))
                    if one != 0 and not keeps:
                        return 1
                    if one != 0:
                        if found >= ctx.tree.size:
                            raise Complex
                        tree[found] = one
                        found += 1
                    values = int(arena[values + 3])
                if flags & OUTERMOST:
                    break
            if arena[now + IS_APART] != 0:
                break
        if not several:
            break
        path += 1
    return found


@jit
def mark_apart(ctx, frame, frame_state, exact):
    """A state of the scope of a frame with what is known of its being apart from all earlier values.

    In a walk, what is apart is not looked at any more: it need not be told from others that are.
    """
    arena = ctx.arena
    content = int(arena[frame_state + CONTENT])
    pending = int(arena[frame_state + PENDING])
    apart = int(arena[frame_state + IS_APART])
    if flags_of(ctx, frame) & OUTERMOST:
        return frame_state
    if apart == 0 and matching_values(ctx, frame, frame_state, False) == 0:
        apart = 1
    if apart != 0 and not exact and ctx.count[KEEP] == 0:
        if flags_of(ctx, frame) & DISTINCT == 0:
            content = UNSAID
        if pending > ITEM:
            pending = LOST
    return int(with_content(ctx, frame_state, content, pending, apart))


@jit
def begins_apart(ctx, stacks):
    """Whether what begins on a SET is known to be apart from all earlier values."""
    arena = ctx.arena
    path = 0
    while path < MOST_PATHS:
        frame, _, several = scope_below(ctx, stacks, path)
        if frame <= 0 or gathers(ctx, frame) == 0:
            return 0
        frame_state = int(arena[frame + 4])
        flags = int(flags_of(ctx, frame))
        if flags & DISTINCT and arena[frame_state + CONTENT] != 0:
            return 0
        if flags & OUTERMOST == 0 and arena[frame_state + IS_APART] == 0:
            return 0
        if not several:
            return 1
        path += 1
    return 1


@jit
def compared_texts(ctx, frame, number, role, root, cell):
    """What a text that begins in a scope is compared with: ``(trie of the texts there, trie of what may not end)``.

    The first is OFF when the text is apart from all earlier ones, LOST when that is not known. The second is
    ``root``, a key trie, with more of them in ``cell``: those which nothing that follows makes different.
    """
    arena = ctx.arena
    count = ctx.count
    frame_state = int(arena[frame + 4])
    if arena[frame_state + IS_APART] != 0:
        return OFF, root
    found = int(matching_values(ctx, frame, frame_state, True))
    if role == NAME_ROLE:
        if found == 0:
            return OFF, root
        if found == 1:
            return int(arena[ctx.tree[0] + 4]), root
        return LOST, root
    if found < 0:
        if residual_count(ctx, frame_state, int(scope_of(ctx, frame))) < MANY:
            count[UNCLEAR] = 1
        return LOST, root
    compared = OFF
    tree = ctx.tree
    # directly in the outermost array it depends on how often a text came whether anything can still make it differ
    limit = -1
    parent, _, several = scope_below(ctx, int(arena[frame + 5]), 0)
    if parent > 0 and not several and gathers(ctx, parent) != 0:
        if flags_of(ctx, parent) & OUTERMOST:
            limit = int(residual_count(ctx, frame_state, int(scope_of(ctx, frame))))
    for i in range(found):
        value = int(tree[i])
        if arena[value + 3] != role:
            continue
        text = int(arena[value + 4])
        compared = int(with_pair(ctx, compared, text, 1))
        if find_node2(ctx, KNOWN, value, -1 - number) < 0:
            continue
        if limit >= 0:
            same = 1
            j = 0
            while same < limit and j < found:
                if j != i and tree[j] == value:
                    same += 1
                j += 1
            if same >= limit:
                root = int(trie_with_key(ctx, root, text, number, cell))
            continue
        after = int(with_value(ctx, frame, frame_state, value))
        if not may_differ(ctx, frame, after, 1, False):
            root = int(trie_with_key(ctx, root, text, number, cell))
        if count[UNCLEAR] != 0:
            break
    return compared, root

"""Whether a place among values that must differ can still become a value that has not come.

The records of the scopes around a place are its levels (innermost first). Each knows in how many ways it can
go on (:func:`ways`), so that many values the place can become. Some of those that came begin as it does and
are among them. It is alive when the first number is the larger one.
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
    MOST_LEVELS,
    MOST_WAYS,
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
from workbench.engine.kernels.frames import scope_of
from workbench.engine.kernels.hash_consing import find2
from workbench.engine.kernels.objects.item_values import (
    around,
    filled,
    first_of,
    flags_of,
    gathers,
    includes,
    joined,
    length_of,
    member_of,
    paired,
)
from workbench.engine.kernels.objects.key_tries import planted, seen_child
from workbench.engine.kernels.signatures import jit


@jit
def last_member(ctx, record, scope):
    """Number of the last member that has come, or -1."""
    n = int(ctx.sets[ctx.scope_counts[scope]])
    for i in range(n - 1, -1, -1):
        if (int(ctx.pool[record + BITS + i // WORD]) >> (i % WORD)) & 1:
            return i
    return -1


@jit
def is_required(ctx, scope, member):
    """Whether a member of a scope has to come."""
    word = int(ctx.sets[ctx.scope_required[scope] + member // WORD])
    return (word >> (member % WORD)) & 1 != 0


@jit
def in_turn(ctx, record, scope, member):
    """Whether a member comes in its order, if there is one: none behind it has, none that has to is passed over."""
    if ctx.scope_flags[scope] & ORDERED == 0:
        return True
    for i in range(int(ctx.sets[ctx.scope_counts[scope]])):
        come = (int(ctx.pool[record + BITS + i // WORD]) >> (i % WORD)) & 1
        if (i > member and come) or (i < member and not come and is_required(ctx, scope, i)):
            return False
    return True


@jit
def counted_ways(ctx, record, scope):
    """:func:`ways` of an object of which so many members have to come, or may come."""
    counts = int(ctx.scope_counts[scope])
    least = int(ctx.scope_least[scope])
    most = int(ctx.scope_most[scope])
    members = int(ctx.sets[counts])
    first = 0
    if ctx.scope_flags[scope] & ORDERED:
        first = int(last_member(ctx, record, scope)) + 1
    # in how many ways so many more of the members looked at can come
    some = ctx.left
    some[0] = 1
    n = 0
    had = 0
    for i in range(members):
        if (int(ctx.pool[record + BITS + i // WORD]) >> (i % WORD)) & 1:
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
def ways(ctx, record, scope):
    """In how many ways the rest of a scope can come, after what comes in it now; MANY at most."""
    pool = ctx.pool
    flags = int(ctx.scope_flags[scope])
    if flags & AMPLE:
        return MANY
    counts = int(ctx.scope_counts[scope])
    total = 1
    if ctx.scope_gather[scope] == OBJECT_OF:
        if ctx.scope_least[scope] > 0 or ctx.scope_most[scope] >= 0:
            return counted_ways(ctx, record, scope)
        first = 0
        if flags & ORDERED:
            first = int(last_member(ctx, record, scope)) + 1
        for i in range(first, int(ctx.sets[counts])):
            if (int(pool[record + BITS + i // WORD]) >> (i % WORD)) & 1:
                continue
            some = int(ctx.sets[counts + 1 + i])
            if not is_required(ctx, scope, i):
                some += 1
            total = min(MANY, total * some)
        return total
    least = int(ctx.scope_least[scope])
    most = int(ctx.scope_most[scope])
    items = int(ctx.sets[counts + 1])
    had = int(pool[record + 3])
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
def passes_over(ctx, record, scope, tree):
    """Whether an object that came has no name that, members coming in order, has been passed over."""
    pool = ctx.pool
    last = int(last_member(ctx, record, scope))
    sets = ctx.sets
    keys = int(ctx.scope_keys[scope])
    for i in range(last):
        if (int(pool[record + BITS + i // WORD]) >> (i % WORD)) & 1:
            continue
        at = int(sets[keys + i])
        node = tree
        for j in range(int(sets[at])):
            node = int(seen_child(ctx, node, int(sets[at + 1 + j])))
            if node < 0:
                break
        if node >= 0 and pool[node + 3] != 0:
            return False
    return True


@jit
def extends(ctx, value, levels, closed):
    """Whether a value that came begins as the levels do: 0, or what it has at the place that comes next.

    ``closed``: whether it is the same as the innermost level, to which nothing is added.
    """
    pool = ctx.pool
    records = ctx.levels
    scopes = ctx.scopes
    for i in range(levels - 1, -1, -1):
        record = int(records[i])
        content = int(pool[record + CONTENT])
        pending = int(pool[record + PENDING])
        holds = int(pool[value + 4])
        scope = int(scopes[i])
        if not (i == 0 and closed) and find2(ctx, KNOWN, value, scope) < 0:
            return 0
        if ctx.scope_gather[scope] == OBJECT_OF:
            if pool[value + 3] != OBJECT_TAG:
                return 0
            if i == 0 and closed:
                return value if holds == content else 0
            if not includes(ctx, holds, content):
                return 0
            if ctx.scope_flags[scope] & ORDERED:
                if not passes_over(ctx, record, scope, holds):
                    return 0
            if pending != NOTHING:
                text = 0 if pending == NO_BYTES else pending
                value = int(member_of(ctx, holds, text))
        else:
            if pool[value + 3] != ARRAY_TAG:
                return 0
            if i == 0 and closed:
                return value if holds == content else 0
            n = int(length_of(ctx, content))
            if pending == NOTHING:
                if first_of(ctx, holds, n) != content:
                    return 0
            else:
                holds = int(first_of(ctx, holds, n + 1))
                if holds < 0 or pool[holds + 3] != content:
                    return 0
                value = int(pool[holds + 4])
        if value == 0:
            return 0
    return value


@jit
def began_so(ctx, frame, levels, closed):
    """How many values that came in a scope begin as the levels below it do."""
    pool = ctx.pool
    count = ctx.count
    values = int(pool[pool[frame + 4] + CONTENT])
    total = 0
    while values > 0 and count[UNCLEAR] == 0:
        count[WORK] += 1
        if extends(ctx, int(pool[values + 4]), levels, closed) != 0:
            total += 1
        values = int(pool[values + 3])
    return total


@jit
def level(ctx, levels, frame, record):
    """Add the record of a scope to the levels; their number, or -1 where it is not known what has come."""
    pool = ctx.pool
    if pool[record + CONTENT] < 0 or pool[record + PENDING] < 0:
        return -1
    if levels >= MOST_LEVELS:
        raise Complex
    ctx.levels[levels] = record
    ctx.scopes[levels] = scope_of(ctx, frame)
    return levels + 1


@jit
def differs(ctx, frame, record, total, closed, way):
    """:func:`may_differ` on one way through the scopes around, and whether there are several."""
    pool = ctx.pool
    count = ctx.count
    levels = 0
    several = False
    while total < MANY:
        levels = int(level(ctx, levels, frame, record))
        if levels < 0:
            count[UNCLEAR] = 1
            return True, several
        frame, way, more = around(ctx, int(pool[frame + 5]), way)
        several = several or more
        if frame < 0:
            count[UNCLEAR] = 1
            return True, several
        if frame == 0 or gathers(ctx, frame) == 0:
            return True, several
        record = int(pool[frame + 4])
        flags = int(flags_of(ctx, frame))
        if flags & DISTINCT:
            if pool[record + CONTENT] < 0:
                count[UNCLEAR] = 1
                return True, several
            total -= int(began_so(ctx, frame, levels, closed))
            if total <= 0:
                return False, several
            if flags & OUTERMOST:
                return way == 0, several
        if pool[record + IS_APART] != 0:
            return way == 0, several
        total = min(MANY, total * int(ways(ctx, record, int(scope_of(ctx, frame)))))
    return way == 0, several


@jit
def may_differ(ctx, frame, record, total, closed):
    """Whether what the scope of a frame becomes, its record as given, can still differ from what came.

    ``total``: in how many ways what comes next in it can; ``closed``: nothing does. Where that depends on
    what is not known, ``count[UNCLEAR]`` is set.
    """
    count = ctx.count
    if flags_of(ctx, frame) & OUTERMOST:
        return True
    if not closed:
        rest = int(ways(ctx, record, int(scope_of(ctx, frame))))
        total = min(MANY, total * rest)
    if total <= 0:
        return False
    if total >= MANY or ctx.pool[record + IS_APART] != 0:
        return True
    way = 0
    while way < MOST_WAYS and count[UNCLEAR] == 0:
        alive, several = differs(ctx, frame, record, total, closed, way)
        if alive:
            return True
        if not several:
            return False
        way += 1
    return count[UNCLEAR] != 0


@jit
def places(ctx, frame, record, keeps):
    """How many values that came begin as what the scope of a frame becomes, its record as given; -1: not known.

    With ``keeps`` what they have at the place that is next goes into ``tree`` (where a name is next in an object,
    these are the objects), else the first one is enough.
    """
    pool = ctx.pool
    count = ctx.count
    first = frame
    found = 0
    tree = ctx.tree
    way = 0
    while way < MOST_WAYS:
        frame = first
        now = record
        levels = 0
        left = way
        several = False
        while True:
            levels = int(level(ctx, levels, frame, now))
            if levels < 0:
                return -1
            frame, left, more = around(ctx, int(pool[frame + 5]), left)
            several = several or more
            if frame <= 0 or gathers(ctx, frame) == 0:
                return -1
            now = int(pool[frame + 4])
            flags = int(flags_of(ctx, frame))
            if flags & DISTINCT:
                values = int(pool[now + CONTENT])
                if values < 0:
                    return -1
                while values > 0 and left == 0:
                    count[WORK] += 1
                    value = int(pool[values + 4])
                    one = int(extends(ctx, value, levels, False))
                    if one != 0 and not keeps:
                        return 1
                    if one != 0:
                        if found >= ctx.tree.size:
                            raise Complex
                        tree[found] = one
                        found += 1
                    values = int(pool[values + 3])
                if flags & OUTERMOST:
                    break
            if pool[now + IS_APART] != 0:
                break
        if not several:
            break
        way += 1
    return found


@jit
def told(ctx, frame, record, exact):
    """A record of the scope of a frame with what is known of its being apart from what came.

    In a walk, what is apart is not looked at any more: it need not be told from others that are.
    """
    pool = ctx.pool
    content = int(pool[record + CONTENT])
    pending = int(pool[record + PENDING])
    apart = int(pool[record + IS_APART])
    if flags_of(ctx, frame) & OUTERMOST:
        return record
    if apart == 0 and places(ctx, frame, record, False) == 0:
        apart = 1
    if apart != 0 and not exact and ctx.count[KEEP] == 0:
        if flags_of(ctx, frame) & DISTINCT == 0:
            content = UNSAID
        if pending > ITEM:
            pending = LOST
    return int(filled(ctx, record, content, pending, apart))


@jit
def begins_apart(ctx, stacks):
    """Whether what begins on a SET is known to be apart from all values that came."""
    pool = ctx.pool
    way = 0
    while way < MOST_WAYS:
        frame, _, several = around(ctx, stacks, way)
        if frame <= 0 or gathers(ctx, frame) == 0:
            return 0
        record = int(pool[frame + 4])
        flags = int(flags_of(ctx, frame))
        if flags & DISTINCT and pool[record + CONTENT] != 0:
            return 0
        if flags & OUTERMOST == 0 and pool[record + IS_APART] == 0:
            return 0
        if not several:
            return 1
        way += 1
    return 1


@jit
def beside(ctx, frame, number, role, root, cell):
    """What a text that begins in a scope is read beside: ``(tree of the texts there, tree of what may not end)``.

    The first is OFF when the text is apart from all that came, LOST when that is not known. The second is
    ``root``, a tree of texts that came, with more of them in ``cell``: those which nothing that
    follows makes different.
    """
    pool = ctx.pool
    count = ctx.count
    record = int(pool[frame + 4])
    if pool[record + IS_APART] != 0:
        return OFF, root
    found = int(places(ctx, frame, record, True))
    if role == NAME_ROLE:
        if found == 0:
            return OFF, root
        if found == 1:
            return int(pool[ctx.tree[0] + 4]), root
        return LOST, root
    if found < 0:
        if ways(ctx, record, int(scope_of(ctx, frame))) < MANY:
            count[UNCLEAR] = 1
        return LOST, root
    along = OFF
    tree = ctx.tree
    # directly in the outermost array, that nothing makes a text another value is a matter of how often it came
    limit = -1
    parent, _, several = around(ctx, int(pool[frame + 5]), 0)
    if parent > 0 and not several and gathers(ctx, parent) != 0:
        if flags_of(ctx, parent) & OUTERMOST:
            limit = int(ways(ctx, record, int(scope_of(ctx, frame))))
    for i in range(found):
        value = int(tree[i])
        if pool[value + 3] != role:
            continue
        text = int(pool[value + 4])
        along = int(paired(ctx, along, text, 1))
        if find2(ctx, KNOWN, value, -1 - number) < 0:
            continue
        if limit >= 0:
            same = 1
            j = 0
            while same < limit and j < found:
                if j != i and tree[j] == value:
                    same += 1
                j += 1
            if same >= limit:
                root = int(planted(ctx, root, text, number, cell))
            continue
        after = int(joined(ctx, frame, record, value))
        if not may_differ(ctx, frame, after, 1, False):
            root = int(planted(ctx, root, text, number, cell))
        if count[UNCLEAR] != 0:
            break
    return along, root

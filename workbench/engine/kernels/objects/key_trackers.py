"""Texts that are watched while they are read: where they stand in the trees of texts."""

from __future__ import annotations

from workbench.engine.kernels.constants import (
    ASK,
    FAR_INSIDE,
    FRAME,
    GONE,
    IS_FRESH,
    IS_KNOWN,
    KEEP,
    LOST,
    OFF,
    SCOPE_SITE,
    SITE_BASE,
    TEXT,
    UNKEPT,
    WATCH,
)
from workbench.engine.kernels.frames import with_frame
from workbench.engine.kernels.hash_consing import term2, term6
from workbench.engine.kernels.objects.key_tries import seen_child, utf8_byte
from workbench.engine.kernels.signatures import jit


@jit
def excluded(ctx, value):
    """Whether a watched text, ended here, would be one that may not come."""
    pool = ctx.pool
    if value < 0 or pool[value + 4] == IS_KNOWN:
        return value >= 0
    if pool[value + 4] != 0 and pool[value + 4] != IS_FRESH:
        return False
    if pool[value + 3] >= 0 and ctx.tree_end[pool[value + 3]] != 0:
        return True
    return pool[value + 6] >= 0 and pool[pool[value + 6] + 3] != 0


@jit
def tree_child(ctx, node, byte):
    """Child of a node of a tree of texts, or -1."""
    for i in range(ctx.tree_start[node], ctx.tree_start[node + 1]):
        if ctx.tree_byte[i] == byte:
            return int(ctx.tree_node[i])
    return -1


@jit
def may_spell(ctx, node, number, missing):
    """Whether a child of a node may be what hexadecimal digits spell, ``missing`` bits before their end."""
    for i in range(ctx.tree_start[node], ctx.tree_start[node + 1]):
        byte = int(ctx.tree_byte[i])
        if byte >= 0x80 or byte >> missing == number:
            return True
    return False


@jit
def watch_byte(ctx, node, seen, text, along, byte):
    """Where a watched text stands after one more byte of it: node, SEEN (or GONE), TEXT, SEEN beside it."""
    if node >= 0:
        node = int(tree_child(ctx, node, byte))
    if seen >= 0:
        seen = int(seen_child(ctx, seen, byte))
        if seen >= 0 and ctx.pool[seen + 5] != 0:
            seen = GONE
    if text >= 0:
        text = int(term2(ctx, TEXT, text, byte))
    if along >= 0:
        along = int(seen_child(ctx, along, byte))
    return node, seen, text, along


@jit
def watch(ctx, value, byte, exact):  # noqa: C901 - one branch a phase of an escape
    """Where a watched text stands after one more byte of its JSON spelling.

    FAR_INSIDE: off the trees; GONE: all texts that begin so have come.

    Phases: 0 between characters (or within one, in UTF-8), 1 after a backslash, 2 to 5 before the digits
    of ``\\u``, 6 after a high surrogate, 7 after its backslash, 8 to 11 before the digits of the low one.
    The automaton sees to it that the spelling is well-formed.
    """
    pool = ctx.pool
    node = int(pool[value + 3])
    phase = int(pool[value + 4])
    number = int(pool[value + 5])
    seen = int(pool[value + 6])
    text = int(pool[value + 7])
    along = int(pool[value + 8])
    keeps = exact or ctx.count[KEEP] != 0 or seen <= ASK
    if not keeps and along < 0:
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
            node, seen, text, along = watch_byte(ctx, node, seen, text, along, byte)
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
        if node >= 0 and phase < 5 and not may_spell(ctx, node, number, 4 * (5 - phase)):
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
            node, seen, text, along = watch_byte(ctx, node, seen, text, along, part)
            if seen == GONE:
                break
            i += 1
            part = int(utf8_byte(code, i))
    if seen == GONE:
        return GONE
    if after == 0 or after == 1 or after == 2:
        number = 0
    if not keeps and along < 0:
        text = UNKEPT
    if node < 0 and seen < 0 and text < 0 and along == OFF and seen != LOST:
        return FAR_INSIDE
    return int(term6(ctx, WATCH, node, after, number, seen, text, along))


@jit
def watched(ctx, stacks, byte, exact):
    """A SET of watching frames after one more byte; -1 when none of them may go on."""
    pool = ctx.pool
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
            value = int(watch(ctx, value, byte, exact))
        if value == GONE:
            continue
        target, parents = int(pool[frame + 3]), int(pool[frame + 5])
        result = int(with_frame(ctx, result, target, value, parents))
    return result


@jit
def cut_watched(ctx, stacks):
    """Mark the symbols that a watched SET tells apart from their neighbours (``cut``)."""
    pool = ctx.pool
    cut = ctx.cut
    for i in range(int(pool[stacks]) >> 5):
        value = int(pool[pool[stacks + 3 + i] + 4])
        if value < 0:
            continue
        phase = int(pool[value + 4])
        if phase == 1:
            for byte in (0x22, 0x2F, 0x5C, 0x62, 0x66, 0x6E, 0x72, 0x74, 0x75):
                cut[byte] = 1
                cut[byte + 1] = 1
        elif phase != 0 and phase != 6 and phase != 7:
            for digit in range(11):
                cut[0x30 + digit] = 1
            for digit in range(7):
                cut[0x41 + digit] = 1
                cut[0x61 + digit] = 1
        if phase != 0:
            continue
        cut[0x5C] = 1
        cut[0x5D] = 1
        node = int(pool[value + 3])
        if node >= 0:
            for c in range(ctx.tree_start[node], ctx.tree_start[node + 1]):
                byte = int(ctx.tree_byte[c])
                cut[byte] = 1
                cut[byte + 1] = 1
        for seen in (int(pool[value + 6]), int(pool[value + 8])):
            if seen >= 0:
                for c in range(seen + 6, seen + 3 + (int(pool[seen]) >> 5), 2):
                    cut[pool[c]] = 1
                    cut[pool[c] + 1] = 1


@jit
def undecided(ctx, stacks):
    """Whether a frame in a SET watches a text of which each byte matters, and what came is not known."""
    pool = ctx.pool
    for i in range(int(pool[stacks]) >> 5):
        frame = int(pool[stacks + 3 + i])
        if pool[frame] & 31 != FRAME or pool[frame + 3] < SITE_BASE or pool[frame + 4] < 0:
            continue
        loop = int(ctx.site_loop[pool[frame + 3] - SITE_BASE])
        if loop >= 0 or loop <= SCOPE_SITE or pool[pool[frame + 4] + 6] != LOST:
            continue
        if ctx.watch_loose[-1 - loop] == 0:
            return True
    return False


@jit
def keeps_text(ctx, stacks):
    """Whether a watching frame in a SET keeps the text that is read: then all bytes differ."""
    pool = ctx.pool
    for i in range(int(pool[stacks]) >> 5):
        frame = int(pool[stacks + 3 + i])
        if pool[frame] & 31 != FRAME or pool[frame + 4] < 0:
            continue
        value = int(pool[frame + 4])
        if pool[value + 7] >= 0 and (ctx.count[KEEP] != 0 or pool[value + 6] <= ASK):
            return True
    return False

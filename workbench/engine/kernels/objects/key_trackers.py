"""Key trackers: where a text that is read stands in the tries of keys, byte by byte of its JSON spelling."""

from __future__ import annotations

from workbench.engine.kernels.constants import (
    ASK,
    EXHAUSTED,
    FAR_INSIDE,
    FRAME,
    IS_FRESH,
    IS_KNOWN,
    KEEP,
    LOST,
    OFF,
    SCOPE_SITE,
    SITE_BASE,
    TEXT,
    TRACKER,
    UNKEPT,
)
from workbench.engine.kernels.hash_consing import node2, node6
from workbench.engine.kernels.objects.key_tries import trie_child, utf8_byte
from workbench.engine.kernels.signatures import jit
from workbench.engine.kernels.stack_frames import with_frame


@jit
def excluded(ctx, value):
    """Whether a tracked text, ended here, would be one that may not come."""
    arena = ctx.arena
    if value < 0 or arena[value + 4] == IS_KNOWN:
        return value >= 0
    if arena[value + 4] != 0 and arena[value + 4] != IS_FRESH:
        return False
    if arena[value + 3] >= 0 and ctx.tree_end[arena[value + 3]] != 0:
        return True
    return arena[value + 6] >= 0 and arena[arena[value + 6] + 3] != 0


@jit
def tree_child(ctx, node, byte):
    """Child of a node of a key trie, or -1."""
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
def track_byte(ctx, node, trie, text, compared, byte):
    """Where a tracked text stands after one more byte: node, KEY_TRIE (or EXHAUSTED), TEXT, KEY_TRIE compared with."""
    if node >= 0:
        node = int(tree_child(ctx, node, byte))
    if trie >= 0:
        trie = int(trie_child(ctx, trie, byte))
        if trie >= 0 and ctx.arena[trie + 5] != 0:
            trie = EXHAUSTED
    if text >= 0:
        text = int(node2(ctx, TEXT, text, byte))
    if compared >= 0:
        compared = int(trie_child(ctx, compared, byte))
    return node, trie, text, compared


@jit
def escaped(byte):
    """The code point that a byte after a backslash stands for in JSON; -1 for ``u``, whose digits follow."""
    if byte == 0x75:
        return -1
    if byte == 0x62:
        return 8
    if byte == 0x66:
        return 12
    if byte == 0x6E:
        return 10
    if byte == 0x72:
        return 13
    if byte == 0x74:
        return 9
    return byte


@jit
def track(ctx, value, byte, exact):
    """Where a tracked text stands after one more byte of its JSON spelling.

    FAR_INSIDE: off the trees; EXHAUSTED: all texts that begin so have come.

    Phases: 0 between characters (or within one, in UTF-8), 1 after a backslash, 2 to 5 before the digits
    of ``\\u``, 6 after a high surrogate, 7 after its backslash, 8 to 11 before the digits of the low one.
    The automaton sees to it that the spelling is well-formed.
    """
    arena = ctx.arena
    node = int(arena[value + 3])
    phase = int(arena[value + 4])
    number = int(arena[value + 5])
    trie = int(arena[value + 6])
    text = int(arena[value + 7])
    compared = int(arena[value + 8])
    keeps = exact or ctx.count[KEEP] != 0 or trie <= ASK
    if not keeps and compared < 0:
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
            node, trie, text, compared = track_byte(ctx, node, trie, text, compared, byte)
    elif phase == 1:
        code = int(escaped(byte))
        after = 2
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
        unit = int(utf8_byte(code, 0))
        while unit >= 0:
            node, trie, text, compared = track_byte(ctx, node, trie, text, compared, unit)
            if trie == EXHAUSTED:
                break
            i += 1
            unit = int(utf8_byte(code, i))
    if trie == EXHAUSTED:
        return EXHAUSTED
    if after == 0 or after == 1 or after == 2:
        number = 0
    if not keeps and compared < 0:
        text = UNKEPT
    if node < 0 and trie < 0 and text < 0 and compared == OFF and trie != LOST:
        return FAR_INSIDE
    return int(node6(ctx, TRACKER, node, after, number, trie, text, compared))


@jit
def tracked(ctx, stacks, byte, exact):
    """A SET of tracking frames after one more byte; -1 when none of them may go on."""
    arena = ctx.arena
    n = int(arena[stacks]) >> 5
    moves = False
    for i in range(n):
        if arena[arena[stacks + 3 + i] + 4] >= 0:
            moves = True
    if not moves:
        return stacks
    result = -1
    for i in range(n):
        frame = int(arena[stacks + 3 + i])
        value = int(arena[frame + 4])
        if value >= 0:
            value = int(track(ctx, value, byte, exact))
        if value == EXHAUSTED:
            continue
        target, parents = int(arena[frame + 3]), int(arena[frame + 5])
        result = int(with_frame(ctx, result, target, value, parents))
    return result


@jit
def cut_tracked(ctx, stacks):
    """Mark the symbols that a SET of tracking frames tells apart from their neighbours (``cut``)."""
    arena = ctx.arena
    cut = ctx.cut
    for i in range(int(arena[stacks]) >> 5):
        value = int(arena[arena[stacks + 3 + i] + 4])
        if value < 0:
            continue
        phase = int(arena[value + 4])
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
        node = int(arena[value + 3])
        if node >= 0:
            for c in range(ctx.tree_start[node], ctx.tree_start[node + 1]):
                byte = int(ctx.tree_byte[c])
                cut[byte] = 1
                cut[byte + 1] = 1
        for trie in (int(arena[value + 6]), int(arena[value + 8])):
            if trie >= 0:
                for c in range(trie + 6, trie + 3 + (int(arena[trie]) >> 5), 2):
                    cut[arena[c]] = 1
                    cut[arena[c] + 1] = 1


@jit
def undecided(ctx, stacks):
    """Whether a frame in a SET tracks a text of which each byte matters, and the earlier keys are not known."""
    arena = ctx.arena
    for i in range(int(arena[stacks]) >> 5):
        frame = int(arena[stacks + 3 + i])
        if arena[frame] & 31 != FRAME or arena[frame + 3] < SITE_BASE or arena[frame + 4] < 0:
            continue
        loop = int(ctx.site_loop[arena[frame + 3] - SITE_BASE])
        if loop >= 0 or loop <= SCOPE_SITE or arena[arena[frame + 4] + 6] != LOST:
            continue
        if ctx.watch_loose[-1 - loop] == 0:
            return True
    return False


@jit
def keeps_text(ctx, stacks):
    """Whether a tracking frame in a SET keeps the text that is read: then all bytes differ."""
    arena = ctx.arena
    for i in range(int(arena[stacks]) >> 5):
        frame = int(arena[stacks + 3 + i])
        if arena[frame] & 31 != FRAME or arena[frame + 4] < 0:
            continue
        value = int(arena[frame + 4])
        if arena[value + 7] >= 0 and (ctx.count[KEEP] != 0 or arena[value + 6] <= ASK):
            return True
    return False

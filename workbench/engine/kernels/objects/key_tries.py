"""Key tries: the earlier texts in a scope, and how many more texts of a language there are."""

from __future__ import annotations

from workbench.engine.kernels.constants import KEY_TRIE, MANY, OFF, Complex
from workbench.engine.kernels.hash_consing import intern
from workbench.engine.kernels.signatures import jit


@jit
def trie_child(ctx, trie, byte):
    """Child of a node of a key trie, or OFF."""
    arena = ctx.arena
    for i in range(trie + 6, trie + 3 + (int(arena[trie]) >> 5), 2):
        if arena[i] == byte:
            return int(arena[i + 1])
    return OFF


@jit
def utf8_byte(code, i):
    """Byte ``i`` of a code point in UTF-8, or -1 behind its last."""
    left = 0 if code < 0x80 else 1 if code < 0x800 else 2 if code < 0x10000 else 3
    if i > left:
        return -1
    if i == 0:
        if left == 0:
            return code
        return ((0xFF00 >> (left + 1)) & 0xFF) | (code >> 6 * left)
    return 0x80 | ((code >> 6 * (left - i)) & 63)


@jit
def texts_from(ctx, state, low, high):
    """How many texts of a language follow in a state with a character out of a range; MANY at most."""
    total = 0
    for i in range(ctx.step_start[state], ctx.step_start[state + 1]):
        first = max(low, int(ctx.step_low[i]))
        last = min(high, int(ctx.step_high[i]))
        if first <= last:
            left = int(ctx.texts_left[ctx.step_target[i]])
            total = min(MANY, total + (last - first + 1) * left)
    return total


@jit
def step_in(ctx, state, code):
    """The state of a language after a character, or -1."""
    for i in range(ctx.step_start[state], ctx.step_start[state + 1]):
        if ctx.step_low[i] <= code <= ctx.step_high[i]:
            return int(ctx.step_target[i])
    return -1


@jit
def measure(ctx, language, n):
    """How many texts of a language begin as the text does, after each of its bytes, into ``left``.

    The ``n`` bytes are in ``text``, the last one first. Before the first byte it is entry 0.
    """
    left = ctx.left
    text = ctx.text
    for i in range(n + 1):
        left[i] = MANY
    if language < 0:
        return
    state = int(ctx.language_at[language])
    left[0] = ctx.texts_left[state]
    code = 0
    missing = 0
    for i in range(n):
        byte = int(text[n - 1 - i])
        if missing > 0:
            code = code << 6 | (byte & 63)
            missing -= 1
        elif byte < 0x80:
            code = byte
        elif byte < 0xE0:
            code = byte & 31
            missing = 1
        elif byte < 0xF0:
            code = byte & 15
            missing = 2
        else:
            code = byte & 7
            missing = 3
        if missing > 0:
            low = code << 6 * missing
            left[i + 1] = texts_from(ctx, state, low, low + (1 << 6 * missing) - 1)
            continue
        state = int(step_in(ctx, state, code))
        if state < 0:
            return
        left[i + 1] = ctx.texts_left[state]


@jit
def bytes_of(ctx, text):
    """The bytes of a TEXT into ``text``, the last one first; how many, -1 when there is no room for them."""
    arena = ctx.arena
    n = 0
    at = ctx.text
    size = int(ctx.text.size)
    while text > 0:
        if n >= size:
            return -1
        at[n] = arena[text + 4]
        n += 1
        text = int(arena[text + 3])
    return n


@jit
def trie_below(ctx, node, n):
    """Node of a key trie behind the ``n`` bytes in ``text``, or OFF."""
    at = ctx.text
    while n > 0 and node >= 0:
        n -= 1
        node = int(trie_child(ctx, node, int(at[n])))
    return node


@jit
def trie_has(ctx, trie, text, cell):
    """Whether a text, given as a TEXT, is in the trie of a cell; -1 when it is too long to tell."""
    n = int(bytes_of(ctx, text))
    if n < 0:
        return -1
    trie = int(trie_below(ctx, trie_child(ctx, trie, cell), n))
    return 1 if trie >= 0 and ctx.arena[trie + 3] != 0 else 0


@jit
def trie_node(ctx, node, byte, below, ends, limit):
    """A node of a key trie with another child (byte -1: none) or end; ``limit`` texts fill it."""
    arena = ctx.arena
    buffer = ctx.buffer
    k = 3
    put = byte < 0
    below_it = 0
    if node >= 0:
        ends |= int(arena[node + 3])
        for i in range(node + 6, node + 3 + (int(arena[node]) >> 5), 2):
            if not put and arena[i] >= byte:
                buffer[k] = byte
                buffer[k + 1] = below
                below_it += arena[below + 4]
                k += 2
                put = True
                if arena[i] == byte:
                    continue
            buffer[k] = arena[i]
            buffer[k + 1] = arena[i + 1]
            below_it += arena[arena[i + 1] + 4]
            k += 2
    if not put:
        buffer[k] = byte
        buffer[k + 1] = below
        below_it += arena[below + 4]
        k += 2
    below_it += 1 if ends != 0 else 0
    buffer[0] = ends
    buffer[1] = below_it
    buffer[2] = 1 if below_it >= limit else 0
    return intern(ctx, KEY_TRIE, buffer, 0, k)


@jit
def empty_trie(ctx):
    """The empty key trie."""
    buffer = ctx.buffer
    for i in range(3):
        buffer[i] = 0
    return int(intern(ctx, KEY_TRIE, buffer, 0, 3))


@jit
def trie_with(ctx, node, n, ends):
    """A key trie (OFF: none) with the ``n`` bytes in ``text`` ended so; as many as ``left`` says fill a node."""
    at = ctx.text
    path = ctx.trie_path
    left = ctx.left
    for i in range(n):
        path[i] = node
        if node >= 0:
            node = int(trie_child(ctx, node, int(at[n - 1 - i])))
    below = int(trie_node(ctx, node, -1, 0, ends, int(left[n])))
    for i in range(n):
        node = int(path[n - 1 - i])
        limit = int(left[n - 1 - i])
        below = int(trie_node(ctx, node, int(at[i]), below, 0, limit))
    return below


@jit
def trie_with_key(ctx, root, text, number, cell):
    """A key trie with one more in a cell, given as a TEXT that was tracked as ``number`` says."""
    n = int(bytes_of(ctx, text))
    if n < 0:
        raise Complex
    measure(ctx, int(ctx.watch_language[number]), n)
    # below the root, each cell has a trie of its own
    below = int(trie_with(ctx, trie_child(ctx, root, cell), n, 1))
    return int(trie_node(ctx, root, cell, below, 0, MANY))

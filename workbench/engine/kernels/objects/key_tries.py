"""Trees of the texts that came in a scope, and how many more texts of a language there are."""

from __future__ import annotations

from workbench.engine.kernels.constants import MANY, OFF, SEEN, Complex
from workbench.engine.kernels.hash_consing import intern
from workbench.engine.kernels.signatures import jit


@jit
def seen_child(ctx, seen, byte):
    """Child of a node of a tree of texts that came, or OFF."""
    pool = ctx.pool
    for i in range(seen + 6, seen + 3 + (int(pool[seen]) >> 5), 2):
        if pool[i] == byte:
            return int(pool[i + 1])
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
    pool = ctx.pool
    n = 0
    at = ctx.text
    size = int(ctx.text.size)
    while text > 0:
        if n >= size:
            return -1
        at[n] = pool[text + 4]
        n += 1
        text = int(pool[text + 3])
    return n


@jit
def below_text(ctx, node, n):
    """Node of a tree of texts behind the ``n`` bytes in ``text``, or OFF."""
    at = ctx.text
    while n > 0 and node >= 0:
        n -= 1
        node = int(seen_child(ctx, node, int(at[n])))
    return node


@jit
def came(ctx, seen, text, cell):
    """Whether a text, given as a TEXT, is in the tree of a cell; -1 when it is too long to tell."""
    n = int(bytes_of(ctx, text))
    if n < 0:
        return -1
    seen = int(below_text(ctx, seen_child(ctx, seen, cell), n))
    return 1 if seen >= 0 and ctx.pool[seen + 3] != 0 else 0


@jit
def grown(ctx, node, byte, below, ends, limit):
    """A node of a tree of texts with another child (byte -1: none) or end; ``limit`` texts fill it."""
    pool = ctx.pool
    buffer = ctx.buffer
    k = 3
    put = byte < 0
    came = 0
    if node >= 0:
        ends |= int(pool[node + 3])
        for i in range(node + 6, node + 3 + (int(pool[node]) >> 5), 2):
            if not put and pool[i] >= byte:
                buffer[k] = byte
                buffer[k + 1] = below
                came += pool[below + 4]
                k += 2
                put = True
                if pool[i] == byte:
                    continue
            buffer[k] = pool[i]
            buffer[k + 1] = pool[i + 1]
            came += pool[pool[i + 1] + 4]
            k += 2
    if not put:
        buffer[k] = byte
        buffer[k + 1] = below
        came += pool[below + 4]
        k += 2
    came += 1 if ends != 0 else 0
    buffer[0] = ends
    buffer[1] = came
    buffer[2] = 1 if came >= limit else 0
    return intern(ctx, SEEN, buffer, 0, k)


@jit
def no_texts(ctx):
    """The tree of no texts."""
    buffer = ctx.buffer
    for i in range(3):
        buffer[i] = 0
    return int(intern(ctx, SEEN, buffer, 0, 3))


@jit
def with_text(ctx, node, n, ends):
    """A tree of texts (OFF: none) with the ``n`` bytes in ``text`` ended so; as many as ``left`` says fill a node."""
    at = ctx.text
    way = ctx.way
    left = ctx.left
    for i in range(n):
        way[i] = node
        if node >= 0:
            node = int(seen_child(ctx, node, int(at[n - 1 - i])))
    below = int(grown(ctx, node, -1, 0, ends, int(left[n])))
    for i in range(n):
        node = int(way[n - 1 - i])
        limit = int(left[n - 1 - i])
        below = int(grown(ctx, node, int(at[i]), below, 0, limit))
    return below


@jit
def planted(ctx, root, text, number, cell):
    """A tree of texts with one more in a cell, given as a TEXT that was watched as ``number`` says."""
    n = int(bytes_of(ctx, text))
    if n < 0:
        raise Complex
    measure(ctx, int(ctx.watch_language[number]), n)
    # below the root, each cell has a tree of its own
    below = int(with_text(ctx, seen_child(ctx, root, cell), n, 1))
    return int(grown(ctx, root, cell, below, 0, MANY))

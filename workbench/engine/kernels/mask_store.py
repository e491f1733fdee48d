"""Stored masks, and slices of a trie: what needs no terms."""

from __future__ import annotations

from workbench.engine.kernels.constants import (
    NO_LINES,
    NODE,
    USED,
)
from workbench.engine.kernels.signatures import jit

#: words that are looked at in one go
_BLOCK = 64


@jit
def unpack_row(rows_at, rows, row, out):
    """Write a stored mask to ``out``."""
    start = rows_at[row]
    n = rows_at[row + 1] - start
    if n == out.size:
        # a slice: indices that may be negative would keep the loop from vectorising
        part = rows[start : start + n]
        for i in range(out.size):
            out[i] = part[i]
        return
    for i in range(out.size):
        out[i] = 0
    for i in range(start, start + n):
        token = int(rows[i])
        out[token >> 5] |= 1 << (token & 31)


@jit
def hash_words(words):
    """63-bit hash of a mask; sums that the compiler can run side by side."""
    h = 0
    g = 0
    for i in range(words.size):
        word = int(words[i]) & 0xFFFFFFFF
        h += (word ^ (i * 0x9E3779B1)) * (word + 0x85EBCA77)
        g += word * (2 * i + 0x2545F491)
    h = h & 0x7FFFFFFFFFFFFFFF
    h = h ^ (h >> 31)
    return (h * 0x1F123BB5 + g) & 0x7FFFFFFFFFFFFFFF


@jit
def is_empty(words):
    """Whether all words are 0."""
    together = 0
    for i in range(words.size):
        together |= int(words[i])
    return together == 0


@jit
def ones(words):
    """How many bits are set."""
    bits = 0
    if not is_empty(words):
        for i in range(words.size):
            word = int(words[i])
            while word:
                word &= word - 1
                bits += 1
    return bits


@jit
def pack_row(words, rows, at, limit):
    """Append a mask to the row store; returns its end, or -1 where there is no room.

    It is stored as token ids when they are an eighth of the words or fewer: setting a bit costs several
    times what copying a word does.
    """
    n = words.size
    bits = 0
    for first in range(0, n, _BLOCK):
        bits += ones(words[first : min(first + _BLOCK, n)])
        if 8 * bits > n:
            break
    size = n if 8 * bits > n else bits
    if at + size > limit:
        return -1
    if 8 * bits > n:
        part = rows[at : at + n]
        for i in range(part.size):
            part[i] = words[i]
        return at + n
    for first in range(0, n, _BLOCK):
        block = words[first : min(first + _BLOCK, n)]
        if is_empty(block):
            continue
        for i in range(block.size):
            word = int(block[i])
            token = 32 * (first + i)
            while word:
                if word & 0xFF == 0:
                    word >>= 8
                    token += 8
                    continue
                if word & 1:
                    rows[at] = token
                    at += 1
                word >>= 1
                token += 1
    return at


@jit
def is_row(rows_at, rows, row, words):
    """Whether a stored mask has these words."""
    start = rows_at[row]
    n = rows_at[row + 1] - start
    if n == words.size:
        part = rows[start : start + n]
        for first in range(0, n, _BLOCK):
            last = min(first + _BLOCK, n)
            one = part[first:last]
            other = words[first:last]
            apart = 0
            for i in range(one.size):
                apart |= int(one[i]) ^ int(other[i])
            if apart != 0:
                return False
        return True
    bits = 0
    for first in range(0, words.size, _BLOCK):
        bits += ones(words[first : min(first + _BLOCK, words.size)])
        if bits > n:
            return False
    for i in range(start, start + n):
        token = int(rows[i])
        if (int(words[token >> 5]) >> (token & 31)) & 1 == 0:
            return False
    return bits == n


@jit
def rehash_rows(row_hash, row_table, n):
    """Fill an empty table with the hashes of the first ``n`` stored masks."""
    mask = row_table.size - 1
    for row in range(n):
        content = row_hash[row]
        slot = (content ^ (content >> 17)) & mask
        while row_table[slot] >= 0:
            slot = (slot + 1) & mask
        row_table[slot] = row


@jit
def forget_rows(ctx):
    """Clear the mask rows of all mask trees."""
    pool = ctx.pool
    term = 3
    used = int(ctx.count[USED])
    while term < used:
        head = int(pool[term])
        if head & 31 == NODE:
            pool[term + 2] = -1
        term += (head >> 5) + 3


@jit
def character_begun(byte, beyond):
    """What is to come after the first byte of a character in UTF-8, C2 to F4: see :func:`character_on`."""
    left = 0 if byte < 0xE0 else 1 if byte < 0xF0 else 2
    kind = 1
    if byte == 0xE0:
        kind = 2
    elif byte == 0xED:
        kind = 3
    elif byte == 0xF0:
        kind = 4
    elif byte == 0xF4:
        kind = 5
    elif byte == 0xE2 and beyond == NO_LINES:
        kind = 6
    return 64 * left + kind


@jit
def character_on(rest, byte):
    """What is to come after one more byte of a character: 0 when it ends, -1 when the byte does not fit.

    It is 64 * (bytes after the next) + kind of the next: which values it may have.
    """
    kind = rest & 63
    low = 0xA0 if kind == 2 else 0x90 if kind == 4 else 0x80
    high = 0x9F if kind == 3 else 0x8F if kind == 5 else 0xBF
    if byte < low or byte > high or (kind == 7 and 0xA8 <= byte <= 0xA9):
        return -1
    if kind == 6 and byte == 0x80:
        return 7
    if rest < 64:
        return 0
    return 64 * ((rest >> 6) - 1) + 1


@jit
def slice_trie(bytes_, depths, skips, tokens, loops, beyond, most, states, lengths, exits, odd):  # noqa: PLR0913 - a trie and the parts of a slice, before there is a context
    """Part a trie for a slice: the tokens that stay inside its characters, and where others leave.

    ``loops`` holds the single bytes as eight words; ``beyond`` says which characters beyond ASCII
    belong too. ``states`` is scratch (3 * depths). ``lengths`` gets, per node that ends a token inside, the
    number of characters begun (one cut off by the token's end counts), -1 for all other nodes. ``exits``
    gets (node, characters before it, first byte) for each first node outside that follows a whole
    character; ``odd`` gets (node, a token below it) for those within a character or after ``most``
    characters. Nodes of depth 0 are no exits. Returns both numbers.
    """
    n = bytes_.size
    part = states.size // 3
    states[0] = 0
    states[part] = 0
    n_exits = 0
    n_odd = 0
    i = 0
    while i < n:
        depth = int(depths[i])
        byte = int(bytes_[i])
        state = int(states[depth])
        begun = int(states[part + depth])
        if depth == 0:
            states[2 * part] = byte
        after = -1
        if state == 0:
            if (loops[byte >> 5] >> (byte & 31)) & 1:
                after = 0
            elif beyond != 0 and 0xC2 <= byte <= 0xF4:
                after = int(character_begun(byte, beyond))
            if after >= 0:
                begun += 1
        else:
            after = int(character_on(state, byte))
        if after < 0 or begun > most:
            if depth > 0:
                if state == 0 and begun <= most:
                    exits[3 * n_exits] = i
                    exits[3 * n_exits + 1] = begun
                    exits[3 * n_exits + 2] = states[2 * part]
                    n_exits += 1
                else:
                    leaf = i
                    while tokens[leaf] < 0:
                        leaf += 1
                    odd[2 * n_odd] = i
                    odd[2 * n_odd + 1] = tokens[leaf]
                    n_odd += 1
            i = int(skips[i])
            continue
        states[depth + 1] = after
        states[part + depth + 1] = begun
        if tokens[i] >= 0:
            lengths[i] = begun
        i += 1
    return n_exits, n_odd


@jit
def rows_by_length(tokens, lengths, words, width):
    """Masks of the tokens inside a slice with at most 0, 1, 2, ... characters, ``width`` words each."""
    for i in range(tokens.size):
        if lengths[i] >= 0:
            token = int(tokens[i])
            words[int(lengths[i]) * width + (token >> 5)] |= 1 << (token & 31)
    for i in range(width, words.size):
        words[i] |= words[i - width]


@jit
def run_length(data, offsets, live):
    """Most consecutive bytes out of a set (``live``, 256 flags) inside one token."""
    best = 0
    for token in range(offsets.size - 1):
        run = 0
        for i in range(offsets[token], offsets[token + 1]):
            if live[data[i]] != 0:
                run += 1
                if run > best:
                    best = run
            else:
                run = 0
    return best

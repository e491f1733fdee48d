"""Stored masks: as words or, when few tokens may come, as their ids; equal ones are stored once."""

from __future__ import annotations

from workbench.engine.kernels.constants import MASK_NODE, USED
from workbench.engine.kernels.signatures import jit

#: words that are looked at in one go
_BLOCK = 64


@jit
def unpack_mask(masks_at, masks, number, out):
    """Write a stored mask to ``out``."""
    start = masks_at[number]
    n = masks_at[number + 1] - start
    if n == out.size:
        # a slice: indices that may be negative would keep the loop from vectorising
        part = masks[start : start + n]
        for i in range(out.size):
            out[i] = part[i]
        return
    for i in range(out.size):
        out[i] = 0
    for i in range(start, start + n):
        token = int(masks[i])
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
def pack_mask(words, masks, at, limit):
    """Append a mask to the store; returns its end, or -1 where there is no room.

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
        part = masks[at : at + n]
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
                    masks[at] = token
                    at += 1
                word >>= 1
                token += 1
    return at


@jit
def is_mask(masks_at, masks, number, words):
    """Whether a stored mask has these words."""
    start = masks_at[number]
    n = masks_at[number + 1] - start
    if n == words.size:
        part = masks[start : start + n]
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
        token = int(masks[i])
        if (int(words[token >> 5]) >> (token & 31)) & 1 == 0:
            return False
    return bits == n


@jit
def rehash_masks(mask_hash, mask_table, n):
    """Fill an empty table with the hashes of the first ``n`` stored masks."""
    wrap = mask_table.size - 1
    for number in range(n):
        content = mask_hash[number]
        slot = (content ^ (content >> 17)) & wrap
        while mask_table[slot] >= 0:
            slot = (slot + 1) & wrap
        mask_table[slot] = number


@jit
def forget_masks(ctx):
    """Forget the masks of all mask trees."""
    arena = ctx.arena
    node = 3
    used = int(ctx.count[USED])
    while node < used:
        head = int(arena[node])
        if head & 31 == MASK_NODE:
            arena[node + 2] = -1
        node += (head >> 5) + 3

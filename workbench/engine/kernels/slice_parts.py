"""The parts of a slice, made once a vocabulary: tokens inside it, and where the trie leaves it."""

from __future__ import annotations

from workbench.engine.kernels.characters import character_begun, character_on
from workbench.engine.kernels.signatures import jit


@jit
def slice_trie(  # noqa: PLR0913 - a trie and the parts of a slice, before there is a context
    bytes_, depths, skips, tokens, byte_class, non_ascii, most, states, lengths, exits, odd
):
    """Part a trie for a slice: the tokens that stay inside its characters, and where others leave.

    ``byte_class`` holds the single bytes as eight words; ``non_ascii`` says which characters beyond ASCII
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
            if (byte_class[byte >> 5] >> (byte & 31)) & 1:
                after = 0
            elif non_ascii != 0 and 0xC2 <= byte <= 0xF4:
                after = int(character_begun(byte, non_ascii))
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
def masks_by_length(tokens, lengths, words, width):
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

"""A byte trie over the tokens of a vocabulary, in flat depth-first arrays with skip links.

A walk that keeps only live prefixes is one forward scan: at node ``i`` look at ``byte[i]`` at depth
``depth[i]``; when the prefix lives go on to ``i + 1``, else jump to ``skip[i]``::

    >>> trie = build_trie([b"a", b"ab", b"b", b"", b"a"])
    >>> trie.byte.tolist(), trie.depth.tolist(), trie.skip.tolist()
    ([97, 98, 98], [0, 1, 0], [2, 2, 3])
    >>> trie.token.tolist(), trie.duplicates.tolist()
    ([0, 1, 2], [[0, 4]])

The trie knows bytes and token ids only, nothing of grammars or tokenizers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from workbench.errors import VocabularyError
from workbench.wording import number_of

__all__ = ["MAX_TOKEN_BYTES", "Trie", "build_trie"]

#: A longer token is refused: depths are 16-bit.
MAX_TOKEN_BYTES = 65_536


@dataclass(frozen=True, slots=True, eq=False)
class Trie:
    """Nodes in depth-first order, children in byte order; there is no root node.

    A subtree is the range ``[i, skip[i])``. Every leaf ends a token.
    """

    #: uint8[n]: the byte on the edge into the node.
    byte: npt.NDArray[np.uint8]
    #: uint16[n]: position of that byte in a token; 0 for a first byte.
    depth: npt.NDArray[np.uint16]
    #: int32[n]: index of the first node after the subtree of the node; ``n`` at the end.
    skip: npt.NDArray[np.int32]
    #: int32[n]: the lowest token id with exactly the bytes of this path, else -1.
    token: npt.NDArray[np.int32]
    #: int32[k, 2]: rows (id in ``token``, another id with the same bytes), in ascending order.
    duplicates: npt.NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.byte)

    def __repr__(self) -> str:
        tokens = int(np.count_nonzero(self.token >= 0)) + len(self.duplicates)
        return f"Trie({number_of(len(self), 'node')}, {number_of(tokens, 'token')})"


def build_trie(tokens: Sequence[bytes]) -> Trie:
    """Lay out all non-empty tokens; the id of a token is its index.

    Costs one sort of the tokens and a few NumPy passes. Raises VocabularyError for a token of more
    than MAX_TOKEN_BYTES bytes.
    """
    order = sorted((i for i, text in enumerate(tokens) if text), key=tokens.__getitem__)
    if not order:
        return _empty_trie()
    lengths = np.fromiter((len(tokens[i]) for i in order), np.int64, len(order))
    if int(lengths.max()) > MAX_TOKEN_BYTES:
        longest = order[int(lengths.argmax())]
        raise VocabularyError(
            f"token {longest} has {number_of(len(tokens[longest]), 'byte')}; the most is {MAX_TOKEN_BYTES:,}"
        )
    ids = np.array(order, np.int32)
    blob = np.frombuffer(b"".join([tokens[i] for i in order]), np.uint8)
    starts = np.cumsum(lengths) - lengths
    shared = _shared_prefixes(blob, starts, lengths)

    # Equal neighbours in the order are duplicates; the sort is stable, so the lowest id comes first.
    repeats = np.zeros(len(ids), bool)
    repeats[1:] = (shared[1:] == lengths[1:]) & (lengths[1:] == lengths[:-1])
    kept = np.flatnonzero(~repeats)
    owner = np.cumsum(~repeats) - 1
    duplicates = np.stack([ids[kept][owner[repeats]], ids[repeats]], axis=1)
    duplicates = duplicates[np.lexsort((duplicates[:, 1], duplicates[:, 0]))]

    ids, lengths, starts, shared = ids[kept], lengths[kept], starts[kept], shared[kept]
    fresh = lengths - shared  # nodes that a token adds to those of the token before it
    ends = np.cumsum(fresh)
    n = int(ends[-1])
    if n >= 2**31:
        raise VocabularyError(
            f"the byte trie would need {number_of(n, 'node')}; the most is {2**31 - 1:,}"
        )
    depth = np.arange(n) + np.repeat(shared - (ends - fresh), fresh)
    token = np.full(n, -1, np.int32)
    token[ends - 1] = ids
    return Trie(
        byte=blob[depth + np.repeat(starts, fresh)],
        depth=depth.astype(np.uint16),
        skip=_skip_links(depth),
        token=token,
        duplicates=np.ascontiguousarray(duplicates),
    )


def _empty_trie() -> Trie:
    return Trie(
        byte=np.zeros(0, np.uint8),
        depth=np.zeros(0, np.uint16),
        skip=np.zeros(0, np.int32),
        token=np.zeros(0, np.int32),
        duplicates=np.zeros((0, 2), np.int32),
    )


def _shared_prefixes(
    blob: npt.NDArray[np.uint8], starts: npt.NDArray[np.int64], lengths: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """Count the leading bytes that each token shares with the one before it in the order."""
    shared = np.zeros(len(starts), np.int64)
    shorter = np.minimum(lengths[1:], lengths[:-1])
    alive = np.arange(1, len(starts))
    position = 0
    while len(alive):
        alive = alive[shorter[alive - 1] > position]
        alive = alive[blob[starts[alive] + position] == blob[starts[alive - 1] + position]]
        position += 1
        shared[alive] = position
    return shared


def _skip_links(depth: npt.NDArray[np.int64]) -> npt.NDArray[np.int32]:
    """Find for each node the first later node that is not deeper, level by level."""
    n = len(depth)
    skip = np.empty(n, np.int32)
    by_depth = np.argsort(depth, kind="stable").astype(np.int32)
    bounds = np.concatenate([[0], np.cumsum(np.bincount(depth))])
    above = by_depth[: bounds[1]]
    skip[above] = np.append(above[1:], n)
    for level in range(1, len(bounds) - 1):
        nodes = by_depth[bounds[level] : bounds[level + 1]]
        parents = above[np.searchsorted(above, nodes) - 1]
        skip[nodes] = np.minimum(np.append(nodes[1:], n), skip[parents])
        above = nodes
    return skip

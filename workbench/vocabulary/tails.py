"""What may follow a part of a token, until the token ends: the byte trie with equal subtrees made one.

The minimal automaton of all tokens (acyclic; Revuz 1992). Where a text stands inside of a token is one of its nodes,
and texts that have the same ways to end their token stand at the same one: of 274,520 nodes of a trie 59,733 are left.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from workbench.vocabulary.trie import Trie
from workbench.vocabulary.vocabulary import Vocabulary

__all__ = ["ROOT", "Tails", "tails_of"]

#: Where a token begins.
ROOT = 0


@dataclass(frozen=True, slots=True, eq=False)
class Tails:
    """The children of node ``i`` are ``node[start[i]:start[i + 1]]``, by ascending ``byte``; node 0 is the root."""

    start: npt.NDArray[np.int32]
    byte: npt.NDArray[np.uint8]
    node: npt.NDArray[np.int32]
    #: uint8: whether a token ends at a node.
    ends: npt.NDArray[np.uint8]


@lru_cache(maxsize=8)
def tails_of(vocabulary: Vocabulary) -> Tails:
    """The tails of a vocabulary's tokens, made once."""
    return build_tails(vocabulary.trie)


def build_tails(trie: Trie) -> Tails:
    """Merge the equal subtrees of a trie, from its leaves up."""
    byte, skip, ends = trie.byte.tolist(), trie.skip.tolist(), (trie.token >= 0).tolist()
    n = len(byte)
    #: (whether a token ends, then byte << 32 | node of each child) -> node
    numbers: dict[tuple[int, ...], int] = {}
    kinds: list[tuple[int, ...]] = []
    node_of = [0] * n

    def children(first: int, stop: int) -> list[int]:
        found = []
        while first < stop:
            found.append(byte[first] << 32 | node_of[first])
            first = skip[first]
        return found

    for i in range(n - 1, -1, -1):
        kind = (int(ends[i]), *children(i + 1, skip[i]))
        number = numbers.get(kind)
        if number is None:
            number = numbers[kind] = len(kinds) + 1
            kinds.append(kind)
        node_of[i] = number
    kinds.insert(0, (0, *children(0, n)))
    links = np.array([link for kind in kinds for link in kind[1:]], dtype=np.int64)
    return Tails(
        start=np.cumsum([0, *(len(kind) - 1 for kind in kinds)], dtype=np.int32),
        byte=(links >> 32).astype(np.uint8),
        node=(links & 0xFFFFFFFF).astype(np.int32),
        ends=np.array([kind[0] for kind in kinds], dtype=np.uint8),
    )

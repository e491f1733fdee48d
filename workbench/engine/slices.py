"""Slices: for a set of characters, the tokens made of them alone, and the trie of all other tokens.

A state that each character of the set leads back to itself allows those tokens without a walk; only
the rest of the trie has to be walked. Slices depend on the vocabulary alone and are shared by all its
engines; those of a grammar's own loops are added when they are first met.
"""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from workbench.engine import kernels
from workbench.vocabulary import Vocabulary

__all__ = ["Slice", "Slices", "slices_of"]

#: a loop over fewer single bytes than this is walked in full
_LEAST_BYTES = 8
_MOST_SLICES = 64
_MOST_ROWS = 512


@dataclass(frozen=True, slots=True, eq=False)
class Slice:
    """``loops``: bit set of single bytes; ``utf8``: every character beyond ASCII belongs too."""

    loops: int
    utf8: bool
    #: masks of the tokens inside with at most 0, 1, 2, ... characters
    rows: NDArray[np.uint32]
    n_inside: int
    byte: NDArray[np.uint8]
    depth: NDArray[np.uint16]
    skip: NDArray[np.int32]
    token: NDArray[np.int32]


class Slices:
    """The slices of one vocabulary; the first is the empty one, with the whole trie."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        trie = vocabulary.trie
        self._lock = Lock()
        self._depths = vocabulary.max_token_bytes + 2
        words = np.zeros((1, (vocabulary.width + 31) // 32), dtype=np.uint32)
        self.whole = Slice(
            0,
            False,
            words,
            0,
            trie.byte.copy(),
            trie.depth.copy(),
            trie.skip.copy(),
            trie.token.copy(),
        )
        self._made: dict[tuple[int, bool], Slice] = {}

    def best(self, loops: int, utf8: bool) -> Slice:
        """The slice that saves most for a state with these loops; made when there is none that fits."""
        if loops.bit_count() < _LEAST_BYTES:
            return self.whole
        exact = self._made.get((loops, utf8))
        if exact is not None:
            return exact
        with self._lock:
            if len(self._made) < _MOST_SLICES:
                return self._made.setdefault((loops, utf8), self._make(loops, utf8))
        fitting = [
            one for one in self._made.values() if one.loops & ~loops == 0 and (utf8 or not one.utf8)
        ]
        return max(fitting, key=lambda one: one.n_inside, default=self.whole)

    def _make(self, loops: int, utf8: bool) -> Slice:
        whole = self.whole
        n = len(whole.byte)
        lengths = np.full(n, -1, dtype=np.int32)
        keep = np.zeros(n, dtype=np.bool_)
        bits = np.array([loops >> 32 * i & 0xFFFFFFFF for i in range(8)], dtype=np.uint32)
        states = np.zeros(3 * self._depths, dtype=np.int64)
        kernels.slice_trie(
            whole.byte, whole.depth, whole.skip, whole.token, bits, utf8, states, lengths, keep
        )
        width = whole.rows.shape[1]
        rows = np.zeros((min(int(lengths.max(initial=0)), _MOST_ROWS) + 1, width), dtype=np.uint32)
        long = lengths >= len(rows)
        # tokens of more characters than there are rows for are walked like those outside
        for node in np.flatnonzero(long):
            self._keep_path(int(node), keep)
        lengths[long] = -1
        kernels.rows_by_length(whole.token, lengths, rows.reshape(-1), width)
        # the nodes that are kept move up; a skip goes to the first kept node from its target on
        place = np.zeros(n + 1, dtype=np.int32)
        np.cumsum(keep, out=place[1:])
        token = np.where(lengths >= 0, np.int32(-1), whole.token)
        return Slice(
            loops,
            utf8,
            rows,
            int(np.count_nonzero(lengths >= 0)),
            whole.byte[keep],
            whole.depth[keep],
            place[whole.skip[keep]],
            token[keep],
        )

    def _keep_path(self, node: int, keep: NDArray[np.bool_]) -> None:
        depth = int(self.whole.depth[node])
        while True:
            keep[node] = True
            if depth == 0:
                return
            node -= 1
            while int(self.whole.depth[node]) >= depth:
                node -= 1
            depth -= 1


_slices: dict[str, Slices] = {}
_guard = Lock()


def slices_of(vocabulary: Vocabulary) -> Slices:
    """The shared slices of a vocabulary; those of a few vocabularies are kept."""
    with _guard:
        found = _slices.get(vocabulary.fingerprint)
        if found is None:
            while len(_slices) >= 8:
                _slices.pop(next(iter(_slices)))
            found = _slices[vocabulary.fingerprint] = Slices(vocabulary)
        return found

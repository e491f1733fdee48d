"""Slices: for a set of characters, the tokens made of them alone, and where all others leave it.

A state that each character of the set leads back to itself allows the tokens inside without a walk; of
the rest of the trie only what lies below an exit has to be walked, and only if the exit's byte may come.
Slices depend on the vocabulary alone and are shared by all its engines. Those of common sets are made with the
vocabulary, that of a grammar's own loop when walks of what smaller slices leave over have taken as long as it
takes to make one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from workbench.engine.kernels import constants, entries
from workbench.engine.kernels.context import Context, Part
from workbench.forks import Level, fork_lock
from workbench.vocabulary import Trie, Vocabulary

__all__ = ["Slice", "Slices", "slices_of"]

#: a loop over fewer single bytes than this is walked in full
_LEAST_BYTES = 8
_MOST_SLICES = 64
#: the part of a vocabulary that a wider slice must have more to be looked at
_GAIN = 64
#: tokens that are looked at in one go for the longest run
_TOKENS = 1024


def _bits(characters: bytes) -> int:
    return sum(1 << byte for byte in characters)


_LETTERS = _bits(b"abcdefghijklmnopqrstuvwxyz")
_DIGITS = _bits(b"0123456789")
#: in JSON strings
_TEXT = sum(1 << byte for byte in range(0x20, 0x80)) & ~_bits(b'"\\')
#: sets that get a slice at once: single bytes, and which characters beyond ASCII belong too
_COMMON = (
    (_TEXT, constants.ALL_NON_ASCII),
    (_TEXT, constants.NO_LINES),  # what a dot stands for in a pattern
    (_TEXT, 0),
    (_LETTERS | _bits(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ") | _DIGITS, 0),
    (_LETTERS, 0),
    (_DIGITS, 0),
)


@dataclass(frozen=True, slots=True, eq=False)
class Slice:
    """``byte_class``: single bytes, as eight words; ``non_ascii``: which characters beyond ASCII belong too."""

    byte_class: NDArray[np.uint32]
    non_ascii: int
    n_inside: int
    #: most bytes that a token has inside before it leaves or ends, or more
    longest: int
    #: what kernels take: ``masks``; per trie node ``lengths``: characters of the token inside that ends there,
    #: else -1; ``exits``: (node, characters before it, first byte) by the exit's byte; of these ``inner`` those
    #: that more bytes follow, ``leaves`` the tokens that end with an exit's byte; by that byte ``deepest``: most
    #: characters before it; ``odd``: (node, a token below it) of exits within a character
    part: Part


#: in place of a slice's arrays where there is none
NOTHING = Part()


class Slices:
    """The slices of one vocabulary."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        trie = vocabulary.trie
        self._lock = fork_lock(Level.SLICES)
        self.max_token_bytes = vocabulary.max_token_bytes
        self._depths = vocabulary.max_token_bytes + 2
        self.words = (vocabulary.width + 31) // 32
        # copies: the kernels take writable arrays only
        self.duplicates = trie.duplicates.astype(np.int32).reshape(-1).copy()
        self.blob = np.frombuffer(vocabulary.blob or b"\0", dtype=np.uint8).copy()
        self.offsets = vocabulary.offsets.astype(np.int64)
        self._runs: dict[int, int] = {}
        #: most bytes that a token has behind its last quotation mark: of tokens with one, with more
        self.tails = tuple(_tail(self.blob, self.offsets, least) for least in (1, 2))
        self.trie = Trie(
            trie.byte.copy(),
            trie.depth.copy(),
            trie.skip.copy(),
            trie.token.copy(),
            trie.duplicates,
        )
        #: what is the same for all engines of the vocabulary
        self.ctx = Context()
        self.ctx.place(
            bytes_=self.trie.byte,
            depths=self.trie.depth,
            skips=self.trie.skip,
            tokens=self.trie.token,
            duplicates=self.duplicates,
            blob=self.blob,
            offsets=self.offsets,
            eos=np.array(vocabulary.eos_ids, dtype=np.int64),
            # as many as of a mask; engines at work place others here
            words=np.zeros(self.words, dtype=np.uint32),
        )
        #: masks that no engine works on
        self.spare: list[NDArray[np.uint32]] = []
        self._made = {
            (byte_class, non_ascii): self._make(byte_class, non_ascii)
            for byte_class, non_ascii in _COMMON
        }
        self._widest_first = sorted(
            ((one.n_inside, byte_class, one) for (byte_class, _), one in self._made.items()),
            key=lambda entry: -entry[0],
        )
        self._gain = len(self.offsets) // _GAIN
        #: nodes walked for want of a slice
        self._walked: dict[tuple[int, int], int] = {}

    @cached_property
    def _longest_first(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint8]]:
        """The tokens by length, the longest first: their lengths, where each begins, and their bytes."""
        lengths = np.diff(self.offsets)
        order = np.argsort(-lengths, kind="stable")
        lengths = lengths[order]
        begins = np.concatenate([[0], lengths.cumsum()])
        starts = (self.offsets[:-1][order] - begins[:-1]).repeat(lengths)
        return lengths, begins, self.blob[starts + np.arange(len(starts))]

    def spare_words(self) -> NDArray[np.uint32]:
        """The words of a mask, whatever is in them, for an engine at work; it adds them to ``spare`` afterwards."""
        # another thread may take the last ones at the same time
        try:
            return self.spare.pop()
        except IndexError:
            return np.zeros(self.words, dtype=np.uint32)

    def longest_run(self, alphabet: int) -> int:
        """Most consecutive bytes of an alphabet (a 256-bit set) inside one token."""
        found = self._runs.get(alphabet)
        if found is None:
            if len(self._runs) > 10_000:
                self._runs.clear()
            live = np.array([alphabet >> b & 1 for b in range(256)], dtype=np.uint8)
            lengths, begins, text = self._longest_first
            found, first = 0, 0
            # the longest tokens first: as soon as no other one is longer than the run, it is the longest
            while first < len(lengths) and found < lengths[first]:
                offsets = begins[first : first + _TOKENS + 1]
                found = max(found, int(entries.run_length(text, offsets, live)))
                first += _TOKENS
            self._runs[alphabet] = found
        return found

    def best(self, byte_class: int, non_ascii: int) -> Slice | None:
        """The slice that saves most for a self-loop over these characters; its own is made when it is worth it.

        ``byte_class`` is a set of single bytes, as bits; ``non_ascii`` is ALL_NON_ASCII or 0. None when the class is
        too small to gain by one.
        """
        if byte_class.bit_count() < _LEAST_BYTES:
            return None
        exact = self._made.get((byte_class, non_ascii))
        if exact is not None:
            return exact
        with self._lock:
            if (
                self._walked.get((byte_class, non_ascii), 0) > len(self.trie)
                and len(self._made) < _MOST_SLICES
            ):
                return self._made.setdefault(
                    (byte_class, non_ascii), self._make(byte_class, non_ascii)
                )
            fitting = [
                one
                for (bytes_, wide), one in self._made.items()
                if bytes_ & ~byte_class == 0 and (non_ascii == constants.ALL_NON_ASCII or not wide)
            ]
        return max(fitting, key=lambda one: one.n_inside, default=None)

    def wider(self, part: Slice | None, alive: NDArray[np.uint32]) -> list[Slice]:
        """Common slices that hold many more tokens than one, the largest first.

        ``alive``: the bytes below 128 that may come first, as four words; all of a slice's are among them.
        """
        least = self._gain + (part.n_inside if part is not None else 0)
        if self._widest_first[0][0] <= least:
            return []
        bits = int.from_bytes(alive.tobytes(), "little")
        return [
            one
            for n_inside, byte_class, one in self._widest_first
            if n_inside > least and not byte_class & ~bits
        ]

    def walked(self, byte_class: int, non_ascii: int, nodes: int) -> None:
        """Count nodes of the trie that a walk with the best slice for these characters has visited."""
        if (byte_class, non_ascii) not in self._made:
            if len(self._walked) > 10_000:
                self._walked.clear()
            self._walked[byte_class, non_ascii] = (
                self._walked.get((byte_class, non_ascii), 0) + nodes
            )

    def _make(self, byte_class: int, non_ascii: int) -> Slice:
        trie = self.trie
        n = len(trie)
        lengths = np.full(n, -1, dtype=np.int32)
        bits = np.array([byte_class >> 32 * i & 0xFFFFFFFF for i in range(8)], dtype=np.uint32)
        states = np.zeros(3 * self._depths, dtype=np.int64)
        exits = np.empty(3 * n, dtype=np.int32)
        odd = np.empty(2 * n, dtype=np.int32)
        n_exits, n_odd = entries.slice_trie(
            trie.byte,
            trie.depth,
            trie.skip,
            trie.token,
            bits,
            non_ascii,
            constants.MOST_CHARACTERS,
            states,
            lengths,
            exits,
            odd,
        )
        masks = np.zeros((int(lengths.max(initial=0)) + 1, self.words), dtype=np.uint32)
        entries.masks_by_length(trie.token, lengths, masks.reshape(-1), self.words)
        found = exits[: 3 * n_exits].reshape(-1, 3)
        byte = trie.byte[found[:, 0]]
        order = np.argsort(byte, kind="stable")
        found, byte = found[order], byte[order]
        longer = trie.skip[found[:, 0]] > found[:, 0] + 1
        tokens = trie.token[found[:, 0]]
        deepest = np.zeros(256, dtype=np.int32)
        np.maximum.at(deepest, byte, found[:, 1])
        longest = max(int(lengths.max(initial=0)), int(found[:, 1].max(initial=0)))
        if non_ascii:
            longest = self.max_token_bytes
        return Slice(
            byte_class=bits,
            non_ascii=non_ascii,
            n_inside=int(np.count_nonzero(lengths >= 0)),
            longest=longest,
            part=Part(
                # masks of the tokens inside with at most 0, 1, 2, ... characters
                masks=masks.reshape(-1),
                exits=np.ascontiguousarray(found).reshape(-1),
                exits_at=_starts(byte),
                inner=np.ascontiguousarray(found[longer]).reshape(-1),
                inner_at=_starts(byte[longer]),
                leaves=tokens[tokens >= 0],
                leaves_at=_starts(byte[tokens >= 0]),
                odd=odd[: 2 * n_odd].copy(),
                lengths=lengths,
                byte_class=bits,
                deepest=deepest,
            ),
        )


def _tail(blob: NDArray[np.uint8], offsets: NDArray[np.int64], least: int) -> int:
    """Most bytes behind the last quotation mark of a token that has ``least`` of them or more."""
    quotes = np.flatnonzero(blob[: offsets[-1]] == 0x22)
    if not len(quotes):
        return 0
    token = np.searchsorted(offsets, quotes, side="right")
    last = np.append(token[1:] != token[:-1], True)
    many = np.bincount(token)[token] >= least
    tails = (offsets[token] - quotes - 1)[last & many]
    return int(tails.max(initial=0))


def _starts(sorted_bytes: NDArray[np.uint8]) -> NDArray[np.int32]:
    """Where each byte's entries begin among entries sorted by byte."""
    starts = np.zeros(257, dtype=np.int32)
    np.cumsum(np.bincount(sorted_bytes, minlength=256), out=starts[1:])
    return starts


_slices: dict[str, Slices] = {}
_guard = fork_lock(Level.VOCABULARY)


def slices_of(vocabulary: Vocabulary) -> Slices:
    """The shared slices of a vocabulary; those of a few vocabularies are kept."""
    with _guard:
        found = _slices.get(vocabulary.fingerprint)
        if found is None:
            while len(_slices) >= 8:
                _slices.pop(next(iter(_slices)))
            found = _slices[vocabulary.fingerprint] = Slices(vocabulary)
        return found

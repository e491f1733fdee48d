"""Flat arrays that the kernels read: the automaton packed into one, scratch space, counter zones."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from workbench.automaton.model import Automaton
from workbench.automaton.nfa import strongly_connected
from workbench.engine import kernels as k
from workbench.vocabulary import Vocabulary

__all__ = ["longest_run", "pack_automaton", "scratch"]

_BUFFER = 1 << 16


def pack_automaton(automaton: Automaton, vocabulary: Vocabulary) -> NDArray[np.int32]:
    """Pack an automaton into one int32 array: a header of offsets, then the arrays (see ``kernels``)."""
    a = automaton
    n_calls = len(a.call_entry)
    sites: dict[tuple[int, int], int] = {}
    call_return = a.call_return.astype(np.int32).copy()
    for i in np.flatnonzero(a.call_loop >= 0):
        site = sites.setdefault((int(a.call_loop[i]), int(a.call_return[i])), len(sites))
        call_return[i] = a.n_states + site
    words = (a.n_classes + 31) // 32
    byte_of = np.zeros(a.n_classes, dtype=np.int32)
    byte_of[a.byte_class[::-1]] = np.arange(255, -1, -1)
    header = np.zeros(k.AUTO_SLOTS, dtype=np.int32)
    header[[k.N_STATES, k.N_CLASSES, k.STRIDE, k.FIRST_WORDS]] = (
        a.n_states,
        a.n_classes,
        a.n_classes + 1,
        words,
    )
    parts: list[NDArray[np.int32]] = [header]
    size = header.size

    def put(slot: int, values: Iterable[int] | NDArray[np.generic]) -> None:
        nonlocal size
        array = np.asarray(values).astype(np.int32).ravel()
        header[slot] = size
        size += array.size
        parts.append(array)

    put(k.FINAL, a.final)
    put(k.EDGE_START, a.edge_start)
    put(k.EDGE_LO, a.edge_lo)
    put(k.EDGE_HI, a.edge_hi)
    put(k.EDGE_TARGET, a.edge_target)
    put(k.CALL_START, a.call_start)
    put(k.CALL_ENTRY, a.call_entry)
    put(k.CALL_RETURN, call_return)
    put(k.ENTRY_STATE, a.entry_state)
    put(k.ENTRY_FIRST, _first_classes(a, words))
    put(k.SITE_LOOP, np.array([loop for loop, _ in sites], dtype=np.int32))
    put(k.SITE_RETURN, np.array([after for _, after in sites], dtype=np.int32))
    put(k.LOOP_STATE, a.entry_state[a.loop_entry] if n_calls else a.loop_entry)
    put(k.LOOP_MIN, a.loop_min)
    put(k.LOOP_MAX, a.loop_max)
    put(k.LOOP_ZONE, [_reach(a, entry, vocabulary) for entry in a.loop_entry.tolist()])
    put(k.CLASS_OF, a.byte_class)
    put(k.BYTE_OF, byte_of)
    put(k.CALL_ORDER, _call_order(a))
    return np.concatenate(parts)


def _call_order(a: Automaton) -> list[int]:
    """Rank of each state: below the start states of what it calls, which form no cycles."""
    starts = a.entry_state[a.call_entry].tolist()
    bounds = a.call_start.tolist()
    rank = [0] * a.n_states
    callers = [s for s in range(a.n_states) if bounds[s] < bounds[s + 1]]
    if not callers:
        return rank
    components = strongly_connected(a.n_states, lambda s: starts[bounds[s] : bounds[s + 1]])
    for place, component in enumerate(components):
        for state in component:
            rank[state] = len(components) - place
    return rank


def _first_classes(a: Automaton, words: int) -> NDArray[np.int32]:
    """Per entry, the byte classes that may come first, as bits."""
    direct = [0] * len(a.entry_state)
    uses: list[list[int]] = [[] for _ in direct]
    for entry, state in enumerate(a.entry_state.tolist()):
        for e in range(a.edge_start[state], a.edge_start[state + 1]):
            low, high = int(a.byte_class[a.edge_lo[e]]), int(a.byte_class[a.edge_hi[e]])
            direct[entry] |= (1 << (high + 1)) - (1 << low)
        uses[entry] = a.call_entry[a.call_start[state] : a.call_start[state + 1]].tolist()
    users: list[list[int]] = [[] for _ in direct]
    for entry, called in enumerate(uses):
        for callee in called:
            users[callee].append(entry)
    todo = list(range(len(direct)))
    while todo:
        callee = todo.pop()
        for entry in users[callee]:
            both = direct[entry] | direct[callee]
            if both != direct[entry]:
                direct[entry] = both
                todo.append(entry)
    out = np.zeros((len(direct), words), dtype=np.uint32)
    for entry, bits in enumerate(direct):
        for word in range(words):
            out[entry, word] = bits >> 32 * word & 0xFFFFFFFF
    return out.view(np.int32)


def _reach(a: Automaton, entry: int, vocabulary: Vocabulary) -> int:
    """More iterations of a loop's body than one token can complete."""
    least = max(1, int(a.entry_distance[entry]))
    seen = {int(a.entry_state[entry])}
    order = list(seen)
    alphabet = 0
    for state in order:
        for e in range(a.edge_start[state], a.edge_start[state + 1]):
            alphabet |= (1 << (int(a.edge_hi[e]) + 1)) - (1 << int(a.edge_lo[e]))
        following = a.edge_target[a.edge_start[state] : a.edge_start[state + 1]].tolist()
        for c in range(a.call_start[state], a.call_start[state + 1]):
            following += [int(a.call_return[c]), int(a.entry_state[a.call_entry[c]])]
        for target in following:
            if target not in seen:
                seen.add(target)
                order.append(target)
    return longest_run(vocabulary, alphabet) // least + 2


_runs: dict[tuple[str, int], int] = {}


def longest_run(vocabulary: Vocabulary, alphabet: int) -> int:
    """Most consecutive bytes of an alphabet (a 256-bit set) inside one token."""
    key = (vocabulary.fingerprint, alphabet)
    if key not in _runs:
        if len(_runs) > 10_000:
            _runs.clear()
        member = np.array([alphabet >> b & 1 for b in range(256)], dtype=np.bool_)
        blob = np.frombuffer(vocabulary.blob, dtype=np.uint8)
        # a run ends at a byte outside and at the end of a token
        breaks = np.flatnonzero(~member[blob])
        ends = vocabulary.offsets.astype(np.int64)
        cuts = np.unique(np.concatenate([breaks, breaks + 1, ends]))
        gaps = np.diff(cuts)
        inside = np.ones(len(gaps), dtype=np.bool_)
        inside[np.searchsorted(cuts, breaks)] = False
        _runs[key] = int(gaps[inside].max(initial=0))
    return _runs[key]


def scratch(n_states: int, max_token_bytes: int) -> NDArray[np.int32]:
    """Scratch space of the kernels, all zero, with its header of offsets."""
    sizes = {
        k.W_STATE: n_states + 1,
        k.W_SET: n_states + 1,
        k.W_MARK: n_states + 1,
        k.W_STACK: n_states + 2,
        k.W_QUEUED: n_states + 1,
        k.R_STATE: n_states + 1,
        k.R_SET: n_states + 1,
        k.R_MARK: n_states + 1,
        k.W_ASKED: 2 * k.MAX_ASKED,
        k.W_DEPTH: k.MAX_ASKED + max_token_bytes + 2,
        k.W_PATH: 3 * k.MAX_ASKED + 3,
        k.W_TREE: _BUFFER,
        k.W_CHAIN: k.MOST_CHARACTERS + 2,
        k.W_FOLLOW: k.MOST_CHARACTERS + 2,
        k.W_BUFFER: max(_BUFFER, 2 * n_states + 16),
    }
    header = np.zeros(k.WORK_SLOTS, dtype=np.int32)
    size = header.size
    for slot, length in sizes.items():
        header[slot] = size
        size += length
    header[k.W_TREE_SIZE] = sizes[k.W_TREE]
    header[k.W_BUFFER_SIZE] = sizes[k.W_BUFFER]
    work = np.zeros(size, dtype=np.int32)
    work[: header.size] = header
    return work

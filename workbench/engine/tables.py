"""Flat arrays that the kernels read: the automaton packed into one, scratch space, counter zones."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from workbench.automaton.languages import is_ample
from workbench.automaton.model import Automaton
from workbench.automaton.nfa import strongly_connected
from workbench.engine import layout as k
from workbench.engine.slices import Slices

__all__ = ["Packed", "scratch"]

_BUFFER = 1 << 16
#: edges that the expansion of one row may sort into segments of the alphabet
_LINKS = 1 << 14
#: longest text that a scope keeps, in bytes
_TEXT = 1 << 16
_GUARDS = {"look": k.LOOK, "may": k.MAY, "take": k.TAKE, "other": k.OTHER, "end": k.END}
_GUARDS["empty"] = k.EMPTY_TEXT


class Packed:
    """An automaton in one int32 array, ``auto``: a header of offsets, then the parts (see ``kernels``).

    Each part has room to grow; :meth:`sync` takes over what the automaton has got since.
    """

    def __init__(self, automaton: Automaton, slices: Slices) -> None:
        self.automaton = automaton
        self.slices = slices
        self.auto = np.zeros(0, dtype=np.int32)
        self.n_symbols = 256 + len(automaton.symbols)
        self.words = (self.n_symbols + 31) // 32
        self.states_room = 0
        self._sites: dict[tuple[int, int], int] = {}
        self._returns = np.zeros(0, dtype=np.int32)
        self._zones: list[int] = []
        self._room: dict[int, int] = {}
        self._filled: dict[int, int] = {}
        self._sets: list[int] = []
        self._guards: list[tuple[int, int, int]] = []
        self._scopes: list[tuple[int, int, int, int, int]] = []
        self._loose: list[int] = []
        self._language_at: list[int] = []
        self._texts_left: list[int] = []
        self._step_start: list[int] = [0]
        self._steps: list[tuple[int, int, int]] = []
        none = np.zeros(0, dtype=np.int32)
        self._watch_root = self._tree_byte = self._tree_node = self._tree_end = none
        self._tree_start = np.zeros(1, dtype=np.int32)
        self._order = _call_order(automaton) if automaton.grow is None else None
        self._first = _first_symbols(automaton, self.words) if automaton.grow is None else None
        self.sync()

    def sync(self) -> None:
        """Take over what is new in the automaton; ``auto`` may be a new array afterwards."""
        a = self.automaton
        self._number_sites()
        self._plant_trees()
        self._add_sets()
        self._add_languages()
        zones = zip(a.loop_alphabet, a.loop_least, strict=True)
        for alphabet, least in list(zones)[len(self._zones) :]:
            self._zones.append(self.slices.longest_run(alphabet) // least + 2)
        n_entries = len(a.entry_state)
        first = self._first
        if first is None:
            first = np.full(n_entries * self.words, -1, dtype=np.int32)
        order = self._order
        if order is None:
            order = np.zeros(0, dtype=np.int32)
        sites = np.array(list(self._sites), dtype=np.int32).reshape(-1, 2)
        steps = np.array(self._steps, dtype=np.int32).reshape(-1, 3)
        guards = np.array(self._guards, dtype=np.int32).reshape(-1, 3)
        scopes = np.array(self._scopes, dtype=np.int32).reshape(-1, 5)
        parts: dict[int, NDArray[np.generic]] = {
            k.FINAL: a.final,
            k.EDGE_START: a.edge_start,
            k.EDGE_LO: a.edge_lo,
            k.EDGE_HI: a.edge_hi,
            k.EDGE_TARGET: a.edge_target,
            k.EMPTY_START: a.empty_start,
            k.EMPTY_TARGET: a.empty_target,
            k.EMPTY_GUARD: a.empty_guard,
            k.CALL_START: a.call_start,
            k.CALL_ENTRY: a.call_entry,
            k.CALL_RETURN: self._returns,
            k.ENTRY_STATE: a.entry_state,
            k.ENTRY_FIRST: first,
            k.CALL_ORDER: order,
            k.SITE_LOOP: sites[:, 0],
            k.SITE_RETURN: sites[:, 1],
            k.LOOP_ENTRY: a.loop_entry,
            k.LOOP_MIN: a.loop_min,
            k.LOOP_MAX: a.loop_max,
            k.LOOP_ZONE: np.array(self._zones, dtype=np.int32),
            k.GUARD_OP: guards[:, 0],
            k.GUARD_ITEM: guards[:, 1],
            k.GUARD_SET: guards[:, 2],
            k.SCOPE_WORDS: scopes[:, 0],
            k.SCOPE_LEAST: scopes[:, 1],
            k.SCOPE_MOST: scopes[:, 2],
            k.SCOPE_REQUIRED: scopes[:, 3],
            k.SCOPE_NAMES: scopes[:, 4],
            k.SETS: np.array(self._sets, dtype=np.int32),
            k.WATCH_CELL: np.array(
                [watch.cell if watch.fresh else -1 for watch in a.watches], dtype=np.int32
            ),
            k.WATCH_LANGUAGE: np.array([watch.language for watch in a.watches], dtype=np.int32),
            k.WATCH_LOOSE: np.array(
                [2 if watch.language < 0 else self._loose[watch.language] for watch in a.watches],
                dtype=np.int32,
            ),
            k.LANGUAGE_AT: np.array(self._language_at, dtype=np.int32),
            k.TEXTS_LEFT: np.array(self._texts_left, dtype=np.int32),
            k.STEP_START: np.array(self._step_start, dtype=np.int32),
            k.STEP_LOW: steps[:, 0],
            k.STEP_HIGH: steps[:, 1],
            k.STEP_TARGET: steps[:, 2],
            k.WATCHED: a.watched,
            k.WATCH_ROOT: self._watch_root,
            k.TREE_START: self._tree_start,
            k.TREE_BYTE: self._tree_byte,
            k.TREE_NODE: self._tree_node,
            k.TREE_END: self._tree_end,
        }
        if any(len(part) > self._room.get(slot, -1) for slot, part in parts.items()):
            self._lay_out(parts)
        auto = self.auto
        for slot, part in parts.items():
            # entries are filled in later, all else is only appended to
            begin = 0 if slot == k.ENTRY_STATE else self._filled.get(slot, 0)
            at = int(auto[slot])
            auto[at + begin : at + len(part)] = part[begin:]
            self._filled[slot] = len(part)
        auto[k.N_STATES] = a.n_states
        auto[k.HAS_WATCH] = len(a.watches) > 0

    def _lay_out(self, parts: dict[int, NDArray[np.generic]]) -> None:
        """A new array with twice the room where the automaton may still grow."""
        grows = self.automaton.grow is not None
        header = np.zeros(k.AUTO_SLOTS, dtype=np.int32)
        header[[k.N_SYMBOLS, k.STRIDE, k.FIRST_WORDS]] = (
            self.n_symbols,
            self.n_symbols + 1,
            self.words,
        )
        header[k.RANKED] = self._order is not None
        # a member takes two bytes at least, one of them between members
        header[k.SCOPE_REACH] = self.slices.max_token_bytes // 2 + 2
        size = header.size
        for slot, part in parts.items():
            header[slot] = size
            self._room[slot] = 2 * len(part) + 64 if grows else len(part)
            size += self._room[slot]
        self.states_room = self._room[k.FINAL]
        self.auto = np.zeros(size, dtype=np.int32)
        self.auto[: header.size] = header
        self._filled.clear()

    def _number_sites(self) -> None:
        """Number the counted call sites; a site is a loop and where it returns to."""
        a = self.automaton
        known = len(self._returns)
        if known == len(a.call_return):
            return
        fresh = a.call_return[known:].astype(np.int32)
        # a site's loop, or -1 - its watch, or where scopes begin - its scope
        watch = a.call_watch[known:]
        loops = np.where(watch >= 0, -1 - watch, a.call_loop[known:])
        loops = np.where(watch < -1, k.SCOPE_SITE + 2 + watch, loops)
        counted = (a.call_loop[known:] >= 0) | (watch != -1)
        for i in np.flatnonzero(counted).tolist():
            key = (int(loops[i]), int(fresh[i]))
            fresh[i] = k.SITE_BASE + self._sites.setdefault(key, len(self._sites))
        self._returns = np.concatenate([self._returns, fresh])

    def _add_sets(self) -> None:
        """Sets of members and what refers to them, of the scopes and guards that are new."""
        a = self.automaton

        def begin(chosen: int, members: int) -> int:
            at = len(self._sets)
            for first in range(0, members, k.WORD):
                self._sets.append(chosen >> first & (1 << k.WORD) - 1)
            return at

        for scope in a.scopes[len(self._scopes) :]:
            words = -(-scope.members // k.WORD)
            at = begin(scope.required, scope.members)
            self._scopes.append((words, scope.least, scope.most, at, int(scope.names)))
        for guard in a.guards[len(self._guards) :]:
            item = int(guard.others)
            if guard.kind == "take":
                item = guard.among.bit_length() - 1
            elif guard.kind == "empty":
                item = guard.among
            at = begin(guard.among, guard.members) if guard.kind == "may" else 0
            self._guards.append((_GUARDS[guard.kind], item, at))

    def _add_languages(self) -> None:
        """Languages of fresh texts that are new; their states are numbered through."""
        for language in self.automaton.languages[len(self._language_at) :]:
            first = len(self._texts_left)
            self._loose.append(sum(is_ample(language, tail) for tail in self.slices.tails))
            self._language_at.append(first)
            self._texts_left += language.counts
            degree = [0] * len(language.counts)
            for state, low, high, target in language.steps:
                degree[state] += 1
                self._steps.append((low, high, first + target))
            self._step_start += (len(self._steps) - sum(degree) + np.cumsum(degree)).tolist()

    def _plant_trees(self) -> None:
        """Trees of the texts of the watches that are new, over their UTF-8 bytes."""
        fresh = self.automaton.watches[len(self._watch_root) :]
        if not fresh:
            return
        first = len(self._tree_end)
        roots: list[int] = []
        children: list[dict[int, int]] = []
        ends: list[int] = []

        def node() -> int:
            children.append({})
            ends.append(0)
            return len(children) - 1

        for watch in fresh:
            root = node()
            roots.append(first + root)
            for text in watch.texts:
                at = root
                for byte in text.encode("utf-8", "surrogatepass"):
                    following = children[at].get(byte)
                    if following is None:
                        following = children[at][byte] = node()
                    at = following
                ends[at] = 1
        bytes_ = [byte for some in children for byte in some]
        nodes = [first + child for some in children for child in some.values()]
        starts = len(self._tree_byte) + np.cumsum([len(some) for some in children])

        def longer(old: NDArray[np.int32], new: list[int] | NDArray[np.int64]) -> NDArray[np.int32]:
            return np.concatenate([old, np.asarray(new, dtype=np.int32)])

        self._watch_root = longer(self._watch_root, roots)
        self._tree_start = longer(self._tree_start, starts)
        self._tree_byte = longer(self._tree_byte, bytes_)
        self._tree_node = longer(self._tree_node, nodes)
        self._tree_end = longer(self._tree_end, ends)


def _call_order(a: Automaton) -> NDArray[np.int32]:
    """Rank of each state: below the start states of what it calls, which form no cycles."""
    starts = a.entry_state[a.call_entry].tolist()
    bounds = a.call_start.tolist()
    rank = np.zeros(a.n_states, dtype=np.int32)
    callers = [s for s in range(a.n_states) if bounds[s] < bounds[s + 1]]
    if not callers:
        return rank
    components = strongly_connected(a.n_states, lambda s: starts[bounds[s] : bounds[s + 1]])
    for place, component in enumerate(components):
        for state in component:
            rank[state] = len(components) - place
    return rank


def _first_symbols(a: Automaton, words: int) -> NDArray[np.int32]:
    """Per entry, the symbols that may come first, as bits."""
    direct = [0] * len(a.entry_state)
    uses: list[list[int]] = [[] for _ in direct]
    for entry, state in enumerate(a.entry_state.tolist()):
        for e in range(a.edge_start[state], a.edge_start[state + 1]):
            direct[entry] |= (1 << (int(a.edge_hi[e]) + 1)) - (1 << int(a.edge_lo[e]))
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
    return out.view(np.int32).ravel()


def scratch(n_states: int, n_symbols: int, max_token_bytes: int) -> NDArray[np.int32]:
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
        k.W_OTHER: max_token_bytes + 2,
        k.W_PATH: 3 * k.MAX_ASKED + 3,
        k.W_TREE: _BUFFER,
        k.W_TEXT: _TEXT,
        k.W_WAY: _TEXT + 2,
        k.W_LEFT: _TEXT + 2,
        k.W_CHAIN: k.MOST_CHARACTERS + 2,
        k.W_FOLLOW: k.MOST_CHARACTERS + 2,
        k.W_CUT: n_symbols + 1,
        k.W_HEAD: n_symbols + 2,
        k.W_BEGIN: n_symbols + 3,
        k.W_LINK: 3 * _LINKS,
        k.W_BUFFER: max(_BUFFER, 2 * n_states + 16),
    }
    header = np.zeros(k.WORK_SLOTS, dtype=np.int32)
    size = header.size
    for slot, length in sizes.items():
        header[slot] = size
        size += length
    header[k.W_LINKS] = _LINKS
    header[k.W_TEXT_SIZE] = _TEXT
    header[k.W_TREE_SIZE] = sizes[k.W_TREE]
    header[k.W_BUFFER_SIZE] = sizes[k.W_BUFFER]
    work = np.zeros(size, dtype=np.int32)
    work[: header.size] = header
    return work

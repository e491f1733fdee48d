"""Flat arrays that the kernels read: the automaton packed into one, scratch space, counter zones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from workbench.automaton.columns import Columns
from workbench.automaton.languages import is_ample
from workbench.automaton.network import NETWORK, Automaton
from workbench.changes import at_once, written
from workbench.engine.arena import room_for
from workbench.engine.kernels import constants as k
from workbench.engine.kernels.context import COLUMNS, SCRATCH, Context
from workbench.engine.slices import Slices
from workbench.engine.table_kernels import number_sites, plant
from workbench.grammar.components import strongly_connected
from workbench.grammar.ir import Gather

__all__ = ["Packed", "place_scratch"]

_BUFFER = 1 << 16
#: edges that the expansion of one DFA state may sort into segments of the alphabet
_LINKS = 1 << 14
#: longest text that a scope keeps, in bytes
_TEXT = 1 << 16
_GUARDS = {"look": k.LOOK, "may": k.MAY, "take": k.TAKE, "other": k.OTHER, "end": k.END}
_GUARDS |= {"empty": k.EMPTY_TEXT, "peek": k.LOOK_ABOVE, "value": k.CONSTANT, "name": k.NAMED}
_GUARDS["room"] = k.ROOM_FOR
_ROLES = {"": 0, "name": k.NAME_ROLE, "string": k.STRING_ROLE, "number": k.NUMBER_ROLE}
_GATHERS = {"object": k.OBJECT_OF, "array": k.ARRAY_OF}
_ZERO = np.zeros(1, dtype=np.int32)
_More = dict[str, NDArray[np.generic]]


class Packed:
    """What kernels read of an automaton: its own columns, and others that are made of it here.

    :meth:`sync` takes over what the automaton has got since.
    """

    def __init__(self, automaton: Automaton, slices: Slices, context: Context) -> None:
        self.automaton = automaton
        self.slices = slices
        self.columns = Columns(COLUMNS, grows=automaton.grow is not None)
        self.n_symbols = 256 + len(automaton.symbols)
        self.words = (self.n_symbols + 31) // 32
        self._loose: list[int] = []
        #: whether it is known once and for all what may come first in entries and whom they call
        self._ranked = automaton.grow is None and not len(automaton.empty_target)
        context.number(
            n_symbols=self.n_symbols,
            stride=self.n_symbols + 1,
            first_words=self.words,
            ranked=self._ranked,
            # a member takes two bytes at least, one of them between members
            scope_reach=slices.max_token_bytes // 2 + 2,
        )
        at_once(self.sync(context))

    @property
    def nbytes(self) -> int:
        """Bytes of all columns."""
        return int(self.automaton.columns.array.nbytes + self.columns.array.nbytes)

    @property
    def _filled(self) -> dict[str, int]:
        """How many rows the columns have that are made here."""
        return self.columns.filled

    def sync(self, context: Context) -> Iterator[object]:
        """Take over what is new in the automaton: let a context know, and return the change to this object.

        Until the change is made kernels see nothing new, and all of it can be done once more: what is appended to
        the columns is reached through the states of entries, which come last.
        """
        a, filled = self.automaton, self._filled
        more: _More = {}
        for name in ("final", "watched"):
            more[name] = getattr(a, name)[filled[name] :]
        self._number_sites(more)
        self._add_entries(more)
        self._add_zones(more)
        self._plant_trees(more)
        self._add_sets(more)
        self._add_languages(more)
        self._add_watches(more)
        longer, change = self.columns.extended(more)
        for names, columns in ((NETWORK, a.columns), (COLUMNS, longer)):
            context.parts(names, columns.array, np.array(columns.begins))
        context.number(
            n_states=a.n_states,
            has_watch=len(a.watches) > 0,
            has_gather=any(scope.gather is not None for scope in a.scopes),
        )
        return chain(written(longer["entry_state"], a.entry_state), change)

    def _number_sites(self, more: _More) -> None:
        """Number the counted call sites; a site is a loop and where it returns to."""
        a = self.automaton
        known = self._filled["call_return"]
        if known == len(a.call_return):
            return
        fresh = a.call_return[known:].copy()
        n_sites = self._filled["site_loop"]
        sites = np.empty((2, n_sites + len(fresh)), dtype=np.int32)
        sites[:, :n_sites] = self.columns["site_loop"], self.columns["site_return"]
        table = np.empty(1 << (2 * sites.shape[1]).bit_length(), dtype=np.int32)
        calls = a.call_loop[known:], a.call_watch[known:], fresh
        n = number_sites(*calls, *sites, table, n_sites)
        more["call_return"] = fresh
        more["site_loop"], more["site_return"] = sites[:, n_sites:n]

    def _add_entries(self, more: _More) -> None:
        """Where entries begin; which symbols come first and who calls whom, where all are built."""
        a = self.automaton
        # those that there are may get their states now: these are written last
        more["entry_state"] = a.entry_state[self._filled["entry_state"] :]
        n_first = len(a.entry_state) * self.words - self._filled["entry_first"]
        if n_first and self._ranked:
            more["call_order"] = _call_order(a)
            more["entry_first"] = _first_symbols(a, self.words)
        elif n_first:
            more["entry_first"] = np.full(n_first, -1, dtype=np.int32)

    def _add_zones(self, more: _More) -> None:
        """How far from the bounds of the loops that are new counts are told apart."""
        a, known = self.automaton, self._filled["loop_zone"]
        if known == len(a.loop_least):
            return
        reach = zip(a.loop_alphabet[known:], a.loop_least[known:], strict=True)
        zones = [self.slices.longest_run(alphabet) // least + 2 for alphabet, least in reach]
        more["loop_zone"] = np.array(zones, dtype=np.int32)

    def _add_sets(self, more: _More) -> None:
        """Sets of members and what refers to them, of the scopes and guards that are new."""
        a, first = self.automaton, self._filled["sets"]
        scopes, guards = self._filled["scope_words"], self._filled["guard_op"]
        if scopes == len(a.scopes) and guards == len(a.guards):
            return
        sets: list[int] = []

        def begin(chosen: int, members: int) -> int:
            at = first + len(sets)
            for bit in range(0, members, k.WORD):
                sets.append(chosen >> bit & (1 << k.WORD) - 1)
            return at

        rows: list[tuple[int, ...]] = []
        for scope in a.scopes[scopes:]:
            words = -(-scope.members // k.WORD)
            at = begin(scope.required, scope.members)
            bounds = words, scope.least, scope.most, at, int(scope.names)
            rows.append((*bounds, *_add_gather(scope.gather, sets, first)))
        _columns(
            more,
            (
                *("scope_words", "scope_least", "scope_most", "scope_required", "scope_names"),
                *("scope_gather", "scope_flags", "scope_counts", "scope_keys"),
            ),
            rows,
        )
        rows = []
        for guard in a.guards[guards:]:
            item = int(guard.others)
            if guard.kind == "take":
                item = guard.among.bit_length() - 1
            elif guard.kind in ("empty", "room"):
                item = guard.among
            elif guard.kind in ("name", "value"):
                item = guard.among.bit_length() - 1
            at = begin(guard.among, guard.members) if guard.kind == "may" else 0
            rows.append((_GUARDS[guard.kind], item, at))
        _columns(more, ("guard_op", "guard_item", "guard_set"), rows)
        more["sets"] = np.array(sets, dtype=np.int32)

    def _add_languages(self, more: _More) -> None:
        """Languages of fresh texts that are new; their states are numbered through."""
        fresh = self.automaton.languages[self._filled["language_at"] :]
        if not fresh:
            return
        del self._loose[self._filled["language_at"] :]
        first, n_steps = self._filled["texts_left"], self._filled["step_low"]
        at: list[int] = []
        starts: list[NDArray[np.int64]] = []
        steps: list[NDArray[np.int64]] = []
        for language in fresh:
            self._loose.append(sum(is_ample(language, tail) for tail in self.slices.tails))
            at.append(first)
            rows = np.array(language.steps, dtype=np.int64).reshape(-1, 4)
            counts = np.bincount(rows[:, 0], minlength=len(language.counts))
            starts.append(n_steps + np.cumsum(counts))
            rows[:, 3] += first
            steps.append(rows)
            first += len(language.counts)
            n_steps += len(rows)
        if not self._filled["step_start"]:
            starts.insert(0, np.zeros(1, dtype=np.int64))
        more["language_at"] = np.array(at, dtype=np.int32)
        counts = np.concatenate([np.array(language.counts) for language in fresh])
        more["texts_left"] = counts
        more["step_start"] = np.concatenate(starts)
        whole = np.concatenate(steps)
        more["step_low"], more["step_high"] = whole[:, 1], whole[:, 2]
        more["step_target"] = whole[:, 3]

    def _add_watches(self, more: _More) -> None:
        """What the watches that are new look at; their languages are known."""
        rows = [
            (
                watch.cell if watch.fresh else -1,
                watch.language,
                2 if watch.language < 0 else self._loose[watch.language],
                _ROLES[watch.role],
            )
            for watch in self.automaton.watches[self._filled["watch_cell"] :]
        ]
        _columns(more, ("watch_cell", "watch_language", "watch_loose", "watch_role"), rows)

    def _plant_trees(self, more: _More) -> None:
        """Trees of the texts of the watches that are new, over their UTF-8 bytes."""
        fresh = self.automaton.watches[self._filled["watch_root"] :]
        if not fresh:
            return
        # those of each watch in order, one after the other
        texts = [
            sorted(text.encode("utf-8", "surrogatepass") for text in watch.texts) for watch in fresh
        ]
        lengths = [len(text) for some in texts for text in some]
        room = len(fresh) + sum(lengths)
        roots, starts, path = np.empty((3, room), dtype=np.int32)
        nodes, children = np.empty((3, room), dtype=np.int32), np.empty((2, room), dtype=np.int32)
        n = plant(
            b"".join(text for some in texts for text in some),
            np.array(lengths, dtype=np.int32),
            np.array([len(some) for some in texts], dtype=np.int32),
            roots[: len(fresh)],
            nodes,
            children,
            starts,
            path,
        )
        first, n_children = self._filled["tree_end"], self._filled["tree_byte"]
        ends = starts[:n] + n_children
        more["watch_root"] = first + roots[: len(fresh)]
        more["tree_start"] = ends if self._filled["tree_start"] else np.concatenate([_ZERO, ends])
        more["tree_byte"], of_bytes = children[:, : n - len(fresh)]
        more["tree_node"] = of_bytes + first
        more["tree_end"] = nodes[2, :n]


def _add_gather(gather: Gather | None, sets: list[int], first: int) -> tuple[int, int, int, int]:
    """What a scope gathers, how, and where its counts and the table of its names begin among the sets."""
    if gather is None:
        return 0, 0, 0, 0
    flags = k.ORDERED * gather.ordered | k.AMPLE * gather.ample
    flags |= k.DISTINCT * gather.distinct | k.OUTERMOST * gather.outermost
    counts = first + len(sets)
    sets += [len(gather.counts), *gather.counts]
    starts = []
    for name in gather.names:
        data = name.encode("utf-8", "surrogatepass")
        starts.append(first + len(sets))
        sets += [len(data), *data]
    keys = first + len(sets)
    sets += starts
    return _GATHERS[gather.kind], flags, counts, keys


def _columns(more: _More, names: tuple[str, ...], rows: Sequence[tuple[int, ...]]) -> None:
    """Columns of some rows, by name."""
    if rows:
        table = np.array(rows, dtype=np.int32)
        for column, name in enumerate(names):
            more[name] = table[:, column]


def _call_order(a: Automaton) -> NDArray[np.int32]:
    """Rank of each state: below the start states of what it calls, which form no cycles."""
    starts = a.entry_state[a.call_entry]
    rank = np.zeros(a.n_states, dtype=np.int32)
    # those that neither call nor are called may have any
    asked = np.unique(np.concatenate([np.flatnonzero(np.diff(a.call_start)), starts]))
    if not len(asked):
        return rank
    called = asked.searchsorted(starts).tolist()
    begins, ends = a.call_start[asked].tolist(), a.call_start[asked + 1].tolist()
    components = strongly_connected(len(asked), lambda i: called[begins[i] : ends[i]])
    for place, component in enumerate(components):
        for i in component:
            rank[asked[i]] = len(components) - place
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


def place_scratch(context: Context, n_states: int, n_symbols: int, max_token_bytes: int) -> None:
    """Scratch space of the kernels, all zero."""
    states = n_states + 2
    begins, parts = _scratch_begins(n_symbols, max_token_bytes, max(_BUFFER, 2 * states + 12))
    begins = begins + parts * states
    context.parts(SCRATCH, room_for(int(begins[-1]), np.int32), begins)


@lru_cache(maxsize=64)
def _scratch_begins(
    n_symbols: int, max_token_bytes: int, buffer: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where each part of the scratch space begins, and the end of the last one, if there were no states.

    And before each, how many parts have an item for each state.
    """
    sizes = {
        "queries": 2 * k.MOST_RETURNS,
        "variable_path": k.MOST_RETURNS,
        "dfa_state_at": max_token_bytes + 2,
        "other_dfa_state_at": max_token_bytes + 2,
        "listed": 3 * k.MOST_RETURNS + 3,
        "tree": _BUFFER,
        "text": _TEXT,
        "trie_path": _TEXT + 2,
        "left": _TEXT + 2,
        "chain": k.MOST_CHARACTERS + 2,
        "follow": k.MOST_CHARACTERS + 2,
        "reached_state": k.MOST_REACHED,
        "reached_resolved": k.MOST_REACHED,
        "reached_rest": k.MOST_REACHED,
        "reached_length": k.MOST_REACHED,
        "reached_slot": 2 * k.MOST_REACHED,
        "nested": k.MOST_NESTED,
        "nested_scopes": k.MOST_NESTED,
        "open_symbols": n_symbols + 1,
        "cut": n_symbols + 1,
        "head": n_symbols + 2,
        "begin": n_symbols + 3,
        "link": 3 * _LINKS,
        "buffer": buffer,
    }
    begins = np.cumsum([0, *(sizes.get(name, 0) for name in SCRATCH)])
    return begins, np.cumsum([0, *(name not in sizes for name in SCRATCH)])

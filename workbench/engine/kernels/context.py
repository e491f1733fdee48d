"""What the kernels work on, as one argument: named arrays and numbers, read from a table of addresses.

A kernel's first parameter ``ctx`` is a :class:`Context`. In compiled code it is one machine word, the address of the
table, and ``ctx.pool`` is an array made from two of its words; without the JIT it is the object itself, whose
attributes are the arrays. ``part`` is the same for the arrays of a slice.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.automaton.network import NETWORK
from workbench.changes import written
from workbench.jit import COMPILED, INT, Array, Table, View

__all__ = [
    "COLUMNS",
    "SCRATCH",
    "Context",
    "Part",
    "context_type",
    "numbers_at",
    "part_type",
    "words_at",
]

_ARRAYS = {
    "arena": "int32",
    "unique_table": "int32",
    "former_table": "int32",
    "count": "int64",
    "transitions": "int32",
    "masks_at": "int64",
    "masks": "uint32",
    "mask_hash": "int64",
    "mask_table": "int32",
    "recent": "int64",
    "blob": "uint8",
    "offsets": "int64",
    "bytes_": "uint8",
    "depths": "uint16",
    "skips": "int32",
    "tokens": "int32",
    "duplicates": "int32",
    "eos": "int64",
    "symbol_ids": "int32",
    "symbol_at": "int32",
    "found": "int64",
    "byte_class": "uint32",
    "loop_class": "uint32",
    "alive": "uint32",
    "words": "uint32",
}
#: numbers of the automaton: states; symbols (the bytes, then what stands for whole tokens); words of a DFA state in
#: the transition table; words of a set of symbols; whether ``call_order`` holds; whether frames watch, scopes gather;
#: members that one token can complete, at most
_NUMBERS = (
    "n_states",
    "n_symbols",
    "stride",
    "first_words",
    "ranked",
    "has_watch",
    "has_gather",
    "scope_reach",
)
#: columns that are made of an automaton's, beside those of it that are read as they are; int32 each
COLUMNS = (
    # per state; per call, its return state or the number of its site
    "final",
    "call_return",
    "call_order",
    "entry_state",
    "entry_first",
    # per call site with a value: its loop, or -1 - its watch, or SCOPE_SITE - its scope; its return state
    "site_loop",
    "site_return",
    "loop_zone",
    # whether a state's bytes are read by the tracker in the frame above which it runs; per watch: root of the tree of
    # texts that may not come, the cell of earlier keys or -1, its language or -1, whether texts that it reads can
    # be left open in a walk (1: if another ends before in the same token; 2: in any case), what else they are
    "watched",
    "watch_root",
    "watch_cell",
    "watch_language",
    "watch_loose",
    "watch_role",
    # per node of such a tree: its children (byte, node), whether a text ends there
    "tree_start",
    "tree_byte",
    "tree_node",
    "tree_end",
    # languages of fresh texts: first state; per state how many texts follow and its steps
    "language_at",
    "texts_left",
    "step_start",
    "step_low",
    "step_high",
    "step_target",
    # per guard: what it does, the member's number (or whether others may come), where its set of members begins
    "guard_op",
    "guard_item",
    "guard_set",
    # per scope: words of bits, least and most members (-1: no bound), where the set of required ones begins,
    # whether its texts are names (not empty, ended by a quotation mark); what it gathers, how, how many values
    # its members or items have, where their names are
    "scope_words",
    "scope_least",
    "scope_most",
    "scope_required",
    "scope_names",
    "scope_gather",
    "scope_flags",
    "scope_counts",
    "scope_keys",
    "sets",
)
#: scratch space, int32 each; kernels leave it as they found it, where it says so
SCRATCH = (
    # the closure under way: per thread its state, its SET, whether it is on the agenda; per state 1 + its thread
    # or 0; the threads due, their number first
    "thread_state",
    "thread_stacks",
    "queued",
    "thread_of",
    "agenda",
    # the same for the threads after a symbol
    "result_state",
    "result_stacks",
    "result_of",
    # per state the SHAPE of a lone thread in it, 0 where it is not known
    "lone_shape",
    # the contents of a node that is to be interned; frames; a list of nodes
    "buffer",
    "tree",
    "listed",
    # (stack query, return set) of the walk under way; variables on the way to the stacks
    "queries",
    "variable_path",
    # DFA states by depth of a walk, and of a second one beside it
    "dfa_state_at",
    "other_dfa_state_at",
    # bytes of a text; the trie nodes on its path; how many texts are left after each
    "text",
    "trie_path",
    "left",
    # DFA states of a self-loop by the characters taken, and what they lead to
    "chain",
    "follow",
    # DFA states that an invariance check comes to, the same with their stack queries answered, what is to come of a
    # character, how many bytes it took, and which of them is where, by hash
    "reached_state",
    "reached_resolved",
    "reached_rest",
    "reached_length",
    "reached_slot",
    # the frame states around a value, innermost first, and their scopes
    "nested",
    "nested_scopes",
    # symbols on which a DFA state is not known; segments of the alphabet: of each symbol, first link and first symbol
    # of each; links of a segment's edges: (next link or -1, target, stacks)
    "open_symbols",
    "cut",
    "head",
    "begin",
    "link",
)
_PART = {
    "masks": "uint32",
    "exits": "int32",
    "exits_at": "int32",
    "inner": "int32",
    "inner_at": "int32",
    "leaves": "int32",
    "leaves_at": "int32",
    "odd": "int32",
    "lengths": "int32",
    "byte_class": "uint32",
    "deepest": "int32",
}
context_type = Table(
    "a context",
    {
        **{name: Array(element) for name, element in _ARRAYS.items()},
        **dict.fromkeys(_NUMBERS, INT),
        **dict.fromkeys(NETWORK + COLUMNS + SCRATCH, Array("int32")),
    },
)
part_type = Table("a part", {name: Array(element) for name, element in _PART.items()})

#: the uint32 words, and the int64 numbers, at an address
words_at, numbers_at = View("uint32"), View("int64")


class Context:
    """The arrays and numbers of an engine; :meth:`place` puts others in their places.

    It begins with those of ``base``. ``handle`` is what kernels take: the table's address, or the object itself
    without the JIT. Once kernels of several threads work on it, changes are made to another context that begins
    with it, and taken over at once (:meth:`taken`): until then no array goes that an address leads to.
    """

    def __init__(self, base: Context | None = None) -> None:
        if base is None:
            self._words = np.zeros(2 * len(context_type.fields), dtype=np.int64)
        else:
            vars(self).update(vars(base))
            self._words = base._words.copy()
        self.handle: Any = self._words.ctypes.data if COMPILED else self

    def __getattr__(self, name: str) -> Any:
        # a part is made an array of its own when Python asks for it
        names = next((group for group in (NETWORK, COLUMNS, SCRATCH) if name in group), ())
        if names not in vars(self).get("_parts", {}):
            raise AttributeError(f"there is no {name} in the context")
        array, begins = self._parts[names]
        i = names.index(name)
        part = array[int(begins[i]) : int(begins[i + 1])]
        setattr(self, name, part)
        return part

    def place(self, **arrays: NDArray[Any]) -> None:
        """Let kernels work on these arrays, by their names, from now on."""
        for name, array in arrays.items():
            i = 2 * context_type.places[name]
            self._words[i] = array.__array_interface__["data"][0]
            self._words[i + 1] = array.size
            setattr(self, name, array)

    def number(self, **numbers: int) -> None:
        """Set numbers of the automaton."""
        for name, value in numbers.items():
            self._words[2 * context_type.places[name]] = value
            setattr(self, name, value)

    def parts(
        self, names: tuple[str, ...], array: NDArray[np.int32], begins: NDArray[np.int64]
    ) -> None:
        """All of NETWORK, COLUMNS or SCRATCH: parts of one array, each from its begin to the next one's."""
        at = 2 * context_type.places[names[0]]
        stop = at + 2 * len(names)
        address = array.__array_interface__["data"][0]
        self._words[at:stop:2] = address + array.itemsize * begins[:-1]
        self._words[at + 1 : stop : 2] = begins[1:] - begins[:-1]
        known = vars(self)
        self._parts = known.get("_parts", {}) | {names: (array, begins)}
        for i, name in enumerate(names):
            if name in known:
                known[name] = array[int(begins[i]) : int(begins[i + 1])]

    def taken(self, other: Context) -> Iterator[object]:
        """The change (see :mod:`workbench.changes`) to the arrays and numbers of another context.

        The other one began with this one, which has not changed since; the numbers of its ``count`` are taken over
        into the array that there is.
        """
        others = vars(other) | {
            "_words": self._words,
            "handle": self.handle,
            "count": self.count,
        }
        i = 2 * context_type.places["count"]
        table = other._words.copy()
        table[i] = self._words[i]
        return chain(
            written(self.count.data, other.count.data),
            # the addresses first: then the arrays may go
            written(self._words.data, table.data),
            map(vars(self).update, (others,)),
        )


class Part:
    """The arrays of a slice, for kernels, empty where none are given; ``handle`` as in :class:`Context`."""

    def __init__(self, **arrays: NDArray[Any]) -> None:
        self._words = np.zeros(2 * len(_PART), dtype=np.int64)
        for i, (name, element) in enumerate(_PART.items()):
            array = arrays.get(name)
            if array is None:
                array = np.zeros(0, dtype=element)
            self._words[2 * i : 2 * i + 2] = array.ctypes.data, array.size
            setattr(self, name, array)
        self.handle: Any = self._words.ctypes.data if COMPILED else self

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"there is no {name} in a slice")

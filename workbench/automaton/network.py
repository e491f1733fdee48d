"""The automaton: a recursive transition network in flat arrays, independent of any vocabulary."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from workbench.automaton.columns import Columns
from workbench.changes import appended, assigned, at_once
from workbench.grammar.ir import Gather, Origin
from workbench.wording import number_of

if TYPE_CHECKING:
    from workbench.automaton.scope_costs import ScopeCosts

_T = TypeVar("_T")

__all__ = [
    "GUARDS",
    "JUMP",
    "MANY",
    "NETWORK",
    "NOT_BUILT",
    "NO_DISTANCE",
    "Automaton",
    "GuardSpec",
    "Language",
    "Runs",
    "ScopeSpec",
    "Sources",
    "WatchSpec",
]

#: stands for "cannot be finished" in :meth:`Automaton.distances`
NO_DISTANCE = np.int32(2**30)
#: in ``call_return``: go on as the callee, its end is the end of this frame
JUMP = -1
#: in ``entry_state``: the entry's states are made when they are first needed
NOT_BUILT = -1


#: the columns of an automaton that kernels read as they are: per state, edges in CSR form, edges without a
#: symbol, calls; per loop its body's entry and its bounds
NETWORK = (
    *("edge_start", "edge_lo", "edge_hi", "edge_target"),
    *("empty_start", "empty_target", "empty_guard"),
    *("call_start", "call_entry"),
    *("loop_entry", "loop_min", "loop_max"),
)


def _none() -> NDArray[np.int32]:
    return np.zeros(0, dtype=np.int32)


#: rules and origins of a state that are told at most
_MOST_SOURCES = 16
#: so many texts are as good as endlessly many
MANY = 1 << 30
#: kinds of guards
GUARDS = ("look", "may", "take", "other", "end", "empty", "peek", "value", "name", "room")


class GuardSpec(NamedTuple):
    """A guard: what it does, a set of members as bits, whether others count, members of its scope.

    Kinds are those of ``Guard``; "look", which lets everything pass; "empty", a fresh text without bytes;
    "peek", which looks at the scope around a value; "room": a text that is watched is left.
    """

    kind: str
    among: int = 0
    others: bool = False
    members: int = 0


class WatchSpec(NamedTuple):
    """A text that is watched: what it may not be, of fresh ones the cell, the language (-1: endless), its role."""

    texts: tuple[str, ...]
    fresh: bool = False
    cell: int = 0
    language: int = -1
    role: str = ""


class Language(NamedTuple):
    """Texts over characters: per state, ranges of characters with targets, and how many texts follow.

    State 0 starts. ``steps`` are sorted by state and first character; counts from :data:`MANY` on stand
    for endlessly many.
    """

    counts: tuple[int, ...]
    #: (state, first character, last character, target)
    steps: tuple[tuple[int, int, int, int], ...]


class ScopeSpec(NamedTuple):
    """A scope: its numbered members, those that have to come, and how many in all (most -1: no bound).

    ``names``: its fresh texts are not empty, and a quotation mark follows each. ``gather``: how it keeps the
    value that it is.
    """

    members: int
    required: int
    least: int
    most: int
    names: bool = False
    gather: Gather | None = None


class Runs(Sequence[_T]):
    """A value for each state, of which many in a row have the same; grows at its end."""

    __slots__ = ("_begins", "_n", "_values")

    def __init__(self) -> None:
        self._begins: list[int] = []
        self._values: list[_T] = []
        self._n = 0

    def continued(self) -> Runs[_T]:
        """Values that begin as these."""
        one: Runs[_T] = Runs()
        one._begins, one._values, one._n = list(self._begins), list(self._values), self._n
        return one

    def more(self, first: int, n: int, runs: Iterable[tuple[int, _T]]) -> Iterator[object]:
        """The change (see :mod:`workbench.changes`) by ``n`` more states, ``first`` the first of them.

        ``runs`` are ascending, the states from ``first`` on from which a value holds.
        """
        begins, values = [], []
        for begin, value in runs:
            begins.append(first + begin)
            values.append(value)
        return chain(
            appended(self._begins, begins),
            appended(self._values, values),
            assigned(self, _n=first + n),
        )

    def __len__(self) -> int:
        return self._n

    @overload
    def __getitem__(self, state: int) -> _T: ...
    @overload
    def __getitem__(self, state: slice) -> Sequence[_T]: ...
    def __getitem__(self, state: int | slice) -> _T | Sequence[_T]:
        if isinstance(state, slice):
            return tuple(self)[state]
        if not -self._n <= state < self._n:
            raise IndexError(f"state {state} of {self._n}")
        return self._values[bisect_right(self._begins, state % self._n) - 1]

    def __iter__(self) -> Iterator[_T]:
        ends = [*self._begins, self._n][1:]
        for begin, end, value in zip(self._begins, ends, self._values, strict=True):
            for _ in range(begin, end):
                yield value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]  # it grows

    def __repr__(self) -> str:
        return f"<{number_of(len(self._values), 'run')} over {number_of(self._n, 'state')}>"


class Sources:
    """Which parts of a grammar each state stands for: a set of positions, which belong to rules and have origins.

    They begin with those ``before``.
    """

    def __init__(self, before: Sources | None = None) -> None:
        self.at: NDArray[np.int64] = np.zeros(1, dtype=np.int64)
        self.members: NDArray[np.int32] = np.zeros(0, dtype=np.int32)
        self.names: Runs[str] = Runs()
        self.places: Runs[Origin | None] = Runs()
        if before is not None:
            self.at, self.members = before.at, before.members
            self.names, self.places = before.names.continued(), before.places.continued()
        #: by state
        self.rules: Sequence[tuple[str, ...]] = _OfStates(self, self.names)
        self.origins: Sequence[tuple[Origin, ...]] = _OfStates(self, self.places)

    def more(
        self,
        at: NDArray[np.int32],
        members: NDArray[np.int32],
        n: int,
        names: Iterable[tuple[int, str]],
        places: Iterable[tuple[int, Origin | None]],
    ) -> Iterator[object]:
        """The change (see :mod:`workbench.changes`) by more states, sets of ``n`` more positions.

        ``at`` says where each begins among ``members``; ``names`` and ``places`` what the positions are.
        """
        first = len(self.names)
        return chain(
            assigned(
                self,
                at=np.concatenate([self.at, self.at[-1] + at[1:]]),
                members=np.concatenate([self.members, members + np.int32(first)]),
            ),
            self.names.more(first, n, names),
            self.places.more(first, n, places),
        )


class _OfStates(Sequence[tuple[_T, ...]]):
    """What the positions of each state have, in their order and each once; of origins the first ones."""

    __slots__ = ("_runs", "_sources")

    def __init__(self, sources: Sources, runs: Runs[Any]) -> None:
        self._sources = sources
        self._runs = runs

    def __len__(self) -> int:
        return len(self._sources.at) - 1

    @overload
    def __getitem__(self, state: int) -> tuple[_T, ...]: ...
    @overload
    def __getitem__(self, state: slice) -> Sequence[tuple[_T, ...]]: ...
    def __getitem__(self, state: int | slice) -> Any:
        if isinstance(state, slice):
            return tuple(self[i] for i in range(*state.indices(len(self))))
        at = self._sources.at
        if not -len(self) <= state < len(self):
            raise IndexError(f"state {state} of {len(self)}")
        state %= len(self)
        members = self._sources.members[at[state] : at[state + 1]].tolist()
        values = dict.fromkeys(self._runs[position] for position in members)
        return tuple(value for value in values if value is not None)[:_MOST_SOURCES]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]  # it grows


@dataclass(slots=True, eq=False)
class Automaton:
    """States, byte edges, calls and entries of a compiled grammar.

    A state belongs to frames, not to rules: a call pushes its return state and continues at the entry's
    start state; in a final state the frame may be popped. No entry accepts the empty string and none
    reaches its own call without consuming a byte. Counted calls (``call_loop >= 0``) push a counter with
    the return state; at the end of an iteration the body starts again while the count is below the
    loop's maximum, and the frame may be popped once it has reached the minimum.

    Edges are in CSR form: the edges of state ``s`` are ``edge_start[s]:edge_start[s + 1]``, sorted by
    first symbol; several edges may share symbols (nondeterminism). Symbols below 256 are bytes, symbol
    ``256 + i`` stands for one whole token out of ``symbols[i]``. Empty edges consume nothing.

    An automaton may grow: entries that are :data:`NOT_BUILT` get their states from ``grow(self, entry)``
    (and a number of states: go on with other entries until so many are made), which appends to all arrays
    and renumbers nothing. What engines read is in ``columns``; the arrays of those names are parts of it.
    """

    n_states: int
    start: int
    final: NDArray[np.bool_]
    edge_start: NDArray[np.int32]
    edge_lo: NDArray[np.int32]
    edge_hi: NDArray[np.int32]
    edge_target: NDArray[np.int32]
    call_start: NDArray[np.int32]
    call_entry: NDArray[np.int32]
    call_return: NDArray[np.int32]
    call_loop: NDArray[np.int32]
    entry_state: NDArray[np.int32]
    entry_names: tuple[str, ...]
    #: per loop: entry of the body, least and most iterations (-1: no bound)
    loop_entry: NDArray[np.int32]
    loop_min: NDArray[np.int32]
    loop_max: NDArray[np.int32]
    state_rules: Sequence[tuple[str, ...]]
    state_origins: Sequence[tuple[Origin, ...]]
    empty_start: NDArray[np.int32] = field(default_factory=_none)
    empty_target: NDArray[np.int32] = field(default_factory=_none)
    #: per loop: bytes that an iteration takes at least, and the bytes that it may contain, as a set of bits
    loop_least: tuple[int, ...] = ()
    loop_alphabet: tuple[int, ...] = ()
    #: per call: number of the texts that the callee's may not be, and the frame watches it; -1 for none;
    #: -2 - the scope that the callee is, whose record is in the frame
    call_watch: NDArray[np.int32] = field(default_factory=_none)
    #: what frames watch, by number; whether a state belongs to what a frame watches
    watches: tuple[WatchSpec, ...] = ()
    watched: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))
    languages: tuple[Language, ...] = ()
    #: per empty edge: number of the guard that lets pass, or -1
    empty_guard: NDArray[np.int32] = field(default_factory=_none)
    #: whether a state lies between two members of a scope
    between: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))
    guards: tuple[GuardSpec, ...] = ()
    scopes: tuple[ScopeSpec, ...] = ()
    #: token ids behind the symbols 256, 257, ...
    symbols: tuple[tuple[int, ...], ...] = ()
    grow: Callable[..., None] | None = None
    #: the arrays that NETWORK names, which are views of it
    columns: Columns = field(init=False, repr=False)
    _distances: tuple[NDArray[np.int32], NDArray[np.int32]] | None = None
    _scope_costs: ScopeCosts | None = None

    def __post_init__(self) -> None:
        if not len(self.empty_start):
            self.empty_start = np.zeros(self.n_states + 1, dtype=np.int32)
        if not len(self.call_watch):
            self.call_watch = np.full(len(self.call_entry), -1, dtype=np.int32)
        if len(self.empty_guard) != len(self.empty_target):
            self.empty_guard = np.full(len(self.empty_target), -1, dtype=np.int32)
        if not len(self.watched):
            self.watched = np.zeros(self.n_states, dtype=np.bool_)
        if not len(self.between):
            self.between = np.zeros(self.n_states, dtype=np.bool_)
        self.columns = Columns(NETWORK, grows=self.grow is not None)
        at_once(self.appended({name: getattr(self, name) for name in NETWORK}))

    def appended(self, more: Mapping[str, NDArray[np.int32]]) -> Iterator[object]:
        """The change (see :mod:`workbench.changes`) to an automaton whose columns of these names have more rows."""
        longer, change = self.columns.extended(more)
        return chain(change, assigned(self, **{name: longer[name] for name in NETWORK}))

    def continued(self, sources: Sources, grow: Callable[..., None]) -> Automaton:
        """An automaton that begins as this one, which does not grow, and grows on its own."""
        one = object.__new__(Automaton)
        for name in Automaton.__slots__:
            setattr(one, name, getattr(self, name))
        one.columns = self.columns.continued()
        one.state_rules, one.state_origins = sources.rules, sources.origins
        one.grow = grow
        return one

    def __repr__(self) -> str:
        more = f", {self.waiting} not built yet" if self.waiting else ""
        return (
            f"<Automaton {number_of(self.n_states, 'state')}, "
            f"{number_of(len(self.edge_target), 'byte edge')}, {number_of(len(self.call_entry), 'call')}, "
            f"{number_of(len(self.entry_names), 'entry', 'entries')}{more}>"
        )

    @property
    def waiting(self) -> int:
        """How many entries are not built yet."""
        return int(np.count_nonzero(self.entry_state == NOT_BUILT))

    def complete(self) -> Automaton:
        """Build every entry that is not built yet; returns the automaton itself."""
        while self.grow is not None and NOT_BUILT in self.entry_state:
            # as much again as there is: arrays are copied with every step
            first = int(np.flatnonzero(self.entry_state == NOT_BUILT)[0])
            self.grow(self, first, self.n_states + 50_000)
        return self

    def distances(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Least bytes from each state to the end of its frame, and of one pass through each entry.

        Builds what is not built yet. A token symbol counts as one byte.
        """
        if self._distances is None or len(self._distances[0]) != self.n_states:
            from workbench.automaton.distances import least_bytes

            distances, costs = least_bytes(self.complete())
            at_once(assigned(self, _distances=distances, _scope_costs=costs))
            return distances
        return self._distances

    def scope_costs(self) -> ScopeCosts:
        """Least bytes to the ends of scopes, with what has come. Builds what is not built yet."""
        self.distances()
        assert self._scope_costs is not None
        return self._scope_costs

    def summary(self) -> dict[str, Any]:
        """Sizes by name, of what is built."""
        return {
            "states": self.n_states,
            "byte_edges": len(self.edge_target),
            "calls": len(self.call_entry),
            "entries": len(self.entry_names),
            "loops": len(self.loop_min),
        }

"""Whether the arrays of an automaton fit together: what is read from a file is checked before it is believed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.automaton.network import GUARDS, JUMP, MANY, Automaton
from workbench.grammar.encoding import ROLES

__all__ = ["check_automaton", "fills", "require", "within"]

#: states are numbered below what the engine takes for a call site
_MOST_STATES = 1 << 29
_MOST_MEMBERS = 1 << 20


def require(holds: bool, what: str) -> None:
    """Raise ``ValueError`` where something does not hold; ``what`` is the part of the automaton that is wrong."""
    if not holds:
        raise ValueError(f"{what} of the automaton")


def within(array: NDArray[Any], low: int, end: int) -> bool:
    """Whether all numbers are from ``low`` on and below ``end``."""
    return not len(array) or bool(array.min() >= low and array.max() < end)


def fills(starts: NDArray[Any], size: int) -> bool:
    """Whether ascending starts cut ``size`` items into parts, none left out."""
    return (
        len(starts) > 0
        and starts[0] == 0
        and starts[-1] == size
        and bool((starts[1:] >= starts[:-1]).all())
    )


def check_automaton(a: Automaton) -> None:
    """Check that every number in the arrays points to something that exists: the kernels do not look.

    Raises ``ValueError`` where one does not.
    """
    _check_rows(a)
    _check_scopes(a)
    _check_texts(a)
    _check_loops(a)
    for names in (a.state_rules, a.state_origins, a.watched, a.between):
        require(len(names) == a.n_states, "names")
    require(len(a.entry_names) == len(a.entry_state), "names")


def _check_rows(a: Automaton) -> None:
    """States and what leads on from them."""
    n, n_entries = a.n_states, len(a.entry_state)
    require(0 < n < _MOST_STATES and 0 <= a.start < n, "states")
    for starts, columns in (
        (a.edge_start, (a.edge_lo, a.edge_hi, a.edge_target)),
        (a.call_start, (a.call_entry, a.call_return, a.call_loop, a.call_watch)),
        (a.empty_start, (a.empty_target, a.empty_guard)),
    ):
        rows = len(columns[0])
        fits = len(starts) == n + 1 and fills(starts, rows)
        require(fits and all(len(column) == rows for column in columns), "rows")
    require(within(a.edge_lo, 0, 256 + len(a.symbols)), "edges")
    require(within(a.edge_hi, 0, 256 + len(a.symbols)), "edges")
    require(bool((a.edge_lo <= a.edge_hi).all()), "edges")
    owners = np.repeat(np.arange(n), np.diff(a.edge_start))
    same = owners[1:] == owners[:-1]
    require(not np.any(same & (a.edge_lo[1:] < a.edge_lo[:-1])), "the order of edges")
    for targets in (a.edge_target, a.empty_target, a.entry_state):
        require(within(targets, 0, n), "targets")
    require(within(a.call_entry, 0, n_entries), "calls")
    require(within(a.call_return, JUMP, n), "calls")
    require(within(a.call_loop, -1, len(a.loop_entry)), "calls")
    require(within(a.call_watch, -1 - len(a.scopes), len(a.watches)), "calls")
    require(within(a.empty_guard, -1, len(a.guards)), "guards")
    framed = (a.call_loop >= 0) | (a.call_watch != -1)
    require(not np.any(framed & (a.call_return == JUMP)), "calls")
    require(not np.any((a.call_loop >= 0) & (a.call_watch != -1)), "calls")


def _check_scopes(a: Automaton) -> None:
    """What scopes count, and what guards ask."""
    for scope in a.scopes:
        require(0 <= scope.members <= _MOST_MEMBERS, "scopes")
        require(0 <= scope.required < 1 << scope.members, "scopes")
        require(0 <= scope.least < 1 << 31 and -1 <= scope.most < 1 << 31, "scopes")
        if scope.gather is not None:
            counts, named = scope.gather.counts, scope.gather.kind == "object"
            require(all(0 <= count <= MANY for count in counts), "scopes")
            require(len(counts) == (len(scope.gather.names) if named else 1), "scopes")
            require(not named or len(counts) <= scope.members, "scopes")
    for guard in a.guards:
        require(guard.kind in GUARDS and 0 <= guard.members <= _MOST_MEMBERS, "guards")
        most = 4 if guard.kind == "value" else guard.members
        number = guard.kind in ("empty", "room")
        require(number or 0 <= guard.among < 1 << most, "guards")
        require(guard.kind != "take" or guard.among.bit_count() == 1, "guards")
        require(not number or 0 <= guard.among < len(a.watches), "guards")
        require(guard.kind not in ("name", "value") or guard.among.bit_count() == 1, "guards")


def _check_texts(a: Automaton) -> None:
    """Texts that are watched, and the languages of what a text can still become."""
    for watch in a.watches:
        require(watch.role in ROLES, "watches")
        require(0 <= watch.cell < 1 << 30, "watches")
        require(-1 <= watch.language < len(a.languages), "watches")
    for language in a.languages:
        size = len(language.counts)
        require(0 < size < 1 << 24 and all(0 <= n <= MANY for n in language.counts), "languages")
        require(list(language.steps) == sorted(language.steps), "languages")
        for state, low, high, target in language.steps:
            fits = 0 <= state < size and 0 <= target < size and 0 <= low <= high < 0x110000
            require(fits, "languages")


def _check_loops(a: Automaton) -> None:
    """Counted repetitions."""
    n_loops = len(a.loop_entry)
    parts = (a.loop_min, a.loop_max, a.loop_least, a.loop_alphabet)
    require(all(len(part) == n_loops for part in parts), "loops")
    require(within(a.loop_entry, 0, len(a.entry_state)), "loops")
    require(within(a.loop_min, 0, 1 << 31), "loops")
    require(bool(((a.loop_max == -1) | (a.loop_max >= a.loop_min)).all()), "loops")
    require(all(least > 0 for least in a.loop_least), "loops")
    require(all(0 <= alphabet < 1 << 256 for alphabet in a.loop_alphabet), "loops")

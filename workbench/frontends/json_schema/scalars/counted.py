"""Texts of an automaton with a bounded number of characters, written a few characters at a time.

An automaton that also counts the characters has as many states as both together, often tens of
thousands, of which a text meets a few. So it is cut into rules: each reads some characters from one
state at one length, and ends with a use of the rule for where it has come to.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from workbench.automaton.budgets import in_force, too_complex
from workbench.automaton.finite import Dfa, to_graph
from workbench.frontends.json_schema.text.json_spelling import Ranges
from workbench.grammar.ir import EMPTY, NEVER, Alt, CharSet, Expr, Graph

__all__ = ["Counted", "beginning", "block", "has_texts"]

#: Characters that one rule reads.
_BLOCK = 16

_Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Counted(Expr):
    """The texts of an automaton with ``low`` to ``high`` characters, not written out yet."""

    dfa: Dfa
    low: int
    high: int


@lru_cache(maxsize=64)
def _places(dfa: Dfa, low: int, high: int) -> tuple[_Flags, _Flags]:
    """For each length and state whether a text may end there, and whether it may go on."""
    count = len(dfa.table)
    if count * (high + 1) > in_force().length_states:
        raise too_complex("length_states")
    ends = np.zeros((high + 1, count + 1), dtype=np.bool_)
    ends[low:, :-1] = dfa.accepting
    goes_on = np.zeros_like(ends)
    for length in range(high - 1, -1, -1):
        live = ends[length + 1] | goes_on[length + 1]
        goes_on[length, :-1] = live[dfa.table].any(axis=1)
    return ends, goes_on


def has_texts(item: Counted) -> bool:
    """Whether there is any text. Raises ``GrammarTooComplex`` past the budget."""
    ends, goes_on = _places(item.dfa, item.low, item.high)
    return bool(ends[0, 0] or goes_on[0, 0])


def beginning(item: Counted, rule: Callable[[int, int], Expr]) -> Expr:
    """Write all texts by ``rule(state, length)``, the use of a rule that holds a ``block``."""
    ends, goes_on = _places(item.dfa, item.low, item.high)
    parts: list[Expr] = [EMPTY] if ends[0, 0] else []
    if goes_on[0, 0]:
        parts.append(rule(0, 0))
    if not parts:
        return NEVER
    return parts[0] if len(parts) == 1 else Alt(tuple(parts))


def block(
    item: Counted,
    state: int,
    length: int,
    spell: Callable[[Ranges], Expr],
    rule: Callable[[int, int], Expr],
) -> Expr:
    """Write what may follow at a state and length, at least one character of it.

    ``spell`` writes one character out of some ranges.
    """
    ends, goes_on = _places(item.dfa, item.low, item.high)
    steps = _steps(item.dfa)
    # State 0 is the end of the rule.
    number_of = {(state, length): 1}
    queue = [(state, length)]
    edges: list[tuple[int, Expr, int]] = []
    for at, read in queue:
        source = number_of[at, read]
        for target, ranges in steps[at]:
            label = None
            if ends[read + 1, target]:
                label = spell(ranges)
                edges.append((source, label, 0))
            if goes_on[read + 1, target]:
                place = (target, read + 1)
                if place not in number_of:
                    number_of[place] = len(number_of) + 1
                    if read + 1 < length + _BLOCK:
                        queue.append(place)
                    else:
                        edges.append((number_of[place], rule(*place), 0))
                edges.append((source, label or spell(ranges), number_of[place]))
    return Graph(len(number_of) + 1, 1, (0,), tuple(edges))


@lru_cache(maxsize=64)
def _steps(dfa: Dfa) -> list[list[tuple[int, Ranges]]]:
    """For each state where characters lead, and which."""
    found: list[list[tuple[int, Ranges]]] = [[] for _ in range(len(dfa.table))]
    for source, label, target in to_graph(dfa, CharSet).edges:
        assert isinstance(label, CharSet)
        found[source].append((target, label.ranges))
    return found

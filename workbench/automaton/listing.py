"""The texts of a small automaton, written out.

>>> from workbench.automaton.finite import determinise
>>> from workbench.grammar.ir import CharSet, Repeat
>>> texts(determinise(Repeat(CharSet(((97, 98),)), 0, 1)), 10)
['', 'a', 'b']
"""

from __future__ import annotations

from workbench.automaton.finite import Dfa

__all__ = ["texts"]


def texts(dfa: Dfa, most: int) -> list[str] | None:
    """The texts of an automaton without dead states, in order; ``None`` when there are more than ``most``."""
    found: list[str] = []
    ranges = dfa.ranges()
    stack = [(0, "")]
    while stack:
        state, text = stack.pop()
        if len(stack) + len(found) > most:  # each begins a text
            return None
        if dfa.accepting[state]:
            found.append(text)
        if len(text) > len(dfa.table):  # it has been in some state twice
            return None
        following = [
            (target, text + chr(code))
            for kind, target in enumerate(dfa.table[state].tolist())
            if target >= 0
            for low, high in ranges[kind]
            for code in range(low, min(high, low + most) + 1)
        ]
        stack += following
    return sorted(found) if len(found) <= most else None

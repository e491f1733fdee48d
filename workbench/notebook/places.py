"""What to call a state of an automaton: the place of a schema that it belongs to, else the author's rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.automaton.model import Automaton

__all__ = ["place", "places"]

#: Names of one state; a state that many parts share is called by the first ones.
MOST = 3


def places(automaton: Automaton, state: int) -> tuple[str, ...]:
    """JSON pointers of a state of a schema, ``not …`` where it stands for what is excluded; else rule names."""
    if 0 <= state < len(automaton.state_origins):
        pointers = [
            f"not {origin.pointer}" if origin.negated else origin.pointer
            for origin in automaton.state_origins[state]
            if origin.pointer is not None
        ]
        if pointers:
            return tuple(dict.fromkeys(pointers))[:MOST]
    if 0 <= state < len(automaton.state_rules):
        return tuple(automaton.state_rules[state][:MOST])
    return ()


def place(automaton: Automaton, state: int) -> str:
    """The first name of a state; empty where it has none."""
    return next(iter(places(automaton, state)), "")

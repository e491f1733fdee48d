"""Budgets: limits counted in work units, so that hitting one does not depend on the machine."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Budgets"]


@dataclass(frozen=True, slots=True)
class Budgets:
    """Limits of one compiled grammar; going over one raises ``GrammarTooComplex``."""

    #: positions of the grammar before determinisation
    positions: int = 2_000_000
    #: automaton states; past ``deterministic_states`` new ones are left nondeterministic
    states: int = 250_000
    deterministic_states: int = 100_000
    #: positions looked at while determinising: past the first new states are left nondeterministic,
    #: the second is the limit
    deterministic_work: int = 500_000
    determinisation_work: int = 2_000_000
    #: a repetition whose copies come to at most this many leaves is written out, others are counted
    expansion: int = 40
    #: a rule is copied into its uses when size x uses stays within this
    inlining: int = 600
    #: 32-bit words of the engine's arena (configurations, stacks, transitions) before it is compacted
    arena_words: int = 64_000_000
    #: bytes of stored mask rows before they are forgotten
    row_bytes: int = 512_000_000
    #: threads and stack entries that one mask or one token may touch
    step_work: int = 100_000_000

"""Budgets: limits counted in work units, so that hitting one does not depend on the machine.

Front ends and ``compile`` take them as ``budgets=workbench.Budgets(…)`` and set them with :func:`using`; the
functions that they call ask :func:`in_force`, so that budgets are not handed from call to call.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields
from typing import Any

from workbench.errors import GrammarTooComplex
from workbench.inputs import need_at_least, wrong_type

__all__ = ["Budgets", "chosen", "in_force", "too_complex", "using"]


#: what of a grammar is worked out ahead: it may be nothing at all
_MAY_BE_NONE = frozenset(("deterministic_states", "deterministic_work", "expansion", "inlining"))


@dataclass(frozen=True, slots=True)
class Budgets:
    """Limits of one grammar, positive integers; going over one raises ``GrammarTooComplex``, which names it.

    ``inlining``, ``expansion`` and what is made deterministic ahead may be 0: nothing.

    The first ones are those of ``compile`` and of the engine, those from ``finite_states`` on those of the
    front ends. What a front end has worked out once is kept: it is not counted again.
    """

    #: positions that a grammar's expressions become, states of its automaton
    positions: int = 2_000_000
    states: int = 2_000_000
    #: states from which on, and positions looked at after which, parts of a grammar are no longer made deterministic
    #: when they are built: the engine determinises what texts meet
    deterministic_states: int = 100_000
    deterministic_work: int = 500_000
    #: a repetition whose copies come to at most this many leaves is written out, others are counted
    expansion: int = 6
    #: a rule is copied into its uses when size x uses stays within this
    inlining: int = 600
    #: 32-bit words of the engine's arena (configurations, stacks, transitions) before it is compacted
    arena_words: int = 64_000_000
    #: bytes of stored masks before they are forgotten
    row_bytes: int = 512_000_000
    #: threads and stack entries that one mask or one token may touch
    step_work: int = 100_000_000

    #: states of one automaton over characters (of a pattern, of an operation of grammars), and the work
    #: that making one may take
    finite_states: int = 20_000
    finite_work: int = 2_000_000
    #: of a pattern with look-around: its positions, its states, and its states by both sides of a character
    #: where it looks behind
    pattern_positions: int = 3_000
    pattern_states: int = 20_000
    pattern_pairs: int = 5_000
    #: states of a pattern beside minLength or maxLength, counted with the lengths that are told apart
    length_states: int = 30_000_000
    #: schemas of a document, values that it holds, and schemas that have to hold together
    schemas: int = 300_000
    values: int = 3_000_000
    combinations: int = 200_000
    #: combinations beside an ``unevaluated…`` keyword
    unevaluated_ways: int = 256
    #: parts into which patterns cut the names of an object
    name_cells: int = 300
    #: ways to decide a schema at one member, facts that are decided for one object or array, its states
    choices: int = 5_000
    facts: int = 150_000
    object_states: int = 20_000
    #: of an object with members in any order: members of all its states, ways to its end, steps to find these
    free_members: int = 12_000
    free_ways: int = 400
    free_steps: int = 300_000
    #: intervals into which the bounds of a number cut it, remainders of ``multipleOf``, digits of a bound
    intervals: int = 500
    remainders: int = 20_000
    digits: int = 5_000

    def __post_init__(self) -> None:
        for field in fields(self):
            least = 0 if field.name in _MAY_BE_NONE else 1
            value = need_at_least(least, getattr(self, field.name), f"Budgets.{field.name}")
            object.__setattr__(self, field.name, value)


#: How messages call the limits that can be reached.
_WORDS = {
    "positions": "positions",
    "states": "automaton states",
    "arena_words": "arena words",
    "step_work": "stack entries in one call",
    "finite_states": "states of a finite automaton",
    "finite_work": "determinisation steps",
    "pattern_positions": "positions of a pattern",
    "pattern_states": "states of a pattern",
    "pattern_pairs": "states of a pattern",
    "length_states": "states of a pattern with a length",
    "schemas": "schemas in one document",
    "values": "values in one document",
    "combinations": "combinations of schemas",
    "unevaluated_ways": "combinations beside an unevaluated keyword",
    "name_cells": "cells of names under patterns",
    "choices": "ways to decide a schema at one member",
    "facts": "facts decided for one object or array",
    "object_states": "states of an object or array",
    "free_members": "members of an object in any order",
    "free_ways": "ways that an object in any order hopes for",
    "free_steps": "steps to work out what an object hopes for",
    "intervals": "intervals of numbers",
    "remainders": "remainders of multipleOf",
    "digits": "digits in a numeric bound",
}
_OF_COMPILE = frozenset(("positions", "states", "arena_words", "step_work"))

_in_force: ContextVar[Budgets] = ContextVar("budgets", default=Budgets())  # noqa: B039 - it is frozen


def in_force() -> Budgets:
    """The budgets that hold here: those of the innermost ``using``, else the defaults."""
    return _in_force.get()


@contextmanager
def using(budgets: Budgets) -> Iterator[None]:
    """Set the budgets for what is done inside, in this thread."""
    token = _in_force.set(budgets)
    try:
        yield
    finally:
        _in_force.reset(token)


def chosen(budgets: Any, who: str) -> Budgets:
    """The budgets that a caller passed, else those in force. Raises ``WrongType`` for anything else."""
    if budgets is None:
        return in_force()
    if not isinstance(budgets, Budgets):
        raise wrong_type(who, "Budgets", budgets, "as in budgets=workbench.Budgets(states=500_000)")
    return budgets


def too_complex(
    name: str, rule: str | None = None, *, limit: int | None = None, budgets: Budgets | None = None
) -> GrammarTooComplex:
    """The error for a budget that is used up, with the way to raise it.

    ``limit`` is the number that was reached, where it is not the budget itself but follows from it.
    """
    value: int = getattr(budgets or in_force(), name)
    place = "compile" if name in _OF_COMPILE else "the front end"
    return GrammarTooComplex(
        _WORDS[name],
        value if limit is None else limit,
        rule,
        raised_by=f"budgets=workbench.Budgets({name}={2 * value:_}) for {place}",
        field=name,
    )

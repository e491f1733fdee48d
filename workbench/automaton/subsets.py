"""Subset construction over characters, whole or one deterministic step at a time, with its work counted."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from workbench.automaton.budgets import in_force, too_complex
from workbench.grammar.ir import CharSet, Expr, Literal, Origin, Repeat
from workbench.grammar.thompson import Construction, Task

if TYPE_CHECKING:
    from workbench.automaton.character_kernels import Positions

__all__ = ["Meter", "Ranges", "Recogniser", "Subsets", "partition"]

#: Sorted disjoint inclusive ranges of code points.
Ranges = tuple[tuple[int, int], ...]

#: What making a position, or looking at a part, counts as, where visiting a position counts as one.
_POSITION_WORK = 8
_TOP = 0x110000
_SURROGATES = (0xD800, 0xE000)


class Meter:
    """Work done so far in one construction."""

    def __init__(self, rule: str | None) -> None:
        self.rule = rule
        self.work = 0
        budgets = in_force()
        self.most_work, self.most_states = budgets.finite_work, budgets.finite_states

    def spend(self, amount: int) -> None:
        self.work += amount
        if self.work > self.most_work:
            raise too_complex("finite_work", self.rule)

    def states(self, count: int) -> None:
        if count > self.most_states:
            raise too_complex("finite_states", self.rule)


class _Nfa(Construction):
    """Positions with empty edges and edges over numbered character sets; 0 starts, 1 accepts."""

    def __init__(self, expr: Expr, meter: Meter) -> None:
        self.empty: list[list[int]] = [[], []]
        self.moves: list[list[tuple[int, int]]] = [[], []]
        self.sets: dict[Ranges, int] = {}
        self._meter = meter
        self.connect(expr, 0, 1)

    def position(self, origin: Origin | None, n: int = 1) -> int:
        """The first of ``n`` new positions."""
        first = len(self.empty)
        self.empty.extend([] for _ in range(n))
        self.moves.extend([] for _ in range(n))
        return first

    def skip(self, a: int, b: int) -> None:
        """An empty edge."""
        self.empty[a].append(b)

    def part(self, expr: Expr, a: int, b: int, origin: Origin | None, stack: list[Task]) -> None:
        """One expression; the parts of it go on ``stack``."""
        self._meter.spend(_POSITION_WORK)
        super().part(expr, a, b, origin, stack)

    def leaf(self, expr: Expr, a: int, b: int, origin: Origin | None, stack: list[Task]) -> None:
        """A character out of a set, or a text; nothing else is an expression over characters."""
        if isinstance(expr, CharSet):
            self.moves[a].append((self._numbered(expr.ranges), b))
        elif isinstance(expr, Literal):
            self._literal(expr.data.decode("utf-8"), a, b)
        else:
            raise TypeError(f"{type(expr).__name__} is not an expression over characters")

    def _literal(self, text: str, a: int, b: int) -> None:
        self._meter.spend(len(text) * _POSITION_WORK)
        here = a
        for char in text:
            there = self.position(None)
            self.moves[here].append((self._numbered(((ord(char), ord(char)),)), there))
            here = there
        self.skip(here, b)

    def _numbered(self, ranges: Ranges) -> int:
        return self.sets.setdefault(ranges, len(self.sets))

    def counts(self, expr: Repeat, copies: int) -> bool:
        """Whether a repeat is counted: none is. So many copies may be beyond the budget."""
        self._meter.spend(copies * _POSITION_WORK)
        return False


def partition(sets: Iterable[Ranges]) -> tuple[list[int], list[int], list[int]]:
    """Cut Unicode where any set begins or ends.

    Returns the interval bounds, the class of each interval, and for each class a bit mask of the sets
    that hold it.
    """
    events: dict[int, int] = {0: 0, _SURROGATES[0]: 0, _SURROGATES[1]: 0}
    for number, ranges in enumerate(sets):
        for low, high in ranges:
            events[low] = events.get(low, 0) ^ (1 << number)
            if high + 1 < _TOP:
                events[high + 1] = events.get(high + 1, 0) ^ (1 << number)
    bounds: list[int] = []
    classes: list[int] = []
    members: list[int] = []
    number_of: dict[int, int] = {}
    inside = 0
    for at in sorted(events):
        inside ^= events[at]
        if _SURROGATES[0] <= at < _SURROGATES[1]:
            kind = -1
        else:
            kind = number_of.setdefault(inside, len(number_of))
            if kind == len(members):
                members.append(inside)
        if classes and classes[-1] == kind:
            continue
        bounds.append(at)
        classes.append(kind)
    return bounds, classes, members


class Subsets:
    """Subset construction, one step at a time."""

    def __init__(self, expr: Expr, rule: str | None) -> None:
        self.meter = Meter(rule)
        self.nfa = _Nfa(expr, self.meter)
        self.bounds, self.classes, members = partition(self.nfa.sets)
        self.n_classes = len(members)
        self.classes_of = [
            [kind for kind, inside in enumerate(members) if inside >> number & 1]
            for number in range(len(self.nfa.sets))
        ]
        self._closures: dict[int, frozenset[int]] = {}
        #: the work before any state was made
        self._before = self.meter.work
        self.start = self._important(frozenset((0,)))

    def _closure(self, state: int) -> frozenset[int]:
        """What empty edges reach, as far as it matters: positions with moves, and acceptance."""
        known = self._closures.get(state)
        if known is None:
            seen = {state}
            stack = [state]
            while stack:
                for target in self.nfa.empty[stack.pop()]:
                    if target not in seen:
                        seen.add(target)
                        stack.append(target)
            self.meter.spend(len(seen))
            known = frozenset(s for s in seen if s == 1 or self.nfa.moves[s])
            self._closures[state] = known
        return known

    def _important(self, states: frozenset[int]) -> frozenset[int]:
        out: set[int] = set()
        for state in states:
            closure = self._closure(state)
            self.meter.spend(len(closure))
            out |= closure
        return frozenset(out)

    def step(self, states: frozenset[int]) -> list[frozenset[int] | None]:
        """The next subset for every class; ``None`` where nothing is left."""
        found: list[set[int] | None] = [None] * self.n_classes
        for state in states:
            for number, target in self.nfa.moves[state]:
                kinds = self.classes_of[number]
                self.meter.spend(len(kinds))
                for kind in kinds:
                    here = found[kind]
                    if here is None:
                        found[kind] = {target}
                    else:
                        here.add(target)
        done: dict[frozenset[int], frozenset[int]] = {}
        out: list[frozenset[int] | None] = []
        for here in found:
            if here is None:
                out.append(None)
                continue
            key = frozenset(here)
            if key not in done:
                done[key] = self._important(key)
            out.append(done[key])
        return out

    def whole(self) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
        """Where each state leads by the classes (-1: nowhere), the start first, and which of them accept.

        Raises ``GrammarTooComplex`` past the budget.
        """
        # not when a grammar is read that needs no kernels
        from workbench.automaton.character_kernels import (
            COUNTS,
            STATES,
            WORK,
            Made,
            Space,
            construct,
        )

        meter = self.meter
        nfa = self._in_arrays()
        n = len(self.nfa.empty)
        # more targets at once are too much work
        pairs = int(np.diff(nfa.class_at)[nfa.move_set].sum())
        space = Space(
            np.zeros(n, dtype=np.int64),
            np.empty(n, dtype=np.int32),
            np.empty(n + 1, dtype=np.int32),
            np.empty(0, dtype=np.int32),
            np.empty(self.n_classes + 2, dtype=np.int32),
            np.empty(min(pairs, meter.most_work) + 1, dtype=np.int32),
            np.empty(self.n_classes, dtype=np.int32),
            np.empty(self.n_classes, dtype=np.int32),
            np.empty(self.n_classes, dtype=np.int64),
            np.empty(self.n_classes, dtype=np.int32),
        )
        # states, their members
        sizes = [64, 64 + 8 * n]
        while True:
            made = Made(
                np.empty((sizes[0], self.n_classes), dtype=np.int32),
                np.empty(sizes[0] + 1, dtype=np.int32),
                np.empty(sizes[1], dtype=np.int32),
                np.zeros(COUNTS, dtype=np.int64),
            )
            made.counts[WORK] = self._before
            space.stamp[:] = 0
            room = space._replace(slots=np.empty(4 * sizes[0], dtype=np.int32))
            full = int(construct(nfa, made, room, meter.most_work, meter.most_states))
            if full < 0:
                break
            sizes[full] *= 2
        meter.spend(int(made.counts[WORK]) - meter.work)
        states = int(made.counts[STATES])
        meter.states(states)
        accepting = np.zeros(states, dtype=np.bool_)
        accepts = np.flatnonzero(made.members[: made.at[states]] == 1)
        accepting[made.at[: states + 1].searchsorted(accepts, side="right") - 1] = True
        return made.table[:states], accepting

    def _in_arrays(self) -> Positions:
        """The positions in CSR form."""
        from workbench.automaton.character_kernels import Positions

        nfa = self.nfa
        moves = [move for some in nfa.moves for move in some]
        return Positions(
            _offsets(nfa.empty),
            np.array([target for some in nfa.empty for target in some], dtype=np.int32),
            _offsets(nfa.moves),
            np.array([number for number, _ in moves], dtype=np.int32),
            np.array([target for _, target in moves], dtype=np.int32),
            _offsets(self.classes_of),
            np.array([kind for some in self.classes_of for kind in some], dtype=np.int32),
        )


def _offsets(lists: Sequence[Sequence[object]]) -> NDArray[np.int32]:
    """Where each of some lists begins when they stand one after the other, and where the last one ends."""
    return np.cumsum([0, *map(len, lists)], dtype=np.int32)


class Recogniser:
    """Tests texts against an expression, making only the states that the texts visit."""

    def __init__(self, expr: Expr) -> None:
        self._subsets = Subsets(expr, None)
        self._known: dict[frozenset[int], list[frozenset[int] | None]] = {}

    def accepts(self, text: str) -> bool:
        """Whether the expression matches the whole text."""
        subsets = self._subsets
        here: frozenset[int] | None = subsets.start
        for char in text:
            if here is None:
                return False
            if here not in self._known:
                self._known[here] = subsets.step(here)
            kind = subsets.classes[bisect_right(subsets.bounds, ord(char)) - 1]
            here = self._known[here][kind] if kind >= 0 else None
        return here is not None and 1 in here

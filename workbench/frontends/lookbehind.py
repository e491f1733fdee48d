r"""Patterns with look-behind: who reads from the start and who reads from the end, side by side.

At each gap between two characters the bits of the positions that look behind are known from what came before,
those of all others from what follows, and each may depend on the other where patterns look both ways. So a
gap is a pair of both, before guards are decided; inner patterns are decided first. Two pairs are neighbours
over a character when the one reader steps from the first to the second with it, and the other back.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from workbench.automaton.budgets import in_force, too_complex
from workbench.automaton.subsets import Meter, partition
from workbench.frontends.lookaround import Guarded, Positions, ranges_of
from workbench.frontends.unicode_sets import WORD
from workbench.grammar.ir import EMPTY, CharSet, Expr, Graph

__all__ = ["pairs"]

#: Bits of positions, whether a word character is on this side, whether the text ends on this side, and (for
#: what follows) whether a match has been found.
_Side = tuple[int, bool, bool, bool]

_EDGE: _Side = (0, False, True, False)


def pairs(made: Positions, first: int, pattern: str) -> Expr:
    """The texts that hold a match of the pattern that begins at ``first``, which is the last of the layers."""
    return _Pairs(made, first, pattern).graph()


@dataclass(slots=True)
class _Sides:
    """The states of one reader, numbered in the order in which they are met."""

    states: list[_Side] = field(default_factory=list)
    numbers: dict[_Side, int] = field(default_factory=dict)

    def number(self, state: _Side) -> int:
        """The number of a state."""
        found = self.numbers.setdefault(state, len(self.states))
        if found == len(self.states):
            self.states.append(state)
        return found


class _Pairs:
    def __init__(self, made: Positions, first: int, pattern: str) -> None:
        self.made = made
        self.first = first
        self.pattern = pattern
        self.bounds, self.classes, self.members = partition(made.sets)
        self.word = made.sets[WORD]
        behind = 0
        for number in made.behind:
            behind |= sum(1 << position for position in made.layers[number])
        #: what is read from the start, and, of the rest, what that looks at
        self.behind = behind
        self.meter = Meter(pattern)
        self.asked = self._asked()

    def _asked(self) -> int:
        """The positions whose bits matter after a match has been found."""
        asked = 0
        layer_of = {p: layer for layer in self.made.layers for p in layer}
        todo = [
            layer for number, layer in enumerate(self.made.layers) if number in self.made.behind
        ]
        met: set[int] = set()
        while todo:
            layer = todo.pop()
            if layer[0] in met:
                continue
            met.add(layer[0])
            for position in layer:
                for _, guard in self.made.empty[position]:
                    if guard is not None and guard.kind in ("look", "behind"):
                        todo.append(layer_of[guard.entry])
            asked |= sum(1 << position for position in layer)
        return asked & ~self.behind

    def graph(self) -> Expr:
        """All gaps, and the characters between them."""
        before, after = _Sides(), _Sides()
        before.number(_EDGE)
        after.number(_EDGE)
        forth: dict[tuple[int, int], list[int]] = {}
        back: dict[tuple[int, int], list[int]] = {}
        done = (0, 0)
        while done != (size := (len(before.states), len(after.states))):
            if size[0] * size[1] > in_force().pattern_pairs:
                raise too_complex("pattern_pairs", self.pattern)
            for one in range(size[0]):
                for other in range(size[1]):
                    if one < done[0] and other < done[1]:
                        continue
                    left, right = before.states[one], after.states[other]
                    bits = self._closed(left, right)
                    steps = [self._steps(bits, right, kind) for kind in range(len(self.members))]
                    forth[one, other] = [before.number(step) for step, _ in steps]
                    back[one, other] = [after.number(step) for _, step in steps]
            done = size
        return self._joined(before, after, forth, back)

    def _joined(
        self,
        before: _Sides,
        after: _Sides,
        forth: dict[tuple[int, int], list[int]],
        back: dict[tuple[int, int], list[int]],
    ) -> Expr:
        labels = [
            CharSet(ranges) for ranges in ranges_of(self.bounds, self.classes, len(self.members))
        ]
        width = len(after.states)
        start = len(before.states) * width
        edges: list[tuple[int, Expr, int]] = []
        for other, right in enumerate(after.states):
            if right[3] or self._closed(before.states[0], right) >> self.first & 1:
                edges.append((start, EMPTY, other))
        sources: dict[tuple[int, int, int], list[int]] = {}
        for (one, other), targets in forth.items():
            for kind, target in enumerate(targets):
                sources.setdefault((other, kind, target), []).append(one)
        for (one, other), earlier in back.items():
            for kind, previous in enumerate(earlier):
                for source in sources.get((previous, kind, one), ()):
                    edges.append((source * width + previous, labels[kind], one * width + other))
        finals = tuple(one * width for one in range(len(before.states)))
        return Graph(start + 1, start, finals, tuple(edges))

    def _steps(self, closed: int, right: _Side, kind: int) -> tuple[_Side, _Side]:
        """What is before the gap after a character that comes next, and after the gap before one that came."""
        inside = self.members[kind]
        self.meter.spend(len(self.made.moves) >> 2)
        later = earlier = 0
        for position, moves in enumerate(self.made.moves):
            ahead = not self.behind >> position & 1
            for number, target in moves:
                if not inside >> number & 1:
                    continue
                if ahead:
                    earlier |= (closed >> target & 1) << position
                else:
                    later |= (closed >> position & 1) << target
        word = bool(inside >> self.word & 1)
        found = right[3] or bool(closed >> self.first & 1)
        if found:
            earlier &= self.asked
        return (later, word, False, False), (earlier, word, False, found)

    def _closed(self, left: _Side, right: _Side) -> int:
        """The positions that have been reached, and those from which the rest can be matched."""
        made = self.made
        bits = left[0] | right[0]
        for number, layer in enumerate(made.layers):
            begin = made.behind.get(number)
            bits |= 1 << begin if begin is not None else made.accepting & self._of(layer)
            changed = True
            while changed:
                changed = False
                self.meter.spend(len(layer) >> 2)
                for position in layer if begin is not None else reversed(layer):
                    for target, guard in made.empty[position]:
                        source, reached = position, target
                        if begin is None:
                            source, reached = target, position
                        if not bits >> source & 1 or bits >> reached & 1:
                            continue
                        if guard is None or self._holds(guard, bits, left, right):
                            bits |= 1 << reached
                            changed = True
        return bits

    def _of(self, layer: list[int]) -> int:
        return sum(1 << position for position in layer)

    def _holds(self, guard: Guarded, bits: int, left: _Side, right: _Side) -> bool:
        if guard.kind == "start":
            return left[2]
        if guard.kind == "end":
            return right[2]
        if guard.kind == "word":
            return (left[1] != right[1]) == guard.positive
        return bool(bits >> guard.entry & 1) == guard.positive

"""Deterministic finite automata over code points: the regular algebra behind string constraints.

Built from expressions whose leaves are ``CharSet`` (or ASCII/UTF-8 ``Literal``): intersection,
complement, lengths and minimisation, then back to a :class:`~workbench.grammar.ir.Graph`. Surrogates
are no characters here. Code points that no part tells apart form one class, so tables stay small.
Every construction is iterative and counts its work against a budget.

>>> from workbench.grammar.ir import CharSet, Repeat, Seq
>>> a = CharSet(((97, 97),))
>>> odd = determinise(Seq((a, Repeat(Seq((a, a)), 0, None))))
>>> odd.accepts("aaa"), complement(odd).accepts("aaa")
(True, False)
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass

from workbench.automaton.lengths import length_range
from workbench.automaton.subsets import MAX_STATES, MAX_WORK, Meter, Ranges, Recogniser, Subsets
from workbench.grammar.ir import Expr, Graph

__all__ = [
    "MAX_STATES",
    "MAX_WORK",
    "Dfa",
    "Recogniser",
    "complement",
    "determinise",
    "intersect",
    "length_range",
    "minimise",
    "to_graph",
    "with_length",
]

_TOP = 0x110000


@dataclass(frozen=True, slots=True)
class Dfa:
    """A deterministic automaton; state 0 starts.

    ``bounds`` are the first code points of the intervals that partition all of Unicode and ``classes``
    their classes (-1 for surrogates); ``table[state][class]`` is the next state or -1.
    """

    bounds: tuple[int, ...]
    classes: tuple[int, ...]
    table: tuple[tuple[int, ...], ...]
    finals: frozenset[int]

    def __post_init__(self) -> None:
        if not self.table or self.bounds[0] != 0 or len(self.bounds) != len(self.classes):
            raise ValueError("an automaton needs a start state and a class for every code point")

    def __repr__(self) -> str:
        return f"<Dfa: {len(self.table)} states, {self.n_classes} classes>"

    @property
    def n_classes(self) -> int:
        """How many classes of characters are told apart."""
        return len(self.table[0])

    @property
    def is_empty(self) -> bool:
        """Whether no text is accepted."""
        return not any(state in self.finals for state in _reachable(self.table))

    def accepts(self, text: str) -> bool:
        """Whether a whole text is accepted; one with a lone surrogate never is."""
        state = 0
        for char in text:
            kind = self.classes[bisect_right(self.bounds, ord(char)) - 1]
            state = self.table[state][kind] if kind >= 0 else -1
            if state < 0:
                return False
        return state in self.finals

    def ranges(self) -> list[Ranges]:
        """The code points of each class."""
        found: list[list[tuple[int, int]]] = [[] for _ in range(self.n_classes)]
        ends = (*self.bounds[1:], _TOP)
        for low, end, kind in zip(self.bounds, ends, self.classes, strict=True):
            if kind >= 0:
                if found[kind] and found[kind][-1][1] + 1 == low:
                    found[kind][-1] = (found[kind][-1][0], end - 1)
                else:
                    found[kind].append((low, end - 1))
        return [tuple(ranges) for ranges in found]


def determinise(expr: Expr, *, rule: str | None = None) -> Dfa:
    """Build the automaton of an expression over characters, unreachable and dead states left out.

    Raises ``GrammarTooComplex`` past the budget (naming ``rule``), ``TypeError`` for references and
    byte sets.
    """
    subsets = Subsets(expr, rule)
    number_of = {subsets.start: 0}
    queue = [subsets.start]
    table: list[tuple[int, ...]] = []
    for here in queue:
        row = []
        for target in subsets.step(here):
            if target is None:
                row.append(-1)
                continue
            number = number_of.get(target)
            if number is None:
                number = number_of[target] = len(queue)
                queue.append(target)
                subsets.meter.states(len(queue))
            row.append(number)
        table.append(tuple(row))
    finals = frozenset(number for states, number in number_of.items() if 1 in states)
    return _trim(Dfa(tuple(subsets.bounds), tuple(subsets.classes), tuple(table), finals))


def complement(dfa: Dfa) -> Dfa:
    """The texts that are not accepted (over scalar values)."""
    sink = len(dfa.table)
    table = [tuple(sink if target < 0 else target for target in row) for row in dfa.table]
    table.append((sink,) * dfa.n_classes)
    finals = frozenset(range(sink + 1)) - dfa.finals
    return _trim(Dfa(dfa.bounds, dfa.classes, tuple(table), finals))


def intersect(left: Dfa, right: Dfa, *, rule: str | None = None) -> Dfa:
    """The texts that both accept. Raises ``GrammarTooComplex`` past the budget."""
    meter = Meter(rule)
    bounds: list[int] = []
    classes: list[int] = []
    number_of_pair: dict[tuple[int, int], int] = {}
    for at in sorted({*left.bounds, *right.bounds}):
        first = left.classes[bisect_right(left.bounds, at) - 1]
        second = right.classes[bisect_right(right.bounds, at) - 1]
        kind = -1
        if first >= 0 and second >= 0:
            kind = number_of_pair.setdefault((first, second), len(number_of_pair))
        if not classes or classes[-1] != kind:
            bounds.append(at)
            classes.append(kind)
    pairs = list(number_of_pair)
    number_of = {(0, 0): 0}
    queue = [(0, 0)]
    table: list[tuple[int, ...]] = []
    for one, other in queue:
        meter.spend(len(pairs))
        row = []
        for first, second in pairs:
            target = (left.table[one][first], right.table[other][second])
            if target[0] < 0 or target[1] < 0:
                row.append(-1)
                continue
            number = number_of.get(target)
            if number is None:
                number = number_of[target] = len(queue)
                queue.append(target)
                meter.states(len(queue))
            row.append(number)
        table.append(tuple(row))
    finals = frozenset(
        number
        for (one, other), number in number_of.items()
        if one in left.finals and other in right.finals
    )
    return _trim(Dfa(tuple(bounds), tuple(classes), tuple(table), finals))


def with_length(dfa: Dfa, low: int, high: int | None, *, rule: str | None = None) -> Dfa:
    """The accepted texts of ``low`` to ``high`` characters. Raises ``GrammarTooComplex`` past the budget."""
    meter = Meter(rule)
    top = low if high is None else high
    number_of = {(0, 0): 0}
    queue = [(0, 0)]
    table: list[tuple[int, ...]] = []
    for state, length in queue:
        meter.spend(dfa.n_classes)
        row = []
        for target in dfa.table[state]:
            longer = length + 1
            if longer > top and high is not None:
                target = -1
            if target < 0:
                row.append(-1)
                continue
            pair = (target, min(longer, top))
            number = number_of.get(pair)
            if number is None:
                number = number_of[pair] = len(queue)
                queue.append(pair)
                meter.states(len(queue))
            row.append(number)
        table.append(tuple(row))
    finals = frozenset(
        number
        for (state, length), number in number_of.items()
        if state in dfa.finals and length >= low
    )
    return _trim(Dfa(dfa.bounds, dfa.classes, tuple(table), finals))


def minimise(dfa: Dfa) -> Dfa:
    """The smallest automaton of the same language: Hopcroft's partition refinement."""
    sink = len(dfa.table)
    rows = [tuple(sink if target < 0 else target for target in row) for row in dfa.table]
    rows.append((sink,) * dfa.n_classes)
    into: list[dict[int, list[int]]] = [{} for _ in range(dfa.n_classes)]
    for state, row in enumerate(rows):
        for kind, target in enumerate(row):
            into[kind].setdefault(target, []).append(state)
    others = set(range(sink + 1)) - dfa.finals
    blocks = [block for block in (set(dfa.finals), others) if block]
    block_of = [0] * (sink + 1)
    for number, block in enumerate(blocks):
        for state in block:
            block_of[state] = number
    waiting = set(range(len(blocks)))
    while waiting:
        splitter = list(blocks[waiting.pop()])
        for kind in range(dfa.n_classes):
            hit: dict[int, set[int]] = {}
            for state in splitter:
                for source in into[kind].get(state, ()):
                    hit.setdefault(block_of[source], set()).add(source)
            for number, inside in hit.items():
                if len(inside) == len(blocks[number]):
                    continue
                blocks[number] -= inside
                new = len(blocks)
                blocks.append(inside)
                for state in inside:
                    block_of[state] = new
                if number in waiting or len(inside) <= len(blocks[number]):
                    waiting.add(new)
                else:
                    waiting.add(number)
    return _quotient(dfa, rows, block_of)


def _quotient(dfa: Dfa, rows: list[tuple[int, ...]], block_of: list[int]) -> Dfa:
    """One state for each block, numbered as met from the start."""
    number_of = {block_of[0]: 0}
    queue = [0]
    table = []
    for state in queue:
        row = []
        for target in rows[state]:
            block = block_of[target]
            if block not in number_of:
                number_of[block] = len(queue)
                queue.append(target)
            row.append(number_of[block])
        table.append(tuple(row))
    finals = frozenset(number for number, state in enumerate(queue) if state in dfa.finals)
    return _trim(Dfa(dfa.bounds, dfa.classes, tuple(table), finals))


def to_graph(dfa: Dfa, label: Callable[[Ranges], Expr]) -> Graph:
    """Write an automaton as an expression; ``label`` spells one character out of some ranges."""
    ranges = dfa.ranges()
    edges: list[tuple[int, Expr, int]] = []
    for state, row in enumerate(dfa.table):
        kinds: dict[int, list[int]] = {}
        for kind, target in enumerate(row):
            if target >= 0:
                kinds.setdefault(target, []).append(kind)
        for target, numbers in kinds.items():
            merged = _union([ranges[number] for number in numbers])
            edges.append((state, label(merged), target))
    return Graph(len(dfa.table), 0, tuple(sorted(dfa.finals)), tuple(edges))


def _union(parts: list[Ranges]) -> Ranges:
    out: list[tuple[int, int]] = []
    for low, high in sorted(pair for part in parts for pair in part):
        if out and low <= out[-1][1] + 1:
            out[-1] = (out[-1][0], max(out[-1][1], high))
        else:
            out.append((low, high))
    return tuple(out)


def _reachable(table: tuple[tuple[int, ...], ...]) -> list[int]:
    seen = {0}
    queue = [0]
    for state in queue:
        for target in table[state]:
            if target >= 0 and target not in seen:
                seen.add(target)
                queue.append(target)
    return queue


def _trim(dfa: Dfa) -> Dfa:
    """Leave out states that are not reached or reach no end, and join classes that nothing tells apart."""
    reached = _reachable(dfa.table)
    into: dict[int, list[int]] = {}
    for state in reached:
        for target in set(dfa.table[state]):
            into.setdefault(target, []).append(state)
    live = {state for state in reached if state in dfa.finals}
    stack = list(live)
    while stack:
        for source in into.get(stack.pop(), ()):
            if source not in live:
                live.add(source)
                stack.append(source)
    live.add(0)
    names = {state: number for number, state in enumerate(s for s in reached if s in live)}
    columns: dict[tuple[int, ...], int] = {}
    class_names = []
    kept_rows = [dfa.table[state] for state in names]
    for kind in range(dfa.n_classes):
        column = tuple(names.get(row[kind], -1) for row in kept_rows)
        class_names.append(columns.setdefault(column, len(columns)))
    bounds: list[int] = []
    classes: list[int] = []
    for at, kind in zip(dfa.bounds, dfa.classes, strict=True):
        new = class_names[kind] if kind >= 0 else -1
        if not classes or classes[-1] != new:
            bounds.append(at)
            classes.append(new)
    table = tuple(zip(*columns, strict=True)) if columns else ()
    finals = frozenset(names[state] for state in dfa.finals if state in names)
    return Dfa(tuple(bounds), tuple(classes), table, finals)

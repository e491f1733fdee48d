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
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from workbench.automaton.lengths import length_range
from workbench.automaton.subsets import Meter, Ranges, Recogniser, Subsets
from workbench.grammar.ir import Expr, Graph
from workbench.wording import number_of

__all__ = [
    "Dfa",
    "Recogniser",
    "complement",
    "determinise",
    "intersect",
    "length_range",
    "minimise",
    "to_graph",
    "told_apart",
    "with_length",
    "without_empty",
]

_TOP = 0x110000
#: Products of at most this many states are written out whole, reached or not.
_WHOLE = 4_000
#: Fewer new states than this are followed one by one, more all at once.
_FEW = 12

_Table = NDArray[np.int32]
_Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Dfa:
    """A deterministic automaton; state 0 starts.

    ``bounds`` are the first code points of the intervals that partition all of Unicode and ``classes``
    their classes (-1 for surrogates); ``table[state, class]`` is the next state or -1, ``accepting``
    tells for each state whether a text may end in it.
    """

    bounds: tuple[int, ...]
    classes: tuple[int, ...]
    table: _Table
    accepting: _Flags

    def __post_init__(self) -> None:
        if not len(self.table) or self.bounds[0] != 0 or len(self.bounds) != len(self.classes):
            raise ValueError("an automaton needs a start state and a class for every code point")

    def __repr__(self) -> str:
        return f"<Dfa: {number_of(len(self.table), 'state')}, {number_of(self.n_classes, 'class', 'classes')}>"

    @property
    def n_classes(self) -> int:
        """How many classes of characters are told apart."""
        return int(self.table.shape[1])

    @property
    def finals(self) -> frozenset[int]:
        """The states that a text may end in."""
        return frozenset(np.flatnonzero(self.accepting).tolist())

    @property
    def is_empty(self) -> bool:
        """Whether no text is accepted."""
        if not self.accepting.any():
            return True
        return not bool(self.accepting[_reachable(self.table)].any())

    def accepts(self, text: str) -> bool:
        """Whether a whole text is accepted; one with a lone surrogate never is."""
        state = 0
        for char in text:
            kind = self.classes[bisect_right(self.bounds, ord(char)) - 1]
            state = int(self.table[state, kind]) if kind >= 0 else -1
            if state < 0:
                return False
        return bool(self.accepting[state])

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
    table, accepting = subsets.whole()
    return _trim(tuple(subsets.bounds), tuple(subsets.classes), table, accepting)


def complement(dfa: Dfa) -> Dfa:
    """The texts that are not accepted (over scalar values)."""
    return _trim(dfa.bounds, dfa.classes, _completed(dfa.table), np.append(~dfa.accepting, True))


def _completed(table: _Table) -> _Table:
    """The table with one more state: every missing transition leads to it, none leads away from it."""
    sink = len(table)
    full = np.full((sink + 1, table.shape[1]), sink, dtype=np.int32)
    np.copyto(full[:sink], table, where=table >= 0)
    return full


def intersect(left: Dfa, right: Dfa, *, rule: str | None = None) -> Dfa:
    """The texts that both accept. Raises ``GrammarTooComplex`` past the budget."""
    bounds, classes, first, second = _common_classes(left, right)
    ones, others = left.table[:, first], right.table[:, second]
    if len(ones) * len(others) <= _WHOLE:
        dead = (ones < 0)[:, None] | (others < 0)[None]
        product = np.where(dead, -1, ones[:, None] * len(others) + others[None])
        table = product.reshape(-1, ones.shape[1]).astype(np.int32)
        return _trim(bounds, classes, table, np.outer(left.accepting, right.accepting).ravel())
    table, pairs = _product(ones, others, Meter(rule))
    accepting = left.accepting[pairs // len(others)] & right.accepting[pairs % len(others)]
    return _trim(bounds, classes, table, accepting)


def _common_classes(
    left: Dfa, right: Dfa
) -> tuple[tuple[int, ...], tuple[int, ...], NDArray[np.int64], NDArray[np.int64]]:
    """Intervals that serve both automata and their classes; then the left and the right class of each class."""
    bounds = np.union1d(left.bounds, right.bounds)
    first = np.array(left.classes)[np.searchsorted(left.bounds, bounds, "right") - 1]
    second = np.array(right.classes)[np.searchsorted(right.bounds, bounds, "right") - 1]
    code = np.where((first < 0) | (second < 0), -1, first * right.n_classes + second)
    starts = np.flatnonzero(np.append(True, code[1:] != code[:-1]))
    bounds, code = bounds[starts], code[starts]
    kinds, numbers = np.unique(code, return_inverse=True)
    if kinds[0] < 0:
        kinds, numbers = kinds[1:], numbers - 1
    return (
        tuple(bounds.tolist()),
        tuple(numbers.tolist()),
        kinds // right.n_classes,
        kinds % right.n_classes,
    )


def _product(ones: _Table, others: _Table, meter: Meter) -> tuple[_Table, NDArray[np.int64]]:
    """The pairs of states that are reached together, and where they lead."""
    width, n_classes = len(others), ones.shape[1]
    number_of = {0: 0}
    queue = [0]
    parts: list[NDArray[np.int32]] = []
    done = 0
    while done < len(queue):
        pairs = np.array(queue[done:], dtype=np.int64)
        done = len(queue)
        meter.spend(len(pairs) * n_classes)
        one, other = ones[pairs // width], others[pairs % width]
        codes = np.where((one < 0) | (other < 0), -1, one.astype(np.int64) * width + other)
        if len(pairs) < _FEW:
            targets = codes.ravel().tolist()
            back = None
        else:
            unique, back = np.unique(codes, return_inverse=True)
            targets = unique.tolist()
        numbers = []
        for code in targets:
            number = -1 if code < 0 else number_of.get(code)
            if number is None:
                number = number_of[code] = len(queue)
                queue.append(code)
            numbers.append(number)
        meter.states(len(queue))
        row = np.array(numbers, dtype=np.int32)
        parts.append((row if back is None else row[back]).reshape(len(pairs), n_classes))
    return np.concatenate(parts), np.array(queue, dtype=np.int64)


def with_length(dfa: Dfa, low: int, high: int | None, *, rule: str | None = None) -> Dfa:
    """The accepted texts of ``low`` to ``high`` characters. Raises ``GrammarTooComplex`` past the budget.

    The states of each length are one layer. Those from which no end can be reached in the characters
    that are left are not made.
    """
    if not low and high is None:
        return dfa
    meter = Meter(rule)
    table = dfa.table
    ends = _distances(table, dfa.accepting)
    layers: list[NDArray[np.int64]] = [np.zeros(1, dtype=np.int64)]
    parts: list[_Table] = []
    made = 0
    for length in range(low if high is None else high):
        made += len(layers[-1])
        meter.spend(len(layers[-1]) * dfa.n_classes)
        targets = table[layers[-1]]
        if high is not None:
            targets = np.where(ends[targets] < high - length, targets, -1)
        if high is None and length == low - 1:
            following = np.arange(len(table))
        else:
            following = np.unique(targets).astype(np.int64)
            following = following[following >= 0]
        number = np.full(len(table) + 1, -1, dtype=np.int32)
        number[following] = np.arange(made, made + len(following), dtype=np.int32)
        parts.append(number[targets])
        layers.append(following)
        meter.states(made + len(following))
        if not len(following):
            break
    # The last layer ends, or goes on as the automaton does.
    rest = np.full((len(layers[-1]), dfa.n_classes), -1, dtype=np.int32)
    if high is None and len(rest):
        rest = np.where(table < 0, -1, table + made).astype(np.int32)
    parts.append(rest)
    lengths = np.repeat(np.arange(len(layers)), [len(layer) for layer in layers])
    accepting = dfa.accepting[np.concatenate(layers)] & (lengths >= low)
    return _trim(dfa.bounds, dfa.classes, np.concatenate(parts), accepting)


@lru_cache(maxsize=256)
def without_empty(dfa: Dfa) -> Dfa:
    """The same texts without the empty one: the start does not accept, a copy of it is where texts return to.

    An automaton gives the same object each time, because what is worked out about automata is kept by identity.
    """
    if not dfa.accepting[0]:
        return dfa
    again = len(dfa.table)  # the copy of the start
    moved = np.where(dfa.table == 0, again, dfa.table).astype(np.int32)
    table = np.concatenate([moved, moved[:1]])
    accepting = np.append(dfa.accepting, True)
    accepting[0] = False
    return _trim(dfa.bounds, dfa.classes, table, accepting)


def minimise(dfa: Dfa) -> Dfa:
    """The smallest automaton of the same language: Moore's refinement, all states at a time.

    The first partition is by the distance to the nearest end, which already tells apart most states of automata
    that count characters.
    """
    table = _completed(dfa.table)
    accepting = np.append(dfa.accepting, False)
    block = np.unique(_distances(table, accepting)[:-1], return_inverse=True)[1]
    return _quotient(dfa, table, _stable(table, block))


def _stable(table: _Table, block: NDArray[np.int64]) -> NDArray[np.int32]:
    """The coarsest partition of the states, finer than a given one, in which equal ones lead to equal ones."""
    from workbench.automaton.character_kernels import refine

    found = block.astype(np.int32)
    slots = np.empty(1 << (2 * len(found)).bit_length(), dtype=np.int32)
    refine(np.ascontiguousarray(table), found, np.empty_like(found), slots, int(found.max()) + 1)
    return found


def told_apart(dfas: Sequence[Dfa], most: int) -> list[tuple[Dfa, frozenset[int]]] | None:
    """The texts by which of some automata accept them: minimal automata, each with the numbers of those.

    One product tells all of them apart, made of halves, which are reduced first. ``None`` for more than ``most``
    parts. Raises ``GrammarTooComplex`` past the budget.
    """
    some = [_Told.of(dfa, number) for number, dfa in enumerate(dfas)]
    while len(some) > 1:
        pairs = [one.beside(other) for one, other in zip(some[::2], some[1::2], strict=False)]
        some = [*pairs, *some[len(pairs) * 2 :]]
        if any(len(one.labels) > most for one in some):
            return None
    (found,) = some
    out = []
    for number, accepted in enumerate(found.labels):
        part = _trim(found.bounds, found.classes, found.table, found.label == number)
        if not part.is_empty:
            out.append((minimise(part), accepted))
    return sorted(out, key=lambda one: [number not in one[1] for number in range(len(dfas))])


@dataclass(frozen=True, slots=True)
class _Told:
    """A complete automaton that says of each text which of some automata accept it: ``labels[label[state]]``."""

    bounds: tuple[int, ...]
    classes: tuple[int, ...]
    table: _Table
    label: NDArray[np.int64]
    labels: list[frozenset[int]]

    @staticmethod
    def of(dfa: Dfa, number: int) -> _Told:
        label = np.append(dfa.accepting, False).astype(np.int64)
        labels = [frozenset[int](), frozenset((number,))]
        return _Told(dfa.bounds, dfa.classes, _completed(dfa.table), label, labels)

    def beside(self, other: _Told) -> _Told:
        """Both at once."""
        one, two = (
            Dfa(told.bounds, told.classes, told.table, np.ones(len(told.table), dtype=np.bool_))
            for told in (self, other)
        )
        bounds, classes, first, second = _common_classes(one, two)
        table, pairs = _product(self.table[:, first], other.table[:, second], Meter(None))
        width = len(other.table)
        codes = self.label[pairs // width] * len(other.labels) + other.label[pairs % width]
        kinds, label = np.unique(codes, return_inverse=True)
        labels = [
            self.labels[code // len(other.labels)] | other.labels[code % len(other.labels)]
            for code in kinds.tolist()
        ]
        chosen, united = _united(table, _stable(table, label))
        return _Told(bounds, classes, united, label[chosen], labels)


def _quotient(dfa: Dfa, table: _Table, block: NDArray[np.int32]) -> Dfa:
    """One state for each block, that of the start first."""
    chosen, united = _united(table, block)
    return _trim(dfa.bounds, dfa.classes, united, np.append(dfa.accepting, False)[chosen])


def _united(table: _Table, block: NDArray[np.int32]) -> tuple[NDArray[np.int64], _Table]:
    """A state of each block, that of state 0 first, and the table of the blocks."""
    _, first = np.unique(block, return_index=True)
    order = np.argsort(first, kind="stable")
    names = np.empty(len(first), dtype=np.int32)
    names[order] = np.arange(len(first), dtype=np.int32)
    chosen = first[order]
    return chosen, names[block[table[chosen]]]


def to_graph(dfa: Dfa, label: Callable[[Ranges], Expr]) -> Graph:
    """Write an automaton as an expression; ``label`` spells one character out of some ranges."""
    ranges = dfa.ranges()
    labels: dict[tuple[int, ...], Expr] = {}
    edges: list[tuple[int, Expr, int]] = []
    for state, row in enumerate(dfa.table.tolist()):
        kinds: dict[int, list[int]] = {}
        for kind, target in enumerate(row):
            if target >= 0:
                kinds.setdefault(target, []).append(kind)
        for target, numbers in kinds.items():
            key = tuple(numbers)
            made = labels.get(key)
            if made is None:
                made = labels[key] = label(_union([ranges[number] for number in numbers]))
            edges.append((state, made, target))
    return Graph(len(dfa.table), 0, tuple(sorted(dfa.finals)), tuple(edges))


def _union(parts: list[Ranges]) -> Ranges:
    out: list[tuple[int, int]] = []
    for low, high in sorted(pair for part in parts for pair in part):
        if out and low <= out[-1][1] + 1:
            out[-1] = (out[-1][0], max(out[-1][1], high))
        else:
            out.append((low, high))
    return tuple(out)


def _reachable(table: _Table) -> _Flags:
    """The states that the start leads to."""
    return _followed([0], len(table), lambda states: table[states].ravel())


def _followed(
    start: list[int], count: int, targets: Callable[[list[int]], NDArray[np.int32]]
) -> _Flags:
    """The states that some states lead to, themselves included; negative targets are none."""
    seen = np.zeros(count + 1, dtype=np.bool_)
    seen[start] = True
    seen[-1] = True  # where -1 points to
    fresh = start
    while fresh:
        found = targets(fresh)
        found = found[~seen[found]]
        if len(found) > _FEW:
            found = np.unique(found)
            fresh = found.tolist()
        else:
            fresh = list(set(found.tolist()))
        seen[fresh] = True
    return seen[:-1]


def _reversed(table: _Table) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each state where the list of the states that lead to it begins, and these lists in a row."""
    count, n_classes = table.shape
    order = np.argsort(table, axis=None, kind="stable")
    ends = table.ravel()[order]
    starts = np.searchsorted(ends, np.arange(count + 1))
    return starts, order // max(1, n_classes)


def _distances(table: _Table, accepting: _Flags) -> NDArray[np.int64]:
    """For each state the least number of characters to an end; a large number where there is none.

    The last entry, for a state of -1, is that number.
    """
    count = len(table)
    out = np.full(count + 1, 2**40, dtype=np.int64)
    starts, sources = _reversed(table)
    fresh = np.flatnonzero(accepting)
    out[fresh] = 0
    distance = 0
    while len(fresh):
        distance += 1
        if len(fresh) == 1:
            found = sources[starts[fresh[0]] : starts[fresh[0] + 1]]
        else:
            found = np.concatenate([sources[starts[s] : starts[s + 1]] for s in fresh.tolist()])
        found = np.unique(found[out[found] > distance])
        out[found] = distance
        fresh = found
    return out


def _trim(
    bounds: tuple[int, ...], classes: tuple[int, ...], table: _Table, accepting: _Flags
) -> Dfa:
    """Leave out states that are not reached or reach no end, and join classes that nothing tells apart."""
    reached = _reachable(table)
    if not reached.all():
        table, accepting = _kept(table, accepting, reached)
    live = _distances(table, accepting)[:-1] < 2**40
    live[0] = True
    if not live.all():
        table, accepting = _kept(table, accepting, live)
    columns, first, inverse = _distinct_columns(table)
    if len(first) < table.shape[1]:
        table = columns
        names = [*inverse.tolist(), -1]
        kinds = [names[kind] for kind in classes]
        starts = [at for at, kind in enumerate(kinds) if not at or kinds[at - 1] != kind]
        bounds = tuple([bounds[at] for at in starts])
        classes = tuple([kinds[at] for at in starts])
    return Dfa(bounds, classes, np.ascontiguousarray(table), accepting)


def _distinct_columns(table: _Table) -> tuple[_Table, list[int], NDArray[np.int64]]:
    """The different columns of a table, the numbers of these columns, and for each column which of them equals it."""
    number_of: dict[bytes, int] = {}
    first: list[int] = []
    inverse = np.empty(table.shape[1], dtype=np.int64)
    turned = np.ascontiguousarray(table.T)
    for kind in range(table.shape[1]):
        key = turned[kind].tobytes()
        number = number_of.get(key)
        if number is None:
            number = number_of[key] = len(first)
            first.append(kind)
        inverse[kind] = number
    return table[:, first], first, inverse


def _kept(table: _Table, accepting: _Flags, keep: _Flags) -> tuple[_Table, _Flags]:
    """The automaton without some states."""
    names = np.full(len(table) + 1, -1, dtype=np.int32)
    names[:-1][keep] = np.arange(int(keep.sum()), dtype=np.int32)
    return names[table[keep]], accepting[keep]

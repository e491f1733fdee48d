"""Deterministic finite automata over code points: the regular algebra behind string constraints.

Built from expressions whose leaves are ``CharSet`` (or ASCII/UTF-8 ``Literal``): intersection,
complement, lengths and minimisation, then back to a :class:`~workbench.grammar.ir.Graph`. Surrogates
are no characters here. Code points that no part tells apart form one class, so tables stay small.
Every construction is iterative and counts its work against a budget.

>>> odd = determinise(Seq((_A, Repeat(Seq((_A, _A)), 0, None))))
>>> odd.accepts("aaa"), complement(odd).accepts("aaa")
(True, False)
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from workbench.errors import GrammarTooComplex
from workbench.grammar.ir import Alt, CharSet, Expr, Graph, Literal, Repeat, Seq

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

#: Most states of an automaton here, and most steps of work spent on one construction.
MAX_STATES = 20_000
MAX_WORK = 4_000_000

_A = CharSet(((97, 97),))
_TOP = 0x110000
_SURROGATES = (0xD800, 0xE000)
_Ranges = tuple[tuple[int, int], ...]


class _Meter:
    """Work done so far in one construction."""

    def __init__(self, rule: str | None) -> None:
        self.rule = rule
        self.work = 0

    def spend(self, amount: int) -> None:
        self.work += amount
        if self.work > MAX_WORK:
            raise GrammarTooComplex("determinisation steps", MAX_WORK, self.rule)

    def states(self, count: int) -> None:
        if count > MAX_STATES:
            raise GrammarTooComplex("states of a finite automaton", MAX_STATES, self.rule)


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

    def ranges(self) -> list[_Ranges]:
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


@dataclass(slots=True)
class _Nfa:
    """Positions with empty edges and edges over numbered character sets; 0 starts, 1 accepts."""

    empty: list[list[int]]
    moves: list[list[tuple[int, int]]]
    sets: dict[_Ranges, int]

    def state(self) -> int:
        self.empty.append([])
        self.moves.append([])
        return len(self.empty) - 1


def _build(expr: Expr, meter: _Meter) -> _Nfa:
    """Thompson's construction with an explicit stack of ``(expression, from, to)``.

    No expression adds an edge into its ``from`` or out of its ``to``, so alternatives may share both.
    """
    nfa = _Nfa([[], []], [[], []], {})
    todo: list[tuple[Expr, int, int]] = [(expr, 0, 1)]
    while todo:
        meter.spend(1)
        item, source, target = todo.pop()
        if isinstance(item, CharSet):
            number = nfa.sets.setdefault(item.ranges, len(nfa.sets))
            nfa.moves[source].append((number, target))
        elif isinstance(item, Seq | Literal):
            parts = item.items if isinstance(item, Seq) else _characters(item)
            at = source
            for part in parts:
                then = nfa.state()
                todo.append((part, at, then))
                at = then
            nfa.empty[at].append(target)
        elif isinstance(item, Alt):
            todo.extend((part, source, target) for part in item.items)
        elif isinstance(item, Repeat):
            _build_repeat(nfa, todo, item, source, target, meter)
        elif isinstance(item, Graph):
            inner = [nfa.state() for _ in range(item.n_states)]
            nfa.empty[source].append(inner[item.start])
            for final in item.finals:
                nfa.empty[inner[final]].append(target)
            todo.extend((label, inner[a], inner[b]) for a, label, b in item.edges)
        else:
            raise TypeError(f"{type(item).__name__} is not an expression over characters")
    return nfa


def _build_repeat(
    nfa: _Nfa,
    todo: list[tuple[Expr, int, int]],
    item: Repeat,
    source: int,
    target: int,
    meter: _Meter,
) -> None:
    at = nfa.state()
    nfa.empty[source].append(at)
    copies = item.min if item.max is None else item.max
    meter.spend(copies)
    for number in range(copies):
        if number >= item.min:
            nfa.empty[at].append(target)
        first, then = nfa.state(), nfa.state()
        nfa.empty[at].append(first)
        todo.append((item.item, first, then))
        at = then
    nfa.empty[at].append(target)
    if item.max is None:
        first, last = nfa.state(), nfa.state()
        nfa.empty[at].append(first)
        nfa.empty[last].append(at)
        todo.append((item.item, first, last))


def _characters(item: Literal) -> tuple[CharSet, ...]:
    return tuple(CharSet(((ord(char), ord(char)),)) for char in item.data.decode("utf-8"))


def _partition(sets: Iterable[_Ranges]) -> tuple[list[int], list[int], list[int]]:
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
    bounds, classes, members = [], [], []
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


class _Subsets:
    """Subset construction, one step at a time."""

    def __init__(self, expr: Expr, rule: str | None) -> None:
        self.meter = _Meter(rule)
        self.nfa = _build(expr, self.meter)
        self.bounds, self.classes, members = _partition(self.nfa.sets)
        self.n_classes = len(members)
        self.classes_of = [
            [kind for kind, inside in enumerate(members) if inside >> number & 1]
            for number in range(len(self.nfa.sets))
        ]
        self._closures: dict[int, frozenset[int]] = {}
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


class Recogniser:
    """Tests texts against an expression, making only the states that the texts visit."""

    def __init__(self, expr: Expr) -> None:
        self._subsets = _Subsets(expr, None)
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


def determinise(expr: Expr, *, rule: str | None = None) -> Dfa:
    """Build the automaton of an expression over characters, unreachable and dead states left out.

    Raises ``GrammarTooComplex`` past the budget (naming ``rule``), ``TypeError`` for references and
    byte sets.
    """
    subsets = _Subsets(expr, rule)
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
    meter = _Meter(rule)
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
    meter = _Meter(rule)
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
        number for (state, length), number in number_of.items() if state in dfa.finals and length >= low
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


def to_graph(dfa: Dfa, label: Callable[[_Ranges], Expr]) -> Graph:
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


def _union(parts: list[_Ranges]) -> _Ranges:
    out: list[tuple[int, int]] = []
    for low, high in sorted(pair for part in parts for pair in part):
        if out and low <= out[-1][1] + 1:
            out[-1] = (out[-1][0], max(out[-1][1], high))
        else:
            out.append((low, high))
    return tuple(out)


def length_range(expr: Expr) -> tuple[int, int | None] | None:
    """The least and greatest number of characters of an expression; ``None`` for the empty language.

    Bounds are exact for expressions whose leaves are character sets; ``(low, None)`` has no bound.
    """
    done: list[tuple[int, int | None] | None] = []
    todo: list[tuple[Expr, bool]] = [(expr, False)]
    while todo:
        item, opened = todo.pop()
        if isinstance(item, CharSet):
            done.append((1, 1) if item.ranges else None)
        elif isinstance(item, Literal):
            length = len(item.data.decode("utf-8"))
            done.append((length, length))
        elif not isinstance(item, Seq | Alt | Repeat):
            raise TypeError(f"{type(item).__name__} is not an expression over characters")
        elif not opened:
            todo.append((item, True))
            parts = (item.item,) if isinstance(item, Repeat) else item.items
            todo.extend((part, False) for part in parts)
        elif isinstance(item, Repeat):
            done.append(_repeated(done.pop(), item))
        else:
            mark = len(done) - len(item.items)
            lengths = done[mark:]
            del done[mark:]
            done.append(_joined(lengths) if isinstance(item, Seq) else _widest(lengths))
    return done[0]


def _repeated(inner: tuple[int, int | None] | None, item: Repeat) -> tuple[int, int | None] | None:
    if inner is None:
        return (0, 0) if item.min == 0 else None
    low, high = inner
    if item.max == 0 or high == 0:
        return (0, 0)
    return low * item.min, None if high is None or item.max is None else high * item.max


def _joined(parts: list[tuple[int, int | None] | None]) -> tuple[int, int | None] | None:
    low, high = 0, 0
    unbounded = False
    for part in parts:
        if part is None:
            return None
        low += part[0]
        if part[1] is None:
            unbounded = True
        else:
            high += part[1]
    return low, None if unbounded else high


def _widest(parts: list[tuple[int, int | None] | None]) -> tuple[int, int | None] | None:
    some = [part for part in parts if part is not None]
    if not some:
        return None
    low = min(part[0] for part in some)
    highs = [part[1] for part in some]
    return low, None if None in highs else max(high for high in highs if high is not None)


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

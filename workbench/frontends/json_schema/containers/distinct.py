"""Items that must be distinct: what they can be, as texts, as numbers, and as listed values with an index.

The engine keeps the texts and the numbers of the values that came in the record of a scope. JSON numbers
are texts, too, once each value has one notation.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Any

from workbench.automaton.finite import (
    Dfa,
    complement,
    determinise,
    intersect,
    minimise,
    to_graph,
    without_empty,
)
from workbench.errors import UnsupportedConstraint
from workbench.frontends.json_schema.containers.compared_texts import (
    count_texts,
    goes_on,
    is_endless,
    written,
)
from workbench.frontends.json_schema.containers.object_plan import ObjectPlan
from workbench.frontends.json_schema.containers.propagate import plain_parts
from workbench.frontends.json_schema.logic import facts as f
from workbench.frontends.json_schema.logic.formula import FALSE, TRUE, Formula
from workbench.frontends.json_schema.logic.intervals import numbers_in
from workbench.frontends.json_schema.logic.nodes import KINDS, Node, Nodes
from workbench.frontends.json_schema.logic.strings import automaton
from workbench.frontends.json_schema.scalars.multiples import in_characters, shortest
from workbench.frontends.json_schema.scalars.numbers import Notation, exactly
from workbench.frontends.json_schema.text.json_spelling import UNNUMBERED
from workbench.frontends.json_schema.text.json_values import (
    ARRAY,
    BOOLEAN,
    NULL,
    NUMBER,
    OBJECT,
    STRING,
    decimal,
)
from workbench.grammar.ir import (
    NEVER,
    Alt,
    CharSet,
    Expr,
    Graph,
    Guard,
    OtherText,
    Repeat,
    Seq,
    literal,
)

__all__ = [
    "MAX_LISTED",
    "NUMBERS",
    "Choices",
    "ample_names",
    "choices_of",
    "count_names",
    "guarded_choice",
    "has_structures",
    "is_written",
    "listed_texts",
    "number_texts",
    "one_number",
    "some_texts",
    "string_texts",
    "tree_of",
]

#: Most values that are told apart by numbers.
MAX_LISTED = 1000
#: So many digits more than in the shortest number of endlessly many, there are far more than ever come.
_MORE = 10
#: The cell of numbers; those of texts are smaller.
NUMBERS = 1000
#: The first of the characters that mark ends; no text has them.
_MARK = 0xF0000

_ANY_TEXT = Repeat(CharSet(((0, 0xD7FF), (0xE000, 0x10FFFF))), 0, None)
_PLAIN_NUMBERS = Notation(plain=True)
_DIGIT, _NONZERO = CharSet(((48, 57),)), CharSet(((49, 57),))


@dataclass(frozen=True, slots=True)
class Choices:
    """The values of a node: some that are listed, texts, numbers in their one notation."""

    listed: tuple[Any, ...]
    texts: Dfa | None
    numbers: Dfa | None

    @property
    def count(self) -> int | None:
        """How many values there are; ``None`` for more than can be counted."""
        total = len(self.listed)
        for dfa in (self.texts, self.numbers):
            if dfa is not None:
                found = count_texts(dfa)
                if found is None:
                    return None
                total += found
        return total


def has_structures(nodes: Nodes, node: Node) -> bool:
    """Whether the values of a node can be arrays or objects that are not listed."""
    return any(
        formula is not FALSE and _listed(formula) is None
        for formula in (nodes.formula(node, ARRAY), nodes.formula(node, OBJECT))
    )


def _listed(formula: Formula) -> tuple[Any, ...] | None:
    """The values of an enumeration that is a plain part of a formula."""
    for part in plain_parts(formula):
        if isinstance(part, f.Among) and part.positive:
            return tuple(part.values)
    return None


def choices_of(nodes: Nodes, node: Node) -> Choices:
    """The values of a node.

    Raises ``UnsupportedConstraint`` when it has arrays or objects that are not listed, and
    ``GrammarTooComplex`` past a budget.
    """
    listed: list[Any] = []
    texts = numbers = None
    for kind in KINDS:
        formula = nodes.formula(node, kind)
        if formula is FALSE:
            continue
        among = _listed(formula)
        if kind == STRING:
            texts = string_texts(nodes, formula)
        elif among is not None:
            listed += [value for value in among if nodes.satisfies(value, formula)]
        elif kind == BOOLEAN:
            listed += [value for value in (True, False) if nodes.satisfies(value, formula)]
        elif kind == NULL:
            listed += [None] if nodes.satisfies(None, formula) else []
        elif kind == NUMBER:
            numbers = number_texts(nodes, formula)
        elif kind in (ARRAY, OBJECT):
            what = "arrays" if kind == ARRAY else "objects"
            reason = f"uniqueItems is not enforced where items can be {what} that are not listed"
            raise UnsupportedConstraint(node.pointer, reason)
    if len(listed) > MAX_LISTED:
        reason = f"uniqueItems is not enforced for more than {MAX_LISTED} listed values"
        raise UnsupportedConstraint(node.pointer, reason)
    return Choices(tuple(listed), _some(texts), _some(numbers))


def _some(dfa: Dfa | None) -> Dfa | None:
    return None if dfa is None or dfa.is_empty else dfa


def string_texts(nodes: Nodes, formula: Formula) -> Dfa:
    """The texts of a formula about strings, as far as they are written where they are compared."""
    texts = determinise(_ANY_TEXT) if formula is TRUE else automaton(formula)
    return written(texts, nodes.style)


def listed_texts(nodes: Nodes, formula: Formula) -> list[str] | None:
    """The strings of an enumeration that are written; ``None`` for other formulas."""
    listed = _listed(formula)
    if listed is None:
        return None
    return [
        value
        for value in dict.fromkeys(listed)
        if nodes.satisfies(value, formula)
        and all(any(low <= ord(char) <= high for low, high in UNNUMBERED) for char in value)
    ]


def tree_of(texts: Sequence[str]) -> Graph:
    """Some sorted texts that are not empty, as the smallest graph (Daciuk et al., 2000)."""
    finals: set[int] = set()
    steps: list[dict[str, int]] = [{}]
    known: dict[tuple[bool, tuple[tuple[str, int], ...]], int] = {}
    way = [0]
    before = ""

    def merge(depth: int) -> None:
        while len(way) > depth + 1:
            child = way.pop()
            key = child in finals, tuple(sorted(steps[child].items()))
            steps[way[-1]][before[len(way) - 1]] = known.setdefault(key, child)

    for text in texts:
        depth = 0
        while depth < min(len(text), len(before)) and text[depth] == before[depth]:
            depth += 1
        merge(depth)
        for char in text[depth:]:
            steps.append({})
            steps[way[-1]][char] = len(steps) - 1
            way.append(len(steps) - 1)
        finals.add(way[-1])
        before = text
    merge(0)
    number = {0: 0}
    order = [0]
    for state in order:
        for target in steps[state].values():
            if target not in number:
                number[target] = len(number)
                order.append(target)
    edges = tuple(
        (number[state], CharSet(((ord(char), ord(char)),)), number[target])
        for state in order
        for char, target in steps[state].items()
    )
    ends = tuple(number[state] for state in order if state in finals)
    return Graph(len(order), 0, ends, edges)


def is_written(value: Any) -> bool:
    """Whether a listed value has a text: no string in it holds half of a surrogate pair."""
    todo = [value]
    while todo:
        one = todo.pop()
        if isinstance(one, str):
            if any("\ud800" <= char <= "\udfff" for char in one):
                return False
        elif isinstance(one, list):
            todo += one
        elif isinstance(one, dict):
            todo += [*one, *one.values()]
    return True


def number_texts(nodes: Nodes, formula: Formula) -> Dfa:
    """The numbers of a formula, each in one notation."""
    listed = _listed(formula)
    if listed is not None:
        return some_texts([decimal(value) for value in listed if nodes.satisfies(value, formula)])
    return _one_each(numbers_in(formula))


@lru_cache(maxsize=256)
def _one_each(numbers: Expr) -> Dfa:
    return minimise(intersect(determinise(in_characters(numbers)), _one_notation()))


def some_texts(numbers: Sequence[Decimal]) -> Dfa:
    """Some numbers, each in one notation."""
    exact = determinise(
        Alt(tuple(in_characters(exactly(number, _PLAIN_NUMBERS)) for number in numbers))
    )
    return minimise(intersect(exact, _one_notation()))


def one_number(texts: Dfa, notation: Notation) -> OtherText:
    """A number that has not come before in its scope, in the one notation that it has."""
    texts = _in_runs(texts, notation.few)
    graph = to_graph(texts, CharSet)
    within = None if is_endless(texts) else graph
    return OtherText((), graph, True, NUMBERS, within)


@lru_cache(maxsize=256)
def _in_runs(texts: Dfa, most: int | None) -> Dfa:
    """The numbers that have at most so many digits in a row, or some more than the shortest one has."""
    if most is None or count_texts(texts) is not None:
        return texts
    most = max(most, shortest(to_graph(texts, CharSet)) + _MORE)
    some = Repeat(_DIGIT, 1, most)
    fraction = Repeat(Seq((literal("."), some)), 0, 1)
    runs = Seq((Repeat(literal("-"), 0, 1), some, fraction))
    return minimise(intersect(texts, determinise(runs)))


@lru_cache(maxsize=1)
def _one_notation() -> Dfa:
    """Numbers without exponents, trailing zeros in a fraction, or a sign before zero."""
    whole = Alt((literal("0"), Seq((_NONZERO, Repeat(_DIGIT, 0, None)))))
    fraction = Seq((literal("."), Repeat(_DIGIT, 0, None), _NONZERO))
    number = Seq((Repeat(literal("-"), 0, 1), whole, Repeat(fraction, 0, 1)))
    return minimise(intersect(determinise(number), complement(determinise(literal("-0")))))


def count_names(plan: ObjectPlan, cells: Iterable[int]) -> int | None:
    """How many names some cells have, the empty one not counted; ``None`` when there is no end of them."""
    total = 0
    for number in cells:
        names = plan.cell_names(number)
        found = None if names is None else count_texts(names)
        if names is None or found is None:
            return None
        total += found - (0 in names.finals)
    return total


def ample_names(plan: ObjectPlan) -> bool:
    """Whether each prefix of a name that is not listed has far more completions than names will ever come."""
    found = [plan.cell_names(number) for number in range(len(plan.cells()))]
    return all(names is None or goes_on(without_empty(names)) for names in found)


def guarded_choice(exprs: Sequence[Expr]) -> Expr:
    """A choice of disjoint expressions; each is the member of the scope that has its index.

    Where a byte excludes some of them, a guard asks whether one of the others may still come.
    """
    if not exprs:
        return NEVER
    marks = [CharSet(((_MARK + number, _MARK + number),)) for number in range(len(exprs))]
    pairs = zip(map(in_characters, exprs), marks, strict=True)
    graph = to_graph(determinise(Alt(tuple(Seq(pair) for pair in pairs))), CharSet)
    within = _members_below(graph)
    end = graph.n_states
    edges: list[tuple[int, Expr, int]] = []
    for source, label, target in graph.edges:
        edges += [(source, Guard("take", 1 << number), end) for number in _marks(label)]
        if target in graph.finals:
            continue
        asks = () if within[target] == within[source] else (Guard("may", within[target]),)
        edges.append((source, Seq((*asks, label)), target))
    return Graph(end + 1, graph.start, (end,), tuple(edges))


def _marks(label: Expr) -> list[int]:
    """The numbers that a label marks the ends of; other labels mark none."""
    assert isinstance(label, CharSet)
    return [
        mark - _MARK
        for low, high in label.ranges
        for mark in range(max(low, _MARK), min(high, _MARK + MAX_LISTED) + 1)
    ]


def _members_below(graph: Graph) -> list[int]:
    """Per state, the members that can still be taken, as bits."""
    below = [0] * graph.n_states
    into: list[list[int]] = [[] for _ in range(graph.n_states)]
    for source, label, target in graph.edges:
        into[target].append(source)
        for number in _marks(label):
            below[source] |= 1 << number
    todo = [state for state in range(graph.n_states) if below[state]]
    while todo:
        state = todo.pop()
        for source in into[state]:
            if below[state] & ~below[source]:
                below[source] |= below[state]
                todo.append(source)
    return below

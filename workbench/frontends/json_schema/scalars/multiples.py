"""Multiples of a number, within bounds: plain notation, read digit by digit with the remainder so far.

``m`` is written as ``p / 10^k``. A number is a multiple of it when its digits without the point, brought
to ``k`` decimals, are divisible by ``p``, and nothing but zeros comes after those decimals.

How many digits come in a row is bounded where the notation says so: in place, where a state keeps its
remainder while digits come, otherwise, where these are few, by states that also tell how many came.
"""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache, reduce

import numpy as np

from workbench.automaton.budgets import in_force, too_complex
from workbench.automaton.finite import (
    Dfa,
    complement,
    determinise,
    intersect,
    minimise,
    to_graph,
    with_length,
)
from workbench.errors import GrammarTooComplex
from workbench.frontends.json_schema.scalars.numbers import (
    ANY_NOTATION,
    Bound,
    Notation,
    number_between,
)
from workbench.frontends.json_schema.text.json_spelling import Ranges
from workbench.grammar.components import strongly_connected
from workbench.grammar.ir import NEVER, Alt, ByteSet, CharSet, Expr, Graph, Repeat, Seq, literal
from workbench.grammar.rewriting import rewrite

__all__ = ["in_characters", "number_of", "shortest"]

#: Most steps of an automaton whose states are told apart by how many digits came, too.
_COUNTED_STEPS = 250

#: Decimals that take as long as one remainder more does.
_CHAIN = 50

_DIGIT = CharSet(((48, 57),))
_DIGITS = Repeat(_DIGIT, 1, None)
_PLAIN = Seq(
    (
        Repeat(literal("-"), 0, 1),
        Alt((literal("0"), Seq((CharSet(((49, 57),)), Repeat(_DIGIT, 0, None))))),
        Repeat(Seq((literal("."), _DIGITS)), 0, 1),
    )
)
# Classes of characters: others, "-", ".", then the digits.
_BOUNDS = (0, 45, 46, 47, *range(48, 58), 58, 0xD800, 0xE000)
_CLASSES = (0, 1, 2, 0, *range(3, 13), 0, -1, 0)


def number_of(
    low: Bound | None,
    high: Bound | None,
    multiple: Decimal | None,
    others: tuple[Decimal, ...],
    notation: Notation = ANY_NOTATION,
) -> Expr:
    """Numbers in an interval that are multiples of one number and not multiples of others.

    Those in plain notation have no fraction, not even of zeros.

    Where many remainders are told apart, the number of digits has no bound. Raises ``GrammarTooComplex`` when
    that takes too many remainders.
    """
    parts = [] if multiple is None else [_multiples(multiple)]
    if low is None and high is None:
        parts.append(_plain())
    else:
        inside = number_between(low, high, multiple is not None and multiple == 1)
        if inside == NEVER:
            return NEVER
        parts.append(intersect(minimise(determinise(in_characters(inside))), _plain()))
    if notation.plain:
        parts.append(determinise(Seq(_PLAIN.items[:2])))
    parts += [complement(_multiples(other)) for other in others]
    dfa = minimise(reduce(intersect, parts))
    return NEVER if dfa.is_empty else _in_runs(dfa, notation)


def _in_runs(dfa: Dfa, notation: Notation) -> Expr:
    """The numbers of an automaton, with at most so many digits in a row where nothing else ends them."""
    graph = to_graph(dfa, _in_bytes)
    if notation.most is None or notation.few is None:
        return graph
    onward: list[list[int]] = [[] for _ in range(graph.n_states)]
    for source, _, target in graph.edges:
        if source != target:
            onward[source].append(target)
    if len(strongly_connected(graph.n_states, onward.__getitem__)) == graph.n_states:
        return _counted_in_place(graph, notation.most)
    if len(graph.edges) > _COUNTED_STEPS:
        return graph
    # a sign and a point are characters, too
    most = max(notation.few, shortest(graph)) + 2
    return to_graph(minimise(with_length(dfa, 1, most)), _in_bytes)


def _counted_in_place(graph: Graph, most: int) -> Graph:
    """A graph whose states with an edge to themselves are left after ``most`` digits at the latest."""
    around = {source: label for source, label, target in graph.edges if source == target}
    left = {state: graph.n_states + number for number, state in enumerate(around)}
    edges = [
        (left.get(source, source), label, target)
        for source, label, target in graph.edges
        if source != target
    ]
    # the digit that led to the state is one of the run
    again = max(1, most - 1)
    edges += [(state, Repeat(around[state], 0, again), left[state]) for state in around]
    finals = tuple(sorted(left.get(state, state) for state in graph.finals))
    return Graph(graph.n_states + len(left), graph.start, finals, tuple(edges))


def shortest(graph: Graph) -> int:
    """The length of the shortest text of a graph over characters; it has one."""
    onward: list[list[int]] = [[] for _ in range(graph.n_states)]
    for source, _, target in graph.edges:
        onward[source].append(target)
    length, level, seen = 0, {graph.start}, {graph.start}
    while not level & set(graph.finals):
        level = {target for source in level for target in onward[source]} - seen
        seen |= level
        length += 1
    return length


@lru_cache(maxsize=1)
def _plain() -> Dfa:
    return minimise(determinise(_PLAIN))


@lru_cache(maxsize=4096)
def _in_bytes(ranges: Ranges) -> Expr:
    """One ASCII character out of some ranges."""
    return ByteSet(sum((1 << (high + 1)) - (1 << low) for low, high in ranges))


@lru_cache(maxsize=256)
def _multiples(of: Decimal) -> Dfa:
    """The digits (with sign and point anywhere that they may be) of the multiples of a number."""
    _, digits, exponent = of.as_tuple()
    assert isinstance(exponent, int), "multipleOf is finite"
    if len(digits) + max(0, exponent) > 30:
        raise GrammarTooComplex("remainders of multipleOf", in_force().remainders)
    unit = int("".join(map(str, digits))) * 10 ** max(0, exponent)
    places = max(0, -exponent)
    while places and unit % 10 == 0:
        unit, places = unit // 10, places - 1
    # a long row of decimals is told apart one by one
    if max(unit, places // _CHAIN) * (places + 1) > in_force().remainders:
        raise too_complex("remainders")
    # State: (decimals read + 1) * unit + remainder; before the point none are read, and after the last
    # one zeros only follow.
    rest = np.arange(unit)
    table = np.full((places + 2, unit, 13), -1, dtype=np.int32)
    table[0, 0, 1] = 0
    table[0, :, 2] = unit + rest
    for read in range(-1, places):
        then = (read + 2 if read >= 0 else 0) * unit
        for digit in range(10):
            table[read + 1, :, 3 + digit] = then + (rest * 10 + digit) % unit
    table[places + 1, :, 3] = (places + 1) * unit + rest
    owed = [10 ** (places - max(0, read)) % unit for read in range(-1, places + 1)]
    accepting = np.stack([rest * factor % unit == 0 for factor in owed])
    return minimise(Dfa(_BOUNDS, _CLASSES, table.reshape(-1, 13), accepting.ravel()))


def in_characters(expr: Expr) -> Expr:
    """An expression with its sets of ASCII bytes as sets of characters."""

    def one(part: Expr) -> Expr | None:
        if isinstance(part, ByteSet):
            return CharSet(tuple((b, b) for b in range(128) if part.mask >> b & 1))
        return None

    return rewrite(expr, one)

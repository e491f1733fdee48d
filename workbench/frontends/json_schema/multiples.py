"""Multiples of a number, within bounds: plain notation, read digit by digit with the remainder so far.

``m`` is written as ``p / 10^k``. A number is a multiple of it when its digits without the point, brought
to ``k`` decimals, are divisible by ``p``, and nothing but zeros comes after those decimals.

Next file to read: ``intervals.py``.
"""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache, reduce

import numpy as np

from workbench.automaton.budgets import in_force, too_complex
from workbench.automaton.finite import Dfa, complement, determinise, intersect, minimise, to_graph
from workbench.automaton.linear import rewrite
from workbench.errors import GrammarTooComplex
from workbench.frontends.json_schema.numbers import Bound, number_between
from workbench.frontends.json_schema.spelling import Ranges
from workbench.grammar.ir import (
    NEVER,
    Alt,
    ByteSet,
    CharSet,
    Expr,
    Repeat,
    Seq,
    literal,
)

__all__ = ["in_characters", "number_of"]

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
    plain: bool = False,
) -> Expr:
    """Numbers in an interval that are multiples of one number and not multiples of others.

    ``plain`` numbers have no fraction, not even of zeros.

    Raises ``GrammarTooComplex`` when that takes too many remainders.
    """
    parts = [] if multiple is None else [_multiples(multiple)]
    if low is None and high is None:
        parts.append(_plain())
    else:
        inside = number_between(low, high, multiple is not None and multiple == 1)
        if inside == NEVER:
            return NEVER
        parts.append(intersect(minimise(determinise(in_characters(inside))), _plain()))
    if plain:
        parts.append(determinise(Seq(_PLAIN.items[:2])))
    parts += [complement(_multiples(other)) for other in others]
    dfa = minimise(reduce(intersect, parts))
    return NEVER if dfa.is_empty else to_graph(dfa, _label)


@lru_cache(maxsize=1)
def _plain() -> Dfa:
    return minimise(determinise(_PLAIN))


def _label(ranges: Ranges) -> Expr:
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
    if unit * (places + 1) > in_force().remainders:
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

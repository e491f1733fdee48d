"""Sets of numbers that a formula about numbers allows, and how they are written.

A formula becomes a union of boxes: an interval, numbers whose multiples are meant, and numbers whose
multiples are not.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from math import gcd, prod

from workbench.automaton.budgets import in_force, too_complex
from workbench.frontends.json_schema.logic import facts as f
from workbench.frontends.json_schema.logic.formula import TRUE, And, Fact, Formula, Or
from workbench.frontends.json_schema.read.location import tighter_high, tighter_low
from workbench.frontends.json_schema.scalars.multiples import number_of
from workbench.frontends.json_schema.scalars.numbers import (
    ANY_NOTATION,
    Bound,
    Notation,
    exactly,
    number_between,
)
from workbench.frontends.json_schema.text.json_values import decimal, is_number
from workbench.grammar.ir import NEVER, Alt, Expr

__all__ = ["numbers_in"]

#: Most multiples that are written one by one.
MAX_LISTED = 400
#: From this many remainders on, telling multiples by their digits is dear.
_DEAR = 20_000

_ONE = Decimal(1)


@dataclass(frozen=True, slots=True)
class _Box:
    low: Bound | None = None
    high: Bound | None = None
    multiples: frozenset[Decimal] = frozenset()
    others: frozenset[Decimal] = frozenset()
    plain: bool = False

    def __and__(self, other: _Box) -> _Box:
        return _Box(
            tighter_low(self.low, other.low),
            tighter_high(self.high, other.high),
            self.multiples | other.multiples,
            self.others | other.others,
            self.plain or other.plain,
        )

    @property
    def is_empty(self) -> bool:
        if self.others & self.multiples:
            return True
        if self.low is None or self.high is None:
            return False
        low, high = self.low, self.high
        return low.value > high.value or (
            low.value == high.value and not (low.inclusive and high.inclusive)
        )


def numbers_in(formula: Formula, notation: Notation = ANY_NOTATION) -> Expr:
    """The numbers that a formula allows; ``NEVER`` when there are none.

    Raises ``GrammarTooComplex`` past a budget.
    """
    if formula is TRUE:
        return number_between(None, None, False, notation)
    found = [part for box in _boxes(formula) if (part := _written(box, notation)) != NEVER]
    if not found:
        return NEVER
    return found[0] if len(found) == 1 else Alt(tuple(found))


def _boxes(formula: Formula) -> list[_Box]:
    if isinstance(formula, Or):
        found = [box for part in formula.parts for box in _boxes(part)]
    elif isinstance(formula, And):
        found = [_Box()]
        for part in sorted(formula.parts, key=lambda part: isinstance(part, Or)):
            more = _boxes(part)
            found = [both for box in found for one in more if not (both := box & one).is_empty]
            _check(found)
    elif isinstance(formula, Fact):
        found = _fact_boxes(formula)
    else:
        found = [_Box()] if formula is TRUE else []
    found = list(dict.fromkeys(found))
    _check(found)
    return found


def _check(boxes: list[_Box]) -> None:
    if len(boxes) > in_force().intervals:
        raise too_complex("intervals")


def _fact_boxes(fact: Fact) -> list[_Box]:
    match fact:
        case f.Low(bound=bound):
            return [_Box(low=bound)]
        case f.High(bound=bound):
            return [_Box(high=bound)]
        case f.Multiple(of=of, positive=True, plain=plain):
            return [_Box(multiples=frozenset((of,)), plain=plain)]
        case f.Multiple(of=of):
            return [_Box(others=frozenset((of,)))]
        case f.Among(positive=positive, values=values):
            points = sorted(decimal(value) for value in values if is_number(value))
            if positive:
                return [_Box(Bound(point, True), Bound(point, True)) for point in points]
            ends: list[Bound | None] = [None]
            ends += [Bound(point, False) for point in points]
            return [_Box(low, high) for low, high in zip(ends, [*ends[1:], None], strict=True)]
    raise TypeError(f"{fact!r} is not about numbers")


@lru_cache(maxsize=2048)
def _written(box: _Box, notation: Notation) -> Expr:
    multiples = box.multiples
    if box.plain:
        notation = replace(notation, plain=True)
    if len(multiples) > 1:
        box = replace(box, multiples=frozenset((_common(multiples),)))
        multiples = box.multiples
    if not box.others and multiples <= {_ONE}:
        return number_between(box.low, box.high, bool(multiples), notation)
    others = tuple(sorted(box.others))
    multiple = next(iter(multiples), None)
    whole = multiple is not None and multiple == multiple.to_integral_value()
    notation = replace(notation, plain=box.plain or (notation.plain and whole))
    if multiple is not None and (values := _listed(box, multiple)) is not None:
        ways = [exactly(value, notation) for value in values]
        return NEVER if not ways else ways[0] if len(ways) == 1 else Alt(tuple(ways))
    return number_of(box.low, box.high, multiple, others, notation)


def _listed(box: _Box, multiple: Decimal) -> list[Decimal] | None:
    """The numbers of a box, where they are few and telling them by their digits would take many states."""
    if box.low is None or box.high is None:
        return None
    with localcontext(prec=2_000):
        if (box.high.value - box.low.value) / multiple > MAX_LISTED:
            return None
        remainders = prod(
            int(one.scaleb(-min(0, _exponent(one)))) for one in {multiple, *box.others}
        )
        if remainders < _DEAR:
            return None
        first = (box.low.value / multiple).to_integral_value(ROUND_CEILING)
        last = (box.high.value / multiple).to_integral_value(ROUND_FLOOR)
        values = [multiple * number for number in range(int(first), int(last) + 1)]
        if values and values[0] == box.low.value and not box.low.inclusive:
            values = values[1:]
        if values and values[-1] == box.high.value and not box.high.inclusive:
            values = values[:-1]
        return [
            value
            for value in values
            if not any(Fraction(value) % Fraction(one) == 0 for one in box.others)
        ]


def _exponent(value: Decimal) -> int:
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int), "multipleOf is finite"
    return exponent


def _common(values: frozenset[Decimal]) -> Decimal:
    """The least common multiple of decimals."""
    fractions = [value.as_integer_ratio() for value in values]
    top, bottom = fractions[0]
    for over, under in fractions[1:]:
        whole = bottom * under // gcd(bottom, under)
        left, right = top * (whole // bottom), over * (whole // under)
        top, bottom = left * right // gcd(left, right), whole
    with localcontext(prec=2_000):
        return Decimal(top) / Decimal(bottom)

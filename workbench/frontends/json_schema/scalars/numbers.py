"""Number languages: every notation where nothing constrains the value, plain notation under bounds.

Bounds are exact decimals of any size; nothing here is a float. A bounded number is read digit by digit
while it is remembered whether the digits so far equal those of the lower and of the upper bound.

A run of digits that nothing else ends is a counted repeat, so that no text goes on with zeros for ever. Runs
are as long as the bounds need, whatever the notation says: with it there is a number where there is one at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from workbench.automaton.budgets import in_force, too_complex
from workbench.grammar.ir import EMPTY, NEVER, Alt, ByteSet, Expr, Graph, Literal, Repeat, Seq

__all__ = [
    "ANY_NOTATION",
    "FEW_DIGITS",
    "Bound",
    "Notation",
    "exactly",
    "number_between",
]

#: Most digits in a row where the states of an automaton count them.
FEW_DIGITS = 30


def _digits(low: int, high: int) -> ByteSet:
    return ByteSet(sum(1 << (48 + digit) for digit in range(low, high + 1)))


_DIGIT = _digits(0, 9)
_NONZERO = _digits(1, 9)
_ZERO = Literal(b"0")
_SIGN = Repeat(Literal(b"-"), 0, 1)
_E = ByteSet(1 << ord("e") | 1 << ord("E"))
_E_SIGN = Repeat(ByteSet(1 << ord("+") | 1 << ord("-")), 0, 1)
_E_PLUS = Repeat(Literal(b"+"), 0, 1)


@dataclass(frozen=True, slots=True)
class Notation:
    """How numbers are written.

    ``plain``: without exponents, and those that have to be integers without a fraction. ``most``: how many
    digits may come in a row where no bound says so, ``None`` for any number of them.
    """

    plain: bool = False
    most: int | None = None

    def left(self, read: int) -> int | None:
        """How many digits may still come after some of a run; there is always room for one."""
        return None if self.most is None else max(1, self.most - read)

    @property
    def few(self) -> int | None:
        """How many digits may come in a row where the states of an automaton count them."""
        return None if self.most is None else min(self.most, FEW_DIGITS)


#: All notations that JSON has.
ANY_NOTATION = Notation()


@dataclass(frozen=True, slots=True)
class _Pieces:
    """The parts of a number; one object for each notation, so that automata of them are shared."""

    whole_positive: Expr
    fraction: Expr
    exponent: Expr
    #: a fraction that is no more than zeros, where the number may have a fraction
    zero_fraction: Expr

    @property
    def whole(self) -> Expr:
        return Alt((_ZERO, self.whole_positive))


@lru_cache(maxsize=64)
def _pieces(notation: Notation, whole: bool) -> _Pieces:
    most = notation.most
    exponent: Expr = EMPTY
    zero_fraction: Expr = EMPTY
    if not notation.plain:
        sign = _E_PLUS if whole else _E_SIGN
        exponent = Repeat(Seq((_E, sign, Repeat(_DIGIT, 1, most))), 0, 1)
    if not (notation.plain and whole):
        zero_fraction = Repeat(Seq((Literal(b"."), Repeat(_ZERO, 1, most))), 0, 1)
    fraction = zero_fraction
    if not whole:
        fraction = Repeat(Seq((Literal(b"."), Repeat(_DIGIT, 1, most))), 0, 1)
    more = Repeat(_DIGIT, 0, None if most is None else most - 1)
    return _Pieces(Seq((_NONZERO, more)), fraction, exponent, zero_fraction)


def _not_all_zeros(most: int | None) -> Expr:
    """Digits of which one is not zero; those before it and those from it on are counted apart."""
    more = None if most is None else most - 1
    return Seq((Repeat(_ZERO, 0, more), _NONZERO, Repeat(_DIGIT, 0, more)))


@dataclass(frozen=True, slots=True)
class Bound:
    """One end of an interval."""

    value: Decimal
    inclusive: bool


@dataclass(frozen=True, slots=True)
class _Limit:
    """The digits of a bound that is not negative; no leading or trailing zeros beyond "0"."""

    whole: str
    fraction: str
    inclusive: bool


@lru_cache(maxsize=64)
def _unbounded(notation: Notation, whole: bool) -> Expr:
    """Any number; of integers also ``1.0`` and ``1e3``, while ``1.5e1`` and ``10e-1`` are left out."""
    pieces = _pieces(notation, whole)
    return Seq((_SIGN, pieces.whole, pieces.fraction, pieces.exponent))


def exactly(value: Decimal, notation: Notation = ANY_NOTATION) -> Expr:
    """The number with this value, in plain notation and as Python and JavaScript would write it.

    In plain notation only where that is asked for, and then an integer without a fraction.
    """
    bound = Bound(value, True)
    if notation.plain:
        return number_between(bound, bound, value == value.to_integral_value(), notation)
    digits = number_between(bound, bound, False, notation)
    texts = {str(value).lower()}
    if _float_exact(value):
        texts.add(repr(float(value)))
    others = [Literal(text.encode()) for text in sorted(texts) if "e" in text]
    return Alt((digits, *others)) if others else digits


def _float_exact(value: Decimal) -> bool:
    try:
        near = float(value)
    except OverflowError:
        return False
    return near not in (float("inf"), float("-inf")) and Decimal(repr(near)) == value


def _sign_only(
    low: Bound | None, high: Bound | None, whole: bool, notation: Notation
) -> Expr | None:
    """Numbers bounded by nothing but zero: any notation will do, the sign decides."""
    bounds = [bound for bound in (low, high) if bound is not None]
    if not bounds or any(bound.value != 0 for bound in bounds):
        return None
    bound, pieces = bounds[0], _pieces(notation, whole)
    zero = Seq((_ZERO, pieces.zero_fraction, pieces.exponent))
    if len(bounds) == 2:
        return Seq((_SIGN, zero)) if bound.inclusive and bounds[1].inclusive else NEVER
    positive: list[Expr] = [Seq((pieces.whole_positive, pieces.fraction, pieces.exponent))]
    if not whole:
        some = _not_all_zeros(notation.most)
        positive.append(Seq((Literal(b"0."), some, pieces.exponent)))
    inside: Expr = Alt(tuple(positive))
    if low is None:
        inside = Seq((Literal(b"-"), inside))
    return Alt((inside, Seq((_SIGN, zero)))) if bound.inclusive else inside


@lru_cache(maxsize=1024)
def number_between(
    low: Bound | None, high: Bound | None, whole: bool, notation: Notation = ANY_NOTATION
) -> Expr:
    """The numbers (``whole``: integers) in an interval.

    Without exponents, ``1.50`` and ``-0`` included; without bounds, or with none but zero, any notation. An
    empty interval gives ``NEVER``. Raises ``GrammarTooComplex`` for a bound with too many digits.
    """
    if low is None and high is None:
        return _unbounded(notation, whole)
    if (signed := _sign_only(low, high, whole, notation)) is not None:
        return signed
    branches: list[Expr] = []
    zero = Decimal(0)
    if high is None or high.value >= zero:
        floor = low if low is not None and low.value >= zero else Bound(zero, True)
        ceiling = None if high is None else _limit(high)
        branches.append(_magnitudes(_limit(floor), ceiling, whole, notation))
    if low is None or low.value <= zero:
        floor = high if high is not None and high.value <= zero else Bound(zero, True)
        ceiling = None if low is None else _limit(low)
        magnitudes = _magnitudes(_limit(floor), ceiling, whole, notation)
        if magnitudes != NEVER:
            branches.append(Seq((Literal(b"-"), magnitudes)))
    branches = [branch for branch in branches if branch != NEVER]
    if not branches:
        return NEVER
    return branches[0] if len(branches) == 1 else Alt(tuple(branches))


def _limit(bound: Bound) -> _Limit:
    """Write the magnitude of a bound in plain digits."""
    _, digits, exponent = bound.value.as_tuple()
    assert isinstance(exponent, int), "bounds are finite"
    if len(digits) + abs(exponent) > in_force().digits and any(digits):
        raise too_complex("digits")
    text = "".join(map(str, digits))
    if not any(digits):
        text, exponent = "0", 0
    if exponent >= 0:
        whole, fraction = text + "0" * exponent, ""
    else:
        text = text.rjust(1 - exponent, "0")
        whole, fraction = text[:exponent], text[exponent:]
    return _Limit(whole.lstrip("0") or "0", fraction.rstrip("0"), bound.inclusive)


def _magnitudes(low: _Limit, high: _Limit | None, whole: bool, notation: Notation) -> Expr:
    """Numbers without a sign between two limits: by length of the whole part, then digit by digit."""
    shortest = len(low.whole)
    if high is not None and (len(high.whole), high.whole) < (shortest, low.whole):
        return NEVER
    longest = None if high is None else len(high.whole)
    branches: list[Expr] = []
    if longest == shortest:
        branches.append(_compared(shortest, low, high, whole, notation))
    else:
        branches.append(_compared(shortest, low, None, whole, notation))
        if longest is None or shortest + 1 < longest:
            most = None if longest is None else longest - 2
            if longest is None and notation.most is not None:
                most = max(shortest, notation.most - 1)
            more = Repeat(_DIGIT, shortest, most)
            branches.append(Seq((_NONZERO, more, _pieces(notation, whole).fraction)))
        if longest is not None:
            branches.append(_compared(longest, None, high, whole, notation))
    branches = [branch for branch in branches if branch != NEVER]
    if not branches:
        return NEVER
    return branches[0] if len(branches) == 1 else Alt(tuple(branches))


#: Where a number has been read to: "whole" after n digits, "point" after the point, "fraction" after n
#: digits of it; then the limits that the digits so far still equal.
_Place = tuple[str, int, bool, bool]


@dataclass(slots=True)
class _Comparison:
    """The automaton of the numbers whose whole part has a given length, between two limits."""

    length: int
    low: _Limit | None
    high: _Limit | None
    whole: bool
    notation: Notation

    def may_end(self, place: _Place) -> bool:
        phase, read, low_equal, high_equal = place
        done = read if phase == "fraction" else 0
        low, high = self.low, self.high
        if low_equal and low is not None and (done < len(low.fraction) or not low.inclusive):
            return False
        return not high_equal or high is None or done < len(high.fraction) or high.inclusive

    def next_digits(self, place: _Place) -> dict[_Place, list[int]]:
        phase, read, low_equal, high_equal = place
        targets: dict[_Place, list[int]] = {}
        first = 1 if phase == "whole" and read == 0 and self.length > 1 else 0
        for digit in range(first, 10):
            low_next = high_next = False
            if low_equal and self.low is not None:
                bound = self._digit(self.low, phase, read)
                if digit < bound:
                    continue
                low_next = digit == bound
            if high_equal and self.high is not None:
                bound = self._digit(self.high, phase, read)
                if digit > bound:
                    continue
                high_next = digit == bound
            if phase == "whole":
                target: _Place = ("whole", read + 1, low_next, high_next)
            else:
                target = ("fraction", min(read + 1, self._places()), low_next, high_next)
            targets.setdefault(target, []).append(digit)
        return targets

    def _digit(self, limit: _Limit, phase: str, read: int) -> int:
        digits = limit.whole if phase == "whole" else limit.fraction
        return int(digits[read]) if read < len(digits) else 0

    def _places(self) -> int:
        lengths = [len(limit.fraction) for limit in (self.low, self.high) if limit is not None]
        return max(1, *lengths)

    def graph(self) -> Expr:
        """Explore the places that can be reached; the last state is the end."""
        start: _Place = ("whole", 0, self.low is not None, self.high is not None)
        number_of: dict[_Place, int] = {start: 1}
        queue = [start]
        edges: list[tuple[int, Expr, int]] = []
        while queue:
            place = queue.pop()
            source = number_of[place]
            phase, read, low_equal, high_equal = place
            if not low_equal and not high_equal:
                edges.append((source, self._free(phase, read), 0))
                continue
            if phase == "fraction" and read == self._places():
                if (rest := self._rest(low_equal, high_equal)) != NEVER:
                    edges.append((source, rest, 0))
                continue
            if phase == "whole" and read == self.length:
                if self.may_end(place):
                    zeros = _pieces(self.notation, True).zero_fraction
                    edges.append((source, zeros if self.whole else EMPTY, 0))
                if self.whole:
                    continue
                targets: dict[_Place, Expr] = {("point", 0, low_equal, high_equal): Literal(b".")}
            else:
                if phase == "fraction" and self.may_end(place):
                    edges.append((source, EMPTY, 0))
                targets = {
                    target: ByteSet(sum(1 << (48 + digit) for digit in digits))
                    for target, digits in self.next_digits(place).items()
                }
            for target, label in targets.items():
                if target not in number_of:
                    number_of[target] = len(number_of) + 1
                    queue.append(target)
                edges.append((source, label, number_of[target]))
        return _trimmed(len(number_of) + 1, edges)

    def _free(self, phase: str, read: int) -> Expr:
        """What may follow once the number is strictly between the limits."""
        if phase == "whole":
            left = self.length - read
            tail = _pieces(self.notation, self.whole).fraction
            return Seq((Repeat(_DIGIT, left, left), tail)) if left else tail
        return Repeat(_DIGIT, 1 if phase == "point" else 0, self.notation.left(read))

    def _rest(self, low_equal: bool, high_equal: bool) -> Expr:
        """What may follow once all digits of the limits are read, and equal those of one."""
        left = self.notation.left(self._places())
        ends = self.may_end(("fraction", self._places(), low_equal, high_equal))
        if high_equal:
            return Repeat(_ZERO, 0, left) if ends else NEVER
        return Repeat(_DIGIT, 0, left) if ends else _not_all_zeros(left)


def _compared(
    length: int, low: _Limit | None, high: _Limit | None, whole: bool, notation: Notation
) -> Expr:
    return _Comparison(length, low, high, whole, notation).graph()


def _trimmed(n_states: int, edges: list[tuple[int, Expr, int]]) -> Expr:
    """Drop the states from which the end (state 0) cannot be reached; the start is state 1."""
    into: list[list[int]] = [[] for _ in range(n_states)]
    for source, _, target in edges:
        into[target].append(source)
    useful = {0}
    stack = [0]
    while stack:
        for source in into[stack.pop()]:
            if source not in useful:
                useful.add(source)
                stack.append(source)
    if 1 not in useful:
        return NEVER
    names = {state: index for index, state in enumerate(sorted(useful))}
    kept = tuple(
        (names[source], label, names[target])
        for source, label, target in edges
        if source in useful and target in useful
    )
    return Graph(len(names), names[1], (names[0],), kept)

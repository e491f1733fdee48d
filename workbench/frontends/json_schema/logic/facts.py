"""The facts (literals) of formulas: what single keywords say about numbers, strings, arrays and objects."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from workbench.frontends.json_schema.logic.formula import FALSE, TRUE, Fact, Formula
from workbench.frontends.json_schema.read.location import CellRule, Location, MemberRule
from workbench.frontends.json_schema.scalars.numbers import Bound
from workbench.frontends.json_schema.scalars.patterns import Pattern

__all__ = [
    "Among",
    "AtLeast",
    "AtMost",
    "Cells",
    "Distinct",
    "FewMatch",
    "Format",
    "Has",
    "High",
    "Lacks",
    "Low",
    "Matches",
    "Members",
    "MostMatch",
    "Multiple",
    "Names",
    "Unique",
]


@dataclass(frozen=True, slots=True)
class Among(Fact):
    """The value is one of these (or none of them)."""

    keys: frozenset[Hashable]
    positive: bool
    values: tuple[Any, ...] = field(compare=False, repr=False)

    def opposite(self) -> Formula:
        return Among(self.keys, not self.positive, self.values)


@dataclass(frozen=True, slots=True)
class Low(Fact):
    """The number is not below a bound."""

    bound: Bound

    def opposite(self) -> Formula:
        return High(Bound(self.bound.value, not self.bound.inclusive))


@dataclass(frozen=True, slots=True)
class High(Fact):
    """The number is not above a bound."""

    bound: Bound

    def opposite(self) -> Formula:
        return Low(Bound(self.bound.value, not self.bound.inclusive))


@dataclass(frozen=True, slots=True)
class Multiple(Fact):
    """The number is a multiple of another; of 1 when it is an integer.

    ``plain`` means the integers of draft 4, which are written without a fraction: 1.0 is none.
    """

    of: Decimal
    positive: bool = True
    plain: bool = False

    def opposite(self) -> Formula:
        return Multiple(self.of, not self.positive, self.plain)


@dataclass(frozen=True, slots=True)
class AtLeast(Fact):
    """A string has this many characters, an array items, an object members, or more."""

    count: int

    def opposite(self) -> Formula:
        return AtMost(self.count - 1) if self.count else FALSE


@dataclass(frozen=True, slots=True)
class AtMost(Fact):
    """This many or fewer."""

    count: int

    def opposite(self) -> Formula:
        return AtLeast(self.count + 1) if self.count >= 0 else TRUE


@dataclass(frozen=True, slots=True)
class Matches(Fact):
    """The string holds a match of a pattern."""

    pattern: Pattern
    positive: bool = True

    def opposite(self) -> Formula:
        return Matches(self.pattern, not self.positive)


@dataclass(frozen=True, slots=True)
class Format(Fact):
    """The string has a format."""

    name: str
    positive: bool = True

    def opposite(self) -> Formula:
        return Format(self.name, not self.positive)


@dataclass(frozen=True, slots=True)
class Cells(Fact):
    """Every item satisfies a rule, or some item does not."""

    rule: CellRule
    positive: bool = True

    def opposite(self) -> Formula:
        return Cells(self.rule, not self.positive)


@dataclass(frozen=True, slots=True)
class MostMatch(Fact):
    """At least this many items satisfy a schema."""

    schema: Location
    count: int

    def opposite(self) -> Formula:
        return FewMatch(self.schema, self.count - 1) if self.count else FALSE


@dataclass(frozen=True, slots=True)
class FewMatch(Fact):
    """At most this many items satisfy a schema."""

    schema: Location
    count: int

    def opposite(self) -> Formula:
        return MostMatch(self.schema, self.count + 1)


@dataclass(frozen=True, slots=True)
class Unique(Fact):
    """No two items are equal (or two are), where few values are possible.

    ``fresh`` are the values that have not come yet, ``seen`` those that have.
    """

    fresh: tuple[Location, ...]
    seen: tuple[Location, ...] = ()
    positive: bool = True

    def opposite(self) -> Formula:
        return Unique(self.fresh, self.seen, not self.positive)


@dataclass(frozen=True, slots=True)
class Distinct(Fact):
    """No two items are equal, whatever their values; the engine compares them.

    That two are equal (not ``positive``) cannot be written: neither a grammar nor this engine can ask for an
    item that came before. Such arrays are left out when rules are written, not earlier, since a second negation
    gives the fact back.
    """

    positive: bool = True

    def opposite(self) -> Formula:
        return Distinct(not self.positive)


@dataclass(frozen=True, slots=True)
class Members(Fact):
    """Every member satisfies a rule, or some member does not."""

    rule: MemberRule
    positive: bool = True

    def opposite(self) -> Formula:
        return Members(self.rule, not self.positive)


@dataclass(frozen=True, slots=True)
class Names(Fact):
    """Every name satisfies a schema, or some name does not."""

    schema: Location
    positive: bool = True

    def opposite(self) -> Formula:
        return Names(self.schema, not self.positive)


@dataclass(frozen=True, slots=True)
class Has(Fact):
    """There is a member with this name."""

    name: str

    def opposite(self) -> Formula:
        return Lacks(self.name)


@dataclass(frozen=True, slots=True)
class Lacks(Fact):
    """There is no member with this name."""

    name: str

    def opposite(self) -> Formula:
        return Has(self.name)

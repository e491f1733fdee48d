"""The plan of an array: the plain part of its formula, and the machine that reads the open part by items."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from workbench.errors import GrammarTooComplex
from workbench.frontends.json_schema.containers.alternatives import MAX_ALTERNATIVES
from workbench.frontends.json_schema.containers.derivatives import (
    Derivatives,
    Fits,
    Move,
    Option,
    State,
    counted,
    ends,
    one_holds,
    unless,
)
from workbench.frontends.json_schema.containers.propagate import plain_parts
from workbench.frontends.json_schema.logic import facts as f
from workbench.frontends.json_schema.logic.formula import FALSE, TRUE, Fact, Formula, facts_in
from workbench.frontends.json_schema.logic.nodes import Atom, Node, Nodes
from workbench.frontends.json_schema.read.location import CellRule

__all__ = ["ArrayPlan"]


@dataclass(slots=True)
class ArrayPlan:
    """An array whose formula is a conjunction; ``rules`` hold for every item."""

    nodes: Nodes
    formula: Formula
    rules: list[CellRule] = field(default_factory=list)
    least: int = 0
    most: int | None = None
    open: Formula = TRUE
    longest: int = 0
    distinct: bool = False

    def __post_init__(self) -> None:
        left: list[Formula] = []
        for part in plain_parts(self.formula):
            match part:
                case f.Cells(rule=rule, positive=True) if not rule.unless:
                    self.rules.append(rule)
                case f.Distinct(positive=True):
                    self.distinct = True
                case f.AtLeast(count=count):
                    self.least = max(self.least, count)
                case f.AtMost(count=count):
                    self.most = count if self.most is None else min(self.most, count)
                case _:
                    left.append(part)
        self.open = self.nodes.formulas.all_of(left)
        rules = [*self.rules]
        rules += [fact.rule for fact in facts_in(self.open) if isinstance(fact, f.Cells)]
        self.longest = max((len(rule.prefix) for rule in rules), default=0)

    def with_counts(self) -> Formula:
        """The open part with the counts in it."""
        counts: list[Formula] = []
        if self.least:
            counts.append(self.nodes.formulas.fact(f.AtLeast(self.least)))
        if self.most is not None:
            counts.append(self.nodes.formulas.fact(f.AtMost(self.most)))
        return self.nodes.formulas.all_of([self.open, *counts])

    def item_atoms(self, position: int) -> tuple[Atom, ...]:
        """What the item at a position has to satisfy in any case."""
        found = [choices[0] for rule in self.rules if (choices := rule.choices(position))]
        return tuple((schema, True) for schema in found)

    def item(self, position: int) -> Node:
        """The node of the item at a position."""
        return self.nodes.node(self.item_atoms(position))

    def moves(self, derivatives: Derivatives, state: State, fits: Fits) -> Iterator[Move]:
        """The items that may come next."""
        place, residual = state
        base = self.item_atoms(place)
        for node, left in derivatives.of(
            residual, lambda fact: _cell_options(fact, place), base, fits
        ):
            yield Move(place, node, (min(place + 1, self.longest), left))

    def skip(self, derivatives: Derivatives, state: State) -> State | None:
        """Items are not skipped."""
        return None

    def may_end(self, state: State) -> bool:
        """Whether the array may be closed."""
        return ends(state[1])


def _cell_options(fact: Fact, position: int) -> list[Option] | None:
    match fact:
        case f.Cells(rule=rule, positive=positive):
            choices = rule.choices(position)
            return None if choices is None else one_holds(choices, fact, positive)
        case f.MostMatch(schema=schema, count=count):
            fewer = f.MostMatch(schema, count - 1) if count > 1 else TRUE
            return [(((schema, True),), fewer), (unless(schema), fact)]
        case f.FewMatch(schema=schema, count=count):
            less = f.FewMatch(schema, count - 1) if count else FALSE
            return [(((schema, False),), fact), ((), less)]
        case f.Unique(fresh=fresh, seen=seen, positive=positive):
            options: list[Option] = []
            for one in fresh:
                rest = tuple(other for other in fresh if other is not one)
                now = tuple(sorted((*seen, one), key=lambda schema: schema.index))
                options.append((((one, True),), f.Unique(rest, now, positive)))
            if not positive:
                options += [(((one, True),), TRUE) for one in seen]
            return options
        case f.Distinct():
            raise GrammarTooComplex("uniqueItems among many alternatives", MAX_ALTERNATIVES)
    return counted(fact)

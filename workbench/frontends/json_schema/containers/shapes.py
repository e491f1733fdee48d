"""Shapes of formulas about objects and arrays: as values, as one of other formulas, or by a plan."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from workbench.automaton.budgets import in_force, too_complex
from workbench.frontends.json_schema.containers.alternatives import Cases, alternatives
from workbench.frontends.json_schema.containers.array_plan import ArrayPlan
from workbench.frontends.json_schema.containers.derivatives import (
    Derivatives,
    Explored,
    Fits,
    State,
    explore,
)
from workbench.frontends.json_schema.containers.object_plan import ObjectPlan
from workbench.frontends.json_schema.containers.propagate import Propagator, plain_parts
from workbench.frontends.json_schema.logic import facts as f
from workbench.frontends.json_schema.logic.formula import FALSE, TRUE, Formula, facts_in
from workbench.frontends.json_schema.logic.nodes import Nodes
from workbench.frontends.json_schema.text.json_values import OBJECT

__all__ = ["Shape", "Shapes"]


#: Budgets of one object that all alternatives of one have together.
_SPLIT = 40


def plan_of(nodes: Nodes, kind: int, formula: Formula) -> ObjectPlan | ArrayPlan:
    """The plan of a conjunction."""
    return ObjectPlan(nodes, formula) if kind == OBJECT else ArrayPlan(nodes, formula)


def _check_product(either: list[Formula]) -> None:
    """Refuse alternatives that each deny all others before they are written: members times facts, each time.

    Raises ``GrammarTooComplex``.
    """
    most = _SPLIT * in_force().facts
    total = 0
    for one in either:
        denied = [
            fact
            for part in plain_parts(one)
            for fact in facts_in(part)
            if isinstance(fact, f.Members) and not fact.positive
        ]
        total += len(denied) * sum(len(fact.rule.names) for fact in denied)
        if total > most:
            raise too_complex("facts", limit=most)


@dataclass(frozen=True, slots=True)
class Shape:
    """How a formula about objects or arrays is written: as values, as one of other formulas, by a plan."""

    values: list[Any] | None = None
    either: list[Formula] | None = None
    plan: ObjectPlan | ArrayPlan | None = None


class Shapes:
    """The shapes of formulas, made once each."""

    def __init__(self, nodes: Nodes) -> None:
        self.nodes = nodes
        self.derivatives = Derivatives(nodes)
        self._propagator = Propagator(nodes)
        self.cases = Cases(nodes, self._propagator)
        self._known: dict[tuple[int, int], Shape] = {}

    def of(self, kind: int, formula: Formula) -> Shape:
        """The shape of a formula that is neither true nor false."""
        key = (kind, id(formula))
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._make(kind, formula)
        return known

    def _make(self, kind: int, formula: Formula) -> Shape:
        for part in plain_parts(formula):
            if isinstance(part, f.Among) and part.positive:
                fit = [value for value in part.values if self.nodes.satisfies(value, formula)]
                return Shape(values=fit)
        if any(isinstance(part, f.Distinct) and not part.positive for part in plain_parts(formula)):
            return Shape(values=[])
        if kind == OBJECT:
            propagated = self._propagator.propagated(formula)
            if propagated is TRUE or propagated is FALSE:
                return Shape(either=[TRUE] if propagated is TRUE else [])
            if propagated is not formula:
                self.nodes.pointers.setdefault(
                    id(propagated), self.nodes.pointers.get(id(formula), "#")
                )
                return self.of(kind, propagated)
        found = alternatives(self.nodes, formula, kind == OBJECT)
        if found is not None:
            if kind == OBJECT:
                _check_product(found)
            return Shape(either=found)
        listed = [fact for fact in facts_in(formula) if isinstance(fact, f.Among)]
        if listed:
            table = {id(fact): self.nodes.spelled_out(fact, kind) for fact in listed}
            return Shape(either=[self.nodes.formulas.replaced(formula, table)])
        return Shape(plan=plan_of(self.nodes, kind, formula))

    def apart(self, formula: Formula) -> list[Formula] | None:
        """Alternatives of which just one holds (``oneOf``), each with the opposites of the others beside it.

        ``None`` where there are no such, or where each would need a machine of its own.
        """
        found = alternatives(self.nodes, formula)
        first = found
        while first:
            shape = self.of(OBJECT, first[0])
            if isinstance(shape.plan, ObjectPlan) and shape.plan.open is TRUE:
                return found
            first = alternatives(self.nodes, first[0])
        return None

    def explored(self, plan: ObjectPlan | ArrayPlan, fits: Fits) -> Explored:
        """The states of a plan's machine."""
        start: State = (0, plan.with_counts())
        with self.derivatives.budget():
            return explore(
                start,
                lambda state: plan.moves(self.derivatives, state, fits),
                lambda state: plan.skip(self.derivatives, state),
            )

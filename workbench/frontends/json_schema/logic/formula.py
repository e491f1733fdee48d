"""What a schema says about values of one type, as a formula: facts under "and" and "or", no "not".

This is negation normal form: a negation is pushed into the facts, each of which has an opposite. Formulas
are interned (hash-consed): equal ones are the same object, so they serve as keys and recursion over schemas
ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

__all__ = ["FALSE", "TRUE", "And", "Fact", "Formula", "Formulas", "Or", "facts_in", "holds"]


class Formula:
    """A statement about values of one type."""

    __slots__ = ()


@dataclass(frozen=True, eq=False, slots=True)
class _Constant(Formula):
    value: bool

    def __repr__(self) -> str:
        return str(self.value)


TRUE = _Constant(True)
FALSE = _Constant(False)


@dataclass(frozen=True, eq=False, slots=True)
class And(Formula):
    """All of these."""

    parts: tuple[Formula, ...]


@dataclass(frozen=True, eq=False, slots=True)
class Or(Formula):
    """At least one of these."""

    parts: tuple[Formula, ...]


class Fact(Formula):
    """A statement that is not made of others; equal by value."""

    __slots__ = ()

    def opposite(self) -> Formula:
        """The statement that holds when this one does not."""
        raise NotImplementedError


class Formulas:
    """Makes formulas, simplified."""

    def __init__(self) -> None:
        self._facts: dict[Fact, Fact] = {}
        self._made: dict[tuple[type[Formula], tuple[int, ...]], Formula] = {}
        self._facts_inside: dict[int, frozenset[int]] = {}
        self._opposites: dict[int, tuple[Formula, Formula]] = {}

    def fact(self, fact: Formula) -> Formula:
        """The one object for a fact."""
        return self._facts.setdefault(fact, fact) if isinstance(fact, Fact) else fact

    def all_of(self, parts: Iterable[Formula]) -> Formula:
        """The conjunction."""
        flat: dict[int, Formula] = {}
        for part in parts:
            if part is FALSE:
                return FALSE
            if isinstance(part, And):
                flat.update((id(inner), inner) for inner in part.parts)
            elif part is not TRUE:
                flat[id(part)] = part
        found = list(flat.values())
        if any(isinstance(part, Or) for part in found) and len(found) > 1:
            found = self._propagated(found)
            if found is _NOTHING:
                return FALSE
        elif self._contradicts(found, flat):
            return FALSE
        return self._make(And, found, TRUE)

    def any_of(self, parts: Iterable[Formula]) -> Formula:
        """The disjunction."""
        flat: dict[int, Formula] = {}
        for part in parts:
            if part is TRUE:
                return TRUE
            if isinstance(part, Or):
                flat.update((id(inner), inner) for inner in part.parts)
            elif part is not FALSE:
                flat[id(part)] = part
        found = list(flat.values())
        if self._contradicts(found, flat):
            return TRUE
        if len(found) > 1:
            found = [
                part
                for part in found
                if not isinstance(part, And) or not any(id(one) in flat for one in part.parts)
            ]
        return self._make(Or, found, FALSE)

    def _make(self, kind: Callable[[Any], Formula], parts: list[Formula], none: Formula) -> Formula:
        if len(parts) < 2:
            return parts[0] if parts else none
        key: Any = (kind, tuple(map(id, parts)))
        made = self._made.get(key)
        if made is None:
            made = self._made[key] = kind(tuple(parts))
        return made

    def _contradicts(self, parts: list[Formula], known: dict[int, Formula]) -> bool:
        if len(parts) < 2 or len(parts) > 50:
            return False
        return any(isinstance(part, Fact) and id(self.opposite(part)) in known for part in parts)

    def _propagated(self, parts: list[Formula]) -> list[Formula]:
        """Unit propagation: facts that stand by themselves are used in the disjunctions beside them."""
        for _ in range(4):
            sure = {id(part): part for part in parts if not isinstance(part, Or)}
            if self._contradicts(list(sure.values()), sure):
                return _NOTHING
            never = {id(self.opposite(part)) for part in sure.values() if isinstance(part, Fact)}
            out: dict[int, Formula] = dict(sure)
            changed = False
            for part in parts:
                if not isinstance(part, Or):
                    continue
                if any(id(one) in sure for one in part.parts):
                    changed = True
                    continue
                kept = [one for one in part.parts if not self._excluded(one, never)]
                if len(kept) == len(part.parts):
                    out[id(part)] = part
                    continue
                changed = True
                if not kept:
                    return _NOTHING
                left = self.any_of(kept)
                for one in left.parts if isinstance(left, And) else (left,):
                    out[id(one)] = one
            parts = list(out.values())
            if not changed:
                break
        return parts

    def _excluded(self, part: Formula, never: set[int]) -> bool:
        if isinstance(part, And):
            return any(id(one) in never for one in part.parts)
        return id(part) in never

    def opposite(self, formula: Formula) -> Formula:
        """The negation."""
        known = self._opposites.get(id(formula))
        if known is not None:
            return known[1]
        if formula is TRUE or formula is FALSE:
            made: Formula = FALSE if formula is TRUE else TRUE
        elif isinstance(formula, And):
            made = self.any_of([self.opposite(part) for part in formula.parts])
        elif isinstance(formula, Or):
            made = self.all_of([self.opposite(part) for part in formula.parts])
        else:
            assert isinstance(formula, Fact)
            made = self.fact(formula.opposite())
        self._opposites[id(formula)] = (formula, made)
        if made is not TRUE and made is not FALSE:  # many facts are never so, or always
            self._opposites.setdefault(id(made), (made, formula))
        return made

    def inside(self, formula: Formula) -> frozenset[int]:
        """The identities of the facts of a formula."""
        known = self._facts_inside.get(id(formula))
        if known is None:
            if isinstance(formula, And | Or):
                known = frozenset().union(*map(self.inside, formula.parts))
            else:
                known = frozenset((id(formula),))
            self._facts_inside[id(formula)] = known
        return known

    def replaced(self, formula: Formula, by: dict[int, Formula]) -> Formula:
        """The formula with other formulas in the places of facts, by the identity of the facts."""
        done: dict[int, Formula] = {}
        changed = by.keys()

        def go(part: Formula) -> Formula:
            known = done.get(id(part))
            if known is None:
                if changed.isdisjoint(self.inside(part)):
                    known = part
                elif isinstance(part, And):
                    known = self.all_of([go(one) for one in part.parts])
                elif isinstance(part, Or):
                    known = self.any_of([go(one) for one in part.parts])
                else:
                    known = by.get(id(part), part)
                done[id(part)] = known
            return known

        return go(formula)


_NOTHING: list[Formula] = []


def facts_in(formula: Formula) -> list[Fact]:
    """Every fact of a formula, once each, in order."""
    if isinstance(formula, Fact):
        return [formula]
    seen: set[int] = set()
    found: list[Fact] = []
    stack = [formula]
    while stack:
        part = stack.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        if isinstance(part, And | Or):
            stack.extend(reversed(part.parts))
        elif isinstance(part, Fact):
            found.append(part)
    return found


def holds(formula: Formula, test: Callable[[Fact], bool]) -> bool:
    """Evaluate a formula, given what holds of each fact."""
    if isinstance(formula, And):
        return all(holds(part, test) for part in formula.parts)
    if isinstance(formula, Or):
        return any(holds(part, test) for part in formula.parts)
    return test(formula) if isinstance(formula, Fact) else formula is TRUE

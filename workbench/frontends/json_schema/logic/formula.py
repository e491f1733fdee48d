"""What a schema says about values of one type, as a formula: facts under "and" and "or", no "not".

This is negation normal form: a negation is pushed into the facts, each of which has an opposite. Formulas
are interned (hash-consed): equal ones are the same object, so they serve as keys and recursion over schemas
ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
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
        self._pairs: set[int] = set()
        self._orders: dict[int, tuple[Fact, ...]] = {}
        self._none: dict[int, Formula] = {}

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

    def just_one(self, parts: Sequence[Formula]) -> Formula:
        """Just one of these holds, as a formula that grows little faster than they do.

        One of the first half and none of the second, or the other way round: multiplied out, each part would
        stand beside the opposites of all others.
        """
        order = tuple(dict.fromkeys(fact for part in parts for fact in facts_in(part)))
        return self._halved(parts, order)[1]

    def _halved(self, parts: Sequence[Formula], order: tuple[Fact, ...]) -> tuple[Formula, Formula]:
        """That none of these holds, and that just one does."""
        if len(parts) == 1:
            return self.opposite(parts[0]), parts[0]
        middle = len(parts) // 2
        none, one = self._halved(parts[:middle], order)
        no_other, other = self._halved(parts[middle:], order)
        found = self._pair(Or, self._pair(And, one, no_other), self._pair(And, none, other))
        neither = self._pair(And, none, no_other)
        if isinstance(found, Or):
            self._orders[id(found)] = order
            self._none[id(found)] = neither
        return neither, found

    def balanced(self, parts: Sequence[Formula]) -> Formula:
        """The conjunction of many, in pairs: so a change of one of them does not look at the others."""
        if len(parts) < 2:
            return parts[0] if parts else TRUE
        middle = len(parts) // 2
        return self._pair(And, self.balanced(parts[:middle]), self.balanced(parts[middle:]))

    def order_of(self, formula: Formula) -> tuple[Fact, ...] | None:
        """For a formula that says that just one of others holds: all of their facts, in the order of the schema."""
        return self._orders.get(id(formula))

    def none_left(self, formula: Formula) -> Formula | None:
        """A formula with "none of these holds" wherever it says that just one of them does; ``None``: it does not."""
        parts = formula.parts if isinstance(formula, And) else (formula,)
        if not any(id(part) in self._none for part in parts):
            return None
        return self.all_of([self._none.get(id(part), part) for part in parts])

    def _pair(self, kind: type[And] | type[Or], left: Formula, right: Formula) -> Formula:
        """Two formulas together, not flattened: so a change below one of them costs nothing for the other."""
        none, every = (TRUE, FALSE) if kind is And else (FALSE, TRUE)
        if left is every or right is every:
            return every
        if left is none or left is right:
            return right
        if right is none:
            return left
        made = self._make(kind, [left, right], none)
        self._pairs.add(id(made))
        return made

    def is_paired(self, formula: Formula) -> bool:
        """Whether most of a formula is pairs, of which a change touches few."""
        parts = formula.parts if isinstance(formula, And) else ()
        return id(formula) in self._pairs or any(id(part) in self._pairs for part in parts)

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
                left = self._like(part, self.any_of(kept))
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

    def _like(self, before: Formula, after: Formula) -> Formula:
        """The second formula, which came of the first."""
        order = self._orders.get(id(before))
        if order is not None and isinstance(after, Or):
            self._orders[id(after)] = order
        return after

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

    def replaced(self, formula: Formula, by: Mapping[int, Formula]) -> Formula:
        """The formula with other formulas in the places of facts, by the identity of the facts."""
        if not by:
            return formula
        done: dict[int, Formula] = {}
        changed = by.keys()

        def go(part: Formula) -> Formula:
            known = done.get(id(part))
            if known is None:
                if changed.isdisjoint(self.inside(part)):
                    known = part
                elif id(part) in self._pairs:
                    assert isinstance(part, And | Or)
                    left, right = part.parts
                    known = self._like(part, self._pair(type(part), go(left), go(right)))
                elif isinstance(part, And):
                    known = self.all_of([go(one) for one in part.parts])
                elif isinstance(part, Or):
                    known = self._like(part, self.any_of([go(one) for one in part.parts]))
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


def holds(
    formula: Formula, test: Callable[[Fact], bool], known: dict[int, bool] | None = None
) -> bool:
    """Evaluate a formula, given what holds of each fact; ``known`` keeps what was found of its parts."""
    if not isinstance(formula, And | Or):
        return test(formula) if isinstance(formula, Fact) else formula is TRUE
    if known is not None and id(formula) in known:
        return known[id(formula)]
    every = all if isinstance(formula, And) else any
    found = every(holds(part, test, known) for part in formula.parts)
    if known is not None:
        known[id(formula)] = found
    return found

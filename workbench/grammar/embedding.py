"""Grammars inside grammars: each keeps its rules, its scopes, its origins, and what it writes on demand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha256
from types import MappingProxyType
from typing import Any

from workbench.grammar.contracts import check_rule
from workbench.grammar.fingerprint import fingerprint, rules_key, source_key
from workbench.grammar.ir import Expr, Grammar, Origin, Outcome, Ref
from workbench.grammar.lazy import LazyRules, captured, written_ahead
from workbench.grammar.places import within
from workbench.grammar.rewriting import rewrite

__all__ = ["EmbeddedRules", "embed", "outcomes_of"]


def embed(
    rules: Mapping[str, Expr],
    start: str,
    parts: Mapping[str, Grammar],
    kind: str = "ir",
    source: Any = None,
) -> Grammar:
    """Make a grammar of some rules, which use other grammars by name as if these were rules.

    The start rule of the grammar ``parts["args"]`` has the name ``args``, its other rules are ``args.name``;
    grammars may be embedded in what is embedded. Rules that a part writes on demand are written on demand here.
    What became of a part's constraints is among the outcomes, under pointers such as ``args#/properties/id``; the
    origins of a part have its name before them (:func:`~workbench.grammar.places.within`).

    Raises ``ValueError`` where a name is missing or could stand for two rules, for a dot in the name of a part, and
    for expressions as ``Grammar`` does.
    """
    made = EmbeddedRules(rules, start, parts, source=source)
    return Grammar(made, start, kind, source, outcomes_of(parts))


def outcomes_of(parts: Mapping[str, Grammar]) -> tuple[Outcome, ...]:
    """What became of the constraints of grammars that stand under names."""
    return tuple(
        replace(one, pointer=_pointer(name, one.pointer))
        for name, part in parts.items()
        for one in part.outcomes
    )


def _pointer(name: str, pointer: str) -> str:
    if not pointer:
        return f"{name}#"
    return f"{name}{pointer}" if pointer.startswith("#") else f"{name}.{pointer}"


class _Part:
    """A grammar under a name: its rules with names that nothing else has.

    One that is ``marked`` has a rule around its start, which may be used inside of it.
    """

    def __init__(self, name: str, grammar: Grammar, marked: bool) -> None:
        self.name = name
        self.grammar = grammar
        self.start = f"{name}.{grammar.start}" if marked else name
        # what stands in several rules stays one object
        self._done: dict[int, Expr] = {}
        self._places: dict[Origin, Origin] = {}

    def outer(self, name: str) -> str:
        """The name of one of its rules here."""
        return self.start if name == self.grammar.start else f"{self.name}.{name}"

    def inner(self, name: str) -> str:
        """The name of one of its rules there."""
        return self.grammar.start if name == self.start else name[len(self.name) + 1 :]

    def rule(self, name: str) -> Expr:
        """One of its rules, by its name there. Raises ``KeyError``."""
        return rewrite(self.grammar.rules[name], self._renamed, self._done)

    def _renamed(self, part: Expr) -> Expr | None:
        place = part.origin
        if place is not None:
            place = self._places.get(place) or self._places.setdefault(
                place, within(self.name, place, self.grammar.start)
            )
        if isinstance(part, Ref):
            return Ref(self.outer(part.name), origin=place)
        return None if place is None else replace(part, origin=place)


class EmbeddedRules(LazyRules):
    """The rules of a grammar and of those that are embedded in it; only what these write on demand is promised.

    ``captures`` says which of the rules and grammars are captured, under which name.
    """

    def __init__(
        self,
        rules: Mapping[str, Expr],
        start: str,
        parts: Mapping[str, Grammar],
        captures: Mapping[str, str] | None = None,
        source: Any = None,
    ) -> None:
        keys = [source_key(source), rules_key(rules), *map(fingerprint, parts.values())]
        marked = list((captures or {}).items())
        told = None if None in keys else repr((start, list(parts), keys, marked))
        key = None if told is None else sha256(told.encode()).hexdigest()
        super().__init__(self._written, start, key)
        self.parts = MappingProxyType(dict(parts))
        found = dict(captures or {})
        self._parts = {name: _Part(name, part, name in found) for name, part in parts.items()}
        for part in self._parts.values():
            inner = captured(part.grammar.rules)
            found = {part.outer(name): called for name, called in inner.items()} | found
        self.captures = MappingProxyType(found)
        for name in parts:
            if "." in name:
                raise ValueError(f"{name!r} names a grammar: dots are for the rules in it")
        for name in rules:
            if name.partition(".")[0] in parts:
                raise ValueError(f"{name!r} stands for two rules")
        ahead = dict(rules)
        for name, part in self._parts.items():
            if part.start != name:
                ahead[name] = Ref(part.start)
            ahead |= {
                part.outer(name): part.rule(name) for name in written_ahead(part.grammar.rules)
            }
        self.written = MappingProxyType(ahead)
        self.emitted.update(ahead)
        for name, expr in rules.items():
            check_rule(name, expr, self)

    def may_come_early(self, name: str) -> bool:
        """What the grammar says that a rule is of."""
        part = self._parts.get(name.partition(".")[0])
        rules = None if part is None else part.grammar.rules
        if part is None or not isinstance(rules, LazyRules):
            return True
        return rules.may_come_early(part.inner(name))

    def __contains__(self, name: object) -> bool:
        return name in self._parts or super().__contains__(name)

    def _written(self, name: str) -> Expr:
        part = self._parts.get(name.partition(".")[0])
        if part is None:
            raise KeyError(name)
        return part.rule(part.inner(name))

"""Grammars inside grammars: each keeps its rules, its scopes, its origins, and what it writes on demand."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from types import MappingProxyType
from typing import Any

from workbench.grammar.contracts import check_rule
from workbench.grammar.fingerprint import fingerprint, rules_key, source_key
from workbench.grammar.ir import Expr, Grammar, Outcome, Ref
from workbench.grammar.lazy import LazyRules, written_ahead
from workbench.grammar.rewriting import rewrite

__all__ = ["embed"]


def embed(
    rules: Mapping[str, Expr],
    start: str,
    parts: Mapping[str, Grammar],
    kind: str = "ir",
    source: Any = None,
) -> Grammar:
    """Make a grammar of some rules, which use other grammars by name as if these were rules.

    The start rule of the grammar ``parts["args"]`` has the name ``args``, its other rules are ``args.name``;
    grammars may be embedded in what is embedded. Rules that a part writes on demand are written on demand here, and
    what became of a part's constraints is among the outcomes, under pointers such as ``args#/properties/id``.

    Raises ``ValueError`` where a name is missing or could stand for two rules, for a dot in the name of a part, and
    for expressions as ``Grammar`` does.
    """
    made = _EmbeddedRules(rules, start, parts, source_key(source))
    outcomes: list[Outcome] = []
    for name, part in parts.items():
        for one in part.outcomes:
            pointer = f"{name}{one.pointer}" if one.pointer.startswith("#") else f"{name}#"
            outcomes.append(
                Outcome(pointer, one.keyword, one.status, one.detail, one.kinds, one.warning)
            )
    return Grammar(made, start, kind, source, tuple(outcomes))


class _Part:
    """A grammar under a name: its rules with names that nothing else has."""

    def __init__(self, name: str, grammar: Grammar) -> None:
        self.name = name
        self.grammar = grammar
        # what stands in several rules stays one object
        self._done: dict[int, Expr] = {}

    def outer(self, name: str) -> str:
        """The name of one of its rules here."""
        return self.name if name == self.grammar.start else f"{self.name}.{name}"

    def inner(self, name: str) -> str:
        """The name of one of its rules there."""
        return self.grammar.start if name == self.name else name[len(self.name) + 1 :]

    def rule(self, name: str) -> Expr:
        """One of its rules, by its name there. Raises ``KeyError``."""
        return rewrite(self.grammar.rules[name], self._renamed, self._done)

    def _renamed(self, part: Expr) -> Expr | None:
        return Ref(self.outer(part.name), origin=part.origin) if isinstance(part, Ref) else None


class _EmbeddedRules(LazyRules):
    """The rules of a grammar and of those that are embedded in it; only what these write on demand is promised."""

    def __init__(
        self,
        rules: Mapping[str, Expr],
        start: str,
        parts: Mapping[str, Grammar],
        source: str | None,
    ) -> None:
        keys = [source, rules_key(rules), *map(fingerprint, parts.values())]
        told = None if None in keys else repr((start, list(parts), keys))
        key = None if told is None else sha256(told.encode()).hexdigest()
        super().__init__(self._written, start, key)
        self._parts = {name: _Part(name, grammar) for name, grammar in parts.items()}
        for name in parts:
            if "." in name:
                raise ValueError(f"{name!r} names a grammar: dots are for the rules in it")
        for name in rules:
            if name.partition(".")[0] in parts:
                raise ValueError(f"{name!r} stands for two rules")
        ahead = dict(rules)
        for part in self._parts.values():
            ahead |= {
                part.outer(name): part.rule(name) for name in written_ahead(part.grammar.rules)
            }
        self.written = MappingProxyType(ahead)
        self.emitted.update(ahead)
        for name, expr in rules.items():
            check_rule(name, expr, self)

    def __contains__(self, name: object) -> bool:
        return name in self._parts or super().__contains__(name)

    def _written(self, name: str) -> Expr:
        part = self._parts.get(name.partition(".")[0])
        if part is None:
            raise KeyError(name)
        return part.rule(part.inner(name))

"""What is looked at: the rules that an author wrote, those of grammars that stand in others too.

Rules that a front end writes itself, of a schema or of a list of texts, are nobody's to change: they stand for
something that has a text and is not empty.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from workbench.grammar.analysis import Analysis, analyse
from workbench.grammar.ir import Expr, Grammar, Origin, Ref, walk
from workbench.grammar.lazy import written_ahead
from workbench.grammar.places import named_parts

__all__ = ["Subject"]

#: Kinds whose rules are an author's.
_WRITTEN = {"gbnf", "regex", "composed", "ir", "rules"}
#: Parts of expressions that are looked at.
MOST_PARTS = 200_000


@dataclass(slots=True)
class Subject:
    """The author's rules by name, those that the start leads to and others; what is known about them."""

    grammar: Grammar
    rules: Mapping[str, Expr]
    analysis: Analysis
    #: whether there were more than are looked at
    cut: bool = False
    _by_rule: dict[str, Origin | None] = field(default_factory=dict)

    @classmethod
    def of(cls, grammar: Grammar) -> Subject:
        """The subject of a grammar."""
        rules, cut = _authored(grammar)
        return cls(grammar, rules, analyse(rules, grammar.start), cut)

    @property
    def reached(self) -> list[str]:
        """The rules that the start leads to."""
        return list(self.analysis.written)

    def place(self, rule: str) -> Origin | None:
        """The place of a rule."""
        return self.rules[rule].origin


def _authored(grammar: Grammar) -> tuple[dict[str, Expr], bool]:
    if grammar.kind not in _WRITTEN:
        return {}, False
    opaque = _opaque(grammar, "")
    rules = grammar.rules
    pending = [grammar.start, *written_ahead(rules)]
    found: dict[str, Expr] = {}
    parts = 0
    for name in pending:
        if name in found or any(name == one or name.startswith(one + ".") for one in opaque):
            continue
        found[name] = rules[name]
        for part in walk(found[name]):
            parts += 1
            if isinstance(part, Ref):
                pending.append(part.name)
        if parts > MOST_PARTS:
            return found, True
    return found, False


def _opaque(grammar: Grammar, prefix: str) -> set[str]:
    """The names of parts that are no author's rules."""
    found: set[str] = set()
    for name, part in named_parts(grammar).items():
        if part.kind not in _WRITTEN:
            found.add(prefix + name)
        else:
            found |= _opaque(part, f"{prefix}{name}.")
    return found

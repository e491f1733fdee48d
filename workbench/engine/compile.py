"""Grammar + Vocabulary -> CompiledGrammar, which makes matchers."""

from __future__ import annotations

from dataclasses import dataclass, field

from workbench.automaton.budgets import Budgets
from workbench.automaton.build import build_automaton
from workbench.automaton.model import Automaton
from workbench.engine.engine import Engine
from workbench.engine.matcher import Matcher
from workbench.engine.tokens import resolve_tokens
from workbench.grammar.ir import Grammar
from workbench.vocabulary import Vocabulary

__all__ = ["CompiledGrammar", "compile"]


@dataclass(frozen=True, slots=True, eq=False)
class CompiledGrammar:
    """A grammar ready to constrain: its automaton, and the engine that its matchers share."""

    grammar: Grammar
    vocabulary: Vocabulary
    automaton: Automaton
    engine: Engine = field(repr=False)

    def matcher(self, max_rollback: int | None = None) -> Matcher:
        """A matcher at the start; it can take back ``max_rollback`` tokens (default: all)."""
        return Matcher(self, max_rollback)


def compile(
    grammar: Grammar, vocabulary: Vocabulary, budgets: Budgets | None = None
) -> CompiledGrammar:
    """Compile a grammar for a vocabulary.

    Bytes that no token contains are removed first. Raises ``UnsatisfiableGrammar`` when no text can
    complete and ``GrammarTooComplex`` when a budget is used up.
    """
    budgets = budgets or Budgets()
    automaton = build_automaton(
        grammar,
        frozenset(vocabulary.missing_bytes),
        budgets,
        resolve_tokens(grammar, vocabulary),
    )
    return CompiledGrammar(grammar, vocabulary, automaton, Engine(automaton, vocabulary, budgets))

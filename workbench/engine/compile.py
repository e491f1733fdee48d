"""Grammar + Vocabulary -> CompiledGrammar, which makes matchers."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from workbench.automaton.budgets import Budgets
from workbench.automaton.build import build_automaton
from workbench.automaton.model import Automaton
from workbench.engine.cache import CacheInfo, ContentCache
from workbench.engine.engine import Engine
from workbench.engine.matcher import Matcher
from workbench.engine.tokens import resolve_tokens
from workbench.grammar.fingerprint import fingerprint
from workbench.grammar.ir import Grammar
from workbench.vocabulary import Vocabulary

__all__ = ["CompiledGrammar", "cache_info", "clear_cache", "compile"]

_MAX_BYTES = 1 << 29


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
    grammar: Grammar,
    vocabulary: Vocabulary,
    budgets: Budgets | None = None,
    *,
    cache: bool = True,
) -> CompiledGrammar:
    """Compile a grammar for a vocabulary.

    Bytes that no token contains are removed first. Grammars with the same content, for equal vocabularies and
    budgets, give the same object, with what its masks have cost already; ``cache=False`` compiles afresh.
    The last 128 are kept, as long as their engines stay within 512 MB; the environment variable
    ``WORKBENCH_COMPILED_GRAMMARS`` is another number than 128 (0: none).

    Raises ``UnsatisfiableGrammar`` when no text can complete and ``GrammarTooComplex`` when a budget is
    used up.
    """
    budgets = budgets or Budgets()
    if not cache:
        return _compile(grammar, vocabulary, budgets)
    # a grammar without a fingerprint is equal to itself alone, for as long as its compiled form holds it
    content = fingerprint(grammar) or id(grammar)
    key = content, vocabulary.fingerprint, budgets
    return _compiled.get(key, lambda: _compile(grammar, vocabulary, budgets))


def clear_cache() -> None:
    """Forget all compiled grammars and the counters of :func:`cache_info`."""
    _compiled.clear()


def cache_info() -> CacheInfo:
    """How often ``compile`` found a grammar or compiled it, and what is kept; bytes are the engines'."""
    return _compiled.info()


def _compile(grammar: Grammar, vocabulary: Vocabulary, budgets: Budgets) -> CompiledGrammar:
    automaton = build_automaton(
        grammar,
        frozenset(vocabulary.missing_bytes),
        budgets,
        resolve_tokens(grammar, vocabulary),
    )
    return CompiledGrammar(grammar, vocabulary, automaton, Engine(automaton, vocabulary, budgets))


def _size(compiled: CompiledGrammar) -> int:
    return compiled.engine.stats()["arena_bytes"]


_compiled: ContentCache[CompiledGrammar] = ContentCache(
    int(os.environ.get("WORKBENCH_COMPILED_GRAMMARS", "128")), _MAX_BYTES, _size
)

"""Grammar + Vocabulary -> CompiledGrammar, which makes matchers."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from typing import Literal

from workbench.automaton.budgets import Budgets, chosen
from workbench.automaton.build import build_automaton
from workbench.automaton.network import Automaton
from workbench.automaton.serial import Artifact, read_artifact, write_artifact
from workbench.collector import CollectorWaits
from workbench.content_cache import CacheInfo, ContentCache
from workbench.engine.arena import on_refusal, with_relief
from workbench.engine.engine import Engine
from workbench.engine.matcher import Matcher
from workbench.engine.tokens import resolve_tokens, spelled_for
from workbench.files import to_be_written
from workbench.frontends.kept import KEPT
from workbench.grammar.fingerprint import fingerprint
from workbench.grammar.ir import Grammar
from workbench.grammar.markers import has_markers
from workbench.inputs import need_grammar, need_path, need_seconds, need_vocabulary
from workbench.vocabulary import Vocabulary

__all__ = ["CompiledGrammar", "cache_info", "clear_cache", "compile", "load_compiled"]

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

    @property
    def spelled(self) -> Grammar:
        """The grammar without markers: with what stands for them in the vocabulary."""
        return spelled_for(self.grammar, self.vocabulary)

    @property
    def waiting(self) -> int:
        """How many rules, or parts of rules, are not built yet: they are when a text first reaches them."""
        return self.automaton.waiting

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the grammar and its automaton to a file, for :func:`load_compiled`; all of it or nothing.

        What is built on demand is built first, all of it: of a very large schema that takes a while, and
        raises ``GrammarTooComplex`` past the budgets. A source that has no JSON form is left out. A symbolic link
        stays, and the file that it leads to is written; ``WorkbenchError`` for a folder, a pipe or a device.
        """
        from importlib.metadata import PackageNotFoundError, version

        to_be_written(path)  # before the work
        automaton, budgets = self.automaton, self.engine.budgets
        if automaton.waiting:
            # another one: this one grows under the lock of its engine
            with CollectorWaits():
                automaton = _automaton(self.grammar, self.vocabulary, budgets).complete()
        missing = frozenset(self.vocabulary.missing_bytes)
        try:
            package = version("grammar-workbench")
        except PackageNotFoundError:  # run from a folder that was not installed
            package = "unknown"
        artifact = Artifact(
            self.grammar, automaton, budgets, missing, self.vocabulary.fingerprint, package
        )
        write_artifact(path, artifact)


def compile(
    grammar: Grammar,
    vocabulary: Vocabulary,
    budgets: Budgets | None = None,
    *,
    cache: bool = True,
    check: Literal["start", "all"] = "start",
    within: float = 5.0,
) -> CompiledGrammar:
    """Compile a grammar for a vocabulary.

    Bytes that no token contains are removed first. Grammars with the same content, for equal vocabularies and
    budgets, give the same object, with what its masks have cost already; ``cache=False`` compiles afresh.
    The last 128 are kept, as long as their engines stay within 512 MB; the environment variable
    ``WORKBENCH_COMPILED_GRAMMARS`` is another number than 128 (0: none).

    Of a large schema only what is near the start is built at once, the rest where a text first reaches it. With
    ``check="all"`` all of it is built now, so that a rule past the budgets is found here and not in the middle of a
    run; after ``within`` seconds what is left stays to be built on demand, and ``waiting`` says how much that is.

    Raises ``UnsatisfiableGrammar`` when no text can complete, ``GrammarTooComplex`` when a budget is
    used up, ``WrongType`` for what is no grammar or no vocabulary.
    """
    need_grammar(grammar, "compile")
    need_vocabulary(vocabulary, "compile")
    budgets = chosen(budgets, "compile")
    if check not in ("start", "all"):
        raise ValueError(f'check must be "start" or "all", not {check!r}')
    compiled = (
        _found(grammar, vocabulary, budgets) if cache else _compile(grammar, vocabulary, budgets)
    )
    if check == "all":
        compiled.engine.build_all(need_seconds(within, "compile(within=…)"))
    return compiled


def _found(grammar: Grammar, vocabulary: Vocabulary, budgets: Budgets) -> CompiledGrammar:
    """The compiled form of a grammar with this content, made if it is not there."""
    # a grammar without a fingerprint is equal to itself alone, for as long as its compiled form holds it
    content = fingerprint(grammar) or id(grammar)
    key = content, vocabulary.fingerprint, budgets
    return _compiled.get(key, lambda: _compile(grammar, vocabulary, budgets))


def clear_cache() -> None:
    """Forget all compiled grammars, those that front ends have read, and the counters of :func:`cache_info`."""
    _compiled.clear()
    KEPT.clear()


def cache_info() -> CacheInfo:
    """How often ``compile`` found a grammar or compiled it, and what is kept; bytes are the engines'.

    ``grammars`` says the same of ``json_schema``, ``gbnf`` and ``regex``, which keep the last 128 grammars that
    they have made (``WORKBENCH_READ_GRAMMARS`` is another number) in about 128 MB at most.
    """
    return replace(_compiled.info(), grammars=KEPT.info())


def load_compiled(
    path: str | os.PathLike[str], vocabulary: Vocabulary, budgets: Budgets | None = None
) -> CompiledGrammar:
    """Read what :meth:`CompiledGrammar.save` wrote, for a vocabulary: that of then or any other.

    An automaton depends on the bytes that no token contains, and on the tokens that its grammar names: when
    these are others for the vocabulary, it is made anew. ``budgets`` are by default those of then.

    Raises ``ArtifactError`` for a file that is not there, cut off, altered, of another format or none of ours, and for
    a folder, a pipe or a device; where the automaton is made anew, what ``compile`` raises.
    """
    need_path(path, "load_compiled")
    need_vocabulary(vocabulary, "load_compiled")
    artifact = read_artifact(path)
    budgets = budgets or artifact.budgets
    fits = artifact.missing == frozenset(vocabulary.missing_bytes) and (
        artifact.vocabulary == vocabulary.fingerprint
        or not (artifact.automaton.symbols or has_markers(artifact.grammar))
    )
    if not fits:
        return _compile(artifact.grammar, vocabulary, budgets)
    return CompiledGrammar(
        artifact.grammar,
        vocabulary,
        artifact.automaton,
        Engine(artifact.automaton, vocabulary, budgets),
    )


def _compile(grammar: Grammar, vocabulary: Vocabulary, budgets: Budgets) -> CompiledGrammar:
    return with_relief(lambda: _built(grammar, vocabulary, budgets))


def _built(grammar: Grammar, vocabulary: Vocabulary, budgets: Budgets) -> CompiledGrammar:
    with CollectorWaits():
        automaton = _automaton(grammar, vocabulary, budgets)
        engine = Engine(automaton, vocabulary, budgets)
    return CompiledGrammar(grammar, vocabulary, automaton, engine)


def _automaton(grammar: Grammar, vocabulary: Vocabulary, budgets: Budgets) -> Automaton:
    grammar = spelled_for(grammar, vocabulary)
    missing = frozenset(vocabulary.missing_bytes)
    return build_automaton(grammar, missing, budgets, resolve_tokens(grammar, vocabulary))


_compiled: ContentCache[CompiledGrammar] = ContentCache(
    int(os.environ.get("WORKBENCH_COMPILED_GRAMMARS", "128")),
    _MAX_BYTES,
    lambda compiled: compiled.engine.nbytes,
)
on_refusal(_compiled.keep_none)
on_refusal(KEPT.keep_none)

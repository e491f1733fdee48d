"""Grammar workbench: constrained decoding with exact masks, made visible.

The names below are what a user types; they are loaded when they are first used, so that importing the
package is quick and needs neither torch nor numba nor Jupyter.

    >>> import workbench as wb
    >>> grammar = wb.regex(r"(yes|no), because [a-z ]{5,40}\\.")
    >>> grammar
    <Grammar regex: 1 rule, start 'root'>
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.automaton.budgets import Budgets
    from workbench.automaton.linear import NotRegular
    from workbench.decoding import Generation, GrammarLogitsProcessor, generate
    from workbench.decoding.trace import Trace, TraceStep
    from workbench.diagnostics.coverage import Coverage, coverage
    from workbench.diagnostics.dead_ends import dead_ends
    from workbench.diagnostics.explain import explain
    from workbench.diagnostics.findings import DeadEndReport, Finding
    from workbench.diagnostics.live import live_dead_ends
    from workbench.diagnostics.profile import Profile, profile
    from workbench.diagnostics.spelling import SpellingReport, unspellable
    from workbench.diagnostics.why import Why, WhyByte
    from workbench.engine import (
        CompiledGrammar,
        Explanation,
        Matcher,
        accept_all,
        compile,
        empty_mask,
        fill_masks,
        fork_all,
        rollback_all,
    )
    from workbench.engine.cache import CacheInfo
    from workbench.engine.compile import cache_info, clear_cache, load_compiled
    from workbench.errors import (
        ArtifactError,
        BudgetTooSmall,
        BundleError,
        DeadEnd,
        ExportRefused,
        GrammarSyntaxError,
        GrammarTooComplex,
        ModelNotFound,
        UnsatisfiableGrammar,
        UnsupportedConstraint,
        VocabularyError,
        WorkbenchError,
        WrongType,
    )
    from workbench.export.bundle import Exported, export
    from workbench.export.gbnf_writer import to_gbnf
    from workbench.export.verify import Verification, verify
    from workbench.frontends.combine import complement, difference, intersection, until
    from workbench.frontends.gbnf import gbnf
    from workbench.frontends.json_schema import json_schema
    from workbench.frontends.json_text import json_text
    from workbench.frontends.python_types import from_type
    from workbench.frontends.regex import regex
    from workbench.grammar.ir import Grammar, Outcome
    from workbench.models import LoadedModel, load_model
    from workbench.notebook import Workbench, show_mask, step, write_report
    from workbench.vocabulary import Vocabulary

__version__ = "0.1.0"

_HOMES = {
    "ArtifactError": "errors",
    "BudgetTooSmall": "errors",
    "Budgets": "automaton.budgets",
    "BundleError": "errors",
    "CacheInfo": "engine.cache",
    "CompiledGrammar": "engine",
    "Coverage": "diagnostics.coverage",
    "DeadEnd": "errors",
    "DeadEndReport": "diagnostics.findings",
    "Explanation": "engine",
    "Exported": "export.bundle",
    "ExportRefused": "errors",
    "Finding": "diagnostics.findings",
    "Generation": "decoding",
    "Grammar": "grammar.ir",
    "GrammarLogitsProcessor": "decoding",
    "GrammarSyntaxError": "errors",
    "GrammarTooComplex": "errors",
    "LoadedModel": "models",
    "Matcher": "engine",
    "ModelNotFound": "errors",
    "NotRegular": "automaton.linear",
    "Outcome": "grammar.ir",
    "Profile": "diagnostics.profile",
    "SpellingReport": "diagnostics.spelling",
    "Trace": "decoding.trace",
    "TraceStep": "decoding.trace",
    "UnsatisfiableGrammar": "errors",
    "UnsupportedConstraint": "errors",
    "Verification": "export.verify",
    "Vocabulary": "vocabulary",
    "VocabularyError": "errors",
    "Why": "diagnostics.why",
    "WhyByte": "diagnostics.why",
    "Workbench": "notebook",
    "WorkbenchError": "errors",
    "WrongType": "errors",
    "accept_all": "engine",
    "cache_info": "engine.compile",
    "clear_cache": "engine.compile",
    "compile": "engine",
    "complement": "frontends.combine",
    "coverage": "diagnostics.coverage",
    "dead_ends": "diagnostics.dead_ends",
    "difference": "frontends.combine",
    "empty_mask": "engine",
    "explain": "diagnostics.explain",
    "export": "export",
    "fill_masks": "engine",
    "fork_all": "engine",
    "from_type": "frontends.python_types",
    "gbnf": "frontends.gbnf",
    "generate": "decoding",
    "intersection": "frontends.combine",
    "json_schema": "frontends.json_schema",
    "json_text": "frontends.json_text",
    "live_dead_ends": "diagnostics.live",
    "load_compiled": "engine.compile",
    "load_model": "models",
    "profile": "diagnostics.profile",
    "regex": "frontends.regex",
    "rollback_all": "engine",
    "show_mask": "notebook",
    "step": "notebook",
    "to_gbnf": "export.gbnf_writer",
    "unspellable": "diagnostics.spelling",
    "until": "frontends.combine",
    "verify": "export.verify",
    "write_report": "notebook",
}

__all__ = [
    "ArtifactError",
    "BudgetTooSmall",
    "Budgets",
    "BundleError",
    "CacheInfo",
    "CompiledGrammar",
    "Coverage",
    "DeadEnd",
    "DeadEndReport",
    "Explanation",
    "Exported",
    "ExportRefused",
    "Finding",
    "Generation",
    "Grammar",
    "GrammarLogitsProcessor",
    "GrammarSyntaxError",
    "GrammarTooComplex",
    "LoadedModel",
    "Matcher",
    "ModelNotFound",
    "NotRegular",
    "Outcome",
    "Profile",
    "SpellingReport",
    "Trace",
    "TraceStep",
    "UnsatisfiableGrammar",
    "UnsupportedConstraint",
    "Verification",
    "Vocabulary",
    "VocabularyError",
    "Why",
    "WhyByte",
    "Workbench",
    "WorkbenchError",
    "WrongType",
    "accept_all",
    "cache_info",
    "clear_cache",
    "compile",
    "complement",
    "coverage",
    "dead_ends",
    "difference",
    "empty_mask",
    "explain",
    "export",
    "fill_masks",
    "fork_all",
    "from_type",
    "gbnf",
    "generate",
    "intersection",
    "json_schema",
    "json_text",
    "live_dead_ends",
    "load_compiled",
    "load_model",
    "profile",
    "regex",
    "rollback_all",
    "show_mask",
    "step",
    "to_gbnf",
    "unspellable",
    "until",
    "verify",
    "write_report",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def load_ipython_extension(shell: Any) -> None:
    """Add the magics and the displays of notebooks: ``%load_ext workbench``."""
    from workbench.notebook.magics import load

    load(shell)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

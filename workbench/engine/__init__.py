"""Masks and matching: compile a grammar for a vocabulary, then step through it."""

# its kernels are compiled with the engine's, so that none is left for later
import workbench.automaton.suffixes  # noqa: F401
from workbench.engine.batch import accept_all, fill_masks, fork_all, rollback_all
from workbench.engine.compile import CompiledGrammar, compile
from workbench.engine.matcher import Matcher, empty_mask
from workbench.engine.why import Explanation

__all__ = [
    "CompiledGrammar",
    "Explanation",
    "Matcher",
    "accept_all",
    "compile",
    "empty_mask",
    "fill_masks",
    "fork_all",
    "rollback_all",
]

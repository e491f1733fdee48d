"""The engines that ``workbench bench masks`` compares, behind one small interface.

Each engine is set up once for a vocabulary, compiles a case afresh every time that it is asked (all
caches between compilations are off), and starts sessions whose two calls are timed as Python calls.
A peer that is not installed is reported as such, never left out.

Next file to read: ``workbench/diagnostics/bench_masks.py`` (the runs and the table).
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from workbench.diagnostics.bench_cases import Case
from workbench.vocabulary import Vocabulary

__all__ = ["ENGINES", "Engine", "Mask", "Session", "Setup", "installed"]

Mask = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Session:
    """One sequence: ``fill()`` writes the next mask into the given row, ``accept(id)`` advances."""

    fill: Callable[[], Any]
    accept: Callable[[int], bool]


@dataclass(frozen=True, slots=True)
class Setup:
    """What an engine is given once: the tokenizer's JSON text and the vocabulary read from it."""

    tokenizer_json: str
    vocabulary: Vocabulary


#: Compiles a case afresh; the result starts sessions that write into the mask that they are given.
Compiler = Callable[[Case], Callable[[Mask], Session]]


@dataclass(frozen=True, slots=True)
class Engine:
    """An engine by name. ``prepare`` reads the vocabulary and returns the compiler of cases."""

    name: str
    distribution: str
    module: str
    prepare: Callable[[Setup], Compiler]

    @property
    def version(self) -> str:
        """The installed version, or ``"unknown"`` for a package that runs from its sources."""
        try:
            return importlib.metadata.version(self.distribution)
        except importlib.metadata.PackageNotFoundError:
            return "unknown"


def installed(engine: Engine) -> bool:
    """Tell whether the engine's package can be imported."""
    return importlib.util.find_spec(engine.module) is not None


def _workbench(setup: Setup) -> Compiler:
    from workbench.engine import compile as compile_grammar
    from workbench.frontends.gbnf import gbnf
    from workbench.frontends.json_schema import json_schema

    def compiler(case: Case) -> Callable[[Mask], Session]:
        kind, form = case.workbench
        grammar = gbnf(form) if kind == "gbnf" else json_schema(form, whitespace="compact")
        compiled = compile_grammar(grammar, setup.vocabulary)

        def start(mask: Mask) -> Session:
            matcher = compiled.matcher()
            return Session(partial(matcher.fill_mask, mask), matcher.accept)

        return start

    return compiler


def _xgrammar(setup: Setup) -> Compiler:
    import xgrammar

    vocabulary = setup.vocabulary
    tokens = [vocabulary.token_bytes(token_id) for token_id in range(vocabulary.size)]
    info = xgrammar.TokenizerInfo(
        tokens,
        xgrammar.VocabType.RAW,
        vocab_size=vocabulary.width,
        stop_token_ids=list(vocabulary.eos_ids),
    )

    def compiler(case: Case) -> Callable[[Mask], Session]:
        kind, form = case.xgrammar
        # One thread, as for everyone; masks are computed ahead, which is its fastest way of stepping.
        fresh = xgrammar.GrammarCompiler(info, max_threads=1, cache_enabled=False)
        if kind == "json_schema":
            compiled = fresh.compile_json_schema(
                json.dumps(form), any_whitespace=False, separators=(",", ":"), strict_mode=True
            )
        elif kind == "builtin_json":
            compiled = fresh.compile_builtin_json_grammar()
        else:
            compiled = fresh.compile_grammar(form)

        def start(mask: Mask) -> Session:
            matcher = xgrammar.GrammarMatcher(compiled)
            return Session(
                partial(matcher.fill_next_token_bitmask, mask.reshape(1, -1)), matcher.accept_token
            )

        return start

    return compiler


def _llguidance(setup: Setup) -> Compiler:
    import llguidance

    tokenizer = llguidance.LLTokenizer(
        setup.tokenizer_json,
        n_vocab=setup.vocabulary.width,
        eos_token=list(setup.vocabulary.eos_ids),
    )
    compact = {"whitespace_flexible": False, "item_separator": ",", "key_separator": ":"}

    def compiler(case: Case) -> Callable[[Mask], Session]:
        kind, form = case.llguidance
        text = (
            form if kind == "lark" else "start: %json " + json.dumps(form | {"x-guidance": compact})
        )
        # Without this, a mask before forced text holds one spelling of it only.
        text = '%llguidance {"no_forcing": true}\n' + text
        first = llguidance.LLMatcher(tokenizer, llguidance.LLMatcher.grammar_from_lark(text))
        if first.is_error():
            raise ValueError(first.get_error())

        def start(mask: Mask) -> Session:
            matcher = first.deep_copy()
            matcher.reset()
            # The library's own NumPy helper, less its checks.
            fill = partial(matcher.unsafe_compute_mask_ptr, mask.ctypes.data, mask.nbytes)
            return Session(fill, matcher.consume_token)

        return start

    return compiler


#: In the order of the table; the first one is the yardstick.
ENGINES: tuple[Engine, ...] = (
    Engine("workbench", "grammar-workbench", "workbench.engine", _workbench),
    Engine("xgrammar", "xgrammar", "xgrammar", _xgrammar),
    Engine("llguidance", "llguidance", "llguidance", _llguidance),
)

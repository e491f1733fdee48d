"""The engines that ``workbench bench masks`` compares, behind one small interface.

Each engine is set up once for a vocabulary, compiles a case afresh every time that it is asked (all
caches between compilations are off), and starts sessions whose two calls are timed as Python calls.
A peer that is not installed is reported as such, never left out.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import inspect
import json
import lzma
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from workbench.benchmarks.cases import Case
from workbench.errors import VocabularyError
from workbench.vocabulary import Vocabulary

__all__ = [
    "ENGINES",
    "Engine",
    "Mask",
    "Session",
    "Setup",
    "installed",
    "llguidance_tokenizer",
    "read_tokenizer",
    "uncached",
    "version_of",
    "xgrammar_info",
]

Mask = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Session:
    """One sequence: ``fill()`` writes the next mask into the given row, ``accept(id)`` advances.

    Where an engine says so, ``counters`` tells how many masks came out of a store and how many were
    computed, ``memory`` how many bytes the sequence and what it shares with others take.
    """

    fill: Callable[[], Any]
    accept: Callable[[int], bool]
    counters: Callable[[], tuple[int, int]] | None = None
    memory: Callable[[], int] | None = None


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
        return version_of(self.distribution)


def version_of(distribution: str) -> str:
    """The installed version of a package, or ``"unknown"`` when it runs from its sources."""
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return "unknown"


def uncached(compile_grammar: Callable[..., Any]) -> dict[str, Any]:
    """What keeps our compilations from coming out of a store, where there is one."""
    return {"cache": False} if "cache" in inspect.signature(compile_grammar).parameters else {}


class _Named(Protocol):
    @property
    def module(self) -> str: ...


def installed(engine: _Named) -> bool:
    """Tell whether the engine's package can be imported."""
    return importlib.util.find_spec(engine.module) is not None


def read_tokenizer(path: Path) -> tuple[Setup, Callable[[str], list[int]]]:
    """Read a ``tokenizer.json`` (plain or ``.xz``): what engines are set up with, and an encoder of texts.

    A special token's name in a text is spelled out like any other text.
    Raises ``VocabularyError`` when the file is no tokenizer.
    """
    import tokenizers

    try:
        data = path.read_bytes()
        text = (lzma.decompress(data) if path.suffix == ".xz" else data).decode("utf-8")
        tokenizer = tokenizers.Tokenizer.from_str(text)
    except OSError as error:
        raise VocabularyError(f"cannot read {path}: {error.strerror or error}") from error
    except Exception as error:  # the library raises bare exceptions
        raise VocabularyError(f"{path} is no tokenizer.json: {error}") from error
    tokenizer.encode_special_tokens = True

    def encode(part: str) -> list[int]:
        return list(tokenizer.encode(part, add_special_tokens=False).ids)

    return Setup(text, Vocabulary.load(path)), encode


def xgrammar_info(setup: Setup) -> Any:
    """XGrammar's view of the vocabulary."""
    import xgrammar

    vocabulary = setup.vocabulary
    return xgrammar.TokenizerInfo(
        [vocabulary.token_bytes(token_id) for token_id in range(vocabulary.size)],
        xgrammar.VocabType.RAW,
        vocab_size=vocabulary.width,
        stop_token_ids=list(vocabulary.eos_ids),
    )


def llguidance_tokenizer(setup: Setup) -> Any:
    """The view that llguidance has of the vocabulary, with its own choice of slices."""
    import llguidance

    return llguidance.LLTokenizer(
        setup.tokenizer_json,
        n_vocab=setup.vocabulary.width,
        eos_token=list(setup.vocabulary.eos_ids),
    )


def _workbench(setup: Setup) -> Compiler:
    from workbench.engine import compile as compile_grammar
    from workbench.frontends.gbnf import gbnf
    from workbench.frontends.json_schema import json_schema
    from workbench.frontends.kept import KEPT

    def compiler(case: Case) -> Callable[[Mask], Session]:
        kind, form = case.workbench
        KEPT.clear()
        grammar = gbnf(form) if kind == "gbnf" else json_schema(form, whitespace="compact")
        compiled = compile_grammar(grammar, setup.vocabulary, **uncached(compile_grammar))

        def start(mask: Mask) -> Session:
            matcher = compiled.matcher()

            def counters() -> tuple[int, int]:
                stats = matcher.stats()
                return stats.get("mask_hits", 0), stats.get("mask_misses", 0)

            def memory() -> int:
                # A token that can be taken back costs eight bytes.
                return matcher.stats().get("arena_bytes", 0) + 8 * matcher.max_rollback

            return Session(partial(matcher.fill_mask, mask), matcher.accept, counters, memory)

        return start

    return compiler


def _xgrammar(setup: Setup) -> Compiler:
    import xgrammar

    info = xgrammar_info(setup)

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

    tokenizer = llguidance_tokenizer(setup)
    compact = {"whitespace_flexible": False, "item_separator": ",", "key_separator": ":"}

    def compiler(case: Case) -> Callable[[Mask], Session]:
        kind, form = case.llguidance
        text = (
            form if kind == "lark" else "start: %json " + json.dumps(form | {"x-guidance": compact})
        )
        # Without this, a mask before forced text holds one spelling of it only.
        text = '%llguidance {"no_forcing": true}\n' + text
        matcher = llguidance.LLMatcher(tokenizer, llguidance.LLMatcher.grammar_from_lark(text))
        if matcher.is_error():
            raise ValueError(matcher.get_error())

        def start(mask: Mask) -> Session:
            # One matcher throughout: a copy would not have what the first one has learnt.
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

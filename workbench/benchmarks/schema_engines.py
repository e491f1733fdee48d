"""The engines of ``workbench bench maskbench``: JSON Schema in, sessions out, by name and options.

An engine is data, so that worker processes can be told of it: ``factory`` names a function
``(setup, options) -> Compiler``. A compiler makes a schema's sessions afresh; what it raises to say
that it does not take a schema is listed in ``refusals``, anything else counts as a crash.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from typing import Any

from workbench.benchmarks.engines import (
    Mask,
    Session,
    Setup,
    llguidance_tokenizer,
    uncached,
    version_of,
    xgrammar_info,
)
from workbench.errors import WorkbenchError

__all__ = [
    "OURS",
    "Compiler",
    "Refused",
    "SchemaEngine",
    "Start",
    "schema_engines",
]

#: Starts a session that writes into the mask that it is given.
Start = Callable[[Mask], Session]

#: The name that our own engine has in the tables.
OURS = "workbench"


class Refused(Exception):
    """An engine says that it does not take a schema."""


@dataclass(frozen=True, slots=True)
class Compiler:
    """Makes the sessions of a schema; ``mark`` is called with a name as each stage ends."""

    compile: Callable[[Any, Callable[[str], None]], Start]
    refusals: tuple[type[Exception], ...] = (Refused,)


@dataclass(frozen=True, slots=True)
class SchemaEngine:
    """An engine by name, as plain values."""

    name: str
    distribution: str
    module: str
    factory: str
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def version(self) -> str:
        """The installed version, or ``"unknown"`` for a package that runs from its sources."""
        return version_of(self.distribution)

    def prepare(self, setup: Setup) -> Compiler:
        """Load the engine and hand it the vocabulary."""
        module, _, name = self.factory.partition(":")
        compiler: Compiler = getattr(import_module(module), name)(setup, dict(self.options))
        return compiler


def schema_engines(
    *,
    property_order: str | None = None,
    xgrammar_compliant: bool = False,
    xgrammar_fixed_whitespace: bool = False,
) -> tuple[SchemaEngine, ...]:
    """Our engine and its peers, with what they are told beside the schema.

    XGrammar gets its defaults (strict mode, any whitespace, a store of the parts of schemas that it has
    compiled) with one thread, llguidance its own; ``compliant`` asks
    XGrammar for JSON Schema's meaning of absent keywords, ``fixed_whitespace`` for the separators
    of ``json.dumps`` only.
    """
    ours = {} if property_order is None else {"property_order": property_order}
    xgrammar = {
        "strict_mode": not xgrammar_compliant,
        "any_whitespace": not xgrammar_fixed_whitespace,
        "max_threads": 1,
        "cache_enabled": True,
    }
    here = __name__
    return (
        SchemaEngine(OURS, "grammar-workbench", "workbench.engine", f"{here}:_workbench", ours),
        SchemaEngine("xgrammar", "xgrammar", "xgrammar", f"{here}:_xgrammar", xgrammar),
        SchemaEngine("llguidance", "llguidance", "llguidance", f"{here}:_llguidance", {}),
    )


def _workbench(setup: Setup, options: dict[str, Any]) -> Compiler:
    from workbench.engine import compile as compile_grammar
    from workbench.frontends.json_schema import json_schema
    from workbench.frontends.kept import KEPT

    afresh = uncached(compile_grammar)

    def compile_schema(schema: Any, mark: Callable[[str], None]) -> Start:
        KEPT.clear()  # a microsecond
        grammar = json_schema(schema, **options)
        mark("front end")
        compiled = compile_grammar(grammar, setup.vocabulary, **afresh)
        mark("compile")

        def start(mask: Mask) -> Session:
            matcher = compiled.matcher()
            return Session(partial(matcher.fill_mask, mask), matcher.accept)

        return start

    return Compiler(compile_schema, (WorkbenchError,))


def _xgrammar(setup: Setup, options: dict[str, Any]) -> Compiler:
    import xgrammar

    info = xgrammar_info(setup)
    told = {key: options[key] for key in ("strict_mode", "any_whitespace")}

    # One compiler for all schemas: what it keeps of their parts halves its time.
    compiler = xgrammar.GrammarCompiler(
        info, max_threads=options["max_threads"], cache_enabled=options["cache_enabled"]
    )

    def compile_schema(schema: Any, mark: Callable[[str], None]) -> Start:
        compiled = compiler.compile_json_schema(schema, **told)
        mark("compile")

        def start(mask: Mask) -> Session:
            matcher = xgrammar.GrammarMatcher(compiled)
            return Session(
                partial(matcher.fill_next_token_bitmask, mask.reshape(1, -1)), matcher.accept_token
            )

        return start

    # It tells of what it does not take in errors of many classes.
    return Compiler(compile_schema, (RuntimeError, ValueError, TypeError, NotImplementedError))


def _llguidance(setup: Setup, options: dict[str, Any]) -> Compiler:
    import llguidance

    tokenizer = llguidance_tokenizer(setup)

    def compile_schema(schema: Any, mark: Callable[[str], None]) -> Start:
        grammar = llguidance.LLMatcher.grammar_from_json_schema(schema, overrides=options or None)
        matcher = llguidance.LLMatcher(tokenizer, grammar, log_level=0)
        if matcher.is_error():
            raise Refused(matcher.get_error())
        mark("compile")

        def start(mask: Mask) -> Session:
            # One matcher throughout: it keeps what it has learnt of the grammar.
            matcher.reset()
            fill = partial(matcher.unsafe_compute_mask_ptr, mask.ctypes.data, mask.nbytes)
            return Session(fill, matcher.consume_token)

        return start

    return Compiler(compile_schema, (Refused, ValueError))

"""What a grammar says of whole texts: accepted, a beginning of an accepted one, or neither.

Texts are decided byte by byte, so no tokenizer has a say.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from workbench.engine import CompiledGrammar, compile as compile_grammar
from workbench.errors import UnsatisfiableGrammar, WorkbenchError
from workbench.grammar.ir import Grammar
from workbench.vocabulary import byte_vocabulary

__all__ = ["Judge", "Verdict", "as_bytes", "judge", "remake"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """``accepted``: a text of the grammar; ``prefix``: it can become one; ``reached``: bytes that live."""

    accepted: bool
    prefix: bool
    reached: int

    @property
    def word(self) -> str:
        """One word for it."""
        return "accept" if self.accepted else "prefix" if self.prefix else "reject"


class Judge:
    """Gives verdicts on texts; None as grammar is the empty language."""

    def __init__(self, grammar: Grammar | CompiledGrammar | None) -> None:
        self.compiled: CompiledGrammar | None = None
        budgets = None
        if isinstance(grammar, CompiledGrammar):
            budgets = grammar.engine.budgets
            grammar = grammar.grammar
        if grammar is not None:
            with suppress(UnsatisfiableGrammar):
                self.compiled = compile_grammar(grammar, byte_vocabulary(), budgets)

    def verdict(self, text: bytes) -> Verdict:
        """What the grammar says of a text."""
        if self.compiled is None:
            return Verdict(False, False, 0)
        matcher = self.compiled.matcher(max_rollback=0)
        reached = matcher.accept_tokens(text)
        if reached < len(text):
            return Verdict(False, False, reached)
        return Verdict(matcher.is_accepting, True, reached)


def judge(grammar: Grammar | CompiledGrammar | None, texts: Iterable[bytes]) -> list[Verdict]:
    """Verdicts on several texts. Raises what compiling raises, but for an empty language."""
    one = Judge(grammar)
    return [one.verdict(text) for text in texts]


def as_bytes(example: Any) -> bytes:
    """An example as bytes: a text as UTF-8, any other JSON value as compact JSON."""
    if isinstance(example, bytes | bytearray):
        return bytes(example)
    if isinstance(example, str):
        return example.encode("utf-8", "surrogatepass")
    from workbench.frontends.json_schema.read.plain import plain

    value = plain(example)
    try:
        try:
            return json.dumps(value, ensure_ascii=False).encode("utf-8")
        except UnicodeEncodeError:  # half of a surrogate pair: JSON writes it as an escape
            return json.dumps(value).encode("ascii")
    except (TypeError, ValueError) as error:
        raise WorkbenchError(f"{example!r:.60} is no example: {error}") from None


def remake(kind: str, source: Any, start: str = "root", *, ascii_only: bool = False) -> Grammar:
    """Make a grammar of a source again, with the front end's default options (a schema's texts in ASCII).

    Raises ``ValueError`` for a kind without a front end, and what the front end raises.
    """
    if kind == "json_schema":
        from workbench.frontends.json_schema import json_schema

        return json_schema(source, ascii_only=ascii_only)
    if kind == "gbnf":
        from workbench.frontends.gbnf import gbnf

        return gbnf(source, start)
    if kind == "regex":
        from workbench.frontends.regex import regex

        return regex(source)
    raise ValueError(f"a grammar of kind {kind!r} has no source to make it of again")

"""Whether a text is one of a grammar, and what was captured in it.

>>> from workbench.frontends.compose import capture, seq
>>> from workbench.frontends.regex import regex
>>> found = match(seq("id ", capture("number", regex("[0-9]+"))), "id 42")
>>> found.captures
(Capture(name='number', start=3, end=5, bytes=b'42'),)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.engine.compile import CompiledGrammar, compile as compile_grammar
from workbench.engine.tokens import resolve_tokens, spelled_for, spelled_in_bytes
from workbench.errors import GrammarTooComplex, UnsatisfiableGrammar
from workbench.grammar.author.captures import Capture, LeftmostFirst
from workbench.grammar.author.earley import TooMuch
from workbench.grammar.ir import Grammar
from workbench.grammar.lazy import captured
from workbench.inputs import need_at_least, need_grammar, need_vocabulary, wrong_type
from workbench.vocabulary import Vocabulary, byte_vocabulary

__all__ = ["MATCH_ITEMS", "Capture", "Match", "captures_of", "match"]

#: Items of a parse for captures: two seconds of work, 200 MB.
MATCH_ITEMS = 500_000


@dataclass(frozen=True, slots=True)
class Match:
    """A text of a grammar, in bytes, with its captures: by where they begin, outer ones before inner ones."""

    text: bytes
    captures: tuple[Capture, ...]

    def named(self, name: str) -> tuple[Capture, ...]:
        """The captures of a name, in the order of the text; none where nothing was captured by it."""
        return tuple(one for one in self.captures if one.name == name)

    def __getitem__(self, name: str) -> Capture:
        """The first capture of a name. Raises ``KeyError`` where there is none."""
        for one in self.captures:
            if one.name == name:
                return one
        raise KeyError(name)


def match(
    grammar: Grammar | CompiledGrammar,
    text: str | bytes | Sequence[int],
    vocabulary: Vocabulary | None = None,
    *,
    max_items: int = MATCH_ITEMS,
) -> Match | None:
    """Read a whole text with a grammar and tell what was captured; None for a text that is not of the grammar.

    Where a text can be read in several ways, captures are those of the one that a backtracking matcher (Perl's)
    finds first: of alternatives the one that is written first counts, and what repeats goes on while it can. Of
    the automata of other front ends (``choice``, ``until``, ``intersection``) nothing is captured inside.

    In a text, a marker is its text. A text with tokens that the grammar names is a sequence of token ids, of the
    ``vocabulary`` (by default that of a compiled grammar). The parse takes about linear time for a text that can be
    read in one way, at most quadratic memory otherwise; ``max_items`` bounds it. Raises ``WrongType``,
    ``GrammarTooComplex`` past the bound, and ``ValueError`` for ids without a vocabulary.
    """
    if isinstance(grammar, CompiledGrammar):
        vocabulary = vocabulary or grammar.vocabulary
        grammar = grammar.grammar
    need_grammar(grammar, "match")
    if vocabulary is not None:
        need_vocabulary(vocabulary, "match")
    max_items = need_at_least(1, max_items, "max_items of match")
    if isinstance(text, str | bytes | bytearray):
        data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else bytes(text)
        return _of_bytes(grammar, data, vocabulary, max_items)
    ids = _ids(text)
    if vocabulary is None:
        raise ValueError("match: token ids are those of a vocabulary; pass it, too")
    return _of_tokens(grammar, ids, vocabulary, max_items)


def captures_of(compiled: CompiledGrammar, token_ids: Sequence[int]) -> tuple[Capture, ...]:
    """What was captured in a text that was generated; nothing where it is not complete.

    Raises ``GrammarTooComplex`` as :func:`match` does.
    """
    if not captured(compiled.grammar.rules):
        return ()
    found = _of_tokens(compiled.grammar, token_ids, compiled.vocabulary, MATCH_ITEMS)
    return () if found is None else found.captures


def _ids(text: object) -> list[int]:
    wanted = "a text, bytes or a sequence of token ids"
    if not hasattr(text, "__iter__"):
        raise wrong_type("match", wanted, text)
    found = []
    for one in text:
        if isinstance(one, bool) or not hasattr(one, "__index__"):
            raise wrong_type("match", wanted, text)
        found.append(one.__index__())
    return found


def _of_bytes(
    grammar: Grammar, data: bytes, vocabulary: Vocabulary | None, most: int
) -> Match | None:
    grammar = spelled_in_bytes(grammar)
    tokens = {} if vocabulary is None else resolve_tokens(grammar, vocabulary)
    parse = LeftmostFirst(grammar, tokens, items=most)
    try:
        if parse.feed(data) < len(data) or not parse.is_complete:
            return None
        found = tuple(parse.captures())
    except TooMuch:
        raise GrammarTooComplex("items of a parse", most) from None
    if _is_unsure(parse) and not _accepts(grammar, byte_vocabulary(), list(data)):
        return None
    return Match(data, found)


def _of_tokens(
    grammar: Grammar, ids: Sequence[int], vocabulary: Vocabulary, most: int
) -> Match | None:
    wrong = next((one for one in ids if not 0 <= one < vocabulary.size), None)
    if wrong is not None:
        raise ValueError(f"match: the vocabulary has no token {wrong}")
    grammar = spelled_for(grammar, vocabulary)
    tokens = resolve_tokens(grammar, vocabulary)
    named = frozenset().union(*tokens.values())
    read = list(ids)
    if read and read[-1] in vocabulary.eos_ids and read[-1] not in named:
        del read[-1]
    parse = LeftmostFirst(grammar, tokens, items=most)
    try:
        for one in read:
            if not parse.feed_token(one, vocabulary.token_bytes(one)):
                return None
        if not parse.is_complete:
            return None
        found = tuple(parse.captures())
    except TooMuch:
        raise GrammarTooComplex("items of a parse", most) from None
    if _is_unsure(parse) and not _accepts(grammar, vocabulary, read):
        return None
    return Match(bytes(parse.data), found)


def _accepts(grammar: Grammar, vocabulary: Vocabulary, ids: list[int]) -> bool:
    try:
        matcher = compile_grammar(grammar, vocabulary).matcher(max_rollback=0)
    except UnsatisfiableGrammar:
        return False
    return matcher.accept_tokens(ids) == len(ids) and matcher.is_accepting


def _is_unsure(parse: LeftmostFirst) -> bool:
    """Whether the text may be none of the grammar: that items differ, the engine knows and a parse does not."""
    scopes = (node.scope for node in parse.states.nodes)
    return any(scope is not None and scope.gather is not None for scope in scopes)

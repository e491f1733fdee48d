"""Regular expressions of schemas: where one is found, and the automaton of the texts that hold a match."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass, field
from functools import lru_cache

from workbench.automaton.finite import (
    Dfa,
    Recogniser,
    complement,
    determinise,
    intersect,
    minimise,
    to_graph,
    with_length,
)
from workbench.errors import GrammarSyntaxError
from workbench.frontends.json_schema.scalars.boundaries import with_boundaries
from workbench.frontends.json_schema.scalars.look_aheads import Parts, parts_of
from workbench.frontends.lookaround import look_automaton, looks_around, parse_looking
from workbench.frontends.regex import Branch, parse_regex, search
from workbench.grammar.ir import Alt, CharSet, Expr, Repeat, Seq

__all__ = [
    "Pattern",
    "check_pattern",
    "divided",
    "few_texts",
    "pattern_automaton",
    "pattern_expression",
]

#: Most texts that a pattern is taken for a list of.
MAX_LISTED = 64


@dataclass(frozen=True, slots=True)
class Pattern:
    """A regular expression and the keyword that it stands under."""

    text: str
    pointer: str = field(compare=False)

    def found_in(self, text: str) -> bool:
        """Whether a text holds a match."""
        return _found_in(self.text, text)


#: What only ``lookaround`` reads, or reads everywhere.
_GUARDS = re.compile(r"\(\?<?[=!]|\\[bB]|[\^$]")


@lru_cache(maxsize=2048)
def check_pattern(text: str, pointer: str) -> str | None:
    """Why a pattern cannot be enforced, if so. Raises ``GrammarSyntaxError`` when it is malformed."""
    try:
        _parsed(text)
    except GrammarSyntaxError as error:
        if _looks_around(text):
            return None
        read = parse_looking if looks_around(text) else parse_regex
        try:
            read(text, pointer=pointer)
        except GrammarSyntaxError as named:
            if not _well_formed(text):
                raise
            return named.message
        return error.message
    return None


@lru_cache(maxsize=2048)
def _parsed(pattern: str) -> tuple[Branch, ...]:
    return parse_regex(pattern)


@lru_cache(maxsize=2048)
def _looks_around(pattern: str) -> bool:
    """Whether a pattern has to be read by ``lookaround``, and can be."""
    if _GUARDS.search(pattern) is None or "{," in pattern:
        return False
    try:
        _parsed(pattern)
    except GrammarSyntaxError:
        try:
            parse_looking(pattern)
        except GrammarSyntaxError:
            return False
        return True
    return False


def _well_formed(pattern: str) -> bool:
    """Whether a refused pattern is a regular expression of a kind that is not supported."""
    text = re.sub(r"\\k<(\w+)>", r"(?P=\1)", re.sub(r"\\[cpP]", r"\\w", pattern))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of sets that other dialects read
            re.compile(re.sub(r"\(\?<(?![=!])", "(?P<", text))
    except (re.error, RecursionError, OverflowError) as error:
        return "look-behind requires fixed-width" in str(error)
    return True


def divided(pattern: str) -> Parts | None:
    """The look-aheads at the start of a pattern and the rest of it as patterns; ``None`` where there are none."""
    return parts_of(pattern) if _looks_around(pattern) else None


@lru_cache(maxsize=2048)
def pattern_expression(pattern: str) -> Expr:
    """The texts that hold a match of a pattern, over characters. Raises ``GrammarSyntaxError``."""
    if divided(pattern) is not None:
        return to_graph(pattern_automaton(pattern), CharSet)
    if _looks_around(pattern):
        cut = with_boundaries(pattern)
        return to_graph(look_automaton(pattern), CharSet) if cut is None else cut
    return search(_parsed(pattern))


@lru_cache(maxsize=2048)
def _recogniser(pattern: str) -> Recogniser:
    return Recogniser(pattern_expression(pattern))


@lru_cache(maxsize=1 << 15)
def _found_in(pattern: str, text: str) -> bool:
    parts = divided(pattern)
    if parts is not None:
        fits = parts.least <= len(text) and (parts.most is None or len(text) <= parts.most)
        return fits and all(_found_in(part, text) == sign for part, sign in parts.matches)
    return _recogniser(pattern).accepts(text)


@lru_cache(maxsize=2048)
def few_texts(pattern: str) -> tuple[str, ...] | None:
    """The texts that hold a match, where they are a few that the pattern spells out."""
    if divided(pattern) is not None:
        return None
    return _listed(pattern_expression(pattern))


def _listed(expr: Expr) -> tuple[str, ...] | None:
    if isinstance(expr, CharSet):
        codes = [code for low, high in expr.ranges for code in range(low, min(high, low + 9) + 1)]
        if len(codes) > 8 or any(0xD800 <= code <= 0xDFFF for code in codes):
            return None
        return tuple(map(chr, codes))
    if isinstance(expr, Alt | Seq):
        parts = [_listed(item) for item in expr.items]
        if any(part is None for part in parts):
            return None
        known = [part for part in parts if part is not None]
        if isinstance(expr, Alt):
            found = tuple(dict.fromkeys(text for part in known for text in part))
            return found if len(found) <= MAX_LISTED else None
        found = ("",)
        for part in known:
            found = tuple(dict.fromkeys(before + text for before in found for text in part))
            if len(found) > MAX_LISTED:
                return None
        return found
    if isinstance(expr, Repeat) and expr.max == 1:
        once = _listed(expr.item)
        return None if once is None else once if expr.min else tuple(dict.fromkeys(("", *once)))
    return None


@lru_cache(maxsize=1024)
def pattern_automaton(pattern: str, positive: bool = True) -> Dfa:
    """The minimal automaton of the texts that hold a match, or that do not.

    Raises ``GrammarTooComplex``, naming the pattern.
    """
    if not positive:
        return complement(pattern_automaton(pattern))
    parts = divided(pattern)
    if parts is not None:
        found = pattern_automaton(*parts.matches[0])
        for part, sign in parts.matches[1:]:
            found = minimise(intersect(found, pattern_automaton(part, sign), rule=pattern))
        return minimise(with_length(found, parts.least, parts.most, rule=pattern))
    if _looks_around(pattern) and with_boundaries(pattern) is None:
        return look_automaton(pattern)
    return minimise(determinise(pattern_expression(pattern), rule=pattern))

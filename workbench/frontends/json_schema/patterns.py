"""Regular expressions of schemas: where one is found, and the automaton of the texts that hold a match.

Next file to read: ``location.py``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache

from workbench.automaton.finite import Dfa, Recogniser, complement, determinise, minimise
from workbench.errors import GrammarSyntaxError
from workbench.frontends.regex import parse_regex, search
from workbench.grammar.ir import Expr

__all__ = ["Pattern", "check_pattern", "pattern_automaton", "pattern_expression"]


@dataclass(frozen=True, slots=True)
class Pattern:
    """A regular expression and the keyword that it stands under."""

    text: str
    pointer: str = field(compare=False)

    def found_in(self, text: str) -> bool:
        """Whether a text holds a match."""
        return _recogniser(self.text).accepts(text)


@lru_cache(maxsize=2048)
def check_pattern(text: str, pointer: str) -> str | None:
    """Why a pattern cannot be enforced, if so. Raises ``GrammarSyntaxError`` when it is malformed."""
    try:
        parse_regex(text, pointer=pointer)
    except GrammarSyntaxError as error:
        if not _well_formed(text):
            raise
        return error.message
    return None


def _well_formed(pattern: str) -> bool:
    """Whether a refused pattern is a regular expression of a kind that is not supported."""
    try:
        re.compile(
            re.sub(r"\\[cpP]", r"\\w", pattern).replace("(?<", "(?P<").replace("(?P<=", "(?<=")
        )
    except (re.error, RecursionError, OverflowError):
        return False
    return True


@lru_cache(maxsize=2048)
def pattern_expression(pattern: str) -> Expr:
    """The texts that hold a match of a pattern, over characters. Raises ``GrammarSyntaxError``."""
    return search(parse_regex(pattern))


@lru_cache(maxsize=2048)
def _recogniser(pattern: str) -> Recogniser:
    return Recogniser(pattern_expression(pattern))


@lru_cache(maxsize=1024)
def pattern_automaton(pattern: str, positive: bool = True) -> Dfa:
    """The minimal automaton of the texts that hold a match, or that do not.

    Raises ``GrammarTooComplex``, naming the pattern.
    """
    if not positive:
        return complement(pattern_automaton(pattern))
    return minimise(determinise(pattern_expression(pattern), rule=pattern))

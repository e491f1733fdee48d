"""Texts that are compared with those that came before: how many there are, and which of them are written.

The engine counts what a prefix can still become (residual counts). So what is counted has to be what can be
written: a text that has none of the spellings in use would be waited for in vain.
"""

from __future__ import annotations

from functools import lru_cache

from workbench.automaton.finite import Dfa, determinise, intersect, minimise, to_graph
from workbench.automaton.languages import is_ample, language_of
from workbench.automaton.network import MANY, Language
from workbench.frontends.json_schema.text.json_spelling import UNNUMBERED
from workbench.grammar.ir import CharSet, JsonStyle, Repeat

__all__ = ["count_texts", "goes_on", "is_endless", "written"]

#: Characters of which beginnings are looked at.
_BEGINNING = 16


@lru_cache(maxsize=256)
def _language(dfa: Dfa) -> Language:
    return language_of(to_graph(dfa, CharSet))


@lru_cache(maxsize=1)
def _unnumbered() -> Dfa:
    return determinise(Repeat(CharSet(UNNUMBERED), 0, None))


def count_texts(dfa: Dfa) -> int | None:
    """How many texts an automaton accepts; ``None`` when there is no end of them, or as good as none."""
    count = _language(dfa).counts[0]
    return None if count >= MANY else count


def is_endless(dfa: Dfa) -> bool:
    """Whether each prefix of a text has endlessly many completions."""
    if (dfa.table[dfa.accepting] < 0).all(axis=1).any():
        return False  # a text that nothing follows
    return min(_language(dfa).counts) >= MANY


def goes_on(dfa: Dfa) -> bool:
    """Whether each prefix of a few characters has far more completions than texts will ever come."""
    return is_ample(_language(dfa), _BEGINNING)


@lru_cache(maxsize=256)
def written(texts: Dfa, style: JsonStyle) -> Dfa:
    """The texts that are written in a style where they are compared.

    Where a prefix has few completions, and in the style without numbered escapes, control characters that have
    no short escape are left out: a numbered one would spell one character in several steps.
    """
    if style != "plain" and (texts.is_empty or is_endless(texts)):
        return texts
    known = intersect(texts, _unnumbered())
    closed = bool((texts.table < 0).all(axis=0).any())
    if known.table.shape == (len(texts.table), texts.table.shape[1] + (not closed)):
        return (
            known  # of each class some characters are left, so that no two states have become one
        )
    return minimise(known)

"""Token terminals and markers of a grammar, resolved against a vocabulary."""

from __future__ import annotations

import re
from collections.abc import Mapping

from workbench.errors import VocabularyError
from workbench.grammar.expressions import Marker, Seq, literal
from workbench.grammar.ir import Expr, Grammar, Token, walk
from workbench.grammar.lazy import written_ahead
from workbench.grammar.markers import has_markers, with_markers
from workbench.vocabulary import Vocabulary

__all__ = ["resolve_tokens", "spelled_for", "spelled_in_bytes"]


def spelled_for(grammar: Grammar, vocabulary: Vocabulary) -> Grammar:
    """The grammar without markers: with the special tokens and bytes that stand for them in a vocabulary."""
    if not has_markers(grammar):
        return grammar
    names = {vocabulary.special_name(i) for i in vocabulary.special_ids}
    # the longest first: so a tokenizer finds them
    cut = "|".join(map(re.escape, sorted(names - {""}, key=len, reverse=True)))
    pattern = re.compile(f"({cut})" if cut else "(?!)()")

    def spell(marker: Marker) -> Expr:
        items: list[Expr] = []
        for number, piece in enumerate(pattern.split(marker.text)):
            if number % 2:
                items.append(Token(names=(piece,), origin=marker.origin))
            elif piece:
                items.append(literal(piece, marker.origin))
        return items[0] if len(items) == 1 else Seq(tuple(items), origin=marker.origin)

    return with_markers(grammar, spell)


def spelled_in_bytes(grammar: Grammar) -> Grammar:
    """The grammar with each marker as its text."""
    return with_markers(grammar, lambda marker: literal(marker.text, marker.origin))


def resolve_tokens(grammar: Grammar, vocabulary: Vocabulary) -> Mapping[Token, frozenset[int]]:
    """The ids that each token terminal of a grammar stands for.

    Raises ``VocabularyError`` for a name that no token has and an id that the vocabulary lacks. A name is
    that of a special token or else the text of an ordinary one.
    """
    found: dict[Token, frozenset[int]] = {}
    # what is written on demand promises to name no tokens
    for expr in written_ahead(grammar.rules).values():
        for part in walk(expr):
            if isinstance(part, Token) and part not in found:
                found[part] = _ids(part, vocabulary)
    return found


def _ids(token: Token, vocabulary: Vocabulary) -> frozenset[int]:
    ids: set[int] = set()
    for token_id in token.ids or ():
        if token_id >= vocabulary.size:
            raise VocabularyError(
                f"the grammar names token {token_id}, the vocabulary has 0..{vocabulary.size - 1}"
            )
        ids.add(token_id)
    for name in token.names:
        text = name.encode("utf-8")
        named = {i for i in vocabulary.special_ids if vocabulary.special_name(i) == name}
        named = named or {i for i in range(vocabulary.size) if vocabulary.token_bytes(i) == text}
        if not named:
            raise VocabularyError(f"the grammar names the token {name!r}, which no token is called")
        ids |= named
    if token.negated:
        return frozenset(range(vocabulary.size)) - ids - frozenset(vocabulary.eos_ids)
    return frozenset(ids)

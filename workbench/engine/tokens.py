"""Token terminals of a grammar, resolved against a vocabulary."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.errors import VocabularyError
from workbench.grammar.ir import Grammar, Token, walk
from workbench.grammar.lazy import written_ahead
from workbench.vocabulary import Vocabulary

__all__ = ["resolve_tokens"]


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

"""Tokenizers seen as bytes: what each token id spells, and a byte trie over all of them.

Read :mod:`workbench.vocabulary.vocabulary` first; ``spelling`` turns tokenizer files into bytes,
``trie`` lays the tokens out for mask walks, ``cache`` keeps the result on disk.
"""

from __future__ import annotations

from workbench.vocabulary.trie import Trie
from workbench.vocabulary.vocabulary import Vocabulary, byte_vocabulary

__all__ = ["Trie", "Vocabulary", "byte_vocabulary"]

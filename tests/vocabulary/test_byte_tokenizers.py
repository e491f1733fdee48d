"""Tokenizers of transformers whose tokens are bytes: ByT5, Perceiver; and one of characters, CANINE."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import workbench as wb

transformers = pytest.importorskip("transformers")


@pytest.mark.parametrize(
    ("name", "first", "end", "specials"),
    [
        ("ByT5Tokenizer", 3, 1, {0, 1, 2, *range(259, 384)}),
        ("PerceiverTokenizer", 6, 2, set(range(6))),
    ],
)
def test_bytes_have_the_number_of_their_value(
    name: str, first: int, end: int, specials: set[int]
) -> None:
    tokenizer = getattr(transformers, name)()
    vocabulary = wb.Vocabulary.load(tokenizer)
    assert [vocabulary.token_bytes(first + byte) for byte in range(256)] == [
        bytes([byte]) for byte in range(256)
    ]
    assert vocabulary.missing_bytes == ()
    assert end in vocabulary.eos_ids
    assert vocabulary.special_ids == specials
    text = "né 漢😀\n"
    ids = [i for i in tokenizer(text).input_ids if i not in vocabulary.special_ids]
    assert vocabulary.decode(ids) == text.encode()
    matcher = wb.compile(wb.regex(text), vocabulary).matcher()
    assert matcher.accept_tokens(ids) == len(ids)
    assert matcher.accept(end)


def test_added_tokens_keep_their_text(tmp_path: Path) -> None:
    tokenizer = transformers.ByT5Tokenizer(extra_ids=0)
    tokenizer.add_tokens(["<call>", "é"])
    vocabulary = wb.Vocabulary.load(tokenizer)
    ids: Any = tokenizer.convert_tokens_to_ids(["<call>"])
    assert vocabulary.token_bytes(ids[0]) == b"<call>"
    tokenizer.save_pretrained(tmp_path)
    assert wb.Vocabulary.load(tmp_path).token_bytes(100) == b"a"


def test_characters_by_number_are_refused() -> None:
    with pytest.raises(
        wb.VocabularyError, match="a CanineTokenizer has characters of Unicode as its tokens"
    ):
        wb.Vocabulary.load(transformers.CanineTokenizer())

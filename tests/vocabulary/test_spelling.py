"""Token bytes against what the tokenizers themselves encode and decode."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.vocabulary.conftest import SENTENCES, known_texts, random_texts
from workbench.errors import VocabularyError
from workbench.vocabulary import Vocabulary
from workbench.vocabulary.spelling import byte_level_table, spell_tokenizer

TEXTS = [*SENTENCES, *random_texts(1000)]


def spellable(vocabulary: Vocabulary, text: str) -> bool:
    return not set(text.encode()) & set(vocabulary.missing_bytes)


def expect_decoded(vocabulary: Vocabulary, tokenizer: Any, anchor: str) -> int:
    """After an anchor token, each token must add to the decoded text just what it spells.

    Returns how many tokens could be compared: parts of characters decode to nothing by themselves.
    """
    first = tokenizer.token_to_id(anchor)
    start = tokenizer.decode([first], skip_special_tokens=False)
    compared = 0
    for i in range(vocabulary.size):
        if i in vocabulary.special_ids or tokenizer.id_to_token(i) is None:
            assert vocabulary.token_bytes(i) == b""
            continue
        try:
            spelled = vocabulary.token_bytes(i).decode()
        except UnicodeDecodeError:
            continue
        assert tokenizer.decode([first, i], skip_special_tokens=False) == start + spelled, i
        compared += 1
    return compared


def test_byte_level_table_is_a_bijection_with_known_points() -> None:
    table = byte_level_table()
    assert sorted(table.values()) == list(range(256))
    assert (table["Ġ"], table["Ċ"], table["a"], table["ÿ"]) == (0x20, 0x0A, 0x61, 0xFF)


def test_byte_level_spells_every_text(byte_level: Any) -> None:
    vocabulary = Vocabulary.load(byte_level)
    assert set(vocabulary.missing_bytes) == set()
    for text in TEXTS:
        ids = byte_level.encode(text, add_special_tokens=False).ids
        assert vocabulary.decode(ids) == text.encode()


def test_byte_level_tokens_are_what_decoding_adds(byte_level: Any) -> None:
    vocabulary = Vocabulary.load(byte_level)
    llama = byte_level.token_to_id("🦙é▁")
    assert expect_decoded(vocabulary, byte_level, "a") > 900
    assert vocabulary.token_bytes(llama) == "🦙é▁".encode()
    assert vocabulary.token_bytes(byte_level.token_to_id("<tool>")) == b"<tool>"
    assert vocabulary.eos_ids == (byte_level.token_to_id("<|endoftext|>"),)


def test_byte_level_without_the_full_alphabet_lists_the_missing_bytes() -> None:
    tk = pytest.importorskip("tokenizers")
    tokenizer = tk.Tokenizer(tk.models.BPE())
    tokenizer.pre_tokenizer = tk.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = tk.decoders.ByteLevel()
    trainer = tk.trainers.BpeTrainer(vocab_size=600, show_progress=False)
    tokenizer.train_from_iterator(SENTENCES, trainer)
    vocabulary = Vocabulary.load(tokenizer)
    used = {b for text in SENTENCES for b in text.encode()}
    assert set(vocabulary.missing_bytes) == set(range(256)) - used
    told = [text for text in TEXTS if spellable(vocabulary, text)]
    assert 9 <= len(told) < len(TEXTS)
    for text in told:
        assert vocabulary.decode(tokenizer.encode(text).ids) == text.encode()


def test_byte_fallback_spells_every_text_after_its_dummy_space(byte_fallback: Any) -> None:
    vocabulary = Vocabulary.load(byte_fallback)
    assert vocabulary.missing_bytes == ()
    assert vocabulary.token_bytes(byte_fallback.token_to_id("<0x0A>")) == b"\n"
    assert vocabulary.token_bytes(byte_fallback.token_to_id("<0xE2>")) == b"\xe2"
    for text in TEXTS:
        # The tokenizer reads ▁ in a text as a space, and so do the bytes of its tokens.
        spelled = vocabulary.decode(byte_fallback.encode(text, add_special_tokens=False).ids)
        assert spelled == b" " + text.replace("▁", " ").encode()


def test_byte_fallback_tokens_are_what_decoding_adds(byte_fallback: Any) -> None:
    vocabulary = Vocabulary.load(byte_fallback)
    assert expect_decoded(vocabulary, byte_fallback, "a") > 700
    assert vocabulary.special_name(vocabulary.eos_ids[0]) == "</s>"


def test_unigram_spells_what_it_knows(unigram: Any) -> None:
    vocabulary = Vocabulary.load(unigram)
    unknown = unigram.token_to_id("<unk>")
    told = 0
    for text in TEXTS + known_texts(1000):
        ids = unigram.encode(text, add_special_tokens=False).ids
        if unknown in ids:
            continue
        told += 1
        # Metaspace puts one space before a text, unless it begins with one or with a ▁.
        marked = text.replace("▁", " ")
        assert vocabulary.decode(ids) == (" " * (marked[:1] != " ") + marked).encode()
    assert told > 500
    assert unknown in vocabulary.special_ids
    assert expect_decoded(vocabulary, unigram, "a") > 600


def test_word_piece_spells_a_space_before_each_word(word_piece: Any) -> None:
    vocabulary = Vocabulary.load(word_piece)
    unknown = word_piece.token_to_id("[UNK]")
    told = 0
    for text in TEXTS + known_texts(1000):
        ids = word_piece.encode(text, add_special_tokens=False).ids
        if unknown in ids or not ids:
            continue
        told += 1
        spelled = vocabulary.decode(ids).decode()
        assert spelled.removeprefix(" ") == word_piece.decode(ids)
        assert "".join(spelled.split()) == "".join(text.split())  # only spaces differ
    assert told > 500
    for words in ("the quick brown fox jumps over the lazy dog", "Ann and Eva, drink tea!"):
        ids = word_piece.encode(words, add_special_tokens=False).ids
        assert vocabulary.decode(ids) == b" " + words.encode()
    assert vocabulary.token_bytes(word_piece.token_to_id(".")) == b"."
    assert expect_decoded(vocabulary, word_piece, "a") > 700


def test_sentencepiece_model_spells_every_text(sentencepiece_bpe: bytes, tmp_path: Path) -> None:
    spm = pytest.importorskip("sentencepiece")
    path = tmp_path / "tokenizer.model"
    path.write_bytes(sentencepiece_bpe)
    processor = spm.SentencePieceProcessor(model_proto=sentencepiece_bpe)
    vocabulary = Vocabulary.load(processor)
    assert vocabulary == Vocabulary.load(path) == Vocabulary.load(str(tmp_path))
    assert vocabulary.eos_ids == (processor.eos_id(),)
    assert vocabulary.special_ids == {processor.unk_id(), processor.bos_id(), processor.eos_id()}
    assert vocabulary.missing_bytes == ()
    assert vocabulary.token_bytes(processor.piece_to_id("<tool>")) == b"<tool>"
    for text in TEXTS:
        spelled = vocabulary.decode(processor.encode(text))
        assert spelled == b" " + text.replace("▁", " ").encode()


def test_python_tokenizer_around_sentencepiece(sentencepiece_bpe: bytes, tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    path = tmp_path / "spiece.model"
    path.write_bytes(sentencepiece_bpe)
    tokenizer = transformers.BertGenerationTokenizer(vocab_file=str(path), eos_token="</s>")
    tokenizer.add_tokens(["<call>"])
    vocabulary = Vocabulary.load(tokenizer)
    assert vocabulary.eos_ids == (tokenizer.eos_token_id,)
    assert vocabulary.tokenizer is tokenizer
    assert vocabulary.token_bytes(tokenizer.convert_tokens_to_ids("<call>")) == b"<call>"
    for text in TEXTS[:200]:
        text = text.replace("▁", " ")
        ids = tokenizer.sp_model.encode(text)
        assert vocabulary.decode(ids) == b" " + text.encode()


def tiny(vocab: Any = None, **parts: Any) -> dict[str, Any]:
    vocab = (
        {"▁a": 0, "b</w>": 1, "##c": 2, "Ġd": 3, "<0x41>": 4, " .": 5} if vocab is None else vocab
    )
    model = {"type": "BPE", "vocab": vocab, "merges": [], **parts.pop("model", {})}
    return {"model": model, "added_tokens": [], **parts}


@pytest.mark.parametrize(
    ("parts", "spelled"),
    [
        ({}, ["▁a", "b</w>", "##c", "Ġd", "<0x41>", " ."]),
        ({"decoder": {"type": "ByteLevel"}}, ["▁a", "b</w>", "##c", " d", "<0x41>", " ."]),
        ({"pre_tokenizer": {"type": "ByteLevel"}}, ["▁a", "b</w>", "##c", " d", "<0x41>", " ."]),
        ({"decoder": {"type": "Metaspace"}}, [" a", "b</w>", "##c", "Ġd", "<0x41>", " ."]),
        ({"pre_tokenizer": {"type": "Metaspace"}}, [" a", "b</w>", "##c", "Ġd", "<0x41>", " ."]),
        (
            {"decoder": {"type": "Metaspace", "replacement": "b"}},
            ["▁a", " </w>", "##c", "Ġd", "<0x41>", " ."],
        ),
        ({"model": {"byte_fallback": True}}, ["▁a", "b</w>", "##c", "Ġd", "A", " ."]),
        ({"decoder": {"type": "ByteFallback"}}, ["▁a", "b</w>", "##c", "Ġd", "A", " ."]),
        (
            {"decoder": {"type": "BPEDecoder", "suffix": "</w>"}},
            ["▁a", "b ", "##c", "Ġd", "<0x41>", " ."],
        ),
        (
            {"model": {"end_of_word_suffix": "</w>"}, "decoder": {"type": "ByteLevel"}},
            ["▁a", "b ", "##c", " d", "<0x41>", " ."],
        ),
        (
            {"decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True}},
            [" ▁a", " b</w>", "c", " Ġd", " <0x41>", " ."],
        ),
        ({"model": {"type": "WordLevel"}}, [" ▁a", " b</w>", " ##c", " Ġd", " <0x41>", "  ."]),
        (
            {"model": {"type": "WordPiece", "continuing_subword_prefix": "##"}},
            [" ▁a", " b</w>", "c", " Ġd", " <0x41>", "  ."],
        ),
        (
            {"normalizer": {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}},
            [" a", "b</w>", "##c", "Ġd", "<0x41>", " ."],
        ),
        (
            {"decoder": {"type": "Replace", "pattern": {"Regex": "^[▁#]+"}, "content": "\\1"}},
            ["\\1a", "b</w>", "\\1c", "Ġd", "<0x41>", " ."],
        ),
        (
            {"decoder": {"type": "Strip", "content": "#", "start": 1, "stop": 1}},
            ["▁a", "b</w>", "#c", "Ġd", "<0x41>", " ."],
        ),
    ],
)
def test_decoder_parts(parts: dict[str, Any], spelled: list[str]) -> None:
    assert spell_tokenizer(tiny(**parts)).tokens == [text.encode() for text in spelled]


def test_gaps_equal_texts_and_lone_surrogates() -> None:
    spelling = spell_tokenizer(
        {"model": {"type": "Unigram", "vocab": [["x", 0.0], ["x", 0.0], ["\ud800", 0.0]]}}
    )
    assert spelling.tokens == [b"x", b"x", "\ufffd".encode()]
    spelling = spell_tokenizer(tiny({"a": 5, "": 2}))
    assert spelling.tokens == [b"", b"", b"", b"", b"", b"a"]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({}, "no model with a vocab"),
        ({"model": {"vocab": "abc"}}, "neither a map nor a list"),
        ({"model": {"vocab": [["a", 0], [3, 0]]}}, "entry 1 of model.vocab has no text"),
        ({"model": {"vocab": {"a": -1}}}, "-1 is not a token id"),
        ({"model": {"vocab": {"a": 10**15}}}, "1000000000000000 is not a token id"),
        ({"model": {"vocab": {"a": "0"}}}, "'0' is not a token id"),
        (tiny(added_tokens=3), "added_tokens is not a list"),
        (tiny(added_tokens=[{"id": 3}]), "an added token has no content"),
        (tiny(added_tokens=[{"content": "x", "id": True}]), "True is not a token id"),
        (tiny(decoder={"type": "CTC"}), "decoder of an unknown kind: 'CTC'"),
        (
            tiny(decoder={"type": "Replace", "pattern": {"Regex": "(?<x"}, "content": ""}),
            "not understood",
        ),
        (tiny(decoder={"type": "Replace", "pattern": 1, "content": ""}), "replaces by 1"),
    ],
)
def test_what_is_no_tokenizer_says_why(data: dict[str, Any], message: str) -> None:
    with pytest.raises(VocabularyError, match=re.escape(message)):
        spell_tokenizer(data)


def test_decoder_sequence_nested_ten_thousand_deep() -> None:
    decoder: dict[str, Any] = {"type": "Metaspace"}
    for _ in range(10_000):
        decoder = {"type": "Sequence", "decoders": [decoder]}
    assert spell_tokenizer(tiny(decoder=decoder)).tokens[0] == b" a"


def test_file_and_object_agree(byte_fallback: Any, tmp_path: Path) -> None:
    path = tmp_path / "any-name.json"
    path.write_text(json.dumps(json.loads(byte_fallback.to_str())))
    assert Vocabulary.load(path) == Vocabulary.load(byte_fallback)

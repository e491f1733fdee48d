"""Real tokenizers: Llama 3.1's tokenizer.json and that of the packaged model."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from tests.vocabulary.conftest import SENTENCES, SHARED_DATA, random_texts
from tests.vocabulary.test_spelling import expect_decoded, spellable
from workbench.models.cache import cache_dir
from workbench.models.packaged import MODEL_NAME
from workbench.vocabulary import Vocabulary

LLAMA = SHARED_DATA / "llama-3.1-tokenizer.json.xz"
#: Looked up while the tests are collected, before the cache folder is replaced.
PACKAGED = cache_dir() / "models" / MODEL_NAME
TEXTS = [*SENTENCES, *random_texts(1000)]


@pytest.fixture(scope="module")
def llama() -> Vocabulary:
    if not LLAMA.is_file():
        pytest.skip(f"the Llama 3.1 tokenizer is not at {LLAMA}")
    pytest.importorskip("tokenizers")
    return Vocabulary.load(LLAMA)


@pytest.fixture(scope="module")
def packaged() -> tuple[Vocabulary, Any]:
    if not (PACKAGED / "tokenizer.json").is_file():
        pytest.skip(
            f"the packaged model is not at {PACKAGED}; workbench.load_model() puts it there"
        )
    transformers = pytest.importorskip("transformers")
    tokenizer = transformers.AutoTokenizer.from_pretrained(str(PACKAGED))
    return Vocabulary.load(tokenizer), tokenizer


def test_llama_facts(llama: Vocabulary) -> None:
    assert (llama.size, llama.width) == (128_256, 128_256)
    assert llama.special_ids == set(range(128_000, 128_256))
    assert llama.missing_bytes == ()
    assert llama.special_id("<|eot_id|>") == 128_009
    names = ["<|end_of_text|>", "<|eom_id|>", "<|eot_id|>"]
    here = {llama.special_name(i): i for i in llama.special_ids}
    assert llama.eos_ids == tuple(here[name] for name in names if name in here)
    assert {128_001, 128_009} <= set(llama.eos_ids)
    assert llama.token_bytes(9906) == b"Hello" and llama.label(1917) == "·world"
    assert llama.max_token_bytes == 128
    assert llama.trie.token.max() == 127_999 and len(llama.trie) > 250_000


def test_llama_spells_every_text(llama: Vocabulary) -> None:
    for text in TEXTS:
        ids = llama.tokenizer.encode(text, add_special_tokens=False).ids
        assert llama.decode(ids) == text.encode()


def test_llama_tokens_are_what_decoding_adds(llama: Vocabulary) -> None:
    assert expect_decoded(llama, llama.tokenizer, "a") > 120_000


def test_llama_trie_holds_exactly_the_tokens(llama: Vocabulary) -> None:
    trie = llama.trie
    text, found = bytearray(), {}
    for byte, depth, token in zip(
        trie.byte.tolist(), trie.depth.tolist(), trie.token.tolist(), strict=True
    ):
        del text[depth:]
        text.append(byte)
        if token >= 0:
            found[token] = bytes(text)
    found.update({other: found[first] for first, other in trie.duplicates.tolist()})
    spelled = {i: llama.token_bytes(i) for i in range(llama.size)}
    assert found == {i: text for i, text in spelled.items() if text}


def test_llama_loads_fast(llama: Vocabulary) -> None:
    start = time.process_time()
    built = Vocabulary.load(LLAMA)
    cold = time.process_time() - start
    start = time.process_time()
    cached = Vocabulary.load(LLAMA)
    warm = time.process_time() - start
    print(
        f"\nLlama 3.1 vocabulary: {cold:.2f} s built, {warm * 1000:.0f} ms from the cache (CPU time)"
    )
    assert built == cached == llama
    assert cold < 8  # about 1 s on a quiet core
    assert warm < cold / 3


def test_packaged_facts(packaged: tuple[Vocabulary, Any]) -> None:
    vocabulary, _ = packaged
    assert (vocabulary.size, vocabulary.width) == (49_152, 49_152)
    assert vocabulary.special_ids == set(range(17))
    assert {2} <= set(vocabulary.eos_ids) <= {0, 2}
    assert vocabulary.max_token_bytes == 81
    assert len(vocabulary.trie.duplicates) == 0
    missing = "04 06 13 14 16 1d c0 c1 f1 f2 f5 f6 f7 f8 f9 fa fb fc fd fe ff"
    assert bytes(vocabulary.missing_bytes) == bytes.fromhex(missing)
    odd = [i for i in range(17, vocabulary.size) if "⟨" in vocabulary.label(i)]
    assert len(odd) >= 313  # tokens that are no text by themselves show their bytes


def test_packaged_spells_what_it_can(packaged: tuple[Vocabulary, Any]) -> None:
    vocabulary, tokenizer = packaged
    told = 0
    for text in TEXTS:
        if not spellable(vocabulary, text):
            continue
        told += 1
        assert vocabulary.decode(tokenizer.encode(text)) == text.encode()
    assert told > 500
    assert expect_decoded(vocabulary, tokenizer.backend_tokenizer, "a") > 48_000


def test_packaged_folder_and_object_agree(packaged: tuple[Vocabulary, Any]) -> None:
    vocabulary, _ = packaged
    assert Vocabulary.load(Path(PACKAGED)) == vocabulary

"""The Vocabulary itself: ids, special tokens, ends, width, paths and errors."""

from __future__ import annotations

import gzip
import json
import lzma
import pickle
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from workbench.errors import VocabularyError
from workbench.vocabulary import Trie, Vocabulary

TOKENIZER = {
    "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "Ġa": 2, "Ċ": 3, "Ã": 4}, "merges": []},
    "decoder": {"type": "ByteLevel"},
    "added_tokens": [
        {"id": 6, "content": "</s>", "special": True},
        {"id": 7, "content": "<|eot_id|>", "special": True},
        {"id": 8, "content": "<tool>", "special": False},
        {"id": 9, "content": "<end>", "special": True},
    ],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "tokenizer.json").write_text(json.dumps(TOKENIZER))
    return tmp_path


def write(folder: Path, name: str, data: Any) -> None:
    (folder / name).write_text(json.dumps(data))


def test_from_bytes() -> None:
    v = Vocabulary.from_bytes(
        [b"a", b"ab", b"</s>", b"", b"a", b"\xe2\x9c"],
        2,
        special_ids=[3],
        width=40,
        special_names={2: "</s>"},
    )
    assert (v.size, len(v), v.width, v.max_token_bytes) == (6, 6, 40, 2)
    assert v.eos_ids == (2,) and v.special_ids == {2, 3}
    assert [v.token_bytes(i) for i in range(7)] == [b"a", b"ab", b"", b"", b"a", b"\xe2\x9c", b""]
    assert v.token_bytes(np.int64(1)) == b"ab"
    assert v.decode([0, 2, 1, np.int32(5)]) == b"aab\xe2\x9c"
    assert v.special_name(2) == "</s>" and v.special_id("</s>") == 2
    assert v.special_name(3) == "<special 3>"
    assert [v.label(i) for i in (0, 2, 5, 39)] == ["a", "</s>", "⟨E2 9C⟩", "⟨padding⟩"]
    assert set(range(256)) - set(v.missing_bytes) == {0x61, 0x62, 0xE2, 0x9C}
    assert isinstance(v.trie, Trie)
    assert v.trie.token.tolist() == [0, 1, -1, 5]
    assert v.trie.duplicates.tolist() == [[0, 4]]
    assert v.tokenizer is None


def test_equality_is_by_content() -> None:
    def make(**changes: Any) -> Vocabulary:
        return Vocabulary.from_bytes(**{"tokens": [b"a", b"b", b""], "eos_ids": [2], **changes})

    same = make()
    assert same == make(tokens=(b"a", b"b", b"ignored"), width=3) and hash(same) == hash(make())
    assert same.fingerprint == make().fingerprint and len(same.fingerprint) == 64
    for changes in (
        {"tokens": [b"ab", b"", b""]},
        {"tokens": [b"a", b"b", b"", b""]},
        {"eos_ids": [1]},
        {"width": 4},
        {"special_ids": [1]},
        {"special_names": {2: "end"}},
    ):
        assert same != make(**changes), changes
    assert same != "a"
    again = pickle.loads(pickle.dumps(same))
    assert again == same and again.trie.skip.tolist() == same.trie.skip.tolist()


def test_repr_is_one_short_line() -> None:
    text = repr(Vocabulary.from_bytes([bytes([b]) for b in range(256)] + [b""], 256))
    assert text.startswith(
        "Vocabulary(257 tokens, width 257, 1 special, eos <special 256>, 0 bytes"
    )
    assert len(text) < 120


@pytest.mark.parametrize("i", [-1, 3, 10**9])
def test_ids_outside_are_errors(i: int) -> None:
    v = Vocabulary.from_bytes([b"a", b"b", b""], [2])
    for ask in (v.token_bytes, v.label, v.special_name, lambda i: v.decode([i])):
        with pytest.raises(VocabularyError, match=rf"token id {i} is outside this vocabulary of 3"):
            ask(i)


def test_wrong_arguments_are_errors() -> None:
    for arguments, message in (
        (([b"a"], [1]), "token id 1 is outside this vocabulary of 1 token"),
        (([b"a"], ["x"]), "'x' is not a token id"),
        (([b"a", "b"], [0]), "token 1 is 'b': not bytes"),
        (([b"a"], [], [-1]), "token id -1 is outside"),
        (([b"a"], [], [], 0), "a width of 0 is too small for 1 token"),
        (([b"a"], [], [], 1 << 40), "too large"),
    ):
        with pytest.raises(VocabularyError, match=message):
            Vocabulary.from_bytes(*arguments)  # type: ignore[arg-type]
    v = Vocabulary.from_bytes([b"a"], [])
    with pytest.raises(VocabularyError, match=r"token 0 \(a\) is not a special token"):
        v.special_name(0)
    with pytest.raises(VocabularyError, match="no special token '<x>'"):
        v.special_id("<x>")


def test_added_tokens_gaps_and_closing_names(folder: Path) -> None:
    lone = folder / "copy.json"
    lone.write_text(json.dumps(TOKENIZER))
    v = Vocabulary.load(lone)
    assert (v.size, v.width) == (10, 10)
    assert [v.token_bytes(i) for i in range(10)] == [
        *(b"a", b"b", b" a", b"\n", b"\xc3", b"", b"", b"", b"<tool>", b"")
    ]
    assert v.special_ids == {6, 7, 9}
    assert v.label(5) == "⟨empty⟩"
    # Nothing is declared, so well-known closing names end a text.
    assert v.eos_ids == (6, 7)
    assert 9 not in v.trie.token and 8 in v.trie.token


def test_declared_ends_replace_closing_names(folder: Path) -> None:
    write(folder, "tokenizer_config.json", {"eos_token": {"content": "</s>"}})
    assert Vocabulary.load(folder).eos_ids == (6,)
    assert Vocabulary.load(folder / "tokenizer.json").eos_ids == (6,)
    write(folder, "config.json", {"eos_token_id": 7, "vocab_size": 64})
    v = Vocabulary.load(folder)
    assert v.eos_ids == (6, 7) and v.width == 64
    # A generation configuration is asked instead of the model's; ids out of range do not count.
    write(folder, "generation_config.json", {"eos_token_id": [9, 6, 500]})
    assert Vocabulary.load(folder).eos_ids == (6, 9)
    write(folder, "special_tokens_map.json", {"eos_token": "<|eot_id|>"})
    assert Vocabulary.load(folder).eos_ids == (6, 9)
    (folder / "tokenizer_config.json").unlink()
    assert Vocabulary.load(folder).eos_ids == (6, 7, 9)


def test_given_ends_replace_everything(folder: Path) -> None:
    write(folder, "generation_config.json", {"eos_token_id": 9})
    assert Vocabulary.load(folder, eos_ids=7).eos_ids == (7,)
    assert Vocabulary.load(folder, eos_ids=["<|eot_id|>", 6]).eos_ids == (6, 7)
    v = Vocabulary.load(folder, eos_ids=[3])
    assert v.eos_ids == (3,) and v.token_bytes(3) == b"" and v.special_name(3) == "Ċ"
    assert v.special_ids == {3, 6, 7, 9} and 3 not in v.trie.token
    assert Vocabulary.load(folder, eos_ids=[]).eos_ids == ()
    with pytest.raises(VocabularyError, match="token id 10 is outside"):
        Vocabulary.load(folder, eos_ids=[10])
    with pytest.raises(VocabularyError, match="no token '<nope>'"):
        Vocabulary.load(folder, eos_ids="<nope>")


def test_special_flags_of_the_tokenizer_config_count(folder: Path) -> None:
    entries = {
        "8": {"content": "<tool>", "special": True},
        "11": {"content": "<late>", "special": False},
    }
    write(folder, "tokenizer_config.json", {"added_tokens_decoder": entries})
    v = Vocabulary.load(folder)
    assert v.special_name(8) == "<tool>" and v.token_bytes(11) == b"<late>"


def test_width(folder: Path) -> None:
    v = Vocabulary.load(folder, width=16)
    assert v.width == 16 and v.size == 10 and v.token_bytes(15) == b""
    # Added tokens for which the logits have no place are left out, real text is not.
    cut = Vocabulary.load(folder, width=8)
    assert (cut.size, cut.width, cut.special_ids, cut.eos_ids) == (8, 8, {6, 7}, (6, 7))
    for width in (4, 0, -1):
        with pytest.raises(VocabularyError, match=f"a width of {width} is too small"):
            Vocabulary.load(folder, width=width)
    write(folder, "config.json", {"text_config": {"vocab_size": 32}})
    assert Vocabulary.load(folder).width == 32


def test_model_adds_its_generation_config_and_width(folder: Path) -> None:
    head = SimpleNamespace(out_features=96)
    model = SimpleNamespace(
        generation_config=SimpleNamespace(eos_token_id=[6, 9]), get_output_embeddings=lambda: head
    )
    v = Vocabulary.load(folder, model=model)
    assert v.eos_ids == (6, 9) and v.width == 96
    bare = SimpleNamespace(config=SimpleNamespace(vocab_size=48))
    v = Vocabulary.load(folder, model=bare)
    assert v.eos_ids == (6, 7) and v.width == 48


def test_compressed_files(folder: Path) -> None:
    raw = (folder / "tokenizer.json").read_bytes()
    (folder / "t.json.xz").write_bytes(lzma.compress(raw))
    (folder / "t.json.gz").write_bytes(gzip.compress(raw))
    (folder / "bom.json").write_bytes(b"\xef\xbb\xbf " + raw)
    expected = Vocabulary.load(folder)
    for name in ("t.json.xz", "t.json.gz", "bom.json"):
        assert Vocabulary.load(folder / name) == expected, name
        assert Vocabulary.load(str(folder / name)) == expected, name


def test_tokenizer_of_a_path_is_opened_on_demand(byte_level: Any, tmp_path: Path) -> None:
    path = tmp_path / "t.json.xz"
    path.write_bytes(lzma.compress(byte_level.to_str().encode()))
    v = Vocabulary.load(path)
    assert v.tokenizer.encode("the fox").ids == byte_level.encode("the fox").ids
    assert v.tokenizer is v.tokenizer
    assert pickle.loads(pickle.dumps(v)) == v


def test_transformers_tokenizers(byte_level: Any, tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=byte_level, eos_token="<|endoftext|>", pad_token="<pad>"
    )
    v = Vocabulary.load(fast)
    assert v.eos_ids == (fast.eos_token_id,) and v.tokenizer is fast
    assert v.size == len(fast) and v.special_name(fast.pad_token_id) == "<pad>"
    text = "The quick {brown}\n\tfox 🦊"
    assert v.decode(fast.encode(text)) == text.encode()
    assert Vocabulary.load(SimpleNamespace(tokenizer=fast)) == v
    fast.save_pretrained(tmp_path)
    assert Vocabulary.load(tmp_path) == v
    # A tokenizer that came from a folder brings the generation configuration there with it.
    write(tmp_path, "generation_config.json", {"eos_token_id": [fast.eos_token_id, 300]})
    write(tmp_path, "config.json", {"vocab_size": 2048, "model_type": "llama"})
    again = transformers.AutoTokenizer.from_pretrained(str(tmp_path))
    v = Vocabulary.load(again)
    assert v.eos_ids == (fast.eos_token_id, 300) and v.width == 2048


def test_paths_without_a_tokenizer(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    deep = tmp_path / "deep.json"
    deep.write_text('{"model":' + "[" * 100_000)
    cases: list[tuple[str, bytes, str]] = [
        ("empty.json", b"", "is empty"),
        ("binary.bin", bytes(range(256)) * 9, "is not a JSON object"),
        ("zeros.json", b"{\x00\x00", "is not a JSON object"),
        ("latin.json", b'{"model": "\xe9"}', "no tokenizer.json"),
        ("list.json", b"[1]", "is not a JSON object"),
        ("cut.json", b'{"model": {"vocab": {"a"', "no tokenizer.json: "),
        ("other.json", b'{"a": 1}', "it has no model with a vocab"),
        ("model.gguf", b"GGUF\x03\x00", "load it through workbench.load_model"),
        ("bad.json.xz", b"\xfd7zXZ\x00 garbage", "the compressed file is damaged"),
        ("cut.json.xz", lzma.compress(b"{}" * 999)[:-9], "the compressed file is damaged"),
        ("bad.json.gz", b"\x1f\x8b garbage", "the compressed file is damaged"),
        ("bad.model", b"\x00\x01\x02", "is not a SentencePiece model"),
    ]
    for name, content, message in cases:
        (tmp_path / name).write_bytes(content)
        with pytest.raises(VocabularyError, match=message):
            Vocabulary.load(tmp_path / name)
    with pytest.raises(VocabularyError, match=r"deep\.json: this is no tokenizer\.json"):
        Vocabulary.load(deep)
    with pytest.raises(VocabularyError, match="there is no file or folder 'org/some-model'"):
        Vocabulary.load("org/some-model")
    with pytest.raises(VocabularyError, match=r"holds no tokenizer\.json"):
        Vocabulary.load(tmp_path)
    for odd in (None, 3, b"abc", object()):
        with pytest.raises(VocabularyError, match="is not a tokenizer that can be read as bytes"):
            Vocabulary.load(odd)


def test_broken_configuration_beside_the_tokenizer(folder: Path) -> None:
    (folder / "generation_config.json").write_text("{")
    with pytest.raises(VocabularyError, match=r"generation_config\.json beside the tokenizer"):
        Vocabulary.load(folder)
    write(folder, "generation_config.json", {"eos_token_id": "x"})
    with pytest.raises(VocabularyError, match=r"eos_token_id of the generation_config\.json"):
        Vocabulary.load(folder)
    write(folder, "generation_config.json", [1])
    with pytest.raises(VocabularyError, match="is not a JSON object"):
        Vocabulary.load(folder)


def test_huge_files_are_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "huge.json"
    with path.open("wb") as file:
        file.truncate(1 << 34)  # sparse
    with pytest.raises(VocabularyError, match="too large for a tokenizer"):
        Vocabulary.load(path)


def test_import_is_light() -> None:
    code = (
        "import sys, workbench.vocabulary;"
        "print([m for m in ('torch', 'llvmlite', 'IPython', 'transformers', 'tokenizers',"
        " 'sentencepiece', 'platformdirs') if m in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


def test_python_tokenizers_that_cannot_be_read_say_so(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    write(tmp_path, "vocab.json", {"<unk>": 0, "a": 1, "b@@": 2})
    (tmp_path / "merges.txt").write_text("#version\n")
    tokenizer = transformers.CTRLTokenizer(tmp_path / "vocab.json", tmp_path / "merges.txt")
    with pytest.raises(VocabularyError, match="a CTRLTokenizer cannot be read as bytes"):
        Vocabulary.load(tokenizer)


def test_folder_without_tokenizer_json(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "##fox", ".", "é"]
    (tmp_path / "vocab.txt").write_text("\n".join(words))
    write(tmp_path, "tokenizer_config.json", {"tokenizer_class": "BertTokenizer"})
    v = Vocabulary.load(tmp_path)
    assert [v.label(i) for i in range(v.size)] == [*words[:5], "·the", "fox", ".", "·é"]
    assert v.eos_ids == ()


JUNK = [None, True, -1, 2**70, 1.5, "", "x", "\ud800", [], {}, [[]], [None], {"type": "Sequence"}]


def paths_into(data: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = data.items() if isinstance(data, dict) else enumerate(data)
    found = []
    for key, value in inner:
        found.append((*path, key))
        if isinstance(value, dict | list):
            found += paths_into(value, (*path, key))
    return found


@pytest.mark.parametrize("junk", JUNK, ids=repr)
def test_malformed_parts_never_crash(junk: Any, tmp_path: Path) -> None:
    decoders = [
        {"type": "Replace", "pattern": {"String": "x"}, "content": " "},
        {"type": "Replace", "pattern": {"Regex": "x"}, "content": " "},
        {"type": "Metaspace", "replacement": "x"},
        {"type": "WordPiece", "prefix": "#", "cleanup": True},
        {"type": "BPEDecoder", "suffix": "w"},
        {"type": "Strip", "content": "x", "start": 1, "stop": 0},
    ]
    whole = {**TOKENIZER, "decoder": {"type": "Sequence", "decoders": decoders}}
    whole["normalizer"] = {"type": "Replace", "pattern": {"String": " "}, "content": "x"}
    whole["model"] = {**TOKENIZER["model"], "unk_token": "a", "end_of_word_suffix": "w"}  # type: ignore[dict-item]
    file = tmp_path / "t.json"
    for path in paths_into(whole):
        data = json.loads(json.dumps(whole))
        at = data
        for key in path[:-1]:
            at = at[key]
        at[path[-1]] = junk
        file.write_text(json.dumps(data))
        try:
            size = Vocabulary.load(file).size
        except VocabularyError:
            continue
        assert 0 < size <= 10
    for name in ("tokenizer_config.json", "config.json", "generation_config.json"):
        folder = tmp_path / name.removesuffix(".json")
        folder.mkdir()
        write(folder, "tokenizer.json", TOKENIZER)
        for key in (
            "eos_token",
            "eos_token_id",
            "vocab_size",
            "text_config",
            "added_tokens_decoder",
        ):
            write(folder, name, {key: junk})
            try:
                Vocabulary.load(folder)
            except VocabularyError:
                continue

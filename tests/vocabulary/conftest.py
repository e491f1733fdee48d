"""Small real tokenizers, trained here, and random texts."""

from __future__ import annotations

import inspect
import io
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

#: Where a checkout finds outside data; tests that need it skip without it.
SHARED_DATA = Path(__file__).resolve().parents[3] / "shared" / "data"

SENTENCES = [
    "The quick brown fox jumps over the lazy dog, doesn't it?  Twice  a day.",
    'They said: "Call me {\\"name\\": \\"Ann\\", \\"age\\": 31} or [1, 2.5e-3, null, true]!"',
    "Zwölf Boxkämpfer jagen Eva quer über den großen Sylter Deich; ça coûte 20 €.",
    "いろはにほへと ちりぬるを 我が世誰ぞ 常ならむ 有為の奥山 今日越えて。",
    "天地玄黄 宇宙洪荒 日月盈昃 辰宿列張",
    "نص حكيم له سر قاطع وذو شأن عظيم",
    "Съешь же ещё этих мягких французских булок, да выпей чаю",
    "def f(x):\n\treturn x ** 2  # tab\r\n\n\nprint(f(3))",
    "👍🏽 emoji 👩‍👩‍👧 🇯🇵 😀😀 ✅ → ← ∑ ½",
]

_POOLS = [
    [chr(c) for c in range(0x20, 0x7F)],
    [chr(c) for c in range(0x20)] + ["\x7f", "\x85", "\u2028", "\ufeff", "\u200b"],
    [chr(c) for c in range(0x4E00, 0x4F00)] + list("、。「」ァィー"),
    ["😀", "👍🏽", "👩‍👩‍👧", "🇯🇵", "✅", "🏴\U000e0067\U000e007f", "\ufe0f"],
    [chr(c) for c in range(0x600, 0x6FF)] + ["e\u0301", "ñ", "ß", "İ"],
    ["  ", "\n\n", "\t", "▁", "<0x0A>", "the ", " fox", "##", "Ġ", '{"a": 1}', "123"],
]


def random_texts(count: int, seed: int = 7) -> list[str]:
    """Draw texts of mixed scripts, control characters, emoji and any other code points."""
    source = random.Random(seed)
    texts = []
    for _ in range(count):
        pools = source.sample(_POOLS, source.randint(1, 3))
        text = "".join(source.choice(source.choice(pools)) for _ in range(source.randint(1, 40)))
        if source.random() < 0.3:
            points = [source.randrange(1, 0x110000) for _ in range(3)]
            text += "".join(chr(p) for p in points if not 0xD800 <= p < 0xE000)
        texts.append(text)
    return texts


def known_texts(count: int, seed: int = 11) -> list[str]:
    """Draw texts of the characters and words that the small tokenizers are trained on."""
    source = random.Random(seed)
    letters = sorted(set("".join(SENTENCES)))
    words = [word for sentence in SENTENCES for word in sentence.split()]
    texts = []
    for _ in range(count):
        text = ""
        for _ in range(source.randint(1, 12)):
            text += source.choice(source.choice([letters, words, [" ", "  "]]))
        texts.append(text)
    return texts


def corpus() -> Iterator[str]:
    for _ in range(4):
        yield from SENTENCES
    yield from inspect.getsource(json.decoder).splitlines()
    yield from inspect.getsource(inspect).splitlines()[:800]


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep the user's cache out of the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKBENCH_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(autouse=True)
def _fresh_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give each test an empty cache."""
    monkeypatch.setenv("WORKBENCH_CACHE_DIR", str(tmp_path / "cache of this test"))


@pytest.fixture(scope="session")
def byte_level() -> Any:
    """A GPT-2 style byte-level BPE tokenizer with the full byte alphabet."""
    tk = pytest.importorskip("tokenizers")
    tokenizer = tk.Tokenizer(tk.models.BPE())
    tokenizer.pre_tokenizer = tk.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = tk.decoders.ByteLevel()
    trainer = tk.trainers.BpeTrainer(
        vocab_size=1200,
        special_tokens=["<|endoftext|>"],
        initial_alphabet=tk.pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(corpus(), trainer)
    tokenizer.add_tokens([tk.AddedToken("<tool>", normalized=False), "🦙é▁"])
    return tokenizer


@pytest.fixture(scope="session")
def byte_fallback() -> Any:
    """A Llama-2 style BPE tokenizer: dummy prefix, spaces as ▁, all 256 byte tokens."""
    tk = pytest.importorskip("tokenizers")
    tokenizer = tk.Tokenizer(tk.models.BPE(unk_token="<unk>", fuse_unk=True))
    tokenizer.normalizer = tk.normalizers.Sequence(
        [tk.normalizers.Prepend("▁"), tk.normalizers.Replace(" ", "▁")]
    )
    trainer = tk.trainers.BpeTrainer(
        vocab_size=900, special_tokens=["<unk>", "<s>", "</s>"], show_progress=False
    )
    tokenizer.train_from_iterator(corpus(), trainer)
    tokenizer.decoder = tk.decoders.Sequence(
        [
            tk.decoders.Replace("▁", " "),
            tk.decoders.ByteFallback(),
            tk.decoders.Fuse(),
            tk.decoders.Strip(" ", 1, 0),
        ]
    )
    data = json.loads(tokenizer.to_str())
    vocab = data["model"]["vocab"]
    for b in range(256):
        vocab[f"<0x{b:02X}>"] = len(vocab)
    data["model"]["byte_fallback"] = True
    return tk.Tokenizer.from_str(json.dumps(data))


@pytest.fixture(scope="session")
def unigram() -> Any:
    """A T5 style Unigram tokenizer with Metaspace."""
    tk = pytest.importorskip("tokenizers")
    tokenizer = tk.Tokenizer(tk.models.Unigram())
    tokenizer.pre_tokenizer = tk.pre_tokenizers.Metaspace()
    tokenizer.decoder = tk.decoders.Metaspace()
    trainer = tk.trainers.UnigramTrainer(
        vocab_size=700,
        special_tokens=["<pad>", "</s>", "<unk>"],
        unk_token="<unk>",
        show_progress=False,
    )
    tokenizer.train_from_iterator(corpus(), trainer)
    return tokenizer


@pytest.fixture(scope="session")
def word_piece() -> Any:
    """A BERT style WordPiece tokenizer (cased)."""
    tk = pytest.importorskip("tokenizers")
    tokenizer = tk.Tokenizer(tk.models.WordPiece(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = tk.pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = tk.decoders.WordPiece(prefix="##", cleanup=True)
    trainer = tk.trainers.WordPieceTrainer(
        vocab_size=900, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]"], show_progress=False
    )
    tokenizer.train_from_iterator(corpus(), trainer)
    return tokenizer


def train_sentencepiece(model_type: str, **options: Any) -> bytes:
    spm = pytest.importorskip("sentencepiece")
    model = io.BytesIO()
    spm.SentencePieceTrainer.train(
        sentence_iterator=iter([line for line in corpus() if line.strip()]),
        model_writer=model,
        model_type=model_type,
        vocab_size=900,
        hard_vocab_limit=False,
        normalization_rule_name="identity",
        remove_extra_whitespaces=False,
        minloglevel=2,
        **options,
    )
    return model.getvalue()


@pytest.fixture(scope="session")
def sentencepiece_bpe() -> bytes:
    """The bytes of a SentencePiece BPE model with byte fallback."""
    return train_sentencepiece("bpe", byte_fallback=True, user_defined_symbols=["<tool>"])

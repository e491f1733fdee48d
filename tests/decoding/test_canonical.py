"""Cutting a text as the tokenizer does, judged by the tokenizer on the whole text."""

from __future__ import annotations

import random
from typing import Any

import pytest

pytest.importorskip("torch", reason="torch is not installed")

from tests.decoding.scripted import scripted
from workbench.decoding import generate
from workbench.decoding.canonical import Canonical
from workbench.engine import compile
from workbench.frontends.regex import regex
from workbench.vocabulary import Vocabulary

TEXT = 'the name: "the theme", then: "th\u00e9\u20ac" the end.'


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    """Byte-level BPE without a splitter, so that tokens reach over words."""
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    made.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=330, initial_alphabet=alphabet, special_tokens=["<end>"], show_progress=False
    )
    made.train_from_iterator([TEXT] * 20, trainer)
    return transformers.PreTrainedTokenizerFast(tokenizer_object=made, eos_token="<end>")


@pytest.fixture(scope="module")
def words(tokenizer: Any) -> Vocabulary:
    return Vocabulary.load(tokenizer)


def ids_of(tokenizer: Any, text: str) -> list[int]:
    return list(tokenizer(text, add_special_tokens=False)["input_ids"])


def random_texts(count: int) -> list[str]:
    source = random.Random(1)
    pieces = [TEXT[i:j] for i in range(len(TEXT)) for j in range(i + 1, len(TEXT))]
    return ["".join(source.choices(pieces, k=2)) for _ in range(count)]


def test_a_text_alone_is_cut_as_the_tokenizer_does(tokenizer: Any, words: Vocabulary) -> None:
    canonical = Canonical(tokenizer, words)
    for text in random_texts(60):
        assert canonical.tokens([], text.encode()) == ids_of(tokenizer, text)


def test_a_text_in_another_one(tokenizer: Any, words: Vocabulary) -> None:
    """The bytes are those of the text; where the tokenizer begins a token at the seam, so are the tokens."""
    canonical = Canonical(tokenizer, words)
    kept = replaced = 0
    for text in random_texts(60):
        whole = ids_of(tokenizer, text)
        data = text.encode()
        for at in range(1, len(text)):
            before = ids_of(tokenizer, text[:at])[-8:]
            context = words.decode(before)
            rest = text[at:].encode()
            tokens = canonical.tokens(before, rest)
            assert words.decode(tokens) == rest
            count, across = canonical.across(before, rest)
            again = words.decode(before[len(before) - count :])
            assert words.decode(across) == again + rest
            # judged by the tokenizer on the context and the rest together
            if len(data) - len(rest) == len(context):
                if before + tokens == whole:
                    kept += 1
                if count and before[: len(before) - count] + across == whole:
                    replaced += 1
                    assert before + tokens != whole
    assert kept > 50 and replaced > 50


def test_bytes_that_break_off_inside_a_character(tokenizer: Any, words: Vocabulary) -> None:
    canonical = Canonical(tokenizer, words)
    euro = "th\u20ac".encode()
    assert words.decode(canonical.tokens([], euro[:-1])) == b"th"
    assert canonical.tokens([], euro[2:3]) == []
    # no UTF-8 at all: the longest tokens
    assert words.decode(canonical.tokens([], b"the\xff\xfe")) == b"the\xff\xfe"


def test_without_a_tokenizer_the_longest_tokens() -> None:
    tokens = [b"", b"a", b"b", b"ab", b"abc", b"bc"]
    canonical = Canonical(None, Vocabulary.from_bytes(tokens, eos_ids=0))
    assert canonical.tokens([1], b"abcab") == [4, 3]
    assert canonical.across([1], b"bca") == (0, [5, 1])
    assert canonical.tokens([], b"abx") == []
    assert canonical.longer(b"ab").tolist() == [4]
    assert canonical.longer(b"a").tolist() == [3, 4]
    assert canonical.longer(b"c").tolist() == []


def test_tokens_that_go_on_after_the_highest_byte() -> None:
    tokens = [b"", b"\xff", b"\xff\xff", b"\xff\x00", b"a"]
    canonical = Canonical(None, Vocabulary.from_bytes(tokens, eos_ids=0))
    assert sorted(canonical.longer(b"\xff").tolist()) == [2, 3]


def test_what_is_put_in_is_cut_together_with_the_token_before(
    tokenizer: Any, words: Vocabulary
) -> None:
    """The model takes "t"; the tokenizer writes "the" with one token, which takes its place."""
    whole = ids_of(tokenizer, "the name: ")
    assert len(words.token_bytes(whole[0])) > 1
    letter = ids_of(tokenizer, "t")[0]

    def script(tokens: tuple[int, ...]) -> list[float]:
        return [float(i == letter) for i in range(words.width)]

    model = scripted(script, words, tokenizer)
    rules = compile(regex("(the name: |xyz)[01]"), words)
    plain = generate(model, [5], rules)
    assert plain.token_ids[0] == letter
    seen: list[tuple[int, bytes]] = []
    out = generate(
        model, [5], rules, fast_forward="inject",
        on_step=lambda step: seen.append((step.index, step.token_bytes)),
    )  # fmt: skip
    sure = [step for step in out.trace.steps if step.draft == "injected"]
    assert [step.token_id for step in sure] == whole[: len(sure)] and sure
    assert out.text[:-1] == "the name: "
    assert out.trace.drafts["replaced"] == 1
    assert seen[0] == (0, b"t") and seen[1] == (0, words.token_bytes(whole[0]))
    # a stop text is looked for in the text as it is then
    stopped = generate(model, [5], rules, fast_forward="inject", stop="tthe")
    assert stopped.finish_reason == "eos"
    assert generate(model, [5], rules, fast_forward="inject", stop="name").text == "the "


def test_the_end_of_certain_text_is_left_to_the_model(words: Vocabulary, tokenizer: Any) -> None:
    """Where an allowed token begins with the rest of the text and goes on, the tokenizer might take it."""
    the = ids_of(tokenizer, "the name: ")
    longer = Canonical(tokenizer, words).longer(words.token_bytes(the[-1]))
    assert len(longer), "the tokenizer of this test lost its longer tokens"
    goes_on = words.token_bytes(int(longer[0]))[len(words.token_bytes(the[-1])) :].decode()

    def script(tokens: tuple[int, ...]) -> list[float]:
        return [float(i == longer[0]) for i in range(words.width)]

    model = scripted(script, words, tokenizer)
    rules = compile(regex(f"the name: ({goes_on}|1)"), words)
    out = generate(model, [5], rules, fast_forward="inject")
    assert out.text == "the name: " + goes_on
    assert [step.draft for step in out.trace.steps][: len(the) - 1] == ["injected"] * (len(the) - 1)
    assert out.token_ids[len(the) - 1] == longer[0]
    assert out.trace.steps[len(the) - 1].draft == "refused"

"""A model that has learned its answer: what it wants, with and without a mask, forwards and back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import workbench as wb
from tests.notebook.tiny import tiny_model


class Letters:
    """A tokenizer of the tiny model: the longest token that fits."""

    chat_template = None

    def __init__(self, vocabulary: wb.Vocabulary) -> None:
        self.tokens = sorted(
            ((vocabulary.token_bytes(i), i) for i in range(vocabulary.size)), reverse=True
        )

    def encode(self, text: str, add_special_tokens: bool = True) -> list[int]:
        data, found = text.encode(), []
        while data:
            token, number = next(
                (t, i)
                for t, i in sorted(self.tokens, key=lambda pair: -len(pair[0]))
                if t and data.startswith(t)
            )
            found.append(number)
            data = data[len(token) :]
        return found

    def decode(self, ids: list[int], **_: Any) -> str:
        return b"".join({i: t for t, i in self.tokens}[i] for i in ids).decode()


@pytest.fixture
def model() -> wb.LoadedModel:
    tiny = tiny_model()
    return replace(tiny, tokenizer=Letters(tiny.vocabulary))


PROMPT = [1, 2]


def test_it_says_its_text_and_ends(model: wb.LoadedModel) -> None:
    out = wb.generate(wb.scripted_model('{"a":10}', model), PROMPT, max_tokens=20)
    assert (out.text, out.finish_reason) == ('{"a":10}', "eos")
    first = out.trace.steps[0]
    assert first.probability_before == pytest.approx(0.9, abs=1e-4)
    assert len(out.trace.steps) == 6, "cut as the tokenizer cuts it, and the end"


def test_a_mask_that_agrees_changes_nothing_and_one_that_does_not_is_followed(
    model: wb.LoadedModel,
) -> None:
    scripted = wb.scripted_model("ab,abc", model)
    assert wb.generate(scripted, PROMPT, wb.regex("[abc,]+"), max_tokens=20).text == "ab,abc"
    out = wb.generate(scripted, PROMPT, wb.regex("abc"), max_tokens=20)
    assert out.text == "abc"
    pushed = out.trace.steps[1]
    assert pushed.mass_removed > 0.8, "it wanted the comma"


def test_other_cuts_of_its_text_are_followed_by_the_rest_of_it(model: wb.LoadedModel) -> None:
    from workbench.decoding import Decoder

    decoder = Decoder(wb.scripted_model("ababc", model), PROMPT, wb.regex("[abc]+"))
    decoder.step(1)
    assert decoder.peek().token_bytes == b"b"
    while not decoder.is_finished:
        decoder.step()
    assert decoder.trace.text == "ababc"
    decoder.back(len(decoder.trace.steps))
    assert decoder.peek().token_bytes == b"aba", "back at the start as at first"
    decoder.step(2)
    assert decoder.peek().token_id == 0, "it has left its text"


@pytest.mark.parametrize("certainty", [0, 1, -0.5, 2])
def test_a_certainty_is_a_probability(model: wb.LoadedModel, certainty: Any) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        wb.scripted_model("a", model, certainty=certainty)


def test_wrong_arguments_are_told(model: wb.LoadedModel) -> None:
    with pytest.raises(wb.WrongType, match="a text"):
        wb.scripted_model(b"a", model)  # type: ignore[arg-type]
    with pytest.raises(wb.WrongType, match="load_model"):
        wb.scripted_model("a", "gpt2")  # type: ignore[arg-type]

"""Whole runs: why they end, what they return, and the packaged model under real grammars."""

from __future__ import annotations

import json
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from tests.decoding.fakes import FakeCompiled  # noqa: E402
from workbench.decoding import Decoder, Trace, TraceStep, generate  # noqa: E402
from workbench.engine import CompiledGrammar  # noqa: E402
from workbench.errors import DeadEnd  # noqa: E402
from workbench.frontends.compose import capture, seq  # noqa: E402
from workbench.frontends.json_schema import json_schema  # noqa: E402
from workbench.frontends.regex import regex  # noqa: E402
from workbench.models import LoadedModel  # noqa: E402
from workbench.vocabulary import Vocabulary  # noqa: E402

PROMPT = [2, 5, 9]


def test_what_was_captured(tiny: LoadedModel, vocabulary: Vocabulary) -> None:
    text = capture("all", seq(capture("first", regex("[a-c]")), capture("rest", regex("[0-9]{2}"))))
    out = generate(tiny, PROMPT, text)
    assert out.finish_reason == "eos" and len(out.text) == 3
    data = out.text.encode()
    assert [(c.name, c.start, c.end, c.bytes) for c in out.captures] == [
        ("all", 0, 3, data),
        ("first", 0, 1, data[:1]),
        ("rest", 1, 3, data[1:]),
    ]
    # of a text that is not complete, or was cut, nothing is told
    assert generate(tiny, PROMPT, text, max_tokens=1).captures == ()
    assert generate(tiny, PROMPT, text, stop=list("0123456789")).captures == ()
    assert generate(tiny, PROMPT, regex("[a-c]")).captures == ()
    assert generate(tiny, PROMPT, max_tokens=2).captures == ()


def test_ends_at_an_end_token(tiny: LoadedModel, vocabulary: Vocabulary) -> None:
    out = generate(tiny, PROMPT, FakeCompiled(vocabulary, (b"ab0",)))
    assert (out.text, out.finish_reason) == ("ab0", "eos")
    assert out.token_ids[-1] in tiny.eos_ids
    assert out.trace.steps[-1].kind == "eos"
    assert out.trace.finish_reason == "eos"
    assert repr(out).endswith("eos: 'ab0'>")


@pytest.mark.parametrize("max_tokens", [0, 1, 4])
def test_ends_at_max_tokens(tiny: LoadedModel, letters: CompiledGrammar, max_tokens: int) -> None:
    out = generate(tiny, PROMPT, letters, max_tokens=max_tokens)
    assert out.finish_reason == "length"
    assert len(out.token_ids) == max_tokens
    assert (
        out.text == generate(tiny, PROMPT, letters, max_tokens=9, trace=False).text[: len(out.text)]
    )


def test_an_end_token_at_the_last_place_is_an_end(
    tiny: LoadedModel, vocabulary: Vocabulary
) -> None:
    compiled = FakeCompiled(vocabulary, (b"j",))
    assert generate(tiny, PROMPT, compiled, max_tokens=2).finish_reason == "eos"
    assert generate(tiny, PROMPT, compiled, max_tokens=1).finish_reason == "length"


def test_ends_at_a_stop_text(tiny: LoadedModel, vocabulary: Vocabulary) -> None:
    compiled = FakeCompiled(vocabulary, (b"cabcj",), hide=frozenset({13, 14, 15}))
    out = generate(tiny, PROMPT, compiled, stop=["bc", "zz"])
    assert (out.text, out.finish_reason) == ("ca", "stop")
    assert out.trace.text == "cabc"
    assert generate(tiny, PROMPT, compiled, stop="zz").finish_reason == "eos"
    with pytest.raises(ValueError, match="stop"):
        generate(tiny, PROMPT, compiled, stop="")
    with pytest.raises(ValueError, match="max_tokens"):
        generate(tiny, PROMPT, compiled, max_tokens=-1)


def test_a_dead_end_is_never_sampled(tiny: LoadedModel, vocabulary: Vocabulary) -> None:
    compiled = FakeCompiled(vocabulary, (b"ab0",), hide=frozenset({16, 18}))
    with pytest.raises(DeadEnd) as caught:
        generate(tiny, PROMPT, compiled)
    trace = caught.value.trace
    assert trace.text == "ab"
    assert trace.finish_reason == "dead_end"
    assert trace.timings["total_ms"] > 0


def test_an_interrupt_returns_what_there_is(tiny: LoadedModel, letters: CompiledGrammar) -> None:
    def interrupt(step: TraceStep) -> None:
        if step.index == 3:
            raise KeyboardInterrupt

    out = generate(tiny, PROMPT, letters, on_step=interrupt)
    assert out.finish_reason == out.trace.finish_reason == "interrupted"
    assert len(out.token_ids) == 4
    assert Trace.from_json(out.trace.to_json()) == out.trace


def test_steps_are_shown_as_they_come(
    tiny: LoadedModel, letters: CompiledGrammar, capsys: pytest.CaptureFixture[str]
) -> None:
    seen: list[TraceStep] = []
    out = generate(tiny, PROMPT, letters, max_tokens=5, on_step=seen.append, progress=True)
    assert seen == out.trace.steps
    assert "tokens" in capsys.readouterr().err
    generate(tiny, PROMPT, letters, max_tokens=5)
    assert capsys.readouterr().err == ""


def test_times_and_settings(tiny: LoadedModel, letters: CompiledGrammar) -> None:
    out = generate(tiny, PROMPT, letters, max_tokens=5, temperature=0.5, top_k=3, seed=4)
    times, steps = out.trace.timings, out.trace.steps
    assert times["prompt_ms"] == steps[0].forward_ms
    assert times["forward_ms"] == pytest.approx(sum(s.forward_ms for s in steps[1:]))
    assert times["mask_ms"] == pytest.approx(times["mask_hidden_ms"] + times["mask_exposed_ms"])
    assert times["total_ms"] > times["forward_ms"] + times["prompt_ms"]
    assert out.trace.settings == {
        "temperature": 0.5,
        "top_k": 3,
        "top_p": None,
        "min_p": None,
        "seed": 4,
        "max_tokens": 5,
        "stop": [],
    }


def test_generating_is_stepping(tiny: LoadedModel, letters: CompiledGrammar) -> None:
    options: dict[str, Any] = {"temperature": 2.0, "seed": 3}
    out = generate(tiny, PROMPT, letters, max_tokens=9, **options)
    from workbench.decoding import Sampling

    decoder = Decoder(tiny, PROMPT, letters, sampling=Sampling(**options))
    assert [decoder.step().token_id for _ in out.token_ids] == list(out.token_ids)


SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 12},
        "age": {"type": "integer", "minimum": 0, "maximum": 120},
        "tags": {"type": "array", "items": {"enum": ["cat", "dog"]}, "minItems": 1, "maxItems": 2},
    },
    "required": ["name", "age", "tags"],
    "additionalProperties": False,
}


@pytest.mark.model
def test_the_packaged_model_writes_an_object(model: LoadedModel) -> None:
    import jsonschema

    out = generate(model, "Invent a pet as JSON.", json_schema(SCHEMA), max_tokens=80)
    assert out.finish_reason == "eos"
    jsonschema.validate(json.loads(out.text), SCHEMA)
    assert out.trace.steps[0].probability_after >= out.trace.steps[0].probability_before
    assert Trace.from_json(out.trace.to_json()) == out.trace
    assert len(out.trace.to_json()) < 6000 * len(out.trace.steps)


@pytest.mark.model
def test_the_packaged_model_answers(model: LoadedModel) -> None:
    free = generate(model, "What is the capital of Japan?", max_tokens=12)
    assert "Tokyo" in free.text
    assert free.finish_reason == "eos"
    question = [{"role": "user", "content": "In which year did the first man land on the moon?"}]
    out = generate(model, question, regex("[0-9]{4}"), max_tokens=8)
    assert (out.text, out.finish_reason) == ("1969", "eos")
    assert [step.kind for step in out.trace.steps[-1:]] == ["eos"]


@pytest.mark.model
@pytest.mark.parametrize("seed", [1, 2])
def test_sampled_texts_match(model: LoadedModel, seed: int) -> None:
    import re

    pattern = r"(red|green|blue) [a-z]{3,6}!"
    out = generate(
        model,
        "Describe a flower.",
        regex(pattern),
        temperature=1.5,
        top_p=0.9,
        min_p=0.01,
        seed=seed,
        max_tokens=16,
    )
    assert out.finish_reason == "eos"
    assert re.fullmatch(pattern, out.text)


@pytest.mark.model
def test_what_cannot_be_spelled_is_a_dead_end_or_refused(model: LoadedModel) -> None:
    """The vocabulary has no token for byte 04: never an unmasked step."""
    from workbench.errors import UnsatisfiableGrammar

    with pytest.raises((DeadEnd, UnsatisfiableGrammar)):
        generate(model, "x", regex("a\\x04"), max_tokens=4)

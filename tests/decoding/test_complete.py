"""Runs that are to be complete within their tokens: the loop, the decoder, the processor, the trace."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from tests.decoding.test_processor import LETTERS, PROMPTS, ended, run  # noqa: E402
from workbench.decoding import Decoder, GrammarLogitsProcessor, generate  # noqa: E402
from workbench.decoding.trace import Trace  # noqa: E402
from workbench.engine import CompiledGrammar, compile as compile_grammar  # noqa: E402
from workbench.engine.matching import match  # noqa: E402
from workbench.errors import BudgetTooSmall, UnsatisfiableGrammar, WorkbenchError  # noqa: E402
from workbench.frontends.regex import regex  # noqa: E402
from workbench.models import LoadedModel  # noqa: E402
from workbench.vocabulary import Vocabulary  # noqa: E402

PROMPT = [2, 5, 9]
#: "abc" or "ab" and then letters, "10" or a digit, an end: abc | c + [a-e]{2}, 0, end
LEAST = 4


@pytest.mark.parametrize("more", range(6))
def test_is_complete_within_its_tokens(
    tiny: LoadedModel, letters: CompiledGrammar, more: int
) -> None:
    for seed in range(6):
        out = generate(
            tiny,
            PROMPT,
            letters,
            max_tokens=LEAST + more,
            complete=True,
            temperature=5.0,
            seed=seed,
        )
        assert out.finish_reason == "eos" and len(out.token_ids) <= LEAST + more
        assert LETTERS.fullmatch(out.text.encode())


@pytest.mark.parametrize("fast_forward", ["verify", "inject"])
@pytest.mark.parametrize("more", range(8))
def test_text_that_must_come_keeps_to_the_budget(
    tiny: LoadedModel, fast_forward: Any, more: int
) -> None:
    """What is put in may be cut into more tokens than are left: then it comes as the mask lets it."""
    grammar = regex("(abc|bca)abab[abc]{1,9}cab10?")
    least = compile_grammar(grammar, tiny.vocabulary).matcher().least_tokens()
    for seed in range(4):
        options = {"temperature": 3.0, "seed": seed, "complete": True, "max_tokens": least + more}
        out = generate(tiny, PROMPT, grammar, fast_forward=fast_forward, **options)
        assert out.finish_reason == "eos" and len(out.token_ids) <= least + more
        assert match(grammar, out.text)
        if fast_forward == "verify":
            assert out.token_ids == generate(tiny, PROMPT, grammar, **options).token_ids


def test_too_few_tokens(tiny: LoadedModel, letters: CompiledGrammar) -> None:
    with pytest.raises(BudgetTooSmall, match="needs at least 4") as error:
        generate(tiny, PROMPT, letters, max_tokens=LEAST - 1, complete=True)
    assert (error.value.given, error.value.minimum) == (LEAST - 1, LEAST)


def test_the_context_is_a_budget_too(tiny: LoadedModel, letters: CompiledGrammar) -> None:
    assert tiny.context_size == 64
    out = generate(tiny, [2] * 60, letters, max_tokens=200, complete=True)
    assert out.finish_reason == "eos"
    with pytest.raises(BudgetTooSmall):
        generate(tiny, [2] * 61, letters, max_tokens=200, complete=True)


def test_a_budget_that_is_not_near_changes_nothing(
    tiny: LoadedModel, letters: CompiledGrammar
) -> None:
    plain = generate(tiny, PROMPT, letters, max_tokens=55)
    assert plain.finish_reason == "eos"
    assert (
        generate(tiny, PROMPT, letters, max_tokens=55, complete=True).token_ids == plain.token_ids
    )


def test_the_trace_tells_the_budget(tiny: LoadedModel, letters: CompiledGrammar) -> None:
    trace = generate(tiny, PROMPT, letters, max_tokens=LEAST, complete=True).trace
    assert trace.settings["complete"] is True
    assert [step.budget_left for step in trace.steps] == [4, 3, 2, 1]
    mask = letters.matcher().allowed_ids()
    assert trace.steps[0].allowed_count + trace.steps[0].budget_removed == len(mask)
    assert trace.steps[0].budget_removed > 0
    assert Trace.from_json(trace.to_json()).steps[0].budget_removed == trace.steps[0].budget_removed
    plain = generate(tiny, PROMPT, letters, max_tokens=LEAST).trace
    assert "complete" not in plain.settings
    assert {(step.budget_left, step.budget_removed) for step in plain.steps} == {(0, 0)}


def test_stepping_keeps_to_the_budget(tiny: LoadedModel, letters: CompiledGrammar) -> None:
    decoder = Decoder(tiny, PROMPT, letters, budget=LEAST)
    tokens = [decoder.vocabulary.token_bytes(i) for i in range(decoder.vocabulary.size)]
    with pytest.raises(WorkbenchError, match="fits into the 4 tokens"):
        decoder.step(tokens.index(b"a"))
    other = decoder.fork()
    for one in (decoder, other):
        while not one.is_finished:
            one.step()
        assert LETTERS.fullmatch(one.text.encode())
    decoder.back(2)
    assert decoder.matcher.tokens_left == 2
    decoder.step()
    decoder.step()
    assert decoder.trace.finish_reason == "eos"


def test_without_a_grammar(tiny: LoadedModel) -> None:
    out = generate(tiny, PROMPT, max_tokens=3, complete=True, temperature=9.0, seed=1)
    assert out.finish_reason == "eos" and len(out.token_ids) <= 3
    with pytest.raises(BudgetTooSmall):
        generate(tiny, PROMPT, max_tokens=0, complete=True)


def test_what_nothing_completes(tiny: LoadedModel) -> None:
    with pytest.raises(UnsatisfiableGrammar):
        generate(tiny, PROMPT, regex("a[kz]"), complete=True)


def test_the_processor(tiny: LoadedModel, letters: CompiledGrammar) -> None:
    for tokens in (LEAST, LEAST + 1, LEAST + 3):
        torch.manual_seed(tokens)
        processor = GrammarLogitsProcessor(letters, max_tokens=tokens)
        got = run(tiny, processor, PROMPTS, max_new_tokens=tokens, do_sample=True, temperature=5.0)
        for row in got:
            done = ended(row)
            assert done[-1] in (0, 1) and len(done) <= tokens
            assert LETTERS.fullmatch(tiny.vocabulary.decode(done))
    with pytest.raises(BudgetTooSmall):
        run(tiny, GrammarLogitsProcessor(letters, max_tokens=3), PROMPTS, max_new_tokens=9)


@pytest.mark.slow
@pytest.mark.model
def test_the_examples_of_the_page_work(model: LoadedModel, vocabulary: Vocabulary) -> None:
    text = (Path(__file__).parents[2] / "docs" / "budgets.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(blocks) > 1
    names: dict[str, Any] = {"model": model}
    for block in blocks:
        exec(block, names)
    assert names["out"].finish_reason == "eos"

"""The grammar inside plain ``model.generate``."""

from __future__ import annotations

import re
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from tests.decoding.conftest import TOKENS  # noqa: E402
from tests.decoding.fakes import FakeCompiled  # noqa: E402
from workbench.decoding import GrammarLogitsProcessor, generate  # noqa: E402
from workbench.engine import CompiledGrammar, compile  # noqa: E402
from workbench.errors import DeadEnd, WorkbenchError  # noqa: E402
from workbench.frontends.gbnf import gbnf  # noqa: E402
from workbench.frontends.regex import regex  # noqa: E402
from workbench.models import LoadedModel  # noqa: E402
from workbench.vocabulary import Vocabulary  # noqa: E402

LETTERS = re.compile(rb"(ab|c)[a-e]{2,30}[01]+")
PROMPTS = [[2, 5, 9], [7, 7, 12, 3, 8], [4]]


def padded(prompts: list[list[int]]) -> dict[str, Any]:
    width = max(map(len, prompts))
    ids = [[0] * (width - len(p)) + p for p in prompts]
    mask = [[0] * (width - len(p)) + [1] * len(p) for p in prompts]
    return {"input_ids": torch.tensor(ids), "attention_mask": torch.tensor(mask)}


def run(
    model: LoadedModel, processor: Any, prompts: list[list[int]], **options: Any
) -> list[list[int]]:
    inputs = padded(prompts)
    with torch.no_grad():
        out = model.model.generate(**inputs, logits_processor=[processor], **options)
    return [row[inputs["input_ids"].shape[1] :] for row in out.tolist()]


def ended(tokens: list[int]) -> list[int]:
    """Up to and with the first end token."""
    ends = [i for i, t in enumerate(tokens) if t in (0, 1)]
    return tokens[: ends[0] + 1] if ends else tokens


def test_equals_our_own_loop(tiny: LoadedModel, letters: CompiledGrammar) -> None:
    for prompt in PROMPTS:
        want = list(generate(tiny, prompt, letters, max_tokens=20, trace=False).token_ids)
        got = run(
            tiny, GrammarLogitsProcessor(letters), [prompt], max_new_tokens=20, do_sample=False
        )
        assert ended(got[0]) == want


def test_each_row_of_a_batch_is_its_single_run(tiny: LoadedModel, letters: CompiledGrammar) -> None:
    got = run(tiny, GrammarLogitsProcessor(letters), PROMPTS, max_new_tokens=20, do_sample=False)
    want = [generate(tiny, p, letters, max_tokens=20, trace=False).token_ids for p in PROMPTS]
    assert [ended(row) for row in got] == [list(row) for row in want]


def test_rows_that_end_early(tiny: LoadedModel, vocabulary: Vocabulary) -> None:
    """Short and long texts in one batch; the short rows are padded while the others go on."""
    compiled = compile(regex("c|d[a-e]{6}"), vocabulary)
    torch.manual_seed(0)
    got = run(
        tiny,
        GrammarLogitsProcessor(compiled),
        PROMPTS * 6,
        max_new_tokens=12,
        do_sample=True,
        temperature=3.0,
    )
    texts = {vocabulary.decode(ended(row)) for row in got}
    assert b"c" in texts
    assert len(texts) > 2
    assert all(re.fullmatch(rb"c|d[a-e]{6}", text) for text in texts)
    assert all(set(row[len(ended(row)) :]) <= {0} for row in got)


def test_sampled_sequences(tiny: LoadedModel, letters: CompiledGrammar) -> None:
    torch.manual_seed(0)
    got = run(
        tiny,
        GrammarLogitsProcessor(letters),
        PROMPTS,
        max_new_tokens=40,
        do_sample=True,
        temperature=2.0,
        num_return_sequences=4,
    )
    finished = [ended(row) for row in got if ended(row)[-1] in (0, 1)]
    assert len(got) == 12
    assert len(finished) > 3
    for row in finished:
        assert LETTERS.fullmatch(tiny.vocabulary.decode(row))


@pytest.mark.parametrize("pattern", ["(ab|c)[a-e]{2,8}[01]{1,3}", "abc(a|b)0{1,3}"])
def test_beam_search(tiny: LoadedModel, vocabulary: Vocabulary, pattern: str) -> None:
    compiled = compile(regex(pattern), vocabulary)
    got = run(
        tiny,
        GrammarLogitsProcessor(compiled, beams=True),
        PROMPTS,
        max_new_tokens=24,
        do_sample=False,
        num_beams=4,
    )
    for row in got:
        assert ended(row)[-1] in (0, 1)
        assert re.fullmatch(pattern, vocabulary.decode(ended(row)).decode())


def test_beam_search_finds_a_better_text(tiny: LoadedModel, vocabulary: Vocabulary) -> None:
    """Against the scores of all texts of a small language: four beams of four find the best."""
    texts = ["ag", "ah", "bg", "bh"]
    compiled = compile(regex("[ab][gh]"), vocabulary)
    prompt = PROMPTS[0]

    def score(text: str) -> float:
        """Log probability under the masked model, which is what generate adds up."""
        matcher, ids, total = compiled.matcher(), list(prompt), 0.0
        for token in [*(3 + ord(c) - 97 for c in text), 0]:
            with torch.no_grad():
                logits = tiny.model(torch.tensor([ids])).logits[0, -1].double()
            total += float(torch.log_softmax(logits, 0)[token])
            assert matcher.accept(token)
            ids.append(token)
        return total

    best = max(texts, key=score)
    processor = GrammarLogitsProcessor(compiled, beams=True)
    got = run(
        tiny,
        processor,
        [prompt],
        max_new_tokens=4,
        do_sample=False,
        num_beams=8,
        length_penalty=0.0,
    )
    assert vocabulary.decode(ended(got[0])).decode() == best


def test_moved_doubled_and_dropped_rows(tiny: LoadedModel, letters: CompiledGrammar) -> None:
    """What beam search does, without it: each row's mask depends on the row's tokens alone."""
    processor = GrammarLogitsProcessor(letters, prompt_length=2)
    a, b, c, d, ab, zero = 3, 4, 5, 6, 13, 16
    calls = [
        [[a], [c], [ab]],
        [[c, a], [c, b], [a, b]],
        [[a, b, d], [c, b, d], [c, b, a]],
        [[c, b, a, zero], [c, b, a, zero, 0], [ab]],
        [[], [a], [c, b, a, zero, 1]],
    ]
    for rows in calls:
        for tokens in rows:
            matcher = letters.matcher()
            assert matcher.accept_tokens(tokens) == len(tokens)
        width = max(map(len, rows))
        for row in rows:  # one width a call, so that each shape of history comes alone
            ids = torch.tensor([[9, 9, *r][: 2 + len(row)] for r in rows if len(r) >= len(row)])
            scores = processor(ids, torch.zeros(len(ids), tiny.vocabulary.width))
            for got, tokens in zip(scores, ids.tolist(), strict=True):
                matcher = letters.matcher()
                for token in tokens[2:]:
                    matcher.accept(token)
                allowed = [matcher.fork().accept(t) for t in range(tiny.vocabulary.size)]
                if matcher.is_terminated:
                    allowed = [t in (0, 1) for t in range(tiny.vocabulary.size)]
                seen = torch.isfinite(got).tolist()
                assert seen == allowed + [False] * (tiny.vocabulary.width - len(allowed))
        assert width


def test_one_processor_for_several_runs(tiny: LoadedModel, letters: CompiledGrammar) -> None:
    processor = GrammarLogitsProcessor(letters)
    options: dict[str, Any] = {"max_new_tokens": 12, "do_sample": False}
    first = run(tiny, processor, [PROMPTS[0]], **options)
    assert run(tiny, processor, [PROMPTS[0]], **options) == first
    second = run(tiny, processor, [PROMPTS[1]], **options)
    assert second == run(tiny, GrammarLogitsProcessor(letters), [PROMPTS[1]], **options)
    processor.reset()
    assert run(tiny, processor, PROMPTS[:2], **options)[0][:5] == first[0][:5]


def test_a_jump_is_refused_rather_than_guessed(tiny: LoadedModel, letters: CompiledGrammar) -> None:
    processor = GrammarLogitsProcessor(letters)
    scores = torch.zeros(1, tiny.vocabulary.width)
    processor(torch.tensor([[9, 9]]), scores.clone())
    with pytest.raises(WorkbenchError, match="reset"):
        processor(torch.tensor([[9, 9, 5, 3]]), scores.clone())
    with pytest.raises(WorkbenchError, match="said to be 3"):
        GrammarLogitsProcessor(letters, prompt_length=3)(torch.tensor([[9, 9]]), scores)


def test_a_token_forced_by_another_processor(tiny: LoadedModel, letters: CompiledGrammar) -> None:
    class Force:
        def __call__(self, ids: Any, scores: Any) -> Any:
            scores[:] = float("-inf")
            scores[:, 12] = 0.0
            return scores

    with (
        torch.no_grad(),
        pytest.raises(WorkbenchError, match=r"row 0 holds 'j'.*another processor"),
    ):
        tiny.model.generate(
            **padded([PROMPTS[0]]),
            logits_processor=[GrammarLogitsProcessor(letters), Force()],
            max_new_tokens=4,
            do_sample=False,
        )


def test_a_dead_end_is_raised(tiny: LoadedModel, vocabulary: Vocabulary) -> None:
    compiled = FakeCompiled(vocabulary, (b"ab0",), hide=frozenset({16, 18}))
    with pytest.raises(DeadEnd, match="row 0: no token may come next after 'ab'"):
        run(tiny, GrammarLogitsProcessor(compiled), [PROMPTS[0]], max_new_tokens=6, do_sample=False)


@pytest.mark.model
def test_a_batch_on_the_packaged_model(model: LoadedModel) -> None:
    compiled = compile(regex(r"\{\"year\": [0-9]{4}\}|unknown"), model.vocabulary)
    questions = ["In which year did the first man land on the moon?", "When did Bach die?"]
    inputs = model.tokenizer.apply_chat_template(
        [[{"role": "user", "content": q}] for q in questions],
        add_generation_prompt=True,
        return_tensors="pt",
        return_dict=True,
        padding=True,
        tokenizer_kwargs={"padding_side": "left"},
    )
    assert inputs["attention_mask"][0].sum() != inputs["attention_mask"][1].sum()
    with torch.no_grad():
        out = model.model.generate(
            **inputs,
            logits_processor=[GrammarLogitsProcessor(compiled)],
            max_new_tokens=20,
            do_sample=False,
        )
    for question, row in zip(
        questions, out[:, inputs["input_ids"].shape[1] :].tolist(), strict=True
    ):
        want = generate(model, question, compiled, max_tokens=20, trace=False)
        assert want.finish_reason == "eos"
        assert tuple(row[: len(want.token_ids)]) == want.token_ids


def test_a_lost_beam_may_only_end(tiny: LoadedModel, letters: CompiledGrammar) -> None:
    processor = GrammarLogitsProcessor(letters, beams=True, prompt_length=1)
    scores = processor(torch.tensor([[9, 3], [9, 12]]), torch.zeros(2, tiny.vocabulary.width))
    assert torch.isfinite(scores[0]).nonzero().flatten().tolist() == [4, 15]
    assert torch.isfinite(scores[1]).nonzero().flatten().tolist() == [0, 1]
    scores = processor(torch.tensor([[9, 3, 4], [9, 12, 0]]), torch.zeros(2, tiny.vocabulary.width))
    assert torch.isfinite(scores[1]).nonzero().flatten().tolist() == [0, 1]


#: turns with an end token between them
TURNS = r'root ::= [ab] <[0]> [cd] <[0]> "0"{1,3} | "0" "1"?'


def turns(ids: list[int]) -> str:
    """Tokens as letters, the end tokens as ``.`` and ``!``."""
    return "".join({0: ".", 1: "!"}.get(i, TOKENS[i].decode()) for i in ids)


def test_ends_that_the_grammar_names_inside(tiny: LoadedModel, vocabulary: Vocabulary) -> None:
    """In plain ``generate`` the text goes on behind them, if the grammar says when a row is done."""
    compiled = compile(gbnf(TURNS), vocabulary)
    processor = GrammarLogitsProcessor(compiled)
    torch.manual_seed(0)
    got = run(
        tiny,
        processor,
        PROMPTS * 4,
        max_new_tokens=12,
        do_sample=True,
        temperature=3.0,
        stopping_criteria=[processor.stopping],
        eos_token_id=[],
    )
    texts = [re.sub("(?<=[01])[.!]+$", "", turns(row)) for row in got]
    assert all(re.fullmatch(r"[ab]\.[cd]\.0{1,3}|01?", text) for text in texts)
    assert any("." in text for text in texts)
    assert len({len(text) for text in texts}) > 1
    for prompt in PROMPTS:
        want = generate(tiny, prompt, compiled, max_tokens=20, trace=False)
        processor.reset()
        (row,) = run(
            tiny,
            processor,
            [prompt],
            max_new_tokens=20,
            do_sample=False,
            stopping_criteria=[processor.stopping],
            eos_token_id=[],
        )
        assert tuple(row) == want.token_ids and want.finish_reason == "eos"


def test_rows_that_generate_ends_too_early_are_told(
    tiny: LoadedModel, vocabulary: Vocabulary
) -> None:
    compiled = compile(gbnf(TURNS), vocabulary)
    processor = GrammarLogitsProcessor(compiled, prompt_length=1)
    blank = torch.zeros(2, tiny.vocabulary.width)
    processor(torch.tensor([[9, 3], [9, 4]]), blank.clone())
    processor(torch.tensor([[9, 3, 0], [9, 4, 0]]), blank.clone())
    ids = torch.tensor([[9, 3, 0, 0], [9, 4, 0, 5]])
    with pytest.raises(WorkbenchError, match=r"ended row 0 at .* goes on: pass stopping_criteria"):
        processor(ids, blank.clone())

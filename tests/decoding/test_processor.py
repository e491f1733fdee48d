"""The grammar inside plain ``model.generate``."""

from __future__ import annotations

import dataclasses
import re
import warnings
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
transformers = pytest.importorskip("transformers", reason="transformers is not installed")

from tests.decoding.conftest import TOKENS, WIDTH  # noqa: E402
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
        GrammarLogitsProcessor(compiled),
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
    processor = GrammarLogitsProcessor(compiled)
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


# One processor, one run after another.

OPTIONS: dict[str, Any] = {"max_new_tokens": 8, "do_sample": False}


def fresh(model: LoadedModel, compiled: Any, prompts: list[list[int]], **options: Any) -> Any:
    return run(model, GrammarLogitsProcessor(compiled), prompts, **(OPTIONS | options))


@pytest.mark.parametrize("length", [1, 2, 5, 30])
@pytest.mark.parametrize("beams", [1, 3])
def test_a_second_run_from_the_first_answer(
    tiny: LoadedModel, letters: CompiledGrammar, length: int, beams: int
) -> None:
    """Cut off or ended, with its end token or without: it is a prompt like any other."""
    options: dict[str, Any] = {"max_new_tokens": length, "do_sample": False, "num_beams": beams}
    for prompt in PROMPTS:
        processor = GrammarLogitsProcessor(letters)
        answer = run(tiny, processor, [prompt], **options)[0]
        for kept in {len(answer), len(ended(answer)) - 1, 1}:
            second = prompt + answer[:kept]
            got = run(tiny, processor, [second], **options)
            assert got == fresh(tiny, letters, [second], **options)
            assert ended(got[0])[0] not in (0, 1), "the grammar has no empty text"


def test_a_second_run_from_a_longer_prompt(tiny: LoadedModel, letters: CompiledGrammar) -> None:
    processor = GrammarLogitsProcessor(letters)
    for second in ([5], [5, 9, 12], [12, 12, 12, 12, 12], [3, 4, 5, 6, 7, 8]):
        run(tiny, processor, [PROMPTS[0]], **OPTIONS)
        longer = PROMPTS[0] + second
        assert run(tiny, processor, [longer], **OPTIONS) == fresh(tiny, letters, [longer])


def test_a_run_after_one_that_failed(tiny: LoadedModel, letters: CompiledGrammar) -> None:
    class Stop(Exception):
        pass

    class Fail:
        calls = 0

        def __call__(self, ids: Any, scores: Any) -> Any:
            self.calls += 1
            if self.calls == 3:
                raise Stop
            return scores

    processor = GrammarLogitsProcessor(letters)
    with torch.no_grad(), pytest.raises(Stop) as caught:
        tiny.model.generate(**padded([PROMPTS[0]]), logits_processor=[processor, Fail()], **OPTIONS)
    second = PROMPTS[0] + fresh(tiny, letters, [PROMPTS[0]])[0][:2]
    assert run(tiny, processor, [second], **OPTIONS) == fresh(tiny, letters, [second])
    assert caught.value.__traceback__ is not None, "which keeps the failed run's frames"


def test_prompt_length_goes_on_with_a_text(tiny: LoadedModel) -> None:
    prompt = PROMPTS[1]
    letters = compile(regex("(ab|c)[a-e]{12,30}[01]+"), tiny.vocabulary)
    whole = fresh(tiny, letters, [prompt], max_new_tokens=20)[0]
    assert len(ended(whole)) > 5
    processor = GrammarLogitsProcessor(letters, prompt_length=len(prompt))
    got = run(tiny, processor, [prompt + whole[:3]], max_new_tokens=17, do_sample=False)[0]
    assert ended(got) == ended(whole)[3:]
    # given for one run, it does not hold for another one
    with pytest.raises(
        WorkbenchError, match=r"another run, its ids are 10 wide.*to be 5 for the run before"
    ):
        run(tiny, processor, [prompt + whole[:5]], **OPTIONS)
    processor.reset(prompt_length=len(prompt))
    got = run(tiny, processor, [prompt + whole[:5]], max_new_tokens=15, do_sample=False)[0]
    assert ended(got) == ended(whole)[5:]
    processor.reset(prompt_length=len(prompt))
    with pytest.raises(WorkbenchError, match=r"'j'.*stands behind the prompt.*5 wide"):
        run(tiny, processor, [[*prompt, 12, 12]], **OPTIONS)
    with pytest.raises(ValueError, match="prompt_length is -1"):
        processor.reset(-1)


def test_a_loop_of_its_own_says_where_a_run_begins(
    tiny: LoadedModel, letters: CompiledGrammar
) -> None:
    processor = GrammarLogitsProcessor(letters)
    c, a, zero, end = 5, 3, 16, 0

    def ask(tokens: list[int]) -> list[int]:
        scores = processor(torch.tensor([[9, 9, *tokens]]), torch.zeros(1, WIDTH))
        return torch.isfinite(scores[0]).nonzero().flatten().tolist()

    begin = ask([])
    ask([c])
    for tokens in ([c], [c, a, a], [c, a, a, zero]):  # again, back, ahead: the run or a new one?
        with pytest.raises(WorkbenchError, match=r"cannot be told.*reset\(\)"):
            ask(tokens)
    ask([c, a])
    ask([c, a, a])
    ask([c, a, a, zero])
    assert ask([c, a, a, zero, end]) == [0, 1]
    with pytest.raises(WorkbenchError, match="each row of that run has ended"):
        ask([c, a, a, zero, end, 7])
    processor.reset()
    assert ask([c, a, a, zero, end, 7]) == begin
    assert ask([]) == begin  # shorter: without doubt another run
    scores = processor(torch.tensor([[8, 8, 8]]), torch.zeros(1, WIDTH))  # and so is another prompt
    assert torch.isfinite(scores[0]).nonzero().flatten().tolist() == begin


# A grammar for each row.


def test_a_grammar_for_each_prompt(
    tiny: LoadedModel, letters: CompiledGrammar, vocabulary: Vocabulary
) -> None:
    digits = compile(regex("[01]{3,6}"), vocabulary)
    grammars = [letters, None, digits]
    got = run(tiny, GrammarLogitsProcessor(grammars), PROMPTS, **OPTIONS)
    with torch.no_grad():
        plain = tiny.model.generate(**padded([PROMPTS[1]]), **OPTIONS)[
            0, len(PROMPTS[1]) :
        ].tolist()
    want = [fresh(tiny, letters, [PROMPTS[0]])[0], plain, fresh(tiny, digits, [PROMPTS[2]])[0]]
    assert [ended(row) for row in got] == [ended(row) for row in want]
    assert GrammarLogitsProcessor([None])(torch.tensor([[9]]), torch.ones(1, 3)).tolist() == [
        [1.0, 1.0, 1.0]
    ]


@pytest.mark.parametrize("options", [{"do_sample": True}, {"do_sample": False, "num_beams": 3}])
def test_several_sequences_of_each_prompt(
    tiny: LoadedModel, letters: CompiledGrammar, vocabulary: Vocabulary, options: dict[str, Any]
) -> None:
    torch.manual_seed(0)
    digits = compile(regex("[01]{3,6}"), vocabulary)
    options = options | {"max_new_tokens": 40, "num_return_sequences": 3}
    got = run(tiny, GrammarLogitsProcessor([letters, digits, letters]), PROMPTS, **options)
    for i, row in enumerate(got):
        pattern = re.compile(rb"[01]{3,6}") if i // 3 == 1 else LETTERS
        if ended(row)[-1] in (0, 1):
            assert pattern.fullmatch(vocabulary.decode(ended(row)))
    assert sum(ended(row)[-1] in (0, 1) for row in got) >= 6


def test_grammars_that_do_not_fit_the_rows(
    tiny: LoadedModel, letters: CompiledGrammar, vocabulary: Vocabulary
) -> None:
    with pytest.raises(WorkbenchError, match="2 grammars for 3 rows"):
        run(tiny, GrammarLogitsProcessor([letters, None]), PROMPTS, **OPTIONS)
    with pytest.raises(
        WorkbenchError, match="2 grammars for 4 rows"
    ):  # four prompts, not two twice
        run(tiny, GrammarLogitsProcessor([letters, None]), [[2], [3], [4], [5]], **OPTIONS)
    with pytest.raises(ValueError, match="empty list"):
        GrammarLogitsProcessor([])
    with pytest.raises(TypeError, match="not a Grammar"):
        GrammarLogitsProcessor([letters, regex("a")])
    other = Vocabulary.from_bytes([b"", b"a"], eos_ids=0)
    with pytest.raises(ValueError, match="different vocabularies"):
        GrammarLogitsProcessor([letters, compile(regex("a"), other)])
    processor = GrammarLogitsProcessor([letters, None], prompt_length=1)
    processor(torch.tensor([[9], [8]]), torch.zeros(2, WIDTH))
    with pytest.raises(WorkbenchError, match="1 row in a run that began with 2"):
        processor(torch.tensor([[9, 5]]), torch.zeros(1, WIDTH))


# Models that do not fit the vocabulary.


def test_logits_narrower_and_wider_than_the_vocabulary(letters: CompiledGrammar) -> None:
    ids = torch.tensor([[9]])
    for width in (1, 18):
        with pytest.raises(WorkbenchError, match=f"{width} logits? a row.*for 19 tokens"):
            GrammarLogitsProcessor(letters)(ids, torch.zeros(1, width))
    for width in (19, 40, 41, 300):
        scores = GrammarLogitsProcessor(letters)(ids, torch.zeros(1, width))
        assert torch.isfinite(scores[0]).nonzero().flatten().tolist() == [3, 5, 13, 14]


@pytest.mark.parametrize(
    ("theirs", "message"),
    [
        ([0], r"^.*\(1\) may end a text of the grammar, but not a run"),
        (2, r"\(0\), .*\(1\) may end a text of the grammar, but not a run"),
        ([0, 1, 5], r"^c \(5\) ends a run of this model in the middle of a text"),
        (None, r"eos_token_id=\[0, 1\]"),
        ([0, 1], None),
        ([0, 1, 2, 39], None),
    ],
)
def test_a_model_with_other_ends_is_warned_of_at_once(
    tiny: LoadedModel, letters: CompiledGrammar, theirs: Any, message: str | None
) -> None:
    """Ends of its own that the grammar never allows do no harm."""
    generation = tiny.model.generation_config
    before = generation.eos_token_id
    generation.eos_token_id = theirs
    try:
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            run(tiny, GrammarLogitsProcessor(letters), [PROMPTS[0]], max_new_tokens=1)
    finally:
        generation.eos_token_id = before
    texts = [str(w.message) for w in seen if "of this model" in str(w.message)]
    if message is None:
        assert texts == []
    else:
        assert len(texts) == 1 and re.search(message, texts[0]), texts


def test_a_vocabulary_without_ends_is_named_as_the_cause(tiny: LoadedModel) -> None:
    endless = Vocabulary.from_bytes(TOKENS, eos_ids=(), special_ids=(0, 1, 2), width=WIDTH)
    compiled = compile(regex("ab0"), endless)
    with pytest.raises(DeadEnd, match=r"complete after 'ab0'.*no end token.*eos_ids"):
        run(tiny, GrammarLogitsProcessor(compiled), [PROMPTS[0]], **OPTIONS)
    model = dataclasses.replace(tiny, vocabulary=endless)
    with pytest.raises(DeadEnd, match=r"the text is complete: 'ab0'.*no end token.*eos_ids"):
        generate(model, PROMPTS[0], compiled, max_tokens=9)


# Assisted generation: tokens that are tried and taken back.


def test_assisted_generation_is_plain_generation(
    tiny: LoadedModel, letters: CompiledGrammar
) -> None:
    torch.manual_seed(5)
    helper = transformers.LlamaForCausalLM(tiny.model.config).eval()
    processor = GrammarLogitsProcessor(letters)
    for prompt in [*PROMPTS, [3, 4, 5, 3, 4, 5, 3, 4]]:
        want = ended(fresh(tiny, letters, [prompt], max_new_tokens=20)[0])
        for assisted in (
            {"assistant_model": helper},
            {"assistant_model": tiny.model},
            {"prompt_lookup_num_tokens": 3},
        ):
            got = run(tiny, processor, [prompt], max_new_tokens=20, do_sample=False, **assisted)
            assert ended(got[0]) == want, assisted


def test_assisted_sampling_stays_in_the_grammar(
    tiny: LoadedModel, letters: CompiledGrammar
) -> None:
    torch.manual_seed(5)
    helper = transformers.LlamaForCausalLM(tiny.model.config).eval()
    processor = GrammarLogitsProcessor(letters)
    texts = set()
    for _ in range(6):
        got = run(
            tiny, processor, [PROMPTS[1]], max_new_tokens=40, do_sample=True, assistant_model=helper
        )[0]
        if ended(got)[-1] in (0, 1):
            texts.add(tiny.vocabulary.decode(ended(got)))
    assert len(texts) > 1
    assert all(LETTERS.fullmatch(text) for text in texts)


def test_drafts_that_the_grammar_refuses(tiny: LoadedModel, letters: CompiledGrammar) -> None:
    """Drafts that know nothing of the grammar: it decides, and says nothing."""

    class Wild(transformers.generation.CandidateGenerator):
        def get_candidates(self, input_ids: Any, *_: Any, **__: Any) -> Any:
            return torch.cat([input_ids, torch.tensor([[5, 12, 3, 0, 12]])], dim=1), None

        def update_candidate_strategy(self, *_: Any) -> None:
            pass

    want = ended(fresh(tiny, letters, [PROMPTS[0]], max_new_tokens=12)[0])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            type(tiny.model), "_get_candidate_generator", lambda self, **_: Wild(), raising=True
        )
        got = run(
            tiny,
            GrammarLogitsProcessor(letters),
            [PROMPTS[0]],
            max_new_tokens=12,
            do_sample=False,
            prompt_lookup_num_tokens=2,
        )
    assert ended(got[0]) == want

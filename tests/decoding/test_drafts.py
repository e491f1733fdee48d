"""Drafts change no token and no law; what they save and how they are marked; what stays sound around them."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from tests.decoding.fakes import FakeCompiled  # noqa: E402
from tests.decoding.scripted import bound, distance, law, noise, scripted  # noqa: E402
from workbench.decoding import Decoder, Drafts, Sampling, Trace, TraceStep, generate  # noqa: E402
from workbench.decoding.position import Drafted  # noqa: E402
from workbench.engine import CompiledGrammar, compile  # noqa: E402
from workbench.engine.matcher import Matcher  # noqa: E402
from workbench.errors import DeadEnd, GrammarTooComplex, WorkbenchError, WrongType  # noqa: E402
from workbench.frontends.gbnf import gbnf  # noqa: E402
from workbench.frontends.json_schema import json_schema  # noqa: E402
from workbench.frontends.regex import regex  # noqa: E402
from workbench.models import LoadedModel  # noqa: E402
from workbench.notebook.recorded import from_trace  # noqa: E402
from workbench.notebook.static_html import static_html  # noqa: E402
from workbench.vocabulary import Vocabulary  # noqa: E402

PROMPT = [2, 5, 9, 3, 4, 5]
GRAMMARS = {
    "certain": regex("abcabcab10"),
    "choices": regex("(abc|bcd|cab){3}[01]{2}"),
    "long strings": regex("ab[a-e]{2,12}j(abc){1,3}[01]+"),
    "free": regex("[a-j01]{0,20}"),
    "nested": gbnf('root ::= "a" root "bc" | "j01"'),
    "ambiguous": gbnf('root ::= x x "0"\nx ::= "ab" | "abc" | "c" | "abab" x'),
    "ends at once": regex("(abc)?"),
}
WAYS: dict[str, dict[str, Any]] = {
    "forced": {"fast_forward": "verify"},
    "prompt": {"prompt_lookup": True},
    "both": {"fast_forward": "verify", "prompt_lookup": True, "draft_tokens": 3},
}


def marked(trace: Trace) -> Counter[tuple[str, str]]:
    return Counter((step.draft, step.draft_source) for step in trace.steps)


@pytest.fixture(scope="session")
def compiled(vocabulary: Vocabulary) -> dict[str, CompiledGrammar]:
    return {name: compile(grammar, vocabulary) for name, grammar in GRAMMARS.items()}


@pytest.fixture(scope="session")
def other(vocabulary: Vocabulary) -> LoadedModel:
    """A second model with the same tokens."""
    return scripted(noise(5, vocabulary.width), vocabulary, name="other")


@pytest.mark.parametrize("way", [*WAYS, "model", "itself", "all"])
@pytest.mark.parametrize("grammar", [*GRAMMARS, None])
def test_no_token_changes(
    tiny: LoadedModel,
    other: LoadedModel,
    compiled: dict[str, CompiledGrammar],
    grammar: str | None,
    way: str,
) -> None:
    options = {
        "model": {"draft_model": other},
        "itself": {"draft_model": tiny},
        "all": {"draft_model": other, **WAYS["both"]},
    }.get(way) or WAYS[way]
    rules = None if grammar is None else compiled[grammar]
    for sampling in (
        {},
        {"temperature": 1.0, "seed": 1},
        {"temperature": 2.0, "top_k": 5, "seed": 2},
    ):
        plain = generate(tiny, PROMPT, rules, max_tokens=30, **sampling)
        out = generate(tiny, PROMPT, rules, max_tokens=30, **sampling, **options)
        if sampling and "draft_model" in options:  # the same law, not the same texts: see below
            continue
        assert (out.token_ids, out.finish_reason) == (plain.token_ids, plain.finish_reason)
        passes = sum(step.forward_ms > 0 for step in out.trace.steps)
        assert out.trace.drafts["forward_passes"] == passes <= len(plain.token_ids)
        for mine, theirs in zip(out.trace.steps, plain.trace.steps, strict=True):
            assert (mine.mask, mine.kind) == (theirs.mask, theirs.kind)
            assert (mine.live_states, mine.is_accepting) == (
                theirs.live_states,
                theirs.is_accepting,
            )
            assert mine.probability_after == pytest.approx(theirs.probability_after, abs=1e-4)
            assert mine.forced_bytes == theirs.forced_bytes
        assert Trace.from_json(out.trace.to_json()) == out.trace


def test_a_draft_of_the_model_itself_is_always_right(
    tiny: LoadedModel, compiled: dict[str, CompiledGrammar]
) -> None:
    options: dict[str, Any] = {"temperature": 1.0, "seed": 3, "max_tokens": 21}
    out = generate(tiny, PROMPT, compiled["free"], draft_model=tiny, draft_tokens=6, **options)
    # six tokens and the one after them a pass
    assert out.trace.drafts["forward_passes"] == -(-len(out.token_ids) // 7)
    assert out.trace.drafts["draft_passes"] == out.trace.drafts["proposed"]["model"]
    assert set(marked(out.trace)) <= {("accepted", "model"), ("", "")}


def test_what_is_certain_costs_one_pass(vocabulary: Vocabulary) -> None:
    def longest(tokens: tuple[int, ...]) -> list[float]:
        return [
            float(len(vocabulary.token_bytes(i)) if i < vocabulary.size else 0)
            for i in range(vocabulary.width)
        ]

    model = scripted(longest, vocabulary)
    out = generate(model, PROMPT, GRAMMARS["certain"], fast_forward="verify")
    assert [step.token_bytes for step in out.trace.steps] == [b"abc", b"abc", b"ab", b"10", b""]
    assert out.trace.drafts["forward_passes"] == 1
    assert marked(out.trace) == {("accepted", "forced"): 5}
    assert [step.forward_ms > 0 for step in out.trace.steps] == [True, False, False, False, False]
    assert [step.forced_bytes for step in out.trace.steps] == [10, 7, 4, 2, 0]
    assert [step.is_certain for step in out.trace.steps] == [True] * 4 + [False]


def test_a_cut_that_the_model_does_not_like_is_refused(vocabulary: Vocabulary) -> None:
    def letters(tokens: tuple[int, ...]) -> list[float]:
        return [
            float(i < vocabulary.size and len(vocabulary.token_bytes(i)) == 1)
            for i in range(vocabulary.width)
        ]

    model = scripted(letters, vocabulary)
    out = generate(model, PROMPT, GRAMMARS["certain"], fast_forward="verify")
    assert out.token_ids == generate(model, PROMPT, GRAMMARS["certain"]).token_ids
    first = out.trace.steps[0]
    assert (first.draft, first.draft_source) == ("refused", "forced")
    assert (first.token_bytes, vocabulary.token_bytes(first.draft_token)) == (b"a", b"abc")


def test_copies_out_of_the_prompt(vocabulary: Vocabulary) -> None:
    token = {vocabulary.token_bytes(i): i for i in range(2, vocabulary.size)}
    copied = [token[bytes([b])] for b in b"abcdefghij"]

    def alphabet(tokens: tuple[int, ...]) -> list[float]:
        following = copied[(copied.index(tokens[-1]) + 1) % 10]
        return [float(i == following) for i in range(vocabulary.width)]

    model = scripted(alphabet, vocabulary)
    out = generate(model, copied * 2, None, prompt_lookup=True, max_tokens=18, draft_tokens=8)
    assert out.text == "abcdefghijabcdefgh"
    assert out.trace.drafts == {
        "forward_passes": 2,
        "draft_passes": 0,
        "proposed": {"prompt": 16},
        "replaced": 0,
    }
    assert marked(out.trace) == {("accepted", "prompt"): 16, ("", ""): 2}


RUNS = 500


@pytest.fixture(scope="module")
def small(vocabulary: Vocabulary) -> CompiledGrammar:
    """Few texts, of which most can be cut in several ways."""
    return compile(regex("(ab|c)(bc0|1)"), vocabulary)


@pytest.mark.parametrize("way", ["plain", *WAYS, "model", "all"])
def test_the_law_stays_that_of_masked_decoding(
    vocabulary: Vocabulary, small: CompiledGrammar, way: str
) -> None:
    script = noise(1, vocabulary.width, 1.5)
    wanted = law(script, small, PROMPT)
    assert sum(wanted.values()) == pytest.approx(1)
    model = scripted(script, vocabulary)
    options: dict[str, Any] = WAYS.get(way, {})
    if way in ("model", "all"):
        near = scripted(noise(2, vocabulary.width, 1.0, near=script), vocabulary)
        options = {"draft_model": near} | (WAYS["both"] if way == "all" else {})
    counts = Counter[tuple[int, ...]]()
    verdicts = Counter[str]()
    for seed in range(RUNS):
        out = generate(
            model, PROMPT, small, temperature=1, seed=seed, trace=False, overlap=False, **options
        )
        counts[out.token_ids] += 1
        verdicts.update(step.draft for step in out.trace.steps)
    assert set(counts) <= set(wanted)
    assert distance(counts, wanted) < bound(len(wanted), RUNS)
    if way not in ("plain", "prompt"):  # both verdicts were needed for it
        assert min(verdicts["accepted"], verdicts["refused"]) > 20


def test_drafts_taken_without_asking_have_another_law(
    vocabulary: Vocabulary, small: CompiledGrammar
) -> None:
    """Each draft is allowed by the masks; its texts are distributed as the drafter's, not as the model's."""
    script = noise(1, vocabulary.width, 1.5)
    near = noise(2, vocabulary.width, 1.0, near=script)
    wanted, drafted = law(script, small, PROMPT), law(near, small, PROMPT)
    model = scripted(script, vocabulary)
    counts = Counter[tuple[int, ...]]()
    for seed in range(RUNS):
        drafter = Decoder(
            scripted(near, vocabulary), PROMPT, small,
            sampling=Sampling(temperature=1, seed=seed), record=False, overlap=False,
        )  # fmt: skip
        while not drafter.is_finished:
            drafter.step()
        decoder = Decoder(model, PROMPT, small, record=False, overlap=False)
        decoder.look_ahead([Drafted(token, "model", sure=True) for token in drafter.token_ids])
        while not decoder.is_finished:
            decoder.inject()
        counts[tuple(decoder.token_ids)] += 1
    limit = bound(len(wanted), RUNS)
    assert distance(counts, drafted) < limit
    assert distance(counts, wanted) > limit


def test_text_put_in_without_asking_bends_what_follows(vocabulary: Vocabulary) -> None:
    """The model goes on otherwise after "ab" than after "a", "b": the cut decides about the text."""
    token = {vocabulary.token_bytes(i): i for i in range(2, vocabulary.size)}

    def script(tokens: tuple[int, ...]) -> list[float]:
        row = [0.0] * vocabulary.width
        row[token[b"a"]] = 3.0  # the model spells
        row[token[b"0"]] = 3.0 if tokens[-1] == token[b"b"] else -3.0
        return row

    model = scripted(script, vocabulary)
    rules = compile(regex("ab[01]"), vocabulary)
    plain = generate(model, PROMPT, rules)
    assert plain.text == "ab0" and plain.trace.steps[0].token_bytes == b"a"
    out = generate(model, PROMPT, rules, fast_forward="inject")
    assert out.text == "ab1"
    assert [step.draft for step in out.trace.steps] == ["injected", "", ""]
    assert out.trace.steps[0].kind == "forced" and out.trace.steps[0].draft_source == "forced"
    assert generate(model, PROMPT, rules, fast_forward="verify").token_ids == plain.token_ids


@pytest.mark.parametrize("grammar", [*GRAMMARS, None])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_injected_texts_are_of_the_grammar(
    tiny: LoadedModel, compiled: dict[str, CompiledGrammar], grammar: str | None, seed: int
) -> None:
    rules = None if grammar is None else compiled[grammar]
    out = generate(
        tiny, PROMPT, rules, max_tokens=40, temperature=1, seed=seed, fast_forward="inject"
    )
    if rules is not None:
        assert rules.matcher().accept_tokens(out.token_ids) == len(out.token_ids)
    for step in out.trace.steps:
        assert step.draft != "injected" or step.is_certain
    assert Trace.from_json(out.trace.to_json()) == out.trace


@pytest.mark.parametrize("options", [*WAYS.values(), {"fast_forward": "inject"}])
def test_limits_hold(tiny: LoadedModel, compiled: dict[str, CompiledGrammar], options: Any) -> None:
    for most in (0, 1, 2, 5):
        out = generate(tiny, PROMPT, regex("(abc){20}"), max_tokens=most, **options)
        assert (len(out.token_ids), out.finish_reason) == (most, "length")
    # the model sees 64 tokens
    rules = regex("(abc){70}")
    plain = generate(tiny, PROMPT, rules, max_tokens=200)
    out = generate(tiny, PROMPT, rules, max_tokens=200, **options)
    assert (plain.finish_reason, out.finish_reason) == ("length", "length")
    assert len(out.token_ids) == len(plain.token_ids) == 64 - len(PROMPT)
    short = generate(tiny, PROMPT, rules, stop="bca", **options)
    assert (short.text, short.finish_reason) == ("a", "stop")


def test_dead_ends_are_those_of_plain_runs(tiny: LoadedModel, vocabulary: Vocabulary) -> None:
    rules = FakeCompiled(vocabulary, (b"ab0", b"ab01"), hide=frozenset({16, 18}))
    found = []
    for options in ({}, {"prompt_lookup": True}, {"draft_model": tiny}):
        with pytest.raises(DeadEnd) as caught:
            generate(tiny, PROMPT, rules, **options)
        found.append((caught.value.trace.token_ids, str(caught.value)))
    assert len(set(map(str, found))) == 1


def test_work_that_is_too_much_for_a_draft_is_left_to_the_steps(
    tiny: LoadedModel, compiled: dict[str, CompiledGrammar], monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = generate(tiny, PROMPT, compiled["choices"])

    def give_up(*_: object) -> bytes:
        raise GrammarTooComplex("states", 1)

    monkeypatch.setattr(Matcher, "forced_bytes", give_up)
    out = generate(tiny, PROMPT, compiled["choices"], trace=False, fast_forward="verify")
    assert out.token_ids == plain.token_ids and marked(out.trace) == {("", ""): len(out.token_ids)}


def ahead(decoder: Decoder, count: int) -> list[int]:
    """Run ahead of a decoder over what it would take; returns that."""
    scout = decoder.fork()
    tokens = [scout.step().token_id for _ in range(count)]
    decoder.look_ahead([Drafted(token, "model") for token in tokens])
    return tokens


def test_steps_back_and_forth_over_a_draft(tiny: LoadedModel) -> None:
    letters = compile(regex("[a-e]{30}"), tiny.vocabulary)
    plain = Decoder(tiny, PROMPT, letters)
    wanted = [plain.step().token_id for _ in range(12)]
    decoder = Decoder(tiny, PROMPT, letters)
    tokens = ahead(decoder, 6)
    assert tokens == wanted[:6] and decoder.forward_passes == 1
    assert decoder.peek().token_id == wanted[0] and decoder.token_ids == []
    assert [decoder.step().token_id for _ in range(4)] == wanted[:4]
    twin = decoder.fork()
    assert decoder.back(2) == 2 and decoder.drafted is not None
    assert [decoder.step().token_id for _ in range(10)] == wanted[2:12]
    assert [twin.step().token_id for _ in range(8)] == wanted[4:12]
    # another token than the drafted one: what was run behind it is not believed any more
    decoder.back(12)
    ahead(decoder, 6)
    decoder.step()
    chosen = next(c.token_id for c in decoder.candidates() if c.token_id != wanted[1])
    assert decoder.step(chosen).draft == "refused"
    plain.back(11)
    plain.step(chosen)
    assert not decoder.is_known
    for _ in range(6):
        torch.testing.assert_close(decoder.logits, plain.logits, rtol=1e-4, atol=1e-4)
        assert decoder.step().token_id == plain.step().token_id


def test_only_what_was_drafted_can_be_put_in(tiny: LoadedModel, letters: CompiledGrammar) -> None:
    decoder = Decoder(tiny, PROMPT, letters)
    with pytest.raises(WorkbenchError, match="no token was drafted here"):
        decoder.inject()
    # a draft that the grammar refuses is run no further
    decoder.look_ahead([Drafted(17, "model"), Drafted(5, "model")])
    with pytest.raises(WorkbenchError, match="does not allow"):
        decoder.inject()
    assert decoder.token_ids == [] and decoder.matcher.num_accepted == 0
    assert decoder.step().draft == "refused"


def finish(decoder: Decoder, drafts: Drafts) -> None:
    while not decoder.is_finished and len(decoder.token_ids) < 12:
        drafts.step(12)


@pytest.mark.parametrize("options", [WAYS["both"], {"fast_forward": "inject"}])
@pytest.mark.parametrize("when", range(4))
def test_an_interrupt_leaves_a_run_that_can_go_on(
    tiny: LoadedModel,
    compiled: dict[str, CompiledGrammar],
    monkeypatch: pytest.MonkeyPatch,
    options: Any,
    when: int,
) -> None:
    rules = compiled["long strings"]
    wanted = generate(tiny, PROMPT, rules, max_tokens=12, **options).token_ids
    decoder = Decoder(tiny, PROMPT, rules)
    drafts = Drafts(decoder, **options)
    layer = tiny.model.model.layers[1]
    forward, passes = layer.forward, [0]

    def interrupted(*values: Any, **named: Any) -> Any:
        passes[0] += 1
        if passes[0] == when + 1:
            raise KeyboardInterrupt
        return forward(*values, **named)

    with monkeypatch.context() as patch:
        patch.setattr(layer, "forward", interrupted)
        with pytest.raises(KeyboardInterrupt):
            finish(decoder, drafts)
        assert decoder.matcher.token_ids == decoder.token_ids
        finish(decoder, drafts)
    assert tuple(decoder.token_ids) == wanted
    assert decoder.matcher.token_ids == decoder.token_ids


def test_an_interrupt_returns_what_there_is(
    tiny: LoadedModel, compiled: dict[str, CompiledGrammar]
) -> None:
    def interrupt(step: TraceStep) -> None:
        if step.index == 3:
            raise KeyboardInterrupt

    rules = compiled["choices"]
    plain = generate(tiny, PROMPT, rules)
    out = generate(tiny, PROMPT, rules, on_step=interrupt, draft_model=tiny)
    assert out.finish_reason == "interrupted"
    assert out.token_ids == plain.token_ids[:4]
    assert Trace.from_json(out.trace.to_json()) == out.trace


def test_options_that_there_are_not(tiny: LoadedModel, vocabulary: Vocabulary) -> None:
    wrong: Any
    for wrong in ("maybe", True):
        with pytest.raises(ValueError, match="fast_forward"):
            generate(tiny, PROMPT, fast_forward=wrong)
    with pytest.raises(ValueError, match="draft_tokens is 0"):
        generate(tiny, PROMPT, prompt_lookup=True, draft_tokens=0)
    less = Vocabulary.from_bytes([b"", b"a"], eos_ids=0)
    with pytest.raises(ValueError, match="the draft model scripted has other tokens"):
        generate(tiny, PROMPT, draft_model=scripted(noise(1, 2), less))
    wrong = "gpt2"
    with pytest.raises(WrongType, match="draft model"):
        generate(tiny, PROMPT, draft_model=wrong)


def test_settings_say_who_drafts(tiny: LoadedModel, compiled: dict[str, CompiledGrammar]) -> None:
    out = generate(tiny, PROMPT, compiled["free"], max_tokens=2, draft_model=tiny)
    drafted = ("fast_forward", "draft_model", "prompt_lookup", "draft_tokens")
    assert [out.trace.settings[name] for name in drafted] == [None, "tiny", False, 8]
    assert not set(drafted) & set(generate(tiny, PROMPT, max_tokens=2).trace.settings)


def test_the_static_view_says_what_became_of_a_draft(
    tiny: LoadedModel, compiled: dict[str, CompiledGrammar]
) -> None:
    out = generate(tiny, PROMPT, compiled["certain"], fast_forward="inject")
    trace = Trace.from_json(out.trace.to_json())
    html = static_html(from_trace(trace, tiny.vocabulary), "x")
    assert html.count("draft (forced) injected") == marked(trace)["injected", "forced"] > 0
    assert "fast_forward inject" in html


@pytest.mark.model
@pytest.mark.parametrize("sampling", [{}, {"temperature": 0.8, "seed": 3}])
def test_the_packaged_model_takes_the_same_tokens(model: LoadedModel, sampling: Any) -> None:
    schema = {
        "type": "object",
        "properties": {"city": {"enum": ["Rome", "Oslo"]}, "unit": {"enum": ["celsius"]}},
    }
    rules = compile(json_schema(schema, strict=True, separators=(", ", ": ")), model.vocabulary)
    options: dict[str, Any] = {"max_tokens": 24, **sampling}
    question = "What is the weather in Oslo?"
    plain = generate(model, question, rules, **options)
    out = generate(model, question, rules, fast_forward="verify", **options)
    assert out.token_ids == plain.token_ids
    certain = sum(step.is_certain for step in out.trace.steps)
    assert 2 * certain > len(out.token_ids)
    assert out.trace.drafts["forward_passes"] * 2 <= len(plain.token_ids)

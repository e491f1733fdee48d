"""The decoder against a loop without cache, threads or kernels; and its behaviour under faults."""

from __future__ import annotations

import math
import threading
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from tests.decoding.fakes import FakeCompiled  # noqa: E402
from workbench.decoding import Decoder, Sampling, Trace  # noqa: E402
from workbench.engine import CompiledGrammar  # noqa: E402
from workbench.errors import DeadEnd, GrammarTooComplex, WorkbenchError  # noqa: E402
from workbench.frontends.gbnf import gbnf  # noqa: E402
from workbench.models import LoadedModel  # noqa: E402
from workbench.vocabulary import Vocabulary  # noqa: E402

PROMPT = [2, 5, 9]
TEXTS = (b"abcab0", b"abcb1", b"ca")


@pytest.fixture(scope="session")
def fake(vocabulary: Vocabulary) -> FakeCompiled:
    return FakeCompiled(vocabulary, TEXTS)


def reference(model: LoadedModel, compiled: Any, count: int) -> list[tuple[int, Any, list[bool]]]:
    """Greedy steps as (token, logits, allowed): one whole forward pass each, one token at a time."""
    steps, ids, matcher = [], list(PROMPT), compiled.matcher()
    while len(steps) < count and not matcher.is_terminated:
        with torch.no_grad():
            logits = model.model(torch.tensor([ids]), use_cache=False).logits[0, -1]
        allowed = [matcher.fork().accept(t) for t in range(model.vocabulary.size)]
        best = max((float(logits[t]), -t) for t in range(len(allowed)) if allowed[t])
        token = -best[1]
        assert matcher.accept(token)
        steps.append((token, logits, allowed))
        ids.append(token)
    return steps


@pytest.mark.parametrize("overlap", [True, False])
@pytest.mark.parametrize("kind", ["engine", "fake"])
def test_steps_equal_the_plain_loop(
    tiny: LoadedModel, letters: CompiledGrammar, fake: FakeCompiled, kind: str, overlap: bool
) -> None:
    compiled: Any = letters if kind == "engine" else fake
    want = reference(tiny, compiled, 25)
    decoder = Decoder(tiny, PROMPT, compiled, overlap=overlap)
    for token, logits, allowed in want:
        torch.testing.assert_close(decoder.logits, logits, rtol=1e-4, atol=1e-4)
        assert decoder.mask.tolist() == allowed + [False] * (tiny.vocabulary.width - len(allowed))
        assert decoder.allowed_count == sum(allowed)
        assert decoder.step().token_id == token
    assert decoder.token_ids == [token for token, _, _ in want]
    assert decoder.is_finished == (want[-1][0] in tiny.eos_ids)


def test_numbers_of_a_step(tiny: LoadedModel, letters: CompiledGrammar) -> None:
    """Against NumPy, from the logits of a pass without cache."""
    want = reference(tiny, letters, 6)
    decoder = Decoder(tiny, PROMPT, letters)
    for token, logits, allowed in want:
        step = decoder.step()
        x = logits.double().numpy()
        p = np.exp(x - x.max()) / np.exp(x - x.max()).sum()
        mask = np.array(allowed + [False] * (len(p) - len(allowed)))
        q = np.where(mask, p, 0) / p[mask].sum()
        close = {"rel": 1e-4, "abs": 1e-6}
        assert step.probability_before == pytest.approx(p[token], **close)
        assert step.probability_after == pytest.approx(q[token], **close)
        assert step.mass_removed == pytest.approx(p[~mask].sum(), **close)
        assert step.rank_before == (p > p[token]).sum()
        assert step.entropy_before == pytest.approx(-(p * np.log2(p)).sum(), **close)
        positive = q[q > 0]
        assert step.entropy_after == pytest.approx(-(positive * np.log2(positive)).sum(), **close)
        assert step.logsumexp_before == pytest.approx(np.log(np.exp(x).sum()), **close)
        assert step.logsumexp_after == pytest.approx(np.log(np.exp(x[mask]).sum()), **close)
        assert [i for i, _ in step.top_before] == np.argsort(-p, kind="stable")[:50].tolist()
        assert {i for i, _ in step.top_after} == set(np.nonzero(mask)[0].tolist())
        assert dict(step.top_after)[token] == pytest.approx(q[token], rel=1e-3)
        assert decoder.trace.allowed(step.mask, tiny.vocabulary).tolist() == mask.tolist()
        assert step.allowed_count == sum(allowed)


def test_configuration_of_a_step(tiny: LoadedModel, letters: CompiledGrammar) -> None:
    decoder = Decoder(tiny, PROMPT, letters)
    matcher = letters.matcher()
    for _ in range(5):
        live, accepting = matcher.live_states(), matcher.is_accepting
        states = {stack[0].state for stack in matcher.stacks(limit=8)}
        step = decoder.step()
        assert step.live_states == live
        assert step.is_accepting == accepting
        assert {decoder.trace.stack(top)[0].state for top in step.stacks} == states
        assert matcher.accept(step.token_id)


def test_kinds(tiny: LoadedModel, fake: FakeCompiled) -> None:
    decoder = Decoder(tiny, PROMPT, fake)
    decoder.step(5)
    step = decoder.step()
    assert (step.kind, step.token_bytes, step.allowed_count) == ("forced", b"a", 1)
    decoder.step(1)
    assert decoder.trace.steps[-1].kind == "eos"
    assert decoder.is_finished
    assert decoder.trace.finish_reason == "eos"
    assert decoder.allowed_count == 0
    assert not decoder.mask.any()
    assert decoder.candidates() == []
    with pytest.raises(WorkbenchError, match="finished"):
        decoder.step()


def test_an_end_that_the_grammar_names_does_not_end_the_run(tiny: LoadedModel) -> None:
    decoder = Decoder(tiny, [2, 5], gbnf('root ::= "a" <[0]> "b" <[0]>'))
    for token, kind in ((3, "chosen"), (0, "chosen"), (4, "chosen"), (0, "chosen"), (0, "eos")):
        assert not decoder.is_finished
        assert decoder.step(token).kind == kind
    assert decoder.trace.finish_reason == "eos"
    assert decoder.trace.token_ids == [3, 0, 4, 0, 0]
    decoder.back(3)
    assert not decoder.is_finished and decoder.step().kind == "forced"
    assert Trace.from_json(decoder.trace.to_json()).token_ids == [3, 0, 4]


def test_back_and_another_way(tiny: LoadedModel, letters: CompiledGrammar) -> None:
    decoder = Decoder(tiny, PROMPT, letters)
    for _ in range(8):
        decoder.step()
    first = decoder.trace.copy()
    assert decoder.back(3) == 3
    assert decoder.token_ids == first.token_ids[:5]
    again = [decoder.step().token_id for _ in range(3)]
    assert again == first.token_ids[5:]
    assert decoder.back(99) == 8
    assert decoder.back() == 0
    assert decoder.text == ""
    decoder.step(5)
    fresh = Decoder(tiny, PROMPT, letters)
    fresh.step(5)
    torch.testing.assert_close(decoder.logits, fresh.logits, rtol=1e-4, atol=1e-4)
    assert (decoder.mask == fresh.mask).all()
    assert decoder.step().token_id == fresh.step().token_id


def test_back_beyond_what_is_kept(
    tiny: LoadedModel, letters: CompiledGrammar, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.decoding.decoder.KEPT", 2)
    decoder = Decoder(tiny, PROMPT, letters)
    want = [(decoder.logits, decoder.step().token_id) for _ in range(9)]
    assert len(decoder._positions) == 2
    decoder.back(7)
    for logits, token in want[2:]:
        torch.testing.assert_close(decoder.logits, logits, rtol=1e-4, atol=1e-4)
        assert decoder.step().token_id == token


def test_back_from_the_end(tiny: LoadedModel, fake: FakeCompiled) -> None:
    decoder = Decoder(tiny, PROMPT, fake)
    for token in (5, 3, 0):
        decoder.step(token)
    assert decoder.is_finished
    decoder.back()
    assert not decoder.is_finished
    assert decoder.step(1).kind == "eos"


def test_forks_go_apart(tiny: LoadedModel, letters: CompiledGrammar) -> None:
    decoder = Decoder(tiny, PROMPT, letters)
    decoder.step()
    decoder.step()
    before = decoder.token_ids
    other = decoder.fork()
    third = decoder.candidates()
    decoder.step(third[0].token_id)
    other.step(third[1].token_id)
    other.step()
    assert decoder.token_ids == [*before, third[0].token_id]
    assert other.token_ids[:3] == [*before, third[1].token_id]
    other.back(4)
    assert decoder.token_ids == [*before, third[0].token_id]
    alone = Decoder(tiny, PROMPT, letters)
    for token in decoder.token_ids:
        alone.step(token)
    torch.testing.assert_close(decoder.logits, alone.logits, rtol=1e-4, atol=1e-4)
    assert decoder.step().token_id == alone.step().token_id


def test_candidates(tiny: LoadedModel, fake: FakeCompiled) -> None:
    decoder = Decoder(tiny, PROMPT, fake)
    found = decoder.candidates()
    assert {c.token_bytes for c in found} == {b"a", b"ab", b"abc", b"c"}
    assert sum(c.probability_after for c in found) == pytest.approx(1)
    ranks = [c.rank_before for c in found]
    assert ranks == sorted(ranks)
    assert [c.token_bytes for c in decoder.candidates(search="BC")] == [b"abc"]
    assert [c.token_id for c in decoder.candidates(search="#5")] == [5]
    assert len(decoder.candidates(2)) == 2
    every = decoder.candidates(refused=True)
    assert len(every) == tiny.vocabulary.size
    assert next(c.rank_before for c in every) == 0
    refused = [c for c in every if not c.allowed]
    assert len(refused) == tiny.vocabulary.size - 4
    assert {c.probability_after for c in refused} == {0.0}
    chosen = found[-1]
    step = decoder.step(chosen.token_id)
    assert step.probability_before == chosen.probability_before
    assert step.rank_before == chosen.rank_before


def test_a_refused_choice_changes_nothing(tiny: LoadedModel, letters: CompiledGrammar) -> None:
    decoder = Decoder(tiny, PROMPT, letters)
    decoder.step()
    for token in (2, 17, 0):
        with pytest.raises(WorkbenchError, match=f"does not allow token {token}"):
            decoder.step(token)
    for token in (-1, 19, 39, 10**9):
        with pytest.raises(WorkbenchError, match="no token of this model"):
            decoder.step(token)
    assert len(decoder.token_ids) == 1
    assert decoder.step().token_id == reference(tiny, letters, 2)[1][0]


def test_a_dead_end_is_raised_with_the_trace(tiny: LoadedModel, vocabulary: Vocabulary) -> None:
    hidden = frozenset(t for t in range(vocabulary.size) if b"0" in vocabulary.token_bytes(t))
    decoder = Decoder(tiny, PROMPT, FakeCompiled(vocabulary, (b"ab0",), hide=hidden))
    decoder.step(13)
    with pytest.raises(DeadEnd, match=r"after 1 token,.*'ab'.*goes on with '0'") as caught:
        decoder.step()
    trace = caught.value.trace
    assert trace.text == "ab"
    assert trace.finish_reason == "dead_end"
    assert trace.error == str(caught.value)
    assert trace.final["live_states"] == [2]
    assert Trace.from_json(trace.to_json()).final == trace.final
    assert decoder.is_finished
    decoder.back()
    assert not decoder.is_finished
    assert decoder.step(3).token_bytes == b"a"


def test_an_error_in_the_mask_reaches_the_caller(tiny: LoadedModel, vocabulary: Vocabulary) -> None:
    compiled = FakeCompiled(vocabulary, TEXTS)
    decoder = Decoder(tiny, PROMPT, compiled)
    decoder.step(13)
    compiled.fill_error = GrammarTooComplex("shapes", 10)
    with pytest.raises(GrammarTooComplex):
        decoder.step()
    assert decoder.token_ids == [13]
    compiled.fill_error = None
    assert decoder.step().kind in ("forced", "sampled")


def test_an_interrupt_leaves_a_decoder_that_goes_on(
    tiny: LoadedModel, vocabulary: Vocabulary, monkeypatch: pytest.MonkeyPatch
) -> None:
    decoder = Decoder(tiny, PROMPT, FakeCompiled(vocabulary, TEXTS, fill_seconds=0.1))
    decoder.step(13)

    def interrupt(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(tiny.model.model.layers[1], "forward", interrupt)
        with pytest.raises(KeyboardInterrupt):
            decoder.step()
    decoder.matcher.compiled.fill_seconds = 0.0
    fresh = Decoder(tiny, PROMPT, decoder.matcher.compiled)
    fresh.step(13)
    assert decoder.step().token_id == fresh.step().token_id


def test_times_add_up(
    tiny: LoadedModel, vocabulary: Vocabulary, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mask of 60 ms beside a pass of 20 ms: a third is hidden, and the wait is no longer."""
    original = tiny.model.model.norm.forward

    def slow(*args: Any) -> Any:
        import time

        time.sleep(0.02)
        return original(*args)

    monkeypatch.setattr(tiny.model.model.norm, "forward", slow)
    compiled = FakeCompiled(vocabulary, TEXTS, fill_seconds=0.06)
    for overlap in (True, False):
        step = Decoder(tiny, PROMPT, compiled, overlap=overlap).step()
        assert step.mask_ms >= 60
        assert step.forward_ms >= 20
        assert step.mask_hidden_ms + step.mask_exposed_ms == pytest.approx(step.mask_ms)
        assert (step.mask_hidden_ms >= 15) == overlap
        assert step.mask_hidden_ms <= step.forward_ms
    compiled.fill_seconds = 0.0
    step = Decoder(tiny, PROMPT, compiled).step()
    assert step.mask_exposed_ms == 0


def test_a_seed_repeats_a_run(tiny: LoadedModel, letters: CompiledGrammar) -> None:
    def run(seed: int | None, **options: Any) -> Decoder:
        sampling = Sampling(temperature=3.0, seed=seed)
        decoder = Decoder(tiny, PROMPT, letters, sampling=sampling, **options)
        while len(decoder.token_ids) < 12 and not decoder.is_finished:
            decoder.step()
        return decoder

    one, two = run(7), run(7, record=False, overlap=False)
    assert one.token_ids == two.token_ids
    assert len({tuple(run(seed).token_ids) for seed in range(6)}) > 3
    free = run(None)
    assert run(free.trace.settings["seed"]).token_ids == free.token_ids
    one.back(6)
    while len(one.token_ids) < len(two.token_ids):
        one.step()
    assert one.token_ids == two.token_ids


def test_without_a_record(tiny: LoadedModel, letters: CompiledGrammar) -> None:
    decoder = Decoder(tiny, PROMPT, letters, record=False)
    full = Decoder(tiny, PROMPT, letters)
    for _ in range(6):
        step = decoder.step()
        assert step.token_id == full.step().token_id
        assert step.top_before == ()
        assert step.forward_ms > 0
    assert decoder.trace.masks == {}
    assert len(decoder.candidates()) == decoder.allowed_count


def test_without_a_grammar(tiny: LoadedModel) -> None:
    decoder = Decoder(tiny, PROMPT)
    assert decoder.mask.tolist() == [True] * tiny.vocabulary.size + [False] * 21
    ids = list(PROMPT)
    for _ in range(5):
        with torch.no_grad():
            ids.append(int(tiny.model(torch.tensor([ids])).logits[0, -1, :19].argmax()))
        decoder.step()
        if decoder.is_finished:
            break
    assert decoder.token_ids == ids[3 : 3 + len(decoder.token_ids)]
    decoder.back(99)
    other = decoder.fork()
    other.step(5)
    decoder.step(1)
    assert decoder.is_finished
    assert not other.is_finished
    assert decoder.trace.grammar_kind == ""


def test_the_context_ends_a_run(tiny: LoadedModel, letters: CompiledGrammar) -> None:
    prompt = [5] * 61
    decoder = Decoder(tiny, prompt, letters)
    for _ in range(3):
        decoder.step()
    assert decoder.trace.finish_reason == "length"
    with pytest.raises(WorkbenchError, match="the prompt has 64 tokens, the model sees 64"):
        Decoder(tiny, [5] * 64, letters)
    with pytest.raises(WorkbenchError, match="no token of this model"):
        Decoder(tiny, [39], letters)


def test_a_grammar_for_another_vocabulary_is_refused(tiny: LoadedModel) -> None:
    other = Vocabulary.from_bytes([b"a", b""], eos_ids=(1,))
    with pytest.raises(ValueError, match="another vocabulary"):
        Decoder(tiny, PROMPT, FakeCompiled(other, (b"a",)))


def test_what_is_no_grammar_is_refused(tiny: LoadedModel) -> None:
    with pytest.raises(TypeError, match=r"a run takes a Grammar, not a str"):
        Decoder(tiny, PROMPT, "[a-z]+")


def test_an_uncompiled_grammar_does_as_well(tiny: LoadedModel) -> None:
    from workbench.frontends.regex import regex

    decoder = Decoder(tiny, PROMPT, regex("ab|c"))
    assert {c.token_bytes for c in decoder.candidates()} == {b"a", b"ab", b"c"}
    assert decoder.trace.grammar_kind == "regex"
    assert decoder.trace.grammar_text == "ab|c"


def test_traces_read_back(tiny: LoadedModel, letters: CompiledGrammar) -> None:
    decoder = Decoder(tiny, PROMPT, letters)
    for _ in range(6):
        decoder.step()
    trace = decoder.trace
    again = Trace.from_json(trace.to_json())
    assert again == trace
    assert again.versions["torch"] == torch.__version__
    assert again.vocabulary_fingerprint == tiny.vocabulary.fingerprint
    assert math.isfinite(again.steps[0].logsumexp_before)
    assert again.steps[3].text_before == decoder.text[: len(again.steps[3].text_before)]


def test_threads_end_with_their_decoder(tiny: LoadedModel, letters: CompiledGrammar) -> None:
    import gc
    import time

    # decoders that other tests still hold have threads too
    before = set(threading.enumerate())
    for _ in range(5):
        Decoder(tiny, PROMPT, letters).step()
    gc.collect()
    for _ in range(50):
        started = set(threading.enumerate()) - before
        if not [t for t in started if t.name.startswith("workbench-mask")]:
            return
        time.sleep(0.1)
    pytest.fail("threads are left over")

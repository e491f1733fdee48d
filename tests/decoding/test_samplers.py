"""Samplers against transformers' own filters and against exact frequencies."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from workbench.decoding.samplers import Sampling, uniform
from workbench.errors import WorkbenchError

torch = pytest.importorskip("torch", reason="torch is not installed")
transformers = pytest.importorskip("transformers", reason="transformers is not installed")

INF = float("-inf")


def drawn(sampling: Sampling, logits: Any, draws: int) -> dict[int, float]:
    """How often each token comes out, over evenly spread draws."""
    chosen = [sampling.choose(logits, (i + 0.5) / draws) for i in range(draws)]
    return {token: chosen.count(token) / draws for token in set(chosen)}


def reference(logits: Any, options: dict[str, Any]) -> Any:
    """Probabilities after transformers' own warpers, in generate's order."""
    from transformers.generation import logits_process as lp

    scores = logits.clone().unsqueeze(0)
    warpers = [lp.TemperatureLogitsWarper(options["temperature"])]
    if options.get("top_k"):
        warpers.append(lp.TopKLogitsWarper(options["top_k"]))
    if options.get("top_p"):
        warpers.append(lp.TopPLogitsWarper(options["top_p"]))
    if options.get("min_p") is not None:
        warpers.append(lp.MinPLogitsWarper(options["min_p"]))
    for warper in warpers:
        scores = warper(None, scores)
    return torch.softmax(scores[0], 0)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    temperature=st.sampled_from([0.3, 1.0, 2.5]),
    top_k=st.one_of(st.none(), st.integers(1, 12)),
    top_p=st.one_of(st.none(), st.floats(0.05, 0.98)),
    min_p=st.one_of(st.none(), st.floats(0.0, 0.9)),
)
def test_frequencies_are_those_of_transformers(
    seed: int, temperature: float, top_k: int | None, top_p: float | None, min_p: float | None
) -> None:
    torch.manual_seed(seed)
    logits = torch.randn(12, dtype=torch.float64) * 2
    logits[torch.randperm(12)[:4]] = INF
    options = {"temperature": temperature, "top_k": top_k, "top_p": top_p, "min_p": min_p}
    want = reference(logits, options)
    draws = 400
    got = drawn(Sampling(**options), logits, draws)
    for token in range(12):
        assert abs(got.get(token, 0.0) - float(want[token])) <= 1.01 / draws


def test_masked_tokens_are_never_drawn() -> None:
    logits = torch.full((100,), INF)
    logits[[7, 50]] = torch.tensor([-900.0, -901.0])
    for draw in (0.0, 0.5, math.nextafter(1.0, 0.0)):
        for sampling in (
            Sampling(),
            Sampling(temperature=1.0),
            Sampling(temperature=5.0, top_k=30),
        ):
            assert sampling.choose(logits, draw) in (7, 50)
    assert drawn(Sampling(temperature=1.0), logits, 1000)[7] == pytest.approx(0.731, abs=0.002)


def test_greedy_takes_the_lowest_of_equals() -> None:
    assert Sampling().choose(torch.tensor([1.0, 3.0, 3.0, 3.0]), 0.9) == 1
    assert Sampling(temperature=1.0, top_k=1).choose(torch.tensor([1.0, 3.0, 3.0]), 0.9) == 1


def test_a_tiny_temperature_is_greedy() -> None:
    sampling = Sampling(temperature=1e-6)
    assert {sampling.choose(torch.tensor([1.0, 2.0, 1.9]), d) for d in (0.0, 0.5, 0.999)} == {1}


@pytest.mark.parametrize("values", [[INF, INF], [float("nan"), INF], [1.0, float("inf")]])
def test_what_is_no_distribution_is_refused(values: list[float]) -> None:
    for sampling in (Sampling(), Sampling(temperature=1.0)):
        with pytest.raises(WorkbenchError, match="not numbers"):
            sampling.choose(torch.tensor(values), 0.5)


@pytest.mark.parametrize(
    "options",
    [
        {"temperature": -1.0},
        {"temperature": math.inf},
        {"temperature": math.nan},
        {"top_k": 0},
        {"top_p": 0.0},
        {"top_p": 1.1},
        {"min_p": -0.1},
        {"min_p": 1.5},
        {"seed": -1},
    ],
)
def test_settings_out_of_range(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(options))):
        Sampling(**options)


def test_draws_depend_on_seed_and_step_alone() -> None:
    assert uniform(3, 5) == uniform(3, 5)
    values = [uniform(seed, step) for seed in range(40) for step in range(50)]
    assert len(set(values)) == 2000
    counts, _ = np.histogram(values, 10, (0.0, 1.0))
    assert counts.min() > 140
    assert counts.max() < 260


def test_odds_are_what_is_chosen_with() -> None:
    logits = torch.tensor([0.5, -torch.inf, 2.0, 1.0, -1.0])
    for sampling in (
        Sampling(temperature=0.7),
        Sampling(temperature=2, top_k=2),
        Sampling(temperature=1, top_p=0.8),
        Sampling(temperature=1, min_p=0.3),
    ):
        grid = [(i + 0.5) / 4000 for i in range(4000)]
        counts = torch.zeros(5)
        for draw in grid:
            counts[sampling.choose(logits, draw)] += 1
        torch.testing.assert_close(counts.double() / 4000, sampling.odds(logits), atol=1e-3, rtol=0)


def test_a_drawn_draft_that_is_verified_has_the_law_of_the_model() -> None:
    """Integrated over both numbers, and over the draft: what comes out is p, and it is the draft 1 - TV of the time."""
    wanted = torch.tensor([1.0, 0.0, -torch.inf, 2.0, 0.5])
    other = torch.tensor([0.0, 2.0, -torch.inf, 1.0])
    sampling = Sampling(temperature=1)
    p, q = sampling.odds(wanted), sampling.odds(other)
    grid = [(i + 0.5) / 60 for i in range(60)]
    found, agreed = torch.zeros(5, dtype=torch.float64), 0.0
    for draft in range(4):
        if not q[draft]:
            continue
        for first in grid:
            for second in grid:
                token = sampling.verified(wanted, draft, q, (first, second))
                found[token] += q[draft] / 3600
                agreed += float(q[draft]) / 3600 * (token == draft)
    torch.testing.assert_close(found, p, atol=0.02, rtol=0)
    padded = torch.cat([q, torch.zeros(1, dtype=torch.float64)])
    assert agreed == pytest.approx(float(torch.minimum(p, padded).sum()), abs=0.02)
    # the same odds on both sides: always the draft
    assert all(sampling.verified(wanted, 3, p, (u, 0.5)) == 3 for u in grid)

"""A model whose logits are a function of the tokens so far, so that the law of its texts is known exactly."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import torch
from transformers import LlamaConfig

from workbench.models import LoadedModel
from workbench.vocabulary import Vocabulary

#: logits by the tokens so far
Script = Callable[[tuple[int, ...]], Sequence[float]]


class _Network:
    """Keeps the tokens themselves as keys in the cache."""

    def __init__(self, script: Script, width: int) -> None:
        self.script = script
        self.device = torch.device("cpu")
        self.config = LlamaConfig(
            vocab_size=width, num_hidden_layers=1, max_position_embeddings=200
        )

    def forward(
        self, ids: torch.Tensor, past_key_values: Any, use_cache: bool, logits_to_keep: int
    ) -> Any:
        fresh = ids.to(torch.float64).reshape(1, 1, -1, 1)
        known, _ = past_key_values.update(fresh, fresh, 0)
        tokens = tuple(int(i) for i in known.flatten())
        rows = [
            self.script(tokens[: len(tokens) - logits_to_keep + 1 + i])
            for i in range(logits_to_keep)
        ]
        return SimpleNamespace(logits=torch.tensor([rows], dtype=torch.float64))

    __call__ = forward


def scripted(
    script: Script, vocabulary: Vocabulary, tokenizer: Any = None, name: str = "scripted"
) -> LoadedModel:
    """A model that follows a script."""
    network = _Network(script, vocabulary.width)
    return LoadedModel(network, tokenizer, vocabulary, name, network.device, vocabulary.eos_ids)


def noise(seed: int, width: int, spread: float = 1.0, near: Script | None = None) -> Script:
    """Random logits by the last two tokens; ``near`` others, ``spread`` away from them."""

    @functools.cache
    def row(last: tuple[int, ...]) -> list[float]:
        source = torch.Generator().manual_seed(hash((seed, last)) % (1 << 31))
        own = (spread * torch.randn(width, generator=source)).tolist()
        return own if near is None else [a + b for a, b in zip(near(last), own, strict=True)]

    return lambda tokens: row(tokens[-2:])


def law(script: Script, compiled: Any, prompt: Sequence[int]) -> dict[tuple[int, ...], float]:
    """The probability of each sequence of a finite language under masked decoding at temperature 1."""
    size = compiled.vocabulary.size
    found: dict[tuple[int, ...], float] = {}
    open_: list[tuple[tuple[int, ...], float]] = [((), 1.0)]
    while open_:
        tokens, mass = open_.pop()
        matcher = compiled.matcher()
        for token in tokens:
            assert matcher.accept(token)
        if matcher.is_terminated:
            found[tokens] = mass
            continue
        logits = script((*prompt, *tokens))
        weights = {t: math.exp(logits[t]) for t in range(size) if matcher.fork().accept(t)}
        total = sum(weights.values())
        open_ += [((*tokens, t), mass * w / total) for t, w in weights.items()]
    return found


def distance(counts: dict[tuple[int, ...], int], wanted: dict[tuple[int, ...], float]) -> float:
    """The total variation distance of what was counted from a law."""
    total = sum(counts.values())
    keys = counts.keys() | wanted.keys()
    return sum(abs(counts.get(k, 0) / total - wanted.get(k, 0.0)) for k in keys) / 2


def bound(outcomes: int, runs: int, error: float = 1e-6) -> float:
    """A distance that so many runs of a law stay below but with probability ``error``.

    Bretagnolle, Huber and Carol: P(2 TV >= x) <= 2^outcomes exp(-runs x^2 / 2).
    """
    return math.sqrt((outcomes * math.log(2) - math.log(error)) / (2 * runs))

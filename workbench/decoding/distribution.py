"""What a trace and a candidate table say about one next-token distribution, before and after a mask."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

__all__ = ["TOP", "Distribution", "describe"]

#: Tokens that a trace keeps of each distribution.
TOP = 50


@dataclass(frozen=True, slots=True, eq=False)
class Distribution:
    """A distribution at temperature 1: float64 ``probabilities`` of shape (tokens,), on the CPU."""

    logsumexp: float
    probabilities: torch.Tensor

    @property
    def entropy(self) -> float:
        """Entropy in bits."""
        return float(torch.special.entr(self.probabilities).sum()) / math.log(2)

    def rank(self, token_id: int) -> int:
        """How many tokens are likelier than this one."""
        return int((self.probabilities > self.probabilities[token_id]).sum())

    def top(self, count: int = TOP) -> tuple[tuple[int, float], ...]:
        """The likeliest tokens as (id, probability), lowest id first among equals; none with 0.

        Probabilities are rounded to six digits, which is what a trace keeps.
        """
        count = min(count, len(self.probabilities))
        values, ids = torch.topk(self.probabilities, count)
        pairs = sorted(zip(ids.tolist(), values.tolist(), strict=True), key=lambda p: (-p[1], p[0]))
        return tuple((token, _rounded(value)) for token, value in pairs if value > 0)


def _rounded(value: float) -> float:
    """Six digits; what is almost certain does not become certain."""
    found = float(f"{value:.6g}")
    return 0.999999 if found >= 1 > value else found


def describe(logits: torch.Tensor) -> Distribution:
    """Turn logits of shape (tokens,) into a distribution; all -inf gives probabilities of 0."""
    values = logits.detach().to("cpu", torch.float64)
    largest = float(values.max())
    if largest == -math.inf:
        return Distribution(largest, torch.zeros_like(values))
    weights = torch.exp(values - largest)
    total = float(weights.sum())
    return Distribution(largest + math.log(total), weights / total)

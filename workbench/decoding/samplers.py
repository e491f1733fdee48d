"""Choosing a token from logits that are masked already.

The order is that of transformers: temperature, top-k, top-p, min-p. A draw is a function of the
logits and of one number in [0, 1), so that a run repeats on every device.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.errors import WorkbenchError

if TYPE_CHECKING:
    import torch

__all__ = ["Sampling", "uniform"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """How to choose a token; ``temperature`` 0 takes the likeliest one.

    ``top_k`` keeps the k likeliest tokens, ``top_p`` the fewest that together reach probability p,
    ``min_p`` those at least min_p times as likely as the likeliest. Raises ``ValueError`` for a value
    out of range.
    """

    temperature: float = 0.0
    top_k: int | None = None
    top_p: float | None = None
    min_p: float | None = None
    seed: int | None = None

    def __post_init__(self) -> None:
        if not (0 <= self.temperature < math.inf):
            raise ValueError(f"temperature is {self.temperature}, it must be 0 or more")
        if self.top_k is not None and self.top_k < 1:
            raise ValueError(f"top_k is {self.top_k}, it must be 1 or more")
        if self.top_p is not None and not 0 < self.top_p <= 1:
            raise ValueError(f"top_p is {self.top_p}, it must be above 0 and at most 1")
        if self.min_p is not None and not 0 <= self.min_p <= 1:
            raise ValueError(f"min_p is {self.min_p}, it must be between 0 and 1")
        if self.seed is not None and self.seed < 0:
            raise ValueError(f"seed is {self.seed}, it must be 0 or more")

    def to_dict(self) -> dict[str, Any]:
        """The settings as JSON values."""
        return asdict(self)

    def choose(self, logits: torch.Tensor, draw: float) -> int:
        """Choose a token id from masked logits of shape (tokens,), with a number in [0, 1).

        Of equally likely tokens the lowest id counts as likeliest. Raises ``WorkbenchError`` when no
        logit is a finite number.
        """

        best = logits.max()
        if not math.isfinite(float(best)):
            raise WorkbenchError(
                f"the model's logits for the allowed tokens are not numbers (largest: {float(best)}); "
                "another dtype may help"
            )
        if self.temperature == 0:
            return int((logits == best).nonzero()[0])
        weights = self._weights(logits, float(best))
        ids = self._kept(weights)
        return int(ids[_drawn(weights[ids], draw)])

    def odds(self, logits: torch.Tensor) -> torch.Tensor:
        """The probabilities with which :meth:`choose` chooses: float64 of shape (tokens,), on the CPU.

        The temperature must be above 0, and some logit a finite number.
        """
        import torch

        weights = self._weights(logits, float(logits.max()))
        ids = self._kept(weights)
        found = torch.zeros_like(weights)
        found[ids] = weights[ids] / weights[ids].sum()
        return found

    def verified(
        self, logits: torch.Tensor, token: int, odds: torch.Tensor, draws: tuple[float, float]
    ) -> int:
        """Choose as :meth:`choose` does, given a token that was drawn with other ``odds``: it, as often as can be.

        With p here and q there it is taken with probability min(1, p / q), else a token is drawn in proportion to
        max(0, p - q): together that is p (Leviathan et al. 2023, Chen et al. 2023). ``draws`` are two numbers in
        [0, 1) that the token was not drawn with. Raises what :meth:`choose` raises.
        """
        import torch

        if not math.isfinite(float(logits.max())):
            return self.choose(logits, draws[0])
        wanted = self.odds(logits)
        if draws[0] * float(odds[token]) < float(wanted[token]):
            return token
        rest = wanted.clone()
        rest[: len(odds)] -= odds
        rest = torch.clamp(rest, min=0.0)
        # nothing is left where both are the same but for rounding
        return _drawn(rest if float(rest.sum()) > 0 else wanted, draws[1])

    def _weights(self, logits: torch.Tensor, best: float) -> torch.Tensor:
        """How likely tokens are beside the likeliest, at this temperature."""
        import torch

        return torch.exp((logits.detach().to("cpu", torch.float64) - best) / self.temperature)

    def _kept(self, weights: torch.Tensor) -> torch.Tensor:
        """The ids that may be drawn, likeliest first (lowest id first among equals)."""
        import torch

        alive = weights.nonzero().squeeze(1)
        order = torch.sort(weights[alive], descending=True, stable=True).indices
        ids = alive[order]
        if self.top_k is not None:
            ids = ids[: self.top_k]
        if self.top_p is not None:
            kept = weights[ids]
            before = torch.cumsum(kept, 0) - kept
            ids = ids[before < self.top_p * float(kept.sum())]
        if self.min_p is not None:
            ids = ids[weights[ids] >= self.min_p * float(weights[ids[0]])]
        return ids


def _drawn(weights: torch.Tensor, draw: float) -> int:
    """The place that a number in [0, 1) draws in proportion to weights."""
    import torch

    total = torch.cumsum(weights, 0)
    place = int(torch.searchsorted(total, draw * float(total[-1]), right=True))
    return min(place, int(weights.nonzero()[-1]))


def uniform(seed: int, index: int, *use: int) -> float:
    """The number in [0, 1) that decides step ``index`` of a run with this seed; another one for another ``use``.

    It depends on nothing else: stepping back and forth draws the same tokens again.
    """
    return float(np.random.default_rng([seed, index, *use]).random())

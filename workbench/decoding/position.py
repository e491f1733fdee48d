"""What is known at one position of a run before its token is taken."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch

from workbench.decoding.distribution import Distribution, describe
from workbench.decoding.situation import Situation

__all__ = ["Drafted", "Position"]


@dataclass(frozen=True, slots=True)
class Drafted:
    """A token that is run before it is known whether it comes.

    ``source`` is who drafted it, as in a trace. What is ``sure`` is taken without asking the model. ``odds`` are the
    probabilities that it was drawn with, None where it was not drawn: float64 of shape (tokens,).
    """

    token_id: int
    source: str
    sure: bool = False
    odds: torch.Tensor | None = field(default=None, repr=False, compare=False)


@dataclass(slots=True, eq=False)
class Position:
    """Everything known before the next token is chosen. ``masked`` and ``logits``: (tokens,)."""

    situation: Situation
    logits: torch.Tensor
    masked: torch.Tensor
    mask_hidden_ms: float
    mask_exposed_ms: float
    forward_ms: float
    apply_ms: float
    #: the token that was drafted to follow, and what it took to draft for the pass that begins here
    drafted: Drafted | None = None
    draft_ms: float = 0.0
    before: Distribution | None = None
    after: Distribution | None = None
    #: the sampler's token, and how long it took to choose it
    choice: tuple[int, float] | None = None
    #: what a step records whatever its token is, made when it is first asked for
    record: dict[str, Any] | None = None

    def describe(self) -> tuple[Distribution, Distribution]:
        """The distributions before and after the mask."""
        if self.before is None or self.after is None:
            self.before, self.after = describe(self.logits), describe(self.masked)
        return self.before, self.after

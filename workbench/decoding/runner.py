"""Running a model one token after the other over a key/value cache that can be shortened and copied."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Sequence
from typing import Any

import torch

from workbench.models import LoadedModel

__all__ = ["Runner", "synchronize"]


class Runner:
    """The forward passes of one sequence. ``len(runner)`` tokens are in the cache.

    ``passes`` counts them. A sequence need not go on from the one before: what both begin with is kept.
    """

    def __init__(self, model: LoadedModel) -> None:
        self._model = model
        self._cache: Any = None
        #: the tokens in the cache
        self._ids: list[int] = []
        self.passes = 0
        parameters = inspect.signature(model.model.forward).parameters
        self._cache_name = "cache" if "cache" in parameters else "past_key_values"
        self._keeps = "logits_to_keep" in parameters

    def __len__(self) -> int:
        return len(self._ids)

    def logits(self, ids: Sequence[int]) -> torch.Tensor:
        """The logits after a sequence: float32 of shape (tokens,); see :meth:`last_logits`."""
        return self.last_logits(ids, 1)[0]

    @torch.inference_mode()
    def last_logits(self, ids: Sequence[int], count: int) -> torch.Tensor:
        """The logits after each of the last ``count`` tokens of a sequence: float32 of shape (count, tokens).

        One forward pass. At least these tokens are run, even if they were run before. Returns when the device is done.
        """
        wanted = list(ids)
        self.truncate(_common(self._ids, wanted[: len(wanted) - count]))
        if self._cache is None:
            from transformers import DynamicCache

            self._cache = DynamicCache(config=self._model.model.config)
        device = self._model.model.device
        fresh = torch.tensor([wanted[len(self._ids) :]], dtype=torch.long, device=device)
        options: dict[str, Any] = {"use_cache": True}
        if self._keeps:
            options["logits_to_keep"] = count
        cache, self._cache = self._cache, None  # a forward pass that is cut short spoils it
        self._ids = []
        out = self._model.model(fresh, **{self._cache_name: cache}, **options)
        result: torch.Tensor = out.logits[0, -count:].float().clone()
        synchronize(result.device)
        self.passes += 1
        self._cache, self._ids = cache, wanted
        return result

    @torch.inference_mode()
    def truncate(self, length: int) -> None:
        """Forget all but the first ``length`` tokens; a cache that cannot is dropped whole."""
        if length >= len(self._ids):
            return
        try:
            self._cache.crop(length - len(self._ids))
            fits = self._cache.get_seq_length() == length
        except (ValueError, RuntimeError, NotImplementedError, AttributeError):
            fits = False
        self._cache, self._ids = (self._cache, self._ids[:length]) if fits else (None, [])

    @torch.inference_mode()
    def fork(self) -> Runner:
        """Copy the runner, its cache included."""
        other = Runner(self._model)
        other._cache = copy.deepcopy(self._cache)
        other._ids = list(self._ids)
        other.passes = self.passes
        return other


def _common(one: list[int], two: list[int]) -> int:
    """How many tokens two sequences begin with alike."""
    length = min(len(one), len(two))
    if one[:length] == two[:length]:
        return length
    return next(i for i in range(length) if one[i] != two[i])


def synchronize(device: torch.device) -> None:
    """Wait until a device has done what it was given."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    elif device.type == "mps":
        torch.mps.synchronize()

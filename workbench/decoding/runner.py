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
    """The forward passes of one sequence. ``len(runner)`` tokens are in the cache."""

    def __init__(self, model: LoadedModel) -> None:
        self._model = model
        self._cache: Any = None
        self._length = 0
        parameters = inspect.signature(model.model.forward).parameters
        self._cache_name = "cache" if "cache" in parameters else "past_key_values"
        self._options: dict[str, Any] = {"use_cache": True}
        if "logits_to_keep" in parameters:
            self._options["logits_to_keep"] = 1

    def __len__(self) -> int:
        return self._length

    @torch.inference_mode()
    def logits(self, ids: Sequence[int]) -> torch.Tensor:
        """The logits after a sequence that goes on from the cache: float32 of shape (tokens,).

        At least the last token is run, even if it was run before. Returns when the device is done.
        """
        self.truncate(min(self._length, len(ids) - 1))
        if self._cache is None:
            from transformers import DynamicCache

            self._cache = DynamicCache(config=self._model.model.config)
        device = self._model.model.device
        fresh = torch.tensor([ids[self._length :]], dtype=torch.long, device=device)
        cache, self._cache = self._cache, None  # a forward pass that is cut short spoils it
        self._length, length = 0, len(ids)
        out = self._model.model(fresh, **{self._cache_name: cache}, **self._options)
        result = out.logits[0, -1].float().clone()
        synchronize(result.device)
        self._cache, self._length = cache, length
        return result

    @torch.inference_mode()
    def truncate(self, length: int) -> None:
        """Forget all but the first ``length`` tokens; a cache that cannot is dropped whole."""
        if length >= self._length:
            return
        try:
            self._cache.crop(length - self._length)
            fits = self._cache.get_seq_length() == length
        except (ValueError, RuntimeError, NotImplementedError, AttributeError):
            fits = False
        self._cache, self._length = (self._cache, length) if fits else (None, 0)

    @torch.inference_mode()
    def fork(self) -> Runner:
        """Copy the runner, its cache included."""
        other = Runner(self._model)
        other._cache = copy.deepcopy(self._cache)
        other._length = self._length
        return other


def synchronize(device: torch.device) -> None:
    """Wait until a device has done what it was given."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    elif device.type == "mps":
        torch.mps.synchronize()

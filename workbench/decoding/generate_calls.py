"""Which call of transformers' ``generate`` a logits processor is working for.

``generate`` tells a processor neither where its run begins nor how it searches: a second run whose prompt is
the first one's answer looks like the next step of the first. So the frames of the calling code are looked at,
for one thing: the generation configuration that every call of ``generate`` makes for itself. Where the call
is not found (another loop calls the processor), nothing is assumed.
"""

from __future__ import annotations

import inspect
import sys
from dataclasses import dataclass
from types import FrameType

import torch
from transformers import GenerationConfig, GenerationMixin
from transformers.generation import GenerationMode

__all__ = ["GenerateCall", "calling_generate"]

_CODE = inspect.unwrap(GenerationMixin.generate).__code__


@dataclass(frozen=True, slots=True)
class GenerateCall:
    """A running call of ``generate``; ``config`` is an object of this call alone.

    ``drafts`` says that it tries tokens which it may take back (assisted generation).
    """

    config: GenerationConfig
    drafts: bool

    @property
    def beams(self) -> bool:
        """Whether it searches with beams: they go on with refused tokens where too few are allowed."""
        return (self.config.num_beams or 1) > 1

    @property
    def eos_ids(self) -> frozenset[int]:
        """The tokens that end its texts."""
        ids = self.config.eos_token_id
        return frozenset(() if ids is None else torch.as_tensor(ids).flatten().tolist())


def calling_generate() -> GenerateCall | None:
    """The outermost ``generate`` that is running in this thread: an assistant's run belongs to it."""
    found: FrameType | None = None
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code is _CODE:
            found = frame
        frame = frame.f_back
    if found is None:
        return None
    config = found.f_locals.get("generation_config")
    if not isinstance(config, GenerationConfig):
        return None
    mode = config.get_generation_mode(found.f_locals.get("assistant_model"))
    return GenerateCall(config, mode == GenerationMode.ASSISTED_GENERATION)

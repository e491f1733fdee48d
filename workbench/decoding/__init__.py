"""Decoding under a grammar. Names are looked up on first use, so that torch loads late."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from workbench.decoding.trace import Trace, TraceStep

if TYPE_CHECKING:
    from workbench.decoding.decoder import Candidate, Decoder
    from workbench.decoding.drafts import Drafts
    from workbench.decoding.generation import Generation, generate
    from workbench.decoding.processor import GrammarLogitsProcessor
    from workbench.decoding.samplers import Sampling

__all__ = [
    "Candidate",
    "Decoder",
    "Drafts",
    "Generation",
    "GrammarLogitsProcessor",
    "Sampling",
    "Trace",
    "TraceStep",
    "generate",
]

_HOMES = {
    "Candidate": "decoder",
    "Decoder": "decoder",
    "Drafts": "drafts",
    "Generation": "generation",
    "GrammarLogitsProcessor": "processor",
    "Sampling": "samplers",
    "generate": "generation",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value

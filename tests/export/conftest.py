"""The small tokenizer of the diagnostics' tests, and a cache of its own."""

from __future__ import annotations

from tests.diagnostics.conftest import _own_cache, tokenizer

__all__ = ["_own_cache", "tokenizer"]

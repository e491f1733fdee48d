"""The packaged model, loaded once a session; tests that need it skip where it cannot be had."""

from __future__ import annotations

import functools

import pytest

from workbench.errors import ModelNotFound
from workbench.models import LoadedModel, load_model


@functools.cache
def _load() -> LoadedModel | str:
    pytest.importorskip("torch", reason="torch is not installed")
    try:
        return load_model(device="cpu", progress=False)
    except ModelNotFound as error:
        return str(error)


def real_model() -> LoadedModel:
    """Return the packaged model in float32 on the CPU, or skip the test saying why."""
    loaded = _load()
    if isinstance(loaded, str):
        pytest.skip(f"the packaged model is not here: {loaded}")
    return loaded

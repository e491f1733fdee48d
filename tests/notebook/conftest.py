"""A tiny random model for the tests of the screens."""

from __future__ import annotations

from typing import Any

import pytest

from tests.notebook.tiny import tiny_model


@pytest.fixture(scope="session")
def tiny() -> Any:
    return tiny_model()

"""The examples of the page on decoding work."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import workbench as wb
from workbench.models import LoadedModel


@pytest.mark.model
def test_the_examples_of_the_page_work(model: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (Path(__file__).parents[2] / "docs" / "decoding.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(blocks) > 2
    monkeypatch.setattr(wb, "load_model", lambda: model)
    names: dict[str, Any] = {}
    for block in blocks:
        exec(block, names)

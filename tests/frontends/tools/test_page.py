"""The page about tools."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import workbench as wb

PAGE = (Path(__file__).parents[3] / "docs" / "tools.md").read_text(encoding="utf-8")


def test_the_examples_of_the_page_work() -> None:
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert len(blocks) >= 5
    names: dict[str, Any] = {}
    for block in blocks:
        exec(block, names)
    assert names["call"].name == "get_weather"


def test_the_table_of_the_page_has_every_format() -> None:
    listed = re.findall(r"^\| (`[a-z0-9_`, ]+`) \|", PAGE, re.MULTILINE)
    told = {name for cell in listed for name in re.findall("`([a-z0-9_]+)`", cell)}
    assert set(wb.tool_formats()) <= told

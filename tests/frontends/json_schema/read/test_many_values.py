"""Schemas of more values than a document may have are refused before anything is read."""

from __future__ import annotations

import json
from typing import Any

import pytest

import workbench as wb
from workbench.frontends.json_schema.read.document import Document

FEW = wb.Budgets(values=50)


@pytest.mark.parametrize(
    "schema",
    [
        {"enum": list(range(60))},
        {"default": [[n] for n in range(30)]},
        {"properties": {f"p{n}": {"type": "string"} for n in range(30)}},
        {"examples": (tuple(range(60)),)},
    ],
)
@pytest.mark.parametrize("form", [dict, json.dumps])
def test_too_many_values(
    schema: dict[str, Any], form: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Document, "read", lambda _: pytest.fail("it is read"))
    with pytest.raises(wb.GrammarTooComplex, match="values in one document in rule '#'"):
        wb.json_schema(form(schema), budgets=FEW)


def test_as_many_values_as_there_may_be() -> None:
    wb.json_schema({"enum": list(range(40))}, budgets=FEW)

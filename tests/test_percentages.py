"""Percentages are printed alike by Python's views and by those of the page."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from workbench.wording import percent

#: The front end's tests read the same table.
TABLE = json.loads((Path(__file__).parent / "notebook" / "percentages.json").read_text("utf-8"))


@pytest.mark.parametrize(("share", "said"), [*TABLE, (float("nan"), "–")])
def test_percentages(share: float | None, said: str) -> None:
    assert percent(share) == said


def test_what_is_almost_certain_stays_so_when_it_is_rounded() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    from workbench.decoding.distribution import describe
    from workbench.notebook.views import Row
    from workbench.notebook.wire import row_wire

    top = describe(torch.tensor([0.0, 18.0, -3.0])).top()
    assert percent(top[0][1]) == ">99.99%"
    assert percent(row_wire(Row(1, 1 - 1e-12, 1.0, True))[1]) == ">99.99%"
    assert row_wire(Row(1, 1 - 1e-12, 1.0, True))[2] == 1.0

"""Results show their text at a prompt and in a cell."""

from __future__ import annotations

import dataclasses
from io import StringIO
from typing import Any

import pytest

import workbench as wb
from workbench.vocabulary import byte_vocabulary


def results() -> list[Any]:
    matcher = wb.compile(wb.regex("ab?"), byte_vocabulary()).matcher()
    report = wb.dead_ends({"minLength": 3, "maxLength": 2, "type": "string"})
    return [
        wb.explain(matcher, "b"),
        report,
        report[0],
        wb.coverage(wb.regex("ab?"), ["a"]),
        wb.profile(wb.Trace()),
    ]


def test_ipython_prints_the_text_form() -> None:
    pretty = pytest.importorskip("IPython.lib.pretty")
    for result in results():
        out = StringIO()
        printer = pretty.RepresentationPrinter(out)
        printer.pretty(result)
        printer.flush()
        assert out.getvalue() == str(result) and "\n" in str(result)
        assert repr(result).startswith(type(result).__name__)


def test_results_stay_small_values() -> None:
    for result in results():
        assert not hasattr(result, "__dict__") and result == dataclasses.replace(result)

"""Prints what the property tests went through."""

from __future__ import annotations

import pytest

from tests.engine.census import CENSUS


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the census of the random grammars."""
    if CENSUS.cases:
        terminalreporter.section("census of the random grammars")
        for line in CENSUS.lines():
            terminalreporter.write_line(line)

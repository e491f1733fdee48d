"""Settings of every test run."""

from __future__ import annotations

import os

# Before anything imports torch or transformers: one thread a test (two on a busy machine are slower
# than one), no look at the network for models, no progress bars in the output.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
os.environ.setdefault("TQDM_DISABLE", "1")

import base64
import pickle
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# Machines differ in speed and share their cores: a slow example is no failure. In continuous
# integration the same examples run every time; elsewhere new ones are drawn.
settings.register_profile("local", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", settings.get_profile("local"), derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")


@pytest.fixture(scope="session", autouse=True)
def _checked_rules() -> Iterator[None]:
    """Check rules that are written on demand, which takes too much of a compilation to be done always."""
    from workbench.grammar.contracts import check_rule
    from workbench.grammar.ir import Expr, walk
    from workbench.grammar.lazy import LazyRules

    plain = LazyRules.__init__

    def checking(
        self: LazyRules, emit: Callable[[str], Expr], start: str, key: str | None = None
    ) -> None:
        def checked(name: str) -> Expr:
            expr = emit(name)
            # what is to be indented has marks in it, which the rules around these replace
            if all(type(part).__module__ == Expr.__module__ for part in walk(expr)):
                check_rule(name, expr)
            return expr

        plain(self, checked, start, key)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LazyRules, "__init__", checking)
        yield


def _census() -> Any:
    """What the random grammars were like, if any were looked at."""
    module = sys.modules.get("tests.engine.census")
    return module.CENSUS if module is not None and module.CENSUS.cases else None


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A process that runs a part of the tests hands its census to the one that prints."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None and (census := _census()) is not None:
        output["census"] = base64.b64encode(pickle.dumps(census)).decode("ascii")


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """Take over the census of a process that is done."""
    packed = getattr(node, "workeroutput", {}).get("census")
    if packed is not None:
        from tests.engine.census import CENSUS

        CENSUS.merge(pickle.loads(base64.b64decode(packed)))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the census of the random grammars."""
    if (census := _census()) is not None:
        terminalreporter.section("census of the random grammars")
        for line in census.lines():
            terminalreporter.write_line(line)

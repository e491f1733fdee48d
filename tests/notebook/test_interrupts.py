"""Interrupts: a run stops between two tokens, on a thread and in a cell, and what it took stays."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("anywidget", reason="anywidget is not installed")

from workbench.decoding import Decoder
from workbench.frontends.regex import regex
from workbench.notebook import stepper as module
from workbench.notebook.interrupts import interrupted_here
from workbench.notebook.session import Session
from workbench.notebook.static_html import static_text


@pytest.fixture
def session(tiny: Any, monkeypatch: pytest.MonkeyPatch) -> Session:
    """A session whose steps take 20 ms each."""
    session = Session(Decoder(tiny, [1, 2, 3], regex("[ab]{50,}c")), "slow")
    plain = session.decoder.step

    def step(token: int | None = None) -> Any:
        time.sleep(0.02)
        return plain(token)

    monkeypatch.setattr(session.decoder, "step", step)
    return session


@pytest.fixture
def stepper(session: Session) -> Any:
    return module.Stepper(session)


@pytest.fixture(autouse=True)
def handler() -> Iterator[None]:
    before = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, before)


def soon() -> None:
    threading.Timer(0.15, os.kill, (os.getpid(), signal.SIGINT)).start()


def said(stepper: Any) -> str:
    kind, message = stepper.document.problem
    assert kind == "stopped"
    assert message.endswith("run again to go on")
    return str(message)


@pytest.mark.parametrize("subshell", [False, True])
def test_a_run_hears_an_interrupt_that_an_idle_kernel_ignores(
    session: Session, subshell: bool
) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # as a kernel between two messages

    async def kernel() -> Any:
        stepper = module.Stepper(session)
        message = {"type": "run", "node": 0, "until": "end"}
        if subshell:  # a page's messages come on a thread of their own
            await asyncio.to_thread(stepper.protocol.receive, message)
        else:
            stepper.protocol.receive(message)
        soon()
        while stepper.protocol.is_running:
            await asyncio.sleep(0.02)
        taken = len(stepper.document.positions) - 1
        assert 0 < taken < 40
        assert "interrupted" in said(stepper)
        assert f"after {taken} token" in said(stepper)
        await asyncio.sleep(0.3)  # the run is over: interrupts are ignored again
        return stepper

    stepper = asyncio.run(kernel())
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    assert "■ stopped: after" in static_text(stepper.document)
    stepper.step()
    assert stepper.document.problem is None


def test_a_run_that_a_cell_waits_for_stops_between_two_tokens(stepper: Any) -> None:
    before = signal.getsignal(signal.SIGINT)
    soon()
    with pytest.raises(KeyboardInterrupt):
        stepper.run()
    assert signal.getsignal(signal.SIGINT) is before
    taken = len(stepper.document.positions) - 1
    assert 0 < taken < 40
    assert "interrupted" in said(stepper)
    assert len(stepper.session.decoder.token_ids) == taken
    stepper.run("branching")
    assert len(stepper.document.positions) == taken + 2


def test_stopping_says_so(stepper: Any) -> None:
    stepper.run(wait=False)
    time.sleep(0.1)
    stepper.stop()
    assert "interrupted" not in said(stepper)


def test_a_second_interrupt_does_not_wait_for_the_token() -> None:
    with interrupted_here() as seen:
        assert not seen
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.01)
        assert seen
        with pytest.raises(KeyboardInterrupt):
            seen(signal.SIGINT, None)


def test_a_thread_hears_of_no_interrupt() -> None:
    found: list[bool] = []

    def work() -> None:
        with interrupted_here() as seen:
            found.append(bool(seen))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [False]

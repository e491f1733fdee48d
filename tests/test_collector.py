"""The collector waits while something is built, and everything is as it was afterwards."""

from __future__ import annotations

import gc
import os
import sys
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Any

import pytest

import workbench as wb
from workbench.collector import CollectorWaits

BYTES = wb.Vocabulary.from_bytes([*(bytes([b]) for b in range(256)), b"<end>"], [256])
USUAL = (700, 10, 10)
SCHEMA = {
    "type": "object",
    "properties": {f"member{i}": {"enum": [f"a{i}", f"b{i}"]} for i in range(60)},
    "required": [f"member{i}" for i in range(60)],
}


@pytest.fixture(autouse=True)
def thresholds() -> Iterator[None]:
    before, collecting = gc.get_threshold(), gc.isenabled()
    gc.set_threshold(*USUAL)
    gc.enable()
    yield
    gc.set_threshold(*before)
    if not collecting:
        gc.disable()


def runs() -> int:
    return sum(generation["collections"] for generation in gc.get_stats())


def test_it_waits_for_more_objects_and_only_inside() -> None:
    kept = []
    with CollectorWaits():
        began = runs()
        kept += [[i] for i in range(50_000)]
        assert runs() == began
        assert gc.isenabled()
    kept += [[i] for i in range(1_000)]
    assert runs() > began
    assert gc.get_threshold() == USUAL


def test_garbage_without_end_is_still_collected() -> None:
    class Knot:
        alive = 0

        def __init__(self) -> None:
            self.itself = self
            Knot.alive += 1

        def __del__(self) -> None:
            Knot.alive -= 1

    most = 0
    with CollectorWaits():
        for _ in range(500_000):
            Knot()
            most = max(most, Knot.alive)
    assert 10_000 < most < 300_000


def test_errors_and_nesting() -> None:
    with CollectorWaits():
        with CollectorWaits():
            inside = gc.get_threshold()
        assert gc.get_threshold() == inside != USUAL
    assert gc.get_threshold() == USUAL
    with pytest.raises(wb.UnsatisfiableGrammar):
        wb.json_schema({"allOf": [{"type": "string"}, {"type": "null"}]})
    assert gc.get_threshold() == USUAL


def test_a_collector_that_is_off_stays_off() -> None:
    gc.disable()
    with CollectorWaits():
        assert not gc.isenabled()
    assert not gc.isenabled()
    gc.enable()
    gc.set_threshold(0)
    with CollectorWaits():
        assert gc.get_threshold()[0] == 0
    assert gc.get_threshold()[0] == 0


def test_what_others_set_meanwhile_stays() -> None:
    with CollectorWaits():
        gc.set_threshold(1234, 5, 6)
    assert gc.get_threshold() == (1234, 5, 6)
    with CollectorWaits():
        gc.disable()
    assert not gc.isenabled()
    gc.set_threshold(10**6, 10, 10)  # more patient than is asked for
    with CollectorWaits():
        assert gc.get_threshold() == (10**6, 10, 10)


def test_the_last_of_several_threads_gives_it_back() -> None:
    first, second = CollectorWaits(), CollectorWaits()
    first.__enter__()
    second.__enter__()
    thread = threading.Thread(target=first.__exit__)
    thread.start()
    thread.join()
    assert gc.get_threshold() != USUAL
    second.__exit__()
    assert gc.get_threshold() == USUAL


def test_many_threads_that_compile() -> None:
    seen: list[tuple[int, int, int]] = []

    def work(number: int) -> None:
        for i in range(5):
            grammar = wb.json_schema({**SCHEMA, "title": f"{number} {i}"})
            wb.compile(grammar, BYTES, cache=False).matcher().accept_tokens(b'{"member0":"a0"')
            seen.append(gc.get_threshold())

    threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 30
    assert gc.get_threshold() == USUAL


def test_compiling_and_growing_do_not_collect(monkeypatch: pytest.MonkeyPatch) -> None:
    gc.collect()
    inside: set[tuple[int, int, int]] = set()
    outside: list[str] = []

    def note(phase: str, info: dict[str, int]) -> None:
        frame: FrameType | None = sys._getframe(1)
        names = set()
        while frame is not None:
            names.add(frame.f_code.co_name)
            frame = frame.f_back
        if phase == "start":
            outside.extend(names & {"_automaton", "grow", "_emit", "read"})
        inside.add(gc.get_threshold())

    gc.callbacks.append(note)
    try:
        compiled = wb.compile(wb.json_schema(SCHEMA), BYTES, cache=False)
        assert compiled.matcher().accept_tokens(b'{"member0":"a0","member1":"b1"') == 30
    finally:
        gc.callbacks.remove(note)
    assert outside == []
    assert inside <= {USUAL}


@pytest.mark.parametrize("where", ["__enter__", "_give_back", "_leave", "__exit__", "body"])
def test_an_interrupt_anywhere_gives_it_back(where: str) -> None:
    """An interrupt before each instruction of a function, one after the other."""

    def body() -> int:
        return sum(range(3))

    def interrupted(at: int) -> bool:
        count = 0

        def trace(frame: FrameType, event: str, _argument: Any) -> Any:
            nonlocal count
            if frame.f_code.co_name != where:
                return None
            frame.f_trace_opcodes = True
            return opcode

        def opcode(frame: FrameType, event: str, _argument: Any) -> Any:
            nonlocal count
            if event == "opcode":
                count += 1
                if count == at:
                    sys.settrace(None)
                    raise KeyboardInterrupt
            return opcode

        sys.settrace(trace)
        try:
            with CollectorWaits():
                body()
        except KeyboardInterrupt:
            return True
        finally:
            sys.settrace(None)
        return False

    places = 0
    while interrupted(places + 1):
        places += 1
        assert gc.get_threshold() == USUAL, f"instruction {places} of {where}"
        with CollectorWaits():
            assert gc.get_threshold() != USUAL
        assert gc.get_threshold() == USUAL
    assert places > 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_process_begins_as_usual() -> None:
    began, done = threading.Event(), threading.Event()

    def build() -> None:
        with CollectorWaits():
            began.set()
            done.wait(20)

    thread = threading.Thread(target=build)
    thread.start()
    assert began.wait(20)
    child = os.fork()
    if child == 0:
        as_usual = gc.get_threshold() == USUAL
        with CollectorWaits():
            as_usual &= gc.get_threshold() != USUAL
        os._exit(0 if as_usual and gc.get_threshold() == USUAL else 1)
    done.set()
    thread.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert gc.get_threshold() == USUAL

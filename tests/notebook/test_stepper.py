"""The widget without a browser: what it answers to messages, and that errors become banners."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("anywidget", reason="anywidget is not installed")
pytest.importorskip("IPython", reason="IPython is not installed")

from tests.notebook.kept import kept
from workbench.decoding import Decoder
from workbench.errors import UnsatisfiableGrammar, WorkbenchError
from workbench.frontends.regex import regex
from workbench.notebook.session import Session
from workbench.notebook.show import step
from workbench.notebook.stepper import Stepper

PROMPT = [1, 2, 3]


class Page:
    """Stands in for the front end: sends messages, keeps the answers."""

    def __init__(self, stepper: Stepper, monkeypatch: pytest.MonkeyPatch) -> None:
        self.stepper = stepper
        self.heard: list[dict[str, Any]] = []
        monkeypatch.setattr(stepper, "send", self._hear)

    def _hear(self, message: dict[str, Any], buffers: Sequence[bytes] = ()) -> None:
        if message.get("packed"):
            message = json.loads(zlib.decompress(buffers[0]))
        self.heard.append(message)

    def send(self, **message: Any) -> list[dict[str, Any]]:
        self.heard.clear()
        self.stepper.protocol.receive(message)
        json.dumps(self.heard, allow_nan=False)
        return list(self.heard)


@pytest.fixture
def page(tiny: Any, monkeypatch: pytest.MonkeyPatch) -> Page:
    session = Session(Decoder(tiny, PROMPT, regex("(ab|c)[ab]{2,9}[01]+")), "letters")
    return Page(Stepper(session), monkeypatch)


def payload(stepper: Stepper) -> dict[str, Any]:
    return kept(stepper.get_state())


def test_starts_with_the_whole_document(page: Page) -> None:
    document = payload(page.stepper)
    assert document["title"] == "letters"
    assert len(document["positions"]) == 1
    assert document == json.loads(json.dumps(page.stepper.document.wire()))
    assert page.send(type="hello") == [{"type": "done"}]


def test_step_take_and_undo(page: Page) -> None:
    change, done = page.send(type="step", node=0)
    assert (change["type"], done["type"]) == ("change", "done")
    assert [p["id"] for p in change["positions"]] == [1]
    assert change["cursor"] == page.stepper.cursor == 1
    change, _ = page.send(type="take", node=0, token=11)
    assert change["positions"][0]["edge"]["kind"] == "chosen"
    assert page.stepper.text == "ab"
    assert len(payload(page.stepper)["positions"]) == 3
    change, _ = page.send(type="undo")
    assert (change["positions"], change["cursor"]) == ([], 1)


@pytest.mark.parametrize(
    "message",
    [
        {"type": "take", "node": 0, "token": 10},
        {"type": "take", "node": 0, "token": 10**12},
        {"type": "take", "node": 99, "token": 1},
        {"type": "step", "node": "x"},
        {"type": "step"},
        {"type": "run"},
        {"type": "run", "node": 99, "until": "end"},
        {"type": "undo"},
        {"type": "why", "node": 0, "token": 10**9},
    ],
)
def test_what_cannot_be_done_becomes_a_banner(page: Page, message: dict[str, Any]) -> None:
    change, done = page.send(**message)
    assert change["problem"]["message"]
    assert change["cursor"] == 0
    assert done == {"type": "done"}
    change, _ = page.send(type="step", node=0)
    assert change["problem"] is None


def test_an_interrupt_is_survived(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(page.stepper.session.decoder, "step", interrupted)
    change, _ = page.send(type="step", node=0)
    assert change["problem"]["kind"] == "KeyboardInterrupt"
    monkeypatch.undo()


def test_unknown_messages_do_no_harm(page: Page) -> None:
    for message in ({}, {"type": "dance"}, {"type": None}):
        assert [m["type"] for m in page.send(**message)] == ["change", "done"]


def test_why_comes_with_the_position(page: Page) -> None:
    change, _ = page.send(type="why", node=0, token=16)
    assert change["positions"][0]["whys"]["16"]["expected"] == "a c"


def test_search_answers_with_tokens(page: Page) -> None:
    (found,) = page.send(type="search", request=7, node=0, query="10", allowed_only=False)
    assert (found["type"], found["request"], found["total"]) == ("found", 7, 1)
    (found,) = page.send(type="search", request=8, node=99, query="a", allowed_only=False)
    assert found["note"] == "the search failed: there is no position 99"


def test_a_run_goes_on_beside_the_notebook(page: Page) -> None:
    page.send(type="run", node=0, until="end")
    assert page.stepper.protocol.wait(60)
    kinds = [m["type"] for m in page.heard]
    assert kinds.count("change") > 3  # one after each step, so that the page shows the progress
    assert kinds[-1] == "done"
    assert not page.stepper.session.here.open


def test_a_cell_waits_for_its_run_and_refuses_a_second_one(page: Page) -> None:
    page.stepper.run("end", wait=False)
    with pytest.raises(WorkbenchError, match="a run goes on"):
        page.stepper.undo()
    page.stepper.stop()
    page.stepper.run("end")
    assert not page.stepper.session.here.open


def test_run_can_be_stopped(tiny: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    page = Page(Stepper(Session(Decoder(tiny, PROMPT, regex("[ab]{50}")))), monkeypatch)

    page.stepper.protocol.receive({"type": "run", "node": 0, "until": "end"})
    while len(page.stepper.document.positions) < 4:
        time.sleep(0.001)
    found = page.stepper.protocol
    found.receive({"type": "take", "node": 0, "token": 1})  # busy: nothing else is started
    found.receive({"type": "stop"})
    assert found.wait(60)
    assert all(p.edge is None or p.edge.kind != "chosen" for p in page.stepper.document.positions)
    assert page.heard[-1] == {"type": "done"}
    count = len(page.stepper.document.positions)
    assert 4 <= count < 40
    page.send(type="step", node=page.stepper.cursor)
    assert len(page.stepper.document.positions) == count + 1


def test_a_cell_can_do_what_the_page_does(page: Page) -> None:
    stepper = page.stepper
    stepper.step()
    stepper.back()
    stepper.take(11)
    assert (stepper.text, stepper.cursor) == ("ab", 2)
    with pytest.raises(WorkbenchError, match="does not allow"):
        stepper.take(10)
    stepper.undo()
    assert stepper.cursor == 0
    stepper.run()
    assert "state: the model ended the text" in str(stepper)
    assert repr(stepper).startswith("<Stepper of ")


def test_moving_in_the_page_moves_the_session(page: Page) -> None:
    page.stepper.run()
    page.stepper.cursor = 2
    assert page.stepper.session.cursor == 2
    page.stepper.cursor = 10_000
    assert page.stepper.session.cursor == 2


def test_shows_a_static_view_and_a_live_one(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    import IPython.display

    shown: list[tuple[Any, dict[str, Any]]] = []
    updates: list[str] = []

    class Handle:
        def update(self, html: Any) -> None:
            updates.append(html.data)

    def display(value: Any, **options: Any) -> Handle:
        shown.append((value, options))
        return Handle()

    monkeypatch.setattr(IPython.display, "display", display)
    page.stepper._ipython_display_()
    (static, options), (live, raw) = shown
    name = f"wb-static-{page.stepper.view_id}"
    rule, view = static.data.split("</style>")
    assert rule.startswith(f"<style>.jp-OutputArea-child:has(.{name}) + ")
    assert view.startswith(f'<details class="wb-static {name}" open>')
    assert "text/plain" not in live  # the static view has it
    assert options == {"display_id": name}
    assert "application/vnd.jupyter.widget-view+json" in live
    assert raw["raw"] is True
    page.send(type="step", node=0)
    assert updates == []  # a little later, when several commands may have come
    for _ in range(500):
        if updates:
            break
        time.sleep(0.01)
    assert "1 step. Static view." in updates[-1]
    page.stepper.step()
    assert "2 steps. Static view." in updates[-1]  # at once where a cell asked for it
    shown.clear()
    monkeypatch.setenv("WORKBENCH_STATIC", "1")
    page.stepper._ipython_display_()
    assert len(shown) == 1


def test_report_of_all_branches(page: Page, tmp_path: Path) -> None:
    page.stepper.run()
    page.stepper.session.take(11, 0)
    path = page.stepper.report(tmp_path / "run.html")
    assert "letters" in path.read_text(encoding="utf-8")


def test_step_opens_one(tiny: Any) -> None:
    stepper = step(tiny, PROMPT, regex("a+"), title="as", theme="dark", temperature=0.5, seed=3)
    assert (stepper.theme, stepper.document.title) == ("dark", "as")
    assert "temperature 0.5" in stepper.document.meta["settings"]
    with pytest.raises(TypeError, match="colour"):
        step(tiny, PROMPT, regex("a+"), colour="red")
    with pytest.raises(UnsatisfiableGrammar):
        step(tiny, PROMPT, regex("x"))  # no token spells an x


def test_importing_the_package_loads_no_notebook() -> None:
    code = (
        "import sys, workbench.notebook as n; n.write_report;"
        "print(sorted({'IPython','anywidget','ipywidgets','torch','llvmlite','graphviz'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"

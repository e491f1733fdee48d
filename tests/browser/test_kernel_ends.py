"""A kernel that is restarted, dies or is interrupted in a run, and a notebook that is opened again with another one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import Lab, watch
from tests.browser.test_workbench import notebook

pytestmark = [pytest.mark.browser, pytest.mark.slow]

#: A panel over a model that takes its time.
CODE = """import time
import workbench as wb
from tests.notebook.tiny import tiny_model
model = tiny_model()
plain = model.model.forward
def slowly(input_ids, cache=None, use_cache=None, logits_to_keep=0):
    time.sleep(0.25)
    return plain(input_ids, cache=cache, use_cache=use_cache, logits_to_keep=logits_to_keep)
model.model.forward = slowly
bench = wb.Workbench(model, wb.regex("[ab]{50,}c"), [1, 2, 3], title="slow")
bench"""

KERNEL = "jupyterapp.shell.currentWidget.sessionContext"
WORKING = "/working/.test(document.querySelector('.wb-status').textContent)"
GONE = "the kernel is gone: run the cell again"


@pytest.fixture(scope="module")
def running(browser: Any, lab: Lab) -> Any:
    pytest.importorskip("transformers", reason="transformers is not installed")

    def start(name: str) -> Any:
        notebook(lab, name, CODE)
        watched = watch(browser, 1300, 1100)
        page = watched.page
        page.set_default_timeout(60_000)
        lab.open(page, name)
        lab.run_all(page)
        page.locator(".wb-panel").wait_for(timeout=240_000)
        page.wait_for_selector("[data-action=run][aria-disabled=false]")
        page.get_by_label("Run to", exact=True).select_option("end")
        page.locator("[data-action=run]").click()
        page.wait_for_function("/step [3-9]/.test(document.querySelector('.wb-place').textContent)")
        page.wait_for_function(WORKING)
        return page

    return start


def browses(page: Any) -> None:
    """What was recorded can still be looked at; what needs a kernel says so."""
    place = page.locator(".wb-place")
    length = int(place.inner_text().rsplit("/", 1)[1])
    assert length >= 3
    page.locator("[data-action=first]").click()
    assert place.inner_text() == f"step 0/{length}"
    page.locator("[data-action=forward]").click()
    assert place.inner_text() == f"step 1/{length}"
    page.locator("[data-action=last]").click()
    assert "run the cell again" in page.locator("[data-action=undo]").get_attribute("aria-label")


@pytest.mark.parametrize("how", ["restart", "crash"])
def test_a_kernel_that_ends_in_a_run(running: Any, results: Path, how: str) -> None:
    page = running(f"{how}.ipynb")
    if how == "restart":
        page.evaluate(f"{KERNEL}.restartKernel()")
    else:
        page.evaluate(
            f"void {KERNEL}.session.kernel.requestExecute("
            "{code: 'import os, signal; os.kill(os.getpid(), signal.SIGKILL)'})"
        )
        page.locator(".jp-Dialog button").click()  # JupyterLab says that it starts another one
    banner = page.locator(".wb-banner")
    page.wait_for_function("!document.querySelector('.wb-banner').hidden")
    assert GONE in banner.inner_text()
    assert GONE in page.locator(".wb-status").inner_text()
    assert not page.evaluate(WORKING)
    browses(page)
    page.locator(".wb-panel").screenshot(path=str(results / f"kernel-{how}.png"))


def test_the_interrupt_button_stops_a_run(running: Any, results: Path) -> None:
    page = running("interrupt.ipynb")
    page.evaluate("jupyterapp.commands.execute('notebook:interrupt-kernel')")
    page.wait_for_function("!document.querySelector('.wb-banner').hidden")
    said = page.locator(".wb-banner").inner_text()
    assert said.startswith("■ stopped: after ") and "interrupted: run again to go on" in said
    assert not page.evaluate(WORKING)
    length = int(page.locator(".wb-place").inner_text().rsplit("/", 1)[1])
    assert 3 <= length < 40
    page.locator(".wb-panel").screenshot(path=str(results / "kernel-interrupt.png"))
    # The run goes on where it stopped, and a run that a cell waits for is interrupted as well.
    page.locator("[data-action=forward]").click()
    page.wait_for_function(
        f"document.querySelector('.wb-place').textContent === 'step {length + 1}/{length + 1}'"
    )
    page.evaluate(
        f"void (window.ran = {KERNEL}.session.kernel.requestExecute({{code: 'bench.run()'}}).done)"
    )
    page.wait_for_timeout(1500)
    page.evaluate(f"{KERNEL}.session.kernel.interrupt()")
    assert page.evaluate("window.ran.then(reply => reply.content.ename)") == "KeyboardInterrupt"
    page.wait_for_function("!document.querySelector('.wb-banner').hidden")
    assert "interrupted: run again to go on" in page.locator(".wb-banner").inner_text()


def test_another_kernel_leaves_the_static_view_alone(
    browser: Any, lab: Lab, running: Any, results: Path
) -> None:
    page = running("again.ipynb")
    page.locator("[data-action=stop]").click()
    page.wait_for_function(f"!({WORKING})")
    page.wait_for_timeout(1500)  # the static view follows a little later
    page.evaluate("jupyterapp.commands.execute('docmanager:save')")
    page.wait_for_function("!jupyterapp.shell.currentWidget.context.model.dirty")
    page.evaluate(f"{KERNEL}.shutdown()")
    page.context.close()
    watched = watch(browser, 1300, 1100)
    page = watched.page
    page.set_default_timeout(60_000)
    lab.open(page, "again.ipynb")
    view = page.locator("details.wb-static")
    view.wait_for()
    page.wait_for_function("document.querySelector('.jupyter-widgets')")
    page.wait_for_timeout(500)
    area = page.locator(".jp-OutputArea").first
    assert not page.get_by_text("model not found").is_visible()
    assert not page.get_by_text("<Workbench").is_visible()
    assert "■ stopped" in area.inner_text()
    assert view.get_attribute("open") is not None
    area.screenshot(path=str(results / "kernel-again.png"))

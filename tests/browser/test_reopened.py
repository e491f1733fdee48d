"""A notebook that is opened again with no kernel behind its outputs: what is left of the screens."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.browser.checks import assert_readable
from tests.browser.conftest import Lab, watch
from tests.browser.test_workbench import tab
from tests.notebook import samples
from tests.notebook.tiny import tiny_model
from workbench.notebook.editor import check
from workbench.notebook.recorded import from_trace
from workbench.notebook.static_html import static_html

pytestmark = [pytest.mark.browser, pytest.mark.slow]

nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")


def saved(html: str, model_id: str) -> Any:
    """A notebook with the two outputs that displaying a stepper makes."""
    view = {"version_major": 2, "version_minor": 0, "model_id": model_id}
    outputs = [
        nbformat.v4.new_output("display_data", {"text/html": html, "text/plain": "html"}),
        nbformat.v4.new_output(
            "display_data",
            {"application/vnd.jupyter.widget-view+json": view, "text/plain": "<Stepper>"},
        ),
    ]
    cell = nbformat.v4.new_code_cell("wb.step(...)", outputs=outputs, execution_count=1)
    notebook = nbformat.v4.new_notebook(cells=[cell])
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    notebook.metadata["kernelspec"] = kernel
    return notebook


def test_static_view_stays_readable(browser: Any, lab: Lab) -> None:
    document = from_trace(samples.trace(), samples.vocabulary(), samples.automaton(), "kept")
    notebook = saved(static_html(document, "kept0", leaf=8), "0" * 32)
    nbformat.write(notebook, lab.folder / "kept.ipynb")
    watched = watch(browser, 1200, 1200)
    page = watched.page
    lab.open(page, "kept.ipynb")
    view = page.locator("details.wb-static-kept0")
    view.wait_for()
    assert view.get_attribute("open") is not None
    assert page.get_by_text("Static view. Run the cell for the live one.").is_visible()
    assert page.locator("caption", has_text="Steps (8)").is_visible()
    chip = page.locator("code[title='step 5, id 7, chosen by you']")
    assert chip.is_visible()
    assert chip.evaluate("e => getComputedStyle(e).backgroundColor") == "rgb(244, 230, 245)"
    image = page.locator("details.wb-static-kept0 img")
    if image.count():
        assert image.evaluate("e => e.naturalWidth > 100")
    assert page.locator("meter").count() > 5
    assert watched.outside == []


def test_a_trusted_notebook_with_saved_state_still_steps(browser: Any, lab: Lab) -> None:
    pytest.importorskip("anywidget", reason="anywidget is not installed")
    from ipywidgets import Widget

    from workbench.decoding import Decoder
    from workbench.frontends.regex import regex
    from workbench.notebook.session import Session
    from workbench.notebook.stepper import Stepper

    session = Session(Decoder(tiny_model(), [1, 2, 3], regex("(ab|c)[ab]{2,9}[01]+")), "kept")
    session.run()
    session.goto(0)
    stepper = Stepper(session)
    length = len(session.document.path(session.leaf)) - 1
    notebook = saved(static_html(session.document, stepper.view_id), stepper.model_id)
    notebook.metadata["widgets"] = {
        "application/vnd.jupyter.widget-state+json": Widget.get_manager_state(
            widgets=[stepper, stepper.layout]
        )
    }
    path = lab.folder / "state.ipynb"
    nbformat.write(notebook, path)
    subprocess.run(
        [sys.executable, "-m", "jupyter", "trust", str(path)], env=lab.environment, check=True
    )
    watched = watch(browser, 1200, 1200)
    page = watched.page
    lab.open(page, "state.ipynb")
    page.locator(".wb-canvas svg").wait_for()
    assert page.locator(".wb-place").inner_text() == f"step 0/{length}"
    page.locator("[data-action=forward]").click()
    assert page.locator(".wb-place").inner_text() == f"step 1/{length}"
    # No kernel answers: what needs one says so after a while, and looking goes on.
    page.get_by_text("recorded run: stepping and searching work").wait_for()
    assert "kernel" in page.locator("[data-action=undo]").get_attribute("aria-label")
    page.locator(".wb-panel").press("/")
    page.keyboard.type("id:3")
    page.get_by_text("1 token found").wait_for()
    assert watched.outside == []


def test_a_workbench_without_a_kernel_shows_what_was_recorded(
    browser: Any, lab: Lab, results: Path
) -> None:
    pytest.importorskip("anywidget", reason="anywidget is not installed")
    from ipywidgets import Widget

    from workbench.frontends.regex import regex
    from workbench.notebook.workbench import Workbench

    bench = Workbench(tiny_model(), regex("(ab|c)[ab]{2,9}[01]+"), [1, 2, 3], title="kept")
    bench.run()
    bench.handlers.examples = [{"text": "abab0", "want": "match"}]
    document = bench.document
    document.panels["grammar"] = check(
        "(ab|c)[ab]{2,9}[01]+", "regex", bench.handlers.examples, bench.session.decoder.vocabulary
    )
    bench.handlers.find_dead_ends(1)
    bench.session.why(15, 0)
    bench.back(100)
    notebook = saved(static_html(document, bench.view_id), bench.model_id)
    notebook.metadata["widgets"] = {
        "application/vnd.jupyter.widget-state+json": Widget.get_manager_state(
            widgets=[bench, bench.layout]
        )
    }
    path = lab.folder / "bench-state.ipynb"
    nbformat.write(notebook, path)
    subprocess.run(
        [sys.executable, "-m", "jupyter", "trust", str(path)], env=lab.environment, check=True
    )
    watched = watch(browser, 1300, 1500)
    page = watched.page
    lab.open(page, "bench-state.ipynb")
    page.locator(".wb-canvas:visible svg").wait_for()
    page.get_by_text("recorded run: stepping and searching work").wait_for()
    tab(page, "step")
    page.locator("[data-action=forward]").click()
    page.locator("[data-action=back]").click()
    shown = tab(page, "grammar")
    assert shown.locator("textarea").input_value() == "(ab|c)[ab]{2,9}[01]+"
    assert "● matches" in shown.locator(".wb-example-verdict").inner_text()
    assert "kernel" in shown.get_by_role("button", name="Use this grammar").get_attribute("title")
    shown = tab(page, "tokens")
    shown.locator(".wb-group").first.wait_for()
    shown.locator(".wb-search").fill("id:15")
    shown.get_by_role("button", name="all", exact=True).click()
    shown.locator(".wb-item").first.click()  # the only group is open
    assert "may not come in root" in shown.locator(".wb-sentence").inner_text()
    shown = tab(page, "dead")
    assert "over budget" in shown.locator(".wb-finding").first.inner_text()
    assert "kernel" in shown.get_by_role("button", name="Search grammar").get_attribute("title")
    shown = tab(page, "profile")
    assert shown.locator(".wb-tracks g[data-step]").count() > 3
    shown = tab(page, "export")
    assert "kernel" in shown.get_by_role("button", name="Write the file").get_attribute("title")
    assert_readable(page.locator(".wb-panel"))
    page.locator(".wb-panel").screenshot(path=str(results / "bench-reopened.png"))
    watched.assert_clean()

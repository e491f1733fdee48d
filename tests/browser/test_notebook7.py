"""The workbench in Notebook 7, with a random model: it opens, steps by mouse and by keyboard, follows the theme."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.browser.checks import assert_readable
from tests.browser.conftest import Lab, Watched, watch
from tests.browser.test_stepper import cells, place, press
from tests.browser.test_workbench import TABS, notebook, tab

pytestmark = [pytest.mark.browser, pytest.mark.slow]

CODE = """import workbench as wb
from tests.notebook.tiny import tiny_model
grammar = wb.regex("(ab|c)[ab]{2,9}[01]+")
bench = wb.Workbench(tiny_model(), grammar, [1, 2, 3], title="letters", temperature=1.0, seed=2)
bench"""


@pytest.fixture(scope="module")
def opened(browser: Any, classic: Lab) -> Watched:
    pytest.importorskip("transformers", reason="transformers is not installed")
    notebook(classic, "letters.ipynb", CODE)
    watched = watch(browser, 1500, 1700)
    classic.open(watched.page, "letters.ipynb")
    watched.page.wait_for_timeout(2000)
    # What Notebook says about its own settings while it starts is not ours.
    watched.errors.clear()
    classic.run_all(watched.page)
    watched.page.locator(".wb-panel").wait_for(timeout=240_000)
    watched.page.wait_for_selector("[data-action=forward][aria-disabled=false]")
    return watched


def test_steps_by_mouse_and_by_keyboard(opened: Watched, results: Path) -> None:
    page = opened.page
    assert "/notebooks/letters.ipynb" in page.url
    assert place(page) == (0, 0)
    press(page, "forward")
    page.wait_for_function("document.querySelector('.wb-place').textContent === 'step 1/1'")
    page.wait_for_selector("[data-action=stop][aria-disabled=true]")
    page.locator(".wb-panel").press("ArrowRight")
    page.wait_for_function("document.querySelector('.wb-place').textContent === 'step 2/2'")
    page.wait_for_selector("[data-action=stop][aria-disabled=true]")
    page.locator(".wb-panel").press("ArrowLeft")
    assert place(page) == (1, 2)
    row = page.locator(".wb-row.wb-rejected").first
    row.click()
    page.locator(".wb-reason").wait_for()
    page.locator(".wb-panel").press("Escape")
    # The static view stands above, closed by the live one.
    assert page.locator("details.wb-static").get_attribute("open") is None
    page.locator(".wb-canvas:visible svg").wait_for()
    page.locator(".wb-panel").screenshot(path=str(results / "notebook7-step.png"))


def test_every_screen_is_readable_and_keys_stay_in_the_panel(opened: Watched) -> None:
    page = opened.page
    count = cells(page)
    for name in TABS:
        tab(page, name)
        page.wait_for_timeout(400)
        assert_readable(page.locator(".wb-panel"))
        for key in ("a", "b", "x", "m", "y"):
            page.locator(".wb-panel").press(key)
    page.wait_for_timeout(300)
    assert cells(page) == count


def test_the_theme_is_followed(opened: Watched, results: Path) -> None:
    page = opened.page
    theme = "name => jupyterapp.commands.execute('apputils:change-theme', {theme: name})"
    tab(page, "tokens")
    page.evaluate(theme, "JupyterLab Dark")
    page.wait_for_selector(".wb-panel[data-theme=dark]")
    page.wait_for_timeout(600)
    assert_readable(page.locator(".wb-panel"))
    page.screenshot(path=str(results / "notebook7-tokens-dark.png"))
    page.evaluate(theme, "JupyterLab Light")
    page.wait_for_selector(".wb-panel[data-theme=light]")


def test_nothing_went_wrong_and_nothing_left_the_machine(opened: Watched) -> None:
    opened.assert_clean()

"""The first notebook in JupyterLab: run it, step forward, choose a token, step back, look at everything."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import ROOT, Lab, Watched, watch

pytestmark = [pytest.mark.browser, pytest.mark.slow]

NOTEBOOK = "01_first_mask.ipynb"


def cells(page: Any) -> int:
    return int(page.locator(".jp-Notebook .jp-Cell").count())


def announced(page: Any) -> str:
    page.wait_for_timeout(700)  # announcements come at most twice a second
    return str(page.locator(".wb-panel [aria-live]").inner_text())


def chips(page: Any) -> list[str]:
    """The tokens of the output, the caret left out."""
    found = page.locator(".wb-output .wb-chip:not(.wb-caret) .wb-token").all_inner_texts()
    return [str(text) for text in found]


def place(page: Any) -> tuple[int, int]:
    found = re.fullmatch(r"step (\d+)/(\d+)", page.locator(".wb-place").inner_text())
    assert found is not None
    return int(found[1]), int(found[2])


def press(page: Any, action: str) -> None:
    page.locator(f"[data-action={action}][aria-disabled=false]").click()


def go_first(page: Any) -> None:
    page.locator(".wb-panel").press("Home")
    page.wait_for_function("document.querySelector('.wb-place').textContent.startsWith('step 0/')")


def show_main(page: Any) -> None:
    """Show the first branch, if there is more than one."""
    picker = page.locator("select[aria-label=Branch]")
    if picker.is_visible():
        picker.select_option(label="main")


def wait_place(page: Any, text: str) -> None:
    page.wait_for_function(f"document.querySelector('.wb-place').textContent === 'step {text}'")
    page.wait_for_selector("[data-action=stop][aria-disabled=true]")


@pytest.fixture(scope="module")
def opened(browser: Any, lab: Lab) -> Watched:
    """The notebook after all its cells have run."""
    shutil.copy(ROOT / "notebooks" / NOTEBOOK, lab.folder / NOTEBOOK)
    watched = watch(browser, 1500, 3000)
    lab.open(watched.page, NOTEBOOK)
    lab.run_all(watched.page)
    done = watched.page.get_by_text("not yet: look at what may come after 2031-0")
    done.wait_for(timeout=240_000)
    watched.page.locator(".wb-canvas svg").wait_for()
    return watched


@pytest.mark.model
class TestStepperInLab:
    def test_shows_the_finished_object(self, opened: Watched) -> None:
        page = opened.page
        panel = page.locator(".wb-panel")
        assert panel.get_attribute("role") == "region"
        assert panel.get_attribute("aria-label") == "Token stepper, person.json"
        here, length = place(page)
        assert here == length > 10
        text = "".join(chips(page)[:-1]).replace("·", " ").replace("↵", "\n")
        assert re.fullmatch(r'\{\s*"name":\s*"[^"]*",\s*"age":\s*-?\d+\s*\}', text)
        assert "the model ended the text" in page.locator(".wb-headline").inner_text()
        # The static view stands above, closed by the live one.
        static = page.locator("details.wb-static")
        assert static.count() == 1
        assert static.get_attribute("open") is None

    def test_steps_back_and_forward(self, opened: Watched, results: Path) -> None:
        page = opened.page
        length = place(page)[1]
        go_first(page)
        wait_place(page, f"0/{length}")
        head = page.locator(".wb-headline").inner_text()
        assert re.search(r"allowed \d+ of 49,152", head)
        assert "mass removed" in head
        taken = page.locator(".wb-row.wb-taken")
        assert taken.count() == 1
        assert "▶ taken" in taken.inner_text()
        rejected = page.locator(".wb-row.wb-rejected").first
        assert "✕" in rejected.inner_text()
        for _ in range(7):
            press(page, "forward")
        wait_place(page, f"7/{length}")
        assert page.locator(".wb-current").count() == 1
        assert page.locator(".wb-canvas g.wb-live").count() >= 1
        assert page.locator(".wb-canvas .wb-ring").count() >= 1
        assert page.locator(".wb-frame").count() >= 1
        assert re.search(r"forward\s+[\d.]+ m?s", page.locator(".wb-times").inner_text())
        press(page, "back")
        wait_place(page, f"6/{length}")
        assert "Step 6 of" in announced(page)
        page.locator(".wb-panel").screenshot(path=str(results / "stepper.png"))

    def test_a_rejected_token_says_why(self, opened: Watched) -> None:
        page = opened.page
        go_first(page)
        row = page.locator(".wb-row.wb-rejected").first
        before = place(page)
        row.click()
        reason = page.locator(".wb-reason")
        reason.wait_for()
        page.wait_for_function(
            "/byte 1 of/i.test(document.querySelector('.wb-reason').textContent)"
        )
        assert "✕" in reason.locator(".wb-cell-fatal").inner_text()
        assert place(page) == before
        page.keyboard.press("Escape")
        assert reason.count() == 0

    def test_search_finds_tokens_that_are_not_listed(self, opened: Watched) -> None:
        page = opened.page
        go_first(page)
        page.locator(".wb-panel").press("/")
        page.keyboard.type('{"')
        page.wait_for_function(
            "/\\d+ tokens? found/.test(document.querySelector('.wb-candidates').textContent)"
        )
        assert page.locator(".wb-rows [role=option]").count() >= 2
        page.keyboard.press("Control+a")
        page.keyboard.type("id:20000")
        page.wait_for_function(
            "/1 token found/.test(document.querySelector('.wb-candidates').textContent)"
        )
        assert page.locator(".wb-rows [data-token='20000']").count() == 1
        page.keyboard.press("Control+a")
        page.keyboard.press("Delete")
        page.keyboard.press("Escape")
        page.wait_for_function(
            "!/found/.test(document.querySelector('.wb-candidates').textContent)"
        )

    def test_choosing_a_token_makes_a_branch(self, opened: Watched) -> None:
        page = opened.page
        show_main(page)
        length = place(page)[1]
        old = chips(page)
        go_first(page)
        for _ in range(6):
            press(page, "forward")
        wait_place(page, f"6/{length}")
        row = page.locator(".wb-row.wb-allowed:not(.wb-taken)").first
        token = row.get_attribute("data-token")
        label = row.locator(".wb-token").inner_text()
        row.click()
        wait_place(page, "7/7")
        assert chips(page) == [*old[:6], label]
        assert page.locator(".wb-chip.wb-chosen").count() == 1
        branch = page.locator("select[aria-label=Branch]")
        assert branch.locator("option").all_inner_texts() == ["main", "branch 1, from step 6"]
        # One step on with the model, then back to the choice: the token is marked as taken.
        press(page, "forward")
        wait_place(page, "8/8")
        press(page, "back")
        press(page, "back")
        wait_place(page, "6/8")
        assert page.locator(f".wb-row.wb-taken[data-token='{token}']").count() == 1
        # The old branch is still there.
        branch.select_option(label="main")
        wait_place(page, f"6/{length}")
        assert chips(page) == old

    def test_undo_returns_to_before_the_choice(self, opened: Watched) -> None:
        page = opened.page
        show_main(page)
        length = place(page)[1]
        go_first(page)
        wait_place(page, f"0/{length}")
        page.locator(".wb-row.wb-allowed:not(.wb-taken)").first.click()
        wait_place(page, "1/1")
        page.locator(".wb-panel").press("u")
        page.wait_for_function(
            "document.querySelector('.wb-place').textContent.startsWith('step 0/')"
        )

    def test_keys_stay_in_the_panel(self, opened: Watched) -> None:
        page = opened.page
        count = cells(page)
        show_main(page)
        panel = page.locator(".wb-panel")
        for key in ("a", "b", "x", "d", "d", "m", "y"):
            panel.press(key)
        page.locator(".wb-rows").press("b")
        page.wait_for_timeout(300)
        assert cells(page) == count
        panel.press("Home")
        page.wait_for_function(
            "document.querySelector('.wb-place').textContent.startsWith('step 0/')"
        )
        panel.press("ArrowRight")
        page.wait_for_function(
            "document.querySelector('.wb-place').textContent.startsWith('step 1/')"
        )
        panel.press("End")
        here, length = place(page)
        assert here == length
        panel.press("?")
        assert page.locator(".wb-sheet kbd").count() > 15
        panel.press("Escape")
        assert not page.locator(".wb-sheet").is_visible()

    def test_dark_theme_follows_the_host(self, opened: Watched, results: Path) -> None:
        page = opened.page
        set_theme = "name => jupyterapp.commands.execute('apputils:change-theme', {theme: name})"
        page.evaluate(set_theme, "JupyterLab Dark")
        page.wait_for_selector(".wb-panel[data-theme=dark]")
        page.locator(".wb-panel").screenshot(path=str(results / "stepper-dark.png"))
        page.evaluate(set_theme, "JupyterLab Light")
        page.wait_for_selector(".wb-panel[data-theme=light]")

    def test_nothing_went_wrong_and_nothing_left_the_machine(self, opened: Watched) -> None:
        opened.page.screenshot(path=str(ROOT / "test-results" / "lab.png"))
        opened.assert_clean()

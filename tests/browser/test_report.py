"""A report page from a file: stepping, searching, themes and widths, with no server and no network."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import Watched, watch
from tests.notebook import samples
from workbench.notebook.report import write_report

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = write_report(
        samples.trace(),
        tmp_path_factory.mktemp("report") / "run.html",
        vocabulary=samples.vocabulary(),
        automaton=samples.automaton(),
        title='a "run" & <b>more</b>',
    )
    return path.as_uri()


def visit(browser: Any, address: str, width: int = 1200, **options: Any) -> Watched:
    watched = watch(browser, width, 900, **options)
    watched.page.goto(address)
    watched.page.locator(".wb-canvas svg").wait_for()
    return watched


def place(page: Any) -> str:
    return str(page.locator(".wb-place").inner_text())


def test_steps_through_the_run(browser: Any, address: str) -> None:
    watched = visit(browser, address)
    page = watched.page
    assert page.title() == 'a "run" & <b>more</b>'
    assert place(page) == "step 0/10"
    for _ in range(4):
        page.locator("[data-action=forward]").click()
    assert place(page) == "step 4/10"
    assert "allowed 6 of 16" in page.locator(".wb-panel > .wb-headline").inner_text()
    assert "93.7%" in page.locator(".wb-panel > .wb-headline").inner_text()
    current = page.locator(".wb-chip.wb-current")
    assert current.locator(".wb-token").inner_text() == "A"
    assert "wb-chosen" in (current.get_attribute("class") or "")
    lit = page.locator("g.wb-live")
    assert [node.get_attribute("id") for node in lit.all()] == ["s8"]
    assert lit.locator("text").text_content() == "▶ 8"
    assert page.locator(".wb-frame .wb-rule").all_inner_texts() == ["string", "object"]
    assert "61 ms" in page.locator(".wb-times").inner_text()
    page.locator(".wb-output .wb-chip").nth(8).click()
    assert place(page) == "step 8/10"
    assert lit.locator("text").text_content() == "▶ 5"
    # Nothing of the picture is left marked at the old place.
    assert lit.count() == 1
    assert page.locator("#s8.wb-live").count() == 0
    page.locator(".wb-panel").press("End")
    assert "the model ended the text" in page.locator(".wb-panel > .wb-headline").inner_text()
    watched.assert_clean()


def test_keyboard_alone_is_enough(browser: Any, address: str) -> None:
    watched = visit(browser, address)
    page = watched.page
    panel = page.locator(".wb-panel")
    panel.press("ArrowRight")
    panel.press("Shift+ArrowRight")
    assert place(page) == "step 3/10"
    panel.press("ArrowDown")
    panel.press("ArrowDown")
    selected = page.locator(".wb-row.wb-selected")
    assert selected.count() == 1
    listbox = page.locator(".wb-rows")
    assert listbox.get_attribute("aria-activedescendant") == selected.get_attribute("id")
    page.keyboard.press("w")
    assert page.locator(".wb-reason").count() == 1
    page.keyboard.press("Escape")
    assert page.locator(".wb-reason").count() == 0
    panel.press("/")
    page.keyboard.type("hex:e29c")
    page.get_by_text("1 token found").wait_for()
    assert page.locator(".wb-rows .wb-piece-hex").inner_text() == "E2 9C"
    assert place(page) == "step 3/10"  # letters in the field are no commands
    watched.assert_clean()


def test_what_needs_a_kernel_is_disabled_and_says_so(browser: Any, address: str) -> None:
    watched = visit(browser, address)
    page = watched.page
    undo = page.locator("[data-action=undo]")
    assert undo.get_attribute("aria-disabled") == "true"
    assert "needs a running kernel" in (undo.get_attribute("aria-label") or "")
    page.locator(".wb-row.wb-allowed:not(.wb-taken)").first.click()
    assert place(page) == "step 0/10"
    watched.assert_clean()


@pytest.mark.parametrize("width", [560, 1400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_fits_and_follows_the_scheme(
    browser: Any, address: str, width: int, scheme: str, results: Path
) -> None:
    watched = visit(browser, address, width, color_scheme=scheme)
    page = watched.page
    panel = page.locator(".wb-panel")
    assert panel.get_attribute("data-theme") == scheme
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert float(panel.bounding_box()["width"]) >= 520
    # Nothing sticks out of the panel, and no two boxes overlap.
    overlaps = page.evaluate(
        """() => {
          const boxes = [...document.querySelectorAll('.wb-box')].map((b) => b.getBoundingClientRect());
          const panel = document.querySelector('.wb-panel').getBoundingClientRect();
          const out = boxes.filter((b) => b.right > panel.right + 1 || b.bottom > panel.bottom + 1).length;
          let pairs = 0;
          boxes.forEach((a, i) => boxes.slice(i + 1).forEach((b) => {
            if (a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom) pairs++;
          }));
          return out + pairs;
        }"""
    )
    assert overlaps == 0
    side_by_side = page.evaluate(
        "document.querySelector('.wb-automaton').getBoundingClientRect().left >="
        " document.querySelector('.wb-candidates').getBoundingClientRect().right"
    )
    assert side_by_side == (width == 1400)
    page.screenshot(path=str(results / f"report-{width}-{scheme}.png"), full_page=True)
    watched.assert_clean()


def test_every_control_has_a_name_and_room(browser: Any, address: str) -> None:
    watched = visit(browser, address)
    page = watched.page
    page.locator(".wb-panel").press("?")
    nameless = page.evaluate(
        """() => [...document.querySelectorAll('.wb-panel button, .wb-panel select, .wb-panel input')]
          .filter((e) => !(e.getAttribute('aria-label') || e.closest('label') || e.textContent.trim()))
          .map((e) => e.outerHTML)"""
    )
    assert nameless == []
    small = page.evaluate(
        """() => [...document.querySelectorAll('.wb-panel button, .wb-panel select, .wb-row[role=option]')]
          .filter((e) => e.offsetParent && e.getBoundingClientRect().height < 24)
          .map((e) => e.outerHTML)"""
    )
    assert small == []
    roles = page.evaluate(
        "[...document.querySelectorAll('.wb-panel [role]')].map((e) => e.getAttribute('role'))"
    )
    assert {"toolbar", "listbox", "option", "img", "alert"} <= set(roles)
    for role, name in (("toolbar", "Steps"), ("listbox", "Candidates for the next token")):
        assert page.get_by_role(role, name=name).count() == 1
    assert re.match(
        r"Automaton of 10 states, live in 1 state: 0",
        page.locator(".wb-canvas:visible").get_attribute("aria-label"),
    )
    watched.assert_clean()


def test_reads_without_scripts(browser: Any, address: str) -> None:
    watched = watch(browser, 900, 900, java_script_enabled=False)
    page = watched.page
    page.goto(address)
    assert page.locator("#workbench-report-static").get_attribute("open") == ""
    assert page.get_by_role("cell", name="chosen by you").is_visible()
    assert page.locator("caption", has_text="Steps (10)").is_visible()
    assert watched.outside == []

"""What pointer and arrow keys do on the screens: peeks, walks, traces, links; in JupyterLab, with the real model.

The grammar is recursive, so that there is a stack, and has a rule that nothing uses.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.browser.checks import assert_readable
from tests.browser.conftest import Lab, Watched
from tests.browser.test_stepper import place
from tests.browser.test_workbench import displayed, go, tab

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.model]

GRAMMAR = r"""root ::= "{" "\"v\":" value "}"
value ::= list | number
list ::= "[" value ("," value)* "]"
number ::= [1-9] [0-9]?
spare ::= "q"
"""
#: Each piece is one token; the last one is the first digit of a number in the inner list.
PIECES = ("{", '"', "v", '":', "[", "[", "1")
CODE = f"""import workbench as wb
model = wb.load_model()
bench = wb.Workbench(model, wb.gbnf(r'''{GRAMMAR}'''), "A nested list of numbers as JSON:", title="lists.gbnf",
    temperature=0.8, top_k=20, top_p=0.9, seed=1)
known = {{model.vocabulary.token_bytes(i): i for i in range(model.vocabulary.size)}}
for piece in {PIECES!r}:
    bench.session.take(known[piece.encode()])
bench.back(1)
bench"""


@pytest.fixture(scope="module")
def opened(browser: Any, lab: Lab) -> Watched:
    return displayed(browser, lab, "gestures.ipynb", CODE, ready="forward")


def told(page: Any) -> str:
    return str(page.locator(".wb-told").inner_text())


def peeked(page: Any) -> str | None:
    found = page.locator(".wb-tabpanel:not([hidden]) g.wb-peeked-node")
    return str(found.get_attribute("id")) if found.count() else None


class TestPicture:
    def test_arrow_keys_walk_along_edges(self, opened: Watched) -> None:
        page = opened.page
        go(page, 5)
        shown = tab(page, "automaton")
        shown.locator(".wb-canvas g.wb-live").first.wait_for()
        targets = {
            match[1]
            for text in shown.locator(".wb-way").all_inner_texts()
            if (match := re.search(r"→ (\d+)", text))
        }
        assert targets
        page.locator(".wb-panel").press("p")
        assert page.evaluate("document.activeElement.classList.contains('wb-canvas')")
        page.keyboard.press("ArrowRight")
        node = peeked(page)
        assert node is not None
        assert node.removeprefix("s") in targets
        state = node.removeprefix("s")
        assert told(page).startswith(f"state {state}")
        # The count comes when the walk has rested there; it is also read out.
        page.wait_for_function(
            "/tokens? may come there whatever the stack is/.test("
            "document.querySelector('.wb-told').textContent)"
        )
        page.wait_for_timeout(700)
        assert page.locator(".wb-panel > [aria-live]").inner_text() == told(page)
        assert page.locator("g.wb-chosen-node").count() == 0
        page.keyboard.press("Enter")
        assert page.locator("g.wb-chosen-node").get_attribute("id") == node
        title = shown.locator("strong", has_text="transitions from")
        assert title.inner_text().startswith(f"transitions from state {state} ")
        page.locator(".wb-panel").press("Escape")
        assert page.locator("g.wb-chosen-node").count() == 0

    def test_no_edge_that_way_is_said(self, opened: Watched) -> None:
        page = opened.page
        go(page, 0)
        tab(page, "automaton")
        page.locator(".wb-canvas:visible g.wb-live").first.wait_for()
        page.locator(".wb-panel").press("p")
        page.keyboard.press("ArrowLeft")
        assert "no edge goes that way" in told(page)
        assert place(page)[0] == 0  # the arrow key did not step
        page.locator(".wb-panel").press("Escape")

    def test_hovering_peeks(self, opened: Watched, results: Path) -> None:
        page = opened.page
        go(page, 6)
        shown = tab(page, "automaton")
        shown.locator(".wb-canvas g.wb-live").first.wait_for()
        way = shown.locator(".wb-way").first
        target = re.search(r"→ (\d+)", way.inner_text())
        assert target is not None
        way.hover()
        assert peeked(page) == f"s{target[1]}"
        assert told(page).startswith(f"state {target[1]}")
        panel = page.locator(".wb-panel")
        panel.screenshot(path=str(results / "gestures-peek.png"))
        frame = shown.locator(".wb-frame[data-state]").first
        frame.hover()
        assert peeked(page) == f"s{frame.get_attribute('data-state')}"
        page.locator(".wb-place").hover()
        assert peeked(page) is None
        assert not page.locator(".wb-told").is_visible()
        # And in the picture itself.
        node = shown.locator(".wb-canvas g.wb-live").first
        node.hover()
        assert peeked(page) == node.get_attribute("id")
        assert "live" in told(page)
        page.locator(".wb-place").hover()
        assert_readable(panel)

    def test_a_stack_is_traced_and_frozen_by_itself(self, opened: Watched, results: Path) -> None:
        page = opened.page
        go(page, 6)
        shown = tab(page, "automaton")
        shown.get_by_role("button", name=re.compile("^Trace stack 1")).click()
        rows = shown.locator(".wb-trace tbody tr")
        assert rows.count() == 7
        assert re.match(r"step 6\s+\[\s+", rows.first.inner_text())
        assert re.match(r"step 0\s+start\s+", rows.last.inner_text())
        depths = [int(text) for text in shown.locator(".wb-trace td:last-child").all_inner_texts()]
        assert depths[0] > depths[-1] == 1
        shown.get_by_role("button", name="Freeze stack 1").click()
        assert "frozen at step 6" in shown.locator(".wb-card-frozen").first.inner_text()
        assert_readable(page.locator(".wb-panel"))
        page.locator(".wb-panel").screenshot(path=str(results / "gestures-trace.png"))
        rows.nth(1).get_by_role("button").click()
        page.wait_for_function("/^step 5/.test(document.querySelector('.wb-place').textContent)")
        assert rows.count() == 6
        page.locator(".wb-panel").press("k")
        assert rows.count() == 0
        shown.get_by_role("button", name=re.compile("^Let go of the stack frozen")).first.click()
        assert shown.locator(".wb-card-frozen").count() == 0


class TestTokens:
    def test_tokens_that_the_stack_decides_about(self, opened: Watched, results: Path) -> None:
        page = opened.page
        panel = page.locator(".wb-panel")
        panel.press("End")
        assert place(page) == (7, 7)
        shown = tab(page, "tokens")
        shown.locator(".wb-group").first.wait_for()
        shown.get_by_role("button", name="by the stack", exact=True).click()
        pressed = shown.locator("button[aria-pressed=true]")
        assert pressed.inner_text() == "by the stack"
        search = shown.locator(".wb-search")
        for text, verdict in (
            ("]]", "● allowed, by the stack"),
            ("]}", "✕ rejected, by the stack"),
        ):
            search.fill(f"re:^{re.escape(text)}$")
            row = shown.locator(".wb-item")
            page.wait_for_function(
                f"[...document.querySelectorAll('.wb-item')].map(e => e.textContent).join()"
                f".includes('{verdict}')"
            )
            assert row.count() == 1
            assert row.locator(".wb-token").inner_text() == text
        # A second digit may come whatever the stack is, a letter under none.
        for text in ("0", "a"):
            search.fill(f"re:^{re.escape(text)}$")
            page.wait_for_function("document.querySelectorAll('.wb-virtual .wb-item').length === 0")
        search.fill("")
        shown.locator(".wb-group").first.wait_for()
        assert_readable(panel)
        panel.screenshot(path=str(results / "gestures-stack.png"))
        panel.press("d")
        assert pressed.inner_text() == "allowed"
        panel.press("d")
        assert pressed.inner_text() == "by the stack"
        panel.press("d")


class TestSampling:
    def test_what_is_drawn_after_the_mask_is_shown(self, opened: Watched, results: Path) -> None:
        page = opened.page
        page.locator(".wb-panel").press("End")
        shown = tab(page, "step")
        line = shown.locator(".wb-settings").inner_text()
        assert line.startswith("after the mask: temperature 0.8 → top-k 20 → top-p 0.9: ")
        found = re.search(r"(\d+) tokens may be drawn", line)
        kept = int(found[1]) if found else 1
        assert found or line.endswith("only the likeliest token is left")
        assert shown.locator(".wb-head span", has_text="drawn").is_visible()
        shares = [
            float(text.strip("<%"))
            for text in shown.locator(".wb-p-drawn .wb-number").all_inner_texts()
            if text not in ("–", "0%")
        ]
        assert len(shares) == kept
        assert sum(shares) == pytest.approx(100, abs=0.5)
        assert_readable(page.locator(".wb-panel"))
        page.locator(".wb-panel").screenshot(path=str(results / "gestures-drawn.png"))


class TestEditor:
    def test_what_was_expected_leads_into_the_rules(self, opened: Watched, results: Path) -> None:
        page = opened.page
        shown = tab(page, "grammar")
        area = shown.locator("textarea")
        page.wait_for_function(
            "/compiled in/.test(document.querySelector('.wb-check-state').textContent)"
        )
        shown.get_by_role("button", name="Add an example").click()
        page.keyboard.type('{"v":x')
        link = shown.get_by_role("button", name="Go to number")
        link.wait_for()
        assert "byte 6" in shown.locator(".wb-example-verdict").inner_text()
        link.hover()
        peek = shown.locator(".wb-peek")
        assert peek.text_content() == "[1-9]"
        assert_readable(page.locator(".wb-panel"))
        page.locator(".wb-panel").screenshot(path=str(results / "gestures-expected.png"))
        page.locator(".wb-place").hover()
        assert peek.count() == 0
        link.focus()
        assert peek.count() == 1
        page.keyboard.press("Enter")
        chosen = area.evaluate("e => e.value.slice(e.selectionStart, e.selectionEnd)")
        assert chosen == "[1-9]"

    def test_a_rule_that_nothing_uses_is_removed(self, opened: Watched) -> None:
        page = opened.page
        shown = tab(page, "grammar")
        hint = shown.locator(".wb-hint")
        assert "line 5" in hint.inner_text()
        assert "rule 'spare' is never used" in hint.inner_text()
        hint.get_by_role("button", name="remove it").click()
        page.wait_for_function(
            "/compiled in/.test(document.querySelector('.wb-check-state').textContent)"
        )
        assert hint.count() == 0
        text = shown.locator("textarea").input_value()
        assert "spare" not in text
        assert text.endswith("number ::= [1-9] [0-9]?\n")


class TestDark:
    @pytest.mark.parametrize("width", [620, 1500])
    def test_dark_and_narrow(self, opened: Watched, results: Path, width: int) -> None:
        page = opened.page
        theme = "name => jupyterapp.commands.execute('apputils:change-theme', {theme: name})"
        page.evaluate(theme, "JupyterLab Dark")
        page.wait_for_selector(".wb-panel[data-theme=dark]")
        page.set_viewport_size({"width": width, "height": 1700})
        go(page, 6)
        try:
            for name in ("step", "automaton", "tokens", "grammar"):
                shown = tab(page, name)
                if name == "automaton":
                    shown.get_by_role("button", name=re.compile("^Trace stack 1")).click()
                    shown.locator(".wb-way").first.hover()
                page.wait_for_timeout(600)
                if width > 1000:
                    assert_readable(page.locator(".wb-panel"))
                page.locator(".wb-panel").screenshot(
                    path=str(results / f"gestures-{name}-dark-{width}.png")
                )
                if name == "automaton":
                    shown.get_by_role("button", name=re.compile("^Trace stack 1")).click()
        finally:
            page.evaluate(theme, "JupyterLab Light")
            page.wait_for_timeout(600)
            page.set_viewport_size({"width": 1500, "height": 1700})

    def test_nothing_went_wrong_and_nothing_left_the_machine(self, opened: Watched) -> None:
        opened.assert_clean()

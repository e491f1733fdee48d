"""The workbench in JupyterLab with the real model: every screen by mouse and by keyboard, in both themes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.browser.checks import assert_readable
from tests.browser.conftest import Lab, Watched, watch
from tests.browser.test_stepper import cells, place, press

nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.model]

TABS = ("grammar", "step", "automaton", "tokens", "dead", "profile", "export")
GRAMMAR = r"""root ::= "{" ws "\"name\":" ws string "," ws "\"tags\":" ws list "}"
string ::= "\"" [a-zA-Z ]{1,12} "\""
list ::= "[" value ("," ws value){0,2} "]"
value ::= string | number
number ::= [1-9] [0-9]? | "one hundred and twenty-seven"
ws ::= " "?
"""
CODE = f"""import workbench as wb
model = wb.load_model()
grammar = wb.gbnf(r'''{GRAMMAR}''')
bench = wb.Workbench(model, grammar, "A JSON object of a person with tags:", title="person.gbnf")
bench"""


def notebook(lab: Lab, name: str, *sources: str) -> None:
    found = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(s) for s in sources])
    found.metadata["kernelspec"] = {
        "display_name": "Python 3",
        "language": "python",
        "name": "python3",
    }
    nbformat.write(found, lab.folder / name)


def displayed(browser: Any, lab: Lab, name: str, code: str, *, ready: str) -> Watched:
    """A page of JupyterLab with the workbench that the code displays, once the button ``ready`` can be pressed."""
    notebook(lab, name, code)
    watched = watch(browser, 1500, 1700)
    page = watched.page
    lab.open(page, name)
    lab.run_all(page)
    page.locator(".wb-panel").wait_for(timeout=240_000)
    page.evaluate("jupyterapp.shell.collapseLeft()")
    page.wait_for_selector(f"[data-action={ready}][aria-disabled=false]")
    return watched


def settled(page: Any) -> None:
    page.wait_for_selector("[data-action=stop][aria-disabled=true]", timeout=120_000)


def tab(page: Any, name: str) -> Any:
    """Show a screen by a click on its tab, and return it."""
    page.locator(f"[data-tab={name}]").click()
    found = page.locator(".wb-tabpanel:not([hidden])")
    assert str(found.get_attribute("id")).endswith(f"-sheet-{name}")
    return found


def go(page: Any, step: int) -> None:
    panel = page.locator(".wb-panel")
    panel.press("Home")
    for _ in range(step):
        panel.press("ArrowRight")
    page.wait_for_function(
        f"/^step {step}\\//.test(document.querySelector('.wb-place').textContent)"
    )


def headline(page: Any) -> str:
    return str(page.locator(".wb-panel > .wb-headline").inner_text())


@pytest.fixture(scope="module")
def opened(browser: Any, lab: Lab) -> Watched:
    return displayed(browser, lab, "bench.ipynb", CODE, ready="run")


class TestStep:
    def test_a_run_leaves_the_notebook_free_and_can_be_stopped(self, opened: Watched) -> None:
        page = opened.page
        page.locator("select[aria-label='Run to']").select_option("end")
        press(page, "run")
        page.wait_for_function(
            "/^step [1-9]/.test(document.querySelector('.wb-place').textContent)"
        )
        # Another cell's code is answered while steps are taken.
        answered = page.evaluate(
            "async () => { const kernel = jupyterapp.shell.currentWidget.sessionContext.session.kernel;"
            " const future = kernel.requestExecute({code: '6 * 7'}); let text = '';"
            " future.onIOPub = m => { if (m.header.msg_type === 'execute_result')"
            " text = m.content.data['text/plain']; };"
            " await future.done;"
            " return [text, document.querySelector('[data-action=stop]').getAttribute('aria-disabled')]; }"
        )
        assert answered == ["42", "false"]
        press(page, "stop")
        settled(page)
        assert place(page)[1] < 30
        press(page, "run")
        settled(page)
        assert "the model ended the text" in headline(page)

    def test_runs_to_where_the_mask_removes_much(self, opened: Watched) -> None:
        page = opened.page
        go(page, 0)
        page.locator("select[aria-label='Run to']").select_option("mass")
        page.locator("input[aria-label='Mass removed, in percent']").fill("20")
        press(page, "run")
        found = re.search(r"mass removed ([\d.]+)%", headline(page))
        assert found is not None
        assert float(found[1]) > 20
        page.locator("select[aria-label='Run to']").select_option("end")

    def test_steps_by_bytes_inside_a_token(self, opened: Watched) -> None:
        page = opened.page
        panel = page.locator(".wb-panel")
        tab(page, "step")
        texts = page.locator(".wb-output .wb-chip:not(.wb-caret) .wb-token").all_inner_texts()
        step = next(i for i, text in enumerate(texts) if len(text) >= 4 and text.isascii())
        go(page, step)
        panel.press(".")
        strip = page.locator(".wb-bytes")
        page.wait_for_function("/live state/.test(document.querySelector('.wb-bytes').textContent)")
        # Text, states, stack and picture stand at the same byte.
        assert page.locator(".wb-current .wb-read").inner_text() == texts[step][:1]
        live = re.search(r"live states?: ([\d, ]+)", strip.inner_text())
        assert live is not None
        states = {state.strip() for state in live[1].split(",")}
        tops = page.locator(".wb-stack .wb-top").evaluate_all("e => e.map(x => x.dataset.state)")
        assert set(tops) <= states
        page.wait_for_function(
            "wanted => JSON.stringify([...document.querySelectorAll("
            "'.wb-tabpanel:not([hidden]) g.wb-live')].map(e => e.id).sort()) === wanted",
            arg=json.dumps(sorted(f"s{state}" for state in states), separators=(",", ":")),
        )
        assert strip.locator(".wb-byte-place").inner_text() == f"byte 1 of {len(texts[step])}"
        first = strip.inner_text()
        panel.press(".")
        assert strip.locator(".wb-byte-place").inner_text() == f"byte 2 of {len(texts[step])}"
        assert strip.inner_text() != first
        assert strip.locator(".wb-cell-consumed").count() == 2
        panel.press(",")
        assert strip.inner_text() == first
        panel.press(",")
        assert not strip.is_visible()
        for _ in range(len(texts[step])):
            panel.press(".")
        assert place(page)[0] == step + 1

    def test_text_view_breakpoint_and_watched_token(self, opened: Watched) -> None:
        page = opened.page
        panel = page.locator(".wb-panel")
        go(page, 0)
        panel.press("t")
        text = page.locator(".wb-text").inner_text()
        assert "step 0 of" in text
        assert "● allowed" in text
        assert "✕ rejected" in text
        page.locator(".wb-text").press("t")
        assert not page.locator(".wb-text").is_visible()
        panel.press("b")
        rule = page.locator(".wb-break")
        assert rule.inner_text() == "◉ root ✕"
        rule.click()
        assert rule.count() == 0
        # A breakpoint stops a run to the end where its rule comes on top.
        steps = place(page)[1]
        for step in range(steps):
            go(page, step)
            if page.locator(".wb-columns .wb-top .wb-rule").first.inner_text() == "string":
                break
        else:
            pytest.fail("no step is in the rule string")
        press(page, "break")
        assert "string" in page.locator(".wb-breaks").inner_text()
        go(page, 0)
        press(page, "run")
        assert place(page)[0] == step
        press_all = page.locator(".wb-break")
        while press_all.count():
            press_all.first.click()
        taken = page.locator(".wb-row.wb-taken")
        token = taken.get_attribute("data-token")
        page.locator(".wb-watch-field").fill(f"id:{token}")
        page.locator(".wb-watch-field").press("Enter")
        page.locator(".wb-watch-chart").wait_for()
        here = page.locator(".wb-watch-here").inner_text()
        assert re.search(r"rank \d+, .*% before, .*% after the mask", here)

    def test_is_readable(self, opened: Watched, results: Path) -> None:
        go(opened.page, 3)
        tab(opened.page, "step")
        opened.page.locator(".wb-canvas:visible svg").wait_for()
        assert_readable(opened.page.locator(".wb-panel"))
        opened.page.locator(".wb-panel").screenshot(path=str(results / "bench-step.png"))


class TestAutomaton:
    def test_rules_fold_by_key_and_by_click(self, opened: Watched, results: Path) -> None:
        page = opened.page
        go(page, 2)
        shown = tab(page, "automaton")
        canvas = shown.locator(".wb-canvas")
        canvas.locator("g.node.wb-live").first.wait_for()
        assert canvas.locator(".wb-ring").count() >= 1
        # At first sight the whole picture is in its box.
        box, picture = canvas.bounding_box(), canvas.locator("svg").bounding_box()
        assert box is not None
        assert picture is not None
        assert box["x"] <= picture["x"] + 1
        assert box["y"] <= picture["y"] + 1
        assert picture["x"] + picture["width"] <= box["x"] + box["width"] + 1
        assert picture["y"] + picture["height"] <= box["y"] + box["height"] + 1
        # A large picture opens near the live states; V shows all, with the rules that are not on the stack folded.
        assert canvas.locator("g.node").count() < 40
        page.locator(".wb-panel").press("v")
        button = shown.locator(".wb-rules [data-rule=list]")
        assert button.get_attribute("aria-expanded") == "false"
        canvas.locator("g.node[id^=r]").first.wait_for()
        assert "▭ list" in " ".join(canvas.locator("g.node[id^=r] text").all_text_contents())
        assert_readable(page.locator(".wb-panel"))
        page.locator(".wb-panel").screenshot(path=str(results / "bench-automaton.png"))
        button.click()
        assert button.get_attribute("aria-expanded") == "true"
        page.locator(".wb-panel").press("a")  # all open
        page.wait_for_function(
            "!document.querySelector('.wb-tabpanel:not([hidden]) g.node[id^=r]')"
        )
        states = canvas.locator("g.node[id^=s]").count()
        button.click()
        canvas.locator("g.node[id^=r]").wait_for()
        assert canvas.locator("g.node[id^=s]").count() < states
        # A click on the folded box opens it again; F folds the rule of the live state.
        canvas.locator("g.node[id^=r]").click()
        page.wait_for_function(
            f"document.querySelectorAll('.wb-tabpanel:not([hidden]) g.node[id^=s]').length === {states}"
        )
        page.locator(".wb-panel").press("f")
        canvas.locator("g.node.wb-live[id^=r]").wait_for()
        page.locator(".wb-panel").press("f")
        canvas.locator("g.node.wb-live[id^=s]").first.wait_for()
        page.locator(".wb-panel").press("v")

    def test_the_keyboard_walks_along_transitions(self, opened: Watched) -> None:
        page = opened.page
        go(page, 2)
        shown = tab(page, "automaton")
        ways = shown.locator(".wb-ways")
        first = ways.locator(".wb-way").first
        target = re.search(r"→ (\d+)", first.inner_text())
        assert target is not None
        ways.focus()
        ways.press("ArrowRight")
        title = shown.locator("strong", has_text="transitions from")
        assert title.inner_text().startswith(f"transitions from state {target[1]} ")
        assert shown.locator("g.wb-chosen-node").get_attribute("id") == f"s{target[1]}"
        ways.press("ArrowLeft")
        assert title.inner_text().startswith("transitions from the live states")
        ways.press("ArrowRight")
        page.locator(".wb-panel").press("g")
        assert title.inner_text().startswith("transitions from the live states")

    def test_stacks_are_frozen_beside_later_ones(self, opened: Watched) -> None:
        page = opened.page
        go(page, 2)
        shown = tab(page, "automaton")
        page.locator(".wb-panel").press("z")
        frozen = shown.locator(".wb-card-frozen")
        assert "frozen at step 2" in frozen.inner_text()
        kept = frozen.locator(".wb-rule").all_inner_texts()
        page.locator(".wb-panel").press("ArrowRight")
        assert frozen.locator(".wb-rule").all_inner_texts() == kept
        frozen.locator("button").click()
        assert frozen.count() == 0


class TestTokens:
    def test_groups_search_and_why_by_mouse(self, opened: Watched, results: Path) -> None:
        page = opened.page
        go(page, 0)
        shown = tab(page, "tokens")
        shown.locator(".wb-group").first.wait_for()
        total = re.search(r"allowed ([\d,]+) of 49,152", shown.inner_text())
        assert total is not None
        counts = shown.locator(".wb-group .wb-number:nth-child(2)").all_inner_texts()
        assert sum(int(c.replace(",", "")) for c in counts) == int(total[1].replace(",", ""))
        shown.get_by_role("button", name="rejected").click()
        shown.locator(".wb-search").fill("re:^[0-9]+$")
        page.wait_for_function(
            "[...document.querySelectorAll('.wb-tabpanel:not([hidden]) .wb-item')].length > 3"
        )
        shown.locator(".wb-item").nth(2).click()
        sentence = shown.locator(".wb-sentence")
        sentence.wait_for()
        page.wait_for_function("document.querySelector('.wb-why-body table') !== null")
        assert "may not come in root" in sentence.inner_text()
        assert "✕ fatal" in shown.locator(".wb-why-body table").inner_text()
        assert "would be accepted there: {" in shown.locator(".wb-why-body").inner_text()
        assert_readable(page.locator(".wb-panel"))
        page.locator(".wb-panel").screenshot(path=str(results / "bench-tokens.png"))
        panel = page.locator(".wb-panel")
        panel.evaluate("e => { e.style.width = '440px'; }")
        lines = "cells => cells.map(e => e.clientHeight / parseFloat(getComputedStyle(e).fontSize))"
        heads = shown.locator(".wb-why-body thead th")
        assert heads.count() == 4
        assert max(heads.evaluate_all(lines)) < 2.5
        panel.screenshot(path=str(results / "bench-tokens-narrow.png"))
        panel.evaluate("e => { e.style.width = ''; }")
        shown.get_by_role("button", name=re.compile("Show the state")).click()
        assert page.locator(".wb-tabpanel:not([hidden])").get_attribute("id").endswith("automaton")
        page.locator(".wb-panel").press("Escape")

    def test_all_tokens_are_a_list_of_rows_in_view(self, opened: Watched) -> None:
        page = opened.page
        go(page, 0)
        shown = tab(page, "tokens")
        shown.locator(".wb-search").fill("")
        shown.get_by_role("button", name="all", exact=True).click()
        shown.locator("select[aria-label='Group by']").select_option("none")
        page.wait_for_function(
            "/49,152 tokens in 1 group/.test(document.querySelector("
            "'.wb-tabpanel:not([hidden]) .wb-headline').textContent)"
        )
        rows = shown.locator(".wb-virtual-row")
        assert rows.count() < 60
        assert rows.first.get_attribute("aria-setsize") == "49153"
        box = shown.locator(".wb-virtual")
        box.evaluate("e => { e.scrollTop = e.scrollHeight; }")
        page.wait_for_function(
            "[...document.querySelectorAll('.wb-virtual-row')]"
            ".some(e => e.getAttribute('aria-posinset') === '49153')"
        )
        assert rows.count() < 60
        shown.locator("select[aria-label='Group by']").select_option("rule")
        shown.get_by_role("button", name="allowed", exact=True).click()

    def test_the_keyboard_takes_a_token(self, opened: Watched) -> None:
        page = opened.page
        go(page, 0)
        shown = tab(page, "tokens")
        shown.locator("select[aria-label='Group by']").select_option("class")
        shown.locator(".wb-group").first.wait_for()
        panel = page.locator(".wb-panel")
        panel.press("/")
        page.keyboard.type("id:107")  # {
        page.keyboard.press("Enter")
        page.wait_for_function("document.querySelectorAll('.wb-virtual .wb-item').length === 1")
        box = shown.locator(".wb-virtual")
        box.press("ArrowDown")
        box.press("Enter")
        shown.locator(".wb-sentence").wait_for()
        assert "every byte may come" in shown.locator(".wb-sentence").inner_text().lower()
        box.press("Enter")
        page.wait_for_function("/^step 1/.test(document.querySelector('.wb-place').textContent)")
        shown.locator(".wb-search").fill("")
        shown.locator("select[aria-label='Group by']").select_option("end")
        page.wait_for_function(
            "/the text must go on after it/.test(document.querySelector("
            "'.wb-tabpanel:not([hidden]) .wb-virtual').textContent)"
        )
        shown.locator("select[aria-label='Group by']").select_option("rule")


class TestProfile:
    def test_three_views_and_a_range(self, opened: Watched, results: Path) -> None:
        page = opened.page
        panel = page.locator(".wb-panel")
        panel.press("End")
        steps = place(page)[1]
        shown = tab(page, "profile")
        assert shown.locator(".wb-tracks g[data-step]").count() == steps
        note = shown.locator(".wb-range caption").inner_text()
        assert re.match(rf"all {steps} steps, \d warm-up not counted", note)
        assert_readable(panel)
        panel.screenshot(path=str(results / "bench-profile.png"))
        columns = shown.locator(".wb-tracks g[data-step]")
        start = columns.nth(4).bounding_box()
        stop = columns.nth(9).bounding_box()
        assert start is not None
        assert stop is not None
        page.mouse.move(start["x"] + 1, start["y"] + 20)
        page.mouse.down()
        page.mouse.move(stop["x"] + 1, stop["y"] + 20, steps=8)
        page.mouse.up()
        assert "steps 5 to 10" in shown.locator(".wb-range caption").inner_text()
        row = shown.locator(".wb-range tr", has_text="forward").inner_text()
        assert re.search(r"forward\s+6\s+[\d.]+ m?s", row)
        panel.press("2")
        table = shown.locator(".wb-heavy")
        shares = [
            float(text.rstrip("%"))
            for text in table.locator("td.wb-share").all_inner_texts()
            if "<" not in text
        ]
        assert shares == sorted(shares, reverse=True)
        assert sum(shares) == pytest.approx(100, abs=1)
        assert_readable(panel)
        panel.screenshot(path=str(results / "bench-heavy.png"))
        panel.press("3")
        assert shown.locator(".wb-histogram .wb-ink-bin").count() > 1
        assert "median" in shown.locator(".wb-histogram").text_content()
        panel.screenshot(path=str(results / "bench-histogram.png"))
        panel.press("1")
        columns.nth(3).click(position={"x": 2, "y": 20}, force=True)
        assert place(page)[0] == 3


class TestGrammar:
    def test_errors_are_underlined_and_mended(self, opened: Watched, results: Path) -> None:
        page = opened.page
        shown = tab(page, "grammar")
        area = shown.locator("textarea")
        page.wait_for_function(
            "document.querySelector('.wb-code-area').value.includes('string ::=')"
        )
        page.wait_for_function(
            "/compiled in/.test(document.querySelector('.wb-check-state').textContent)"
        )
        area.fill(GRAMMAR.replace("ws list", "ws lsit"))
        assert "stale" in shown.locator(".wb-check-state").inner_text()
        mark = shown.locator(".wb-wrong")
        mark.wait_for()
        assert mark.text_content() == "lsit"
        message = shown.locator(".wb-mistake")
        message.wait_for()
        assert "line 1, column" in message.inner_text()
        assert "rule 'lsit' is used but not defined" in message.inner_text()
        assert_readable(page.locator(".wb-panel"))
        page.locator(".wb-panel").screenshot(path=str(results / "bench-grammar-error.png"))
        area.press("F8")
        chosen = area.evaluate("e => e.value.slice(e.selectionStart, e.selectionEnd)")
        assert chosen == "lsit"
        message.get_by_role("button", name="change to list").click()
        page.wait_for_function(
            "/compiled in/.test(document.querySelector('.wb-check-state').textContent)"
        )
        assert mark.count() == 0

    def test_examples_are_judged(self, opened: Watched, results: Path) -> None:
        page = opened.page
        shown = tab(page, "grammar")
        shown.locator("textarea").press("F6")
        page.keyboard.type('{"name":"Ada","tags":[1]}')
        verdict = shown.locator(".wb-example-verdict")
        page.wait_for_function(
            "/matches/.test(document.querySelector('.wb-example-verdict')?.textContent)"
        )
        shown.get_by_role("button", name="Add an example").click()
        page.keyboard.type('{"name":"Ada","tags":[01]}')
        shown.locator("select[aria-label='What example 2 should do']").select_option("not")
        page.wait_for_function(
            "/byte 23/.test(document.querySelectorAll('.wb-example-verdict')[1]?.textContent)"
        )
        assert "● does not match" in verdict.nth(1).inner_text()
        shown.get_by_role("button", name="Make examples").click()
        page.wait_for_function("document.querySelectorAll('.wb-example-verdict').length > 4")
        page.wait_for_function(
            "!/not judged|stale/.test(document.querySelector('.wb-examples').textContent)"
        )
        assert "✕" not in " ".join(verdict.all_inner_texts())
        assert_readable(page.locator(".wb-panel"))
        page.locator(".wb-panel").screenshot(path=str(results / "bench-grammar.png"))

    def test_an_edited_grammar_begins_a_new_run(self, opened: Watched) -> None:
        page = opened.page
        shown = tab(page, "grammar")
        before = page.locator(".wb-output").inner_text()
        shown.locator("textarea").fill('root ::= "yes" | "no" | nope\nnope ::= "nope" "!"*')
        page.wait_for_function(
            "/compiled in/.test(document.querySelector('.wb-check-state').textContent)"
        )
        shown.get_by_role("button", name=re.compile("^Use this grammar")).click()
        page.wait_for_function("document.querySelector('.wb-place').textContent === 'step 0/0'")
        page.wait_for_selector("[data-action=run][aria-disabled=false]")
        page.locator("select[aria-label='Run to']").select_option("end")
        press(page, "run")
        settled(page)
        text = "".join(
            page.locator(".wb-output .wb-chip:not(.wb-caret) .wb-token").all_inner_texts()
        )
        assert re.match(r"(yes|no|nope!*)<", text)
        # The run before it is still there, with its grammar, and back again leads to the new one.
        picker = page.locator("select[aria-label=Branch]")
        names = picker.locator("option").all_inner_texts()
        assert re.fullmatch(r"run 1, gbnf, \d+ steps", names[0])
        assert names[1] == "run 2: main"
        picker.select_option(label=names[0])
        page.wait_for_function(
            "text => document.querySelector('.wb-output').innerText === text", arg=before
        )
        tab(page, "grammar")
        page.wait_for_function(
            "/ws string/.test(document.querySelector('.wb-tabpanel:not([hidden]) textarea').value)"
        )
        tab(page, "step")
        picker.select_option(label=picker.locator("option").last.inner_text())
        page.wait_for_function("/^(yes|no)/.test(document.querySelector('.wb-output').innerText)")


class TestDeadEnds:
    def test_a_finding_is_mended_in_the_editor(
        self, opened: Watched, results: Path, lab: Lab
    ) -> None:
        page = opened.page
        panel = page.locator(".wb-panel")
        shown = tab(page, "grammar")
        shown.locator("select[aria-label='Kind of grammar']").select_option("json_schema")
        shown.locator("textarea").fill(
            '{"type": "object", "properties": {"code": {"type": "string", "pattern": "^[A-Z]{3}$",'
            ' "maxLength": 2}, "id": {"type": "integer"}}, "additionalProperties": false}'
        )
        page.wait_for_function(
            "/compiled in/.test(document.querySelector('.wb-check-state').textContent)"
        )
        shown.get_by_role("button", name=re.compile("^Use this grammar")).click()
        page.wait_for_function("!document.querySelector('[data-tab=step]').tabIndex")
        page.wait_for_function("document.querySelector('.wb-place').textContent === 'step 0/0'")
        shown = tab(page, "dead")
        finding = shown.locator(".wb-finding").first
        finding.wait_for()
        assert "never written" in finding.inner_text()
        assert "in the grammar: 0 errors, 1 warning" in shown.inner_text()
        assert "#/properties/code" in finding.inner_text()
        panel.press("d")
        assert "+" in shown.locator(".wb-added").first.inner_text()
        assert '"maxLength": 3' in shown.locator(".wb-added").first.inner_text()
        assert_readable(panel)
        panel.screenshot(path=str(results / "bench-dead.png"))
        # An ignored finding takes a note, which goes with the export.
        panel.press("i")
        assert "(ignored)" in finding.inner_text()
        page.keyboard.type("no code is ever sent")
        page.keyboard.press("Enter")
        shown = tab(page, "export")
        note = shown.locator("input[aria-label='Note: why dead ends do not matter']")
        assert note.get_attribute("placeholder") == "no code is ever sent"
        shown = tab(page, "dead")
        panel.press("i")
        assert "(ignored)" not in finding.inner_text()
        panel.press("e")
        shown = page.locator(".wb-tabpanel:not([hidden])")
        assert str(shown.get_attribute("id")).endswith("-sheet-grammar")
        assert '"maxLength": 3' in shown.locator("textarea").input_value()
        page.wait_for_function(
            "/compiled in/.test(document.querySelector('.wb-check-state').textContent)"
        )
        # What the editor shows is not in use yet: it is not exported, nor is the other one.
        shown = tab(page, "export")
        assert "✕ the text in the editor is not the grammar in use" in shown.inner_text()
        shown.locator("input[aria-label='File to write']").fill(str(lab.folder / "mended.zip"))
        for key in ("d", "x"):
            panel.press(key)
            page.wait_for_function(
                "/refused.*press “use this grammar”/s.test("
                "document.querySelector('.wb-export-result').textContent)"
            )
        assert not (lab.folder / "mended.zip").exists()
        assert_readable(panel)
        panel.screenshot(path=str(results / "bench-export-refused.png"))
        shown = tab(page, "grammar")
        shown.get_by_role("button", name=re.compile("^Use this grammar")).click()
        page.wait_for_function("!document.querySelector('[data-tab=step]').tabIndex")
        shown = tab(page, "export")
        assert "not the grammar in use" not in shown.locator(".wb-gates").inner_text()
        shown = tab(page, "dead")
        page.wait_for_function(
            "/● in the grammar: none found/.test(document.querySelector("
            "'.wb-tabpanel:not([hidden])').textContent)"
        )
        assert shown.locator(".wb-finding").count() == 0


class TestWithoutTexts:
    CODE = """import workbench as wb
schema = {"type": "object", "properties": {"code": {"type": "string", "pattern": "^[A-Z]{3}$", "maxLength": 2}},
          "required": ["code"], "additionalProperties": False}
bench = wb.Workbench(wb.load_model(), schema, "A code:", title="codes.json")
bench"""

    def test_it_opens_on_what_is_to_blame_and_can_be_mended(
        self, browser: Any, lab: Lab, results: Path
    ) -> None:
        notebook(lab, "empty.ipynb", self.CODE)
        page = watch(browser, 1500, 1700).page
        lab.open(page, "empty.ipynb")
        lab.run_all(page)
        finding = page.locator(".wb-tabpanel:not([hidden]) .wb-finding")
        finding.wait_for(timeout=240_000)
        assert page.locator("[data-tab=dead]").get_attribute("aria-selected") == "true"
        assert "no value satisfies #/properties/code" in finding.inner_text()
        panel = page.locator(".wb-panel")
        assert "UnsatisfiableGrammar" in panel.inner_text()
        assert "Traceback" not in page.locator(".jp-Notebook").inner_text()
        assert_readable(panel)
        panel.screenshot(path=str(results / "bench-empty.png"))
        page.wait_for_selector(".wb-tabpanel:not([hidden]) .wb-finding button[aria-disabled=false]")
        finding.click()
        panel.press("e")
        page.wait_for_function(
            "/compiled in/.test(document.querySelector('.wb-check-state').textContent)"
        )
        shown = page.locator(".wb-tabpanel:not([hidden])")
        shown.get_by_role("button", name=re.compile("^Use this grammar")).click()
        page.wait_for_selector("[data-action=run][aria-disabled=false]")
        assert "UnsatisfiableGrammar" not in panel.inner_text()


class TestExport:
    def test_refuses_first_then_writes_what_is_proved(
        self, opened: Watched, results: Path, lab: Lab
    ) -> None:
        page = opened.page
        panel = page.locator(".wb-panel")
        shown = tab(page, "grammar")
        while shown.get_by_role("button", name=re.compile("^Remove example")).count():
            shown.get_by_role("button", name=re.compile("^Remove example")).first.click()
        shown = tab(page, "export")
        path = shown.locator("input[aria-label='File to write']")
        path.fill(str(lab.folder / "code.zip"))
        shown.get_by_role("button", name=re.compile("Write the file")).click()
        result = shown.locator(".wb-export-result")
        page.wait_for_function(
            "/there are no examples/.test(document.querySelector('.wb-export-result').textContent)"
        )
        assert not (lab.folder / "code.zip").exists()
        editor = tab(page, "grammar")
        editor.get_by_role("button", name="Add an example").click()
        page.keyboard.type('{"code":"ABC"}')
        page.wait_for_function(
            "/matches/.test(document.querySelector('.wb-example-verdict')?.textContent)"
        )
        tab(page, "export")
        panel.press("d")
        page.wait_for_function(
            "/would be written; proved again/.test("
            "document.querySelector('.wb-export-result').textContent)"
        )
        assert "● examples: 1 of 1 as wanted" in shown.locator(".wb-gates").inner_text()
        assert not (lab.folder / "code.zip").exists()
        panel.press("x")
        page.wait_for_function(
            "/written, sha256 [0-9a-f]{64}; proved again/.test("
            "document.querySelector('.wb-export-result').textContent)"
        )
        assert (lab.folder / "code.zip").exists()
        assert "test_grammar.py" in result.inner_text()
        assert_readable(panel)
        panel.screenshot(path=str(results / "bench-export.png"))
        panel.press("x")
        page.wait_for_function(
            "/press again to write over it/.test("
            "document.querySelector('.wb-export-result').textContent)"
        )


class TestWhole:
    def test_tabs_by_keyboard_and_keys_stay_in_the_panel(self, opened: Watched) -> None:
        page = opened.page
        count = cells(page)
        tab(page, "step")
        page.locator("[data-tab=step]").press("ArrowRight")
        assert page.locator("[data-tab=automaton]").get_attribute("aria-selected") == "true"
        assert page.evaluate("document.activeElement.dataset.tab") == "automaton"
        for name in TABS:
            tab(page, name)
            for key in ("a", "b", "b", "x", "m", "y", "z"):
                page.locator(".wb-panel").press(key)
        page.wait_for_timeout(300)
        assert cells(page) == count
        page.locator(".wb-panel").press("?")
        sheet = page.locator(".wb-sheet")
        assert "Dry run: everything but the file" in sheet.inner_text()
        page.locator(".wb-panel").press("Escape")

    @pytest.mark.parametrize("width", [620, 1500])
    def test_dark_and_narrow(self, opened: Watched, results: Path, width: int) -> None:
        page = opened.page
        theme = "name => jupyterapp.commands.execute('apputils:change-theme', {theme: name})"
        page.evaluate(theme, "JupyterLab Dark")
        page.wait_for_selector(".wb-panel[data-theme=dark]")
        page.set_viewport_size({"width": width, "height": 1700})
        page.locator(".wb-panel").press("End")
        if page.locator("[data-action=run][aria-disabled=false]").count():
            press(page, "run")
            settled(page)
        go(page, 3)
        try:
            for name in TABS:
                tab(page, name)
                page.wait_for_timeout(700)
                if width > 1000:
                    assert_readable(page.locator(".wb-panel"))
                path = results / f"bench-{name}-dark-{width}.png"
                page.locator(".wb-panel").screenshot(path=str(path))
        finally:
            page.evaluate(theme, "JupyterLab Light")
            page.wait_for_timeout(600)  # JupyterLab's splash: two switches at once end in an error
            page.set_viewport_size({"width": 1500, "height": 1700})

    def test_nothing_went_wrong_and_nothing_left_the_machine(self, opened: Watched) -> None:
        opened.assert_clean()

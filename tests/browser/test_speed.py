"""How long a step takes from the click to the painted page: 128,256 tokens and 5,000 states, 2,000 steps.

The times are printed, not held to a limit: a busy machine would fail for nothing. What is asserted is that
every step arrived, and that a step is never a matter of seconds.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import Lab, watch
from tests.browser.test_workbench import notebook, tab
from tests.notebook import samples
from workbench.decoding.trace import Trace, byte_order
from workbench.notebook.report import write_report

pytestmark = [pytest.mark.browser, pytest.mark.slow]

#: Clicks a button; the time ends when the frame with the change was painted.
_CLICKS = """
async ([action, count]) => {
  const times = [];
  const place = document.querySelector('.wb-place');
  for (let i = 0; i < count; i++) {
    const button = document.querySelector(`[data-action=${action}][aria-disabled=false]`);
    if (!button) break;
    const before = place.textContent;
    const started = performance.now();
    button.click();
    while (place.textContent === before) await new Promise(resolve => setTimeout(resolve, 0));
    await new Promise(resolve => requestAnimationFrame(() => {
      const channel = new MessageChannel();
      channel.port1.onmessage = resolve;
      channel.port2.postMessage(0);
    }));
    times.push(performance.now() - started);
    await new Promise(resolve => setTimeout(resolve, 30));
  }
  return times;
}
"""


def clicks(page: Any, what: str, action: str, count: int) -> list[float]:
    """Times of clicks in milliseconds; prints their median and 95th percentile.

    Beside them the processor time of the page's main thread, which other processes do not add to.
    """
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    before = busy(session)
    times = sorted(page.evaluate(_CLICKS, [action, count]))
    spent = (busy(session) - before) / max(1, len(times))
    session.detach()
    assert len(times) == count
    median, p95 = times[count // 2], times[int(count * 0.95)]
    load = os.getloadavg()[0] / (os.cpu_count() or 1)
    print(
        f"\n{what}: {count} clicks, click to painted: median {median:.1f} ms, p95 {p95:.1f} ms;"
        f" {spent:.1f} ms of processor time each; load {load:.1f} a processor",
        file=sys.stderr,
    )
    return list(times)


def busy(session: Any) -> float:
    """Milliseconds of processor time that the page's tasks have taken."""
    metrics = session.send("Performance.getMetrics")["metrics"]
    return 1000 * next(float(m["value"]) for m in metrics if m["name"] == "TaskDuration")


def test_a_large_vocabulary_and_a_large_automaton(browser: Any, lab: Lab, results: Path) -> None:
    pytest.importorskip("transformers", reason="transformers is not installed")
    code = """import workbench as wb
from tests.notebook.large import large_grammar, large_model
model = large_model()
bench = wb.Workbench(model, large_grammar(), [5, 6, 7], title="large", temperature=1.0, seed=3)
for _ in range(100):
    bench.session.step()
bench.back(0)
bench"""
    notebook(lab, "large.ipynb", code)
    watched = watch(browser, 1500, 1700)
    page = watched.page
    page.set_default_timeout(60_000)
    lab.open(page, "large.ipynb")
    lab.run_all(page)
    page.locator(".wb-panel").wait_for(timeout=240_000)
    page.wait_for_selector("[data-action=first][aria-disabled=false]")
    page.locator(".wb-canvas:visible svg").wait_for()
    page.locator("[data-action=first]").click()
    assert "of 128,256" in page.locator(".wb-panel > .wb-headline").inner_text()
    times = clicks(page, "recorded steps, 128,256 tokens, step screen", "forward", 100)
    assert times[-1] < 3000
    tab(page, "automaton")
    states = page.locator(".wb-tabpanel:not([hidden]) .wb-note", has_text="states").first
    assert "of 5,4" in states.inner_text()
    assert clicks(page, "recorded steps, 5,432 states, automaton screen", "back", 60)[-1] < 3000
    tab(page, "profile")
    assert clicks(page, "recorded steps, profile screen", "back", 30)[-1] < 3000
    tab(page, "tokens")
    page.locator(".wb-group").first.wait_for()
    assert clicks(page, "recorded steps, token screen (kernel asked)", "forward", 30)[-1] < 5000
    started = page.evaluate("performance.now()")
    page.get_by_role("button", name="all", exact=True).nth(0).click()
    page.wait_for_function(
        "/128,256 tokens in/.test(document.querySelector("
        "'.wb-tabpanel:not([hidden]) .wb-headline').textContent)"
    )
    grouped = page.evaluate("performance.now()") - started
    print(f"\n128,256 tokens grouped by rule and drawn: {grouped:.0f} ms", file=sys.stderr)
    assert page.locator(".wb-virtual-row").count() < 60
    page.locator(".wb-panel").screenshot(path=str(results / "large-tokens.png"))
    tab(page, "step")
    page.locator("[data-action=last]").click()
    new = clicks(page, "new steps, 128,256 tokens (model, mask and all)", "forward", 15)
    assert new[-1] < 20_000
    watched.assert_clean()


def long_trace(length: int) -> Trace:
    """A run of the made-up trace with one step of its string again and again."""
    made = samples.trace()
    template = made.steps[5]
    middle = [template] * (length - len(made.steps))
    steps = [*made.steps[:5], *middle, *made.steps[5:]]
    made.steps.clear()
    for step in steps:
        made.append(step)
    assert byte_order(samples.vocabulary()) is not None
    return made


def test_two_thousand_steps(browser: Any, tmp_path: Path, results: Path) -> None:
    path = write_report(
        long_trace(2000),
        tmp_path / "long.html",
        vocabulary=samples.vocabulary(),
        automaton=samples.automaton(),
        title="long",
    )
    watched = watch(browser, 1400, 1200)
    page = watched.page
    page.goto(path.as_uri())
    page.locator(".wb-canvas:visible svg").wait_for()
    assert page.locator(".wb-place").inner_text() == "step 0/2000"
    assert clicks(page, "2,000 recorded steps, step screen", "forward", 60)[-1] < 3000
    tab(page, "profile")
    page.locator(".wb-panel").press("0")
    assert page.locator(".wb-tracks g[data-step]").count() <= 300
    assert clicks(page, "2,000 recorded steps, profile of all", "forward", 30)[-1] < 3000
    page.locator(".wb-panel").press("End")
    assert page.locator(".wb-place").inner_text() == "step 2000/2000"
    page.locator(".wb-panel").screenshot(path=str(results / "long-profile.png"))
    watched.assert_clean()

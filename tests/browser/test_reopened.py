"""A notebook that is opened again, untrusted and with no kernel behind its outputs: the static view stays."""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser.conftest import Lab, watch
from tests.notebook import samples
from workbench.notebook.static_html import static_html
from workbench.notebook.views import from_trace

pytestmark = [pytest.mark.browser, pytest.mark.slow]

nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")


def test_static_view_stays_readable(browser: Any, lab: Lab) -> None:
    document = from_trace(samples.trace(), samples.vocabulary(), samples.automaton(), "kept")
    static = nbformat.v4.new_output(
        "display_data", {"text/html": static_html(document, "kept0", leaf=8), "text/plain": "html"}
    )
    live = nbformat.v4.new_output(
        "display_data",
        {
            "application/vnd.jupyter.widget-view+json": {
                "version_major": 2,
                "version_minor": 0,
                "model_id": "0" * 32,
            },
            "text/plain": "<Stepper>",
        },
    )
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell("wb.step(...)", outputs=[static, live], execution_count=1)]
    )
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    notebook.metadata["kernelspec"] = kernel
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

"""A recorded run as one HTML file that opens with no server and no internet.

The page holds the front end of the notebook widget, which replays the run, the whole vocabulary and all
masks (so that every token can be searched), the static view for browsers without scripts, and the licenses of
the software in it. A content security policy keeps the page from loading anything.
"""

from __future__ import annotations

import base64
import os
import re
import tempfile
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.files import to_be_written
from workbench.inputs import need_compiled, need_path, need_trace
from workbench.notebook.reasons import add_reasons
from workbench.notebook.recorded import from_trace
from workbench.notebook.static_html import static_html
from workbench.notebook.views import Document, TokenTable

if TYPE_CHECKING:
    from workbench.automaton.network import Automaton
    from workbench.decoding.trace import Trace
    from workbench.engine import CompiledGrammar

__all__ = ["report_html", "static_file", "write_report"]

_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'wasm-unsafe-eval' blob:; worker-src blob:; "
    "style-src 'unsafe-inline'; img-src data:"
)
_PAGE_STYLE = """
html { color-scheme: light dark; }
body { margin: 16px auto; max-width: 1200px; padding: 0 12px; background: #ffffff; color: #1b1b1b;
  font: 14px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
h1 { font-size: 18px; }
table { border-collapse: collapse; margin: 8px 0; font-size: 13px; }
caption { text-align: left; }
.wb-static th, .wb-static td { border: 1px solid #8a8a8a; padding: 1px 6px; text-align: left; }
.wb-static { margin-top: 16px; overflow-wrap: anywhere; }
.wb-static img { max-width: 100%; background: #ffffff; }
pre { overflow: auto; }
#workbench-report-licenses { margin-top: 16px; font-size: 12px; }
@media (prefers-color-scheme: dark) { body { background: #111111; color: #e8e8e8; } }
"""


def static_file(name: str) -> str:
    """Read a file of the built front end."""
    return files("workbench.notebook").joinpath("static", name).read_text(encoding="utf-8")


def _in_script(text: str) -> str:
    """Make a script's text safe inside a script element: nothing in it may look like markup."""
    return re.sub(r"<(?=/script|!--)", r"\\x3c", text, flags=re.IGNORECASE)


def report_html(document: Document) -> str:
    """The page for a document."""
    static = static_html(document).replace(
        '<details class="wb-static"', '<details id="workbench-report-static" class="wb-static"', 1
    )
    static = static.replace("Static view. Run the cell for the live one.", "Static view.", 1)
    title = escape(document.title)
    data = base64.b64encode(document.payload()).decode("ascii")
    style = static_file("stepper.css").replace("</style", "<\\/style")
    return f"""<!DOCTYPE html>
<html lang="en" data-workbench="report">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<link rel="icon" href="data:,">
<style>{_PAGE_STYLE}{style}</style>
</head>
<body>
<h1>{title}</h1>
<main id="workbench-report"></main>
{static}
<details id="workbench-report-licenses"><summary>Licenses of the software in this page</summary>
<pre>{escape(static_file("THIRD_PARTY_LICENSES.txt"))}</pre></details>
<script type="text/plain" id="workbench-report-data">{data}</script>
<script type="module">{_in_script(static_file("stepper.js"))}</script>
</body>
</html>
"""


def write_report(
    trace: Trace,
    path: str | os.PathLike[str],
    *,
    vocabulary: TokenTable,
    automaton: Automaton | None = None,
    title: str | None = None,
    grammar: CompiledGrammar | None = None,
) -> Path:
    """Write a recorded run as a self-contained page, all or nothing, and return its path.

    ``automaton`` adds the graph; ``grammar``, the compiled grammar of the run, adds it too and the reasons
    why the likeliest rejected tokens are rejected. Raises ``ValueError`` when the vocabulary is not the one that the
    trace was made with.
    """
    need_trace(trace, "write_report")
    need_path(path, "write_report")
    if grammar is not None:
        need_compiled(grammar, "write_report")
    fingerprint = getattr(vocabulary, "fingerprint", "")
    if trace.vocabulary_fingerprint and fingerprint != trace.vocabulary_fingerprint:
        raise ValueError("this trace was made with another vocabulary")
    if grammar is not None and automaton is None:
        automaton = grammar.automaton
    document = from_trace(trace, vocabulary, automaton, title, grammar=grammar, complete=True)
    if grammar is not None:
        add_reasons(document, grammar.matcher())
    return write_page(document, path)


def write_page(document: Document, path: str | os.PathLike[str]) -> Path:
    """Write the page of a document, all or nothing, and return its path."""
    target = to_be_written(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as file:
            file.write(report_html(document))
        Path(name).chmod(0o644)
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    return Path(path)

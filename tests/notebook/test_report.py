"""Report pages: self-contained, whole, and safe with any token, title or prompt."""

from __future__ import annotations

import base64
import json
import re
import zlib
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from tests.notebook import samples
from workbench.engine import compile
from workbench.frontends.regex import regex
from workbench.notebook.recorded import from_trace
from workbench.notebook.report import report_html, static_file, write_report
from workbench.vocabulary.vocabulary import Vocabulary


def data_of(html: str) -> dict[str, object]:
    found = re.search(r'<script type="text/plain" id="workbench-report-data">(.*?)</script>', html)
    assert found is not None
    result: dict[str, object] = json.loads(zlib.decompress(base64.b64decode(found[1])))
    return result


def test_holds_the_whole_run(tmp_path: Path) -> None:
    path = write_report(
        samples.trace(),
        tmp_path / "deep" / "run.html",
        vocabulary=samples.vocabulary(),
        automaton=samples.automaton(),
        title="a run",
    )
    html = path.read_text(encoding="utf-8")
    data = data_of(html)
    assert data["title"] == "a run"
    assert data["complete"] is True
    assert len(data["positions"]) == 11  # type: ignore[arg-type]
    assert len(data["graphs"]) == 1  # type: ignore[arg-type]
    assert "Static view." in html
    assert [p.name for p in path.parent.iterdir()] == ["run.html"]


def test_asks_for_nothing() -> None:
    html = report_html(from_trace(samples.trace(), samples.vocabulary()))
    assert "default-src 'none'" in html
    without_scripts = re.sub(r"<script.*?</script>", "", html, flags=re.S)
    assert not re.search(r"(?:src|href)=\"(?!data:)", without_scripts)


def test_scripts_end_where_they_should() -> None:
    trace = samples.trace()
    bad = "</script><script>alert(1)</script><!-- </title>"
    trace.prompt_text = trace.model_name = trace.grammar_text = bad
    html = report_html(from_trace(trace, samples.vocabulary(), title=bad, complete=True))
    assert len(re.findall(r"<script\b", html, re.I)) == 2
    assert len(re.findall(r"</script", html, re.I)) == 2
    assert "<!--" not in html.replace("<!DOCTYPE", "")
    assert html.count("</title>") == 1
    assert "alert(1)</script>" not in html


def test_the_front_end_is_not_changed_by_escaping() -> None:
    html = report_html(from_trace(samples.trace(), samples.vocabulary()))
    assert static_file("stepper.js") in html
    assert static_file("stepper.css") in html


def test_the_licenses_of_what_is_embedded_travel_with_the_page() -> None:
    html = report_html(from_trace(samples.trace(), samples.vocabulary()))
    text = unescape(html[html.index('id="workbench-report-licenses"') :])
    assert static_file("THIRD_PARTY_LICENSES.txt") in text
    assert "Eclipse Public License - v 2.0" in text and "Expat" in text


def test_an_existing_page_survives_a_failure(tmp_path: Path) -> None:
    path = tmp_path / "run.html"
    path.write_text("before")
    trace = samples.trace()
    trace.masks = dict.fromkeys(trace.masks, "!")
    with pytest.raises(Exception, match="damaged"):
        write_report(trace, path, vocabulary=samples.vocabulary())
    assert path.read_text() == "before"
    assert [p.name for p in tmp_path.iterdir()] == ["run.html"]


def test_another_vocabulary_is_refused(tmp_path: Path) -> None:
    other = Vocabulary.from_bytes([b"", b"x"], [0])
    with pytest.raises(ValueError, match="another vocabulary"):
        write_report(samples.trace(), tmp_path / "x.html", vocabulary=other)


def test_tokens_out_of_range_do_not_break_the_page(tmp_path: Path) -> None:
    trace = samples.trace()
    trace.prompt_ids = [1, 999_999, -5]
    document = from_trace(trace, samples.vocabulary())
    assert document.prompt == (1,)


def test_a_lone_surrogate_is_written(tmp_path: Path) -> None:
    trace = samples.trace()
    trace.prompt_text = "\ud800"
    trace.steps[0] = replace(trace.steps[0])
    path = write_report(trace, tmp_path / "x.html", vocabulary=samples.vocabulary())
    assert path.stat().st_size > 500_000


def test_the_grammar_adds_reasons_and_the_graph(tmp_path: Path) -> None:
    vocabulary = samples.vocabulary()
    trace = samples.trace()
    compiled = compile(regex(r'\{"name":"[A-Za-z</>!-]*"\}'), vocabulary)
    path = write_report(trace, tmp_path / "x.html", vocabulary=vocabulary, grammar=compiled)
    positions: Any = data_of(path.read_text(encoding="utf-8"))["positions"]
    why = positions[1]["whys"]["11"]  # a line feed after {"
    assert why["expected"] == "n"
    assert "may not come" in why["reason"]
    assert all(p["whys"] for p in positions if p["open"])
    other = compile(regex("x|[{]a"), vocabulary)
    path = write_report(trace, path, vocabulary=vocabulary, grammar=other)
    positions = data_of(path.read_text(encoding="utf-8"))["positions"]
    assert [bool(p["whys"]) for p in positions[:3]] == [True, False, False]

"""Pictures as images: drawn on a machine without Graphviz, every label inside its box."""

from __future__ import annotations

import base64
import re
import unicodedata
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

import workbench as wb
from tests.notebook import samples
from workbench.automaton.dot import picture
from workbench.notebook import drawing
from workbench.notebook.drawing import NoPicture, draw, image_of
from workbench.notebook.recorded import from_trace
from workbench.notebook.report import report_html, write_report
from workbench.notebook.reprs import automaton_html, compiled_html
from workbench.notebook.static_html import static_html
from workbench.vocabulary import byte_vocabulary

pytest.importorskip("graphviz", reason="the graphviz package is not installed")

SVG = "{http://www.w3.org/2000/svg}"
#: The widest of the usual fixed-width fonts, in parts of its size.
WIDEST = 0.603
NAMES = [
    "string",
    'a"b',
    "<b>x</b>",
    "\\N\\",
    "x\ny",
    "é" * 30,
    "日本語の規則",
    "{|}",
    "",
    "#/a/b~1c",
    "x" * 80,
]


@pytest.fixture(autouse=True)
def no_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine where no program is found by its name."""
    monkeypatch.setenv("PATH", "")
    draw.cache_clear()


def columns(text: str) -> int:
    """Letters that a fixed-width font gives a text room for."""
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return len(text) + wide - sum(unicodedata.combining(c) > 0 for c in text)


def width(text: ElementTree.Element) -> float:
    return columns(text.text or "") * WIDEST * float(text.get("font-size", "14"))


def reach(group: ElementTree.Element) -> tuple[float, float]:
    """Left and right end of what a node or box is drawn with."""
    if (ellipse := group.find(f"{SVG}ellipse")) is not None:
        cx, rx = float(ellipse.get("cx", "")), float(ellipse.get("rx", ""))
        return cx - rx, cx + rx
    shape = group.find(f"{SVG}path")
    shape = group.find(f"{SVG}polygon") if shape is None else shape
    assert shape is not None
    numbers = re.findall(r"-?[\d.]+", shape.get("d") or shape.get("points") or "")
    xs = [float(x) for x in numbers[::2]]
    return min(xs), max(xs)


@pytest.mark.parametrize("name", NAMES)
def test_labels_fit_their_boxes(name: str) -> None:
    plain = samples.automaton()
    rules = tuple((name,) if r == ("string",) else r for r in plain.state_rules)
    named = replace(plain, state_rules=rules, entry_names=("object", name))
    root = ElementTree.fromstring(draw(picture(named, [8], mark=True).source))
    kinds = {"node": 0, "cluster": 0}
    for group in root.iter(f"{SVG}g"):
        kind = group.get("class", "")
        texts = group.findall(f"{SVG}text")
        if kind not in kinds or not texts:
            continue
        kinds[kind] += 1
        left, right = reach(group)
        for text in texts:
            assert width(text) <= right - left, text.text
    assert kinds == {"node": 10, "cluster": 2 if name else 1}


def test_the_font_is_that_of_the_page() -> None:
    root = ElementTree.fromstring(draw(picture(samples.automaton()).source))
    assert root.get("font-family") == "monospace"
    assert {e.get("font-family") for e in root.iter()} == {"monospace", None}


def test_live_states_have_a_double_ring() -> None:
    shown = image_of(picture(samples.automaton()), [8])
    data = re.search(r"base64,([^\"]+)", shown)
    assert data is not None
    root = ElementTree.fromstring(base64.b64decode(data[1]))
    rings = {g.get("id"): len(g.findall(f"{SVG}ellipse")) for g in root.iter(f"{SVG}g")}
    assert rings["s8"] == 2
    assert rings["s7"] == 1
    assert "live states: 8." in shown


@pytest.mark.parametrize(
    "grammar",
    [
        wb.regex("(ab)+c?"),
        wb.regex("[é€]"),
        wb.regex("."),
        wb.gbnf('root ::= term ("+" term)*\nterm ::= "2" | "(" root ")"'),
        wb.json_text(),
        wb.json_schema({"properties": {"größe": {"enum": ["klein", "groß"]}}}),
    ],
    ids=["pattern", "utf8", "any character", "stack", "json text", "schema"],
)
def test_what_the_tutorials_draw_is_drawn(grammar: wb.Grammar) -> None:
    compiled = wb.compile(grammar, byte_vocabulary())
    assert '<img alt="Automaton of ' in automaton_html(compiled.automaton)
    assert "compiled for" in compiled_html(compiled)


def test_static_views_and_reports_have_their_picture(tmp_path: Path) -> None:
    document = from_trace(samples.trace(), samples.vocabulary(), samples.automaton())
    assert "<img" in static_html(document)
    assert "<img" in report_html(document)
    path = write_report(
        samples.trace(),
        tmp_path / "run.html",
        vocabulary=samples.vocabulary(),
        automaton=samples.automaton(),
    )
    assert "<img" in path.read_text(encoding="utf-8")


def test_a_missing_picture_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = picture(samples.automaton())
    with monkeypatch.context() as patch:
        patch.setattr(drawing, "_PACKAGE", "no-such-package")
        drawing._program.cache_clear()
        draw.cache_clear()
        shown = image_of(drawn, [8])
    drawing._program.cache_clear()
    assert "<img" not in shown
    assert "pip install 'grammar-workbench[notebook]'" in shown
    with monkeypatch.context() as patch:
        patch.setattr(drawing, "IMAGE_LIMIT", 100)
        assert "10 states are more than a page should hold" in image_of(drawn, [8])
    with pytest.raises(NoPicture, match=r"the layout failed: .*syntax error"):
        draw("digraph {")
    with monkeypatch.context() as patch:
        patch.setattr(drawing, "TIME_LIMIT", 0.0001)
        with pytest.raises(NoPicture, match="took more than"):
            draw("digraph { a -> b }")

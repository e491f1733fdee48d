"""The static view: nothing is lost in JupyterLab's sanitiser, and nothing breaks out of it."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from tests.notebook import samples
from workbench.engine.why import Why
from workbench.notebook import static_html as module
from workbench.notebook.recorded import from_trace
from workbench.notebook.static_html import milliseconds, static_html, static_text
from workbench.notebook.views import Document

# What JupyterLab 4's sanitiser keeps, of what these views use.
TAGS = {
    *("details", "summary", "p", "b", "i", "code", "pre", "img", "meter", "span", "small"),
    *("table", "caption", "thead", "tbody", "tr", "th", "td"),
}
ATTRIBUTES = {
    "details": {"class", "open"},
    "code": {"title", "style"},
    "p": {"style"},
    "span": {"title", "style"},
    "th": {"scope"},
    "meter": {"min", "max", "value"},
    "img": {"alt", "src"},
}
STYLES = {
    "code": r"background-color:#[0-9A-F]{6};color:#[0-9A-F]{6}",
    "p": r"margin:4px 0(;line-height:2\.6)?",
    "span": r"border-bottom:2px solid #[0-9A-F]{6};padding-bottom:\d+px",
}


class Checker(HTMLParser):
    """Collects the text; fails on what the sanitiser would drop, and on tags that do not match."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in TAGS, tag
        for name, value in attrs:
            assert name in ATTRIBUTES.get(tag, set()), (tag, name)
            if name == "style":
                assert re.fullmatch(STYLES[tag], value or "")
            if name == "src":
                assert (value or "").startswith("data:image/svg+xml;base64,")
            if name == "alt":
                assert re.fullmatch(r"Automaton of \d+ states; live states: .+\.", value or "")
        if tag != "img":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def check(html: str) -> str:
    checker = Checker()
    checker.feed(html)
    checker.close()
    assert checker.open == []
    return " ".join(" ".join(checker.text).split())


def refused(token_id: int, sentence: str) -> Why:
    return Why(token_id=token_id, token_bytes=b"", label="", allowed=False, sentence=sentence)


@pytest.fixture
def document() -> Document:
    return from_trace(samples.trace(), samples.vocabulary(), samples.automaton(), "person & co")


def test_sanitiser_takes_nothing_away(document: Document) -> None:
    text = check(static_html(document, "abc123"))
    for fact in (
        "person & co: 10 steps. Static view. Run the cell for the live one.",
        "model: made-up",
        "device: cpu",
        "temperature 0.0, seed 7",
        "2030-01-02T03:04:05+00:00",
        "the model ended the text",
        "chosen by you",
        "</script><!--",
        "93.7%",
        "61 ms",
        "1.83 → 1.66",
    ):
        assert fact in text, fact


def test_class_names_the_view(document: Document) -> None:
    html = static_html(document, "abc123")
    assert html.startswith('<details class="wb-static wb-static-abc123" open>')
    assert static_html(document, "x", open=False).startswith(
        '<details class="wb-static wb-static-x">'
    )


def test_open_position_shows_candidates_reasons_and_stack(document: Document) -> None:
    whys = {8: refused(8, "byte 1 of 2 ('d') may not come")}
    document.positions[8] = replace(document.positions[8], whys=whys)
    text = check(static_html(document, leaf=8))
    assert "Candidates for the next token: 1 of 16 allowed" in text
    assert "✕ rejected: Byte 1 of 2 ('d') may not come" in text
    assert "Live stack, top first" in text
    assert "Transitions from the live states (5)" in text
    assert "open: 1 token may come next" in text


def test_hostile_texts_stay_texts(document: Document) -> None:
    bad = "</details><script>alert(1)</script><img src=x onerror=y>&amp;\"'"
    document.title = bad
    document.prompt_text = bad
    document.meta |= {"model": bad, "grammar text": bad}
    document.problem = bad, bad
    text = check(static_html(document, "id"))
    assert text.count("<script>alert(1)</script>") >= 5


def test_a_long_run_keeps_its_ends_and_choices() -> None:
    trace = samples.trace()
    steps = list(trace.steps)
    trace.steps.clear()
    for i in range(300):
        trace.append(replace(steps[8], allowed_count=5 if i == 150 else 1, token_id=10))
    document = from_trace(trace, samples.vocabulary(), samples.automaton())
    html = static_html(document)
    text = check(html)
    assert len(html) < module.SIZE_LIMIT
    assert "Steps (300, 259 more left out)" in text
    assert "Step 151: 5 allowed" in text


def test_size_is_bounded(document: Document) -> None:
    trace = samples.trace()
    steps = list(trace.steps)
    trace.steps.clear()
    for i in range(400):
        trace.append(steps[4 + i % 4])
    big = from_trace(trace, samples.vocabulary(), samples.automaton(), "x" * 1000)
    whys = {i: refused(i, "r" * 400) for i in range(16)}
    big.positions = [replace(p, whys=whys) for p in big.positions]
    html = static_html(big)
    check(html)
    assert len(html.encode()) < 1.3 * module.SIZE_LIMIT


def test_without_a_picture_the_table_remains(
    document: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.notebook.drawing.IMAGE_LIMIT", 0)
    html = static_html(document, leaf=8)
    assert "<img" not in html
    text = check(html)
    assert "No picture here: " in text
    assert "Transitions from the live states" in text


def test_text_says_the_same(document: Document) -> None:
    text = static_text(document)
    assert "person & co" in text
    assert "state: the model ended the text" in text
    rows = [line.split() for line in text.splitlines() if re.match(r"\d+ +\S", line)]
    assert [row[0] for row in rows] == [str(i + 1) for i in range(10)]
    assert "stack, top first: string (8) / object (5)" in static_text(document, leaf=5)


def test_milliseconds() -> None:
    assert [milliseconds(t) for t in (0.041, 3.14, 57.4, 1234)] == [
        "41 µs",
        "3.1 ms",
        "57 ms",
        "1.23 s",
    ]

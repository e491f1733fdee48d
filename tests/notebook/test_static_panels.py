"""The static forms of the screens beside the stepper: every fact is there, and the sanitiser takes none away."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.notebook import samples
from tests.notebook.test_static_html import check
from workbench.automaton.frames import Frame
from workbench.decoding import Decoder
from workbench.decoding.trace import Trace, TraceStep
from workbench.diagnostics.profile.profile import profile
from workbench.engine.why import Why, WhyByte
from workbench.frontends.regex import regex
from workbench.notebook.editor import check as judge
from workbench.notebook.recorded import from_trace
from workbench.notebook.request_handlers import RequestHandlers
from workbench.notebook.session import Session
from workbench.notebook.static_html import SIZE_LIMIT, static_html
from workbench.notebook.static_parts import milliseconds, warm_up
from workbench.notebook.views import Document


@pytest.fixture
def document() -> Document:
    return from_trace(samples.trace(), samples.vocabulary(), samples.automaton(), "panels")


def test_the_grammar_with_its_mistakes_and_verdicts(document: Document) -> None:
    examples = [{"text": "a<b", "want": "match"}, {"text": "ab", "want": "prefix"}]
    table = samples.vocabulary()
    document.panels["grammar"] = judge('root ::= "a<" "c"', "gbnf", examples, table)
    text = check(static_html(document))
    for fact in (
        "4 states, 0 of 2 examples as wanted",
        '1 root ::= "a<" "c"',
        "should match ✕ no match byte 3 b, expected c",
        "should begin a match ✕ no match byte 2 b, expected <",
    ):
        assert fact in text, fact
    document.panels["grammar"] = judge('root ::= "q"', "gbnf", examples, table)
    text = check(static_html(document))
    assert "Grammar and examples: ✕ 1 error, 0 of 2 examples as wanted" in text
    assert "UnsatisfiableGrammar at the text: rule 'root' can never be completed" in text
    document.panels["grammar"] = judge("root ::= vlue\nvalue ::= [a]", "gbnf", examples, table)
    text = check(static_html(document))
    assert "✕ GrammarSyntaxError at line 1, column 10: rule 'vlue' is used but not defined" in text
    assert "did you mean 'value'?" in text
    assert "◌ not judged" in text


def test_findings_with_their_facts_and_edits(document: Document) -> None:
    finding = {
        "kind": "empty mask",
        "warning": False,
        "title": "⊘ empty mask",
        "sentence": "no token <begins> the byte z",
        "facts": [["shortest path", '{"a":"<'], ["last escape", "at the start (step 0)"]],
        "step": 0,
        "suggestion": "raise maxLength to 3",
        "diff": '-"maxLength": 2\n+"maxLength": 3',
        "edited": None,
        "effect": "'abc' becomes accepted",
    }
    warning = finding | {"warning": True, "title": "⚠ never written", "diff": "", "effect": ""}
    document.panels["dead"] = {
        "note": "all of it",
        "ms": 12.3,
        "summaries": [["grammar", "1 error, 1 warning", 1], ["trace", "none found", 0]],
        "findings": [finding, warning],
    }
    text = check(static_html(document))
    for fact in (
        "Dead ends in the grammar: 1 error, 1 warning; in the trace: none found",
        "checked in 12 ms: all of it",
        "⊘ empty mask no token <begins> the byte z",
        'shortest path {"a":"<',
        "suggestion raise maxLength to 3",
        "effect 'abc' becomes accepted",
        '-"maxLength": 2 +"maxLength": 3',
    ):
        assert fact in text, fact


def test_the_profile_says_what_the_diagnostics_say(document: Document) -> None:
    text = check(static_html(document, leaf=10))
    found = profile(samples.trace())
    cold = len(found.warm_up)
    assert f"Profile: 10 steps, {cold} of them warm-up and not counted" in text
    times = found.times("mask")
    facts = [times.total, times.median, times.p90, times.p99, times.most]
    assert f"mask {times.n} {' '.join(map(milliseconds, facts))}" in text
    assert "Mask time by rule, heaviest first" in text
    assert "string 4" in text


@pytest.mark.parametrize(
    ("mask", "count"),
    [([], 0), ([1], 0), ([1, 1], 1), ([1, 1, 1, 1], 1), ([9, 9, 1, 1, 1], 2), ([9, 1, 9, 1, 1], 1)],
)
def test_warm_up_is_counted_as_the_diagnostics_do(mask: list[float], count: int) -> None:
    trace = Trace()
    for ms in mask:
        trace.append(
            TraceStep(
                index=0, kind="sampled", token_id=1, token_bytes=b"a", mask_ms=ms, forward_ms=10
            )
        )
    assert warm_up(mask, [10.0] * len(mask)) == count == len(profile(trace).warm_up)


def test_every_reason_that_was_asked_for(document: Document) -> None:
    cells = (
        WhyByte(ord("y"), "consumed", (4,), (Frame(rules=("object",), entered=0),)),
        WhyByte(ord("x"), "fatal", (8,), (Frame(8, ("string",)),)),
        WhyByte(ord("z"), "not reached"),
    )
    why = Why(
        token_id=13,
        token_bytes=b"yxz",
        label="yxz",
        allowed=False,
        sentence="byte 2 ('x') may not come in string",
        consumed=1,
        fatal=1,
        expected=frozenset(b"ab"),
        cells=cells,
    )
    document.positions[3] = replace(document.positions[3], whys={13: why})
    text = check(static_html(document, leaf=10))
    for fact in (
        "Why: 1 answer",
        "</script><!-- 13",
        "Byte 2 ('x') may not come in string",
        "a b",
        "● consumed, states 4, in object (entered at the start)",
        "✕ fatal, states 8, in string",
        "· not reached",
    ):
        assert fact in text, fact


def test_the_files_of_an_export(document: Document) -> None:
    document.panels["export"] = {
        "path": "out/<x>.zip",
        "dry": False,
        "ok": False,
        "reasons": ["1 example fails"],
        "files": [["grammar.gbnf", 1234, "ab12"]],
        "note": "refused",
    }
    text = check(static_html(document))
    for fact in (
        "Export: out/<x>.zip",
        "✕ refused",
        "✕ 1 example fails",
        "grammar.gbnf 1,234 ab12",
    ):
        assert fact in text, fact


def test_the_groups_at_the_cursor(tiny: Any) -> None:
    handlers = RequestHandlers(
        Session(Decoder(tiny, [1, 2], regex("(ab|c)[ab]{2,9}[01]+")), "groups")
    )
    handlers.keep_groups()
    (group,) = handlers.session.document.panels["tokens"]["groups"]
    allowed = handlers.session.here.allowed
    assert (group["name"], group["count"]) == ("root", allowed)
    assert group["mass"] == pytest.approx(1)
    text = check(static_html(handlers.session.document))
    assert f"Tokens allowed at position 0: {allowed} of 19" in text
    assert f"root {allowed} 100.0%" in text
    # A place that the run does not stand at is left out: looking there would run the model.
    handlers.session.run()
    handlers.session.goto(1)
    handlers.keep_groups()
    assert "tokens" not in handlers.session.document.panels


def test_a_long_run_with_everything_stays_small(document: Document) -> None:
    examples = [{"text": "x" * 500, "want": "match"}] * 100
    text = "root ::= " + '"abc" ' * 5000
    document.panels["grammar"] = judge(text, "gbnf", examples, samples.vocabulary())
    html = static_html(document)
    check(html)
    assert len(html) <= SIZE_LIMIT

"""Whatever is cut is said where it is cut: each limit is driven over its edge, and the words looked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.notebook import samples
from workbench.automaton.frames import Frame, shortened
from workbench.decoding.trace import Trace
from workbench.diagnostics.dead_ends.findings import Finding
from workbench.engine import compile as compile_grammar
from workbench.frontends.gbnf import gbnf
from workbench.frontends.regex import regex
from workbench.notebook import static_html as html_module
from workbench.notebook.editor import check
from workbench.notebook.finding_wire import finding_wire
from workbench.notebook.reasons import full_reason
from workbench.notebook.recorded import from_trace
from workbench.notebook.reprs import grammar_html, matcher_html, trace_html
from workbench.notebook.static_html import static_html, static_text
from workbench.notebook.static_panels import ROWS_SHOWN, static_panels
from workbench.notebook.views import Document, Row
from workbench.notebook.wire import why_wire
from workbench.vocabulary import Vocabulary

BYTES = Vocabulary.from_bytes([b"", *(bytes([b]) for b in range(256))], eos_ids=[0])


def long_trace(steps: int = 300) -> Trace:
    trace = samples.trace()
    template = trace.steps[8]
    trace.steps.clear()
    for i in range(steps):
        trace.append(replace(template, allowed_count=5 if i == 150 else 1, token_id=10))
    return trace


def long_run(steps: int = 300) -> Document:
    return from_trace(long_trace(steps), samples.vocabulary(), samples.automaton())


def open_position(**changes: Any) -> Document:
    document = from_trace(samples.trace(), samples.vocabulary(), samples.automaton())
    document.positions = document.positions[:9]
    document.positions[8] = replace(document.positions[8], **changes)
    return document


def panels(**found: Any) -> str:
    document = from_trace(samples.trace(), samples.vocabulary(), samples.automaton())
    document.panels = found
    return static_panels(document, document.path())


def editor(**changes: Any) -> dict[str, Any]:
    found = {"text": "x", "kind": "gbnf", "ok": True, "ms": 1, "states": 1, "mistakes": []}
    return {**found, "hints": [], "outcomes": [], "notes": [], "examples": [], **changes}


VERDICT = {"text": "x", "want": "match", "ok": True, "verdict": "match", "failing": None}
FINDING = {"title": "t", "sentence": "s", "facts": [], "suggestion": "", "effect": "", "diff": ""}
FRAMES = tuple(Frame(i, ("r",)) for i in range(50))
NESTED = gbnf('root ::= "(" root ")" | "x"')
#: After its first brace a text may be read in twelve ways.
MANY = gbnf(
    "root ::= "
    + " | ".join(f'r{i} "{"b" * i}0"' for i in range(12))
    + "".join(f'\nr{i} ::= "{{" r{i} "}}" | "{"a" * (i + 1)}"' for i in range(12))
)


def deep_matcher(depth: int) -> Any:
    matcher = compile_grammar(NESTED, BYTES).matcher()
    for _ in range(depth):
        assert matcher.accept(1 + ord("("))
    return matcher


def many_stacks() -> Any:
    matcher = compile_grammar(MANY, BYTES).matcher()
    assert matcher.accept(1 + ord("{"))
    return matcher


def finding(**changes: Any) -> Finding:
    return Finding(kind="never ends", message="m", **changes)


CUTS: dict[str, tuple[Callable[[], str], str]] = {
    "steps in the text": (lambda: static_text(long_run()), "… 130 more steps …"),
    "tokens in the chips": (lambda: static_html(long_run(500)), "… 180 more tokens …"),
    "steps in the table": (lambda: static_html(long_run()), "259 more left out"),
    "rows of the table of steps": (lambda: static_html(long_run()), "<td>129 more steps</td>"),
    "a short view": (lambda: static_html(long_run(), brief=True), "280 more left out"),
    "a grammar": (
        lambda: static_html(replaced(open_position(), meta={"grammar text": "x" * 5_000})),
        "1,000 more characters",
    ),
    "a prompt": (
        lambda: static_html(replaced(open_position(), prompt_text="p" * 2_001)),
        "1 more character",
    ),
    "candidates": (
        lambda: static_html(open_position(rows=tuple(Row(i, 0.1, 0.1, True) for i in range(13)))),
        "3 more recorded candidates",
    ),
    "frames": (lambda: static_html(open_position(stacks=(FRAMES,))), "10 more frames"),
    "frames in the text": (lambda: static_text(open_position(stacks=(FRAMES,))), "… 10 more"),
    "stacks": (
        lambda: static_html(open_position(stacks=(FRAMES,) * 8, stack_count=40)),
        "The first of 40 live stacks",
    ),
    "stacks in the text": (
        lambda: static_text(open_position(stacks=(FRAMES,) * 8, stack_count=1000)),
        "the first of 1,000 or more live stacks",
    ),
    "live states": (lambda: static_html(open_position(live=tuple(range(15)))), "… 3 more"),
    "a text in the editor": (lambda: panels(grammar=editor(text="x" * 8_001)), "1 more character"),
    "examples": (
        lambda: panels(grammar=editor(examples=[VERDICT] * 62)),
        "2 more examples",
    ),
    "an example": (
        lambda: panels(grammar=editor(examples=[{**VERDICT, "text": "y" * 310}])),
        "10 more characters",
    ),
    "groups of tokens": (
        lambda: panels(
            tokens={
                "node": 0,
                "allowed": 9,
                "groups": [{"name": "g", "count": 1, "mass": 0.1, "samples": [3]}] * 61,
            }
        ),
        "1 more group",
    ),
    "findings": (
        lambda: panels(
            dead={"ms": 1, "note": "", "findings": [{**FINDING, "warning": False}] * 63}
        ),
        "3 more findings",
    ),
    "a trace": (lambda: trace_html(long_trace(60)), "20 more steps"),
    "the text of a trace": (lambda: trace_html(long_trace(2_100)), "more characters"),
    "the source of a grammar": (
        lambda: grammar_html(gbnf('root ::= "x"' + " " * 6_000)),
        "more characters",
    ),
    "rules of a grammar": (
        lambda: grammar_html(
            gbnf(
                "root ::= "
                + " ".join(f"r{i}" for i in range(50))
                + "".join(f'\nr{i} ::= "x"' for i in range(50))
            )
        ),
        "… 11 more",
    ),
    "stacks of a matcher": (lambda: matcher_html(many_stacks()), "4 more live stacks"),
    "frames of a matcher": (lambda: matcher_html(deep_matcher(30)), "… 17 more"),
    "examples of the editor": (
        lambda: " ".join(check("a+", "regex", [{"text": "a"}] * 203, BYTES)["notes"]),
        "the first 200 are judged: 3 more examples",
    ),
    "bytes of an example": (
        lambda: check("a+", "regex", [{"text": "a" * 100_001}], BYTES)["examples"][0]["verdict"],
        "not judged: 100,001 bytes, at most 100,000 are read",
    ),
    "open parts of a reason": (
        lambda: str(why_wire(full_reason(deep_matcher(20), 1 + ord(")"))[0])["cells"][0][2][-1]),
        "… 14 more",
    ),
    "tokens of a finding": (
        lambda: str(finding_wire(finding(token_ids=tuple(range(45))), None)["facts"]),
        "5 tokens before, then",
    ),
    "the source of a finding": (
        lambda: str(finding_wire(finding(source="s" * 305), None)["facts"]),
        "5 more characters",
    ),
    "the stack of a finding": (
        lambda: str(finding(stack=tuple(Frame(rules=("r",)) for _ in range(9)))),
        "… 5 more",
    ),
    "a very deep stack": (lambda: str(shortened(FRAMES, 48)[-1]), "… 2 more"),
}


def replaced(document: Document, **changes: Any) -> Document:
    for name, value in changes.items():
        setattr(document, name, value)
    return document


@pytest.mark.parametrize("what", CUTS)
def test_what_is_cut_is_said(what: str) -> None:
    make, words = CUTS[what]
    assert words in make()


def test_nothing_is_said_where_nothing_is_cut() -> None:
    frames = FRAMES[: html_module.FRAMES_SHOWN]
    document = open_position(stacks=(frames,), rows=(Row(3, 0.1, 0.1, True),))
    document.positions = [replace(position, rows=()) for position in document.positions]
    for text in (static_html(document), static_text(document)):
        assert " more" not in text and "left out" not in text
    assert "more" not in panels(grammar=editor(examples=[VERDICT] * ROWS_SHOWN))


class TestStacks:
    def test_all_live_stacks_are_counted(self) -> None:
        matcher = many_stacks()
        assert matcher.count_stacks() == len(matcher.stacks(limit=10_000)) == 12
        assert matcher.count_stacks(5) == 5

    @pytest.mark.parametrize("text", ["", "a", "ab", "aab"])
    def test_the_count_is_that_of_the_list(self, text: str) -> None:
        grammar = gbnf('root ::= s "!"\ns ::= s s | "a" | "a" s "b" | "a"? "b"')
        matcher = compile_grammar(grammar, BYTES).matcher()
        for byte in text.encode():
            assert matcher.accept(1 + byte)
        assert matcher.count_stacks() == len(matcher.stacks(limit=10_000))

    def test_a_run_records_how_many_there_were(self, tiny: Any) -> None:
        from workbench.decoding import Decoder
        from workbench.notebook.session import Session

        session = Session(Decoder(tiny, [1, 2, 3], MANY))
        here = session.take(5)
        assert len(here.stacks) == 8
        assert here.stack_count == session.decoder.matcher.count_stacks() == 12
        assert here.wire()["stackCount"] == here.stack_count
        read = Trace.from_json(session.decoder.seal().to_json())
        assert read.final["stack_count"] == here.stack_count


def test_a_run_that_takes_no_more_says_so(tiny: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from workbench.decoding import Decoder
    from workbench.notebook import session as module

    monkeypatch.setattr(module, "RUN_LIMIT", 5)
    session = module.Session(Decoder(tiny, [1, 2, 3], regex("[abc]{30,}")))
    session.run()
    assert session.document.problem == (
        "stopped",
        "after 5 tokens, which is what one run takes: run again to go on",
    )
    assert "■ stopped" in static_html(session.document)
    session.step()
    assert session.document.problem is None

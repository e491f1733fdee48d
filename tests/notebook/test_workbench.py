"""The workbench as a person opens it: from what it takes, on what it opens, and its trace."""

from __future__ import annotations

import json
from typing import Any

import pytest

from workbench.errors import GrammarSyntaxError, UnsatisfiableGrammar, WorkbenchError
from workbench.frontends.gbnf import gbnf
from workbench.notebook.show import step
from workbench.notebook.static_html import static_html
from workbench.notebook.workbench import Workbench

CODE = {"type": "string", "pattern": "^[ab]{3}$", "maxLength": 2}
GOOD = {"enum": ["ab", 1]}


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        (GOOD, "json schema"),
        (json.dumps(GOOD), "json schema"),
        ('root ::= "ab"', "gbnf"),
        (gbnf('root ::= "ab"'), "gbnf"),
    ],
)
def test_what_it_takes(tiny: Any, given: Any, kind: str) -> None:
    bench = Workbench(tiny, given)
    assert bench.document.meta["grammar"] == kind and bench.tab == "step"
    assert step(tiny, [1], given).document.meta["grammar"] == kind
    bench.use(given)
    assert bench.document.meta["grammar"] == kind


def test_a_text_that_is_no_grammar(tiny: Any) -> None:
    for text in ("[ab]+", "", '{"type": '):
        with pytest.raises(GrammarSyntaxError):
            Workbench(tiny, text)
    with pytest.raises(GrammarSyntaxError, match=r"wb\.regex"):
        Workbench(tiny, "[ab]+")


@pytest.mark.parametrize(
    ("given", "kind", "place"),
    [
        ({"type": "object", "properties": {"a": CODE}, "required": ["a"]}, "json_schema", "#/properties/a"),
        (False, "json_schema", "#"),
        ('root ::= "a" root', "gbnf", "root"),
        (gbnf('root ::= "a" root'), "gbnf", "root"),
    ],
)  # fmt: skip
def test_a_grammar_without_texts_opens_on_what_is_to_blame(
    tiny: Any, given: Any, kind: str, place: str
) -> None:
    bench = Workbench(tiny, given)
    assert bench.tab == "dead"
    assert bench.document.problem is not None
    assert bench.document.problem[0] == "UnsatisfiableGrammar"
    found = bench.document.panels["dead"]
    assert found["summaries"] == [["grammar", "1 error, 0 warnings", 1]]
    (finding,) = found["findings"]
    assert any(name == "caused by" and value.startswith(place) for name, value in finding["facts"])
    assert "can never be completed" in static_html(bench.document, "id", 0)
    # no token may come, and nothing can be exported
    assert bench.session.here.allowed == 0
    with pytest.raises(WorkbenchError):
        bench.take(5)
    text = bench.handlers.ask("grammar", {}, lambda *_: None)
    assert isinstance(text, dict) and text["kind"] == kind
    with pytest.raises(UnsatisfiableGrammar):
        step(tiny, [1], given)


def test_mending_what_it_opened_on(tiny: Any) -> None:
    bench = Workbench(tiny, CODE)
    (finding,) = bench.document.panels["dead"]["findings"]
    bench.use(finding["edited"])
    bench.step()
    assert bench.document.problem is None
    assert bench.handlers.find_dead_ends()["summaries"][0] == ["grammar", "none found", 0]


def test_the_trace(tiny: Any) -> None:
    bench = Workbench(tiny, GOOD)
    assert bench.trace.steps == [] and bench.trace.finish_reason is None
    first = bench.trace
    bench.step()
    bench.step()
    assert bench.trace is first and len(bench.trace.steps) == 2
    taken = bench.trace.token_ids[0]
    assert bench.trace.text == bench.text
    # looking back moves nothing; taking another token there does
    bench.back(2)
    assert len(bench.trace.steps) == 2
    (other,) = {row.token_id for row in bench.session.here.rows if row.allowed} - {taken}
    bench.take(other)
    assert bench.trace.token_ids == [other]
    bench.use(GOOD)
    assert bench.trace.steps == []

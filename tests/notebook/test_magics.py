"""The magics in a real IPython shell, and what objects look like as the result of a cell."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("IPython", reason="IPython is not installed")
pytest.importorskip("anywidget", reason="anywidget is not installed")

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

from tests.notebook import samples
from tests.notebook.test_static_html import check
from workbench.diagnostics.coverage.coverage import coverage
from workbench.engine import compile as compile_grammar
from workbench.frontends.json_schema import json_schema
from workbench.frontends.regex import regex
from workbench.grammar.ir import Grammar
from workbench.notebook.stepper import Stepper
from workbench.notebook.workbench import Workbench

DATES = 'root ::= year "-" month\nyear ::= [0-9]{4}\nmonth ::= "0" [1-9] | "1" [0-2]\n'


@pytest.fixture
def shell(tiny: Any) -> Iterator[InteractiveShell]:
    made = InteractiveShell()
    made.run_line_magic("load_ext", "workbench")
    made.user_ns["model"] = tiny
    yield made
    made.history_manager.enabled = False


def test_a_cell_becomes_a_grammar(shell: InteractiveShell) -> None:
    made = shell.run_cell_magic("grammar", "dates", DATES)
    assert isinstance(made, Grammar)
    assert shell.user_ns["dates"] is made
    assert set(made.rules) == {"root", "year", "month"}
    assert shell.run_cell_magic("grammar", "word --kind regex", "[a-z]+").kind == "regex"
    schema = shell.run_cell_magic("grammar", "s --kind json_schema", '{"type": "null"}')
    assert schema.kind == "json_schema"
    other = shell.run_cell_magic("grammar", "months --start month", DATES)
    assert other.start == "month"


@pytest.mark.parametrize(
    ("line", "cell", "message"),
    [
        ("g", 'root ::= a\na ::= "x" mnth', "cell line 3, column 11: rule 'mnth' is used but not"),
        ("g", 'root ::= "a', "cell line 2, column 10"),
        ("g --kind json_schema", '{"type":\n oops}', "cell line 3, column 2: this is not JSON"),
        ("g --kind json_schema", '{"type": "strung"}', "type 'strung' is not a type (at #/type)"),
        ("g --kind regex", "(", "cell line 2"),
    ],
)
def test_errors_point_into_the_cell(
    shell: InteractiveShell, line: str, cell: str, message: str
) -> None:
    with pytest.raises(UsageError, match=re.escape(message)):
        shell.run_cell_magic("grammar", line, cell)
    assert "g" not in shell.user_ns


def test_examples_have_verdicts(shell: InteractiveShell) -> None:
    shell.run_cell_magic("grammar", "dates", DATES)
    say = lambda line, cell: repr(shell.run_cell_magic("example", line, cell))  # noqa: E731
    assert say("dates", "2031-07\n") == "● '2031-07': match"
    assert say("dates --no", "2031-13") == "● '2031-13': no match; byte 7 is 3, expected 0-2"
    assert say("dates --prefix", "2031-") == "● '2031-': prefix; goes on with 0 1"
    assert say("dates", "2031-") == "✕ '2031-': prefix; goes on with 0 1"
    with pytest.raises(UsageError, match="no variable 'nothing'"):
        say("nothing", "x")


def test_why_of_a_grammar_and_of_a_run(shell: InteractiveShell) -> None:
    with pytest.raises(UsageError, match="no grammar and no run yet"):
        shell.run_line_magic("why", "7")
    shell.run_cell_magic("grammar", "dates", DATES)
    why = shell.run_line_magic("why", "--after 2031-1 '\"7\"'")
    assert not why.allowed
    data, _ = shell.display_formatter.format(why)
    assert "would be accepted here: '0'-'2'" in data["text/plain"]
    assert why.sentence.startswith("byte 1 ('7') may not come")
    shell.user_ns["letters"] = regex("(ab|c)[ab]{2,9}")
    opened = shell.run_line_magic("step", "--grammar letters")
    opened.take(3)
    why = shell.run_line_magic("why", "14")
    assert (why.label, why.allowed) == ('":', False)
    assert why.after == 1
    with pytest.raises(UsageError, match="not in 0"):
        shell.run_line_magic("why", "999999")


def test_step_and_profile(shell: InteractiveShell) -> None:
    with pytest.raises(UsageError, match="no run yet"):
        shell.run_line_magic("profile", "")
    shell.user_ns["letters"] = regex("(ab|c)[ab]{2,9}")
    opened = shell.run_line_magic("step", "--grammar letters --all")
    assert isinstance(opened, Workbench)
    assert opened.document.title == "letters"
    opened.run()
    found = shell.run_line_magic("profile", "")
    steps = len(opened.session.decoder.trace.steps)
    assert len(found.steps) == steps
    data, _ = shell.display_formatter.format(found)
    assert "heaviest rules by mask time" in data["text/plain"]
    assert f"{steps} steps, " in data["text/plain"]
    shell.user_ns["recorded"] = samples.trace()
    assert len(shell.run_line_magic("profile", "recorded").steps) == 10
    shell.user_ns["word"] = "x"
    with pytest.raises(UsageError, match="no grammar: str"):
        shell.run_line_magic("step", "--grammar word")


def test_live_grammars_open_the_editor(shell: InteractiveShell) -> None:
    opened = shell.run_cell_magic("grammar", "letters --kind regex --live", "(ab|c)[ab]{2,9}")
    assert isinstance(opened, Stepper)
    assert (opened.tab, opened.screens) == ("grammar", "workbench")


def html(shell: InteractiveShell, value: Any) -> str:
    data, _ = shell.display_formatter.format(value)
    assert data["text/plain"]
    return check(data["text/html"])


def test_objects_show_themselves(shell: InteractiveShell, tiny: Any) -> None:
    grammar = shell.run_cell_magic("grammar", "dates", DATES)
    text = html(shell, grammar)
    assert "Grammar (gbnf), 3 rules" in text
    assert '1 root ::= year "-" month' in text
    schema = json_schema({"type": "integer", "maximum": 9})
    assert "Constraints of the schema" in html(shell, schema)
    assert "maximum is restricted: " in html(shell, schema)
    compiled = compile_grammar(regex("(ab|c)[ab]{2,9}"), tiny.vocabulary)
    assert "compiled for 19 tokens" in html(shell, compiled)
    assert f"Automaton, {compiled.automaton.n_states} states" in html(shell, compiled.automaton)
    matcher = compiled.matcher()
    text = html(shell, matcher)
    assert "allowed 4 of 19 tokens" in text
    assert "the text is not complete" in text
    text = html(shell, samples.trace())
    assert "Trace of 10 steps, eos" in text
    assert "</script><!--" in text


def test_coverage_shows_its_text(shell: InteractiveShell) -> None:
    found = coverage(regex("a|b"), ["a"])
    data, _ = shell.display_formatter.format(found)
    assert data["text/plain"] == str(found)

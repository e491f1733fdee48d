"""Restrictions of a schema, told by kind with the number of their places."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

import workbench as wb
from workbench.cli import main
from workbench.grammar.ir import Outcome
from workbench.grammar.outcomes import TOLD, OutcomeGroup, grouped
from workbench.notebook.editor import check
from workbench.notebook.reprs import grammar_html
from workbench.notebook.static_parts import outcome_html
from workbench.vocabulary import byte_vocabulary

#: Forty tools with two numbers each.
SCHEMA = {
    "type": "object",
    "properties": {
        f"tool{i}": {
            "type": "object",
            "properties": {"amount": {"type": "integer"}, "price": {"type": "number"}},
        }
        for i in range(40)
    },
}


def test_one_story_is_one_group() -> None:
    outcomes = [
        Outcome("#/b", "type", "restricted", "as 12"),
        Outcome("#/a", "type", "restricted", "as 12"),
        Outcome("#/a", "type", "restricted", "as 12"),
        Outcome("", "format", "unsupported"),
        Outcome("#/a", "type", "enforced"),
        Outcome("#/c", "minimum", "restricted", "as 12"),
    ]
    assert grouped(outcomes, TOLD) == [
        OutcomeGroup("unsupported", "format", "", ("#",)),
        OutcomeGroup("restricted", "type", "as 12", ("#/b", "#/a")),
        OutcomeGroup("restricted", "minimum", "as 12", ("#/c",)),
    ]
    assert [group.status for group in grouped(outcomes)][-1] == "enforced"


def test_no_place_is_lost() -> None:
    grammar = wb.json_schema(SCHEMA)
    told = [o for o in grammar.outcomes if o.status in TOLD]
    groups = grouped(grammar.outcomes, TOLD)
    assert len(told) >= 80
    assert len(groups) <= 6
    places = Counter(
        (group.status, group.keyword, group.detail, pointer)
        for group in groups
        for pointer in group.pointers
    )
    assert set(places) == {(o.status, o.keyword, o.detail, o.pointer or "#") for o in told}
    assert set(places.values()) == {1}


@pytest.mark.parametrize("options", [[], ["--places"]])
def test_check_prints_a_line_a_kind(
    options: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "tools.json"
    path.write_text(json.dumps(SCHEMA))
    assert main(["check", str(path), *options]) == 0
    lines = capsys.readouterr().out.splitlines()
    kinds = [line for line in lines if line.startswith(TOLD)]
    assert 1 <= len(kinds) <= 6
    assert any(" in 40 places: " in line for line in kinds)
    listed = [line for line in lines if line.startswith("  #/properties/tool39/properties/amount")]
    assert bool(listed) == bool(options)


def test_screens_and_pages_unfold_the_places(tmp_path: Path) -> None:
    grammar = wb.json_schema(SCHEMA)
    answer = check(json.dumps(SCHEMA), "json_schema", [], byte_vocabulary())
    assert 1 <= len(answer["outcomes"]) <= 6
    many = next(outcome for outcome in answer["outcomes"] if outcome["places"] == 40)
    assert len(many["pointers"]) == 40
    shown = grammar_html(grammar)
    assert shown.count("in 40 places") == sum(
        len(group.pointers) == 40 for group in grouped(grammar.outcomes, TOLD)
    )
    assert "<code>#/properties/tool39/properties/amount/type</code>" in shown
    wb.export(grammar, tmp_path / "out", tests={"accept": [{}]}, targets=["report"])
    (report,) = (tmp_path / "out").glob("*.html")
    assert "<details><summary>40 places</summary>#/properties/tool0" in report.read_text("utf-8")
    cut = outcome_html(OutcomeGroup("restricted", "type", "<b>", ("#/a", "#/b")), 5)
    assert "in 5 places: &lt;b&gt;</summary>" in cut
    assert "and 3 more" in cut

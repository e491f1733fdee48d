"""What examples use of a grammar, against lists made by hand."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings

import workbench as wb
from tests.engine.grammars import grammars
from workbench.diagnostics.author.shortest import NEVER, Shortest
from workbench.grammar.author.states import AuthorStates
from workbench.grammar.ir import Grammar

LIST = 'root ::= item ("," item)*\nitem ::= [0-9]+ | "nil" | list\nlist ::= "(" root ")"'


def uses(found: wb.Coverage) -> dict[str, int]:
    return {part.source or part.name: part.uses for part in found.parts}


def test_rules_and_places_of_a_text() -> None:
    found = wb.coverage(wb.gbnf(LIST), ["1", "1,22", "x", "nil"])
    assert (found.examples, found.accepted, found.refused) == (4, 3, (b"x",))
    counts = {(p.kind, p.source or p.name): p.uses for p in found.parts}
    assert counts == {
        ("rule", "root"): 3,
        ("rule", "item"): 3,
        ("rule", "list"): 0,
        ("place", "item"): 1,
        ("place", '","'): 1,
        ("place", "[0-9]"): 2,
        ("place", "[0-9]+"): 2,
        ("place", '"nil"'): 1,
        ("place", "list"): 0,
        ("place", '"("'): 0,
        ("place", "root"): 0,
        ("place", '")"'): 0,
    }
    # "item" stands at two places: 9-13 is used by all, the one after the comma by "1,22" alone
    assert [(p.start, p.uses) for p in found.parts if p.source == "item"] == [(9, 3), (19, 1)]
    assert {str(part) for part in found.never} >= {"rule list", '"(" (characters 66-69 in list)'}


@pytest.mark.parametrize(("text", "used"), [("1+2", [9, 18]), ("1-2", [25, 34])])
def test_a_rule_that_begins_two_alternatives(text: str, used: list[int]) -> None:
    grammar = wb.gbnf('root ::= term "+" term | term "-" term\nterm ::= [0-9]\n')
    found = wb.coverage(grammar, [text])
    assert [p.start for p in found.parts if p.source == "term" and p.uses] == used


def test_a_regex() -> None:
    found = wb.coverage(wb.regex("(ab|c)d?"), ["c"])
    assert [(p.start, p.end, p.uses) for p in found.parts if p.source in ("c", "d", "ab")] == [
        (1, 3, 0),
        (4, 5, 1),
        (6, 7, 0),
    ]


def test_members_of_a_schema() -> None:
    schema = {
        "type": "object",
        "properties": {
            "age": {"type": "integer"},
            "tags": {"type": "array", "items": {"properties": {"u": {}, "v": {"enum": [1]}}}},
            "x": {"$ref": "#/$defs/x"},
        },
        "$defs": {"x": {"type": "object", "properties": {"y": {"type": "boolean"}, "z": {}}}},
    }
    examples = [{"age": 3}, {"age": 4, "tags": [{"v": 1}]}, {"age": 5, "x": {"y": True}}]
    found = wb.coverage(wb.json_schema(schema), [*examples, {"age": "no"}])
    assert {p.name: p.uses for p in found.parts} == {
        "#/properties/age": 3,
        "#/properties/tags": 1,
        "#/properties/x": 1,
        "#/properties/tags/items/properties/u": 0,
        "#/properties/tags/items/properties/v": 1,
        "#/$defs/x/properties/y": 1,
        "#/$defs/x/properties/z": 0,
    }
    assert found.share == pytest.approx(5 / 7)
    said = str(found)
    assert "schema pointers: 5 of 7 used" in said and "#/$defs/x/properties/z" in said
    assert 'not accepted: “{"age":·"no"}”' in said
    assert json.loads(json.dumps(found.to_json()))["accepted"] == 3


def test_an_example_that_is_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.grammar.author.earley.DEFAULT_ITEMS", 100)
    found = wb.coverage(wb.regex("a*"), ["a", "a" * 100])
    assert found.accepted == 1 and found.unread == (b"a" * 100,)


@given(grammars())
@settings(max_examples=60, deadline=None)
def test_a_shortest_text_uses_the_rules_that_it_goes_through(grammar: Grammar) -> None:
    shortest = Shortest(AuthorStates(grammar))
    if shortest.inside[shortest.states.root] >= NEVER:
        return
    text = shortest.text(shortest.states.root)
    found = wb.coverage(grammar, [text])
    assert found.accepted == 1
    assert {part.uses for part in found.parts if part.name == grammar.start} <= {1}
    nothing = wb.coverage(grammar, [])
    assert [part.name for part in nothing.never] == [part.name for part in found.parts]

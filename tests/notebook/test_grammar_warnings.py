"""Warnings about a grammar text: what each says, where, and that a fix changes nothing else."""

from __future__ import annotations

import pytest

import workbench as wb
from workbench.notebook.editor import check
from workbench.notebook.grammar_warnings import hints, told
from workbench.vocabulary import byte_vocabulary

TEXT = r"""root ::= "a" ws item | "b" loop
ws ::= " "{0,3}
item ::= ("x" | ws)+ "."   # a comment
loop ::= "l" loop
spare ::= "q" more
more ::= "z"
"""


def found(text: str) -> list[tuple[str, str]]:
    return [
        (hint["message"], text[hint["start"] : hint["end"]]) for hint in hints(wb.gbnf(text), text)
    ]


def noted(text: str) -> list[str]:
    return told(wb.gbnf(text), text)[1]


def test_each_warning_says_what_and_where() -> None:
    messages = found(TEXT)
    assert (
        "rule 'loop' never ends: each way through it needs it again",
        'loop ::= "l" loop',
    ) in messages
    assert (
        "rule 'spare' is never used: nothing leads to it from 'root'",
        'spare ::= "q" more\n',
    ) in messages
    assert (
        "rule 'more' is never used: nothing leads to it from 'root'",
        'more ::= "z"\n',
    ) in messages
    empty = [
        where for message, where in messages if "a part that may be empty is repeated" in message
    ]
    assert len(empty) == 1
    assert "ws)+" in empty[0]
    assert len(messages) == 4


def test_a_grammar_without_faults_has_no_warnings() -> None:
    assert found('root ::= "a" ws b\nws ::= " "{0,9}\nb ::= "(" b ")" | "."\n') == []


def test_the_empty_text_is_told() -> None:
    assert noted('root ::= ws\nws ::= " "{0,9}\n') == ["line 1: the empty text matches"]


def test_white_space_without_end_is_a_warning_and_other_runs_are_a_note() -> None:
    text = 'root ::= "a" ws [a-z]+\nws ::= " "*\n'
    ((message, where),) = found(text)
    assert "white space may go on for ever" in message and where == '" "*'
    (note,) = noted(text)
    assert note.startswith("line 1: 1 run of characters without a longest length")


def test_findings_about_a_schema_are_at_their_members() -> None:
    text = '{\n "type": "object",\n "properties": {"a": {"enum": [1, 2, 1]}}\n}'
    answer = check(text, "json_schema", [], byte_vocabulary())
    (hint,) = answer["hints"]
    assert text[hint["start"] : hint["end"]] == "1" and text.count("\n", 0, hint["start"]) == 2
    assert "same member twice" in hint["message"]


@pytest.mark.parametrize(
    "text",
    [
        'root ::= "a" | loop\nloop ::= "x" loop',
        'root ::= a\na ::= "x" a',
        'root ::= "a" | never\nnever ::= "x" [^\\x00-\U0010ffff]',
        'root ::= "a" | one | two\none ::= "x" two\ntwo ::= "y" one | "z" two',
        "root ::= never\nnever ::= [^\\x00-\U0010ffff]",
        TEXT,
    ],
)
def test_rules_without_a_text_are_those_that_the_search_finds(text: str) -> None:
    """As many, and as serious: the editor, ``dead_ends`` and the panel speak of the same rules."""
    told = {
        (hint["message"].split("'")[1], hint["warning"])
        for hint in hints(wb.gbnf(text), text)
        if "never ends" in hint["message"] or "has no text" in hint["message"]
    }
    report = wb.dead_ends(wb.gbnf(text), byte_vocabulary())
    rules = {(finding.rule, finding.warning) for finding in report if finding.rule}
    assert told == rules
    assert told


def test_removing_what_is_never_used_leaves_the_language_alone() -> None:
    text = TEXT
    while fixes := [hint for hint in hints(wb.gbnf(text), text) if hint["fix"] is not None]:
        fix = fixes[0]
        assert fix["does"] == "remove it"
        text = text[: fix["start"]] + fix["fix"] + text[fix["end"] :]
    assert "spare" not in text
    assert "more" not in text
    assert "item ::=" in text
    before, after = (wb.compile(wb.gbnf(t), byte_vocabulary()) for t in (TEXT, text))
    for example in (b"a x.", b"a.", b"axx .", b"blll", b"q", b"a"):
        ends = []
        for compiled in (before, after):
            matcher = compiled.matcher()
            ends.append((matcher.accept_tokens(example), matcher.is_accepting))
        assert ends[0] == ends[1]


def test_the_place_of_a_rule_whose_name_is_part_of_another() -> None:
    assert found('root ::= xs\nxs ::= "a"\nx ::= "x"\n') == [
        ("rule 'x' is never used: nothing leads to it from 'root'", 'x ::= "x"\n')
    ]


def test_an_example_that_stops_says_which_rules_could_go_on() -> None:
    text = 'root ::= "{" key ":" value "}"\nkey ::= [a-z]+\nvalue ::= [0-9]+ | list\nlist ::= "[" value "]"\n'
    answer = check(text, "gbnf", [{"text": "{k:x", "want": "match"}], byte_vocabulary())
    example = answer["examples"][0]
    assert (example["failing"], example["byte"]) == (3, "x")
    ways = {way["label"]: way for way in example["ways"]}
    assert set(ways) == {"0-9", "["}
    for label, rule, written in (("0-9", "value", "[0-9]"), ("[", "list", '"["')):
        assert ways[label]["rule"] == rule
        assert text[ways[label]["start"] : ways[label]["end"]] == written
    assert answer["hints"] == []


def test_the_ways_of_a_schema_lead_to_its_pointers() -> None:
    text = (
        '{"type": "object", "properties": {"age": {"type": "integer"}}, "required": ["age"],'
        ' "additionalProperties": false}'
    )
    answer = check(text, "json_schema", [{"text": '{"age":x', "want": "match"}], byte_vocabulary())
    ways = answer["examples"][0]["ways"]
    rules = {way["rule"] for way in ways}
    assert "#/properties/age" in rules
    way = next(way for way in ways if way["rule"] == "#/properties/age")
    assert text[way["start"] : way["end"]] == '"age": {"type": "integer"}'

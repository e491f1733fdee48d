"""Schemas, patterns and other grammars in a GBNF text: what they mean, their places, their errors."""

from __future__ import annotations

import json
import re
from itertools import product
from typing import Any

import pytest

import workbench as wb
from workbench.grammar.ir import Grammar

BYTES = wb.Vocabulary.from_bytes([*(bytes([b]) for b in range(256)), b""], eos_ids=(256,))
SCHEMA = {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}


def accepts(grammar: Grammar, text: str) -> bool:
    matcher = wb.compile(grammar, BYTES).matcher()
    data = text.encode()
    return matcher.accept_tokens(data) == len(data) and matcher.is_accepting


def test_a_schema_and_a_pattern_in_a_text() -> None:
    text = f"""# %json {{ in a comment is none
    root ::= "%json {{" args %regex /[a-f\\/"'#\\]]{{2}}|[/]x/ "!" # %regex
    args ::= %json {json.dumps(SCHEMA, indent=2)}
    """
    grammar = wb.gbnf(text)
    for value, tail in product(
        ('{"x": 1}', '{ "x" : 2, "y": [] }', "{}", "3"), ("ab", '/"', "/x", "a")
    ):
        valid = value in ('{"x": 1}', '{ "x" : 2, "y": [] }') and tail != "a"
        assert accepts(grammar, f"%json {{{value}{tail}!") == valid, (value, tail)
    assert {"root", "args", "regex"} <= set(grammar.rules)
    assert {o.pointer for o in grammar.outcomes} > {"args#/type", "args#/properties/x/type"}


def test_several_in_one_rule_and_at_its_start() -> None:
    grammar = wb.gbnf('root ::= %json {"type":"null"}(%regex /a/|%json true)*')
    assert accepts(grammar, "null") and accepts(grammar, 'nullaa[1,{"b":2}]')
    assert not accepts(grammar, "a")
    assert accepts(wb.gbnf("root ::= %regex /(?i)yes/"), "YES")


def test_grammars_that_are_passed() -> None:
    rules: dict[str, Any] = {
        "args": wb.json_schema(SCHEMA, whitespace="compact"),
        "word": wb.capture("word", wb.regex("[a-z]+")),
        "b": "literal",
        "until": wb.gbnf('root ::= "(" root ")" | "."'),
    }
    grammar = wb.gbnf('root ::= word "=" args b until word', rules=rules)
    assert accepts(grammar, 'f={"x":1}literal((.))g')
    assert not accepts(grammar, 'f={"x":1}literal((.)g')
    found = wb.match(grammar, 'f={"x":1}literal.gh')
    assert found is not None and [c.text for c in found.named("word")] == ["f", "gh"]
    # in what is passed the same names mean other rules
    inner = wb.gbnf('root ::= word\nword ::= "in"')
    assert accepts(wb.gbnf('root ::= word inner\nword ::= "out"', rules={"inner": inner}), "outin")


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("root ::= x & ~y", "(?!ab$)[ab]{1,3}"),
        ("root ::= ~x & %regex /[abc]{0,2}/", "(?![ab]{1,3}$)[abc]{0,2}"),
        ('root ::= rest\nrest ::= "c" & ~%regex /b/ | x & [a]+', "c|a{1,3}"),
    ],
)
def test_operations_on_parts(text: str, pattern: str) -> None:
    rules = {"x": wb.regex("[ab]{1,3}"), "y": wb.seq("a", "b")}
    grammar = wb.gbnf(text, rules=rules)
    for n in range(4):
        for chars in product("abc", repeat=n):
            given = "".join(chars)
            assert accepts(grammar, given) == (re.fullmatch(pattern, given) is not None), given


def test_a_part_that_is_not_regular_has_no_opposite() -> None:
    with pytest.raises(wb.GrammarSyntaxError, match="has to be regular"):
        wb.gbnf("root ::= ~%json true")


def test_explanations_are_in_the_part_s_own_terms() -> None:
    grammar = wb.gbnf(
        f'root ::= "f " args num\nargs ::= %json {json.dumps(SCHEMA)}\nnum ::= %regex /[0-9]+x/'
    )
    matcher = wb.compile(grammar, BYTES).matcher()
    matcher.accept_tokens(b'f {"x":1')
    why = wb.explain(matcher, ord("?"))
    assert "args › #/properties/x" in why.sentence
    matcher.accept_tokens(b"}7")
    why = wb.explain(matcher, ord("?"))
    assert [frame.name for frame in why.stack] == ["num", "root"]
    assert why.stack[0].source == "[0-9]+x"
    assert why.stack[0].items == ("num → [0-9]+•x",)


@pytest.mark.parametrize(
    ("text", "line", "column", "words"),
    [
        ('root ::= "a"\nx ::= %json', 2, 12, "behind %json stands a JSON Schema"),
        ("root ::= %json {'type': 1}", 1, 17, "behind %json stands a JSON Schema"),
        ('root ::= %json {"type": "strin"}', 1, 16, r"'strin' is not a type \(at #/type\)"),
        ('root ::= %json {"$ref": "http://x/y"}', 1, 16, "(?s)#/\\$ref: .*rules="),
        ("root ::= %regex", 1, 10, "behind %regex stands a pattern between slashes"),
        ("root ::= %regex /[a-/", 1, 10, "behind %regex stands a pattern between slashes"),
        ("root ::= %regex /a\n/", 1, 10, "behind %regex stands a pattern between slashes"),
        ("root ::=\n %regex /[a-z]+(x/", 2, 16, "this group is never closed"),
        ('root ::= %json {"a": %json', 1, 22, "behind %json stands a JSON Schema"),
        ('root ::= "a" %json {} )', 1, 23, r"this '\)' closes no '\('"),
        ("root ::= %xml", 1, 10, "no meaning here"),
    ],
)
def test_mistakes_have_a_place(text: str, line: int, column: int, words: str) -> None:
    with pytest.raises(wb.GrammarSyntaxError, match=words) as caught:
        wb.gbnf(text)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert "~" in str(caught.value)


def test_names_that_are_passed_and_defined_or_missing() -> None:
    with pytest.raises(wb.GrammarSyntaxError, match="'x' is defined here and passed in rules"):
        wb.gbnf('root ::= x\nx ::= "a"', rules={"x": "b"})
    with pytest.raises(wb.GrammarSyntaxError, match="did you mean 'args'"):
        wb.gbnf("root ::= arg", rules={"args": "b"})


def test_hostile_texts_end_in_one_error() -> None:
    deep = "[" * 100_000
    with pytest.raises(wb.GrammarSyntaxError, match=r"nested too deeply|behind %json"):
        wb.gbnf(f"root ::= %json {deep}")
    with pytest.raises(wb.GrammarSyntaxError, match="too many parts"):
        wb.gbnf("root ::= " + "%json{} " * 10_001)
    for text in ("root ::= %regex /" + "[" * 50_000, "root ::= %regex /" + "\\" * 50_000):
        with pytest.raises(wb.GrammarSyntaxError, match="behind %regex"):
            wb.gbnf(text)


def test_it_is_exported_with_its_source_or_with_what_was_passed(tmp_path: Any) -> None:
    inline = wb.gbnf(f"root ::= %json {json.dumps(SCHEMA)}")
    passed = wb.gbnf("root ::= x", rules={"x": wb.json_schema(SCHEMA)})
    tests = {"accept": ['{"x": 1}'], "reject": ['{"y": 1}']}
    for name, grammar, kind in (("a", inline, "gbnf"), ("b", passed, "rules")):
        exported = wb.export(grammar, tmp_path / name, tests=tests)
        assert exported.manifest["grammar"]["kind"] == kind
        assert wb.verify(tmp_path / name).ok

"""Grammars made of grammars: what Python's `re` says of the parts, rule names, errors, masks."""

from __future__ import annotations

import itertools
import re

import pytest

import workbench as wb
from tests.frontends.ir_match import matches
from workbench.grammar.ir import Grammar, Graph, Token, literal

TEXTS = ["".join(chars) for n in range(6) for chars in itertools.product("ab0é", repeat=n)]
PATTERNS = ["[ab]*", "a.*", ".*0.*", "(ab|0)+", "[^0]{2,3}", "é?a*", ""]
BYTES = wb.Vocabulary.from_bytes([*(bytes([b]) for b in range(256)), b""], eos_ids=(256,))


def accepts(grammar: Grammar, data: bytes) -> bool:
    """Whether the compiled grammar takes the bytes one by one, and then an end."""
    matcher = wb.compile(grammar, BYTES).matcher()
    return matcher.accept_tokens(data) == len(data) and matcher.is_accepting


@pytest.mark.parametrize(("first", "second"), [*itertools.combinations(PATTERNS, 2)])
def test_operations_mean_what_re_says(first: str, second: str) -> None:
    both = wb.intersection(wb.regex(first), wb.regex(second))
    less = wb.difference(wb.regex(first), wb.regex(second))
    others = wb.complement(wb.regex(second))
    for text in TEXTS:
        in_first, in_second = (
            re.fullmatch(p, text, re.DOTALL) is not None for p in (first, second)
        )
        assert matches(both, text) == (in_first and in_second)
        assert matches(less, text) == (in_first and not in_second)
        assert matches(others, text) == (not in_second)


def test_three_grammars_of_three_front_ends() -> None:
    numbers = wb.json_schema({"type": "integer", "minimum": 0, "maximum": 20})
    even = wb.gbnf("root ::= digit root | [02468]\ndigit ::= [0-9]")
    both = wb.intersection(numbers, even, wb.regex("[^4].?"))
    found = [str(n) for n in range(30) if matches(both, str(n))]
    assert found == ["0", "2", "6", "8", "10", "12", "14", "16", "18", "20"]
    assert (both.kind, both.start, list(both.rules)) == ("intersection", "root", ["root"])
    assert isinstance(both.rules["root"], Graph)


def test_a_schema_whose_strings_are_watched() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"const": 1}},
        "additionalProperties": {"type": "boolean"},
    }
    with pytest.raises(wb.NotRegular, match="unique_keys"):
        wb.intersection(wb.json_schema(schema), wb.regex(".*"))
    plain = wb.json_schema(schema, unique_keys=False)
    short = wb.intersection(plain, wb.regex(r'\{("[a-b]+":[^ ]{1,5})*\}'))
    assert [
        accepts(short, text) for text in (b'{"a":1}', b'{"b":true}', b'{"aa":false}', b"{}")
    ] == [True] * 4
    refused = (b'{"a":true}', b'{"b":1}', b'{"b":true }', b'{"c":true}')
    assert [accepts(short, text) for text in refused] == [False] * 4


def test_rules_of_one_name_are_kept_apart() -> None:
    one = wb.gbnf('root ::= x x\nx ::= "a" | "b"')
    other = wb.gbnf('root ::= "a" x\nx ::= [bc]')
    assert matches(wb.intersection(one, other), "ab")
    assert not matches(wb.intersection(one, other), "ac")


def test_masks_follow_the_result() -> None:
    names = wb.difference(wb.regex("[a-z]+"), wb.regex("if|in"))
    assert [accepts(names, word) for word in (b"if", b"in", b"i", b"inn", b"x")] == [
        False,
        False,
        True,
        True,
        True,
    ]
    thought = wb.until("</t>")
    assert accepts(thought, "é<</t</t>".encode())
    assert not accepts(thought, b"</t>a")
    assert accepts(wb.until(b"\xff"), b"\xc3\x00\xff")


def test_what_is_empty_is_found_when_it_is_compiled() -> None:
    with pytest.raises(wb.UnsatisfiableGrammar):
        wb.compile(wb.intersection(wb.regex("a"), wb.regex("b")), BYTES)
    with pytest.raises(wb.UnsatisfiableGrammar):
        wb.compile(wb.difference(wb.regex("a"), wb.regex(".*")), BYTES)


def test_what_is_not_regular() -> None:
    nested = wb.gbnf('root ::= "(" root ")" | ""')
    with pytest.raises(wb.NotRegular) as caught:
        wb.intersection(wb.regex("a"), nested)
    assert str(caught.value) == (
        "this is not regular: rule 'root' uses itself elsewhere than at its end (grammar 2 of 2)"
    )
    assert (caught.value.rule, caught.value.part.origin.start) == ("root", 13)  # type: ignore[union-attr]
    with pytest.raises(wb.NotRegular, match="names a token"):
        wb.complement(Grammar({"r": Token((1,))}, "r"))
    with pytest.raises(TypeError, match="complement takes a Grammar, not a str"):
        wb.complement("a*")  # type: ignore[arg-type]


def test_budgets_name_the_grammar() -> None:
    with pytest.raises(wb.GrammarTooComplex) as caught:
        wb.intersection(wb.regex("a"), wb.regex("[ab]*a[ab]{20}"))
    assert caught.value.rule == "root (2)"
    with pytest.raises(wb.GrammarTooComplex) as caught:
        wb.complement(wb.regex("a{9}"), max_states=5)
    assert (caught.value.rule, caught.value.limit) == ("root", 5)


def test_until_is_a_grammar() -> None:
    grammar = wb.until("b", "aa")
    assert repr(grammar) == "<Grammar until: 1 rule, start 'root'>"
    assert [t for t in ("ab", "aa", "b", "abb", "aab", "a") if matches(grammar, t)] == [
        "ab",
        "aa",
        "b",
    ]
    assert matches(wb.until("b", include=False), "é")
    with pytest.raises(ValueError, match="not empty"):
        wb.until("")
    with pytest.raises(ValueError, match="no marker"):
        wb.until()
    sentence = wb.intersection(wb.until(".", "!"), wb.regex(r"[A-Z][a-z ]*[.!]"))
    assert matches(sentence, "So it is.")
    assert not matches(sentence, "So it is")
    assert matches(wb.complement(Grammar({"r": literal("a")}, "r")), "")

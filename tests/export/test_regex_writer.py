"""Patterns say what the grammar says: read back here, and by Python where both mean the same."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings

import workbench as wb
from tests.engine.grammars import grammars, language
from tests.oracle import Oracle
from workbench.diagnostics.verdicts import Judge
from workbench.export.regex_writer import to_regex
from workbench.grammar import ir
from workbench.grammar.ir import Alt, ByteSet, CharSet, Grammar, Graph, Literal, Repeat, Seq

EVERY_BYTE = [bytes([byte]) for byte in range(256)]


@given(grammars())
@settings(max_examples=150, deadline=None)
def test_random_grammars(grammar: Grammar) -> None:
    before = Oracle(grammar, EVERY_BYTE)
    try:
        pattern = to_regex(grammar).pattern
    except (wb.NotRegular, wb.GrammarTooComplex):
        return
    except wb.WorkbenchError:
        assert before.empty_language
        return
    after = Oracle(wb.regex(pattern), EVERY_BYTE)
    assert language(before, 6, 300) == language(after, 6, 300), pattern


@pytest.mark.parametrize(
    ("grammar", "pattern"),
    [
        (wb.regex("(yes|no)!{2,3}"), "(?:yes|no)!{2,3}"),
        (wb.regex("(a|)b"), "a?b"),
        (wb.gbnf('root ::= "a" root | "b"'), "a*b"),
        (wb.gbnf('root ::= root "a" | "b"'), "ba*"),
        (wb.gbnf('root ::= ("a"*){2} "."'), r"(?:a*){2}\."),
        (wb.gbnf("root ::= [^a-z]"), "[\\x00-\\x60\\x7b-\\ud7ff\\ue000-\\u{10ffff}]"),
        (Grammar({"S": Literal(b"a\xff")}, "S"), rb"a\xff"),
        (
            Grammar({"S": Seq((ByteSet(1 << 0xFF), CharSet(((0xE9, 0xE9),))))}, "S"),
            rb"\xff\xc3\xa9",
        ),
        (Grammar({"S": ir.EMPTY}, "S"), ""),
        (Grammar({"S": Repeat(Alt((Literal(b"a"), ir.NEVER)), 2, None)}, "S"), "a{2,}"),
        (Grammar({"S": Alt((Literal(b"\n/"), Literal("é😀".encode())))}, "S"), r"\x0a\/|é😀"),
    ],
)
def test_what_is_written(grammar: Grammar, pattern: str | bytes) -> None:
    assert to_regex(grammar).pattern == pattern
    before = Oracle(grammar, EVERY_BYTE)
    assert language(before, 4, 400) == language(Oracle(wb.regex(pattern), EVERY_BYTE), 4, 400)


def test_a_graph_against_python() -> None:
    # an even number of a, none or more b anywhere
    edges = ((0, Literal(b"a"), 1), (1, Literal(b"a"), 0), (0, Literal(b"b"), 0))
    graph = Graph(2, 0, (0,), (*edges, (1, Literal(b"b"), 1)))
    pattern = re.compile(to_regex(Grammar({"S": graph}, "S")).text)
    for number in range(2**7):
        text = format(number, "07b").replace("0", "a").replace("1", "b")
        assert bool(pattern.fullmatch(text)) == (text.count("a") % 2 == 0)


@pytest.mark.parametrize(
    ("schema", "valid", "invalid"),
    [
        ({"enum": ["a", "bü", 3]}, [b'"a"', b"3", '"bü"'.encode()], [b'"b"', b"33"]),
        ({"type": "integer", "minimum": 7, "maximum": 123}, [b"7", b"123"], [b"6", b"124", b"07"]),
        ({"type": "string", "format": "date"}, [b'"2024-02-29"'], [b'"2023-02-29"']),
    ],
)
def test_schemas(schema: Any, valid: list[bytes], invalid: list[bytes]) -> None:
    judge = Judge(wb.regex(to_regex(wb.json_schema(schema)).pattern))
    assert all(judge.verdict(text).accepted for text in valid)
    assert not any(judge.verdict(text).accepted for text in invalid)


def test_what_has_no_pattern(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(wb.NotRegular, match="rule 'root' uses itself elsewhere"):
        to_regex(wb.gbnf('root ::= "(" root ")" | "x"'))
    with pytest.raises(wb.NotRegular, match="names a token"):
        to_regex(wb.gbnf("root ::= <think>"))
    with pytest.raises(wb.WorkbenchError, match="no text at all"):
        to_regex(Grammar({"S": ir.NEVER}, "S"))
    monkeypatch.setattr("workbench.export.regex_writer.MAX_CHARACTERS", 5)
    with pytest.raises(wb.GrammarTooComplex, match="characters of a pattern"):
        to_regex(wb.regex("abc|def"))

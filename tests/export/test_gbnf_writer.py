"""GBNF texts say what the grammar says: read back, they accept the same texts."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings

import workbench as wb
from tests.engine.grammars import grammars, language
from tests.oracle import Oracle
from workbench.diagnostics.verdicts import Judge
from workbench.export.gbnf_writer import to_gbnf
from workbench.grammar import ir
from workbench.grammar.ir import Alt, ByteSet, Grammar, Graph, Guard, Literal, Repeat, Scope, Seq

EVERY_BYTE = [bytes([byte]) for byte in range(256)]


def both(grammar: Grammar) -> tuple[Judge, Judge]:
    return Judge(grammar), Judge(wb.gbnf(to_gbnf(grammar).text))


@given(grammars())
@settings(max_examples=150, deadline=None)
def test_random_grammars(grammar: Grammar) -> None:
    text = to_gbnf(grammar).text
    before, after = Oracle(grammar, EVERY_BYTE), Oracle(wb.gbnf(text), EVERY_BYTE)
    assert before.empty_language == after.empty_language
    assert language(before, 6, 300) == language(after, 6, 300), text


def unused(text: str) -> set[str]:
    """Rules of a GBNF text that its root does not lead to."""
    rules = wb.gbnf(text).rules
    seen, todo = {"root"}, ["root"]
    while todo:
        uses = {part.name for part in ir.walk(rules[todo.pop()]) if isinstance(part, ir.Ref)}
        todo += uses - seen
        seen |= uses
    return set(rules) - seen


@given(grammars())
@settings(max_examples=60, deadline=None)
def test_every_rule_is_used(grammar: Grammar) -> None:
    assert unused(to_gbnf(grammar).text) == set()


@pytest.mark.parametrize(
    "schema",
    [
        True,
        {"type": "integer", "minimum": 3, "maximum": 1234},
        {"type": "string", "pattern": "^(ab|cd)+$", "minLength": 4, "maxLength": 9},
        {"type": "object", "properties": {"a": {"type": "number"}, "b": {"$ref": "#"}}},
        {"type": "array", "items": {"enum": [1, "ü", None]}, "minItems": 2},
    ],
)
def test_every_rule_of_a_schema_is_used(schema: Any) -> None:
    text = to_gbnf(wb.json_schema(schema)).text
    assert unused(text) == set()
    assert wb.gbnf(text).rules.keys() == {line.split(" ::= ")[0] for line in text.splitlines()}


@pytest.mark.parametrize(
    ("grammar", "text"),
    [
        (wb.regex("(yes|no)!{2,3}"), 'root ::= ("yes" | "no") "!"{2,3}\n'),
        (wb.regex("a*b+c?"), 'root ::= "a"* "b"+ "c"?\n'),
        (wb.gbnf('root ::= "a" x\nx ::= [^a-z]'), None),
        (Grammar({"S": ir.NEVER}, "S"), "root ::= []\n"),
        (Grammar({"S": ir.EMPTY}, "S"), 'root ::= ""\n'),
        (Grammar({"b": Literal(b'"\\\n\x00')}, "b"), 'root ::= "\\"\\\\\\n\\x00"\n'),
        (Grammar({"S": Literal(b"\xff")}, "S"), 'root ::= b"\\xff"\n'),
        (Grammar({"S": ByteSet(1 << 0x41 | 1 << 0xFF)}, "S"), "root ::= b[A\\xff]\n"),
        (
            Grammar({"S": Repeat(Repeat(Literal(b"a"), 0, None), 2, 2)}, "S"),
            'root ::= ("a"*){2}\n',
        ),
    ],
)
def test_what_is_written(grammar: Grammar, text: str | None) -> None:
    found = to_gbnf(grammar)
    if text is not None:
        assert found.text == text
    before, after = Oracle(grammar, EVERY_BYTE), Oracle(wb.gbnf(found.text), EVERY_BYTE)
    assert language(before, 5, 400) == language(after, 5, 400)


def test_names_that_gbnf_does_not_take() -> None:
    names = ["root", "b", "a/b", "a b", "until", "ä"]
    rules: dict[str, ir.Expr] = {n: Literal(str(i).encode()) for i, n in enumerate(names)}
    rules["my start"] = Seq((*(ir.Ref(name) for name in names), Literal(b"\xfe")))
    grammar = Grammar(rules, "my start")
    again = wb.gbnf(to_gbnf(grammar).text)
    assert len(again.rules) == 7
    assert Judge(again).verdict(b"012345\xfe").accepted


def test_a_graph_becomes_rules() -> None:
    edges = ((0, Literal(b"a"), 1), (1, Literal(b"b"), 0), (1, Alt((Literal(b"c"), ir.EMPTY)), 2))
    grammar = Grammar({"S": Seq((Graph(3, 0, (2,), edges), Literal(b"!")))}, "S")
    before, after = both(grammar)
    for text, expected in ((b"a!", True), (b"abac!", True), (b"ab!", False), (b"!", False)):
        assert before.verdict(text).accepted == after.verdict(text).accepted == expected


@pytest.mark.parametrize(
    ("schema", "valid", "invalid"),
    [
        (
            {
                "type": "object",
                "properties": {
                    "name": {"type": "string", "minLength": 2, "maxLength": 4},
                    "age": {"type": "integer", "minimum": 0, "maximum": 150},
                    "tags": {"type": "array", "items": {"enum": ["a", "bü"]}, "maxItems": 2},
                },
                "required": ["name"],
                "additionalProperties": False,
            },
            [b'{"name": "Ann", "age": 31}', '{"name": "Zoë","tags":["bü","a"]}'.encode()],
            [b'{"name": "A"}', b'{"age": 3}', b'{"name": "Ann", "age": 151}', b'{"name": "Ann"'],
        ),
        (
            {
                "properties": {"n": {"$ref": "#"}, "ab": {}},
                "additionalProperties": {"type": "null"},
            },
            [b'{"n": {"n": {}}, "x": null}', b'{"abc": null}', b"[1]"],
            [b'{"n": {"x": 1}}', b'{"n": {"n": {"abc": 1}}}', b'{"x": tru'],
        ),
        ({"type": "string", "format": "date"}, [b'"2024-02-29"'], [b'"2023-02-29"', b'"x"']),
        (True, [b'{"a": [1, 2.5e3, "\\u00e9"]}', b"null"], [b"[1,]", b"tru"]),
    ],
)
def test_schemas(schema: Any, valid: list[bytes], invalid: list[bytes]) -> None:
    before, after = both(wb.json_schema(schema))
    for text in valid:
        assert before.verdict(text).accepted and after.verdict(text).accepted, text
    for text in invalid:
        assert before.verdict(text) == after.verdict(text), text
        assert not after.verdict(text).accepted


@pytest.mark.parametrize("options", [{}, {"property_order": "any"}, {"ascii_only": True}])
def test_names_that_come_once_keep_their_patterns(options: dict[str, Any]) -> None:
    schema = {
        "type": "object",
        "properties": {"b": {"type": "null"}},
        "patternProperties": {"^a+$": {"type": "null"}, "^[cd]{2}$": {"type": "boolean"}},
        "additionalProperties": False,
    }
    written = to_gbnf(wb.json_schema(schema, **options))
    assert written.looser == ("names that are not listed may come twice in an object",)
    judge = Judge(wb.gbnf(written.text))
    for text in (b"{}", b'{"a": null}', b'{"aa": null, "cd": true}', b'{"b": null, "aaa": null}'):
        assert judge.verdict(text).accepted, text
    for text in (b'{"x": null}', b'{"a": true}', b'{"cdc": true}', b'{"": null}', b'{"b": true}'):
        assert not judge.verdict(text).accepted, text
    assert judge.verdict(b'{"aa": null, "aa": null}').accepted


def test_tokens() -> None:
    vocabulary = wb.Vocabulary.from_bytes(
        [b"a", b"b", b"", b""], eos_ids=3, special_names={2: "<think>"}
    )
    grammar = wb.gbnf('root ::= <think> <[0-1]> !<[1]> "b"')
    found = to_gbnf(grammar)
    assert found.text == 'root ::= <think> <[0-1]> !<[1]> "b"\n'
    matcher = wb.compile(wb.gbnf(found.text), vocabulary).matcher()
    assert matcher.accept_tokens([2, 1, 0, 1, 3]) == 5
    for token in (
        ir.Token(negated=True),
        ir.Token(names=("think",)),
        ir.Token((1,), ("<x>",), True),
    ):
        with pytest.raises(wb.WorkbenchError, match="GBNF has no words"):
            to_gbnf(Grammar({"root": token}, "root"))


def test_members_in_any_order_are_written_out() -> None:
    letters = [Seq((Guard("take", 1 << i), ir.literal(c))) for i, c in enumerate("ab")]
    item = Seq(
        (ir.literal("("), Repeat(Alt(tuple(letters)), 0, None), Guard("end"), ir.literal(")"))
    )
    grammar = Grammar({"root": Scope(item, members=2, required=1)}, "root")
    found = to_gbnf(grammar)
    assert not found.looser
    judge = Judge(wb.gbnf(found.text))
    accepted = [
        t for t in (b"()", b"(a)", b"(b)", b"(ab)", b"(ba)", b"(aa)") if judge.verdict(t).accepted
    ]
    assert accepted == [b"(a)", b"(ab)", b"(ba)"]


def test_extensions_are_named() -> None:
    assert to_gbnf(wb.regex("[a-z]")).extensions == ()
    assert to_gbnf(Grammar({"S": Literal(b"\xff")}, "S")).extensions == ("bytes",)


def test_too_many_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.export.gbnf_writer.MAX_RULES", 5)
    with pytest.raises(wb.GrammarTooComplex, match="rules of a GBNF text"):
        to_gbnf(wb.json_schema(True))

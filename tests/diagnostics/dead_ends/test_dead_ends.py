"""Dead ends of every kind, against places worked out by hand; each suggested edit is applied and helps."""

from __future__ import annotations

import json
from collections.abc import Sequence
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

import workbench as wb
from tests.engine.grammars import Case, cases
from workbench.automaton.frames import Frame
from workbench.diagnostics.dead_ends.dead_ends import dead_ends
from workbench.diagnostics.dead_ends.findings import (
    ABSENT,
    DeadEndReport,
    Edit,
    Finding,
    Suggestion,
)
from workbench.diagnostics.verdicts import remake
from workbench.vocabulary import byte_vocabulary

BYTES = byte_vocabulary()


def vocabulary(*tokens: bytes, end: bool = True) -> wb.Vocabulary:
    return wb.Vocabulary.from_bytes([*tokens, b""], eos_ids=(len(tokens),) if end else ())


def letters(text: bytes) -> wb.Vocabulary:
    return vocabulary(*(bytes([byte]) for byte in text))


def only(report: DeadEndReport) -> Finding:
    assert len(report) == 1, str(report)
    return report[0]


def mended(grammar: wb.Grammar | dict[str, Any], finding: Finding) -> wb.Grammar:
    """The grammar of the source with the suggested edits made."""
    assert finding.suggestion is not None and finding.suggestion.edits
    if isinstance(grammar, dict):
        return remake("json_schema", finding.suggestion.apply(grammar))
    return remake(grammar.kind, finding.suggestion.apply(grammar.source), grammar.start)


CODE = {"type": "string", "pattern": "^[A-Z]{3}$", "maxLength": 2}


class TestSchemas:
    def test_a_pattern_against_a_length(self) -> None:
        schema = {"type": "object", "properties": {"code": CODE}, "required": ["code"]}
        examples = [{"code": "ABC"}, {"code": "AB"}, {"code": "ABCD"}]
        finding = only(dead_ends(schema, examples=examples))
        assert finding.kind == "unsatisfiable" and not finding.warning
        assert finding.pointer == "#/properties/code"
        assert finding.suggestion is not None
        # three letters are the least that the pattern takes
        assert finding.suggestion.edits == (Edit(2, 3, "#/properties/code/maxLength"),)
        assert [(c.example, c.before, c.after) for c in finding.suggestion.effect] == [
            ('{"code": "ABC"}', False, True)
        ]
        assert not dead_ends(mended(schema, finding)).findings
        assert schema["properties"]["code"] is CODE and CODE["maxLength"] == 2

    def test_a_member_that_can_never_be_written(self) -> None:
        schema = {"type": "object", "properties": {"code": CODE, "id": {"type": "integer"}}}
        report = dead_ends(wb.json_schema(schema), BYTES, examples=[{"code": "ABC"}, {"id": 1}])
        finding = only(report)
        assert finding.kind == "never written" and finding.warning and not report.errors
        assert finding.message == (
            "member 'code' can never be written: #/properties/code: no value satisfies it"
        )
        assert finding.suggestion is not None
        assert [(c.example, c.after) for c in finding.suggestion.effect] == [
            ('{"code": "ABC"}', True)
        ]
        assert not dead_ends(mended(schema, finding), BYTES).findings

    def test_a_member_that_is_forbidden_deep_inside(self) -> None:
        inner = {"type": "object", "properties": {"c": False, "d": True}}
        schema = {"type": "object", "properties": {"b": {"type": "array", "items": inner}}}
        finding = only(dead_ends(schema))
        assert finding.pointer == "#/properties/b/items/properties/c"
        assert "'b.[].c'" in finding.message and "false" in finding.message
        assert not dead_ends(mended(schema, finding)).findings

    def test_many_members_are_asked_about_together(self, monkeypatch: pytest.MonkeyPatch) -> None:
        properties: dict[str, Any] = {f"m{i}": {"type": "integer"} for i in range(100)}
        # "one" and "two" exclude each other, and each can be written
        properties |= {"bad": CODE, "one": {}, "two": {}}
        schema = {
            "type": "object",
            "properties": properties,
            "dependentSchemas": {"one": {"properties": {"two": False}}},
        }
        report = dead_ends(schema)
        assert only(report).pointer == "#/properties/bad"
        # those of the properties, and the one that is forbidden beside "one"
        assert "104 members of objects, 1 condition" in str(report) and report.complete
        monkeypatch.setattr("workbench.diagnostics.dead_ends.schema_routes.MAX_WORK", 100)
        few = dead_ends({**schema, "allOf": [{"properties": {f"n{i}": CODE for i in range(40)}}]})
        assert not few.complete and "were not looked at" in few.stopped[0]

    def test_parts_that_only_meet_in_an_object_around_them(self) -> None:
        schema = {
            "allOf": [
                {"properties": {"a": {"type": "string", "maxLength": 3}}},
                {"properties": {"a": {"format": "date"}}},
            ]
        }
        finding = only(dead_ends(schema))
        assert finding.kind == "never written"
        # a date has ten characters
        assert finding.suggestion is not None
        assert finding.suggestion.edits == (Edit(3, 10, "#/allOf/0/properties/a/maxLength"),)
        assert not dead_ends(mended(schema, finding)).findings

    @pytest.mark.parametrize(
        ("schema", "edits"),
        [
            (
                {"type": "integer", "minimum": 3, "maximum": 2},
                [Edit(3, 2, "#/minimum"), Edit(2, 3, "#/maximum")],
            ),
            (
                {"type": "integer", "minimum": 10, "maximum": 13, "multipleOf": 7},
                [Edit(13, 14, "#/maximum")],
            ),
            (
                {"type": "string", "minLength": 30, "pattern": "^a{1,5}$"},
                [Edit(30, 5, "#/minLength")],
            ),
            (
                {"type": "array", "items": {"enum": [1, 2]}, "uniqueItems": True, "minItems": 3},
                [Edit(3, 2, "#/minItems")],
            ),
            ({"type": "string", "enum": [1, 2]}, [Edit("string", "integer", "#/type")]),
            (
                {
                    "type": "object",
                    "properties": {"a": {}},
                    "required": ["a", "b/c"],
                    "additionalProperties": False,
                },
                [Edit(ABSENT, {}, "#/properties/b~1c")],
            ),
            (
                {"type": "string", "pattern": "^a$", "not": {"const": "a"}},
                [Edit("^a$", ABSENT, "#/pattern")],
            ),
        ],
    )
    def test_edits(self, schema: dict[str, Any], edits: list[Edit]) -> None:
        finding = only(dead_ends(schema))
        assert finding.kind == "unsatisfiable"
        assert finding.suggestion is not None and list(finding.suggestion.edits) == edits
        assert not dead_ends(mended(schema, finding)).findings

    def test_a_value_that_would_have_to_hold_itself(self) -> None:
        node = {"type": "object", "properties": {"n": {"$ref": "#/$defs/n"}}, "required": ["n"]}
        schema = {"$ref": "#/$defs/n", "$defs": {"n": node}}
        finding = only(dead_ends(schema))
        assert finding.pointer == "#/$defs/n"
        assert finding.suggestion is not None
        assert finding.suggestion.edits == (Edit(["n"], [], "#/$defs/n/required"),)
        assert not dead_ends(mended(schema, finding)).findings

    def test_a_schema_without_dead_ends(self) -> None:
        report = dead_ends({"type": "object", "properties": {"a": {"type": "integer"}}}, BYTES)
        assert not report.findings and report.complete
        assert "1 member of objects" in str(report) and "none found" in str(report)


class TestRules:
    def test_a_loop_without_an_exit(self) -> None:
        grammar = wb.gbnf('root ::= "x" | "a" loop\nloop ::= "b" loop')
        finding = only(dead_ends(grammar, letters(b"abx"), examples=["x", "abb", "a"]))
        assert (finding.kind, finding.rule, finding.path) == ("endless loop", "loop", b"a")
        assert finding.warning
        # '"b" loop' begins after 'root ::= "x" | "a" loop', a line end and 'loop ::= '
        assert (finding.start, finding.end, finding.source) == (33, 41, '"b" loop')
        changed = mended(grammar, finding)
        assert not dead_ends(changed, letters(b"abx")).findings
        assert finding.suggestion is not None
        assert [(c.example, c.after) for c in finding.suggestion.effect] == [
            ("abb", True),
            ("a", True),
        ]

    def test_a_grammar_without_any_text(self) -> None:
        grammar = wb.gbnf('root ::= "a" root')
        finding = only(dead_ends(grammar, letters(b"a"), examples=["aa"]))
        assert finding.kind == "endless loop" and not finding.warning and finding.path == b""
        assert not dead_ends(mended(grammar, finding), letters(b"a")).findings

    def test_a_rule_that_nothing_leads_to(self) -> None:
        grammar = wb.gbnf('root ::= "a" never{0}\nnever ::= never')
        assert not dead_ends(grammar, letters(b"a")).findings

    def test_a_class_without_members(self) -> None:
        finding = only(dead_ends(wb.gbnf('root ::= "a" | none\nnone ::= []'), letters(b"a")))
        assert (finding.kind, finding.rule) == ("never written", "none")

    def test_an_alternative_that_no_token_spells(self) -> None:
        grammar = wb.gbnf('root ::= "x" | "ad" | "b"')
        finding = only(dead_ends(grammar, letters(b"abx"), examples=["ad", "b"]))
        assert finding.kind == "never written" and finding.warning
        assert finding.message.endswith("'d' is in no token")
        assert finding.possible == frozenset(b"d")
        assert finding.source == '"ad"'
        assert mended(grammar, finding).source == 'root ::= "x" | "b"'
        assert not dead_ends(mended(grammar, finding), letters(b"abx")).findings
        assert finding.suggestion is not None
        assert [(c.example, c.before, c.after) for c in finding.suggestion.effect] == [
            ("ad", True, False)
        ]


class TestTokens:
    def test_an_enum_value_with_half_a_character(self) -> None:
        # "ü" is C3 BC; there is a token C3, and BC stands in "BC b" alone
        grammar = wb.json_schema({"enum": ["ab", "aü"]})
        tokens = vocabulary(b"a", b"b", b'"', b"\xc3", b"\xbcb", b"\\")
        finding = only(dead_ends(grammar, tokens, examples=["ab", '"aü"', '"ab"']))
        assert finding.kind == "empty mask"
        assert finding.path == b'"a\xc3' and finding.token_ids == (2, 0, 3)
        assert finding.possible == frozenset(b"\xbc")
        assert finding.pointer == "#"
        # before the C3 there was "b", which leads to "ab"
        assert finding.escape is not None
        assert (finding.escape.text, finding.escape.instead, finding.escape.step) == (
            b'"a',
            b"b",
            2,
        )
        assert finding.suggestion is not None
        assert finding.suggestion.edits == (Edit(["ab", "aü"], ["ab"], "#/enum"),)
        assert [(c.example, c.after) for c in finding.suggestion.effect] == [('"aü"', False)]
        assert not dead_ends(mended(grammar, finding), tokens).findings

    @pytest.mark.parametrize("kind", ["gbnf", "regex"])
    def test_a_class_with_a_byte_that_is_no_token(self, kind: str) -> None:
        # "abdx" is a, b, dx and "acdx" is ac, dx; after a, cd only "x" may come, which no token is
        text = '"a" [bc] "d" "x"' if kind == "gbnf" else "a[bc]dx"
        grammar = wb.gbnf(f"root ::= {text}") if kind == "gbnf" else wb.regex(text)
        tokens = vocabulary(b"a", b"b", b"cd", b"dx", b"ac")
        finding = only(dead_ends(grammar, tokens))
        assert finding.kind == "empty mask"
        assert finding.path == b"acd"
        assert finding.escape is not None
        assert (finding.escape.text, finding.escape.instead, finding.escape.step) == (b"a", b"b", 1)

    def test_a_loop_that_only_the_length_ends(self) -> None:
        # what ends it is ")", and ")" is only in ")(" , after which nothing more may come
        grammar = wb.gbnf('root ::= "a"* ")"')
        tokens = vocabulary(b"a", b")(")
        found = dead_ends(grammar, tokens)
        finding = only(found)
        assert finding.kind == "endless loop"
        assert finding.path == b"" and finding.escape is None

    def test_the_class_is_narrowed(self) -> None:
        # é is C3 A9: C3 is a token, A9 is none; "é" as a whole is none either
        grammar = wb.gbnf('root ::= "(" [a-cé] ")"')
        tokens = vocabulary(b"a", b"b", b"c", b"(", b")", b"\xc3", b"\xa9)x")
        finding = only(dead_ends(grammar, tokens, examples=["(a)", "(é)"]))
        assert finding.path == b"(\xc3" and finding.source == "[a-cé]"
        assert finding.suggestion is not None
        assert finding.suggestion.edits == (Edit("[a-cé]", "[a-c]", start=13, end=19),)
        assert [(c.example, c.after) for c in finding.suggestion.effect] == [("(é)", False)]
        assert not dead_ends(mended(grammar, finding), tokens).findings

    def test_a_byte_that_begins_characters_and_leads_nowhere(self) -> None:
        # "é" is a token, and so is its first byte: only without it is there no such place
        grammar = wb.gbnf('root ::= "(" [a-cé] ")"')
        tokens = vocabulary(b"a", b"b", b"c", b"(", b")", b"\xc3", "é".encode(), b"\xa9)x")
        finding = only(dead_ends(grammar, tokens))
        assert finding.suggestion is not None
        assert finding.suggestion.edits == (Edit("[a-cé]", "[a-c]", start=13, end=19),)
        assert not dead_ends(mended(grammar, finding), tokens).findings

    def test_strings_of_any_characters_without_their_bytes(self) -> None:
        singles = [bytes([byte]) for byte in (*range(128), 0xC3)]
        schema = {"type": "string", "maxLength": 1}
        # after C3 only "é" may come to be, and with its second byte an x too many
        finding = only(dead_ends(wb.json_schema(schema), vocabulary(*singles, b"\xa9x")))
        assert finding.path == b'"\xc3'
        assert finding.suggestion is not None and "ascii_only=True" in finding.suggestion.text
        plain = wb.json_schema(schema, ascii_only=True)
        assert not dead_ends(plain, vocabulary(*singles, b"\xa9x")).findings

    def test_no_token_ends_a_text(self) -> None:
        finding = only(dead_ends(wb.regex("a"), vocabulary(b"a", end=False)))
        assert finding.kind == "no end token"


class TestBudgets:
    def test_the_least_text_is_too_long(self) -> None:
        # {"s":""} with 50 characters between the quotes: 58 bytes
        text = {"type": "string", "minLength": 50}
        schema: dict[str, Any] = {"type": "object", "properties": {"s": text}, "required": ["s"]}
        schema["additionalProperties"] = False
        finding = only(dead_ends(wb.json_schema(schema), BYTES, max_tokens=57))
        assert finding.kind == "over budget" and not finding.warning
        assert "at least 58 tokens" in finding.message
        assert str(finding.suggestion) == "allow at least 58 tokens"
        assert not dead_ends(wb.json_schema(schema), BYTES, max_tokens=58).findings

    def test_an_optional_part_is_too_long(self) -> None:
        text = {"type": "string", "minLength": 50}
        grammar = wb.json_schema({"type": "object", "properties": {"s": text}})
        finding = only(dead_ends(grammar, BYTES, max_tokens=57))
        assert finding.warning and finding.pointer == "#/properties/s"
        assert finding.path == b"{" and "58 bytes" in finding.message
        assert not dead_ends(grammar, BYTES, max_tokens=58).findings

    def test_long_tokens_may_or_may_not_do(self) -> None:
        # 10 bytes, and the longest token has ten: one might do, but it takes five
        grammar = wb.gbnf('root ::= "ab" "ab" "ab" "ab" "ab"')
        tokens = vocabulary(b"a", b"b", b"ab", b"aaaaaaaaaa")
        assert not dead_ends(grammar, tokens, max_tokens=5).findings
        finding = only(dead_ends(grammar, tokens, max_tokens=4))
        assert finding.warning and "spelled with 5 tokens" in finding.message


class TestValues:
    def test_edits_of_texts(self) -> None:
        edit = Edit("b", "xyz", start=1, end=2)
        assert edit.apply("abc") == "axyzc"
        with pytest.raises(ValueError):
            edit.apply("aXc")
        both = Suggestion("two", (Edit("a", "AA", start=0, end=1), Edit("c", "CC", start=2, end=3)))
        assert both.apply("abc") == "AAbCC"

    def test_edits_of_schemas(self) -> None:
        schema = {"a": [{"x/y": 1}]}
        assert Edit(1, 2, "#/a/0/x~1y").apply(schema) == {"a": [{"x/y": 2}]}
        assert Edit(1, ABSENT, "#/a/0/x~1y").apply(schema) == {"a": [{}]}
        assert Edit(ABSENT, 3, "#/b").apply(schema) == {"a": [{"x/y": 1}], "b": 3}
        assert schema == {"a": [{"x/y": 1}]}
        with pytest.raises(ValueError):
            Edit(9, 2, "#/a/0/x~1y").apply(schema)

    def test_the_json_form(self) -> None:
        schema = {"type": "object", "properties": {"code": CODE}, "required": ["code"]}
        wire = json.loads(json.dumps(dead_ends(schema, examples=[{"code": "ABC"}]).to_json()))
        (finding,) = wire["findings"]
        assert finding["pointer"] == "#/properties/code"
        assert finding["suggestion"]["edits"][0]["new"] == 3
        assert finding["suggestion"]["effect"][0]["after"] is True

    def test_a_compiled_grammar_brings_its_vocabulary(self) -> None:
        compiled = wb.compile(
            wb.gbnf('root ::= "(" [a-cé] ")"'), vocabulary(b"a", b"(", b")", b"\xc3", b"\xa9)x")
        )
        assert only(dead_ends(compiled)).path == b"(\xc3"


def trace_of(masses: Sequence[float], **more: Any) -> wb.Trace:
    """A trace of steps whose masks took away so much."""
    trace = wb.Trace(**more)
    for mass in masses:
        trace.append(
            wb.TraceStep(
                index=0,
                kind="sampled",
                token_id=7,
                token_bytes=b"x",
                allowed_count=3,
                mass_removed=mass,
                top_before=((7, 0.5), (8, 0.1)),
                top_after=((7, 0.5), (9, 0.2)),
                live_states=(1,),
                stacks=(trace.add_stack([Frame(1, ("item",)), Frame(4, ("root",))]),),
            )
        )
    return trace


class TestTraces:
    def test_near_dead_ends(self) -> None:
        trace = trace_of([0.1, 0.995, 0.999, 0.998, 0.2, 0.999, 0.999], finish_reason="eos")
        finding = only(wb.live_dead_ends(trace, threshold=0.01, steps=3))
        assert (finding.kind, finding.steps, finding.rule) == ("near dead end", (1, 3), "item")
        assert finding.warning and finding.path == b"x"
        assert "at most 0.50% of the probability for 3 steps from step 2" in finding.message
        assert len(wb.live_dead_ends(trace, steps=2)) == 2
        assert not len(wb.live_dead_ends(trace, threshold=0.001, steps=1))

    def test_an_empty_mask(self) -> None:
        trace = trace_of([0.1, 0.2], finish_reason="dead_end", error="stuck")
        trace.final = {"stacks": [trace.steps[0].stacks[0]]}
        finding = only(wb.live_dead_ends(trace, vocabulary(*[b"t%d" % i for i in range(10)])))
        assert (finding.kind, finding.message, finding.rule) == ("empty mask", "stuck", "item")
        assert finding.escape is not None
        assert (finding.escape.step, finding.escape.instead) == (1, b"t9")
        # the second step: people count from one
        assert str(finding.escape) == "last escape: after “x” (step 2) with “t9” instead"

    def test_a_loop_until_the_length_ran_out(self) -> None:
        finding = only(wb.live_dead_ends(trace_of([0.1] * 9, finish_reason="length")))
        assert finding.kind == "endless loop" and finding.steps == (0, 9)
        finding = only(wb.live_dead_ends(trace_of([0.1] * 3, finish_reason="length")))
        assert finding.kind == "out of tokens"
        whole = trace_of([0.1] * 9, finish_reason="length")
        whole.final = {"is_accepting": True}
        assert not len(wb.live_dead_ends(whole))


@given(cases(), st.randoms(use_true_random=False))
@settings(max_examples=30, deadline=None)
def test_paths_and_escapes_of_random_grammars(case: Case, chance: Random) -> None:
    """Where the report says that a mask is empty it is, and an escape is a token that may come."""
    plain = [t if len(t) != 1 or chance.random() < 0.6 else b"" for t in case.tokens]
    tokens = wb.Vocabulary.from_bytes(plain, case.eos_ids, case.special_ids)
    try:
        compiled = wb.compile(case.grammar, tokens)
    except (wb.UnsatisfiableGrammar, wb.GrammarTooComplex):
        return
    for finding in dead_ends(compiled, budget=1_500):
        matcher = compiled.matcher()
        if finding.kind == "empty mask":
            assert matcher.accept_tokens(finding.token_ids) == len(finding.token_ids)
            assert tokens.decode(finding.token_ids) == finding.path
            assert not len(matcher.allowed_ids()) and not matcher.is_accepting
            assert matcher.allowed_bytes() == finding.possible
            assert finding.stack and finding.stack[-1].rule == case.grammar.start
        if finding.escape is not None:
            way = finding.token_ids[: finding.escape.step]
            matcher.reset()
            assert matcher.accept_tokens(way) == len(way)
            assert tokens.decode(way) == finding.escape.text
            others = {tokens.token_bytes(i) for i in matcher.allowed_ids().tolist()}
            assert finding.escape.instead in others or matcher.is_accepting

"""Grammars that stand in others are told in their own terms, with their names before them."""

from __future__ import annotations

import pytest

import workbench as wb
from workbench.grammar.ir import Grammar, Origin
from workbench.grammar.places import home, within

BYTES = wb.Vocabulary.from_bytes([*(bytes([b]) for b in range(256)), b""], eos_ids=(256,))
WEATHER = {
    "type": "object",
    "properties": {"city": {"type": "string", "maxLength": 5}, "days": {"enum": [1, 2]}},
    "required": ["city"],
}


@pytest.fixture(scope="module")
def grammar() -> Grammar:
    words = wb.gbnf('root ::= item ("," item)*\nitem ::= [a-z]+ | "0"')
    call = wb.capture("tool get_weather", wb.json_schema(WEATHER, whitespace="compact"))
    return wb.seq("of ", words, ";", call, wb.capture("end", wb.seq("<", wb.regex("z{2}"), ">")))


def explained(grammar: Grammar, text: bytes, byte: str) -> wb.Why:
    matcher = wb.compile(grammar, BYTES).matcher()
    assert matcher.accept_tokens(text) == len(text)
    return wb.explain(matcher, ord(byte))


def test_a_text_in_a_composition(grammar: Grammar) -> None:
    why = explained(grammar, b"of ab", "?")
    assert [frame.name for frame in why.stack] == ["gbnf › item", "gbnf", "root"]
    assert why.stack[0].source == '[a-z]+ | "0"'
    assert why.stack[0].items == ("gbnf.item → [a-z]+ •",)
    assert why.stack[1].items == ('gbnf → • item ("," item)*',)


def test_a_schema_in_a_composition(grammar: Grammar) -> None:
    why = explained(grammar, b"of a;{", "x")
    assert "tool get_weather › #" in why.sentence
    why = explained(grammar, b'of a;{"city":', "x")
    assert "tool get_weather › #/properties/city" in why.sentence
    assert why.stack[0].source == '{"type": "string", "maxLength": 5}'
    matcher = wb.compile(grammar, BYTES).matcher()
    matcher.accept_tokens(b'of a;{"city":')
    assert "tool get_weather › #/properties/city" in matcher.explain(ord("x")).sentence


def test_a_pattern_in_a_capture(grammar: Grammar) -> None:
    why = explained(grammar, b'of a;{"city":"x"}<z', ">")
    assert why.stack[0].items == ("pattern → •z{2}",)
    assert "end" in [frame.name for frame in why.stack]


def test_coverage_of_parts(grammar: Grammar) -> None:
    found = wb.coverage(grammar, ['of ab,c;{"city":"x"}<zz>'])
    never = {str(part) for part in found.never}
    assert any(part.startswith("pointer tool get_weather › #/properties/days") for part in never)
    assert '"0" (characters 44-47 in gbnf.item)' in never
    used = {part.name for part in found.used}
    assert "tool get_weather › #/properties/city" in used
    # of a schema members are told, not the rules that it is written in
    assert not any(part.startswith("rule tool get_weather.") for part in never)


def test_dead_ends_of_parts() -> None:
    endless = wb.gbnf('root ::= "a" x | "b"\nx ::= "c" x')
    broken = wb.json_schema({"type": "object", "properties": {"a": False, "b": {}}})
    grammar = wb.seq(
        endless, wb.capture("s", broken), wb.define(own=wb.alt("x", "y" + wb.ref("own")))
    )
    places = {finding.place: finding for finding in wb.dead_ends(grammar).findings}
    assert set(places) == {"s › #/properties/a", "gbnf.x (characters 27-32)"}
    assert all(finding.warning and finding.path is None for finding in places.values())
    own = wb.alt("x", wb.define(own="y" + wb.ref("own")))
    (finding,) = wb.dead_ends(own).findings
    assert (finding.kind, finding.rule) == ("endless loop", "own")


def test_bytes_in_no_token_are_told_by_part() -> None:
    letters = b'-"a17'
    few = wb.Vocabulary.from_bytes([*(bytes([b]) for b in letters), b""], eos_ids=len(letters))
    part = wb.json_schema({"enum": [7, "a", "\u00e9"]})
    (finding,) = wb.dead_ends(wb.seq("-", wb.capture("e", part)), few).findings
    assert (finding.kind, finding.place) == ("never written", "e › #")


def test_places_inside_of_places() -> None:
    inner = wb.gbnf("root ::= args\n", rules={"args": wb.json_schema(WEATHER)})
    outer = wb.seq("<", wb.capture("call", inner), ">")
    pointer = "call › args › #/properties/city"
    found, place = home(outer, Origin(pointer))
    assert found.source == WEATHER and place == Origin("#/properties/city")
    assert home(outer, Origin("other › #/a")) == (outer, Origin("other › #/a"))
    assert within("a", Origin("b › #/c")).pointer == "a › b › #/c"
    assert within("a", Origin(None, 1, 2, "x")) == Origin("a › x", 1, 2, "a.x")
    assert within("a", Origin(None, 1, 2, "x"), "x") == Origin("a", 1, 2, "a")
    assert {o.pointer for o in outer.outcomes} >= {"call.args#/type", "call.args#/required"}

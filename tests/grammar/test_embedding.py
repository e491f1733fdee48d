"""Grammars inside grammars keep their rules, scopes, origins and outcomes, and what they write on demand."""

from __future__ import annotations

from pathlib import Path

import pytest

import workbench as wb
from workbench.grammar.embedding import embed
from workbench.grammar.fingerprint import fingerprint
from workbench.grammar.ir import Alt, Expr, Grammar, Literal, Ref, Repeat, Seq, Token

BYTES = wb.Vocabulary.from_bytes(
    [*(bytes([i]) for i in range(256)), b"", b""], [256], special_names={257: "<call>"}
)
POINT = {
    "type": "object",
    "properties": {"x": {"type": "integer"}, "y": {"type": "integer"}},
    "required": ["x"],
    "additionalProperties": False,
}
TAGS = {"type": "array", "items": {"enum": ["a", "b"]}, "uniqueItems": True}


def schema(value: object, **options: object) -> Grammar:
    return wb.json_schema(value, whitespace="compact", **options)  # type: ignore[arg-type]


def accepts(matcher: wb.Matcher, *pieces: bytes | int) -> bool:
    """Whether bytes and tokens, one after the other, are a text of the grammar."""
    matcher.reset()
    for piece in pieces:
        ids = [piece] if isinstance(piece, int) else list(piece)
        if matcher.accept_tokens(ids) < len(ids):
            return False
    return matcher.is_accepting


def test_several_schemas_side_by_side() -> None:
    """Rules of one name do not meet; keys and items that came are each schema's own."""
    rules: dict[str, Expr] = {
        "root": Seq((Ref("call"), Repeat(Seq((Literal(b";"), Ref("call"))), 0, None))),
        "call": Alt(
            (
                Seq((Literal(b"p"), Ref("point"))),
                Seq((Literal(b"q"), Ref("any"))),
                Seq((Literal(b"t"), Ref("tags"))),
            )
        ),
    }
    parts = {
        "point": schema(POINT),
        "any": schema(POINT, property_order="any"),
        "tags": schema(TAGS),
    }
    made = embed(rules, "root", parts)
    matcher = wb.compile(made, BYTES, cache=False).matcher()
    assert accepts(matcher, b'p{"x":1,"y":2};q{"y":2,"x":1};t["b","a"];t["b"];p{"x":0}')
    assert not accepts(matcher, b'p{"y":2,"x":1}')
    assert not accepts(matcher, b'q{"y":2,"y":1}')
    assert not accepts(matcher, b't["b","b"]')
    assert accepts(matcher, b't["b"];t["b"]')


def test_rules_are_written_when_a_text_reaches_them() -> None:
    deep: object = {"type": "integer"}
    for i in range(300):
        deep = {
            "type": "object",
            "properties": {f"a{i}": deep, f"b{i}": {"type": "object", "minProperties": 1}},
        }
    inner = schema(deep)
    made = embed({"root": Seq((Ref("one"), Literal(b"\n")))}, "root", {"one": inner})
    compiled = wb.compile(made, BYTES, cache=False)
    assert accepts(compiled.matcher(), b"{}\n")
    assert len(inner.rules.emitted) < 100  # type: ignore[attr-defined]


def test_recursion_through_a_grammar_that_is_embedded() -> None:
    """``a ::= schema | a "+" schema``: the schema's text decides, left recursion or not."""
    rules: dict[str, Expr] = {
        "a": Alt((Ref("one"), Seq((Ref("a"), Literal(b"+"), Ref("one"))))),
    }
    matcher = wb.compile(embed(rules, "a", {"one": schema(POINT)}), BYTES, cache=False).matcher()
    assert accepts(matcher, b'{"x":1}+{"x":2}+{"x":3}')
    assert not accepts(matcher, b'{"x":1}+')
    assert not accepts(matcher, b'+{"x":1}')


def test_tokens_nullable_rules_and_schemas_in_one_grammar() -> None:
    """What rules written on demand may not do, those around them may."""
    rules: dict[str, Expr] = {
        "root": Seq((Ref("thought"), Repeat(Ref("use"), 0, None))),
        "thought": Repeat(Ref("word"), 0, None),
        "word": Alt((Literal(b"x"), Literal(b"y"))),
        "use": Seq((Token(names=("<call>",)), Ref("args"))),
    }
    made = embed(rules, "root", {"args": schema(POINT)})
    matcher = wb.compile(made, BYTES, cache=False).matcher()
    assert accepts(matcher)
    assert accepts(matcher, b"xyx", 257, b'{"x":1}', 257, b'{"x":2}')
    assert not accepts(matcher, b"xyx", 257)
    assert not accepts(matcher, b"xyx<call>")


def test_a_grammar_that_is_embedded_in_what_is_embedded() -> None:
    inner = embed(
        {"root": Seq((Literal(b"<"), Ref("p"), Literal(b">")))}, "root", {"p": schema(POINT)}
    )
    outer = embed({"root": Repeat(Ref("in"), 1, None)}, "root", {"in": inner})
    assert set(outer.rules) >= {"root", "in", "in.p"}
    matcher = wb.compile(outer, BYTES, cache=False).matcher()
    assert accepts(matcher, b'<{"x":1}><{"x":1,"y":1}>')
    assert not accepts(matcher, b'<{"x":1}><{"y":1}>')


def test_names_origins_and_outcomes_are_kept() -> None:
    gbnf = wb.gbnf('root ::= item ("," item)*\nitem ::= [a-z]+')
    part = schema({"type": "string", "format": "no such"})
    made = embed({"root": Seq((Ref("list"), Ref("text")))}, "root", {"list": gbnf, "text": part})
    assert set(made.rules) >= {"root", "list", "list.item", "text"}
    place, there = made.rules["list.item"].origin, gbnf.rules["item"].origin
    assert place and there and (place.start, place.end) == (there.start, there.end)
    assert (place.pointer, place.rule) == ("list › item", "list.item")
    assert [o.pointer for o in made.outcomes] == [
        o.pointer.replace("#", "text#", 1) for o in part.outcomes
    ]
    automaton = wb.compile(made, BYTES, cache=False).automaton.complete()
    names = {name for some in automaton.state_rules for name in some}
    assert {"root", "list.item", "text"} <= names


def test_the_same_parts_are_the_same_grammar() -> None:
    def made(value: object, source: object = None, name: str = "p") -> Grammar:
        return embed({"root": Ref(name)}, "root", {name: schema(value)}, source=source)

    assert fingerprint(made(POINT, "a")) == fingerprint(made(POINT, "a")) is not None
    assert fingerprint(made(POINT, "a")) != fingerprint(made(POINT, "b"))
    assert fingerprint(made(POINT, name="q")) != fingerprint(made(POINT))
    assert fingerprint(made(POINT, object())) is None
    assert fingerprint(made(POINT)) == fingerprint(made(POINT)) is not None
    assert fingerprint(made(POINT)) != fingerprint(made(TAGS))


def test_it_can_be_saved(tmp_path: Path) -> None:
    rules: dict[str, Expr] = {
        "root": Seq((Repeat(Literal(b" "), 0, None), Ref("many"))),
        "many": Alt((Ref("p"), Seq((Ref("many"), Literal(b"+"), Ref("p"))))),
    }
    made = embed(rules, "root", {"p": schema(POINT, property_order="any")})
    path = tmp_path / "embedded.wb"
    wb.compile(made, BYTES).save(path)
    # a vocabulary that lacks a byte: the automaton is made anew from the rules
    fewer = wb.Vocabulary.from_bytes(
        [*(bytes([i]) for i in range(255)), b"", b""], [255], special_names={256: "<call>"}
    )
    for vocabulary in (BYTES, fewer):
        matcher = wb.load_compiled(path, vocabulary).matcher()
        assert accepts(matcher, b'  {"y":1,"x":1}+{"x":1}')
        assert not accepts(matcher, b'  {"y":1,"y":1}')


@pytest.mark.parametrize(
    ("rules", "parts", "message"),
    [
        ({"root": Ref("nothing")}, {}, "'nothing'"),
        ({"root": Ref("p.nothing")}, {"p": POINT}, "'p.nothing'"),
        ({"root": Ref("p"), "p": Literal(b"a")}, {"p": POINT}, "'p' stands for two rules"),
        # a rule that the schema may write when a text gets there, or never
        ({"root": Ref("p"), "p.x": Literal(b"a")}, {"p": POINT}, "'p.x' stands for two rules"),
        ({"root": Ref("p.q")}, {"p": POINT, "p.q": TAGS}, "'p.q' names a grammar: dots are"),
    ],
)
def test_names_that_are_missing_or_double(
    rules: dict[str, Expr], parts: dict[str, object], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        embed(rules, "root", {name: schema(value) for name, value in parts.items()})

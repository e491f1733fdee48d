"""Expressions as values: what they normalise, what they refuse."""

from __future__ import annotations

from types import MappingProxyType

import pytest

from workbench.grammar.ir import Grammar, Literal, Origin, Ref, Repeat, Seq, Token, literal, walk


def test_a_token_is_a_set_of_ids_and_names() -> None:
    assert Token((3, 1, 3)) == Token((1, 3))
    assert Token((3, 1, 3)).ids == (1, 3)
    assert Token(names=("<b>", "<a>", "<b>")).names == ("<a>", "<b>")
    assert Token((), ("<a>",)) == Token(None, ("<a>",))
    assert Token((1,)) != Token((1,), negated=True)
    assert Token((1,), origin=Origin(start=3)) == Token((1,))
    assert hash(Token((2, 1))) == hash(Token((1, 2)))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Token(), "needs an id or a name"),
        (lambda: Token((), ()), "needs an id or a name"),
        (lambda: Token((4, -1)), "-1 is not the id of a token"),
        (lambda: Token(names=("",)), "is not empty"),
    ],
)
def test_a_token_that_is_none(make: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()  # type: ignore[operator]


def test_any_token_at_all() -> None:
    assert Token(negated=True).ids is None


def test_a_token_is_a_leaf() -> None:
    token = Token(names=("<think>",))
    expr = Seq((token, Repeat(token, 0, 2), literal("a")))
    assert list(walk(expr)) == [expr, token, Repeat(token, 0, 2), token, literal("a")]
    assert Grammar({"root": expr}, "root").rules["root"] == expr


def test_rules_in_any_mapping_are_checked() -> None:
    rules = MappingProxyType({"root": Ref("missing")})
    with pytest.raises(ValueError, match="'missing', which is not defined"):
        Grammar(rules, "root")
    assert repr(Grammar(MappingProxyType({"root": Literal(b"a")}), "root")).startswith(
        "<Grammar ir: 1 rule"
    )

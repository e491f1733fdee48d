"""Fingerprints and the flat form of rules: what is equal, what is not, what comes back."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.engine.grammars import seeded_case
from workbench.grammar.encoding import DTYPES, ROLES, STYLES, Decoder, Encoder
from workbench.grammar.fingerprint import content_key, fingerprint
from workbench.grammar.ir import (
    Alt,
    ByteSet,
    CharSet,
    Expr,
    Gather,
    Grammar,
    Graph,
    Guard,
    Literal,
    Origin,
    OtherText,
    Outcome,
    Ref,
    Repeat,
    Scope,
    Seq,
    Token,
    walk,
)
from workbench.grammar.lazy import LazyRules

A = Literal(b"a")
#: one of each kind, with the values at their edges
EXPRESSIONS: tuple[Expr, ...] = (
    Literal(b""),
    Literal(bytes(range(256))),
    ByteSet(0),
    ByteSet((1 << 256) - 1),
    ByteSet(1 << 255 | 1),
    CharSet(()),
    CharSet(((0, 0x10FFFF),)),
    CharSet(((97, 99), (0x1F600, 0x1F64F))),
    Seq(()),
    Alt(()),
    Seq((A, A)),
    Alt((A, Seq((A, Literal(b"b"))))),
    Repeat(A, 0, None),
    Repeat(A, 0, 0),
    Repeat(A, 10**6, 10**30),
    Repeat(A, 2**62, 2**64),
    Ref("root"),
    Graph(1, 0, (), ()),
    Graph(3, 0, (1, 2), ((0, A, 1), (1, Alt((A, Ref("root"))), 2), (2, ByteSet(6), 0))),
    Token((3, 1)),
    Token(None, ("<b>", "<a>")),
    Token((7,), ("<é>",), negated=True),
    Token(negated=True),
)


def around_again(rules: dict[str, Expr]) -> dict[str, Expr]:
    arrays = Encoder().rules(rules).arrays()
    assert {name: array.dtype for name, array in arrays.items()} == DTYPES
    decoder = Decoder(arrays)
    return {name: decoder.rule(name) for name in decoder.rules}


def same(one: dict[str, Expr], other: dict[str, Expr]) -> bool:
    """Equal in order and origins, too."""
    return (
        one == other
        and list(one) == list(other)
        and all(
            [(type(part), part.origin) for part in walk(one[name])]
            == [(type(part), part.origin) for part in walk(other[name])]
            for name in one
        )
    )


@pytest.mark.parametrize("expr", EXPRESSIONS, ids=repr)
def test_an_expression_comes_back(expr: Expr) -> None:
    assert same(around_again({"root": expr}), {"root": expr})


def test_origins_and_names_come_back() -> None:
    places = [
        None,
        Origin(),
        Origin("#/a", negated=True),
        Origin("", 0, 0, ""),
        Origin(None, 3, 9, "\ud800é"),
    ]
    rules: dict[str, Expr] = {
        f"{i}\udc00": Seq((Literal(b"x", origin=place), Literal(b"x")), origin=place)
        for i, place in enumerate(places)
    }
    assert same(around_again(rules), rules)


def test_an_expression_far_deeper_than_the_stack_comes_back() -> None:
    expr: Expr = A
    for i in range(10_000):
        expr = Seq((expr,)) if i % 2 else Repeat(expr, 1, 2)
    back = around_again({"root": expr})["root"]
    kinds = [type(part) for part in walk(back)]
    assert kinds == [type(part) for part in walk(expr)]
    assert fingerprint(Grammar({"root": expr}, "root")) == fingerprint(
        Grammar({"root": back}, "root")
    )


def test_parts_that_are_shared_are_written_once() -> None:
    expr: Expr = A
    for _ in range(60):  # two to the sixtieth leaves
        expr = Seq((expr, expr))
    arrays = Encoder().rules({"root": expr}).arrays()
    assert len(arrays["row_starts"]) == 62
    back = Decoder(arrays).rule("root")
    for _ in range(60):
        assert isinstance(back, Seq) and back.items[0] is back.items[1]
        back = back.items[0]
    assert back == A


def test_watched_texts_come_back() -> None:
    body, within = Repeat(A, 0, None), Graph(1, 0, (0,), ((0, CharSet(((97, 97),)), 0),))
    plain = OtherText(("a", "é"), body)
    others = [
        plain,
        replace(plain, texts=("a",)),
        replace(plain, body=Repeat(A, 1, None)),
        replace(plain, fresh=True),
        replace(plain, fresh=True, cell=3),
        *(replace(plain, style=style) for style in STYLES[1:]),
        *(replace(plain, role=role) for role in ROLES[1:]),
        replace(plain, opening=b'"'),
        OtherText((), body, within=within),
        OtherText((), body, within=replace(within, finals=())),
    ]
    for one in others:
        (back,) = around_again({"root": one}).values()
        assert isinstance(back, OtherText) and back == one and hash(back) == hash(one)
        assert (back.body, back.within) == (one.body, one.within)
        assert [one == other for other in others].count(True) == 1
    gather = Gather("object", (1,), ("a",))
    scopes = [Scope(Seq((one, Guard("end"))), 1, gather=gather) for one in others]
    assert len({fingerprint(Grammar({"root": one}, "root")) for one in scopes}) == len(others)


@pytest.mark.parametrize(("at", "value"), [(3, -1), (3, len(STYLES)), (5, -1), (5, len(ROLES))])
def test_watched_texts_in_no_known_style_or_role_are_refused(at: int, value: int) -> None:
    arrays = {n: a.copy() for n, a in Encoder().rules({"r": OtherText((), A)}).arrays().items()}
    begin = arrays["row_starts"][1]
    arrays["rows"][begin + at] = value
    with pytest.raises(ValueError, match="style or role"):
        Decoder(arrays).rule("r")


def test_guards_of_no_known_kind_are_refused() -> None:
    arrays = {n: a.copy() for n, a in Encoder().rules({"r": Guard("end", 1)}).arrays().items()}
    for value in (-1, 7):
        arrays["rows"][1] = value
        with pytest.raises(ValueError, match="no known kind"):
            Decoder(arrays).rule("r")


def test_random_grammars_come_back_with_their_fingerprints() -> None:
    seen = set()
    for seed in range(100):
        grammar = seeded_case(seed).grammar
        rules = dict(grammar.rules)
        back = around_again(rules)
        assert same(back, rules)
        mark = fingerprint(grammar)
        assert mark is not None and fingerprint(replace(grammar, rules=back)) == mark
        seen.add(mark)
    assert len(seen) > 80


def changed(name: str, at: int, value: int) -> dict[str, Any]:
    arrays = {
        n: a.copy()
        for n, a in Encoder().rules({"r": Seq((A, Repeat(A, 0, None)))}).arrays().items()
    }
    arrays[name].reshape(-1)[at] = value
    return arrays


@pytest.mark.parametrize(
    ("name", "at", "value"),
    [
        ("rows", 1, -1),  # a text that is not there
        ("rows", 1, 99),
        ("rows", 0, 9),  # a kind that is not there
        ("rows", 4, 1),  # a part of itself
        ("rows", 4, 2),  # and of what comes later
        ("rows", 4, -1),
        ("rows", 2, 0),  # an origin that is not there
        ("row_starts", 1, -1),
        ("row_starts", 1, 10**15),
        ("row_starts", 3, 10**15),
        ("text_starts", 1, 10**15),
        ("rule_rows", 0, 3),
        ("rule_rows", 0, -2),
        ("rule_names", 0, 99),
    ],
)
def test_arrays_that_do_not_fit_together_are_refused(name: str, at: int, value: int) -> None:
    with pytest.raises((ValueError, IndexError)):
        Decoder(changed(name, at, value)).rule("r")


def test_equal_content_has_equal_fingerprints() -> None:
    one, other = wb.regex("(a|b)+c"), wb.regex("(a|b)+c")
    assert one is not other
    assert fingerprint(one) == fingerprint(other) is not None
    shared = Literal(b"ab")
    apart = Grammar({"root": Seq((Literal(b"ab"), Literal(b"ab")))}, "root")
    assert fingerprint(apart) == fingerprint(Grammar({"root": Seq((shared, shared))}, "root"))


def test_different_content_has_different_fingerprints() -> None:
    rules = {"root": Seq((A, Ref("b"))), "b": Literal(b"b")}
    plain = Grammar(rules, "root")
    grammars = [
        plain,
        replace(plain, start="b"),
        replace(plain, kind="other"),
        replace(plain, source="text"),
        replace(plain, source=b"text"),
        replace(plain, source={"type": "null"}),
        replace(plain, source={"a": 1, "b": 1}),
        replace(plain, source={"b": 1, "a": 1}),
        replace(plain, source={"a": True, "b": 1}),
        replace(plain, source={"a": Decimal(1), "b": 1}),
        replace(plain, source="null"),
        replace(plain, outcomes=(Outcome("#", "type", "enforced"),)),
        replace(plain, rules=dict(reversed(rules.items()))),
        replace(plain, rules={**rules, "c": A}),
        replace(plain, rules={**rules, "b": Literal(b"b", origin=Origin(start=1))}),
        *(Grammar({"root": expr}, "root") for expr in EXPRESSIONS),
        wb.regex("(a|b)+c"),
        wb.regex("(b|a)+c"),
        wb.regex("(?:a|b)+c"),
        wb.regex(b"(a|b)+c"),
        wb.regex("(a|b)+c", ignore_case=True),
        wb.gbnf("root ::= (a | b)+\na ::= [a]\nb ::= [b]"),
        wb.gbnf("root ::= (a | b)+ \na ::= [a]\nb ::= [b]"),
    ]
    marks = [fingerprint(grammar) for grammar in grammars]
    assert None not in marks
    assert len(set(marks)) == len(marks)


def test_a_source_that_is_no_text_and_no_json_has_no_fingerprint() -> None:
    rules = {"root": A}
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    endless: list[Any] = []
    endless.append(endless)
    for source in (object(), {1, 2}, {(1, 2): 3}, deep, endless):
        assert fingerprint(Grammar(rules, "root", source=source)) is None


def test_what_no_front_end_writes_is_not_written_down() -> None:
    for expr in (Repeat(A, -1, None), ByteSet(-1), ByteSet(1 << 256)):
        with pytest.raises(ValueError, match="is no"):
            Encoder().rules({"root": expr})


def test_lazy_rules_are_told_apart_by_their_key_alone() -> None:
    def lazy(key: str | None, start: str = "root") -> Grammar:
        def emit(name: str) -> Expr:
            assert name == start, "written for nothing"
            return Literal(b"a")

        return Grammar(LazyRules(emit, start, key), start, "lazy", object())

    assert fingerprint(lazy(None)) is None
    assert fingerprint(lazy("k")) == fingerprint(lazy("k")) is not None
    assert fingerprint(lazy("k")) != fingerprint(lazy("l"))
    assert fingerprint(lazy("k")) != fingerprint(lazy("k", "other"))


def test_content_keys() -> None:
    values = [
        (),
        (None,),
        ("",),
        ([],),
        ({},),
        ("[]",),
        (1,),
        (1.0,),
        (True,),
        ("1",),
        (Decimal(1),),
        (Decimal("1.0"),),
        ({"a": 1, "b": 2},),
        ({"b": 2, "a": 1},),
        ("a", "b"),
        (["a", "b"],),
    ]
    keys = [content_key(*value) for value in values]
    assert None not in keys and len(set(keys)) == len(keys)
    assert keys == [content_key(*value) for value in values]
    assert content_key(np.int64(1)) is None
    assert content_key(float("nan")) == content_key(float("nan"))

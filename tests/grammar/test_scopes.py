"""Scopes written out: the same texts as by definition, and what cannot be written out is refused."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest

import workbench as wb
from tests.frontends.ir_match import matches
from workbench.grammar.ir import (
    EMPTY,
    NEVER,
    Alt,
    CharSet,
    Expr,
    Graph,
    Guard,
    OtherText,
    Ref,
    Repeat,
    Scope,
    Seq,
    literal,
    walk,
)
from workbench.grammar.scopes import MAX_STATES, record_parts, uses_record, written_out

LETTERS = "abc"
LEAVES: list[Expr] = [
    Seq((Guard("take", 1), literal("a"))),
    Seq((Guard("take", 2), literal("b"))),
    Seq((literal("c"), Guard("other"))),
    Repeat(Seq((literal("c"), Guard("other"))), 1, None),
    Guard("between"),
    Guard("end"),
    literal("a"),
    CharSet(((0x61, 0x63),)),
    EMPTY,
    NEVER,
]


def some(rng: Random, depth: int) -> Expr:
    """An expression with guards in alternatives, sequences, loops and graphs, dead states included."""
    kind = rng.randrange(6) if depth else 0
    if kind <= 1:
        return rng.choice(LEAVES)
    if kind == 2:
        return Seq(tuple(some(rng, depth - 1) for _ in range(rng.randint(0, 3))))
    if kind == 3:
        return Alt(tuple(some(rng, depth - 1) for _ in range(rng.randint(0, 3))))
    if kind == 4:
        return Repeat(some(rng, depth - 1), *rng.choice([(0, None), (0, 1), (1, 1), (1, None)]))
    edges = [(rng.randrange(3), some(rng, depth - 1), rng.randrange(3)) for _ in range(4)]
    finals = tuple(sorted({rng.randrange(3) for _ in range(rng.randint(1, 2))}))
    return Graph(3, rng.randrange(3), finals, tuple(edges))


def test_the_same_texts_without_a_record() -> None:
    texts = ["".join(letters) for n in range(5) for letters in product(LETTERS, repeat=n)]
    rng = Random(5)
    seen = {True: 0, False: 0}
    for _ in range(150):
        least, most = rng.choice([(0, None), (0, 2), (1, 2), (2, None), (2, 3)])
        several = Repeat(Alt((some(rng, 2), some(rng, 2))), 0, None)
        item = Seq((some(rng, 2), several, Guard("end")))
        scope = Scope(item, 2, rng.choice([0, 0, 1, 2, 3]), least, most)
        written = written_out(scope)
        assert not any(isinstance(part, Guard | Scope) for part in walk(written))
        for text in texts:
            fits = matches(scope, text)
            assert matches(written, text) == fits, (scope, text)
            seen[fits] += 1
    assert min(seen.values()) > 200


def test_what_uses_a_record_belongs_to_the_scope_around_it() -> None:
    guard, text = Guard("other"), OtherText((), Ref("text"), fresh=True)
    inner = Scope(Seq((guard, text)), 0)
    assert list(record_parts(Seq((inner, OtherText(("a",), Ref("text")))))) == []
    assert not uses_record(inner) and uses_record(inner.item)
    assert set(record_parts(Alt((Repeat(text, 0, 1), inner, guard)))) == {guard, text}


def test_what_cannot_be_written_out() -> None:
    member = Seq((Guard("other"), literal("a")))
    with pytest.raises(wb.GrammarTooComplex, match="members in any order"):
        written_out(Scope(Repeat(member, MAX_STATES + 1, None), 0))
    with pytest.raises(wb.GrammarTooComplex, match="members in any order"):
        written_out(Scope(Repeat(member, 0, None), 0, least=MAX_STATES))
    with pytest.raises(wb.GrammarTooComplex, match="once"):
        written_out(Scope(OtherText((), literal("a"), fresh=True), 0))

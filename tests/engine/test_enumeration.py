"""All texts of small random grammars up to a length: the engine accepts exactly those.

``WORKBENCH_FUZZ=2000`` looks at more cases than the 200 of a normal run; ``make fuzz`` takes other ones.
"""

from __future__ import annotations

import os
from statistics import median

import pytest

import workbench as wb
from tests.engine.enumeration import Enumeration, enumerated
from tests.engine.grammars import Case, small_case, used_bytes
from tests.engine.test_oracle import texts_up_to
from workbench.grammar.ir import EMPTY, Alt, Expr, Grammar, Graph, Literal, Ref, Repeat, Seq

CASES = int(os.environ.get("WORKBENCH_FUZZ", "200"))

A, B = Literal(b"a"), Literal(b"b")


def test_the_list_is_that_of_the_definition() -> None:
    """Rows of booleans and outer products give the same texts as sets of strings."""
    for seed in range(60):
        grammar = small_case(seed).grammar
        alphabet = bytes(sorted(used_bytes(grammar) | {ord("a")}))
        assert Enumeration(alphabet, 4).language(grammar) == texts_up_to(grammar, 4), seed


@pytest.mark.parametrize(
    ("rules", "texts"),
    [
        ({"S": Alt((Seq((Ref("S"), Ref("S"))), A))}, {"a" * n for n in range(1, 9)}),
        ({"S": Alt((Seq((Alt((EMPTY, B)), Ref("S"), A)), A))}, None),
        ({"S": Repeat(Repeat(A, 0, 1), 3, 5)}, {"a" * n for n in range(6)}),
        ({"S": Repeat(Repeat(A, 2, 3), 2, 2)}, {"a" * n for n in range(4, 7)}),
        ({"S": Alt((Ref("T"), A)), "T": Alt((Ref("S"), B))}, {"a", "b"}),
        ({"S": Graph(2, 0, (1,), ((0, EMPTY, 1), (1, Ref("S"), 0), (0, A, 0)))}, None),
        ({"S": Alt((Seq((A, Ref("S"), B)), EMPTY))}, {"a" * n + "b" * n for n in range(5)}),
    ],
)
def test_texts_by_hand(rules: dict[str, Expr], texts: set[str] | None) -> None:
    grammar = Grammar(rules, "S")
    found = Enumeration(b"ab", 8).language(grammar)
    if texts is not None:
        assert found == {text.encode() for text in texts}
    tokens = (b"a", b"b", b"aa", b"ab", b"ba", b"aaab", b"bbbbb", b"a", b"")
    assert enumerated(Case(grammar, tokens, eos_ids=(7,))) == len(found)


def test_exactly_the_listed_texts_are_accepted(capsys: pytest.CaptureFixture[str]) -> None:
    sizes, given_up = [], 0
    for seed in range(CASES):
        try:
            sizes.append(enumerated(small_case(seed)))
        except wb.GrammarTooComplex:
            given_up += 1
        except Exception as error:
            error.add_note(f"small_case({seed})")
            raise
    with capsys.disabled():
        print(
            f"\n{len(sizes)} small grammars, {sum(sizes):,} texts, median {median(sizes):.0f}, "
            f"{sizes.count(0)} without any, {given_up} given up as too complex"
        )
    assert given_up <= CASES // 50
    assert median(sizes) > 5

"""When grammars are built directly, and that it shows in nothing but time."""

from __future__ import annotations

from random import Random

import pytest

import workbench as wb
from tests.engine.grammars import seeded_case
from tests.engine.walks import Walk, ids_of, mask_of
from workbench.automaton import build, promises
from workbench.grammar.ir import (
    EMPTY,
    NEVER,
    Alt,
    Expr,
    Grammar,
    Graph,
    Literal,
    Ref,
    Repeat,
    Seq,
    literal,
)

a, b = Literal(b"a"), Literal(b"b")
KEPT: list[dict[str, Expr]] = [
    {"root": a},
    {"root": Alt((NEVER, Seq((a, Repeat(b, 0, None)))))},
    {"root": Seq((a, Ref("x"))), "x": Alt((b, Seq((a, Ref("root")))))},
    {"root": Graph(3, 0, (2,), ((0, EMPTY, 1), (1, a, 2), (2, b, 2)))},
]
BROKEN: list[dict[str, Expr]] = [
    {"root": EMPTY},
    {"root": Repeat(a, 0, 3)},
    {"root": Seq((Repeat(a, 0, None), Ref("x"))), "x": EMPTY},
    {"root": Alt((a, Seq((Ref("root"), b))))},
    {"root": Alt((a, Seq((Repeat(b, 0, 1), Ref("x"))))), "x": Seq((Ref("root"), b))},
    {"root": Seq((a, Ref("x"))), "x": Seq((b, Ref("x")))},
    {"root": Alt((a, Ref("x"))), "x": Literal(b"\xff")},
    {"root": Graph(2, 0, (1,), ((0, EMPTY, 1),))},
    {"root": Graph(2, 0, (1,), ((0, Ref("root"), 1), (0, a, 1)))},
]


@pytest.mark.parametrize("rules", KEPT)
def test_promises_that_are_kept(rules: dict[str, Expr]) -> None:
    assert promises.keeps_promise(Grammar(rules, "root"), frozenset({0xFF}))


@pytest.mark.parametrize("rules", BROKEN)
def test_promises_that_are_broken(rules: dict[str, Expr]) -> None:
    assert not promises.keeps_promise(Grammar(rules, "root"), frozenset({0xFF}))


def test_small_grammars_built_as_large_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """Random grammars that keep the promise, against the oracle."""
    monkeypatch.setattr(promises, "_LARGE", -1)
    direct = 0
    for seed in range(400):
        case = seeded_case(seed)
        oracle = case.oracle()
        if oracle.empty_language:
            continue
        compiled = wb.compile(case.grammar, case.vocabulary(), case.limits(), cache=False)
        if compiled.automaton.grow is None:
            continue
        direct += 1
        matcher = compiled.matcher()
        for mode in ("any", "deep", "long"):
            walk = Walk(case, oracle, Random(seed))
            walk.forward(matcher, 8, 24, mode)
            walk.back(matcher, len(walk.tokens))
    assert direct > 15


def test_many_words_are_one_tree() -> None:
    """Each word, nothing else, and every prefix's next letters; as expressions and as a regex."""
    rng = Random(3)
    words = sorted({"".join(rng.choices("abcd", k=rng.randint(1, 9))) for _ in range(9000)})
    tokens = [bytes([c]) for c in b"abcd"] + [b"ab", b"dcd", b""]
    vocabulary = wb.Vocabulary.from_bytes(tokens, 6)
    ends = set(words)
    prefixes = {word[:n] for word in words for n in range(len(word) + 1)}
    for grammar in (
        Grammar({"root": Alt(tuple(map(literal, words)))}, "root"),
        wb.regex("|".join(words)),
    ):
        assert promises.is_large(grammar)
        compiled = wb.compile(grammar, vocabulary)
        assert compiled.automaton.n_states < len(prefixes) + 5
        matcher = compiled.matcher()
        for word in rng.sample(words, 60):
            matcher.reset()
            for n in range(len(word) + 1):
                head = word[:n]
                expected = [i for i in range(6) if head + tokens[i].decode() in prefixes]
                expected += [6] if head in ends else []
                assert ids_of(mask_of(matcher)) == expected, head
                if n < len(word):
                    assert matcher.accept(tokens.index(word[n].encode()))
    assert build.is_large is promises.is_large


def test_a_counted_part_that_is_nested_ten_thousand_deep() -> None:
    part: Expr = a
    for _ in range(10_000):
        part = Seq((part, Alt((b, Literal(b"c")))))
    rules: dict[str, Expr] = {"root": Seq((Repeat(part, 2, 1000), Literal(b"x" * 40_000)))}
    vocabulary = wb.Vocabulary.from_bytes([b"a", b"b", b"c", b"x", b""], 4)
    matcher = wb.compile(Grammar(rules, "root"), vocabulary).matcher()
    assert matcher.accept_tokens([0, *[1, 2] * 5_000, 0]) == 10_002
    assert ids_of(mask_of(matcher)) == [1, 2]

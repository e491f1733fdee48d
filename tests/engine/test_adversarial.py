"""Grammars made to be hard: each ends in seconds, with right answers or an error that says why."""

from __future__ import annotations

import time
from collections.abc import Iterator
from random import Random

import pytest

import workbench as wb
from tests.engine.samples import joined, lit, one_of, option, plus, star
from tests.engine.walks import ids_of, mask_of
from workbench.grammar.ir import (
    EMPTY,
    NEVER,
    Alt,
    ByteSet,
    CharSet,
    Expr,
    Grammar,
    Graph,
    Ref,
    Repeat,
    Seq,
)

SECONDS = 40  # of processor time, on a small machine


@pytest.fixture(autouse=True)
def _in_seconds() -> Iterator[None]:
    began = time.process_time()
    yield
    assert time.process_time() - began < SECONDS


def start(rules: dict[str, Expr] | Expr, tokens: list[bytes]) -> wb.Matcher:
    rules = rules if isinstance(rules, dict) else {"root": rules}
    grammar = Grammar(rules, next(iter(rules)))
    vocabulary = wb.Vocabulary.from_bytes([*tokens, b"</s>"], eos_ids=[len(tokens)])
    return wb.compile(grammar, vocabulary).matcher()


def accepts(matcher: wb.Matcher, tokens: list[int]) -> bool:
    """Whether the tokens spell a text of the language; the matcher is left where it was."""
    taken = matcher.accept_tokens(tokens)
    found = taken == len(tokens) and matcher.is_accepting
    matcher.rollback(taken)
    return found


class TestRepeats:
    def test_a_thousand_times_a_thousand(self) -> None:
        matcher = start(Repeat(Repeat(lit("a"), 1000, 1000), 1000, 1000), [b"a", b"a" * 1000])
        assert matcher.accept_tokens([1] * 999) == 999
        assert ids_of(mask_of(matcher)) == [0, 1]
        assert matcher.finish_distance() == 1000
        assert matcher.accept(0)
        assert ids_of(mask_of(matcher)) == [0]
        assert matcher.accept_tokens([0] * 1000) == 999
        assert matcher.is_accepting
        assert ids_of(mask_of(matcher)) == [2]

    def test_bounds_within_bounds(self) -> None:
        matcher = start(Repeat(Repeat(lit("a"), 0, 1000), 0, 1000), [b"a", b"a" * 1000])
        assert matcher.is_accepting
        assert matcher.accept_tokens([1] * 1001) == 1000
        assert matcher.is_accepting
        assert ids_of(mask_of(matcher)) == [2]

    def test_two_or_three_a_thousand_times(self) -> None:
        """(aa|aaa){1000}: 2000 to 3000 letters, in ever so many ways."""
        matcher = start(Repeat(Repeat(lit("a"), 2, 3), 1000, 1000), [b"a", b"a" * 100])
        assert not accepts(matcher, [1] * 19 + [0] * 99)
        assert accepts(matcher, [1] * 20)
        assert accepts(matcher, [1] * 30)
        assert not accepts(matcher, [1] * 30 + [0])

    def test_a_nullable_body(self) -> None:
        matcher = start(
            Seq((Repeat(option(lit("a")), 500, 500), lit("b"))), [b"a", b"b", b"a" * 99]
        )
        assert accepts(matcher, [1])
        assert accepts(matcher, [2] * 5 + [0] * 5 + [1])
        assert not accepts(matcher, [2] * 5 + [0] * 6 + [1])

    def test_stars_of_stars(self) -> None:
        expr: Expr = lit("a")
        for _ in range(60):
            expr = star(plus(option(star(expr))))
        matcher = start(Seq((expr, lit("b"))), [b"a", b"b"])
        for _ in range(50):
            assert ids_of(mask_of(matcher)) == [0, 1]
            assert matcher.accept(0)
        assert matcher.accept(1)
        assert ids_of(mask_of(matcher)) == [2]

    def test_doubled_forty_times(self) -> None:
        """((a{2}){2})... 2^40 letters: alive, and its end is out of reach."""
        expr: Expr = lit("a")
        for _ in range(40):
            expr = Repeat(expr, 2, 2)
        try:
            matcher = start(expr, [b"a"])
        except wb.GrammarTooComplex:
            return
        assert matcher.accept_tokens([0] * 100) == 100
        assert ids_of(mask_of(matcher)) == [0]

    @pytest.mark.parametrize("count", [2**31 - 1, 2**31, 2**40, 2**70])
    def test_counts_beyond_any_machine_word(self, count: int) -> None:
        try:
            matcher = start(Repeat(lit("a"), 1, count), [b"a", b"aa"])
        except wb.GrammarTooComplex:
            return
        assert matcher.accept_tokens([0] * 1000) == 1000
        assert ids_of(mask_of(matcher)) == [0, 1, 2]

    def test_never_and_nothing_repeated(self) -> None:
        for least, most in ((0, None), (0, 10**6), (0, 3)):
            assert ids_of(mask_of(start(Repeat(NEVER, least, most), [b"a"]))) == [1]
        for least, most in ((0, None), (7, None), (10**6, 10**6)):
            assert ids_of(mask_of(start(Repeat(EMPTY, least, most), [b"a"]))) == [1]
        with pytest.raises(wb.UnsatisfiableGrammar):
            start(Repeat(NEVER, 1, None), [b"a"])
        with pytest.raises(wb.UnsatisfiableGrammar):
            start(Repeat(lit("a"), 3, 2), [b"a"])


class TestDeterminisation:
    def test_the_letter_before_the_last_thirteen(self) -> None:
        """[ab]*a[ab]{13}: the smallest deterministic automaton has 2^14 states."""
        tail = Seq(tuple(one_of("ab") for _ in range(13)))
        matcher = start(Seq((star(one_of("ab")), lit("a"), tail)), [b"a", b"b", b"ab"])
        rng, text = Random(5), ""
        for _ in range(200):
            assert ids_of(mask_of(matcher)) == [0, 1, 2, 3][: 4 if text[-14:-13] == "a" else 3]
            choice = rng.randrange(2)
            assert matcher.accept(choice)
            text += "ab"[choice]

    def test_fifty_thousand_words(self) -> None:
        rng = Random(6)
        words = sorted({"".join(rng.choices("0123456789", k=8)) for _ in range(50_000)})
        prefixes = {w[:n] for w in words for n in range(9)}
        tokens = [str(n) for n in range(10)] + [f"{n:02}" for n in range(100)]
        matcher = start(Alt(tuple(lit(w) for w in words)), [t.encode() for t in tokens])
        for _ in range(5):
            text = ""
            for digit in rng.choice(words):
                expected = [i for i, t in enumerate(tokens) if text + t in prefixes]
                assert ids_of(mask_of(matcher)) == expected
                assert matcher.accept(int(digit))
                text += digit
            assert ids_of(mask_of(matcher)) == [110]
            matcher.reset()

    def test_many_overlapping_patterns(self) -> None:
        """Any two letters out of six, as a union over their pairs."""
        letters = "abcdef"
        any_letter = star(one_of(letters))
        parts = tuple(
            Seq((any_letter, lit(x), any_letter, lit(y), any_letter))
            for x in letters
            for y in letters
        )
        matcher = start(Alt(parts), [x.encode() for x in letters])
        assert ids_of(mask_of(matcher)) == list(range(6))
        assert matcher.accept(0)
        assert not matcher.is_accepting
        assert matcher.accept(1)
        assert matcher.is_accepting


class TestRules:
    def test_a_long_chain_of_unit_rules(self) -> None:
        n = 3_000
        rules: dict[str, Expr] = {f"r{i}": Alt((Ref(f"r{i + 1}"), Ref("r0"))) for i in range(n)}
        rules[f"r{n}"] = lit("ab")
        matcher = start(rules, [b"a", b"b", b"ab", b"aba"])
        assert ids_of(mask_of(matcher)) == [0, 2]
        assert matcher.accept(2)
        assert ids_of(mask_of(matcher)) == [4]

    def test_a_ring_of_left_recursive_rules(self) -> None:
        n = 300
        rules: dict[str, Expr] = {
            f"r{i}": Alt((Seq((Ref(f"r{(i + 1) % n}"), one_of("ab"))), lit("c"))) for i in range(n)
        }
        matcher = start(rules, [b"a", b"b", b"c", b"ca", b"ac"])
        assert ids_of(mask_of(matcher)) == [2, 3]
        assert matcher.accept(2)
        for _ in range(400):
            assert ids_of(mask_of(matcher)) == [0, 1, 5]
            assert matcher.accept(0)

    def test_left_recursion_among_forty_rules(self) -> None:
        """Each rule may begin with each other one, and ends with its own letter pair."""
        n = 40
        rules: dict[str, Expr] = {}
        for i in range(n):
            own = lit(f"{i:02}")
            rules[f"r{i}"] = Alt((own, *(Seq((Ref(f"r{j}"), own)) for j in range(n))))
        tokens = [str(d).encode() for d in range(10)] + [b"00", b"39", b"40"]
        matcher = start(rules, tokens)
        assert ids_of(mask_of(matcher)) == [0, 1, 2, 3, 10, 11]
        assert accepts(matcher, [11, 11, 10])
        assert not accepts(matcher, [11, 11])

    def test_ten_thousand_nullable_parts(self) -> None:
        part = option(lit("a"))
        matcher = start({"root": Seq((Ref("x"),) * 10_000), "x": part}, [b"a", b"a" * 100])
        assert matcher.is_accepting
        assert matcher.accept_tokens([1] * 101) == 100
        assert ids_of(mask_of(matcher)) == [2]

    def test_deep_groups(self) -> None:
        expr: Expr = lit("a")
        for i in range(20_000):
            expr = Seq((expr,)) if i % 2 else Alt((expr, NEVER))
        matcher = start(expr, [b"a", b"aa"])
        assert ids_of(mask_of(matcher)) == [0]

    def test_deep_brackets_in_the_grammar(self) -> None:
        expr: Expr = lit("x")
        for _ in range(10_000):
            expr = Seq((lit("("), expr, lit(")")))
        matcher = start(expr, [b"(", b"x", b")", b"((", b"))"])
        assert matcher.accept_tokens([3] * 5_001) == 5_000
        assert ids_of(mask_of(matcher)) == [1]
        assert matcher.accept(1)
        assert matcher.accept_tokens([2] * 10_001) == 10_000
        assert matcher.is_accepting

    def test_everything_is_everything(self) -> None:
        """S -> S S | S S S | empty | a | S b S: as ambiguous as it gets."""
        s = Ref("S")
        sides = (Seq((s, s)), Seq((s, s, s)), EMPTY, lit("a"), Seq((s, lit("b"), s)))
        matcher = start({"S": Alt(sides)}, [b"a", b"b", b"c", b"ab", b"ca"])
        for i in range(2_000):
            if i % 100 == 0:
                assert ids_of(mask_of(matcher)) == [0, 1, 3, 5]
            assert matcher.accept(i % 7 % 2)

    def test_palindromes_keep_every_middle(self) -> None:
        """a P a | b P b | empty: the middle may be anywhere, so n stacks live after n letters."""
        p = Ref("P")
        rules = {"P": Alt((Seq((lit("a"), p, lit("a"))), Seq((lit("b"), p, lit("b"))), EMPTY))}
        matcher = start(rules, [b"a", b"b", b"ab", b"ba"])
        rng, text = Random(7), ""
        for _ in range(300):
            assert matcher.is_accepting == (text == text[::-1] and len(text) % 2 == 0)
            assert set(ids_of(mask_of(matcher))) - {4} == {0, 1, 2, 3}
            letter = rng.randrange(2)
            assert matcher.accept(letter)
            text += "ab"[letter]
        assert accepts(matcher, [0 if c == "a" else 1 for c in reversed(text)])

    def test_a_dense_graph(self) -> None:
        n = 60
        edges = tuple((i, one_of("ab"[(i + j) % 2]), j) for i in range(n) for j in range(n))
        matcher = start(Graph(n, 0, (n - 1,), edges), [b"a", b"b", b"ab", b"c"])
        for _ in range(50):
            assert ids_of(mask_of(matcher))[:3] == [0, 1, 2]
            assert matcher.accept(0)

    def test_a_graph_that_loops_on_nothing(self) -> None:
        edges = (
            (0, EMPTY, 0),
            (0, EMPTY, 1),
            (1, star(lit("a")), 0),
            (1, Ref("root"), 1),
            (1, lit("b"), 2),
        )
        matcher = start({"root": Graph(3, 0, (2,), edges)}, [b"a", b"b", b"bb", b"ba"])
        assert ids_of(mask_of(matcher)) == [0, 1, 2, 3]
        assert matcher.accept(1)
        assert ids_of(mask_of(matcher)) == [0, 1, 2, 3, 4]


class TestEmptiness:
    @pytest.mark.parametrize(
        "rules",
        [
            {"r": Ref("r")},
            {"r": Seq((lit("a"), Ref("r")))},
            {"r": Seq((Ref("s"), lit("a"))), "s": Alt((Seq((Ref("r"), lit("b"))), Ref("s")))},
            {"r": NEVER},
            {"r": ByteSet(0)},
            {"r": CharSet(())},
            {"r": CharSet(((0xD800, 0xDFFF),))},
            {"r": Graph(2, 0, (1,), ((0, lit("a"), 0),))},
            {"r": Graph(1, 0, (), ((0, lit("a"), 0),))},
            {"r": lit("x")},
            {"r": Repeat(lit("x"), 50, 10**6)},
            {"r": Alt((lit("ax"), Seq((Ref("r"), Ref("r")))))},
        ],
    )
    def test_found_when_compiling(self, rules: dict[str, Expr]) -> None:
        with pytest.raises(wb.UnsatisfiableGrammar) as caught:
            start(rules, [b"a", b"b"])
        assert str(caught.value)

    @pytest.mark.parametrize(
        ("rules", "allowed"),
        [
            ({"r": EMPTY}, [2]),
            ({"r": Alt((Ref("r"), lit("a")))}, [0]),
            ({"r": Alt((Seq((lit("a"), Ref("s"))), lit("b"))), "s": Ref("s")}, [1]),
            ({"r": Alt((Seq((lit("a"), lit("x"))), lit("b")))}, [1]),
            ({"r": Seq((Repeat(lit("x"), 0, 10**6), lit("b")))}, [1]),
            ({"r": Alt((lit("a"), Seq((Repeat(lit("x"), 100, None), lit("b")))))}, [0]),
            ({"r": Graph(1, 0, (0,), ((0, Ref("r"), 0),))}, [2]),
        ],
    )
    def test_not_found_where_it_is_not(self, rules: dict[str, Expr], allowed: list[int]) -> None:
        assert ids_of(mask_of(start(rules, [b"a", b"b"]))) == allowed


def test_large_classes_of_characters() -> None:
    """Every other character as one class, twenty thousand ranges."""
    ranges = tuple((c, c) for c in range(0x100, 0xA100, 2))
    tokens = [chr(0x100).encode(), chr(0x101).encode(), b"\xc4", b"\x80", chr(0xA0FE).encode()]
    matcher = start(plus(CharSet(ranges)), tokens)
    assert ids_of(mask_of(matcher)) == [0, 2, 4]
    assert matcher.accept(2)
    assert ids_of(mask_of(matcher)) == [3]


def options(count: int) -> Seq:
    """Members k0, k1, ... in this order, each of them optional."""
    return Seq(tuple(option(Seq((lit(f'"k{i}":'), one_of("01"), lit(",")))) for i in range(count)))


def test_a_list_of_a_thousand_options() -> None:
    tokens = [
        b'"',
        b"k",
        *(str(d).encode() for d in range(10)),
        b":",
        b",",
        b'"k999":',
        b'"k7":',
        b"1,",
    ]
    matcher = start(options(1000), tokens)
    assert matcher.is_accepting
    assert matcher.accept(tokens.index(b'"k999":'))
    assert matcher.accept(tokens.index(b"1,"))
    assert ids_of(mask_of(matcher)) == [len(tokens)]


def test_a_list_of_twenty_thousand_options() -> None:
    """Any may follow any that stands before it: too many edges to write out, and each mask right."""
    tokens = [bytes([byte]) for byte in b'"k0123456789:,']
    matcher = start(options(20_000), tokens)
    text = b'"k19998":1,"k1999'
    assert matcher.accept_tokens([tokens.index(bytes([b])) for b in text]) == len(text)
    assert [tokens[i] for i in ids_of(mask_of(matcher))] == [b"9"]


def test_a_wide_choice_of_lists() -> None:
    rules: dict[str, Expr] = {f"r{i}": joined(lit(f"{i:03}"), lit(",")) for i in range(1000)}
    matcher = start(
        {"root": Alt(tuple(Ref(name) for name in rules)), **rules}, [b"0", b"1", b"7", b","]
    )
    assert matcher.accept_tokens([0, 1, 2, 3, 0, 1]) == 6
    assert ids_of(mask_of(matcher)) == [2]

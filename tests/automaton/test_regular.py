"""Both, without, not: every result against the definition on all short texts or byte strings."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import pytest
from hypothesis import given, settings, strategies as st

from tests.frontends.ir_match import matches
from workbench.automaton.linear import NotRegular, resolve
from workbench.automaton.regular import complement, difference, intersect
from workbench.errors import GrammarTooComplex
from workbench.frontends.regex import full_match, parse_regex
from workbench.grammar.ir import (
    EMPTY,
    NEVER,
    Alt,
    ByteSet,
    CharSet,
    Expr,
    Graph,
    Literal,
    Ref,
    Repeat,
    Seq,
    Token,
    literal,
    walk,
)
from workbench.grammar.rewriting import rewrite

LETTERS = "abé"
TEXTS = [
    "".join(chars).encode() for n in range(5) for chars in itertools.product(LETTERS, repeat=n)
]
#: Whole characters and parts of them.
STRINGS = [
    bytes(chars) for n in range(5) for chars in itertools.product(b"ab\xc3\xa9\xff", repeat=n)
]


def char(*letters: str) -> CharSet:
    return CharSet(tuple((ord(letter), ord(letter)) for letter in sorted(letters)))


def byte(*values: int) -> ByteSet:
    return ByteSet(sum(1 << value for value in values))


def pattern(text: str) -> Expr:
    return full_match(parse_regex(text))


def language(
    expr: Expr, texts: Iterable[bytes], rules: dict[str, Expr] | None = None
) -> set[bytes]:
    return {text for text in texts if matches(expr, text, rules)}


TEXT_LEAVES: st.SearchStrategy[Expr] = st.one_of(
    st.sets(st.sampled_from(LETTERS), max_size=3).map(lambda letters: char(*letters)),
    st.sampled_from([EMPTY, NEVER, literal("é"), literal("ab"), byte(97), byte(97, 98), byte()]),
)
BYTE_LEAVES: st.SearchStrategy[Expr] = st.one_of(
    TEXT_LEAVES,
    st.sampled_from([Literal(b"\xc3"), Literal(b"\xa9a"), byte(0xFF), byte(97, 0xC3, 0xA9)]),
)


def expressions(leaves: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.lists(inner, max_size=3).map(lambda items: Seq(tuple(items))),
            st.lists(inner, max_size=3).map(lambda items: Alt(tuple(items))),
            st.tuples(
                inner,
                st.sampled_from([(0, None), (1, None), (0, 1), (2, 2), (1, 3), (0, 0)]),
            ).map(lambda made: Repeat(made[0], *made[1])),
            st.tuples(inner, inner).map(
                lambda two: Graph(3, 0, (2,), ((0, two[0], 1), (1, two[1], 2), (2, two[0], 1)))
            ),
        ),
        max_leaves=6,
    )


@given(expressions(TEXT_LEAVES), expressions(TEXT_LEAVES), expressions(TEXT_LEAVES))
@settings(max_examples=120, deadline=None)
def test_operations_on_texts(a: Expr, b: Expr, c: Expr) -> None:
    in_a, in_b, in_c = (language(part, TEXTS) for part in (a, b, c))
    assert language(intersect(a, b, c), TEXTS) == in_a & in_b & in_c
    assert language(difference(a, b, c), TEXTS) == in_a - in_b - in_c
    others = complement(a)
    assert language(others, TEXTS) == set(TEXTS) - in_a
    # what is not a text belongs to neither
    assert language(others, [b"\xc3", b"a\xff", b"\xed\xa0\x80", b"\xa9"]) == set()


@given(expressions(BYTE_LEAVES), expressions(BYTE_LEAVES))
@settings(max_examples=80, deadline=None)
def test_operations_on_bytes(a: Expr, b: Expr) -> None:
    # One leaf that is less than a character decides that bytes are meant.
    a = Alt((a, byte(0xFE)))
    strings = [*STRINGS, b"\xfe"]
    in_a, in_b = language(a, strings), language(b, strings)
    assert language(intersect(a, b), strings) == in_a & in_b
    assert language(difference(a, b), strings) == in_a - in_b
    assert language(difference(b, a), strings) == in_b - in_a
    others = complement(a)
    assert language(others, strings) == set(strings) - in_a
    masks = [label.mask for _, label, _ in others.edges if isinstance(label, ByteSet)]
    assert len(masks) == len(others.edges)
    assert max(masks) < 1 << 256


@given(expressions(TEXT_LEAVES))
@settings(max_examples=60, deadline=None)
def test_results_are_minimal_and_trimmed(a: Expr) -> None:
    once = intersect(a)
    assert intersect(once, Alt((a, a))) == once
    assert complement(complement(a)) == once
    ends = {source for source, _, _ in once.edges} | set(once.finals)
    assert ends | {once.start} == set(range(once.n_states))


def test_what_is_empty() -> None:
    nothing = intersect(literal("a"), literal("b"))
    assert nothing == Graph(1, 0, (), ())
    assert difference(literal("a"), pattern("[ab]*")) == nothing
    assert complement(pattern(r"[^]*")) == nothing
    assert language(complement(NEVER), TEXTS) == set(TEXTS)
    assert intersect(Repeat(EMPTY, 3, 1)) == nothing


def test_many_parts_and_one() -> None:
    parts = [pattern(f"[ab]*{last}[ab]?") for last in "ab"]
    assert language(intersect(*parts), TEXTS) == language(pattern("[ab]*(ab|ba)"), TEXTS)
    with pytest.raises(ValueError, match="has parts"):
        intersect()


# --- rules ---------------------------------------------------------------------------------------------

A, B, C = literal("a"), literal("b"), char("é")
GROUPS: dict[str, dict[str, Expr]] = {
    "plain": {"x": Seq((Ref("y"), Ref("y"))), "y": Alt((A, Ref("z"))), "z": B},
    "right": {"x": Alt((Seq((A, Ref("x"))), B))},
    "left": {"x": Alt((Seq((Ref("x"), A)), B))},
    "right, two": {
        "x": Seq((A, Ref("y"))),
        "y": Alt((Seq((B, C, Ref("x"))), EMPTY, Ref("z"))),
        "z": C,
    },
    "left, two": {"x": Alt((Seq((Ref("y"), A)), A)), "y": Alt((Seq((Ref("x"), B)), C))},
    "unit loop": {"x": Alt((Ref("x"), A))},
    "right, optional": {"x": Seq((A, Repeat(Ref("x"), 0, 1)))},
    "right, once": {"x": Seq((A, Alt((Repeat(Ref("x"), 1, 1), B))))},
    "left, optional": {"x": Seq((Repeat(Ref("x"), 0, 1), A, B))},
    "endless": {"x": Seq((A, Ref("x")))},
    "right below another": {"x": Seq((Ref("y"), Ref("y"))), "y": Seq((A, Repeat(Ref("y"), 0, 1)))},
    "left in right": {
        "x": Alt((Seq((Ref("y"), Ref("x"))), C)),
        "y": Alt((Seq((Ref("y"), A)), B)),
    },
    "graph, right": {"x": Graph(3, 0, (1, 2), ((0, A, 0), (0, B, 1), (0, Seq((C, Ref("x"))), 2)))},
    "graph, left": {"x": Graph(3, 0, (2,), ((0, Ref("x"), 1), (0, B, 1), (1, A, 2), (2, A, 1)))},
    "graph, dead edge": {"x": Graph(3, 0, (1,), ((0, Ref("x"), 2), (0, B, 1)))},
}


@pytest.mark.parametrize("name", GROUPS)
def test_rules_are_followed(name: str) -> None:
    rules = GROUPS[name]
    graph = intersect(Ref("x"), rules=rules)
    assert not any(isinstance(part, Ref) for part in walk(graph))
    assert language(graph, TEXTS) == language(Ref("x"), TEXTS, rules)
    use = Seq((Repeat(C, 0, 1), Ref("x")))
    others = set(TEXTS) - language(use, TEXTS, rules)
    assert language(complement(use, rules=rules), TEXTS) == others


def test_an_object_may_stand_in_a_group_and_outside() -> None:
    shared = Seq((A, Ref("x")))
    rules: dict[str, Expr] = {"x": Alt((shared, B)), "y": Seq((C, shared))}
    part = Seq((Ref("y"), shared))
    assert language(intersect(part, rules=rules), TEXTS) == language(part, TEXTS, rules)


STUCK: dict[str, tuple[dict[str, Expr], str]] = {
    "middle": (
        {"x": Alt((Seq((A, Ref("x"), B)), EMPTY))},
        "rule 'x' uses itself elsewhere than at its end",
    ),
    "both ends": ({"x": Alt((Seq((Ref("x"), Ref("x"))), A))}, "rule 'x' uses itself"),
    "mixed": (
        {"x": Alt((Seq((A, Ref("y"))), A)), "y": Seq((Ref("x"), B))},
        "rule 'y' uses rule 'x', which leads back to it, elsewhere",
    ),
    "repeated": ({"x": Alt((Repeat(Seq((A, Ref("x"))), 2, 2), B))}, "rule 'x' uses itself"),
    "graph": ({"x": Graph(2, 0, (1,), ((0, Ref("x"), 1), (1, A, 1), (0, A, 0)))}, "uses itself"),
    "token": ({"x": Seq((A, Token((1,))))}, "it names a token"),
    "below": ({"x": Seq((A, Ref("y"))), "y": Alt((Seq((A, Ref("y"), B)), B))}, "rule 'y' uses"),
}


@pytest.mark.parametrize("name", STUCK)
def test_rules_that_are_not_regular(name: str) -> None:
    rules, message = STUCK[name]
    with pytest.raises(NotRegular, match="this is not regular: ") as caught:
        complement(Ref("x"), rules=rules)
    assert message in str(caught.value)
    assert isinstance(caught.value.part, Ref | Token)


NAMES = ("x", "y", "z")
BODIES: st.SearchStrategy[Expr] = st.recursive(
    st.one_of(
        st.sampled_from([A, B, C, EMPTY, literal("ab")]),
        st.sampled_from(NAMES).map(Ref),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: Seq(tuple(items))),
        st.lists(inner, max_size=3).map(lambda items: Alt(tuple(items))),
        st.tuples(inner, st.sampled_from([(0, None), (0, 1), (1, 1), (2, 2)])).map(
            lambda made: Repeat(made[0], *made[1])
        ),
        st.tuples(inner, inner, inner).map(
            lambda three: Graph(
                3, 0, (1, 2), ((0, three[0], 1), (0, three[1], 0), (0, three[2], 2))
            )
        ),
    ),
    max_leaves=5,
)


@given(st.fixed_dictionaries(dict.fromkeys(NAMES, BODIES)), st.sampled_from(["xy", "yz", "x"]))
@settings(max_examples=150, deadline=None)
def test_random_rules_mean_what_they_say_or_are_refused(rules: dict[str, Expr], use: str) -> None:
    part = Seq((*(Ref(name) for name in use), B))
    try:
        graph = difference(part, literal("ab"), rules=rules)
    except NotRegular as error:
        assert isinstance(error.part, Ref)  # noqa: PT017
        return
    texts = [text for text in TEXTS if len(text) < 5]
    assert language(graph, texts) == language(part, texts, rules) - {b"ab"}


def test_rules_that_are_not_there() -> None:
    with pytest.raises(ValueError, match="'x' is not defined"):
        intersect(Ref("x"))


def test_depth_is_no_limit() -> None:
    chain: dict[str, Expr] = {f"r{i}": Seq((A, Ref(f"r{i + 1}"))) for i in range(3000)}
    chain["r3000"] = B
    assert len(intersect(Ref("r0"), rules=chain).edges) == 3001
    deep: Expr = A
    for _ in range(20_000):
        deep = Seq((Alt((deep,)), EMPTY))
    assert resolve([deep], {})[0] is deep
    assert rewrite(deep, lambda part: None) is deep


def test_a_doubling_is_met_once_and_refused_in_the_end() -> None:
    rules: dict[str, Expr] = {f"r{i}": Seq((Ref(f"r{i + 1}"), Ref(f"r{i + 1}"))) for i in range(40)}
    rules["r40"] = A
    with pytest.raises(GrammarTooComplex) as caught:
        intersect(Ref("r0"), rules=rules, names=["doubled"])
    assert caught.value.rule == "doubled"


# --- budgets -------------------------------------------------------------------------------------------


def test_budgets_name_the_part() -> None:
    wide = pattern("[ab]*a[ab]{17}")
    with pytest.raises(GrammarTooComplex) as caught:
        intersect(A, wide, names=["small", "wide"])
    assert caught.value.rule == "wide"
    with pytest.raises(GrammarTooComplex) as caught:
        complement(pattern("a{30}"), max_states=20)
    assert (caught.value.rule, caught.value.limit) == ("part 1", 20)
    assert caught.value.budget == "states of a finite automaton"
    with pytest.raises(GrammarTooComplex) as caught:
        intersect(pattern("(a{7})*"), pattern("(a{11})*"), pattern("(a{13})*"), max_states=500)
    assert caught.value.rule == "part 1 and part 2 and part 3"
    with pytest.raises(GrammarTooComplex):
        intersect(Repeat(A, 1_000_000, 1_000_000))

"""The one builder: what grows is smooth in size, any grammar may stand in any other, what is large is no other case."""

from __future__ import annotations

from random import Random

import pytest

import workbench as wb
from tests.engine.walks import ids_of, mask_of
from workbench.automaton.build import build_automaton
from workbench.grammar.analysis import analyse
from workbench.grammar.ir import (
    Alt,
    Expr,
    Grammar,
    Literal,
    Ref,
    Repeat,
    Seq,
    literal,
)

BYTES = wb.Vocabulary.from_bytes([bytes([i]) for i in range(256)], [])
a, b = Literal(b"a"), Literal(b"b")


def accepts(matcher: wb.Matcher, text: bytes) -> bool:
    """Whether a text is one of the grammar's."""
    matcher.reset()
    return matcher.accept_tokens(list(text)) == len(text) and matcher.is_accepting


@pytest.mark.parametrize("n", [10, 300, 700, 2000])
def test_rules_that_lead_back_to_the_start(n: int) -> None:
    """``root ::= r0 | ... | rN``, ``ri ::= "k{i}" root?``: of any size, in states linear in it."""
    start = Alt(tuple(Ref(f"r{i}") for i in range(n)))
    rules: dict[str, Expr] = {"root": start}
    for i in range(n):
        rules[f"r{i}"] = Seq((literal(f"k{i}"), Repeat(Ref("root"), 0, 1)))
    compiled = wb.compile(Grammar(rules, "root"), BYTES, cache=False)
    matcher = compiled.matcher()
    assert accepts(matcher, b"k1k3" + f"k{n - 1}k0".encode())
    assert not accepts(matcher, b"k1k" + str(n).encode() + b"k")
    assert not accepts(matcher, b"k1k")
    assert compiled.automaton.complete().n_states < 12 * n


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


def test_a_counted_part_that_is_nested_ten_thousand_deep() -> None:
    part: Expr = a
    for _ in range(10_000):
        part = Seq((part, Alt((b, Literal(b"c")))))
    rules: dict[str, Expr] = {"root": Seq((Repeat(part, 2, 1000), Literal(b"x" * 40_000)))}
    vocabulary = wb.Vocabulary.from_bytes([b"a", b"b", b"c", b"x", b""], 4)
    matcher = wb.compile(Grammar(rules, "root"), vocabulary).matcher()
    assert matcher.accept_tokens([0, *[1, 2] * 5_000, 0]) == 10_002
    assert ids_of(mask_of(matcher)) == [1, 2]


SCHEMA = {
    "type": "object",
    "properties": {"n": {"type": "integer"}, "t": {"type": "array", "uniqueItems": True}},
    "required": ["n"],
}


@pytest.mark.parametrize("order", ["schema", "any"])
def test_a_schema_in_a_grammar_of_lines(order: str) -> None:
    """Its rules copied among others keep names that come once and items that differ."""
    inner = wb.json_schema(SCHEMA, property_order=order, whitespace="compact")  # type: ignore[arg-type]
    line = Ref(inner.start)
    rules = {
        **dict(inner.rules),
        "lines": Seq((line, Repeat(Seq((Literal(b"\n"), line)), 0, None))),
    }
    matcher = wb.compile(Grammar(rules, "lines"), BYTES, cache=False).matcher()
    assert accepts(matcher, b'{"n":1}\n{"n":2,"t":[1,2],"x":{"n":1}}\n{"n":3}')
    assert not accepts(matcher, b'{"n":1}\n{"n":2,"t":[1,1]}')
    assert not accepts(matcher, b'{"n":1}\n{"n":2,"n":3}')
    assert not accepts(matcher, b'{"n":1}\n{"t":[]}')
    assert not accepts(matcher, b'{"n":1}\n')


def test_eight_properties_in_any_order_in_another_grammar_stay_small() -> None:
    names = {f"p{i}": {"type": "integer"} for i in range(8)}
    schema = {"type": "object", "properties": names, "additionalProperties": False}
    inner = wb.json_schema(schema, property_order="any", whitespace="compact")
    rules = {**dict(inner.rules), "two": Seq((Ref(inner.start), Ref(inner.start)))}
    compiled = wb.compile(Grammar(rules, "two"), BYTES, cache=False)
    assert compiled.automaton.complete().n_states < 400
    matcher = compiled.matcher()
    assert accepts(matcher, b'{"p7":1,"p0":2}{"p0":1,"p3":1,"p1":5}')
    assert not accepts(matcher, b'{"p7":1,"p0":2}{"p0":1,"p3":1,"p0":5}')


def test_rules_that_are_copied_within_rules_that_are_copied_do_not_multiply() -> None:
    rules: dict[str, Expr] = {"r0": Literal(b"ab")}
    for i in range(1, 60):
        rules[f"r{i}"] = Seq((Ref(f"r{i - 1}"), Ref(f"r{i - 1}")))
    automaton = build_automaton(Grammar(rules, "r59"))
    assert automaton.complete().n_states < 5_000


def test_a_use_that_stands_in_many_places_is_as_many_uses() -> None:
    """One object for all uses of a rule: it is called, not copied a thousand times."""
    use, comma = Ref("x"), Literal(b",")
    rules: dict[str, Expr] = {
        "root": Seq((use, comma) * 1000),
        "x": Seq(tuple(Alt((literal(f"a{i}"), b)) for i in range(500))),
    }
    assert analyse(rules, "root").used["root"] == {"x": 1000}
    assert build_automaton(Grammar(rules, "root")).complete().n_states < 6_000


LEFT: list[tuple[dict[str, Expr], list[bytes], list[bytes]]] = [
    # a counted part at the left end of its own rule
    (
        {"root": Alt((Seq((Repeat(Seq((Ref("root"), b)), 8, 12), a)), a))},
        [b"a", b"ab" * 8 + b"a", b"ab" * 12 + b"a", (b"ab" * 8 + b"a") + b"b" + b"ab" * 7 + b"a"],
        [b"ab" * 7 + b"a", b"ab" * 13 + b"a", b"ab"],
    ),
    # behind what may be empty, through another rule
    (
        {
            "root": Alt((Seq((Repeat(b, 0, 1), Ref("x"))), a)),
            "x": Seq((Ref("root"), Literal(b"c"))),
        },
        [b"a", b"ac", b"bac", b"bbacc", b"bacc"],
        [b"c", b"b", b"ba", b"bbac", b"abc"],
    ),
    # rules that may be empty, left of themselves
    (
        {"root": Alt((Seq((Ref("root"), Ref("root"), b)), Literal(b""), a))},
        [b"", b"a", b"b", b"ab", b"aab", b"bbb", b"abab"],
        [b"aa", b"aba"],
    ),
    # one is the other
    (
        {"root": Ref("x"), "x": Alt((Ref("y"), Seq((Ref("root"), a)))), "y": Alt((Ref("x"), b))},
        [b"b", b"ba", b"baa"],
        [b"", b"a", b"ab", b"bb"],
    ),
]


@pytest.mark.parametrize(("rules", "yes", "no"), LEFT)
def test_left_recursion(rules: dict[str, Expr], yes: list[bytes], no: list[bytes]) -> None:
    matcher = wb.compile(Grammar(rules, "root"), BYTES, cache=False).matcher()
    for text in yes:
        assert accepts(matcher, text), text
    for text in no:
        assert not accepts(matcher, text), text


def test_an_operator_between_expressions_needs_no_frame() -> None:
    """``E -> E "+" E | n``: the stack does not grow with the text."""
    e = Ref("e")
    grammar = Grammar({"e": Alt((Seq((e, Literal(b"+"), e)), Literal(b"n")))}, "e")
    automaton = build_automaton(grammar)
    assert len(automaton.call_entry) == 0
    matcher = wb.compile(grammar, BYTES, cache=False).matcher()
    assert accepts(matcher, b"n" + b"+n" * 500)


def test_what_starts_with_nothing_and_leads_back_to_the_start() -> None:
    """The empty text belongs to the whole, not to the frames within."""
    rules: dict[str, Expr] = {"root": Alt((Seq((a, Ref("root"), b)), Literal(b"")))}
    matcher = wb.compile(Grammar(rules, "root"), BYTES, cache=False).matcher()
    assert accepts(matcher, b"") and accepts(matcher, b"aaabbb") and accepts(matcher, b"ab")
    assert not accepts(matcher, b"a") and not accepts(matcher, b"abb")


def test_what_schemas_have_in_common_is_built_once() -> None:
    one, other = (
        wb.json_schema({"type": "object", "properties": {name: {}}}) for name in ("a", "b")
    )
    assert one.rules["value"] is other.rules["value"]
    first, second = (wb.compile(grammar, BYTES, cache=False).automaton for grammar in (one, other))
    begin = int(first.entry_state[first.entry_names.index("value")])
    assert begin == second.entry_state[second.entry_names.index("value")] < first.start
    # each grows on its own
    assert first.state_rules[first.start] == second.state_rules[second.start] == ("root",)
    edges = first.edge_lo.tolist()
    second.complete()
    assert first.edge_lo.tolist() == edges


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"whitespace": "compact", "unique_keys": False},
        {"separators": (", ", ": "), "numbers": "plain", "ascii_only": True},
        {"whitespace": "any", "property_order": "any", "max_digits": None},
    ],
)
def test_masks_are_the_same_where_nothing_is_shared(options: dict[str, object]) -> None:
    """With small budgets every grammar builds all of its rules itself."""
    schema = {"properties": {"a": {"type": ["string", "integer"]}, "b": {}}, "required": ["b"]}
    grammar = wb.json_schema(schema, **options)  # type: ignore[arg-type]
    few = wb.Budgets(states=1500, positions=1500)
    shared = wb.compile(grammar, BYTES, cache=False)
    alone = wb.compile(grammar, BYTES, few, cache=False)
    assert shared.automaton.entry_names[0] == "value" != alone.automaton.entry_names[0]
    one, other = shared.matcher(), alone.matcher()
    for byte in b'{"a":"x1\\u00e9","b":{"c":[1.5,null,true,{"":{},"d":"e"}],"f":-0},"g":""}':
        assert ids_of(mask_of(one)) == ids_of(mask_of(other))
        if not one.accept(byte):
            assert not other.accept(byte)
            one.accept(ord(" ")), other.accept(ord(" "))
            assert one.accept(byte) == other.accept(byte)
        else:
            assert other.accept(byte)


@pytest.mark.parametrize("schema", [True, {"type": "string"}, {"type": "object"}, {"items": {}}])
def test_a_schema_that_is_a_shared_rule(schema: dict[str, object] | bool) -> None:
    matcher = wb.compile(wb.json_schema(schema), BYTES, cache=False).matcher()
    texts = {b'"a"': True, b'{"a":[1]}': schema != {"type": "string"}, b"1,": False}
    if schema == {"type": "object"}:
        texts[b'"a"'] = False
    for text, fits in texts.items():
        assert accepts(matcher, text) == fits

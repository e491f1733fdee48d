"""Compositions mean what their parts mean: held against ``re``, a matcher that goes back, and lists of short texts."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import workbench as wb
from tests.frontends.composed import (
    Backtracking,
    Plan,
    grammar_of,
    pattern_of,
    plans,
    rule_bodies,
    texts_of,
)
from workbench.cli import main
from workbench.grammar.fingerprint import fingerprint
from workbench.grammar.ir import Grammar

BYTES = wb.Vocabulary.from_bytes(
    [*(bytes([i]) for i in range(256)), b"", b""], [256], special_names={257: "<call>"}
)
SHORT = ["".join(chars) for n in range(6) for chars in product("ab", repeat=n)]
POINT = {
    "type": "object",
    "properties": {"x": {"type": "integer"}, "y": {"type": "integer"}},
    "required": ["x"],
    "additionalProperties": False,
}
any_: Any = wb


def schema(value: object, **options: object) -> Grammar:
    return wb.json_schema(value, whitespace="compact", **options)  # type: ignore[arg-type]


def accepts(grammar: Grammar, *pieces: str | bytes | int) -> bool:
    """Whether texts and tokens, one after the other, are a text of the grammar."""
    try:
        matcher = wb.compile(grammar, BYTES).matcher()
    except wb.UnsatisfiableGrammar:
        return False
    for piece in pieces:
        data = piece.encode() if isinstance(piece, str) else piece
        ids = [data] if isinstance(data, int) else list(data)
        if matcher.accept_tokens(ids) < len(ids):
            return False
    return matcher.is_accepting


@given(plans())
@settings(max_examples=120)
def test_a_composition_means_what_re_says(plan: Plan) -> None:
    grammar, pattern = grammar_of(plan), re.compile(pattern_of(plan))
    for text in SHORT:
        assert accepts(grammar, text) == (pattern.fullmatch(text) is not None), text


@given(plans())
@settings(max_examples=120)
def test_captures_are_those_of_a_matcher_that_goes_back(plan: Plan) -> None:
    grammar = grammar_of(plan)
    for text in SHORT[:40]:
        found = wb.match(grammar, text)
        spans = None if found is None else tuple((c.name, c.start, c.end) for c in found.captures)
        assert spans == Backtracking(text).first(plan), text


@given(plans())
@settings(max_examples=40)
def test_captures_change_no_mask(plan: Plan) -> None:
    def without(one: Plan) -> Plan:
        parts = tuple(map(without, one.parts))
        return (
            parts[0]
            if one.kind == "capture"
            else Plan(one.kind, parts, one.text, one.least, one.most)
        )

    try:
        marked = wb.compile(grammar_of(plan), BYTES).matcher()
    except wb.UnsatisfiableGrammar:
        return
    plain = wb.compile(grammar_of(without(plan)), BYTES).matcher()
    masks = wb.empty_mask(BYTES), wb.empty_mask(BYTES)
    for text in SHORT:
        marked.reset()
        plain.reset()
        reached = marked.accept_tokens(list(text.encode()))
        assert reached == plain.accept_tokens(list(text.encode()))
        if reached == len(text):
            marked.fill_mask(masks[0])
            plain.fill_mask(masks[1])
            assert np.array_equal(*masks)


def test_the_examples_of_the_page_work() -> None:
    text = (Path(__file__).parents[2] / "docs" / "composition.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(blocks) > 6
    names: dict[str, Any] = {}
    for block in blocks:
        exec(block, names)
    assert accepts(names["grammar"], 'get_weather({"city":"x"})\nAnswer: unknown')


@given(rule_bodies("pq"), rule_bodies("pq"))
@settings(max_examples=150)
def test_definitions_are_the_least_sets_that_fit(p: Plan, q: Plan) -> None:
    """Recursion of any kind, by sets of short texts that grow until nothing is new."""
    most = 4
    rules = {"p": frozenset[str](), "q": frozenset[str]()}
    while True:
        more = {"p": texts_of(p, rules, most), "q": texts_of(q, rules, most)}
        if more == rules:
            break
        rules = more
    grammar = wb.define(p=grammar_of(p), q=grammar_of(q))
    for n in range(most + 1):
        for chars in product("ab", repeat=n):
            text = "".join(chars)
            assert accepts(grammar, text) == (text in rules["p"]), text
            assert (wb.match(grammar, text) is not None) == (text in rules["p"]), text


def test_recursive_definitions_are_context_free() -> None:
    """As many ``b`` as ``a``, nested; by a set that grows until no short text is new."""
    grammar = wb.define(
        pair=wb.seq("a", wb.repeat(wb.ref("pair")), "b"),
    )
    texts = {"ab"}
    while True:
        inner = {"", *texts, *(a + b for a in texts for b in texts)}
        more = {f"a{text}b" for text in inner if len(text) <= 4} | texts
        if more == texts:
            break
        texts = more
    longest = max(map(len, texts))
    assert longest == 6
    for n in range(7):
        for chars in product("ab", repeat=n):
            text = "".join(chars)
            assert accepts(grammar, text) == (text in texts), text


def test_names_mean_the_innermost_definition() -> None:
    inner = wb.define(x=wb.alt("1", wb.ref("y") + "!"))
    outer = wb.define({"x": wb.seq("<", inner, wb.optional(wb.ref("x")), ">"), "y": "2"})
    for text in ("<1>", "<2!>", "<1<2!>>"):
        assert accepts(outer, text)
    for text in ("1", "<2>", "<1", "<<1>>"):
        assert not accepts(outer, text)
    # what is open means something else in another definition
    use = "(" + wb.ref("y") + ")"
    both = wb.define(y="a", start=use) + wb.define(start=use, y="b")
    assert accepts(both, "a(b)") and not accepts(both, "a(a)")


def test_mutual_and_left_recursion() -> None:
    total = wb.define(
        sum=wb.alt(wb.ref("sum") + "+" + wb.ref("term"), wb.ref("term")),
        term=wb.alt(wb.regex("[0-9]+"), wb.seq("(", wb.ref("sum"), ")")),
    )
    assert accepts(total, "1+(2+3)+44") and not accepts(total, "1+(2+3")
    assert list(total.rules)[:3] == ["root", "sum", "term"]


def test_a_name_without_a_definition() -> None:
    grammar = wb.seq("a", wb.ref("b"))
    assert repr(grammar) == "<Grammar composed: 0 rules, start 'root'>"
    with pytest.raises(ValueError, match=r"'b' is used but not defined: .*define"):
        wb.compile(grammar, BYTES)
    assert accepts(wb.define(start=grammar, b="c"), "ac")


def test_any_grammar_inside_any_other() -> None:
    grammar = wb.repeat(
        wb.alt(
            wb.seq("s", schema(POINT)),
            wb.seq("o", schema(POINT, property_order="any")),
            wb.seq("u", schema({"type": "array", "uniqueItems": True})),
            wb.seq("r", wb.regex("(?i)yes|no")),
            wb.seq("g", wb.gbnf('root ::= "(" root ")" | "."')),
            wb.seq("t", wb.from_type(list[bool])),
            wb.seq("j", wb.json_text()),
            wb.seq("d", wb.difference(wb.regex("[a-c]{2}"), wb.regex("ab"))),
            wb.seq("c", wb.token("<call>")),
        ),
        separator=";",
    )
    assert accepts(grammar, 's{"x":1};o{"y":2,"x":1};u[1,2];rYES;g((.));t[true];j{};dac;c', 257)
    for text in ('s{"y":2,"x":1}', 'o{"y":2,"y":1}', "u[1,1]", "g((.)", "dab", "c<call>", ";"):
        assert not accepts(grammar, text), text


def test_rules_that_are_written_on_demand_stay_so() -> None:
    deep: object = {"type": "integer"}
    for i in range(300):
        deep = {"type": "object", "properties": {f"a{i}": deep, f"b{i}": {"type": "object"}}}
    part = schema(deep)
    assert accepts(wb.capture("deep", part) + "\n", "{}\n")
    assert len(part.rules.emitted) < 100  # type: ignore[attr-defined]


def test_a_grammar_that_stands_twice_is_one_set_of_rules() -> None:
    part = schema(POINT)
    once, twice = wb.seq("a", part), wb.seq(part, ",", wb.seq("b", part))
    assert len(twice.rules) == len(once.rules)
    assert [*twice.rules.parts.values()] == [part]  # type: ignore[attr-defined]
    doubled = wb.regex("[a-z]+")
    for _ in range(60):
        doubled = wb.alt(doubled, doubled + "," + doubled)
    assert len(doubled.rules) < 130
    assert accepts(doubled, "a,b,c")


@pytest.mark.parametrize(
    "name",
    ['x" | [^;]* "', "a.b", "", "root", "a # b", "x\ny", "é" * 500, "a › b", "\ud800", "part~2"],
)
def test_any_text_is_a_name(name: str, tmp_path: Path) -> None:
    """Names are data: they change no rule, and come back as they are."""
    part = schema(POINT)
    grammar = wb.seq(wb.capture(name, part), ";", wb.capture(name, "z"), wb.define({name: "!"}))
    assert accepts(grammar, '{"x":1};z!')
    for text in (";z!", '{"x":1};z', 'x";z!', "anything;z!"):
        assert not accepts(grammar, text)
    found = wb.match(grammar, '{"x":1};z!')
    assert found is not None
    assert [(c.name, c.bytes) for c in found.captures] == [(name, b'{"x":1}'), (name, b"z")]
    again = wb.from_rules(wb.to_rules(grammar))
    assert wb.match(again, '{"x":1};z!') == found
    wb.compile(grammar, BYTES).save(tmp_path / "it")
    read = wb.load_compiled(tmp_path / "it", BYTES)
    assert wb.match(read, '{"x":1};z!') == found


@pytest.mark.parametrize(
    ("stops", "text"),
    [
        (("ab",), "aab"),
        (("aba", "b"), "aaab"),
        (("é", "€"), "aéaé€"),
        (("aa",), "abaaab"),
        (("ab", "b"), "aab"),
        ((b"\xff\x00", b"\xff"), "ab"),
    ],
)
def test_free_text_until_a_stop(stops: tuple[Any, ...], text: str) -> None:
    """Every text over the characters of the stops: the first stop ends it, and it holds none."""
    free, whole = wb.text_until(*stops), wb.text_until(*stops, include=True)
    alphabet = [
        *{c for s in stops for c in (s if isinstance(s, str) else [bytes([b]) for b in s])},
        "x",
    ]
    as_bytes = [s.encode() if isinstance(s, str) else s for s in stops]
    for n in range(5):
        for chars in product(alphabet, repeat=n):
            data = b"".join(c.encode() if isinstance(c, str) else c for c in chars)
            first = min((data.find(s) + len(s) for s in as_bytes if s in data), default=-1)
            assert accepts(whole, data) == (first == len(data)), data
            # a text before: with some stop behind it that is the first one
            before = any(
                min((d.find(s) + len(s) for s in as_bytes if s in d), default=-1) == len(d)
                for d in (data + stop for stop in as_bytes)
            )
            assert accepts(free, data) == before, data
            assert not before or not any(s in data for s in as_bytes)


def test_tokens_by_name_by_id_and_negated() -> None:
    assert accepts(wb.seq("a", wb.token("<call>"), wb.token(257, "<call>")), "a", 257, 257)
    assert not accepts(wb.seq("a", wb.token("<call>")), "a<call>")
    other = wb.token("<call>", negated=True)
    assert accepts(other, 65) and not accepts(other, 257) and not accepts(other, 256)


def test_operators_take_texts_on_both_sides() -> None:
    word = wb.regex("[a-c]")
    assert accepts("<" + word + b">", "<a>")
    assert accepts("x" | word | b"y", "x") and accepts("x" | word | b"y", "y")
    chain = word
    for _ in range(3000):
        chain = chain + "," + word
    assert len(chain.rules) == 2
    assert accepts(chain, "a" + ",b" * 3000)
    nested: Any = "x"
    for _ in range(10_000):
        nested = wb.seq("(", nested, ")")
    assert accepts(nested, "(" * 10_000 + "x" + ")" * 10_000)


def test_outcomes_have_the_names_of_their_parts() -> None:
    part = schema({"type": "string", "format": "no such"})
    grammar = wb.seq(
        wb.capture("who", part), "-", wb.capture("deep", wb.seq(wb.capture("in", part)))
    )
    assert {o.pointer.partition("#")[0] for o in grammar.outcomes} == {"schema"}
    one = wb.capture("who", part)
    assert [o.pointer for o in one.outcomes] == ["who" + o.pointer for o in part.outcomes]


def test_equal_compositions_are_equal_and_others_are_not() -> None:
    def made(name: str = "n", **options: object) -> Grammar:
        return wb.seq("a", wb.capture(name, schema(POINT, **options)))

    assert fingerprint(made()) == fingerprint(made()) is not None
    assert fingerprint(made()) != fingerprint(made("m"))
    assert fingerprint(made()) != fingerprint(made(property_order="any"))


@pytest.mark.parametrize(
    "grammar",
    [
        wb.seq("a", wb.regex("b+")) | "c",
        wb.seq("id ", wb.capture("n", wb.regex("[0-9]+"))),
        wb.repeat(wb.capture('x" | y', schema(POINT, property_order="any")), separator=","),
        wb.seq(schema({"type": "array", "uniqueItems": True, "items": {"enum": [1, 2]}}), "!"),
        wb.define(e=wb.alt("a", "(" + wb.ref("e") + ")")),
    ],
    ids=str,
)
def test_a_composition_can_be_exported(grammar: Grammar, tmp_path: Path) -> None:
    texts = ["abb", "c", "id 42", '{"y":1,"x":2}', "[1,2]!", "[1,1]!", "((a))", "", "(a"]
    accepted = [text for text in texts if accepts(grammar, text)]
    assert accepted
    tests = {"accept": accepted, "reject": [text for text in texts if text not in accepted]}
    path = tmp_path / "it.zip"
    wb.export(grammar, path, tests=tests, title="composed")
    assert wb.verify(path).ok
    made = wb.export(grammar, tmp_path / "files", tests=tests, targets=["python", "pytest"])
    names: dict[str, Any] = {}
    exec((tmp_path / "files" / "grammar.py").read_text(), names)
    for text in texts:
        assert accepts(names["grammar"], text) == (text in accepted)
    assert made.written


def test_commands_read_what_was_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "it.rules.json"
    path.write_text(wb.to_rules(wb.seq("a", wb.capture("n", schema(POINT)))), encoding="utf-8")
    assert main(["check", str(path)]) == 0
    path.rename(tmp_path / "it.rules")
    assert main(["check", str(tmp_path / "it.rules")]) == 0
    (tmp_path / "it.rules").write_text("{}")
    assert main(["check", str(tmp_path / "it.rules")]) != 0
    assert "this is no text that to_rules wrote" in capsys.readouterr().err

"""What ``lint`` finds: what each finding says and where, and random grammars against all their short texts."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import assume, given, settings, strategies as st

import workbench as wb
from workbench.cli import main
from workbench.grammar.ir import Alt, CharSet, Expr, Grammar, Literal, Ref, Repeat, Seq

ROOT = Path(__file__).parents[3]


def marked(one: wb.LintFinding, text: str) -> str:
    """The characters that a finding is about."""
    assert one.start is not None and one.end is not None
    return text[one.start : one.end]


def found(text: str, *severities: str) -> list[tuple[str, str]]:
    return [
        (one.kind, marked(one, text))
        for one in wb.lint(wb.gbnf(text))
        if one.severity in (severities or ("error", "warning"))
    ]


WARNED: list[tuple[str, list[tuple[str, str]]]] = [
    ('root ::= "a"\nspare ::= "b"', [("unreachable", 'spare ::= "b"')]),
    ('root ::= "a" | loop\nloop ::= "x" loop', [("unproductive", 'loop ::= "x" loop')]),
    (
        'root ::= "a" | never\nnever ::= [^\\x00-\U0010ffff]',
        [("unproductive", "never ::= [^\\x00-\U0010ffff]")],
    ),
    ('root ::= ("a"?)* "b"', [("empty loop", '("a"?)*')]),
    ('root ::= "(" x ")"\nx ::= y\ny ::= x | "a"', [("empty loop", "x ::= y")]),
    ('root ::= x "a"\nx ::= e x | "b"\ne ::= "c"?', [("empty loop", 'x ::= e x | "b"')]),
    ('root ::= "a" ws "b"\nws ::= [ \\t\\n]*', [("unbounded run", "[ \\t\\n]*")]),
    ('root ::= "a" ws "b"\nws ::= ([ \\t] ws)?', [("unbounded run", "([ \\t] ws)?")]),
    ('root ::= "ab" | "c" | "ab"', [("duplicate", '"ab"')]),
    ('root ::= [ab] "c" | ("a" | "b") "c"', [("duplicate", '("a" | "b") "c"')]),
    ('root ::= "<think>" [a-z]{1,9} "."', [("never closed", '"<think>"')]),
    ('root ::= "<a>" [a-z]{1,9} "</b>"', [("never closed", '"<a>"')]),
    ('root ::= "```json" [a-z]{1,9} "."', [("never closed", '"```json"')]),
]
QUIET = [
    'root ::= "a" [a-z]{1,9} item*\nitem ::= "," [0-9]{1,3}',
    'root ::= "<think>" [a-z]{1,9} "</think>"',
    'root ::= "<" name ">" "x" "</" name ">"\nname ::= "b"',
    'root ::= "one<br>" [a-z]{1,9}',
    'root ::= "List<String> " [a-z]{1,9}',
    'root ::= "copies <from> to <to>"',
    'root ::= "```json" [a-z]{1,9} "```"',
    'root ::= "(" x ")"\nx ::= "a" | "(" x ")"',
    "root ::= [a-z]{2} | [0-9]{2}",
    'root ::= "a" ws "b"\nws ::= [ \\t\\n]{0,20}',
    'root ::= "a"? "b"? "c"',
    'root ::= "x" | root "+" "x"',
]


@pytest.mark.parametrize(("text", "wanted"), WARNED, ids=[row[0][:40] for row in WARNED])
def test_warnings_and_their_places(text: str, wanted: list[tuple[str, str]]) -> None:
    assert found(text) == wanted


@pytest.mark.parametrize("text", QUIET)
def test_nothing_is_said_of_what_is_as_it_should_be(text: str) -> None:
    assert list(wb.lint(wb.gbnf(text))) == []


NOTED: list[tuple[str, list[tuple[str, str]]]] = [
    ('root ::= [a-z]* "." | "x"', [("unbounded run", "[a-z]*")]),
    ('root ::= [a-z]{1,9} | "if"', [("shadowed", '"if"')]),
    ('root ::= "(" [a-z]{1,9}', [("never closed", '"("')]),
    ('root ::= "a"?', [("empty text", 'root ::= "a"?')]),
]


@pytest.mark.parametrize(("text", "wanted"), NOTED, ids=[row[0][:40] for row in NOTED])
def test_notes_and_their_places(text: str, wanted: list[tuple[str, str]]) -> None:
    assert found(text, "info") == wanted


AMBIGUOUS: list[tuple[str, str]] = [
    ("a*a*b", "ab"),
    ("(a+)+", "aa"),
    ("(a|ab)(c|bc)", "abc"),
    ("a?a?b", "ab"),
    ("(ab?){2}b?", "aab"),
    ("a{1,2}a{1,2}", "aaa"),
]


@pytest.mark.parametrize(("pattern", "witness"), AMBIGUOUS)
def test_patterns_that_read_a_text_in_two_ways(pattern: str, witness: str) -> None:
    (one,) = [one for one in wb.lint(wb.regex(pattern)) if one.kind == "ambiguous"]
    assert one.witness == witness and one.severity == "info"
    assert re.fullmatch(pattern, witness)


@pytest.mark.parametrize(
    ("text", "rule", "witness"),
    [
        ('root ::= "=" expr\nexpr ::= expr [+*] expr | "x"', "expr", r"x[+*]x[+*]x"),
        ('root ::= "if" root ("else" root)? | "s"', "root", "ififselses"),
        ('root ::= ws item\nitem ::= ws "x"\nws ::= " "{0,9}', "root", " x"),
        ('root ::= list\nlist ::= list "," list | "1"', "list", "1,1,1"),
    ],
)
def test_rules_that_read_a_text_in_two_ways(text: str, rule: str, witness: str) -> None:
    (one,) = [one for one in wb.lint(wb.gbnf(text)) if one.kind == "ambiguous"]
    assert one.rule == rule and one.witness is not None
    assert re.fullmatch(witness, one.witness)


def test_the_place_is_shown() -> None:
    (one,) = wb.lint(wb.gbnf('root ::= "a" x\nx ::= "b" | "c" | "b"'))
    assert (one.line, one.column) == (2, 19)
    assert one.picture.split("\n") == ['x ::= "b" | "c" | "b"', " " * 18 + "~~~"]
    assert str(one).startswith("warning: line 2, column 19: an alternative of rule 'x'")


def test_grammars_in_grammars() -> None:
    part = wb.capture("word", wb.regex("(x|x)y"))
    report = wb.lint(
        wb.seq("<t>", wb.text_until("</t>", include=True), part, wb.json_schema({"enum": [1, 1]}))
    )
    assert sorted((one.kind, one.pointer) for one in report) == [
        ("duplicate", "schema › #/enum/1"),
        ("duplicate", "word"),
    ]
    (open_,) = wb.lint(wb.seq("<t>", wb.text_until("</t>"), "."))
    assert open_.kind == "never closed" and "nothing can write the </t>" in open_.message


SCHEMAS: list[tuple[Any, list[tuple[str, str, str]]]] = [
    ({"enum": [1, "a", 1]}, [("warning", "duplicate", "#/enum/2")]),
    (
        {"anyOf": [{"type": "integer"}, {"type": "integer", "title": "n"}]},
        [("warning", "duplicate", "#/anyOf/1")],
    ),
    (
        {"properties": {"a": {"anyOf": [{"type": "integer"}, {"type": "number"}]}}},
        [("info", "shadowed", "#/properties/a/anyOf/0")],
    ),
    (
        {"type": "array", "items": {"type": "string"}},
        [("info", "unbounded run", "#/items"), ("info", "unbounded run", "#")],
    ),
    ({"type": "array", "items": {"type": "string", "maxLength": 3}, "maxItems": 2}, []),
    ({"anyOf": [{"type": "integer"}, {"type": "string", "enum": ["a"]}]}, []),
    ({"type": "string", "enum": ["a", "b"]}, []),
]


@pytest.mark.parametrize(("schema", "wanted"), SCHEMAS, ids=[str(row[0])[:40] for row in SCHEMAS])
def test_schemas(schema: Any, wanted: list[tuple[str, str, str]]) -> None:
    assert [
        (one.severity, one.kind, one.pointer) for one in wb.lint(wb.json_schema(schema))
    ] == wanted


SMALL = st.sampled_from(
    [
        *({"type": kind} for kind in ("integer", "number", "string", "boolean", "null")),
        *({"minimum": n, "type": "integer"} for n in (0, 1, 2)),
        {"type": "integer", "maximum": 1},
        {"enum": [1, 2]},
        {"enum": ["a"]},
        {"const": 2},
        {"type": "string", "minLength": 1},
        {"type": ["string", "null"]},
    ]
)
VALUES: list[Any] = [None, True, False, *range(-2, 5), 0.5, -1.5, 2.5, "", "a", "bb"]


@given(st.lists(SMALL, min_size=2, max_size=4))
@settings(max_examples=60)
def test_alternatives_of_a_schema_that_add_nothing(listed: list[Any]) -> None:
    """Those for which no value tells them from another one, and no others."""
    taken = [
        {
            n
            for n, value in enumerate(VALUES)
            if jsonschema.Draft202012Validator(one).is_valid(value)
        }
        for one in listed
    ]
    contents = [json.dumps(one, sort_keys=True) for one in listed]
    wanted = {
        one
        for one, values in enumerate(taken)
        for other, more in enumerate(taken)
        if one != other and contents[one] != contents[other] and values <= more
    }
    report = wb.lint(wb.json_schema({"anyOf": listed}))
    assert {
        int(str(one.pointer).rpartition("/")[2]) for one in report if one.kind == "shadowed"
    } == wanted


# Random grammars: every reading of every short text, counted by building them up.

_MOST = 4


def readings(expr: Expr, rules: Mapping[str, Counter[str]]) -> Counter[str]:
    """In how many ways each text of at most so many characters is read, up to 2."""
    if isinstance(expr, Literal):
        return Counter({expr.data.decode(): 1})
    if isinstance(expr, CharSet):
        return Counter({chr(code): 1 for low, high in expr.ranges for code in range(low, high + 1)})
    if isinstance(expr, Ref):
        return rules[expr.name]
    if isinstance(expr, Alt):
        total: Counter[str] = Counter()
        for item in expr.items:
            total += readings(item, rules)
        return capped(total)
    if isinstance(expr, Seq):
        whole: Counter[str] = Counter({"": 1})
        for item in expr.items:
            whole = joined(whole, readings(item, rules))
        return whole
    assert isinstance(expr, Repeat)
    inner = readings(expr.item, rules)
    some = Counter({text: count for text, count in inner.items() if text})
    rounds: Counter[str] = Counter({"": 1})
    total = Counter()
    for n in range((_MOST if expr.max is None else min(expr.max, _MOST + expr.min)) + expr.min + 1):
        if n > (n if expr.max is None else expr.max):
            break
        if n >= expr.min:
            total += rounds
        rounds = joined(rounds, inner if n < expr.min else some)
    return capped(total)


def joined(left: Counter[str], right: Counter[str]) -> Counter[str]:
    found: Counter[str] = Counter()
    for one, count in left.items():
        for other, more in right.items():
            if len(one + other) <= _MOST:
                found[one + other] += count * more
    return capped(found)


def capped(found: Counter[str]) -> Counter[str]:
    return Counter({text: min(2, count) for text, count in found.items() if len(text) <= _MOST})


def all_readings(rules: Mapping[str, Expr]) -> dict[str, Counter[str]]:
    """The readings of every rule: rounds from none, until nothing changes."""
    known: dict[str, Counter[str]] = {name: Counter() for name in rules}
    while True:
        more = {name: readings(expr, known) for name, expr in rules.items()}
        if more == known:
            return known
        known = more


LEAF = st.sampled_from(
    [Literal(b"a"), Literal(b"b"), Literal(b"ab"), CharSet(((97, 98),)), Literal(b""), Ref("r")]
)
EXPR = st.recursive(
    LEAF,
    lambda inner: st.one_of(
        st.lists(inner, min_size=2, max_size=3).map(lambda items: Seq(tuple(items))),
        st.lists(inner, min_size=2, max_size=3).map(lambda items: Alt(tuple(items))),
        st.tuples(inner, st.sampled_from([(0, 1), (0, None), (1, None), (0, 2), (2, 2)])).map(
            lambda pair: Repeat(pair[0], *pair[1])
        ),
    ),
    max_leaves=6,
)


@given(EXPR, EXPR)
@settings(max_examples=400, deadline=None)
def test_texts_that_are_read_in_two_ways(root: Expr, other: Expr) -> None:
    rules = {"root": root, "r": other}
    report = wb.lint(Grammar(rules, "root"))
    kinds = {one.kind for one in report}
    # what goes round without reading anything has no number of readings
    assume("empty loop" not in kinds)
    counts = all_readings(rules)
    for one in report:
        if one.kind == "ambiguous" and one.witness is not None and len(one.witness) <= _MOST:
            assert counts[str(one.rule)][one.witness] > 1
    used = {"root"} | ({"r"} if counts["root"] and "Ref" in repr(root) else set())
    twice = any(count > 1 for name in used for count in counts[name].values())
    if twice and not report.stopped:
        assert kinds & {"ambiguous", "duplicate", "shadowed"}
    if "ambiguous" in kinds and all(len(str(one.witness)) <= _MOST for one in report):
        assert twice


WITHOUT_CHOICE = st.recursive(
    LEAF.filter(lambda leaf: not isinstance(leaf, Ref)),
    lambda inner: st.one_of(
        st.lists(inner, min_size=2, max_size=3).map(lambda items: Seq(tuple(items))),
        st.tuples(inner, st.sampled_from([(0, 1), (0, None), (1, None), (0, 2)])).map(
            lambda pair: Repeat(pair[0], *pair[1])
        ),
    ),
    max_leaves=3,
)


@given(st.lists(WITHOUT_CHOICE, min_size=2, max_size=4))
@settings(max_examples=200, deadline=None)
def test_alternatives_that_add_nothing(items: list[Expr]) -> None:
    """Each is told whose texts another one has, unless that was told to be the same as this one."""
    texts = [set(readings(item, {})) for item in items]
    told: set[int] = set()
    for one in wb.lint(Grammar({"root": Alt(tuple(items))}, "root")):
        if one.kind in ("duplicate", "shadowed"):
            inner, outer = map(
                ["first", "second", "third", "fourth"].index,
                re.findall("first|second|third|fourth", one.message),
            )
            assert texts[inner] <= texts[outer]
            assert (texts[inner] == texts[outer]) or one.kind == "shadowed"
            told.add(inner)
    left = [number for number in range(len(items)) if number not in told]
    for number in left:
        for other in left:
            # what goes on without end may differ in longer texts
            if number != other and all(
                isinstance(items[n], Literal | CharSet) for n in (number, other)
            ):
                assert not texts[number] <= texts[other]


def test_work_is_bounded_and_what_was_left_out_is_told() -> None:
    text = (
        "root ::= r0\n"
        + "\n".join(f'r{n} ::= "a" r{n + 1} | [a-z] r{n + 1}' for n in range(99))
        + '\nr99 ::= "x"'
    )
    report = wb.lint(wb.gbnf(text), work=3)
    assert not report.complete and "not all was looked at" in report.summary
    deep = wb.gbnf("root ::= " + "(" * 400 + '"a"?' + ")*" * 400 + ' "b"')
    assert wb.lint(deep).warnings


def test_calls_have_no_warnings() -> None:
    def act(name: str, times: int = 1) -> None: ...

    for grammar in (wb.calls([act]), wb.calls([act], "json", parallel=True)):
        report = wb.lint(grammar)
        assert not report.errors and not report.warnings


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.gbnf")), ids=lambda p: p.name)
def test_the_examples_have_no_warnings(path: Path) -> None:
    report = wb.lint(wb.gbnf(path.read_text(encoding="utf-8")))
    assert not report.errors and not report.warnings


def test_the_report_is_a_list() -> None:
    report = wb.lint(
        wb.compile(wb.regex("(a|a)b*"), wb.Vocabulary.from_bytes([b"a", b"b", b""], 2))
    )
    assert len(report) == len(list(report)) == 1 and report[0] in report[:1]
    assert report.to_json()["findings"][0]["kind"] == "duplicate" and report.complete
    assert repr(report) == "<LintReport regex grammar: 1 warning>"


def test_the_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "g.gbnf"
    path.write_text('root ::= "a" | "a"')
    assert main(["lint", str(path)]) == 0 and main(["lint", "--strict", str(path)]) == 1
    assert "stands there twice" in capsys.readouterr().out
    assert main(["check", str(path)]) == 0 and main(["check", "--strict", str(path)]) == 1
    assert "stands there twice" in capsys.readouterr().out
    assert main(["lint", "--json", str(path)]) == 0
    assert json.loads(capsys.readouterr().out)["summary"] == "1 warning"
    path.write_text('root ::= "a" root')
    assert main(["lint", str(path)]) == 1
    assert "never ends" in capsys.readouterr().out


def test_wrong_arguments() -> None:
    any_: Any = wb
    with pytest.raises(wb.WrongType, match="lint takes a Grammar"):
        any_.lint("root ::= x")
    with pytest.raises(ValueError, match="lint"):
        wb.lint(wb.regex("a"), work=-1)


def test_the_examples_of_the_page_work(capsys: pytest.CaptureFixture[str]) -> None:
    text = (ROOT / "docs" / "lint.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        exec(block, names)
    printed = capsys.readouterr().out.splitlines()
    assert [line for line in printed if f"    {line}\n" not in text] == []

"""Suggested edits: applied, the grammar compiles, the finding is gone, and no new text has come."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from itertools import product
from random import Random
from typing import Any

import pytest
from hypothesis import assume, given, settings, strategies as st

import workbench as wb
from workbench.diagnostics.dead_ends.cuts import cut
from workbench.diagnostics.dead_ends.dead_ends import dead_ends
from workbench.diagnostics.dead_ends.findings import ABSENT, DeadEndReport, Edit, Finding
from workbench.diagnostics.dead_ends.stuck import stuck_finding
from workbench.diagnostics.dead_ends.suggesting import Effort
from workbench.diagnostics.verdicts import Judge, remake

LETTERS = "abcd"
TEXTS = ["".join(text) for n in range(6) for text in product(LETTERS, repeat=n)]


def vocabulary(*tokens: str) -> wb.Vocabulary:
    return wb.Vocabulary.from_bytes([*(t.encode() for t in tokens), b""], eos_ids=(len(tokens),))


@dataclass(frozen=True)
class Group:
    """Alternatives, each a sequence of letters and groups with a sign that repeats them."""

    alternatives: tuple[tuple[tuple[Any, str], ...], ...]

    def reversed(self) -> Group:
        return Group(
            tuple(
                tuple((x.reversed() if isinstance(x, Group) else x, sign) for x, sign in sequence)
                for sequence in self.alternatives[::-1]
            )
        )

    def pattern(self) -> str:
        def part(x: Any, sign: str) -> str:
            return (x if isinstance(x, str) else f"({x.pattern()})") + sign

        return "|".join("".join(part(*pair) for pair in s) for s in self.alternatives)

    def gbnf(self) -> str:
        """A rule for each group."""
        lines: list[str] = []

        def rule(group: Group) -> str:
            name = f"r{len(lines)}" if lines else "root"
            lines.append("")
            here = len(lines) - 1
            sides = [
                " ".join((f'"{x}"' if isinstance(x, str) else rule(x)) + sign for x, sign in s)
                for s in group.alternatives
            ]
            lines[here] = f"{name} ::= {' | '.join(sides)}"
            return name

        rule(self)
        return "\n".join(lines)


def group(chance: Random, depth: int = 2) -> Group:
    def part() -> tuple[Any, str]:
        sign = chance.choice(["", "", "", "", "?", "*", "{0,2}", "+"])
        if depth and chance.random() < 0.35:
            return group(chance, depth - 1), sign
        return chance.choice(LETTERS), sign

    return Group(
        tuple(
            tuple(part() for _ in range(chance.randint(1, 3))) for _ in range(chance.randint(1, 3))
        )
    )


def tokens(chance: Random) -> list[str]:
    singles = [letter for letter in LETTERS if chance.random() < 0.6] or ["a"]
    longer = {"".join(chance.choices(LETTERS, k=chance.randint(2, 3))) for _ in range(4)}
    return [*singles, *sorted(longer)]


def mended(grammar: wb.Grammar, finding: Finding) -> wb.Grammar:
    assert finding.suggestion is not None
    return remake(grammar.kind, finding.suggestion.apply(grammar.source), grammar.start)


def reported(grammar: wb.Grammar, spelled: wb.Vocabulary) -> DeadEndReport:
    """The dead ends; of a grammar that takes long to search, the example is skipped."""
    report = dead_ends(grammar, spelled, budget=4_000)
    assume(report.complete)
    return report


def places(report: DeadEndReport) -> Counter[Any]:
    """Where tokens get stuck, and how much of which rule can never be written.

    Without the one alternative that could, what can never be written is the rule, not its alternatives.
    """

    def key(found: Finding) -> Any:
        if not found.warning:
            return found.path
        rule = re.search(r"rule '(\w+)'", found.message)
        return rule.group(1) if rule else found.message

    return Counter(map(key, report))


def judged(grammar: wb.Grammar) -> set[str]:
    """The texts of a grammar up to a length."""
    judge = Judge(grammar)
    return {text for text in TEXTS if judge.verdict(text.encode()).accepted}


def matched(pattern: str) -> set[str]:
    compiled = re.compile(pattern)
    return {text for text in TEXTS if compiled.fullmatch(text)}


@given(st.integers(0, 1 << 30))
@settings(max_examples=60, deadline=None)
def test_suggestions_for_patterns(seed: int) -> None:
    """Against Python's own matching; and the order of the alternatives changes nothing."""
    chance = Random(seed)
    made, spelled = group(chance), vocabulary(*tokens(chance))
    left: list[dict[Any, set[str] | None]] = []
    for one in (made, made.reversed()):
        grammar = wb.regex(one.pattern())
        report = reported(grammar, spelled)
        before = places(report)
        told: dict[Any, set[str] | None] = {}
        for found in report:
            key = (found.kind, found.path, found.message)
            told[key] = None
            if found.suggestion is None or not found.suggestion.edits:
                continue
            changed = mended(grammar, found)
            after = places(reported(changed, spelled))
            assert not after - before and after != before, (grammar.source, found)
            left_over = matched(changed.source)
            assert left_over <= matched(grammar.source), (grammar.source, changed.source)
            told[key] = left_over
        left.append(told)
    forward, backward = left
    if all(count == 1 for count in before.values()):
        assert forward == backward


@given(st.integers(0, 1 << 30))
@settings(max_examples=40, deadline=None)
def test_suggestions_for_rules(seed: int) -> None:
    chance = Random(seed)
    made, spelled = group(chance), vocabulary(*tokens(chance))
    grammar = wb.gbnf(made.gbnf())
    report = reported(grammar, spelled)
    before = places(report)
    for found in report:
        if found.suggestion is None or not found.suggestion.edits:
            continue
        changed = mended(grammar, found)
        after = places(reported(changed, spelled))
        assert not after - before and after != before, (grammar.source, found)
        assert judged(changed) <= matched(made.pattern()), (grammar.source, changed.source)


@pytest.mark.parametrize("kind", ["regex", "gbnf"])
@pytest.mark.parametrize(
    ("pattern", "spelled", "kept"),
    [
        # c only comes in cd, so that nothing goes on after a
        ("b|ac", ("a", "b", "cd"), "b"),
        ("ac|b", ("a", "b", "cd"), "b"),
        ("d(b|ac)", ("d", "b", "a", "cd"), "d(b)"),
        ("d(ac|b)", ("d", "b", "a", "cd"), "d(b)"),
        # both go, and with them the group and what it stands in
        ("b|d(ac|aca)", ("d", "b", "a", "cd"), "b"),
        ("d(ac|aca)|b", ("d", "b", "a", "cd"), "b"),
        # what need not come goes by itself
        ("b(ac)?", ("a", "b", "cd"), "b"),
        ("b(ac){0,2}d", ("a", "b", "cb", "d"), "bd"),
        # c may come after a, in ac: what led to the other place goes
        ("(a|bb)c|d", ("b", "ac", "d"), "(a)c|d"),
    ],
)
def test_edits_worked_out_by_hand(
    kind: str, pattern: str, spelled: tuple[str, ...], kept: str
) -> None:
    grammar = wb.regex(pattern)
    if kind == "gbnf":
        grammar = wb.gbnf("root ::= " + re.sub("[abcd]", r'"\g<0>" ', pattern))
    report = dead_ends(grammar, vocabulary(*spelled))
    assert "empty mask" in {found.kind for found in report}
    for found in report:
        changed = mended(grammar, found)
        assert not dead_ends(changed, vocabulary(*spelled)).findings
        assert judged(changed) == matched(kept)


def test_a_search_that_does_not_end_proves_nothing_by_itself() -> None:
    """Brackets nest for ever; whether a place is gone is then asked of the place."""
    text = 'root ::= "(" root ")" | "x" | "ac"'
    tokens = ("(", ")", "x", "a", "cd")
    report = dead_ends(wb.gbnf(text), vocabulary(*tokens), budget=500)
    assert not report.complete and report[0].path == b"a"
    assert mended(wb.gbnf(text), report[0]).source == 'root ::= "(" root ")" | "x"'
    compiled = wb.compile(wb.gbnf(text), vocabulary(*tokens))
    spelling = wb.unspellable(compiled, budget=500)
    place = spelling.places[0]
    for effort, helped in ((Effort(500, 1), True), (Effort(500, 0), False)):
        finding = stuck_finding(compiled, place, spelling, effort=effort)
        assert (finding.suggestion is not None) == helped


def test_an_edit_of_a_pattern_of_bytes() -> None:
    grammar = wb.regex(rb"\xff|\xfea")
    spelled = wb.Vocabulary.from_bytes([b"\xff", b"\xfe", b"ab", b""], eos_ids=3)
    (found,) = dead_ends(grammar, spelled)
    assert found.path == b"\xfe" and mended(grammar, found).source == rb"\xff"


def test_a_rule_that_cannot_be_written_goes_with_what_needs_it() -> None:
    text = 'root ::= "a" list | "b"\nlist ::= "(" item ")"  # items\nitem ::= item "," | "c"'
    found = dead_ends(wb.gbnf(text), vocabulary(*"ab(),"))
    assert {(f.kind, f.rule) for f in found} == {
        ("never written", "list"),
        ("never written", "item"),
    }
    for one in found:
        assert judged(mended(wb.gbnf(text), one)) == {"b"}


@pytest.mark.parametrize(
    ("schema", "edit"),
    [
        (
            {"anyOf": [{"const": "b"}, {"const": "ac"}]},
            Edit([{"const": "b"}, {"const": "ac"}], [{"const": "b"}], "#/anyOf"),
        ),
        (
            {"anyOf": [{"const": "ac"}, {"const": "b"}]},
            Edit([{"const": "ac"}, {"const": "b"}], [{"const": "b"}], "#/anyOf"),
        ),
        ({"enum": ["b", "ac"]}, Edit(["b", "ac"], ["b"], "#/enum")),
        ({"enum": ["ac", "b"]}, Edit(["ac", "b"], ["b"], "#/enum")),
        ({"enum": ["bc", "a", "bca"]}, Edit(["bc", "a", "bca"], ["a"], "#/enum")),
    ],
)
def test_edits_of_schemas(schema: dict[str, Any], edit: Edit) -> None:
    spelled = vocabulary('"', "a", "b", "cd")
    found = [f for f in dead_ends(wb.json_schema(schema), spelled) if f.suggestion]
    assert found and [f.suggestion.edits for f in found if f.suggestion] == [(edit,)] * len(found)
    assert not dead_ends(mended(wb.json_schema(schema), found[0]), spelled).findings


def test_a_member_that_need_not_come() -> None:
    schema = {
        "type": "object",
        "properties": {"b": {"const": 1}, "ac": {"const": 1}},
        "required": ["b"],
        "additionalProperties": False,
    }
    spelled = vocabulary(*'"ab{}:1,', "cd")
    found = dead_ends(wb.json_schema(schema), spelled)
    # after the comma there is no way back, and after a nothing at all
    assert [(f.kind, f.path) for f in found] == [
        ("endless loop", b'{"b":1,'),
        ("empty mask", b'{"b":1,"a'),
    ]
    for one in found:
        assert one.suggestion is not None
        assert one.suggestion.edits == (Edit({"const": 1}, ABSENT, "#/properties/ac"),)


class TestCuts:
    """What is taken out of a text, by hand."""

    def cut(self, text: str, kind: str, *parts: str, names: tuple[str, ...] = ()) -> str | None:
        spans = [(text.index(part), text.index(part) + len(part)) for part in parts]
        edits = cut(text, kind, spans, names)
        for edit in reversed(edits):
            text = edit.apply(text)
        return text if edits else None

    @pytest.mark.parametrize(
        ("text", "parts", "left"),
        [
            ("a|b|c", ("a",), "b|c"),
            ("a|b|c", ("b",), "a|c"),
            ("a|b|c", ("a", "b"), "c"),
            ("a|b|c", ("a", "c"), "b"),
            ("a|b|c", ("a", "b", "c"), None),
            ("x(?:a|b)y|z", ("a",), "x(?:b)y|z"),
            ("x(?<n>a|b)y|z", ("a", "b"), "z"),
            (r"\(a|b\|c", ("b",), r"\(a"),
            (r"[(|)]a|b", ("b",), "[(|)]a"),
            (r"a\u0041?|b", (r"\u0041",), "a|b"),
            ("xa*?y", ("a",), "xy"),
            ("xa{0}y", ("a",), "xy"),
            ("xa{2,}y|b", ("a",), "b"),
            ("(?i)a|b", ("a",), "(?i)b"),
            ("a(b|c)?", ("b", "c"), "a"),
            ("|a", ("a",), ""),
            ("x(?!a|b)c|d", ("a",), "d"),
            ("x(?<=a|b)c|d(e|f)", ("e",), "x(?<=a|b)c|d(f)"),
            ("a?b?cd?e?", ("a", "b", "e"), "cd?"),
        ],
    )
    def test_patterns(self, text: str, parts: tuple[str, ...], left: str | None) -> None:
        assert self.cut(text, "regex", *parts) == left

    @pytest.mark.parametrize(
        ("text", "parts", "left"),
        [
            ('root ::= "a" | "b" # c | "d"', ('"b"',), 'root ::= "a" # c | "d"'),
            ('root ::= "a" |\n  "b" |\n  "c"', ('"b"',), 'root ::= "a" |\n  "c"'),
            ('root ::= ("a" | "b")? "|" "c"', ('"a"', '"b"'), 'root ::= "|" "c"'),
            ('root ::= "a"?\nb ::= "b"', ('"a"',), 'root ::= ""\nb ::= "b"'),
            ('root ::= "a"? "b"*  "c" "d"? "e"?', ('"a"', '"b"', '"d"', '"e"'), 'root ::= "c"'),
            ('root ::= "a"? "b"?', ('"a"', '"b"'), 'root ::= ""'),
            ('root ::= "x" | ~("a" | "b")', ('"a"',), 'root ::= "x"'),
            ('root ::= "x" | until("a")', ('"a"',), 'root ::= "x"'),
            (
                'root ::= b | "x"\nb ::= c "b"\nc ::= "c"',
                ('"c"',),
                'root ::= "x"\nb ::= c "b"\nc ::= "c"',
            ),
            ('root ::= "x" | <t> [a|b]{2}', ("[a|b]",), 'root ::= "x"'),
        ],
    )
    def test_rules(self, text: str, parts: tuple[str, ...], left: str) -> None:
        assert self.cut(text, "gbnf", *parts) == left

    def test_a_rule_that_only_leads_back_goes_too(self) -> None:
        text = 'root ::= "x" | r\nr ::= "y" r | "a"'
        assert self.cut(text, "gbnf", '"a"') == 'root ::= "x"\nr ::= "y" r | "a"'
        assert self.cut(text, "gbnf", names=("r",)) == 'root ::= "x"\nr ::= "y" r | "a"'

    def test_other_texts_are_left_alone(self) -> None:
        assert cut("a | b", "lark", [(0, 1)]) == []
        assert cut("a|b", "regex", [(7, 8)]) == []
        assert cut("(" * 5000 + "a" + ")" * 5000 + "|b", "regex", [(5000, 5001)]) == []

"""Each kind of dead end on small grammars, with answers worked out by hand."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from hypothesis import example, given, settings, strategies as st

import workbench as wb
from tests.diagnostics.dead_ends.test_suggestions import vocabulary
from workbench.automaton.frames import Frame
from workbench.decoding.situation import Watcher, configuration
from workbench.diagnostics.dead_ends.dead_ends import dead_ends
from workbench.diagnostics.dead_ends.findings import ABSENT, DeadEndReport, Edit
from workbench.diagnostics.dead_ends.unwritten import unwritten
from workbench.vocabulary import byte_vocabulary

BYTES = byte_vocabulary()


def found(report: DeadEndReport) -> list[tuple[str, bool, bytes | None]]:
    return [(f.kind, f.warning, f.path) for f in report]


# Bytes that are in no token


@pytest.mark.parametrize(
    ("schema", "letters", "expected", "edit"),
    [
        # é is C3 A9, or an escape, for which there is no backslash
        ({"enum": ["b", "aé"]}, 'ab"', "'é' is in no token", Edit(["b", "aé"], ["b"], "#/enum")),
        (
            {"anyOf": [{"const": 1}, {"enum": ["ü", "b", ["ß"]]}]},
            'b"[]1',
            "2 values can never be written",
            Edit(["ü", "b", ["ß"]], ["b"], "#/anyOf/1/enum"),
        ),
        (
            {
                "type": "object",
                "properties": {"é": {"const": 1}, "a": {"const": 1}},
                "additionalProperties": False,
            },
            'ab"{}:1,',
            "the member 'é' can never be written",
            Edit({"const": 1}, ABSENT, "#/properties/é"),
        ),
        (
            {"type": "array", "items": {"$ref": "#/$defs/x"}, "$defs": {"x": {"enum": ["é", 1]}}},
            '"[],1',
            "'é' is in no token",
            Edit(["é", 1], [1], "#/$defs/x/enum"),
        ),
        # t, r, u, e are letters too
        ({"enum": [True, "b"]}, 'b"', "'e', 'r', 't', 'u' are", Edit([True, "b"], ["b"], "#/enum")),
    ],
)
def test_what_a_schema_lists(schema: Any, letters: str, expected: str, edit: Edit) -> None:
    spelled = vocabulary(*letters)
    report = dead_ends(wb.json_schema(schema), spelled)
    assert found(report) == [("never written", True, None)]
    assert expected in report[0].message
    suggestion = report[0].suggestion
    assert suggestion is not None and suggestion.edits == (edit,)
    assert not dead_ends(wb.json_schema(suggestion.apply(schema)), spelled).findings


@pytest.mark.parametrize(
    ("value", "letters", "written"),
    [
        ("é", 'é"', True),
        ("é", '"\\u0e9', True),  # as an escape
        ("é", '"\\u0E9', True),  # in capitals
        ("é", '"\\u09', False),
        ("\n", '"\\n', True),
        ("\n", '"n', False),
        ("\n", '"\\u0a', False),  # listed values have no longer escape where there is a short one
        ("\x01", '"\\u01', True),
        ("😀", '"\\ud83e0', True),  # D83D DE00
        ("😀", '"\\ud83e', False),
        ('"', '"\\', True),
        ({"a": ["é"]}, '"a:[]{}', False),
        (12, "3", True),  # another notation may do: not looked at
        (None, "nul", True),
        ("a", "a", False),  # no quotation mark
    ],
)
def test_spellings_of_characters(value: Any, letters: str, written: bool) -> None:
    missing = frozenset(vocabulary(*letters).missing_bytes)
    findings, stopped = unwritten({"const": value}, missing)
    assert (not findings, stopped) == (written, "")


@given(st.text('aé\n"\\', max_size=3), st.sets(st.sampled_from('aé"\\nu09e1c5A"')))
@example("\n", set('"\\u0a'))
@settings(max_examples=60, deadline=None)
def test_what_is_told_is_what_the_engine_leaves_out(value: str, letters: set[str]) -> None:
    """An enum with a value that can always be written, and one that may not be."""
    spelled = wb.Vocabulary.from_bytes(
        [*(bytes([b]) for b in "".join(sorted(letters | {"7"})).encode()), b""],
        eos_ids=len("".join(sorted(letters | {"7"})).encode()),
    )
    schema = {"enum": [7, value]}
    findings, _ = unwritten(schema, frozenset(spelled.missing_bytes))
    first = wb.compile(wb.json_schema(schema), spelled).matcher().allowed_bytes()
    assert (first == frozenset(b"7")) == bool(findings)


def test_nothing_can_be_written() -> None:
    required = {
        "type": "object",
        "properties": {"é": {"const": 1}},
        "required": ["é"],
        "additionalProperties": False,
    }
    for schema, lost in (({"enum": ["é"]}, "value"), (required, "member")):
        report = dead_ends(wb.json_schema(schema), vocabulary(*'ab"{}:1,'))
        assert [f.kind for f in report] == ["unsatisfiable", "never written"]
        assert report[0].message == "no text can be written: each needs bytes that are in no token"
        assert f"the {lost} " in report[1].message and report[1].suggestion is None
    # of a grammar whose start cannot be written that is no warning
    report = dead_ends(wb.gbnf('root ::= "é"'), vocabulary(*"ab"))
    assert found(report) == [("never written", False, b"")]
    assert "⟨A9⟩, ⟨C3⟩ are in no token" in report[0].message


def test_bytes_that_are_left_out_are_told() -> None:
    report = dead_ends(wb.regex("[aé]b"), vocabulary(*"ab"))
    assert not report.findings
    assert "in no token, so left out: ⟨A9⟩, ⟨C3⟩" in report.checked[-1]


# Empty masks, and ways without return


@pytest.mark.parametrize(
    ("grammar", "tokens", "expected"),
    [
        # "abc" is a, bc; after the token ab there is no c
        ('root ::= "ab" "c"', ("ab", "bc", "a"), [("empty mask", b"ab")]),
        # ")" only in tokens with the letter before it: after (a, and after (b) alike, it is missing
        ('root ::= "(" ("a" | "b)") ")"', ("(", "a", "b)", "a)"), [("empty mask", b"(a")]),
        # the token of the end, "]]", is one too many: nothing ends the list
        ('root ::= "[" "a"* "]" | "b"', ("a", "[", "b", "]]"), [("endless loop", b"[")]),
        # b only with a before it: no text ends
        ('root ::= "a"* "b"', ("a", "bc"), [("endless loop", b"")]),
        # of these brackets two close at once: one alone never does
        ('root ::= "x" | "(" root ")" | "<" root ">"', ("x", "(", ")", "<", ">>"), [
            ("empty mask", b"<x"),
        ]),
    ],
)  # fmt: skip
def test_masks_and_ways(
    grammar: str, tokens: tuple[str, ...], expected: list[tuple[str, bytes]]
) -> None:
    report = dead_ends(wb.gbnf(grammar), vocabulary(*tokens), budget=3_000)
    assert {(f.kind, f.path) for f in report} == set(expected)
    # brackets nest for ever: there the search ends at its budget
    assert report.complete == ("root" not in grammar[4:])


@pytest.mark.parametrize(
    ("grammar", "expected"),
    [
        ('root ::= "a" root', [("root", False, b"")]),
        ('root ::= "a" x | "b"\nx ::= "c" y\ny ::= "d" x', [("x", True, b"a"), ("y", True, b"ac")]),
        ('root ::= "b" | "a" x{1,2}\nx ::= x x', [("x", True, b"a")]),
        ('root ::= "a" (x | "b")\nx ::= "(" x ")"', [("x", True, b"a")]),
        # through another rule, behind one that can end
        ('root ::= "a"* r | "b"\nr ::= "c" s\ns ::= r', [("r", True, b""), ("s", True, b"c")]),
    ],
)
def test_loops_without_an_exit(grammar: str, expected: list[tuple[str, bool, bytes]]) -> None:
    report = dead_ends(wb.gbnf(grammar), BYTES)
    assert [(f.rule, f.warning, f.path) for f in report] == expected
    assert {f.kind for f in report} == {"endless loop"}


# Budgets


@pytest.mark.parametrize(
    ("grammar", "tokens", "budget", "expected"),
    [
        # aaaa takes 4, bcc takes 3
        ('root ::= "aaaa" | "b" "cc"', "abc", 4, []),
        ('root ::= "aaaa" | "b" "cc"', "abc", 3, [(True, b"", 4)]),
        ('root ::= "b" "cc" | "aaaa"', "abc", 3, [(True, b"", 4)]),
        ('root ::= "aaaa" | "b" "cc"', "abc", 2, [(False, b"", 3)]),
        # a pair of brackets more is two more: 5
        ('root ::= "(" root ")" | "xxx"', "()x", 5, []),
        ('root ::= "(" root ")" | "xxx"', "()x", 4, [(True, b"", 5)]),
        # the inner one costs 2 + 3, of the outer ones one is cheap
        ('root ::= "a" ("b" | "c" ("d" | "eee"))', "abcde", 4, [(True, b"ac", 5)]),
        # as a rule of its own
        ('root ::= a | "b"\na ::= "aaaaa"', "ab", 4, [(True, b"", 5)]),
        # a star is no alternative: what it repeats may be left
        ('root ::= "aa" "a"*', "a", 2, []),
    ],
)
def test_ends_that_are_out_of_reach(
    grammar: str, tokens: str, budget: int, expected: list[tuple[bool, bytes, int]]
) -> None:
    report = dead_ends(wb.gbnf(grammar), vocabulary(*tokens), max_tokens=budget)
    assert [(f.warning, f.path) for f in report] == [(warn, path) for warn, path, _ in expected]
    for finding, (_, _, enough) in zip(report, expected, strict=True):
        assert finding.kind == "over budget"
        assert str(finding.suggestion) == f"allow at least {enough} tokens"
    enough = max([budget, *(enough for *_, enough in expected)])
    again = dead_ends(wb.gbnf(grammar), vocabulary(*tokens), max_tokens=enough)
    assert not [f for f in again if not f.warning]


# Live, on a trace


def trace(*left: float, places: str = "", **more: Any) -> wb.Trace:
    """A run of which each mask left so much; ``places`` are the steps' states, a capital letter may end."""
    run = wb.Trace(**more)
    for i, mass in enumerate(left):
        place = places[i] if places else "a"
        run.append(
            wb.TraceStep(
                index=0,
                kind="sampled",
                token_id=i,
                token_bytes=b"x",
                allowed_count=1 if place.lower() == "f" else 2,
                mass_removed=1 - mass,
                top_before=((7, 0.5), (8, 0.1)),
                top_after=((i, 0.5), (50, 0.2)),
                live_states=(ord(place.lower()),),
                stacks=(run.add_stack([Frame(ord(place.lower()), ("rule",))]),),
                is_accepting=place.isupper(),
            )
        )
    return run


@pytest.mark.parametrize(
    ("left", "given", "expected"),
    [
        ((0.5, 0.5), {}, []),
        ((0.5, 0.001, 0.002, 0.003, 0.004, 0.5), {}, [(1, 4)]),
        ((0.001, 0.001, 0.001), {}, []),  # three are too few
        ((0.001, 0.001, 0.5, 0.001), {"steps": 2}, [(0, 1)]),
        ((0.2, 0.3, 0.4), {"threshold": 0.35, "steps": 1}, [(0, 1)]),
        # one at the very threshold is none
        ((0.25, 0.125, 0.25), {"threshold": 0.25, "steps": 1}, [(1, 1)]),
        ((0.001,) * 4, {}, [(0, 3)]),
    ],
)
def test_near_dead_ends(
    left: tuple[float, ...], given: dict[str, Any], expected: list[tuple[int, int]]
) -> None:
    report = wb.live_dead_ends(trace(*left, finish_reason="eos"), **given)
    assert [f.steps for f in report] == expected
    for finding in report:
        assert finding.steps is not None and finding.warning
        assert f"from step {finding.steps[0] + 1}" in finding.message
        assert finding.path == b"x" * finding.steps[0]


@pytest.mark.parametrize(
    ("places", "reason", "kind", "first", "escape"),
    [
        # stuck at once, or with a way out one and two steps before
        ("ff", "dead_end", "empty mask", 2, None),
        ("ab", "dead_end", "empty mask", 2, 1),
        ("abff", "dead_end", "empty mask", 4, 1),
        # in one place for long, but another token each time: the tokens ran out
        ("b" + "a" * 8, "length", "out of tokens", 9, None),
        ("a" * 20, "length", "out of tokens", 20, None),
        ("a" * 8 + "A" + "a" * 3, "length", "out of tokens", 12, None),
    ],
)
def test_runs_that_ended_badly(
    places: str, reason: str, kind: str, first: int, escape: int | None
) -> None:
    run = trace(*[0.5] * len(places), places=places, finish_reason=reason)
    (finding,) = wb.live_dead_ends(run)
    assert (finding.kind, finding.steps) == (kind, (first, len(places)))
    assert (None if finding.escape is None else finding.escape.step) == escape


def recorded(grammar: str, tokens: tuple[bytes, ...], text: str) -> wb.Trace:
    """A run as decoding records it, of tokens separated by "|", that its length limit ended."""
    compiled = wb.compile(wb.gbnf(grammar), wb.Vocabulary.from_bytes([b"", *tokens], eos_ids=0))
    words = len(wb.empty_mask(compiled.vocabulary))
    watcher = Watcher(compiled.matcher(), words, lambda row: row.copy(), record=True, overlap=False)
    run = wb.Trace(
        vocabulary_size=compiled.vocabulary.size,
        vocabulary_width=compiled.vocabulary.width,
        finish_reason="length",
    )
    for piece in text.encode().split(b"|"):
        (found,) = watcher.finish()
        token = tokens.index(piece) + 1
        run.append(
            wb.TraceStep(
                index=0,
                kind="sampled",
                token_id=token,
                token_bytes=piece,
                allowed_count=found.allowed_count,
                mask=run.add_mask(found.row),
                live_states=found.live_states,
                stacks=tuple(run.add_stack(frames) for frames in found.stacks),
                is_accepting=found.is_accepting,
            )
        )
        assert watcher.matcher.accept(token)
    states, stacks, _ = configuration(watcher.matcher)
    run.final = {
        "is_accepting": watcher.matcher.is_accepting,
        "live_states": list(states),
        "stacks": [run.add_stack(frames) for frames in stacks],
    }
    return run


STORY = "once| upon| a| time| there| was| a| cat| and| a| dog| who| was| a| cat| once| and| there| was| a"
WORDS = (*(w.encode() for w in sorted(set(STORY.split("|")))), b"<", b"end>")


@pytest.mark.parametrize(
    ("grammar", "tokens", "text", "kind", "said"),
    [
        # a story is no loop, however long it stays in one place
        ('root ::= [^<]+ "<end>"', WORDS, STORY, "out of tokens", "not complete after 20 tokens"),
        # nor is one of few words, as long as one that leads out was not taken
        (
            'root ::= "a"+ "b"',
            (b"a", b"aa", b"b"),
            "a|aa|a|a|aa|aa|a|aa|aa|a",
            "out of tokens",
            "10 tokens",
        ),
        # all that may come leads back: nothing leads out
        (
            'root ::= "a"+ "b"',
            (b"a", b"aa", b"bc"),
            "a|aa|a|a|aa|aa|a|aa|aa|a",
            "endless loop",
            "every token",
        ),
        # the same over and over: the model does not get on, whatever the grammar allows
        (
            'root ::= [^<]+ "<end>"',
            WORDS,
            "once" + "| a| cat" * 5,
            "endless loop",
            "repeat “·a·cat”",
        ),
        (
            'root ::= "[" ("0" ", "?)* "]"',
            (b"[", b"]", b"0", b", "),
            "[" + "|0|, " * 6,
            "endless loop",
            "“0,·”",
        ),
        (
            'root ::= "(" root ")" | "x"',
            (b"(", b")", b"x"),
            "(" + "|(" * 11,
            "endless loop",
            "repeat “(”",
        ),
        # a count gets on towards its end
        (
            'root ::= "a"{2,1000} "b"',
            (b"a", b"aa", b"bc"),
            "a|aa|a|a|aa|aa|a|aa|aa|a",
            "out of tokens",
            "10 tokens",
        ),
        # shorter than a loop
        ('root ::= "a"+ "b"', (b"a", b"bc"), "a|a|a|a", "out of tokens", "4 tokens"),
    ],
)
def test_runs_that_ran_out_of_tokens(
    grammar: str, tokens: tuple[bytes, ...], text: str, kind: str, said: str
) -> None:
    run = recorded(grammar, tokens, text)
    (finding,) = wb.live_dead_ends(run)
    assert finding.kind == kind and said in finding.message and finding.rule == "root"
    assert "“”" not in str(finding)
    # the same without what a run with trace=False leaves out, as far as it can be told
    for i, step in enumerate(run.steps):
        run.steps[i] = dataclasses.replace(step, mask="", live_states=(), stacks=())
    (finding,) = wb.live_dead_ends(run)
    assert finding.kind == ("out of tokens" if said == "every token" else kind)


def test_the_last_way_out_is_named() -> None:
    """By the vocabulary, by a step that took the token, or not at all; never as a text without letters."""
    run = recorded('root ::= "x"? "a"+ "b"', (b"x", b"a", b"b", b"xa"), "x" + "|a" * 9)
    run.steps[0] = dataclasses.replace(run.steps[0], top_after=((1, 0.6), (4, 0.3)))
    words = wb.Vocabulary.from_bytes([b"", b"x", b"a", b"b", b"xa"], eos_ids=0)
    (finding,) = wb.live_dead_ends(run)
    assert str(finding.escape) == "last escape: at the start (step 1) with another token instead"
    assert finding.escape is not None and finding.escape.to_json()["instead"] is None
    (finding,) = wb.live_dead_ends(run, words)
    assert str(finding.escape) == "last escape: at the start (step 1) with “xa” instead"
    run.steps[0] = dataclasses.replace(run.steps[0], top_after=((1, 0.6), (2, 0.3)))
    (finding,) = wb.live_dead_ends(run)
    assert str(finding.escape) == "last escape: at the start (step 1) with “a” instead"
    run.steps[0] = dataclasses.replace(run.steps[0], top_after=((1, 0.6), (0, 0.3)))
    (finding,) = wb.live_dead_ends(run, words)
    assert (
        str(finding.escape) == "last escape: at the start (step 1) with the end of the text instead"
    )


def test_runs_that_ended_well() -> None:
    for run in (
        trace(0.5, finish_reason="eos"),
        trace(*[0.5] * 9, finish_reason="length", final={"is_accepting": True}),
        trace(finish_reason="interrupted"),
    ):
        assert not wb.live_dead_ends(run).findings

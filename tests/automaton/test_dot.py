"""Pictures of automata: what is drawn, what is left out, and that any name can be drawn."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import workbench as wb
from tests.notebook.samples import automaton
from workbench.automaton.dot import byte_label, picture, transitions
from workbench.notebook.drawing import draw
from workbench.vocabulary import byte_vocabulary

pytest.importorskip("graphviz", reason="the graphviz package is not installed")


@pytest.mark.parametrize(
    ("values", "label"),
    [
        (range(256), "any byte"),
        ([], "no byte"),
        (b"0123456789", "0-9"),
        (b"-0123456789", "- 0-9"),
        (b"ab", "a b"),
        ([0x20, 0x0A, 0x09, 0x0D], "⇥ ↵ ⟨0D⟩ ·"),
        (range(0x80, 0xC0), "⟨80⟩-⟨BF⟩"),
        (set(range(0x20, 0x80)) - {0x22, 0x5C}, '·-⟨7F⟩ but " \\'),
        (range(0, 256, 2), "⟨00⟩ ⟨02⟩ ⟨04⟩ … (128 bytes)"),
    ],
)
def test_byte_labels(values: object, label: str) -> None:
    assert byte_label(values) == label  # type: ignore[arg-type]


def test_a_long_label_can_be_asked_for() -> None:
    label = byte_label(range(0, 256, 2), limit=4000)
    assert label.count("⟨") + label.count("·") >= 60
    assert "…" not in label


def test_transitions_join_edges_and_name_calls() -> None:
    found = {
        (t.source, t.label, t.target, t.call) for s in (4, 8) for t in transitions(automaton(), s)
    }
    assert found == {
        (4, "▭ string", 5, True),
        (8, '·-⟨7F⟩ but " \\', 8, False),
        (8, '"', 9, False),
    }


def test_counted_calls_show_what_is_repeated_and_their_bounds() -> None:
    plain = automaton()
    one = np.array([0], dtype=np.int32)
    for low, high, text in ((2, 5, "×2–5"), (3, 3, "×3"), (1, -1, "×1–∞")):
        counted = replace(
            plain,
            call_loop=one,
            loop_min=np.array([low], dtype=np.int32),
            loop_max=np.array([high], dtype=np.int32),
        )
        assert transitions(counted, 4)[0].label == f'▭ "… {text}'


def test_what_is_repeated_has_the_name_of_no_rule() -> None:
    """The white space of schemas is one part of the automaton that all rules share."""
    schema = {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 30}
    compiled = wb.compile(wb.json_schema({"properties": {"a": schema}}), byte_vocabulary())
    whole = compiled.automaton.complete()
    labels = {edge.label for state in range(whole.n_states) for edge in transitions(whole, state)}
    assert {"▭ ⇥ ↵ ⟨0D⟩ · ×1–20", "▭ ,… ×1–29"} <= labels
    grammar = wb.gbnf('root ::= "[" (item ","){2,40} "]"\nitem ::= "(" item ")" | "x"')
    whole = wb.compile(grammar, byte_vocabulary()).automaton.complete()
    labels = {edge.label for state in range(whole.n_states) for edge in transitions(whole, state)}
    assert "▭ item… ×2–40" in labels


def test_what_is_repeated_is_part_of_what_repeats_it() -> None:
    """Blanks that a member has around it are its own, not those of the rule that had such blanks first."""
    member = {"type": "array", "items": {"type": "integer"}}
    grammar = wb.json_schema({"type": "object", "properties": {"a": member}, "required": ["a"]})
    matcher = wb.compile(grammar, byte_vocabulary()).matcher()
    assert matcher.accept_tokens(b'{ "a": [ 1 , ') == 13
    (stack,) = matcher.stacks()
    assert stack[1].count is not None
    assert stack[0].rules == stack[1].rules == ("properties/a",)
    assert stack[-1].rules == ("root",)


def test_a_small_automaton_is_drawn_whole_and_once() -> None:
    drawn = picture(automaton(), [8])
    assert drawn.states == tuple(range(10))
    assert drawn.hidden == 0
    assert drawn.source == picture(automaton(), [2]).source
    for state in range(10):
        assert f"id=s{state}" in drawn.source
    assert "6 ✓" in drawn.source
    assert "7 ✓" not in drawn.source


def test_a_large_automaton_is_drawn_around_the_live_states() -> None:
    large = automaton(n_extra=400)
    drawn = picture(large, [200])
    assert len(drawn.states) + drawn.hidden == 410
    assert 3 <= len(drawn.states) <= 36
    assert {199, 200, 201, 202} <= set(drawn.states)
    assert "… 1 more" in drawn.source
    assert 5 in picture(large, [8], around=[5]).states
    joined = picture(large, [9], around=[5], returns=[(9, 5)])
    assert "s9 -> s5" in joined.source
    assert " return " in joined.source


def test_live_states_never_exceed_the_limit() -> None:
    assert len(picture(automaton(n_extra=400), range(410)).states) <= 36


def test_marks_live_states_for_a_still_image() -> None:
    source = picture(automaton(), [8], mark=True).source
    assert "▶ 8" in source
    assert "peripheries=2" in source


@pytest.mark.parametrize(
    "name", ['a"b', "<b>x</b>", "\\N\\", "x\ny", "é" * 100, "{|}", "", "#/a/b~1c"]
)
def test_any_rule_name_can_be_drawn(name: str) -> None:
    plain = automaton()
    rules = tuple((name,) if r == ("string",) else r for r in plain.state_rules)
    named = replace(plain, state_rules=rules, entry_names=("object", name))
    drawn = draw(picture(named).source).decode()
    assert drawn.count('class="node"') == 11


def test_what_no_text_leads_to_is_not_drawn() -> None:
    """Automata of schemas begin with what they have in common, used or not."""
    schema = {"properties": {"ab": {"const": "c"}}, "required": ["ab"], "type": "object"}
    schema["additionalProperties"] = False
    compiled = wb.compile(wb.json_schema(schema, whitespace="compact"), byte_vocabulary())
    drawn = picture(compiled.automaton)
    assert drawn.hidden == 0
    assert len(drawn.states) == len('{"ab":"c"}') + 1 < compiled.automaton.n_states
    assert "value" not in drawn.source

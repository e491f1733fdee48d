"""What chat templates write is what the grammars of the families allow, and is read back as it was meant."""

from __future__ import annotations

from itertools import permutations

import pytest

import workbench as wb
from tests.frontends.tools.samples import CALLS, TOOLS, Judge
from tests.frontends.tools.written import NO_TEXT, ONE_CALL, SOURCES, THOUGHTS, TURNS, Call

FAMILIES = sorted(TURNS)


def test_every_format_has_a_source_and_a_turn() -> None:
    known = wb.tool_formats()
    assert all(form.source for form in known.values())
    assert set(SOURCES) == set(TURNS) <= set(known)
    assert set(known) - set(TURNS) == {"llama3_python_tag", "minimax_m3"}  # no template was at hand


def test_a_name_stands_for_one_format() -> None:
    names = [name for form in wb.tool_formats().values() for name in (form.name, *form.models)]
    plain = [name.lower().replace("_", "-") for name in names]
    assert len(plain) == len(set(plain))
    for form in wb.tool_formats().values():
        assert all(
            wb.tools(TOOLS, format=name).source["tool_format"] == form.name for name in form.models
        )


def turns(family: str) -> list[tuple[str, list[Call]]]:
    """Texts before calls, and calls."""
    texts = [""] if family in NO_TEXT else ["", "Let me see: 3 < 4.\n"]
    several = [[one] for one in CALLS]
    if family not in ONE_CALL:
        several += [CALLS[:2], CALLS[2:]]
    return [(text, calls) for text in texts for calls in several]


def as_read(calls: list[wb.ToolCall]) -> list[Call]:
    return [(call.name, call.arguments) for call in calls]


@pytest.mark.parametrize("family", FAMILIES)
def test_turns_with_calls(family: str) -> None:
    grammar = wb.tools(TOOLS, format=family, reasoning=False)
    accepts = Judge(grammar)
    for text, calls in turns(family):
        turn = TURNS[family](text, calls)
        assert accepts(turn), turn
        found = wb.read_calls(grammar, turn)
        assert as_read(found) == calls, turn
        assert as_read(wb.read_calls(family, turn, tools=TOOLS)) == calls
        data = turn.encode()
        assert [call.name.encode() in data[call.start : call.end] for call in found].count(
            True
        ) == len(calls)


@pytest.mark.parametrize("family", FAMILIES)
def test_turns_that_have_to_hold_a_call(family: str) -> None:
    required = Judge(wb.tools(TOOLS, "required", format=family, reasoning=False))
    one = Judge(wb.tools(TOOLS, "required", format=family, reasoning=False, parallel=False))
    forced = Judge(wb.tools(TOOLS, {"name": "ping"}, format=family, reasoning=False))
    for calls in [calls for text, calls in turns(family) if not text]:
        turn = TURNS[family]("", calls)
        assert required(turn), turn
        assert one(turn) == (len(calls) == 1), turn
        assert forced(turn) == (calls == [("ping", {})]), turn
    if family not in ("kimi_k3", "harmony"):
        assert not required("Hello.") and not required("")


@pytest.mark.parametrize("family", sorted(THOUGHTS))
def test_turns_with_thoughts(family: str) -> None:
    optional = wb.tools(TOOLS, format=family)
    asked = wb.tools(TOOLS, format=family, reasoning=True, reasoning_opened=False)
    begun = wb.tools(TOOLS, format=family, reasoning=True, reasoning_opened=True)
    without = Judge(wb.tools(TOOLS, format=family, reasoning=False))
    for text, calls in turns(family)[:3]:
        thoughts = THOUGHTS[family]("First, 1 < 2.\nThen.")
        answer = TURNS[family](text, calls)
        opening = wb.tool_formats()[family].reasoning.open  # type: ignore[union-attr]
        rest = thoughts.partition(opening)[2] + answer
        assert Judge(optional)(thoughts + answer) and Judge(optional)(answer)
        assert Judge(asked)(thoughts + answer) and not Judge(asked)(answer)
        assert Judge(begun)(rest) and not Judge(begun)(thoughts + answer)
        assert not without(thoughts + answer) and not without(rest)
        for whole in (thoughts + answer, rest):
            assert as_read(wb.read_calls(optional, whole)) == calls


def test_the_opening_may_be_missing_where_prompts_have_it() -> None:
    """A model that was not asked to think must not talk before a call that is asked for."""
    for family, expected in (("qwen3", False), ("deepseek_r1", True), ("exaone4", True)):
        accepts = Judge(wb.tools(TOOLS, "required", format=family))
        thoughts = THOUGHTS[family]("Hm.").partition("<think>")[2]
        assert accepts(thoughts + TURNS[family]("", [CALLS[5]])) == expected
        assert accepts(TURNS[family]("", [CALLS[5]]))


@pytest.mark.parametrize("family", FAMILIES)
def test_properties_in_any_order(family: str) -> None:
    accepts = Judge(wb.tools(TOOLS, format=family, property_order="any", reasoning=False))
    members = {"units": "celsius", "location": "Paris", "days": 3}
    for names in permutations(members):
        turn = TURNS[family]("", [("get_weather", {name: members[name] for name in names})])
        assert accepts(turn), turn
        assert not accepts(TURNS[family]("", [("get_weather", {"days": 3})]))
    assert accepts(TURNS[family]("", [CALLS[5]])) and accepts(TURNS[family]("", [CALLS[4]]))


def test_the_space_of_older_tokenizers_of_mistral() -> None:
    """As the template of Mistral Nemo writes calls; those of models before it have a space behind the marker."""
    turn = TURNS["mistral_v3"]("", CALLS[:2]).replace("[TOOL_CALLS] [", "[TOOL_CALLS][")
    grammar = wb.tools(TOOLS, format="mistral_v3")
    assert Judge(grammar)(turn)
    assert as_read(wb.read_calls(grammar, turn)) == CALLS[:2]
    # without the identifiers that only later turns need
    assert Judge(grammar)(turn.replace(', "id": "abcabcabc"', ""))


def test_words_of_python_that_templates_write_are_read() -> None:
    """Qwen's templates show ``None`` and ``True`` where JSON has other words; what is generated has those of JSON."""
    turn = TURNS["qwen3_coder"]("", [CALLS[4]])
    shown = turn.replace("null", "None")
    grammar = wb.tools(TOOLS, format="qwen3_coder")
    assert Judge(grammar)(turn) and not Judge(grammar)(shown)
    assert as_read(wb.read_calls(grammar, shown)) == [CALLS[4]]

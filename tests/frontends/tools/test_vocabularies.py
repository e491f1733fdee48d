"""Markers that are special tokens, ordinary tokens, or bytes: the same turns in each."""

from __future__ import annotations

import pytest

import workbench as wb
from tests.frontends.tools.samples import CALLS, TOOLS
from tests.frontends.tools.vocabularies import KINDS, of_bytes, spelled, with_ordinary, with_special
from tests.frontends.tools.written import NO_TEXT, ONE_CALL, TURNS

FAMILIES = sorted(TURNS)


def accepts(compiled: wb.CompiledGrammar, ids: list[int]) -> bool:
    matcher = compiled.matcher()
    return matcher.accept_tokens(ids) == len(ids) and matcher.is_accepting


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("kind", KINDS)
def test_turns_in_every_vocabulary(family: str, kind: str) -> None:
    vocabulary = KINDS[kind](wb.tool_formats()[family].markers)
    compiled = wb.compile(wb.tools(TOOLS, format=family, reasoning=False), vocabulary)
    calls = CALLS[1:2] if family in ONE_CALL else [CALLS[1], CALLS[5]]
    turn = TURNS[family]("" if family in NO_TEXT else "Let me see.\n", calls)
    ids = spelled(turn, vocabulary)
    assert accepts(compiled, ids)
    assert [(one.name, one.arguments) for one in wb.read_calls(compiled, ids)] == calls
    # a mask allows each token of it
    matcher = compiled.matcher()
    for one in ids:
        assert one in matcher.allowed_ids()
        assert matcher.accept(one)


@pytest.mark.parametrize(
    "family",
    [
        name
        for name in FAMILIES
        if wb.tool_formats()[name].trigger in wb.tool_formats()[name].markers
    ],
)
def test_where_the_trigger_is_a_special_token_its_bytes_begin_no_call(family: str) -> None:
    form = wb.tool_formats()[family]
    vocabulary = with_special(form.markers)
    compiled = wb.compile(wb.tools(TOOLS, format=family, reasoning=False), vocabulary)
    turn = TURNS[family]("", [CALLS[5]])
    assert accepts(compiled, spelled(turn, vocabulary))
    assert not accepts(compiled, list(turn.encode()))
    # nor may free text spell it
    text = list(b"a " + form.trigger.encode())
    assert compiled.matcher().accept_tokens(text) == len(text) - 1
    nothing = wb.compile(wb.tools(TOOLS, "none", format=family, reasoning=False), vocabulary)
    assert nothing.matcher().accept_tokens(text) == len(text) - 1
    assert not nothing.matcher().accept(vocabulary.special_id(form.trigger))
    assert accepts(nothing, list(b"a b"))


def test_captures_are_bytes_of_the_text_without_special_tokens() -> None:
    form = wb.tool_formats()["qwen3"]
    vocabulary = with_special(form.markers)
    grammar = wb.tools(TOOLS, reasoning=False)
    turn = TURNS["qwen3"]("", [CALLS[1], CALLS[5]])
    found = wb.match(grammar, spelled(turn, vocabulary), vocabulary)
    assert found is not None
    assert [one.text for one in found.named("name")] == ["get_weather", "ping"]
    assert [one.text for one in found.named("arguments")] == [
        '{"location": "Paris", "days": 3, "units": "celsius"}',
        "{}",
    ]


THINKING = ["qwen3", "exaone4", "deepseek_r1", "kimi_k2", "mistral", "harmony"]


@pytest.mark.parametrize("family", THINKING)
@pytest.mark.parametrize("opened", [False, True])
def test_a_budget_of_thoughts_is_exact_in_tokens(family: str, opened: bool) -> None:
    form = wb.tool_formats()[family]
    assert form.reasoning is not None
    vocabulary = with_special(form.markers)
    grammar = wb.tools(
        TOOLS, format=family, reasoning=True, reasoning_opened=opened, reasoning_tokens=5
    )
    compiled = wb.compile(grammar, vocabulary)
    before = [] if opened else spelled(form.reasoning.open, vocabulary)
    end = spelled(form.reasoning.close, vocabulary)
    word = vocabulary.size - len(form.markers) - 14  # "the"
    for n in range(8):
        matcher = compiled.matcher()
        assert matcher.accept_tokens(before) == len(before)
        assert matcher.accept_tokens([word] * n) == min(n, 5)
        if n >= 5:
            assert list(matcher.allowed_ids()) == end[:1]
        assert matcher.accept_tokens(end) == len(end)


def test_a_budget_in_tokens_needs_the_closing_marker_as_a_token() -> None:
    grammar = wb.tools(TOOLS, reasoning=True, reasoning_tokens=5)
    with pytest.raises(wb.VocabularyError, match="</think>"):
        wb.compile(grammar, of_bytes(()))
    # an ordinary token will do
    vocabulary = with_ordinary(("<think>", "</think>"))
    matcher = wb.compile(grammar, vocabulary).matcher()
    assert matcher.accept_tokens([*b"<think>", *b"abcde"]) == 12
    assert not matcher.accept(ord("f"))


@pytest.mark.parametrize("kind", KINDS)
def test_a_budget_in_characters_is_exact_in_every_vocabulary(kind: str) -> None:
    vocabulary = KINDS[kind](("<think>", "</think>", "<tool_call>", "</tool_call>"))
    grammar = wb.tools(TOOLS, reasoning=True, reasoning_chars=4)
    compiled = wb.compile(grammar, vocabulary)
    for text, good in (("", True), ("ééé<", True), ("abcd", True), ("abcde", False)):
        whole = f"<think>{text}</think>\n\nHello."
        assert accepts(compiled, spelled(whole, vocabulary)) == good, text


@pytest.mark.parametrize("family", ["qwen3", "glm_4_5", "kimi_k2", "gemma_4", "deepseek_v3_1"])
def test_the_empty_block(family: str) -> None:
    form = wb.tool_formats()[family]
    assert form.reasoning is not None and form.reasoning.empty is not None
    vocabulary = with_special(form.markers)
    for choice, answer in (("auto", "Hello."), ({"name": "ping"}, TURNS[family]("", [CALLS[5]]))):
        grammar = wb.tools(TOOLS, choice, format=family, reasoning="off", reasoning_opened=False)
        compiled = wb.compile(grammar, vocabulary)
        assert accepts(compiled, spelled(form.reasoning.empty + answer, vocabulary))
        assert not accepts(compiled, spelled(answer, vocabulary))


def test_the_empty_block_behind_an_opening_in_the_prompt() -> None:
    vocabulary = with_special(("<think>", "</think>"))
    grammar = wb.tools(TOOLS, "none", format="minimax_m2", reasoning="off", reasoning_opened=True)
    compiled = wb.compile(grammar, vocabulary)
    for rest in ("\n</think>\n\nHi", "</think>\n\nHi"):
        assert accepts(compiled, spelled(rest, vocabulary))
    assert not accepts(compiled, spelled("x</think>\n\nHi", vocabulary))


@pytest.mark.parametrize("kind", KINDS)
def test_answers_between_markers(kind: str) -> None:
    """As the template of Command R7B writes an answer that is no call."""
    vocabulary = KINDS[kind](wb.tool_formats()["command_a"].markers)
    thoughts = "<|START_THINKING|>Hm.<|END_THINKING|>"
    answer = "<|START_RESPONSE|>It is 3 < 4.<|END_RESPONSE|>"
    call = TURNS["command_a"]("", [CALLS[5]])
    for choice, good, bad in (
        ("auto", [answer, thoughts + answer, call, "Plain."], [answer + call, answer[:-5]]),
        ("none", [answer, thoughts + answer], [call]),
        ("required", [call, thoughts + call], [answer]),
    ):
        compiled = wb.compile(wb.tools(TOOLS, choice, format="command_a"), vocabulary)
        assert all(accepts(compiled, spelled(text, vocabulary)) for text in good)
        assert not any(accepts(compiled, spelled(text, vocabulary)) for text in bad)


def test_a_bound_of_characters_costs_no_states() -> None:
    grammar = wb.tools(TOOLS, reasoning=True, reasoning_chars=50_000)
    matcher = wb.compile(grammar, of_bytes(())).matcher()
    assert matcher.accept_tokens(b"<think>" + b"a" * 50_000) == 50_007
    assert matcher.allowed_bytes() == {ord("<")}
    assert matcher.forced_bytes().startswith(b"</think>\n\n")


def test_tools_that_a_service_has_built_in() -> None:
    browser = {
        "type": "browser",
        "name": "browser.search",
        "parameters": {"type": "object", "properties": {"query": {"type": "string"}}},
    }
    grammar = wb.tools([*TOOLS, browser], format="harmony", reasoning=False)
    call = '<|channel|>commentary to=browser.search code<|message|>{"query": "x"}<|call|>'
    assert wb.match(grammar, call)
    assert wb.match(grammar, call.replace("browser.search", "functions.browser.search")) is None
    assert wb.read_calls(grammar, call)[0].name == "browser.search"
    forced = wb.tools([*TOOLS, browser], {"type": "browser"}, format="harmony")
    assert wb.match(forced, call)
    assert wb.match(forced, TURNS["harmony"]("", [CALLS[5]])) is None


def test_the_blocks_of_kimi_k3() -> None:
    """Behind prompts that have opened the thoughts, or the response."""
    answer = "Hello.<|close|>response<|sep|>"
    call = TURNS["kimi_k3"]("Hello.", [CALLS[1]])
    thoughts = "Hm.<|close|>think<|sep|><|open|>response<|sep|>"
    for reasoning, before in (
        (True, thoughts),
        (False, ""),
        (None, "<|open|>think<|sep|>" + thoughts),
    ):
        grammar = wb.tools(TOOLS, format="kimi_k3", reasoning=reasoning)
        assert wb.match(grammar, before + answer + "<|close|>message<|sep|>")
        assert wb.match(grammar, before + call)
        assert [one.name for one in wb.read_calls(grammar, before + call)] == ["get_weather"]
        assert wb.match(grammar, before + answer) is None

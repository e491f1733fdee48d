"""Grammars of formats: names of parts, captures, special tokens, tokens, limits and errors."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import workbench as wb
from workbench import formats as f
from workbench.frontends.tags.build import grammar_of
from workbench.vocabulary import byte_vocabulary

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
BYTES = [*(bytes([byte]) for byte in range(256)), b""]
EOS, CALL, END = 256, 257, 258
SPECIAL = wb.Vocabulary.from_bytes(
    [*BYTES, b"", b""], EOS, special_names={CALL: "<call>", END: "</call>"}
)


def tool(name: str, schema: dict[str, object] = CITY) -> f.Tag:
    return f.Tag(
        f"<function={name}>",
        f.Capture("args", f.JSONSchema(schema)),
        "</function>",
        name=f"tool {name}",
    )


TOOLS = f.TriggeredTags(["<function="], [tool("a"), tool("b")])


def test_a_tag_has_its_name_in_places_though_schemas_are_equal() -> None:
    compiled = wb.compile(grammar_of(TOOLS), byte_vocabulary())
    for name in "ab":
        matcher = compiled.matcher()
        matcher.accept_tokens(f'so <function={name}>{{"city": '.encode())
        why = wb.explain(matcher, ord("3"))
        assert f"tool {name} › #/properties/city" in [frame.pointer for frame in why.stack]
    pointers = {outcome.pointer for outcome in grammar_of(TOOLS).outcomes}
    assert {"tool a#/properties/city/type", "tool b#/properties/city/type"} <= pointers


def test_captures_tell_the_arguments_of_each_call() -> None:
    text = 'so <function=b>{"city": "x"}</function>, <function=a>{"city": "y"}</function> <func'
    found = wb.match(grammar_of(TOOLS), text)
    assert found is not None
    assert [one.text for one in found.named("args")] == ['{"city": "x"}', '{"city": "y"}']


@pytest.mark.parametrize(
    "text", ["<function=", "<function=c", "x <function=a>{}</function>", "x<function=a>"]
)
def test_behind_a_trigger_a_tag_has_to_come_whole(text: str) -> None:
    assert wb.match(grammar_of(TOOLS), text) is None


def accepts(format: f.Format, ids: list[int], vocabulary: wb.Vocabulary = SPECIAL) -> bool:
    matcher = wb.compile(grammar_of(format), vocabulary).matcher()
    return matcher.accept_tokens(ids) == len(ids) and matcher.is_accepting


def test_a_trigger_that_is_a_special_token_cannot_be_spelled_out() -> None:
    call = f.Tag(f.Marker("<call>"), f.RegexPattern("[ab]"), f.Marker("</call>"))
    calls = f.TriggeredTags([f.Marker("<call>")], [call])
    assert accepts(calls, [*b"so <call", CALL, *b"a", END, *b" then"])
    assert not accepts(calls, list(b"so <call>a</call>"))
    assert not accepts(calls, [CALL, *b"a</call>"])
    assert not accepts(calls, [CALL, *b"a", END, CALL])
    assert accepts(calls, list(b"so <call>a</call> then"), byte_vocabulary())
    assert not accepts(calls, list(b"so <call>c"), byte_vocabulary())


def test_free_text_in_a_tag_never_holds_its_end() -> None:
    for end, vocabulary in ((f.Marker("</call>"), SPECIAL), ("</call>", byte_vocabulary())):
        thought = f.Tag("<think>", f.AnyText(), end)
        matcher = wb.compile(grammar_of(thought), vocabulary).matcher()
        assert matcher.accept_tokens(b"<think>so </call") == 16
        assert matcher.accept(ord(">")) is (vocabulary is not SPECIAL)
        assert matcher.is_accepting is (vocabulary is not SPECIAL)


def test_tokens_are_told_apart_by_id_and_name() -> None:
    assert accepts(f.TokenOf("<call>"), [CALL])
    assert accepts(f.TokenOf(CALL), [CALL])
    assert not accepts(f.TokenOf(CALL), list(b"<call>"))
    assert accepts(f.ExcludeToken([CALL]), [END])
    assert not accepts(f.ExcludeToken([CALL]), [CALL])
    assert not accepts(f.ExcludeToken(), [])
    assert accepts(f.AnyTokens(["<call>"], 3), [END, *b"ab"])
    assert not accepts(f.AnyTokens(["<call>"], 3), [END, *b"abc"])


def test_any_tokens_in_a_tag_stop_at_the_token_that_ends_it() -> None:
    tag = f.Tag(f.TokenOf(CALL), f.AnyTokens(), f.TokenOf(END))
    assert accepts(tag, [CALL, *b"ab", CALL, END])
    assert not accepts(tag, [CALL, END, END])
    twice = f.Tag(f.TokenOf(CALL), f.Sequence([f.ExcludeToken(), f.AnyTokens()]), f.TokenOf(END))
    assert not accepts(twice, [CALL, END, END])


@pytest.mark.parametrize("at_least_one", [False, True])
@pytest.mark.parametrize("stop_after_first", [False, True])
def test_tags_that_tokens_trigger(at_least_one: bool, stop_after_first: bool) -> None:
    tag = f.Tag(f.TokenOf("<call>"), f.RegexPattern("[ab]"), f.TokenOf(END))
    tags = f.TokenTriggeredTags([CALL, "<call>"], [tag], at_least_one, stop_after_first, [ord("x")])
    once = [CALL, *b"a", END]
    assert accepts(tags, once)
    assert accepts(tags, list(b"so")) is not at_least_one
    assert accepts(tags, [*b"so", *once]) is not at_least_one
    assert accepts(tags, [*once, *b"so"]) is not stop_after_first
    assert accepts(tags, [*once, *b"so", *once]) is not stop_after_first
    assert not accepts(tags, list(b"x"))
    assert not accepts(tags, [CALL])


def test_what_tokens_lead_to() -> None:
    rules = [(CALL, f.ConstString("a")), ("</call>", f.ConstString("b"))]
    assert accepts(f.TokenDispatch(rules), [*b"so", CALL, *b"a", END, *b"b", *b"so"])
    assert not accepts(f.TokenDispatch(rules), [CALL, *b"b"])
    assert accepts(f.TokenDispatch(rules, loop=False), [*b"so", CALL, *b"a"])
    assert not accepts(f.TokenDispatch(rules, loop=False), [CALL, *b"ab"])


def test_a_part_is_any_grammar() -> None:
    part = f.Part(wb.seq("n = ", wb.capture("n", wb.json_schema({"type": "integer"}))), "number")
    found = wb.match(grammar_of(f.Sequence([part, f.ConstString(";"), part])), "n = 1;n = 22")
    assert found is not None
    assert [one.text for one in found.named("n")] == ["1", "22"]


def test_a_pattern_without_some_texts() -> None:
    language = grammar_of(f.RegexPattern("[ab]{0,4}", ["aa", "bbb"]))
    assert wb.match(language, "abba")
    assert not wb.match(language, "baab")
    assert not wb.match(language, "abbb")


def test_options_of_schemas() -> None:
    pair = {"type": "object", "properties": {"a": {"const": 1}, "b": {"const": 2}}, "required": ["a", "b"]}  # fmt: skip
    plain = grammar_of(f.JSONSchema(pair))
    either = grammar_of(f.JSONSchema(pair, any_order=True, max_whitespace_cnt=1))
    assert not wb.match(plain, '{"b": 2, "a": 1}')
    assert wb.match(either, '{"b": 2, "a": 1}')
    assert wb.match(plain, '{"a":  1, "b": 2}')
    assert not wb.match(either, '{"a":  1, "b": 2}')
    assert not wb.match(plain, '{"a": 1, "b": 2, "c": 3}')
    is_open = grammar_of(f.JSONSchema(pair, options={"additional_properties": True}))
    assert wb.match(is_open, '{"a": 1, "b": 2, "c": 3}')


def test_long_texts_are_counted() -> None:
    thought = f.Tag("<t>", f.AnyText(["!"], max_chars=700), "</t>")
    for n, fits in ((0, True), (700, True), (701, False)):
        text = ("é<" * 351)[:n]
        assert accepts(thought, list(f"<t>{text}</t>".encode()), byte_vocabulary()) is fits
    assert not accepts(thought, list(b"<t>!</t>"), byte_vocabulary())


def test_what_is_too_deep_is_refused() -> None:
    format: f.Format = f.ConstString("a")
    for _ in range(200):
        format = f.Optional(format)
    with pytest.raises(wb.GrammarTooComplex, match="100 formats inside each other"):
        grammar_of(format)
    for _ in range(2_000):
        format = f.Optional(format)
    with pytest.raises(wb.GrammarTooComplex):
        wb.to_structural_tag(format)


def test_many_triggers_are_told_apart_quickly() -> None:
    """The work grows with the letters of all triggers, not with its square."""
    names = [f"<call {number} of {number % 7}>" for number in range(300)]
    calls = f.TriggeredTags(names, [f.Tag(name, f.ConstString("x"), "") for name in names])
    grammar = grammar_of(calls)
    assert wb.match(grammar, "so <call 77 of 0>x, <call 299 of 5>x")
    assert not wb.match(grammar, "so <call 77 of 0>y")


A = f.ConstString("a")
WRONG: list[tuple[Callable[[], object], str]] = [
    (lambda: f.Tag("<a>", "x", "</a>"), r"Tag\(content=…\) takes a format, not a str: wrap it: Const"),
    (lambda: f.Sequence([wb.regex("a")]), r"wrap it: Part\(grammar\)"),
    (lambda: f.Sequence(A), "put it in a list"),
    (lambda: f.Or([]), "elements is empty"),
    (lambda: f.Tag("<a>", A, []), "there is no end"),
    (lambda: f.Tag(3, A, ""), r"Tag\(begin=…\) takes a text, not an int"),
    (lambda: f.TriggeredTags([], [f.Tag("<a>", A, "")]), "no trigger"),
    (lambda: f.TriggeredTags([""], [f.Tag("<a>", A, "")]), "the text is empty"),
    (lambda: f.TriggeredTags(["<b"], [f.Tag("<a>", A, "")]), "no trigger begins the tag '<a>'"),
    (lambda: f.TriggeredTags(["<a"], [f.Tag(f.TokenOf(1), A, "")]), "use TokenTriggeredTags"),
    (lambda: f.TokenTriggeredTags([1], [f.Tag("<a>", A, "")]), "use TriggeredTags"),
    (lambda: f.TokenTriggeredTags([1], [f.Tag(f.TokenOf(2), A, "")]), "2, which is no trigger"),
    (lambda: f.TagsWithSeparator([], ","), "there are no tags"),
    (lambda: f.TagsWithSeparator([A], ","), "takes tags, not a ConstString"),
    (lambda: f.Repeat(3, 2, A), "max is 2, less than min, 3"),
    (lambda: f.Dispatch([("a", A, A)]), "pairs"),
    (lambda: f.TokenOf(-1), "0 or a positive integer, not -1"),
    (lambda: f.TokenOf(True), "the id or the name of a token, not a bool"),
    (lambda: f.JSONSchema({}, style="yaml"), "'yaml' is no style of values"),
    (lambda: f.JSONSchema("{}"), "a mapping or a boolean, not a str"),
    (lambda: f.ConstString("\ud800"), "half of a surrogate pair"),
    (lambda: f.Marker(""), "the text is empty"),
    (lambda: f.Part("a"), "Part takes a Grammar, not a str"),
    (lambda: grammar_of("a"), "grammar_of takes a format, not a str"),  # type: ignore[arg-type]
    (
        lambda: grammar_of(f.TriggeredTags(["b<", "ab<x"], [f.Tag("ab<x>", A, "")])),
        "the trigger 'ab<x' can never come: free text ends at 'b<' in it",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("make", "text"), WRONG)
def test_what_is_wrong_is_told(make: Callable[[], object], text: str) -> None:
    with pytest.raises((ValueError, wb.WorkbenchError), match=text):
        make()

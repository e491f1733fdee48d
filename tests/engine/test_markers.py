"""Markers: a special token where the vocabulary has one of that name, else bytes."""

from __future__ import annotations

from pathlib import Path

import pytest

import workbench as wb
from workbench.grammar.fingerprint import fingerprint
from workbench.grammar.ir import Grammar, Marker, Seq, literal

BYTES = [bytes([byte]) for byte in range(256)]
EOS, THINK, END = 256, 257, 258
SPECIAL = wb.Vocabulary.from_bytes(
    [*BYTES, b"", b"", b""], EOS, special_names={THINK: "<think>", END: "</think>"}
)
ORDINARY = wb.Vocabulary.from_bytes([*BYTES, b"", b"<think>", b"</think>"], EOS)
OTHERS = wb.Vocabulary.from_bytes([*BYTES, b"", b"<th", b"nk>"], EOS)
BYTES_ONLY = wb.Vocabulary.from_bytes([*BYTES, b""], EOS)

THOUGHT = wb.marker("<think>") + wb.text_until("</think>") + wb.marker("</think>") + "!"


def accepts(grammar: Grammar, vocabulary: wb.Vocabulary, ids: list[int]) -> bool:
    matcher = wb.compile(grammar, vocabulary).matcher()
    return matcher.accept_tokens(ids) == len(ids) and matcher.is_accepting


def first_ids(grammar: Grammar, vocabulary: wb.Vocabulary) -> list[int]:
    return list(wb.compile(grammar, vocabulary).matcher().allowed_ids())


def test_the_special_token_alone_where_there_is_one() -> None:
    assert first_ids(THOUGHT, SPECIAL) == [THINK]
    assert accepts(THOUGHT, SPECIAL, [THINK, *b"so", END, *b"!"])
    assert not accepts(THOUGHT, SPECIAL, [THINK, *b"so</think>!"])
    # nor is the beginning of the end spelled and then the rest
    matcher = wb.compile(THOUGHT, SPECIAL).matcher()
    assert matcher.accept_tokens([THINK, *b"</think>"]) == len(b"</think>")


def test_bytes_in_any_spelling_where_there_is_none() -> None:
    spelled = list(b"<think>so</think>!")
    for vocabulary in (ORDINARY, OTHERS, BYTES_ONLY):
        assert accepts(THOUGHT, vocabulary, spelled)
    assert first_ids(THOUGHT, ORDINARY) == [ord("<"), 257]
    assert accepts(THOUGHT, ORDINARY, [257, *b"so", 258, *b"!"])
    assert first_ids(THOUGHT, OTHERS) == [ord("<"), 257]
    assert accepts(THOUGHT, OTHERS, [257, *b"ink>so</think>!"])
    assert first_ids(THOUGHT, BYTES_ONLY) == [ord("<")]


def test_a_marker_is_cut_as_a_tokenizer_cuts_it() -> None:
    """Left to right, the longest name first; between the names are bytes."""
    names = {257: "<|start|>", 258: "<|start|>x", 259: "<|end|>", 260: "|>"}
    vocabulary = wb.Vocabulary.from_bytes([*BYTES, *[b""] * 5], EOS, special_names=names)
    grammar = wb.marker("a<|start|>b<|start|>x|><|end|><|start")
    assert accepts(grammar, vocabulary, [*b"a", 257, *b"b", 258, 260, 259, *b"<|start"])
    assert not accepts(grammar, vocabulary, [*b"a", 257, *b"b", 257, *b"x", 260, 259, *b"<|start"])


def test_a_marker_may_be_the_end_of_the_text() -> None:
    vocabulary = wb.Vocabulary.from_bytes([*BYTES, b""], EOS, special_names={EOS: "<|im_end|>"})
    matcher = wb.compile(wb.seq("hi", wb.marker("<|im_end|>")), vocabulary).matcher()
    assert matcher.accept_tokens([*b"hi"]) == 2
    assert list(matcher.allowed_ids()) == [EOS]


def test_one_grammar_for_every_vocabulary(tmp_path: Path) -> None:
    """Also when it was stored, when it stands in others and when it comes from its rules."""
    captured = wb.capture("thought", THOUGHT)
    whole = wb.seq("a", captured, wb.json_schema({"type": "integer"}))
    again = wb.from_rules(wb.to_rules(whole))
    in_text = wb.gbnf('root ::= "a" thought [0-9]', rules={"thought": captured})
    for grammar in (whole, again, in_text):
        assert accepts(grammar, SPECIAL, [*b"a", THINK, *b"so", END, *b"!7"])
        assert accepts(grammar, BYTES_ONLY, list(b"a<think>so</think>!7"))
        assert not accepts(grammar, SPECIAL, list(b"a<think>so</think>!7"))
        found = wb.match(grammar, [*b"a", THINK, *b"so", END, *b"!7"], SPECIAL)
        assert found is not None
        assert found["thought"].bytes == b"so!"
    path = tmp_path / "thought.bin"
    wb.compile(whole, BYTES_ONLY).save(path)
    there = wb.load_compiled(path, SPECIAL).matcher()
    assert there.accept_tokens([ord("a"), THINK]) == 2
    assert wb.load_compiled(path, BYTES_ONLY).matcher().accept_tokens(b"a<think>") == 8


def test_in_a_text_a_marker_is_its_text() -> None:
    grammar = wb.capture("thought", THOUGHT)
    for vocabulary in (None, SPECIAL, BYTES_ONLY):
        found = wb.match(grammar, "<think>so</think>!", vocabulary)
        assert found is not None
        assert found["thought"].text == "<think>so</think>!"
    compiled = wb.compile(grammar, SPECIAL)
    assert wb.match(compiled, "<think>so</think>!") is not None
    assert not wb.coverage(compiled, ["<think>so</think>!"]).refused


def test_markers_are_told_by_what_is_asked() -> None:
    matcher = wb.compile(THOUGHT, SPECIAL).matcher()
    assert matcher.explain(ord("<")).allowed is False
    assert matcher.explain(THINK).allowed
    matcher.accept_tokens([THINK, *b"so"])
    assert "</think>" in str(wb.explain(matcher, END))
    for vocabulary in (SPECIAL, ORDINARY, BYTES_ONLY):
        assert len(wb.dead_ends(THOUGHT, vocabulary)) == 0


def test_members_of_objects_behind_a_token_are_no_dead_end() -> None:
    grammar = wb.marker("<think>") + wb.json_schema({"type": "object"})
    assert len(wb.dead_ends(grammar, SPECIAL)) == 0
    assert len(wb.dead_ends(wb.token("<think>") + wb.json_schema({}), SPECIAL)) == 0


def test_gbnf_has_the_text_of_a_marker() -> None:
    assert '"<think>"' in wb.to_gbnf(THOUGHT).text


def test_no_operation_on_languages_takes_markers() -> None:
    with pytest.raises(wb.NotRegular, match="may be a token"):
        wb.complement(THOUGHT)


def test_equal_markers_are_equal() -> None:
    assert Marker("<a>") == Marker("<a>") != Marker("<b>")
    one = Grammar({"root": Seq((Marker("<think>"), literal("a")))}, "root")
    two = Grammar({"root": Seq((Marker("<think>"), literal("a")))}, "root")
    assert fingerprint(one) == fingerprint(two) is not None
    other = Grammar({"root": Seq((literal("<think>"), literal("a")))}, "root")
    assert fingerprint(one) != fingerprint(other)


def test_a_text_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="not empty"):
        wb.marker("")
    with pytest.raises(ValueError, match="surrogate"):
        wb.marker("\ud800")
    with pytest.raises(wb.WrongType, match="marker takes a text"):
        wb.marker(3)  # type: ignore[arg-type]

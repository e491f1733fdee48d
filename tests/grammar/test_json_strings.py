"""Texts in JSON strings but some, in each style: ``json.loads`` says what a spelling means."""

from __future__ import annotations

import json
import pickle
import re
from dataclasses import replace

import pytest
from hypothesis import given, settings, strategies as st

import workbench as wb
from tests.frontends.ir_match import matches
from workbench.grammar.fingerprint import fingerprint
from workbench.grammar.ir import Graph, JsonStyle, Literal, OtherText, Repeat
from workbench.grammar.json_strings import other_texts, spelled_out

STYLES: tuple[JsonStyle, ...] = ("any", "ascii", "plain")
#: pieces of spellings, whole characters and halves
PIECES = ["a", "b", "é", "😀", "/", "\\/", "\\n", '\\"', "\\\\", "\\u0061", "\\u00e9", "\\u00E9"]
PIECES += ["\\ud83d\\ude00", "\\ud83d", "\\ude00", "\\", '"', "\n", "\x7f", "\\u000", "\\u0001"]
TEXTS = ["", "a", "ab", "é", "é/", "😀", "😀a", '"', "\\", "/", "\n", "\x01", "\x7f", "\ud83d"]


def meant(written: str, style: JsonStyle) -> str | None:
    """What a spelling says, or None when it is none of a style."""
    try:
        text = json.loads(f'"{written}"')
        text.encode()
    except ValueError:
        return None
    if style == "ascii" and not re.fullmatch(r"[\x20-\x7e]*", written):
        return None
    if style == "plain" and "\\u" in written.replace("\\\\", ""):
        return None
    assert isinstance(text, str)
    return text


@pytest.mark.parametrize("style", STYLES)
@given(
    st.lists(st.sampled_from(TEXTS), max_size=5, unique=True),
    st.lists(st.sampled_from(PIECES), max_size=4).map("".join),
)
@settings(max_examples=200, deadline=None)
def test_every_text_but_some(style: JsonStyle, texts: list[str], written: str) -> None:
    language = other_texts(texts, style)
    text = meant(written, style)
    assert matches(language, written) == (text is not None and text not in texts)
    for one in texts:
        spelled = json.dumps(one, ensure_ascii=style == "ascii")[1:-1]
        assert not matches(language, spelled.encode("utf-8", "surrogatepass"))


def test_what_is_written_out() -> None:
    body = other_texts(())
    assert spelled_out(OtherText((), Repeat(Literal(b"x"), 0, None))) == Repeat(
        Literal(b"x"), 0, None
    )
    opened = OtherText(("a",), body, opening=b'"')
    assert matches(spelled_out(opened), '"b') and not matches(spelled_out(opened), '"a')
    assert isinstance(spelled_out(replace(opened, opening=b"")), Graph)
    with pytest.raises(wb.GrammarTooComplex, match="may come once"):
        spelled_out(replace(opened, fresh=True))


@pytest.mark.parametrize("unique_keys", [True, False])
def test_a_grammar_that_watches_texts_can_be_pickled_and_compared(unique_keys: bool) -> None:
    schema = {"properties": {"a": {"type": "array", "uniqueItems": True}}, "type": "object"}
    lazy = wb.json_schema(schema, unique_keys=unique_keys)
    grammar = replace(lazy, rules=dict(lazy.rules))
    again = pickle.loads(pickle.dumps(grammar))
    assert again == grammar
    assert fingerprint(again) == fingerprint(grammar) is not None
    changed = {
        name: OtherText(("b",), Literal(b"")) if name == grammar.start else expr
        for name, expr in grammar.rules.items()
    }
    assert replace(grammar, rules=changed) != grammar

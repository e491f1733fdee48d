"""Pieces of a document: all of them, and nothing else, by comparing with all slices."""

from __future__ import annotations

import re
from itertools import product

import pytest
from hypothesis import given, settings, strategies as st

import workbench as wb
from workbench.automaton.suffixes import suffix_automaton
from workbench.grammar.byte_graph import ByteGraph

BYTES = wb.Vocabulary.from_bytes([*(bytes([b]) for b in range(256)), b""], eos_ids=(256,))


def accepted(grammar: wb.Grammar, text: str | bytes) -> bool:
    data = text.encode() if isinstance(text, str) else text
    matcher = wb.compile(grammar, BYTES).matcher()
    return matcher.accept_tokens(data) == len(data) and matcher.is_accepting


def slices(document: str) -> set[str]:
    n = len(document)
    return {document[i:j] for i in range(n + 1) for j in range(i, n + 1)}


def by_words(document: str) -> set[str]:
    spans = [found.span() for found in re.finditer(r"\S+", document)]
    return {document[a:d] for i, (a, _) in enumerate(spans) for _, d in spans[i:]} | {""}


@given(st.text("ab\u00e9\u20ac\U0001f600", max_size=14))
@settings(max_examples=60)
def test_all_pieces_of_characters(document: str) -> None:
    grammar, pieces = wb.substring(document), slices(document)
    for n in range(4):
        for chars in product("ab\u00e9\u20ac", repeat=n):
            text = "".join(chars)
            assert accepted(grammar, text) == (text in pieces)
    for piece in pieces:
        assert accepted(grammar, piece)
    # no character in halves
    data = document.encode()
    for i in range(len(data) + 1):
        for j in range(i, len(data) + 1):
            try:
                whole = data[i:j].decode() in pieces
            except UnicodeDecodeError:
                whole = False
            assert accepted(grammar, data[i:j]) == whole


@given(st.text("ab \n\u2003\u201c", max_size=16))
@settings(max_examples=60)
def test_all_pieces_of_words(document: str) -> None:
    """White space and characters of words may begin with the same bytes."""
    grammar, pieces = wb.substring(document, "word"), by_words(document)
    for text in slices(document) | {"a b", "ab", "a", "  "}:
        assert accepted(grammar, text) == (text in pieces), text


def test_pieces_of_bytes() -> None:
    grammar = wb.substring(b"\xff\xc3\xa9\x00")
    for piece in (b"\xff", b"\xa9\x00", b"\xc3", b"", b"\xff\xc3\xa9\x00"):
        assert accepted(grammar, piece)
    assert not accepted(grammar, b"\xff\x00")


def test_a_document_is_not_a_notation() -> None:
    document = 'root ::= "a" | [^;]* # (x+'
    grammar = wb.seq('"', wb.capture("quote", wb.substring(document)), '"')
    found = wb.match(grammar, '"[^;]* #"')
    assert found is not None and found.captures[0].text == "[^;]* #"
    assert wb.match(grammar, '"aa"') is None
    assert accepted(grammar, '""')


@given(st.text("abc", max_size=30))
@settings(max_examples=60)
def test_a_suffix_automaton_is_small(document: str) -> None:
    """As small as is proved: one state for each set of places where pieces end; few edges."""
    pieces = slices(document)
    ends = {
        frozenset(found.end() for found in re.finditer(f"(?=({re.escape(piece)}))", document))
        if not piece
        else frozenset(
            i + len(piece) for i in range(len(document)) if document.startswith(piece, i)
        )
        for piece in pieces
    }
    import numpy as np

    letters = np.frombuffer(document.encode(), dtype=np.uint8).astype(np.int32)
    n, edges = suffix_automaton(letters)
    assert n == len(ends)
    assert n <= max(2 * len(document), 1) + 1 and edges.shape[1] <= 3 * len(document)


def test_a_long_document() -> None:
    """Ten thousand words, of which a piece is read; large ones are told only where a text gets to them."""
    words = [f"w{i * i % 997}" for i in range(10_000)]
    document = " ".join(words)
    for unit in ("character", "word"):
        grammar = wb.substring(document, unit)  # type: ignore[arg-type]
        assert isinstance(grammar.rules["root"], ByteGraph)
        piece = " ".join(words[5_000:5_100])
        assert accepted(grammar, piece)
        assert accepted(grammar, piece[1:]) == (unit == "character")
        found = wb.match(wb.capture("it", grammar) + "!", piece + "!")
        assert found is not None and found.captures[0].text == piece
    matcher = wb.compile(grammar, BYTES).matcher()
    matcher.accept_tokens(b"w0 w1")
    assert not wb.explain(matcher, ord("x")).allowed
    assert wb.from_rules(wb.to_rules(grammar)).rules == grammar.rules


@pytest.mark.parametrize("document", ["", " ", "\n"])
def test_documents_without_words(document: str) -> None:
    for grammar in (wb.substring(document, "word"), wb.substring("")):
        assert accepted(grammar, "") and not accepted(grammar, " ")

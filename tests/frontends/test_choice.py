"""One of many texts: exactly the list, by any way it is kept, and the fewest states."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import workbench as wb
from workbench.grammar.byte_graph import ByteGraph
from workbench.grammar.ir import Graph, literal

BYTES = wb.Vocabulary.from_bytes([*(bytes([b]) for b in range(256)), b""], eos_ids=(256,))
#: more than stay alternatives
MANY = [f"{a}{b}{c}" for a, b, c in product(("", "re", "un"), "abcdefé", ("", "ing", "s", "s!"))]


def accepted(grammar: wb.Grammar, data: bytes) -> bool:
    matcher = wb.compile(grammar, BYTES).matcher()
    return matcher.accept_tokens(data) == len(data) and matcher.is_accepting


def language(grammar: wb.Grammar) -> set[bytes]:
    """All texts of a finite grammar, by masks alone."""
    matcher = wb.compile(grammar, BYTES).matcher()
    mask = wb.empty_mask(BYTES)
    found = set()
    todo = [b""]
    while todo:
        text = todo.pop()
        matcher.reset()
        assert matcher.accept_tokens(text) == len(text)
        matcher.fill_mask(mask)
        bits = np.unpackbits(mask.view(np.uint8), bitorder="little")
        if bits[256]:
            found.add(text)
        todo += [text + bytes([int(b)]) for b in np.flatnonzero(bits[:256])]
    return found


words = st.lists(st.text("ab\u00e9", max_size=5), min_size=51, max_size=120)


@given(words)
@settings(max_examples=40)
def test_the_texts_are_the_language(texts: list[str]) -> None:
    # enough of them to become an automaton
    texts = [*texts, *(f"{i:x}" for i in range(60))]
    grammar = wb.choice(texts)
    assert isinstance(grammar.rules["root"], ByteGraph)
    assert language(grammar) == {text.encode() for text in texts}
    assert language(wb.choice(texts[:20])) == {text.encode() for text in texts[:20]}


@given(words)
@settings(max_examples=25)
def test_it_has_the_fewest_states(texts: list[str]) -> None:
    """States of a minimal automaton have different sets of what may follow (Myhill and Nerode)."""
    texts = [*texts, *(f"{i:x}" for i in range(60))]
    data = {text.encode() for text in texts}
    beginnings = {text[:n] for text in data for n in range(len(text) + 1)}
    rests = {frozenset(text[len(b) :] for text in data if text.startswith(b)) for b in beginnings}
    graph = wb.choice(texts).rules["root"]
    assert isinstance(graph, ByteGraph) and graph.n_states == len(rests)


def test_values_are_exact() -> None:
    texts = [*MANY, "", "A", "a b", ' "quoted" ', "a\nb", "x" * 300, "x" * 301, *MANY]
    grammar = wb.choice(texts)
    for text in texts:
        assert accepted(grammar, text.encode())
    for text in ("B", "ab", "x" * 299, "reaings", "é!"):
        assert accepted(grammar, text.encode()) == (text in texts)
    raw = wb.choice([*MANY, b"\xff\x00", b"\xff"])
    assert accepted(raw, b"\xff\x00") and accepted(raw, b"\xff") and not accepted(raw, b"\x00")
    assert not accepted(wb.choice(MANY), "É".encode())


def test_labels_are_captured() -> None:
    grammar = wb.choice({"yes": "y", "no": "n", "maybe": "nn", 'x" | "y': ""})
    for text, label in (("y", "yes"), ("n", "no"), ("nn", "maybe"), ("", 'x" | "y')):
        found = wb.match(grammar, text)
        assert found is not None and [c.name for c in found.captures] == [label]
    assert wb.match(grammar, "yn") is None


def test_many_texts_inside_of_other_grammars() -> None:
    many = wb.choice(MANY)
    grammar = wb.repeat(wb.seq("<", wb.capture("word", many), ">"), 1)
    found = wb.match(grammar, "<reas!><uné>")
    assert found is not None and [c.text for c in found.captures] == ["reas!", "uné"]
    assert accepted(grammar, b"<a>") and not accepted(grammar, b"<>")
    assert accepted(wb.seq(wb.choice([*MANY, ""]), "!"), b"!")
    less = wb.difference(many, wb.regex("re.*|.*é.*"))
    assert language(less) == {t.encode() for t in MANY if not t.startswith("re") and "é" not in t}


def test_a_byte_that_is_in_no_token_takes_its_texts_away() -> None:
    without = wb.Vocabulary.from_bytes(
        [*(bytes([b]) for b in range(256) if b != ord("g")), b""], eos_ids=(255,)
    )
    ids = {without.token_bytes(i): i for i in range(255)}
    matcher = wb.compile(wb.choice(MANY), without).matcher()
    mask = wb.empty_mask(without)
    assert matcher.accept_tokens([ids[b"r"], ids[b"e"], ids[b"a"]]) == 3
    matcher.fill_mask(mask)
    bits = np.unpackbits(mask.view(np.uint8), bitorder="little")
    # behind "rea" come "s" and the end, not "ing"
    allowed = {without.token_bytes(int(i)) for i in np.flatnonzero(bits) if i < 255}
    assert allowed == {b"s"} and bits[255]
    only = [f"g{i}" for i in range(60)]
    with pytest.raises(wb.UnsatisfiableGrammar):
        wb.compile(wb.choice(only), without)


def test_it_is_explained_covered_and_exported(tmp_path: Path) -> None:
    grammar = wb.choice(MANY)
    matcher = wb.compile(grammar, BYTES).matcher()
    matcher.accept_tokens(b"re")
    why = wb.explain(matcher, ord("Q"))
    assert not why.allowed and why.expected == frozenset(b"abcdef\xc3")
    assert wb.coverage(grammar, ["a", "b"]).accepted == 2
    assert not wb.dead_ends(grammar).findings
    assert language(wb.gbnf(wb.to_gbnf(grammar).text)) == {text.encode() for text in MANY}
    assert wb.from_rules(wb.to_rules(grammar)).rules == grammar.rules
    tests = {"accept": ["a", "unas!"], "reject": ["x"]}
    files = wb.export(grammar, tmp_path / "files", tests=tests, targets=["gbnf", "regex", "python"])
    assert files.written
    wb.compile(grammar, BYTES).save(tmp_path / "compiled")
    assert wb.load_compiled(tmp_path / "compiled", BYTES).grammar.rules == grammar.rules


def test_an_automaton_in_arrays_is_a_graph() -> None:
    rows = np.array([[0, 0, 1], [97, 98, 97], [97, 99, 122], [1, 0, 1]], dtype=np.int32)
    graph = ByteGraph(rows, np.array([False, True]))
    assert isinstance(graph, Graph) and graph.finals == (1,)
    assert [(a, b) for a, _, b in graph.edges] == [(0, 1), (0, 0), (1, 1)]
    assert (
        graph
        == ByteGraph(rows.copy(), np.array([False, True]))
        != ByteGraph(rows, np.array([True, True]))
    )
    assert graph.texts(1000) is None
    assert ByteGraph(rows[:, :1], np.array([False, True])).texts(1000) == [b"a"]
    one = wb.Grammar({"root": graph}, "root")
    two = wb.Grammar({"root": graph.plain()}, "root")
    for chars in product(b"abz", repeat=3):
        assert accepted(one, bytes(chars)) == accepted(two, bytes(chars))
    assert graph.has_text(frozenset(b"b")) and not graph.has_text(frozenset(b"a"))
    assert literal("a") != graph


@pytest.mark.parametrize(
    "rows",
    [
        [[0], [97], [97], [2]],
        [[-1], [97], [97], [0]],
        [[0], [98], [97], [0]],
        [[0], [97], [256], [0]],
        [[1, 0], [97, 97], [97, 97], [0, 0]],
        [[0], [97], [97]],
    ],
)
def test_arrays_that_are_no_automaton(rows: list[list[int]]) -> None:
    with pytest.raises(ValueError, match="graph over bytes"):
        ByteGraph(np.array(rows, dtype=np.int32), np.array([True, True]))

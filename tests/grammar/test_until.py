"""Texts that a marker ends, against the definition: where does a marker end for the first time?"""

from __future__ import annotations

import itertools

import pytest
from hypothesis import example, given, settings, strategies as st

from tests.frontends.ir_match import matches
from workbench.grammar.ir import ByteSet, CharSet, Graph, Seq, literal
from workbench.grammar.until import until

TEXTS = ["".join(chars) for n in range(7) for chars in itertools.product("abc", repeat=n)]
MARKERS = st.lists(st.text(alphabet="ab", min_size=1, max_size=4), min_size=1, max_size=3)


def first_end(text: str, markers: list[str]) -> int | None:
    return min((text.find(m) + len(m) for m in markers if m in text), default=None)


@given(MARKERS)
@example(["aa"])
@example(["abab", "ba"])
@example(["ab", "b"])
@example(["aab", "a"])
@settings(max_examples=40, deadline=None)
def test_texts_end_where_a_marker_ends_first(markers: list[str]) -> None:
    whole, before = until(markers), until(markers, include=False)
    raw = until([marker.encode() for marker in markers])
    for text in TEXTS:
        expected = first_end(text, markers) == len(text)
        assert matches(whole, text) == expected, text
        assert matches(raw, text) == expected, text
        assert matches(before, text) == any(
            first_end(text + marker, markers) == len(text + marker) for marker in markers
        ), text


@pytest.mark.parametrize("marker", ["aa", "abab", "a", "ab"])
def test_a_text_before_and_the_marker_are_a_text(marker: str) -> None:
    whole = until(marker)
    parts = Seq((until(marker, include=False), literal(marker)))
    assert [t for t in TEXTS if matches(whole, t)] == [t for t in TEXTS if matches(parts, t)]


def test_no_second_marker_and_no_more_text() -> None:
    think = until("</think>")
    assert think.n_states == len("</think>") + 1
    assert matches(think, "so <b>é</thin</think>")
    assert not matches(think, "</think>\n")
    assert not matches(think, "a</think>b</think>")
    assert not matches(think, "a")


def test_characters_and_bytes() -> None:
    text, raw = until("é"), until("é".encode())
    assert matches(text, "aäé")
    assert not matches(text, b"\xffa\xc3\xa9")
    assert matches(raw, b"\xffa\xc3\xc3\xa9")
    assert {type(label) for _, label, _ in text.edges} == {CharSet}
    assert {type(label) for _, label, _ in raw.edges} == {ByteSet}
    assert until(["é", b"\x00"]) == until(["é".encode(), b"\x00"])
    assert matches(until(b"\xff\x00"), b"\xfe\xff\xff\x00")


def test_edges_are_deterministic_and_complete() -> None:
    graph: Graph = until(["abab", "bb"])
    for state in range(graph.n_states - 1):
        taken = [
            pair
            for source, label, _ in graph.edges
            if source == state and isinstance(label, CharSet)
            for pair in label.ranges
        ]
        taken.sort()
        assert taken[0][0] == 0
        assert taken[-1][1] == 0x10FFFF
        assert all(a[1] + 1 == b[0] for a, b in itertools.pairwise(taken))


def test_a_long_marker() -> None:
    marker = "ab" * 5000 + "c"
    assert until(marker).n_states == len(marker) + 1


@pytest.mark.parametrize(
    ("markers", "message"),
    [
        ("", "is not empty"),
        (["a", b""], "is not empty"),
        ([], "no marker"),
        ("\ud83d", "half of a surrogate pair"),
    ],
)
def test_what_is_no_marker(markers: str | list[str | bytes], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        until(markers)

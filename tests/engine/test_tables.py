"""Packed automata: what is taken over piece by piece is what is there."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given, settings, strategies as st

import workbench as wb
from workbench.automaton import direct
from workbench.automaton.build import build_automaton
from workbench.automaton.model import WatchSpec
from workbench.engine import layout
from workbench.engine.slices import slices_of
from workbench.engine.tables import Packed

TEXTS = st.frozensets(st.text(st.sampled_from("abé\ud800"), max_size=4), max_size=8)


@cache
def vocabulary() -> wb.Vocabulary:
    return wb.Vocabulary.from_bytes([bytes([i]) for i in range(256)], [])


def spelled(packed: Packed, watch: int) -> list[bytes]:
    """The texts of a watch, read from its tree."""
    auto = packed.auto

    def at(slot: int, index: int) -> int:
        return int(auto[int(auto[slot]) + index])

    found = []
    todo = [(at(layout.WATCH_ROOT, watch), b"")]
    while todo:
        node, head = todo.pop()
        if at(layout.TREE_END, node):
            found.append(head)
        children = range(at(layout.TREE_START, node), at(layout.TREE_START, node + 1))
        following = [at(layout.TREE_BYTE, child) for child in children]
        assert len(set(following)) == len(following)
        todo += [
            (at(layout.TREE_NODE, child), head + bytes([byte]))
            for child, byte in zip(children, following, strict=True)
        ]
    return sorted(found)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(TEXTS, max_size=3), min_size=1, max_size=3))
def test_trees_of_texts(batches: list[list[frozenset[str]]]) -> None:
    automaton = build_automaton(wb.regex("a"))
    packed = Packed(automaton, slices_of(vocabulary()))
    for batch in batches:
        automaton.watches += tuple(WatchSpec(tuple(texts)) for texts in batch)
        packed.sync()
        for number, watch in enumerate(automaton.watches):
            expected = sorted(text.encode("utf-8", "surrogatepass") for text in watch.texts)
            assert spelled(packed, number) == expected


def test_an_automaton_taken_over_bit_by_bit_is_one_taken_over_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All parts of a schema's automaton, from each of its states of growth."""
    names = {f"p{i}": {"type": "string", "maxLength": i} for i in range(12)}
    schema = {"properties": names | {"o": {"properties": names}, "e": {"enum": [1, "a", None]}}}
    monkeypatch.setattr(direct, "_AHEAD", 1)
    slices = slices_of(vocabulary())
    compiled = wb.compile(wb.json_schema(schema), vocabulary(), cache=False)
    automaton = compiled.automaton
    packed = Packed(automaton, slices)
    steps = 0
    while -1 in automaton.entry_state:
        assert automaton.grow is not None
        automaton.grow(automaton, automaton.entry_state.tolist().index(-1), 1)
        packed.sync()
        steps += 1
    whole = Packed(automaton, slices)
    assert steps > 5
    assert packed._filled == whole._filled
    for slot, length in whole._filled.items():
        a, b = int(packed.auto[slot]), int(whole.auto[slot])
        mine, its = packed.auto[a : a + length], whole.auto[b : b + length]
        # sets are kept in the order in which they came, and named by where they begin
        if slot not in (layout.SETS, layout.SCOPE_REQUIRED, layout.GUARD_SET):
            assert (mine == its).all(), slot

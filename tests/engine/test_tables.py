"""Packed automata: what is taken over piece by piece is what is there."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given, settings, strategies as st

import workbench as wb
from workbench.automaton import builder
from workbench.automaton.build import build_automaton
from workbench.automaton.network import WatchSpec
from workbench.changes import at_once
from workbench.engine.kernels.context import Context
from workbench.engine.slices import slices_of
from workbench.engine.tables import Packed

TEXTS = st.frozensets(st.text(st.sampled_from("abé\ud800"), max_size=4), max_size=8)


@cache
def vocabulary() -> wb.Vocabulary:
    return wb.Vocabulary.from_bytes([bytes([i]) for i in range(256)], [])


def spelled(ctx: Context, watch: int) -> list[bytes]:
    """The texts of a watch, read from its tree."""
    found = []
    todo = [(int(ctx.watch_root[watch]), b"")]
    while todo:
        node, head = todo.pop()
        if ctx.tree_end[node]:
            found.append(head)
        first, last = int(ctx.tree_start[node]), int(ctx.tree_start[node + 1])
        following = ctx.tree_byte[first:last].tolist()
        assert len(set(following)) == len(following)
        todo += [
            (int(child), head + bytes([byte]))
            for child, byte in zip(ctx.tree_node[first:last], following, strict=True)
        ]
    return sorted(found)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(TEXTS, max_size=3), min_size=1, max_size=3))
def test_trees_of_texts(batches: list[list[frozenset[str]]]) -> None:
    automaton = build_automaton(wb.regex("a"))
    ctx = Context()
    packed = Packed(automaton, slices_of(vocabulary()), ctx)
    for batch in batches:
        automaton.watches += tuple(WatchSpec(tuple(texts)) for texts in batch)
        at_once(packed.sync(ctx))
        for number, watch in enumerate(automaton.watches):
            expected = sorted(text.encode("utf-8", "surrogatepass") for text in watch.texts)
            assert spelled(ctx, number) == expected


def test_an_automaton_taken_over_bit_by_bit_is_one_taken_over_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All parts of a schema's automaton, from each of its states of growth."""
    names = {f"p{i}": {"type": "string", "maxLength": i} for i in range(12)}
    schema = {"properties": names | {"o": {"properties": names}, "e": {"enum": [1, "a", None]}}}
    monkeypatch.setattr(builder, "_AHEAD", 1)
    slices = slices_of(vocabulary())
    compiled = wb.compile(wb.json_schema(schema), vocabulary(), cache=False)
    automaton = compiled.automaton
    growing, entire = Context(), Context()
    packed = Packed(automaton, slices, growing)
    steps = 0
    while -1 in automaton.entry_state:
        assert automaton.grow is not None
        automaton.grow(automaton, automaton.entry_state.tolist().index(-1), 1)
        at_once(packed.sync(growing))
        steps += 1
    whole = Packed(automaton, slices, entire)
    assert steps > 5
    assert packed.columns.filled == whole.columns.filled
    for name, length in whole.columns.filled.items():
        mine, its = getattr(growing, name)[:length], getattr(entire, name)[:length]
        # sets are kept in the order in which they came, and named by where they begin
        if name not in ("sets", "scope_required", "guard_set"):
            assert (mine == its).all(), name

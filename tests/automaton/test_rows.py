"""Rows of edges and calls: put into the order of states they are the same rows, and jumps are what leads to the end."""

from __future__ import annotations

import numpy as np
from hypothesis import given, strategies as st

from workbench.automaton.determinise import laid_out

PLACES = st.integers(0, 5)
EMPTY = st.tuples(PLACES, st.just(-1), st.integers(-1, 1), PLACES)
EDGE = st.tuples(PLACES, st.integers(0, 3), st.integers(3, 5), PLACES)
CALL = st.tuples(PLACES, st.integers(0, 2), st.integers(-1, 1), st.integers(-1, 1), PLACES)
ROWS = st.lists(st.one_of(EMPTY, EDGE), max_size=14)


def reached(start: int, rows: list[tuple[int, int, int, int]]) -> set[int]:
    """What plain empty edges lead to."""
    seen = {start}
    while True:
        more = {b for a, low, guard, b in rows if a in seen and low == guard == -1} - seen
        if not more:
            return seen
        seen |= more


@given(ROWS, st.lists(CALL, max_size=6), st.sets(PLACES))
def test_rows_in_order(
    rows: list[tuple[int, int, int, int]],
    calls: list[tuple[int, int, int, int, int]],
    ends: set[int],
) -> None:
    final = np.array([place in ends for place in range(6)])
    columns = np.array(rows, dtype=np.int32).reshape(-1, 4).T
    nfa = laid_out(columns, np.array(calls, dtype=np.int32).reshape(-1, 5).T, final, 6)
    edges = sorted((row for row in rows if row[1] >= 0), key=lambda row: row[:2])
    assert nfa.edges.T.tolist() == [list(row) for row in edges]
    empties = sorted((row for row in rows if row[1] < 0), key=lambda row: row[0])
    assert nfa.empties.T.tolist() == [[a, b, guard] for a, _, guard, b in empties]
    busy = {a for a, low, guard, _ in rows if low >= 0 or guard >= 0} | {call[0] for call in calls}
    expected = []
    for source, entry, loop, watch, after in sorted(calls, key=lambda call: call[0]):
        behind = reached(after, rows)
        jump = loop == watch == -1 and behind & ends and not behind & busy
        expected.append([source, entry, loop, watch, -1 if jump else after])
    assert nfa.calls.T.tolist() == expected
    for at, some in ((nfa.edge_at, edges), (nfa.empty_at, empties), (nfa.call_at, calls)):
        counts = [sum(row[0] == place for row in some) for place in range(6)]
        assert np.diff(at).tolist() == counts
        assert at[0] == 0

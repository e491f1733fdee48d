"""Finite automata over bytes in arrays: languages of which each state would cost too much as a value of its own.

A :class:`ByteGraph` is a :class:`~workbench.grammar.expressions.Graph`, and its edges can be had as those of one;
what has to be quick, or would need much memory, looks at the arrays.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from workbench.grammar.expressions import ByteSet, Expr, Graph
from workbench.wording import number_of

__all__ = ["ByteGraph"]


class ByteGraph(Graph):
    """A finite automaton whose edges read one byte of a range.

    ``rows`` are columns: source, first byte, last byte, target (int32), sorted by source; ``ends`` says of each
    state whether it is final. Raises ``ValueError`` for arrays that are no automaton.
    """

    __slots__ = ("ends", "rows")

    rows: NDArray[np.int32]
    ends: NDArray[np.bool_]

    def __init__(self, rows: NDArray[np.int32], ends: NDArray[np.bool_], start: int = 0) -> None:
        n = len(ends)
        rows = np.ascontiguousarray(rows, dtype=np.int32)
        if rows.ndim != 2 or len(rows) != 4 or not 0 <= start < n:
            raise ValueError("a graph over bytes has four columns of edges, and a start")
        if rows.size and (
            rows.min() < 0
            or max(int(rows[0].max()), int(rows[3].max())) >= n
            or int(rows[2].max()) > 0xFF
            or bool((rows[1] > rows[2]).any())
            or bool((np.diff(rows[0]) < 0).any())
        ):
            raise ValueError("an edge of a graph over bytes joins no states, or reads no byte")
        put = object.__setattr__
        put(self, "origin", None)
        put(self, "n_states", n)
        put(self, "start", start)
        put(self, "rows", rows)
        put(self, "ends", np.ascontiguousarray(ends, dtype=np.bool_))

    @property
    def edges(self) -> tuple[tuple[int, Expr, int], ...]:
        """The edges as those of any graph, made at each call."""
        return tuple((a, _range(low, high), b) for a, low, high, b in self.rows.T.tolist())

    @property
    def finals(self) -> tuple[int, ...]:
        """The final states, made at each call."""
        return tuple(np.flatnonzero(self.ends).tolist())

    @property
    def is_nullable(self) -> bool:
        """Whether the empty text belongs to it."""
        return bool(self.ends[self.start])

    def labels(self) -> tuple[Expr, ...]:
        """None: it has no parts."""
        return ()

    def has_text(self, missing: frozenset[int] = frozenset()) -> bool:
        """Whether it has a text without some bytes."""
        if not missing:
            return bool(self.ends.any())
        present = np.array([byte not in missing for byte in range(256)]).cumsum()
        before = np.concatenate([[0], present])
        spelled = before[self.rows[2] + 1] > before[self.rows[1]]
        sources, targets = self.rows[0, spelled], self.rows[3, spelled]
        reached = np.zeros(len(self.ends), dtype=np.bool_)
        reached[self.start] = True
        at = np.searchsorted(sources, np.arange(len(self.ends) + 1))
        todo = [self.start]
        for state in todo:
            if self.ends[state]:
                return True
            for target in targets[at[state] : at[state + 1]].tolist():
                if not reached[target]:
                    reached[target] = True
                    todo.append(target)
        return False

    def plain(self) -> Graph:
        """The same as a graph without arrays."""
        return Graph(self.n_states, self.start, self.finals, self.edges)

    def texts(self, most: int) -> list[bytes] | None:
        """All its texts, sorted; None where they have more than ``most`` bytes in all."""
        if not len(self.ends) or self.rows.shape[1] > most:
            return None
        leaving: list[list[tuple[int, int, int]]] = [[] for _ in self.ends]
        for source, low, high, target in self.rows.T.tolist():
            leaving[source].append((low, high, target))
        found: list[bytes] = []
        left = most
        todo = [(self.start, b"")]
        while todo:
            state, text = todo.pop()
            left -= 1 + len(text)
            if left < 0:
                return None
            if self.ends[state]:
                found.append(text)
            todo += [
                (target, text + bytes((byte,)))
                for low, high, target in leaving[state]
                for byte in range(low, high + 1)
            ]
        return sorted(found)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ByteGraph) and (
            self.start == other.start
            and np.array_equal(self.ends, other.ends)
            and np.array_equal(self.rows, other.rows)
        )

    def __hash__(self) -> int:
        return hash((self.start, self.ends.tobytes(), self.rows.tobytes()))

    def __repr__(self) -> str:
        edges = number_of(self.rows.shape[1], "edge")
        return f"ByteGraph({number_of(len(self.ends), 'state')}, {edges})"


@lru_cache(maxsize=4096)
def _range(low: int, high: int) -> ByteSet:
    return ByteSet((1 << high + 1) - (1 << low))

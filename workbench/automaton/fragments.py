"""Expressions -> positions and edges of bytes; those of an expression that is used often are made once.

An expression without uses of rules, scopes, guards and watched texts becomes the same positions and edges
wherever it stands. Such an expression becomes a :class:`Fragment` when it is met for the second time, in the same
grammar or in another one; the fragment is kept as long as the expression lives. From then on each use of it is one
line in a list. The edges of all these uses, and those of literals, are computed together (:meth:`Pieces.edges`).
"""

from __future__ import annotations

from array import array
from typing import Any, Literal as OneOf, NamedTuple

import numpy as np
from numpy.typing import NDArray

from workbench.automaton.memo import Memo
from workbench.automaton.piece_kernels import END, START, Collected, gather
from workbench.automaton.repeats import LONG_RUN, collapsed, runs_joined
from workbench.grammar.byte_graph import ByteGraph
from workbench.grammar.ir import (
    EMPTY,
    Alt,
    ByteSet,
    CharSet,
    Expr,
    Graph,
    Literal,
    Origin,
    Repeat,
    Seq,
    children,
)
from workbench.grammar.thompson import Construction, Task
from workbench.grammar.utf8 import byte_ranges, utf8_graph

__all__ = ["EXPANSION", "Fragment", "Marks", "Pieces", "Rows"]

#: repetitions of at most this many leaves are written out, others are counted
EXPANSION = 6
#: alternatives beyond this number are sorted into a tree
_FACTORED = 4
#: in the rows of a fragment its own positions follow its start and its end
_OWN = 2
#: positions that a fragment has at most
_MOST = 50_000
#: in place of a fragment: the expression was met once; none can be made of it
_State = OneOf["met", "none"]
_MET: _State = "met"
_NONE: _State = "none"

#: rows by column
Rows = NDArray[np.int32]
#: how much has been collected
Marks = tuple[int, ...]
_NO_ROWS = np.zeros((4, 0), dtype=np.int32)


class Fragment(NamedTuple):
    """Positions and edges of an expression; position 0 is its start, 1 its end."""

    #: positions beside the start and the end
    n: int
    #: columns source, first byte, last byte, target; of empty edges -1 in place of bytes
    edges: Rows
    n_edges: int
    #: counted repeats: source, target, what is repeated
    counted: tuple[tuple[int, int, Repeat], ...]
    #: whether some of it may lead nowhere
    doubtful: bool

    @property
    def weight(self) -> int:
        """About how many bytes it takes, in hundreds."""
        return 10 + (self.edges.nbytes + 200 * len(self.counted)) // 100


#: 64 MB of them at most
_fragments: Memo[Fragment | _State] = Memo(640_000)


class _TooLarge(Exception):
    """More positions than a fragment is kept with."""


class Pieces(Construction):
    """Collects the positions and edges of expressions; edges of fragments and literals are made by :meth:`edges`.

    A repeat whose copies come to more than ``expansion`` leaves is counted.
    """

    def __init__(self, expansion: int = EXPANSION) -> None:
        self.n = 0
        self.expansion = expansion
        self._empty()

    def _empty(self) -> None:
        """Forget all edges, not the number of positions."""
        #: source, first byte, last byte, target, one after the other; of empty edges -1, guard or -1
        self.rows = array("i")
        #: source, first of the positions between, target, how many bytes; and the bytes
        self.literals = array("i")
        self.texts = bytearray()
        #: source, target, first of its own positions, how many edges; and the edges
        self.placed = array("i")
        self.moved: list[Rows] = []
        #: counted repeats: source, target, what is repeated
        self.repeats: list[tuple[int, int, Repeat]] = []
        #: edges in arrays
        self.tables: list[Rows] = []
        #: where runs of positions with one origin begin, and the origins
        self.origins: list[tuple[int, Origin | None]] = []
        self.doubtful = False
        self._origin: Any = self  # none yet

    def position(self, origin: Origin | None, n: int = 1) -> int:
        """The first of ``n`` new positions."""
        number = self.n
        self.n = number + n
        if origin is not self._origin:
            self._origin = origin
            self.origins.append((number, origin))
        return number

    def skip(self, a: int, b: int) -> None:
        """An empty edge."""
        self.rows.extend((a, -1, -1, b))

    def nothing(self) -> None:
        """Some part has no text at all."""
        self.doubtful = True

    def connect(self, top: Expr, start: int, end: int, origin: Origin | None = None) -> None:
        """Lead from one position to another by the texts of an expression."""
        stack: list[Task] = [(top, start, end, origin)]
        while stack:
            expr, a, b, around = stack.pop()
            kind = type(expr)
            place = around if expr.origin is None else expr.origin
            # most parts are one of these
            if kind is Literal:
                self._literal(expr.data, a, b, place)  # type: ignore[attr-defined]
            elif kind is ByteSet:
                self._bytes(expr.mask, a, b)  # type: ignore[attr-defined]
            elif kind not in _SHARED:
                self.leaf(expr, a, b, place, stack)
            else:
                known = self._known(expr)
                if known is not None:
                    self._place(known, a, b, place)
                elif kind is CharSet:
                    self._chars(expr, a, b, place)  # type: ignore[arg-type]
                else:
                    self.part(expr, a, b, place, stack)

    def leaf(self, expr: Expr, a: int, b: int, origin: Origin | None, stack: list[Task]) -> None:
        """A part that depends on the grammar around it."""
        raise TypeError(f"not an expression: {expr!r}")

    def sequence(self, expr: Seq, a: int, b: int, origin: Origin | None, stack: list[Task]) -> None:
        """One after the other; a long run of equal parts is a repeat."""
        if len(expr.items) >= LONG_RUN:
            expr = Seq(runs_joined(expr.items))
        super().sequence(expr, a, b, origin, stack)

    def repeat(
        self, expr: Repeat, a: int, b: int, origin: Origin | None, stack: list[Task]
    ) -> None:
        """So many times; a repeat of a repeat is one where it can be."""
        super().repeat(collapsed(expr), a, b, origin, stack)

    def counts(self, expr: Repeat, copies: int) -> bool:
        """Whether a repeat is counted, not written out in so many copies."""
        return (
            copies > self.expansion or copies * _leaves(expr.item, self.expansion) > self.expansion
        )

    def counted(
        self, expr: Repeat, a: int, b: int, origin: Origin | None, stack: list[Task]
    ) -> None:
        """A repeat that is counted."""
        self.repeats.append((a, b, expr))

    def _known(self, expr: Expr) -> Fragment | None:
        """The fragment of an expression, made when it is met for the second time."""
        # what has an origin is one place of a grammar, and mostly used there alone
        if self.expansion != EXPANSION or expr.origin is not None:
            return None
        found = _fragments.get(expr)
        if isinstance(found, Fragment):
            return found
        if found is None:
            _fragments.put(expr, _MET)
        elif found is _MET:
            made = _made(expr)
            if isinstance(made, Fragment):
                _fragments.put(expr, made, made.weight)
                return made
            _fragments.put(expr, made)
        return None

    def _place(self, fragment: Fragment, a: int, b: int, origin: Origin | None) -> None:
        if fragment.n:
            first = self.position(origin, fragment.n) - _OWN
        else:
            first = 0
        if fragment.n_edges:
            self.placed.extend((a, b, first, fragment.n_edges))
            self.moved.append(fragment.edges)
        for source, target, expr in fragment.counted:
            source = (a, b)[source] if source < _OWN else first + source
            target = (a, b)[target] if target < _OWN else first + target
            self.repeats.append((source, target, expr))
        self.doubtful |= fragment.doubtful

    def _literal(self, data: bytes, a: int, b: int, origin: Origin | None) -> None:
        n = len(data)
        if n > 1:
            self.literals.extend((a, self.position(origin, n - 1), b, n))
            self.texts += data
        elif n:
            self.rows.extend((a, data[0], data[0], b))
        else:
            self.rows.extend((a, -1, -1, b))

    def table(self, graph: ByteGraph, a: int, b: int, origin: Origin | None) -> None:
        """A finite automaton in arrays."""
        first = self.position(origin, graph.n_states)
        rows = graph.rows.copy()
        rows[0] += first
        rows[3] += first
        ends = np.flatnonzero(graph.ends).astype(np.int32) + first
        none = np.full(len(ends), -1, dtype=np.int32)
        self.tables += [rows, np.stack([ends, none, none, np.full_like(ends, b)])]
        self.skip(a, first + graph.start)
        self.doubtful |= not len(ends)

    def _bytes(self, mask: int, a: int, b: int) -> None:
        ranges = byte_ranges(mask)
        for low, high in ranges:
            self.rows.extend((a, low, high, b))
        self.doubtful |= not ranges

    def _chars(self, expr: CharSet, a: int, b: int, origin: Origin | None) -> None:
        n, edges = utf8_graph(expr.ranges)
        self.doubtful |= not edges
        local = [a, b]
        if n > 2:
            first = self.position(origin, n - 2)
            local += range(first, first + n - 2)
        for source, low, high, target in edges:
            self.rows.extend((local[source], low, high, local[target]))

    def alternatives(
        self, expr: Alt, a: int, b: int, origin: Origin | None, stack: list[Task]
    ) -> None:
        """Any one of them; many become a tree, in which equal beginnings (of bytes, of the same objects) are shared."""
        if len(expr.items) <= _FACTORED:
            super().alternatives(expr, a, b, origin, stack)
            return
        children: dict[tuple[int, int], int] = {}
        for item in expr.items:
            at = a
            place = item.origin or origin
            *elements, last = _elements(item) or (EMPTY,)
            if isinstance(last, int):
                elements.append(last)
                last = EMPTY
            for element in elements:
                step = (at, element if isinstance(element, int) else ~id(element))
                following = children.get(step)
                if following is None:
                    following = children[step] = self.position(place)
                    if isinstance(element, int):
                        self.rows.extend((at, element, element, following))
                    else:
                        stack.append((element, at, following, place))
                at = following
            # the last element leads to the end itself, without an empty edge: it may be a call at the end of a rule
            stack.append((last, at, b, place))

    # -- rows ----------------------------------------------------------------------------------

    def marks(self) -> Marks:
        """How much has been collected: with it, :meth:`edges` gives only what comes later."""
        literals, placed = len(self.literals), len(self.placed)
        return len(self.rows), literals, len(self.texts), placed, len(self.moved), len(self.tables)

    def edges(self, since: Marks = (0, 0, 0, 0, 0, 0)) -> Rows:
        """Columns source, first byte, last byte and target of all edges, unordered.

        Empty edges have -1 as their first byte, and as the last one their guard or -1.
        """
        now = self.marks()
        moved = self.moved[since[4] :]
        fragments = np.concatenate(moved, axis=1) if moved else _NO_ROWS
        n = (now[0] - since[0]) // 4 + now[2] - since[2] + fragments.shape[1]
        out = np.empty((4, n), dtype=np.int32)
        bounds = np.array([since[:4], now[:4]], dtype=np.int64)
        gather(Collected(self.rows, self.literals, self.texts, self.placed, fragments), bounds, out)
        tables = self.tables[since[5] :]
        return np.concatenate([out, *tables], axis=1) if tables else out


#: the kinds of expressions that fragments are made of
_SHARED = frozenset((Seq, Alt, Repeat, Graph, CharSet))


class _Recorder(Pieces):
    """Makes one fragment. Fragments of its parts are used, none are made."""

    def position(self, origin: Origin | None, n: int = 1) -> int:
        """The first of ``n`` new positions."""
        self.n += n
        if self.n > _MOST:
            raise _TooLarge
        return self.n - n

    def _known(self, expr: Expr) -> Fragment | None:
        found = _fragments.get(expr)
        return found if isinstance(found, Fragment) else None


def _made(expr: Expr) -> Fragment | _State:
    """The fragment of an expression, where there is one."""
    if not _stands_alone(expr):
        return _NONE
    recorder = _Recorder()
    recorder.n = _OWN
    try:
        recorder.connect(expr, START, END)
    except _TooLarge:
        return _NONE
    edges = recorder.edges()
    return Fragment(
        recorder.n - _OWN,
        edges,
        edges.shape[1],
        tuple(recorder.repeats),
        recorder.doubtful,
    )


def _stands_alone(top: Expr) -> bool:
    """Whether an expression means the same in every grammar; parts that do not are marked, and not searched again.

    Parts first, without recursion: expressions may be nested deeply.
    """
    alone: dict[int, bool] = {}
    stack = [top]
    while stack:
        expr = stack[-1]
        if id(expr) in alone:
            stack.pop()
            continue
        kind = type(expr)
        if kind not in _SHARED:
            alone[id(expr)] = kind is Literal or kind is ByteSet
            continue
        found = _fragments.get(expr)
        if found is not None and found is not _MET:
            alone[id(expr)] = found is not _NONE
            continue
        parts = children(expr)
        waiting = [part for part in parts if id(part) not in alone]
        if waiting:
            stack += waiting
            continue
        # the origin of a part is a place in one grammar
        alone[id(expr)] = all(alone[id(part)] and part.origin is None for part in parts)
        if not alone[id(expr)]:
            _fragments.put(expr, _NONE)
    return alone[id(top)]


def _leaves(expr: Expr, most: int) -> int:
    """Leaves of an expression, counted up to the limit of what is written out."""
    total = 0
    stack = [expr]
    while stack and total <= most:
        node = stack.pop()
        if isinstance(node, Seq | Alt):
            stack.extend(node.items)
        elif isinstance(node, Repeat):
            total += 1
            stack.append(node.item)
        elif isinstance(node, ByteGraph):
            total += node.rows.shape[1]
        elif isinstance(node, Graph):
            total += len(node.edges)
        elif isinstance(node, Literal):
            total += len(node.data)
        elif isinstance(node, CharSet):
            total += 1 if not node.ranges or node.ranges[-1][1] < 0x80 else 4
        else:
            total += 1
    return total


def _elements(expr: Expr) -> list[int | Expr]:
    """The bytes of an expression's literals and its other parts, in order."""
    found: list[int | Expr] = []
    stack = [expr]
    while stack:
        part = stack.pop()
        if isinstance(part, Literal):
            found += part.data
        elif isinstance(part, Seq) and len(part.items) < LONG_RUN:
            stack.extend(reversed(part.items))
        elif isinstance(part, CharSet) and len(part.ranges) == 1:
            low, high = part.ranges[0]
            found.append(low if low == high < 0x80 else part)
        else:
            found.append(part)
    return found

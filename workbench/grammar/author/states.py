"""The author's grammar as small state machines, one a rule, written when a text first reaches them.

Nothing is rewritten: no left recursion is removed, no rule is copied into another, so that what a text
stands in can be told in the author's words. A node is a rule, a part of a rule that belongs to another
place of a schema, or a counted repetition; it calls others by number.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Literal as TypingLiteral, overload

from workbench.grammar.byte_graph import ByteGraph
from workbench.grammar.ir import (
    ByteSet,
    CharSet,
    Expr,
    Grammar,
    Graph,
    Guard,
    Literal,
    Origin,
    OtherText,
    Ref,
    Repeat,
    Scope,
    Seq,
    Token,
)
from workbench.grammar.scopes import uses_record
from workbench.grammar.thompson import Construction, Task
from workbench.grammar.utf8 import utf8_graph

__all__ = ["AuthorStates", "Node", "State", "Writer"]

#: States of an automaton in arrays that are written ahead.
MOST_AHEAD = 60_000

Kind = TypingLiteral["rule", "part", "repeat", "body", "other", "scope"]


@dataclass(slots=True)
class Node:
    """What can be called. ``start`` is its first state, -1 before it is built.

    A "repeat" counts how often its "body" has been read; an "other" is a text that differs from some given ones; a
    "scope" keeps a record of the members that came.
    """

    number: int
    kind: Kind
    rule: str
    origin: Origin | None
    expr: Expr = field(repr=False)
    least: int = 0
    most: int | None = None
    start: int = -1

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts that an "other" has to differ from; none for other kinds."""
        return self._other.texts if self._other else ()

    @property
    def fresh(self) -> bool:
        """Whether an "other" may come only once in its scope."""
        return self._other is not None and self._other.fresh

    @property
    def cell(self) -> int:
        """The number of the set of texts that came, which an "other" has to differ from."""
        return self._other.cell if self._other else 0

    @property
    def _other(self) -> OtherText | None:
        return self.expr if self.kind == "other" and isinstance(self.expr, OtherText) else None

    @property
    def scope(self) -> Scope | None:
        """The scope whose members a "scope" keeps a record of; None for other kinds."""
        return self.expr if self.kind == "scope" and isinstance(self.expr, Scope) else None


@dataclass(slots=True)
class State:
    """A state of a node: sets of bytes (as bits), nodes, and token ids that lead on, each with a place."""

    node: int
    final: bool = False
    skips: list[int] = field(default_factory=list)
    bytes: list[tuple[int, int, Origin | None]] = field(default_factory=list)
    calls: list[tuple[int, int, Origin | None]] = field(default_factory=list)
    tokens: list[tuple[Set[int], int, Origin | None]] = field(default_factory=list)
    guards: list[tuple[Guard, int]] = field(default_factory=list)

    @property
    def leads_on(self) -> bool:
        """Whether anything can be read from here, not counting empty steps."""
        return bool(self.bytes or self.calls or self.tokens)


class _States(Sequence[State]):
    """All states; those inside literal texts are made when they are asked for, since long lists have many."""

    def __init__(self) -> None:
        self._made: list[State | None] = []
        self._firsts: list[int] = []
        #: of each run of states inside a literal: its node, the bytes, the state after them, where they stand
        self._runs: list[tuple[int, bytes, int, Origin | None]] = []

    def __len__(self) -> int:
        return len(self._made)

    @overload
    def __getitem__(self, index: int) -> State: ...

    @overload
    def __getitem__(self, index: slice) -> list[State]: ...

    def __getitem__(self, index: int | slice) -> State | list[State]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        found = self._made[index]
        if found is None:
            number = index % len(self._made)
            run = bisect_right(self._firsts, number) - 1
            first = self._firsts[run]
            node, data, after, origin = self._runs[run]
            target = number + 1 if number - first < len(data) - 1 else after
            found = State(node, bytes=[(1 << data[number - first], target, origin)])
            self._made[index] = found
        return found

    def add(self, state: State) -> None:
        """One more state."""
        self._made.append(state)

    def add_run(self, node: int, data: bytes, after: int, origin: Origin | None) -> int:
        """A state before each of some bytes, of which the last leads to a state that is there; the first of them."""
        first = len(self._made)
        self._firsts.append(first)
        self._runs.append((node, data, after, origin))
        self._made += [None] * len(data)
        return first


class AuthorStates:
    """The nodes and states of a grammar, as far as they were asked for.

    ``tokens`` says which ids the token terminals stand for (see ``resolve_tokens``); one that it lacks
    stands for none. ``ahead``: the states of an automaton in arrays are all written with its node, but for one of
    more than ``MOST_AHEAD``; else when a text gets to them.
    """

    def __init__(
        self,
        grammar: Grammar,
        tokens: Mapping[Token, Set[int]] | None = None,
        *,
        ahead: bool = True,
    ) -> None:
        self.grammar = grammar
        self.ahead = ahead
        #: whether there is an automaton that was too large to be written ahead
        self.is_partial = False
        self.tokens = tokens or {}
        self.nodes: list[Node] = []
        self.states = _States()
        self._rules: dict[str, int] = {}
        self._parts: dict[tuple[int, Kind, str], int] = {}
        #: texts with bytes before them, and the same without
        self._opened: dict[int, tuple[OtherText, OtherText]] = {}
        self.root = self.rule(grammar.start)

    def rule(self, name: str) -> int:
        """The node of a rule."""
        found = self._rules.get(name)
        if found is None:
            expr = self.grammar.rules[name]
            found = self._rules[name] = self._node("rule", name, expr.origin, expr)
        return found

    def enter(self, number: int) -> int:
        """The first state of a node, which is built now when it was not yet."""
        node = self.nodes[number]
        if node.start < 0:
            self._build(node)
        return node.start

    def text(self, node: Node, data: bytes) -> str | None:
        """What the bytes of an "other" spell, the inside of a JSON string; None for what is none."""
        try:
            text = json.loads(b'"' + data + b'"')
        except ValueError:
            return None
        return text if isinstance(text, str) else None

    def _node(
        self,
        kind: Kind,
        rule: str,
        origin: Origin | None,
        expr: Expr,
        least: int = 0,
        most: int | None = None,
    ) -> int:
        self.nodes.append(Node(len(self.nodes), kind, rule, origin, expr, least, most))
        return len(self.nodes) - 1

    def part(self, kind: Kind, rule: str, origin: Origin | None, expr: Expr) -> int:
        """The node of a part of a rule."""
        key = (id(expr), kind, rule)
        found = self._parts.get(key)
        if found is None:
            least, most = (expr.min, expr.max) if isinstance(expr, Repeat) else (0, None)
            found = self._parts[key] = self._node(kind, rule, origin, expr, least, most)
        return found

    def unopened(self, expr: OtherText) -> OtherText:
        """A text without the bytes that stand before it; the same one for the same text."""
        return self._opened.setdefault(id(expr), (expr, replace(expr, opening=b"")))[1]

    def _build(self, node: Node) -> None:
        if node.kind == "repeat":
            assert isinstance(node.expr, Repeat)
            item = node.expr.item
            origin = item.origin or node.origin
            body = self._node("body", node.rule, origin, item)
            start = len(self.states)
            # the target is not used: a repetition stays where it is and counts
            self.states.add(State(node.number, calls=[(body, start, origin)]))
            self.states.add(State(node.number, final=True))
            node.start = start
        else:
            node.start = self.written(node)

    def written(self, node: Node) -> int:
        """Write the states of a node; the first of them."""
        return Writer(self, node).start


class _TableState(State):
    """A state of an automaton in arrays, whose edges are looked up when they are asked for."""

    __slots__ = ("_edges", "_local", "_table")

    def __init__(self, table: _Table, local: int) -> None:
        super().__init__(table.node)
        self._table = table
        self._local = local
        self._edges: list[tuple[int, int, Origin | None]] | None = None
        if table.graph.ends[local]:
            self.skips.append(table.end)

    @property
    def bytes(self) -> list[tuple[int, int, Origin | None]]:
        """Sets of bytes that lead on, each with a place."""
        if self._edges is None:
            self._edges = self._table.edges(self._local)
        return self._edges

    @bytes.setter  # noqa: A003 - a field of all states
    def bytes(self, value: object) -> None:
        """Nothing to set: they are looked up."""


class _Table:
    """Where an automaton in arrays stands: its states get numbers when a text gets to them."""

    def __init__(
        self, author: AuthorStates, node: int, graph: ByteGraph, end: int, origin: Origin | None
    ) -> None:
        self.author = author
        self.node = node
        self.graph = graph
        self.end = end
        self.origin = origin
        self._numbers: dict[int, int] = {}

    def number(self, local: int) -> int:
        """The number of one of its states."""
        states = self.author.states
        found = self._numbers.setdefault(local, len(states))
        if found == len(states):
            states.add(_TableState(self, local))
        return found

    def edges(self, local: int) -> list[tuple[int, int, Origin | None]]:
        """What leads on from one of its states."""
        rows = self.graph.rows
        begin, end = rows[0].searchsorted([local, local + 1])
        return [
            ((1 << high + 1) - (1 << low), self.number(target), self.origin)
            for _, low, high, target in rows[:, begin:end].T.tolist()
        ]


class Writer(Construction):
    """Writes the states of a node; other nodes are called: rules, counted repetitions, parts that belong elsewhere."""

    def __init__(self, author: AuthorStates, node: Node) -> None:
        self._author = author
        self._states = author.states
        self._node = node
        top = node.expr
        if node.kind == "other" and isinstance(top, OtherText):
            top = top.body
        elif node.kind == "scope" and isinstance(top, Scope):
            top = top.item
        self._top = top
        self.start = self.position(None, 2)
        self._states[self.start + 1].final = True
        self.connect(top, self.start, self.start + 1, node.origin)

    def position(self, origin: Origin | None, n: int = 1) -> int:
        """The first of ``n`` new states."""
        number, states = self._node.number, self._states
        first = len(states)
        for _ in range(n):
            states.add(State(number))
        return first

    def skip(self, a: int, b: int) -> None:
        """An empty edge."""
        self._states[a].skips.append(b)

    def part(self, expr: Expr, a: int, b: int, origin: Origin | None, stack: list[Task]) -> None:
        """One expression; what belongs to another place of a schema is a node."""
        if (
            expr.origin is not None
            and expr is not self._top
            and _elsewhere(expr.origin, self._node.origin)
            # what uses the record of a scope stays in its node
            and not (self._node.kind == "scope" and uses_record(expr))
        ):
            self._call("part", expr, a, b, origin)
        else:
            super().part(expr, a, b, origin, stack)

    def graph(self, expr: Graph, a: int, b: int, origin: Origin | None, stack: list[Task]) -> None:
        """A finite automaton; of one in arrays what a text gets to, unless all is asked for."""
        large = expr.n_states > MOST_AHEAD
        if not isinstance(expr, ByteGraph) or (self._author.ahead and not large):
            super().graph(expr, a, b, origin, stack)
            return
        self._author.is_partial |= self._author.ahead
        table = _Table(self._author, self._node.number, expr, b, origin)
        self.skip(a, table.number(expr.start))

    def leaf(self, expr: Expr, a: int, b: int, origin: Origin | None, stack: list[Task]) -> None:
        """What is read, a call, or a guard."""
        here = self._states[a]
        match expr:
            case Literal(data=data):
                self._bytes(data, a, b, origin)
            case ByteSet(mask=mask):
                here.bytes.append((mask, b, origin))
            case CharSet(ranges=ranges):
                self._characters(ranges, a, b, origin)
            case Ref(name=name):
                here.calls.append((self._author.rule(name), b, origin))
            case Token():
                ids = self._author.tokens.get(expr, frozenset())
                here.tokens.append((ids, b, origin))
            case OtherText(opening=opening) if opening:
                text = self._author.unopened(expr)
                stack.append((Seq((Literal(opening), text)), a, b, origin))
            case OtherText():
                self._call("other", expr, a, b, origin)
            case Scope():
                self._call("scope", expr, a, b, origin)
            case Guard():
                here.guards.append((expr, b))
            case _:
                raise TypeError(f"not an expression: {expr!r}")

    def counts(self, expr: Repeat, copies: int) -> bool:
        """Whether a repeat is counted: each is."""
        return True

    def counted(
        self, expr: Repeat, a: int, b: int, origin: Origin | None, stack: list[Task]
    ) -> None:
        """A repetition that is counted is a node of its own."""
        self._call("repeat", expr, a, b, origin)

    def _call(self, kind: Kind, expr: Expr, a: int, b: int, origin: Origin | None) -> None:
        called = self._author.part(kind, self._node.rule, origin, expr)
        self._states[a].calls.append((called, b, origin))

    def _bytes(self, data: bytes, a: int, b: int, origin: Origin | None) -> None:
        if not data:
            self.skip(a, b)
            return
        target = b
        if len(data) > 1:
            target = self._states.add_run(self._node.number, data[1:], b, origin)
        self._states[a].bytes.append((1 << data[0], target, origin))

    def _characters(
        self, ranges: tuple[tuple[int, int], ...], a: int, b: int, origin: Origin | None
    ) -> None:
        """The bytes of one character in UTF-8."""
        n_states, edges = utf8_graph(ranges)
        between = self.position(origin, n_states - 2)
        names = [a, b, *range(between, between + n_states - 2)]
        for source, low, high, target in edges:
            mask = (1 << high + 1) - (1 << low)
            self._states[names[source]].bytes.append((mask, names[target], origin))


def _elsewhere(place: Origin, around: Origin | None) -> bool:
    """Whether a part belongs to another place of a schema than what it stands in."""
    return place.pointer is not None and (around is None or place.pointer != around.pointer)

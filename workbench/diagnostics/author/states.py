"""The author's grammar as small state machines, one a rule, written when a text first reaches them.

Nothing is rewritten: no left recursion is removed, no rule is copied into another, so that what a text
stands in can be told in the author's words. A node is a rule, a part of a rule that belongs to another
place of a schema, or a counted repetition; it calls others by number.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Set
from dataclasses import dataclass, field, replace
from typing import Literal as TypingLiteral

from workbench.grammar.ir import (
    Alt,
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
    children,
)
from workbench.grammar.utf8 import utf8_graph

__all__ = ["AuthorStates", "Node", "State", "passed"]

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
        return self.expr.texts if isinstance(self.expr, OtherText) else ()

    @property
    def fresh(self) -> bool:
        """Whether an "other" may come only once in its scope."""
        return isinstance(self.expr, OtherText) and self.expr.fresh

    @property
    def cell(self) -> int:
        """The number of the set of texts that came, which an "other" has to differ from."""
        return self.expr.cell if isinstance(self.expr, OtherText) else 0


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


class AuthorStates:
    """The nodes and states of a grammar, as far as they were asked for.

    ``tokens`` says which ids the token terminals stand for (see ``resolve_tokens``); one that it lacks
    stands for none.
    """

    def __init__(self, grammar: Grammar, tokens: Mapping[Token, Set[int]] | None = None) -> None:
        self.grammar = grammar
        self.tokens = tokens or {}
        self.nodes: list[Node] = []
        self.states: list[State] = []
        self._rules: dict[str, int] = {}
        self._parts: dict[tuple[int, str], int] = {}
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

    def _part(self, kind: Kind, rule: str, origin: Origin | None, expr: Expr) -> int:
        key = (id(expr), rule)
        found = self._parts.get(key)
        if found is None:
            least, most = (expr.min, expr.max) if isinstance(expr, Repeat) else (0, None)
            found = self._parts[key] = self._node(kind, rule, origin, expr, least, most)
        return found

    def _state(self, node: int, final: bool = False) -> int:
        self.states.append(State(node, final))
        return len(self.states) - 1

    def _build(self, node: Node) -> None:
        states, number = self.states, node.number
        start = self._state(number)
        if node.kind == "repeat":
            assert isinstance(node.expr, Repeat)
            item = node.expr.item
            origin = item.origin or node.origin
            body = self._node("body", node.rule, origin, item)
            # the target is not used: a repetition stays where it is and counts
            states[start].calls.append((body, start, origin))
            self._state(number, final=True)
            node.start = start
            return
        end = self._state(number, final=True)
        expr = node.expr
        if isinstance(expr, OtherText):
            expr = expr.body
        elif isinstance(expr, Scope):
            expr = expr.item
        todo: list[tuple[Expr, int, int, Origin | None]] = [(expr, start, end, node.origin)]
        first = True
        while todo:
            part, source, target, around = todo.pop()
            place = part.origin or around
            apart = not first and _elsewhere(part.origin, node.origin)
            # what keeps the record of a scope stays in its node
            if apart and not (isinstance(node.expr, Scope) and _holds_guards(part)):
                called = self._part("part", node.rule, part.origin, part)
                states[source].calls.append((called, target, place))
                continue
            first = False
            self._add(part, source, target, place, node, todo)
        node.start = start

    def _add(
        self,
        part: Expr,
        source: int,
        target: int,
        place: Origin | None,
        node: Node,
        todo: list[tuple[Expr, int, int, Origin | None]],
    ) -> None:
        """Lead from ``source`` to ``target`` by an expression; what it is made of is left to ``todo``."""
        states, number = self.states, node.number
        match part:
            case Literal(data=data):
                self._add_bytes(data, source, target, place)
            case ByteSet(mask=mask):
                states[source].bytes.append((mask, target, place))
            case CharSet(ranges=ranges):
                self._add_characters(ranges, source, target, place)
            case Seq(items=items):
                for i, item in enumerate(items):
                    reached = target if i == len(items) - 1 else self._state(number)
                    todo.append((item, source, reached, place))
                    source = reached
                if not items:
                    states[source].skips.append(target)
            case Alt(items=items):
                todo += [(item, source, target, place) for item in items]
            case Ref(name=name):
                states[source].calls.append((self.rule(name), target, place))
            case Repeat():
                self._add_repeat(part, source, target, place, node, todo)
            case Graph(n_states=n_states, start=start, finals=finals, edges=edges):
                names = [self._state(number) for _ in range(n_states)]
                states[source].skips.append(names[start])
                for final in finals:
                    states[names[final]].skips.append(target)
                todo += [(label, names[a], names[b], place) for a, label, b in edges]
            case Token():
                states[source].tokens.append((self.tokens.get(part, frozenset()), target, place))
            case OtherText(opening=opening) if opening:
                apart = self._opened.setdefault(id(part), (part, replace(part, opening=b"")))[1]
                todo.append((Seq((Literal(opening), apart)), source, target, place))
            case OtherText():
                called = self._part("other", node.rule, place, part)
                states[source].calls.append((called, target, place))
            case Scope():
                called = self._part("scope", node.rule, place, part)
                states[source].calls.append((called, target, place))
            case Guard():
                states[source].guards.append((part, target))
            case _:
                raise TypeError(f"not an expression: {part!r}")

    def _add_bytes(self, data: bytes, source: int, target: int, place: Origin | None) -> None:
        states, number = self.states, self.states[source].node
        if not data:
            states[source].skips.append(target)
        for i, byte in enumerate(data):
            reached = target if i == len(data) - 1 else self._state(number)
            states[source].bytes.append((1 << byte, reached, place))
            source = reached

    def _add_characters(
        self, ranges: tuple[tuple[int, int], ...], source: int, target: int, place: Origin | None
    ) -> None:
        """The bytes of one character in UTF-8."""
        number = self.states[source].node
        n_states, edges = utf8_graph(ranges)
        names = [source, target, *(self._state(number) for _ in range(n_states - 2))]
        for a, low, high, b in edges:
            mask = (1 << high + 1) - (1 << low)
            self.states[names[a]].bytes.append((mask, names[b], place))

    def _add_repeat(
        self,
        part: Repeat,
        source: int,
        target: int,
        place: Origin | None,
        node: Node,
        todo: list[tuple[Expr, int, int, Origin | None]],
    ) -> None:
        """A loop is drawn; a repetition with other bounds is a node of its own, which counts."""
        states, least, most = self.states, part.min, part.max
        if most != 0 and (least > 1 or (most is not None and most > 1)):
            called = self._part("repeat", node.rule, place, part)
            states[source].calls.append((called, target, place))
            return
        if most is None:
            begin, after = self._state(node.number), self._state(node.number)
            states[source].skips.append(begin)
            states[after].skips += [begin, target]
            if least == 0:
                states[begin].skips.append(target)
            todo.append((part.item, begin, after, place))
            return
        if least == 0 or most == 0:
            states[source].skips.append(target)
        if most == 1:
            todo.append((part.item, source, target, place))


def _elsewhere(place: Origin | None, around: Origin | None) -> bool:
    """Whether a part belongs to another place of a schema than what it stands in."""
    if place is None or place.pointer is None:
        return False
    return around is None or place.pointer != around.pointer


def _holds_guards(expr: Expr) -> bool:
    """Whether an expression asks the record of the scope around it, or adds to it."""
    todo = [expr]
    while todo:
        part = todo.pop()
        if isinstance(part, Guard) or (isinstance(part, OtherText) and part.fresh):
            return True
        if not isinstance(part, Scope):
            todo += children(part)
    return False


def passed(scope: Scope, came: int, count: int, guard: Guard) -> tuple[int, int] | None:
    """The record (members that came, as bits, and their number) after a guard; None where the guard stops it."""
    owed = (scope.required & ~came).bit_count()
    free = scope.most is None or count + owed < scope.most
    left = guard.among & ~came
    if guard.kind == "end":
        return (came, count) if not owed and count >= scope.least else None
    if guard.kind == "may":
        passes = bool(left & scope.required) or (free and (bool(left) or guard.others))
        return (came, count) if passes else None
    if guard.kind == "other":
        passes = free
    elif guard.kind != "take":
        return came, count
    else:
        passes = bool(left) and (free or bool(left & scope.required))
    if not passes:
        return None
    # beyond the bounds the number does not matter
    counted = scope.most is not None or count < scope.least
    return came | (guard.among if guard.kind == "take" else 0), count + counted

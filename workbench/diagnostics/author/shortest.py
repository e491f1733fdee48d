"""Least texts of an author's grammar: through a part, to a place, and whether there are any.

Knuth's generalisation of Dijkstra's algorithm (1977) over the author's states gives the least length of
each node ("inside"); the least length of what has to stand around a node ("outside") follows from it.
Lengths are in bytes; a token that the grammar names counts as none. In what way members of a scope depend on
each other is left out: there the lengths are bounds from below.
"""

from __future__ import annotations

import heapq
import itertools
import json
from collections.abc import Collection, Iterator

from workbench.grammar.author.earley import TooMuch
from workbench.grammar.author.states import AuthorStates, Node
from workbench.grammar.ir import (
    Alt,
    ByteSet,
    CharSet,
    Expr,
    Graph,
    Literal,
    Origin,
    Ref,
    Repeat,
    Scope,
    Seq,
    Token,
)
from workbench.grammar.utf8 import utf8_graph

__all__ = ["NEVER", "Shortest", "other_text"]

#: longer than any text: there is none
NEVER = 1 << 60
#: States that are looked at before giving up.
MAX_STATES = 60_000
#: Bytes of a text that is written out.
MAX_TEXT = 4096


#: A byte string, or a node.
_Piece = int | bytes


class Shortest:
    """Least lengths over all that the start rule leads to, without the ``missing`` bytes.

    Raises ``TooMuch`` for a grammar of more than ``MAX_STATES`` states.
    """

    def __init__(self, states: AuthorStates, missing: frozenset[int] = frozenset()) -> None:
        self.states = states
        self.missing = missing
        self._usable = (1 << 256) - 1 - sum(1 << byte for byte in missing)
        self._members: dict[int, list[int]] = {}
        self._following: dict[int, tuple[int, _Piece]] = {}
        self._build()
        nodes = self.states.nodes
        #: least length of a text of each node
        self.inside = [NEVER] * len(nodes)
        #: per state: least length to the end of its node, and the way there
        self._right = [NEVER] * len(self.states.states)
        self._settle()
        #: least length of what stands around each node
        self.outside = [NEVER] * len(nodes)
        #: per state: least length from the start of its node
        self._left = [NEVER] * len(self.states.states)
        self._spread()

    def through(self, node: int) -> int:
        """Least length of a whole text that uses a node."""
        return min(NEVER, self.outside[node] + self.inside[node])

    def steps(self, node: int) -> Iterator[tuple[int, int, Origin | None]]:
        """What is read in a node itself, byte or node: least length of a whole text with it, state, place."""
        if self.states.nodes[node].kind in ("repeat", "other"):
            return
        for i in self._members[node]:
            if self._left[i] >= NEVER:
                continue
            state = self.states.states[i]
            moves = [
                (1, target, place) for mask, target, place in state.bytes if mask & self._usable
            ]
            moves += [(self.inside[callee], target, place) for callee, target, place in state.calls]
            for length, target, place in moves:
                cost = self.outside[node] + self._left[i] + length + self._right[target]
                yield min(NEVER, cost), i, place

    def before(self, node: int, state: int) -> bytes:
        """A shortest text that leads to a state of a node, at most ``MAX_TEXT`` bytes of it."""
        return (self.to(node) + self._left_text(node, state))[:MAX_TEXT]

    @property
    def reached(self) -> frozenset[int]:
        """The nodes that the start rule leads to, by anything that can be written before them."""
        return frozenset(self._before) | {self.states.root}

    def rule(self, name: str) -> int:
        """Least length of a text of a rule; 0 for one that nothing can lead to."""
        node = self.states.rule(name)
        return self.inside[node] if node < len(self.inside) else 0

    def members(self, node: int) -> list[int]:
        """The states of a node."""
        return self._members[node]

    def to(self, node: int) -> bytes:
        """A shortest text after which a node begins, at most ``MAX_TEXT`` bytes of it."""
        way = self._before.get(node)
        pieces: list[bytes] = []
        while way is not None:
            caller, state = way
            pieces.append(self._left_text(caller, state))
            way = self._before.get(caller)
        return b"".join(reversed(pieces))[:MAX_TEXT]

    def text(self, node: int) -> bytes:
        """A shortest text of a node, at most ``MAX_TEXT`` bytes of it."""
        return self._text(node)[:MAX_TEXT]

    def has_text(self, expr: Expr) -> bool:
        """Whether an expression of the grammar has a text without missing bytes."""
        match expr:
            case Literal(data=data):
                return all(self._usable >> byte & 1 for byte in data)
            case ByteSet(mask=mask):
                return bool(mask & self._usable)
            case CharSet(ranges=ranges):
                kept = [
                    (a, b)
                    for a, low, high, b in utf8_graph(ranges)[1]
                    if any(self._usable >> byte & 1 for byte in range(low, high + 1))
                ]
                return 1 in _led_to(0, kept)
            case Seq(items=items):
                return all(map(self.has_text, items))
            case Alt(items=items):
                return any(map(self.has_text, items))
            case Scope(item=item):
                return self.has_text(item)
            case Repeat(item=item, min=least):
                return least == 0 or self.has_text(item)
            case Ref(name=name):
                return self.rule(name) < NEVER
            case Graph(start=start, finals=finals, edges=edges):
                kept = [(a, b) for a, label, b in edges if self.has_text(label)]
                return not _led_to(start, kept).isdisjoint(finals)
            case Token():
                return bool(self.states.tokens.get(expr))
        return True

    # Building

    def _build(self) -> None:
        states = self.states
        todo = [states.root]
        seen = {states.root}
        while todo:
            number = todo.pop()
            before = len(states.states)
            states.enter(number)
            if len(states.states) > MAX_STATES or states.is_partial:
                raise TooMuch
            mine = self._members.setdefault(number, [])
            mine += range(before, len(states.states))
            if not mine:  # built earlier
                mine += [i for i, state in enumerate(states.states) if state.node == number]
            for i in mine:
                for callee, _, _ in states.states[i].calls:
                    if callee not in seen:
                        seen.add(callee)
                        todo.append(callee)

    # Inside

    def _settle(self) -> None:
        callers: dict[int, set[int]] = {}
        for number, members in self._members.items():
            for i in members:
                for callee, _, _ in self.states.states[i].calls:
                    callers.setdefault(callee, set()).add(number)
        todo = dict.fromkeys(self._members)
        while todo:
            number, _ = todo.popitem()
            found = self._least(self.states.nodes[number])
            if found < self.inside[number]:
                self.inside[number] = found
                todo.update(dict.fromkeys(callers.get(number, ())))

    def _least(self, node: Node) -> int:
        if node.kind == "repeat":
            start = node.start
            body = self.states.states[start].calls[0][0]
            each = self.inside[body]
            found = 0 if node.least == 0 else min(NEVER, node.least * each)
            self._right[start], self._right[start + 1] = found, 0
            return found
        members = self._members[node.number]
        ends = [i for i in members if self.states.states[i].final]
        distance, following = self._backward(members, ends)
        for i in members:
            self._right[i] = distance[i]
        found = distance[node.start]
        if found < self.inside[node.number]:
            # of equal ways the one found first: a later one may go round through a caller
            self._following.update(following)
        if "" in node.texts:
            return max(found, 1)
        return found

    def _backward(
        self, members: list[int], ends: list[int]
    ) -> tuple[dict[int, int], dict[int, tuple[int, _Piece]]]:
        """Least lengths from states to some ends, and the first step of each way there."""
        into: dict[int, list[tuple[int, int, _Piece]]] = {}
        for i in members:
            for cost, target, piece in self._moves(i):
                into.setdefault(target, []).append((i, cost, piece))
        distance = dict.fromkeys(members, NEVER)
        following: dict[int, tuple[int, _Piece]] = {}
        heap: list[tuple[int, int]] = []
        for i in ends:
            distance[i] = 0
            heap.append((0, i))
        while heap:
            cost, i = heapq.heappop(heap)
            if cost > distance[i]:
                continue
            for source, more, piece in into.get(i, ()):
                if cost + more < distance[source]:
                    distance[source] = cost + more
                    following[source] = i, piece
                    heapq.heappush(heap, (cost + more, source))
        return distance, following

    # Outside

    def _spread(self) -> None:
        for number, members in self._members.items():
            self._lefts(self.states.nodes[number], members)
        self.outside[self.states.root] = 0
        #: per node: the node and the state that call it on a shortest way
        self._before: dict[int, tuple[int, int]] = {}
        reached = {self.states.root: 0}
        heap = [(0, self.states.root)]
        while heap:
            cost, number = heapq.heappop(heap)
            if cost > reached[number]:
                continue
            for callee, before, around, state in self._calls(number):
                self.outside[callee] = min(self.outside[callee], self.outside[number] + around)
                if cost + before < reached.get(callee, NEVER):
                    reached[callee] = cost + before
                    self._before[callee] = number, state
                    heapq.heappush(heap, (cost + before, callee))
        self._relax()

    def _relax(self) -> None:
        """Lower the least lengths around nodes until none can be lowered."""
        todo = dict.fromkeys(self._members)
        while todo:
            number, _ = todo.popitem()
            if self.outside[number] >= NEVER:
                continue
            for callee, _, around, _ in self._calls(number):
                if self.outside[number] + around < self.outside[callee]:
                    self.outside[callee] = self.outside[number] + around
                    todo[callee] = None

    def _calls(self, number: int) -> Iterator[tuple[int, int, int, int]]:
        """Calls of a node that can be reached: (callee, bytes before, bytes around, state)."""
        node = self.states.nodes[number]
        for i in self._members[number]:
            if self._left[i] >= NEVER:
                continue
            for callee, target, _ in self.states.states[i].calls:
                if node.kind == "repeat":
                    others = max(0, node.least - 1)
                    around = 0 if others == 0 else min(NEVER, others * self.inside[callee])
                    yield callee, 0, around, i
                else:
                    yield callee, self._left[i], min(NEVER, self._left[i] + self._right[target]), i

    def _lefts(self, node: Node, members: list[int]) -> None:
        left = self._left
        for i in members:
            left[i] = NEVER
        if node.kind == "repeat":
            left[node.start] = 0
            return
        heap = [(0, node.start)]
        while heap:
            cost, i = heapq.heappop(heap)
            if cost >= left[i]:
                continue
            left[i] = cost
            for more, target, _ in self._moves(i):
                if cost + more < left[target]:
                    heapq.heappush(heap, (cost + more, target))

    # Texts

    def _text(self, top: int) -> bytes:
        """Write a shortest text of a node out; iterative, cut off when it is long."""
        out = bytearray()
        todo: list[_Piece] = [top]
        while todo and len(out) < MAX_TEXT:
            item = todo.pop()
            if isinstance(item, bytes):
                out += item
                continue
            if self.inside[item] >= NEVER:
                continue
            node = self.states.nodes[item]
            if node.kind == "repeat":
                body = self.states.states[node.start].calls[0][0]
                times = node.least if self.inside[body] else 0
                todo += [body] * min(times, MAX_TEXT)
            elif "" in node.texts:
                todo.append(other_text(node.texts))
            else:
                todo += reversed(self._pieces(node.start, None))
        return bytes(out)

    def _left_text(self, number: int, state: int) -> bytes:
        """A shortest text from the start of a node to one of its states."""
        node = self.states.nodes[number]
        if node.kind == "repeat":
            return b""
        return b"".join(
            piece if isinstance(piece, bytes) else self._text(piece)
            for piece in self._pieces(node.start, state)
        )

    def _pieces(self, start: int, stop: int | None) -> list[_Piece]:
        """Bytes and nodes on a shortest way from a state to another, or to the end of the node."""
        following = self._following
        if stop is not None:
            members = self._members[self.states.states[stop].node]
            following = self._backward(members, [stop])[1]
        pieces: list[_Piece] = []
        at = start
        while at in following and at != stop:
            at, piece = following[at]
            if piece != b"":
                pieces.append(piece)
        return pieces

    def _moves(self, i: int) -> Iterator[tuple[int, int, _Piece]]:
        """What leads on from a state: (bytes, state, what is written)."""
        state = self.states.states[i]
        for target in (*state.skips, *(target for _, target in state.guards)):
            yield 0, target, b""
        for target, piece in self.read_from(i):
            yield self.inside[piece] if isinstance(piece, int) else len(piece), target, piece

    def read_from(self, state: int) -> Iterator[tuple[int, int | bytes]]:
        """What can be read from a state, a byte or a node, and the state after; of a token no bytes."""
        read = self.states.states[state]
        for mask, target, _ in read.bytes:
            if mask & self._usable:
                yield target, bytes([_nicest(mask & self._usable)])
        for ids, target, _ in read.tokens:
            if ids:
                yield target, b""
        for callee, target, _ in read.calls:
            if self.inside[callee] < NEVER:
                yield target, callee


def _led_to(start: int, edges: list[tuple[int, int]]) -> set[int]:
    seen = {start}
    while more := {b for a, b in edges if a in seen} - seen:
        seen |= more
    return seen


def _nicest(mask: int) -> int:
    """A letter or digit of a set of bytes, where it has one."""
    for low, high in ((0x61, 0x7A), (0x30, 0x39), (0x41, 0x5A), (0x21, 0x7E)):
        for byte in range(low, high + 1):
            if mask >> byte & 1:
                return byte
    return (mask & -mask).bit_length() - 1


def other_text(texts: Collection[str], which: int = 0) -> bytes:
    """A short text, as it stands between quotes, that is not among ``texts``; the number ``which`` of such texts."""
    words = (word for word in map(_word, itertools.count()) if word not in texts)
    return json.dumps(next(itertools.islice(words, which, None)))[1:-1].encode()


def _word(number: int) -> str:
    """Words over a to z, short ones first."""
    word = ""
    number += 1
    while number:
        number, letter = divmod(number - 1, 26)
        word = chr(ord("a") + letter) + word
    return word

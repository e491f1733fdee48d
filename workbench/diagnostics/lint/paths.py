"""Derivations of texts, character by character: where a reading stands, and how it goes on.

A place is what is still to be read, as a list of parts that ends with the end of the text; equal places are one
number. Characters are code points; what is less than a character (bytes above 0x7F, texts that are no UTF-8) and
what only an engine can read (scopes, texts that come once, rules that were not written by an author) is not gone
into: no text with it is looked at.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from workbench.grammar.analysis import Analysis
from workbench.grammar.ir import (
    Alt,
    ByteSet,
    CharSet,
    Expr,
    Graph,
    Literal,
    Ref,
    Repeat,
    Seq,
    Token,
)

__all__ = ["END", "Move", "Paths", "Ranges"]

Ranges = tuple[tuple[int, int], ...]
#: The place where nothing is left to be read.
END = 0
#: How often a rule may begin again, and ways that one place may have, before a character is read.
_MOST_NESTED = 3
_MOST_MOVES = 48
_ASCII = 128
#: Rounds after which no shorter texts of rules that use each other are looked for, and characters of one.
_MOST_ROUNDS = 50
_MOST_TEXT = 200


@dataclass(frozen=True, slots=True)
class Move:
    """One character out of some ranges (or a token), the place behind it, and the choices on the way there."""

    label: Ranges | Token | None
    place: int
    choices: tuple[tuple[Expr, int], ...]


@dataclass(frozen=True, slots=True)
class _Round:
    """What comes after a round of a repetition: another one, if this one read something or had to come."""

    repeat: Repeat
    rounds: int


@dataclass(frozen=True, slots=True)
class _State:
    """A state of an automaton."""

    graph: Graph
    state: int


@dataclass(frozen=True, slots=True)
class _Rest:
    """A literal from one of its characters on."""

    text: str


_Item = Expr | _Round | _State | _Rest


class Paths:
    """The places of some rules."""

    def __init__(self, rules: Mapping[str, Expr], analysis: Analysis) -> None:
        self.rules = rules
        self._analysis = analysis
        #: steps that were taken to find ways on
        self.steps = 0
        self._places: list[tuple[_Item, int]] = [(Seq(()), END)]
        self._numbers: dict[tuple[object, int], int] = {}
        self._moves: dict[int, list[Move]] = {}
        self._shortest: dict[str, str | None] = {}
        self._leaving: dict[int, dict[int, list[tuple[Expr, int]]]] = {}

    def place(self, item: _Item, then: int) -> int:
        """The place before an item, behind which is another place."""
        if isinstance(item, _Round):
            key: object = (id(item.repeat), item.rounds)
        elif isinstance(item, _State):
            key = (id(item.graph), item.state, "state")
        else:
            key = item.text if isinstance(item, _Rest) else id(item)
        known = self._numbers.get((key, then))
        if known is None:
            known = self._numbers[key, then] = len(self._places)
            self._places.append((item, then))
        return known

    def moves(self, place: int) -> list[Move]:
        """The ways on from a place; one without a label ends the text. At most so many are given."""
        found = self._moves.get(place)
        if found is None:
            found = self._moves[place] = self._explore(place)
        return found

    def _explore(self, place: int) -> list[Move]:
        out: list[Move] = []
        # a place; how often each rule was begun; the choices; the places of rounds that have read nothing yet
        todo: list[tuple[int, tuple[str, ...], tuple[tuple[Expr, int], ...], frozenset[int]]]
        todo = [(place, (), (), frozenset())]
        steps = 0
        while todo and len(out) < _MOST_MOVES and steps < 20 * _MOST_MOVES:
            steps += 1
            self.steps += 1
            here, begun, choices, idle = todo.pop()
            if here == END:
                out.append(Move(None, END, choices))
                continue
            item, then = self._places[here]
            if isinstance(item, Ref):
                body = self.rules.get(item.name)
                if body is not None and begun.count(item.name) < _MOST_NESTED:
                    todo.append((self.place(body, then), (*begun, item.name), choices, idle))
            elif isinstance(item, Alt):
                for number in range(len(item.items) - 1, -1, -1):
                    way = (*choices, (item, number))
                    todo.append((self.place(item.items[number], then), begun, way, idle))
            elif isinstance(item, Seq):
                after = then
                for one in reversed(item.items):
                    after = self.place(one, after)
                todo.append((after, begun, choices, idle))
            elif isinstance(item, Repeat):
                todo.append((self.place(_Round(item, 0), then), begun, choices, idle))
            elif isinstance(item, _Round):
                if here in idle and item.rounds >= item.repeat.min:
                    continue  # a round that read nothing
                todo += self._rounds(item, here, then, begun, choices, idle)
            elif isinstance(item, Literal) and not item.data:
                todo.append((then, begun, choices, idle))
            elif isinstance(item, Graph | _State):
                todo += self._edges(item, then, begun, choices, idle)
            else:
                out += self._leaf(item, then, choices)
        return out

    def _rounds(
        self,
        item: _Round,
        here: int,
        then: int,
        begun: tuple[str, ...],
        choices: tuple[tuple[Expr, int], ...],
        idle: frozenset[int],
    ) -> list[tuple[int, tuple[str, ...], tuple[tuple[Expr, int], ...], frozenset[int]]]:
        """Out of a repetition, or into one more round of it."""
        repeat, rounds = item.repeat, item.rounds
        ways = []
        if rounds >= repeat.min:
            ways.append((then, begun, (*choices, (repeat, 0)), idle))
        if repeat.max is None or rounds < repeat.max:
            counts = repeat.max is not None or rounds < repeat.min
            again = self.place(_Round(repeat, rounds + 1 if counts else rounds), then)
            may_idle = rounds >= repeat.min and self._analysis.is_nullable(repeat.item)
            if not may_idle and repeat.max == rounds + 1 >= repeat.min:
                again = then  # the last round: nothing of the repetition is left behind it
            inside = self.place(repeat.item, again)
            if may_idle:
                idle = idle | {again}
            ways.append((inside, begun, (*choices, (repeat, 1)), idle))
        return ways

    def _edges(
        self,
        item: Graph | _State,
        then: int,
        begun: tuple[str, ...],
        choices: tuple[tuple[Expr, int], ...],
        idle: frozenset[int],
    ) -> list[tuple[int, tuple[str, ...], tuple[tuple[Expr, int], ...], frozenset[int]]]:
        graph, state = (item, item.start) if isinstance(item, Graph) else (item.graph, item.state)
        leaving = self._leaving.get(id(graph))
        if leaving is None:
            leaving = self._leaving[id(graph)] = {}
            for source, label, target in graph.edges:
                leaving.setdefault(source, []).append((label, target))
        ways = []
        if state in graph.finals:
            ways.append((then, begun, (*choices, (graph, -1)), idle))
        for number, (label, target) in enumerate(leaving.get(state, ())):
            after = self.place(_State(graph, target), then)
            ways.append((self.place(label, after), begun, (*choices, (graph, number)), idle))
        return ways

    def _leaf(self, item: _Item, then: int, choices: tuple[tuple[Expr, int], ...]) -> list[Move]:
        label: Ranges | Token | None = None
        if isinstance(item, Literal | _Rest):
            text = item.text if isinstance(item, _Rest) else _text(item.data)
            if text is None:
                return []
            label = ((ord(text[0]), ord(text[0])),)
            then = self.place(_Rest(text[1:]), then) if len(text) > 1 else then
        elif isinstance(item, CharSet):
            label = item.ranges
        elif isinstance(item, ByteSet) and not item.mask >> _ASCII:
            label = tuple((b, b) for b in range(_ASCII) if item.mask >> b & 1)
        elif isinstance(item, Token):
            label = item
        return [] if not label else [Move(label, then, choices)]

    def shortest(self, place: int) -> str | None:
        """A short text that leads from a place to the end; None where none is known."""
        out: list[str] = []
        while place != END:
            item, place = self._places[place]
            if isinstance(item, _Round):
                one = self._least(item.repeat.item) if item.rounds < item.repeat.min else ""
                left = max(0, item.repeat.min - item.rounds)
                text = None if one is None or left > _MOST_TEXT else one * left
            elif isinstance(item, _Rest):
                text = item.text
            elif isinstance(item, _State):
                text = self._out_of(item.graph, item.state)
            else:
                text = self._least(item)
            if text is None:
                return None
            out.append(text)
        return "".join(out)

    def _out_of(self, graph: Graph, start: int) -> str | None:
        """A text with the fewest edges from a state of an automaton to one of its ends."""
        seen = {start}
        todo = [(start, "")]
        for state, text in todo:
            if state in graph.finals:
                return text
            for source, label, target in graph.edges:
                if source == state and target not in seen:
                    one = self._least(label)
                    if one is not None:
                        seen.add(target)
                        todo.append((target, text + one))
        return None

    def _least(self, expr: Expr) -> str | None:
        if isinstance(expr, Ref):
            return self._least_of_rules().get(expr.name)
        return self._least_by(expr, self._least_of_rules())

    def _least_of_rules(self) -> dict[str, str | None]:
        """A short text of each rule, where there is one."""
        if not self._shortest:
            self._shortest = dict.fromkeys(self.rules)
            # callees come first: of what is not recursive, one round finds the shortest
            for members in self._analysis.components:
                for _ in range(min(len(members), _MOST_ROUNDS) + 1):
                    if not sum(map(self._shortened, members)):
                        break
        return self._shortest

    def _shortened(self, name: str) -> bool:
        """Whether a shorter text of a rule has been found."""
        text, old = self._least_by(self.rules[name], self._shortest), self._shortest[name]
        if text is None or (old is not None and len(old) <= len(text)):
            return False
        self._shortest[name] = text
        return True

    def _least_by(self, expr: Expr, known: Mapping[str, str | None]) -> str | None:
        if isinstance(expr, Literal):
            return _text(expr.data)
        if isinstance(expr, CharSet):
            return _char(expr.ranges) if expr.ranges else None
        if isinstance(expr, ByteSet):
            low = [(b, b) for b in range(_ASCII) if expr.mask >> b & 1]
            return _char(tuple(low)) if low else None
        if isinstance(expr, Ref):
            return known.get(expr.name)
        if isinstance(expr, Seq):
            texts = [self._least_by(item, known) for item in expr.items]
            if any(text is None for text in texts):
                return None
            return _not_long("".join(filter(None, texts)))
        if isinstance(expr, Alt):
            some = [
                text for item in expr.items if (text := self._least_by(item, known)) is not None
            ]
            return min(some, key=len, default=None)
        if isinstance(expr, Repeat):
            one = self._least_by(expr.item, known) if expr.min else ""
            return None if one is None or expr.min > _MOST_TEXT else _not_long(one * expr.min)
        return self._out_of(expr, expr.start) if isinstance(expr, Graph) else None


def _not_long(text: str) -> str | None:
    """A text that may be told."""
    return text if len(text) <= _MOST_TEXT else None


def _text(data: bytes) -> str | None:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _char(ranges: Ranges) -> str:
    """A readable character out of some ranges."""
    for wanted in "a0 x1.":
        if any(low <= ord(wanted) <= high for low, high in ranges):
            return wanted
    for low, high in ranges:
        for code in range(max(low, 0x21), min(high, 0x7E) + 1):
            return chr(code)
    return chr(ranges[0][0])

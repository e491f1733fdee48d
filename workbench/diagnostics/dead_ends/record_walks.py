"""Dead ends that come from the record of a frame: the members that came leave no way to the end of their scope.

A scope (see :class:`~workbench.grammar.ir.Scope`) promises that whatever its guards let begin can be finished. The
engine relies on that promise; here it is checked. Each scope is walked with every record that its guards allow. Where
a state has no way to the end of the scope, a text that leads there is given to the engine, and only what the engine
confirms is reported. Values that have to differ are not part of these records. Most scopes need no walk, because
``ways_out.py`` proves that they keep the promise.
"""

from __future__ import annotations

import heapq
import itertools
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from workbench.automaton.languages import language_of
from workbench.automaton.network import MANY
from workbench.diagnostics.author.shortest import NEVER, Shortest, other_text
from workbench.diagnostics.dead_ends.ways_out import always_ends
from workbench.engine import CompiledGrammar
from workbench.engine.tokens import resolve_tokens
from workbench.errors import GrammarTooComplex
from workbench.grammar.author.earley import TooMuch
from workbench.grammar.author.states import AuthorStates, Node
from workbench.grammar.ir import CharSet, Graph, Guard, OtherText
from workbench.grammar.scopes import passed
from workbench.wording import number_of

__all__ = ["StuckText", "stuck_by_records"]

#: Situations that are looked at, at most.
_MOST = 20_000
#: Positions of the engine that are looked at for a way out.
_CONFIRM = 2_000
#: Places that are told of one scope.
_TOLD = 3

#: A state of a scope; members that came, as bits, and their number; how many texts of each cell that has few came.
_Situation = tuple[int, int, int, tuple[int, ...]]
#: What is read: a byte string, or a node.
_Piece = int | bytes


@dataclass(frozen=True, slots=True)
class StuckText:
    """A shortest text that cannot be completed any more, and the bytes that may still come after it."""

    text: bytes
    possible: frozenset[int]


def stuck_by_records(compiled: CompiledGrammar, budget: int) -> tuple[list[StuckText], str]:
    """The dead ends that come from records, and in words what was not looked at.

    At most ``budget`` and 20,000 situations are looked at; where that is not enough, they are those in which most
    members have come.
    """
    budget = min(budget, _MOST)
    grammar, vocabulary = compiled.spelled, compiled.vocabulary
    try:
        states = AuthorStates(grammar, resolve_tokens(grammar, vocabulary))
        shortest = Shortest(states, frozenset(vocabulary.missing_bytes))
    except (TooMuch, RecursionError):
        return [], "the rules are too many to look at the members of their objects"
    found: list[StuckText] = []
    left = budget
    stopped = ""
    scopes = [n for n in sorted(shortest.reached) if states.nodes[n].scope]
    for number in scopes:
        if shortest.inside[number] >= NEVER:
            continue
        walk = _Walk(shortest, states.nodes[number])
        left -= walk.run(left)
        if not walk.complete:
            stopped = (
                f"stopped at {number_of(budget, 'situation')} of members that came and are to come"
            )
        before = shortest.to(number)
        texts = (before + text for text in walk.dead())
        held = (_held(compiled, text) for text in texts)
        found += itertools.islice((one for one in held if one is not None), _TOLD)
    return sorted(found, key=lambda one: (len(one.text), one.text)), stopped


def _held(compiled: CompiledGrammar, text: bytes) -> StuckText | None:
    """What the engine says of a text: nothing where it finds a way to an end.

    Where it refuses a byte, what came before is looked at; where bytes may come yet, the nearest text after which
    none may is told. Where the grammar names tokens, bytes alone do not say whether it goes on: nothing is told then.
    """
    if compiled.automaton.symbols:
        return None
    engine = compiled.engine
    with engine.lock:
        try:
            data = np.array(list(text), dtype=np.uint8)
            at = engine.advance_bytes(engine.start, data, 0, len(text))
            if at < 0:
                text = text[: -1 - at]
                at = engine.advance_bytes(engine.start, data, 0, len(text))
            seen, todo = {at}, [(at, text)]
            told: StuckText | None = None
            one = np.zeros(1, dtype=np.uint8)
            for position, before in todo:
                if engine.accepts(position):
                    return None
                live = engine.live_bytes(position)
                if told is None or (told.possible and not live):
                    told = StuckText(before, live)
                for byte in live:
                    one[0] = byte
                    after = engine.advance_bytes(position, one, 0, 1)
                    if after >= 0 and after not in seen:
                        seen.add(after)
                        todo.append((after, before + one.tobytes()))
                if len(todo) > _CONFIRM:
                    return None
        except GrammarTooComplex:
            return None
    return told


class _Few(Exception):
    """Texts that come once are few."""


class _Walk:
    """The situations of one scope, the ones with most members first."""

    def __init__(self, shortest: Shortest, node: Node) -> None:
        assert node.scope is not None
        self._shortest = shortest
        self._states = shortest.states
        self._scope = node.scope
        self._chains: dict[int, tuple[int, tuple[_Piece, ...]]] = {}
        self._places: dict[int, int] = {}
        self._few: dict[int, int] = {}
        start, self._opening = self._chain(self._states.enter(node.number))
        self._begin: _Situation = (start, 0, 0, ())
        self.moves: dict[_Situation, list[_Situation]] = {}
        self.complete = True

    def run(self, budget: int) -> int:
        """Walk, where no proof does without; returns how many situations were looked at."""
        try:
            if always_ends(self._scope, self._begin[0], self._asked, self._is_final):
                return 0
        except _Few:
            pass
        todo = [self._begin]
        met = {self._begin}
        while todo:
            if len(self.moves) >= budget:
                self.complete = False
                break
            here = todo.pop()
            self.moves[here] = [there for there, _ in self._steps(here)]
            for there in self.moves[here]:
                if there not in met:
                    met.add(there)
                    todo.append(there)
        return len(self.moves)

    def dead(self) -> Iterator[bytes]:
        """Shortest texts from the beginning of the scope to what has no way to its end."""
        alive = self._alive()
        if alive.issuperset(self.moves):
            return
        told: set[int] = set()
        counter = itertools.count()
        heap = [(0, next(counter), self._begin, self._written(self._opening, self._begin, 0), 0)]
        done: set[_Situation] = set()
        while heap:
            _, _, here, text, texts = heapq.heappop(heap)
            if here in done:
                continue
            done.add(here)
            if here not in alive:
                if here[0] not in told:
                    told.add(here[0])
                    yield text
            elif here in self.moves:
                for there, pieces in self._steps(here):
                    if there not in done:
                        longer = text + self._written(pieces, here, texts)
                        more = texts + sum(isinstance(piece, int) for piece in pieces)
                        heapq.heappush(heap, (len(longer), next(counter), there, longer, more))

    def _alive(self) -> set[_Situation]:
        """Situations with a way to the end of the scope, or to what was not looked at."""
        into: dict[_Situation, list[_Situation]] = {}
        for here, following in self.moves.items():
            for there in following:
                into.setdefault(there, []).append(here)
        alive = {one for one in into if one not in self.moves}
        alive |= {one for one in self.moves if self._states.states[one[0]].final}
        todo = list(alive)
        while todo:
            for here in into.get(todo.pop(), ()):
                if here not in alive:
                    alive.add(here)
                    todo.append(here)
        return alive

    def _asked(self, number: int) -> Iterator[tuple[Guard | None, int]]:
        """What is asked after a state, and the state then. Raises ``_Few`` where texts come to an end."""
        state = self._states.states[number]
        for target in state.skips:
            yield None, self._chain(target)[0]
        for guard, target in state.guards:
            yield guard, self._chain(target)[0]
        for target, piece in self._shortest.read_from(number):
            if self._how_many(piece) < MANY:
                raise _Few
            yield None, self._chain(target)[0]

    def _is_final(self, number: int) -> bool:
        return self._states.states[number].final

    # Steps

    def _steps(self, here: _Situation) -> Iterator[tuple[_Situation, tuple[_Piece, ...]]]:
        """The situations after one step, with what is read on the way."""
        number, came, count, texts = here
        state = self._states.states[number]
        for target in state.skips:
            target, pieces = self._chain(target)
            yield (target, came, count, texts), pieces
        for guard, target in state.guards:
            after = passed(self._scope, came, count, guard)
            if after is not None:
                target, pieces = self._chain(target)
                yield (target, *after, texts), pieces
        for target, piece in self._shortest.read_from(number):
            after_it = self._counted(piece, texts)
            if after_it is not None:
                target, pieces = self._chain(target)
                yield (target, came, count, after_it), (piece, *pieces)

    def _chain(self, number: int) -> tuple[int, tuple[_Piece, ...]]:
        """The first state from a state on at which there is anything to choose or to ask, and what is read."""
        known = self._chains.get(number)
        if known is None:
            at, pieces, seen = number, [], {number}
            while True:
                state = self._states.states[at]
                ways: list[tuple[int, _Piece]] = [(target, b"") for target in state.skips]
                ways += self._shortest.read_from(at)
                if (
                    state.final
                    or state.guards
                    or len(ways) != 1
                    or self._how_many(ways[0][1]) < MANY
                ):
                    break
                at, piece = ways[0]
                if at in seen:
                    break
                seen.add(at)
                pieces.append(piece)
            known = self._chains[number] = at, tuple(pieces)
        return known

    def _counted(self, piece: _Piece, texts: tuple[int, ...]) -> tuple[int, ...] | None:
        """The texts that came after one more; None where all of them have come."""
        few = self._how_many(piece)
        if few >= MANY:
            return texts
        place = self._place(piece)
        texts += (0,) * (place + 1 - len(texts))
        if texts[place] >= few:
            return None
        return (*texts[:place], texts[place] + 1, *texts[place + 1 :])

    def _place(self, piece: _Piece) -> int:
        """Where the texts of a cell are counted."""
        assert isinstance(piece, int)
        cell = self._states.nodes[piece].cell
        return self._places.setdefault(cell, len(self._places))

    def _how_many(self, piece: _Piece) -> int:
        """How many texts that come once there are of a kind; ``MANY`` for all else."""
        if isinstance(piece, bytes):
            return MANY
        known = self._few.get(piece)
        if known is None:
            expr = self._states.nodes[piece].expr
            known = MANY
            if isinstance(expr, OtherText) and expr.fresh and expr.within is not None:
                known = language_of(expr.within).counts[0]
            self._few[piece] = known
        return known

    # Texts

    def _written(self, pieces: Iterable[_Piece], here: _Situation, texts: int) -> bytes:
        """The text of some steps; one that comes once is another one each time (``texts`` were before)."""
        out = bytearray()
        for piece in pieces:
            out += piece if isinstance(piece, bytes) else self._called(piece, here, texts)
            texts += isinstance(piece, int)
        return bytes(out)

    def _called(self, number: int, here: _Situation, texts: int) -> bytes:
        node = self._states.nodes[number]
        expr = node.expr
        if not (isinstance(expr, OtherText) and expr.fresh):
            return self._shortest.text(number)
        if self._how_many(number) < MANY and expr.within is not None:
            place = self._place(number)
            which = here[3][place] if place < len(here[3]) else 0
            return _nth(expr.within, which)
        return other_text(expr.texts, texts) if "" in expr.texts else self._shortest.text(number)


def _nth(graph: Graph, which: int) -> bytes:
    """A text of a graph over characters as it stands between quotes, short ones first."""
    todo = [(graph.start, "")]
    for state, text in todo:
        if state in graph.finals:
            if not which:
                return json.dumps(text, ensure_ascii=False)[1:-1].encode()
            which -= 1
        todo += [
            (target, text + chr(code))
            for source, label, target in graph.edges
            if source == state and isinstance(label, CharSet)
            for low, high in label.ranges
            for code in range(low, min(high, low + which) + 1)
        ]
    raise IndexError(which)

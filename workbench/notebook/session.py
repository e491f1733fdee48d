"""The stepper without a screen: a decoder, a tree of the positions seen so far, and a cursor.

Taking another token in the past makes a branch; no position is ever erased. The decoder stands at one
position; it is moved only when new work is asked for. Looking at positions needs no decoder.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from workbench.errors import DeadEnd, WorkbenchError
from workbench.notebook.reasons import full_reason, reasons
from workbench.notebook.recorded import (
    Pictures,
    add_insides,
    add_position,
    closed_position,
    edge_of,
    position_before,
    span_reader,
    start_document,
)
from workbench.notebook.stops import REACHED, StopAt
from workbench.notebook.views import STOPPED, Document, Edge, Position, Row
from workbench.notebook.wire import (
    picture_wire,
    problem_wire,
    row_wire,
    rules_wire,
    tokens_wire,
)
from workbench.wording import number_of

if TYPE_CHECKING:
    from workbench.decoding import Candidate, Decoder
    from workbench.decoding.trace import TraceStep
    from workbench.engine.why import Why

__all__ = ["Session", "stopped"]

Key = TypeVar("Key")
Value = TypeVar("Value")

#: Tokens that one run may take.
RUN_LIMIT = 256
#: Rows that a search returns.
FOUND = 200


def stopped(taken: int, why: str) -> tuple[str, str]:
    """What a document says of a run that ended before it reached anything."""
    after = f"after {number_of(taken, 'token')}"
    return STOPPED, f"{f'{after}, {why}' if why else after}: run again to go on"


class Session:
    """Steps a decoder and remembers every position; ``document`` is what screens show.

    The methods that move raise ``WorkbenchError`` when a token is refused and leave everything as it
    was. A dead end is no error here: its position says so, and ``document.problem`` has the message.
    """

    def __init__(self, decoder: Decoder, title: str | None = None) -> None:
        self.decoder = decoder
        self.document: Document = start_document(decoder.trace, decoder.vocabulary, title)
        automaton = getattr(decoder.compiled, "automaton", None)
        self._pictures = Pictures(automaton)
        self._spans = span_reader(decoder.compiled)
        self._cursor = 0
        self._children: dict[tuple[int, int], int] = {}
        self._undo: list[int] = []
        self._scout: tuple[int, Decoder] | None = None
        self._dirty: set[int] = set()
        #: how many tokens, pictures and rules of the document were told already
        self._told = (0, 0, 0)
        #: the last step that the decoder was seen at, and the position it led to
        self._seen: tuple[TraceStep, int] | None = None
        self._add(None)

    def __repr__(self) -> str:
        return f"<Session of {number_of(len(self.document.positions), 'position')}: {self.text[-40:]!r}>"

    @property
    def cursor(self) -> int:
        """The position that is looked at."""
        return self._cursor

    @property
    def here(self) -> Position:
        """The position at the cursor."""
        return self.document.positions[self._cursor]

    @property
    def is_here(self) -> bool:
        """Whether the decoder stands at the cursor, so that a look at it runs nothing."""
        return self._where() == self._cursor

    @property
    def leaf(self) -> int:
        """The end of the branch that the cursor is on; of several, the newest."""
        newest = {position.parent: position.id for position in self.document.positions}
        at = self._cursor
        while at in newest:
            at = newest[at]
        return at

    @property
    def text(self) -> str:
        """The text up to the cursor."""
        return self.document.text(self._cursor)

    # Moving the cursor: no model is run.

    def goto(self, position: int) -> None:
        """Look at another position. Raises ``IndexError`` for one that does not exist."""
        if not 0 <= position < len(self.document.positions):
            raise IndexError(f"there is no position {position}")
        self._cursor = position

    def back(self, n: int = 1) -> int:
        """Look at the position ``n`` tokens before; returns how far it went."""
        for moved in range(n):
            if self.here.parent < 0:
                return moved
            self._cursor = self.here.parent
        return n

    def undo(self) -> None:
        """Return to where the cursor was before the last token was taken; nothing is erased."""
        if not self._undo:
            raise WorkbenchError("there is nothing to undo")
        self._cursor = self._undo.pop()

    # Taking tokens.

    def step(self, position: int | None = None) -> Position:
        """Let the sampler choose the token after a position (by default the cursor's)."""
        return self._take(self._cursor if position is None else position, None)

    def take(self, token_id: int, position: int | None = None) -> Position:
        """Choose the token after a position (by default the cursor's)."""
        return self._take(self._cursor if position is None else position, token_id)

    def running(
        self,
        until: str = "end",
        position: int | None = None,
        stop_at: StopAt | None = None,
    ) -> Iterator[Position]:
        """Step from a position until something is reached or the run ends, one step per item.

        ``until`` is "branching" (a choice), "mass" (the mask removes much), "depth" (the stack grows or
        shrinks), "rule" (the rule on top is left) or "end"; ``stop_at`` says how much and from where. One call
        takes at most 256 tokens, and ``document.problem`` says so. Raises ``ValueError`` for another word.
        """
        if until not in REACHED:
            raise ValueError(f"one of {', '.join(REACHED)} is expected, not {until!r}")
        at = self._cursor if position is None else position
        depth = self._known(at).depth
        return self._running(until, at, stop_at or StopAt(depth=depth))

    def _running(self, until: str, at: int, stop_at: StopAt) -> Iterator[Position]:
        start = self._cursor
        for taken in range(RUN_LIMIT):
            before = self._known(at)
            if not before.open:
                break
            reached = self._advance(at, None)
            if taken == 0:
                self._undo.append(start)
            at = self._cursor = reached.id
            yield reached
            if reached.open and (
                REACHED[until](reached, stop_at) or stop_at.breaks(before, reached)
            ):
                break
        else:
            if self._known(at).open:
                self.document.problem = stopped(RUN_LIMIT, "which is what one run takes")

    def run(self, until: str = "end", position: int | None = None) -> Position:
        """Step until something is reached (see :meth:`running`), or to the end."""
        for _ in self.running(until, position):
            pass
        return self.here

    def _take(self, start: int, token_id: int | None) -> Position:
        reached = self._advance(start, token_id)
        self._undo.append(self._cursor)
        self._cursor = reached.id
        return reached

    def _known(self, position: int) -> Position:
        if not 0 <= position < len(self.document.positions):
            raise IndexError(f"there is no position {position}")
        return self.document.positions[position]

    def _advance(self, start: int, token_id: int | None) -> Position:
        """The position after a token, which may be known already; the cursor stays."""
        before = self._known(start)
        self.document.problem = None
        if not before.open:
            raise WorkbenchError(f"the run ended here ({before.end}): step back first")
        token = before.next if token_id is None else token_id
        known = None if token is None else self._children.get((start, token))
        if known is None:
            self._move(start)
            step = self.decoder.step(token_id)
            known = self._add(edge_of(step), start)
            self._seen = step, known
        return self.document.positions[known]

    def _add(self, edge: Edge | None, parent: int = -1) -> int:
        """Put the position where the decoder stands into the document."""
        number = len(self.document.positions)
        position = self._describe(number, parent, edge)
        if self._spans is not None:
            read = [(step.token_id, step.token_bytes) for step in self.decoder.trace.steps]
            position = replace(position, spans=self._spans.go_to(read))
        add_position(self.document, position, self._pictures, self.decoder.vocabulary)
        if edge is not None:
            self._children[parent, edge.token_id] = number
        self._dirty.add(number)
        return number

    def _describe(self, number: int, parent: int, edge: Edge | None) -> Position:
        decoder = self.decoder
        self.document.problem = None
        if decoder.is_finished:
            return closed_position(decoder.trace, number, parent, edge)
        try:
            # What is known before the next token is what its step records.
            step = decoder.peek()
        except DeadEnd as error:
            self.document.problem = "DeadEnd", str(error)
            return closed_position(decoder.trace, number, parent, edge)
        position = position_before(decoder.trace, step, number, parent, edge)
        return replace(position, whys=reasons(decoder.matcher, position), next=step.token_id)

    # Asking about a position.

    def why(self, token_id: int, position: int | None = None) -> Why:
        """Why a token is allowed or not at a position, byte by byte; kept with the position."""
        number = self._cursor if position is None else position
        here = self._known(number)
        found = here.whys.get(token_id)
        if found is None or not found.cells:
            found, insides = full_reason(self.look(number).matcher, token_id)
            insides = add_insides(self.document, insides, self._pictures)
            self.document.positions[number] = replace(
                here,
                whys={**here.whys, token_id: found},
                insides={**here.insides, token_id: insides},
            )
            named = [token_id, *(token.token_id for token in found.nearest)]
            self.document.add_tokens(named, self.decoder.vocabulary)
            self._dirty.add(number)
        return found

    def search(
        self, query: str, position: int | None = None, *, allowed_only: bool = False
    ) -> dict[str, Any]:
        """Find tokens at a position: by text, ``id:17`` or ``hex:e2 9c``.

        Returns rows, the number of tokens found, and the bytes of the tokens in the rows, as the front
        end reads them.
        """
        number = self._cursor if position is None else position
        if not self._known(number).open:
            return {"rows": [], "total": 0, "tokens": {}, "note": "the run ended here"}
        found = self._found(self.look(number), query.strip(), not allowed_only)
        if found is None:
            note = "write id: and a number, or hex: and pairs of digits"
            return {"rows": [], "total": 0, "tokens": {}, "note": note}
        rows = [
            Row(c.token_id, c.probability_before, c.probability_after, c.allowed)
            for c in sorted(
                found, key=lambda c: (-max(c.probability_before, c.probability_after), c.token_id)
            )[:FOUND]
        ]
        new = self.document.add_tokens([row.token_id for row in rows], self.decoder.vocabulary)
        return {
            "rows": [row_wire(row) for row in rows],
            "total": len(found),
            "tokens": tokens_wire({i: self.document.tokens[i] for i in new}),
        }

    def _found(self, decoder: Decoder, query: str, refused: bool) -> list[Candidate] | None:
        everything = decoder.vocabulary.width
        kind, _, rest = query.partition(":")
        rest = rest.strip()
        if kind == "id":
            if not (rest.isascii() and rest.isdigit()):
                return None
            return decoder.candidates(1, search=f"#{int(rest)}", refused=refused)
        if kind == "hex":
            try:
                wanted = bytes.fromhex(rest)
            except ValueError:
                return None
            if not wanted:
                return None
            every = decoder.candidates(everything, refused=refused)
            return [c for c in every if wanted in c.token_bytes]
        return decoder.candidates(everything, search=query, refused=refused)

    # What screens need to hear.

    def changes(self) -> dict[str, Any]:
        """What was added or changed since the last call, as the front end reads it."""
        document = self.document
        tokens, pictures, rules = self._told
        new_tokens = _latest(document.tokens, len(document.tokens) - tokens)
        new_pictures = _latest(document.pictures, len(document.pictures) - pictures)
        new_rules = _latest(document.rules, len(document.rules) - rules)
        self._told = len(document.tokens), len(document.pictures), len(document.rules)
        changed = sorted(self._dirty)
        self._dirty.clear()
        return {
            "positions": [document.positions[number].wire() for number in changed],
            "tokens": tokens_wire(new_tokens),
            "graphs": {key: picture_wire(drawn) for key, drawn in new_pictures.items()},
            "rules": rules_wire(new_rules),
            "cursor": self._cursor,
            "problem": problem_wire(document.problem),
        }

    # The decoder's place.

    def _where(self) -> int:
        """The position that the decoder stands at.

        It is read off the decoder's tokens, so that an interrupt at any moment does no harm; a token
        too many is taken back.
        """
        steps = self.decoder.trace.steps
        if not steps:
            return 0
        if self._seen is not None and self._seen[0] is steps[-1]:
            return self._seen[1]
        at = 0
        for i, step in enumerate(steps):
            child = self._children.get((at, step.token_id))
            if child is None:
                self.decoder.back(len(steps) - i)
                return at
            at = child
        self._seen = steps[-1], at
        return at

    def _path(self, position: int) -> list[int]:
        return [p.id for p in self.document.path(position)]

    def _move(self, position: int) -> None:
        """Bring the decoder to a position: back to where the paths part, then along the tokens."""
        here = self._where()
        if here == position:
            return
        old, new = self._path(here), self._path(position)
        shared = sum(1 for a, b in zip(old, new, strict=False) if a == b)
        self.decoder.back(len(old) - shared)
        for number in new[shared:]:
            edge = self.document.positions[number].edge
            assert edge is not None
            self.decoder.step(edge.token_id)

    def look(self, position: int) -> Decoder:
        """A decoder that stands at a position: the session's own, or a copy where that one would have to go back."""
        self._known(position)
        here = self._where()
        if position == here:
            return self.decoder
        path = self._path(here)
        if self._scout is not None and self._scout[0] == position:
            return self._scout[1]
        if position not in path:
            self._move(position)
            return self.decoder
        scout = self.decoder.fork()
        scout.back(len(path) - 1 - path.index(position))
        self._scout = position, scout
        return scout


def _latest(table: dict[Key, Value], count: int) -> dict[Key, Value]:
    """The entries that were put last into a table that only grows, oldest first."""
    return dict(list(islice(reversed(table.items()), count))[::-1])

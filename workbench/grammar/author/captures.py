"""The captures of a text: of all ways to read it, those of the one that a backtracking matcher would find first.

Among alternatives the one that is written first is taken if the whole text can be read with it, and a repetition goes
on while it can: the order of Perl's matching, over any rules. The text is parsed forwards with all ways kept
(``earley.py``); then the parts are walked from left to right, each through the ways that lead to its ends alone, so
that no choice is taken back but for those that come back to where they were without a byte. For a text that can be
read in one way alone, work and memory are linear in the items of the parse.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import chain

from workbench.grammar.author.earley import Column, Earley, Item, TooMuch, Way
from workbench.grammar.author.states import AuthorStates, Node, Writer
from workbench.grammar.expressions import Alt, Origin, Repeat
from workbench.grammar.ir import Grammar, Token
from workbench.grammar.lazy import captured
from workbench.grammar.thompson import Task

__all__ = ["Capture", "LeftmostFirst"]

_Bytes = bytes


@dataclass(frozen=True, slots=True)
class Capture:
    """A part of a text: the name that it was captured by, and its bytes ``start:end``."""

    name: str
    start: int
    end: int
    bytes: _Bytes

    @property
    def text(self) -> str:
        """The bytes as text; what is no UTF-8 is replaced."""
        return self.bytes.decode("utf-8", "replace")


#: An item in its column.
_Place = tuple[Item, int]
#: Where a way leads on, and what ended there in a call.
_Step = tuple[_Place, Item | None]


@dataclass(slots=True)
class _Option:
    """What may be done next: go to a place; read a part, which may end in several; end (neither)."""

    to: _Place | None = None
    callee: int = -1
    #: by where the part ends, where it goes on then
    ends: dict[_Place, _Place] = field(default_factory=dict)


@dataclass(slots=True)
class _Frame:
    """A part that is being walked through."""

    key: tuple[int, int, frozenset[_Place]]
    steps: dict[_Place, list[_Step]]
    capture: int
    #: the places on the way, what may still be done at each, and how many captures there were
    trail: list[tuple[_Place, Iterator[_Option], int]] = field(default_factory=list)
    seen: set[_Place] = field(default_factory=set)
    #: of the part that is read
    called: _Option = field(default_factory=_Option)


class LeftmostFirst(Earley):
    """A parse of a whole text that tells its captures.

    ``feed`` and ``feed_token`` read the text; both and ``captures`` raise ``TooMuch`` past ``items``.
    """

    def __init__(
        self,
        grammar: Grammar,
        tokens: Mapping[Token, Set[int]] | None = None,
        *,
        items: int | None = None,
    ) -> None:
        #: ways to items but the first, by column and item
        self._others: dict[tuple[int, Item], list[Way]] = {}
        super().__init__(grammar, tokens, items=items)

    def again(self, column: Column, item: Item, way: Way | None) -> None:
        """Keep every way; they count as items do."""
        if way is not None:
            if self.n_items >= self.most_items:
                raise TooMuch
            self.n_items += 1
            self._others.setdefault((id(column), item), []).append(way)

    def author_states(
        self, grammar: Grammar, tokens: Mapping[Token, Set[int]] | None
    ) -> AuthorStates:
        """State machines whose steps are in the author's order."""
        return _OrderedStates(grammar, tokens, ahead=False)

    def captures(self) -> list[Capture]:
        """What was captured, by where it begins, outer ones first. Nothing for a text that is not complete."""
        last = len(self.columns) - 1
        ends = frozenset(
            (item, last)
            for item in self.columns[-1].items
            if item[1] == 0
            and self.states.states[item[0]].node == self.states.root
            and self.states.states[item[0]].final
        )
        if not ends or not captured(self.states.grammar.rules):
            return []
        found: list[tuple[str, int, int]] = []
        self._walk(ends, found)
        offsets = [column.offset for column in self.columns]
        data = bytes(self.data)
        return [
            Capture(name, offsets[a], offsets[b], data[offsets[a] : offsets[b]])
            for name, a, b in found
        ]

    def _walk(self, ends: frozenset[_Place], found: list[tuple[str, int, int]]) -> None:
        """Collect the captures of the first way: name, first and last column."""
        names = captured(self.states.grammar.rules)
        self._left = self.most_items
        frames = [self._frame(self.states.root, 0, ends, names, found)]
        active = {frames[0].key}
        while frames:
            frame = frames[-1]
            place, options, n_found = frame.trail[-1]
            del found[n_found:]
            option = next(options, None)
            if option is None:
                frame.trail.pop()
                if not frame.trail:  # it only comes back to where it was: another way has to do
                    frames.pop()
                    active.discard(frame.key)
            elif option.to is not None:
                self._go(frame, option.to, found)
            elif option.callee >= 0:
                open_ends = frozenset(
                    end for end, after in option.ends.items() if after not in frame.seen
                )
                key = option.callee, place[1], open_ends
                if open_ends and key not in active:
                    frame.called = option
                    active.add(key)
                    frames.append(self._frame(*key, names, found))
            else:
                frames.pop()
                active.discard(frame.key)
                if frame.capture >= 0:
                    name, start, _ = found[frame.capture]
                    found[frame.capture] = name, start, place[1]
                if frames:
                    self._after(frames[-1], place, found)

    def _after(self, frame: _Frame, place: _Place, found: Sequence[object]) -> None:
        """Go on behind a part that has ended; should that come back to where it was, it may end elsewhere."""
        option = frame.called
        after = option.ends.pop(place)
        at, options, n_found = frame.trail[-1]
        frame.trail[-1] = at, chain([option], options), n_found
        self._go(frame, after, found)

    def _frame(
        self,
        node: int,
        column: int,
        ends: frozenset[_Place],
        names: Mapping[str, str],
        found: list[tuple[str, int, int]],
    ) -> _Frame:
        """A part that begins in a column and ends in one of some places."""
        frame = _Frame((node, column, ends), self._steps(ends), -1)
        called = self.states.nodes[node]
        if called.kind == "rule" and called.rule in names:
            frame.capture = len(found)
            found.append((names[called.rule], column, column))
        self._go(frame, ((self.states.enter(node), column, 0), column), found)
        return frame

    def _steps(self, ends: frozenset[_Place]) -> dict[_Place, list[_Step]]:
        """The steps of a part that lead to its ends, by the place from which they lead."""
        steps: dict[_Place, list[_Step]] = {}
        seen = set(ends)
        todo = list(ends)
        while todo:
            place = todo.pop()
            self._left -= 1
            if self._left < 0:
                raise TooMuch
            item, k = place
            column = self.columns[k]
            first = column.items[item]
            for way in (first, *self._others.get((id(column), item), ())):
                if way is None:
                    continue
                before = way[0], way[1]
                steps.setdefault(before, []).append((place, way[2]))
                if before not in seen:
                    seen.add(before)
                    todo.append(before)
        return steps

    def _go(self, frame: _Frame, place: _Place, found: Sequence[object]) -> None:
        """Go on at a place where the part was not before."""
        if place not in frame.seen:
            frame.seen.add(place)
            frame.trail.append((place, self._options(frame, place), len(found)))

    def _options(self, frame: _Frame, place: _Place) -> Iterator[_Option]:
        """What may be done at a place, in the author's order; to end comes last."""
        state = self.states.states[place[0][0]]
        order = {target: i for i, target in enumerate(state.skips)}
        calls: dict[tuple[int, int], _Option] = {}
        plain: list[tuple[int, _Option]] = []
        for after, ended in frame.steps.get(place, ()):
            target = after[0][0]
            if ended is None:
                plain.append((order.get(target, len(order)), _Option(after)))
                continue
            callee = self.states.states[ended[0]].node
            option = calls.setdefault((callee, target), _Option(callee=callee))
            option.ends[ended, after[1]] = after
        plain.sort(key=lambda one: one[0])
        yield from calls.values()
        for _, option in plain:
            yield option
        if place in frame.key[2]:
            yield _Option()


class _OrderedStates(AuthorStates):
    """State machines in which what is tried first comes first."""

    def written(self, node: Node) -> int:
        """Write the states of a node; the first of them."""
        return _OrderedWriter(self, node).start


class _OrderedWriter(Writer):
    """Puts an empty step before each part between which a text may choose: the order of these says which is first."""

    def alternatives(
        self, expr: Alt, a: int, b: int, origin: Origin | None, stack: list[Task]
    ) -> None:
        """Any one of them, the first one first."""
        for item in expr.items:
            begin = self.position(origin)
            self.skip(a, begin)
            stack.append((item, begin, b, origin))

    def repeat(
        self, expr: Repeat, a: int, b: int, origin: Origin | None, stack: list[Task]
    ) -> None:
        """So many times, as often as possible."""
        item, least, most = expr.item, expr.min, expr.max
        if most == 1 and least == 0:
            begin = self.position(origin)
            self.skip(a, begin)
            stack.append((item, begin, b, origin))
            self.skip(a, b)
        elif most is None and least < 2:
            here, begin, end = self.position(origin), self.position(origin), self.position(origin)
            self.skip(a, begin if least else here)
            self.skip(here, begin)
            stack.append((item, begin, end, origin))
            self.skip(end, here)
            self.skip(here, b)
        else:
            super().repeat(expr, a, b, origin, stack)

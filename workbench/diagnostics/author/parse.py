"""Where a text stands in the author's grammar: the open parts, and what may follow in each."""

from __future__ import annotations

from collections import deque
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, replace

from workbench.grammar.author.earley import Column, Earley, Item, TooMuch, members
from workbench.grammar.author.states import Node
from workbench.grammar.ir import Origin

__all__ = ["AuthorParse", "Dot", "Link", "OpenPart", "WayOut"]


@dataclass(frozen=True, slots=True)
class Dot:
    """How far a part of the grammar was read.

    ``after`` is where the last thing read in it is written, None when nothing was; ``before`` where that is
    written which is being read. ``half`` are its bytes that were read, where these are no part that can be told.
    """

    after: Origin | None = None
    before: Origin | None = None
    half: bytes = b""


@dataclass(frozen=True, slots=True)
class OpenPart:
    """A part of the grammar that is open, as the parse knows it: by where it is written, not yet by its text.

    ``rule`` is its rule, ``place`` where it is written, ``entered`` the offset of its first byte.
    ``count`` is how often a counted part was read, of ``least`` to ``most`` times, ``dots`` how far it was read: in
    several ways where it can be read so.
    """

    rule: str
    place: Origin | None
    entered: int
    count: int | None = None
    least: int = 0
    most: int | None = None
    dots: tuple[Dot, ...] = ()


@dataclass(frozen=True, slots=True)
class Link:
    """A rule or a part of one that is open: its node, the column where it was entered, and where it is written."""

    node: int
    column: int
    rule: str
    place: Origin | None


@dataclass(frozen=True, slots=True)
class WayOut:
    """The bytes that may follow in an open part, and whether it can end instead."""

    follows: frozenset[int]
    may_end: bool


#: What tells frames apart.
_Key = tuple[str, Origin | None, int, int | None]


def _key(part: OpenPart) -> _Key:
    return part.rule, part.place, part.entered, part.count


class AuthorParse(Earley):
    """A parse that tells where it stands."""

    def refused_text(self) -> tuple[str, bool] | None:
        """The text between quotes that stands at the end and may not be one, and whether it came before.

        None when there is no such text, or another way to read it.
        """
        found: tuple[str, bool] | None = None
        here = len(self.columns) - 1
        for number, origin, _ in self.columns[-1].items:
            state = self.states.states[number]
            node = self.states.nodes[state.node]
            if node.kind != "other" or not state.final:
                continue
            text = self.states.text(node, self.between(origin, here))
            if text is None:
                return None
            callers = self.columns[origin].waiting.get(node.number, ())
            again = node.fresh and all(
                self.with_text(caller[2], node.cell, text) is None for caller, _ in callers
            )
            if text not in node.texts and not again:
                return None
            found = text, again
        return found

    def expected_places(self, values: frozenset[int]) -> Iterator[Origin | None]:
        """Where it is written that one of some bytes may follow."""
        wanted = sum(1 << byte for byte in values)
        for item in self.columns[-1].items:
            for mask, _, place in self.states.states[item[0]].bytes:
                if mask & wanted:
                    yield place

    def stacks(self, limit: int = 8) -> list[tuple[OpenPart, ...]]:
        """Ways in which the text so far can be read: open parts, innermost first; at most ``limit``.

        Of the ways that lead to one innermost part, a shortest one is shown, and none that is another one
        with its innermost parts ended.
        """
        found: dict[tuple[_Key, ...], list[OpenPart]] = {}
        for item in self._tops():
            path = self._path(item)
            if path is None:
                continue
            frames = list(self._frames(path))
            key = tuple(map(_key, frames))
            if key in found:
                top = found[key][0]
                dots = tuple(dict.fromkeys((*top.dots, *frames[0].dots)))
                found[key][0] = replace(top, dots=dots)
            elif not any(known[len(known) - len(key) :] == key for known in found):
                found[key] = frames
            if len(found) > limit:
                break
        return [tuple(frames) for frames in list(found.values())[:limit]]

    def ways_out(self, limit: int = 40) -> list[WayOut]:
        """For the first stack, of each of its parts: what may follow in it when those in it end here.

        Whether these can end here is told as well. As long as the stack, at most ``limit``.
        """
        path = next((p for p in map(self._path, self._tops()) if p is not None), [])
        out: list[WayOut] = []
        for _, together in self._groups(path)[:limit]:
            ways = [self._way_out(path, i) for i in together]
            follows = frozenset().union(*(way.follows for way in ways))
            out.append(WayOut(follows, all(way.may_end for way in ways)))
        return out

    def _way_out(self, path: list[Item], i: int) -> WayOut:
        last = path[i]
        if i == 0:
            return self._scratch([x for x in self.columns[-1].items if self._together(x, last)])
        child = path[i - 1]
        callee = self.states.states[child[0]].node
        callers = [w for w in self.columns[child[1]].waiting[callee] if self._together(w[0], last)]
        return self._scratch([self.after(*caller, False) for caller in callers])

    def _scratch(self, items: list[Item]) -> WayOut:
        """What may follow some items of one node, looked at by themselves."""
        column = Column(offset=self.columns[-1].offset)
        before = self.n_items
        self.columns.append(column)
        try:
            # entered nowhere: what ends here leads to no caller
            self.close(column, len(self.columns) - 1, [((s, -1, n), None) for s, _, n in items])
        except TooMuch:
            return WayOut(frozenset(), False)
        finally:
            self.columns.pop()
            self.n_items = before
        return WayOut(
            members(column.scans),
            any(item[1] == -1 and self._ends(item) for item in column.items),
        )

    def _together(self, item: Item, other: Item) -> bool:
        """Whether items are in one frame: of a node, entered in a column, with the same count."""
        states = self.states.states
        return states[item[0]].node == states[other[0]].node and item[1:] == other[1:]

    def _ends(self, item: Item) -> bool:
        state = self.states.states[item[0]]
        node = self.states.nodes[state.node]
        return state.final or (node.kind == "repeat" and item[2] >= node.least)

    def ways_up(
        self, here: int, known: Container[Item], limit: int = 8
    ) -> Iterator[tuple[list[Item], Item | None]]:
        """Paths from the innermost items of a column up to one that is ``known``, or past the start rule (None).

        Each is the shortest one from its innermost item, which comes first; the known item is not on it.
        """
        for top in self._tops(here)[:limit]:
            found = self._way_up(top, known)
            if found is not None:
                yield found

    def link(self, item: Item, caller: Item | None) -> Link | None:
        """The rule or part that an item is in, by where it is used if it is written in no place of a schema."""
        node = self._node(item)
        if node.kind not in ("rule", "part"):
            return None
        place = node.origin
        if place is None and caller is not None:
            calls = self.states.states[caller[0]].calls
            place = next((where for called, _, where in calls if called == node.number), None)
        return Link(node.number, item[1], node.rule, place)

    def end_of(self, link: Link, path: Iterable[Item], here: int) -> int | None:
        """The column where a part ended by the way that leads to a path; None where it was never read by it."""
        at = here
        for item in path:
            if at <= link.column:
                break
            # what waits for the part before it on the path stands where that was entered
            at, inner = item[1], at
            while inner > link.column and (way := self.columns[inner].items.get(item)) is not None:
                previous, column, ended = way
                if ended is None or ended[1] > link.column:
                    item, inner = previous, column
                elif ended[1] == link.column and self._node(ended).number == link.node:
                    return inner
                else:
                    item = ended  # it lies in that one
        return None

    def _tops(self, here: int = -1) -> list[Item]:
        """The innermost items of a column, those with the latest begin first: where a part has ended, its caller."""
        column = self.columns[here]
        found: dict[Item, None] = {}
        seen: set[Item] = set()
        todo = list(reversed(column.kernel))
        while todo:
            item = todo.pop()
            if item in seen or item not in column.items:
                continue
            seen.add(item)
            number, origin, count = item
            state = self.states.states[number]
            node = self.states.nodes[state.node]
            if state.leads_on or (node.kind == "repeat" and not state.final):
                found.setdefault(item)
                continue
            todo += [(target, origin, count) for target in reversed(state.skips)]
            if state.final:
                callers = self.columns[origin].waiting.get(node.number, ())
                if origin == 0 and node.number == self.states.root:
                    found.setdefault(item)  # the whole text is complete
                empty = self.columns[origin] is column
                todo += [self.after(caller, target, empty) for caller, target in callers]
        return sorted(found, key=lambda item: -item[1])

    def _path(self, top: Item) -> list[Item] | None:
        """A shortest path from an item up to the start rule: each item waits for the end of the one before it."""
        found = self._way_up(top, ())
        return None if found is None else found[0]

    def _way_up(self, top: Item, known: Container[Item]) -> tuple[list[Item], Item | None] | None:
        before: dict[Item, Item | None] = {top: None}
        queue = deque([top])
        while queue:
            item = queue.popleft()
            number, origin, _ = item
            node = self.states.states[number].node
            joins = item in known
            if joins or (node == self.states.root and origin == 0):
                path: list[Item] = []
                at = before[item] if joins else item
                while at is not None:
                    path.append(at)
                    at = before[at]
                return path[::-1], item if joins else None
            for caller, _ in self.columns[origin].waiting.get(node, ()):
                if caller not in before:
                    before[caller] = item
                    queue.append(caller)
        return None

    def _node(self, item: Item) -> Node:
        return self.states.nodes[self.states.states[item[0]].node]

    def _groups(self, path: list[Item]) -> list[tuple[int, list[int]]]:
        """The frames of a path: which item of it each shows, and which items belong together in it.

        The body of a repetition is no frame beside the repetition; neither is what is nothing but the part
        in it: of the same place of a schema and begun at the same byte, or a rule around a scope.
        """
        groups: list[tuple[int, list[int]]] = []
        for i, item in enumerate(path):
            node = self._node(item)
            if node.kind == "body":
                continue
            if groups and node.kind != "repeat":
                inner = path[groups[-1][0]]
                known = self._node(inner)
                if inner[1] == item[1] and known.kind != "repeat":
                    pointer = known.origin and known.origin.pointer
                    same = pointer is not None and node.origin and node.origin.pointer == pointer
                    if same or known.kind == "scope":
                        groups[-1][1].append(i)
                        continue
            groups.append((i, [i]))
        return groups

    def _frames(self, path: list[Item]) -> Iterator[OpenPart]:
        for i, _ in self._groups(path):
            _, origin, count = path[i]
            node = self._node(path[i])
            counted = node.kind == "repeat"
            yield OpenPart(
                node.rule,
                node.origin,
                self.columns[origin].offset,
                count if counted else None,
                node.least if counted else 0,
                node.most if counted else None,
                tuple(self._dots(path, i - 1 if counted and i else i)),
            )

    def _dots(self, path: list[Item], i: int) -> Iterator[Dot]:
        """How far the node of an item of a path was read; the item before it is the part that is open in it."""
        after = self._after_what(path[i], len(self.columns) - 1 if i == 0 else path[i - 1][1])
        if i == 0 or after.half:
            yield after
            return
        callee = self.states.states[path[i - 1][0]].node
        for called, _, place in self.states.states[path[i][0]].calls:
            if called == callee:
                yield replace(after, before=place)

    def _after_what(self, item: Item, here: int) -> Dot:
        """What was read last in the node of an item of a column."""
        while (way := self.columns[here].items.get(item)) is not None:
            previous, column, ended = way
            if ended is not None or column != here:
                place = self._place(previous, item, column, ended)
                going_on = (p for *_, p in self.states.states[item[0]].bytes)
                if ended is None and place is not None and place in going_on:
                    return Dot(None, place, self._half(item, here, place))
                return Dot(place)
            item = previous  # a step without a symbol
        return Dot()

    def _half(self, item: Item, here: int, place: Origin) -> bytes:
        """The bytes that were read last of what is written at a place."""
        start = here
        while (way := self.columns[start].items.get(item)) is not None:
            previous, column, ended = way
            if ended is not None or column == start:
                break
            if self._place(previous, item, column, None) != place:
                break
            item, start = previous, column
        return self.between(start, here)

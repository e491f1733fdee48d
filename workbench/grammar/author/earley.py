"""A plain Earley parser on the author's grammar: in which rules a text stands, and since which byte.

The engine's automaton has lost that: left recursion was removed, regular parts were made deterministic,
frames that nothing needs were dropped. Here nothing was. J. Earley, "An efficient context-free parsing
algorithm" (1970), over state machines instead of productions; nullable parts as by Aycock and Horspool
(2002), noted when they end where they began. An item has a mark beside: in a counted repetition how often it
was read, in a scope of members the number of a record of those that came.

Work is bounded by a number of items; past it ``TooMuch`` is raised and the columns stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field

from workbench.grammar.author.states import AuthorStates, Node
from workbench.grammar.ir import Grammar, Guard, Origin, Token
from workbench.grammar.scopes import passed
from workbench.wording import number_of

__all__ = ["DEFAULT_ITEMS", "Column", "Earley", "Item", "Step", "TooMuch", "Way", "members"]

#: Items before parsing stops: half a second of work, 60 MB.
DEFAULT_ITEMS = 200_000

#: State, column where its node was entered, mark.
Item = tuple[int, int, int]
#: How an item was first reached: the item before it (with its column), and the item that ended there.
Way = tuple[Item, int, Item | None]


class TooMuch(Exception):
    """The text needs more items than were allowed."""


@dataclass(frozen=True, slots=True)
class Step:
    """A part of a derivation: a node, or (None) something read in one, with its place and its bytes."""

    node: Node | None
    place: Origin | None
    start: int
    end: int


@dataclass(slots=True)
class Column:
    """What holds after some symbols. ``kernel`` are the items that the last symbol led to."""

    items: dict[Item, Way | None] = field(default_factory=dict)
    #: who waits for a node, and where it goes on
    waiting: dict[int, list[tuple[Item, int]]] = field(default_factory=dict)
    scans: list[tuple[int, int, Item]] = field(default_factory=list)
    tokens: list[tuple[Set[int], int, Item]] = field(default_factory=list)
    empty: dict[int, Item] = field(default_factory=dict)
    kernel: list[Item] = field(default_factory=list)
    offset: int = 0


_Record = tuple[int, int, frozenset[tuple[int, str]]]
_NOTHING: _Record = (0, 0, frozenset())


class Earley:
    """A text read so far under a grammar.

    ``tokens`` are the ids of the grammar's token terminals (see ``resolve_tokens``). A text is fed as
    bytes and, where tokens are named, as tokens; ``take_back`` returns to an earlier column. ``items`` is
    the most work (see ``DEFAULT_ITEMS``).
    """

    def __init__(
        self,
        grammar: Grammar,
        tokens: Mapping[Token, Set[int]] | None = None,
        *,
        items: int | None = None,
    ) -> None:
        self.states = self.author_states(grammar, tokens)
        self.most_items = DEFAULT_ITEMS if items is None else items
        self.n_items = 0
        self.data = bytearray()
        self._ids = [frozenset(ids) for ids in (tokens or {}).values()]
        self.columns: list[Column] = []
        #: members that came (as bits), their number, and texts that may not come again
        self._records: list[_Record] = [_NOTHING]
        self._marks: dict[_Record, int] = {_NOTHING: 0}
        #: items that a token, named by the grammar and spelled in bytes, leads to in a later column
        self._later: dict[int, list[tuple[Item, Way]]] = {}
        start = (self.states.enter(self.states.root), 0, 0)
        self._push(0, [(start, None)])

    def author_states(
        self, grammar: Grammar, tokens: Mapping[Token, Set[int]] | None
    ) -> AuthorStates:
        """The state machines that are read with."""
        return AuthorStates(grammar, tokens, ahead=False)

    def __len__(self) -> int:
        """Number of symbols read; there is one column more."""
        return len(self.columns) - 1

    # Reading

    def feed(self, data: bytes) -> int:
        """Read bytes until one cannot follow; returns how many were read. Raises ``TooMuch``."""
        for i, byte in enumerate(data):
            if not self._byte(byte):
                return i
        return len(data)

    def feed_token(self, token_id: int, data: bytes) -> bool:
        """Read a token, as itself and as its bytes; whether it can follow. Raises ``TooMuch``."""
        if not any(token_id in ids for ids in self._ids):
            before = len(self)
            if data and self.feed(data) == len(data):
                return True
            self.take_back(len(self) - before)
            return False
        here = len(self)
        named = [
            ((target, item[1], item[2]), (item, here, None))
            for ids, target, item in self.columns[-1].tokens
            if token_id in ids
        ]
        if not data:
            # a token without bytes is a symbol of its own
            return bool(named) and self._push(self.columns[-1].offset, named)
        self._later[here + len(data)] = [*self._later.get(here + len(data), []), *named]
        for i, byte in enumerate(data):
            # columns inside a token may be empty: then only the token as itself goes on
            if not self._byte(byte, keep=bool(named) or i < len(data) - 1):
                self.take_back(len(self) - here)
                return False
        if self.columns[-1].items:
            return True
        self.take_back(len(self) - here)
        return False

    def _byte(self, byte: int, keep: bool = False) -> bool:
        here = len(self)
        bit = 1 << byte
        seeds: list[tuple[Item, Way | None]] = [
            ((target, item[1], item[2]), (item, here, None))
            for mask, target, item in self.columns[-1].scans
            if mask & bit
        ]
        seeds += self._later.get(here + 1, ())
        if not seeds and not keep:
            return False
        self.data.append(byte)
        try:
            return self._push(self.columns[-1].offset + 1, seeds)
        except TooMuch:
            self.data.pop()
            raise

    def take_back(self, n: int) -> None:
        """Forget the last ``n`` symbols."""
        if not 0 <= n <= len(self):
            raise ValueError(f"cannot take back {n} of {number_of(len(self), 'symbol')}")
        for column in self.columns[len(self.columns) - n :]:
            self.n_items -= len(column.items)
        del self.columns[len(self.columns) - n :]
        del self.data[self.columns[-1].offset :]
        for later in [column for column in self._later if column > len(self)]:
            del self._later[later]

    def _push(self, offset: int, seeds: Sequence[tuple[Item, Way | None]]) -> bool:
        column = Column(offset=offset)
        self.columns.append(column)
        column.kernel = list(dict.fromkeys(item for item, _ in seeds))
        try:
            self.close(column, len(self.columns) - 1, list(reversed(seeds)))
        except TooMuch:
            self.columns.pop()
            self.n_items -= len(column.items)
            raise
        return True

    def close(self, column: Column, k: int, todo: list[tuple[Item, Way | None]]) -> None:
        """Predict and complete until nothing is new."""
        states, nodes = self.states.states, self.states.nodes
        while todo:
            item, way = todo.pop()
            if item in column.items:
                self.again(column, item, way)
                continue
            if self.n_items >= self.most_items:
                raise TooMuch
            self.n_items += 1
            column.items[item] = way
            number, origin, count = item
            state = states[number]
            node = nodes[state.node]
            # what is written first is looked at first: the last one pushed
            for target in reversed(state.skips):
                todo.append(((target, origin, count), (item, k, None)))
            for guard, target in reversed(state.guards):
                if (mark := self._passed(node, count, guard)) is not None:
                    todo.append(((target, origin, mark), (item, k, None)))
            for mask, target, _ in state.bytes:
                column.scans.append((mask, target, item))
            for ids, target, _ in state.tokens:
                column.tokens.append((ids, target, item))
            counting = node.kind == "repeat" and not state.final
            if not counting or node.most is None or count < node.most:
                for callee, target, _ in reversed(state.calls):
                    waiting = column.waiting.setdefault(callee, [])
                    waiting.append((item, target))
                    if len(waiting) == 1:
                        todo.append(((self.states.enter(callee), k, 0), None))
                    elif callee in column.empty:
                        last = column.empty[callee]
                        todo.append((self.after(item, target, True), (item, k, last)))
            if state.final or (counting and count >= node.least):
                text = None
                if node.kind == "other":
                    text = self.states.text(node, self.between(origin, k))
                if text is not None and text in node.texts:
                    continue
                if origin == k:
                    column.empty.setdefault(node.number, item)
                callers = column if origin == k else self.columns[origin] if origin >= 0 else None
                for caller, target in callers.waiting.get(node.number, ()) if callers else ():
                    after = self.after(caller, target, origin == k)
                    if text is not None and node.fresh:
                        mark = self.with_text(after[2], node.cell, text)
                        if mark is None:
                            continue
                        after = (*after[:2], mark)
                    todo.append((after, (caller, origin, item)))

    def again(self, column: Column, item: Item, way: Way | None) -> None:
        """Called where another way leads to an item. Only the first one is kept."""

    def _passed(self, node: Node, mark: int, guard: Guard) -> int | None:
        scope = node.scope
        if scope is None:
            return mark
        came, count, texts = self._records[mark]
        after = passed(scope, came, count, guard)
        return None if after is None else self._mark((*after, texts))

    def with_text(self, mark: int, cell: int, text: str) -> int | None:
        came, count, texts = self._records[mark]
        return None if (cell, text) in texts else self._mark((came, count, texts | {(cell, text)}))

    def _mark(self, record: _Record) -> int:
        found = self._marks.setdefault(record, len(self._records))
        if found == len(self._records):
            self._records.append(record)
        return found

    def between(self, start: int, stop: int) -> bytes:
        if start < 0:
            return b""
        return bytes(self.data[self.columns[start].offset : self.columns[stop].offset])

    def after(self, caller: Item, target: int, empty: bool) -> Item:
        """Where a caller goes on when what it called has ended."""
        number, origin, count = caller
        node = self.states.nodes[self.states.states[number].node]
        if node.kind != "repeat":
            return target, origin, count
        if empty:
            # what can be empty can fill up any number of times: the repetition may end
            return number + 1, origin, 0
        # without a greatest number of times only the least one matters
        return number, origin, count + 1 if node.most is not None else min(count + 1, node.least)

    # What is known after the text so far

    @property
    def is_complete(self) -> bool:
        """Whether the text so far is a text of the grammar."""
        return self._last_item() is not None

    def _last_item(self) -> Item | None:
        for item in self.columns[-1].items:
            number, origin, _ = item
            state = self.states.states[number]
            if origin == 0 and state.node == self.states.root and state.final:
                return item
        return None

    def next_bytes(self) -> frozenset[int]:
        """The bytes that may follow, those included after which no text can be completed."""
        return members(self.columns[-1].scans)

    def derivation(self) -> Iterator[Step]:
        """One way to read a complete text: its nodes, and the places of what was read in them.

        Of all ways the first that was found. Nothing for a text that is not complete.
        """
        last = self._last_item()
        if last is None:
            return
        todo: list[tuple[Item, int]] = [(last, len(self.columns) - 1)]
        while todo:
            item, k = todo.pop()
            node = self.states.nodes[self.states.states[item[0]].node]
            yield Step(node, node.origin, self.columns[item[1]].offset, self.columns[k].offset)
            at = item
            while (way := self.columns[k].items[at]) is not None:
                before, column, ended = way
                if ended is not None:
                    todo.append((ended, k))
                if ended is not None or column != k:
                    place = self._place(before, at, column, ended)
                    yield Step(None, place, self.columns[column].offset, self.columns[k].offset)
                at, k = before, column

    def _place(self, before: Item, after: Item, column: int, ended: Item | None) -> Origin | None:
        """Where the step from one item to the next is written."""
        state = self.states.states[before[0]]
        if ended is not None:
            callee = self.states.states[ended[0]].node
            calls = [(t, p) for c, t, p in state.calls if c == callee]
            # one rule may be called in several places; the target of a repetition's call is not used
            return next((p for t, p in calls if t == after[0]), calls[0][1] if calls else None)
        offset = self.columns[column].offset
        bit = 1 << self.data[offset] if offset < len(self.data) else 0
        for mask, target, place in state.bytes:
            if target == after[0] and mask & bit:
                return place
        return next((p for _, target, p in state.tokens if target == after[0]), None)


def members(scans: Iterable[tuple[int, int, Item]]) -> frozenset[int]:
    """The bytes that some item can read."""
    mask = 0
    for bits, _, _ in scans:
        mask |= bits
    return frozenset(byte for byte in range(256) if mask >> byte & 1)

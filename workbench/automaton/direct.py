"""Lazy grammars -> automata that grow: rules become states when the engine first reaches them.

For rules that are written on demand (:class:`~workbench.grammar.lazy.LazyRules`) nothing is
determinised ahead: a rule's expression becomes positions with empty edges in one linear pass, and the
engine determinises what a text meets. Every rule and every counted loop's body is an entry.

Thompson's construction (1968), with one change: the start of a nullable loop body gets copies of all edges
that it reaches without consuming, so that no entry accepts the empty text.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from workbench.automaton.budgets import Budgets
from workbench.automaton.direct_rows import extended, useful_rows
from workbench.automaton.languages import language_of
from workbench.automaton.model import (
    JUMP,
    NOT_BUILT,
    Automaton,
    GuardSpec,
    Language,
    ScopeSpec,
    WatchSpec,
)
from workbench.automaton.nfa import LONG_RUN, collapsed, runs_joined
from workbench.automaton.utf8 import byte_ranges, utf8_graph
from workbench.errors import GrammarTooComplex
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
    children,
)

__all__ = ["direct_automaton"]

#: repetitions of at most this many leaves are written out, others are counted
_EXPANSION = 6
#: alternatives beyond this number are sorted into a tree
_FACTORED = 4
#: positions built at once: ahead, when the automaton is made, and when an entry is missing
_AHEAD, _MORE = 1500, 200
_ANY_BYTE = (1 << 256) - 1
_MOST = 2**30

_Task = tuple[Expr, int, int, Origin | None]


class _Direct:
    """Builds entries into an automaton's arrays."""

    def __init__(self, grammar: Grammar, missing: frozenset[int], budgets: Budgets) -> None:
        self.rules = grammar.rules
        self.missing = sorted(missing)
        self.budgets = budgets
        self.entries: list[tuple[str, Expr | None]] = []
        self.entry_of_rule: dict[str, int] = {}
        self.entry_of_body: dict[int, int] = {}
        self.entry_of_watch: dict[int, int] = {}
        self.loop_of: dict[tuple[int, int, int], int] = {}
        self.loops: list[tuple[int, int, int]] = []
        self.reach: list[tuple[int, int]] = []
        self.waiting: deque[int] = deque()
        self._reach_memo: dict[int, tuple[Expr, int, int]] = {}
        # what is built in one go
        self.first = 0
        self.n = 0
        self.bytes: list[tuple[int, int, int, int]] = []
        self.empties: list[tuple[int, int]] = []
        #: source, target, guard
        self.guarded: list[tuple[int, int, int]] = []
        self.between: list[int] = []
        self.guards: dict[GuardSpec, int] = {}
        self.scopes: dict[ScopeSpec, int] = {}
        self.entry_of_scope: dict[int, int] = {}
        #: of the entries of scopes, how many members they number
        self.members_of: dict[int, int] = {}
        self.members = 0
        #: source, entry, loop, watch (or -2 - scope), return position
        self.calls: list[tuple[int, int, int, int, int]] = []
        self.origins: list[tuple[Origin, ...]] = []
        self.named: list[tuple[str, ...]] = []
        self.ends: list[int] = []
        self.watched: list[bool] = []
        self.watching: set[int] = set()
        self.watches: dict[WatchSpec, int] = {}
        self.languages: list[Language] = []
        self.language_of: dict[int, tuple[Graph, int]] = {}
        self.doubtful = False

    def entry_for_rule(self, name: str) -> int:
        """Number of a rule's entry."""
        found = self.entry_of_rule.get(name)
        if found is None:
            found = self.entry_of_rule[name] = len(self.entries)
            self.entries.append((name, None))
            self.waiting.append(found)
        return found

    def entry_for_body(self, body: Expr, name: str) -> int:
        """Number of the entry of a counted loop's body."""
        found = self.entry_of_body.get(id(body))
        if found is None:
            found = self.entry_of_body[id(body)] = len(self.entries)
            self.entries.append((name, body))
            self.waiting.append(found)
        return found

    def loop_for(self, entry: int, least: int, most: int, body: Expr) -> int:
        """Number of the loop with this body and these bounds."""
        key = (entry, min(least, _MOST), most if most < _MOST else -1)
        found = self.loop_of.get(key)
        if found is None:
            found = self.loop_of[key] = len(self.loops)
            self.loops.append(key)
            shortest, alphabet = self.reach_of(body)
            self.reach.append((max(1, shortest), alphabet))
        return found

    def reach_of(self, expr: Expr) -> tuple[int, int]:
        """Least bytes of an expression (a bound, 0: it may be empty) and the bytes that it may contain."""
        memo = self._reach_memo
        stack = [expr]
        while stack:  # parts first, without recursion: expressions may be nested deeply
            part = stack[-1]
            missing = [one for one in children(part) if id(one) not in memo]
            if id(part) in memo or not missing:
                stack.pop()
            if missing:
                stack += missing
            elif id(part) not in memo:
                # the expression is kept with its result: an id is only unique while its object lives
                memo[id(part)] = (part, *self._reach_of_one(part))
        return memo[id(expr)][1:]

    def _reach_of_one(self, expr: Expr) -> tuple[int, int]:
        """:meth:`reach_of` when it is known of all parts."""
        if isinstance(expr, Literal):
            alphabet = 0
            for value in expr.data:
                alphabet |= 1 << value
            out = (len(expr.data), alphabet)
        elif isinstance(expr, ByteSet):
            out = (1, expr.mask)
        elif isinstance(expr, CharSet):
            alphabet = 0
            for _, low, high, _ in utf8_graph(expr.ranges)[1]:
                alphabet |= (1 << (high + 1)) - (1 << low)
            out = (1, alphabet)
        elif isinstance(expr, Seq):
            parts = [self.reach_of(item) for item in expr.items]
            alphabet = 0
            for _, more in parts:
                alphabet |= more
            out = (sum(least for least, _ in parts), alphabet)
        elif isinstance(expr, Alt):
            parts = [self.reach_of(item) for item in expr.items]
            alphabet = 0
            for _, more in parts:
                alphabet |= more
            out = (min((least for least, _ in parts), default=0), alphabet)
        elif isinstance(expr, Repeat):
            least, alphabet = self.reach_of(expr.item)
            out = (least * expr.min, alphabet)
        elif isinstance(expr, Scope):
            out = self.reach_of(expr.item)
        elif isinstance(expr, Guard):
            out = (0, 0)
        elif isinstance(expr, Graph):
            alphabet = 0
            for _, label, _ in expr.edges:
                alphabet |= self.reach_of(label)[1]
            out = (self._graph_least(expr), alphabet)
        else:
            out = (1, _ANY_BYTE)
        return out

    def _graph_least(self, graph: Graph) -> int:
        """0 when the empty text runs from the start to a final state, else 1."""
        skips: dict[int, list[int]] = {}
        for source, label, target in graph.edges:
            if self.reach_of(label)[0] == 0:
                skips.setdefault(source, []).append(target)
        seen = {graph.start}
        order = [graph.start]
        for state in order:
            if state in graph.finals:
                return 0
            for target in skips.get(state, ()):
                if target not in seen:
                    seen.add(target)
                    order.append(target)
        return 1

    # -- positions -----------------------------------------------------------------------------

    def position(self, origin: Origin | None) -> int:
        """A new position."""
        number = self.n
        self.n = number + 1
        self.origins.append(() if origin is None else (origin,))
        return number

    def build(self, entry: int) -> tuple[int, int]:
        """Positions of one entry: its start and its end."""
        name, body = self.entries[entry]
        expr = self.rules[name] if body is None else body
        before = self.n
        self.members = self.members_of.get(entry, 0)
        start = self.position(expr.origin)
        end = self.position(expr.origin)
        self.ends.append(end)
        self.fragment(expr, start, end, name)
        if body is not None and self.reach_of(body)[0] == 0:
            start = self._without_empty(start, expr.origin)
        self.named += [(name,)] * (self.n - before)
        self.watched += [entry in self.watching] * (self.n - before)
        if self.n > self.budgets.positions:
            raise GrammarTooComplex("positions", self.budgets.positions, name)
        return start, end

    def _without_empty(self, start: int, origin: Origin | None) -> int:
        """A start with copies of all edges that ``start`` reaches without consuming."""
        skips: dict[int, list[int]] = {}
        for source, target in self.empties:
            skips.setdefault(source, []).append(target)
        seen = {start}
        order = [start]
        for reached in order:
            for target in skips.get(reached, ()):
                if target not in seen:
                    seen.add(target)
                    order.append(target)
        fresh = self.position(origin)
        self.bytes += [(fresh, low, high, to) for at, low, high, to in self.bytes if at in seen]
        self.calls += [(fresh, *call[1:]) for call in self.calls if call[0] in seen]
        return fresh

    def fragment(self, top: Expr, start: int, end: int, name: str) -> None:
        """Connect two positions with the language of an expression."""
        stack: list[_Task] = [(top, start, end, top.origin)]
        while stack:
            expr, a, b, origin = stack.pop()
            origin = expr.origin or origin
            if isinstance(expr, Literal):
                self._literal(expr.data, a, b, origin)
            elif isinstance(expr, CharSet):
                self._chars(expr, a, b, origin)
            elif isinstance(expr, ByteSet):
                ranges = byte_ranges(expr.mask)
                self.bytes += [(a, low, high, b) for low, high in ranges]
                self.doubtful |= not ranges
            elif isinstance(expr, Seq):
                items = runs_joined(expr.items)
                if not items:
                    self.empties.append((a, b))
                    continue
                stops = [a, *(self.position(origin) for _ in items[1:]), b]
                # pushed last to first, so that positions come in the order of the text
                for item, (after, before) in zip(
                    reversed(items), pairwise(reversed(stops)), strict=True
                ):
                    stack.append((item, before, after, origin))
            elif isinstance(expr, Alt) and len(expr.items) > _FACTORED:
                self._choices(expr, a, b, origin, stack)
            elif isinstance(expr, Alt):
                stack.extend((item, a, b, origin) for item in expr.items)
                self.doubtful |= not expr.items
            elif isinstance(expr, Ref):
                self.calls.append((a, self.entry_for_rule(expr.name), -1, -1, b))
            elif isinstance(expr, OtherText):
                self._other_text(expr, a, b, name)
            elif isinstance(expr, Scope):
                self._scope(expr, a, b, name)
            elif isinstance(expr, Guard) and expr.kind == "between":
                self.between.append(a)
                self.empties.append((a, b))
            elif isinstance(expr, Guard):
                self._guard(GuardSpec(expr.kind, expr.among, expr.others, self.members), a, b)
            elif isinstance(expr, Repeat):
                self._repeat(expr, a, b, origin, stack, name)
            elif isinstance(expr, Graph):
                self._graph(expr, a, b, origin, stack)
            else:
                raise TypeError(f"not an expression: {expr!r}")

    def _choices(
        self, expr: Alt, a: int, b: int, origin: Origin | None, stack: list[_Task]
    ) -> None:
        """Many alternatives as a tree of what they begin with: bytes, or parts that are one object."""
        children: dict[tuple[int, int], int] = {}
        for item in expr.items:
            at = a
            place = item.origin or origin
            for element in _elements(item):
                step = (at, element if isinstance(element, int) else ~id(element))
                following = children.get(step)
                if following is None:
                    following = children[step] = self.position(place)
                    if isinstance(element, int):
                        self.bytes.append((at, element, element, following))
                    else:
                        stack.append((element, at, following, place))
                at = following
            self.empties.append((at, b))

    def _literal(self, data: bytes, a: int, b: int, origin: Origin | None) -> None:
        if not data:
            self.empties.append((a, b))
            return
        n = len(data) - 1
        first = self.n
        self.n += n
        self.origins += [() if origin is None else (origin,)] * n
        stops = [a, *range(first, first + n), b]
        self.bytes += [(stops[i], value, value, stops[i + 1]) for i, value in enumerate(data)]

    def _chars(self, expr: CharSet, a: int, b: int, origin: Origin | None) -> None:
        n, edges = utf8_graph(expr.ranges)
        self.doubtful |= not edges
        first = self.n
        self.n += n - 2
        self.origins += [() if origin is None else (origin,)] * (n - 2)
        local = [a, b, *range(first, first + n - 2)]
        self.bytes += [(local[s], low, high, local[t]) for s, low, high, t in edges]

    def _graph(
        self, expr: Graph, a: int, b: int, origin: Origin | None, stack: list[_Task]
    ) -> None:
        first = self.n
        self.n += expr.n_states
        self.origins += [() if origin is None else (origin,)] * expr.n_states
        self.empties.append((a, first + expr.start))
        finals = set(expr.finals)
        into: dict[int, list[int]] = {}
        for source, _, target in expr.edges:
            into.setdefault(target, []).append(source)
        leaving = set().union(*into.values())
        useful = set(finals)
        todo = list(finals)
        while todo:
            for source in into.get(todo.pop(), ()):
                if source not in useful:
                    useful.add(source)
                    todo.append(source)
        self.doubtful |= not leaving <= useful or not into.keys() <= useful
        self.empties += [(first + final, b) for final in expr.finals]
        edges = self.bytes
        for source, label, target in expr.edges:
            to = b if target in finals and target not in leaving else first + target
            if type(label) is ByteSet and label.mask:
                for low, high in byte_ranges(label.mask):
                    edges.append((first + source, low, high, to))
            else:
                stack.append((label, first + source, to, origin))

    def _other_text(self, expr: OtherText, a: int, b: int, name: str) -> None:
        entry = self.entry_of_watch.get(id(expr.body))
        if entry is None:
            entry = self.entry_of_watch[id(expr.body)] = len(self.entries)
            self.entries.append((name, expr.body))
            self.waiting.append(entry)
            self.watching.add(entry)
        spec = WatchSpec(expr.texts)
        if expr.fresh:
            spec = WatchSpec(expr.texts, True, expr.cell, self._language(expr.within))
        watch = self.watches.setdefault(spec, len(self.watches))
        if self.reach_of(expr.body)[0] == 0 and "" not in expr.texts:
            if expr.fresh:
                self._guard(GuardSpec("empty", watch), a, b)
            else:
                self.empties.append((a, b))
        if expr.fresh:
            # the texts that came must be known before the first byte
            known = self.position(expr.origin)
            self._guard(GuardSpec("look"), a, known)
            a = known
        self.calls.append((a, entry, -1, watch, b))

    def _language(self, graph: Graph | None) -> int:
        if graph is None:
            return -1
        found = self.language_of.get(id(graph))
        if found is None:
            found = self.language_of[id(graph)] = (graph, len(self.languages))
            self.languages.append(language_of(graph))
        return found[1]

    def _guard(self, guard: GuardSpec, a: int, b: int) -> None:
        self.guarded.append((a, b, self.guards.setdefault(guard, len(self.guards))))

    def _scope(self, expr: Scope, a: int, b: int, name: str) -> None:
        entry = self.entry_of_scope.get(id(expr.item))
        if entry is None:
            entry = self.entry_of_scope[id(expr.item)] = len(self.entries)
            self.entries.append((name, expr.item))
            self.waiting.append(entry)
            self.members_of[entry] = expr.members
        most = -1 if expr.most is None else min(expr.most, _MOST)
        spec = ScopeSpec(expr.members, expr.required, min(expr.least, _MOST), most, expr.names)
        scope = self.scopes.setdefault(spec, len(self.scopes))
        self.calls.append((a, entry, -1, -2 - scope, b))

    def _repeat(
        self,
        expr: Repeat,
        a: int,
        b: int,
        origin: Origin | None,
        stack: list[_Task],
        name: str,
    ) -> None:
        expr = collapsed(expr)
        item, least, most = expr.item, expr.min, expr.max
        if most is not None and least > most:
            self.doubtful = True
            return
        if most == 0:
            self.empties.append((a, b))
            return
        wanted = least if most is None else most
        if wanted > 1 and (wanted > _EXPANSION or wanted * self._leaves(item) > _EXPANSION):
            entry = self.entry_for_body(item, name)
            nullable = self.reach_of(item)[0] == 0
            if least == 0 or nullable:
                self.empties.append((a, b))
            floor = 1 if nullable else max(least, 1)
            loop = self.loop_for(entry, floor, -1 if most is None else most, item)
            self.calls.append((a, entry, loop, -1, b))
            return
        here = self.position(origin)
        self.empties.append((a, here))
        begin = here
        for _ in range(least):
            there = self.position(origin)
            stack.append((item, here, there, origin))
            begin, here = here, there
        if most is None and least:
            self.empties.append((here, begin))
        elif most is None:
            stack.append((item, here, here, origin))
        else:
            for _ in range(most - least):
                there = self.position(origin)
                stack.append((item, here, there, origin))
                self.empties.append((here, b))
                here = there
        self.empties.append((here, b))

    def _leaves(self, expr: Expr) -> int:
        """Leaves of an expression, counted up to the limit of what is written out."""
        total = 0
        stack = [expr]
        while stack and total <= _EXPANSION:
            node = stack.pop()
            if isinstance(node, Seq | Alt):
                stack.extend(node.items)
            elif isinstance(node, Repeat):
                total += 1
                stack.append(node.item)
            elif isinstance(node, Graph):
                total += len(node.edges)
            elif isinstance(node, Literal):
                total += len(node.data)
            elif isinstance(node, CharSet):
                total += 1 if not node.ranges or node.ranges[-1][1] < 0x80 else 4
            else:
                total += 1
        return total

    # -- arrays --------------------------------------------------------------------------------

    def grow(self, automaton: Automaton, entry: int, positions: int = _MORE) -> None:
        """Build an entry, and of those that wait as many as fit into a number of positions."""
        self._forget()  # what an interrupt may have left behind
        self.first = self.n = automaton.n_states
        built = {entry: self.build(entry)}
        while self.waiting and self.n - self.first < positions:
            following = self.waiting.popleft()
            if following not in built and (
                following >= len(automaton.entry_state)
                or automaton.entry_state[following] == NOT_BUILT
            ):
                built[following] = self.build(following)
        self._append(automaton, {number: start for number, (start, _) in built.items()})

    def _append(self, automaton: Automaton, starts: dict[int, int]) -> None:
        first, n = self.first, self.n - self.first
        edges = np.array(self.bytes, dtype=np.int32).reshape(-1, 4)
        if self.missing:
            edges = self._spelled(edges)
        plain = np.array(self.empties, dtype=np.int32).reshape(-1, 2)
        empties = np.insert(plain, 2, -1, axis=1)
        if self.guarded:
            guarded = np.array(self.guarded, dtype=np.int32).reshape(-1, 3)
            empties = np.concatenate([empties, guarded])
        calls = self._jumps(edges, empties)
        final = np.zeros(n, dtype=np.bool_)
        final[np.array(self.ends, dtype=np.int64) - first] = True
        if self.doubtful:
            edges, empties, calls = useful_rows(first, n, final, edges, empties, calls)
        edges = edges[np.lexsort((edges[:, 1], edges[:, 0]))]
        empties = empties[np.argsort(empties[:, 0], kind="stable")]
        calls = calls[np.argsort(calls[:, 0], kind="stable")]
        a = automaton
        a.n_states = self.n
        a.final = np.concatenate([a.final, final])
        a.edge_start = extended(a.edge_start, edges, first, n)
        a.edge_lo = np.concatenate([a.edge_lo, edges[:, 1]])
        a.edge_hi = np.concatenate([a.edge_hi, edges[:, 2]])
        a.edge_target = np.concatenate([a.edge_target, edges[:, 3]])
        a.empty_start = extended(a.empty_start, empties, first, n)
        a.empty_target = np.concatenate([a.empty_target, empties[:, 1]])
        a.empty_guard = np.concatenate([a.empty_guard, empties[:, 2]])
        a.guards = tuple(self.guards)
        a.scopes = tuple(self.scopes)
        a.call_start = extended(a.call_start, calls, first, n)
        a.call_entry = np.concatenate([a.call_entry, calls[:, 1]])
        a.call_loop = np.concatenate([a.call_loop, calls[:, 2]])
        a.call_watch = np.concatenate([a.call_watch, calls[:, 3]])
        a.call_return = np.concatenate([a.call_return, calls[:, 4]])
        a.watched = np.concatenate([a.watched, np.array(self.watched, dtype=np.bool_)])
        a.watches = tuple(self.watches)
        a.languages = tuple(self.languages)
        between = np.zeros(n, dtype=np.bool_)
        between[np.array(self.between, dtype=np.int64) - first] = True
        a.between = np.concatenate([a.between, between])
        entry_state = np.full(len(self.entries), NOT_BUILT, dtype=np.int32)
        entry_state[: len(a.entry_state)] = a.entry_state
        for number, start in starts.items():
            entry_state[number] = start
        a.entry_state = entry_state
        a.entry_names += tuple(name for name, _ in self.entries[len(a.entry_names) :])
        loops = np.array(self.loops, dtype=np.int32).reshape(-1, 3)
        a.loop_entry, a.loop_min, a.loop_max = (np.ascontiguousarray(loops[:, i]) for i in range(3))
        a.loop_least = tuple(least for least, _ in self.reach)
        a.loop_alphabet = tuple(alphabet for _, alphabet in self.reach)
        a.state_rules += tuple(self.named)
        a.state_origins += tuple(self.origins)
        self._forget()

    def _forget(self) -> None:
        """Empty the lists of what is being built."""
        for some in (
            self.bytes,
            self.empties,
            self.guarded,
            self.between,
            self.calls,
            self.origins,
            self.named,
            self.watched,
            self.ends,
        ):
            some.clear()
        self.doubtful = False

    def _spelled(self, edges: NDArray[np.int32]) -> NDArray[np.int32]:
        """The edges without the bytes that no token contains."""
        for byte in self.missing:
            hit = (edges[:, 1] <= byte) & (byte <= edges[:, 2])
            if not hit.any():
                continue
            below, above = edges[hit].copy(), edges[hit].copy()
            below[:, 2] = byte - 1
            above[:, 1] = byte + 1
            parts = [edges[~hit], below[below[:, 1] < byte], above[above[:, 2] > byte]]
            edges = np.concatenate(parts)
            self.doubtful = True
        return edges

    def _jumps(self, edges: NDArray[np.int32], empties: NDArray[np.int32]) -> NDArray[np.int32]:
        """The calls, those whose return point offers nothing but the end as jumps."""
        busy = set(edges[:, 0].tolist())
        busy.update(call[0] for call in self.calls)
        busy.update(edge[0] for edge in self.guarded)
        ends = set(self.ends)
        skips: dict[int, list[int]] = {}
        for source, target in self.empties:
            skips.setdefault(source, []).append(target)
        tail: dict[int, bool] = {}

        def only_end(position: int) -> bool:
            known = tail.get(position)
            if known is None:
                seen = {position}
                order = [position]
                for reached in order:
                    for target in skips.get(reached, ()):
                        if target not in seen:
                            seen.add(target)
                            order.append(target)
                known = not any(p in busy for p in order) and any(p in ends for p in order)
                tail[position] = known
            return known

        calls = [
            (source, entry, loop, watch, JUMP if loop == watch == -1 and only_end(after) else after)
            for source, entry, loop, watch, after in self.calls
        ]
        return np.array(calls, dtype=np.int32).reshape(-1, 5)


def _elements(expr: Expr) -> Iterator[int | Expr]:
    """The bytes of an expression's literals and its other parts, in order."""
    stack = [expr]
    while stack:
        part = stack.pop()
        if isinstance(part, Literal):
            yield from part.data
        elif isinstance(part, Seq) and len(part.items) < LONG_RUN:
            stack.extend(reversed(part.items))
        elif isinstance(part, CharSet) and len(part.ranges) == 1:
            low, high = part.ranges[0]
            yield low if low == high < 0x80 else part
        else:
            yield part


def direct_automaton(grammar: Grammar, missing: frozenset[int], budgets: Budgets) -> Automaton:
    """An automaton of a grammar with lazy rules: what is near the start is built, the rest when needed.

    Raises ``GrammarTooComplex``, also later, when it grows.
    """
    builder = _Direct(grammar, missing, budgets)
    root = builder.entry_for_rule(grammar.start)
    none = np.zeros(0, dtype=np.int32)
    zero = np.zeros(1, dtype=np.int32)
    automaton = Automaton(
        n_states=0,
        start=0,
        final=np.zeros(0, dtype=np.bool_),
        edge_start=zero,
        edge_lo=none,
        edge_hi=none,
        edge_target=none,
        call_start=zero,
        call_entry=none,
        call_return=none,
        call_loop=none,
        entry_state=none,
        entry_names=(),
        loop_entry=none,
        loop_min=none,
        loop_max=none,
        state_rules=(),
        state_origins=(),
        empty_start=zero,
        grow=builder.grow,
    )
    builder.grow(automaton, root, _AHEAD)
    automaton.start = int(automaton.entry_state[root])
    return automaton

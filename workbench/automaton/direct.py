"""Lazy grammars -> automata that grow: rules become states when the engine first reaches them.

For rules that are written on demand (:class:`~workbench.grammar.lazy.LazyRules`) nothing is
determinised ahead: a rule's expression becomes positions with empty edges in one linear pass
(``fragments.py``), and the engine determinises what a text meets. Every rule and every counted loop's body
is an entry.

Thompson's construction (1968), with one change: the start of a nullable loop body gets copies of all edges
that it reaches without consuming, so that no entry accepts the empty text.
"""

from __future__ import annotations

from collections import deque

import numpy as np
from numpy.typing import NDArray

from workbench.automaton.budgets import Budgets, too_complex
from workbench.automaton.direct_rows import closure, extended, skips_of, useful_rows
from workbench.automaton.extents import extent_of, may_be_empty
from workbench.automaton.fragments import Pieces, Rows
from workbench.automaton.languages import language_of
from workbench.automaton.memo import Memo
from workbench.automaton.model import (
    JUMP,
    MANY,
    NOT_BUILT,
    Automaton,
    GuardSpec,
    Language,
    Runs,
    ScopeSpec,
    WatchSpec,
)
from workbench.grammar.ir import (
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
)

__all__ = ["direct_automaton"]

#: positions built at once: ahead, when the automaton is made; when an entry is missing; of parts of rules
_AHEAD, _MORE, _PARTS = 6000, 1000, 1000
_MOST = 2**30
#: a hundred thousand steps of languages at most
_languages: Memo[Language] = Memo(100_000)


class _Direct(Pieces):
    """Builds entries into an automaton's arrays."""

    def __init__(self, grammar: Grammar, missing: frozenset[int], budgets: Budgets) -> None:
        super().__init__()
        self.rules = grammar.rules
        self.missing = sorted(missing)
        self.budgets = budgets
        self.entries: list[tuple[str, Expr | None]] = []
        self.entry_of_rule: dict[str, int] = {}
        self.entry_of_body: dict[int, int] = {}
        self.entry_of_watch: dict[int, int] = {}
        #: of counted repeats: the repeat, its loop, its entry, whether it may be left out
        self.known_counts: dict[int, tuple[Repeat, int, int, bool]] = {}
        self.loop_of: dict[tuple[int, int, int], int] = {}
        self.loops: list[tuple[int, int, int]] = []
        self.extents: list[tuple[int, int]] = []
        #: entries to build: rules, which have to be written first, and parts of rules
        self.waiting: deque[int] = deque()
        self.within: deque[int] = deque()
        self.guards: dict[GuardSpec, int] = {}
        self.scopes: dict[ScopeSpec, int] = {}
        self.entry_of_scope: dict[int, int] = {}
        #: of the entries of scopes, how many members they number
        self.members_of: dict[int, int] = {}
        self.members = 0
        #: the entries of scopes that gather
        self.gatherers: set[int] = set()
        self.gathering = False
        self.watching: set[int] = set()
        self.watches: dict[WatchSpec, int] = {}
        self.languages: list[Language] = []
        self.language_of: dict[int, tuple[Graph, int]] = {}

    def _empty(self) -> None:
        """Forget all that was not appended to an automaton yet, not the number of positions."""
        super()._empty()
        self.first = self.n
        self.between: list[int] = []
        #: source, entry, loop, watch (or -2 - scope), return position
        self.calls: list[tuple[int, int, int, int, int]] = []
        #: first position, name and number of each entry that was built, and whether it is watched
        self.built: list[tuple[int, str, int]] = []
        self.ends: list[int] = []
        #: first and one past the last position of entries of which parts may lead nowhere
        self.doubts: list[tuple[int, int]] = []

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
            self.within.append(found)
        return found

    def loop_for(self, entry: int, least: int, most: int, body: Expr) -> int:
        """Number of the loop with this body and these bounds."""
        key = (entry, min(least, _MOST), most if most < _MOST else -1)
        found = self.loop_of.get(key)
        if found is None:
            found = self.loop_of[key] = len(self.loops)
            self.loops.append(key)
            shortest, alphabet = extent_of(body)
            self.extents.append((max(1, shortest), alphabet))
        return found

    # -- positions -----------------------------------------------------------------------------

    def build(self, entry: int) -> int:
        """Positions of one entry; its start."""
        name, body = self.entries[entry]
        expr = self.rules[name] if body is None else body
        before, marks, n_calls = self.n, self.marks(), len(self.calls)
        self.name = name
        self.members = self.members_of.get(entry, 0)
        self.gathering = entry in self.gatherers
        start = self.position(expr.origin)
        end = self.position(expr.origin)
        self.ends.append(end)
        self.fragment(expr, start, end)
        self._count(name)
        if body is not None and may_be_empty(body):
            start = self._without_empty(start, expr, marks, n_calls)
        self.built.append((before, name, entry))
        if self.doubtful:
            self.doubts.append((before, self.n))
            self.doubtful = False
        if self.n > self.budgets.positions:
            raise too_complex("positions", name, budgets=self.budgets)
        return start

    def _count(self, name: str) -> None:
        """Calls of the loops of the repeats that are counted."""
        known_counts = self.known_counts
        for a, b, expr in self.counted:
            known = known_counts.get(id(expr))
            if known is None:
                item, least, most = expr.item, expr.min, expr.max
                entry = self.entry_for_body(item, name)
                nullable = may_be_empty(item)
                floor = 1 if nullable else max(least, 1)
                loop = self.loop_for(entry, floor, -1 if most is None else most, item)
                known = known_counts[id(expr)] = expr, loop, entry, least == 0 or nullable
            _, loop, entry, may_lack = known
            if may_lack:
                self.rows.extend((a, -1, -1, b))
            self.calls.append((a, entry, loop, -1, b))
        self.counted.clear()

    def _without_empty(
        self, start: int, expr: Expr, marks: tuple[int, int, int], n_calls: int
    ) -> int:
        """A start with copies of all edges that ``start`` reaches without consuming."""
        edges = self.edges(marks).T.tolist()
        seen = set(closure(start, skips_of(edges)))
        fresh = self.position(expr.origin)
        for at, low, high, to in edges:
            if low >= 0 and at in seen:
                self.rows.extend((fresh, low, high, to))
        self.calls += [(fresh, *call[1:]) for call in self.calls[n_calls:] if call[0] in seen]
        return fresh

    def _named(self, expr: Expr, a: int, b: int) -> None:
        """A part that depends on the grammar around it."""
        if isinstance(expr, Ref):
            if self.gathering:
                # behind the call, the scope below it could not be asked for any more
                a = self._peek(a, expr.origin)
            self.calls.append((a, self.entry_for_rule(expr.name), -1, -1, b))
        elif isinstance(expr, OtherText):
            self._other_text(expr, a, b)
        elif isinstance(expr, Scope):
            self._scope(expr, a, b)
        elif isinstance(expr, Guard) and expr.kind == "between":
            self.between.append(a)
            self.rows.extend((a, -1, -1, b))
        elif isinstance(expr, Guard):
            self._guard(GuardSpec(expr.kind, expr.among, expr.others, self.members), a, b)
        else:
            raise TypeError(f"not an expression: {expr!r}")

    def _other_text(self, expr: OtherText, a: int, b: int) -> None:
        entry = self.entry_of_watch.get(id(expr.body))
        if entry is None:
            entry = self.entry_of_watch[id(expr.body)] = len(self.entries)
            self.entries.append((self.name, expr.body))
            self.within.append(entry)
            self.watching.add(entry)
        spec = WatchSpec(expr.texts)
        if expr.fresh or expr.role:
            cell = expr.cell if expr.fresh else 0
            language = self._language(expr.within)
            spec = WatchSpec(expr.texts, expr.fresh, cell, language, expr.role)
        watch = self.watches.setdefault(spec, len(self.watches))
        if "" not in expr.texts and may_be_empty(expr.body):
            if expr.fresh:
                self._guard(GuardSpec("empty", watch), a, b)
            else:
                self.rows.extend((a, -1, -1, b))
        if expr.opening:
            if spec.language >= 0 and self.languages[spec.language].counts[0] < MANY:
                room = self.position(expr.origin)
                self._guard(GuardSpec("room", watch), a, room)
                a = room
            opened = self.position(expr.origin)
            self.fragment(Literal(expr.opening), a, opened)
            a = opened
        if expr.fresh:
            # the texts that came must be known before the first byte
            known = self.position(expr.origin)
            self._guard(GuardSpec("look"), a, known)
            a = known
        if expr.role:
            a = self._peek(a, expr.origin)
        self.calls.append((a, entry, -1, watch, b))

    def _peek(self, a: int, origin: Origin | None) -> int:
        """A position at which the scope around a value is known."""
        known = self.position(origin)
        self._guard(GuardSpec("peek"), a, known)
        return known

    def _language(self, graph: Graph | None) -> int:
        if graph is None:
            return -1
        found = self.language_of.get(id(graph))
        if found is None:
            language = _languages.get(graph)
            if language is None:
                language = language_of(graph)
                _languages.put(graph, language, 1 + len(language.steps))
            found = self.language_of[id(graph)] = (graph, len(self.languages))
            self.languages.append(language)
        return found[1]

    def _guard(self, guard: GuardSpec, a: int, b: int) -> None:
        self.rows.extend((a, -1, self.guards.setdefault(guard, len(self.guards)), b))

    def _scope(self, expr: Scope, a: int, b: int) -> None:
        entry = self.entry_of_scope.get(id(expr.item))
        if entry is None:
            entry = self.entry_of_scope[id(expr.item)] = len(self.entries)
            self.entries.append((self.name, expr.item))
            self.within.append(entry)
            self.members_of[entry] = expr.members
            if expr.gather is not None:
                self.gatherers.add(entry)
        most = -1 if expr.most is None else min(expr.most, _MOST)
        least = min(expr.least, _MOST)
        spec = ScopeSpec(expr.members, expr.required, least, most, expr.names, expr.gather)
        if expr.gather is not None and not expr.gather.outermost:
            a = self._peek(a, expr.origin)
        scope = self.scopes.setdefault(spec, len(self.scopes))
        self.calls.append((a, entry, -1, -2 - scope, b))

    # -- arrays --------------------------------------------------------------------------------

    def grow(self, automaton: Automaton, entry: int, positions: int = _MORE) -> None:
        """Build an entry with the parts of its rule, and of the rules that wait what fits into ``positions``."""
        self.n = automaton.n_states
        # what is built ahead must not use up what may be needed
        positions = min(positions, max(0, self.budgets.positions - self.n) // 4)
        self._empty()  # what an interrupt may have left behind
        built = {entry: self.build(entry)}
        while True:
            grown = self.n - self.first
            if self.within and grown < _PARTS:
                following = self.within.popleft()
            elif self.waiting and grown < positions:
                following = self.waiting.popleft()
            else:
                break
            if following not in built and (
                following >= len(automaton.entry_state)
                or automaton.entry_state[following] == NOT_BUILT
            ):
                built[following] = self.build(following)
        self._append(automaton, built)
        self._empty()

    def _append(self, automaton: Automaton, starts: dict[int, int]) -> None:
        first, n, a = self.first, self.n - self.first, automaton
        rows = self.edges()
        for byte in self.missing:
            rows = self._spelled(rows, byte)
        calls = self._jumps(rows)
        final = np.zeros(n, dtype=np.bool_)
        final[np.array(self.ends) - first] = True
        if self.doubts:
            rows, calls = self._useful(final, rows, calls)
        # by source and first byte, empty edges first
        rows = rows[:, (rows[0] * np.int64(512) + rows[1]).argsort(kind="stable")]
        empty = rows[1] < 0
        edges, empties = rows[:, ~empty], rows[:, empty]
        calls = calls[:, calls[0].argsort(kind="stable")]
        a.n_states = self.n
        a.final = np.concatenate([a.final, final])
        a.edge_start = extended(a.edge_start, edges[0], first, n)
        a.edge_lo = np.concatenate([a.edge_lo, edges[1]])
        a.edge_hi = np.concatenate([a.edge_hi, edges[2]])
        a.edge_target = np.concatenate([a.edge_target, edges[3]])
        a.empty_start = extended(a.empty_start, empties[0], first, n)
        a.empty_target = np.concatenate([a.empty_target, empties[3]])
        a.empty_guard = np.concatenate([a.empty_guard, empties[2]])
        a.call_start = extended(a.call_start, calls[0], first, n)
        a.call_entry = np.concatenate([a.call_entry, calls[1]])
        a.call_loop = np.concatenate([a.call_loop, calls[2]])
        a.call_watch = np.concatenate([a.call_watch, calls[3]])
        a.call_return = np.concatenate([a.call_return, calls[4]])
        a.guards += tuple(self.guards)[len(a.guards) :]
        a.scopes += tuple(self.scopes)[len(a.scopes) :]
        a.watches += tuple(self.watches)[len(a.watches) :]
        a.languages += tuple(self.languages[len(a.languages) :])
        self._append_marks(a, n)
        self._append_entries(a, starts)

    def _append_marks(self, a: Automaton, n: int) -> None:
        """What is said of single positions."""
        watched = np.zeros(n, dtype=np.bool_)
        between = np.zeros(n, dtype=np.bool_)
        between[np.array(self.between, dtype=np.int64) - self.first] = True
        assert isinstance(a.state_rules, Runs)
        assert isinstance(a.state_origins, Runs)
        for i, (begin, name, entry) in enumerate(self.built):
            a.state_rules.append(begin, (name,))
            if entry in self.watching:
                end = self.built[i + 1][0] if i + 1 < len(self.built) else self.n
                watched[begin - self.first : end - self.first] = True
        a.state_rules.end(self.n)
        for begin, origin in self.origins:
            a.state_origins.append(begin, () if origin is None else (origin,))
        a.state_origins.end(self.n)
        a.watched = np.concatenate([a.watched, watched])
        a.between = np.concatenate([a.between, between])

    def _append_entries(self, a: Automaton, starts: dict[int, int]) -> None:
        entry_state = np.full(len(self.entries), NOT_BUILT, dtype=np.int32)
        entry_state[: len(a.entry_state)] = a.entry_state
        for number, start in starts.items():
            entry_state[number] = start
        a.entry_state = entry_state
        a.entry_names += tuple(name for name, _ in self.entries[len(a.entry_names) :])
        known = len(a.loop_entry)
        if known == len(self.loops):
            return
        loops = np.array(self.loops[known:], dtype=np.int32)
        a.loop_entry = np.concatenate([a.loop_entry, loops[:, 0]])
        a.loop_min = np.concatenate([a.loop_min, loops[:, 1]])
        a.loop_max = np.concatenate([a.loop_max, loops[:, 2]])
        a.loop_least += tuple(least for least, _ in self.extents[known:])
        a.loop_alphabet += tuple(alphabet for _, alphabet in self.extents[known:])

    def _spelled(self, rows: Rows, byte: int) -> Rows:
        """The edges without a byte that no token contains."""
        hit = (rows[1] <= byte) & (byte <= rows[2]) & (rows[1] >= 0)
        if not hit.any():
            return rows
        below, above = rows[:, hit], rows[:, hit]
        below[2] = byte - 1
        above[1] = byte + 1
        parts = [rows[:, ~hit], below[:, below[1] < byte], above[:, above[2] > byte]]
        self.doubts = [(self.first, self.n)]
        return np.concatenate(parts, axis=1)

    def _useful(self, final: NDArray[np.bool_], rows: Rows, calls: Rows) -> tuple[Rows, Rows]:
        """Drop the edges into positions that lead nowhere, of the entries that may have such."""
        asked = np.zeros(len(final), dtype=np.bool_)
        for begin, end in self.doubts:
            asked[begin - self.first : end - self.first] = True
        in_doubt, calling = asked[rows[0] - self.first], asked[calls[0] - self.first]
        some, few = useful_rows(self.first, final, rows[:, in_doubt], calls[:, calling])
        return (
            np.concatenate([rows[:, ~in_doubt], some], axis=1),
            np.concatenate([calls[:, ~calling], few], axis=1),
        )

    def _jumps(self, rows: Rows) -> Rows:
        """The calls, those whose return point offers nothing but the end as jumps."""
        if not self.calls:
            return np.zeros((5, 0), dtype=np.int32)
        first = self.first
        calls = np.array(self.calls, dtype=np.int32).T
        busy = np.zeros(self.n - first, dtype=np.bool_)
        plain = (rows[1] & rows[2]) < 0
        busy[rows[0, ~plain] - first] = True
        busy[calls[0] - first] = True
        # those without frames only, of which most return to where more follows at once
        asked = ((calls[2] & calls[3]) == -1) & ~busy[calls[4] - first]
        if not asked.any():
            return calls
        skips = skips_of(rows[:, plain].T.tolist())
        ends = set(self.ends)
        tail: dict[int, bool] = {}
        for i in np.flatnonzero(asked).tolist():
            after = int(calls[4, i])
            if after not in tail:
                reached = closure(after, skips)
                tail[after] = not ends.isdisjoint(reached) and not any(
                    busy[position - first] for position in reached
                )
            if tail[after]:
                calls[4, i] = JUMP
        return calls


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
        state_rules=Runs(),
        state_origins=Runs(),
        empty_start=zero,
        grow=builder.grow,
    )
    builder.grow(automaton, root, _AHEAD)
    automaton.start = int(automaton.entry_state[root])
    return automaton

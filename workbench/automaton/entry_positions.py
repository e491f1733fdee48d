"""Rules and parts of rules -> positions: what a grammar's names, scopes, guards and counts mean where they stand.

Every rule that is not copied into its uses, every counted loop's body, every scope and every text that is watched is an
*entry*. Two changes to Thompson's construction keep what automata promise: no entry accepts the empty text (where a
rule is called that may be empty, an empty edge stands beside the call, and the start of its entry has copies of the
edges that it reaches without consuming), and none reaches its own call without consuming a byte (``left_corner.py``).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from workbench.automaton.budgets import Budgets, too_complex
from workbench.automaton.extents import extent_of
from workbench.automaton.fragments import Marks, Pieces
from workbench.automaton.inlining import inlined
from workbench.automaton.languages import language_of
from workbench.automaton.left_corner import Call, corners, needed
from workbench.automaton.memo import Memo
from workbench.automaton.network import (
    MANY,
    GuardSpec,
    Language,
    ScopeSpec,
    WatchSpec,
)
from workbench.automaton.rows import Skips, closure
from workbench.grammar.analysis import Analysis, first_uses
from workbench.grammar.byte_graph import ByteGraph
from workbench.grammar.ir import (
    Expr,
    Graph,
    Guard,
    Literal,
    Origin,
    OtherText,
    Ref,
    Repeat,
    Scope,
    Token,
)
from workbench.grammar.rewriting import rewrite
from workbench.grammar.thompson import Task

__all__ = ["EntryPositions"]

_MOST = 2**30
#: names of what is only added to, while entries are built
_ADDED = (
    *("entries", "entry_of_rule", "entry_of_body", "entry_of_watch"),
    *("entry_of_scope", "members_of", "gatherers", "watching"),
    *("known_counts", "loop_of", "loops", "extents", "guards", "scopes"),
    *("watches", "languages", "language_of", "waiting", "within"),
)
#: a hundred thousand steps of languages at most
_languages: Memo[Language] = Memo(100_000)


@dataclass(slots=True, eq=False)
class _Instance:
    """Right-linear rules that are copied to one place: where each begins; they end together."""

    starts: dict[str, int]
    end: int
    members: frozenset[str]


#: a rule to be copied: its name, where it begins and ends, its origin, the instance that it belongs to
_Copy = tuple[str, int, int, Origin | None, _Instance | None]


class EntryPositions(Pieces):
    """Writes entries as positions with edges and calls, and knows what each number stands for."""

    def __init__(
        self,
        rules: Mapping[str, Expr],
        analysis: Analysis,
        terminals: Mapping[Token, tuple[int, ...]],
        budgets: Budgets,
    ) -> None:
        super().__init__(budgets.expansion)
        self.rules = rules
        self.analysis = analysis
        self.copied = inlined(analysis, budgets)
        self.terminals = terminals
        self.missing = sorted(analysis.missing)
        self.budgets = budgets
        #: positions made so far
        self.positions = 0
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
        self.waiting: list[int] = []
        self.within: list[int] = []
        self.guards: dict[GuardSpec, int] = {}
        self.scopes: dict[ScopeSpec, int] = {}
        self.entry_of_scope: dict[int, int] = {}
        #: of the entries of scopes, how many members they number
        self.members_of: dict[int, int] = {}
        self.members = 0
        #: the entries of scopes that gather
        self.gatherers: dict[int, None] = {}
        self.gathering = self.recording = False
        self.watching: dict[int, None] = {}
        self.watches: dict[WatchSpec, int] = {}
        self.languages: list[Language] = []
        self.language_of: dict[int, tuple[Graph, int]] = {}
        #: the entry of all texts, where the empty one is among them
        self.whole = -1
        self._of_place()

    @property
    def _added(self) -> Iterator[list[Any] | dict[Any, Any]]:
        """What is only added to, while entries are built."""
        return map(vars(self).__getitem__, _ADDED)

    def continued(self, rules: Mapping[str, Expr], analysis: Analysis) -> Self:
        """Entries of a grammar among whose rules are those that were built here; it goes on after these."""
        one = object.__new__(type(self))
        vars(one).update(vars(self))
        vars(one).update((name, vars(self)[name].copy()) for name in _ADDED)
        one.rules, one.analysis = rules, analysis
        one._empty()
        one._of_place()
        return one

    def _empty(self) -> None:
        """Forget all that was not appended to an automaton yet; positions are numbered from 0 again."""
        super()._empty()
        self.n = 0
        self.between: list[int] = []
        self.calls: list[Call] = []
        #: first position, number and start of each entry that was built, and whether it has guards
        self.built: list[tuple[int, int, int, bool]] = []
        #: first position of each part that belongs to a rule, and the rule
        self.named: list[tuple[int, str]] = []
        self.ends: list[int] = []
        #: first and one past the last position of entries of which parts may lead nowhere
        self.doubts: list[tuple[int, int]] = []

    def _of_place(self) -> None:
        """What holds while one entry is built."""
        self.copies: deque[_Copy] = deque()
        self.instance: _Instance | None = None
        self.group: frozenset[str] = frozenset()
        self.left_calls: list[str] = []
        self.guarded = False

    def entry_for_rule(self, name: str) -> int:
        """Number of a rule's entry; a rule that is another one by a second name has that one's."""
        found = self.entry_of_rule.get(name)
        if found is None:
            other = self._other_name(name)
            if other != name:
                found = self.entry_of_rule[name] = self.entry_for_rule(other)
                return found
            found = self.entry_of_rule[name] = len(self.entries)
            self.entries.append((name, None))
            self.waiting.append(found)
        return found

    def _other_name(self, name: str) -> str:
        """The rule that a rule is a second name of, itself where it says more, or copies what it says."""
        known = self.analysis.written
        while name in known and name not in self.analysis.recursive:
            expr = known[name]
            if not isinstance(expr, Ref) or expr.name in self.copied:
                break
            name = expr.name
        return name

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
            shortest, alphabet = extent_of(self._without_uses(body))
            self.extents.append((max(1, shortest), alphabet))
        return found

    def _without_uses(self, expr: Expr) -> Expr:
        """An expression with the rules that it uses in their place, where these do not lead back to themselves."""
        known, recursive = self.analysis.written, self.analysis.recursive
        if not known:
            return expr

        def used(part: Expr) -> Expr | None:
            if isinstance(part, Ref) and part.name in known and part.name not in recursive:
                return known[part.name]
            return None

        while True:
            there = rewrite(expr, used)
            if there is expr:
                return expr
            expr = there

    # -- positions -----------------------------------------------------------------------------

    def build(self, entry: int) -> None:
        """Positions of one entry."""
        name, body = self.entries[entry]
        before, marks, n_calls = self.n, self.marks(), len(self.calls)
        self._of_place()
        self.members = self.members_of.get(entry, 0)
        self.recording = entry in self.members_of
        self.gathering = entry in self.gatherers
        if body is None and name in self.analysis.groups:
            start = self._left_corner(name, marks, n_calls)
            if entry == self.whole:
                self.skip(start, self.ends[-1])
        elif entry == self.whole:
            start = self._plainly(name, None)
        else:
            start = self._plainly(name, body)
            expr = self.rules[name] if body is None else body
            analysis = self.analysis
            if name in analysis.nullable if body is None else analysis.is_nullable(body):
                start = self._without_empty(start, expr, marks, n_calls)
        self.built.append((before, entry, start, self.guarded))
        if self.doubtful:
            self.doubts.append((before, self.n))
            self.doubtful = False
        self.positions += self.n - before
        if self.positions > self.budgets.positions:
            raise too_complex("positions", name, budgets=self.budgets)

    def _plainly(self, name: str, body: Expr | None) -> int:
        """A rule, or a part of one, between two positions; the first of them."""
        expr = self.rules[name] if body is None else body
        self._belongs(name)
        start = self.position(expr.origin)
        end = self.position(expr.origin)
        self.ends.append(end)
        if body is None and self.copied.get(name):
            self._copy(name, start, end, expr.origin)
        else:
            self.connect(expr, start, end)
        self._finish(name)
        return start

    def _belongs(self, name: str) -> None:
        """What follows belongs to a rule."""
        self.name = name
        self.named.append((self.n, name))

    def _finish(self, name: str) -> None:
        """Rules that are copied, counted repeats."""
        self._count(name)
        while self.copies:
            copied, a, b, origin, self.instance = self.copies.popleft()
            self._belongs(copied)
            self.connect(self.rules[copied], a, b, origin)
            self._count(copied)
        self.instance = None

    def _count(self, name: str) -> None:
        """Calls of the loops of the repeats that are counted."""
        known_counts = self.known_counts
        for a, b, expr in self.repeats:
            known = known_counts.get(id(expr))
            if known is None:
                item, least, most = expr.item, expr.min, expr.max
                # what is written on demand promises to have a text
                if name in self.analysis.written and not self.analysis.is_productive(item):
                    self.doubtful = True
                    if least == 0:
                        self.skip(a, b)
                    continue
                entry = self.entry_for_body(item, name)
                nullable = self.analysis.is_nullable(item)
                floor = 1 if nullable else max(least, 1)
                loop = self.loop_for(entry, floor, -1 if most is None else most, item)
                known = known_counts[id(expr)] = expr, loop, entry, least == 0 or nullable
            _, loop, entry, may_lack = known
            if may_lack:
                self.skip(a, b)
            self.calls.append(Call(a, entry, loop, -1, b))
        self.repeats.clear()

    def counted(
        self, expr: Repeat, a: int, b: int, origin: Origin | None, stack: list[Task]
    ) -> None:
        """A repeat that is counted; in a left-recursive group the first round of one that may begin with it is not."""
        if not self.group or self.group.isdisjoint(
            first_uses(expr.item, self.analysis.is_nullable)
        ):
            super().counted(expr, a, b, origin, stack)
            return
        if expr.min == 0:
            self.skip(a, b)
        middle = self.position(origin)
        stack.append((expr.item, a, middle, origin))
        most = None if expr.max is None else expr.max - 1
        self.repeats.append((middle, b, Repeat(expr.item, max(expr.min - 1, 0), most)))

    def _without_empty(self, start: int, expr: Expr, marks: Marks, n_calls: int) -> int:
        """A start with copies of all edges that ``start`` reaches without consuming."""
        edges = self.edges(marks)
        seen = set(closure(start, Skips(edges)))
        fresh = self.position(expr.origin)
        begins = edges[:, (edges[1] >= 0) & np.isin(edges[0], list(seen))]
        for _, low, high, to in begins.T.tolist():
            self.rows.extend((fresh, low, high, to))
        self.calls += [
            call._replace(source=fresh) for call in self.calls[n_calls:] if call.source in seen
        ]
        return fresh

    def _left_corner(self, name: str, marks: Marks, n_calls: int) -> int:
        """The start of a left-recursive rule, whose group is written here as a whole (see ``left_corner.py``)."""
        group = self.analysis.groups[name]
        members = [one for one in sorted(group) if one in self.analysis.productive]
        self._belongs(name)
        start = self.position(self.rules[name].origin)
        between: dict[str, tuple[int, int]] = {}
        self.group, self.left_calls = group, []
        for member in members:
            expr = self.rules[member]
            self._belongs(member)
            between[member] = self.position(expr.origin), self.position(expr.origin)
            self.connect(expr, *between[member])
            self._finish(member)
        self.ends.append(between[name][1])
        edges, calls = self.edges(marks).T.tolist(), self.calls[n_calls:]
        found = corners(start, between, edges, calls, self.left_calls)
        for low, high, to in found.edges:
            self.rows.extend((start, low, high, to))
        for a, b in found.links:
            self.skip(a, b)
        self.doubtful = True
        # those of the group get their entries where they need frames
        self.calls[n_calls:] = [
            call
            if call.entry >= 0
            else call._replace(entry=self.entry_for_rule(self.left_calls[~call.entry]))
            for call in needed(start, self.edges(marks).T.tolist(), calls + found.calls)
        ]
        return start

    def leaf(self, expr: Expr, a: int, b: int, origin: Origin | None, stack: list[Task]) -> None:
        """A part that depends on the grammar around it."""
        if isinstance(expr, Ref):
            self._use(expr.name, a, b, expr.origin or origin)
        elif isinstance(expr, OtherText):
            self._other_text(expr, a, b)
        elif isinstance(expr, Scope):
            self._scope(expr, a, b)
        elif isinstance(expr, Guard) and expr.kind == "between":
            # a position of its own: alternatives begin at the same one
            mark = self.position(origin)
            self.between.append(mark)
            self.guarded = True
            self.skip(a, mark)
            self.skip(mark, b)
        elif isinstance(expr, Guard):
            self._guard(GuardSpec(expr.kind, expr.among, expr.others, self.members), a, b)
        elif isinstance(expr, Token):
            symbols = self.terminals.get(expr, ())
            for symbol in symbols:
                self.rows.extend((a, symbol, symbol, b))
            self.doubtful |= not symbols
        elif isinstance(expr, ByteGraph):
            self.table(expr, a, b, origin)
        else:
            raise TypeError(f"not an expression: {expr!r}")

    def _use(self, name: str, a: int, b: int, origin: Origin | None) -> None:
        """A use of a rule: a copy of it or a call."""
        written = name in self.analysis.written
        if written and name not in self.analysis.productive:
            self.doubtful = True
            return
        # a scope's record belongs to what stands in its own rule
        if name in self.copied and not self.recording and self._copy(name, a, b, origin):
            return
        if self.gathering:
            # behind the call, the scope below it could not be asked for any more
            a = self._peek(a, origin)
        if name in self.group:
            entry = ~len(self.left_calls)
            self.left_calls.append(name)
        else:
            entry = self.entry_for_rule(name)
        self.calls.append(Call(a, entry, -1, -1, b))
        if name in self.analysis.nullable:
            self.skip(a, b)

    def _copy(self, name: str, a: int, b: int, origin: Origin | None) -> bool:
        """Put a rule between two positions, later; of rules that lead back to themselves at their ends, one copy."""
        members = self.copied[name]
        if not members:
            self.copies.append((name, a, b, origin, None))
            return True
        place = self.instance
        if place is None or place.members is not members:
            place = _Instance({}, b, members)
        elif place.end != b:  # a copy within the copy: there would be no end of it
            return False
        if name not in place.starts:
            place.starts[name] = self.position(origin)
            self.copies.append((name, place.starts[name], b, origin, place))
        self.skip(a, place.starts[name])
        return True

    def _other_text(self, expr: OtherText, a: int, b: int) -> None:
        entry = self.entry_of_watch.get(id(expr.body))
        if entry is None:
            entry = self.entry_of_watch[id(expr.body)] = len(self.entries)
            self.entries.append((self.name, expr.body))
            self.within.append(entry)
            self.watching[entry] = None
        spec = WatchSpec(expr.texts)
        if expr.fresh or expr.role:
            cell = expr.cell if expr.fresh else 0
            language = self._language(expr.within)
            spec = WatchSpec(expr.texts, expr.fresh, cell, language, expr.role)
        watch = self.watches.setdefault(spec, len(self.watches))
        if "" not in expr.texts and self.analysis.is_nullable(expr.body):
            if expr.fresh:
                self._guard(GuardSpec("empty", watch), a, b)
            else:
                self.skip(a, b)
        if expr.opening:
            if spec.language >= 0 and self.languages[spec.language].counts[0] < MANY:
                room = self.position(expr.origin)
                self._guard(GuardSpec("room", watch), a, room)
                a = room
            opened = self.position(expr.origin)
            self.connect(Literal(expr.opening), a, opened)
            a = opened
        if expr.fresh:
            # the texts that came must be known before the first byte
            known = self.position(expr.origin)
            self._guard(GuardSpec("look"), a, known)
            a = known
        if expr.role:
            a = self._peek(a, expr.origin)
        self.calls.append(Call(a, entry, -1, watch, b))

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
        self.guarded = True
        self.rows.extend((a, -1, self.guards.setdefault(guard, len(self.guards)), b))

    def _scope(self, expr: Scope, a: int, b: int) -> None:
        entry = self.entry_of_scope.get(id(expr.item))
        if entry is None:
            entry = self.entry_of_scope[id(expr.item)] = len(self.entries)
            self.entries.append((self.name, expr.item))
            self.within.append(entry)
            self.members_of[entry] = expr.members
            if expr.gather is not None:
                self.gatherers[entry] = None
        most = -1 if expr.most is None else min(expr.most, _MOST)
        least = min(expr.least, _MOST)
        spec = ScopeSpec(expr.members, expr.required, least, most, expr.names, expr.gather)
        if expr.gather is not None and not expr.gather.outermost:
            a = self._peek(a, expr.origin)
        scope = self.scopes.setdefault(spec, len(self.scopes))
        self.calls.append(Call(a, entry, -1, -2 - scope, b))

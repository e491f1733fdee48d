"""Grammars -> automata that grow: a rule becomes states when the engine first reaches it.

A rule's expression becomes positions in one linear pass (``fragments.py``: Thompson's construction), within a budget
deterministic states (``determinise.py``). Every rule that is not copied into its uses and every counted loop's body is
an entry. What has to be known of rules before they are built is in ``grammar/analysis.py``; rules that are written on
demand promise it.

Two changes to Thompson's construction keep what automata promise: no entry accepts the empty text (where a rule is
called that may be empty, an empty edge stands beside the call, and the start of its entry has copies of the edges that
it reaches without consuming), and none reaches its own call without consuming a byte (``left_corner.py``).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from workbench.automaton.budgets import Budgets, too_complex
from workbench.automaton.determinise import (
    Determinised,
    Parts,
    determinise,
    merged,
    without_own_frames,
)
from workbench.automaton.extents import extent_of
from workbench.automaton.fragments import Pieces, Rows
from workbench.automaton.inlining import inlined
from workbench.automaton.languages import language_of
from workbench.automaton.memo import Memo
from workbench.automaton.model import (
    JUMP,
    MANY,
    NOT_BUILT,
    Automaton,
    GuardSpec,
    Language,
    ScopeSpec,
    Sources,
    WatchSpec,
)
from workbench.automaton.rows import closure, extended, skips_of, useful_rows
from workbench.changes import assigned, at_once
from workbench.grammar.analysis import Analysis, first_uses
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

__all__ = ["grow_automaton"]

#: positions built at once: ahead, when the automaton is made; when an entry is missing; of parts of rules
_AHEAD, _MORE, _PARTS = 6000, 1000, 1000
_MOST = 2**30
#: a hundred thousand steps of languages at most
_languages: Memo[Language] = Memo(100_000)


class _Call(NamedTuple):
    """Where a call stands, what it calls, its loop (or -1), watch (or -2 - scope, or -1), and where it returns."""

    source: int
    entry: int
    loop: int
    watch: int
    after: int


@dataclass(slots=True, eq=False)
class _Instance:
    """Right-linear rules that are copied to one place: where each begins; they end together."""

    starts: dict[str, int]
    end: int
    members: frozenset[str]


class _Kept(NamedTuple):
    """What a builder knew when it had last written to the automaton: lengths of what grows, and its counts."""

    lengths: tuple[int, ...]
    taken_up: tuple[int, ...]
    work: int
    positions: int


#: a rule to be copied: its name, where it begins and ends, its origin, the instance that it belongs to
_Copy = tuple[str, int, int, Origin | None, _Instance | None]


class _Builder(Pieces):
    """Builds entries into an automaton's arrays."""

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
        #: what states stand for
        self.sources = Sources()
        #: positions that may still be looked at to determinise, positions made so far
        self.work = budgets.deterministic_work
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
        #: how many of both were taken up
        self.taken_up = [0, 0]
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
        #: what is only added to, while entries are built
        self._added: tuple[list[Any] | dict[Any, Any], ...] = (
            *(self.entries, self.entry_of_rule, self.entry_of_body, self.entry_of_watch),
            *(self.entry_of_scope, self.members_of, self.gatherers, self.watching),
            *(self.known_counts, self.loop_of, self.loops, self.extents, self.guards, self.scopes),
            *(self.watches, self.languages, self.language_of, self.waiting, self.within),
        )
        self._kept = self._as_it_is()
        self._of_place()

    def _as_it_is(self) -> _Kept:
        return _Kept(tuple(map(len, self._added)), tuple(self.taken_up), self.work, self.positions)

    def _as_kept(self) -> None:
        """Drop what is known of entries that did not come into the automaton: a budget or an interrupt came before."""
        kept = self._kept
        for added, n in zip(self._added, kept.lengths, strict=True):
            if isinstance(added, dict):
                while len(added) > n:
                    added.popitem()
            else:
                del added[n:]
        self.taken_up[:] = kept.taken_up
        self.work, self.positions = kept.work, kept.positions
        self._empty()

    def _empty(self) -> None:
        """Forget all that was not appended to an automaton yet; positions are numbered from 0 again."""
        super()._empty()
        self.n = 0
        self.between: list[int] = []
        self.calls: list[_Call] = []
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

    def entry_for_text(self, name: str) -> int:
        """Number of the entry of all texts; if one of them is empty, no rule has it."""
        if name not in self.analysis.nullable:
            found = self.entry_for_rule(name)
        else:
            found = self.whole = len(self.entries)
            self.entries.append((name, None))
        self._kept = self._as_it_is()
        return found

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
            if (
                (name in self.analysis.nullable)
                if body is None
                else self.analysis.is_nullable(body)
            ):
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
            self.calls.append(_Call(a, entry, loop, -1, b))
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
        self.calls += [
            call._replace(source=fresh) for call in self.calls[n_calls:] if call.source in seen
        ]
        return fresh

    def _left_corner(self, name: str, marks: tuple[int, int, int], n_calls: int) -> int:
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
        edges = self.edges(marks).T.tolist()
        skips = skips_of(edges)
        calls = self.calls[n_calls:]
        fresh: list[_Call] = []
        links: list[tuple[int, int]] = []
        leaving: dict[int, list[tuple[int, int, int]]] = {}
        for at, low, high, to in edges:
            if low >= 0:
                leaving.setdefault(at, []).append((low, high, to))
        called: dict[int, list[_Call]] = {}
        for call in calls:
            called.setdefault(call.source, []).append(call)
        for member in members:
            for at in closure(between[member][0], skips):
                for low, high, to in leaving.get(at, ()):
                    self.rows.extend((start, low, high, to))
                for call in called.get(at, ()):
                    if call.entry < 0:
                        links.append((between[self.left_calls[~call.entry]][1], call.after))
                    else:
                        fresh.append(call._replace(source=start))
        for a, b in links:
            self.skip(a, b)
        self.doubtful = True
        self.calls[n_calls:] = self._called(start, calls + fresh, marks)
        return start

    def _called(self, start: int, calls: list[_Call], marks: tuple[int, int, int]) -> list[_Call]:
        """The calls that ``start`` leads to; those of the group get their entries, where they need frames."""
        following: dict[int, list[int]] = {}
        for at, _, _, to in self.edges(marks).T.tolist():
            following.setdefault(at, []).append(to)
        for call in calls:
            following.setdefault(call.source, []).append(call.after)
        reached = set(closure(start, following))
        return [
            call
            if call.entry >= 0
            else call._replace(entry=self.entry_for_rule(self.left_calls[~call.entry]))
            for call in calls
            if call.source in reached
        ]

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
        self.calls.append(_Call(a, entry, -1, -1, b))
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
        self.calls.append(_Call(a, entry, -1, watch, b))

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
        self.calls.append(_Call(a, entry, -1, -2 - scope, b))

    # -- arrays --------------------------------------------------------------------------------

    def grow(self, automaton: Automaton, entry: int, positions: int = _MORE) -> None:
        """Build an entry with the parts of its rule, and of the rules that wait what fits into ``positions``."""
        # what is built ahead must not use up what may be needed
        positions = min(positions, max(0, self.budgets.positions - self.positions) // 4)
        self._as_kept()
        built = {entry}
        self.build(entry)
        parts, rules = 0, 1
        while True:
            if self.taken_up[parts] < len(self.within) and self.n < _PARTS:
                following = self.within[self.taken_up[parts]]
                self.taken_up[parts] += 1
            elif self.taken_up[rules] < len(self.waiting) and self.n < positions:
                following = self.waiting[self.taken_up[rules]]
                self.taken_up[rules] += 1
            else:
                break
            if following not in built and (
                following >= len(automaton.entry_state)
                or automaton.entry_state[following] == NOT_BUILT
            ):
                built.add(following)
                self.build(following)
        self._append(automaton)
        self._empty()

    def _append(self, a: Automaton) -> None:
        """Write what was built into the arrays of an automaton, all at once."""
        rows = self.edges()
        for byte in self.missing:
            rows = self._spelled(rows, byte)
        calls = self._jumps(rows)
        final = np.zeros(self.n, dtype=np.bool_)
        final[self.ends] = True
        if self.doubts:
            rows, calls = self._useful(final, rows, calls)
        affordable = a.n_states < self.budgets.deterministic_states
        made = self._determinised(final, rows, calls, affordable)
        parts, first, n = made.parts, a.n_states, made.parts.n
        if first + n > self.budgets.states:
            raise too_complex("states", self.name, budgets=self.budgets)
        parts.edges[[0, 3]] += first
        parts.empties[:2] += first
        parts.calls[0] += first
        parts.calls[4] += np.where(parts.calls[4] < 0, 0, np.int32(first))
        marks, sources = self._marks(a, made)
        at_once(
            assigned(
                a,
                edge_start=extended(a.edge_start, parts.edges[0], first, n),
                edge_lo=np.concatenate([a.edge_lo, parts.edges[1]]),
                edge_hi=np.concatenate([a.edge_hi, parts.edges[2]]),
                edge_target=np.concatenate([a.edge_target, parts.edges[3]]),
                empty_start=extended(a.empty_start, parts.empties[0], first, n),
                empty_target=np.concatenate([a.empty_target, parts.empties[1]]),
                empty_guard=np.concatenate([a.empty_guard, parts.empties[2]]),
                call_start=extended(a.call_start, parts.calls[0], first, n),
                call_entry=np.concatenate([a.call_entry, parts.calls[1]]),
                call_loop=np.concatenate([a.call_loop, parts.calls[2]]),
                call_watch=np.concatenate([a.call_watch, parts.calls[3]]),
                call_return=np.concatenate([a.call_return, parts.calls[4]]),
                final=np.concatenate([a.final, parts.final]),
                n_states=first + n,
                guards=a.guards + tuple(self.guards)[len(a.guards) :],
                scopes=a.scopes + tuple(self.scopes)[len(a.scopes) :],
                watches=a.watches + tuple(self.watches)[len(a.watches) :],
                languages=a.languages + tuple(self.languages[len(a.languages) :]),
                **marks,
                **self._entries(a, made, first),
            ),
            sources,
            assigned(self, _kept=self._as_it_is()),
        )

    def _determinised(
        self, final: NDArray[np.bool_], rows: Rows, calls: Rows, affordable: bool
    ) -> Determinised:
        """What was built, deterministic where that can be afforded."""
        # by source and first symbol
        rows = rows[:, (rows[0] * np.int64(1 << 24) + rows[1]).argsort(kind="stable")]
        empty = rows[1] < 0
        parts = Parts(
            self.n,
            final,
            np.ascontiguousarray(rows[:, ~empty]),
            np.ascontiguousarray(rows[:, empty][[0, 3, 2]]),
            np.ascontiguousarray(calls[:, calls[0].argsort(kind="stable")]),
        )
        firsts, entries, starts, guarded = zip(*self.built, strict=True)
        chosen = ~np.array(guarded, dtype=np.bool_) & affordable
        made = determinise(
            parts,
            np.array([*firsts, self.n], dtype=np.int32),
            np.array(starts, dtype=np.int32),
            chosen,
            self.work,
        )
        self.work -= made.work
        return merged(without_own_frames(made, np.array(entries, dtype=np.int32)))

    def _marks(self, a: Automaton, made: Determinised) -> tuple[dict[str, Any], Iterator[object]]:
        """What is said of single states: whether they are watched or between members; and where they come from."""
        n = made.parts.n
        bounds = [*made.firsts.tolist(), n]
        watched = np.zeros(n, dtype=np.bool_)
        between = np.zeros(n, dtype=np.bool_)
        for i, (_, entry, _, _) in enumerate(self.built):
            if entry in self.watching:
                watched[bounds[i] : bounds[i + 1]] = True
        if self.between:
            # entries with such marks have guards: their states are their positions
            firsts = np.array([begin for begin, *_ in self.built])
            places = np.array(self.between)
            within = firsts.searchsorted(places, side="right") - 1
            between[made.firsts[within] + places - firsts[within]] = True
        marks = {
            "watched": np.concatenate([a.watched, watched]),
            "between": np.concatenate([a.between, between]),
        }
        return marks, self.sources.more(made.at, made.members, self.n, self.named, self.origins)

    def _entries(self, a: Automaton, made: Determinised, first: int) -> dict[str, Any]:
        """Entries and loops."""
        entry_state = np.full(len(self.entries), NOT_BUILT, dtype=np.int32)
        entry_state[: len(a.entry_state)] = a.entry_state
        entry_state[[entry for _, entry, _, _ in self.built]] = made.starts + first
        names = a.entry_names + tuple(name for name, _ in self.entries[len(a.entry_names) :])
        known = len(a.loop_entry)
        loops = np.array(self.loops[known:], dtype=np.int32).reshape(-1, 3)
        return {
            "entry_state": entry_state,
            "entry_names": names,
            "loop_entry": np.concatenate([a.loop_entry, loops[:, 0]]),
            "loop_min": np.concatenate([a.loop_min, loops[:, 1]]),
            "loop_max": np.concatenate([a.loop_max, loops[:, 2]]),
            "loop_least": a.loop_least + tuple(least for least, _ in self.extents[known:]),
            "loop_alphabet": a.loop_alphabet
            + tuple(letters for _, letters in self.extents[known:]),
        }

    def _spelled(self, rows: Rows, byte: int) -> Rows:
        """The edges without a byte that no token contains."""
        hit = (rows[1] <= byte) & (byte <= rows[2]) & (rows[1] >= 0)
        if not hit.any():
            return rows
        below, above = rows[:, hit], rows[:, hit]
        below[2] = byte - 1
        above[1] = byte + 1
        parts = [rows[:, ~hit], below[:, below[1] < byte], above[:, above[2] > byte]]
        self.doubts = [(0, self.n)]
        return np.concatenate(parts, axis=1)

    def _useful(self, final: NDArray[np.bool_], rows: Rows, calls: Rows) -> tuple[Rows, Rows]:
        """Drop the edges into positions that lead nowhere, of the entries that may have such."""
        asked = np.zeros(len(final), dtype=np.bool_)
        for begin, end in self.doubts:
            asked[begin:end] = True
        in_doubt, calling = asked[rows[0]], asked[calls[0]]
        some, few = useful_rows(final, rows[:, in_doubt], calls[:, calling])
        return (
            np.concatenate([rows[:, ~in_doubt], some], axis=1),
            np.concatenate([calls[:, ~calling], few], axis=1),
        )

    def _jumps(self, rows: Rows) -> Rows:
        """The calls, those whose return point offers nothing but the end as jumps."""
        if not self.calls:
            return np.zeros((5, 0), dtype=np.int32)
        calls = np.array(self.calls, dtype=np.int32).T
        busy = np.zeros(self.n, dtype=np.bool_)
        plain = (rows[1] & rows[2]) < 0
        busy[rows[0, ~plain]] = True
        busy[calls[0]] = True
        # those without frames only, of which most return to where more follows at once
        asked = ((calls[2] & calls[3]) == -1) & ~busy[calls[4]]
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
                    busy[position] for position in reached
                )
            if tail[after]:
                calls[4, i] = JUMP
        return calls


def grow_automaton(
    rules: Mapping[str, Expr],
    start: str,
    analysis: Analysis,
    terminals: Mapping[Token, tuple[int, ...]],
    budgets: Budgets,
) -> Automaton:
    """An automaton of which what is near the start is built, the rest when needed.

    ``start`` has a text; ``terminals`` are the symbols of each token terminal. Raises ``GrammarTooComplex``, also
    later, when the automaton grows.
    """
    builder = _Builder(rules, analysis, terminals, budgets)
    root = builder.entry_for_text(start)
    none = np.zeros(0, dtype=np.int32)
    zero = np.zeros(1, dtype=np.int32)
    sources = builder.sources
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
        state_rules=sources.rules,
        state_origins=sources.origins,
        empty_start=zero,
        grow=builder.grow,
    )
    builder.grow(automaton, root, _AHEAD)
    automaton.start = int(automaton.entry_state[root])
    if NOT_BUILT not in automaton.entry_state:
        automaton.grow = None
    return automaton

"""Grammars -> automata that grow: a rule becomes states when the engine first reaches it.

A rule's expression becomes positions in one linear pass (``entry_positions.py``, ``fragments.py``: Thompson's
construction), and within a budget deterministic states (``determinise.py``), which are appended to the automaton's
arrays. What has to be known of rules before they are built is in ``grammar/analysis.py``; rules that are written on
demand promise it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from workbench.automaton.budgets import Budgets, too_complex
from workbench.automaton.determinise import Determinised, determinise, laid_out
from workbench.automaton.entry_positions import EntryPositions
from workbench.automaton.fragments import Rows
from workbench.automaton.network import (
    NOT_BUILT,
    Automaton,
    Sources,
)
from workbench.automaton.rows import useful_rows
from workbench.automaton.subset_kernels import Nfa
from workbench.changes import assigned, at_once
from workbench.errors import GrammarTooComplex
from workbench.grammar.analysis import Analysis, analyse
from workbench.grammar.ir import (
    Expr,
    Token,
)
from workbench.grammar.lazy import LazyRules, SharedRules

__all__ = ["grow_automaton"]

#: of what a grammar may have, what is shared with others is no larger part than one of so many
_SHARE = 16
#: positions built at once: ahead, when the automaton is made; when an entry is missing; of parts of rules
_AHEAD, _MORE, _PARTS = 2000, 1000, 1000


class _Kept(NamedTuple):
    """What a builder knew when it had last written to the automaton: lengths of what grows, and its counts."""

    lengths: tuple[int, ...]
    taken_up: tuple[int, ...]
    work: int
    positions: int


class _Builder(EntryPositions):
    """Builds entries into an automaton's arrays."""

    def __init__(
        self,
        rules: Mapping[str, Expr],
        analysis: Analysis,
        terminals: Mapping[Token, tuple[int, ...]],
        budgets: Budgets,
    ) -> None:
        super().__init__(rules, analysis, terminals, budgets)
        #: bytes, and symbols of tokens
        self.n_symbols = 256 + sum(map(len, terminals.values()))
        #: what states stand for
        self.sources = Sources()
        #: positions that may still be looked at to determinise
        self.work = budgets.deterministic_work
        #: how many of the entries that wait were taken up: of parts of rules, of rules
        self.taken_up = [0, 0]
        self._kept = self._as_it_is()

    def continued(self, rules: Mapping[str, Expr], analysis: Analysis) -> Self:
        """See :meth:`EntryPositions.continued`."""
        one = super().continued(rules, analysis)
        one.sources = Sources(self.sources)
        one.taken_up = list(self.taken_up)
        return one

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

    def entry_for_text(self, name: str) -> int:
        """Number of the entry of all texts; if one of them is empty, no rule has it."""
        if name not in self.analysis.nullable:
            found = self.entry_for_rule(name)
        else:
            found = self.whole = len(self.entries)
            self.entries.append((name, None))
        self._kept = self._as_it_is()
        return found

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
                if not self._may_come_early(following):
                    continue
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

    def _may_come_early(self, entry: int) -> bool:
        """Whether a rule that waits is worth building before a text gets to it."""
        rules = self.rules
        return not isinstance(rules, LazyRules) or rules.may_come_early(self.entries[entry][0])

    def _append(self, a: Automaton) -> None:
        """Write what was built into the arrays of an automaton, all at once."""
        rows = self.edges()
        for byte in self.missing:
            rows = self._spelled(rows, byte)
        calls = np.array(self.calls, dtype=np.int32).reshape(-1, 5).T
        final = np.zeros(self.n, dtype=np.bool_)
        final[self.ends] = True
        if self.doubts:
            rows, calls = self._useful(final, rows, calls)
        made = self._determinised(
            laid_out(rows, calls, final, self.n_symbols),
            a.n_states < self.budgets.deterministic_states,
        )
        nfa, first, n = made.nfa, a.n_states, made.n
        if first + n > self.budgets.states:
            raise too_complex("states", self.name, budgets=self.budgets)
        targets, empty_targets, returns = nfa.edges[3], nfa.empties[1], nfa.calls[4]
        targets += first
        empty_targets += first
        returns[returns >= 0] += first
        marks, sources = self._marks(a, made)
        more = {
            "edge_start": nfa.edge_at[1:] + len(a.edge_lo),
            "empty_start": nfa.empty_at[1:] + len(a.empty_target),
            "call_start": nfa.call_at[1:] + len(a.call_entry),
            **dict(zip(("edge_lo", "edge_hi", "edge_target"), nfa.edges[1:], strict=True)),
            **dict(zip(("empty_target", "empty_guard"), nfa.empties[1:], strict=True)),
            "call_entry": nfa.calls[1],
            **self._loops(a),
        }
        at_once(
            a.appended(more),
            assigned(
                a,
                call_loop=np.concatenate([a.call_loop, nfa.calls[2]]),
                call_watch=np.concatenate([a.call_watch, nfa.calls[3]]),
                call_return=np.concatenate([a.call_return, returns]),
                final=np.concatenate([a.final, nfa.final.view(np.bool_)]),
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

    def _determinised(self, nfa: Nfa, affordable: bool) -> Determinised:
        """What was built, deterministic where that can be afforded."""
        firsts, entries, starts, guarded = zip(*self.built, strict=True)
        bounds = np.array([*firsts, self.n], dtype=np.int32)
        # one that alone is more than all the work is left as it is
        chosen = np.diff(bounds) <= self.budgets.deterministic_work
        chosen &= affordable & ~np.array(guarded, dtype=np.bool_)
        made = determinise(
            nfa, bounds, np.array(starts, dtype=np.int32), entries, chosen, self.work
        )
        self.work -= made.work
        return made

    def _marks(self, a: Automaton, made: Determinised) -> tuple[dict[str, Any], Iterator[object]]:
        """What is said of single states: whether they are watched or between members; and where they come from."""
        n = made.n
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
        """Entries, and what is said of loops in Python."""
        entry_state = np.full(len(self.entries), NOT_BUILT, dtype=np.int32)
        entry_state[: len(a.entry_state)] = a.entry_state
        entry_state[[entry for _, entry, _, _ in self.built]] = made.starts + first
        extents = self.extents[len(a.loop_entry) :]
        return {
            "entry_state": entry_state,
            "entry_names": a.entry_names
            + tuple(name for name, _ in self.entries[len(a.entry_names) :]),
            "loop_least": a.loop_least + tuple(least for least, _ in extents),
            "loop_alphabet": a.loop_alphabet + tuple(letters for _, letters in extents),
        }

    def _loops(self, a: Automaton) -> dict[str, NDArray[np.int32]]:
        """The columns of the loops that are new."""
        loops = np.array(self.loops[len(a.loop_entry) :], dtype=np.int32).reshape(-1, 3)
        return dict(zip(("loop_entry", "loop_min", "loop_max"), loops.T, strict=True))

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
    shared = rules.shared if isinstance(rules, LazyRules) and not terminals else None
    seed = None if shared is None else _seed(shared, analysis.missing, budgets)
    if seed is None:
        builder = _Builder(rules, analysis, terminals, budgets)
        automaton = _nothing(builder)
    else:
        builder = seed.builder.continued(rules, analysis)
        automaton = seed.automaton.continued(builder.sources, builder.grow)
    root = builder.entry_for_text(start)
    if root >= len(automaton.entry_state):
        builder.grow(automaton, root, _AHEAD)
    automaton.start = int(automaton.entry_state[root])
    if NOT_BUILT not in automaton.entry_state:
        automaton.grow = None
    return automaton


def _nothing(builder: _Builder) -> Automaton:
    """An automaton without states, which a builder lets grow."""
    none = np.zeros(0, dtype=np.int32)
    zero = np.zeros(1, dtype=np.int32)
    sources = builder.sources
    return Automaton(
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


class _Seed(NamedTuple):
    """What automata begin with, and the builder that goes on there."""

    builder: _Builder
    automaton: Automaton


@lru_cache(maxsize=32)
def _seed(shared: SharedRules, missing: frozenset[int], budgets: Budgets) -> _Seed | None:
    """The entries of rules that many grammars have; None where that would be a large part of what they may have."""
    first = next(iter(shared.rules))
    builder = _Builder(shared.rules, analyse({}, first, missing), {}, budgets)
    automaton = _nothing(builder)
    try:
        for name in shared.rules:
            builder.grow(automaton, builder.entry_for_text(name), 0)
        automaton.complete()
    except GrammarTooComplex:
        return None
    if _SHARE * max(automaton.n_states, builder.positions) > min(budgets.states, budgets.positions):
        return None
    return _Seed(builder, automaton)

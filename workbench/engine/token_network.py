"""The network that ``token_costs.py`` searches: an automaton's states, its calls above stacks, counted rounds."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from workbench.automaton.network import JUMP, Automaton
from workbench.engine.kernels.token_walks import (
    INLINE,
    JUMPS,
    SUMMARY,
    Network,
    Stacks,
    Trie,
    Walk,
    explore,
    node_of,
    stack_above,
    state_of,
)
from workbench.engine.token_scopes import ScopeStates
from workbench.errors import GrammarTooComplex
from workbench.grammar.components import strongly_connected
from workbench.vocabulary.tails import ROOT, Tails

__all__ = ["BASE", "BOTTOM", "TokenNetwork"]

#: stacks: of a frame by itself; of no frame
BASE, BOTTOM = 0, 1
#: in place of a round: nothing; the frame's end is in doubt; minus the number of what has come in a scope
_PLAIN, _DOUBTED, _SCOPE = -1, -2, -3
#: rounds of a repetition beyond its least ones that are counted before they are doubted
_MORE_ROUNDS = 4
#: states of a callee with all that it calls, beyond which it is summarised
_MOST_INLINE = 4_000
#: rounds of all repetitions, states, stacks, nodes: what a place has room for
_MOST_ROUNDS, _MOST_STATES, _MOST_STACKS = 200_000, (1 << 22) - 8, 1 << 20
#: room for the places of one walk, at first
_LEAST_ROOM = 1 << 13
#: guards that let everything pass
_OPEN = ("look",)


class TokenNetwork:
    """Tables of one automaton and one vocabulary, and the stacks above them."""

    def __init__(self, automaton: Automaton, tails: Tails) -> None:
        a = self._a = automaton.complete()
        if a.n_states > _MOST_STATES:
            raise GrammarTooComplex("states, for least tokens", _MOST_STATES)
        #: a state that is final, and one in place of the end of a frame of which more must be said
        self.final, self.over = a.n_states, a.n_states + 1
        guards = [guard >= 0 and a.guards[guard].kind not in _OPEN for guard in a.empty_guard]
        self._guarded = np.array(guards, dtype=np.bool_)
        self._count_rounds()
        how = self._kinds_of_calls()
        jumps = a.call_return == JUMP
        begins = a.entry_state[a.call_entry]
        first = np.array(
            [self._begins.get(loop, -1) for loop in a.call_loop.tolist()], dtype=np.int32
        )
        self._scopes = ScopeStates(a)
        doubted = np.where(a.call_watch != -1, _DOUBTED, _PLAIN)
        for call in np.flatnonzero(a.call_watch < -1).tolist():
            doubted[call] = _SCOPE - self._scopes.number(-2 - int(a.call_watch[call]))
        self._call_round = np.where(a.call_loop >= 0, first, doubted)
        self._how = how
        final = np.concatenate([a.final, [True, True]])
        self._trie = Trie(tails.start, tails.byte, tails.node, tails.ends)
        self._network = Network(
            *(
                _starts(a.edge_start),
                _column(a.edge_lo),
                _column(a.edge_hi),
                _column(a.edge_target),
            ),
            *(_starts(a.empty_start), _column(a.empty_target), self._guarded.astype(np.uint8)),
            *(_starts(a.call_start), _column(begins), _column(np.where(jumps, 0, a.call_return))),
            *(_column(self._call_round), how.astype(np.uint8)),
            *(final.astype(np.uint8), self._stops().astype(np.uint8)),
            *(_column(self._next), _column(self._body)),
            *(np.array(self._open, dtype=np.uint8), np.array(self._leaves, dtype=np.uint8)),
            np.array(self._doubts, dtype=np.uint8),
        )
        #: per state, and whether a token begins there, for how many places its walks have needed room
        self._room: dict[tuple[int, bool], int] = {}
        columns = [np.full(1 << 12, -1, dtype=np.int32) for _ in range(4)]
        unique = np.zeros(1 << 14, dtype=np.int32)
        self._stacks = Stacks._make([*columns, unique, np.array([2], dtype=np.int64)])

    # -- tables --------------------------------------------------------------------------------

    def _count_rounds(self) -> None:
        """Number what a frame that counts may have counted, at the end of a round."""
        a = self._a
        self._next: list[int] = []
        self._body: list[int] = []
        self._open: list[bool] = []
        self._leaves: list[bool] = []
        #: rounds that may come again more often than is counted
        self._doubts: list[bool] = []
        #: per loop: its first round, its least rounds
        self._begins: dict[int, int] = {}
        self._after: list[int] = []
        for loop in range(len(a.loop_min)):
            least, most = max(1, int(a.loop_min[loop])), int(a.loop_max[loop])
            body = int(a.entry_state[a.loop_entry[loop]])
            first = len(self._next)
            self._begins[loop] = first
            self._after.append(least)
            more = 0 if most < 0 else min(most - least, _MORE_ROUNDS)
            if first + least + 2 * more > _MOST_ROUNDS:
                raise GrammarTooComplex("rounds of repetitions, for least tokens", _MOST_ROUNDS)
            self._add_rounds(body, least - 1, more + 1)
            if most < 0:
                self._next[-1] = len(self._next) - 1
            elif most - least > _MORE_ROUNDS:
                self._next[-1] = len(self._next) - 1
                self._doubts[-1] = True
                self._add_rounds(body, 0, more + 1)

    def _add_rounds(self, body: int, stay: int, leave: int) -> None:
        """Rounds one after the other, behind which the frame cannot end, and then can."""
        first, n = len(self._next), stay + leave
        self._next += [*range(first + 1, first + n), -1]
        self._body += [body] * n
        self._leaves += [False] * stay + [True] * leave
        self._open += [True] * n
        self._doubts += [False] * n

    def round_of(self, loop: int, value: int) -> int:
        """The round of a frame that counts, with the value that the engine has in it before a round ends."""
        first, least, most = self._begins[loop], self._after[loop], int(self._a.loop_max[loop])
        done = value + 1
        if done <= least or most < 0:
            return first + min(done, least) - 1
        if most - least <= _MORE_ROUNDS:
            return first + done - 1
        if most - done > _MORE_ROUNDS:
            return first + least - 1
        return first + least + 2 * _MORE_ROUNDS - (most - done)

    def _kinds_of_calls(self) -> NDArray[np.int64]:
        """How each call goes on: rules that lead back to themselves, and large ones, by summaries."""
        a = self._a
        sizes = self._sizes()
        how = np.full(len(a.call_entry), INLINE)
        for c, entry in enumerate(a.call_entry.tolist()):
            loop = int(a.call_loop[c])
            if a.call_return[c] == JUMP:
                how[c] = JUMPS
            elif sizes[entry] > _MOST_INLINE:
                how[c] = SUMMARY
                if loop >= 0:
                    first, end = self._begins[loop], self._begins.get(loop + 1, len(self._open))
                    self._open[first:end] = [False] * (end - first)
        return how

    def _sizes(self) -> list[int]:
        """Per entry, states that are reached in its frame and above it, beyond any bound where it calls itself."""
        a = self._a
        frames = [self._frame(entry) for entry in range(len(a.entry_state))]
        sizes = [0] * len(frames)
        for component in strongly_connected(len(frames), lambda entry: frames[entry][1]):
            for entry in component:
                own, callees = frames[entry]
                if len(component) > 1 or entry in callees:
                    sizes[entry] = _MOST_INLINE + 1
                else:
                    above = (sizes[callee] for callee in callees)
                    sizes[entry] = own + sum(size for size in above if size <= _MOST_INLINE)
        return sizes

    def _frame(self, entry: int) -> tuple[int, list[int]]:
        """How many states an entry's frame has, and what it calls."""
        a = self._a
        start = int(a.entry_state[entry])
        seen, todo, callees = {start}, [start], []
        while todo:
            state = todo.pop()
            following = a.edge_target[a.edge_start[state] : a.edge_start[state + 1]].tolist()
            following += a.empty_target[a.empty_start[state] : a.empty_start[state + 1]].tolist()
            for c in range(a.call_start[state], a.call_start[state + 1]):
                back, callee = int(a.call_return[c]), int(a.call_entry[c])
                if back == JUMP:
                    following.append(int(a.entry_state[callee]))
                    continue
                following.append(back)
                callees.append(callee)
            for target in following:
                if target not in seen:
                    seen.add(target)
                    todo.append(target)
        return len(seen), callees

    def _stops(self) -> NDArray[np.bool_]:
        """States where more must be said: of guards, of summaries, of tokens that are named."""
        a = self._a
        stops = np.zeros(a.n_states + 2, dtype=np.bool_)
        for starts, which in (
            (a.edge_start, a.edge_hi > 255),
            (a.empty_start, self._guarded),
            (a.call_start, self._how == SUMMARY),
        ):
            sources = np.repeat(np.arange(a.n_states), np.diff(starts))
            stops[sources[which]] = True
        return stops

    @property
    def n_stacks(self) -> int:
        """How many stacks there are."""
        return int(self._stacks.filled[0])

    # -- stacks --------------------------------------------------------------------------------

    def stack(self, below: int, back: int, more: int = _PLAIN) -> int:
        """The stack with a frame above another one."""
        while True:
            made = int(stack_above(self._stacks, below, back, more))
            if made >= 0:
                return made
            self._more_stacks()

    def doubted(self, below: int, back: int) -> int:
        """:meth:`stack`, of a frame whose end is in doubt."""
        return self.stack(below, back, _DOUBTED)

    def scope(self, below: int, back: int, scope: int, members: int, count: int) -> int:
        """:meth:`stack`, of the frame of a scope in which so much has come."""
        return self.stack(below, back, _SCOPE - self._scopes.number(scope, members, count))

    def either(self, stacks: list[int]) -> int:
        """A stack that may be any of several."""
        made = BOTTOM if BOTTOM in stacks else -1
        for one in stacks:
            if one == BOTTOM:
                continue
            if self.n_stacks >= len(self._stacks.returns):
                self._more_stacks()
            number = self.n_stacks
            self._stacks.filled[0] += 1
            for column in self._stacks[:3]:
                column[number] = column[one]
            self._stacks.others[number] = made
            made = number
        return made

    def _more_stacks(self) -> None:
        old = self._stacks
        if len(old.returns) >= _MOST_STACKS:
            raise GrammarTooComplex("stacks, for least tokens", _MOST_STACKS)
        columns = [np.concatenate([one, np.full_like(one, -1)]) for one in old[:4]]
        unique = np.zeros(2 * len(old.unique), dtype=np.int32)
        made = Stacks._make([*columns, unique, old.filled.copy()])
        for number in (np.sort(old.unique[old.unique > 0]) - 1).tolist():
            made.filled[0] = number
            stack_above(made, *(int(one[number]) for one in (old.belows, old.returns, old.rounds)))
        made.filled[0] = old.filled[0]
        self._stacks = made

    # -- ways ----------------------------------------------------------------------------------

    def explore(self, place: int) -> tuple[list[int], int]:
        """What ``kernels/token_walks.py`` finds from a place, and how many places it came to."""
        looked_at, state = 0, (state_of(place), node_of(place) == ROOT)
        room = self._room.get(state, _LEAST_ROOM)
        while True:
            table = np.zeros(room, dtype=np.int64)
            todo, found = np.empty((2, room), dtype=np.int64)
            walk = Walk(table, todo, found)
            n = int(explore(self._network, self._trie, self._stacks, walk, place))
            if n >= 0:
                return found[:n].tolist(), looked_at + int(np.count_nonzero(table))
            if n == -1:
                looked_at += room // 2
                room = self._room[state] = 4 * room
            else:
                self._more_stacks()

    def behind_guards(self, state: int, stack: int) -> Iterator[tuple[int, int, int]]:
        """Ways through the guards of a state: the state and the stack behind, and whether in doubt."""
        a = self._a
        for e in range(a.empty_start[state], a.empty_start[state + 1]):
            one = stack if self._guarded[e] else -1
            while one >= 0:
                back, below, more, other = (int(column[one]) for column in self._stacks[:4])
                if one in (BASE, BOTTOM):
                    yield int(a.empty_target[e]), one, 1
                elif more > _SCOPE:
                    yield int(a.empty_target[e]), self.stack(below, back, more), 1
                else:
                    behind = self._scopes.behind(_SCOPE - more, int(a.empty_guard[e]))
                    if behind is not None:
                        after = self.stack(below, back, _SCOPE - behind[0])
                        yield int(a.empty_target[e]), after, behind[1]
                one = other

    def named(self, state: int) -> Iterator[int]:
        """States behind tokens that the grammar names."""
        a = self._a
        for e in range(a.edge_start[state], a.edge_start[state + 1]):
            if a.edge_hi[e] > 255:
                yield int(a.edge_target[e])

    def calls(self, state: int, stack: int) -> Iterator[tuple[int, int, int, int]]:
        """Calls by summaries: where the callee begins above what, above what it goes on and in which state."""
        a = self._a
        for c in range(a.call_start[state], a.call_start[state + 1]):
            if self._how[c] != SUMMARY:
                continue
            start, back = int(a.entry_state[a.call_entry[c]]), int(a.call_return[c])
            more = int(self._call_round[c])
            if more == _PLAIN:
                yield start, BASE, stack, back
            elif more <= _SCOPE:
                yield start, self.stack(BASE, self.final, more), stack, back
            else:
                yield start, BASE, self.stack(stack, back, more), self.final

    def left(self, stack: int) -> tuple[int, int] | None:
        """Stack and state below a frame that counts, at the end of a round; None if it cannot end."""
        back, below, more, _ = (int(column[stack]) for column in self._stacks[:4])
        return (below, back) if self._leaves[more] else None

    def again(self, stack: int) -> tuple[int, int, int] | None:
        """Where another round begins, above which stack, and whether in doubt; None where there is none."""
        back, below, more, _ = (int(column[stack]) for column in self._stacks[:4])
        following = self._next[more]
        if following < 0:
            return None
        above = self.stack(below, back, following)
        return self._body[more], above, int(following == more and self._doubts[more])


def _column(column: object) -> NDArray[np.int32]:
    return np.ascontiguousarray(column, dtype=np.int32)


def _starts(column: NDArray[np.int32]) -> NDArray[np.int32]:
    """Offsets, with those of the two states more that have nothing."""
    return np.concatenate([column, column[-1:], column[-1:]]).astype(np.int32)

"""Which tokens the stack decides about: those that would be judged otherwise above another stack.

The frames below the live states are left open: a walk that comes to the end of its frame goes on wherever a call
of the grammar may return to. Counters and records of frames are not looked at, each lets pass; so a
token may be named that only they decide about.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from workbench.automaton.network import JUMP, NOT_BUILT, Automaton
from workbench.errors import GrammarTooComplex

if TYPE_CHECKING:
    from workbench.engine import Matcher
    from workbench.vocabulary import Vocabulary

__all__ = ["decided_by_stack", "tokens_from"]

#: Situations that are looked at before the question is given up.
SITUATIONS = 20_000
#: States of the largest automaton that is looked at.
STATES = 60_000

#: A frame that a call pushed: where it returns to, and its loop or -1.
Frame = tuple[int, int]
#: A state, the frames pushed above the open stack (top last), and whether the open stack was asked.
Thread = tuple[int, tuple[Frame, ...], bool]


def decided_by_stack(matcher: Matcher) -> NDArray[np.bool_]:
    """Whether what lies below the live states decides about each token. Shape ``(vocabulary.width,)``, bool.

    An allowed token is decided by the stack when each way to read it ends a frame that was open before; a rejected one
    when it could be read above another stack. Raises ``GrammarTooComplex`` when there is too much to look at.
    """
    automaton = matcher.compiled.automaton
    if automaton.n_states > STATES:
        raise GrammarTooComplex("states", STATES)
    vocabulary = matcher.vocabulary
    found = np.zeros(vocabulary.width, dtype=np.bool_)
    if matcher.is_terminated:
        return found
    allowed = np.zeros(vocabulary.width, dtype=np.bool_)
    allowed[matcher.allowed_ids()] = True
    walks = _Walks(automaton)
    start = walks.start(matcher.live_states())
    for token, situation in _read(vocabulary, walks, start):
        alone, above = walks.threads(situation)
        found[token] = not alone if allowed[token] else above and not alone
    ends = walks.may_end(start)
    for token in vocabulary.eos_ids:
        found[token] = ends
    for symbol, tokens in enumerate(automaton.symbols):
        alone, above = walks.threads(walks.step(start, 256 + symbol))
        for token in tokens:
            above_some = above or (ends and token in vocabulary.eos_ids)
            found[token] = not alone if allowed[token] else above_some and not alone
    return found


def tokens_from(
    automaton: Automaton, vocabulary: Vocabulary, states: Iterable[int]
) -> tuple[int, int]:
    """How many tokens may come in some states: whatever the stack is, and only above some stacks.

    Tokens that spell no bytes are not counted. Raises ``GrammarTooComplex`` when there is too much to look at.
    """
    if automaton.n_states > STATES:
        raise GrammarTooComplex("states", STATES)
    walks = _Walks(automaton)
    counts = [0, 0]
    for _, situation in _read(vocabulary, walks, walks.start(states)):
        alone, above = walks.threads(situation)
        counts[0] += alone
        counts[1] += above and not alone
    return counts[0], counts[1]


def _read(vocabulary: Vocabulary, walks: _Walks, start: int) -> Iterator[tuple[int, int]]:
    """Each token that has bytes, and the situation after them; tokens that begin alike are read together."""
    texts = sorted((vocabulary.token_bytes(i), i) for i in range(vocabulary.size))
    before = b""
    path = [start]
    for data, token in texts:
        if not data:
            continue
        shared = 0
        most = min(len(before), len(data), len(path) - 1)
        while shared < most and before[shared] == data[shared]:
            shared += 1
        del path[shared + 1 :]
        for byte in data[shared:]:
            if path[-1] < 0:
                break
            path.append(walks.step(path[-1], byte))
        before = data
        yield token, path[-1]


class _Walks:
    """Sets of threads above an open stack, each set once and by number; -1 is the empty one."""

    def __init__(self, automaton: Automaton) -> None:
        self.automaton = automaton
        self._numbers: dict[frozenset[Thread], int] = {}
        self._sets: list[frozenset[Thread]] = []
        self._steps: dict[tuple[int, int], int] = {}
        self._closed: dict[int, frozenset[Thread]] = {}
        self._callers: dict[int, set[Frame]] | None = None

    def start(self, states: Iterable[int]) -> int:
        return self._number({(state, (), False) for state in states})

    def threads(self, situation: int) -> tuple[bool, bool]:
        """Whether some thread got here without the open stack, and whether some thread needed it."""
        if situation < 0:
            return False, False
        asked = {thread[2] for thread in self._sets[situation]}
        return False in asked, True in asked

    def may_end(self, situation: int) -> bool:
        """Whether a thread of the situation may end the frame that it began in."""
        final = self.automaton.final
        return situation >= 0 and any(
            bool(final[state]) and not frames and not asked
            for state, frames, asked in self._closure(situation)
        )

    def step(self, situation: int, symbol: int) -> int:
        """The situation after a byte, or after a whole token that the grammar names."""
        if situation < 0:
            return -1
        known = self._steps.get((situation, symbol))
        if known is None:
            known = self._number(self._after(situation, symbol))
            self._steps[situation, symbol] = known
        return known

    def _number(self, threads: set[Thread]) -> int:
        if not threads:
            return -1
        kept = frozenset(threads)
        number = self._numbers.get(kept)
        if number is None:
            number = self._numbers[kept] = len(self._sets)
            self._sets.append(kept)
            if number >= SITUATIONS:
                raise GrammarTooComplex("situations", SITUATIONS)
        return number

    def _after(self, situation: int, symbol: int) -> set[Thread]:
        automaton = self.automaton
        found: set[Thread] = set()
        for state, frames, asked in self._closure(situation):
            for edge in range(*automaton.edge_start[state : state + 2].tolist()):
                if automaton.edge_lo[edge] <= symbol <= automaton.edge_hi[edge]:
                    found.add((int(automaton.edge_target[edge]), frames, asked))
        return found

    def _closure(self, situation: int) -> frozenset[Thread]:
        """A situation with the threads that are reached without reading anything."""
        known = self._closed.get(situation)
        if known is None:
            seen = set(self._sets[situation])
            todo = list(seen)
            while todo:
                for thread in self._further(*todo.pop()):
                    if thread not in seen:
                        seen.add(thread)
                        todo.append(thread)
            known = self._closed[situation] = frozenset(seen)
        return known

    def _further(self, state: int, frames: tuple[Frame, ...], asked: bool) -> Iterator[Thread]:
        automaton = self.automaton
        for edge in range(*automaton.empty_start[state : state + 2].tolist()):
            yield int(automaton.empty_target[edge]), frames, asked
        for call in range(*automaton.call_start[state : state + 2].tolist()):
            entry = int(automaton.entry_state[automaton.call_entry[call]])
            if entry == NOT_BUILT:
                continue
            back = int(automaton.call_return[call])
            if back == JUMP:
                yield entry, frames, asked
            else:
                yield entry, (*frames, (back, int(automaton.call_loop[call]))), asked
        if not automaton.final[state]:
            return
        if frames:
            yield from self._ended(frames[-1], frames[:-1], asked)
        else:
            for frame in self._frames_below(state):
                yield from self._ended(frame, (), True)

    def _ended(self, frame: Frame, below: tuple[Frame, ...], asked: bool) -> Iterator[Thread]:
        """Where a thread goes on when what a frame was pushed for has ended."""
        back, loop = frame
        yield back, below, asked
        if loop >= 0:
            body = int(self.automaton.entry_state[self.automaton.loop_entry[loop]])
            if body != NOT_BUILT:
                yield body, (*below, frame), asked

    def _frames_below(self, state: int) -> set[Frame]:
        """The frames that may lie directly below a state."""
        if self._callers is None:
            self._callers = _callers(self.automaton)
        return self._callers.get(state, set())


def _callers(automaton: Automaton) -> dict[int, set[Frame]]:
    """For each state the frames that may lie directly below it: of the calls of the entries that it belongs to."""
    calls: dict[int, set[Frame]] = {}
    for call in range(len(automaton.call_entry)):
        back = int(automaton.call_return[call])
        if back != JUMP:
            frame = (back, int(automaton.call_loop[call]))
            calls.setdefault(int(automaton.call_entry[call]), set()).add(frame)
            if frame[1] >= 0:
                body = int(automaton.loop_entry[frame[1]])
                calls.setdefault(body, set()).add(frame)
    found: dict[int, set[Frame]] = {}
    for entry, frames in calls.items():
        begin = int(automaton.entry_state[entry])
        if begin == NOT_BUILT:
            continue
        for state in _same_frame(automaton, begin):
            found.setdefault(state, set()).update(frames)
    return found


def _same_frame(automaton: Automaton, begin: int) -> set[int]:
    """The states that are reached from one without a frame pushed or popped below it."""
    seen = {begin}
    todo = [begin]
    while todo:
        state = todo.pop()
        targets = automaton.edge_target[slice(*automaton.edge_start[state : state + 2])].tolist()
        targets += automaton.empty_target[slice(*automaton.empty_start[state : state + 2])].tolist()
        for call in range(*automaton.call_start[state : state + 2].tolist()):
            back = int(automaton.call_return[call])
            if back == JUMP:
                back = int(automaton.entry_state[automaton.call_entry[call]])
            if back != NOT_BUILT:
                targets.append(back)
        for target in targets:
            if target not in seen:
                seen.add(target)
                todo.append(target)
    return seen

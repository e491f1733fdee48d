"""The engine of one compiled grammar: arrays, growth, eviction; between the kernels and the matcher.

A sequence's position is one integer, ``shape << 32 | bases`` (see ``kernels/sequences.py``). All methods take and give
such integers; only :mod:`workbench.engine.matcher` holds them, registered here so that compaction can
renumber them.
"""

from __future__ import annotations

import sys
import time
import weakref
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from workbench.automaton.budgets import Budgets, too_complex
from workbench.automaton.network import NOT_BUILT, Automaton
from workbench.changes import assigned, at_once
from workbench.collector import CollectorWaits
from workbench.engine.arena import (
    ARENA_WORDS,
    TRANSITION_WORDS,
    UNIQUE_SLOTS,
    give_back,
    longer,
    room_for,
    with_relief,
)
from workbench.engine.busy import Busy
from workbench.engine.kernels import constants, entries as k
from workbench.engine.kernels.constants import Complex, Full, Room, Stopped, Tangled, Unclean
from workbench.engine.kernels.context import Context
from workbench.engine.positions import Positioned, Sequence, renumber
from workbench.engine.slices import NOTHING, Slice, slices_of
from workbench.engine.tables import Packed, place_scratch
from workbench.engine.whole_stacks import least_bytes, listed_stacks, number_of_stacks
from workbench.errors import GrammarTooComplex
from workbench.forks import Level, fork_lock
from workbench.inputs import need_number
from workbench.vocabulary import Vocabulary

if TYPE_CHECKING:
    from workbench.engine.token_budgets import TokenBudgets

__all__ = ["Engine"]

#: words that the arena and the transitions may come to, whatever the budget; those that indices reach
_LEAST, _LEAST_TRANSITIONS, _NO_ROOM = 1 << 18, 1 << 25, 2**31 - 2**20
#: situations whose stored masks are found at once; a power of two
_RECENT = 512
#: stored masks that there is room for at first; a power of two
_MASKS = 64
#: scratch space that was used, what the builder and the rules know, at least
_OTHER_BYTES = 100_000
_USED, _DFA_STATES = constants.USED, constants.DFA_STATES


class Engine:
    """Masks and transitions of one automaton over one vocabulary. Safe to use from many threads."""

    def __init__(self, automaton: Automaton, vocabulary: Vocabulary, budgets: Budgets) -> None:
        self.automaton = automaton
        self.vocabulary = vocabulary
        self.budgets = budgets
        self.lock = fork_lock(Level.ENGINE)
        self.n_words = (vocabulary.width + 31) // 32
        self.slices = slices_of(vocabulary)
        self.ctx = Context(self.slices.ctx)
        self.packed = Packed(automaton, self.slices, self.ctx)
        self.stride = self.packed.n_symbols + 1
        self._symbol_of = {
            token: 256 + i for i, ids in enumerate(automaton.symbols) for token in ids
        }
        #: tokens that the grammar names
        self.named_ids = frozenset(self._symbol_of)
        self._special = self.named_ids | frozenset(vocabulary.eos_ids)
        self._n_tokens = vocabulary.size
        self.epoch = 0
        self._tidy_at = budgets.arena_words
        self.sequences: weakref.WeakSet[Sequence] = weakref.WeakSet()
        self.ctx.place(
            symbol_ids=np.array([t for ids in automaton.symbols for t in ids], dtype=np.int32),
            symbol_at=np.cumsum([0, *map(len, automaton.symbols)], dtype=np.int32),
            byte_class=np.zeros(8, dtype=np.uint32),
            loop_class=np.zeros(8, dtype=np.uint32),
            alive=np.zeros(4, dtype=np.uint32),
            found=np.zeros(5, dtype=np.int64),
            count=np.zeros(constants.COUNT_SLOTS, dtype=np.int64),
        )
        self.count = self.ctx.count
        # plain integers from it, several times as fast as NumPy's
        self._counts = memoryview(self.count)
        self.busy = Busy(self._counts)
        self._place_scratch(self.ctx)
        self.ctx.place(
            transitions=room_for(TRANSITION_WORDS, np.int32),
            masks=room_for(self._masks_room, np.uint32),
        )
        self._new_arena(self.ctx, ARENA_WORDS, UNIQUE_SLOTS)
        self._begin_masks(self.ctx)
        self.start = self._intern_start()
        #: made when a budget of tokens is first asked about
        self.token_budgets: TokenBudgets | None = None

    def __del__(self, _finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        # when the process ends, the names of modules are gone
        if _finalizing() or not hasattr(self, "start"):
            return
        ctx, counts = self.ctx, self.count
        give_back(ctx.arena, ARENA_WORDS, int(counts[_USED]))
        transitions = (int(counts[_DFA_STATES]) + 1) * self.stride
        give_back(ctx.transitions, TRANSITION_WORDS, transitions)
        give_back(ctx.masks, self._masks_room, int(ctx.masks_at[counts[constants.N_MASKS]]))

    # -- arena ---------------------------------------------------------------------------------

    def _swap(self, *before: Iterable[object], **arrays: NDArray[Any]) -> None:
        """Let kernels work on these arrays from now on; changes that come ``before`` are made with it."""
        fresh = Context(self.ctx)
        fresh.place(**arrays)
        at_once(*before, self.ctx.taken(fresh))

    def _new_arena(self, ctx: Context, words: int, slots: int) -> None:
        ctx.place(
            arena=room_for(words, np.int32),
            # small at first: nodes fall anywhere in it, and each page costs when it is first touched
            unique_table=room_for(slots, np.int32),
            former_table=np.zeros(0, dtype=np.int32),
        )
        for slot in (
            constants.NODES,
            constants.DFA_STATES,
            constants.N_SHAPES,
            constants.N_SETS,
            constants.N_FRAMES,
            constants.MOVED,
            constants.TO_MOVE,
        ):
            ctx.count[slot] = 0
        ctx.count[constants.USED] = 3
        ctx.count[constants.WORK_LIMIT] = self.budgets.step_work

    def _drop_masks(self, ctx: Context) -> None:
        ctx.place(masks=room_for(self._masks_room, np.uint32))
        self._begin_masks(ctx)

    @property
    def _masks_room(self) -> int:
        """Words for stored masks, at first."""
        return 128 * self.n_words + 1024

    def _begin_masks(self, ctx: Context) -> None:
        ctx.place(
            recent=np.zeros(2 * _RECENT, dtype=np.int64),
            masks_at=np.zeros(2 * _MASKS + 2, dtype=np.int64),
            mask_hash=np.zeros(2 * _MASKS + 2, dtype=np.int64),
            mask_table=np.full(4 * _MASKS, -1, dtype=np.int32),
        )
        ctx.count[constants.N_MASKS] = 0

    def _intern_start(self) -> int:
        ctx = self.ctx.handle
        bottom = k.intern(ctx, constants.BOTTOM, self.ctx.buffer, 0, 0)
        stacks = k.node1(ctx, constants.SET, bottom)
        bases = k.node1(ctx, constants.BASES, stacks)
        shape = k.node2(ctx, constants.SHAPE, self.automaton.start, 0)
        return int(shape) << 32 | int(bases)

    # -- calling kernels -----------------------------------------------------------------------

    def _run(self, kernel: Any, *arguments: Any) -> Any:
        """Call a kernel until it has the room that it needs; Tangled is for who calls this."""
        while True:
            try:
                return kernel(self.ctx.handle, *arguments)
            except Stopped as stop:
                self._make_room(stop)

    def run_exactly(self, kernel: Any, *arguments: Any) -> Any:
        """:meth:`_run` for what looks at the stacks themselves: if that does not say enough, nothing does."""
        try:
            return self._run(kernel, *arguments)
        except Tangled:
            raise self._too_complex() from None

    def go_on(self, kernel: Any, *arguments: Any) -> Any:
        """:meth:`_run` by DFA states, or by the stacks where these do not say enough."""
        try:
            return self._run(kernel, *arguments, True)
        except Tangled:
            return self.run_exactly(kernel, *arguments, False)

    def _make_room(self, stop: Stopped) -> None:
        """Clear what a kernel that stopped has left; then grow, or raise."""
        self.recover()
        if isinstance(stop, Full):
            with_relief(self._grow)
        elif isinstance(stop, Room):
            with_relief(self._grow_masks)
        elif isinstance(stop, Complex):
            raise self._too_complex() from None
        elif not isinstance(stop, Unclean):
            raise stop

    def _too_complex(self) -> GrammarTooComplex:
        return too_complex("step_work", budgets=self.budgets)

    def recover(self) -> None:
        """Clear what a kernel that stopped has left behind: marks, notes, transitions that are half filled in."""
        ctx, counts = self.ctx, self._counts
        for marks in (ctx.thread_of, ctx.queued, ctx.result_of, ctx.open_symbols):
            marks[:] = 0
        dfa_state = counts[constants.EXPANDING] - 1
        if dfa_state >= 0:
            first, end = dfa_state * self.stride + 1, (dfa_state + 1) * self.stride
            ctx.transitions[first:end] = constants.UNKNOWN
        noted = counts[constants.NOTED]
        if noted:
            ctx.arena[ctx.tree[:noted] + 2] = -1
        counts[constants.EXPANDING] = counts[constants.NOTED] = counts[constants.UNCLEAR] = 0
        counts[constants.AT_WORK] = 0

    def _grow(self) -> None:
        """Make room: build the entry that a kernel needs, or double what is nearly full."""
        if self.count[constants.NEED]:
            self._build(int(self.count[constants.NEED]) - 1)
            return
        ctx = self.ctx
        most = min(max(4 * self.budgets.arena_words, _LEAST), _NO_ROOM)
        most_transitions = min(max(4 * self.budgets.arena_words, _LEAST_TRANSITIONS), _NO_ROOM)
        arena = 4 * int(self.count[constants.USED]) > 3 * ctx.arena.size
        unique_table = 8 * int(self.count[constants.NODES]) > 3 * ctx.unique_table.size
        needed = (int(self.count[constants.DFA_STATES]) + 1) * self.stride
        transitions = 4 * needed > 3 * ctx.transitions.size
        arena = arena or not (unique_table or transitions)
        if arena and ctx.arena.size >= most:
            raise too_complex("arena_words", limit=most, budgets=self.budgets)
        if transitions and ctx.transitions.size >= most_transitions:
            raise too_complex("arena_words", limit=most_transitions, budgets=self.budgets)
        if arena:
            self._lengthen("arena", most)
        if unique_table:
            self._grow_table()
        if transitions:
            self._lengthen("transitions", most_transitions)

    def _lengthen(self, name: str, most: int) -> None:
        """Give an array twice the room."""
        array, moved = longer(getattr(self.ctx, name), most)
        self._swap(moved, **{name: array})

    def _grow_table(self) -> None:
        """Four times the room for the unique table; nodes come into it as others are added."""
        ctx, used = self.ctx, int(self.count[constants.USED])
        # before it is full again, all of them have long come
        k.move_nodes(ctx.arena, ctx.unique_table, self.count, used)
        count = self.count.copy()
        count[constants.MOVED], count[constants.TO_MOVE] = 3, used
        table = room_for(4 * ctx.unique_table.size, np.int32)
        self._swap(count=count, former_table=ctx.unique_table, unique_table=table)

    def _place_scratch(self, ctx: Context) -> None:
        """Scratch space for as many states as there is room for."""
        states = len(ctx.final)
        place_scratch(ctx, states, self.packed.n_symbols, self.vocabulary.max_token_bytes)

    def build_all(self, within: float) -> int:
        """Build what is not built yet until ``within`` seconds have passed; returns how many entries are left."""
        ends = time.monotonic() + within
        automaton = self.automaton
        while True:
            # in parts: other threads ask for masks meanwhile
            with self.lock, self.busy:
                left = np.flatnonzero(automaton.entry_state == NOT_BUILT)
                if not len(left) or time.monotonic() >= ends:
                    return len(left)
                self._build(int(left[0]), automaton.n_states // 2)

    def _build(self, entry: int, *positions: int) -> None:
        """Let the automaton build an entry, and of those that wait what fits into so many positions."""
        self.count[constants.NEED] = 0
        if self.automaton.grow is None:
            raise AssertionError(f"entry {entry} has no states")
        with CollectorWaits():
            # an interrupt may have come after it was built
            if self.automaton.entry_state[entry] == NOT_BUILT:
                self.automaton.grow(self.automaton, entry, *positions)
            fresh = Context(self.ctx)
            columns = self.packed.sync(fresh)
            if len(fresh.final) > len(self.ctx.final):
                self._place_scratch(fresh)
            at_once(self.ctx.taken(fresh), columns)

    def _untangle(self, shape: int) -> None:
        """From now on compute and store the masks of a shape by its stacks."""
        root = int(self.run_exactly(k.tangled_node, shape))
        if self.ctx.arena[root + 1] == constants.BY_STACKS:
            if self.count[constants.KEEP]:
                raise GrammarTooComplex("stack queries in one mask", constants.MOST_QUERIES)
            # what was walked without keeping texts is of no use: fill() drops it and begins again
            self.count[constants.KEEP] = 1
            raise GrammarTooComplex("names in one token", 1)
        self.ctx.arena[root + 1] = constants.BY_STACKS

    def tidy(self) -> None:
        """Compact the arena when it has outgrown its budget; positions outside histories become void."""
        counts = self._counts  # as _used(), without a call: it is asked after every token
        if counts[_USED] + counts[_DFA_STATES] * self.stride > self._tidy_at:
            self.compact()
            self._tidy_at = max(self.budgets.arena_words, 2 * self._used())

    def _used(self) -> int:
        """Words of the arena and of the transitions that are in use."""
        used: int = self._counts[constants.USED] + self._counts[constants.DFA_STATES] * self.stride
        return used

    def compact(self) -> None:
        """Copy what live sequences need into a fresh arena and renumber their positions."""
        with self.lock, self.busy:
            sequences = list(self.sequences)
            positions = [np.array(one.positions, dtype=np.int64) for one in sequences]
            fresh = Context(self.ctx)
            fresh.place(count=self.count.copy())
            start, numbers = self._copy_live(fresh, positions)
            self._drop_masks(fresh)
            fresh.count[constants.EPOCH] = self.epoch + 1
            at_once(
                renumber(sequences, numbers),
                self.ctx.taken(fresh),
                assigned(self, start=start, epoch=self.epoch + 1),
            )

    def _copy_live(
        self, fresh: Context, positions: list[NDArray[np.int64]]
    ) -> tuple[int, list[NDArray[np.int64]]]:
        """Copy the nodes of positions, and of the start, to new arrays; the numbers of both there."""
        everything = np.concatenate([np.array([self.start], dtype=np.int64), *positions])
        roots = np.concatenate([everything >> 32, everything & 0xFFFFFFFF])
        old_arena, used = self.ctx.arena, int(self.count[constants.USED])
        # a node's numbers stand beside it there
        moved = np.full(used + 4, -1, dtype=np.int32)
        fresh.place(transitions=room_for(TRANSITION_WORDS, np.int32))
        words, slots = max(ARENA_WORDS, used // 8), UNIQUE_SLOTS
        self._new_arena(fresh, words, slots)
        while True:
            new_roots = roots.copy()
            # nodes are numbered anew
            fresh.lone_shape[:] = 0
            try:
                k.compact(fresh.handle, old_arena[:used].copy(), used, new_roots, moved)
                break
            except Full:
                words, slots = 2 * words, 4 * slots
                self._new_arena(fresh, words, slots)
                moved[:] = -1
        half = len(everything)
        renumbered = new_roots[:half] << 32 | new_roots[half:]
        ends = np.cumsum([1, *map(len, positions)])
        return int(renumbered[0]), np.split(renumbered, ends)[1:-1]

    # -- queries -------------------------------------------------------------------------------

    def advance_bytes(self, position: int, data: NDArray[np.uint8], start: int, stop: int) -> int:
        """Position after some bytes, or ``-1 - i`` when byte ``i`` (counted from ``start``) is refused."""
        with self.lock, self.busy:
            self._counts[constants.WORK] = 0
            first, second = self.go_on(
                k.advance, data, start, stop, position >> 32, position & 0xFFFFFFFF
            )
            return int(first) << 32 | int(second) if first >= 0 else -1 - (int(second) - start)

    def is_plain(self, token_id: int) -> bool:
        """Whether a token goes on by its bytes alone: in range, no end, not named by the grammar."""
        if token_id.__class__ is not int:
            token_id = need_number(token_id, "accept", "a token id")
        return 0 <= token_id < self._n_tokens and token_id not in self._special

    def advance_token(self, position: int, token_id: int) -> int:
        """Position after a token, as its bytes or as itself; a negative number when it is refused."""
        symbol = self._symbol_of.get(token_id)
        if symbol is None:
            return self._advance_spelled(position, token_id)
        with self.lock, self.busy:
            spelled = self._advance_spelled(position, token_id)
            self._counts[constants.WORK] = 0
            here = position >> 32, position & 0xFFFFFFFF
            shape, bases = self.run_exactly(k.advance_symbol, symbol, *here)
            if shape == constants.REFUSED:
                return spelled
            if spelled >= 0:
                other = spelled >> 32, spelled & 0xFFFFFFFF
                shape, bases = self.run_exactly(k.both, *other, int(shape), int(bases))
            return int(shape) << 32 | int(bases)

    def replay(self, position: int, token_id: int) -> int:
        """As :meth:`advance_token`; an end is accepted too, and leads nowhere else."""
        if self.ends(position, token_id):
            return position
        return self.advance_token(position, token_id)

    def ends(self, position: int, token_id: int) -> bool:
        """Whether a token ends the text here: the text is complete, and it is no part of the grammar.

        An end token that the grammar names here is a part of it, as long as another end token can end the text.
        """
        ends = self.vocabulary.eos_ids
        if token_id not in ends or not self.accepts(position):
            return False
        if self.advance_token(position, token_id) < 0:
            return True
        return all(self.advance_token(position, end) >= 0 for end in ends)

    def _advance_spelled(self, position: int, token_id: int) -> int:
        """Position after a token's bytes, or a negative number when it is refused or has none."""
        with self.lock, self.busy:
            return int(self.go_on(k.accept_at, position, token_id))

    def live_bytes(self, position: int) -> frozenset[int]:
        """The bytes that may come next, whatever tokens spell them."""
        return frozenset(np.flatnonzero(self._live(position)[:256]).tolist())

    def names_token(self, position: int) -> bool:
        """Whether a token may come next as itself."""
        return bool(self.named_ids) and bool(self._live(position)[256:].any())

    def _live(self, position: int) -> NDArray[np.uint8]:
        """Per byte and symbol, whether it may come next."""
        with self.lock, self.busy:
            while True:
                live = np.zeros(self.packed.n_symbols, dtype=np.uint8)
                self._counts[constants.WORK] = 0
                try:
                    self._run(k.live_symbols, position >> 32, position & 0xFFFFFFFF, live)
                except Tangled:
                    self._untangle(position >> 32)
                    continue
                return live

    def accepts(self, position: int) -> bool:
        """Whether the text so far is complete."""
        with self.lock, self.busy:
            self._counts[constants.WORK] = 0
            here = position >> 32, position & 0xFFFFFFFF
            return bool(self.run_exactly(k.accepts, *here, True) == 1)

    def fill(self, history: Positioned, out: NDArray[np.uint32]) -> None:
        """Write the mask of a history's top to ``out`` (uint32 words), which is left alone on errors."""
        with self.lock, self.busy:
            position = history.top
            if self.run_exactly(k.lookup_at, position, out) == 0:
                return
            # the mask under way, in an array that engines at work have in turn
            words = self.slices.spare_words()
            self.ctx.place(words=words)
            try:
                self._compute(position)
            except GrammarTooComplex:
                # what other situations left behind may fill the arena: once more without it
                self.compact()
                self._compute(history.top)
            out[:] = words
            self.slices.spare.append(words)

    def _compute(self, position: int) -> None:
        """Compute the mask of a situation that has none yet, in ``ctx.words``, and store it."""
        counts = self._counts
        counts[constants.MISSES] += 1
        wide = True
        while True:
            reached = 0
            try:
                loop = int(k.prepare_at(self.ctx.handle, position))
                part, byte_class, walked = None, 0, counts[constants.WALKED]
                non_ascii = constants.ALL_NON_ASCII if loop == 2 else 0
                if loop:
                    byte_class = int.from_bytes(self.ctx.loop_class.tobytes(), "little")
                    part = self.slices.best(byte_class, non_ascii)
                for wider in self.slices.wider(part, self.ctx.alive) if wide else ():
                    reached = self._invariant(wider, position)
                    if reached:
                        part = wider
                        break
                arrays, outside = (NOTHING, -1) if part is None else (part.part, part.non_ascii)
                k.finish_at(self.ctx.handle, arrays.handle, outside, reached, position)
            except (Tangled, Complex) as stop:
                self.recover()
                if reached:
                    # it looked at more than tokens lead to
                    wide = False
                elif isinstance(stop, Tangled):
                    self._untangle(position >> 32)
                else:
                    raise self._too_complex() from None
            except Stopped as stop:
                self._make_room(stop)
            else:
                if byte_class and not reached:
                    self.slices.walked(byte_class, non_ascii, counts[constants.WALKED] - walked)
                return

    def _invariant(self, part: Slice, position: int) -> int:
        """How many DFA states any characters of a slice lead to, if all of them live; else 0.

        The stack queries of a check that failed are dropped: the mask's key must not depend on them.
        """
        counts = self._counts
        asked, work = counts[constants.N_QUERIES], counts[constants.WORK]
        limits = part.non_ascii, part.longest
        try:
            reached = int(k.invariant_at(self.ctx.handle, part.part.handle, *limits, position))
        except (Tangled, Complex):
            self.recover()
            reached = 0
        if not reached:
            counts[constants.N_QUERIES], counts[constants.WORK] = asked, work
        return reached

    def _grow_masks(self) -> None:
        """Make room for one more mask; forget all when they have used up their budget."""
        ctx, n = self.ctx, int(self.count[constants.N_MASKS])
        full = int(ctx.masks_at[n]) + self.n_words > ctx.masks.size
        if full and 8 * ctx.masks.size > self.budgets.row_bytes:
            k.forget_masks(ctx.handle)
            fresh = Context(ctx)
            fresh.place(count=self.count.copy())
            self._drop_masks(fresh)
            at_once(ctx.taken(fresh))
            return
        if full:
            self._lengthen("masks", self.budgets.row_bytes // 4)
        if n + 2 > ctx.mask_hash.size // 2:
            masks_at = np.concatenate([ctx.masks_at, np.zeros_like(ctx.masks_at)])
            mask_hash = np.concatenate([ctx.mask_hash, np.zeros_like(ctx.mask_hash)])
            mask_table = np.full(2 * ctx.mask_table.size, -1, dtype=np.int32)
            k.rehash_masks(mask_hash, mask_table, n)
            self._swap(masks_at=masks_at, mask_hash=mask_hash, mask_table=mask_table)

    # -- views ---------------------------------------------------------------------------------

    def states(self, position: int) -> tuple[int, ...]:
        """Automaton states of the live threads."""
        with self.lock, self.busy:
            items = self.contents(position >> 32)
        return tuple(int(state) for state in items[::2])

    def contents(self, node: int) -> list[int]:
        """What a node is made of."""
        n = int(self.ctx.arena[node]) >> 5
        return [int(value) for value in self.ctx.arena[node + 3 : node + 3 + n]]

    def stacks(self, position: int, limit: int) -> list[tuple[int, list[tuple[int, int]]]]:
        """Up to ``limit`` threads as (state, frames top first); a frame is (return, count)."""
        with self.lock, self.busy:
            return listed_stacks(self, position, limit)

    def count_stacks(self, position: int, most: int) -> int:
        """How many threads there are, counted up to ``most``."""
        with self.lock, self.busy:
            return number_of_stacks(self, position, most)

    def counts(self, target: int) -> bool:
        """Whether frames of a call site count (others watch)."""
        return int(self.ctx.site_loop[target - constants.SITE_BASE]) >= 0

    def site_return(self, target: int) -> int:
        """Return state of a counted call site, as frames name it."""
        return int(self.ctx.site_return[target - constants.SITE_BASE])

    def distance(self, position: int) -> int:
        """Least bytes to complete."""
        with self.lock, self.busy:
            return least_bytes(self, position)

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays that are in use; room that was never used takes no memory."""
        ctx, counts = self.ctx, self._counts
        words = self._used() + int(ctx.masks_at[counts[constants.N_MASKS]])
        return 4 * words + int(ctx.unique_table.nbytes) + self.packed.nbytes + _OTHER_BYTES

    def stats(self) -> dict[str, int]:
        """Counters since the engine was made, and sizes now."""
        count = self.count
        return {
            "mask_hits": int(count[constants.HITS]),
            "mask_misses": int(count[constants.MISSES]),
            "masks": int(count[constants.N_MASKS]),
            "trie_nodes": int(count[constants.WALKED]),
            "steps": int(count[constants.STEPS]),
            "configurations": int(count[constants.DFA_STATES]),
            "shapes": int(count[constants.N_SHAPES]),
            "stack_sets": int(count[constants.N_SETS]),
            "stack_nodes": int(count[constants.N_FRAMES]),
            "arena_bytes": 4 * self._used()
            + 4 * int(self.ctx.masks_at[int(count[constants.N_MASKS])]),
            "evictions": self.epoch,
        }

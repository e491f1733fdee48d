"""The matcher: one sequence's position in a grammar and its history.

Read ``compile.py`` for how one is made, ``engine.py`` for what it asks.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from workbench.automaton.frames import Frame, Stack
from workbench.automaton.naming import places, rule_title
from workbench.changes import assigned, at_once
from workbench.engine.engine import Engine
from workbench.engine.history import History
from workbench.engine.kernels.constants import CHANGED, MISS, SITE_BASE, Stopped
from workbench.engine.kernels.entries import accept_at, lookup_to
from workbench.engine.known_mask import record_of
from workbench.engine.why import Why
from workbench.errors import GrammarTooComplex, VocabularyError
from workbench.inputs import need_list, need_number, need_vocabulary
from workbench.jit import COMPILED
from workbench.vocabulary import Vocabulary
from workbench.vocabulary.labels import bytes_text
from workbench.wording import byte_quoted, number_of

if TYPE_CHECKING:
    from workbench.engine.compile import CompiledGrammar

__all__ = ["Matcher", "empty_mask"]


#: whether kernels that hold the GIL are alone
_QUICK = COMPILED and getattr(sys, "_is_gil_enabled", lambda: True)()


#: In the place of the mask that was written last: nothing that can be passed for one.
_NONE_YET = object()


def empty_mask(vocabulary: Vocabulary, batch: int | None = None) -> NDArray[np.int32]:
    """An all-zero mask: int32 words, bit ``id % 32`` of word ``id // 32`` for token ``id``.

    Shape ``(words,)``, or ``(batch, words)``, with ``words = ceil(vocabulary.width / 32)``.
    """
    if not hasattr(vocabulary, "width"):
        need_vocabulary(vocabulary, "empty_mask")
    words = (vocabulary.width + 31) // 32
    return np.zeros(words if batch is None else (batch, words), dtype=np.int32)


def mask_array(bitmask: Any) -> NDArray[np.int32]:
    """A mask to be written, as an array that shares its memory.

    Raises ``ValueError`` for another type or shape, and where it is read-only.
    """
    array = bitmask
    if not isinstance(bitmask, np.ndarray):
        if not hasattr(bitmask, "numpy"):
            raise ValueError("a mask is an int32 NumPy array or a CPU torch tensor")
        array = bitmask.numpy()
    if array.dtype != np.int32 or array.ndim not in (1, 2):
        raise ValueError(
            f"a mask has int32 words in 1 or 2 dimensions, not {array.dtype} {array.shape}"
        )
    if not array.flags.writeable:
        raise ValueError("the mask is read-only; wb.empty_mask makes one that can be written")
    checked: NDArray[np.int32] = array
    return checked


class Matcher:
    """One sequence under a grammar: which tokens may come next, and going on with one.

    Not to be used by two threads at once; any number of matchers may share a compiled grammar.
    """

    __slots__ = (
        "_at",
        "_engine",
        "_epoch",
        "_history",
        "_mask",
        "_mask_base",
        "_mask_pointer",
        "_mask_record",
        "_mask_rest",
        "_mask_row",
        "_mask_shape",
        "_mask_view",
        "_mask_words",
        "_record_address",
        "_terminated",
        "compiled",
    )

    def __init__(self, compiled: CompiledGrammar, max_rollback: int | None = None) -> None:
        if max_rollback is not None and max_rollback < 0:
            raise ValueError("max_rollback must not be negative")
        self.compiled = compiled
        self._engine: Engine = compiled.engine
        self._terminated = False
        #: the top of the history, as long as the engine's epoch is this one
        self._at = 0
        self._epoch = -1
        self._forget_mask()
        with self._engine.lock:
            engine = self._engine
            self._history = History(engine.sequences, engine.start, max_rollback, engine.replay)

    def _forget_mask(self) -> None:
        #: the mask that was written last, with its row
        self._mask: Any = _NONE_YET
        self._mask_row = 0
        #: of a tensor: where its memory is, and where it was, with its shape then
        self._mask_pointer: Any = None
        self._mask_base = 0
        self._mask_shape: Any = None
        #: the row's words, all of them, those of the tokens, and those beyond if there are any
        self._mask_view: Any = None
        self._mask_words: Any = None
        self._mask_rest: Any = None
        #: what is known of the array (see ``known_mask.py``)
        self._mask_record: Any = None
        self._record_address = 0

    def __repr__(self) -> str:
        state = "terminated" if self._terminated else "accepting" if self.is_accepting else "open"
        return f"<Matcher after {number_of(self.num_accepted, 'token')}, {state}>"

    @property
    def vocabulary(self) -> Vocabulary:
        """The vocabulary of the masks."""
        return self._engine.vocabulary

    @property
    def num_accepted(self) -> int:
        """Tokens accepted so far, an end included."""
        return self._history.accepted

    # -- masks ---------------------------------------------------------------------------------

    def fill_mask(self, bitmask: Any, row: int = 0) -> None:
        """Write the mask of the tokens that may come next.

        ``bitmask`` is an int32 NumPy array or CPU torch tensor of shape ``(words,)`` or
        ``(batch, words)``; row ``row`` is overwritten. Raises ``GrammarTooComplex`` (the row is left as it
        was) and ``ValueError`` for a mask of another shape or type, or a read-only one.
        """
        if bitmask is self._mask and row == self._mask_row and not self._terminated:
            # the same as before, which is what a loop does: no lock, no array handed over
            pointer = self._mask_pointer
            found = CHANGED
            if pointer is None or (
                pointer() == self._mask_base and bitmask.shape == self._mask_shape
            ):
                engine = self._engine
                try:
                    found = lookup_to(
                        engine.ctx.handle, self._epoch, self._at, self._record_address
                    )
                except Stopped:
                    found = MISS  # it is said again under the lock
                if found == MISS:
                    with engine.lock:
                        self._at, self._epoch = self._history.top, engine.epoch
                        engine.fill(self._history, self._mask_words)
            if found != CHANGED:
                if self._mask_rest is not None:
                    self._mask_rest[:] = 0
                return
            self._forget_mask()
        whole = self._target(bitmask, row)
        words = self._engine.n_words
        if self._terminated:
            whole[:] = 0
            return
        self._engine.fill(self._history, whole[:words])
        if whole.size > words:
            whole[words:] = 0
        self._remember(bitmask, row, whole)

    def _remember(self, bitmask: Any, row: int, whole: NDArray[np.uint32]) -> None:
        """Expect the same mask next time: its words, which live as long as they are expected."""
        self._forget_mask()
        if not _QUICK:
            return
        if isinstance(bitmask, np.ndarray):
            record = record_of(bitmask, whole)
        elif hasattr(bitmask, "data_ptr"):
            # what a tensor's memory is can be changed under it; the array over it is nobody else's
            record = record_of(whole, whole)
            self._mask_pointer, self._mask_base = bitmask.data_ptr, bitmask.data_ptr()
            self._mask_shape = bitmask.shape
        else:
            return
        if record is None:
            return
        words = self._engine.n_words
        self._mask_view, self._mask_words = whole, whole[:words]
        self._mask_rest = whole[words:] if whole.size > words else None
        self._mask_record, self._record_address = record, record.ctypes.data
        self._mask_row = row
        self._mask = bitmask

    def fill_mask_within(self, bitmask: Any, tokens: int, row: int = 0) -> int:
        """:meth:`fill_mask`, less the tokens after which no complete text fits into so many ``tokens``.

        The token itself and the one that ends the text count. Returns how many tokens were left out for that.
        """
        from workbench.engine.token_budgets import budgets_of

        whole, words = self._target(bitmask, row), self._engine.n_words
        if self._terminated:
            whole[:] = 0
            return 0
        with self._engine.lock:
            removed = budgets_of(self._engine).fill(self._history.top, tokens, whole[:words])
        whole[words:] = 0
        return removed

    def _target(self, bitmask: Any, row: int) -> NDArray[np.uint32]:
        """The row as uint32 words, as many as the engine has or more."""
        array = mask_array(bitmask)
        if array.ndim == 2:
            array = array[row]
        elif row:
            raise ValueError(f"a mask of one row has no row {row}")
        words = self._engine.n_words
        if array.size < words or not array.flags.c_contiguous:
            raise ValueError(
                f"the mask needs {number_of(words, 'contiguous word')} a row, this one has {array.size}"
            )
        whole: NDArray[np.uint32] = array.view(np.uint32)
        return whole

    def allowed_ids(self) -> NDArray[np.int64]:
        """The ids that may come next, ascending."""
        mask = empty_mask(self.vocabulary)
        self.fill_mask(mask)
        return np.flatnonzero(np.unpackbits(mask.view(np.uint8), bitorder="little"))

    # -- going on and back ---------------------------------------------------------------------

    def accept(self, token_id: int) -> bool:
        """Go on with a token. False, and nothing changes, when it may not come next.

        An end token ends a text that is complete; then nothing may come. Where the grammar names it, it is a part
        of the text like any other token, and the text goes on. Where both are so, it is a part of the text if the
        vocabulary has another end token that the grammar does not name there, which can end the text; otherwise
        it ends it.

        Raises ``VocabularyError`` for an id outside the logits, ``GrammarTooComplex`` when a budget is used
        up (nothing changes then either).
        """
        engine = self._engine
        # from reading the position to pushing the next one: another thread may renumber all positions
        with engine.lock:
            if not self._terminated and engine.is_plain(token_id):
                at = self._at if self._epoch == engine.epoch else self._history.top
                try:
                    following = accept_at(engine.ctx.handle, at, token_id, True)
                except Stopped:
                    engine.recover()
                    following = self._following(at, token_id)
                if following < 0:
                    return False
                self._go_on(following, token_id)
            else:
                at = self._history.top
                following = self._following(at, token_id)
                if following < 0:
                    return False
                at_once(self.went_on(following, token_id, engine.ends(at, token_id)))
                self._history.forget()
            engine.tidy()
            return True

    @property
    def position(self) -> int:
        """The engine's number of where the sequence stands, -1 after an end; void once a token is accepted
        anywhere (the engine may renumber)."""
        return -1 if self._terminated else self._history.top

    def _go_on(self, position: int, token_id: int) -> None:
        """Count one more token, which led to a position of the engine."""
        # first of all: an interrupt may come before any line
        self._epoch = -1
        self._history.push(position, token_id)
        self._at = position
        self._epoch = self._engine.epoch

    def went_on(self, position: int, token_id: int, ends: bool) -> Iterator[object]:
        """The change (see :mod:`workbench.changes`) by a token that leads to a position of the engine.

        To be made before another one is asked for. Its parts are there already, where nobody looks yet.
        """
        entry = self._history.write(position, token_id)
        mask = _NONE_YET if ends else self._mask
        return chain(
            assigned(self._history, _entry=entry),
            assigned(self, _at=position, _epoch=self._engine.epoch, _terminated=ends, _mask=mask),
        )

    def ended(self) -> Iterator[object]:
        """The change that ends the text."""
        return assigned(self, _terminated=True, _mask=_NONE_YET)

    def following(self, token_id: int) -> int:
        """The engine's number of where a token leads; negative when it may not come next."""
        return self._following(self._history.top, token_id)

    def ends(self, token_id: int) -> bool:
        """Whether a token ends the text here."""
        return self._engine.ends(self._history.top, token_id)

    def _following(self, position: int, token_id: int) -> int:
        """Position after a token; negative when it may not come next."""
        vocabulary = self._engine.vocabulary
        if token_id.__class__ is not int:
            token_id = need_number(token_id, "a matcher", "a token id")
        if not 0 <= token_id < vocabulary.size:
            if not 0 <= token_id < vocabulary.width:
                raise VocabularyError(f"token id {token_id} is not in 0..{vocabulary.width - 1}")
            return -1
        return -1 if self._terminated else self._engine.replay(position, token_id)

    def accept_tokens(self, token_ids: Iterable[int]) -> int:
        """Accept tokens until one is refused; returns how many were accepted."""
        need_list(token_ids, "accept_tokens", "a list of token ids")
        accepted = 0
        for token_id in token_ids:
            if not self.accept(token_id):
                break
            accepted += 1
        return accepted

    def validate(self, token_ids: Iterable[int]) -> int:
        """How many of the tokens would be accepted, one after the other; nothing changes."""
        probe = self.fork()
        return probe.accept_tokens(token_ids)

    def rollback(self, n: int = 1) -> None:
        """Take back the last ``n`` tokens.

        Raises ``ValueError`` beyond what is kept, and ``GrammarTooComplex`` (nothing changes then) in the rare
        case that a position must be worked out again for which there is no room.
        """
        if n.__class__ is not int:
            n = need_number(n, "rollback", "a number of tokens")
        if n < 0 or n > self._history.length:
            raise ValueError(
                f"cannot take back {number_of(n, 'token')}, {self._history.length} are kept"
            )
        if n:
            with self._engine.lock:
                try:
                    self._history.pop(n, assigned(self, _epoch=-1, _terminated=False))
                except GrammarTooComplex:
                    # what other sequences left behind may fill the arena: once more without it
                    self._engine.compact()
                    self._history.pop(n, assigned(self, _epoch=-1, _terminated=False))

    def reset(self) -> None:
        """Go back to the start."""
        fresh = Matcher(self.compiled, self._history.keep)
        at_once(assigned(self, _history=fresh._history, _epoch=-1, _terminated=False))

    def fork(self) -> Matcher:
        """An independent matcher at the same position, with the same history; O(1)."""
        other = object.__new__(Matcher)
        other.compiled = self.compiled
        other._engine = self._engine
        other._terminated = self._terminated
        other._at, other._epoch = self._at, self._epoch
        other._forget_mask()
        with self._engine.lock:
            other._history = self._history.fork()
        return other

    __copy__ = fork

    # -- where it stands -----------------------------------------------------------------------

    @property
    def is_accepting(self) -> bool:
        """Whether the text so far is complete, so that an end may come."""
        with self._engine.lock:
            return not self._terminated and self._engine.accepts(self._history.top)

    @property
    def is_terminated(self) -> bool:
        """Whether an end was accepted; then nothing may come. See :meth:`accept` for ends that are named."""
        return self._terminated

    @property
    def max_rollback(self) -> int:
        """How many tokens can be taken back now."""
        return self._history.length

    @property
    def token_ids(self) -> list[int]:
        """The tokens that can be taken back, oldest first: all that were accepted, unless
        ``max_rollback`` is less."""
        return self._history.last_tokens(self._history.length)

    def allowed_bytes(self) -> frozenset[int]:
        """The bytes that may come next, whatever tokens spell them."""
        with self._engine.lock:
            return frozenset() if self._terminated else self._bytes_after(self._history.top)

    def _bytes_after(self, position: int) -> frozenset[int]:
        return self._engine.live_bytes(position)

    def forced_bytes(self, limit: int = 65_536) -> bytes:
        """The bytes that must come next: as long as there is one choice, no end, and no token that is named.

        At most ``limit``.
        """
        with self._engine.lock:
            out = bytearray()
            if self._terminated:
                return b""
            position = self._history.top
            while len(out) < limit and not self._engine.accepts(position):
                choices = self._bytes_after(position)
                if len(choices) != 1 or self._engine.names_token(position):
                    break
                out += bytes(choices)
                position = self._engine.advance_bytes(
                    position, np.array(list(choices), dtype=np.uint8), 0, 1
                )
            return bytes(out)

    def forced_tokens(self, limit: int = 4096) -> list[int]:
        """The tokens that must come next: as long as the mask has one bit; at most ``limit``."""
        probe = self.fork()
        out: list[int] = []
        while len(out) < limit and not probe.is_terminated:
            allowed = probe.allowed_ids()
            if len(allowed) != 1:
                break
            out.append(int(allowed[0]))
            probe.accept(out[-1])
        return out

    def finish_distance(self) -> int | None:
        """Least number of bytes that complete the text; 0 when it is complete, None after an end."""
        with self._engine.lock:
            return None if self._terminated else self._engine.distance(self._history.top)

    def least_tokens(self) -> int | None:
        """Least number of tokens that complete the text and end it, the end token included.

        None where none do: after an end, or where the vocabulary cannot spell what is missing or has no end token.
        Raises ``GrammarTooComplex`` where that is too much work to find.
        """
        from workbench.engine.token_budgets import budgets_of

        with self._engine.lock:
            return None if self._terminated else budgets_of(self._engine).least(self._history.top)

    def live_states(self) -> tuple[int, ...]:
        """The automaton states of the live threads, ascending."""
        with self._engine.lock:
            return self._engine.states(self._history.top)

    def explain(self, token_id: int) -> Why:
        """Say why a token may or may not come next, byte by byte, in the automaton's terms.

        Only the engine is asked: the rules named are those of the automaton's states. :func:`workbench.explain`
        gives the same verdict, and the same bytes, in the author's terms: it reads the text again with the
        grammar as it was written, and tells the open parts, the ends and the nearest tokens as well.
        """
        token_id = need_number(token_id, "explain", "a token id")
        with self._engine.lock:
            vocabulary = self.vocabulary
            data = vocabulary.token_bytes(token_id) if token_id < vocabulary.size else b""
            allowed = self._following(self._history.top, token_id) >= 0
            consumed, fatal, expected = 0, None, self.allowed_bytes()
            sentence = self._by_itself(token_id, data, allowed)
            if not sentence:
                consumed, expected, sentence = self._bytes(data)
                fatal = None if consumed == len(data) else consumed
            elif allowed and token_id in self._engine.named_ids:
                consumed = len(data)
            return Why(
                token_id=token_id,
                token_bytes=data,
                label=vocabulary.label(token_id),
                allowed=allowed,
                sentence=sentence,
                consumed=consumed,
                fatal=fatal,
                expected=expected,
                terms="automaton",
            )

    def _by_itself(self, token_id: int, data: bytes, allowed: bool) -> str:
        """Why a token that no single byte decides may or may not come; empty for others."""
        engine, vocabulary = self._engine, self.vocabulary
        if self._terminated:
            return "the text has ended"
        named = allowed and token_id in engine.named_ids
        if token_id in vocabulary.eos_ids and not (
            named and not engine.ends(self._history.top, token_id)
        ):
            return "the text is complete" if allowed else "the text is not complete yet"
        if named:
            return "the grammar names it"
        if data:
            return ""
        if token_id in vocabulary.special_ids:
            return "a special token, which the grammar does not name"
        return "it spells no bytes"

    def _bytes(self, data: bytes) -> tuple[int, frozenset[int], str]:
        """How many of some bytes may come, which ones may stand after those, and a sentence about it."""
        engine = self._engine
        array = np.array(list(data), dtype=np.uint8)
        position, consumed = self._history.top, 0
        while consumed < len(data):
            following = engine.advance_bytes(position, array, consumed, consumed + 1)
            if following < 0:
                break
            position, consumed = following, consumed + 1
        expected = self._bytes_after(position)
        if consumed == len(data):
            return consumed, expected, "every byte may come"
        lead = f"byte {consumed + 1} of {len(data)} ({byte_quoted(data[consumed])})"
        if not expected:
            return consumed, expected, f"{lead}: the text is complete"
        automaton = engine.automaton
        names = sorted(
            {
                name
                for top, *_ in self._stacks(position, limit=8)
                # by the stack: a round of a counted part is part of what repeats it
                for name in places(
                    automaton, top.state, tuple(rule_title(automaton, rule) for rule in top.rules)
                )
            }
        )
        place = ", ".join(names[:4]) or "this place"
        return (
            consumed,
            expected,
            f"{lead} may not come in {place}; expected {bytes_text(expected)}",
        )

    def _rules(self, state: int) -> tuple[str, ...]:
        return self._engine.automaton.state_rules[state]

    def stacks(self, limit: int = 8) -> tuple[Stack, ...]:
        """The stacks of the live threads, at most ``limit`` of them, for display; each a tuple of frames, top first."""
        with self._engine.lock:
            return self._stacks(self._history.top, limit)

    def inside(
        self, data: bytes, limit: int = 8
    ) -> list[tuple[tuple[int, ...], tuple[Stack, ...]]]:
        """Where the text stands before each byte of ``data``, and after the last: live states and stacks.

        The list ends before the first byte that may not come. The matcher does not change.
        """
        with self._engine.lock:
            array = np.frombuffer(data, dtype=np.uint8).copy()  # the kernels take no constants
            position = self._history.top
            found = [(self._engine.states(position), self._stacks(position, limit))]
            for i in range(0 if self._terminated else len(data)):
                position = self._engine.advance_bytes(position, array, i, i + 1)
                if position < 0:
                    break
                found.append((self._engine.states(position), self._stacks(position, limit)))
            return found

    def _stacks(self, position: int, limit: int) -> tuple[Stack, ...]:
        out: list[Stack] = []
        made: dict[tuple[int, tuple[str, ...], int | None], Frame] = {}  # deep stacks repeat a few
        for state, entries in self._engine.stacks(position, limit):
            read: list[tuple[int, int | None]] = [(state, None)]
            for target, count in entries:
                if target < SITE_BASE:
                    read.append((target, None))
                else:
                    back = self._engine.site_return(target)
                    read.append((back, count if self._engine.counts(target) else None))
            rules = [self._rules(back) for back, _ in read]
            for i in range(len(read) - 1, 0, -1):
                if read[i][1] is not None:  # what is repeated is part of what repeats it
                    rules[i - 1] = rules[i]
            frames: list[Frame] = []
            for (back, n), names in zip(read, rules, strict=True):
                key = back, names, n
                frame = made.get(key)
                if frame is None:
                    frame = made[key] = Frame(back, names, n)
                frames.append(frame)
            out.append(tuple(frames))
        return tuple(out)

    def count_stacks(self, most: int = 1000) -> int:
        """How many live threads with their stacks there are, counted up to ``most``."""
        with self._engine.lock:
            return self._engine.count_stacks(self._history.top, most)

    def stats(self) -> dict[str, int]:
        """Counters of the engine that all matchers of the compiled grammar share."""
        return self._engine.stats()

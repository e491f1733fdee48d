"""The matcher's side of one decoding step, computed beside the forward pass.

A matcher is used by one thread at a time: the worker owns it from :meth:`Watcher.start` until
:meth:`Watcher.finish` returns.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from workbench.automaton.frames import Stack, shortened
from workbench.decoding.trace import MAX_COUNTED
from workbench.errors import GrammarTooComplex
from workbench.wording import number_of

if TYPE_CHECKING:
    from workbench.vocabulary import Vocabulary

__all__ = [
    "MatcherLike",
    "Situation",
    "Unconstrained",
    "Watcher",
    "configuration",
    "forced_bytes",
    "kept_stacks",
    "within",
]

#: Stacks and frames of a configuration that a trace keeps.
MAX_STACKS = 8
MAX_FRAMES = 200
#: Bytes that must come next are counted so far: longer than nearly all tokens.
MAX_FORCED = 32


class MatcherLike(Protocol):
    """What decoding needs of a matcher; ``workbench.engine.Matcher`` has it."""

    def fill_mask(self, bitmask: Any, row: int = 0) -> None:
        """Overwrite a mask row."""

    def accept(self, token_id: int) -> bool:
        """Take a token, or refuse it and stay the same."""

    def rollback(self, n: int) -> None:
        """Take back n tokens."""

    def fork(self) -> Any:
        """Copy."""

    def reset(self) -> None:
        """Return to the start."""

    def live_states(self) -> tuple[int, ...]:
        """The live states of the automaton."""

    def stacks(self, limit: int = 8) -> tuple[Stack, ...]:
        """The live stacks."""

    def count_stacks(self, most: int = 1000) -> int:
        """How many stacks are live, counted up to ``most``."""

    @property
    def is_accepting(self) -> bool:
        """Whether the text is complete."""

    @property
    def is_terminated(self) -> bool:
        """Whether an end token was taken."""


@dataclass(slots=True, eq=False)
class Situation:
    """A mask and the configuration behind it; times are ``time.perf_counter`` seconds."""

    row: NDArray[np.int32]
    prepared: Any
    allowed_count: int
    is_accepting: bool
    live_states: tuple[int, ...] = ()
    stacks: tuple[Stack, ...] = ()
    stack_count: int = 0
    #: how many bytes must come next, counted up to ``MAX_FORCED``
    forced: int = 0
    started: float = 0.0
    ended: float = 0.0
    #: tokens that are left, and how many the mask has lost to that
    budget_left: int = 0
    budget_removed: int = 0


class Watcher:
    """Computes situations of one matcher, on a thread of its own where asked to.

    ``prepare`` turns a mask row into what the device applies; it runs there as well.
    """

    def __init__(
        self,
        matcher: MatcherLike,
        words: int,
        prepare: Callable[[NDArray[np.int32]], Any],
        *,
        record: bool,
        overlap: bool,
    ) -> None:
        self.matcher = matcher
        self._words = words
        self._prepare = prepare
        self._record = record
        self._pool = ThreadPoolExecutor(1, "workbench-mask") if overlap else None
        self._tokens: Sequence[int] = ()
        self._pending: Future[list[Situation]] | None = None

    def start(self, tokens: Sequence[int] = ()) -> None:
        """Begin to compute the situation here, and after each of some tokens that may come.

        The matcher is out of bounds until it is finished; it is not moved.
        """
        self._tokens = tokens
        if self._pool is not None:
            self._pending = self._pool.submit(self._compute, tokens)

    def finish(self) -> list[Situation]:
        """Return the situations, waiting for them or computing them now.

        There are fewer than tokens where one of these may not come, ends the text, or is too much work for the
        grammar's budget: who gets there is told so. What the device applies is prepared for the first one alone.
        """
        if self._pending is None:
            return self._compute(self._tokens)
        pending, self._pending = self._pending, None
        return pending.result()

    def abandon(self) -> None:
        """Wait for what was started and forget it, so that the matcher may be used."""
        if self._pending is not None:
            self._pending.exception()
            self._pending = None

    def _compute(self, tokens: Sequence[int]) -> list[Situation]:
        found = [self._situation(self.matcher, self._prepare)]
        if not tokens:
            return found
        ahead: MatcherLike = self.matcher.fork()
        try:
            for token in tokens:
                if not ahead.accept(token) or ahead.is_terminated:
                    break
                # prepared when it is used: a device keeps few at a time
                found.append(self._situation(ahead, None))
        except GrammarTooComplex:
            pass
        return found

    def _situation(
        self, matcher: MatcherLike, prepare: Callable[[NDArray[np.int32]], Any] | None
    ) -> Situation:
        row = np.zeros(self._words, dtype=np.int32)
        started = time.perf_counter()
        matcher.fill_mask(row)
        prepared = prepare(row) if prepare is not None else None
        ended = time.perf_counter()
        count = int(np.bitwise_count(row.view(np.uint32)).sum())
        result = Situation(row, prepared, count, matcher.is_accepting, started=started, ended=ended)
        if (left := getattr(matcher, "tokens_left", None)) is not None:  # it has a budget
            result.budget_left, result.budget_removed = left, matcher.removed  # type: ignore[attr-defined]
        if self._record:
            result.live_states, result.stacks, result.stack_count = configuration(matcher)
            result.forced = len(forced_bytes(matcher, MAX_FORCED))
        return result


def configuration(matcher: MatcherLike) -> tuple[tuple[int, ...], tuple[Stack, ...], int]:
    """A matcher's live states, the stacks that a trace keeps, and how many there are."""
    stacks = matcher.stacks(limit=MAX_STACKS + 1)
    count = len(stacks)
    if count > MAX_STACKS:
        count = matcher.count_stacks(MAX_COUNTED)
    return tuple(matcher.live_states()), kept_stacks(stacks), count


def forced_bytes(matcher: Any, limit: int) -> bytes:
    """The bytes that must come next, at most ``limit``; none where a matcher does not tell."""
    told = getattr(matcher, "forced_bytes", None)
    return b"" if told is None else told(limit)


def kept_stacks(stacks: Sequence[Stack]) -> tuple[Stack, ...]:
    """The stacks that a trace keeps; one frame stands for the deep end of a very deep one."""
    return tuple(shortened(stack, MAX_FRAMES) for stack in stacks[:MAX_STACKS])


class Unconstrained:
    """Stands in for a matcher where there is no grammar: any token, until an end token."""

    def __init__(self, vocabulary: Vocabulary, tokens: Sequence[int] = ()) -> None:
        self._vocabulary = vocabulary
        self._tokens = list(tokens)
        allowed = np.zeros((vocabulary.width + 31) // 32 * 32, dtype=np.uint8)
        allowed[: vocabulary.size] = 1
        self._row = np.packbits(allowed, bitorder="little").view(np.int32)

    @property
    def vocabulary(self) -> Vocabulary:
        """The vocabulary of the masks."""
        return self._vocabulary

    @property
    def num_accepted(self) -> int:
        """Tokens accepted so far, an end included."""
        return len(self._tokens)

    def least_tokens(self) -> int | None:
        """An end token completes any text; None after it, and where there is none."""
        return 1 if self._vocabulary.eos_ids and not self.is_terminated else None

    def fill_mask_within(self, bitmask: Any, tokens: int, row: int = 0) -> int:
        """Allow every token, of the last one that fits those that end the text; returns how many fewer."""
        self.fill_mask(bitmask, row)
        place = bitmask if bitmask.ndim == 1 else bitmask[row]
        if tokens > 1 or self.is_terminated:
            return 0
        place[:] = 0
        for end in self._vocabulary.eos_ids if tokens == 1 else ():
            place.view(np.uint32)[end // 32] |= np.uint32(1 << end % 32)
        return self._vocabulary.size - (len(self._vocabulary.eos_ids) if tokens == 1 else 0)

    @property
    def is_terminated(self) -> bool:
        """Whether the last token ended the text."""
        return bool(self._tokens) and self._tokens[-1] in self._vocabulary.eos_ids

    @property
    def is_accepting(self) -> bool:
        """Any text is complete until it has ended."""
        return not self.is_terminated

    def fill_mask(self, bitmask: Any, row: int = 0) -> None:
        """Allow every token, or none after the end."""
        place = bitmask if bitmask.ndim == 1 else bitmask[row]
        place[:] = 0 if self.is_terminated else self._row

    def accept(self, token_id: int) -> bool:
        """Take any token of the vocabulary."""
        if self.is_terminated or not 0 <= token_id < self._vocabulary.size:
            return False
        self._tokens.append(token_id)
        return True

    def rollback(self, n: int) -> None:
        """Take back n tokens."""
        if not 0 <= n <= len(self._tokens):
            raise ValueError(f"cannot take back {n} of {number_of(len(self._tokens), 'token')}")
        del self._tokens[len(self._tokens) - n :]

    def fork(self) -> Unconstrained:
        """Copy."""
        return Unconstrained(self._vocabulary, self._tokens)

    def reset(self) -> None:
        """Return to the start."""
        self._tokens.clear()

    def live_states(self) -> tuple[int, ...]:
        """There is no automaton."""
        return ()

    def stacks(self, limit: int = 8) -> tuple[Stack, ...]:
        """There are no stacks."""
        return ()

    def count_stacks(self, most: int = 1000) -> int:
        """There are no stacks."""
        return 0


def make_matcher(grammar: Any, vocabulary: Vocabulary) -> tuple[Callable[[], Any], Any]:
    """Return (a maker of matchers, the compiled grammar or None) for what a caller passes.

    ``grammar`` is a Grammar, a compiled one, or None for no constraint. Raises ``ValueError`` for a
    grammar that was compiled for another vocabulary, ``TypeError`` for what is no grammar.
    """
    if grammar is None:
        return (lambda: Unconstrained(vocabulary)), None
    if not hasattr(grammar, "matcher"):
        from workbench.engine import compile as compile_grammar
        from workbench.inputs import need_grammar

        need_grammar(grammar, "a run")
        # what cannot be built is found now, not when half of a text is there
        grammar = compile_grammar(grammar, vocabulary, check="all", within=1.0)
    theirs = grammar.vocabulary
    if theirs is not vocabulary and theirs.fingerprint != vocabulary.fingerprint:
        raise ValueError("this grammar was compiled for another vocabulary than the model's")
    return grammar.matcher, grammar


def within(matcher: Any, budget: int | None, room: int | None = None) -> Any:
    """A matcher whose text is to end within a budget, if there is one, and within the room that a model has.

    Raises what :class:`~workbench.engine.budgeted.Budgeted` does.
    """
    if budget is None:
        return matcher
    from workbench.engine.budgeted import Budgeted

    return Budgeted(matcher, budget if room is None else min(budget, room))

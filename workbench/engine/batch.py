"""Many sequences at once: one kernel call for the masks that are known, threads for the others."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, compress, repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.changes import at_once, each_assigned
from workbench.engine.engine import Engine
from workbench.engine.kernels import entries as k
from workbench.engine.kernels.constants import DONE, Stopped
from workbench.engine.matcher import Matcher, mask_array
from workbench.inputs import need_matchers, need_number, wrong_type
from workbench.jit import COMPILED
from workbench.wording import number_of

__all__ = ["accept_all", "fill_masks", "fork_all", "rollback_all"]

#: what one matcher says: no, yes
_ALONE = np.zeros(1, dtype=np.bool_), np.ones(1, dtype=np.bool_)
_threads: ThreadPoolExecutor | None = None


def _no_threads() -> None:
    """A forked process has none of the threads."""
    global _threads
    _threads = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_no_threads)


def fill_masks(matchers: Sequence[Matcher], bitmask: Any) -> None:
    """Write the mask of each matcher to its row of a batch.

    ``bitmask`` is an int32 NumPy array or CPU torch tensor of shape ``(batch, words)`` with at least as
    many rows as there are matchers; further rows are left alone. The matchers may belong to different
    compiled grammars of one vocabulary. Stored masks are written by one kernel call a grammar; where
    grammars differ, they are served by threads, side by side.

    Raises ``ValueError`` for a mask of another shape or type and for matchers of different vocabularies (nothing is
    written then), and ``GrammarTooComplex`` when a budget is used up: rows already written stay written.
    """
    need_matchers(matchers, "fill_masks")
    array = mask_array(bitmask)
    n = len(matchers)
    if array.ndim != 2 or len(array) < n:
        raise ValueError(
            f"the mask of {number_of(n, 'matcher')} has the shape ({n}, words), not {array.shape}"
        )
    if not array.flags.c_contiguous:
        raise ValueError("the mask of a batch must be contiguous")
    if not n:
        return
    engine = matchers[0]._engine
    for matcher in matchers:
        if matcher._engine is not engine:
            _fill_groups(matchers, array)
            return
    _fill(engine, matchers, array[:n].view(np.uint32))


def _fill(engine: Engine, matchers: Sequence[Matcher], rows: NDArray[np.uint32]) -> None:
    """Rows of matchers of one engine; ``rows`` is contiguous."""
    if rows.shape[1] < engine.n_words:
        raise ValueError(
            f"the mask needs {number_of(engine.n_words, 'word')} a row, this one has {rows.shape[1]}"
        )
    if not COMPILED:
        for matcher, row in zip(matchers, rows, strict=True):
            matcher.fill_mask(row.view(np.int32))
        return
    n = len(matchers)
    missed = np.empty(n, dtype=np.int64)
    with engine.lock, engine.busy:
        positions = np.fromiter((one.position for one in matchers), np.int64, n)
        try:
            misses = k.lookup_many_at(engine.ctx.handle, positions, rows.reshape(-1), missed)
        except Stopped:
            engine.recover()
            misses, missed = n, np.arange(n)
    for i in missed[:misses].tolist():
        matchers[i].fill_mask(rows[i].view(np.int32))


def _fill_groups(matchers: Sequence[Matcher], array: NDArray[np.int32]) -> None:
    groups = _by_engine(matchers)
    vocabulary = matchers[0].vocabulary
    for engine, members in groups.items():
        if engine.vocabulary.fingerprint != vocabulary.fingerprint:
            raise ValueError(
                f"the rows of a mask are of one vocabulary: matcher 0 has {vocabulary!r}, matcher {members[0]} "
                f"another, {engine.vocabulary!r}; fill a mask for each vocabulary"
            )

    def fill(engine: Engine, members: list[int]) -> None:
        rows = np.empty((len(members), array.shape[1]), dtype=np.uint32)
        _fill(engine, [matchers[i] for i in members], rows)
        array[members] = rows.view(np.int32)

    global _threads
    if _threads is None:
        _threads = ThreadPoolExecutor(thread_name_prefix="workbench-masks")
    # all of them end before an error is raised: nobody writes to the mask afterwards
    running = [_threads.submit(fill, engine, members) for engine, members in groups.items()]
    errors = [error for one in running if (error := one.exception()) is not None]
    if errors:
        raise errors[0]


def _by_engine(matchers: Sequence[Matcher]) -> dict[Engine, list[int]]:
    """The numbers of the matchers that share an engine."""
    groups: dict[Engine, list[int]] = {}
    for i, matcher in enumerate(matchers):
        groups.setdefault(matcher._engine, []).append(i)
    return groups


def accept_all(matchers: Sequence[Matcher], token_ids: Iterable[int]) -> NDArray[np.bool_]:
    """Go on with one token for each matcher; which of them it was accepted by, bool of shape ``(batch,)``.

    A matcher that refuses its token is unchanged. Raises ``WrongType`` for what is no token id, ``ValueError`` where
    a matcher comes twice, and what ``Matcher.accept`` does. Then no matcher has gone on.
    """
    need_matchers(matchers, "accept_all")
    numbers = _whole(token_ids, "accept_all", "a token id for each matcher")
    if len(numbers) != len(matchers):
        raise ValueError(
            f"{number_of(len(matchers), 'matcher')} and {number_of(len(numbers), 'token')}"
        )
    if len(numbers) == 1:
        return _ALONE[matchers[0].accept(numbers[0])].copy()
    if len(set(map(id, matchers))) != len(matchers):
        raise ValueError(
            "accept_all goes on with one token for each matcher, and one comes twice; fork it, or call accept"
        )
    if not len(matchers):
        return np.zeros(0, dtype=np.bool_)
    engine = matchers[0]._engine
    # what is written stays unseen until all of it is known, and counts at once
    if not any(matcher._engine is not engine for matcher in matchers):
        engines = [engine]
        accepted, change = _went_on(engine, matchers, numbers)
        at_once(change)
    else:
        groups = _by_engine(matchers)
        engines = list(groups)
        accepted, changes = np.zeros(len(matchers), dtype=np.bool_), []
        for engine, members in groups.items():
            some = [matchers[i] for i in members], [numbers[i] for i in members]
            accepted[members], change = _went_on(engine, *some)
            changes.append(change)
        at_once(*changes)
    for matcher in matchers:
        if matcher._history.keep is not None:
            matcher._history.forget()
    for engine in engines:
        with engine.lock:
            engine.tidy()
    return accepted


def _went_on(
    engine: Engine, matchers: Sequence[Matcher], token_ids: list[int]
) -> tuple[NDArray[np.bool_], Iterable[object]]:
    """Which matchers of an engine their tokens are accepted by, and the change by which they go on."""
    n = len(matchers)
    special = [i for i, token_id in enumerate(token_ids) if not engine.is_plain(token_id)]
    ids = token_ids
    if special:  # they may be any number
        ids = token_ids.copy()
        for i in special:
            ids[i] = 0
    ended: list[Matcher] = []
    with engine.lock, engine.busy:
        positions = np.fromiter((one.position for one in matchers), np.int64, n)
        positions[special] = -1
        done = 0
        if COMPILED:
            try:
                k.accept_many_at(engine.ctx.handle, positions, np.array(ids, dtype=np.int64))
                done = n
            except Stopped:
                done = int(engine.count[DONE])
                engine.recover()
        # ends, named tokens, and what is left when a kernel had to stop, go one by one
        for i in [*(i for i in special if i < done), *range(done, n)]:
            positions[i] = matchers[i].following(token_ids[i])
            if positions[i] >= 0 and i in special and matchers[i].ends(token_ids[i]):
                ended.append(matchers[i])
        accepted = positions >= 0
        places, tokens = positions.tolist(), token_ids
        if not accepted.all():
            matchers, places = list(compress(matchers, accepted)), list(compress(places, accepted))
            tokens = list(compress(tokens, accepted))
        histories = [one._history for one in matchers]
        entries = [
            history.write(place, token_id)
            for history, place, token_id in zip(histories, places, tokens, strict=True)
        ]
        return accepted, chain(
            each_assigned(histories, "_entry", entries),
            each_assigned(matchers, "_at", places),
            each_assigned(matchers, "_epoch", repeat(engine.epoch)),
            *[one.ended() for one in ended],
        )


def _whole(values: Any, who: str, wanted: str) -> list[int]:
    """Whole numbers, of an array or a tensor too. Raises ``WrongType`` for anything else."""
    if hasattr(values, "tolist"):
        values = values.tolist()
    if not isinstance(values, Iterable) or isinstance(values, str):
        raise wrong_type(who, wanted, values)
    return [one if one.__class__ is int else need_number(one, who, wanted) for one in values]


def rollback_all(matchers: Iterable[Matcher], n: int | Iterable[int] = 1) -> None:
    """Take back tokens of each matcher: ``n`` of all, or one number each.

    Raises, before anything changes, ``ValueError`` when one of them does not keep so many and ``WrongType`` for
    what is no number.
    """
    need_matchers(matchers, "rollback_all")
    several = list(matchers)
    wanted = "a number of tokens, or one for each matcher"
    if isinstance(n, Iterable):
        counts = _whole(n, "rollback_all", wanted)
    else:
        counts = [need_number(n, "rollback_all", wanted)] * len(several)
    if len(counts) != len(several):
        raise ValueError(
            f"{number_of(len(several), 'matcher')} and {number_of(len(counts), 'number')} of tokens"
        )
    for matcher, count in zip(several, counts, strict=True):
        if not 0 <= count <= matcher.max_rollback:
            raise ValueError(
                f"cannot take back {number_of(count, 'token')}, {matcher.max_rollback} are kept"
            )
    for matcher, count in zip(several, counts, strict=True):
        matcher.rollback(count)


def fork_all(matchers: Iterable[Matcher]) -> list[Matcher]:
    """An independent matcher at the same position for each."""
    need_matchers(matchers, "fork_all")
    return [matcher.fork() for matcher in matchers]

"""Many sequences at once: one kernel call for the masks that are known, threads for the others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.engine.engine import Engine
from workbench.engine.kernels import entries as k
from workbench.engine.kernels.constants import DONE, Stopped
from workbench.engine.matcher import Matcher, mask_array
from workbench.inputs import need_matchers, need_number, wrong_type
from workbench.jit import COMPILED
from workbench.wording import number_of

__all__ = ["accept_all", "fill_masks", "fork_all", "rollback_all"]

_LARGE = 1 << 63
#: what one matcher says: no, yes
_ALONE = np.zeros(1, dtype=np.bool_), np.ones(1, dtype=np.bool_)
_threads: ThreadPoolExecutor | None = None


def fill_masks(matchers: Sequence[Matcher], bitmask: Any) -> None:
    """Write the mask of each matcher to its row of a batch.

    ``bitmask`` is an int32 NumPy array or CPU torch tensor of shape ``(batch, words)`` with at least as
    many rows as there are matchers; further rows are left alone. The matchers may belong to different
    compiled grammars of one vocabulary. Stored masks are written by one kernel call a grammar; where
    grammars differ, they are served by threads, side by side.

    Raises ``ValueError`` for a mask of another shape or type and ``GrammarTooComplex`` when a budget is used
    up: rows already written stay written.
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
    groups: dict[int, list[int]] = {}
    for i, matcher in enumerate(matchers):
        groups.setdefault(id(matcher._engine), []).append(i)

    def fill(members: list[int]) -> None:
        engine = matchers[members[0]]._engine
        rows = np.empty((len(members), array.shape[1]), dtype=np.uint32)
        _fill(engine, [matchers[i] for i in members], rows)
        array[members] = rows.view(np.int32)

    global _threads
    if _threads is None:
        _threads = ThreadPoolExecutor(thread_name_prefix="workbench-masks")
    # all of them end before an error is raised: nobody writes to the mask afterwards
    running = [_threads.submit(fill, members) for members in groups.values()]
    errors = [error for one in running if (error := one.exception()) is not None]
    if errors:
        raise errors[0]


def accept_all(matchers: Sequence[Matcher], token_ids: Iterable[int]) -> NDArray[np.bool_]:
    """Go on with one token for each matcher; which of them it was accepted by, bool of shape ``(batch,)``.

    A matcher that refuses its token is unchanged. Raises ``WrongType`` for what is no token id, before anything
    changes, and what ``Matcher.accept`` does: the matchers before the one that it concerns have gone on then.
    """
    need_matchers(matchers, "accept_all")
    numbers = _whole(token_ids, "accept_all", "a token id for each matcher")
    if len(numbers) != len(matchers):
        raise ValueError(
            f"{number_of(len(matchers), 'matcher')} and {number_of(len(numbers), 'token')}"
        )
    if len(numbers) == 1:
        return _ALONE[matchers[0].accept(numbers[0])].copy()
    for token_id in numbers:
        if not -_LARGE <= token_id < _LARGE:  # no integer of the machine: refused as any other id
            matchers[0].accept(token_id)
    ids = np.array(numbers, dtype=np.int64)
    accepted = np.zeros(len(matchers), dtype=np.bool_)
    engine = matchers[0]._engine if matchers else None
    if not COMPILED or any(matcher._engine is not engine for matcher in matchers):
        for i, (matcher, token_id) in enumerate(zip(matchers, numbers, strict=True)):
            accepted[i] = matcher.accept(token_id)
        return accepted
    if engine is None:
        return accepted
    special = np.array([not engine.is_plain(token_id) for token_id in numbers], dtype=np.bool_)
    with engine.lock, engine.busy:
        positions = np.fromiter((one.position for one in matchers), np.int64, len(ids))
        positions[special] = -1
        try:
            k.accept_many_at(engine.ctx.handle, positions, ids)
        except Stopped:
            engine.recover()
        done = int(engine.count[DONE])
        for i in range(done):
            if positions[i] >= 0:
                matchers[i].go_on(int(positions[i]), numbers[i])
                accepted[i] = True
        engine.tidy()
        # ends, named tokens, and what is left when a kernel had to stop, go one by one
        todo = [*np.flatnonzero(special[:done]).tolist(), *range(done, len(ids))]
    for i in todo:
        accepted[i] = matchers[i].accept(numbers[i])
    return accepted


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

"""MaskBench's protocol for one schema under one engine; runs inside a worker process.

A schema is compiled and its first mask filled. Then, for each of its instances: at every token fill
the mask, look whether the token is allowed, accept it; after the last one, look whether an end is
allowed. The first mask of the first instance is the one that the compilation is timed to. Masks and
accepts are timed as the calls that a user makes.

Results leave as they arise, as messages (plain values), so that what a killed worker has measured is
not lost. :func:`assemble` makes one record of them.
"""

from __future__ import annotations

import base64
import gc
import itertools
import json
import time
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from workbench.benchmarks.engines import Mask, Session
from workbench.benchmarks.machine import clock_overhead
from workbench.benchmarks.schema_engines import Compiler, Start

__all__ = ["Instance", "Message", "assemble", "instance_text", "judge", "times_of"]

#: ``("compiled" | "instance" | "failed", values)``.
Message = tuple[str, dict[str, Any]]

_TENTH = 100  # times are kept in tenths of a microsecond


@dataclass(frozen=True, slots=True)
class Instance:
    """The token ids of a text, and whether the schema accepts it."""

    valid: bool
    ids: tuple[int, ...]


def instance_text(data: Any) -> str:
    """Write an instance as MaskBench does: in one line, ``", "`` and ``": "``, characters as they are."""
    text = json.dumps(data, indent=None, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:  # half a surrogate pair has no spelling but the escaped one
        return json.dumps(data)
    return text


class _OutOfTime(Exception):
    """The schema has used up its time."""


class _Disagreement(Exception):
    """An engine refuses a token that its mask allows."""


def judge(
    compiler: Compiler,
    schema: Any,
    instances: Sequence[Instance],
    mask: Mask,
    eos_ids: Sequence[int],
    limit_s: float,
    emit: Callable[[Message], None],
) -> None:
    """Run the protocol; ``limit_s`` is CPU time, looked at between calls."""
    stop_at = time.thread_time_ns() + int(limit_s * 1e9)
    stages: dict[str, float] = {}
    cpu_began, wall_began = time.thread_time_ns(), time.perf_counter_ns()
    stage_began = cpu_began

    def mark(name: str) -> None:
        nonlocal stage_began
        now = time.thread_time_ns()
        stages[name] = (now - stage_began) / 1e3
        stage_began = now

    try:
        start = compiler.compile(schema, mark)
        session = start(mask)
        mark("start")
        mask_began = time.perf_counter_ns()
        session.fill()
        wall_ended = time.perf_counter_ns()
        mark("first mask")
    except Exception as error:
        after = (time.thread_time_ns() - cpu_began) / 1e3
        emit(("failed", _failure(compiler, "compile", error) | {"after_us": round(after, 1)}))
        return
    values = {
        "stages": stages,
        "cpu": (stage_began - cpu_began) / 1e3,
        "wall": (wall_ended - wall_began) / 1e3,
        "mask": [round(stages["first mask"] * 10), (wall_ended - mask_began) // _TENTH],
    }
    emit(("compiled", values))
    try:
        _instances(start, session, instances, mask, eos_ids, stop_at, emit)
    except _OutOfTime:
        emit(("failed", {"outcome": "timeout", "stage": "step", "reason": None}))
    except Exception as error:
        emit(("failed", _failure(compiler, "step", error)))


def _failure(compiler: Compiler, stage: str, error: Exception) -> dict[str, Any]:
    refused = isinstance(error, compiler.refusals) and not isinstance(error, RecursionError)
    if stage == "step" and isinstance(error, ValueError | TypeError | RuntimeError):
        refused = False  # what peers say at compilation, and never mean here
    outcome = "refused" if refused else "crashed"
    said = str(getattr(error, "reason", None) or error).strip().splitlines()
    first = next((line for line in said if line.strip()), "")
    reason = f"{type(error).__name__}: {first}" if first else type(error).__name__
    return {"outcome": outcome, "stage": stage, "reason": reason[:300]}


def _instances(
    start: Start,
    session: Session,
    instances: Sequence[Instance],
    mask: Mask,
    eos_ids: Sequence[int],
    stop_at: int,
    emit: Callable[[Message], None],
) -> None:
    overhead = clock_overhead()
    collecting = gc.isenabled()
    gc.disable()
    try:
        for number, instance in enumerate(instances):
            if number:
                session = start(mask)
            times: tuple[list[int], list[int], list[int]] = ([], [], [])
            accepted: bool | None = None
            try:
                accepted = _walk(
                    session, instance.ids, mask, eos_ids, times, number == 0, overhead, stop_at
                )
            finally:
                emit(
                    (
                        "instance",
                        {"valid": instance.valid, "accepted": accepted, "times": list(times)},
                    )
                )
    finally:
        if collecting:
            gc.enable()


def _walk(
    session: Session,
    ids: Sequence[int],
    mask: Mask,
    eos_ids: Sequence[int],
    times: tuple[list[int], list[int], list[int]],
    filled: bool,
    overhead: int,
    stop_at: int,
) -> bool:
    """Step along a text; whether it is accepted. ``filled`` says that the first mask is there already."""
    wall_clock, cpu_clock = time.perf_counter_ns, time.thread_time_ns
    fill, accept = session.fill, session.accept
    cpu, wall, moved = times
    for token in [*ids, None]:
        if not filled:
            cpu_began = cpu_clock()
            began = wall_clock()
            fill()
            ended = wall_clock()
            cpu_ended = cpu_clock()
            wall.append((ended - began) // _TENTH)
            cpu.append(max(0, cpu_ended - cpu_began - overhead) // _TENTH)
            if cpu_ended > stop_at:
                raise _OutOfTime
        filled = False
        if token is None:
            break
        if not _allowed(mask, token):
            return False
        cpu_began = cpu_clock()
        wall_clock()
        agreed = accept(token)
        wall_clock()
        moved.append(max(0, cpu_clock() - cpu_began - overhead) // _TENTH)
        if not agreed:
            raise _Disagreement(f"the mask allows token {token}, accept refuses it")
    return any(_allowed(mask, token) for token in eos_ids)


def _allowed(mask: Mask, token: int) -> bool:
    return bool(int(mask[token >> 5]) >> (token & 31) & 1)


def assemble(
    messages: Sequence[Message], limit_s: float, ended: tuple[str, str | None] | None = None
) -> dict[str, Any]:
    """Make a record of the messages of one schema under one engine.

    ``ended`` is the outcome and reason of a worker that died: ``"timeout"`` or ``"crashed"``. A
    compilation or a single call that was cut off by the limit counts at the limit.
    """
    record: dict[str, Any] = {"outcome": "ran", "stage": None, "reason": None}
    instances: list[list[Any]] = []
    columns: tuple[list[int], list[int], list[int]] = ([], [], [])
    compiled = False
    for kind, values in messages:
        if kind == "failed":
            record.update(values)
            continue
        if kind == "compiled":
            compiled = True
            record["stages"] = {name: round(us, 1) for name, us in values["stages"].items()}
            record["ttfm_us"] = [round(values["cpu"], 1), round(values["wall"], 1)]
            times = [[value] for value in values["mask"]] + [[]]
        else:
            times = values["times"]
            # The first instance starts with the mask that is told of with the compilation.
            masks = len(times[0]) + (not instances)
            instances.append([values["valid"], values["accepted"], masks])
        for column, more in zip(columns, times, strict=True):
            column += more
    limit_us = limit_s * 1e6
    if ended is not None:
        outcome, reason = ended
        record.update(outcome=outcome, reason=reason, stage="step" if compiled else "compile")
        if outcome == "timeout" and compiled:
            columns[0].append(int(limit_us * 10))
            columns[1].append(int(limit_us * 10))
    if record["outcome"] == "timeout" and not compiled:
        record["ttfm_us"] = [limit_us, limit_us]
    record["instances"] = instances
    record["times"] = _pack(columns) if compiled else None
    return record


def _pack(columns: Sequence[list[int]]) -> list[Any]:
    sizes = [len(column) for column in columns]
    values = np.concatenate([np.array(column, dtype="<u4") for column in columns])
    return [sizes, base64.b64encode(zlib.compress(values.tobytes(), 6)).decode("ascii")]


def times_of(record: dict[str, Any]) -> tuple[npt.NDArray[np.float64], ...]:
    """Microseconds of a record: masks by CPU time, masks by wall time, accepts by CPU time."""
    if record["times"] is None:
        return (np.empty(0), np.empty(0), np.empty(0))
    sizes, packed = record["times"]
    values = np.frombuffer(zlib.decompress(base64.b64decode(packed)), dtype="<u4") / 10.0
    edges = np.cumsum([0, *sizes])
    return tuple(values[a:b] for a, b in itertools.pairwise(edges))

"""Worker processes that judge schemas, and can be killed.

A worker loads all engines once, then takes one schema after the other and runs every engine on it in
the order that it is told. The limit of a schema and engine is CPU time, watched by the system's
timer: a worker that goes over is ended by it, and a new one takes up the engines that were left. Wall
time has a limit of several times that, for calls that sleep. Memory is limited too.
"""

from __future__ import annotations

import gc
import json
import multiprocessing
import os
import signal
import tempfile
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

import numpy as np

from workbench.benchmarks.engines import Setup, read_tokenizer
from workbench.benchmarks.judge import (
    Instance,
    Message,
    assemble,
    instance_text,
    judge,
)
from workbench.benchmarks.machine import engine_digest
from workbench.benchmarks.schema_engines import Compiler, SchemaEngine
from workbench.errors import WorkbenchError

__all__ = ["Job", "Task", "run_tasks"]

#: A schema and engine may take this many times its CPU limit by the clock on the wall.
_WALL = 3
#: Beyond the limit that is looked at between calls, before the timer ends the process.
_GRACE_S = 0.5
#: A worker is replaced after this many schemas, lest engines that hoard fill the memory.
_TASKS_A_WORKER = 1000

#: What is compiled and walked before anything is measured, to load what an engine loads late.
_FIRST_SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "string"}, "b": {"type": "array", "items": {"type": "integer"}}},
}
_FIRST_VALUE = {"a": "text", "b": [1, 23]}


@dataclass(frozen=True, slots=True)
class Job:
    """What every worker is told at its start."""

    tokenizer: Path
    engines: tuple[SchemaEngine, ...]
    limit_s: float
    memory_gb: float
    digest: str


@dataclass(frozen=True, slots=True)
class Task:
    """A schema file, and the engines to run on it in this order."""

    name: str
    raw: bytes
    engines: tuple[str, ...]


def run_tasks(job: Job, tasks: Iterable[Task], workers: int) -> Iterator[dict[str, Any]]:
    """Yield a record for every engine of every task, as they arise.

    Raises ``WorkbenchError`` when the workers cannot start. Closing the iterator kills the workers.
    """
    pool = _Pool(job, deque(tasks))
    try:
        yield from pool.run(workers)
    finally:
        pool.kill()


@dataclass(slots=True, eq=False)
class _Worker:
    """The parent's view of one process."""

    process: Any
    connection: Connection
    #: what the process says on standard error
    log: Path
    ready: bool = False
    done: int = 0
    task: Task | None = None
    #: the engine that runs now, what it has told so far, and until when it may
    engine: str | None = None
    messages: list[Message] = field(default_factory=list)
    deadline: float | None = None
    overdue: bool = False


class _Pool:
    def __init__(self, job: Job, tasks: deque[Task]) -> None:
        self.job = job
        self.tasks = tasks
        self.workers: list[_Worker] = []
        self._context = multiprocessing.get_context("spawn")
        self._started = False
        self._spawned = 0
        self._logs = tempfile.TemporaryDirectory(prefix="workbench-bench-")

    def run(self, count: int) -> Iterator[dict[str, Any]]:
        while self.tasks or any(worker.task for worker in self.workers):
            idle = sum(worker.task is None for worker in self.workers)
            while len(self.workers) < count and idle < len(self.tasks):
                # What the first one has to build once a machine, the others find ready.
                if self.workers and not self._started:
                    break
                self.workers.append(self._spawn())
                idle += 1
            self._hand_out()
            by_handle: dict[Any, _Worker] = {}
            for worker in self.workers:
                by_handle[worker.connection] = by_handle[worker.process.sentinel] = worker
            now = time.monotonic()
            waits = [w.deadline - now for w in self.workers if w.deadline is not None]
            for worker in {
                by_handle[h] for h in wait(list(by_handle), max(0.0, min([*waits, 60.0])))
            }:
                yield from self._listen(worker)
            now = time.monotonic()
            for worker in self.workers:
                if worker.deadline is not None and now > worker.deadline:
                    worker.overdue = True
                    worker.deadline = None
                    worker.process.kill()

    def kill(self) -> None:
        for worker in self.workers:
            worker.process.kill()
        for worker in self.workers:
            worker.process.join()
            worker.connection.close()
        self.workers.clear()
        self._logs.cleanup()

    def _spawn(self) -> _Worker:
        ours, theirs = self._context.Pipe()
        self._spawned += 1
        log = Path(self._logs.name) / str(self._spawned)
        process = self._context.Process(target=_work, args=(self.job, theirs, log), daemon=True)
        with _deaf():
            process.start()
        theirs.close()
        return _Worker(process, ours, log)

    def _hand_out(self) -> None:
        for worker in list(self.workers):
            if not worker.ready or worker.task is not None or not self.tasks:
                continue
            if worker.done >= _TASKS_A_WORKER:
                self._retire(worker)
                continue
            worker.task = self.tasks.popleft()
            try:
                worker.connection.send(worker.task)
            except OSError:  # it has died in between, which is seen to next
                continue

    def _retire(self, worker: _Worker) -> None:
        worker.process.kill()
        worker.process.join()
        worker.connection.close()
        self.workers.remove(worker)

    def _listen(self, worker: _Worker) -> Iterator[dict[str, Any]]:
        alive = worker.process.is_alive()
        try:
            while worker.connection.poll():
                record = self._take(worker, worker.connection.recv())
                if record is not None:
                    yield record
        except (EOFError, OSError):
            worker.process.join(5)
            alive = False
        if not alive:
            yield from self._bury(worker)

    def _take(self, worker: _Worker, message: Any) -> dict[str, Any] | None:
        kind, value = message
        if kind == "ready":
            worker.ready = self._started = True
        elif kind == "broken":
            raise WorkbenchError(value)
        elif kind == "begin":
            worker.engine, worker.messages = value, []
            worker.connection.send("go")
            worker.deadline = time.monotonic() + _WALL * self.job.limit_s + _GRACE_S
        elif kind == "end":
            return self._record(worker, None)
        elif kind == "idle":
            worker.task = None
            worker.done += 1
        else:
            worker.messages.append(message)
        return None

    def _record(self, worker: _Worker, ended: tuple[str, str | None] | None) -> dict[str, Any]:
        assert worker.task is not None and worker.engine is not None
        record = {"schema": worker.task.name, "engine": worker.engine}
        record |= assemble(worker.messages, self.job.limit_s, ended)
        left = worker.task.engines[worker.task.engines.index(worker.engine) + 1 :]
        worker.task = replace(worker.task, engines=left)
        worker.engine = worker.deadline = None
        return record

    def _bury(self, worker: _Worker) -> Iterator[dict[str, Any]]:
        worker.process.join()
        worker.connection.close()
        self.workers.remove(worker)
        code = worker.process.exitcode
        if not worker.ready:
            raise WorkbenchError(f"a worker of the benchmark ended while it started (code {code})")
        if worker.task is None:
            return
        # Whatever ends a worker belongs to an engine, lest it ends every worker after it.
        worker.engine = worker.engine or next(iter(worker.task.engines), None)
        if worker.engine is not None:
            if worker.overdue or code == -signal.SIGPROF:
                yield self._record(worker, ("timeout", None))
            else:
                yield self._record(worker, ("crashed", _death(code, worker.log)))
        if worker.task.engines:
            self.tasks.appendleft(worker.task)


@contextmanager
def _deaf() -> Iterator[None]:
    """Let processes that start here ignore Ctrl-C from their first moment: the parent decides."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before or signal.SIG_DFL)


def _death(code: int | None, log: Path) -> str:
    """How a process ended, and what it said last."""
    name = signal.Signals(-code).name if code is not None and code < 0 else f"code {code}"
    text = log.read_text("utf-8", "replace") if log.exists() else ""
    last = next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")
    return f"the process ended with {name}" + (f": {last[:200]}" if last else "")


# -- in the worker -----------------------------------------------------------------------------


def _work(job: Job, connection: Connection, log: Path) -> None:
    """Load the engines, then judge schemas until the parent goes."""
    from tqdm import tqdm

    tqdm.set_lock(threading.RLock())  # its own one is the system's, and outlives a killed process
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    try:
        setup, encode = read_tokenizer(job.tokenizer)
        compilers = {engine.name: engine.prepare(setup) for engine in job.engines}
    except Exception as error:
        connection.send(("broken", f"{type(error).__name__}: {error}"))
        return
    if engine_digest() != job.digest:
        connection.send(
            (
                "broken",
                "the engine's sources have changed during the run; what was measured before is kept",
            )
        )
        return
    mask = np.zeros((setup.vocabulary.width + 31) // 32, np.int32)
    warm_text = [Instance(True, tuple(encode(instance_text(_FIRST_VALUE))))]
    for compiler in compilers.values():
        judge(compiler, _FIRST_SCHEMA, warm_text, mask, setup.vocabulary.eos_ids, 600.0, _ignore)
    _limit_memory(job.memory_gb)
    gc.collect()
    gc.freeze()
    # Engines have much to say while they compile; it is shown only where it is their last word.
    os.dup2(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), 2)
    connection.send(("ready", None))
    try:
        while True:
            _judge_task(job, connection.recv(), compilers, setup, encode, mask, connection)
    except (EOFError, OSError, KeyboardInterrupt):
        return


def _ignore(message: Message) -> None:
    """Drop a message."""


def _judge_task(
    job: Job,
    task: Task,
    compilers: dict[str, Compiler],
    setup: Setup,
    encode: Any,
    mask: Any,
    connection: Connection,
) -> None:
    file = json.loads(task.raw)
    instances = [
        Instance(bool(test["valid"]), tuple(encode(instance_text(test["data"]))))
        for test in file.get("tests", ())
    ]
    for name in task.engines:
        # What an engine changes in a schema is not for the next one to see.
        schema = json.loads(task.raw)["schema"]
        gc.collect()
        connection.send(("begin", name))
        connection.recv()  # the parent has done what it had to do, and sleeps from now on
        signal.setitimer(signal.ITIMER_PROF, job.limit_s + _GRACE_S)
        judge(
            compilers[name],
            schema,
            instances,
            mask,
            setup.vocabulary.eos_ids,
            job.limit_s,
            connection.send,
        )
        signal.setitimer(signal.ITIMER_PROF, 0)
        connection.send(("end", name))
    connection.send(("idle", None))


def _limit_memory(gigabytes: float) -> None:
    """Bound the address space where the system does that."""
    try:
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (int(gigabytes * 2**30), hard))
    except (ImportError, OSError, ValueError):
        return

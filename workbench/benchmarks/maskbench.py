"""``workbench bench maskbench``: real schemas with valid and invalid instances, beside the peers.

The protocol is MaskBench's (see ``judge.py``), the data an archive of files ``{"schema": …,
"tests": [{"valid": bool, "data": …}, …]}``. Each schema is compiled once and its masks are mostly
cold. All engines run on a schema in one process, one after the other in rotating order; ``jobs``
processes share the schemas.

Results are appended to a file of JSON lines as they arise. Each carries the key of what it depends
on (the data, the tokenizer, the engine with its version, options and sources, the limits and the
machine), so a run that was interrupted goes on where it stopped, and after a change of our engine
only ours is measured again.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import tarfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from workbench.benchmarks.engines import installed, read_tokenizer
from workbench.benchmarks.judge import instance_text, times_of
from workbench.benchmarks.machine import (
    cores,
    engine_digest,
    file_digest,
    machine,
    machine_line,
)
from workbench.benchmarks.report_tables import Table, render_markdown, render_text
from workbench.benchmarks.schema_engines import OURS, SchemaEngine, schema_engines
from workbench.benchmarks.store import Store
from workbench.benchmarks.tally import (
    TimeSet,
    Verdicts,
    time_sets,
    time_table,
    verdict_tables,
    verdicts,
)
from workbench.benchmarks.workers import Job, Task, run_tasks
from workbench.errors import WorkbenchError
from workbench.vocabulary import Vocabulary
from workbench.wording import number_of

__all__ = ["MaskBenchReport", "bench_maskbench", "read_archive"]

#: Raised when the meaning of a record changes.
_PROTOCOL = 1


@dataclass(slots=True)
class MaskBenchReport:
    """Verdicts and times of the engines, and what they were measured on."""

    created: str
    machine: dict[str, Any]
    versions: dict[str, str]
    options: dict[str, dict[str, Any]]
    data: str
    tokenizer: str
    schemas: int
    schemas_in_data: int
    seed: int
    jobs: int
    limit_s: float
    memory_gb: float
    results: str
    #: the run of the program that measured an engine; several where one was resumed
    sessions: dict[str, list[str]] = field(default_factory=dict)
    not_installed: list[str] = field(default_factory=list)
    verdicts: dict[str, Verdicts] = field(default_factory=dict)
    times: list[TimeSet] = field(default_factory=list)
    slowest_masks: list[dict[str, Any]] = field(default_factory=list)
    slowest_compilations: list[dict[str, Any]] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """Plain values, for ``json.dump``."""
        return asdict(self)

    def head(self) -> list[str]:
        """What the figures stand on, in lines."""
        share = f"{self.schemas:,} of {number_of(self.schemas_in_data, 'schema')}"
        if self.schemas < self.schemas_in_data:
            share += f" (drawn with seed {self.seed})"
        lines = [
            f"MaskBench: {self.data}, {share}; {self.tokenizer}; {self.created}",
            machine_line(self.machine, self.versions),
            f"{number_of(self.jobs, 'process', 'processes')}; at most {self.limit_s:g} s of CPU and "
            f"{self.memory_gb:g} GB a schema and engine; engines in rotating order in one process; "
            "each schema compiled once",
            "mask: a mask by the CPU time of its call; ttfm: schema to first mask, by the CPU time of the "
            "calling thread",
        ]
        lines += [
            f"{name}: " + ", ".join(f"{key} {value}" for key, value in options.items())
            for name, options in self.options.items()
            if options
        ]
        lines += [f"{name}: not installed" for name in self.not_installed]
        together = {tuple(sessions) for sessions in self.sessions.values()}
        if len(together) > 1 or any(len(sessions) > 1 for sessions in together):
            lines.append(
                "measured in several runs of the program: not all engines at the same time"
            )
        return lines

    def tables(self, clock: str = "cpu") -> list[Table]:
        """All tables; ``clock`` is ``"cpu"`` or ``"wall"``."""
        tables = verdict_tables(self.verdicts)
        tables += [time_table(times, clock) for times in self.times]
        if self.times and clock == "cpu":
            tables.append(time_table(self.times[0], "wall"))
        return tables

    def text(self, clock: str = "cpu") -> str:
        """Render for a terminal."""
        return render_text(self.head(), self.tables(clock))

    def markdown(self) -> str:
        """Render for a page."""
        return render_markdown(self.head(), self.tables())

    def slowest(self) -> str:
        """List the slowest masks and compilations of our engine."""
        lines = [
            f"slowest masks of {OURS}: µs of CPU, µs by the wall, schema, instance, step, text"
        ]
        for row in self.slowest_masks:
            lines.append(
                f"{row['cpu_us']:>12,.1f}{row['wall_us']:>14,.1f}  {row['schema']}"
                f"  #{row['instance']}  step {row['step']}  …{row['before']!r} → {row['token']!r}"
            )
        lines += ["", f"slowest compilations of {OURS}: ms of CPU, ms by the wall, schema, stages"]
        for row in self.slowest_compilations:
            stages = ", ".join(f"{name} {us / 1e3:,.1f}" for name, us in row["stages"].items())
            lines.append(
                f"{row['cpu_ms']:>12,.1f}{row['wall_ms']:>14,.1f}  {row['schema']}  {row['outcome']}"
                f"  {stages}"
            )
        return "\n".join(lines)


def bench_maskbench(  # noqa: PLR0913 - what the command line asks for
    data: str | os.PathLike[str],
    tokenizer: str | os.PathLike[str],
    *,
    engines: Sequence[SchemaEngine] | None = None,
    sample: int | None = None,
    seed: int = 0,
    jobs: int | None = None,
    limit_s: float = 10.0,
    memory_gb: float = 8.0,
    results: str | os.PathLike[str] = "maskbench.jsonl",
    resume: bool = False,
    slowest: int = 0,
    progress: bool = True,
) -> MaskBenchReport:
    """Run the benchmark and sum up its results file.

    Raises ``WorkbenchError`` for data that is none, for a results file that exists without
    ``resume``, and when the workers cannot start. What was measured before an interruption is in
    the results file.
    """
    data, tokenizer, results = Path(data), Path(tokenizer), Path(results)
    asked = schema_engines() if engines is None else tuple(engines)
    present = tuple(engine for engine in asked if installed(engine))
    store = Store(results, resume=resume)
    setup, encode = read_tokenizer(tokenizer)
    files, total = _read_data(data, sample, seed)
    digest = engine_digest()
    about = machine()
    keys = _keys(present, file_digest(data), file_digest(tokenizer), limit_s, memory_gb, digest)
    known = store.load()
    session = datetime.now(UTC).isoformat(timespec="seconds")
    job = Job(tokenizer.resolve(), present, limit_s, memory_gb, digest)
    tasks = _tasks(files, present, keys, known)
    count = jobs or cores()
    header = {"session": session, "machine": about, "keys": keys}
    with store:
        total_runs = len(files) * len(present)
        for record in _measured(job, tasks, count, store, header, total_runs if progress else 0):
            known[record["key"], record["schema"]] = record
    records = {name: _records_of(key, files, known) for name, key in keys.items()}
    report = MaskBenchReport(
        created=session,
        machine=about,
        versions={engine.name: engine.version for engine in present},
        options={engine.name: dict(engine.options) for engine in present},
        data=data.name,
        tokenizer=tokenizer.name,
        schemas=len(files),
        schemas_in_data=total,
        seed=seed,
        jobs=count,
        limit_s=limit_s,
        memory_gb=memory_gb,
        results=str(results),
        sessions={name: _sessions(of.values()) for name, of in records.items()},
        not_installed=[engine.name for engine in asked if engine not in present],
        verdicts={name: verdicts(of.values()) for name, of in records.items()},
        times=time_sets(records, limit_s),
    )
    if slowest and OURS in records:
        ours = records[OURS]
        report.slowest_masks = _slowest_masks(ours, dict(files), encode, setup.vocabulary, slowest)
        report.slowest_compilations = _slowest_compilations(ours, slowest)
    return report


def _sessions(records: Iterable[dict[str, Any]]) -> list[str]:
    """When the runs began in which something was measured."""
    return sorted({record["session"] for record in records})


def _measured(
    job: Job, tasks: Sequence[Task], workers: int, store: Store, header: dict[str, Any], runs: int
) -> Iterator[dict[str, Any]]:
    """The records of tasks as they arise, each in the store already; the header stands before them.

    Of so many ``runs`` in all a bar shows how many are done; 0 shows none.
    """
    from tqdm.auto import tqdm

    left = sum(len(task.engines) for task in tasks)
    with tqdm(
        total=runs, initial=max(0, runs - left), desc="maskbench", unit="run", disable=not runs
    ) as bar:
        if not tasks:
            return
        store.append(header)
        for record in run_tasks(job, tasks, workers):
            record |= {"key": header["keys"][record["engine"]], "session": header["session"]}
            store.append(record)
            yield record
            bar.update()


def _records_of(
    key: str, files: Sequence[tuple[str, bytes]], known: dict[tuple[str, str], dict[str, Any]]
) -> dict[str, dict[str, Any]]:
    """What is known under a key, by the names of the files."""
    return {name: known[key, name] for name, _ in files if (key, name) in known}


def read_archive(path: Path) -> list[tuple[str, bytes]]:
    """The JSON files of an archive, by name. Raises ``WorkbenchError`` where there are none."""
    try:
        with tarfile.open(path) as archive:
            read: dict[str, bytes] = {}
            for member in archive:
                if member.isfile() and member.name.endswith(".json"):
                    file = archive.extractfile(member)
                    if file is not None:
                        read[Path(member.name).name] = file.read()
    except (OSError, tarfile.TarError, EOFError) as error:
        raise WorkbenchError(f"cannot read {path} as an archive of schemas: {error}") from error
    if not read:
        raise WorkbenchError(f"{path} holds no .json files")
    return sorted(read.items())


def _read_data(path: Path, sample: int | None, seed: int) -> tuple[list[tuple[str, bytes]], int]:
    """The files of an archive in a random order, or a sample of them; and how many there are."""
    files = read_archive(path)
    count = len(files) if sample is None else min(sample, len(files))
    return random.Random(seed).sample(files, count), len(files)


def _keys(
    engines: Iterable[SchemaEngine],
    data: str,
    tokenizer: str,
    limit_s: float,
    memory_gb: float,
    digest: str,
) -> dict[str, str]:
    about = machine()
    common = [_PROTOCOL, data, tokenizer, limit_s, memory_gb, about["cpu"], about["python"]]
    out = {}
    for engine in engines:
        own = [engine.name, engine.version, engine.factory, dict(engine.options)]
        sources = digest if engine.name == OURS else None
        text = json.dumps([*common, *own, sources], sort_keys=True)
        out[engine.name] = hashlib.sha256(text.encode()).hexdigest()[:24]
    return out


def _tasks(
    files: Sequence[tuple[str, bytes]],
    engines: Sequence[SchemaEngine],
    keys: dict[str, str],
    known: dict[tuple[str, str], dict[str, Any]],
) -> list[Task]:
    out = []
    for turn, (name, raw) in enumerate(files):
        first = turn % len(engines) if engines else 0
        order = [engine.name for engine in (*engines[first:], *engines[:first])]
        left = tuple(engine for engine in order if (keys[engine], name) not in known)
        if left:
            out.append(Task(name, raw, left))
    return out


def _slowest_masks(
    records: dict[str, dict[str, Any]],
    files: dict[str, bytes],
    encode: Callable[[str], list[int]],
    vocabulary: Vocabulary,
    count: int,
) -> list[dict[str, Any]]:
    found: list[tuple[float, float, str, int]] = []
    for name, record in records.items():
        cpu, wall, _ = times_of(record)
        for at in np.argsort(cpu)[::-1][:count].tolist():
            found.append((float(cpu[at]), float(wall[at]), name, at))
    found.sort(reverse=True)
    return [
        {"cpu_us": cpu, "wall_us": wall, "schema": name}
        | _place(records[name], json.loads(files[name]), encode, vocabulary, at)
        for cpu, wall, name, at in found[:count]
    ]


def _place(
    record: dict[str, Any],
    file: dict[str, Any],
    encode: Callable[[str], list[int]],
    vocabulary: Vocabulary,
    at: int,
) -> dict[str, Any]:
    """Where the mask with a number lies: instance, step, the text before it and the token after it."""
    for number, (_, _, masks) in enumerate(record["instances"]):
        if at < masks:
            ids = encode(instance_text(file["tests"][number]["data"]))
            before, token = vocabulary.decode(ids[:at]), vocabulary.decode(ids[at : at + 1])
            return {
                "instance": number,
                "step": at,
                "before": before.decode("utf-8", "replace")[-40:],
                "token": token.decode("utf-8", "replace"),
            }
        at -= masks
    return {"instance": len(record["instances"]), "step": at, "before": "", "token": ""}


def _slowest_compilations(records: dict[str, dict[str, Any]], count: int) -> list[dict[str, Any]]:
    timed = [r for r in records.values() if r.get("ttfm_us") is not None]
    timed.sort(key=lambda record: -record["ttfm_us"][0])
    return [
        {
            "schema": record["schema"],
            "cpu_ms": record["ttfm_us"][0] / 1e3,
            "wall_ms": record["ttfm_us"][1] / 1e3,
            "outcome": record["outcome"],
            "stages": record.get("stages", {}),
        }
        for record in timed[:count]
    ]

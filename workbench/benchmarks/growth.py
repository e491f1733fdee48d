"""How times grow: along a text of 100,000 tokens, with the size of a schema, with a count in it.

Texts: every engine steps along the same tokens; the figures of a length are the means over the last
tenth before it, by CPU time, so that a step that gets slower with the text shows. Memory is what the
engine says that it has gained since the text began; peers do not say.

Schemas: each is compiled once in a worker process with a limit (see ``workers.py``), then a value
is stepped through.
"""

from __future__ import annotations

import gc
import json
import math
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from workbench.benchmarks.engines import (
    ENGINES,
    Engine,
    Mask,
    Session,
    Setup,
    installed,
    read_tokenizer,
)
from workbench.benchmarks.growth_cases import GROWING, Growing, by_count, by_parts, by_size
from workbench.benchmarks.judge import times_of
from workbench.benchmarks.machine import (
    clock_overhead,
    engine_digest,
    machine,
    machine_line,
)
from workbench.benchmarks.report_tables import Table, figure, render_markdown, render_text
from workbench.benchmarks.schema_engines import SchemaEngine, schema_engines
from workbench.benchmarks.workers import Job, Task, run_tasks
from workbench.wording import number_of

__all__ = ["FULL", "QUICK", "GrowthReport", "LengthRow", "SchemaRow", "Sizes", "bench_growth"]


@dataclass(frozen=True, slots=True)
class Sizes:
    """What is measured: tokens of a text, bytes of a schema, counts in a schema, parts that might multiply."""

    tokens: tuple[int, ...]
    bytes: tuple[int, ...]
    counts: tuple[int, ...]
    parts: tuple[int, ...] = (10, 20, 40, 80)


FULL = Sizes((1_000, 10_000, 100_000), (1_000, 10_000, 100_000, 1_000_000), (10, 1_000, 100_000))
QUICK = Sizes((50, 200), (1_000, 4_000), (10, 100), (5, 10))

_BY_SIZE = ("wide", "definitions", "enum")
_BY_COUNT = ("maxLength", "maxItems", "minItems")
_BY_PARTS = ("required", "nested", "conditions", "alternatives", "open alternatives")


@dataclass(slots=True)
class LengthRow:
    """An engine along a text, over the last tenth of so many tokens. ``problem`` says why not."""

    language: str
    engine: str
    tokens: int
    mask_us: float | None = None
    mask_p99_us: float | None = None
    accept_us: float | None = None
    bytes_a_token: float | None = None
    problem: str | None = None


@dataclass(slots=True)
class SchemaRow:
    """An engine on a schema of a size or with a count."""

    shape: str
    size: int
    engine: str
    schema_bytes: int
    outcome: str
    reason: str | None
    first_mask_ms: float | None = None
    stages_ms: dict[str, float] = field(default_factory=dict)
    masks: int = 0
    mask_us: float | None = None
    mask_max_us: float | None = None


@dataclass(slots=True)
class GrowthReport:
    """All rows, and what they were measured on."""

    created: str
    machine: dict[str, Any]
    versions: dict[str, str]
    tokenizer: str
    limit_s: float
    not_installed: list[str] = field(default_factory=list)
    lengths: list[LengthRow] = field(default_factory=list)
    schemas: list[SchemaRow] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """Plain values, for ``json.dump``."""
        return asdict(self)

    def head(self) -> list[str]:
        """What the figures stand on, in lines."""
        return [
            f"growth: {self.tokenizer}; {self.created}; CPU time; at most {self.limit_s:g} s a text, "
            "a schema and an engine",
            machine_line(self.machine, self.versions),
            *(f"{name}: not installed" for name in self.not_installed),
        ]

    def tables(self) -> list[Table]:
        """A table for texts, and one for each shape of a schema."""
        tables = [_length_table(self.lengths)]
        for shape in dict.fromkeys(row.shape for row in self.schemas):
            tables.append(_schema_table([row for row in self.schemas if row.shape == shape]))
        return tables

    def text(self) -> str:
        """Render for a terminal."""
        return render_text(self.head(), self.tables())

    def markdown(self) -> str:
        """Render for a page."""
        return render_markdown(self.head(), self.tables())


def bench_growth(  # noqa: PLR0913 - what the command line asks for
    tokenizer: str | os.PathLike[str],
    *,
    engines: Sequence[str] = ("workbench",),
    sizes: Sizes = FULL,
    limit_s: float = 60.0,
    memory_gb: float = 8.0,
    progress: bool = True,
    growing: Sequence[Growing] = GROWING,
    text_engines: Sequence[Engine] = ENGINES,
    all_schema_engines: Sequence[SchemaEngine] | None = None,
) -> GrowthReport:
    """Measure the growth of the engines with these names.

    Raises ``VocabularyError`` when the file is no tokenizer.
    """
    from tqdm.auto import tqdm

    path = Path(tokenizer)
    setup, encode = read_tokenizer(path)
    chosen = [engine for engine in text_engines if engine.name in engines]
    of_schemas = all_schema_engines if all_schema_engines is not None else schema_engines()
    present = [engine for engine in chosen if installed(engine)]
    report = GrowthReport(
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        machine=machine(),
        versions={engine.name: engine.version for engine in present},
        tokenizer=path.name,
        limit_s=limit_s,
        not_installed=[engine.name for engine in chosen if engine not in present],
    )
    names = [engine.name for engine in present]
    made = _schemas(sizes)
    job = Job(
        path.resolve(),
        tuple(engine for engine in of_schemas if engine.name in names),
        limit_s,
        memory_gb,
        engine_digest(),
    )
    steps = len(growing) * len(present) * max(sizes.tokens)
    with tqdm(total=steps, desc="texts", unit="token", disable=not progress) as bar:
        for engine in present:
            report.lengths += _lengths(engine, setup, encode, growing, sizes, limit_s, bar.update)
    with tqdm(
        total=len(made) * len(job.engines), desc="schemas", unit="run", disable=not progress
    ) as bar:
        tasks = [
            Task(name, file.encode(), tuple(engine.name for engine in job.engines))
            for name, (_, _, file) in made.items()
        ]
        for record in run_tasks(job, tasks, 1) if job.engines else ():
            report.schemas.append(_schema_row(record, made[record["schema"]]))
            bar.update()
    order = list(made)
    report.schemas.sort(
        key=lambda row: (order.index(f"{row.shape} {row.size}"), names.index(row.engine))
    )
    return report


# -- texts -------------------------------------------------------------------------------------


def _lengths(
    engine: Engine,
    setup: Setup,
    encode: Callable[[str], list[int]],
    growing: Sequence[Growing],
    sizes: Sizes,
    limit_s: float,
    done: Callable[[int], Any],
) -> list[LengthRow]:
    compiler = engine.prepare(setup)
    mask = np.zeros((setup.vocabulary.width + 31) // 32, np.int32)
    rows: list[LengthRow] = []
    longest = max(sizes.tokens)
    for one in growing:
        ids = _tokens(one, encode, longest)
        problem: str | None = None
        walk = _Walk(longest)
        try:
            session = compiler(one.case)(mask)
            _walk(session, mask, ids, walk, sizes, limit_s, done)
        except Exception as error:  # a peer's failure is a result of the comparison
            problem = f"{type(error).__name__}: {error}".splitlines()[0][:160]
        done(longest - walk.steps)
        for tokens in sizes.tokens:
            if tokens <= walk.steps:
                rows.append(_length_row(one.case.name, engine.name, tokens, walk))
            else:
                why = problem or f"over {limit_s:g} s after {number_of(walk.steps, 'token')}"
                rows.append(LengthRow(one.case.name, engine.name, tokens, problem=why))
    return rows


def _tokens(one: Growing, encode: Callable[[str], list[int]], count: int) -> list[int]:
    length = 4 * count
    while True:
        ids = encode(one.text(length))
        # The last piece may have been cut where the tokens of a longer text go on.
        if len(ids) > count + 16:
            return ids[:count]
        length *= 2


class _Walk:
    """Microseconds of every step, and the memory at the lengths that are looked at."""

    def __init__(self, longest: int) -> None:
        self.mask = np.full(longest, -1.0)
        self.accept = np.full(longest, -1.0)
        self.memory: dict[int, int] = {}
        self.steps = 0


def _walk(
    session: Session,
    mask: Mask,
    ids: list[int],
    walk: _Walk,
    sizes: Sizes,
    limit_s: float,
    done: Callable[[int], Any],
) -> None:
    clock = time.thread_time_ns
    fill, accept = session.fill, session.accept
    overhead = clock_overhead()
    stop_at = clock() + int(limit_s * 1e9)
    gc.collect()
    if session.memory:
        walk.memory[0] = session.memory()
    for step, token in enumerate(ids):
        began = clock()
        fill()
        filled = clock()
        agreed = bool(int(mask[token >> 5]) >> (token & 31) & 1)
        moving = clock()
        agreed = accept(token) and agreed
        ended = clock()
        if not agreed:
            raise ValueError(f"refuses token {token} at step {step}")
        walk.mask[step] = max(0, filled - began - overhead) / 1e3
        walk.accept[step] = max(0, ended - moving - overhead) / 1e3
        walk.steps = step + 1
        if session.memory and walk.steps in sizes.tokens:
            walk.memory[walk.steps] = session.memory()
        if walk.steps % 1000 == 0:
            done(1000)
        if ended > stop_at:
            return


def _length_row(language: str, engine: str, tokens: int, walk: _Walk) -> LengthRow:
    window = slice(tokens - max(1, tokens // 10), tokens)
    mask: npt.NDArray[np.float64] = walk.mask[window]
    memory = walk.memory
    return LengthRow(
        language,
        engine,
        tokens,
        mask_us=float(mask.mean()),
        mask_p99_us=float(np.percentile(mask, 99)),
        accept_us=float(walk.accept[window].mean()),
        bytes_a_token=(memory[tokens] - memory[0]) / tokens if memory else None,
    )


def _length_table(rows: Sequence[LengthRow]) -> Table:
    table = Table(
        "texts: means over the last tenth of so many tokens, µs of CPU",
        ["", "tokens", "mask", "mask p99", "accept", "bytes a token"],
    )
    for row in rows:
        name = f"{row.language}: {row.engine}"
        if row.problem is not None:
            table.rows.append([name, f"{row.tokens:,}", "–", "–", "–", "–"])
            note = f"{name}: {row.problem}"
            if note not in table.notes:
                table.notes.append(note)
            continue
        figures = (row.mask_us, row.mask_p99_us, row.accept_us, row.bytes_a_token)
        table.rows.append([name, f"{row.tokens:,}", *map(figure, figures)])
    return table


# -- schemas -----------------------------------------------------------------------------------

#: (shape, size or count, the file for the workers)
_Made = tuple[str, int, str]


def _schemas(sizes: Sizes) -> dict[str, _Made]:
    out: dict[str, _Made] = {}
    wanted = [(shape, size) for shape in _BY_SIZE for size in sizes.bytes]
    wanted += [(shape, count) for shape in _BY_COUNT for count in sizes.counts]
    wanted += [(shape, count) for shape in _BY_PARTS for count in sizes.parts]
    for shape, size in wanted:
        make = by_size if shape in _BY_SIZE else by_parts if shape in _BY_PARTS else by_count
        schema, value = make(shape, size)
        file = {"schema": schema, "tests": [{"valid": True, "data": value}]}
        out[f"{shape} {size}"] = (shape, size, json.dumps(file))
    return out


def _schema_row(record: dict[str, Any], made: _Made) -> SchemaRow:
    shape, size, file = made
    row = SchemaRow(
        shape,
        size,
        record["engine"],
        len(json.dumps(json.loads(file)["schema"])),
        record["outcome"],
        record["reason"],
    )
    if record["outcome"] == "ran" and not all(accepted for _, accepted, _ in record["instances"]):
        row.outcome, row.reason = "wrong", "rejects a valid value"
    if record.get("ttfm_us") is not None and record["outcome"] != "timeout":
        row.first_mask_ms = record["ttfm_us"][0] / 1e3
        row.stages_ms = {name: us / 1e3 for name, us in record["stages"].items()}
    masks, _, _ = times_of(record)
    row.masks = masks.size
    if masks.size:
        row.mask_us, row.mask_max_us = float(masks.mean()), float(masks.max())
    return row


def _schema_table(rows: Sequence[SchemaRow]) -> Table:
    by_bytes = rows[0].shape in _BY_SIZE
    engines = list(dict.fromkeys(row.engine for row in rows))
    table = Table(
        f"schemas: {rows[0].shape}, by {'size' if by_bytes else 'count'}: ms of CPU to the first mask, "
        "µs a mask",
        [
            "",
            "size" if by_bytes else "count",
            "front end",
            "compile",
            "to first mask",
            "grows with the power",
            "mask",
            "mask max",
        ],
    )
    before: dict[str, SchemaRow] = {}
    for row in sorted(rows, key=lambda row: engines.index(row.engine)):
        size = f"{row.schema_bytes:,}" if by_bytes else f"{row.size:,}"
        if row.outcome not in ("ran", "wrong"):
            table.rows.append([row.engine, size, "–", "–", "–", "–", "–", "–"])
            table.notes.append(f"{row.engine}, {size}: {row.outcome} {row.reason or ''}".rstrip())
            continue
        if row.outcome == "wrong":
            table.notes.append(f"{row.engine}, {size}: {row.reason}")
        table.rows.append(
            [
                row.engine,
                size,
                figure(row.stages_ms.get("front end")),
                figure(row.stages_ms.get("compile")),
                figure(row.first_mask_ms),
                _power(before.get(row.engine), row),
                figure(row.mask_us),
                figure(row.mask_max_us),
            ]
        )
        before[row.engine] = row
    return table


def _power(before: SchemaRow | None, row: SchemaRow) -> str:
    """The power of its size with which the time to the first mask has grown since the row before."""
    if before is None or not before.first_mask_ms or not row.first_mask_ms:
        return "–"
    return f"{math.log(row.first_mask_ms / before.first_mask_ms) / math.log(row.size / before.size):.1f}"

"""How times grow: along a text of 100,000 tokens, with the size of a schema, with a count in it.

Texts: every engine steps along the same tokens; the figures of a length are the means over the last
tenth before it, by CPU time, so that a step that gets slower with the text shows. Memory is what the
engine says that it has gained since the text began; peers do not say.

Schemas: each is compiled once in a worker process with a limit (see ``workers.py``), then a value
is stepped through. Families of them (``growth_families.py``) have parts that might multiply; told are the power
of growth of the time to the first mask and of the worst mask, and where they are refused, after how long.
"""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
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
from workbench.benchmarks.growth_cases import GROWING, Growing
from workbench.benchmarks.growth_schemas import (
    FULL,
    QUICK,
    Made,
    SchemaRow,
    Sizes,
    family_schemas,
    family_table,
    schema_row,
    schema_table,
    schemas,
)
from workbench.benchmarks.machine import (
    clock_overhead,
    engine_digest,
    machine,
    machine_line,
)
from workbench.benchmarks.report_tables import Table, figure, render_markdown, render_text
from workbench.benchmarks.schema_engines import OURS, SchemaEngine, schema_engines
from workbench.benchmarks.workers import Job, Task, run_tasks
from workbench.wording import number_of

__all__ = ["FULL", "QUICK", "GrowthReport", "LengthRow", "SchemaRow", "Sizes", "bench_growth"]


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
    families: list[SchemaRow] = field(default_factory=list)

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
        """A table for texts, one for each shape of a schema, and one for the families."""
        tables = [_length_table(self.lengths)]
        for shape in dict.fromkeys(row.shape for row in self.schemas):
            tables.append(schema_table([row for row in self.schemas if row.shape == shape]))
        return [*tables, family_table(self.families)] if self.families else tables

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
    some = tuple(engine for engine in of_schemas if engine.name in names)
    job = Job(path.resolve(), some, limit_s, memory_gb, engine_digest())
    steps = len(growing) * len(present) * max(sizes.tokens)
    with tqdm(total=steps, desc="texts", unit="token", disable=not progress) as bar:
        for engine in present:
            report.lengths += _lengths(engine, setup, encode, growing, sizes, limit_s, bar.update)
    report.schemas = _measured(job, schemas(sizes), "schemas", progress)
    ours = [engine for engine in some if engine.name == OURS and all_schema_engines is None]
    in_any_order = {"property_order": "any"}
    orders = [replace(one, name=f"{one.name}, any order", options=in_any_order) for one in ours]
    job = replace(job, engines=(*some, *orders))
    report.families = _measured(job, family_schemas(sizes), "families", progress)
    return report


def _measured(job: Job, made: dict[str, Made], what: str, progress: bool) -> list[SchemaRow]:
    """The rows of some schemas under the engines of a job, in the order of both."""
    from tqdm.auto import tqdm

    if not job.engines:
        return []
    names = [engine.name for engine in job.engines]
    tasks = [Task(name, file.encode(), tuple(names)) for name, (_, _, file) in made.items()]
    rows: dict[tuple[str, str], SchemaRow] = {}
    with tqdm(total=len(made) * len(names), desc=what, unit="run", disable=not progress) as bar:
        for record in run_tasks(job, tasks, 1):
            name = record["schema"]
            rows[name, record["engine"]] = schema_row(record, made[name])
            bar.update()
    return [rows[name, engine] for name in made for engine in names if (name, engine) in rows]


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

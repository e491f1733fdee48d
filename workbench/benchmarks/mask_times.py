"""Time masks beside XGrammar's and llguidance's, in one process, along fixed texts.

Every engine steps through the same token ids; each ``fill`` is timed as the Python call that a user
makes. *Cold* is the first pass over a freshly compiled grammar (least of a few compilations, step by
step); *warm* is the least time of each step over repeated passes; *unseen* is the first pass over a
second text when the first one is known (least of a few compilations). Passes of the engines are
interleaved and their order rotates. CPU time is the thread's, less the cost of reading that clock;
wall time is the call alone. Masks are compared step by step with the first engine's.
"""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from workbench.benchmarks.cases import CASES, Case
from workbench.benchmarks.engines import (
    ENGINES,
    Engine,
    Mask,
    Session,
    Setup,
    installed,
    read_tokenizer,
)
from workbench.benchmarks.machine import clock_overhead, machine, machine_line
from workbench.benchmarks.report_tables import Table, figure, ratio, render_markdown, render_text
from workbench.vocabulary import Vocabulary
from workbench.wording import number_of

__all__ = ["Report", "Row", "Times", "bench_masks"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Times:
    """Microseconds a call over the steps of a text."""

    median: float
    mean: float
    p99: float
    max: float

    @classmethod
    def of(cls, microseconds: Floats) -> Times:
        """Summarise one value a step."""
        return cls(
            float(np.median(microseconds)),
            float(microseconds.mean()),
            float(np.percentile(microseconds, 99)),
            float(microseconds.max()),
        )


@dataclass(slots=True)
class Row:
    """One engine on one case. ``problem`` says why there are no figures."""

    case: str
    engine: str
    steps: int = 0
    problem: str | None = None
    compile_ms: float | None = None
    cold: Times | None = None
    warm: Times | None = None
    cold_cpu: Times | None = None
    warm_cpu: Times | None = None
    unseen: Times | None = None
    unseen_cpu: Times | None = None
    unseen_steps: int = 0
    #: share of the unseen text's masks that came out of a store, where the engine counts them
    unseen_hits: float | None = None
    accept: Times | None = None
    differing_steps: int | None = None
    first_difference: str | None = None


@dataclass(slots=True)
class Report:
    """All rows, and what they were measured on."""

    created: str
    machine: dict[str, Any]
    versions: dict[str, str]
    tokenizer: str
    vocabulary_size: int
    repeat: int
    compilations: int
    setup_ms: dict[str, float] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """Plain values, for ``json.dump``."""
        return asdict(self)

    def head(self) -> list[str]:
        """What the figures stand on, in lines."""
        return [
            f"{self.tokenizer} ({number_of(self.vocabulary_size, 'token')}), one thread; µs a mask; "
            f"cold = first pass, least of {number_of(self.compilations, 'compilation')}; "
            f"warm = least of {number_of(self.repeat, 'pass', 'passes')}, step by step; "
            "unseen = first pass over a second text when the first is known",
            machine_line(self.machine, self.versions),
            "once a process, ms: "
            + ", ".join(f"{name} {value:,.0f}" for name, value in self.setup_ms.items()),
        ]

    def tables(self) -> list[Table]:
        """A table a case by CPU time, and the means by the wall."""
        return _tables(self.rows)

    def table(self) -> str:
        """Render the report as text."""
        return render_text(self.head(), self.tables())

    def markdown(self) -> str:
        """Render the report for a page."""
        return render_markdown(self.head(), self.tables())


@dataclass(slots=True)
class _Pass:
    """One run over a text: microseconds of every call, and the masks when they are kept."""

    wall: Floats
    cpu: Floats
    accept: Floats
    masks: list[Mask]
    #: masks that came out of a store, and masks that were computed
    counted: tuple[int, int] | None


def bench_masks(
    tokenizer: str | os.PathLike[str],
    *,
    repeat: int = 5,
    compilations: int = 3,
    cases: Sequence[Case] = CASES,
    engines: Sequence[Engine] = ENGINES,
    progress: bool = True,
) -> Report:
    """Run the comparison on a ``tokenizer.json`` (plain or ``.xz``).

    ``repeat`` warm passes and ``compilations`` cold ones are made for every engine and case.
    Raises ``VocabularyError`` when the file is no tokenizer.
    """
    from tqdm.auto import tqdm

    path = Path(tokenizer)
    setup, encode = read_tokenizer(path)
    report = Report(
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        machine=machine(),
        versions={engine.name: engine.version for engine in engines if installed(engine)},
        tokenizer=path.name,
        vocabulary_size=setup.vocabulary.size,
        repeat=repeat,
        compilations=compilations,
    )
    ready: dict[str, Any] = {}
    total = len(engines) + len(cases) * len(engines) * (repeat + compilations)
    with tqdm(total=total, desc="masks", disable=not progress, leave=False) as bar:
        for engine in engines:
            bar.set_postfix_str(f"{engine.name}: vocabulary")
            if installed(engine):
                began = time.perf_counter()
                ready[engine.name] = engine.prepare(setup)
                _kernels(ready[engine.name], cases[0], setup, encode)
                report.setup_ms[engine.name] = (time.perf_counter() - began) * 1e3
            bar.update()
        for case in cases:
            ids, unseen = encode(case.text), encode(case.unseen)

            def step(name: str, case: Case = case) -> None:
                bar.set_postfix_str(f"{case.name}: {name}")
                bar.update()

            report.rows += _run_case(
                case, (ids, unseen), engines, ready, setup, repeat, compilations, step
            )
    return report


def _kernels(compiler: Any, case: Case, setup: Setup, encode: Callable[[str], list[int]]) -> None:
    """Load whatever an engine builds once a process, so that it counts as setup, not as a first mask."""
    mask = np.zeros((setup.vocabulary.width + 31) // 32, np.int32)
    try:
        _walk(compiler(case)(mask), mask, encode(case.text), keep=False)
    except Exception:  # said in the table, by the case that it belongs to
        return


def _run_case(
    case: Case,
    texts: tuple[list[int], list[int]],
    engines: Sequence[Engine],
    ready: dict[str, Any],
    setup: Setup,
    repeat: int,
    compilations: int,
    step: Callable[[str], None],
) -> list[Row]:
    ids, unseen_ids = texts
    rows = {
        engine.name: Row(
            case.name, engine.name, steps=len(ids) + 1, unseen_steps=len(unseen_ids) + 1
        )
        for engine in engines
    }
    for engine in engines:
        if engine.name not in ready:
            rows[engine.name].problem = "not installed"
    mask = np.zeros((setup.vocabulary.width + 31) // 32, np.int32)
    starts: dict[str, Any] = {}
    runs = {engine.name: _Runs() for engine in engines}
    for turn in range(compilations + repeat):
        for engine in _rotated(engines, turn):
            step(engine.name)
            name = engine.name
            if rows[name].problem is not None:
                continue
            run = runs[name]
            try:
                if turn < compilations:
                    began = time.perf_counter()
                    starts[name] = ready[name](case)
                    run.compile_ms.append((time.perf_counter() - began) * 1e3)
                    run.cold.append(_walk(starts[name](mask), mask, ids, keep=turn == 0))
                    run.warm.append(_walk(starts[name](mask), mask, ids, keep=False))
                    run.unseen.append(_walk(starts[name](mask), mask, unseen_ids, keep=False))
                else:
                    run.warm.append(_walk(starts[name](mask), mask, ids, keep=False))
            except Exception as error:  # a peer's failure is a result of the comparison
                rows[name].problem = f"{type(error).__name__}: {error}".splitlines()[0][:160]
    for name, row in rows.items():
        if row.problem is None:
            _fill_in(row, runs[name])
    masks = {name: run.cold[0].masks for name, run in runs.items() if run.cold}
    _compare(rows, engines, masks, ids, setup.vocabulary)
    return list(rows.values())


@dataclass(slots=True)
class _Runs:
    """What was measured of one engine on one case."""

    compile_ms: list[float] = field(default_factory=list)
    cold: list[_Pass] = field(default_factory=list)
    warm: list[_Pass] = field(default_factory=list)
    unseen: list[_Pass] = field(default_factory=list)


def _fill_in(row: Row, runs: _Runs) -> None:
    row.compile_ms = min(runs.compile_ms)
    row.cold, row.cold_cpu, _ = _summary(runs.cold)
    row.warm, row.warm_cpu, row.accept = _summary(runs.warm)
    row.unseen, row.unseen_cpu, _ = _summary(runs.unseen)
    hits, misses = runs.unseen[0].counted or (0, 0)
    if hits + misses:
        row.unseen_hits = hits / (hits + misses)


def _rotated(engines: Sequence[Engine], turn: int) -> list[Engine]:
    first = turn % len(engines)
    return [*engines[first:], *engines[:first]]


def _walk(session: Session, mask: Mask, ids: list[int], *, keep: bool) -> _Pass:
    """Fill and accept along a text; the last fill is after its end."""
    wall_clock, cpu_clock = time.perf_counter_ns, time.thread_time_ns
    fill, accept = session.fill, session.accept
    wall, cpu, moved = (np.zeros(len(ids) + 1) for _ in range(3))
    masks: list[Mask] = []
    overhead = clock_overhead()
    before = session.counters() if session.counters else None
    collecting = gc.isenabled()
    gc.disable()
    try:
        for index, token_id in enumerate([*ids, None]):
            cpu_began = cpu_clock()
            began = wall_clock()
            fill()
            ended = wall_clock()
            cpu_ended = cpu_clock()
            wall[index] = ended - began
            cpu[index] = max(0, cpu_ended - cpu_began - overhead)
            if keep:
                masks.append(mask.copy())
            if token_id is not None:
                began = wall_clock()
                accepted = accept(token_id)
                moved[index] = wall_clock() - began
                if not accepted:
                    raise ValueError(f"refuses token {token_id} at step {index}")
    finally:
        if collecting:
            gc.enable()
    counted = None
    if session.counters and before:
        hits, misses = session.counters()
        counted = hits - before[0], misses - before[1]
    return _Pass(wall / 1e3, cpu / 1e3, moved[:-1] / 1e3, masks, counted)


def _summary(passes: list[_Pass]) -> tuple[Times, Times, Times]:
    return (
        Times.of(np.min([run.wall for run in passes], axis=0)),
        Times.of(np.min([run.cpu for run in passes], axis=0)),
        Times.of(np.min([run.accept for run in passes], axis=0)),
    )


def _compare(
    rows: dict[str, Row],
    engines: Sequence[Engine],
    masks: dict[str, list[Mask]],
    ids: list[int],
    vocabulary: Vocabulary,
) -> None:
    """Count the steps at which an engine's mask is not the first engine's, and describe the first one."""
    present = [engine.name for engine in engines if rows[engine.name].problem is None]
    if not present:
        return
    yardstick = present[0]
    for name in present:
        row, differing = rows[name], 0
        for index, (ours, theirs) in enumerate(zip(masks[yardstick], masks[name], strict=True)):
            if np.array_equal(ours, theirs):
                continue
            differing += 1
            if row.first_difference is None:
                before = b"".join(vocabulary.token_bytes(i) for i in ids[:index])[-16:]
                more, less = _only(theirs, ours), _only(ours, theirs)
                row.first_difference = (
                    f"after …{before.decode('utf-8', 'replace')!r}: +{len(more)} −{len(less)}"
                    f"{_samples('+', more, vocabulary)}{_samples('−', less, vocabulary)}"
                )
        row.differing_steps = differing


def _only(these: Mask, others: Mask) -> npt.NDArray[np.int64]:
    bits = np.unpackbits((these & ~others).view(np.uint8), bitorder="little")
    return np.flatnonzero(bits)


def _samples(sign: str, token_ids: npt.NDArray[np.int64], vocabulary: Vocabulary) -> str:
    shown = [
        vocabulary.label(int(i)) if i < vocabulary.size else f"padding {i}" for i in token_ids[:3]
    ]
    return f" {sign} {' '.join(shown)}" if shown else ""


def _tables(rows: Sequence[Row]) -> list[Table]:
    tables = []
    wall = Table("means by the wall, µs a mask", ["", "cold", "warm", "unseen"])
    for case in dict.fromkeys(row.case for row in rows):
        of_case = [row for row in rows if row.case == case]
        tables.append(_case_table(of_case))
        for row in of_case:
            if row.cold and row.warm and row.unseen:
                means = (row.cold.mean, row.warm.mean, row.unseen.mean)
                wall.rows.append([f"{case}: {row.engine}", *map(figure, means)])
    return [*tables, wall]


def _case_table(rows: Sequence[Row]) -> Table:
    head = rows[0]
    table = Table(
        f"{head.case} ({number_of(head.steps, 'step')}, unseen {head.unseen_steps:,}): CPU time",
        ["", "compile ms"]
        + [f"{kind} {what}" for kind in ("cold", "warm", "unseen") for what in _SHOWN]
        + ["stored", "accept", "masks"],
    )
    figures: dict[str, list[float]] = {}
    for row in rows:
        if row.problem is not None:
            table.notes.append(f"{row.engine}: {row.problem}")
            continue
        figures[row.engine] = values = _values(row)
        hits = "–" if row.unseen_hits is None else f"{row.unseen_hits:.0%}"
        same = "same" if row.differing_steps == 0 else f"{row.differing_steps} differ"
        if row is head:
            same = ""
        cells = [figure(value) for value in values]
        table.rows.append([row.engine, *cells[:-1], hits, cells[-1], same])
        if row.first_difference:
            table.notes.append(f"{row.engine}: first difference {row.first_difference}")
    ours, peers = figures.get(head.engine), [v for n, v in figures.items() if n != head.engine]
    if ours and peers:
        best = [min(column) for column in zip(*peers, strict=True)]
        cells = [ratio(theirs, own) for theirs, own in zip(best, ours, strict=True)]
        table.rows.append([f"faster peer ÷ {head.engine}", *cells[:-1], "", cells[-1], ""])
    return table


_SHOWN = ("median", "mean", "p99")


def _values(row: Row) -> list[float]:
    """The figures of a row in the order of the table: compile, three times three, accept."""
    assert row.compile_ms is not None and row.accept is not None
    values = [row.compile_ms]
    for times in (row.cold_cpu, row.warm_cpu, row.unseen_cpu):
        assert times is not None
        values += [times.median, times.mean, times.p99]
    return [*values, row.accept.median]
